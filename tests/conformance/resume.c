/* resume.c: what every registered solver must pass, on its own self-test cases, in both precisions, on
 * device and reference: a run that is resumed from a checkpoint ends with the bits of one that was never stopped, cut
 * into another number of boxes, too, and on the other engine. The context paints padding and stale halos with NaN. */
#include "conformance/conformance.h"
#include "support.h"

#include "api/embedded_files.h"
#include "binnacle/binnacle.h"
#include "sim/checkpoint.h"
#include "run/selftest.h"
#include "sim/sim_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call) ck_assert_msg((call) == BN_OK, "%s: %s", #call, bn_error_text(ctx))

enum { MOST_STEPS = 40 };
static char folder[4096];

/* All that is written or compared, the results and their tables, the last row of the series. */
typedef struct outcome {
    unsigned char *bytes;
    size_t count;
} outcome;

static void add(outcome *o, const void *bytes, size_t count)
{
    o->bytes = realloc(o->bytes, o->count + count + 1);
    ck_assert_ptr_nonnull(o->bytes);
    if (count > 0)
        memcpy(o->bytes + o->count, bytes, count);
    o->count += count;
}

static outcome outcome_of(bn_context *ctx, bn_sim *sim)
{
    outcome o = { 0 };
    const bn_sim_state now = bn_sim_now(sim);
    const double numbers[] = {
        (double)now.step, now.time, now.residual, (double)now.items, now.converged, now.complete
    };
    OK(bn_sim_measure(sim));
    for (size_t f = 0; f < bn_sim_field_count(sim); f++) {
        const bn_sim_field_info *info = bn_sim_field_at(sim, f);
        if (!info->compare && !info->output)
            continue;
        const size_t bytes = bn_field_bytes(bn_sim_field(sim, info->name));
        void *values = malloc(bytes);
        OK(bn_sim_read(sim, info->name, values, bytes));
        add(&o, values, bytes);
        free(values);
    }
    const bn_results *r = bn_sim_results(sim);
    for (size_t i = 0; i < bn_results_count(r); i++)
        add(&o, &bn_results_at(r, i)->value, sizeof(double));
    for (size_t i = 0; i < bn_results_tables(r); i++) {
        const bn_column *columns;
        size_t count, rows;
        (void)bn_results_table_at(r, i, &columns, &count, &rows);
        for (size_t c = 0; c < count; c++)
            add(&o, columns[c].values, rows * sizeof(double));
    }
    add(&o, numbers, sizeof numbers);
    add(&o, bn_sim_last_step(sim)->series, sizeof bn_sim_last_step(sim)->series);
    return o;
}

static bn_case *read_case(bn_context *ctx, const bn_embedded *file, const char *precision)
{
    bn_case *c;
    char override[64];
    snprintf(override, sizeof override, "case.precision=%s", precision);
    const char *overrides[] = { override };
    OK(bn_case_parse(ctx, file->name, file->text, overrides, 1, &c));
    return c;
}

static void folder_of(char *path, size_t room, unsigned long long step)
{
    snprintf(path, room, "%s/%llu", folder, step);
}

/* The whole run, with a checkpoint after each step in a folder of its own. `tolerant`: engines and cuts may differ in
 * some field. */
static outcome run_whole(bn_context *ctx, bn_device *device, bn_case *c, unsigned long long *steps, bool *tolerant)
{
    double (*tolerance)(const bn_case *, const char *) = bn_solver_find(bn_case_solver(c))->tolerance;
    bn_sim *sim;
    OK(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device }, &sim));
    for (;;) { /* a run may be stopped before its first step */
        char path[4200];
        folder_of(path, sizeof path, bn_sim_now(sim).step);
        if (bn_sim_now(sim).step < MOST_STEPS)
            OK(bn_sim_save(sim, path));
        if (bn_sim_done(sim))
            break;
        OK(bn_sim_step(sim));
    }
    for (size_t f = 0; tolerance && f < bn_sim_field_count(sim); f++)
        *tolerant = *tolerant || tolerance(c, bn_sim_field_at(sim, f)->name) > 0;
    *steps = bn_sim_now(sim).step;
    const outcome o = outcome_of(ctx, sim);
    bn_sim_destroy(&sim);
    return o;
}

static void resume(bn_context *ctx, bn_device *device, const bn_embedded *file, const char *precision, int boxes,
                   unsigned long long from, bool other_engine, const outcome *whole)
{
    bn_sim *sim;
    char path[4200];
    bn_case *c = read_case(ctx, file, precision);
    folder_of(path, sizeof path, from);
    bn_sim_desc desc = { .device = device, .boxes = boxes, .resume = path };
    if (boxes == odd_cut(file->name))
        desc.work_group[0] = ODD_GROUP_X, desc.work_group[1] = ODD_GROUP_Y, desc.work_group[2] = 1;
    choose_optimiser(file->name, precision, boxes == 1);
    OK(bn_sim_create(ctx, c, &desc, &sim));
    ck_assert_int_eq((int)bn_sim_now(sim).step, (int)from);
    while (!bn_sim_done(sim))
        OK(bn_sim_step(sim));
    outcome o = outcome_of(ctx, sim);
    ck_assert_int_eq((int)o.count, (int)whole->count);
    if (other_engine) /* engines may report how large a field is at different steps */
        o.count -= sizeof bn_sim_last_step(sim)->series;
    size_t at = 0;
    while (at < o.count && o.bytes[at] == whole->bytes[at])
        at++;
    ck_assert_msg(at == o.count, "%s, %s, %s, %d boxes: the run resumed from step %llu differs at byte %zu of %zu",
                  file->name, precision, device ? "device" : "reference", boxes, from, at, o.count);
    free(o.bytes);
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

static void check_file(bn_context *ctx, bn_device *device, const bn_embedded *file, const char *precision)
{
    unsigned long long steps;
    bn_case *c = read_case(ctx, file, precision);
    bool tolerant = false;
    choose_optimiser(file->name, precision, true);
    outcome whole = run_whole(ctx, device, c, &steps, &tolerant);
    ck_assert_int_ge((int)steps, 1);
    resume(ctx, device, file, precision, 1, 0, false, &whole);
    const unsigned long long stride = long_tests() ? 1 : (steps + 1) / 2;
    for (unsigned long long from = 1; from <= steps && from < MOST_STEPS; from += stride) {
        resume(ctx, device, file, precision, 1, from, false, &whole);
        if (!tolerant && is_cut(file->name, precision) && (from == 1 || stride == 1)) /* boxes are other programs */
            resume(ctx, device, file, precision, from % 2 ? odd_cut(file->name) : 7, from, false, &whole);
        if (!tolerant && (from > 1 || stride == 1))
            resume(ctx, NULL, file, precision, 1, from, true, &whole);
    }
    free(whole.bytes);
    if (!tolerant) { /* and from the reference to the device */
        whole = run_whole(ctx, NULL, c, &steps, &tolerant);
        resume(ctx, NULL, file, precision, 1, 0, false, &whole);
        resume(ctx, NULL, file, precision, 1, 1, false, &whole);
        resume(ctx, device, file, precision, 1, (steps + 1) / 2, true, &whole);
        free(whole.bytes);
    }
    bn_case_destroy(&c);
}

/* The solver that a self-test case belongs to; NULL: a study's, or no self-test case. */
static const char *solver_of(const bn_embedded *file)
{
    const char *const *solver = bn_solver_names();
    while (*solver && !bn_selftest_is_of(file->name, *solver))
        solver++;
    return *solver;
}

/* The self-test case of a solver with that number; NULL behind the last. */
static const bn_embedded *file_at(int index)
{
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        if (solver_of(f) && index-- == 0)
            return f;
    return NULL;
}

static int file_count(void)
{
    int count = 0;
    while (file_at(count))
        count++;
    return count;
}

/* Loops over both precisions, self-test cases. */
LOOP_TEST(resumed_runs_have_the_same_bits, 2 * file_count())
{
    static const char *const precisions[] = { "single", "double" };
    const bn_embedded *file = file_at(_i / 2);
    const char *only = getenv("BN_TEST_FILE");
    const bool twice = _i % 2;
    bn_context *ctx;
    bn_device *device;
    /* In double precision the first case alone, but for `make test-long`: CPUs compile for minutes. */
    if (!is_wanted(solver_of(file)) || (only && !strstr(file->name, only)) ||
        (twice && !only && !long_tests() && !is_first_case(file->name)))
        return;
    snprintf(folder, sizeof folder, "%s/resume-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(bn_context_create(&(bn_context_desc){ .debug = true }, &ctx), BN_OK);
    OK(bn_device_open(ctx, "auto", false, &device));
    if (!twice || bn_device_describe(device)->fp64)
        check_file(ctx, device, file, precisions[twice]);
    bn_device_close(&device);
    for (unsigned long long step = 0; step < MOST_STEPS; step++) {
        char path[4200];
        folder_of(path, sizeof path, step);
        bn_checkpoint_remove(ctx, path);
    }
    bn_context_destroy(&ctx);
    (void)rmdir(folder);
}

void join_resume_tests(void) {}
