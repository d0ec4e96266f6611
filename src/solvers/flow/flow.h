/* flow.h: what the parts of the solver `flow` share: the numbers of a case, the bits of a node, the fields. */
#ifndef BN_FLOW_H
#define BN_FLOW_H

#include "flow_newton.h"
#include "numerics/linear.h"
#include "sim/inputs.h"
#include "sim/solver.h"

/* The choices of the case's keys. */
#define FLOW_SIDE_NAMES(X) X(FLOW_LEFT, "left") X(FLOW_RIGHT, "right") X(FLOW_BOTTOM, "bottom") X(FLOW_TOP, "top")
#define FLOW_KINDS(X)    \
    X(FLOW_WALL, "wall") \
    X(FLOW_SLIP, "slip") X(FLOW_INFLOW, "inflow") X(FLOW_OUTFLOW, "outflow") X(FLOW_VELOCITY, "velocity")
#define FLOW_PROFILES(X) X(FLOW_PARABOLIC, "parabolic") X(FLOW_UNIFORM, "uniform")
#define FLOW_HEATS(X) X(FLOW_INSULATED, "insulated") X(FLOW_GIVEN, "given")
#define FLOW_SHAPES(X) X(FLOW_NO_SHAPE, "none") X(FLOW_ELLIPSE, "ellipse") X(FLOW_RECTANGLE, "rectangle")
#define FLOW_STARTS(X) X(FLOW_REST, "rest") X(FLOW_VORTEX, "vortex") X(FLOW_DEVELOPED, "developed")
#define FLOW_HEAT_MODES(X) X(FLOW_EVEN, "even") X(FLOW_SINE, "sine") X(FLOW_COSINE, "cosine")
#define FLOW_CONVECTIONS(X) X(FLOW_CONSERVATIVE, "conservative") X(FLOW_CENTRAL, "central") X(FLOW_UPWIND, "upwind")
#define FLOW_WALL_VORTICITIES(X) X(FLOW_THOM, "thom") X(FLOW_WOODS, "woods")
#define FLOW_DIFFUSION_METHODS(X) X(FLOW_AUTO, "auto") X(FLOW_CG, "cg") X(FLOW_FFT, "fft")
#define FLOW_POISSON_METHODS(X) FLOW_DIFFUSION_METHODS(X) X(FLOW_MULTIGRID, "multigrid")
#define FLOW_STEADY(X) X(FLOW_MARCH, "march") X(FLOW_NEWTON, "newton")
#define FLOW_NEWTON_SOLVERS(X) X(FLOW_GMRES, "gmres") X(FLOW_DIRECT, "direct")
enum { FLOW_STEADY(BN_CHOICE_ENUM) };
enum { FLOW_NEWTON_SOLVERS(BN_CHOICE_ENUM) };
enum { FLOW_SIDE_NAMES(BN_CHOICE_ENUM) FLOW_SIDES };
typedef enum flow_kind { FLOW_KINDS(BN_CHOICE_ENUM) } flow_kind;
typedef enum flow_profile { FLOW_PROFILES(BN_CHOICE_ENUM) } flow_profile;
typedef enum flow_heat { FLOW_HEATS(BN_CHOICE_ENUM) } flow_heat;
typedef enum flow_shape { FLOW_SHAPES(BN_CHOICE_ENUM) } flow_shape;
typedef enum flow_start { FLOW_STARTS(BN_CHOICE_ENUM) } flow_start;
typedef enum flow_heat_mode { FLOW_HEAT_MODES(BN_CHOICE_ENUM) } flow_heat_mode;
typedef enum flow_convection { FLOW_CONVECTIONS(BN_CHOICE_ENUM) } flow_convection;
typedef enum flow_wall_vorticity { FLOW_WALL_VORTICITIES(BN_CHOICE_ENUM) } flow_wall_vorticity;
typedef enum flow_method { FLOW_POISSON_METHODS(BN_CHOICE_ENUM) } flow_method;

/* The three linear systems of a step. */
typedef enum flow_system { FLOW_PSI, FLOW_OMEGA, FLOW_HEAT, FLOW_SYSTEMS } flow_system;

/* Bits of the field `node`. The four bits from PSI_GIVEN, OMEGA_GIVEN and HEAT_GIVEN on stand for the west, east, south
 * and north neighbour, as the four links do in the bits of a matrix; what has a link to a node of an obstacle
 * (capacitance_plan.h) has it in its row, not in its right-hand side. */
#define FLOW_NODE_CODES(X)                                                                              \
    X(NODE_OMEGA, 1, "vorticity is an unknown")                                                         \
    X(NODE_PSI, 2, "stream function is an unknown")                                                     \
    X(NODE_WALL, 4, "on a wall")                                                                        \
    X(NODE_SLIP, 8, "on a slip side")                                                                   \
    X(NODE_OUTFLOW, 16, "on an outflow")                                                                \
    X(NODE_BODY, 32, "on the surface of an obstacle")                                                   \
    X(NODE_SIDE, 64, "times the side, FLOW_LEFT to FLOW_TOP, of a node on the border")                  \
    X(PSI_GIVEN, 256, "the neighbour's psi is given; of a node on an obstacle: the neighbour is fluid") \
    X(OMEGA_GIVEN, 4096, "the neighbour's vorticity is given")                                          \
    X(HEAT_GIVEN, 65536, "the neighbour's temperature is given")                                        \
    X(BODY_NUMBER, 1048576, "times the number of the body with fluid all around, from 1")
#define FLOW_CODE(name, value, meaning) FLOW_##name = (value),
enum { FLOW_NODE_CODES(FLOW_CODE) };
/* Where Newton's method has an unknown vorticity. */
enum { FLOW_NODE_UNKNOWN = FLOW_NODE_OMEGA | FLOW_NODE_WALL | FLOW_NODE_BODY | FLOW_NODE_OUTFLOW };

/* Largest tolerance of linear solves, however fast the flow changes. */
#define FLOW_LOOSEST 1e-5

enum { FLOW_PIECES = 64, FLOW_BODIES = 8, FLOW_TOTALS = 4 };

/* A piece of a side, or a whole one. from, to [m] along +x or +y. `speed` [m/s]: tangential, along +x or +y, of a wall;
 * mean normal speed into the domain of an inflow. `item`: number of the segment, -1: the side itself. */
typedef struct flow_piece {
    int side, item;
    double from, to;
    flow_kind kind;
    flow_profile profile;
    flow_heat heat;
    double speed, temperature;
    const bn_input *table; /* of a given velocity: rows of place [m], u, v [m/s] */
    double excess;         /* [m/s], added to its speed into the domain: what flows in must flow out */
} flow_piece;

/* Constants of the step. */
#define FLOW_CONSTANTS(X)                                                                       \
    X(dt, "time step [s]")                                                                      \
    X(nu_x, "dt nu / h_x^2")                                                                    \
    X(nu_y, "dt nu / h_y^2")                                                                    \
    X(a_x, "dt a / h_x^2")                                                                      \
    X(a_y, "dt a / h_y^2")                                                                      \
    X(per_2h_x, "1 / (2 h_x)")                                                                  \
    X(per_2h_y, "1 / (2 h_y)")                                                                  \
    X(per_h2_x, "1 / h_x^2")                                                                    \
    X(per_h2_y, "1 / h_y^2")                                                                    \
    X(theta, "relaxation of the wall vorticity")                                                \
    X(wall_x, "2 / h_x^2 (Thom) or 3 / h_x^2 (Woods)")                                          \
    X(wall_y, "the same with h_y")                                                              \
    X(wall_omega, "0 or 1/2")                                                                   \
    X(courant_x, "dt / h_x")                                                                    \
    X(courant_y, "dt / h_y")                                                                    \
    X(buoyancy, "g beta [m s-2 K-1]")                                                           \
    X(body_x, "length of a face of a body over the distance of the nodes across it: h_y / h_x") \
    X(body_y, "h_x / h_y")                                                                      \
    X(body_psi_x, "body_x times 2 / h_x^2")                                                     \
    X(body_psi_y, "body_y times 2 / h_y^2")                                                     \
    X(body_heat, "buoyancy h_y / nu, over 3/2 with Woods")
typedef struct flow_constants {
    FLOW_CONSTANTS(BN_CONSTANT_MEMBER)
} flow_constants;

/* The numbers of a case. */
typedef struct flow_config {
    uint32_t nx, ny;
    double size[2], h[2], least_h[2];         /* [m]; h: mean spacing */
    double stretch[2], *place[2], *widths;    /* of a stretched grid: nodes [m]; bn_stencil.widths; else NULL */
    double nu, a;                             /* viscosity, diffusivity of heat [m2/s]; a == 0: no temperature */
    double speed, length;                     /* scales [m/s], [m] */
    double strength;                          /* of the initial vortex [m2/s] */
    double start_temperature, heat_amplitude; /* [K] */
    double temperature_drop;                  /* largest difference that the case prescribes [K] */
    double temperature_scale;                 /* the same, or 1 K where there is none */
    flow_start start;
    flow_heat_mode heat_mode;
    flow_convection convection;
    bool woods, buoyant;
    double dt_limit;       /* largest stable time step [s], infinite without motion */
    double roundoff;       /* unit roundoff of the case's precision */
    double steady;         /* steady_tolerance; 0: none */
    double reference_time; /* length / speed [s]: makes the residual dimensionless */
    double cg_tolerance, cg_forcing;
} flow_config;

/* Sides and obstacles. */
typedef struct flow_border {
    flow_piece piece[FLOW_PIECES];
    int pieces;
    double *moving; /* [s-1] of FLOW_SIDES times the longer side's nodes: what a given velocity adds to wall formulas */
    double *psi;    /* [m2/s] along the sides, as long as `moving`, relative to the corner at the origin */
    uint8_t *edge[FLOW_SIDES]; /* the piece that each node of a side belongs to */
    bool *solid;               /* nx * ny: the node is inside or on an obstacle; NULL without */
    uint8_t *body;             /* nx * ny: number of the body that is not connected to the border, from 1; numbers above
                                  FLOW_BODIES: of the psi of an obstacle that is */
    int bodies;
    double body_psi[UINT8_MAX + 1]; /* at the start, by that number */
    double body_temperature;
    flow_heat body_heat;
    double body_across; /* [m] of the largest body, across the stream */
    double body_share;  /* the same over the size of the rectangle */
} flow_border;

typedef struct flow_fields {
    bn_field *psi, *before, *omega, *next, *velocity, *node, *rhs, *T, *T_next;
    bn_field *psi_border; /* the psi that its values at the border alone make, where systems are coupled; NULL: 0 */
    bn_field *influence;  /* of each body: the stream function that is 1 on it, 0 on other bodies and on the border */
} flow_fields;

/* The linear systems, FLOW_PSI to FLOW_HEAT. */
typedef struct flow_systems {
    uint8_t *bits[FLOW_SYSTEMS]; /* of the matrix; NULL: there is no such system */
    bn_linear_desc desc[FLOW_SYSTEMS];
    bn_linear_work work[FLOW_SYSTEMS];
    bn_cg_target target[FLOW_SYSTEMS]; /* their tolerance follows the flow, within cg_tolerance and FLOW_LOOSEST */
    bn_cg_report report[FLOW_SYSTEMS]; /* of the last step */
    unsigned long long solves[FLOW_SYSTEMS];
    bn_linear *solver[FLOW_SYSTEMS]; /* on a device */
    double total_iterations;
    bool direct; /* all of them */
    /* psi and omega have the same unknowns, and are solved for together; the border's psi is not zero everywhere. */
    bool coupled, border;
    bn_launches launches; /* solver.launches */
} flow_systems;

/* Arrays of a step in one launch: of psi and omega, then of the temperature. */
enum { STEP_PAIRS, STEP_PLACES, STEP_HEAT_PLACES, STEP_OMEGA, STEP_PSI, STEP_HEAT, STEP_MEETING, FLOW_STEP_TABLES };

typedef struct flow_device {
    bn_kernel *advect_heat, *advect_vorticity, *poisson_source, *wall_vorticity, *velocity, *total_residual;
    bn_kernel *body_pressure, *add_influence;
    bn_partials *sums, *body_sums;
    bn_scalars *totals, *totals_before, *influence_inverse; /* before: of the step before, where there are bodies */
    bn_kernel *step;                                        /* NULL: several launches */
    bn_device_array *step_tables[FLOW_STEP_TABLES];
    bn_device_array *moving;
    bn_device_array *axes; /* of a stretched grid: kernels/lib/stencil.h */
} flow_device;

typedef struct flow {
    flow_config config;
    flow_border border;
    flow_constants k;
    flow_fields fields;
    flow_systems systems;
    /* Sum of squared changes of omega, sum of its squares, largest |u| + |v|, sum of squared changes of T; then psi on
     * the first body, or whether a step in one launch has failed. */
    double totals[FLOW_TOTALS + 1];
    bn_step told;                                        /* what the last report said */
    double psi_body;                                     /* psi on the first body */
    bool behind;                                         /* the device knows psi_body and reports of later steps */
    double steady_residual;                              /* of the last step: docs/flow.md, "When the flow is steady" */
    double influence_inverse[FLOW_BODIES * FLOW_BODIES]; /* inverse of the influence matrix M of docs/flow.md */
    flow_device device;
    flow_newton newton;
    void *reference;
} flow;

/* flow_sides.c: reads the sides, their segments and the obstacles; rejects what contradicts itself. */
BN_CHECKED bn_status flow_read_sides(const bn_case *, bn_plan *, flow *);
const flow_piece *flow_piece_at(const flow *, int side, uint32_t node);
double flow_side_length(const flow *, int side); /* [m] */
uint32_t flow_side_nodes(const flow *, int side);
double flow_node_place(const flow *, int side, uint32_t node); /* [m] along the side */
/* Of a node along x (0) or y (1), or between two [m]. */
double flow_place(const flow *, int dim, double node);
/* u and v that a piece's table gives at a place [m/s], linear between its rows, without the excess. */
void flow_table_velocity(const flow_piece *, double place, double velocity[2]);
/* Speed into the domain through a side with this velocity. */
double flow_speed_inwards(int side, const double velocity[2]);
/* Volume flux per depth into the domain through a piece up to a place along its side [m2/s]; not of outflows. */
double flow_piece_flux(const flow_piece *, double place);
/* Of the nodes of one side: border.moving or border.psi. */
double *flow_along(const flow *, double *values, int side);
/* Net volume flux per depth that flows in [m2/s], outflows not counted. */
double flow_net_inflow(const flow *);

/* flow_mask.c: obstacles from a picture or a shape, and which of them have fluid all around. */
BN_CHECKED bn_status flow_read_mask(const bn_case *, bn_plan *, flow *);

/* flow_border.c: what every node is, the matrices' bits (at plan), and the values at the border and at the start. */
BN_CHECKED bn_status flow_plan_border(bn_plan *, flow *);
BN_CHECKED bn_status flow_plan_moving(bn_plan *, flow *);
BN_CHECKED bn_status flow_plan_systems(const bn_case *, bn_plan *, flow *);
BN_CHECKED bn_status flow_fill(flow *);
/* A number at a node: which of several numbers, or of what body. */
typedef double flow_node_value(const flow *, int which, uint32_t i, uint32_t j);
/* Fills a field by all processors; which + component. */
BN_CHECKED bn_status flow_supply(bn_field *field, const flow *s, flow_node_value *value, int which);

/* Of coupled systems: fields.psi_border from the values of psi at the border. `solve` solves the system of psi, from
 * fields.rhs to fields.next. */
BN_CHECKED bn_status flow_setup_border(flow *, bn_status (*solve)(flow *, const bn_cg_target *));

/* flow_measure.c: extrema, profiles, heat transfer. */
BN_CHECKED bn_status flow_measure(bn_sim *, void *state, bn_results *);
BN_CHECKED bn_status flow_plan_results(const flow *, bn_plan *);

double flow_diffusion_number(const flow *); /* nu dt / h^2 where it is largest */
/* Bytes of a number in the precision of the case. */
size_t flow_real_bytes(const flow *s);

/* flow_step.c: what both engines do around a step. The first and then every so many-th step looks for the steady state,
 * whatever else it reports; direct solutions are checked in the same steps. */
enum { FLOW_LOOK_EVERY = BN_LINEAR_CHECK_EVERY };
BN_CHECKED bn_status flow_report(bn_sim *, flow *, bn_step *out);
/* Reads what the device has found since in steps that were not reported. */
BN_CHECKED bn_status flow_catch_up(flow *);
/* What a checkpoint needs beside the fields. */
BN_CHECKED bn_status flow_serialize(bn_sim *, void *state, bn_checkpoint_state *);
/* Sets what the linear solves of the next step are asked for: `tolerance` for psi, less for the others. */
void flow_set_tolerance(flow *, double tolerance);
/* On a device: corrects psi on the bodies, and with it everywhere, from the vorticity and the temperature beside them;
 * or, of `changes` of all three, the change that follows. */
BN_CHECKED bn_status flow_step_bodies(flow *, bool changes, bn_field *psi, bn_field *omega, bn_field *T);
/* flow_bodies.c: psi at the start; influence functions and influence matrix. `solve` solves the system of psi, from
 * fields.rhs and the start fields.next to fields.next. */
BN_CHECKED bn_status flow_setup_start(bn_sim *, flow *, bn_status (*solve)(flow *, const bn_cg_target *));
BN_CHECKED bn_status flow_setup_bodies(bn_sim *, flow *, bn_status (*solve)(flow *, const bn_cg_target *));
extern const bn_engine flow_engine;

/* flow_one_launch.c: a step in one launch, where the grid and the device allow it: what the plan says of it, what it
 * needs on a device (device.step stays NULL where the device turns out not to be able), the step. */
BN_CHECKED bn_status flow_plan_one_launch(flow *, bn_plan *);
BN_CHECKED bn_status flow_one_launch_setup(bn_sim *, flow *);
void flow_one_launch_teardown(flow *);
BN_CHECKED bn_status flow_one_launch(flow *);
/* After the totals were read: fails if the work-groups have not met in a step. */
BN_CHECKED bn_status flow_one_launch_check(bn_sim *, const flow *);

extern const bn_engine bn_flow_reference_single, bn_flow_reference_double;

#endif
