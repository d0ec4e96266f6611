/* test_case_text.c: case files written back (resolved, every key), files that can't be read, and texts made to hurt. */
#include "case_sample.h"
#include "support.h"

#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- written back --- */

static void assert_same(const bn_case *a, const bn_case *b)
{
    for (const bn_key *k = sample_keys; k->name; k++)
        for (size_t i = 0; i < (k->count > 1 ? (size_t)k->count : 1); i++) {
            if (k->type == BN_KEY_REAL) {
                double x = bn_case_real_at(a, k->name, i), y = bn_case_real_at(b, k->name, i);
                ck_assert_msg(memcmp(&x, &y, sizeof x) == 0, "%s: %.17g, %.17g", k->name, x, y);
            } else if (k->type == BN_KEY_INT) {
                ck_assert_int_eq(bn_case_int_at(a, k->name, i), bn_case_int_at(b, k->name, i));
            } else if (k->type == BN_KEY_CHOICE) {
                ck_assert_int_eq(bn_case_choice(a, k->name), bn_case_choice(b, k->name));
            } else {
                ck_assert_str_eq(bn_case_text(a, k->name), bn_case_text(b, k->name));
            }
        }
    ck_assert_str_eq(bn_case_text(a, "case.title"), bn_case_text(b, "case.title"));
    ck_assert_int_eq(bn_case_int(a, "case.seed"), bn_case_int(b, "case.seed"));
    ck_assert(bn_case_double(a) == bn_case_double(b));
}

TEST(the_resolved_case_reads_back_the_same)
{
    sample_accept(
        GOOD "angle = \"12 deg\"\nfile = 'C:\\a \"b\"'\n[grid]\nnodes = [17, 33]\nsize = [\"0.1 inch\", 1e5]\n"
             "[boundary.left]\nspeed = -0.0\nkind = 'wall'\n[stop]\nresidual = 5e-324\n",
        LIST("case.title=\"\xc2\xb5 \\\\ \\\" #\"", "case.seed=9223372036854775807", "case.precision=double"));
    bn_case *first = sample, *second = NULL;
    char *text = NULL, *again = NULL;
    sample = NULL;
    ck_assert_int_eq(bn_case_resolved(first, &text), BN_OK);
    sample_accept(text, NULL);
    second = sample;
    assert_same(first, second);
    ck_assert_int_eq(bn_case_resolved(second, &again), BN_OK);
    ck_assert_str_eq(text, again);
    ck_assert_ptr_nonnull(strstr(text, "\n[source]\nkind = \"mode\"\nwavelength = 5.32e-7 # m\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n[boundary.left]\nkind = \"wall\"\nspeed = -0.0 # m s-1\n"));
    free(text);
    free(again);
    bn_case_destroy(&first);
}

/* Doubles of all sizes, from a fixed sequence (Marsaglia, J. Stat. Software 8 (2003) 14). */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

TEST(every_number_reads_back_the_same)
{
    static const double special[] = {
        DBL_MAX, DBL_MIN, 5e-324, 0.1, 1e22, 123456789012345680000.0, 1e15, 1.0 / 3, -1e-7
    };
    uint64_t state = 1;
    for (size_t i = 0; i < 300; i++) {
        uint64_t bits = next_random(&state);
        double x = 0, y = 0;
        memcpy(&x, &bits, sizeof x);
        if (i < sizeof special / sizeof *special)
            x = special[i];
        if (!isfinite(x))
            continue;
        char set[64], *text = NULL;
        snprintf(set, sizeof set, "boundary.left.speed=%.17g", x);
        sample_accept(GOOD, LIST(set));
        ck_assert_int_eq(bn_case_resolved(sample, &text), BN_OK);
        sample_accept(text, NULL);
        free(text);
        y = bn_case_real(sample, "boundary.left.speed");
        ck_assert_msg(memcmp(&x, &y, sizeof x) == 0, "%.17g became %.17g", x, y);
    }
}

TEST(the_case_with_every_key_is_a_case)
{
    char *text = NULL;
    ck_assert_int_eq(bn_case_every_key(sample_ctx, "bpm", &sample_source, &text), BN_OK);
    sample_accept(text, NULL);
    for (const bn_key *k = sample_keys; k->name; k++)
        ck_assert_msg(bn_case_given(sample, k->name), "%s is not in it", k->name);
    for (const bn_key *k = bn_common_keys; k->name; k++) /* items of lists are commented out */
        ck_assert_msg(k->list || bn_case_given(sample, k->name), "%s is not in it", k->name);
    ck_assert_ptr_nonnull(strstr(text, "[[expected]]"));
    ck_assert(bn_case_real(sample, "source.wavelength") == 532e-9);
    ck_assert_ptr_nonnull(strstr(text, "\n[case]\nsolver    = \"bpm\"                   # required, text: "));
    ck_assert_ptr_nonnull(
        strstr(text, "\nnodes = [65, 65]                    # integer from 3 to 65536 each: nodes along x and y\n"));
    ck_assert_ptr_nonnull(strstr(text, "# gaussian | mode | file: what enters\n"));
    for (const char *line = text, *end = NULL; (end = strchr(line, '\n')) != NULL; line = end + 1)
        ck_assert_msg(end - line <= 120, "a long line: %.*s", (int)(end - line), line);
    free(text);
    ck_assert_int_eq(bn_case_every_key(sample_ctx, "bmp", &sample_source, &text), BN_USAGE);
    sample_says("unknown solver `bmp`; did you mean `bpm`? Solvers: bpm, flow");
    ck_assert_ptr_null(text);
}

/* --- files --- */

TEST(files_are_read_or_refused)
{
    char path[] = "/tmp/binnacle-case-XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, GOOD, strlen(GOOD)), (ssize_t)strlen(GOOD));
    ck_assert_int_eq(bn_case_load(sample_ctx, path, NULL, NULL, 0, &sample_source, &sample), BN_OK);
    ck_assert_str_eq(bn_case_path(sample), path);
    bn_case_destroy(&sample);

    ck_assert_int_eq(ftruncate(file, (1 << 20) + 1), 0);
    ck_assert_int_eq(bn_case_load(sample_ctx, path, NULL, NULL, 0, &sample_source, &sample), BN_CASE);
    sample_says("at most 1048576 bytes");
    ck_assert_int_eq(ftruncate(file, 1 << 20), 0); /* zeros behind the text */
    bn_error_clear(sample_ctx);
    ck_assert_int_eq(bn_case_load(sample_ctx, path, NULL, NULL, 0, &sample_source, &sample), BN_CASE);
    sample_says("not valid TOML");
    close(file);
    unlink(path);

    bn_error_clear(sample_ctx);
    ck_assert_int_eq(bn_case_load(sample_ctx, path, NULL, NULL, 0, &sample_source, &sample), BN_IO);
    sample_says(path);
    sample_says("No such file");
    bn_error_clear(sample_ctx);
    ck_assert_int_eq(bn_case_load(sample_ctx, "/tmp", NULL, NULL, 0, &sample_source, &sample), BN_IO);
    sample_says("Is a directory");
    ck_assert_ptr_null(sample);
}

TEST(without_the_unit_database)
{
    ck_assert_int_eq(setenv("UDUNITS2_XML_PATH", "/nowhere/udunits2.xml", 1), 0);
    sample_accept(HEAD "[source]\nwavelength = 1e-6\n", NULL); /* needs no unit */
    ck_assert_int_eq(sample_load(GOOD, NULL), BN_IO);
    sample_says("udunits");
    sample_says("UDUNITS2_XML_PATH");
}

/* --- texts made to hurt --- */

/* `head`, then `body` `count` times, then `tail`. */
static char *repeat(const char *head, const char *body, size_t count, const char *tail)
{
    size_t h = strlen(head), b = strlen(body), t = strlen(tail);
    char *text = malloc(h + count * b + t + 1);
    ck_assert_ptr_nonnull(text);
    memcpy(text, head, h);
    for (size_t i = 0; i < count; i++)
        memcpy(text + h + i * b, body, b);
    memcpy(text + h + count * b, tail, t + 1);
    return text;
}

static const struct {
    const char *head, *body;
    size_t count;
    const char *tail;
} heavy[] = {
    { "a", ".a", 500000, "=1" }, /* toml++ alone overruns the stack */
    { "[a", ".a", 500000, "]" },
    { "a=", "[", 1000000, "" },
    { "a=", "{a=", 300000, "" },
    { "[grid]\nnodes = [", "1,", 500000, "]" },
    { "[grid]\nnodes = [", "[],", 300000, "]" },
    { "", "\n", 1000000, "x" },
    { "#", "a.", 500000, "" },
    { "# ", ".", 1000000, "" },
    { "", "[[a]]\n", 170000, "" },
    { "[case]\ntitle = \"", "\\u00e9", 170000, "\"" },
    { "x=\"", "y", 1000000, "\"" },
    { "", "x", 1000000, " = 1" },
    { "x = ", "9", 1000000, "" },
    { "x = 0.", "9", 1000000, "" },
};

LOOP_TEST(heavy_texts_are_refused, sizeof heavy / sizeof *heavy)
{
    char *text = repeat(heavy[_i].head, heavy[_i].body, heavy[_i].count, heavy[_i].tail);
    ck_assert_int_eq(sample_load(text, NULL), BN_CASE);
    free(text);
}

TEST(deepest_nesting_that_is_let_through)
{
    char *keys_of_64 = repeat("", "a.", 63, "a=[\n{"), *open = repeat("", keys_of_64, 127, "b=1"),
         *text = repeat(open, "}]", 127, "\n");
    ck_assert_int_eq(sample_load(text, NULL), BN_CASE);
    sample_says("missing key");
    free(keys_of_64);
    free(open);
    free(text);
}

TEST(damaged_texts_do_no_harm)
{
    static const char pieces[] = "[]{}=.,\"'#\n\\ 0-+_eE\xc3\x00\x1b\xff"
                                 "a";
    char *every_key = NULL;
    ck_assert_int_eq(bn_case_every_key(sample_ctx, "bpm", &sample_source, &every_key), BN_OK);
    size_t bytes = strlen(every_key);
    uint64_t state = 42;
    for (int i = 0; i < 300; i++) {
        char *text = repeat(every_key, "", 0, "");
        for (uint64_t n = next_random(&state) % 4; n-- > 0;)
            text[next_random(&state) % bytes] = pieces[next_random(&state) % (sizeof pieces - 1)];
        for (uint64_t n = next_random(&state) % 3; n-- > 0;)
            text[next_random(&state) % bytes] ^= (char)(1u << next_random(&state) % 8);
        if (i % 2)
            text[next_random(&state) % bytes] = '\0';
        bn_status st = sample_load(text, NULL);
        ck_assert(st == BN_OK || st == BN_CASE);
        free(text);
    }
    for (int i = 0; i < 100; i++) { /* whole values replaced by noise, as overrides */
        char set[40] = "source.wavelength=";
        for (size_t at = strlen(set); at < sizeof set - 1; at++)
            set[at] = next_random(&state) % 3 ? "0123456789.e- nmskg%^*/()"[next_random(&state) % 25]
                                              : (char)(next_random(&state) % 256);
        bn_status st = sample_load(every_key, LIST(set));
        ck_assert(st == BN_OK || st == BN_CASE);
    }
    free(every_key);
}

/* --- did you mean --- */

TEST(nearest_names)
{
    static const char *const words[] = { "wavelength", "waist", "nodes", "dx", "kind", NULL };
    static const struct {
        const char *word, *near;
    } samples[] = {
        { "wavelenght", "wavelength" },
        { "WAVELENGTH", "wavelength" },
        { "wave_length", "wavelength" },
        { "noeds", "nodes" },
        { "node", "nodes" },
        { "Dx", "dx" },
        { "dy", "dx" },
        { "knd", "kind" },
        { "find", "kind" },
        { "xyz", NULL },
        { "", NULL },
        { "temperature", NULL },
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        ck_assert_pstr_eq(bn_suggest(samples[i].word, words), samples[i].near);
    char *longest = repeat("", "w", 100000, "");
    ck_assert_ptr_null(bn_suggest(longest, words));
    free(longest);
}

int main(void) { return bn_test_main("case text", sample_setup, sample_teardown); }
