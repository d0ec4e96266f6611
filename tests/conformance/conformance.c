/* conformance.c: what every registered solver and study must pass, on its own self-test cases: the device against the
 * reference in both precisions, several work-groups and cuts into boxes, the same twice, with canaries behind every
 * buffer and NaN in padding and stale halos. The device is the first that the tests are given. What is the same as the
 * reference bit by bit is compared with it, and so with all else that is: no process needs the programs of another. */
#include "conformance/conformance.h"
#include "support.h"

#include "api/embedded_files.h"
#include "api/launch.h"
#include "binnacle/binnacle.h"
#include "run/selftest.h"
#include "run/verify.h"
#include "sim/sim_parts.h"
#include "sim/solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call) ck_assert_msg((call) == BN_OK, "%s: %s", #call, bn_error_text(ctx))

enum { MOST_VALUES = 1024, MOST_KERNELS = 64 };

/* A field to compare or a result, after the whole of a self-test case. */
typedef struct value {
    char name[96]; /* "selftest/flow.toml omega" */
    unsigned char *bytes;
    size_t count, element_bytes;
    bool real;
    double tolerance; /* between device and reference; NaN: a result of a case with tolerant fields, not compared */
} value;

typedef struct outcome {
    value values[MOST_VALUES];
    size_t count;
} outcome;

static value *add(outcome *out, const char *file, const char *name, size_t count, size_t element_bytes)
{
    ck_assert_uint_lt(out->count, MOST_VALUES);
    value *v = &out->values[out->count++];
    *v = (value){ .bytes = malloc(count * element_bytes), .count = count, .element_bytes = element_bytes };
    ck_assert_ptr_nonnull(v->bytes);
    snprintf(v->name, sizeof v->name, "%s %s", file, name);
    return v;
}

static void add_values(bn_context *ctx, bn_sim *sim, const bn_case *c, const char *file, outcome *out)
{
    const bn_solver *solver = bn_solver_find(bn_case_solver(c));
    const bn_results *results = bn_sim_results(sim);
    bool tolerant = false;
    for (size_t f = 0; f < bn_sim_field_count(sim); f++) {
        const bn_sim_field_info *info = bn_sim_field_at(sim, f);
        const size_t count = (size_t)info->n[0] * info->n[1] * info->n[2] * (size_t)info->components;
        if (!info->compare)
            continue;
        value *v = add(out, file, info->name, count, info->element_bytes);
        v->real = info->real;
        v->tolerance = solver->tolerance ? solver->tolerance(c, info->name) : 0;
        tolerant = tolerant || v->tolerance > 0;
        OK(bn_sim_read(sim, info->name, v->bytes, count * info->element_bytes));
    }
    for (size_t r = 0; r < bn_results_count(results); r++) {
        value *v = add(out, file, bn_results_at(results, r)->name, 1, sizeof(double));
        v->tolerance = tolerant ? (double)NAN : 0;
        memcpy(v->bytes, &bn_results_at(results, r)->value, sizeof(double));
    }
}

bool is_first_case(const char *file)
{
    return !strchr(strchr(file, '/') + 1, '/'); /* selftest/flow.toml, not selftest/flow/fft.toml */
}

int odd_cut(const char *file) { return is_first_case(file) || long_tests() ? ODD_CUT : 2; }

bool is_cut(const char *file, const char *precision)
{
    static const char *const others[] = { "selftest/flood/order-2.toml", "selftest/flow/stretched.toml",
                                          "selftest/maxwell/two-pass.toml", "selftest/bpm/space.toml" };
    const bool twice = strcmp(precision, "double") == 0;
    bool found = is_first_case(file) && !(twice && strcmp(file, "selftest/flow.toml") == 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        found = found || (!twice && strcmp(file, others[i]) == 0);
    return found || long_tests();
}

/* Which kernels of a solver's table its cases have launched on the whole grid, in a precision; the byte behind: whether
 * there was a case. A file, since each test is a process of its own. */
static FILE *launches;
enum { LAUNCHES = MOST_KERNELS + 1 };

static off_t launches_at(const char *solver, bool twice)
{
    size_t index = 0;
    while (strcmp(solver_at(index), solver) != 0)
        index++;
    return (off_t)((2 * index + twice) * LAUNCHES);
}

static void note_launch(const char *solver, bool twice, size_t kernel)
{
    ck_assert_int_eq((int)pwrite(fileno(launches), "1", 1, launches_at(solver, twice) + (off_t)kernel), 1);
}

/* Whether the device runs this kernel unless a case insists (tests/long/one_launch.sh). On a CPU the sums that
 * flow_velocity leaves out cost nothing, and flow_wall_vorticity does its work in vectors. */
static bool runs(const bn_device *device, const bn_kernel_desc *kernel)
{
    const bn_device_info *info = bn_device_describe(device);
    return (kernel->range != BN_SIDE_BY_SIDE || info->side_by_side) &&
           (strcmp(kernel->name, "flow_velocity") != 0 || !info->cpu);
}

/* Those launched, that fit no work-group of the device, and that it does not run. */
static void note_launches(bn_sim *sim, const bn_device *device, const char *solver, bool twice)
{
    bn_profile_row rows[MOST_KERNELS];
    const size_t count = bn_domain_profile(bn_sim_domain(sim), true, rows, MOST_KERNELS);
    const bn_kernel_desc *kernels = bn_solver_find(solver)->kernels;
    note_launch(solver, twice, MOST_KERNELS);
    for (size_t k = 0; kernels[k].name && k < MOST_KERNELS; k++) {
        bn_kernel *kernel = bn_sim_kernel(sim, kernels[k].name);
        bool launched = (kernel && !bn_kernel_fits(kernel)) || !runs(device, &kernels[k]);
        for (size_t i = 0; i < count && i < MOST_KERNELS; i++)
            launched = launched || strcmp(rows[i].kernel, kernels[k].name) == 0;
        if (launched)
            note_launch(solver, twice, k);
    }
}

/* `kept`: gets what resumed runs are compared with, and each step is saved; NULL: nothing. */
static outcome *run_file(bn_context *ctx, const way *w, const bn_embedded *file, const char *precision, kept_run *kept)
{
    outcome *out = calloc(1, sizeof *out);
    bn_case *c;
    bn_sim *sim;
    char override[64];
    snprintf(override, sizeof override, "case.precision=%s", precision);
    const char *overrides[] = { override };
    ck_assert_ptr_nonnull(out);
    OK(bn_case_parse(ctx, file->name, file->text, overrides, 1, &c));
    bn_sim_desc desc = { .device = w->device, .boxes = w->boxes };
    memcpy(desc.work_group, w->group, sizeof desc.work_group);
    OK(bn_sim_create(ctx, c, &desc, &sim));
    for (;;) { /* a run may be stopped before its first step */
        if (kept)
            keep_step(ctx, sim);
        if (bn_sim_done(sim))
            break;
        /* A run takes checkpoints also after steps that write no row of the series. */
        const double next = (double)bn_sim_now(sim).step + 1, last = bn_plan_most_steps(bn_sim_plan(sim), c);
        bn_sim_quiet(sim, kept && next < last && !(bn_case_real(c, "stop.time") > 0));
        OK(bn_sim_step(sim));
    }
    if (kept)
        *kept = keep_end(ctx, sim, w);
    OK(bn_sim_measure(sim));
    add_values(ctx, sim, c, file->name, out);
    ck_assert_msg(out->count > 0, "%s: no field is compared", file->name);
    if (w->device) {
        OK(bn_domain_check_canaries(bn_sim_domain(sim)));
        if (w->boxes == 1 && w->group[0] == 0)
            note_launches(sim, w->device, bn_case_solver(c), strcmp(precision, "double") == 0);
    }
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    return out;
}

static void release(outcome *o)
{
    for (size_t i = 0; i < o->count; i++)
        free(o->values[i].bytes);
    free(o);
}

/* Releases `other`. */
static void same(const outcome *a, outcome *other, const char *precision, const char *what)
{
    ck_assert_uint_eq(a->count, other->count);
    for (size_t i = 0; i < other->count; i++) {
        const value *x = &a->values[i], *y = &other->values[i];
        ck_assert_msg(strcmp(x->name, y->name) == 0 && x->count == y->count &&
                          memcmp(x->bytes, y->bytes, x->count * x->element_bytes) == 0,
                      "%s, %s precision: %s: bits differ", x->name, precision, what);
    }
    release(other);
}

/* Field by field, each within its own tolerance. */
static void agree(const outcome *device, const outcome *reference, const char *precision)
{
    ck_assert_uint_eq(device->count, reference->count);
    for (size_t i = 0; i < device->count; i++) {
        const value *x = &device->values[i], *y = &reference->values[i];
        bn_verify_row row = { .tolerance = x->tolerance };
        if (isnan(x->tolerance))
            continue;
        if (x->tolerance > 0)
            bn_verify_compare(x->bytes, y->bytes, x->count, x->element_bytes, x->real, &row);
        else /* a result may be NaN on both sides */
            row.ok = x->count == y->count && memcmp(x->bytes, y->bytes, x->count * x->element_bytes) == 0;
        ck_assert_msg(row.ok, "%s, %s precision: device and reference differ", x->name, precision);
    }
}

/* Whether the device may differ from the reference in some field. */
static bool is_tolerant(const outcome *o)
{
    for (size_t i = 0; i < o->count; i++)
        if (!(o->values[i].tolerance <= 0))
            return true;
    return false;
}

const char *solver_at(size_t index)
{
    const char *const *lists[] = { bn_solver_names(), bn_study_names() };
    for (size_t l = 0; l < 2; l++)
        for (const char *const *name = lists[l]; *name; name++)
            if (index-- == 0)
                return *name;
    return NULL;
}

static bool is_study(const char *solver)
{
    const char *const *name = bn_study_names();
    while (*name && strcmp(*name, solver) != 0)
        name++;
    return *name != NULL;
}

static const char *program_of; /* NULL: of those without a program of their own */

/* A study belongs to the program of the solver whose name it begins with. */
bool is_wanted(const char *solver)
{
    static const char *const own_program[] = { "flood", "flow", "maxwell" };
    const char *only = getenv("BN_TEST_SOLVER");
    if (only)
        return strcmp(only, solver) == 0;
    if (program_of)
        return strncmp(program_of, solver, strlen(program_of)) == 0;
    for (size_t i = 0; i < sizeof own_program / sizeof *own_program; i++)
        if (strncmp(solver, own_program[i], strlen(own_program[i])) == 0)
            return false;
    return true;
}

/* What a run on the whole grid in default work-groups is compared with, besides the reference: other cuts, each with
 * other work-groups, since PoCL compiles for each of both, and the same again. The last ones belong to `make
 * test-long`. */
static const way ways[] = {
    { .boxes = ODD_CUT, .group = { ODD_GROUP_X, ODD_GROUP_Y, 1 } },
    { .boxes = 1, .group = { 64, 1, 1 } },
    { .boxes = 1 },
    { .boxes = 7, .group = { 1, 1, 1 } },
    { .boxes = 2, .group = { 16, 16, 1 } },
};
enum { WAYS = sizeof ways / sizeof *ways };

/* Whether that case runs that way: CPUs compile for minutes, and the others would say little more. In double precision,
 * and of a study, which has single precision alone, the first case alone is cut, and once. What runs the same again is
 * the run resumed from the checkpoint before its first step, which repeats them all. */
static bool takes(const way *w, const char *file, const char *precision, bool study)
{
    if (long_tests())
        return true;
    if (w->boxes == ODD_CUT)
        return study ? is_first_case(file) : is_cut(file, precision);
    return w->group[0] == 64 && !study && is_first_case(file) && strcmp(precision, "single") == 0;
}

/* PoCL compiles the whole grid in default work-groups as for users where the case is cut, or its solver's first one;
 * the others, boxes and other work-groups without its optimiser. */
static bool is_plain(const char *file, const char *precision)
{
    return !is_first_case(file) && !is_cut(file, precision);
}

/* `plain`: what PoCL compiles without its optimiser, which goes for all that a process compiles. In `make test-long`
 * all is compiled with it. */
static void check_file(bn_context *ctx, bn_device *device, const bn_embedded *file, const char *precision, bool study,
                       bool plain)
{
    const bool first_case = is_first_case(file->name),
               resumes = !study &&
                         (first_case || strcmp(precision, "single") == 0 || long_tests() || getenv("BN_TEST_FILE"));
    const bool whole = long_tests() || plain == is_plain(file->name, precision), others = long_tests() || plain;
    bool any = whole;
    for (size_t which = 0; which < WAYS; which++)
        any = any || (others && takes(&ways[which], file->name, precision, study));
    if (!any)
        return;

    const way on_device = { .device = device, .boxes = 1 };
    way cut = { .device = device, .boxes = odd_cut(file->name), .group = { ODD_GROUP_X, ODD_GROUP_Y, 1 } };
    kept_run kept;
    outcome *reference = run_file(ctx, &(way){ .boxes = 1 }, file, precision, resumes ? &kept : NULL),
            *first = reference;
    const bool tolerant = is_tolerant(reference), boxes = others && !tolerant && is_cut(file->name, precision);
    if (resumes)
        check_resumed(ctx, &kept, file, precision, tolerant || !whole ? NULL : &on_device, boxes ? &cut : NULL);
    if (whole || tolerant) {
        first = run_file(ctx, &on_device, file, precision, whole && resumes ? &kept : NULL);
        agree(first, reference, precision);
        if (whole && resumes)
            check_resumed(ctx, &kept, file, precision, tolerant ? NULL : &(way){ .boxes = 1 },
                          boxes && long_tests() ? &cut : NULL);
    }
    for (size_t which = 0; others && which < WAYS; which++) {
        char what[64];
        way other = ways[which];
        if (!takes(&other, file->name, precision, study))
            continue;
        const bool odd = other.boxes == ODD_CUT;
        other.device = device;
        if (odd)
            other.boxes = cut.boxes;
        if (other.boxes > 3 && study) /* a single row, which is cut between sums of 256 cells */
            other.boxes = 3;
        snprintf(what, sizeof what, "%d boxes, work-groups of %zu x %zu", other.boxes, other.group[0], other.group[1]);
        const bool saves = odd && boxes && resumes;
        same(first, run_file(ctx, &other, file, precision, saves ? &kept : NULL), precision, what);
        if (saves)
            check_resumed(ctx, &kept, file, precision, &(way){ .boxes = 1 }, NULL);
    }
    if (first != reference)
        release(first);
    release(reference);
}

static int solver_count(void)
{
    int count = 0;
    while (solver_at((size_t)count))
        count++;
    return count;
}

/* Loops over what is compiled with and without PoCL's optimiser, both precisions, solvers. A process and a device serve
 * all cases of these, since PoCL reads its library anew for each device that compiles, half a second, and starts its
 * compiler for as long. */
LOOP_TEST(bits_do_not_depend_on_how_it_runs_or_is_resumed, 4 * solver_count())
{
    static const char *const precisions[] = { "single", "double" };
    const bool plain = _i % 2, twice = _i / 2 % 2;
    const char *solver = solver_at((size_t)_i / 4), *precision = precisions[twice], *only = getenv("BN_TEST_FILE");
    const bool study = is_study(solver);
    bn_context *ctx;
    bn_device *device;
    if (!is_wanted(solver) || (twice && study && !long_tests()) || (plain && long_tests()))
        return;
    without_optimiser(plain);
    ck_assert_int_eq(bn_context_create(&(bn_context_desc){ .debug = true }, &ctx), BN_OK);
    OK(bn_device_open(ctx, "auto", false, &device));
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        if (bn_selftest_is_of(f->name, solver) && (!only || strstr(f->name, only)) &&
            (!twice || bn_device_describe(device)->fp64))
            check_file(ctx, device, f, precision, study, plain);
    bn_device_close(&device);
    remove_kept(ctx);
    bn_context_destroy(&ctx);
}

/* Fluxes that are computed ahead are handed on by local memory, of which that takes 48 KiB (solver.edges). */
static bool device_has(const char *kernel)
{
    enum { LOCAL_BYTES = 48 << 10 };
    bn_context *ctx;
    bn_device *device;
    ck_assert_int_eq(bn_context_create(NULL, &ctx), BN_OK);
    OK(bn_device_open(ctx, "auto", false, &device));
    const bool enough = bn_device_describe(device)->local_bytes >= LOCAL_BYTES;
    bn_device_close(&device);
    bn_context_destroy(&ctx);
    return enough || strcmp(kernel, "flood_rates") != 0;
}

/* Loops over both precisions, solvers; after the tests above. */
LOOP_TEST(cases_launch_every_kernel, 2 * solver_count())
{
    const bool twice = _i % 2;
    const char *solver = solver_at((size_t)_i / 2);
    char row[LAUNCHES] = { 0 };
    if (!is_wanted(solver) || getenv("BN_TEST_FILE"))
        return;
    ck_assert_int_ge((int)pread(fileno(launches), row, sizeof row, launches_at(solver, twice)), 0);
    if (twice && !row[MOST_KERNELS]) /* a study, or a device without double precision */
        return;
    ck_assert_msg(row[MOST_KERNELS], "solver %s has no self-test case", solver);
    const bn_kernel_desc *kernels = bn_solver_find(solver)->kernels;
    for (size_t k = 0; kernels[k].name && k < MOST_KERNELS; k++)
        ck_assert_msg(row[k] || !device_has(kernels[k].name), "the self-test of %s never launches %s", solver,
                      kernels[k].name);
}

TEST(every_key_of_a_solver_makes_a_case)
{
    bn_context *ctx;
    ck_assert_int_eq(bn_context_create(NULL, &ctx), BN_OK);
    for (const char *const *solver = bn_solver_names(); *solver; solver++) {
        char *text;
        bn_case *c;
        OK(bn_solver_every_key(ctx, *solver, &text));
        OK(bn_case_parse(ctx, "every-key.toml", text, NULL, 0, &c));
        bn_case_destroy(&c);
        free(text);
    }
    bn_context_destroy(&ctx);
}

int conformance_main(const char *solver)
{
    program_of = solver;
    launches = tmpfile();
    if (!launches)
        return EXIT_FAILURE;
    const int failed = bn_test_main("conformance", NULL, NULL);
    (void)fclose(launches);
    return failed;
}
