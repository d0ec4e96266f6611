/* cli_selftest.c: `binnacle self-test`, the children of bn_selftest_ensure; not meant for people. */
#include "cli/commands.h"

#include "cli/cli_text.h"
#include "run/selftest.h"

#include <stdio.h>
#include <string.h>

/* "2/3": the second of three parts; "2/3-": which compiles what it is sent until it is told to begin; "2/1-": no
 * part follows that; "2/1+": the first steps of a case whose name follows. */
static bn_status read_part(bn_context *ctx, const char *text, bn_selftest_part *part, bool *has_first_steps)
{
    size_t number, count;
    char more[3] = "";
    if (sscanf(text, "%zu/%zu%2s", &number, &count, more) < 2 ||
        (more[0] && strcmp(more, "-") != 0 && strcmp(more, "+") != 0) || number < 1 || (number > count && !more[0]) ||
        number > 4096 || count < 1 || count > 4096)
        return bn_fail(ctx, BN_USAGE, "self-test: %s is no part such as 2/3", text);
    *part = (bn_selftest_part){ .index = number - 1, .count = count, .serves = more[0] == '-' };
    *has_first_steps = more[0] == '+';
    return BN_OK;
}

/* One line of JSON a case: the field that differs most. */
static void print_case(void *user, const char *name, const bn_verify_report *report)
{
    (void)user;
    const bn_verify_row *worst = &report->rows[0];
    for (size_t r = 1; r < report->count; r++)
        if (!(report->rows[r].ulps <= worst->ulps)) /* not a number is the worst */
            worst = &report->rows[r];
    json_t *line = json_pack("{s:s, s:b, s:I, s:I, s:s, s:o, s:o}", "case", name, "equal", (int)report->ok, "steps",
                             (json_int_t)report->steps, "fields", (json_int_t)report->count, "field", worst->field,
                             "ulps", bn_json_real(worst->ulps), "difference", bn_json_real(worst->max_difference));
    if (line && json_dumpf(line, stdout, JSON_COMPACT) == 0)
        putchar('\n');
    fflush(stdout); /* the next case may end the process */
    json_decref(line);
}

bn_status bn_cli_selftest(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    bn_selftest_part part = { .index = 0, .count = 1 };
    const char *cases[65] = { NULL };
    bool has_first_steps = false;
    if (o->arg_count > 1)
        BN_TRY(read_part(cli->ctx, o->args[1], &part, &has_first_steps));
    const bn_selftest_watch watch = { .result = print_case };
    for (size_t i = 2; i < o->arg_count; i++) /* at most 66 (main.c) */
        cases[i - 2] = o->args[i];
    if (has_first_steps)
        part.first_steps = o->arg_count > 2 ? cases[0] : "";
    else
        part.cases = cases;
    return bn_selftest_here(cli->ctx, o->args[0], o->run.device, o->precision == BN_WISH_DOUBLE, part,
                            o->run.json ? &watch : NULL);
}
