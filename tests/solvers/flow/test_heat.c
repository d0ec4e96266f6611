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
            near(T[j * 33 + i], left * (given ? sin(x) * sin(y) : cos(x) * cos(y)), 1e-10, "discrete decay");
        }
    free(T);
    end_run(&r);
}

START_TEST(heat_decays_by_its_discrete_factor)
{
    check_mode("initial.heat=sine", "solver.diffusion=fft", true);
    check_mode("initial.heat=sine", "solver.diffusion=cg", true);
    check_mode("initial.heat=cosine", "solver.diffusion=fft", false);
    check_mode("initial.heat=cosine", "solver.diffusion=cg", false);
}
END_TEST

/* Without sources and with insulated sides the heat stays: exactly, for conduction around an obstacle too. */
START_TEST(insulated_boxes_keep_their_heat)
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
    near(sum / start, 1, 1e-11, "heat");
    free(T);
    end_run(&r);
}
END_TEST

/* --- two streams --- */

START_TEST(two_streams_mix_by_the_error_function)
{
    static const char text[] =
        "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [65, 129]\nsize = [1, "
        "1]\n[fluid]\nviscosity = "
        "0.001\ndiffusivity = 0.001\n[boundary.right]\nkind = \"outflow\"\n[boundary.top]\nkind = \"slip\"\n"
        "[boundary.bottom]\nkind = \"slip\"\n"
        "[[boundary.segment]]\nside = \"left\"\nfrom = 0\nto = 0.5\nkind = \"inflow\"\nprofile = \"uniform\"\nspeed = "
        "1\n"
        "[[boundary.segment]]\nside = \"left\"\nfrom = 0.5\nto = 1\nkind = \"inflow\"\nprofile = \"uniform\"\nspeed = "
        "1\n"
        "temperature = 1\n[stop]\ntime = 2.5\n";
    run r = RUN(text, NULL, "stop.steps=10000");
    size_t count;
    double *T = field(&r, "temperature", &count);
    double worst = 0;
    for (int j = 0; j < 129; j++)
        for (int i = 26; i < 58; i++) {                        /* h <= 0.4 sqrt(a x / U); away from the outflow */
            const double x = i / 64.0, y = (j - 63.5) / 128.0; /* the junction's node belongs to the upper stream */
            worst = fmax(worst, fabs(T[j * 65 + i] - 0.5 * (1 + erf(y / (2 * sqrt(0.001 * x))))));
        }
    ck_assert_msg(worst <= 0.02, "largest error %g", worst);
    double *psi = field(&r, "psi", &count);
    near(psi[128 * 65 + 30], 1, 1e-12, "both streams");
    free(psi);
    free(T);
    end_run(&r);
}
END_TEST

/* --- natural convection (de Vahl Davis 1983) --- */

static const char warm_case[] =
    "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[fluid]\nviscosity = 0.71\n"
    "diffusivity = 1\n[boundary.left]\nheat = \"given\"\ntemperature = 1\n[boundary.right]\n"
    "heat = \"given\"\n[boundary.top]\nspeed = 0\n[initial]\ntemperature = 0.5\n[solver]\n"
    "steady_tolerance = 1e-5\n[stop]\nsteps = 200000\n";

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

static void check_convection(double rayleigh, int nodes, double allowed)
{
    char grid[64], buoyancy[64];
    snprintf(grid, sizeof grid, "grid.nodes=[%d,%d]", nodes, nodes);
    snprintf(buoyancy, sizeof buoyancy, "fluid.buoyancy=%.10g", 0.71 * rayleigh);
    run r = RUN(warm_case, NULL, grid, buoyancy);
    const double nusselt = published(rayleigh, "Numid");
    near(result(&r, "nusselt_mean") / nusselt, 1, allowed, "mean Nusselt number");
    near(result(&r, "nusselt_left") / result(&r, "nusselt_right"), 1, 1e-2, "in and out");
    near(result(&r, "nusselt_middle") / result(&r, "nusselt_left"), 1, 1e-2 + allowed, "side and middle");
    near(result(&r, "u_max") / published(rayleigh, "umax"), 1, 4 * allowed, "largest u");
    near(result(&r, "v_max") / published(rayleigh, "vmax"), 1, 4 * allowed, "largest v");
    near(result(&r, "u_max_y"), published(rayleigh, "yu"), 2.0 / nodes, "its place");
    near(result(&r, "v_max_x"), published(rayleigh, "xv"), 2.0 / nodes, "its place");
    end_run(&r);
}

/* Limits: those of the reference data for 65 nodes, 129 in the long tests. */
START_TEST(natural_convection_is_the_published_one)
{
    static const double rayleigh[4] = { 1e3, 1e4, 1e5, 1e6 }, coarse[4] = { 5e-4, 2e-3, 1e-2, 4e-2 },
                        fine[4] = { 2e-4, 5e-4, 3e-3, 1.2e-2 };
    for (int i = 0; i < (long_tests() ? 4 : 3); i++)
        check_convection(rayleigh[i], long_tests() ? 129 : 65, long_tests() ? fine[i] : coarse[i]);
}
END_TEST

/* --- obstacles --- */

static const char body_case[] =
    "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [97, 33]\nsize = [3, 1]\n[fluid]\nviscosity = "
    "0.05\n"
    "diffusivity = 0.05\n[boundary.left]\nkind = \"inflow\"\nspeed = 1\n[boundary.right]\nkind = \"outflow\"\n"
    "[boundary.top]\nspeed = 0\n[obstacle]\nshape = \"rectangle\"\ncentre = [1, 0.5]\nsize = [0.25, 0.25]\n";

/* In the middle of a symmetric channel the flow parts in equal halves. */
START_TEST(flow_parts_evenly_around_a_body_in_the_middle)
{
    run r = RUN(body_case, NULL, "stop.time=4", "stop.steps=100000");
    near(result(&r, "psi_body"), 0.5, 1e-5, "stream function on the body");
    end_run(&r);
    /* Off the middle more passes where the gap is wider; mirrored, what passes below passes above. */
    run low = RUN(body_case, NULL, "stop.time=4", "stop.steps=100000", "obstacle.centre=[1,0.4375]");
    run high = RUN(body_case, NULL, "stop.time=4", "stop.steps=100000", "obstacle.centre=[1,0.5625]");
    const double below = result(&low, "psi_body");
    ck_assert_msg(below < 0.47 && below > 0.2, "psi on the lower body is %g", below);
    near(result(&high, "psi_body"), 1 - below, 2e-5, "mirror image");
    end_run(&low);
    end_run(&high);
}
END_TEST

/* The pressure around a body is single-valued when the vorticity flux out of it vanishes (docs/flow.md). */
START_TEST(no_vorticity_leaves_a_body_at_rest)
{
    run r = RUN(body_case, NULL, "stop.time=6", "stop.steps=100000", "obstacle.centre=[1,0.4375]");
    size_t count;
    double *omega = field(&r, "omega", &count), flux = 0, size = 0;
    for (int j = 10; j <= 18; j++) /* nodes of the body: 28 ... 36 along x, 10 ... 18 along y */
        for (int side = 0; side < 2; side++) {
            const int i = side ? 36 : 28, out = side ? 1 : -1;
            const double drop = omega[j * 97 + i + out] - omega[j * 97 + i];
            flux += drop;
            size += fabs(drop);
        }
    for (int i = 28; i <= 36; i++)
        for (int side = 0; side < 2; side++) {
            const int j = side ? 18 : 10, out = side ? 1 : -1;
            const double drop = omega[(j + out) * 97 + i] - omega[j * 97 + i];
            flux += drop;
            size += fabs(drop);
        }
    ck_assert_msg(fabs(flux) < 2e-2 * size, "flux %g of %g", flux, size); /* corners have the mean of two faces */
    free(omega);
    end_run(&r);
}
END_TEST

/* --- the device --- */

START_TEST(device_equals_reference_with_heat_and_obstacles)
{
    static const char *const variants[][8] = {
        { "stop.steps=3" },
        { "stop.steps=3", "fluid.buoyancy=2", "obstacle.heat=given", "obstacle.temperature=1", "solver.poisson=cg" },
        { "stop.steps=3", "fluid.buoyancy=-2", "obstacle.shape=ellipse", "obstacle.centre=[1,0.1]",
          "boundary.bottom.heat=given", "boundary.bottom.temperature=1", "solver.convection=upwind",
          "solver.diffusion=cg" },
    };
    bn_device *device;
    OK(bn_device_open(ctx, NULL, false, &device));
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        for (int p = 0; p < (bn_device_describe(device)->fp64 && v != 1 ? 2 : 1); p++) {
            const char *overrides[12] = { p ? "case.precision=double" : "case.precision=single" };
            for (size_t i = 0; i < 8 && variants[v][i]; i++)
                overrides[1 + i] = variants[v][i];
            run a = run_case(body_case, NULL, overrides), b = run_case(body_case, device, overrides);
            near(bn_sim_now(b.sim).residual, bn_sim_now(a.sim).residual, 0, "the residual's bits");
            static const char *const names[] = { "psi", "omega", "velocity", "temperature" };
            for (int f = 0; f < 4; f++) {
                size_t count;
                double *one = field(&a, names[f], &count), *other = field(&b, names[f], &count);
                ck_assert_msg(memcmp(one, other, count * sizeof *one) == 0, "variant %zu, precision %d: %s differs", v,
                              p, names[f]);
                free(one);
                free(other);
            }
            end_run(&a);
            end_run(&b);
        }
    bn_device_close(&device);
}
END_TEST

/* --- cases that contradict themselves --- */

static void rejected(const char *text, const char *says, const char *const *overrides)
{
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    size_t count = 0;
    while (overrides[count])
        count++;
    bn_status status = bn_case_parse(ctx, "test.toml", text, overrides, count, &c);
    if (status == BN_OK)
        status = bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &sim);
    ck_assert_msg(status == BN_CASE, "accepted, but should be rejected: %s", says);
    ck_assert_msg(strstr(bn_error_text(ctx), says), "expected \"%s\" in: %s", says, bn_error_text(ctx));
    bn_error_clear(ctx);
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

#define REJECTED(text, says, ...) rejected((text), (says), (const char *const[]){ __VA_ARGS__, NULL })

#define SEGMENTS                                                                                   \
    "[case]\nsolver = \"flow\"\n[boundary.top]\nspeed = 0\n[boundary.right]\nkind = \"outflow\"\n" \
    "[[boundary.segment]]\nside = \"left\"\nfrom = 0.25\nto = 0.5\nkind = \"inflow\"\nspeed = 1\n" \
    "[[boundary.segment]]\nside = \"left\"\nfrom = %s\nto = %s\n%s\n"

static void segment_rejected(const char *says, const char *from, const char *to, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text, SEGMENTS, from, to, more);
    REJECTED(text, says, "stop.steps=1");
}

START_TEST(contradictions_are_rejected)
{
    REJECTED(body_case, "closes the channel", "obstacle.size=[0.2,1.2]");
    REJECTED(body_case, "reaches the outflow", "obstacle.centre=[3,0.5]");
    REJECTED(body_case, "no obstacle is as large as a cell", "obstacle.size=[0.01,0.01]");
    REJECTED(body_case, "it needs a rectangle", "solver.poisson=fft");
    REJECTED(body_case, "do not balance", "boundary.right.kind=wall");
    REJECTED(body_case, "unstable", "time.dt=1");
    REJECTED(body_case, "belongs to kind = \"inflow\" or heat = \"given\"", "boundary.bottom.temperature=1");
    REJECTED(body_case, "there is no temperature", "fluid.diffusivity=0", "boundary.bottom.heat=given");
    REJECTED(body_case, "could drive the flow", "fluid.diffusivity=0", "fluid.buoyancy=1");
    segment_rejected("overlaps segment number 1", "0.4", "0.6", "");
    segment_rejected("must end beyond its begin", "0.6", "0.6", "");
    segment_rejected("must end beyond its begin", "0.6", "1.6", "");
    segment_rejected("[[boundary.segment]] number 2, kind = \"lid\"", "0.6", "0.8", "kind = \"lid\"");
    segment_rejected("unknown key `spead`", "0.6", "0.8", "spead = 1");
    REJECTED("[case]\nsolver = \"flow\"\n[boundary.segment]\nside = \"left\"\n", "write [[boundary.segment]]",
             "stop.steps=1");
    REJECTED("[case]\nsolver = \"flow\"\n[boundary.left]\nkind = \"inflow\"\n[boundary.right]\nkind = \"outflow\"\n"
             "[[boundary.segment]]\nside = \"left\"\nto = 0.5\n",
             "must itself be a wall or slip", "stop.steps=1");
}
END_TEST

/* A resolved case is the same case: segments, obstacles, defaults. */
START_TEST(a_resolved_case_runs_the_same)
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
END_TEST

static void add(TCase *tests)
{
    tcase_add_checked_fixture(tests, open_context, close_context);
    tcase_add_test(tests, heat_decays_by_its_discrete_factor);
    tcase_add_test(tests, insulated_boxes_keep_their_heat);
    tcase_add_test(tests, two_streams_mix_by_the_error_function);
    tcase_add_test(tests, natural_convection_is_the_published_one);
    tcase_add_test(tests, flow_parts_evenly_around_a_body_in_the_middle);
    tcase_add_test(tests, no_vorticity_leaves_a_body_at_rest);
    tcase_add_test(tests, device_equals_reference_with_heat_and_obstacles);
    tcase_add_test(tests, contradictions_are_rejected);
    tcase_add_test(tests, a_resolved_case_runs_the_same);
}

int main(void) { return bn_test_main("heat", add); }
