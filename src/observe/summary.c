/* summary.c: the summary as JSON. Numbers that are not finite become null: JSON has no others. */
#include "observe/summary.h"

#include "api/embedded_files.h"
#include "io/file.h"
#include "observe/progress.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BN_ROWS = 64 };

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }
static json_t *text(const char *s) { return s ? json_string(s) : json_null(); }

/* A hash over the bits of each field that is written or compared, so that runs can be compared without their files. */
static bn_status hash_fields(bn_context *ctx, bn_sim *sim, json_t *out)
{
    for (size_t i = 0; i < bn_sim_field_count(sim); i++) {
        const bn_sim_field_info *f = bn_sim_field_at(sim, i);
        if (!f->output && !f->compare)
            continue;
        const size_t bytes = (size_t)f->n[0] * f->n[1] * f->n[2] * (size_t)f->components * f->element_bytes;
        void *values = malloc(bytes);
        if (!values)
            return bn_fail(ctx, BN_MEMORY, "no memory to hash field %s", f->name);
        bn_status st = bn_sim_read(sim, f->name, values, bytes);
        char hex[17];
        snprintf(hex, sizeof hex, "%016llx", (unsigned long long)bn_hash(BN_HASH_START, values, bytes));
        free(values);
        BN_TRY(st);
        json_object_set_new(out, f->name, json_pack("{s:I, s:s}", "bytes", (json_int_t)bytes, "hash", hex));
    }
    return BN_OK;
}

static json_t *profile(bn_sim *sim, double bandwidth)
{
    json_t *out = json_array();
    bn_profile_row rows[BN_ROWS];
    size_t count = bn_domain_device(bn_sim_domain(sim)) ? bn_domain_profile(bn_sim_domain(sim), rows, BN_ROWS) : 0;
    for (size_t i = 0; i < count && i < BN_ROWS; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "kernel", text(rows[i].kernel));
        json_object_set_new(row, "calls", json_integer((json_int_t)rows[i].calls));
        json_object_set_new(row, "seconds", number(rows[i].seconds));
        json_object_set_new(row, "bytes", number(rows[i].bytes));
        json_object_set_new(row, "flops", number(rows[i].flops));
        json_object_set_new(row, "share_of_bandwidth_limit",
                            number(bandwidth > 0 ? rows[i].bytes / rows[i].seconds / bandwidth : (double)NAN));
        json_array_append_new(out, row);
    }
    return out;
}

static json_t *device(const bn_summary *s)
{
    if (!s->device)
        return json_null();
    json_t *d = json_object();
    json_object_set_new(d, "index", json_integer((json_int_t)s->device->index));
    json_object_set_new(d, "name", text(s->device->name));
    json_object_set_new(d, "platform", text(s->device->platform));
    json_object_set_new(d, "driver", text(s->device->driver));
    json_object_set_new(d, "version", text(s->device->version));
    json_object_set_new(d, "selected_because", text(s->selected_because));
    return d;
}

static void add_run(json_t *o, bn_sim *sim, const bn_summary *s)
{
    const bn_case *c = bn_sim_case(sim);
    const bn_sim_state now = bn_sim_now(sim);
    const bn_plan *p = bn_sim_plan(sim);
    json_object_set_new(o, "binnacle", text(bn_version()));
    json_object_set_new(o, "solver", text(bn_case_solver(c)));
    json_object_set_new(o, "case", text(bn_case_path(c)));
    json_object_set_new(o, "title", text(bn_case_text(c, "case.title")));
    json_object_set_new(o, "engine", text(bn_sim_engine_name(sim)));
    json_object_set_new(o, "device", device(s));
    json_object_set_new(o, "driver", s->device ? text(s->device->driver) : json_null());
    json_object_set_new(o, "precision", text(p->precision == BN_DOUBLE ? "double" : "single"));
    json_object_set_new(o, "grid", json_pack("[I,I,I]", (json_int_t)p->grid.n[0], (json_int_t)p->grid.n[1], (json_int_t)p->grid.n[2]));
    json_object_set_new(o, "boxes", json_integer((json_int_t)bn_domain_boxes(bn_sim_domain(sim))));
    json_object_set_new(o, "work_group", s->work_group[0] ? json_pack("[I,I,I]", (json_int_t)s->work_group[0], (json_int_t)s->work_group[1],
                                                                       (json_int_t)s->work_group[2])
                                                          : text("default"));
    json_object_set_new(o, "steps", json_integer((json_int_t)now.step));
    json_object_set_new(o, "time", number(now.time));
    json_object_set_new(o, "residual", number(now.residual));
    json_object_set_new(o, "converged", json_boolean(now.converged));
    json_object_set_new(o, "interrupted", json_boolean(s->status == BN_INTERRUPTED));
    json_object_set_new(o, "stopped_by", text(s->stopped_by));
    json_object_set_new(o, "status", text(bn_status_text(s->status)));
    json_object_set_new(o, "exit_code", json_integer(bn_exit_code(s->status)));
    json_object_set_new(o, "error", text(s->error));
    json_object_set_new(o, "selftest", text(s->selftest));
}

static void add_speed(json_t *o, bn_sim *sim, const bn_summary *s)
{
    const bn_build_stats build = bn_domain_build_stats(bn_sim_domain(sim));
    const double bytes = bn_declared_bytes(sim), steps = s->steps > 0 ? s->steps : (double)NAN;
    json_t *t = json_object(), *r = json_object(), *b = json_object();
    json_object_set_new(t, "total", number(s->total));
    json_object_set_new(t, "setup", number(s->setup));
    json_object_set_new(t, "build", number(build.seconds));
    json_object_set_new(t, "steps", number(s->steps));
    json_object_set_new(t, "output", number(s->output));
    json_object_set_new(o, "timings", t);
    json_object_set_new(r, "cells_per_second", number((double)bn_sim_now(sim).items / steps));
    json_object_set_new(r, "bytes_per_second", number(bytes > 0 ? bytes / steps : (double)NAN));
    json_object_set_new(r, "bandwidth_limit", number(s->bandwidth > 0 ? s->bandwidth : (double)NAN));
    json_object_set_new(r, "share_of_bandwidth_limit", number(bytes > 0 && s->bandwidth > 0 ? bytes / steps / s->bandwidth : (double)NAN));
    json_object_set_new(o, "rate", r);
    json_object_set_new(b, "programs", json_integer(build.built));
    json_object_set_new(b, "from_our_cache", json_integer(build.cached));
    json_object_set_new(b, "cache", text(build.cache));
    json_object_set_new(o, "build", b);
    json_object_set_new(o, "profile", profile(sim, s->bandwidth));
}

static void add_findings(json_t *o, bn_sim *sim)
{
    const bn_plan *p = bn_sim_plan(sim);
    const bn_results *r = bn_sim_results(sim);
    json_t *notes = json_object(), *results = json_object(), *units = json_object();
    for (size_t i = 0; i < p->note_count; i++)
        json_object_set_new(notes, p->notes[i].name, number(p->notes[i].value));
    for (size_t i = 0; i < bn_results_count(r); i++) {
        const bn_result_info *info = bn_results_at(r, i);
        json_object_set_new(results, info->name, number(info->value));
        json_object_set_new(units, info->name, text(info->unit));
    }
    json_object_set_new(o, "notes", notes);
    json_object_set_new(o, "results", results);
    json_object_set_new(o, "units", units);
}

bn_status bn_summary_write(bn_context *ctx, bn_sim *sim, bn_folder *folder, const bn_summary *s)
{
    bn_status st = BN_OK;
    json_t *o = json_object(), *fields = json_object();
    char *dump = NULL, *path = NULL;
    add_run(o, sim, s);
    add_speed(o, sim, s);
    add_findings(o, sim);
    st = s->status == BN_DEVICE ? BN_OK : hash_fields(ctx, sim, fields); /* a lost device can't be read */
    json_object_set_new(o, "fields", fields);
    if (st != BN_OK)
        goto out;
    if (!(dump = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(17)))) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for summary.json");
        goto out;
    }
    BN_GO(bn_folder_name(folder, &path, "summary.json"));
    BN_GO(bn_file_write(ctx, path, dump, strlen(dump)));
out:
    json_decref(o);
    free(dump);
    free(path);
    return st;
}
