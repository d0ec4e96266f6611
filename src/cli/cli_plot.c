/* cli_plot.c: `binnacle plot`: pictures of the fields in an image of VTK's, a chart for each column of a .csv. */
#include "cli/cli_text.h"
#include "cli/commands.h"

#include "io/file.h"
#include "plot/picture.h"
#include "io/vtk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The field itself, or the length of a vector. */
static void scalars(const bn_vtk_array *a, size_t points, double *values)
{
    for (size_t i = 0; i < points; i++) {
        double squares = 0;
        for (int k = 0; k < a->components; k++) {
            double v = bn_vtk_value(a, i + (size_t)k * points);
            squares += v * v;
        }
        values[i] = a->components == 1 ? bn_vtk_value(a, i) : sqrt(squares);
    }
}

/* Colours around zero when both signs take a real share of the range. */
static bn_colour_map map_for(const double *values, size_t points)
{
    double low = 0, high = 0;
    for (size_t i = 0; i < points; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    return -low > 0.1 * high && high > -0.1 * low ? BN_MAP_DIVERGING : BN_MAP_SEQUENTIAL;
}

static bn_status plot_array(const bn_cli *cli, const char *path, const bn_vtk_image *image, const bn_vtk_array *a)
{
    size_t points = (size_t)image->n[0] * image->n[1];
    char *to = NULL, name[128], title[256];
    double shift = image->nodes ? 0 : 0.5;
    bn_status st = BN_OK;
    double *values = calloc(points, sizeof *values);
    if (!values)
        return bn_fail(cli->ctx, BN_MEMORY, "no memory to plot %s of %s", a->name, path);
    scalars(a, points, values);
    snprintf(name, sizeof name, a->components == 1 ? "%.120s" : "|%.120s|", a->name);
    snprintf(title, sizeof title, "%.180s%st = %.6g s", image->title ? image->title : "",
             image->title && image->title[0] ? ", " : "", image->time);
    BN_GO(bn_cli_plot_name(cli, path, a->name, &to));
    BN_GO(bn_picture_write(
        cli->ctx, to,
        &(bn_picture){ .n = { image->n[0], image->n[1] },
                       .origin = { image->origin[0] + shift * image->h[0], image->origin[1] + shift * image->h[1] },
                       .h = { image->h[0], image->h[1] },
                       .nodes = image->nodes,
                       .values = values,
                       .map = map_for(values, points),
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
    if (image.dims != 2) {
        st = bn_fail(cli->ctx, BN_IO, "%s has %d dimensions: pictures are made of two; ParaView opens the others", path,
                     image.dims);
        goto out;
    }
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

bn_status bn_cli_plot(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    if (o->run.out)
        BN_TRY(bn_directory_create(cli->ctx, o->run.out));
    for (size_t i = 0; i < o->arg_count; i++) {
        if (bn_vtk_is_image(o->args[i]))
            BN_TRY(plot_image(cli, o->args[i]));
        else if (ends_with(o->args[i], ".csv"))
            BN_TRY(bn_cli_plot_csv(cli, o->args[i]));
        else
            return bn_fail(cli->ctx, BN_USAGE, "%s: plot takes .vti, .pvti, .vtu, .vtk and .csv files", o->args[i]);
    }
    return BN_OK;
}
