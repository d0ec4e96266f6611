/* test_device.c: finding and naming devices, and what a user is told when there is none. Each test runs in a process of
 * its own and sets the loader's variables before the first call. */
#include "api/limits.h"
#include "support.h"

#include "binnacle/binnacle.h"
#include "device/buffer.h"
#include "device/device_thread.h"
#include "device/program_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bn_context *context_new(void)
{
    bn_context *ctx;
    ck_assert_int_eq(bn_context_create(NULL, &ctx), BN_OK);
    return ctx;
}

#define REFUSED(call, status, words)                                                        \
    do {                                                                                    \
        ck_assert_int_eq((call), (status));                                                 \
        ck_assert_msg(strstr(bn_error_text(ctx), words) != NULL, "%s", bn_error_text(ctx)); \
        bn_error_clear(ctx);                                                                \
    } while (0)

/* A vendor folder with one file that holds `library`; NULL: an empty one. */
static void vendors(const char *library)
{
    static char folder[] = "/tmp/binnacle-vendors-XXXXXX";
    char path[256];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    if (library) {
        snprintf(path, sizeof path, "%s/some.icd", folder);
        FILE *f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        fprintf(f, "%s\n", library);
        fclose(f);
    }
    ck_assert_int_eq(setenv("OCL_ICD_VENDORS", folder, 1), 0);
}

TEST(without_platform_it_says_what_to_install)
{
    vendors(NULL);
    bn_context *ctx = context_new();
    const bn_device_info *info;
    size_t count;
    REFUSED(bn_devices(ctx, &info, &count), BN_DEVICE, "pocl-opencl-icd");
    REFUSED(bn_devices(ctx, &info, &count), BN_DEVICE, "holds no vendor file");
    bn_context_destroy(&ctx);
}

TEST(a_vendor_file_that_names_no_library_is_told)
{
    vendors("libno-such-opencl.so.7");
    bn_context *ctx = context_new();
    const bn_device_info *info;
    size_t count;
    char *text;
    REFUSED(bn_devices(ctx, &info, &count), BN_DEVICE, "libno-such-opencl.so.7 does not load");
    ck_assert_int_eq(bn_device_check_icd_loader(ctx, &text), BN_OK);
    ck_assert_msg(strstr(text, "does not load") != NULL, "%s", text);
    free(text);
    bn_context_destroy(&ctx);
}

TEST(selectors)
{
    bn_context *ctx = context_new();
    const bn_device_info *info;
    size_t count, index, n;
    const char *reason;
    char name[16];
    unsetenv("BINNACLE_DEVICE");
    ck_assert_int_eq(bn_devices(ctx, &info, &count), BN_OK);
    ck_assert_int_ge((int)count, 1);
    ck_assert_int_eq(bn_device_select(ctx, "auto", &index, 1, &n, &reason), BN_OK);
    ck_assert_uint_eq(n, 1);
    ck_assert(reason[0] != '\0');
    ck_assert_int_eq(bn_device_select(ctx, NULL, &index, 1, &n, NULL), BN_OK);
    ck_assert_int_eq(bn_device_select(ctx, "0", &index, 1, &n, NULL), BN_OK);
    ck_assert_uint_eq(index, 0);
    ck_assert_int_eq(bn_device_select(ctx, "0:0", &index, 1, &n, NULL), BN_OK);
    ck_assert_int_eq(bn_device_select(ctx, "ALL", &index, 1, &n, NULL), BN_OK);
    snprintf(name, sizeof name, "%.8s", info[0].platform); /* part of a name, any case */
    for (char *p = name; *p; p++)
        *p = (char)(*p >= 'a' && *p <= 'z' ? *p - 32 : *p);
    if (count == 1)
        ck_assert_int_eq(bn_device_select(ctx, name, &index, 1, &n, NULL), BN_OK);
    REFUSED(bn_device_select(ctx, "99", &index, 1, &n, NULL), BN_DEVICE, "not so many");
    REFUSED(bn_device_select(ctx, "7:7", &index, 1, &n, NULL), BN_DEVICE, "there is none");
    REFUSED(bn_device_select(ctx, "no such name", &index, 1, &n, NULL), BN_DEVICE, info[0].name);
    REFUSED(bn_device_select(ctx, "gpu:9", &index, 1, &n, NULL), BN_DEVICE, "there is none");
    REFUSED(bn_device_select(ctx, "0,", &index, 1, &n, NULL), BN_DEVICE, "an empty");
    REFUSED(bn_device_select(ctx, "0,0", &index, 1, &n, NULL), BN_USAGE, "names more than 1 device");
    size_t two[2];
    ck_assert_int_eq(bn_device_select(ctx, "0,0", two, 2, &n, NULL), BN_OK);
    ck_assert_uint_eq(n, 2);
    setenv("BINNACLE_DEVICE", "no such name", 1);
    REFUSED(bn_device_select(ctx, NULL, &index, 1, &n, NULL), BN_DEVICE, "no such name");
    bn_context_destroy(&ctx);
}

TEST(opening_closing_and_bandwidth)
{
    char folder[] = "/tmp/binnacle-device-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    bn_context *ctx;
    const bn_context_desc desc = { .cache_dir = folder };
    double first, kept;
    for (int round = 0; round < 2; round++) {
        bn_device *device;
        ck_assert_int_eq(bn_context_create(&desc, &ctx), BN_OK);
        ck_assert_int_eq(bn_device_open(ctx, "auto", round == 1, &device), BN_OK);
        if (round == 1) /* known before anything is measured */
            ck_assert(bn_device_describe(device)->bandwidth > 0);
        ck_assert_int_eq(bn_device_bandwidth(device, round ? &kept : &first), BN_OK);
        bn_device_close(&device);
        bn_context_destroy(&ctx);
    }
    ck_assert_msg(first > 1e7 && fabs(kept / first - 1) < 1e-4, "measured %g, kept %g", first, kept);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

/* The limits of a device are kept with their date; a file that was spoiled is measured anew. */
TEST(peaks_are_kept)
{
    char folder[] = "/tmp/binnacle-device-XXXXXX", command[256];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    bn_context *ctx;
    bn_device *device;
    bn_device_limits first, kept, again;
    const bn_context_desc desc = { .cache_dir = folder };
    ck_assert_int_eq(bn_context_create(&desc, &ctx), BN_OK);
    ck_assert_int_eq(bn_device_open(ctx, "auto", false, &device), BN_OK);
    ck_assert_msg(bn_device_measure_limits(device, false, &first) == BN_OK, "%s", bn_error_text(ctx));
    ck_assert(first.date > 1700000000 && first.copy > 1e7 && first.flops[0] > 1e7 && first.local_bytes > 1e7);
    ck_assert(first.atomics > 1e5 && first.launch > 0 && first.finish > 0 && first.finish < 1);
    ck_assert(first.upload > 1e6 && first.download > 1e6);
    ck_assert_int_eq(first.flops[1] > 0, bn_device_describe(device)->fp64);
    ck_assert_int_eq(bn_device_measure_limits(device, false, &kept), BN_OK);
    ck_assert(kept.date == first.date && fabs(kept.flops[0] / first.flops[0] - 1) < 1e-4);
    ck_assert(fabs(kept.download / first.download - 1) < 1e-4);
    snprintf(command, sizeof command, "sed -i 's/^flops32 .*/flops32 nan/' '%s'/devices/*-peaks.txt", folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(bn_device_measure_limits(device, false, &again), BN_OK);
    ck_assert(again.flops[0] > 1e7 && again.date >= first.date);
    bn_device_close(&device);
    bn_context_destroy(&ctx);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

TEST(a_build_failure_shows_the_log_with_our_file_and_line)
{
    bn_context *ctx = context_new();
    bn_device *device;
    cl_program program;
    ck_assert_int_eq(bn_device_open(ctx, "auto", false, &device), BN_OK);
    REFUSED(bn_cl_build(device, "broken",
                        "#line 7 \"kernels/broken.cl\"\nkernel void k(global int *a) { a[0] = nonsense; }\n",
                        "-cl-std=CL1.2", &program, NULL),
            BN_DEVICE, "kernels/broken.cl:7");
    bn_device_close(&device);
    bn_context_destroy(&ctx);
}

TEST(the_kernel_override)
{
    char folder[] = "/tmp/binnacle-kernels-XXXXXX", path[256], *text, *options;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    const bn_context_desc desc = { .kernel_dir = folder };
    const bn_define k = { "K", BN_DEF_REAL, { .r = 0.1 } };
    bn_context *ctx;
    ck_assert_int_eq(bn_context_create(&desc, &ctx), BN_OK);
    ck_assert_int_eq(bn_kernel_text(ctx, "reduce", &k, 1, BN_SINGLE, &text, &options),
                     BN_OK); /* not overridden: embedded */
    ck_assert_ptr_nonnull(strstr(text, "reduce_sum"));
    ck_assert_ptr_nonnull(strstr(text, "#line 1 \"kernels/reduce.cl\""));
    ck_assert_str_eq(options, "-cl-std=CL1.2 -DK=0x1.99999ap-4f");
    free(text);
    free(options);
    ck_assert_int_eq(bn_kernel_text(ctx, "reduce", &k, 1, BN_DOUBLE, &text, &options), BN_OK);
    ck_assert_str_eq(options, "-cl-std=CL1.2 -DK=0x1.999999999999ap-4");
    const size_t whole = strlen(text);
    free(text);
    free(options);
    const bn_define left_out[] = { { "reduce_pack", BN_DEF_LEFT_OUT, { 0 } }, k };
    ck_assert_int_eq(bn_kernel_text(ctx, "reduce", left_out, 2, BN_DOUBLE, &text, &options), BN_OK);
    ck_assert_ptr_null(strstr(text, "kernel void reduce_pack"));
    ck_assert_ptr_nonnull(strstr(text, "kernel void reduce_total_max"));
    ck_assert_uint_eq(strlen(text), whole + strlen(" WITHOUT_reduce_pack")); /* nothing has moved */
    ck_assert_ptr_nonnull(strstr(options, " -DWITHOUT_reduce_pack"));
    free(text);
    free(options);
    snprintf(path, sizeof path, "%s/reduce.cl", folder);
    FILE *f = fopen(path, "w");
    fputs("kernel void mine(void) {}\n", f);
    fclose(f);
    ck_assert_int_eq(bn_kernel_text(ctx, "reduce", NULL, 0, BN_SINGLE, &text, &options), BN_OK);
    ck_assert_ptr_nonnull(strstr(text, "mine"));
    free(text);
    free(options);
    ck_assert_int_eq(truncate(path, 0), 0);
    REFUSED(bn_kernel_text(ctx, "reduce", NULL, 0, BN_SINGLE, &text, &options), BN_DEVICE, "it is empty");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    REFUSED(bn_kernel_text(ctx, "reduce", NULL, 0, BN_SINGLE, &text, &options), BN_DEVICE, path);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(chmod(folder, 0777), 0);
    REFUSED(bn_kernel_text(ctx, "reduce", NULL, 0, BN_SINGLE, &text, &options), BN_DEVICE, "somebody else");
    ck_assert_int_eq(rmdir(folder), 0);
    REFUSED(bn_kernel_text(ctx, "reduce", NULL, 0, BN_SINGLE, &text, &options), BN_DEVICE, folder);
    bn_context_destroy(&ctx);
}

TEST(the_first_failure_is_told_with_its_story)
{
    bn_context *ctx = context_new();
    ck_assert_int_eq(bn_fail(ctx, BN_IO, "no %s", "disk"), BN_IO);
    ck_assert_int_eq(bn_fail(ctx, BN_DEVICE, "later"), BN_DEVICE);
    bn_note(ctx, "while testing %d", 7);
    ck_assert_str_eq(bn_error_text(ctx), "no disk\n  while testing 7");
    ck_assert_int_eq(bn_error_status(ctx), BN_IO);
    ck_assert_int_eq(bn_exit_code(BN_IO), 6);
    ck_assert_int_eq(bn_exit_code(BN_MEMORY), 3);
    ck_assert_int_eq(bn_exit_code(BN_INTERRUPTED), 130);
    bn_error_clear(ctx);
    bn_note(ctx, "nothing to add to");
    ck_assert_str_eq(bn_error_text(ctx), "");
    bn_context_destroy(&ctx);
}

static void read_bytes(const bn_buffer *b, size_t at, unsigned char *bytes, size_t count)
{
    ck_assert_int_eq(clEnqueueReadBuffer(bn_queue(b->device), b->mem, CL_TRUE, at, count, bytes, 0, NULL, NULL),
                     CL_SUCCESS);
}

/* More than is filled at once, painted when it is made; then zeros from an odd place on. */
TEST(long_buffers_are_filled_whole)
{
    enum { END = BN_FILL_BYTES + 6 };
    bn_context *ctx;
    bn_device *device;
    bn_buffer *list = NULL, *b;
    unsigned char found[8];
    ck_assert_int_eq(bn_context_create(&(bn_context_desc){ .debug = true }, &ctx), BN_OK);
    ck_assert_int_eq(bn_device_open(ctx, "auto", false, &device), BN_OK);
    ck_assert_int_eq(bn_buffer_create(device, &list, "a long buffer", END, &b), BN_OK);
    read_bytes(b, BN_FILL_BYTES - 4, found, 8);
    ck_assert_mem_eq(found, "\xef\xbe\xc0\x7f\xef\xbe\xc0\x7f", 8);
    ck_assert_int_eq(bn_buffers_check(list), BN_OK);
    ck_assert_int_eq(bn_buffer_fill(b, 0, 3, END - 4), BN_OK);
    read_bytes(b, 0, found, 5);
    ck_assert_mem_eq(found, "\xef\xbe\xc0\0\0", 5);
    read_bytes(b, END - 8, found, 7);
    ck_assert_mem_eq(found, "\0\0\0\0\0\0\0", 7);
    ck_assert_int_eq(bn_buffers_check(list), BN_OK);
    bn_buffer_destroy(&b);
    bn_device_close(&device);
    bn_context_destroy(&ctx);
}

int main(void) { return bn_test_main("device", NULL, NULL); }
