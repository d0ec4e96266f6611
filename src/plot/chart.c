/* chart.c: lines over a common axis: profiles, and residuals on a logarithmic scale. */
#include "plot/picture.h"

#include "plot/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 1000,
    HEIGHT = 640,
    LEGEND_PAD = 10,
    LEGEND_SAMPLE = 48,
    LEGEND_LINE = 26,
    LEGEND_AWAY = 12, /* from the frame */
    LINES_MAX = 32,
    STEPS_PER_SEGMENT = 8, /* probes of a line when the legend looks for an empty corner */
    DENSE = 4              /* points per pixel column from which only their extremes are drawn */
};
static const double largest = 1e300, marker_radius = 4, line_height = 1.2;

/* M. Okabe and K. Ito (2008): colours that all kinds of colour vision tell apart; yellow is too light for lines. */
static const unsigned line_colours[] = { 0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0x000000, 0xe69f00, 0x56b4e9 };

/* Each later line is thinner or broken, so that one under it can be seen where both have the same values: dashes and
 * gaps in pixels. */
static const struct {
    double dash[4];
    int count;
    double width;
} line_styles[] = {
    { { 0 }, 0, 3.5 },           /* solid, broad: it lies under all others */
    { { 14, 8 }, 2, 2.5 },       /* dashed */
    { { 3, 5 }, 2, 3 },          /* dotted */
    { { 14, 6, 2, 6 }, 4, 2.5 }, /* dash and dot */
    { { 24, 6 }, 2, 1.5 },       /* long dashes, thin */
};
enum { STYLES = sizeof line_styles / sizeof *line_styles, SHAPES = 5 };

typedef struct plot {
    bn_canvas *canvas;
    const bn_chart *chart;
    bn_plot_frame frame, legend; /* legend: no width where there is none */
    bool beside;                 /* the legend stands beside the frame */
    bn_axis x, y;
} plot;

/* Point i in the axes' own terms: logarithms where asked for. False when it cannot be shown: not finite, or no
 * logarithm. */
static bool point_of(const bn_chart *chart, const bn_chart_line *line, size_t i, double *x, double *y)
{
    *x = line->x[i];
    *y = line->y[i];
    if ((chart->log_y && !(*y > 0)) || (chart->log_x && !(*x > 0)))
        return false;
    if (chart->log_y)
        *y = log10(*y);
    if (chart->log_x)
        *x = log10(*x);
    return fabs(*x) <= largest && fabs(*y) <= largest;
}

bool bn_chart_shows(const bn_chart *chart)
{
    double x, y;
    for (size_t k = 0; k < chart->count; k++)
        for (size_t i = 0; i < chart->lines[k].count; i++)
            if (point_of(chart, &chart->lines[k], i, &x, &y))
                return true;
    return false;
}

/* The place of point i on the sheet, if it has one. */
static bool place(const plot *g, const bn_chart_line *line, size_t i, double *x, double *y)
{
    if (!point_of(g->chart, line, i, x, y))
        return false;
    *x = bn_axis_x(&g->x, &g->frame, *x);
    *y = bn_axis_y(&g->y, &g->frame, *y);
    return true;
}

static void widen(double *low, double *high, double share)
{
    if (*low > *high) { /* no point at all */
        *low = 0;
        *high = 1;
    }
    const double size = fmax(fabs(*low), fabs(*high));
    if (!(*high - *low > 1e-9 * size)) {
        *low -= size > 0 ? 0.1 * size : 1;
        *high += size > 0 ? 0.1 * size : 1;
        return;
    }
    const double more = share * (*high - *low);
    *low -= more;
    *high += more;
}

/* The ranges of both axes; logarithms where asked for, extended to whole decades. */
static void find_ranges(const bn_chart *chart, double low[2], double high[2])
{
    bool markers = false;
    for (int d = 0; d < 2; d++) {
        low[d] = (double)INFINITY;
        high[d] = (double)-INFINITY;
    }
    for (size_t k = 0; k < chart->count; k++) {
        const bn_chart_line *line = &chart->lines[k];
        markers = markers || line->markers;
        for (size_t i = 0; i < line->count; i++) {
            double x, y;
            if (!point_of(chart, line, i, &x, &y))
                continue;
            low[0] = fmin(low[0], x);
            high[0] = fmax(high[0], x);
            low[1] = fmin(low[1], y);
            high[1] = fmax(high[1], y);
        }
    }
    if (chart->log_x && low[0] <= high[0]) {
        low[0] = floor(low[0]);
        high[0] = fmax(ceil(high[0]), low[0] + 1);
    } else {
        widen(&low[0], &high[0], markers ? 0.02 : 0);
    }
    if (chart->log_y && low[1] <= high[1]) {
        low[1] = floor(low[1]);
        high[1] = fmax(ceil(high[1]), low[1] + 1);
    } else {
        widen(&low[1], &high[1], 0.04);
    }
}

static void make_axes(plot *g)
{
    const bn_chart *chart = g->chart;
    const double top = BN_PAD +
                       (chart->title && chart->title[0] ? line_height * BN_FONT_TITLE + 10 : 0.5 * BN_FONT_TICK);
    double low[2], high[2];
    find_ranges(chart, low, high);
    bn_axis_make(g->canvas, &g->x, low[0], high[0], chart->log_x, WIDTH - 140, false);
    bn_axis_make(g->canvas, &g->y, low[1], high[1], chart->log_y, HEIGHT - 140, true);
    bn_label_text(g->x.label, sizeof g->x.label, chart->x_label, &g->x.ticks);
    bn_label_text(g->y.label, sizeof g->y.label, chart->y_label, &g->y.ticks);
    g->frame.x = ceil(BN_PAD + bn_axis_thickness(&g->y, true));
    g->frame.y = ceil(top);
    g->frame.w = floor(WIDTH - BN_PAD - fmax(0.5 * g->x.widest, 0) - g->frame.x);
    g->frame.h = floor(HEIGHT - BN_PAD - bn_axis_thickness(&g->x, false) - g->frame.y);
}

static void set_colour(cairo_t *cr, size_t line)
{
    const unsigned rgb = line_colours[line % (sizeof line_colours / sizeof *line_colours)];
    cairo_set_source_rgb(cr, (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
}

static void set_style(const bn_chart *chart, cairo_t *cr, size_t line)
{
    const bool alone = chart->count == 1;
    cairo_set_dash(cr, line_styles[line % STYLES].dash, alone ? 0 : line_styles[line % STYLES].count, 0);
    cairo_set_line_width(cr, alone ? 2 : line_styles[line % STYLES].width);
}

/* Faint lines behind the data at every numbered tick. */
static void draw_grid(const plot *g)
{
    cairo_t *cr = g->canvas->cr;
    const bn_plot_frame *f = &g->frame;
    cairo_set_source_rgb(cr, 0.88, 0.88, 0.88);
    cairo_set_line_width(cr, 1);
    for (int i = 0; i < g->x.ticks.count; i++) {
        const double x = floor(bn_axis_x(&g->x, f, g->x.ticks.at[i])) + 0.5;
        if (g->x.log && !g->x.ticks.text[i][0])
            continue;
        cairo_move_to(cr, x, f->y);
        cairo_line_to(cr, x, f->y + f->h);
    }
    for (int i = 0; i < g->y.ticks.count; i++) {
        const double y = floor(bn_axis_y(&g->y, f, g->y.ticks.at[i])) + 0.5;
        if (!g->y.ticks.text[i][0])
            continue;
        cairo_move_to(cr, f->x, y);
        cairo_line_to(cr, f->x + f->w, y);
    }
    cairo_stroke(cr);
    cairo_set_source_rgb(cr, 0, 0, 0);
}

/* A run of points that fall into one column of pixels: only its extremes and its end are drawn. */
typedef struct run {
    double column, x, lowest, highest, last;
    size_t count;
} run;

static void end_run(cairo_t *cr, run *r)
{
    if (r->count > 2) {
        cairo_line_to(cr, r->x, r->lowest);
        cairo_line_to(cr, r->x, r->highest);
    }
    if (r->count > 1)
        cairo_line_to(cr, r->x, r->last);
    r->count = 0;
}

static void draw_path(const plot *g, const bn_chart_line *line)
{
    cairo_t *cr = g->canvas->cr;
    const bool dense = line->count > DENSE * (size_t)WIDTH;
    run r = { .count = 0 };
    for (size_t i = 0; i < line->count; i++) {
        double x, y;
        if (!place(g, line, i, &x, &y)) {
            end_run(cr, &r);
            cairo_new_sub_path(cr); /* a gap */
            continue;
        }
        if (dense && r.count > 0 && floor(x) <= r.column && floor(x) >= r.column) {
            r.lowest = fmin(r.lowest, y);
            r.highest = fmax(r.highest, y);
            r.last = y;
            r.count++;
            continue;
        }
        end_run(cr, &r);
        cairo_line_to(cr, x, y);
        r = (run){ floor(x), x, y, y, y, 1 };
    }
    end_run(cr, &r);
    cairo_stroke(cr);
}

/* The marker of a line: circle, square, triangle, diamond, cross; the later the larger, so that none hides another. */
static void draw_marker(cairo_t *cr, size_t line, double x, double y)
{
    const double r = marker_radius + 2.5 * (double)(line % SHAPES);
    cairo_new_sub_path(cr);
    switch (line % SHAPES) {
    case 0: cairo_arc(cr, x, y, r, 0, 6.283185307179586); break;
    case 1: cairo_rectangle(cr, x - 0.8 * r, y - 0.8 * r, 1.6 * r, 1.6 * r); break;
    case 2:
        cairo_move_to(cr, x, y - r);
        cairo_line_to(cr, x + 0.87 * r, y + 0.5 * r);
        cairo_line_to(cr, x - 0.87 * r, y + 0.5 * r);
        cairo_close_path(cr);
        break;
    case 3:
        cairo_move_to(cr, x, y - r);
        cairo_line_to(cr, x + r, y);
        cairo_line_to(cr, x, y + r);
        cairo_line_to(cr, x - r, y);
        cairo_close_path(cr);
        break;
    default:
        cairo_move_to(cr, x - 0.7 * r, y - 0.7 * r);
        cairo_line_to(cr, x + 0.7 * r, y + 0.7 * r);
        cairo_move_to(cr, x + 0.7 * r, y - 0.7 * r);
        cairo_line_to(cr, x - 0.7 * r, y + 0.7 * r);
    }
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_set_line_width(cr, 1.5);
    cairo_stroke(cr);
}

/* Bars from y - error to y + error; one that reaches below a logarithmic axis goes to its end. */
static void draw_errors(const plot *g, const bn_chart_line *line)
{
    cairo_t *cr = g->canvas->cr;
    for (size_t i = 0; i < line->count; i++) {
        const double ends[2] = { line->y[i] + line->error[i], line->y[i] - line->error[i] };
        double x, y;
        if (!place(g, line, i, &x, &y) || !(fabs(line->error[i]) <= largest))
            continue;
        for (int k = 0; k < 2; k++) {
            const bool shown = !g->chart->log_y || ends[k] > 0;
            const double end = shown ? bn_axis_y(&g->y, &g->frame, g->chart->log_y ? log10(ends[k]) : ends[k])
                                     : g->frame.y + g->frame.h;
            cairo_move_to(cr, x, y);
            cairo_line_to(cr, x, end);
            cairo_move_to(cr, x - marker_radius, end);
            cairo_line_to(cr, x + marker_radius, end);
        }
    }
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_set_line_width(cr, 1.2);
    cairo_stroke(cr);
}

static void draw_lines(const plot *g)
{
    cairo_t *cr = g->canvas->cr;
    cairo_save(cr);
    cairo_rectangle(cr, g->frame.x, g->frame.y, g->frame.w, g->frame.h);
    cairo_clip(cr);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_BUTT); /* round ends would close the gaps of dots */
    for (size_t k = 0; k < g->chart->count; k++) {
        const bn_chart_line *line = &g->chart->lines[k];
        set_colour(cr, k);
        if (line->error)
            draw_errors(g, line);
        set_style(g->chart, cr, k);
        if (!line->markers) {
            draw_path(g, line);
            continue;
        }
        for (size_t i = 0; i < line->count; i++) {
            double x, y;
            if (place(g, line, i, &x, &y))
                draw_marker(cr, k, x, y);
        }
    }
    cairo_restore(cr);
}

/* How much of the lines lies in a box: probes along every segment. */
static size_t crowd(const plot *g, const bn_plot_frame *box)
{
    size_t inside = 0;
    for (size_t k = 0; k < g->chart->count; k++) {
        const bn_chart_line *line = &g->chart->lines[k];
        double x0 = 0, y0 = 0;
        bool joined = false;
        for (size_t i = 0; i < line->count; i++) {
            double x1, y1;
            const bool here = place(g, line, i, &x1, &y1);
            for (int s = 1; here && s <= STEPS_PER_SEGMENT; s++) {
                const double t = joined ? (double)s / STEPS_PER_SEGMENT : 1;
                const double x = x0 + t * (x1 - x0) - box->x, y = y0 + t * (y1 - y0) - box->y;
                inside += x >= 0 && x <= box->w && y >= 0 && y <= box->h;
            }
            joined = here && !line->markers;
            x0 = here ? x1 : 0;
            y0 = here ? y1 : 0;
        }
    }
    return inside;
}

/* Size of the legend; none where a single line is meant by the axis' own name. */
static bn_plot_frame legend_size(const plot *g, double *widest)
{
    char text[BN_LABEL_BYTES];
    size_t named = 0;
    *widest = 0;
    for (size_t k = 0; k < g->chart->count; k++) {
        if (!g->chart->lines[k].label)
            continue;
        bn_label_text(text, sizeof text, g->chart->lines[k].label, NULL);
        *widest = fmax(*widest, bn_canvas_text_width(g->canvas, BN_FONT_TICK, text));
        named++;
    }
    *widest = fmin(*widest, 0.35 * WIDTH);
    if (named == 0 || g->chart->count == 1)
        return (bn_plot_frame){ 0 };
    return (bn_plot_frame){ 0, 0, *widest + LEGEND_SAMPLE + 3 * LEGEND_PAD, (double)named * LEGEND_LINE + LEGEND_PAD };
}

/* A corner where the legend hides nothing; else beside the frame, which becomes narrower. */
static void place_legend(plot *g)
{
    double widest;
    bn_plot_frame *f = &g->frame;
    bn_plot_frame box = legend_size(g, &widest);
    if (!(box.w > 0))
        return;
    for (int corner = 0; corner < 4; corner++) {
        box.x = corner % 2 == 0 ? f->x + f->w - box.w - LEGEND_AWAY : f->x + LEGEND_AWAY;
        box.y = corner < 2 ? f->y + LEGEND_AWAY : f->y + f->h - box.h - LEGEND_AWAY;
        if (box.h + 2 * LEGEND_AWAY < f->h && crowd(g, &box) == 0) {
            g->legend = box;
            return;
        }
    }
    f->w = floor(WIDTH - BN_PAD - box.w - LEGEND_AWAY - f->x);
    box.x = f->x + f->w + LEGEND_AWAY;
    box.y = f->y;
    g->legend = box;
    g->beside = true;
}

/* The names of the lines. */
static void draw_legend(const plot *g)
{
    bn_canvas *c = g->canvas;
    char text[BN_LABEL_BYTES];
    double widest;
    const bn_plot_frame best = g->legend;
    if (!(best.w > 0))
        return;
    (void)legend_size(g, &widest);
    cairo_rectangle(c->cr, best.x, best.y, best.w, best.h);
    cairo_set_dash(c->cr, NULL, 0, 0);
    cairo_set_source_rgba(c->cr, 1, 1, 1, 0.85);
    cairo_fill_preserve(c->cr);
    cairo_set_source_rgb(c->cr, 0.7, 0.7, 0.7);
    cairo_set_line_width(c->cr, 1);
    cairo_stroke(c->cr);
    double y = best.y + 0.5 * LEGEND_PAD + 0.5 * LEGEND_LINE;
    for (size_t k = 0; k < g->chart->count; k++) {
        if (!g->chart->lines[k].label)
            continue;
        const double x = best.x + LEGEND_PAD;
        set_colour(c->cr, k);
        if (g->chart->lines[k].markers) {
            draw_marker(c->cr, k, x + 0.5 * LEGEND_SAMPLE, y);
        } else {
            set_style(g->chart, c->cr, k);
            cairo_move_to(c->cr, x, y);
            cairo_line_to(c->cr, x + LEGEND_SAMPLE, y);
            cairo_stroke(c->cr);
        }
        cairo_set_source_rgb(c->cr, 0, 0, 0);
        bn_label_text(text, sizeof text, g->chart->lines[k].label, NULL);
        bn_canvas_text(c, x + LEGEND_SAMPLE + LEGEND_PAD, y, 0, BN_FONT_TICK, false, widest, text);
        y += LEGEND_LINE;
    }
}

bn_status bn_chart_write(bn_context *ctx, const char *path, const bn_chart *chart)
{
    bn_status st = BN_OK;
    bn_canvas sheet = { 0 };
    if (chart->count == 0 || chart->count > LINES_MAX)
        return bn_fail(ctx, BN_USAGE, "cannot draw %s: a chart has 1 to %d lines, not %zu", path, LINES_MAX,
                       chart->count);
    for (size_t k = 0; k < chart->count; k++)
        if (chart->lines[k].count > 0 && (!chart->lines[k].x || !chart->lines[k].y))
            return bn_fail(ctx, BN_USAGE, "cannot draw %s: line %zu has no values", path, k + 1);
    plot *g = calloc(1, sizeof *g); /* some kilobytes of tick texts */
    if (!g)
        return bn_fail(ctx, BN_MEMORY, "cannot draw %s: out of memory", path);
    BN_GO(bn_canvas_create(ctx, path, WIDTH, HEIGHT, &sheet));
    g->canvas = &sheet;
    g->chart = chart;
    make_axes(g);
    place_legend(g);
    if (g->beside) { /* fewer numbers may have room */
        bn_axis_make(&sheet, &g->x, g->x.low, g->x.high, g->x.log, g->frame.w, false);
        bn_label_text(g->x.label, sizeof g->x.label, chart->x_label, &g->x.ticks);
    }
    draw_grid(g);
    draw_lines(g);
    bn_frame_draw(&sheet, &g->frame);
    bn_axis_draw_below(&sheet, &g->x, &g->frame);
    bn_axis_draw_beside(&sheet, &g->y, &g->frame, false);
    draw_legend(g);
    if (chart->title)
        bn_canvas_text(&sheet, g->frame.x + 0.5 * g->frame.w, BN_PAD + 0.5 * line_height * BN_FONT_TITLE, 0.5,
                       BN_FONT_TITLE, false, g->frame.w, chart->title);
    st = bn_canvas_write(&sheet, chart->title, NULL);
out:
    bn_canvas_destroy(&sheet);
    free(g);
    return st;
}
