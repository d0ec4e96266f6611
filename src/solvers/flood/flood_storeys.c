/* flood_storeys.c: the storeys of a building from floor plans, a colour per meaning: walls between cells, doors,
 * stairs, openings, sources and drains; sources by their place; how strengths change with time. */
#include "flood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEGEND_MAX = 64 };
typedef enum meaning { FLOOR, WALL, OBSTACLE, DOOR, STAIR, OPENING, SOURCE, DRAIN } meaning; /* order of the choices */

typedef struct legend {
    unsigned char rgb[3];
    meaning kind;
    double rate, width, coefficient;
    bool open;
} legend;

struct flood_plans {
    legend entry[LEGEND_MAX];
    size_t count;
    uint32_t width, height;    /* pixels of each plan */
    double pixel;              /* [m] */
    const unsigned char **rgb; /* of each storey; NULL: an open floor */
    unsigned char **index;     /* place in the legend of each pixel */
};

static bool blocks_water(const legend *l)
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
        *l = (legend){ .kind = (meaning)bn_case_item_choice(c, "legend.kind", i),
                       .rate = bn_case_item_real(c, "legend.rate", i),
                       .width = bn_case_item_real(c, "legend.width", i),
                       .coefficient = bn_case_item_real(c, "legend.coefficient", i),
                       .open = bn_case_item_bool(c, "legend.open", i) };
        if (!read_colour(bn_case_item_text(c, "legend.colour", i), l->rgb))
            (void)bn_case_reject_item(c, "legend.colour", i, "\"#1e90ff\"", "a colour is # and six hexadecimal digits");
        for (size_t k = 0; k < i; k++)
            if (memcmp(plans->entry[k].rgb, l->rgb, 3) == 0)
                (void)bn_case_reject_item(c, "legend.colour", i, NULL, "this colour stands in the legend twice");
    }
    if (count > LEGEND_MAX)
        (void)bn_case_reject_item(c, "legend.colour", LEGEND_MAX, NULL, "a legend has at most %d colours", LEGEND_MAX);
    if (count == 0) { /* black on white */
        plans->entry[0] = (legend){ .rgb = { 255, 255, 255 }, .kind = FLOOR };
        plans->entry[1] = (legend){ .rgb = { 0, 0, 0 }, .kind = WALL };
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
        while (tried < plans->count && memcmp(plans->entry[last].rgb, rgb, 3) != 0) {
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

bn_status flood_read_plans(const bn_case *c, bn_plan *p, flood *s)
{
    struct flood_plans *plans;
    const size_t storeys = bn_case_items(c, "storey");
    s->storeys = storeys > 0 ? (uint32_t)storeys : 1;
    BN_TRY(bn_plan_keep(p, sizeof *plans, (void **)&plans));
    BN_TRY(bn_plan_keep(p, s->storeys * sizeof *plans->rgb, (void **)&plans->rgb));
    BN_TRY(bn_plan_keep(p, s->storeys * sizeof *plans->index, (void **)&plans->index));
    s->plans = plans;
    plans->pixel = bn_case_real(c, "plan.pixel");
    read_legend(c, plans);
    for (size_t k = 0; k < storeys; k++) {
        uint32_t width, height;
        if (bn_case_item_text(c, "storey.plan", k)[0] == '\0')
            continue;
        BN_TRY(bn_plan_rgb_item(p, c, "storey.plan", k, &width, &height, &plans->rgb[k]));
        if (!plans->rgb[k])
            return BN_OK;
        if (plans->width == 0) {
            plans->width = width;
            plans->height = height;
        }
        if (width != plans->width || height != plans->height) {
            plans->rgb[k] = NULL;
            return bn_case_reject_item(c, "storey.plan", k, NULL,
                                       "storey %zu: the plan has %u x %u pixels, those below have %u x %u", k + 1,
                                       width, height, plans->width, plans->height);
        }
        BN_TRY(bn_plan_keep(p, (size_t)width * height, (void **)&plans->index[k]));
        if (!find_colours(c, plans, k))
            return BN_OK;
    }
    for (size_t k = 1; k < storeys; k++)
        if (bn_case_item_real(c, "storey.height", k) <= bn_case_item_real(c, "storey.height", k - 1))
            (void)bn_case_reject_item(c, "storey.height", k, NULL, "storeys follow from the lowest to the highest");
    if (plans->width == 0)
        return BN_OK;
    if (bn_case_given(c, "grid.cells"))
        (void)bn_case_reject(c, "grid.cells", NULL, "the plans and grid.spacing decide how many cells there are");
    const double nx = ceil(plans->width * plans->pixel / s->h[0] - 1e-9);
    const double ny = ceil(plans->height * plans->pixel / s->h[1] - 1e-9);
    if (nx < 2 || ny < 2 || nx > 65536 || ny > 65536)
        return bn_case_reject(c, "grid.spacing", NULL, "the plans of %g m x %g m would have %.0f x %.0f cells",
                              plans->width * plans->pixel, plans->height * plans->pixel, nx, ny);
    s->nx = (uint32_t)nx;
    s->ny = (uint32_t)ny;
    return BN_OK;
}

/* The pixel at a place; false: outside of the plan. */
static bool pixel_at(const struct flood_plans *plans, const double x[2], size_t *column, size_t *row)
{
    const double i = floor(x[0] / plans->pixel), j = floor(x[1] / plans->pixel);
    if (!(i >= 0 && j >= 0 && i < plans->width && j < plans->height))
        return false;
    *column = (size_t)i;
    *row = plans->height - 1 - (size_t)j;
    return true;
}

/* What stands at a place of a storey; NULL: nothing, it is outside. */
static const legend *legend_at(const struct flood_plans *plans, size_t storey, const double x[2])
{
    size_t column, row;
    return pixel_at(plans, x, &column, &row) ? &plans->entry[plans->index[storey][row * plans->width + column]] : NULL;
}

static bool blocked(const struct flood_plans *plans, size_t storey, const double x[2])
{
    const legend *l = legend_at(plans, storey, x);
    return !l || blocks_water(l);
}

/* Cells whose middle lies in a wall are solid; between two others nothing passes where a wall crosses the line between
 * their middles, however thin it is. */
static void code_walls(flood *s, size_t storey)
{
    const struct flood_plans *plans = s->plans;
    int32_t *cell = s->cell + storey * s->nx * s->ny;
    for (size_t at = 0; at < (size_t)s->nx * s->ny; at++) {
        double x[2];
        flood_place(s, at % s->nx, at / s->nx, x);
        if (blocked(plans, storey, x))
            cell[at] |= FLOOD_SOLID;
    }
    const int pieces = (int)ceil(4 * s->d / plans->pixel);
    for (size_t at = 0; at < (size_t)s->nx * s->ny; at++)
        for (int e = 0; e < s->edges / 2; e++) {
            long i, j;
            double a[2], b[2];
            if (!flood_beside(s, at % s->nx, at / s->nx, e, &i, &j))
                continue;
            const size_t to = (size_t)j * s->nx + (size_t)i;
            bool closed = (cell[at] | cell[to]) & FLOOD_SOLID;
            flood_place(s, at % s->nx, at / s->nx, a);
            flood_place(s, (size_t)i, (size_t)j, b);
            for (int k = 1; k < pieces && !closed; k++) {
                const double t = (double)k / pieces, x[2] = { a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]) };
                closed = hypot(b[0] - a[0], b[1] - a[1]) < 1.5 * s->d && blocked(plans, storey, x);
            }
            if (closed) {
                cell[at] |= FLOOD_CLOSED << e;
                cell[to] |= FLOOD_CLOSED << (e + s->edges / 2);
            }
        }
    for (size_t at = 0; at < (size_t)s->nx * s->ny; at++)
        if (cell[at] & FLOOD_SOLID) /* also towards open sides */
            cell[at] = FLOOD_SOLID | (FLOOD_CLOSED * ((1 << s->edges) - 1));
}

static bool add_item(flood *s, const flood_item *item)
{
    if (s->items == FLOOD_ITEMS)
        return false;
    s->item[s->items++] = *item;
    return true;
}

static void name_pixel(const flood *s, size_t at, size_t *column, size_t *row)
{
    double x[2];
    flood_place(s, at % s->nx, at / s->nx, x);
    *column = *row = 0;
    (void)pixel_at(s->plans, x, column, row);
}

/* A stair or an opening at `at` of a storey has floor below? Says what is wrong. */
static bool check_link(const bn_case *c, const flood *s, size_t storey, size_t at, const char *what)
{
    const size_t layer = (size_t)s->nx * s->ny;
    size_t column, row;
    name_pixel(s, at, &column, &row);
    if (storey == 0)
        (void)bn_case_reject_item(c, "storey.plan", storey, NULL,
                                  "storey 1: the %s in column %zu, row %zu leads nowhere, this is the lowest storey",
                                  what, column, row);
    else if (s->cell[(storey - 1) * layer + at] & FLOOD_SOLID)
        (void)bn_case_reject_item(c, "storey.plan", storey, NULL,
                                  "storey %zu: the %s in column %zu, row %zu ends in a wall of storey %zu", storey + 1,
                                  what, column, row, storey);
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
        for (int e = 0; e < s->edges; e++) {
            long i, j;
            if (!flood_beside(s, list[next] % s->nx, list[next] / s->nx, e, &i, &j))
                continue;
            const size_t to = (size_t)j * s->nx + (size_t)i;
            if (!seen[to] && kind[to] == kind[start]) {
                seen[to] = true;
                list[count++] = to;
            }
        }
    return count;
}

/* Gives the cells of a patch their item, and of a link the storey below its end. */
static void code_patch(const bn_case *c, flood *s, size_t storey, const legend *l, const size_t *list, size_t count)
{
    const size_t layer = (size_t)s->nx * s->ny;
    int32_t *cell = s->cell + storey * layer;
    flood_item item = { .cells = count };
    item.rate = l->kind == STAIR ? l->width : l->kind == OPENING ? l->coefficient : l->rate;
    item.kind = l->kind == STAIR     ? FLOOD_ITEM_STAIR
                : l->kind == OPENING ? FLOOD_ITEM_OPENING
                : l->kind == SOURCE  ? FLOOD_ITEM_SOURCE
                                     : FLOOD_ITEM_DRAIN;
    size_t column, row;
    name_pixel(s, list[0], &column, &row);
    if (!add_item(s, &item)) {
        (void)bn_case_reject_item(
            c, "storey.plan", storey, NULL,
            "storey %zu: the patch in column %zu, row %zu is one source, drain, stair or opening too "
            "many, %d are possible",
            storey + 1, column, row, FLOOD_ITEMS);
        return;
    }
    for (size_t n = 0; n < count; n++) {
        int32_t *code = &cell[list[n]];
        *code |= s->items * FLOOD_ITEM | FLOOD_SPECIAL | (l->kind == DRAIN ? FLOOD_DRAIN : 0);
        if (l->kind != STAIR && l->kind != OPENING)
            continue;
        if (!check_link(c, s, storey, list[n], l->kind == STAIR ? "stair" : "opening"))
            return;
        const int link = l->kind == STAIR ? FLOOD_STAIR : FLOOD_OPENING;
        *code |= link * FLOOD_DOWN;
        cell[list[n] - layer] |= link * FLOOD_UP | FLOOD_SPECIAL;
        s->links = true;
    }
}

static bn_status code_patches(const bn_case *c, bn_context *ctx, flood *s, size_t storey)
{
    const size_t layer = (size_t)s->nx * s->ny;
    const struct flood_plans *plans = s->plans;
    unsigned char *kind = calloc(layer, 1);
    bool *seen = calloc(layer, sizeof *seen);
    size_t *list = malloc(layer * sizeof *list);
    bn_status st = BN_OK;
    if (!kind || !seen || !list) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for the plans");
        goto out;
    }
    for (size_t at = 0; at < layer; at++) { /* 0: nothing special */
        double x[2];
        flood_place(s, at % s->nx, at / s->nx, x);
        const legend *l = legend_at(plans, storey, x);
        if (l && l->kind >= STAIR)
            kind[at] = (unsigned char)(1 + (l - plans->entry));
    }
    for (size_t at = 0; at < layer && !bn_case_problems(c)[0]; at++)
        if (kind[at] && !seen[at])
            code_patch(c, s, storey, &plans->entry[kind[at] - 1], list, collect(s, kind, at, seen, list));
out:
    free(kind);
    free(seen);
    free(list);
    return st;
}

/* [[source]]: cells within a radius of a place, at least the nearest one. */
static void code_source(const bn_case *c, flood *s, size_t which)
{
    const long long storey = bn_case_item_int(c, "source.storey", which);
    const double x[2] = { bn_case_item_real_at(c, "source.at", which, 0),
                          bn_case_item_real_at(c, "source.at", which, 1) };
    const double radius = bn_case_item_real(c, "source.radius", which);
    if (storey > (long long)s->storeys) {
        (void)bn_case_reject_item(c, "source.storey", which, NULL, "source %zu: there are only %u storeys", which + 1,
                                  s->storeys);
        return;
    }
    int32_t *cell = s->cell + (size_t)(storey - 1) * s->nx * s->ny;
    size_t nearest = 0;
    double least = HUGE_VAL;
    flood_item item = { .rate = bn_case_item_real(c, "source.rate", which), .kind = FLOOD_ITEM_SOURCE };
    for (size_t at = 0; at < (size_t)s->nx * s->ny; at++) {
        double y[2];
        flood_place(s, at % s->nx, at / s->nx, y);
        const double r = hypot(y[0] - x[0], y[1] - x[1]);
        if (r < least) {
            least = r;
            nearest = at;
        }
        if (r > radius || (cell[at] & FLOOD_SOLID))
            continue;
        item.cells++;
    }
    size_t column = 0, row = 0;
    const bool drawn = s->plans->width > 0 && pixel_at(s->plans, x, &column, &row);
    if (least > s->d)
        (void)bn_case_reject_item(c, "source.at", which, NULL, "source %zu: (%g m, %g m) lies outside of storey %lld",
                                  which + 1, x[0], x[1], storey);
    else if (cell[nearest] & FLOOD_SOLID)
        (void)bn_case_reject_item(c, "source.at", which, NULL,
                                  "source %zu: (%g m, %g m) lies in a wall of storey %lld%s (column %zu, row %zu)",
                                  which + 1, x[0], x[1], storey, drawn ? "" : ", outside of the plan", column, row);
    else if (!add_item(s, &item))
        (void)bn_case_reject_item(c, "source.at", which, NULL, "more than %d sources, drains and stairs", FLOOD_ITEMS);
    if (bn_case_problems(c)[0])
        return;
    flood_item *added = &s->item[s->items - 1];
    added->cells = 0;
    for (size_t at = 0; at < (size_t)s->nx * s->ny; at++) {
        double y[2];
        flood_place(s, at % s->nx, at / s->nx, y);
        if ((cell[at] & FLOOD_SOLID) || (at != nearest && hypot(y[0] - x[0], y[1] - x[1]) > radius))
            continue;
        if (cell[at] / FLOOD_ITEM & 255) {
            (void)bn_case_reject_item(c, "source.at", which, NULL,
                                      "source %zu overlaps another source, a drain or a stair of storey %lld",
                                      which + 1, storey);
            return;
        }
        cell[at] |= s->items * FLOOD_ITEM | FLOOD_SPECIAL;
        added->cells++;
    }
}

/* [[history]]: rows of the list that tell how a source or a side changes, in the order of their times. */
static void check_histories(const bn_case *c, const flood *s)
{
    for (size_t i = 0; i < bn_case_items(c, "history"); i++) {
        const int of = bn_case_item_choice(c, "history.of", i);
        const long long number = bn_case_item_int(c, "history.source", i);
        if (of == FLOOD_SIDES && number > (long long)bn_case_items(c, "source"))
            (void)bn_case_reject_item(c, "history.source", i, NULL, "there are only %zu sources",
                                      bn_case_items(c, "source"));
        if (of < FLOOD_SIDES && s->border[of] != FLOOD_INFLOW && s->border[of] != FLOOD_LEVEL)
            (void)bn_case_reject_item(c, "history.of", i, NULL, "this side has neither a discharge nor a level");
        for (size_t k = 0; k < i; k++)
            if (bn_case_item_choice(c, "history.of", k) == of && bn_case_item_int(c, "history.source", k) == number &&
                bn_case_item_real(c, "history.time", k) >= bn_case_item_real(c, "history.time", i)) {
                (void)bn_case_reject_item(c, "history.time", i, NULL, "times must grow from one row to the next");
                break;
            }
    }
}

/* Integral of the polygon through the rows of a history from 0 to t; constant before the first and after the last row.
 * False: there are none. */
static bool history_integral(const bn_case *c, int of, long long source, double t, double *sum)
{
    double time = 0, value = 0;
    bool any = false;
    *sum = 0;
    for (size_t i = 0; i < bn_case_items(c, "history"); i++) {
        if (bn_case_item_choice(c, "history.of", i) != of || bn_case_item_int(c, "history.source", i) != source)
            continue;
        const double next = bn_case_item_real(c, "history.time", i), rises = bn_case_item_real(c, "history.value", i);
        if (!any)
            value = rises;
        any = true;
        const double end = fmin(next, t), share = next > time ? (end - time) / (next - time) : 0;
        if (end > time)
            *sum += (end - time) * (value + 0.5 * share * (rises - value));
        time = next;
        value = rises;
        if (t <= next)
            return true;
    }
    *sum += (t - time) * value;
    return any;
}

double flood_mean(const bn_case *c, int of, long long source, double begin, double end, double constant)
{
    double before, after;
    if (!history_integral(c, of, source, begin, &before) || !history_integral(c, of, source, end, &after))
        return constant;
    return (after - before) / (end - begin);
}

bn_status flood_code_plans(const bn_case *c, bn_plan *p, flood *s)
{
    const size_t layer = (size_t)s->nx * s->ny;
    BN_TRY(bn_plan_keep(p, FLOOD_ITEMS * sizeof *s->item, (void **)&s->item));
    for (size_t k = 0; k < s->storeys; k++)
        if (s->plans->rgb[k])
            code_walls(s, k);
    for (size_t i = 0; i < bn_case_items(c, "source") && !bn_case_problems(c)[0]; i++)
        code_source(c, s, i);
    for (size_t k = 0; k < s->storeys && !bn_case_problems(c)[0]; k++)
        if (s->plans->rgb[k])
            BN_TRY(code_patches(c, bn_plan_context(p), s, k));
    check_histories(c, s);
    bool solid = false;
    for (size_t at = 0; at < layer * s->storeys; at++) {
        solid = solid || (s->cell[at] & FLOOD_SOLID);
        s->special = s->special || (s->cell[at] & FLOOD_SPECIAL);
    }
    if (!solid)
        return BN_OK;
    BN_TRY(bn_plan_keep(p, layer * s->storeys * sizeof *s->solid, (void **)&s->solid));
    for (size_t at = 0; at < layer * s->storeys; at++)
        s->solid[at] = s->cell[at] & FLOOD_SOLID;
    return BN_OK;
}
