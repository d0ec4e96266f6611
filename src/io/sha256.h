/* sha256.h: SHA-256 of files and texts, as `sha256sum` prints it. */
#ifndef BN_SHA256_H
#define BN_SHA256_H

#include "binnacle/context.h"
#include <stddef.h>

enum { BN_SHA256_TEXT = 65 }; /* hexadecimal, with the NUL */

BN_CHECKED bn_status bn_sha256(bn_context *, const void *data, size_t bytes, char text[BN_SHA256_TEXT]);
/* Of a whole file, read piece by piece, and its size. */
BN_CHECKED bn_status bn_sha256_file(bn_context *, const char *path, unsigned long long *bytes,
                                    char text[BN_SHA256_TEXT]);

#endif
