/* allreduce.h: partial sums and scalars, of which every device has a copy, and making the copies equal again. */
#ifndef BN_HOST_ALLREDUCE_H
#define BN_HOST_ALLREDUCE_H

#include "grid/device_array.h"

typedef struct bn_partials {
    bn_domain *domain;
    bn_buffer **buffer, **packed; /* one per device; packed: NULL when there are few enough to be added up at once */
    int components;
    unsigned maxima; /* bit c: component c is a maximum */
    bool stale;      /* packed does not hold the present partial sums */
    bool differ;     /* every device has those of its own boxes only, of the components that are set in `changed` */
    uint64_t changed;
    bool shared; /* kernels read those of other boxes */
} bn_partials;

typedef struct bn_scalars {
    bn_domain *domain;
    bn_buffer **buffer; /* one per device */
    size_t count;
    bool differ;  /* devices may have different values */
    bool shared;  /* several work-groups of one launch write to them */
    void *before; /* shared: the values when they were last the same everywhere; a copy for every device */
} bn_scalars;

/* Gives every device all partial sums, and all devices the same scalars. At most BN_ALLREDUCE_MOST of each in one
 * round. */
enum { BN_ALLREDUCE_MOST = 8 };
BN_CHECKED bn_status bn_allreduce(bn_domain *, bn_partials *const *partials, size_t partial_count,
                                  bn_scalars *const *scalars, size_t scalar_count);
/* Begins such a round with what the devices have at this place in their queues: it goes on beside what is launched next
 * and may not write any of it. The next bn_allreduce of the domain ends it, whatever that one is for. */
BN_CHECKED bn_status bn_allreduce_begin(bn_domain *, bn_partials *const *partials, size_t partial_count,
                                        bn_scalars *const *scalars, size_t scalar_count);
/* Gives every device the sum of all devices' counters; sets them to zero. */
BN_CHECKED bn_status bn_counters_merge(bn_device_array *);
BN_CHECKED bn_status bn_counters_clear(bn_device_array *);

#endif
