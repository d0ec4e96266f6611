/* bench_xray.c: photons and scatterings per second of xray on one device, beside what the instructions of a photon
 * allow. Never part of the tests. bench_xray [DEVICE [SECONDS]]        DEVICE: "auto", a number, "gpu", ...; SECONDS:
 * of a measurement, about */
#include "bench.h"

#include "sim/solver.h"

#include <string.h>

static double result(bn_sim *sim, const char *name)
{
    const bn_results *r = bn_sim_results(sim);
    for (size_t i = 0; i < bn_results_count(r); i++)
        if (strcmp(bn_results_at(r, i)->name, name) == 0)
            return bn_results_at(r, i)->value;
    return 0;
}

/* A case; `floor`: what is to be reached on an H200, in photons or (`scatterings`) scatterings a second. */
typedef struct row {
    const char *what, *text;
    bool scatterings;
    double floor;
} row;

#define DETECTOR "[detector]\ncells = [1024, 1024]\ncell_angle = 70e-6\n"

static const row rows[] = {
    { "double slit, light on the slits",
      "[density]\nkind = \"double-slit\"\ncells = [256, 128, 128]\ncentre = [2e-9, 0]\ndepth = 4e-9\n"
      "[source]\nsize = [44e-9, 0]\ncentre = [2e-9, 0]\n" DETECTOR,
      false, 2e10 },
    { "double slit, light on all cells",
      "[density]\nkind = \"double-slit\"\ncells = [256, 128, 128]\ncentre = [2e-9, 0]\ndepth = 4e-9\n" DETECTOR, false,
      2e10 },
    { "512 cells, scattered once", "[density]\nkind = \"slab\"\ncells = [512, 128, 128]\nvalue = 0.01\n" DETECTOR,
      false, 2e10 },
    { "512 cells, multiple, mean 1",
      "[density]\nkind = \"slab\"\ncells = [512, 128, 128]\nvalue = 0.001953\n[scattering]\norder = "
      "\"multiple\"\n" DETECTOR,
      false, 2e10 },
    { "offset gratings, exact walk",
      "[density]\nkind = \"offset-gratings\"\ncells = [256, 128, 128]\nvalue = 0.01\nwidth = 8e-9\npitch = 16e-9\n"
      "[scattering]\norder = \"multiple\"\n[flight]\nmethod = \"exact\"\n" DETECTOR,
      false, 0 },
    { "offset gratings, delta tracking",
      "[density]\nkind = \"offset-gratings\"\ncells = [256, 128, 128]\nvalue = 0.01\nwidth = 8e-9\npitch = 16e-9\n"
      "[scattering]\norder = \"multiple\"\n" DETECTOR,
      false, 0 },
    /* A cube of 60 mm with 1 scattering a mm, in all directions, and 0.005 absorptions a mm: cube60 of MCX. */
    { "turbid cube of 60 mm",
      "[density]\nkind = \"slab\"\ncells = [60, 60, 60]\ncell = [1e-3, 1e-3, 1e-3]\nvalue = 0.633955\nabsorption = "
      "0.004975124378109453\n"
      "[source]\nwavelength = 1e-6\nprofile = \"pencil\"\n[scattering]\norder = \"multiple\"\nangle = "
      "\"henyey-greenstein\"\n"
      "g = 0.01\ntheta_max = 3.14159265358979\n[detector]\ncells = [1024, 1024]\ncell_angle = 1e-3\nspacing = "
      "\"lengths\"\n"
      "distance = 1000\nbeam_stop = 0\n",
      true, 4e10 },
};

static void bench(const row *r, const char *precision, double seconds)
{
    char text[2048], both[64];
    snprintf(text, sizeof text, "[case]\nsolver = \"xray\"\n%s", r->text);
    snprintf(both, sizeof both, "case.precision=%s", precision);
    /* Photons a step grow until a step is long enough to be timed. */
    for (int batch = 1; batch <= 255; batch = batch < 128 ? 4 * batch : 256) {
        char more[64];
        const char *overrides[] = { both, more, "source.photons=1e12" };
        bn_case *c;
        bn_sim *sim;
        const int steps = 4;
        snprintf(more, sizeof more, "source.batch=%d", batch);
        need(bn_case_parse(ctx, "bench", text, overrides, 3, &c));
        need(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device }, &sim));
        double best = 1e30;
        for (int i = 0; i < steps; i++) { /* the first one warms up */
            const double start = now();
            need(bn_sim_step(sim));
            need(bn_domain_finish(bn_sim_domain(sim)));
            const double took = now() - start;
            best = i > 0 && took < best ? took : best;
        }
        const bool last = best > seconds || 4 * batch > 255;
        if (last) {
            need(bn_sim_measure(sim));
            const double photons = (double)batch * 1024 * 1024, mean = result(sim, "scatterings_mean");
            const double rate = photons / best * (r->scatterings ? mean : 1);
            printf("  %-34s %-6s %9.3g photons/s %9.3g scatterings/s", r->what, precision, photons / best,
                   photons / best * mean);
            if (r->floor > 0)
                printf("   %5.1f %% of %.2g", 100 * rate / r->floor, r->floor);
            if (r->scatterings)
                printf("   absorbed %.4f", result(sim, "absorbed"));
            printf("\n");
            fflush(stdout);
        }
        bn_sim_destroy(&sim);
        bn_case_destroy(&c);
        if (last)
            break;
    }
}

int main(int argc, char **argv)
{
    need(bn_context_create(NULL, &ctx));
    need(bn_device_open(ctx, argc > 1 ? argv[1] : NULL, false, &device));
    const bn_device_info *info = bn_device_describe(device);
    printf("%s, xray\n", info->name);
    for (int d = 0; d < (info->fp64 ? 2 : 1); d++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            bench(&rows[i], d ? "double" : "single", argc > 2 ? atof(argv[2]) : 0.02);
    bn_device_close(&device);
    bn_context_destroy(&ctx);
    return 0;
}
