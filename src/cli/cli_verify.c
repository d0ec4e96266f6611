/* cli_verify.c: `binnacle verify`: the user's own case on devices and on the CPU reference. Every device and precision is a child process: a driver that
 * crashes or hangs costs its row, not the table. */
#include "cli/options.h"
#include "sim/verify.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BN_DEVICES_MAX = 256, BN_DEFAULT_STEPS = 20, BN_CHILD_SECONDS = 3600 };

/* --- the child --- */

static bn_status child_rows(bn_context *ctx, const bn_verify_report *report)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < report->count; i++) {
        const bn_verify_row *r = &report->rows[i];
        json_t *row = json_pack("{s:s,s:I,s:f,s:b}", "field", r->field, "values", (json_int_t)r->values, "tolerance", r->tolerance, "ok", r->ok);
        json_object_set_new(row, "max_difference", isfinite(r->max_difference) ? json_real(r->max_difference) : json_null());
        json_object_set_new(row, "relative_l2", isfinite(r->relative_l2) ? json_real(r->relative_l2) : json_null());
        json_object_set_new(row, "ulps", isfinite(r->ulps) ? json_real(r->ulps) : json_null());
        json_array_append_new(rows, row);
    }
    json_t *out = json_pack("{s:I,s:o}", "steps", (json_int_t)report->steps, "rows", rows);
    char *text = out ? json_dumps(out, JSON_COMPACT) : NULL;
    json_decref(out);
    if (!text)
        return bn_fail(ctx, BN_MEMORY, "no memory for the comparison");
    puts(text);
    free(text);
    return report->ok ? BN_OK : BN_MISMATCH;
}

static bn_status run_child(bn_context *ctx, const bn_options *o)
{
    bn_options own = *o;
    bn_case *c = NULL;
    bn_device *device = NULL;
    bn_verify_report report;
    bn_status st = BN_OK;
    if (own.set_count == BN_SETS_MAX)
        return bn_fail(ctx, BN_USAGE, "too many --set options");
    own.sets[own.set_count++] = o->precision == BN_ONLY_DOUBLE ? "case.precision=double" : "case.precision=single";
    BN_GO(bn_options_case(ctx, &own, &c));
    BN_GO(bn_device_open(ctx, o->device, false, &device));
    bn_sim_desc desc = { .device = device, .boxes = o->boxes };
    memcpy(desc.work_group, o->work_group, sizeof desc.work_group);
    BN_GO(bn_verify_run(ctx, c, &desc, (unsigned long long)o->steps, &report));
    st = child_rows(ctx, &report);
out:
    bn_device_close(&device);
    bn_case_destroy(&c);
    return st;
}

/* --- the parent --- */

/* One device in one precision. */
typedef struct check { const bn_device_info *device; const char *precision, *verdict; json_t *rows; int code; } check;

/* Everything that a child says on its standard output, at most a mebibyte; free() it. */
static char *read_all(int fd)
{
    size_t at = 0, room = 1 << 20;
    char *text = malloc(room + 1);
    for (ssize_t n; text && at < room && ((n = read(fd, text + at, room - at)) > 0 || (n < 0 && errno == EINTR));)
        at += n > 0 ? (size_t)n : 0;
    if (text)
        text[at] = '\0';
    return text;
}

static bn_status spawn(bn_context *ctx, const bn_options *o, check *c)
{
    const char *argv[BN_SETS_MAX * 2 + 20];
    char index[32], steps[32], boxes[32], group[80];
    size_t n = 0;
    snprintf(index, sizeof index, "%zu", c->device->index);
    snprintf(steps, sizeof steps, "%lld", o->steps);
    snprintf(boxes, sizeof boxes, "%d", o->boxes > 0 ? o->boxes : 1);
    const char *const fixed[] = { o->program, "verify", o->arguments[0], "--child", "--device", index, "--precision", c->precision,
                                  "--steps", steps, "--boxes", boxes };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        argv[n++] = fixed[i];
    if (o->work_group[0]) {
        snprintf(group, sizeof group, "%zux%zux%zu", o->work_group[0], o->work_group[1], o->work_group[2]);
        argv[n++] = "--work-group";
        argv[n++] = group;
    }
    for (size_t i = 0; i < o->set_count; i++) {
        argv[n++] = "--set";
        argv[n++] = o->sets[i];
    }
    argv[n] = NULL;
    int channel[2], status = 0;
    fflush(stdout);
    if (pipe(channel) != 0)
        return bn_fail(ctx, BN_IO, "no pipe for a child process: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        dup2(channel[1], STDOUT_FILENO);
        close(channel[0]);
        close(channel[1]);
        alarm(BN_CHILD_SECONDS); /* survives exec: a driver that hangs is ended by the signal */
        execv(o->program, (char *const *)argv);
        _exit(127);
    }
    close(channel[1]);
    char *said = child > 0 ? read_all(channel[0]) : NULL;
    close(channel[0]);
    if (child < 0 || waitpid(child, &status, 0) != child) {
        free(said);
        return bn_fail(ctx, BN_IO, "no child process: %s", strerror(errno));
    }
    json_t *answer = said ? json_loads(said, 0, NULL) : NULL;
    free(said);
    c->rows = json_incref(json_object_get(answer, "rows"));
    json_decref(answer);
    c->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    c->verdict = c->code == 0               ? "ok"
                 : c->code == 5             ? "FAILED"
                 : c->code > 0              ? "could not run"
                 : WTERMSIG(status) == SIGALRM ? "hung"
                                            : "crashed";
    return BN_OK;
}

static double real_or_nan(const json_t *row, const char *key)
{
    const json_t *x = json_object_get(row, key);
    return json_is_number(x) ? json_number_value(x) : (double)NAN;
}

static void print_check(const check *c)
{
    char name[40];
    snprintf(name, sizeof name, "%.36s", c->device->name);
    if (!c->rows) {
        printf("%-36s  %-9s  %-10s %9s  %10s %10s %8s %10s  %s\n", name, c->precision, "-", "", "", "", "", "", c->verdict);
        return;
    }
    size_t i;
    json_t *row;
    json_array_foreach(c->rows, i, row)
        printf("%-36s  %-9s  %-10s %9lld  %10.3g %10.3g %8.0f %10.3g  %s\n", name, c->precision,
               json_string_value(json_object_get(row, "field")), (long long)json_integer_value(json_object_get(row, "values")),
               real_or_nan(row, "max_difference"), real_or_nan(row, "relative_l2"), real_or_nan(row, "ulps"),
               real_or_nan(row, "tolerance"), json_is_true(json_object_get(row, "ok")) ? "ok" : "FAILED");
}

static bn_status print_json(bn_context *ctx, const check *checks, size_t count, long long steps)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:O?}", "device", checks[i].device->name, "platform",
                                              checks[i].device->platform, "driver", checks[i].device->driver, "precision",
                                              checks[i].precision, "verdict", checks[i].verdict, "exit_code", checks[i].code, "fields",
                                              checks[i].rows));
    json_t *out = json_pack("{s:I,s:o}", "steps", (json_int_t)steps, "checks", list);
    char *text = out ? json_dumps(out, JSON_INDENT(2)) : NULL;
    json_decref(out);
    if (!text)
        return bn_fail(ctx, BN_MEMORY, "no memory for the report");
    puts(text);
    free(text);
    return BN_OK;
}

/* The case must be sound before any child starts: its errors are then told once. Also fills in the number of steps. */
static bn_status check_case(bn_context *ctx, bn_options *o)
{
    bn_case *c = NULL;
    BN_TRY(bn_options_case(ctx, o, &c));
    const long long stop = bn_case_int(c, "stop.steps");
    if (o->steps < 0)
        o->steps = stop < BN_DEFAULT_STEPS ? stop : BN_DEFAULT_STEPS;
    bn_case_destroy(&c);
    return BN_OK;
}

bn_status bn_cli_verify(bn_context *ctx, const bn_options *given)
{
    if (given->child)
        return run_child(ctx, given);
    static const char *const precisions[] = { "single", "double" };
    bn_options o = *given;
    const bn_device_info *d;
    size_t count, n, indices[BN_DEVICES_MAX], made = 0, failed = 0, skipped = 0;
    bn_status st = BN_OK;
    check *checks = NULL;
    BN_TRY(check_case(ctx, &o));
    BN_TRY(bn_devices(ctx, &d, &count));
    BN_TRY(bn_device_select(ctx, o.device, indices, BN_DEVICES_MAX, &n, NULL));
    if (!(checks = calloc(2 * n + 1, sizeof *checks)))
        return bn_fail(ctx, BN_MEMORY, "no memory for the report");
    if (!o.json)
        printf("%-36s  %-9s  %-10s %9s  %10s %10s %8s %10s  verdict\n", "device", "precision", "field", "values", "max diff", "rel L2",
               "ULPs", "tolerance");
    int worst = 0;
    for (size_t i = 0; i < n; i++)
        for (int p = 0; p < 2; p++) {
            if (o.precision == (p ? BN_ONLY_SINGLE : BN_ONLY_DOUBLE))
                continue;
            check *c = &checks[made++];
            *c = (check){ .device = &d[indices[i]], .precision = precisions[p], .verdict = "skipped: no fp64" };
            if (p == 1 && !c->device->fp64)
                skipped++;
            else
                BN_GO(spawn(ctx, &o, c));
            failed += c->code != 0;
            if (c->code > worst || c->code < 0)
                worst = c->code < 0 ? 5 : c->code;
            if (!o.json)
                print_check(c);
            fflush(stdout);
            if (o.stop && *o.stop) {
                st = bn_fail(ctx, BN_INTERRUPTED, "interrupted");
                goto out;
            }
        }
    if (o.json)
        BN_GO(print_json(ctx, checks, made, o.steps));
    else
        printf("%zu checks, %zu failed, %zu skipped; compared after %lld steps; tolerance 0 asks for equal bits\n", made, failed, skipped, o.steps);
    if (failed > 0)
        st = worst == 5 || made > 1 ? bn_fail(ctx, BN_MISMATCH, "verification failed")
                                    : bn_fail(ctx, worst == 4 ? BN_DIVERGED : worst == 6 ? BN_IO : worst == 2 ? BN_CASE : BN_DEVICE,
                                              "the comparison could not be made");
out:
    for (size_t i = 0; i < made; i++)
        json_decref(checks[i].rows);
    free(checks);
    return st;
}
