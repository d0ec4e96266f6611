/* cli_check.c: `binnacle check`: what a case will take, before anything runs. Opens no device. */
#include "cli/options.h"
#include "sim/plan.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds on a device, from the measured bandwidth and the bytes that an average kernel of the solver moves; NaN where unknown. */
static double estimate_seconds(const bn_plan *p, const bn_device_info *d)
{
    double words = 0, kernels = 0;
    for (const bn_kernel_desc *k = p->solver->kernels; k->name; k++)
        if (k->range != BN_ONCE) {
            words += k->cost.reads + k->cost.writes;
            kernels++;
        }
    const double points = (double)p->grid.n[0] * p->grid.n[1] * p->grid.n[2];
    if (d->bandwidth <= 0 || p->effort_steps <= 0 || kernels == 0)
        return (double)NAN;
    const double bytes = words / kernels * (p->precision == BN_DOUBLE ? 8 : 4) * points;
    const double launch = d->cpu ? 20e-6 : 4e-6; /* a launch has a price of its own */
    return p->effort_steps * p->effort_kernels * (bytes / d->bandwidth + launch);
}

static void time_text(double s, char *out, size_t room)
{
    if (!isfinite(s))
        snprintf(out, room, "not measured");
    else if (s < 120)
        snprintf(out, room, "at most about %.0f s", ceil(s));
    else if (s < 7200)
        snprintf(out, room, "at most about %.0f min", s / 60);
    else
        snprintf(out, room, "at most about %.0f h", s / 3600);
}

static bool fits(const bn_plan *p, const bn_device_info *d)
{
    uint64_t largest = 0, bytes = bn_plan_device_bytes(p, &largest);
    return bytes > 0 && bytes <= d->bytes && largest <= d->largest_buffer;
}

static uint64_t host_memory(void) { return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE); }

static void print_text(const bn_case *c, const bn_plan *p, const bn_device_info *d, size_t count)
{
    static const char axes[] = "xyz";
    uint64_t largest = 0, bytes = bn_plan_device_bytes(p, &largest), host = bn_plan_host_bytes(p);
    printf("%s: %s, %s precision\ngrid ", bn_case_path(c), p->solver->summary, p->precision == BN_DOUBLE ? "double" : "single");
    for (int k = 0; k < p->grid.dims; k++)
        printf("%s%u", k ? " x " : "", p->grid.n[k]);
    printf(" %s", p->grid.nodes ? "nodes" : "cells");
    for (int k = 0; k < p->grid.dims; k++)
        printf(", h%c = %.4g m", axes[k], p->grid.h[k]);
    printf("\n");
    for (size_t i = 0; i < p->note_count; i++)
        printf("  %-24s %.6g %s\n", p->notes[i].name, p->notes[i].value, p->notes[i].unit);
    printf("memory %.4g MiB, largest buffer %.4g MiB\n", (double)bytes / 0x1p20, (double)largest / 0x1p20);
    for (size_t i = 0; i < count; i++) {
        char estimate[64];
        time_text(estimate_seconds(p, &d[i]), estimate, sizeof estimate);
        printf("  device %zu  %-40.40s %s%s%s\n", i, d[i].name, fits(p, &d[i]) ? "fits" : "does NOT fit",
               p->precision == BN_DOUBLE && !d[i].fp64 ? ", has no double precision" : ", time: ",
               p->precision == BN_DOUBLE && !d[i].fp64 ? "" : estimate);
    }
    if (count == 0)
        printf("  no OpenCL device here (binnacle devices tells why); --reference runs on the host\n");
    printf("  reference  %.4g MiB of host memory: %s\n", (double)host / 0x1p20, host > 0 && host <= host_memory() ? "fits" : "does NOT fit");
    uint64_t output = 0;
    for (size_t i = 0; i < p->field_count; i++)
        if (p->fields[i].role & BN_OUTPUT)
            output += (uint64_t)(p->fields[i].components > 0 ? p->fields[i].components : 1) * (p->precision == BN_DOUBLE ? 8 : 4) *
                      p->grid.n[0] * p->grid.n[1] * p->grid.n[2];
    const long long every = bn_case_int(c, "output.every"), steps = bn_case_int(c, "stop.steps");
    printf("output at most %lld times %.4g MiB before compression; at most %lld steps\n", 1 + (every > 0 ? steps / every : 0), (double)output / 0x1p20,
           steps);
}

static bn_status print_json(bn_context *ctx, const bn_case *c, const bn_plan *p, const bn_device_info *d, size_t count)
{
    uint64_t largest = 0, bytes = bn_plan_device_bytes(p, &largest);
    json_t *notes = json_object(), *devices = json_array();
    for (size_t i = 0; i < p->note_count; i++)
        json_object_set_new(notes, p->notes[i].name, isfinite(p->notes[i].value) ? json_real(p->notes[i].value) : json_null());
    for (size_t i = 0; i < count; i++) {
        const double seconds = estimate_seconds(p, &d[i]);
        json_array_append_new(devices, json_pack("{s:s,s:b,s:b,s:o}", "name", d[i].name, "fits", fits(p, &d[i]), "fp64", d[i].fp64, "seconds_at_most",
                                                 isfinite(seconds) ? json_real(seconds) : json_null()));
    }
    json_t *out = json_pack("{s:s,s:s,s:s,s:[I,I,I],s:I,s:I,s:I,s:o,s:o}", "case", bn_case_path(c), "solver", p->solver->name, "precision",
                            p->precision == BN_DOUBLE ? "double" : "single", "grid", (json_int_t)p->grid.n[0], (json_int_t)p->grid.n[1],
                            (json_int_t)p->grid.n[2], "device_bytes", (json_int_t)bytes, "largest_buffer", (json_int_t)largest,
                            "reference_bytes", (json_int_t)bn_plan_host_bytes(p), "notes", notes, "devices", devices);
    char *text = out ? json_dumps(out, JSON_INDENT(2)) : NULL;
    json_decref(out);
    if (!text)
        return bn_fail(ctx, BN_MEMORY, "no memory for the report");
    puts(text);
    free(text);
    return BN_OK;
}

bn_status bn_cli_check(bn_context *ctx, const bn_options *o)
{
    bn_case *c = NULL;
    bn_plan *p = NULL;
    void *state = NULL;
    const bn_device_info *d = NULL;
    size_t count = 0;
    bn_status st = BN_OK;
    BN_GO(bn_options_case(ctx, o, &c));
    if (!(state = calloc(1, bn_solver_find(bn_case_solver(c))->state_size))) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for the plan");
        goto out;
    }
    BN_GO(bn_plan_create(ctx, c, state, &p));
    if (bn_devices(ctx, &d, &count) != BN_OK) { /* a machine without OpenCL can check all the same */
        bn_error_clear(ctx);
        count = 0;
    }
    if (o->json)
        BN_GO(print_json(ctx, c, p, d, count));
    else
        print_text(c, p, d, count);
    bool anywhere = bn_plan_host_bytes(p) > 0 && bn_plan_host_bytes(p) <= host_memory();
    for (size_t i = 0; i < count; i++)
        anywhere = anywhere || fits(p, &d[i]);
    if (!anywhere)
        st = bn_plan_check_memory(ctx, p, count > 0 ? &d[0] : NULL);
out:
    bn_plan_destroy(&p);
    free(state);
    bn_case_destroy(&c);
    return st;
}
