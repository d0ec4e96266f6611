/* cli_selftest.c: `binnacle self-test`, the child of bn_selftest_ensure; not meant for people. */
#include "cli/commands.h"

#include "sim/selftest.h"

bn_status bn_cli_selftest(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    return bn_selftest_here(cli->ctx, o->args[0], o->device, o->precision == BN_WISH_DOUBLE);
}
