/* options.c: one table of options; getopt_long, help and messages read it. */
#include "cli/options.h"

#include "case/schema.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_FIRST = 1000 };

typedef struct option_row { const char *name, *argument, *help; char letter; } option_row;

static const option_row rows[] = {
    { "device", "SEL", "auto, an index, PLATFORM:DEVICE, gpu, cpu, part of a name; all where several make sense", 'd' },
    { "out", "DIR", "output folder", 'o' },
    { "set", "KEY=VALUE", "change a key of the case for this time; may be repeated", 0 },
    { "steps", "N", "end after N steps", 0 },
    { "reference", NULL, "compute with the CPU reference; OpenCL is never touched", 0 },
    { "boxes", "N", "cut the domain into N boxes; the results are the same bits", 0 },
    { "work-group", "XxY", "work-group shape, like 64x1; the results are the same bits", 0 },
    { "precision", "P", "single, double or both", 0 },
    { "profile", NULL, "time every kernel and print the table", 0 },
    { "field", "NAME", "only this field", 0 },
    { "check", NULL, "what the OpenCL loader found, file by file", 0 },
    { "measure", NULL, "measure the copy bandwidth of each device first", 0 },
    { "json", NULL, "output for scripts, on stdout", 0 },
    { "force", NULL, "overwrite an earlier run; run although the self-test failed", 0 },
    { "quiet", NULL, "no progress", 'q' },
    { "verbose", NULL, "tell more", 'v' },
    { "help", NULL, "this help", 'h' },
    { "child", NULL, NULL, 0 },
};
enum { ROWS = sizeof rows / sizeof *rows };

static bool takes(const bn_command *c, const char *name)
{
    static const char *const always[] = { "help", "quiet", "verbose" };
    for (size_t i = 0; i < 3; i++)
        if (strcmp(name, always[i]) == 0)
            return true;
    const size_t n = strlen(name);
    for (const char *p = c->options; (p = strstr(p, name)) != NULL; p += n)
        if ((p == c->options || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

/* A whole number of the whole string in [low, high]. */
static bool whole(const char *text, long long low, long long high, long long *value)
{
    char *end;
    if (!text[0] || text[0] == ' ')
        return false;
    *value = strtoll(text, &end, 10);
    return *end == '\0' && *value >= low && *value <= high;
}

static bool work_group(const char *text, size_t shape[3])
{
    char copy[64], *rest = copy;
    if (strlen(text) >= sizeof copy)
        return false;
    snprintf(copy, sizeof copy, "%s", text);
    for (int i = 0; i < 3; i++) {
        shape[i] = 1;
        long long n;
        char *part = rest;
        if (!part)
            continue;
        rest = strchr(part, 'x');
        if (rest)
            *rest++ = '\0';
        if (!whole(part, 1, 65536, &n))
            return false;
        shape[i] = (size_t)n;
    }
    return rest == NULL;
}

static bool precision(const char *text, bn_which_precision *out)
{
    static const char *const names[] = { "single", "double", "both" };
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (bn_which_precision)(BN_ONLY_SINGLE + i);
            return true;
        }
    return false;
}

/* Stores one option; false when its argument is wrong. */
static bool store(const char *name, const char *value, bn_options *o, bool *help)
{
    long long n = 0;
    const struct { const char *name; bool *flag; } flags[] = {
        { "reference", &o->reference }, { "profile", &o->profile }, { "json", &o->json },       { "quiet", &o->quiet },
        { "verbose", &o->verbose },     { "force", &o->force },     { "check", &o->check },     { "measure", &o->measure },
        { "help", help },               { "child", &o->child },
    };
    const struct { const char *name; const char **text; } texts[] = {
        { "device", &o->device }, { "out", &o->out }, { "field", &o->field }
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(name, flags[i].name) == 0) {
            *flags[i].flag = true;
            return true;
        }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].text = value;
            return value[0] != '\0';
        }
    if (strcmp(name, "set") == 0) {
        if (!strchr(value, '=') || o->set_count == BN_SETS_MAX)
            return false;
        o->sets[o->set_count++] = value;
        return true;
    }
    if (strcmp(name, "steps") == 0)
        return whole(value, 0, 1000000000000, &o->steps);
    if (strcmp(name, "boxes") == 0) {
        bool ok = whole(value, 1, 4096, &n);
        o->boxes = (int)n;
        return ok;
    }
    if (strcmp(name, "work-group") == 0)
        return work_group(value, o->work_group);
    return precision(value, &o->precision);
}

bn_status bn_options_parse(int argc, char **argv, const bn_command *command, bn_options *o, bool *help)
{
    struct option table[ROWS + 1];
    const char *names[ROWS + 1];
    char letters[2 * ROWS + 2] = ":";
    size_t n = 0, at = 1;
    for (size_t i = 0; i < ROWS; i++) {
        if (!takes(command, rows[i].name))
            continue;
        names[n] = rows[i].name;
        table[n++] = (struct option){ rows[i].name, rows[i].argument ? required_argument : no_argument, NULL, OPT_FIRST + (int)i };
        if (rows[i].letter) {
            letters[at++] = rows[i].letter;
            if (rows[i].argument)
                letters[at++] = ':';
        }
    }
    names[n] = NULL;
    table[n] = (struct option){ 0 };
    letters[at] = '\0';
    *o = (bn_options){ .steps = -1 };
    opterr = 0;
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, letters, table, NULL)) != -1;) {
        size_t row = 0;
        while (row < ROWS && c != OPT_FIRST + (int)row && !(c > ' ' && c == rows[row].letter))
            row++;
        if (c == ':' || c == '?' || row == ROWS) {
            const char *word = argv[optind - 1];
            const char *near = strncmp(word, "--", 2) == 0 ? bn_nearest(word + 2, names) : NULL;
            fprintf(stderr, c == ':' ? "binnacle %s: %s needs an argument\n" : "binnacle %s: no option %s\n", command->name, word);
            if (c != ':' && near)
                fprintf(stderr, "  did you mean --%s?\n", near);
            fprintf(stderr, "  all options: binnacle %s --help\n", command->name);
            return BN_USAGE;
        }
        if (!store(rows[row].name, optarg ? optarg : "", o, help)) {
            fprintf(stderr, "binnacle %s: --%s can't be `%s`; expected %s: %s\n", command->name, rows[row].name, optarg ? optarg : "",
                    rows[row].argument, rows[row].help);
            return BN_USAGE;
        }
    }
    o->arguments = (const char *const *)argv + optind;
    o->argument_count = (size_t)(argc - optind);
    if (!*help && (o->argument_count < command->least || o->argument_count > command->most)) {
        fprintf(stderr, "usage: binnacle %s %s [OPTION...]\n  more: binnacle %s --help\n", command->name, command->arguments,
                command->name);
        return BN_USAGE;
    }
    return BN_OK;
}

static const char exit_codes[] = "Exit codes: 0 ok, 1 usage, 2 case file, 3 device, build or memory, 4 diverged or not converged,\n"
                                 "5 verification or self-test failed, 6 input or output, 130 interrupted.\n";

void bn_help(void)
{
    printf("Physics solvers for any OpenCL device.\n\n");
    for (const bn_command *c = bn_commands; c->name; c++)
        if (c->help) {
            char usage[64];
            snprintf(usage, sizeof usage, "binnacle %s %s", c->name, c->arguments);
            printf("  %-28s %s\n", usage, c->help);
        }
    printf("\nSolvers:\n");
    for (const char *const *s = bn_solver_names(); *s; s++)
        printf("  %-10s %s\n", *s, bn_solver_summary(*s));
    printf("\nStart:  binnacle new flow > mine.toml && binnacle run mine.toml\n"
           "Options of a command:  binnacle COMMAND --help.  `binnacle CASE.toml` means run.\n\n%s"
           "Environment: BINNACLE_DEVICE (like --device), BINNACLE_KERNEL_PATH (kernels instead of the built-in ones),\n"
           "BINNACLE_CACHE=off|on, BINNACLE_SELFTEST=off, BINNACLE_DEBUG=1 (canaries, NaN in halos), XDG_CACHE_HOME.\n",
           exit_codes);
}

void bn_help_command(const bn_command *c)
{
    printf("binnacle %s %s [OPTION...]\n%s.\n%s\n", c->name, c->arguments, c->help ? c->help : "", c->details ? c->details : "");
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].help && takes(c, rows[i].name)) {
            char usage[64];
            snprintf(usage, sizeof usage, "%c%c%s --%s %s", rows[i].letter ? '-' : ' ', rows[i].letter ? rows[i].letter : ' ',
                     rows[i].letter ? "," : " ", rows[i].name, rows[i].argument ? rows[i].argument : "");
            printf("  %-26s %s\n", usage, rows[i].help);
        }
    printf("\n%s", exit_codes);
}

bn_status bn_options_case(bn_context *ctx, const bn_options *o, bn_case **out)
{
    return bn_case_read(ctx, o->arguments[0], o->sets, o->set_count, out);
}
