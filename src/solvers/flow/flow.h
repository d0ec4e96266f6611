/* flow.h: what the parts of the solver `flow` share: the numbers of a case, the bits of a node, the fields. */
#ifndef BN_FLOW_H
#define BN_FLOW_H

#include "numerics/linear.h"
#include "sim/solver.h"

/* The choices of the case's keys. */
#define FLOW_SIDE_NAMES(X) X(FLOW_LEFT, "left") X(FLOW_RIGHT, "right") X(FLOW_BOTTOM, "bottom") X(FLOW_TOP, "top")
#define FLOW_KINDS(X) X(FLOW_WALL, "wall") X(FLOW_SLIP, "slip") X(FLOW_INFLOW, "inflow") X(FLOW_OUTFLOW, "outflow")
#define FLOW_PROFILES(X) X(FLOW_PARABOLIC, "parabolic") X(FLOW_UNIFORM, "uniform")
#define FLOW_HEATS(X) X(FLOW_INSULATED, "insulated") X(FLOW_GIVEN, "given")
#define FLOW_SHAPES(X) X(FLOW_NO_SHAPE, "none") X(FLOW_ELLIPSE, "ellipse") X(FLOW_RECTANGLE, "rectangle")
#define FLOW_STARTS(X) X(FLOW_REST, "rest") X(FLOW_VORTEX, "vortex") X(FLOW_DEVELOPED, "developed")
#define FLOW_HEAT_MODES(X) X(FLOW_EVEN, "even") X(FLOW_SINE, "sine") X(FLOW_COSINE, "cosine")
#define FLOW_CONVECTIONS(X) X(FLOW_CENTRAL, "central") X(FLOW_UPWIND, "upwind")
#define FLOW_WALL_VORTICITIES(X) X(FLOW_THOM, "thom") X(FLOW_WOODS, "woods")
#define FLOW_DIFFUSION_METHODS(X) X(FLOW_AUTO, "auto") X(FLOW_CG, "cg") X(FLOW_FFT, "fft")
#define FLOW_POISSON_METHODS(X) FLOW_DIFFUSION_METHODS(X) X(FLOW_MULTIGRID, "multigrid")
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

/* Bits of the field `node`. The four bits from PSI_FIXED, OMEGA_FIXED and HEAT_FIXED say for the west, east, south and
 * north neighbour that its value is given; on a body those from PSI_FIXED say that the neighbour is fluid. From
 * BODY_NUMBER on stands the number of the body around which the fluid flows, from 1. The kernels get these numbers
 * injected. */
enum {
    FLOW_NODE_OMEGA = 1, /* vorticity is an unknown */
    FLOW_NODE_PSI = 2,   /* stream function is an unknown */
    FLOW_NODE_WALL = 4,
    FLOW_NODE_FREE = 8, /* slip */
    FLOW_NODE_OUT = 16,
    FLOW_NODE_BODY = 32, /* on the surface of an obstacle */
    FLOW_NODE_SIDE = 64, /* times the side */
    FLOW_PSI_FIXED = 256,
    FLOW_OMEGA_FIXED = 4096,
    FLOW_HEAT_FIXED = 65536,
    FLOW_BODY_NUMBER = 1048576
};

/* However fast the flow changes, linear solves are at least this exact. */
#define FLOW_LOOSEST 1e-5

enum { FLOW_PIECES = 64, FLOW_BODIES = 8, FLOW_TOTALS = 4 };

/* A piece of a side, or a whole one. from, to [m] along +x or +y. `speed` [m/s]: tangential, along +x or +y, of a wall;
 * mean normal speed into the domain of an inflow. `item`: number of the segment that says so, -1: the side's own keys.
 */
typedef struct flow_piece {
    int side, item;
    double from, to;
    flow_kind kind;
    flow_profile profile;
    flow_heat heat;
    double speed, temperature;
} flow_piece;

/* Constants of the step, in double; both engines round them once to their precision. */
typedef struct flow_constants {
    double dt;
    double ix2, iy2;               /* 1 / (2 h) */
    double nux, nuy, ax, ay;       /* dt nu / h^2, dt a / h^2 */
    double cx, cy;                 /* 1 / h^2 */
    double theta;                  /* relaxation of the wall vorticity */
    double wall_x, wall_y;         /* 2 / h^2 (Thom) or 3 / h^2 (Woods) */
    double wall_omega;             /* 0 or 1/2 */
    double slip_x, slip_y;         /* 2 / h or 3 / h */
    double convect_x, convect_y;   /* dt / h */
    double buoyancy;               /* g beta [m s-2 K-1] */
    double body_x, body_y;         /* length of a face over its distance: h_y / h_x, h_x / h_y */
    double body_psi_x, body_psi_y; /* times 2 / h^2 across it */
    double body_heat;              /* C h_y / nu, over 3/2 with Woods */
} flow_constants;

typedef struct flow {
    uint32_t nx, ny;
    double size[2], h[2];                     /* [m] */
    double nu, a;                             /* [m2/s]; a == 0: no temperature */
    double speed, length;                     /* scales [m/s], [m] */
    double strength;                          /* of the initial vortex [m2/s] */
    double start_temperature, heat_amplitude; /* [K] */
    double temperature_drop;                  /* largest difference that the case prescribes [K] */
    double temperature_scale;                 /* the same, or 1 K where there is none */
    flow_heat_mode heat_mode;
    double dt_limit; /* largest stable time step [s], infinite without motion */
    double roundoff; /* unit roundoff of the case's precision */
    flow_piece piece[FLOW_PIECES];
    int pieces;
    uint8_t *edge[FLOW_SIDES]; /* the piece that each node of a side belongs to */
    bool *solid;               /* nx * ny: the node is inside or on an obstacle; NULL without */
    uint8_t *body;             /* nx * ny: number of the body that is not connected to the border, from 1 */
    int bodies;
    double body_temperature;
    flow_heat body_heat;
    double body_across; /* [m] of the largest body, across the stream */
    double body_share;  /* the same over the size of the rectangle */
    uint8_t *bits[FLOW_SYSTEMS];
    bn_linear_desc system[FLOW_SYSTEMS];
    flow_start start;
    bool upwind, woods, buoyant;
    flow_constants k;
    double steady;         /* steady_tolerance; 0: none */
    double reference_time; /* length / speed [s]: makes the residual dimensionless */
    double cg_tolerance, cg_forcing;
    bn_cg_target target[FLOW_SYSTEMS]; /* their tolerance follows the flow, within cg_tolerance and FLOW_LOOSEST */
    bn_field *psi, *before, *omega, *next, *velocity, *node, *rhs, *T, *T_next, *lift;
    bn_linear_work work[FLOW_SYSTEMS];
    bn_cg_report report[FLOW_SYSTEMS]; /* of the last step */
    double total_iterations;
    unsigned long long solves[FLOW_SYSTEMS];
    double totals[FLOW_TOTALS + FLOW_BODIES]; /* sum of squared changes of omega, sum of its squares, largest |u| + |v|,
                                                 sum of squared changes of T; change of psi on each body */
    double psi_body;                          /* psi on the first body */
    double response[FLOW_BODIES * FLOW_BODIES];
    /* device */
    bn_kernel *heat, *advance, *source, *walls, *total, *sum_bodies, *respond, *raise;
    bn_linear *linear[FLOW_SYSTEMS];
    bn_partials *partials, *body_sums;
    bn_scalars *scalars, *responses;
    /* reference */
    void *reference;
} flow;

/* flow_sides.c: reads the sides, their segments and the obstacles; rejects what contradicts itself. */
BN_CHECKED bn_status flow_read_sides(const bn_case *, bn_plan *, flow *);
const flow_piece *flow_piece_at(const flow *, int side, uint32_t node);
double flow_side_length(const flow *, int side);
double flow_node_place(const flow *, int side, uint32_t node); /* [m] along the side */
/* Net volume flux per depth that flows in [m2/s], outflows not counted. */
double flow_net_inflow(const flow *);

/* flow_mask.c: obstacles from a picture, and which of them the fluid flows around. */
BN_CHECKED bn_status flow_read_mask(const bn_case *, bn_plan *, flow *);

/* flow_border.c: what every node is, the matrices' bits (at plan), and the values at the border and at the start. */
BN_CHECKED bn_status flow_plan_systems(const bn_case *, bn_plan *, flow *);
BN_CHECKED bn_status flow_fill(bn_sim *, flow *);
/* The stream function along the border, relative to the corner at the origin; nx * ny, other nodes untouched. */
void flow_border_psi(const flow *, double *psi);

/* flow_measure.c: extrema, profiles, heat transfer. */
BN_CHECKED bn_status flow_measure(bn_sim *, void *state, bn_results *);
BN_CHECKED bn_status flow_plan_results(const flow *, bn_plan *);

/* flow_step.c: what both engines do around a step. */
BN_CHECKED bn_status flow_report(bn_sim *, flow *, bn_step *out);
/* What a checkpoint needs beside the fields. */
BN_CHECKED bn_status flow_serialize(bn_sim *, void *state, bn_checkpoint_state *);
/* Sets what the linear solves of the next step are asked for: `tolerance` for psi, less for the others. */
void flow_set_tolerance(flow *, double tolerance);
/* From the lifts (bodies * nx * ny) the response of psi on the bodies to the sums of kernel flow_bodies. */
BN_CHECKED bn_status flow_find_response(bn_sim *, flow *, const double *lift);
/* Right-hand side of body `body`'s lift and its values on the bodies. */
void flow_lift_system(const flow *, int body, double *rhs, double *lift);
extern const bn_engine flow_device;

extern const bn_engine bn_flow_reference_single, bn_flow_reference_double;

#endif
