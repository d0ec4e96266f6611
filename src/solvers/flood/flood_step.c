/* flood_step.c: intervals of simulated time, the step on a device, and what both engines report. */
#include "flood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Time steps of one interval at most; the time step has collapsed by then. */
static const double most_steps = 1e7;

static bn_status launch_advance(flood *s, unsigned slot, double refill, double end)
{
    bn_arg args[24];
    size_t count = 0;
    const bn_arg cell = BN_READ(s->cell_field, s->links || s->order > 1 || s->jagged ? 1 : 0);
    if (s->order == 2)
        BN_TRY(BN_RUN(s->predict, BN_READ(s->depth, 2), BN_READ(s->velocity, 2), BN_READ(s->bed_field, 2), cell,
                      BN_PARTIALS(s->blocks), BN_SCALARS(s->clock), BN_UPDATE(s->half_depth),
                      BN_UPDATE(s->half_velocity), BN_U32V(slot), BN_REALV(refill)));
    if (s->packed) {
        args[count++] = (bn_arg)BN_READ(s->state, 1);
    } else {
        args[count++] = (bn_arg)BN_READ(s->depth, s->order);
        args[count++] = (bn_arg)BN_READ(s->velocity, s->order);
        args[count++] = (bn_arg)BN_READ(s->bed_field, s->order);
    }
    args[count++] = cell;
    if (s->numbered)
        args[count++] = (bn_arg)BN_READ(s->near, 0);
    if (s->special) {
        args[count++] = (bn_arg)BN_ARRAY(s->table);
        args[count++] = (bn_arg)BN_UPDATE(s->gone);
    }
    if (s->record) {
        args[count++] = (bn_arg)BN_UPDATE(s->arrival);
        args[count++] = (bn_arg)BN_UPDATE(s->deepest);
        args[count++] = (bn_arg)BN_UPDATE(s->hazard);
    }
    if (s->compensated) {
        args[count++] = (bn_arg)BN_READ(s->rest, s->links ? 1 : 0);
        args[count++] = (bn_arg)BN_UPDATE(s->next_rest);
    }
    if (s->packed) {
        args[count++] = (bn_arg)BN_UPDATE(s->next_state);
    } else {
        args[count++] = (bn_arg)BN_UPDATE(s->next_depth);
        args[count++] = (bn_arg)BN_UPDATE(s->next_velocity);
    }
    args[count++] = (bn_arg)BN_PARTIALS_OF(s->blocks, (int)((slot + 1) % FLOOD_SLOTS));
    args[count++] = (bn_arg)BN_SCALARS(s->clock);
    if (s->order == 2) {
        args[count++] = (bn_arg)BN_READ(s->half_depth, 1);
        args[count++] = (bn_arg)BN_READ(s->half_velocity, 1);
    }
    args[count++] = (bn_arg)BN_U32V(slot);
    args[count++] = (bn_arg)BN_REALV(refill);
    args[count++] = (bn_arg)BN_REALV(end);
    BN_TRY(bn_launch(s->advance, args, count));
    if (s->packed) {
        bn_field_swap(s->state, s->next_state);
    } else {
        bn_field_swap(s->depth, s->next_depth);
        bn_field_swap(s->velocity, s->next_velocity);
    }
    if (s->compensated)
        bn_field_swap(s->rest, s->next_rest);
    return BN_OK;
}

/* The planes that all others read, out of what the steps go through. */
static bn_status unpack(flood *s)
{
    return s->unpack ? BN_RUN(s->unpack, BN_READ(s->state, 0), BN_UPDATE(s->depth), BN_UPDATE(s->velocity)) : BN_OK;
}

static bn_status read_clock(flood *s, unsigned slot, double out[FLOOD_SLOT])
{
    double all[FLOOD_SLOTS * FLOOD_SLOT];
    bn_scalars *water;
    /* If the interval is over, which it nearly always is, the sum of the depths is wanted too: one wait for both. */
    BN_TRY(bn_reduce_launch(s->depth, 0, BN_SUM, &water));
    BN_TRY(bn_scalars_read_all(
        (const bn_scalars_request[]){ { s->clock, all, FLOOD_SLOTS * FLOOD_SLOT }, { water, &s->water, 1 } }, 2));
    s->water_known = true;
    for (unsigned i = 0; i < FLOOD_SLOT; i++)
        out[i] = all[slot * FLOOD_SLOT + i];
    return BN_OK;
}

static double item_value(const bn_case *c, const flood *s, int i, double begin, double end)
{
    const flood_item *item = &s->item[i];
    const double area = (double)item->cells * s->area;
    if (item->kind == FLOOD_ITEM_OPENING)
        return item->rate;
    if (i < (int)bn_case_items(c, "source"))
        return flood_mean(c, FLOOD_SIDES, i + 1, begin, end, item->rate) / area;
    return item->rate / area;
}

/* What the steps of an interval read: discharges, levels and rates are the means over the interval. True: something has
 * changed since the last one. */
static bool find_values(const bn_case *c, flood *s, double begin, double end)
{
    double values[FLOOD_VALUES] = { 0 };
    for (int side = 0; side < FLOOD_SIDES; side++) {
        const bool inflow = s->border[side] == FLOOD_INFLOW, level = s->border[side] == FLOOD_LEVEL;
        const double given = flood_mean(c, side, 1, begin, end, inflow ? s->discharge[side] : s->level[side]);
        values[2 * side] = inflow ? given : level ? -1 : -2;
        values[2 * side + 1] = inflow ? cbrt(given * given / s->k.g) : given;
    }
    for (int i = 0; i < s->items; i++) {
        const double value = item_value(c, s, i, begin, end); /* as the steps see it: then what is fed is exact */
        values[FLOOD_ITEM_VALUES + i] = bn_case_double(c) ? value : (double)(float)value;
        if (s->item[i].kind == FLOOD_ITEM_SOURCE)
            s->fed += values[FLOOD_ITEM_VALUES + i] * (double)s->item[i].cells * s->area * (end - begin);
    }
    const bool changed = !s->values_known || memcmp(values, s->values, sizeof values) != 0;
    memcpy(s->values, values, sizeof values);
    s->values_known = true;
    return changed;
}

bn_status flood_interval(bn_sim *sim, flood *s, flood_advance *advance, flood_read_clock *read, bn_step *out)
{
    const double begin = bn_sim_time(sim), end = begin + s->interval;
    double clock[FLOOD_SLOT] = { 0 }, refill = s->interval, left = s->interval;
    if (s->special && find_values(bn_sim_case(sim), s, begin, end) && s->table)
        BN_TRY(bn_device_array_rewrite(s->table, s->values, FLOOD_VALUES));
    if (s->wish == 0)
        s->wish = s->k.dt_max;
    do { /* as many steps as the last time step lets expect; what is too few is made up for, the rest changes nothing */
        const double wanted = fmin(ceil(left / s->wish), most_steps);
        for (double i = 0; i < wanted; i++) {
            BN_TRY(advance(s, s->slot, refill, end));
            s->slot = (s->slot + 1) % FLOOD_SLOTS;
            refill = 0;
        }
        BN_TRY(read(s, s->slot, clock));
        left = clock[CLOCK_LEFT];
        s->wish = clock[CLOCK_WISH];
        if (!isfinite(clock[CLOCK_SPEED]) || !(s->wish > 0) || !isfinite(left) || clock[CLOCK_STEPS] > most_steps)
            return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                           "the speed of the waves is %g m/s, the time step %g s; try a smaller solver.cfl",
                           clock[CLOCK_SPEED], s->wish);
    } while (left > 0);
    BN_TRY(unpack(s));
    BN_TRY(flood_read_gauges(sim, s, end));
    double depth = s->water;
    if (!s->water_known)
        BN_TRY(bn_reduce(s->depth, 0, BN_SUM, &depth));
    s->time_steps += (unsigned long long)clock[CLOCK_STEPS];
    *out = (bn_step){ .dt = s->interval, .residual = (double)NAN };
    out->updates = clock[CLOCK_STEPS] * (double)bn_domain_points(bn_sim_domain(sim));
    out->series[0] = clock[CLOCK_STEPS];
    out->series[1] = s->wish;
    out->series[2] = clock[CLOCK_SPEED];
    out->series[3] = s->area * depth;
    return BN_OK;
}

/* What the steps read beside the fields, from what these hold now. */
static bn_status begin(flood *s)
{
    for (int i = 0; s->packed && i < 2; i++) /* the ground stands in both states */
        BN_TRY(BN_RUN(s->pack, BN_READ(s->depth, 0), BN_READ(s->velocity, 0), BN_READ(s->bed_field, 0),
                      BN_UPDATE(i ? s->next_state : s->state)));
    return BN_RUN(s->begin, BN_READ(s->depth, 0), BN_READ(s->velocity, 0), BN_READ(s->cell_field, 0),
                  BN_PARTIALS(s->blocks), BN_SCALARS(s->clock));
}

static bn_status setup(bn_sim *sim, void *state)
{
    flood *s = state;
    bn_domain *d = bn_sim_domain(sim);
    s->begin = bn_sim_kernel(sim, "flood_begin");
    s->advance = bn_sim_kernel(sim, "flood_advance");
    s->predict = s->order == 2 ? bn_sim_kernel(sim, "flood_predict") : NULL;
    BN_TRY(bn_partials_create(d, "speeds of blocks", FLOOD_SLOTS + 1, ~0u, &s->blocks));
    BN_TRY(bn_scalars_create(d, "clock", FLOOD_SLOTS * FLOOD_SLOT, &s->clock));
    bn_partials_share(s->blocks); /* a block asks those beside it whether they are wet */
    BN_TRY(bn_scalars_share(s->clock));
    if (s->special)
        BN_TRY(bn_device_array_reals(d, "values", s->values, FLOOD_VALUES, &s->table));
    if (s->packed) {
        s->pack = bn_sim_kernel(sim, "flood_pack");
        s->unpack = bn_sim_kernel(sim, "flood_unpack");
    }
    if (s->numbered)
        BN_TRY(BN_RUN(bn_sim_kernel(sim, "flood_number"), BN_UPDATE(s->near)));
    return begin(s);
}

static void teardown(void *state)
{
    flood *s = state;
    free(s->gauge_rows);
    s->gauge_rows = NULL;
    s->gauge_count = 0;
    bn_partials_destroy(&s->blocks);
    bn_scalars_destroy(&s->clock);
    bn_device_array_destroy(&s->table);
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    return flood_interval(sim, state, launch_advance, read_clock, out);
}

/* Blocks and clock as at the beginning, from what is there now. */
static bn_status resume(bn_sim *sim, void *state)
{
    (void)sim;
    flood *s = state;
    const double clock[FLOOD_SLOTS * FLOOD_SLOT] = { 0 };
    s->slot = 0;
    BN_TRY(flood_take_up(s));
    BN_TRY(bn_scalars_write(s->clock, clock, FLOOD_SLOTS * FLOOD_SLOT));
    return begin(s);
}

bn_status flood_serialize(bn_sim *sim, void *state, bn_checkpoint_state *k)
{
    flood *s = state;
    double sums[3] = { s->wish, s->start_volume, s->fed };
    unsigned long long counts[2] = { s->time_steps, s->gauge_count };
    BN_TRY(bn_state_same(k, "time.interval", s->interval));
    if (s->record)
        BN_TRY(bn_state_same(k, "output.wet", s->k.wet));
    if (s->gauges > 0)
        BN_TRY(bn_state_same(k, "output.gauge_speeds", s->gauge_speeds));
    BN_TRY(bn_state_reals(k, "sums", sums, 3));
    BN_TRY(bn_state_counts(k, "counts", counts, 2));
    s->wish = sums[0];
    s->start_volume = sums[1];
    s->fed = sums[2];
    s->time_steps = counts[0];
    s->gauge_count = (size_t)counts[1];
    const size_t values = s->gauge_count * flood_gauge_width(s);
    if (bn_state_restores(k) && values > 0) {
        double *rows = realloc(s->gauge_rows, values * sizeof *rows);
        if (!rows) {
            s->gauge_count = 0;
            return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the gauges");
        }
        s->gauge_rows = rows;
    }
    return bn_state_reals(k, "gauges", s->gauge_rows, values);
}

bn_status flood_take_up(flood *s)
{
    BN_TRY(bn_field_copy(s->depth, s->next_depth));
    BN_TRY(bn_field_copy(s->velocity, s->next_velocity));
    return s->compensated ? bn_field_copy(s->rest, s->next_rest) : BN_OK;
}

/* Whether a block is computed in the next step, by the rule of kernels/flood.cl: one that has special cells, or water
 * in or beside it, now or a step ago. */
static bool computed(const flood *s, const size_t n[3], const size_t at[3], const double *speed, const double *before,
                     const double *special)
{
    const size_t layer = at[2] * n[1] * n[0];
    bool found = s->all_blocks || special[layer + at[1] * n[0] + at[0]] != 0;
    for (long dy = -1; dy <= 1; dy++)
        for (long dx = -1; !found && dx <= 1; dx++) {
            long x = (long)at[0] + dx, y = (long)at[1] + dy;
            if (s->periodic[0])
                x = (x + (long)n[0]) % (long)n[0];
            if (s->periodic[1])
                y = (y + (long)n[1]) % (long)n[1];
            if (x < 0 || y < 0 || x >= (long)n[0] || y >= (long)n[1])
                continue;
            const size_t beside = layer + (size_t)y * n[0] + (size_t)x;
            found = speed[beside] != 0 || before[beside] != 0;
        }
    return found;
}

static bn_status work(bn_sim *sim, void *state, double *work)
{
    flood *s = state;
    size_t n[3], at[3];
    bn_domain_blocks(bn_sim_domain(sim), n);
    const size_t count = n[0] * n[1] * n[2];
    double *sums = malloc(3 * count * sizeof *sums);
    if (!sums)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the speeds of %zu blocks", count);
    bn_status st = bn_partials_read(s->blocks, (int)s->slot, sums, count);
    if (st == BN_OK)
        st = bn_partials_read(s->blocks, (int)((s->slot + FLOOD_SLOTS - 1) % FLOOD_SLOTS), sums + count, count);
    if (st == BN_OK)
        st = bn_partials_read(s->blocks, FLOOD_SLOTS, sums + 2 * count, count);
    for (at[2] = 0; st == BN_OK && at[2] < n[2]; at[2]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[0] = 0; at[0] < n[0]; at[0]++)
                *work++ = computed(s, n, at, sums, sums + count, sums + 2 * count) ? 1 : s->left_out;
    free(sums);
    return st;
}

const bn_engine flood_device = {
    .name = "opencl", .setup = setup, .step = step, .teardown = teardown, .resume = resume, .work = work
};
