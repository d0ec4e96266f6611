/* ugrid.c: NetCDF files of layers of cells (ugrid.h). Faces and corners of hidden cells are left out; everything is
 * converted in pieces, so that a layer of a million cells takes a few megabytes here. */
#include "io/ugrid.h"

#include "io/file.h"
#include "io/netcdf_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16, FIELDS = 32 };

struct bn_ugrid {
    bn_file *file;
    char *path;
    bn_netcdf *nc;
    bn_cells cells;
    size_t faces, times, fields;
    uint32_t *cell_of; /* of each face */
    int time, step, variable[FIELDS][2], components[FIELDS];
    bool once[FIELDS];
    float *piece;
};

/* The first failure of the file, if there was one. */
static bn_status state_of(bn_context *ctx, const bn_ugrid *u)
{
    const int error = bn_netcdf_error(u->nc);
    if (error == ENOMEM)
        return bn_fail(ctx, BN_MEMORY, "no memory for the mesh of %s", u->path);
    return error == 0 ? BN_OK : bn_fail(ctx, BN_IO, "cannot write %s: %s", u->path, strerror(error));
}

static int define_coordinate(bn_netcdf *nc, int dim, const char *name, char axis, const char *of)
{
    char text[64];
    const int variable = bn_netcdf_variable(nc, name, BN_NETCDF_DOUBLE, 1, &dim);
    bn_netcdf_text(nc, variable, "units", "m");
    snprintf(text, sizeof text, "projection_%c_coordinate", axis);
    bn_netcdf_text(nc, variable, "standard_name", text);
    snprintf(text, sizeof text, "%c of %s", axis, of);
    bn_netcdf_text(nc, variable, "long_name", text);
    return variable;
}

static void define_mesh(bn_netcdf *nc, const int dims[3], int place[4], int *ring)
{
    const int mesh = bn_netcdf_variable(nc, "mesh2d", BN_NETCDF_INT, 0, NULL);
    bn_netcdf_text(nc, mesh, "cf_role", "mesh_topology");
    bn_netcdf_text(nc, mesh, "long_name", "cells of the floor");
    bn_netcdf_number(nc, mesh, "topology_dimension", 2);
    bn_netcdf_text(nc, mesh, "node_coordinates", "mesh2d_node_x mesh2d_node_y");
    bn_netcdf_text(nc, mesh, "face_coordinates", "mesh2d_face_x mesh2d_face_y");
    bn_netcdf_text(nc, mesh, "face_node_connectivity", "mesh2d_face_nodes");
    bn_netcdf_text(nc, mesh, "face_dimension", "mesh2d_nFaces");
    place[0] = define_coordinate(nc, dims[0], "mesh2d_node_x", 'x', "corners");
    place[1] = define_coordinate(nc, dims[0], "mesh2d_node_y", 'y', "corners");
    place[2] = define_coordinate(nc, dims[1], "mesh2d_face_x", 'x', "middles of cells");
    place[3] = define_coordinate(nc, dims[1], "mesh2d_face_y", 'y', "middles of cells");
    *ring = bn_netcdf_variable(nc, "mesh2d_face_nodes", BN_NETCDF_INT, 2, &dims[1]);
    bn_netcdf_text(nc, *ring, "cf_role", "face_node_connectivity");
    bn_netcdf_text(nc, *ring, "long_name", "corners of each cell, counter-clockwise");
    bn_netcdf_number(nc, *ring, "start_index", 0);
    bn_netcdf_number(nc, *ring, "_FillValue", -1);
}

/* The coordinate system by its code, as the CF conventions and MDAL look for it. */
static void define_system(bn_netcdf *nc, int epsg)
{
    char text[32];
    if (epsg <= 0)
        return;
    snprintf(text, sizeof text, "EPSG:%d", epsg);
    const int system = bn_netcdf_variable(nc, "projected_coordinate_system", BN_NETCDF_INT, 0, NULL);
    bn_netcdf_number(nc, system, "epsg", epsg);
    bn_netcdf_text(nc, system, "EPSG_code", text);
}

static void define_field(bn_ugrid *u, size_t which, const bn_ugrid_field *f, int times, int faces, int epsg)
{
    const int dims[2] = { times, faces };
    u->components[which] = f->components;
    u->once[which] = f->once;
    for (int c = 0; c < f->components && c < 2; c++) {
        char name[80], text[80];
        snprintf(name, sizeof name, "mesh2d_%s%s", f->name, f->components == 1 ? "" : c == 0 ? "_x" : "_y");
        /* MDAL makes one vector of two variables that are called so. */
        snprintf(text, sizeof text, "%s%s", f->name,
                 f->components == 1 ? ""
                 : c == 0           ? ", x-component"
                                    : ", y-component");
        const int v = bn_netcdf_variable(u->nc, name, BN_NETCDF_FLOAT, f->once ? 1 : 2, f->once ? &dims[1] : dims);
        bn_netcdf_text(u->nc, v, "long_name", text);
        bn_netcdf_text(u->nc, v, "units", f->unit && f->unit[0] ? f->unit : "1");
        bn_netcdf_text(u->nc, v, "mesh", "mesh2d");
        bn_netcdf_text(u->nc, v, "location", "face");
        bn_netcdf_text(u->nc, v, "coordinates", "mesh2d_face_x mesh2d_face_y");
        if (epsg > 0)
            bn_netcdf_text(u->nc, v, "grid_mapping", "projected_coordinate_system");
        u->variable[which][c] = v;
    }
}

/* Corners that faces use get numbers in their order; *count: how many. */
static int32_t *number_corners(const bn_ugrid *u, size_t *count)
{
    const size_t all = bn_cells_corners(&u->cells);
    int32_t *number = calloc(all, sizeof *number);
    size_t ring[6];
    *count = 0;
    for (size_t f = 0; number && f < u->faces; f++) {
        bn_cells_ring(&u->cells, u->cell_of[f] % u->cells.n[0], u->cell_of[f] / u->cells.n[0], ring);
        for (int k = 0; k < bn_cells_edges(&u->cells); k++)
            number[ring[k]] = 1;
    }
    for (size_t at = 0; number && at < all; at++)
        number[at] = number[at] ? (int32_t)(*count)++ : -1;
    return number;
}

static bool write_corners(const bn_ugrid *u, const int32_t *number, const int place[4])
{
    const size_t all = bn_cells_corners(&u->cells);
    size_t held = 0, done = 0;
    double *x = malloc(2 * PIECE * sizeof *x);
    for (size_t at = 0; x && at < all; at++) {
        double y[2];
        if (number[at] >= 0) {
            bn_cells_corner(&u->cells, at, y);
            x[held] = y[0];
            x[PIECE + held++] = y[1];
        }
        if (held == PIECE || (held > 0 && at + 1 == all)) {
            bn_netcdf_put(u->nc, place[0], 0, done, held, x);
            bn_netcdf_put(u->nc, place[1], 0, done, held, x + PIECE);
            done += held;
            held = 0;
        }
    }
    free(x);
    return x != NULL;
}

static bool write_faces(const bn_ugrid *u, const int32_t *number, const int place[4], int rings)
{
    const size_t edges = (size_t)bn_cells_edges(&u->cells);
    double *x = malloc(2 * PIECE * sizeof *x);
    int32_t *corner = malloc(PIECE * edges * sizeof *corner);
    const bool good = x && corner;
    for (size_t f = 0; good && f < u->faces; f += PIECE) {
        const size_t count = u->faces - f < PIECE ? u->faces - f : PIECE;
        for (size_t k = 0; k < count; k++) {
            const uint32_t cell = u->cell_of[f + k], i = cell % u->cells.n[0], j = cell / u->cells.n[0];
            double y[2];
            size_t ring[6];
            bn_cells_middle(&u->cells, i, j, y);
            x[k] = y[0];
            x[PIECE + k] = y[1];
            bn_cells_ring(&u->cells, i, j, ring);
            for (size_t e = 0; e < edges; e++)
                corner[k * edges + e] = number[ring[e]];
        }
        bn_netcdf_put(u->nc, place[2], 0, f, count, x);
        bn_netcdf_put(u->nc, place[3], 0, f, count, x + PIECE);
        bn_netcdf_put(u->nc, rings, 0, f * edges, count * edges, corner);
    }
    free(x);
    free(corner);
    return good;
}

static void define_all(bn_ugrid *u, const bn_ugrid_desc *d, size_t corners, int place[4], int *rings)
{
    const int dims[3] = { bn_netcdf_dimension(u->nc, "mesh2d_nNodes", corners),
                          bn_netcdf_dimension(u->nc, "mesh2d_nFaces", u->faces),
                          bn_netcdf_dimension(u->nc, "mesh2d_nMax_face_nodes", (size_t)bn_cells_edges(&u->cells)) };
    const int times = bn_netcdf_dimension(u->nc, "time", 0);
    bn_netcdf_text(u->nc, BN_NETCDF_GLOBAL, "Conventions", "CF-1.8 UGRID-1.0");
    bn_netcdf_text(u->nc, BN_NETCDF_GLOBAL, "title", d->title && d->title[0] ? d->title : "flood");
    bn_netcdf_text(u->nc, BN_NETCDF_GLOBAL, "source", d->source);
    define_mesh(u->nc, dims, place, rings);
    define_system(u->nc, d->epsg);
    u->time = bn_netcdf_variable(u->nc, "time", BN_NETCDF_DOUBLE, 1, &times);
    bn_netcdf_text(u->nc, u->time, "standard_name", "time");
    bn_netcdf_text(u->nc, u->time, "long_name", "simulated time");
    bn_netcdf_text(u->nc, u->time, "units", "seconds since 2000-01-01 00:00:00");
    u->step = bn_netcdf_variable(u->nc, "step", BN_NETCDF_INT, 1, &times);
    bn_netcdf_text(u->nc, u->step, "long_name", "step of the run");
    for (size_t i = 0; i < d->count; i++)
        define_field(u, i, &d->fields[i], times, dims[1], d->epsg);
    bn_netcdf_begin(u->nc);
}

static bn_status begin(bn_context *ctx, bn_ugrid *u, const bn_ugrid_desc *d)
{
    int place[4], rings = 0;
    size_t corners;
    const size_t cells = (size_t)d->cells.n[0] * d->cells.n[1];
    for (size_t at = 0; at < cells; at++)
        if (!d->hidden || !d->hidden[at])
            u->cell_of[u->faces++] = (uint32_t)at;
    if (u->faces == 0)
        return bn_fail(ctx, BN_USAGE, "cannot write %s: no cell is left for the mesh", u->path);
    int32_t *number = number_corners(u, &corners);
    u->nc = bn_netcdf_create(fileno(bn_file_stream(u->file)));
    bool good = number && u->nc;
    if (good) {
        define_all(u, d, corners, place, &rings);
        good = write_corners(u, number, place) && write_faces(u, number, place, rings);
    }
    free(number);
    return good ? state_of(ctx, u) : bn_fail(ctx, BN_MEMORY, "no memory for the mesh of %s", u->path);
}

bn_status bn_ugrid_create(bn_context *ctx, const char *path, const bn_ugrid_desc *d, bn_ugrid **out)
{
    const size_t cells = (size_t)d->cells.n[0] * d->cells.n[1];
    bn_status st = BN_OK;
    bn_ugrid *u = *out = calloc(1, sizeof *u);
    if (!u)
        return bn_fail(ctx, BN_MEMORY, "no memory for the mesh of %s", path);
    if (d->count > FIELDS || bn_cells_corners(&d->cells) > INT32_MAX)
        st = bn_fail(ctx, BN_USAGE, "cannot write %s: %zu fields or %zu cells are too many", path, d->count, cells);
    else if (!(u->path = strdup(path)) || !(u->cell_of = malloc(cells * sizeof *u->cell_of)) ||
             !(u->piece = malloc(PIECE * sizeof *u->piece)))
        st = bn_fail(ctx, BN_MEMORY, "no memory for the mesh of %s", path);
    if (st == BN_OK) {
        u->cells = d->cells;
        u->fields = d->count;
        st = bn_file_begin(ctx, path, &u->file);
    }
    if (st == BN_OK)
        st = begin(ctx, u, d);
    if (st != BN_OK)
        bn_ugrid_abort(out);
    return st;
}

static void write_field(bn_ugrid *u, size_t which, bn_ugrid_value *value, const void *data)
{
    for (int c = 0; c < u->components[which]; c++)
        for (size_t f = 0; f < u->faces && bn_netcdf_error(u->nc) == 0; f += PIECE) {
            const size_t count = u->faces - f < PIECE ? u->faces - f : PIECE;
            for (size_t k = 0; k < count; k++)
                u->piece[k] = (float)value(data, which, c, u->cell_of[f + k]);
            bn_netcdf_put(u->nc, u->variable[which][c], u->times, f, count, u->piece);
        }
}

bn_status bn_ugrid_add(bn_context *ctx, bn_ugrid *u, double time, unsigned long long step, bn_ugrid_value *value,
                       const void *data)
{
    const int32_t number = step > INT32_MAX ? INT32_MAX : (int32_t)step;
    bn_netcdf_put(u->nc, u->time, u->times, 0, 1, &time);
    bn_netcdf_put(u->nc, u->step, u->times, 0, 1, &number);
    for (size_t i = 0; i < u->fields; i++)
        write_field(u, i, value, data);
    bn_netcdf_count(u->nc, ++u->times);
    return state_of(ctx, u);
}

size_t bn_ugrid_times(const bn_ugrid *u) { return u->times; }

/* Copies what fields over time have at one of the times of another file; variables of both files have the same numbers.
 */
static void copy_time(bn_ugrid *u, bn_netcdf *old, size_t from)
{
    int32_t step = 0;
    double time = 0;
    bn_netcdf_get(old, u->time, from, 0, 1, &time);
    bn_netcdf_get(old, u->step, from, 0, 1, &step);
    bn_netcdf_put(u->nc, u->time, u->times, 0, 1, &time);
    bn_netcdf_put(u->nc, u->step, u->times, 0, 1, &step);
    for (size_t i = 0; i < u->fields; i++)
        for (int c = 0; c < u->components[i] && !u->once[i]; c++)
            for (size_t f = 0; f < u->faces && bn_netcdf_error(old) == 0; f += PIECE) {
                const size_t count = u->faces - f < PIECE ? u->faces - f : PIECE;
                bn_netcdf_get(old, u->variable[i][c], from, f, count, u->piece);
                bn_netcdf_put(u->nc, u->variable[i][c], u->times, f, count, u->piece);
            }
    if (bn_netcdf_error(old) == 0)
        bn_netcdf_count(u->nc, ++u->times);
}

bn_status bn_ugrid_take_up(bn_context *ctx, bn_ugrid *u, const unsigned long long *steps, size_t count)
{
    bn_netcdf *old = bn_netcdf_open(u->path);
    if (!old)
        return BN_OK;
    const bool same = bn_netcdf_alike(old, u->nc);
    for (size_t t = 0; same && t < bn_netcdf_records(old); t++) {
        int32_t step = -1;
        bool wanted = false;
        bn_netcdf_get(old, u->step, t, 0, 1, &step);
        for (size_t k = 0; k < count; k++)
            wanted = wanted || (step >= 0 && (unsigned long long)step == steps[k]);
        if (wanted)
            copy_time(u, old, t);
    }
    const int error = bn_netcdf_error(old);
    bn_netcdf_close(&old);
    return error == 0 ? state_of(ctx, u) : bn_fail(ctx, BN_IO, "cannot read %s: %s", u->path, strerror(error));
}

bn_status bn_ugrid_close(bn_context *ctx, bn_ugrid **file)
{
    bn_ugrid *u = *file;
    bn_status st = state_of(ctx, u);
    if (st == BN_OK)
        st = bn_file_commit(&u->file);
    bn_ugrid_abort(file);
    return st;
}

void bn_ugrid_abort(bn_ugrid **file)
{
    bn_ugrid *u = *file;
    if (!u)
        return;
    bn_netcdf_close(&u->nc);
    bn_file_abort(&u->file);
    free(u->path);
    free(u->cell_of);
    free(u->piece);
    free(u);
    *file = NULL;
}
