/* test_issue_16_flood.c: TIFFs of a flood lie on the map where its cells are; the largest speed is that of water deeper
 * than output.wet. */
#include "support_case.h"

#include "io/terrain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 8, NY = 6 };
static const char sloping[] = "[case]\nsolver='flood'\n[grid]\ncells=[8,6]\nspacing=2\norigin=[691000.5,5334000.25]\n"
                              "[bed]\nkind='slope'\nslope=[0.25,-0.125]\n[initial]\nkind='level'\nlevel=0.5\n"
                              "[output]\nvtk=false\npictures=false\ntiff=true\nepsg=32632\n[stop]\nsteps=1\n";

/* Runs the program on that case with one more key, and reads the ground that it wrote. */
static void written_bed(const char *more, bn_terrain *t)
{
    const char *program = getenv("BINNACLE");
    char folder[] = "/tmp/binnacle-flood-XXXXXX", path[128], command[1024];
    ck_assert_msg(program != NULL, "BINNACLE names the program");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/case.toml", folder);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert(fputs(sloping, f) >= 0 && fclose(f) == 0);
    snprintf(command, sizeof command, "%s run %s --reference --quiet --set %s --out %s/out >%s/said", program, path,
             more, folder, folder);
    ck_assert_int_eq(system(command), 0);
    snprintf(path, sizeof path, "%s/out/fields/bed-000001.tif", folder);
    OK(bn_terrain_read(ctx, path, t));
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* The ground that the case describes, x and y from the corner of the domain; single precision. */
static void same_ground(const bn_terrain *t, double x, double y)
{
    const double found = bn_terrain_at(t, (const double[]){ 691000.5 + x, 5334000.25 + y });
    ck_assert_msg(fabs(found - (0.25 * x - 0.125 * y)) <= 1e-5, "%g at (%g, %g)", found, x, y);
}

TEST(tiffs_of_squares_lie_where_the_cells_are)
{
    bn_terrain t;
    written_bed("grid.kind=square", &t);
    ck_assert_uint_eq(t.n[0], NX);
    ck_assert_uint_eq(t.n[1], NY);
    ck_assert_int_eq(t.epsg, 32632);
    ck_assert_double_eq(t.corner[0], 691000.5);
    ck_assert_double_eq_tol(t.corner[1], 5334000.25, 1e-8); /* the file has the northern corner */
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            same_ground(&t, 2 * (i + 0.5), 2 * (j + 0.5));
    bn_terrain_free(&t);
}

TEST(tiffs_of_hexagons_lie_where_the_cells_are)
{
    const double high = 2 * sqrt(0.75);
    bn_terrain t;
    written_bed("output.epsg=0", &t);
    ck_assert_uint_eq(t.n[0], 2 * NX + 1);
    ck_assert_uint_eq(t.n[1], NY);
    ck_assert_int_eq(t.epsg, 0);
    for (int j = 0; j < NY; j++) {
        const double shift = j % 2 ? 0.75 : 0.25;
        for (int i = 1; i + 1 < NX; i++) /* the middle, between the two pixels of a cell */
            same_ground(&t, 2 * (i + shift), high * (j + 0.5));
        const double *row = t.values + (size_t)j * t.n[0];
        const double first = 0.25 * 2 * shift - 0.125 * high * (j + 0.5), last = first + 0.25 * 2 * (NX - 1);
        ck_assert_double_eq_tol(row[j % 2], first, 1e-5);
        ck_assert_double_eq_tol(row[j % 2 + 1], first, 1e-5);
        ck_assert_double_eq_tol(row[2 * NX - 1 + j % 2], last, 1e-5);
        ck_assert_double_nan(row[j % 2 ? 0 : 2 * NX]); /* beside the cells of the row there is nothing */
    }
    bn_terrain_free(&t);
}

static double *values_of(run *r, const char *name, size_t count)
{
    double *values = malloc(count * sizeof *values);
    ck_assert_ptr_nonnull(values);
    OK(bn_sim_read(r->sim, name, values, count * sizeof *values));
    return values;
}

TEST(films_do_not_count_as_the_largest_speed)
{
    static const char ritter[] = "[case]\nsolver='flood'\nprecision='double'\n[grid]\ncells=[200,4]\nspacing=0.5\n"
                                 "periodic_y=true\n[initial]\nkind='dam'\nlevels=[10,0]\n[stop]\ntime=3\n";
    run r = RUN(ritter, NULL, "output.wet=2");
    double *depth = values_of(&r, "depth", 800), *c = values_of(&r, "velocity", 1600), all = 0, deep = 0;
    for (size_t i = 0; i < 800; i++) {
        const double speed = hypot(c[i], c[i + 800]);
        all = fmax(all, speed);
        if (depth[i] > 2)
            deep = fmax(deep, speed);
    }
    ck_assert_double_eq(result(&r, "max_speed"), deep);
    ck_assert_double_gt(all, deep); /* the shallow front of the wave is the fastest */
    free(depth);
    free(c);
    end_run(&r);
}

int main(void) { return bn_test_main("flood: maps and speeds", open_context, close_context); }
