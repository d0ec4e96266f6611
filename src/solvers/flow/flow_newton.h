/* flow_newton.h: steady states by Newton's method (docs/flow.md): its numbers, its fields, and what an engine does for
 * it. */
#ifndef BN_FLOW_NEWTON_H
#define BN_FLOW_NEWTON_H

#include "numerics/linear.h"
#include "sim/solver.h"

struct flow;

/* Columns of the Hessenberg matrix between two waits for the device; longest column, the limit of bn_scalars. */
enum { FLOW_NEWTON_BATCH = 8, FLOW_NEWTON_COLUMN = 2048 };

/* Share of a residual at a body that its vorticity changes by in the preconditioner: between 0 for smooth changes along
 * the body and 1 for those from node to node. */
#define FLOW_NEWTON_BODY 0.3

/* What both engines do; vector k of the basis, whose numbers are below `basis` + 2. Device and reference give the same
 * bits, and so the same decisions. */
typedef struct flow_newton_engine {
    /* psi from omega and T; fails unless the linear solve succeeded. */
    bn_status (*solve_psi)(bn_sim *, struct flow *);
    /* Velocities and vector 0 = F from psi, omega, T; flow.totals. */
    bn_status (*residual)(bn_sim *, struct flow *, double scale);
    /* Vector k over its length, which becomes number k of a column. */
    bn_status (*normalise)(struct flow *, int k, int column);
    /* d_omega, d_psi, d_heat = P^-1 vector k. */
    bn_status (*precondition)(struct flow *, int k);
    /* Vector k = J (d_omega, d_psi, d_heat), less its projection on those before, whose factors become a column. */
    bn_status (*orthogonalise)(struct flow *, int k, int column);
    bn_status (*read_columns)(struct flow *, double (*columns)[FLOW_NEWTON_COLUMN], int count, int rows);
    /* Vector k = -(sum of factors times the vectors before). */
    bn_status (*combine)(struct flow *, const double *factors, int k);
    /* next = omega + step d_omega, T likewise; swaps them. */
    bn_status (*update)(struct flow *, double step);
    bn_status (*predict)(struct flow *, double further, bool back);
    /* d_omega, the solution of J d = -F by elimination; there is none if the run is asked to end meanwhile. */
    bn_status (*eliminate)(bn_sim *, struct flow *, bool *asked);
} flow_newton_engine;

typedef struct flow_newton {
    bool on;
    int basis;                   /* vectors of a Krylov space at most */
    int band;                    /* blocks beside the diagonal's for elimination; 0: GMRES */
    int stride[2];               /* from a node's number to that of the next one along x, y */
    int grids;                   /* coarser ones to come first */
    double weight;               /* of a residual of T against one of omega [s-1 K-1] */
    double scale;                /* viscosity and diffusivity over those of the case */
    double scale_before;         /* of the state omega_before; 0: there is none */
    double factor;               /* from one viscosity to the next */
    double forcing;              /* share of the residual that the linear solve may leave */
    double level_residual;       /* that is enough to go on to less viscosity */
    unsigned level_steps;        /* at this viscosity */
    unsigned long long products; /* of J with vectors */
    double *table;               /* of kernel flow_newton_walls: 2 ny entries for the sides along y, then 2 nx */
    bn_field *vectors, *d_omega, *d_heat, *omega_before, *T_before, *matrix;
    /* On a device. */
    bn_program *program; /* of kernels/flow_krylov.cl */
    struct {
        bn_kernel *residual, *normalise, *walls, *heat_source, *vorticity_source, *poisson, *jacobian, *dots, *column,
            *project, *combine, *update, *predict, *unit, *rows, *panel, *strips, *eliminate, *substitute, *solution;
    } kernels;
    bn_partials *norms, *products_of;
    bn_scalars *columns[FLOW_NEWTON_BATCH], *factors, *wall_values;
    bn_device_array *wall_table;
} flow_newton;

/* One iteration of Newton's method, or a step of the continuation. */
BN_CHECKED bn_status flow_newton_step(bn_sim *, struct flow *, const flow_newton_engine *, bn_step *out);
/* The numbers of a case, its fields, and what it can't be combined with. */
BN_CHECKED bn_status flow_newton_plan(const bn_case *, struct flow *, bn_plan *);
BN_CHECKED bn_status flow_newton_plan_fields(struct flow *, bn_plan *);
BN_CHECKED bn_status flow_newton_serialize(struct flow *, bn_checkpoint_state *);

/* flow_newton_device.c */
BN_CHECKED bn_status flow_newton_setup(bn_sim *, struct flow *);
void flow_newton_teardown(struct flow *);
extern const flow_newton_engine flow_newton_device;

/* flow_newton_reference.c */
extern const flow_newton_engine bn_flow_newton_single, bn_flow_newton_double;

#endif
