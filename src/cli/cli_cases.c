/* cli_cases.c: the cases that are part of the program: `binnacle cases` lists and copies them, `binnacle new` gives a
 * solver's starter. */
#include "cli/commands.h"

#include "api/embedded_files.h"
#include "binnacle/sim.h"
#include "case/schema.h"
#include "cli/cli_text.h"
#include "io/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char folder[] = "data/cases/";
enum { FOLDER_BYTES = sizeof folder - 1, FILE_MOST = 1 << 24, NAME_BYTES = 64, NAMES = 256, PURPOSE_BYTES = 80 };

/* Whether an embedded file is a case that people run; `name` gets "flood/house". Self-test cases have other names. */
static bool is_case(const bn_embedded *f, char name[NAME_BYTES])
{
    const size_t bytes = strlen(f->name);
    if (strncmp(f->name, folder, FOLDER_BYTES) != 0 || bytes < 5 || strcmp(f->name + bytes - 5, ".toml") != 0)
        return false;
    snprintf(name, NAME_BYTES, "%.*s", (int)(bytes - 5 - FOLDER_BYTES), f->name + FOLDER_BYTES);
    return true;
}

/* Nodes, cells or voxels as the case writes them, "441 x 83"; where plans or terrains decide: "as its files". */
static void describe_size(const char *text, char out[BN_TEXT_TABLE_CELL])
{
    const char *cells = strstr(text, "\ncells "), *nodes = strstr(text, "\nnodes "),
               *from = strpbrk(nodes   ? nodes
                               : cells ? cells
                                       : "",
                               "0123456789");
    size_t at = 0;
    for (; from && *from && *from != '\n' && *from != ']' && at + 4 < BN_TEXT_TABLE_CELL; from++)
        if (*from == ',')
            at += (size_t)snprintf(out + at, BN_TEXT_TABLE_CELL - at, " x");
        else
            out[at++] = *from;
    out[at] = '\0';
    if (!from)
        snprintf(out, BN_TEXT_TABLE_CELL, "as its files");
}

/* The first sentence of the comment that a case begins with, cut behind a word where it is long. */
static void describe_purpose(const char *text, char out[PURPOSE_BYTES])
{
    static const char dots[] = "...";
    size_t at = 0, word = 0; /* `word`: the end of the last word that leaves room for the dots */
    for (; *text == '#'; text += *text == '\n') {
        for (text += 1 + (text[1] == ' '); *text && *text != '\n'; text++) {
            const bool ends = strchr(".:;", *text) && (text[1] == ' ' || text[1] == '\n');
            if (ends || at + 1 >= PURPOSE_BYTES) {
                at = ends ? at : word + (size_t)snprintf(out + word, PURPOSE_BYTES - word, dots);
                out[at] = '\0';
                return;
            }
            word = *text == ' ' && at + sizeof dots <= PURPOSE_BYTES ? at : word;
            out[at++] = *text;
        }
        if (at + sizeof dots <= PURPOSE_BYTES) {
            word = at;
            out[at++] = ' ';
        }
    }
    out[at] = '\0';
}

static bn_status list(const bn_cli *cli, const char *word)
{
    bn_text_table table = { .columns = 3 };
    const char *names[NAMES] = { NULL };
    char kept[NAMES][NAME_BYTES], purpose[PURPOSE_BYTES], size[BN_TEXT_TABLE_CELL];
    size_t count = 0;
    bn_status st = BN_OK;
    for (const bn_embedded *f = bn_embedded_files; f->name && count + 1 < NAMES; f++) {
        if (!is_case(f, kept[count]))
            continue;
        const char *name = kept[count];
        names[count++] = strchr(name, '/') + 1; /* for a suggestion: people leave the folder out */
        describe_purpose(f->text, purpose);
        if (word && !strstr(name, word) && !strstr(purpose, word))
            continue;
        describe_size(f->text, size);
        BN_GO(bn_text_table_add(cli->ctx, &table, "%s\t%s\t%s", name, size, purpose));
    }
    if (table.rows == 0) {
        const char *meant = bn_suggest(word, names);
        st = bn_fail(cli->ctx, BN_USAGE, "no case is called `%s`, nor says so%s%s%s (binnacle cases lists them)", word,
                     meant ? "; did you mean `" : "", meant ? meant : "", meant ? "`?" : "");
        goto out;
    }
    bn_text_table_print(&table);
out:
    bn_text_table_release(&table);
    return st;
}

/* Writes a file that a case names to the folder of the copy, unless the same stands there already. */
static bn_status copy_file(const bn_cli *cli, const bn_embedded *f)
{
    const char *to = cli->options->run.out ? cli->options->run.out : ".";
    const size_t bytes = f->bytes ? f->bytes : strlen(f->text);
    const bn_path path = bn_path_join(to, bn_path_last(f->name));
    if (access(path.text, F_OK) == 0) {
        char *there = NULL;
        size_t there_bytes = 0;
        BN_TRY(bn_file_read(cli->ctx, path.text, FILE_MOST, &there, &there_bytes));
        const bool same = there_bytes == bytes && memcmp(there, f->text, bytes) == 0;
        free(there);
        return same ? BN_OK
                    : bn_fail(cli->ctx, BN_IO,
                              "%s is another file than the one that the case needs: name a folder by --out", path.text);
    }
    BN_TRY(bn_file_write(cli->ctx, path.text, f->text, bytes));
    fprintf(stderr, "binnacle: %s, which the case names\n", path.text);
    return BN_OK;
}

/* The case on stdout, or in the folder --out; the files that it names beside it. */
static bn_status copy(const bn_cli *cli, const bn_embedded *chosen)
{
    const char *out = cli->options->run.out;
    const size_t begin = (size_t)(strrchr(chosen->name, '/') + 1 - chosen->name);
    if (out) {
        BN_TRY(bn_directory_create(cli->ctx, out));
        BN_TRY(copy_file(cli, chosen));
    }
    for (const bn_embedded *f = bn_embedded_files; f->name; f++) {
        char quoted[NAME_BYTES];
        snprintf(quoted, sizeof quoted, "\"%s\"", f->name + (strlen(f->name) > begin ? begin : 0));
        if (f != chosen && strncmp(f->name, chosen->name, begin) == 0 && strstr(chosen->text, quoted))
            BN_TRY(copy_file(cli, f));
    }
    if (!out)
        fputs(chosen->text, stdout);
    return BN_OK;
}

static const bn_embedded *find(const char *wanted)
{
    char name[NAME_BYTES];
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        if (is_case(f, name) && strcmp(name, wanted) == 0)
            return f;
    return NULL;
}

bn_status bn_cli_cases(const bn_cli *cli)
{
    const char *wanted = cli->options->arg_count ? cli->options->args[0] : NULL;
    const bn_embedded *chosen = wanted ? find(wanted) : NULL;
    return chosen ? copy(cli, chosen) : list(cli, wanted);
}

bn_status bn_cli_new(const bn_cli *cli)
{
    const char *const *names = bn_solver_names();
    if (cli->options->arg_count == 0) {
        for (size_t i = 0; names[i]; i++)
            printf("%-9s %s\n", names[i], bn_solver_summary(names[i]));
        return BN_OK;
    }
    const char *solver = cli->options->args[0];
    if (!bn_solver_summary(solver)) {
        const char *meant = bn_suggest(solver, names);
        return bn_fail(cli->ctx, BN_USAGE, "unknown solver `%s`%s%s%s (binnacle new lists them)", solver,
                       meant ? "; did you mean `" : "", meant ? meant : "", meant ? "`?" : "");
    }
    char name[NAME_BYTES], *text = NULL;
    snprintf(name, sizeof name, "%s/starter", solver);
    const bn_embedded *starter = find(name);
    if (starter && !cli->options->all)
        return copy(cli, starter);
    BN_TRY(bn_solver_every_key(cli->ctx, solver, &text));
    fputs(text, stdout);
    free(text);
    return BN_OK;
}
