/* bench_flood.c: time steps of flood on one device by the clock: cells a second on fully wet grids, beside what the
 * bytes that a step must move would take at the measured copy bandwidth and what its instructions allow; what leaving
 * out dry blocks gains; and the reference on one core. Never part of the tests. bench_flood [DEVICE [N,N,...
 * [single|double]]]        DEVICE: "auto", a number, "gpu", ...; N: cells along a side */
#include "bench.h"

#include <string.h>

static double bandwidth;

/* Of one cell and step, first and second order on hexagons: words that must be read and written (depth and what its
 * rounding left over, velocity, bed, code; at second order twice, with the state before the step), and instructions,
 * roughly, counted in what clang makes for NVIDIA's devices: without contraction, compares and selections included. */
static const double words[2] = { 10, 19 }, instructions[2] = { 1250, 5400 };

/* Cell updates a second of a round dam break, `wet` on water or on a dry floor; over intervals that take `seconds`. */
static double rate(bn_device *on, int n, const char *precision, const char *kind, int order, bool wet, bool all,
                   double seconds, unsigned long long *steps)
{
    char text[1024];
    bn_case *c;
    bn_sim *sim;
    snprintf(text, sizeof text,
             "[case]\nsolver='flood'\nprecision='%s'\n[grid]\nkind='%s'\ncells=[%d,%d]\nspacing=1\n[initial]\n"
             "kind='circle'\nlevels=[2.5,%g]\nradius=%g\n[time]\ninterval=%g\n[solver]\norder=%d\nblocks='%s'\n"
             "[stop]\nsteps=1000000\n",
             precision, kind, n, n, wet ? 0.5 : 0.0, 0.1 * n, order == 1 ? 1.0 : 0.5, order, all ? "all" : "active");
    need(bn_case_parse(ctx, "bench.toml", text, NULL, 0, &c));
    need(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = on }, &sim));
    need(bn_sim_step(sim)); /* warms up */
    const unsigned long long first = bn_sim_now(sim).items;
    const double start = now();
    double spent = 0;
    while (spent < seconds) {
        need(bn_sim_step(sim));
        spent = now() - start;
    }
    const double items = (double)(bn_sim_now(sim).items - first);
    *steps = (unsigned long long)(items / ((double)n * n) + 0.5);
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    return items / spent;
}

static void line(const char *what, int n, double cells, unsigned long long steps, int order, double bytes)
{
    const double floor_rate = bandwidth / (words[order - 1] * bytes);
    printf("%-34s %6d %9llu %10.3g us %9.4g G/s %7.3g G/s %6.1f %% %9.3g T/s\n", what, n, steps,
           1e6 * (double)n * n / cells, 1e-9 * cells, 1e-9 * floor_rate, 100 * cells / floor_rate,
           1e-12 * cells * instructions[order - 1]);
}

int main(int argc, char **argv)
{
    const char *sizes = argc > 2 ? argv[2] : NULL, *precision = argc > 3 ? argv[3] : "single";
    need(bn_context_create(NULL, &ctx));
    need(bn_device_open(ctx, argc > 1 ? argv[1] : "auto", false, &device));
    need(bn_device_bandwidth(device, &bandwidth));
    const bool cpu = bn_device_describe(device)->cpu;
    const double bytes = strcmp(precision, "double") == 0 ? 8 : 4, seconds = 1;
    char list[256];
    snprintf(list, sizeof list, "%s", sizes ? sizes : cpu ? "256,1024" : "1024,4096,10000");
    printf("\nflood on %s, %s precision; copy bandwidth %.3g GB/s\n", bn_device_describe(device)->name, precision,
           1e-9 * bandwidth);
    printf("%-34s %6s %9s %13s %13s %11s %8s %13s\n", "fully wet unless said otherwise", "side", "steps", "a step",
           "cells", "byte floor", "of it", "instructions");
    for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const int n = atoi(at);
        unsigned long long steps;
        static const char *const kinds[] = { "hexagon", "square" };
        for (int k = 0; k < 2; k++)
            for (int order = 1; order <= 2; order++) {
                char what[64];
                snprintf(what, sizeof what, "%s, order %d", kinds[k], order);
                const double cells = rate(device, n, precision, kinds[k], order, true, false, seconds, &steps);
                line(what, n, cells, steps, order, bytes);
            }
        for (int all = 1; all >= 0; all--) {
            const double cells = rate(device, n, precision, "hexagon", 1, false, all, seconds, &steps);
            line(all ? "hexagon, 97 % dry, all blocks" : "hexagon, 97 % dry, active blocks", n, cells, steps, 1, bytes);
        }
    }
    if (cpu) {
        unsigned long long steps;
        const double cells = rate(NULL, 256, precision, "hexagon", 1, true, false, seconds, &steps);
        line("reference, one core", 256, cells, steps, 1, bytes);
    }
    bn_device_close(&device);
    bn_context_destroy(&ctx);
    return 0;
}
