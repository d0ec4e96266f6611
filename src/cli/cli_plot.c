/* cli_plot.c: `binnacle plot`: pictures of fields (.vti) and charts of tables (.csv) that this program wrote. */
#include "cli/options.h"
#include "io/file.h"
#include "io/picture.h"
#include "io/vtk.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

/* "out/fields/flow-000100.vti" -> "<folder>/flow-000100-psi.png", folder beside the file unless given. */
static char *picture_path(const char *file, const char *folder, const char *field)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
    char text[1024];
    snprintf(text, sizeof text, "%.*s%s%s.png", (int)(dot ? dot - name : (long)strlen(name)), name, field[0] ? "-" : "", field);
    char beside[1024];
    snprintf(beside, sizeof beside, "%.*s", slash ? (int)(slash - file) : 1, slash ? file : ".");
    return bn_path_join(folder ? folder : beside, text);
}

/* One value per point: the component, or the magnitude of several. */
static double *values_of(const bn_vtk_image *image, const bn_vtk_array *a, size_t points)
{
    double *out = calloc(points, sizeof *out);
    for (int c = 0; out && c < a->components; c++)
        for (size_t i = 0; i < points; i++) {
            const size_t at = (size_t)c * points + i;
            double x = strcmp(a->type, "Float64") == 0   ? ((const double *)a->data)[at]
                       : strcmp(a->type, "Float32") == 0 ? (double)((const float *)a->data)[at]
                       : strcmp(a->type, "Int32") == 0   ? (double)((const int32_t *)a->data)[at]
                       : strcmp(a->type, "Int64") == 0   ? (double)((const int64_t *)a->data)[at]
                                                         : (double)((const uint8_t *)a->data)[at];
            out[i] = a->components == 1 ? x : out[i] + x * x;
        }
    for (size_t i = 0; out && a->components > 1 && i < points; i++)
        out[i] = sqrt(out[i]);
    (void)image;
    return out;
}

static bn_status plot_array(bn_context *ctx, const char *file, const bn_options *o, const bn_vtk_image *image, const bn_vtk_array *a)
{
    const size_t points = (size_t)image->n[0] * image->n[1];
    bn_status st = BN_OK;
    char title[512], name[128];
    char *path = picture_path(file, o->out, a->name);
    double *values = values_of(image, a, points);
    if (!path || !values) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for a picture of %s", a->name);
        goto out;
    }
    bool signs[2] = { false, false };
    for (size_t i = 0; i < points; i++)
        signs[values[i] > 0] = signs[values[i] > 0] || (isfinite(values[i]) && values[i] != 0);
    snprintf(name, sizeof name, a->components > 1 ? "|%s|" : "%s", a->name);
    snprintf(title, sizeof title, "%s%s%s, t = %.4g s", image->title ? image->title : "", image->title && image->title[0] ? ": " : "", name,
             image->time);
    const bn_picture picture = {
        .n = { image->n[0], image->n[1] },
        .origin = { image->origin[0] + (image->nodes ? 0 : 0.5 * image->h[0]), image->origin[1] + (image->nodes ? 0 : 0.5 * image->h[1]) },
        .h = { image->h[0], image->h[1] },
        .nodes = image->nodes,
        .values = values,
        .map = signs[0] && signs[1] ? BN_MAP_DIVERGING : BN_MAP_SEQUENTIAL,
        .title = title,
        .name = name,
        .unit = a->unit,
    };
    BN_GO(bn_picture_write(ctx, path, &picture));
    printf("%s\n", path);
out:
    free(path);
    free(values);
    return st;
}

static bn_status plot_image(bn_context *ctx, const char *file, const bn_options *o)
{
    bn_vtk_image image;
    bn_status st = BN_OK;
    bool any = false;
    BN_TRY(bn_vtk_read(ctx, file, &image));
    if (image.n[2] != 1 || image.n[0] < 2 || image.n[1] < 2)
        st = bn_fail(ctx, BN_USAGE, "%s: only planes can be drawn, this is %u x %u x %u", file, image.n[0], image.n[1], image.n[2]);
    for (size_t i = 0; st == BN_OK && i < image.count; i++)
        if (!o->field || strcmp(o->field, image.arrays[i].name) == 0) {
            any = true;
            st = plot_array(ctx, file, o, &image, &image.arrays[i]);
        }
    if (st == BN_OK && !any)
        st = bn_fail(ctx, BN_USAGE, "%s has no field %s", file, o->field ? o->field : "at all");
    bn_vtk_free(&image);
    return st;
}

enum { BN_COLUMNS_MAX = 32, BN_TABLE_BYTES = 256 << 20 };

/* A table read back: heads in `text` (cut at commas), values column by column. */
typedef struct table { char *text, *heads[BN_COLUMNS_MAX]; double *values[BN_COLUMNS_MAX]; size_t count, rows; } table;

static void table_free(table *t)
{
    for (size_t c = 0; c < t->count; c++)
        free(t->values[c]);
    free(t->text);
}

static bn_status table_read(bn_context *ctx, const char *file, table *t)
{
    size_t bytes, lines = 0;
    *t = (table){ 0 };
    BN_TRY(bn_file_read(ctx, file, BN_TABLE_BYTES, &t->text, &bytes));
    for (const char *p = t->text; *p; p++)
        lines += *p == '\n';
    char *line = t->text, *next = strchr(line, '\n');
    if (!next)
        return bn_fail(ctx, BN_IO, "%s is no table that binnacle wrote", file);
    *next++ = '\0';
    for (char *head = line; head && t->count < BN_COLUMNS_MAX; t->count++) {
        t->heads[t->count] = head;
        if ((head = strchr(head, ',')) != NULL)
            *head++ = '\0';
        if (!(t->values[t->count] = malloc((lines + 1) * sizeof(double))))
            return bn_fail(ctx, BN_MEMORY, "no memory for the table %s", file);
    }
    for (char *p = next; *p; t->rows++) {
        for (size_t c = 0; c < t->count; c++) {
            char *end = p;
            double x = *p == ',' || *p == '\n' || *p == '\0' ? (double)NAN : strtod(p, &end);
            if ((*end != ',' && *end != '\n' && *end != '\0' && *end != '\r') || t->rows > lines)
                return bn_fail(ctx, BN_IO, "%s, line %zu: not a number", file, t->rows + 2);
            t->values[c][t->rows] = x;
            p = *end == '\r' ? end + 1 : end;
            if (*p == ',')
                p++;
        }
        p = strchr(p, '\n');
        if (!p)
            break;
        p++;
    }
    return BN_OK;
}

static bn_status plot_table(bn_context *ctx, const char *file, const bn_options *o)
{
    table t;
    bn_chart_line lines[BN_COLUMNS_MAX];
    bn_status st = table_read(ctx, file, &t);
    char *path = st == BN_OK ? picture_path(file, o->out, o->field ? o->field : "") : NULL;
    size_t count = 0;
    bool logarithmic = false;
    for (size_t c = 1; st == BN_OK && c < t.count; c++) {
        size_t n = strcspn(t.heads[c], " [");
        bool residual = n == 8 && strncmp(t.heads[c], "residual", 8) == 0;
        /* A series' own chart is that of its residual, unless a column is named. */
        if (o->field ? strlen(o->field) != n || strncmp(t.heads[c], o->field, n) != 0 : strcmp(t.heads[0], "step") == 0 && !residual)
            continue;
        logarithmic = logarithmic || residual;
        lines[count++] = (bn_chart_line){ .label = t.heads[c], .x = t.values[0], .y = t.values[c], .count = t.rows };
    }
    if (st == BN_OK && count == 0)
        st = bn_fail(ctx, BN_USAGE, "%s has no column %s", file, o->field ? o->field : "to draw");
    if (st == BN_OK && !path)
        st = bn_fail(ctx, BN_MEMORY, "no memory for a chart");
    if (st == BN_OK)
        st = bn_chart_write(ctx, path, &(bn_chart){ .title = file, .x_label = t.heads[0], .y_label = count == 1 ? lines[0].label : "",
                                                    .log_y = logarithmic, .lines = lines, .count = count });
    if (st == BN_OK)
        printf("%s\n", path);
    free(path);
    table_free(&t);
    return st;
}

bn_status bn_cli_plot(bn_context *ctx, const bn_options *o)
{
    if (o->out)
        BN_TRY(bn_folder_create(ctx, o->out));
    for (size_t i = 0; i < o->argument_count; i++) {
        const char *file = o->arguments[i];
        if (ends_with(file, ".vti"))
            BN_TRY(plot_image(ctx, file, o));
        else if (ends_with(file, ".csv"))
            BN_TRY(plot_table(ctx, file, o));
        else
            return bn_fail(ctx, BN_USAGE, "%s: only .vti fields and .csv tables can be drawn", file);
    }
    return BN_OK;
}
