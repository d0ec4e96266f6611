/* channel.h: messages between boxes of different devices: from a buffer of the sender's device into pinned host memory,
 * and from there into a buffer of the receiver's device, in queues beside the one that computes. In one
 * context events keep the order; else the sender's thread tells the receiver's when the message is there
 * (device_thread.h), and between ranks the caller waits. A message may also
 * be copied from a field to another box's field, in rectangles, which spares both devices a kernel that packs and one
 * that unpacks. A long message goes in parts: one is written while the next one is read. */
#ifndef BN_HOST_CHANNEL_H
#define BN_HOST_CHANNEL_H

#include "grid/transfer.h"

/* A rectangle of a message from field to field: region[0] bytes in region[1] rows of region[2] layers, dense in the
 * message from `at` on. */
typedef struct bn_channel_piece {
    bn_rect source, target; /* buffers: NULL on other ranks */
    size_t at, region[3];
} bn_channel_piece;

enum { BN_CHANNEL_PARTS = 8 };

typedef struct bn_channel {
    size_t from, to;               /* numbers of the boxes, each in its own domain */
    const bn_box *source, *target; /* the boxes */
    int tag;
    bn_buffer *send, *receive; /* on the two devices, where they are of this rank */
    size_t send_at;            /* where in `send` the message begins [B] */
    bn_channel_piece *pieces;  /* of a message from field to field: `send` and `receive` are not used */
    size_t piece_count, piece_room;
    size_t room;          /* of `send`, `receive` and half of `host` */
    bn_pinned host;       /* two messages: one is written while the next one is read */
    size_t bytes;         /* of the message under way; 0: there is none */
    unsigned long number; /* of messages so far, this one included */
    /* Events of the last message; NULL before the first. `packed` and `read` are of the sender's device, `written` and
     * `unpacked` of the receiver's. The next one is read after `packed`, written after `unpacked`. */
    cl_event packed, read, written, unpacked;
    cl_event read_part[BN_CHANNEL_PARTS]; /* of its parts but the last one, whose event is `read` */
    _Atomic unsigned long sent;           /* parts that are in host memory, BN_CHANNEL_PARTS for a whole message */
    _Atomic unsigned long taken;          /* messages that are not needed there any more */
} bn_channel;

/* Memory of the host for messages of so many bytes; not while one is under way. */
BN_CHECKED bn_status bn_channel_room(bn_channel *, size_t bytes);
/* A message of no pieces from now on, or one piece more, at its end. */
void bn_channel_empty(bn_channel *);
BN_CHECKED bn_status bn_channel_add(bn_context *, bn_channel *, const bn_channel_piece *);

/* A channel for each pair of boxes for which `needs` says that `to` needs something of `from`, and whose message
 * concerns this rank: by sender, then receiver, so that ranks go through them in the same order. */
BN_CHECKED bn_status bn_channels_find(const bn_domain *, bool (*needs)(const bn_domain *, size_t from, size_t to),
                                      const char *doing, bn_channel **out, size_t *count);
void bn_channels_destroy(bn_channel *, size_t count);

/* Three calls for messages whose `bytes` and `packed` are set. From now on what other ranks send is taken; all of that
 * has to come before `deliver` returns. */
BN_CHECKED bn_status bn_channels_expect(bn_domain *, bn_channel *, size_t count);
/* Messages set off, in one context all the way, without a wait. Whatever shall run meanwhile has been launched before.
 */
BN_CHECKED bn_status bn_channels_send(bn_domain *, bn_channel *, size_t count);
/* What is launched next on a device comes when its messages are on their way into `receive`: `written` tells. Its
 * reader sets `unpacked`. The queues of incoming messages are yet to be flushed: more may be listed there first. */
BN_CHECKED bn_status bn_channels_deliver(bn_domain *, bn_channel *, size_t count);
/* Those of messages that go out, or come in. */
BN_CHECKED bn_status bn_channels_flush(bn_domain *, bool out);

#endif
