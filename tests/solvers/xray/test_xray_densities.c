/* test_xray_densities.c: the densities of `xray`: every generated shape is the file of its cells, files are seen from
 * every face as if they had been turned, electrons and probabilities give the depth they mean, and densities in time
 * are met at the time that was asked for. */
#include "xray_runs.h"

#include "io/volume.h"
#include "io/vtk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
/* Thomson's cross-section, CODATA 2018. */
static const double thomson = 6.6524587321e-29;

/* "key=FOLDER/name", to be used at once. */
static const char *set_file(const char *key, const char *name)
{
    static char text[300];
    snprintf(text, sizeof text, "%s=%s", key, in_folder(name));
    return text;
}

enum { NX = 13, NY = 24, NZ = 10, CELLS = NX * NY * NZ };
static const double h[3] = { 5e-9, 4e-9, 6e-9 };

static const char shape_case[] =
    "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\ncells = [13, 24, 10]\ncell = [5e-9, 4e-9, 6e-9]\n"
    "value = 0.0625\n[source]\nphotons = 4000\ntilt = [0.1, -0.2]\n[scattering]\norder = \"multiple\"\n"
    "theta_max = 0.5\n[detector]\ncells = [20, 16]\ncell_angle = 0.04\nbeam_stop = 0\n[flight]\nblock = 1\n";

/* --- shapes --- */

/* Whether a place has a density, as the documents say it: x from the entrance, y and z from the middle of the face. */
typedef bool shape(double x, double y, double z);
static bool within(double x, double from, double length) { return x >= from && x < from + length; }

static bool slab(double x, double y, double z)
{
    (void)y;
    return within(x, 1e-8, 3e-8) && fabs(z - 7e-9) < 1.9e-8;
}
static bool single_slit(double x, double y, double z) { return slab(x, y, z) && fabs(y + 9e-9) < 1.2e-8; }
static bool double_slit(double x, double y, double z)
{
    return slab(x, y, z) && (fabs(y + 9e-9 - 1.5e-8) < 6.1e-9 || fabs(y + 9e-9 + 1.5e-8) < 6.1e-9);
}
static bool grating(double x, double y, double z) { return slab(x, y, z) && fabs(remainder(y + 9e-9, 3e-8)) < 6.1e-9; }
static bool offset_gratings(double x, double y, double z) { return grating(x, x < 2.5e-8 ? y : y - 7e-9, z); }
static bool ball(double x, double y, double z) { return hypot(hypot(x - 2.5e-8, y + 9e-9), z - 7e-9) < 2.1e-8; }
static bool foil(double x, double y, double z) { return slab(x - 9e-9 * cos(2 * pi * (y + 9e-9) / 3e-8), y, z); }

static void write_shape(shape *in, float value, const char *name)
{
    static float values[CELLS];
    for (int c = 0; c < CELLS; c++) {
        const int i = c % NX, j = c / NX % NY, k = c / NX / NY;
        values[c] = in((i + 0.5) * h[0], (j + 0.5 - 0.5 * NY) * h[1], (k + 0.5 - 0.5 * NZ) * h[2]) ? value : 0;
    }
    OK(bn_tiff_write(ctx, in_folder(name), (const uint32_t[]){ NX, NY, NZ }, values, NULL));
}

TEST(a_shape_is_the_file_of_its_cells)
{
#define LONG "density.height=3.8e-8"
#define NARROW "density.width=1.22e-8", "density.pitch=3e-8"
    static const struct {
        const char *kind, *more[4]; /* of its own, the rest are NULL */
        shape *in;
    } rows[] = {
        { "density.kind=slab", { LONG }, slab },
        { "density.kind=single-slit", { LONG, "density.width=2.4e-8" }, single_slit },
        { "density.kind=double-slit", { LONG, NARROW }, double_slit },
        { "density.kind=grating", { LONG, NARROW }, grating },
        { "density.kind=offset-gratings", { LONG, NARROW, "density.shift=7e-9" }, offset_gratings },
        { "density.kind=sphere", { "density.radius=2.1e-8" }, ball },
        { "density.kind=foil", { LONG, "density.ripple=9e-9", "density.pitch=3e-8" }, foil },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_shape(rows[i].in, 0.0625f, "shape.tif");
        run a = RUN(shape_case, NULL, rows[i].kind, "density.centre=[-9e-9,7e-9]", "density.start=1e-8",
                    "density.depth=3e-8", rows[i].more[0], rows[i].more[1], rows[i].more[2], rows[i].more[3]);
        run b = RUN(shape_case, NULL, "density.kind=file", "density.value=1", set_file("density.file", "shape.tif"));
        ck_assert_msg(result(&a, "scatterings_mean") > 0.02, "%s: nothing is met", rows[i].kind);
        same_bits(&a, &b, "tallies");
        same_bits(&a, &b, "sums");
        end_run(&a);
        end_run(&b);
    }
    /* What is left out: all along x and z, from the entrance. */
    run a = RUN(shape_case, NULL, "density.kind=slab");
    near(note(&a, "mean optical depth"), -NX * log(1 - 0.0625), 1e-12, "-n ln(1 - p)");
    end_run(&a);
}

/* Slits of 12 nm on cells of 4 nm: edges in the middle of cells take both of these, edges on faces leave the width. */
TEST(the_width_of_slits_on_the_cells_is_told)
{
    static const char *const kinds[] = { "density.kind=single-slit", "density.kind=double-slit" };
    for (int k = 0; k < 2; k++) {
        run a = RUN(shape_case, NULL, kinds[k], "density.width=12e-9", "density.centre=[2e-9,0]");
        near(note(&a, "width of a slit on the cells"), 12e-9, 1e-20, kinds[k]);
        end_run(&a);
        run b = RUN(shape_case, NULL, kinds[k], "density.width=12e-9", "density.centre=[0,0]");
        near(note(&b, "width of a slit on the cells"), 16e-9, 1e-20, kinds[k]);
        end_run(&b);
    }
}

/* --- files --- */

/* A density that looks different from everywhere, seen by photons that enter at x = 0. */
static float lump(int i, int j, int k)
{
    return (float)((unsigned)(i + NX * (j + NY * k)) * 2654435761u >> 22 & 63) / 1024 * (i > 2 && j < 20 && k > 1);
}

static void write_seen_from(int face, float factor)
{
    static float values[CELLS];
    static const int size[3] = { NX, NY, NZ };
    const int axis = face / 2;
    int n[3], at[3];
    for (int d = 0; d < 3; d++)
        n[(axis + d) % 3] = size[d];
    for (int c = 0; c < CELLS; c++) {
        const int seen[3] = { c % NX, c / NX % NY, c / NX / NY };
        for (int d = 0; d < 3; d++)
            at[(axis + d) % 3] = seen[d];
        at[axis] = face % 2 ? NX - 1 - seen[0] : seen[0];
        values[(at[2] * n[1] + at[1]) * n[0] + at[0]] = factor * lump(seen[0], seen[1], seen[2]);
    }
    OK(bn_tiff_write(ctx, in_folder("seen.tif"), (const uint32_t[]){ (uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2] },
                     values, NULL));
}

/* Six files, the same one turned so that photons through one of the six faces see the same: the same bits. */
TEST(every_face_sees_the_file_turned)
{
    static const char *const faces[] = { "source.face=x_min", "source.face=x_max", "source.face=y_min",
                                         "source.face=y_max", "source.face=z_min", "source.face=z_max" };
    static const char *const measures[] = { "density.measure=probability", "density.measure=electrons" };
    for (int m = 0; m < 2; m++) {
        run first = { 0 };
        for (int f = 0; f < 6; f++) {
            char cell[100], cells[100];
            double side[3];
            int n[3];
            for (int d = 0; d < 3; d++) {
                side[(f / 2 + d) % 3] = h[d];
                n[(f / 2 + d) % 3] = d == 0 ? NX : d == 1 ? NY : NZ;
            }
            snprintf(cell, sizeof cell, "density.cell=[%g,%g,%g]", side[0], side[1], side[2]);
            snprintf(cells, sizeof cells, "density.cells=[%d,%d,%d]", n[0], n[1], n[2]);
            write_seen_from(f, 1);
            run r = RUN(shape_case, NULL, "density.kind=file", cell, cells, set_file("density.file", "seen.tif"),
                        faces[f], measures[m], m ? "density.value=1e38" : "density.value=1");
            if (f == 0) {
                double depth = 0;
                for (int c = 0; c < CELLS; c++) {
                    const double value = (double)lump(c % NX, c / NX % NY, c / NX / NY);
                    depth += (m ? thomson * 1e38 * value * h[0] : -log1p(-value)) / (NY * NZ);
                }
                near(note(&r, "mean optical depth"), depth, 1e-9 * depth, measures[m]);
                first = r;
                continue;
            }
            same_bits(&first, &r, "tallies");
            same_bits(&first, &r, "sums");
            end_run(&r);
        }
        /* The value of the case is a factor. */
        write_seen_from(0, 0.5f);
        run r = RUN(shape_case, NULL, "density.kind=file", set_file("density.file", "seen.tif"), measures[m],
                    m ? "density.value=2e38" : "density.value=2");
        same_bits(&first, &r, "sums");
        end_run(&r);
        end_run(&first);
    }
}

/* A pencil through a column of unlike cells, whose blocks refuse some collisions and take others: all (1 - p). */
TEST(unlike_cells_refuse_their_share_of_collisions)
{
    static const char *const blocks[] = { "flight.method=exact", "flight.block=1", "flight.block=2", "flight.block=4" };
    write_seen_from(0, 8);
    for (int b = 0; b < 4; b++)
        for (int k = 3; k < NZ; k += 3) {
            const int j = 2 * k;
            char centre[100];
            double left = 1;
            for (int i = 0; i < NX; i++)
                left *= 1 - 8 * (double)lump(i, j, k);
            snprintf(centre, sizeof centre, "source.centre=[%g,%g]", (j + 0.5 - 0.5 * NY) * h[1],
                     (k + 0.5 - 0.5 * NZ) * h[2]);
            run r = RUN(shape_case, NULL, "density.kind=file", set_file("density.file", "seen.tif"), blocks[b], centre,
                        "density.value=1", "source.tilt=[0,0]", "source.profile=pencil", "source.photons=100000");
            near(result(&r, "unscattered"), left, 5 * sqrt(left * (1 - left) / 1e5), "Beer's law, 5 sigma");
            end_run(&r);
        }
}

TEST(an_array_is_found_by_its_name)
{
    static float full[CELLS], empty[CELLS];
    for (int c = 0; c < CELLS; c++)
        full[c] = 0.0625f;
    const bn_vtk_array arrays[] = {
        { .name = "empty", .unit = "", .type = "Float32", .components = 1, .data = empty },
        { .name = "full", .unit = "", .type = "Float32", .components = 1, .data = full },
    };
    OK(bn_vtk_write(
        ctx, in_folder("two.vti"),
        &(bn_vtk_image){ .dims = 3, .n = { NX, NY, NZ }, .h = { 5e-9, 4e-9, 6e-9 }, .arrays = arrays, .count = 2 }));
    run r = RUN(shape_case, NULL, "density.kind=file", set_file("density.file", "two.vti"), "density.array=full",
                "density.value=1");
    near(note(&r, "mean optical depth"), -NX * log(1 - 0.0625), 1e-9, "the full one");
    end_run(&r);
}

/* --- densities in time --- */

static bool everywhere(double x, double y, double z)
{
    (void)x, (void)y, (void)z;
    return true;
}

/* Slabs of depth 0, t, 3 t at 0, 1 and 4 s: the depth at a time is linear in between. Each step meets the density of
 * its middle. */
TEST(photons_meet_the_density_of_their_time)
{
    static const struct {
        const char *pulse, *batch;
        double begin, end;
        int steps;
    } rows[] = {
        { "source.pulse=[2,3]", "source.batch=40", 2, 3, 1 },
        { "source.pulse=[0.2,0.4]", "source.batch=40", 0.2, 0.4, 1 },
        { "source.pulse=[0,0]", "source.batch=40", 0, 4, 1 }, /* all frames */
        { "source.pulse=[0,4]", "source.batch=10", 0, 4, 4 },
        { "source.pulse=[-1,6]", "source.batch=20", -1, 6, 2 }, /* the first and the last frame last */
    };
    const double t = thomson * 1e35 * NX * h[0];
    char text[2048];
    write_shape(everywhere, 0, "0.tif");
    write_shape(everywhere, 1, "1.tif");
    write_shape(everywhere, 3, "3.tif");
    snprintf(
        text, sizeof text,
        "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\nkind = \"series\"\ncell = [5e-9, 4e-9, 6e-9]\n"
        "measure = \"electrons\"\nvalue = 1e35\n[[density.frame]]\nfile = \"%s/0.tif\"\ntime = 0\n"
        "[[density.frame]]\nfile = \"%s/1.tif\"\ntime = 1\n[[density.frame]]\nfile = \"%s/3.tif\"\ntime = 4\n"
        "[source]\nphotons = 40960\n[scattering]\ntheta_max = 0.01\n[detector]\ncells = [32, 32]\ncell_angle = 1e-3\n"
        "beam_stop = 0\n",
        test_folder, test_folder, test_folder);
    for (int exact = 0; exact < 2; exact++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            double left = 0;
            for (int step = 0; step < rows[i].steps; step++) {
                const double time = rows[i].begin + (rows[i].end - rows[i].begin) * (step + 0.5) / rows[i].steps;
                const double depth = t * (time < 0 ? 0 : time < 1 ? time : time < 4 ? 1 + 2 * (time - 1) / 3 : 3);
                left += exp(-depth) / rows[i].steps;
            }
            run r = RUN(text, NULL, rows[i].pulse, rows[i].batch, exact ? "flight.method=exact" : "flight.block=2");
            near(result(&r, "unscattered"), left, 5 * sqrt(left * (1 - left) / 40960), rows[i].pulse);
            end_run(&r);
        }
}

int main(void) { return bn_test_main("xray_densities", open_folder, close_folder); }
