/* test_cells.c: outlines of random sets of cells, judged by GEOS, and meshes of cells in NetCDF, read back by netCDF.
 */
#include "support_case.h"

#include "io/ugrid.h"

#include <geos_c.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NC(call) ck_assert_msg((call) == NC_NOERR, "%s", #call)

/* 23 x 17 cells far from zero, as in map coordinates. */
static bn_cells cells_of(bool hexagons)
{
    const double d = 0.4;
    return (bn_cells){ { 23, 17 }, { 512345.1, 5401234.2 }, { d, hexagons ? d * sqrt(0.75) : d }, hexagons };
}
static double area_of(const bn_cells *c) { return c->h[0] * c->h[1]; }

static void quiet(const char *format, ...) { (void)format; }

TEST(outlines_are_valid_and_have_the_area_of_their_cells)
{
    GEOSContextHandle_t geos = initGEOS_r(quiet, quiet);
    for (int turn = 0; turn < 40; turn++) {
        const bn_cells c = cells_of(turn % 2 == 0);
        bool in[23 * 17];
        size_t count = 0, wet = 0, other;
        srand((unsigned)turn);
        for (size_t at = 0; at < 23 * 17; at++)
            wet += in[at] = rand() % 20 < turn / 2;
        bn_outline o;
        OK(bn_outline_make(ctx, &c, in, &o));
        ck_assert_uint_eq(o.cells, wet);
        GEOSWKTReader *reader = GEOSWKTReader_create_r(geos);
        GEOSGeometry *g = GEOSWKTReader_read_r(geos, reader, o.text);
        ck_assert_ptr_nonnull(g);
        double area;
        ck_assert_int_eq(GEOSArea_r(geos, g, &area), 1);
        near(area, (double)wet * area_of(&c), 1e-4, "cells times their area");
        ck_assert_int_eq(GEOSGetNumGeometries_r(geos, g), (int)o.polygons);
        char *reason = GEOSisValidReason_r(geos, g);
        ck_assert_str_eq(reason, "Valid Geometry");
        GEOSFree_r(geos, reason);
        for (size_t at = 0; at < 23 * 17; at++) /* every cell's middle, and the sets that hang together */
            for (int e = 0; in[at] && e < bn_cells_edges(&c); e++)
                count += !bn_cells_beside(&c, at, e, &other) || !in[other];
        for (uint32_t at = 0; at < 23 * 17; at += 7) {
            double x[2];
            bn_cells_middle(&c, at % 23, at / 23, x);
            GEOSGeometry *p = GEOSGeom_createPointFromXY_r(geos, x[0], x[1]);
            ck_assert_int_eq(GEOSIntersects_r(geos, g, p), in[at]);
            GEOSGeom_destroy_r(geos, p);
        }
        size_t commas = 0;
        for (const char *t = o.text; *t; t++)
            commas += *t == ',';
        if (o.polygons > 0) /* a ring has as many commas as edges; one stands between two rings */
            ck_assert_uint_ge(commas, count + o.polygons - 1);
        GEOSGeom_destroy_r(geos, g);
        GEOSWKTReader_destroy_r(geos, reader);
        free(o.text);
    }
    finishGEOS_r(geos);
}

/* Of the test's fields: time, component and cell in one number. */
static double value(const void *data, size_t field, int component, size_t cell)
{
    return *(const double *)data + 1000 * (double)field + 100000 * component + (double)cell;
}

TEST(meshes_hold_hexagons_and_values)
{
    static const bn_ugrid_field fields[] = { { "depth", "m", 1, false },
                                             { "velocity", "m s-1", 2, false },
                                             { "bed", "m", 1, true } };
    for (int kind = 0; kind < 2; kind++) {
        const bn_cells c = cells_of(kind == 0);
        const size_t edges = (size_t)bn_cells_edges(&c);
        bool hidden[23 * 17] = { false };
        hidden[0] = hidden[5] = hidden[23 * 17 - 1] = true;
        char path[] = "/tmp/bn-mesh-XXXXXX";
        const int own = mkstemp(path);
        ck_assert(own >= 0 && close(own) == 0 && unlink(path) == 0);
        bn_ugrid *u;
        OK(bn_ugrid_create(ctx, path, &(bn_ugrid_desc){ c, hidden, "a title", "a test", 32632, fields, 3 }, &u));
        for (double t = 0; t < 3; t++)
            OK(bn_ugrid_add(ctx, u, 0.5 * t, (unsigned long long)(10 * t), value, &t));
        ck_assert_int_ne(access(path, F_OK), 0); /* whole or not at all */
        OK(bn_ugrid_close(ctx, &u));
        int nc, id, times;
        size_t faces, nodes, steps;
        NC(nc_open(path, NC_NOWRITE, &nc));
        NC(nc_inq_dimid(nc, "mesh2d_nFaces", &id));
        NC(nc_inq_dimlen(nc, id, &faces));
        NC(nc_inq_dimid(nc, "mesh2d_nNodes", &id));
        NC(nc_inq_dimlen(nc, id, &nodes));
        NC(nc_inq_dimid(nc, "time", &times));
        NC(nc_inq_dimlen(nc, times, &steps));
        ck_assert_uint_eq(faces, 23 * 17 - 3);
        ck_assert_uint_eq(steps, 3);
        double *x = malloc(nodes * sizeof *x), *y = malloc(nodes * sizeof *y), *fx = malloc(faces * sizeof *fx);
        int *ring = malloc(faces * edges * sizeof *ring);
        float *h = malloc(3 * faces * sizeof *h);
        ck_assert(x && y && fx && ring && h);
        NC(nc_inq_varid(nc, "mesh2d_node_x", &id));
        NC(nc_get_var_double(nc, id, x));
        NC(nc_inq_varid(nc, "mesh2d_node_y", &id));
        NC(nc_get_var_double(nc, id, y));
        NC(nc_inq_varid(nc, "mesh2d_face_x", &id));
        NC(nc_get_var_double(nc, id, fx));
        NC(nc_inq_varid(nc, "mesh2d_face_nodes", &id));
        NC(nc_get_var_int(nc, id, ring));
        bool used[24 * 2 * 18 * 2] = { false };
        for (size_t f = 0; f < faces; f++) {
            double twice = 0, mean = 0;
            for (size_t k = 0; k < edges; k++) {
                const int a = ring[f * edges + k], b = ring[f * edges + (k + 1) % edges];
                ck_assert(a >= 0 && (size_t)a < nodes);
                used[a] = true;
                twice += (x[a] - x[ring[f * edges]]) * (y[b] - y[ring[f * edges]]) -
                         (x[b] - x[ring[f * edges]]) * (y[a] - y[ring[f * edges]]);
                mean += x[a] / (double)edges;
            }
            near(0.5 * twice, area_of(&c), 1e-8, "area, counter-clockwise");
            near(mean, fx[f], 1e-8, "middle");
        }
        for (size_t n = 0; n < nodes; n++)
            ck_assert(used[n]);
        NC(nc_inq_varid(nc, "mesh2d_velocity_y", &id));
        NC(nc_get_var_float(nc, id, h));
        ck_assert_double_eq((double)h[0], 101001);             /* the first face is the second cell */
        ck_assert_double_eq((double)h[2 * faces + 4], 101008); /* 2 + 6, since the cells 0 and 5 are hidden */
        NC(nc_inq_varid(nc, "mesh2d_bed", &id));
        NC(nc_get_var_float(nc, id, h));
        ck_assert_double_eq((double)h[0], 2003); /* the last time's */
        char text[64] = "";
        NC(nc_get_att_text(nc, NC_GLOBAL, "Conventions", text));
        ck_assert_ptr_nonnull(strstr(text, "UGRID-1.0"));
        NC(nc_close(nc));
        free(x);
        free(y);
        free(fx);
        free(ring);
        free(h);
        ck_assert_int_eq(unlink(path), 0);
    }
    bn_ugrid *u;
    const bn_cells c = cells_of(true);
    ck_assert_int_eq(bn_ugrid_create(ctx, "/nowhere/a.nc", &(bn_ugrid_desc){ .cells = c, .source = "" }, &u), BN_IO);
    ck_assert_ptr_null(u);
}

int main(void) { return bn_test_main("cells", open_context, close_context); }
