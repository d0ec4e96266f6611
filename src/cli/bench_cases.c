/* bench_cases.c: the standard cases of `binnacle bench`, as texts: they need no files. What the floors count stands in
 * docs/bench.md. */
#include "cli/bench.h"

#include <stdio.h>
#include <string.h>

#define FLOW                                                                                               \
    "[case]\nsolver='flow'\n[grid]\nsize=[1,1]\n[fluid]\nviscosity=0.001\ndiffusivity=0.001\n"             \
    "[boundary.top]\nkind='wall'\nspeed=1\nheat='given'\ntemperature=1\n[boundary.bottom]\nheat='given'\n" \
    "temperature=0\n[output]\npictures=false\n[stop]\nsteps=100000000\n"

/* Half of the grid is glass, with a block of silicon and one of silver in it; absorbing layers at both ends. */
#define MAXWELL                                                                                                     \
    "[case]\nsolver='maxwell'\n[grid]\nspacing='10 nm'\n[light]\nwavelength='600 nm'\n[structure]\nbelow='glass'\n" \
    "[[material]]\nname='glass'\nn=1.5\n"                                                                           \
    "[[box]]\nmaterial='a-Si-Pierce1972'\nfrom=[1e-7,1e-7,2e-7]\nto=[2e-7,3e-7,2.5e-7]\n"                           \
    "[[box]]\nmaterial='Ag-Johnson1972'\nfrom=[2e-7,2e-7,2.5e-7]\nto=[3e-7,3e-7,3e-7]\n"                            \
    "[solver]\nwatch_every=100000\n[output]\npictures=false\n[stop]\nsteps=100000000\n"

/* A circle of deep water that breaks over shallow water: wet everywhere. */
#define FLOOD                                                                                                 \
    "[case]\nsolver='flood'\n[grid]\nkind='hexagon'\nspacing=1\n[initial]\nkind='circle'\nlevels=[2.5,0.5]\n" \
    "[output]\npictures=false\n[stop]\nsteps=100000000\n"

#define BPM                                                                              \
    "[case]\nsolver='bpm'\n[grid]\nwidth=10e-6\n[launch]\nkind='gaussian'\nwaist=1e-6\n" \
    "[march]\nrecords=2000\n[output]\nmap=false\npictures=false\n"

#define XRAY                                                                              \
    "[case]\nsolver='xray'\n[density]\nkind='slab'\nvalue=0.01\n[source]\nphotons=1e12\n" \
    "[detector]\ncell_angle=70e-6\n[output]\npictures=false\n[stop]\nsteps=100000000\n"

const bn_bench_case bn_bench_cases[] = {
    { "flow",
      "time step, direct",
      "point",
      FLOW,
      { { 65, 129, 257, 513 }, { 257, 513, 1025, 2049 } },
      2,
      true,
      0,
      0,
      0,
      { NULL } },
    { "flow",
      "time step, multigrid",
      "point",
      FLOW,
      { { 65, 129, 257, 513 }, { 257, 513, 1025, 2049 } },
      2,
      false,
      0,
      0,
      0,
      { "solver.poisson=multigrid", NULL } },
    { "maxwell",
      "iteration",
      "cell",
      MAXWELL,
      { { 48, 64, 96, 128 }, { 64, 128, 256, 512 } },
      3,
      true,
      24,
      3,
      0,
      { NULL } },
    { "maxwell",
      "iteration, two passes",
      "cell",
      MAXWELL,
      { { 48, 64, 96, 128 }, { 64, 128, 256, 512 } },
      3,
      false,
      36,
      3,
      0,
      { "solver.sweep=two-pass", NULL } },
    { "flood",
      "time step, order 1",
      "cell",
      FLOOD,
      { { 128, 256, 512, 1024 }, { 512, 1024, 4096, 10000 } },
      2,
      true,
      10,
      0,
      580,
      { "solver.order=1", "time.interval=1", NULL } },
    { "flood",
      "time step, order 2",
      "cell",
      FLOOD,
      { { 128, 256, 512, 1024 }, { 512, 1024, 4096, 10000 } },
      2,
      false,
      19,
      0,
      0,
      { "solver.order=2", "time.interval=0.5", NULL } },
    { "bpm",
      "step along z, one beam",
      "point",
      BPM,
      { { 300, 1000, 3000, 6000 }, { 300, 1000, 3000, 15000 } },
      1,
      true,
      0,
      0,
      30,
      { "solver.method=direct", NULL } },
    { "bpm",
      "step along z, 64 beams",
      "point",
      BPM,
      { { 300, 1000, 3000, 6000 }, { 300, 1000, 3000, 15000 } },
      1,
      false,
      0,
      0,
      30,
      { "solver.method=direct", "batch.count=64", NULL } },
    { "xray",
      "photons through n cells",
      "photon",
      XRAY,
      { { 64, 128, 256, 512 }, { 64, 128, 256, 512 } },
      1,
      true,
      0,
      0,
      404,
      { NULL } },
    { "xray",
      "scattered again and again",
      "photon",
      XRAY,
      { { 64, 128, 256, 512 }, { 64, 128, 256, 512 } },
      1,
      false,
      0,
      0,
      0,
      { "scattering.order=multiple", NULL } },
    { 0 },
};

#define SET(...) snprintf(j->sets[j->set_count++], BN_BENCH_SET, __VA_ARGS__)

void bn_bench_prepare(const bn_bench_case *c, unsigned n, bool twice, bool gpu, bn_bench_job *j)
{
    const double side = n, points = c->dims == 3 ? side * side * side : c->dims == 2 ? side * side : side;
    *j = (bn_bench_job){ .of = c, .n = n, .twice = twice, .per_step = points, .per_item = 1 };
    SET("case.precision=%s", twice ? "double" : "single");
    if (strcmp(c->solver, "flow") == 0) {
        SET("grid.nodes=[%u,%u]", n, n);
    } else if (strcmp(c->solver, "maxwell") == 0) {
        SET("grid.cells=[%u,%u,%u]", n, n, n);
    } else if (strcmp(c->solver, "flood") == 0) {
        SET("grid.cells=[%u,%u]", n, n);
        SET("initial.radius=%g", 0.1 * side);
    } else if (strcmp(c->solver, "bpm") == 0) {
        /* So many steps in a launch that what lies between launches is small beside them. */
        const double steps = (gpu ? 3e7 : 1.5e6) / side, width = 10e-6;
        const double beams = c->sets[1] && strcmp(c->sets[1], "batch.count=64") == 0 ? 64 : 1;
        const double in_launch = steps / beams < 20 ? 20 : (double)(long long)(gpu ? steps / 8 : steps / beams);
        SET("grid.cells=%u", n);
        SET("march.length=%.17g", in_launch * 2000 * width / side / 3.14159265358979323846);
        j->per_step = (side - 1) * beams;
        j->per_item = in_launch; /* the grid has (n - 1) x beams points */
    } else if (strcmp(c->solver, "xray") == 0) {
        const unsigned cells = gpu ? 1024 : 256, batch = gpu ? 64 : 4;
        SET("density.cells=[%u,128,128]", n);
        SET("detector.cells=[%u,%u]", cells, cells);
        SET("source.batch=%u", batch);
        j->per_item = batch;
        j->per_step = (double)cells * cells * batch;
    }
}
