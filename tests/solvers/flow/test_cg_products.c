/* test_cg_products.c: the study of products of conjugate gradients: every variant against the reference, bit for bit,
 * and the solution against the equations. */
#include "support_case.h"

#include "run/selftest.h"
#include "studies/cg_products.h"

#include <stdlib.h>

TEST(variants_equal_the_reference)
{
    OK(bn_selftest_here(ctx, "cg_products", "auto", false, (bn_selftest_part){ .count = 1 }, NULL));
}

/* 50 iterations on 40 x 27 nodes; the residual is recomputed here from -Laplace x = b. */
TEST(iterations_solve_the_system)
{
    enum { NX = 40, NY = 27 };
    double x[NX * NY], rr = 0, bb = 0;
    run r = RUN("[case]\nsolver = \"cg_products\"\nprecision = \"double\"\n[grid]\nnodes = [40, 27]\n", NULL,
                "stop.steps=1");
    OK(bn_sim_read(r.sim, "x", x, sizeof x));
    const double kx = (NX - 1) * (NX - 1), ky = (NY - 1) * (NY - 1);
    for (size_t j = 1; j + 1 < NY; j++)
        for (size_t i = 1; i + 1 < NX; i++) {
            const size_t at = j * NX + i;
            const double b = 1 + 0.1 * (double)(at * 2654435761u % 1000) / 1000;
            const double left = b - kx * (2 * x[at] - x[at - 1] - x[at + 1]) -
                                ky * (2 * x[at] - x[at - NX] - x[at + NX]);
            rr += left * left;
            bb += b * b;
        }
    ck_assert_msg(rr <= 1e-4 * bb, "residual %g", sqrt(rr / bb));
    end_run(&r);
}

int main(void) { return bn_test_main("cg_products", open_context, close_context); }
