/* bench_suite_maxwell.c: the published study 001: light in thin films: work-groups on coefficients in cells, arrays
 * of structures and structures of arrays. */
#include "cli/bench_suites.h"

#include <math.h>
#include <string.h>

/* The solver's standard case; `layout`, a setting, makes it one of the study maxwell_layouts. NULL: it stays. */
static void prepare(const bn_suite *s, const char *what, const char *layout, bn_bench_case *of, bn_bench_job *job)
{
    *of = bn_suite_base("maxwell");
    of->what = what;
    bn_bench_prepare(of, s->gpu ? 128 : 48, false, s->gpu, job);
    if (layout) {
        of->solver = "maxwell_layouts";
        of->sets[0] = "case.solver=maxwell_layouts";
        of->sets[1] = layout;
        of->sets[2] = NULL;
    }
}

bn_status bn_suite_maxwell(const bn_suite *s)
{
    static const struct {
        const char *name, *label, *what, *layout;
    } layouts[] = { { "aos", "AoS", "an iteration, array of structures", "solver.layout=aos" },
                    { "soa", "SoA", "an iteration, structure of arrays", "solver.layout=soa" },
                    { "compact", NULL, "an iteration, coefficients in a table", NULL } };
    bn_bench_case of;
    bn_bench_job job;
    double seconds;
    bn_published t = bn_published_open("data/published/seed-001-workgroups.csv");
    while (bn_published_next(&t)) {
        const char *shape = bn_published_text(&t, "shape");
        const size_t per_axis = (size_t)bn_published_number(&t, "n");
        if (s->quick && (per_axis != 4 || strcmp(bn_published_text(&t, "table"), "4.2.2") == 0))
            continue;
        for (int i = 0; i < 2; i++) { /* the study's tables are those of arrays of structures */
            prepare(s, layouts[i].what, layouts[i].layout, &of, &job);
            size_t k = 0;
            for (const char *c = shape; *c && k < 3; c++)
                if (*c == 'n' || *c == '1')
                    job.work_group[k++] = *c == 'n' ? per_axis : 1;
            BN_TRY(bn_suite_seconds(s, &job, &seconds));
            BN_TRY(bn_suite_add(s, i == 0 ? bn_published_number(&t, "ms") : (double)NAN, 1e3 * seconds, "ms",
                                "table %s: %2s work-items, n = %2zu, %s, %s", bn_published_text(&t, "table"),
                                bn_published_text(&t, "workgroup_size"), per_axis, shape, layouts[i].label));
        }
    }
    for (int i = 0; i < 3; i++) {
        prepare(s, layouts[i].what, layouts[i].layout, &of, &job);
        BN_TRY(bn_suite_seconds(s, &job, &seconds));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e3 * seconds, "ms", "%s, our shape", layouts[i].name));
    }
    return BN_OK;
}
