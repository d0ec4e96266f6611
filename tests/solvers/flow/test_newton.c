/* test_newton.c: steady states by Newton's method (solver.steady = "newton"): those that marching approaches, numbers
 * that others published or computed, how fast the residual falls, and what is refused. */
#include "support_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char cavity_case[] =
    "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [33, 33]\n[fluid]\nviscosity = 0.01\n"
    "[solver]\nsteady = \"newton\"\nsteady_tolerance = 1e-10\n[stop]\nsteps = 100\n";

/* Newton's method on the same equations, programmed apart from this one (test_flow_properties.c): nine digits. */
TEST(cavity_is_the_steady_state_of_the_scheme)
{
    static const struct {
        const char *wall, *convection;
        double psi_min, u_min, v_min;
    } known[] = {
        { "solver.wall_vorticity=thom", "solver.convection=central", -0.100435799, -0.204173693, -0.238380125 },
        { NULL, "solver.convection=conservative", -0.102773860, -0.209851290, -0.250340670 },
    };
    without_optimiser(true);
    bn_device *device = opened_device();
    for (size_t w = 0; w < sizeof known / sizeof *known; w++) {
        run r = RUN(cavity_case, NULL, known[w].convection, known[w].wall);
        run d = RUN(cavity_case, device, known[w].convection, known[w].wall);
        ck_assert(bn_sim_now(r.sim).converged);
        near(result(&r, "psi_min"), known[w].psi_min, 6e-10, "psi_min");
        near(result(&r, "u_min"), known[w].u_min, 6e-10, "u_min");
        near(result(&r, "v_min"), known[w].v_min, 6e-10, "v_min");
        ck_assert_msg(result(&r, "steady_residual") <= 1e-10, "residual %g", result(&r, "steady_residual"));
        ck_assert_msg(difference(&d, &r, "psi") == 0 && difference(&d, &r, "omega") == 0, "the device has other bits");
        end_run(&d);
        end_run(&r);
    }
}

/* A warm body in a channel of slip and moving walls, off its middle, with buoyancy; and a channel without a body, whose
 * systems are solved directly, convection upwind. */
static const char body_case[] =
    "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [41, 21]\nsize = [2, 1]\n[fluid]\nviscosity = "
    "0.05\n"
    "diffusivity = 0.05\nbuoyancy = 0.2\n[boundary.left]\nkind = \"inflow\"\nspeed = 1\n[boundary.right]\nkind = "
    "\"outflow\"\n"
    "[boundary.top]\nspeed = 0.5\n[boundary.bottom]\nkind = \"slip\"\n[obstacle]\nshape = \"rectangle\"\n"
    "centre = [0.7, 0.4]\nsize = [0.3, 0.3]\nheat = \"given\"\ntemperature = 1\n[stop]\nsteps = 20000\n";

static const char channel_case[] =
    "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [33, 17]\nsize = [2, 1]\n[fluid]\nviscosity = "
    "0.02\n"
    "[boundary.left]\nkind = \"inflow\"\nspeed = 1\nprofile = \"uniform\"\n[boundary.right]\nkind = \"outflow\"\n"
    "[boundary.top]\nspeed = 0\n[solver]\nconvection = \"upwind\"\n[stop]\nsteps = 20000\n";

/* What marching leaves: the residual over the rate of the slowest change, which is above 1 where a stream goes through.
 */
static void check_marched(const char *text)
{
    static const char *const names[] = { "psi", "omega", "velocity" };
    run march = RUN(text, NULL, "solver.steady_tolerance=1e-8", "solver.cg_tolerance=1e-12");
    run newton = RUN(text, NULL, "solver.steady_tolerance=1e-10", "solver.steady=newton");
    ck_assert(bn_sim_now(march.sim).converged && bn_sim_now(newton.sim).converged);
    ck_assert_uint_lt(bn_sim_now(newton.sim).step * 20, bn_sim_now(march.sim).step);
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        const double worst = difference(&newton, &march, names[f]);
        ck_assert_msg(worst <= 1e-8, "%s differs by %g", names[f], worst);
    }
    end_run(&newton);
    end_run(&march);
}

/* The cavity on 33 nodes from 17: device and reference go the same way, to the same state in fewer steps. A body, heat
 * and an outflow: what is given stays given. */
TEST(coarser_grids_come_first)
{
    without_optimiser(true);
    bn_device *device = opened_device();
    run alone = RUN(cavity_case, NULL, NULL), r = RUN(cavity_case, NULL, "solver.coarse_grids=1"),
        d = RUN(cavity_case, device, "solver.coarse_grids=1");
    near(result(&r, "psi_min"), -0.102773860, 6e-10, "psi_min of the scheme");
    ck_assert_uint_lt(bn_sim_now(r.sim).step, bn_sim_now(alone.sim).step);
    ck_assert_msg(difference(&d, &r, "psi") == 0 && difference(&d, &r, "omega") == 0, "the device has other bits");
    end_run(&d);
    end_run(&r);
    end_run(&alone);
    run fine = RUN(body_case, NULL, "solver.steady_tolerance=1e-10", "solver.steady=newton"),
        both = RUN(body_case, NULL, "solver.steady_tolerance=1e-10", "solver.steady=newton", "solver.coarse_grids=1");
    ck_assert_uint_lt(bn_sim_now(both.sim).step, bn_sim_now(fine.sim).step);
    ck_assert_msg(difference(&both, &fine, "temperature") <= 1e-8 && difference(&both, &fine, "omega") <= 1e-8,
                  "another state");
    end_run(&both);
    end_run(&fine);
}

TEST(streams_are_those_that_marching_approaches)
{
    check_marched(channel_case);
    check_marched(body_case);
}

/* The least psi at a node. */
static double least_psi(const run *r)
{
    size_t count;
    double *psi = field(r, "psi", &count), least = 0;
    for (size_t i = 0; i < count; i++)
        least = fmin(least, psi[i]);
    free(psi);
    return least;
}

/* Re 10000 on 33 nodes: the same equations in a program of its own, by elimination with pivots exchanged. In a channel
 * with an outflow, twice as long as high or as high as long, GMRES finds the same state. */
TEST(elimination_finds_the_steady_state)
{
    const char *const sizes[] = { "grid.nodes=[33,17]", "grid.nodes=[17,21]" };
    without_optimiser(true);
    bn_device *device = opened_device();
    run r = RUN(cavity_case, NULL, "fluid.viscosity=1e-4", "solver.newton_solver=direct"),
        d = RUN(cavity_case, device, "fluid.viscosity=1e-4", "solver.newton_solver=direct");
    ck_assert(bn_sim_now(r.sim).converged);
    near(least_psi(&r), -0.0749155702, 1e-10, "psi of the scheme");
    ck_assert_msg(difference(&d, &r, "psi") == 0 && difference(&d, &r, "omega") == 0, "the device has other bits");
    end_run(&d);
    end_run(&r);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        run gmres = RUN(channel_case, NULL, sizes[i], "solver.steady_tolerance=1e-10", "solver.steady=newton"),
            direct = RUN(channel_case, NULL, sizes[i], "solver.steady_tolerance=1e-10", "solver.steady=newton",
                         "solver.newton_solver=direct");
        ck_assert_uint_le(bn_sim_now(direct.sim).step, bn_sim_now(gmres.sim).step + 1);
        ck_assert_msg(difference(&direct, &gmres, "omega") <= 1e-8, "another state");
        end_run(&direct);
        end_run(&gmres);
    }
}

/* Linear solves as good as the square of what the step before gained (Eisenstat and Walker 1996, choice 2): order 2 but
 * for the share 0.9. */
TEST(residual_falls_in_second_order)
{
    bn_case *c;
    bn_sim *sim;
    double residual[100];
    int steps = 0;
    const char *const overrides[] = { "fluid.viscosity=0.02", "solver.steady_tolerance=1e-13" };
    OK(bn_case_parse(ctx, "cavity", cavity_case, overrides, 2, &c));
    OK(bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &sim));
    while (steps < 100 && (steps == 0 || residual[steps - 1] > 1e-9)) {
        OK(bn_sim_step(sim));
        residual[steps++] = bn_sim_now(sim).residual;
    }
    ck_assert_int_lt(steps, 100);
    for (int i = steps - 2; i < steps; i++) {
        const double order = log(residual[i] / residual[i - 1]) / log(residual[i - 1] / residual[i - 2]);
        ck_assert_msg(order > 1.8, "order %g in step %d, residual %g", order, i + 1, residual[i]);
    }
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

/* Ra 1e6 on 65 nodes: errors of the scheme, 0.6 % of the Nusselt number, 1.3 % of the largest u, 3.4 % of the largest
 * v.
 */
TEST(natural_convection_is_the_published_one)
{
    static const char text[] =
        "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [65, 65]\n[fluid]\nviscosity = 0.71\n"
        "diffusivity = 1\nbuoyancy = 7.1e5\n[boundary.left]\nheat = \"given\"\ntemperature = 1\n[boundary.right]\n"
        "heat = \"given\"\n[boundary.top]\nspeed = 0\n[initial]\ntemperature = 0.5\n[solver]\nsteady = \"newton\"\n"
        "steady_tolerance = 1e-8\n[stop]\nsteps = 100\n";
    run r = RUN(text, NULL, "solver.krylov_vectors=120");
    ck_assert(bn_sim_now(r.sim).converged);
    near(result(&r, "nusselt_mean") / 8.8252, 1, 1.2e-2,
         "mean Nusselt number, data/published/flow-natural-convection.csv");
    near(result(&r, "u_max") / 64.8344, 1, 2.6e-2, "largest u");
    near(result(&r, "v_max") / 220.565, 1, 7e-2, "largest v");
    /* All heat that enters leaves: measured at both walls by formulas of second order. */
    near(result(&r, "nusselt_left") / result(&r, "nusselt_right"), 1, 1e-10, "in and out, symmetric about the centre");
    end_run(&r);
}

/* psi_min of the scheme on 129 nodes at Re 1000, by Newton's method programmed apart from this one. */
TEST(cavity_at_re_1000)
{
    if (!long_tests())
        return;
    run r = RUN(cavity_case, NULL, "fluid.viscosity=0.001", "grid.nodes=[129, 129]");
    near(result(&r, "psi_min"), -0.118011, 6e-7, "psi_min of the scheme");
    end_run(&r);
}

TEST(what_has_no_steady_state_or_no_end_is_refused)
{
    static const char head[] = "[case]\nsolver = \"flow\"\n[solver]\nsteady = \"newton\"\n";
    static const struct {
        const char *rest, *why;
    } cases[] = {
        { "", "steady_tolerance" },
        { "steady_tolerance = 1e-6\n[stop]\ntime = 1\n", "has no time" },
        { "steady_tolerance = 1e-6\n[time]\ndt = 1e-3\n", "solver.steady = \"march\"" },
        { "steady_tolerance = 1e-6\n[fluid]\ndiffusivity = 0.1\n", "no temperature is given" },
        { "steady_tolerance = 1e-6\nnewton_solver = \"direct\"\n[fluid]\ndiffusivity = 0.1\n[boundary.top]\nheat = "
          "\"given\"\n",
          "no temperature" },
        { "steady_tolerance = 1e-6\nnewton_solver = \"direct\"\n[obstacle]\nshape = \"ellipse\"\nsize = [0.2, 0.2]\n",
          "fluid all around" },
        { "steady_tolerance = 1e-6\ncoarse_grids = 2\n[grid]\nnodes = [35, 33]\n", "no 2 coarser grids" },
        { "steady_tolerance = 1e-6\ncoarse_grids = 3\n[grid]\nnodes = [33, 33]\n", "no 3 coarser grids" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s", head, cases[i].rest);
        rejected_case(text, BN_CASE, cases[i].why);
    }
    rejected_case("[case]\nsolver = \"flow\"\n[solver]\nkrylov_vectors = 50\n", BN_CASE,
                  "belongs to steady = \"newton\"");
}

int main(void) { return bn_test_main("newton", open_context, close_context); }
