/* flow_sides.c: the sides of the rectangle and their segments as pieces, each with what the border does there. */
#include "flow.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Share of the largest speed by which the inflow of tables may miss a balance. */
#define TABLE_EXCESS 1e-3

enum { KEY_KIND, KEY_SPEED, KEY_PROFILE, KEY_HEAT, KEY_TEMPERATURE, KEY_FILE, KEYS };

#define SIDE_KEYS(side)                                                                               \
    {                                                                                                 \
        side ".kind", side ".speed", side ".profile", side ".heat", side ".temperature", side ".file" \
    }
static const char *const keys[FLOW_SIDES + 1][KEYS] = {
    SIDE_KEYS("boundary.left"), SIDE_KEYS("boundary.right"),   SIDE_KEYS("boundary.bottom"),
    SIDE_KEYS("boundary.top"),  SIDE_KEYS("boundary.segment"),
};

double flow_side_length(const flow *s, int side) { return s->config.size[side < FLOW_BOTTOM ? 1 : 0]; }

uint32_t flow_side_nodes(const flow *s, int side) { return side < FLOW_BOTTOM ? s->config.ny : s->config.nx; }

double flow_node_place(const flow *s, int side, uint32_t node)
{
    return s->config.widths ? flow_place(s, side < FLOW_BOTTOM, node)
                            : flow_side_length(s, side) * node / (flow_side_nodes(s, side) - 1);
}

const flow_piece *flow_piece_at(const flow *s, int side, uint32_t node)
{
    return &s->border.piece[s->border.edge[side][node]];
}

static void reject(const bn_case *c, const flow_piece *p, int key, const char *hint, const char *format, ...)
    BN_PRINTF(5, 6);
static void reject(const bn_case *c, const flow_piece *p, int key, const char *hint, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (p->item >= 0)
        (void)bn_case_reject_item(c, keys[FLOW_SIDES][key], (size_t)p->item, hint, "%s", text);
    else
        (void)bn_case_reject(c, keys[p->side][key], hint, "%s", text);
}

void flow_table_velocity(const flow_piece *p, double place, double velocity[2])
{
    const bn_input *t = p->table;
    size_t row = 1;
    while (row + 1 < t->rows && t->values[3 * row] < place)
        row++;
    const double *a = t->values + 3 * (row - 1), *b = t->values + 3 * row;
    const double share = fmin(1, fmax(0, (place - a[0]) / (b[0] - a[0])));
    for (int k = 0; k < 2; k++)
        velocity[k] = a[1 + k] + share * (b[1 + k] - a[1 + k]);
}

double flow_speed_inwards(int side, const double velocity[2])
{
    return (side == FLOW_LEFT || side == FLOW_BOTTOM ? 1 : -1) * velocity[side < FLOW_BOTTOM ? 0 : 1];
}

/* Of the table: trapezoids between its rows, which are exact. */
static double table_flux(const flow_piece *p, double place)
{
    double sum = 0, from = p->from, last[2], next[2];
    flow_table_velocity(p, from, last);
    for (size_t row = 0; row <= p->table->rows && from < place; row++) {
        const double to = row < p->table->rows ? fmin(place, p->table->values[3 * row]) : place;
        if (to <= from)
            continue;
        flow_table_velocity(p, to, next);
        sum += 0.5 * (to - from) * (flow_speed_inwards(p->side, last) + flow_speed_inwards(p->side, next));
        from = to;
        last[0] = next[0];
        last[1] = next[1];
    }
    return sum;
}

double flow_piece_flux(const flow_piece *p, double place)
{
    const double end = fmin(p->to, fmax(p->from, place)), eta = (end - p->from) / (p->to - p->from);
    return p->kind == FLOW_INFLOW
               ? p->speed * (p->to - p->from) * (p->profile == FLOW_UNIFORM ? eta : eta * eta * (3 - 2 * eta))
           : p->kind == FLOW_VELOCITY ? table_flux(p, end) + p->excess * (end - p->from)
                                      : 0;
}

/* The largest speed that a piece prescribes. */
static double peak(const flow_piece *p)
{
    double most = fabs(p->speed) * (p->kind == FLOW_INFLOW && p->profile == FLOW_PARABOLIC ? 1.5 : 1);
    for (size_t row = 0; p->kind == FLOW_VELOCITY && row < p->table->rows; row++)
        most = fmax(most, hypot(p->table->values[3 * row + 1], p->table->values[3 * row + 2]));
    return most;
}

double flow_net_inflow(const flow *s)
{
    double in = 0;
    for (int i = 0; i < s->border.pieces; i++)
        in += flow_piece_flux(&s->border.piece[i], s->border.piece[i].to);
    return in;
}

/* The table of a piece whose velocity is given. */
static bn_status read_table(const bn_case *c, bn_plan *plan, flow_piece *p)
{
    const bn_input_desc desc = { .kind = BN_INPUT_TABLE,
                                 .key = keys[p->item >= 0 ? FLOW_SIDES : p->side][KEY_FILE],
                                 .item = (size_t)(p->item + 1) };
    if (p->kind != FLOW_VELOCITY)
        return BN_OK;
    BN_TRY(bn_plan_input(plan, c, &desc, &p->table));
    const bn_input *t = p->table;
    bool right = t && t->columns == 3 && t->rows > 1;
    for (size_t k = 0; right && k < 3 * t->rows; k++)
        right = isfinite(t->values[k]) && (k % 3 > 0 || k == 0 || t->values[k] > t->values[k - 3]);
    if (!t)
        reject(c, p, KEY_FILE, "a CSV file with the columns place, u, v", "there is no such file");
    else if (!right)
        reject(c, p, KEY_FILE, "a line with their names, then rows of numbers",
               "three columns are needed, place, u and v, and two rows or more whose places rise");
    else if (t->values[0] > p->from + 1e-9 * (p->to - p->from) ||
             t->values[3 * (t->rows - 1)] < p->to - 1e-9 * (p->to - p->from))
        reject(c, p, KEY_FILE, NULL, "the table goes from %g m to %g m and must cover %g m to %g m", t->values[0],
               t->values[3 * (t->rows - 1)], p->from, p->to);
    if (!right)
        p->kind = FLOW_WALL; /* for what else is wrong with the case */
    return BN_OK;
}

/* Tables are rounded, and lines between their rows are no parabolas: what flows in too much by that is taken off evenly
 * where they stand. */
static void balance_tables(flow *s, double in)
{
    double length = 0;
    for (int i = 0; i < s->border.pieces; i++)
        length += s->border.piece[i].kind == FLOW_VELOCITY ? s->border.piece[i].to - s->border.piece[i].from : 0;
    for (int i = 0; i < s->border.pieces; i++)
        s->border.piece[i].excess = s->border.piece[i].kind == FLOW_VELOCITY ? -in / length : 0;
}

/* What one piece says about itself. */
static void check_piece(const bn_case *c, const flow *s, const flow_piece *p)
{
    if (s->config.a == 0 && (p->heat == FLOW_GIVEN || p->temperature != 0))
        reject(c, p, p->heat == FLOW_GIVEN ? KEY_HEAT : KEY_TEMPERATURE, "give fluid.diffusivity",
               "without fluid.diffusivity there is no temperature");
}

static bn_status read_sides(const bn_case *c, bn_plan *plan, flow *s)
{
    for (int side = 0; side < FLOW_SIDES; side++) {
        const char *const *k = keys[side];
        s->border.piece[s->border.pieces++] = (flow_piece){ .side = side,
                                                            .item = -1,
                                                            .from = 0,
                                                            .to = flow_side_length(s, side),
                                                            .kind = (flow_kind)bn_case_choice(c, k[KEY_KIND]),
                                                            .profile = (flow_profile)bn_case_choice(c, k[KEY_PROFILE]),
                                                            .heat = (flow_heat)bn_case_choice(c, k[KEY_HEAT]),
                                                            .speed = bn_case_real(c, k[KEY_SPEED]),
                                                            .temperature = bn_case_real(c, k[KEY_TEMPERATURE]) };
        flow_piece *p = &s->border.piece[side];
        /* The default of the top is a moving lid. */
        if (p->kind != FLOW_WALL && p->kind != FLOW_INFLOW && !bn_case_given(c, k[KEY_SPEED]))
            p->speed = 0;
        check_piece(c, s, p);
        BN_TRY(read_table(c, plan, p));
    }
    return BN_OK;
}

static bn_status read_segments(const bn_case *c, bn_plan *plan, flow *s)
{
    const size_t items = bn_case_items(c, "boundary.segment");
    const char *const *k = keys[FLOW_SIDES];
    for (size_t i = 0; i < items; i++) {
        flow_piece p = { .side = bn_case_item_choice(c, "boundary.segment.side", i),
                         .item = (int)i,
                         .from = bn_case_item_real(c, "boundary.segment.from", i),
                         .to = bn_case_item_real(c, "boundary.segment.to", i),
                         .kind = (flow_kind)bn_case_item_choice(c, k[KEY_KIND], i),
                         .profile = (flow_profile)bn_case_item_choice(c, k[KEY_PROFILE], i),
                         .heat = (flow_heat)bn_case_item_choice(c, k[KEY_HEAT], i),
                         .speed = bn_case_item_real(c, k[KEY_SPEED], i),
                         .temperature = bn_case_item_real(c, k[KEY_TEMPERATURE], i) };
        const double length = flow_side_length(s, p.side);
        if (s->border.pieces == FLOW_PIECES) {
            (void)bn_case_reject_item(c, "boundary.segment.side", i, NULL, "more than %d segments",
                                      FLOW_PIECES - FLOW_SIDES);
            return BN_OK;
        }
        if (!(p.from < p.to) || p.to > length * (1 + 1e-9))
            (void)bn_case_reject_item(c, "boundary.segment.to", i, NULL,
                                      "a segment must end beyond its begin (%g m) and not beyond the side (%g m)",
                                      p.from, length);
        for (int other = FLOW_SIDES; other < s->border.pieces; other++)
            if (s->border.piece[other].side == p.side && p.from < s->border.piece[other].to - 1e-9 * length &&
                s->border.piece[other].from < p.to - 1e-9 * length)
                (void)bn_case_reject_item(c, "boundary.segment.from", i, NULL,
                                          "overlaps segment number %d of this side", s->border.piece[other].item + 1);
        const flow_piece *own = &s->border.piece[p.side];
        if (own->kind != FLOW_WALL && own->kind != FLOW_SLIP)
            reject(c, own, KEY_KIND, "write it as a segment too",
                   "a side with segments must itself be a wall or slip between them");
        check_piece(c, s, &p);
        BN_TRY(read_table(c, plan, &p));
        s->border.piece[s->border.pieces++] = p;
    }
    return BN_OK;
}

/* The piece of a node: the segment it lies in; where two segments meet, the second; else the side. */
static int find_piece(const flow *s, int side, double place)
{
    const double near = 1e-9 * flow_side_length(s, side);
    int begins = -1, ends = -1;
    for (int i = FLOW_SIDES; i < s->border.pieces; i++) {
        const flow_piece *p = &s->border.piece[i];
        if (p->side != side)
            continue;
        if (place > p->from + near && place < p->to - near)
            return i;
        if (fabs(place - p->from) <= near)
            begins = i;
        if (fabs(place - p->to) <= near)
            ends = i;
    }
    const bool corner = place <= near || place >= flow_side_length(s, side) - near;
    if (begins >= 0 && (ends >= 0 || corner))
        return begins;
    return ends >= 0 && corner ? ends : side;
}

bn_status flow_read_sides(const bn_case *c, bn_plan *plan, flow *s)
{
    int outflows = 0;
    BN_TRY(read_sides(c, plan, s));
    BN_TRY(read_segments(c, plan, s));
    bool tables = false;
    s->config.speed = 0;
    for (int i = 0; i < s->border.pieces; i++) {
        const flow_piece *p = &s->border.piece[i];
        if (p->kind == FLOW_OUTFLOW && ++outflows == 2)
            reject(c, p, KEY_KIND, "give the speed of one of them as an inflow with a negative speed",
                   "a second outflow: how the flow divides between two is not known");
        s->config.speed = fmax(s->config.speed, peak(p));
        tables = tables || p->kind == FLOW_VELOCITY;
    }
    const double in = flow_net_inflow(s), scale = s->config.speed * (s->config.size[0] + s->config.size[1]);
    if (tables && outflows == 0 && fabs(in) <= TABLE_EXCESS * scale)
        balance_tables(s, in);
    for (int i = 0; i < s->border.pieces && outflows == 0 && fabs(in) > (tables ? TABLE_EXCESS : 1e-12) * scale; i++)
        if (s->border.piece[i].kind == FLOW_INFLOW || s->border.piece[i].kind == FLOW_VELOCITY) {
            reject(c, &s->border.piece[i], s->border.piece[i].kind == FLOW_INFLOW ? KEY_SPEED : KEY_FILE,
                   "make one side an outflow, or let inflows add up to nothing",
                   "the inflows do not balance: %g m2/s flow in and nothing flows out", in);
            break;
        }
    if (s->config.start == FLOW_DEVELOPED && s->border.piece[FLOW_LEFT].kind != FLOW_INFLOW)
        (void)bn_case_reject(c, "initial.kind", "make the left side an inflow",
                             "\"developed\" needs an inflow on the whole left side");
    for (int side = 0; side < FLOW_SIDES; side++) {
        const uint32_t n = flow_side_nodes(s, side);
        BN_TRY(bn_plan_allocate(plan, n, (void **)&s->border.edge[side]));
        for (uint32_t m = 0; m < n; m++)
            s->border.edge[side][m] = (uint8_t)find_piece(s, side, flow_node_place(s, side, m));
    }
    return BN_OK;
}
