/* flow.c: stream function and vorticity of a plane incompressible flow on a rectangle (docs/flow.md): the case's keys,
 * the plan, the table. */
#include "flow.h"

#include <math.h>

/* A key is read in one piece. */
/* clang-format off */
/* The defaults describe a lid-driven cavity, so that the starter case shows something. */
#define SIDE(side_, at, along, speed_)                                                                             \
    { .name = "boundary." side_ ".kind", .type = BN_KEY_CHOICE, .choices = "wall|slip|inflow|outflow",             \
      .def_text = "wall", .help = "what the " at " side is; outflow on one side at most" },                        \
    { .name = "boundary." side_ ".speed", .type = BN_KEY_REAL, .unit = "m s-1", .def = speed_, .min = -1e6,        \
      .max = 1e6, .help = "of a wall: tangential speed along +" along "; of an inflow: mean speed into the domain" }, \
    { .name = "boundary." side_ ".profile", .type = BN_KEY_CHOICE, .choices = "parabolic|uniform",                 \
      .def_text = "parabolic", .help = "of an inflow" }

static const bn_key schema[] = {
    { .name = "grid.nodes", .type = BN_KEY_INT, .count = 2, .def = 129, .min = 3, .max = 32768,
      .help = "nodes along x and y, border included" },
    { .name = "grid.size", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 1, .max = 1e6, .above = true,
      .help = "width and height of the rectangle" },
    { .name = "fluid.viscosity", .type = BN_KEY_REAL, .unit = "m2 s-1", .def = 0.01, .max = 1e6, .above = true,
      .help = "kinematic viscosity" },
    SIDE("left", "left", "y", 0),
    SIDE("right", "right", "y", 0),
    SIDE("bottom", "bottom", "x", 0),
    SIDE("top", "top", "x", 1),
    { .name = "initial.kind", .type = BN_KEY_CHOICE, .choices = "rest|vortex|developed", .def_text = "rest",
      .help = "at rest; one vortex that fills the box; the left side's inflow profile everywhere" },
    { .name = "initial.strength", .type = BN_KEY_REAL, .unit = "m2 s-1", .def = 1, .max = 1e6, .above = true,
      .help = "stream function in the middle of the vortex" },
    { .name = "time.dt", .type = BN_KEY_REAL, .unit = "s", .def = 0, .min = 0, .max = 1e9,
      .help = "time step; 0: nine tenths of the stability limit, at most the time to cross a cell" },
    { .name = "solver.convection", .type = BN_KEY_CHOICE, .choices = "central|upwind", .def_text = "central",
      .help = "difference for the convective term: second or first order" },
    { .name = "solver.wall_vorticity", .type = BN_KEY_CHOICE, .choices = "thom|woods", .def_text = "thom",
      .help = "formula for the vorticity at walls" },
    { .name = "solver.wall_relaxation", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 1,
      .help = "share of the formula's change that the wall vorticity takes per step; 0: as much as is stable" },
    { .name = "solver.cg_tolerance", .type = BN_KEY_REAL, .def = 1e-8, .min = 1e-15, .max = 0.1,
      .help = "true residual of the linear solves, relative to the right-hand side; the tightest that is asked for" },
    { .name = "solver.cg_forcing", .type = BN_KEY_REAL, .def = 0.1, .min = 0, .max = 1,
      .help = "residual that is enough, as a share of a step's relative change of vorticity; 0: always cg_tolerance" },
    { .name = "solver.cg_iterations", .type = BN_KEY_INT, .def = 20000, .min = 1, .max = 10000000,
      .help = "iterations of one linear solve at most" },
    { .name = "solver.steady_tolerance", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 1,
      .help = "ends when the vorticity changes by less than this share of itself per length / speed; 0: runs on" },
    { 0 },
};
/* clang-format on */

static const bn_kernel_desc kernels[] = {
    { "flow_advance", BN_PER_CELL, { .reads = 4, .writes = 2, .flops = 14 } },
    { "flow_source", BN_PER_CELL, { .reads = 3, .writes = 1, .flops = 5 } },
    { "flow_walls", BN_PER_SEGMENT, { .reads = 6, .writes = 3, .flops = 10 } },
    { "flow_total", BN_ONCE, { 0, 0, 0 } },
    { 0 },
};

/* Levels of psi that are usual for the cavity (Ghia, Ghia, Shin 1982, table III), in units of speed * length. */
static const double cavity_levels[] = { -0.1175, -0.115, -0.11,  -0.1,  -0.09, -0.07,  -0.05, -0.03,
                                        -0.01,   -1e-4,  -1e-5,  -1e-7, 1e-8,  1e-7,   1e-6,  1e-5,
                                        5e-5,    1e-4,   2.5e-4, 5e-4,  1e-3,  1.5e-3, 3e-3 };

static void read_sides(const bn_case *c, flow *s)
{
    static const char *const keys[FLOW_SIDES][3] = {
        { "boundary.left.kind", "boundary.left.speed", "boundary.left.profile" },
        { "boundary.right.kind", "boundary.right.speed", "boundary.right.profile" },
        { "boundary.bottom.kind", "boundary.bottom.speed", "boundary.bottom.profile" },
        { "boundary.top.kind", "boundary.top.speed", "boundary.top.profile" },
    };
    int outflows = 0;
    s->speed = 0;
    for (int i = 0; i < FLOW_SIDES; i++) {
        flow_side *side = &s->side[i];
        *side = (flow_side){ (flow_kind)bn_case_choice(c, keys[i][0]), (flow_profile)bn_case_choice(c, keys[i][2]),
                             bn_case_real(c, keys[i][1]) };
        outflows += side->kind == FLOW_OUTFLOW;
        if (outflows == 2 && side->kind == FLOW_OUTFLOW)
            (void)bn_case_reject(c, keys[i][0], "give the speed of one of them as an inflow with a negative speed",
                                 "a second outflow: how the flow divides between two is not known");
        const bool has_speed = side->kind == FLOW_WALL || side->kind == FLOW_INFLOW;
        if (!has_speed && side->speed != 0 && bn_case_given(c, keys[i][1]))
            (void)bn_case_reject(c, keys[i][1], NULL, "a side that is %s has no speed",
                                 side->kind == FLOW_SLIP ? "slip" : "outflow");
        if (!has_speed)
            side->speed = 0;
        double peak = fabs(side->speed) * (side->kind == FLOW_INFLOW && side->profile == FLOW_PARABOLIC ? 1.5 : 1);
        if (peak > s->speed)
            s->speed = peak;
    }
    double in = flow_net_inflow(s), scale = s->speed * (s->size[0] + s->size[1]);
    if (outflows == 0 && fabs(in) > 1e-12 * scale)
        for (int i = 0, told = 0; i < FLOW_SIDES && !told; i++)
            if (s->side[i].kind == FLOW_INFLOW) {
                (void)bn_case_reject(c, keys[i][1], "make one side an outflow, or let inflows add up to nothing",
                                     "the inflows do not balance: %g m2/s flow in and nothing flows out", in);
                told = 1;
            }
    if (s->start == FLOW_DEVELOPED && s->side[FLOW_LEFT].kind != FLOW_INFLOW)
        (void)bn_case_reject(c, "initial.kind", "make the left side an inflow",
                             "\"developed\" needs an inflow on the left");
}

/* Relaxation of the wall vorticity beyond which it oscillates and grows: the wall's value enters the implicit diffusion
 * one step late. `spread` is viscosity dt / h^2. Exact for a plane wall without flow, on the safe side elsewhere
 * (docs/flow.md). */
static double wall_limit(double spread, bool woods)
{
    const double g = 0.5 * (sqrt(1 + 2 * spread) - 1);
    return 2 / (woods ? 1 + 3 * g + 0.5 * g / (1 + g) : 1 + 2 * g);
}

/* Time step and what is stable; see docs/flow.md for the derivations. */
static void choose_step(const bn_case *c, flow *s)
{
    const double h = fmin(s->h[0], s->h[1]), pi = 3.14159265358979323846;
    if (s->start == FLOW_VORTEX)
        s->speed = fmax(s->speed, s->strength * pi / fmin(s->size[0], s->size[1]));
    const double limit = s->speed == 0 ? HUGE_VAL
                         : s->upwind   ? h / (sqrt(2) * s->speed)
                                       : 2 * s->nu / (s->speed * s->speed);
    const double cross = s->speed == 0 ? h * h / s->nu : h / s->speed;
    double dt = bn_case_real(c, "time.dt");
    if (dt > limit * (1 + 1e-9))
        (void)bn_case_reject(c, "time.dt", "0 chooses it",
                             "unstable: with %s convection at %g m/s at most %.4g s are possible",
                             s->upwind ? "upwind" : "explicit central", s->speed, limit);
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
}

static void set_constants(flow *s)
{
    flow_constants *k = &s->k;
    const double wall = s->woods ? 3 : 2, sign[FLOW_SIDES] = { 1, -1, -1, 1 };
    k->ix2 = 0.5 / s->h[0];
    k->iy2 = 0.5 / s->h[1];
    k->cx = 1 / (s->h[0] * s->h[0]);
    k->cy = 1 / (s->h[1] * s->h[1]);
    k->nux = k->dt * s->nu * k->cx;
    k->nuy = k->dt * s->nu * k->cy;
    k->wall_x = wall * k->cx;
    k->wall_y = wall * k->cy;
    k->wall_omega = s->woods ? 0.5 : 0;
    k->convect_x = k->dt / s->h[0];
    k->convect_y = k->dt / s->h[1];
    for (int i = 0; i < FLOW_SIDES; i++)
        k->slip[i] = s->side[i].kind == FLOW_WALL ? sign[i] * wall * s->side[i].speed / s->h[i < FLOW_BOTTOM ? 0 : 1]
                                                  : 0;
    const double norm = 4 * (k->cx + k->cy);
    s->target_psi.norm = norm;
    s->target_omega = (bn_cg_target){ .norm = 1 + 4 * (k->nux + k->nuy), .iterations = s->target_psi.iterations };
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
        { "CX", k->cx },
        { "CY", k->cy },
        { "THETA", k->theta },
        { "WALL_X", k->wall_x },
        { "WALL_Y", k->wall_y },
        { "WALL_OMEGA", k->wall_omega },
        { "SLIP_LEFT", k->slip[FLOW_LEFT] },
        { "SLIP_RIGHT", k->slip[FLOW_RIGHT] },
        { "SLIP_BOTTOM", k->slip[FLOW_BOTTOM] },
        { "SLIP_TOP", k->slip[FLOW_TOP] },
        { "CONVECT_X", k->convect_x },
        { "CONVECT_Y", k->convect_y },
    };
    const struct {
        const char *name;
        int value;
    } integers[] = {
        { "UPWIND", s->upwind },         { "NODE_OMEGA", FLOW_NODE_OMEGA },
        { "NODE_PSI", FLOW_NODE_PSI },   { "NODE_HALF", FLOW_NODE_HALF },
        { "NODE_WALL", FLOW_NODE_WALL }, { "NODE_FREE", FLOW_NODE_FREE },
        { "NODE_OUT", FLOW_NODE_OUT },   { "NODE_SIDE", FLOW_NODE_SIDE },
        { "PSI_FIXED", FLOW_PSI_FIXED }, { "OMEGA_FIXED", FLOW_OMEGA_FIXED },
    };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        BN_TRY(bn_plan_define(p, reals[i].name, reals[i].value));
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        BN_TRY(bn_plan_define_int(p, integers[i].name, integers[i].value));
    return BN_OK;
}

static bn_status plan_fields(bn_plan *p)
{
    static const bn_field_desc fields[] = {
        { "psi", "m2 s-1", BN_T_REAL, 1, BN_STATE | BN_OUTPUT | BN_COMPARE },
        { "omega", "s-1", BN_T_REAL, 1, BN_STATE | BN_OUTPUT | BN_COMPARE },
        { "velocity", "m s-1", BN_T_REAL, 2, BN_STATE | BN_OUTPUT | BN_COMPARE },
        { "psi_before", "m2 s-1", BN_T_REAL, 1, BN_STATE },
        { "node", "", BN_T_I32, 1, 0 },
        { "A_psi", "m-2", BN_T_REAL, 5, 0 },
        { "A_omega", "", BN_T_REAL, 5, 0 },
        { "omega_next", "s-1", BN_T_REAL, 1, 0 },
        { "rhs", "", BN_T_REAL, 1, 0 },
        { "cg_r", "", BN_T_REAL, 1, 0 },
        { "cg_p", "", BN_T_REAL, 1, 0 },
        { "cg_p_next", "", BN_T_REAL, 1, 0 },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        BN_TRY(bn_plan_field(p, &fields[i]));
    return BN_OK;
}

static bn_status plan_results(const flow *s, bn_plan *p)
{
    static const struct {
        const char *name, *unit, *help;
    } results[] = {
        { "psi_min", "m2 s-1", "smallest stream function, between nodes by a quadratic" },
        { "psi_min_x", "m", "its place" },
        { "psi_min_y", "m", "its place" },
        { "psi_max", "m2 s-1", "largest stream function at a node" },
        { "omega_at_psi_min", "s-1", "vorticity there" },
        { "u_min", "m s-1", "smallest u on the vertical centre line" },
        { "u_min_y", "m", "its place" },
        { "u_max", "m s-1", "largest u on the vertical centre line" },
        { "u_max_y", "m", "its place" },
        { "v_min", "m s-1", "smallest v on the horizontal centre line" },
        { "v_min_x", "m", "its place" },
        { "v_max", "m s-1", "largest v on the horizontal centre line" },
        { "v_max_x", "m", "its place" },
        { "cg_residual", "", "true residual of the last solve for psi, relative to its right-hand side" },
        { "cg_residual_at_rounding", "", "1: that is the rounding of the precision, not the tolerance" },
        { "cg_iterations_total", "", "iterations of all solves" },
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        BN_TRY(bn_plan_result(p, results[i].name, results[i].unit, results[i].help));
    BN_TRY(bn_plan_series(p, "cg_iterations_omega", ""));
    BN_TRY(bn_plan_series(p, "cg_iterations_psi", ""));
    BN_TRY(bn_plan_series(p, "cg_residual_psi", ""));
    BN_TRY(bn_plan_series(p, "speed_max", "m s-1"));
    const bool cavity = s->side[FLOW_TOP].kind == FLOW_WALL && s->side[FLOW_TOP].speed == 1 && s->size[0] == 1 &&
                        s->size[1] == 1;
    const double bound = cavity ? 5 * s->speed / s->length : 0; /* the corners of a lid have no bound */
    bn_picture_desc picture = { .name = "psi",
                                .field = "psi",
                                .title = "Stream function",
                                .map = BN_PICTURE_SEQUENTIAL,
                                .contour_field = "psi",
                                .contour_count = 20 };
    if (cavity) {
        picture.contour_levels = cavity_levels;
        picture.contour_count = sizeof cavity_levels / sizeof *cavity_levels;
    }
    BN_TRY(bn_plan_picture(p, &picture));
    picture.name = "vorticity";
    picture.field = "omega";
    picture.title = "Vorticity and streamlines";
    picture.map = BN_PICTURE_DIVERGING;
    picture.low = -bound;
    picture.high = bound;
    return bn_plan_picture(p, &picture);
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
    s->start = (flow_start)bn_case_choice(c, "initial.kind");
    s->strength = bn_case_real(c, "initial.strength");
    s->upwind = bn_case_choice(c, "solver.convection") == 1;
    s->woods = bn_case_choice(c, "solver.wall_vorticity") == 1;
    s->steady = bn_case_real(c, "solver.steady_tolerance");
    s->cg_tolerance = s->target_psi.tolerance = bn_case_real(c, "solver.cg_tolerance");
    s->cg_forcing = bn_case_real(c, "solver.cg_forcing");
    s->target_psi.iterations = (unsigned)bn_case_int(c, "solver.cg_iterations");
    s->length = fmin(s->size[0], s->size[1]);
    read_sides(c, s);
    choose_step(c, s);
    set_constants(s);
    s->reference_time = s->speed > 0 ? s->length / s->speed : s->length * s->length / s->nu;
    s->roundoff = bn_case_double(c) ? 0x1p-53 : 0x1p-24;
    flow_set_tolerance(s, s->cg_tolerance);
    BN_TRY(bn_plan_grid(
        p, &(bn_grid){ .dims = 2, .n = { s->nx, s->ny, 1 }, .h = { s->h[0], s->h[1], 1 }, .nodes = true }));
    BN_TRY(plan_fields(p));
    BN_TRY(plan_defines(s, p));
    BN_TRY(plan_results(s, p));
    BN_TRY(bn_plan_note(p, "Reynolds number", s->speed * s->length / s->nu, ""));
    BN_TRY(bn_plan_note(p, "cell Reynolds number", s->speed * fmax(s->h[0], s->h[1]) / s->nu, ""));
    BN_TRY(bn_plan_note(p, "time step", s->k.dt, "s"));
    if (isfinite(s->dt_limit))
        BN_TRY(bn_plan_note(p, "largest stable time step", s->dt_limit, "s"));
    BN_TRY(bn_plan_note(p, "viscosity dt / h^2", fmax(s->k.nux, s->k.nuy), ""));
    BN_TRY(bn_plan_note(p, "wall relaxation", s->k.theta, ""));
    if (s->steady > 0)
        bn_plan_wants_convergence(p, s->steady);
    /* A guess for the estimate: a warm start needs about an iteration of CG per eight nodes across. */
    bn_plan_effort(p, (double)bn_case_int(c, "stop.steps"), 3 + 2 * (4 + 0.125 * (s->nx > s->ny ? s->nx : s->ny)));
    return BN_OK;
}

static bn_status init(bn_sim *sim, void *state)
{
    flow *s = state;
    s->psi = bn_sim_field(sim, "psi");
    s->before = bn_sim_field(sim, "psi_before");
    s->omega = bn_sim_field(sim, "omega");
    s->velocity = bn_sim_field(sim, "velocity");
    s->node = bn_sim_field(sim, "node");
    s->A_psi = bn_sim_field(sim, "A_psi");
    s->A_omega = bn_sim_field(sim, "A_omega");
    s->next = bn_sim_field(sim, "omega_next");
    s->rhs = bn_sim_field(sim, "rhs");
    s->r = bn_sim_field(sim, "cg_r");
    s->p = bn_sim_field(sim, "cg_p");
    s->p_next = bn_sim_field(sim, "cg_p_next");
    return flow_fill(sim, s);
}

const bn_solver bn_solver_flow = {
    .name = "flow",
    .summary = "2-D flow by stream function and vorticity",
    .schema = schema,
    .kernels = kernels,
    .state_size = sizeof(flow),
    .device = &flow_device,
    .reference = { &bn_flow_reference_single, &bn_flow_reference_double },
    .plan = plan,
    .init = init,
    .measure = flow_measure,
};
