/* cli_new.c: `binnacle new`: a starter case on stdout, or the list of solvers. */
#include "cli/commands.h"

#include "binnacle/sim.h"
#include "case/schema.h"

#include <stdio.h>
#include <stdlib.h>

bn_status bn_cli_new(const bn_cli *cli)
{
    const char *const *names = bn_solver_names();
    if (cli->options->arg_count == 0) {
        for (size_t i = 0; names[i]; i++)
            printf("%-9s %s\n", names[i], bn_solver_summary(names[i]));
        return BN_OK;
    }
    const char *solver = cli->options->args[0];
    if (!bn_solver_summary(solver)) {
        const char *meant = bn_suggest(solver, names);
        return bn_fail(cli->ctx, BN_USAGE, "unknown solver `%s`%s%s%s (binnacle new lists them)", solver,
                       meant ? "; did you mean `" : "", meant ? meant : "", meant ? "`?" : "");
    }
    char *text = NULL;
    BN_TRY(bn_solver_starter(cli->ctx, solver, &text));
    fputs(text, stdout);
    free(text);
    return BN_OK;
}
