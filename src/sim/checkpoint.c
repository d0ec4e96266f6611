/* checkpoint.c: writes checkpoints. Order, also across ranks: parts, each synced; the manifest, synced under a
 * temporary name; the last manifest is renamed to the previous one; the new one takes its name; parts that neither
 * needs are removed. */
#include "sim/checkpoint.h"

#include "api/embedded_files.h"
#include "io/file.h"
#include "sim/guard.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BN_PART_BYTES = 128 << 20, BLOCKS = 256 };

struct bn_checkpoint_writer {
    const bn_plan *plan; /* outlives it */
    char *folder, *resolved;
    bn_checkpoint_state state;
    bn_sim_state now;
    size_t part_bytes, boxes;
    char kernels[17];
    const char *engine, *device;
    size_t field_count;
    size_t field[BN_PLAN_FIELDS];
    bn_snapshot *snapshots[BN_PLAN_FIELDS];
    bn_manifest newest, older; /* manifests found in the folder; `whole`: the newest is valid */
    bool whole;
    long long number; /* of this one, the same on all ranks */
    /* Where ranks write parts of their own: */
    bool distributed;
    int rank;
    json_t *json_parts, *json_fields, *json_numbers; /* what this rank has written; after gathering, on the first
                                                        rank, what all have */
    char bad[256];                                   /* why no run can restart from this state; "": it can */
};

/* The parts being filled, and the manifest's list of them. */
typedef struct writer {
    bn_context *ctx;
    bn_checkpoint_writer *s;
    size_t parts, blocks, bytes;
    bn_part_block block[BLOCKS];
    char name[BLOCKS][BN_STATE_NAME + 32];
    bn_part_room room;
    bool failed; /* no memory for the manifest */
} writer;

bn_part_layout bn_field_layout(const bn_plan *p, const bn_field_desc *d)
{
    const bool pair = d->type == BN_T_REAL2;
    const bn_part_type real = p->precision == BN_DOUBLE ? BN_PART_F64 : BN_PART_F32;
    const uint64_t components = d->components > 0 ? (uint64_t)d->components : 1, width = pair ? 2 : 1;
    const bool interleaved = (d->role & BN_INTERLEAVED) != 0;
    const uint32_t *grid = bn_plan_grid_of(p, d)->n;
    return (bn_part_layout){ .type = d->type == BN_T_I32   ? BN_PART_I32
                                     : d->type == BN_T_I64 ? BN_PART_I64
                                     : d->type == BN_T_U8  ? BN_PART_U8
                                                           : real,
                             .n = { interleaved ? 1 : components, grid[2], grid[1], grid[0],
                                    interleaved ? components * width : width } };
}

bn_checkpoint_state *bn_checkpoint_writer_state(bn_checkpoint_writer *s) { return &s->state; }

void bn_checkpoint_writer_release(bn_checkpoint_writer **saving)
{
    if (!saving || !*saving)
        return;
    bn_checkpoint_writer *s = *saving;
    for (size_t i = 0; i < s->field_count; i++)
        bn_snapshot_release(&s->snapshots[i]);
    bn_checkpoint_state_release(&s->state);
    bn_manifest_release(&s->newest);
    bn_manifest_release(&s->older);
    json_decref(s->json_parts);
    json_decref(s->json_fields);
    json_decref(s->json_numbers);
    free(s->folder);
    free(s->resolved);
    free(s);
    *saving = NULL;
}

/* The manifests in the folder: numbers continue from theirs, and the newest becomes the previous one, unless it is
 * damaged. */
static bool look(bn_context *ctx, const char *folder, const char *name, bn_manifest *out)
{
    const bn_path path = bn_path_join(folder, name);
    bool sound = access(path.text, F_OK) == 0;
    if (sound && bn_manifest_read(ctx, path.text, out) != BN_OK) {
        bn_log(ctx, BN_LOG_WARNING, "%s: it is left out", bn_error_text(ctx));
        bn_error_clear(ctx);
        sound = false;
    }
    return sound;
}

/* Makes the folder; numbers continue from what is in it. */
static bn_status find_number(bn_context *ctx, bn_checkpoint_writer *s)
{
    BN_TRY(bn_directory_create(ctx, s->folder));
    s->whole = look(ctx, s->folder, BN_MANIFEST, &s->newest);
    (void)look(ctx, s->folder, BN_MANIFEST_BEFORE, &s->older);
    s->number = 1 + (s->newest.number > s->older.number ? s->newest.number : s->older.number);
    return BN_OK;
}

/* All ranks use the number that the first one finds. */
static bn_status agree_on_number(bn_context *ctx, bn_checkpoint_writer *s)
{
    const bn_status st = s->rank == 0 ? find_number(ctx, s) : BN_OK;
    double number = (double)s->number;
    bn_context_agree(ctx, &number, 1);
    s->number = (long long)number;
    if (st == BN_OK && s->number == 0)
        return bn_fail(ctx, BN_IO, "rank 0 can't make the folder %s", s->folder);
    return st;
}

bn_status bn_checkpoint_writer_begin(bn_sim *sim, const char *folder, size_t part_bytes, bn_checkpoint_writer **out)
{
    *out = NULL;
    bn_context *ctx = bn_sim_context(sim);
    const bn_plan *p = bn_sim_plan(sim);
    bn_device *device = bn_domain_device(bn_sim_domain(sim));
    uint64_t kernels;
    bn_status st = BN_OK;
    bn_checkpoint_writer *s = NULL;
    for (const char *const *study = bn_study_names(); *study; study++)
        if (strcmp(*study, p->solver->name) == 0)
            return bn_fail(ctx, BN_USAGE, "%s is a study of a benchmark suite, which has no checkpoints", *study);
    s = calloc(1, sizeof *s);
    if (!s || !(s->folder = strdup(folder)))
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for a checkpoint"));
    s->plan = p;
    s->state = (bn_checkpoint_state){ .ctx = ctx, .path = s->folder };
    s->part_bytes = part_bytes > 0 ? part_bytes : BN_PART_BYTES;
    s->boxes = bn_domain_boxes(bn_sim_domain(sim));
    s->engine = bn_sim_engine_name(sim);
    s->device = device ? bn_device_describe(device)->name : "";
    BN_GO(bn_case_resolved(bn_sim_case(sim), &s->resolved));
    BN_GO(bn_kernels_hash(ctx, &kernels));
    snprintf(s->kernels, sizeof s->kernels, "%016" PRIx64, kernels);
    BN_GO(bn_sim_update_outputs(sim)); /* some engines write their sums into fields of the state only there */
    s->now = bn_sim_now(sim);
    s->distributed = bn_domain_across_ranks(bn_sim_domain(sim));
    s->rank = bn_context_rank(ctx);
    if (!(s->json_parts = json_array()) || !(s->json_fields = json_array()) || !(s->json_numbers = json_array()))
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for a checkpoint"));
    if (s->distributed)
        BN_GO(agree_on_number(ctx, s));
    BN_GO(bn_sim_serialize(sim, &s->state));
    for (size_t i = 0; i < p->field_count; i++)
        if (p->fields[i].role & BN_STATE) {
            s->field[s->field_count] = i;
            BN_GO(bn_snapshot_begin(bn_sim_field(sim, p->fields[i].name), false, &s->snapshots[s->field_count]));
            s->field_count++;
        }
    *out = s;
    s = NULL;
out:
    bn_checkpoint_writer_release(&s);
    return st;
}

/* ------------------------------------------------------------------------------------------------------------- parts
 */

static void append(writer *w, json_t *list, json_t *entry)
{
    if (json_array_append_new(list, entry) != 0)
        w->failed = true;
}

/* Writes the blocks collected so far as the next part. */
static bn_status flush(writer *w)
{
    bn_part_sum sum;
    char file[32];
    if (w->blocks == 0)
        return BN_OK;
    if (w->s->distributed)
        snprintf(file, sizeof file, "%06lld-r%d-%04zu.h5", w->s->number, w->s->rank, w->parts);
    else
        snprintf(file, sizeof file, "%06lld-%04zu.h5", w->s->number, w->parts);
    BN_TRY(bn_part_write(w->ctx, bn_path_join(w->s->folder, file).text, w->block, w->blocks, &w->room, &sum));
    append(w, w->s->json_parts,
           json_pack("{s:s, s:I, s:s}", "file", file, "bytes", (json_int_t)sum.bytes, "sha256", sum.sha256));
    w->parts++;
    w->blocks = w->bytes = 0;
    return BN_OK;
}

/* Adds a block; `*part` is the number of its part. */
static bn_status add_block(writer *w, const char *name, bn_part_type type, const uint64_t n[BN_PART_DIMS],
                           const void *values, size_t *part)
{
    size_t bytes = bn_part_bytes(type);
    for (int d = 0; d < BN_PART_DIMS; d++)
        bytes *= (size_t)n[d];
    if (w->blocks == BLOCKS || (w->blocks > 0 && w->bytes + bytes > w->s->part_bytes))
        BN_TRY(flush(w));
    bn_part_block *b = &w->block[w->blocks];
    snprintf(w->name[w->blocks], sizeof w->name[0], "%s", name);
    *b = (bn_part_block){ .name = w->name[w->blocks], .type = type, .values = values };
    memcpy(b->n, n, sizeof b->n);
    w->blocks++;
    w->bytes += bytes;
    *part = w->parts;
    return BN_OK;
}

static const char *type_name(bn_part_type type)
{
    static const char *const names[] = { "f32", "f64", "i32", "i64", "u8" };
    return names[type];
}

static json_t *five(const uint64_t n[BN_PART_DIMS])
{
    return json_pack("[I,I,I,I,I]", (json_int_t)n[0], (json_int_t)n[1], (json_int_t)n[2], (json_int_t)n[3],
                     (json_int_t)n[4]);
}

/* A region of a field as pieces that fit into a part, each contiguous in memory: whole planes, else whole layers of a
 * plane, else rows of a layer. */
static bn_status add_region(writer *w, const bn_field_desc *desc, const bn_region *r, const char *values,
                            json_t *pieces)
{
    const bn_part_layout l = bn_field_layout(w->s->plan, desc);
    const uint64_t n[BN_PART_DIMS] = { l.n[0], r->n[2], r->n[1], r->n[0], l.n[4] };
    uint64_t unit[3], outer = 1; /* bytes from one index to the next */
    unit[2] = n[3] * n[4] * bn_part_bytes(l.type);
    unit[1] = unit[2] * n[2];
    unit[0] = unit[1] * n[1];
    int d = 0;
    while (d < 2 && unit[d] > w->s->part_bytes)
        d++;
    for (int k = 0; k < d; k++)
        outer *= n[k];
    const uint64_t fit = w->s->part_bytes / unit[d], most = fit > 0 ? fit : 1;
    const bool whole = !w->s->distributed && outer == 1 && most >= n[d];
    for (uint64_t o = 0; o < outer; o++)
        for (uint64_t at = 0; at < n[d]; at += most) {
            uint64_t from[BN_PART_DIMS] = { 0, r->first[2], r->first[1], r->first[0], 0 };
            uint64_t size[BN_PART_DIMS] = { 1, 1, 1, n[3], n[4] };
            for (int k = d + 1; k < 3; k++)
                size[k] = n[k];
            from[d] += at;
            size[d] = n[d] - at < most ? n[d] - at : most;
            if (d == 1)
                from[0] += o;
            if (d == 2) {
                from[0] += o / n[1];
                from[1] += o % n[1];
            }
            char name[BN_STATE_NAME + 32];
            size_t part;
            snprintf(name, sizeof name, whole ? "/fields/%s" : "/fields/%s/%06zu", desc->name, json_array_size(pieces));
            BN_TRY(add_block(w, name, l.type, size, values + (o * n[d] + at) * unit[d], &part));
            append(w, pieces,
                   json_pack("{s:I, s:s, s:o, s:o}", "part", (json_int_t)part, "dataset", name, "from", five(from),
                             "size", five(size)));
        }
    return BN_OK;
}

static bn_status add_number(writer *w, const bn_state_entry *entry)
{
    const uint64_t n[BN_PART_DIMS] = { 1, 1, 1, 1, entry->count };
    char name[BN_STATE_NAME + 32];
    size_t part = 0;
    snprintf(name, sizeof name, "/%s", entry->name);
    if (entry->count > 0)
        BN_TRY(add_block(w, name, entry->type, n, entry->values, &part));
    append(w, w->s->json_numbers,
           json_pack("{s:s, s:s, s:I, s:I, s:s}", "name", entry->name, "type", type_name(entry->type), "count",
                     (json_int_t)entry->count, "part", (json_int_t)part, "dataset", name));
    return BN_OK;
}

/* ---------------------------------------------------------------------------------------------------------- manifest
 */

/* The text of the manifest: JSON whose last line is the SHA-256 of all bytes before it. NULL: no memory. */
static char *manifest_text(bn_context *ctx, const bn_checkpoint_writer *s)
{
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:f, s:s, s:s, s:s, s:I, s:s, s:[I,I,I], s:s, s:O, s:O, s:O}", "format",
        "binnacle checkpoint 1", "binnacle", bn_version(), "solver", s->plan->solver->name, "number",
        (json_int_t)s->number, "step", (json_int_t)s->now.step, "time", isfinite(s->now.time) ? s->now.time : 0,
        "precision", s->plan->precision == BN_DOUBLE ? "double" : "single", "engine", s->engine, "device", s->device,
        "boxes", (json_int_t)s->boxes, "kernels", s->kernels, "grid", (json_int_t)s->plan->grid.n[0],
        (json_int_t)s->plan->grid.n[1], (json_int_t)s->plan->grid.n[2], "case", s->resolved, "parts", s->json_parts,
        "fields", s->json_fields, "numbers", s->json_numbers);
    char *body = json ? json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL, *text = NULL;
    char sum[BN_SHA256_TEXT];
    json_decref(json);
    if (body && strlen(body) > 2) {
        body[strlen(body) - 2] = '\0'; /* without the last line, which closes the object */
        const size_t room = strlen(body) + BN_SHA256_TEXT + 32;
        if ((text = malloc(room))) {
            const int head = snprintf(text, room, "%s,\n", body);
            if (bn_sha256(ctx, text, (size_t)head, sum) == BN_OK) {
                snprintf(text + head, room - (size_t)head, " \"sha256\": \"%s\"}\n", sum);
            } else {
                free(text);
                text = NULL;
            }
        }
    }
    free(body);
    return text;
}

static bool in_manifest(const bn_manifest *m, const char *file)
{
    for (size_t i = 0; i < m->part_count; i++)
        if (strcmp(m->parts[i].file, file) == 0)
            return true;
    return false;
}

/* 000017-0003.h5, and 000017-r2-0003.h5 of the third rank */
static bool is_part(const char *file)
{
    long long number;
    unsigned part, rank;
    int end = 0;
    if (sscanf(file, "%6lld-%4u.h5%n", &number, &part, &end) == 2 && end > 0 && file[end] == '\0')
        return true;
    end = 0;
    return sscanf(file, "%6lld-r%u-%4u.h5%n", &number, &rank, &part, &end) == 3 && end > 0 && file[end] == '\0';
}

static void remove_old(bn_context *ctx, const char *folder, const char *name)
{
    const bn_path path = bn_path_join(folder, name);
    if (unlink(path.text) != 0)
        bn_log(ctx, BN_LOG_WARNING, "cannot remove the old %s: %s", path.text, strerror(errno));
}

/* Removes parts that neither this checkpoint nor the previous one needs: of older ones, and of those never finished. */
static void remove_others(bn_context *ctx, const bn_checkpoint_writer *s, const bn_manifest *before)
{
    char mine[32];
    const int n = snprintf(mine, sizeof mine, "%06lld-", s->number);
    DIR *dir = opendir(s->folder);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        if (is_part(e->d_name) && strncmp(e->d_name, mine, (size_t)n) != 0 && !in_manifest(before, e->d_name))
            remove_old(ctx, s->folder, e->d_name);
    if (dir)
        closedir(dir);
}

void bn_checkpoint_remove(bn_context *ctx, const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        if (is_part(e->d_name) || strcmp(e->d_name, BN_MANIFEST) == 0 || strcmp(e->d_name, BN_MANIFEST_BEFORE) == 0)
            remove_old(ctx, folder, e->d_name);
    if (dir) {
        closedir(dir);
        (void)rmdir(folder); /* stays if the user has put something there */
    }
}

/* BN_OK: it is on the disk. */
static bn_status put_manifest(bn_context *ctx, const char *text, const char *path, const char *before, bool keep_last)
{
    bn_file *f = NULL;
    BN_TRY(bn_file_begin(ctx, path, &f));
    (void)!fwrite(text, 1, strlen(text), bn_file_stream(f)); /* a short write is an error of the stream: see commit */
    return bn_file_commit_keeping(&f, keep_last ? before : NULL);
}

/* Index of the first value that is not finite; count: none. */
static size_t not_finite(const void *values, bn_part_type type, size_t count)
{
    size_t at = 0;
    if (type == BN_PART_F32)
        while (at < count && isfinite(((const float *)values)[at]))
            at++;
    else if (type == BN_PART_F64)
        while (at < count && isfinite(((const double *)values)[at]))
            at++;
    else
        return count;
    return at;
}

/* A state that is not finite must not replace a valid checkpoint. All ranks decide alike. */
static bn_status look_at(writer *w, const bn_field_desc *desc, const bn_region *r, const void *values)
{
    const bn_part_layout l = bn_field_layout(w->s->plan, desc);
    const size_t count = (size_t)(l.n[0] * l.n[4]) * r->n[0] * r->n[1] * r->n[2],
                 at = not_finite(values, l.type, count);
    if (at == count)
        return BN_OK;
    snprintf(w->s->bad, sizeof w->s->bad, "%s is not finite any more (value %zu of %zu%s); try a smaller time step",
             desc->name, at, count, w->s->distributed ? " of a rank's part" : "");
    return w->s->distributed ? BN_OK : bn_fail(w->ctx, BN_DIVERGED, "%s", w->s->bad);
}

static bn_status write_field(writer *w, size_t which)
{
    const bn_field_desc *desc = &w->s->plan->fields[w->s->field[which]];
    const bn_part_layout l = bn_field_layout(w->s->plan, desc);
    bn_snapshot *snapshot = w->s->snapshots[which];
    uint64_t hash = 0;
    json_t *pieces = json_array();
    bn_status st = BN_OK;
    const bool others = (desc->role & BN_VOLUME) && w->s->distributed && w->s->rank > 0; /* rank 0 writes all of it */
    for (size_t part = 0; !others && part < bn_snapshot_parts(snapshot); part++) {
        bn_region r;
        const void *values;
        BN_GO(bn_snapshot_wait(w->ctx, snapshot, part, &r, &values));
        BN_GO(look_at(w, desc, &r, values));
        BN_GO(add_region(w, desc, &r, values, pieces));
        hash += bn_hash_region(&l, &r, values);
    }
    append(w, w->s->json_fields,
           json_pack("{s:s, s:s, s:I, s:o, s:O}", "name", desc->name, "type", type_name(l.type), "hash",
                     (json_int_t)hash, "size", five(l.n), "pieces", pieces));
out:
    json_decref(pieces);
    return st;
}

static bn_status write_all(writer *w)
{
    const bn_checkpoint_writer *s = w->s;
    for (size_t i = 0; s->rank == 0 && i < s->state.count; i++)
        BN_TRY(add_number(w, &s->state.items[i]));
    for (size_t i = 0; i < s->field_count; i++)
        BN_TRY(write_field(w, i));
    BN_TRY(flush(w));
    return w->failed ? bn_fail(w->ctx, BN_MEMORY, "no memory for the manifest") : BN_OK;
}

static bn_status told(bn_context *ctx, const bn_checkpoint_writer *s, bn_status st)
{
    if (st != BN_OK)
        bn_note(ctx, "while writing the checkpoint of step %llu to %s; the one before is not touched", s->now.step,
                s->folder);
    return st;
}

bn_status bn_checkpoint_writer_write_parts(bn_context *ctx, bn_checkpoint_writer *s)
{
    bn_status st = BN_OK;
    writer *w = calloc(1, sizeof *w);
    if (!w)
        return bn_fail(ctx, BN_MEMORY, "no memory for a checkpoint");
    w->ctx = ctx;
    w->s = s;
    if (!s->distributed)
        BN_GO(find_number(ctx, s));
    BN_GO(write_all(w));
out:
    bn_part_room_free(&w->room);
    free(w);
    return told(ctx, s, st);
}

/* Appends what a rank has written to the list of the ranks before it; its parts are numbered after theirs. */
static bool add_rank(bn_checkpoint_writer *s, json_t *theirs)
{
    const size_t before = json_array_size(s->json_parts);
    json_t *fields = json_object_get(theirs, "fields");
    bool good = json_array_extend(s->json_parts, json_object_get(theirs, "parts")) == 0 &&
                json_array_size(fields) == json_array_size(s->json_fields);
    for (size_t f = 0; good && f < json_array_size(fields); f++) {
        json_t *pieces = json_object_get(json_array_get(fields, f), "pieces");
        json_t *own = json_array_get(s->json_fields, f);
        const uint64_t hash = (uint64_t)json_integer_value(json_object_get(own, "hash")) +
                              (uint64_t)json_integer_value(json_object_get(json_array_get(fields, f), "hash"));
        for (size_t i = 0; good && i < json_array_size(pieces); i++) {
            json_t *piece = json_array_get(pieces, i);
            const json_int_t part = json_integer_value(json_object_get(piece, "part"));
            good = json_object_set_new(piece, "part", json_integer(part + (json_int_t)before)) == 0;
        }
        good = good && json_array_extend(json_object_get(own, "pieces"), pieces) == 0 &&
               json_object_set_new(own, "hash", json_integer((json_int_t)hash)) == 0;
    }
    return good;
}

bn_status bn_checkpoint_writer_gather(bn_context *ctx, bn_checkpoint_writer *s)
{
    bn_status st = BN_OK;
    char **texts = NULL, *mine = NULL;
    if (!s->distributed)
        return BN_OK;
    json_t *json = json_pack("{s:O, s:O, s:s}", "parts", s->json_parts, "fields", s->json_fields, "bad", s->bad);
    mine = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    BN_GO(bn_context_collect(ctx, mine ? mine : "", &texts));
    for (int r = 0; r < bn_context_ranks(ctx); r++) {
        json_t *theirs = json_loads(texts[r], 0, NULL);
        const char *bad = json_string_value(json_object_get(theirs, "bad"));
        if (!theirs || (s->rank == 0 && r > 0 && !add_rank(s, theirs)))
            st = bn_fail(ctx, BN_MEMORY, "no memory for the manifest");
        else if (bad && bad[0])
            st = bn_fail(ctx, BN_DIVERGED, "%s (rank %d)", bad, r);
        json_decref(theirs);
        if (st != BN_OK)
            break;
    }
out:
    bn_texts_free(ctx, &texts);
    free(mine);
    return told(ctx, s, st);
}

bn_status bn_checkpoint_writer_finish(bn_context *ctx, bn_checkpoint_writer *s)
{
    char *text = manifest_text(ctx, s);
    const bn_path path = bn_path_join(s->folder, BN_MANIFEST), before = bn_path_join(s->folder, BN_MANIFEST_BEFORE);
    const bn_status st = text ? put_manifest(ctx, text, path.text, before.text, s->whole)
                              : bn_fail(ctx, BN_MEMORY, "no memory for the manifest");
    if (st == BN_OK)
        remove_others(ctx, s, s->whole ? &s->newest : &s->older);
    free(text);
    return told(ctx, s, st);
}

bool bn_checkpoint_writer_in_parts(const bn_checkpoint_writer *s) { return s->distributed; }

bn_status bn_checkpoint_writer_write(bn_context *ctx, bn_checkpoint_writer *s)
{
    BN_TRY(bn_checkpoint_writer_write_parts(ctx, s));
    BN_TRY(bn_checkpoint_writer_gather(ctx, s));
    return s->rank == 0 ? bn_checkpoint_writer_finish(ctx, s) : BN_OK;
}
