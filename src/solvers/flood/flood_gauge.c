/* flood_gauge.c: depths and speeds at chosen places over time, and heights of all wet cells at the end, as tables. */
#include "flood.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bn_status flood_plan_gauges(const bn_case *c, bn_plan *p, flood *s)
{
    s->gauges = bn_case_items(c, "gauge");
    s->gauge_speeds = bn_case_bool(c, "output.gauge_speeds");
    if (s->gauges == 0)
        return BN_OK;
    BN_TRY(bn_plan_keep(p, s->gauges * sizeof *s->gauge, (void **)&s->gauge));
    for (size_t g = 0; g < s->gauges; g++) {
        const long long storey = bn_case_item_int(c, "gauge.storey", g);
        const double asked[2] = { bn_case_item_real_at(c, "gauge.at", g, 0),
                                  bn_case_item_real_at(c, "gauge.at", g, 1) };
        const double x[2] = { asked[0] - s->origin[0], asked[1] - s->origin[1] };
        size_t nearest = 0;
        double least = HUGE_VAL;
        for (size_t at = 0; at < (size_t)s->nx * s->ny; at++) {
            double y[2];
            flood_place(s, at % s->nx, at / s->nx, y);
            const double r = hypot(y[0] - x[0], y[1] - x[1]);
            if (r < least) {
                least = r;
                nearest = at;
            }
        }
        if (storey > (long long)s->storeys)
            (void)bn_case_reject_item(c, "gauge.storey", g, NULL, "gauge %zu: there are only %u storeys", g + 1,
                                      s->storeys);
        else if (least > s->d)
            (void)bn_case_reject_item(c, "gauge.at", g, NULL, "gauge %zu: (%g m, %g m) lies outside of storey %lld",
                                      g + 1, asked[0], asked[1], storey);
        else
            s->gauge[g] = (size_t)(storey - 1) * s->nx * s->ny + nearest;
    }
    if (s->gauge_speeds)
        BN_TRY(bn_plan_chart(p, &(bn_plan_chart_desc){ .table = "gauge_speeds",
                                                       .title = "Speed at the gauges",
                                                       .x_label = "time [s]",
                                                       .y_label = "speed [m/s]" }));
    return bn_plan_chart(
        p, &(bn_plan_chart_desc){
               .table = "gauges", .title = "Depth at the gauges", .x_label = "time [s]", .y_label = "depth [m]" });
}

size_t flood_gauge_width(const flood *s) { return 1 + s->gauges * (s->gauge_speeds ? 2 : 1); }

static bn_status add_row(bn_sim *sim, flood *s, double time)
{
    const size_t points = (size_t)s->nx * s->ny * s->storeys, width = flood_gauge_width(s);
    bn_status st = BN_OK;
    double *field = malloc((s->gauge_speeds ? 2 : 1) * points * sizeof *field);
    double *rows = field ? realloc(s->gauge_rows, (s->gauge_count + 1) * width * sizeof *rows) : NULL;
    if (!rows) {
        free(field);
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the gauges");
    }
    s->gauge_rows = rows;
    double *row = rows + s->gauge_count * width;
    BN_GO(bn_field_get(s->depth, field, points));
    row[0] = time;
    for (size_t g = 0; g < s->gauges; g++)
        row[1 + g] = field[s->gauge[g]];
    if (s->gauge_speeds)
        BN_GO(bn_field_get(s->velocity, field, 2 * points));
    for (size_t g = 0; s->gauge_speeds && g < s->gauges; g++)
        row[1 + s->gauges + g] = hypot(field[s->gauge[g]], field[s->gauge[g] + points]);
    s->gauge_count++;
out:
    free(field);
    return st;
}

bn_status flood_read_gauges(bn_sim *sim, flood *s, double time)
{
    return s->gauges > 0 ? add_row(sim, s, time) : BN_OK;
}

/* Time, then a column for each gauge, which begin in the rows at `first`. */
static bn_status put_gauges(bn_sim *sim, const flood *s, const char *table, const char *unit, size_t first,
                            bn_results *results)
{
    const size_t count = s->gauges + 1, rows = s->gauge_count;
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
            values[k * rows + r] = s->gauge_rows[r * flood_gauge_width(s) + (k == 0 ? 0 : first + k - 1)];
        columns[k] = (bn_column){ names + k * NAME, k == 0 ? "s" : unit, values + k * rows };
    }
    st = bn_result_table(results, table, columns, count, rows);
out:
    free(columns);
    free(values);
    free(names);
    return st;
}

/* heights.csv: place, storey and height in centimetres of every cell deeper than output.wet. */
static bn_status put_heights(bn_context *ctx, const flood *s, const double *depth, bn_results *results)
{
    const size_t layer = (size_t)s->nx * s->ny;
    size_t rows = 0, next = 0;
    for (size_t at = 0; at < layer * s->storeys; at++)
        rows += depth[at] > s->k.wet;
    double *values = malloc((4 * rows + 1) * sizeof *values);
    if (!values)
        return bn_fail(ctx, BN_MEMORY, "no memory for the heights");
    for (size_t at = 0; at < layer * s->storeys; at++) {
        if (!(depth[at] > s->k.wet))
            continue;
        double x[2];
        flood_place(s, at % s->nx, at / s->nx % s->ny, x);
        values[next] = (double)(at / layer + 1);
        values[rows + next] = s->origin[0] + x[0];
        values[2 * rows + next] = s->origin[1] + x[1];
        values[3 * rows + next++] = 100 * depth[at];
    }
    const bn_column columns[] = { { "storey", "", values },
                                  { "x", "m", values + rows },
                                  { "y", "m", values + 2 * rows },
                                  { "height", "cm", values + 3 * rows } };
    const bn_status st = bn_result_table(results, "heights", columns, 4, rows);
    free(values);
    return st;
}

bn_status flood_put_tables(bn_sim *sim, const flood *s, const double *depth, bn_results *results)
{
    if (s->gauges > 0 && s->gauge_count > 0)
        BN_TRY(put_gauges(sim, s, "gauges", "m", 1, results));
    if (s->gauges > 0 && s->gauge_count > 0 && s->gauge_speeds)
        BN_TRY(put_gauges(sim, s, "gauge_speeds", "m s-1", 1 + s->gauges, results));
    return bn_case_bool(bn_sim_case(sim), "output.heights") ? put_heights(bn_sim_context(sim), s, depth, results)
                                                            : BN_OK;
}
