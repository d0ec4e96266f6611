/* selftest.c: known answers before the first run on a device. The answers are the reference's, on the cases
 * data/cases/NAME/selftest*.toml that travel inside the program; device and reference must agree in every bit, or
 * within the solver's tolerance. */
#include "run/selftest.h"
#include "api/ranks.h"

#include "api/embedded_files.h"
#include "io/file.h"
#include "run/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BN_SELFTEST_SECONDS = 300 };

bool bn_selftest_is_of(const char *name, const char *solver)
{
    const size_t length = strlen(solver);
    return strncmp(name, "selftest/", 9) == 0 && strncmp(name + 9, solver, length) == 0 &&
           (name[9 + length] == '/' || strcmp(name + 9 + length, ".toml") == 0);
}

static size_t case_count(const char *solver)
{
    size_t count = 0;
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        count += bn_selftest_is_of(f->name, solver);
    return count;
}

static bn_status compare(bn_context *ctx, bn_device *device, const bn_embedded *file, bool double_precision,
                         const bn_selftest_watch *watch)
{
    const char *overrides[] = { double_precision ? "case.precision=double" : "case.precision=single" };
    bn_case *c = NULL;
    bn_verify_report report;
    bn_status st = BN_OK;
    BN_GO(bn_case_parse(ctx, file->name, file->text, overrides, 1, &c));
    BN_GO(bn_verify_run(ctx, c, &(bn_sim_desc){ .device = device }, 1000, &report));
    if (watch)
        watch->result(watch->user, file->name + strlen("selftest/"), &report);
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

bn_status bn_selftest_here(bn_context *ctx, const char *solver, const char *selector, bool double_precision,
                           bn_selftest_part part, const bn_selftest_watch *watch)
{
    bn_device *device = NULL;
    size_t number = 0;
    bn_status st = BN_OK;
    if (case_count(solver) == 0)
        return bn_fail(ctx, BN_USAGE, "solver %s has no self-test", solver);
    bn_context_share_machine(ctx, (int)part.index, (int)part.count);
    BN_GO(bn_device_open(ctx, selector, false, &device));
    for (const bn_embedded *f = bn_embedded_files; f->name; f++) {
        if (!bn_selftest_is_of(f->name, solver) || number++ % part.count != part.index)
            continue;
        const bn_status now = compare(ctx, device, f, double_precision, watch);
        st = st == BN_OK ? now : st;
        if (now != BN_OK && !(watch && now == BN_MISMATCH))
            break;
    }
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
    if (bn_directory_create(own, folder) != BN_OK || bn_file_write(own, path, text, strlen(text)) != BN_OK)
        bn_log(ctx, BN_LOG_DEBUG, "%s", bn_error_text(own));
    bn_context_destroy(&own);
}

/* A child process that runs a part of the cases, and what it has said. */
typedef struct bn_selftest_child {
    pid_t pid;
    int channel; /* its standard output and error; < 0: closed */
    int status;  /* of waitpid, once it has ended */
    bool running, hung;
    char said[4096];
    size_t said_bytes;
} bn_selftest_child;

/* Takes what the child has said up to now. What goes beyond the room is dropped: no child waits for a reader. */
static void listen(bn_selftest_child *c)
{
    char rest[4096];
    for (;;) {
        const bool full = c->said_bytes + 1 >= sizeof c->said;
        const ssize_t n = read(c->channel, full ? rest : c->said + c->said_bytes,
                               full ? sizeof rest : sizeof c->said - 1 - c->said_bytes);
        if (n <= 0)
            return;
        if (!full)
            c->said[c->said_bytes += (size_t)n] = '\0';
    }
}

static bn_status start_child(bn_context *ctx, const char *const *arguments, bn_selftest_child *c)
{
    int channel[2];
    c->channel = -1;
    if (pipe(channel) != 0)
        return bn_fail(ctx, BN_IO, "self-test: %s", strerror(errno));
    (void)fcntl(channel[0], F_SETFL, O_NONBLOCK); /* what keeps the other end open may outlive the child */
    (void)fcntl(channel[0], F_SETFD, FD_CLOEXEC);
    c->pid = fork();
    if (c->pid == 0) { /* only calls that are safe after fork: the new program starts from nothing */
        dup2(channel[1], STDERR_FILENO);
        dup2(channel[1], STDOUT_FILENO);
        close(channel[1]);
        execv(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    close(channel[1]);
    c->channel = channel[0];
    c->running = c->pid > 0;
    return c->running ? BN_OK : bn_fail(ctx, BN_IO, "self-test: no child process: %s", strerror(errno));
}

static bool has_passed(const bn_selftest_child *c)
{
    return !c->running && !c->hung && WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0;
}

static void kill_child(bn_selftest_child *c)
{
    kill(c->pid, SIGKILL);
    while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
        continue;
    c->running = false;
}

/* Waits for all children, at most BN_SELFTEST_SECONDS. The number of the first one that did not pass, or `count`. */
static size_t wait_for_children(bn_selftest_child *children, size_t count)
{
    struct timespec start, now, pause = { 0, 5000000 };
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (size_t running = count; running > 0;) {
        running = 0;
        clock_gettime(CLOCK_MONOTONIC, &now);
        for (size_t i = 0; i < count; i++) {
            bn_selftest_child *c = &children[i];
            if (!c->running)
                continue;
            const pid_t done = waitpid(c->pid, &c->status, WNOHANG);
            c->running = done == 0 || (done < 0 && errno == EINTR);
            listen(c);
            if (c->running && now.tv_sec - start.tv_sec >= BN_SELFTEST_SECONDS) {
                kill_child(c);
                c->hung = true;
            }
            if (!c->running && !has_passed(c))
                return i;
            running += c->running;
        }
        if (running > 0)
            nanosleep(&pause, NULL);
    }
    return count;
}

/* Tells how the child failed. */
static bn_status tell_failure(bn_context *ctx, const bn_device_info *info, const char *solver,
                              const bn_selftest_child *c)
{
    const bool ended = !c->hung && WIFEXITED(c->status);
    const bool differs = ended && WEXITSTATUS(c->status) == bn_exit_code(BN_MISMATCH);
    const char *how = c->hung ? "hung and was stopped" : !ended ? "crashed" : "failed";
    const bn_status st = bn_fail(ctx, differs ? BN_MISMATCH : BN_DEVICE,
                                 "the self-test of %s %s on %s (%s, driver %s): this device can't be trusted with it",
                                 solver, how, info->name, info->platform, info->driver);
    if (c->said[0])
        bn_note(ctx, "it said: %s", c->said);
    bn_note(ctx, "another driver version may help; --device picks another device, %s",
            differs ? "run --force goes on all the same" : "BINNACLE_SELFTEST=off leaves out the test");
    return st;
}

/* Compiling takes most of the time: the cases are shared out over processes, as many as there are processors. An
 * implementation that must not be used by two processes at once is not known; caches that can't be shared are kept
 * apart (bn_context_share_machine). */
static bn_status run_children(bn_context *ctx, const bn_device_info *info, const char *solver, bool double_precision,
                              const char *program)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t cases = case_count(solver), most = processors > 1 ? (size_t)processors : 1;
    const size_t count = cases < most ? cases : most;
    bn_selftest_child *children = calloc(count, sizeof *children);
    if (!children)
        return bn_fail(ctx, BN_MEMORY, "no memory for the self-test of %s", solver);
    char index[32], part[64];
    bn_status st = BN_OK;
    size_t started = 0;
    snprintf(index, sizeof index, "%zu", info->index);
    for (; started < count && st == BN_OK; started++) {
        snprintf(part, sizeof part, "%zu/%zu", started + 1, count);
        st = start_child(ctx,
                         (const char *const[]){ program, "self-test", solver, part, "--device", index, "--precision",
                                                double_precision ? "double" : "single", NULL },
                         &children[started]);
    }
    const size_t failed = st == BN_OK ? wait_for_children(children, count) : count;
    if (failed < count)
        st = tell_failure(ctx, info, solver, &children[failed]);
    for (size_t i = 0; i < started; i++) {
        if (children[i].running)
            kill_child(&children[i]);
        if (children[i].channel >= 0)
            close(children[i].channel);
    }
    free(children);
    return st;
}

bn_status bn_selftest_ensure(bn_context *ctx, const bn_device_info *info, const char *solver, bool double_precision,
                             const char *program, bn_selftest_outcome *outcome)
{
    char path[4096];
    const char *wish = getenv("BINNACLE_SELFTEST");
    *outcome = BN_SELFTEST_SKIPPED;
    if ((wish && strcmp(wish, "off") == 0) || case_count(solver) == 0 || (double_precision && !info->fp64))
        return BN_OK;
    bool keeps = passed_path(ctx, info, solver, double_precision, path, sizeof path);
    if (bn_error_status(ctx) != BN_OK) /* an override folder that can't be read */
        return bn_error_status(ctx);
    *outcome = BN_SELFTEST_KNOWN;
    if (keeps && access(path, R_OK) == 0)
        return BN_OK;
    *outcome = BN_SELFTEST_PASSED;
    BN_TRY(run_children(ctx, info, solver, double_precision, program));
    if (keeps)
        remember(ctx, path, info, solver);
    return BN_OK;
}

const char *bn_selftest_outcome_text(bn_selftest_outcome outcome)
{
    return outcome == BN_SELFTEST_PASSED ? "passed now" : outcome == BN_SELFTEST_KNOWN ? "passed earlier" : "skipped";
}
