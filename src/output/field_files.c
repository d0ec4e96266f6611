/* field_files.c: fields of one output time as VTK, TIFF and HDF5 describe them. */
#include "output/field_files.h"

#include "sim/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_complex(const bn_field_desc *d) { return d->type == BN_T_REAL2; }

/* Complex vectors are not written: their norms are fields of their own. */
static bool exported(const bn_field_desc *d)
{
    return (d->type == BN_T_REAL || (is_complex(d) && d->components <= 1)) && (d->role & BN_OUTPUT) &&
           !(d->role & BN_INTERLEAVED);
}

static int components(const bn_field_desc *d) { return is_complex(d) ? 2 : d->components > 0 ? d->components : 1; }

static const char *vtk_type(const bn_plan *p, bn_type type)
{
    switch (type) {
    case BN_T_I32: return "Int32";
    case BN_T_I64: return "Int64";
    case BN_T_U8: return "UInt8";
    default: return p->precision == BN_DOUBLE ? "Float64" : "Float32";
    }
}

static bool hexagons(const bn_plan *p) { return p->grid.kind == BN_HEXAGONAL && !p->grid.nodes; }
static bool uneven(const bn_grid *g) { return g->place[0] || g->place[1] || g->place[2]; }
const char *bn_field_vtk_ending(const bn_plan *p) { return hexagons(p) ? "vtu" : uneven(&p->grid) ? "vtr" : "vti"; }

static bool is_of(const bn_field_desc *d, bool volume) { return volume == ((d->role & BN_VOLUME) != 0); }

bn_vtk_image bn_field_image(const bn_field_sampler *e, bool volume, bn_vtk_array *arrays)
{
    const bn_grid *g = volume ? &e->plan->volume : &e->plan->grid;
    size_t count = 0;
    for (size_t i = 0; i < e->count; i++) {
        const bn_field_desc *d = &e->plan->fields[e->field[i]];
        if ((d->role & BN_OUTPUT) && is_of(d, volume))
            arrays[count++] = (bn_vtk_array){
                .name = d->name,
                .unit = d->unit,
                .type = vtk_type(e->plan, d->type),
                .components = (d->components > 0 ? d->components : 1) * (d->type == BN_T_REAL2 ? 2 : 1),
                .data = e->data ? e->data[i] : NULL,
            };
    }
    bn_vtk_image image = { .dims = g->dims,
                           .nodes = g->nodes,
                           .time = e->time,
                           .arrays = arrays,
                           .count = count,
                           .title = e->title,
                           .hexagons = !volume && hexagons(e->plan) };
    for (int k = 0; k < 3; k++) {
        image.n[k] = g->n[k];
        image.h[k] = g->h[k];
        image.place[k] = g->place[k];
        image.origin[k] = g->origin[k] - (g->nodes || k >= g->dims ? 0 : 0.5 * g->h[k]); /* the cell's corner */
    }
    if (image.hexagons) /* the westernmost corner of the first row */
        image.origin[0] = g->origin[0] - 0.5 * g->h[0];
    return image;
}

/* Pixels of a map: rows from the north; hexagons as two pixels each, every odd row shifted by one, NaN at the ends.
 * Without a map the rows as they are. */
static void arrange(const bn_plan *p, const bn_grid *g, const double *values, float *pixels)
{
    const bool halves = p->map.drawn && g->kind == BN_HEXAGONAL;
    const size_t nx = g->n[0], ny = g->n[1], wide = halves ? 2 * nx + 1 : nx;
    for (size_t at = 0; at < wide * ny; at++) {
        const size_t j = p->map.drawn ? ny - 1 - at / wide : at / wide, column = at % wide, shift = halves ? j % 2 : 0;
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
                            .epsg = p->map.epsg };
}

static bn_status write_tiff(bn_context *ctx, const bn_field_sampler *e, const bn_output_dir *folder, size_t which,
                            int component)
{
    const bn_field_desc *d = &e->plan->fields[e->field[which]];
    const bn_grid *g = bn_plan_grid_of(e->plan, d);
    const size_t points = (size_t)g->n[0] * g->n[1];
    const bool halves = e->plan->map.drawn && g->kind == BN_HEXAGONAL;
    const uint32_t size[3] = { halves ? 2 * g->n[0] + 1 : g->n[0], g->n[1], g->n[2] };
    const bn_tiff_place place = place_of(e->plan);
    bn_status st = BN_OK;
    bn_tiff *tiff = NULL;
    char text[256], number[16] = "";
    float *single = malloc((size_t)size[0] * size[1] * sizeof *single);
    double *values = malloc(points * sizeof *values);
    if (!single || !values)
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory to write %s as TIFF", d->name));
    if (is_complex(d))
        snprintf(number, sizeof number, component > 0 ? "-im" : "-re");
    else if (components(d) > 1)
        snprintf(number, sizeof number, "-%d", component);
    snprintf(text, sizeof text, "%s%s [%s], cells of %g x %g m%s", d->name, number, d->unit ? d->unit : "", g->h[0],
             g->h[1], uneven(g) ? " on average: a stretched grid" : "");
    if (e->leads)
        BN_GO(bn_tiff_begin(ctx, bn_output_dir_name(folder, "fields/%s%s-%06llu.tif", d->name, number, e->step).text,
                            size, &tiff));
    if (tiff && e->plan->map.drawn)
        bn_tiff_georeference(tiff, &place);
    for (uint32_t k = 0; k < g->n[2]; k++) {
        const bn_region plane = { { 0, 0, k }, { g->n[0], g->n[1], 1 } };
        BN_GO(bn_field_sampler_values(ctx, e, which, component, &plane, values));
        arrange(e->plan, g, values, single);
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

bn_status bn_field_tiff_write(bn_context *ctx, const bn_field_sampler *e, const bn_output_dir *folder)
{
    for (size_t i = 0; i < e->count; i++)
        for (int c = 0; exported(&e->plan->fields[e->field[i]]) && c < components(&e->plan->fields[e->field[i]]); c++)
            BN_TRY(write_tiff(ctx, e, folder, i, c));
    return BN_OK;
}

bn_mesh bn_field_mesh(const bn_field_sampler *e, bool volume, bn_mesh_array *arrays)
{
    const bn_grid *g = volume ? &e->plan->volume : &e->plan->grid;
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
        m.place[k] = g->place[k];
        m.origin[k] = g->origin[k];
    }
    for (size_t i = 0; i < e->count; i++) {
        const bn_field_desc *d = &e->plan->fields[e->field[i]];
        if (exported(d) && is_of(d, volume))
            arrays[m.count++] = (bn_mesh_array){ .name = d->name,
                                                 .unit = d->unit,
                                                 .values = e->data ? e->data[i] : NULL,
                                                 .components = components(d),
                                                 .is_complex = is_complex(d),
                                                 .wide = e->plan->precision == BN_DOUBLE };
    }
    return m;
}
