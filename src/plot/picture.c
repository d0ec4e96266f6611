/* picture.c: a field with everything that a picture in a paper needs: scales in SI units, colour bar, title, lines of
 * equal value. First all sizes are found on a sheet that only measures, then the picture is drawn on one of the right
 * size. Sizes and places follow from the grid and from what there is to be shown, never from values, numbers or the
 * wording of the title: pictures of one kind at different times lie on each other exactly, as an animation needs. */
#include "plot/picture.h"

#include "plot/axis.h"
#include "plot/contour.h"
#include "plot/line_numbers.h"
#include "plot/picture_drawing.h"
#include "plot/picture_kept.h"
#include "plot/raster.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONG_SIDE = 760,      /* of the frame, pixels; with all around it the picture is about 1000 wide */
    LONG_SIDE_FLAT = 860, /* when the colour bar lies below */
    FLAT_BELOW = 240,     /* frames lower than that have no room for an upright colour bar */
    BAR_WIDTH = 24,
    BAR_GAP = 26,
    BAR_GAP_BELOW = 16,
    ARROW = 14,
    CAPTION_GAP = 10,
    TITLE_GAP = 10,
    TITLE_WIDTH = 640, /* a narrow picture is widened that far for its title */
    CONTOUR_GRID_MAX =
        1024, /* finer fields are thinned before lines are sought: more than a line per pixel shows nothing */
    CONTOUR_LEVELS_MAX = 1000,
    LEVEL_BYTES = 48
};
static const double longest_shape = 8; /* beyond, the scales of x and y differ */
static const double line_height = 1.2;
static const char longest_number[] = "\u22120.00000"; /* at the colour bar; longer ones are set smaller */

typedef struct layout {
    int width, height;
    bn_value_range range;
    bool flat;           /* the colour bar lies below */
    bn_plot_place place; /* the box, and the frame around it */
    bn_plot_frame bar;
    bn_axis x, y, colours;
    double number_room;                                     /* across the colour bar's numbers */
    double title_y, subtitle_y, caption_y, remark_y, key_y; /* the remark: the picture's own caption */
    char caption[2 * BN_LABEL_BYTES];
} layout;

static bn_status check(bn_context *ctx, const char *path, const bn_picture *p)
{
    const uint32_t least = p->nodes ? 2 : 1;
    if (!p->values || p->n[0] < least || p->n[1] < least || p->n[1] > SIZE_MAX / sizeof(double) / p->n[0])
        return bn_fail(ctx, BN_USAGE, "cannot draw %s: a picture needs at least %u x %u values, not %lu x %lu", path,
                       least, least, (unsigned long)p->n[0], (unsigned long)p->n[1]);
    for (int d = 0; d < 2; d++)
        if (!(p->h[d] > 0) || !isfinite(p->h[d]) || !isfinite(p->origin[d]))
            return bn_fail(ctx, BN_USAGE, "cannot draw %s: spacing %g m or origin %g m along %c makes no grid", path,
                           p->h[d], p->origin[d], "xy"[d]);
    if (p->contours.values && p->contours.count > CONTOUR_LEVELS_MAX)
        return bn_fail(ctx, BN_USAGE, "cannot draw %s: %zu contour levels; at most %d are possible", path,
                       p->contours.count, CONTOUR_LEVELS_MAX);
    return BN_OK;
}

/* The box in metres and the frame in pixels. */
static void place_box(layout *l, const bn_picture *p)
{
    for (int d = 0; d < 2; d++) {
        l->place.low[d] = p->nodes ? p->origin[d] : p->origin[d] - 0.5 * p->h[d];
        l->place.size[d] = p->h[d] * (p->nodes ? p->n[d] - 1 : p->n[d]);
    }
    const double shape = p->shape > 0
                             ? p->shape
                             : fmax(1 / longest_shape, fmin(l->place.size[0] / l->place.size[1], longest_shape));
    l->flat = shape > 1 && LONG_SIDE / shape < FLAT_BELOW;
    const int side = l->flat ? LONG_SIDE_FLAT : LONG_SIDE;
    l->place.frame.w = shape >= 1 ? side : round(side * shape);
    l->place.frame.h = shape >= 1 ? round(side / shape) : side;
}

static void write_level(char text[LEVEL_BYTES], double level);

/* Classes have equal parts of the bar, their bounds stand between. */
static void make_class_axis(bn_canvas *c, layout *l, const bn_picture *p)
{
    bn_axis *a = &l->colours;
    *a = (bn_axis){ .low = 0, .high = (double)p->class_count };
    for (size_t k = 1; k < p->class_count && k < BN_TICKS_MAX; k++) {
        char number[LEVEL_BYTES];
        write_level(number, p->classes[k].from);
        a->ticks.at[a->ticks.count] = (double)k;
        snprintf(a->ticks.text[a->ticks.count++], BN_TICK_BYTES, "%.*s", BN_TICK_BYTES - 1, number);
    }
    for (size_t k = 0; k < p->class_count; k++)
        a->widest = fmax(a->widest, bn_canvas_text_width(c, BN_FONT_TICK, p->classes[k].name));
    l->number_room = a->widest;
}

static void make_axes(bn_canvas *c, layout *l, const bn_picture *p)
{
    double per_metre;
    bn_axis *axes[2] = { &l->x, &l->y };
    for (int d = 0; d < 2; d++) {
        bn_axis *a = axes[d];
        const double longer = fmax(l->place.size[0], l->place.size[1]),
                     shorter = fmin(l->place.size[0], l->place.size[1]);
        /* One unit for both; that of the shorter axis where scales differ, unless the longer would have huge numbers.
         */
        const char *unit = bn_label_length(
            p->shape > 0 ? (longer < 2e4 * shorter ? shorter : l->place.size[d]) : longer, &per_metre);
        if (p->plain || p->axis_scale > 0)
            unit = p->plain ? "" : p->axis_unit, per_metre = p->plain ? 1 : p->axis_scale;
        bn_axis_make(c, a, l->place.low[d] * per_metre, (l->place.low[d] + l->place.size[d]) * per_metre, false,
                     d ? l->place.frame.h : l->place.frame.w, d);
        bn_label_format(a->label, sizeof a->label, p->axes[d] ? p->axes[d] : d ? "y" : "x", unit, &a->ticks);
    }
    l->number_room = bn_canvas_text_width(c, BN_FONT_TICK, longest_number);
    if (p->classes) {
        make_class_axis(c, l, p);
    } else {
        bn_axis_make(c, &l->colours, l->range.low, l->range.high, false, l->flat ? l->place.frame.w : l->place.frame.h,
                     !l->flat);
        l->colours.widest = fmin(l->colours.widest, l->number_room);
    }
    bn_label_format(l->colours.label, sizeof l->colours.label, p->name, p->unit, &l->colours.ticks);
}

/* Levels at round numbers between the smallest and the largest value, at most as many as wanted. */
static size_t round_levels(double low, double high, size_t wanted, double *levels)
{
    size_t count = 0;
    if (!(high > low))
        return 0;
    const double step = bn_round_step((high - low) / (double)(wanted + 1));
    for (double k = ceil(low / step); k * step < high && count < wanted; k += 1)
        if (k * step > low)
            levels[count++] = k * step;
    return count;
}

/* The levels of the lines, as given or round; NULL: out of memory. `*count` may become 0. */
static double *make_levels(const bn_picture *p, size_t *count)
{
    const bn_contours *k = &p->contours;
    double *levels = malloc((k->count ? k->count : 1) * sizeof *levels);
    *count = k->values ? k->count : 0;
    if (!levels || *count == 0)
        return levels;
    if (k->levels) {
        memcpy(levels, k->levels, *count * sizeof *levels);
        return levels;
    }
    bn_picture field = *p;
    field.values = k->values;
    const bn_value_range r = bn_raster_range(&field);
    const bool given = p->line_low < p->line_high;
    *count = round_levels(given ? p->line_low : r.data_low, given ? p->line_high : r.data_high, *count, levels);
    return levels;
}

/* The lines that there are: `levels` from first to last, `count` of them, all at one distance where `step` > 0. */
typedef struct drawn_levels {
    double first, last, step;
    size_t count;
} drawn_levels;

/* A level as a number without zeros at its end: they are round. */
static void write_level(char text[LEVEL_BYTES], double level)
{
    bn_label_number(text, LEVEL_BYTES, level);
    char *point = strchr(text, '.'), *end = point ? point + 1 + strspn(point + 1, "0123456789") : NULL, *last = end;
    while (last && last > point && (last[-1] == '0' || last[-1] == '.'))
        last--;
    if (end)
        memmove(last, end, strlen(end) + 1);
}

static void make_caption(layout *l, const bn_picture *p, const drawn_levels *drawn)
{
    char name[BN_LABEL_BYTES], first[LEVEL_BYTES], last[LEVEL_BYTES], step[LEVEL_BYTES];
    l->caption[0] = '\0';
    if (drawn->count == 0 || !p->contours.label)
        return;
    bn_label_text(name, sizeof name, p->contours.label, NULL);
    write_level(first, drawn->first);
    write_level(last, drawn->last);
    write_level(step, drawn->step);
    if (drawn->count == 1)
        snprintf(l->caption, sizeof l->caption, "Line: %s = %s", name, first);
    else if (drawn->step > 0)
        snprintf(l->caption, sizeof l->caption, "Lines: %s, every %s from %s to %s", name, step, first, last);
    else
        snprintf(l->caption, sizeof l->caption, "Lines: %s, %zu levels from %s to %s", name, drawn->count, first, last);
}

/* Puts the parts around the frame; all of them are known by now. */
static void place_parts(layout *l, const bn_picture *p)
{
    const bool titled = p->title && p->title[0], twice = titled && strchr(p->title, '\n');
    const double left = BN_PAD + bn_axis_thickness(&l->y, true);
    const double top = BN_PAD + (twice ? line_height * BN_FONT_LABEL : 0) +
                       (titled ? line_height * BN_FONT_TITLE + TITLE_GAP : 0.5 * BN_FONT_TICK);
    const bn_axis widest = { .widest = l->number_room, .label = "[10]" }; /* an exponent makes a label by itself */
    const double colours = bn_axis_thickness(&widest, !l->flat);
    const double right = BN_PAD +
                         fmax(0.5 * l->x.widest, l->flat ? 0.5 * l->number_room : BAR_GAP + BAR_WIDTH + colours);
    const double width = left + l->place.frame.w + right;
    const double extra = titled ? fmax(0, TITLE_WIDTH + 2 * BN_PAD - width) : 0;
    double bottom = top + l->place.frame.h + bn_axis_thickness(&l->x, false);

    l->place.frame.x = ceil(left + 0.5 * extra);
    l->place.frame.y = ceil(top);
    if (l->flat) {
        l->bar = (bn_plot_frame){ l->place.frame.x, ceil(bottom + BAR_GAP_BELOW), l->place.frame.w, BAR_WIDTH - 4 };
        bottom = l->bar.y + l->bar.h + colours;
    } else {
        l->bar = (bn_plot_frame){ l->place.frame.x + l->place.frame.w + BAR_GAP, l->place.frame.y, BAR_WIDTH,
                                  l->place.frame.h };
    }
    if (p->contours.values && p->contours.count > 0 && p->contours.label) { /* room also when there are no lines yet */
        l->caption_y = bottom + CAPTION_GAP + 0.5 * line_height * BN_FONT_TICK;
        bottom = l->caption_y + 0.5 * line_height * BN_FONT_TICK;
    }
    if (p->caption) {
        l->remark_y = bottom + CAPTION_GAP + 0.5 * line_height * BN_FONT_TICK;
        bottom = l->remark_y + 0.5 * line_height * BN_FONT_TICK;
    }
    if (bn_drawing_has_key(p->drawing)) {
        l->key_y = bottom + CAPTION_GAP + 0.5 * line_height * BN_FONT_TICK;
        bottom = l->key_y + 0.5 * line_height * BN_FONT_TICK;
    }
    l->title_y = BN_PAD + 0.5 * line_height * BN_FONT_TITLE;
    l->subtitle_y = BN_PAD + line_height * (BN_FONT_TITLE + 0.5 * BN_FONT_LABEL);
    l->width = (int)ceil(width + extra);
    l->height = (int)ceil(bottom + BN_PAD);
}

/* Paints the values of `p` in its colours, pixel for pixel. */
static bn_status paint_field(bn_canvas *c, const bn_picture *p, const bn_value_range *range, const bn_plot_frame *at)
{
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)at->w, (int)at->h);
    bn_status st = BN_OK;
    if (cairo_surface_status(image) != CAIRO_STATUS_SUCCESS)
        BN_GO(bn_fail(c->ctx, BN_MEMORY, "cannot draw %s: out of memory", c->path));
    uint32_t *pixels = (uint32_t *)(void *)cairo_image_surface_get_data(
        image); /* cairo aligns rows for its own 32-bit words */
    if (!bn_raster_fill(p, range, pixels, (int)at->w, (int)at->h,
                        cairo_image_surface_get_stride(image) / (int)sizeof *pixels))
        BN_GO(bn_fail(c->ctx, BN_MEMORY, "cannot draw %s: out of memory", c->path));
    cairo_surface_mark_dirty(image);
    cairo_set_source_surface(c->cr, image, at->x, at->y);
    cairo_pattern_set_filter(cairo_get_source(c->cr), CAIRO_FILTER_NEAREST);
    cairo_rectangle(c->cr, at->x, at->y, at->w, at->h);
    cairo_fill(c->cr);
    cairo_set_source_rgb(c->cr, 0, 0, 0);
out:
    cairo_surface_destroy(image);
    return st;
}

/* An arrow at an end of the colour bar, in the end's colour: there are values beyond. (x, y) and (x2, y2) are the bar's
 * corners there. */
static void draw_arrow(bn_canvas *c, uint32_t rgb, double x, double y, double x2, double y2, double tip_x, double tip_y)
{
    cairo_move_to(c->cr, x, y);
    cairo_line_to(c->cr, tip_x, tip_y);
    cairo_line_to(c->cr, x2, y2);
    cairo_close_path(c->cr);
    cairo_set_source_rgb(c->cr, (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
    cairo_fill_preserve(c->cr);
    cairo_set_source_rgb(c->cr, 0, 0, 0);
    cairo_set_line_width(c->cr, 1);
    cairo_stroke(c->cr);
}

/* The bar is itself a field, of one row of cells. Where data lie beyond the range an arrow replaces that end of it. */
static bn_status draw_bar(bn_canvas *c, const layout *l, const bn_picture *p)
{
    const double margin = 1e-9 * (l->range.high - l->range.low);
    const bool under = !p->classes && l->range.data_low < l->range.low - margin,
               over = !p->classes && l->range.data_high > l->range.high + margin;
    double steps[BN_PALETTE_COLOURS];
    const uint32_t count = p->classes ? (uint32_t)p->class_count : BN_PALETTE_COLOURS;
    for (uint32_t i = 0; i < count; i++)
        steps[i] = p->classes ? p->classes[i].from : l->range.low + (l->range.high - l->range.low) * (i + 0.5) / count;
    const bn_picture scale = { .n = { l->flat ? count : 1, l->flat ? 1 : count },
                               .h = { 1, 1 },
                               .values = steps,
                               .map = p->map,
                               .classes = p->classes,
                               .class_count = p->class_count };
    bn_plot_frame bar = l->bar;
    if (l->flat) {
        bar.x += under ? ARROW : 0;
        bar.w -= (under ? ARROW : 0) + (over ? ARROW : 0);
    } else {
        bar.y += over ? ARROW : 0;
        bar.h -= (under ? ARROW : 0) + (over ? ARROW : 0);
    }
    bn_palette palette;
    bn_palette_make(p->map, &palette);
    BN_TRY(paint_field(c, &scale, &l->range, &bar));
    const double x0 = bar.x - 0.5, x1 = bar.x + bar.w + 0.5, y0 = bar.y - 0.5, y1 = bar.y + bar.h + 0.5;
    const double mid_x = 0.5 * (x0 + x1), mid_y = 0.5 * (y0 + y1);
    if (under && l->flat)
        draw_arrow(c, bn_palette_at(&palette, 0), x0, y0, x0, y1, x0 - ARROW, mid_y);
    else if (under)
        draw_arrow(c, bn_palette_at(&palette, 0), x0, y1, x1, y1, mid_x, y1 + ARROW);
    if (over && l->flat)
        draw_arrow(c, bn_palette_at(&palette, 1), x1, y0, x1, y1, x1 + ARROW, mid_y);
    else if (over)
        draw_arrow(c, bn_palette_at(&palette, 1), x0, y0, x1, y0, mid_x, y0 - ARROW);
    bn_frame_draw(c, &bar);
    if (l->flat)
        bn_axis_draw_below(c, &l->colours, &bar);
    else
        bn_axis_draw_beside(c, &l->colours, &bar, true);
    for (size_t k = 0; p->classes && k < p->class_count; k++) {
        const double share = (k + 0.5) / (double)p->class_count;
        if (l->flat)
            bn_canvas_text(c, bar.x + share * bar.w, bar.y + bar.h + BN_TICK_LENGTH + 5 + 0.5 * BN_FONT_TICK, 0.5,
                           BN_FONT_TICK, false, 0.7 * bar.w / (double)p->class_count, p->classes[k].name);
        else
            bn_canvas_text(c, bar.x + bar.w + BN_TICK_LENGTH + 5, bar.y + (1 - share) * bar.h, 0, BN_FONT_TICK, false,
                           l->number_room, p->classes[k].name);
    }
    return BN_OK;
}

/* From the grid on which lines are sought to the sheet. */
typedef struct line_pen {
    bn_canvas *canvas;
    double x0, y0, dx, dy;
    size_t lines;             /* drawn so far */
    bn_line_numbers *numbers; /* NULL: none */
} line_pen;

/* Dark lines with a faint light rim can be seen on every colour of the maps. */
static void stroke_with_rim(cairo_t *cr)
{
    cairo_set_source_rgba(cr, 1, 1, 1, 0.35);
    cairo_set_line_width(cr, 3);
    cairo_stroke_preserve(cr);
    cairo_set_source_rgba(cr, 0, 0, 0, 0.85);
    cairo_set_line_width(cr, 1.2);
    cairo_stroke(cr);
}

static void draw_line(void *user, const double (*points)[2], size_t count)
{
    line_pen *pen = user;
    cairo_t *cr = pen->canvas->cr;
    pen->lines++;
    for (size_t i = 0; i < count; i++)
        cairo_line_to(cr, pen->x0 + pen->dx * points[i][0], pen->y0 - pen->dy * points[i][1]);
    if (pen->numbers)
        bn_line_numbers_look(pen->numbers, cr);
    stroke_with_rim(cr);
}

/* Arrows at some thirty points along the longer side, as long as their distance where the value is three times the mean
 * or the largest one: a lid drives the few points beside it much faster than all others. */
static void draw_arrows(bn_canvas *c, const layout *l, const bn_picture *p)
{
    enum { ARROWS = 30 };
    const bn_plot_frame *f = &l->place.frame;
    const size_t points = (size_t)p->n[0] * p->n[1];
    const uint32_t longest = p->n[0] > p->n[1] ? p->n[0] : p->n[1], step = (longest + ARROWS - 1) / ARROWS;
    const double cell = f->w / (p->nodes && p->n[0] > 1 ? p->n[0] - 1 : p->n[0]), first = p->nodes ? 0 : 0.5;
    const double cell_y = f->h / (p->nodes && p->n[1] > 1 ? p->n[1] - 1 : p->n[1]);
    const uint32_t step_y = (uint32_t)fmax(1, round(step * cell / cell_y));
    double most = 0, sum = 0, count = 0;
    for (size_t at = 0; at < points; at++)
        if (isfinite(p->values[at])) {
            most = fmax(most, p->values[at]);
            sum += p->values[at];
            count++;
        }
    const double whole = fmin(most, 3 * sum / fmax(count, 1));
    for (uint32_t j = step_y / 2; j < p->n[1]; j += step_y)
        for (uint32_t i = step / 2; i < p->n[0]; i += step) {
            const size_t at = (size_t)j * p->n[0] + i;
            const double length = fmin(p->values[at] / whole, 1) * step * cell, angle = p->contours.values[at];
            if (!(length > 2) || !isfinite(angle)) /* pixels */
                continue;
            const double tip = fmin(0.4 * length, 7), u = cos(angle), v = -sin(angle);
            const double x = f->x + (i + first) * cell + 0.5 * length * u,
                         y = f->y + f->h - (j + first) * cell_y + 0.5 * length * v;
            cairo_move_to(c->cr, x - length * u, y - length * v);
            cairo_line_to(c->cr, x, y);
            for (int side = -1; side <= 1; side += 2) {
                cairo_move_to(c->cr, x, y);
                cairo_rel_line_to(c->cr, -tip * (0.9 * u + side * 0.4 * v), -tip * (0.9 * v - side * 0.4 * u));
            }
            stroke_with_rim(c->cr);
        }
}

static bn_status draw_contours(bn_canvas *c, const layout *l, const bn_picture *p, const double *levels, size_t count,
                               drawn_levels *drawn)
{
    *drawn = (drawn_levels){ .count = 0 };
    bn_status st = BN_OK;
    double *thinned = NULL;
    const double *values = p->contours.values;
    if (values && p->contours.arrows)
        draw_arrows(c, l, p);
    uint32_t n[2];
    double share[2], first[2]; /* of the frame: a step on the grid, and where its first value lies */
    if (!values || count == 0)
        return BN_OK;
    for (int d = 0; d < 2; d++) {
        n[d] = p->n[d] < CONTOUR_GRID_MAX ? p->n[d] : CONTOUR_GRID_MAX;
        if (n[d] < 2)
            return BN_OK;
        const double step = (double)(p->n[d] - 1) / (n[d] - 1);
        share[d] = step / (p->nodes ? p->n[d] - 1 : p->n[d]);
        first[d] = p->nodes ? 0 : 0.5 / p->n[d];
    }
    if (n[0] < p->n[0] || n[1] < p->n[1]) {
        thinned = malloc((size_t)n[0] * n[1] * sizeof *thinned);
        if (!thinned)
            return bn_fail(c->ctx, BN_MEMORY, "cannot draw %s: out of memory", c->path);
        for (uint32_t j = 0; j < n[1]; j++)
            for (uint32_t i = 0; i < n[0]; i++)
                thinned[(size_t)j * n[0] + i] = bn_raster_bilinear(p, values, (double)i * (p->n[0] - 1) / (n[0] - 1),
                                                                   (double)j * (p->n[1] - 1) / (n[1] - 1));
        values = thinned;
    }
    const bn_plot_frame *f = &l->place.frame;
    bn_line_numbers numbers = { .count = 0 };
    line_pen pen = { c,
                     f->x + first[0] * f->w,
                     f->y + f->h - first[1] * f->h,
                     share[0] * f->w,
                     share[1] * f->h,
                     0,
                     p->contours.outlines ? NULL : &numbers };
    char text[LEVEL_BYTES];
    cairo_save(c->cr);
    cairo_rectangle(c->cr, f->x, f->y, f->w, f->h);
    cairo_clip(c->cr);
    cairo_set_line_join(c->cr, CAIRO_LINE_JOIN_ROUND);
    for (size_t k = 0; k < count && st == BN_OK; k++) {
        const size_t before = pen.lines;
        if (isfinite(levels[k]))
            st = bn_contour_trace(c->ctx, values, n, levels[k], draw_line, &pen);
        if (pen.lines == before)
            continue;
        drawn->first = drawn->count++ == 0 ? levels[k] : drawn->first;
        drawn->last = levels[k];
        if (pen.numbers) {
            write_level(text, levels[k]);
            bn_line_numbers_place(&numbers, f, text);
        }
    }
    bn_line_numbers_draw(&numbers, c);
    if (!p->contours.levels && count > 1)
        drawn->step = levels[1] - levels[0];
    cairo_restore(c->cr);
    free(thinned);
    return st;
}

/* Dashed lines with a light rim, each with its label at its begin, inside of the frame. */
static void draw_marks(bn_canvas *c, const layout *l, const bn_picture *p)
{
    static const double dashes[] = { 7, 5 };
    const bn_plot_frame *f = &l->place.frame;
    for (size_t i = 0; i < p->mark_count; i++) {
        const bn_marked_line *m = &p->marks[i];
        const int d = !m->upright;
        const double share = (m->at - l->place.low[d]) / l->place.size[d];
        if (!(share >= 0 && share <= 1))
            continue;
        const double x = f->x + (m->upright ? share * f->w : 0), y = f->y + (m->upright ? f->h : (1 - share) * f->h);
        cairo_move_to(c->cr, x, y);
        cairo_rel_line_to(c->cr, m->upright ? 0 : f->w, m->upright ? -f->h : 0);
        cairo_set_source_rgba(c->cr, 1, 1, 1, 0.8);
        cairo_set_line_width(c->cr, 3);
        cairo_stroke_preserve(c->cr);
        cairo_set_source_rgb(c->cr, 0, 0, 0);
        cairo_set_line_width(c->cr, 1.2);
        cairo_set_dash(c->cr, dashes, 2, 0);
        cairo_stroke(c->cr);
        cairo_set_dash(c->cr, NULL, 0, 0);
        /* On a light ground: the colours under it may be dark. */
        const double wide = bn_canvas_text_width(c, BN_FONT_TICK, m->label) + 6, high = line_height * BN_FONT_TICK;
        const double left = m->upright ? fmin(x + 2, f->x + f->w - wide) : x + 4,
                     top = fmax(f->y, m->upright ? y - high - 4 : y - high - 1);
        cairo_set_source_rgba(c->cr, 1, 1, 1, 0.75);
        cairo_rectangle(c->cr, left, top, wide, high);
        cairo_fill(c->cr);
        cairo_set_source_rgb(c->cr, 0, 0, 0);
        bn_canvas_text(c, left + 3, top + 0.5 * high, 0, BN_FONT_TICK, false, f->w, m->label);
    }
}

/* Text in the middle of the frame, or of the sheet when it is too long for that. */
static void draw_centred(bn_canvas *c, const layout *l, double y, double size, const char *text)
{
    const double room = l->width - 2 * BN_PAD, middle = l->place.frame.x + 0.5 * l->place.frame.w;
    const double beside = 2 * fmin(middle, l->width - middle) - 2 * BN_PAD;
    const bool fits = bn_canvas_text_width(c, size, text) <= beside;
    bn_canvas_text(c, fits ? middle : 0.5 * l->width, y, 0.5, size, false, room, text);
}

static void draw_title(bn_canvas *c, const layout *l, const char *title)
{
    char first[BN_CANVAS_TEXT];
    const size_t bytes = strcspn(title, "\n");
    snprintf(first, sizeof first, "%.*s", bytes < sizeof first ? (int)bytes : (int)sizeof first - 1, title);
    draw_centred(c, l, l->title_y, BN_FONT_TITLE, first);
    if (title[bytes])
        draw_centred(c, l, l->subtitle_y, BN_FONT_LABEL, title + bytes + 1);
}

bn_status bn_picture_write(bn_context *ctx, const char *path, const bn_picture *p)
{
    return bn_picture_redraw(ctx, path, p, NULL);
}

bn_status bn_picture_postpone(bn_context *ctx, const char *path, const bn_picture *p, bn_png_kept *out)
{
    BN_TRY(check(ctx, path, p));
    layout *l = calloc(1, sizeof *l);
    if (!l)
        return bn_fail(ctx, BN_MEMORY, "cannot draw %s: out of memory", path);
    place_box(l, p);
    const bn_status st = bn_picture_keep(ctx, path, p, (int)l->place.frame.w, (int)l->place.frame.h, out);
    free(l);
    return st;
}

bn_status bn_picture_redraw(bn_context *ctx, const char *path, const bn_picture *p, const bn_png_kept *kept)
{
    bn_status st = BN_OK;
    bn_canvas measure = { 0 }, sheet = { 0 };
    size_t count = 0;
    double *levels = NULL;
    layout *l = NULL;
    drawn_levels drawn;
    bn_png_kept made = { NULL, 0 };
    BN_TRY(check(ctx, path, p));
    l = calloc(1, sizeof *l); /* some kilobytes of tick texts */
    levels = make_levels(p, &count);
    if (!l || !levels)
        BN_GO(bn_fail(ctx, BN_MEMORY, "cannot draw %s: out of memory", path));
    BN_GO(bn_canvas_create(ctx, path, 1, 1, &measure));
    l->range = bn_raster_range(p);
    place_box(l, p);
    make_axes(&measure, l, p);
    place_parts(l, p);

    BN_GO(bn_canvas_create(ctx, path, l->width, l->height, &sheet));
    BN_GO(paint_field(&sheet, p, &l->range, &l->place.frame));
    bn_drawing_solid(&sheet, &l->place, p->drawing);
    BN_GO(draw_contours(&sheet, l, p, levels, count, &drawn));
    bn_drawing_lines(&sheet, &l->place, p->drawing);
    draw_marks(&sheet, l, p);
    make_caption(l, p, &drawn);
    bn_frame_draw(&sheet, &l->place.frame);
    bn_axis_draw_below(&sheet, &l->x, &l->place.frame);
    bn_axis_draw_beside(&sheet, &l->y, &l->place.frame, false);
    BN_GO(draw_bar(&sheet, l, p));
    if (p->title)
        draw_title(&sheet, l, p->title);
    if (bn_drawing_has_key(p->drawing))
        bn_drawing_key(&sheet, 0.5 * l->width, l->key_y, p->drawing);
    draw_centred(&sheet, l, l->caption_y, BN_FONT_TICK, l->caption);
    if (p->caption)
        draw_centred(&sheet, l, l->remark_y, BN_FONT_TICK, p->caption);
    if (!kept && p->keeps_values)
        BN_GO(bn_picture_keep(ctx, path, p, (int)l->place.frame.w, (int)l->place.frame.h, &made));
    st = bn_canvas_write(&sheet, p->title, kept ? kept : &made);
out:
    free(made.data);
    bn_canvas_destroy(&sheet);
    bn_canvas_destroy(&measure);
    free(levels);
    free(l);
    return st;
}
