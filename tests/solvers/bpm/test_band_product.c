/* test_band_product.c: the study of products with band matrices by diagonals: against the reference, bit for bit, and
 * against rows of the full matrix. */
#include "support_case.h"

#include "run/selftest.h"

#include <complex.h>
#include <math.h>

TEST(products_equal_the_reference)
{
    OK(bn_selftest_here(ctx, "band_product", "auto", false, (bn_selftest_part){ .count = 1 }, NULL));
}

/* The entries that the study makes, in the order of its bands. */
static double complex value(double seed, size_t i)
{
    return sin(seed + 0.37 * (double)i) + (double complex)I * cos(seed - 0.11 * (double)i);
}

/* The diagonals of a band lie one after the other, each as long as it is: (6) and (7) without their formula. */
TEST(products_are_those_of_the_full_matrix)
{
    enum { N = 40, LOWER = 3, UPPER = 5 };
    static double complex a[N][N];
    double z[2 * N];
    size_t upper = 0, lower = 0;
    for (size_t i = 0; i < N; i++)
        a[i][i] = value(0, i);
    for (size_t m = 1; m <= UPPER; m++)
        for (size_t i = 0; i + m < N; i++)
            a[i][i + m] = value(1, upper++);
    for (size_t h = 1; h <= LOWER; h++)
        for (size_t j = 0; j + h < N; j++)
            a[j + h][j] = value(2, lower++);
    run r = RUN("[case]\nsolver = \"band_product\"\nprecision = \"double\"\n[grid]\npoints = 40\n[band]\nlower = 3\n"
                "upper = 5\n",
                NULL, "stop.steps=1");
    OK(bn_sim_read(r.sim, "z", z, sizeof z));
    for (size_t i = 0; i < N; i++) {
        double complex sum = 0;
        for (size_t j = 0; j < N; j++)
            sum += a[i][j] * value(3, j);
        /* nine products of numbers up to sqrt(2) in size, each rounded a few times: 9 x 2 x 4 / 2^53 */
        ck_assert_msg(cabs(z[2 * i] + (double complex)I * z[2 * i + 1] - sum) < 8e-15, "row %zu", i);
    }
    end_run(&r);
}

int main(void) { return bn_test_main("band_product", open_context, close_context); }
