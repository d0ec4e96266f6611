/* bench_bpm.c: times of steps along z of the solver bpm on one device. Never part of the tests.
 *   bench_bpm [DEVICE [single|double]]                  DEVICE: "auto", a number, "gpu", ...
 * A round is one record of the simulation: so many steps along z that the look at the field behind them, which is part
 * of it, takes less than a fortieth. What a step must do is counted too: in a plane points a second stand alone, since
 * the device's peak is not known here; for beams in space the bytes that must move, 28 a point in single precision,
 * over the measured copy bandwidth. */
#include "bench.h"

static double bandwidth;

typedef struct setting {
    const char *precision, *method, *tau;
    unsigned cells, cells_x, beams;
    double dz; /* 0: a cell's width over pi */
} setting;

/* A round: a record, or several. */
typedef struct marching {
    bn_case *c;
    bn_sim *sim;
    unsigned per_record; /* steps of the simulation: the study bpm_iteration takes one for each along z */
} marching;

static double step_length(const setting *s) { return s->dz > 0 ? s->dz : 10e-6 / s->cells / 3.14159265358979323846; }

/* A simulation of `records` records, `steps` along z each. */
static marching begin(const setting *s, unsigned steps, unsigned records)
{
    char text[2048];
    const bool iterates = strcmp(s->method, "iteration") == 0;
    marching m = { .per_record = iterates ? steps : 1 };
    const double dz = step_length(s);
    if (iterates)
        snprintf(text, sizeof text,
                 "[case]\nsolver = \"bpm_iteration\"\nprecision = \"%s\"\n[grid]\ncells = %u\n[launch]\nwaist = 1e-6\n"
                 "[march]\nlength = %.17g\ndz = %.17g\n[solver]\ntau = \"%s\"\ntolerance = 1e-8\n",
                 s->precision, s->cells, dz * steps * records, dz, s->tau);
    else
        snprintf(text, sizeof text,
                 "[case]\nsolver = \"bpm\"\nprecision = \"%s\"\n[grid]\ncells = %u\ncells_x = %u\n[batch]\ncount = %u\n"
                 "[launch]\nkind = \"gaussian\"\nwaist = 1e-6\n[march]\nlength = %.17g\ndz = %.17g\nrecords = %u\n"
                 "[solver]\nmethod = \"%s\"\n[output]\nmap = false\n",
                 s->precision, s->cells, s->cells_x, s->beams, dz * steps * records, dz, records, s->method);
    need(bn_case_parse(ctx, "bench", text, NULL, 0, &m.c));
    need(bn_sim_create(ctx, m.c, &(bn_sim_desc){ .device = device }, &m.sim));
    return m;
}

static void end(marching *m)
{
    bn_sim_destroy(&m->sim);
    bn_case_destroy(&m->c);
}

/* Seconds of `count` records; each ends with numbers that the host reads. */
static double records(marching *m, unsigned count)
{
    const double start = now();
    for (unsigned i = 0; i < count * m->per_record; i++)
        need(bn_sim_step(m->sim));
    return now() - start;
}

/* Seconds of the second of two records of so many steps; the first one warms up. */
static double record_time(const setting *s, unsigned steps)
{
    marching m = begin(s, steps, 2);
    (void)records(&m, 1);
    const double took = records(&m, 1);
    end(&m);
    return took;
}

/* Of a step along z. A record ends with a look at the field, which is read and summed on the host: of a large field
 * that takes longer than many steps, so a record takes LOOKS times as long as one of two steps. `sweeps`: of the
 * iteration, a step, or NULL. */
static bench_time step_time(const setting *s, double at_least, double *sweeps)
{
    enum { LOOKS = 40, GROWTH = 16, STEPS_MOST = 1 << 22 };
    double rounds[BENCH_ROUNDS];
    const double wanted = fmax(at_least, LOOKS * record_time(s, 2));
    unsigned steps = 16;
    for (double took; (took = record_time(s, steps)) < 0.8 * wanted && steps < STEPS_MOST;)
        steps = (unsigned)(steps * fmin(GROWTH, ceil(wanted / took)));
    marching m = begin(s, steps, BENCH_ROUNDS + 1);
    (void)records(&m, 1);
    for (int i = 0; i < BENCH_ROUNDS; i++)
        rounds[i] = records(&m, 1) / steps;
    need(bn_sim_measure(m.sim));
    for (size_t r = 0; sweeps && r < bn_results_count(bn_sim_results(m.sim)); r++)
        if (strcmp(bn_results_at(bn_sim_results(m.sim), r)->name, "sweeps") == 0)
            *sweeps = bn_results_at(bn_sim_results(m.sim), r)->value;
    end(&m);
    return bench_middle(rounds, BENCH_ROUNDS);
}

/* The guide of Alekseev and Golovashkin, both ways, for their figure 2 and beyond. */
static void bench_sizes(const char *precision, double at_least)
{
    static const unsigned cells[] = { 100, 300, 1000, 3000, 6000, 15000 };
    static const char *const taus[] = { "optimal", "seed" };
    printf("one beam, a step along z: elimination; the iteration to 1e-8 with the best tau and with the seed's\n");
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        setting s = { precision, "direct", "optimal", cells[i], 0, 1, 0 };
        const bench_time direct = step_time(&s, at_least, NULL);
        if (bench_row(direct, 0, "%5u cells, %s, elimination", cells[i], precision)) {
            bench_print_time(direct, 1e6, "us");
            printf("  %.3g points/s\n", (cells[i] - 1) / direct.seconds);
        }
        s.method = "iteration";
        for (int k = 0; k < (cells[i] <= 3000 ? 2 : 1); k++) { /* beyond, the seed's tau takes the study's own time */
            double sweeps = 0;
            s.tau = taus[k];
            const bench_time t = step_time(&s, at_least, &sweeps);
            if (bench_row(t, 0, "%5u cells, %s, iteration, tau %s", cells[i], precision, taus[k])) {
                bench_print_time(t, 1e6, "us");
                printf("  %.0f sweeps\n", sweeps);
            }
        }
    }
}

/* The seed's largest case: a round is all of its steps in 20 launches. */
static void bench_whole(const char *precision)
{
    enum { STEPS = 94248, LAUNCHES = 20 };
    const setting s = { precision, "direct", "optimal", 3000, 0, 1, 0 };
    double rounds[BENCH_ROUNDS];
    marching m = begin(&s, STEPS / LAUNCHES + 1, LAUNCHES * (BENCH_ROUNDS + 1));
    (void)records(&m, LAUNCHES);
    for (int i = 0; i < BENCH_ROUNDS; i++)
        rounds[i] = records(&m, LAUNCHES);
    end(&m);
    const bench_time t = bench_middle(rounds, BENCH_ROUNDS);
    if (bench_row(t, 0, " 3000 cells, %s, %d steps, %d launches", precision, (STEPS / LAUNCHES + 1) * LAUNCHES,
                  LAUNCHES)) {
        bench_print_time(t, 1, "s ");
        printf("  %.3g us a step\n", 1e6 * t.seconds / ((STEPS / LAUNCHES + 1) * LAUNCHES));
    }
}

static void bench_batch(const char *precision, double at_least)
{
    const setting s = { precision, "direct", "optimal", 3000, 0, 1024, 0 };
    const bench_time t = step_time(&s, at_least, NULL);
    if (bench_row(t, 0, " 3000 cells, %s, 1024 beams", precision)) {
        bench_print_time(t, 1e6, "us");
        printf("  %.3g points/s, 94248 steps: %.3g s\n", 2999 * 1024 / t.seconds, 94248 * t.seconds);
    }
}

static void bench_space(const char *precision, bool fast, double at_least)
{
    static const unsigned cells[] = { 256, 512, 1024, 2048 };
    const double real = strcmp(precision, "double") == 0 ? 8 : 4;
    printf("a beam in space, a step along z; floor: 7 numbers a point over the copy bandwidth\n");
    for (size_t i = 0; i < (fast ? 4 : 2); i++) {
        setting s = { precision, "direct", "optimal", cells[i], cells[i], 1, 0.1e-6 };
        const bench_time t = step_time(&s, at_least, NULL);
        const double points = (double)(cells[i] - 1) * (cells[i] - 1), floor = 7 * real * points / bandwidth;
        if (bench_row(t, floor, "%5u^2 cells, %s, elimination", cells[i], precision)) {
            bench_print_time(t, 1e6, "us");
            printf("  %.3g points/s, floor %.4g us, %.1f %%\n", points / t.seconds, 1e6 * floor,
                   100 * floor / t.seconds);
        }
        if (cells[i] > 512) /* the look at the field would take most of the time */
            continue;
        s.method = "fft";
        s.cells = s.cells_x = cells[i] + 1;
        const bench_time by_transforms = step_time(&s, at_least, NULL);
        if (bench_row(by_transforms, 0, "%5u^2 cells, %s, transforms", cells[i] + 1, precision)) {
            bench_print_time(by_transforms, 1e6, "us");
            printf("  %.3g points/s\n", (double)cells[i] * cells[i] / by_transforms.seconds);
        }
    }
}

int main(int argc, char **argv)
{
    need(bn_context_create(NULL, &ctx));
    need(bn_device_open(ctx, argc > 1 ? argv[1] : NULL, false, &device));
    need(bn_device_bandwidth(device, &bandwidth));
    const bn_device_info *info = bn_device_describe(device);
    const bool fast = !info->cpu;
    const double at_least = 0.2; /* [s] a round */
    bench_begin(argc, argv, bandwidth);
    for (int d = 0; d < (info->fp64 ? 2 : 1); d++) {
        const char *precision = d ? "double" : "single";
        if (argc > 2 && strcmp(argv[2], precision) != 0)
            continue;
        bench_whole(precision);
        bench_sizes(precision, at_least);
        bench_batch(precision, at_least);
        bench_space(precision, fast, at_least);
    }
    return bench_end();
}
