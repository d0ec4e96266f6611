/* test_stop.c: a run of any solver ends after stop.steps steps, and with the step that reaches stop.time. The reference
 * does it. */
#include "support_case.h"

#include "api/embedded_files.h"

#include <stdio.h>
#include <string.h>

/* Runs a case for three steps at most, with one override: its end, and the time after each of the first steps. */
enum { STEPS = 3 };
static bn_sim_state run_to_end(const bn_embedded *file, const char *override, double time[STEPS + 1])
{
    bn_case *c;
    bn_sim *sim;
    OK(bn_case_parse(ctx, file->name, file->text, (const char *const[]){ "stop.steps=3", override }, 2, &c));
    OK(bn_sim_create(ctx, c, &(bn_sim_desc){ .boxes = 1 }, &sim));
    for (int step = 1; !bn_sim_done(sim); step++) {
        OK(bn_sim_step(sim));
        if (step <= STEPS)
            time[step] = bn_sim_now(sim).time;
    }
    const bn_sim_state end = bn_sim_now(sim);
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    return end;
}

TEST(runs_end_where_stop_says)
{
    int with_time = 0, cases = 0;
    for (const bn_embedded *file = bn_embedded_files; file->name; file++) {
        double time[STEPS + 1] = { 0 }, again[STEPS + 1];
        char override[64];
        if (strncmp(file->name, "selftest/", 9) != 0)
            continue;
        cases++;
        bn_sim_state end = run_to_end(file, "stop.time=0", time);
        if (end.converged || end.complete) /* of few steps */
            continue;
        ck_assert_msg(end.step == 3, "%s: %llu steps", file->name, end.step);
        if (!(time[2] > time[1]))
            continue;
        with_time++;
        snprintf(override, sizeof override, "stop.time=%.17g", time[2]);
        end = run_to_end(file, override, again);
        ck_assert_msg(end.step == 2 && end.time == time[2], "%s: %llu steps to %.17g, not 2 to %.17g", file->name,
                      end.step, end.time, time[2]);
    }
    ck_assert_msg(cases >= 10 && with_time >= 5, "%d cases, %d with time", cases, with_time);
}

int main(void) { return bn_test_main("stop", open_context, close_context); }
