/* flood_places.c: what the case puts at a place by its coordinates: sources, drains and culverts. */
#include "flood_plans.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* HEC-22 (Federal Highway Administration, 3rd edition, 2009), 4.4.4.1: a grate takes what falls over its perimeter as
 * over a weir, 1.66 P h^(3/2) in metric units, and at most what its openings let through, 0.67 A sqrt(2 g h). */
static const double grate_weir = 1.66, grate_orifice = 0.67;

/* A rate that limits nothing. */
static const double no_limit = 1e30;

const flood_place_keys flood_source_keys = { "source", "source.storey", "source.at", "source.radius", "source.rate" };
const flood_place_keys flood_drain_keys = { "drain", "drain.storey", "drain.at", "drain.radius", "drain.rate" };

double flood_find_nearest(const flood *s, size_t storey, const double x[2], bool any, bool taken, size_t *nearest)
{
    const size_t layer = (size_t)s->grid.nx * s->grid.ny;
    const int32_t *cell = s->cells.code + storey * layer;
    double least = HUGE_VAL;
    *nearest = 0;
    for (size_t at = 0; at < layer; at++) {
        double y[2];
        flood_place(s, at % s->grid.nx, at / s->grid.nx, y);
        const double r = hypot(y[0] - x[0], y[1] - x[1]);
        if (r < least && (any || !(cell[at] & FLOOD_SOLID)) && !(taken && (cell[at] & FLOOD_ITEMS * FLOOD_ITEM))) {
            least = r;
            *nearest = at;
        }
    }
    return least;
}

/* Where an entry of a list stands, from the corner of the domain; false: not on the floor of its storey, and the case
 * is rejected. */
static bool find_place(const bn_case *c, const flood *s, const char *list, const char *key, size_t which,
                       long long storey, double x[2])
{
    const double asked[2] = { bn_case_item_real_at(c, key, which, 0), bn_case_item_real_at(c, key, which, 1) };
    for (size_t a = 0; a < 2; a++)
        x[a] = asked[a] - s->grid.origin[a];
    size_t nearest, column = 0, row = 0;
    char pixel[80] = "";
    if (storey > (long long)s->grid.storeys) {
        (void)bn_case_reject_item(c, key, which, NULL, "%s %zu: there are only %u storeys", list, which + 1,
                                  s->grid.storeys);
        return false;
    }
    const double off = flood_find_nearest(s, (size_t)(storey - 1), x, true, false, &nearest);
    if (s->plans->rgb[storey - 1] && flood_pixel_at(s->plans, x, &column, &row))
        snprintf(pixel, sizeof pixel, " (column %zu, row %zu)", column, row);
    if (off > s->grid.d)
        (void)bn_case_reject_item(c, key, which, NULL, "%s %zu: (%g m, %g m) lies outside of storey %lld", list,
                                  which + 1, asked[0], asked[1], storey);
    else if (s->cells.code[(size_t)(storey - 1) * s->grid.nx * s->grid.ny + nearest] & FLOOD_SOLID)
        (void)bn_case_reject_item(c, key, which, NULL, "%s %zu: (%g m, %g m) lies in a wall of storey %lld%s", list,
                                  which + 1, asked[0], asked[1], storey, pixel);
    else
        return true;
    return false;
}

/* The item for a list's entry; NULL: there are too many, and the case is rejected. */
static flood_item *add_item(const bn_case *c, flood *s, const char *key, size_t which, const flood_item *item)
{
    if (flood_add_item(s, item))
        return &s->cells.item[s->cells.items - 1];
    (void)bn_case_reject_item(c, key, which, NULL, "more than %d sources, drains, stairs and ends of culverts",
                              FLOOD_ITEMS);
    return NULL;
}

/* [[source]], [[drain]]: cells within a radius of a place, at least the nearest one. */
static void code_place(const bn_case *c, flood *s, const flood_place_keys *k, size_t which)
{
    const long long storey = bn_case_item_int(c, k->storey, which);
    const double radius = bn_case_item_real(c, k->radius, which);
    const bool drain = k == &flood_drain_keys;
    double x[2];
    size_t nearest;
    flood_item *added;
    if (!find_place(c, s, k->list, k->at, which, storey, x) ||
        !(added = add_item(c, s, k->at, which,
                           &(flood_item){ .rate = bn_case_item_real(c, k->rate, which),
                                          .kind = drain ? FLOOD_ITEM_DRAIN : FLOOD_ITEM_SOURCE })))
        return;
    int32_t *cell = s->cells.code + (size_t)(storey - 1) * s->grid.nx * s->grid.ny;
    (void)flood_find_nearest(s, (size_t)(storey - 1), x, true, false, &nearest);
    for (size_t at = 0; at < (size_t)s->grid.nx * s->grid.ny; at++) {
        double y[2];
        flood_place(s, at % s->grid.nx, at / s->grid.nx, y);
        if ((cell[at] & FLOOD_SOLID) || (at != nearest && hypot(y[0] - x[0], y[1] - x[1]) > radius))
            continue;
        if (cell[at] / FLOOD_ITEM & FLOOD_ITEMS) {
            (void)bn_case_reject_item(c, k->at, which, NULL,
                                      "%s %zu overlaps another source, a drain or a stair of storey %lld", k->list,
                                      which + 1, storey);
            return;
        }
        cell[at] |= s->cells.items * FLOOD_ITEM | FLOOD_SPECIAL | (drain ? FLOOD_DRAIN : 0);
        added->cells++;
    }
    if (!drain)
        return;
    const double area = (double)added->cells * s->grid.area;
    const double perimeter = bn_case_item_real(c, "drain.perimeter", which);
    const double openings = bn_case_item_real(c, "drain.area", which);
    if (added->rate == 0 && perimeter == 0 && openings == 0)
        (void)bn_case_reject_item(c, k->at, which, "rate = \"20 l/s\"", "drain %zu: what does it take?", which + 1);
    if (added->rate == 0)
        added->rate = no_limit;
    if (perimeter > 0 || openings > 0) {
        added->more[0] = perimeter > 0 ? grate_weir * perimeter / area : no_limit;
        added->more[1] = openings > 0 ? grate_orifice * openings * sqrt(2 * s->k.g) / area : no_limit;
    }
}

static double ground(const flood *s, size_t at)
{
    return flood_ground_at(s, at % s->grid.nx, at / s->grid.nx % s->grid.ny, at / s->grid.nx / s->grid.ny);
}

/* [[culvert]]: as many cells at each end as its barrels are wide, the nearest ones that are free; the n-th nearest of
 * both ends carry their part of the discharge from one to the other. Their further values: height of the barrels, of
 * the sill over the ground at this end and at the other one, of this sill over the other one [m]; 2 g over the number
 * of velocity heads that are lost when the barrel is full [m s-2]; to the other end's item. */
static void code_culvert(const bn_case *c, flood *s, size_t which)
{
    static const char *const end[2] = { "culvert.from", "culvert.to" };
    static const char *const on[2] = { "culvert.from_storey", "culvert.to_storey" };
    double x[2][2], sill[2];
    long long storey[2];
    for (size_t e = 0; e < 2; e++) {
        storey[e] = bn_case_item_int(c, on[e], which);
        sill[e] = bn_case_item_real_at(c, "culvert.sills", which, e);
        if (!find_place(c, s, "culvert", end[e], which, storey[e], x[e]))
            return;
    }
    const double straight = hypot(x[1][0] - x[0][0], x[1][1] - x[0][1]);
    const double width = bn_case_item_real(c, "culvert.width", which),
                 height = bn_case_item_real(c, "culvert.height", which);
    const double all = width * (double)bn_case_item_int(c, "culvert.barrels", which);
    const double given = bn_case_item_real(c, "culvert.length", which), length = given > 0 ? given : straight;
    const double manning = bn_case_item_real(c, "culvert.manning", which);
    const double radius = width * height / (2 * (width + height));
    const double lost = 1 + bn_case_item_real(c, "culvert.entrance", which) +
                        2 * s->k.g * manning * manning * length / pow(radius, 4.0 / 3);
    const int cells = (int)fmax(1, ceil(all / s->grid.d - 1e-9));
    for (int n = 0; n < cells; n++) {
        size_t at[2];
        for (size_t e = 0; e < 2; e++) {
            const size_t layer = (size_t)s->grid.nx * s->grid.ny, first = (size_t)(storey[e] - 1) * layer;
            const double off = flood_find_nearest(s, (size_t)(storey[e] - 1), x[e], false, true, &at[e]);
            if (off > (n == 0 ? s->grid.d : all + s->grid.d)) {
                (void)bn_case_reject_item(c, end[e], which, NULL,
                                          "culvert %zu: there is no room for %g m of it in storey %lld, or a source, "
                                          "drain, stair or culvert is there already",
                                          which + 1, all, storey[e]);
                return;
            }
            at[e] += first;
            flood_item *added = add_item(c, s, end[e], which,
                                         &(flood_item){ .kind = FLOOD_ITEM_CULVERT, .rate = all / cells, .cells = 1 });
            if (!added)
                return;
            added->at = at[e];
            s->cells.code[at[e]] |= s->cells.items * FLOOD_ITEM | FLOOD_CULVERT * FLOOD_DOWN | FLOOD_SPECIAL;
        }
        for (size_t e = 0; e < 2; e++) {
            const double more[FLOOD_MORE_VALUE] = { height,
                                                    sill[e],
                                                    sill[1 - e],
                                                    (ground(s, at[e]) + sill[e]) - (ground(s, at[1 - e]) + sill[1 - e]),
                                                    2 * s->k.g / lost,
                                                    e == 0 ? 1 : -1 };
            memcpy(s->cells.item[s->cells.items - 2 + (int)e].more, more, sizeof more);
        }
    }
    s->cells.culverts = true;
}

void flood_code_places(const bn_case *c, flood *s)
{
    for (size_t i = 0; i < bn_case_items(c, "source") && !bn_case_diagnostics(c)[0]; i++)
        code_place(c, s, &flood_source_keys, i);
    for (size_t i = 0; i < bn_case_items(c, "drain") && !bn_case_diagnostics(c)[0]; i++)
        code_place(c, s, &flood_drain_keys, i);
    for (size_t i = 0; i < bn_case_items(c, "culvert") && !bn_case_diagnostics(c)[0]; i++)
        code_culvert(c, s, i);
}
