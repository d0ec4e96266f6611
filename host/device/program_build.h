/* program_build.h: from a kernel file to a program of a device. */
#ifndef BN_HOST_PROGRAM_BUILD_H
#define BN_HOST_PROGRAM_BUILD_H

#include "device/opencl.h"

/* Builds the program text for one device: `options` and `text` final, `name` for messages. Uses the binary cache where
 * the quirks say so. On failure BN_DEVICE with the compiler's log. `*cached` tells where it came from (may be NULL). */
BN_CHECKED bn_status bn_cl_build(bn_device *, const char *name, const char *text, const char *options, cl_program *out,
                                 bool *cached);

/* The complete text of kernels/FILE.cl for these defines: a comment with the sorted define list, the prelude
 * (device/prelude.def), each file behind a #line; from the override folder if the context has one, else embedded.
 * free() both. */
BN_CHECKED bn_status bn_kernel_text(bn_context *, const char *file, const bn_define *sorted, size_t count, bn_precision,
                                    char **text, char **options);

/* Whether this program keeps what it has compiled, for any process, rather than the platform. */
bool bn_uses_own_cache(const bn_device *);

#endif
