/* main.c: the program: finds the command, sets up signals and the context, runs it, tells what went wrong once. */
#include "case/schema.h"
#include "cli/options.h"
#include "io/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const bn_command bn_commands[] = {
    { "run", "CASE", "run a case", "device out set steps reference boxes work-group profile json force", 1, 1, bn_cli_run,
      "Writes fields, pictures, series and summary.json to a folder (CASE.out, or --out). Ctrl-C ends after the step with\n"
      "everything written, twice at once; SIGUSR1 prints the status; a file STOP in the folder ends the run.\n" },
    { "check", "CASE", "validate it: grid, memory, time; runs nothing", "set json device", 1, 1, bn_cli_check, NULL },
    { "verify", "CASE", "device against CPU reference, field by field",
      "device set steps precision boxes work-group json child", 1, 1, bn_cli_verify,
      "Both precisions unless --precision says otherwise; double is skipped on devices without it. Compares after 20 steps,\n"
      "or --steps. --device all: every device, each in a process of its own.\n" },
    { "devices", "[N]", "what can run here, and how to name it", "check measure json device", 0, 1, bn_cli_devices, NULL },
    { "new", "[SOLVER]", "a starter case, every key explained", "", 0, 1, bn_cli_new, NULL },
    { "plot", "FILE...", "pictures of any field or table it wrote", "out field", 1, 100000, bn_cli_plot, NULL },
    { "self-test", "SOLVER", NULL, "device precision", 1, 1, bn_cli_self_test, NULL },
    { 0 },
};

static volatile sig_atomic_t stop_wanted, status_wanted;

static void on_stop(int number)
{
    (void)number;
    if (stop_wanted)
        _exit(130); /* the second time: at once */
    stop_wanted = 1;
}

static void on_status(int number)
{
    (void)number;
    status_wanted = 1;
}

static void set_up_signals(void)
{
    struct sigaction stop = { .sa_handler = on_stop }, status = { .sa_handler = on_status }, ignore = { .sa_handler = SIG_IGN };
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGUSR1, &status, NULL);
    sigaction(SIGPIPE, &ignore, NULL); /* a write that fails says so itself */
    sigaction(SIGXFSZ, &ignore, NULL);
}

static void log_line(void *user, int level, const char *text)
{
    const bn_options *o = user;
    if (level <= BN_LOG_WARNING || (o->verbose && level <= BN_LOG_DEBUG))
        fprintf(stderr, "binnacle: %s%s\n", level <= BN_LOG_WARNING ? "warning: " : "", text);
}

static const bn_command *find_command(const char *name)
{
    for (const bn_command *c = bn_commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static int no_command(const char *word)
{
    const char *names[sizeof bn_commands / sizeof *bn_commands + 1];
    size_t n = 0;
    for (const bn_command *c = bn_commands; c->name; c++)
        if (c->help)
            names[n++] = c->name;
    names[n] = NULL;
    const char *near = bn_nearest(word, names);
    fprintf(stderr, "binnacle: no command or case file `%s`%s%s%s\n  all commands: binnacle --help\n", word,
            near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
    return bn_exit_code(BN_USAGE);
}

static void print_version(void)
{
    printf("binnacle %s\ncompiler %s, C%ld; solvers:", bn_version(), __VERSION__, (long)__STDC_VERSION__);
    for (const char *const *s = bn_solver_names(); *s; s++)
        printf(" %s", *s);
    printf("\nOpenCL 1.2 host; several devices and MPI: not in this build\n");
}

/* The path of this very program, for children. */
static const char *own_path(const char *argv0, char *room)
{
    ssize_t n = readlink("/proc/self/exe", room, PATH_MAX);
    if (n > 0 && n < PATH_MAX) {
        room[n] = '\0';
        return room;
    }
    return argv0;
}

static int run_command(const bn_command *command, int argc, char **argv, const char *argv0)
{
    char path[PATH_MAX + 1];
    bn_options options;
    bool help = false;
    bn_context *ctx;
    bn_status st = bn_options_parse(argc, argv, command, &options, &help);
    if (st != BN_OK)
        return bn_exit_code(st);
    if (help) {
        bn_help_command(command);
        return 0;
    }
    options.program = own_path(argv0, path);
    options.stop = &stop_wanted;
    options.status_wanted = &status_wanted;
    const char *debug = getenv("BINNACLE_DEBUG");
    const bn_context_desc desc = { .log = log_line, .user = &options, .debug = debug && strcmp(debug, "1") == 0 };
    st = bn_context_create(&desc, &ctx);
    if (st != BN_OK) {
        fprintf(stderr, "binnacle: %s\n", bn_status_text(st));
        return bn_exit_code(st);
    }
    set_up_signals();
    st = command->run(ctx, &options);
    if (st != BN_OK && bn_error_text(ctx)[0])
        fprintf(stderr, st == BN_CASE ? "%s\n" : "binnacle: %s\n", bn_error_text(ctx));
    bn_context_destroy(&ctx);
    return bn_exit_code(st);
}

/* What was printed must have arrived. */
static int close_stdout(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "binnacle: standard output can't be written: %s\n", strerror(errno));
        return code == 0 ? bn_exit_code(BN_IO) : code;
    }
    return code;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "binnacle: no command; see binnacle --help\n");
        return bn_exit_code(BN_USAGE);
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        const bn_command *about = argc > 2 ? find_command(argv[2]) : NULL;
        if (about)
            bn_help_command(about);
        else
            bn_help();
        return close_stdout(0);
    }
    if (strcmp(word, "--version") == 0) {
        print_version();
        return close_stdout(0);
    }
    const bn_command *command = find_command(word);
    if (command)
        return close_stdout(run_command(command, argc - 1, argv + 1, argv[0]));
    const size_t n = strlen(word);
    if (n > 5 && strcmp(word + n - 5, ".toml") == 0) /* a case alone means run; getopt skips the word in front */
        return close_stdout(run_command(find_command("run"), argc, argv, argv[0]));
    return no_command(word);
}
