/* bench_draw.c: the pictures of `binnacle bench`: the roofline with every kernel as a point, and time over size. */
#include "bench/bench.h"

#include "io/file.h"
#include "plot/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 1024, LINES = 24 };

typedef struct series {
    char label[128];
    double x[POINTS], y[POINTS];
    size_t count;
} series;

static void add_point(series *s, double x, double y)
{
    if (s->count < POINTS && x > 0 && y > 0 && isfinite(x) && isfinite(y)) {
        s->x[s->count] = x;
        s->y[s->count++] = y;
    }
}

/* The series with that label, a new one where there is none; NULL when all are taken. */
static series *series_of(series *all, size_t first, const char *label)
{
    for (size_t i = first; i < LINES; i++) {
        if (!all[i].label[0])
            snprintf(all[i].label, sizeof all[i].label, "%s", label);
        if (strcmp(all[i].label, label) == 0)
            return &all[i];
    }
    return NULL;
}

static bn_status draw(bn_context *ctx, const char *folder, const char *name, const bn_chart *chart, const series *all,
                      size_t roofs)
{
    bn_chart_line lines[LINES];
    bn_chart full = *chart;
    full.count = 0;
    for (size_t i = 0; i < LINES; i++)
        if (all[i].count > 0 && full.count < LINES)
            lines[full.count++] = (bn_chart_line){ .label = all[i].label,
                                                   .x = all[i].x,
                                                   .y = all[i].y,
                                                   .count = all[i].count,
                                                   .markers = roofs > 0 && i >= roofs };
    full.lines = lines;
    if (full.count == 0)
        return BN_OK; /* nothing was measured */
    /* A point that is not drawn, since nothing follows it: room for the names above the roof. */
    const double above[2] = { all[0].count > 0 ? all[0].x[0] : 0,
                              all[0].count > 0 ? 40 * all[0].y[all[0].count - 1] : 0 };
    if (roofs > 0 && above[1] > 0 && full.count < LINES)
        lines[full.count++] = (bn_chart_line){ .x = &above[0], .y = &above[1], .count = 1 };
    return bn_chart_write(ctx, bn_path_join(folder, name).text, &full);
}

/* Operations a byte from well below to well above the ridge; kernels widen the range. */
static void roof(series *s, const char *label, double copy, double flops, double low, double high)
{
    snprintf(s->label, sizeof s->label, "%s", label);
    if (!(flops > 0))
        return;
    add_point(s, low, low * copy);
    add_point(s, flops / copy, flops);
    add_point(s, fmax(high, 4 * flops / copy), flops);
}

static bn_status draw_roofline(bn_context *ctx, const char *folder, const json_t *entry, series *all)
{
    const json_t *device = json_object_get(entry, "device"), *limits = json_object_get(device, "limits"),
                 *rows = json_object_get(entry, "rows");
    const double copy = bn_json_number(limits, "copy");
    double low = 0.1, high = 10;
    char title[256];
    for (size_t r = 0; r < json_array_size(rows); r++) {
        const json_t *row = json_array_get(rows, r), *kernels = json_object_get(row, "kernels");
        series *s = series_of(all, 2, json_string_value(json_object_get(row, "solver")));
        for (size_t k = 0; s && k < json_array_size(kernels); k++) {
            const json_t *kernel = json_array_get(kernels, k);
            const double bytes = bn_json_number(kernel, "bytes"), flops = bn_json_number(kernel, "flops"),
                         seconds = bn_json_number(kernel, "seconds");
            if (!(bytes > 0) || !(flops > 0))
                continue;
            add_point(s, flops / bytes, flops / seconds);
            low = fmin(low, flops / bytes);
            high = fmax(high, flops / bytes);
        }
    }
    roof(&all[0], "copy bandwidth, single precision", copy, bn_json_number(limits, "single"), low, high);
    roof(&all[1], "double precision", copy, bn_json_number(limits, "double"), low, high);
    snprintf(title, sizeof title, "kernels on %.120s", json_string_value(json_object_get(device, "name")));
    return draw(ctx, folder, "roofline.png",
                &(bn_chart){ .title = title,
                             .x_label = "declared operations a byte",
                             .y_label = "operations per second",
                             .log_x = true,
                             .log_y = true },
                all, 2);
}

static bn_status draw_scaling(bn_context *ctx, const char *folder, const json_t *entry, series *all)
{
    const json_t *rows = json_object_get(entry, "rows");
    char title[256], label[128];
    const char *solver = "", *what = "";
    for (size_t r = 0; r < json_array_size(rows); r++) { /* of each solver the first kind of work */
        const json_t *row = json_array_get(rows, r);
        const char *of = json_string_value(json_object_get(row, "solver")),
                   *kind = json_string_value(json_object_get(row, "what"));
        if (strcmp(of, solver) != 0)
            solver = of, what = kind;
        if (strcmp(kind, what) != 0 || strcmp(json_string_value(json_object_get(row, "precision")), "single") != 0)
            continue;
        snprintf(label, sizeof label, "%.20s: %.80s", of, kind);
        series *s = series_of(all, 0, label);
        if (s)
            add_point(s, pow(bn_json_number(row, "size"), bn_json_number(row, "dims")), bn_json_number(row, "seconds"));
    }
    snprintf(title, sizeof title, "a step over its size on %.120s",
             json_string_value(json_object_get(json_object_get(entry, "device"), "name")));
    return draw(
        ctx, folder, "scaling.png",
        &(bn_chart){
            .title = title, .x_label = "cells or points", .y_label = "a step [s]", .log_x = true, .log_y = true },
        all, 0);
}

bn_status bn_bench_draw(bn_context *ctx, const char *folder, const json_t *entry)
{
    if (json_array_size(json_object_get(entry, "rows")) == 0)
        return BN_OK; /* a published study: no kernels were looked at */
    series *all = calloc(LINES, sizeof *all);
    if (!all)
        return bn_fail(ctx, BN_MEMORY, "no memory for the charts");
    bn_status st = draw_roofline(ctx, folder, entry, all);
    memset(all, 0, LINES * sizeof *all);
    if (st == BN_OK)
        st = draw_scaling(ctx, folder, entry, all);
    free(all);
    return st;
}
