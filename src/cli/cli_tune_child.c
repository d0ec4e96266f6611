/* cli_tune_child.c: the measuring half of `binnacle tune`, in a process of its own: a shape may crash a driver. */
#include "cli/cli_text.h"
#include "cli/cli_tune.h"

#include "api/embedded_files.h"
#include "output/progress.h"
#include "sim/sim_parts.h"
#include "run/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLAN_KERNELS = BN_TUNE_KERNELS, STEPS_MOST = 50, STEPS_LEAST = 2 };
static const double seconds_of_default =
    0.5; /* how long the default shapes run when the number of steps is looked for */

bn_status bn_tune_case(const bn_cli *cli, const char *const *set, size_t set_count, bn_case **out)
{
    const char *name = cli->options->args[0];
    char file[128];
    if (strpbrk(name, "./") || !bn_solver_summary(name))
        return bn_case_read(cli->ctx, name, set, set_count, out);
    snprintf(file, sizeof file, "selftest/%s.toml", name);
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        if (strcmp(f->name, file) == 0)
            return bn_case_parse(cli->ctx, f->name, f->text, set, set_count, out);
    return bn_fail(cli->ctx, BN_USAGE, "solver %s has no self-test to tune on: give a case", name);
}

/* The shapes of a job: {"kernel": [x, y, z], ...}; names are lent by the plan. */
static size_t read_groups(json_t *job, bn_kernel_group groups[PLAN_KERNELS])
{
    size_t count = 0;
    const char *name;
    json_t *shape;
    json_object_foreach(json_object_get(job, "groups"), name, shape)
    {
        if (count == PLAN_KERNELS)
            break;
        groups[count] = (bn_kernel_group){ .kernel = name };
        for (size_t k = 0; k < 3; k++)
            groups[count].shape[k] = (size_t)json_integer_value(json_array_get(shape, k));
        count++;
    }
    return count;
}

/* Over the bits of all fields that verify compares. */
static bn_status hash_fields(bn_context *ctx, bn_sim *sim, char text[32])
{
    uint64_t hash = BN_HASH_START;
    for (size_t f = 0; f < bn_sim_field_count(sim); f++) {
        const bn_sim_field_info *info = bn_sim_field_at(sim, f);
        const size_t bytes = (size_t)info->n[0] * info->n[1] * info->n[2] * (size_t)info->components *
                             info->element_bytes;
        if (!info->compare)
            continue;
        void *values = malloc(bytes);
        if (!values)
            return bn_fail(ctx, BN_MEMORY, "no memory to hash field %s", info->name);
        bn_status st = bn_sim_read(sim, info->name, values, bytes);
        if (st == BN_OK)
            hash = bn_hash(hash, values, bytes);
        free(values);
        BN_TRY(st);
    }
    snprintf(text, 32, "%016llx", (unsigned long long)hash);
    return BN_OK;
}

/* A kernel may be in several programs (a linear system each): together. */
static double find_seconds(const bn_profile_row *rows, size_t count, const char *kernel, unsigned long long *calls)
{
    double seconds = 0;
    *calls = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].kernel, kernel) == 0) {
            *calls += rows[i].calls;
            seconds += rows[i].seconds;
        }
    return seconds;
}

/* What the domain's kernels took since `before`. */
static json_t *kernels_json(bn_sim *sim, const bn_profile_row *before, size_t before_count)
{
    bn_profile_row rows[BN_PROFILE_ROWS];
    bn_kernel_info infos[BN_TUNE_KERNELS];
    const size_t count = bn_profile_rows(sim, rows);
    size_t found = bn_domain_kernels(bn_sim_domain(sim), infos, BN_TUNE_KERNELS);
    json_t *list = json_array();
    for (size_t i = 0; i < found && i < BN_TUNE_KERNELS; i++) {
        const bn_kernel_info *k = &infos[i];
        unsigned long long calls = 0, earlier = 0;
        bool again = false;
        for (size_t o = 0; o < i; o++)
            again = again || strcmp(infos[o].kernel, k->kernel) == 0;
        if (again)
            continue;
        double seconds = find_seconds(rows, count, k->kernel, &calls);
        seconds -= find_seconds(before, before_count, k->kernel, &earlier);
        json_array_append_new(list, json_pack("{s:s, s:i, s:I, s:o, s:[I,I,I], s:I, s:I, s:I, s:b}", "kernel",
                                              k->kernel, "range", (int)k->range, "calls", (json_int_t)(calls - earlier),
                                              "seconds", bn_json_real(seconds), "group", (json_int_t)k->group[0],
                                              (json_int_t)k->group[1], (json_int_t)k->group[2], "largest",
                                              (json_int_t)k->largest, "multiple", (json_int_t)k->multiple,
                                              "local_bytes", (json_int_t)k->local_bytes, "fits", (int)k->fits));
    }
    return list;
}

/* One measurement: warm-up, hash, timed steps, hash. `*row` gets what came of it. */
static bn_status measure(const bn_cli *cli, bn_case *c, const bn_sim_desc *desc, json_t *plan, json_t *row)
{
    const json_int_t warm = json_integer_value(json_object_get(plan, "warm"));
    json_int_t steps = json_integer_value(json_object_get(plan, "steps")), done = 0;
    const bool open_ended = steps == 0;
    bn_profile_row before[BN_PROFILE_ROWS];
    char hash[32];
    bn_sim *sim = NULL;
    bn_status st = BN_OK;
    BN_GO(bn_sim_create(cli->ctx, c, desc, &sim));
    for (json_int_t s = 0; s < warm && !bn_sim_done(sim); s++)
        BN_GO(bn_sim_step(sim));
    BN_GO(hash_fields(cli->ctx, sim, hash));
    json_object_set_new(row, "hash_warm", json_string(hash));
    const size_t count = bn_profile_rows(sim, before);
    const double start = bn_seconds_now();
    if (open_ended)
        steps = STEPS_MOST;
    while (done < steps && !bn_sim_done(sim)) {
        if (open_ended && done >= STEPS_LEAST && bn_seconds_now() - start > seconds_of_default)
            break;
        BN_GO(bn_sim_step(sim));
        if (open_ended)
            BN_GO(bn_domain_finish(bn_sim_domain(sim)));
        done++;
    }
    BN_GO(bn_domain_finish(bn_sim_domain(sim)));
    const double seconds = bn_seconds_now() - start;
    json_object_set_new(row, "kernels", kernels_json(sim, before, count));
    BN_GO(hash_fields(cli->ctx, sim, hash));
    const bn_plan *p = bn_sim_plan(sim);
    int wrong = json_object_set_new(row, "hash_end", json_string(hash)) |
                json_object_set_new(row, "steps", json_integer(done)) |
                json_object_set_new(row, "step_seconds",
                                    bn_json_real(done > 0 ? seconds / (double)done : (double)NAN)) |
                json_object_set_new(row, "dims", json_integer(p->grid.dims)) |
                json_object_set_new(row, "precision", json_string(p->precision == BN_DOUBLE ? "double" : "single")) |
                json_object_set_new(row, "solver", json_string(p->solver->name)) |
                json_object_set_new(
                    row, "n",
                    json_pack("[I,I,I]", (json_int_t)p->grid.n[0], (json_int_t)p->grid.n[1], (json_int_t)p->grid.n[2]));
    if (wrong)
        st = bn_fail(cli->ctx, BN_MEMORY, "no memory for a measurement");
out:
    bn_sim_destroy(&sim);
    return st;
}

/* Against the CPU reference, after the steps of the warm-up. */
static bn_status verify(const bn_cli *cli, bn_case *c, const bn_sim_desc *desc, json_t *plan)
{
    bn_verify_report report;
    BN_TRY(bn_verify_run(cli->ctx, c, desc, (unsigned long long)json_integer_value(json_object_get(plan, "warm")),
                         &report));
    for (size_t r = 0; r < report.count; r++)
        if (!report.rows[r].ok)
            return bn_fail(cli->ctx, BN_MISMATCH, "field %s differs from the reference by %.3g", report.rows[r].field,
                           report.rows[r].max_difference);
    return BN_OK;
}

/* Bits equal to those of a run that was checked are checked too; any others are compared with the reference. */
static bn_status check(const bn_cli *cli, bn_case *c, const bn_sim_desc *desc, json_t *plan, json_t *job, json_t *row)
{
    const char *known = json_string_value(json_object_get(plan, "hash_warm"));
    const char *hash = json_string_value(json_object_get(row, "hash_warm"));
    const char *hash_end = json_string_value(json_object_get(row, "hash_end"));
    const char *end = json_string_value(json_object_get(plan, "hash_end"));
    if (end && !end[0] && json_object_size(json_object_get(job, "groups")) == 0 && hash_end) {
        json_object_set_new(plan, "hash_end", json_string(hash_end)); /* what the shapes after it are compared with */
        end = NULL;                                                   /* freed */
    }
    const bool same = known && hash && strcmp(known, hash) == 0;
    if (!same || json_is_true(json_object_get(job, "reference")))
        BN_TRY(verify(cli, c, desc, plan));
    if (same && end && end[0] && hash_end && strcmp(end, hash_end) != 0)
        return bn_fail(cli->ctx, BN_MISMATCH, "after more steps the fields differ from those of the default shapes");
    return BN_OK;
}

static void show_progress(const bn_cli *cli, size_t done, size_t count, double start, double *last)
{
    const double now = bn_seconds_now();
    const bool terminal = isatty(STDERR_FILENO) == 1;
    if (cli->options->run.quiet || count < 2 || now - *last < (terminal ? 0.2 : 5))
        return;
    *last = now;
    fprintf(stderr, "%stune: %zu of %zu measurements, at most %.0f s left%s", terminal ? "\r" : "", done, count,
            (now - start) / (double)(done ? done : 1) * (double)(count - done), terminal ? "   " : "\n");
    if (terminal && done == count)
        fputc('\n', stderr);
    fflush(stderr);
}

static bn_status do_jobs(const bn_cli *cli, json_t *plan, bn_case *c)
{
    const json_t *jobs = json_object_get(plan, "jobs");
    const double limit = json_number_value(json_object_get(plan, "seconds")), start = bn_seconds_now();
    double last = start;
    bn_device *device = NULL;
    const size_t count = json_array_size(jobs);
    for (size_t j = 0; j < count; j++) {
        json_t *job = json_array_get(jobs, j), *row = json_object();
        bn_kernel_group groups[PLAN_KERNELS];
        if (limit > 0 && bn_seconds_now() - start > limit) {
            json_decref(row);
            break;
        }
        bn_status st = device ? BN_OK : bn_device_open(cli->ctx, cli->options->run.device, true, &device);
        bn_sim_desc desc = { .device = device, .groups = groups, .group_count = read_groups(job, groups) };
        if (st == BN_OK)
            st = measure(cli, c, &desc, plan, row);
        if (st == BN_OK)
            st = check(cli, c, &desc, plan, job, row);
        json_object_set_new(row, "job", json_integer(json_integer_value(json_object_get(job, "job"))));
        json_object_set_new(row, "status", json_integer(st));
        json_object_set_new(row, "error", bn_json_text(bn_error_text(cli->ctx)));
        char *line = json_dumps(row, JSON_COMPACT);
        if (line)
            printf("%s\n", line);
        fflush(stdout);
        free(line);
        json_decref(row);
        if (st != BN_OK) { /* a device after an error can't be trusted with the next shape */
            bn_error_clear(cli->ctx);
            bn_device_close(&device);
        }
        show_progress(cli, j + 1, count, start, &last);
    }
    bn_device_close(&device);
    return BN_OK;
}

bn_status bn_tune_child(const bn_cli *cli)
{
    json_error_t error;
    bn_case *c = NULL;
    bn_status st = BN_OK;
    json_t *plan = cli->options->plan ? json_load_file(cli->options->plan, 0, &error) : NULL;
    if (!plan)
        return bn_fail(cli->ctx, BN_IO, "the plan of a child process can't be read");
    BN_GO(bn_tune_case(cli, cli->options->set, cli->options->set_count, &c));
    BN_GO(do_jobs(cli, plan, c));
out:
    if (st != BN_OK) {
        json_t *story = json_pack("{s:o}", "error", bn_json_text(bn_error_text(cli->ctx)));
        char *line = story ? json_dumps(story, JSON_COMPACT) : NULL;
        printf("%s\n", line ? line : "{}");
        free(line);
        json_decref(story);
    }
    json_decref(plan);
    bn_case_destroy(&c);
    return st;
}
