/* flow_mask.c: obstacles from a picture or a shape: solid nodes, their connected parts, and which of these have fluid
 * all around (bodies). */
#include "flow.h"

#include <math.h>
#include <stdlib.h>

enum { DARK = 128 };

/* Whether a place lies in the simple obstacle, its edge included. */
static bool in_shape(const bn_case *c, flow_shape shape, double x, double y)
{
    const double dx = fabs(x - bn_case_real_at(c, "obstacle.centre", 0)) / bn_case_real_at(c, "obstacle.size", 0);
    const double dy = fabs(y - bn_case_real_at(c, "obstacle.centre", 1)) / bn_case_real_at(c, "obstacle.size", 1);
    const double edge = 0.5 * (1 + 1e-9);
    return shape == FLOW_ELLIPSE ? dx * dx + dy * dy <= edge * edge
                                 : shape == FLOW_RECTANGLE && dx <= edge && dy <= edge;
}

static bool is_solid(const flow *s, long i, long j)
{
    return i >= 0 && j >= 0 && i < (long)s->config.nx && j < (long)s->config.ny &&
           s->border.solid[(size_t)j * s->config.nx + (size_t)i];
}

/* Whether the cell with the south-west node (i, j) is solid: all of its nodes are. */
static bool solid_cell(const flow *s, long i, long j)
{
    return is_solid(s, i, j) && is_solid(s, i + 1, j) && is_solid(s, i, j + 1) && is_solid(s, i + 1, j + 1);
}

/* Drops solid nodes that are the corner of no solid cell: an obstacle thinner than a cell does not have two sides.
 * Returns the number of solid nodes left. */
static size_t drop_thin(flow *s, bool *drop, size_t *dropped)
{
    size_t left = 0;
    *dropped = 0;
    for (long j = 0; j < (long)s->config.ny; j++)
        for (long i = 0; i < (long)s->config.nx; i++) {
            const size_t at = (size_t)j * s->config.nx + (size_t)i;
            drop[at] = s->border.solid[at] && !solid_cell(s, i, j) && !solid_cell(s, i - 1, j) &&
                       !solid_cell(s, i, j - 1) && !solid_cell(s, i - 1, j - 1);
            *dropped += drop[at];
        }
    for (size_t at = 0; at < (size_t)s->config.nx * s->config.ny; at++) {
        s->border.solid[at] = s->border.solid[at] && !drop[at];
        left += s->border.solid[at];
    }
    return left;
}

/* What a connected solid touches. */
typedef struct body {
    bool border, outflow;
    double low, high; /* of psi on the border that it touches */
    uint32_t left, right, bottom, top;
} body;

/* Collects the solid nodes connected with `start` into `list`; marks them as seen. */
static size_t collect(const flow *s, size_t start, bool *seen, size_t *list)
{
    size_t count = 1;
    list[0] = start;
    seen[start] = true;
    for (size_t next = 0; next < count; next++) {
        const long i = (long)(list[next] % s->config.nx), j = (long)(list[next] / s->config.nx);
        const long x[4] = { i - 1, i + 1, i, i }, y[4] = { j, j, j - 1, j + 1 };
        for (int d = 0; d < 4; d++) {
            const size_t at = (size_t)(y[d] * (long)s->config.nx + x[d]);
            if (is_solid(s, x[d], y[d]) && !seen[at]) {
                seen[at] = true;
                list[count++] = at;
            }
        }
    }
    return count;
}

static body describe_body(const flow *s, const size_t *list, size_t count)
{
    body b = { .low = HUGE_VAL, .high = -HUGE_VAL, .left = UINT32_MAX, .bottom = UINT32_MAX };
    for (size_t n = 0; n < count; n++) {
        const uint32_t i = (uint32_t)(list[n] % s->config.nx), j = (uint32_t)(list[n] / s->config.nx);
        b.left = i < b.left ? i : b.left;
        b.right = i > b.right ? i : b.right;
        b.bottom = j < b.bottom ? j : b.bottom;
        b.top = j > b.top ? j : b.top;
        const bool on_side[FLOW_SIDES] = { i == 0, i + 1 == s->config.nx, j == 0, j + 1 == s->config.ny };
        for (int side = 0; side < FLOW_SIDES; side++)
            if (on_side[side]) {
                b.border = true;
                b.outflow = b.outflow || flow_piece_at(s, side, side < FLOW_BOTTOM ? j : i)->kind == FLOW_OUTFLOW;
                const double psi = flow_along(s, s->border.psi, side)[side < FLOW_BOTTOM ? j : i];
                b.low = fmin(b.low, psi);
                b.high = fmax(b.high, psi);
            }
    }
    return b;
}

/* The size of the largest body across the stream, from the largest along x and y [m]: along y where fluid enters from
 * the left or right, along x where it enters from below or above, what takes more of the width where both or neither
 * hold. */
static void measure_bodies(flow *s, const double extent[2])
{
    bool enters[2] = { false, false };
    for (int i = 0; i < s->border.pieces; i++)
        if (s->border.piece[i].kind == FLOW_INFLOW)
            enters[s->border.piece[i].side < FLOW_BOTTOM ? 0 : 1] = true;
    const bool one = enters[0] != enters[1];
    const double share[2] = { extent[0] / s->config.size[0], extent[1] / s->config.size[1] };
    const int across = one ? (enters[0] ? 1 : 0) : share[0] > share[1] ? 0 : 1;
    s->border.body_across = extent[across];
    s->border.body_share = share[across];
}

/* The number of a value of psi of obstacles on the border, from FLOW_BODIES + 1; 0: too many differ. They are the
 * walls' values, except where an obstacle touches an inflow in one node. */
static int number_of(flow *s, int *used, double psi)
{
    double *value = s->border.body_psi;
    int number = FLOW_BODIES + 1;
    while (number < *used && value[number] != psi)
        number++;
    if (number > UINT8_MAX)
        return 0;
    value[number] = psi;
    *used = number < *used ? *used : number + 1;
    return number;
}

/* Numbers the bodies that touch no border, and checks the others. */
static bn_status find_bodies(const bn_case *c, flow *s, bool *seen, size_t *list)
{
    int used = FLOW_BODIES + 1;
    const double scale = s->config.speed * (s->config.size[0] + s->config.size[1]);
    double extent[2] = { 0, 0 };
    for (size_t start = 0; start < (size_t)s->config.nx * s->config.ny; start++) {
        if (!s->border.solid[start] || seen[start])
            continue;
        const size_t count = collect(s, start, seen, list);
        const body b = describe_body(s, list, count);
        extent[0] = fmax(extent[0], (b.right - b.left) * s->config.h[0]);
        extent[1] = fmax(extent[1], (b.top - b.bottom) * s->config.h[1]);
        const double x = (double)(start % s->config.nx) * s->config.h[0],
                     y = (double)(start / s->config.nx) * s->config.h[1];
        if (b.outflow)
            return bn_case_reject(c, "obstacle.mask", NULL, "the obstacle at x = %g m, y = %g m reaches the outflow", x,
                                  y);
        if (b.border && b.high - b.low > 1e-9 * scale)
            return bn_case_reject(
                c, "obstacle.mask", "leave a gap",
                "the obstacle at x = %g m, y = %g m connects parts of the border between which %g m2/s "
                "flow: it closes the channel or covers an inflow",
                x, y, b.high - b.low);
        if (!b.border && s->border.bodies == FLOW_BODIES)
            return bn_case_reject(c, "obstacle.mask", NULL,
                                  "more than %d bodies that the fluid flows around (the next at x = %g m, y = %g m)",
                                  FLOW_BODIES, x, y);
        const int number = b.border ? number_of(s, &used, b.low != 0 ? b.low : b.high) : ++s->border.bodies;
        if (number == 0)
            return bn_case_reject(c, "obstacle.mask", NULL,
                                  "more than %d obstacles touch inflows (the next at x = %g m, y = %g m)",
                                  UINT8_MAX - FLOW_BODIES, x, y);
        for (size_t n = 0; n < count; n++)
            s->border.body[list[n]] = (uint8_t)number;
    }
    double middle = 0;
    for (uint32_t j = 0; j < s->config.ny; j++)
        middle += flow_along(s, s->border.psi, FLOW_LEFT)[j] / s->config.ny;
    for (int number = 1; number <= s->border.bodies; number++)
        s->border.body_psi[number] = middle;
    measure_bodies(s, extent);
    return BN_OK;
}

bn_status flow_read_mask(const bn_case *c, bn_plan *p, flow *s)
{
    const size_t points = (size_t)s->config.nx * s->config.ny;
    const bn_input *mask = NULL;
    s->border.body_heat = (flow_heat)bn_case_choice(c, "obstacle.heat");
    s->border.body_temperature = bn_case_real(c, "obstacle.temperature");
    if (s->config.a == 0 && s->border.body_heat == FLOW_GIVEN)
        (void)bn_case_reject(c, "obstacle.heat", "give fluid.diffusivity",
                             "without fluid.diffusivity there is no "
                             "temperature");
    const bool masked = bn_case_text(c, "obstacle.mask")[0] != '\0';
    const flow_shape shape = (flow_shape)bn_case_choice(c, "obstacle.shape");
    if (!masked && shape == FLOW_NO_SHAPE)
        return BN_OK;
    if (bn_plan_only_counts(p, (double)points)) {
        s->border.bodies = 1; /* each takes a field; one is likely */
        return BN_OK;
    }
    if (masked)
        BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_GREY, .key = "obstacle.mask" }, &mask));
    const uint32_t width = mask ? mask->n[0] : 0, height = mask ? mask->n[1] : 0;
    const unsigned char *grey = mask ? mask->pixels : NULL;
    BN_TRY(bn_plan_allocate(p, points * sizeof *s->border.solid, (void **)&s->border.solid));
    BN_TRY(bn_plan_allocate(p, points, (void **)&s->border.body));
    for (uint32_t j = 0; j < s->config.ny; j++)
        for (uint32_t i = 0; i < s->config.nx; i++) {
            const double x = (double)i / (s->config.nx - 1) * width, y = (1 - (double)j / (s->config.ny - 1)) * height;
            const size_t column = x < width ? (size_t)x : width - 1, row = y < height ? (size_t)y : height - 1;
            s->border.solid[(size_t)j * s->config.nx + i] = (grey && grey[row * width + column] < DARK) ||
                                                            in_shape(c, shape, i * s->config.h[0], j * s->config.h[1]);
        }
    bn_status st = BN_OK;
    bool *seen = calloc(points, sizeof *seen);
    size_t *list = malloc(points * sizeof *list), dropped = 0;
    if (!seen || !list) {
        st = bn_fail(bn_plan_context(p), BN_MEMORY, "no memory for the obstacles");
        goto out;
    }
    const size_t solid = drop_thin(s, seen, &dropped);
    BN_GO(bn_plan_note(p, "solid nodes", (double)solid, ""));
    if (dropped > 0)
        BN_GO(bn_plan_note(p, "obstacle nodes dropped, thinner than a cell", (double)dropped, ""));
    if (solid == 0) {
        (void)bn_case_reject(c, masked ? "obstacle.mask" : "obstacle.size",
                             "take a finer grid or a larger obstacle; dark pixels are solid",
                             "no obstacle is as large as a cell of the grid (%g m x %g m)", s->config.h[0],
                             s->config.h[1]);
        s->border.solid = NULL;
        goto out;
    }
    for (size_t at = 0; at < points; at++)
        seen[at] = false;
    (void)find_bodies(c, s, seen, list);
    BN_GO(bn_plan_note(p, "bodies with fluid all around", s->border.bodies, ""));
out:
    free(seen);
    free(list);
    return st;
}
