/* test_io.c: files that appear whole or not at all, numbers as text, base64, tables. */
#include "io/base64.h"
#include "io/csv.h"
#include "io/decimal.h"
#include "io/file.h"
#include "support_case.h"

#include <dirent.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names in the test's folder. */
static int entries(void)
{
    int count = 0;
    DIR *d = opendir(test_folder);
    ck_assert_ptr_nonnull(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return count;
}

/* Files may not grow beyond `bytes`, as on a full disk: write() fails with EFBIG. Check's own messages go to a file
 * too, so nothing may be asserted until the limit is lifted (RLIM_INFINITY). False: the limit could not be set. */
static bool limit_files(rlim_t bytes)
{
    struct rlimit limit = { bytes, RLIM_INFINITY };
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    return sigaction(SIGXFSZ, &ignore, NULL) == 0 && setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

static void expect_text(const char *path, const char *text)
{
    char *data = NULL;
    size_t bytes = 0;
    ck_assert_int_eq(bn_file_read(ctx, path, 1 << 20, &data, &bytes), BN_OK);
    ck_assert_str_eq(data, text);
    ck_assert_uint_eq(bytes, strlen(text));
    free(data);
}

TEST(test_file_write_replaces_whole)
{
    ck_assert_int_eq(bn_file_write(ctx, in_folder("a.txt"), "first", 5), BN_OK);
    ck_assert_int_eq(bn_file_write(ctx, in_folder("a.txt"), "second", 6), BN_OK);
    expect_text(in_folder("a.txt"), "second");
    ck_assert_int_eq(bn_file_write(ctx, in_folder("empty"), "", 0), BN_OK);
    expect_text(in_folder("empty"), "");
    ck_assert_int_eq(entries(), 2);
}

TEST(test_file_mode_follows_umask)
{
    struct stat info;
    umask(027);
    ck_assert_int_eq(bn_file_write(ctx, in_folder("a"), "x", 1), BN_OK);
    ck_assert_int_eq(stat(in_folder("a"), &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0640);
}

TEST(test_file_unfinished_is_invisible)
{
    bn_file *f = NULL;
    ck_assert_int_eq(bn_file_write(ctx, in_folder("a"), "old", 3), BN_OK);
    ck_assert_int_eq(bn_file_begin(ctx, in_folder("a"), &f), BN_OK);
    ck_assert_int_gt(fprintf(bn_file_stream(f), "new"), 0);
    expect_text(in_folder("a"), "old");
    ck_assert_int_eq(entries(), 2);
    bn_file_abort(&f);
    ck_assert_ptr_null(f);
    bn_file_abort(&f);
    expect_text(in_folder("a"), "old");
    ck_assert_int_eq(entries(), 1);
}

TEST(test_file_full_disk)
{
    static char data[300000];
    ck_assert_int_eq(bn_file_write(ctx, in_folder("a"), "old", 3), BN_OK);
    /* The limit falls into the first write, between writes, and into the last flush. */
    static const rlim_t limits[] = { 0, 1, 4096, 100000, 299999 };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        bn_file *f = NULL;
        size_t written = 0;
        ck_assert_int_eq(bn_file_begin(ctx, in_folder("a"), &f), BN_OK);
        const bool limited = limit_files(limits[i]);
        for (size_t at = 0; at < sizeof data; at += 1000)
            written += fwrite(data + at, 1, 1000, bn_file_stream(f));
        const bn_status st = bn_file_commit(&f);
        ck_assert(limit_files(RLIM_INFINITY) && limited);
        ck_assert_int_eq(st, BN_IO);
        ck_assert_uint_le(written, sizeof data);
        ck_assert_ptr_null(f);
        ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), in_folder("a")));
        ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), strerror(EFBIG)));
        ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), "--out"));
        bn_error_clear(ctx);
        ck_assert_int_eq(entries(), 1);
        expect_text(in_folder("a"), "old");
    }
}

TEST(test_file_bad_places)
{
    static const struct {
        const char *name;
        int error;
    } places[] = { { "missing/a", ENOENT }, { "file/a", ENOTDIR }, { "file/b/c", ENOTDIR } };
    ck_assert_int_eq(bn_file_write(ctx, in_folder("file"), "x", 1), BN_OK);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        ck_assert_int_eq(bn_file_write(ctx, in_folder(places[i].name), "x", 1), BN_IO);
        ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), in_folder(places[i].name)));
        ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), strerror(places[i].error)));
        bn_error_clear(ctx);
    }
    ck_assert_int_eq(mkdir(in_folder("dir"), 0777), 0);
    ck_assert_int_eq(bn_file_write(ctx, in_folder("dir"), "x", 1), BN_IO);
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_file_write(ctx, in_folder("dir/"), "x", 1), BN_IO);
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_file_write(ctx, "", "x", 1), BN_IO);
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_file_write(ctx, "/proc/a", "x", 1), BN_IO);
    ck_assert_int_eq(entries(), 2);
}

TEST(test_file_read_limits)
{
    char *data = NULL;
    size_t bytes = 0;
    ck_assert_int_eq(bn_file_write(ctx, in_folder("a"), "0123456789", 10), BN_OK);
    ck_assert_int_eq(bn_file_read(ctx, in_folder("a"), 10, &data, &bytes), BN_OK);
    ck_assert_str_eq(data, "0123456789");
    free(data);
    ck_assert_int_eq(bn_file_read(ctx, in_folder("a"), SIZE_MAX, &data, &bytes), BN_OK);
    free(data);
    ck_assert_int_eq(bn_file_read(ctx, in_folder("a"), 9, &data, &bytes), BN_IO);
    ck_assert_ptr_null(data);
    ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), "larger than 9 bytes"));
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_file_read(ctx, "/dev/zero", 100000, &data, &bytes), BN_IO);
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_file_read(ctx, test_folder, 100, &data, &bytes), BN_IO);
    ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), strerror(EISDIR)));
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_file_read(ctx, in_folder("none"), 100, &data, &bytes), BN_IO);
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_file_read(ctx, "/proc/self/status", 1 << 20, &data, &bytes),
                     BN_OK); /* says that it has 0 bytes */
    ck_assert_uint_gt(bytes, 0);
    free(data);
}

TEST(test_folder_create)
{
    struct stat info;
    ck_assert_int_eq(bn_directory_create(ctx, in_folder("p")), BN_OK);
    ck_assert_int_eq(bn_directory_create(ctx, in_folder("p")), BN_OK);
    ck_assert_int_eq(bn_directory_create(ctx, in_folder("p//q/r/")), BN_OK);
    ck_assert_int_eq(stat(in_folder("p/q/r"), &info), 0);
    ck_assert(S_ISDIR(info.st_mode));
    ck_assert_int_eq(bn_directory_create(ctx, "/"), BN_OK);
    ck_assert_int_eq(bn_directory_create(ctx, ""), BN_IO);
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_file_write(ctx, in_folder("file"), "x", 1), BN_OK);
    ck_assert_int_eq(bn_directory_create(ctx, in_folder("file")), BN_IO);
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_directory_create(ctx, in_folder("file/x")), BN_IO);
    ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), strerror(ENOTDIR)));
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_directory_create(ctx, "/proc/x/y"), BN_IO);
    rmdir(in_folder("p/q/r"));
    rmdir(in_folder("p/q"));
}

TEST(test_path_join)
{
    static const char *const cases[][3] = {
        { "a", "b", "a/b" }, { "a/", "b", "a/b" }, { "", "b", "b" }, { "/", "b", "/b" }
    };
    char longer[2 * PATH_MAX] = "";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(bn_path_join(cases[i][0], cases[i][1]).text, cases[i][2]);
    memset(longer, 'x', sizeof longer - 1);
    for (size_t i = 100; i < sizeof longer; i += 100)
        longer[i] = '/';
    errno = 0;
    ck_assert(access(bn_path_join("/tmp", longer).text, F_OK) != 0 && errno == ENAMETOOLONG); /* and no other file */
}

/* A pseudo-random pattern of bits, the same every time. */
static uint64_t next_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 29;
}

TEST(test_decimal_round_trip)
{
    static const double plain[] = { 0, 0.1, 1, -2.5, 1e22, 1e-300, DBL_MAX, DBL_MIN, 4.9406564584124654e-324, 1.0 / 3 };
    char text[BN_DECIMAL_BYTES];
    double back;
    uint64_t state = 7;
    for (size_t i = 0; i < 20000; i++) {
        double v = i < sizeof plain / sizeof *plain ? plain[i] : 0;
        const uint64_t bits = next_bits(&state);
        if (i >= sizeof plain / sizeof *plain)
            memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        bn_decimal_format(text, v);
        ck_assert(bn_decimal_parse(text, &back));
        ck_assert_msg(memcmp(&v, &back, sizeof v) == 0, "%s", text);
    }
    bn_decimal_format(text, 0.1);
    ck_assert_str_eq(text, "0.1");
    ck_assert(bn_decimal_parse(" 2.5\n", &back));
    ck_assert(!bn_decimal_parse("2,5", &back));
    ck_assert(!bn_decimal_parse("", &back));
    ck_assert(!bn_decimal_parse("1 2", &back));
}

TEST(test_decimal_ignores_locale)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C.UTF-8" };
    char text[BN_DECIMAL_BYTES];
    double v;
    for (size_t i = 0; i < sizeof names / sizeof *names && !setlocale(LC_ALL, names[i]); i++)
        continue; /* whichever is installed; the test's own process only */
    bn_decimal_format(text, 2.5);
    ck_assert_str_eq(text, "2.5");
    bn_decimal_fixed(text, sizeof text, 2, -0.125);
    ck_assert_str_eq(text, "-0.12");
    ck_assert(bn_decimal_parse("2.5", &v));
    near(v, 2.5, 0, "exact");
}

TEST(test_base64_known_answers)
{
    /* RFC 4648, section 10 */
    static const char *const pairs[][2] = { { "", "" },
                                            { "f", "Zg==" },
                                            { "fo", "Zm8=" },
                                            { "foo", "Zm9v" },
                                            { "foob", "Zm9vYg==" },
                                            { "fooba", "Zm9vYmE=" },
                                            { "foobar", "Zm9vYmFy" } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const size_t length = strlen(pairs[i][0]);
        char text[64] = "";
        FILE *s = fmemopen(text, sizeof text, "w");
        ck_assert_ptr_nonnull(s);
        bn_base64_write(s, pairs[i][0], length);
        fclose(s);
        ck_assert_str_eq(text, pairs[i][1]);
        unsigned char data[64];
        size_t bytes;
        ck_assert_uint_eq(bn_base64_length(length), strlen(pairs[i][1]));
        ck_assert(bn_base64_decode(pairs[i][1], strlen(pairs[i][1]), data, &bytes));
        ck_assert_uint_eq(bytes, length);
        ck_assert_int_eq(memcmp(data, pairs[i][0], length), 0);
    }
    static const char *const bad[] = { "Zg=", "Z===", "Zg=a", "Z m8", "Zm9v=", "====", "Zg==Zg==", "Zm9\xc3" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unsigned char data[64];
        size_t bytes;
        ck_assert_msg(!bn_base64_decode(bad[i], strlen(bad[i]), data, &bytes), "%s", bad[i]);
    }
}

TEST(test_csv_table)
{
    const double x[] = { 0, 0.1, 1.0 / 3 }, y[] = { -1e300, (double)NAN, (double)INFINITY };
    const bn_column columns[] = { { "x", "m", x }, { "a \"b\", c", NULL, y }, { "z", "", x } };
    ck_assert_int_eq(bn_csv_write(ctx, in_folder("t.csv"), columns, 3, 3), BN_OK);
    expect_text(in_folder("t.csv"), "x [m],\"a \"\"b\"\", c\",z\n0,-1e+300,0\n0.1,,0.1\n"
                                    "0.3333333333333333,inf,0.3333333333333333\n");
    ck_assert_int_eq(bn_csv_write(ctx, in_folder("u.csv"), columns, 1, 0), BN_OK);
    expect_text(in_folder("u.csv"), "x [m]\n");
    ck_assert_int_eq(bn_csv_write(ctx, in_folder("v.csv"), columns, 0, 3), BN_USAGE);
    ck_assert_int_eq(entries(), 2);
}

TEST(test_csv_series)
{
    const bn_column heads[] = { { "step", "1", NULL }, { "time", "s", NULL } };
    bn_csv_series *s = NULL;
    ck_assert_int_eq(bn_csv_series_open(ctx, in_folder("s.csv"), heads, 2, &s), BN_OK);
    ck_assert_int_eq(entries(), 0);
    ck_assert_int_eq(bn_csv_series_add(s, (const double[]){ 1, 0.5 }), BN_OK);
    ck_assert_int_eq(bn_csv_series_publish(s), BN_OK);
    expect_text(in_folder("s.csv"), "step [1],time [s]\n1,0.5\n");
    for (int i = 2; i < 2000; i++)
        ck_assert_int_eq(bn_csv_series_add(s, (const double[]){ i, 0.5 * i }), BN_OK);
    expect_text(in_folder("s.csv"), "step [1],time [s]\n1,0.5\n");
    ck_assert_int_eq(remove(in_folder("s.csv")), 0);
    ck_assert_int_eq(bn_csv_series_publish(s), BN_OK);
    ck_assert_int_eq(remove(in_folder("s.csv")), 0);
    ck_assert_int_eq(bn_csv_series_publish(s), BN_OK); /* nothing new: nothing written */
    ck_assert_int_eq(entries(), 0);
    ck_assert_int_eq(bn_csv_series_add(s, (const double[]){ 2000, (double)NAN }), BN_OK);
    ck_assert_int_eq(bn_csv_series_close(&s), BN_OK);
    ck_assert_ptr_null(s);
    ck_assert_int_eq(bn_csv_series_close(&s), BN_OK);
    char *data = NULL;
    size_t bytes = 0;
    ck_assert_int_eq(bn_file_read(ctx, in_folder("s.csv"), 1 << 20, &data, &bytes), BN_OK);
    ck_assert_ptr_nonnull(strstr(data, "\n1999,999.5\n2000,\n"));
    free(data);
}

TEST(test_csv_full_disk_keeps_last)
{
    const bn_column head = { "v", "", NULL };
    bn_csv_series *s = NULL;
    ck_assert_int_eq(bn_csv_series_open(ctx, in_folder("s.csv"), &head, 1, &s), BN_OK);
    ck_assert_int_eq(bn_csv_series_add(s, (const double[]){ 1 }), BN_OK);
    ck_assert_int_eq(bn_csv_series_publish(s), BN_OK);
    for (int i = 0; i < 10000; i++)
        ck_assert_int_eq(bn_csv_series_add(s, (const double[]){ i }), BN_OK);
    const bool limited = limit_files(4096);
    const bn_status published = bn_csv_series_publish(s), closed = bn_csv_series_close(&s);
    ck_assert(limit_files(RLIM_INFINITY) && limited);
    ck_assert_int_eq(published, BN_IO);
    ck_assert_int_eq(closed, BN_IO);
    ck_assert_ptr_null(s);
    ck_assert_int_eq(entries(), 1);
    expect_text(in_folder("s.csv"), "v\n1\n");
}

int main(void) { return bn_test_main("io", open_folder, close_folder); }
