/* output.c: when fields, pictures, series and checkpoints of a run are written, and by which rank. Jobs on the writer's
 * thread write them while the stepping thread continues. */
#include "output/output.h"

#include "io/csv.h"
#include "io/file.h"
#include "io/vtk.h"
#include "io/writer.h"
#include "output/animation_output.h"
#include "output/checkpoint_output.h"
#include "output/frame.h"
#include "output/history.h"
#include "output/results_output.h"
#include "plot/picture.h"
#include "sim/checkpoint.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BN_PUBLISH_SECONDS = 5,   /* between rewritings of series.csv */
    BN_WRITER_BYTES = 1 << 29 /* of fields that wait to be written; pinned, which takes time to get */
};

struct bn_output {
    bn_context *ctx;
    bn_sim *sim;
    bn_output_dir *folder;
    bn_writer *writer;
    bn_csv_series *series;
    long long every, series_every;
    bool vtk, tiff, hdf5, pictures, animation, layered;
    bn_mesh_output *mesh; /* NULL: none, or another rank writes them */
    bn_frame_desc frames;
    bn_postponed *postponed;         /* NULL: no animations */
    struct fields_job *waiting;      /* pieces that not all ranks have written, oldest first */
    unsigned long long pieces_begun; /* frames in pieces so far */
    atomic_ullong pieces_written;    /* of them, by this rank */
    bn_checkpoint_output checkpoint;
    double published; /* when series.csv was last written */
    bn_history history;
    double seconds;
};

/* A frame on its way to the disk. */
typedef struct fields_job {
    bn_frame *frame;
    bn_output *output; /* outlives the writer */
    char **files;      /* for the .pvd, with times; NULL: no VTK, or another rank writes it */
    double *times;
    size_t file_count;
    bool pieces, good;         /* good: its pieces are on the disk */
    struct fields_job *next;   /* in the list of those that wait for other ranks */
    unsigned long long number; /* of frames in pieces */
    atomic_size_t users;       /* jobs of it that are not done, and the stepping thread while it submits them */
} fields_job;

/* A file of a frame that is written beside others. */
typedef struct apart_job {
    fields_job *of;
    size_t which;
} apart_job;

static void fields_free(fields_job *j)
{
    if (!j)
        return;
    bn_frame_release(j->frame);
    for (size_t i = 0; i < j->file_count; i++)
        free(j->files[i]);
    free(j->files);
    free(j->times);
    free(j);
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
    return bn_csv_series_open(o->ctx, o->folder ? bn_output_dir_name(o->folder, "series.csv").text : "", heads,
                              BN_SERIES_FIXED + p->series_count, &o->series);
}

/* Forgets pictures that are not in the output directory: a run may be resumed in another one. */
static void trim_drawn(bn_output *o)
{
    const bn_plan *p = bn_sim_plan(o->sim);
    size_t left = 0;
    for (size_t i = 0; i < o->history.drawn_count; i++) {
        bool there = o->pictures;
        for (size_t k = 0; there && k < p->picture_count; k++)
            there = access(bn_frame_picture(o->folder, p->pictures[k].name, o->history.drawn_steps[i]).text, F_OK) == 0;
        if (there)
            o->history.drawn_steps[left++] = o->history.drawn_steps[i];
    }
    o->history.drawn_count = left;
}

/* After a restart: rows and lists of the run that wrote the checkpoint; files that it wrote later are removed. */
static bn_status resume(bn_output *o)
{
    bn_checkpoint *c = bn_sim_resumed(o->sim);
    BN_TRY(bn_history_serialize(&o->history, o->series, bn_checkpoint_state_of(c)));
    o->checkpoint.step = bn_sim_now(o->sim).step;
    atomic_store(&o->checkpoint.on_disk, o->checkpoint.step);
    if (!o->folder)
        return BN_OK;
    bn_output_dir_remove_others(o->folder, o->history.frames, o->history.frame_count);
    bn_history_trim(&o->history, o->folder);
    trim_drawn(o);
    if (o->mesh)
        BN_TRY(bn_mesh_output_resume(o->mesh, o->history.frames, o->history.frame_count));
    BN_TRY(bn_csv_series_publish(o->series));
    if (!o->vtk || o->history.file_count == 0)
        return BN_OK;
    return bn_vtk_collection_write(o->ctx, bn_output_dir_name(o->folder, "fields.pvd").text,
                                   (const char *const *)o->history.files, o->history.times, o->history.file_count);
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
    o->history.fields_step = BN_HISTORY_NEVER;
    BN_GO(bn_writer_create(ctx, synchronous ? 0 : BN_WRITER_BYTES, &o->writer));
    o->checkpoint = (bn_checkpoint_output){
        .ctx = ctx, .sim = sim, .folder = place, .writer = o->writer, .leads = leads, .step = BN_HISTORY_NEVER
    };
    BN_GO(open_series(o));
    static const char *const below[] = { "fields", "pictures" };
    for (size_t i = 0; folder && i < 2; i++)
        if (i == 0 ? o->vtk || o->tiff || o->hdf5 : o->pictures)
            BN_GO(bn_directory_create(ctx, bn_output_dir_name(folder, "%s", below[i]).text));
    double made = 1;
    bn_context_agree(ctx, &made, 1); /* other ranks wait for the folders */
    o->layered = bn_sim_plan(sim)->mesh_output.name != NULL;
    if (folder)
        BN_GO(bn_mesh_output_create(ctx, folder, sim, &o->mesh));
    if (folder && o->animation)
        BN_GO(bn_postponed_create(ctx, &o->postponed));
    o->frames = (bn_frame_desc){ .ctx = ctx,
                                 .sim = sim,
                                 .folder = place,
                                 .leads = leads,
                                 .vtk = o->vtk,
                                 .tiff = o->tiff,
                                 .hdf5 = o->hdf5,
                                 .pictures = o->pictures,
                                 .animation = o->animation,
                                 .layered = o->layered,
                                 .postponed = o->postponed,
                                 .mesh = o->mesh };
    if (bn_sim_resumed(sim))
        BN_GO(resume(o));
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
    bn_checkpoint_output_release(&o->checkpoint);
    bn_mesh_output_destroy(&o->mesh);
    if (bn_csv_series_close(&o->series) != BN_OK)
        bn_log(o->ctx, BN_LOG_WARNING, "series.csv could not be closed");
    bn_history_release(&o->history);
    bn_postponed_destroy(&o->postponed);
    free(o);
    *output = NULL;
}

double bn_output_seconds(const bn_output *o) { return o->seconds; }
double bn_output_waited(const bn_output *o) { return bn_writer_waited(o->writer); }

static void fields_leave(fields_job *j)
{
    if (j && atomic_fetch_sub(&j->users, 1) == 1)
        fields_free(j);
}

/* In pieces: kept until all ranks have written theirs; the stepping thread may free it after the increment. */
static void fields_release(void *data)
{
    fields_job *j = data;
    if (!j->pieces)
        fields_leave(j);
    else if (j->good)
        atomic_fetch_add(&j->output->pieces_written, 1);
}

static bn_status apart_run(bn_context *ctx, void *data)
{
    const apart_job *a = data;
    return bn_frame_write_apart(ctx, a->of->frame, a->which);
}

static void apart_release(void *data)
{
    apart_job *a = data;
    fields_leave(a->of);
    free(a);
}

static bn_status list_times(bn_context *ctx, const fields_job *j)
{
    if (!j->files)
        return BN_OK;
    return bn_vtk_collection_write(ctx, bn_output_dir_name(j->output->folder, "fields.pvd").text,
                                   (const char *const *)j->files, j->times, j->file_count);
}

static bn_status fields_run(bn_context *ctx, void *data)
{
    fields_job *j = data;
    BN_TRY(bn_frame_write(ctx, j->frame));
    j->good = true;
    return j->pieces ? BN_OK : list_times(ctx, j);
}

static void pieces_release(void *data) { fields_free(data); }

static bn_status pieces_run(bn_context *ctx, void *data)
{
    const fields_job *j = data;
    BN_TRY(bn_frame_list_pieces(ctx, j->frame));
    return list_times(ctx, j);
}

/* What fields.pvd lists when this frame is written. */
static bn_status list_files(bn_output *o, fields_job *j)
{
    const bn_sim_state now = bn_sim_now(o->sim);
    BN_TRY(bn_history_file(o->ctx, &o->history, bn_frame_file(&o->frames, now.step).text, now.time));
    j->files = calloc(o->history.file_count, sizeof *j->files);
    j->times = calloc(o->history.file_count, sizeof *j->times);
    if (!j->files || !j->times)
        return bn_fail(o->ctx, BN_MEMORY, "no memory for the list of files");
    for (; j->file_count < o->history.file_count; j->file_count++) {
        j->times[j->file_count] = o->history.times[j->file_count];
        if (!(j->files[j->file_count] = strdup(o->history.files[j->file_count])))
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
    BN_GO(bn_frame_create(&o->frames, &j->frame));
    if (o->folder && o->vtk)
        BN_GO(list_files(o, j));
    j->pieces = bn_frame_in_pieces(&o->frames);
    if (j->pieces) {
        fields_job **last = &o->waiting;
        while (*last)
            last = &(*last)->next;
        *last = j;
        j->number = ++o->pieces_begun;
    }
    const size_t apart = bn_frame_apart(j->frame);
    atomic_store(&j->users, 1);
    for (size_t i = 0; i < apart; i++) {
        apart_job *a = malloc(sizeof *a);
        if (!a)
            BN_GO(bn_fail(o->ctx, BN_MEMORY, "no memory for an output time"));
        *a = (apart_job){ j, i };
        atomic_fetch_add(&j->users, 1);
        BN_GO(bn_writer_submit(o->writer, &(bn_job){ apart_run, apart_release, a, .apart = true }));
    }
    const bn_job job = { fields_run, fields_release, j, .bytes = bn_frame_bytes(j->frame) }; /* done last of them */
    j = NULL;
    st = bn_writer_submit(o->writer, &job);
out:
    if (j && atomic_load(&j->users) > 0)
        fields_leave(j);
    else
        fields_free(j);
    return st;
}

bn_status bn_output_fields(bn_output *o)
{
    const bn_sim_state now = bn_sim_now(o->sim);
    if (now.step == o->history.fields_step || (!o->vtk && !o->tiff && !o->hdf5 && !o->pictures && !o->layered))
        return BN_OK;
    const double start = bn_seconds_now();
    bn_status st = BN_OK;
    if (o->folder || bn_frame_in_pieces(&o->frames))
        st = submit_fields(o);
    else
        st = bn_sim_update_outputs(o->sim);
    if (st == BN_OK && o->animation)
        st = bn_history_drawn(o->ctx, &o->history, now.step);
    if (st == BN_OK)
        st = bn_history_frame(o->ctx, &o->history, now.step);
    if (st == BN_OK)
        o->history.fields_step = now.step;
    o->seconds += bn_seconds_now() - start;
    return st;
}

/* Adds the row of the current step, unless it is there. */
static bn_status add_row(bn_output *o)
{
    const bn_sim_state now = bn_sim_now(o->sim);
    if (now.step == o->history.row_step)
        return BN_OK;
    o->history.row_step = now.step;
    double row[BN_SERIES_FIXED + BN_SERIES_MAX] = { (double)now.step, now.time, now.residual };
    memcpy(row + BN_SERIES_FIXED, bn_sim_last_step(o->sim)->series, sizeof bn_sim_last_step(o->sim)->series);
    if (isfinite(now.residual) && now.residual > 0)
        BN_TRY(bn_history_residual(o->ctx, &o->history, now.step, now.residual));
    return bn_csv_series_add(o->series, row);
}

/* At most once a second: the file is written as a whole. */
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

void bn_output_series(const bn_output *o, const char **text, size_t *bytes)
{
    bn_csv_series_text(o->series, text, bytes);
}

bool bn_output_saving(const bn_output *o) { return atomic_load(&o->checkpoint.writing); }

bn_status bn_output_checkpoint(bn_output *o)
{
    const double start = bn_seconds_now();
    const bn_status st = bn_checkpoint_output_begin(&o->checkpoint, &o->history, o->series);
    o->seconds += bn_seconds_now() - start;
    return st;
}

void bn_output_say(const bn_output *o, double said[BN_OUTPUT_SAID])
{
    said[0] = -(double)atomic_load(&o->pieces_written);
    said[1] = -(double)atomic_load(&o->checkpoint.parts_written);
}

bn_status bn_output_hear(bn_output *o, const double said[BN_OUTPUT_SAID])
{
    while (o->waiting && (double)o->waiting->number <= -said[0]) {
        fields_job *j = o->waiting;
        o->waiting = j->next;
        if (!o->folder)
            fields_free(j);
        else
            BN_TRY(bn_writer_submit(o->writer, &(bn_job){ .run = pieces_run, .release = pieces_release, .data = j }));
    }
    return bn_checkpoint_output_complete(&o->checkpoint, (unsigned long long)-said[1]);
}

/* Waits until everything submitted is on the disk, on all ranks. */
static bn_status drain(bn_output *o)
{
    double said[BN_OUTPUT_SAID];
    BN_TRY(bn_writer_drain(o->writer));
    bn_output_say(o, said);
    bn_context_agree(o->ctx, said, BN_OUTPUT_SAID);
    BN_TRY(bn_output_hear(o, said));
    return bn_writer_drain(o->writer);
}

unsigned long long bn_output_saved(const bn_output *o) { return atomic_load(&o->checkpoint.on_disk); }

static bn_status draw_residual(bn_output *o)
{
    char title[512];
    const char *of_case = bn_case_text(bn_sim_case(o->sim), "case.title");
    snprintf(title, sizeof title, "%s%s", of_case, of_case[0] ? ": residual" : "Residual");
    const bn_chart_line line = {
        .label = "residual", .x = o->history.steps_seen, .y = o->history.residuals, .count = o->history.seen
    };
    const bn_chart chart = {
        .title = title, .x_label = "step", .y_label = "residual", .log_y = true, .lines = &line, .count = 1
    };
    return bn_chart_write(o->ctx, bn_output_dir_name(o->folder, "pictures/residual.png").text, &chart);
}

bn_status bn_output_finish(bn_output *o, bool sound)
{
    const double start = bn_seconds_now();
    bn_status st = sound && bn_sim_now(o->sim).step > 0 ? add_row(o) : BN_OK;
    if (!o->folder) {
        bn_keep_first(&st, drain(o));
        return st;
    }
    /* Pictures that no thread has begun would be drawn twice now. */
    if (o->postponed && o->history.drawn_count >= BN_ANIMATION_LEAST)
        bn_postponed_begin(o->postponed);
    bn_keep_first(&st, bn_csv_series_publish(o->series));
    bn_keep_first(
        &st, bn_results_output_write(&(bn_results_output){ o->ctx, o->sim, o->folder, o->pictures, o->vtk, o->tiff }));
    if (o->pictures && o->history.seen > 1)
        bn_keep_first(&st, draw_residual(o));
    const bn_status drained = drain(o);
    bn_keep_first(&st, drained);
    if (o->mesh && drained == BN_OK)
        bn_keep_first(&st, bn_mesh_output_finish(o->mesh));
    if (drained == BN_OK)
        bn_keep_first(&st, bn_animation_output_write(o->ctx, bn_sim_plan(o->sim), o->folder, o->writer, &o->history,
                                                     o->postponed));
    o->seconds += bn_seconds_now() - start;
    return st;
}
