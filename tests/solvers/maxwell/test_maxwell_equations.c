/* test_maxwell_equations.c: the field that the iteration of the solver `maxwell` ends with, put into the time-harmonic
 * equations on Yee's grid as this file writes them: every edge and face of the grid, with sources, sides, absorbing
 * layers and borders of materials. H is times the impedance of vacuum, lengths are in cells, w = omega h / c:
 *
 *     i w eps E = curl H - i w (eps - eps_above) E_in      (the last terms: volume source)
 *     i w mu H = -curl E - i w (mu - mu_above) H_in
 *
 * A difference along an axis is divided by s = 1 + sigma / (i w) at its place, which is what Berenger's split fields
 * amount to in the harmonic state; sigma grows as depth^order. Then the results, summed from that field. */
#include "support_case.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
#define IMAGINARY CMPLX(0, 1)

typedef double complex cplx;

enum { VACUUM, GLASS, ABSORBER, METAL, MATERIALS };
/* Around an edge one part of metal in glass gives (3 * 2.25 - 8.99) / 4 = -0.56: too near to 0, glass alone counts. */
static const struct {
    const char *name;
    double n, k;
} material[MATERIALS] = { { "vacuum", 1, 0 }, { "glass", 1.5, 0 }, { "absorber", 1.7, 0.4 }, { "metal", 0.1, 3 } };

static cplx permittivity(int m)
{
    const cplx index = CMPLX(material[m].n, -material[m].k);
    return index * index;
}

/* What they have in magnetic settings. */
static const double mu[MATERIALS][2] = { { 1, 0 }, { 1.3, 0 }, { -4, 0.3 }, { 1.6, 0.5 } };

/* A block, or (radius > 0) a sphere about `low`. All lengths here are in cells. */
typedef struct body {
    int material;
    double low[3], high[3], radius;
} body;

enum { BODIES = 4 };

typedef struct setting {
    int n[3];
    double wavelength, incidence, azimuth, polarisation, amplitude;
    bool volume, sides, wall, sharp; /* source; absorbing sides; metal at the bottom; sharp borders */
    bool magnetic;
    int pml, order;
    double reflection;
    int above, below;
    double top; /* of the half space below */
    body bodies[BODIES];
    const char *more; /* an override */
} setting;

static const double spacing = 40e-9, epsilon = 1e-9;

static cplx permeability(const setting *s, int m) { return s->magnetic ? CMPLX(mu[m][0], -mu[m][1]) : 1; }

static void write_case(const setting *s, char *text, size_t size)
{
    size_t at = (size_t)snprintf(
        text, size,
        "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [%d, %d, %d]\nspacing = %g\n"
        "[light]\nwavelength = %.17g\nincidence = %.17g\nazimuth = %.17g\npolarisation = %.17g\namplitude = %.17g\n"
        "source = \"%s\"\nramp = 3\n[boundary]\nsides = \"%s\"\nbottom = \"%s\"\n[pml]\ncells = %d\norder = %d\n"
        "reflection = %.17g\n[structure]\nabove = \"%s\"\nbelow = \"%s\"\ntop = %.17g\nborders = \"%s\"\n"
        "[solver]\nepsilon = %.17g\nwatch_every = 10\naccelerate = \"anderson\"\n[stop]\nsteps = 20000\n",
        s->n[0], s->n[1], s->n[2], spacing, s->wavelength * spacing, s->incidence, s->azimuth, s->polarisation,
        s->amplitude, s->volume ? "volume" : "plane", s->sides ? "absorbing" : "periodic",
        s->wall ? "wall" : "absorbing", s->pml, s->order, s->reflection, material[s->above].name,
        material[s->below].name, s->top * spacing, s->sharp ? "sharp" : "average", epsilon);
    for (int m = GLASS; m < MATERIALS; m++)
        at += (size_t)snprintf(
            text + at, size - at, "[[material]]\nname = \"%s\"\nn = %.17g\nk = %.17g\nmu = %.17g\nmu_loss = %.17g\n",
            material[m].name, material[m].n, material[m].k, creal(permeability(s, m)), -cimag(permeability(s, m)));
    for (const body *b = s->bodies; b < s->bodies + BODIES && (b->radius > 0 || b->high[2] > 0); b++) {
        at += (size_t)snprintf(text + at, size - at, "[[%s]]\nmaterial = \"%s\"\n%s = [%.17g, %.17g, %.17g]\n",
                               b->radius > 0 ? "sphere" : "box", material[b->material].name,
                               b->radius > 0 ? "centre" : "from", b->low[0] * spacing, b->low[1] * spacing,
                               b->low[2] * spacing);
        at += (size_t)(b->radius > 0 ? snprintf(text + at, size - at, "radius = %.17g\n", b->radius * spacing)
                                     : snprintf(text + at, size - at, "to = [%.17g, %.17g, %.17g]\n",
                                                b->high[0] * spacing, b->high[1] * spacing, b->high[2] * spacing));
    }
    ck_assert_uint_lt(at, size);
}

/* What stands at a place; the last body wins, but blocks come before spheres. */
static int material_at(const setting *s, const double at[3])
{
    int found = at[2] < s->top ? s->below : s->above;
    for (int spheres = 0; spheres < 2; spheres++)
        for (const body *b = s->bodies; b < s->bodies + BODIES; b++) {
            double square = 0;
            bool within = true;
            for (int d = 0; d < 3; d++) {
                square += (at[d] - b->low[d]) * (at[d] - b->low[d]);
                within = within && at[d] >= b->low[d] && at[d] < b->high[d];
            }
            if (spheres ? square < b->radius * b->radius : within && b->radius == 0)
                found = b->material;
        }
    return found;
}

/* The permittivity at component c of E in a cell, and the share of each material in it. */
static cplx edge_permittivity(const setting *s, int c, const int cell[3], double share[MATERIALS])
{
    cplx eps = 0;
    int most = 0;
    memset(share, 0, MATERIALS * sizeof *share);
    if (s->sharp) {
        const int m = material_at(
            s, (const double[3]){ cell[0] + 0.5 * (c == 0), cell[1] + 0.5 * (c == 1), cell[2] + 0.5 * (c == 2) });
        share[m] = 1;
        return permittivity(m);
    }
    for (int quarter = 0; quarter < 4; quarter++) {
        double at[3];
        for (int d = 0; d < 3; d++) {
            const bool back = d == (c + 1) % 3 ? quarter & 1 : d == (c + 2) % 3 && quarter & 2;
            const int place = cell[d] - back;
            at[d] = 0.5 + (place >= 0 ? place : d == 2 || s->sides ? 0 : s->n[d] - 1);
        }
        share[material_at(s, at)] += 0.25;
    }
    for (int m = 0; m < MATERIALS; m++) {
        eps += share[m] * permittivity(m);
        most = share[m] > share[most] ? m : most;
    }
    if (fabs(creal(eps)) >= 1)
        return eps;
    memset(share, 0, MATERIALS * sizeof *share);
    share[most] = 1;
    return permittivity(most);
}

/* The permeability at component c of H in a cell, of the two cells that share the face; B is the same in both. */
static cplx face_permeability(const setting *s, int c, const int cell[3], double lost[MATERIALS])
{
    int m[2];
    memset(lost, 0, MATERIALS * sizeof *lost);
    for (int side = 0; side < 2; side++) {
        double at[3];
        for (int d = 0; d < 3; d++) {
            const int place = cell[d] - (d == c && side == 0);
            at[d] = 0.5 + (place >= 0 ? place : d == 2 || s->sides ? 0 : s->n[d] - 1);
        }
        if (s->sharp)
            at[c] = cell[c];
        m[side] = material_at(s, at);
    }
    const cplx one = permeability(s, m[0]), other = permeability(s, m[1]);
    const bool opposed = creal(one) * creal(other) < 0;
    const cplx mean = opposed ? permeability(s, m[0] < m[1] ? m[0] : m[1]) : 2 / (1 / one + 1 / other);
    if (opposed)
        lost[m[0] < m[1] ? m[0] : m[1]] = -cimag(mean);
    for (int side = 0; side < 2 && !opposed; side++) {
        const cplx of = permeability(s, m[side]);
        lost[m[side]] += -0.5 * cimag(of) * creal(mean * conj(mean)) / creal(of * conj(of));
    }
    return mean;
}

/* s of an axis at a place on it. */
static cplx stretch(const setting *s, int axis, double at)
{
    const double w = 2 * pi / s->wavelength, most = -(s->order + 1) * log(s->reflection) / (2 * s->pml);
    const bool low = axis < 2 ? s->sides : !s->wall, high = axis == 2 || s->sides;
    const double depth = fmax(low ? s->pml - at : 0, high ? at - (s->n[axis] - s->pml) : 0);
    return 1 + (depth > 0 ? most * pow(depth / s->pml, s->order) : 0) / (IMAGINARY * w);
}

/* The incident wave: wave vector, and E and H at the origin of its phase, where the source plane meets the z axis. */
typedef struct wave {
    double k[3], z;
    cplx of[2][3]; /* E, H */
} wave;

static wave incident_wave(const setting *s)
{
    const double w = 2 * pi / s->wavelength, mu_above = creal(permeability(s, s->above)),
                 n = material[s->above].n * sqrt(mu_above), across = n * w * sin(s->incidence);
    wave in = { .k = { across * cos(s->azimuth), across * sin(s->azimuth) }, .z = s->n[2] - s->pml - 3 };
    /* a difference over a cell multiplies the wave by -i K */
    double K[3] = { 2 * sin(in.k[0] / 2), 2 * sin(in.k[1] / 2) };
    K[2] = -sqrt(n * w * n * w - K[0] * K[0] - K[1] * K[1]);
    in.k[2] = 2 * asin(K[2] / 2);
    const double flat = hypot(K[0], K[1]), p = s->amplitude * cos(s->polarisation),
                 q = s->amplitude * sin(s->polarisation); /* s: z x K, p: s x K */
    double E[3] = { p, q, 0 };
    if (flat > 0) {
        E[0] = (p * K[0] * K[2] / (n * w) - q * K[1]) / flat;
        E[1] = (p * K[1] * K[2] / (n * w) + q * K[0]) / flat;
        E[2] = -p * flat / (n * w);
    }
    for (int c = 0; c < 3; c++) {
        const int a = (c + 1) % 3, b = (c + 2) % 3;
        in.of[0][c] = E[c];
        in.of[1][c] = (K[a] * E[b] - K[b] * E[a]) / (w * mu_above);
    }
    return in;
}

/* The incident wave at component c of E (h = 0) or H of a cell. */
static cplx incident(const wave *in, int h, int c, const int cell[3])
{
    double phase = 0;
    for (int d = 0; d < 3; d++)
        phase += in->k[d] * (cell[d] + ((c == d) != h ? 0.5 : 0) - (d == 2 ? in->z : 0));
    return in->of[h][c] * cexp(-IMAGINARY * phase);
}

typedef struct solution {
    const setting *s;
    wave in;
    cplx *F[2]; /* E, H */
} solution;

/* Is this component of E (h = 0) or H of a cell one of the whole field, up to the source plane, or of the scattered
 * one? */
static bool is_whole(const solution *f, int h, int c, const int cell[3])
{
    return !f->s->volume && cell[2] + (h == (c == 2) ? 0 : 0.5) <= f->in.z;
}

/* A component in a cell, which may lie outside the grid, of the whole or of the scattered field. */
static cplx value(const solution *f, int h, int c, const int cell[3], bool whole)
{
    const setting *s = f->s;
    int p[3] = { cell[0], cell[1], cell[2] };
    cplx phase = 1;
    for (int d = 0; d < 3; d++) {
        const int beyond = p[d] < 0 ? -1 : p[d] >= s->n[d];
        if (beyond && (d == 2 || s->sides))
            return 0;
        p[d] -= beyond * s->n[d];
        phase *= cexp(-IMAGINARY * beyond * f->in.k[d] * s->n[d]);
    }
    const size_t cells = (size_t)s->n[0] * (size_t)s->n[1] * (size_t)s->n[2];
    const cplx own = phase * f->F[h][(size_t)c * cells + (size_t)((p[2] * s->n[1] + p[1]) * s->n[0] + p[0])];
    return own + (whole - is_whole(f, h, c, cell)) * incident(&f->in, h, c, cell);
}

/* Component c of the curl of E (h = 0) or H, at the place of the other field's component in a cell. */
static cplx curl(const solution *f, int h, int c, const int cell[3], bool whole)
{
    cplx sum = 0;
    for (int term = 0; term < 2; term++) {
        const int axis = (c + 1 + term) % 3, of = (c + 2 - term) % 3; /* d_a F_b - d_b F_a */
        int next[3] = { cell[0], cell[1], cell[2] };
        next[axis] += h ? -1 : 1;
        const cplx difference = value(f, h, of, next, whole) - value(f, h, of, cell, whole);
        sum += (term ? -1 : 1) * (h ? -difference : difference) / stretch(f->s, axis, cell[axis] + (h ? 0 : 0.5));
    }
    return sum;
}

/* The power that a plane passes downwards: E in it, H half a cell above. */
static double flux_down(const solution *f, int k, bool whole)
{
    double sum = 0;
    for (int j = 0; j < f->s->n[1]; j++)
        for (int i = 0; i < f->s->n[0]; i++) {
            const int at[3] = { i, j, k };
            sum -= 0.5 * creal(value(f, 0, 0, at, whole) * conj(value(f, 1, 1, at, whole)) -
                               value(f, 0, 1, at, whole) * conj(value(f, 1, 0, at, whole)));
        }
    return sum;
}

/* Sums over the grid. */
typedef struct sums {
    double lost[MATERIALS], extinct; /* powers */
    double change[2];                /* largest that a step would make of E and H where the equations do not hold */
} sums;

static void look_at_cell(const solution *f, const int cell[3], sums *all)
{
    const setting *s = f->s;
    const double w = 2 * pi / s->wavelength, tau = 0.99 / sqrt(3.0);
    const int exit = s->wall || s->volume ? 0 : s->pml + 1; /* what lies deeper counts as transmitted */
    for (int c = 0; c < 3; c++) {
        double share[MATERIALS], lost[MATERIALS];
        const cplx eps = edge_permittivity(s, c, cell, share), of_face = face_permeability(s, c, cell, lost);
        const cplx in[2] = { incident(&f->in, 0, c, cell), incident(&f->in, 1, c, cell) };
        const cplx driving[2] = { IMAGINARY * w * (eps - permittivity(s->above)),
                                  IMAGINARY * w * (of_face - permeability(s, s->above)) }; /* times E, H */
        const bool on_wall = (c != 2 && cell[2] == 0) ||
                             (s->sides && ((c != 0 && cell[0] == 0) || (c != 1 && cell[1] == 0)));
        const bool whole[2] = { is_whole(f, 0, c, cell), is_whole(f, 1, c, cell) };
        const cplx of_E = curl(f, 1, c, cell, whole[0]) - IMAGINARY * w * eps * value(f, 0, c, cell, whole[0]),
                   of_H = curl(f, 0, c, cell, whole[1]) + IMAGINARY * w * of_face * value(f, 1, c, cell, whole[1]);
        const cplx E = value(f, 0, c, cell, true), H = value(f, 1, c, cell, true);
        const double change[2] = { on_wall ? cabs(value(f, 0, c, cell, whole[0]))
                                           : cabs(of_E - s->volume * driving[0] * in[0]) * tau / cabs(eps),
                                   cabs(of_H + s->volume * driving[1] * in[1]) * tau / cabs(of_face) };
        for (int h = 0; h < 2; h++)
            all->change[h] = fmax(all->change[h], change[h]);
        all->extinct += 0.5 * creal(conj(driving[0] * E) * in[0] + conj(driving[1] * H) * in[1]);
        for (int m = 0; m < MATERIALS; m++) {
            if (cell[2] > exit - (c == 2))
                all->lost[m] += 0.5 * w * share[m] * 2 * material[m].n * material[m].k * creal(E * conj(E));
            if (cell[2] > exit - (c != 2))
                all->lost[m] += 0.5 * w * lost[m] * creal(H * conj(H));
        }
    }
}

static void near_all(double value, double expected, const char *name)
{
    near(value, expected, 1e-12 * fmax(1, fabs(expected)), name); /* rounding of sums */
}

/* Cross sections. The flux through a closed surface is what is extinct and not absorbed, in the converged field. */
static void check_cross_sections(const solution *f, const sums *all, double lost, const run *r)
{
    const setting *s = f->s;
    const double unit = spacing * spacing * sqrt(creal(permeability(s, s->above))) /
                        (0.5 * material[s->above].n * s->amplitude * s->amplitude);
    near_all(result(r, "sigma_abs") / (unit * lost), 1, "w eps'' |E|^2 / 2");
    near_all(result(r, "sigma_ext") / (unit * all->extinct), 1, "Re J* E_in / 2");
    near(result(r, "sigma_sca") / (unit * (all->extinct - lost)), 1, 10 * epsilon, "Poynting's theorem");
}

/* Shares of the incident power; losses by Poynting's theorem hold in the converged field. */
static void check_shares(const solution *f, const sums *all, double lost, const run *r)
{
    const setting *s = f->s;
    const int source = (int)f->in.z;
    double incoming = 0;
    for (int j = 0; j < s->n[1]; j++)
        for (int i = 0; i < s->n[0]; i++) {
            const int at[3] = { i, j, source };
            incoming -= 0.5 * creal(incident(&f->in, 0, 0, at) * conj(incident(&f->in, 1, 1, at)) -
                                    incident(&f->in, 0, 1, at) * conj(incident(&f->in, 1, 0, at)));
        }
    near_all(result(r, "reflectance"), -flux_down(f, source + 1, false) / incoming, "flux upwards above the source");
    near_all(result(r, "transmittance"), s->wall ? 0 : flux_down(f, s->pml + 1, true) / incoming, "flux downwards");
    near_all(result(r, "absorptance"), lost / incoming, "w eps'' |E|^2 / 2");
    for (int m = 0; m < MATERIALS; m++) {
        char name[64];
        snprintf(name, sizeof name, "absorptance_%s", material[m].name);
        if (all->lost[m] > 0) {
            near_all(result(r, name), all->lost[m] / incoming, name);
            strcat(name, "_poynting");
            near(result(r, name), all->lost[m] / incoming, 10 * epsilon, name);
        }
    }
    size_t count, rows;
    const bn_column *profile = table(r, "profile", &count, &rows);
    ck_assert_int_eq((int)rows, s->n[2]);
    for (int k = 0; k < s->n[2]; k++) {
        double square = 0;
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < s->n[0] * s->n[1]; i++) {
                const cplx e = f->F[0][(c * s->n[2] + k) * s->n[0] * s->n[1] + i];
                square += creal(e * conj(e)) / (s->n[0] * s->n[1] * s->amplitude * s->amplitude);
            }
        near_all(profile[0].values[k] / spacing, k, "planes of E");
        near_all(profile[1].values[k], flux_down(f, k, k <= source) / incoming, "flux in the profile");
        near_all(profile[2].values[k], sqrt(square), "rms in the profile");
    }
}

/* The last change of E that was looked at is below epsilon of the largest E; what the next step would change of E is as
 * large, and H is four such changes of E behind. */
static void check(const setting *s)
{
    char text[4096];
    write_case(s, text, sizeof text);
    run r = RUN(text, NULL, s->more);
    ck_assert_msg(bn_sim_now(r.sim).residual < epsilon, "the iteration has not converged: %g",
                  bn_sim_now(r.sim).residual);
    size_t count;
    double *E = field(&r, "E", &count), *H = field(&r, "Z0H", &count), *n = field(&r, "n", NULL);
    double largest = 0, lost = 0;
    const solution f = { s, incident_wave(s), { (cplx *)E, (cplx *)H } };
    for (size_t i = 0; i < count / 2; i++)
        largest = fmax(largest, cabs(f.F[0][i]));
    sums all = { 0 };
    for (int k = 0; k < s->n[2]; k++)
        for (int j = 0; j < s->n[1]; j++)
            for (int i = 0; i < s->n[0]; i++) {
                look_at_cell(&f, (const int[3]){ i, j, k }, &all);
                const int m = material_at(s, (const double[3]){ i + 0.5, j + 0.5, k + 0.5 });
                const double index = fabs(creal(csqrt(permittivity(m) * permeability(s, m))));
                near(fabs(n[(k * s->n[1] + j) * s->n[0] + i]), index, 4e-15, material[m].name);
            }
    near(all.change[0] / largest, 0, 2 * epsilon, "i w eps E = curl H");
    near(all.change[1] / largest, 0, 20 * epsilon, "i w H = -curl E");
    for (int m = 0; m < MATERIALS; m++)
        lost += all.lost[m];
    (s->volume ? check_cross_sections : check_shares)(&f, &all, lost, &r);
    free(E);
    free(H);
    free(n);
    end_run(&r);
}

/* Blocks without symmetry over a lossy half space. */
static const setting blocks = { .n = { 6, 5, 30 },
                                .wavelength = 15,
                                .incidence = 0.5,
                                .azimuth = 0.6,
                                .polarisation = 0.4,
                                .amplitude = 2.5,
                                .pml = 6,
                                .order = 3,
                                .reflection = 1e-3,
                                .above = GLASS,
                                .below = ABSORBER,
                                .top = 12,
                                .bodies = { { METAL, { 1, 1, 11 }, { 4, 3, 14 }, 0 },
                                            { ABSORBER, { 3, 2, 13 }, { 7, 4, 17 }, 0 },
                                            { VACUUM, { 0, 4, 10 }, { 2, 6, 15 }, 0 } },
                                .more = "solver.courant=0.7" };

TEST(oblique_light_solves_the_equations) { check(&blocks); }

/* From the other side, borders where edges are, a metal wall in a dielectric. */
TEST(oblique_light_on_a_wall_solves_the_equations)
{
    check(&(setting){ .n = { 1, 6, 26 },
                      .wavelength = 15,
                      .incidence = 0.9,
                      .azimuth = -2.2,
                      .polarisation = -1.1,
                      .amplitude = 1,
                      .wall = true,
                      .sharp = true,
                      .pml = 6,
                      .order = 4,
                      .reflection = 1e-2,
                      .above = VACUUM,
                      .below = GLASS,
                      .top = 8.5,
                      .bodies = { { ABSORBER, { -1, 1.5, 3.5 }, { 4, 3.6, 10.7 }, 0 } } });
}

TEST(light_on_a_metal_solves_the_equations)
{
    check(
        &(setting){ .n = { 5, 6, 26 },
                    .wavelength = 15,
                    .polarisation = 0.7,
                    .amplitude = 0.5,
                    .wall = true,
                    .pml = 6,
                    .order = 2,
                    .reflection = 1e-2,
                    .above = VACUUM,
                    .below = METAL,
                    .top = 5.3,
                    .bodies = { { METAL, { 1, 1, 3 }, { 4, 3, 8 }, 0 }, { ABSORBER, { 3, 2, 5 }, { 7, 4, 10 }, 0 } } });
}

/* What scatters fills all the room that absorbing layers leave: a cell less on each side. */
static const setting sphere_and_block = { .n = { 17, 18, 19 },
                                          .wavelength = 15,
                                          .polarisation = 0.7,
                                          .amplitude = 0.5,
                                          .volume = true,
                                          .sides = true,
                                          .sharp = true,
                                          .pml = 4,
                                          .order = 2,
                                          .reflection = 1e-2,
                                          .above = GLASS,
                                          .below = GLASS,
                                          .bodies = { { ABSORBER, { 8.2, 8.1, 8.05 }, { 0 }, 3.1 },
                                                      { METAL, { 7.3, 8.6, 9.2 }, { 12.4, 13.4, 14.4 }, 0 } } };

TEST(scattered_light_solves_the_equations) { check(&sphere_and_block); }

TEST(layers_that_radiate_solve_the_equations)
{
    check(&(setting){ .n = { 5, 4, 30 },
                      .wavelength = 15,
                      .polarisation = 2,
                      .amplitude = 3,
                      .volume = true,
                      .pml = 6,
                      .order = 3,
                      .reflection = 1e-2,
                      .above = GLASS,
                      .below = GLASS,
                      .bodies = { { VACUUM, { -1, 0, 10 }, { 5, 4, 12 }, 0 },
                                  { METAL, { 1, 1, 11 }, { 3, 3, 14 }, 0 },
                                  { ABSORBER, { 2, 2, 13 }, { 4, 5, 16 }, 0 } } });
}

/* The same with magnetic materials, a longer wave, and glass in both half spaces. */
static void check_magnetic(setting s)
{
    s.wavelength = 20;
    s.magnetic = true;
    s.below = GLASS;
    check(&s);
}

TEST(oblique_light_solves_the_equations_of_magnetic_media) { check_magnetic(blocks); }

TEST(scattered_light_solves_the_equations_of_magnetic_media) { check_magnetic(sphere_and_block); }

int main(void) { return bn_test_main("maxwell-equations", open_context, close_context); }
