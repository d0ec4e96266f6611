/* test_maxwell_structure.c: what the solver `maxwell` makes of layers, textures and tables of optical constants: the
 * material of every cell by the field `n`, statistics of random faces, results with tables and with their numbers.
 * Boxes, spheres and borders: test_maxwell_equations.c. */
#include "io/png_file.h"
#include "io/volume.h"
#include "io/vtk.h"
#include "support_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lengths are in cells of 40 nm, 15 to a wavelength; a step is enough. */
static const char frame[] = "[case]\nsolver = \"maxwell\"\n[grid]\ncells = [%d, %d, %d]\nspacing = 40e-9\n"
                            "[light]\nwavelength = 600e-9\n[pml]\ncells = 2\n[stop]\nsteps = 1\n"
                            "[[material]]\nname = \"a\"\nn = 1.2\n[[material]]\nname = \"b\"\nn = 1.4\n"
                            "[[material]]\nname = \"c\"\nn = 1.6\n[structure]\nabove = \"a\"\nbelow = \"c\"\n%s";

/* The index n of all cells. */
static double *indices(int nx, int ny, int nz, const char *structure, const char *override)
{
    char text[2048];
    ck_assert_int_lt(snprintf(text, sizeof text, frame, nx, ny, nz, structure), (int)sizeof text);
    run r = RUN(text, NULL, override);
    double *n = field(&r, "n", NULL);
    end_run(&r);
    return n;
}

/* How many cells from below have an index above `n` in a column; none above them may have one. */
static int column(const double *n, int columns, int nz, int at, double above)
{
    int count = 0;
    for (int k = 0; k < nz; k++)
        if (n[k * columns + at] > above) {
            ck_assert_msg(k == count, "column %d has a hole under cell %d", at, k);
            count++;
        }
    return count;
}

/* A cell belongs to the layer that holds its centre. */
TEST(layers_lie_under_each_other)
{
    static const char layers[] = "%s[[layer]]\nmaterial = \"b\"\nthickness = 104e-9\n"
                                 "[[layer]]\nmaterial = \"c\"\nthickness = 136e-9\n"
                                 "[[layer]]\nmaterial = \"b\"\nthickness = 80e-9\n";
    /* the first face: given; or a quarter wavelength (3.75 cells) below the source, 5 cells under the top, down to a
     * face */
    static const struct {
        const char *key;
        double top;
    } tops[] = { { "top = 812e-9\n", 20.3 }, { "", 31 } };
    for (int i = 0; i < 2; i++) {
        char structure[512];
        snprintf(structure, sizeof structure, layers, tops[i].key);
        double *n = indices(1, 1, 40, structure, NULL);
        for (int k = 0; k < 40; k++) {
            const double under = tops[i].top - (k + 0.5);
            const double expected = under <= 0 ? 1.2 : under > 2.6 && under <= 6 ? 1.6 : under > 8 ? 1.6 : 1.4;
            ck_assert_msg((float)n[k] == (float)expected, "cell %d, %g under the first face: n = %g, not %g", k, under,
                          n[k], expected);
        }
        free(n);
    }
}

/* Two thirds of a depth of 6 cells above the mean face, where the share is one third, and a third below it elsewhere;
 * the next face is the same. */
TEST(gratings_keep_their_mean_height)
{
    double *n = indices(12, 2, 40,
                        "top = 800e-9\n[[layer]]\nmaterial = \"b\"\nthickness = 120e-9\ntexture = \"grating\"\n"
                        "period = 240e-9\nfill = 0.3333333\ndepth = 240e-9\n"
                        "[[layer]]\nmaterial = \"c\"\nthickness = 200e-9\ntexture = \"same\"\n",
                        NULL);
    for (int i = 0; i < 24; i++) {
        const int height = i % 6 < 2 ? 24 : 18;
        ck_assert_int_eq(column(n, 24, 40, i, 1.3), height);
        ck_assert_int_eq(column(n, 24, 40, i, 1.5), height - 3);
    }
    free(n);
}

/* 3 x 2 pixels over 6 x 4 cells, heights of 0 to 10 cells about their mean of 5. The first row of a PNG lies at the far
 * side, of a TIFF at y = 0. */
TEST(pictures_are_heights)
{
    static const int expected[2][3] = { { -5, -3, -1 }, { 1, 3, 5 } }; /* by y, x */
    char folder[] = "/tmp/binnacle-maxwell-XXXXXX", path[2][64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path[0], sizeof path[0], "%s/h.png", folder);
    snprintf(path[1], sizeof path[1], "%s/h.tif", folder);
    uint32_t pixels[2][3];
    float heights[2][3];
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 3; x++) {
            pixels[1 - y][x] = 0x010101u * (unsigned)((expected[y][x] + 5) * 255 / 10);
            heights[y][x] = 7.5F + 0.25F * (float)expected[y][x];
        }
    OK(bn_png_write(ctx, path[0], &(bn_png_pixels){ 3, 2, 12, (const unsigned char *)pixels }, "", NULL));
    OK(bn_tiff_write(ctx, path[1], (const uint32_t[]){ 3, 2, 1 }, &heights[0][0], "heights"));
    for (int f = 0; f < 2; f++) {
        char structure[512];
        snprintf(
            structure, sizeof structure,
            "top = 800e-9\n[[layer]]\nmaterial = \"c\"\nthickness = 400e-9\ntexture = \"picture\"\ndepth = 400e-9\n"
            "picture = \"%s\"\n",
            path[f]);
        double *n = indices(6, 4, 40, structure, NULL);
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 6; i++)
                ck_assert_int_eq(column(n, 24, 40, 6 * j + i, 1.5), 20 + expected[j / 2][i / 2]);
        free(n);
        ck_assert_int_eq(unlink(path[f]), 0);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

/* Numbers of materials in legacy VTK, of text, and in an image of bytes in base64: 2 is the second material, 0 leaves
 * the half spaces. A number that is none, and a grid of another size, are refused. */
TEST(files_have_the_materials_of_cells)
{
    enum { NX = 3, NY = 2, NZ = 40, CELLS = NX * NY * NZ };
    char folder[] = "/tmp/binnacle-maxwell-XXXXXX", path[2][64];
    static uint8_t none[CELLS];
    uint8_t numbers[CELLS];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path[0], sizeof path[0], "%s/m.vtk", folder);
    snprintf(path[1], sizeof path[1], "%s/m.vti", folder);
    FILE *legacy = fopen(path[0], "w");
    ck_assert_ptr_nonnull(legacy);
    fprintf(legacy,
            "# vtk DataFile Version 3.0\nmaterials\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS %d %d %d\n"
            "ORIGIN 0 0 0\nSPACING 40e-9 40e-9 40e-9\nCELL_DATA %d\nSCALARS material float 1\nLOOKUP_TABLE default\n",
            NX + 1, NY + 1, NZ + 1, CELLS);
    for (int i = 0; i < CELLS; i++) {
        const int k = i / (NX * NY);
        numbers[i] = k > 12 && k < 25 && i % 2 ? 2 : 0;
        fprintf(legacy, "%d\n", numbers[i]);
    }
    ck_assert_int_eq(fclose(legacy), 0);
    const bn_vtk_array arrays[2] = {
        { .name = "other", .unit = "", .type = "UInt8", .components = 1, .data = none },
        { .name = "material", .unit = "", .type = "UInt8", .components = 1, .data = numbers }
    };
    OK(bn_vtk_write(ctx, path[1],
                    &(bn_vtk_image){ .dims = 3,
                                     .n = { NX, NY, NZ },
                                     .h = { 40e-9, 40e-9, 40e-9 },
                                     .arrays = arrays,
                                     .count = 2,
                                     .title = "materials" }));
    for (int f = 0; f < 2; f++) {
        char structure[256];
        snprintf(structure, sizeof structure, "top = 400e-9\nfile = \"%s\"\n%s", path[f],
                 f ? "array = \"material\"\n" : "");
        double *n = indices(NX, NY, NZ, structure, NULL);
        for (int i = 0; i < CELLS; i++) {
            const double expected = numbers[i] ? 1.4 : i / (NX * NY) < 10 ? 1.6 : 1.2;
            ck_assert_msg((float)n[i] == (float)expected, "cell %d: n = %g, not %g", i, n[i], expected);
        }
        free(n);
    }
    for (int wrong = 0; wrong < 2; wrong++) {
        char text[2048], structure[256];
        bn_case *c = NULL;
        bn_sim *sim = NULL;
        snprintf(structure, sizeof structure, "top = 400e-9\nfile = \"%s\"\n", path[wrong]);
        if (wrong) { /* no fourth material */
            numbers[CELLS / 2] = 4;
            OK(bn_vtk_write(
                ctx, path[1],
                &(bn_vtk_image){ .dims = 3, .n = { NX, NY, NZ }, .h = { 1, 1, 1 }, .arrays = arrays + 1, .count = 1 }));
        }
        snprintf(text, sizeof text, frame, wrong ? NX : NX + 1, NY, NZ, structure);
        OK(bn_case_parse(ctx, "test", text, NULL, 0, &c));
        ck_assert_int_eq(bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &sim), BN_CASE);
        bn_sim_destroy(&sim);
        bn_case_destroy(&c);
        bn_error_clear(ctx);
        ck_assert_int_eq(unlink(path[wrong]), 0);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

enum { SIDE = 96, HIGH = 64, POINTS = SIDE * SIDE, MEAN = 30 };

/* Heights of a random face in cells about their mean: rms 6, correlation length 3. */
static void random_heights(const char *seed, double height[POINTS])
{
    double *n = indices(SIDE, SIDE, HIGH,
                        "top = 1200e-9\n[[layer]]\nmaterial = \"c\"\nthickness = 1160e-9\ntexture = \"random\"\n"
                        "depth = 240e-9\ncorrelation = 120e-9\n",
                        seed);
    for (int i = 0; i < POINTS; i++)
        height[i] = column(n, POINTS, HIGH, i, 1.5) - MEAN;
    free(n);
}

static double correlation(const double *a, const double *b, int dx, int dy)
{
    double sum = 0;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++)
            sum += a[j * SIDE + i] * b[(j + dy) % SIDE * SIDE + (i + dx) % SIDE];
    return sum / POINTS;
}

/* Mean and mean square are set for the heights; in whole cells the latter grows by 1/12 (Sheppard), which varies with
 * the rounding of POINTS heights: of their product with the heights' rms 6 there remain 2 * 6 / sqrt(12 POINTS) = 0.036
 * for one sigma. A coefficient of correlation from POINTS heights that are correlated over pi L^2 / 2 = 14 cells has
 * sigma = sqrt(14 / POINTS) = 0.039. Limits are 4 sigma. */
TEST(random_faces_have_their_depth_and_correlation)
{
    static double one[POINTS], other[POINTS];
    random_heights("case.seed=1", one);
    random_heights("case.seed=2", other);
    const double sigma = sqrt(14.0 / POINTS), square = correlation(one, one, 0, 0);
    double mean = 0;
    for (int i = 0; i < POINTS; i++)
        mean += one[i] / POINTS;
    near(mean, 0, 4 * sqrt(1.0 / 12 / POINTS), "mean of the rounding");
    near(square, 36 + 1.0 / 12, 4 * 0.036, "depth is the root mean square");
    for (int lag = 2; lag <= 5; lag++) {
        const double expected = exp(-lag * lag / 9.0);
        near(correlation(one, one, lag, 0) / square, expected, 4 * sigma, "exp(-r^2 / L^2) along x");
        near(correlation(one, one, 0, lag) / square, expected, 4 * sigma, "exp(-r^2 / L^2) along y");
    }
    near(correlation(one, other, 0, 0) / square, 0, 4 * sigma, "another seed, another face");
}

/* n and k of a table between two of its wavelengths. */
static void interpolate(const char *path, double nm, double *n, double *k)
{
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    char line[256];
    double before[3] = { 0 }, v[3];
    *n = 0;
    while (*n == 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "%lf,%lf,%lf", &v[0], &v[1], &v[2]) == 3) {
            const double share = (nm - before[0]) / (v[0] - before[0]);
            if (before[0] > 0 && v[0] >= nm) {
                *n = before[1] + share * (v[1] - before[1]);
                *k = before[2] + share * (v[2] - before[2]);
            }
            memcpy(before, v, sizeof v);
        }
    fclose(f);
    ck_assert_double_gt(*n, 0);
}

/* Tables by their name, as a [[material]] and as a file; at 613 nm, between two rows of all. */
TEST(tables_are_linear_between_their_rows)
{
    static const char shape[] =
        "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [1, 1, 200]\nspacing = 10e-9\n"
        "[light]\nwavelength = 613e-9\n[boundary]\nbottom = \"wall\"\n%s[structure]\nbelow = \"%s\"\ntop = 1.2e-6\n"
        "[[layer]]\nmaterial = \"%s\"\nthickness = 200e-9\n[solver]\nstart = \"layers\"\nepsilon = 1e-9\n";
    double n[2], k[2], R[3], A[3];
    interpolate("data/materials/Ag-Johnson1972.csv", 613, &n[0], &k[0]);
    interpolate("data/materials/a-Si-Pierce1972.csv", 613, &n[1], &k[1]);
    char text[2048], given[512];
    snprintf(given, sizeof given,
             "[[material]]\nname = \"Ag\"\nn = %.17g\nk = %.17g\n[[material]]\nname = \"Si\"\nn = %.17g\nk = %.17g\n",
             n[0], k[0], n[1], k[1]);
    const char *const materials[3][3] = {
        { given, "Ag", "Si" },
        { "", "Ag-Johnson1972", "a-Si-Pierce1972" },
        { "[[material]]\nname = \"m\"\ntable = \"Ag-Johnson1972\"\n"
          "[[material]]\nname = \"file\"\ntable = \"data/materials/a-Si-Pierce1972.csv\"\n",
          "m", "file" },
    };
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, shape, materials[i][0], materials[i][1], materials[i][2]);
        run r = RUN(text, NULL, NULL);
        R[i] = result(&r, "reflectance");
        A[i] = result(&r, "absorptance");
        end_run(&r);
        near(R[i], R[0], 1e-13, "the same n and k");
        near(A[i], A[0], 1e-13, "the same n and k");
    }
    ck_assert(A[0] > 0.2 && A[0] < 0.9);
}

int main(void) { return bn_test_main("maxwell-structure", open_context, close_context); }
