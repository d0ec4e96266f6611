/* axis.c: ticks, their numbers, and the axis' name. */
#include "plot/axis.h"

#include <math.h>

static const double number_gap = 5; /* between tick and number */
static const double label_gap = 9;  /* between numbers and name */
static const double line_height = 1.2;

static void choose_ticks(bn_canvas *c, bn_axis *a, int wanted)
{
    if (a->log)
        bn_ticks_log(&a->ticks, a->low, a->high, wanted);
    else
        bn_ticks_linear(&a->ticks, a->low, a->high, wanted);
    a->widest = 0;
    for (int i = 0; i < a->ticks.count; i++)
        a->widest = fmax(a->widest, bn_canvas_text_width(c, BN_FONT_TICK, a->ticks.text[i]));
}

/* Room along the axis that each number takes, with the gap to the next. */
static double number_room(const bn_axis *a, bool upright)
{
    return upright ? 2 * BN_FONT_TICK : a->widest + 1.5 * BN_FONT_TICK;
}

static int number_count(const bn_axis *a)
{
    int count = 0;
    for (int i = 0; i < a->ticks.count; i++)
        count += a->ticks.text[i][0] != '\0';
    return count;
}

void bn_axis_make(bn_canvas *c, bn_axis *a, double low, double high, bool log, double length, bool upright)
{
    a->low = low;
    a->high = high;
    a->log = log;
    a->label[0] = '\0';
    for (int wanted = 8; wanted >= 2; wanted--) {
        choose_ticks(c, a, wanted);
        if (number_count(a) * number_room(a, upright) <= length)
            break;
    }
}

double bn_axis_thickness(const bn_axis *a, bool upright)
{
    const double numbers = upright ? a->widest : BN_FONT_TICK;
    return BN_TICK_LENGTH + number_gap + numbers + (a->label[0] ? label_gap + line_height * BN_FONT_LABEL : 0);
}

double bn_axis_x(const bn_axis *a, const bn_plot_frame *f, double value)
{
    return f->x + f->w * (value - a->low) / (a->high - a->low);
}

double bn_axis_y(const bn_axis *a, const bn_plot_frame *f, double value)
{
    return f->y + f->h - f->h * (value - a->low) / (a->high - a->low);
}

/* A tick mark from (x, y), sharp on the pixels; those without a number are shorter. */
static void draw_tick(bn_canvas *c, double x, double y, double dx, double dy, bool numbered)
{
    const double length = numbered ? BN_TICK_LENGTH : 0.6 * BN_TICK_LENGTH;
    const double sx = dy != 0 ? floor(x) + 0.5 : x, sy = dx != 0 ? floor(y) + 0.5 : y;
    cairo_move_to(c->cr, sx, sy);
    cairo_line_to(c->cr, sx + dx * length, sy + dy * length);
    cairo_set_line_width(c->cr, 1);
    cairo_stroke(c->cr);
}

void bn_axis_draw_below(bn_canvas *c, const bn_axis *a, const bn_plot_frame *f)
{
    const double bottom = f->y + f->h, numbers = bottom + BN_TICK_LENGTH + number_gap + 0.5 * BN_FONT_TICK;
    for (int i = 0; i < a->ticks.count; i++) {
        const double x = bn_axis_x(a, f, a->ticks.at[i]);
        draw_tick(c, x, bottom, 0, 1, a->ticks.text[i][0]);
        bn_canvas_text(c, x, numbers, 0.5, BN_FONT_TICK, false, a->widest, a->ticks.text[i]);
    }
    const double label = bottom + bn_axis_thickness(a, false) - 0.5 * line_height * BN_FONT_LABEL;
    bn_canvas_text(c, f->x + 0.5 * f->w, label, 0.5, BN_FONT_LABEL, false, f->w, a->label);
}

void bn_axis_draw_beside(bn_canvas *c, const bn_axis *a, const bn_plot_frame *f, bool right)
{
    const double side = right ? 1 : -1, edge = right ? f->x + f->w : f->x;
    for (int i = 0; i < a->ticks.count; i++) {
        const double y = bn_axis_y(a, f, a->ticks.at[i]);
        const double number_end = edge + side * (BN_TICK_LENGTH + number_gap + (right ? a->widest : 0));
        draw_tick(c, edge, y, side, 0, a->ticks.text[i][0]);
        bn_canvas_text(c, number_end, y, 1, BN_FONT_TICK, false, a->widest, a->ticks.text[i]);
    }
    const double label = edge + side * (bn_axis_thickness(a, true) - 0.5 * line_height * BN_FONT_LABEL);
    bn_canvas_text(c, label, f->y + 0.5 * f->h, 0.5, BN_FONT_LABEL, true, f->h, a->label);
}

void bn_frame_draw(bn_canvas *c, const bn_plot_frame *f)
{
    cairo_rectangle(c->cr, f->x - 0.5, f->y - 0.5, f->w + 1, f->h + 1);
    cairo_set_line_width(c->cr, 1);
    cairo_stroke(c->cr);
}
