/* load_balance.h: when it pays to cut a domain anew, because its devices have come to share the work unevenly. Decided from
 * numbers that all ranks have, so that all decide alike. */
#ifndef BN_LOAD_BALANCE_H
#define BN_LOAD_BALANCE_H

#include "api/repartition.h"
#include "sim/plan.h"

typedef struct bn_load_balance {
    bool on; /* several devices with a box each, an engine that knows what its blocks cost, a case that allows it */
    long long every;               /* steps between looks; 0: as it pays */
    double most;                   /* cells that a device has room for */
    unsigned long long next, last; /* steps: of the next look, of the last one */
    double since;                  /* [s] by the clock: when the last look ended */
    bool fresh;        /* no look since the beginning or the last move: some drivers compile when kernels first run */
    double pace;       /* [s] of a step before the last move */
    double cost, lost; /* [s] what a move takes; what steps have taken longer since the last one than they would with
                          better cuts */
    unsigned long long looks, moves;
    double seconds;   /* that looks and moves took */
    char shares[256]; /* of the cells, as they were at the beginning of the last look */
    /* Work of the busiest device over the mean: as the last look left it; as looks found it, the highest and the sum
     * over them. */
    double busiest, highest, sum;
} bn_load_balance;

/* Before the first step after `step`. `every`: of the case. All ranks call it together. */
void bn_load_balance_begin(bn_load_balance *, const bn_plan *, const bn_domain *, const bn_device *, long long every,
                      unsigned long long step);
bool bn_load_balance_due(const bn_load_balance *, unsigned long long step);
/* Whether to take these cuts. All ranks call it together. */
bool bn_load_balance_wants(bn_load_balance *, const bn_domain *, const bn_cuts *);
/* After a look that began then, in the domain that there is now; a move is told in the log. */
void bn_load_balance_looked(bn_load_balance *, const bn_domain *, const bn_cuts *, bool moved, double began,
                       unsigned long long step);

#endif
