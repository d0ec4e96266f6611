/* test_plans.c: storeys of polygons and ground from files: the same water as from pictures and formulas, coordinates
 * that begin anywhere, and plans that make no sense. */
#include "support_case.h"

#include "binnacle/flood.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", test_folder, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fputs(text, f) >= 0 && fclose(f) == 0, 1);
}

static double *depths(run *r, size_t *count)
{
    const bn_sim_field_info *info = bn_sim_field_at(r->sim, 0);
    ck_assert_str_eq(info->name, "depth");
    *count = (size_t)info->n[0] * info->n[1] * info->n[2];
    double *h = malloc(*count * sizeof *h);
    OK(bn_sim_read(r->sim, "depth", h, *count * sizeof *h));
    return h;
}

/* --- the same plan twice: each letter a square metre; # wall, . floor, s stair, o opening, w source, d drain --- */

enum { PIXELS = 4 /* a metre */ };
static const char *const low[] = {
    "############", "#....#.....#", "#....#...d.#", "#..........#", "#....#.....#", "############", NULL
};
static const char *const high[] = {
    "############", "#....#.....#", "#.w..#..s..#", "#..........#", "#....#.oo..#", "############", NULL
};

static void draw_picture(const char *name, const char *const *rows)
{
    char path[128];
    int ny = 0;
    const int nx = (int)strlen(rows[0]);
    while (rows[ny])
        ny++;
    unsigned char *grey = calloc((size_t)(nx * ny * PIXELS * PIXELS), 3);
    ck_assert_ptr_nonnull(grey);
    for (int j = 0; j < ny * PIXELS; j++)
        for (int i = 0; i < nx * PIXELS; i++)
            grey[3 * (j * nx * PIXELS + i)] = (unsigned char)rows[j / PIXELS][i / PIXELS];
    snprintf(path, sizeof path, "%s/%s", test_folder, name);
    png_image image = { .version = PNG_IMAGE_VERSION,
                        .width = (png_uint_32)(nx * PIXELS),
                        .height = (png_uint_32)(ny * PIXELS),
                        .format = PNG_FORMAT_RGB };
    ck_assert_int_ne(png_image_write_to_file(&image, path, 0, grey, 0, NULL), 0);
    free(grey);
}

/* Floor everywhere, then the other letters as polygons, one for each run of a letter in a row. */
static void draw_polygons(const char *name, const char *const *rows, double x0, double y0)
{
    char text[8192];
    int ny = 0;
    const int nx = (int)strlen(rows[0]);
    while (rows[ny])
        ny++;
    size_t at = (size_t)snprintf(text, sizeof text,
                                 "meaning,wkt\nground,\"POLYGON ((%g %g, %g %g, %g %g, %g %g, %g %g))\"\n", x0, y0,
                                 x0 + nx, y0, x0 + nx, y0 + ny, x0, y0 + ny, x0, y0);
    for (int j = 0; j < ny; j++)
        for (int i = 0, to; i < nx; i = to) {
            for (to = i + 1; to < nx && rows[j][to] == rows[j][i]; to++)
                ;
            if (rows[j][i] == '.')
                continue;
            const double a = x0 + i, b = x0 + to, c = y0 + ny - 1 - j, d = c + 1;
            const char kind = rows[j][i];
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "%s,\"POLYGON ((%g %g, %g %g, %g %g, %g %g, %g %g))\"\n",
                                   kind == '#'   ? "wall"
                                   : kind == 's' ? "steps"
                                   : kind == 'o' ? "opening"
                                   : kind == 'w' ? "pipe"
                                                 : "sink",
                                   a, c, b, c, b, d, a, d, a, c);
        }
    write_file(name, text);
}

static const char legend[] =
    "[[legend]]\ncolour='#2e0000'\nname='ground'\nkind='floor'\n[[legend]]\ncolour='#230000'\nkind='wall'\n[[legend]]\n"
    "colour='#730000'\nname='steps'\nkind='stair'\nwidth=1.1\n[[legend]]\ncolour='#6f0000'\nkind='opening'\n[[legend]]"
    "\n"
    "colour='#770000'\nname='pipe'\nkind='source'\nrate=0.5\n[[legend]]\ncolour='#640000'\nname='sink'\nkind='drain'"
    "\nrate=0.02\n";

static const char *house(const char *ending, const char *rest)
{
    static char text[4096];
    snprintf(text, sizeof text,
             "[case]\nsolver='flood'\nprecision='double'\n[grid]\nspacing=0.23\n[plan]\npixel=0.25\n"
             "[[storey]]\nplan='%s/1.%s'\n[[storey]]\nplan='%s/2.%s'\nheight=3\n%s[initial]\nkind='dry'\n"
             "[stop]\ntime=10\n%s",
             test_folder, ending, test_folder, ending, legend, rest);
    return text;
}

TEST(polygons_and_pictures_make_the_same_house)
{
    draw_picture("1.png", low);
    draw_picture("2.png", high);
    draw_polygons("1.csv", low, 0, 0);
    draw_polygons("2.csv", high, 0, 0);
    static const char *const kinds[] = { "grid.kind=hexagon", "grid.kind=square" };
    for (int k = 0; k < 2; k++) {
        run a = RUN(house("png", ""), NULL, kinds[k]), b = RUN(house("csv", ""), NULL, kinds[k]);
        size_t n, m;
        double *x = depths(&a, &n), *y = depths(&b, &m), off = 0, sum = 0;
        ck_assert_uint_eq(n, m);
        for (size_t i = 0; i < n; i++) {
            off = fmax(off, fabs(x[i] - y[i]));
            sum += x[i];
        }
        ck_assert_double_le(off, 1e-12);
        ck_assert_double_gt(sum, 1);
        near(result(&b, "volume_fed"), 5, 1e-12, "rate times time");
        ck_assert_double_gt(result(&b, "volume_left"), 0.005);
        ck_assert_double_le(fabs(result(&b, "mass_error")), 1e-13);
        free(x);
        free(y);
        end_run(&a);
        end_run(&b);
    }
}

TEST(coordinates_begin_anywhere)
{
    /* The same house at other coordinates: the same water, found at its place. */
    static const char places[] = "[[gauge]]\nat=[5003.5,-797.5]\nstorey=2\n";
    draw_polygons("1.csv", low, 0, 0);
    draw_polygons("2.csv", high, 0, 0);
    run a = RUN(house("csv", "[[gauge]]\nat=[3.5,2.5]\nstorey=2\n"), NULL, "case.title=''");
    draw_polygons("1.csv", low, 5000, -800);
    draw_polygons("2.csv", high, 5000, -800);
    run b = RUN(house("csv", places), NULL, "case.title=''");
    size_t n, m, count, rows;
    double *x = depths(&a, &n), *y = depths(&b, &m);
    ck_assert_uint_eq(n, m);
    for (size_t i = 0; i < n; i++)
        near(x[i], y[i], 1e-12, "the same house");
    const bn_column *columns;
    ck_assert_str_eq(bn_results_table_at(bn_sim_results(b.sim), 0, &columns, &count, &rows), "gauges");
    bn_flood_grid g;
    unsigned cell, row;
    double middle[2];
    OK(bn_flood_describe(ctx, b.sim, &g));
    ck_assert_double_eq(g.origin[0], 5000);
    ck_assert(bn_flood_find(&g, (const double[]){ 5003.5, -797.5 }, &cell, &row));
    bn_flood_place(&g, cell, row, middle);
    ck_assert_double_le(hypot(middle[0] - 5003.5, middle[1] + 797.5), 0.2);
    const double seen = y[(g.rows + row) * g.cells + cell];
    ck_assert_double_gt(seen, 0.001);
    ck_assert_double_eq(columns[1].values[rows - 1], seen);
    free(x);
    free(y);
    end_run(&a);
    end_run(&b);
}

TEST(walkable_areas_hold_water)
{
    /* As pedestrian tools write a floor: one polygon with holes. A small source in it, by a table over the same ground.
     */
    write_file("1.wkt", "POLYGON ((0 0, 8 0, 8 6, 0 6, 0 0), (3 0.5, 3.1 0.5, 3.1 5.9, 3 5.9, 3 0.5))\n");
    static const char text[] =
        "[case]\nsolver='flood'\nprecision='double'\n[grid]\nspacing=0.25\n[[storey]]\nplan='%s/1.wkt'\n"
        "[[source]]\nat=[1,5]\nrate=0.2\n[initial]\nkind='dry'\n[stop]\ntime=%g\n";
    char config[512];
    snprintf(config, sizeof config, text, test_folder, 40.0);
    run r = RUN(config, NULL, "case.title=''");
    near(result(&r, "volume"), 8, 1e-11, "rate times time");
    near(result(&r, "wet_area"), 8 * 6 - 0.1 * 5.4, 1.5, "the area of the polygon");
    end_run(&r);
    /* A wall that is a line, and a plan without a floor: what is drawn stands on an open one. */
    write_file("1.csv",
               "meaning,wkt\nwall,\"LINESTRING (4 -1, 4 2, 4.7 7)\"\n"
               "wall,\"LINEARRING (0 0, 8 0, 8 6, 0 6, 0 0)\"\nsource,\"POLYGON ((1 1, 1.01 1, 1.01 1.01, 1 1))\"\n");
    snprintf(config, sizeof config,
             "[case]\nsolver='flood'\nprecision='double'\n[grid]\nspacing=0.25\n[[storey]]\nplan='%s/1.csv'\n"
             "[[legend]]\nname='source'\nkind='source'\nrate=0.2\n[initial]\nkind='dry'\n[stop]\ntime=20\n",
             test_folder);
    r = RUN(config, NULL, "case.title=''");
    near(result(&r, "volume"), 4, 1e-11, "rate times time");
    near(result(&r, "wet_area"), (4 + 0.5 * 0.56) * 6, 1.5, "west of the wall");
    end_run(&r);
}

/* A plan of the upper storey over an open lower one with a wall; what is wrong with it. */
static void wrong(const char *upper, const char *why)
{
    write_file(
        "1.csv",
        "meaning,wkt\nfloor,\"POLYGON ((0 0, 8 0, 8 6, 0 6, 0 0))\"\nwall,\"POLYGON ((5 0, 8 0, 8 6, 5 6, 5 0))\"\n");
    write_file("2.csv", upper);
    rejected_case(house("csv", ""), BN_CASE, why);
}
#define FLOOR "meaning,wkt\nfloor,\"POLYGON ((0 0, 8 0, 8 6, 0 6, 0 0))\"\n"

TEST(polygons_that_make_no_sense_are_rejected)
{
    char where[256];
    snprintf(where, sizeof where,
             "storey 2: %s/2.csv, line 3, shape 2: the meaning \"wal\" is not in the legend; did you mean `wall`?",
             test_folder);
    wrong(FLOOR "wal,\"POLYGON ((1 1, 2 1, 2 2, 1 1))\"\n", where);
    snprintf(where, sizeof where, "%s/2.csv, line 3, shape 2 (wall): Self-intersection", test_folder);
    wrong(FLOOR "wall,\"POLYGON ((1 1, 2 1, 1 2, 2 2, 1 1))\"\n", where);
    ck_assert_ptr_nonnull(strstr(where, test_folder));
    wrong(FLOOR "wall,\"POLYGON ((1 1, 2 1\"\n", "the plan of storey 2");
    wrong(FLOOR "steps,\"POLYGON ((6 1, 7 1, 7 2, 6 1))\"\n",
          "storey 2: the stair of line 3, shape 2 (steps) ends in a wall of storey 1");
    wrong(FLOOR "pipe,\"POLYGON ((1 1, 2 1, 2 2, 1 1))\"\nsink,\"POLYGON ((3 3, 3.01 3, 3.01 3.01, 3 3))\"\n"
                "wall,\"POLYGON ((2.5 2.5, 4 2.5, 4 4, 2.5 4, 2.5 2.5))\"\n",
          "storey 2: the drain of line 4, shape 3 (sink) lies in a wall, or another shape lies over it");
    wrong(FLOOR "floor,\"LINESTRING (1 1, 2 2)\"\n", "line 3, shape 2: a line can be a wall, no floor");
    wrong("meaning,wkt\nfloor,\"POLYGON ((0 0, 0.01 0, 0.01 0.01, 0 0))\"\nwall,\"POLYGON ((3 3, 4 3, 4 4, 3 3))\"\n",
          "storey 2: no cell has its middle on the floor");
    write_file("1.csv", FLOOR "opening,\"POLYGON ((1 1, 2 1, 2 2, 1 1))\"\n");
    write_file("2.csv", FLOOR);
    rejected_case(house("csv", ""), BN_CASE, "storey 1: the opening of line 3, shape 2 (opening) leads nowhere");
    write_file("1.csv", FLOOR "pipe,\"POLYGON ((1 1, 2 1, 2 2, 1 1))\"\n");
    rejected_case(house("csv", "[[source]]\nat=[1.7,1.2]\nrate=1\n"), BN_CASE, "overlaps another source");
    rejected_case(house("csv", "[[source]]\nat=[9,1]\nrate=1\n"), BN_CASE,
                  "source 1: (9 m, 1 m) lies outside of storey 1");
    rejected_case(house("csv", "[[legend]]\nkind='wall'\n"), BN_CASE, "a legend needs a colour");
    rejected_case(house("csv", "[[legend]]\nname='pipe'\nkind='wall'\n"), BN_CASE,
                  "this name stands in the legend twice");
    char text[512];
    snprintf(text, sizeof text,
             "[case]\nsolver='flood'\n[grid]\norigin=[1,1]\ncells=[9,9]\n[[storey]]\nplan='%s/1.csv'\n"
             "[[legend]]\nname='pipe'\nkind='source'\n",
             test_folder);
    rejected_case(text, BN_CASE, "the polygons of the plans decide where the grid lies");
    rejected_case(text, BN_CASE, "the plans and grid.spacing decide how many cells there are");
    rejected_case("[case]\nsolver='flood'\n[[storey]]\nplan='/nowhere/1.wkt'\n", BN_IO, "/nowhere/1.wkt");
}

/* --- ground --- */

static void write_ground(int columns, int rows, double corner, bool hole)
{
    char text[4096];
    size_t at = (size_t)snprintf(text, sizeof text,
                                 "ncols %d\nnrows %d\nxllcorner %g\nyllcorner %g\ncellsize 1\n"
                                 "nodata_value -9\n",
                                 columns, rows, corner, corner);
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < columns; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%g ",
                                   hole && i == 3 && j == 3 ? -9 : 0.05 * (i + 0.5));
    write_file("ground.asc", text);
}

static const char *ground(const char *rest)
{
    static char text[1024];
    snprintf(text, sizeof text,
             "[case]\nsolver='flood'\nprecision='double'\n[bed]\nkind='terrain'\nfile='%s/ground.asc'\n"
             "shift=[100,100]\n[grid]\nspacing=0.5\ncells=[20,22]\n[stop]\nsteps=1\n%s",
             test_folder, rest);
    return text;
}

TEST(ground_comes_from_a_file)
{
    /* An inclined plane from a file and by its formula: the same lake at rest, the same bed between the outermost
     * pixels. */
    write_ground(14, 14, 98, false);
    static const char level[] = "[initial]\nkind='level'\nlevel=0.4\n";
    run a = RUN(ground(level), NULL, "stop.steps=5"), b = RUN(ground(level), NULL, "bed.scale=2", "bed.offset=-0.25");
    ck_assert_double_le(result(&a, "max_speed"), 1e-12);
    double *z = malloc(440 * sizeof *z), *y = malloc(440 * sizeof *y);
    OK(bn_sim_read(a.sim, "bed", z, 440 * sizeof *z));
    OK(bn_sim_read(b.sim, "bed", y, 440 * sizeof *y));
    for (size_t at = 0; at < 440; at++) {
        const double x = ((double)(at % 20) + (at / 20 % 2 ? 0.75 : 0.25)) * 0.5;
        near(z[at], 0.05 * (x + 2), 1e-9, "bilinear is exact on a plane");
        near(y[at], 2 * z[at] - 0.25, 1e-9, "scale and offset");
    }
    free(z);
    free(y);
    end_run(&a);
    end_run(&b);
    /* Without data: a wall, if the case says so. */
    write_ground(14, 14, 98, true);
    a = RUN(ground("[initial]\nkind='depth'\nlevel=0.5\n"), NULL, "bed.nodata=wall", "stop.steps=5");
    near(result(&a, "wet_area"), 440 * 0.5 * 0.5 * sqrt(0.75) - 4, 1.1, "a hole of two metres by two");
    ck_assert_double_le(fabs(result(&a, "mass_error")), 1e-13);
    end_run(&a);
}

TEST(ground_that_does_not_fit_is_rejected)
{
    write_ground(14, 14, 98, true);
    rejected_case(ground(""), BN_CASE, "the terrain has no data at or beside (100.875 m, 107.57");
    write_ground(9, 14, 98, false);
    rejected_case(ground(""), BN_CASE,
                  "the terrain reaches from (98 m, 98 m) to (107 m, 112 m), the domain from (100 m, 100 m) to (110 m,");
    rejected_case(ground("[[storey]]\n[[storey]]\nheight=0.3\n"), BN_CASE, "the terrain reaches from");
    write_ground(14, 14, 98, false);
    rejected_case(ground("[[storey]]\n[[storey]]\nheight=0.3\n"), BN_CASE,
                  "storey 2: its floor at 0.3 m lies in the ground");
    rejected_case("[case]\nsolver='flood'\n[bed]\nkind='terrain'\n", BN_CASE, "a terrain needs a file");
    rejected_case("[case]\nsolver='flood'\n[bed]\nfile='a.asc'\n", BN_CASE, "belongs to kind = \"terrain\"");
    rejected_case("[case]\nsolver='flood'\n[bed]\nkind='terrain'\nfile='/nowhere/a.tif'\n", BN_IO, "/nowhere/a.tif");
}

int main(void) { return bn_test_main("plans", open_folder, close_folder); }
