/* bench_maxwell.c: cell-iterations per second of maxwell's sweeps on one device, beside what the bytes they must move
 * would allow at the measured copy bandwidth. A cell-iteration is both half steps of all six complex components. Never
 * part of the tests. bench_maxwell [DEVICE [N,N,... [single|double]]]     DEVICE: "auto", a number, "gpu", ...; N:
 * cells along a side */
#include "bench.h"

#include "sim/solver.h"

static double bandwidth;

/* Half of the grid below is glass with a block of silver and one of silicon in it: mixed rows, absorbing layers at both
 * ends. The update norm is not looked at. */
static const char *const text =
    "[case]\nsolver = \"maxwell\"\n"
    "[grid]\nspacing = \"10 nm\"\n"
    "[light]\nwavelength = \"600 nm\"\n"
    "[structure]\nbelow = \"glass\"\n"
    "[[material]]\nname = \"glass\"\nn = 1.5\n"
    "[[box]]\nmaterial = \"a-Si-Pierce1972\"\nfrom = [1e-7, 1e-7, 2e-7]\nto = [4e-7, 3e-7, 3e-7]\n"
    "[[box]]\nmaterial = \"Ag-Johnson1972\"\nfrom = [2e-7, 2e-7, 3e-7]\nto = [3e-7, 4e-7, 4e-7]\n"
    "[solver]\nwatch_every = 100000\n[output]\npictures = false\n";

static void step(void *sim) { need(bn_sim_step(sim)); }
static void finish(void *sim) { need(bn_domain_finish(bn_sim_domain(sim))); }

/* Bytes a cell and iteration, in reals and one-byte indices, see docs/performance.md. */
static void bench(uint32_t n, const char *precision, const char *what, const char *sweep, double reals,
                  double bytes)
{
    char cells[64], with[64], how[64];
    snprintf(cells, sizeof cells, "grid.cells=[%u,%u,%u]", n, n, n);
    snprintf(with, sizeof with, "case.precision=%s", precision);
    snprintf(how, sizeof how, "solver.sweep=%s", sweep);
    const char *overrides[] = { cells, with, how };
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    need(bn_case_parse(ctx, "bench", text, overrides, 3, &c));
    const bn_status st = bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device }, &sim);
    if (st != BN_OK) {
        printf("  %s, %u^3, %s: %s\n", what, n, precision, bn_error_text(ctx));
        bn_error_clear(ctx);
        bn_case_destroy(&c);
        return;
    }
    const double updates = (double)n * n * n;
    const bench_time t = bench_rounds(step, finish, sim, 0.05);
    const double size = strcmp(precision, "double") == 0 ? 8 : 4;
    const double floor = (reals * size + bytes) * updates / bandwidth;
    if (bench_row(t, floor, "%s, %u^3, %s", what, n, precision)) {
        bench_print_time(t, 1e6, "us");
        printf("  %.4g G cell-it/s, floor %.4g us, %.1f %%\n", 1e-9 * updates / t.seconds, 1e6 * floor,
               100 * floor / t.seconds);
    }
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

int main(int argc, char **argv)
{
    need(bn_context_create(NULL, &ctx));
    need(bn_device_open(ctx, argc > 1 ? argv[1] : NULL, false, &device));
    need(bn_device_bandwidth(device, &bandwidth));
    const bn_device_info *info = bn_device_describe(device);
    bench_begin(argc, argv, bandwidth);
    const char *sizes = argc > 2 ? argv[2] : !info->cpu ? "128,256,512" : "64,128";
    for (int d = 0; d < (info->fp64 ? 2 : 1); d++) {
        const char *name = d ? "double" : "single";
        char *end = NULL;
        if (argc > 3 && strcmp(argv[3], name) != 0)
            continue;
        for (const char *at = sizes; *at; at = *end ? end + 1 : end) {
            const uint32_t n = (uint32_t)strtoul(at, &end, 10);
            if (n < 48 || (*end && *end != ',')) {
                fprintf(stderr, "bench: sizes are numbers from 48 on with commas between, not %s\n", sizes);
                return 2;
            }
            bench(n, name, "two passes", "two-pass", 36, 3);
            if (info->cpu)
                bench(n, name, "rows", "rows", 36, 3);
            else
                bench(n, name, "one sweep", "fused", 24, 3);
        }
    }
    return bench_end();
}
