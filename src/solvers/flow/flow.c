/* flow.c: stream function, vorticity and temperature of a plane incompressible flow on a rectangle (docs/flow.md): the
 * case's keys, the plan, the table. */
#include "flow.h"

#include "numerics/capacitance_plan.h"
#include "numerics/multigrid.h"
#include "numerics/multigrid_plan.h"
#include "numerics/spectral.h"

#include <math.h>
#include <string.h>

#define PRODUCTS                                                                                                     \
    "products of conjugate gradients in separate kernels repeat a published study; binnacle bench --suite seed-004 " \
    "runs them"

/* A key is read in one piece. */
/* clang-format off */
/* The defaults describe a lid-driven cavity, so that the shortest case shows something. */
#define BORDER(at, list_)                                                                                          \
    { .name = at ".kind", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_KINDS), .def_text = "wall",            \
      .list = list_, .help = "what the border is here; outflow in one place at most" },                            \
    { .name = at ".profile", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_PROFILES),                          \
      .def_text = "parabolic", .list = list_, .only = at ".kind=inflow", .help = "of an inflow" },                 \
    { .name = at ".heat", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_HEATS),                                \
      .def_text = "insulated", .list = list_, .only = at ".kind=wall|slip",                                        \
      .help = "of a wall or slip; what flows in has its temperature, an outflow takes what arrives" },                 \
    { .name = at ".temperature", .type = BN_KEY_REAL, .unit = "K", .min = -1e6, .max = 1e6, .list = list_,         \
      .only = at ".kind=inflow|velocity or " at ".heat=given",                                                     \
      .help = "of what flows in, and where heat is given" },                                                       \
    { .name = at ".file", .type = BN_KEY_TEXT, .def_text = "", .list = list_, .only = at ".kind=velocity",         \
      .help = "CSV file of the place along +x or +y [m], u and v [m s-1]; relative to the case file" }
#define SPEED(at, along, def_, list_)                                                                              \
    { .name = at ".speed", .type = BN_KEY_REAL, .unit = "m s-1", .def = def_, .min = -1e6, .max = 1e6,             \
      .list = list_, .only = at ".kind=wall|inflow",                                                               \
      .help = "of a wall: tangential speed along +" along "; of an inflow: mean speed into the domain" }

static const bn_key schema[] = {
    { .name = "grid.nodes", .type = BN_KEY_INT, .count = 2, .def = 129, .min = 3, .max = 65537,
      .help = "nodes along x and y, border included" },
    { .name = "grid.size", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 1, .max = 1e6, .above = true,
      .help = "width and height of the rectangle" },
    { .name = "grid.stretch", .type = BN_KEY_REAL, .count = 2, .def = 0, .min = 0, .max = 4,
      .help = "b along x and y of nodes that gather at the sides, at tanh(b (2 i / (n - 1) - 1)) / tanh(b) between -1 "
              "and 1; 0: equal spacings" },
    { .name = "fluid.viscosity", .type = BN_KEY_REAL, .unit = "m2 s-1", .def = 0.01, .max = 1e6, .above = true,
      .help = "kinematic viscosity" },
    { .name = "fluid.diffusivity", .type = BN_KEY_REAL, .unit = "m2 s-1", .def = 0, .min = 0, .max = 1e6,
      .help = "of heat; 0: no temperature" },
    { .name = "fluid.buoyancy", .type = BN_KEY_REAL, .unit = "m s-2 K-1", .def = 0, .min = -1e12, .max = 1e12,
      .help = "gravity, which points down, times the coefficient of thermal expansion" },
    SPEED("boundary.left", "y", 0, false),
    BORDER("boundary.left", false),
    SPEED("boundary.right", "y", 0, false),
    BORDER("boundary.right", false),
    SPEED("boundary.bottom", "x", 0, false),
    BORDER("boundary.bottom", false),
    SPEED("boundary.top", "x", 1, false),
    BORDER("boundary.top", false),
    { .name = "boundary.segment.side", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_SIDE_NAMES),
      .def_text = "left", .list = true,
      .help = "the side that the segment belongs to; elsewhere the side is what its own table says" },
    { .name = "boundary.segment.from", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1e6, .list = true,
      .help = "begin along +x or +y" },
    { .name = "boundary.segment.to", .type = BN_KEY_REAL, .unit = "m", .def = 1, .max = 1e6, .above = true,
      .list = true, .help = "end" },
    SPEED("boundary.segment", "x or +y", 0, true),
    BORDER("boundary.segment", true),
    { .name = "obstacle.mask", .type = BN_KEY_TEXT, .def_text = "",
      .help = "PNG picture of the rectangle, dark pixels solid; a path, relative to the case file; empty: no "
              "obstacle" },
    { .name = "obstacle.shape", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_SHAPES), .def_text = "none",
      .help = "a simple obstacle, with or without a mask" },
    { .name = "obstacle.centre", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0.5, .min = -1e6, .max = 1e6,
      .only = "obstacle.shape=ellipse|rectangle",
      .help = "of the shape" },
    { .name = "obstacle.size", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0.1, .max = 1e6, .above = true,
      .only = "obstacle.shape=ellipse|rectangle",
      .help = "of the shape, along x and y" },
    { .name = "obstacle.heat", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_HEATS), .def_text = "insulated",
      .help = "of the obstacles" },
    { .name = "obstacle.temperature", .type = BN_KEY_REAL, .unit = "K", .min = -1e6, .max = 1e6,
      .only = "obstacle.heat=given",
      .help = "where their heat is given" },
    { .name = "initial.kind", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_STARTS), .def_text = "rest",
      .help = "at rest; one vortex that fills the box; the left side's inflow profile everywhere" },
    { .name = "initial.strength", .type = BN_KEY_REAL, .unit = "m2 s-1", .def = 1, .max = 1e6, .above = true,
      .only = "initial.kind=vortex",
      .help = "stream function in the middle of the vortex" },
    { .name = "initial.temperature", .type = BN_KEY_REAL, .unit = "K", .min = -1e6, .max = 1e6,
      .help = "everywhere at the start" },
    { .name = "initial.heat", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_HEAT_MODES), .def_text = "even",
      .help = "adds half a wave along x and y: sin sin, which vanishes at the sides, or cos cos, which is flat there" },
    { .name = "initial.heat_amplitude", .type = BN_KEY_REAL, .unit = "K", .def = 1, .min = -1e6, .max = 1e6,
      .only = "initial.heat=sine|cosine",
      .help = "of the wave" },
    { .name = "time.dt", .type = BN_KEY_REAL, .unit = "s", .def = 0, .min = 0, .max = 1e9,
      .only = "solver.steady=march",
      .help = "time step; 0: nine tenths of the stability limit, at most the time to cross a cell" },
    { .name = "solver.convection", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_CONVECTIONS),
      .def_text = "conservative",
      .help = "(u f)_x + (v f)_y by central differences; u f_x + v f_y by central ones, or by upwind ones, of first "
              "order" },
    { .name = "solver.wall_vorticity", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_WALL_VORTICITIES),
      .def_text = "woods", .help = "formula for the vorticity at walls: locally of first or of second order" },
    { .name = "solver.wall_relaxation", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 1,
      .only = "solver.steady=march",
      .help = "share of the formula's change that the wall vorticity takes per step; 0: as much as is stable" },
    { .name = "solver.poisson", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_POISSON_METHODS), .def_text = "auto",
      .help = "how psi is solved for: direct by transforms (rectangles, small obstacles) or conjugate gradients, plain "
              "or with multigrid" },
    { .name = "solver.diffusion", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_DIFFUSION_METHODS),
      .def_text = "auto", .only = "solver.steady=march", .help = "the same for vorticity and temperature" },
    { .name = "solver.launches", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(BN_LAUNCHES), .def_text = "auto",
      .help = "of a step or a direct solution: one where work-groups can wait for each other and the grid is small, or "
              "several; the same bits" },
    { .name = "solver.spmv", .gone = PRODUCTS },
    { .name = "solver.dot", .gone = PRODUCTS },
    { .name = "solver.cg_tolerance", .type = BN_KEY_REAL, .def = 1e-8, .min = 1e-15, .max = 0.1,
      .help = "true residual of the linear solves, relative to the right-hand side: the tightest, unless cg_forcing "
              "and steady_tolerance need less" },
    { .name = "solver.cg_forcing", .type = BN_KEY_REAL, .def = 0.1, .min = 0, .max = 1, .only = "solver.steady=march",
      .help = "residual that is enough, as a share of what a step changes (docs/flow.md); 0: always cg_tolerance" },
    { .name = "solver.cg_iterations", .type = BN_KEY_INT, .def = 20000, .min = 1, .max = 10000000,
      .help = "iterations of one linear solve at most" },
    { .name = "solver.steady_tolerance", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 1,
      .help = "ends when what the steady equations leave over would change the vorticity (and the temperature) by less "
              "than this share per length / speed; 0: runs on" },
    { .name = "solver.steady", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_STEADY), .def_text = "march",
      .help = "steps in time, or Newton's method on the steady equations, which ends at steady_tolerance" },
    { .name = "solver.newton_solver", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_NEWTON_SOLVERS),
      .def_text = "gmres", .only = "solver.steady=newton",
      .help = "of its linear systems: GMRES, preconditioned, or elimination, whose time grows with the fourth power of "
              "the nodes along a side and hardly with the Reynolds number" },
    { .name = "solver.krylov_vectors", .type = BN_KEY_INT, .def = 250, .min = 8, .max = FLOW_NEWTON_COLUMN - 2,
      .only = "solver.steady=newton",
      .help = "most fields, of vorticity and of temperature, that a linear solve keeps: fewer take less memory" },
    { .name = "solver.coarse_grids", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 10, .only = "solver.steady=newton",
      .help = "grids of half, a quarter ... of the intervals whose steady states are found first, each a start for the "
              "next finer one" },
    { 0 },
};
/* clang-format on */

static const bn_kernel_desc kernels[] = {
    { "flow_advect_heat", BN_PER_CELL_OR_BLOCK, { .reads = 3.25, .writes = 2, .flops = 33 } },
    { "flow_advect_vorticity", BN_PER_CELL_OR_BLOCK, { .reads = 3.25, .writes = 2, .flops = 23 } },
    { "flow_poisson_source", BN_PER_CELL_OR_BLOCK, { .reads = 4.25, .writes = 2, .flops = 7 } },
    { "flow_wall_vorticity", BN_PER_BLOCK, { .reads = 6, .writes = 3, .flops = 41 } },
    { "flow_velocity", BN_PER_CELL_OR_BLOCK, { .reads = 3, .writes = 3, .flops = 4 } },
    { "flow_step", BN_SIDE_BY_SIDE, { .reads = 10, .writes = 8, .flops = 500 } },
    { "flow_total_residual", BN_ONCE, { 0, 0, 0 } },
    { "flow_body_pressure", BN_PER_BLOCK, { .reads = 3, .writes = 0, .flops = 0 } },
    { "flow_add_influence", BN_PER_BLOCK, { .reads = 2, .writes = 1, .flops = 2 } },
    { "flow_newton_residual", BN_PER_BLOCK, { .reads = 5, .writes = 3, .flops = 41 } },
    { "flow_newton_heat_source", BN_PER_CELL, { .reads = 1.25, .writes = 2, .flops = 2 } },
    { "flow_newton_vorticity_source", BN_PER_CELL_OR_BLOCK, { .reads = 1.75, .writes = 1, .flops = 3 } },
    { "flow_newton_poisson", BN_PER_CELL, { .reads = 1.25, .writes = 2, .flops = 1 } },
    { "flow_newton_jacobian", BN_PER_CELL_OR_BLOCK, { .reads = 5, .writes = 1, .flops = 58 } },
    { 0 },
};

/* Levels of psi that are usual for the cavity (Ghia, Ghia, Shin 1982, table III), in units of speed * length. */
static const double cavity_levels[] = { -0.1175, -0.115, -0.11,  -0.1,  -0.09, -0.07,  -0.05, -0.03,
                                        -0.01,   -1e-4,  -1e-5,  -1e-7, 1e-8,  1e-7,   1e-6,  1e-5,
                                        5e-5,    1e-4,   2.5e-4, 5e-4,  1e-3,  1.5e-3, 3e-3 };

double flow_place(const flow *s, int dim, double node)
{
    const double b = s->config.stretch[dim], last = (dim ? s->config.ny : s->config.nx) - 1;
    return b > 0 ? 0.5 * s->config.size[dim] * (1 + tanh(b * (2 * node / last - 1)) / tanh(b))
                 : node * s->config.h[dim];
}

double flow_diffusion_number(const flow *s)
{
    const double x = s->config.h[0] / s->config.least_h[0], y = s->config.h[1] / s->config.least_h[1];
    return fmax(s->k.nu_x * x * x, s->k.nu_y * y * y);
}

/* The largest spacing along a dimension, which is in the middle. */
static double most_h(const flow *s, int dim)
{
    const uint32_t low = ((dim ? s->config.ny : s->config.nx) - 2) / 2;
    return s->config.widths ? flow_place(s, dim, low + 1) - flow_place(s, dim, low) : s->config.h[dim];
}

/* Relaxation of the wall vorticity beyond which it oscillates and grows: the wall's value enters the implicit diffusion
 * one step late. `diffusion_number` is nu dt / h^2. Exact for a plane wall without flow, on the safe side elsewhere
 * (docs/flow.md). */
static double wall_limit(double diffusion_number, bool woods)
{
    const double g = 0.5 * (sqrt(1 + 2 * diffusion_number) - 1);
    return 2 / (woods ? 1 + 3 * g + 0.5 * g / (1 + g) : 1 + 2 * g);
}

/* The largest difference of temperature that the case prescribes. */
static double prescribed_drop(const flow *s)
{
    double low = s->config.start_temperature, high = low;
    for (int i = 0; i < s->border.pieces; i++)
        if (s->border.piece[i].kind == FLOW_INFLOW || s->border.piece[i].kind == FLOW_VELOCITY ||
            s->border.piece[i].heat == FLOW_GIVEN) {
            low = fmin(low, s->border.piece[i].temperature);
            high = fmax(high, s->border.piece[i].temperature);
        }
    if (s->border.solid && s->border.body_heat == FLOW_GIVEN) {
        low = fmin(low, s->border.body_temperature);
        high = fmax(high, s->border.body_temperature);
    }
    if (s->config.heat_mode != FLOW_EVEN)
        high += fabs(s->config.heat_amplitude);
    return high - low;
}

/* The largest speed to be expected: at the border and at the start, faster beside an obstacle, and what buoyancy makes
 * of the largest difference of temperature (0.3 of free fall through the height: docs/flow.md). */
static double expected_speed(const flow *s)
{
    double speed = s->config.speed;
    if (s->border.solid)
        speed *= 1.4 / fmax(1 - s->border.body_share, 0.2);
    return s->config.buoyant
               ? fmax(speed, 0.3 * sqrt(fabs(s->k.buoyancy) * s->config.temperature_scale * s->config.size[1]))
               : speed;
}

/* Time step and what is stable; see docs/flow.md for the derivations. */
static void choose_step(const bn_case *c, flow *s)
{
    const double h = fmin(s->config.least_h[0], s->config.least_h[1]), pi = 3.14159265358979323846;
    if (s->config.start == FLOW_VORTEX)
        s->config.speed = fmax(s->config.speed, s->config.strength * pi / fmin(s->config.size[0], s->config.size[1]));
    const double speed = expected_speed(s), least = s->config.a > 0 ? fmin(s->config.nu, s->config.a) : s->config.nu;
    const double limit = speed == 0                            ? HUGE_VAL
                         : s->config.convection == FLOW_UPWIND ? h / (sqrt(2) * speed)
                                                               : 2 * least / (speed * speed);
    const double cross = speed == 0 ? h * h / fmax(s->config.nu, s->config.a) : h / speed;
    double dt = bn_case_real(c, "time.dt");
    if (dt > limit * (1 + 1e-9))
        (void)bn_case_reject(c, "time.dt", "0 chooses it",
                             "unstable: with %s convection at %g m/s at most %.4g s are possible",
                             s->config.convection == FLOW_UPWIND ? "upwind" : "explicit central", speed, limit);
    if (dt == 0)
        dt = fmin(0.9 * limit, cross);
    const double diffusion_number = s->config.nu * dt / (h * h), most = wall_limit(diffusion_number, s->config.woods);
    double theta = bn_case_real(c, "solver.wall_relaxation");
    if (theta >= most)
        (void)bn_case_reject(c, "solver.wall_relaxation", "0 chooses it",
                             "unstable: with viscosity dt / h^2 = %.3g it must be below %.3g", diffusion_number, most);
    if (theta == 0)
        theta = fmin(1, 0.6 * most);
    s->config.dt_limit = limit;
    s->k.dt = dt;
    s->k.theta = theta;
    s->config.reference_time = speed > 0 ? s->config.length / speed
                                         : s->config.length * s->config.length / fmax(s->config.nu, s->config.a);
}

static void set_constants(flow *s)
{
    flow_constants *k = &s->k;
    const double wall = s->config.woods ? 3 : 2;
    k->per_2h_x = 0.5 / s->config.h[0];
    k->per_2h_y = 0.5 / s->config.h[1];
    k->per_h2_x = 1 / (s->config.h[0] * s->config.h[0]);
    k->per_h2_y = 1 / (s->config.h[1] * s->config.h[1]);
    k->nu_x = k->dt * s->config.nu * k->per_h2_x;
    k->nu_y = k->dt * s->config.nu * k->per_h2_y;
    k->a_x = k->dt * s->config.a * k->per_h2_x;
    k->a_y = k->dt * s->config.a * k->per_h2_y;
    k->wall_x = wall * k->per_h2_x;
    k->wall_y = wall * k->per_h2_y;
    k->wall_omega = s->config.woods ? 0.5 : 0;
    k->courant_x = k->dt / s->config.h[0];
    k->courant_y = k->dt / s->config.h[1];
    k->body_x = s->config.h[1] / s->config.h[0];
    k->body_y = s->config.h[0] / s->config.h[1];
    k->body_psi_x = k->body_x * 2 * k->per_h2_x;
    k->body_psi_y = k->body_y * 2 * k->per_h2_y;
    k->body_heat = k->buoyancy * s->config.h[1] / s->config.nu / (s->config.woods ? 1.5 : 1);
}

/* Bits that no node has. */
static int absent_kinds(const flow_border *b)
{
    static const int bits[] = {
        [FLOW_WALL] = FLOW_NODE_WALL,       [FLOW_VELOCITY] = FLOW_NODE_WALL,
        [FLOW_SLIP] = FLOW_NODE_SLIP,       [FLOW_INFLOW] = 0,
        [FLOW_OUTFLOW] = FLOW_NODE_OUTFLOW,
    };
    int present = b->solid ? FLOW_NODE_BODY : 0;
    for (int i = 0; i < b->pieces; i++)
        present |= bits[b->piece[i].kind];
    return (FLOW_NODE_WALL | FLOW_NODE_SLIP | FLOW_NODE_OUTFLOW | FLOW_NODE_BODY) & ~present;
}

static bn_status plan_defines(flow *s, bn_plan *p)
{
    BN_TRY(bn_plan_constants(p, BN_CONSTANT_NAMES(FLOW_CONSTANTS), (const double *)&s->k));
    BN_TRY(bn_plan_codes(p, BN_CODES(FLOW_NODE_CODES)));
    BN_TRY(bn_plan_define_int(p, "UPWIND", s->config.convection == FLOW_UPWIND));
    BN_TRY(bn_plan_define_int(p, "CONSERVATIVE", s->config.convection == FLOW_CONSERVATIVE));
    BN_TRY(bn_plan_define_int(p, "HEAT", s->config.a > 0));
    BN_TRY(bn_plan_define_int(p, "NEWTON", s->newton.on));
    BN_TRY(bn_plan_define_int(p, "ABSENT_KINDS", absent_kinds(&s->border)));
    BN_TRY(flow_plan_one_launch(s, p));
    if (s->config.widths)
        BN_TRY(bn_plan_define_int(p, "STRETCHED", 1));
    return bn_plan_define_int(p, "BODIES", s->border.bodies);
}

size_t flow_real_bytes(const flow *s) { return s->config.roundoff < 1e-10 ? 8 : 4; }

/* Methods and transforms of the systems, which have kernels of their own. */
static bn_status plan_needs(const flow *s, bn_plan *p)
{
    const bn_device_info *device = bn_plan_device(p);
    static const char *const methods[] = {
        [BN_LINEAR_CG] = "conjugate gradients", [BN_LINEAR_MULTIGRID] = "multigrid"
    };
    for (int i = 0; i < FLOW_SYSTEMS; i++) {
        const bn_linear_desc *d = &s->systems.desc[i];
        if (!s->systems.bits[i] || (s->newton.on && i == FLOW_OMEGA))
            continue;
        for (int dim = 0; dim < 2 && d->method == BN_LINEAR_SPECTRAL; dim++)
            BN_TRY(bn_plan_needs(p, bn_spectral_kind(&d->stencil, flow_real_bytes(s), dim)));
        if (d->method == BN_LINEAR_SPECTRAL && !d->stencil.widths)
            BN_TRY(bn_plan_needs(
                p, bn_plan_shared_by(p) == 1 &&
                           bn_spectral_takes_one_launch(&d->stencil, flow_real_bytes(s), device, d->launches)
                       ? "direct solutions in one launch"
                       : "direct solutions in several launches"));
        if (d->method != BN_LINEAR_SPECTRAL)
            BN_TRY(bn_plan_needs(p, methods[d->method]));
        else if (d->stencil.rectangle)
            BN_TRY(bn_plan_needs(p, "obstacles by transforms"));
        else if (!d->stencil.widths && bn_plan_shared_by(p) > 1)
            BN_TRY(bn_plan_needs(p, BN_SPECTRAL_CUT_COLUMNS));
    }
    return !s->config.widths ? BN_OK
           : s->newton.on    ? bn_plan_needs(p, "Newton's method on a stretched grid")
                             : bn_plan_needs(p, "stretched grid");
}

/* Among how many devices a direct system can be cut, so that each has whole chunks of its columns
 * (bn_domain_desc.align). */
static unsigned most_devices(const flow *s, const bn_linear_desc *d)
{
    enum { CHUNKS_EACH = 16 };
    const unsigned chunks = (s->config.ny - 1) / (unsigned)bn_column_chunk((int)s->config.ny - 1);
    return d->stencil.rectangle || s->config.widths || chunks < 2 * CHUNKS_EACH ? 1 : chunks / CHUNKS_EACH;
}

static bn_status plan_fields(flow *s, bn_plan *p)
{
    flow_fields *f = &s->fields;
    bn_linear_work *w = s->systems.work;
    const bool multigrid = s->systems.desc[FLOW_PSI].method == BN_LINEAR_MULTIGRID ||
                           s->systems.desc[FLOW_HEAT].method == BN_LINEAR_MULTIGRID;
    const bool heat = s->config.a > 0, solid = s->border.solid || s->border.bodies > 0;
    bool gradients = false, direct = false; /* conjugate gradients by themselves */
    for (int i = 0; i < FLOW_SYSTEMS; i++) {
        gradients = gradients || (s->systems.desc[i].method == BN_LINEAR_CG && (i != FLOW_HEAT || heat));
        direct = direct || (s->systems.bits[i] && s->systems.desc[i].method == BN_LINEAR_SPECTRAL);
    }
    const unsigned state = BN_STATE | BN_OUTPUT | BN_COMPARE;
    const struct {
        bool wanted;
        bn_field **out;
        bn_field_desc desc;
    } fields[] = {
        { true, &f->psi, { "psi", "m2 s-1", BN_T_REAL, 1, state } },
        { true, &f->omega, { "omega", "s-1", BN_T_REAL, 1, state } },
        { true, &f->velocity, { "velocity", "m s-1", BN_T_REAL, 2, state } },
        { heat, &f->T, { "temperature", "K", BN_T_REAL, 1, state } },
        { true, &f->before, { "psi_before", "m2 s-1", BN_T_REAL, 1, BN_STATE } },
        { true, &f->node, { "node", "", BN_T_I32, 1, 0 } },
        { true, &w[FLOW_PSI].bits, { "bits_psi", "", BN_T_U8, 1, 0 } },
        { true, &w[FLOW_OMEGA].bits, { "bits_omega", "", BN_T_U8, 1, 0 } },
        { heat, &w[FLOW_HEAT].bits, { "bits_heat", "", BN_T_U8, 1, 0 } },
        { true, &f->next, { "omega_next", "s-1", BN_T_REAL, 1, 0 } },
        { heat, &f->T_next, { "temperature_next", "K", BN_T_REAL, 1, 0 } },
        { true, &f->rhs, { "rhs", "", BN_T_REAL, 1, 0 } },
        { true, &w->r, { "cg_r", "", BN_T_REAL, 1, 0 } },
        { true, &w->p, { "cg_p", "", BN_T_REAL, 1, 0 } },
        { true, &w->q, { "cg_q", "", BN_T_REAL, 1, 0 } },
        { multigrid || gradients, &w->z, { "cg_z", "", BN_T_REAL, 1, 0 } },
        { s->systems.border, &f->psi_border, { "psi_border", "m2 s-1", BN_T_REAL, 1, 0 } },
        { solid && s->border.bodies > 0, &f->influence, { "influence", "", BN_T_REAL, s->border.bodies, 0 } },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].wanted)
            BN_TRY(bn_plan_field(p, fields[i].out, &fields[i].desc));
    if (gradients)
        BN_TRY(bn_plan_halo(p, BN_CG_RADIUS));
    if (direct) { /* the direct solver is in the same boxes then, if each has whole rows and enough chunks */
        bn_plan_align(p, bn_column_chunk((int)s->config.ny - 1));
        if (bn_plan_shared_by(p) > 1 && bn_plan_shared_by(p) <= most_devices(s, &s->systems.desc[FLOW_PSI]))
            bn_plan_whole_rows(p);
    }
    if (multigrid) {
        bn_plan_align(p, 256); /* its grids are in the same boxes then, down to those that one device has sooner done */
        bn_plan_ghost_cells(p, BN_MULTIGRID_GHOST_CELLS);
    }
    if (s->newton.on)
        BN_TRY(flow_newton_plan_fields(s, p));
    const bool march = !s->newton.on;
    const char *const skipped[] = { heat && march ? NULL : "flow_advect_heat",
                                    march ? NULL : "flow_advect_vorticity",
                                    march ? NULL : "flow_wall_vorticity",
                                    heat && !march ? NULL : "flow_newton_heat_source",
                                    s->systems.coupled ? "flow_newton_poisson" : NULL,
                                    s->border.bodies > 0 ? NULL : "flow_body_pressure",
                                    s->border.bodies > 0 ? NULL : "flow_add_influence" };
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        if (skipped[i])
            BN_TRY(bn_plan_skip_kernel(p, skipped[i]));
    for (size_t i = 0; kernels[i].name && march; i++)
        if (strncmp(kernels[i].name, "flow_newton", 11) == 0 &&
            strcmp(kernels[i].name, "flow_newton_heat_source") != 0 &&
            !(s->systems.coupled && strcmp(kernels[i].name, "flow_newton_poisson") == 0))
            BN_TRY(bn_plan_skip_kernel(p, kernels[i].name));
    return BN_OK;
}

static bn_status plan_series(const flow *s, bn_plan *p)
{
    BN_TRY(bn_plan_series(p, s->newton.on ? "krylov_vectors" : "cg_iterations_omega", ""));
    BN_TRY(bn_plan_series(p, s->newton.on ? "viscosity_factor" : "cg_iterations_psi", ""));
    BN_TRY(bn_plan_series(p, "cg_residual_psi", ""));
    BN_TRY(bn_plan_series(p, "speed_max", "m s-1"));
    if (s->config.a > 0 && !s->newton.on)
        BN_TRY(bn_plan_series(p, "cg_iterations_heat", ""));
    return s->border.bodies > 0 ? bn_plan_series(p, "psi_body", "m2 s-1") : BN_OK;
}

static bn_status plan_pictures(const flow *s, bn_plan *p)
{
    const bool cavity = s->border.piece[FLOW_TOP].kind == FLOW_WALL && s->border.piece[FLOW_TOP].speed == 1 &&
                        s->config.size[0] == 1 && s->config.size[1] == 1;
    bn_picture_desc picture = { .name = "psi",
                                .field = "psi",
                                .title = "Stream function",
                                .quantity = "stream function ψ",
                                .map = BN_PICTURE_SEQUENTIAL,
                                .contour_field = "psi",
                                .contour_quantity = "stream function ψ",
                                .contour_count = 20,
                                .hidden = s->border.solid };
    if (cavity) {
        picture.contour_levels = cavity_levels;
        picture.contour_count = sizeof cavity_levels / sizeof *cavity_levels;
    }
    BN_TRY(bn_plan_picture(p, &picture));
    BN_TRY(bn_plan_picture(p, &(bn_picture_desc){ .name = "velocity",
                                                  .field = "velocity",
                                                  .title = "Velocity",
                                                  .quantity = "speed",
                                                  .map = BN_PICTURE_SEQUENTIAL,
                                                  .arrows = true,
                                                  .hidden = s->border.solid }));
    if (s->config.a > 0) {
        picture.name = picture.field = "temperature";
        picture.title = "Temperature and streamlines";
        picture.quantity = "temperature";
        BN_TRY(bn_plan_picture(p, &picture));
    }
    /* The corners of a lid and the edges of a body have no bound. */
    const double bound = cavity                      ? 5 * s->config.speed / s->config.length
                         : s->border.body_across > 0 ? 4 * s->config.speed / s->border.body_across
                                                     : 0;
    picture.name = "vorticity";
    picture.field = "omega";
    picture.title = "Vorticity and streamlines";
    picture.quantity = "vorticity ω";
    picture.map = BN_PICTURE_DIVERGING;
    picture.low = -bound;
    picture.high = bound;
    return bn_plan_picture(p, &picture);
}

static bn_status plan_notes(const flow *s, bn_plan *p)
{
    static const char *const methods[] = { [BN_LINEAR_CG] = "conjugate gradients",
                                           [BN_LINEAR_SPECTRAL] = "direct, by transforms",
                                           [BN_LINEAR_MULTIGRID] = "CG with multigrid" };
    /* Where nothing prescribes a speed, buoyancy or conduction have their own numbers. */
    if (s->config.speed > 0) {
        BN_TRY(bn_plan_note(p, "Reynolds number", s->config.speed * s->config.length / s->config.nu, ""));
        BN_TRY(bn_plan_note(p, "cell Reynolds number",
                            s->config.speed * fmax(most_h(s, 0), most_h(s, 1)) / s->config.nu, ""));
        if (s->border.body_across > 0)
            BN_TRY(bn_plan_note(p, "Reynolds number of the largest obstacle",
                                s->config.speed * s->border.body_across / s->config.nu, ""));
    }
    if (s->config.a > 0)
        BN_TRY(bn_plan_note(p, "Prandtl number", s->config.nu / s->config.a, ""));
    if (s->config.buoyant && s->config.temperature_drop > 0)
        BN_TRY(bn_plan_note(p, "Rayleigh number",
                            fabs(s->k.buoyancy) * s->config.temperature_drop * pow(s->config.size[1], 3) /
                                (s->config.nu * s->config.a),
                            ""));
    BN_TRY(bn_plan_note(p, "time step", s->k.dt, "s"));
    if (isfinite(s->config.dt_limit))
        BN_TRY(bn_plan_note(p, "largest stable time step", s->config.dt_limit, "s"));
    BN_TRY(bn_plan_note(p, "viscosity dt / h^2", flow_diffusion_number(s), ""));
    BN_TRY(bn_plan_note(p, "wall relaxation", s->k.theta, ""));
    for (int i = 0; i < FLOW_SYSTEMS; i++) {
        const bn_linear_desc *d = &s->systems.desc[i];
        const bool direct = d->method == BN_LINEAR_SPECTRAL;
        if (s->systems.bits[i] && !(s->newton.on && i == FLOW_OMEGA))
            BN_TRY(bn_plan_choice(p, d->name,
                                  direct && s->config.widths       ? "direct, by eigenvectors"
                                  : direct && d->stencil.rectangle ? "direct, by transforms and the capacitance matrix"
                                                                   : methods[d->method]));
    }
    if (s->config.steady > 0)
        bn_plan_wants_convergence(
            p, s->config.steady,
            s->newton.on ? "more solver.krylov_vectors may help, or a start that is nearer (initial); or the flow has "
                           "no steady state"
                         : "the linear solves may be too loose (solver.cg_forcing = 0 with a smaller "
                           "solver.cg_tolerance makes them exact), the precision too coarse, or the flow unsteady");
    return BN_OK;
}

/* The coarser grids of multigrid, for the memory that the case is said to need. */
static bn_status plan_coarser(const flow *s, bn_plan *p)
{
    for (int i = 0; i < FLOW_SYSTEMS; i++) {
        bn_grid g = { .dims = 2, .n = { s->config.nx, s->config.ny, 1 }, .h = { 1, 1, 1 }, .nodes = true };
        const bool used = s->systems.bits[i] && s->systems.desc[i].method == BN_LINEAR_MULTIGRID;
        while (used && bn_grid_next(&g.n[0], &g.n[1]))
            for (int f = 0; f < BN_GRID_FIELDS; f++)
                BN_TRY(bn_plan_more_memory(p, &g, BN_T_REAL, false));
    }
    return BN_OK;
}

/* Nodes that gather at the sides (Vinokur 1983). */
static bn_status plan_spacings(const bn_case *c, flow *s, bn_plan *p)
{
    const uint32_t n[2] = { s->config.nx, s->config.ny };
    for (int dim = 0; dim < 2; dim++) {
        s->config.stretch[dim] = bn_case_real_at(c, "grid.stretch", (size_t)dim);
        s->config.least_h[dim] = s->config.h[dim];
    }
    if (s->config.stretch[0] == 0 && s->config.stretch[1] == 0)
        return BN_OK;
    BN_TRY(bn_plan_allocate(p, ((size_t)n[0] + n[1]) * sizeof(double), (void **)&s->config.widths));
    for (int dim = 0; dim < 2; dim++) {
        double *widths = s->config.widths + (dim ? n[0] - 1 : 0);
        BN_TRY(bn_plan_allocate(p, n[dim] * sizeof(double), (void **)&s->config.place[dim]));
        for (uint32_t m = 0; m < n[dim]; m++)
            s->config.place[dim][m] = flow_place(s, dim, m);
        for (uint32_t m = 0; m + 1 < n[dim]; m++) {
            const double width = s->config.place[dim][m + 1] - s->config.place[dim][m];
            widths[m] = width / s->config.h[dim];
            s->config.least_h[dim] = fmin(s->config.least_h[dim], width);
        }
    }
    if (bn_case_choice(c, "solver.convection") == FLOW_UPWIND)
        (void)bn_case_reject(c, "solver.convection", "take \"conservative\" or \"central\", or no grid.stretch",
                             "upwind differences are for equal spacings");
    if (bn_case_choice(c, "solver.poisson") == FLOW_MULTIGRID)
        (void)bn_case_reject(c, "solver.poisson", "\"auto\" chooses what is possible",
                             "multigrid is for equal spacings: on long cells its sweeps do not smooth");
    if (bn_case_text(c, "obstacle.mask")[0] || bn_case_choice(c, "obstacle.shape") != FLOW_NO_SHAPE)
        (void)bn_case_reject(c, "grid.stretch", "leave out grid.stretch or the obstacle",
                             "obstacles are for equal spacings");
    return BN_OK;
}

/* Influence functions of obstacles, as if each went through the whole grid. */
static bn_status plan_influence(const flow *s, bn_plan *p)
{
    const uint64_t points = (uint64_t)s->config.nx * s->config.ny, real = flow_real_bytes(s);
    for (int i = 0; i < FLOW_SYSTEMS; i++) {
        const bn_linear_desc *d = &s->systems.desc[i];
        if (s->systems.bits[i] && d->method == BN_LINEAR_SPECTRAL && d->stencil.rectangle)
            BN_TRY(bn_plan_table(p, real * points * bn_capacitance_surface(&d->stencil, NULL, 0), 1));
    }
    return BN_OK;
}

/* A step of direct solves exchanges halos before and behind them, and once or twice in each. Multigrid exchanges halos
 * on each grid that is not agglomerated, and waits for sums and for the grids that are; an iteration of conjugate
 * gradients exchanges once, and waits for its sums. */
static void plan_scaling(const bn_case *c, const flow *s, bn_plan *p)
{
    static const double agglomerated = 1024 * 1024;
    const double points = (double)s->config.nx * s->config.ny;
    bn_plan_scaling scaling = { .rate = 85e9, .along = 1, .exchanges = 1, .bytes = 4, .face = 29e-6, .wait = 40e-6 };
    scaling.launches = s->config.a > 0 ? 10 : 7;
    if (s->systems.direct) {
        scaling.rate = s->config.a > 0 ? 16e9 : 27e9;
        scaling.face = 100e-6; /* of all exchanges together */
        scaling.wait = 0;
    }
    for (int i = 0; i < FLOW_SYSTEMS; i++) {
        if (s->systems.bits[i] && s->systems.desc[i].method == BN_LINEAR_SPECTRAL) {
            const unsigned most = most_devices(s, &s->systems.desc[i]);
            scaling.most = scaling.most == 0 || most < scaling.most ? most : scaling.most;
        }
        if (s->systems.bits[i] && s->systems.desc[i].method == BN_LINEAR_MULTIGRID) {
            scaling.rate = 4.65e9;
            scaling.launches = 50;
            scaling.exchanges = 50.0 / 3 * fmax(1, ceil(log2(points / agglomerated) / 2));
            scaling.wait = 750e-6;
        }
    }
    scaling.unsure = bn_plan_only_counts(p, points) && (bn_case_choice(c, "solver.poisson") == FLOW_AUTO ||
                                                        bn_case_choice(c, "solver.diffusion") == FLOW_AUTO);
    bn_plan_scales(p, &scaling);
}

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    flow *s = state;
    s->config.nx = (uint32_t)bn_case_int_at(c, "grid.nodes", 0);
    s->config.ny = (uint32_t)bn_case_int_at(c, "grid.nodes", 1);
    for (size_t i = 0; i < 2; i++) {
        s->config.size[i] = bn_case_real_at(c, "grid.size", i);
        s->config.h[i] = s->config.size[i] / ((i ? s->config.ny : s->config.nx) - 1);
    }
    BN_TRY(plan_spacings(c, s, p));
    s->config.nu = bn_case_real(c, "fluid.viscosity");
    s->config.a = bn_case_real(c, "fluid.diffusivity");
    s->k.buoyancy = bn_case_real(c, "fluid.buoyancy");
    s->config.buoyant = s->k.buoyancy != 0;
    if (s->config.buoyant && s->config.a == 0)
        (void)bn_case_reject(c, "fluid.buoyancy", "give fluid.diffusivity",
                             "without fluid.diffusivity there is no temperature that could drive the flow");
    s->config.start = (flow_start)bn_case_choice(c, "initial.kind");
    s->config.strength = bn_case_real(c, "initial.strength");
    s->config.start_temperature = bn_case_real(c, "initial.temperature");
    s->config.heat_mode = (flow_heat_mode)bn_case_choice(c, "initial.heat");
    s->config.heat_amplitude = bn_case_real(c, "initial.heat_amplitude");
    s->config.convection = (flow_convection)bn_case_choice(c, "solver.convection");
    s->config.woods = bn_case_choice(c, "solver.wall_vorticity") == FLOW_WOODS;
    s->config.steady = bn_case_real(c, "solver.steady_tolerance");
    s->newton.on = bn_case_choice(c, "solver.steady") == FLOW_NEWTON;
    s->systems.launches = bn_case_choice(c, "solver.launches");
    s->config.cg_tolerance = bn_case_real(c, "solver.cg_tolerance");
    s->config.cg_forcing = bn_case_real(c, "solver.cg_forcing");
    s->config.roundoff = bn_case_double(c) ? 0x1p-53 : 0x1p-24;
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        s->systems.target[i].iterations = (unsigned)bn_case_int(c, "solver.cg_iterations");
    s->config.length = fmin(s->config.size[0], s->config.size[1]);
    BN_TRY(flow_read_sides(c, p, s));
    if (bn_case_diagnostics(c)[0])
        return BN_OK; /* what follows relies on sides that make sense */
    BN_TRY(flow_plan_border(p, s));
    BN_TRY(flow_read_mask(c, p, s));
    s->config.temperature_drop = prescribed_drop(s);
    s->config.temperature_scale = s->config.temperature_drop > 0 ? s->config.temperature_drop : 1;
    choose_step(c, s);
    set_constants(s);
    flow_set_tolerance(s, s->config.cg_tolerance);
    BN_TRY(flow_plan_moving(p, s));
    BN_TRY(flow_plan_systems(c, p, s));
    if (s->newton.on)
        BN_TRY(flow_newton_plan(c, s, p));
    s->systems.direct = true;
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (s->systems.bits[i] && s->systems.desc[i].method != BN_LINEAR_SPECTRAL)
            s->systems.direct = false;
    BN_TRY(bn_plan_grid(p, &(bn_grid){ .dims = 2,
                                       .n = { s->config.nx, s->config.ny, 1 },
                                       .h = { s->config.h[0], s->config.h[1], 1 },
                                       .place = { s->config.place[0], s->config.place[1] },
                                       .nodes = true }));
    BN_TRY(plan_fields(s, p));
    BN_TRY(plan_coarser(s, p));
    BN_TRY(plan_influence(s, p));
    BN_TRY(plan_defines(s, p));
    if (!bn_plan_only_counts(p, (double)s->config.nx * s->config.ny))
        BN_TRY(plan_needs(s, p));
    plan_scaling(c, s, p);
    BN_TRY(flow_plan_results(s, p));
    BN_TRY(plan_series(s, p));
    BN_TRY(plan_pictures(s, p));
    return plan_notes(s, p);
}

static bn_status init(bn_sim *sim, void *state)
{
    flow *s = state;
    (void)sim;
    for (int i = FLOW_PSI + 1; i < FLOW_SYSTEMS; i++) { /* they share all but their bits */
        bn_field *bits = s->systems.work[i].bits;
        s->systems.work[i] = s->systems.work[FLOW_PSI];
        s->systems.work[i].bits = bits;
    }
    return flow_fill(s);
}

const bn_solver bn_solver_flow = {
    .name = "flow",
    .summary = "2-D flow and heat by stream function, vorticity and temperature",
    .schema = schema,
    .program = "transform+columns+flow+flow_newton+flow_step",
    .apart = "flow_step",
    .kernels = kernels,
    .state_size = sizeof(flow),
    .device = &flow_engine,
    .reference = { &bn_flow_reference_single, &bn_flow_reference_double },
    .plan = plan,
    .init = init,
    .measure = flow_measure,
    .serialize = flow_serialize,
};
