/* report.c: the lines at the beginning and the end of a run. */
#include "run/report.h"

#include "output/json_text.h"
#include "sim/checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bn_report_begin(bn_sim *sim, const bn_summary *s, const char *folder)
{
    const bn_plan *p = bn_sim_plan(sim);
    uint64_t largest;
    const uint64_t bytes = s->device ? bn_plan_device_bytes(p, &largest) : bn_plan_host_bytes(p);
    fprintf(stderr, "%s: %s, %s, %s precision, %" PRIu32, p->solver->name, bn_case_path(bn_sim_case(sim)),
            s->device ? s->device->name : "CPU reference", p->precision == BN_DOUBLE ? "double" : "single",
            p->grid.n[0]);
    for (int k = 1; k < p->grid.dims; k++)
        fprintf(stderr, " x %" PRIu32, p->grid.n[k]);
    fprintf(stderr, " %s, %.3g MiB\n", p->grid.nodes ? "nodes" : "cells", (double)bytes / 0x1p20);
    char threads[64] = "";
    if (s->device && s->device->threads > 0)
        snprintf(threads, sizeof threads, ", %u of its %u threads", (unsigned)s->device->threads,
                 (unsigned)s->device->compute_units);
    if (s->device)
        fprintf(stderr, "device: %s%s; self-test %s (%.1f s); kernels built in %.1f s; work-groups: %s; output: %s\n",
                s->selected_because, threads, s->selftest, s->testing,
                bn_domain_build_stats(bn_sim_domain(sim)).seconds, bn_sim_tuning_source(sim), folder);
    else
        fprintf(stderr, "output: %s\n", folder);
    const bn_coordinate along = bn_solver_coordinate(p->solver);
    if (bn_sim_resumed(sim))
        fprintf(stderr, "going on from step %llu, %s = %.6g %s: %s\n", bn_sim_now(sim).step, along.letter,
                bn_sim_now(sim).time, along.unit, bn_checkpoint_path(bn_sim_resumed(sim)));
}

void bn_report_end(bn_sim *sim, const bn_summary *s, const char *folder)
{
    const bn_results *found = bn_sim_results(sim);
    static const char *const words[] = {
        [BN_NOT_JUDGED] = "  expected", [BN_AS_EXPECTED] = "  expected", [BN_NOT_AS_EXPECTED] = "  NOT as expected:"
    };
    const unsigned long long steps = bn_sim_now(sim).step - s->resumed_from;
    size_t width = 24;
    for (size_t i = 0; i < bn_results_count(found); i++) {
        const size_t wide = strlen(bn_results_at(found, i)->name);
        width = isfinite(bn_results_at(found, i)->value) && wide > width ? wide : width;
    }
    fprintf(stderr, "%llu step%s in %.2f s, ended by: %s\n", steps, steps == 1 ? "" : "s", s->steps, s->stopped_by);
    for (size_t i = 0; i < bn_results_count(found); i++) {
        const bn_result_info *info = bn_results_at(found, i);
        if (isfinite(info->value))
            fprintf(stderr, "  %-*s %14.8g%s%s\n", (int)width, info->name, info->value,
                    info->unit && info->unit[0] ? " " : "", info->unit ? info->unit : "");
        if (isfinite(info->expected)) {
            fprintf(stderr, "  %-*s %14.8g%s", (int)width,
                    s->cut_short ? "  expected at the end" : words[bn_summary_judge(s, info)], info->expected,
                    info->tolerance > 0 ? " +- " : "");
            if (info->tolerance > 0)
                fprintf(stderr, "%.2g", info->tolerance);
            fprintf(stderr, "%s%s\n", info->source[0] ? ": " : "", info->source);
        }
    }
    fprintf(stderr, "%s: %s\n",
            s->status == BN_IO ? "what could be written before the failure" : "results, fields and pictures", folder);
}

void bn_report_profile(bn_sim *sim, double limit)
{
    bn_profile_row rows[BN_PROFILE_ROWS];
    const size_t count = bn_profile_rows(sim, true, rows);
    fprintf(stderr, "%-20s %9s %12s %12s %9s %9s\n", "kernel", "calls", "time", "per call", "GB/s", "of copy");
    for (size_t i = 0; i < count; i++) {
        const double rate = rows[i].bytes / rows[i].seconds;
        fprintf(stderr, "%-20s %9llu %10.4f s %9.2f us", rows[i].kernel, rows[i].calls, rows[i].seconds,
                1e6 * rows[i].seconds / (double)rows[i].calls);
        if (rows[i].bytes > 0)
            fprintf(stderr, " %9.2f", 1e-9 * rate);
        if (rows[i].bytes > 0 && limit > 0)
            fprintf(stderr, " %7.1f %%", 100 * rate / limit);
        fputc('\n', stderr);
    }
}

void bn_report_json_end(bn_context *ctx, bn_sim *sim, bn_output_dir *folder, bn_status st)
{
    const bn_sim_state now = sim ? bn_sim_now(sim) : (bn_sim_state){ 0 };
    json_t *line = json_pack("{s:s, s:I, s:o, s:o}", "event", "end", "steps", (json_int_t)now.step, "converged",
                             sim ? bn_summary_converged(sim) : json_null(), "summary",
                             folder ? bn_json_text(bn_output_dir_name(folder, "summary.json").text) : json_null());
    char *text = line && bn_json_add_outcome(line, ctx, st) ? json_dumps(line, JSON_COMPACT) : NULL;
    if (text)
        printf("%s\n", text);
    else /* without memory: the parts that scripts need first */
        printf("{\"event\":\"end\",\"status\":\"%s\",\"exit_code\":%d,\"summary\":null}\n", bn_status_text(st),
               bn_exit_code(st));
    fflush(stdout);
    json_decref(line);
    free(text);
}
