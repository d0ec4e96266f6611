/* cli_run.c: `binnacle run`. */
#include "cli/commands.h"

#include "binnacle/case.h"
#include "run/run.h"

bn_status bn_cli_run(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    bn_case *c = NULL;
    bn_status st = BN_OK;
    bn_run_desc desc = { .device = o->device,
                         .reference = o->reference,
                         .out = o->out,
                         .force = o->force,
                         .profile = o->profile,
                         .boxes = o->boxes,
                         .steps = o->steps,
                         .resume = o->resume,
                         .weights = o->weights,
                         .checkpoint_steps = o->checkpoint_steps,
                         .checkpoint_seconds = o->checkpoint_seconds,
                         .quiet = o->quiet,
                         .json = o->json,
                         .program = cli->program,
                         .stop = cli->stop,
                         .status_wanted = cli->status_wanted,
                         .last_words = cli->last_words };
    for (int k = 0; k < 3; k++)
        desc.work_group[k] = o->work_group[k];
    if (o->reference && o->device)
        return bn_fail(cli->ctx, BN_USAGE, "--reference computes without a device: leave out --device");
    if (o->resume && o->force)
        return bn_fail(cli->ctx, BN_USAGE,
                       "--resume goes on with what is in the folder, --force removes it: leave one out");
    BN_TRY(bn_context_join(cli->ctx));
    BN_GO(bn_case_read(cli->ctx, o->args[0], o->set, o->set_count, &c));
    *cli->answered = true; /* its last line tells of failures, too */
    BN_GO(bn_run_case(cli->ctx, c, &desc));
out:
    bn_case_destroy(&c);
    return st;
}
