/* cli_verify.c: `binnacle verify`: every device and precision asked for, each in a child process, one table. */
#include "cli/cli_text.h"
#include "cli/commands.h"

#include "binnacle/case.h"
#include "run/child.h"
#include "run/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 64, STEPS_DEFAULT = 10, TIME_LIMIT = 3600 };

typedef struct tally {
    json_t *checks; /* one object a row: for the table and for --json */
    size_t passed, failed, skipped;
    unsigned long long steps;
} tally;

/* ------------------------------------------------------------------------------------------ in the child */

static json_t *row_json(const bn_verify_row *r)
{
    char verdict[BN_TEXT_TABLE_CELL];
    if (r->not_finite > 0)
        snprintf(verdict, sizeof verdict, "FAILED: %zu not finite", r->not_finite);
    else
        snprintf(verdict, sizeof verdict, "%s", r->ok ? "ok" : "FAILED");
    return json_pack("{s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:s}", "field", bn_json_text(r->field), "values",
                     (json_int_t)r->values, "not_finite", (json_int_t)r->not_finite, "max_difference",
                     bn_json_real(r->max_difference), "relative_l2", bn_json_real(r->relative_l2), "ulps",
                     bn_json_real(r->ulps), "tolerance", bn_json_real(r->tolerance), "verdict", verdict);
}

static bn_status compare_here(const bn_cli *cli, json_t *rows, unsigned long long *steps)
{
    const bn_options *o = cli->options;
    bn_case *c = NULL;
    bn_device *device = NULL;
    bn_verify_report report = { .count = 0 };
    bn_sim_desc desc = o->run.sim;
    bn_status st = BN_OK;
    BN_GO(bn_case_read(cli->ctx, o->args[0], o->set, o->set_count, &c));
    BN_GO(bn_device_open(cli->ctx, o->run.device, false, &device));
    desc.device = device;
    BN_GO(bn_verify_run(cli->ctx, c, &desc, (unsigned long long)o->run.steps, &report));
    *steps = report.steps;
    for (size_t r = 0; r < report.count; r++)
        json_array_append_new(rows, row_json(&report.rows[r]));
    if (!report.ok)
        st = bn_fail(cli->ctx, BN_MISMATCH, "the device and the reference differ");
out:
    bn_device_close(&device);
    bn_case_destroy(&c);
    return st;
}

/* For the parent: the rows, or the messages of the failure. */
static bn_status verify_child(const bn_cli *cli)
{
    unsigned long long steps = 0;
    json_t *rows = json_array();
    bn_status st = compare_here(cli, rows, &steps);
    bn_status printed = bn_json_print(cli, json_pack("{s:I, s:o, s:o}", "steps", (json_int_t)steps, "rows", rows,
                                                     "error", bn_json_text(bn_error_text(cli->ctx))));
    return st != BN_OK ? st : printed;
}

/* ------------------------------------------------------------------------------------------ in the parent */

/* Takes over `row` (NULL: no numbers, the verdict alone) and puts device and precision to it. */
static bn_status add_row(const bn_cli *cli, tally *t, const bn_device_info *info, const char *precision, json_t *row,
                         const char *verdict)
{
    char name[BN_TEXT_TABLE_CELL];
    bn_text_device(name, info);
    if (!row)
        row = json_object();
    int wrong = json_object_set_new(row, "device", bn_json_text(name)) |
                json_object_set_new(row, "platform", bn_json_text(info->platform)) |
                json_object_set_new(row, "driver", bn_json_text(info->driver)) |
                json_object_set_new(row, "index", json_integer((json_int_t)info->index)) |
                json_object_set_new(row, "precision", json_string(precision)) |
                json_object_set_new(row, "verdict", json_string(verdict));
    if (json_array_append_new(t->checks, row) | wrong)
        return bn_fail(cli->ctx, BN_MEMORY, "no memory for the rows of verify");
    if (strcmp(verdict, "ok") == 0)
        t->passed++;
    else if (strncmp(verdict, "skipped", 7) == 0)
        t->skipped++;
    else
        t->failed++;
    return BN_OK;
}

/* A child's rows. An error of the case or of files ends everything; one of the device becomes a row and a message. */
static bn_status take_answer(const bn_cli *cli, tally *t, const bn_device_info *info, const char *precision,
                             const bn_child *child)
{
    char verdict[BN_TEXT_TABLE_CELL];
    bn_status st = child->end == BN_CHILD_EXITED ? bn_child_status(child->code) : BN_OK;
    if (child->end == BN_CHILD_HUNG) {
        snprintf(verdict, sizeof verdict, "FAILED: stopped after %d min", TIME_LIMIT / 60);
        return add_row(cli, t, info, precision, NULL, verdict);
    }
    const char *from = strchr(child->said, '{'); /* a driver may have printed something before */
    json_t *answer = child->end == BN_CHILD_EXITED && from ? json_loads(from, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    json_t *rows = json_object_get(answer, "rows");
    if (child->end == BN_CHILD_CRASHED || !json_is_array(rows)) {
        const char *how = child->end == BN_CHILD_CRASHED ? "signal" : "exit";
        snprintf(verdict, sizeof verdict, "crashed (%s %d)", how, child->code);
        json_decref(answer);
        BN_TRY(add_row(cli, t, info, precision, NULL, verdict));
        bn_fail(cli->ctx, BN_DEVICE, "%s (%s, driver %s), %s precision: the driver crashed (%s %d)", info->name,
                info->platform, info->driver, precision, how, child->code);
        bn_note(cli->ctx, "another driver version may help; --device picks another device");
        return BN_OK; /* the others are compared; the error stays in the context */
    }
    const char *error = json_string_value(json_object_get(answer, "error"));
    if (st == BN_OK || st == BN_MISMATCH) {
        st = BN_OK;
        t->steps = (unsigned long long)json_integer_value(json_object_get(answer, "steps"));
        for (size_t r = 0; r < json_array_size(rows) && st == BN_OK; r++) {
            json_t *row = json_incref(json_array_get(rows, r));
            const char *word = json_string_value(json_object_get(row, "verdict"));
            snprintf(verdict, sizeof verdict, "%s", word ? word : "FAILED"); /* add_row replaces the row's own */
            st = add_row(cli, t, info, precision, row, verdict);
        }
    } else if (st == BN_DEVICE || st == BN_DIVERGED) {
        bn_log(cli->ctx, BN_LOG_WARNING, "%s, %s: %s", info->name, precision, error ? error : "no reason given");
        snprintf(verdict, sizeof verdict, "FAILED: %s", bn_status_text(st));
        BN_TRY(add_row(cli, t, info, precision, NULL, verdict));
        bn_fail(cli->ctx, st, "%s, %s: %s", info->name, precision, error ? error : "no reason given");
        st = BN_OK; /* the others are compared; the error stays in the context */
    } else {
        st = bn_fail(cli->ctx, st, "%s", error ? error : "no reason given");
        bn_note(cli->ctx, "on %s in %s precision", info->name, precision);
    }
    json_decref(answer);
    return st;
}

static bn_status verify_one(const bn_cli *cli, tally *t, const bn_device_info *info, const char *precision,
                            long long steps)
{
    const bn_options *o = cli->options;
    char index[32], count[32], boxes[32], shape[96], precision_set[64];
    size_t room = 2 * o->set_count + 24, n = 0;
    const char **arguments = calloc(room, sizeof *arguments);
    bn_child child = { 0 };
    if (!arguments)
        return bn_fail(cli->ctx, BN_MEMORY, "no memory for the arguments of a child process");
    snprintf(index, sizeof index, "%zu", info->index);
    snprintf(count, sizeof count, "%lld", steps);
    snprintf(boxes, sizeof boxes, "%d", o->run.sim.boxes);
    snprintf(shape, sizeof shape, "%zux%zux%zu", o->run.sim.work_group[0], o->run.sim.work_group[1],
             o->run.sim.work_group[2]);
    snprintf(precision_set, sizeof precision_set, "case.precision=%s", precision);
    const char *const fixed[] = { cli->program, "verify",  o->args[0], "--child",     "--device",
                                  index,        "--steps", count,      "--precision", precision };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        arguments[n++] = fixed[i];
    if (o->run.sim.boxes > 0)
        arguments[n++] = "--boxes", arguments[n++] = boxes;
    if (o->run.sim.work_group[0] > 0)
        arguments[n++] = "--work-group", arguments[n++] = shape;
    for (size_t i = 0; i < o->set_count; i++)
        arguments[n++] = "--set", arguments[n++] = o->set[i];
    arguments[n++] = "--set", arguments[n++] = precision_set; /* the last one counts */
    if (!o->run.quiet)
        fprintf(stderr, "verify: %s, %s\n", info->name, precision);
    bn_status st = bn_child_run(cli->ctx, cli->stop, arguments, TIME_LIMIT, &child);
    if (st == BN_OK)
        st = take_answer(cli, t, info, precision, &child);
    bn_child_release(&child);
    free(arguments);
    return st;
}

static bn_status verify_devices(const bn_cli *cli, tally *t, long long steps)
{
    const bn_device_info *devices = NULL;
    size_t found = 0, indices[DEVICES_MAX], count = 0;
    const bn_precision_wish wish = cli->options->precision;
    BN_TRY(bn_devices(cli->ctx, &devices, &found));
    BN_TRY(bn_device_select(cli->ctx, cli->options->run.device, indices, DEVICES_MAX, &count, NULL));
    for (size_t i = 0; i < count && i < DEVICES_MAX; i++) {
        const bn_device_info *info = &devices[indices[i]];
        if (wish != BN_WISH_DOUBLE)
            BN_TRY(verify_one(cli, t, info, "single", steps));
        if (wish != BN_WISH_SINGLE && !info->fp64)
            BN_TRY(add_row(cli, t, info, "double", NULL, "skipped: no fp64"));
        else if (wish != BN_WISH_SINGLE)
            BN_TRY(verify_one(cli, t, info, "double", steps));
    }
    return BN_OK;
}

/* A figure of a row. */
typedef struct figure {
    char text[BN_SHORT_TEXT];
} figure;

static figure figure_of(const json_t *row, const char *key, bool whole)
{
    const json_t *value = json_object_get(row, key);
    figure f;
    if (json_is_number(value))
        snprintf(f.text, sizeof f.text, whole ? "%.0f" : "%.1e", json_number_value(value));
    else
        snprintf(f.text, sizeof f.text, "%s", value ? "NaN" : "-");
    return f;
}

static bn_status print_table(bn_context *ctx, const tally *t)
{
    bn_text_table table = { .columns = 9, .right = 0x8 };
    bn_status st = BN_OK;
    BN_GO(
        bn_text_table_add(ctx, &table, "device\tprecision\tfield\tvalues\tmax diff\trel L2\tULPs\ttolerance\tverdict"));
    for (size_t r = 0; r < json_array_size(t->checks); r++) {
        const json_t *row = json_array_get(t->checks, r);
        const char *field = json_string_value(json_object_get(row, "field"));
        BN_GO(bn_text_table_add(
            ctx, &table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", json_string_value(json_object_get(row, "device")),
            json_string_value(json_object_get(row, "precision")), field ? field : "-",
            figure_of(row, "values", true).text, figure_of(row, "max_difference", false).text,
            figure_of(row, "relative_l2", false).text, figure_of(row, "ulps", true).text,
            figure_of(row, "tolerance", false).text, json_string_value(json_object_get(row, "verdict"))));
    }
    bn_text_table_print(&table);
out:
    bn_text_table_release(&table);
    return st;
}

static bn_status report(const bn_cli *cli, const tally *t, const bn_case *c)
{
    if (cli->options->run.json)
        return bn_json_print(cli, json_pack("{s:o, s:s, s:I, s:O, s:I, s:I, s:I}", "case",
                                            bn_json_text(bn_case_path(c)), "solver", bn_case_solver(c), "steps",
                                            (json_int_t)t->steps, "checks", t->checks, "passed", (json_int_t)t->passed,
                                            "failed", (json_int_t)t->failed, "skipped", (json_int_t)t->skipped));
    BN_TRY(print_table(cli->ctx, t));
    printf("%zu checks, %zu failed, %zu skipped; %llu steps each. Tolerance 0: equal bits.\n", t->passed + t->failed,
           t->failed, t->skipped, t->steps);
    return BN_OK;
}

bn_status bn_cli_verify(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    if (o->child)
        return verify_child(cli);
    bn_case *c = NULL;
    tally t = { .checks = json_array() };
    bn_status st = BN_OK;
    BN_GO(bn_case_read(cli->ctx, o->args[0], o->set, o->set_count, &c));
    long long stop = bn_case_int(c, "stop.steps"), steps = o->run.steps > 0       ? o->run.steps
                                                           : stop < STEPS_DEFAULT ? stop
                                                                                  : STEPS_DEFAULT;
    BN_GO(verify_devices(cli, &t, steps));
    BN_GO(report(cli, &t, c));
    st = bn_error_status(cli->ctx); /* of a device that could not even compute */
    if (st == BN_OK && t.failed > 0)
        st = bn_fail(cli->ctx, BN_MISMATCH, "%zu of %zu checks failed", t.failed, t.passed + t.failed);
out:
    json_decref(t.checks);
    bn_case_destroy(&c);
    return st;
}
