/* bench_suite_run.c: cases of published studies as runs of their own, whose results, series and pictures a table takes.
 */
#include "bench/bench_suites.h"

#include "api/embedded_files.h"
#include "io/file.h"
#include "run/child.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A day: longer than any run that somebody waits for. */
static const double most_seconds = 86400;
enum { ARGUMENTS = 48 };

const char *bn_suite_file(const char *path)
{
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        if (strcmp(f->name, path) == 0)
            return f->text;
    return NULL;
}

static bn_status check(const bn_suite *s, const char *text, const char *const *sets)
{
    bn_case *c = NULL;
    const char *keys[ARGUMENTS];
    size_t count = 0;
    for (; *sets; sets++)
        if ((*sets)[0] != '-' && count < ARGUMENTS)
            keys[count++] = *sets;
    const bn_status st = bn_case_parse(s->d->wish->ctx, "bench", text, keys, count, &c);
    bn_case_destroy(&c);
    return st;
}

/* FOLDER/runs/NAME for the results, which a temporary one stands in for. */
static bn_status name_folders(const bn_suite *s, const char *name, char path[BN_BENCH_PATH], bn_suite_run *out)
{
    char base[BN_BENCH_PATH];
    if (s->folder)
        snprintf(base, sizeof base, "%s/runs", s->folder);
    else
        BN_TRY(bn_bench_temporary(s->d->wish->ctx, base));
    BN_TRY(bn_directory_create(s->d->wish->ctx, base));
    if (snprintf(out->folder, sizeof out->folder, "%s/%s", base, name) >= (int)sizeof out->folder ||
        snprintf(path, BN_BENCH_PATH, "%s/%s.toml", base, name) >= BN_BENCH_PATH)
        return bn_fail(s->d->wish->ctx, BN_USAGE, "the path of --out is too long");
    return BN_OK;
}

/* The run's last words in one line. */
static void note_failure(const bn_suite *s, const char *name, const bn_child *child)
{
    const char *said = child->said ? child->said : "";
    snprintf(s->why, BN_SUITE_WHY, "binnacle run ended with %s %d%s%.*s",
             child->end == BN_CHILD_EXITED ? "exit code" : "signal", child->code, said[0] ? ": " : "",
             (int)strcspn(said, "\n"), said);
    bn_log(s->d->wish->ctx, BN_LOG_WARNING, "%s: %s", name, s->why);
    *s->failed = true;
}

/* The files beside the embedded case `path` that its text names. */
static bn_status write_files(const bn_suite *s, const char *path, const char *text, const char *run)
{
    const size_t begin = (size_t)(strrchr(path, '/') + 1 - path), base = (size_t)(strrchr(run, '/') - run);
    for (const bn_embedded *f = bn_embedded_files; f->name; f++) {
        char quoted[128], to[BN_BENCH_PATH + 128];
        if (strncmp(f->name, path, begin) != 0 || strcmp(f->name, path) == 0)
            continue;
        snprintf(quoted, sizeof quoted, "\"%s\"", f->name + begin);
        snprintf(to, sizeof to, "%.*s/%s", (int)base, run, f->name + begin);
        if (strstr(text, quoted))
            BN_TRY(bn_file_write(s->d->wish->ctx, to, f->text, f->bytes ? f->bytes : strlen(f->text)));
    }
    return BN_OK;
}

bn_status bn_suite_simulate(const bn_suite *s, const char *name, const char *files, const char *text,
                            const char *const *sets, bn_suite_run *out)
{
    bn_context *ctx = s->d->wish->ctx;
    char path[BN_BENCH_PATH], index[32], summary[BN_BENCH_PATH + 32];
    const char *arguments[ARGUMENTS] = { s->d->wish->program, "run",     path,     "--device", index, "--out",
                                         out->folder,         "--force", "--quiet" };
    size_t n = 9;
    bn_child child;
    *out = (bn_suite_run){ 0 };
    s->why[0] = '\0';
    if (!text)
        return bn_fail(ctx, BN_USAGE, "the program has no case for %s", name);
    if (s->checks)
        return files ? BN_OK : check(s, text, sets);
    BN_TRY(name_folders(s, name, path, out));
    BN_TRY(bn_file_write(ctx, path, text, strlen(text)));
    if (files)
        BN_TRY(write_files(s, files, text, out->folder));
    snprintf(index, sizeof index, "%zu", bn_device_describe(s->d->plain)->index);
    static const char device[] = "--device=";
    for (; *sets && n + 3 <= ARGUMENTS; sets++) {
        if (strncmp(*sets, device, sizeof device - 1) == 0) {
            arguments[4] = *sets + sizeof device - 1;
            continue;
        }
        if ((*sets)[0] != '-')
            arguments[n++] = "--set";
        arguments[n++] = *sets;
    }
    arguments[n] = NULL;
    if (!s->d->wish->quiet)
        fprintf(stderr, "bench: run %s\n", name);
    BN_TRY(bn_child_run(ctx, s->d->wish->stop, arguments, most_seconds, &child));
    snprintf(summary, sizeof summary, "%s/summary.json", out->folder);
    if (child.end == BN_CHILD_EXITED && child.code == 0)
        out->summary = json_load_file(summary, 0, NULL);
    if (out->summary)
        *s->measured = true;
    else
        note_failure(s, name, &child);
    bn_child_release(&child);
    return BN_OK;
}

void bn_suite_run_release(const bn_suite *s, bn_suite_run *r)
{
    json_decref(r->summary);
    char *end = strrchr(r->folder, '/');
    if (!s->folder && end && !s->checks) {
        *end = '\0';
        bn_bench_remove_tree(r->folder);
    }
    *r = (bn_suite_run){ 0 };
}

double bn_suite_result(const bn_suite_run *r, const char *name)
{
    const json_t *results = json_object_get(r->summary, "results"), *one = json_object_get(results, name);
    return json_is_number(one) ? json_number_value(one) : bn_json_number(one, "value");
}

bn_status bn_suite_run_table(const bn_suite *s, const bn_suite_run *r, const char *file, bn_csv_table *out)
{
    char path[BN_BENCH_PATH + 64], *text = NULL;
    size_t bytes;
    *out = (bn_csv_table){ 0 };
    if (!r->summary)
        return BN_OK; /* nothing was run */
    snprintf(path, sizeof path, "%s/%s", r->folder, file);
    BN_TRY(bn_file_read(s->d->wish->ctx, path, (size_t)1 << 26, &text, &bytes));
    const bn_status st = bn_csv_parse(s->d->wish->ctx, path, text, out);
    free(text);
    return st;
}

bn_status bn_suite_show(const bn_suite *s, const bn_suite_run *r, const char *name, const char *caption)
{
    char folder[BN_BENCH_PATH + 16], last[256] = "", path[BN_BENCH_PATH + 300];
    if (!s->folder || !r->summary)
        return BN_OK;
    snprintf(folder, sizeof folder, "%s/pictures", r->folder);
    DIR *d = opendir(folder);
    if (!d)
        return bn_fail(s->d->wish->ctx, BN_IO, "cannot read %s: %s", folder, strerror(errno));
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        const size_t bytes = strlen(e->d_name);
        if (strncmp(e->d_name, name, strlen(name)) == 0 && bytes > 4 && strcmp(e->d_name + bytes - 4, ".png") == 0 &&
            strcmp(e->d_name, last) > 0)
            snprintf(last, sizeof last, "%s", e->d_name);
    }
    (void)closedir(d);
    if (!last[0])
        return bn_fail(s->d->wish->ctx, BN_IO, "the run has left no picture %s*.png in %s", name, folder);
    snprintf(path, sizeof path, "%s/%s", folder + strlen(s->folder) + 1, last);
    return json_array_append_new(s->pictures,
                                 json_pack("{s:o, s:s}", "path", bn_json_text(path), "caption", caption)) == 0
               ? BN_OK
               : bn_fail(s->d->wish->ctx, BN_MEMORY, "no memory for a picture");
}
