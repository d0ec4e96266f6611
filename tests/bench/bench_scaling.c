/* bench_scaling.c: what several devices do together against one: weak scaling (the grid grows with the devices) and
 * strong scaling (it does not), by the clock. Never part of the tests. bench_scaling [DEVICES
 * [maxwell,flood,flow,xray,bpm [full|quick]]] DEVICES: a list as of --device, "gpu" or "all"; its first one, first two,
 * ... are taken in turn. quick: sizes for a CPU, the default there. */
#include "bench.h"

#include "sim/solver.h"

enum { MOST = 64 };

typedef struct work {
    const char *solver, *what;
    const char *text;
    /* Cells along the sides for one device (quick, full), and the side that grows with the devices; -1: photons do. */
    uint32_t quick[3], full[3];
    int grows;
    int batch[2]; /* steps between two looks at the clock (quick, full) */
    int inner[2]; /* updates of a cell in a step; 0: one */
} work;

static const work works[] = {
    { "maxwell",
      "cell-iterations",
      "[case]\nsolver='maxwell'\nprecision='single'\n[grid]\nspacing='10 nm'\n[light]\nwavelength='600 nm'\n"
      "[structure]\nbelow='glass'\n[[material]]\nname='glass'\nn=1.5\n[solver]\nwatch_every=100000\n"
      "sweep='two-pass'\n[output]\npictures=false\n",
      { 64, 64, 64 },
      { 512, 512, 512 },
      2,
      { 5, 20 },
      { 0 } },
    { "flood",
      "cell-steps",
      "[case]\nsolver='flood'\nprecision='single'\n[grid]\nspacing=1\n[initial]\nkind='circle'\nlevels=[2.5,0.5]\n"
      "radius=20\n[time]\ninterval=2\n[stop]\nsteps=1000000\n",
      { 512, 512, 0 },
      { 7168, 6976, 0 },
      1,
      { 1, 1 },
      { 0 } },
    /* Little viscosity: what is solved is the stream function. */
    { "flow",
      "node-steps",
      "[case]\nsolver='flow'\nprecision='single'\n[fluid]\nviscosity=1e-5\n[solver]\npoisson='multigrid'\n"
      "[stop]\nsteps=1000000\n",
      { 129, 129, 0 },
      { 8193, 6145, 0 },
      1,
      { 2, 2 },
      { 0 } },
    { "xray",
      "photons",
      "[case]\nsolver='xray'\nprecision='single'\n[density]\nkind='double-slit'\ncells=[256,128,128]\n"
      "centre=[2e-9,0]\ndepth=4e-9\n[source]\nsize=[44e-9,0]\ncentre=[2e-9,0]\nphotons=1e12\n"
      "[detector]\ncell_angle=70e-6\n",
      { 128, 128, 0 },
      { 1024, 1024, 0 },
      -1,
      { 1, 4 },
      { 0 } },
    /* In space. So many steps along z that the look at the field behind them does not count. */
    { "bpm",
      "point-steps",
      "[case]\nsolver='bpm'\nprecision='single'\n[grid]\nwidth=200e-6\nwidth_x=200e-6\n[launch]\nkind='gaussian'\n"
      "waist=20e-6\n[march]\ndz=0.1e-6\nrecords=1000\n[output]\nmap=false\n",
      { 256, 256, 0 },
      { 2048, 2048, 0 },
      1,
      { 1, 1 },
      { 50, 2000 } },
};

/* A round is so many steps of the simulation. */
typedef struct stepping {
    bn_sim *sim;
    int steps;
} stepping;

static void some_steps(void *user)
{
    const stepping *s = user;
    for (int k = 0; k < s->steps; k++)
        need(bn_sim_step(s->sim));
}

static void finish(void *user) { need(bn_domain_finish(bn_sim_domain(((stepping *)user)->sim))); }

/* Seconds of an update by the first `count` devices of the list. */
static bench_time update_time(const work *w, const char *devices, size_t count, bool full, bool weak)
{
    char selector[512] = "", cells[96];
    const char *at = devices;
    for (size_t i = 0; i < count; i++) {
        const size_t n = strcspn(at, ",");
        snprintf(selector + strlen(selector), sizeof selector - strlen(selector), "%s%.*s", i ? "," : "", (int)n, at);
        at += n + (at[n] == ',');
    }
    uint32_t n[3];
    memcpy(n, full ? w->full : w->quick, sizeof n);
    if (weak && w->grows >= 0)
        n[w->grows] *= (uint32_t)count;
    const bool photons = w->grows<0, lines = w->inner[full]> 0;
    const char *key = photons ? "detector.cells" : strcmp(w->solver, "flow") == 0 ? "grid.nodes" : "grid.cells";
    char length[64] = "", most[64];
    if (lines) {
        snprintf(cells, sizeof cells, "grid.cells_x=%u", n[0]);
        snprintf(most, sizeof most, "grid.cells=%u", n[1]);
        snprintf(length, sizeof length, "march.length=%g", 1000 * 0.1e-6 * w->inner[full]);
    } else if (n[2]) {
        snprintf(cells, sizeof cells, "%s=[%u,%u,%u]", key, n[0], n[1], n[2]);
    } else {
        snprintf(cells, sizeof cells, "%s=[%u,%u]", key, n[0], n[1]);
    }
    const size_t batch = (full ? 64 : 4) * (weak ? count : 1); /* photons a cell of the detector and step */
    if (photons)
        snprintf(most, sizeof most, "source.batch=%zu", batch);
    const char *overrides[] = { cells, most, length };
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    need(bn_device_open(ctx, selector, false, &device));
    need(bn_case_parse(ctx, "bench", w->text, overrides, lines ? 3 : photons ? 2 : 1, &c));
    need(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device }, &sim));
    stepping s = { sim, w->batch[full] };
    double rounds[BENCH_ROUNDS];
    some_steps(&s); /* warms up */
    finish(&s);
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        const unsigned long long before = bn_sim_now(sim).items;
        const double start = now();
        some_steps(&s);
        finish(&s);
        const double took = now() - start,
                     counted = (double)(bn_sim_now(sim).items - before) * (lines ? w->inner[full] : 1);
        rounds[round] = took / (photons ? (double)batch * n[0] * n[1] * w->batch[full] : counted);
    }
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    bn_device_close(&device);
    return bench_middle(rounds, BENCH_ROUNDS);
}

int main(int argc, char **argv)
{
    const char *selector = argc > 1 ? argv[1] : "auto", *which = argc > 2 ? argv[2] : "maxwell,flood,xray";
    size_t indices[MOST], count;
    const bn_device_info *info;
    char devices[512] = "";
    need(bn_context_create(NULL, &ctx));
    need(bn_device_select(ctx, selector, indices, MOST, &count, NULL));
    size_t all;
    need(bn_devices(ctx, &info, &all));
    for (size_t i = 0; i < count; i++)
        snprintf(devices + strlen(devices), sizeof devices - strlen(devices), "%s%zu", i ? "," : "", indices[i]);
    const bool full = argc > 3 ? strcmp(argv[3], "full") == 0 : !info[indices[0]].cpu;
    need(bn_device_open(ctx, selector, false, &device));
    bench_begin(argc, argv, 0);
    bn_device_close(&device);
    printf("%zu x %s\n", count, info[indices[0]].name);
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        if (!strstr(which, works[i].solver))
            continue;
        bench_time one = { 0 };
        char reason[BENCH_REASON];
        for (int weak = 1; weak >= 0; weak--)
            for (size_t n = weak ? 1 : 2; n <= count; n *= 2) {
                const bench_time t = update_time(&works[i], devices, n, full, weak);
                one = n == 1 ? t : one;
                if (!bench_row(t, 0, "%s, %s, %zu devices", works[i].solver, weak ? "weak" : "strong", n))
                    continue;
                printf("%9.4g G %s a second +-%4.1f %%", 1e-9 / t.seconds, works[i].what, 50 * t.spread);
                if (n > 1 && bench_believes(one, 0, reason))
                    printf("  %.3g times one", one.seconds / t.seconds);
                printf("\n");
                fflush(stdout);
            }
    }
    return bench_end();
}
