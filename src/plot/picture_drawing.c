/* picture_drawing.c: walls, doors, stairs, sources and gauges over the colours of a field. */
#include "plot/picture_drawing.h"

#include "plot/raster.h"

#include <math.h>
#include <stdio.h>

enum { KEY_SIZE = 14, KEY_SAMPLE = 34, GAUGE_RADIUS = 9, ROOM = 1000 }; /* pixels */
static const double half_turn = 3.14159265358979323846;

/* How lines of a plan look; no two by their colours alone. */
static const struct {
    unsigned rgb;
    double width, dash[2];
    const char *name;
} plan_pens[BN_DRAWN_COUNT] = {
    [BN_DRAWN_WALL] = { 0x000000, 1.6, { 0 }, "wall" },
    [BN_DRAWN_DOOR] = { 0x000000, 1.6, { 2, 3 }, "door" },
    [BN_DRAWN_STAIR] = { 0xd55e00, 2.5, { 0 }, "stair" },
    [BN_DRAWN_OPENING] = { 0xcc79a7, 2.5, { 8, 4 }, "opening to below" },
    [BN_DRAWN_SOURCE] = { 0x0072b2, 2.5, { 5, 2 }, "source" },
    [BN_DRAWN_DRAIN] = { 0x009e73, 2.5, { 2, 2 }, "drain" },
    [BN_DRAWN_CULVERT] = { 0x56b4e9, 2.5, { 12, 3 }, "culvert" },
};

static void set_pen(cairo_t *cr, bn_drawn_kind kind)
{
    const unsigned rgb = plan_pens[kind].rgb;
    cairo_set_source_rgb(cr, (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
    cairo_set_line_width(cr, plan_pens[kind].width);
    cairo_set_dash(cr, plan_pens[kind].dash, plan_pens[kind].dash[0] > 0 ? 2 : 0, 0);
}

static double sheet_x(const bn_plot_place *l, double x)
{
    return l->frame.x + (x - l->low[0]) * l->frame.w / l->size[0];
}
static double sheet_y(const bn_plot_place *l, double y)
{
    return l->frame.y + l->frame.h - (y - l->low[1]) * l->frame.h / l->size[1];
}

static void clip_to_frame(bn_canvas *c, const bn_plot_place *l)
{
    cairo_save(c->cr);
    cairo_rectangle(c->cr, l->frame.x, l->frame.y, l->frame.w, l->frame.h);
    cairo_clip(c->cr);
}

void bn_drawing_solid(bn_canvas *c, const bn_plot_place *l, const bn_drawing *d)
{
    if (!d || d->solid_count == 0)
        return;
    clip_to_frame(c, l);
    for (size_t i = 0; i < d->solid_count; i++)
        if (isnan(d->solid[i][0]))
            cairo_new_sub_path(c->cr);
        else
            cairo_line_to(c->cr, sheet_x(l, d->solid[i][0]), sheet_y(l, d->solid[i][1]));
    cairo_set_fill_rule(c->cr, CAIRO_FILL_RULE_EVEN_ODD);
    cairo_set_antialias(c->cr, CAIRO_ANTIALIAS_NONE); /* no seams between pieces */
    cairo_set_source_rgb(c->cr, (BN_RASTER_MISSING >> 16) / 255.0, (BN_RASTER_MISSING >> 8 & 255) / 255.0,
                         (BN_RASTER_MISSING & 255) / 255.0);
    cairo_fill(c->cr);
    cairo_restore(c->cr);
}

static void draw_gauge(bn_canvas *c, double x, double y, const char *number)
{
    cairo_set_dash(c->cr, NULL, 0, 0);
    cairo_new_sub_path(c->cr);
    cairo_arc(c->cr, x, y, GAUGE_RADIUS, 0, 2 * half_turn);
    cairo_set_source_rgb(c->cr, 1, 1, 1);
    cairo_fill_preserve(c->cr);
    cairo_set_source_rgb(c->cr, 0, 0, 0);
    cairo_set_line_width(c->cr, 1.5);
    cairo_stroke(c->cr);
    bn_canvas_text(c, x, y, 0.5, KEY_SIZE - 1, false, 3 * GAUGE_RADIUS, number);
}

/* The lines of a plan, walls above all others, and the gauges with their numbers. */
void bn_drawing_lines(bn_canvas *c, const bn_plot_place *l, const bn_drawing *d)
{
    if (!d)
        return;
    clip_to_frame(c, l);
    for (int kind = BN_DRAWN_COUNT - 1; kind >= 0; kind--) {
        for (size_t i = 0; i < d->line_count; i++)
            if ((int)d->lines[i].kind == kind) {
                cairo_move_to(c->cr, sheet_x(l, d->lines[i].ends[0]), sheet_y(l, d->lines[i].ends[1]));
                cairo_line_to(c->cr, sheet_x(l, d->lines[i].ends[2]), sheet_y(l, d->lines[i].ends[3]));
            }
        set_pen(c->cr, (bn_drawn_kind)kind);
        cairo_stroke(c->cr);
    }
    cairo_restore(c->cr);
    for (size_t i = 0; i < d->gauge_count; i++) {
        char number[32];
        snprintf(number, sizeof number, "%.0f", d->gauges[i][2]);
        draw_gauge(c, sheet_x(l, d->gauges[i][0]), sheet_y(l, d->gauges[i][1]), number);
    }
}

/* What the lines mean, in one line of samples and names. */
void bn_drawing_key(bn_canvas *c, double middle, double y, const bn_drawing *d)
{
    bool there[BN_DRAWN_COUNT] = { false };
    double wide = 0;
    for (size_t i = 0; i < d->line_count; i++)
        there[d->lines[i].kind] = true;
    for (int pass = 0; pass < 2; pass++) { /* the first measures */
        double x = middle - 0.5 * wide;
        const double begin = x;
        for (int kind = 0; kind < BN_DRAWN_COUNT; kind++) {
            if (!there[kind])
                continue;
            if (pass == 1) {
                set_pen(c->cr, (bn_drawn_kind)kind);
                cairo_move_to(c->cr, x, y);
                cairo_rel_line_to(c->cr, KEY_SAMPLE, 0);
                cairo_stroke(c->cr);
                cairo_set_source_rgb(c->cr, 0, 0, 0);
                bn_canvas_text(c, x + KEY_SAMPLE + 6, y, 0, KEY_SIZE, false, ROOM, plan_pens[kind].name);
            }
            x += KEY_SAMPLE + 24 + bn_canvas_text_width(c, KEY_SIZE, plan_pens[kind].name);
        }
        if (d->gauge_count > 0) {
            if (pass == 1) {
                draw_gauge(c, x + GAUGE_RADIUS, y, "n");
                bn_canvas_text(c, x + 2 * GAUGE_RADIUS + 6, y, 0, KEY_SIZE, false, ROOM, "gauge");
            }
            x += 2 * GAUGE_RADIUS + 24 + bn_canvas_text_width(c, KEY_SIZE, "gauge");
        }
        wide = x - begin - 18;
    }
}

bool bn_drawing_has_key(const bn_drawing *d)
{
    bool more = d && d->gauge_count > 0;
    for (size_t i = 0; d && !more && i < d->line_count; i++)
        more = d->lines[i].kind != BN_DRAWN_WALL;
    return more;
}
