/* test_stretched.c: nodes that gather at the sides (grid.stretch): published numbers on few nodes, what the scheme
 * keeps exactly, both ways to a steady state, and what is refused. Order of the errors: test_kovasznay.c; solutions of
 * linear systems: test_linear.c; files: tests/unit/test_pieces.c. */
#include "support_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char cavity_case[] =
    "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [65, 65]\nstretch = [2, 2]\n[fluid]\n"
    "viscosity = 0.001\n[solver]\nsteady = \"newton\"\nnewton_solver = \"direct\"\nsteady_tolerance = 1e-8\n[stop]\n"
    "steps = 100\n";

/* Botella and Peyret (1998); `even`: what 129 x 129 nodes of equal spacings give (docs/flow.md). */
TEST(cavity_is_nearer_than_on_four_times_the_nodes)
{
    static const struct {
        const char *name;
        double published, even;
    } known[] = { { "psi_min", -0.1189366, -0.11801 }, { "v_min", -0.5270771, -0.52099 } };
    run r = RUN(cavity_case, NULL, NULL);
    ck_assert(bn_sim_now(r.sim).converged);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const double own = fabs(result(&r, known[k].name) - known[k].published);
        ck_assert_msg(own < 0.6 * fabs(known[k].even - known[k].published), "%s: %.7g", known[k].name,
                      result(&r, known[k].name));
    }
    near(result(&r, "u_min"), -0.38857, 0.0065, "u_min");
    near(result(&r, "u_min_y"), 0.1717, 0.004, "u_min_y");
    near(result(&r, "psi_min_x"), 0.5308, 0.001, "psi_min_x");
    near(result(&r, "psi_min_y"), 0.5652, 0.001, "psi_min_y");
    end_run(&r);
}

/* Natural convection at Ra 1e6: data/published/flow-natural-convection.csv. */
TEST(convection_is_that_of_the_tables)
{
    static const char text[] =
        "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [49, 49]\nstretch = [2, 1.5]\n[fluid]\n"
        "viscosity = 0.71\ndiffusivity = 1\nbuoyancy = 710000\n[boundary.left]\nheat = \"given\"\ntemperature = 1\n"
        "[boundary.right]\nheat = \"given\"\ntemperature = 0\n[boundary.top]\nspeed = 0\n[initial]\ntemperature = 0.5\n"
        "[solver]\nsteady = \"newton\"\nsteady_tolerance = 1e-6\n[stop]\nsteps = 100\n";
    run r = RUN(text, NULL, NULL);
    ck_assert(bn_sim_now(r.sim).converged);
    near(result(&r, "nusselt_mean"), 8.8252, 0.02 * 8.8252, "nusselt_mean");
    near(result(&r, "nusselt_left"), 8.8252, 0.02 * 8.8252, "nusselt_left");
    near(result(&r, "u_max"), 64.8344, 0.02 * 64.8344, "u_max");
    near(result(&r, "v_max"), 220.565, 0.02 * 220.565, "v_max");
    near(result(&r, "v_max_x"), 0.0378, 0.001, "v_max_x");
    end_run(&r);
}

static const char box_case[] =
    "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [24, 19]\nsize = [2, 1]\nstretch = [1.5, 2]\n"
    "[fluid]\nviscosity = 0.01\ndiffusivity = 0.02\n[boundary.top]\nspeed = 0\n[time]\ndt = 0.5\n";

TEST(conduction_between_two_walls_is_exact)
{
    run r = RUN(box_case, NULL, "boundary.left.heat=given", "boundary.left.temperature=3", "boundary.right.heat=given",
                "boundary.right.temperature=1", "stop.steps=3000", "solver.steady_tolerance=1e-12");
    double *T = field(&r, "temperature", NULL);
    const bn_sim_field_info *info = field_info(&r, "temperature");
    ck_assert_ptr_nonnull(info->place[0]);
    for (unsigned at = 0; at < info->n[0] * info->n[1]; at++)
        near(T[at], 3 - info->place[0][at % info->n[0]], 1e-9, "temperature");
    static const char *const ones[] = { "nusselt_mean", "nusselt_left", "nusselt_right", "nusselt_middle" };
    for (size_t k = 0; k < sizeof ones / sizeof *ones; k++)
        near(result(&r, ones[k]), 1, 1e-9, ones[k]);
    near(result(&r, "temperature_mean"), 2, 1e-9, "temperature_mean");
    free(T);
    end_run(&r);
}

TEST(heat_of_an_insulated_box_is_kept)
{
    double mean[2];
    for (int k = 0; k < 2; k++) {
        run r = RUN(box_case, NULL, "initial.heat=cosine", "initial.temperature=2",
                    k ? "stop.steps=40" : "stop.steps=1");
        mean[k] = result(&r, "temperature_mean");
        end_run(&r);
    }
    near(mean[1], mean[0], 1e-11, "temperature_mean");
    near(mean[0], 2, 1e-9, "temperature_mean");
}

/* A channel with an outflow, whose psi is solved for by iterations beside the direct vorticity. */
TEST(both_ways_lead_to_one_steady_state)
{
    static const char channel[] =
        "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [25, 17]\nsize = [2, 1]\nstretch = [1, "
        "1.5]\n"
        "[fluid]\nviscosity = 0.05\n[boundary.left]\nkind = \"inflow\"\nspeed = 1\n[boundary.right]\nkind = "
        "\"outflow\"\n"
        "[boundary.top]\nspeed = 0.5\n[solver]\ncg_tolerance = 1e-13\n[stop]\nsteps = 20000\n";
    static const char *const ways[][3] = {
        { "solver.steady_tolerance=1e-10", "solver.cg_forcing=0" },
        { "solver.steady_tolerance=1e-10", "solver.steady=newton" },
        { "solver.steady_tolerance=1e-10", "solver.steady=newton", "solver.newton_solver=direct" },
    };
    without_optimiser(true);
    bn_device *device = opened_device();
    run march = RUN(channel, NULL, ways[0][0], ways[0][1]);
    ck_assert(bn_sim_now(march.sim).converged);
    for (int k = 1; k < 3; k++) {
        run r = RUN(channel, device, ways[k][0], ways[k][1], ways[k][2]),
            own = RUN(channel, NULL, ways[k][0], ways[k][1], ways[k][2]);
        ck_assert(bn_sim_now(r.sim).converged);
        ck_assert_msg(difference(&r, &march, "psi") < 1e-8 && difference(&r, &march, "omega") < 1e-7, "%d: %g, %g", k,
                      difference(&r, &march, "psi"), difference(&r, &march, "omega"));
        same_fields(&r, &own, (const char *const[]){ "psi", "omega", "velocity" }, 3, ways[k][1]);
        end_run(&r);
        end_run(&own);
    }
    end_run(&march);
}

static void refused(const char *more, const char *why)
{
    char text[1024];
    snprintf(text, sizeof text, "[case]\nsolver = \"flow\"\n[grid]\nnodes = [17, 17]\nstretch = [1, 0]\n%s", more);
    rejected_case(text, BN_CASE, why);
}

TEST(what_needs_equal_spacings_is_refused)
{
    refused("[solver]\nconvection = \"upwind\"\n", "upwind differences are for equal spacings");
    refused("[solver]\npoisson = \"multigrid\"\n", "multigrid is for equal spacings");
    refused("[obstacle]\nshape = \"ellipse\"\n", "obstacles are for equal spacings");
}

int main(void) { return bn_test_main("stretched", open_context, close_context); }
