/* checkpoint.c: head, then name, size and bytes of every field of the state, then a sum over all of it. */
#include "sim/checkpoint.h"

#include "io/file.h"
#include "sim/sim_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct head {
    char magic[8];
    uint64_t identity, step, items, fields;
    double time;
} head;

typedef struct entry {
    char name[64];
    uint64_t bytes;
} entry;

static const char magic[8] = "BNCHECK1";

/* FNV-1a. */
static uint64_t mix(uint64_t h, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h;
}

/* What two runs must have in common: the resolved case without [output], [stop], the title, and the checkpoint's own
 * name. */
static bn_status identify(bn_sim *sim, uint64_t *identity)
{
    char *text;
    bool counts = true;
    BN_TRY(bn_case_resolved(bn_sim_case(sim), &text));
    *identity = 14695981039346656037u;
    for (char *line = text; *line;) {
        const size_t n = strcspn(line, "\n");
        if (line[0] == '[')
            counts = strncmp(line, "[output", 7) != 0 && strncmp(line, "[stop", 5) != 0;
        if (counts && strncmp(line, "title", 5) != 0 && strncmp(line, "resume", 6) != 0 && line[0] != '#')
            *identity = mix(*identity, line, n);
        line += n + (line[n] == '\n');
    }
    free(text);
    return BN_OK;
}

static bool in_state(const bn_plan *p, size_t field) { return (p->fields[field].role & BN_STATE) != 0; }

static size_t largest_field(bn_sim *sim)
{
    const bn_plan *p = bn_sim_plan(sim);
    size_t most = 1;
    for (size_t i = 0; i < p->field_count; i++) {
        const size_t bytes = bn_field_bytes(bn_sim_field(sim, p->fields[i].name));
        most = in_state(p, i) && bytes > most ? bytes : most;
    }
    return most;
}

static bool put(FILE *f, const void *data, size_t bytes, uint64_t *sum)
{
    *sum = mix(*sum, data, bytes);
    return fwrite(data, 1, bytes, f) == bytes;
}

static bn_status write_fields(bn_sim *sim, FILE *f, void *room, uint64_t *sum, bool *good)
{
    const bn_plan *p = bn_sim_plan(sim);
    for (size_t i = 0; i < p->field_count && *good; i++)
        if (in_state(p, i)) {
            bn_field *field = bn_sim_field(sim, p->fields[i].name);
            entry e = { .bytes = bn_field_bytes(field) };
            snprintf(e.name, sizeof e.name, "%s", p->fields[i].name);
            BN_TRY(bn_field_read(field, room, e.bytes));
            *good = put(f, &e, sizeof e, sum) && put(f, room, e.bytes, sum);
        }
    return BN_OK;
}

bn_status bn_checkpoint_write(bn_sim *sim, const char *path)
{
    bn_context *ctx = bn_sim_context(sim);
    const bn_plan *p = bn_sim_plan(sim);
    const bn_sim_state now = bn_sim_now(sim);
    head h = { .step = now.step, .items = now.items, .time = now.time };
    uint64_t sum = 0;
    bn_file *file = NULL;
    bool good = true;
    memcpy(h.magic, magic, sizeof magic);
    for (size_t i = 0; i < p->field_count; i++)
        h.fields += in_state(p, i);
    BN_TRY(bn_sim_present(sim));
    BN_TRY(identify(sim, &h.identity));
    void *room = malloc(largest_field(sim));
    if (!room)
        return bn_fail(ctx, BN_MEMORY, "no memory for the checkpoint");
    bn_status st = bn_file_begin(ctx, path, &file);
    if (st == BN_OK) {
        FILE *f = bn_file_stream(file);
        good = put(f, &h, sizeof h, &sum);
        st = write_fields(sim, f, room, &sum, &good);
        const uint64_t end = sum;
        good = good && put(f, &end, sizeof end, &sum);
        if (st == BN_OK && good)
            st = bn_file_commit(&file);
        else if (st == BN_OK)
            st = bn_fail(ctx, BN_IO, "cannot write %s: %s", path, strerror(errno));
        bn_file_abort(&file);
    }
    free(room);
    return st;
}

static bool get(FILE *f, void *data, size_t bytes, uint64_t *sum)
{
    if (fread(data, 1, bytes, f) != bytes)
        return false;
    *sum = mix(*sum, data, bytes);
    return true;
}

/* Twice over the file: first only to see that it is whole. */
static bn_status read_fields(bn_sim *sim, const char *path, FILE *f, uint64_t fields, void *room, uint64_t sum,
                             bool keep)
{
    bn_context *ctx = bn_sim_context(sim);
    const bn_plan *p = bn_sim_plan(sim);
    uint64_t end, before;
    entry e;
    for (uint64_t n = 0, i = 0; n < fields; n++, i++) {
        while (i < p->field_count && !in_state(p, i))
            i++;
        bn_field *field = i < p->field_count ? bn_sim_field(sim, p->fields[i].name) : NULL;
        if (!get(f, &e, sizeof e, &sum) || !field || strncmp(e.name, p->fields[i].name, sizeof e.name - 1) != 0 ||
            e.bytes != bn_field_bytes(field) || !get(f, room, e.bytes, &sum))
            return bn_fail(ctx, BN_IO, "cannot read %s: damaged, cut short, or of another version", path);
        if (keep)
            BN_TRY(bn_field_write(field, room, e.bytes));
    }
    before = sum;
    if (!get(f, &end, sizeof end, &sum) || end != before)
        return bn_fail(ctx, BN_IO, "cannot read %s: damaged or cut short", path);
    return BN_OK;
}

static bn_status read_open(bn_sim *sim, const char *path, FILE *f, void *room)
{
    bn_context *ctx = bn_sim_context(sim);
    head h;
    uint64_t sum = 0, identity;
    if (!get(f, &h, sizeof h, &sum) || memcmp(h.magic, magic, sizeof magic) != 0)
        return bn_fail(ctx, BN_IO, "cannot read %s: cut short, or no checkpoint", path);
    BN_TRY(identify(sim, &identity));
    if (identity != h.identity)
        return bn_fail(ctx, BN_CASE,
                       "%s: case.resume: %s belongs to another case: only [output], [stop] and the title may differ",
                       bn_case_path(bn_sim_case(sim)), path);
    const long start = ftell(f);
    BN_TRY(read_fields(sim, path, f, h.fields, room, sum, false));
    if (fseek(f, start, SEEK_SET) != 0)
        return bn_fail(ctx, BN_IO, "cannot read %s: %s", path, strerror(errno));
    BN_TRY(read_fields(sim, path, f, h.fields, room, sum, true));
    bn_sim_set_now(sim, h.step, h.time, h.items);
    return BN_OK;
}

bn_status bn_checkpoint_read(bn_sim *sim, const char *path)
{
    bn_context *ctx = bn_sim_context(sim);
    FILE *f = fopen(path, "rbe");
    if (!f)
        return bn_fail(ctx, BN_IO, "cannot read %s: %s", path, strerror(errno));
    void *room = malloc(largest_field(sim));
    const bn_status st = room ? read_open(sim, path, f, room) : bn_fail(ctx, BN_MEMORY, "no memory for the checkpoint");
    free(room);
    fclose(f); /* opened for reading: nothing can be lost here */
    return st;
}
