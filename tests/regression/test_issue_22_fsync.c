/* test_issue_22_fsync.c: an fsync that fails once while a checkpoint is written is told, and a whole checkpoint stays;
 * names of new folders are synced.
 * The fsync of this file stands before the C library's. */
#include "support_case.h"

#include "api/embedded_files.h"
#include "io/file.h"
#include "sim/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int until_failure; /* the call that fails; 0: none */
static ino_t synced[8];   /* of the last calls */
static size_t syncs;

/* What Linux does when a disk fails: the bytes are lost, the error is told once, and the next call succeeds. */
int fsync(int fd)
{
    struct stat s;
    synced[syncs++ % 8] = fstat(fd, &s) == 0 ? s.st_ino : 0;
    if (until_failure == 0 || --until_failure > 0)
        return fdatasync(fd);
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode))
        ck_assert_int_eq(ftruncate(fd, 0), 0);
    errno = EIO;
    return -1;
}

TEST(a_failed_fsync_is_told_and_a_checkpoint_stays)
{
    const bn_embedded *file = bn_embedded_files;
    while (file->name && strcmp(file->name, "selftest/flow.toml") != 0)
        file++;
    ck_assert_ptr_nonnull(file->name);
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/fsync-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    bn_case *c;
    bn_sim *sim;
    OK(bn_case_parse(ctx, file->name, file->text, NULL, 0, &c));
    OK(bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &sim));
    bool failed = false;
    int calls = 0;
    do { /* the first is written without a failure */
        OK(bn_sim_step(sim));
        bn_checkpoint_writer *s;
        bn_checkpoint *saved;
        OK(bn_checkpoint_writer_begin(sim, folder, 0, &s));
        until_failure = calls;
        const bn_status st = bn_checkpoint_writer_write(ctx, s);
        failed = calls > 0 && until_failure == 0;
        until_failure = 0;
        bn_checkpoint_writer_release(&s);
        ck_assert_msg(st == (failed ? BN_IO : BN_OK), "fsync %d: status %d", calls, (int)st);
        ck_assert(!failed || strstr(bn_error_text(ctx), strerror(EIO)));
        bn_error_clear(ctx);
        OK(bn_checkpoint_open(ctx, folder, &saved));
        bn_checkpoint_close(&saved);
        calls++;
    } while (failed || calls == 1);
    ck_assert_int_ge(calls, 6); /* the part, the manifest, the folder after each, and one call more that is not made */
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    bn_checkpoint_remove(ctx, folder);
}

/* What is synced in a folder is lost with a folder whose own name is not. */
TEST(names_of_new_folders_are_synced)
{
    char folder[4096], below[4200];
    struct stat s;
    snprintf(folder, sizeof folder, "%s/fsync-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(below, sizeof below, "%s/a/b", folder);
    syncs = 0;
    OK(bn_directory_create(ctx, below));
    ck_assert_uint_eq(syncs, 2);
    for (size_t i = 2; i-- > 0;) { /* the folder of b, then that of a */
        ck_assert_int_eq(rmdir(below), 0);
        *strrchr(below, '/') = '\0';
        ck_assert(stat(below, &s) == 0 && s.st_ino == synced[i]);
    }
    ck_assert_int_eq(rmdir(below), 0);
}

int main(void) { return bn_test_main("issue-22-fsync", open_context, close_context); }
