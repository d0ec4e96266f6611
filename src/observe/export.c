/* export.c: fields to TIFF, a file for each component, and to one HDF5 file. */
#include "observe/export.h"

#include "io/volume.h"
#include "sim/sim_parts.h"

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
static bn_status together(bn_context *ctx, const bn_export *e, size_t which, int component, const bn_region *r,
                          double *values)
{
    const bn_field_desc *d = &e->plan->fields[e->field[which]];
    const size_t pair = d->type == BN_T_REAL2 ? 2 : 1, points = bn_region_points(r);
    const size_t bytes = points * pair * (e->plan->precision == BN_DOUBLE ? sizeof(double) : sizeof(float));
    void *own = malloc(bytes);
    if (!own)
        return bn_fail(ctx, BN_MEMORY, "no memory for %s", d->name);
    const bn_status st = bn_field_read_part(bn_sim_field(e->sim, d->name), component / (int)pair, 1, r, own, bytes);
    for (size_t i = 0; i < points && st == BN_OK; i++)
        values[i] = number(e->plan, own, i * pair + (size_t)component % pair);
    free(own);
    return st;
}

bn_status bn_export_values(bn_context *ctx, const bn_export *e, size_t which, int component, const bn_region *r,
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

static bn_status write_tiff(bn_context *ctx, const bn_export *e, size_t which, int component)
{
    const bn_field_desc *d = &e->plan->fields[e->field[which]];
    const bn_grid *g = &e->plan->grid;
    const size_t points = (size_t)g->n[0] * g->n[1];
    bn_status st = BN_OK;
    bn_tiff *tiff = NULL;
    char path[4096], text[256], number[16] = "";
    float *single = malloc(points * sizeof *single);
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
        BN_GO(bn_tiff_begin(ctx, path, g->n, &tiff));
    for (uint32_t k = 0; k < g->n[2]; k++) {
        BN_GO(bn_export_values(ctx, e, which, component, &(bn_region){ { 0, 0, k }, { g->n[0], g->n[1], 1 } }, values));
        for (size_t i = 0; i < points; i++)
            single[i] = (float)values[i];
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

bn_mesh bn_export_mesh(const bn_export *e, bn_mesh_array *arrays)
{
    const bn_grid *g = &e->plan->grid;
    bn_mesh m = { .dims = g->dims,
                  .time = e->time,
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

bn_status bn_export_write(bn_context *ctx, const bn_export *e)
{
    for (size_t i = 0; e->tiff && i < e->count; i++)
        for (int c = 0; exported(&e->plan->fields[e->field[i]]) && c < components(&e->plan->fields[e->field[i]]); c++)
            BN_TRY(write_tiff(ctx, e, i, c));
    if (!e->hdf5)
        return BN_OK;
    bn_mesh_array arrays[BN_PLAN_FIELDS];
    const bn_mesh m = bn_export_mesh(e, arrays);
    return bn_hdf5_write(ctx, e->hdf5, &m);
}
