/* solver_table.h: what a solver implements (one constant table), and what the simulation offers its steps. */
#ifndef BN_SOLVER_TABLE_H
#define BN_SOLVER_TABLE_H

#include "api/field.h"
#include "api/launch.h"
#include "api/program.h"
#include "api/reduce.h"
#include "api/repartition.h"
#include "binnacle/sim.h"
#include "case/schema.h"
#include "sim/announcements.h"

/* What a step reports. */
typedef struct bn_step {
    double dt;       /* [s], or in the unit of the coordinate that steps go along */
    double residual; /* NaN where there is none */
    bool converged;
    bool complete;                /* nothing is left to do: the beam has left the structure */
    bool unfinished;              /* bn_sim_asked_to_end: the next call does the rest of the step */
    double updates;               /* computed, of what the solver counts; 0: each cell once */
    double series[BN_SERIES_MAX]; /* values of the columns that plan() announced */
} bn_step;

/* One way to compute the step: "opencl" or "reference". */
typedef struct bn_engine {
    const char *name;
    bn_status (*setup)(bn_sim *, void *state); /* optional: fields exist and hold what init() wrote */
    bn_status (*step)(bn_sim *, void *state, bn_step *out);
    /* optional: launches what `step` has put off so that several steps share a launch, before fields of the state are
     * read or written and before anybody waits for the steps */
    bn_status (*catch_up)(bn_sim *, void *state);
    void (*teardown)(void *state); /* optional: releases what setup acquired; safe after a partial setup */
    /* optional: computes output fields that steps leave out of date (sums, norms), before fields are read or written */
    bn_status (*update_outputs)(bn_sim *, void *state);
    /* optional: fields of the state and what `serialize` names were just restored from a checkpoint: computes again
     * whatever setup derived from what init() wrote */
    bn_status (*resume)(bn_sim *, void *state);
    /* optional: cost of each block of the grid (bn_domain_blocks) in the steps to come, not negative, in any unit, the
     * same on all ranks. Then the simulation moves the cuts between devices (case.balance): all fields move with their
     * values and keep their addresses; teardown, setup, `serialize` and `resume` are called as after a restart, so that
     * `setup` asks again for what belongs to the domain: kernels, sums, device arrays. */
    bn_status (*work)(bn_sim *, void *state, double *work);
} bn_engine;

/* Numbers on their way to a checkpoint or back. */
typedef struct bn_checkpoint_state bn_checkpoint_state;

/* A choice of the case that only affects speed: `binnacle tune` times its values, each compared with the reference. */
typedef struct bn_variant {
    const char *key;    /* of the schema: a choice or a whole number */
    const char *values; /* to be tried: "two-pass|rows|fused" */
    bool same_bits;     /* all values give equal bits: runs whose case leaves the key open take what `tune` has found */
    bool (*matters)(const bn_case *); /* optional: whether it changes anything in this case */
} bn_variant;

/* Required: name, summary, schema, kernels, state_size, device, both references, plan, init, and a self-test case
 * data/cases/NAME/selftest.toml of few cells and steps. Together with selftest-WHAT.toml beside it, if any, it launches
 * every kernel: device and reference are compared on all of them. Checked when the solver is looked up and by the
 * conformance suite. */
typedef struct bn_solver {
    const char *name, *summary;
    const bn_key *schema; /* ends with a NULL name */
    const char *program;  /* optional: "studies/flood_layouts" for kernels/studies/flood_layouts.cl; NULL: the name */
    const bn_kernel_desc *kernels; /* of kernels/NAME.cl; ends with a NULL name */
    /* optional: a kernel that is compiled as a program of its own, where a run has several long ones that processes can
     * compile at the same time (run/compile_aside.h). */
    const char *apart;
    size_t state_size; /* allocated zeroed by the simulation */
    const bn_engine *device;
    const bn_engine *reference[2]; /* by bn_precision: the same source, compiled for float and for double */
    bn_status (*plan)(const bn_case *, void *state, bn_plan *); /* grid, fields, constants, results; opens no device */
    bn_status (*init)(bn_sim *, void *state); /* initial and boundary values: one code for both engines */
    bn_status (*measure)(bn_sim *, void *state, bn_results *); /* optional: the scalars that plan announced */
    double (*tolerance)(const bn_case *,
                        const char *field); /* optional; NULL: 0, device and reference agree bit for bit */
    /* optional: names the numbers that steps and results depend on beside the fields of the state, the step's number
     * and the time, with the calls below. Called after update_outputs to write a checkpoint and after setup to restart,
     * on either engine: each reads what the other wrote. */
    bn_status (*serialize)(bn_sim *, void *state, bn_checkpoint_state *);
    /* optional, together: the index map of the case (false: none), and a gradient with respect to its values
     * (bn_sim_gradient), which are zero when it is called and checked to be there. Asks bn_sim_asked_to_end, and then
     * fails with BN_INTERRUPTED. */
    bool (*map)(const void *state, unsigned n[3]);
    bn_status (*gradient)(bn_sim *, void *state, const char *of, const double *slopes, double *gradient);
    const bn_variant *variants; /* optional; ends with a NULL key */
    /* optional: a result that the scheme keeps at 0, and how far rounding may have taken it by now; HUGE_VAL: nothing
     * keeps it in this case. --guard looks. */
    const char *balance;
    double (*balance_limit)(const bn_sim *, const void *state);
    /* optional: whole constants in which the self-test cases of a run agree with it (bn_plan_needs), since they make
     * other kernels. Ends with NULL. */
    const char *const *selftest_constants;
    /* optional: the coordinate that steps go along and bn_step.dt adds up to, and its unit: "z", "m". NULL: time, in s.
     * Progress, series, pictures and the summary use it. */
    const char *along, *along_unit;
    const char *counts; /* optional: what bn_step.updates are, where they are not cells: "photons" */
} bn_solver;

/* The coordinate that steps go along: its name in tables, its letter in messages, its unit. */
typedef struct bn_coordinate {
    const char *name, *letter, *unit;
} bn_coordinate;
bn_coordinate bn_solver_coordinate(const bn_solver *);
const char *bn_solver_counts(const bn_solver *);

/* --- for init, setup, step, measure --- */
bn_field *bn_sim_field(bn_sim *, const char *name);   /* announced by plan; asserts that it exists */
bn_kernel *bn_sim_kernel(bn_sim *, const char *name); /* of the solver's table, NULL if skipped; device only */
bn_domain *bn_sim_domain(bn_sim *);
bn_context *bn_sim_context(bn_sim *);
const bn_case *bn_sim_case(const bn_sim *);
/* Runs the engine's catch_up. */
BN_CHECKED bn_status bn_sim_catch_up(bn_sim *);
/* The same, then waits for all steps. */
BN_CHECKED bn_status bn_sim_finish(bn_sim *);
/* Runs the engine's catch_up, and its update_outputs unless the fields are up to date. */
BN_CHECKED bn_status bn_sim_update_outputs(bn_sim *);
/* Another simulation of the same case on the same devices, but with these keys, as bn_case_parse takes them. The caller
 * destroys it, then its case. */
BN_CHECKED bn_status bn_sim_create_like(bn_sim *, const char *const *overrides, size_t count, bn_case **config,
                                        bn_sim **out);
double bn_sim_time(const bn_sim *);
unsigned long long bn_sim_steps(const bn_sim *);
/* For steps that may take seconds: whether any rank was asked to end the run (all ranks call it alike). Then the step
 * may return `unfinished`, in a state that `serialize` describes and the next call continues. */
bool bn_sim_asked_to_end(bn_sim *);
/* Whether a step may report the residual and the series of a step before, since no row of series.csv is due: then a
 * step need not wait for the device. All ranks get the same answer. */
bool bn_sim_is_quiet(const bn_sim *);

/* --- for serialize(): one call for both ways --- */
bool bn_state_restores(const bn_checkpoint_state *);
BN_CHECKED bn_status bn_state_reals(bn_checkpoint_state *, const char *name, double *values, size_t count);
BN_CHECKED bn_status bn_state_counts(bn_checkpoint_state *, const char *name, unsigned long long *values, size_t count);
/* A restart fails with BN_CASE unless the value is what it was: for what depends on keys of [output] and [stop], which
 * may differ otherwise. */
BN_CHECKED bn_status bn_state_same(bn_checkpoint_state *, const char *key, double value);

/* The registry: src/sim/solvers.def, one line a solver. NULL when unknown. */
const bn_solver *bn_solver_find(const char *name);
/* Names of the studies (sim/studies.def), ending with NULL. bn_solver_find finds them, too. */
const char *const *bn_study_names(void);

#endif
