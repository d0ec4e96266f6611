/* shapes.c: what polygons and lines cover, computed by GEOS (shapes.h). */
#include "io/shapes_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void listen(const char *message, void *data)
{
    bn_shapes *s = data;
    snprintf(s->last_message, sizeof s->last_message, "%s", message);
}

bn_status bn_shapes_begin(bn_context *ctx, const char *path, double snap, bn_shapes **out)
{
    bn_shapes *s = *out = calloc(1, sizeof *s);
    if (!s || !(s->geos = GEOS_init_r()) || !(s->path = strdup(path))) {
        bn_shapes_destroy(out);
        return bn_fail(ctx, BN_MEMORY, "no memory for the shapes of %s", path);
    }
    (void)GEOSContext_setErrorMessageHandler_r(s->geos, listen, s);
    s->snap = snap;
    return BN_OK;
}

static void drop(const bn_shapes *s, GEOSGeometry **g)
{
    if (*g)
        GEOSGeom_destroy_r(s->geos, *g);
    *g = NULL;
}

static void unprepare(const bn_shapes *s, const GEOSPreparedGeometry **p)
{
    if (*p)
        GEOSPreparedGeom_destroy_r(s->geos, *p);
    *p = NULL;
}

void bn_shapes_destroy(bn_shapes **shapes)
{
    bn_shapes *s = *shapes;
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++) {
        unprepare(s, &s->part[i].prepared);
        drop(s, &s->part[i].geometry);
        free(s->part[i].name);
    }
    unprepare(s, &s->ready_area);
    unprepare(s, &s->ready_bars);
    drop(s, &s->area);
    drop(s, &s->bars);
    if (s->geos)
        GEOS_finish_r(s->geos);
    free(s->part);
    free(s->path);
    free(s);
    *shapes = NULL;
}

size_t bn_shapes_count(const bn_shapes *s) { return s->count; }
const bn_shape *bn_shapes_at(const bn_shapes *s, size_t index) { return &s->part[index].shape; }

/* A point, or the straight line between two. */
static GEOSGeometry *segment(const bn_shapes *s, const double a[2], const double b[2])
{
    if (a[0] == b[0] && a[1] == b[1])
        return GEOSGeom_createPointFromXY_r(s->geos, a[0], a[1]);
    GEOSCoordSequence *ends = GEOSCoordSeq_create_r(s->geos, 2, 2);
    if (!ends)
        return NULL;
    for (unsigned k = 0; k < 2; k++) {
        const double *x = k == 0 ? a : b;
        if (!GEOSCoordSeq_setXY_r(s->geos, ends, k, x[0], x[1])) {
            GEOSCoordSeq_destroy_r(s->geos, ends);
            return NULL;
        }
    }
    return GEOSGeom_createLineString_r(s->geos, ends);
}

bool bn_shape_covers(const bn_shapes *s, size_t index, const double x[2])
{
    const shape_part *p = &s->part[index];
    if (x[0] < p->shape.low[0] || x[1] < p->shape.low[1] || x[0] > p->shape.high[0] || x[1] > p->shape.high[1])
        return false;
    GEOSGeometry *point = segment(s, x, x);
    const bool in = point && GEOSPreparedCovers_r(s->geos, p->prepared, point) == 1;
    drop(s, &point);
    return in;
}

/* --- drawing --- */

/* Replaces *g by the combination of it with `other`, which is destroyed. */
typedef GEOSGeometry *combine(GEOSContextHandle_t, const GEOSGeometry *, const GEOSGeometry *, double);
static bool change(bn_shapes *s, combine *how, GEOSGeometry **g, GEOSGeometry *other)
{
    GEOSGeometry *next = other ? how(s->geos, *g, other, s->snap) : NULL;
    drop(s, &other);
    if (!next)
        return false;
    drop(s, g);
    *g = next;
    return true;
}

/* The union of the shapes from `first` on that are drawn alike and are of the same kind; *next: the one behind them. */
static GEOSGeometry *unite_run(bn_shapes *s, const signed char *draw, size_t first, size_t *next)
{
    size_t count = 0;
    GEOSGeometry **copies = malloc((s->count - first) * sizeof *copies);
    bool fine = copies != NULL;
    *next = first;
    while (fine && *next < s->count && draw[*next] == draw[first] &&
           s->part[*next].shape.open == s->part[first].shape.open) {
        fine = (copies[count] = GEOSGeom_clone_r(s->geos, s->part[*next].geometry)) != NULL;
        count += fine;
        ++*next;
    }
    GEOSGeometry *all = NULL, *one = NULL;
    if (fine)
        all = GEOSGeom_createCollection_r(s->geos, GEOS_GEOMETRYCOLLECTION, copies, (unsigned)count);
    for (size_t i = 0; !all && i < count; i++)
        drop(s, &copies[i]);
    free(copies);
    if (all)
        one = GEOSUnaryUnionPrec_r(s->geos, all, s->snap);
    drop(s, &all);
    return one;
}

bn_status bn_shapes_draw(bn_context *ctx, bn_shapes *s, const signed char *draw, bool whole, const double low[2],
                         const double high[2])
{
    unprepare(s, &s->ready_area);
    unprepare(s, &s->ready_bars);
    drop(s, &s->area);
    drop(s, &s->bars);
    s->last_message[0] = '\0';
    s->area = whole ? GEOSGeom_createRectangle_r(s->geos, low[0], low[1], high[0], high[1])
                    : GEOSGeom_createEmptyPolygon_r(s->geos);
    s->bars = GEOSGeom_createEmptyLineString_r(s->geos);
    bool fine = s->area && s->bars;
    for (size_t i = 0, next; fine && i < s->count; i = next) {
        next = i + 1;
        if (draw[i] == 0)
            continue;
        const bool line = s->part[i].shape.open;
        GEOSGeometry *g = unite_run(s, draw, i, &next);
        if (draw[i] > 0) { /* a door in a wall that is a line */
            GEOSGeometry *hole = g && !GEOSisEmpty_r(s->geos, s->bars) ? GEOSGeom_clone_r(s->geos, g) : NULL;
            fine = !hole || change(s, GEOSDifferencePrec_r, &s->bars, hole);
        }
        if (fine)
            fine = change(s, draw[i] < 0 && !line ? GEOSDifferencePrec_r : GEOSUnionPrec_r, line ? &s->bars : &s->area,
                          g);
        else
            drop(s, &g);
    }
    if (fine)
        fine = (s->ready_area = GEOSPrepare_r(s->geos, s->area)) && (s->ready_bars = GEOSPrepare_r(s->geos, s->bars));
    s->barred = fine && !GEOSisEmpty_r(s->geos, s->bars);
    return fine ? BN_OK
                : bn_fail(ctx, s->last_message[0] ? BN_CASE : BN_MEMORY, "cannot join the shapes of %s: %s", s->path,
                          s->last_message[0] ? s->last_message : "no memory");
}

bool bn_shapes_open(const bn_shapes *s, const double a[2], const double b[2])
{
    GEOSGeometry *g = segment(s, a, b);
    const bool open = g && GEOSPreparedCovers_r(s->geos, s->ready_area, g) == 1 &&
                      !(s->barred && GEOSPreparedIntersects_r(s->geos, s->ready_bars, g) != 0);
    drop(s, &g);
    return open;
}

int bn_shapes_box(const bn_shapes *s, const double low[2], const double high[2])
{
    GEOSGeometry *box = GEOSGeom_createRectangle_r(s->geos, low[0], low[1], high[0], high[1]);
    int found = 0;
    if (box && GEOSPreparedIntersects_r(s->geos, s->ready_area, box) == 0)
        found = -1;
    else if (box && GEOSPreparedCovers_r(s->geos, s->ready_area, box) == 1 &&
             !(s->barred && GEOSPreparedIntersects_r(s->geos, s->ready_bars, box) != 0))
        found = 1;
    drop(s, &box);
    return found;
}

static size_t put_line(const bn_shapes *s, const GEOSGeometry *line, double (*points)[2], size_t at)
{
    const GEOSCoordSequence *places = GEOSGeom_getCoordSeq_r(s->geos, line);
    unsigned count = 0;
    if (!places || !GEOSCoordSeq_getSize_r(s->geos, places, &count))
        return at;
    for (unsigned k = 0; k < count; k++, at++)
        if (points && !GEOSCoordSeq_getXY_r(s->geos, places, k, &points[at][0], &points[at][1]))
            points[at][0] = points[at][1] = (double)NAN;
    if (points)
        points[at][0] = points[at][1] = (double)NAN;
    return at + 1;
}

static size_t put_outline(const bn_shapes *s, const GEOSGeometry *g, double (*points)[2], size_t at)
{
    const int type = g ? GEOSGeomTypeId_r(s->geos, g) : GEOS_POINT;
    if (type == GEOS_POINT || GEOSisEmpty_r(s->geos, g))
        return at;
    if (type == GEOS_POLYGON) {
        const int holes = GEOSGetNumInteriorRings_r(s->geos, g);
        at = put_line(s, GEOSGetExteriorRing_r(s->geos, g), points, at);
        for (int k = 0; k < holes; k++)
            at = put_line(s, GEOSGetInteriorRingN_r(s->geos, g, k), points, at);
    } else if (type == GEOS_LINESTRING || type == GEOS_LINEARRING) {
        at = put_line(s, g, points, at);
    } else {
        const int parts = GEOSGetNumGeometries_r(s->geos, g);
        for (int k = 0; k < parts; k++)
            at = put_outline(s, GEOSGetGeometryN_r(s->geos, g, k), points, at);
    }
    return at;
}

size_t bn_shapes_outline(const bn_shapes *s, long which, double (*points)[2])
{
    return put_outline(s,
                       which == BN_SHAPES_AREA   ? s->area
                       : which == BN_SHAPES_BARS ? s->bars
                                                 : s->part[which].geometry,
                       points, 0);
}
