/* bpm_gradient.c: how a number F that follows from the field at the end changes with the index map: the adjoint of the
 * Crank-Nicolson steps of beams in a plane (docs/bpm.md).
 *
 * In memory a step is psi' = psi - f u, (d2 + D) u = (d2 + v - 2) psi with D = v - 2 + q0 T and T = scale^2 / w. Both
 * matrices are symmetric, and (d2 + D)^-1 (d2 + v - 2) = 1 - q0 (d2 + D)^-1 T; so the transposed step takes lambda =
 * T mu back, where mu takes the very step of psi: mu = mu' - f u(mu'). By the change of v
 *     dF = Re sum over steps of  (T mu)' . d(psi') = Re sum of  -(p - q) / n_ref^2  T  m(mu)  m(psi)  d(n^2),
 *     m(psi) = psi - (psi - psi') / f,   m(mu) = mu' - (mu' - mu) / f,
 * means of the fields before and after the step (for theta = 1/2, paraxial: f = 2). */
#include "bpm.h"

#include <stdlib.h>
#include <string.h>

/* Fields that are kept at a time: where those of all steps are more, fields are kept at distances, and computed again
 * from there. */
enum { KEPT_BYTES = 1 << 28 };

bool bpm_map(const void *state, unsigned n[3])
{
    const bpm_profile *p = &((const bpm *)state)->profile;
    n[0] = p->picture_width;
    n[1] = p->picture_height;
    n[2] = 1;
    return p->map;
}

typedef struct adjoint {
    bn_sim *sim;
    bpm *s;
    size_t points, every;    /* numbers of a field; steps between fields that are kept */
    double *coarse, *fine;   /* psi at every `every`th step, and after each step from one of them to the next */
    double *after, *before;  /* mu at the end and at the begin of a step */
    double _Complex *slopes; /* with respect to n^2 at the nodes */
    double *line;
} adjoint;

/* One step along z, step number k. */
static bn_status take_step(const adjoint *m, size_t k)
{
    bpm *s = m->s;
    const bool same = k + 1 == s->section_begin && k + 1 < s->section_end && bpm_constant_steps(s, k) > 1;
    if (!same && (k < s->section_begin || k >= s->section_end)) {
        s->section_begin = k;
        BN_TRY(s->method->section(m->sim, s, false));
    }
    s->section_begin = k < s->section_begin ? k : s->section_begin; /* backwards */
    return s->method->propagate(s, &(bpm_steps){ k, 1, true });
}

static bn_status interrupted(const adjoint *m)
{
    return bn_sim_asked_to_end(m->sim) ? bn_fail(bn_sim_context(m->sim), BN_INTERRUPTED, "interrupted") : BN_OK;
}

/* Steps `first` up to before `end`, the fields before and after each of them in `fine`, or of some in `coarse`. */
static bn_status forward(const adjoint *m, size_t first, size_t end, bool all)
{
    for (size_t k = first; k <= end; k++) {
        if (all)
            BN_TRY(bn_field_get(m->s->psi, m->fine + (k - first) * m->points, m->points));
        else if (k % m->every == 0)
            BN_TRY(bn_field_get(m->s->psi, m->coarse + k / m->every * m->points, m->points));
        if (k < end)
            BN_TRY(take_step(m, k));
        BN_TRY(interrupted(m));
    }
    return BN_OK;
}

/* The slopes of F with respect to n^2 in one step, spread over the map. */
static void add_step(const adjoint *m, size_t k, const double *psi, const double *next, double *gradient)
{
    const bpm *s = m->s;
    const size_t n = s->c.n;
    const double z = ((double)k + 0.5) * s->c.dz, unit = s->c.reference * s->c.reference;
    for (size_t beam = 0; beam < s->c.beams; beam++) {
        const double _Complex f = CMPLX(s->factor[2 * beam], s->factor[2 * beam + 1]);
        double _Complex p, q;
        bpm_step_weights(s, beam, &p, &q);
        for (size_t i = 0; i < n; i++) {
            const size_t at = 2 * (beam * n + i);
            const double _Complex a = CMPLX(psi[at], psi[at + 1]), b = CMPLX(next[at], next[at + 1]);
            const double _Complex c = CMPLX(m->after[at], m->after[at + 1]),
                                  d = CMPLX(m->before[at], m->before[at + 1]);
            const double _Complex scale = s->axis[0].scale[beam * n + i];
            const double _Complex t = scale * scale * bpm_stretch(s, (double)(i + 1) * s->c.h, s->c.width);
            m->line[i] = creal(-(p - q) / unit * t * (c - (c - d) / f) * (a - (a - b) / f));
        }
        bpm_index_slopes(s, beam, z, s->c.h, n, m->line, gradient);
    }
}

/* From the end to the begin, piece by piece of `every` steps. */
static bn_status backward(const adjoint *m, size_t steps, double *gradient)
{
    bpm *s = m->s;
    for (size_t piece = (steps + m->every - 1) / m->every; piece-- > 0;) {
        const size_t first = piece * m->every, end = first + m->every < steps ? first + m->every : steps;
        if (m->coarse) {
            BN_TRY(bn_field_set(s->psi, m->coarse + piece * m->points, m->points));
            BN_TRY(forward(m, first, end, true));
        }
        BN_TRY(bn_field_set(s->psi, m->after, m->points));
        for (size_t k = end; k-- > first;) {
            BN_TRY(take_step(m, k));
            BN_TRY(bn_field_get(s->psi, m->before, m->points));
            const double *psi = m->fine + (k - first) * m->points;
            add_step(m, k, psi, psi + m->points, gradient);
            memcpy(m->after, m->before, m->points * sizeof *m->after);
            BN_TRY(interrupted(m));
        }
    }
    return BN_OK;
}

/* mu at the end: dF = Re sum of (dF/d(real part) - i dF/d(imaginary part)) d(amplitude), psi = amplitude / scale. */
static bn_status begin(const adjoint *m, const char *of, const double *slopes)
{
    bpm *s = m->s;
    const size_t n = s->c.n;
    double *result = slopes ? NULL : calloc(m->points, sizeof *result);
    if (!slopes && (!result || !bpm_result_slopes(s, of, result))) {
        free(result);
        return bn_fail(bn_sim_context(m->sim), BN_USAGE,
                       "bpm has no gradient of %s: power, port_1, ..., overlap_start, overlap_mirror, overlap_mode, or "
                       "the field envelope with slopes",
                       of);
    }
    for (size_t at = 0; at < m->points / 2; at++) {
        const double *g = (slopes ? slopes : result) + 2 * at;
        const double _Complex t = s->axis[0].scale[at] * bpm_stretch(s, (double)(at % n + 1) * s->c.h, s->c.width);
        const double _Complex mu = CMPLX(g[0], -g[1]) / t; /* lambda = scale g, mu = lambda / T */
        m->after[2 * at] = creal(mu);
        m->after[2 * at + 1] = cimag(mu);
    }
    free(result);
    return BN_OK;
}

static bn_status check(bn_sim *sim, const bpm *s, const char *of, const double *slopes)
{
    if (s->c.axes != 1 || s->c.solver != BPM_DIRECT || s->c.tm)
        return bn_fail(bn_sim_context(sim), BN_USAGE,
                       "bpm has gradients of beams in a plane, in TE, by elimination; not %s",
                       s->c.axes != 1              ? "in space"
                       : s->c.solver != BPM_DIRECT ? "by transforms"
                                                   : "in TM");
    if (slopes && strcmp(of, "envelope") != 0)
        return bn_fail(bn_sim_context(sim), BN_USAGE, "slopes are those of the field envelope, not of %s", of);
    return BN_OK;
}

bn_status bpm_gradient(bn_sim *sim, void *state, const char *of, const double *slopes, double *gradient)
{
    bpm *s = state;
    const size_t points = 2 * (size_t)s->c.n * s->c.beams, steps = s->done, begin_was = s->section_begin,
                 end_was = s->section_end, fit = KEPT_BYTES / (points * sizeof(double));
    adjoint m = { .sim = sim, .s = s, .points = points };
    bpm_record end;
    bn_status st = BN_OK;
    BN_TRY(check(sim, s, of, slopes));
    m.every = steps < fit ? steps + 1 : 1;
    while (m.every * m.every < steps && steps >= fit)
        m.every++;
    const size_t kept = steps < fit ? 0 : steps / m.every + 1;
    double *memory = malloc(((kept + m.every + 4) * points + s->c.n) * sizeof *memory);
    if (!memory)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the fields of %zu steps", kept + m.every);
    double *held = memory; /* psi, to be put back */
    m.after = held + points;
    m.before = m.after + points;
    m.fine = m.before + points;
    m.coarse = kept > 0 ? m.fine + (m.every + 1) * points : NULL;
    m.line = m.fine + (m.every + 1 + kept) * points;
    BN_GO(bn_field_get(s->psi, held, points));
    BN_GO(s->geometry->observe(s, &end, NULL)); /* the amplitude into s->plane.field */
    BN_GO(begin(&m, of, slopes));
    s->section_begin = s->section_end = 0;
    if (steps > 0) {
        BN_GO(s->method->section(sim, s, false));
        BN_GO(s->geometry->launch(s));
        BN_GO(forward(&m, 0, steps, !m.coarse));
        s->section_end = 0;
        BN_GO(backward(&m, steps, gradient));
    }
out:
    s->section_begin = begin_was;
    if (memory) {
        const bn_status back = bn_field_set(s->psi, held, points);
        st = st != BN_OK ? st : back;
    }
    if (st == BN_OK || st == BN_INTERRUPTED) {
        const bn_status again = s->method->section(sim, s, false);
        st = st != BN_OK ? st : again;
    }
    s->section_end = end_was;
    free(memory);
    return st;
}
