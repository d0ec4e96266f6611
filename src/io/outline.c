/* outline.c: polygons in WKT around sets of cells (cells.h), as geography's and pedestrians' programs read them. */
#include "io/cells.h"

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

typedef struct outline {
    const bn_cells *cells;
    const bool *in;
    uint32_t *area; /* that a cell belongs to, from 1; 0: to none */
    size_t *list;   /* cells, area after area */
    size_t count;   /* of them */
    uint32_t areas;
    bool *walked; /* of each edge of each cell: whether a ring has it */
} outline;

/* The cell beside an edge belongs to the same area? */
static bool joined(const outline *o, size_t at, int e, size_t *to)
{
    return bn_cells_beside(o->cells, at, e, to) && o->in[*to];
}

/* Adds a cell and all that are connected with it. */
static void collect(outline *o, size_t start)
{
    size_t next = o->count, to;
    o->area[start] = ++o->areas;
    o->list[o->count++] = start;
    for (; next < o->count; next++)
        for (int e = 0; e < bn_cells_edges(o->cells); e++)
            if (joined(o, o->list[next], e, &to) && o->area[to] == 0) {
                o->area[to] = o->areas;
                o->list[o->count++] = to;
            }
}

/* Squares: a cell of the same area that touches only the corner at the end of an outer edge. Rings continue along it:
 * the hole at the corner becomes a ring of its own, since a ring that touches itself is no valid polygon. */
static bool across(const outline *o, size_t at, int e, size_t *to)
{
    size_t beside;
    return !o->cells->hexagons && bn_cells_beside(o->cells, at, e, &beside) &&
           bn_cells_beside(o->cells, beside, (e + 1) % 4, to) && o->area[*to] == o->area[at];
}

/* From an outer edge to the one that follows it on the ring: turn around the corner at its end through the cells of the
 * area. */
static void follow(const outline *o, size_t *at, int *e)
{
    const int edges = bn_cells_edges(o->cells);
    size_t to;
    int next = (*e + 1) % edges;
    if (!joined(o, *at, next, &to) && across(o, *at, *e, &to)) {
        *at = to;
        *e = (*e + 3) % 4;
        return;
    }
    while (joined(o, *at, next, &to)) { /* enter the neighbour: its edge back to us is the opposite one */
        next = (next + edges / 2 + 1) % edges;
        *at = to;
    }
    *e = next;
}

/* The corner at the end of an edge, which runs counter-clockwise. */
static void end_of(const outline *o, size_t at, int e, double x[2])
{
    const bn_cells *c = o->cells;
    const int edges = bn_cells_edges(c);
    size_t corner[6];
    /* Edge 0 leads to the east: of a hexagon between the corners 2 and 3, of a square between 1 and 2. */
    bn_cells_ring(c, (uint32_t)(at % c->n[0]), (uint32_t)(at / c->n[0]), corner);
    bn_cells_corner(c, corner[(e + edges / 2) % edges], x);
}

/* The ring that begins with an edge: its text, and twice its area with the sign of its sense. */
static bool trace(outline *o, size_t at, int e, text *out, double *twice)
{
    const size_t start = at;
    const int first = e, edges = bn_cells_edges(o->cells);
    char number[64], begin[64];
    double from[2], x[2], zero[2];
    end_of(o, at, e, zero);
    memcpy(from, zero, sizeof from);
    snprintf(begin, sizeof begin, "%.12g %.12g", zero[0], zero[1]);
    *twice = 0;
    if (!put(out, "(") || !put(out, begin))
        return false;
    for (;;) {
        o->walked[at * (size_t)edges + (size_t)e] = true;
        follow(o, &at, &e);
        end_of(o, at, e, x);
        *twice += (from[0] - zero[0]) * (x[1] - zero[1]) - (from[1] - zero[1]) * (x[0] - zero[0]);
        memcpy(from, x, sizeof from);
        if (at == start && e == first) /* the same letters as at the beginning close a ring */
            return put(out, ", ") && put(out, begin) && put(out, ")");
        snprintf(number, sizeof number, ", %.12g %.12g", x[0], x[1]);
        if (!put(out, number))
            return false;
    }
}

/* All rings of the cells list[from] ... list[to - 1]. */
static bool put_area(outline *o, size_t from, size_t to, text *out)
{
    const int edges = bn_cells_edges(o->cells);
    text outer = { 0 }, holes = { 0 }, ring = { 0 };
    bool fine = true;
    for (size_t k = from; fine && k < to; k++)
        for (int e = 0; fine && e < edges; e++) {
            size_t other;
            double twice;
            if (joined(o, o->list[k], e, &other) || o->walked[o->list[k] * (size_t)edges + (size_t)e])
                continue;
            ring.length = 0;
            fine = trace(o, o->list[k], e, &ring, &twice);
            if (fine && twice > 0)
                fine = put(&outer, ring.at);
            else if (fine)
                fine = put(&holes, ", ") && put(&holes, ring.at);
        }
    fine = fine && put(out, from > 0 ? ", (" : "(") && put(out, outer.at ? outer.at : "") &&
           put(out, holes.at ? holes.at : "") && put(out, ")");
    free(outer.at);
    free(holes.at);
    free(ring.at);
    return fine;
}

bn_status bn_outline_make(bn_context *ctx, const bn_cells *c, const bool *in, bn_outline *out)
{
    const size_t cells = (size_t)c->n[0] * c->n[1];
    text t = { 0 };
    outline o = { .cells = c,
                  .in = in,
                  .area = calloc(cells, sizeof *o.area),
                  .list = malloc(cells * sizeof *o.list),
                  .walked = calloc(cells * (size_t)bn_cells_edges(c), sizeof *o.walked) };
    *out = (bn_outline){ .text = NULL };
    bool fine = o.area && o.list && o.walked && put(&t, "MULTIPOLYGON ");
    for (size_t at = 0; fine && at < cells; at++) {
        const size_t before = o.count;
        if (!in[at] || o.area[at] != 0)
            continue;
        collect(&o, at);
        fine = (before > 0 || put(&t, "(")) && put_area(&o, before, o.count, &t);
    }
    fine = fine && put(&t, o.areas > 0 ? ")\n" : "EMPTY\n");
    free(o.area);
    free(o.list);
    free(o.walked);
    if (!fine) {
        free(t.at);
        return bn_fail(ctx, BN_MEMORY, "no memory for an outline");
    }
    *out = (bn_outline){ t.at, o.areas, o.count };
    return BN_OK;
}
