/* load_balance.h: decides when repartitioning a domain pays, because its devices share the work unevenly. Decided from
 * numbers that all ranks have, so that all decide alike. */
#ifndef BN_LOAD_BALANCE_H
#define BN_LOAD_BALANCE_H

#include "api/repartition.h"
#include "sim/plan.h"

typedef struct bn_load_balance {
    bool on; /* several devices with a box each, an engine that estimates the work of its blocks, a case that allows
                it */
    long long every;               /* steps between checks; 0: as often as it pays */
    double most;                   /* most cells that fit on a device */
    unsigned long long next, last; /* steps of the next check and of the last one */
    double since;                  /* [s] by the clock: when the last check ended */
    bool fresh;        /* no check since the beginning or the last move: some drivers compile when kernels first run */
    double pace;       /* [s] of a step before the last move */
    double cost, lost; /* [s] of a move; time that steps since the last one took longer than with better cuts */
    unsigned long long looks, moves;
    double seconds;   /* of checks and moves */
    char shares[256]; /* of the cells, at the beginning of the last check */
    /* Work of the busiest device over the mean: after the last check; before checks, the highest and the sum over them.
     */
    double busiest, highest, sum;
} bn_load_balance;

/* Before the first step after `step`. `every`: of the case. All ranks call it together. */
void bn_load_balance_begin(bn_load_balance *, const bn_plan *, const bn_domain *, const bn_device *, long long every,
                           unsigned long long step);
bool bn_load_balance_due(const bn_load_balance *, unsigned long long step);
/* Whether to take these cuts. All ranks call it together. */
bool bn_load_balance_wants(bn_load_balance *, const bn_domain *, const bn_cuts *);
/* After a check that began then, in the current domain; a move is logged. */
void bn_load_balance_looked(bn_load_balance *, const bn_domain *, const bn_cuts *, bool moved, double began,
                            unsigned long long step);

#endif
