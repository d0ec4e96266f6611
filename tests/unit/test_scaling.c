/* test_scaling.c: the model of docs/scaling.md against what several H200s reached, and what follows from it.
 *   build/tests/unit/test_scaling table      the model's prediction for two, four and eight devices
 */
#include "bench/bench_cases.c"
#include "sim/scaling.h"

#include "support_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Times one device, by `binnacle bench --suite scaling` (docs/scaling.md has date and driver). What is more than so
 * many devices can give counts as their number. */
static const struct {
    const char *solver; /* or, where it has several cases, of what in it */
    unsigned devices;
    bool weak;
    double measured;
} points[] = {
    { "maxwell", 2, true, 1.96 },   { "maxwell", 2, false, 1.93 },   { "maxwell", 4, true, 3.93 },
    { "maxwell", 4, false, 3.71 },  { "xray", 2, true, 1.92 },       { "xray", 2, false, 1.90 },
    { "xray", 4, true, 3.85 },      { "xray", 4, false, 3.57 },      { "flood", 2, true, 1.86 },
    { "flood", 2, false, 1.78 },    { "flood", 4, true, 3.51 },      { "flood", 4, false, 2.85 },
    { "direct", 2, true, 2.00 },    { "direct", 2, false, 1.95 },    { "direct", 4, true, 3.95 },
    { "direct", 4, false, 2.82 },   { "multigrid", 2, true, 1.65 },  { "multigrid", 2, false, 1.41 },
    { "multigrid", 4, true, 2.99 }, { "multigrid", 4, false, 1.64 }, { "bpm", 2, true, 1.70 },
    { "bpm", 2, false, 1.76 },
};

static const bn_device_info h200 = {
    .name = "H200", .bytes = 140000000000, .largest_buffer = 140000000000, .bandwidth = 4.18e12
};

/* NULL: there is no such case. */
static bn_plan *plan_of(const char *text, const char *const *sets, size_t count, bool looks, void **state)
{
    bn_case *config;
    bn_plan *plan = NULL;
    *state = NULL;
    if (bn_case_parse(ctx, "scaling", text, sets, count, &config) == BN_OK) {
        *state = calloc(1, bn_solver_find(bn_case_solver(config))->state_size);
        if ((looks ? bn_plan_count(ctx, config, NULL, 1, *state, &plan)
                   : bn_plan_outline(ctx, config, *state, &plan)) != BN_OK)
            plan = NULL;
    }
    bn_case_destroy(&config);
    bn_error_clear(ctx);
    return plan;
}

static double times_one(const bn_bench_case *c, unsigned devices, bool weak)
{
    bn_bench_job job;
    const char *sets[BN_BENCH_SETS + 8];
    size_t count = 0;
    void *state;
    bn_bench_prepare_on(c, c->sizes[1][0], false, true, NULL, weak ? devices : 1, &job);
    for (size_t i = 0; i < job.set_count; i++)
        sets[count++] = job.sets[i];
    for (size_t i = 0; c->sets[i]; i++)
        sets[count++] = c->sets[i];
    bn_plan *plan = plan_of(c->text, sets, count, false, &state);
    const double time = plan ? bn_scaling_time(plan, &h200, devices) : (double)NAN;
    bn_plan_destroy(&plan);
    free(state);
    return 1 / time;
}

/* Of cases that exist: so many times the cells may be more than a grid can have. */
static void print_table(void)
{
    printf("%-8s %-7s %6s %6s %6s\n", "solver", "scaling", "2", "4", "8");
    for (const bn_bench_case *c = bn_bench_scaled; c->solver; c++)
        for (int weak = 1; weak >= 0; weak--)
            printf("%-8s %-7s %6.2f %6.2f %6.2f\n", c->solver, weak ? "weak" : "strong", times_one(c, 2, weak),
                   times_one(c, 4, weak), times_one(c, 8, weak));
}

LOOP_TEST(meets_what_was_measured, sizeof points / sizeof *points)
{
    const bn_bench_case *c = bn_bench_scaled;
    while (strcmp(c->solver, points[_i].solver) != 0 && !strstr(c->what, points[_i].solver))
        c++;
    const double measured = points[_i].measured;
    near(times_one(c, points[_i].devices, points[_i].weak), measured, 0.1 * measured,
         "a tenth of what several H200s reached, times one");
}

#define STREAM(MORE) "[case]\nsolver='flow'\n[grid]\nsize=[1,1]\n[fluid]\nviscosity=1e-5\n[stop]\nsteps=1\n" MORE
static const char flow[] = STREAM("");
static const char around[] = STREAM("[obstacle]\nshape='rectangle'\ncentre=[0.5,0.5]\nsize=[0.05,0.005]\n");
static const char by_multigrid[] = STREAM("[solver]\npoisson='multigrid'\ndiffusion='cg'\n");
static const char bpm[] = "[case]\nsolver='bpm'\n[grid]\ncells=500\nwidth=1e-5\n[launch]\nkind='gaussian'\nwaist=1e-6\n"
                          "[march]\nlength=1e-5\ndz=1e-6\n";

/* How many of eight make a step shorter, on a device that copies so many times as fast as an H200. */
static size_t of_eight(const char *text, const char *set, bool looks, double speed)
{
    bn_device_info info = h200;
    void *state;
    info.bandwidth *= speed;
    bn_plan *plan = plan_of(text, &set, 1, looks, &state);
    const size_t count = bn_scaling_devices(plan, &info, 8);
    bn_plan_destroy(&plan);
    free(state);
    return count;
}

TEST(takes_what_shortens_a_step)
{
    ck_assert_uint_eq(of_eight(by_multigrid, "grid.nodes=[1025,1025]", false, 1), 1);
    ck_assert_uint_gt(of_eight(by_multigrid, "grid.nodes=[12289,12289]", false, 1), 2);
    ck_assert_uint_gt(of_eight(by_multigrid, "grid.nodes=[4097,4097]", false, 0.1),
                      of_eight(by_multigrid, "grid.nodes=[4097,4097]", false, 1));
    /* The direct solver takes so many as have 16 chunks of 64 nodes each, however long a step takes; around obstacles,
     * and where columns are short, one: which only a look at the cells tells. */
    ck_assert_uint_eq(of_eight(flow, "grid.nodes=[4097,4097]", true, 0.01), 4);
    ck_assert_uint_gt(of_eight(flow, "grid.nodes=[4097,1001]", false, 0.01), 1);
    ck_assert_uint_eq(of_eight(flow, "grid.nodes=[4097,1001]", true, 0.01), 1);
    ck_assert_uint_eq(of_eight(flow, "grid.nodes=[65,1025]", true, 1e-4), 2);
    ck_assert_uint_eq(of_eight(around, "grid.nodes=[65,1025]", true, 1e-4), 1);
    /* A beam can't be shared out, five can among five. */
    ck_assert_uint_eq(of_eight(bpm, "march.dz=1e-6", false, 1), 1);
    ck_assert_uint_eq(of_eight(bpm, "batch.count=5", false, 1), 5);
    /* What does not fit on fewer takes more of them. */
    ck_assert_uint_eq(of_eight(by_multigrid, "grid.nodes=[1025,1025]", false, 1), 1);
    bn_device_info small = h200;
    void *state;
    const char *const nodes = "grid.nodes=[1025,1025]";
    bn_plan *plan = plan_of(by_multigrid, &nodes, 1, false, &state);
    small.bytes = bn_plan_device_bytes(plan, &small.largest_buffer) * 3 / 4;
    ck_assert_uint_ge(bn_plan_devices(plan, &small), 2);
    ck_assert_uint_eq(bn_scaling_devices(plan, &small, 8), bn_plan_devices(plan, &small));
    /* Nothing is known of a solver that says nothing. */
    plan->cut.scaling.rate = 0;
    ck_assert_uint_eq(bn_scaling_devices(plan, &h200, 8), 8);
    bn_plan_destroy(&plan);
    free(state);
}

static const char flood[] = "[case]\nsolver='flood'\n[stop]\ntime=1\n";

/* A constant of the kernels that a flood is planned with on so many devices; with `field` also whether there is a field
 * of this name. */
static long long planned(const char *constant, const char *set, const char *other, const bn_device_info *info,
                         size_t devices, const char *field, bool *has_field)
{
    const char *const sets[] = { set, other };
    bn_case *config;
    bn_plan *plan;
    void *state = calloc(1, bn_solver_find("flood")->state_size);
    long long value = -1;
    ck_assert_int_eq(bn_case_parse(ctx, "planned", flood, sets, 2, &config), BN_OK);
    ck_assert_int_eq(bn_plan_create(ctx, config, info, devices, state, &plan), BN_OK);
    for (size_t i = 0; i < plan->define_count; i++)
        if (strcmp(plan->defines[i].name, constant) == 0)
            value = plan->defines[i].u.i;
    for (size_t i = 0; field && i < plan->field_count; i++)
        *has_field = *has_field || strcmp(plan->fields[i].name, field) == 0;
    bn_plan_destroy(&plan);
    bn_case_destroy(&config);
    free(state);
    return value;
}

/* Whether so many devices compute fluxes before the time step is known, for which they have one field more. */
static bool is_ahead(const char *set, const char *other, const bn_device_info *info, size_t devices)
{
    bool field = false;
    const bool ahead = planned("AHEAD", set, other, info, devices, "rates", &field) == 1;
    ck_assert_int_eq(ahead, field);
    return ahead;
}

/* Blocks of a work-group: two at second order where half as many groups keep a device busy. */
TEST(work_groups_of_large_floods_have_two_blocks)
{
    static const char *const large = "grid.cells=[2560,3392]", *const second = "solver.order=2"; /* 8,480 blocks */
    bn_device_info info = h200;
    info.local_bytes = 48 << 10;
    info.compute_units = 132;
    const struct {
        const char *set, *other;
        size_t devices;
        long long blocks;
    } all[] = { { large, second, 1, 2 },
                { large, second, 2, 1 },
                { large, "solver.order=1", 1, 1 },
                { "grid.cells=[2560,3376]", second, 1, 1 }, /* 8,440 blocks for 132 units of 64 */
                { large, "solver.group_blocks=1", 1, 1 },
                { "grid.cells=[40,30]", "solver.group_blocks=3", 1, 3 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ck_assert_int_eq(planned("GROUP_BLOCKS", all[i].set, all[i].other, &info, all[i].devices, NULL, NULL),
                         all[i].blocks);
    ck_assert(!is_ahead("solver.ahead=100", "solver.group_blocks=2", &info, 1));
}

TEST(several_gpus_compute_fluxes_ahead)
{
    static const char *const large = "grid.cells=[2000,2000]", *const small = "grid.cells=[2000,1900]";
    static const char *const hexagons = "grid.kind=hexagon";
    bn_device_info gpu = h200, cpu, full;
    gpu.local_bytes = 48 << 10;
    cpu = full = gpu;
    cpu.cpu = true;
    full.bytes = (uint64_t)4000000 * 4 * 12; /* less than the fields take anyway, on one of them */
    ck_assert(is_ahead(large, hexagons, &gpu, 4));
    ck_assert(is_ahead(large, "grid.kind=square", &gpu, 2));
    ck_assert(!is_ahead(large, hexagons, &gpu, 1));
    ck_assert(!is_ahead(large, hexagons, &cpu, 4));
    ck_assert(!is_ahead(large, hexagons, &full, 4));
    ck_assert(!is_ahead(small, hexagons, &gpu, 4));
    ck_assert(!is_ahead(large, "solver.order=2", &gpu, 4));
    ck_assert(!is_ahead(large, "solver.edges=twice", &gpu, 4));
    ck_assert(!is_ahead(large, "boundary.left.kind=open", &gpu, 4));
    ck_assert(!is_ahead(large, "solver.ahead=0", &gpu, 4));
    ck_assert(is_ahead(small, "solver.ahead=100", &cpu, 1));
    ck_assert(!is_ahead("solver.ahead=100", "boundary.left.kind=open", &gpu, 4));
}

/* Before any device is looked for. A case of which results are known has fewer of them while its cells are not known.
 */
TEST(threads_are_counted_without_the_cells)
{
    bn_case *config;
    ck_assert_int_eq(unsetenv("POCL_MAX_PTHREAD_COUNT"), 0);
    ck_assert_int_eq(unsetenv("POCL_CPU_MAX_CU_COUNT"), 0);
    ck_assert_int_eq(bn_case_read(ctx, "data/cases/maxwell/stack-600nm.toml", NULL, 0, &config), BN_OK);
    ck_assert_msg(bn_scaling_threads(ctx, config) == BN_OK, "%s", bn_error_text(ctx));
    ck_assert_int_eq(bn_case_verdict(ctx, config), BN_OK);
    bn_case_destroy(&config);
    ck_assert_int_eq(unsetenv("POCL_MAX_PTHREAD_COUNT"), 0);
    ck_assert_int_eq(unsetenv("POCL_CPU_MAX_CU_COUNT"), 0);
}

/* Reading a large file twice would take longer than fewer threads save. */
TEST(threads_of_a_case_with_a_large_file_are_not_counted)
{
    char path[] = "/tmp/binnacle-test-XXXXXX", set[80];
    const int file = mkstemp(path);
    bn_case *config;
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, 9 << 20), 0); /* of zeros: no picture, as a plan would say */
    ck_assert_int_eq(close(file), 0);
    snprintf(set, sizeof set, "obstacle.mask='%s'", path);
    const char *const sets[] = { set, "grid.nodes=[33, 9]" };
    ck_assert_int_eq(bn_case_read(ctx, "data/cases/flow/obstacle.toml", sets, 2, &config), BN_OK);
    ck_assert_int_eq(bn_scaling_threads(ctx, config), BN_OK);
    ck_assert_ptr_null(getenv("POCL_MAX_PTHREAD_COUNT"));
    bn_case_destroy(&config);
    ck_assert_int_eq(unlink(path), 0);
}

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "table") != 0)
        return bn_test_main("scaling", open_context, close_context);
    if (bn_context_create(NULL, &ctx) != BN_OK)
        return 1;
    print_table();
    close_context();
    return 0;
}
