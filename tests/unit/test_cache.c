/* test_cache.c: the binary cache gives back what was put in, whole and private, or nothing. */
#include "support.h"

#include "device/binary_cache.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/binnacle-cache-XXXXXX";

static bn_context *context_new(const char *dir)
{
    bn_context *ctx;
    const bn_context_desc desc = { .cache_dir = dir };
    ck_assert_int_eq(bn_context_create(&desc, &ctx), BN_OK);
    return ctx;
}

static void remove_folder(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Path of the only entry. */
static void entry_path(char *path, size_t room)
{
    char kernels[512];
    snprintf(kernels, sizeof kernels, "%s/c/kernels", folder);
    DIR *dir = opendir(kernels);
    ck_assert_ptr_nonnull(dir);
    path[0] = '\0';
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        if (e->d_name[0] != '.') {
            ck_assert_msg(path[0] == '\0', "more than one file: %s", e->d_name);
            snprintf(path, room, "%s/%s", kernels, e->d_name);
        }
    closedir(dir);
    ck_assert(path[0] != '\0');
}

static const char key[] = "device\0driver\0options\0text";
static unsigned char binary[3000];

static bn_context *context_with_entry(void)
{
    static char dir[256];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(dir, sizeof dir, "%s/c", folder);
    bn_context *ctx = context_new(dir);
    for (size_t i = 0; i < sizeof binary; i++)
        binary[i] = (unsigned char)(i * 7 + i / 256);
    bn_binary_cache_put(ctx, key, sizeof key, binary, sizeof binary);
    return ctx;
}

static bool found(bn_context *ctx, const char *k, size_t n)
{
    unsigned char *got;
    size_t bytes = 0;
    bn_binary_cache_get(ctx, k, n, &got, &bytes);
    bool same = got && bytes == sizeof binary && memcmp(got, binary, bytes) == 0;
    ck_assert_msg(!got || same, "the cache gave something else");
    free(got);
    return same;
}

TEST(gives_back_what_was_put_in)
{
    bn_context *ctx = context_with_entry();
    struct stat s;
    char path[1024];
    ck_assert(found(ctx, key, sizeof key));
    ck_assert(!found(ctx, "device\0driver\0options\0texT", sizeof key));
    ck_assert(!found(ctx, key, sizeof key - 1));
    entry_path(path, sizeof path);
    ck_assert_int_eq(stat(path, &s), 0);
    ck_assert_int_eq(s.st_mode & 0777, 0600);
    bn_context_destroy(&ctx);
    remove_folder();
}

TEST(refuses_every_damaged_entry)
{
    bn_context *ctx = context_with_entry();
    char path[1024];
    static unsigned char whole[8192], bad[8192];
    entry_path(path, sizeof path);
    FILE *f = fopen(path, "rb");
    size_t n = fread(whole, 1, sizeof whole, f);
    fclose(f);
    for (size_t m = 0; m < 300; m++) {
        size_t bytes = m % 3 == 0 ? n * m / 300 : n; /* cut, or one bit turned, or a byte overwritten */
        memcpy(bad, whole, n);
        if (m % 3 == 1)
            bad[(m * 7919) % n] ^= (unsigned char)(1u << m % 8);
        if (m % 3 == 2)
            bad[(m * 104729) % n] = (unsigned char)~bad[(m * 104729) % n];
        f = fopen(path, "wb");
        ck_assert_uint_eq(fwrite(bad, 1, bytes, f), bytes);
        fclose(f);
        ck_assert_msg(!found(ctx, key, sizeof key), "mutation %zu was taken", m);
    }
    bn_binary_cache_put(ctx, key, sizeof key, binary, sizeof binary);
    ck_assert_msg(found(ctx, key, sizeof key), "a damaged entry can't be replaced");
    bn_context_destroy(&ctx);
    remove_folder();
}

TEST(refuses_what_others_can_write)
{
    bn_context *ctx = context_with_entry();
    char path[1024], elsewhere[1100];
    entry_path(path, sizeof path);
    ck_assert_int_eq(chmod(path, 0666), 0);
    ck_assert(!found(ctx, key, sizeof key));
    ck_assert_int_eq(chmod(path, 0600), 0);
    ck_assert(found(ctx, key, sizeof key));
    snprintf(elsewhere, sizeof elsewhere, "%s.real", path);
    ck_assert_int_eq(rename(path, elsewhere), 0);
    ck_assert_int_eq(symlink(elsewhere, path), 0);
    ck_assert_msg(!found(ctx, key, sizeof key), "followed a link");
    bn_context_destroy(&ctx);
    remove_folder();
}

TEST(a_folder_that_others_can_write_is_no_cache)
{
    char dir[256];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(dir, sizeof dir, "%s/open", folder);
    ck_assert_int_eq(mkdir(dir, 0700), 0);
    ck_assert_int_eq(chmod(dir, 0777), 0);
    bn_context *ctx = context_new(dir);
    ck_assert_ptr_null(bn_context_cache_dir(ctx));
    bn_binary_cache_put(ctx, key, sizeof key, binary, sizeof binary);
    ck_assert(!found(ctx, key, sizeof key));
    bn_context_destroy(&ctx);
    snprintf(dir, sizeof dir, "/proc/no-such-place");
    ctx = context_new(dir);
    ck_assert_ptr_null(bn_context_cache_dir(ctx));
    bn_context_destroy(&ctx);
    remove_folder();
}

int main(void) { return bn_test_main("cache", NULL, NULL); }
