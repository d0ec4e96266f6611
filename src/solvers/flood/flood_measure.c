/* flood_measure.c: what a run of flood found: where the water is, whether any was lost, errors against closed forms. */
#include "flood.h"

#include <math.h>
#include <stdlib.h>

bn_status flood_plan_results(const bn_case *c, const flood *s, bn_plan *p)
{
    BN_TRY(bn_plan_result(p, "volume", "m3", "water at the end"));
    BN_TRY(bn_plan_result(p, "mass_error", "", "water at the end less what was there, came and left; relative"));
    if (s->special) {
        BN_TRY(bn_plan_result(p, "volume_fed", "m3", "what sources gave"));
        BN_TRY(
            bn_plan_result(p, "volume_left", "m3", "what left through drains and open sides, less what entered there"));
    }
    BN_TRY(bn_plan_result(p, "max_depth", "m", "largest depth at the end"));
    BN_TRY(bn_plan_result(p, "min_depth", "m", "smallest depth at the end"));
    BN_TRY(bn_plan_result(p, "max_speed", "m s-1", "largest speed at the end"));
    BN_TRY(bn_plan_result(p, "wet_area", "m2", "area deeper than output.wet at the end"));
    BN_TRY(bn_plan_result(p, "time_steps", "", "time steps taken"));
    if (flood_has_solution(c, s)) {
        BN_TRY(bn_plan_result(p, "l1_depth", "m", "mean error of the depth against the closed form"));
        BN_TRY(bn_plan_result(p, "linf_depth", "m", "largest error of the depth"));
        BN_TRY(bn_plan_result(p, "l1_relative", "", "summed error over summed depth"));
    }
    return BN_OK;
}

/* The compensated sum that the steps keep for each cell. */
static bn_status volume_left(const flood *s, size_t points, double *volume)
{
    double *gone = malloc(2 * points * sizeof *gone);
    if (!gone)
        return bn_fail(bn_domain_context(bn_field_domain(s->gone)), BN_MEMORY, "no memory to measure");
    bn_status st = bn_field_get(s->gone, gone, 2 * points);
    *volume = 0;
    for (size_t at = 0; st == BN_OK && at < points; at++)
        *volume += s->area * (gone[at] - gone[at + points]);
    free(gone);
    return st;
}

static bn_status measure_errors(const bn_case *c, const flood *s, const double *depth, double t, bn_results *results)
{
    const double within = bn_case_real(c, "exact.within");
    const bool along_x = bn_case_choice(c, "initial.axis") == 0;
    double sum = 0, most = 0, water = 0;
    size_t cells = 0;
    for (size_t at = 0; at < (size_t)s->nx * s->ny; at++) {
        double x[2];
        flood_exact e;
        flood_place(s, at % s->nx, at / s->nx, x);
        const double off = along_x ? x[0] - 0.5 * s->size[0] : x[1] - 0.5 * s->size[1];
        if ((within > 0 && fabs(off) > within) || !flood_solution(c, s, x, t, &e))
            continue;
        const double error = fabs(depth[at] - e.h);
        sum += error;
        water += e.h;
        most = fmax(most, error);
        cells++;
    }
    BN_TRY(bn_result(results, "l1_depth", cells > 0 ? sum / (double)cells : (double)NAN));
    BN_TRY(bn_result(results, "linf_depth", most));
    return bn_result(results, "l1_relative", water > 0 ? sum / water : (double)NAN);
}

bn_status flood_measure(bn_sim *sim, void *state, bn_results *results)
{
    flood *s = state;
    const bn_case *c = bn_sim_case(sim);
    const size_t points = (size_t)s->nx * s->ny * s->storeys;
    const double wet = bn_case_real(c, "output.wet");
    bn_status st = BN_OK;
    double *depth = malloc(points * sizeof *depth), *velocity = malloc(2 * points * sizeof *velocity), left = 0;
    if (!depth || !velocity) {
        st = bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to measure");
        goto out;
    }
    BN_GO(bn_field_get(s->depth, depth, points));
    if (s->special)
        BN_GO(volume_left(s, points, &left));
    double rounded = 0;
    if (s->compensated) {
        BN_GO(bn_field_get(s->rest, velocity, points));
        for (size_t at = 0; at < points; at++)
            rounded += velocity[at];
    }
    BN_GO(bn_field_get(s->velocity, velocity, 2 * points));
    double sum = 0, deepest = 0, least = HUGE_VAL, fastest = 0;
    size_t cells = 0;
    for (size_t at = 0; at < points; at++) {
        sum += depth[at];
        deepest = fmax(deepest, depth[at]);
        least = fmin(least, depth[at]);
        fastest = fmax(fastest, hypot(velocity[at], velocity[at + points]));
        cells += depth[at] > wet;
    }
    const double volume = s->area * (sum - rounded), expected = s->start_volume + s->fed - left;
    const double scale = fmax(s->start_volume + s->fed, fabs(expected));
    BN_GO(bn_result(results, "volume", volume));
    BN_GO(bn_result(results, "mass_error", scale > 0 ? (volume - expected) / scale : 0));
    if (s->special) {
        BN_GO(bn_result(results, "volume_fed", s->fed));
        BN_GO(bn_result(results, "volume_left", left));
    }
    BN_GO(bn_result(results, "max_depth", deepest));
    BN_GO(bn_result(results, "min_depth", least));
    BN_GO(bn_result(results, "max_speed", fastest));
    BN_GO(bn_result(results, "wet_area", s->area * (double)cells));
    BN_GO(bn_result(results, "time_steps", (double)s->time_steps));
    if (flood_has_solution(c, s))
        BN_GO(measure_errors(c, s, depth, bn_sim_time(sim), results));
    BN_GO(flood_put_tables(sim, s, depth, results));
out:
    free(depth);
    free(velocity);
    return st;
}
