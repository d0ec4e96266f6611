/* cli_text.c: documents of commands. */
#include "cli/cli_text.h"

#include <stdio.h>

json_t *bn_cli_device_json(const bn_device_info *d, bool chosen)
{
    return json_pack(
        "{s:I, s:I, s:I, s:b, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:b, s:b, s:b, s:I, s:I, s:I, s:i, s:i, s:I, s:o, "
        "s:o}",
        "index", (json_int_t)d->index, "platform_index", (json_int_t)d->platform_index, "index_in_platform",
        (json_int_t)d->index_in_platform, "auto", (int)chosen, "name", bn_json_text(d->name), "platform",
        bn_json_text(d->platform), "vendor", bn_json_text(d->vendor), "driver", bn_json_text(d->driver), "version",
        bn_json_text(d->version), "type", d->cpu ? "cpu" : "gpu", "fp64", (int)d->fp64, "int64_atomics",
        (int)d->int64_atomics, "exact_division", (int)d->exact_division, "side_by_side", (int)d->side_by_side, "bytes",
        (json_int_t)d->bytes, "largest_buffer", (json_int_t)d->largest_buffer, "local_bytes",
        (json_int_t)d->local_bytes, "compute_units", (int)d->compute_units, "clock_mhz", (int)d->clock_mhz,
        "max_work_group", (json_int_t)d->max_work_group, "bandwidth",
        d->bandwidth > 0 ? json_real(d->bandwidth) : json_null(), "extensions", bn_json_text(d->extensions));
}

bn_status bn_json_print(const bn_cli *cli, json_t *document)
{
    if (!document)
        return bn_fail(cli->ctx, BN_MEMORY, "no memory for the JSON document");
    /* main reports a failure of stdout, as for any other output. */
    *cli->answered = true;
    int failed = json_dumpf(document, stdout, JSON_INDENT(2));
    json_decref(document);
    if (failed && !ferror(stdout))
        return bn_fail(cli->ctx, BN_MEMORY, "no memory to print the JSON document");
    putchar('\n');
    return BN_OK;
}
