/* first_steps.c: has the kernels of a run compiled by another process. */
#include "run/first_steps.h"

#include "api/device.h"
#include "run/compile_aside.h"
#include "sim/sim_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BN_FIRST_STEPS = 3, BN_CASE_MOST = 1 << 24 };

bool bn_first_steps_worthwhile(const bn_sim_desc *sim)
{
    const bool plain = sim->boxes <= 1 && sim->work_group[0] == 0 && sim->group_count == 0;
    return bn_device_shares_kernels(sim->device) && bn_device_global_count(sim->device) == 1 && plain &&
           sysconf(_SC_NPROCESSORS_ONLN) > 1;
}

void bn_first_steps_begin(bn_context *ctx, bn_child *child, const bn_case *c)
{
    char *text = NULL;
    const bool whole = bn_case_resolved(c, &text) == BN_OK;
    const size_t bytes = whole ? strlen(text) + 1 : 0;
    if (!whole)
        bn_error_clear(ctx);
    if (!whole || !bn_child_send(child, &bytes, sizeof bytes) || !bn_child_send(child, text, bytes))
        bn_child_kill(child); /* it would wait for more */
    free(text);
}

bool bn_first_steps_end(bn_child *child, double seconds, const bn_device *device)
{
    const double start = bn_seconds_now();
    while (child->running && !bn_aside_passed(child) && bn_seconds_now() - start < seconds)
        (void)bn_child_poll(child, 1);
    const bool passed = bn_aside_passed(child);
    bn_child_kill(child); /* what it has to say is said, or comes too late */
    bn_device_fetch_kernels(device);
    /* Memory for two processes may not be there. */
    return passed || child->end != BN_CHILD_CRASHED || child->code == SIGKILL;
}

static bn_status hear_case(bn_context *ctx, const char *name, bn_case **out)
{
    size_t bytes = 0;
    char *text = NULL;
    if (bn_child_hear(&bytes, sizeof bytes) && bytes > 0 && bytes < BN_CASE_MOST)
        text = malloc(bytes);
    const bn_status st = text && bn_child_hear(text, bytes) && text[bytes - 1] == '\0'
                             ? bn_case_parse(ctx, name, text, NULL, 0, out)
                             : bn_fail(ctx, BN_USAGE, "what came on standard input is no case");
    free(text);
    return st;
}

bn_status bn_first_steps_here(bn_context *ctx, bn_device *device, const char *name)
{
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    bn_status st = BN_OK;
    BN_GO(hear_case(ctx, name, &c));
    BN_GO(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device, .tuned = true }, &sim));
    BN_GO(bn_device_compile_copy(device));
    for (int i = 0; i < BN_FIRST_STEPS && !bn_sim_done(sim); i++) {
        bn_sim_quiet(sim, i + 1 < BN_FIRST_STEPS); /* both ways of a step, where there are two */
        BN_GO(bn_sim_step(sim));
    }
    BN_GO(bn_sim_measure(sim));
    BN_GO(bn_aside_pass(ctx));
out:
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    return st;
}
