/* cli_check.c: `binnacle check`: what a case is, what it takes, and where it fits. Opens no device; with --measure a
 * process of its own does. */
#include "cli/cli_check_time.h"
#include "cli/cli_text.h"
#include "cli/commands.h"

#include "binnacle/case.h"
#include "binnacle/device.h"
#include "api/device.h"
#include "sim/scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BN_CHECK_DEVICES = 64 };

typedef struct needs {
    uint64_t device, largest, host, output; /* [B]; 0 where it can't be addressed */
    double steps;                           /* at most */
    const char *end;                        /* what limits them */
    double points, outputs;
} needs;

static needs needs_of(const bn_plan *p, const bn_case *c)
{
    needs n = { .points = 1 };
    double real = p->precision == BN_DOUBLE ? 8 : 4, per_time = 0;
    n.device = bn_plan_device_bytes(p, &n.largest);
    n.host = bn_plan_host_bytes(p);
    for (int k = 0; k < p->grid.dims; k++)
        n.points *= (double)p->grid.n[k];
    n.steps = bn_check_steps(p, c, 0, 0, 0, &n.end);
    for (size_t f = 0; f < p->field_count; f++) {
        const uint32_t *own = bn_plan_grid_of(p, &p->fields[f])->n;
        if (p->fields[f].role & BN_OUTPUT)
            per_time += real * (p->fields[f].type == BN_T_REAL2 ? 2 : 1) * own[0] * own[1] * own[2] *
                        (p->fields[f].components > 0 ? p->fields[f].components : 1);
    }
    long long every = bn_case_int(c, "output.every");
    n.outputs = (every > 0 ? floor(n.steps / (double)every) : 1) + (bn_case_bool(c, "output.first") ? 1 : 0);
    double bytes = bn_case_bool(c, "output.vtk") ? n.outputs * per_time * 4 / 3 : 0; /* base64 */
    n.output = bytes < 9e18 ? (uint64_t)bytes : INT64_MAX;
    return n;
}

/* Whether the plan fits; the message is dropped. */
static bool fits(bn_context *ctx, const bn_plan *p, const bn_device_info *info)
{
    bool ok = bn_plan_check_memory(ctx, p, info, 1) == BN_OK;
    if (!ok)
        bn_error_clear(ctx);
    return ok;
}

static void print_grid(const bn_plan *p, const bn_case *c, const needs *n)
{
    printf("%s  %s  %s precision\ngrid", bn_case_path(c), p->solver->name,
           p->precision == BN_DOUBLE ? "double" : "single");
    for (int k = 0; k < p->grid.dims; k++)
        printf("%s%u", k ? " x " : " ", p->grid.n[k]);
    printf(" = %.4g %s, spacing", n->points, p->grid.nodes ? "nodes" : "cells");
    for (int k = 0; k < p->grid.dims; k++)
        printf("%s%.6g", k ? " x " : " ", p->grid.h[k]);
    printf(p->grid.place[0] || p->grid.place[1] || p->grid.place[2] ? " m on average\n" : " m\n");
    for (size_t i = 0; i < p->note_count; i++)
        if (p->notes[i].help[0])
            printf("  %s: %s\n", p->notes[i].name, p->notes[i].help);
        else
            printf("  %s: %.6g%s%s\n", p->notes[i].name, p->notes[i].value,
                   p->notes[i].unit && p->notes[i].unit[0] ? " " : "", p->notes[i].unit ? p->notes[i].unit : "");
    if (p->course.tolerance > 0)
        printf("steps: until the residual is below %g, at most %.0f (%s)\n", p->course.tolerance, n->steps, n->end);
    else
        printf("steps: %s%.0f (%s)\n", p->course.steps > 0 && bn_case_real(c, "stop.time") == 0 ? "" : "at most ",
               n->steps, n->end);
    if (p->estimate.counted)
        printf("cells: counted, not looked at, being more than %g: mistakes in what fills them show when it runs\n",
               (double)BN_PLAN_LOOKED);
}

static void print_device(const bn_device_info *d, const needs *n, bool ok, size_t devices)
{
    char name[BN_TEXT_TABLE_CELL], memory[BN_SHORT_TEXT], largest[BN_SHORT_TEXT], have[BN_SHORT_TEXT];
    bn_text_device(name, d);
    bn_text_bytes(memory, n->device);
    bn_text_bytes(largest, n->largest);
    bn_text_bytes(have, d->bytes);
    printf("device %zu  %s: %s of %s, largest buffer %s: %s", d->index, name, memory, have, largest,
           ok ? "fits" : "does not fit");
    if (devices > 1)
        printf(", but on %zu such devices", devices);
    printf("\n");
}

/* Of the devices that are listed, from number i on: whether several are like it, it being the first of them, and how
 * many of those make a step shorter. */
typedef struct several {
    size_t alike[BN_CHECK_DEVICES], count, taken;
    double times_one;
} several;

static bool several_like(const bn_plan *p, const bn_device_info *all, const size_t *indices, size_t count, size_t i,
                         several *out)
{
    *out = (several){ 0 };
    for (size_t k = 0; k < count; k++)
        if (bn_devices_alike(&all[indices[k]], &all[indices[i]])) {
            if (k < i)
                return false;
            out->alike[out->count++] = indices[k];
        }
    out->taken = bn_scaling_devices(p, &all[indices[i]], out->count);
    out->times_one = 1 / bn_scaling_time(p, &all[indices[i]], out->taken);
    return out->count > 1 && !isnan(out->times_one);
}

static void print_several(const bn_plan *p, const several *s)
{
    printf("devices");
    for (size_t k = 0; k < s->count; k++)
        printf("%s%zu", k ? "," : " ", s->alike[k]);
    if (s->taken > 1)
        printf("  %zu of them make a step %.3g times as fast as one, by the model of docs/scaling.md%s\n", s->taken,
               s->times_one, p->cut.scaling.unsure ? ", unless the direct solver suits: it works on one" : "");
    else
        printf("  one alone is as fast, by the model of docs/scaling.md\n");
}

static void print_time(const bn_cli *cli, const bn_check_time *time)
{
    if (time)
        bn_check_time_print(time);
    else if (cli->options->measure)
        printf("time: not measured, since the case fits on no device here\n");
    else
        printf("time: not known before steps have run: binnacle check --measure runs some\n");
}

static void print_rest(const needs *n, bool on_host)
{
    char text[BN_SHORT_TEXT];
    if (n->host > 0) {
        bn_text_bytes(text, n->host);
        printf("reference (run --reference, verify): %s of host memory: %s\n", text, on_host ? "fits" : "does not fit");
    } else {
        printf("reference (run --reference, verify): can't be addressed\n");
    }
    bn_text_bytes(text, n->output);
    printf("output: %.0f time%s, at most about %s of fields\n", n->outputs, n->outputs > 1 ? "s" : "", text);
}

static json_t *notes_json(const bn_plan *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->note_count; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o}", "name", bn_json_text(p->notes[i].name), "value",
                            p->notes[i].help[0] ? bn_json_text(p->notes[i].help) : bn_json_real(p->notes[i].value),
                            "unit", bn_json_text(p->notes[i].unit)));
    return list;
}

static json_t *results_json(const bn_plan *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->result_count; i++)
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:o}", "name", bn_json_text(p->results[i].name), "unit",
                                        bn_json_text(p->results[i].unit), "meaning", bn_json_text(p->results[i].help)));
    return list;
}

static json_t *several_json(const several *s)
{
    json_t *alike = json_array();
    for (size_t k = 0; k < s->count; k++)
        json_array_append_new(alike, json_integer((json_int_t)s->alike[k]));
    return json_pack("{s:o, s:I, s:o}", "devices", alike, "taken", (json_int_t)s->taken, "times_one",
                     bn_json_real(s->times_one));
}

static bn_status print_json(const bn_cli *cli, const bn_plan *p, const bn_case *c, const needs *n, json_t *devices,
                            json_t *scaling, bool on_host, const bn_check_time *time)
{
    json_t *points = json_array(), *spacing = json_array();
    for (int k = 0; k < p->grid.dims; k++) {
        json_array_append_new(points, json_integer((json_int_t)p->grid.n[k]));
        json_array_append_new(spacing, bn_json_real(p->grid.h[k]));
    }
    return bn_json_print(
        cli, json_pack("{s:o, s:s, s:s, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:b, s:I, s:o}", "case",
                       bn_json_text(bn_case_path(c)), "solver", p->solver->name, "precision",
                       p->precision == BN_DOUBLE ? "double" : "single", "grid", points, "spacing", spacing,
                       "cells_looked_at", (int)!p->estimate.counted, "notes", notes_json(p), "steps",
                       bn_json_real(n->steps), "time", time ? bn_check_time_json(time) : json_null(), "devices",
                       devices, "scaling", scaling, "device_bytes", (json_int_t)n->device, "largest_buffer",
                       (json_int_t)n->largest, "host_bytes", (json_int_t)n->host, "fits_host", (int)on_host,
                       "output_bytes", (json_int_t)n->output, "results", results_json(p)));
}

/* The devices asked for, or all; none is no failure. */
static bn_status find_devices(const bn_cli *cli, const bn_device_info **all, size_t indices[BN_CHECK_DEVICES],
                              size_t *count)
{
    size_t found = 0;
    *count = 0;
    if (bn_devices(cli->ctx, all, &found) != BN_OK) {
        bn_error_clear(cli->ctx);
        return BN_OK;
    }
    return bn_device_select(cli->ctx, cli->options->run.device ? cli->options->run.device : "all", indices,
                            BN_CHECK_DEVICES, count, NULL);
}

static bn_status report(const bn_cli *cli, const bn_plan *p, const bn_case *c)
{
    const bn_device_info *all = NULL;
    size_t indices[BN_CHECK_DEVICES], count = 0;
    several group;
    BN_TRY(find_devices(cli, &all, indices, &count));
    const needs n = needs_of(p, c);
    bool on_host = fits(cli->ctx, p, NULL), anywhere = on_host, json = cli->options->run.json, measures = false;
    bn_check_time time;
    json_t *devices = json_array(), *scaling = json_array();
    if (!json)
        print_grid(p, c, &n);
    for (size_t i = 0; i < count; i++) {
        const bn_device_info *d = &all[indices[i]];
        bool here = fits(cli->ctx, p, d);
        bool double_missing = p->precision == BN_DOUBLE && !d->fp64;
        const size_t devices_needed = bn_plan_devices(p, d);
        anywhere = anywhere || here;
        measures = cli->options->measure && (measures || (devices_needed > 0 && devices_needed <= count));
        json_array_append_new(devices, json_pack("{s:I, s:o, s:o, s:b, s:b, s:I}", "index", (json_int_t)d->index,
                                                 "name", bn_json_text(d->name), "platform", bn_json_text(d->platform),
                                                 "fits", (int)here, "precision_supported", (int)!double_missing,
                                                 "devices_needed", (json_int_t)devices_needed));
        if (json)
            continue;
        print_device(d, &n, here, devices_needed);
        if (double_missing)
            printf("          it has no fp64: use --set case.precision=single there\n");
    }
    for (size_t i = 0; i < count; i++)
        if (several_like(p, all, indices, count, i, &group)) {
            json_array_append_new(scaling, several_json(&group));
            if (!json)
                print_several(p, &group);
        }
    if (measures) {
        const bn_status st = bn_check_measure(cli, p, c, &time);
        if (st != BN_OK) {
            json_decref(devices);
            json_decref(scaling);
            return st;
        }
    }
    if (json) {
        BN_TRY(print_json(cli, p, c, &n, devices, scaling, on_host, measures ? &time : NULL));
    } else {
        json_decref(devices);
        json_decref(scaling);
        print_time(cli, measures ? &time : NULL);
        if (count == 0)
            printf("device: no OpenCL device was found (binnacle devices --check says why)\n");
        print_rest(&n, on_host);
    }
    return anywhere ? BN_OK : bn_plan_check_memory(cli->ctx, p, count > 0 ? &all[indices[0]] : NULL, 1);
}

/* The solver's constants as options of a kernel compiler. */
static bn_status print_defines(const bn_plan *p)
{
    for (size_t i = 0; i < p->define_count; i++) {
        const bn_define *d = &p->defines[i];
        if (d->kind == BN_DEF_INT)
            printf("-D%s=%lld\n", d->name, d->u.i);
        else if (d->kind == BN_DEF_NAME)
            printf("-D%s=%s\n", d->name, d->u.s);
        else if (d->kind == BN_DEF_REAL)
            printf("-D%s=%a%s\n", d->name, p->precision == BN_DOUBLE ? d->u.r : (double)(float)d->u.r,
                   p->precision == BN_DOUBLE ? "" : "f");
    }
    return BN_OK;
}

bn_status bn_cli_check(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    bn_case *c = NULL;
    bn_plan *plan = NULL;
    void *state = NULL;
    bn_status st = BN_OK;
    if (o->child)
        return bn_check_child(cli);
    BN_GO(bn_case_read(cli->ctx, o->args[0], o->set, o->set_count, &c));
    state = calloc(1, bn_solver_find(bn_case_solver(c))->state_size);
    if (!state)
        BN_GO(bn_fail(cli->ctx, BN_MEMORY, "no memory for the state of solver %s", bn_case_solver(c)));
    BN_GO(bn_plan_count(cli->ctx, c, NULL, 1, state, &plan));
    BN_GO(o->defines ? print_defines(plan) : report(cli, plan, c));
out:
    bn_plan_destroy(&plan);
    free(state);
    bn_case_destroy(&c);
    return st;
}
