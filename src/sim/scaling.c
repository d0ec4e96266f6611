/* scaling.c: the model of docs/scaling.md. A step takes: what a device computes over its rate, its own points and the
 * layers of its neighbours'; for each halo a time that packing, unpacking and the slab at the cut cost, even though the
 * transfer is hidden; a wait for sums; and what of the transfers the computing can't hide. */
#include "sim/scaling.h"

#include "api/device.h"
#include "api/ranks.h"
#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double pinned_bandwidth = 55e9; /* between an H200 and pinned memory of its host [B/s] */
static const double latency = 14e-6;         /* of a transfer that is waited for [s] */
static const double measured_copy = 4.18e12; /* copy bandwidth of the H200s that the solvers' numbers are of [B/s] */
static const double worth = 0.05;            /* share of a step that further devices must save */
static const double worth_a_thread = 35e-9;  /* of a CPU: a launch that takes an H200 so long (measurements.md) [s] */

static double reals_of(const bn_plan *p) { return p->precision == BN_DOUBLE ? 2 : 1; }

static double points_of_step(const bn_plan *p)
{
    const uint32_t *n = p->grid.n;
    return p->cut.scaling.points > 0 ? p->cut.scaling.points : (double)n[0] * n[1] * n[2];
}

static double seconds_of_step(const bn_plan *p, const bn_device_info *info, double devices)
{
    const bn_plan_scaling *s = &p->cut.scaling;
    const uint32_t *n = p->grid.n;
    const double grid = (double)n[0] * n[1] * n[2], layer = grid / n[s->along];
    const double reals = reals_of(p);
    const double speed = info->bandwidth > 0 ? info->bandwidth / measured_copy : 1;
    const double rate = s->rate * speed / reals;
    const double halos = devices < 2 ? 0 : devices < 3 || s->one_way ? 1 : 2; /* of a box between others */
    const double computing = (points_of_step(p) / devices + halos * s->overlap * layer) / rate;
    const double moving = 2 * (layer * s->bytes * reals / pinned_bandwidth + latency);
    return computing + (devices > 1 ? s->wait : 0) + s->exchanges * halos * s->face +
           fmax(0, s->exchanges * halos * moving - computing);
}

double bn_scaling_time(const bn_plan *p, const bn_device_info *info, size_t devices)
{
    const bool cut = !p->cut.one_box && devices <= p->grid.n[p->cut.scaling.along] &&
                     (p->cut.scaling.most == 0 || devices <= p->cut.scaling.most);
    if (!(p->cut.scaling.rate > 0) && !p->cut.one_box)
        return (double)NAN;
    return cut ? seconds_of_step(p, info, (double)devices) / seconds_of_step(p, info, 1) : 1;
}

size_t bn_scaling_devices(const bn_plan *p, const bn_device_info *info, size_t most)
{
    const size_t needed = bn_plan_devices(p, info);
    double shortest = HUGE_VAL;
    size_t count = needed < 1 ? 1 : needed < most ? needed : most;
    if (isnan(bn_scaling_time(p, info, 1)))
        return most;
    for (size_t n = count; n <= most; n++)
        shortest = fmin(shortest, bn_scaling_time(p, info, n));
    while (bn_scaling_time(p, info, count) > (1 + worth) * shortest)
        count++;
    return count;
}

static bn_status outline(bn_context *ctx, const bn_case *c, void **state, bn_plan **plan)
{
    *plan = NULL;
    *state = calloc(1, bn_solver_find(bn_case_solver(c))->state_size);
    return *state ? bn_plan_outline(ctx, c, *state, plan)
                  : bn_fail(ctx, BN_MEMORY, "no memory for the state of solver %s", bn_case_solver(c));
}

/* Of a plan that has not looked at cells, unless what they are decides. */
static bn_status devices_of_case(bn_context *ctx, const bn_case *c, const bn_device_info *info, size_t most,
                                 size_t *count)
{
    bn_plan *plan;
    void *state;
    bn_status st = BN_OK;
    BN_GO(outline(ctx, c, &state, &plan));
    *count = bn_scaling_devices(plan, info, most);
    if (*count > 1 && plan->cut.scaling.unsure) {
        bn_plan_destroy(&plan);
        memset(state, 0, bn_solver_find(bn_case_solver(c))->state_size);
        BN_GO(bn_plan_count(ctx, c, NULL, 1, state, &plan));
        *count = bn_scaling_devices(plan, info, most);
    }
out:
    bn_plan_destroy(&plan);
    free(state);
    return st;
}

/* What an H200 would take for one of a step's launches, by worth_a_thread, but no more threads than lines: of some
 * solvers a line is a work-group. */
static double threads_of(const bn_plan *p)
{
    const bn_plan_scaling *s = &p->cut.scaling;
    const double launch = points_of_step(p) * reals_of(p) / s->rate / fmax(s->launches, 1);
    return s->rate > 0 ? fmin(launch / worth_a_thread, p->grid.n[s->along]) : HUGE_VAL;
}

/* Whether the case names a file that takes longer to be read once more than fewer threads could save. */
static bool reads_much(const bn_case *c)
{
    enum { MUCH = 8 << 20 }; /* bytes */
    for (const bn_key *k = bn_solver_find(bn_case_solver(c))->schema; k->name; k++) {
        char table[64];
        struct stat file;
        if (k->type != BN_KEY_TEXT || k->gone || k->count > 1)
            continue;
        snprintf(table, sizeof table, "%.*s", (int)(strrchr(k->name, '.') - k->name), k->name);
        for (size_t i = 0; i < (k->list ? bn_case_items(c, table) : 1); i++) {
            const char *name = k->list ? bn_case_item_text(c, k->name, i) : bn_case_text(c, k->name);
            if (name[0] && stat(bn_path_beside(bn_case_path(c), name).text, &file) == 0 && S_ISREG(file.st_mode) &&
                file.st_size > MUCH)
                return true;
        }
    }
    return false;
}

bn_status bn_scaling_threads(bn_context *ctx, const bn_case *c)
{
    bn_plan *plan;
    void *state;
    if (reads_much(c))
        return BN_OK;
    const bn_status st = outline(ctx, c, &state, &plan);
    if (st == BN_OK)
        bn_devices_enough_threads(threads_of(plan) / bn_context_ranks(ctx));
    bn_plan_destroy(&plan);
    free(state);
    return st;
}

/* How fast the device copies is measured once; where that fails an H200's rates are assumed. */
static void measure_once(bn_context *ctx, const bn_device_info *info)
{
    bn_device *device = NULL;
    char index[32];
    double bandwidth;
    snprintf(index, sizeof index, "%zu", info->index);
    if (info->bandwidth > 0)
        return;
    if (bn_device_open(ctx, index, false, &device) != BN_OK || bn_device_bandwidth(device, &bandwidth) != BN_OK)
        bn_error_clear(ctx);
    bn_device_close(&device);
}

bn_status bn_scaling_select(bn_context *ctx, const bn_case *c, const char **selector, char room[BN_SCALING_SELECTOR],
                            const char **reason)
{
    const bn_device_info *all;
    size_t indices[64], present, listed, count = 1;
    const char *wish = *selector && (*selector)[0] ? *selector : getenv("BINNACLE_DEVICE");
    if (!wish || strcmp(wish, "gpu") != 0 || bn_context_ranks(ctx) > 1)
        return BN_OK;
    BN_TRY(bn_devices(ctx, &all, &listed));
    BN_TRY(bn_device_select(ctx, wish, indices, sizeof indices / sizeof *indices, &present, NULL));
    if (present < 2)
        return BN_OK;
    measure_once(ctx, &all[indices[0]]);
    BN_TRY(devices_of_case(ctx, c, &all[indices[0]], present, &count));
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(room + at, BN_SCALING_SELECTOR - at, "%s%zu", i ? "," : "", indices[i]);
    *selector = room;
    if (count < present && reason)
        *reason = "so many of the GPUs as shorten a step (docs/scaling.md)";
    return BN_OK;
}
