/* flood_gauge.c: depths and speeds at chosen places over time, and heights of all wet cells at the end, as tables. */
#include "flood_plans.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bn_status flood_plan_gauges(const bn_case *c, bn_plan *p, flood *s)
{
    s->gauges.count = bn_case_items(c, "gauge");
    s->gauges.speeds = bn_case_bool(c, "output.gauge_speeds");
    if (s->gauges.count == 0 || bn_plan_only_counts(p, (double)s->grid.nx * s->grid.ny * s->grid.storeys))
        return BN_OK;
    BN_TRY(bn_plan_allocate(p, s->gauges.count * sizeof *s->gauges.place, (void **)&s->gauges.place));
    for (size_t g = 0; g < s->gauges.count; g++) {
        const long long storey = bn_case_item_int(c, "gauge.storey", g);
        const double asked[2] = { bn_case_item_real_at(c, "gauge.at", g, 0),
                                  bn_case_item_real_at(c, "gauge.at", g, 1) };
        const double x[2] = { asked[0] - s->grid.origin[0], asked[1] - s->grid.origin[1] };
        size_t nearest;
        const double least = flood_find_nearest(s, 0, x, true, false, &nearest);
        if (storey > (long long)s->grid.storeys)
            (void)bn_case_reject_item(c, "gauge.storey", g, NULL, "gauge %zu: there are only %u storeys", g + 1,
                                      s->grid.storeys);
        else if (least > s->grid.d)
            (void)bn_case_reject_item(c, "gauge.at", g, NULL, "gauge %zu: (%g m, %g m) lies outside of storey %lld",
                                      g + 1, asked[0], asked[1], storey);
        else
            s->gauges.place[g] = (size_t)(storey - 1) * s->grid.nx * s->grid.ny + nearest;
    }
    if (s->gauges.speeds)
        BN_TRY(bn_plan_chart(p, &(bn_plan_chart_desc){ .table = "gauge_speeds",
                                                       .title = "Speed at the gauges",
                                                       .x_label = "time [s]",
                                                       .y_label = "speed [m/s]" }));
    return bn_plan_chart(
        p, &(bn_plan_chart_desc){
               .table = "gauges", .title = "Depth at the gauges", .x_label = "time [s]", .y_label = "depth [m]" });
}

size_t flood_gauge_width(const flood *s) { return 1 + s->gauges.count * (s->gauges.speeds ? 2 : 1); }

static bn_status add_row(bn_sim *sim, flood *s, double time)
{
    const size_t width = flood_gauge_width(s);
    double *rows = realloc(s->gauges.values, (s->gauges.rows + 1) * width * sizeof *rows);
    if (!rows)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the gauges");
    s->gauges.values = rows;
    double *row = rows + s->gauges.rows * width;
    row[0] = time;
    for (size_t g = 0; g < s->gauges.count; g++) {
        const size_t at = s->gauges.place[g];
        const bn_region cell = { { (uint32_t)(at % s->grid.nx), (uint32_t)(at / s->grid.nx % s->grid.ny),
                                   (uint32_t)(at / s->grid.nx / s->grid.ny) },
                                 { 1, 1, 1 } };
        double velocity[2];
        BN_TRY(bn_field_read_region(s->f.depth, 0, 1, &cell, BN_AS_DOUBLES, &row[1 + g]));
        if (!s->gauges.speeds)
            continue;
        BN_TRY(bn_field_read_region(s->f.velocity, 0, 2, &cell, BN_AS_DOUBLES, velocity));
        row[1 + s->gauges.count + g] = hypot(velocity[0], velocity[1]);
    }
    s->gauges.rows++;
    return BN_OK;
}

bn_status flood_read_gauges(bn_sim *sim, flood *s, double time)
{
    return s->gauges.count > 0 ? add_row(sim, s, time) : BN_OK;
}

/* Time, then a column for each gauge, which begin in the rows at `first`. */
static bn_status put_gauges(bn_sim *sim, const flood *s, const char *table, const char *unit, size_t first,
                            bn_results *results)
{
    const size_t count = s->gauges.count + 1, rows = s->gauges.rows;
    enum { NAME = 64 };
    bn_status st = BN_OK;
    bn_column *columns = calloc(count, sizeof *columns);
    double *values = malloc((rows > 0 ? rows : 1) * count * sizeof *values);
    char *names = calloc(count, NAME);
    if (!columns || !values || !names) {
        st = bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the gauges");
        goto out;
    }
    for (size_t k = 0; k < count; k++) {
        const char *name = k > 0 ? bn_case_item_text(bn_sim_case(sim), "gauge.name", k - 1) : "time";
        if (name[0])
            snprintf(names + k * NAME, NAME, "%s", name);
        else
            snprintf(names + k * NAME, NAME, "gauge_%zu", k);
        for (size_t r = 0; r < rows; r++)
            values[k * rows + r] = s->gauges.values[r * flood_gauge_width(s) + (k == 0 ? 0 : first + k - 1)];
        columns[k] = (bn_column){ names + k * NAME, k == 0 ? "s" : unit, values + k * rows };
    }
    st = bn_result_table(results, table, columns, count, rows);
out:
    free(columns);
    free(values);
    free(names);
    return st;
}

/* Place, storey and height in centimetres of every cell deeper than output.wet; columns of `room` rows. */
typedef struct heights {
    bn_context *ctx;
    const flood *s;
    double *values;
    size_t rows, room;
} heights;

static bool grow(heights *t)
{
    const size_t room = t->room > 0 ? 2 * t->room : 4096;
    double *values = malloc(4 * room * sizeof *values);
    for (size_t c = 0; values && c < 4 && t->rows > 0; c++)
        memcpy(values + c * room, t->values + c * t->room, t->rows * sizeof *values);
    if (!values)
        return false;
    free(t->values);
    t->values = values;
    t->room = room;
    return true;
}

static bn_status add_heights(void *user, int component, const bn_region *r, const void *values)
{
    const double *depth = values;
    heights *t = user;
    const flood *s = t->s;
    (void)component;
    for (size_t at = 0; at < bn_region_points(r); at++) {
        if (!(depth[at] > s->k.wet))
            continue;
        if (t->rows == t->room && !grow(t))
            return bn_fail(t->ctx, BN_MEMORY, "no memory for the heights");
        size_t p[3];
        double x[2], *row = t->values + t->rows++;
        bn_region_place(r, at, p);
        flood_place(s, p[0], p[1], x);
        row[0] = (double)(p[2] + 1);
        row[t->room] = s->grid.origin[0] + x[0];
        row[2 * t->room] = s->grid.origin[1] + x[1];
        row[3 * t->room] = 100 * depth[at];
    }
    return BN_OK;
}

/* heights.csv */
static bn_status put_heights(bn_context *ctx, const flood *s, bn_results *results)
{
    heights t = { .ctx = ctx, .s = s };
    bn_status st = grow(&t) ? bn_field_visit(s->f.depth, BN_AS_DOUBLES, add_heights, &t)
                            : bn_fail(ctx, BN_MEMORY, "no memory for the heights");
    const bn_column columns[] = { { "storey", "", t.values },
                                  { "x", "m", t.values + t.room },
                                  { "y", "m", t.values + 2 * t.room },
                                  { "height", "cm", t.values + 3 * t.room } };
    if (st == BN_OK)
        st = bn_result_table(results, "heights", columns, 4, t.rows);
    free(t.values);
    return st;
}

bn_status flood_put_tables(bn_sim *sim, const flood *s, bn_results *results)
{
    if (s->gauges.count > 0 && s->gauges.rows > 0)
        BN_TRY(put_gauges(sim, s, "gauges", "m", 1, results));
    if (s->gauges.count > 0 && s->gauges.rows > 0 && s->gauges.speeds)
        BN_TRY(put_gauges(sim, s, "gauge_speeds", "m s-1", 1 + s->gauges.count, results));
    return bn_case_bool(bn_sim_case(sim), "output.heights") ? put_heights(bn_sim_context(sim), s, results) : BN_OK;
}
