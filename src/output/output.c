/* output.c: when fields, pictures, series and checkpoints of a run are written, and by which rank. Jobs of the writer's
 * thread do it, while the stepping thread goes on. */
#include "output/output.h"
#include "output/frame.h"
#include "output/history.h"
#include "output/progress.h"
#include "sim/checkpoint.h"

#include "io/csv.h"
#include "io/file.h"
#include "plot/picture.h"
#include "plot/png_animation.h"
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
    bn_output_dir *folder;
    bn_writer *writer;
    bn_csv_series *series;
    long long every, series_every;
    bool vtk, tiff, hdf5, pictures, animation, layered;
    bn_mesh_output *layers; /* NULL: none are wanted, or another rank writes them */
    bn_frame_desc moments;
    struct fields_job *waiting;      /* for all ranks to have written their pieces, oldest first */
    unsigned long long pieces_begun; /* moments in pieces so far */
    atomic_ullong pieces_written;    /* of them, by this rank */
    struct saving_job *parts;        /* a checkpoint whose parts not all ranks have written */
    unsigned long long parts_begun;  /* checkpoints in parts so far */
    atomic_ullong parts_written;     /* of them, by this rank */
    atomic_bool saving;              /* a checkpoint is on its way to the disk */
    atomic_ullong safe_step;         /* of the last one that has come there; 0: none */
    double published;                /* when series.csv was last written */
    unsigned long long saved_step;   /* of the last checkpoint; BN_HISTORY_NEVER: none yet */
    bn_history past;
    double seconds;
};

/* A moment on its way to the disk. */
typedef struct fields_job {
    bn_frame *moment;
    bn_output *output; /* outlives the writer */
    char *pvd_path;    /* NULL: no VTK, or another rank writes it */
    char **files;      /* for the .pvd, with times */
    double *times;
    size_t file_count;
    bool pieces, good;         /* good: its pieces are on the disk */
    struct fields_job *next;   /* whose pieces are not yet known to be written by all ranks */
    unsigned long long number; /* counts them */
} fields_job;

static void fields_free(fields_job *j)
{
    if (!j)
        return;
    bn_frame_release(j->moment);
    for (size_t i = 0; i < j->file_count; i++)
        free(j->files[i]);
    free(j->files);
    free(j->times);
    free(j->pvd_path);
    free(j);
}

/* A checkpoint on its way to the disk. */
typedef struct saving_job {
    bn_checkpoint_writer *saving;
    unsigned long long step;
    bn_output *output; /* whose it has become; outlives the writer */
    bool good;         /* its parts are on the disk */
} saving_job;

static void saving_free(saving_job *job)
{
    if (!job)
        return;
    bn_checkpoint_writer_release(&job->saving);
    if (job->output)
        atomic_store(&job->output->saving, false);
    free(job);
}

static bn_status open_series(bn_output *o)
{
    const bn_plan *p = bn_sim_plan(o->sim);
    const bn_coordinate along = bn_solver_coordinate(p->solver);
    bn_column heads[BN_SERIES_FIXED + BN_SERIES_MAX] = { { "step", "", NULL },
                                                         { along.name, along.unit, NULL },
                                                         { "residual", "", NULL } };
    for (size_t i = 0; i < p->series_count; i++)
        heads[BN_SERIES_FIXED + i] = (bn_column){ p->series[i].name, p->series[i].unit, NULL };
    char *path = NULL;
    if (o->folder)
        BN_TRY(bn_output_dir_name(o->folder, &path, "series.csv"));
    bn_status st = bn_csv_series_open(o->ctx, path ? path : "", heads, BN_SERIES_FIXED + p->series_count, &o->series);
    free(path);
    return st;
}

static bn_status picture_name(bn_output *o, char **path, size_t which, unsigned long long step)
{
    return bn_frame_picture(o->folder, path, bn_sim_plan(o->sim)->pictures[which].name, step);
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
    BN_TRY(bn_history_keep(&o->past, o->series, bn_checkpoint_state_of(c)));
    o->saved_step = bn_sim_now(o->sim).step;
    atomic_store(&o->safe_step, o->saved_step);
    if (!o->folder)
        return BN_OK;
    bn_output_dir_remove_others(o->folder, o->past.moments, o->past.moment_count);
    bn_history_trim(&o->past, o->folder);
    trim_drawn(o);
    if (o->layers)
        BN_TRY(bn_mesh_output_resume(o->layers, o->past.moments, o->past.moment_count));
    BN_TRY(bn_csv_series_publish(o->series));
    if (!o->vtk || o->past.file_count == 0)
        return BN_OK;
    char *path = NULL;
    BN_TRY(bn_output_dir_name(o->folder, &path, "fields.pvd"));
    const bn_status st = bn_vtk_collection_write(o->ctx, path, (const char *const *)o->past.files, o->past.times,
                                                 o->past.file_count);
    free(path);
    return st;
}

bn_status bn_output_create(bn_context *ctx, bn_sim *sim, bn_output_dir *place, bool leads, bool synchronous,
                           bn_output **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    const bn_case *c = bn_sim_case(sim);
    bn_output *o = calloc(1, sizeof *o);
    if (!o)
        return bn_fail(ctx, BN_MEMORY, "no memory for the output");
    o->ctx = ctx;
    o->sim = sim;
    bn_output_dir *folder = o->folder = leads ? place : NULL;
    o->every = bn_case_int(c, "output.every");
    o->series_every = bn_case_int(c, "output.series_every");
    o->vtk = bn_case_bool(c, "output.vtk");
    o->tiff = bn_case_bool(c, "output.tiff");
    o->hdf5 = bn_case_bool(c, "output.hdf5");
    o->pictures = bn_case_bool(c, "output.pictures") && bn_sim_plan(sim)->grid.dims >= 2;
    o->animation = o->pictures && bn_case_bool(c, "output.animation");
    o->past.fields_step = o->saved_step = BN_HISTORY_NEVER;
    BN_GO(bn_writer_create(ctx, synchronous ? 0 : 2, &o->writer));
    BN_GO(open_series(o));
    static const char *const below[] = { "fields", "pictures" };
    for (size_t i = 0; folder && i < 2; i++)
        if (i == 0 ? o->vtk || o->tiff || o->hdf5 : o->pictures) {
            char *path = NULL;
            BN_GO(bn_output_dir_name(folder, &path, "%s", below[i]));
            st = bn_directory_create(ctx, path);
            free(path);
            if (st != BN_OK)
                goto out;
        }
    double made = 1;
    bn_context_agree(ctx, &made, 1); /* other ranks write there too */
    o->layered = bn_sim_plan(sim)->mesh_output.name != NULL;
    if (folder)
        BN_GO(bn_mesh_output_create(ctx, folder, sim, &o->layers));
    o->moments = (bn_frame_desc){ .ctx = ctx,
                                   .sim = sim,
                                   .folder = place,
                                   .leads = leads,
                                   .vtk = o->vtk,
                                   .tiff = o->tiff,
                                   .hdf5 = o->hdf5,
                                   .pictures = o->pictures,
                                   .animation = o->animation,
                                   .layered = o->layered,
                                   .layers = o->layers };
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
    while (o->waiting) {
        fields_job *next = o->waiting->next;
        fields_free(o->waiting);
        o->waiting = next;
    }
    saving_free(o->parts);
    bn_mesh_output_destroy(&o->layers);
    if (bn_csv_series_close(&o->series) != BN_OK)
        bn_log(o->ctx, BN_LOG_WARNING, "series.csv could not be closed");
    bn_history_release(&o->past);
    free(o);
    *output = NULL;
}

double bn_output_seconds(const bn_output *o) { return o->seconds; }

/* In pieces it stays until the other ranks are as far; from the moment in which it counts it may be gone. */
static void fields_release(void *data)
{
    fields_job *j = data;
    if (!j->pieces)
        fields_free(j);
    else if (j->good)
        atomic_fetch_add(&j->output->pieces_written, 1);
}

static bn_status list_times(bn_context *ctx, const fields_job *j)
{
    if (!j->pvd_path)
        return BN_OK;
    return bn_vtk_collection_write(ctx, j->pvd_path, (const char *const *)j->files, j->times, j->file_count);
}

static bn_status fields_run(bn_context *ctx, void *data)
{
    fields_job *j = data;
    BN_TRY(bn_frame_write(ctx, j->moment));
    j->good = true;
    return j->pieces ? BN_OK : list_times(ctx, j);
}

static void pieces_release(void *data) { fields_free(data); }

static bn_status pieces_run(bn_context *ctx, void *data)
{
    const fields_job *j = data;
    BN_TRY(bn_frame_list_pieces(ctx, j->moment));
    return list_times(ctx, j);
}

/* What fields.pvd says when this moment is written. */
static bn_status list_files(bn_output *o, fields_job *j)
{
    char name[256];
    bn_frame_file(&o->moments, name, sizeof name);
    BN_TRY(bn_history_file(o->ctx, &o->past, name, bn_sim_now(o->sim).time));
    BN_TRY(bn_output_dir_name(o->folder, &j->pvd_path, "fields.pvd"));
    j->files = calloc(o->past.file_count, sizeof *j->files);
    j->times = calloc(o->past.file_count, sizeof *j->times);
    if (!j->files || !j->times)
        return bn_fail(o->ctx, BN_MEMORY, "no memory for the list of files");
    for (; j->file_count < o->past.file_count; j->file_count++) {
        j->times[j->file_count] = o->past.times[j->file_count];
        if (!(j->files[j->file_count] = strdup(o->past.files[j->file_count])))
            return bn_fail(o->ctx, BN_MEMORY, "no memory for the list of files");
    }
    return BN_OK;
}

static bn_status submit_fields(bn_output *o)
{
    bn_status st = BN_OK;
    fields_job *j = calloc(1, sizeof *j);
    if (!j)
        return bn_fail(o->ctx, BN_MEMORY, "no memory for an output time");
    j->output = o;
    BN_GO(bn_frame_create(&o->moments, &j->moment));
    if (o->folder && o->vtk)
        BN_GO(list_files(o, j));
    j->pieces = bn_frame_in_pieces(&o->moments);
    if (j->pieces) {
        fields_job **last = &o->waiting;
        while (*last)
            last = &(*last)->next;
        *last = j;
        j->number = ++o->pieces_begun;
    }
    const bn_job job = { fields_run, fields_release, j };
    j = NULL;
    st = bn_writer_submit(o->writer, &job);
out:
    fields_free(j);
    return st;
}

bn_status bn_output_fields(bn_output *o)
{
    const bn_sim_state now = bn_sim_now(o->sim);
    if (now.step == o->past.fields_step || (!o->vtk && !o->tiff && !o->hdf5 && !o->pictures && !o->layered))
        return BN_OK;
    const double start = bn_seconds_now();
    bn_status st = BN_OK;
    if (o->folder || bn_frame_in_pieces(&o->moments))
        st = submit_fields(o);
    else
        st = bn_sim_update_outputs(o->sim);
    if (st == BN_OK && o->animation)
        st = bn_history_drawn(o->ctx, &o->past, now.step);
    if (st == BN_OK)
        st = bn_history_frame(o->ctx, &o->past, now.step);
    if (st == BN_OK)
        o->past.fields_step = now.step;
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
        BN_TRY(bn_history_residual(o->ctx, &o->past, now.step, now.residual));
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

static bn_status saving_run(bn_context *ctx, void *data)
{
    const saving_job *job = data;
    BN_TRY(bn_checkpoint_writer_write(ctx, job->saving));
    atomic_store(&job->output->safe_step, job->step);
    return BN_OK;
}

static void saving_release(void *data) { saving_free(data); }

static bn_status parts_run(bn_context *ctx, void *data)
{
    saving_job *job = data;
    BN_TRY(bn_checkpoint_writer_write_parts(ctx, job->saving));
    job->good = true;
    return BN_OK;
}

/* It waits for the other ranks; from the moment in which it counts it may be gone. */
static void parts_release(void *data)
{
    const saving_job *job = data;
    if (job->good)
        atomic_fetch_add(&job->output->parts_written, 1);
}

static bn_status manifest_run(bn_context *ctx, void *data)
{
    const saving_job *job = data;
    BN_TRY(bn_checkpoint_writer_finish(ctx, job->saving));
    atomic_store(&job->output->safe_step, job->step);
    return BN_OK;
}

/* All ranks have written their parts of the checkpoint that waits. */
static bn_status end_parts(bn_output *o)
{
    saving_job *job = o->parts;
    o->parts = NULL;
    const bn_status st = bn_checkpoint_writer_gather(o->ctx, job->saving);
    if (st == BN_OK && o->folder)
        return bn_writer_submit(o->writer, &(bn_job){ manifest_run, saving_release, job });
    saving_free(job);
    return st;
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
    if (o->parts) {
        BN_GO(end_parts(o));
        BN_GO(bn_writer_drain(o->writer));
    }
    BN_GO(bn_output_dir_name(o->moments.folder, &path, "checkpoint"));
    BN_GO(bn_checkpoint_writer_begin(o->sim, path, 0, &job->saving));
    BN_GO(bn_history_keep(&o->past, o->series, bn_checkpoint_writer_state(job->saving)));
    o->saved_step = step;
    const bool parts = bn_checkpoint_writer_in_parts(job->saving);
    if (!o->folder && !parts)
        goto out;
    job->output = o;
    job->step = step;
    atomic_store(&o->saving, true);
    if (parts) {
        o->parts = job;
        o->parts_begun++;
    }
    st = bn_writer_submit(o->writer, parts ? &(bn_job){ parts_run, parts_release, job }
                                           : &(bn_job){ saving_run, saving_release, job });
    job = NULL; /* the writer's, whatever came of it */
out:
    saving_free(job);
    free(path);
    o->seconds += bn_seconds_now() - start;
    return st;
}

void bn_output_say(const bn_output *o, double said[BN_OUTPUT_SAID])
{
    said[0] = -(double)atomic_load(&o->pieces_written);
    said[1] = -(double)atomic_load(&o->parts_written);
}

bn_status bn_output_hear(bn_output *o, const double said[BN_OUTPUT_SAID])
{
    while (o->waiting && (double)o->waiting->number <= -said[0]) {
        fields_job *j = o->waiting;
        o->waiting = j->next;
        if (!o->folder)
            fields_free(j);
        else
            BN_TRY(bn_writer_submit(o->writer, &(bn_job){ pieces_run, pieces_release, j }));
    }
    return o->parts && (double)o->parts_begun <= -said[1] ? end_parts(o) : BN_OK;
}

/* Waits until what was begun is on the disk, on all ranks. */
static bn_status settle(bn_output *o)
{
    double said[BN_OUTPUT_SAID];
    BN_TRY(bn_writer_drain(o->writer));
    bn_output_say(o, said);
    bn_context_agree(o->ctx, said, BN_OUTPUT_SAID);
    BN_TRY(bn_output_hear(o, said));
    return bn_writer_drain(o->writer);
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
        BN_TRY(bn_output_dir_name(o->folder, &path, "%s.csv", name));
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
        BN_TRY(bn_output_dir_name(o->folder, &path, "pictures/%s.png", m->name));
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
        BN_TRY(bn_output_dir_name(o->folder, &path, "%s.vti", m->name));
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
        BN_TRY(bn_output_dir_name(o->folder, &path, "%s", name));
        bn_status st = bn_file_write(o->ctx, path, text, strlen(text));
        free(path);
        BN_TRY(st);
    }
    return BN_OK;
}

static bn_status draw_residual(bn_output *o)
{
    char *path = NULL;
    const bn_chart_line line = {
        .label = "residual", .x = o->past.steps_seen, .y = o->past.residuals, .count = o->past.seen
    };
    const bn_chart chart = {
        .title = "Residual", .x_label = "step", .y_label = "residual", .log_y = true, .lines = &line, .count = 1
    };
    BN_TRY(bn_output_dir_name(o->folder, &path, "pictures/residual.png"));
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

/* A column's name in words: "gauge_1" as "gauge 1". */
static void in_words(char *words, size_t room, const char *name)
{
    snprintf(words, room, "%s", name);
    for (char *at = words; (at = strchr(at, '_')) != NULL;)
        *at = ' ';
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
    enum { WORDS = 96 };
    char *path = NULL, (*words)[WORDS] = calloc(count, sizeof *words);
    bn_chart_line *lines = calloc(count, sizeof *lines);
    double *x = malloc(rows * sizeof *x);
    if (!lines || !x || !words) {
        st = bn_fail(o->ctx, BN_MEMORY, "no memory for the chart of %s", name);
        goto out;
    }
    for (size_t r = 0; r < rows; r++)
        x[r] = columns[0].values[r] * (d->x_scale > 0 ? d->x_scale : 1);
    for (size_t c = 1; c < count; c++) {
        in_words(words[c], WORDS, columns[c].name);
        lines[c - 1] = (bn_chart_line){
            .label = words[c], .x = x, .y = columns[c].values, .count = rows, .markers = rows <= 12
        };
    }
    BN_GO(bn_output_dir_name(o->folder, &path, "pictures/%s.png", name));
    BN_GO(bn_chart_write(o->ctx, path,
                         &(bn_chart){ .title = d->title,
                                      .x_label = d->x_label,
                                      .y_label = d->y_label,
                                      .log_y = d->log_y,
                                      .lines = lines,
                                      .count = count - 1 }));
out:
    free(words);
    free(lines);
    free(x);
    free(path);
    return st;
}

/* Joins the pictures of one kind, all of which are on the disk, to pictures/NAME.png, all with one scale. */
static bn_status animate(bn_output *o, size_t which)
{
    bn_status st = BN_OK;
    char *path = NULL, **frames = calloc(o->past.drawn_count, sizeof *frames);
    const size_t delay = BN_ANIMATION_MS / o->past.drawn_count;
    if (!frames)
        return bn_fail(o->ctx, BN_MEMORY, "no memory for the names of %zu pictures", o->past.drawn_count);
    for (size_t i = 0; i < o->past.drawn_count; i++)
        BN_GO(picture_name(o, &frames[i], which, o->past.drawn_steps[i]));
    BN_GO(bn_output_dir_name(o->folder, &path, "pictures/%s.png", bn_sim_plan(o->sim)->pictures[which].name));
    BN_GO(bn_pictures_to_one_scale(o->ctx, (const char *const *)frames, o->past.drawn_count));
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
    if (!o->folder) {
        keep_first(&st, settle(o));
        return st;
    }
    keep_first(&st, bn_csv_series_publish(o->series));
    keep_first(&st, write_tables(o));
    for (size_t i = 0; i < bn_results_maps(bn_sim_results(o->sim)); i++)
        keep_first(&st, write_map(o, bn_results_map_at(bn_sim_results(o->sim), i)));
    keep_first(&st, write_texts(o));
    if (o->pictures && o->past.seen > 1)
        keep_first(&st, draw_residual(o));
    for (size_t i = 0; o->pictures && i < bn_results_tables(bn_sim_results(o->sim)); i++)
        keep_first(&st, draw_table(o, i));
    const bn_status drained = settle(o);
    keep_first(&st, drained);
    if (o->layers && drained == BN_OK)
        keep_first(&st, bn_mesh_output_finish(o->layers));
    for (size_t i = 0; drained == BN_OK && o->past.drawn_count > 1 && i < bn_sim_plan(o->sim)->picture_count; i++)
        keep_first(&st, animate(o, i));
    o->seconds += bn_seconds_now() - start;
    return st;
}
