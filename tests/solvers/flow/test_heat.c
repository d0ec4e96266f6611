/* test_heat.c: temperature, natural convection, obstacles and segments of the solver `flow`, through the library's
 * public interface: discrete laws, published numbers, conservation, equal bits of device and reference, cases that must
 * be rejected. */
#include "support_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* --- diffusion: the discrete laws --- */

static const char still_case[] =
    "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [33, 33]\n"
    "[fluid]\nviscosity = 0.01\ndiffusivity = 0.01\n[boundary.top]\nspeed = 0\n"
    "[time]\ndt = 0.01\n[solver]\ncg_forcing = 0\ncg_tolerance = 1e-12\n[stop]\nsteps = 50\n";

/* Half a wave decays by 1 / (1 + a dt lambda) a step, lambda = 8 / h^2 sin^2(pi h / 2), between sides whose temperature
 * is given (sine) and between insulated ones (cosine): mirrored ghost nodes keep the second order. */
static void check_mode(const char *mode, const char *method, bool given)
{
    const double h = 1.0 / 32, s = sin(0.5 * pi * h), left = pow(1 + 0.01 * 0.01 * 8 / (h * h) * s * s, -50);
    run r = given ? RUN(still_case, NULL, mode, method, "boundary.left.heat=given", "boundary.right.heat=given",
                        "boundary.bottom.heat=given", "boundary.top.heat=given")
                  : RUN(still_case, NULL, mode, method);
    size_t count;
    double *T = field(&r, "temperature", &count);
    for (size_t j = 0; j < 33; j++)
        for (size_t i = 0; i < 33; i++) {
            const double x = pi * (double)i * h, y = pi * (double)j * h;
            near(T[j * 33 + i], left * (given ? sin(x) * sin(y) : cos(x) * cos(y)), 7e-14, "discrete decay");
        }
    /* The trapezoids of a half wave of sines add up to h cot(pi h / 2), of cosines to nothing. */
    near(result(&r, "temperature_mean"), given ? left * pow(h / tan(0.5 * pi * h), 2) : 0, 5e-15, "the wave's mean");
    near(result(&r, "temperature_max"), left, 1.2e-14, "the wave's crest");
    near(result(&r, "temperature_min"), given ? 0 : -left, 1.2e-14, "the wave's trough");
    free(T);
    end_run(&r);
}

TEST(heat_decays_by_its_discrete_factor)
{
    check_mode("initial.heat=sine", "solver.diffusion=fft", true);
    check_mode("initial.heat=sine", "solver.diffusion=cg", true);
    check_mode("initial.heat=cosine", "solver.diffusion=fft", false);
    check_mode("initial.heat=cosine", "solver.diffusion=cg", false);
}

/* Without sources and with insulated sides the heat stays: exactly, for conduction around an obstacle too. */
TEST(insulated_boxes_keep_their_heat)
{
    run r = RUN(still_case, NULL, "initial.heat=cosine", "initial.temperature=3", "obstacle.shape=ellipse",
                "obstacle.centre=[0.3,0.6]", "obstacle.size=[0.3,0.4]", "solver.diffusion=cg");
    size_t count;
    double *T = field(&r, "temperature", &count);
    /* Control volumes: the quarters of the cells that are not solid around each node. */
    double sum = 0, start = 0;
    bool solid[33][33];
    for (int j = 0; j < 33; j++)
        for (int i = 0; i < 33; i++) {
            const double dx = (i / 32.0 - 0.3) / 0.3, dy = (j / 32.0 - 0.6) / 0.4;
            solid[j][i] = dx * dx + dy * dy <= 0.25 * (1 + 1e-9);
        }
    for (int j = 0; j < 32; j++)
        for (int i = 0; i < 32; i++) {
            if (solid[j][i] && solid[j][i + 1] && solid[j + 1][i] && solid[j + 1][i + 1])
                continue;
            for (int c = 0; c < 4; c++) {
                const int x = i + c % 2, y = j + c / 2;
                sum += T[y * 33 + x];
                start += 3 + cos(pi * x / 32) * cos(pi * y / 32);
            }
        }
    near(sum / start, 1, 7e-15, "heat");
    free(T);
    end_run(&r);
}

/* --- natural convection (de Vahl Davis 1983) --- */

static const char warm_case[] =
    "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[fluid]\nviscosity = 0.71\n"
    "diffusivity = 1\n[boundary.left]\nheat = \"given\"\ntemperature = 1\n[boundary.right]\n"
    "heat = \"given\"\n[boundary.top]\nspeed = 0\n[initial]\ntemperature = 0.5\n[solver]\n"
    "steady = \"newton\"\nsteady_tolerance = 1e-8\n[stop]\nsteps = 100\n";

static double published(double rayleigh, const char *quantity)
{
    FILE *file = fopen("data/published/flow-natural-convection.csv", "r");
    ck_assert_ptr_nonnull(file);
    char line[256], name[32], dvd[32];
    double found = (double)NAN, ra, value;
    while (fgets(line, sizeof line, file))
        if ((sscanf(line, "%lf,%31[^,],%31[^,],%lf", &ra, name, dvd, &value) == 4 ||
             sscanf(line, "%lf,%31[^,],,%lf", &ra, name, &value) == 3) &&
            ra == rayleigh && strcmp(name, quantity) == 0)
            found = value;
    fclose(file);
    ck_assert_msg(isfinite(found), "no %s at Ra %g", quantity, rayleigh);
    return found;
}

/* What is measured, and what it is called in the published table. */
enum { QUANTITIES = 12 };
static const char *const quantities[QUANTITIES][2] = {
    { "nusselt_mean", "Numid" },
    { "nusselt_left", "Nu0" },
    { "nusselt_right", "Nu0" },
    { "nusselt_middle", "Numid" },
    { "u_max", "umax" },
    { "u_max_y", "yu" },
    { "v_max", "vmax" },
    { "v_max_x", "xv" },
    { "nusselt_left_max", "numax" },
    { "nusselt_left_max_y", "ynm" },
    { "nusselt_left_min", "numin" },
    { "psi_min", "psi_max" },
};

static run run_convection(double rayleigh, int nodes, const char *convection, const char *wall)
{
    char grid[64], buoyancy[64];
    snprintf(grid, sizeof grid, "grid.nodes=[%d,%d]", nodes, nodes);
    snprintf(buoyancy, sizeof buoyancy, "fluid.buoyancy=%.10g", 0.71 * rayleigh);
    return RUN(warm_case, NULL, grid, buoyancy, convection, wall);
}

/* The grid's error is of second order: on 65 nodes it is what stands here, on 129 nodes a quarter of it. Limits are
 * twice that, and the digits of the published values. */
TEST(natural_convection_is_the_published_one)
{
    static const struct {
        double rayleigh, error[QUANTITIES];
    } cases[] = {
        { 1e3, { 8.8e-4, 7e-4, 7e-4, 7.4e-4, 6.4e-3, 5e-4, 6.9e-3, 5.5e-4, 2.1e-3, 2e-3, 1.2e-3, 2.3e-4 } },
        { 1e4, { 5.8e-3, 2.9e-3, 2.9e-3, 6.6e-3, 1.4e-3, 4.9e-4, 5.2e-2, 1e-3, 3.2e-3, 2e-3, 2.9e-3, 9.2e-3 } },
        { 1e5, { 2.4e-2, 6.8e-3, 6.8e-3, 2e-2, 1.2e-1, 1.4e-4, 5.8e-1, 1.5e-3, 7e-2, 4.5e-3, 1.2e-2, 4.4e-2 } },
        { 1e6, { 7e-2, 1.7e-1, 1.7e-1, 3e-2, 8.5e-1, 1.8e-3, 7.5, 2.7e-3, 7e-1, 1.2e-2, 4e-2, 2.5e-1 } },
    };
    for (int i = 0; i < 4; i++) {
        run r = run_convection(cases[i].rayleigh, long_tests() ? 129 : 65, NULL, NULL);
        for (int q = 0; q < QUANTITIES; q++) {
            const double value = result(&r, quantities[q][0]),
                         expected = published(cases[i].rayleigh, quantities[q][1]);
            near(q == 11 ? -value : value, expected,
                 2 * cases[i].error[q] / (long_tests() ? 4 : 1) + 1e-6 * fabs(expected), quantities[q][0]);
        }
        near(result(&r, "nusselt_left_min_y"), 1, 0, "in the corner");
        end_run(&r);
    }
}

/* Orders by three grids: |psi| in the middle, with Thom, central (1.98 and 1.99); with Woods, upwind (0.96 and 1.02).
 */
TEST(errors_fall_with_the_order_of_the_differences)
{
    double error[2][3];
    for (int k = 0; k < 3; k++)
        for (int upwind = 0; upwind < 2; upwind++) {
            run r = run_convection(1e3, (16 << k) + 1,
                                   upwind ? "solver.convection=upwind" : "solver.convection=central",
                                   upwind ? "solver.wall_vorticity=woods" : "solver.wall_vorticity=thom");
            error[upwind][k] = fabs(-result(&r, "psi_min") - published(1e3, "psi_max"));
            end_run(&r);
        }
    for (int k = 0; k < 2; k++) {
        near(log2(error[0][k] / error[0][k + 1]), 2, 0.04, "central differences");
        near(log2(error[1][k] / error[1][k + 1]), 1, 0.08, "upwind differences");
    }
}

/* --- obstacles --- */

static const char body_case[] =
    "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [97, 33]\nsize = [3, 1]\n[fluid]\nviscosity = "
    "0.05\n"
    "diffusivity = 0.05\n[boundary.left]\nkind = \"inflow\"\nspeed = 1\n[boundary.right]\nkind = \"outflow\"\n"
    "[boundary.top]\nspeed = 0\n[obstacle]\nshape = \"rectangle\"\ncentre = [1, 0.5]\nsize = [0.25, 0.25]\n";

/* In the middle of a symmetric channel the flow parts in equal halves; off the middle more passes where the gap is
 * wider, and mirrored, what passes below passes above. */
TEST(flow_parts_evenly_around_a_body_in_the_middle)
{
    static const char *const centres[] = { "obstacle.centre=[1,0.5]", "obstacle.centre=[1,0.4375]",
                                           "obstacle.centre=[1,0.5625]" };
    double psi[3];
    for (int k = 0; k < 3; k++) {
        run r = RUN(body_case, NULL, "grid.nodes=[49,17]", "stop.steps=40", centres[k], "solver.cg_forcing=0",
                    "solver.cg_tolerance=1e-13");
        psi[k] = result(&r, "psi_body");
        end_run(&r);
    }
    near(psi[0], 0.5, 1e-15, "stream function on the body");
    ck_assert_msg(psi[1] < 0.47 && psi[1] > 0.2, "psi on the lower body is %g", psi[1]);
    near(psi[2], 1 - psi[1], 3e-15, "mirror image");
}

/* --- the device --- */

TEST(device_equals_reference_with_heat_and_obstacles)
{
    static const char *const variants[][8] = {
        { "stop.steps=3", "fluid.buoyancy=2", "obstacle.heat=given", "obstacle.temperature=1", "solver.poisson=cg",
          "solver.wall_vorticity=woods" },
        { "stop.steps=3", "fluid.buoyancy=-2", "obstacle.shape=ellipse", "obstacle.centre=[1,0.1]",
          "boundary.bottom.heat=given", "boundary.bottom.temperature=1", "solver.convection=upwind",
          "solver.diffusion=cg" },
    };
    without_optimiser(true);
    bn_device *device = opened_device();
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        for (int p = 0; p < (bn_device_describe(device)->fp64 && v == 1 ? 2 : 1); p++) {
            const char *overrides[12] = { p ? "case.precision=double" : "case.precision=single" };
            for (size_t i = 0; i < 8 && variants[v][i]; i++)
                overrides[1 + i] = variants[v][i];
            run a = run_case(body_case, NULL, overrides), b = run_case(body_case, device, overrides);
            near(bn_sim_now(b.sim).residual, bn_sim_now(a.sim).residual, 0, "the residual's bits");
            static const char *const names[] = { "psi", "omega", "velocity", "temperature" };
            char what[64];
            snprintf(what, sizeof what, "variant %zu, %s", v, p ? "double" : "single");
            same_fields(&a, &b, names, 4, what);
            end_run(&a);
            end_run(&b);
        }
}

/* --- cases that contradict themselves --- */

#define SEGMENTS                                                                                   \
    "[case]\nsolver = \"flow\"\n[boundary.top]\nspeed = 0\n[boundary.right]\nkind = \"outflow\"\n" \
    "[[boundary.segment]]\nside = \"left\"\nfrom = 0.25\nto = 0.5\nkind = \"inflow\"\nspeed = 1\n" \
    "[[boundary.segment]]\nside = \"left\"\nfrom = %s\nto = %s\n%s\n"

static void segment_rejected(const char *says, const char *from, const char *to, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text, SEGMENTS, from, to, more);
    rejected_case(text, BN_CASE, says);
}

TEST(contradictions_are_rejected)
{
    REJECTED(body_case, BN_CASE, "closes the channel", "obstacle.size=[0.2,1.2]");
    REJECTED(body_case, BN_CASE, "reaches the outflow", "obstacle.centre=[3,0.5]");
    REJECTED(body_case, BN_CASE, "no obstacle is as large as a cell", "obstacle.size=[0.01,0.01]");
    REJECTED(body_case, BN_CASE, "values on them are given", "solver.diffusion=fft");
    REJECTED(body_case, BN_CASE, "it needs a rectangle", "solver.steady=newton", "solver.steady_tolerance=1e-6",
             "solver.poisson=fft");
    REJECTED(body_case, BN_CASE, "do not balance", "boundary.right.kind=wall");
    REJECTED(body_case, BN_CASE, "unstable", "time.dt=1");
    REJECTED(body_case, BN_CASE, "belongs to kind = \"inflow\" or \"velocity\" or heat = \"given\"",
             "boundary.bottom.temperature=1");
    REJECTED(body_case, BN_CASE, "there is no temperature", "fluid.diffusivity=0", "boundary.bottom.heat=given");
    REJECTED(body_case, BN_CASE, "could drive the flow", "fluid.diffusivity=0", "fluid.buoyancy=1");
    segment_rejected("overlaps segment number 1", "0.4", "0.6", "");
    segment_rejected("must end beyond its begin", "0.6", "0.6", "");
    segment_rejected("must end beyond its begin", "0.6", "1.6", "");
    segment_rejected("[[boundary.segment]] number 2, kind = \"lid\"", "0.6", "0.8", "kind = \"lid\"");
    segment_rejected("unknown key `spead`", "0.6", "0.8", "spead = 1");
    rejected_case("[case]\nsolver = \"flow\"\n[boundary.segment]\nside = \"left\"\n", BN_CASE,
                  "write [[boundary.segment]]");
    rejected_case(
        "[case]\nsolver = \"flow\"\n[boundary.left]\nkind = \"inflow\"\n[boundary.right]\nkind = \"outflow\"\n"
        "[[boundary.segment]]\nside = \"left\"\nto = 0.5\n",
        BN_CASE, "must itself be a wall or slip");
}

/* A resolved case is the same case: segments, obstacles, defaults. */
TEST(a_resolved_case_runs_the_same)
{
    char text[1024];
    snprintf(text, sizeof text, SEGMENTS, "\"60 cm\"", "0.8", "kind = \"slip\"");
    const char *overrides[] = { "stop.steps=2", "grid.nodes=[33,33]", "obstacle.shape=ellipse" };
    bn_case *c, *again;
    char *resolved = NULL, *twice = NULL;
    OK(bn_case_parse(ctx, "test.toml", text, overrides, 3, &c));
    ck_assert_uint_eq(bn_case_items(c, "boundary.segment"), 2);
    near(bn_case_item_real(c, "boundary.segment.from", 1), 0.6, 1e-12, "60 cm");
    OK(bn_case_resolved(c, &resolved));
    OK(bn_case_parse(ctx, "resolved.toml", resolved, NULL, 0, &again));
    OK(bn_case_resolved(again, &twice));
    ck_assert_str_eq(resolved, twice);
    bn_sim *sim;
    OK(bn_sim_create(ctx, again, &(bn_sim_desc){ 0 }, &sim));
    OK(bn_sim_step(sim));
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    bn_case_destroy(&again);
    free(resolved);
    free(twice);
}

int main(void) { return bn_test_main("heat", open_context, close_context); }
