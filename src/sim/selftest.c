/* selftest.c: known answers before the first run on a device. The answers are the reference's, on the cases
 * data/cases/NAME/selftest*.toml that travel inside the program; device and reference must agree in every bit, or
 * within the solver's tolerance. */
#include "sim/selftest.h"

#include "api/embedded_files.h"
#include "io/file.h"
#include "sim/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BN_SELFTEST_SECONDS = 120 };

bool bn_selftest_is_of(const char *name, const char *solver)
{
    const size_t length = strlen(solver);
    return strncmp(name, "selftest/", 9) == 0 && strncmp(name + 9, solver, length) == 0 &&
           (name[9 + length] == '/' || strcmp(name + 9 + length, ".toml") == 0);
}

static bool has_cases(const char *solver)
{
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        if (bn_selftest_is_of(f->name, solver))
            return true;
    return false;
}

static bn_status compare(bn_context *ctx, bn_device *device, const bn_embedded *file, bool double_precision)
{
    const char *overrides[] = { double_precision ? "case.precision=double" : "case.precision=single" };
    bn_case *c = NULL;
    bn_verify_report report;
    bn_status st = BN_OK;
    BN_GO(bn_case_parse(ctx, file->name, file->text, overrides, 1, &c));
    BN_GO(bn_verify_run(ctx, c, &(bn_sim_desc){ .device = device }, 1000, &report));
    for (size_t r = 0; r < report.count; r++)
        if (!report.rows[r].ok) {
            st = bn_fail(ctx, BN_MISMATCH, "field %s differs from the reference by %.3g (%.0f ULPs) in %s",
                         report.rows[r].field, report.rows[r].max_difference, report.rows[r].ulps, file->name);
            goto out;
        }
out:
    bn_case_destroy(&c);
    return st;
}

bn_status bn_selftest_here(bn_context *ctx, const char *solver, const char *selector, bool double_precision)
{
    bn_device *device = NULL;
    bn_status st = BN_OK;
    if (!has_cases(solver))
        return bn_fail(ctx, BN_USAGE, "solver %s has no self-test", solver);
    BN_GO(bn_device_open(ctx, selector, false, &device));
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        if (bn_selftest_is_of(f->name, solver))
            BN_GO(compare(ctx, device, f, double_precision));
out:
    bn_device_close(&device);
    return st;
}

/* <cache>/selftest/HASH.txt over everything that the outcome depends on; false when there is no cache. */
static bool passed_path(bn_context *ctx, const bn_device_info *info, const char *solver, bool double_precision,
                        char *path, size_t room)
{
    const char *dir = bn_context_cache_dir(ctx);
    uint64_t h;
    if (!dir || bn_kernels_hash(ctx, &h) != BN_OK)
        return false;
    const char *const parts[] = { bn_version(),
                                  info->name,
                                  info->platform,
                                  info->driver,
                                  info->version,
                                  solver,
                                  double_precision ? "double" : "single" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        h = bn_hash(h, parts[i], strlen(parts[i]) + 1);
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        if (bn_selftest_is_of(f->name, solver))
            h = bn_hash(h, f->text, strlen(f->text) + 1);
    return snprintf(path, room, "%s/selftest/%016llx.txt", dir, (unsigned long long)h) < (int)room;
}

static void remember(bn_context *ctx, const char *path, const bn_device_info *info, const char *solver)
{
    char text[1024], folder[4096];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    int n = snprintf(text, sizeof text, "%s passed its self-test on %s, %s, driver %s\n", solver, info->name,
                     info->platform, info->driver);
    /* Not being able to remember is no failure of the run: it is only tested again. */
    bn_context *own;
    if (n < 0 || bn_context_create(&(bn_context_desc){ .cache_dir = "" }, &own) != BN_OK)
        return;
    if (bn_folder_create(own, folder) != BN_OK || bn_file_write(own, path, text, strlen(text)) != BN_OK)
        bn_log(ctx, BN_LOG_DEBUG, "%s", bn_error_text(own));
    bn_context_destroy(&own);
}

/* Takes what the child has said up to now; what goes beyond `room` is dropped, so that no child waits for a reader. */
static void listen(int channel, char *said, size_t room, size_t *at)
{
    char rest[4096];
    for (;;) {
        const bool full = *at + 1 >= room;
        const ssize_t n = read(channel, full ? rest : said + *at, full ? sizeof rest : room - 1 - *at);
        if (n <= 0)
            return;
        if (!full)
            said[*at += (size_t)n] = '\0';
    }
}

/* Waits for the child at most BN_SELFTEST_SECONDS, collecting what it says; false when it had to be killed. */
static bool wait_for(pid_t child, int channel, char *said, size_t room, int *status)
{
    size_t at = 0;
    struct timespec start, now, pause = { 0, 5000000 };
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        listen(channel, said, room, &at);
        pid_t done = waitpid(child, status, WNOHANG);
        if (done == child || (done < 0 && errno != EINTR))
            break;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - start.tv_sec >= BN_SELFTEST_SECONDS) {
            kill(child, SIGKILL);
            waitpid(child, status, 0);
            return false;
        }
        nanosleep(&pause, NULL);
    }
    listen(channel, said, room, &at);
    return true;
}

static bn_status run_child(bn_context *ctx, const bn_device_info *info, const char *solver, bool double_precision,
                           const char *program)
{
    char index[32], said[4096] = "";
    int channel[2], status = 0;
    snprintf(index, sizeof index, "%zu", info->index);
    if (pipe(channel) != 0)
        return bn_fail(ctx, BN_IO, "self-test: %s", strerror(errno));
    (void)fcntl(channel[0], F_SETFL, O_NONBLOCK); /* what keeps the other end open may outlive the child */
    pid_t child = fork();
    if (child == 0) { /* only calls that are safe after fork: the new program starts from nothing */
        dup2(channel[1], STDERR_FILENO);
        dup2(channel[1], STDOUT_FILENO);
        close(channel[0]);
        close(channel[1]);
        execl(program, program, "self-test", solver, "--device", index, "--precision",
              double_precision ? "double" : "single", (char *)NULL);
        _exit(127);
    }
    close(channel[1]);
    if (child < 0) {
        close(channel[0]);
        return bn_fail(ctx, BN_IO, "self-test: no child process: %s", strerror(errno));
    }
    bool in_time = wait_for(child, channel[0], said, sizeof said, &status);
    close(channel[0]);
    if (in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return BN_OK;
    const bool ended = in_time && WIFEXITED(status), differs = ended && WEXITSTATUS(status) == bn_exit_code(BN_MISMATCH);
    const char *how = !in_time ? "hung and was stopped" : !ended ? "crashed" : "failed";
    const bn_status st = bn_fail(ctx, differs ? BN_MISMATCH : BN_DEVICE,
                                 "the self-test of %s %s on %s (%s, driver %s): this device can't be trusted with it",
                                 solver, how, info->name, info->platform, info->driver);
    if (said[0])
        bn_note(ctx, "it said: %s", said);
    bn_note(ctx, "another driver version may help; --device picks another device, %s",
            differs ? "run --force goes on all the same" : "BINNACLE_SELFTEST=off leaves out the test");
    return st;
}

bn_status bn_selftest_ensure(bn_context *ctx, const bn_device_info *info, const char *solver, bool double_precision,
                             const char *program, bn_selftest_outcome *outcome)
{
    char path[4096];
    const char *wish = getenv("BINNACLE_SELFTEST");
    *outcome = BN_SELFTEST_SKIPPED;
    if ((wish && strcmp(wish, "off") == 0) || !has_cases(solver) || (double_precision && !info->fp64))
        return BN_OK;
    bool keeps = passed_path(ctx, info, solver, double_precision, path, sizeof path);
    if (bn_error_status(ctx) != BN_OK) /* an override folder that can't be read */
        return bn_error_status(ctx);
    *outcome = BN_SELFTEST_KNOWN;
    if (keeps && access(path, R_OK) == 0)
        return BN_OK;
    *outcome = BN_SELFTEST_PASSED;
    BN_TRY(run_child(ctx, info, solver, double_precision, program));
    if (keeps)
        remember(ctx, path, info, solver);
    return BN_OK;
}

const char *bn_selftest_outcome_text(bn_selftest_outcome outcome)
{
    return outcome == BN_SELFTEST_PASSED ? "passed now" : outcome == BN_SELFTEST_KNOWN ? "passed earlier" : "skipped";
}
