/* checkpoint_output.c: checkpoints as jobs of the writer. Where ranks have parts of the fields, each writes its own
 * parts; when all have done so, the leading rank writes the manifest. */
#include "output/checkpoint_output.h"

#include "sim/checkpoint.h"

#include <stdlib.h>

typedef struct checkpoint_job {
    bn_checkpoint_writer *checkpoint;
    unsigned long long step;
    bn_checkpoint_output *output; /* NULL: not yet submitted. Outlives the writer */
    bool good;                    /* its parts are on the disk */
} checkpoint_job;

static void job_free(checkpoint_job *job)
{
    if (!job)
        return;
    bn_checkpoint_writer_release(&job->checkpoint);
    if (job->output)
        atomic_store(&job->output->writing, false);
    free(job);
}

static void job_release(void *data) { job_free(data); }

static bn_status whole_run(bn_context *ctx, void *data)
{
    const checkpoint_job *job = data;
    BN_TRY(bn_checkpoint_writer_write(ctx, job->checkpoint));
    atomic_store(&job->output->on_disk, job->step);
    return BN_OK;
}

static bn_status parts_run(bn_context *ctx, void *data)
{
    checkpoint_job *job = data;
    BN_TRY(bn_checkpoint_writer_write_parts(ctx, job->checkpoint));
    job->good = true;
    return BN_OK;
}

/* Kept until all ranks have written it; the stepping thread may free it after the increment. */
static void parts_release(void *data)
{
    const checkpoint_job *job = data;
    if (job->good)
        atomic_fetch_add(&job->output->parts_written, 1);
}

static bn_status manifest_run(bn_context *ctx, void *data)
{
    const checkpoint_job *job = data;
    BN_TRY(bn_checkpoint_writer_finish(ctx, job->checkpoint));
    atomic_store(&job->output->on_disk, job->step);
    return BN_OK;
}

/* All ranks have written their parts. */
static bn_status write_manifest(bn_checkpoint_output *o)
{
    checkpoint_job *job = o->parts;
    o->parts = NULL;
    const bn_status st = bn_checkpoint_writer_gather(o->ctx, job->checkpoint);
    if (st == BN_OK && o->leads)
        return bn_writer_submit(o->writer, &(bn_job){ .run = manifest_run, .release = job_release, .data = job });
    job_free(job);
    return st;
}

bn_status bn_checkpoint_output_complete(bn_checkpoint_output *o, unsigned long long by_all)
{
    return o->parts && o->begun <= by_all ? write_manifest(o) : BN_OK;
}

bn_status bn_checkpoint_output_begin(bn_checkpoint_output *o, bn_history *history, bn_csv_series *series)
{
    const unsigned long long step = bn_sim_now(o->sim).step;
    bn_status st = BN_OK;
    if (step == o->step)
        return BN_OK;
    checkpoint_job *job = calloc(1, sizeof *job);
    if (!job)
        return bn_fail(o->ctx, BN_MEMORY, "no memory for a checkpoint");
    if (atomic_load(&o->writing))
        BN_GO(bn_writer_drain(o->writer));
    if (o->parts) {
        BN_GO(write_manifest(o));
        BN_GO(bn_writer_drain(o->writer));
    }
    BN_GO(bn_checkpoint_writer_begin(o->sim, bn_output_dir_name(o->folder, "checkpoint").text, 0, &job->checkpoint));
    BN_GO(bn_history_serialize(history, series, bn_checkpoint_writer_state(job->checkpoint)));
    o->step = step;
    const bool parts = bn_checkpoint_writer_in_parts(job->checkpoint);
    if (!o->leads && !parts)
        goto out;
    job->output = o;
    job->step = step;
    atomic_store(&o->writing, true);
    if (parts) {
        o->parts = job;
        o->begun++;
    }
    st = bn_writer_submit(o->writer, parts ? &(bn_job){ .run = parts_run, .release = parts_release, .data = job }
                                           : &(bn_job){ .run = whole_run, .release = job_release, .data = job });
    job = NULL; /* the writer owns it, also after a failure */
out:
    job_free(job);
    return st;
}

void bn_checkpoint_output_release(bn_checkpoint_output *o)
{
    job_free(o->parts);
    o->parts = NULL;
}
