/* compile_aside.h: programs compiled by child processes, where the driver's compiler lets only one thread of a process
 * work at a time; the driver's cache hands them on. */
#ifndef BN_COMPILE_ASIDE_H
#define BN_COMPILE_ASIDE_H

#include "run/child.h"
#include "sim/sim_parts.h"

/* Programs to compile, in the order in which they are begun. Zeroed memory with the context is none. */
typedef struct bn_aside_program bn_aside_program;
typedef struct bn_aside {
    bn_context *ctx;
    bn_aside_program *programs;
    size_t count, room;
} bn_aside;

/* Whether compilers gain anything from it. */
bool bn_aside_possible(bn_device *);
/* Adds the programs that making this simulation asks for. Not being able to is no failure: what is missing is compiled
 * when it is needed. `first`: somebody waits for them before the others. */
void bn_aside_add(bn_aside *, bn_case *, const bn_sim_desc *, bool first);
/* Of those that are not wanted first; 0: there are none. */
uint64_t bn_aside_hash(const bn_aside *);
/* How many children are worth their start: at least `least`, at most `most`. */
size_t bn_aside_children(const bn_aside *, size_t least, size_t most);
/* Hands the programs out to children that run bn_aside_serve and were started with a socket, for at most `seconds`; how
 * that ends does not matter. They open the device one after the other, as long as there is something to do: the driver
 * lets only one do so at a time, and all would be late together. The first `users` of them are told to go on as soon as
 * the first programs are there, and compile no others where there are more children, the others when nothing is left to
 * begin; those that were not needed are killed.
 * own: a device that may be trusted already, for which this process compiles the longest program itself; or NULL. */
void bn_aside_compile(bn_aside *, bn_child *, size_t count, size_t users, double seconds, bn_device *own);
void bn_aside_release(bn_aside *);
/* Whether a child has said that its test has passed; it may still run, until it has closed the device. */
bool bn_aside_passed(bn_child *);
/* The child's half: waits until it may open the device; compiles what comes on its standard input, until it is told to
 * go on. */
BN_CHECKED bn_status bn_aside_wait(bn_context *);
BN_CHECKED bn_status bn_aside_serve(bn_device *, bn_context *);
/* Says that the test has passed. */
BN_CHECKED bn_status bn_aside_pass(bn_context *);

#endif
