/* binary_cache.h: compiled programs kept between runs, where the platform does not do it itself. */
#ifndef BN_HOST_BINARY_CACHE_H
#define BN_HOST_BINARY_CACHE_H

#include "api/embedded_files.h"
#include <stddef.h>

/* Looks an entry up by its whole key; NULL in *binary when there is none that is whole, ours and private. Never fails.
 */
void bn_binary_cache_get(bn_context *, const char *key, size_t key_bytes, unsigned char **binary, size_t *bytes);

/* Keeps a binary under its key; what goes wrong is logged at debug level. */
void bn_binary_cache_put(bn_context *, const char *key, size_t key_bytes, const unsigned char *binary, size_t bytes);

#endif
