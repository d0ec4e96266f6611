/* resume.c: what every registered solver must pass, on its own self-test cases, in both precisions, on
 * device and reference: a run that is resumed from a checkpoint ends with the bits of one that was never stopped, cut
 * into another number of boxes, too, and on the other engine. The context paints padding and stale halos with NaN. */
#include "conformance/conformance.h"
#include "support.h"

#include "sim/checkpoint.h"
#include "sim/sim_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call) ck_assert_msg((call) == BN_OK, "%s: %s", #call, bn_error_text(ctx))

enum { MOST_STEPS = 40 };
static char folder[4096];

static void add(kept_run *o, const void *bytes, size_t count)
{
    o->bytes = realloc(o->bytes, o->count + count + 1);
    ck_assert_ptr_nonnull(o->bytes);
    if (count > 0)
        memcpy(o->bytes + o->count, bytes, count);
    o->count += count;
}

/* All that is written or compared, the results and their tables, the last row of the series. */
static kept_run outcome_of(bn_context *ctx, bn_sim *sim)
{
    kept_run o = { .steps = bn_sim_now(sim).step };
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

static void folder_of(char *path, size_t room, unsigned long long step)
{
    snprintf(path, room, "%s/%llu", folder, step);
}

void keep_step(bn_context *ctx, bn_sim *sim)
{
    char path[4200];
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "%s/resume-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(folder));
    }
    folder_of(path, sizeof path, bn_sim_now(sim).step);
    if (bn_sim_now(sim).step < MOST_STEPS)
        OK(bn_sim_save(sim, path));
}

kept_run keep_end(bn_context *ctx, bn_sim *sim, const way *w)
{
    kept_run k = outcome_of(ctx, sim);
    ck_assert_int_ge((int)k.steps, 1);
    k.way = *w;
    return k;
}

static void resume(bn_context *ctx, const kept_run *whole, const bn_embedded *file, const char *precision, const way *w,
                   unsigned long long from)
{
    bn_sim *sim;
    bn_case *c;
    char path[4200], override[64];
    snprintf(override, sizeof override, "case.precision=%s", precision);
    OK(bn_case_parse(ctx, file->name, file->text, (const char *const[]){ override }, 1, &c));
    folder_of(path, sizeof path, from);
    bn_sim_desc desc = { .device = w->device, .boxes = w->boxes, .resume = path };
    memcpy(desc.work_group, w->group, sizeof desc.work_group);
    OK(bn_sim_create(ctx, c, &desc, &sim));
    ck_assert_int_eq((int)bn_sim_now(sim).step, (int)from);
    while (!bn_sim_done(sim))
        OK(bn_sim_step(sim));
    kept_run o = outcome_of(ctx, sim);
    ck_assert_int_eq((int)o.count, (int)whole->count);
    if (!w->device != !whole->way.device) /* engines may report how large a field is at different steps */
        o.count -= sizeof bn_sim_last_step(sim)->series;
    size_t at = 0;
    while (at < o.count && o.bytes[at] == whole->bytes[at])
        at++;
    ck_assert_msg(
        at == o.count,
        "%s, %s: the run on the %s in %d boxes resumed from step %llu on the %s in %d boxes differs at byte %zu of %zu",
        file->name, precision, whole->way.device ? "device" : "reference", whole->way.boxes, from,
        w->device ? "device" : "reference", w->boxes, at, o.count);
    free(o.bytes);
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

/* The reference stands for itself in two resumed runs; boxes in one, since each of theirs waits for a compiler. */
void check_resumed(bn_context *ctx, kept_run *whole, const bn_embedded *file, const char *precision, const way *other,
                   const way *cut)
{
    const bool on_device = whole->way.device, boxes = whole->way.boxes > 1;
    const unsigned long long steps = whole->steps, stride = long_tests() ? 1 : (steps + 1) / 2;
    if (!boxes)
        resume(ctx, whole, file, precision, &whole->way, 0);
    for (unsigned long long from = 1; from <= steps && from < MOST_STEPS; from += stride) {
        const bool first = from == 1;
        if (first || (on_device && !boxes))
            resume(ctx, whole, file, precision, &whole->way, from);
        if (cut && (first || stride == 1)) /* boxes are other programs */
            resume(ctx, whole, file, precision, from % 2 ? cut : &(way){ .device = cut->device, .boxes = 7 }, from);
        if (other && on_device && (!first || stride == 1 || steps == 1))
            resume(ctx, whole, file, precision, other, from);
    }
    if (other && !on_device)
        resume(ctx, whole, file, precision, other, (steps + 1) / 2);
    free(whole->bytes);
}

void remove_kept(bn_context *ctx)
{
    for (unsigned long long step = 0; folder[0] && step < MOST_STEPS; step++) {
        char path[4200];
        folder_of(path, sizeof path, step);
        bn_checkpoint_remove(ctx, path);
    }
    (void)rmdir(folder);
}
