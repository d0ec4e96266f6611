/* frame_picture.c: from the fields of one output time to pictures. */
#include "output/frame_picture.h"

#include "plot/even.h"
#include "plot/labels.h"
#include "plot/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARKS = 8 }; /* most lines of a picture */

/* The axes of a picture: the grid's own in two dimensions, those of a slice in three. */
typedef struct plane {
    int x, y, across;
    uint32_t at;
    size_t first, step_x, step_y; /* values of a field from one to the next */
    uint32_t thin[2];             /* of so many points along x and y one is drawn */
} plane;

/* Pictures have some 760 pixels: of longer sides every so many-th value is taken. Odd, so that rows of hexagons stay
 * odd or even. */
enum { BN_DRAWN_MOST = 2048 };
static uint32_t thinning(uint32_t n) { return n > BN_DRAWN_MOST ? (n / BN_DRAWN_MOST) | 1 : 1; }

static const bn_field_desc *field_of(const bn_plan *p, const char *name)
{
    size_t i = 0;
    while (i + 1 < p->field_count && strcmp(p->fields[i].name, name) != 0)
        i++;
    return &p->fields[i];
}

static const bn_grid *grid_of(const bn_plan *p, const bn_picture_desc *d)
{
    return bn_plan_grid_of(p, field_of(p, d->field));
}

static plane plane_of(const bn_plan *plan, const bn_picture_desc *d)
{
    const bn_grid *g = grid_of(plan, d);
    const size_t step[3] = { 1, g->n[0], (size_t)g->n[0] * g->n[1] };
    plane p = { .x = 0, .y = 1, .across = 2 };
    if (g->dims > 2) {
        p.across = d->across;
        p.at = d->at;
        p.x = d->across == 0;
        p.y = d->across == 2 ? 1 : 2;
    }
    p.first = p.at * step[p.across];
    p.step_x = step[p.x];
    p.step_y = step[p.y];
    p.thin[0] = thinning(g->n[p.x]);
    p.thin[1] = thinning(g->n[p.y]);
    return p;
}

/* Values at nodes of differing spacings, thinned, on equal ones; NULL: no memory. */
static double *even_values(const double *values, const bn_grid *g, const plane *p, uint32_t n[2])
{
    const int axes[2] = { p->x, p->y };
    const double *place[2] = { NULL, NULL };
    double h[2], *thinned = malloc(((size_t)n[0] + n[1]) * sizeof *thinned), *out = NULL;
    for (int k = 0; thinned && k < 2; k++)
        if (g->place[axes[k]]) {
            double *own = thinned + (k ? n[0] : 0);
            for (uint32_t i = 0; i < n[k]; i++)
                own[i] = g->place[axes[k]][(size_t)i * p->thin[k]];
            place[k] = own;
        }
    if (thinned)
        out = bn_even_values(values, place, n, h);
    free(thinned);
    return out;
}

/* A component of a field on the picture's plane, thinned, band by band; n: how many values along its axes. */
static bn_status sample_plane(bn_context *ctx, const bn_field_sampler *e, const char *name, int component,
                              const plane *p, uint32_t n[2], double **out)
{
    enum { BAND = 1 << 20 }; /* values */
    const bn_grid *g = bn_plan_grid_of(e->plan, field_of(e->plan, name));
    const uint32_t *grid = g->n;
    const uint32_t wide = grid[p->x], rows = BAND / wide > 0 ? BAND / wide : 1;
    size_t which = 0;
    bn_status st = BN_OK;
    while (which + 1 < e->count && strcmp(e->plan->fields[e->field[which]].name, name) != 0)
        which++;
    for (int k = 0; k < 2; k++)
        n[k] = (grid[k == 0 ? p->x : p->y] - 1) / p->thin[k] + 1;
    double *values = malloc((size_t)n[0] * n[1] * sizeof *values), *band = malloc((size_t)rows * wide * sizeof *band);
    if (!values || !band)
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for a picture of %s", name));
    for (uint32_t low = 0; low < grid[p->y]; low += rows) {
        bn_region r = { { 0 }, { 1, 1, 1 } };
        r.first[p->across] = p->at;
        r.first[p->y] = low;
        r.n[p->x] = wide;
        r.n[p->y] = grid[p->y] - low < rows ? grid[p->y] - low : rows;
        BN_GO(bn_field_sampler_values(ctx, e, which, component, &r, band));
        for (uint32_t j = (low + p->thin[1] - 1) / p->thin[1]; (uint64_t)j * p->thin[1] < (uint64_t)low + r.n[p->y];
             j++)
            for (uint32_t i = 0; i < n[0]; i++)
                values[(size_t)j * n[0] + i] = band[(size_t)(j * p->thin[1] - low) * wide + (size_t)i * p->thin[0]];
    }
    if (g->place[p->x] || g->place[p->y]) {
        double *uneven = values;
        values = even_values(uneven, g, p, n);
        free(uneven);
        if (!values)
            BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for a picture of %s", name));
    }
    *out = values;
    values = NULL;
out:
    free(values);
    free(band);
    return st;
}

double *bn_frame_half_cells(const double *values, size_t nx, size_t ny)
{
    const size_t wide = 2 * nx + 1;
    double *halves = malloc(wide * ny * sizeof *halves);
    for (size_t at = 0; halves && at < wide * ny; at++) {
        const size_t j = at / wide, column = at % wide, shift = j % 2, i = column > shift ? (column - shift) / 2 : 0;
        halves[at] = values[j * nx + (i < nx ? i : nx - 1)];
    }
    return halves;
}

/* Replaces values on hexagons by half cells; false: no memory. */
static bool halve(double **values, size_t nx, size_t ny)
{
    double *halves = *values ? bn_frame_half_cells(*values, nx, ny) : NULL;
    const bool done = halves || !*values;
    free(*values);
    *values = halves;
    return done;
}

/* Texts and lists of a picture. */
typedef struct parts {
    char title[512], label[256];
    bn_marked_line marks[MARKS];
} parts;

/* What pictures of one kind have in common at all times. */
static bn_picture describe(const bn_plan *p, const bn_picture_desc *d, const plane *axes, parts *t)
{
    const bn_grid *g = grid_of(p, d);
    size_t mark_count = 0;
    t->label[0] = '\0';
    if (d->contour_field)
        snprintf(t->label, sizeof t->label, "%s [%s]", d->contour_quantity ? d->contour_quantity : d->contour_field,
                 field_of(p, d->contour_field)->unit);
    for (size_t k = 0; k < d->mark_count && mark_count < MARKS; k++)
        if (d->marks[k].dim == axes->x || d->marks[k].dim == axes->y)
            t->marks[mark_count++] = (bn_marked_line){ d->marks[k].dim == axes->x, d->marks[k].at, d->marks[k].label };
    return (bn_picture){
        .n = { g->n[axes->x], g->n[axes->y] },
        .origin = { g->origin[axes->x], g->origin[axes->y] },
        .h = { g->h[axes->x] * axes->thin[0], g->h[axes->y] * axes->thin[1] },
        .nodes = g->nodes,
        .low = d->low,
        .high = d->high,
        .map = (bn_colour_map)d->map,
        .name = d->quantity ? d->quantity : d->field,
        .unit = field_of(p, d->field)->unit,
        .drawing = d->drawing,
        .classes = d->classes,
        .class_count = d->class_count,
        .axis_scale = d->axis_scale,
        .axis_unit = d->axis_unit,
        .contours = { .levels = d->contour_levels,
                      .count = d->contour_field ? d->contour_count : 0,
                      .label = d->contour_field ? t->label : NULL,
                      .outlines = d->contour_outlines,
                      .arrows = d->arrows },
        .axes = { axes->x == 0 ? "x" : "y", axes->y == 1 ? "y" : "z" },
        .marks = t->marks,
        .mark_count = mark_count,
    };
}

/* "Lid-driven cavity", and below it "Vorticity, t = 1.5 s", or the step where steps do not go along time (Newton's
 * method). */
static void write_title(char *title, size_t room, const bn_field_sampler *e, const bn_picture_desc *d)
{
    const bn_coordinate along = bn_solver_coordinate(e->plan->solver);
    const bool titled = e->title && e->title[0];
    const int used = snprintf(title, room, "%s%s%s, ", titled ? e->title : "", titled ? "\n" : "", d->title);
    if (used < 0 || (size_t)used >= room)
        return;
    double scale = 1;
    const char *unit = strcmp(along.unit, "m") == 0 && e->time > 0 ? bn_label_length(e->time, &scale) : along.unit;
    if (d->timeless || (e->step > 0 && e->time == 0))
        snprintf(title + used, room - (size_t)used, "step %llu", e->step);
    else
        snprintf(title + used, room - (size_t)used, "%s = %.4g %s", along.letter, e->time * scale, unit);
}

/* The mean of the points around a solid one; NaN where there are none. Where the plan's own walls are drawn over it
 * this is what they leave of its cell. */
static double beside(const bool *solid, const double *values, size_t nx, size_t ny, size_t i, size_t j)
{
    double sum = 0;
    int count = 0, blank = 0;
    for (size_t y = j > 0 ? j - 1 : 0; y <= j + 1 && y < ny; y++)
        for (size_t x = i > 0 ? i - 1 : 0; x <= i + 1 && x < nx; x++)
            if (!solid[y * nx + x] && isfinite(values[y * nx + x])) {
                sum += values[y * nx + x];
                count++;
            } else {
                blank += !solid[y * nx + x];
            }
    return count > 0 ? sum / count : blank > 0 ? (double)-INFINITY : (double)NAN;
}

/* Solid points become NaN, points below the plan's limit blank. */
static bool mask(const bn_picture_desc *d, const plane *axes, double *values, size_t nx, size_t ny)
{
    bool *solid = d->hidden ? malloc(nx * ny) : NULL;
    for (size_t k = 0; d->blanks && k < nx * ny; k++)
        if (values[k] < d->blank_below)
            values[k] = (double)-INFINITY;
    if (!d->hidden)
        return true;
    if (!solid)
        return false;
    for (size_t k = 0; k < nx * ny; k++)
        solid[k] =
            d->hidden[axes->first + k % nx * axes->thin[0] * axes->step_x + k / nx * axes->thin[1] * axes->step_y];
    const bool drawn = d->drawing && d->drawing->solid_count > 0;
    for (size_t k = 0; k < nx * ny; k++)
        if (solid[k])
            values[k] = drawn ? beside(solid, values, nx, ny, k % nx, k / nx) : (double)NAN;
    free(solid);
    return true;
}

bn_status bn_frame_picture_write(bn_context *ctx, const bn_field_sampler *e, size_t which, const char *caption,
                                 bool keeps, bn_postponed *postponed, const char *path)
{
    const bn_picture_desc *d = &e->plan->pictures[which];
    const bn_grid *g = grid_of(e->plan, d);
    bn_status st = BN_OK;
    const plane axes = plane_of(e->plan, d);
    const bool hexagons = g->kind == BN_HEXAGONAL && axes.x == 0 && axes.y == 1;
    double *values = NULL, *lines = NULL;
    uint32_t n[2];
    parts texts;
    BN_GO(sample_plane(ctx, e, d->field, 0, &axes, n, &values));
    if (d->contour_field || d->arrows)
        BN_GO(sample_plane(ctx, e, d->arrows ? d->field : d->contour_field, d->arrows, &axes, n, &lines));
    for (size_t k = 0; d->arrows && k < (size_t)n[0] * n[1]; k++) {
        const double x = values[k], y = lines[k];
        values[k] = hypot(x, y);
        lines[k] = atan2(y, x);
    }
    if (!e->leads)
        goto out;
    if (!mask(d, &axes, values, n[0], n[1]) ||
        (hexagons && (!halve(&values, n[0], n[1]) || !halve(&lines, n[0], n[1]))))
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for the picture %s", d->name));
    bn_picture picture = describe(e->plan, d, &axes, &texts);
    write_title(texts.title, sizeof texts.title, e, d);
    picture.n[0] = hexagons ? 2 * n[0] + 1 : n[0];
    picture.n[1] = n[1];
    for (int k = 0; k < 2; k++)
        if (g->place[k ? axes.y : axes.x]) { /* the same length on more nodes */
            const uint32_t last = (g->n[k ? axes.y : axes.x] - 1) / axes.thin[k];
            picture.h[k] *= (double)last / (n[k] - 1);
        }
    if (hexagons) {
        picture.origin[0] -= 0.25 * g->h[0];
        picture.h[0] *= 0.5;
    }
    picture.values = values;
    picture.contours.values = lines;
    picture.title = texts.title;
    picture.caption = caption;
    picture.keeps_values = keeps;
    if (bn_postponed_begun(postponed)) {
        bn_png_kept kept;
        BN_GO(bn_picture_postpone(ctx, path, &picture, &kept));
        st = bn_postponed_put(ctx, postponed, path, kept);
    } else {
        st = bn_picture_write(ctx, path, &picture);
    }
out:
    free(values);
    free(lines);
    return st;
}

bn_status bn_frame_pictures_scale(bn_context *ctx, const bn_plan *p, size_t which, const char *const *paths,
                                  const bn_png_kept *const *kept, size_t count, bn_picture_scale *out)
{
    const plane axes = plane_of(p, &p->pictures[which]);
    parts texts;
    const bn_picture kind = describe(p, &p->pictures[which], &axes, &texts);
    return bn_pictures_scale(ctx, paths, kept, count, &kind, out);
}

bn_status bn_frame_picture_rescale(bn_context *ctx, const bn_plan *p, size_t which, const char *path,
                                   const bn_png_kept *kept, const bn_picture_scale *scale)
{
    const plane axes = plane_of(p, &p->pictures[which]);
    parts texts;
    const bn_picture kind = describe(p, &p->pictures[which], &axes, &texts);
    return bn_picture_to_scale(ctx, path, kept, &kind, scale);
}
