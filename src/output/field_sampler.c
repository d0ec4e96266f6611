/* field_sampler.c: fields to TIFF, a file for each component, and to one HDF5 file. */
#include "output/field_sampler.h"

#include "io/volume.h"
#include "sim/sim_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_complex(const bn_field_desc *d) { return d->type == BN_T_REAL2; }

/* Complex vectors have their norms beside them. */
static bool exported(const bn_field_desc *d)
{
    return (d->type == BN_T_REAL || (is_complex(d) && d->components <= 1)) && (d->role & BN_OUTPUT) &&
           !(d->role & BN_INTERLEAVED);
}

static int components(const bn_field_desc *d) { return is_complex(d) ? 2 : d->components > 0 ? d->components : 1; }

static double number(const bn_plan *p, const void *values, size_t at)
{
    return p->precision == BN_DOUBLE ? ((const double *)values)[at] : (double)((const float *)values)[at];
}

/* Of parts that ranks have; `pair`: the field has pairs, of which component 0 or 1 is wanted. */
static bn_status together(bn_context *ctx, const bn_field_sampler *e, size_t which, int component, const bn_region *r,
                          double *values)
{
    const bn_field_desc *d = &e->plan->fields[e->field[which]];
    const size_t pair = d->type == BN_T_REAL2 ? 2 : 1, points = bn_region_points(r);
    double *own = malloc(points * pair * sizeof *own);
    if (!own)
        return bn_fail(ctx, BN_MEMORY, "no memory for %s", d->name);
    const bn_status st = bn_field_read_region(bn_sim_field(e->sim, d->name), component / (int)pair, 1, r,
                                              BN_AS_DOUBLES, own);
    for (size_t i = 0; i < points && st == BN_OK; i++)
        values[i] = own[i * pair + (size_t)component % pair];
    free(own);
    return st;
}

bn_status bn_field_sampler_values(bn_context *ctx, const bn_field_sampler *e, size_t which, int component, const bn_region *r,
                           double *values)
{
    const uint32_t *n = e->plan->grid.n;
    if (e->sim)
        return together(ctx, e, which, component, r, values);
    for (uint32_t k = 0; k < r->n[2]; k++)
        for (uint32_t j = 0; j < r->n[1]; j++) {
            const size_t row = (((size_t)component * n[2] + r->first[2] + k) * n[1] + r->first[1] + j) * n[0] +
                               r->first[0];
            for (uint32_t i = 0; i < r->n[0]; i++)
                *values++ = number(e->plan, e->data[which], row + i);
        }
    return BN_OK;
}

/* What a picture of a map holds: rows from the north; hexagons as two pixels each, every odd row shifted by one, NaN in
 * what is left over at the ends. Else the rows as they are. */
static void sample(const bn_plan *p, const double *values, float *pixels)
{
    const bool halves = p->mapped && p->grid.kind == BN_HEXAGONAL;
    const size_t nx = p->grid.n[0], ny = p->grid.n[1], wide = halves ? 2 * nx + 1 : nx;
    for (size_t at = 0; at < wide * ny; at++) {
        const size_t j = p->mapped ? ny - 1 - at / wide : at / wide, column = at % wide, shift = halves ? j % 2 : 0;
        const size_t i = halves ? (column - shift) / 2 : column;
        pixels[at] = column < shift || i >= nx ? NAN : (float)values[j * nx + i];
    }
}

/* The pixels' place: the lower left corner of the first cell, and as many rows above it as there are. */
static bn_tiff_place place_of(const bn_plan *p)
{
    const bn_grid *g = &p->grid;
    return (bn_tiff_place){ .west = g->origin[0] - 0.5 * g->h[0],
                            .north = g->origin[1] - 0.5 * g->h[1] + g->n[1] * g->h[1],
                            .h = { g->kind == BN_HEXAGONAL ? 0.5 * g->h[0] : g->h[0], g->h[1] },
                            .epsg = p->epsg };
}

static bn_status write_tiff(bn_context *ctx, const bn_field_sampler *e, size_t which, int component)
{
    const bn_field_desc *d = &e->plan->fields[e->field[which]];
    const bn_grid *g = &e->plan->grid;
    const size_t points = (size_t)g->n[0] * g->n[1];
    const bool halves = e->plan->mapped && g->kind == BN_HEXAGONAL;
    const uint32_t size[3] = { halves ? 2 * g->n[0] + 1 : g->n[0], g->n[1], g->n[2] };
    const bn_tiff_place place = place_of(e->plan);
    bn_status st = BN_OK;
    bn_tiff *tiff = NULL;
    char path[4096], text[256], number[16] = "";
    float *single = malloc((size_t)size[0] * size[1] * sizeof *single);
    double *values = malloc(points * sizeof *values);
    if (!single || !values) {
        st = bn_fail(ctx, BN_MEMORY, "no memory to write %s as TIFF", d->name);
        goto out;
    }
    if (is_complex(d))
        snprintf(number, sizeof number, component > 0 ? "-im" : "-re");
    else if (components(d) > 1)
        snprintf(number, sizeof number, "-%d", component);
    snprintf(text, sizeof text, "%s%s [%s], cells of %g x %g m", d->name, number, d->unit ? d->unit : "", g->h[0],
             g->h[1]);
    if (e->leads &&
        snprintf(path, sizeof path, "%s%s%s-%06llu.tif", e->tiff, d->name, number, e->step) >= (int)sizeof path) {
        st = bn_fail(ctx, BN_IO, "the path %s... is too long", e->tiff);
        goto out;
    }
    if (e->leads)
        BN_GO(bn_tiff_begin(ctx, path, size, &tiff));
    if (tiff && e->plan->mapped)
        BN_GO(bn_tiff_georeference(tiff, &place));
    for (uint32_t k = 0; k < g->n[2]; k++) {
        BN_GO(bn_field_sampler_values(ctx, e, which, component, &(bn_region){ { 0, 0, k }, { g->n[0], g->n[1], 1 } }, values));
        sample(e->plan, values, single);
        if (tiff)
            BN_GO(bn_tiff_add(tiff, single, text));
    }
    if (tiff)
        st = bn_tiff_end(&tiff);
out:
    bn_tiff_abort(&tiff);
    free(single);
    free(values);
    return st;
}

bn_mesh bn_field_sampler_mesh(const bn_field_sampler *e, bn_mesh_array *arrays)
{
    const bn_grid *g = &e->plan->grid;
    bn_mesh m = { .dims = g->dims,
                  .time = e->time,
                  .dt = e->dt,
                  .nodes = g->nodes,
                  .step = e->step,
                  .arrays = arrays,
                  .software = "binnacle",
                  .version = bn_version() };
    for (int k = 0; k < 3; k++) {
        m.n[k] = g->n[k];
        m.h[k] = g->h[k];
        m.origin[k] = g->origin[k];
    }
    for (size_t i = 0; i < e->count; i++) {
        const bn_field_desc *d = &e->plan->fields[e->field[i]];
        if (exported(d))
            arrays[m.count++] = (bn_mesh_array){ .name = d->name,
                                                 .unit = d->unit,
                                                 .values = e->data ? e->data[i] : NULL,
                                                 .components = components(d),
                                                 .is_complex = is_complex(d),
                                                 .wide = e->plan->precision == BN_DOUBLE };
    }
    return m;
}

bn_status bn_field_sampler_write(bn_context *ctx, const bn_field_sampler *e)
{
    for (size_t i = 0; e->tiff && i < e->count; i++)
        for (int c = 0; exported(&e->plan->fields[e->field[i]]) && c < components(&e->plan->fields[e->field[i]]); c++)
            BN_TRY(write_tiff(ctx, e, i, c));
    if (!e->hdf5)
        return BN_OK;
    bn_mesh_array arrays[BN_PLAN_FIELDS];
    const bn_mesh m = bn_field_sampler_mesh(e, arrays);
    return bn_hdf5_write(ctx, e->hdf5, &m);
}
