/* conformance.c: what every registered solver and study must pass, on its own self-test cases: the device against the
 * reference in both precisions, several work-groups and cuts into boxes, the same twice, with canaries behind every
 * buffer and NaN in padding and stale halos. The device is the first that the tests are given. */
#include "conformance/conformance.h"
#include "support.h"

#include "api/embedded_files.h"
#include "api/launch.h"
#include "binnacle/binnacle.h"
#include "run/selftest.h"
#include "run/verify.h"
#include "sim/solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    bool launched[MOST_KERNELS]; /* of the solver's table, and those that fit no work-group of the device */
} outcome;

/* One way to run: device NULL is the reference. */
typedef struct way {
    bn_device *device;
    int boxes;
    size_t group[3]; /* {0}: the default */
} way;

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

void choose_optimiser(const char *file, const char *precision, bool whole)
{
    without_optimiser(!(whole && (is_first_case(file) || is_cut(file, precision))));
}

static void run_file(bn_context *ctx, const way *w, const bn_embedded *file, const char *precision, outcome *out)
{
    bn_case *c;
    bn_sim *sim;
    char override[64];
    snprintf(override, sizeof override, "case.precision=%s", precision);
    const char *overrides[] = { override };
    OK(bn_case_parse(ctx, file->name, file->text, overrides, 1, &c));
    bn_sim_desc desc = { .device = w->device, .boxes = w->boxes == ODD_CUT ? odd_cut(file->name) : w->boxes };
    memcpy(desc.work_group, w->group, sizeof desc.work_group);
    choose_optimiser(file->name, precision, desc.boxes == 1 && w->group[0] == 0);
    OK(bn_sim_create(ctx, c, &desc, &sim));
    while (!bn_sim_done(sim))
        OK(bn_sim_step(sim));
    OK(bn_sim_measure(sim));
    add_values(ctx, sim, c, file->name, out);
    if (w->device) {
        OK(bn_domain_check_canaries(bn_sim_domain(sim)));
        bn_profile_row rows[MOST_KERNELS];
        const size_t count = bn_domain_profile(bn_sim_domain(sim), rows, MOST_KERNELS);
        const bn_kernel_desc *kernels = bn_solver_find(bn_case_solver(c))->kernels;
        for (size_t k = 0; kernels[k].name && k < MOST_KERNELS; k++) {
            bn_kernel *kernel = bn_sim_kernel(sim, kernels[k].name);
            out->launched[k] = out->launched[k] || (kernel && !bn_kernel_fits(kernel));
            for (size_t i = 0; i < count && i < MOST_KERNELS; i++)
                out->launched[k] = out->launched[k] || strcmp(rows[i].kernel, kernels[k].name) == 0;
        }
    }
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

/* Whether the device runs this kernel unless a case insists (tests/long/one_launch.sh). On a CPU the sums that
 * flow_velocity leaves out cost nothing, and flow_wall_vorticity does its work in vectors. */
static bool runs(const bn_device *device, const bn_kernel_desc *kernel)
{
    const bn_device_info *info = bn_device_describe(device);
    return (kernel->range != BN_SIDE_BY_SIDE || info->side_by_side) &&
           (strcmp(kernel->name, "flow_velocity") != 0 || !info->cpu);
}

/* Which self-test cases of a solver. */
typedef enum amount { NO_CASE, FIRST_CASE, CUT_CASES, ALL_CASES } amount;

/* All cases launch every kernel of the solver's table. */
static outcome *run_cases(bn_context *ctx, const way *w, const char *solver, const char *precision, amount cases)
{
    outcome *out = calloc(1, sizeof *out);
    const bool all = cases == ALL_CASES;
    ck_assert_ptr_nonnull(out);
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        if (bn_selftest_is_of(f->name, solver) &&
            (all || is_first_case(f->name) || (cases == CUT_CASES && is_cut(f->name, precision))))
            run_file(ctx, w, f, precision, out);
    ck_assert_msg(out->count > 0, "solver %s has no self-test case, or it compares no field", solver);
    const bn_kernel_desc *kernels = bn_solver_find(solver)->kernels;
    for (size_t k = 0; w->device && all && kernels[k].name && k < MOST_KERNELS; k++)
        ck_assert_msg(out->launched[k] || !runs(w->device, &kernels[k]), "the self-test of %s never launches %s",
                      solver, kernels[k].name);
    return out;
}

static void release(outcome *o)
{
    for (size_t i = 0; i < o->count; i++)
        free(o->values[i].bytes);
    free(o);
}

/* Releases `other`, which may be of fewer cases. */
static void same(const outcome *a, outcome *other, bool all, const char *precision, const char *what)
{
    ck_assert_uint_gt(other->count, 0);
    if (all)
        ck_assert_uint_eq(a->count, other->count);
    for (size_t i = 0, at = 0; i < other->count; i++, at++) {
        const value *y = &other->values[i], *x;
        while (at < a->count && strcmp(a->values[at].name, y->name) != 0)
            at++;
        ck_assert_msg(at < a->count, "%s, %s precision: %s: there is no such value on the whole grid", y->name,
                      precision, what);
        x = &a->values[at];
        ck_assert_msg(x->count == y->count && memcmp(x->bytes, y->bytes, x->count * x->element_bytes) == 0,
                      "%s, %s precision: %s: bits differ", x->name, precision, what);
    }
    release(other);
}

/* Field by field, each within its own tolerance. Releases `reference`. */
static void agree(const outcome *device, outcome *reference, const char *precision)
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
    release(reference);
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

/* What a run on the whole grid in default work-groups is compared with: the reference, the same again, and other cuts,
 * each with other work-groups, since PoCL compiles for each of both. The last ones belong to `make test-long`. */
static const struct {
    bool reference;
    way way;
} ways[] = {
    { .reference = true, .way = { .boxes = 1 } },
    { .way = { .boxes = 1 } },
    { .way = { .boxes = ODD_CUT, .group = { ODD_GROUP_X, ODD_GROUP_Y, 1 } } },
    { .way = { .boxes = 1, .group = { 64, 1, 1 } } },
    { .way = { .boxes = 7, .group = { 1, 1, 1 } } },
    { .way = { .boxes = 2, .group = { 16, 16, 1 } } },
};
static int way_count(void) { return long_tests() ? 6 : 4; }

/* Which cases run that way, but for `make test-long`: CPUs compile for minutes, and the others would say little
 * more. In double precision, and of a study, which has single precision alone, the first case alone is cut, and once.
 */
static amount amount_of(int which, bool twice, const char *solver)
{
    const bool study = is_study(solver), cut = ways[which].way.boxes == ODD_CUT;
    char first[128];
    snprintf(first, sizeof first, "selftest/%s.toml", solver);
    if (long_tests() || ways[which].reference)
        return ALL_CASES;
    if (study)
        return cut ? FIRST_CASE : NO_CASE;
    if (ways[which].way.group[0] == 64)
        return twice ? NO_CASE : FIRST_CASE;
    if (twice)
        return !cut || is_cut(first, "double") ? FIRST_CASE : NO_CASE;
    return cut ? CUT_CASES : ALL_CASES;
}

static int solver_count(void)
{
    int count = 0;
    while (solver_at((size_t)count))
        count++;
    return count;
}

/* Loops over both precisions, solvers. A device serves all ways, since PoCL reads its library anew for each that
 * compiles, half a second; so does the run that all are compared with. */
LOOP_TEST(bits_do_not_depend_on_how_it_runs, 2 * solver_count())
{
    static const char *const precisions[] = { "single", "double" };
    const bool twice = _i % 2;
    const char *solver = solver_at((size_t)_i / 2), *precision = precisions[twice];
    bn_context *ctx;
    bn_device *device;
    if (!is_wanted(solver) || (twice && is_study(solver) && !long_tests()))
        return;
    ck_assert_int_eq(bn_context_create(&(bn_context_desc){ .debug = true }, &ctx), BN_OK);
    OK(bn_device_open(ctx, "auto", false, &device));
    if (!twice || bn_device_describe(device)->fp64) {
        outcome *first = run_cases(ctx, &(way){ .device = device, .boxes = 1 }, solver, precision, ALL_CASES);
        for (int which = 0; which < way_count(); which++) {
            const amount cases = amount_of(which, twice, solver);
            const bool all = cases == ALL_CASES;
            char what[64];
            way other = ways[which].way;
            if (cases == NO_CASE)
                continue;
            other.device = ways[which].reference ? NULL : device;
            if (other.boxes > 3 && is_study(solver)) /* a single row, which is cut between sums of 256 cells */
                other.boxes = 3;
            snprintf(what, sizeof what, "%d boxes, work-groups of %zu x %zu", other.boxes, other.group[0],
                     other.group[1]);
            if (ways[which].reference)
                agree(first, run_cases(ctx, &other, solver, precision, cases), precision);
            else
                same(first, run_cases(ctx, &other, solver, precision, cases), all, precision, what);
        }
        release(first);
    }
    bn_device_close(&device);
    bn_context_destroy(&ctx);
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
    join_resume_tests();
    return bn_test_main("conformance", NULL, NULL);
}
