/* build.h: programs compiled beside the host. */
#ifndef BN_HOST_BUILD_H
#define BN_HOST_BUILD_H

#include "grid/grid.h"

typedef struct bn_build bn_build;
typedef struct bn_builder bn_builder;

/* A program of a device. */
struct bn_build {
    unsigned users;
    bn_build *next, *other;   /* that waits; of the builder's */
    bn_builder *of, *builder; /* builder NULL: it was compiled at once, or is only listed */
    bool later, compiled;
    bn_device *device;
    char *file, *text, *options;
    cl_program cl;
    bool cached;
    bn_status st;
};

/* Takes text and options over, also when it fails; then, too, release it. The same file with the same options is built
 * once for a device, as long as it has users: systems of equations on one grid share theirs, and the coarser grids of
 * all systems; a driver's own cache takes tens of milliseconds for each. */
bn_status bn_build_begin(bn_device *, const char *file, char *text, char *options, bn_build **out);
/* Waits until it is compiled. */
bn_status bn_build_wait(bn_build *);
/* Counts a user less; a program without any goes, whether it is compiled or not. */
void bn_build_release(bn_build *);
/* Whether steps do without a kernel file, so that they need not wait for its programs. */
bool bn_build_comes_later(const char *file);

#endif
