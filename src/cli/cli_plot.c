/* cli_plot.c: `binnacle plot`: which files are drawn: those named, those that a .pvd lists, all of a run's folder. */
#include "cli/cli_plot.h"
#include "cli/commands.h"

#include "io/field_file.h"
#include "io/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_table(const char *name) { return bn_path_ends(name, ".csv"); }

/* What came of all files. */
typedef struct tally {
    bn_plot plot;
    size_t files, refused;
    bn_status first;
    bool alone; /* one file was asked for, and its failure is that of the command */
} tally;

/* A file that is refused is told at once if there are others. */
static void count(tally *t, bn_status st)
{
    bn_context *ctx = t->plot.cli->ctx;
    t->files++;
    if (st == BN_OK)
        return;
    t->refused++;
    t->first = t->first == BN_OK ? st : t->first;
    if (t->alone)
        return;
    fprintf(stderr, "binnacle: %s\n", bn_error_text(ctx));
    bn_error_clear(ctx);
}

/* `found`: among other files, of which those without the field of --field are passed over. */
static void plot_file(tally *t, const char *path, bool found)
{
    bn_status st;
    if (bn_field_file_is(path))
        st = bn_plot_fields(&t->plot, path);
    else if (is_table(path))
        st = bn_plot_csv(&t->plot, path);
    else
        st = bn_fail(t->plot.cli->ctx, BN_USAGE,
                     "%s: plot takes the folder of a run, and .vti, .pvti, .vtu, .vtk, .pvd, .h5, .nc and .csv files",
                     path);
    if (st == BN_USAGE && found && t->plot.cli->options->plot.field)
        bn_error_clear(t->plot.cli->ctx);
    else
        count(t, st);
}

static void plot_collection(tally *t, const char *path)
{
    char **files = NULL;
    size_t listed = 0;
    const bn_status st = bn_vtk_collection_read(t->plot.cli->ctx, path, &files, &listed);
    t->alone = t->alone && st != BN_OK;
    if (st != BN_OK)
        count(t, st);
    for (size_t i = 0; i < listed; i++) {
        plot_file(t, files[i], true);
        free(files[i]);
    }
    free(files);
}

/* A file of a run that can be drawn; pieces are with the file that lists them. */
static int drawable(const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.'), *piece = dot;
    while (piece && piece > e->d_name && piece[-1] >= '0' && piece[-1] <= '9')
        piece--;
    const bool of_rank = piece && piece < dot && piece > e->d_name + 1 && piece[-1] == 'p' && piece[-2] == '.';
    return e->d_name[0] != '.' && !of_rank && (bn_field_file_is(e->d_name) || is_table(e->d_name));
}

/* Fields as HDF5 beside the same as VTK are passed over. */
static bool is_again(struct dirent **list, int i, int found)
{
    bool vtk = false;
    for (int k = 0; k < found; k++)
        vtk = vtk || bn_vtk_is_image(list[k]->d_name);
    return vtk && bn_path_ends(list[i]->d_name, ".h5");
}

/* All that can be drawn in a folder, in the order of names. */
static void plot_folder(tally *t, const char *folder)
{
    struct dirent **list = NULL;
    const bn_options *o = t->plot.cli->options;
    const int found = scandir(folder, &list, drawable, alphasort);
    for (int i = 0; i < found; i++) {
        const bool table = is_table(list[i]->d_name);
        if (!is_again(list, i, found) && !(table ? o->plot.animate || o->plot.line : o->plot.overlay && !o->plot.line))
            plot_file(t, bn_path_join(folder, list[i]->d_name).text, true);
    }
    for (int i = 0; i < found; i++)
        free(list[i]);
    free(list);
}

static void plot_run(tally *t, const char *path)
{
    const size_t before = t->files;
    const bool alone = t->alone;
    t->alone = false;
    plot_folder(t, path);
    plot_folder(t, bn_path_join(path, "fields").text);
    t->alone = alone;
    if (t->files == before)
        count(t,
              t->plot.cli->options->plot.field
                  ? bn_fail(t->plot.cli->ctx, BN_USAGE,
                            "%s: no field and no column of a table there is called `%s`; without --field all are drawn",
                            path, t->plot.cli->options->plot.field)
                  : bn_fail(t->plot.cli->ctx, BN_USAGE, "%s: nothing there to plot", path));
}

bn_status bn_cli_plot(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    tally t = { .plot.cli = cli, .first = BN_OK, .alone = o->arg_count == 1 };
    struct stat info;
    bn_status st = BN_OK;
    BN_TRY(bn_plot_check(cli));
    if (o->run.out)
        BN_TRY(bn_directory_create(cli->ctx, o->run.out));
    for (size_t i = 0; i < o->arg_count; i++) {
        const char *path = o->args[i];
        if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
            plot_run(&t, path);
        else if (bn_path_ends(path, ".pvd"))
            plot_collection(&t, path);
        else
            plot_file(&t, path, false);
    }
    if (!bn_error_text(cli->ctx)[0])
        BN_GO(bn_plot_finish(&t.plot));
    st = t.first;
    if (t.refused > 0 && !bn_error_text(cli->ctx)[0]) /* told already */
        st = bn_fail(cli->ctx, t.first, "%zu of %zu files were not drawn", t.refused, t.files);
out:
    bn_plot_release(&t.plot);
    return st;
}
