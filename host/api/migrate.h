/* migrate.h: particles that migrate between devices. Where each device has a slab of what a kernel reads, too large for
 * one, a particle (a photon, or whatever a work-item follows) that needs another slab migrates there, with all that
 * belongs to it, in so many 32-bit words. bn_migration launches the kernel and takes particles from device to device,
 * between ranks too, through pinned host memory, until none is on its way.
 *
 * Every device has as many work-items as room for arriving particles (`capacity`), and a work-item sends away one in a
 * launch at most (kernels/lib/migrate.h): none has to be refused. More may arrive at a device than it has room for:
 * they wait in host memory, and meanwhile no device begins new ones, so that those that wait stay some times the
 * capacity. The order in which they arrive differs from run to run: what they add up must not depend on it. */
#ifndef BN_API_MIGRATE_H
#define BN_API_MIGRATE_H

#include "api/launch.h"

typedef struct bn_migrating_particles bn_migrating_particles;

/* words: of a particle, with that for the device that it goes to. Devices only. All ranks call it together. */
BN_CHECKED bn_status bn_migrating_particles_create(bn_domain *, const char *name, size_t words, size_t capacity,
                                                   bn_migrating_particles **out);
void bn_migrating_particles_destroy(bn_migrating_particles **);
/* The memory that they take on each device, for a plan. */
uint64_t bn_migrating_particles_bytes(size_t words, size_t capacity);

/* How many migrations from device to device there were, and launches for them, on all devices of this rank. */
typedef struct bn_migration_counts {
    unsigned long long particles, launches;
} bn_migration_counts;
bn_migration_counts bn_migrating_particles_counts(const bn_migrating_particles *);

extern const bn_argument_kind bn_argument_migrating, bn_argument_first_plane, bn_argument_end_plane;

/* clang-format off */
/* Arriving and departing particles, in a kernel of range BN_PER_PARTICLE: global uint * (kernels/lib/migrate.h). */
#define BN_MIGRATING(p) { .kind = &bn_argument_migrating, .object.other = (p) }
/* Of an array in slabs (bn_device_array_slabs): the first plane that the kernel sees, and the one behind the last;
 * int. */
#define BN_FIRST_PLANE(a) { .kind = &bn_argument_first_plane, .object.array = (a) }
#define BN_END_PLANE(a) { .kind = &bn_argument_end_plane, .object.array = (a) }
/* clang-format on */

/* Launches a kernel of range BN_PER_PARTICLE, one of whose arguments is BN_MIGRATING, again and again, until no
 * particle is on its way and every work-item has done what it begins by itself. Waits for every launch. */
#define BN_MIGRATION(kernel, ...) \
    bn_migration((kernel), (const bn_arg[]){ __VA_ARGS__ }, sizeof((const bn_arg[]){ __VA_ARGS__ }) / sizeof(bn_arg))
BN_CHECKED bn_status bn_migration(bn_kernel *, const bn_arg *, size_t count);

#endif
