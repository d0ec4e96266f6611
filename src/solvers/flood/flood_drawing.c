/* flood_drawing.c: what pictures show of a storey beside its water: walls as the plan has them, not as cells make them,
 * doors, stairs, openings, sources, drains, culverts, gauges. */
#include "flood_plans.h"

#include <math.h>
#include <stdlib.h>

/* Lists that are counted in a first pass, when their memory is NULL, and filled in a second. */
typedef struct lists {
    double (*solid)[2];
    bn_drawn_line *lines;
    size_t points, count;
} lists;

static void add_point(lists *l, double x, double y)
{
    if (l->solid) {
        l->solid[l->points][0] = x;
        l->solid[l->points][1] = y;
    }
    l->points++;
}

static void add_rectangle(lists *l, double x0, double y0, double x1, double y1)
{
    add_point(l, x0, y0);
    add_point(l, x1, y0);
    add_point(l, x1, y1);
    add_point(l, x0, y1);
    add_point(l, x0, y0);
    add_point(l, (double)NAN, (double)NAN);
}

static void add_line(lists *l, bn_drawn_kind kind, double x0, double y0, double x1, double y1)
{
    if (l->lines)
        l->lines[l->count] = (bn_drawn_line){ { x0, y0, x1, y1 }, kind };
    l->count++;
}

/* BN_DRAWN_COUNT: floor, which has no lines. */
static bn_drawn_kind kind_of(const legend *l)
{
    switch (l->kind) {
    case FLOOR: break;
    case WALL:
    case OBSTACLE: return BN_DRAWN_WALL;
    case DOOR: return l->open ? BN_DRAWN_DOOR : BN_DRAWN_WALL;
    case STAIR: return BN_DRAWN_STAIR;
    case OPENING: return BN_DRAWN_OPENING;
    case SOURCE: return BN_DRAWN_SOURCE;
    case DRAIN: return BN_DRAWN_DRAIN;
    case MEANINGS: break;
    }
    return BN_DRAWN_COUNT;
}

/* --- plans that are pictures --- */

typedef struct pixels {
    const struct flood_plans *plans;
    const unsigned char *index;
    double corner[2]; /* [m] */
} pixels;

/* Of a pixel counted from the lower left; outside of the picture as inside at its border. */
static bn_drawn_kind pixel_kind(const pixels *p, long i, long j)
{
    const long w = (long)p->plans->width, h = (long)p->plans->height;
    const long column = i < 0 ? 0 : i >= w ? w - 1 : i, row = j < 0 ? h - 1 : j >= h ? 0 : h - 1 - j;
    return kind_of(&p->plans->entry[p->index[row * w + column]]);
}

/* The line between two pixels: what comes first in bn_drawn_kind draws it. BN_DRAWN_COUNT: none. */
static bn_drawn_kind line_between(const pixels *p, long i, long j, bool upright)
{
    const bn_drawn_kind a = pixel_kind(p, i, j), b = upright ? pixel_kind(p, i - 1, j) : pixel_kind(p, i, j - 1);
    return a == b ? BN_DRAWN_COUNT : a < b ? a : b;
}

/* The lines along one line of the raster, as long as they go on alike. */
static void draw_raster_line(const pixels *p, lists *l, long across, long count, bool upright)
{
    const double h = p->plans->pixel;
    for (long k = 0; k < count;) {
        const long begin = k;
        const bn_drawn_kind kind = line_between(p, upright ? across : k, upright ? k : across, upright);
        while (k < count && line_between(p, upright ? across : k, upright ? k : across, upright) == kind)
            k++;
        const double at = p->corner[!upright] + h * (double)across, from = p->corner[upright] + h * (double)begin,
                     to = p->corner[upright] + h * (double)k;
        if (kind != BN_DRAWN_COUNT)
            add_line(l, kind, upright ? at : from, upright ? from : at, upright ? at : to, upright ? to : at);
    }
}

static void draw_pixels(const pixels *p, lists *l)
{
    const long w = (long)p->plans->width, h = (long)p->plans->height;
    const double side = p->plans->pixel;
    for (long j = 0; j < h; j++)
        for (long i = 0, begin; i < w; i++) {
            for (begin = i; i < w && pixel_kind(p, i, j) == BN_DRAWN_WALL;)
                i++;
            if (i > begin)
                add_rectangle(l, p->corner[0] + side * (double)begin, p->corner[1] + side * (double)j,
                              p->corner[0] + side * (double)i, p->corner[1] + side * (double)(j + 1));
        }
    for (long i = 1; i < w; i++)
        draw_raster_line(p, l, i, h, true);
    for (long j = 1; j < h; j++)
        draw_raster_line(p, l, j, w, false);
}

/* --- plans of polygons --- */

/* The lines of a shape, or of all that is open; of the latter also as borders of what is solid. */
static bn_status draw_outline(bn_plan *p, const bn_input *shapes, long which, bn_drawn_kind kind, bool solid, lists *l)
{
    const size_t count = bn_input_outline(shapes, which, NULL);
    double(*points)[2] = malloc((count + 1) * sizeof *points);
    if (!points)
        return bn_fail(bn_plan_context(p), BN_MEMORY, "no memory for the lines of a plan");
    (void)bn_input_outline(shapes, which, points);
    for (size_t i = 0; i < count; i++) {
        if (solid)
            add_point(l, points[i][0], points[i][1]);
        if (i > 0 && !isnan(points[i][0]) && !isnan(points[i - 1][0]))
            add_line(l, kind, points[i - 1][0], points[i - 1][1], points[i][0], points[i][1]);
    }
    free(points);
    return BN_OK;
}

static bn_status draw_shapes(bn_plan *p, const flood *s, size_t storey, lists *l)
{
    const bn_input *shapes = s->plans->shapes[storey];
    const double *low = s->grid.origin, *size = s->grid.size, more = 2 * s->grid.d;
    add_rectangle(l, low[0] - more, low[1] - more, low[0] + size[0] + more, low[1] + size[1] + more);
    for (size_t i = 0; i < shapes->count; i++) {
        const bn_drawn_kind kind = kind_of(&s->plans->entry[s->plans->meaning_of[storey][i]]);
        if (kind != BN_DRAWN_COUNT && kind != BN_DRAWN_WALL)
            BN_TRY(draw_outline(p, shapes, (long)i, kind, false, l));
    }
    BN_TRY(draw_outline(p, shapes, -2, BN_DRAWN_WALL, false, l));
    return draw_outline(p, shapes, -1, BN_DRAWN_WALL, true, l);
}

/* --- what the case places --- */

/* Circles around the places of a list. */
static void draw_places(const bn_case *c, const flood *s, size_t storey, const flood_place_keys *keys,
                        bn_drawn_kind kind, lists *l)
{
    enum { SIDES = 24 };
    for (size_t i = 0; i < bn_case_items(c, keys->list); i++) {
        if (bn_case_item_int(c, keys->storey, i) != (long long)storey + 1)
            continue;
        const double x = bn_case_item_real_at(c, keys->at, i, 0), y = bn_case_item_real_at(c, keys->at, i, 1),
                     r = fmax(bn_case_item_real(c, keys->radius, i), 0.5 * s->grid.d);
        for (int k = 0; k < SIDES; k++) {
            const double a = 2 * 3.14159265358979323846 / SIDES * k, b = 2 * 3.14159265358979323846 / SIDES * (k + 1);
            add_line(l, kind, x + r * cos(a), y + r * sin(a), x + r * cos(b), y + r * sin(b));
        }
    }
}

/* From end to end, on the storeys of both. */
static void draw_culverts(const bn_case *c, size_t storey, lists *l)
{
    for (size_t i = 0; i < bn_case_items(c, "culvert"); i++)
        if (bn_case_item_int(c, "culvert.from_storey", i) == (long long)storey + 1 ||
            bn_case_item_int(c, "culvert.to_storey", i) == (long long)storey + 1)
            add_line(l, BN_DRAWN_CULVERT, bn_case_item_real_at(c, "culvert.from", i, 0),
                     bn_case_item_real_at(c, "culvert.from", i, 1), bn_case_item_real_at(c, "culvert.to", i, 0),
                     bn_case_item_real_at(c, "culvert.to", i, 1));
}

static bn_status place_gauges(const bn_case *c, bn_plan *p, size_t storey, bn_drawing *out)
{
    const size_t all = bn_case_items(c, "gauge");
    double(*places)[3];
    if (all == 0)
        return BN_OK;
    BN_TRY(bn_plan_allocate(p, all * sizeof *places, (void **)&places));
    for (size_t g = 0; g < all; g++)
        if (bn_case_item_int(c, "gauge.storey", g) == (long long)storey + 1) {
            for (size_t a = 0; a < 2; a++)
                places[out->gauge_count][a] = bn_case_item_real_at(c, "gauge.at", g, a);
            places[out->gauge_count++][2] = (double)(g + 1);
        }
    out->gauges = (const double(*)[3])places;
    return BN_OK;
}

bn_status flood_draw_storey(const bn_case *c, bn_plan *p, const flood *s, size_t storey, bn_drawing *out)
{
    const struct flood_plans *plans = s->plans;
    lists l = { NULL, NULL, 0, 0 };
    *out = (bn_drawing){ .solid = NULL };
    if (bn_plan_only_counts(p, (double)s->grid.nx * s->grid.ny * s->grid.storeys))
        return BN_OK;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            BN_TRY(bn_plan_allocate(p, (l.points + 1) * sizeof *l.solid, (void **)&l.solid));
            BN_TRY(bn_plan_allocate(p, (l.count + 1) * sizeof *l.lines, (void **)&l.lines));
            l.points = l.count = 0;
        }
        if (plans->rgb[storey])
            draw_pixels(&(pixels){ plans,
                                   plans->index[storey],
                                   { s->grid.origin[0] + plans->corner[0], s->grid.origin[1] + plans->corner[1] } },
                        &l);
        else if (plans->shapes[storey])
            BN_TRY(draw_shapes(p, s, storey, &l));
        draw_places(c, s, storey, &flood_source_keys, BN_DRAWN_SOURCE, &l);
        draw_places(c, s, storey, &flood_drain_keys, BN_DRAWN_DRAIN, &l);
        draw_culverts(c, storey, &l);
    }
    out->solid = (const double(*)[2])l.solid;
    out->solid_count = l.points;
    out->lines = l.lines;
    out->line_count = l.count;
    return place_gauges(c, p, storey, out);
}
