/* sim_struct.h: the members of a simulation, for sim.c and sim_create.c only. */
#ifndef BN_SIM_STRUCT_H
#define BN_SIM_STRUCT_H

#include "sim/sim_parts.h"

struct bn_sim {
    bn_context *ctx;
    const bn_case *config;
    const bn_solver *solver;
    const bn_engine *engine;
    bn_device *device; /* NULL: the reference */
    int boxes;         /* that were asked for */
    bn_plan *plan;
    void *state;
    bool set_up;
    bn_domain *domain, *former; /* former: while fields move to another domain */
    bn_domain *volume;          /* of fields of role BN_VOLUME; NULL: none */
    bn_field **fields;
    bn_sim_field_info *infos;
    bn_program *program[2]; /* of most kernels, of the one that is compiled apart */
    bn_kernel **kernels;    /* in the order of the solver's table */
    bn_results *results;
    bn_sim_state now;
    bn_step last;
    unsigned long long outputs_of; /* step of the last bn_sim_update_outputs, plus one; 0: never */
    bn_sim_stop stop;
    struct {
        bn_tuning groups; /* work-groups of single kernels */
        const char *source;
    } tuned;
    bn_load_balance balance;
    struct {
        bool (*asked)(void *user); /* NULL: a step never asks */
        void *user;
    } watch;
    bool quiet;
    bool written; /* fields, by the owner: the engine's `resume` is due before they are used */
    struct {
        bn_series series;
        bool of_run; /* not of the last step alone */
    } recorded;
    bn_guard guard;
    bn_checkpoint *resumed; /* restarted from it; NULL: from the beginning */
    char *files;            /* SHA-256 and name of every file of the case; NULL: not yet made */
};

/* The program and the kernels of the solver's table, for the current domain. */
BN_CHECKED bn_status bn_sim_build_kernels(bn_sim *);

/* The place of a field among those of the plan; -1: there is none of that name. */
long bn_sim_field_index(const bn_sim *, const char *name);

#endif
