/* flood_storeys.c: the storeys of a building from floor plans, a colour per meaning: walls between cells, doors,
 * stairs, openings, sources and drains. */
#include "flood_plans.h"

#include "api/parallel_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool flood_blocks_water(const legend *l)
{
    return l->kind == WALL || l->kind == OBSTACLE || (l->kind == DOOR && !l->open);
}

/* "#rrggbb" */
static bool read_colour(const char *text, unsigned char rgb[3])
{
    unsigned value = 0;
    if (text[0] != '#' || strlen(text) != 7)
        return false;
    for (int i = 1; i < 7; i++) {
        const char *digits = "0123456789abcdef", *upper = "0123456789ABCDEF";
        const char *at = strchr(digits, text[i]), *other = strchr(upper, text[i]);
        if (!at && !other)
            return false;
        value = 16 * value + (unsigned)(at ? at - digits : other - upper);
    }
    for (int i = 0; i < 3; i++)
        rgb[i] = (unsigned char)(value >> (16 - 8 * i));
    return true;
}

static void read_legend(const bn_case *c, struct flood_plans *plans)
{
    const size_t count = bn_case_items(c, "legend");
    for (size_t i = 0; i < count && i < LEGEND_MAX; i++) {
        legend *l = &plans->entry[plans->count++];
        const char *colour = bn_case_item_text(c, "legend.colour", i);
        *l = (legend){ .name = bn_case_item_text(c, "legend.name", i),
                       .coloured = colour[0] != '\0',
                       .kind = (meaning)bn_case_item_choice(c, "legend.kind", i),
                       .rate = bn_case_item_real(c, "legend.rate", i),
                       .width = bn_case_item_real(c, "legend.width", i),
                       .coefficient = bn_case_item_real(c, "legend.coefficient", i),
                       .open = bn_case_item_bool(c, "legend.open", i) };
        if (!l->coloured && !l->name[0])
            (void)bn_case_reject_item(c, "legend.kind", i, "colour = \"#1e90ff\"",
                                      "a legend needs a colour, for pictures, or a name, for polygons");
        if (l->coloured && !read_colour(colour, l->rgb))
            (void)bn_case_reject_item(c, "legend.colour", i, "\"#1e90ff\"", "a colour is # and six hexadecimal digits");
        for (size_t k = 0; k < i; k++) {
            if (l->coloured && plans->entry[k].coloured && memcmp(plans->entry[k].rgb, l->rgb, 3) == 0)
                (void)bn_case_reject_item(c, "legend.colour", i, NULL, "this colour stands in the legend twice");
            if (l->name[0] && strcmp(plans->entry[k].name, l->name) == 0)
                (void)bn_case_reject_item(c, "legend.name", i, NULL, "this name stands in the legend twice");
        }
    }
    if (count > LEGEND_MAX)
        (void)bn_case_reject_item(c, "legend.colour", LEGEND_MAX, NULL, "a legend has at most %d colours", LEGEND_MAX);
    if (count == 0) { /* black on white */
        plans->entry[0] = (legend){ .rgb = { 255, 255, 255 }, .coloured = true, .name = "", .kind = FLOOR };
        plans->entry[1] = (legend){ .rgb = { 0, 0, 0 }, .coloured = true, .name = "", .kind = WALL };
        plans->count = 2;
    }
}

/* Finds every pixel of a storey in the legend; the first that isn't there rejects the case. */
static bool find_colours(const bn_case *c, struct flood_plans *plans, size_t storey)
{
    size_t last = 0;
    for (size_t at = 0; at < (size_t)plans->width * plans->height; at++) {
        const unsigned char *rgb = plans->rgb[storey] + 3 * at;
        size_t tried = 0;
        while (tried < plans->count && !(plans->entry[last].coloured && memcmp(plans->entry[last].rgb, rgb, 3) == 0)) {
            last = (last + 1) % plans->count;
            tried++;
        }
        if (tried == plans->count) {
            (void)bn_case_reject_item(
                c, "storey.plan", storey, "draw without smoothing, or add it to [[legend]]",
                "storey %zu: the pixel in column %zu, row %zu has the colour #%02x%02x%02x, which is "
                "not in the legend",
                storey + 1, at % plans->width, at / plans->width, rgb[0], rgb[1], rgb[2]);
            return false;
        }
        plans->index[storey][at] = (unsigned char)last;
    }
    return true;
}

static bool ends(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

/* The picture of a storey, all of one size, with its colours found in the legend. */
static bn_status read_picture(const bn_case *c, bn_plan *p, struct flood_plans *plans, size_t k)
{
    const bn_input *picture;
    const bn_input_desc d = { .kind = BN_INPUT_RGB, .key = "storey.plan", .item = k + 1 };
    BN_TRY(bn_plan_input(p, c, &d, &picture));
    const uint32_t width = picture->n[0], height = picture->n[1];
    plans->rgb[k] = picture->pixels;
    if (plans->width == 0) {
        plans->width = width;
        plans->height = height;
    }
    if (width != plans->width || height != plans->height) {
        plans->rgb[k] = NULL;
        return bn_case_reject_item(c, "storey.plan", k, NULL,
                                   "storey %zu: the plan has %u x %u pixels, those below have %u x %u", k + 1, width,
                                   height, plans->width, plans->height);
    }
    BN_TRY(bn_plan_allocate(p, (size_t)width * height, (void **)&plans->index[k]));
    (void)find_colours(c, plans, k);
    return BN_OK;
}

/* The rectangle around all plans decides where the grid lies and how large it is. */
static bn_status measure_plans(const bn_case *c, flood *s, size_t storeys)
{
    struct flood_plans *plans = s->plans;
    double low[2] = { HUGE_VAL, HUGE_VAL }, high[2] = { -HUGE_VAL, -HUGE_VAL };
    const double side[2] = { plans->width * plans->pixel, plans->height * plans->pixel };
    for (int a = 0; a < 2; a++) {
        if (plans->width > 0) {
            low[a] = s->grid.origin[a];
            high[a] = s->grid.origin[a] + side[a];
        }
        for (size_t k = 0; k < storeys; k++)
            if (plans->shapes[k]) {
                low[a] = fmin(low[a], plans->shapes[k]->low[a]);
                high[a] = fmax(high[a], plans->shapes[k]->high[a]);
            }
    }
    if (!(high[0] > low[0]) || !(high[1] > low[1]))
        return BN_OK;
    if (bn_case_given(c, "grid.cells"))
        (void)bn_case_reject(c, "grid.cells", NULL, "the plans and grid.spacing decide how many cells there are");
    if (plans->width == 0 && bn_case_given(c, "grid.origin"))
        (void)bn_case_reject(c, "grid.origin", NULL, "the polygons of the plans decide where the grid lies");
    const double nx = ceil((high[0] - low[0]) / s->grid.h[0] - 1e-9),
                 ny = ceil((high[1] - low[1]) / s->grid.h[1] - 1e-9);
    if (nx < 2 || ny < 2 || nx > 65536 || ny > 65536)
        return bn_case_reject(c, "grid.spacing", NULL, "the plans of %g m x %g m would have %.0f x %.0f cells",
                              high[0] - low[0], high[1] - low[1], nx, ny);
    s->grid.nx = (uint32_t)nx;
    s->grid.ny = (uint32_t)ny;
    for (int a = 0; a < 2; a++) {
        plans->corner[a] = plans->width > 0 ? s->grid.origin[a] - low[a] : 0;
        s->grid.origin[a] = low[a];
    }
    return BN_OK;
}

bn_status flood_read_plans(const bn_case *c, bn_plan *p, flood *s)
{
    struct flood_plans *plans;
    const size_t storeys = bn_case_items(c, "storey");
    s->grid.storeys = storeys > 0 ? (uint32_t)storeys : 1;
    BN_TRY(bn_plan_allocate(p, sizeof *plans, (void **)&plans));
    BN_TRY(bn_plan_allocate(p, s->grid.storeys * sizeof *plans->rgb, (void **)&plans->rgb));
    BN_TRY(bn_plan_allocate(p, s->grid.storeys * sizeof *plans->index, (void **)&plans->index));
    BN_TRY(bn_plan_allocate(p, s->grid.storeys * sizeof *plans->shapes, (void **)&plans->shapes));
    BN_TRY(bn_plan_allocate(p, s->grid.storeys * sizeof *plans->meaning_of, (void **)&plans->meaning_of));
    s->plans = plans;
    plans->pixel = bn_case_real(c, "plan.pixel");
    read_legend(c, plans);
    for (size_t k = 0; k < storeys && !bn_case_diagnostics(c)[0]; k++) {
        const char *name = bn_case_item_text(c, "storey.plan", k);
        if (ends(name, ".wkt") || ends(name, ".csv") || bn_input_is_wkt(name))
            BN_TRY(flood_read_shapes(c, p, s, k));
        else if (name[0])
            BN_TRY(read_picture(c, p, plans, k));
    }
    for (size_t k = 1; k < storeys; k++)
        if (bn_case_item_real(c, "storey.height", k) <= bn_case_item_real(c, "storey.height", k - 1))
            (void)bn_case_reject_item(c, "storey.height", k, NULL, "storeys follow from the lowest to the highest");
    return bn_case_diagnostics(c)[0] ? BN_OK : measure_plans(c, s, storeys);
}

bool flood_pixel_at(const struct flood_plans *plans, const double x[2], size_t *column, size_t *row)
{
    const double i = floor((x[0] - plans->corner[0]) / plans->pixel);
    const double j = floor((x[1] - plans->corner[1]) / plans->pixel);
    if (!(i >= 0 && j >= 0 && i < plans->width && j < plans->height))
        return false;
    *column = (size_t)i;
    *row = plans->height - 1 - (size_t)j;
    return true;
}

/* The legend's entry at a place of a storey; NULL: outside of the plan. */
static const legend *legend_at(const struct flood_plans *plans, size_t storey, const double x[2])
{
    size_t column, row;
    return flood_pixel_at(plans, x, &column, &row) ? &plans->entry[plans->index[storey][row * plans->width + column]]
                                                   : NULL;
}

static bool blocked(const struct flood_plans *plans, size_t storey, const double x[2])
{
    const legend *l = legend_at(plans, storey, x);
    return !l || flood_blocks_water(l);
}

/* Cells whose middle lies in a wall are solid; between two others nothing passes where a wall crosses the line between
 * their middles, however thin it is. */
static void code_walls(flood *s, size_t storey)
{
    const struct flood_plans *plans = s->plans;
    int32_t *cell = s->cells.code + storey * s->grid.nx * s->grid.ny;
    for (size_t at = 0; at < (size_t)s->grid.nx * s->grid.ny; at++) {
        double x[2];
        flood_place(s, at % s->grid.nx, at / s->grid.nx, x);
        if (blocked(plans, storey, x))
            cell[at] |= FLOOD_SOLID;
    }
    const int pieces = (int)ceil(4 * s->grid.d / plans->pixel);
    for (size_t at = 0; at < (size_t)s->grid.nx * s->grid.ny; at++)
        for (int e = 0; e < s->grid.edges / 2; e++) {
            long i, j;
            double a[2], b[2];
            if (!flood_beside(s, at % s->grid.nx, at / s->grid.nx, e, &i, &j))
                continue;
            const size_t to = (size_t)j * s->grid.nx + (size_t)i;
            bool closed = (cell[at] | cell[to]) & FLOOD_SOLID;
            flood_place(s, at % s->grid.nx, at / s->grid.nx, a);
            flood_place(s, (size_t)i, (size_t)j, b);
            const bool near = !closed && hypot(b[0] - a[0], b[1] - a[1]) < 1.5 * s->grid.d; /* not beyond a side */
            for (int k = 1; k < pieces && near && !closed; k++) {
                const double t = (double)k / pieces, x[2] = { a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]) };
                closed = blocked(plans, storey, x);
            }
            if (closed) {
                cell[at] |= FLOOD_CLOSED << e;
                cell[to] |= FLOOD_CLOSED << (e + s->grid.edges / 2);
            }
        }
}

static void code_storeys(void *user, size_t first, size_t end)
{
    flood *s = user;
    for (size_t k = first; k < end; k++)
        if (s->plans->rgb[k])
            code_walls(s, k);
}

/* Nothing passes the edges of a solid cell, nor those that lead out through an open side. */
static void close_solids(void *user, size_t first, size_t end)
{
    flood *s = user;
    const size_t layer = (size_t)s->grid.nx * s->grid.ny;
    for (size_t at = first * layer; at < end * layer; at++) {
        long i, j;
        if (!(s->cells.code[at] & FLOOD_SOLID))
            continue;
        s->cells.code[at] = FLOOD_SOLID | (FLOOD_CLOSED * ((1 << s->grid.edges) - 1));
        for (int e = 0; e < s->grid.edges; e++)
            if (flood_beside(s, at % s->grid.nx, at / s->grid.nx % s->grid.ny, e, &i, &j))
                s->cells.code[at / layer * layer + (size_t)j * s->grid.nx + (size_t)i] |= FLOOD_CLOSED
                                                                                          << (e + s->grid.edges / 2) %
                                                                                                 s->grid.edges;
    }
}

bool flood_add_item(flood *s, const flood_item *item)
{
    if (s->cells.items == FLOOD_ITEMS)
        return false;
    s->cells.item[s->cells.items++] = *item;
    return true;
}

enum { WHERE_BYTES = 160 };

/* Where a cell is in the picture of its storey, unless something else names the place. */
static const char *name_place(const flood *s, size_t at, const char *where, char text[WHERE_BYTES])
{
    double x[2];
    size_t column = 0, row = 0;
    if (where)
        return where;
    flood_place(s, at % s->grid.nx, at / s->grid.nx, x);
    (void)flood_pixel_at(s->plans, x, &column, &row);
    snprintf(text, WHERE_BYTES, "in column %zu, row %zu", column, row);
    return text;
}

/* Whether a stair or an opening at cell `at` of a storey has floor below; else rejects the case. */
static bool check_link(const bn_case *c, const flood *s, size_t storey, size_t at, const char *what, const char *where)
{
    const size_t layer = (size_t)s->grid.nx * s->grid.ny;
    char text[WHERE_BYTES];
    where = name_place(s, at, where, text);
    if (storey == 0)
        (void)bn_case_reject_item(c, "storey.plan", storey, NULL,
                                  "storey 1: the %s %s leads nowhere, this is the lowest storey", what, where);
    else if (s->cells.code[(storey - 1) * layer + at] & FLOOD_SOLID)
        (void)bn_case_reject_item(c, "storey.plan", storey, NULL, "storey %zu: the %s %s ends in a wall of storey %zu",
                                  storey + 1, what, where, storey);
    else
        return true;
    return false;
}

/* Cells of a storey that belong to one patch of a colour with `start`, into `list`; marks them. */
static size_t collect(const flood *s, const unsigned char *kind, size_t start, bool *seen, size_t *list)
{
    size_t count = 1;
    list[0] = start;
    seen[start] = true;
    for (size_t next = 0; next < count; next++)
        for (int e = 0; e < s->grid.edges; e++) {
            long i, j;
            if (!flood_beside(s, list[next] % s->grid.nx, list[next] / s->grid.nx, e, &i, &j))
                continue;
            const size_t to = (size_t)j * s->grid.nx + (size_t)i;
            if (!seen[to] && kind[to] == kind[start]) {
                seen[to] = true;
                list[count++] = to;
            }
        }
    return count;
}

void flood_code_patch(const bn_case *c, flood *s, size_t storey, const legend *l, const size_t *list, size_t count,
                      const char *where)
{
    const size_t layer = (size_t)s->grid.nx * s->grid.ny;
    int32_t *cell = s->cells.code + storey * layer;
    char text[WHERE_BYTES];
    flood_item item = { .cells = count };
    item.rate = l->kind == STAIR ? l->width : l->kind == OPENING ? l->coefficient : l->rate;
    item.kind = l->kind == STAIR     ? FLOOD_ITEM_STAIR
                : l->kind == OPENING ? FLOOD_ITEM_OPENING
                : l->kind == SOURCE  ? FLOOD_ITEM_SOURCE
                                     : FLOOD_ITEM_DRAIN;
    if (!flood_add_item(s, &item)) {
        (void)bn_case_reject_item(
            c, "storey.plan", storey, NULL,
            "storey %zu: the patch %s is one source, drain, stair or opening too many, %d are possible", storey + 1,
            name_place(s, list[0], where, text), FLOOD_ITEMS);
        return;
    }
    for (size_t n = 0; n < count; n++) {
        int32_t *code = &cell[list[n]];
        if (*code / FLOOD_ITEM & FLOOD_ITEMS) {
            (void)bn_case_reject_item(
                c, "storey.plan", storey, NULL,
                "storey %zu: the patch %s overlaps another source, a drain, a stair or an opening", storey + 1,
                name_place(s, list[n], where, text));
            return;
        }
        *code |= s->cells.items * FLOOD_ITEM | FLOOD_SPECIAL | (l->kind == DRAIN ? FLOOD_DRAIN : 0);
        if (l->kind != STAIR && l->kind != OPENING)
            continue;
        if (!check_link(c, s, storey, list[n], l->kind == STAIR ? "stair" : "opening", where))
            return;
        const int link = l->kind == STAIR ? FLOOD_STAIR : FLOOD_OPENING;
        *code |= link * FLOOD_DOWN;
        cell[list[n] - layer] |= link * FLOOD_UP | FLOOD_SPECIAL;
        s->scheme.links = true;
    }
}

static bn_status code_patches(const bn_case *c, bn_context *ctx, flood *s, size_t storey)
{
    const size_t layer = (size_t)s->grid.nx * s->grid.ny;
    const struct flood_plans *plans = s->plans;
    unsigned char *kind = calloc(layer, 1);
    bool *seen = calloc(layer, sizeof *seen);
    size_t *list = malloc(layer * sizeof *list);
    bn_status st = BN_OK;
    if (!kind || !seen || !list) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for the plans");
        goto out;
    }
    for (size_t at = 0; at < layer; at++) { /* 0: no stair, opening, source or drain */
        double x[2];
        flood_place(s, at % s->grid.nx, at / s->grid.nx, x);
        const legend *l = legend_at(plans, storey, x);
        if (l && l->kind >= STAIR)
            kind[at] = (unsigned char)(1 + (l - plans->entry));
    }
    for (size_t at = 0; at < layer && !bn_case_diagnostics(c)[0]; at++)
        if (kind[at] && !seen[at])
            flood_code_patch(c, s, storey, &plans->entry[kind[at] - 1], list, collect(s, kind, at, seen, list), NULL);
out:
    free(kind);
    free(seen);
    free(list);
    return st;
}

bn_status flood_code_plans(const bn_case *c, bn_plan *p, flood *s)
{
    const size_t layer = (size_t)s->grid.nx * s->grid.ny;
    BN_TRY(bn_plan_allocate(p, FLOOD_ITEMS * sizeof *s->cells.item, (void **)&s->cells.item));
    bn_parallel_jobs(s->grid.storeys, code_storeys, s);
    for (size_t k = 0; k < s->grid.storeys; k++)
        if (s->plans->shapes[k])
            BN_TRY(flood_code_shapes(c, p, s, k));
    bn_parallel_jobs(s->grid.storeys, close_solids, s);
    flood_code_places(c, s);
    for (size_t k = 0; k < s->grid.storeys && !bn_case_diagnostics(c)[0]; k++)
        if (s->plans->rgb[k])
            BN_TRY(code_patches(c, bn_plan_context(p), s, k));
        else if (s->plans->shapes[k])
            BN_TRY(flood_code_shape_patches(c, p, s, k));
    flood_check_histories(c, s);
    bool solid = false;
    for (size_t at = 0; at < layer * s->grid.storeys; at++) {
        solid = solid || (s->cells.code[at] & FLOOD_SOLID);
        s->scheme.special = s->scheme.special || (s->cells.code[at] & FLOOD_SPECIAL);
    }
    if (!solid)
        return BN_OK;
    BN_TRY(bn_plan_allocate(p, layer * s->grid.storeys * sizeof *s->cells.solid, (void **)&s->cells.solid));
    for (size_t at = 0; at < layer * s->grid.storeys; at++)
        s->cells.solid[at] = s->cells.code[at] & FLOOD_SOLID;
    return BN_OK;
}
