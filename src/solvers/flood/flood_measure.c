/* flood_measure.c: results of a run: volumes, balance of mass, extrema, errors against closed forms. */
#include "flood.h"

#include <math.h>
#include <stdlib.h>

bn_status flood_plan_results(const bn_case *c, const flood *s, bn_plan *p)
{
    BN_TRY(bn_plan_result(p, "volume", "m3", "water at the end"));
    BN_TRY(bn_plan_result(p, "mass_error", "", "water at the end less what was there, came and left; relative"));
    if (s->scheme.special) {
        BN_TRY(bn_plan_result(p, "volume_fed", "m3", "what sources gave"));
        BN_TRY(
            bn_plan_result(p, "volume_left", "m3", "what left through drains and open sides, less what entered there"));
    }
    if (s->scheme.rain)
        BN_TRY(bn_plan_result(p, "volume_rained", "m3", "what fell as rain"));
    if (s->scheme.soil)
        BN_TRY(bn_plan_result(p, "volume_soaked", "m3", "what the ground has taken"));
    BN_TRY(bn_plan_result(p, "max_depth", "m", "largest depth at the end"));
    BN_TRY(bn_plan_result(p, "min_depth", "m", "smallest depth at the end"));
    BN_TRY(bn_plan_result(p, "max_speed", "m s-1", "largest speed at the end, of cells deeper than output.wet"));
    BN_TRY(bn_plan_result(p, "wet_area", "m2", "area deeper than output.wet at the end"));
    BN_TRY(bn_plan_result(p, "time_steps", "", "time steps taken"));
    if (flood_has_solution(c, s)) {
        BN_TRY(bn_plan_result(p, "l1_depth", "m", "mean error of the depth against the closed form"));
        BN_TRY(bn_plan_result(p, "linf_depth", "m", "largest error of the depth"));
        BN_TRY(bn_plan_result(p, "l1_relative", "", "summed error over summed depth"));
    }
    return BN_OK;
}

enum { FLOOD_BAND = 1 << 20 }; /* cells that are read at a time */

/* Sums and extrema over the cells. */
typedef struct totals {
    double depth, rounded, outflow, soaked, deepest, least, fastest;
    size_t wet;
    double error, error_most, water; /* against the closed form, of the lowest storey */
    size_t compared;
} totals;

static void add_errors(const bn_case *c, const flood *s, const bn_region *r, const double *depth, double t, totals *sum)
{
    const double within = bn_case_real(c, "exact.within");
    const bool along_x = bn_case_choice(c, "initial.axis") == FLOOD_ALONG_X;
    for (size_t at = 0; r->first[2] == 0 && at < (size_t)r->n[0] * r->n[1]; at++) {
        double x[2];
        flood_exact e;
        flood_place(s, at % s->grid.nx, r->first[1] + at / s->grid.nx, x);
        const double off = along_x ? x[0] - 0.5 * s->grid.size[0] : x[1] - 0.5 * s->grid.size[1];
        if ((within > 0 && fabs(off) > within) || !flood_solution(c, s, x, t, &e))
            continue;
        const double error = fabs(depth[at] - e.h);
        sum->error += error;
        sum->water += e.h;
        sum->error_most = fmax(sum->error_most, error);
        sum->compared++;
    }
}

/* Adds the cells of a band; `room` for two values a cell. */
static bn_status add_band(bn_sim *sim, const flood *s, const bn_region *r, double *depth, double *room, totals *sum)
{
    const bn_case *c = bn_sim_case(sim);
    const size_t points = bn_region_points(r);
    const double wet = bn_case_real(c, "output.wet");
    BN_TRY(bn_field_read_region(s->f.depth, 0, 1, r, BN_AS_DOUBLES, depth));
    if (s->scheme.special) { /* the compensated sum that the steps keep for each cell */
        BN_TRY(bn_field_read_region(s->f.outflow, 0, 2, r, BN_AS_DOUBLES, room));
        for (size_t at = 0; at < points; at++)
            sum->outflow += s->grid.area * (room[at] - room[at + points]);
    }
    if (s->f.soaked) {
        BN_TRY(bn_field_read_region(s->f.soaked, 0, 1, r, BN_AS_DOUBLES, room));
        BN_TRY(bn_field_read_region(s->f.rest, 1, 1, r, BN_AS_DOUBLES, room + points));
        for (size_t at = 0; at < points; at++)
            sum->soaked += s->grid.area * (room[at] - room[at + points]);
    }
    if (s->f.rest) {
        BN_TRY(bn_field_read_region(s->f.rest, 0, 1, r, BN_AS_DOUBLES, room));
        for (size_t at = 0; at < points; at++)
            sum->rounded += room[at];
    }
    BN_TRY(bn_field_read_region(s->f.velocity, 0, 2, r, BN_AS_DOUBLES, room));
    for (size_t at = 0; at < points; at++) {
        sum->depth += depth[at];
        sum->deepest = fmax(sum->deepest, depth[at]);
        sum->least = fmin(sum->least, depth[at]);
        if (depth[at] > wet) { /* the speed of thin films is meaningless */
            sum->fastest = fmax(sum->fastest, hypot(room[at], room[at + points]));
            sum->wet++;
        }
    }
    if (flood_has_solution(c, s))
        add_errors(c, s, r, depth, bn_sim_time(sim), sum);
    return BN_OK;
}

static bn_status put_totals(const bn_case *c, const flood *s, const totals *sum, bn_results *results)
{
    const double volume = s->grid.area * (sum->depth - sum->rounded),
                 came = s->now.start_volume + s->now.fed + s->now.rained;
    double on_way = 0;
    for (int i = 0; i < s->cells.items; i++)
        on_way += s->grid.area * s->now.culverts[i];
    const double expected = came - sum->outflow - sum->soaked - on_way;
    const double scale = fmax(came, fabs(expected));
    BN_TRY(bn_result(results, "volume", volume));
    BN_TRY(bn_result(results, "mass_error", scale > 0 ? (volume - expected) / scale : 0));
    if (s->scheme.special) {
        BN_TRY(bn_result(results, "volume_fed", s->now.fed));
        BN_TRY(bn_result(results, "volume_left", sum->outflow));
    }
    if (s->scheme.rain)
        BN_TRY(bn_result(results, "volume_rained", s->now.rained));
    if (s->scheme.soil)
        BN_TRY(bn_result(results, "volume_soaked", sum->soaked));
    BN_TRY(bn_result(results, "max_depth", sum->deepest));
    BN_TRY(bn_result(results, "min_depth", sum->least));
    BN_TRY(bn_result(results, "max_speed", sum->fastest));
    BN_TRY(bn_result(results, "wet_area", s->grid.area * (double)sum->wet));
    BN_TRY(bn_result(results, "time_steps", (double)s->now.time_steps));
    if (!flood_has_solution(c, s))
        return BN_OK;
    BN_TRY(bn_result(results, "l1_depth", sum->compared > 0 ? sum->error / (double)sum->compared : (double)NAN));
    BN_TRY(bn_result(results, "linf_depth", sum->error_most));
    return bn_result(results, "l1_relative", sum->water > 0 ? sum->error / sum->water : (double)NAN);
}

bn_status flood_measure(bn_sim *sim, void *state, bn_results *results)
{
    flood *s = state;
    bn_domain *domain = bn_field_domain(s->f.depth);
    const size_t most = s->grid.nx > FLOOD_BAND ? s->grid.nx : FLOOD_BAND;
    bn_status st = BN_OK;
    totals sum = { .least = HUGE_VAL };
    double *depth = malloc(most * sizeof *depth), *room = malloc(2 * most * sizeof *room);
    if (!depth || !room) {
        st = bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to measure");
        goto out;
    }
    for (bn_region r = { .n = { 0 } }; bn_domain_next_band(domain, FLOOD_BAND, &r);)
        BN_GO(add_band(sim, s, &r, depth, room, &sum));
    BN_GO(put_totals(bn_sim_case(sim), s, &sum, results));
    BN_GO(flood_put_tables(sim, s, results));
out:
    free(depth);
    free(room);
    return st;
}
