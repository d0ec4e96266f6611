/* test_bpm_properties.c: what steps along z must keep whatever the numbers are: order in dz, reciprocity, power,
 * symmetry, independence of keys of output. Device and reference share the matrices, so that equal bits show none of
 * this. */
#include "support_case.h"

#include "api/field.h"
#include "sim/solver.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CMPLX /* glibc has it for gcc alone */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

static bn_device *device;

static void open_all(void)
{
    open_context();
    device = opened_device();
}

typedef double _Complex number;

/* Random numbers in the unit square around 0, the same in every run. */
static number *random_field(size_t points, unsigned seed)
{
    unsigned long long state = 88172645463325252ull + seed;
    double part[2];
    number *f = malloc(points * sizeof *f);
    ck_assert_ptr_nonnull(f);
    for (size_t i = 0; i < points; i++) {
        for (int k = 0; k < 2; k++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17; /* Marsaglia's xorshift */
            part[k] = (double)(state >> 11) * 0x1p-53 - 0.5;
        }
        f[i] = CMPLX(part[0], part[1]);
    }
    return f;
}

/* What becomes of `start` (NULL: of what the case launches), to be freed. Double precision, fields that are not scaled:
 * TE between metal walls. */
static number *marched(const char *text, bn_device *on, const number *start, size_t *points,
                       const char *const *overrides)
{
    bn_case *c;
    bn_sim *sim;
    size_t count = 0;
    while (overrides[count])
        count++;
    OK(bn_case_parse(ctx, "test.toml", text, overrides, count, &c));
    OK(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = on }, &sim));
    const bn_sim_field_info *info = bn_sim_field_at(sim, 0);
    ck_assert_str_eq(info->name, "psi");
    *points = (size_t)info->n[0] * info->n[1];
    number *end = malloc(*points * sizeof *end);
    ck_assert_ptr_nonnull(end);
    if (start)
        OK(bn_field_set(bn_sim_field(sim, "psi"), (const double *)(const void *)start, 2 * *points));
    while (!bn_sim_done(sim))
        OK(bn_sim_step(sim));
    OK(bn_sim_read(sim, "psi", end, *points * sizeof *end));
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    return end;
}

#define MARCHED(text, on, start, points, ...) \
    marched((text), (on), (start), (points), (const char *const[]){ __VA_ARGS__, NULL })

/* The sums of conj(a) b and of a b, and |a - b| over |a|. */
static number inner(const number *a, const number *b, size_t points)
{
    number sum = 0;
    for (size_t i = 0; i < points; i++)
        sum += conj(a[i]) * b[i];
    return sum;
}

static number product(const number *a, const number *b, size_t points)
{
    number sum = 0;
    for (size_t i = 0; i < points; i++)
        sum += a[i] * b[i];
    return sum;
}

static double distance(const number *a, const number *b, size_t points)
{
    double sum = 0;
    for (size_t i = 0; i < points; i++)
        sum += creal(conj(a[i] - b[i]) * (a[i] - b[i]));
    return sqrt(sum / creal(inner(a, a, points)));
}

/* --- in space: a taper, then a bend, of rectangular guides; nothing in it is symmetric --- */

#define SPACE                                                                                                      \
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 36\nwidth = 9e-6\ncells_x = 28\nwidth_x = " \
    "7e-6\n"                                                                                                       \
    "[light]\nwavelength = 1.55e-6\n[material]\nindex = 1.45\nreference_index = 1.46\n"                            \
    "[launch]\nkind = \"gaussian\"\nwaist = 1.5e-6\ncentre = 3.5e-6\ncentre_x = 3e-6\n[output]\nmap = false\n"
#define FORTH                                                                                                   \
    "[[structure]]\nkind = \"taper\"\nindex = 1.5\nto = 8e-6\ncentre = 3e-6\nwidth = 1e-6\nwidth_end = 3e-6\n"  \
    "centre_x = 3e-6\nwidth_x = 2e-6\n[[structure]]\nkind = \"s-bend\"\nindex = 1.5\nfrom = 8e-6\nto = 16e-6\n" \
    "centre = 3e-6\ncentre_end = 6e-6\nwidth = 3e-6\ncentre_x = 3e-6\nwidth_x = 2e-6\n"
#define BACK                                                                                                        \
    "[[structure]]\nkind = \"taper\"\nindex = 1.5\nfrom = 8e-6\nto = 16e-6\ncentre = 3e-6\nwidth = 3e-6\n"          \
    "width_end = 1e-6\ncentre_x = 3e-6\nwidth_x = 2e-6\n[[structure]]\nkind = \"s-bend\"\nindex = 1.5\nto = 8e-6\n" \
    "centre = 6e-6\ncentre_end = 3e-6\nwidth = 3e-6\ncentre_x = 3e-6\nwidth_x = 2e-6\n"
static const char space_forth[] = SPACE FORTH "[march]\nlength = 16e-6\ndz = 0.1e-6\n";
static const char space_back[] = SPACE BACK "[march]\nlength = 16e-6\ndz = 0.1e-6\n";

TEST(space_is_of_second_order_in_changing_guides)
{
    static const char *const records[] = { "march.records=1", "march.records=10", "march.records=100000" };
    size_t points;
    for (int r = 0; r < 3; r++) {
        number *f[3];
        static const char *const dz[] = { "march.dz=0.05e-6", "march.dz=0.025e-6", "march.dz=0.0125e-6" };
        for (int k = 0; k < 3; k++)
            f[k] = MARCHED(space_forth, NULL, NULL, &points, dz[k], records[r]);
        /* Errors of order 2 and 4 in dz: the ratio is 4 but for a share of dz^2. */
        near(distance(f[0], f[1], points) / distance(f[1], f[2], points), 4, 0.035, records[r]);
        for (int k = 0; k < 3; k++)
            free(f[k]);
    }
}

/* Straight for 53 steps, bent for 64, straight again: sections and records begin at odd steps, too. */
static const char space_straight[] = SPACE
    "[[structure]]\nindex = 1.5\nto = 5.3e-6\ncentre = 3e-6\nwidth = 2e-6\ncentre_x = 3e-6\nwidth_x = 2e-6\n"
    "[[structure]]\nkind = \"s-bend\"\nindex = 1.5\nfrom = 5.3e-6\nto = 11.7e-6\ncentre = 3e-6\ncentre_end = 6e-6\n"
    "width = 2e-6\ncentre_x = 3e-6\nwidth_x = 2e-6\n"
    "[[structure]]\nindex = 1.5\nfrom = 11.7e-6\ncentre = 6e-6\nwidth = 2e-6\ncentre_x = 3e-6\nwidth_x = 2e-6\n"
    "[march]\nlength = 16e-6\ndz = 0.1e-6\n";

TEST(space_does_not_depend_on_records)
{
    static const char *const records[] = { "march.records=1", "march.records=10", "march.records=23",
                                           "march.records=160" };
    size_t points;
    number *whole = MARCHED(space_straight, NULL, NULL, &points, "march.records=32");
    for (int on = 0; on < 2; on++)
        for (size_t r = 0; r < sizeof records / sizeof *records; r++) {
            number *f = MARCHED(space_straight, on ? device : NULL, NULL, &points, records[r]);
            ck_assert_msg(memcmp(f, whole, points * sizeof *f) == 0, "%s: %g apart", records[r],
                          distance(whole, f, points));
            free(f);
        }
    free(whole);
}

TEST(space_is_reciprocal_and_keeps_the_power)
{
    static const char *const dz[] = { "march.dz=0.1e-6", "march.dz=0.16e-6", "march.dz=5.3e-6" };
    size_t points = 35 * 27;
    number *a = random_field(points, 1), *b = random_field(points, 2);
    for (size_t k = 0; k < sizeof dz / sizeof *dz; k++) {
        number *there = MARCHED(space_forth, device, a, &points, dz[k], "march.records=7");
        number *here = MARCHED(space_back, NULL, b, &points, dz[k], "march.records=3");
        const double size = sqrt(creal(inner(a, a, points)) * creal(inner(b, b, points)));
        near(cabs(product(b, there, points) - product(a, here, points)) / size, 0, 5e-16, dz[k]);
        near(creal(inner(there, there, points)) / creal(inner(a, a, points)), 1, 1.5e-14, dz[k]);
        free(there);
        free(here);
    }
    free(a);
    free(b);
}

/* The same beam beside the same guide, with x and y exchanged. */
#define UPRIGHT                                                                                             \
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 36\nwidth = 9e-6\ncells_x = 28\n"    \
    "width_x = 7e-6\n[material]\nindex = 1.45\n[[structure]]\nindex = 1.5\ncentre = 3e-6\nwidth = 1.9e-6\n" \
    "centre_x = 4e-6\nwidth_x = 3.3e-6\n[launch]\nkind = \"gaussian\"\nwaist = 1.5e-6\ncentre = 5e-6\n"     \
    "centre_x = 2e-6\n[march]\nlength = 10e-6\n[output]\nmap = false\n"
#define SWAPPED                                                                                             \
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 28\nwidth = 7e-6\ncells_x = 36\n"    \
    "width_x = 9e-6\n[material]\nindex = 1.45\n[[structure]]\nindex = 1.5\ncentre = 4e-6\nwidth = 3.3e-6\n" \
    "centre_x = 3e-6\nwidth_x = 1.9e-6\n[launch]\nkind = \"gaussian\"\nwaist = 1.5e-6\ncentre = 2e-6\n"     \
    "centre_x = 5e-6\n[march]\nlength = 10e-6\n[output]\nmap = false\n"

TEST(a_transposed_grid_gives_the_transposed_field)
{
    enum { NX = 27, NY = 35 };
    static const char *const dz[] = { "march.dz=0.05e-6", "march.dz=0.025e-6" };
    double apart[2];
    size_t points;
    for (int k = 0; k < 2; k++) {
        number *f = MARCHED(UPRIGHT, NULL, NULL, &points, dz[k]), *g = MARCHED(SWAPPED, NULL, NULL, &points, dz[k]);
        number *back = malloc(points * sizeof *back);
        ck_assert(points == (size_t)NX * NY && back);
        for (size_t j = 0; j < NY; j++)
            for (size_t i = 0; i < NX; i++)
                back[j * NX + i] = g[i * NY + j];
        apart[k] = distance(f, back, points);
        free(f);
        free(g);
        free(back);
    }
    /* They begin along different directions, which matters in second order of dz. */
    near(apart[0] / apart[1], 4, 7e-4, "second order");
}

TEST(every_side_absorbs_alike)
{
    static const char square[] =
        "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 40\nwidth = 10e-6\ncells_x = 40\n"
        "width_x = 10e-6\n[walls]\nkind = \"pml\"\nthickness = 2e-6\n[launch]\nkind = \"gaussian\"\nwaist = 1e-6\n"
        "[march]\nlength = 20e-6\ndz = 0.1e-6\n[output]\nmap = false\n";
    static const char *const places[][2] = { { "launch.centre_x=3e-6", "launch.centre=5e-6" },
                                             { "launch.centre_x=7e-6", "launch.centre=5e-6" },
                                             { "launch.centre_x=5e-6", "launch.centre=3e-6" },
                                             { "launch.centre_x=5e-6", "launch.centre=7e-6" } };
    static const char *const precise[] = { "launch.tilt=0", "launch.tilt=0.2", "launch.tilt=-0.2" };
    double left[4], tilted[2];
    for (int k = 0; k < 4; k++) {
        run r = RUN(square, NULL, places[k][0], places[k][1], precise[0]);
        left[k] = result(&r, "power");
        end_run(&r);
    }
    for (int k = 0; k < 2; k++) { /* towards y = 0 and towards the other wall */
        run r = RUN(square, NULL, places[2 + k][0], places[2 + k][1], precise[2 - k]);
        tilted[k] = result(&r, "power");
        end_run(&r);
    }
    ck_assert_msg(left[0] < 0.9 && tilted[0] < left[2], "%g and %g of the power are left", left[0], tilted[0]);
    near(left[1] / left[0], 1, 1.3e-15, "the walls at x = 0 and at the width");
    near(left[3] / left[2], 1, 1.3e-15, "the walls at y = 0 and at the width");
    near(left[2] / left[0], 1, 5e-15, "x and y, which nothing couples");
    near(tilted[1] / tilted[0], 1, 2e-14, "beams tilted towards them");
}

/* --- in a plane: guides that begin and end within one medium, whose index is the reference's: there psi is the
 * amplitude of the power in TM, too --- */

#define PLANE                                                                               \
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 48\nwidth = 12e-6\n" \
    "[light]\nwavelength = 1.55e-6\n[material]\nindex = 1.45\nreference_index = 1.45\n"     \
    "[launch]\nkind = \"gaussian\"\nwaist = 1.5e-6\ncentre = 5e-6\n[output]\nmap = false\n" \
    "[march]\nlength = 16e-6\ndz = 0.1e-6\n"
static const char plane_forth[] = PLANE
    "[[structure]]\nkind = \"taper\"\nindex = 1.9\nfrom = 1e-6\nto = 8e-6\ncentre = 5e-6\nwidth = 0.5e-6\n"
    "width_end = 3e-6\n[[structure]]\nkind = \"s-bend\"\nindex = 1.9\nfrom = 8e-6\nto = 15e-6\ncentre = 5e-6\n"
    "centre_end = 7e-6\nwidth = 3e-6\n";
static const char plane_back[] = PLANE
    "[[structure]]\nkind = \"taper\"\nindex = 1.9\nfrom = 8e-6\nto = 15e-6\ncentre = 5e-6\nwidth = 3e-6\n"
    "width_end = 0.5e-6\n[[structure]]\nkind = \"s-bend\"\nindex = 1.9\nfrom = 1e-6\nto = 8e-6\ncentre = 7e-6\n"
    "centre_end = 5e-6\nwidth = 3e-6\n";
static const char *const kinds[][2] = { { "light.polarisation=te", "march.wide_angle=false" },
                                        { "light.polarisation=tm", "march.wide_angle=false" },
                                        { "light.polarisation=te", "march.wide_angle=true" },
                                        { "light.polarisation=tm", "march.wide_angle=true" } };

TEST(planes_are_reciprocal_and_keep_the_power)
{
    size_t points = 47;
    number *a = random_field(points, 3), *b = random_field(points, 4);
    const double size = sqrt(creal(inner(a, a, points)) * creal(inner(b, b, points)));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        number *there = MARCHED(plane_forth, device, a, &points, kinds[k][0], kinds[k][1], "march.records=7");
        number *here = MARCHED(plane_back, NULL, b, &points, kinds[k][0], kinds[k][1], "march.records=3");
        near(cabs(product(b, there, points) - product(a, here, points)) / size, 0, 1.2e-15, kinds[k][k / 2]);
        near(creal(inner(there, there, points)) / creal(inner(a, a, points)), 1, 3e-14, kinds[k][k / 2]);
        free(there);
        free(here);
    }
    free(a);
    free(b);
}

TEST(planes_are_of_second_order_in_changing_guides)
{
    static const char *const dz[] = { "march.dz=0.025e-6", "march.dz=0.0125e-6", "march.dz=6.25e-9" };
    size_t points;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        number *f[3];
        for (int i = 0; i < 3; i++)
            f[i] = MARCHED(plane_forth, NULL, NULL, &points, dz[i], kinds[k][0], kinds[k][1]);
        /* A border that goes from cell to cell is a row of kinks along z: the factor of dz^2 is constant but for some
         * percent. First order would be 2. */
        near(distance(f[0], f[1], points) / distance(f[1], f[2], points), 4, 0.15, kinds[k][k / 2]);
        for (int i = 0; i < 3; i++)
            free(f[i]);
    }
}

int main(void) { return bn_test_main("bpm properties", open_all, close_context); }
