/* test_transpose.c: grids turned by the launches that compute them, cut into one, two and more boxes, on one device and
 * on several. */
#include "support_device.h"

#include "api/row_bands.h"
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

/* A domain on so many devices, of which `desc` gets the first, and its grid turned. */
typedef struct pair {
    bn_domain *domain, *turned;
} pair;
static pair new_pair(int devices, bn_domain_desc *desc, uint32_t chunk, uint32_t chunks)
{
    open_device(devices, true);
    desc->device = device;
    pair p = { .domain = new_domain(desc) };
    OK(bn_domain_transposed(p.domain, chunk, chunks, &p.turned));
    (void)keep_domain(p.turned);
    return p;
}

/* Kernels of a domain store in a field of the other. */
#define TURNED(probe, from, to, far) \
    BN_RUN(probe, BN_READ(from, 0), BN_WRITE_TRANSPOSED(to), BN_SIZES(bn_field_domain(to)), BN_I32V(far))
#define TURN(probe, from, to, far) OK(TURNED(probe, from, to, far))

/* There and back, each time one more, several times without a wait; the last time with what lies `far` along the
 * columns.
 */
static void there_and_back_of(int wide, int high, int devices, int boxes, const size_t group[3], uint32_t chunk,
                              uint32_t chunks, int times)
{
    const size_t bytes = (size_t)(wide * high) * sizeof(int32_t);
    int32_t *numbers = malloc(bytes);
    ck_assert_ptr_nonnull(numbers);
    bn_domain_desc desc = grid(boxes);
    desc.grid.n[0] = (uint32_t)wide;
    desc.grid.n[1] = (uint32_t)high;
    memcpy(desc.work_group, group, sizeof desc.work_group);
    const pair p = new_pair(devices, &desc, chunk, chunks);
    bn_domain *domain = p.domain, *turned = p.turned;
    ck_assert_uint_eq(bn_domain_boxes(turned), (size_t)boxes);
    const bn_grid *g = bn_domain_grid(turned);
    ck_assert(g->n[0] == desc.grid.n[1] && g->n[1] == desc.grid.n[0] && g->h[0] == 0.5 && g->origin[1] == 3);
    const int far = (int)(chunk * chunks) < high - 1 ? (int)(chunk * chunks) : high - 1;
    for (size_t b = 0; b < (size_t)boxes; b++) {
        bn_region own, has;
        bn_domain_box(domain, b, &own);
        bn_domain_box(turned, b, &has);
        const long begin = (long)own.first[1] - far, end = (long)(own.first[1] + own.n[1]) + far;
        ck_assert(has.n[1] == desc.grid.n[0] && has.first[0] % chunk == 0 &&
                  (long)has.first[0] <= (begin > 0 ? begin : 0));
        const uint32_t stop = has.first[0] + has.n[0];
        ck_assert(stop == desc.grid.n[1] || (stop % chunk == 0 && (long)stop >= end));
    }
    bn_field *f = new_field(domain, "number", BN_T_I32, 1), *t = new_field(turned, "turned", BN_T_I32, 1);
    bn_kernel *there = new_kernel(domain, &turn[0], &k, 1), *back = new_kernel(turned, &turn[0], &k, 1);
    OK(BN_RUN(new_kernel(domain, &number, &k, 1), BN_WRITE(f)));
    for (int i = 0; i < times; i++) {
        TURN(there, f, t, 0);
        TURN(back, t, f, 0);
    }
    TURN(there, f, t, 0);
    OK(bn_field_read(t, numbers, bytes));
    for (int at = 0; at < wide * high; at++)
        ck_assert_msg(numbers[at] == at % high * wide + at / high + 2 * times + 1,
                      "%d devices, %d boxes: %d at (%d, %d) of the turned grid", devices, boxes, numbers[at], at % high,
                      at / high);
    TURN(back, t, f, far);
    OK(bn_field_read(f, numbers, bytes));
    for (int at = 0; at < wide * high; at++) {
        const int own = at + 2 * times + 1, step = far * wide;
        const int before = far > 0 && at >= step ? own - step : 0;
        const int behind = far > 0 && at + step < wide * high ? own + step : 0;
        ck_assert_msg(numbers[at] == own + 1 + before + behind, "%d devices, %d boxes: %d in cell %d", devices, boxes,
                      numbers[at], at);
    }
    OK(bn_domain_check_canaries(domain));
    OK(bn_domain_check_canaries(turned));
    free(numbers);
    close_device();
}

static void there_and_back(int devices, int boxes, const size_t group[3], uint32_t chunk, uint32_t chunks)
{
    there_and_back_of(WIDE, HIGH, devices, boxes, group, chunk, chunks, 5);
}

static const size_t usual[3] = { 0 };

TEST(rows_become_columns_and_rows_again)
{
    static const size_t groups[][3] = { { 0 }, { 1, 1, 1 }, { 7, 3, 1 } };
    const int boxes[] = { 1, 2, 3, long_tests() ? 25 : 5 }; /* nearly each of 25 is a shape of its own to compile */
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
        there_and_back(1, boxes[i], groups[i % 3], 7, 2);
    there_and_back(1, 3, usual, 5, 0);
}

TEST(on_several_devices_too)
{
    there_and_back(2, 3, usual, 7, 2);
    if (long_tests()) /* long messages go between three, too */
        there_and_back(3, 3, usual, 1, 11);
    there_and_back(3, 4, usual, 9, 20); /* more than there is of a row */
}

/* Messages of 2.06 MiB: two parts each. */
TEST(long_messages_go_in_parts)
{
    for (int devices = 2; devices <= 3; devices++) /* in one context, and with a thread each */
        there_and_back_of(5400, 220, devices, devices, usual, 1, 100, long_tests() ? 5 : 2);
}

/* Fields of other elements take turns on one domain: the messages fit each of them. */
TEST(elements_of_any_size)
{
    static float pairs[2 * WIDE * HIGH];
    static double values[2 * WIDE * HIGH];
    static int32_t numbers[WIDE * HIGH];
    bn_domain_desc desc = grid(2);
    const pair p = new_pair(2, &desc, 4, 3);
    bn_domain *domain = p.domain, *turned = p.turned;
    bn_field *a = new_field(domain, "a", BN_T_I32, 1);
    bn_field *b = new_field(turned, "b", BN_T_I32, 1);
    bn_field *c = new_field(domain, "c", BN_T_REAL2, 1);
    bn_field *d = new_field(turned, "d", BN_T_REAL2, 1);
    bn_kernel *probe = new_kernel(domain, &turn[0], &k, 1), *of_pairs = new_kernel(domain, &turn[1], &k, 1);
    for (int at = 0; at < 2 * WIDE * HIGH; at++)
        values[at] = at;
    OK(bn_field_set(c, values, 2 * WIDE * HIGH));
    OK(BN_RUN(new_kernel(domain, &number, &k, 1), BN_WRITE(a)));
    for (int i = 0; i < 2; i++) {
        TURN(probe, a, b, 0);
        TURN(of_pairs, c, d, 0);
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

/* What is written row by row comes to every box that has it. */
static bn_status name_places(void *user, uint32_t first, uint32_t count, double *const *values)
{
    const bn_region *whole = user;
    for (uint32_t j = 0; j < count; j++)
        for (uint32_t i = 0; i < whole->n[0]; i++)
            values[0][(size_t)j * whole->n[0] + i] = 1000.0 * (first + j) + i;
    return BN_OK;
}

TEST(rows_of_overlapping_boxes)
{
    static double values[WIDE * HIGH];
    bn_domain_desc desc = grid(3);
    bn_domain *turned = new_pair(3, &desc, 8, 1).turned;
    bn_region whole = bn_domain_whole(turned);
    bn_field *f = new_field(turned, "places", BN_T_REAL, 1);
    OK(bn_field_row_bands(&(const bn_row_band){ f, false, true }, 1, false, name_places, &whole));
    OK(bn_field_get(f, values, WIDE * HIGH));
    for (int at = 0; at < WIDE * HIGH; at++)
        ck_assert(values[at] == 1000.0 * (at / HIGH) + at % HIGH);
    close_device();
}

TEST(what_cannot_be_turned_is_refused)
{
    bn_domain_desc desc = grid(2);
    const pair p = new_pair(1, &desc, 1, 1);
    bn_domain *domain = p.domain, *turned = p.turned, *none;
    desc.boxes = 1;
    bn_domain *other = new_domain(&desc);
    bn_field *a = new_field(domain, "a", BN_T_I32, 1);
    bn_field *b = new_field(turned, "b", BN_T_I32, 1);
    bn_field *two = new_field(turned, "two", BN_T_I32, 2);
    bn_field *wrong = new_field(other, "wrong", BN_T_I32, 1);
    bn_kernel *probe = new_kernel(domain, &turn[0], &k, 1);
    REFUSED(TURNED(probe, a, a, 0), BN_USAGE, "of the transposed grid");
    REFUSED(TURNED(probe, a, wrong, 0), BN_USAGE, "belongs to another domain");
    REFUSED(TURNED(probe, a, two, 0), BN_USAGE, "not of one component");
    probe = new_kernel(domain, &once, &k, 1);
    REFUSED(TURNED(probe, a, b, 0), BN_USAGE, "per row and per block");
    REFUSED(bn_domain_transposed(turned, 1, 1, &none), BN_USAGE, "whole rows");
    desc.whole_rows = false;
    other = new_domain(&desc);
    REFUSED(bn_domain_transposed(other, 1, 1, &none), BN_USAGE, "whole rows");
    desc = grid(2);
    desc.grid.n[0] = 4 * BN_BLOCK_NX; /* it could be cut along x */
    desc.grid.n[1] = BN_BLOCK_NY;
    REFUSED(bn_domain_create(ctx, &desc, &none), BN_USAGE, "here not at all");
    desc.grid = (bn_grid){ .dims = 1, .n = { WIDE, 1, 1 }, .h = { 1, 1, 1 } };
    REFUSED(bn_domain_create(ctx, &desc, &none), BN_USAGE, "one dimension");
    close_device();
}

int main(void) { return bn_test_main("turn", NULL, NULL); }
