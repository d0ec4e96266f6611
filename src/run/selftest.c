/* selftest.c: known answers before the first run on a device. The answers are the reference's, on the cases
 * data/cases/NAME/selftest*.toml that travel inside the program; device and reference must agree in every bit, or
 * within the solver's tolerance. */
#include "run/selftest.h"
#include "api/device.h"
#include "api/ranks.h"

#include "api/embedded_files.h"
#include "io/file.h"
#include "run/compile_aside.h"
#include "run/first_steps.h"
#include "sim/solver_table.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first steps of a run are waited for as long as the test took, or so long. */
static const double first_steps_seconds = 3;
enum { BN_SELFTEST_SECONDS = 300, BN_CLOSING_SECONDS = 30, BN_SELFTEST_CASES = 64 };
static const double points_set_up_twice = 4e6, points_held_twice = 1e6;

/* Cases of a solver, as long as the program; with paths where it is kept that they have passed. */
typedef struct selftest_cases {
    const bn_embedded *file[BN_SELFTEST_CASES];
    char *path[BN_SELFTEST_CASES]; /* NULL: there is no such place */
    size_t count;
} selftest_cases;

bool bn_selftest_is_of(const char *name, const char *solver)
{
    const size_t length = strlen(solver);
    return strncmp(name, "selftest/", 9) == 0 && strncmp(name + 9, solver, length) == 0 &&
           (name[9 + length] == '/' || strcmp(name + 9 + length, ".toml") == 0);
}

static bool is_listed(const char *const *list, const char *name)
{
    while (*list && strcmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

/* The self-test cases of a solver, or those that are named. */
static selftest_cases find_cases(const char *solver, const char *const *names)
{
    selftest_cases all = { .count = 0 };
    for (const bn_embedded *f = bn_embedded_files; f->name && all.count < BN_SELFTEST_CASES; f++)
        if (bn_selftest_is_of(f->name, solver) && (!names || !*names || is_listed(names, f->name)))
            all.file[all.count++] = f;
    return all;
}

static bn_status read_case(bn_context *ctx, const bn_embedded *file, bool double_precision, bn_case **out)
{
    const char *overrides[] = { double_precision ? "case.precision=double" : "case.precision=single" };
    return bn_case_parse(ctx, file->name, file->text, overrides, 1, out);
}

static bn_status compare(bn_context *ctx, bn_device *device, const bn_embedded *file, bool double_precision,
                         const bn_selftest_watch *watch)
{
    bn_case *c = NULL;
    bn_verify_report report;
    bn_status st = BN_OK;
    BN_GO(read_case(ctx, file, double_precision, &c));
    BN_GO(bn_verify_run(ctx, c, &(bn_sim_desc){ .device = device }, 1000, &report));
    if (watch)
        watch->result(watch->user, file->name + strlen("selftest/"), &report);
    for (size_t r = 0; r < report.count; r++)
        if (!report.rows[r].ok)
            BN_GO(bn_fail(ctx, BN_MISMATCH, "field %s differs from the reference by %.3g (%.0f ULPs) in %s",
                          report.rows[r].field, report.rows[r].max_difference, report.rows[r].ulps, file->name));
out:
    bn_case_destroy(&c);
    return st;
}

bn_status bn_selftest_here(bn_context *ctx, const char *solver, const char *selector, bool double_precision,
                           bn_selftest_part part, const bn_selftest_watch *watch)
{
    bn_device *device = NULL;
    const selftest_cases cases = find_cases(solver, part.cases);
    bn_status st = BN_OK;
    if (cases.count == 0)
        return bn_fail(ctx, BN_USAGE, "solver %s has no self-test", solver);
    bn_context_share_machine(ctx, (int)part.index, (int)part.count);
    if (part.serves) {
        const bn_device_info *all;
        size_t count;
        bn_devices_one_queue();
        BN_TRY(bn_devices(ctx, &all, &count)); /* while others open theirs */
        BN_TRY(bn_aside_wait(ctx));
    }
    BN_GO(bn_device_open(ctx, selector, false, &device));
    if (part.serves)
        BN_GO(bn_aside_serve(device, ctx));
    if (part.first_steps)
        BN_GO(bn_first_steps_here(ctx, device, part.first_steps));
    for (size_t i = part.index; part.index < part.count && i < cases.count; i += part.count) {
        const bn_status now = compare(ctx, device, cases.file[i], double_precision, watch);
        st = st == BN_OK ? now : st;
        if (now != BN_OK && !(watch && now == BN_MISMATCH))
            break;
    }
    if (part.serves && st == BN_OK)
        st = bn_aside_pass(ctx);
out:
    bn_device_close(&device);
    return st;
}

/* What a run needs of a device: kernels, and what its plan announced beside them (bn_plan_needs). */
enum { BN_NEEDS = 128 };

static size_t list_needs(const bn_plan *p, const char *out[BN_NEEDS])
{
    size_t count = 0;
    for (const bn_kernel_desc *k = p->solver->kernels; k->name && count < BN_NEEDS; k++) {
        size_t i = 0;
        while (i < p->define_count &&
               (p->defines[i].kind != BN_DEF_LEFT_OUT || strcmp(p->defines[i].name, k->name) != 0))
            i++;
        if (i == p->define_count)
            out[count++] = k->name;
    }
    for (size_t i = 0; i < p->needs.count && count < BN_NEEDS; i++)
        out[count++] = p->needs.names[i];
    return count;
}

/* Whether two plans agree in the constants that the solver names (bn_solver.selftest_constants). */
static bool constants_agree(const bn_plan *one, const bn_plan *other)
{
    for (const char *const *name = one->solver->selftest_constants; name && *name; name++) {
        long long value[2] = { 0 };
        for (size_t i = 0; i < one->define_count; i++)
            value[0] = strcmp(one->defines[i].name, *name) == 0 ? one->defines[i].u.i : value[0];
        for (size_t i = 0; i < other->define_count; i++)
            value[1] = strcmp(other->defines[i].name, *name) == 0 ? other->defines[i].u.i : value[1];
        if (value[0] != value[1])
            return false;
    }
    return true;
}

/* Which needs of a run a case meets; none, if it differs in constants. */
static bn_status find_met(bn_context *ctx, const bn_device_info *info, const bn_plan *run, const bn_embedded *file,
                          const char *const *needs, size_t count, bool *met)
{
    bn_case *c = NULL;
    bn_plan *plan = NULL;
    const char *own[BN_NEEDS + 1] = { NULL };
    bn_status st = BN_OK;
    void *state = calloc(1, run->solver->state_size);
    if (!state)
        return bn_fail(ctx, BN_MEMORY, "no memory for a self-test of %s", run->solver->name);
    BN_GO(read_case(ctx, file, run->precision == BN_DOUBLE, &c));
    BN_GO(bn_plan_create(ctx, c, info, 1, state, &plan));
    if (constants_agree(run, plan))
        list_needs(plan, own);
    for (size_t i = 0; i < count; i++)
        met[i] = is_listed(own, needs[i]);
out:
    bn_plan_destroy(&plan);
    bn_case_destroy(&c);
    free(state);
    return st;
}

/* Leaves few cases that meet all needs of the run, each time the one that meets most of those left; all cases, if there
 * is no need, or a kernel of the run is in no case that agrees with it in constants. */
static bn_status keep_needed(bn_context *ctx, const bn_device_info *info, const bn_plan *run, selftest_cases *cases)
{
    static const char nothing[] = "";
    const char *needs[BN_NEEDS];
    bool met[BN_SELFTEST_CASES][BN_NEEDS];
    const size_t count = list_needs(run, needs), kernels = count - run->needs.count;
    selftest_cases kept = { .count = 0 };
    for (size_t i = 0; i < cases->count; i++)
        BN_TRY(find_met(ctx, info, run, cases->file[i], needs, count, met[i]));
    for (;;) {
        size_t best = 0, most = 0;
        for (size_t i = 0; i < cases->count; i++) {
            size_t meets = 0;
            for (size_t n = 0; n < count; n++)
                meets += needs[n] != nothing && met[i][n];
            if (meets > most)
                best = i, most = meets;
        }
        if (most == 0)
            break;
        for (size_t n = 0; n < count; n++)
            needs[n] = met[best][n] ? nothing : needs[n];
        kept.file[kept.count++] = cases->file[best];
    }
    for (size_t n = 0; n < kernels; n++)
        if (needs[n] != nothing)
            return BN_OK;
    if (kept.count > 0)
        *cases = kept;
    return BN_OK;
}

/* <cache>/selftest/HASH.txt, of the device and what is `known` about it; NULL: there is no cache, or no memory. */
static char *path_of(bn_context *ctx, const bn_device_info *info, uint64_t known)
{
    const char *dir = bn_context_cache_dir(ctx);
    const char *const parts[] = { bn_version(), info->name, info->platform, info->driver, info->version };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        known = bn_hash(known, parts[i], strlen(parts[i]) + 1);
    const size_t room = dir ? strlen(dir) + 64 : 0;
    char *path = dir ? malloc(room) : NULL;
    if (path)
        snprintf(path, room, "%s/selftest/%016llx.txt", dir, (unsigned long long)known);
    return path;
}

/* Fills in the paths, over everything that a case's outcome depends on, if there is a cache. */
static bn_status find_paths(bn_context *ctx, const bn_device_info *info, const char *solver, bool double_precision,
                            selftest_cases *cases)
{
    const char *const parts[] = { solver, double_precision ? "double" : "single" };
    uint64_t h;
    if (!bn_context_cache_dir(ctx))
        return BN_OK;
    BN_TRY(bn_kernels_hash(ctx, &h));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        h = bn_hash(h, parts[i], strlen(parts[i]) + 1);
    for (size_t i = 0; i < cases->count; i++) {
        const bn_embedded *f = cases->file[i];
        if (!(cases->path[i] = path_of(
                  ctx, info, bn_hash(bn_hash(h, f->name, strlen(f->name) + 1), f->text, strlen(f->text) + 1))))
            return bn_fail(ctx, BN_MEMORY, "no memory for the self-test of %s", solver);
    }
    return BN_OK;
}

/* Leaves those that have not passed yet. */
static void keep_untested(selftest_cases *cases)
{
    size_t left = 0;
    for (size_t i = 0; i < cases->count; i++) {
        char *path = cases->path[i];
        if (path && access(path, R_OK) == 0) {
            free(path);
            continue;
        }
        cases->file[left] = cases->file[i];
        cases->path[left++] = path;
    }
    cases->count = left;
}

/* Waits until no other process does this test: many that start at once would all do it, and run into its time limit.
 * The file to close afterwards; -1 where there can be no lock, and all test. */
static int wait_for_turn(bn_context *ctx, const char *path)
{
    char name[4200];
    snprintf(name, sizeof name, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (mkdir(name, 0700) != 0 && errno != EEXIST)
        bn_log(ctx, BN_LOG_DEBUG, "%s: %s", name, strerror(errno));
    snprintf(name, sizeof name, "%s.lock", path);
    const int fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) != 0)
        bn_log(ctx, BN_LOG_DEBUG, "%s: %s", name, strerror(errno));
    return fd;
}

static void remember(bn_context *ctx, const char *path, const bn_device_info *info, const char *name, const char *what)
{
    char text[1024];
    int n = snprintf(text, sizeof text, "%s %s on %s, %s, driver %s\n", name, what, info->name, info->platform,
                     info->driver);
    /* Not being able to remember is no failure of the run: it is only tested again. */
    bn_context *own;
    if (n < 0 || bn_context_create(&(bn_context_desc){ .cache_dir = "" }, &own) != BN_OK)
        return;
    if (bn_file_write(own, path, text, strlen(text)) != BN_OK)
        bn_log(ctx, BN_LOG_DEBUG, "%s", bn_error_text(own));
    bn_context_destroy(&own);
}

static bool has_passed(bn_child *c)
{
    return bn_aside_passed(c) || (!c->running && c->end == BN_CHILD_EXITED && c->code == 0);
}

/* Waits until all have passed, at most BN_SELFTEST_SECONDS. The number of the first one that did not pass, or `count`.
 */
static size_t wait_for_children(bn_child *children, size_t count)
{
    const double start = bn_seconds_now();
    for (size_t waiting = count; waiting > 0;) {
        (void)bn_child_poll(children, count);
        waiting = 0;
        for (size_t i = 0; i < count; i++) {
            const bool passed = has_passed(&children[i]);
            if (!passed && bn_seconds_now() - start > BN_SELFTEST_SECONDS)
                bn_child_kill(&children[i]);
            if (!passed && !children[i].running)
                return i;
            waiting += !passed;
        }
    }
    return count;
}

/* Moves children that still run, or crashed after they had passed, to those that close the device; where there is no
 * memory they stay. */
static void move_running(bn_selftest_closing *to, bn_child *children, size_t count)
{
    bn_child *all = realloc(to->children, (to->count + count) * sizeof *all);
    if (!all)
        return;
    to->children = all;
    for (size_t i = 0; i < count; i++)
        if (children[i].running || (children[i].end == BN_CHILD_CRASHED && bn_aside_passed(&children[i]))) {
            all[to->count++] = children[i];
            children[i] = (bn_child){ .socket = -1, .output = -1 };
        }
}

void bn_selftest_close(bn_context *ctx, bn_selftest_closing *c)
{
    const double start = bn_seconds_now();
    while (c->count > 0 && bn_child_poll(c->children, c->count) > 0 && bn_seconds_now() - start < BN_CLOSING_SECONDS)
        continue;
    for (size_t i = 0; i < c->count; i++) {
        bn_child *child = &c->children[i];
        char how[64];
        bn_child_kill(child);
        bn_child_end_text(child, how);
        if (child->end != BN_CHILD_EXITED)
            bn_log(ctx, BN_LOG_WARNING,
                   "a process of the self-test that had done its part %s as it closed the device%s%.4000s", how,
                   child->said[0] ? ": " : "", child->said);
        bn_child_release(child);
    }
    free(c->children);
    *c = (bn_selftest_closing){ .count = 0 };
}

/* Tells how the child failed over something of the solver. */
static bn_status tell_failure(bn_context *ctx, const bn_device_info *info, const char *what, const char *solver,
                              const bn_child *c)
{
    const bool differs = c->end == BN_CHILD_EXITED && c->code == bn_exit_code(BN_MISMATCH);
    const char *how = c->end == BN_CHILD_HUNG      ? "hung and was stopped"
                      : c->end == BN_CHILD_CRASHED ? "crashed"
                                                   : "failed";
    const bn_status st = bn_fail(ctx, differs ? BN_MISMATCH : BN_DEVICE,
                                 "%s of %s %s on %s (%s, driver %s): this device can't be trusted with it", what,
                                 solver, how, info->name, info->platform, info->driver);
    if (c->said[0])
        bn_note(ctx, "it said: %.4000s", c->said);
    bn_note(ctx, "another driver version may help; --device picks another device, %s",
            differs ? "run --force goes on all the same" : "BINNACLE_SELFTEST=off leaves out the test");
    return st;
}

/* Whether the run begins at the start, on a grid of fewer points. */
static bool begins_small(const bn_selftest_run *run, double points)
{
    const uint32_t *n = run->plan->grid.n;
    return (double)n[0] * n[1] * n[2] < points && !run->sim->resume && !bn_case_text(run->config, "case.resume")[0];
}

/* Lists the programs of the test and of the run. */
static bn_status list_programs(bn_aside *aside, const bn_selftest_run *run, const selftest_cases *cases)
{
    bn_status st = BN_OK;
    for (size_t i = 0; i < cases->count && st == BN_OK; i++) {
        bn_case *c = NULL;
        st = read_case(aside->ctx, cases->file[i], run->plan->precision == BN_DOUBLE, &c);
        if (st == BN_OK)
            bn_aside_add(aside, c, &(bn_sim_desc){ .device = run->sim->device }, true);
        bn_case_destroy(&c);
    }
    if (st == BN_OK && begins_small(run, points_set_up_twice))
        bn_aside_add(aside, run->config, run->sim, false);
    return st;
}

/* Starts the first steps of the run; that it can't be done is no failure. */
static void begin_first_steps(bn_context *ctx, const bn_selftest_run *run, const char *program, const char *index,
                              bn_child *child)
{
    const char *precision = run->plan->precision == BN_DOUBLE ? "double" : "single";
    const char *const arguments[] = {
        program,    "self-test", run->plan->solver->name, "2/1+",    bn_case_path(run->config),
        "--device", index,       "--precision",           precision, NULL
    };
    if (bn_child_start(ctx, arguments, BN_CHILD_ERRORS | BN_CHILD_SOCKET, child) == BN_OK)
        bn_first_steps_begin(ctx, child, run->config);
    else
        bn_error_clear(ctx);
}

/* Compiling takes most of the time: as many processes as there are processors run a part of the cases each; where
 * programs can be compiled ahead, these and others compile them before, without cases those of the run alone unless
 * that has been done. Elsewhere one may take the first steps of the run meanwhile. Caches that processes can't share
 * are kept apart (bn_context_share_machine). */
static bn_status run_children(bn_context *ctx, const bn_device_info *info, const char *solver, bool double_precision,
                              const bn_selftest_run *run, const char *program, const selftest_cases *cases)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const bool ahead = run && bn_aside_possible(run->sim->device);
    const bool beside = run && !ahead && begins_small(run, points_held_twice) && bn_first_steps_worthwhile(run->sim);
    const size_t room = processors > 1 ? (size_t)processors : 1;
    const size_t most = room - (beside && cases->count <= room); /* many cases keep all processors busy anyway */
    const size_t parts = cases->count < most ? cases->count : most;
    char index[32], part[64];
    bn_status st = BN_OK;
    bn_child *children = NULL;
    bn_aside aside = { .ctx = ctx };
    size_t count = parts;
    char *known = NULL;
    bn_device *own = NULL; /* has passed before */
    bn_child first = { .socket = -1, .output = -1 };
    const double start = bn_seconds_now();
    snprintf(index, sizeof index, "%zu", info->index);
    if (ahead) {
        BN_GO(list_programs(&aside, run, cases));
        count = bn_aside_children(&aside, parts, most);
        const uint64_t hash = bn_aside_hash(&aside);
        known = hash ? path_of(ctx, info, hash) : NULL;
        if (parts == 0 && (!known || access(known, R_OK) == 0))
            goto out;
        own = parts == 0 ? run->sim->device : NULL;
        count -= own && count > 1;
    }
    if (!(children = calloc(count, sizeof *children)))
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for the self-test of %s", solver));
    for (size_t i = 0; i < count && st == BN_OK; i++) {
        const char *arguments[8 + BN_SELFTEST_CASES + 1] = {
            program, "self-test", solver, part, "--device", index, "--precision", double_precision ? "double" : "single"
        };
        for (size_t k = 0; k < cases->count; k++)
            arguments[8 + k] = cases->file[k]->name;
        snprintf(part, sizeof part, "%zu/%zu%s", i + 1 + (parts == 0), parts > 0 ? parts : 1, ahead ? "-" : "");
        st = bn_child_start(ctx, arguments, BN_CHILD_ERRORS | (ahead ? BN_CHILD_SOCKET : 0), &children[i]);
    }
    if (beside && st == BN_OK)
        begin_first_steps(ctx, run, program, index, &first);
    if (ahead && st == BN_OK)
        bn_aside_compile(&aside, children, count, parts, BN_SELFTEST_SECONDS, own);
    const size_t failed = st == BN_OK ? wait_for_children(children, parts) : parts;
    if (failed < parts)
        st = tell_failure(ctx, info, "the self-test", solver, &children[failed]);
    if (parts == 0 && st != BN_OK) { /* then they are compiled when they are needed */
        bn_error_clear(ctx);
        st = BN_OK;
    } else if (st == BN_OK && known)
        remember(ctx, known, info, solver, "compiled");
    if (st == BN_OK && first.pid &&
        !bn_first_steps_end(&first, fmax(bn_seconds_now() - start, first_steps_seconds), run->sim->device))
        st = tell_failure(ctx, info, "the first steps of this case", solver, &first);
    if (st == BN_OK && ahead && run->closing)
        move_running(run->closing, children, count);
out:
    for (size_t i = 0; children && i < count; i++)
        bn_child_release(&children[i]);
    bn_child_release(&first);
    free(children);
    bn_aside_release(&aside);
    free(known);
    return st;
}

bn_status bn_selftest_ensure(bn_context *ctx, const bn_device_info *info, const char *solver, bool double_precision,
                             const bn_selftest_run *run, const char *program, bn_selftest_outcome *outcome)
{
    const char *wish = getenv("BINNACLE_SELFTEST");
    selftest_cases cases = find_cases(solver, NULL);
    int turn = -1;
    bn_status st = BN_OK;
    *outcome = BN_SELFTEST_SKIPPED;
    if ((wish && strcmp(wish, "off") == 0) || cases.count == 0 || (double_precision && !info->fp64))
        return BN_OK;
    *outcome = BN_SELFTEST_KNOWN;
    if (run)
        BN_GO(keep_needed(ctx, info, run->plan, &cases));
    BN_GO(find_paths(ctx, info, solver, double_precision, &cases));
    keep_untested(&cases);
    if (cases.count > 0 && cases.path[0]) {
        turn = wait_for_turn(ctx, cases.path[0]);
        keep_untested(&cases); /* some may have passed meanwhile */
    }
    if (cases.count > 0)
        *outcome = BN_SELFTEST_PASSED;
    if (cases.count > 0 || (run && run->plan->solver->apart && bn_aside_possible(run->sim->device)))
        BN_GO(run_children(ctx, info, solver, double_precision, run, program, &cases));
    for (size_t i = 0; i < cases.count && cases.path[i]; i++)
        remember(ctx, cases.path[i], info, cases.file[i]->name, "passed");
out:
    if (turn >= 0)
        close(turn);
    for (size_t i = 0; i < cases.count; i++)
        free(cases.path[i]);
    return st;
}

const char *bn_selftest_outcome_text(bn_selftest_outcome outcome)
{
    return outcome == BN_SELFTEST_PASSED ? "passed now" : outcome == BN_SELFTEST_KNOWN ? "passed earlier" : "skipped";
}
