/* bench_bpm.c: times of steps along z of the solver bpm on one device. Never part of the tests.
 *   bench_bpm [DEVICE [single|double]]                  DEVICE: "auto", a number, "gpu", ...
 * A step's time is the difference between many and few steps in one launch, so that launches and looking at the field
 * do not count; "all" does count them. What a step must do is counted too: 30 fused operations a point for the
 * elimination in one work-group (the device's peak is not known here: points a second stand instead), and for beams in
 * space the bytes that must move, 28 a point in single precision, over the measured copy bandwidth. */
#include "bench.h"

#include <string.h>

static double bandwidth;

typedef struct setting {
    const char *precision, *method, *tau;
    unsigned cells, cells_x, beams;
    double dz; /* 0: a cell's width over pi */
} setting;

/* The shortest of three: seconds of `steps` steps along z in `launches` steps of the simulation. `sweeps`: of the
 * iteration, a step along z. */
static double seconds(const setting *s, unsigned steps, unsigned launches, double *sweeps)
{
    char text[2048], iteration[64] = "";
    double best = 1e30;
    const double dz = s->dz > 0 ? s->dz : 10e-6 / s->cells / 3.14159265358979323846;
    if (strcmp(s->method, "iteration") == 0)
        snprintf(iteration, sizeof iteration, "tau = \"%s\"\ntolerance = 1e-8\n", s->tau);
    snprintf(text, sizeof text,
             "[case]\nsolver = \"bpm\"\nprecision = \"%s\"\n[grid]\ncells = %u\ncells_x = %u\n[batch]\ncount = %u\n"
             "[launch]\nkind = \"gaussian\"\nwaist = 1e-6\n[march]\nlength = %.17g\ndz = %.17g\nrecords = %u\n"
             "[solver]\nmethod = \"%s\"\n%s[output]\nmap = false\n",
             s->precision, s->cells, s->cells_x, s->beams, dz * steps, dz, launches, s->method, iteration);
    for (int i = 0; i < 4; i++) { /* the first warms up */
        bn_case *c;
        bn_sim *sim;
        need(bn_case_parse(ctx, "bench", text, NULL, 0, &c));
        need(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device }, &sim));
        const double start = now();
        while (!bn_sim_done(sim))
            need(bn_sim_step(sim));
        const double took = now() - start;
        best = i > 0 && took < best ? took : best;
        need(bn_sim_measure(sim));
        for (size_t r = 0; sweeps && r < bn_results_count(bn_sim_results(sim)); r++)
            if (strcmp(bn_results_at(bn_sim_results(sim), r)->name, "sweeps") == 0)
                *sweeps = bn_results_at(bn_sim_results(sim), r)->value;
        bn_sim_destroy(&sim);
        bn_case_destroy(&c);
        if (took > 3) /* long enough to be measured once */
            return took < best ? took : best;
    }
    return best;
}

static double step_seconds(const setting *s, unsigned few, unsigned many, double *sweeps)
{
    const double short_run = seconds(s, few, 1, NULL), long_run = seconds(s, many, 1, sweeps);
    return (long_run - short_run) / (many - few);
}

/* The guide of Alekseev and Golovashkin, both ways, for their figure 2 and beyond. */
static void bench_sizes(const char *precision, bool fast)
{
    static const unsigned cells[] = { 100, 300, 1000, 3000, 6000, 15000 };
    printf("one beam, a step along z [us]: elimination, points/s; iteration to 1e-8 with the best tau, its sweeps; "
           "with the "
           "seed's\n");
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        setting s = { precision, "direct", "optimal", cells[i], 0, 1, 0 };
        const unsigned scale = fast ? 10 : 1;
        const double direct = step_seconds(&s, 20, 20 + scale * (300000 / cells[i] + 20), NULL);
        double best_sweeps = 0, seed_sweeps = 0;
        s.method = "iteration";
        const double best = step_seconds(&s, 2, 6, &best_sweeps);
        double seed = 0;
        s.tau = "seed";
        if (cells[i] <= 3000)
            seed = step_seconds(&s, 2, 4, &seed_sweeps);
        printf("  %6u %-6s %10.2f %10.3g   %10.1f (%4.0f)   %10.1f (%4.0f)\n", cells[i], precision, 1e6 * direct,
               (cells[i] - 1) / direct, 1e6 * best, best_sweeps, 1e6 * seed, seed_sweeps);
        fflush(stdout);
    }
}

static void bench_whole(const char *precision)
{
    const setting s = { precision, "direct", "optimal", 3000, 0, 1, 0 };
    const double all = seconds(&s, 94248, 20, NULL);
    printf("3000 cells, 94248 steps, 20 launches, all: %.4f s (%s), %.2f us a step\n", all, precision,
           1e6 * all / 94248);
}

static void bench_batch(const char *precision, bool fast)
{
    const setting s = { precision, "direct", "optimal", 3000, 0, 1024, 0 };
    const double step = step_seconds(&s, 4, fast ? 2004 : 24, NULL);
    printf("1024 beams of 3000 cells: %.2f us a step (%s), %.3g points/s; 94248 steps: %.2f s\n", 1e6 * step, precision,
           2999 * 1024 / step, 94248 * step);
}

static void bench_space(const char *precision, bool fast)
{
    static const unsigned cells[] = { 256, 512, 1024, 2048 };
    const double real = strcmp(precision, "double") == 0 ? 8 : 4;
    printf("a beam in space, a step along z [us]; the time that 7 numbers a point take to move; by transforms\n");
    for (size_t i = 0; i < (fast ? 4 : 3); i++) {
        setting s = { precision, "direct", "optimal", cells[i], cells[i], 1, 0.1e-6 };
        const double step = step_seconds(&s, 4, fast ? 204 : 14, NULL),
                     points = (double)(cells[i] - 1) * (cells[i] - 1);
        const double floor = 7 * real * points / bandwidth;
        printf("  %5u^2 %-6s %10.1f  %10.3g points/s   floor %8.1f  %5.1f %%\n", cells[i], precision, 1e6 * step,
               points / step, 1e6 * floor, 100 * floor / step);
        s.method = "fft";
        s.cells = s.cells_x = cells[i] + 1;
        const double by_transforms = step_seconds(&s, 4, fast ? 204 : 8, NULL);
        printf("  %5u^2 %-6s %10.1f  by transforms\n", cells[i], precision, 1e6 * by_transforms);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    need(bn_context_create(NULL, &ctx));
    need(bn_device_open(ctx, argc > 1 ? argv[1] : NULL, false, &device));
    need(bn_device_bandwidth(device, &bandwidth));
    const bn_device_info *info = bn_device_describe(device);
    const bool fast = bandwidth > 4e11; /* a GPU */
    printf("%s, copy %.1f GB/s\n", info->name, 1e-9 * bandwidth);
    for (int d = 0; d < (info->fp64 ? 2 : 1); d++) {
        const char *precision = d ? "double" : "single";
        if (argc > 2 && strcmp(argv[2], precision) != 0)
            continue;
        bench_whole(precision);
        bench_sizes(precision, fast);
        bench_batch(precision, fast);
        bench_space(precision, fast);
    }
    bn_device_close(&device);
    bn_context_destroy(&ctx);
    return 0;
}
