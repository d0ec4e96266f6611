/* xray_volume.c: the tally in the cells of the density (docs/xray.md): what collisions leave there, as integers whose
 * sum is the same in any order, and the fields made of it, on the grid of the case. Both engines use it. */
#include "xray.h"

#include <math.h>
#include <stdlib.h>

/* Weights of photons: as fine as the largest sums allow, which are of all photons' weights. */
static void choose_units(xray *s)
{
    enum { WEIGHT = 30, FACTOR = 32, SUM = 62 }; /* bits */
    xray_integers *n = &s->i;
    int exponent;
    const double digits = frexp(s->config.absorption, &exponent); /* the share is digits * 2^exponent, at most 1 */
    n->tally_bits = (int)fmin(WEIGHT, SUM - ceil(log2((double)s->config.photons)));
    n->absorption_bits = (int)fmin(FACTOR - exponent, SUM);
    n->absorption = llround(ldexp(digits, n->absorption_bits + exponent));
}

bn_status xray_plan_volume(xray *s, bn_plan *p)
{
    const xray_volume *v = &s->volume;
    xray_fields *f = &s->fields;
    bn_grid g = { .dims = 3 };
    choose_units(s);
    if (!s->config.volume)
        return BN_OK;
    for (int d = 0; d < 3; d++) {
        const int axis = (s->config.face / 2 + d) % 3;
        g.n[axis] = v->n[d];
        g.h[axis] = v->h[d];
        g.origin[axis] = 0.5 * v->h[d];
    }
    bn_plan_volume(p, &g);
    BN_TRY(bn_plan_field(p, &f->counted,
                         &(bn_field_desc){ "counted", "", BN_T_I64, 1, BN_STATE | BN_COMPARE | BN_VOLUME }));
    if (s->i.absorption > 0)
        BN_TRY(bn_plan_field(p, &f->absorbed,
                             &(bn_field_desc){ "absorbed", "", BN_T_REAL, 1, BN_OUTPUT | BN_COMPARE | BN_VOLUME }));
    BN_TRY(bn_plan_field(p, &f->fluence,
                         &(bn_field_desc){ "fluence", "m-2", BN_T_REAL, 1, BN_OUTPUT | BN_COMPARE | BN_VOLUME }));
    BN_TRY(bn_plan_field(p, &f->log_fluence, &(bn_field_desc){ "log_fluence", "", BN_T_REAL, 1, BN_VOLUME }));
    const int across = (s->config.face / 2 + 2) % 3;
    return bn_plan_picture(p, &(bn_picture_desc){ .name = "fluence",
                                                  .field = "log_fluence",
                                                  .title = "Fluence in the middle of the density",
                                                  .quantity = "log10 (fluence of a photon, 1/m²)",
                                                  .across = across,
                                                  .at = g.n[across] / 2,
                                                  .timeless = true,
                                                  .map = BN_PICTURE_SEQUENTIAL });
}

/* Collision estimator: the fluence of a cell of volume V is the weight that collides there over mu_t V, here the
 * optical depth of the cell's side along x times its other two sides. Absorbed weight is the same share of it
 * everywhere. Where nothing can collide nothing is known: 0. */
static double area_of(const xray *s, size_t cell)
{
    const double share = s->i.absorption > 0 ? ldexp((double)s->i.absorption, -s->i.absorption_bits) : 1;
    return s->volume.whole[cell] * share * s->volume.h[1] * s->volume.h[2];
}

static double absorbed_of(double share, double area)
{
    (void)area;
    return share;
}
static double fluence_of(double share, double area) { return area > 0 ? share / area : 0; }
static double log_fluence_of(double share, double area) { return share > 0 ? log10(share / area) : (double)NAN; }

/* A field of the output from the share of the light that a cell has counted, and its area. */
static bn_status form(xray *s, bn_field *field, double (*value)(double, double), double *room)
{
    const xray_volume *v = &s->volume;
    const double one = s->i.absorption > 0 ? ldexp(1, -s->i.tally_bits) : 1, all = fmax(1, (double)s->traced);
    const int64_t *sums = bn_field_host(s->fields.counted);
    size_t cell = 0;
    if (!field)
        return BN_OK;
    for (uint32_t k = 0; k < v->n[2]; k++)
        for (uint32_t j = 0; j < v->n[1]; j++)
            for (uint32_t i = 0; i < v->n[0]; i++, cell++) {
                const size_t at = xray_place(s, i, j, k);
                const double area = area_of(s, cell);
                room[at] = value((double)sums[at] * one / all, area);
            }
    return bn_field_set(field, room, cell);
}

bn_status xray_gather_volume(bn_sim *sim, xray *s, const int64_t *counted)
{
    const xray_volume *v = &s->volume;
    int64_t *sums = bn_field_host(s->fields.counted);
    bn_status st = BN_OK;
    double *room = malloc(xray_cells(v->n) * sizeof *room);
    if (!room)
        BN_GO(bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the fluence"));
    for (uint32_t k = 0; k < v->box[2]; k++)
        for (uint32_t j = 0; j < v->box[1]; j++)
            for (uint32_t i = 0; i < v->box[0]; i++)
                sums[xray_place(s, i + v->first[0], j + v->first[1], k + v->first[2])] += *counted++;
    BN_GO(form(s, s->fields.absorbed, absorbed_of, room));
    BN_GO(form(s, s->fields.fluence, fluence_of, room));
    BN_GO(form(s, s->fields.log_fluence, log_fluence_of, room));
out:
    free(room);
    return st;
}

int64_t xray_counted(const xray *s)
{
    const int64_t *values = bn_field_host(s->fields.counted);
    int64_t sum = 0;
    for (size_t c = 0; c < xray_cells(s->volume.n); c++)
        sum += values[c];
    return sum;
}
