/* bpm_iteration_reference.c: the study's steps in plain C, with the expressions of kernels/studies/bpm_iteration.cl in
 * the same association. */
#include "bpm_iteration.h"
#include "numerics/pair.h"
#include "sim/reference.h"

#include <stdlib.h>

typedef struct reference {
    struct {
        BPM_ITERATION_CONSTANTS(BN_CONSTANT_REAL)
    } k;
    real *squares, *partials; /* to be summed, and sums of parts */
} reference;

static real square(pair a) { return a.x * a.x + a.y * a.y; }

static pair second_difference(const pair *f, size_t n, size_t i)
{
    const pair none = { 0, 0 };
    return minus(minus(i + 1 < n ? f[i + 1] : none, f[i]), minus(f[i], i > 0 ? f[i - 1] : none));
}

static double sum_of_squares(const bpm_iteration *s)
{
    const reference *m = s->reference_memory;
    const size_t n[3] = { s->n, 1, 1 };
    return (double)bn_ordered_dot(m->squares, NULL, n, m->partials);
}

static bn_status start(bpm_iteration *s)
{
    const reference *m = s->reference_memory;
    const pair *psi = bn_field_host(s->psi);
    pair *g = bn_field_host(s->g), *u = bn_field_host(s->u);
    for (size_t i = 0; i < s->n; i++) {
        const pair d2 = second_difference(psi, s->n, i);
        g[i] = cmul((pair){ 0, m->k.b_im }, d2);
        u[i] = (pair){ 0, 0 };
        m->squares[i] = square(cfma((pair){ 0, m->k.b_all_im }, d2, psi[i]));
    }
    s->totals[0] = sum_of_squares(s);
    for (size_t i = 0; i < s->n; i++)
        m->squares[i] = square(g[i]);
    s->totals[1] = sum_of_squares(s);
    return BN_OK;
}

static pair residual_at(const bpm_iteration *s, size_t i)
{
    const reference *m = s->reference_memory;
    const pair *u = bn_field_host(s->u), *g = bn_field_host(s->g);
    return minus(minus(g[i], u[i]), cmul((pair){ 0, m->k.a_im }, second_difference(u, s->n, i)));
}

static bn_status sweeps(bpm_iteration *s, long long count)
{
    const reference *m = s->reference_memory;
    for (long long k = 0; k < count; k++) {
        const pair *u = bn_field_host(s->u);
        pair *next = bn_field_host(s->next);
        for (size_t i = 0; i < s->n; i++)
            next[i] = cfma((pair){ m->k.tau_re, m->k.tau_im }, residual_at(s, i), u[i]);
        bn_field_swap(s->u, s->next);
    }
    for (size_t i = 0; i < s->n; i++)
        m->squares[i] = square(residual_at(s, i));
    s->totals[1] = sum_of_squares(s);
    return BN_OK;
}

static bn_status add(bpm_iteration *s)
{
    const pair *u = bn_field_host(s->u);
    pair *psi = bn_field_host(s->psi);
    for (size_t i = 0; i < s->n; i++)
        psi[i] = (pair){ psi[i].x + u[i].x, psi[i].y + u[i].y };
    return BN_OK;
}

static bn_status setup(bn_sim *sim, void *state)
{
    bpm_iteration *s = state;
    reference *m = s->reference_memory = calloc(1, sizeof *m);
    if (!m || !(m->squares = calloc(s->n, sizeof *m->squares)) ||
        !(m->partials = calloc(s->n / BN_BLOCK_NX + 1, sizeof *m->partials)))
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the reference of bpm_iteration");
    bn_round_constants((const double *)&s->k, sizeof s->k / sizeof(double), (real *)&m->k);
    return BN_OK;
}

static void teardown(void *state)
{
    bpm_iteration *s = state;
    reference *m = s->reference_memory;
    if (m) {
        free(m->squares);
        free(m->partials);
    }
    free(m);
    s->reference_memory = NULL;
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    static const bpm_iteration_engine engine = { start, sweeps, add };
    return bpm_iteration_step(sim, state, &engine, out);
}

const bn_engine
    BN_REFERENCE(bpm_iteration) = { .name = "reference", .setup = setup, .step = step, .teardown = teardown };
