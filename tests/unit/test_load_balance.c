/* test_load_balance.c: cuts that follow the work, fields that move to a domain cut so, on parts of a CPU that stand for
 * several devices (on other devices than CPUs there is only one, and nothing is tested). */
#include "support_case.h"

#include "api/other_grids.h"
#include "api/repartition.h"
#include "api/launch.h"
#include "sim/sim_parts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many devices; NULL: there are not so many. */
static bn_device *team(size_t count)
{
    static const bn_context_desc desc = { .kernel_dir = BN_TEST_KERNELS };
    bn_device *device;
    char text[16];
    (void)snprintf(text, sizeof text, "%zu", count);
    (void)setenv("BINNACLE_PARTITION", text, 1);
    OK(bn_context_create(&desc, &ctx));
    OK(bn_device_open(ctx, "all", false, &device));
    if (bn_device_global_count(device) == count)
        return device;
    bn_device_close(&device);
    bn_context_destroy(&ctx);
    return NULL;
}

static bn_domain *domain_of(bn_device *device, int dims, uint32_t nx, uint32_t ny, uint32_t nz)
{
    bn_domain *d;
    const bn_domain_desc desc = {
        .grid = { .dims = dims, .n = { nx, ny, nz }, .h = { 0.1, 0.1, 0.1 }, .periodic = { true, true, dims > 2 } },
        .precision = BN_SINGLE,
        .halo = 1,
        .boxes = (int)bn_device_global_count(device),
        .device = device
    };
    OK(bn_domain_create(ctx, &desc, &d));
    return d;
}

static void close_all(bn_domain **d, bn_device **device)
{
    bn_domain_destroy(d);
    bn_device_close(device);
    bn_context_destroy(&ctx);
}

TEST(cuts_follow_the_work)
{
    bn_device *device = team(3);
    if (!device)
        return;
    bn_domain *d = domain_of(device, 2, 40, 128, 1);
    double work[32] = { 0 };
    size_t n[3];
    bn_cuts cuts;
    bn_domain_blocks(d, n);
    ck_assert(n[0] == 1 && n[1] == 32 && n[2] == 1);
    OK(bn_cuts_find(d, work, 1e9, &cuts));
    ck_assert_ptr_null(cuts.begin); /* no work, no cuts */

    for (int i = 0; i < 8; i++) /* all of it on the first device: three pieces of at most three rows of blocks */
        work[i] = 1;
    OK(bn_cuts_find(d, work, 1e9, &cuts));
    near(cuts.now, 3, 1e-12, "eight blocks of eight on one of three devices");
    near(cuts.then, 3 / (8.0 / 3), 1e-9, "three of eight blocks");
    ck_assert(cuts.count == 3 && cuts.along == 1 && cuts.begin[0] == 0 && cuts.begin[1] <= 12 && cuts.begin[2] <= 24 &&
              cuts.begin[2] >= 20 && cuts.begin[2] - cuts.begin[1] <= 12);
    bn_cuts_free(&cuts);

    OK(bn_cuts_find(d, work, 40 * 60, &cuts)); /* the last device has room for 60 rows alone */
    ck_assert(cuts.begin && 128 - cuts.begin[2] <= 60 && cuts.begin[2] - cuts.begin[1] <= 60 && cuts.begin[1] <= 60);
    near(cuts.then, 7 / (8.0 / 3), 3 / (8.0 / 3), "more than three blocks of eight, fewer than all");
    bn_cuts_free(&cuts);
    OK(bn_cuts_find(d, work, 40 * 40, &cuts)); /* three times 40 rows are no 128 */
    ck_assert_ptr_null(cuts.begin);

    /* Two rows of blocks can't be shared by three: the columns are. */
    bn_domain *flat = domain_of(device, 2, 6 * BN_BLOCK_NX, 8, 1);
    const double columns[12] = { 4, 1, 1, 1, 1, 0, 4, 1, 1, 1, 1, 0 };
    OK(bn_cuts_find(flat, columns, 1e9, &cuts));
    near(cuts.then, 4 / (8.0 / 3), 1e-9, "the first column alone");
    ck_assert(cuts.along == 0 && cuts.begin[1] == BN_BLOCK_NX);
    bn_cuts_free(&cuts);
    bn_domain_destroy(&flat);

    OK(bn_device_weigh(device, (const double[]){ 2, 1, 1 }, 3));
    OK(bn_cuts_find(d, work, 1e9, &cuts));
    near(cuts.now, 2, 1e-12, "all on the first device, which half of it is for");
    near(cuts.then, 1, 1e-9, "four, two and two blocks");
    ck_assert(cuts.begin[1] == 16 && cuts.begin[2] == 24);
    bn_cuts_free(&cuts);
    close_all(&d, &device);
}

TEST(cuts_that_a_domain_cannot_have)
{
    bn_device *device = team(3);
    if (!device)
        return;
    bn_domain *d = domain_of(device, 2, 40, 128, 1), *other;
    uint32_t begin[][3] = { { 0, 3, 64 }, { 4, 8, 64 }, { 0, 64, 64 }, { 0, 64, 128 } };
    for (size_t i = 0; i < 4; i++) {
        const bn_cuts cuts = { .along = 1, .count = 3, .begin = begin[i] };
        ck_assert_msg(bn_domain_repartition(d, &cuts, &other) == BN_USAGE, "cuts %zu were taken", i);
        bn_error_clear(ctx);
    }
    close_all(&d, &device);
}

TEST(fields_move_with_their_values)
{
    static const bn_field_desc descs[] = { { "pair", "", BN_T_REAL, 2, 0 },
                                           { "together", "", BN_T_REAL, 3, BN_INTERLEAVED },
                                           { "bytes", "", BN_T_U8, 1, 0 },
                                           { "wide", "", BN_T_I64, 1, 0 } };
    enum { FIELDS = 4, NX = 2 * BN_BLOCK_NX + 40, NY = 24, NZ = 6 };
    uint32_t begin[][3] = { { 0, 4, 20 }, { 0, BN_BLOCK_NX, 2 * BN_BLOCK_NX }, { 0, 1, 5 }, { 0, 8, 12 } };
    static const int along[] = { 1, 0, 2, 1 };
    bn_device *device = team(3);
    if (!device)
        return;
    bn_domain *d = domain_of(device, 3, NX, NY, NZ);
    bn_field *fields[FIELDS];
    unsigned char *values[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        OK(bn_field_create(d, &descs[i], &fields[i]));
        const size_t bytes = bn_field_bytes(fields[i]);
        ck_assert_ptr_nonnull(values[i] = malloc(bytes));
        for (size_t k = 0; k < bytes; k++)
            values[i][k] = (unsigned char)(k * 2654435761u >> 13) & 0x3f; /* no NaN */
        OK(bn_field_write(fields[i], values[i], bytes));
    }
    for (size_t m = 0; m < 4; m++) {
        bn_domain *next;
        OK(bn_domain_repartition(d, &(bn_cuts){ .along = along[m], .count = 3, .begin = begin[m] }, &next));
        for (int i = 0; i < FIELDS; i++) {
            const size_t bytes = bn_field_bytes(fields[i]);
            unsigned char *now = malloc(bytes);
            OK(bn_field_move(fields[i], next));
            ck_assert_ptr_nonnull(now);
            ck_assert_ptr_eq(bn_field_domain(fields[i]), next);
            OK(bn_field_read(fields[i], now, bytes));
            ck_assert_msg(memcmp(now, values[i], bytes) == 0, "%s after move %zu", descs[i].name, m + 1);
            free(now);
        }
        bn_domain_destroy(&d);
        d = next;
    }
    for (int i = 0; i < FIELDS; i++) {
        bn_field_destroy(&fields[i]);
        free(values[i]);
    }
    close_all(&d, &device);
}

static double bump(const double x[3], const void *user)
{
    (void)user;
    return sin(3 * x[0]) + cos(5 * x[1]) * x[0];
}

static const bn_define k = { "K", BN_DEF_REAL, { .r = 0.2 } };

static void diffuse(bn_domain *d, bn_field *a, bn_field *b, bn_program **program)
{
    static const bn_kernel_desc kernel = { "probe_diffuse", BN_PER_CELL, { 1, 1, 6 } };
    bn_kernel *advance;
    OK(bn_program_build(d, "probe", &k, 1, program));
    OK(bn_kernel_find(*program, &kernel, &advance));
    for (int s = 0; s < 4; s++) {
        OK(BN_RUN(advance, BN_READ(a, 1), BN_WRITE(b)));
        bn_field_swap(a, b);
    }
}

TEST(steps_and_books_go_on_where_fields_went)
{
    enum { NX = 37, NY = 40 };
    static float still[NX * NY], moved[NX * NY];
    uint32_t begin[] = { 0, 4 };
    bn_device *device = team(2);
    if (!device)
        return;
    for (int moves = 0; moves < 2; moves++) {
        bn_domain *d = domain_of(device, 2, NX, NY, 1), *next;
        bn_field *a, *b;
        bn_program *program;
        OK(bn_field_create(d, &(bn_field_desc){ "a", "", BN_T_REAL, 1, 0 }, &a));
        OK(bn_field_create(d, &(bn_field_desc){ "b", "", BN_T_REAL, 1, 0 }, &b));
        OK(bn_field_fill(a, bump, NULL));
        diffuse(d, a, b, &program);
        if (moves) {
            OK(bn_domain_repartition(d, &(bn_cuts){ .along = 1, .count = 2, .begin = begin }, &next));
            OK(bn_field_move(a, next));
            OK(bn_field_move(b, next));
            near(bn_domain_share(next, 0), 0.1, 1e-12, "4 of 40 rows");
            bn_program_destroy(&program);
            bn_domain_destroy(&d);
            d = next;
        } else {
            bn_program_destroy(&program);
        }
        diffuse(d, a, b, &program);
        OK(bn_field_read(a, moves ? moved : still, sizeof still));
        bn_profile_row rows[8];
        const size_t found = bn_domain_profile(d, true, rows, 8);
        unsigned long long calls = 0;
        for (size_t r = 0; r < found && r < 8; r++)
            calls += strcmp(rows[r].kernel, "probe_diffuse") == 0 ? rows[r].calls : 0;
        ck_assert_uint_eq(calls,
                          moves ? 8 : 4); /* those of a program that is gone are gone, unless the domain went on */
        bn_program_destroy(&program);
        bn_field_destroy(&a);
        bn_field_destroy(&b);
        bn_domain_destroy(&d);
    }
    ck_assert(isfinite(still[0]) && memcmp(still, moved, sizeof still) == 0);
    bn_device_close(&device);
    bn_context_destroy(&ctx);
}

TEST(a_snapshot_outlives_the_domain)
{
    enum { NX = 37, NY = 40 };
    uint32_t begin[] = { 0, 36 };
    bn_device *device = team(2);
    if (!device)
        return;
    bn_domain *d = domain_of(device, 2, NX, NY, 1), *next;
    bn_field *a;
    bn_snapshot *one, *two;
    const void *data;
    bn_region whole;
    static int32_t values[NX * NY], now[NX * NY];
    for (int i = 0; i < NX * NY; i++)
        values[i] = 7 * i;
    OK(bn_field_create(d, &(bn_field_desc){ "a", "", BN_T_I32, 1, 0 }, &a));
    OK(bn_field_write(a, values, sizeof values));
    OK(bn_snapshot_begin(a, false, &one));
    OK(bn_snapshot_begin(a, false, &two));
    OK(bn_domain_repartition(d, &(bn_cuts){ .along = 1, .count = 2, .begin = begin }, &next));
    OK(bn_field_move(a, next));
    bn_domain_destroy(&d);
    OK(bn_field_zero(a));
    OK(bn_snapshot_wait(ctx, one, 0, &whole, &data));
    ck_assert(memcmp(data, values, sizeof values) == 0);
    bn_snapshot_release(&one);
    OK(bn_snapshot_wait(ctx, two, 0, &whole, &data));
    ck_assert(memcmp(data, values, sizeof values) == 0);
    bn_snapshot_release(&two);
    OK(bn_field_read(a, now, sizeof now));
    ck_assert_int_eq(now[NX * NY - 1], 0);
    bn_field_destroy(&a);
    close_all(&next, &device);
}

TEST(partial_sums_of_all_devices_are_read)
{
    enum { NX = BN_BLOCK_NX + 3, NY = 22, BLOCKS = 12 };
    static const bn_kernel_desc kernel = { "reduce_max_abs", BN_PER_BLOCK, { 1, 0, 1 } };
    bn_device *device = team(2);
    if (!device)
        return;
    bn_domain *d = domain_of(device, 2, NX, NY, 1);
    bn_program *program;
    bn_kernel *largest;
    bn_partials *partials;
    bn_field *a, *b;
    double found[BLOCKS];
    static float values[NX * NY];
    for (int i = 0; i < NX * NY; i++)
        values[i] = (float)i;
    OK(bn_field_create(d, &(bn_field_desc){ "a", "", BN_T_REAL, 1, 0 }, &a));
    OK(bn_field_create(d, &(bn_field_desc){ "b", "", BN_T_REAL, 1, 0 }, &b));
    OK(bn_field_write(a, values, sizeof values));
    OK(bn_field_copy(a, b)); /* on the devices */
    OK(bn_program_build_any_size(d, d, "reduce", &(bn_define){ "MAX_ABS", BN_DEF_INT, { .i = 1 } }, 1, &program));
    OK(bn_kernel_find(program, &kernel, &largest));
    OK(bn_partials_create(d, "largest", 1, 1, &partials));
    OK(BN_RUN(largest, BN_SIZES(d), BN_READ(b, 0), BN_I32V(0), BN_REALV(0), BN_PARTIALS(partials)));
    OK(bn_partials_read(partials, 0, found, BLOCKS));
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 2; x++) {
            const int row = 4 * y + 3 < NY ? 4 * y + 3 : NY - 1, column = x ? NX - 1 : BN_BLOCK_NX - 1;
            near(found[2 * y + x], row * NX + column, 0, "the last cell of the block");
        }
    ck_assert(bn_partials_read(partials, 1, found, BLOCKS) == BN_USAGE);
    bn_error_clear(ctx);
    bn_partials_destroy(&partials);
    bn_program_destroy(&program);
    bn_field_destroy(&a);
    bn_field_destroy(&b);
    close_all(&d, &device);
}

TEST(cuts_move_when_that_pays)
{
    static const bn_cuts even = { .count = 2, .now = 1.1, .then = 1 }, uneven = { .count = 2, .now = 2, .then = 1 },
                         hopeless = { .count = 2, .now = 2, .then = 1.95 };
    uint32_t begin[] = { 0, 4 };
    bn_cuts cuts[] = { even, hopeless, uneven };
    bn_device *device = team(2);
    if (!device)
        return;
    bn_domain *d = domain_of(device, 2, 37, 40, 1);
    for (int i = 0; i < 3; i++) {
        cuts[i].begin = begin;
        bn_load_balance often = { .on = true, .every = 3 },
                        lately = { .on = true, .since = bn_seconds_now(), .cost = 1000 },
                        before = { .on = true, .since = bn_seconds_now() - 100, .cost = 10 }, first = before;
        first.fresh = true;
        ck_assert_msg(bn_load_balance_wants(&often, d, &cuts[i]) == (i == 2), "every third step: cuts %d", i);
        ck_assert_msg(!bn_load_balance_wants(&lately, d, &cuts[i]), "nothing has been lost yet: cuts %d", i);
        ck_assert_msg(bn_load_balance_wants(&before, d, &cuts[i]) == (i == 2), "half of 100 s against 10 s: cuts %d",
                      i);
        ck_assert_msg(!bn_load_balance_wants(&first, d, &cuts[i]), "that the first step is slow is no loss: cuts %d",
                      i);
        near(first.cost, 110, 1, "it is the price of new kernels");
        near(before.lost, i == 2 ? 50 : 0, 1, "half of 100 s, where there is something to gain");
    }
    bn_load_balance b = { .on = true, .every = 3 };
    ck_assert(!bn_load_balance_due(&b, 2) && bn_load_balance_due(&b, 3) && !bn_load_balance_due(&b, 4));
    b = (bn_load_balance){ .on = true, .since = bn_seconds_now() - 4, .last = 10, .cost = 1 };
    bn_load_balance_looked(&b, d, &cuts[0], false, bn_seconds_now() - 2, 14);      /* 0.5 s a step, the look took 2 s */
    ck_assert(!bn_load_balance_due(&b, 300) && bn_load_balance_due(&b, 14 + 420)); /* a hundredth of the time */
    ck_assert(b.moves == 0 && fabs(b.seconds - 2) < 0.5);
    bn_load_balance_looked(&b, d, &cuts[2], true, bn_seconds_now() - 3, 15);
    near(b.cost, 3, 0.5, "what the move took");
    ck_assert(b.moves == 1 && b.fresh && bn_load_balance_due(&b, 16)); /* the next step tells what else it costs */
    close_all(&d, &device);
}

int main(void) { return bn_test_main("balance", NULL, NULL); }
