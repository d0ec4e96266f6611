/* outline.c: polygons in WKT around sets of cells (cells.h), as geography's and pedestrians' programs read them. */
#include "io/cells.h"

#include <stdio.h>
#include <stdlib.h>

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

/* Writes the ring that begins with an edge. */
static void trace(outline *o, size_t at, int e, FILE *out)
{
    const size_t start = at;
    const int first = e, edges = bn_cells_edges(o->cells);
    double x[2];
    end_of(o, at, e, x);
    fprintf(out, "(%.12g %.12g", x[0], x[1]);
    do {
        o->walked[at * (size_t)edges + (size_t)e] = true;
        follow(o, &at, &e);
        end_of(o, at, e, x);
        fprintf(out, ", %.12g %.12g", x[0], x[1]);
    } while (at != start || e != first);
    fputs(")", out);
}

/* All rings of the cells list[from] ... list[to - 1]. No cell lies below the first one: its last edge, to the south,
 * is a part of the outer ring; all others are holes. */
static void put_area(outline *o, size_t from, size_t to, FILE *out)
{
    const int edges = bn_cells_edges(o->cells);
    size_t other;
    fputs(from > 0 ? ", (" : "((", out);
    trace(o, o->list[from], edges - 1, out);
    for (size_t k = from; k < to; k++)
        for (int e = 0; e < edges; e++)
            if (!joined(o, o->list[k], e, &other) && !o->walked[o->list[k] * (size_t)edges + (size_t)e]) {
                fputs(", ", out);
                trace(o, o->list[k], e, out);
            }
    fputs(")", out);
}

bn_status bn_outline_make(bn_context *ctx, const bn_cells *c, const bool *in, bn_outline *out)
{
    const size_t cells = (size_t)c->n[0] * c->n[1];
    size_t bytes;
    *out = (bn_outline){ .text = NULL };
    FILE *text = open_memstream(&out->text, &bytes);
    outline o = { .cells = c,
                  .in = in,
                  .area = calloc(cells, sizeof *o.area),
                  .list = malloc(cells * sizeof *o.list),
                  .walked = calloc(cells * (size_t)bn_cells_edges(c), sizeof *o.walked) };
    bool fine = text && o.area && o.list && o.walked;
    if (fine)
        fputs("MULTIPOLYGON ", text);
    for (size_t at = 0; fine && at < cells; at++) {
        const size_t before = o.count;
        if (!in[at] || o.area[at] != 0)
            continue;
        collect(&o, at);
        put_area(&o, before, o.count, text);
    }
    if (fine)
        fputs(o.areas > 0 ? ")\n" : "EMPTY\n", text);
    fine = text && fclose(text) == 0 && fine; /* a write that failed for lack of memory shows here */
    free(o.area);
    free(o.list);
    free(o.walked);
    out->polygons = o.areas;
    out->cells = o.count;
    if (fine)
        return BN_OK;
    free(out->text);
    *out = (bn_outline){ .text = NULL };
    return bn_fail(ctx, BN_MEMORY, "no memory for an outline");
}
