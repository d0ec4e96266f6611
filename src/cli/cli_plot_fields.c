/* cli_plot_fields.c: fields of a file as pictures, slices, or charts along a line. */
#include "cli/cli_plot.h"

#include "io/decimal.h"
#include "io/field_file.h"
#include "output/frame_picture.h"
#include "plot/even.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 501 /* of --line */ };

/* What is drawn of an image: all of one with two dimensions, a plane of one with three, a line of one with one. */
typedef struct plane {
    int axis[2];  /* across and up */
    size_t first; /* of its values */
    int along;    /* the axis that it is cut across; -1: none */
    double at;    /* where [m] */
} plane;

static const char *const axis_names[] = { "x", "y", "z" };

static size_t stride(const bn_vtk_image *image, int axis)
{
    size_t step = 1;
    for (int d = 0; d < axis; d++)
        step *= image->n[d];
    return step;
}

/* Place of the value number i along an axis [m]. */
static double place(const bn_vtk_image *image, int axis, double i)
{
    if (image->place[axis]) {
        const double last = image->n[axis] - 1.0, low = fmin(fmax(floor(i), 0), fmax(last - 1, 0));
        const double *at = image->place[axis] + (size_t)low;
        return last > 0 ? at[0] + (i - low) * (at[1] - at[0]) : at[0];
    }
    return image->origin[axis] + (i + (image->nodes ? 0 : 0.5)) * image->h[axis];
}

/* The other way. */
static double number_at(const bn_vtk_image *image, int axis, double x)
{
    const double *at = image->place[axis];
    uint32_t i = 0;
    if (!at)
        return (x - place(image, axis, 0)) / image->h[axis];
    while (i + 2 < image->n[axis] && at[i + 1] <= x)
        i++;
    return image->n[axis] > 1 ? i + (x - at[i]) / (at[i + 1] - at[i]) : (x - at[0]) / image->h[axis];
}

/* --slice: the axis and the place on it; without it z. */
static bn_status read_slice(const bn_cli *cli, int *axis, double *at)
{
    const char *slice = cli->options->plot.slice;
    *axis = slice ? slice[0] - 'x' : 2;
    if (slice && (*axis < 0 || *axis > 2 || slice[1] != '=' || !bn_decimal_parse(slice + 2, at)))
        return bn_fail(cli->ctx, BN_USAGE, "--slice %s: expected x, y or z and a place in m, like z=0.5", slice);
    return BN_OK;
}

/* Where an image is cut: as --slice says, or in the middle of z. */
static bn_status cut(const bn_cli *cli, const char *path, const bn_vtk_image *image, plane *p)
{
    const char *slice = cli->options->plot.slice;
    *p = (plane){ .axis = { 0, 1 }, .along = -1 };
    if (image->dims < 3)
        return BN_OK;
    double at = 0;
    BN_TRY(read_slice(cli, &p->along, &at));
    const uint32_t n = image->n[p->along];
    const double index = slice ? round(number_at(image, p->along, at)) : (double)(n / 2);
    if (!(index >= 0 && index < n))
        return bn_fail(cli->ctx, BN_IO, "--slice %s: %s reaches from %g to %g m", slice, path,
                       place(image, p->along, 0), place(image, p->along, n - 1.0));
    p->at = place(image, p->along, index);
    p->axis[0] = p->along == 0 ? 1 : 0;
    p->axis[1] = p->along == 2 ? 1 : 2;
    p->first = (size_t)index * stride(image, p->along);
    return BN_OK;
}

/* The field itself, or the length of a vector; its logarithm, NaN where there is none. Rows of n values. */
static void scalars(const bn_vtk_image *image, const bn_vtk_array *a, const plane *p, size_t n, size_t rows,
                    bool logarithm, double *values)
{
    const size_t points = (size_t)image->n[0] * image->n[1] * image->n[2];
    const size_t across = stride(image, p->axis[0]), up = stride(image, p->axis[1]);
    for (size_t i = 0; i < n * rows; i++) {
        const size_t at = p->first + i % n * across + i / n * up;
        double squares = 0;
        for (int k = 0; k < a->components; k++) {
            double v = bn_vtk_value(a, at + (size_t)k * points);
            squares += v * v;
        }
        values[i] = a->components == 1 ? bn_vtk_value(a, at) : sqrt(squares);
        if (logarithm)
            values[i] = values[i] > 0 ? log10(values[i]) : (double)NAN;
    }
}

/* The number of a colour map; -1: there is none of that name. */
static int map_named(const char *name)
{
    static const char *const names[] = { "sequential", "diverging", "cyclic" }; /* bn_colour_map */
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

/* --colours; without it around zero when both signs take a real share of the range. */
static bn_colour_map map_for(const bn_cli *cli, bool logarithm, const double *values, size_t points)
{
    if (cli->options->plot.colours)
        return (bn_colour_map)map_named(cli->options->plot.colours);
    return logarithm ? BN_MAP_SEQUENTIAL : bn_map_for(values, points);
}

/* --range: of the colours. */
static bn_status read_range(const bn_cli *cli, double *low, double *high)
{
    const char *given = cli->options->plot.range, *colon = given ? strchr(given, ':') : NULL;
    char first[64] = "";
    *low = *high = 0;
    if (!given)
        return BN_OK;
    if (colon)
        snprintf(first, sizeof first, "%.*s", (int)(colon - given), given);
    if (!colon || !bn_decimal_parse(first, low) || !bn_decimal_parse(colon + 1, high) || !(*low < *high) ||
        (cli->options->plot.log && !(*low > 0)))
        return bn_fail(cli->ctx, BN_USAGE, "--range %s: expected LOW:HIGH with LOW below HIGH%s", given,
                       cli->options->plot.log ? ", with --log above 0" : "");
    if (cli->options->plot.log) {
        *low = log10(*low);
        *high = log10(*high);
    }
    return BN_OK;
}

/* --line: two places with as many coordinates as the image has, or two. */
static bool read_line(const char *given, int dims, double from[3], double to[3])
{
    double *place = from;
    int axis = 0;
    for (int k = 0; k < 3; k++)
        from[k] = to[k] = 0;
    for (const char *at = given; *at;) {
        char word[64], *end = NULL;
        const size_t bytes = strcspn(at, ",:");
        if (bytes >= sizeof word || axis == dims)
            return false;
        snprintf(word, sizeof word, "%.*s", (int)bytes, at);
        place[axis++] = strtod(word, &end);
        if (end == word || *end != '\0' || !isfinite(place[axis - 1]))
            return false;
        at += bytes;
        if (*at == ':' && (place == to || axis != dims))
            return false;
        if (*at == ':') {
            place = to;
            axis = 0;
        }
        at += *at != '\0';
    }
    return place == to && axis == dims;
}

/* The value of a field at a place: linear between its values, of hexagons that of the nearest; NaN outside. */
static double value_at(const bn_vtk_image *image, const double *values, const double x[3])
{
    double sum = 0, low[3], share[3];
    const double row = (x[1] - place(image, 1, 0)) / image->h[1];
    for (int d = 0; d < 3; d++) {
        const double shift = image->hexagons && d == 0 && fmod(round(row), 2) > 0.5 ? 0.5 : 0;
        const double at = d < image->dims ? number_at(image, d, x[d]) - shift : 0, last = image->n[d] - 1.0;
        if (!(at >= -0.5 - 1e-9 && at <= last + 0.5 + 1e-9) || (image->nodes && !(at >= -1e-9 && at <= last + 1e-9)))
            return (double)NAN;
        const double within = image->hexagons ? round(at) : at;
        low[d] = fmin(fmax(floor(within), 0), fmax(last - 1, 0));
        share[d] = fmin(fmax(within - low[d], 0), last > 0 ? 1 : 0);
    }
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        size_t at = 0;
        for (int d = 0; d < 3; d++) {
            const int up = corner >> d & 1;
            weight *= up ? share[d] : 1 - share[d];
            at += (size_t)(low[d] + (weight > 0 ? up : 0)) * stride(image, d);
        }
        if (weight > 0)
            sum += weight * values[at];
    }
    return sum;
}

bn_status bn_plot_plane(bn_context *ctx, const bn_vtk_image *image, const int axis[2], double **values, bn_picture *out)
{
    uint32_t n[2] = { image->n[axis[0]], image->n[axis[1]] };
    double h[2] = { image->h[axis[0]], image->h[axis[1]] }, *other = NULL;
    const double *const uneven[2] = { image->place[axis[0]], image->place[axis[1]] };
    const bool hexagons = image->hexagons && axis[0] == 0 && axis[1] == 1;
    if (hexagons)
        other = bn_frame_half_cells(*values, n[0], n[1]);
    else if (uneven[0] || uneven[1])
        other = bn_even_values(*values, uneven, n, h);
    if ((hexagons || uneven[0] || uneven[1]) && !other)
        return bn_fail(ctx, BN_MEMORY, "no memory for a picture of %u x %u values", n[0], n[1]);
    if (other) {
        free(*values);
        *values = other;
    }
    out->n[0] = hexagons ? 2 * n[0] + 1 : n[0];
    out->n[1] = n[1];
    out->origin[0] = place(image, axis[0], hexagons ? -0.25 : 0);
    out->origin[1] = place(image, axis[1], 0);
    out->h[0] = h[0] * (hexagons ? 0.5 : 1);
    out->h[1] = h[1];
    out->nodes = image->nodes;
    out->values = *values;
    return BN_OK;
}

typedef struct texts {
    char name[160], label[256], title[300], when[64];
} texts;

static bn_status add_line(bn_plot *p, const char *path, const texts *t, const char *what, const char *x_label,
                          const double *x, const double *y, size_t count)
{
    return bn_plot_add_line(p, &(bn_plot_line){ .path = path,
                                                .name = what,
                                                .title = t->title,
                                                .when = t->when,
                                                .x_label = x_label,
                                                .y_label = t->label,
                                                .log_y = p->cli->options->plot.log,
                                                .x = x,
                                                .y = y,
                                                .count = count });
}

/* A field along one axis, or along --line. */
static bn_status plot_line(bn_plot *p, const char *path, const bn_vtk_image *image, const bn_vtk_array *a,
                           const texts *t)
{
    const bool given = p->cli->options->plot.line && image->dims > 1;
    const size_t points = (size_t)image->n[0] * image->n[1] * image->n[2], count = given ? SAMPLES : image->n[0];
    const plane all = { .axis = { 0, 1 }, .along = -1 };
    char what[200];
    double from[3], to[3], length = 0, *values = calloc(points + 2 * count, sizeof *values);
    bn_status st = values ? BN_OK : bn_fail(p->cli->ctx, BN_MEMORY, "no memory to plot %s of %s", a->name, path);
    if (st == BN_OK && given && !read_line(p->cli->options->plot.line, image->dims, from, to))
        st = bn_fail(p->cli->ctx, BN_USAGE, "--line %s: %s has %d dimensions; expected %s", p->cli->options->plot.line,
                     path, image->dims, image->dims == 2 ? "X,Y:X,Y in m" : "X,Y,Z:X,Y,Z in m");
    if (st != BN_OK)
        goto out;
    double *x = values + points, *y = x + count;
    scalars(image, a, &all, image->n[0], points / image->n[0], false, values);
    for (int d = 0; given && d < 3; d++)
        length += (to[d] - from[d]) * (to[d] - from[d]);
    for (size_t i = 0; i < count; i++) {
        const double share = (double)i / (double)(count > 1 ? count - 1 : 1);
        x[i] = given ? sqrt(length) * share : place(image, 0, (double)i);
        const double at[3] = { given ? from[0] + share * (to[0] - from[0]) : 0,
                               given ? from[1] + share * (to[1] - from[1]) : 0,
                               given ? from[2] + share * (to[2] - from[2]) : 0 };
        y[i] = given ? value_at(image, values, at) : values[i];
    }
    snprintf(what, sizeof what, given ? "%.150s-line" : "%.150s", a->name);
    st = add_line(p, path, t, what, given ? "distance [m]" : "x [m]", x, y, count);
out:
    free(values);
    return st;
}

static bn_status plot_array(bn_plot *p, const char *path, const bn_vtk_image *image, const bn_vtk_array *a)
{
    const bn_cli *cli = p->cli;
    plane cut_at;
    texts t;
    char where[64] = "";
    const bool line = image->dims == 1 || cli->options->plot.line, logarithm = cli->options->plot.log && !line;
    double low, high;
    BN_TRY(cut(cli, path, image, &cut_at));
    BN_TRY(read_range(cli, &low, &high));
    const uint32_t n[2] = { image->n[cut_at.axis[0]], image->n[cut_at.axis[1]] };
    if (cut_at.along >= 0 && !line)
        snprintf(where, sizeof where, ", %s = %.4g m", axis_names[cut_at.along], cut_at.at);
    snprintf(t.name, sizeof t.name, a->components == 1 ? "%s%.120s" : "%s|%.120s|", logarithm ? "log10 " : "", a->name);
    snprintf(t.label, sizeof t.label, a->unit && a->unit[0] ? "%.150s [%.64s]" : "%.150s", t.name, a->unit);
    snprintf(t.when, sizeof t.when, "t = %.6g s", image->time);
    snprintf(t.title, sizeof t.title, "%.140s%s%.60s%.60s", image->title ? image->title : "",
             image->title && image->title[0] ? ", " : "", t.when, where);
    if (line)
        return plot_line(p, path, image, a, &t);
    double *values = calloc((size_t)n[0] * n[1], sizeof *values);
    if (!values)
        return bn_fail(cli->ctx, BN_MEMORY, "no memory to plot %s of %s", a->name, path);
    scalars(image, a, &cut_at, n[0], n[1], logarithm, values);
    bn_picture picture = { .low = low,
                           .high = high,
                           .map = map_for(cli, logarithm, values, (size_t)n[0] * n[1]),
                           .axes = { axis_names[cut_at.axis[0]], axis_names[cut_at.axis[1]] },
                           .title = t.title,
                           .name = t.name,
                           .unit = a->unit };
    bn_status st = bn_plot_plane(cli->ctx, image, cut_at.axis, &values, &picture);
    if (st == BN_OK)
        st = bn_plot_add_picture(p, path, a->name, &picture);
    free(values);
    return st;
}

/* The last time of a file; with --animate all. */
bn_status bn_plot_fields(bn_plot *p, const char *path)
{
    const char *field = p->cli->options->plot.field;
    size_t drawn = 0, times = 0;
    bn_status st = BN_OK;
    BN_TRY(bn_field_file_times(p->cli->ctx, path, &times));
    for (size_t which = p->cli->options->plot.animate || times == 0 ? 0 : times - 1; st == BN_OK && which < times;
         which++) {
        bn_vtk_image image = { 0 };
        st = bn_field_file_read(p->cli->ctx, path, field, which, &image);
        for (int d = 0; d < 3; d++) /* of a piece */
            image.origin[d] += image.first[d] * image.h[d];
        for (size_t i = 0; st == BN_OK && i < image.count; i++) {
            if (field && strcmp(field, image.arrays[i].name) != 0)
                continue;
            st = plot_array(p, path, &image, &image.arrays[i]);
            drawn++;
        }
        bn_vtk_free(&image);
    }
    if (st == BN_OK && drawn == 0)
        st = bn_fail(p->cli->ctx, BN_USAGE, "%s has no array %s", path, field ? field : "at all");
    return st;
}

bn_status bn_plot_check(const bn_cli *cli)
{
    static const char *const formats[] = { "png", "svg", "pdf", "mp4" };
    const bn_options *o = cli->options;
    double range[2], from[3], to[3];
    int axis;
    bool known = !o->plot.format;
    BN_TRY(read_range(cli, &range[0], &range[1]));
    BN_TRY(read_slice(cli, &axis, range));
    for (size_t i = 0; !known && i < sizeof formats / sizeof *formats; i++)
        known = strcmp(o->plot.format, formats[i]) == 0 && (o->plot.animate ? i == 0 || i == 3 : i < 3);
    if (!known)
        return bn_fail(cli->ctx, BN_USAGE, "--format %s: expected %s", o->plot.format,
                       o->plot.animate ? "png or mp4, with --animate" : "png, svg or pdf; mp4 goes with --animate");
    if (o->plot.colours && map_named(o->plot.colours) < 0)
        return bn_fail(cli->ctx, BN_USAGE, "--colours %s: expected sequential, diverging or cyclic", o->plot.colours);
    if (o->plot.line && !read_line(o->plot.line, 2, from, to) && !read_line(o->plot.line, 3, from, to))
        return bn_fail(cli->ctx, BN_USAGE, "--line %s: expected two places in m, X,Y:X,Y or X,Y,Z:X,Y,Z", o->plot.line);
    if (o->plot.animate && (o->plot.line || o->plot.overlay))
        return bn_fail(cli->ctx, BN_USAGE, "--animate joins pictures: leave out --%s",
                       o->plot.line ? "line" : "overlay");
    return BN_OK;
}
