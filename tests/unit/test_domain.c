/* test_domain.c: domains, fields, launches, halos, sums and snapshots, on the first device that the tests are given.
 * The same bits are asked for whatever the boxes and work-groups, and from plain C. */
#include "support_device.h"

#include "api/other_grids.h"
#include "binnacle/binnacle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 37, NY = 29, STEPS = 12 };

static double bump(const double x[3], const void *user)
{
    (void)user;
    return sin(3 * x[0]) + cos(5 * x[1]) * x[0] + 0.125 * x[2];
}

/* STEPS steps of diffusion on the device, read back. */
static void diffuse(bn_domain_desc desc, void *values, size_t bytes)
{
    static const bn_kernel_desc kernel = { "probe_diffuse", BN_PER_CELL, { 1, 1, 6 } };
    const bn_define k = { "K", BN_DEF_REAL, { .r = 0.2 } };
    desc.device = device;
    bn_domain *domain = new_domain(&desc);
    bn_field *a = new_field(domain, "a", BN_T_REAL, 1);
    bn_field *b = new_field(domain, "b", BN_T_REAL, 1);
    bn_kernel *advance = new_kernel(domain, &kernel, &k, 1);
    OK(bn_field_fill(a, bump, NULL));
    for (int s = 0; s < STEPS; s++) {
        OK(BN_RUN(advance, BN_READ(a, 1), BN_WRITE(b)));
        bn_field_swap(a, b);
    }
    OK(bn_field_read(a, values, bytes));
    OK(bn_domain_check_canaries(domain));
    drop_objects();
}

#define DIFFUSE_IN_C(real, suffix)                                                                 \
    static void diffuse_##suffix(real *a)                                                          \
    {                                                                                              \
        const real k = (real)0.2;                                                                  \
        static real b[NX * NY];                                                                    \
        for (int j = 0; j < NY; j++)                                                               \
            for (int i = 0; i < NX; i++)                                                           \
                a[j * NX + i] = (real)bump((const double[3]){ 0.1 * i, 0.1 * j, 0 }, NULL);        \
        for (int s = 0; s < STEPS; s++) {                                                          \
            for (int j = 0; j < NY; j++)                                                           \
                for (int i = 0; i < NX; i++) {                                                     \
                    real w = a[j * NX + (i + NX - 1) % NX], e = a[j * NX + (i + 1) % NX];          \
                    real u = a[(j + NY - 1) % NY * NX + i], o = a[(j + 1) % NY * NX + i];          \
                    b[j * NX + i] = a[j * NX + i] + k * (((w + e) + (u + o)) - 4 * a[j * NX + i]); \
                }                                                                                  \
            memcpy(a, b, sizeof b);                                                                \
        }                                                                                          \
    }
DIFFUSE_IN_C(float, single)
DIFFUSE_IN_C(double, double)

static bn_domain_desc square(bn_precision precision)
{
    return (
        bn_domain_desc){ .grid = { .dims = 2, .n = { NX, NY, 1 }, .h = { 0.1, 0.1, 1 }, .periodic = { true, true } },
                         .precision = precision,
                         .halo = 1 };
}

TEST(same_bits_as_plain_c_for_any_boxes_and_groups)
{
    static const int boxes[] = { 1, 2, 3, 7 };
    static const size_t groups[][3] = { { 0, 0, 0 }, { 1, 1, 1 }, { 64, 1, 1 }, { 5, 3, 1 } };
    for (size_t b = 0; b < 4; b++) {
        open_device(1, b % 2 == 1);
        for (int precision = 0; precision < (bn_device_describe(device)->fp64 ? 2 : 1); precision++)
            for (size_t g = 0; g < 4; g++) {
                bn_domain_desc desc = square(precision == 0 ? BN_SINGLE : BN_DOUBLE);
                if (g != b &&
                    (precision == 1 || boxes[b] != 3)) /* every group with three boxes, the others with one group */
                    continue;
                desc.boxes = boxes[b];
                memcpy(desc.work_group, groups[g], sizeof groups[g]);
                static float single[NX * NY], expected_single[NX * NY];
                static double full[NX * NY], expected_full[NX * NY];
                diffuse(desc, precision ? (void *)full : single, precision ? sizeof full : sizeof single);
                diffuse_single(expected_single);
                diffuse_double(expected_full);
                ck_assert_msg(precision ? memcmp(full, expected_full, sizeof full) == 0
                                        : memcmp(single, expected_single, sizeof single) == 0,
                              "precision %d, %d boxes, group %zu: other bits than plain C", precision, boxes[b], g);
            }
        close_device();
    }
}

TEST(corners_of_halos_in_three_dimensions)
{
    enum { N = 12, WIDE = 2 * BN_BLOCK_NX + 40 }; /* wide enough to be cut along x too */
    static const bn_kernel_desc kernel = { "probe_corners", BN_PER_CELL, { 27, 1, 27 } };
    const bn_define k = { "K", BN_DEF_REAL, { .r = 0.03125 } };
    static float first[2 * WIDE * N * N], other[2 * WIDE * N * N];
    static const int boxes[] = { 1, 8, 3, 12 };
    open_device(1, true);
    for (size_t b = 0; b < (long_tests() ? 4 : 3); b++) { /* twelve are four shapes more to compile */
        const bn_domain_desc desc = {
            .grid = { .dims = 3, .n = { WIDE, N, N }, .h = { 0.1, 0.1, 0.1 }, .periodic = { true, true, true } },
            .precision = BN_SINGLE,
            .halo = 2,
            .boxes = boxes[b],
            .device = device
        };
        bn_domain *domain = new_domain(&desc);
        bn_field *a = new_field(domain, "a", BN_T_REAL, 2);
        bn_field *c = new_field(domain, "c", BN_T_REAL, 2);
        bn_kernel *probe = new_kernel(domain, &kernel, &k, 1);
        OK(bn_field_fill(a, bump, NULL));
        for (int s = 0; s < 3; s++) {
            OK(BN_RUN(probe, BN_READ(a, 1), BN_WRITE(c)));
            bn_field_swap(a, c);
        }
        OK(bn_field_read(a, b ? other : first, sizeof first));
        ck_assert_msg(b == 0 || memcmp(first, other, sizeof first) == 0, "%d boxes: other bits than one", boxes[b]);
        ck_assert(isfinite(first[0]) && isfinite(first[WIDE * N * N]));
        drop_objects();
    }
    close_device();
}

TEST(every_cell_once_in_odd_shapes)
{
    static const uint32_t sizes[][3] = { { 1, 1, 1 }, { 300, 1, 1 }, { 3, 5, 1 }, { 257, 3, 2 }, { 64, 64, 1 } };
    static const bn_kernel_desc kernel = { "probe_number", BN_PER_CELL, { 0, 1, 0 } };
    const bn_define k = { "K", BN_DEF_REAL, { .r = 1 } };
    open_device(1, true);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        bn_domain_desc desc = { .grid = { .dims = s == 1   ? 1
                                                  : s == 3 ? 3
                                                           : 2,
                                          .h = { 1, 1, 1 } },
                                .halo = 1,
                                .device = device,
                                .boxes = s == 0 ? 1 : 2 };
        memcpy(desc.grid.n, sizes[s], sizeof desc.grid.n);
        bn_domain *domain = new_domain(&desc);
        bn_field *number = new_field(domain, "number", BN_T_I32, 1);
        bn_kernel *probe = new_kernel(domain, &kernel, &k, 1);
        OK(BN_RUN(probe, BN_WRITE(number)));
        static int32_t values[300 * 64];
        OK(bn_field_read(number, values, bn_field_bytes(number)));
        for (size_t i = 0; i < bn_domain_points(domain); i++)
            ck_assert_int_eq(values[i], (int32_t)i);
        drop_objects();
    }
    close_device();
}

/* Rows on GPUs begin at 128 bytes, but for those that would be mostly padding. */
TEST(narrow_grids_take_little_memory)
{
    const uint32_t widths[] = { 1, 7, 16, 17, 60 }, most[] = { 16, 16, 48, 64, 96 };
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const bn_domain_desc desc = { .grid = { .dims = 3, .n = { widths[i], 40, 50 } },
                                      .halo = 1,
                                      .precision = BN_SINGLE };
        ck_assert_uint_eq(bn_domain_estimate(&desc, 8, 1, NULL), (uint64_t)most[i] * 42 * 52 * 8);
    }
}

TEST(a_work_group_has_a_whole_row)
{
    static const size_t groups[][3] = { { 0 }, { 1, 1, 1 }, { 7, 3, 1 }, { 256, 1, 1 } };
    static const bn_kernel_desc kernel = { "probe_row", BN_PER_ROW, { 1, 1, 0 } };
    const bn_define k = { "K", BN_DEF_REAL, { .r = 1 } };
    enum { WIDE = 77, HIGH = 29 };
    open_device(1, true);
    for (int g = 0; g < 5; g++) {
        const bool cut = g == 4; /* rows that are cut are refused */
        bn_domain_desc desc = { .grid = { .dims = 2, .n = { cut ? 600 : WIDE, HIGH, 1 }, .h = { 1, 1, 1 } },
                                .halo = 1,
                                .device = device,
                                .boxes = cut ? 2 : 1 + 2 * (g % 2) };
        if (!cut)
            memcpy(desc.work_group, groups[g], sizeof desc.work_group);
        bn_domain *domain = new_domain(&desc);
        bn_field *number = new_field(domain, "number", BN_T_I32, 1);
        bn_kernel *probe = new_kernel(domain, &kernel, &k, 1);
        if (cut) {
            ck_assert_int_eq(BN_RUN(probe, BN_UPDATE(number)), BN_USAGE);
            ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), "needs whole lines"));
            bn_error_clear(ctx);
        } else {
            static int32_t values[WIDE * HIGH];
            OK(BN_RUN(probe, BN_UPDATE(number)));
            OK(bn_field_read(number, values, sizeof values));
            for (int i = 0; i < WIDE * HIGH; i++)
                ck_assert_int_eq(values[i], i / WIDE * WIDE + WIDE - 1 - i % WIDE);
        }
        drop_objects();
    }
    close_device();
}

TEST(a_reach_declared_too_small_shows_as_nan)
{
    static const bn_kernel_desc kernel = { "probe_diffuse", BN_PER_CELL, { 1, 1, 6 } };
    const bn_define k = { "K", BN_DEF_REAL, { .r = 0.2 } };
    open_device(1, true);
    bn_domain_desc desc = square(BN_SINGLE);
    double sum;
    desc.device = device;
    bn_domain *domain = new_domain(&desc);
    bn_field *a = new_field(domain, "a", BN_T_REAL, 1);
    bn_field *b = new_field(domain, "b", BN_T_REAL, 1);
    bn_kernel *advance = new_kernel(domain, &kernel, &k, 1);
    OK(bn_field_fill(a, bump, NULL));
    OK(bn_reduce(a, 0, BN_SUM, &sum));
    ck_assert(isfinite(sum));
    OK(BN_RUN(advance, BN_READ(a, 0), BN_WRITE(b)));
    OK(bn_reduce(b, 0, BN_SUM, &sum));
    ck_assert_msg(!isfinite(sum), "a kernel read its halo without saying so, and nobody noticed");
    OK(bn_reduce(b, 0, BN_MAX_ABS, &sum));
    ck_assert(!isfinite(sum));
    close_device();
}

TEST(a_write_behind_the_end_is_caught)
{
    static const bn_kernel_desc kernel = { "probe_overflow", BN_PER_CELL, { 0, 1, 0 } };
    const bn_define k = { "K", BN_DEF_REAL, { .r = 0.2 } };
    open_device(1, true);
    bn_domain_desc desc = square(BN_SINGLE);
    desc.device = device;
    bn_domain *domain = new_domain(&desc);
    bn_field *a = new_field(domain, "a", BN_T_REAL, 1);
    bn_kernel *probe = new_kernel(domain, &kernel, &k, 1);
    OK(bn_domain_check_canaries(domain));
    OK(BN_RUN(probe, BN_UPDATE(a)));
    ck_assert_int_eq(bn_domain_check_canaries(domain), BN_MISMATCH);
    ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), "behind the end of a"));
    close_device();
}

/* Sum, sum of squares and largest magnitude of a field on one domain, and how many of its values are above a half. */
static void reduce_all(const bn_domain_desc *desc, double results[4])
{
    bn_domain *domain = new_domain(desc);
    bn_field *f = new_field(domain, "f", BN_T_REAL, 1);
    OK(bn_field_fill(f, bump, NULL));
    for (int op = BN_SUM; op <= BN_MAX_ABS; op++)
        OK(bn_reduce(f, 0, (bn_reduce_op)op, &results[op]));
    OK(bn_reduce_above(f, 0, 0.5, &results[3]));
    drop_objects();
}

TEST(sums_have_the_same_bits_everywhere)
{
    static const uint32_t sizes[][2] = { { 37, 29 }, { 700, 13 }, { 1, 17 } };
    static const size_t groups[][3] = { { 0, 0, 0 }, { 16, 1, 1 }, { 3, 5, 1 } };
    open_device(1, false);
    for (size_t s = 0; s < 3; s++)
        for (int precision = 0; precision < (bn_device_describe(device)->fp64 ? 2 : 1); precision++) {
            bn_domain_desc desc = { .grid = { .dims = 2, .n = { sizes[s][0], sizes[s][1], 1 }, .h = { 0.01, 0.1, 1 } },
                                    .precision = precision ? BN_DOUBLE : BN_SINGLE,
                                    .halo = 1 };
            double expected[4], found[4];
            reduce_all(&desc, expected); /* no device: the reference */
            /* All groups and cuts for one size in one precision, then a cut each. */
            const size_t first = s == 0 && !precision ? 0 : s, last = s == 0 && !precision ? 2 : s;
            for (size_t g = first; g <= last; g++) {
                desc.device = device;
                desc.boxes = (int)g + 1;
                memcpy(desc.work_group, groups[g], sizeof groups[0]);
                reduce_all(&desc, found);
                ck_assert_msg(memcmp(found, expected, sizeof found) == 0,
                              "size %zu, %zu boxes: sums %.17g %.17g %.17g, not %.17g %.17g %.17g", s, g + 1, found[0],
                              found[1], found[2], expected[0], expected[1], expected[2]);
            }
        }
    close_device();
}

TEST(sums_of_integers_are_exact_with_and_without_64_bit_atomics)
{
    static const bn_kernel_desc kernel = { "probe_fixed", BN_PER_CELL, { 0, 1, 0 } };
    const bn_define defines[] = { { "K", BN_DEF_REAL, { .r = 1 } }, { "FIXED_TWO_WORDS", BN_DEF_INT, { .i = 1 } } };
    int64_t expected[8] = { 0 };
    for (int64_t n = 0; n < NX * NY; n++)
        expected[n & 7] += (n % 3 - 1) * (n * n * n + n * INT64_C(0x200000000)) + 128 * n;
    open_device(1, false);
    for (size_t words = 1; words <= 2; words++) {
        bn_domain_desc desc = square(BN_SINGLE);
        static int64_t found[NX * NY];
        desc.device = device;
        bn_domain *domain = new_domain(&desc);
        bn_field *sums = new_field(domain, "sums", BN_T_I64, 1);
        bn_kernel *add = new_kernel(domain, &kernel, defines, words);
        OK(BN_RUN(add, BN_UPDATE(sums)));
        OK(bn_field_read(sums, found, sizeof found));
        for (int k = 0; k < 8; k++)
            ck_assert_msg(found[k] == expected[k], "%zu words: sum %d is %lld, not %lld", words, k, (long long)found[k],
                          (long long)expected[k]);
        drop_objects();
    }
    close_device();
}

TEST(a_snapshot_keeps_its_moment)
{
    open_device(1, false);
    for (int on_device = 0; on_device < 2; on_device++) {
        bn_domain_desc desc = square(BN_SINGLE);
        bn_snapshot *first, *second;
        const void *data;
        static float before[NX * NY];
        desc.device = on_device ? device : NULL;
        desc.boxes = 3;
        bn_domain *domain = new_domain(&desc);
        bn_field *f = new_field(domain, "f", BN_T_REAL, 1);
        OK(bn_field_fill(f, bump, NULL));
        OK(bn_field_read(f, before, sizeof before));
        bn_region whole;
        OK(bn_snapshot_begin(f, true, &first));
        OK(bn_field_zero(f));
        OK(bn_snapshot_begin(f, false, &second));
        ck_assert_uint_eq(bn_snapshot_parts(first), 1);
        OK(bn_snapshot_wait(ctx, first, 0, &whole, &data));
        ck_assert(whole.first[0] == 0 && whole.first[1] == 0 && whole.n[0] == NX && whole.n[1] == NY &&
                  whole.n[2] == 1);
        ck_assert(memcmp(data, before, sizeof before) == 0);
        OK(bn_snapshot_wait(ctx, second, 0, &whole, &data));
        for (size_t i = 0; i < NX * NY; i++)
            ck_assert(((const float *)data)[i] == 0.0f);
        bn_snapshot_release(&first);
        bn_snapshot_release(&second);
        drop_objects();
    }
    close_device();
}

/* What bn_field_visit has shown so far, joined. */
typedef struct shown {
    char *all;
    size_t bytes;
    int component;
} shown;

static bn_status join(void *user, int component, const bn_region *r, const void *values)
{
    shown *s = user;
    ck_assert_int_ge(component, s->component);
    const size_t bytes = bn_region_points(r) * sizeof(float);
    ck_assert_uint_eq(r->n[0], 300);
    s->component = component;
    memcpy(s->all + s->bytes, values, bytes);
    s->bytes += bytes;
    return BN_OK;
}

static bn_status count_up(void *user, const bn_region *r, void *values)
{
    float *to = values;
    const size_t points = (size_t)r->n[0] * r->n[1] * r->n[2];
    for (size_t i = 0; i < 2 * points; i++) {
        const size_t at = i % points;
        to[i] = (float)(r->first[0] + at % r->n[0] + 300 * (r->first[1] + at / r->n[0] % r->n[1])) +
                *(const float *)user + 1e6f * (float)(i / points);
    }
    return BN_OK;
}

/* 300 x 16 x 3 points of two components, in three boxes and in the reference: parts, bands, and writing part by part.
 */
TEST(parts_of_a_field)
{
    enum { W = 300, H = 16, D = 3, POINTS = W * H * D };
    open_device(1, true);
    static float whole[2 * POINTS], joined[2 * POINTS], part[2 * POINTS];
    for (int on_device = 0; on_device < 2; on_device++) {
        bn_domain_desc desc = { .grid = { .dims = 3, .n = { W, H, D }, .h = { 1, 1, 1 } }, .halo = 1, .boxes = 3 };
        float half = 0.5f;
        desc.device = on_device ? device : NULL;
        bn_domain *domain = new_domain(&desc);
        ck_assert(!bn_domain_across_ranks(domain));
        ck_assert_uint_eq(bn_domain_parts(domain), 1);
        bn_field *f = new_field(domain, "f", BN_T_REAL, 2);
        OK(bn_field_supply(f, BN_OWN_TYPE, count_up, &half));
        OK(bn_field_read(f, whole, sizeof whole));
        for (size_t i = 0; i < 2 * POINTS; i++)
            ck_assert(whole[i] == (float)(i % (W * H)) + half + 1e6f * (float)(i / POINTS));
        shown s = { .all = (char *)joined };
        OK(bn_field_visit(f, BN_OWN_TYPE, join, &s));
        ck_assert_uint_eq(s.bytes, sizeof whole);
        ck_assert_int_eq(s.component, 1);
        ck_assert(memcmp(joined, whole, sizeof whole) == 0);
        /* Two rows, a row even where it is too long, a layer, two layers and then the last one. */
        static const size_t fits[] = { 700, 10, W * H, 2 * W * H + 5 };
        static const size_t bands[] = { 8 * D, H * D, D, 2 };
        for (int i = 0; i < 4; i++) {
            size_t next = 0, count = 0;
            for (bn_region band = { .n = { 0 } }; bn_domain_next_band(domain, fits[i], &band); count++) {
                ck_assert_uint_eq(band.n[0], W);
                ck_assert_uint_eq((band.first[2] * (size_t)H + band.first[1]) * W + band.first[0], next);
                next += (size_t)band.n[0] * band.n[1] * band.n[2];
            }
            ck_assert_uint_eq(next, POINTS);
            ck_assert_uint_eq(count, bands[i]);
        }
        double few[8];
        const bn_region four = { { 298, 5, 2 }, { 2, 2, 1 } };
        OK(bn_field_read_region(f, 0, 2, &four, BN_AS_DOUBLES, few));
        for (size_t i = 0; i < 8; i++)
            ck_assert_double_eq(few[i], (double)whole[i / 4 * POINTS + 2 * W * H + W * (5 + i / 2 % 2) + 298 + i % 2]);
        const bn_region r = { { 250, 3, 1 }, { 40, 9, 2 } };
        const size_t count = 40 * 9 * 2;
        OK(bn_field_read_region(f, 1, 1, &r, BN_OWN_TYPE, part));
        for (size_t i = 0; i < count; i++)
            ck_assert(part[i] == whole[POINTS + W * H * (1 + i / 360) + W * (3 + i / 40 % 9) + 250 + i % 40]);
        const bn_region beyond = { { 280, 3, 1 }, { 40, 9, 2 } };
        ck_assert_int_eq(bn_field_read_region(f, 0, 1, &beyond, BN_OWN_TYPE, part), BN_USAGE);
        bn_error_clear(ctx);
        ck_assert_int_eq(bn_field_read_region(f, 1, 2, &r, BN_OWN_TYPE, part), BN_USAGE);
        bn_error_clear(ctx);
        drop_objects();
    }
    close_device();
}

TEST(wrong_calls_are_refused)
{
    static const bn_kernel_desc kernel = { "probe_diffuse", BN_PER_CELL, { 1, 1, 6 } };
    static const bn_kernel_desc absent = { "no_such_kernel", BN_PER_CELL, { 1, 1, 6 } };
    const bn_define k[] = { { "K", BN_DEF_REAL, { .r = 0.2 } }, { "NX", BN_DEF_INT, { .i = 3 } } };
    open_device(1, false);
    bn_domain_desc desc = square(BN_SINGLE);
    desc.device = device;
    bn_domain *domain = new_domain(&desc);
    bn_domain *other = new_domain(&desc);
    bn_field *a = new_field(domain, "a", BN_T_REAL, 1);
    bn_field *b = new_field(domain, "b", BN_T_REAL, 1);
    bn_field *foreign = new_field(other, "foreign", BN_T_REAL, 1);
    bn_program *program = new_program(domain, "probe", k, 1);
    bn_kernel *probe;
    OK(bn_kernel_find(program, &kernel, &probe));
    REFUSED(BN_RUN(probe, BN_READ(a, 1)), BN_USAGE, "takes 2 arguments");
    REFUSED(BN_RUN(probe, BN_READ(foreign, 1), BN_WRITE(b)), BN_USAGE, "another domain");
    REFUSED(BN_RUN(probe, BN_READ(a, 2), BN_WRITE(b)), BN_USAGE, "the halo is 1");
    REFUSED(BN_RUN(probe, BN_READ(a, 1), BN_WRITE(a)), BN_USAGE, "and writes it");
    REFUSED(BN_RUN(probe, BN_READ(NULL, 1), BN_WRITE(b)), BN_USAGE, "missing");
    REFUSED(BN_RUN(probe, BN_READ(a, 1), BN_ONLY_INNER_ROWS(100)), BN_USAGE, "inner rows alone");
    bn_scalars *scalars;
    OK(bn_scalars_create(domain, "scalars", 1, &scalars));
    REFUSED(BN_RUN(probe, BN_SCALARS(scalars), BN_WRITE(b), BN_SCALARS_AHEAD(scalars)), BN_USAGE,
            "beside their exchange");
    bn_scalars_destroy(&scalars);
    bn_kernel *none;
    REFUSED(bn_kernel_find(program, &absent, &none), BN_DEVICE, "no_such_kernel");
    bn_program *twice;
    REFUSED(bn_program_build(domain, "probe", k, 2, &twice), BN_USAGE, "NX is defined twice");
    float few[3];
    REFUSED(bn_field_read(a, few, sizeof few), BN_USAGE, "bytes");
    bn_domain *bad = NULL;
    desc.boxes = 4000;
    REFUSED(bn_domain_create(ctx, &desc, &bad), BN_USAGE, "can't be cut into 4000 boxes");
    desc.boxes = 1;
    desc.grid.n[0] = desc.grid.n[1] = 1000000;
    if (bn_domain_create(ctx, &desc, &bad) == BN_OK) {
        bn_field *huge;
        REFUSED(bn_field_create(bad, &(bn_field_desc){ "huge", "", BN_T_REAL, 1, 0 }, &huge), BN_MEMORY, "GiB");
        bn_domain_destroy(&bad);
    }
    close_device();
}

TEST(coarser_grids_have_the_same_boxes)
{
    static const bn_kernel_desc number = { "probe_number", BN_PER_CELL, { 0, 1, 0 } };
    enum { WIDE = 2 * BN_BLOCK_NX + 41, HIGH = 333, COARSE_X = (WIDE - 1) / 2 + 1, COARSE_Y = (HIGH - 1) / 4 + 1 };
    static int32_t numbers[COARSE_X * COARSE_Y];
    static const int by_two[3] = { 2, 4, 1 }, by_three[3] = { 3, 1, 1 };
    open_device(1, true);
    for (int boxes = 1; boxes <= 4; boxes += 3) { /* 2 x 2 */
        const bn_domain_desc desc = { .grid = { .dims = 2, .n = { WIDE, HIGH, 1 }, .h = { 0.5, 0.25, 1 } },
                                      .halo = 3,
                                      .ghost_cells = 2, /* a coarser grid with a halo of 1 has none */
                                      .boxes = boxes,
                                      .align = 4,
                                      .device = device };
        bn_domain *coarse, *coarsest;
        const bn_define k = { "K", BN_DEF_REAL, { .r = 1 } };
        double sum;
        bn_domain *fine = new_domain(&desc);
        ck_assert(bn_domain_divides(fine, by_two));
        ck_assert_int_eq(bn_domain_divides(fine, by_three), boxes == 1);
        OK(bn_domain_coarsen(fine, by_two, 1, &coarse));
        (void)keep_domain(coarse);
        ck_assert_uint_eq(bn_domain_boxes(coarse), (size_t)boxes);
        ck_assert_uint_eq(bn_domain_grid(coarse)->n[0], COARSE_X);
        ck_assert_uint_eq(bn_domain_grid(coarse)->n[1], COARSE_Y);
        ck_assert(bn_domain_grid(coarse)->h[0] == 1 && bn_domain_grid(coarse)->h[1] == 1);
        if (boxes > 1)
            ck_assert_int_eq(bn_domain_coarsen(fine, by_three, 1, &coarsest), BN_USAGE);
        /* The coarse grid is complete, each cell in its place. */
        bn_field *f = new_field(coarse, "number", BN_T_I32, 1);
        bn_kernel *probe = new_kernel(coarse, &number, &k, 1);
        OK(BN_RUN(probe, BN_WRITE(f)));
        OK(bn_field_read(f, numbers, sizeof numbers));
        for (int at = 0; at < COARSE_X * COARSE_Y; at++)
            ck_assert_int_eq(numbers[at], at);
        f = new_field(coarse, "a", BN_T_REAL, 1);
        OK(bn_field_zero(f));
        ck_assert_int_eq(bn_reduce(f, 0, BN_SUM, &sum), boxes == 1 ? BN_OK : BN_USAGE);
        bn_error_clear(ctx);
        drop_objects();
    }
    bn_domain *bad;
    const bn_domain_desc odd = { .grid = { .dims = 1, .n = { 9, 1, 1 } }, .align = 3 };
    ck_assert_int_eq(bn_domain_create(ctx, &odd, &bad), BN_USAGE);
    close_device();
}

/* Diffusion whose source lies in another domain: halos are exchanged there, on one device and on two. */
TEST(a_foreign_field_brings_its_halos)
{
    static const bn_kernel_desc kernel = { "probe_diffuse", BN_PER_CELL, { 1, 1, 6 } };
    const bn_define k = { "K", BN_DEF_REAL, { .r = 0.2 } };
    static float own[NX * NY], foreign[NX * NY];
    for (int spread = 0; spread < 2; spread++) {
        open_device(1 + spread, true);
        bn_domain *other;
        bn_domain_desc desc = square(BN_SINGLE);
        desc.device = device;
        desc.boxes = 3;
        bn_domain *domain = new_domain(&desc);
        OK(bn_domain_coarsen(domain, (const int[3]){ 1, 1, 1 }, 1, &other));
        (void)keep_domain(other);
        desc.boxes = 2;
        bn_domain *fewer = new_domain(&desc);
        bn_field *a = new_field(domain, "a", BN_T_REAL, 1);
        bn_field *b = new_field(other, "b", BN_T_REAL, 1);
        bn_field *c = new_field(domain, "c", BN_T_REAL, 1);
        bn_field *d = new_field(fewer, "d", BN_T_REAL, 1);
        bn_kernel *probe = new_kernel(domain, &kernel, &k, 1);
        OK(bn_field_fill(a, bump, NULL));
        OK(bn_field_fill(b, bump, NULL));
        OK(BN_RUN(probe, BN_READ(a, 1), BN_WRITE(c)));
        OK(bn_field_read(c, own, sizeof own));
        OK(bn_field_zero(c));
        OK(BN_RUN(probe, BN_READ_OTHER_GRID_RADIUS(b, 1), BN_WRITE(c)));
        OK(bn_field_read(c, foreign, sizeof foreign));
        ck_assert_msg(memcmp(own, foreign, sizeof own) == 0, "spread %d: a foreign field gives other bits", spread);
        REFUSED(BN_RUN(probe, BN_READ_OTHER_GRID_RADIUS(b, 2), BN_WRITE(c)), BN_USAGE, "the halo is 1");
        REFUSED(BN_RUN(probe, BN_READ_OTHER_GRID_RADIUS(d, 1), BN_WRITE(c)), BN_USAGE, "another domain");
        /* And through the host, from three boxes to two. */
        bn_field *e = new_field(fewer, "e", BN_T_I32, 1);
        OK(bn_field_copy(c, d));
        OK(bn_field_read(d, own, sizeof own));
        ck_assert_msg(memcmp(own, foreign, sizeof own) == 0, "spread %d: the copy has other values", spread);
        REFUSED(bn_field_copy(c, e), BN_USAGE, "can't be copied to e");
        close_device();
    }
}

/* Values that are narrowed go through pinned memory, which has room for two pieces: of a field of more than 1 MiB the
 * components one after the other. */
TEST(components_pass_pinned_memory_in_turn)
{
    enum { WIDE = 1000, HIGH = 400, MOST = 5 };
    double *values = malloc(MOST * WIDE * HIGH * sizeof *values), *got = malloc(MOST * WIDE * HIGH * sizeof *got);
    ck_assert(values && got);
    for (int components = 1; components <= MOST; components++) {
        open_device(1, false);
        bn_domain *domain = new_domain(
            &(bn_domain_desc){ .grid = { .dims = 2, .n = { WIDE, HIGH, 1 }, .h = { 1, 1, 1 } },
                               .precision = BN_SINGLE,
                               .device = device });
        bn_field *f = new_field(domain, "f", BN_T_REAL, components);
        const size_t count = (size_t)components * WIDE * HIGH;
        for (size_t at = 0; at < count; at++)
            values[at] = (double)at;
        OK(bn_field_set(f, values, count));
        OK(bn_field_get(f, got, count));
        ck_assert_msg(memcmp(values, got, count * sizeof *got) == 0, "%d components", components);
        close_device();
    }
    free(values);
    free(got);
}

/* Columns of a grid in boxes, of one device or of several, to one that is whole on each: every device sees all rows. */
TEST(columns_reach_every_device)
{
    enum { COLUMNS = 5 };
    static const bn_kernel_desc kernel = { "probe_upside_down", BN_PER_CELL, { 2, 2, 0 } };
    const bn_define k = { "K", BN_DEF_REAL, { .r = 0.2 } };
    static double values[2 * NX * NY], got[2 * NX * NY];
    for (int devices = 1; devices <= 3; devices++) {
        open_device(devices, true);
        bn_domain_desc desc = square(BN_SINGLE), columns = { .copies = true, .device = device };
        desc.device = device;
        desc.boxes = 3;
        columns.grid = desc.grid;
        columns.grid.n[0] = COLUMNS;
        bn_domain *domain = new_domain(&desc), *everywhere = new_domain(&columns);
        columns.grid.n[1] = NY - 1;
        bn_domain *fewer_rows = new_domain(&columns);
        columns.grid.n[1] = NY;
        columns.grid.n[0] = NX + 1;
        bn_domain *more_columns = new_domain(&columns);
        columns.grid.n[0] = COLUMNS;
        columns.copies = false;
        columns.boxes = 3;
        bn_domain *in_boxes = new_domain(&columns);
        ck_assert_uint_eq(bn_domain_boxes(everywhere), (size_t)devices);
        bn_field *from = new_field(domain, "from", BN_T_REAL, 2), *out = new_field(domain, "out", BN_T_REAL, 2),
                 *to = new_field(everywhere, "to", BN_T_REAL, 2);
        bn_kernel *probe = new_kernel(domain, &kernel, &k, 1);
        const bn_place place = bn_domain_place(everywhere);
        for (int round = 0; round < 3; round++) { /* more than there are pieces of pinned memory */
            for (int at = 0; at < 2 * NX * NY; at++)
                values[at] = 10000 * round + at;
            OK(bn_field_set(from, values, 2 * NX * NY));
            OK(bn_field_copy_columns_begin(from, to));
            OK(bn_field_zero(out));
            OK(bn_field_copy_columns_end(from, to));
            OK(bn_field_zero(from)); /* the copies are made */
            OK(BN_RUN(probe, BN_UPDATE(out), BN_READ_EVERYWHERE(to), BN_I32V((int32_t)place.first),
                      BN_I32V((int32_t)place.pitch), BN_I32V((int32_t)place.plane), BN_I32V(COLUMNS)));
            OK(bn_field_get(out, got, 2 * NX * NY));
            for (int at = 0; at < 2 * NX * NY; at++) {
                const int i = at % NX, j = at / NX % NY, c = at / (NX * NY);
                const double expected = i < COLUMNS ? values[(c * NY + NY - 1 - j) * NX + i] : 0;
                ck_assert_msg(got[at] == expected, "%d devices, round %d: %g at %d, %d, not %g", devices, round,
                              got[at], i, j, expected);
            }
        }
        REFUSED(bn_field_copy_columns_begin(from, new_field(everywhere, "one", BN_T_REAL, 1)), BN_USAGE,
                "can't be copied to one");
        REFUSED(bn_field_copy_columns_begin(from, new_field(everywhere, "whole", BN_T_I32, 2)), BN_USAGE,
                "can't be copied to whole");
        REFUSED(bn_field_copy_columns_begin(from, new_field(fewer_rows, "rows", BN_T_REAL, 2)), BN_USAGE,
                "can't be copied to rows");
        REFUSED(bn_field_copy_columns_begin(from, new_field(more_columns, "more", BN_T_REAL, 2)), BN_USAGE,
                "can't be copied to more");
        REFUSED(bn_field_copy_columns_begin(from, new_field(in_boxes, "boxes", BN_T_REAL, 2)), BN_USAGE,
                "can't be copied to boxes");
        REFUSED(BN_RUN(probe, BN_UPDATE(out), BN_READ_EVERYWHERE(new_field(in_boxes, "cut", BN_T_REAL, 2)), BN_I32V(0),
                       BN_I32V(0), BN_I32V(0), BN_I32V(0)),
                BN_USAGE, "another domain");
        close_device();
    }
}

/* What a launch receives for a later one is there when that begins: it does not ask for it here. */
TEST(halos_are_received_beforehand)
{
    static const bn_kernel_desc kernel = { "probe_diffuse", BN_PER_CELL, { 1, 1, 6 } },
                                numbers = { "probe_number", BN_PER_CELL, { 0, 1, 0 } };
    const bn_define k = { "K", BN_DEF_REAL, { .r = 0.2 } };
    static float asked[NX * NY], received[NX * NY];
    for (int devices = 1; devices <= 3; devices++) {
        open_device(devices, true);
        bn_domain_desc desc = square(BN_SINGLE);
        desc.device = device;
        desc.boxes = 3;
        bn_domain *domain = new_domain(&desc), *other;
        OK(bn_domain_coarsen(domain, (const int[3]){ 1, 1, 1 }, 1, &other));
        (void)keep_domain(other);
        bn_field *a = new_field(domain, "a", BN_T_REAL, 1), *b = new_field(domain, "b", BN_T_REAL, 1),
                 *number = new_field(other, "number", BN_T_I32, 1);
        bn_kernel *diffuses = new_kernel(domain, &kernel, &k, 1), *counts = new_kernel(other, &numbers, &k, 1);
        OK(bn_field_fill(a, bump, NULL));
        OK(BN_RUN(diffuses, BN_READ(a, 1), BN_WRITE(b)));
        OK(bn_field_read(b, asked, sizeof asked));
        OK(bn_field_fill(a, bump, NULL)); /* the halo is out of date */
        OK(bn_field_zero(b));
        OK(BN_RUN(counts, BN_WRITE(number), BN_READ_LATER(a, 1)));
        OK(BN_RUN(diffuses, BN_READ(a, 0), BN_WRITE(b)));
        OK(bn_field_read(b, received, sizeof received));
        ck_assert_msg(memcmp(asked, received, sizeof asked) == 0, "%d devices: a halo was not received", devices);
        REFUSED(BN_RUN(counts, BN_WRITE(number), BN_READ_LATER(a, 2)), BN_USAGE, "the halo is 1");
        REFUSED(BN_RUN(counts, BN_WRITE(number), BN_READ_LATER(number, 1)), BN_USAGE,
                "reads neighbours of number and writes it");
        close_device();
    }
}

int main(void) { return bn_test_main("domain", NULL, NULL); }
