/* cli_tune_shapes.c: candidates of `binnacle tune`: their times, and which shapes of work-groups are worth a try. */
#include "cli/cli_tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COARSE_MOST = 24, QUICK_MOST = 10 };

double bn_tune_median(const bn_tune_candidate *s)
{
    if (s->count == 0)
        return (double)NAN;
    return s->count % 2 ? s->seconds[s->count / 2] : 0.5 * (s->seconds[s->count / 2 - 1] + s->seconds[s->count / 2]);
}

double bn_tune_range(const bn_tune_candidate *s)
{
    return s->count > 1 ? (s->seconds[s->count - 1] - s->seconds[0]) / bn_tune_median(s) : (double)NAN;
}

void bn_tune_record(bn_tune_candidate *s, double seconds)
{
    s->verdict = BN_TUNE_OK;
    if (s->count == BN_TUNE_ROUNDS || !(seconds > 0))
        return;
    size_t at = s->count++;
    for (; at > 0 && s->seconds[at - 1] > seconds; at--)
        s->seconds[at] = s->seconds[at - 1];
    s->seconds[at] = seconds;
}

bool bn_tune_overlap(const bn_tune_candidate *a, const bn_tune_candidate *b)
{
    const size_t cut_a = a->count >= 4, cut_b = b->count >= 4;
    return a->count > 0 && b->count > 0 && a->seconds[cut_a] <= b->seconds[b->count - 1 - cut_b] &&
           b->seconds[cut_b] <= a->seconds[a->count - 1 - cut_a];
}

void bn_tune_add_shape(bn_tune_kernel *k, const size_t side[3])
{
    for (size_t i = 0; i < k->count; i++)
        if (memcmp(k->shapes[i].side, side, sizeof k->shapes[i].side) == 0)
            return;
    if (k->count < BN_TUNE_SHAPES)
        k->shapes[k->count++] = (bn_tune_candidate){ .side = { side[0], side[1], side[2] } };
}

static size_t power_above(size_t n)
{
    size_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

/* The most work-items that a kernel's group can use. */
static size_t most_items(const bn_tune_kernel *k)
{
    return k->info.range == BN_PER_BLOCK && k->info.largest > BN_BLOCK_NX ? BN_BLOCK_NX : k->info.largest;
}

/* Whether a group of that shape makes sense and is allowed. */
static bool is_allowed(const bn_tune *t, const bn_tune_kernel *k, const size_t side[3])
{
    if (side[0] * side[1] * side[2] > most_items(k))
        return false;
    for (int d = 0; d < 3; d++) {
        const size_t most = k->info.range != BN_PER_CELL ? (d ? 1 : SIZE_MAX)
                            : d < t->first.dims          ? power_above(t->first.n[d])
                                                         : 1;
        if (side[d] < 1 || side[d] > t->device->max_work_item[d] || (side[d] > most && side[d] > 1))
            return false;
    }
    return true;
}

static int log2_of(size_t n)
{
    int l = 0;
    while (n >>= 1)
        l++;
    return l;
}

/* Groups of 256 in rows are right for most kernels: how far a shape is from that, the nearest being tried first.
 * Products of the multiple that the device prefers come before all others. */
static int distance(const bn_tune_kernel *k, const size_t side[3])
{
    const size_t items = side[0] * side[1] * side[2];
    return (items % k->info.multiple ? 100 : 0) + 2 * abs(log2_of(items) - 8) + abs(log2_of(side[0]) - 6) +
           2 * log2_of(side[2]);
}

void bn_tune_choose_shapes(const bn_tune *t, bn_tune_kernel *k)
{
    const bn_options *o = t->cli->options;
    const size_t most = most_items(k), room = o->full ? BN_TUNE_SHAPES : o->quick ? QUICK_MOST : COARSE_MOST;
    for (int wanted = 0; wanted < 200 && k->count < room; wanted++)
        for (size_t z = 1; z <= most; z *= 2)
            for (size_t y = 1; y * z <= most; y *= 2)
                for (size_t x = 1; x * y * z <= most; x *= 2) {
                    const size_t side[3] = { x, y, z };
                    if (distance(k, side) == wanted && (o->full || x * y * z <= 1024) && is_allowed(t, k, side) &&
                        k->count < room)
                        bn_tune_add_shape(k, side);
                }
}

size_t bn_tune_fastest(const bn_tune_kernel *k, size_t least)
{
    size_t best = 0;
    for (size_t s = 0; s < k->count; s++)
        if (k->shapes[s].verdict == BN_TUNE_OK && k->shapes[s].count >= least &&
            !(bn_tune_median(&k->shapes[best]) <= bn_tune_median(&k->shapes[s])))
            best = s;
    return best;
}

void bn_tune_add_neighbours(const bn_tune *t, bn_tune_kernel *k)
{
    const bn_tune_candidate best = k->shapes[bn_tune_fastest(k, 1)];
    for (int up = -1; up < 3; up++)
        for (int down = -1; down < 3; down++) {
            size_t side[3] = { best.side[0], best.side[1], best.side[2] };
            if (down >= 0 && side[down] % 2)
                continue;
            if (up >= 0)
                side[up] *= 2;
            if (down >= 0)
                side[down] /= 2;
            if (is_allowed(t, k, side))
                bn_tune_add_shape(k, side);
        }
}
