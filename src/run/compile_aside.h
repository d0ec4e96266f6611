/* compile_aside.h: programs compiled in processes of their own, as many as there are processors, where the driver's
 * compiler lets only one thread of a process work at a time; the driver's cache hands them on. */
#ifndef BN_COMPILE_ASIDE_H
#define BN_COMPILE_ASIDE_H

#include "run/child.h"
#include "sim/sim_parts.h"

/* Processes that compile a program each. Zeroed memory with the first three members is none. */
typedef struct bn_aside {
    bn_context *ctx;
    const char *program, *device; /* path of this binary; the device's number */
    bn_child *children;
    uint64_t *hashes; /* of their programs: none is compiled twice */
    size_t count, most;
} bn_aside;

/* Whether compilers gain anything from it. */
bool bn_aside_possible(bn_device *);
/* Starts a process for every program that making this simulation asks for. Not being able to is no failure: what is
 * missing is compiled when it is needed. */
void bn_aside_add(bn_aside *, bn_case *, const bn_sim_desc *);
/* Waits for them, at most `seconds`; how they end does not matter. */
void bn_aside_end(bn_aside *, double seconds);
/* The child's half: compiles the program that comes on its standard input. */
BN_CHECKED bn_status bn_aside_compile(bn_context *, const char *selector);

#endif
