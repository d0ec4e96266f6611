/* history.c: lists of the files and steps that were written. */
#include "output/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void bn_history_release(bn_history *p)
{
    for (size_t i = 0; i < p->file_count; i++)
        free(p->files[i]);
    free(p->files);
    free(p->times);
    free(p->frames);
    free(p->drawn_steps);
    free(p->steps_seen);
    free(p->residuals);
    *p = (bn_history){ .fields_step = BN_HISTORY_NEVER };
}

static bn_status add_step(bn_context *ctx, unsigned long long **steps, size_t *count, unsigned long long step)
{
    unsigned long long *grown = realloc(*steps, (*count + 1) * sizeof *grown);
    if (!grown)
        return bn_fail(ctx, BN_MEMORY, "no memory for the list of files");
    *steps = grown;
    grown[(*count)++] = step;
    return BN_OK;
}

bn_status bn_history_frame(bn_context *ctx, bn_history *p, unsigned long long step)
{
    return add_step(ctx, &p->frames, &p->frame_count, step);
}

bn_status bn_history_drawn(bn_context *ctx, bn_history *p, unsigned long long step)
{
    return add_step(ctx, &p->drawn_steps, &p->drawn_count, step);
}

static bn_status add_name(bn_context *ctx, bn_history *p, const char *name, size_t bytes, double time)
{
    char **files = realloc(p->files, (p->file_count + 1) * sizeof *files);
    if (files)
        p->files = files;
    double *times = realloc(p->times, (p->file_count + 1) * sizeof *times);
    if (times)
        p->times = times;
    char *copy = strndup(name, bytes);
    if (!files || !times || !copy) {
        free(copy);
        return bn_fail(ctx, BN_MEMORY, "no memory for the list of files");
    }
    p->files[p->file_count] = copy;
    p->times[p->file_count++] = time;
    return BN_OK;
}

bn_status bn_history_file(bn_context *ctx, bn_history *p, const char *name, double time)
{
    return add_name(ctx, p, name, strlen(name), time);
}

static bn_status room_for_residuals(bn_context *ctx, bn_history *p)
{
    if (p->steps_seen)
        return BN_OK;
    p->steps_seen = malloc(BN_HISTORY_RESIDUALS * sizeof *p->steps_seen);
    p->residuals = malloc(BN_HISTORY_RESIDUALS * sizeof *p->residuals);
    return p->steps_seen && p->residuals ? BN_OK : bn_fail(ctx, BN_MEMORY, "no memory for the chart of the residual");
}

bn_status bn_history_residual(bn_context *ctx, bn_history *p, unsigned long long step, double residual)
{
    BN_TRY(room_for_residuals(ctx, p));
    if (p->seen == BN_HISTORY_RESIDUALS) {
        for (size_t i = 0; i < BN_HISTORY_RESIDUALS / 2; i++) {
            p->steps_seen[i] = p->steps_seen[2 * i];
            p->residuals[i] = p->residuals[2 * i];
        }
        p->seen = BN_HISTORY_RESIDUALS / 2;
    }
    p->steps_seen[p->seen] = (double)step;
    p->residuals[p->seen++] = residual;
    return BN_OK;
}

/* The names, a line each. */
static bn_status serialize_files(bn_history *p, bn_checkpoint_state *k, size_t count)
{
    size_t bytes = 0, at = 0;
    for (size_t i = 0; i < p->file_count; i++)
        bytes += strlen(p->files[i]) + 1;
    char *names = malloc(bytes + 1);
    double *times = calloc(count + 1, sizeof *times);
    const char *text = names;
    bn_status st = BN_OK;
    if (!names || !times)
        BN_GO(bn_fail(k->ctx, BN_MEMORY, "no memory for the list of files"));
    for (size_t i = 0; i < p->file_count; i++) {
        at += (size_t)snprintf(names + at, bytes + 1 - at, "%s\n", p->files[i]);
        times[i] = p->times[i];
    }
    BN_GO(bn_state_reals(k, "times", times, count));
    BN_GO(bn_state_text(k, "files", &text, &bytes));
    for (size_t i = 0; bn_state_restores(k) && i < count; i++) {
        const size_t length = strcspn(text, "\n");
        BN_GO(add_name(k->ctx, p, text, length, times[i]));
        text += length + (text[length] == '\n');
    }
out:
    free(names);
    free(times);
    return st;
}

static bn_status serialize_steps(bn_checkpoint_state *k, const char *name, unsigned long long **steps, size_t *have,
                                 size_t count)
{
    if (bn_state_restores(k)) {
        free(*steps);
        if (!(*steps = calloc(count + 1, sizeof **steps)))
            return bn_fail(k->ctx, BN_MEMORY, "no memory for the list of files");
        *have = count;
    }
    return bn_state_counts(k, name, *steps, count);
}

bn_status bn_history_serialize(bn_history *p, bn_csv_series *series, bn_checkpoint_state *k)
{
    bn_checkpoint_state_group(k, "output");
    if (bn_state_restores(k) && !bn_checkpoint_state_has(k, "steps"))
        return BN_OK;
    unsigned long long counts[] = {
        p->fields_step, p->row_step, p->frame_count, p->drawn_count, p->file_count, p->seen
    };
    const char *rows;
    size_t bytes;
    bn_csv_series_text(series, &rows, &bytes);
    BN_TRY(bn_state_counts(k, "steps", counts, sizeof counts / sizeof *counts));
    BN_TRY(bn_state_text(k, "series", &rows, &bytes));
    if (bn_state_restores(k)) {
        bn_history_release(p);
        p->fields_step = counts[0];
        p->row_step = counts[1];
        p->seen = (size_t)counts[5] < BN_HISTORY_RESIDUALS ? (size_t)counts[5] : BN_HISTORY_RESIDUALS;
        BN_TRY(bn_csv_series_set(series, rows, bytes));
        BN_TRY(room_for_residuals(k->ctx, p));
    }
    BN_TRY(serialize_steps(k, "frames", &p->frames, &p->frame_count, (size_t)counts[2]));
    BN_TRY(serialize_steps(k, "drawn", &p->drawn_steps, &p->drawn_count, (size_t)counts[3]));
    BN_TRY(serialize_files(p, k, (size_t)counts[4]));
    BN_TRY(bn_state_reals(k, "steps_seen", p->steps_seen, p->seen));
    return bn_state_reals(k, "residuals", p->residuals, p->seen);
}

void bn_history_trim(bn_history *p, bn_output_dir *folder)
{
    size_t left = 0;
    for (size_t i = 0; i < p->file_count; i++) {
        if (access(bn_output_dir_name(folder, "%s", p->files[i]).text, F_OK) == 0) {
            p->files[left] = p->files[i];
            p->times[left++] = p->times[i];
        } else {
            free(p->files[i]);
        }
    }
    p->file_count = left;
}
