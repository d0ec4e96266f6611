/* bench_scaling.c: `bench --suite scaling`: the first one, two, four ... devices of --device together: weak scaling
 * (the grid, or the number of photons, grows with the devices) and strong scaling (it does not). */
#include "bench/bench.h"

#include "output/json_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES_MAX = 64 };

/* The first `count` of the indices, as --device takes them. */
static void list_devices(const size_t *indices, size_t count, char text[512])
{
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), 512 - strlen(text), "%s%zu", i ? "," : "", indices[i]);
}

static bn_status measure_one(const bn_bench_device *d, const bn_bench_case *c, const char *selector, size_t count,
                             bool weak, double *one, json_t *rows)
{
    bn_context *ctx = d->wish->ctx;
    const bool gpu = !bn_device_describe(d->plain)->cpu;
    char trouble[BN_BENCH_REASON] = "";
    bn_bench_device all = *d;
    bn_bench_job job;
    bn_bench_result r = { .seconds = (double)NAN };
    bn_bench_prepare_on(c, c->sizes[gpu][0], false, gpu, &d->limits, weak ? (unsigned)count : 1, &job);
    bn_bench_tell(d, &job);
    all.plain = NULL;
    bn_status st = bn_device_open(ctx, selector, false, &all.plain);
    if (st == BN_OK)
        st = bn_bench_measure(&all, &job, BN_BENCH_CLOCK, &r, trouble, sizeof trouble);
    bn_device_close(&all.plain);
    BN_TRY(st);
    if (count == 1)
        *one = r.refused[0] || trouble[0] ? (double)NAN : r.updates;
    const double ratio = r.updates / *one;
    json_t *row = json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:i, s:s, s:o, s:o}", "solver", c->solver, "what", c->what,
                            "precision", "single", "size", (int)job.n, "dims", c->dims, "unit", c->unit, "devices",
                            (int)count, "scaling", weak ? "weak" : "strong", "trouble",
                            trouble[0] ? bn_json_text(trouble) : json_null(), "refused",
                            r.refused[0] ? bn_json_text(r.refused) : json_null());
    json_t *more = trouble[0] ? NULL
                              : json_pack("{s:o, s:o, s:o, s:o}", "seconds", bn_json_real(r.seconds), "noise",
                                          bn_json_real(r.noise), "updates", bn_json_real(r.updates), "times_one",
                                          bn_json_real(ratio));
    return bn_bench_add_row(ctx, rows, row, more);
}

bn_status bn_bench_scaling(const bn_bench_device *d, json_t **out)
{
    size_t indices[DEVICES_MAX], count = 0;
    char selector[512];
    bn_status st = BN_OK;
    *out = NULL;
    BN_TRY(bn_device_select(d->wish->ctx, d->wish->device, indices, DEVICES_MAX, &count, NULL));
    json_t *rows = json_array();
    for (const bn_bench_case *c = bn_bench_scaled; c->solver; c++) {
        double one = (double)NAN;
        if (!bn_bench_wanted(d->wish, c->solver))
            continue;
        for (int weak = 1; weak >= 0; weak--)
            for (size_t n = weak ? 1 : 2; n <= count; n *= 2) {
                list_devices(indices, n, selector);
                BN_GO(measure_one(d, c, selector, n, weak, &one, rows));
            }
    }
    *out = json_incref(rows);
out:
    json_decref(rows);
    return st;
}

bn_status bn_bench_scaling_print(bn_context *ctx, const json_t *rows)
{
    static const bn_bench_column columns[] = {
        { "solver", "solver", BN_BENCH_TEXT, NULL },       { "what", "what", BN_BENCH_TEXT, NULL },
        { "scaling", "scaling", BN_BENCH_TEXT, NULL },     { "of one device", "size", BN_BENCH_SIZE, NULL },
        { "devices", "devices", BN_BENCH_NUMBER, NULL },   { "a step", "seconds", BN_BENCH_DURATION, NULL },
        { "noise", "noise", BN_BENCH_SHARE, NULL },        { "rate", "updates", BN_BENCH_RATE, NULL },
        { "times one", "times_one", BN_BENCH_NUMBER, "" },
    };
    return bn_bench_print(ctx, rows, columns, sizeof columns / sizeof *columns);
}
