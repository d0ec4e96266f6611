/* flood_step.c: intervals of simulated time, the step on a device, and what both engines report. */
#include "flood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An interval of more time steps than this has failed: the time step has collapsed. */
static const double most_steps = 1e7;

static bn_status launch_advance(flood *s, unsigned slot, double refill, double end)
{
    const flood_fields *f = &s->f;
    const flood_device *d = &s->device;
    const int order = s->scheme.order, links = s->scheme.links ? 1 : 0;
    const int beside = links || order > 1 || s->scheme.jagged ? 1 : 0;
    if (order == 2)
        BN_TRY(BN_RUN(d->predict, BN_READ(f->depth, 2), BN_READ(f->velocity, 2), BN_READ(f->bed, 2),
                      BN_READ(f->cell, beside), BN_ARRAY_OR_NULL(d->values), BN_READ_OR_NULL(f->land, 0),
                      BN_PARTIALS(d->blocks), BN_SCALARS(d->clock), BN_UPDATE(f->half_depth),
                      BN_UPDATE(f->half_velocity), BN_U32V(slot), BN_REALV(refill)));
    /* What needs no time step, while devices agree on it. */
    if (s->scheme.ahead > 0)
        BN_TRY(BN_RUN(d->rates, BN_READ(f->depth, 0), BN_READ(f->velocity, 0), BN_READ(f->bed, 0), BN_READ(f->cell, 0),
                      BN_UPDATE(f->rates), BN_ONLY_INNER_ROWS(s->scheme.ahead), BN_PARTIALS_AHEAD(d->blocks),
                      BN_SCALARS_AHEAD(d->clock)));
    bn_arg args[] = {
        BN_READ(f->depth, order),
        BN_READ(f->velocity, order),
        BN_READ(f->bed, order),
        BN_READ(f->cell, beside),
        BN_READ_OR_NULL(f->rest, links),
        BN_READ_OR_NULL(f->half_depth, order - 1),
        BN_READ_OR_NULL(f->half_velocity, order - 1),
        BN_ARRAY_OR_NULL(d->values),
        BN_READ_OR_NULL(f->rain_share, 0),
        BN_READ_OR_NULL(f->land, 0),
        BN_READ_OR_NULL(f->soaked, 0),
        BN_UPDATE(f->next_depth),
        BN_UPDATE(f->next_velocity),
        BN_UPDATE_OR_NULL(f->next_rest),
        BN_UPDATE_OR_NULL(f->next_soaked),
        BN_UPDATE_OR_NULL(f->outflow),
        BN_UPDATE_OR_NULL(f->arrival),
        BN_UPDATE_OR_NULL(f->deepest),
        BN_UPDATE_OR_NULL(f->hazard),
        BN_PARTIALS_OF(d->blocks, (int)((slot + 1) % FLOOD_SLOTS)),
        BN_SCALARS(d->clock),
        BN_U32V(slot),
        BN_REALV(refill),
        BN_REALV(end),
        BN_READ_OR_NULL(f->rates, 0),
        BN_INNER_ROWS(s->scheme.ahead),
    };
    const size_t count = sizeof args / sizeof *args, without_rates = count - 2;
    BN_TRY(bn_launch(d->advance, args, s->scheme.ahead > 0 ? count : without_rates));
    bn_field_swap(f->depth, f->next_depth);
    bn_field_swap(f->velocity, f->next_velocity);
    if (f->rest)
        bn_field_swap(f->rest, f->next_rest);
    if (f->soaked)
        bn_field_swap(f->soaked, f->next_soaked);
    return BN_OK;
}

/* Entries of the clock on a device: its slots, and of each slot two for each end of a culvert. */
enum { MOST_ENTRIES = FLOOD_CLOCK_ENDS + 2 * FLOOD_SLOTS * FLOOD_ITEMS };
static size_t ends(const flood *s) { return s->cells.culverts ? (size_t)s->cells.items : 0; }
static size_t clock_entries(const flood *s) { return FLOOD_CLOCK_ENDS + 2 * FLOOD_SLOTS * ends(s); }

static bn_status read_clock(flood *s, unsigned slot, double out[FLOOD_SLOT])
{
    double all[MOST_ENTRIES] = { 0 };
    const bool looked_at = !isnan(s->now.above);
    bn_scalars_request wanted[3] = { { s->device.clock, all, clock_entries(s) },
                                     { .values = &s->now.water, .count = 1 },
                                     { .values = &s->now.wet, .count = 1 } };
    /* The interval is nearly always over, and then its sums are needed: one wait for all. */
    BN_TRY(bn_reduce_launch(s->f.depth, 0, BN_SUM, 0, &wanted[1].scalars));
    if (looked_at)
        BN_TRY(bn_reduce_launch(s->f.depth, 0, BN_COUNT_ABOVE, s->now.above, &wanted[2].scalars));
    BN_TRY(bn_scalars_read_all(wanted, looked_at ? 3 : 2));
    s->now.sums_known = true;
    for (unsigned i = 0; i < FLOOD_SLOT; i++)
        out[i] = all[slot * FLOOD_SLOT + i];
    for (size_t i = 0; i < ends(s); i++)
        s->now.culverts[i] = all[FLOOD_CLOCK_ENDS + 2 * (slot * ends(s) + i) + 1];
    return BN_OK;
}

static double item_value(const bn_case *c, const flood *s, int i, double begin, double end)
{
    const flood_item *item = &s->cells.item[i];
    const double area = (double)item->cells * s->grid.area;
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
        const bool inflow = s->side[side].kind == FLOOD_INFLOW, level = s->side[side].kind == FLOOD_LEVEL;
        const double given = flood_mean(c, side, 1, begin, end, inflow ? s->side[side].discharge : s->side[side].level);
        const bool normal = s->side[side].kind == FLOOD_NORMAL;
        values[2 * side] = inflow ? given : level ? -1 : normal ? -3 : -2;
        values[2 * side + 1] = inflow ? cbrt(given * given / s->k.g) : normal ? s->side[side].slope : given;
    }
    for (int i = 0; i < s->cells.items; i++) {
        const double value = item_value(c, s, i, begin,
                                        end); /* rounded as the steps see it, so that the volume fed is exact */
        values[FLOOD_ITEM_VALUES + i] = bn_case_double(c) ? value : (double)(float)value;
        memcpy(values + FLOOD_MORE_VALUES + i * FLOOD_MORE_VALUE, s->cells.item[i].more, sizeof s->cells.item[i].more);
        if (s->cells.item[i].kind == FLOOD_ITEM_SOURCE)
            s->now.fed += values[FLOOD_ITEM_VALUES + i] * (double)s->cells.item[i].cells * s->grid.area * (end - begin);
    }
    flood_surface_values(c, s, begin, end, values);
    s->now.rained += values[FLOOD_RAIN_RATE] * s->surface.rained_on * (end - begin);
    const bool changed = !s->now.values_known || memcmp(values, s->now.values, sizeof values) != 0;
    memcpy(s->now.values, values, sizeof values);
    s->now.values_known = true;
    return changed;
}

bn_status flood_interval(bn_sim *sim, flood *s, flood_advance *advance, flood_read_clock *read, bn_step *out)
{
    const double begin = bn_sim_time(sim), end = begin + s->scheme.interval;
    double clock[FLOOD_SLOT] = { 0 }, refill = s->scheme.interval, left = refill;
    s->now.above = bn_sim_is_quiet(sim) ? (double)NAN : bn_case_real(bn_sim_case(sim), "output.wet");
    s->now.wet = (double)NAN;
    if (s->scheme.values && find_values(bn_sim_case(sim), s, begin, end) && s->device.values)
        BN_TRY(bn_device_array_rewrite(s->device.values, s->now.values, FLOOD_VALUES));
    if (s->now.dt_allowed == 0)
        s->now.dt_allowed = s->k.dt_max;
    do { /* launches as many steps as the last time step suggests; steps after the end of the interval change nothing */
        const double wanted = fmin(ceil(left / s->now.dt_allowed), most_steps);
        for (double i = 0; i < wanted; i++) {
            BN_TRY(advance(s, s->now.slot, refill, end));
            s->now.slot = (s->now.slot + 1) % FLOOD_SLOTS;
            refill = 0;
        }
        BN_TRY(read(s, s->now.slot, clock));
        left = clock[FLOOD_CLOCK_LEFT];
        s->now.dt_allowed = clock[FLOOD_CLOCK_ALLOWED];
        if (!isfinite(clock[FLOOD_CLOCK_SPEED]) || !(s->now.dt_allowed > 0) || !isfinite(left) ||
            clock[FLOOD_CLOCK_STEPS] > most_steps)
            return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                           "the speed of the waves is %g m/s, the time step %g s; try a smaller solver.cfl",
                           clock[FLOOD_CLOCK_SPEED], s->now.dt_allowed);
    } while (left > 0);
    BN_TRY(flood_read_gauges(sim, s, end));
    if (!s->now.sums_known) {
        BN_TRY(bn_reduce(s->f.depth, 0, BN_SUM, &s->now.water));
        if (!isnan(s->now.above))
            BN_TRY(bn_reduce_above(s->f.depth, 0, s->now.above, &s->now.wet));
    }
    s->now.time_steps += (unsigned long long)clock[FLOOD_CLOCK_STEPS];
    *out = (bn_step){ .dt = s->scheme.interval, .residual = (double)NAN };
    out->updates = clock[FLOOD_CLOCK_STEPS] * (double)bn_domain_points(bn_sim_domain(sim));
    out->series[0] = clock[FLOOD_CLOCK_STEPS];
    out->series[1] = s->now.dt_allowed;
    out->series[2] = clock[FLOOD_CLOCK_SPEED];
    out->series[3] = s->grid.area * s->now.water;
    out->series[4] = s->grid.area * s->now.wet;
    return BN_OK;
}

/* Speeds of blocks and clock, from the fields as they are. */
static bn_status begin(flood *s)
{
    return BN_RUN(s->device.begin, BN_READ(s->f.depth, 0), BN_READ(s->f.velocity, 0), BN_READ(s->f.cell, 0),
                  BN_PARTIALS(s->device.blocks), BN_SCALARS(s->device.clock));
}

static bn_status setup(bn_sim *sim, void *state)
{
    flood *s = state;
    bn_domain *d = bn_sim_domain(sim);
    s->device.begin = bn_sim_kernel(sim, "flood_begin");
    s->device.rates = s->scheme.ahead > 0 ? bn_sim_kernel(sim, "flood_rates") : NULL;
    s->device.advance = bn_sim_kernel(sim, "flood_advance");
    /* Where a work-item needs few registers, more and smaller groups wait less for each other. */
    if (s->scheme.order == 1 || s->grid.edges == 4)
        bn_kernel_items(s->device.advance, 128);
    if (s->device.rates)
        bn_kernel_items(s->device.rates, 128);
    s->device.predict = s->scheme.order == 2 ? bn_sim_kernel(sim, "flood_predict") : NULL;
    bn_kernel_patch(s->device.advance, BN_BLOCK_NX, BN_BLOCK_NY * s->scheme.group_blocks);
    if (s->device.predict)
        bn_kernel_patch(s->device.predict, BN_BLOCK_NX, BN_BLOCK_NY * s->scheme.group_blocks);
    BN_TRY(bn_partials_create(d, "speeds of blocks", FLOOD_SLOTS + 1, ~0u, &s->device.blocks));
    BN_TRY(bn_scalars_create(d, "clock", clock_entries(s), &s->device.clock));
    bn_partials_share(s->device.blocks); /* a block asks those beside it whether they are wet */
    BN_TRY(bn_scalars_share(s->device.clock));
    BN_TRY(bn_reduce_prepare(d, BN_SUM));
    BN_TRY(bn_reduce_prepare(d, BN_COUNT_ABOVE));
    if (s->scheme.values)
        BN_TRY(bn_device_array_reals(d, "values", s->now.values, FLOOD_VALUES, &s->device.values));
    return begin(s);
}

static void teardown(void *state)
{
    flood *s = state;
    free(s->gauges.values);
    s->gauges.values = NULL;
    s->gauges.rows = 0;
    bn_partials_destroy(&s->device.blocks);
    bn_scalars_destroy(&s->device.clock);
    bn_device_array_destroy(&s->device.values);
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    return flood_interval(sim, state, launch_advance, read_clock, out);
}

/* After a checkpoint: speeds of blocks and clock from the fields as they are. */
static bn_status resume(bn_sim *sim, void *state)
{
    (void)sim;
    flood *s = state;
    double clock[MOST_ENTRIES] = { 0 };
    s->now.slot = 0;
    BN_TRY(flood_copy_state(s));
    for (size_t i = 0; i < ends(s); i++)
        clock[FLOOD_CLOCK_ENDS + 2 * i + 1] = s->now.culverts[i];
    BN_TRY(bn_scalars_write(s->device.clock, clock, clock_entries(s)));
    return begin(s);
}

bn_status flood_serialize(bn_sim *sim, void *state, bn_checkpoint_state *k)
{
    flood *s = state;
    double sums[4] = { s->now.dt_allowed, s->now.start_volume, s->now.fed, s->now.rained };
    unsigned long long counts[2] = { s->now.time_steps, s->gauges.rows };
    BN_TRY(bn_state_same(k, "time.interval", s->scheme.interval));
    if (s->scheme.record)
        BN_TRY(bn_state_same(k, "output.wet", s->k.wet));
    if (s->gauges.count > 0)
        BN_TRY(bn_state_same(k, "output.gauge_speeds", s->gauges.speeds));
    BN_TRY(bn_state_reals(k, "sums", sums, 4));
    BN_TRY(bn_state_counts(k, "counts", counts, 2));
    if (s->cells.culverts)
        BN_TRY(bn_state_reals(k, "culverts", s->now.culverts, (size_t)s->cells.items));
    s->now.dt_allowed = sums[0];
    s->now.start_volume = sums[1];
    s->now.fed = sums[2];
    s->now.rained = sums[3];
    s->now.time_steps = counts[0];
    s->gauges.rows = (size_t)counts[1];
    const size_t values = s->gauges.rows * flood_gauge_width(s);
    if (bn_state_restores(k) && values > 0) {
        double *rows = realloc(s->gauges.values, values * sizeof *rows);
        if (!rows) {
            s->gauges.rows = 0;
            return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the gauges");
        }
        s->gauges.values = rows;
    }
    return bn_state_reals(k, "gauges", s->gauges.values, values);
}

bn_status flood_copy_state(flood *s)
{
    BN_TRY(bn_field_copy(s->f.depth, s->f.next_depth));
    BN_TRY(bn_field_copy(s->f.velocity, s->f.next_velocity));
    if (s->f.soaked)
        BN_TRY(bn_field_copy(s->f.soaked, s->f.next_soaked));
    return s->f.rest ? bn_field_copy(s->f.rest, s->f.next_rest) : BN_OK;
}

/* Whether a block is computed in the next step, by the rule of kernels/flood.cl: one that has special cells, or water
 * in or beside it, now or a step ago. */
static bool computed(const flood *s, const size_t n[3], const size_t at[3], const double *speed, const double *before,
                     const double *special)
{
    const size_t layer = at[2] * n[1] * n[0];
    bool found = special[layer + at[1] * n[0] + at[0]] != 0;
    for (long dy = -1; dy <= 1; dy++)
        for (long dx = -1; !found && dx <= 1; dx++) {
            long x = (long)at[0] + dx, y = (long)at[1] + dy;
            if (s->grid.periodic[0])
                x = (x + (long)n[0]) % (long)n[0];
            if (s->grid.periodic[1])
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
    bn_status st = bn_partials_read(s->device.blocks, (int)s->now.slot, sums, count);
    if (st == BN_OK)
        st = bn_partials_read(s->device.blocks, (int)((s->now.slot + FLOOD_SLOTS - 1) % FLOOD_SLOTS), sums + count,
                              count);
    if (st == BN_OK)
        st = bn_partials_read(s->device.blocks, FLOOD_SLOTS, sums + 2 * count, count);
    for (at[2] = 0; st == BN_OK && at[2] < n[2]; at[2]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[0] = 0; at[0] < n[0]; at[0]++)
                *work++ = s->now.values[FLOOD_RAIN_LATELY] != 0 ||
                                  computed(s, n, at, sums, sums + count, sums + 2 * count)
                              ? 1
                              : s->scheme.skipped_cost;
    free(sums);
    return st;
}

const bn_engine flood_device_engine = {
    .name = "opencl", .setup = setup, .step = step, .teardown = teardown, .resume = resume, .work = work
};
