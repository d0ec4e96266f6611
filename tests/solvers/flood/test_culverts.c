/* test_culverts.c: culverts against the formulas of HDS-5, their levelling in closed form; drains against HEC-22. */
#include "support_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "[case]\nsolver='flood'\nprecision='double'\n"
static const double g = 9.81;

/* Two square rooms, each of so many cells along a side, a metre apart; on a plane. */
static const char *rooms(char text[2048], int side, const char *levels, double dt, const char *rest)
{
    const double a = 0.5 * side, b = a + 1, c = 2 * a + 1;
    snprintf(text, 2048,
             HEAD "[grid]\nkind='square'\nspacing=0.5\n[fluid]\ngravity=9.81\n[[storey]]\nplan='MULTIPOLYGON (((0 0, "
                  "%g 0, %g %g, 0 %g, 0 0)), ((%g 0, %g 0, %g %g, %g %g, %g 0)))'\n[initial]\nkind='dam'\nlevels=%s\n"
                  "[time]\ndt_max=%.17g\ninterval=%.17g\n%s",
             a, a, a, a, b, c, c, a, b, a, b, levels, dt, dt, rest);
    return text;
}

typedef struct culvert {
    double high, low; /* levels */
    double width, height, sill[2], length, manning, entrance;
    int barrels;
} culvert;

enum { WEIR, BETWEEN, ORIFICE, FULL, PARTLY, CONTROLS };

/* Discharge [m3/s] from the end 0 to the end 1, by HDS-5; and what controls it. */
static double discharge(const culvert *c, int *control)
{
    const double level[2] = { c->high, c->low }, D = c->height, W = c->width * c->barrels;
    const double head = level[0] - fmax(c->sill[0], c->sill[1]), Ku = 1.811;
    const double first = 0.515 * pow(3.5, 2.0 / 3), second = 0.0375 * 16 + 0.79;
    double star; /* Ku Q / (A sqrt D) */
    if (head / D < first)
        star = pow(head / D / 0.515, 1.5), *control = WEIR;
    else if (head / D < second)
        star = 3.5 + 0.5 * (head / D - first) / (second - first), *control = BETWEEN;
    else
        star = sqrt((head / D - 0.79) / 0.0375), *control = ORIFICE;
    const double inlet = star * W * D * sqrt(D) / Ku, q = inlet / W;
    const double deep = fmax(level[1] - c->sill[1], fmin(cbrt(q * q / g), D));
    const double R = c->width * D / (2 * (c->width + D));
    const double heads = 1 + c->entrance + 2 * g * c->manning * c->manning * c->length / pow(R, 4.0 / 3);
    const double fall = fmax(level[0] - c->sill[1] - deep, 0), outlet = W * fmin(deep, D) * sqrt(2 * g * fall / heads);
    if (outlet < inlet)
        *control = deep >= D ? FULL : PARTLY;
    return fmin(inlet, outlet);
}

/* In a step from rest only the culvert moves water; it arrives in the next step. */
TEST(culverts_carry_what_hds_5_says)
{
    static const culvert all[] = {
        { 0.5, 0, 0.4, 1, { 0, 0 }, 2, 0.013, 0.1, 1 },       { 0.5, 0, 0.4, 1, { 0.1, 0.02 }, 2, 0.013, 0.1, 1 },
        { 0.64, 0, 0.4, 0.5, { 0, 0 }, 2, 0, 0.1, 1 },        { 1.5, 0.1, 0.4, 0.5, { 0.3, 0 }, 2, 0.013, 0.2, 1 },
        { 1.5, 1.2, 0.4, 0.5, { 0, 0.1 }, 2, 0.013, 0.5, 1 }, { 1.5, 1.2, 0.3, 0.5, { 0, 0 }, 200, 0.02, 0.5, 3 },
        { 0.5, 0.4, 0.4, 1, { 0.1, 0.2 }, 30, 0.013, 0.5, 1 }
    };
    const double dt = 1e-3, area = 0.25;
    bool seen[CONTROLS] = { false };
    for (size_t i = 0; i < 2 * sizeof all / sizeof *all; i++) {
        const culvert *c = &all[i / 2];
        const bool back = i % 2; /* the end `to` is the upper one */
        char text[2048], levels[64], rest[600];
        const double at[2][2] = { { 1.25, 0.75 }, { 3.75, 0.75 } };
        int control, cells = (int)ceil(c->width * c->barrels / 0.5 - 1e-9);
        snprintf(levels, sizeof levels, "[%.17g,%.17g]", c->high, c->low);
        snprintf(rest, sizeof rest,
                 "[stop]\nsteps=2\n[[culvert]]\nfrom=[%g,%g]\nto=[%g,%g]\nwidth=%g\nheight=%g\nsills=[%.17g,%.17g]\n"
                 "length=%g\nmanning=%g\nentrance=%g\nbarrels=%d\n",
                 at[back][0], at[back][1], at[!back][0], at[!back][1], c->width, c->height, c->sill[back],
                 c->sill[!back], c->length, c->manning, c->entrance, c->barrels);
        bn_case *config;
        run r;
        OK(bn_case_parse(ctx, "test.toml", rooms(text, 4, levels, dt, rest), NULL, 0, &config));
        r.config = config;
        OK(bn_sim_create(ctx, config, &(bn_sim_desc){ 0 }, &r.sim));
        OK(bn_sim_step(r.sim));
        double *h = field(&r, "depth", NULL), left[2] = { 0 };
        for (int cell = 0; cell < 40; cell++)
            left[cell % 10 >= 5] += area * h[cell];
        const double Q = discharge(c, &control);
        seen[control] = true;
        near(4 * c->high - left[0], dt * Q, 1e-14, "what goes in");
        near(left[1], 4 * c->low, 1e-14, "nothing has arrived");
        near(c->high - h[12], dt * Q / cells / area, 1e-14, "its cells share it");
        free(h);
        OK(bn_sim_step(r.sim));
        OK(bn_sim_measure(r.sim));
        near(result(&r, "mass_error"), 0, 1e-15, "what is on its way counts");
        h = field(&r, "depth", NULL);
        near(h[17], c->low + dt * Q / cells / area, 1e-9, "what went in a step before; waves begin beside it");
        free(h);
        end_run(&r);
    }
    for (int control = 0; control < CONTROLS; control++)
        ck_assert_msg(seen[control], "no case with control %d", control);
}

/* A culvert as wide as the rooms, full at both ends: sqrt of the difference of levels falls by b D sqrt(2 g / losses) /
 * A a second. The same from right to left. */
TEST(two_basins_level_out_in_the_time_of_the_closed_form)
{
    static const char ends[2][80] = { "from=[0.5,0.5]\nto=[2.5,0.5]\n", "from=[2.5,0.5]\nto=[0.5,0.5]\n" };
    const double time = 0.3, root = sqrt(0.4) - time * 2 * 0.2 * sqrt(2 * g / 3), exact = 0.8 + root * root / 2;
    double error[2];
    for (int fine = 0; fine < 2; fine++) {
        double first = 0;
        for (int mirrored = 0; mirrored < 2; mirrored++) {
            char text[2048], rest[400];
            snprintf(rest, sizeof rest, "[stop]\ntime=0.3\n[[culvert]]\n%swidth=2\nheight=0.2\nmanning=0\nentrance=2\n",
                     ends[mirrored]);
            run r = RUN(rooms(text, 2, mirrored ? "[0.6,1.0]" : "[1.0,0.6]", fine ? 1e-3 : 2e-3, rest), NULL,
                        "solver.order=1");
            double *h = field(&r, "depth", NULL);
            const double high = h[mirrored ? 4 : 0], low = h[mirrored ? 0 : 4];
            for (int cell = 0; cell < 12; cell++)
                if (cell % 6 < 2 || cell % 6 > 3)
                    ck_assert_double_eq(h[cell], (cell % 6 < 2) == !mirrored ? high : low);
            near(result(&r, "mass_error"), 0, 1e-15, "mass");
            if (mirrored)
                ck_assert_double_eq(high, first);
            first = high;
            error[fine] = high - exact;
            free(h);
            end_run(&r);
        }
    }
    /* t dt h'' / 2 of explicit steps, h'' = (2 b D)^2 g / losses / A^2. */
    ck_assert_double_le(fabs(error[1]), time * 1e-3 / 2 * (2 * 2 * 0.2) * (2 * 2 * 0.2) * g / 3);
    ck_assert_msg(error[0] / error[1] > 1.9 && error[0] / error[1] < 2.1, "errors %g and %g", error[0], error[1]);
}

/* From an upper storey. */
TEST(culverts_join_storeys)
{
    run r = RUN(HEAD "[grid]\ncells=[8,8]\nspacing=0.5\n[[storey]]\n[[storey]]\nheight=3\n[initial]\nkind='depth'\n"
                     "storey=2\nlevel=0.5\n[[culvert]]\nfrom=[1,1]\nto=[3,2]\nfrom_storey=2\nto_storey=1\nwidth=0.3\n"
                     "height=0.3\n[time]\ninterval=0.1\n[stop]\ntime=1\n",
                NULL, "solver.order=1");
    double *h = field(&r, "depth", NULL), below = 0;
    for (int cell = 0; cell < 64; cell++)
        below += 0.25 * sqrt(0.75) * h[cell];
    const culvert c = { 3.5, 0, 0.3, 0.3, { 3, 0 }, sqrt(5), 0.013, 0.5, 1 };
    int control;
    near(below, discharge(&c, &control), 0.2 * below, "a second of it, drawn down at the inlet");
    near(result(&r, "mass_error"), 0, 1e-15, "mass");
    free(h);
    end_run(&r);
}

TEST(drains_take_what_hec_22_says)
{
    static const struct {
        double depth;
        const char *keys;
    } all[] = { { 0.05, "perimeter=1.2\narea=0.2\n" },
                { 0.9, "perimeter=1.2\narea=0.05\n" },
                { 0.9, "perimeter=1.2\narea=0.05\nrate=0.03\n" },
                { 0.9, "rate=0.03\n" },
                { 0.04, "perimeter=1.2\n" },
                { 0.04, "area=0.05\n" } };
    const double dt = 1e-3;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[1024];
        const double h = all[i].depth, weir = 1.66 * 1.2 * h * sqrt(h), orifice = 0.67 * 0.05 * sqrt(2 * g * h);
        const double Q = (const double[]){ weir, orifice, 0.03, 0.03, weir, orifice }[i];
        snprintf(text, sizeof text,
                 HEAD "[grid]\nkind='square'\ncells=[8,8]\nspacing=0.5\n[[storey]]\n[[storey]]\nheight=9\n[initial]\n"
                      "kind='depth'\nlevel=%g\n[[drain]]\nstorey=2\nat=[2.2,1.7]\nradius=0.6\n%s[time]\n"
                      "dt_max=%g\ninterval=%g\n[stop]\nsteps=1\n",
                 h, all[i].keys, dt, dt);
        run r = RUN(text, NULL, "solver.order=1");
        double *depth = field(&r, "depth", NULL);
        int cells = 0;
        for (int at = 0; at < 64; at++)
            cells += hypot((at % 8 + 0.5) * 0.5 - 2.2, (at / 8 + 0.5) * 0.5 - 1.7) <= 0.6;
        for (int at = 0; at < 64; at++) {
            const bool inside = hypot((at % 8 + 0.5) * 0.5 - 2.2, (at / 8 + 0.5) * 0.5 - 1.7) <= 0.6;
            near(depth[64 + at], inside ? h - dt * Q / cells / 0.25 : h, 1e-14, "drain");
            near(depth[at], h, 1e-14, "the lower storey");
        }
        ck_assert_int_gt(cells, 3);
        near(result(&r, "volume_left"), dt * Q, 1e-16, "rate times time");
        free(depth);
        end_run(&r);
    }
}

TEST(places_that_make_no_sense_are_rejected)
{
#define GRID "[case]\nsolver='flood'\n[grid]\ncells=[8,8]\nspacing=0.5\n"
    rejected_case(GRID "[[drain]]\nat=[1,1]\n", BN_CASE, "drain 1: what does it take?");
    rejected_case(GRID "[[drain]]\nat=[9,1]\nrate=1\n", BN_CASE, "drain 1: (9 m, 1 m) lies outside of storey 1");
    rejected_case(GRID "[[source]]\nat=[1,1]\n[[drain]]\nat=[1,1]\nrate=1\n", BN_CASE, "drain 1 overlaps");
    rejected_case(GRID "[[culvert]]\nfrom=[1,1]\nto=[7,1]\n", BN_CASE, "culvert 1: (7 m, 1 m) lies outside");
    rejected_case(GRID "[[culvert]]\nfrom=[1,1]\nto=[3,1]\nto_storey=2\n", BN_CASE, "there are only 1 storeys");
    rejected_case(GRID "[[culvert]]\nfrom=[1,1]\nto=[3,1]\nwidth=40\n", BN_CASE, "there is no room for 40 m");
}

int main(void) { return bn_test_main("culverts and drains", open_context, close_context); }
