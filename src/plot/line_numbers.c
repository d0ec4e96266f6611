/* line_numbers.c: one number at the longest line of each level. */
#include "plot/line_numbers.h"

#include <math.h>
#include <stdio.h>

enum { SIZE = 14, SHORTEST = 220, APART = 70, ATTEMPTS = 12 };      /* pixels */
static const double half_turn = 3.14159265358979323846, reach = 12; /* along the line, for its direction */

/* The place on a line after `wanted` pixels; returns the line's length if it is shorter. A path has moves and lines
 * only. */
static double walk(const cairo_path_t *path, double wanted, double at[2])
{
    double gone = 0, before[2] = { 0, 0 };
    for (int i = 0; i < path->num_data; i += path->data[i].header.length) {
        const cairo_path_data_t *to = &path->data[i + 1];
        if (path->data[i].header.type == CAIRO_PATH_CLOSE_PATH)
            continue;
        const double step = path->data[i].header.type == CAIRO_PATH_LINE_TO
                                ? hypot(to->point.x - before[0], to->point.y - before[1])
                                : 0;
        const double share = gone + step > wanted ? (wanted - gone) / step : 1;
        at[0] = before[0] + share * (to->point.x - before[0]);
        at[1] = before[1] + share * (to->point.y - before[1]);
        gone += step;
        if (gone >= wanted)
            break;
        before[0] = to->point.x;
        before[1] = to->point.y;
    }
    return gone;
}

static void drop_longest(bn_line_numbers *n)
{
    if (n->longest)
        cairo_path_destroy(n->longest);
    n->longest = NULL;
    n->length = 0;
}

void bn_line_numbers_look(bn_line_numbers *n, cairo_t *cr)
{
    double end[2];
    cairo_path_t *path = cairo_copy_path(cr);
    const double length = path->status == CAIRO_STATUS_SUCCESS ? walk(path, (double)INFINITY, end) : 0;
    const bool longer = length > n->length;
    if (longer) {
        drop_longest(n);
        n->longest = path;
        n->length = length;
    } else {
        cairo_path_destroy(path);
    }
}

void bn_line_numbers_place(bn_line_numbers *n, const bn_plot_frame *f, const char *text)
{
    bool placed = false;
    for (size_t k = 0; k < ATTEMPTS && !placed && n->length > SHORTEST && n->count < BN_LINE_NUMBERS; k++) {
        /* Golden section: numbers of neighbouring lines lie away from each other. */
        const double wanted = n->length * fmod(0.13 + 0.381966 * (double)(n->count + k), 1);
        double at[2], before[2], behind[2];
        (void)walk(n->longest, wanted, at);
        (void)walk(n->longest, fmax(wanted - reach, 0), before);
        (void)walk(n->longest, fmin(wanted + reach, n->length), behind);
        double angle = atan2(behind[1] - before[1], behind[0] - before[0]);
        angle += angle > half_turn / 2 ? -half_turn : angle < -half_turn / 2 ? half_turn : 0;
        placed = at[0] > f->x + 30 && at[0] < f->x + f->w - 30 && at[1] > f->y + 20 && at[1] < f->y + f->h - 20;
        for (size_t i = 0; i < n->count; i++)
            placed = placed && hypot(at[0] - n->number[i].x, at[1] - n->number[i].y) > APART;
        if (placed) {
            n->number[n->count].x = at[0];
            n->number[n->count].y = at[1];
            n->number[n->count].angle = angle;
            snprintf(n->number[n->count++].text, BN_LINE_NUMBER_BYTES, "%s", text);
        }
    }
    drop_longest(n);
}

void bn_line_numbers_draw(bn_line_numbers *n, bn_canvas *c)
{
    drop_longest(n);
    for (size_t i = 0; i < n->count; i++) {
        const double wide = bn_canvas_text_width(c, SIZE, n->number[i].text) + 6, high = 1.1 * SIZE;
        cairo_save(c->cr);
        cairo_translate(c->cr, n->number[i].x, n->number[i].y);
        cairo_rotate(c->cr, n->number[i].angle);
        cairo_set_source_rgba(c->cr, 1, 1, 1, 0.8);
        cairo_rectangle(c->cr, -0.5 * wide, -0.5 * high, wide, high);
        cairo_fill(c->cr);
        cairo_set_source_rgb(c->cr, 0, 0, 0);
        bn_canvas_text(c, 0, 0, 0.5, SIZE, false, 2 * wide, n->number[i].text);
        cairo_restore(c->cr);
    }
}
