/* bpm_reference.c: the steps along z in plain C, with the expressions of kernels/bpm.cl in the same association, so
 * that both give the same bits: it proves the port. The tests against closed forms prove the scheme. */
#include "bpm.h"
#include "numerics/pair.h"
#include "sim/reference.h"

#include <stdlib.h>

/* A line: unknowns, how they are cut into chunks, how many chunks back a carried value counts. */
typedef struct line_form {
    size_t n, chunk, chunks, reach;
    bool lossy;
} line_form;

typedef struct reference {
    pair *r[2], *line; /* in space: of the lines along x and along y; one line along y */
    real *v[2];
    pair *work;
    /* per chunk: what it hands on at its end and at its begin, and the factors by which it hands on what enters it */
    pair *forward_carry, *backward_carry, *forward_factor, *backward_factor;
} reference;

static pair cfnma(pair a, pair b, pair c) /* c - a b */
{
    return (pair){ FMA(a.y, b.y, FMA(-a.x, b.x, c.x)), FMA(-a.y, b.x, FMA(-a.x, b.y, c.y)) };
}

static const pair none = { 0, 0 };

/* P' psi = (second difference + v) psi at node i. */
static pair apply_operator(const line_form *s, const pair *psi, const real *v, size_t i)
{
    const pair here = psi[i], up = minus(i + 1 < s->n ? psi[i + 1] : none, here);
    const pair g = minus(up, minus(here, i > 0 ? psi[i - 1] : none));
    if (s->lossy)
        return cfma((pair){ v[2 * i], v[2 * i + 1] }, here, g);
    return (pair){ FMA(v[i], here.x, g.x), FMA(v[i], here.y, g.y) };
}

/* The factors of all chunks: products of -r over their nodes. */
static void carry_factors(const line_form *s, const reference *m, const pair *r)
{
    for (size_t c = 0; c < s->chunks; c++) {
        pair forward = { 1, 0 }, backward = { 1, 0 };
        for (size_t i = c * s->chunk; i < (c + 1) * s->chunk && i < s->n; i++) {
            forward = cmul(forward, i > 0 ? (pair){ -r[i - 1].x, -r[i - 1].y } : none);
            backward = cmul(backward, (pair){ -r[i].x, -r[i].y });
        }
        m->forward_factor[c] = forward;
        m->backward_factor[c] = backward;
    }
}

/* One Crank-Nicolson step of one line: equations (3) to (5) of kernels/bpm.cl, chunk by chunk. */
static void crank_nicolson_step(const line_form *s, const reference *m, pair *psi, const pair *r, const real *v,
                                pair factor)
{
    const size_t n = s->n, chunk = s->chunk, chunks = s->chunks, reach = s->reach;
    for (size_t c = 0; c < chunks; c++) { /* forward elimination as if nothing entered */
        pair y = none;
        for (size_t i = c * chunk; i < (c + 1) * chunk && i < n; i++) {
            m->work[i] = apply_operator(s, psi, v, i);
            y = cfnma(i > 0 ? r[i - 1] : none, y, m->work[i]);
        }
        m->forward_carry[c] = y;
    }
    for (size_t c = 0; c < chunks; c++) { /* forward elimination; back substitution as if nothing entered */
        pair y = none, u = none;
        for (size_t from = c > reach ? c - reach : 0; from < c; from++)
            y = cfma(m->forward_factor[from], y, m->forward_carry[from]);
        size_t i = c * chunk;
        for (; i < (c + 1) * chunk && i < n; i++)
            y = m->work[i] = cfnma(i > 0 ? r[i - 1] : none, y, m->work[i]);
        while (i-- > c * chunk)
            u = cmul(r[i], minus(m->work[i], u));
        m->backward_carry[c] = u;
    }
    for (size_t c = 0; c < chunks; c++) { /* back substitution, update */
        pair u = none;
        for (size_t from = c + reach < chunks ? c + reach : chunks - 1; from > c; from--)
            u = cfma(m->backward_factor[from], u, m->backward_carry[from]);
        size_t i = (c + 1) * chunk < n ? (c + 1) * chunk : n;
        while (i-- > c * chunk) {
            u = cmul(r[i], minus(m->work[i], u));
            psi[i] = cfnma(factor, u, psi[i]);
        }
    }
}

static line_form form_of(const bpm *s, int d)
{
    const bpm_axis *a = &s->axis[d];
    return (line_form){ a->n, (size_t)a->chunk, (size_t)a->chunks, (size_t)a->reach, s->c.lossy };
}

/* --- memory --- */

static void teardown(bpm *s)
{
    reference *m = s->reference_memory;
    bn_fft_destroy(&s->transforms.fft);
    if (m) {
        free(m->work);
        free(m->forward_carry);
        for (int d = 0; d < 2; d++) {
            free(m->r[d]);
            free(m->v[d]);
        }
    }
    free(m);
    s->reference_memory = NULL;
}

static bn_status setup_lines(bn_sim *sim, bpm *s)
{
    const size_t points = (size_t)s->c.n * s->c.rows;
    size_t longest = 0, chunks = 0;
    for (int d = 0; d < s->c.axes; d++) {
        longest = s->axis[d].n > longest ? s->axis[d].n : longest;
        chunks = (size_t)s->axis[d].chunks > chunks ? (size_t)s->axis[d].chunks : chunks;
    }
    reference *m = s->reference_memory = calloc(1, sizeof *m);
    bool made = m && (m->work = calloc(2 * longest, sizeof *m->work)) &&
                (m->forward_carry = calloc(4 * chunks, sizeof *m->forward_carry));
    for (int d = 0; made && s->c.axes == 2 && d < 2; d++)
        made = (m->r[d] = calloc(points, sizeof *m->r[d])) && (m->v[d] = calloc(2 * points, sizeof *m->v[d]));
    if (!made)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the reference of bpm");
    m->line = m->work + longest;
    m->backward_carry = m->forward_carry + chunks;
    m->forward_factor = m->forward_carry + 2 * chunks;
    m->backward_factor = m->forward_carry + 3 * chunks;
    return BN_OK;
}

/* --- beams in a plane --- */

static bn_status propagate_plane(bpm *s, const bpm_steps *steps)
{
    const reference *m = s->reference_memory;
    const line_form form = form_of(s, 0);
    const size_t n = s->c.n;
    for (size_t beam = 0; beam < s->c.beams; beam++) {
        pair *psi = (pair *)bn_field_host(s->psi) + beam * n;
        const size_t row = s->plane.now * s->c.beams + beam;
        const pair *r = (const pair *)bn_field_host(s->axis[0].r_field) + row * n;
        const real *v = (const real *)bn_field_host(s->axis[0].v_field) + row * n * (s->c.lossy ? 2 : 1);
        const pair factor = { (real)s->factor[2 * beam], (real)s->factor[2 * beam + 1] };
        carry_factors(&form, m, r);
        for (size_t k = 0; k < steps->count; k++)
            crank_nicolson_step(&form, m, psi, r, v, factor);
    }
    return BN_OK;
}

static const bpm_method plane = { .setup = setup_lines,
                                  .teardown = teardown,
                                  .prepare = bpm_plane_prepare,
                                  .section = bpm_plane_section,
                                  .propagate = propagate_plane };

/* --- a beam in space --- */

/* A half step along all lines of direction d of the cross-section. */
static void half_step(const bpm *s, int d)
{
    const reference *m = s->reference_memory;
    const line_form form = form_of(s, d);
    const pair factor = { (real)s->factor[0], (real)s->factor[1] };
    pair *psi = bn_field_host(s->psi);
    const size_t n = form.n, from_line = d ? 1 : s->c.n, from_node = d ? s->c.n : 1;
    for (size_t l = 0; l < s->axis[d].lines; l++) {
        const pair *r = m->r[d] + l * n;
        for (size_t i = 0; i < n; i++)
            m->line[i] = psi[l * from_line + i * from_node];
        carry_factors(&form, m, r);
        crank_nicolson_step(&form, m, m->line, r, m->v[d] + (s->c.lossy ? 2 : 1) * l * n, factor);
        for (size_t i = 0; i < n; i++)
            psi[l * from_line + i * from_node] = m->line[i];
    }
}

static bn_status propagate_space(bpm *s, const bpm_steps *steps)
{
    for (size_t k = steps->first; k < steps->first + steps->count; k++) {
        half_step(s, bpm_begins_along_y(k));
        half_step(s, !bpm_begins_along_y(k));
    }
    return BN_OK;
}

static bn_status section_space(bn_sim *sim, bpm *s, bool entered)
{
    const reference *m = s->reference_memory;
    const size_t longest = s->c.n > s->c.rows ? s->c.n : s->c.rows, v_size = s->c.lossy ? 2 : 1;
    double *r = calloc(4 * longest, sizeof *r);
    (void)entered;
    if (!r)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for a line of the reference");
    double *v = r + 2 * longest;
    bpm_space_prepare(s, s->section_begin);
    for (int d = 0; d < 2; d++) {
        const size_t n = s->axis[d].n;
        for (uint32_t line = 0; line < s->axis[d].lines; line++) {
            bpm_space_lines(s, d, line, 1, r, v);
            for (size_t i = 0; i < n; i++)
                m->r[d][line * n + i] = (pair){ (real)r[2 * i], (real)r[2 * i + 1] };
            for (size_t i = 0; i < v_size * n; i++)
                m->v[d][line * v_size * n + i] = (real)v[i];
        }
        bpm_space_reach(s, d);
    }
    free(r);
    return BN_OK;
}

static const bpm_method space = { .setup = setup_lines,
                                  .teardown = teardown,
                                  .prepare = bpm_space_prepare,
                                  .section = section_space,
                                  .propagate = propagate_space };

/* Numbers and what their rounding left over, of the lanes that sum up a row: kernels/bpm_row_sums.cl. */
enum { LANES = 256, LAST_LANES = 16 };
typedef struct row_sum {
    real high[LANES], low[LANES];
} row_sum;

static void add(row_sum *r, size_t lane, real x, real left_over)
{
    const real sum = r->high[lane] + x, added = sum - r->high[lane];
    r->low[lane] += ((r->high[lane] - (sum - added)) + (x - added)) + left_over;
    r->high[lane] = sum;
}

static void fold(row_sum *r, size_t lane, size_t apart, size_t count)
{
    for (size_t n = 1; n < count; n++)
        add(r, lane, r->high[lane + n * apart], r->low[lane + n * apart]);
}

static void add_product(row_sum *r, size_t lane, real a, real b)
{
    const real product = a * b;
    add(r, lane, product, FMA(a, b, -product));
}

static void add_node(row_sum *r, size_t lane, pair psi, pair start, real d)
{
    const real intensity = FMA(psi.x, psi.x, psi.y * psi.y);
    add_product(&r[0], lane, psi.x, psi.x);
    add_product(&r[0], lane, psi.y, psi.y);
    add_product(&r[1], lane, intensity, d);
    add_product(&r[2], lane, intensity * d, d);
    add_product(&r[3], lane, start.x, psi.x);
    add_product(&r[3], lane, start.y, psi.y);
    add_product(&r[4], lane, start.x, psi.y);
    add_product(&r[4], lane, -start.y, psi.x);
}

static bn_status sum_rows(bpm *s, int middle, double (*sums)[BPM_ROW_SUMS])
{
    for (size_t j = 0; j < s->c.rows; j++) {
        const pair *psi = (const pair *)bn_field_host(s->psi) + j * s->c.n;
        const pair *start = (const pair *)bn_field_host(s->space.start) + j * s->c.n;
        row_sum r[BPM_ROW_SUMS] = { 0 };
        for (size_t i = 0; i < s->c.n; i++) {
            const double _Complex scale = s->axis[0].scale[i];
            const pair value = s->c.pml ? cmul(psi[i], (pair){ (real)creal(scale), (real)cimag(scale) }) : psi[i];
            add_node(r, i % LANES, value, start[i], (real)((int)i - middle));
        }
        for (size_t k = 0; k < BPM_ROW_SUMS; k++) {
            for (size_t lane = 0; lane < LAST_LANES; lane++)
                fold(&r[k], lane, LAST_LANES, LANES / LAST_LANES);
            fold(&r[k], 0, 1, LAST_LANES);
            sums[j][k] = (double)r[k].high[0] + (double)r[k].low[0];
        }
    }
    return BN_OK;
}

/* --- transforms --- */

static bn_status setup_fft(bn_sim *sim, bpm *s) { return bn_fft_create(bn_sim_domain(sim), &s->transforms.fft); }

static bn_status multiply(bpm *s, bn_field *field, bn_field *by)
{
    pair *f = bn_field_host(field);
    const pair *g = bn_field_host(by);
    for (size_t i = 0; i < (size_t)s->c.n * s->c.rows; i++)
        f[i] = cmul(f[i], g[i]);
    return BN_OK;
}

static bn_status propagate_fft(bpm *s, const bpm_steps *steps) { return bpm_fft_propagate(s, steps, multiply); }

static const bpm_method fft = {
    .setup = setup_fft, .teardown = teardown, .section = bpm_fft_section, .propagate = propagate_fft
};

static bn_status setup(bn_sim *sim, void *state)
{
    static const bpm_methods methods = { &plane, &space, &fft, sum_rows };
    return bpm_setup(sim, state, &methods);
}

const bn_engine BN_REFERENCE(bpm) = { .name = "reference",
                                      .setup = setup,
                                      .step = bpm_step,
                                      .teardown = bpm_teardown,
                                      .update_outputs = bpm_update_outputs,
                                      .resume = bpm_resume };
