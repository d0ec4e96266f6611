/* test_shapes.c: polygons and lines from WKT and from tables, what they cover, and files that make no sense. */
#include "support_case.h"

#include "io/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *file(const char *ending, const char *text)
{
    char name[32];
    snprintf(name, sizeof name, "plan.%s", ending);
    return text_file(name, text);
}

static bn_shapes *read_shapes(const char *ending, const char *text)
{
    bn_shapes *s;
    OK(bn_shapes_read(ctx, file(ending, text), NULL, 1e-3, &s));
    return s;
}

#define AT(x, y) ((const double[]){ (x), (y) })

TEST(a_text_needs_no_file)
{
    bn_shapes *s;
    OK(bn_shapes_read(ctx, "the text of storey.plan", "POLYGON ((0 0, 4 0, 4 3, 0 3, 0 0), (1 1, 2 1, 2 2, 1 2, 1 1))",
                      1e-3, &s));
    ck_assert_uint_eq(bn_shapes_count(s), 1);
    ck_assert(bn_shape_covers(s, 0, AT(3, 1)) && !bn_shape_covers(s, 0, AT(1.5, 1.5)));
    bn_shapes_destroy(&s);
    ck_assert(bn_shapes_read(ctx, "the text of storey.plan", "POLYGON ((0 0, 4 0", 1e-3, &s) == BN_CASE);
    ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), "the text of storey.plan"));
}

TEST(walkable_areas_have_holes)
{
    /* As pedestrian tools write them: a collection of areas over several lines, with a hole and a neighbour that
     * touches. */
    bn_shapes *s = read_shapes(
        "wkt", "# ground floor\nSRID=32632;GEOMETRYCOLLECTION (POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0),\n"
               "  (4 4, 6 4, 6 6, 4 6, 4 4)))\n"
               "polygon z ((10 2 1, 14 2 1, 14 3 1, 10 3 1, 10 2 1))\n");
    ck_assert_uint_eq(bn_shapes_count(s), 2);
    ck_assert_str_eq(bn_shapes_at(s, 0)->name, "");
    ck_assert_uint_eq(bn_shapes_at(s, 0)->line, 2);
    ck_assert_uint_eq(bn_shapes_at(s, 1)->line, 4);
    ck_assert_double_eq(bn_shapes_at(s, 1)->high[0], 14);
    ck_assert(bn_shape_covers(s, 0, AT(1, 1)) && !bn_shape_covers(s, 0, AT(5, 5)) &&
              !bn_shape_covers(s, 0, AT(11, 2.5)));
    OK(bn_shapes_draw(ctx, s, (const signed char[]){ 1, 1 }, false, AT(0, 0), AT(14, 10)));
    ck_assert(bn_shapes_open(s, AT(9, 2.5), AT(13, 2.5))); /* from one area to the other */
    ck_assert(!bn_shapes_open(s, AT(9, 5), AT(13, 2.5)));  /* outside in between */
    ck_assert(!bn_shapes_open(s, AT(3, 5), AT(7, 5)));     /* across the hole */
    ck_assert_int_eq(bn_shapes_box(s, AT(1, 1), AT(3, 9)), 1);
    ck_assert_int_eq(bn_shapes_box(s, AT(4.1, 4.1), AT(5.9, 5.9)), -1);
    ck_assert_int_eq(bn_shapes_box(s, AT(3, 3), AT(5, 5)), 0);
    bn_shapes_destroy(&s);
}

TEST(later_shapes_lie_over_earlier_ones)
{
    /* A wall across a floor, a door in it; a line as a wall, a door in that too. */
    static const char text[] =
        "\xef\xbb\xbf"
        "id;meaning;WKT\r\n1;floor;POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))\r\n"
        "2;wall;POLYGON ((5 0, 5.2 0, 5.2 10, 5 10, 5 0))\r\n"
        "3;the \"\"big\"\" door;\"POLYGON ((4.9 4, 5.3 4, 5.3 6, 4.9 6, 4.9 4))\"\r\n"
        "4;wall;LINESTRING (5 8, 0 8)\r\n5;door;POLYGON ((1 7.9, 2 7.9, 2 8.1, 1 8.1, 1 7.9))\r\n";
    bn_shapes *s = read_shapes("csv", text);
    ck_assert_uint_eq(bn_shapes_count(s), 5);
    ck_assert_str_eq(bn_shapes_at(s, 1)->name, "wall");
    ck_assert_uint_eq(bn_shapes_at(s, 3)->line, 5);
    ck_assert(bn_shapes_at(s, 3)->open && !bn_shapes_at(s, 2)->open);
    OK(bn_shapes_draw(ctx, s, (const signed char[]){ 1, -1, 1, -1, 1 }, false, AT(0, 0), AT(10, 10)));
    ck_assert(!bn_shapes_open(s, AT(4, 2), AT(6, 2)));
    ck_assert(bn_shapes_open(s, AT(4, 5), AT(6, 5)));
    ck_assert(!bn_shapes_open(s, AT(3, 7), AT(3, 9)));
    ck_assert(bn_shapes_open(s, AT(1.5, 7), AT(1.5, 9)));
    ck_assert(!bn_shapes_open(s, AT(5.1, 1), AT(5.1, 1)));
    ck_assert_int_eq(bn_shapes_box(s, AT(2.5, 7), AT(4, 9)), 0);
    /* Without a floor the rectangle is open. */
    OK(bn_shapes_draw(ctx, s, (const signed char[]){ 0, -1, 0, 0, 0 }, true, AT(-5, -5), AT(20, 20)));
    ck_assert(bn_shapes_open(s, AT(-4, -4), AT(-4, 15)) && !bn_shapes_open(s, AT(-4, 1), AT(15, 1)));
    bn_shapes_destroy(&s);
}

TEST(neighbours_that_nearly_touch_are_one)
{
    bn_shapes *s = read_shapes("wkt", "POLYGON ((0 0, 5 0, 5 10, 0 10, 0 0))\n"
                                      "POLYGON ((5.0000001 0.3, 9 0.3, 9 9.7, 5.0000001 9.7, 5.0000001 0.3))\n");
    OK(bn_shapes_draw(ctx, s, (const signed char[]){ 1, 1 }, false, AT(0, 0), AT(9, 10)));
    ck_assert(bn_shapes_open(s, AT(1, 5), AT(8, 5)));
    bn_shapes_destroy(&s);
}

static void rejected(const char *ending, const char *text, bn_status expected, const char *why)
{
    bn_shapes *s = NULL;
    ck_assert_msg(bn_shapes_read(ctx, file(ending, text), NULL, 1e-3, &s) == expected, "%s", text);
    ck_assert_ptr_null(s);
    ck_assert_msg(strstr(bn_error_text(ctx), why) != NULL, "%s\nlacks: %s", bn_error_text(ctx), why);
    bn_error_clear(ctx);
}

TEST(bad_files_are_rejected)
{
#define HEAD "meaning,wkt\n"
    rejected("wkt", "", BN_CASE, "no shape");
    rejected("wkt", "\nPOLYGON ((0 0, 1 0, 1 1, 0 1))\n", BN_CASE, "plan.wkt, line 2, shape 1");
    rejected("wkt", "POLYGON ((0 0, 2 0, 0 2, 2 2, 0 0))", BN_CASE, "Self-intersection");
    rejected("wkt", "POLYGON ((0 0, 1 0, 1 1", BN_CASE, "line 1, shape 1: ");
    rejected("wkt", "POLYGON EMPTY", BN_CASE, "it is empty");
    rejected("wkt", "POINT (1 2)", BN_CASE, "no points");
    rejected("wkt", "GEOMETRYCOLLECTION (LINESTRING (0 0, 1 1), POLYGON ((0 0, 1 0, 1 1, 0 0)))", BN_CASE,
             "no mixture");
    rejected("wkt", "{ \"type\": \"Polygon\" }", BN_CASE, "shape 1");
    rejected("wkt", "POLYGON ((0 0, 1e-5 0, 1e-5 1e-5, 0 0))", BN_CASE, "smaller than");
    rejected("wkt", "POLYGON ((0 0, 1 0, 1 nan, 0 0))", BN_CASE, "line 1, shape 1");
    rejected("csv", "kind,wkt\nwall,\"POLYGON ((0 0, 1 0, 1 1, 0 0))\"\n", BN_CASE, "no column `meaning`");
    rejected("csv", "meaning,geometry\n", BN_CASE, "no column `wkt`");
    rejected("csv", HEAD "wall,POLYGON ((0 0, 1 0, 1 1, 0 0))\n", BN_CASE, "line 2, shape 1 (wall)");
    rejected("csv", HEAD "wall\n", BN_CASE, "line 2: fewer places");
    rejected("csv", HEAD ",\"POLYGON ((0 0, 1 0, 1 1, 0 0))\"\n", BN_CASE, "line 2: the column `meaning` is empty");
    rejected("csv", HEAD "\n\nwall,\"POLYGON ((0 0, 1 0,\n 1 1, 0 0))\"\nwall,\"CIRCLE (0 0)\"\n", BN_CASE,
             "line 6, shape 2 (wall)");
    bn_shapes *s;
    ck_assert_int_eq(bn_shapes_read(ctx, in_folder("none.csv"), NULL, 1e-3, &s), BN_IO);
}

int main(void) { return bn_test_main("shapes", open_folder, close_folder); }
