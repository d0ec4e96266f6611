/* load_balance.c: decides when repartitioning a domain pays. */
#include "sim/load_balance.h"
#include "api/ranks.h"

#include "sim/solver_table.h"

#include <math.h>
#include <stdio.h>

/* Cuts move only if the busiest device has a fifth more work than the mean, since engines estimate the work of blocks
 * not much better than that, and if they reduce its work by a twentieth at least, which is impossible where, say, all
 * water is in a few rows. */
static const double unfair = 1.2, worth = 0.95;

/* case.balance = 0: a check takes no more than a hundredth of the time of the steps between, and is not made more often
 * than this [s]. */
static const double looks_share = 0.01, looks_apart = 0.2;

/* Least cost of a move [s] before the first one: kernels that came from a cache at the start say little. */
static const double least_cost = 1;

/* A field that moves is on both domains at once, and buffers differ in size. */
static const double margin = 1.3;

void bn_load_balance_begin(bn_load_balance *b, const bn_plan *p, const bn_domain *d, const bn_device *device,
                           long long every, unsigned long long step)
{
    uint64_t largest = 0;
    const double need = (double)bn_plan_device_bytes(p, &largest);
    const bn_device_info *least = bn_device_least(device);
    const double room = fmin((double)least->bytes / need, (double)least->largest_buffer / (double)largest);
    *b = (bn_load_balance){ .on = true,
                            .every = every,
                            .most = room / margin * (double)bn_domain_points(d),
                            .next = step + 1,
                            .last = step,
                            .since = bn_seconds_now(),
                            .fresh = true,
                            .cost = fmax(bn_domain_build_stats(d).seconds, least_cost) };
}

bool bn_load_balance_due(const bn_load_balance *b, unsigned long long step)
{
    return b->on && (b->every > 0 ? step % (unsigned long long)b->every == 0 : step >= b->next);
}

/* The devices' shares of the cells, "25.0 75.0". */
static void tell_shares(const bn_domain *d, char *text, size_t room)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t b = 0; b < bn_domain_boxes(d) && at + 8 < room; b++)
        at += (size_t)snprintf(text + at, room - at, "%s%.1f", b > 0 ? " " : "", 100 * bn_domain_share(d, b));
}

bool bn_load_balance_wants(bn_load_balance *b, const bn_domain *d, const bn_cuts *cuts)
{
    tell_shares(d, b->shares, sizeof b->shares);
    b->looks++;
    b->highest = fmax(b->highest, cuts->now);
    b->sum += cuts->now;
    const bool better = cuts->begin && cuts->now > unfair && cuts->then < worth * cuts->now;
    double spent = bn_seconds_now() - b->since;
    bn_context_agree(bn_domain_context(d), &spent, 1);
    if (b->fresh) /* the first step's additional time is part of the cost */
        b->cost += fmax(0, spent - b->pace);
    else if (better) /* a move when the accumulated loss exceeds its cost: at most twice the optimum is spent in all */
        b->lost += spent * (1 - cuts->then / cuts->now);
    b->fresh = false;
    return better && (b->every > 0 || b->lost > b->cost);
}

void bn_load_balance_looked(bn_load_balance *b, const bn_domain *d, const bn_cuts *cuts, bool moved, double began,
                            unsigned long long step)
{
    bn_context *ctx = bn_domain_context(d);
    char shares[sizeof b->shares];
    const double now = bn_seconds_now();
    double said[2] = { now - began, (began - b->since) / (double)(step - b->last) }; /* of the check, of a step */
    bn_context_agree(ctx, said, 2);
    b->busiest = moved ? cuts->then : cuts->now;
    b->seconds += said[0];
    if (moved) {
        b->moves++;
        b->cost = said[0];
        b->pace = said[1];
        b->lost = 0;
        b->fresh = true;
        const char along = "xyz"[cuts->along];
        tell_shares(d, shares, sizeof shares);
        if (bn_context_rank(ctx) == 0)
            bn_log(ctx, BN_LOG_INFO,
                   "step %llu: the busiest of %zu devices had %.2f times the work of the mean; their shares of the "
                   "cells, cut along %c, go from %s to %s %%, and it has %.2f times (%.2f s)",
                   step, cuts->count, cuts->now, along, b->shares, shares, cuts->then, said[0]);
    }
    const double apart = moved ? 0 : fmax(looks_apart, said[0] / looks_share);
    const double steps = fmax(1, ceil(apart / fmax(said[1], 1e-9)));
    b->last = step;
    b->next = step + (steps < 1e9 ? (unsigned long long)steps : 1000000000);
    b->since = now;
}
