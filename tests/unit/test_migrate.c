/* test_migrate.c: work that goes on on another device, and tables that are cut into slabs: on one device and on parts
 * of a CPU that stand for several. tests/cli/photons_cross.sh does the same between ranks. */
#include "support.h"

#include "api/migrate.h"
#include "binnacle/binnacle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 8, NY = 16, PLANES = 10, EACH = 3, UNIT = 4, COUNT = 700, VISITS = 9 };

#define OK(call) ck_assert_msg((call) == BN_OK, "%s: %s", #call, bn_error_text(ctx))

static const bn_kernel_desc walk_desc = { "migrate_walk", BN_PER_PARTICLE, { 1, 1, 1 } };
static const bn_kernel_desc take_desc = { "migrate_take", BN_PER_CELL, { 1, 1, 0 } };

typedef struct walkers {
    bn_context *ctx;
    bn_device *device;
    bn_domain *domain;
    bn_program *program;
    bn_kernel *walk, *take;
    bn_device_array *table, *tally;
    bn_field *out;
    bn_migrating_particles *particles;
} walkers;

static double value(int plane, int at) { return 1 + 10 * plane + at; }

static void fill(double values[PLANES * EACH], int factor)
{
    for (int p = 0; p < PLANES; p++)
        for (int i = 0; i < EACH; i++)
            values[p * EACH + i] = factor * value(p, i);
}

/* In double precision, in a debug context, so that what is written beyond its room is noticed. */
static walkers begin(const char *parts, size_t capacity, size_t words, bool crowd, bool astray)
{
    walkers w = { 0 };
    double values[PLANES * EACH];
    const bn_context_desc desc = { .kernel_dir = BN_TEST_KERNELS, .debug = true };
    if (parts)
        setenv("BINNACLE_PARTITION", parts, 1);
    ck_assert_int_eq(bn_context_create(&desc, &w.ctx), BN_OK);
    bn_context *ctx = w.ctx;
    OK(bn_device_open(ctx, parts ? "all" : "auto", false, &w.device));
    const bool full = bn_device_describe(w.device)->fp64;
    OK(bn_domain_create(ctx,
                        &(bn_domain_desc){ .grid = { .dims = 2, .n = { NX, NY, 1 }, .h = { 1, 1, 1 } },
                                           .precision = full ? BN_DOUBLE : BN_SINGLE,
                                           .halo = 1,
                                           .boxes = (int)bn_device_global_count(w.device),
                                           .device = w.device },
                        &w.domain));
    const bn_define defines[] = {
        { "PLANES", BN_DEF_INT, { .i = PLANES } }, { "EACH", BN_DEF_INT, { .i = EACH } },
        { "COUNT", BN_DEF_INT, { .i = COUNT } },   { "VISITS", BN_DEF_INT, { .i = VISITS } },
        { "CROWD", BN_DEF_INT, { .i = crowd } },   { "ASTRAY", BN_DEF_INT, { .i = astray } },
    };
    OK(bn_program_build(w.domain, "migrate_probe", defines, sizeof defines / sizeof *defines, &w.program));
    OK(bn_kernel_find(w.program, &walk_desc, &w.walk));
    OK(bn_kernel_find(w.program, &take_desc, &w.take));
    fill(values, 1);
    OK(bn_device_array_slabs(w.domain, "planes", values, PLANES, EACH, UNIT, &w.table));
    OK(bn_device_array_counters(w.domain, "tally", NX * NY, &w.tally));
    OK(bn_field_create(w.domain, &(bn_field_desc){ "out", "", BN_T_I64, 1, 0 }, &w.out));
    OK(bn_migrating_particles_create(w.domain, "walkers", words, capacity, &w.particles));
    return w;
}

static bn_status go(walkers *w)
{
    return BN_MIGRATION(w->walk, BN_ARRAY(w->table), BN_ARRAY(w->tally), BN_MIGRATING(w->particles),
                        BN_FIRST_PLANE(w->table), BN_END_PLANE(w->table));
}

static void end(walkers *w)
{
    bn_migrating_particles_destroy(&w->particles);
    bn_field_destroy(&w->out);
    bn_device_array_destroy(&w->tally);
    bn_device_array_destroy(&w->table);
    bn_program_destroy(&w->program);
    bn_domain_destroy(&w->domain);
    bn_device_close(&w->device);
    bn_context_destroy(&w->ctx);
}

/* What the walkers add up, and how many times one of them goes from a slab to the next one, if every UNIT of planes
 * lies on a device of its own (`cut`). */
static unsigned long long expect(int64_t sums[10], bool crowd, bool cut, int factor)
{
    unsigned long long journeys = 0;
    memset(sums, 0, 10 * sizeof *sums);
    for (int n = 0; n < COUNT; n++) {
        int64_t whole = 0, sum = 0;
        for (int v = 0, before = 0; v < VISITS; v++) {
            const int plane = crowd && v == 1 ? 5 : (7 * n + 5 * v) % PLANES;
            if (cut && v > 0)
                journeys += (unsigned long long)abs(plane / UNIT - before / UNIT);
            before = plane;
            whole += factor * (int64_t)value(plane, n % EACH) * (n - 300);
            sum += factor * (int64_t)value(plane, n % EACH);
        }
        sums[0]++;
        sums[1 + n % 8] += whole;
        sums[9] += sum;
    }
    return journeys;
}

static void check(walkers *w, bool crowd, bool cut, int factor)
{
    bn_context *ctx = w->ctx;
    int64_t expected[10], found[NX * NY];
    const unsigned long long before = bn_migrating_particles_counts(w->particles).particles,
                             journeys = expect(expected, crowd, cut, factor);
    OK(go(w));
    OK(BN_RUN(w->take, BN_COUNTERS(w->tally), BN_WRITE(w->out)));
    OK(bn_field_read(w->out, found, sizeof found));
    for (int i = 0; i < 10; i++)
        ck_assert_msg(found[i] == expected[i], "sum %d is %lld, not %lld", i, (long long)found[i],
                      (long long)expected[i]);
    ck_assert_uint_eq(bn_migrating_particles_counts(w->particles).particles - before, journeys);
    OK(bn_domain_check_canaries(w->domain));
}

TEST(nobody_travels_on_one_device)
{
    walkers w = begin(NULL, 64, 7, false, false);
    check(&w, false, false, 1);
    ck_assert_uint_eq(bn_migrating_particles_counts(w.particles).launches, 1);
    end(&w);
}

/* Three units of planes: the fourth device has none. */
TEST(all_come_through_on_four_devices)
{
    bn_context *ctx;
    double values[PLANES * EACH];
    walkers w = begin("4", 64, 7, false, false);
    ctx = w.ctx;
    check(&w, false, true, 1);
    fill(values, 3);
    OK(bn_device_array_rewrite(w.table, values, PLANES * EACH));
    check(&w, false, true, 3); /* and once more */
    end(&w);
}

/* All come to one device from both sides, and it has room for five. */
TEST(a_crowd_waits_and_nobody_is_lost)
{
    walkers w = begin("4", 5, 7, true, false);
    check(&w, true, true, 1);
    end(&w);
}

TEST(what_is_wrong_is_told)
{
    walkers w = begin("2", 16, 7, false, true);
    bn_context *ctx = w.ctx;
    bn_migrating_particles *none;
    ck_assert_int_eq(go(&w), BN_MISMATCH);
    ck_assert_msg(strstr(bn_error_text(ctx), "device 77 of 2") != NULL, "%s", bn_error_text(ctx));
    bn_error_clear(ctx);
    ck_assert_int_eq(BN_MIGRATION(w.take, BN_COUNTERS(w.tally), BN_WRITE(w.out)), BN_USAGE);
    bn_error_clear(ctx);
    ck_assert_int_eq(BN_RUN(w.walk, BN_ARRAY(w.table), BN_ARRAY(w.tally), BN_ARRAY(w.tally), BN_FIRST_PLANE(w.table),
                            BN_END_PLANE(w.table)),
                     BN_USAGE);
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_migrating_particles_create(w.domain, "nobody", 0, 16, &none), BN_USAGE);
    ck_assert_ptr_null(none);
    bn_error_clear(ctx);
    bn_device_array *table;
    const double one = 1;
    ck_assert_int_eq(bn_device_array_slabs(w.domain, "nothing", &one, 0, 1, 1, &table), BN_USAGE);
    ck_assert_ptr_null(table);
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_device_array_rewrite(w.table, &one, 1), BN_USAGE);
    bn_error_clear(ctx);
    end(&w);
}

int main(void) { return bn_test_main("travel", NULL, NULL); }
