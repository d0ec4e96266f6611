/* test_issue_16_flow_steady.c: the residual by which flow ends is that of the steady equations, whatever the linear
 * solves accept; and solves that are only as exact as the flow needs do not keep it from becoming steady. */
#include "support_case.h"

/* Half waves of psi and omega in a box with slip walls: convection cancels, so the steady equations leave over nu
 * lambda_h omega, lambda_h = 8 / h^2 sin^2(pi h / 2), and the residual is nu lambda_h length / speed. In single
 * precision the smallest of these time steps changes omega by less than its rounding: conjugate gradients accept their
 * start, and there is no change between steps. Limits: psi's tolerance of 1e-8 and, in single precision, 8 u / h^2 over
 * lambda_h, 2.5e-5, and that of the velocities. */
static void check_residual(const char *precision, const char *dt, double allowed)
{
    static const char text[] =
        "[case]\nsolver = \"flow\"\n[grid]\nnodes = [33, 33]\n[fluid]\nviscosity = 0.01\n"
        "[boundary.left]\nkind = \"slip\"\n[boundary.right]\nkind = \"slip\"\n[boundary.bottom]\nkind = \"slip\"\n"
        "[boundary.top]\nkind = \"slip\"\n[initial]\nkind = \"vortex\"\nstrength = 1\n"
        "[solver]\nsteady_tolerance = 1e-4\ndiffusion = \"cg\"\n[stop]\nsteps = 5\n";
    const double pi = 3.14159265358979323846, h = 1.0 / 32, sine = sin(0.5 * pi * h);
    const double expected = 0.01 * 8 / (h * h) * sine * sine / pi; /* length 1 m, speed pi m/s */
    run r = RUN(text, NULL, precision, dt);
    const bn_sim_state now = bn_sim_now(r.sim);
    ck_assert_msg(!now.converged && now.step == 5, "%s, %s: `converged` after %llu steps", precision, dt, now.step);
    near(now.residual / expected, 1, allowed, "nu lambda_h length / speed");
    end_run(&r);
}

TEST(residual_is_that_of_the_steady_equations)
{
    check_residual("case.precision=single", "time.dt=1e-9", 1e-3);
    check_residual("case.precision=double", "time.dt=1e-4", 1e-6);
    check_residual("case.precision=double", "time.dt=1e-7", 1e-6);
    check_residual("case.precision=single", "time.dt=1e-4", 1e-3);
}

/* A round body in a channel, a tenth of the default time step: solves with a loose tolerance must not make noise at
 * walls that keeps the tolerance loose. The slowest change of this flow dies out by a tenth in half a time unit, so
 * that two and a half of them do. */
TEST(loose_solves_do_not_sustain_themselves)
{
    static const char text[] =
        "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [97, 49]\nsize = [2, 1]\n"
        "[fluid]\nviscosity = 0.1\n[boundary.left]\nkind = \"inflow\"\nspeed = 1\n[boundary.right]\nkind = "
        "\"outflow\"\n"
        "[boundary.top]\nspeed = 0\n[obstacle]\nshape = \"ellipse\"\ncentre = [0.7, 0.45]\nsize = [0.25, 0.25]\n"
        "[time]\ndt = 0.001\n[solver]\nsteady_tolerance = 1e-5\n[stop]\nsteps = 2500\n";
    run r = RUN(text, NULL, "solver.cg_forcing=0.1");
    const bn_sim_state now = bn_sim_now(r.sim);
    ck_assert_msg(now.converged, "residual %g after %llu steps", now.residual, now.step);
    end_run(&r);
}

int main(void) { return bn_test_main("issue 16, steady flow", open_context, close_context); }
