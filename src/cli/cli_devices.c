/* cli_devices.c: `binnacle devices`: what can run here and how to name it. */
#include "cli/options.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Measures each device; one that fails keeps its place without a number. */
static void measure_all(bn_context *ctx, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char selector[32];
        bn_device *device;
        double value;
        snprintf(selector, sizeof selector, "%zu", i);
        bn_status st = bn_device_open(ctx, selector, false, &device);
        if (st == BN_OK)
            st = bn_device_bandwidth(device, &value);
        if (st != BN_OK) {
            bn_log(ctx, BN_LOG_WARNING, "device %zu can't be measured: %s", i, bn_error_text(ctx));
            bn_error_clear(ctx);
        }
        bn_device_close(&device);
    }
}

static const char *bandwidth_text(double value, char *room, size_t bytes)
{
    if (value <= 0)
        return "-";
    if (value >= 1e12)
        snprintf(room, bytes, "%.2f TB/s", value * 1e-12);
    else
        snprintf(room, bytes, "%.1f GB/s", value * 1e-9);
    return room;
}

static void print_table(const bn_device_info *d, size_t count, size_t chosen, const char *why)
{
    printf("   #  P:D  type  %-44s %10s %11s %11s  fp64 int64-atomics  driver\n", "device", "memory", "largest", "copy");
    for (size_t i = 0; i < count; i++) {
        char speed[32], name[64];
        snprintf(name, sizeof name, "%.44s", d[i].name);
        printf(" %c %-2zu %zu:%zu  %-4s  %-44s %6.1f GiB %7.1f GiB %11s  %-4s %-13s  %s %s\n", i == chosen ? '*' : ' ', i,
               d[i].platform_index, d[i].index_in_platform, d[i].cpu ? "cpu" : "gpu", name, (double)d[i].bytes / 0x1p30,
               (double)d[i].largest_buffer / 0x1p30, bandwidth_text(d[i].bandwidth, speed, sizeof speed), d[i].fp64 ? "yes" : "no",
               d[i].int64_atomics ? "yes" : "no", d[i].platform, d[i].driver);
    }
    printf("* = auto: %s. Choose with --device or BINNACLE_DEVICE: the number, P:D, gpu, cpu, or a part of the name.\n"
           "Details: binnacle devices N.  Loader problems: --check.  Copy bandwidth: --measure\n",
           why);
}

static void print_details(const bn_device_info *d)
{
    char speed[32];
    printf("device %zu (%zu:%zu)\n  name            %s\n  platform        %s\n  vendor          %s\n  version         %s\n  driver          %s\n",
           d->index, d->platform_index, d->index_in_platform, d->name, d->platform, d->vendor, d->version, d->driver);
    printf("  type            %s\n  memory          %.2f GiB\n  largest buffer  %.2f GiB\n  local memory    %llu B\n"
           "  compute units   %u at %u MHz\n  work-group      at most %zu work-items, %zu x %zu x %zu\n"
           "  double          %s\n  int64 atomics   %s\n  exact fp32 division and square root  %s\n  copy bandwidth  %s\n",
           d->cpu ? "cpu" : "gpu or accelerator", (double)d->bytes / 0x1p30, (double)d->largest_buffer / 0x1p30,
           (unsigned long long)d->local_bytes, d->compute_units, d->clock_mhz, d->max_work_group, d->max_work_item[0],
           d->max_work_item[1], d->max_work_item[2], d->fp64 ? "yes" : "no", d->int64_atomics ? "yes" : "no",
           d->exact_division ? "promised" : "not promised", bandwidth_text(d->bandwidth, speed, sizeof speed));
}

static bn_status print_json(bn_context *ctx, const bn_device_info *d, size_t count, size_t chosen, const char *why)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            list, json_pack("{s:I,s:I,s:I,s:s,s:s,s:s,s:s,s:s,s:b,s:I,s:I,s:I,s:i,s:i,s:b,s:b,s:f,s:b}", "index", (json_int_t)i,
                            "platform_index", (json_int_t)d[i].platform_index, "index_in_platform",
                            (json_int_t)d[i].index_in_platform, "name", d[i].name, "platform", d[i].platform, "vendor", d[i].vendor,
                            "driver", d[i].driver, "version", d[i].version, "cpu", d[i].cpu, "bytes", (json_int_t)d[i].bytes,
                            "largest_buffer", (json_int_t)d[i].largest_buffer, "local_bytes", (json_int_t)d[i].local_bytes,
                            "compute_units", (int)d[i].compute_units, "clock_mhz", (int)d[i].clock_mhz, "fp64", d[i].fp64,
                            "int64_atomics", d[i].int64_atomics, "copy_bytes_per_second", d[i].bandwidth, "auto", i == chosen));
    json_t *out = json_pack("{s:o,s:s}", "devices", list, "auto_because", why);
    char *text = out ? json_dumps(out, JSON_INDENT(2)) : NULL;
    json_decref(out);
    if (!text)
        return bn_fail(ctx, BN_MEMORY, "no memory for the list of devices");
    puts(text);
    free(text);
    return BN_OK;
}

bn_status bn_cli_devices(bn_context *ctx, const bn_options *o)
{
    const bn_device_info *d;
    size_t count, chosen, n;
    const char *why = "";
    if (o->check) {
        char *text;
        BN_TRY(bn_device_check_loader(ctx, &text));
        fputs(text, stdout);
        free(text);
        return BN_OK;
    }
    BN_TRY(bn_devices(ctx, &d, &count));
    if (o->measure)
        measure_all(ctx, count);
    BN_TRY(bn_device_select(ctx, o->device, &chosen, 1, &n, &why));
    if (o->json)
        return print_json(ctx, d, count, chosen, why);
    if (o->argument_count == 1) {
        BN_TRY(bn_device_select(ctx, o->arguments[0], &chosen, 1, &n, &why));
        print_details(&d[chosen]);
        return BN_OK;
    }
    print_table(d, count, chosen, why);
    return BN_OK;
}
