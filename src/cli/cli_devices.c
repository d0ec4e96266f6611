/* cli_devices.c: `binnacle devices`: what can run here, and which one auto takes. Opens no device unless it
 * measures. */
#include "cli/cli_text.h"
#include "cli/cli_report.h"
#include "cli/commands.h"

#include "binnacle/device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 64 };

/* The first word of the name that selects this device alone, for --device; else P:D. */
static void paste_text(const bn_device_info *all, size_t count, const bn_device_info *info, char text[BN_SHORT_TEXT])
{
    snprintf(text, BN_SHORT_TEXT, "%zu:%zu", info->platform_index, info->index_in_platform);
    for (const char *at = info->name; *at;) {
        char word[BN_SHORT_TEXT];
        size_t bytes = strcspn(at, " (),");
        snprintf(word, sizeof word, "%.*s", bytes < sizeof word ? (int)bytes : 0, at);
        size_t matches = 0;
        for (size_t i = 0; i < count; i++)
            matches += strstr(all[i].name, word) != NULL || strstr(all[i].platform, word) != NULL;
        if (bytes >= 3 && matches == 1 && !isdigit((unsigned char)word[0]) && strcmp(word, "cpu") != 0) {
            snprintf(text, BN_SHORT_TEXT, "%s", word);
            return;
        }
        at += bytes;
        at += strspn(at, " (),");
    }
}

static bn_status print_table(const bn_cli *cli, const bn_device_info *all, size_t count, size_t chosen,
                             const char *reason)
{
    bn_text_table t = { .columns = 12, .right = 0x1c2 };
    bn_status st = BN_OK;
    BN_GO(bn_text_table_add(
        cli->ctx, &t, "\t#\tP:D\ttype\t--device\tdevice\tmemory\tlargest buffer\tcopy\tfp64\tint64 atomics\tdriver"));
    for (size_t i = 0; i < count; i++) {
        const bn_device_info *d = &all[i];
        char name[BN_TEXT_TABLE_CELL], word[BN_SHORT_TEXT], memory[2][BN_SHORT_TEXT], rate[BN_SHORT_TEXT];
        paste_text(all, count, d, word);
        bn_text_device(name, d);
        bn_text_bytes(memory[0], d->bytes);
        bn_text_bytes(memory[1], d->largest_buffer);
        bn_text_rate(rate, d->bandwidth);
        BN_GO(bn_text_table_add(cli->ctx, &t, "%s\t%zu\t%zu:%zu\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.100s",
                                i == chosen ? "*" : "", d->index, d->platform_index, d->index_in_platform,
                                d->cpu ? "cpu" : "gpu", word, name, memory[0], memory[1], rate, d->fp64 ? "yes" : "no",
                                d->int64_atomics ? "yes" : "no", d->driver));
    }
    bn_text_table_print(&t);
    printf("* = auto: %s. A GPU before a CPU, then measured copy bandwidth, then compute units times clock.\n"
           "Details: binnacle devices 0    Bandwidth: --measure    Loader problems: --check\n",
           reason ? reason : "the rule");
out:
    bn_text_table_release(&t);
    return st;
}

static void print_details(const bn_device_info *d, bool chosen)
{
    char text[BN_SHORT_TEXT];
    printf("device %zu%s  %s\n", d->index, chosen ? " (auto)" : "", d->name);
    printf("  platform             %s (%zu:%zu)\n", d->platform, d->platform_index, d->index_in_platform);
    printf("  vendor               %s\n  driver               %s\n  version              %s\n", d->vendor, d->driver,
           d->version);
    printf("  type                 %s\n", d->cpu ? "cpu" : "gpu");
    bn_text_bytes(text, d->bytes);
    printf("  memory               %s\n", text);
    bn_text_bytes(text, d->largest_buffer);
    printf("  largest buffer       %s\n", text);
    bn_text_bytes(text, d->local_bytes);
    printf("  local memory         %s\n", text);
    bn_text_rate(text, d->bandwidth);
    printf("  copy bandwidth       %s\n", d->bandwidth > 0 ? text : "not measured (binnacle devices --measure)");
    printf("  compute units        %u at %u MHz\n", d->compute_units, d->clock_mhz);
    printf("  work-group           at most %zu (%zu x %zu x %zu)\n", d->max_work_group, d->max_work_item[0],
           d->max_work_item[1], d->max_work_item[2]);
    printf("  work-groups          %s\n",
           d->side_by_side ? "run side by side: a step of flow, or a direct solution, may be one launch (docs/flow.md)"
                           : "need not run side by side: steps of flow are several launches");
    printf("  fp64                 %s\n  int64 atomics        %s\n  exact / and sqrt     %s\n", d->fp64 ? "yes" : "no",
           d->int64_atomics ? "yes" : "no", d->exact_division ? "yes" : "no");
    printf("  extensions           %s\n", d->extensions);
}

/* A device that fails gets a warning; the others are measured. */
static void measure(const bn_cli *cli, size_t index)
{
    char selector[32];
    bn_device *device = NULL;
    double rate;
    snprintf(selector, sizeof selector, "%zu", index);
    if (bn_device_open(cli->ctx, selector, false, &device) != BN_OK || bn_device_bandwidth(device, &rate) != BN_OK) {
        bn_log(cli->ctx, BN_LOG_WARNING, "%s", bn_error_text(cli->ctx));
        bn_error_clear(cli->ctx);
    }
    bn_device_close(&device);
}

static bn_status print_loader(const bn_cli *cli)
{
    char *text = NULL;
    BN_TRY(bn_device_check_icd_loader(cli->ctx, &text));
    bn_status st = BN_OK;
    if (cli->options->run.json)
        st = bn_json_print(cli, json_pack("{s:o}", "loader", bn_json_text(text)));
    else
        fputs(text, stdout);
    free(text);
    return st;
}

bn_status bn_cli_devices(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    const bn_device_info *all = NULL;
    size_t count = 0, chosen = 0, one = 0, indices[DEVICES_MAX], shown = 0;
    const char *reason = NULL;
    if (o->check)
        BN_TRY(print_loader(cli));
    BN_TRY(bn_devices(cli->ctx, &all, &count));
    if (o->check)
        return BN_OK;
    BN_TRY(bn_device_select(cli->ctx, o->arg_count ? o->args[0] : "all", indices, DEVICES_MAX, &shown, NULL));
    if (o->measure) {
        for (size_t i = 0; i < shown; i++)
            measure(cli, indices[i]);
        BN_TRY(bn_devices(cli->ctx, &all, &count));
    }
    BN_TRY(bn_device_select(cli->ctx, "auto", &chosen, 1, &one, &reason));
    if (o->report)
        return bn_cli_report(cli, all, indices, shown);
    if (o->run.json) {
        json_t *list = json_array();
        for (size_t i = 0; i < shown; i++)
            json_array_append_new(list, bn_cli_device_json(&all[indices[i]], indices[i] == chosen));
        return bn_json_print(cli, json_pack("{s:o, s:I, s:s}", "devices", list, "auto", (json_int_t)chosen, "reason",
                                            reason ? reason : ""));
    }
    if (o->arg_count == 0)
        return print_table(cli, all, count, chosen, reason);
    for (size_t i = 0; i < shown; i++)
        print_details(&all[indices[i]], indices[i] == chosen);
    return BN_OK;
}
