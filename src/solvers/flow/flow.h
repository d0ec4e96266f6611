/* flow.h: what the parts of the solver `flow` share: the numbers of a case, the bits of a node, the fields. */
#ifndef BN_FLOW_H
#define BN_FLOW_H

#include "numerics/cg.h"
#include "sim/solver.h"

enum { FLOW_LEFT, FLOW_RIGHT, FLOW_BOTTOM, FLOW_TOP, FLOW_SIDES };
typedef enum flow_kind { FLOW_WALL, FLOW_SLIP, FLOW_INFLOW, FLOW_OUTFLOW } flow_kind; /* order of the key's choices */
typedef enum flow_profile { FLOW_PARABOLIC, FLOW_UNIFORM } flow_profile;
typedef enum flow_start { FLOW_REST, FLOW_VORTEX, FLOW_DEVELOPED } flow_start;

/* Bits of the field `node`. The four bits from PSI_FIXED and from OMEGA_FIXED say for the west, east, south and north
 * neighbour that its value is given. The kernels get these numbers injected. */
enum {
    FLOW_NODE_OMEGA = 1, /* vorticity is an unknown */
    FLOW_NODE_PSI = 2,   /* stream function is an unknown */
    FLOW_NODE_HALF = 4,  /* its row is weighted by one half, which keeps the matrix symmetric at a mirrored border */
    FLOW_NODE_WALL = 8,
    FLOW_NODE_FREE = 16, /* slip */
    FLOW_NODE_OUT = 32,
    FLOW_NODE_SIDE = 64, /* times the side */
    FLOW_PSI_FIXED = 256,
    FLOW_OMEGA_FIXED = 4096
};

/* However fast the flow changes, linear solves are at least this exact. */
#define FLOW_LOOSEST 1e-3

/* One side of the rectangle. `speed` [m/s]: tangential, along +x or +y, of a wall; mean normal speed into the domain of
 * an inflow. */
typedef struct flow_side {
    flow_kind kind;
    flow_profile profile;
    double speed;
} flow_side;

/* Constants of the step, in double; both engines round them once to their precision. */
typedef struct flow_constants {
    double dt;
    double ix2, iy2;             /* 1 / (2 h) */
    double nux, nuy;             /* dt nu / h^2 */
    double cx, cy;               /* 1 / h^2 */
    double theta;                /* relaxation of the wall vorticity */
    double wall_x, wall_y;       /* 2 / h^2 (Thom) or 3 / h^2 (Woods) */
    double wall_omega;           /* 0 or 1/2 */
    double slip[FLOW_SIDES];     /* s 2 U / h or s 3 U / h */
    double convect_x, convect_y; /* dt / h */
} flow_constants;

typedef struct flow {
    uint32_t nx, ny;
    double size[2], h[2]; /* [m] */
    double nu;            /* [m2/s] */
    double speed, length; /* scales [m/s], [m] */
    double strength;      /* of the initial vortex [m2/s] */
    double dt_limit;      /* largest stable time step [s], infinite without motion */
    double roundoff;      /* unit roundoff of the case's precision */
    flow_side side[FLOW_SIDES];
    flow_start start;
    bool upwind, woods;
    flow_constants k;
    double steady;         /* steady_tolerance; 0: none */
    double reference_time; /* length / speed [s]: makes the residual dimensionless */
    double cg_tolerance, cg_forcing;
    bn_cg_target target_psi, target_omega; /* their tolerance follows the flow, within cg_tolerance and FLOW_LOOSEST */
    bn_field *psi, *before, *omega, *next, *velocity, *node, *A_psi, *A_omega, *rhs, *r, *p, *p_next;
    bn_cg_report report_psi, report_omega; /* of the last step */
    double total_iterations;
    double totals[3]; /* sum of squared changes of omega, sum of its squares, largest |u| + |v| */
    /* device */
    bn_kernel *advance, *source, *walls, *total;
    bn_cg *cg;
    bn_partials *partials;
    bn_scalars *scalars;
    /* reference */
    void *work; /* products and partial sums */
} flow;

/* flow_border.c: nodes, matrices and border values, from the sides. */
BN_CHECKED bn_status flow_fill(bn_sim *, flow *);
/* Net volume flux per depth that flows in [m2/s], outflow sides not counted. */
double flow_net_inflow(const flow *);

/* flow_measure.c: extrema, profiles. */
BN_CHECKED bn_status flow_measure(bn_sim *, void *state, bn_results *);

/* flow_step.c: what both engines report after a step. */
BN_CHECKED bn_status flow_report(bn_sim *, flow *, bn_step *out);
/* Sets what the linear solves of the next step are asked for: `tolerance` for psi, less for omega. */
void flow_set_tolerance(flow *, double tolerance);
extern const bn_engine flow_device;

extern const bn_engine bn_flow_reference_single, bn_flow_reference_double;

#endif
