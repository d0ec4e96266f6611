/* output.c: fields, pictures and series of a run. A field is copied to pinned memory behind the steps launched so far;
 * a job of the writer's thread waits for the copy, converts, draws and writes, while the stepping thread goes on. */
#include "observe/output.h"
#include "observe/export.h"
#include "observe/past.h"
#include "observe/layers.h"
#include "observe/progress.h"

#include "io/csv.h"
#include "io/file.h"
#include "io/picture.h"
#include "io/png_animation.h"
#include "io/vtk.h"
#include "io/writer.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BN_SERIES_FIXED = 3,    /* step, time, residual */
    BN_PUBLISH_SECONDS = 5, /* between rewritings of series.csv */
    BN_ANIMATION_MS = 6000, /* that an animation takes, unless it has many frames: then each is shown for */
    BN_FRAME_MS_MIN = 20    /* which browsers still show at that speed */
};

struct bn_output {
    bn_context *ctx;
    bn_sim *sim;
    bn_folder *folder;
    bn_writer *writer;
    bn_csv_series *series;
    long long every, series_every;
    bool vtk, tiff, hdf5, pictures, animation, layered;
    bn_layers *layers; /* NULL: none are wanted, or another rank writes them */
    atomic_bool saving;            /* a checkpoint is on its way to the disk */
    atomic_ullong safe_step;       /* of the last one that has come there; 0: none */
    double published;              /* when series.csv was last written */
    unsigned long long saved_step; /* of the last checkpoint; BN_PAST_NEVER: none yet */
    bn_past past;
    double seconds;
};

static bn_status open_series(bn_output *o)
{
    const bn_plan *p = bn_sim_plan(o->sim);
    bn_column heads[BN_SERIES_FIXED + BN_SERIES_MAX] = { { "step", "", NULL },
                                                         { "time", "s", NULL },
                                                         { "residual", "", NULL } };
    for (size_t i = 0; i < p->series_count; i++)
        heads[BN_SERIES_FIXED + i] = (bn_column){ p->series[i].name, p->series[i].unit, NULL };
    char *path = NULL;
    if (o->folder)
        BN_TRY(bn_folder_name(o->folder, &path, "series.csv"));
    bn_status st = bn_csv_series_open(o->ctx, path ? path : "", heads, BN_SERIES_FIXED + p->series_count, &o->series);
    free(path);
    return st;
}

static bn_status picture_name(bn_output *o, char **path, size_t which, unsigned long long step)
{
    return bn_folder_name(o->folder, path, "pictures/%s-%06llu.png", bn_sim_plan(o->sim)->pictures[which].name, step);
}

/* Forgets pictures that are not in the folder: a run may go on in another one. */
static void trim_drawn(bn_output *o)
{
    size_t left = 0;
    for (size_t i = 0; i < o->past.drawn_count; i++) {
        bool there = o->pictures;
        for (size_t k = 0; there && k < bn_sim_plan(o->sim)->picture_count; k++) {
            char *path = NULL;
            there = picture_name(o, &path, k, o->past.drawn_steps[i]) == BN_OK && access(path, F_OK) == 0;
            free(path);
        }
        if (there)
            o->past.drawn_steps[left++] = o->past.drawn_steps[i];
    }
    o->past.drawn_count = left;
}

/* Goes on where the run that wrote the checkpoint was: its rows and lists, and no file that it wrote later. */
static bn_status take_up(bn_output *o)
{
    bn_checkpoint *c = bn_sim_resumed(o->sim);
    BN_TRY(bn_past_keep(&o->past, o->series, bn_checkpoint_keeper(c)));
    o->saved_step = bn_sim_now(o->sim).step;
    atomic_store(&o->safe_step, o->saved_step);
    if (!o->folder)
        return BN_OK;
    bn_folder_remove_others(o->folder, o->past.moments, o->past.moment_count);
    bn_past_trim(&o->past, o->folder);
    trim_drawn(o);
    if (o->layers)
        BN_TRY(bn_layers_take_up(o->layers, o->past.moments, o->past.moment_count));
    BN_TRY(bn_csv_series_publish(o->series));
    if (!o->vtk || o->past.file_count == 0)
        return BN_OK;
    char *path = NULL;
    BN_TRY(bn_folder_name(o->folder, &path, "fields.pvd"));
    const bn_status st = bn_vtk_collection_write(o->ctx, path, (const char *const *)o->past.files, o->past.times,
                                                 o->past.file_count);
    free(path);
    return st;
}

bn_status bn_output_create(bn_context *ctx, bn_sim *sim, bn_folder *folder, bool synchronous, bn_output **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    const bn_case *c = bn_sim_case(sim);
    bn_output *o = calloc(1, sizeof *o);
    if (!o)
        return bn_fail(ctx, BN_MEMORY, "no memory for the output");
    o->ctx = ctx;
    o->sim = sim;
    o->folder = folder;
    o->every = bn_case_int(c, "output.every");
    o->series_every = bn_case_int(c, "output.series_every");
    o->vtk = bn_case_bool(c, "output.vtk");
    o->tiff = bn_case_bool(c, "output.tiff");
    o->hdf5 = bn_case_bool(c, "output.hdf5");
    o->pictures = bn_case_bool(c, "output.pictures") && bn_sim_plan(sim)->grid.dims >= 2;
    o->animation = o->pictures && bn_case_bool(c, "output.animation");
    o->past.fields_step = o->saved_step = BN_PAST_NEVER;
    BN_GO(bn_writer_create(ctx, synchronous ? 0 : 2, &o->writer));
    BN_GO(open_series(o));
    static const char *const below[] = { "fields", "pictures" };
    for (size_t i = 0; folder && i < 2; i++)
        if (i == 0 ? o->vtk || o->tiff || o->hdf5 : o->pictures) {
            char *path = NULL;
            BN_GO(bn_folder_name(folder, &path, "%s", below[i]));
            st = bn_folder_create(ctx, path);
            free(path);
            if (st != BN_OK)
                goto out;
        }
    o->layered = bn_sim_plan(sim)->layers.name != NULL;
    if (folder)
        BN_GO(bn_layers_create(ctx, folder, sim, &o->layers));
    if (bn_sim_resumed(sim))
        BN_GO(take_up(o));
    else if (bn_case_bool(c, "output.first"))
        BN_GO(bn_output_fields(o));
    *out = o;
    o = NULL;
out:
    bn_output_destroy(&o);
    return st;
}

void bn_output_destroy(bn_output **output)
{
    if (!output || !*output)
        return;
    bn_output *o = *output;
    bn_writer_destroy(&o->writer);
    bn_layers_destroy(&o->layers);
    if (bn_csv_series_close(&o->series) != BN_OK)
        bn_log(o->ctx, BN_LOG_WARNING, "series.csv could not be closed");
    bn_past_release(&o->past);
    free(o);
    *output = NULL;
}

double bn_output_seconds(const bn_output *o) { return o->seconds; }

/* Everything one output time needs, owned by the job. Texts of the plan and the case outlive it. */
typedef struct moment {
    const bn_plan *plan;
    const char *title;
    double time;
    unsigned long long step;
    size_t count;
    bn_snapshot **snapshots; /* of the fields at index field[i] of the plan */
    size_t *field;
    char *vtk_path, *pvd_path; /* NULL: no VTK */
    char *tiff_path, *hdf5_path; /* the same */
    bn_layers *layers;           /* the output's own */
    char **files;              /* for the .pvd, with times */
    double *times;
    size_t file_count;
    char *picture_path[BN_PLAN_PICTURES];
} moment;

static void moment_release(void *data)
{
    moment *m = data;
    for (size_t i = 0; i < m->count; i++)
        bn_snapshot_release(&m->snapshots[i]);
    for (size_t i = 0; i < m->file_count; i++)
        free(m->files[i]);
    for (size_t i = 0; i < BN_PLAN_PICTURES; i++)
        free(m->picture_path[i]);
    free(m->snapshots);
    free(m->field);
    free(m->files);
    free(m->times);
    free(m->vtk_path);
    free(m->pvd_path);
    free(m->tiff_path);
    free(m->hdf5_path);
    free(m);
}

static const char *vtk_type(const bn_plan *p, bn_type type)
{
    switch (type) {
    case BN_T_I32: return "Int32";
    case BN_T_I64: return "Int64";
    case BN_T_U8: return "UInt8";
    default: return p->precision == BN_DOUBLE ? "Float64" : "Float32";
    }
}

static bn_status write_vtk(bn_context *ctx, const moment *m, const void *const *data)
{
    const bn_grid *g = &m->plan->grid;
    bn_vtk_array arrays[BN_PLAN_FIELDS];
    size_t count = 0;
    for (size_t i = 0; i < m->count; i++) {
        const bn_field_desc *d = &m->plan->fields[m->field[i]];
        if (d->role & BN_OUTPUT)
            arrays[count++] = (bn_vtk_array){
                .name = d->name,
                .unit = d->unit,
                .type = vtk_type(m->plan, d->type),
                .components = (d->components > 0 ? d->components : 1) * (d->type == BN_T_REAL2 ? 2 : 1),
                .data = data[i],
            };
    }
    bn_vtk_image image = {
        .dims = g->dims, .nodes = g->nodes, .time = m->time, .arrays = arrays, .count = count, .title = m->title,
        .hexagons = g->kind == BN_HEXAGONAL && !g->nodes
    };
    for (int k = 0; k < 3; k++) {
        image.n[k] = g->n[k];
        image.h[k] = g->h[k];
        image.origin[k] = g->origin[k] - (g->nodes || k >= g->dims ? 0 : 0.5 * g->h[k]); /* the cell's corner */
    }
    if (image.hexagons) /* the westernmost corner of the first row */
        image.origin[0] = g->origin[0] - 0.5 * g->h[0];
    BN_TRY(bn_vtk_write(ctx, m->vtk_path, &image));
    return bn_vtk_collection_write(ctx, m->pvd_path, (const char *const *)m->files, m->times, m->file_count);
}

/* The axes of a picture: the grid's own in two dimensions, those of a slice in three. */
typedef struct plane {
    int x, y;
    size_t first, step_x, step_y; /* values of a field from one to the next */
} plane;

static plane plane_of(const bn_picture_desc *d, const bn_grid *g)
{
    const size_t step[3] = { 1, g->n[0], (size_t)g->n[0] * g->n[1] };
    if (g->dims < 3)
        return (plane){ 0, 1, 0, step[0], step[1] };
    const int x = d->across == 0, y = d->across == 2 ? 1 : 2;
    return (plane){ x, y, d->at * step[d->across], step[x], step[y] };
}

/* First component of a field on the picture's plane as doubles, or NULL when it isn't there or memory is out. */
static double *as_doubles(const moment *m, const void *const *data, const char *name, const plane *p)
{
    const size_t nx = m->plan->grid.n[p->x], ny = m->plan->grid.n[p->y];
    for (size_t i = 0; name && i < m->count; i++)
        if (strcmp(m->plan->fields[m->field[i]].name, name) == 0) {
            double *values = malloc(nx * ny * sizeof *values);
            for (size_t k = 0; values && k < nx * ny; k++) {
                const size_t at = p->first + k % nx * p->step_x + k / nx * p->step_y;
                values[k] = m->plan->precision == BN_DOUBLE ? ((const double *)data[i])[at]
                                                            : (double)((const float *)data[i])[at];
            }
            return values;
        }
    return NULL;
}

static const char *unit_of(const bn_plan *p, const char *field)
{
    for (size_t i = 0; i < p->field_count; i++)
        if (strcmp(p->fields[i].name, field) == 0)
            return p->fields[i].unit;
    return "";
}

/* Rows of hexagons as rows of half cells, every odd one shifted by one: what stands out at the ends takes the value beside
 * it. NULL: no memory. */
static double *half_cells(const double *values, size_t nx, size_t ny)
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
    double *halves = *values ? half_cells(*values, nx, ny) : NULL;
    const bool done = halves || !*values;
    free(*values);
    *values = halves;
    return done;
}

static bn_status draw(bn_context *ctx, const moment *m, const void *const *data, size_t which)
{
    const bn_picture_desc *d = &m->plan->pictures[which];
    const bn_grid *g = &m->plan->grid;
    bn_status st = BN_OK;
    char title[512], label[256] = "";
    const plane axes = plane_of(d, g);
    double *values = as_doubles(m, data, d->field, &axes), *lines = as_doubles(m, data, d->contour_field, &axes);
    if (!values || (d->contour_field && !lines)) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for the picture %s", d->name);
        goto out;
    }
    for (size_t k = 0; d->hidden && k < (size_t)g->n[axes.x] * g->n[axes.y]; k++)
        if (d->hidden[axes.first + k % g->n[axes.x] * axes.step_x + k / g->n[axes.x] * axes.step_y])
            values[k] = (double)NAN;
    const size_t nx = g->n[axes.x], ny = g->n[axes.y];
    const bool hexagons = g->kind == BN_HEXAGONAL && axes.x == 0 && axes.y == 1;
    for (size_t k = 0; d->blanks && k < nx * ny; k++)
        if (values[k] < d->blank_below)
            values[k] = (double)-INFINITY;
    if (hexagons && (!halve(&values, nx, ny) || !halve(&lines, nx, ny))) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for the picture %s", d->name);
        goto out;
    }
    const int said = snprintf(title, sizeof title, "%s%s%s, ", m->title && m->title[0] ? m->title : "",
                              m->title && m->title[0] ? ": " : "", d->title);
    if (said > 0 && (size_t)said < sizeof title && d->timeless)
        snprintf(title + said, sizeof title - (size_t)said, "step %llu", m->step);
    else if (said > 0 && (size_t)said < sizeof title)
        snprintf(title + said, sizeof title - (size_t)said, "t = %.4g s", m->time);
    if (d->contour_field)
        snprintf(label, sizeof label, "%s [%s]", d->contour_field, unit_of(m->plan, d->contour_field));
    const bn_picture picture = {
        .n = { hexagons ? 2 * g->n[0] + 1 : g->n[axes.x], g->n[axes.y] },
        .origin = { g->origin[axes.x] - (hexagons ? 0.25 * g->h[0] : 0), g->origin[axes.y] },
        .h = { (hexagons ? 0.5 : 1) * g->h[axes.x], g->h[axes.y] },
        .nodes = g->nodes,
        .values = values,
        .low = d->low,
        .high = d->high,
        .map = (bn_colour_map)d->map,
        .title = title,
        .name = d->field,
        .unit = unit_of(m->plan, d->field),
        .contours = { lines, d->contour_levels, lines ? d->contour_count : 0, d->contour_field ? label : NULL },
        .axes = { axes.x == 0 ? "x" : "y", axes.y == 1 ? "y" : "z" },
    };
    st = bn_picture_write(ctx, m->picture_path[which], &picture);
out:
    free(values);
    free(lines);
    return st;
}

/* Pairs as planes of real parts, then of imaginary parts, component by component: as files have them. NULL: no memory. */
static void *planes_of(const moment *m, size_t which, const void *pairs)
{
    const bn_grid *g = &m->plan->grid;
    const bn_field_desc *d = &m->plan->fields[m->field[which]];
    const size_t bytes = m->plan->precision == BN_DOUBLE ? 8 : 4, points = (size_t)g->n[0] * g->n[1] * g->n[2];
    const size_t components = d->components > 0 ? (size_t)d->components : 1;
    char *planes = malloc(2 * components * points * bytes);
    for (size_t c = 0; planes && c < 2 * components; c++)
        for (size_t i = 0; i < points; i++)
            memcpy(planes + (c * points + i) * bytes,
                   (const char *)pairs + (2 * (c / 2 * points + i) + c % 2) * bytes, bytes);
    return planes;
}

static bn_status write_moment(bn_context *ctx, const moment *m, const void *const *values)
{
    if (m->vtk_path)
        BN_TRY(write_vtk(ctx, m, values));
    const bn_export e = { m->plan, m->time, m->step, m->field, m->count, values, m->tiff_path, m->hdf5_path };
    BN_TRY(bn_export_write(ctx, &e));
    if (m->layers)
        BN_TRY(bn_layers_write(ctx, m->layers, &e));
    for (size_t i = 0; i < m->plan->picture_count; i++)
        if (m->picture_path[i])
            BN_TRY(draw(ctx, m, values, i));
    return BN_OK;
}

static bn_status moment_run(bn_context *ctx, void *data)
{
    const moment *m = data;
    const void *values[BN_PLAN_FIELDS];
    void *own[BN_PLAN_FIELDS] = { NULL };
    bn_status st = BN_OK;
    for (size_t i = 0; i < m->count; i++) {
        BN_GO(bn_snapshot_wait(ctx, m->snapshots[i], &values[i]));
        if (m->plan->fields[m->field[i]].type != BN_T_REAL2)
            continue;
        if (!(own[i] = planes_of(m, i, values[i]))) {
            st = bn_fail(ctx, BN_MEMORY, "no memory to write the complex field %s", m->plan->fields[m->field[i]].name);
            goto out;
        }
        values[i] = own[i];
    }
    BN_GO(write_moment(ctx, m, values));
out:
    for (size_t i = 0; i < m->count; i++)
        free(own[i]);
    return st;
}

static bool drawn(const bn_plan *p, const char *name)
{
    for (size_t i = 0; i < p->picture_count; i++)
        if (strcmp(p->pictures[i].field, name) == 0 ||
            (p->pictures[i].contour_field && strcmp(p->pictures[i].contour_field, name) == 0))
            return true;
    return false;
}

static bn_status prepare_vtk(bn_output *o, moment *m, unsigned long long step)
{
    char name[256];
    snprintf(name, sizeof name, "fields/%s-%06llu.%s", m->plan->solver->name, step,
             m->plan->grid.kind == BN_HEXAGONAL && !m->plan->grid.nodes ? "vtu" : "vti");
    BN_TRY(bn_past_file(o->ctx, &o->past, name, m->time));
    BN_TRY(bn_folder_name(o->folder, &m->vtk_path, "%s", name));
    BN_TRY(bn_folder_name(o->folder, &m->pvd_path, "fields.pvd"));
    m->files = calloc(o->past.file_count, sizeof *m->files);
    m->times = calloc(o->past.file_count, sizeof *m->times);
    if (!m->files || !m->times)
        return bn_fail(o->ctx, BN_MEMORY, "no memory for the list of files");
    for (; m->file_count < o->past.file_count; m->file_count++) {
        m->times[m->file_count] = o->past.times[m->file_count];
        if (!(m->files[m->file_count] = strdup(o->past.files[m->file_count])))
            return bn_fail(o->ctx, BN_MEMORY, "no memory for the list of files");
    }
    return BN_OK;
}

static bn_status name_files(bn_output *o, moment *m, unsigned long long step)
{
    if (o->vtk)
        BN_TRY(prepare_vtk(o, m, step));
    if (o->tiff)
        BN_TRY(bn_folder_name(o->folder, &m->tiff_path, "fields/"));
    if (o->hdf5)
        BN_TRY(bn_folder_name(o->folder, &m->hdf5_path, "fields/fields-%llu.h5", step));
    for (size_t i = 0; o->pictures && i < m->plan->picture_count; i++)
        BN_TRY(picture_name(o, &m->picture_path[i], i, step));
    return BN_OK;
}

static bn_status prepare(bn_output *o, moment *m, unsigned long long step)
{
    const bn_plan *p = m->plan;
    m->snapshots = calloc(p->field_count, sizeof *m->snapshots);
    m->field = calloc(p->field_count, sizeof *m->field);
    if (!m->snapshots || !m->field)
        return bn_fail(o->ctx, BN_MEMORY, "no memory for an output time");
    if (o->folder)
        BN_TRY(name_files(o, m, step));
    for (size_t i = 0; i < p->field_count; i++)
        if (((o->vtk || o->tiff || o->hdf5 || o->layered) && (p->fields[i].role & BN_OUTPUT)) ||
            (o->pictures && drawn(p, p->fields[i].name))) {
            m->field[m->count] = i;
            BN_TRY(bn_snapshot_begin(bn_sim_field(o->sim, p->fields[i].name), &m->snapshots[m->count]));
            m->count++;
        }
    return BN_OK;
}

bn_status bn_output_fields(bn_output *o)
{
    const bn_sim_state now = bn_sim_now(o->sim);
    if (now.step == o->past.fields_step || (!o->vtk && !o->tiff && !o->hdf5 && !o->pictures && !o->layered))
        return BN_OK;
    const double start = bn_seconds_now();
    moment *m = calloc(1, sizeof *m);
    if (!m)
        return bn_fail(o->ctx, BN_MEMORY, "no memory for an output time");
    m->plan = bn_sim_plan(o->sim);
    m->title = bn_case_text(bn_sim_case(o->sim), "case.title");
    m->time = now.time;
    m->step = now.step;
    m->layers = o->layers;
    bn_status st = bn_sim_present(o->sim);
    if (st == BN_OK)
        st = prepare(o, m, now.step);
    if (st == BN_OK && o->animation)
        st = bn_past_drawn(o->ctx, &o->past, now.step);
    if (st == BN_OK)
        st = bn_past_moment(o->ctx, &o->past, now.step);
    if (st != BN_OK) {
        moment_release(m);
    } else {
        o->past.fields_step = now.step;
        if (!o->folder)
            moment_release(m);
        else
            st = bn_writer_submit(o->writer, &(bn_job){ moment_run, moment_release, m });
    }
    o->seconds += bn_seconds_now() - start;
    return st;
}

/* The last step's row, unless there is one. */
static bn_status add_row(bn_output *o)
{
    const bn_sim_state now = bn_sim_now(o->sim);
    if (now.step == o->past.row_step)
        return BN_OK;
    o->past.row_step = now.step;
    double row[BN_SERIES_FIXED + BN_SERIES_MAX] = { (double)now.step, now.time, now.residual };
    memcpy(row + BN_SERIES_FIXED, bn_sim_last_step(o->sim)->series, sizeof bn_sim_last_step(o->sim)->series);
    if (isfinite(now.residual) && now.residual > 0)
        BN_TRY(bn_past_residual(o->ctx, &o->past, now.step, now.residual));
    return bn_csv_series_add(o->series, row);
}

/* Every output time of a fast run would be too often: the file is written as a whole. */
static bn_status publish(bn_output *o, double now)
{
    if (o->published > 0 && now - o->published < 1)
        return BN_OK;
    o->published = now;
    return bn_csv_series_publish(o->series);
}

bn_status bn_output_after_step(bn_output *o)
{
    const bn_sim_state now = bn_sim_now(o->sim);
    const bool due = o->every > 0 && now.step % (unsigned long long)o->every == 0;
    const double start = bn_seconds_now();
    if (now.step % (unsigned long long)o->series_every == 0)
        BN_TRY(add_row(o));
    if (due || start - o->published > BN_PUBLISH_SECONDS) {
        BN_TRY(publish(o, start));
        o->seconds += bn_seconds_now() - start;
    }
    return due ? bn_output_fields(o) : BN_OK;
}

typedef struct saving_job {
    bn_saving *saving;
    unsigned long long step;
    bn_output *output; /* whose it has become; outlives the writer */
} saving_job;

static bn_status saving_run(bn_context *ctx, void *data)
{
    const saving_job *job = data;
    BN_TRY(bn_saving_write(ctx, job->saving));
    atomic_store(&job->output->safe_step, job->step);
    return BN_OK;
}

static void saving_release(void *data)
{
    saving_job *job = data;
    bn_saving_release(&job->saving);
    if (job->output)
        atomic_store(&job->output->saving, false);
    free(job);
}

bool bn_output_saving(const bn_output *o) { return atomic_load(&o->saving); }

bn_status bn_output_checkpoint(bn_output *o)
{
    const unsigned long long step = bn_sim_now(o->sim).step;
    if (step == o->saved_step)
        return BN_OK;
    const double start = bn_seconds_now();
    char *path = NULL;
    bn_status st = BN_OK;
    saving_job *job = calloc(1, sizeof *job);
    if (!job)
        return bn_fail(o->ctx, BN_MEMORY, "no memory for a checkpoint");
    if (atomic_load(&o->saving))
        BN_GO(bn_writer_drain(o->writer));
    if (o->folder)
        BN_GO(bn_folder_name(o->folder, &path, "checkpoint"));
    BN_GO(bn_saving_begin(o->sim, path ? path : "", 0, &job->saving));
    BN_GO(bn_past_keep(&o->past, o->series, bn_saving_keeper(job->saving)));
    o->saved_step = step;
    if (!o->folder)
        goto out;
    job->output = o;
    job->step = step;
    atomic_store(&o->saving, true);
    st = bn_writer_submit(o->writer, &(bn_job){ saving_run, saving_release, job });
    job = NULL; /* the writer's, whatever came of it */
out:
    if (job)
        saving_release(job);
    free(path);
    o->seconds += bn_seconds_now() - start;
    return st;
}

unsigned long long bn_output_saved(const bn_output *o) { return atomic_load(&o->safe_step); }

static bn_status write_tables(bn_output *o)
{
    const bn_results *r = bn_sim_results(o->sim);
    for (size_t i = 0; i < bn_results_tables(r); i++) {
        const bn_column *columns;
        size_t count, rows;
        char *path = NULL;
        const char *name = bn_results_table_at(r, i, &columns, &count, &rows);
        BN_TRY(bn_folder_name(o->folder, &path, "%s.csv", name));
        bn_status st = bn_csv_write(o->ctx, path, columns, count, rows);
        free(path);
        BN_TRY(st);
    }
    return BN_OK;
}

/* One map of the results: a picture, and values for other programs. */
static bn_status write_map(bn_output *o, const bn_map *m)
{
    const char *title = bn_case_text(bn_sim_case(o->sim), "case.title");
    char head[512], *path = NULL;
    bn_status st = BN_OK;
    snprintf(head, sizeof head, "%s%s%s", title, title[0] && m->title[0] ? ": " : "", m->title);
    if (o->pictures) {
        const bn_picture picture = {
            .n = { m->n[0], m->n[1] },
            .origin = { m->origin[0], m->origin[1] },
            .h = { m->h[0], m->h[1] },
            .nodes = true,
            .values = m->values,
            .low = m->low,
            .high = m->high,
            .title = head,
            .name = m->quantity,
            .unit = m->unit,
            .contours = { m->lines, m->levels, m->lines ? m->level_count : 0, m->line_label },
            .axes = { m->axes[0], m->axes[1] },
            .shape = m->shape,
        };
        BN_TRY(bn_folder_name(o->folder, &path, "pictures/%s.png", m->name));
        st = bn_picture_write(o->ctx, path, &picture);
        free(path);
        path = NULL;
    }
    if (st == BN_OK && o->vtk) {
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
                                     .title = head };
        BN_TRY(bn_folder_name(o->folder, &path, "%s.vti", m->name));
        st = bn_vtk_write(o->ctx, path, &image);
        free(path);
    }
    return st;
}

static bn_status write_texts(bn_output *o)
{
    const bn_results *r = bn_sim_results(o->sim);
    for (size_t i = 0; i < bn_results_texts(r); i++) {
        char *path = NULL;
        const char *text, *name = bn_results_text_at(r, i, &text);
        BN_TRY(bn_folder_name(o->folder, &path, "%s", name));
        bn_status st = bn_file_write(o->ctx, path, text, strlen(text));
        free(path);
        BN_TRY(st);
    }
    return BN_OK;
}

static bn_status draw_residual(bn_output *o)
{
    char *path = NULL;
    const bn_chart_line line = { .label = "residual", .x = o->past.steps_seen, .y = o->past.residuals, .count = o->past.seen };
    const bn_chart chart = {
        .title = "Residual", .x_label = "step", .y_label = "residual", .log_y = true, .lines = &line, .count = 1
    };
    BN_TRY(bn_folder_name(o->folder, &path, "pictures/residual.png"));
    bn_status st = bn_chart_write(o->ctx, path, &chart);
    free(path);
    return st;
}

static const bn_plan_chart_desc *chart_of(const bn_plan *p, const char *table)
{
    for (size_t i = 0; i < p->chart_count; i++)
        if (strcmp(p->charts[i].table, table) == 0)
            return &p->charts[i];
    return NULL;
}

/* The charts of those tables of which the plan announced one. */
static bn_status draw_table(bn_output *o, size_t table)
{
    const bn_column *columns;
    size_t count, rows;
    const char *name = bn_results_table_at(bn_sim_results(o->sim), table, &columns, &count, &rows);
    const bn_plan_chart_desc *d = chart_of(bn_sim_plan(o->sim), name);
    if (!d || rows < 2 || count < 2)
        return BN_OK;
    bn_status st = BN_OK;
    char *path = NULL;
    bn_chart_line *lines = calloc(count, sizeof *lines);
    double *x = malloc(rows * sizeof *x);
    if (!lines || !x) {
        st = bn_fail(o->ctx, BN_MEMORY, "no memory for the chart of %s", name);
        goto out;
    }
    for (size_t r = 0; r < rows; r++)
        x[r] = columns[0].values[r] * (d->x_scale > 0 ? d->x_scale : 1);
    for (size_t c = 1; c < count; c++)
        lines[c - 1] = (bn_chart_line){
            .label = columns[c].name, .x = x, .y = columns[c].values, .count = rows, .markers = rows <= 12
        };
    BN_GO(bn_folder_name(o->folder, &path, "pictures/%s.png", name));
    BN_GO(bn_chart_write(o->ctx, path, &(bn_chart){ .title = d->title,
                                                    .x_label = d->x_label,
                                                    .y_label = d->y_label,
                                                    .log_y = d->log_y,
                                                    .lines = lines,
                                                    .count = count - 1 }));
out:
    free(lines);
    free(x);
    free(path);
    return st;
}

/* Joins the pictures of one kind, all of which are on the disk, to pictures/NAME.png. */
static bn_status animate(bn_output *o, size_t which)
{
    bn_status st = BN_OK;
    char *path = NULL, **frames = calloc(o->past.drawn_count, sizeof *frames);
    const size_t delay = BN_ANIMATION_MS / o->past.drawn_count;
    if (!frames)
        return bn_fail(o->ctx, BN_MEMORY, "no memory for the names of %zu pictures", o->past.drawn_count);
    for (size_t i = 0; i < o->past.drawn_count; i++)
        BN_GO(picture_name(o, &frames[i], which, o->past.drawn_steps[i]));
    BN_GO(bn_folder_name(o->folder, &path, "pictures/%s.png", bn_sim_plan(o->sim)->pictures[which].name));
    BN_GO(bn_png_animate(o->ctx, path, (const char *const *)frames, o->past.drawn_count,
                         delay < BN_FRAME_MS_MIN ? BN_FRAME_MS_MIN : (unsigned)delay));
out:
    for (size_t i = 0; i < o->past.drawn_count; i++)
        free(frames[i]);
    free(frames);
    free(path);
    return st;
}

/* One file that fails keeps none of the others from being written. */
static void keep_first(bn_status *st, bn_status next)
{
    if (*st == BN_OK)
        *st = next;
}

bn_status bn_output_finish(bn_output *o, bool sound)
{
    const double start = bn_seconds_now();
    bn_status st = sound && bn_sim_now(o->sim).step > 0 ? add_row(o) : BN_OK;
    if (!o->folder)
        return st;
    keep_first(&st, bn_csv_series_publish(o->series));
    keep_first(&st, write_tables(o));
    for (size_t i = 0; i < bn_results_maps(bn_sim_results(o->sim)); i++)
        keep_first(&st, write_map(o, bn_results_map_at(bn_sim_results(o->sim), i)));
    keep_first(&st, write_texts(o));
    if (o->pictures && o->past.seen > 1)
        keep_first(&st, draw_residual(o));
    for (size_t i = 0; o->pictures && i < bn_results_tables(bn_sim_results(o->sim)); i++)
        keep_first(&st, draw_table(o, i));
    const bn_status drained = bn_writer_drain(o->writer);
    keep_first(&st, drained);
    if (o->layers && drained == BN_OK)
        keep_first(&st, bn_layers_finish(o->layers));
    for (size_t i = 0; drained == BN_OK && o->past.drawn_count > 1 && i < bn_sim_plan(o->sim)->picture_count; i++)
        keep_first(&st, animate(o, i));
    o->seconds += bn_seconds_now() - start;
    return st;
}
