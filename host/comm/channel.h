/* channel.h: messages between boxes of different devices: from a buffer of the sender's device into pinned host memory,
 * and from there into a buffer of the receiver's device, in queues beside the one that computes; events keep the order.
 * The host waits only between platforms or ranks. A message may also be copied from a field to another box's field, in
 * rectangles, which spares both devices a kernel that packs and one that unpacks. */
#ifndef BN_HOST_CHANNEL_H
#define BN_HOST_CHANNEL_H

#include "grid/transfer.h"

/* A rectangle of a message from field to field: region[0] bytes in region[1] rows of region[2] layers, dense in the
 * message from `at` on. */
typedef struct bn_channel_piece {
    bn_rect source, target; /* buffers: NULL on other ranks */
    size_t at, region[3];
} bn_channel_piece;

typedef struct bn_channel {
    size_t from, to;               /* numbers of the boxes, each in its own domain */
    const bn_box *source, *target; /* the boxes */
    int tag;
    bn_buffer *send, *receive; /* on the two devices, where they are of this rank */
    size_t send_at;            /* where in `send` the message begins [B] */
    bn_channel_piece *pieces;  /* of a message from field to field: `send` and `receive` are not used */
    size_t piece_count, piece_room;
    bn_pinned host;
    size_t bytes; /* of the message under way; 0: there is none */
    /* Of the last message; NULL before the first. The next one is read after `packed`, written after `unpacked`. */
    cl_event packed, read, written, unpacked;
} bn_channel;

/* Whether messages from one box to the other concern this rank. */
bool bn_channel_exists(const bn_box *from, const bn_box *to);
/* The number of a channel among all that there can be, the same on all ranks, as the tag of its messages. */
int bn_channel_tag(size_t number);
/* Takes the place of one of the events above. */
void bn_channel_event(cl_event *kept, cl_event fresh);
/* One of the events above becomes what was launched on the device so far; `mark`: NULL at first, so that several have
 * one in common. */
BN_CHECKED bn_status bn_channel_mark(const bn_device *, cl_event *mark, cl_event *kept);
/* A message of no pieces from now on, or one piece more, at its end. */
void bn_channel_empty(bn_channel *);
BN_CHECKED bn_status bn_channel_add(bn_context *, bn_channel *, const bn_channel_piece *);
/* Leaves `send` and `receive` to be destroyed by their owner. */
void bn_channel_release(bn_channel *);

/* Three calls for messages whose `bytes` and `packed` are set. From now on what other ranks send is taken; all of that
 * has to come before `deliver` returns. */
BN_CHECKED bn_status bn_channels_expect(bn_domain *, bn_channel *, size_t count);
/* Messages set off, all the way where both devices are here, without a wait of the host. Whatever shall run meanwhile
 * has been launched before. */
BN_CHECKED bn_status bn_channels_send(bn_channel *, size_t count);
/* Until each is in `receive`, or on its way there: `written` tells. Its reader sets `unpacked`. */
BN_CHECKED bn_status bn_channels_deliver(bn_domain *, bn_channel *, size_t count);

#endif
