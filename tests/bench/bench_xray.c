/* bench_xray.c: photons and scatterings per second of xray on one device, beside the goals for an H200. Never part of
 * the tests. bench_xray [DEVICE [SECONDS]]        DEVICE: "auto", a number, "gpu", ...; SECONDS: of a measurement,
 * about */
#include "bench.h"

#include "sim/solver.h"

static double result(bn_sim *sim, const char *name)
{
    const bn_results *r = bn_sim_results(sim);
    for (size_t i = 0; i < bn_results_count(r); i++)
        if (strcmp(bn_results_at(r, i)->name, name) == 0)
            return bn_results_at(r, i)->value;
    return 0;
}

/* A case; `goal`: what is to be reached on an H200, in photons or (`scatterings`) scatterings a second. */
typedef struct row {
    const char *what, *text;
    bool scatterings;
    double goal;
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

static void step(void *sim) { need(bn_sim_step(sim)); }
static void finish(void *sim) { need(bn_domain_finish(bn_sim_domain(sim))); }

static void bench(const row *r, const char *precision, int batch, double seconds)
{
    char text[2048], both[64], more[64];
    const char *overrides[] = { both, more, "source.photons=1e12" };
    bn_case *c;
    bn_sim *sim;
    snprintf(text, sizeof text, "[case]\nsolver = \"xray\"\n%s", r->text);
    snprintf(both, sizeof both, "case.precision=%s", precision);
    snprintf(more, sizeof more, "source.batch=%d", batch);
    need(bn_case_parse(ctx, "bench", text, overrides, 3, &c));
    need(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device }, &sim));
    const bench_time t = bench_rounds(step, finish, sim, seconds);
    if (bench_row(t, 0, "%s, %s", r->what, precision)) {
        need(bn_sim_measure(sim));
        const double photons = (double)batch * 1024 * 1024 / t.seconds, mean = result(sim, "scatterings_mean");
        printf("%9.4g photons/s +-%4.1f %%, %.4g scatterings/s", photons, 50 * t.spread, photons * mean);
        if (r->goal > 0)
            printf(", %.0f %% of the goal of %.2g", 100 * photons * (r->scatterings ? mean : 1) / r->goal, r->goal);
        if (r->scatterings)
            printf(", absorbed %.4f", result(sim, "absorbed"));
        printf("\n");
    }
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

int main(int argc, char **argv)
{
    need(bn_context_create(NULL, &ctx));
    need(bn_device_open(ctx, argc > 1 ? argv[1] : NULL, false, &device));
    const bn_device_info *info = bn_device_describe(device);
    bench_begin(argc, argv, 0);
    for (int d = 0; d < (info->fp64 ? 2 : 1); d++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            bench(&rows[i], d ? "double" : "single", info->cpu ? 1 : 128, argc > 2 ? atof(argv[2]) : 0.05);
    return bench_end();
}
