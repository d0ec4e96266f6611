/* buffer.h: memory of a device, and host memory that a device copies to and from at full speed. */
#ifndef BN_HOST_BUFFER_H
#define BN_HOST_BUFFER_H

#include "device/opencl.h"

/* Bytes behind every buffer that hold a known pattern in debug contexts. */
enum { BN_CANARY_BYTES = 256 };
/* Bytes that are filled at once. */
enum { BN_FILL_BYTES = 1 << 28 };

typedef struct bn_buffer {
    struct bn_buffer **list, *next, *previous; /* the list that it was created in */
    char *name;
    cl_mem mem;
    cl_mem image; /* the same memory as a one-dimensional image; NULL until a kernel asks for it */
    bn_device *device;
    size_t bytes; /* without the canary */
} bn_buffer;

/* `list`: all buffers of an owner, for bn_buffers_check. */
BN_CHECKED bn_status bn_buffer_create(bn_device *, bn_buffer **list, const char *name, size_t bytes, bn_buffer **out);
void bn_buffer_destroy(bn_buffer **);
/* So many bytes from `start` on become the word again and again; where either is no multiple of four, its first byte.
 */
BN_CHECKED bn_status bn_buffer_fill(bn_buffer *, cl_uint word, size_t start, size_t bytes);
/* Debug contexts: BN_MISMATCH and the name when a canary behind any of them is gone. */
BN_CHECKED bn_status bn_buffers_check(bn_buffer *list);
/* Views the buffer as an image of reals (in double precision of four words, which are two), for kernels that read
 * through the texture path. */
BN_CHECKED bn_status bn_buffer_image(bn_buffer *, bn_precision);

/* Pinned host memory, kept mapped. */
typedef struct bn_pinned {
    bn_device *device;
    cl_mem mem;
    void *data;
    size_t bytes;
} bn_pinned;

/* Grows to at least so many bytes; contents are lost. */
BN_CHECKED bn_status bn_pinned_need(bn_device *, bn_pinned *, size_t bytes);
void bn_pinned_free(bn_pinned *);

#endif
