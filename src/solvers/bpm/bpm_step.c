/* bpm_step.c: a step of the simulation is many steps along z; the same frame for both engines, and the device's part.
 */
#include "bpm.h"

#include <math.h>

long long bpm_sweeps_for(const bpm *s, double residual, double goal)
{
    if (!(residual > goal))
        return 1;
    const double count = s->rate > 0 ? ceil(log(goal / residual) / log(s->rate)) : 1;
    return count < 1 ? 1 : count < 1e15 ? (long long)count : (long long)1e15;
}

static bn_status cannot_converge(bn_sim *sim, const bpm *s, long long sweeps, double residual, double goal)
{
    return bn_fail(
        bn_sim_context(sim), BN_DIVERGED,
        "the iteration is at a residual of %.3g after %lld sweeps, %.3g was asked for; by theory a sweep leaves "
        "%.4f of the error: take a larger solver.tolerance, a smaller march.dz (now %g m), or "
        "solver.method = \"direct\"",
        residual, sweeps, goal, s->rate, s->dz);
}

/* One step along z. A is normal, so every sweep leaves at most the share `rate` of the residual: the number of sweeps
 * is known beforehand, and the residual is looked at when they are done. What is left then is rounding. */
static bn_status iterate(bn_sim *sim, bpm *s, const bpm_marcher *marcher)
{
    BN_TRY(marcher->source(sim, s));
    const double size = sqrt(s->totals[0]), goal = s->tolerance * size;
    double residual = sqrt(s->totals[1]);
    long long done = 0;
    while (!(residual <= goal)) {
        const long long count = bpm_sweeps_for(s, residual, goal);
        const double before = residual;
        if (!isfinite(residual) || done + count > s->most_sweeps)
            return cannot_converge(sim, s, done, residual / size, s->tolerance);
        BN_TRY(marcher->sweeps(sim, s, count));
        done += count;
        residual = sqrt(s->totals[1]);
        if (residual > goal && !(residual < 0.99 * before) && done > count)
            return cannot_converge(sim, s, done, residual / size, s->tolerance);
    }
    s->sweeps += (double)done;
    return marcher->add(sim, s);
}

/* The next section's matrix. With TM it is scaled differently, and the field with it. */
static bn_status enter_section(bn_sim *sim, bpm *s, const bpm_marcher *marcher)
{
    const bool scaled = s->tm && s->done > 0;
    if (scaled)
        BN_TRY(bpm_fetch(s));
    bpm_make_section(s, s->done);
    if (scaled)
        BN_TRY(bpm_put(s));
    return marcher->section(sim, s);
}

bn_status bpm_advance(bn_sim *sim, bpm *s, const bpm_marcher *marcher, bn_step *out)
{
    const size_t before = s->done;
    size_t end = s->done + s->per_record;
    end = end < s->steps ? end : s->steps;
    while (s->done < end) {
        if (s->done >= s->section_end)
            BN_TRY(enter_section(sim, s, marcher));
        const size_t stop = end < s->section_end ? end : s->section_end;
        if (s->method == BPM_DIRECT)
            BN_TRY(marcher->march(sim, s, stop - s->done));
        for (size_t k = s->done; s->method == BPM_ITERATION && k < stop; k++)
            BN_TRY(iterate(sim, s, marcher));
        s->done = stop;
    }
    BN_TRY(bpm_keep_record(sim, s));
    const bpm_state *now = &s->record[s->records - 1];
    if (!isfinite(now->power) || now->power > 1e6)
        return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                       "the field grows without bound; try a smaller march.dz (now %g m)", s->dz);
    *out = (bn_step){ .dt = (double)(s->done - before) * s->dz,
                      .residual = (double)NAN,
                      .complete = s->done >= s->steps };
    out->series[0] = now->z;
    out->series[1] = now->power;
    out->series[2] = now->start;
    out->series[3] = now->mirror;
    out->series[4] = now->mode;
    out->series[5] = now->centre;
    out->series[6] = now->width;
    out->series[7] = s->method == BPM_ITERATION ? s->sweeps / (double)s->done : 0;
    return BN_OK;
}

static bn_status section(bn_sim *sim, bpm *s)
{
    const size_t points = (size_t)s->n * s->beams;
    if (s->method == BPM_DIRECT) {
        BN_TRY(bn_field_set(s->r_field, s->r, 2 * points));
    } else {
        bn_table_destroy(&s->numbers);
        BN_TRY(bn_table_reals(bn_sim_domain(sim), "numbers", s->iteration, 8 * s->beams, &s->numbers));
    }
    return bn_field_set(s->v_field, s->v, (s->lossy ? 2 : 1) * points);
}

static bn_status setup(bn_sim *sim, void *state)
{
    bpm *s = state;
    bn_domain *d = bn_sim_domain(sim);
    if (s->method == BPM_DIRECT) {
        s->march = bn_sim_kernel(sim, "bpm_march");
        return bn_table_reals(d, "factors", s->factor, 2 * s->beams, &s->factors);
    }
    s->source = bn_sim_kernel(sim, "bpm_source");
    s->sweep = bn_sim_kernel(sim, "bpm_sweep");
    s->residual = bn_sim_kernel(sim, "bpm_residual");
    s->total = bn_sim_kernel(sim, "bpm_total");
    s->add = bn_sim_kernel(sim, "bpm_add");
    BN_TRY(bn_partials_create(d, "sums of squares", 2, 0, &s->partials));
    return bn_scalars_create(d, "totals", 2, &s->scalars);
}

static void teardown(void *state)
{
    bpm *s = state;
    bn_table_destroy(&s->factors);
    bn_table_destroy(&s->numbers);
    bn_partials_destroy(&s->partials);
    bn_scalars_destroy(&s->scalars);
}

static bn_status march(bn_sim *sim, bpm *s, size_t steps)
{
    (void)sim;
    return BN_RUN(s->march, BN_UPDATE(s->psi), BN_READ(s->r_field, 0), BN_READ(s->v_field, 0), BN_UPDATE(s->work),
                  BN_TABLE(s->factors), BN_I32V(s->reach), BN_I32V((int32_t)steps));
}

static bn_status source(bn_sim *sim, bpm *s)
{
    (void)sim;
    BN_TRY(BN_RUN(s->source, BN_READ(s->psi, 1), BN_READ(s->v_field, 0), BN_TABLE(s->numbers), BN_WRITE(s->work),
                  BN_WRITE(s->u), BN_PARTIALS(s->partials)));
    BN_TRY(BN_RUN(s->total, BN_TOTALS(s->partials), BN_SCALARS(s->scalars)));
    return bn_scalars_read(s->scalars, s->totals, 2);
}

static bn_status sweeps(bn_sim *sim, bpm *s, long long count)
{
    (void)sim;
    for (long long k = 0; k < count; k++) {
        BN_TRY(BN_RUN(s->sweep, BN_READ(s->u, 1), BN_READ(s->v_field, 0), BN_TABLE(s->numbers), BN_READ(s->work, 0),
                      BN_WRITE(s->next)));
        bn_field_swap(s->u, s->next);
    }
    BN_TRY(BN_RUN(s->residual, BN_READ(s->u, 1), BN_READ(s->v_field, 0), BN_TABLE(s->numbers), BN_READ(s->work, 0),
                  BN_PARTIALS(s->partials)));
    BN_TRY(BN_RUN(s->total, BN_TOTALS(s->partials), BN_SCALARS(s->scalars)));
    return bn_scalars_read(s->scalars, s->totals, 2);
}

static bn_status add(bn_sim *sim, bpm *s)
{
    (void)sim;
    return BN_RUN(s->add, BN_READ(s->u, 0), BN_UPDATE(s->psi));
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    static const bpm_marcher marcher = { section, march, source, sweeps, add };
    return bpm_advance(sim, state, &marcher, out);
}

const bn_engine bpm_device = { .name = "opencl", .setup = setup, .step = step, .teardown = teardown };
