/* ugrid.c: NetCDF files of layers of cells (ugrid.h). Faces and corners of hidden cells are left out; everything is
 * converted in pieces, so that a layer of a million cells takes a few megabytes here. The classic format with 64-bit
 * offsets: HDF5 below netCDF-4 crashes at exit when a disk was full. */
#include "io/ugrid.h"

#include "io/file.h"

#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16, FIELDS = 32 };

struct bn_ugrid {
    bn_file *file;
    char *path;
    int nc;
    bool open;
    bn_cells cells;
    size_t faces, times, fields;
    uint32_t *cell_of; /* of each face */
    int time, step, variable[FIELDS][2], components[FIELDS];
    bool once[FIELDS];
    float *piece;
};

/* One call of netCDF after the other; after the first failure none is made. */
#define DO(call)               \
    do {                       \
        if (error == NC_NOERR) \
            error = (call);    \
    } while (0)

static int put_text(int nc, int variable, const char *name, const char *text)
{
    return nc_put_att_text(nc, variable, name, strlen(text), text);
}

static int put_int(int nc, int variable, const char *name, int value)
{
    return nc_put_att_int(nc, variable, name, NC_INT, 1, &value);
}

static bn_status failed(bn_context *ctx, const bn_ugrid *u, int error)
{
    return bn_fail(ctx, BN_IO, "cannot write %s: %s", u->path, nc_strerror(error));
}

static int define_coordinate(int nc, int dim, const char *name, char axis, const char *of, int *variable)
{
    int error = NC_NOERR;
    char text[64];
    DO(nc_def_var(nc, name, NC_DOUBLE, 1, &dim, variable));
    DO(put_text(nc, *variable, "units", "m"));
    snprintf(text, sizeof text, "projection_%c_coordinate", axis);
    DO(put_text(nc, *variable, "standard_name", text));
    snprintf(text, sizeof text, "%c of %s", axis, of);
    DO(put_text(nc, *variable, "long_name", text));
    return error;
}

static int define_mesh(int nc, const int dims[3], int place[4], int *ring)
{
    int error = NC_NOERR, mesh;
    DO(nc_def_var(nc, "mesh2d", NC_INT, 0, NULL, &mesh));
    DO(put_text(nc, mesh, "cf_role", "mesh_topology"));
    DO(put_text(nc, mesh, "long_name", "cells of the floor"));
    DO(put_int(nc, mesh, "topology_dimension", 2));
    DO(put_text(nc, mesh, "node_coordinates", "mesh2d_node_x mesh2d_node_y"));
    DO(put_text(nc, mesh, "face_coordinates", "mesh2d_face_x mesh2d_face_y"));
    DO(put_text(nc, mesh, "face_node_connectivity", "mesh2d_face_nodes"));
    DO(put_text(nc, mesh, "face_dimension", "mesh2d_nFaces"));
    DO(define_coordinate(nc, dims[0], "mesh2d_node_x", 'x', "corners", &place[0]));
    DO(define_coordinate(nc, dims[0], "mesh2d_node_y", 'y', "corners", &place[1]));
    DO(define_coordinate(nc, dims[1], "mesh2d_face_x", 'x', "middles of cells", &place[2]));
    DO(define_coordinate(nc, dims[1], "mesh2d_face_y", 'y', "middles of cells", &place[3]));
    DO(nc_def_var(nc, "mesh2d_face_nodes", NC_INT, 2, &dims[1], ring));
    DO(put_text(nc, *ring, "cf_role", "face_node_connectivity"));
    DO(put_text(nc, *ring, "long_name", "corners of each cell, counter-clockwise"));
    DO(put_int(nc, *ring, "start_index", 0));
    DO(put_int(nc, *ring, "_FillValue", -1));
    return error;
}

/* The coordinate system by its code, as the CF conventions and MDAL look for it. */
static int define_system(int nc, int epsg)
{
    int error = NC_NOERR, system;
    char text[32];
    if (epsg <= 0)
        return error;
    snprintf(text, sizeof text, "EPSG:%d", epsg);
    DO(nc_def_var(nc, "projected_coordinate_system", NC_INT, 0, NULL, &system));
    DO(put_int(nc, system, "epsg", epsg));
    DO(put_text(nc, system, "EPSG_code", text));
    return error;
}

static int define_field(bn_ugrid *u, size_t which, const bn_ugrid_field *f, int times, int faces, int epsg)
{
    int error = NC_NOERR;
    const int dims[2] = { times, faces };
    u->components[which] = f->components;
    u->once[which] = f->once;
    for (int c = 0; c < f->components && c < 2; c++) {
        char name[80], text[80];
        int *v = &u->variable[which][c];
        snprintf(name, sizeof name, "mesh2d_%s%s", f->name, f->components == 1 ? "" : c == 0 ? "_x" : "_y");
        /* MDAL makes one vector of two variables that are called so. */
        snprintf(text, sizeof text, "%s%s", f->name,
                 f->components == 1 ? ""
                 : c == 0           ? ", x-component"
                                    : ", y-component");
        DO(nc_def_var(u->nc, name, NC_FLOAT, f->once ? 1 : 2, f->once ? &dims[1] : dims, v));
        DO(put_text(u->nc, *v, "long_name", text));
        DO(put_text(u->nc, *v, "units", f->unit && f->unit[0] ? f->unit : "1"));
        DO(put_text(u->nc, *v, "mesh", "mesh2d"));
        DO(put_text(u->nc, *v, "location", "face"));
        DO(put_text(u->nc, *v, "coordinates", "mesh2d_face_x mesh2d_face_y"));
        if (epsg > 0)
            DO(put_text(u->nc, *v, "grid_mapping", "projected_coordinate_system"));
    }
    return error;
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

static int write_corners(const bn_ugrid *u, const int32_t *number, const int place[4])
{
    int error = NC_NOERR;
    const size_t all = bn_cells_corners(&u->cells);
    size_t held = 0, done = 0;
    double *x = malloc(2 * PIECE * sizeof *x);
    if (!x)
        return NC_ENOMEM;
    for (size_t at = 0; at < all; at++) {
        double y[2];
        if (number[at] >= 0) {
            bn_cells_corner(&u->cells, at, y);
            x[held] = y[0];
            x[PIECE + held++] = y[1];
        }
        if (held == PIECE || (held > 0 && at + 1 == all)) {
            DO(nc_put_vara_double(u->nc, place[0], &done, &held, x));
            DO(nc_put_vara_double(u->nc, place[1], &done, &held, x + PIECE));
            done += held;
            held = 0;
        }
    }
    free(x);
    return error;
}

static int write_faces(const bn_ugrid *u, const int32_t *number, const int place[4], int rings)
{
    int error = NC_NOERR;
    const size_t edges = (size_t)bn_cells_edges(&u->cells);
    double *x = malloc(2 * PIECE * sizeof *x);
    int *corner = malloc(PIECE * edges * sizeof *corner);
    if (!x || !corner)
        error = NC_ENOMEM;
    for (size_t f = 0; error == NC_NOERR && f < u->faces; f += PIECE) {
        const size_t count = u->faces - f < PIECE ? u->faces - f : PIECE, at[2] = { f, 0 }, size[2] = { count, edges };
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
        DO(nc_put_vara_double(u->nc, place[2], &f, &count, x));
        DO(nc_put_vara_double(u->nc, place[3], &f, &count, x + PIECE));
        DO(nc_put_vara_int(u->nc, rings, at, size, corner));
    }
    free(x);
    free(corner);
    return error;
}

static int define_all(bn_ugrid *u, const bn_ugrid_desc *d, size_t corners, int place[4], int *rings)
{
    int error = NC_NOERR, dims[3], times;
    DO(nc_def_dim(u->nc, "mesh2d_nNodes", corners, &dims[0]));
    DO(nc_def_dim(u->nc, "mesh2d_nFaces", u->faces, &dims[1]));
    DO(nc_def_dim(u->nc, "mesh2d_nMax_face_nodes", (size_t)bn_cells_edges(&u->cells), &dims[2]));
    DO(nc_def_dim(u->nc, "time", NC_UNLIMITED, &times));
    DO(put_text(u->nc, NC_GLOBAL, "Conventions", "CF-1.8 UGRID-1.0"));
    DO(put_text(u->nc, NC_GLOBAL, "title", d->title && d->title[0] ? d->title : "flood"));
    DO(put_text(u->nc, NC_GLOBAL, "source", d->source));
    DO(define_mesh(u->nc, dims, place, rings));
    DO(define_system(u->nc, d->epsg));
    DO(nc_def_var(u->nc, "time", NC_DOUBLE, 1, &times, &u->time));
    DO(put_text(u->nc, u->time, "standard_name", "time"));
    DO(put_text(u->nc, u->time, "long_name", "simulated time"));
    DO(put_text(u->nc, u->time, "units", "seconds since 2000-01-01 00:00:00"));
    DO(nc_def_var(u->nc, "step", NC_INT, 1, &times, &u->step));
    DO(put_text(u->nc, u->step, "long_name", "step of the run"));
    for (size_t i = 0; i < d->count; i++)
        DO(define_field(u, i, &d->fields[i], times, dims[1], d->epsg));
    DO(nc_enddef(u->nc));
    return error;
}

static bn_status begin(bn_context *ctx, bn_ugrid *u, const bn_ugrid_desc *d)
{
    int place[4], rings = 0, error;
    size_t corners;
    const size_t cells = (size_t)d->cells.n[0] * d->cells.n[1];
    for (size_t at = 0; at < cells; at++)
        if (!d->hidden || !d->hidden[at])
            u->cell_of[u->faces++] = (uint32_t)at;
    if (u->faces == 0)
        return bn_fail(ctx, BN_USAGE, "cannot write %s: no cell is left for the mesh", u->path);
    int32_t *number = number_corners(u, &corners);
    if (!number)
        return bn_fail(ctx, BN_MEMORY, "no memory for the mesh of %s", u->path);
    int before;
    error = nc_create(bn_file_name(u->file), NC_64BIT_OFFSET | NC_CLOBBER, &u->nc);
    u->open = error == NC_NOERR;
    DO(nc_set_fill(u->nc, NC_NOFILL, &before)); /* every value is written */
    DO(define_all(u, d, corners, place, &rings));
    DO(write_corners(u, number, place));
    DO(write_faces(u, number, place, rings));
    free(number);
    return error == NC_NOERR ? BN_OK : failed(ctx, u, error);
}

bn_status bn_ugrid_create(bn_context *ctx, const char *path, const bn_ugrid_desc *d, bn_ugrid **out)
{
    const size_t cells = (size_t)d->cells.n[0] * d->cells.n[1];
    bn_status st = BN_OK;
    bn_ugrid *u = *out = calloc(1, sizeof *u);
    if (d->count > FIELDS || bn_cells_corners(&d->cells) > INT32_MAX)
        st = bn_fail(ctx, BN_USAGE, "cannot write %s: %zu fields or %zu cells are too many", path, d->count, cells);
    else if (!u || !(u->path = strdup(path)) || !(u->cell_of = malloc(cells * sizeof *u->cell_of)) ||
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

static int write_field(bn_ugrid *u, size_t which, bn_ugrid_value *value, const void *data)
{
    int error = NC_NOERR;
    for (int c = 0; c < u->components[which]; c++)
        for (size_t f = 0; error == NC_NOERR && f < u->faces; f += PIECE) {
            const size_t count = u->faces - f < PIECE ? u->faces - f : PIECE;
            const size_t at[2] = { u->times, f }, size[2] = { 1, count };
            for (size_t k = 0; k < count; k++)
                u->piece[k] = (float)value(data, which, c, u->cell_of[f + k]);
            DO(nc_put_vara_float(u->nc, u->variable[which][c], u->once[which] ? &at[1] : at,
                                 u->once[which] ? &size[1] : size, u->piece));
        }
    return error;
}

bn_status bn_ugrid_add(bn_context *ctx, bn_ugrid *u, double time, unsigned long long step, bn_ugrid_value *value,
                       const void *data)
{
    int error = NC_NOERR;
    const int number = step > INT32_MAX ? INT32_MAX : (int)step;
    DO(nc_put_var1_double(u->nc, u->time, &u->times, &time));
    DO(nc_put_var1_int(u->nc, u->step, &u->times, &number));
    for (size_t i = 0; i < u->fields; i++)
        DO(write_field(u, i, value, data));
    DO(nc_sync(u->nc));
    u->times++;
    return error == NC_NOERR ? BN_OK : failed(ctx, u, error);
}

size_t bn_ugrid_times(const bn_ugrid *u) { return u->times; }

/* The length of a dimension; 0: there is none of that name. */
static size_t length_of(int nc, const char *name)
{
    int id;
    size_t length = 0;
    return nc_inq_dimid(nc, name, &id) == NC_NOERR && nc_inq_dimlen(nc, id, &length) == NC_NOERR ? length : 0;
}

/* Copies what fields over time have at one of the times of another file; variables of both files have the same numbers.
 */
static int copy_time(bn_ugrid *u, int old, size_t from)
{
    int error = NC_NOERR, step = 0;
    double time = 0;
    DO(nc_get_var1_double(old, u->time, &from, &time));
    DO(nc_get_var1_int(old, u->step, &from, &step));
    DO(nc_put_var1_double(u->nc, u->time, &u->times, &time));
    DO(nc_put_var1_int(u->nc, u->step, &u->times, &step));
    for (size_t i = 0; i < u->fields; i++)
        for (int c = 0; c < u->components[i] && !u->once[i]; c++)
            for (size_t f = 0; error == NC_NOERR && f < u->faces; f += PIECE) {
                const size_t count = u->faces - f < PIECE ? u->faces - f : PIECE, size[2] = { 1, count };
                const size_t read_at[2] = { from, f }, write_at[2] = { u->times, f };
                DO(nc_get_vara_float(old, u->variable[i][c], read_at, size, u->piece));
                DO(nc_put_vara_float(u->nc, u->variable[i][c], write_at, size, u->piece));
            }
    u->times += error == NC_NOERR;
    return error;
}

bn_status bn_ugrid_take_up(bn_context *ctx, bn_ugrid *u, const unsigned long long *steps, size_t count)
{
    int old, error = NC_NOERR, before = 0, now = 0;
    if (nc_open(u->path, NC_NOWRITE, &old) != NC_NOERR)
        return BN_OK;
    const size_t times = length_of(old, "time");
    DO(nc_inq_nvars(old, &before));
    DO(nc_inq_nvars(u->nc, &now));
    const bool same = error == NC_NOERR && before == now && length_of(old, "mesh2d_nFaces") == u->faces;
    for (size_t t = 0; same && t < times && error == NC_NOERR; t++) {
        int step = -1;
        bool wanted = false;
        DO(nc_get_var1_int(old, u->step, &t, &step));
        for (size_t k = 0; k < count; k++)
            wanted = wanted || (step >= 0 && (unsigned long long)step == steps[k]);
        if (wanted)
            DO(copy_time(u, old, t));
    }
    (void)nc_close(old); /* it was only read */
    return error == NC_NOERR ? BN_OK : failed(ctx, u, error);
}

static void release(bn_ugrid **file)
{
    bn_ugrid *u = *file;
    free(u->path);
    free(u->cell_of);
    free(u->piece);
    free(u);
    *file = NULL;
}

bn_status bn_ugrid_close(bn_context *ctx, bn_ugrid **file)
{
    bn_ugrid *u = *file;
    const int error = nc_close(u->nc);
    u->open = false;
    bn_status st = error == NC_NOERR ? bn_file_commit(&u->file) : failed(ctx, u, error);
    bn_ugrid_abort(file);
    return st;
}

void bn_ugrid_abort(bn_ugrid **file)
{
    if (!*file)
        return;
    if ((*file)->open)
        (void)nc_close((*file)->nc); /* what it could not write is thrown away */
    bn_file_abort(&(*file)->file);
    release(file);
}
