/* field_sampler.h: values of the fields of one output time, for pictures, files and meshes. */
#ifndef BN_FIELD_SAMPLER_H
#define BN_FIELD_SAMPLER_H

#include "sim/plan.h"

typedef struct bn_field_sampler {
    const bn_plan *plan;
    const char *title; /* of the case; may be NULL */
    double time, dt;   /* [s]; dt: of the last step, 0 at the beginning */
    unsigned long long step;
    const size_t *field; /* indices of the plan's fields, `count` of them */
    size_t count;
    const void *const *data; /* whole fields in planes, one for each; NULL: ranks have parts of them ... */
    bn_sim *sim;             /* ... which they exchange: all ranks make the same calls */
    bool leads;              /* this rank writes the files, the others only send their parts */
} bn_field_sampler;

/* Values of a component (of pairs: the real part is component 2 c, the imaginary one 2 c + 1) of field number `which`
 * of the list, in C order. */
BN_CHECKED bn_status bn_field_sampler_values(bn_context *, const bn_field_sampler *, size_t which, int component,
                                             const bn_region *, double *values);

#endif
