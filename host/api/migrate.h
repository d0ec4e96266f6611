/* migrate.h: work that goes on on another device. Where each device has a part of what a kernel reads, too large for
 * one, a photon (or whatever a work-item follows) that needs another part goes there, with all that belongs to it, in
 * so many 32-bit words: a traveller. bn_migration (launch.h) launches the kernel and takes travellers from device to
 * device, between ranks too, through pinned host memory, until nobody is on the way.
 *
 * There are as many work-items on each device as there is room for travellers (`capacity`), and a work-item sends one
 * away in a launch at most (kernels/lib/migrate.h): nobody has to be turned away. More may come to a device than it has
 * room for: they wait in host memory, and meanwhile no device begins anything new, so that those who wait stay some
 * times the capacity. In which order they come is not the same in every run: what they add up must not depend on it. */
#ifndef BN_API_MIGRATE_H
#define BN_API_MIGRATE_H

#include "api/domain.h"

typedef struct bn_migrating_particles bn_migrating_particles;

/* words: of one, with that for the device that it goes to. Devices only. All ranks call it together. */
BN_CHECKED bn_status bn_migrating_particles_create(bn_domain *, const char *name, size_t words, size_t capacity,
                                          bn_migrating_particles **out);
void bn_migrating_particles_destroy(bn_migrating_particles **);
/* What they take on each device, for a plan. */
uint64_t bn_migrating_particles_bytes(size_t words, size_t capacity);

/* How many journeys from device to device there were, and launches for them, on all devices of this rank. */
typedef struct bn_migration_counts {
    unsigned long long travellers, launches;
} bn_migration_counts;
bn_migration_counts bn_migrating_particles_counts(const bn_migrating_particles *);

#endif
