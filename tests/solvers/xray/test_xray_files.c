/* test_xray_files.c: a density from VTK, TIFF, HDF5 and PNG gives the same photons; damaged and contradicting files are
 * refused; what is written can be read; a run that was stopped goes on with the same bits. */
#include "support_case.h"

#include "io/file.h"
#include "io/png_file.h"
#include "io/volume.h"
#include "io/vtk.h"
#include "sim/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NX = 12, NY = 10, NZ = 7, POINTS = NX * NY * NZ };

/* Multiples of 2^-10, the same in all formats; empty rows at one side. */
static void make_density(float *values)
{
    for (int i = 0; i < POINTS; i++)
        values[i] = i % NX < 3 ? 0 : (float)(i * 2654435761u >> 22 & 63) / 1024;
}

static void write_files(const float *values)
{
    static const uint32_t n[3] = { NX, NY, NZ };
    const bn_vtk_array array = { .name = "density", .unit = "", .type = "Float32", .components = 1, .data = values };
    const bn_vtk_image image = {
        .dims = 3, .n = { NX, NY, NZ }, .h = { 4e-9, 5e-9, 6e-9 }, .arrays = &array, .count = 1
    };
    OK(bn_vtk_write(ctx, in_folder("density.vti"), &image));
    OK(bn_tiff_write(ctx, in_folder("density.tif"), n, values, "a density"));
    const bn_mesh_array mesh_array = { .name = "density", .unit = "", .values = values, .components = 1 };
    const bn_mesh mesh = { .dims = 3,
                           .n = { NX, NY, NZ },
                           .h = { 4e-9, 5e-9, 6e-9 },
                           .step = 7,
                           .arrays = &mesh_array,
                           .count = 1,
                           .software = "test",
                           .version = "0" };
    OK(bn_hdf5_write(ctx, in_folder("density.h5"), &mesh));
}

static const char file_case[] =
    "[case]\nsolver = \"xray\"\n[density]\nkind = \"file\"\ncell = [4e-9, 5e-9, 6e-9]\n[source]\nphotons = 20000\n"
    "[scattering]\norder = \"multiple\"\n[detector]\ncells = [32, 32]\ncell_angle = 4e-3\nbeam_stop = 1\n";

static bn_status open_case(const char *file, const char *more, bn_case **c, bn_sim **sim)
{
    char text[512];
    snprintf(text, sizeof text, "density.file=%s", file);
    const char *overrides[] = { text, more };
    *c = NULL;
    *sim = NULL;
    BN_TRY(bn_case_parse(ctx, "test.toml", file_case, overrides, more ? 2 : 1, c));
    return bn_sim_create(ctx, *c, &(bn_sim_desc){ 0 }, sim);
}

static int64_t *sums_of(const char *file, const char *more)
{
    bn_case *c;
    bn_sim *sim;
    int64_t *sums = malloc(3 * 1024 * sizeof *sums);
    OK(open_case(file, more, &c, &sim));
    while (!bn_sim_done(sim))
        OK(bn_sim_step(sim));
    OK(bn_sim_read(sim, "sums", sums, 3 * 1024 * sizeof *sums));
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    return sums;
}

TEST(formats_give_the_same_photons)
{
    static const char *const names[] = { "density.tif", "density.h5" };
    static const char *const faces[] = { "source.face=x_min", "source.face=x_max", "source.face=z_min",
                                         "source.face=y_max" };
    float values[POINTS];
    int64_t *before = NULL;
    make_density(values);
    write_files(values);
    for (int f = 0; f < 4; f++) {
        int64_t *first = sums_of(in_folder("density.vti"), faces[f]);
        for (int i = 0; i < 2; i++) {
            int64_t *other = sums_of(in_folder(names[i]), faces[f]);
            ck_assert_msg(memcmp(first, other, 3 * 1024 * sizeof *other) == 0, "%s, %s", names[i], faces[f]);
            free(other);
        }
        ck_assert_msg(!before || memcmp(before, first, 3 * 1024 * sizeof *first) != 0, "%s changes nothing", faces[f]);
        free(before);
        before = first;
    }
    free(before);
}

TEST(files_are_read_as_they_were_written)
{
    static const char *const names[] = { "density.vti", "density.tif", "density.h5" };
    float values[POINTS];
    make_density(values);
    write_files(values);
    for (int i = 0; i < 3; i++) {
        bn_volume v;
        OK(bn_volume_read(ctx, in_folder(names[i]), "", &v));
        ck_assert(v.n[0] == NX && v.n[1] == NY && v.n[2] == NZ);
        for (int k = 0; k < POINTS; k++)
            ck_assert(v.values[k] == (double)values[k]);
        for (int d = 0; d < 3; d++)
            near(v.h[d], i == 1 ? 0 : (4 + d) * 1e-9, 1e-20, "spacing");
        bn_volume_free(&v);
    }
}

/* The first part of a file. */
static void cut_short(const char *from, const char *to, double share)
{
    char *data, source[256];
    size_t bytes;
    snprintf(source, sizeof source, "%s", in_folder(from));
    OK(bn_file_read(ctx, source, 1 << 20, &data, &bytes));
    OK(bn_file_write(ctx, in_folder(to), data, (size_t)(share * (double)bytes)));
    free(data);
}

static void refused(const char *file, const char *more, bn_status status, const char *word)
{
    bn_case *c;
    bn_sim *sim;
    const bn_status st = open_case(in_folder(file), more, &c, &sim);
    ck_assert_msg(st == status, "%s: status %d, not %d", file, (int)st, (int)status);
    ck_assert_msg(strstr(bn_error_text(ctx), word), "%s: %s", file, bn_error_text(ctx));
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    bn_context_destroy(&ctx);
    ck_assert_int_eq(bn_context_create(NULL, &ctx), BN_OK);
}

TEST(bad_files_are_refused)
{
    static const uint32_t n[3] = { NX, NY, NZ };
    float values[POINTS];
    make_density(values);
    write_files(values);
    cut_short("density.tif", "short.tif", 0.6);
    cut_short("density.h5", "short.h5", 0.6);
    cut_short("density.vti", "short.vti", 0.6);
    refused("short.tif", NULL, BN_IO, "cut short");
    refused("short.h5", NULL, BN_IO, "cut short");
    refused("short.vti", NULL, BN_IO, "cut short");
    refused("none.h5", NULL, BN_IO, "none.h5");
    refused("density.txt", NULL, BN_IO, "neither");
    refused("density.h5", "density.array=other", BN_IO, "no dataset");
    refused("density.h5", "density.cells=[12,10,8]", BN_CASE, "12 x 10 x 7");
    refused("density.h5", "density.cell=[1e-9,5e-9,6e-9]", BN_CASE, "4e-09");
    values[17] = -1;
    OK(bn_tiff_write(ctx, in_folder("negative.tif"), n, values, NULL));
    refused("negative.tif", NULL, BN_CASE, "-1 at (5, 1, 0)");
    values[17] = NAN;
    OK(bn_tiff_write(ctx, in_folder("nan.tif"), n, values, NULL));
    refused("nan.tif", NULL, BN_CASE, "nan at (5, 1, 0)");
}

TEST(a_picture_is_what_the_generator_makes)
{
    static unsigned pixels[8][16];
    const bn_png_pixels picture = { 16, 8, sizeof pixels[0], (const unsigned char *)pixels };
    for (int k = 0; k < 8; k++)
        for (int j = 0; j < 16; j++) {
            const bool low = k < 4; /* of the picture: small z, where the slits end */
            const bool slit = j == 4 || j == 5 || j == 10 || j == 11;
            pixels[7 - k][j] = slit && !low ? 0 : 0xffffff;
        }
    OK(bn_png_write(ctx, in_folder("slits.png"), &picture, "", NULL));
    static const char shape[] = "width = 8e-9\npitch = 24e-9\nheight = 16e-9\ncentre = [0, 8e-9]\n";
    static const char slits[] = "[case]\nsolver = \"xray\"\n[density]\nkind = \"%s\"\n%s\ncells = [4, 16, 8]\n"
                                "value = 0.1\n[source]\nphotons = 20000\n[detector]\ncells = [32, 32]\n"
                                "cell_angle = 4e-3\nbeam_stop = 1\n";
    int64_t sums[2][3 * 1024];
    for (int i = 0; i < 2; i++) {
        char text[1024], file[256];
        bn_case *c;
        bn_sim *sim;
        snprintf(file, sizeof file, "file = \"%s/slits.png\"", test_folder);
        snprintf(text, sizeof text, slits, i == 0 ? "file" : "double-slit", i == 0 ? file : shape);
        OK(bn_case_parse(ctx, "test.toml", text, NULL, 0, &c));
        OK(bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &sim));
        while (!bn_sim_done(sim))
            OK(bn_sim_step(sim));
        ck_assert_uint_eq(bn_sim_now(sim).items, 20000); /* photons */
        OK(bn_sim_read(sim, "sums", sums[i], sizeof sums[i]));
        bn_sim_destroy(&sim);
        bn_case_destroy(&c);
    }
    ck_assert(memcmp(sums[0], sums[1], sizeof sums[0]) == 0);
}

/* --- a law from a table --- */

/* The mean of 1 - cos after one scattering into a table's law. */
static double table_mean(const char *name, const char *theta)
{
    char file[300];
    bn_case *c;
    bn_sim *sim;
    double mean = (double)NAN;
    snprintf(file, sizeof file, "scattering.table=%s", in_folder(name));
    const char *overrides[] = { file, theta };
    OK(bn_case_parse(ctx, "test.toml",
                     "[case]\nsolver = \"xray\"\n[density]\nkind = \"slab\"\ncells = [64, 8, 8]\ncell = [4e-9, 1e-3, "
                     "1e-3]\nvalue = 0.9\n[source]\nprofile = \"pencil\"\nphotons = 100000\n[scattering]\nangle = "
                     "\"table\"\n[detector]\ncells = [32, 32]\ncell_angle = 1e-3\ndistance = 1e6\n",
                     overrides, 2, &c));
    if (bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &sim) == BN_OK) {
        while (!bn_sim_done(sim))
            OK(bn_sim_step(sim));
        OK(bn_sim_measure(sim));
        const bn_results *r = bn_sim_results(sim);
        for (size_t i = 0; i < bn_results_count(r); i++)
            if (strcmp(bn_results_at(r, i)->name, "cos_mean") == 0)
                mean = 1 - bn_results_at(r, i)->value;
    }
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    return mean;
}

TEST(angles_follow_a_table)
{
    /* Linear in 1 - cos from 2 to 0 at a right angle: mean 1/3; then even up to 60 degrees: mean 1/4; from 3 to 1 at
     * 0.2, even up to 0.6: mean 29/120, variance 0.033264. */
    static const char falling[] = "theta,density\n0,2\n1.5707963267948966,0\n", even[] = "theta,density\n0,7\n1.2,7\n";
    static const char bent[] = "theta,density\n0,3\n0.6435011087932844,1\n1.1592794807274085,1\n";
    static const char wrong[] = "theta,density\n0.1,7\n1.2,7\n";
    OK(bn_file_write(ctx, in_folder("falling.csv"), falling, strlen(falling)));
    OK(bn_file_write(ctx, in_folder("even.csv"), even, strlen(even)));
    OK(bn_file_write(ctx, in_folder("bent.csv"), bent, strlen(bent)));
    OK(bn_file_write(ctx, in_folder("wrong.csv"), wrong, strlen(wrong)));
    near(table_mean("falling.csv", "scattering.theta_max=1.5707963"), 1.0 / 3, 5 * sqrt(1.0 / 18 / 1e5), "triangle");
    near(table_mean("even.csv", "scattering.theta_max=1.0471975511965976"), 0.25, 5 * sqrt(1.0 / 48 / 1e5), "even");
    near(table_mean("bent.csv", "scattering.theta_max=1.1592794807274085"), 29.0 / 120, 5 * sqrt(0.033264 / 1e5),
         "bent");
    ck_assert(isnan(table_mean("wrong.csv", "scattering.theta_max=1")));
    ck_assert_msg(strstr(bn_error_text(ctx), "angles rise from 0"), "%s", bn_error_text(ctx));
}

TEST(a_table_must_reach_far_enough)
{
    static const char even[] = "theta,density\n0,7\n1.2,7\n";
    OK(bn_file_write(ctx, in_folder("even.csv"), even, strlen(even)));
    ck_assert(isnan(table_mean("even.csv", "scattering.theta_max=1.5")));
    ck_assert_msg(strstr(bn_error_text(ctx), "ends at 1.2"), "%s", bn_error_text(ctx));
}

/* --- densities in time --- */

/* A slab that appears between 0 and 2 s: depth 0 ... 0.9375, photons from 1 to 2 s meet three quarters of it on
 * average. */
static const char series_case[] =
    "[case]\nsolver = \"xray\"\n[density]\nkind = \"series\"\ncell = [4e-9, 5e-9, 6e-9]\n[[density.frame]]\nfile = "
    "\"%s/empty.tif\"\ntime = 0\n[[density.frame]]\nfile = \"%s/full.tif\"\ntime = 2\n[source]\nphotons = 40960\nbatch "
    "= 1\npulse = "
    "[1, 2]\n[scattering]\norder = \"multiple\"\ntheta_max = 0.001\n[detector]\ncells = [32, 32]\ncell_angle = "
    "1e-4\nbeam_stop = 1\n"
    "[flight]\n%s\n";

static void check_series(bn_device *device, int block, const char *density, int64_t *sums)
{
    char text[2048];
    bn_case *c;
    bn_sim *sim;
    snprintf(text, sizeof text, series_case, test_folder, test_folder, block == 1 ? "block = 1" : "method = \"exact\"");
    OK(bn_case_parse(ctx, "test.toml", text, (const char *const[]){ density }, 1, &c));
    OK(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device }, &sim));
    while (!bn_sim_done(sim))
        OK(bn_sim_step(sim));
    OK(bn_sim_measure(sim));
    OK(bn_sim_read(sim, "sums", sums, 3 * 1024 * sizeof *sums));
    const bn_results *r = bn_sim_results(sim);
    for (size_t i = 0; i < bn_results_count(r); i++)
        if (strcmp(bn_results_at(r, i)->name, "scatterings_mean") == 0) {
            const double depth = -12 * log(1 - 0.0625);
            near(bn_results_at(r, i)->value, 0.75 * depth, 5 * sqrt(depth / 40960), "linear in time");
        }
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

TEST(densities_change_in_time)
{
    static const uint32_t n[3] = { NX, NY, NZ };
    static int64_t host[3 * 1024], other[3 * 1024];
    float values[POINTS] = { 0 };
    bn_device *device;
    OK(bn_tiff_write(ctx, in_folder("empty.tif"), n, values, NULL));
    for (int i = 0; i < POINTS; i++)
        values[i] = 0.0625f;
    OK(bn_tiff_write(ctx, in_folder("full.tif"), n, values, NULL));
    check_series(NULL, 0, "solver.density=automatic", other);
    check_series(NULL, 1, "solver.density=slabs", host);
    ck_assert_int_eq(setenv("BINNACLE_PARTITION", "2", 1), 0); /* a CPU as two devices */
    for (int several = 0; several < 2; several++) {
        OK(bn_device_open(ctx, several ? "all" : "auto", false, &device));
        check_series(device, 1, several ? "solver.density=slabs" : "solver.density=automatic", other);
        ck_assert(memcmp(host, other, sizeof host) == 0);
        bn_device_close(&device);
    }
}

/* --- stopping and going on --- */

static const char long_case[] = "[case]\nsolver = \"xray\"\n[density]\nkind = \"grating\"\ncells = [16, 16, 8]\nvalue "
                                "= 0.02\nwidth = 8e-9\npitch = "
                                "16e-9\n[source]\nphotons = 30000\nbatch = 3\ncoherent_steps = 2\n[scattering]\norder "
                                "= \"multiple\"\n[detector]\ncells = "
                                "[32, 32]\ncell_angle = 4e-3\nbeam_stop = 1\n";

static bn_status resume(const char *more, bn_case **c, bn_sim **sim, bn_device *device)
{
    char text[300];
    snprintf(text, sizeof text, "case.resume=%s", in_folder("saved"));
    const char *overrides[] = { text, more };
    *sim = NULL;
    BN_TRY(bn_case_parse(ctx, "test.toml", long_case, overrides, more ? 2 : 1, c));
    return bn_sim_create(ctx, *c, &(bn_sim_desc){ .device = device }, sim);
}

static void same_field(bn_sim *a, bn_sim *b, const char *name, size_t bytes)
{
    unsigned char *x = malloc(bytes), *y = malloc(bytes);
    OK(bn_sim_read(a, name, x, bytes));
    OK(bn_sim_read(b, name, y, bytes));
    ck_assert_msg(memcmp(x, y, bytes) == 0, "%s differs after going on", name);
    free(x);
    free(y);
}

static void check_resumed(bn_device *device)
{
    bn_case *c, *d, *e;
    bn_sim *whole, *first, *second;
    OK(bn_case_parse(ctx, "test.toml", long_case, NULL, 0, &c));
    OK(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device }, &whole));
    while (!bn_sim_done(whole))
        OK(bn_sim_step(whole));
    OK(bn_case_parse(ctx, "test.toml", long_case, NULL, 0, &d));
    OK(bn_sim_create(ctx, d, &(bn_sim_desc){ .device = device }, &first));
    for (int i = 0; i < 5; i++)
        OK(bn_sim_step(first));
    OK(bn_sim_save(first, in_folder("saved")));
    OK(resume("stop.steps=1000", &e, &second, device));
    ck_assert_int_eq((int)bn_sim_now(second).step, 5);
    while (!bn_sim_done(second))
        OK(bn_sim_step(second));
    same_field(whole, second, "sums", 3 * 1024 * 8);
    same_field(whole, second, "tallies", 15 * 1024 * 8);
    same_field(whole, second, "intensity", 1024 * 4);
    bn_sim_destroy(&whole);
    bn_sim_destroy(&first);
    bn_sim_destroy(&second);
    bn_case_destroy(&c);
    bn_case_destroy(&d);
    bn_case_destroy(&e);
}

TEST(a_stopped_run_goes_on_with_the_same_bits)
{
    bn_device *device = opened_device();
    check_resumed(NULL);
    check_resumed(device);
}

TEST(wrong_checkpoints_are_refused)
{
    bn_case *c;
    bn_sim *sim;
    OK(bn_case_parse(ctx, "test.toml", long_case, NULL, 0, &c));
    OK(bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &sim));
    OK(bn_sim_step(sim));
    OK(bn_sim_save(sim, in_folder("saved")));
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    ck_assert_int_eq(resume("case.seed=2", &c, &sim, NULL), BN_CASE);
    ck_assert_msg(strstr(bn_error_text(ctx), "another case"), "%s", bn_error_text(ctx));
    bn_case_destroy(&c);
    bn_context_destroy(&ctx);
    ck_assert_int_eq(bn_context_create(NULL, &ctx), BN_OK);
    cut_short("saved/000001-0000.h5", "saved/000001-0000.h5", 0.7);
    ck_assert_int_eq(resume(NULL, &c, &sim, NULL), BN_IO);
    ck_assert_msg(strstr(bn_error_text(ctx), "cut short"), "%s", bn_error_text(ctx));
    bn_case_destroy(&c);
}

int main(void) { return bn_test_main("xray files", open_folder, close_folder); }
