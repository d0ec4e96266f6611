/* bpm_reference.c: the steps along z in plain C, the specification of kernels/bpm.cl. Compiled for float and for
 * double; every expression is associated as on the device, so that both give the same bits. */
#include "bpm.h"
#include "sim/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if BN_REFERENCE_BYTES == 8
#define FMA fma
#else
#define FMA fmaf
#endif

typedef struct pair {
    real x, y;
} pair;

/* A row: unknowns, how they are shared out, how far chunks reach. */
typedef struct shape {
    size_t n, chunk, chunks, reach;
    bool lossy;
} shape;

typedef struct reference {
    pair *r[2], *line; /* in space: of the lines along x and along y; one line along y */
    real *v[2];
    pair *work, *ahead, *back, *forth_left, *back_left;
} reference;

static pair minus(pair a, pair b) { return (pair){ a.x - b.x, a.y - b.y }; }

static pair times(pair a, pair b) { return (pair){ FMA(a.x, b.x, -(a.y * b.y)), FMA(a.x, b.y, a.y * b.x) }; }

/* c - a b and c + a b */
static pair less(pair c, pair a, pair b)
{
    return (pair){ FMA(a.y, b.y, FMA(-a.x, b.x, c.x)), FMA(-a.y, b.x, FMA(-a.x, b.y, c.y)) };
}
static pair more(pair c, pair a, pair b)
{
    return (pair){ FMA(-a.y, b.y, FMA(a.x, b.x, c.x)), FMA(a.y, b.x, FMA(a.x, b.y, c.y)) };
}

/* (second difference + v) psi at i. */
static pair applied(const shape *s, const pair *psi, const real *v, size_t i)
{
    const pair none = { 0, 0 };
    const pair here = psi[i], up = minus(i + 1 < s->n ? psi[i + 1] : none, here);
    const pair g = minus(up, minus(here, i > 0 ? psi[i - 1] : none));
    if (s->lossy)
        return more(g, (pair){ v[2 * i], v[2 * i + 1] }, here);
    return (pair){ FMA(v[i], here.x, g.x), FMA(v[i], here.y, g.y) };
}

/* One step of one beam: psi - factor u, (second difference + D) u = (second difference + v) psi. The elimination y_i =
 * g_i - r_(i-1) y_(i-1) and the way back u_i = r_i (y_i - u_(i+1)) run in chunks that begin with nothing; what enters a
 * chunk is gathered from the chunks before it (behind it), as far as it counts. */
static void march_row(const shape *s, const reference *m, pair *psi, const pair *r, const real *v, pair factor)
{
    const size_t n = s->n, chunk = s->chunk, chunks = s->chunks, reach = s->reach;
    const pair none = { 0, 0 };
    for (size_t c = 0; c < chunks; c++) {
        pair y = none;
        for (size_t i = c * chunk; i < (c + 1) * chunk && i < n; i++) {
            m->work[i] = applied(s, psi, v, i);
            y = less(m->work[i], i > 0 ? r[i - 1] : none, y);
        }
        m->ahead[c] = y;
    }
    for (size_t c = 0; c < chunks; c++) {
        pair y = none, u = none;
        for (size_t from = c > reach ? c - reach : 0; from < c; from++)
            y = more(m->ahead[from], m->forth_left[from], y);
        size_t i = c * chunk;
        for (; i < (c + 1) * chunk && i < n; i++)
            y = m->work[i] = less(m->work[i], i > 0 ? r[i - 1] : none, y);
        while (i-- > c * chunk)
            u = times(r[i], minus(m->work[i], u));
        m->back[c] = u;
    }
    for (size_t c = 0; c < chunks; c++) {
        pair u = none;
        for (size_t from = c + reach < chunks ? c + reach : chunks - 1; from > c; from--)
            u = more(m->back[from], m->back_left[from], u);
        size_t i = (c + 1) * chunk < n ? (c + 1) * chunk : n;
        while (i-- > c * chunk) {
            u = times(r[i], minus(m->work[i], u));
            psi[i] = less(psi[i], factor, u);
        }
    }
}

/* What a chunk leaves of what enters it: the products of -r over its rows. */
static void chunk_products(const shape *s, const reference *m, const pair *r)
{
    for (size_t c = 0; c < s->chunks; c++) {
        pair forth = { 1, 0 }, back = { 1, 0 };
        for (size_t i = c * s->chunk; i < (c + 1) * s->chunk && i < s->n; i++) {
            const pair before = i > 0 ? (pair){ -r[i - 1].x, -r[i - 1].y } : (pair){ 0, 0 };
            forth = times(forth, before);
            back = times(back, (pair){ -r[i].x, -r[i].y });
        }
        m->forth_left[c] = forth;
        m->back_left[c] = back;
    }
}

static shape shape_of(const bpm *s)
{
    return (shape){ s->n, (size_t)s->chunk, (size_t)s->chunks, (size_t)s->reach, s->lossy };
}

/* `count` half steps along all lines of direction d of the cross-section. */
static void run_lines(const bpm *s, int d, int count)
{
    const reference *m = s->reference_memory;
    const bpm_axis *a = &s->axis[d];
    const shape line = { a->n, (size_t)a->chunk, (size_t)a->chunks, (size_t)a->reach, s->lossy };
    const pair factor = { (real)s->factor[0], (real)s->factor[1] };
    pair *psi = bn_field_host(s->psi);
    const size_t from_line = d ? 1 : s->n, from_node = d ? s->n : 1;
    for (size_t l = 0; l < a->lines; l++) {
        const pair *r = m->r[d] + l * a->n;
        for (size_t i = 0; i < a->n; i++)
            m->line[i] = psi[l * from_line + i * from_node];
        chunk_products(&line, m, r);
        for (int k = 0; k < count; k++)
            march_row(&line, m, m->line, r, m->v[d] + (s->lossy ? 2 : 1) * l * a->n, factor);
        for (size_t i = 0; i < a->n; i++)
            psi[l * from_line + i * from_node] = m->line[i];
    }
}

static bn_status times_field(bn_sim *sim, bpm *s, bn_field *field, bn_field *by)
{
    pair *f = bn_field_host(field);
    const pair *g = bn_field_host(by);
    (void)sim;
    for (size_t i = 0; i < (size_t)s->n * s->rows; i++)
        f[i] = times(f[i], g[i]);
    return BN_OK;
}

static bn_status march(bn_sim *sim, bpm *s, size_t first, size_t steps, bool look)
{
    (void)look;
    const reference *m = s->reference_memory;
    const shape row = shape_of(s);
    if (s->method == BPM_FFT)
        return bpm_fft_march(sim, s, steps, times_field);
    for (size_t k = first; s->space && k < first + steps; k++) {
        const int d = bpm_begins_along_y(k);
        run_lines(s, d, 1);
        run_lines(s, !d, 1);
    }
    for (size_t beam = 0; !s->space && beam < s->beams; beam++) {
        pair *psi = (pair *)bn_field_host(s->psi) + beam * s->n;
        const pair *r = (const pair *)bn_field_host(s->r_field) + beam * s->n;
        const real *v = (const real *)bn_field_host(s->v_field) + beam * s->n * (s->lossy ? 2 : 1);
        const pair factor = { (real)s->factor[2 * beam], (real)s->factor[2 * beam + 1] };
        chunk_products(&row, m, r);
        for (size_t k = 0; k < steps; k++)
            march_row(&row, m, psi, r, v, factor);
    }
    return BN_OK;
}

static bn_status section_of_lines(bn_sim *sim, bpm *s, int d)
{
    const reference *m = s->reference_memory;
    const size_t n = s->axis[d].n, v_size = s->lossy ? 2 : 1;
    double *r = calloc(4 * n, sizeof *r), *v = r + 2 * n;
    if (!r)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for a line of the reference");
    for (uint32_t line = 0; line < s->axis[d].lines; line++) {
        bpm_space_lines(s, d, line, 1, r, v);
        for (size_t i = 0; i < n; i++)
            m->r[d][line * n + i] = (pair){ (real)r[2 * i], (real)r[2 * i + 1] };
        for (size_t i = 0; i < v_size * n; i++)
            m->v[d][line * v_size * n + i] = (real)v[i];
    }
    free(r);
    return BN_OK;
}

static bn_status section(bn_sim *sim, bpm *s)
{
    const size_t points = (size_t)s->n * s->rows, v_size = s->lossy ? 2 : 1;
    for (int d = 0; s->space && d < 2; d++)
        BN_TRY(section_of_lines(sim, s, d));
    if (s->space)
        return BN_OK;
    BN_TRY(bn_field_set(s->r_field, s->r, 2 * points));
    return bn_field_set(s->v_field, s->v, v_size * points);
}

static bn_status setup(bn_sim *sim, void *state)
{
    bpm *s = state;
    const size_t points = (size_t)s->n * s->rows, longest = s->n > s->rows ? s->n : s->rows;
    size_t chunks = (size_t)s->chunks;
    for (int d = 0; d < 2; d++)
        chunks = s->space && (size_t)s->axis[d].chunks > chunks ? (size_t)s->axis[d].chunks : chunks;
    reference *m = s->reference_memory = calloc(1, sizeof *m);
    if (!m || !(m->work = calloc(2 * longest, sizeof *m->work)) || !(m->ahead = calloc(4 * chunks, sizeof *m->ahead)))
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the reference of bpm");
    m->line = m->work + longest;
    m->back = m->ahead + chunks;
    m->forth_left = m->ahead + 2 * chunks;
    m->back_left = m->ahead + 3 * chunks;
    for (int d = 0; s->space && d < 2; d++)
        if (!(m->r[d] = calloc(points, sizeof *m->r[d])) || !(m->v[d] = calloc(2 * points, sizeof *m->v[d])))
            return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the reference of bpm");
    if (s->method == BPM_FFT)
        BN_TRY(bn_fft_create(bn_sim_domain(sim), BN_FFT_COMPLEX, &s->fft));
    if (!s->space)
        return BN_OK;
    return bpm_begin(sim, s);
}

static void teardown(void *state)
{
    bpm *s = state;
    reference *m = s->reference_memory;
    bn_fft_destroy(&s->fft);
    if (m) {
        free(m->work);
        free(m->ahead);
        for (int d = 0; d < 2; d++) {
            free(m->r[d]);
            free(m->v[d]);
        }
    }
    free(m);
    s->reference_memory = NULL;
}

static const bpm_marcher marcher = { section, march };

static bn_status step(bn_sim *sim, void *state, bn_step *out) { return bpm_advance(sim, state, &marcher, out); }
static bn_status resume(bn_sim *sim, void *state) { return bpm_take_up(sim, state, &marcher); }

const bn_engine BN_REFERENCE(bpm) = { .name = "reference",
                                      .setup = setup,
                                      .step = step,
                                      .teardown = teardown,
                                      .update_outputs = bpm_update_outputs,
                                      .resume = resume };
