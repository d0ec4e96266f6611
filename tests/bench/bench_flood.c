/* bench_flood.c: time steps of flood on one device by the clock: cells a second on fully wet grids, beside what the
 * bytes that a step must move would take at the measured copy bandwidth and what its instructions allow; what leaving
 * out dry blocks gains; other forms of the same step (docs/flood.md); and the reference, on one core unless it was
 * compiled with -fopenmp. Never part of the tests. bench_flood [DEVICE [N,N,...
 * [single|double]]]        DEVICE: "auto", a number, "gpu", ...; N: cells along a side */
#include "bench.h"

#include <string.h>

static double bandwidth;

/* Of one cell and step, first and second order on hexagons: words that must be read and written (depth and what its
 * rounding left over, velocity, bed, code; at second order twice, with the values half a step later), and instructions,
 * roughly, counted in the machine code that NVIDIA's assembler makes: without contraction, addresses and branches
 * included. */
static const double words[2] = { 10, 19 }, instructions[2] = { 590, 1230 };

typedef struct run {
    const char *kind;
    int order;
    bool wet, all;    /* water everywhere or on a tenth; all blocks or active ones */
    const char *form; /* further lines of [solver] */
} run;

/* Cell updates a second of a round dam break; over intervals that take `seconds`. `on` NULL: the reference. */
static double rate(bn_device *on, int n, const char *precision, const run *r, double seconds, unsigned long long *steps)
{
    char text[1024];
    bn_case *c;
    bn_sim *sim;
    snprintf(text, sizeof text,
             "[case]\nsolver='flood'\nprecision='%s'\n[grid]\nkind='%s'\ncells=[%d,%d]\nspacing=1\n[initial]\n"
             "kind='circle'\nlevels=[2.5,%g]\nradius=%g\n[time]\ninterval=%g\n[solver]\norder=%d\nblocks='%s'\n%s"
             "[stop]\nsteps=1000000\n",
             precision, r->kind, n, n, r->wet ? 0.5 : 0.0, 0.1 * n, r->order == 1 ? 1.0 : 0.5, r->order,
             r->all ? "all" : "active", r->form ? r->form : "");
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
        static const struct {
            const char *what;
            run run;
        } runs[] = {
            { "hexagon, order 1", { "hexagon", 1, true, false, NULL } },
            { "hexagon, order 2", { "hexagon", 2, true, false, NULL } },
            { "square, order 1", { "square", 1, true, false, NULL } },
            { "square, order 2", { "square", 2, true, false, NULL } },
            { "hexagon, 97 % dry, all blocks", { "hexagon", 1, false, true, NULL } },
            { "hexagon, 97 % dry, active blocks", { "hexagon", 1, false, false, NULL } },
            { "order 1, edges twice", { "hexagon", 1, true, false, "edges='twice'\n" } },
            { "order 2, edges twice", { "hexagon", 2, true, false, "edges='twice'\n" } },
            { "order 1, neighbours listed", { "hexagon", 1, true, false, "neighbours='listed'\n" } },
            { "order 1, state by cells", { "hexagon", 1, true, false, "state='cells'\n" } },
            { "order 1, both", { "hexagon", 1, true, false, "state='cells'\nneighbours='listed'\n" } },
        };
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
            const double cells = rate(device, n, precision, &runs[i].run, seconds, &steps);
            line(runs[i].what, n, cells, steps, runs[i].run.order, bytes);
        }
    }
    for (int order = 1; cpu && order <= 2; order++) {
        unsigned long long steps;
        const double cells = rate(NULL, 256, precision, &(run){ "hexagon", order, true, false, NULL }, seconds, &steps);
        line(order == 1 ? "reference, order 1" : "reference, order 2", 256, cells, steps, order, bytes);
    }
    bn_device_close(&device);
    bn_context_destroy(&ctx);
    return 0;
}
