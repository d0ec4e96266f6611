/* bench_cases.c: the standard cases of `binnacle bench`, as texts: they need no files. What the floors count stands in
 * docs/bench.md. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOREVER "[output]\npictures=false\n[stop]\nsteps=100000000\n"

#define FLOW                                                                                               \
    "[case]\nsolver='flow'\n[grid]\nsize=[1,1]\n[fluid]\nviscosity=0.001\ndiffusivity=0.001\n"             \
    "[boundary.top]\nkind='wall'\nspeed=1\nheat='given'\ntemperature=1\n[boundary.bottom]\nheat='given'\n" \
    "temperature=0\n" FOREVER

/* The same without heat. */
#define FLOW_CAVITY                                                                                            \
    "[case]\nsolver='flow'\n[grid]\nsize=[1,1]\n[fluid]\nviscosity=0.001\n[boundary.top]\nkind='wall'\nspeed=" \
    "1\n" FOREVER

/* Little viscosity: what is solved is the stream function. */
#define FLOW_STREAM \
    "[case]\nsolver='flow'\n[grid]\nsize=[1,1]\n[fluid]\nviscosity=1e-5\n[solver]\npoisson='multigrid'\n" FOREVER

/* Half of the grid is glass, with a block of silicon and one of silver in it; absorbing layers at both ends. */
#define MAXWELL                                                                                                     \
    "[case]\nsolver='maxwell'\n[grid]\nspacing='10 nm'\n[light]\nwavelength='600 nm'\n[structure]\nbelow='glass'\n" \
    "[[material]]\nname='glass'\nn=1.5\n"                                                                           \
    "[[box]]\nmaterial='a-Si-Pierce1972'\nfrom=[1e-7,1e-7,2e-7]\nto=[2e-7,3e-7,2.5e-7]\n"                           \
    "[[box]]\nmaterial='Ag-Johnson1972'\nfrom=[2e-7,2e-7,2.5e-7]\nto=[3e-7,3e-7,3e-7]\n"                            \
    "[solver]\nwatch_every=100000\n" FOREVER

/* A circle of deep water that breaks over shallow water, wet everywhere. */
#define HEXAGONS "[case]\nsolver='flood'\n[grid]\nkind='hexagon'\nspacing=1\n"
#define FLOOD HEXAGONS "[initial]\nkind='circle'\nlevels=[2.5,0.5]\n" FOREVER
/* Thacker's waves to and fro in a bowl, which stay there: what breaks over flat land floods all of it in seconds. */
#define FLOOD_DRY HEXAGONS "[bed]\nkind='bowl'\ndepth=2.5\n[initial]\nkind='planar'\n" FOREVER

#define BPM_END "records=2000\n[output]\nmap=false\npictures=false\n"
#define BPM "[case]\nsolver='bpm'\n[grid]\nwidth=10e-6\n[launch]\nkind='gaussian'\nwaist=1e-6\n[march]\n" BPM_END
#define BPM_SPACE                                                                             \
    "[case]\nsolver='bpm'\n[grid]\nwidth=200e-6\nwidth_x=200e-6\n[launch]\nkind='gaussian'\n" \
    "waist=20e-6\n[march]\ndz=0.1e-6\n" BPM_END

#define XRAY_WITH(MORE) "[case]\nsolver='xray'\n" MORE "[source]\nphotons=1e12\n[detector]\ncell_angle=70e-6\n" FOREVER
#define XRAY XRAY_WITH("[density]\nkind='slab'\nvalue=0.01\n")
#define SLIT "[density]\nkind='double-slit'\ncentre=[2e-9,0]\ndepth=4e-9\n"
#define GRATINGS                                                                                       \
    XRAY_WITH("[density]\nkind='offset-gratings'\nvalue=0.01\nwidth=8e-9\npitch=16e-9\n[scattering]\n" \
              "order='multiple'\n")
/* A cube of 60 mm with 1 scattering a mm, in all directions, and 0.005 absorptions a mm: cube60 of MCX. */
#define CUBE                                                                                                         \
    "[case]\nsolver='xray'\n[density]\nkind='slab'\ncell=[1e-3,1e-3,1e-3]\nvalue=0.633955\nabsorption="              \
    "0.004975124378109453\n[source]\nphotons=1e12\nwavelength=1e-6\nprofile='pencil'\n[scattering]\n"                \
    "order='multiple'\nangle='henyey-greenstein'\ng=0.01\ntheta_max=3.14159265358979\n[detector]\ncell_angle=1e-3\n" \
    "spacing='lengths'\ndistance=1000\nbeam_stop=0\n" FOREVER

/* What other tools are timed with: natural convection, a dam break on squares, glass and vacuum, a beam in space. */
#define CONVECTION                                                                                                  \
    "[case]\nsolver='flow'\n[grid]\nsize=[1,1]\n[fluid]\nviscosity=0.71\ndiffusivity=1\nbuoyancy=71000\n[boundary." \
    "left]\nheat='given'\ntemperature=1\n[boundary.right]\nheat='given'\ntemperature=0\n[boundary.top]\nspeed=0\n"  \
    "[initial]\ntemperature=0.5\n" FOREVER
#define SQUARES                                                                                              \
    "[case]\nsolver='flood'\n[grid]\nkind='square'\nspacing=1\n[initial]\nkind='circle'\nlevels=[2.5,0.5]\n" \
    "[time]\ninterval=10\n" FOREVER
#define YEE                                                                                                         \
    "[case]\nsolver='maxwell'\n[grid]\nspacing='10 nm'\n[light]\nwavelength='600 nm'\n[[material]]\nname='glass'\n" \
    "n=1.5\n[[box]]\nmaterial='glass'\nfrom=[1e-7,1e-7,2e-7]\nto=[3e-7,3e-7,3e-7]\n[solver]\nwatch_every="          \
    "100000\n" FOREVER

#define KIND(SOLVER, WHAT, UNIT, TEXT, DIMS, LEVEL) \
    .solver = SOLVER, .what = WHAT, .unit = UNIT, .text = TEXT, .dims = DIMS, .level = BN_BENCH_##LEVEL
#define SIZES(...)  \
    {               \
        __VA_ARGS__ \
    }
#define ON(CPU, GPU) .sizes = { CPU, GPU }
#define STEP_SIZES ON(SIZES(65, 129, 257, 513), SIZES(257, 513, 1025, 2049))
#define NODE_SIZES ON(SIZES(64, 65, 257, 513), SIZES(64, 256, 257, 1024, 1025, 4096, 4097))
#define BOX_SIZES ON(SIZES(48, 64, 96, 128), SIZES(64, 128, 256, 512))
#define MAP_SIZES ON(SIZES(128, 256, 512, 1024), SIZES(512, 1024, 4096, 10000))
#define BEAM_SIZES ON(SIZES(300, 1000, 3000, 6000), SIZES(300, 1000, 3000, 15000))
#define BOTH(N) ON(SIZES(N), SIZES(N))

const bn_bench_case bn_bench_cases[] = {
    { KIND("flow", "time step, direct", "point", FLOW, 2, QUICK), STEP_SIZES, .develops = true },
    { KIND("flow", "time step, multigrid", "point", FLOW, 2, USUAL), STEP_SIZES, .develops = true,
      .sets = { "solver.poisson=multigrid" } },
    { KIND("flow", "Poisson, direct", "point", FLOW, 2, FULL), NODE_SIZES, .reals = 6, .linear = BN_BENCH_DIRECT },
    { KIND("flow", "Poisson, multigrid, a cycle", "point", FLOW, 2, FULL), NODE_SIZES, .reals = 10 + 14 / 3.0,
      .linear = BN_BENCH_MULTIGRID },
    { KIND("flow", "Poisson, fused CG, an iteration", "point", FLOW, 2, FULL), NODE_SIZES, .reals = 6, .bytes = 1,
      .linear = BN_BENCH_FUSED_CG },

    { KIND("maxwell", "iteration", "cell", MAXWELL, 3, QUICK), BOX_SIZES, .reals = 24, .bytes = 3 },
    { KIND("maxwell", "iteration, two passes", "cell", MAXWELL, 3, USUAL), BOX_SIZES, .reals = 36, .bytes = 3,
      .sets = { "solver.sweep=two-pass" } },

    { KIND("flood", "time step, order 1", "cell", FLOOD, 2, QUICK), MAP_SIZES, .reals = 10, .operations = 580,
      .sets = { "solver.order=1", "time.interval=1" } },
    { KIND("flood", "time step, order 2", "cell", FLOOD, 2, USUAL), MAP_SIZES, .reals = 19,
      .sets = { "solver.order=2", "time.interval=0.5" } },
    { KIND("flood", "squares, order 1", "cell", FLOOD, 2, FULL), MAP_SIZES, .reals = 10,
      .sets = { "grid.kind=square", "solver.order=1", "time.interval=1" } },
    { KIND("flood", "squares, order 2", "cell", FLOOD, 2, FULL), MAP_SIZES, .reals = 19,
      .sets = { "grid.kind=square", "solver.order=2", "time.interval=0.5" } },
    { KIND("flood", "97 % dry", "cell", FLOOD_DRY, 2, FULL), MAP_SIZES, .no_floor = true, .develops = true,
      .sets = { "solver.order=1", "time.interval=1" } },

    { KIND("bpm", "step along z, one beam", "point", BPM, 1, QUICK), BEAM_SIZES, .operations = 30,
      .sets = { "solver.method=direct" } },
    { KIND("bpm", "step along z, 64 beams", "point", BPM, 1, USUAL), BEAM_SIZES, .operations = 30, .beams = 64,
      .sets = { "solver.method=direct" } },
    { KIND("bpm", "step along z, 1024 beams", "point", BPM, 1, FULL), BOTH(3000), .operations = 30, .beams = 1024,
      .sets = { "solver.method=direct" } },
    { KIND("bpm", "in space", "point", BPM_SPACE, 2, FULL), ON(SIZES(64, 128, 256, 512), SIZES(256, 512, 1024, 2048)),
      .reals = 7, .clock_only = true, .sets = { "solver.method=direct" } },
    { KIND("bpm", "in space, transforms", "point", BPM_SPACE, 2, FULL), ON(SIZES(65, 129), SIZES(257, 513)),
      .clock_only = true, .no_floor = true, .sets = { "solver.method=fft" } },

    { KIND("xray", "photons through n cells", "photon", XRAY, 1, QUICK),
      ON(SIZES(64, 128, 256, 512), SIZES(64, 128, 256, 512)), .operations = 331 },
    { KIND("xray", "scattered again and again", "photon", XRAY, 1, USUAL),
      ON(SIZES(64, 128, 256, 512), SIZES(64, 128, 256, 512)), .sets = { "scattering.order=multiple" } },
    { KIND("xray", "scattered once a photon", "photon", XRAY, 1, FULL), BOTH(512),
      .sets = { "scattering.order=multiple", "density.value=0.001953" } },
    { KIND("xray", "double slit, light on the slits", "photon", XRAY_WITH(SLIT), 1, FULL), BOTH(256),
      .sets = { "source.size=[44e-9,0]", "source.centre=[2e-9,0]" } },
    { KIND("xray", "double slit, light on all cells", "photon", XRAY_WITH(SLIT), 1, FULL), BOTH(256) },
    { KIND("xray", "offset gratings, exact walk", "photon", GRATINGS, 1, FULL), BOTH(256),
      .sets = { "flight.method=exact" } },
    { KIND("xray", "offset gratings, delta tracking", "photon", GRATINGS, 1, FULL), BOTH(256) },
    { KIND("xray", "turbid cube", "photon", CUBE, 3, FULL), BOTH(60) },
    { KIND("xray", "turbid cube, scatterings", "scattering", CUBE, 3, FULL), BOTH(60), .no_floor = true,
      .clock_only = true, .counts = "scatterings_mean" },
    { 0 },
};

const bn_bench_case bn_bench_scaled[] = {
    { KIND("maxwell", "iteration, two passes", "cell", MAXWELL, 3, FULL), ON(SIZES(64), SIZES(512)),
      .sets = { "solver.sweep=two-pass" } },
    { KIND("flood", "time step, order 1", "cell", FLOOD, 2, FULL), ON(SIZES(512), SIZES(7168)),
      .sets = { "solver.order=1", "time.interval=2" } },
    { KIND("flow", "time step, direct", "point", FLOW_CAVITY, 2, FULL), ON(SIZES(129), SIZES(8193)), .tall = 0.75,
      .develops = true, .sets = { "solver.poisson=fft", "solver.diffusion=fft" } },
    /* To the rounding, so that grids of different lengths take about as many cycles. */
    { KIND("flow", "time step, multigrid", "point", FLOW_STREAM, 2, FULL), ON(SIZES(129), SIZES(7169)),
      .develops = true, .sets = { "solver.cg_forcing=0", "solver.cg_tolerance=1e-15" } },
    { KIND("xray", "double slit", "photon", XRAY_WITH(SLIT), 1, FULL), BOTH(256),
      .sets = { "source.size=[44e-9,0]", "source.centre=[2e-9,0]" } },
    { KIND("bpm", "in space", "point", BPM_SPACE, 2, FULL), ON(SIZES(256), SIZES(4096)) },
    { 0 },
};

const bn_bench_case bn_bench_peers[] = {
    { KIND("flow", "Poisson, direct", "point", FLOW, 2, FULL), BOTH(1025), .reals = 6, .linear = BN_BENCH_DIRECT },
    { KIND("flow", "Poisson, multigrid, a cycle", "point", FLOW, 2, FULL), ON(SIZES(1025), SIZES(1025, 4097)),
      .reals = 10 + 14 / 3.0, .linear = BN_BENCH_MULTIGRID },
    { KIND("flow", "Poisson, fused CG, an iteration", "point", FLOW, 2, FULL), ON(SIZES(1025), SIZES(1025, 4097)),
      .reals = 6, .bytes = 1, .linear = BN_BENCH_FUSED_CG },
    { KIND("flow", "time step with heat", "point", CONVECTION, 2, FULL), BOTH(1025), .develops = true },
    { KIND("maxwell", "iteration", "cell", YEE, 3, FULL), ON(SIZES(128), SIZES(512)), .reals = 24, .bytes = 3 },
    { KIND("flood", "squares, order 1", "cell", SQUARES, 2, FULL), BOTH(4096), .reals = 10,
      .sets = { "solver.order=1" } },
    { KIND("flood", "squares, order 2", "cell", SQUARES, 2, FULL), BOTH(4096), .reals = 19,
      .sets = { "solver.order=2" } },
    { KIND("bpm", "step along z, one beam", "point", BPM, 1, FULL), BOTH(3000), .operations = 30,
      .sets = { "solver.method=direct" } },
    { KIND("bpm", "step along z, 1024 beams", "point", BPM, 1, FULL), BOTH(3000), .operations = 30, .beams = 1024,
      .sets = { "solver.method=direct" } },
    { KIND("bpm", "in space", "point", BPM_SPACE, 2, FULL), ON(SIZES(512), SIZES(2048)), .reals = 7, .clock_only = true,
      .sets = { "solver.method=direct" } },
    { KIND("xray", "turbid cube, scatterings", "scattering", CUBE, 3, FULL), BOTH(60), .no_floor = true,
      .clock_only = true, .counts = "scatterings_mean" },
    { KIND("xray", "turbid cube with its fluence, scatterings", "scattering", CUBE, 3, FULL), BOTH(60),
      .no_floor = true, .clock_only = true, .counts = "scatterings_mean", .sets = { "detector.volume=true" } },
    { 0 },
};

#define SET(...) snprintf(j->sets[j->set_count++], BN_BENCH_SET, __VA_ARGS__)

/* After each record of a plane the host reads and sums the field, about LOOK seconds a point; in space the device forms
 * the sums, which takes no longer than a step, and the host waits and adds up, less than WAIT. A record has so many
 * steps that this is about a fortieth of it, by an estimate from the device's limits: a step in space reaches a fifth
 * of the copy bandwidth, one of many beams in a plane a third of the unfused arithmetic. */
static double steps_of_record(const bn_bench_case *c, double points, bool twice, const bn_device_limits *l)
{
    static const double LOOK = 6e-9, WAIT = 200e-6, LOOKS = 40, SHARE_SPACE = 0.2, SHARE_PLANE = 0.15,
                        LEAST_STEP = 1e-6;
    const double step = c->dims == 2 ? 7 * (twice ? 8 : 4) * points / (SHARE_SPACE * l->copy)
                                     : fmax(LEAST_STEP, 30 * points / (SHARE_PLANE * fmax(l->flops[twice], 1)));
    const double look = c->dims == 2 ? WAIT + step : LOOK * points;
    return fmax(16, ceil(LOOKS * look / step));
}

/* In a plane one launch does all steps of a record: so many that what lies between launches is small beside them. */
static void prepare_bpm(bn_bench_job *j, unsigned times, bool gpu, const bn_device_limits *limits)
{
    const bn_bench_case *c = j->of;
    const double side = j->n, records = 2000, width = 10e-6, pi = 3.14159265358979323846;
    const double beams = c->beams ? c->beams : 1, steps = (gpu ? 3e7 : 1.5e6) / side;
    double in_record = c->dims == 2         ? 16
                       : steps / beams < 20 ? 20
                                            : trunc(gpu ? fmax(steps / 8, 20000) : steps / beams);
    j->per_step = c->dims == 2 ? (side - 1) * (side * times - 1) : (side - 1) * beams; /* the border has no unknowns */
    if (limits)
        in_record = fmax(in_record, steps_of_record(c, j->per_step, j->twice, limits));
    SET("grid.cells=%u", j->n * times);
    if (c->dims == 2) { /* spacings stay as they are, and with them how far values are carried along lines */
        SET("grid.cells_x=%u", j->n);
        SET("grid.width=%g", 200e-6 * times);
    }
    if (c->beams)
        SET("batch.count=%u", c->beams);
    SET("march.length=%.17g", in_record * records * (c->dims == 2 ? 0.1e-6 : width / side / pi));
    j->per_record = in_record;
}

void bn_bench_prepare_on(const bn_bench_case *c, unsigned n, bool twice, bool gpu, const bn_device_limits *limits,
                         unsigned times, bn_bench_job *j)
{
    const double side = n, points = c->dims == 3 ? side * side * side : c->dims == 2 ? side * side : side;
    *j = (bn_bench_job){ .of = c, .n = n, .twice = twice, .per_step = points * times, .per_record = 1 };
    SET("case.precision=%s", twice ? "double" : "single");
    if (strncmp(c->solver, "flow", 4) == 0) {
        /* Spacings stay as they are, and with them the iterations of a step. */
        const double tall = times * (c->tall > 0 ? c->tall : 1);
        const unsigned rows = (unsigned)((n - 1) * tall + 0.5) + 1;
        SET("grid.nodes=[%u,%u]", n, rows);
        SET("grid.size=[1,%g]", tall);
        j->per_step = side * rows;
    } else if (strncmp(c->solver, "maxwell", 7) == 0) {
        SET("grid.cells=[%u,%u,%u]", n, n, n * times);
    } else if (strncmp(c->solver, "flood", 5) == 0) {
        SET("grid.cells=[%u,%u]", n, n * times);
        if (strstr(c->text, "'bowl'")) {
            SET("bed.radius=%g", 0.085 * side);
            SET("initial.shift=%g", 0.02 * side);
        } else {
            SET("initial.radius=%g", 0.1 * side);
        }
        if (!gpu && strcmp(c->solver, "flood") == 0) /* a time step: ten seconds of a large flood take a CPU minutes */
            SET("time.interval=0.05");
    } else if (strncmp(c->solver, "bpm", 3) == 0) {
        prepare_bpm(j, times, gpu, limits);
    } else if (strncmp(c->solver, "xray", 4) == 0) {
        const unsigned cells = gpu ? 1024 : 256, batch = (gpu ? 64 : 4) * times, across = c->dims == 3 ? n : 128;
        SET("density.cells=[%u,%u,%u]", n, across, across);
        SET("detector.cells=[%u,%u]", cells, cells);
        SET("source.batch=%u", batch);
        j->per_step = (double)cells * cells * batch;
    }
}

void bn_bench_prepare(const bn_bench_case *c, unsigned n, bool twice, bool gpu, bn_bench_job *out)
{
    bn_bench_prepare_on(c, n, twice, gpu, NULL, 1, out);
}
