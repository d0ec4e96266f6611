/* test_issue_22_lock.c: one run at a time in an output directory, whatever its lock file says or who removes it; none
 * is locked after a kill. The flock of this file stands before the C library's. */
#define _DEFAULT_SOURCE /* syscall */
#include "support_case.h"

#include "api/embedded_files.h"
#include "output/output_dir.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bn_case *config;
static char lock[4200], summary[4200];
static void (*meanwhile)(void); /* what others do between the opening of the lock file and the lock */

int flock(int fd, int operation);
int flock(int fd, int operation)
{
    void (*others)(void) = meanwhile;
    meanwhile = NULL;
    if (others)
        others();
    return (int)syscall(SYS_flock, fd, operation);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert(f && fputs(text, f) >= 0);
    ck_assert_int_eq(fclose(f), 0);
}

static void open_locked(void)
{
    const bn_embedded *file = bn_embedded_files;
    open_folder();
    while (file->name && strcmp(file->name, "selftest/flow.toml") != 0)
        file++;
    ck_assert_ptr_nonnull(file->name);
    OK(bn_case_parse(ctx, file->name, file->text, NULL, 0, &config));
    snprintf(lock, sizeof lock, "%s/.binnacle-lock", test_folder);
    snprintf(summary, sizeof summary, "%s/summary.json", test_folder);
}

static void close_locked(void)
{
    bn_case_destroy(&config);
    close_folder();
}

static bn_output_dir *enter(void)
{
    bn_output_dir *f;
    OK(bn_output_dir_open(ctx, test_folder, config, BN_OUTPUT_DIR_NEW, &f));
    ck_assert_int_eq(access(lock, F_OK), 0);
    return f;
}

static void refused(const char *why)
{
    bn_output_dir *f;
    ck_assert_int_eq(bn_output_dir_open(ctx, test_folder, config, BN_OUTPUT_DIR_NEW, &f), BN_IO);
    ck_assert_msg(strstr(bn_error_text(ctx), why) != NULL, "%s", bn_error_text(ctx));
    bn_error_clear(ctx);
}

static void leave(bn_output_dir *f)
{
    bn_output_dir_close(&f);
    ck_assert_int_ne(access(lock, F_OK), 0);
}

static void gone(char text[300])
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    snprintf(text, 300, "4194300 %s\n", host); /* above pid_max of most machines */
}

TEST(a_lock_is_not_judged_by_its_text)
{
    char text[300];
    bn_output_dir *first = enter();
    refused("another run (process ");
    gone(text);
    write_text(lock, text); /* what another run has read before this one took the lock over */
    refused("another run (process 4194300 on ");
    leave(first);
    snprintf(text, sizeof text, "%ld elsewhere\n", (long)getpid());
    write_text(lock, text); /* of a killed run of another machine */
    leave(enter());
}

TEST(a_killed_run_leaves_no_lock)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        bn_output_dir *f = enter();
        for (ssize_t n = write(ready[1], "", 1); f && n == 1;)
            pause();
        _exit(1);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    refused("another run (process ");
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(access(lock, F_OK), 0);
    leave(enter());
    close(ready[0]);
    close(ready[1]);
}

TEST(a_run_killed_before_its_case_was_written_leaves_the_folder_usable)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/.binnacle-1-0.tmp", test_folder);
    write_text(path, "");
    leave(enter());
    ck_assert_int_ne(access(path, F_OK), 0);
}

static void owner_leaves(void) { ck_assert_int_eq(unlink(lock), 0); }

TEST(the_lock_of_a_removed_file_is_none)
{
    meanwhile = owner_leaves;
    bn_output_dir *f = enter();
    ck_assert(!meanwhile);
    refused("another run (process ");
    leave(f);
}

static void other_ends(void) { write_text(summary, "{}\n"); }

TEST(results_of_a_run_that_ended_meanwhile_stay)
{
    leave(enter()); /* its case.toml makes the directory ours */
    meanwhile = other_ends;
    refused("holds the results of an earlier run");
    ck_assert_int_eq(access(summary, F_OK), 0);
    ck_assert_int_ne(access(lock, F_OK), 0);
}

int main(void) { return bn_test_main("issue-22-lock", open_locked, close_locked); }
