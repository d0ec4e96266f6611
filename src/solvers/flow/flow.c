/* flow.c: stream function, vorticity and temperature of a plane incompressible flow on a rectangle (docs/flow.md): the
 * case's keys, the plan, the table. */
#include "flow.h"

#include "numerics/multigrid.h"
#include "numerics/multigrid_plan.h"

#include <math.h>

#define PRODUCTS                                                                                                     \
    "products of conjugate gradients in separate kernels repeat a published study; binnacle bench --suite seed-004 " \
    "runs them"

/* A key is read in one piece. */
/* clang-format off */
/* The defaults describe a lid-driven cavity, so that the starter case shows something. */
#define BORDER(at, list_)                                                                                          \
    { .name = at ".kind", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_KINDS), .def_text = "wall",        \
      .list = list_, .help = "what the border is here; outflow in one place at most" },                            \
    { .name = at ".profile", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_PROFILES), .def_text = "parabolic",       \
      .list = list_, .only = at ".kind=inflow", .help = "of an inflow" },                                          \
    { .name = at ".heat", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_HEATS), .def_text = "insulated",            \
      .list = list_, .only = at ".kind=wall|slip",                                                                 \
      .help = "of a wall or slip; an inflow has its temperature, an outflow takes what arrives" },                 \
    { .name = at ".temperature", .type = BN_KEY_REAL, .unit = "K", .min = -1e6, .max = 1e6, .list = list_,         \
      .only = at ".kind=inflow or " at ".heat=given", .help = "of an inflow, and where heat is given" }
#define SPEED(at, along, def_, list_)                                                                              \
    { .name = at ".speed", .type = BN_KEY_REAL, .unit = "m s-1", .def = def_, .min = -1e6, .max = 1e6,             \
      .list = list_, .only = at ".kind=wall|inflow",                                                               \
      .help = "of a wall: tangential speed along +" along "; of an inflow: mean speed into the domain" }

static const bn_key schema[] = {
    { .name = "grid.nodes", .type = BN_KEY_INT, .count = 2, .def = 129, .min = 3, .max = 32768,
      .help = "nodes along x and y, border included" },
    { .name = "grid.size", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 1, .max = 1e6, .above = true,
      .help = "width and height of the rectangle" },
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
    { .name = "boundary.segment.side", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_SIDE_NAMES), .def_text = "left",
      .list = true, .help = "the side that the segment belongs to; elsewhere the side is what its own table says" },
    { .name = "boundary.segment.from", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1e6, .list = true,
      .help = "begin along +x or +y" },
    { .name = "boundary.segment.to", .type = BN_KEY_REAL, .unit = "m", .def = 1, .max = 1e6, .above = true,
      .list = true, .help = "end" },
    SPEED("boundary.segment", "x or +y", 0, true),
    BORDER("boundary.segment", true),
    { .name = "obstacle.mask", .type = BN_KEY_TEXT, .def_text = "",
      .help = "PNG picture of the rectangle, dark pixels solid; a path, relative to the case file; empty: no obstacle" },
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
      .help = "time step; 0: nine tenths of the stability limit, at most the time to cross a cell" },
    { .name = "solver.convection", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_CONVECTIONS), .def_text = "central",
      .help = "difference for the convective term: second or first order" },
    { .name = "solver.wall_vorticity", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_WALL_VORTICITIES), .def_text = "thom",
      .help = "formula for the vorticity at walls" },
    { .name = "solver.wall_relaxation", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 1,
      .help = "share of the formula's change that the wall vorticity takes per step; 0: as much as is stable" },
    { .name = "solver.poisson", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_POISSON_METHODS), .def_text = "auto",
      .help = "how psi is solved for: direct by transforms (rectangles), or conjugate gradients, plain or with multigrid" },
    { .name = "solver.diffusion", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOW_DIFFUSION_METHODS), .def_text = "auto",
      .help = "the same for vorticity and temperature" },
    { .name = "solver.spmv", .gone = PRODUCTS },
    { .name = "solver.dot", .gone = PRODUCTS },
    { .name = "solver.cg_tolerance", .type = BN_KEY_REAL, .def = 1e-8, .min = 1e-15, .max = 0.1,
      .help = "true residual of the linear solves, relative to the right-hand side: the tightest, unless cg_forcing and "
              "steady_tolerance need less" },
    { .name = "solver.cg_forcing", .type = BN_KEY_REAL, .def = 0.1, .min = 0, .max = 1,
      .help = "residual that is enough, as a share of what a step changes (docs/flow.md); 0: always cg_tolerance" },
    { .name = "solver.cg_iterations", .type = BN_KEY_INT, .def = 20000, .min = 1, .max = 10000000,
      .help = "iterations of one linear solve at most" },
    { .name = "solver.steady_tolerance", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 1,
      .help = "ends when what the steady equations leave over would change the vorticity (and the temperature) by less than "
              "this share per length / speed; 0: runs on" },
    { 0 },
};
/* clang-format on */

static const bn_kernel_desc kernels[] = {
    { "flow_heat", BN_PER_CELL, { .reads = 4.25, .writes = 2, .flops = 24 } },
    { "flow_advance", BN_PER_CELL, { .reads = 4.25, .writes = 2, .flops = 14 } },
    { "flow_source", BN_PER_CELL, { .reads = 4.25, .writes = 2, .flops = 7 } },
    { "flow_walls", BN_PER_BLOCK, { .reads = 6, .writes = 3, .flops = 32 } },
    { "flow_total", BN_ONCE, { 0, 0, 0 } },
    { "flow_bodies", BN_PER_BLOCK, { .reads = 3, .writes = 0, .flops = 0 } },
    { "flow_respond", BN_ONCE, { 0, 0, 0 } },
    { "flow_lift", BN_PER_CELL, { .reads = 2, .writes = 1, .flops = 2 } },
    { 0 },
};

/* Levels of psi that are usual for the cavity (Ghia, Ghia, Shin 1982, table III), in units of speed * length. */
static const double cavity_levels[] = { -0.1175, -0.115, -0.11,  -0.1,  -0.09, -0.07,  -0.05, -0.03,
                                        -0.01,   -1e-4,  -1e-5,  -1e-7, 1e-8,  1e-7,   1e-6,  1e-5,
                                        5e-5,    1e-4,   2.5e-4, 5e-4,  1e-3,  1.5e-3, 3e-3 };

/* Relaxation of the wall vorticity beyond which it oscillates and grows: the wall's value enters the implicit diffusion
 * one step late. `spread` is viscosity dt / h^2. Exact for a plane wall without flow, on the safe side elsewhere
 * (docs/flow.md). */
static double wall_limit(double spread, bool woods)
{
    const double g = 0.5 * (sqrt(1 + 2 * spread) - 1);
    return 2 / (woods ? 1 + 3 * g + 0.5 * g / (1 + g) : 1 + 2 * g);
}

/* The largest difference of temperature that the case prescribes. */
static double prescribed_drop(const flow *s)
{
    double low = s->start_temperature, high = low;
    for (int i = 0; i < s->pieces; i++)
        if (s->piece[i].kind == FLOW_INFLOW || s->piece[i].heat == FLOW_GIVEN) {
            low = fmin(low, s->piece[i].temperature);
            high = fmax(high, s->piece[i].temperature);
        }
    if (s->solid && s->body_heat == FLOW_GIVEN) {
        low = fmin(low, s->body_temperature);
        high = fmax(high, s->body_temperature);
    }
    if (s->heat_mode != FLOW_EVEN)
        high += fabs(s->heat_amplitude);
    return high - low;
}

/* The largest speed to be expected: at the border and at the start, faster beside an obstacle, and what buoyancy makes
 * of the largest difference of temperature (0.3 of free fall through the height: docs/flow.md). */
static double expected_speed(const flow *s)
{
    double speed = s->speed;
    if (s->solid)
        speed *= 1.4 / fmax(1 - s->body_share, 0.2);
    return s->buoyant ? fmax(speed, 0.3 * sqrt(fabs(s->k.buoyancy) * s->temperature_scale * s->size[1])) : speed;
}

/* Time step and what is stable; see docs/flow.md for the derivations. */
static void choose_step(const bn_case *c, flow *s)
{
    const double h = fmin(s->h[0], s->h[1]), pi = 3.14159265358979323846;
    if (s->start == FLOW_VORTEX)
        s->speed = fmax(s->speed, s->strength * pi / fmin(s->size[0], s->size[1]));
    const double speed = expected_speed(s), least = s->a > 0 ? fmin(s->nu, s->a) : s->nu;
    const double limit = speed == 0 ? HUGE_VAL : s->upwind ? h / (sqrt(2) * speed) : 2 * least / (speed * speed);
    const double cross = speed == 0 ? h * h / fmax(s->nu, s->a) : h / speed;
    double dt = bn_case_real(c, "time.dt");
    if (dt > limit * (1 + 1e-9))
        (void)bn_case_reject(c, "time.dt", "0 chooses it",
                             "unstable: with %s convection at %g m/s at most %.4g s are possible",
                             s->upwind ? "upwind" : "explicit central", speed, limit);
    if (dt == 0)
        dt = fmin(0.9 * limit, cross);
    const double spread = s->nu * dt / (h * h), most = wall_limit(spread, s->woods);
    double theta = bn_case_real(c, "solver.wall_relaxation");
    if (theta >= most)
        (void)bn_case_reject(c, "solver.wall_relaxation", "0 chooses it",
                             "unstable: with viscosity dt / h^2 = %.3g it must be below %.3g", spread, most);
    if (theta == 0)
        theta = fmin(1, 0.6 * most);
    s->dt_limit = limit;
    s->k.dt = dt;
    s->k.theta = theta;
    s->reference_time = speed > 0 ? s->length / speed : s->length * s->length / fmax(s->nu, s->a);
}

static void set_constants(flow *s)
{
    flow_constants *k = &s->k;
    const double wall = s->woods ? 3 : 2;
    k->ix2 = 0.5 / s->h[0];
    k->iy2 = 0.5 / s->h[1];
    k->cx = 1 / (s->h[0] * s->h[0]);
    k->cy = 1 / (s->h[1] * s->h[1]);
    k->nux = k->dt * s->nu * k->cx;
    k->nuy = k->dt * s->nu * k->cy;
    k->ax = k->dt * s->a * k->cx;
    k->ay = k->dt * s->a * k->cy;
    k->wall_x = wall * k->cx;
    k->wall_y = wall * k->cy;
    k->wall_omega = s->woods ? 0.5 : 0;
    k->slip_x = wall / s->h[0];
    k->slip_y = wall / s->h[1];
    k->convect_x = k->dt / s->h[0];
    k->convect_y = k->dt / s->h[1];
    k->body_x = s->h[1] / s->h[0];
    k->body_y = s->h[0] / s->h[1];
    k->body_psi_x = k->body_x * 2 * k->cx;
    k->body_psi_y = k->body_y * 2 * k->cy;
    k->body_heat = k->buoyancy * s->h[1] / s->nu / (s->woods ? 1.5 : 1);
}

static bn_status plan_defines(const flow *s, bn_plan *p)
{
    const flow_constants *k = &s->k;
    const struct {
        const char *name;
        double value;
    } reals[] = {
        { "DT", k->dt },
        { "IX2", k->ix2 },
        { "IY2", k->iy2 },
        { "NUX", k->nux },
        { "NUY", k->nuy },
        { "AX", k->ax },
        { "AY", k->ay },
        { "CX", k->cx },
        { "CY", k->cy },
        { "THETA", k->theta },
        { "WALL_X", k->wall_x },
        { "WALL_Y", k->wall_y },
        { "WALL_OMEGA", k->wall_omega },
        { "SLIP_X", k->slip_x },
        { "SLIP_Y", k->slip_y },
        { "CONVECT_X", k->convect_x },
        { "CONVECT_Y", k->convect_y },
        { "BUOYANCY", k->buoyancy },
        { "BODY_X", k->body_x },
        { "BODY_Y", k->body_y },
        { "BODY_PSI_X", k->body_psi_x },
        { "BODY_PSI_Y", k->body_psi_y },
        { "BODY_HEAT", k->body_heat },
    };
    const struct {
        const char *name;
        int value;
    } integers[] = {
        { "UPWIND", s->upwind },           { "HEAT", s->a > 0 },
        { "BODIES", s->bodies },           { "NODE_OMEGA", FLOW_NODE_OMEGA },
        { "NODE_PSI", FLOW_NODE_PSI },     { "NODE_WALL", FLOW_NODE_WALL },
        { "NODE_FREE", FLOW_NODE_FREE },   { "NODE_OUT", FLOW_NODE_OUT },
        { "NODE_BODY", FLOW_NODE_BODY },   { "NODE_SIDE", FLOW_NODE_SIDE },
        { "PSI_FIXED", FLOW_PSI_FIXED },   { "OMEGA_FIXED", FLOW_OMEGA_FIXED },
        { "HEAT_FIXED", FLOW_HEAT_FIXED }, { "BODY_NUMBER", FLOW_BODY_NUMBER },
    };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        BN_TRY(bn_plan_define(p, reals[i].name, reals[i].value));
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        BN_TRY(bn_plan_define_int(p, integers[i].name, integers[i].value));
    return BN_OK;
}

static bn_status plan_fields(const flow *s, bn_plan *p)
{
    const bool multigrid = s->system[FLOW_PSI].method == BN_LINEAR_MULTIGRID;
    const bool heat = s->a > 0, solid = s->solid || s->bodies > 0;
    const unsigned state = BN_STATE | BN_OUTPUT | BN_COMPARE;
    const struct {
        bool wanted;
        bn_field_desc desc;
    } fields[] = {
        { true, { "psi", "m2 s-1", BN_T_REAL, 1, state } },
        { true, { "omega", "s-1", BN_T_REAL, 1, state } },
        { true, { "velocity", "m s-1", BN_T_REAL, 2, state } },
        { heat, { "temperature", "K", BN_T_REAL, 1, state } },
        { true, { "psi_before", "m2 s-1", BN_T_REAL, 1, BN_STATE } },
        { true, { "node", "", BN_T_I32, 1, 0 } },
        { true, { "bits_psi", "", BN_T_U8, 1, 0 } },
        { true, { "bits_omega", "", BN_T_U8, 1, 0 } },
        { heat, { "bits_heat", "", BN_T_U8, 1, 0 } },
        { true, { "omega_next", "s-1", BN_T_REAL, 1, 0 } },
        { heat, { "temperature_next", "K", BN_T_REAL, 1, 0 } },
        { true, { "rhs", "", BN_T_REAL, 1, 0 } },
        { true, { "cg_r", "", BN_T_REAL, 1, 0 } },
        { true, { "cg_p", "", BN_T_REAL, 1, 0 } },
        { true, { "cg_q", "", BN_T_REAL, 1, 0 } },
        { multigrid, { "cg_z", "", BN_T_REAL, 1, 0 } },
        { solid && s->bodies > 0, { "lift", "", BN_T_REAL, s->bodies, 0 } },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].wanted)
            BN_TRY(bn_plan_field(p, &fields[i].desc));
    if (multigrid) {
        bn_plan_align(p, 256); /* its grids are in the same boxes then, down to those that one device has sooner done */
        bn_plan_ghost_cells(p, BN_MULTIGRID_GHOST_CELLS);
    }
    const char *const skipped[] = { heat ? NULL : "flow_heat", s->bodies > 0 ? NULL : "flow_bodies",
                                    s->bodies > 0 ? NULL : "flow_respond", s->bodies > 0 ? NULL : "flow_lift" };
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        if (skipped[i])
            BN_TRY(bn_plan_skip_kernel(p, skipped[i]));
    return BN_OK;
}

static bn_status plan_series(const flow *s, bn_plan *p)
{
    BN_TRY(bn_plan_series(p, "cg_iterations_omega", ""));
    BN_TRY(bn_plan_series(p, "cg_iterations_psi", ""));
    BN_TRY(bn_plan_series(p, "cg_residual_psi", ""));
    BN_TRY(bn_plan_series(p, "speed_max", "m s-1"));
    if (s->a > 0)
        BN_TRY(bn_plan_series(p, "cg_iterations_heat", ""));
    return s->bodies > 0 ? bn_plan_series(p, "psi_body", "m2 s-1") : BN_OK;
}

static bn_status plan_pictures(const flow *s, bn_plan *p)
{
    const bool cavity = s->piece[FLOW_TOP].kind == FLOW_WALL && s->piece[FLOW_TOP].speed == 1 && s->size[0] == 1 &&
                        s->size[1] == 1;
    bn_picture_desc picture = { .name = "psi",
                                .field = "psi",
                                .title = "Stream function",
                                .quantity = "stream function ψ",
                                .map = BN_PICTURE_SEQUENTIAL,
                                .contour_field = "psi",
                                .contour_quantity = "stream function ψ",
                                .contour_count = 20,
                                .hidden = s->solid };
    if (cavity) {
        picture.contour_levels = cavity_levels;
        picture.contour_count = sizeof cavity_levels / sizeof *cavity_levels;
    }
    BN_TRY(bn_plan_picture(p, &picture));
    if (s->a > 0) {
        picture.name = picture.field = "temperature";
        picture.title = "Temperature and streamlines";
        picture.quantity = "temperature";
        BN_TRY(bn_plan_picture(p, &picture));
    }
    /* The corners of a lid and the edges of a body have no bound. */
    const double bound = cavity ? 5 * s->speed / s->length : s->body_across > 0 ? 4 * s->speed / s->body_across : 0;
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
    if (s->speed > 0) {
        BN_TRY(bn_plan_note(p, "Reynolds number", s->speed * s->length / s->nu, ""));
        BN_TRY(bn_plan_note(p, "cell Reynolds number", s->speed * fmax(s->h[0], s->h[1]) / s->nu, ""));
        if (s->body_across > 0)
            BN_TRY(bn_plan_note(p, "Reynolds number of the largest obstacle", s->speed * s->body_across / s->nu, ""));
    }
    if (s->a > 0)
        BN_TRY(bn_plan_note(p, "Prandtl number", s->nu / s->a, ""));
    if (s->buoyant && s->temperature_drop > 0)
        BN_TRY(bn_plan_note(p, "Rayleigh number",
                            fabs(s->k.buoyancy) * s->temperature_drop * pow(s->size[1], 3) / (s->nu * s->a), ""));
    BN_TRY(bn_plan_note(p, "time step", s->k.dt, "s"));
    if (isfinite(s->dt_limit))
        BN_TRY(bn_plan_note(p, "largest stable time step", s->dt_limit, "s"));
    BN_TRY(bn_plan_note(p, "viscosity dt / h^2", fmax(s->k.nux, s->k.nuy), ""));
    BN_TRY(bn_plan_note(p, "wall relaxation", s->k.theta, ""));
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (s->bits[i])
            BN_TRY(bn_plan_choice(p, s->system[i].name, methods[s->system[i].method]));
    if (s->steady > 0)
        bn_plan_wants_convergence(
            p, s->steady,
            "the linear solves may be too loose (solver.cg_forcing = 0 with a smaller "
            "solver.cg_tolerance makes them exact), the precision too coarse, or the flow unsteady");
    return BN_OK;
}

/* The coarser grids of multigrid, for the memory that the case is said to need. */
static bn_status plan_coarser(const flow *s, bn_plan *p)
{
    for (int i = 0; i < FLOW_SYSTEMS; i++) {
        bn_grid g = { .dims = 2, .n = { s->nx, s->ny, 1 }, .h = { 1, 1, 1 }, .nodes = true };
        const bool used = s->bits[i] && s->system[i].method == BN_LINEAR_MULTIGRID;
        while (used && bn_grid_next(&g.n[0], &g.n[1]))
            for (int f = 0; f < BN_GRID_FIELDS; f++)
                BN_TRY(bn_plan_more_memory(p, &g, BN_T_REAL, false));
    }
    return BN_OK;
}

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    flow *s = state;
    s->nx = (uint32_t)bn_case_int_at(c, "grid.nodes", 0);
    s->ny = (uint32_t)bn_case_int_at(c, "grid.nodes", 1);
    for (size_t i = 0; i < 2; i++) {
        s->size[i] = bn_case_real_at(c, "grid.size", i);
        s->h[i] = s->size[i] / ((i ? s->ny : s->nx) - 1);
    }
    s->nu = bn_case_real(c, "fluid.viscosity");
    s->a = bn_case_real(c, "fluid.diffusivity");
    s->k.buoyancy = bn_case_real(c, "fluid.buoyancy");
    s->buoyant = s->k.buoyancy != 0;
    if (s->buoyant && s->a == 0)
        (void)bn_case_reject(c, "fluid.buoyancy", "give fluid.diffusivity",
                             "without fluid.diffusivity there is no temperature that could drive the flow");
    s->start = (flow_start)bn_case_choice(c, "initial.kind");
    s->strength = bn_case_real(c, "initial.strength");
    s->start_temperature = bn_case_real(c, "initial.temperature");
    s->heat_mode = (flow_heat_mode)bn_case_choice(c, "initial.heat");
    s->heat_amplitude = bn_case_real(c, "initial.heat_amplitude");
    s->upwind = bn_case_choice(c, "solver.convection") == FLOW_UPWIND;
    s->woods = bn_case_choice(c, "solver.wall_vorticity") == FLOW_WOODS;
    s->steady = bn_case_real(c, "solver.steady_tolerance");
    s->cg_tolerance = bn_case_real(c, "solver.cg_tolerance");
    s->cg_forcing = bn_case_real(c, "solver.cg_forcing");
    s->roundoff = bn_case_double(c) ? 0x1p-53 : 0x1p-24;
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        s->target[i].iterations = (unsigned)bn_case_int(c, "solver.cg_iterations");
    s->length = fmin(s->size[0], s->size[1]);
    BN_TRY(flow_read_sides(c, p, s));
    if (bn_case_diagnostics(c)[0])
        return BN_OK; /* what follows relies on sides that make sense */
    BN_TRY(flow_read_mask(c, p, s));
    s->temperature_drop = prescribed_drop(s);
    s->temperature_scale = s->temperature_drop > 0 ? s->temperature_drop : 1;
    choose_step(c, s);
    set_constants(s);
    flow_set_tolerance(s, s->cg_tolerance);
    BN_TRY(flow_plan_systems(c, p, s));
    BN_TRY(bn_plan_grid(
        p, &(bn_grid){ .dims = 2, .n = { s->nx, s->ny, 1 }, .h = { s->h[0], s->h[1], 1 }, .nodes = true }));
    BN_TRY(plan_fields(s, p));
    BN_TRY(plan_coarser(s, p));
    BN_TRY(plan_defines(s, p));
    BN_TRY(flow_plan_results(s, p));
    BN_TRY(plan_series(s, p));
    BN_TRY(plan_pictures(s, p));
    return plan_notes(s, p);
}

static bn_status init(bn_sim *sim, void *state)
{
    flow *s = state;
    static const char *const bits[FLOW_SYSTEMS] = { "bits_psi", "bits_omega", "bits_heat" };
    s->psi = bn_sim_field(sim, "psi");
    s->before = bn_sim_field(sim, "psi_before");
    s->omega = bn_sim_field(sim, "omega");
    s->velocity = bn_sim_field(sim, "velocity");
    s->node = bn_sim_field(sim, "node");
    s->next = bn_sim_field(sim, "omega_next");
    s->rhs = bn_sim_field(sim, "rhs");
    if (s->a > 0) {
        s->T = bn_sim_field(sim, "temperature");
        s->T_next = bn_sim_field(sim, "temperature_next");
    }
    if (s->bodies > 0)
        s->lift = bn_sim_field(sim, "lift");
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (s->bits[i])
            s->work[i] = (bn_linear_work){
                .bits = bn_sim_field(sim, bits[i]),
                .r = bn_sim_field(sim, "cg_r"),
                .p = bn_sim_field(sim, "cg_p"),
                .q = bn_sim_field(sim, "cg_q"),
                .z = s->system[i].method == BN_LINEAR_MULTIGRID ? bn_sim_field(sim, "cg_z") : NULL,
            };
    return flow_fill(sim, s);
}

const bn_solver bn_solver_flow = {
    .name = "flow",
    .summary = "2-D flow and heat by stream function, vorticity and temperature",
    .schema = schema,
    .kernels = kernels,
    .state_size = sizeof(flow),
    .device = &flow_device,
    .reference = { &bn_flow_reference_single, &bn_flow_reference_double },
    .plan = plan,
    .init = init,
    .measure = flow_measure,
    .serialize = flow_serialize,
};
