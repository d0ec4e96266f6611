/* test_bench_rounds.c: rounds of work that follows from the state begin with the same one: they have the same steps,
 * launches and bits. */
#include "bench/bench_cases.c"
#include "bench/bench_linear.c"
#include "bench/bench_work.c"

#include "support_case.h" /* last: its ctx is also a name of parameters above */

#include <stdlib.h>
#include <string.h>

typedef struct round_end {
    double steps;
    bn_sim_state now;
    bn_queue_counts counts; /* of the round */
    double *values;
} round_end;

enum { POINTS = 65 * 65 };

static void time_round(bn_bench_work *w, const char *field, round_end *out)
{
    const bn_device *device = bn_domain_device(bn_bench_work_domain(w));
    const bn_queue_counts before = bn_device_counts(device);
    OK(bn_bench_work_run(w, 30, &out->steps));
    out->counts = bn_device_counts(device);
    out->counts.launches -= before.launches;
    out->counts.waits -= before.waits;
    out->now = bn_sim_now(w->sim);
    out->values = calloc(POINTS, sizeof *out->values);
    OK(bn_sim_get(w->sim, field, NULL, BN_NUMBERS_DOUBLE, out->values));
}

static void look(const char *what, const char *field)
{
    const bn_bench_case *c = bn_bench_cases;
    while (strcmp(c->what, what) != 0)
        c++;
    bn_device *device = opened_device();
    bn_bench_job job;
    bn_bench_work w;
    round_end ends[3];
    bn_bench_prepare(c, 65, false, false, &job);
    OK(bn_bench_work_open(ctx, device, &job, &w));
    OK(bn_bench_work_develop(&w, 0)); /* a single step: from there on much changes */
    for (int i = 0; i < 3; i++) {
        if (i < 2) /* the third one goes on from the second */
            OK(bn_bench_work_restart(&w));
        time_round(&w, field, &ends[i]);
    }
    ck_assert_uint_eq(ends[0].now.step, 31);
    ck_assert_uint_eq(ends[1].now.step, ends[0].now.step);
    ck_assert_uint_eq(ends[1].now.items, ends[0].now.items);
    ck_assert(ends[1].now.time == ends[0].now.time && ends[1].steps == ends[0].steps);
    ck_assert_uint_eq(ends[1].counts.launches, ends[0].counts.launches);
    ck_assert_uint_eq(ends[1].counts.waits, ends[0].counts.waits);
    ck_assert_mem_eq(ends[1].values, ends[0].values, POINTS * sizeof *ends[0].values);
    ck_assert_uint_eq(ends[2].now.step, 61);
    ck_assert_uint_ne(ends[2].counts.launches, ends[1].counts.launches);
    ck_assert(memcmp(ends[2].values, ends[1].values, POINTS * sizeof *ends[1].values) != 0);
    for (int i = 0; i < 3; i++)
        free(ends[i].values);
    bn_bench_work_close(&w);
}

TEST(cycles_of_multigrid) { look("time step, multigrid", "psi"); }
TEST(water_in_a_bowl) { look("97 % dry", "depth"); }

int main(void) { return bn_test_main("bench_rounds", open_context, close_context); }
