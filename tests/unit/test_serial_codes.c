/* test_serial_codes.c: the codes for one core that `bench` compares devices with solve what they say. */
#include "support.h"

#include "studies/bpm_serial.h"
#include "studies/cg_serial.h"

#include <complex.h>
#include <math.h>

static const double pi = 3.14159265358979323846;

/* The right-hand side is an eigenvector of A with the eigenvalue e = 1 + 4 i alpha sin^2(pi / 2 N): k sweeps from zero
 * give (1 - r^k) / e of it, r = 1 - tau e. Rounding: a few units of 2^-24 a sweep, of which the sum is bounded by 1 /
 * (1 - |r|). */
TEST(bpm_sweeps)
{
    enum { N = 200, SWEEPS = 7 };
    bpm_serial s;
    const double alpha = bpm_serial_alpha(N), e_im = 4 * alpha * pow(sin(pi / (2 * N)), 2);
    const double _Complex e = __builtin_complex(1.0, e_im), r = 1 - e / __builtin_complex(1.0, 2 * alpha),
                          expected = (1 - cpow(r, SWEEPS)) / e;
    ck_assert(bpm_serial_create(N, &s));
    ck_assert_double_le(fabs(alpha - N / (80 * pi * pi)), 1e-12);
    bpm_serial_sweep(&s, SWEEPS);
    for (int i = 1; i < N; i++) {
        const double mode = sin(pi * i / N);
        ck_assert_double_le(fabs((double)s.x[0][i] - creal(expected) * mode), 3e-7);
        ck_assert_double_le(fabs((double)s.x[1][i] - cimag(expected) * mode), 3e-7);
    }
    bpm_serial_destroy(&s);
}

/* b = A x for a known x; the error is at most the condition number times the tolerance, (2 n / pi)^2 1e-12 = 1.7e-9. */
TEST(cg_solution)
{
    enum { N = 65 };
    static double b[N * N], x[N * N], known[N * N];
    const double k = (N - 1) * (N - 1);
    for (int j = 1; j + 1 < N; j++)
        for (int i = 1; i + 1 < N; i++)
            known[j * N + i] = sin(i * 0.7 + j * j * 0.3);
    for (int j = 1; j + 1 < N; j++)
        for (int i = 1; i + 1 < N; i++) {
            const int at = j * N + i;
            b[at] = 2 * known[at] + k * (4 * known[at] - known[at - 1] - known[at + 1] - known[at - N] - known[at + N]);
        }
    const long done = cg_serial_double(N, 2, k, b, 1e-12, 1000, x);
    ck_assert_int_gt(done, 50);
    ck_assert_int_lt(done, 1000);
    for (int i = 0; i < N * N; i++)
        ck_assert_double_le(fabs(x[i] - known[i]), 1.7e-9);
}

int main(void) { return bn_test_main("serial codes", NULL, NULL); }
