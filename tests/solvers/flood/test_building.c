/* test_building.c: storeys of `flood`: plans drawn here pixel by pixel, what stairs, openings, sources, drains and
 * walls do to the water, and plans that make no sense. */
#include "support_case.h"

#include "binnacle/flood.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Draws a storey as rows of letters: # wall, . floor, s stair, o opening, w source, d drain, x not in the legend. Each
 * letter is a square of `size` pixels. */
static void draw(int storey, int size, const char *const *rows)
{
    const int nx = (int)strlen(rows[0]);
    int count = 0;
    while (rows[count])
        count++;
    unsigned char *rgb = calloc((size_t)(nx * size) * (size_t)(count * size), 3);
    ck_assert_ptr_nonnull(rgb);
    for (int j = 0; j < count * size; j++)
        for (int i = 0; i < nx * size; i++) {
            unsigned colour = 0xffffff;
            switch (rows[j / size][i / size]) {
            case '#': colour = 0x000000; break;
            case 's': colour = 0x8b5a2b; break;
            case 'o': colour = 0xadd8e6; break;
            case 'w': colour = 0x1e90ff; break;
            case 'd': colour = 0x00a000; break;
            case 'x': colour = 0x123456; break;
            default: break;
            }
            unsigned char *to = rgb + 3 * ((size_t)j * (size_t)(nx * size) + (size_t)i);
            to[0] = (unsigned char)(colour >> 16);
            to[1] = (unsigned char)(colour >> 8);
            to[2] = (unsigned char)colour;
        }
    char path[128];
    snprintf(path, sizeof path, "%s/%d.png", test_folder, storey);
    png_image image = { .version = PNG_IMAGE_VERSION,
                        .width = (png_uint_32)(nx * size),
                        .height = (png_uint_32)(count * size),
                        .format = PNG_FORMAT_RGB };
    ck_assert_int_ne(png_image_write_to_file(&image, path, 0, rgb, 0, NULL), 0);
    free(rgb);
}
#define DRAW(storey, size, ...) draw((storey), (size), (const char *const[]){ __VA_ARGS__, NULL })

static const char legend[] =
    "[[legend]]\ncolour='#ffffff'\nkind='floor'\n[[legend]]\ncolour='#000000'\nkind='wall'\n"
    "[[legend]]\ncolour='#8b5a2b'\nkind='stair'\nwidth=1.2\n[[legend]]\ncolour='#ADD8E6'\nkind='opening'\n"
    "[[legend]]\ncolour='#1e90ff'\nkind='source'\nrate=0.4\n[[legend]]\ncolour='#00a000'\nkind='drain'\nrate=0.1\n";

/* A case of so many storeys with the plans in the folder. */
static char *case_text(int storeys, const char *rest)
{
    static char text[4096];
    size_t at = (size_t)snprintf(text, sizeof text, "[case]\nsolver='flood'\nprecision='double'\n[plan]\npixel=0.5\n");
    for (int i = 1; i <= storeys; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "[[storey]]\nplan='%s/%d.png'\nheight=%d\n", test_folder, i,
                               4 * (i - 1));
    snprintf(text + at, sizeof text - at, "%s%s", legend, rest);
    return text;
}

static run begin(const char *text, bn_device *device, const char *override)
{
    run r;
    OK(bn_case_parse(ctx, "test.toml", text, &override, override ? 1 : 0, &r.config));
    OK(bn_sim_create(ctx, r.config, &(bn_sim_desc){ .device = device }, &r.sim));
    return r;
}

static void go_on(run *r)
{
    while (!bn_sim_done(r->sim))
        OK(bn_sim_step(r->sim));
    OK(bn_sim_measure(r->sim));
}

/* Depths of a run in double precision, to be freed. */
static double *depths(run *r, const unsigned **n)
{
    const bn_sim_field_info *info = bn_sim_field_at(r->sim, 0);
    ck_assert_str_eq(info->name, "depth");
    const size_t count = (size_t)info->n[0] * info->n[1] * info->n[2];
    double *h = malloc(count * sizeof *h);
    OK(bn_sim_read(r->sim, "depth", h, count * sizeof *h));
    *n = info->n;
    return h;
}

/* Mean depth of the floor of a storey where there is water at all. */
static double mean_depth(run *r, unsigned storey)
{
    const unsigned *n;
    double *h = depths(r, &n), sum = 0;
    size_t cells = 0;
    for (size_t at = (size_t)storey * n[0] * n[1]; at < (size_t)(storey + 1) * n[0] * n[1]; at++) {
        sum += h[at];
        cells += h[at] > 0;
    }
    free(h);
    return cells > 0 ? sum / (double)cells : 0;
}

TEST(a_stair_drains_a_room_as_a_weir_does)
{
    /* 100 m2 of floor, 0.5 m deep, over a stair 1.2 m wide onto a floor 4 m below: H = (H0^-1/2 + b C t / (2 A))^-2, C
     * = (2/3)^1.5 sqrt(g). The water sinks a little towards the stair. */
    static const double time[] = { 10, 30, 60 }, level[] = { 0.43482150, 0.33759071, 0.24315012 };
    DRAW(1, 1, "######################", "#....................#", "#....................#", "#....................#",
         "#....................#", "#....................#", "#....................#", "#....................#",
         "#....................#", "#....................#", "#....................#", "#....................#",
         "#....................#", "#....................#", "#....................#", "#....................#",
         "#....................#", "#....................#", "#....................#", "#....................#",
         "#....................#", "######################");
    DRAW(2, 1, "######################", "#....................#", "#....................#", "#....................#",
         "#....................#", "#....................#", "#....................#", "#....................#",
         "#....................#", "#s...................#", "#s...................#", "#s...................#",
         "#s...................#", "#....................#", "#....................#", "#....................#",
         "#....................#", "#....................#", "#....................#", "#....................#",
         "#....................#", "######################");
    run r = begin(case_text(2,
                            "[grid]\nkind='square'\nspacing=0.5\n[initial]\nkind='depth'\nstorey=2\nlevel=0.5\n[time]\n"
                            "interval=5\n[stop]\ntime=60\n"),
                  NULL, NULL);
    for (int i = 0; i < 3; i++) {
        while (bn_sim_now(r.sim).time < time[i] - 1e-9)
            OK(bn_sim_step(r.sim));
        near(mean_depth(&r, 1), level[i], 0.06 * level[i], "critical overfall under the mean depth");
    }
    go_on(&r);
    ck_assert_double_le(fabs(result(&r, "mass_error")), 1e-12);
    end_run(&r);
}

TEST(two_storeys_level_out_through_an_opening)
{
    /* 60 m3 in the lower storey of 10 m2 would stand 6 m high: it rises through the hole until both levels are the
     * same. */
    DRAW(1, 1, "########", "#......#", "#......#", "#......#", "#......#", "#......#", "########");
    DRAW(2, 1, "########", "#......#", "#..oo..#", "#..oo..#", "#......#", "#......#", "########");
    run r = begin(case_text(2,
                            "[grid]\nspacing=0.5\n[fluid]\nmanning=0.05\n[initial]\nkind='depth'\nstorey=1\nlevel=6\n"
                            "[time]\ninterval=1\n[stop]\ntime=120\n"),
                  NULL, NULL);
    go_on(&r);
    const double low = mean_depth(&r, 0), high = mean_depth(&r, 1);
    near(low - 4, high, 0.02, "one level");
    near(low + high, 6, 0.02, "the water there was");
    ck_assert_double_le(fabs(result(&r, "mass_error")), 1e-12);
    end_run(&r);
}

TEST(water_is_what_sources_gave_less_what_drains_took)
{
    DRAW(1, 2, "##########", "#....#...#", "#....#..d#", "#........#", "##########");
    DRAW(2, 2, "##########", "#....#...#", "#.w..#..s#", "#........#", "##########");
    static const char rest[] =
        "[grid]\nspacing=0.4\n[fluid]\nmanning=0.013\n[initial]\nkind='dry'\n"
        "[[source]]\nstorey=1\nat=[2,2]\nradius=0.5\n[[history]]\ntime=2\nvalue=0\n[[history]]\ntime=6\n"
        "value=0.8\n[time]\ninterval=0.5\n[stop]\ntime=20\n";
    bn_device *device = opened_device();
    run r = begin(case_text(2, rest), NULL, NULL), d = begin(case_text(2, rest), device, NULL);
    go_on(&r);
    go_on(&d);
    /* 0.4 m3/s for 20 s; from 0 at 2 s to 0.8 at 6 s, then on: 1.6 + 11.2. */
    near(result(&r, "volume_fed"), 0.4 * 20 + 1.6 + 11.2, 1e-9, "rates times time");
    ck_assert_double_gt(result(&r, "volume_left"), 0.5);
    ck_assert_double_le(result(&r, "volume_left"), 0.1 * 20);
    ck_assert_double_le(fabs(result(&r, "mass_error")), 1e-13);
    const unsigned *n;
    double *a = depths(&r, &n), *b = depths(&d, &n);
    ck_assert_int_eq(memcmp(a, b, (size_t)n[0] * n[1] * n[2] * sizeof *a), 0);
    free(a);
    free(b);
    end_run(&r);
    end_run(&d);
    r = begin(case_text(2, rest), NULL, "case.precision=single");
    go_on(&r);
    ck_assert_double_le(fabs(result(&r, "mass_error")), 5e-8); /* half a unit of the last place of single precision */
    end_run(&r);
}

TEST(a_thin_wall_holds)
{
    /* One pixel of 0.5 m between cells of 1.2 m, aslant too: nothing gets through. */
    DRAW(1, 1, "####################", "#........#.........#", "#.........#........#", "#..........#.......#",
         "#..........#.......#", "#.........#........#", "#........#.........#", "####################");
    run r = begin(
        case_text(1, "[grid]\nspacing=1.2\n[initial]\nkind='dry'\n[[source]]\nat=[2,2]\nrate=1\n[stop]\ntime=20\n"),
        NULL, NULL);
    go_on(&r);
    const unsigned *n;
    double *h = depths(&r, &n), right = 0, left = 0;
    for (unsigned j = 0; j < n[1]; j++)
        for (unsigned i = 0; i < n[0]; i++)
            *((double)i * 1.2 > 6.2 ? &right : &left) += h[j * n[0] + i];
    ck_assert_double_eq(right, 0);
    ck_assert_double_gt(left, 10);
    free(h);
    end_run(&r);
}

TEST(a_source_on_a_dry_floor_spreads_as_it_should)
{
    /* data/published/flood-central-source.csv: after 60 s the front (1 mm) is at 13.34 m. */
    static const char text[] =
        "[case]\nsolver='flood'\nprecision='double'\n[grid]\ncells=[64,74]\nspacing=0.5\n[fluid]\n"
        "manning=0.013\n[initial]\nkind='dry'\n[[source]]\nat=[16,16.02]\nradius=1\nrate=0.1\n"
        "[stop]\ntime=60\n";
    run r = begin(text, NULL, NULL);
    go_on(&r);
    near(result(&r, "volume"), 6, 6e-12, "rate times time");
    const double radius = sqrt(result(&r, "wet_area") / 3.14159265358979);
    near(radius, 13.34, 0.06 * 13.34 + 0.5, "radial solution");
    end_run(&r);
}

TEST(a_program_can_walk_beside_a_flood)
{
    DRAW(1, 2, "##########", "#........#", "#........#", "##########");
    DRAW(2, 2, "##########", "#........#", "#.w.....o#", "##########");
    run r = begin(case_text(2, "[grid]\nspacing=0.4\n[initial]\nkind='dry'\n[time]\ninterval=0.5\n[output]\nheights="
                               "true\ngauge_speeds=true\n"
                               "[[gauge]]\nstorey=2\nat=[4,2]\nname='door'\n[stop]\ntime=4\n"),
                  NULL, NULL);
    bn_flood_grid g;
    OK(bn_flood_describe(ctx, r.sim, &g));
    ck_assert_uint_eq(g.storeys, 2);
    ck_assert(g.hexagons);
    for (unsigned row = 0; row < g.rows; row++)
        for (unsigned cell = 0; cell < g.cells; cell++) {
            double x[2];
            unsigned i = 0, j = 0;
            bn_flood_place(&g, cell, row, x);
            ck_assert(bn_flood_find(&g, (const double[]){ x[0] + 0.1, x[1] - 0.15 }, &i, &j));
            ck_assert(i == cell && j == row);
        }
    OK(bn_flood_advance(ctx, r.sim, 2));
    OK(bn_flood_advance(ctx, r.sim, 2));
    near(bn_sim_now(r.sim).time, 4, 1e-12, "two and two seconds");
    const size_t cells = (size_t)g.cells * g.rows;
    double *depth = malloc(cells * sizeof *depth), *speed = malloc(cells * sizeof *speed), sum = 0, fastest = 0;
    for (unsigned storey = 1; storey <= 2; storey++) {
        OK(bn_flood_read(ctx, r.sim, storey, depth, speed, cells));
        for (size_t at = 0; at < cells; at++) {
            sum += depth[at] * g.spacing * g.row;
            fastest = fmax(fastest, speed[at]);
        }
    }
    near(sum, 4 * 0.4, 1e-12, "time times rate");
    ck_assert_double_gt(fastest, 0.1);
    ck_assert_int_eq(bn_flood_read(ctx, r.sim, 3, depth, speed, cells), BN_USAGE);
    bn_error_clear(ctx);
    /* What the gauge saw, and the cells' heights in centimetres. */
    OK(bn_sim_measure(r.sim));
    unsigned cell, row;
    const bn_column *columns;
    size_t count, rows;
    ck_assert_str_eq(bn_results_table_at(bn_sim_results(r.sim), 0, &columns, &count, &rows), "gauges");
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(rows, 8);
    OK(bn_flood_read(ctx, r.sim, 2, depth, speed, cells));
    ck_assert(bn_flood_find(&g, (const double[]){ 4, 2 }, &cell, &row));
    ck_assert_double_eq(columns[0].values[7], 4);
    ck_assert_double_eq(columns[1].values[7], depth[(size_t)row * g.cells + cell]);
    ck_assert_str_eq(columns[1].name, "door");
    ck_assert_str_eq(bn_results_table_at(bn_sim_results(r.sim), 1, &columns, &count, &rows), "gauge_speeds");
    ck_assert_double_eq(columns[1].values[7], speed[(size_t)row * g.cells + cell]);
    ck_assert_double_gt(columns[1].values[7], 0);
    ck_assert_str_eq(bn_results_table_at(bn_sim_results(r.sim), 2, &columns, &count, &rows), "heights");
    double heights = 0;
    for (size_t i = 0; i < rows; i++)
        heights += columns[3].values[i] / 100 * g.spacing * g.row;
    near(heights, sum, 0.01 * sum, "all but what is shallower than output.wet");
    ck_assert_int_eq(bn_flood_advance(ctx, r.sim, 0.7), BN_USAGE);
    bn_error_clear(ctx);
    free(depth);
    free(speed);
    end_run(&r);
}

TEST(plans_that_make_no_sense_are_rejected)
{
    static const char grid[] = "[grid]\nspacing=0.5\n";
    DRAW(1, 1, "######", "#....#", "#....#", "######");
    DRAW(2, 1, "######", "#....#", "#..x.#", "######");
    rejected_case(case_text(2, grid), BN_CASE, "storey 2: the pixel in column 3, row 2 has the colour #123456");
    DRAW(2, 1, "#######", "#.....#", "#.....#", "#######");
    rejected_case(case_text(2, grid), BN_CASE, "storey 2: the plan has 7 x 4 pixels, those below have 6 x 4");
    DRAW(1, 1, "######", "#.####", "#....#", "######");
    DRAW(2, 1, "######", "#..s.#", "#....#", "######");
    rejected_case(case_text(2, "[grid]\nkind='square'\nspacing=0.5\n"), BN_CASE,
                  "storey 2: the stair in column 3, row 1 ends in a wall of storey 1");
    rejected_case(case_text(1, "[grid]\ncells=[6,4]\n"), BN_CASE, "the plans and grid.spacing decide");
    DRAW(1, 1, "######", "#..s.#", "#....#", "######");
    rejected_case(case_text(1, grid), BN_CASE, "storey 1: the stair in column 3, row 1 leads nowhere");
    DRAW(1, 1, "######", "#....#", "#....#", "######");
    rejected_case(case_text(1, "[grid]\nspacing=0.5\n[[source]]\nat=[90,1]\n"), BN_CASE, "outside of storey 1");
    rejected_case(case_text(1, "[grid]\nspacing=0.5\n[[source]]\nat=[0.1,1]\n"), BN_CASE, "lies in a wall of storey 1");
    rejected_case(case_text(1, "[grid]\nspacing=0.5\n[[source]]\nstorey=3\nat=[1,1]\n"), BN_CASE,
                  "there are only 1 storeys");
    rejected_case(case_text(1, "[grid]\nspacing=0.5\n[[gauge]]\nat=[50,1]\n"), BN_CASE,
                  "gauge 1: (50 m, 1 m) lies outside");
    rejected_case(case_text(1, "[[source]]\nat=[1,1]\n[[history]]\ntime=5\n[[history]]\ntime=4\n"), BN_CASE,
                  "times must grow");
    rejected_case("[case]\nsolver='flood'\n[[storey]]\nplan='/nowhere.png'\n", BN_IO, "/nowhere.png");
}

int main(void) { return bn_test_main("building", open_folder, close_folder); }
