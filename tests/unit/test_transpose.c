/* test_transpose.c: grids turned by the launches that compute them, cut into one, two and more boxes, on one device and
 * on several. */
#include "support_device.h"

#include "api/transpose.h"
#include "binnacle/binnacle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 83, HIGH = 117 };

static const bn_kernel_desc number = { "probe_number", BN_PER_CELL, { 0, 1, 0 } };
static const bn_kernel_desc turn[] = { { "probe_turn", BN_PER_ROW, { 1, 1, 1 } },
                                       { "probe_turn_pairs", BN_PER_ROW, { 2, 2, 1 } } };
static const bn_kernel_desc once = { "probe_turn", BN_ONCE, { 1, 1, 1 } };
static const bn_define k = { "K", BN_DEF_REAL, { .r = 1 } };

static bn_domain_desc grid(int boxes)
{
    return (bn_domain_desc){ .grid = { .dims = 2, .n = { WIDE, HIGH, 1 }, .h = { 1, 0.5, 1 }, .origin = { 3, 4 } },
                             .precision = BN_SINGLE,
                             .halo = 1,
                             .boxes = boxes,
                             .whole_rows = true,
                             .device = device };
}

/* There and back, each time one more, several times without a wait. */
static void there_and_back(int devices, int boxes, const size_t group[3])
{
    enum { TIMES = 5 };
    static int32_t numbers[WIDE * HIGH];
    open_device(devices, true);
    bn_domain_desc desc = grid(boxes);
    bn_domain *domain[2];
    bn_field *f[2];
    bn_program *program[2];
    bn_kernel *probe[2], *begin;
    memcpy(desc.work_group, group, sizeof desc.work_group);
    domain[0] = new_domain(&desc);
    OK(bn_domain_transposed(domain[0], &domain[1]));
    ck_assert_uint_eq(bn_domain_boxes(domain[1]), (size_t)(boxes < 21 ? boxes : 21)); /* of four rows, and a last one */
    const bn_grid *g = bn_domain_grid(domain[1]);
    ck_assert(g->n[0] == HIGH && g->n[1] == WIDE && g->h[0] == 0.5 && g->origin[1] == 3);
    for (int d = 0; d < 2; d++) {
        f[d] = new_field(domain[d], "number", BN_T_I32, 1);
        program[d] = new_program(domain[d], "probe", &k, 1);
        OK(bn_kernel_find(program[d], &turn[0], &probe[d]));
    }
    OK(bn_kernel_find(program[0], &number, &begin));
    OK(BN_RUN(begin, BN_WRITE(f[0])));
    for (int i = 0; i < 2 * TIMES - 1; i++)
        OK(BN_RUN(probe[i % 2], BN_READ(f[i % 2], 0), BN_WRITE_TRANSPOSED(f[!(i % 2)])));
    OK(bn_field_read(f[1], numbers, sizeof numbers));
    for (int at = 0; at < WIDE * HIGH; at++)
        ck_assert_msg(numbers[at] == at % HIGH * WIDE + at / HIGH + 2 * TIMES - 1,
                      "%d devices, %d boxes: %d at (%d, %d) of the turned grid", devices, boxes, numbers[at], at % HIGH,
                      at / HIGH);
    OK(BN_RUN(probe[1], BN_READ(f[1], 0), BN_WRITE_TRANSPOSED(f[0])));
    OK(bn_field_read(f[0], numbers, sizeof numbers));
    for (int at = 0; at < WIDE * HIGH; at++)
        ck_assert_int_eq(numbers[at], at + 2 * TIMES);
    for (int d = 0; d < 2; d++)
        OK(bn_domain_check_canaries(domain[d]));
    drop_objects();
    bn_domain_destroy(&domain[1]); /* either may go first */
    close_device();
}

START_TEST(rows_become_columns_and_rows_again)
{
    static const size_t groups[][3] = { { 0 }, { 1, 1, 1 }, { 7, 3, 1 } };
    static const int boxes[] = { 1, 2, 3, 25 };
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
        there_and_back(1, boxes[i], groups[i % 3]);
}
END_TEST

START_TEST(on_several_devices_too)
{
    static const size_t usual[3] = { 0 };
    there_and_back(2, 3, usual);
    there_and_back(3, 3, usual);
}
END_TEST

/* Fields of other elements take turns on one domain: the messages fit each of them. */
START_TEST(elements_of_any_size)
{
    static float pairs[2 * WIDE * HIGH];
    static double values[2 * WIDE * HIGH];
    static int32_t numbers[WIDE * HIGH];
    open_device(2, true);
    const bn_domain_desc desc = grid(2);
    bn_domain *turned;
    bn_kernel *probe[2], *begin;
    bn_domain *domain = new_domain(&desc);
    OK(bn_domain_transposed(domain, &turned));
    (void)keep_domain(turned);
    bn_field *a = new_field(domain, "a", BN_T_I32, 1);
    bn_field *b = new_field(turned, "b", BN_T_I32, 1);
    bn_field *c = new_field(domain, "c", BN_T_REAL2, 1);
    bn_field *d = new_field(turned, "d", BN_T_REAL2, 1);
    bn_program *program = new_program(domain, "probe", &k, 1);
    for (int i = 0; i < 2; i++)
        OK(bn_kernel_find(program, &turn[i], &probe[i]));
    OK(bn_kernel_find(program, &number, &begin));
    for (int at = 0; at < 2 * WIDE * HIGH; at++)
        values[at] = at;
    OK(bn_field_set(c, values, 2 * WIDE * HIGH));
    OK(BN_RUN(begin, BN_WRITE(a)));
    for (int i = 0; i < 2; i++) {
        OK(BN_RUN(probe[0], BN_READ(a, 0), BN_WRITE_TRANSPOSED(b)));
        OK(BN_RUN(probe[1], BN_READ(c, 0), BN_WRITE_TRANSPOSED(d)));
    }
    OK(bn_field_read(b, numbers, sizeof numbers));
    OK(bn_field_read(d, pairs, sizeof pairs));
    for (int at = 0; at < WIDE * HIGH; at++) {
        const int from = at % HIGH * WIDE + at / HIGH;
        ck_assert_int_eq(numbers[at], from + 1);
        ck_assert(pairs[2 * at] == (float)(2 * from + 1) && pairs[2 * at + 1] == (float)(2 * from));
    }
    close_device();
}
END_TEST

START_TEST(what_cannot_be_turned_is_refused)
{
    open_device(1, true);
    bn_domain_desc desc = grid(2);
    bn_domain *turned, *none;
    bn_domain *domain = new_domain(&desc);
    OK(bn_domain_transposed(domain, &turned));
    (void)keep_domain(turned);
    desc.boxes = 1;
    bn_domain *other = new_domain(&desc);
    bn_field *a = new_field(domain, "a", BN_T_I32, 1);
    bn_field *b = new_field(turned, "b", BN_T_I32, 1);
    bn_field *two = new_field(turned, "two", BN_T_I32, 2);
    bn_field *wrong = new_field(other, "wrong", BN_T_I32, 1);
    bn_kernel *probe = new_kernel(domain, &turn[0], &k, 1);
    REFUSED(BN_RUN(probe, BN_READ(a, 0), BN_WRITE_TRANSPOSED(a)), BN_USAGE, "not of the transposed grid");
    REFUSED(BN_RUN(probe, BN_READ(a, 0), BN_WRITE_TRANSPOSED(wrong)), BN_USAGE, "not of the transposed grid");
    REFUSED(BN_RUN(probe, BN_READ(a, 0), BN_WRITE_TRANSPOSED(two)), BN_USAGE, "several components");
    probe = new_kernel(domain, &once, &k, 1);
    REFUSED(BN_RUN(probe, BN_READ(a, 0), BN_WRITE_TRANSPOSED(b)), BN_USAGE, "per row and per block");
    desc.whole_rows = false;
    other = new_domain(&desc);
    REFUSED(bn_domain_transposed(other, &none), BN_USAGE, "whole rows");
    desc = grid(2);
    desc.grid.n[0] = 4 * BN_BLOCK_NX; /* it could be cut along x */
    desc.grid.n[1] = BN_BLOCK_NY;
    REFUSED(bn_domain_create(ctx, &desc, &none), BN_USAGE, "here not at all");
    desc.grid = (bn_grid){ .dims = 1, .n = { WIDE, 1, 1 }, .h = { 1, 1, 1 } };
    REFUSED(bn_domain_create(ctx, &desc, &none), BN_USAGE, "one dimension");
    close_device();
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_test(tests, rows_become_columns_and_rows_again);
    tcase_add_test(tests, on_several_devices_too);
    tcase_add_test(tests, elements_of_any_size);
    tcase_add_test(tests, what_cannot_be_turned_is_refused);
}

int main(void) { return bn_test_main("turn", add); }
