/* test_issue_16_pictures.c: what pictures and charts said that was not so, or did not say: an animation's scale changed
 * from frame to frame, its still was the state at the beginning, thin walls were missing, captions told of lines that
 * were not there, names of arrays stood for quantities, numbers of map coordinates could not be read, curves hid each
 * other. */
#include "support_case.h"

#include "api/embedded_files.h"
#include "binnacle/binnacle.h"
#include "plot/colour_maps.h"
#include "plot/labels.h"
#include "plot/picture.h"
#include "plot/png_animation.h"
#include "io/file.h"
#include "io/png_read.h"
#include "sim/sim_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 40, FRAMES = 3, WALL = 0x000000 }; /* the lines of walls are black */
static char path[FRAMES][4200], joined[4200];
static const char *const paths[FRAMES] = { path[0], path[1], path[2] };

static void setup(void)
{
    open_folder();
    for (int i = 0; i < FRAMES; i++)
        snprintf(path[i], sizeof path[i], "%s/frame-%d.png", test_folder, i);
    snprintf(joined, sizeof joined, "%s/all.png", test_folder);
}

typedef struct image {
    uint32_t width, height;
    unsigned char *rgb;
} image;

static image read_image(const char *name)
{
    image i;
    OK(bn_png_read_rgb(ctx, name, &i.width, &i.height, &i.rgb));
    return i;
}

static uint32_t colour_at(const image *i, size_t at)
{
    return (uint32_t)i->rgb[3 * at] << 16 | (uint32_t)i->rgb[3 * at + 1] << 8 | i->rgb[3 * at + 2];
}

static size_t count_colour(const image *i, uint32_t rgb)
{
    size_t count = 0;
    for (size_t at = 0; at < (size_t)i->width * i->height; at++)
        count += colour_at(i, at) == rgb;
    return count;
}

/* Pixels that have nearly that colour: strokes are smoothed at their edges. */
static size_t count_near(const image *i, int r, int g, int b)
{
    size_t count = 0;
    for (size_t at = 0; at < (size_t)i->width * i->height; at++) {
        const unsigned char *rgb = i->rgb + 3 * at;
        count += abs(rgb[0] - r) < 48 && abs(rgb[1] - g) < 48 && abs(rgb[2] - b) < 48;
    }
    return count;
}

/* A field that is `value` but in one corner cell of 0: a large frame, or one with more values than pixels. free() it.
 */
static double *uniform_values(uint32_t n, double value)
{
    double *values = calloc((size_t)n * n, sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (size_t k = 1; k < (size_t)n * n; k++)
        values[k] = value;
    return values;
}

static bn_picture picture_of(const double *values, uint32_t n, bool lines)
{
    return (bn_picture){ .n = { n, n },
                         .h = { 1, 1 },
                         .values = values,
                         .title = "A title",
                         .name = "depth",
                         .unit = "m",
                         .keeps_values = true,
                         .contours = { lines ? values : NULL, NULL, 3, "depth [m]" } };
}

static void write_uniform(const char *name, uint32_t n, double value, bool lines)
{
    double *values = uniform_values(n, value);
    const bn_picture p = picture_of(values, n, lines);
    OK(bn_picture_write(ctx, name, &p));
    free(values);
}

/* What these pictures have in common. */
static const bn_picture kind = { .name = "depth", .unit = "m", .contours = { .count = 3, .label = "depth [m]" } };

/* The colour of `value` on a scale from 0 to `high`. */
static uint32_t colour_of(double value, double high)
{
    bn_palette palette;
    bn_palette_make(BN_MAP_SEQUENTIAL, &palette);
    return bn_palette_at(&palette, value / high);
}

TEST(frames_of_an_animation_have_one_scale)
{
    static const uint32_t sizes[] = { N, 1200 }; /* more values than pixels: what the pixels show is kept */
    static const double heights[FRAMES] = { 1.1, 4, 2.3 };
    for (size_t k = 0; k < 2; k++) {
        for (int i = 0; i < FRAMES; i++)
            write_uniform(path[i], sizes[k], heights[i], i == 0);
        /* Two, then with a third that is not the highest, as when a run goes on; the scale is that of all. */
        OK(bn_pictures_to_one_scale(ctx, paths + 1, 2, &kind));
        OK(bn_pictures_to_one_scale(ctx, paths, FRAMES, &kind));
        for (int i = 0; i < FRAMES; i++) {
            image drawn = read_image(path[i]);
            const size_t most = (size_t)drawn.width * drawn.height / 3;
            ck_assert_msg(count_colour(&drawn, colour_of(heights[i], 4)) > most,
                          "frame %d of %u x %u values has not the colour of %g on a scale to 4", i, sizes[k], sizes[k],
                          heights[i]);
            free(drawn.rgb);
        }
    }
}

/* A picture that waits for its scale is that of one drawn before. */
TEST(postponed_pictures_are_those_drawn_twice)
{
    static const uint32_t sizes[] = { N, 1200 };
    for (size_t k = 0; k < 2; k++) {
        char *drawn[FRAMES], *later;
        size_t bytes[FRAMES], count;
        bn_png_kept kept[FRAMES] = { { NULL, 0 } };
        const bn_png_kept *given[FRAMES] = { NULL };
        bn_picture_scale scale;
        for (int i = 0; i < FRAMES; i++)
            write_uniform(path[i], sizes[k], 1 + i, i == 0);
        OK(bn_pictures_to_one_scale(ctx, paths, FRAMES, &kind));
        for (int i = 0; i < FRAMES; i++)
            OK(bn_file_read(ctx, path[i], 1 << 24, &drawn[i], &bytes[i]));
        for (int i = 1; i < FRAMES; i++) { /* the first one has been drawn */
            double *values = uniform_values(sizes[k], 1 + i);
            const bn_picture p = picture_of(values, sizes[k], false);
            OK(bn_picture_postpone(ctx, path[i], &p, &kept[i]));
            given[i] = &kept[i];
            free(values);
            ck_assert_int_eq(remove(path[i]), 0);
        }
        OK(bn_pictures_scale(ctx, paths, given, FRAMES, &kind, &scale));
        for (int i = 0; i < FRAMES; i++) {
            OK(bn_picture_to_scale(ctx, path[i], given[i], &kind, &scale));
            OK(bn_file_read(ctx, path[i], 1 << 24, &later, &count));
            ck_assert_uint_eq(count, bytes[i]);
            ck_assert_mem_eq(later, drawn[i], count);
            free(later);
            free(drawn[i]);
            free(kept[i].data);
        }
    }
}

/* The scale of a later run may be larger, never smaller by what was drawn before. */
TEST(scale_follows_data_and_not_earlier_scales)
{
    write_uniform(path[0], N, 1, false);
    write_uniform(path[1], N, 8, false);
    OK(bn_pictures_to_one_scale(ctx, paths, 2, &kind));
    write_uniform(path[1], N, 2, false);
    OK(bn_pictures_to_one_scale(ctx, paths, 2, &kind));
    image drawn = read_image(path[0]);
    ck_assert_uint_gt(count_colour(&drawn, colour_of(1, 2)), (size_t)drawn.width * drawn.height / 3);
    free(drawn.rgb);
}

TEST(still_of_an_animation_is_its_last_frame)
{
    for (int i = 0; i < FRAMES; i++)
        write_uniform(path[i], N, 1 + i, false);
    OK(bn_pictures_to_one_scale(ctx, paths, FRAMES, &kind));
    OK(bn_png_animate(ctx, joined, paths, FRAMES, 100));
    image still = read_image(joined), last = read_image(path[FRAMES - 1]); /* libpng knows no animations */
    ck_assert_uint_eq(still.width, last.width);
    ck_assert_int_eq(memcmp(still.rgb, last.rgb, (size_t)3 * last.width * last.height), 0);
    free(still.rgb);
    free(last.rgb);
}

/* Pixels in the lowest rows that are not white: the caption. */
static size_t caption_pixels(const char *name)
{
    image i = read_image(name);
    size_t count = 0;
    for (size_t at = (size_t)i.width * (i.height - 30); at < (size_t)i.width * i.height; at++)
        count += colour_at(&i, at) != 0xffffff;
    free(i.rgb);
    return count;
}

TEST(captions_tell_of_lines_that_are_there)
{
    static const double levels[] = { 1.2, 1.7, 2.4, 3.2 };
    double values[N * N];
    for (int k = 0; k < N * N; k++)
        values[k] = 1 + (k % N) / (double)N; /* up to 2 */
    bn_picture p = { .n = { N, N }, .h = { 1, 1 }, .values = values, .contours = { values, levels, 4, "n" } };
    OK(bn_picture_write(ctx, path[0], &p));
    ck_assert_uint_gt(caption_pixels(path[0]), 0);
    p.contours.levels = levels + 2;
    p.contours.count = 2;
    OK(bn_picture_write(ctx, path[0], &p));
    ck_assert_uint_eq(caption_pixels(path[0]), 0);
}

TEST(walls_thinner_than_a_cell_are_drawn)
{
    double values[N * N];
    const bn_drawn_line wall = { { 0, 17, N - 1, 17 }, BN_DRAWN_WALL };
    const bn_drawing drawing = { .lines = &wall, .line_count = 1 };
    for (int k = 0; k < N * N; k++)
        values[k] = (double)-INFINITY; /* dry: paper */
    bn_picture p = { .n = { N, N }, .h = { 1, 1 }, .values = values, .drawing = &drawing };
    OK(bn_picture_write(ctx, path[0], &p));
    image with = read_image(path[0]);
    p.drawing = NULL;
    OK(bn_picture_write(ctx, path[0], &p));
    image without = read_image(path[0]);
    /* As long as the frame is wide (760 pixels but for half a cell at either end); 1.6 pixels cover one pixel at least,
     * and two at most, in full. */
    const size_t more = count_colour(&with, WALL) - count_colour(&without, WALL);
    ck_assert_msg(more > 700 && more < 2 * 760, "%zu pixels of wall", more);
    free(with.rgb);
    free(without.rgb);
}

/* Three classes on a third of the columns each, up to and from their bounds; the bar has the same colours. Nothing else
 * is drawn in them. */
TEST(classes_have_their_colours)
{
    static const bn_value_class classes[] = { { 0, 0xffffb2, "low" }, { 1, 0xfecc5c, "some" }, { 2, 0xbd0026, "all" } };
    enum { SIDE = 30 };
    double values[SIDE * SIDE];
    for (int k = 0; k < SIDE * SIDE; k++)
        values[k] = k % SIDE < SIDE / 3 ? 0.999 : k % SIDE < 2 * SIDE / 3 ? 1 : 17;
    const bn_picture p = {
        .n = { SIDE, SIDE }, .h = { 1, 1 }, .values = values, .classes = classes, .class_count = 3, .name = "danger"
    };
    OK(bn_picture_write(ctx, path[0], &p));
    image i = read_image(path[0]);
    for (size_t k = 0; k < 3; k++) {
        const size_t pixels = count_colour(&i, classes[k].rgb);
        /* A third of the frame, 760 pixels a side, and of a bar of 24 x 760, each within a line of pixels around it. */
        ck_assert_msg(labs((long)pixels - 760 * (760 + 24) / 3) < 4 * 800, "class %zu has %zu pixels", k, pixels);
    }
    free(i.rgb);
}

/* A number takes the place of what lies under it; lines that are borders have none. */
TEST(contour_lines_have_their_numbers)
{
    static double values[N * N];
    static const double level = 0.5;
    for (int k = 0; k < N * N; k++)
        values[k] = k % N / (N - 1.0);
    bn_picture p = { .n = { N, N }, .h = { 1, 1 }, .values = values, .contours = { values, &level, 1, NULL, false } };
    OK(bn_picture_write(ctx, path[0], &p));
    image with = read_image(path[0]);
    p.contours.outlines = true;
    OK(bn_picture_write(ctx, path[0], &p));
    image without = read_image(path[0]);
    size_t differ = 0;
    for (size_t k = 0; k < (size_t)with.width * with.height; k++)
        differ += memcmp(with.rgb + 3 * k, without.rgb + 3 * k, 3) != 0;
    /* Three signs of 14 pixels: a box of about 15 x 30, of which the line itself is a part. */
    ck_assert_msg(differ > 200 && differ < 900, "%zu pixels", differ);
    free(with.rgb);
    free(without.rgb);
}

/* The corridor's upper wall, rows 103 and 104 of the plan: y from 16.875 m to 17.125 m where the plan is 30 m high,
 * between two rows of cells. It is interrupted by doors only. */
TEST(the_wall_of_the_second_storey_is_in_its_pictures)
{
    bn_case *c;
    bn_sim *sim;
    size_t storeys = 0;
    OK(bn_case_read(ctx, "data/cases/flood/house.toml", NULL, 0, &c));
    OK(bn_sim_create(ctx, c, &(bn_sim_desc){ .boxes = 1 }, &sim));
    const bn_plan *plan = bn_sim_plan(sim);
    for (size_t i = 0; i < plan->picture_count; i++) {
        const bn_picture_desc *p = &plan->pictures[i];
        double length = 0;
        for (size_t k = 0; k < p->drawing->line_count; k++) {
            const bn_drawn_line *l = &p->drawing->lines[k];
            if (l->kind == BN_DRAWN_WALL && fabs(l->ends[1] - 17) < 0.13 && fabs(l->ends[3] - 17) < 0.13)
                length += 0.5 * fabs(l->ends[2] - l->ends[0]); /* both sides of it */
        }
        if (strcmp(p->field, "depth") == 0) {
            ck_assert_msg(length > 20 && length < 41, "storey %u: %g m of wall along y = 17 m", p->at + 1, length);
            storeys++;
        }
    }
    ck_assert_uint_eq(storeys, 3);
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

/* No name of an array stands at a colour bar or in a caption. */
TEST(quantities_have_names_of_the_field)
{
    size_t pictures = 0;
    for (const bn_embedded *f = bn_embedded_files; f->name; f++) {
        bn_case *c;
        bn_sim *sim;
        if (strncmp(f->name, "selftest/", 9) != 0)
            continue;
        OK(bn_case_parse(ctx, f->name, f->text, NULL, 0, &c));
        OK(bn_sim_create(ctx, c, &(bn_sim_desc){ .boxes = 1 }, &sim));
        const bn_plan *plan = bn_sim_plan(sim);
        for (size_t i = 0; i < plan->picture_count; i++, pictures++) {
            const bn_picture_desc *p = &plan->pictures[i];
            ck_assert_msg(p->quantity && !strchr(p->quantity, '_'), "%s: picture %s", f->name, p->name);
            ck_assert_msg(!p->contour_field || (p->contour_quantity && !strchr(p->contour_quantity, '_')),
                          "%s: lines in picture %s", f->name, p->name);
        }
        bn_sim_destroy(&sim);
        bn_case_destroy(&c);
    }
    ck_assert_uint_ge(pictures, 5);
}

TEST(map_coordinates_can_be_read)
{
    static const double ranges[][2] = {
        { 600050, 600250 }, { 5311990, 5312390 }, { 599000, 604000 }, { -600250, -600050 }, { 0.99999990, 1.00000015 }
    };
    bn_ticks t;
    char label[BN_LABEL_BYTES];
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        bn_ticks_linear(&t, ranges[i][0], ranges[i][1], 6);
        ck_assert_int_ge(t.count, 3);
        ck_assert(fabs(t.offset) > 0);
        for (int k = 0; k < t.count; k++) {
            char *end;
            const double shown = strtod(t.text[k], &end) * pow(10, t.exponent) + t.offset; /* none is negative */
            ck_assert_uint_le(strlen(t.text[k]), 5);
            ck_assert_str_eq(end, "");
            near(t.at[k], shown, 1e-3 * (ranges[i][1] - ranges[i][0]), "tick, power of ten and offset together");
        }
    }
    bn_ticks_linear(&t, 600050, 600250, 6);
    bn_label_format(label, sizeof label, "x", "m", &t);
    ck_assert_str_eq(label, "x − 600 000 [m]");
    bn_ticks_linear(&t, -600250, -600050, 6);
    bn_label_format(label, sizeof label, "x", "m", &t);
    ck_assert_str_eq(label, "x + 601 000 [m]");
    bn_ticks_linear(&t, 0, 600000, 6); /* nothing to count from */
    near(t.offset, 0, 0, "a range from 0");
}

/* Two curves with the same values: both colours are seen, also where there are markers. */
TEST(curves_do_not_hide_each_other)
{
    double x[N], y[N];
    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = sin(0.2 * i);
    }
    for (int markers = 0; markers < 2; markers++) {
        const bn_chart_line lines[] = { { "one", x, y, N, markers, NULL }, { "two", x, y, N, markers, NULL } };
        OK(bn_chart_write(ctx, path[0], &(bn_chart){ .x_label = "x", .y_label = "y", .lines = lines, .count = 2 }));
        image drawn = read_image(path[0]);
        ck_assert_uint_gt(count_near(&drawn, 0, 0x72, 0xb2), 300);
        ck_assert_uint_gt(count_near(&drawn, 0xd5, 0x5e, 0), 300);
        free(drawn.rgb);
    }
}

int main(void) { return bn_test_main("pictures of issue 16", setup, close_folder); }
