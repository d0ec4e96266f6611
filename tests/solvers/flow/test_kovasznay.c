/* test_kovasznay.c: an exact solution of the full equations with flow through all four sides (Kovasznay, Proc. Camb.
 * Phil. Soc. 44 (1948) 58), both components of the velocity given along the sides by tables; what tables must be. */
#include "support_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double pi = 3.14159265358979323846, reynolds = 40, width = 1, height = 0.7, x0 = -0.3, y0 = 0.1;
static const char *const sides[4] = { "left", "right", "bottom", "top" };

/* Up to what stands for the left side: its table, or a segment that covers it. */
static const char text[] =
    "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nsize = [1, 0.7]\n[fluid]\nviscosity = 0.025\n"
    "[boundary.right]\nkind = \"velocity\"\n[boundary.bottom]\nkind = \"velocity\"\n[boundary.top]\n"
    "kind = \"velocity\"\n[solver]\nsteady_tolerance = 1e-10\n[stop]\nsteps = 100\n%s\nkind = \"velocity\"\n"
    "file = \"%s\"\n";
static const char side_table[] = "[boundary.left]",
                  segment_table[] = "[[boundary.segment]]\nside = \"left\"\nfrom = 0\nto = 0.7";

/* psi, omega, u, v at a place of the rectangle. */
static void exact(double x, double y, double f[4])
{
    const double l = 0.5 * reynolds - sqrt(0.25 * reynolds * reynolds + 4 * pi * pi), e = exp(l * (x + x0));
    const double s = sin(2 * pi * (y + y0)), c = cos(2 * pi * (y + y0));
    f[0] = y - e * s / (2 * pi);
    f[1] = (l * l / (2 * pi) - 2 * pi) * e * s;
    f[2] = 1 - e * c;
    f[3] = l * e * s / (2 * pi);
}

/* Rows of a table lie so close that what is linear between them errs by far less than the differences. */
static void write_table(const char *path, int side, int rows, double share)
{
    FILE *file = fopen(path, "w");
    ck_assert_msg(file != NULL, "%s", path);
    fprintf(file, "# velocity along a side\ns,u,v\n");
    for (int row = 0; row <= rows; row++) {
        const double place = share * row / rows * (side < 2 ? height : width);
        double f[4];
        exact(side < 2 ? (side == 0 ? 0 : width) : place, side < 2 ? place : (side == 2 ? 0 : height), f);
        fprintf(file, "%.17g,%.17g,%.17g\n", place, f[2], f[3]);
    }
    ck_assert_int_eq(fclose(file), 0);
}

static char folder[256], keys[4][320];

static void make_tables(int rows, double share)
{
    for (int side = 0; side < 4; side++)
        write_table(strchr(keys[side], '=') + 1, side, rows, share);
}

static void open_tables(void)
{
    const char *base = getenv("TMPDIR");
    open_context();
    snprintf(folder, sizeof folder, "%s/binnacle-flow-XXXXXX", base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (int side = 0; side < 4; side++)
        snprintf(keys[side], sizeof keys[side], "boundary.%s.file=%s/%s.csv", sides[side], folder, sides[side]);
}

static void close_tables(void)
{
    for (int side = 0; side < 4; side++)
        remove(strchr(keys[side], '=') + 1);
    ck_assert_int_eq(rmdir(folder), 0);
    close_context();
}

/* variant: convection, wall formula, what stands for the left side, clustering of nodes. */
static run kovasznay(bn_device *device, int nodes, const char *const *variant, const char *steady)
{
    char grid[64], full[2048];
    snprintf(grid, sizeof grid, "grid.nodes=[%d, %d]", nodes, nodes);
    snprintf(full, sizeof full, text, variant[2], strchr(keys[0], '=') + 1);
    return RUN(full, device, grid, variant[0], variant[1], variant[3], steady, keys[1], keys[2], keys[3]);
}

/* Errors of psi (from its value in the corner), of the velocity, and of omega: root mean squares over the nodes. */
static void errors(const run *r, int nodes, double rms[3])
{
    const int points = nodes * nodes;
    double *psi = field(r, "psi", NULL), *omega = field(r, "omega", NULL), *velocity = field(r, "velocity", NULL);
    const bn_sim_field_info *info = field_info(r, "psi");
    double corner[4], f[4];
    exact(0, 0, corner);
    rms[0] = rms[1] = rms[2] = 0;
    for (int at = 0; at < points; at++) {
        const int i = at % nodes, j = at / nodes;
        exact(info->place[0] ? info->place[0][i] : info->h[0] * i, info->place[1] ? info->place[1][j] : info->h[1] * j,
              f);
        rms[0] += pow(psi[at] - psi[0] - (f[0] - corner[0]), 2);
        if (i % (nodes - 1) || j % (nodes - 1)) /* corners have no vorticity */
            rms[2] += pow(omega[at] - f[1], 2);
        rms[1] += pow(velocity[at] - f[2], 2) + pow(velocity[points + at] - f[3], 2);
    }
    for (int k = 0; k < 3; k++)
        rms[k] = sqrt(rms[k] / points);
    free(psi);
    free(omega);
    free(velocity);
}

/* Thom's formula errs in first order at the wall, which psi and the velocity do not. `fine`: errors on 65 nodes. */
TEST(errors_fall_in_second_order)
{
    static const char even[] = "grid.stretch=[0, 0]", uneven[] = "grid.stretch=[1.5, 1]";
    static const char *const variants[][4] = {
        { "solver.convection=conservative", "solver.wall_vorticity=woods", side_table, even },
        { "solver.convection=conservative", "solver.wall_vorticity=thom", segment_table, even },
        { "solver.convection=central", "solver.wall_vorticity=woods", side_table, even },
        { "solver.convection=conservative", "solver.wall_vorticity=woods", side_table, uneven },
        { "solver.convection=central", "solver.wall_vorticity=thom", segment_table, uneven },
    };
    static const double fine[][3] = { { 1.4e-5, 3.9e-4, 2.4e-3 },
                                      { 2.5e-5, 3.5e-4, 0 },
                                      { 3.2e-6, 4.2e-4, 1.7e-3 },
                                      { 2e-5, 7.5e-4, 4.4e-3 },
                                      { 9.5e-6, 7.9e-4, 0 } };
    static const char *const names[] = { "psi", "velocity", "omega" };
    make_tables(1024, 1);
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        double rms[2][3];
        for (int k = 0; k < 2; k++) {
            run r = kovasznay(NULL, (32 << k) + 1, variants[v], "solver.steady=newton");
            ck_assert(bn_sim_now(r.sim).converged);
            errors(&r, (32 << k) + 1, rms[k]);
            end_run(&r);
        }
        for (int f = 0; f < (fine[v][2] > 0 ? 3 : 2); f++)
            ck_assert_msg(log2(rms[0][f] / rms[1][f]) > 1.8 && rms[1][f] < 1.5 * fine[v][f],
                          "%s, %s, %s, %s: errors %g, %g", variants[v][0], variants[v][1], variants[v][3], names[f],
                          rms[0][f], rms[1][f]);
    }
}

TEST(device_has_the_bits_of_the_reference)
{
    static const char *const variant[] = { "solver.convection=conservative", "solver.wall_vorticity=woods", side_table,
                                           "grid.stretch=[1, 0.5]" };
    static const char *const steady[] = { "solver.steady=newton", "stop.steps=3" };
    static const char *const names[] = { "psi", "omega", "velocity" };
    bn_device *device = opened_device();
    make_tables(64, 1);
    for (int s = 0; s < 2; s++) {
        run a = kovasznay(NULL, 17, variant, steady[s]);
        run b = kovasznay(device, 17, variant, steady[s]);
        same_fields(&a, &b, names, 3, steady[s]);
        end_run(&a);
        end_run(&b);
    }
}

static void rejected(const char *says, const char *file)
{
    char full[2048];
    snprintf(full, sizeof full, text, side_table, file);
    REJECTED(full, BN_CASE, says, keys[1], keys[2], keys[3]);
}

TEST(tables_that_do_not_fit_are_refused)
{
    const char *const left = strchr(keys[0], '=') + 1;
    make_tables(64, 1);
    rejected("there is no such file", "nothing.csv");
    rejected("do not balance", strchr(keys[1], '=') + 1);
    write_table(left, 0, 64, 0.9);
    rejected("must cover", left);
    write_table(left, 0, 1, 0);
    rejected("three columns", left);
}

int main(void) { return bn_test_main("kovasznay", open_tables, close_tables); }
