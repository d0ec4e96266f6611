/* cli_run.c: `binnacle run`, `new` and the hidden `self-test`: thin layers over the library. */
#include "cli/options.h"
#include "observe/run.h"
#include "sim/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bn_status bn_cli_run(bn_context *ctx, const bn_options *o)
{
    bn_case *c = NULL;
    BN_TRY(bn_options_case(ctx, o, &c));
    bn_run_desc desc = { .device = o->device, .reference = o->reference, .out = o->out, .force = o->force, .profile = o->profile,
                         .boxes = o->boxes, .steps = o->steps, .quiet = o->quiet, .json = o->json, .program = o->program,
                         .stop = o->stop, .status_wanted = o->status_wanted };
    memcpy(desc.work_group, o->work_group, sizeof desc.work_group);
    bn_status st = bn_run_case(ctx, c, &desc);
    bn_case_destroy(&c);
    return st;
}

bn_status bn_cli_new(bn_context *ctx, const bn_options *o)
{
    char *text = NULL;
    if (o->argument_count == 0) {
        printf("Solvers that a case can be made for:\n");
        for (const char *const *s = bn_solver_names(); *s; s++)
            printf("  %-10s %s\n", *s, bn_solver_summary(*s));
        return BN_OK;
    }
    BN_TRY(bn_solver_starter(ctx, o->arguments[0], &text));
    fputs(text, stdout);
    free(text);
    return BN_OK;
}

bn_status bn_cli_self_test(bn_context *ctx, const bn_options *o)
{
    return bn_selftest_here(ctx, o->arguments[0], o->device, o->precision == BN_ONLY_DOUBLE);
}
