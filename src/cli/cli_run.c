/* cli_run.c: `binnacle run`. */
#include "cli/commands.h"

#include "binnacle/case.h"
#include "run/run.h"

bn_status bn_cli_run(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    bn_case *c = NULL;
    bn_status st = BN_OK;
    if (o->run.reference && o->run.device)
        return bn_fail(cli->ctx, BN_USAGE, "--reference computes without a device: leave out --device");
    if (o->run.resume && o->run.force)
        return bn_fail(cli->ctx, BN_USAGE,
                       "--resume goes on with what is in the folder, --force removes it: leave one out");
    BN_TRY(bn_context_join(cli->ctx));
    BN_GO(bn_case_read(cli->ctx, o->args[0], o->set, o->set_count, &c));
    *cli->answered = true; /* its last line reports failures, too */
    BN_GO(bn_run_case(cli->ctx, c, &o->run));
out:
    bn_case_destroy(&c);
    return st;
}
