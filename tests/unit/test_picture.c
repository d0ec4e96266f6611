/* test_picture.c: labels and ticks, colour maps, contour lines, and pictures that are opened again with libpng. What a
 * picture looks like is for eyes; here stands what can be counted. */
#include "plot/colour_maps.h"
#include "plot/contour.h"
#include "plot/labels.h"
#include "plot/picture.h"
#include "plot/raster.h"
#include "support_case.h"

#include <errno.h>
#include <png.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char path[4400];

static void setup(void)
{
    open_folder();
    snprintf(path, sizeof path, "%s/a.png", test_folder);
}

TEST(test_label_units)
{
    static const char *const units[][2] = {
        { "m2 s-1", "m²/s" },
        { "s-1", "1/s" },
        { "kg m-3", "kg/m³" },
        { "W m-2 K-1", "W/(m²·K)" },
        { "m", "m" },
        { "1", "" },
        { "", "" },
        { "m^2 s^-1", "m²/s" },
        { "m2.s-2", "m²/s²" },
        { "kg m s-10", "kg·m/s¹⁰" },
        { "%", "%" },
        { "m/s", "m/s" },
        { "µm", "µm" },
        { "m0", "m0" },
        { "m 2", "m 2" },
        { "-1", "-1" },
        { "a b c d e f g h i", "a b c d e f g h i" },
    };
    char text[64];
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        bn_label_unit(text, sizeof text, units[i][0]);
        ck_assert_str_eq(text, units[i][1]);
    }
    bn_label_unit(text, sizeof text, NULL);
    ck_assert_str_eq(text, "");
}

TEST(test_label_texts)
{
    char text[BN_LABEL_BYTES], tiny[8];
    double factor;
    bn_label_format(text, sizeof text, "omega", "s-1", &(bn_ticks){ .exponent = -3 });
    ck_assert_str_eq(text, "ω [10⁻³ 1/s]");
    bn_label_format(text, sizeof text, "omega_max", NULL, NULL);
    ck_assert_str_eq(text, "ω_max");
    bn_label_format(text, sizeof text, "omegas", "1", &(bn_ticks){ .exponent = 12 });
    ck_assert_str_eq(text, "omegas [10¹²]");
    bn_label_format(text, sizeof text, NULL, "m", NULL);
    ck_assert_str_eq(text, "[m]");
    bn_label_text(text, sizeof text, "psi [m2 s-1]", NULL);
    ck_assert_str_eq(text, "ψ [m²/s]");
    bn_label_text(text, sizeof text, "plain words", NULL);
    ck_assert_str_eq(text, "plain words");
    bn_label_text(text, sizeof text, "]", NULL);
    ck_assert_str_eq(text, "]");
    bn_label_text(text, sizeof text, "[]", NULL);
    ck_assert_str_eq(text, "");
    bn_label_text(text, sizeof text, NULL, NULL);
    ck_assert_str_eq(text, "");
    bn_label_format(tiny, sizeof tiny, "a long name", "m2 s-1", &(bn_ticks){ .exponent = -5 });
    ck_assert_uint_lt(strlen(tiny), sizeof tiny);
    static const struct {
        double value;
        const char *text;
    } numbers[] = {
        { 0, "0" },         { -1.234e-5, "−1.23×10⁻⁵" }, { 1, "1.00" },        { -0.0641, "−0.0641" },
        { 12345, "12345" }, { 1e6, "1.00×10⁶" },         { (double)NAN, "?" },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        bn_label_number(text, sizeof text, numbers[i].value);
        ck_assert_str_eq(text, numbers[i].text);
    }
    static const struct {
        double size;
        const char *unit;
    } lengths[] = { { 1, "m" }, { 0.1, "m" }, { 0.02, "mm" }, { 3e-6, "µm" }, { 1e-9, "nm" }, { 1e4, "km" } };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        ck_assert_str_eq(bn_label_length(lengths[i].size, &factor), lengths[i].unit);
}

TEST(test_ticks_everywhere)
{
    static const double ranges[][2] = { { 0, 1 },          { -0.117, 0.002 }, { 1e-12, 3e-12 },
                                        { 300, 300.0001 }, { -1e300, 1e300 }, { -5, 5 },
                                        { 0, 12345 },      { 99999, 100001 }, { 1e-300, 2e-300 } };
    bn_ticks t;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const double low = ranges[i][0], high = ranges[i][1], room = 1e-5 * (high - low);
        for (int wanted = 2; wanted <= 8; wanted++) {
            bn_ticks_linear(&t, low, high, wanted);
            ck_assert_int_le(t.count, wanted + 1);
            ck_assert_int_ge(t.count, wanted < 4 ? 0 : 2);
            for (int k = 0; k < t.count; k++) {
                ck_assert(t.at[k] >= low - room && t.at[k] <= high + room);
                ck_assert_uint_lt(strlen(t.text[k]), 20);
                ck_assert(k == 0 || strcmp(t.text[k], t.text[k - 1]) != 0);
            }
        }
    }
    static const double ends[][2] = { { -1.7e308, 1.7e308 }, { 1.6e308, 1.7e308 }, { 0, 5e-324 }, { 1e-310, 2e-310 } };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) { /* differences that overflow, or are no normal numbers */
        bn_ticks_linear(&t, ends[i][0], ends[i][1], 6);
        ck_assert(t.count <= 7 && abs(t.exponent) <= 324);
    }
    bn_ticks_linear(&t, -0.117, 0.002, 6);
    ck_assert_str_eq(t.text[0], "−0.10");
    ck_assert_str_eq(t.text[t.count - 1], "0.00");
    bn_ticks_linear(&t, 1e-12, 3e-12, 5);
    ck_assert_int_eq(t.exponent, -12);
    ck_assert_str_eq(t.text[0], "1.0");
    bn_ticks_log(&t, -3, 0, 8);
    int numbered = 0;
    for (int k = 0; k < t.count; k++)
        numbered += t.text[k][0] != '\0';
    ck_assert_int_eq(numbered, 4);
    ck_assert_int_eq(t.count, 4 + 3 * 8);
    bn_ticks_log(&t, -300, 300, 8);
    ck_assert_int_le(t.count, BN_TICKS_MAX);
}

/* Lightness after CIE 1976 of an sRGB colour. */
static double lightness(uint32_t rgb)
{
    static const double weight[3] = { 0.2126, 0.7152, 0.0722 };
    double y = 0;
    for (int c = 0; c < 3; c++) {
        const double v = (rgb >> (16 - 8 * c) & 255) / 255.0;
        y += weight[c] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return y > 0.008856 ? 116 * cbrt(y) - 16 : 903.3 * y;
}

TEST(test_colour_maps)
{
    bn_palette p;
    bn_palette_make(BN_MAP_SEQUENTIAL, &p);
    for (int i = 16; i < BN_PALETTE_COLOURS; i += 16)
        ck_assert_msg(lightness(p.rgb[i]) > lightness(p.rgb[i - 16]) - 0.2, "lightness must grow, at %d", i);
    ck_assert(lightness(p.rgb[BN_PALETTE_COLOURS - 1]) - lightness(p.rgb[0]) > 70);
    ck_assert_uint_eq(bn_palette_at(&p, -1), p.rgb[0]);
    ck_assert_uint_eq(bn_palette_at(&p, 2), p.rgb[BN_PALETTE_COLOURS - 1]);

    bn_palette_make(BN_MAP_DIVERGING, &p);
    const uint32_t middle = bn_palette_at(&p, 0.5);
    ck_assert(lightness(middle) > 94);
    ck_assert((p.rgb[0] & 255) > (p.rgb[0] >> 16));                                           /* blue is low */
    ck_assert((p.rgb[BN_PALETTE_COLOURS - 1] & 255) < (p.rgb[BN_PALETTE_COLOURS - 1] >> 16)); /* red is high */
    for (double t = 0; t < 0.5; t += 0.05)
        near(lightness(bn_palette_at(&p, t)), lightness(bn_palette_at(&p, 1 - t)), 8, "both signs look equally strong");

    bn_palette_make(BN_MAP_CYCLIC, &p);
    for (int c = 0; c < 24; c += 8)
        near(p.rgb[0] >> c & 255, p.rgb[BN_PALETTE_COLOURS - 1] >> c & 255, 2, "the ends meet");
    for (int i = 0; i < BN_PALETTE_COLOURS; i += 8)
        near(lightness(p.rgb[i]), lightness(p.rgb[0]), 9, "one lightness all around");
}

/* What a test sees of the lines. */
typedef struct seen {
    size_t lines, points, closed;
    double length, worst;
    double (*error)(double x, double y);
} seen;

static void collect(void *user, const double (*points)[2], size_t count)
{
    seen *s = user;
    s->lines++;
    s->points += count;
    s->closed += fabs(points[0][0] - points[count - 1][0]) + fabs(points[0][1] - points[count - 1][1]) <= 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            s->length += hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1]);
        if (s->error)
            s->worst = fmax(s->worst, s->error(points[i][0], points[i][1]));
    }
}

static double off_circle(double x, double y) { return fabs(hypot(x - 50.3, y - 40.7) - 30); }

TEST(test_contour_circle)
{
    enum { NX = 101, NY = 83 };
    static double v[NX * NY];
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            v[j * NX + i] = hypot(i - 50.3, j - 40.7);
    seen s = { .error = off_circle };
    ck_assert_int_eq(bn_contour_trace(ctx, v, (const uint32_t[]){ NX, NY }, 30, collect, &s), BN_OK);
    ck_assert_uint_eq(s.lines, 1);
    ck_assert_uint_eq(s.closed, 1);
    near(s.worst, 0, 1.0 / (8 * 30), "h^2 / (8 r), linear interpolation across curvature 1 / r");
    near(s.length, 2 * 3.14159265358979 * 30, 0.1, "2 pi r");

    /* A missing value opens the line and takes nothing else away. */
    v[41 * NX + 80] = (double)NAN;
    s = (seen){ .error = off_circle };
    ck_assert_int_eq(bn_contour_trace(ctx, v, (const uint32_t[]){ NX, NY }, 30, collect, &s), BN_OK);
    ck_assert_uint_eq(s.lines, 1);
    ck_assert_uint_eq(s.closed, 0);
    near(s.length, 2 * 3.14159265358979 * 30 - 2, 1, "2 pi r without two squares");

    s = (seen){ 0 }; /* cut by the border into pieces: four arcs at r = 45 (two sides reach only 40.7) */
    v[41 * NX + 80] = hypot(80 - 50.3, 41 - 40.7);
    ck_assert_int_eq(bn_contour_trace(ctx, v, (const uint32_t[]){ NX, NY }, 45, collect, &s), BN_OK);
    ck_assert_uint_eq(s.lines, 2);
    ck_assert_uint_eq(s.closed, 0);
}

TEST(test_contour_saddles)
{
    /* A chess board: every square is a saddle, whose mean 0.5 counts as high at the level 0.5: low corners are alone.
     */
    enum { N = 9 };
    double v[N * N];
    for (int k = 0; k < N * N; k++)
        v[k] = (k % N + k / N) % 2;
    seen low = { 0 }, high = { 0 };
    ck_assert_int_eq(bn_contour_trace(ctx, v, (const uint32_t[]){ N, N }, 0.5, collect, &low), BN_OK);
    ck_assert_int_eq(bn_contour_trace(ctx, v, (const uint32_t[]){ N, N }, 0.51, collect, &high), BN_OK);
    /* Diamonds around the lonely corners within, open lines at those on the border but at the four edges of the board,
     * where a corner has one square only and its line is open as well. Low: even sum; high: odd sum. */
    ck_assert_uint_eq(low.closed, 25); /* 7 x 7 corners within, those with an even sum */
    ck_assert_uint_eq(low.lines, 41);  /* 81 corners, those with an even sum */
    ck_assert_uint_eq(high.closed, 24);
    ck_assert_uint_eq(high.lines, 40);
}

TEST(test_contour_nothing)
{
    const double flat[9] = { 0 }, missing[4] = { (double)NAN, 0, 1, (double)INFINITY };
    seen s = { 0 };
    ck_assert_int_eq(bn_contour_trace(ctx, flat, (const uint32_t[]){ 3, 3 }, 0, collect, &s), BN_OK);
    ck_assert_int_eq(bn_contour_trace(ctx, flat, (const uint32_t[]){ 9, 1 }, 0, collect, &s), BN_OK);
    ck_assert_int_eq(bn_contour_trace(ctx, missing, (const uint32_t[]){ 2, 2 }, 0.5, collect, &s), BN_OK);
    ck_assert_uint_eq(s.lines, 0);
}

TEST(test_raster_places_values)
{
    /* x fastest, y up: the picture's lower left pixel is the first value. */
    const double v[6] = { 0, 1, 2, 3, 4, (double)NAN };
    const bn_picture cells = { .n = { 3, 2 }, .h = { 1, 1 }, .values = v };
    const bn_value_range r = bn_raster_range(&cells);
    near(r.low, 0, 0, "least");
    near(r.high, 4, 0, "largest that is finite");
    uint32_t pixels[4 * 7];
    bn_palette p;
    bn_palette_make(BN_MAP_SEQUENTIAL, &p);
    ck_assert(bn_raster_fill(&cells, &r, pixels, 6, 4, 7));
    ck_assert_uint_eq(pixels[3 * 7 + 0], bn_palette_at(&p, 0));
    ck_assert_uint_eq(pixels[2 * 7 + 1], bn_palette_at(&p, 0));
    ck_assert_uint_eq(pixels[3 * 7 + 5], bn_palette_at(&p, 0.5));
    ck_assert_uint_eq(pixels[0 * 7 + 0], bn_palette_at(&p, 0.75));
    ck_assert_uint_eq(pixels[1 * 7 + 2], bn_palette_at(&p, 1));
    ck_assert_uint_eq(pixels[0 * 7 + 5], BN_RASTER_MISSING);
    const bn_picture nodes = { .n = { 3, 2 }, .h = { 1, 1 }, .values = v, .nodes = true };
    near(bn_raster_bilinear(&nodes, v, 0.5, 0.5), 2, 0, "mean of 0, 1, 3, 4");
    near(bn_raster_bilinear(&nodes, v, 2, 0), 2, 0, "a node, its missing neighbour has no share");
    ck_assert(isnan(bn_raster_bilinear(&nodes, v, 1.5, 0.5)));

    const double same[4] = { 300, 300, 300, 300 },
                 none[4] = { (double)NAN, (double)NAN, (double)INFINITY, (double)NAN };
    bn_picture odd = { .n = { 2, 2 }, .h = { 1, 1 }, .values = same };
    bn_value_range o = bn_raster_range(&odd);
    ck_assert(o.low < 300 && o.high > 300);
    odd.values = none;
    o = bn_raster_range(&odd);
    ck_assert(o.low < o.high);
    odd.values = v;
    odd.map = BN_MAP_DIVERGING;
    o = bn_raster_range(&odd);
    near(o.low, -3, 0, "symmetric");
    near(o.high, 3, 0, "symmetric");
    odd.low = 1;
    odd.high = 2;
    o = bn_raster_range(&odd);
    near(o.low, 1, 0, "as asked for");
}

/* Reads a PNG; returns its size, and the number of pixels that are neither white nor black, and the Title. */
typedef struct png_facts {
    unsigned width, height;
    size_t coloured;
    char title[64], software[64];
} png_facts;

static png_facts read_png(void)
{
    png_facts f = { 0 };
    FILE *stream = fopen(path, "rb");
    ck_assert_ptr_nonnull(stream);
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, stream);
    png_read_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    ck_assert_int_eq(png_get_color_type(png, info), PNG_COLOR_TYPE_RGB);
    f.width = png_get_image_width(png, info);
    f.height = png_get_image_height(png, info);
    png_bytepp rows = png_get_rows(png, info);
    for (unsigned y = 0; y < f.height; y++)
        for (unsigned x = 0; x < f.width; x++)
            f.coloured += abs(rows[y][3 * x] - rows[y][3 * x + 1]) + abs(rows[y][3 * x] - rows[y][3 * x + 2]) > 8;
    png_textp texts = NULL;
    const int count = png_get_text(png, info, &texts, NULL);
    for (int i = 0; i < count; i++)
        snprintf(strcmp(texts[i].key, "Title") == 0 ? f.title : f.software, 64, "%s", texts[i].text);
    png_destroy_read_struct(&png, &info, NULL);
    fclose(stream);
    return f;
}

enum { N = 41 };

static bn_picture make_picture(double values[N * N])
{
    for (int k = 0; k < N * N; k++)
        values[k] = sin(k % N * 0.08) * sin((int)(k / N) * 0.08);
    return (bn_picture){ .n = { N, N },
                         .h = { 0.025, 0.025 },
                         .nodes = true,
                         .values = values,
                         .title = "Vortex",
                         .name = "psi",
                         .unit = "m2 s-1",
                         .contours = { values, NULL, 9, "psi [m2 s-1]" } };
}

TEST(test_picture_writes)
{
    static double values[N * N];
    bn_picture p = make_picture(values);
    ck_assert_msg(bn_picture_write(ctx, path, &p) == BN_OK, "%s", bn_error_text(ctx));
    png_facts f = read_png();
    ck_assert_uint_ge(f.width, 900);
    ck_assert_uint_le(f.width, 1100);
    ck_assert_uint_gt(f.coloured, 760 * 760 * 9 / 10);
    ck_assert_str_eq(f.title, "Vortex");
    ck_assert_str_eq(f.software, "Binnacle");
    static const double shapes[] = { 0.01, 0.2, 1, 5, 100 };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        p.h[1] = p.h[0] * shapes[i];
        p.nodes = i % 2;
        p.map = (bn_colour_map)(i % 3);
        p.title = i % 2 ? NULL
                        : "Une tr\xc3\xa8s longue phrase qui ne tient pas sur une image aussi \xc3\xa9troite, vraiment "
                          "pas du tout";
        ck_assert_msg(bn_picture_write(ctx, path, &p) == BN_OK, "%s", bn_error_text(ctx));
        f = read_png();
        ck_assert_uint_le(f.width, 1100);
        ck_assert_uint_le(f.height, 1100);
    }
}

/* A caption is a line of text more; a mark takes the colours of a line across the frame, one outside of it none. */
TEST(test_picture_caption_and_marks)
{
    static double values[N * N];
    static const bn_marked_line marks[] = { { false, 0.5, "PML" }, { true, 0.25, "side" }, { true, 1.25, "outside" } };
    bn_picture p = make_picture(values);
    p.contours.count = 0; /* contour lines have no colours either */
    ck_assert_int_eq(bn_picture_write(ctx, path, &p), BN_OK);
    const png_facts plain = read_png();
    p.marks = marks + 2;
    p.mark_count = 1;
    ck_assert_int_eq(bn_picture_write(ctx, path, &p), BN_OK);
    ck_assert_uint_eq(read_png().coloured, plain.coloured);
    p.marks = marks;
    p.mark_count = 2;
    ck_assert_int_eq(bn_picture_write(ctx, path, &p), BN_OK);
    const png_facts marked = read_png();
    ck_assert_uint_eq(marked.height, plain.height);
    /* Dashes of 7 pixels in 12 on two lines, one of which may lie between pixels and stay coloured. */
    ck_assert_uint_gt(plain.coloured - marked.coloured, 760 * 7 / 12);
    ck_assert_uint_lt(plain.coloured - marked.coloured, 2 * 760 * 6);
    p.caption = "slice at y = 240 nm";
    ck_assert_int_eq(bn_picture_write(ctx, path, &p), BN_OK);
    const png_facts said = read_png();
    ck_assert_uint_gt(said.height, plain.height + 15);
    ck_assert_uint_eq(said.width, plain.width);
}

TEST(test_picture_odd_data)
{
    static double values[N * N], levels[3] = { (double)-INFINITY, 0.2, (double)NAN };
    static const double odd[] = { (double)NAN, 0, 5, 1e308, -1e-310 };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        bn_picture p = make_picture(values);
        for (int k = 0; k < N * N; k++)
            values[k] = odd[i];
        p.map = (bn_colour_map)(i % 3);
        p.title = "bad \xff\xfe bytes\n";
        ck_assert_msg(bn_picture_write(ctx, path, &p) == BN_OK, "%s", bn_error_text(ctx));
        values[7] = -1e308;
        values[70] = (double)INFINITY;
        p.contours.levels = levels;
        p.contours.count = 3;
        p.contours.label = "\xe2\x82 [\xff]";
        p.name = "\xc3";
        p.unit = NULL;
        ck_assert_msg(bn_picture_write(ctx, path, &p) == BN_OK, "%s", bn_error_text(ctx));
    }
    static double large[3000 * 7];
    for (int k = 0; k < 3000 * 7; k++)
        large[k] = k % 3000;
    const bn_picture wide = { .n = { 3000, 7 }, .h = { 1, 1 }, .values = large, .contours = { large, NULL, 3, NULL } };
    ck_assert_int_eq(bn_picture_write(ctx, path, &wide), BN_OK);
    bn_picture course = wide; /* to scales of its own, and without lines */
    course.contours = (bn_contours){ .count = 3, .label = "none" };
    course.shape = 2;
    course.axes[0] = "z";
    ck_assert_int_eq(bn_picture_write(ctx, path, &course), BN_OK);
    const png_facts f = read_png();
    ck_assert_uint_gt(f.height, 380);
    ck_assert_uint_lt(f.height, 600);
}

TEST(test_picture_refuses)
{
    static double values[N * N];
    bn_picture p = make_picture(values);
    p.n[1] = 1;
    ck_assert_int_eq(bn_picture_write(ctx, path, &p), BN_USAGE);
    bn_error_clear(ctx);
    p = make_picture(values);
    p.h[0] = 0;
    ck_assert_int_eq(bn_picture_write(ctx, path, &p), BN_USAGE);
    bn_error_clear(ctx);
    p = make_picture(values);
    ck_assert_int_eq(bn_picture_write(ctx, "/proc/none/a.png", &p), BN_IO);
    bn_error_clear(ctx);
    static const rlim_t limits[] = { 0, 10, 5000 };
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    ck_assert_int_eq(sigaction(SIGXFSZ, &ignore, NULL), 0);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        /* Check writes its own messages to a file: no assertion while the limit holds. */
        struct rlimit limit = { limits[i], RLIM_INFINITY };
        const int set = setrlimit(RLIMIT_FSIZE, &limit);
        const bn_status st = bn_picture_write(ctx, path, &p);
        limit.rlim_cur = RLIM_INFINITY;
        const int unset = setrlimit(RLIMIT_FSIZE, &limit);
        ck_assert(set == 0 && unset == 0);
        ck_assert_int_eq(st, BN_IO);
        ck_assert_msg(strstr(bn_error_text(ctx), strerror(EFBIG)) != NULL, "%s", bn_error_text(ctx));
        ck_assert_int_ne(access(path, F_OK), 0);
        bn_error_clear(ctx);
    }
}

TEST(test_chart_writes)
{
    enum { MANY = 200000 };
    static double x[MANY], y[MANY];
    for (int i = 0; i < MANY; i++) {
        x[i] = i;
        y[i] = i % 1000 == 7 ? 0 : exp(-i * 1e-4) * (1.1 + sin(i));
    }
    const bn_chart_line lines[] = { { "residual [1]", x, y, MANY, false, NULL },
                                    { "few", x, y, 20, true, y },
                                    { NULL, x, y, 0, false, NULL } };
    bn_chart c = { "Convergence", "step", "residual [s-1]", true, lines, 3, false };
    ck_assert_msg(bn_chart_write(ctx, path, &c) == BN_OK, "%s", bn_error_text(ctx));
    const png_facts f = read_png();
    ck_assert_uint_eq(f.width, 1000);
    ck_assert_uint_gt(f.coloured, 1000);
    ck_assert_str_eq(f.title, "Convergence");
    c.log_y = false;
    ck_assert_int_eq(bn_chart_write(ctx, path, &c), BN_OK);
    const double odd[4] = { (double)NAN, -1, (double)INFINITY, 1e308 };
    const bn_chart_line bad = { "odd", odd, odd, 4, false, odd };
    for (int logs = 0; logs < 4; logs++) {
        const bn_chart b = { NULL, NULL, NULL, logs & 1, &bad, 1, logs & 2 };
        ck_assert_int_eq(bn_chart_write(ctx, path, &b), BN_OK);
    }
    c.log_x = c.log_y = true;
    ck_assert_int_eq(bn_chart_write(ctx, path, &c), BN_OK);
    ck_assert_uint_gt(read_png().coloured, 1000);
    c.count = 0;
    ck_assert_int_eq(bn_chart_write(ctx, path, &c), BN_USAGE);
}

int main(void) { return bn_test_main("picture", setup, close_folder); }
