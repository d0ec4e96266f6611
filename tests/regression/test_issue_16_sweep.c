/* test_issue_16_sweep.c: of a sweep whose wavelengths do not all converge within stop.steps each, those that do keep
 * their results, the others are named. */
#include "support_case.h"

#include <string.h>

/* 500, 550, ... 800 nm take 440, 440, 480, 480, 520, 520, 560 steps. */
static const char sweep_case[] = "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [1, 1, 80]\n"
                                 "[light]\nwavelength = 500e-9\nuntil = 800e-9\ncount = 7\n"
                                 "[[material]]\nname = \"glass\"\nn = 1.5\n[structure]\ntop = 1e-6\n"
                                 "[[layer]]\nmaterial = \"glass\"\nthickness = 300e-9\n";

TEST(what_converges_is_kept_and_what_does_not_is_named)
{
    enum { MOST = 500, ROWS = 7 };
    run all = RUN(sweep_case, NULL, "stop.steps=5000"), some = RUN(sweep_case, NULL, "stop.steps=500");
    size_t rows, all_rows;
    ck_assert(bn_sim_now(all.sim).converged && !bn_results_unconverged(bn_sim_results(all.sim)));
    ck_assert(!bn_sim_now(some.sim).converged && bn_sim_done(some.sim));
    const bn_column *ends = table(&some, "sweep", NULL, &rows), *all_ends = table(&all, "sweep", NULL, &all_rows);
    ck_assert_uint_eq(rows, ROWS);
    ck_assert_uint_eq(all_rows, ROWS);
    const bn_column *spectrum = table(&some, "spectrum", NULL, &rows),
                    *expected = table(&all, "spectrum", NULL, &all_rows);
    ck_assert_uint_eq(rows, ROWS);
    size_t converged = 0;
    unsigned long long steps = 0;
    for (size_t r = 0; r < ROWS; r++) {
        const bool ended = all_ends[1].values[r] <= MOST;
        ck_assert_double_eq(all_ends[3].values[r], 1);
        ck_assert_double_eq(ends[3].values[r], ended);
        ck_assert_double_eq(ends[1].values[r], ended ? all_ends[1].values[r] : MOST);
        ck_assert_double_eq(spectrum[0].values[r], expected[0].values[r]);
        if (ended)
            ck_assert_double_eq(spectrum[1].values[r], expected[1].values[r]);
        else
            ck_assert(isnan(spectrum[1].values[r]));
        converged += ended;
        steps += (unsigned long long)ends[1].values[r];
    }
    ck_assert(converged > 0 && converged < ROWS);
    ck_assert_uint_eq(steps, bn_sim_now(some.sim).step);
    ck_assert_str_eq(bn_results_unconverged(bn_sim_results(some.sim)), "wavelength 700 nm, 750 nm, 800 nm");
    end_run(&all);
    end_run(&some);
}

int main(void) { return bn_test_main("issue-16-sweep", open_context, close_context); }
