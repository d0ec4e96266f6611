/* export.c: fields to TIFF, a file for each component, and to one HDF5 file. */
#include "observe/export.h"

#include "io/volume.h"

#include <stdio.h>
#include <stdlib.h>

static bool exported(const bn_field_desc *d)
{
    return d->type == BN_T_REAL && (d->role & BN_OUTPUT) && !(d->role & BN_INTERLEAVED);
}

static int components(const bn_field_desc *d) { return d->components > 0 ? d->components : 1; }

static bn_status write_tiff(bn_context *ctx, const bn_export *e, const bn_field_desc *d, const void *data)
{
    const bn_grid *g = &e->plan->grid;
    const size_t points = (size_t)g->n[0] * g->n[1] * g->n[2];
    const bool wide = e->plan->precision == BN_DOUBLE;
    bn_status st = BN_OK;
    float *single = wide ? malloc(points * sizeof *single) : NULL;
    char path[4096], text[256];
    if (wide && !single)
        return bn_fail(ctx, BN_MEMORY, "no memory to write %s as TIFF", d->name);
    for (int c = 0; c < components(d) && st == BN_OK; c++) {
        char number[16] = "";
        if (components(d) > 1)
            snprintf(number, sizeof number, "-%d", c);
        snprintf(text, sizeof text, "%s%s [%s], cells of %g x %g m", d->name, number, d->unit ? d->unit : "", g->h[0],
                 g->h[1]);
        for (size_t i = 0; wide && i < points; i++)
            single[i] = (float)((const double *)data)[(size_t)c * points + i];
        if (snprintf(path, sizeof path, "%s%s%s-%06llu.tif", e->tiff, d->name, number, e->step) >= (int)sizeof path)
            st = bn_fail(ctx, BN_IO, "the path %s... is too long", e->tiff);
        else
            st = bn_tiff_write(ctx, path, g->n, wide ? single : (const float *)data + (size_t)c * points, text);
    }
    free(single);
    return st;
}

static bn_status write_hdf5(bn_context *ctx, const bn_export *e)
{
    const bn_grid *g = &e->plan->grid;
    bn_mesh_array arrays[BN_PLAN_FIELDS];
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
                                                 .values = e->data[i],
                                                 .components = components(d),
                                                 .wide = e->plan->precision == BN_DOUBLE };
    }
    return bn_hdf5_write(ctx, e->hdf5, &m);
}

bn_status bn_export_write(bn_context *ctx, const bn_export *e)
{
    for (size_t i = 0; e->tiff && i < e->count; i++)
        if (exported(&e->plan->fields[e->field[i]]))
            BN_TRY(write_tiff(ctx, e, &e->plan->fields[e->field[i]], e->data[i]));
    return e->hdf5 ? write_hdf5(ctx, e) : BN_OK;
}
