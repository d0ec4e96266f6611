/* options.c: the table of options, the command line read by it, and help and completion written from it. */
#include "cli/options.h"

#include "binnacle/sim.h"
#include "case/schema.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ON_MODEL = BN_CMD_RUN | BN_CMD_VERIFY | BN_CMD_CHECK };

/* How the text behind an option becomes a member of bn_options. */
typedef enum option_kind {
    FLAG,
    TEXT,
    PERHAPS,
    SET,
    VARY,
    STEPS,
    GUARD,
    JOBS,
    EVALUATIONS,
    BOXES,
    WORK_GROUP,
    PRECISION,
    EVERY
} option_kind;

typedef struct option_row {
    const char *name;
    char letter; /* 0: none */
    option_kind kind;
    const char *argument; /* NULL: a flag */
    size_t offset;        /* of the member, for flags and texts */
    unsigned commands;
    bool hidden;
    const char *help;
} option_row;

#define AT(member) offsetof(bn_options, member)

static const option_row rows[] = {
    { "device", 'd', TEXT, "SEL", AT(run.device),
      ON_MODEL | BN_CMD_TUNE | BN_CMD_SELFTEST | BN_CMD_BENCH | BN_CMD_SWEEP, false,
      "auto, an index, P:D, gpu, cpu, part of a name, all, or a list 0,2 (else $BINNACLE_DEVICE); run: several work "
      "together, of gpu so many as shorten a step" },
    { "out", 'o', TEXT, "DIR", AT(run.out),
      BN_CMD_RUN | BN_CMD_PLOT | BN_CMD_TUNE | BN_CMD_BENCH | BN_CMD_CASES | BN_CMD_NEW | BN_CMD_COMPARE |
          BN_CMD_SWEEP | BN_CMD_MATERIALS,
      false, "folder for output; compare: for pictures of the differences" },
    { "set", 0, SET, "KEY=VALUE", 0, ON_MODEL | BN_CMD_TUNE | BN_CMD_SWEEP, false,
      "set a key of the case, of a list by the number of the item (layer.1.thickness); may be given many times" },
    { "vary", 0, VARY, "KEY=VALUES", 0, BN_CMD_SWEEP, false,
      "FROM:TO:COUNT with a unit behind it, or VALUE,VALUE,...; may be given for up to six keys" },
    { "zip", 0, FLAG, NULL, AT(sweep.zip), BN_CMD_SWEEP, false,
      "all keys advance together, in place of every combination" },
    { "optimize", 0, TEXT, "RESULT=max", AT(sweep.optimize), BN_CMD_SWEEP, false,
      "the largest (RESULT=min: smallest) value between bounds, --vary KEY=FROM:TO, by an optimiser (NLopt)" },
    { "evaluations", 0, EVALUATIONS, "N", 0, BN_CMD_SWEEP, false,
      "so many points of --optimize at most; without it 40 for each key" },
    { "table", 0, TEXT, "RESULT,...", AT(sweep.table), BN_CMD_SWEEP, false, "only these results" },
    { "jobs", 0, JOBS, "N", 0, BN_CMD_SWEEP, false, "so many points at once; without it one on each device" },
    { "steps", 0, STEPS, "N", 0, BN_CMD_RUN | BN_CMD_VERIFY | BN_CMD_SWEEP, false, "end after at most so many steps" },
    { "checkpoint-every", 0, EVERY, "N|Ns|Nmin", 0, BN_CMD_RUN, false,
      "steps, seconds or minutes between checkpoints (10min, 30s, 2h, 5000)" },
    { "guard", 0, GUARD, "N", 0, BN_CMD_RUN, false,
      "compute every N-th step twice and compare, read everything twice: for devices that may not be trusted" },
    { "resume", 0, PERHAPS, "[=FILE]", AT(run.resume), BN_CMD_RUN, false,
      "go on from the newest checkpoint in the output directory, or from FILE" },
    { "reference", 0, FLAG, NULL, AT(run.reference), BN_CMD_RUN | BN_CMD_SWEEP, false,
      "compute on the CPU without OpenCL" },
    { "boxes", 0, BOXES, "N", 0, BN_CMD_RUN | BN_CMD_VERIFY, false,
      "cut the domain into pieces; the bits stay the same" },
    { "weights", 0, TEXT, "W,W,...", AT(run.weights), BN_CMD_RUN, false,
      "shares of several devices, in their order; without it by measured speed where they differ" },
    { "work-group", 0, WORK_GROUP, "64x1", 0, BN_CMD_RUN | BN_CMD_VERIFY, false,
      "shape of work-groups; the bits stay the same" },
    { "precision", 0, PRECISION, "P", 0, BN_CMD_VERIFY | BN_CMD_SELFTEST | BN_CMD_BENCH, false,
      "single, double, or both (verify; without it both); bench: that one alone" },
    { "profile", 0, FLAG, NULL, AT(run.profile), BN_CMD_RUN, false,
      "time every kernel, print a table (not with --quiet), write trace.json" },
    { "force", 0, FLAG, NULL, AT(run.force), BN_CMD_RUN | BN_CMD_SWEEP, false,
      "overwrite results; run although the self-test differs" },
    { "field", 0, TEXT, "NAME", AT(plot.field), BN_CMD_PLOT | BN_CMD_COMPARE, false, "only this array or column" },
    { "range", 0, TEXT, "LOW:HIGH", AT(plot.range), BN_CMD_PLOT, false, "range of the colours of pictures" },
    { "log", 0, FLAG, NULL, AT(plot.log), BN_CMD_PLOT | BN_CMD_MATERIALS, false,
      "logarithms: colours of pictures, values of charts" },
    { "slice", 0, TEXT, "z=0.5", AT(plot.slice), BN_CMD_PLOT, false,
      "where fields in three dimensions are cut, in m; without it in the middle of z" },
    { "line", 0, TEXT, "X,Y:X,Y", AT(plot.line), BN_CMD_PLOT, false,
      "charts along a line between two places in m; in three dimensions X,Y,Z:X,Y,Z" },
    { "overlay", 0, FLAG, NULL, AT(plot.overlay), BN_CMD_PLOT, false,
      "columns (and --line) of all runs in one chart each, told apart by their folders" },
    { "colours", 0, TEXT, "MAP", AT(plot.colours), BN_CMD_PLOT, false,
      "sequential, diverging or cyclic; without it by the signs of the values" },
    { "format", 0, TEXT, "F", AT(plot.format), BN_CMD_PLOT, false,
      "png, svg or pdf; with --animate png or mp4 (by ffmpeg)" },
    { "animate", 0, FLAG, NULL, AT(plot.animate), BN_CMD_PLOT, false,
      "all times of each field as one animation with one range of colours" },
    { "tolerance", 0, TEXT, "T", AT(tolerance), BN_CMD_COMPARE, false,
      "exit 5 where a difference is more than T times the largest value; without it nothing fails" },
    { "kernel", 0, TEXT, "NAME", AT(kernel), BN_CMD_TUNE, false, "only this kernel" },
    { "shapes-only", 0, FLAG, NULL, AT(shapes_only), BN_CMD_TUNE, false, "work-groups, and no variants of the case" },
    { "full", 0, FLAG, NULL, AT(full), BN_CMD_TUNE | BN_CMD_BENCH | BN_CMD_SWEEP, false,
      "sweep: fields and pictures of every point, too; tune: every shape; bench: every kind of work in all sizes and "
      "both precisions; without a limit of time" },
    { "all", 0, FLAG, NULL, AT(all), BN_CMD_NEW, false, "every key of the solver with its unit, range and meaning" },
    { "check", 0, FLAG, NULL, AT(check), BN_CMD_DEVICES, false, "what the OpenCL loader found, and what went wrong" },
    { "measure", 0, FLAG, NULL, AT(measure), BN_CMD_DEVICES | BN_CMD_BENCH | BN_CMD_CHECK, false,
      "measure the copy bandwidth of each device; bench: all limits again; check: some steps, for the time" },
    { "report", 0, TEXT, "FILE", AT(report), BN_CMD_DEVICES, false,
      "write what a report about a device needs: facts, self-tests, compiler logs, rates; no paths, no user's name" },
    { "quick", 0, FLAG, NULL, AT(quick), BN_CMD_BENCH | BN_CMD_TUNE, false,
      "bench: two small sizes a solver, within a minute; tune: fewer shapes, six seconds for each of its three parts" },
    { "size", 0, TEXT, "N,N,...", AT(sizes), BN_CMD_BENCH, false,
      "only these sizes: up to 8 the first, second, ... of each kind of work, above points along a side" },
    { "suite", 0, TEXT, "NAME", AT(suite), BN_CMD_BENCH, false,
      "tables and figures of a paper beside ours: paper-xray, paper-maxwell, paper-flood, paper-bpm or paper-flow; or "
      "scaling (several devices against one), jobs (whole runs of all cases), peers (what docs/peers.md has figures of "
      "other tools for)" },
    { "compare", 0, TEXT, "OLD.json", AT(compare), BN_CMD_BENCH, false, "what became slower since that document" },
    { "json", 0, FLAG, NULL, AT(run.json),
      ON_MODEL | BN_CMD_TUNE | BN_CMD_DEVICES | BN_CMD_BENCH | BN_CMD_SELFTEST | BN_CMD_COMPARE | BN_CMD_SWEEP |
          BN_CMD_MATERIALS,
      false, "output for scripts" },
    { "defines", 0, FLAG, NULL, AT(defines), BN_CMD_CHECK, false,
      "print the constants that the solver's kernels get, as options of a compiler" },
    { "child", 0, FLAG, NULL, AT(child), BN_CMD_VERIFY | BN_CMD_TUNE | BN_CMD_CHECK, true, "" },
    { "quiet", 'q', FLAG, NULL, AT(run.quiet), BN_CMD_ALL, false, "no progress" },
    { "verbose", 'v', FLAG, NULL, AT(verbose), BN_CMD_ALL, false, "tell more" },
    { "version", 0, FLAG, NULL, AT(version), BN_CMD_ALL, false, "version, compiler and libraries" },
    { "help", 'h', FLAG, NULL, AT(help), BN_CMD_ALL, false, "this text" },
};
enum { ROWS = sizeof rows / sizeof *rows, LONG_BASE = 1000 };

/* A whole decimal number in [low, high]. */
static bool read_number(const char *text, const char **end, long long low, long long high, long long *value)
{
    char *stop = NULL;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *value = strtoll(text, &stop, 10);
    *end = stop;
    return errno == 0 && *value >= low && *value <= high;
}

static bn_status set_number(bn_context *ctx, const option_row *row, const char *text, long long low, long long high,
                            long long *value)
{
    const char *end = text;
    if (read_number(text, &end, low, high, value) && *end == '\0')
        return BN_OK;
    return bn_fail(ctx, BN_USAGE, "--%s %s: expected a whole number from %lld to %lld", row->name, text, low, high);
}

/* "64", "64x1" or "8x8x4". */
static bn_status set_work_group(bn_context *ctx, const char *text, size_t shape[3])
{
    const char *at = text;
    long long value = 0;
    for (int k = 0; k < 3; k++)
        shape[k] = 1;
    for (int k = 0; k < 3; k++) {
        if (!read_number(at, &at, 1, 65536, &value))
            break;
        shape[k] = (size_t)value;
        if (*at == '\0')
            return BN_OK;
        if (*at++ != 'x')
            break;
    }
    return bn_fail(ctx, BN_USAGE, "--work-group %s: expected one to three numbers like 64x1, each from 1 to 65536",
                   text);
}

static bn_status set_override(bn_context *ctx, bn_options *o, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return bn_fail(ctx, BN_USAGE, "--set %s: expected KEY=VALUE, like --set stop.steps=100", text);
    o->set[o->set_count++] = text; /* as long as argv */
    return BN_OK;
}

static bn_status set_precision(bn_context *ctx, const char *text, bn_precision_wish *wish)
{
    static const char *const names[] = { "both", "single", "double", NULL }; /* bn_precision_wish */
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0) {
            *wish = (bn_precision_wish)i;
            return BN_OK;
        }
    return bn_fail(ctx, BN_USAGE, "--precision %s: expected single, double or both", text);
}

/* "5000": steps; "30s", "10min", "1.5h": time by the clock. */
static bn_status set_every(bn_context *ctx, const char *text, bn_options *o)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = { { "s", 1 }, { "min", 60 }, { "h", 3600 } };
    const char *end = text;
    char *stop = NULL;
    if (read_number(text, &end, 1, LLONG_MAX, &o->run.checkpoint_steps) && *end == '\0')
        return BN_OK;
    o->run.checkpoint_steps = 0;
    const double value = text[0] >= '0' && text[0] <= '9' ? strtod(text, &stop) : 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (stop && value > 0 && value < 1e9 && strcmp(stop, units[i].unit) == 0) {
            o->run.checkpoint_seconds = value * units[i].seconds;
            return BN_OK;
        }
    return bn_fail(ctx, BN_USAGE, "--checkpoint-every %s: expected steps or a time, like 5000, 30s, 10min or 2h", text);
}

static bn_status take(bn_context *ctx, bn_options *o, const option_row *row, const char *text)
{
    unsigned char *member = (unsigned char *)o + row->offset;
    long long value = 0;
    if (row->kind == PERHAPS && !text)
        text = "";
    else if (row->argument && text[0] == '\0')
        return bn_fail(ctx, BN_USAGE, "--%s: the text behind it is empty", row->name);
    switch (row->kind) {
    case FLAG: memcpy(member, &(bool){ true }, sizeof(bool)); return BN_OK;
    case TEXT:
    case PERHAPS: memcpy(member, &text, sizeof text); return BN_OK;
    case SET: return set_override(ctx, o, text);
    case VARY: o->sweep.vary[o->sweep.vary_count++] = text; return BN_OK;
    case JOBS: return set_number(ctx, row, text, 1, 64, &o->sweep.jobs);
    case EVALUATIONS: return set_number(ctx, row, text, 2, 100000, &o->sweep.evaluations);
    case STEPS: return set_number(ctx, row, text, 1, LLONG_MAX, &o->run.steps);
    case GUARD: return set_number(ctx, row, text, 1, LLONG_MAX, &o->run.guard);
    case BOXES:
        BN_TRY(set_number(ctx, row, text, 1, 1024, &value));
        o->run.sim.boxes = (int)value;
        return BN_OK;
    case WORK_GROUP: return set_work_group(ctx, text, o->run.sim.work_group);
    case PRECISION: return set_precision(ctx, text, &o->precision);
    case EVERY: return set_every(ctx, text, o);
    }
    return BN_OK;
}

static bn_status unknown_option(bn_context *ctx, const char *given)
{
    const char *names[ROWS + 1] = { NULL };
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (!rows[i].hidden)
            names[count++] = rows[i].name;
    if (strncmp(given, "--", 2) != 0)
        return bn_fail(ctx, BN_USAGE, "unknown option `%s`; short ones are -d -o -q -v -h", given);
    size_t bytes = strcspn(given + 2, "=");
    char word[64];
    snprintf(word, sizeof word, "%.*s", bytes < sizeof word ? (int)bytes : 63, given + 2);
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, word) == 0)
            return bn_fail(ctx, BN_USAGE, "--%s takes no value", word);
    const char *meant = bn_suggest(word, names);
    return bn_fail(ctx, BN_USAGE, "unknown or ambiguous option `--%s`%s%s%s (binnacle COMMAND --help lists them)", word,
                   meant ? "; did you mean `--" : "", meant ? meant : "", meant ? "`?" : "");
}

/* The command that the first argument names; a case file stands for `run`. */
static bn_status find_command(bn_context *ctx, bn_options *o, const bn_command **command)
{
    const char *names[32] = { NULL };
    size_t count = 0;
    const bn_command *run = NULL;
    for (const bn_command *c = o->commands; c->name; c++) {
        if (strcmp(c->name, o->args[0]) == 0)
            *command = c;
        if (c->bit == BN_CMD_RUN)
            run = c;
        if (!c->hidden && count + 1 < sizeof names / sizeof *names)
            names[count++] = c->name;
    }
    if (!*command && strpbrk(o->args[0], "./")) {
        *command = run;
        return BN_OK;
    }
    if (!*command) {
        const char *meant = bn_suggest(o->args[0], names);
        return bn_fail(ctx, BN_USAGE, "unknown command `%s`%s%s%s (binnacle --help lists them)", o->args[0],
                       meant ? "; did you mean `" : "", meant ? meant : "", meant ? "`?" : "");
    }
    o->args++;
    o->arg_count--;
    return BN_OK;
}

static bn_status check_use(bn_context *ctx, const bn_options *o, const bn_command *c, const bool given[ROWS])
{
    for (size_t i = 0; i < ROWS; i++)
        if (given[i] && !(rows[i].commands & c->bit))
            return bn_fail(ctx, BN_USAGE, "binnacle %s takes no --%s; see binnacle %s --help", c->name, rows[i].name,
                           c->name);
    const bool standard = o->arg_count == 1 && strcmp(o->args[0], "-") == 0;
    if (standard && (!(c->bit & (BN_CMD_RUN | BN_CMD_CHECK)) || o->measure))
        return bn_fail(ctx, BN_USAGE,
                       "binnacle %s%s reads the case in processes of their own: give it a file, not standard input",
                       c->name, o->measure ? " --measure" : "");
    if (o->help || o->version || (o->arg_count >= c->least && o->arg_count <= c->most))
        return BN_OK;
    return bn_fail(ctx, BN_USAGE, "binnacle %s: %s; usage: binnacle %s %s", c->name,
                   o->arg_count < c->least ? "something is missing" : "too many arguments", c->name, c->arguments);
}

bn_status bn_options_parse(bn_context *ctx, const bn_command *commands, int argc, char **argv, bn_options *o,
                           const bn_command **command)
{
    struct option longs[ROWS + 1];
    char shorts[2 * ROWS + 2] = ":";
    size_t at = 1;
    bool given[ROWS] = { false };
    *o = (bn_options){ .run.steps = -1, .commands = commands };
    *command = NULL;
    memset(longs, 0, sizeof longs);
    for (size_t i = 0; i < ROWS; i++) {
        longs[i] = (struct option){ .name = rows[i].name,
                                    .has_arg = rows[i].kind == PERHAPS ? optional_argument
                                               : rows[i].argument      ? required_argument
                                                                       : no_argument,
                                    .val = LONG_BASE + (int)i };
        if (rows[i].letter) {
            shorts[at++] = rows[i].letter;
            if (rows[i].argument)
                shorts[at++] = ':';
        }
    }
    o->set = calloc((size_t)argc + 1, sizeof *o->set);
    o->sweep.vary = calloc((size_t)argc + 1, sizeof *o->sweep.vary);
    if (!o->set || !o->sweep.vary)
        return bn_fail(ctx, BN_MEMORY, "no memory for %d arguments", argc);
    opterr = 0;
    for (int code; (code = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (code == ':')
            return bn_fail(ctx, BN_USAGE, "option `%s` needs a value", argv[optind - 1]);
        if (code == '?') { /* a short one may stand in a group, where only optopt knows it */
            char letter[3] = { '-', (char)optopt, '\0' };
            return unknown_option(ctx, optopt > 0 && optopt < LONG_BASE ? letter : argv[optind - 1]);
        }
        size_t i = code >= LONG_BASE ? (size_t)(code - LONG_BASE) : 0;
        while (code < LONG_BASE && rows[i].letter != code)
            i++;
        given[i] = true;
        BN_TRY(take(ctx, o, &rows[i], optarg));
    }
    o->args = (const char *const *)(argv + optind);
    o->arg_count = (size_t)(argc - optind);
    if (o->arg_count == 0)
        return BN_OK;
    BN_TRY(find_command(ctx, o, command));
    return check_use(ctx, o, *command, given);
}

void bn_options_release(bn_options *o)
{
    free(o->set);
    free(o->sweep.vary);
    *o = (bn_options){ 0 };
}

static void help_of_options(FILE *to, unsigned commands)
{
    for (size_t i = 0; i < ROWS; i++) {
        const option_row *r = &rows[i];
        char name[64];
        if (r->hidden || !(r->commands & commands))
            continue;
        snprintf(name, sizeof name, "--%s%s%s", r->name, r->argument && r->kind != PERHAPS ? " " : "",
                 r->argument ? r->argument : "");
        fprintf(to, "  %c%c%c %-19s %s\n", r->letter ? '-' : ' ', r->letter ? r->letter : ' ', r->letter ? ',' : ' ',
                name, r->help);
    }
}

static void help_of_program(FILE *to, const bn_command *commands)
{
    fprintf(to, "Physics solvers for any OpenCL device.\n\n");
    for (const bn_command *c = commands; c->name; c++)
        if (!c->hidden)
            fprintf(to, "  binnacle %-10s %-13s %s\n", c->name, c->arguments, c->summary);
    fprintf(to, "\nSolvers:\n");
    const char *const *names = bn_solver_names();
    for (size_t i = 0; names[i]; i++)
        fprintf(to, "  %-9s %s\n", names[i], bn_solver_summary(names[i]));
    if (names[0])
        fprintf(to, "Start: binnacle new %s > case.toml && binnacle run case.toml\n", names[0]);
    fprintf(to, "\nOptions of all commands (those of one: binnacle COMMAND --help):\n");
    fprintf(to, "  -q, --quiet  -v, --verbose  -h, --help  --version\n");
    fprintf(to, "Environment: BINNACLE_DEVICE, BINNACLE_KERNEL_PATH, BINNACLE_CACHE=off, BINNACLE_SELFTEST=off, "
                "BINNACLE_DEBUG=1, "
                "NO_COLOR\n");
}

void bn_options_help(const bn_options *o, const bn_command *c, bool to_stderr)
{
    FILE *to = to_stderr ? stderr : stdout;
    if (c) {
        fprintf(to, "binnacle %s %s\n  %s\n", c->name, c->arguments, c->summary);
        if (c->details)
            fprintf(to, "\n%s\n", c->details);
        fprintf(to, "\nOptions:\n");
        help_of_options(to, c->bit);
    } else {
        help_of_program(to, o->commands);
    }
    fprintf(
        to,
        "\nExit: 0 ok; 1 usage; 2 case file; 3 device or build; 4 diverged or not converged; 5 verification failed; "
        "6 input or output;\n      130 interrupted (SIGINT); 143 terminated (SIGTERM)\n");
}

bn_status bn_cli_help(const bn_cli *cli)
{
    bn_options of = *cli->options;
    const bn_command *command = NULL;
    if (of.arg_count > 0)
        BN_TRY(find_command(cli->ctx, &of, &command));
    bn_options_help(&of, command, false);
    return BN_OK;
}

bool bn_options_next(const bn_command *c, size_t *i, bn_option_info *out)
{
    while (*i < ROWS && (rows[*i].hidden || !(rows[*i].commands & c->bit)))
        (*i)++;
    if (*i == ROWS)
        return false;
    const option_row *r = &rows[(*i)++];
    *out = (bn_option_info){ r->name, r->argument, r->help, r->letter, r->kind == PERHAPS };
    return true;
}
