/* cli_sweep.c: `binnacle sweep`: a case over values of its keys. Every point is a run in a process and a folder of its
 * own, as many at once as there are devices; a table and charts of all results. A sweep that was stopped goes on where
 * it was. */
#include "cli/cli_sweep.h"

#include "binnacle/case.h"
#include "case/schema.h"
#include "cli/cli_text.h"
#include "cli/commands.h"
#include "io/file.h"
#include "run/child.h"
#include "sim/solver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { AT_ONCE = 64, FILE_MOST = 1 << 26 };

/* One running point. */
typedef struct lane {
    bn_child child;
    size_t point;
    double begin;
    char device[16];
} lane;

bn_path bn_sweep_path(const bn_sweep *s, size_t point, const char *name)
{
    char below[256];
    snprintf(below, sizeof below, "points/%04zu%s%s", point + 1, name[0] ? "/" : "", name);
    return bn_path_join(s->out, below);
}

/* What a point is, as texts for --set: its keys and what the command line sets; free() the list. */
static const char **settings(const bn_sweep *s, size_t point, char (*texts)[BN_SWEEP_TEXT], size_t *count)
{
    const bn_options *o = s->cli->options;
    const char **list = calloc(o->set_count + s->axis_count + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < o->set_count; i++)
        list[(*count)++] = o->set[i];
    for (size_t a = 0; list && a < s->axis_count; a++) {
        snprintf(texts[a], BN_SWEEP_TEXT, "%s=%s", s->axis[a].key, s->axis[a].text[bn_sweep_index(s, point, a)]);
        list[(*count)++] = texts[a];
    }
    return list;
}

/* Units of axes whose values were given without one. */
static void take_unit(void *user, const bn_case_change *c)
{
    bn_sweep *s = user;
    char name[BN_SWEEP_TEXT];
    const char *dot = strrchr(c->key, '.');
    if (c->item > 0) /* as --vary names it: layer.2.thickness */
        snprintf(name, sizeof name, "%.*s.%zu%s", (int)(dot - c->key), c->key, c->item, dot);
    else
        snprintf(name, sizeof name, "%s", c->key);
    for (size_t a = 0; a < s->axis_count; a++)
        if (!s->axis[a].unit[0] && !s->axis[a].words && strcmp(s->axis[a].key, name) == 0)
            snprintf(s->axis[a].si, sizeof s->axis[a].si, "%s", c->unit);
}

/* All mistakes before the first point: every point's case is read. */
static bn_status check_points(bn_sweep *s)
{
    for (size_t p = 0; p < s->points; p++) {
        char texts[BN_SWEEP_AXES][BN_SWEEP_TEXT];
        size_t count;
        bn_case *c = NULL;
        const char **list = settings(s, p, texts, &count);
        bn_status st = list ? bn_case_read(s->cli->ctx, s->cli->options->args[0], list, count, &c)
                            : bn_fail(s->cli->ctx, BN_MEMORY, "no memory for point %zu of a sweep", p + 1);
        if (st == BN_OK)
            st = bn_case_changes(c, take_unit, s);
        bn_case_destroy(&c);
        free(list);
        BN_TRY(st);
    }
    return BN_OK;
}

/* The sweep as a document: a folder with the same document holds the same sweep. */
static bn_status describe(const bn_sweep *s, json_t **out)
{
    char *text = NULL;
    size_t bytes;
    BN_TRY(bn_file_read(s->cli->ctx, s->cli->options->args[0], FILE_MOST, &text, &bytes));
    json_t *d = json_pack("{s:o, s:[], s:[], s:b}", "case", bn_json_text(text), "set", "vary", "zip",
                          s->cli->options->sweep.zip);
    if (s->goal[0] && d &&
        (json_object_set_new(d, "optimize", bn_json_text(s->cli->options->sweep.optimize)) != 0 ||
         json_object_set_new(d, "evaluations", json_integer((json_int_t)s->room)) != 0)) {
        json_decref(d);
        d = NULL;
    }
    bool good = d != NULL;
    for (size_t i = 0; good && i < s->cli->options->set_count; i++)
        good = json_array_append_new(json_object_get(d, "set"), bn_json_text(s->cli->options->set[i])) == 0;
    for (size_t i = 0; good && i < s->cli->options->sweep.vary_count; i++)
        good = json_array_append_new(json_object_get(d, "vary"), bn_json_text(s->cli->options->sweep.vary[i])) == 0;
    free(text);
    *out = d;
    return good ? BN_OK : bn_fail(s->cli->ctx, BN_MEMORY, "no memory to describe a sweep");
}

/* A new folder gets the description; in one that has it, it must be the same. */
static bn_status open_folder(const bn_sweep *s)
{
    const bn_path path = bn_path_join(s->out, "sweep.json");
    json_t *wanted = NULL, *there = NULL;
    struct stat info;
    bn_status st = BN_OK;
    BN_GO(describe(s, &wanted));
    if (stat(path.text, &info) == 0 && !s->cli->options->run.force) {
        errno = 0;
        there = json_load_file(path.text, 0, NULL);
        if (!there && errno != 0)
            st = bn_fail(s->cli->ctx, BN_IO, "%s: %s", path.text, strerror(errno));
        else if (!there || !json_equal(there, wanted))
            st = bn_fail(s->cli->ctx, BN_IO,
                         "%s holds another sweep (its case or --vary, --set, --zip, --optimize differ): --out names "
                         "another folder, "
                         "--force begins anew in this one",
                         s->out);
        goto out;
    }
    BN_GO(bn_directory_create(s->cli->ctx, s->out));
    st = bn_json_write(s->cli->ctx, path.text, wanted, JSON_INDENT(2) | JSON_SORT_KEYS);
out:
    json_decref(wanted);
    json_decref(there);
    return st;
}

/* Takes what a point's run left, if it came to an end; else `why` (may be NULL) tells. */
static bool finished(bn_sweep *s, size_t point, const char **why)
{
    errno = 0;
    json_t *summary = json_load_file(bn_sweep_path(s, point, "summary.json").text, 0, NULL);
    const char *status = json_string_value(json_object_get(summary, "status"));
    const bool good = status && strcmp(status, "success") == 0;
    if (!good) {
        if (why)
            *why = summary ? "no success" : errno != 0 ? strerror(errno) : "no JSON";
        json_decref(summary);
        return false;
    }
    json_decref(s->summary[point]);
    s->summary[point] = summary;
    return true;
}

static bn_status start(const bn_sweep *s, lane *l)
{
    const bn_options *o = s->cli->options;
    char texts[BN_SWEEP_AXES][BN_SWEEP_TEXT], steps[32];
    size_t count, n = 0;
    const char **list = settings(s, l->point, texts, &count), **arguments = calloc(2 * count + 24, sizeof *arguments);
    const bn_path folder = bn_sweep_path(s, l->point, "");
    bn_status st = BN_OK;
    if (!list || !arguments)
        BN_GO(bn_fail(s->cli->ctx, BN_MEMORY, "no memory to start point %zu", l->point + 1));
    const char *const fixed[] = { s->cli->program, "run", o->args[0], "--quiet", "--force", "--out", folder.text };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        arguments[n++] = fixed[i];
    if (o->run.reference)
        arguments[n++] = "--reference";
    else
        arguments[n++] = "--device", arguments[n++] = l->device;
    if (o->run.steps > 0) {
        snprintf(steps, sizeof steps, "%lld", o->run.steps);
        arguments[n++] = "--steps", arguments[n++] = steps;
    }
    if (!o->full) /* results and tables are what a sweep is for */
        arguments[n++] = "--set", arguments[n++] = "output.vtk=false", arguments[n++] = "--set",
        arguments[n++] = "output.pictures=false";
    for (size_t i = 0; i < count; i++)
        arguments[n++] = "--set", arguments[n++] = list[i];
    BN_GO(bn_child_start(s->cli->ctx, arguments, BN_CHILD_ERRORS, &l->child));
    l->begin = bn_seconds_now();
out:
    free(arguments);
    free(list);
    return st;
}

/* The reason of a point that failed, in one line. */
static char *reason_of(const bn_child *child)
{
    const char *said = child->said ? child->said : "";
    if (strncmp(said, "binnacle: ", 10) == 0)
        said += 10;
    size_t bytes = strlen(said);
    while (bytes > 0 && said[bytes - 1] == '\n')
        bytes--;
    char *reason = bytes ? strndup(said, bytes < 400 ? bytes : 400) : NULL;
    if (!reason && (reason = malloc(64)) != NULL)
        bn_child_end_text(child, reason);
    for (char *at = reason; at && *at; at++)
        *at = *at == '\n' || *at == '"' || *at == ',' ? ';' : *at;
    return reason;
}

static void print_progress(const bn_sweep *s, const lane *l, size_t done, double begin, size_t before)
{
    char values[256] = "", left[BN_SHORT_TEXT];
    size_t at = 0;
    for (size_t a = 0; a < s->axis_count && at < sizeof values; a++)
        at += (size_t)snprintf(values + at, sizeof values - at, "%s%s = %s", a ? ", " : "", s->axis[a].key,
                               s->axis[a].text[bn_sweep_index(s, l->point, a)]);
    bn_text_seconds(left, (bn_seconds_now() - begin) / (double)(done - before) * (double)(s->points - done));
    fprintf(stderr, "%zu of %zu  %s  %s%.1f s, %s left\n", done, s->points, values,
            s->reason[l->point] ? "failed, " : "", bn_seconds_now() - l->begin, left);
}

/* Takes the end of a point's process. */
static bn_status take(bn_sweep *s, lane *l)
{
    const bool ended = l->child.end == BN_CHILD_EXITED && l->child.code == 0;
    const char *why = NULL;
    char text[96];
    if (ended && finished(s, l->point, &why))
        return BN_OK;
    if (ended)
        snprintf(text, sizeof text, "summary.json: %s", why);
    s->reason[l->point] = ended ? strdup(text) : reason_of(&l->child);
    return s->reason[l->point] ? BN_OK
                               : bn_fail(s->cli->ctx, BN_MEMORY, "no memory for what point %zu said", l->point + 1);
}

static bn_status run_points(bn_sweep *s, lane *lanes, size_t lane_count)
{
    size_t next = 0, done = 0, running = 0;
    bn_child children[AT_ONCE];
    const double begin = bn_seconds_now();
    for (size_t p = 0; p < s->points; p++)
        done += !s->cli->options->run.force && finished(s, p, NULL);
    const size_t before = done;
    if (before > 0 && !s->cli->options->run.quiet)
        fprintf(stderr, "%zu of %zu points are there already\n", before, s->points);
    for (;;) {
        for (size_t i = 0; i < lane_count && !*s->cli->stop; i++) {
            while (next < s->points && s->summary[next])
                next++;
            if (lanes[i].child.running || next == s->points)
                continue;
            lanes[i].point = next++;
            BN_TRY(start(s, &lanes[i]));
            running++;
        }
        if (running == 0)
            return *s->cli->stop ? bn_fail(s->cli->ctx, BN_INTERRUPTED,
                                           "stopped after %zu of %zu points; the same command goes on with the others",
                                           done, s->points)
                                 : BN_OK;
        for (size_t i = 0; i < lane_count; i++)
            children[i] = lanes[i].child;
        (void)bn_child_poll(children, lane_count);
        for (size_t i = 0; i < lane_count; i++) {
            const bool was = lanes[i].child.running;
            lanes[i].child = children[i];
            if (was && *s->cli->stop)
                bn_child_kill(&lanes[i].child);
            if (!was || lanes[i].child.running)
                continue;
            running--;
            if (!*s->cli->stop) {
                BN_TRY(take(s, &lanes[i]));
                done++;
                if (!s->cli->options->run.quiet)
                    print_progress(s, &lanes[i], done, begin, before);
            }
            bn_child_release(&lanes[i].child);
        }
    }
}

bn_status bn_sweep_evaluate(bn_sweep *s, size_t point)
{
    lane l = { .point = point };
    if (!s->cli->options->run.force && finished(s, point, NULL))
        return BN_OK;
    memcpy(l.device, s->device, sizeof l.device);
    bn_status st = start(s, &l);
    while (st == BN_OK && l.child.running && bn_child_poll(&l.child, 1) > 0)
        if (*s->cli->stop)
            bn_child_kill(&l.child);
    if (st == BN_OK && !*s->cli->stop)
        st = take(s, &l);
    bn_child_release(&l.child);
    return st;
}

/* One point at a time on each device, unless --jobs says otherwise. */
static bn_status make_lanes(bn_sweep *s, lane lanes[AT_ONCE], size_t *count)
{
    size_t indices[AT_ONCE] = { 0 }, devices = 0;
    const bn_options *o = s->cli->options;
    if (o->run.reference)
        devices = 1;
    else
        BN_TRY(bn_device_select(s->cli->ctx, o->run.device, indices, AT_ONCE, &devices, NULL));
    devices = devices < AT_ONCE ? devices : AT_ONCE;
    *count = o->sweep.jobs > 0 ? (size_t)o->sweep.jobs : devices;
    for (size_t i = 0; i < *count; i++)
        snprintf(lanes[i].device, sizeof lanes[i].device, "%zu", o->run.reference ? 0 : indices[i % devices]);
    memcpy(s->device, lanes[0].device, sizeof s->device);
    return BN_OK;
}

bn_status bn_cli_sweep(const bn_cli *cli)
{
    bn_sweep s = { .cli = cli };
    lane lanes[AT_ONCE] = { 0 };
    size_t lane_count = 0, failed = 0;
    char out[4096];
    const char *name = bn_path_last(cli->options->args[0]);
    bn_status st = BN_OK;
    snprintf(out, sizeof out, "%.*s.sweep", (int)strcspn(name, "."), name);
    s.out = cli->options->run.out ? cli->options->run.out : out;
    BN_GO(bn_sweep_axes(&s));
    s.summary = calloc(s.room, sizeof *s.summary);
    s.reason = calloc(s.room, sizeof *s.reason);
    if (!s.summary || !s.reason)
        BN_GO(bn_fail(cli->ctx, BN_MEMORY, "no memory for a sweep of %zu points", s.room));
    BN_GO(check_points(&s));
    BN_GO(make_lanes(&s, lanes, &lane_count));
    BN_GO(open_folder(&s));
    BN_GO(s.goal[0] ? bn_sweep_optimize(&s) : run_points(&s, lanes, lane_count));
    BN_GO(bn_sweep_write(&s));
    for (size_t p = 0; p < s.points; p++)
        failed += s.reason[p] != NULL;
    if (failed > 0 && failed < s.points && s.goal[0])
        bn_log(cli->ctx, BN_LOG_WARNING, "%zu of %zu points failed; %s/sweep.csv has the reasons, the first: %s",
               failed, s.points, s.out, bn_sweep_first_reason(&s));
    else if (failed > 0)
        st = bn_fail(cli->ctx, failed == s.points ? BN_DEVICE : BN_DIVERGED,
                     "%zu of %zu points failed; %s/sweep.csv has the reasons, the first: %s", failed, s.points, s.out,
                     bn_sweep_first_reason(&s));
out:
    for (size_t i = 0; i < lane_count; i++)
        bn_child_release(&lanes[i].child);
    bn_sweep_release(&s);
    return st;
}
