/* cli_plot.c: `binnacle plot`: pictures of the fields in an image of VTK's, a chart for each column of a .csv, all of
 * it for the folder of a run. */
#include "cli/cli_text.h"
#include "cli/commands.h"

#include "io/decimal.h"
#include "io/file.h"
#include "plot/picture.h"
#include "io/vtk.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    return image->origin[axis] + (i + (image->nodes ? 0 : 0.5)) * image->h[axis];
}

/* --slice: the axis and the place on it; without it z. */
static bn_status read_slice(const bn_cli *cli, int *axis, double *at)
{
    const char *slice = cli->options->slice;
    *axis = slice ? slice[0] - 'x' : 2;
    if (slice && (*axis < 0 || *axis > 2 || slice[1] != '=' || !bn_decimal_parse(slice + 2, at)))
        return bn_fail(cli->ctx, BN_USAGE, "--slice %s: expected x, y or z and a place in m, like z=0.5", slice);
    return BN_OK;
}

/* Where an image is cut: as --slice says, or in the middle of z. */
static bn_status cut(const bn_cli *cli, const char *path, const bn_vtk_image *image, plane *p)
{
    const char *slice = cli->options->slice;
    *p = (plane){ .axis = { 0, 1 }, .along = -1 };
    if (image->dims < 3)
        return BN_OK;
    double at = 0;
    BN_TRY(read_slice(cli, &p->along, &at));
    const uint32_t n = image->n[p->along];
    const double index = slice ? round((at - place(image, p->along, 0)) / image->h[p->along]) : (double)(n / 2);
    if (!(index >= 0 && index < n))
        return bn_fail(cli->ctx, BN_IO, "--slice %s: %s reaches from %g to %g m", slice, path,
                       place(image, p->along, 0), place(image, p->along, n - 1.0));
    p->at = place(image, p->along, index);
    p->axis[0] = p->along == 0 ? 1 : 0;
    p->axis[1] = p->along == 2 ? 1 : 2;
    p->first = (size_t)index * stride(image, p->along);
    return BN_OK;
}

/* The field itself, or the length of a vector; its logarithm, NaN where there is none. */
static void scalars(const bn_vtk_image *image, const bn_vtk_array *a, const plane *p, bool logarithm, double *values)
{
    const size_t points = (size_t)image->n[0] * image->n[1] * image->n[2];
    const size_t across = stride(image, p->axis[0]), up = stride(image, p->axis[1]), n = image->n[p->axis[0]];
    for (size_t i = 0; i < n * image->n[p->axis[1]]; i++) {
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

/* --range: of the colours. */
static bn_status read_range(const bn_cli *cli, double *low, double *high)
{
    const char *given = cli->options->range, *colon = given ? strchr(given, ':') : NULL;
    char first[64] = "";
    *low = *high = 0;
    if (!given)
        return BN_OK;
    if (colon)
        snprintf(first, sizeof first, "%.*s", (int)(colon - given), given);
    if (!colon || !bn_decimal_parse(first, low) || !bn_decimal_parse(colon + 1, high) || !(*low < *high) ||
        (cli->options->log && !(*low > 0)))
        return bn_fail(cli->ctx, BN_USAGE, "--range %s: expected LOW:HIGH with LOW below HIGH%s", given,
                       cli->options->log ? ", with --log above 0" : "");
    if (cli->options->log) {
        *low = log10(*low);
        *high = log10(*high);
    }
    return BN_OK;
}

/* A field along one axis. */
static bn_status chart_array(const bn_cli *cli, const char *to, const bn_vtk_image *image, const bn_vtk_array *a,
                             const char *title, const char *name, const double *values)
{
    char label[256];
    double *x = calloc(image->n[0], sizeof *x);
    if (!x)
        return bn_fail(cli->ctx, BN_MEMORY, "no memory to plot %s", a->name);
    for (uint32_t i = 0; i < image->n[0]; i++)
        x[i] = place(image, 0, i);
    snprintf(label, sizeof label, a->unit && a->unit[0] ? "%s [%s]" : "%s", name, a->unit);
    const bn_chart_line line = { .label = name, .x = x, .y = values, .count = image->n[0] };
    bn_status st = bn_chart_write(cli->ctx, to,
                                  &(bn_chart){ .title = title,
                                               .x_label = "x [m]",
                                               .y_label = label,
                                               .log_y = cli->options->log,
                                               .lines = &line,
                                               .count = 1 });
    free(x);
    return st;
}

static bn_status plot_array(const bn_cli *cli, const char *path, const bn_vtk_image *image, const bn_vtk_array *a)
{
    plane p;
    char *to = NULL, name[160], title[300], where[64] = "";
    const bool line = image->dims == 1, logarithm = cli->options->log && !line;
    double low, high;
    BN_TRY(cut(cli, path, image, &p));
    BN_TRY(read_range(cli, &low, &high));
    const uint32_t n[2] = { image->n[p.axis[0]], image->n[p.axis[1]] };
    bn_status st = BN_OK;
    double *values = calloc((size_t)n[0] * n[1], sizeof *values);
    if (!values)
        return bn_fail(cli->ctx, BN_MEMORY, "no memory to plot %s of %s", a->name, path);
    scalars(image, a, &p, logarithm, values);
    if (p.along >= 0)
        snprintf(where, sizeof where, ", %s = %.4g m", axis_names[p.along], p.at);
    snprintf(name, sizeof name, a->components == 1 ? "%s%.120s" : "%s|%.120s|", logarithm ? "log10 " : "", a->name);
    snprintf(title, sizeof title, "%.180s%st = %.6g s%s", image->title ? image->title : "",
             image->title && image->title[0] ? ", " : "", image->time, where);
    BN_GO(bn_cli_plot_name(cli, path, a->name, &to));
    if (line)
        BN_GO(chart_array(cli, to, image, a, title, name, values));
    else
        BN_GO(bn_picture_write(
            cli->ctx, to,
            &(bn_picture){ .n = { n[0], n[1] },
                           .origin = { place(image, p.axis[0], 0), place(image, p.axis[1], 0) },
                           .h = { image->h[p.axis[0]], image->h[p.axis[1]] },
                           .nodes = image->nodes,
                           .values = values,
                           .low = low,
                           .high = high,
                           .map = logarithm ? BN_MAP_SEQUENTIAL : bn_map_for(values, (size_t)n[0] * n[1]),
                           .axes = { axis_names[p.axis[0]], axis_names[p.axis[1]] },
                           .title = title,
                           .name = name,
                           .unit = a->unit }));
    printf("%s\n", to);
out:
    free(to);
    free(values);
    return st;
}

static bn_status plot_image(const bn_cli *cli, const char *path)
{
    bn_vtk_image image = { 0 };
    size_t drawn = 0;
    bn_status st = BN_OK;
    BN_TRY(bn_vtk_read(cli->ctx, path, cli->options->field, &image));
    for (int d = 0; d < 3; d++) /* of a piece */
        image.origin[d] += image.first[d] * image.h[d];
    for (size_t i = 0; i < image.count; i++) {
        if (cli->options->field && strcmp(cli->options->field, image.arrays[i].name) != 0)
            continue;
        BN_GO(plot_array(cli, path, &image, &image.arrays[i]));
        drawn++;
    }
    if (drawn == 0)
        st = bn_fail(cli->ctx, BN_USAGE, "%s has no array %s", path,
                     cli->options->field ? cli->options->field : "at all");
out:
    bn_vtk_free(&image);
    return st;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bn_status plot_file(const bn_cli *cli, const char *path)
{
    if (bn_vtk_is_image(path))
        return plot_image(cli, path);
    if (ends_with(path, ".csv"))
        return bn_cli_plot_csv(cli, path);
    return bn_fail(cli->ctx, BN_USAGE, "%s: plot takes the folder of a run, and .vti, .pvti, .vtu, .vtk and .csv files",
                   path);
}

/* What came of all files. */
typedef struct tally {
    size_t files, refused;
    bn_status first;
} tally;

/* A file that is refused is told at once if there are others. */
static void count(const bn_cli *cli, tally *t, bn_status st, bool alone)
{
    t->files++;
    if (st == BN_OK)
        return;
    t->refused++;
    t->first = t->first == BN_OK ? st : t->first;
    if (alone)
        return;
    fprintf(stderr, "binnacle: %s\n", bn_error_text(cli->ctx));
    bn_error_clear(cli->ctx);
}

/* A file of a run that can be drawn; pieces are with the file that lists them. */
static int drawable(const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.'), *piece = dot;
    while (piece && piece > e->d_name && piece[-1] >= '0' && piece[-1] <= '9')
        piece--;
    const bool of_rank = piece && piece < dot && piece > e->d_name + 1 && piece[-1] == 'p' && piece[-2] == '.';
    return e->d_name[0] != '.' && !of_rank && (bn_vtk_is_image(e->d_name) || ends_with(e->d_name, ".csv"));
}

/* All that can be drawn in a folder, in the order of names; with --field what has it. */
static bn_status plot_folder(const bn_cli *cli, const char *folder, tally *t)
{
    struct dirent **list = NULL;
    const int found = scandir(folder, &list, drawable, alphasort);
    bn_status st = BN_OK;
    for (int i = 0; i < found; i++) {
        char *path = bn_path_join(folder, list[i]->d_name);
        if (!path && st == BN_OK)
            st = bn_fail(cli->ctx, BN_MEMORY, "no memory for the files of %s", folder);
        if (st == BN_OK) {
            const bn_status drawn = plot_file(cli, path);
            if (drawn == BN_USAGE && cli->options->field) /* it has no such array or column */
                bn_error_clear(cli->ctx);
            else
                count(cli, t, drawn, false);
        }
        free(path);
        free(list[i]);
    }
    free(list);
    return st;
}

bn_status bn_cli_plot(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    tally t = { .first = BN_OK };
    struct stat info;
    double range[2];
    int axis;
    BN_TRY(read_range(cli, &range[0], &range[1])); /* mistakes before the first picture */
    BN_TRY(read_slice(cli, &axis, range));
    if (o->run.out)
        BN_TRY(bn_directory_create(cli->ctx, o->run.out));
    for (size_t i = 0; i < o->arg_count; i++) {
        const char *path = o->args[i];
        if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
            count(cli, &t, plot_file(cli, path), o->arg_count == 1);
            continue;
        }
        const size_t before = t.files;
        char *fields = bn_path_join(path, "fields");
        bn_status st = fields ? plot_folder(cli, path, &t)
                              : bn_fail(cli->ctx, BN_MEMORY, "no memory for the files of %s", path);
        st = st == BN_OK ? plot_folder(cli, fields, &t) : st;
        free(fields);
        BN_TRY(st);
        if (t.files == before)
            count(cli, &t, bn_fail(cli->ctx, BN_USAGE, "%s: nothing there to plot", path), o->arg_count == 1);
    }
    if (t.refused > 0 && !bn_error_text(cli->ctx)[0]) /* told already */
        return bn_fail(cli->ctx, t.first, "%zu of %zu files were not drawn", t.refused, t.files);
    return t.first;
}
