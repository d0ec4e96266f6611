/* flood_outline.c: polygons in WKT around the cells of a storey that are deeper than a threshold, as pedestrian tools
 * read them: one line a connected area, its outer ring first, counter-clockwise, then the rings of its holes. */
#include "flood.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text that grows. */
typedef struct text {
    char *at;
    size_t length, room;
} text;

static bool put(text *t, const char *piece)
{
    const size_t more = strlen(piece);
    if (t->length + more + 1 > t->room) {
        const size_t room = 2 * t->room + more + 256;
        char *grown = realloc(t->at, room);
        if (!grown)
            return false;
        t->at = grown;
        t->room = room;
    }
    memcpy(t->at + t->length, piece, more + 1);
    t->length += more;
    return true;
}

/* What a storey's outline is made of. */
typedef struct outline {
    const flood *s;
    int32_t *area; /* connected area of each cell, from 1; 0: not deep enough */
    int32_t areas;
    size_t *list; /* room for all cells */
    bool *walked; /* edges * cells: of a cell's edge, whether a ring has it */
} outline;

/* An edge runs counter-clockwise from one corner of its cell to the next. */
static int first_corner(const flood *s, int e) { return (e + s->edges / 2 - 1) % s->edges; }

/* Where the corner c of a cell is [m]. */
static void corner_place(const flood *s, size_t i, size_t j, int c, double x[2])
{
    static const double hex_x[6] = { -0.5, 0, 0.5, 0.5, 0, -0.5 }, hex_y[6] = { -0.5, -1, -0.5, 0.5, 1, 0.5 };
    static const double square_x[4] = { -0.5, 0.5, 0.5, -0.5 }, square_y[4] = { -0.5, -0.5, 0.5, 0.5 };
    flood_place(s, i, j, x);
    x[0] += (s->edges == 6 ? hex_x[c] : square_x[c]) * s->d;
    x[1] += (s->edges == 6 ? hex_y[c] / sqrt(3) : square_y[c]) * s->d;
}

/* The cell beside an edge of another one belongs to the same area? Rings do not cross periodic sides. */
static bool joined(const outline *o, size_t at, int e, size_t *to)
{
    long x, y;
    const flood *s = o->s;
    const size_t i = at % s->nx, j = at / s->nx;
    if (!flood_beside(s, i, j, e, &x, &y) || labs(x - (long)i) > 1 || labs(y - (long)j) > 1)
        return false;
    *to = (size_t)y * s->nx + (size_t)x;
    return o->area[*to] != 0 && (o->area[*to] == o->area[at] || o->area[*to] < 0);
}

/* Numbers the connected areas of cells that are marked by -1. */
static void find_areas(outline *o)
{
    const flood *s = o->s;
    for (size_t start = 0; start < (size_t)s->nx * s->ny; start++) {
        if (o->area[start] >= 0)
            continue;
        size_t count = 1;
        o->list[0] = start;
        o->area[start] = ++o->areas;
        for (size_t next = 0; next < count; next++)
            for (int e = 0; e < s->edges; e++) {
                size_t to;
                if (joined(o, o->list[next], e, &to) && o->area[to] < 0) {
                    o->area[to] = o->areas;
                    o->list[count++] = to;
                }
            }
    }
}

/* From an outer edge to the one that follows it on the ring: turn around the corner at its end through the cells of the
 * area. */
static void follow(const outline *o, size_t *at, int *e)
{
    const flood *s = o->s;
    size_t to;
    int next = (*e + 1) % s->edges;
    while (joined(o, *at, next, &to)) { /* enter the neighbour: its edge back to us is the opposite one */
        next = (next + s->edges / 2 + 1) % s->edges;
        *at = to;
    }
    *e = next;
}

/* The ring that starts with an edge: its text, and twice its area with the sign of its sense. */
static bool trace(outline *o, size_t at, int e, text *out, double *twice)
{
    const flood *s = o->s;
    const size_t start = at;
    const int first = e;
    char number[64];
    double begin[2], from[2], x[2];
    corner_place(s, at % s->nx, at / s->nx, first_corner(s, e), begin);
    memcpy(from, begin, sizeof from);
    *twice = 0;
    snprintf(number, sizeof number, "(%.10g %.10g", begin[0], begin[1]);
    if (!put(out, number))
        return false;
    do {
        o->walked[at * (size_t)s->edges + (size_t)e] = true;
        corner_place(s, at % s->nx, at / s->nx, (first_corner(s, e) + 1) % s->edges, x);
        *twice += from[0] * x[1] - from[1] * x[0];
        snprintf(number, sizeof number, ", %.10g %.10g", x[0], x[1]);
        if (!put(out, number))
            return false;
        memcpy(from, x, sizeof from);
        follow(o, &at, &e);
    } while (at != start || e != first);
    return put(out, ")");
}

/* All rings of one area as a line of text; `first` is its first cell. */
static bool put_area(outline *o, int32_t area, size_t first, text *out)
{
    const flood *s = o->s;
    text outer = { 0 }, holes = { 0 }, ring = { 0 };
    bool fine = true;
    for (size_t at = first; fine && at < (size_t)s->nx * s->ny; at++)
        for (int e = 0; fine && o->area[at] == area && e < s->edges; e++) {
            size_t to;
            double twice;
            if (joined(o, at, e, &to) || o->walked[at * (size_t)s->edges + (size_t)e])
                continue;
            ring.length = 0;
            fine = trace(o, at, e, &ring, &twice);
            if (fine && twice > 0)
                fine = put(&outer, ring.at);
            else if (fine)
                fine = put(&holes, ", ") && put(&holes, ring.at);
        }
    fine = fine && put(out, "POLYGON (") && put(out, outer.at ? outer.at : "") && put(out, holes.at ? holes.at : "") &&
           put(out, ")\n");
    free(outer.at);
    free(holes.at);
    free(ring.at);
    return fine;
}

static bool put_storey(const flood *s, const double *depth, double deeper, text *out)
{
    const size_t layer = (size_t)s->nx * s->ny;
    outline o = { .s = s,
                  .area = calloc(layer, sizeof *o.area),
                  .list = malloc(layer * sizeof *o.list),
                  .walked = calloc(layer * (size_t)s->edges, sizeof *o.walked) };
    bool fine = o.area && o.list && o.walked && put(out, "");
    for (size_t at = 0; fine && at < layer; at++)
        o.area[at] = depth[at] > deeper ? -1 : 0;
    if (fine)
        find_areas(&o);
    int32_t done = 0;
    for (size_t at = 0; fine && at < layer; at++)
        if (o.area[at] > done) { /* areas are numbered in the order of their first cells */
            done = o.area[at];
            fine = put_area(&o, done, at, out);
        }
    free(o.area);
    free(o.list);
    free(o.walked);
    return fine;
}

bn_status flood_put_outlines(bn_sim *sim, const flood *s, const double *depth, bn_results *results)
{
    const double deeper = bn_case_real(bn_sim_case(sim), "output.outline");
    bn_status st = BN_OK;
    for (uint32_t k = 0; st == BN_OK && deeper > 0 && k < s->storeys; k++) {
        char file[40];
        text out = { 0 };
        snprintf(file, sizeof file, "flooded-storey%u.wkt", k + 1);
        st = put_storey(s, depth + (size_t)k * s->nx * s->ny, deeper, &out)
                 ? bn_result_text(results, file, out.at)
                 : bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the outline of storey %u", k + 1);
        free(out.at);
    }
    return st;
}
