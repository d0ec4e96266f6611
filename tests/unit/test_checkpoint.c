/* test_checkpoint.c: fields cut into parts of any size, read back box by box; the manifest and its sum; which
 * checkpoints stay. On the reference: no device is needed. */
#include "support_case.h"

#include "api/embedded_files.h"
#include "run/selftest.h"
#include "sim/solver.h"
#include "binnacle/binnacle.h"
#include "io/file.h"
#include "io/sha256.h"
#include "sim/checkpoint.h"
#include "sim/sim_parts.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bn_sim *start(const bn_embedded *file, bn_case **c)
{
    bn_sim *sim;
    OK(bn_case_parse(ctx, file->name, file->text, NULL, 0, c));
    OK(bn_sim_create(ctx, *c, &(bn_sim_desc){ 0 }, &sim));
    OK(bn_sim_step(sim));
    return sim;
}

static void save(bn_sim *sim, size_t part_bytes)
{
    bn_checkpoint_writer *s;
    OK(bn_checkpoint_writer_begin(sim, test_folder, part_bytes, &s));
    OK(bn_checkpoint_writer_write(ctx, s));
    bn_checkpoint_writer_release(&s);
}

/* The value of a whole field at a place of a box, by the layout that a checkpoint's file has too. */
static void compare_box(bn_checkpoint *saved, const bn_plan *p, size_t field, const unsigned char *whole)
{
    static unsigned seed = 1;
    const bn_part_layout l = bn_field_layout(p, &p->fields[field]);
    const size_t wide = bn_part_bytes(l.type);
    const uint32_t *n = bn_plan_grid_of(p, &p->fields[field])->n;
    uint32_t low[3], high[3];
    size_t points = 1;
    for (int d = 0; d < 3; d++) {
        seed = seed * 1664525u + 1013904223u;
        low[d] = seed / 65536 % n[d];
        seed = seed * 1664525u + 1013904223u;
        high[d] = low[d] + 1 + seed / 65536 % (n[d] - low[d]);
        points *= high[d] - low[d];
    }
    const size_t bytes = (size_t)(l.n[0] * l.n[4]) * points * wide;
    unsigned char *box = malloc(bytes), *at = box;
    OK(bn_checkpoint_box(saved, p->fields[field].name, low, high, box, bytes));
    for (size_t plane = 0; plane < l.n[0]; plane++)
        for (size_t z = low[2]; z < high[2]; z++)
            for (size_t y = low[1]; y < high[1]; y++) {
                const size_t row = ((plane * l.n[1] + z) * l.n[2] + y) * l.n[3] + low[0];
                const size_t length = (high[0] - low[0]) * (size_t)l.n[4] * wide;
                ck_assert_msg(memcmp(at, whole + row * (size_t)l.n[4] * wide, length) == 0,
                              "%s, row at y = %zu, z = %zu", p->fields[field].name, y, z);
                at += length;
            }
    free(box);
}

static void check_fields(bn_sim *sim)
{
    bn_checkpoint *saved;
    const bn_plan *p = bn_sim_plan(sim);
    OK(bn_checkpoint_open(ctx, test_folder, &saved));
    for (size_t i = 0; i < p->field_count; i++) {
        if (!(p->fields[i].role & BN_STATE))
            continue;
        const size_t bytes = bn_field_bytes(bn_sim_field(sim, p->fields[i].name));
        unsigned char *whole = malloc(bytes);
        OK(bn_field_read(bn_sim_field(sim, p->fields[i].name), whole, bytes));
        for (int k = 0; k < 12; k++)
            compare_box(saved, p, i, whole);
        free(whole);
    }
    bn_checkpoint_close(&saved);
}

static size_t parts_in_folder(void)
{
    size_t count = 0;
    DIR *dir = opendir(test_folder);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        count += strstr(e->d_name, ".h5") != NULL;
    closedir(dir);
    return count;
}

/* Studies have none. */
static bool has_checkpoints(const bn_embedded *file)
{
    for (const char *const *study = bn_study_names(); *study; study++)
        if (bn_selftest_is_of(file->name, *study))
            return false;
    return strncmp(file->name, "selftest/", 9) == 0;
}

TEST(boxes_come_back_from_parts_of_any_size)
{
    static const size_t part_bytes[] = { 0, 20000, 600 };
    for (const bn_embedded *f = bn_embedded_files; f->name; f++) {
        if (!has_checkpoints(f))
            continue;
        bn_case *c;
        bn_sim *sim = start(f, &c);
        for (size_t i = 0; i < sizeof part_bytes / sizeof *part_bytes; i++) {
            if (part_bytes[i] == 600 && strcmp(f->name, "selftest/flow.toml") != 0)
                continue; /* every part is synced: once is enough */
            save(sim, part_bytes[i]);
            check_fields(sim);
            ck_assert(part_bytes[i] != 600 || parts_in_folder() > 20);
        }
        bn_sim_destroy(&sim);
        bn_case_destroy(&c);
        bn_checkpoint_remove(ctx, test_folder);
        (void)mkdir(test_folder, 0777);
    }
}

TEST(the_one_before_stays_and_no_other)
{
    bn_case *c;
    bn_sim *sim = NULL;
    bn_checkpoint *saved;
    bn_manifest m[2];
    char path[2][4200];
    for (const bn_embedded *f = bn_embedded_files; f->name && !sim; f++)
        if (strcmp(f->name, "selftest/flood.toml") == 0)
            sim = start(f, &c);
    ck_assert_ptr_nonnull(sim);
    ck_assert(!bn_checkpoint_exists(test_folder));
    ck_assert_int_eq(bn_checkpoint_open(ctx, test_folder, &saved), BN_IO);
    bn_error_clear(ctx);
    for (int i = 0; i < 4; i++)
        save(sim, 3000);
    snprintf(path[0], sizeof path[0], "%s/%s", test_folder, BN_MANIFEST);
    snprintf(path[1], sizeof path[1], "%s/%s", test_folder, BN_MANIFEST_BEFORE);
    for (int i = 0; i < 2; i++) {
        OK(bn_manifest_read(ctx, path[i], &m[i]));
        ck_assert_int_eq((int)m[i].number, 4 - i);
        ck_assert_int_gt((int)m[i].part_count, 1);
    }
    ck_assert_uint_eq(parts_in_folder(), m[0].part_count + m[1].part_count);
    /* The same state gives the same bytes. */
    for (size_t i = 0; i < m[0].part_count; i++)
        ck_assert_str_eq(m[0].parts[i].sum.sha256, m[1].parts[i].sum.sha256);
    bn_manifest_release(&m[0]);
    bn_manifest_release(&m[1]);

    /* Without its newest manifest a folder is as the power left it between two renames. */
    ck_assert_int_eq(unlink(path[0]), 0);
    OK(bn_checkpoint_open(ctx, test_folder, &saved));
    ck_assert_ptr_nonnull(strstr(bn_checkpoint_path(saved), BN_MANIFEST_BEFORE));
    bn_checkpoint_close(&saved);
    save(sim, 0); /* counts on */
    OK(bn_manifest_read(ctx, path[0], &m[0]));
    ck_assert_int_eq((int)m[0].number, 4);
    bn_manifest_release(&m[0]);
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

TEST(a_state_that_is_not_finite_is_not_written)
{
    bn_case *c;
    bn_sim *sim = NULL;
    bn_checkpoint_writer *s;
    for (const bn_embedded *f = bn_embedded_files; f->name && !sim; f++)
        if (strcmp(f->name, "selftest/flow.toml") == 0)
            sim = start(f, &c);
    ck_assert_ptr_nonnull(sim);
    save(sim, 0);
    ((float *)bn_field_host(bn_sim_field(sim, "omega")))[77] = NAN;
    OK(bn_checkpoint_writer_begin(sim, test_folder, 0, &s));
    ck_assert_int_eq(bn_checkpoint_writer_write(ctx, s), BN_DIVERGED);
    ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), "omega is not finite any more (value 77"));
    bn_checkpoint_writer_release(&s);
    bn_error_clear(ctx);
    bn_checkpoint *saved;
    OK(bn_checkpoint_open(ctx, test_folder, &saved)); /* the one before */
    bn_checkpoint_close(&saved);
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

/* FIPS 180-4, and the empty text. */
TEST(sha256_knows_its_answers)
{
    char sum[BN_SHA256_TEXT];
    OK(bn_sha256(ctx, "abc", 3, sum));
    ck_assert_str_eq(sum, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    OK(bn_sha256(ctx, "", 0, sum));
    ck_assert_str_eq(sum, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    char path[4200], *text = malloc(3000000);
    unsigned long long bytes;
    memset(text, 'a', 3000000);
    snprintf(path, sizeof path, "%s/a", test_folder);
    OK(bn_file_write(ctx, path, text, 1000000));
    OK(bn_sha256_file(ctx, path, &bytes, sum));
    ck_assert_uint_eq(bytes, 1000000);
    ck_assert_str_eq(sum, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    OK(bn_file_write(ctx, path, text, 3000000)); /* longer than a piece */
    OK(bn_sha256_file(ctx, path, &bytes, sum));
    char whole[BN_SHA256_TEXT];
    OK(bn_sha256(ctx, text, 3000000, whole));
    ck_assert_str_eq(sum, whole);
    free(text);
    (void)unlink(path);
}

int main(void) { return bn_test_main("checkpoint", open_folder, close_folder); }
