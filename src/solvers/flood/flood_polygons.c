/* flood_polygons.c: floor plans of polygons: their meanings, walls between cells, stairs, openings, sources and drains.
 * Later shapes lie over earlier ones, as if drawn; the geometry is asked through the plan (sim/solver.h). */
#include "flood_plans.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD(id, text) text,
static const char *const words[MEANINGS + 1] = { FLOOD_MEANINGS(WORD) NULL };

/* Place in the legend of a name; a word for a meaning is entered when it is first met. The number of entries: not
 * there. */
static size_t find(struct flood_plans *plans, const char *name)
{
    for (size_t i = 0; i < plans->count; i++)
        if (plans->entry[i].name[0] && strcmp(plans->entry[i].name, name) == 0)
            return i;
    for (int kind = 0; kind < MEANINGS; kind++)
        if (strcmp(words[kind], name) == 0) {
            plans->entry[plans->count] = (legend){
                .name = words[kind], .kind = (meaning)kind, .width = 1, .coefficient = 0.6, .open = true
            };
            return plans->count++;
        }
    return plans->count;
}

/* "of line 3, shape 2 (south stair)" */
static void name_shape(const bn_input_shape *shape, char *text, size_t room)
{
    snprintf(text, room, "of line %zu, shape %zu%s%.60s%s", shape->line, shape->number, shape->name[0] ? " (" : "",
             shape->name, shape->name[0] ? ")" : "");
}

static void reject_name(const bn_case *c, const struct flood_plans *plans, size_t storey, const bn_input_shape *shape)
{
    const char *names[LEGEND_MAX + MEANINGS + MEANINGS + 1], *near;
    size_t count = 0;
    for (size_t i = 0; i < plans->count; i++)
        if (plans->entry[i].name[0])
            names[count++] = plans->entry[i].name;
    for (size_t i = 0; words[i]; i++)
        names[count++] = words[i];
    names[count] = NULL;
    near = bn_suggest(shape->name, names);
    (void)bn_case_reject_item(c, "storey.plan", storey, "add its name to [[legend]]",
                              "storey %zu: %s, line %zu, shape %zu: the meaning \"%s\" is not in the legend%s%s%s",
                              storey + 1, bn_case_item_text(c, "storey.plan", storey), shape->line, shape->number,
                              shape->name, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

/* The part of a millimetre or of a cell to which vertices are rounded, so that walls that should meet do. */
static double lattice(const flood *s) { return fmin(1e-3, s->grid.d / 64); }

bn_status flood_read_shapes(const bn_case *c, bn_plan *p, flood *s, size_t storey)
{
    struct flood_plans *plans = s->plans;
    const bn_input *shapes;
    const bn_input_desc d = { .kind = BN_INPUT_SHAPES, .key = "storey.plan", .item = storey + 1, .snap = lattice(s) };
    if (bn_plan_input(p, c, &d, &shapes) != BN_OK) {
        bn_note(bn_plan_context(p), "the plan of storey %zu", storey + 1);
        return bn_error_status(bn_plan_context(p));
    }
    BN_TRY(bn_plan_allocate(p, shapes->count, (void **)&plans->meaning_of[storey]));
    for (size_t i = 0; i < shapes->count; i++) {
        const bn_input_shape *shape = &shapes->shape[i];
        const size_t place = find(plans, shape->name[0] ? shape->name : words[FLOOR]);
        if (place == plans->count) {
            reject_name(c, plans, storey, shape);
            return BN_OK;
        }
        const meaning kind = plans->entry[place].kind;
        if (shape->open && kind != WALL && kind != OBSTACLE && kind != DOOR)
            return bn_case_reject_item(c, "storey.plan", storey, "draw a polygon",
                                       "storey %zu: %s, line %zu, shape %zu: a line can be a wall, no %s", storey + 1,
                                       bn_case_item_text(c, "storey.plan", storey), shape->line, shape->number,
                                       words[kind]);
        plans->meaning_of[storey][i] = (unsigned char)place;
    }
    plans->shapes[storey] = shapes;
    return BN_OK;
}

/* Place of a cell's middle in the coordinates of the polygons. */
static void place(const flood *s, size_t i, size_t j, double x[2])
{
    flood_place(s, i, j, x);
    x[0] += s->grid.origin[0];
    x[1] += s->grid.origin[1];
}

/* --- walls --- */

static void close_edge(flood *s, int32_t *cell, size_t i, size_t j, int e, const bn_input *shapes)
{
    long x, y;
    double a[2], b[2];
    if (!flood_beside(s, i, j, e, &x, &y))
        return;
    place(s, i, j, a);
    place(s, (size_t)x, (size_t)y, b);
    /* Beyond a periodic side the neighbour stands elsewhere; solid cells close themselves. */
    if (hypot(b[0] - a[0], b[1] - a[1]) > 1.5 * s->grid.d || bn_input_open(shapes, a, b))
        return;
    cell[j * s->grid.nx + i] |= FLOOD_CLOSED << e;
    cell[(size_t)y * s->grid.nx + (size_t)x] |= FLOOD_CLOSED << (e + s->grid.edges / 2);
}

/* Cells i0 <= i < i1 of the rows j0 <= j < j1: all at once where there is only floor or none, else in halves. */
static void code_range(flood *s, int32_t *cell, const bn_input *shapes, size_t i0, size_t i1, size_t j0, size_t j1)
{
    double low[2], high[2];
    place(s, i0, j0, low);
    place(s, i1 - 1, j1 - 1, high);
    for (int k = 0; k < 2; k++) { /* with all neighbours, and the shift of the other rows */
        low[k] -= 1.6 * s->grid.d;
        high[k] += 1.6 * s->grid.d;
    }
    const int all = bn_input_box(shapes, low, high);
    if (all > 0)
        return;
    if (all == 0 && (i1 - i0 > 2 || j1 - j0 > 2)) {
        if (i1 - i0 > j1 - j0) {
            const size_t half = i0 + (i1 - i0) / 2;
            code_range(s, cell, shapes, i0, half, j0, j1);
            code_range(s, cell, shapes, half, i1, j0, j1);
        } else {
            const size_t half = j0 + (j1 - j0) / 2;
            code_range(s, cell, shapes, i0, i1, j0, half);
            code_range(s, cell, shapes, i0, i1, half, j1);
        }
        return;
    }
    for (size_t j = j0; j < j1; j++)
        for (size_t i = i0; i < i1; i++) {
            double x[2];
            place(s, i, j, x);
            if (all < 0 || !bn_input_open(shapes, x, x))
                cell[j * s->grid.nx + i] |= FLOOD_SOLID;
            for (int e = 0; all == 0 && e < s->grid.edges / 2; e++)
                close_edge(s, cell, i, j, e, shapes);
        }
}

/* A plan without a floor is floor wherever nothing is drawn. */
static bool all_floor(const struct flood_plans *plans, size_t storey)
{
    for (size_t i = 0; i < plans->shapes[storey]->count; i++)
        if (plans->entry[plans->meaning_of[storey][i]].kind == FLOOR)
            return false;
    return true;
}

bn_status flood_code_shapes(const bn_case *c, bn_plan *p, flood *s, size_t storey)
{
    const struct flood_plans *plans = s->plans;
    const bn_input *shapes = plans->shapes[storey];
    int32_t *cell = s->cells.code + storey * s->grid.nx * s->grid.ny;
    const double low[2] = { s->grid.origin[0] - s->grid.d, s->grid.origin[1] - s->grid.d };
    const double high[2] = { s->grid.origin[0] + s->grid.size[0] + s->grid.d,
                             s->grid.origin[1] + s->grid.size[1] + s->grid.d };
    signed char *draw = malloc(shapes->count);
    if (!draw)
        return bn_fail(bn_plan_context(p), BN_MEMORY, "no memory for the plan of storey %zu", storey + 1);
    for (size_t i = 0; i < shapes->count; i++)
        draw[i] = flood_blocks_water(&plans->entry[plans->meaning_of[storey][i]]) ? -1 : shapes->shape[i].open ? 0 : 1;
    const bn_status st = bn_input_draw(p, shapes, draw, all_floor(plans, storey), low, high);
    free(draw);
    if (st != BN_OK) {
        bn_note(bn_plan_context(p), "the plan of storey %zu of %s", storey + 1, bn_case_path(c));
        return st;
    }
    code_range(s, cell, shapes, 0, s->grid.nx, 0, s->grid.ny);
    size_t floor_cells = 0;
    for (size_t at = 0; at < (size_t)s->grid.nx * s->grid.ny; at++)
        floor_cells += !(cell[at] & FLOOD_SOLID);
    return floor_cells > 0 ? BN_OK
                           : bn_case_reject_item(c, "storey.plan", storey, "smaller cells",
                                                 "storey %zu: no cell has its middle on the floor", storey + 1);
}

/* --- patches --- */

/* Cells around a shape: i0 <= i < i1, j0 <= j < j1. */
typedef struct range {
    size_t i0, i1, j0, j1;
} range;

static size_t clamp(double v, size_t most) { return v < 0 ? 0 : v > (double)most ? most : (size_t)v; }

static range around(const flood *s, const bn_input_shape *shape)
{
    return (range){ clamp(floor((shape->low[0] - s->grid.origin[0]) / s->grid.h[0]) - 1, s->grid.nx),
                    clamp(ceil((shape->high[0] - s->grid.origin[0]) / s->grid.h[0]) + 1, s->grid.nx),
                    clamp(floor((shape->low[1] - s->grid.origin[1]) / s->grid.h[1]) - 1, s->grid.ny),
                    clamp(ceil((shape->high[1] - s->grid.origin[1]) / s->grid.h[1]) + 1, s->grid.ny) };
}

/* Marks the cells that a shape covers: owner = the shape + 1 where it is special, else none. A special shape that is
 * smaller than a cell has the nearest one. */
static void own(const flood *s, const bn_input *shapes, size_t which, bool special, uint32_t *owner)
{
    const bn_input_shape *shape = &shapes->shape[which];
    const range r = around(s, shape);
    size_t count = 0, nearest = SIZE_MAX;
    double least = HUGE_VAL;
    for (size_t j = r.j0; j < r.j1; j++)
        for (size_t i = r.i0; i < r.i1; i++) {
            double x[2];
            place(s, i, j, x);
            const double off = hypot(x[0] - shape->inside[0], x[1] - shape->inside[1]);
            if (off < least) {
                least = off;
                nearest = j * s->grid.nx + i;
            }
            if (!special && owner[j * s->grid.nx + i] == 0)
                continue;
            if (bn_input_covers(shapes, which, x)) {
                owner[j * s->grid.nx + i] = special ? (uint32_t)which + 1 : 0;
                count++;
            }
        }
    if (special && count == 0 && nearest != SIZE_MAX)
        owner[nearest] = (uint32_t)which + 1;
}

static void code_owned(const bn_case *c, flood *s, size_t storey, size_t which, const uint32_t *owner, size_t *list)
{
    const struct flood_plans *plans = s->plans;
    const bn_input_shape *shape = &plans->shapes[storey]->shape[which];
    const legend *l = &plans->entry[plans->meaning_of[storey][which]];
    const int32_t *cell = s->cells.code + storey * s->grid.nx * s->grid.ny;
    const range r = around(s, shape);
    size_t count = 0;
    char where[120];
    name_shape(shape, where, sizeof where);
    for (size_t j = r.j0; j < r.j1; j++)
        for (size_t i = r.i0; i < r.i1; i++)
            if (owner[j * s->grid.nx + i] == which + 1 && !(cell[j * s->grid.nx + i] & FLOOD_SOLID))
                list[count++] = j * s->grid.nx + i;
    if (count == 0)
        (void)bn_case_reject_item(c, "storey.plan", storey, NULL,
                                  "storey %zu: the %s %s lies in a wall, or another shape lies over it", storey + 1,
                                  words[l->kind], where);
    else
        flood_code_patch(c, s, storey, l, list, count, where);
}

bn_status flood_code_shape_patches(const bn_case *c, bn_plan *p, flood *s, size_t storey)
{
    const struct flood_plans *plans = s->plans;
    const bn_input *shapes = plans->shapes[storey];
    const size_t layer = (size_t)s->grid.nx * s->grid.ny;
    size_t special = 0;
    for (size_t i = 0; i < shapes->count; i++)
        special += plans->entry[plans->meaning_of[storey][i]].kind >= STAIR;
    if (special == 0)
        return BN_OK;
    uint32_t *owner = calloc(layer, sizeof *owner);
    size_t *list = malloc(layer * sizeof *list);
    bn_status st = BN_OK;
    if (!owner || !list) {
        st = bn_fail(bn_plan_context(p), BN_MEMORY, "no memory for the plan of storey %zu", storey + 1);
        goto out;
    }
    bool any = false;
    for (size_t i = 0; i < shapes->count; i++) {
        const bool is = plans->entry[plans->meaning_of[storey][i]].kind >= STAIR;
        if ((is || any) && !shapes->shape[i].open)
            own(s, shapes, i, is, owner);
        any = any || is;
    }
    for (size_t i = 0; i < shapes->count && !bn_case_diagnostics(c)[0]; i++)
        if (plans->entry[plans->meaning_of[storey][i]].kind >= STAIR)
            code_owned(c, s, storey, i, owner, list);
out:
    free(owner);
    free(list);
    return st;
}
