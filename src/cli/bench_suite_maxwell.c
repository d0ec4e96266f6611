/* bench_suite_maxwell.c: the published study 001: light in thin films: work-groups on coefficients in cells, arrays
 * of structures and structures of arrays. */
#include "cli/bench_suites.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bn_status bn_suite_maxwell(const bn_suite *s)
{
    bn_bench_case of = bn_suite_base("maxwell");
    bn_bench_job job;
    double seconds;
    static const char *const forms[] = { "aos", "soa", "compact" };
    const unsigned n = s->gpu ? 128 : 48;
    of.what = "an iteration, array of structures";
    of.sets[0] = "solver.form=aos";
    of.sets[1] = NULL;
    bn_published t = bn_published_open("data/published/seed-001-workgroups.csv");
    while (bn_published_next(&t)) {
        const char *shape = bn_published_text(&t, "shape");
        const size_t per_axis = (size_t)bn_published_number(&t, "n");
        bn_bench_prepare(&of, n, false, s->gpu, &job);
        size_t k = 0;
        for (const char *c = shape; *c && k < 3; c++)
            if (*c == 'n' || *c == '1')
                job.work_group[k++] = *c == 'n' ? per_axis : 1;
        if (s->quick && (per_axis != 4 || strcmp(bn_published_text(&t, "table"), "4.2.2") == 0))
            continue;
        for (int form = 0; form < 2; form++) { /* the study's tables are those of arrays of structures */
            of.what = form ? "an iteration, structure of arrays" : "an iteration, array of structures";
            of.sets[0] = form ? "solver.form=soa" : "solver.form=aos";
            BN_TRY(bn_suite_seconds(s, &job, &seconds));
            BN_TRY(bn_suite_add(s, form ? (double)NAN : bn_published_number(&t, "ms"), 1e3 * seconds, "ms",
                                "table %s: %2s work-items, n = %2zu, %s, %s", bn_published_text(&t, "table"),
                                bn_published_text(&t, "workgroup_size"), per_axis, shape, form ? "SoA" : "AoS"));
        }
    }
    for (int f = 0; f < 3; f++) {
        char with[64];
        snprintf(with, sizeof with, "solver.form=%s", forms[f]);
        of.sets[0] = with;
        bn_bench_prepare(&of, n, false, s->gpu, &job);
        BN_TRY(bn_suite_seconds(s, &job, &seconds));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e3 * seconds, "ms", "%s, our shape", forms[f]));
    }
    return BN_OK;
}
