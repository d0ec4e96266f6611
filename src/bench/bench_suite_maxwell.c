/* bench_suite_maxwell.c: the published study 001: light in thin films: work-groups on coefficients in cells, arrays
 * of structures and structures of arrays. */
#include "bench/bench_suites.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The solver's standard case; `layout`, a setting, makes it one of the study maxwell_layouts. NULL: it stays. */
static void prepare(const bn_suite *s, const char *what, const char *layout, bn_bench_case *of, bn_bench_job *job)
{
    *of = bn_suite_base("maxwell");
    of->what = what;
    bn_bench_prepare(of, s->gpu ? 96 : 48, false, s->gpu, job);
    if (layout) {
        of->solver = "maxwell_layouts";
        of->sets[0] = "case.solver=maxwell_layouts";
        of->sets[1] = layout;
        of->sets[2] = NULL;
    }
}

static const struct {
    const char *name, *label, *what, *layout;
} layouts[] = { { "array of structures", "AoS", "an iteration, array of structures", "solver.layout=aos" },
                { "structure of arrays", "SoA", "an iteration, structure of arrays", "solver.layout=soa" },
                { "coefficients in a table", NULL, "an iteration, coefficients in a table", NULL } };

/* The study's tables are of arrays of structures. */
static bn_status table(const bn_suite *s, const char *number)
{
    bn_bench_case of;
    bn_bench_job job;
    double seconds;
    bn_published t = bn_published_open("data/published/seed-001-workgroups.csv");
    while (bn_published_next(&t)) {
        const char *shape = bn_published_text(&t, "shape");
        const size_t per_axis = (size_t)bn_published_number(&t, "n");
        if (strcmp(bn_published_text(&t, "table"), number) != 0)
            continue;
        for (int i = 0; i < 2; i++) {
            const double published = i == 0 ? bn_published_number(&t, "ms") : (double)NAN;
            char line[64];
            snprintf(line, sizeof line, "%s, %s", shape, layouts[i].label);
            prepare(s, layouts[i].what, layouts[i].layout, &of, &job);
            size_t k = 0;
            for (const char *c = shape; *c && k < 3; c++)
                if (*c == 'n' || *c == '1')
                    job.work_group[k++] = *c == 'n' ? per_axis : 1;
            if (s->level == BN_SUITE_SMALLEST && per_axis > 2 && !s->checks) { /* a program to build for each */
                BN_TRY(bn_suite_skip_point(s, line, (double)per_axis, published, "ms", bn_suite_left_out));
                continue;
            }
            BN_TRY(bn_suite_seconds(s, &job, &seconds));
            BN_TRY(bn_suite_point(s, line, (double)per_axis, published, 1e3 * seconds, "ms"));
        }
    }
    return BN_OK;
}

static bn_status table_1(const bn_suite *s) { return table(s, "4.2.1"); }
static bn_status table_2(const bn_suite *s) { return table(s, "4.2.2"); }
static bn_status table_3(const bn_suite *s) { return table(s, "4.2.3"); }

static bn_status compare_layouts(const bn_suite *s)
{
    bn_bench_case of;
    bn_bench_job job;
    double seconds;
    for (int i = 0; i < 3; i++) {
        prepare(s, layouts[i].what, layouts[i].layout, &of, &job);
        BN_TRY(bn_suite_seconds(s, &job, &seconds));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e3 * seconds, "ms", "%s, our work-group, %u^3 cells", layouts[i].name,
                            job.n));
    }
    return BN_OK;
}

#define NOTE                                                                                                        \
    "The thesis gives no size of its grid; here 48 cells along each axis on a CPU, 96 on a GPU, in complex single " \
    "precision. Its tables are of arrays of structures."
#define MATRIX(number, axes, tables)                                                                                \
    {                                                                                                               \
        .id = "table-" number, .title = "Table " number ": work-groups along " axes, .run = tables, .x_label = "n", \
        .y_label = "time of an iteration [ms]", .log_x = true, .log_y = true, .matrix = true, .note = NOTE          \
    }
const bn_suite_table bn_suite_maxwell[] = {
    MATRIX("4.2.1", "one axis", table_1),
    MATRIX("4.2.2", "two axes", table_2),
    MATRIX("4.2.3", "three axes", table_3),
    { .id = "layouts",
      .title = "Layouts",
      .run = compare_layouts,
      .note = "The two layouts of the thesis and the solver's own, with the work-groups that our rule takes." },
    { 0 },
};
