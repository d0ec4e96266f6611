/* summary.c: the summary as JSON. Numbers that are not finite become null: JSON has no others. */
#include "output/summary.h"

#include "api/embedded_files.h"
#include "api/parallel_rows.h"
#include "output/html_report.h"
#include "output/json_text.h"
#include "output/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An object being filled. Lack of memory for an entry is recorded, and checked once at the end. */
typedef struct object {
    json_t *json;
    bool *failed;
} object;

static void put(object b, const char *key, json_t *value)
{
    if (json_object_set_new(b.json, key, value) != 0)
        *b.failed = true;
}

static object put_object(object b, const char *key)
{
    object inner = { json_object(), b.failed };
    put(b, key, inner.json);
    return inner;
}

static json_t *number(double x) { return bn_json_real(x); }
static json_t *text(const char *s) { return s ? bn_json_text(s) : json_null(); }
static json_t *count(unsigned long long n) { return json_integer((json_int_t)n); }

static json_t *triple(unsigned long long x, unsigned long long y, unsigned long long z)
{
    return json_pack("[I,I,I]", (json_int_t)x, (json_int_t)y, (json_int_t)z);
}

/* A field on its way through its bands of rows or layers, component by component unless these lie together. */
typedef struct field_hash {
    bn_field *field;
    uint64_t hash;
    size_t point;         /* bytes */
    int component, count; /* of those that are read together */
    bn_region band;
    void *values; /* of the band */
} field_hash;
enum { HASH_BAND_BYTES = 1 << 22 };

/* Reads the next band, unless there is none. */
static bn_status read_band(field_hash *h)
{
    const bn_domain *d = bn_field_domain(h->field);
    while (h->count > 0 && !bn_domain_next_band(d, HASH_BAND_BYTES / h->point, &h->band)) {
        h->component += h->count;
        h->band = (bn_region){ .n = { 0 } };
        if (h->component == bn_field_describe(h->field)->components)
            h->count = 0;
    }
    return h->count == 0 ? BN_OK
                         : bn_field_read_region(h->field, h->component, h->count, &h->band, BN_OWN_TYPE, h->values);
}

static void hash_bands(void *user, size_t first, size_t end)
{
    field_hash *h = user;
    for (size_t i = first; i < end; i++)
        if (h[i].count > 0)
            h[i].hash = bn_hash(h[i].hash, h[i].values, bn_region_points(&h[i].band) * h[i].point);
}

static bn_status begin_hash(bn_context *ctx, bn_field *field, field_hash *h)
{
    const bn_field_desc *d = bn_field_describe(field);
    *h = (field_hash){ .field = field, .hash = BN_HASH_START };
    h->count = d->role & BN_INTERLEAVED ? d->components : 1;
    h->point = (size_t)h->count * bn_field_element_bytes(field);
    const size_t row = bn_domain_grid(bn_field_domain(field))->n[0] * h->point;
    h->values = malloc(row > HASH_BAND_BYTES ? row : HASH_BAND_BYTES);
    return h->values ? BN_OK : bn_fail(ctx, BN_MEMORY, "no memory for a band of field %s", d->name);
}

/* A hash over the bits of each field that is written or compared, so that runs can be compared without their files. One
 * byte after the other: fields beside each other. */
static bn_status hash_fields(bn_context *ctx, bn_sim *sim, object out)
{
    bn_status st = BN_OK;
    const size_t most = bn_sim_field_count(sim);
    size_t fields = 0;
    field_hash *h = calloc(most + 1, sizeof *h);
    if (!h)
        return bn_fail(ctx, BN_MEMORY, "no memory for the hashes of fields");
    BN_GO(bn_sim_update_outputs(sim));
    for (size_t i = 0; i < most; i++) {
        const bn_sim_field_info *f = bn_sim_field_at(sim, i);
        if (f->output || f->compare)
            BN_GO(begin_hash(ctx, bn_sim_field(sim, f->name), &h[fields++]));
    }
    for (size_t left = fields; left > 0; bn_parallel_jobs(fields, hash_bands, h)) {
        left = 0;
        for (size_t i = 0; i < fields; i++) {
            BN_GO(read_band(&h[i]));
            left += h[i].count > 0;
        }
    }
    for (size_t i = 0; i < fields; i++) {
        char hex[17];
        snprintf(hex, sizeof hex, "%016llx", (unsigned long long)h[i].hash);
        object field = put_object(out, bn_field_describe(h[i].field)->name);
        put(field, "bytes", count(bn_field_bytes(h[i].field)));
        put(field, "hash", text(hex));
    }
out:
    for (size_t i = 0; i < fields; i++)
        free(h[i].values);
    free(h);
    return st;
}

bn_status bn_summary_hash_fields(bn_context *ctx, bn_sim *sim, bn_summary *s)
{
    bool failed = !(s->fields = json_object());
    BN_TRY(hash_fields(ctx, sim, (object){ s->fields, &failed }));
    return failed ? bn_fail(ctx, BN_MEMORY, "no memory for the hashes of fields") : BN_OK;
}

static void add_profile(object o, bn_sim *sim, double bandwidth)
{
    bn_profile_row rows[BN_PROFILE_ROWS];
    const size_t found = bn_profile_rows(sim, true, rows);
    json_t *list = json_array();
    for (size_t i = 0; i < found; i++) {
        object row = { json_object(), o.failed };
        put(row, "kernel", text(rows[i].kernel));
        put(row, "calls", count(rows[i].calls));
        put(row, "seconds", number(rows[i].seconds));
        put(row, "bytes", number(rows[i].bytes));
        put(row, "flops", number(rows[i].flops));
        put(row, "share", number(rows[i].bytes / rows[i].seconds / bandwidth)); /* of the copy bandwidth */
        if (json_array_append_new(list, row.json) != 0)
            *o.failed = true;
    }
    put(o, "profile", list);
}

static void add_device(object o, const bn_summary *s)
{
    if (!s->device) {
        put(o, "device", json_null());
        return;
    }
    object d = put_object(o, "device");
    put(d, "index", count(s->device->index));
    put(d, "name", text(s->device->name));
    put(d, "platform", text(s->device->platform));
    put(d, "driver", text(s->device->driver));
    put(d, "version", text(s->device->version));
    put(d, "threads", s->device->threads > 0 ? count(s->device->threads) : json_null()); /* null: all of a CPU */
    put(d, "selected_because", text(s->selected_because));
    put(d, "devices", count(s->devices ? bn_device_global_count(s->devices) : 1)); /* all of its group */
    put(d, "ranks", count((size_t)s->ranks));
    json_t *names = json_array();
    for (size_t i = 0; s->devices && i < bn_device_local_count(s->devices); i++)
        if (json_array_append_new(names, text(bn_device_local(s->devices, i)->name)) != 0)
            *d.failed = true;
    put(d, "names", names);
}

static void add_run(object o, bn_sim *sim, const bn_summary *s)
{
    const bn_case *c = bn_sim_case(sim);
    const bn_plan *p = bn_sim_plan(sim);
    const size_t *group = s->work_group;
    put(o, "binnacle", text(bn_version()));
    put(o, "solver", text(bn_case_solver(c)));
    put(o, "case", text(bn_case_path(c)));
    put(o, "title", text(bn_case_text(c, "case.title")));
    put(o, "engine", text(bn_sim_engine_name(sim)));
    add_device(o, s);
    put(o, "precision", text(p->precision == BN_DOUBLE ? "double" : "single"));
    put(o, "grid", triple(p->grid.n[0], p->grid.n[1], p->grid.n[2]));
    put(o, "boxes", count(bn_domain_boxes(bn_sim_domain(sim))));
    put(o, "work_group", group[0] ? triple(group[0], group[1], group[2]) : text("default"));
    put(o, "tuning", text(bn_sim_tuning_source(sim)));
    const bn_tuning *t = bn_sim_tuning(sim);
    object shapes = t->count ? put_object(o, "tuned_work_groups") : o;
    for (size_t i = 0; i < t->count; i++)
        put(shapes, t->groups[i].kernel, triple(t->groups[i].shape[0], t->groups[i].shape[1], t->groups[i].shape[2]));
    object choices = t->choice_count ? put_object(o, "tuned_choices") : o;
    for (size_t i = 0; i < t->choice_count; i++)
        put(choices, t->choices[i].key, text(t->choices[i].value));
    put(o, "selftest", text(s->selftest));
}

json_t *bn_summary_converged(bn_sim *sim)
{
    return bn_sim_plan(sim)->course.tolerance > 0 ? json_boolean(bn_sim_now(sim).converged) : json_null();
}

static void add_outcome(object o, bn_sim *sim, const bn_summary *s)
{
    const bn_sim_state now = bn_sim_now(sim);
    put(o, "steps", count(now.step));
    const bn_guard *guard = bn_sim_guarded(sim);
    if (guard->every > 0) {
        object g = put_object(o, "guard");
        put(g, "every", count(guard->every));
        put(g, "steps", count(guard->steps));
        put(g, "seconds", number(guard->seconds));
    }
    put(o, "resumed_from", s->resumed_from > 0 ? count(s->resumed_from) : json_null());
    put(o, bn_solver_coordinate(bn_sim_plan(sim)->solver).name, number(now.time));
    put(o, "residual", number(now.residual));
    put(o, "converged", bn_summary_converged(sim));
    put(o, "status", text(bn_status_text(s->status)));
    put(o, "exit_code", json_integer(bn_exit_code(s->status)));
    put(o, "interrupted", json_boolean(s->status == BN_INTERRUPTED || s->status == BN_TERMINATED));
    put(o, "stopped_by", text(s->stopped_by));
    put(o, "error", text(s->error));
}

static void add_speed(object o, bn_sim *sim, const bn_summary *s)
{
    const bn_build_stats build = bn_domain_build_stats(bn_sim_domain(sim));
    object t = put_object(o, "timings");
    put(t, "total", number(s->total));
    put(t, "setup", number(s->setup));
    put(t, "selftest", number(s->testing));
    put(t, "build", number(build.seconds));
    put(t, "steps", number(s->steps));
    put(t, "output", number(s->output));
    put(t, "output_waits", number(s->output_waits));
    const double limit = s->bandwidth > 0 ? s->bandwidth : (double)NAN;
    object r = put_object(o, "rate");
    char rate[32];
    snprintf(rate, sizeof rate, "%s_per_second", bn_solver_counts(bn_sim_plan(sim)->solver));
    put(r, rate, number((double)(bn_sim_now(sim).items - s->items_before) / s->steps));
    put(r, "share_of_bandwidth_limit", number(s->bytes > 0 ? s->bytes / s->steps / limit : (double)NAN));
    put(r, "bandwidth_bytes_per_second", number(limit));
    object b = put_object(o, "build");
    put(b, "programs", count(build.built));
    put(b, "cached", count(build.cached));
    put(b, "cache", text(build.cache));
    add_profile(o, sim, limit);
}

/* How the devices share the work, where cuts can be moved. */
static void add_balance(object o, bn_sim *sim)
{
    const bn_load_balance *b = bn_sim_load_balance(sim);
    const bn_domain *d = bn_sim_domain(sim);
    if (!b->on)
        return;
    object to = put_object(o, "balance");
    put(to, "looks", count(b->looks));
    put(to, "moves", count(b->moves));
    put(to, "seconds", number(b->seconds));
    object busiest = put_object(to, "busiest"); /* device: its work over the mean of all */
    put(busiest, "highest", number(b->looks > 0 ? b->highest : (double)NAN));
    put(busiest, "mean", number(b->looks > 0 ? b->sum / (double)b->looks : (double)NAN));
    put(busiest, "last", number(b->looks > 0 ? b->busiest : (double)NAN));
    json_t *shares = json_array();
    for (size_t i = 0; i < bn_domain_boxes(d); i++)
        if (json_array_append_new(shares, number(bn_domain_share(d, i))) != 0)
            *to.failed = true;
    put(to, "shares", shares); /* of the cells */
}

bn_judgement bn_summary_judge(const bn_summary *s, const bn_result_info *r)
{
    if (s->cut_short || !(r->tolerance > 0))
        return BN_NOT_JUDGED;
    return fabs(r->value - r->expected) <= r->tolerance ? BN_AS_EXPECTED : BN_NOT_AS_EXPECTED;
}

static void add_findings(object o, bn_sim *sim, const bn_summary *s)
{
    const bn_plan *p = bn_sim_plan(sim);
    const bn_results *r = bn_sim_results(sim);
    object notes = put_object(o, "notes"), results = put_object(o, "results"), units = put_object(o, "units");
    object expected = put_object(o, "expected");
    for (size_t i = 0; i < p->note_count; i++) {
        put(notes, p->notes[i].name, p->notes[i].help[0] ? text(p->notes[i].help) : number(p->notes[i].value));
        put(units, p->notes[i].name, text(p->notes[i].unit));
    }
    for (size_t i = 0; i < bn_results_count(r); i++) {
        const bn_result_info *info = bn_results_at(r, i);
        put(results, info->name, number(info->value));
        put(units, info->name, text(info->unit));
        if (!isfinite(info->expected))
            continue;
        object known = put_object(expected, info->name);
        const bn_judgement agreement = bn_summary_judge(s, info);
        put(known, "value", number(info->expected));
        put(known, "tolerance", info->tolerance > 0 ? number(info->tolerance) : json_null());
        put(known, "difference", number(info->value - info->expected));
        put(known, "within", agreement == BN_NOT_JUDGED ? json_null() : json_boolean(agreement == BN_AS_EXPECTED));
        put(known, "source", text(info->source));
    }
}

bn_status bn_summary_write(bn_context *ctx, bn_sim *sim, bn_output_dir *folder, bn_summary *s)
{
    bool failed = false;
    object o = { json_object(), &failed };
    add_run(o, sim, s);
    add_outcome(o, sim, s);
    add_speed(o, sim, s);
    add_balance(o, sim);
    add_findings(o, sim, s);
    put(o, "fields", s->fields ? s->fields : json_object());
    s->fields = NULL;
    bn_status st = failed ? bn_fail(ctx, BN_MEMORY, "no memory for summary.json") : BN_OK;
    if (failed || !folder)
        goto out;
    BN_GO(bn_json_write(ctx, bn_output_dir_name(folder, "summary.json").text, o.json,
                        JSON_INDENT(2) | JSON_REAL_PRECISION(17)));
    if (bn_case_bool(bn_sim_case(sim), "output.report"))
        st = bn_html_report_write(ctx, sim, folder, o.json);
out:
    json_decref(o.json);
    return st;
}
