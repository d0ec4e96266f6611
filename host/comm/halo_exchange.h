/* halo_exchange.h: halos filled with the neighbours' present values. */
#ifndef BN_HOST_HALO_EXCHANGE_H
#define BN_HOST_HALO_EXCHANGE_H

#include "grid/enqueue.h"

/* Boxes of one device: kernels copy. */
BN_CHECKED bn_status bn_halo_exchange_in_phases(bn_field *, int radius);

/* Boxes of several devices. What one box needs of another is one message, corners included. `begin` packs what the
 * neighbours need of all these fields, `send` starts the messages; kernels launched between these two calls run while
 * the messages are under way, and must read no halo. `end` puts what was received into the halos. Kernels that read
 * halos may run at the same time as those: `beside` is true, bn_halo_exchange_order says when they are launched, and
 * `join` follows. */
enum { BN_HALO_REQUESTS = 24 };
typedef struct bn_halo_request {
    bn_field *field;
    int radius;
    int own_radius; /* in cells of the kernel's own grid, from a cut within which it reads this halo */
    int side;       /* 0: both; -1, 1: only what lies towards lower, towards higher indices */
    bool wraps;     /* the reader finds the cells across a periodic side by itself, if no cut divides that dimension */
} bn_halo_request;
BN_CHECKED bn_status bn_halo_exchange_begin(bn_domain *, const bn_halo_request *, size_t count);
BN_CHECKED bn_status bn_halo_exchange_send(bn_domain *);
BN_CHECKED bn_status bn_halo_exchange_end(bn_domain *, const bn_halo_request *, size_t count, bool beside);
bn_order bn_halo_exchange_order(bn_device *, bool last);
BN_CHECKED bn_status bn_halo_exchange_join(bn_domain *);
/* All three one after the other, where nothing is computed meanwhile. */
BN_CHECKED bn_status bn_halo_exchange_at_once(bn_domain *, const bn_halo_request *);

/* halo_pack.c: between the field's box and a dense block that begins `at` bytes into a buffer of the same device. */
BN_CHECKED bn_status bn_halo_pack(bn_field *, size_t box, const long first[3], const long n[3], bn_buffer *, size_t at,
                                  bool unpack, const bn_order *);
size_t bn_halo_block_bytes(const bn_field *, const long n[3]);
/* Bytes of a message up to where the next block may begin. */
size_t bn_block_end(size_t bytes);

#endif
