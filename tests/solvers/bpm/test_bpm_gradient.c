/* test_bpm_gradient.c: index maps, and gradients of what a beam ends with against central differences. */
#include "support_case.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 30, COLUMNS = 12, PIXELS = ROWS * COLUMNS };

/* A guide over the first column, so that the map changes neither the field that enters nor the mode; a wider one over
 * the middle of a pixel further on. The first column of the map is the background. */
static const char design[] =
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 64\nwidth = 8e-6\n[light]\nwavelength = 1e-6\n"
    "[material]\nindex = 1.45\nreference_index = 1.47\nmap = \"design\"\n"
    "[[structure]]\nindex = 1.5\nwidth = 2e-6\nto = 1e-6\n[[structure]]\nindex = 1.5\nwidth = 2.11e-6\nfrom = 8e-6\n"
    "[march]\nlength = 12e-6\ndz = 0.1e-6\nrecords = 7\n[launch]\nkind = \"mode\"\n[output]\nmap = false\n"
    "[[port]]\nfrom = 4.3e-6\nto = 6.21e-6\n";

static void make_map(double *map, double *direction)
{
    srand(1);
    for (int i = 0; i < PIXELS; i++) {
        const bool fixed = i % COLUMNS == 0;
        map[i] = fixed ? 1.45 : 1.45 + 0.05 * rand() / RAND_MAX;
        direction[i] = fixed ? 0 : 2.0 * rand() / RAND_MAX - 1;
    }
}

/* The design with `step` times the direction on its map, at its end. */
static run march(const double *map, const double *direction, double step, bn_device *device, const char *key)
{
    run r;
    double changed[PIXELS];
    for (int i = 0; i < PIXELS; i++)
        changed[i] = map[i] + step * direction[i];
    OK(bn_case_parse(ctx, "design.toml", design, &key, 1, &r.config));
    OK(bn_case_give(r.config, "design", (const unsigned[3]){ COLUMNS, ROWS, 1 }, changed));
    OK(bn_sim_create(ctx, r.config, &(bn_sim_desc){ .device = device }, &r.sim));
    OK(bn_sim_advance(r.sim, 0, NULL));
    OK(bn_sim_measure(r.sim));
    return r;
}

static const char *const results[] = { "power", "port_1", "overlap_start", "overlap_mirror", "overlap_mode" };
enum { RESULTS = sizeof results / sizeof *results };

/* Differences over steps of h and h / 2, extrapolated, are off by h^4 of the fifth derivative: 1e-10 of the largest
 * result, measured. Device and reference have equal fields, so equal gradients. */
TEST(gradients_are_those_of_differences)
{
    static const char *const keys[] = { "march.wide_angle=false", "march.wide_angle=true", "march.theta=0.55",
                                        "walls={ kind = \"pml\", thickness = \"1 um\" }",
                                        "batch={ count = 2, wavelength = [1e-6, 1.05e-6] }" };
    static const double steps[] = { 1e-4, -1e-4, 0.5e-4, -0.5e-4 };
    double map[PIXELS], direction[PIXELS], gradient[RESULTS][PIXELS], same[PIXELS], value[4][RESULTS];
    bn_device *device = opened_device();
    make_map(map, direction);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        for (int i = 0; i < 4; i++) {
            run r = march(map, direction, steps[i], NULL, keys[k]);
            for (int f = 0; f < RESULTS; f++)
                value[i][f] = result(&r, results[f]);
            end_run(&r);
        }
        run here = march(map, direction, 0, NULL, keys[k]), there = march(map, direction, 0, device, keys[k]);
        for (int f = 0; f < RESULTS; f++) {
            const double wide = (value[0][f] - value[1][f]) / 2e-4, narrow = (value[2][f] - value[3][f]) / 1e-4;
            double along = 0;
            OK(bn_sim_gradient(here.sim, results[f], NULL, NULL, gradient[f]));
            OK(bn_sim_gradient(there.sim, results[f], NULL, NULL, same));
            ck_assert_msg(memcmp(gradient[f], same, sizeof same) == 0, "%s: the device has other bits", keys[k]);
            for (int i = 0; i < PIXELS; i++)
                along += gradient[f][i] * direction[i];
            near(along, (4 * narrow - wide) / 3, 3e-10, results[f]);
        }
        same_fields(&here, &there, (const char *const[]){ "psi", "envelope" }, 2, "after gradients");
        end_run(&here);
        end_run(&there);
    }
}

/* The slopes of the power, given by hand, and a simulation that goes on after a gradient as without. */
TEST(slopes_of_a_field_and_a_march_that_goes_on)
{
    double map[PIXELS], direction[PIXELS], one[PIXELS], other[PIXELS];
    size_t count;
    make_map(map, direction);
    run r = march(map, direction, 0, NULL, "stop.steps=4"), whole = march(map, direction, 0, NULL, "stop.steps=100");
    double *slopes = field(&r, "envelope", &count), power = 0;
    ck_assert_uint_eq(count, 2 * 63);
    OK(bn_sim_gradient(r.sim, "power", NULL, NULL, one));
    for (size_t i = 0; i < count; i++)
        power += slopes[i] * slopes[i];
    for (size_t i = 0; i < count; i++)
        slopes[i] *= 2 * result(&r, "power") / power;
    OK(bn_sim_gradient(r.sim, "envelope", slopes, NULL, other));
    for (int i = 0; i < PIXELS; i++)
        near(other[i], one[i], 1e-15, "slopes by hand");
    for (int i = 0; i < 3; i++)
        OK(bn_sim_step(r.sim));
    same_fields(&r, &whole, (const char *const[]){ "psi" }, 1, "after a gradient");
    free(slopes);
    end_run(&r);
    end_run(&whole);
}

/* A straight guide of one structure, and as a map: six rows of 1.5 among thirty. */
TEST(a_map_is_the_guide_that_it_shows)
{
    double map[PIXELS], none[PIXELS] = { 0 };
    for (int i = 0; i < PIXELS; i++) {
        const int row = i / COLUMNS;
        map[i] = row >= 6 && row < 12 ? 1.5 : 1.45;
    }
    run drawn = march(map, none, 0, NULL, "structure=[]");
    for (int i = 0; i < PIXELS; i++)
        map[i] = 1.45;
    run built = march(map, none, 0, NULL, "structure=[{ index = 1.5, width = 1.6e-6, centre = 2.4e-6 }]");
    near(result(&drawn, "n_eff"), result(&built, "n_eff"), 1e-13, "n_eff");
    near(result(&drawn, "port_1"), result(&built, "port_1"), 1e-13, "port");
    end_run(&drawn);
    end_run(&built);
}

TEST(what_has_no_gradient_says_so)
{
    double map[PIXELS], direction[PIXELS], gradient[PIXELS];
    unsigned n[3];
    make_map(map, direction);
    run r = march(map, direction, 0, NULL, "stop.steps=1");
    ck_assert(bn_sim_map(r.sim, n) && n[0] == COLUMNS && n[1] == ROWS && n[2] == 1);
    ck_assert_int_eq(bn_sim_gradient(r.sim, "peak", NULL, NULL, gradient), BN_USAGE);
    ck_assert(strstr(bn_error_text(ctx), "peak"));
    bn_error_clear(ctx);
    end_run(&r);
    r = march(map, direction, 0, NULL, "light.polarisation=tm");
    ck_assert_int_eq(bn_sim_gradient(r.sim, "power", NULL, NULL, gradient), BN_USAGE);
    ck_assert(strstr(bn_error_text(ctx), "TM"));
    bn_error_clear(ctx);
    end_run(&r);
    r = RUN("[case]\nsolver = \"bpm\"\n[grid]\ncells = 32\n[march]\nlength = 1e-6\n[launch]\nkind = \"gaussian\"\n",
            NULL, "stop.steps=1");
    ck_assert_int_eq(bn_sim_gradient(r.sim, "power", NULL, NULL, gradient), BN_USAGE);
    ck_assert(strstr(bn_error_text(ctx), "no index map"));
    bn_error_clear(ctx);
    end_run(&r);
    ck_assert_int_eq(bn_case_parse(ctx, "design.toml", design, NULL, 0, &r.config), BN_OK);
    ck_assert_int_eq(bn_case_give(r.config, "design", (const unsigned[3]){ 0, 3, 1 }, map), BN_USAGE);
    bn_error_clear(ctx);
    map[7] = 0 / 0.0;
    OK(bn_case_give(r.config, "design", (const unsigned[3]){ COLUMNS, ROWS, 1 }, map));
    ck_assert_int_eq(bn_sim_create(ctx, r.config, &(bn_sim_desc){ .boxes = 1 }, &r.sim), BN_CASE);
    ck_assert(strstr(bn_error_text(ctx), "column 7"));
    bn_error_clear(ctx);
    bn_case_destroy(&r.config);
}

int main(void) { return bn_test_main("bpm-gradient", open_context, close_context); }
