/* attachment.h: what higher floors keep with an object of a lower one (a context, a domain), which only knows how to
 * destroy it. An entry is found again by the function that destroys it: one object of a kind. */
#ifndef BN_HOST_ATTACHMENT_H
#define BN_HOST_ATTACHMENT_H

#include "binnacle/context.h"

typedef struct bn_attachment bn_attachment;
typedef void bn_teardown(void *object);

/* NULL: there is none. */
void *bn_attached(const bn_attachment *list, bn_teardown *);
/* The list owns the object from now on; on failure it is destroyed. */
BN_CHECKED bn_status bn_attach(bn_context *, bn_attachment **list, void *object, bn_teardown *);
/* Destroys one object before the rest; nothing if there is none. */
void bn_detach(bn_attachment **list, bn_teardown *);
void bn_detach_all(bn_attachment **list);

#endif
