/* checkpoint_read.c: finds a checkpoint, checks all of it, and restores a simulation from it. Nothing of a file is used
 * before its SHA-256 is verified. */
#include "sim/checkpoint.h"

#include "api/embedded_files.h"
#include "io/file.h"
#include "sim/guard.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MANIFEST_BYTES = 1 << 30 };

struct bn_checkpoint {
    bn_context *ctx;
    char *path;
    bn_path folder;
    bn_manifest manifest;
    bn_checkpoint_state state;
};

/* ---------------------------------------------------------------------------------------------------------- manifest
 */

void bn_manifest_release(bn_manifest *m)
{
    json_decref(m->json);
    free(m->parts);
    *m = (bn_manifest){ 0 };
}

/* The last line, `"sha256": "...64 digits..."}`, is the hash of all bytes before it; nothing follows. */
static bool sum_is_right(bn_context *ctx, const char *text, size_t bytes)
{
    static const char head[] = " \"sha256\": \"", tail[] = "\"}\n";
    const size_t line = sizeof head - 1 + BN_SHA256_TEXT - 1 + sizeof tail - 1;
    char sum[BN_SHA256_TEXT];
    if (bytes <= line || memcmp(text + bytes - line, head, sizeof head - 1) != 0 ||
        memcmp(text + bytes - (sizeof tail - 1), tail, sizeof tail - 1) != 0)
        return false;
    return bn_sha256(ctx, text, bytes - line, sum) == BN_OK &&
           memcmp(sum, text + bytes - line + sizeof head - 1, BN_SHA256_TEXT - 1) == 0;
}

static bn_status take_parts(bn_context *ctx, const char *path, bn_manifest *m)
{
    const json_t *list = json_object_get(m->json, "parts");
    const char *format = json_string_value(json_object_get(m->json, "format"));
    m->number = json_integer_value(json_object_get(m->json, "number"));
    m->part_count = json_array_size(list);
    if (!format || strcmp(format, "binnacle checkpoint 1") != 0)
        return bn_fail(ctx, BN_IO, "cannot go on from %s: it is %s%s", path,
                       format ? "of the format " : "no checkpoint", format ? format : "");
    if (!(m->parts = calloc(m->part_count + 1, sizeof *m->parts)))
        return bn_fail(ctx, BN_MEMORY, "no memory for the list of parts of %s", path);
    for (size_t i = 0; i < m->part_count; i++) {
        const json_t *part = json_array_get(list, i);
        const char *file = json_string_value(json_object_get(part, "file"));
        const char *sum = json_string_value(json_object_get(part, "sha256"));
        if (!file || !sum || strchr(file, '/') || strlen(file) >= sizeof m->parts[i].file ||
            strlen(sum) >= BN_SHA256_TEXT)
            return bn_fail(ctx, BN_IO, "cannot go on from %s: its list of parts is of another version", path);
        snprintf(m->parts[i].file, sizeof m->parts[i].file, "%s", file);
        snprintf(m->parts[i].sum.sha256, BN_SHA256_TEXT, "%s", sum);
        m->parts[i].sum.bytes = (unsigned long long)json_integer_value(json_object_get(part, "bytes"));
    }
    return BN_OK;
}

bn_status bn_manifest_read(bn_context *ctx, const char *path, bn_manifest *out)
{
    char *text = NULL;
    size_t bytes = 0;
    bn_status st = BN_OK;
    *out = (bn_manifest){ 0 };
    BN_TRY(bn_file_read(ctx, path, MANIFEST_BYTES, &text, &bytes));
    if (!sum_is_right(ctx, text, bytes))
        st = bn_fail(ctx, BN_IO,
                     "%s is damaged, cut short, or no checkpoint: its last line is not the SHA-256 of the rest", path);
    else if (!(out->json = json_loadb(text, bytes, 0, NULL)))
        st = bn_fail(ctx, BN_IO, "cannot go on from %s: it is no JSON", path);
    else
        st = take_parts(ctx, path, out);
    free(text);
    if (st != BN_OK)
        bn_manifest_release(out);
    return st;
}

/* ----------------------------------------------------------------------------------------------------------- opening
 */

void bn_checkpoint_close(bn_checkpoint **checkpoint)
{
    if (!checkpoint || !*checkpoint)
        return;
    bn_checkpoint *c = *checkpoint;
    bn_manifest_release(&c->manifest);
    bn_checkpoint_state_release(&c->state);
    free(c->path);
    free(c);
    *checkpoint = NULL;
}

const char *bn_checkpoint_path(const bn_checkpoint *c) { return c->path; }
bn_checkpoint_state *bn_checkpoint_state_of(bn_checkpoint *c) { return &c->state; }

static bool type_of(const json_t *entry, bn_part_type *type)
{
    static const char *const names[] = { "f32", "f64", "i32", "i64", "u8" };
    const char *name = json_string_value(json_object_get(entry, "type"));
    for (int i = 0; name && i < 5; i++)
        if (strcmp(name, names[i]) == 0) {
            *type = (bn_part_type)i;
            return true;
        }
    return false;
}

static bool five(const json_t *entry, const char *key, uint64_t n[BN_PART_DIMS])
{
    const json_t *list = json_object_get(entry, key);
    for (size_t d = 0; d < BN_PART_DIMS; d++) {
        const json_t *value = json_array_get(list, d);
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return false;
        n[d] = (uint64_t)json_integer_value(value);
    }
    return true;
}

static bn_status other_version(const bn_checkpoint *c)
{
    return bn_fail(c->ctx, BN_IO, "cannot go on from %s: its manifest is of another version", c->path);
}

/* The box of the dataset that `entry` names. */
static bn_status read_block(const bn_checkpoint *c, const json_t *entry, bn_part_type type, const bn_part_box *box,
                            void *values)
{
    const char *name = json_string_value(json_object_get(entry, "dataset"));
    const json_int_t part = json_integer_value(json_object_get(entry, "part"));
    if (!name || part < 0 || (size_t)part >= c->manifest.part_count)
        return other_version(c);
    return bn_part_read(c->ctx, bn_path_join(c->folder.text, c->manifest.parts[part].file).text, name, type, box,
                        values);
}

static bn_status read_numbers(bn_checkpoint *c)
{
    const json_t *list = json_object_get(c->manifest.json, "numbers");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(entry, "name"));
        const json_int_t count = json_integer_value(json_object_get(entry, "count"));
        bn_part_type type;
        bn_state_entry *number;
        if (!name || !type_of(entry, &type) || count < 0)
            return other_version(c);
        BN_TRY(bn_checkpoint_state_add(&c->state, name, type, (size_t)count, &number));
        const uint64_t n = (uint64_t)count;
        const bn_part_box all = { .size = { 1, 1, 1, 1, n }, .room = { 1, 1, 1, 1, n } };
        if (count > 0)
            BN_TRY(read_block(c, entry, type, &all, number->values));
    }
    return BN_OK;
}

/* Ranks share the work; a failure of one is known to all. */
static bn_status check_parts(const bn_checkpoint *c)
{
    const size_t rank = (size_t)bn_context_rank(c->ctx), ranks = (size_t)bn_context_ranks(c->ctx);
    bn_status st = BN_OK;
    for (size_t i = rank; i < c->manifest.part_count && st == BN_OK; i += ranks)
        st = bn_part_check(c->ctx, bn_path_join(c->folder.text, c->manifest.parts[i].file).text,
                           &c->manifest.parts[i].sum);
    double worst = st;
    bn_context_agree(c->ctx, &worst, 1);
    if (st == BN_OK && worst > 0)
        st = bn_fail(c->ctx, (bn_status)worst, "another rank can't read its share of the checkpoint %s", c->path);
    else if (st != BN_OK)
        bn_note(c->ctx, "a part of the checkpoint %s", c->path);
    return st;
}

static bn_status open_manifest(bn_context *ctx, const char *path, bn_checkpoint **out)
{
    bn_status st = BN_OK;
    bn_checkpoint *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c || !(c->path = strdup(path)))
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory to read the checkpoint %s", path));
    c->ctx = ctx;
    c->folder = bn_path_folder(path);
    c->state = (bn_checkpoint_state){ .ctx = ctx, .restores = true, .path = c->path, .case_path = "" };
    BN_GO(bn_manifest_read(ctx, path, &c->manifest));
    BN_GO(check_parts(c));
    BN_GO(read_numbers(c));
    *out = c;
    c = NULL;
out:
    bn_checkpoint_close(&c);
    return st;
}

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The folder with the manifests: `path` itself or its folder "checkpoint". False: neither has one. */
static bool find_folder(const char *path, bn_path *found)
{
    for (int i = 0; i < 2; i++) {
        *found = i == 0 ? bn_path_join("", path) : bn_path_join(path, "checkpoint");
        if (is_file(bn_path_join(found->text, BN_MANIFEST).text) ||
            is_file(bn_path_join(found->text, BN_MANIFEST_BEFORE).text))
            return true;
    }
    return false;
}

bool bn_checkpoint_exists(const char *folder)
{
    bn_path found;
    return find_folder(folder, &found);
}

/* The newest, else the one before it. */
static bn_status open_folder(bn_context *ctx, const char *path, bn_checkpoint **out)
{
    bn_path folder;
    if (!find_folder(path, &folder))
        return bn_fail(ctx, BN_IO, "there is no checkpoint in %s", path);
    const bn_path newest = bn_path_join(folder.text, BN_MANIFEST),
                  before = bn_path_join(folder.text, BN_MANIFEST_BEFORE);
    if (!is_file(newest.text)) /* a power failure between two renames */
        return open_manifest(ctx, before.text, out);
    const bn_status st = open_manifest(ctx, newest.text, out);
    if (st != BN_IO || !is_file(before.text))
        return st;
    bn_log(ctx, BN_LOG_WARNING, "%s\n  trying the checkpoint before it, %s", bn_error_text(ctx), before.text);
    bn_error_clear(ctx);
    return open_manifest(ctx, before.text, out);
}

bn_status bn_checkpoint_open(bn_context *ctx, const char *path, bn_checkpoint **out)
{
    *out = NULL;
    return is_folder(path) ? open_folder(ctx, path, out) : open_manifest(ctx, path, out);
}

/* ------------------------------------------------------------------------------------------------------------ fields
 */

static const json_t *find_field(const bn_checkpoint *c, const char *name)
{
    const json_t *list = json_object_get(c->manifest.json, "fields");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *own = json_string_value(json_object_get(json_array_get(list, i), "name"));
        if (own && strcmp(own, name) == 0)
            return json_array_get(list, i);
    }
    return NULL;
}

/* Intersection of a piece and the box asked for; false: empty. */
static bool overlap(const uint64_t from[BN_PART_DIMS], const uint64_t size[BN_PART_DIMS],
                    const uint64_t low[BN_PART_DIMS], const uint64_t high[BN_PART_DIMS], bn_part_box *box)
{
    for (int d = 0; d < BN_PART_DIMS; d++) {
        const uint64_t first = from[d] > low[d] ? from[d] : low[d];
        const uint64_t end = from[d] + size[d] < high[d] ? from[d] + size[d] : high[d];
        if (first >= end)
            return false;
        box->from[d] = first - from[d];
        box->size[d] = end - first;
        box->to[d] = first - low[d];
        box->room[d] = high[d] - low[d];
    }
    return true;
}

bn_status bn_checkpoint_box(bn_checkpoint *c, const char *field, const uint32_t low[3], const uint32_t high[3],
                            void *values, size_t bytes)
{
    const json_t *entry = find_field(c, field);
    uint64_t n[BN_PART_DIMS], from[BN_PART_DIMS], size[BN_PART_DIMS], done = 0;
    bn_part_type type;
    bn_part_box box;
    if (!entry)
        return bn_fail(c->ctx, BN_IO,
                       "cannot go on from %s: it has no field %s; the case or the version is another one", c->path,
                       field);
    if (!type_of(entry, &type) || !five(entry, "size", n))
        return other_version(c);
    const uint64_t first[BN_PART_DIMS] = { 0, low[2], low[1], low[0], 0 };
    const uint64_t end[BN_PART_DIMS] = { n[0], high[2], high[1], high[0], n[4] };
    uint64_t wanted = bn_part_bytes(type);
    for (int d = 0; d < BN_PART_DIMS; d++)
        wanted *= end[d] > n[d] || first[d] > end[d] ? 0 : end[d] - first[d];
    if (wanted != bytes)
        return bn_fail(c->ctx, BN_IO, "cannot go on from %s: its field %s has another size or type", c->path, field);
    const json_t *pieces = json_object_get(entry, "pieces");
    for (size_t i = 0; i < json_array_size(pieces); i++) {
        const json_t *piece = json_array_get(pieces, i);
        if (!five(piece, "from", from) || !five(piece, "size", size))
            return other_version(c);
        if (!overlap(from, size, first, end, &box))
            continue;
        BN_TRY(read_block(c, piece, type, &box, values));
        uint64_t got = bn_part_bytes(type);
        for (int d = 0; d < BN_PART_DIMS; d++)
            got *= box.size[d];
        done += got;
    }
    return done == bytes ? BN_OK
                         : bn_fail(c->ctx, BN_IO, "cannot go on from %s: pieces of %s are missing", c->path, field);
}

/* ----------------------------------------------------------------------------------------------------- the same case
 */

/* Next line of a resolved case that a checkpoint's case must share; `section` is updated. False: the end. */
static bool next_line(const char **at, char section[64], const char **line, size_t *length)
{
    while (**at) {
        const size_t n = strcspn(*at, "\n");
        *line = *at;
        *length = n;
        *at += n + ((*at)[n] == '\n');
        if ((*line)[0] == '[')
            snprintf(section, 64, "%.*s", (int)(n < 63 ? n : 63), *line);
        if (n == 0 || (*line)[0] == '#' || (*line)[0] == '[' || strcmp(section, "[output]") == 0 ||
            strcmp(section, "[stop]") == 0 || strcmp(section, "[[expected]]") == 0)
            continue;
        if (strcmp(section, "[case]") == 0 && (strncmp(*line, "title ", 6) == 0 || strncmp(*line, "resume ", 7) == 0 ||
                                               strncmp(*line, "balance ", 8) == 0))
            continue;
        return true;
    }
    return false;
}

static bn_status same_case(const bn_checkpoint *c, bn_sim *sim)
{
    const char *there = json_string_value(json_object_get(c->manifest.json, "case")), *before, *now;
    char *text, sections[2][64] = { "", "" };
    size_t before_bytes, now_bytes;
    if (!there)
        return other_version(c);
    BN_TRY(bn_case_resolved(bn_sim_case(sim), &text));
    const char *here = text;
    bn_status st = BN_OK;
    for (;;) {
        const bool one = next_line(&there, sections[0], &before, &before_bytes);
        const bool two = next_line(&here, sections[1], &now, &now_bytes);
        if (!one && !two)
            break;
        if (one && two && strcmp(sections[0], sections[1]) == 0 && before_bytes == now_bytes &&
            memcmp(before, now, now_bytes) == 0)
            continue;
        st = bn_fail(
            c->ctx, BN_CASE,
            "%s: the checkpoint %s belongs to another case: there it has %s %.*s, here %s %.*s; only [output], "
            "[stop], [[expected]], case.title and case.balance may differ",
            bn_case_path(bn_sim_case(sim)), c->path, one ? sections[0] : "nothing", one ? (int)before_bytes : 0,
            one ? before : "", two ? sections[1] : "nothing", two ? (int)now_bytes : 0, two ? now : "");
        break;
    }
    free(text);
    return st;
}

/* Other kernels may give other bits; that is no reason to refuse. */
static bn_status look_at_kernels(const bn_checkpoint *c)
{
    const char *there = json_string_value(json_object_get(c->manifest.json, "kernels"));
    uint64_t hash;
    char here[17];
    BN_TRY(bn_kernels_hash(c->ctx, &hash));
    snprintf(here, sizeof here, "%016" PRIx64, hash);
    if (!there || strcmp(there, here) != 0)
        bn_log(
            c->ctx, BN_LOG_WARNING,
            "the kernels have changed since %s was written: from there on the results may differ in the last bits from "
            "those of one program",
            c->path);
    return BN_OK;
}

typedef struct wanted {
    bn_checkpoint *checkpoint;
    const char *field;
    size_t point; /* bytes, all components */
} wanted;

static bn_status supply(void *user, const bn_region *r, void *values)
{
    const wanted *w = user;
    const uint32_t high[3] = { r->first[0] + r->n[0], r->first[1] + r->n[1], r->first[2] + r->n[2] };
    return bn_checkpoint_box(w->checkpoint, w->field, r->first, high, values, bn_region_points(r) * w->point);
}

/* Reads back what was sent to the device: what a run goes on from is what the checkpoint's writer saw. */
static bn_status check_field(const bn_checkpoint *c, const bn_plan *p, bn_field *f)
{
    const char *name = bn_field_describe(f)->name;
    const json_t *hash = json_object_get(find_field(c, name), "hash"); /* older checkpoints have none */
    char text[24], **texts = NULL;
    uint64_t sum, all = 0;
    if (!hash)
        return BN_OK;
    BN_TRY(bn_hash_field(p, f, &sum));
    if (bn_domain_across_ranks(bn_field_domain(f))) {
        snprintf(text, sizeof text, "%" PRIu64, sum);
        BN_TRY(bn_context_collect(c->ctx, text, &texts));
        for (int r = 0; r < bn_context_ranks(c->ctx); r++)
            all += strtoull(texts[r], NULL, 10);
        bn_texts_free(c->ctx, &texts);
        sum = all;
    }
    if (sum == (uint64_t)json_integer_value(hash))
        return BN_OK;
    return bn_fail(c->ctx, BN_MISMATCH,
                   "field %s, read back from the device, is not what %s holds: memory or the bus damages data; go on "
                   "from it on another device",
                   name, c->path);
}

bn_status bn_checkpoint_restore(bn_checkpoint *c, bn_sim *sim)
{
    const bn_plan *p = bn_sim_plan(sim);
    c->state.case_path = bn_case_path(bn_sim_case(sim));
    BN_TRY(same_case(c, sim));
    BN_TRY(look_at_kernels(c));
    for (size_t i = 0; i < p->field_count; i++)
        if (p->fields[i].role & BN_STATE) {
            bn_field *f = bn_sim_field(sim, p->fields[i].name);
            wanted w = { c, p->fields[i].name, bn_field_element_bytes(f) * (size_t)bn_field_describe(f)->components };
            BN_TRY(bn_field_supply(f, BN_OWN_TYPE, supply, &w));
            BN_TRY(check_field(c, p, f));
        }
    return bn_sim_serialize(sim, &c->state);
}
