/* device_select.c: which device a selector names, and why. */
#include "device/device_list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of compute units times clock: only a guess, for devices that nobody has measured. */
static double guessed_speed(const bn_device_info *info)
{
    return (double)info->compute_units * (double)(info->clock_mhz ? info->clock_mhz : 1);
}

/* The fastest of the devices that are (not) CPUs, or -1. */
static long fastest(const bn_device_list *list, bool cpu, const char **reason)
{
    long best = -1;
    size_t candidates = 0;
    bool all_measured = true;
    for (size_t i = 0; i < list->count; i++)
        if (list->info[i].cpu == cpu) {
            candidates++;
            all_measured = all_measured && list->info[i].bandwidth > 0;
        }
    for (size_t i = 0; i < list->count; i++) {
        const bn_device_info *info = &list->info[i];
        if (info->cpu != cpu)
            continue;
        if (best < 0 || (all_measured ? info->bandwidth > list->info[best].bandwidth
                                      : guessed_speed(info) > guessed_speed(&list->info[best])))
            best = (long)i;
    }
    *reason = list->count == 1  ? "the only device"
              : candidates == 1 ? (cpu ? "the only CPU" : "a GPU before a CPU")
              : all_measured    ? "the largest measured copy bandwidth"
                             : "the most compute units times clock (not all were measured: binnacle devices --measure)";
    return best;
}

static bool contains(const char *text, const char *part)
{
    size_t n = strlen(part);
    for (; *text; text++) {
        size_t i = 0;
        while (i < n && text[i] && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (i == n)
            return true;
    }
    return false;
}

static bool same_word(const char *a, const char *b) { return strlen(a) == strlen(b) && contains(a, b); }

/* A whole number without sign; false when the text is none or too large. */
static bool number(const char *text, size_t *value)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    unsigned long long v = strtoull(text, &end, 10);
    *value = (size_t)v;
    return *end == '\0' && v < 1000000;
}

static bn_status no_such(bn_context *ctx, const bn_device_list *list, const char *selector, const char *why)
{
    char names[4096] = "";
    size_t at = 0;
    for (size_t i = 0; i < list->count && at < sizeof names; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "\n  %zu  %s (%s)", i, list->info[i].name,
                               list->info[i].platform);
    return bn_fail(
        ctx, BN_DEVICE,
        "--device %s: %s; possible are auto, all, gpu, cpu, an index, PLATFORM:DEVICE, or a part of a name. Present:%s",
        selector, why, names);
}

/* "gpu", "gpu:1", "cpu", "cpu:0": the fastest, or the n-th of its type. */
static bool by_type(const bn_device_list *list, const char *selector, long *index, const char **reason)
{
    bool cpu = strncmp(selector, "cpu", 3) == 0;
    if (!cpu && strncmp(selector, "gpu", 3) != 0)
        return false;
    if (selector[3] == '\0') {
        *index = fastest(list, cpu, reason);
        return true;
    }
    size_t wanted;
    if (selector[3] != ':' || !number(selector + 4, &wanted))
        return false;
    *index = -1;
    for (size_t i = 0; i < list->count; i++)
        if (list->info[i].cpu == cpu && wanted-- == 0)
            *index = (long)i;
    *reason = "asked for by type and number";
    return true;
}

static bn_status select_one(bn_context *ctx, const bn_device_list *list, const char *selector, size_t *out,
                            const char **reason)
{
    long index = -1;
    size_t n;
    char *colon = strchr(selector, ':');
    if (same_word(selector, "auto")) {
        index = fastest(list, false, reason);
        if (index < 0)
            index = fastest(list, true, reason);
    } else if (by_type(list, selector, &index, reason)) {
        if (index < 0)
            return no_such(ctx, list, selector, "there is none");
    } else if (number(selector, &n)) {
        *reason = "asked for by index";
        if (n >= list->count)
            return no_such(ctx, list, selector, "there are not so many devices");
        index = (long)n;
    } else if (colon && number(colon + 1, &n) && isdigit((unsigned char)selector[0])) {
        *reason = "asked for by platform and device";
        for (size_t i = 0; i < list->count; i++)
            if (list->info[i].platform_index == strtoull(selector, NULL, 10) && list->info[i].index_in_platform == n)
                index = (long)i;
        if (index < 0)
            return no_such(ctx, list, selector, "there is none");
    } else {
        size_t matches = 0;
        *reason = "asked for by name";
        for (size_t i = 0; i < list->count; i++)
            if (contains(list->info[i].name, selector) || contains(list->info[i].platform, selector)) {
                index = (long)i;
                matches++;
            }
        if (matches == 0)
            return no_such(ctx, list, selector, "no device has that in its name");
        if (matches > 1)
            return no_such(ctx, list, selector, "several devices have that in their names");
    }
    *out = (size_t)index;
    return BN_OK;
}

bool bn_devices_alike(const bn_device_info *a, const bn_device_info *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->platform, b->platform) == 0;
}

/* What was asked for, here or in the environment. */
static const char *asked_for(const char *selector)
{
    if (!selector || !selector[0])
        selector = getenv("BINNACLE_DEVICE");
    return selector && selector[0] ? selector : "auto";
}

bn_status bn_device_select(bn_context *ctx, const char *selector, size_t *indices, size_t room, size_t *count,
                           const char **reason)
{
    const bn_device_list *list;
    const char *why = "";
    *count = 0;
    selector = asked_for(selector);
    BN_TRY(bn_device_list_get(ctx, &list));
    if (same_word(selector, "all")) {
        why = "all were asked for";
        for (size_t i = 0; i < list->count && i < room; i++)
            indices[(*count)++] = i;
    } else {
        char word[256];
        for (const char *p = selector; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
            size_t n = strcspn(p, ",");
            if (n == 0 || n >= sizeof word)
                return no_such(ctx, list, selector, "an empty or overlong name");
            memcpy(word, p, n);
            word[n] = '\0';
            if (*count >= room)
                return bn_fail(ctx, BN_USAGE, "--device %s names more than %zu device%s", selector, room,
                               room == 1 ? "" : "s");
            const size_t first = *count;
            BN_TRY(select_one(ctx, list, word, &indices[*count], &why));
            (*count)++;
            for (size_t i = 0; same_word(word, "gpu") && i < list->count && *count < room; i++)
                if (i != indices[first] && bn_devices_alike(&list->info[i], &list->info[indices[first]]))
                    indices[(*count)++] = i;
        }
    }
    if (reason)
        *reason = why;
    return BN_OK;
}
