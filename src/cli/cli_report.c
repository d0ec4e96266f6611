/* cli_report.c: what the owner of a device on which Binnacle has not been tried can attach to an issue. Every part is
 * measured in a child process, since such a device may crash or hang; paths and the user's name are taken out of what
 * drivers say. */
#include "cli/cli_report.h"

#include "cli/cli_text.h"
#include "io/file.h"
#include "run/child.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { CHILD_SECONDS = 600, LOG_BYTES_MAX = 20000 };

static bool in_path(char c) { return c != '\0' && !isspace((unsigned char)c) && !strchr("\"'`:;,()<>[]|", c); }

/* Takes the folders from absolute paths, and the user's name wherever it stands as a word. In place: texts only get
 * shorter. */
static void remove_personal(char *text)
{
    const char *user = getenv("USER"), *home = getenv("HOME");
    const char *name = user && user[0] ? user : home && strrchr(home, '/') ? strrchr(home, '/') + 1 : "";
    const size_t name_bytes = strlen(name);
    char *to = text, before = ' ';
    for (const char *from = text; *from;) {
        if (*from == '/' && !in_path(before)) { /* a path: only its last part stays */
            const char *last = from;
            for (; in_path(*from); from++)
                if (*from == '/')
                    last = from + 1;
            from = last;
            before = '/';
        } else if (name_bytes > 0 && strncmp(from, name, name_bytes) == 0 && !isalnum((unsigned char)before) &&
                   !isalnum((unsigned char)from[name_bytes])) {
            from += name_bytes;
            before = *to++ = '~';
        } else {
            before = *to++ = *from++;
        }
    }
    *to = '\0';
}

static const char *verdict(const bn_child *child)
{
    return child->end == BN_CHILD_HUNG                ? "hung"
           : child->end == BN_CHILD_CRASHED           ? "crashed"
           : child->code == 0                         ? "passed"
           : child->code == bn_exit_code(BN_MISMATCH) ? "differs"
                                                      : "failed";
}

/* The lines of the child's output about cases, as a list; a failure is a document among them. */
static json_t *lines_of_json(const char *said)
{
    json_t *list = json_array();
    for (const char *line = said; list && line && *line;) {
        const size_t bytes = strcspn(line, "\n");
        json_t *row = json_loadb(line, bytes, 0, NULL);
        if (row && json_object_get(row, "case") && json_array_append(list, row) != 0) {
            json_decref(list);
            list = NULL;
        }
        json_decref(row);
        line += bytes + (line[bytes] == '\n');
    }
    return list;
}

/* One solver's self-test in one precision: {solver, precision, verdict, seconds, cases}. */
static bn_status test_solver(const bn_cli *cli, const bn_device_info *info, const char *solver, bool twice,
                             json_t *tests)
{
    char index[32];
    bn_child child;
    snprintf(index, sizeof index, "%zu", info->index);
    const char *precision = twice ? "double" : "single";
    const char *const arguments[] = { cli->program,  "self-test", solver,   "--device", index,
                                      "--precision", precision,   "--json", NULL };
    struct timespec begin, end;
    if (!cli->options->run.quiet)
        fprintf(stderr, "report: self-test of %s, %s precision\n", solver, precision);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    BN_TRY(bn_child_run(cli->ctx, cli->stop, arguments, CHILD_SECONDS, &child));
    clock_gettime(CLOCK_MONOTONIC, &end);
    json_t *row = json_pack("{s:s, s:s, s:s, s:i, s:f, s:o}", "solver", solver, "precision", precision, "verdict",
                            verdict(&child), "code", child.code, "seconds",
                            (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec), "cases",
                            lines_of_json(child.said));
    bn_child_release(&child);
    return row && json_array_append_new(tests, row) == 0 ? BN_OK
                                                         : bn_fail(cli->ctx, BN_MEMORY, "no memory for the report");
}

/* The first row of `bench` for each solver, and the limits of the device. */
static bn_status measure_solver(const bn_cli *cli, const bn_device_info *info, const char *solver, json_t *entry)
{
    char index[32];
    bn_child child;
    snprintf(index, sizeof index, "%zu", info->index);
    const char *const arguments[] = { cli->program, "bench", solver,   "--device", index, "--quick",
                                      "--size",     "1",     "--json", "--quiet",  NULL };
    if (!cli->options->run.quiet)
        fprintf(stderr, "report: speed of %s\n", solver);
    BN_TRY(bn_child_run(cli->ctx, cli->stop, arguments, CHILD_SECONDS, &child));
    json_t *document = json_loads(child.said, 0, NULL);
    const json_t *device = json_array_get(json_object_get(document, "devices"), 0);
    json_t *first = json_array_get(json_object_get(device, "rows"), 0);
    json_t *limits = json_object_get(json_object_get(device, "device"), "limits");
    json_t *row = first
                      ? json_incref(first)
                      : json_pack("{s:s, s:s, s:i}", "solver", solver, "trouble", verdict(&child), "code", child.code);
    const bool ok = row && json_array_append_new(json_object_get(entry, "bench"), row) == 0 &&
                    (!limits || json_object_set(entry, "limits", limits) == 0);
    json_decref(document);
    bn_child_release(&child);
    return ok ? BN_OK : bn_fail(cli->ctx, BN_MEMORY, "no memory for the report");
}

/* Messages of compilers about the programs in `folder`, which is emptied: {program: text}. Empty ones are left out. */
static bn_status take_logs(bn_context *ctx, const char *folder, json_t *logs)
{
    bn_status st = BN_OK;
    char text[LOG_BYTES_MAX + 1];
    DIR *dir = opendir(folder);
    if (!dir)
        return bn_fail(ctx, BN_IO, "%s: %s", folder, strerror(errno));
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        const char *suffix = strrchr(e->d_name, '.');
        const bn_path path = bn_path_join(folder, e->d_name);
        if (e->d_name[0] == '.' || !suffix)
            continue;
        FILE *f = strcmp(suffix, ".log") == 0 ? fopen(path.text, "r") : NULL;
        if (f) {
            text[fread(text, 1, LOG_BYTES_MAX, f)] = '\0';
            fclose(f);
            remove_personal(text);
            if (text[0] && st == BN_OK && json_object_set_new(logs, e->d_name, bn_json_text(text)) != 0)
                st = bn_fail(ctx, BN_MEMORY, "no memory for the report");
        }
        if (unlink(path.text) != 0 && st == BN_OK)
            st = bn_fail(ctx, BN_IO, "%s: %s", path.text, strerror(errno));
    }
    closedir(dir);
    return st;
}

static bn_status report_device(const bn_cli *cli, const bn_device_info *info, const char *folder, json_t *devices)
{
    json_t *entry = json_pack("{s:o, s:[], s:{}, s:[]}", "device", bn_cli_device_json(info, false), "self_tests",
                              "compiler_logs", "bench");
    if (!entry || json_array_append_new(devices, entry) != 0)
        return bn_fail(cli->ctx, BN_MEMORY, "no memory for the report");
    for (const char *const *solver = bn_solver_names(); *solver; solver++)
        for (int twice = 0; twice < (info->fp64 ? 2 : 1); twice++)
            BN_TRY(test_solver(cli, info, *solver, twice, json_object_get(entry, "self_tests")));
    BN_TRY(take_logs(cli->ctx, folder, json_object_get(entry, "compiler_logs")));
    for (const char *const *solver = bn_solver_names(); *solver; solver++)
        BN_TRY(measure_solver(cli, info, *solver, entry));
    return BN_OK;
}

/* How it went, for the person at the terminal. */
static void print_outcome(const json_t *devices, const char *path)
{
    for (size_t d = 0; d < json_array_size(devices); d++) {
        const json_t *entry = json_array_get(devices, d), *tests = json_object_get(entry, "self_tests");
        size_t passed = 0;
        for (size_t t = 0; t < json_array_size(tests); t++) {
            const json_t *test = json_array_get(tests, t);
            const char *outcome = json_string_value(json_object_get(test, "verdict"));
            if (strcmp(outcome, "passed") == 0)
                passed++;
            else
                printf("%s in %s precision %s\n", json_string_value(json_object_get(test, "solver")),
                       json_string_value(json_object_get(test, "precision")), outcome);
        }
        printf("%s: %zu of %zu self-tests passed\n",
               json_string_value(json_object_get(json_object_get(entry, "device"), "name")), passed,
               json_array_size(tests));
    }
    printf("%s can be attached to an issue: it holds no paths and no user's name.\n", path);
}

/* Measuring takes a minute or more: whether the file can be made there is asked before. */
static bn_status check_place(bn_context *ctx, const char *path)
{
    return access(bn_path_folder(path).text, W_OK) == 0 ? BN_OK : bn_fail(ctx, BN_IO, "%s: %s", path, strerror(errno));
}

bn_status bn_cli_report(const bn_cli *cli, const bn_device_info *all, const size_t *indices, size_t count)
{
    const char *temporary = getenv("TMPDIR"), *path = cli->options->report;
    char date[32];
    bn_path folder = bn_path_join(temporary && temporary[0] ? temporary : "/tmp", "binnacle-report-XXXXXX");
    struct utsname system;
    const time_t now = time(NULL);
    struct tm utc;
    bn_status st = BN_OK;
    json_t *devices = NULL, *document = NULL;
    BN_TRY(check_place(cli->ctx, path));
    if (!mkdtemp(folder.text))
        return bn_fail(cli->ctx, BN_IO, "no folder for the report's programs: %s", strerror(errno));
    devices = json_array();
    if (setenv("BINNACLE_PROGRAMS", folder.text, 1) != 0 || setenv("BINNACLE_CACHE", "off", 1) != 0 ||
        uname(&system) != 0 || !gmtime_r(&now, &utc) || strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        BN_GO(bn_fail(cli->ctx, BN_IO, "the report can't be begun: %s", strerror(errno)));
    for (size_t i = 0; i < count; i++)
        BN_GO(report_device(cli, &all[indices[i]], folder.text, devices));
    document = json_pack("{s:s, s:s, s:s, s:s, s:s, s:O}", "binnacle", bn_version(), "date", date, "system",
                         system.sysname, "release", system.release, "machine", system.machine, "devices", devices);
    BN_GO(bn_json_write(cli->ctx, path, document, JSON_INDENT(2)));
    print_outcome(devices, path);
out:
    if (rmdir(folder.text) != 0)
        bn_log(cli->ctx, BN_LOG_DEBUG, "%s: %s", folder.text, strerror(errno));
    json_decref(document);
    json_decref(devices);
    return st;
}
