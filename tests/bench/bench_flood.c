/* bench_flood.c: time steps of flood on one device by the clock: cells a second on fully wet grids, beside what the
 * bytes that a step must move would take at the measured copy bandwidth and what its instructions allow; what leaving
 * out dry blocks gains; other forms of the same step (docs/flood.md); and the reference, on one core unless it was
 * compiled with -fopenmp. Never part of the tests. bench_flood [DEVICE [N,N,...
 * [single|double]]]        DEVICE: "auto", a number, "gpu", ...; N: cells along a side */
#include "bench.h"

static double bandwidth;

/* Of one cell and step, first and second order on hexagons: words that must be read and written (depth and what its
 * rounding left over, velocity, bed, code; at second order twice, with the values half a step later), and instructions,
 * roughly, counted in the machine code that NVIDIA's assembler makes: without contraction, addresses and branches
 * included. */
static const double words[2] = { 10, 19 }, instructions[2] = { 590, 1230 };

typedef struct run {
    const char *kind;
    int order;
    bool wet;         /* water everywhere or on a tenth */
    const char *form; /* further lines of [solver] */
} run;

/* Seconds of a step of a round dam break. A round is so many intervals of the case as take `at_least` seconds; what is
 * counted in it are the steps that the solver chose. `on` NULL: the reference. False: the case can't run here, which is
 * told. */
static bool step_time(bn_device *on, int n, const char *precision, const run *r, double at_least, bench_time *out)
{
    char text[1024];
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    double rounds[BENCH_ROUNDS];
    snprintf(text, sizeof text,
             "[case]\nsolver='flood'\nprecision='%s'\n[grid]\nkind='%s'\ncells=[%d,%d]\nspacing=1\n[initial]\n"
             "kind='circle'\nlevels=[2.5,%g]\nradius=%g\n[time]\ninterval=%g\n[solver]\norder=%d\n%s"
             "[stop]\nsteps=1000000\n",
             precision, r->kind, n, n, r->wet ? 0.5 : 0.0, 0.1 * n, r->order == 1 ? 1.0 : 0.5, r->order,
             r->form ? r->form : "");
    need(bn_case_parse(ctx, "bench.toml", text, NULL, 0, &c));
    const bn_status st = bn_sim_create(ctx, c, &(bn_sim_desc){ .device = on }, &sim);
    if (st != BN_OK) {
        bn_error_clear(ctx);
        bn_case_destroy(&c);
        return false;
    }
    need(bn_sim_step(sim)); /* warms up */
    for (int i = 0; i < BENCH_ROUNDS; i++) {
        const unsigned long long before = bn_sim_now(sim).items;
        const double start = now();
        while (now() - start < at_least) /* the host waits for the clock of the water after each interval */
            need(bn_sim_step(sim));
        const double took = now() - start;
        rounds[i] = took * (double)n * n / (double)(bn_sim_now(sim).items - before);
    }
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    *out = bench_middle(rounds, BENCH_ROUNDS);
    return true;
}

static void row(bn_device *on, const char *what, int n, const char *precision, const run *r, double at_least)
{
    const double bytes = strcmp(precision, "double") == 0 ? 8 : 4, cells = (double)n * n,
                 floor = words[r->order - 1] * bytes * cells / bandwidth;
    bench_time t;
    if (!step_time(on, n, precision, r, at_least, &t)) {
        printf("  %s, %d^2: does not fit or can't run here\n", what, n);
        return;
    }
    /* Blocks without water are left out: what all cells would need is no floor. */
    const bool bound = on && r->wet;
    if (!bench_row(t, bound ? floor : 0, "%s, %d^2, %s", what, n, precision))
        return;
    bench_print_time(t, 1e6, "us");
    printf("  %.4g G cells/s", 1e-9 * cells / t.seconds);
    if (bound)
        printf(", floor %.4g us, %.1f %%, %.3g T instructions/s", 1e6 * floor, 100 * floor / t.seconds,
               1e-12 * cells / t.seconds * instructions[r->order - 1]);
    printf("\n");
}

int main(int argc, char **argv)
{
    const char *sizes = argc > 2 ? argv[2] : NULL, *precision = argc > 3 ? argv[3] : "single";
    need(bn_context_create(NULL, &ctx));
    need(bn_device_open(ctx, argc > 1 ? argv[1] : "auto", false, &device));
    need(bn_device_bandwidth(device, &bandwidth));
    const bool cpu = bn_device_describe(device)->cpu;
    const double at_least = 0.1; /* [s] a round */
    char list[256];
    snprintf(list, sizeof list, "%s", sizes ? sizes : cpu ? "256,1024" : "1024,4096,10000");
    bench_begin(argc, argv, bandwidth);
    printf("a step; floor: the bytes that it must move over the copy bandwidth; fully wet unless said otherwise\n");
    for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const int n = atoi(at);
        static const struct {
            const char *what;
            run run;
        } runs[] = {
            { "hexagon, order 1", { "hexagon", 1, true, NULL } },
            { "hexagon, order 2", { "hexagon", 2, true, NULL } },
            { "square, order 1", { "square", 1, true, NULL } },
            { "square, order 2", { "square", 2, true, NULL } },
            { "hexagon, 97 % dry", { "hexagon", 1, false, NULL } },
            { "order 1, edges twice", { "hexagon", 1, true, "edges='twice'\n" } },
            { "order 2, edges twice", { "hexagon", 2, true, "edges='twice'\n" } },
        };
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
            row(device, runs[i].what, n, precision, &runs[i].run, at_least);
    }
    for (int order = 1; cpu && order <= 2; order++)
        row(NULL, order == 1 ? "reference, order 1" : "reference, order 2", 256, precision,
            &(run){ "hexagon", order, true, NULL }, at_least);
    return bench_end();
}
