/* test_row_bands.c: fields made and looked at a few rows at a time, whatever the boxes and devices, and in the
 * reference. */
#include "support_device.h"

#include "api/row_bands.h"
#include "binnacle/binnacle.h"

#include <stdlib.h>
#include <string.h>

/* A row is 160 kB in double precision: several blocks of rows for each box. */
enum { WIDE = 10000, HIGH = 121 };

typedef struct course {
    uint32_t next, calls;
    double sum;
} course;

static double number_at(uint32_t j, size_t i) { return (double)(j * WIDE + i) / 7; }

/* Pairs (number, -number) and numbers. */
static bn_status make(void *user, uint32_t first, uint32_t count, double *const *values)
{
    course *c = user;
    ck_assert_uint_eq(first, c->next);
    ck_assert_uint_ge(count, 1);
    for (uint32_t j = 0; j < count; j++)
        for (size_t i = 0; i < WIDE; i++) {
            const size_t at = j * WIDE + i;
            values[0][2 * at] = number_at(first + j, i);
            values[0][2 * at + 1] = -number_at(first + j, i);
            values[1][at] = number_at(first + j, i);
        }
    c->next = first + count;
    c->calls++;
    return BN_OK;
}

/* The second becomes the double of the first's imaginary part. */
static bn_status change(void *user, uint32_t first, uint32_t count, double *const *values)
{
    size_t *wrong = user;
    for (size_t at = 0; at < (size_t)count * WIDE; at++) {
        *wrong += values[1][at] != -values[0][2 * at + 1];
        values[1][at] = 2 * values[0][2 * at + 1];
    }
    return first < HIGH ? BN_OK : BN_MISMATCH;
}

static bn_status add_up(void *user, uint32_t first, uint32_t count, double *const *values)
{
    course *c = user;
    ck_assert_uint_eq(first, c->next);
    for (size_t at = 0; at < (size_t)count * WIDE; at++)
        c->sum += values[0][at];
    c->next = first + count;
    c->calls++;
    return BN_OK;
}

static bn_status stop(void *user, uint32_t first, uint32_t count, double *const *values)
{
    (void)count;
    (void)values;
    return first == 0 ? BN_OK : bn_fail(user, BN_DIVERGED, "enough of it at row %u", first);
}

static void try_layout(int devices, int boxes, bn_precision precision)
{
    static double values[2 * WIDE * HIGH];
    course c = { 0 };
    size_t wrong = 0;
    open_device(devices, false);
    const bn_domain_desc desc = { .grid = { .dims = 2, .n = { WIDE, HIGH, 1 }, .h = { 1, 1, 1 } },
                                  .precision = precision,
                                  .halo = 1,
                                  .boxes = boxes,
                                  .whole_rows = true,
                                  .device = device };
    bn_domain *domain = new_domain(&desc);
    bn_field *pairs = new_field(domain, "pairs", BN_T_REAL2, 1), *numbers = new_field(domain, "numbers", BN_T_REAL, 1);
    const bn_row_band both[] = { { pairs, false, true }, { numbers, false, true } };
    OK(bn_field_row_bands(both, 2, false, make, &c));
    ck_assert_uint_eq(c.next, HIGH);
    ck_assert_uint_ge(c.calls, 3); /* not all of them at once */
    OK(bn_field_get(pairs, values, 2 * WIDE * HIGH));
    for (size_t at = 0; at < WIDE * HIGH; at++) {
        const double exact = number_at((uint32_t)(at / WIDE), at % WIDE);
        const double here = precision == BN_DOUBLE ? exact : (double)(float)exact;
        wrong += values[2 * at] != here || values[2 * at + 1] != -here;
    }
    OK(bn_field_row_bands((const bn_row_band[]){ { pairs, true, false }, { numbers, true, true } }, 2, false, change,
                          &wrong));
    ck_assert_uint_eq(wrong, 0);
    OK(bn_field_get(numbers, values, WIDE * HIGH));
    double sum = 0;
    for (size_t at = 0; at < WIDE * HIGH; at++)
        sum += values[at];
    c = (course){ 0 };
    OK(bn_field_row_bands(&(const bn_row_band){ numbers, true, false }, 1, true, add_up, &c));
    ck_assert(c.sum == sum && c.next == HIGH);
    ck_assert_double_lt(sum, -1e10);
    ck_assert_int_eq(bn_field_row_bands(&(const bn_row_band){ numbers, true, false }, 1, true, stop, ctx), BN_DIVERGED);
    bn_error_clear(ctx);
    REFUSED(bn_field_row_bands(&(const bn_row_band){ numbers, true, true }, 1, true, add_up, &c), BN_USAGE,
            "is not written where all rows");
    close_device();
}

TEST(rows_of_any_layout)
{
    for (int precision = 0; precision < 2; precision++) {
        try_layout(0, 1, precision ? BN_DOUBLE : BN_SINGLE);
        try_layout(1, 1, precision ? BN_DOUBLE : BN_SINGLE);
        try_layout(1, 3, precision ? BN_DOUBLE : BN_SINGLE);
        try_layout(2, 3, precision ? BN_DOUBLE : BN_SINGLE);
    }
}

TEST(what_has_no_rows_is_refused)
{
    open_device(1, false);
    bn_domain_desc desc = { .grid = { .dims = 2, .n = { 600, 4, 1 }, .h = { 1, 1, 1 } }, .device = device, .boxes = 1 };
    bn_field *integers = new_field(new_domain(&desc), "integers", BN_T_I32, 1);
    REFUSED(bn_field_row_bands(&(const bn_row_band){ integers, true, false }, 1, false, stop, NULL), BN_USAGE,
            "it must be real");
    desc.boxes = 2;
    bn_field *cut = new_field(new_domain(&desc), "cut", BN_T_REAL, 1);
    REFUSED(bn_field_row_bands(&(const bn_row_band){ cut, true, false }, 1, false, stop, NULL), BN_USAGE,
            "in whole rows");
    close_device();
}

/* On their way to the device they go through pinned memory, of which one piece holds less than one component. */
TEST(many_values_reach_their_places)
{
    enum { NX = 310, NY = 220, NZ = 140, POINTS = NX * NY * NZ };
    ck_assert_int_eq(setenv("BINNACLE_DEVICE_TYPE", "gpu", 1), 0);
    open_device(1, false);
    const bn_domain_desc desc = {
        .grid = { .dims = 3, .n = { NX, NY, NZ }, .h = { 1, 1, 1 } }, .device = device, .halo = 1, .boxes = 2
    };
    bn_field *two = new_field(new_domain(&desc), "two", BN_T_REAL, 2);
    double *values = malloc(2 * POINTS * sizeof *values);
    float *own = malloc(2 * POINTS * sizeof *own);
    ck_assert(values && own);
    for (size_t at = 0; at < 2 * POINTS; at++)
        values[at] = (double)at + 0.1;
    OK(bn_field_set(two, values, 2 * POINTS));
    OK(bn_field_read(two, own, 2 * POINTS * sizeof *own));
    size_t wrong = 0;
    for (size_t at = 0; at < 2 * POINTS; at++) {
        wrong += own[at] != (float)values[at];
        own[at] = -own[at];
    }
    OK(bn_field_write(two, own, 2 * POINTS * sizeof *own));
    OK(bn_field_get(two, values, 2 * POINTS));
    for (size_t at = 0; at < 2 * POINTS; at++)
        wrong += values[at] != (double)own[at];
    ck_assert_uint_eq(wrong, 0);
    free(values);
    free(own);
    close_device();
}

int main(void) { return bn_test_main("rows", NULL, NULL); }
