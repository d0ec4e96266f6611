/* attachment.c: lists of objects to be destroyed with their owner. */
#include "device/attachment.h"

#include <stdlib.h>

struct bn_attachment {
    bn_attachment *next;
    void *object;
    bn_teardown *teardown;
};

void *bn_attached(const bn_attachment *list, bn_teardown *teardown)
{
    for (; list; list = list->next)
        if (list->teardown == teardown)
            return list->object;
    return NULL;
}

bn_status bn_attach(bn_context *ctx, bn_attachment **list, void *object, bn_teardown *teardown)
{
    bn_attachment *a = object ? malloc(sizeof *a) : NULL;
    if (!a) {
        if (object)
            teardown(object);
        return bn_fail(ctx, BN_MEMORY, "no memory for the runtime");
    }
    *a = (bn_attachment){ *list, object, teardown };
    *list = a;
    return BN_OK;
}

static void remove_first(bn_attachment **at)
{
    bn_attachment *a = *at;
    *at = a->next;
    a->teardown(a->object);
    free(a);
}

void bn_detach(bn_attachment **list, bn_teardown *teardown)
{
    for (bn_attachment **at = list; *at; at = &(*at)->next)
        if ((*at)->teardown == teardown) {
            remove_first(at);
            return;
        }
}

void bn_detach_all(bn_attachment **list)
{
    while (*list)
        remove_first(list);
}
