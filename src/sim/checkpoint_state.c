/* checkpoint_state.c: named arrays of a checkpoint. */
#include "sim/checkpoint_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bn_checkpoint_state_group(bn_checkpoint_state *k, const char *group)
{
    snprintf(k->group, sizeof k->group, "%s", group);
}
bool bn_state_restores(const bn_checkpoint_state *k) { return k->restores; }

bn_status bn_checkpoint_state_add(bn_checkpoint_state *k, const char *name, bn_part_type type, size_t count,
                                  bn_state_entry **out)
{
    *out = NULL;
    if (strlen(name) >= BN_STATE_NAME || count > SIZE_MAX / 16)
        return bn_fail(k->ctx, BN_USAGE, "cannot keep %zu values called %s", count, name);
    bn_state_entry *items = realloc(k->items, (k->count + 1) * sizeof *items);
    if (items)
        k->items = items;
    void *values = calloc(count * bn_part_bytes(type) + 1, 1);
    if (!items || !values) {
        free(values);
        return bn_fail(k->ctx, BN_MEMORY, "no memory to keep %s (%zu values)", name, count);
    }
    *out = &items[k->count++];
    **out = (bn_state_entry){ .type = type, .count = count, .values = values };
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    return BN_OK;
}

void bn_checkpoint_state_release(bn_checkpoint_state *k)
{
    for (size_t i = 0; i < k->count; i++)
        free(k->items[i].values);
    free(k->items);
    k->items = NULL;
    k->count = 0;
}

bool bn_checkpoint_state_has(const bn_checkpoint_state *k, const char *name)
{
    char whole[BN_STATE_NAME + 40];
    snprintf(whole, sizeof whole, "%s/%s", k->group, name);
    for (size_t i = 0; i < k->count; i++)
        if (strcmp(k->items[i].name, whole) == 0)
            return true;
    return false;
}

static bn_status find(const bn_checkpoint_state *k, const char *name, bn_part_type type, const bn_state_entry **out)
{
    for (size_t i = 0; i < k->count; i++)
        if (strcmp(k->items[i].name, name) == 0 && k->items[i].type == type) {
            *out = &k->items[i];
            return BN_OK;
        }
    return bn_fail(k->ctx, BN_IO, "cannot go on from %s: it has no %s; it was written by another version", k->path,
                   name);
}

/* Stores or restores; values are 8 bytes wide, or bytes. */
static bn_status serialize(bn_checkpoint_state *k, const char *name, bn_part_type type, void *values, size_t count)
{
    char whole[BN_STATE_NAME + 40];
    snprintf(whole, sizeof whole, "%s/%s", k->group, name);
    bn_state_entry *made;
    if (!k->restores) {
        BN_TRY(bn_checkpoint_state_add(k, whole, type, count, &made));
        if (count > 0)
            memcpy(made->values, values, count * bn_part_bytes(type));
        return BN_OK;
    }
    const bn_state_entry *found;
    BN_TRY(find(k, whole, type, &found));
    if (found->count != count)
        return bn_fail(k->ctx, BN_IO, "cannot go on from %s: it has %zu values of %s, %zu are needed", k->path,
                       found->count, whole, count);
    if (count > 0)
        memcpy(values, found->values, count * bn_part_bytes(type));
    return BN_OK;
}

bn_status bn_state_reals(bn_checkpoint_state *k, const char *name, double *values, size_t count)
{
    return serialize(k, name, BN_PART_F64, values, count);
}

bn_status bn_state_counts(bn_checkpoint_state *k, const char *name, unsigned long long *values, size_t count)
{
    _Static_assert(sizeof *values == 8, "counts are written as they lie in memory");
    return serialize(k, name, BN_PART_I64, values, count);
}

bn_status bn_state_same(bn_checkpoint_state *k, const char *key, double value)
{
    double was = value;
    BN_TRY(bn_state_reals(k, key, &was, 1));
    if (was == value)
        return BN_OK;
    return bn_fail(k->ctx, BN_CASE, "%s: %s is %.17g, but %.17g in %s, which belongs to another case", k->case_path,
                   key, value, was, k->path);
}

bn_status bn_state_text(bn_checkpoint_state *k, const char *name, const char **text, size_t *bytes)
{
    char whole[BN_STATE_NAME + 40];
    snprintf(whole, sizeof whole, "%s/%s", k->group, name);
    bn_state_entry *made;
    if (!k->restores) {
        BN_TRY(bn_checkpoint_state_add(k, whole, BN_PART_U8, *bytes, &made));
        memcpy(made->values, *text, *bytes);
        return BN_OK;
    }
    const bn_state_entry *found;
    BN_TRY(find(k, whole, BN_PART_U8, &found));
    *text = found->values; /* one byte longer than its count, zero */
    *bytes = found->count;
    return BN_OK;
}
