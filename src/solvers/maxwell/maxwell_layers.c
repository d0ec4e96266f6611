/* maxwell_layers.c: solver.start = "layers": the iteration begins with the field of a planar stack, which has in every
 * plane the mean of the structure's coefficients. It is solved exactly on the grid, a tridiagonal system for each
 * polarisation. */
#include "maxwell.h"

#include <math.h>
#include <stdlib.h>

/* The update  new = t old + c curl  has the fixed point  f field = curl  with the factor  f = (1 - t) / c. */
static cplx fixed_point_factor(const double *coefficients)
{
    const cplx t = { coefficients[0], coefficients[1] }, c = { coefficients[2], coefficients[3] };
    return cplx_over(cplx_minus((cplx){ 1, 0 }, t), c);
}

/* The mean of f over plane k, for E_x (component 0) or E_y, by class of edges; for H by class of faces, if any. */
static cplx factor(const maxwell_model *m, maxwell_table table, const uint8_t *class, int component, uint32_t k)
{
    const size_t plane = (size_t)m->n[0] * m->n[1], levels = (size_t)m->pml.cells + 1;
    const size_t depth = (size_t)(table == MAXWELL_UPDATE_H ? maxwell_depth_H(m, 2, k) : maxwell_depth_E(m, 2, k));
    size_t count[MAXWELL_CLASSES] = { 0 };
    cplx sum = { 0, 0 };
    for (size_t i = 0; i < plane; i++)
        count[class ? class[((size_t)component * m->n[2] + k) * plane + i] : 0]++;
    for (size_t c = 0; c < MAXWELL_CLASSES; c++)
        if (count[c] > 0) {
            const cplx f = fixed_point_factor(m->t.of[table] + 4 * (c * levels + depth));
            const double share = (double)count[c] / (double)plane;
            sum = cplx_plus(sum, cplx_scaled(share, f));
        }
    return sum;
}

/* E (nz values) and H half a cell above for one polarisation: E_x with H_y (component 0), E_y with H_x. */
static void solve(const maxwell_model *m, int component, cplx *E, cplx *H, cplx *scratch)
{
    const uint32_t nz = m->n[2];
    const double sign = component == 0 ? -1 : 1; /* of curl H in E, and of curl E in H */
    const cplx e_in = m->t.e_inc[component], h_in = m->t.h_inc[1 - component];
    cplx *diagonal = scratch, *right = scratch + nz, *h = scratch + 2 * (size_t)nz; /* h: f of H */
    for (uint32_t k = 0; k < nz; k++)
        h[k] = factor(m, MAXWELL_UPDATE_H, m->structure.face, 1 - component, k);
    /* H_k = sign (E_{k+1} - E_k [+ e_in]) / h_k;  f_k E_k = sign (H_k - H_{k-1} [+ h_in]) with sign^2 = 1:
     * (f_k + 1/h_k + 1/h_{k-1}) E_k - E_{k+1}/h_k - E_{k-1}/h_{k-1} = source. E_0 = E_nz = 0. */
    const cplx one = { 1, 0 };
    for (uint32_t k = 1; k < nz; k++) {
        diagonal[k] = cplx_plus(factor(m, MAXWELL_UPDATE_E, m->structure.edge, component, k),
                                cplx_plus(cplx_over(one, h[k]), cplx_over(one, h[k - 1])));
        right[k] = (cplx){ 0, 0 };
        if (k == m->light.source)
            right[k] = cplx_plus(cplx_over(e_in, h[k]), cplx_scaled(sign, h_in));
        if (k == m->light.source + 1)
            right[k] = cplx_minus(right[k], cplx_over(e_in, h[k - 1]));
    }
    for (uint32_t k = 2; k < nz; k++) { /* couplings to both sides are -1/h_{k-1}; Thomas' elimination */
        const cplx ratio = cplx_over(cplx_over(one, h[k - 1]), diagonal[k - 1]);
        diagonal[k] = cplx_minus(diagonal[k], cplx_times(ratio, cplx_over(one, h[k - 1])));
        right[k] = cplx_plus(right[k], cplx_times(ratio, right[k - 1]));
    }
    E[0] = (cplx){ 0, 0 };
    for (uint32_t k = nz - 1; k > 0; k--)
        E[k] = cplx_over(k + 1 < nz ? cplx_plus(right[k], cplx_over(E[k + 1], h[k])) : right[k], diagonal[k]);
    for (uint32_t k = 0; k < nz; k++) {
        cplx difference = cplx_minus(k + 1 < nz ? E[k + 1] : (cplx){ 0, 0 }, E[k]);
        if (k == m->light.source)
            difference = cplx_plus(difference, e_in);
        H[k] = cplx_over(cplx_scaled(sign, difference), h[k]);
    }
}

/* A field that is the same everywhere in a plane and has no z component. */
typedef struct layered {
    const cplx *along_x, *along_y; /* plane by plane */
    int components;                /* of the field; those after the first two are zero */
} layered;

static bn_status fill(void *user, const bn_region *r, void *to)
{
    double *values = to;
    const layered *l = user;
    const size_t plane = (size_t)r->n[0] * r->n[1], cells = plane * r->n[2];
    for (size_t i = 0; i < cells; i++) {
        const cplx x = l->along_x[r->first[2] + i / plane], y = l->along_y[r->first[2] + i / plane];
        values[2 * i] = x.re;
        values[2 * i + 1] = x.im;
        values[2 * (cells + i)] = y.re;
        values[2 * (cells + i) + 1] = y.im;
    }
    for (size_t i = 4 * cells; i < 2 * cells * (size_t)l->components; i++)
        values[i] = 0;
    return BN_OK;
}

static bn_status set(bn_field *f, const cplx *along_x, const cplx *along_y)
{
    return bn_field_supply(f, BN_AS_DOUBLES, fill, &(layered){ along_x, along_y, bn_field_describe(f)->components });
}

bn_status maxwell_start_from_layers(bn_sim *sim, maxwell *s)
{
    const size_t nz = s->model.n[2];
    bn_status st = BN_OK;
    cplx *line = calloc(7 * nz, sizeof *line);
    if (!line)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the field of the layers");
    cplx *ex = line, *hy = ex + nz, *ey = hy + nz, *hx = ey + nz, *scratch = hx + nz;
    solve(&s->model, 0, ex, hy, scratch);
    solve(&s->model, 1, ey, hx, scratch);
    /* Nothing changes along x and y: the part driven by differences along z is the whole component. */
    BN_GO(set(s->f.E, ex, ey));
    BN_GO(set(s->f.part_E, ex, ey));
    BN_GO(set(s->f.H, hx, hy));
    BN_GO(set(s->f.part_H, hx, hy));
out:
    free(line);
    return st;
}
