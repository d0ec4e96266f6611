/* first_steps.h: the first steps of a case in a process of its own, beside the self-test: the run then finds their
 * kernels compiled. */
#ifndef BN_FIRST_STEPS_H
#define BN_FIRST_STEPS_H

#include "run/child.h"
#include "binnacle/sim.h"

/* Whether a small run from the start gains from it: processes share kernels of its device, which is one, they have the
 * shapes that the child gives them, and there is more than one processor. */
bool bn_first_steps_worthwhile(const bn_sim_desc *);

/* Sends the case to a child that runs bn_first_steps_here. That it can't run the case is no failure: the run finds out.
 */
void bn_first_steps_begin(bn_context *, bn_child *, const bn_case *);
/* Waits for its end, at most `seconds`, and takes over what it has compiled. False: it has crashed, as the run would.
 */
bool bn_first_steps_end(bn_child *, double seconds, const bn_device *);

/* The child's half: takes the first steps of the case that comes on its standard input, and whatever the results need.
 * name: of the case file, for what lies beside it. */
BN_CHECKED bn_status bn_first_steps_here(bn_context *, bn_device *, const char *name);

#endif
