/* test_csv_read.c: tables of numbers from text: heads, comments, empty places, and what must be refused with its line.
 */
#include "support_case.h"

#include "io/csv_read.h"

#include <string.h>

TEST(tables_are_read)
{
    bn_csv_table t;
    ck_assert_int_eq(
        bn_csv_parse(ctx, "t.csv", "# one\n#two\nwavelength_nm,n, k\r\n300,1.5,\n# later\n\n310, -2e-3 ,7\n", &t),
        BN_OK);
    ck_assert_uint_eq(t.columns, 3);
    ck_assert_uint_eq(t.rows, 2);
    ck_assert_str_eq(t.heads[0], "wavelength_nm");
    ck_assert_str_eq(t.heads[2], "k");
    ck_assert_str_eq(t.comments, "one\ntwo\n");
    near(t.values[1], 1.5, 0, "the first row");
    ck_assert(isnan(t.values[2]));
    near(t.values[4], -2e-3, 0, "blanks around");
    bn_csv_table_free(&t);
    ck_assert_int_eq(bn_csv_parse(ctx, "t.csv", "q,\"photons, counted\",n\n1,2,3\n", &t), BN_OK);
    ck_assert_uint_eq(t.columns, 3);
    ck_assert_str_eq(t.heads[1], "photons, counted");
    bn_csv_table_free(&t);
}

TEST(quotes_hold_commas)
{
    bn_csv_table t;
    ck_assert_int_eq(bn_csv_parse(ctx, "t.csv", "\"a, \"\"b\"\" [m]\",\"c\",d\n\"1\",2,\"\"\n", &t), BN_OK);
    ck_assert_uint_eq(t.columns, 3);
    ck_assert_str_eq(t.heads[0], "a, \"b\" [m]");
    ck_assert_str_eq(t.heads[1], "c");
    near(t.values[0], 1, 0, "a number in quotes");
    near(t.values[1], 2, 0, "the one after it");
    ck_assert(isnan(t.values[2]));
    bn_csv_table_free(&t);
    ck_assert_int_eq(bn_csv_parse(ctx, "t.csv", "\"a,b\n1\n", &t), BN_OK); /* no closing quote: to the line's end */
    ck_assert_str_eq(t.heads[0], "a,b");
    bn_csv_table_free(&t);
}

TEST(what_is_no_table_is_refused)
{
    static const struct {
        const char *text, *words;
    } bad[] = { { "a,b\n1,2\n3\n", "line 3 has 1 places" },
                { "a,b\n1,2,3\n", "line 2 has 3 places" },
                { "a\n1\nx2\n", "line 3: \"x2\" is no number" },
                { "a,b\n", "no row" },
                { "", "no row" } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bn_csv_table t;
        ck_assert_int_eq(bn_csv_parse(ctx, "t.csv", bad[i].text, &t), BN_IO);
        ck_assert_msg(strstr(bn_error_text(ctx), bad[i].words), "\"%s\" does not say \"%s\"", bn_error_text(ctx),
                      bad[i].words);
        bn_error_clear(ctx);
    }
}

int main(void) { return bn_test_main("csv_read", open_context, close_context); }
