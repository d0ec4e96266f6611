/* results_output.c: tables, maps, texts and charts of the results, when a run has ended. */
#include "output/results_output.h"

#include "io/csv.h"
#include "io/file.h"
#include "io/volume.h"
#include "io/vtk.h"
#include "plot/picture.h"
#include "sim/results_write.h"
#include "sim/sim_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bn_status write_tables(const bn_results_output *o)
{
    const bn_results *r = bn_sim_results(o->sim);
    for (size_t i = 0; i < bn_results_tables(r); i++) {
        const bn_column *columns;
        size_t count, rows;
        const char *name = bn_results_table_at(r, i, &columns, &count, &rows);
        BN_TRY(bn_csv_write(o->ctx, bn_output_dir_name(o->folder, "%s.csv", name).text, columns, count, rows));
    }
    return BN_OK;
}

static bn_status write_map_tiff(const bn_results_output *o, const bn_map *m)
{
    const size_t count = (size_t)m->n[0] * m->n[1];
    float *values = malloc((count + 1) * sizeof *values);
    if (!values)
        return bn_fail(o->ctx, BN_MEMORY, "no memory for the map %s", m->name);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)m->values[i];
    const bn_status st = bn_tiff_write(o->ctx, bn_output_dir_name(o->folder, "%s.tif", m->name).text,
                                       (const uint32_t[]){ m->n[0], m->n[1], 1 }, values, m->title);
    free(values);
    return st;
}

/* One map of the results: a picture, and values for other programs. */
static bn_status write_map(const bn_results_output *o, const bn_map *m)
{
    const char *title = bn_case_text(bn_sim_case(o->sim), "case.title");
    char head[512];
    snprintf(head, sizeof head, "%s%s%s", title, title[0] && m->title[0] ? "\n" : "", m->title);
    if (o->pictures) {
        bn_map titled = *m;
        titled.title = head;
        BN_TRY(bn_map_draw(o->ctx, &titled, bn_output_dir_name(o->folder, "pictures/%s.png", m->name).text));
    }
    if (o->vtk) {
        const bn_vtk_array array = {
            .name = m->name, .unit = m->unit, .type = "Float64", .components = 1, .data = m->values
        };
        const bn_vtk_image image = { .n = { m->n[0], m->n[1], 1 },
                                     .h = { m->h[0], m->h[1], 1 },
                                     .origin = { m->origin[0], m->origin[1], 0 },
                                     .dims = 2,
                                     .nodes = true,
                                     .arrays = &array,
                                     .count = 1,
                                     .title = m->title[0] ? m->title : title };
        BN_TRY(bn_vtk_write(o->ctx, bn_output_dir_name(o->folder, "%s.vti", m->name).text, &image));
    }
    return o->tiff ? write_map_tiff(o, m) : BN_OK;
}

static bn_status write_texts(const bn_results_output *o)
{
    const bn_results *r = bn_sim_results(o->sim);
    for (size_t i = 0; i < bn_results_texts(r); i++) {
        const char *text, *name = bn_results_text_at(r, i, &text);
        BN_TRY(bn_file_write(o->ctx, bn_output_dir_name(o->folder, "%s", name).text, text, strlen(text)));
    }
    return BN_OK;
}

/* A column's name in words: "gauge_1" as "gauge 1". */
static void in_words(char *words, size_t room, const char *name)
{
    snprintf(words, room, "%s", name);
    for (char *at = words; (at = strchr(at, '_')) != NULL;)
        *at = ' ';
}

/* Draws the chart of a table, if the plan announced one. */
static bn_status draw_table(const bn_results_output *o, size_t table)
{
    const bn_column *columns;
    size_t count, rows;
    const char *name = bn_results_table_at(bn_sim_results(o->sim), table, &columns, &count, &rows);
    const bn_plan_chart_desc *d = bn_plan_chart_of(bn_sim_plan(o->sim), name, strlen(name));
    if (!d || rows < 2 || count < 2)
        return BN_OK;
    bn_status st = BN_OK;
    enum { WORDS = 96 };
    char(*words)[WORDS] = calloc(count, sizeof *words);
    bn_chart_line *lines = calloc(count, sizeof *lines);
    double *x = malloc(rows * sizeof *x);
    if (!lines || !x || !words)
        BN_GO(bn_fail(o->ctx, BN_MEMORY, "no memory for the chart of %s", name));
    for (size_t r = 0; r < rows; r++)
        x[r] = columns[0].values[r] * (d->x_scale > 0 ? d->x_scale : 1);
    size_t used = 0;
    for (size_t c = 1; c < count; c++) {
        if (used > 0 && bn_column_is_error(columns[c].name)) {
            lines[used - 1].error = columns[c].values;
            continue;
        }
        in_words(words[c], WORDS, columns[c].name);
        lines[used++] = (bn_chart_line){
            .label = words[c], .x = x, .y = columns[c].values, .count = rows, .markers = rows <= 12
        };
    }
    char title[512];
    const char *of_case = bn_case_text(bn_sim_case(o->sim), "case.title");
    snprintf(title, sizeof title, "%s%s%s", of_case, of_case[0] ? ": " : "", d->title);
    const bn_chart chart = {
        .title = title, .x_label = d->x_label, .y_label = d->y_label, .log_y = d->log_y, .lines = lines, .count = used
    };
    if (bn_chart_shows(&chart))
        st = bn_chart_write(o->ctx, bn_output_dir_name(o->folder, "pictures/%s.png", name).text, &chart);
out:
    free(words);
    free(lines);
    free(x);
    return st;
}

void bn_keep_first(bn_status *st, bn_status next)
{
    if (*st == BN_OK)
        *st = next;
}

bn_status bn_results_output_write(const bn_results_output *o)
{
    const bn_results *r = bn_sim_results(o->sim);
    bn_status st = write_tables(o);
    for (size_t i = 0; i < bn_results_maps(r); i++)
        bn_keep_first(&st, write_map(o, bn_results_map_at(r, i)));
    bn_keep_first(&st, write_texts(o));
    for (size_t i = 0; o->pictures && i < bn_results_tables(r); i++)
        bn_keep_first(&st, draw_table(o, i));
    return st;
}
