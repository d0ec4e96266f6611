/* flood_layouts_reference.c: the step of kernels/studies/flood_layouts.cl in plain C, with the same association.
 * Compiled for float and for double. */
#include "studies/flood_layouts.h"
#include "sim/reference.h"

#include <math.h>

#if BN_REFERENCE_BYTES == 8
#define SQRT sqrt
#else
#define SQRT sqrtf
#endif
#define SLANT REAL(0.86602540378443864676)

typedef struct cell {
    real h, u, v, z;
} cell;
typedef struct sums {
    real mass, x, y;
} sums;
typedef struct constants {
    FLOOD_LAYOUTS_CONSTANTS(BN_CONSTANT_REAL)
} constants;

static real minimum(real a, real b) { return a < b ? a : b; }
static real maximum(real a, real b) { return a > b ? a : b; }

/* Adds what leaves cell l through its edge towards r, of the normal (nx, ny). */
static void add_hllc_flux(const constants *k, const cell *l, const cell *r, real nx, real ny, sums *out)
{
    const real rise = r->z - l->z, wet_l = l->h > k->dry ? l->h : 0, wet_r = r->h > k->dry ? r->h : 0;
    const real a = maximum(wet_l - maximum(rise, 0), 0), b = maximum(wet_r + minimum(rise, 0), 0);
    const real ul = l->u * nx + l->v * ny, ur = r->u * nx + r->v * ny;
    const real vl = l->v * nx - l->u * ny, vr = r->v * nx - r->u * ny;
    const real c = SQRT(k->g * maximum(a, b)), from = a > 0 ? ul : ur, to = b > 0 ? ur : ul;
    const real low = minimum(minimum(from, to) - (a > 0 ? c : c + c), 0);
    const real high = maximum(maximum(from, to) + (b > 0 ? c : c + c), 0);
    const real share = -low / maximum(high - low, REAL(1e-30));
    const real ql = a * ul, qr = b * ur, jump = qr - ql, head = REAL(0.5) * k->g * ((b - a) * (b + a));
    const real thrust = ql * ul + share * (((qr * ur - ql * ul) + head) - high * jump);
    const real mass = ql + share * (jump - high * (b - a)), along = mass * (mass > 0 ? vl : vr);
    out->mass = out->mass + mass;
    out->x = out->x + (thrust * nx - along * ny);
    out->y = out->y + (thrust * ny + along * nx);
}

static size_t element(const flood_layouts *s, size_t at, size_t component)
{
    return s->structures ? 4 * at + component : at + component * s->nx * s->ny;
}

static cell cell_at(const flood_layouts *s, const real *v, size_t at)
{
    return (cell){ v[element(s, at, 0)], v[element(s, at, 1)], v[element(s, at, 2)], v[element(s, at, 3)] };
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    (void)sim;
    static const int dx[2][6] = { { 1, 0, -1, -1, -1, 0 }, { 1, 1, 0, -1, 0, 1 } }, dy[6] = { 0, 1, 1, 0, -1, -1 };
    static const real nx[6] = { 1, REAL(0.5), -REAL(0.5), -1, -REAL(0.5), REAL(0.5) };
    static const real ny[6] = { 0, SLANT, SLANT, 0, -SLANT, -SLANT };
    flood_layouts *s = state;
    const real *before = bn_field_host(s->state);
    real *after = bn_field_host(s->next);
    const int32_t *listed = s->file ? bn_field_host(s->neighbours) : NULL;
    const bn_place first = bn_domain_place(bn_field_domain(s->state));
    constants k;
    bn_round_constants((const double *)&s->k, sizeof s->k / sizeof(double), (real *)&k);
    for (size_t at = 0; at < (size_t)s->nx * s->ny; at++) {
        const size_t i = at % s->nx, j = at / s->nx, cells = (size_t)s->nx * s->ny;
        const cell here = cell_at(s, before, at);
        sums sum = { 0, 0, 0 };
        for (int e = 0; e < 6; e++) {
            const long x = (long)i + dx[j % 2][e], y = (long)j + dy[e];
            const long regular = x < 0 || y < 0 || x >= (long)s->nx || y >= (long)s->ny ? -1 : y * (long)s->nx + x;
            const long place = listed ? listed[(size_t)e * cells + at] - first.first : -1;
            const long to = !listed     ? regular
                            : place < 0 ? -1
                                        : place / first.pitch * (long)s->nx + place % first.pitch;
            if (to < 0)
                continue;
            const cell beside = cell_at(s, before, (size_t)to);
            add_hllc_flux(&k, &here, &beside, nx[e], ny[e], &sum);
        }
        const real h = here.h - k.flux_scale * sum.mass, deep = h > k.dry ? h : 1;
        after[element(s, at, 0)] = h < 0 ? 0 : h;
        after[element(s, at, 1)] = h > k.dry ? (here.h * here.u - k.flux_scale * sum.x) / deep : 0;
        after[element(s, at, 2)] = h > k.dry ? (here.h * here.v - k.flux_scale * sum.y) / deep : 0;
    }
    bn_field_swap(s->state, s->next);
    *out = (bn_step){ .dt = s->dt, .residual = (double)NAN };
    return BN_OK;
}

static bn_status resume(bn_sim *sim, void *state)
{
    (void)sim;
    flood_layouts *s = state;
    return bn_field_copy(s->state, s->next);
}

const bn_engine BN_REFERENCE(flood_layouts) = { .name = "reference", .step = step, .resume = resume };
