/* completion.c: completion scripts for shells, from the tables of commands and options. */
#include "cli/options.h"

#include "binnacle/sim.h"

#include <stdio.h>
#include <string.h>

/* What a command takes, as the shells want it: arguments that are known beforehand. */
static const char *const *words_of(const bn_command *c)
{
    static const char *const shells[] = { "bash", "zsh", "fish", NULL };
    if (c->bit == BN_CMD_COMPLETION)
        return shells;
    return c->bit & (BN_CMD_NEW | BN_CMD_TUNE | BN_CMD_BENCH) ? bn_solver_names() : NULL;
}

/* These arguments, those of help being the commands, each between two texts. */
static void print_words(const bn_command *commands, const bn_command *c, const char *before, const char *behind)
{
    for (const char *const *word = words_of(c); word && *word; word++)
        printf("%s%s%s", before, *word, behind);
    for (const bn_command *of = commands; c->bit == BN_CMD_HELP && of->name; of++)
        if (!of->hidden)
            printf("%s%s%s", before, of->name, behind);
}

static void complete_bash(const bn_command *commands)
{
    printf("# Completion of binnacle for bash: source <(binnacle completion bash)\n_binnacle()\n{\n");
    printf("    local word=${COMP_WORDS[COMP_CWORD]} words=\n    case ${COMP_WORDS[1]} in\n");
    for (const bn_command *c = commands; c->name; c++) {
        if (c->hidden)
            continue;
        printf("        %s) words='", c->name);
        bn_option_info o;
        for (size_t i = 0; bn_options_next(c, &i, &o);)
            printf(" --%s", o.name);
        print_words(commands, c, " ", "");
        printf("' ;;\n");
    }
    printf("    esac\n    [ \"$COMP_CWORD\" != 1 ] || words='");
    for (const bn_command *c = commands; c->name; c++)
        if (!c->hidden)
            printf("%s ", c->name);
    printf("--help --version'\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\n");
    printf("complete -o default -F _binnacle binnacle\n");
}

/* A text within '...', where zsh takes [ ] : and fish \ for signs of their own. */
static void print_quoted(const char *text, const char *escaped)
{
    for (; *text; text++) {
        if (*text == '\'') {
            printf("'\\''");
            continue;
        }
        if (strchr(escaped, *text))
            putchar('\\');
        putchar(*text);
    }
}

static void complete_zsh(const bn_command *commands)
{
    printf("#compdef binnacle\n# Completion of binnacle for zsh: source <(binnacle completion zsh), or in a folder of "
           "$fpath "
           "as _binnacle\n_binnacle()\n{\n    if (( CURRENT == 2 )); then\n        local -a commands=(\n");
    for (const bn_command *c = commands; c->name; c++)
        if (!c->hidden) {
            printf("            '%s:", c->name);
            print_quoted(c->summary, "");
            printf("'\n");
        }
    printf("        )\n        _describe command commands\n        _files\n        return\n    fi\n"
           "    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n");
    for (const bn_command *c = commands; c->name; c++) {
        if (c->hidden)
            continue;
        printf("        %s) _arguments", c->name);
        bn_option_info o;
        for (size_t i = 0; bn_options_next(c, &i, &o);) {
            printf(" \\\n            '*--%s%s[", o.name, o.perhaps ? "=-" : o.argument ? "=" : "");
            print_quoted(o.help, "[]:");
            printf("]");
            if (o.argument) {
                printf(":");
                print_quoted(o.argument, "[]:");
                printf(":_files");
            }
            putchar('\'');
        }
        if (words_of(c) || c->bit == BN_CMD_HELP) {
            printf(" \\\n            '*:%s:(", c->bit == BN_CMD_HELP ? "command" : "name");
            print_words(commands, c, " ", "");
            printf(" )'");
        } else {
            printf(" \\\n            '*:file:_files'");
        }
        printf(" ;;\n");
    }
    printf("    esac\n}\nif [[ $funcstack[1] == _binnacle ]]; then _binnacle \"$@\"; else compdef _binnacle binnacle; "
           "fi\n");
}

static void complete_fish(const bn_command *commands)
{
    printf("# Completion of binnacle for fish: binnacle completion fish | source\n");
    for (const bn_command *c = commands; c->name; c++) {
        if (c->hidden)
            continue;
        printf("complete -c binnacle -n __fish_use_subcommand -a %s -d '", c->name);
        print_quoted(c->summary, "\\");
        printf("'\n");
        bn_option_info o;
        for (size_t i = 0; bn_options_next(c, &i, &o);) {
            printf("complete -c binnacle -n '__fish_seen_subcommand_from %s' -l %s", c->name, o.name);
            if (o.letter)
                printf(" -s %c", o.letter);
            printf("%s -d '", o.argument && !o.perhaps ? " -r" : "");
            print_quoted(o.help, "\\");
            printf("'\n");
        }
        char begin[96];
        snprintf(begin, sizeof begin, "complete -c binnacle -n '__fish_seen_subcommand_from %s' -a ", c->name);
        print_words(commands, c, begin, "\n");
    }
}

bn_status bn_cli_completion(const bn_cli *cli)
{
    const char *shell = cli->options->args[0];
    if (strcmp(shell, "bash") == 0)
        complete_bash(cli->options->commands);
    else if (strcmp(shell, "zsh") == 0)
        complete_zsh(cli->options->commands);
    else if (strcmp(shell, "fish") == 0)
        complete_fish(cli->options->commands);
    else
        return bn_fail(cli->ctx, BN_USAGE, "completion for `%s`: bash, zsh and fish are known", shell);
    return BN_OK;
}
