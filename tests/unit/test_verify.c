/* test_verify.c: what the comparison of device and reference lets pass, and what never. */
#include "run/verify.h"
#include "support.h"

#include <string.h>

enum { COUNT = 1000 };
static float a4[COUNT], b4[COUNT];
static double a8[COUNT], b8[COUNT];

static void setup(void)
{
    for (int i = 0; i < COUNT; i++) {
        a8[i] = b8[i] = sin(i) * 3;
        a4[i] = b4[i] = (float)a8[i];
    }
}

static bn_verify_row compare(const void *a, const void *b, size_t bytes, double tolerance)
{
    bn_verify_row row = { .field = "f", .values = 7, .not_finite = 7, .ulps = 7, .tolerance = tolerance };
    bn_verify_compare(a, b, COUNT, bytes, true, &row);
    ck_assert_str_eq(row.field, "f");
    ck_assert_uint_eq(row.values, COUNT);
    return row;
}

TEST(test_verify_equal)
{
    for (int k = 0; k < 4; k++) {
        const bn_verify_row row = compare(k % 2 ? (void *)a8 : a4, k % 2 ? (void *)b8 : b4, k % 2 ? 8 : 4,
                                          k < 2 ? 0 : 1);
        ck_assert(row.ok);
        ck_assert_uint_eq(row.not_finite, 0);
        near(row.max_difference + row.relative_l2 + row.ulps, 0, 0, "equal");
    }
}

TEST(test_verify_differences)
{
    double square = 0;
    for (int i = 0; i < COUNT; i++)
        square += b8[i] * b8[i];
    a8[500] += 0.25;
    a8[700] -= 0.5;
    bn_verify_row row = compare(a8, b8, 8, 0.5);
    ck_assert(row.ok);
    near(row.max_difference, 0.5, 1e-15, "the larger one");
    near(row.relative_l2, sqrt((0.25 * 0.25 + 0.5 * 0.5) / square), 1e-15, "by hand");
    ck_assert(!compare(a8, b8, 8, 0.49).ok);
    ck_assert(!compare(a8, b8, 8, 0).ok);
    a4[3] = nextafterf(nextafterf(b4[3], 9), 9);
    row = compare(a4, b4, 4, 0);
    ck_assert(!row.ok);
    near(row.ulps, 2, 0, "two neighbours on");
    a4[3] = b4[3];
    a4[0] = -0.0f; /* equal bits are asked for, not equal values */
    ck_assert(!compare(a4, b4, 4, 0).ok);
    ck_assert(compare(a4, b4, 4, 1e-30).ok);
}

/* NaN and infinity, on the device, in the reference and in both, at the beginning, within and at the end, asked for
 * equal bits and within a tolerance, in both precisions. */
TEST(test_verify_not_finite)
{
    static const int places[] = { 0, 400, COUNT - 1 };
    static const double odd[] = { (double)NAN, (double)INFINITY, (double)-INFINITY };
    static const double tolerances[] = { 0, 1e-3, (double)INFINITY };
    for (int k = 0; k < 3 * 3 * 3 * 3; k++) {
        const int at = places[k % 3], sides = k / 3 % 3;
        const double value = odd[k / 9 % 3], tolerance = tolerances[k / 27];
        setup();
        if (sides != 0) {
            a8[at] = value;
            a4[at] = (float)value;
        }
        if (sides != 1) {
            b8[at] = value;
            b4[at] = (float)value;
        }
        for (int wide = 0; wide < 2; wide++) {
            const bn_verify_row row = wide ? compare(a8, b8, 8, tolerance) : compare(a4, b4, 4, tolerance);
            ck_assert_msg(!row.ok, "%g at %d passes with tolerance %g", value, at, tolerance);
            ck_assert_uint_eq(row.not_finite, 1);
            ck_assert(isnan(row.max_difference) && isnan(row.relative_l2) && isnan(row.ulps));
        }
    }
    memset(a8, 0xff, sizeof a8); /* fields of nothing but NaN, equal in every bit */
    memset(b8, 0xff, sizeof b8);
    const bn_verify_row row = compare(a8, b8, 8, 0);
    ck_assert(!row.ok);
    ck_assert_uint_eq(row.not_finite, COUNT);
}

TEST(test_verify_integers)
{
    static unsigned char a[4 * COUNT], b[4 * COUNT];
    bn_verify_row row = { .field = "i" };
    memset(a, 0xff, sizeof a); /* as floats they would be NaN */
    memset(b, 0xff, sizeof b);
    bn_verify_compare(a, b, COUNT, 4, false, &row);
    ck_assert(row.ok);
    a[17] = b[101] = 0;
    bn_verify_compare(a, b, COUNT, 4, false, &row);
    ck_assert(!row.ok);
    near(row.max_difference, 2, 0, "so many differ");
    ck_assert_uint_eq(row.not_finite, 0);
}

int main(void) { return bn_test_main("verify", setup, NULL); }
