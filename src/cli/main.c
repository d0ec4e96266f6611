/* main.c: the program: its commands, signals, and how an outcome becomes messages and an exit code. */
#include "cli/commands.h"
#include "output/json_text.h"
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const bn_command commands[] = {
    { "run", "CASE", "run a case",
      "Leaves fields, pictures, tables and report.html, which shows all of it, in the folder of --out, without it in\n"
      "CASE-NAME.out. `binnacle CASE.toml` alone means run. Example: binnacle run room.toml --set "
      "grid.nodes=[257,257]\n"
      "While it runs: Ctrl-C ends after the step with a checkpoint (twice: at once), SIGTERM does the same, SIGUSR1\n"
      "prints the status, a file STOP in the folder ends the run. --resume goes on from the folder's newest "
      "checkpoint,\n"
      "--resume=FILE from another one.",
      BN_CMD_RUN, 1, 1, false, true, bn_cli_run },
    { "verify", "CASE", "device against CPU reference, field by field",
      "Compares after at most 10 steps unless --steps says otherwise, each device and precision in a process of its "
      "own.",
      BN_CMD_VERIFY, 1, 1, false, true, bn_cli_verify },
    { "check", "CASE", "validate; grid, memory, steps; with --measure time",
      "Runs nothing. CASE may be - for standard input. With --measure: some steps for three seconds on the device "
      "that\n"
      "run would take (--device), in a process of their own, and what they say of all steps.",
      BN_CMD_CHECK, 1, 1, false, false, bn_cli_check },
    { "devices", "[SEL]", "what can run here", "With a selector: all about these devices.", BN_CMD_DEVICES, 0, 1, false,
      false, bn_cli_devices },
    { "new", "[SOLVER]", "a short case to start from; --all: every key explained",
      "Prints the case; with --out DIR it goes to DIR. Without a solver: the list of solvers.", BN_CMD_NEW, 0, 1, false,
      false, bn_cli_new },
    { "cases", "[NAME|WORD]", "the cases that travel with the program",
      "Lists those whose name or first sentence has the word. The name of one, such as flood/house, prints it and "
      "copies\n"
      "the files that it names to the current folder; with --out DIR all go to DIR.",
      BN_CMD_CASES, 0, 1, false, false, bn_cli_cases },
    { "materials", "[NAME|WORD]", "optical constants that are part of the program",
      "Names, wavelengths, sources of all, or of those whose name or substance has the word. A name prints\n"
      "its table of n and k, as a file that material.table of a case can name. With --out DIR charts of them.",
      BN_CMD_MATERIALS, 0, 1, false, false, bn_cli_materials },
    { "plot", "FILE|RUN...",
      "pictures of a run's folder, of files of fields (.vti, .vtu, .pvd, .nc, .h5), of tables (.csv)",
      "One picture for each array or column, beside FILE or in --out. Of fields in three dimensions a slice, of those "
      "in one\n"
      "a chart, of .nc the last time. A file that is refused does not stop the others.\n"
      "  binnacle plot out/mine --field E --slice z=3e-7 --log --out pictures --format pdf\n"
      "  binnacle plot out/one out/two --field residual --overlay\n"
      "  binnacle plot out/mine --field depth --animate --format mp4\n"
      "  binnacle plot out/mine --field E --line 0,0,0:0,0,1e-6",
      BN_CMD_PLOT, 1, 4096, false, false, bn_cli_plot },
    { "sweep", "CASE", "a case over values of its keys: a table and charts",
      "Every point is a run of its own, as many at once as there are devices (--device all). Writes sweep.csv, a "
      "chart\n"
      "or a map for each result, report.html with all of it, and points/NNNN to --out, without it to CASE-NAME.sweep. "
      "Stopped or killed, the same\n"
      "command goes on with the points that are missing. A point that fails is a row with its reason. With --optimize\n"
      "an optimiser chooses the points between bounds, one after the other: convergence.png, and best.toml.\n"
      "  binnacle sweep stack.toml --vary \"light.wavelength=400:800:41 nm\" --vary \"layer.1.thickness=200 nm,300 "
      "nm\"\n"
      "  binnacle sweep stack.toml --vary \"layer.1.thickness=50:400 nm\" --optimize absorptance_aSi=max",
      BN_CMD_SWEEP, 1, 1, false, true, bn_cli_sweep },
    { "compare", "RUN RUN", "what differs between two runs",
      "RUN is the folder of a run, or both are files of fields. Keys of the case, results, tables row by row, fields "
      "by\n"
      "mean (L1), root mean square (L2) and largest difference with its place, over the first run's values. With "
      "--out\n"
      "DIR pictures of the differences.",
      BN_CMD_COMPARE, 2, 2, false, false, bn_cli_compare },
    { "bench", "[SOLVER...]", "how fast, and how far from the limit",
      "Measures the device once (kept with the date), then each solver's standard sizes: time of a step, rates,\n"
      "share of the floor, the larger of bytes over bandwidth and operations over arithmetic. --full adds linear\n"
      "solvers, beams in space, dry land, slits and a turbid cube. --suite scaling: several devices against one.\n"
      "--out DIR keeps report.html, bench.json and pictures: the roofline with every kernel, and time over size.",
      BN_CMD_BENCH, 0, 16, false, true, bn_cli_bench },
    { "tune", "CASE|SOLVER", "the fastest work-groups, kept for later runs",
      "Times every kernel of the case in work-groups of many shapes, checks each shape against the CPU reference, and "
      "keeps\n"
      "the fastest ones in $XDG_DATA_HOME/binnacle/tuning.json, which `run` uses from then on. A solver's name stands "
      "for "
      "its\n"
      "self-test case. Writes tune.csv, tune.json and charts to --out, without it to CASE-NAME.tune.",
      BN_CMD_TUNE, 1, 1, false, true, bn_cli_tune },
    { "help", "[COMMAND]", "what a command does, and its options", NULL, BN_CMD_HELP, 0, 1, false, false, bn_cli_help },
    { "completion", "SHELL", "completion script for bash, zsh or fish",
      "source <(binnacle completion bash)    source <(binnacle completion zsh)    binnacle completion fish | source",
      BN_CMD_COMPLETION, 1, 1, false, false, bn_cli_completion },
    { "self-test", "SOLVER [PART [CASE...]]", "", NULL, BN_CMD_SELFTEST, 1, 66, true, false, bn_cli_selftest },
    { 0 },
};

/* What a signal handler can reach. */
static volatile sig_atomic_t stop_wanted, status_wanted, answers, json_lines;
static bn_last_words last_words;

static void on_stop(int number)
{
    const char *words = last_words.text[last_words.which];
    if (words[0] && !stop_wanted && write(STDERR_FILENO, words, strlen(words)) < 0)
        _exit(128 + number);
    static const char interrupted[] =
        "{\"event\":\"end\",\"status\":\"interrupted\",\"exit_code\":130,\"summary\":null}\n";
    static const char terminated[] =
        "{\"event\":\"end\",\"status\":\"terminated\",\"exit_code\":143,\"summary\":null}\n";
    const bool term = number == SIGTERM;
    if (stop_wanted && json_lines &&
        write(STDOUT_FILENO, term ? terminated : interrupted, (term ? sizeof terminated : sizeof interrupted) - 1) < 0)
        _exit(128 + number);
    if (stop_wanted)
        _exit(128 + number);
    static const char answer[] = "\nending after this step, with a checkpoint; once more: at once\n";
    if (answers && number == SIGINT && write(STDERR_FILENO, answer, sizeof answer - 1) < 0)
        _exit(128 + number);
    stop_wanted = number;
}

static void on_status(int number)
{
    (void)number;
    status_wanted = 1;
}

/* A driver may end the program by a signal: an end event is written, then the signal has its usual effect. */
static void on_crash(int number)
{
    static const char head[] = "{\"event\":\"end\",\"status\":\"crashed\",\"exit_code\":",
                      tail[] = ",\"summary\":null}\n";
    const int code = 128 + number;
    const char digits[3] = { (char)('0' + code / 100), (char)('0' + code / 10 % 10), (char)('0' + code % 10) };
    if (write(STDOUT_FILENO, head, sizeof head - 1) < 0 || write(STDOUT_FILENO, digits, sizeof digits) < 0 ||
        write(STDOUT_FILENO, tail, sizeof tail - 1) < 0)
        _exit(code);
    (void)raise(number); /* comes through as soon as this returns */
}

/* Without SA_RESTART, so that waits return at once. */
static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = handler == on_crash ? (int)SA_RESETHAND : 0;
    sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL); /* fails for no signal that is used here */
}

/* A closed pipe and a file that grew too large are errors of the write. Signals keep their default action for commands
 * that do not look at the flag. */
static void handle_signals(const bn_command *c, const bn_options *o)
{
    handle(SIGPIPE, SIG_IGN);
    handle(SIGXFSZ, SIG_IGN);
    if (!c || !c->stoppable || o->child)
        return;
    json_lines = c->bit == BN_CMD_RUN && o->run.json;
    answers = c->bit == BN_CMD_RUN && !o->run.quiet && isatty(STDERR_FILENO); /* somebody waits at the keys */
    handle(SIGINT, on_stop);
    handle(SIGTERM, on_stop);
    handle(SIGUSR1, on_status);
    static const int crashes[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    for (size_t i = 0; json_lines && i < sizeof crashes / sizeof *crashes; i++)
        handle(crashes[i], on_crash);
}

/* If a standard stream is closed, the next file opened would get its number and our text. */
static void hold_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            int held = open("/dev/null", fd == 1 ? O_RDONLY : O_RDWR); /* writing to stdout still fails, as it should */
            if (held > fd)
                close(held);
        }
}

/* A word in bold colour on a terminal, unless the user wants none (https://no-color.org). */
static void print_coloured(const char *colour, const char *word)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    const bool plain = (none && none[0]) || !isatty(STDERR_FILENO) || (terminal && strcmp(terminal, "dumb") == 0);
    if (plain)
        fputs(word, stderr);
    else
        fprintf(stderr, "\033[1;%sm%s\033[0m", colour, word);
}

/* Level up to which messages are shown. */
static void log_line(void *user, int level, const char *text)
{
    const int *most = user;
    if (level > *most)
        return;
    fprintf(stderr, "binnacle: ");
    if (level == BN_LOG_WARNING)
        print_coloured("33", "warning: ");
    fprintf(stderr, "%s\n", text);
}

/* All ranks end together with these; any other failure may be one rank's own, and the rest wait for it. */
static bool ends_everywhere(bn_status st) { return st == BN_DIVERGED || st == BN_INTERRUPTED || st == BN_TERMINATED; }

/* Prints what failed; errors of a case are file:line:column lines of their own. */
static void print_error(bn_context *ctx, bn_status st)
{
    const char *text = bn_error_text(ctx);
    if (bn_context_rank(ctx) > 0 &&
        (st == BN_CASE || st == BN_USAGE || ends_everywhere(st))) { /* all ranks have it, the first one prints it */
        (void)nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
        return;
    }
    if (bn_context_ranks(ctx) > 1)
        fprintf(stderr, "binnacle: rank %d of %d:\n", bn_context_rank(ctx), bn_context_ranks(ctx));
    if (st == BN_CASE && text[0])
        fprintf(stderr, "%s%s", text, text[strlen(text) - 1] == '\n' ? "" : "\n");
    else {
        print_coloured("31", "binnacle: ");
        fprintf(stderr, "%s\n", text[0] ? text : bn_status_text(st));
    }
}

static bn_status run_command(bn_context *ctx, bn_options *o, const bn_command *c, const char *argv0, bool *answered)
{
    if (o->version) {
        bn_cli_version();
        return BN_OK;
    }
    if (o->help || !c) {
        bn_options_help(o, c, !o->help);
        return o->help ? BN_OK : BN_USAGE;
    }
    char path[4096]; /* of this binary, also after a change of folder; where there is no /proc: as it was called */
    ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
    bool known = bytes > 0 && (size_t)bytes < sizeof path;
    path[known ? bytes : 0] = '\0';
    o->run.program = known ? path : argv0;
    o->run.stop = &stop_wanted;
    o->run.status_wanted = &status_wanted;
    o->run.last_words = &last_words;
    return c->run(
        &(bn_cli){ .ctx = ctx, .options = o, .program = o->run.program, .stop = &stop_wanted, .answered = answered });
}

/* With --json a failure is a document, too, on one line where the command prints lines of their own. */
static void print_failure(bn_context *ctx, bn_status st, bool lines)
{
    json_t *document = json_object();
    if (document && lines && json_object_set_new(document, "event", json_string("end")) != 0)
        json_object_clear(document);
    if (document && bn_json_add_outcome(document, ctx, st) &&
        json_dumpf(document, stdout, lines ? JSON_COMPACT : JSON_INDENT(2)) == 0)
        putchar('\n');
    json_decref(document);
}

int main(int argc, char **argv)
{
    hold_streams();
    H5dont_atexit(); /* its own end crashes when a file could not be closed; all are closed before */
    bn_cli_use_own_files();
    const char *debug = getenv("BINNACLE_DEBUG");
    bool debugging = debug && strcmp(debug, "1") == 0;
    int level = debugging ? BN_LOG_DEBUG : BN_LOG_WARNING;
    bn_context *ctx = NULL;
    bn_options options;
    const bn_command *command = NULL;
    if (bn_context_create(&(bn_context_desc){ .log = log_line, .user = &level, .debug = debugging }, &ctx) != BN_OK) {
        fprintf(stderr, "binnacle: out of memory\n");
        return bn_exit_code(BN_MEMORY);
    }
    bn_status st = bn_options_parse(ctx, commands, argc, argv, &options, &command);
    for (int i = 1; st != BN_OK && i < argc; i++) /* also where the mistake stands before it */
        options.run.json = options.run.json || strcmp(argv[i], "--json") == 0;
    if (options.verbose && level < BN_LOG_INFO)
        level = BN_LOG_INFO;
    handle_signals(command, &options);
    bool answered = false,
         no_command = st == BN_OK && !command && !options.help && !options.version; /* its help is the message */
    if (st == BN_OK)
        st = run_command(ctx, &options, command, argv[0], &answered);
    if (st == BN_DEVICE && stop_wanted)
        st = BN_INTERRUPTED; /* compilers remove their files when a signal comes, and fail for that */
    if (st == BN_INTERRUPTED && stop_wanted == SIGTERM)
        st = BN_TERMINATED; /* commands do not distinguish the signals */
    if (st != BN_OK && options.run.json && !answered && !options.child && bn_context_rank(ctx) == 0)
        print_failure(ctx, st, command ? command->bit == BN_CMD_RUN : strcmp(argv[1], "run") == 0);
    errno = 0;
    bool failed_before = ferror(stdout) != 0;
    if ((fflush(stdout) != 0 || failed_before) && st == BN_OK)
        st = bn_fail(ctx, BN_IO, "standard output can't be written%s%s", errno ? ": " : "",
                     errno ? strerror(errno) : "");
    if (st != BN_OK && !no_command && !options.child)
        print_error(ctx, st);
    bn_options_release(&options);
    bn_context_leave(ctx, ends_everywhere(st) ? 0 : bn_exit_code(st));
    bn_context_destroy(&ctx);
    if (st ==
        BN_DEVICE) { /* drivers may still compile or compute in threads, which can't stand the end of their library */
        fflush(NULL);
        quick_exit(bn_exit_code(st));
    }
    return bn_exit_code(st);
}
