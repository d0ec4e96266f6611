/* ugrid_read.c: layers of cells over time, which this program wrote as UGRID, as images (field_file.h). */
#include "io/field_file.h"
#include "io/netcdf_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 96, PREFIX = sizeof "mesh2d_" - 1 };

typedef struct layer {
    bn_context *ctx;
    const char *path;
    bn_netcdf *nc;
    size_t faces, which;
    double *x, *y;
    size_t *at; /* where each face is in the image */
    bn_vtk_array *arrays;
} layer;

static bn_status refuse(const layer *l)
{
    return bn_fail(l->ctx, BN_IO, "cannot read %s: no layer of cells that this program wrote", l->path);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The smallest distance between different values; 0: they are all the same. */
static double spacing(const double *values, size_t count, double *sorted)
{
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    const double size = sorted[count - 1] - sorted[0];
    double least = size;
    for (size_t i = 1; i < count; i++) {
        const double step = sorted[i] - sorted[i - 1];
        least = step > 1e-6 * size && step < least ? step : least;
    }
    return least;
}

/* Lattice of the faces' middles: those of hexagons stand at half cells along x. */
static bn_status find_lattice(layer *l, bool hexagons, bn_vtk_image *out)
{
    double *sorted = malloc(l->faces * sizeof *sorted), least[2] = { HUGE_VAL, HUGE_VAL };
    if (!sorted)
        return bn_fail(l->ctx, BN_MEMORY, "no memory for the cells of %s", l->path);
    const double dx = spacing(l->x, l->faces, sorted), dy = spacing(l->y, l->faces, sorted);
    free(sorted);
    *out = (bn_vtk_image){ .dims = 2, .n = { 1, 1, 1 }, .h = { 1, 1, 1 }, .hexagons = hexagons, .arrays = l->arrays };
    out->h[0] = !(dx > 0) ? 1 : hexagons && dy > 0 ? 2 * dx : dx;
    out->h[1] = dy > 0 ? dy : 1;
    for (size_t f = 0; f < l->faces; f++)
        least[1] = fmin(least[1], l->y[f]);
    for (int pass = 0; pass < 2; pass++) /* the first column, then the places */
        for (size_t f = 0; f < l->faces; f++) {
            const double j = round((l->y[f] - least[1]) / out->h[1]);
            const double row_x = l->x[f] - (hexagons && fmod(j, 2) > 0.5 ? 0.5 * out->h[0] : 0);
            const double i = round((row_x - least[0]) / out->h[0]);
            if (pass == 0) {
                least[0] = fmin(least[0], row_x);
                continue;
            }
            if (!(i >= 0 && i < 1e6 && j >= 0 && j < 1e6))
                return refuse(l);
            out->n[0] = i >= out->n[0] ? (uint32_t)i + 1 : out->n[0];
            out->n[1] = j >= out->n[1] ? (uint32_t)j + 1 : out->n[1];
            l->x[f] = i; /* from here on indices */
            l->y[f] = j;
        }
    /* A few faces far apart, as a damaged file has them, do not make a large image. */
    if ((uint64_t)out->n[0] * out->n[1] > (1u << 20) + 256 * (uint64_t)l->faces)
        return refuse(l);
    for (size_t f = 0; f < l->faces; f++)
        l->at[f] = (size_t)l->y[f] * out->n[0] + (size_t)l->x[f];
    out->origin[0] = least[0] - 0.5 * out->h[0];
    out->origin[1] = least[1] - 0.5 * out->h[1];
    return BN_OK;
}

/* A variable of faces; "_x" and "_y" stay two arrays. */
static bn_status add_array(layer *l, int variable, const bn_netcdf_info *v, bn_vtk_image *out)
{
    const size_t cells = (size_t)out->n[0] * out->n[1];
    float *face = malloc(l->faces * sizeof *face);
    double *values = malloc(cells * sizeof *values);
    bn_vtk_array *a = &l->arrays[out->count];
    *a = (bn_vtk_array){ .name = strdup(v->name + PREFIX),
                         .unit = strdup(strcmp(v->unit, "1") == 0 ? "" : v->unit),
                         .type = "Float64",
                         .components = 1,
                         .data = values };
    out->count++;
    if (!face || !values || !a->name || !a->unit) {
        free(face);
        return bn_fail(l->ctx, BN_MEMORY, "no memory for %s of %s", v->name, l->path);
    }
    for (size_t i = 0; i < cells; i++)
        values[i] = (double)NAN;
    bn_netcdf_get(l->nc, variable, l->which, 0, l->faces, face);
    for (size_t f = 0; f < l->faces; f++)
        values[l->at[f]] = (double)face[f];
    free(face);
    return BN_OK;
}

static bn_status open_layer(layer *l)
{
    if (!(l->nc = bn_netcdf_open(l->path)))
        return refuse(l);
    const int x = bn_netcdf_find(l->nc, "mesh2d_face_x"), y = bn_netcdf_find(l->nc, "mesh2d_face_y"),
              time = bn_netcdf_find(l->nc, "time"), ring = bn_netcdf_find(l->nc, "mesh2d_face_nodes");
    if (x < 0 || y < 0 || time < 0 || ring < 0 || bn_netcdf_describe(l->nc, x).type != BN_NETCDF_DOUBLE ||
        bn_netcdf_describe(l->nc, y).type != BN_NETCDF_DOUBLE ||
        bn_netcdf_describe(l->nc, time).type != BN_NETCDF_DOUBLE)
        return refuse(l);
    l->faces = bn_netcdf_describe(l->nc, x).count;
    return l->faces > 0 && bn_netcdf_describe(l->nc, y).count == l->faces ? BN_OK : refuse(l);
}

bn_status bn_ugrid_times_of(bn_context *ctx, const char *path, size_t *count)
{
    layer l = { .ctx = ctx, .path = path };
    const bn_status st = open_layer(&l);
    *count = st == BN_OK ? bn_netcdf_records(l.nc) : 0;
    bn_netcdf_close(&l.nc);
    return st;
}

bn_status bn_ugrid_read(bn_context *ctx, const char *path, size_t which, bn_vtk_image *out)
{
    layer l = { .ctx = ctx, .path = path, .which = which };
    bn_status st = BN_OK;
    *out = (bn_vtk_image){ 0 };
    BN_GO(open_layer(&l));
    if (which >= bn_netcdf_records(l.nc))
        BN_GO(bn_fail(ctx, BN_IO, "%s has %zu times, not %zu", path, bn_netcdf_records(l.nc), which + 1));
    l.x = malloc(l.faces * sizeof *l.x);
    l.y = malloc(l.faces * sizeof *l.y);
    l.at = malloc(l.faces * sizeof *l.at);
    l.arrays = calloc((size_t)bn_netcdf_variables(l.nc), sizeof *l.arrays);
    if (!l.x || !l.y || !l.at || !l.arrays)
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for the cells of %s", path));
    bn_netcdf_get(l.nc, bn_netcdf_find(l.nc, "mesh2d_face_x"), 0, 0, l.faces, l.x);
    bn_netcdf_get(l.nc, bn_netcdf_find(l.nc, "mesh2d_face_y"), 0, 0, l.faces, l.y);
    if (bn_netcdf_error(l.nc)) { /* before what was not read is sorted */
        st = bn_fail(ctx, BN_IO, "cannot read %s: %s", path, strerror(bn_netcdf_error(l.nc)));
        goto out;
    }
    const size_t corners = bn_netcdf_describe(l.nc, bn_netcdf_find(l.nc, "mesh2d_face_nodes")).count;
    BN_GO(find_lattice(&l, corners == 6 * l.faces, out));
    bn_netcdf_get(l.nc, bn_netcdf_find(l.nc, "time"), which, 0, 1, &out->time);
    for (int v = 0; v < bn_netcdf_variables(l.nc); v++) {
        const bn_netcdf_info info = bn_netcdf_describe(l.nc, v);
        if (info.type == BN_NETCDF_FLOAT && info.count == l.faces && strncmp(info.name, "mesh2d_", PREFIX) == 0)
            BN_GO(add_array(&l, v, &info, out));
    }
    if (bn_netcdf_error(l.nc))
        st = bn_fail(ctx, BN_IO, "cannot read %s: %s", path, strerror(bn_netcdf_error(l.nc)));
out:
    bn_netcdf_close(&l.nc);
    free(l.x);
    free(l.y);
    free(l.at);
    if (st != BN_OK && out->arrays)
        bn_vtk_free(out);
    else if (st != BN_OK)
        free(l.arrays);
    return st;
}
