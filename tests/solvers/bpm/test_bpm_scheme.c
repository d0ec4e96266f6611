/* test_bpm_scheme.c: fields against the scheme of docs/bpm.md written out once more: guides as numbers, matrices that
 * are not scaled, steps solved for the new field. Both engines share profiles, matrices and what is observed, so that
 * equal bits show no mistake in them; here the reference runs alone. Lengths are in um. */
#include "support_case.h"

#include "io/png_file.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CMPLX /* glibc has it for gcc alone */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

static const double pi = 3.14159265358979323846;
static const double background = 1.45;
static const double rounding = 1e-14; /* 2^-53 in each of some 43 steps, and twice as many half steps */
enum { MOST = 80, GUIDES = 8 };

typedef double _Complex number;

/* A guide between borders that move from low, high at z `from` to low_end, high_end at `to`, straight or along half a
 * cosine; in space from low_x to high_x. */
typedef struct guide {
    number n;
    double from, to, low, high, low_end, high_end;
    bool bend;
    double low_x, high_x;
} guide;

typedef struct scene {
    guide guides[GUIDES]; /* later ones over earlier ones; ends with n = 0 */
    int cells, cells_x;
    double width, width_x, wavelength, reference, theta, length, layer, strength, more; /* more: index of all guides */
    int steps;
    bool tm, wide;
} scene;

static double border(const guide *g, double z, bool high)
{
    const double t = (z - g->from) / (g->to - g->from), share = g->bend ? (1 - cos(pi * t)) / 2 : t;
    return high ? g->high + share * (g->high_end - g->high) : g->low + share * (g->low_end - g->low);
}

static bool there(const guide *g, double z) { return z >= g->from && z < g->to; }

static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* The mean of n^2 (of n^-2) between low and high, piece by piece between all borders. */
static number mean(const scene *s, double low, double high, double z, bool inverse)
{
    double at[2 * GUIDES + 2] = { low, high };
    size_t count = 2;
    number sum = 0;
    for (const guide *g = s->guides; g->n != 0; g++)
        for (int side = 0; there(g, z) && side < 2; side++)
            if (border(g, z, side) > low && border(g, z, side) < high)
                at[count++] = border(g, z, side);
    qsort(at, count, sizeof *at, ascending);
    for (size_t i = 0; i + 1 < count; i++) {
        const double middle = 0.5 * (at[i] + at[i + 1]);
        number n = background;
        for (const guide *g = s->guides; g->n != 0; g++)
            if (there(g, z) && border(g, z, false) < middle && middle < border(g, z, true))
                n = g->n + s->more;
        sum += (at[i + 1] - at[i]) * (inverse ? 1 / (n * n) : n * n);
    }
    return sum / (high - low);
}

static double share(double low, double high, double at, double h)
{
    return fmax(0, fmin(high, at + h / 2) - fmax(low, at - h / 2)) / h;
}

/* The mean of n^2 over a cell of the cross-section; at most one guide in it. */
static number mean_space(const scene *s, double x, double y, double z)
{
    number sum = background * background;
    for (const guide *g = s->guides; g->n != 0; g++)
        if (there(g, z))
            sum += share(g->low_x, g->high_x, x, s->width_x / s->cells_x) *
                   share(border(g, z, false), border(g, z, true), y, s->width / s->cells) *
                   ((g->n + s->more) * (g->n + s->more) - background * background);
    return sum;
}

static number stretch(const scene *s, double at, double width)
{
    const double depth = fmax(s->layer - at, at - (width - s->layer)) / fmax(s->layer, 1e-9);
    return depth > 0 ? CMPLX(1, -s->strength * depth * depth) : 1;
}

/* P as three entries a row: w_i (m_(i+1/2) (f_(i+1) - f_i) - m_(i-1/2) (f_i - f_(i-1))) + own_i f_i. */
typedef struct rows {
    int n;
    number below[MOST], at[MOST], above[MOST];
} rows;

static void make_rows(const scene *s, double width, int cells, const number *w, const number *m, const number *own,
                      rows *P)
{
    const double h = width / cells, k = 2 * pi / s->wavelength * s->reference;
    P->n = cells - 1;
    for (int i = 0; i < P->n; i++) {
        const number scale = w[i] / (h * h * k * k) / stretch(s, (i + 1) * h, width);
        P->below[i] = scale * m[i] / stretch(s, (i + 0.5) * h, width);
        P->above[i] = scale * m[i + 1] / stretch(s, (i + 1.5) * h, width);
        P->at[i] = own[i] - P->below[i] - P->above[i];
    }
}

static number applied(const rows *P, const number *f, int stride, int i)
{
    return P->at[i] * f[i * stride] + (i > 0 ? P->below[i] * f[(i - 1) * stride] : 0) +
           (i + 1 < P->n ? P->above[i] * f[(i + 1) * stride] : 0);
}

/* (1 + p P) new = (1 + q P) old, by Gauss' elimination. */
static void step(const rows *P, number p, number q, number *f, int stride)
{
    number g[MOST], c[MOST];
    for (int i = 0; i < P->n; i++)
        g[i] = f[i * stride] + q * applied(P, f, stride, i);
    for (int i = 0; i < P->n; i++) {
        const number below = i > 0 ? p * P->below[i] : 0, d = 1 + p * P->at[i] - (i > 0 ? below * c[i - 1] : 0);
        c[i] = p * P->above[i] / d;
        g[i] = (g[i] - (i > 0 ? below * g[i - 1] : 0)) / d;
    }
    for (int i = P->n - 1; i >= 0; i--)
        f[i * stride] = g[i] - (i + 1 < P->n ? c[i] * f[(i + 1) * stride] : 0);
}

static void weights(const scene *s, number *p, number *q)
{
    const double kdz = 2 * pi / s->wavelength * s->reference * s->length / s->steps, w = s->wide ? 0.25 : 0;
    *p = CMPLX(w, kdz * s->theta / 2);
    *q = CMPLX(w, -kdz * (1 - s->theta) / 2);
}

/* P in the plane at z, and H over the amplitude of the power (TE: 1). */
static void plane_rows(const scene *s, double z, rows *P, number *root)
{
    const double h = s->width / s->cells;
    number w[MOST], m[MOST], own[MOST];
    for (int i = 0; i < s->cells; i++) {
        const double y = (i + 1) * h;
        const number n2 = s->tm ? 1 / mean(s, y - h / 2, y + h / 2, z, true) : mean(s, y - h / 2, y + h / 2, z, false);
        w[i] = s->tm ? n2 : 1;
        m[i] = s->tm ? 1 / mean(s, y - h, y, z, false) : 1; /* between nodes n^-2 H_y is continuous, and n^2 adds up */
        own[i] = n2 / (s->reference * s->reference) - 1;
        root[i] = s->tm ? csqrt(n2) / s->reference : 1;
    }
    make_rows(s, s->width, s->cells, w, m, own, P);
}

/* E (TM: H) over exp(-i k z) through the whole scene. Where the guides change H n_ref / n is continuous. */
static void propagate_plane(const scene *s, number *f)
{
    rows P;
    number p, q, root[MOST], before[MOST];
    weights(s, &p, &q);
    for (int k = 0; k < s->steps; k++) {
        plane_rows(s, (k + 0.5) * s->length / s->steps, &P, root);
        for (int i = 0; i < P.n; i++) {
            f[i] *= k > 0 ? root[i] / before[i] : 1;
            before[i] = root[i];
        }
        step(&P, p, q, f, 1);
    }
}

/* P along line number `line` of a direction, with half of the index. */
static void space_rows(const scene *s, bool along_y, int line, double z, rows *P)
{
    const double hx = s->width_x / s->cells_x, hy = s->width / s->cells;
    const int cells = along_y ? s->cells : s->cells_x;
    number ones[MOST], own[MOST];
    for (int i = 0; i < cells; i++) {
        const number n2 = mean_space(s, ((along_y ? line : i) + 1) * hx, ((along_y ? i : line) + 1) * hy, z);
        own[i] = 0.5 * (n2 / (s->reference * s->reference) - 1);
        ones[i] = 1;
    }
    make_rows(s, along_y ? s->width : s->width_x, cells, ones, ones, own, P);
}

/* x first in even steps, y in odd ones. */
static void propagate_space(const scene *s, number p, number q, int steps, number *f)
{
    const int nx = s->cells_x - 1, ny = s->cells - 1;
    rows P;
    for (int k = 0; k < 2 * steps; k++) {
        const bool along_y = (k + 1) / 2 % 2;
        for (int line = 0; line < (along_y ? nx : ny); line++) {
            space_rows(s, along_y, line, (k / 2 + 0.5) * s->length / s->steps, &P);
            step(&P, p, q, along_y ? f + line : f + line * nx, along_y ? nx : 1);
        }
    }
}

/* The field itself at the end, to be freed. */
static number *envelope(const run *r) { return (number *)(void *)field(r, "envelope", NULL); }

static double distance(const number *a, const number *b, size_t points)
{
    double sum = 0, size = 0;
    for (size_t i = 0; i < points; i++) {
        sum += creal((a[i] - b[i]) * conj(a[i] - b[i]));
        size += creal(b[i] * conj(b[i]));
    }
    return sqrt(sum / size);
}

/* exp(-y^2 / w^2) towards +y in the background. */
static number gaussian(const scene *s, double y, double waist, double tilt)
{
    return exp(-y * y / (waist * waist)) * cexp(CMPLX(0, -2 * pi / s->wavelength * background * sin(tilt) * y));
}

/* --- in a plane --- */

#define PLANE                                                                               \
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 48\nwidth = 12e-6\n" \
    "[light]\nwavelength = 1.55e-6\n[material]\nindex = 1.45\nreference_index = 1.48\n"     \
    "[launch]\nkind = \"gaussian\"\nwaist = 1.6e-6\ncentre = 5.1e-6\ntilt = 0.15\n"         \
    "[march]\nlength = 4.3e-6\ndz = 0.102e-6\nrecords = 5\n[output]\nmap = false\n"
#define PLANE_SCENE                                                                                            \
    .cells = 48, .width = 12, .wavelength = 1.55, .reference = 1.48, .theta = 0.5, .length = 4.3, .steps = 42, \
    .strength = 3

static const char tapers[] = PLANE
    "[[structure]]\nkind = \"taper\"\nindex = 1.6\nfrom = 0.5e-6\nto = 3e-6\ncentre = 3e-6\nwidth = 0.7e-6\n"
    "width_end = 1.9e-6\n[[structure]]\nkind = \"s-bend\"\nindex = 1.55\nabsorption = 2e-3\nfrom = 1e-6\nto = 4e-6\n"
    "centre = 8.6e-6\ncentre_end = 7.3e-6\nwidth = 1.1e-6\n";
static const char arms[] = PLANE
    "[[structure]]\nkind = \"coupler\"\nindex = 1.5\ncentre = 6e-6\nwidth = 0.8e-6\nseparation = 6.2e-6\n"
    "[[structure]]\nindex = 1.7\nfrom = 1e-6\nto = 2.03e-6\ncentre = 3e-6\nwidth = 0.4e-6\n"
    "[[structure]]\nkind = \"y-junction\"\nindex = 1.6\nfrom = 0.4e-6\nto = 4.15e-6\ncentre = 6.1e-6\nwidth = 0.9e-6\n"
    "separation = 0.3e-6\nseparation_end = 3.1e-6\n";
static const scene scenes[2] = {
    { PLANE_SCENE, .guides = { { 1.6, 0.5, 3, 2.65, 3.35, 2.05, 3.95, false },
                               { CMPLX(1.55, -2e-3), 1, 4, 8.05, 9.15, 6.75, 7.85, true } } },
    { PLANE_SCENE, .guides = { { 1.5, 0, 9, 2.5, 3.3, 2.5, 3.3, false },
                               { 1.5, 0, 9, 8.7, 9.5, 8.7, 9.5, false },
                               { 1.7, 1, 2.03, 2.8, 3.2, 2.8, 3.2, false },
                               { 1.6, 0.4, 4.15, 5.5, 6.4, 4.1, 5, true },
                               { 1.6, 0.4, 4.15, 5.8, 6.7, 7.2, 8.1, true } } },
};

TEST(planes_follow_the_scheme)
{
    static const char *const texts[2] = { tapers, arms };
    static const char *const options[4][2] = { { "light.polarisation=te", "light.polarisation=tm" },
                                               { "march.wide_angle=false", "march.wide_angle=true" },
                                               { "march.theta=0.5", "march.theta=0.7" },
                                               { "walls.kind=metal", "walls.kind=pml" } };
    for (int k = 0; k < 32; k++) {
        scene s = scenes[k / 16];
        number f[MOST];
        char what[160];
        const char *const o[4] = { options[0][k & 1], options[1][k >> 1 & 1], options[2][k >> 2 & 1],
                                   options[3][k >> 3 & 1] };
        s.tm = k & 1;
        s.wide = k & 2;
        s.theta = k & 4 ? 0.7 : 0.5;
        s.layer = k & 8 ? 1.8 : 0;
        snprintf(what, sizeof what, "scene %d, %s, %s, %s, %s", k / 16, o[0], o[1], o[2], o[3]);
        run r = k & 8 ? RUN(texts[k / 16], NULL, o[0], o[1], o[2], o[3], "walls.thickness=1.8e-6", "walls.strength=3")
                      : RUN(texts[k / 16], NULL, o[0], o[1], o[2], o[3]);
        number *found = envelope(&r);
        for (int i = 0; i < 47; i++)
            f[i] = gaussian(&s, (i + 1) * 0.25 - 5.1, 1.6, 0.15);
        propagate_plane(&s, f);
        near(distance(found, f, 47), 0, rounding, what);
        free(found);
        end_run(&r);
    }
}

TEST(beams_of_a_batch_follow_the_scheme)
{
    /* |r|^24 = exp(-50) < 2^-57: what is carried along counts in the next chunk, and in no other. */
    run r = RUN(tapers, NULL, "batch.count=3", "batch.wavelength=[1.4e-6,1.7e-6]", "batch.offset=[-1e-6,0.5e-6]",
                "batch.index=[0.01,0.05]", "solver.chunk=24");
    number *found = envelope(&r);
    for (int beam = 0; beam < 3; beam++) {
        scene s = scenes[0];
        number f[MOST];
        s.wavelength = 1.4 + 0.15 * beam;
        s.more = 0.01 + 0.02 * beam;
        for (int i = 0; i < 47; i++)
            f[i] = gaussian(&s, (i + 1) * 0.25 - 5.1 - (-1 + 0.75 * beam), 1.6, 0.15);
        propagate_plane(&s, f);
        near(distance(found + 47 * (size_t)beam, f, 47), 0, rounding, "wavelength, offset and index of its own");
    }
    free(found);
    end_run(&r);
}

/* --- in space --- */

#define SPACE                                                                                                      \
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 45\nwidth = 9e-6\ncells_x = 28\nwidth_x = " \
    "7e-6\n"                                                                                                       \
    "[light]\nwavelength = 1.55e-6\n[material]\nindex = 1.45\nreference_index = 1.48\n"                            \
    "[launch]\nkind = \"gaussian\"\nwaist = 1.6e-6\ncentre = 4.1e-6\ncentre_x = 3.2e-6\ntilt = 0.15\n"             \
    "[march]\nlength = 4.3e-6\ndz = 0.1e-6\nrecords = 5\n[output]\nmap = false\n"
static const char space[] = SPACE
    "[[structure]]\nkind = \"taper\"\nindex = 1.6\nfrom = 0.5e-6\nto = 3e-6\ncentre = 3e-6\nwidth = 0.7e-6\n"
    "width_end = 1.9e-6\nwidth_x = 1.3e-6\ncentre_x = 2.3e-6\n"
    "[[structure]]\nkind = \"s-bend\"\nindex = 1.55\nabsorption = 2e-3\nfrom = 1e-6\nto = 4e-6\ncentre = 6.6e-6\n"
    "centre_end = 5.9e-6\nwidth = 1.1e-6\nwidth_x = 2.1e-6\n";
static const scene space_scene = { .cells = 45,
                                   .width = 9,
                                   .cells_x = 28,
                                   .width_x = 7,
                                   .wavelength = 1.55,
                                   .reference = 1.48,
                                   .length = 4.3,
                                   .steps = 44,
                                   .strength = 3,
                                   .guides = {
                                       { 1.6, 0.5, 3, 2.65, 3.35, 2.05, 3.95, false, 1.65, 2.95 },
                                       { CMPLX(1.55, -2e-3), 1, 4, 6.05, 7.15, 5.35, 6.45, true, 2.45, 4.55 } } };

TEST(space_follows_the_scheme)
{
    enum { NX = 27, NY = 44 };
    static const char offset[] = "batch.offset=[0.3e-6,0.3e-6]", index[] = "batch.index=[0.02,0.02]";
    for (int k = 0; k < 4; k++) {
        scene s = space_scene;
        number f[NX * NY], p, q;
        s.theta = k & 1 ? 0.7 : 0.5;
        s.layer = k & 2 ? 1.6 : 0;
        s.more = 0.02;
        const char *theta = k & 1 ? "march.theta=0.7" : "march.theta=0.5";
        run r = k & 2 ? RUN(space, NULL, theta, offset, index, "walls.kind=pml", "walls.thickness=1.6e-6",
                            "walls.strength=3")
                      : RUN(space, NULL, theta, offset, index);
        number *found = envelope(&r);
        for (int i = 0; i < NX * NY; i++) {
            const double x = (i % NX + 1) * 0.25 - 3.2;
            f[i] = exp(-x * x / 2.56) * gaussian(&s, (i / NX + 1) * 0.2 - 4.4, 1.6, 0.15);
        }
        weights(&s, &p, &q);
        propagate_space(&s, p, q, s.steps, f);
        near(distance(found, f, NX * NY), 0, 2 * rounding, k & 2 ? "absorbing layers" : "metal walls");
        free(found);
        end_run(&r);
    }
}

/* A cell with borders of two rectangles that touch is the cell of one. */
TEST(rectangles_that_touch_are_one)
{
    static const char *const parts[2] = {
        "[[structure]]\nindex = 1.6\ncentre = 4e-6\nwidth = 2.3e-6\ncentre_x = 3e-6\nwidth_x = 1.9e-6\n",
        "[[structure]]\nindex = 1.6\ncentre = 3.5e-6\nwidth = 1.3e-6\ncentre_x = 2.6e-6\nwidth_x = 1.1e-6\n"
        "[[structure]]\nindex = 1.6\ncentre = 3.5e-6\nwidth = 1.3e-6\ncentre_x = 3.55e-6\nwidth_x = 0.8e-6\n"
        "[[structure]]\nindex = 1.6\ncentre = 4.65e-6\nwidth = 1e-6\ncentre_x = 3e-6\nwidth_x = 1.9e-6\n"
    };
    double *index[2];
    size_t points;
    for (int k = 0; k < 2; k++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s", SPACE, parts[k]);
        run r = RUN(text, NULL, "march.length=0.2e-6");
        index[k] = field(&r, "index", &points);
        end_run(&r);
    }
    for (size_t i = 0; i < points; i++)
        near(index[1][i], index[0][i], 1e-15, "rounding of a sum of four");
    free(index[0]);
    free(index[1]);
}

/* Round guides: the area under n^2 - n_b^2, its middle, and its second moments; a step's R^2 / 4, of a parabola
 * R^2 / 6. The border is known to h / 16 = R / 105, at random places of some 50 cells: R / 105 / sqrt(50) = 1e-3 R; in
 * the area it cancels but for (R / 105)^2. */
TEST(round_guides_have_their_area_and_place)
{
    static const struct {
        const char *kind;
        double area, moment;
    } guides[] = { { "kind = \"fibre\"", 1, 1. / 4 }, { "kind = \"graded-fibre\"", 0.5, 1. / 6 } };
    for (int k = 0; k < 2; k++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "%s[[structure]]\n%s\nindex = 1.6\nwidth = 3.3e-6\ncentre = 5.1e-6\ncentre_x = 2.6e-6\n", SPACE,
                 guides[k].kind);
        run r = RUN(text, NULL, "march.length=0.2e-6", "grid.cells=72");
        const double R = 1.65, step = 1.6 * 1.6 - background * background;
        double sum = 0, x1 = 0, y1 = 0, x2 = 0, y2 = 0, *index = field(&r, "index", NULL);
        for (int i = 0; i < 27 * 71; i++) {
            const double n2 = (index[i] * index[i] - background * background) / step * 0.25 * 0.125,
                         x = (i % 27 + 1) * 0.25 - 2.6, y = (i / 27 + 1) * 0.125 - 5.1;
            sum += n2;
            x1 += n2 * x;
            y1 += n2 * y;
            x2 += n2 * x * x;
            y2 += n2 * y * y;
        }
        /* A cell counts at its middle, up to h / 2 away, which adds h^2 / 12. */
        near(sum / (guides[k].area * pi * R * R), 1, 1.5e-4, guides[k].kind);
        near(x1 / sum, 0, 5e-4, "its place along x");
        near(y1 / sum, 0, 5e-4, "its place along y");
        near((x2 / sum - 0.25 * 0.25 / 12) / (R * R), guides[k].moment, 1e-3, "its moment along x");
        near((y2 / sum - 0.125 * 0.125 / 12) / (R * R), guides[k].moment, 1e-3, "its moment along y");
        free(index);
        end_run(&r);
    }
}

/* --- modes --- */

#define GUIDES_TEXT                                                                                                 \
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 48\nwidth = 12e-6\n"                         \
    "[light]\nwavelength = 1.55e-6\n[material]\nindex = 1.45\n[march]\nlength = 4.3e-6\ndz = 0.1e-6\nrecords = 5\n" \
    "[output]\nmap = false\n"                                                                                       \
    "[[structure]]\nkind = \"coupler\"\nindex = 1.6\ncentre = 6e-6\nwidth = 1.3e-6\nseparation = 4.2e-6\n"          \
    "[[structure]]\nindex = 1.7\ncentre = 3.9e-6\nwidth = 0.7e-6\n"
static const scene pair_of_guides = { PLANE_SCENE, .guides = { { 1.6, 0, 9, 3.25, 4.55, 3.25, 4.55 },
                                                               { 1.6, 0, 9, 7.45, 8.75, 7.45, 8.75 },
                                                               { 1.7, 0, 9, 3.55, 4.25, 3.55, 4.25 } } };

/* The reference index is the mode's by default: the mode has no phase, and P psi = 0 for what is left after all steps.
 */
TEST(modes_solve_the_scheme)
{
    static const char *const modes[] = { "launch.mode=0", "launch.mode=1", "launch.mode=2" };
    static const char *const polarisations[] = { "light.polarisation=te", "light.polarisation=tm" };
    for (int k = 0; k < 6; k++) {
        scene s = pair_of_guides;
        rows P;
        number root[MOST], rest[MOST], p, q;
        int signs = 0;
        double largest = 0;
        run r = RUN(GUIDES_TEXT, NULL, modes[k / 2], polarisations[k % 2]);
        run layers = RUN(GUIDES_TEXT, NULL, modes[k / 2], polarisations[k % 2], "walls.kind=pml",
                         "material.reference_index=1.5", "march.wide_angle=true");
        number *f = envelope(&r);
        const double n_eff = s.reference = result(&r, "n_eff");
        s.tm = k % 2;
        plane_rows(&s, 0, &P, root);
        for (int i = 0; i < P.n; i++) {
            rest[i] = f[i] + applied(&P, f, 1, i);
            signs += i > 0 && creal(f[i]) * creal(f[i - 1]) < 0;
            largest = fmax(largest, fabs(creal(f[i])));
        }
        near(distance(rest, f, 47), 0, 1e-15, "P psi = 0");
        near(largest, 1, 1e-15, "the largest value is 1");
        ck_assert_int_eq(signs, k / 2);
        near(result(&r, "marched_index"), n_eff, 1e-15, "no phase along z");
        near(result(&r, "overlap_mode"), 1, 2e-15, "and no other mode");
        near(result(&layers, "n_eff"), n_eff, 0, "the guide's, whatever is before the walls");
        end_run(&layers);
        /* Against another index the phase is the scheme's. */
        s.reference = 1.5;
        s.wide = true;
        s.theta = 0.5;
        s.steps = 43;
        weights(&s, &p, &q);
        const double ratio = n_eff / 1.5, own = ratio * ratio - 1;
        run other = RUN(GUIDES_TEXT, NULL, modes[k / 2], polarisations[k % 2], "material.reference_index=1.5",
                        "march.wide_angle=true");
        near(result(&other, "marched_index"), 1.5 - carg((1 + q * own) / (1 + p * own)) / 0.1 * 1.55 / (2 * pi), 1e-15,
             "arg((1 + q P) / (1 + p P)) a step");
        near(result(&other, "beta") * 1e-6, result(&other, "marched_index") * 2 * pi / 1.55, 2e-15, "k0 times that");
        near(result(&other, "phase_error"), 0, 1e-14, "the closed form's own");
        free(f);
        end_run(&r);
        end_run(&other);
    }
}

#define MODE                                                                                                      \
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[light]\nwavelength = 1.55e-6\n[material]\nindex = 1.45\n" \
    "[march]\nlength = 4.3e-6\ndz = 0.1e-6\nrecords = 5\n[output]\nmap = false\n"

/* A guide from wall to wall in space has the plane's mode times half a sine. Steps along imaginary z split the guide,
 * so that the mode is off by a share of their length, and its index by a share of the square. */
TEST(a_mode_in_space_is_that_of_the_plane_times_a_sine)
{
    static const char upright[] = "[grid]\ncells = 48\nwidth = 12e-6\ncells_x = 20\nwidth_x = 7e-6\n[[structure]]\n"
                                  "index = 1.5\ncentre = 3.9e-6\nwidth = 1.3e-6\n",
                      lying[] = "[grid]\ncells = 20\nwidth = 7e-6\ncells_x = 48\nwidth_x = 12e-6\n[[structure]]\n"
                                "index = 1.5\ncentre_x = 3.9e-6\nwidth_x = 1.3e-6\nwidth = 1\n";
    static const char *const lengths[2] = { "launch.relax_dz=4e-6", "launch.relax_dz=2e-6" };
    static const char *const walls[2] = { "walls.kind=metal", "walls.kind=pml" };
    const double sine = 2 * sin(pi / 40) / (0.35 * 2 * pi / 1.55);
    char text[2048];
    for (int k = 0; k < 2; k++) {
        double off[2];
        snprintf(text, sizeof text, "%s%s", MODE, upright);
        run plane = RUN(text, NULL, "grid.cells_x=0");
        const double n_eff = sqrt(pow(result(&plane, "n_eff"), 2) - sine * sine);
        number *f = envelope(&plane), product[19 * 47];
        snprintf(text, sizeof text, "%s%s", MODE, k ? lying : upright);
        for (int i = 0; i < 2; i++) {
            run r = RUN(text, NULL, lengths[i], "launch.relax_tolerance=1e-13", "launch.relax_steps=100", walls[k]);
            off[i] = result(&r, "n_eff") - n_eff;
            if (k == 0) {
                number *g = envelope(&r), *start = (number *)(void *)field(&r, "start", NULL);
                double largest = 0;
                for (int at = 0; at < 19 * 47; at++) {
                    product[at] = f[at / 19] * sin(pi * (at % 19 + 1) / 20);
                    largest = fmax(largest, cabs(start[at]));
                }
                near(distance(g, product, 19 * 47), 0, 1e-3, "the mode, which march.dz splits, too");
                near(largest, 1, 1e-15, "the largest value is 1");
                near(result(&r, "marched_index"), result(&r, "n_eff"), 2e-6, "hardly a phase along z");
                free(g);
                free(start);
            }
            end_run(&r);
        }
        near(off[0] / off[1], 4, 0.1, "second order in launch.relax_dz");
        near((4 * off[1] - off[0]) / 3, 0, 2e-10, "n^2 - (2 sin(pi / 2 N) / h k0)^2");
        free(f);
        end_run(&plane);
    }
}

/* The search step by step: real steps along imaginary z, (1 + p P) new = old with p = -k tau / 2 against the highest
 * index, from a spot on the first guide. It ends a stage, and takes a quarter of tau, when the index changes by less
 * than the tolerance, which the first step cannot tell. */
TEST(the_search_for_a_mode_follows_its_keys)
{
    enum { NX = 27, NY = 44, COUNT = 3 };
    static const int stages[] = { 0, 0, 1, 2, 3, 4 };
    scene s = space_scene;
    number f[NX * NY];
    s.reference = 1.6;
    s.steps = 44;
    s.guides[0] = (guide){ 1.6, 0, 9, 3.05, 4.95, 3.05, 4.95, false, 2.45, 4.55 };
    s.guides[1] = (guide){ 1.5, 0, 9, 5.95, 6.65, 5.95, 6.65, false, 2.05, 4.95 };
    run r = RUN("[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 45\nwidth = 9e-6\ncells_x = 28\n"
                "width_x = 7e-6\n[light]\nwavelength = 1.55e-6\n[material]\nindex = 1.45\n[march]\nlength = 4.3e-6\n"
                "dz = 0.1e-6\n[output]\nmap = false\n[launch]\nrelax_dz = 1e-6\nrelax_steps = 3\nrelax_tolerance = "
                "0.1\n[[structure]]\nindex = 1.6\ncentre = 4e-6\nwidth = 1.9e-6\ncentre_x = 3.5e-6\nwidth_x = 2.1e-6\n"
                "[[structure]]\nindex = 1.5\ncentre = 6.3e-6\nwidth = 0.7e-6\ncentre_x = 3.5e-6\nwidth_x = 2.9e-6\n",
                NULL, "case.title=search");
    number *start = (number *)(void *)field(&r, "start", NULL), sum = 0;
    double size = 0, largest = 0;
    for (int i = 0; i < NX * NY; i++)
        f[i] = exp(-(pow((i % NX + 1) * 0.25 - 3.5, 2) + pow((i / NX + 1) * 0.2 - 4, 2)) / (1.9 * 1.9));
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        propagate_space(&s, -0.5 * 2 * pi / 1.55 * s.reference * pow(4, -stages[i]), 0, COUNT, f);
    for (int i = 0; i < NX * NY; i++)
        largest = fmax(largest, cabs(f[i]));
    for (int i = 0; i < NX * NY; i++)
        f[i] /= largest;
    near(distance(start, f, NX * NY), 0, rounding, "18 steps");
    for (int d = 0; d < 2; d++)
        for (int line = 0; line < (d ? NX : NY); line++) {
            rows P;
            space_rows(&s, d, line, 0, &P);
            for (int i = 0; i < P.n; i++) {
                const number *here = d ? f + line : f + line * NX;
                sum += conj(here[d ? i * NX : i]) * applied(&P, here, d ? NX : 1, i);
                size += d ? 0 : creal(here[i] * conj(here[i]));
            }
        }
    near(result(&r, "n_eff"), 1.6 * sqrt(1 + creal(sum) / size), rounding,
         "Rayleigh's quotient of the unsplit operator");
    free(start);
    end_run(&r);
}

/* --- transforms: a plane wave that fits the period, 48 points of 0.25 um, is one number in the spectrum --- */

TEST(transforms_are_exact_for_plane_waves)
{
    enum { N = 48 };
    static const struct {
        const char *reference, *wide;
        double n_ref;
        int waves;
        double limit;
    } kinds[] = { { "material.reference_index=1.48", "march.wide_angle=false", 1.48, 3, 4e-14 },
                  { "material.reference_index=1.48", "march.wide_angle=true", 1.48, -3, 4e-14 },
                  { "material.reference_index=1", "march.wide_angle=true", 1, 8, 8e-13 } }; /* decays by 85 */
    for (int k = 0; k < 6; k++) {
        const double k0 = 2 * pi / 1.55, ky = 2 * pi * kinds[k % 3].waves / 12, n_ref = kinds[k % 3].n_ref;
        const number P = -ky * ky / (k0 * k0 * n_ref * n_ref), n = CMPLX(1.5, -3e-3);
        const number root = k % 3 == 0 ? P / 2 : conj(csqrt(1 + P)) - 1;
        const number along = k0 * n_ref * root + k0 / (2 * n_ref) * (n * n - n_ref * n_ref);
        char tilt[64];
        snprintf(tilt, sizeof tilt, "launch.tilt=%.17g", asin(ky / (k0 * background)));
        run r = RUN(
            "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 49\nwidth = 12.25e-6\n"
            "width_x = 9e-6\n[light]\nwavelength = 1.55e-6\n[material]\nindex = 1.45\n[[structure]]\n"
            "index = 1.5\nabsorption = 3e-3\nwidth = 1\n[launch]\nkind = \"plane\"\n[solver]\nmethod = \"fft\"\n"
            "[march]\nlength = 4.3e-6\ndz = 0.1e-6\n[output]\nmap = false\n",
            NULL, kinds[k % 3].reference, kinds[k % 3].wide, tilt, k < 3 ? "grid.cells_x=0" : "grid.cells_x=36");
        const int nx = k < 3 ? 1 : 35;
        number *found = envelope(&r), expected[N * 35];
        for (int i = 0; i < N * nx; i++) {
            const double y = (i / nx + 1) * 0.25 - 6.125; /* the phase is 0 in the middle */
            expected[i] = cexp(CMPLX(0, -1) * (ky * y + along * 4.3));
        }
        near(distance(found, expected, (size_t)(N * nx)), 0, kinds[k % 3].limit, tilt);
        free(found);
        end_run(&r);
    }
}

TEST(transforms_of_exchanged_axes_are_exchanged)
{
    enum { NX = 35, NY = 48 };
    static const char text[] = "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[light]\nwavelength = 1.55e-6\n"
                               "[material]\nindex = 1.45\n[solver]\nmethod = \"fft\"\n[march]\nlength = 4.3e-6\n"
                               "dz = 0.1e-6\nwide_angle = true\n[launch]\nkind = \"gaussian\"\nwaist = 1.6e-6\n";
    static const char *const guides[2] = {
        "[grid]\ncells = 49\nwidth = 12.25e-6\ncells_x = 36\nwidth_x = 7.2e-6\n[[structure]]\nindex = 1.6\n"
        "centre = 4.1e-6\nwidth = 1.3e-6\ncentre_x = 2.2e-6\nwidth_x = 2.1e-6\n",
        "[grid]\ncells = 36\nwidth = 7.2e-6\ncells_x = 49\nwidth_x = 12.25e-6\n[[structure]]\nindex = 1.6\n"
        "centre = 2.2e-6\nwidth = 2.1e-6\ncentre_x = 4.1e-6\nwidth_x = 1.3e-6\n"
    };
    number *f[2], back[NX * NY];
    for (int k = 0; k < 2; k++) {
        char whole[2048];
        snprintf(whole, sizeof whole, "%s%s", text, guides[k]);
        run r = RUN(whole, NULL, k ? "launch.centre=3e-6" : "launch.centre=5e-6",
                    k ? "launch.centre_x=5e-6" : "launch.centre_x=3e-6");
        f[k] = envelope(&r);
        end_run(&r);
    }
    for (int i = 0; i < NX * NY; i++)
        back[i] = f[1][i % NX * NY + i / NX];
    near(distance(f[0], back, NX * NY), 0, 5e-15, "x and y, which are not split");
    free(f[0]);
    free(f[1]);
}

/* In guides the index is split from the spectrum: second order, as an error of order 2 and one of order 4 say. */
TEST(transforms_are_of_second_order_in_guides)
{
    static const char *const steps[] = { "march.dz=0.05e-6", "march.dz=0.025e-6", "march.dz=0.0125e-6" };
    static const char *const axes[] = { "grid.cells_x=0", "grid.cells_x=16" };
    for (int k = 0; k < 2; k++) {
        number *f[3];
        const size_t points = k ? 48 * 15 : 48;
        for (int i = 0; i < 3; i++) {
            run r = RUN(GUIDES_TEXT, NULL, steps[i], axes[k], "grid.cells=49", "solver.method=fft", "march.length=4e-6",
                        "launch.kind=gaussian", "launch.centre=5e-6", "material.reference_index=1.5");
            f[i] = envelope(&r);
            end_run(&r);
        }
        near(distance(f[0], f[1], points) / distance(f[1], f[2], points), 4, 0.015, axes[k]);
        for (int i = 0; i < 3; i++)
            free(f[i]);
    }
}

/* --- what enters and what is observed --- */

static double intensity(number f) { return creal(f) * creal(f) + cimag(f) * cimag(f); }

/* Sums over what was launched and what was left, amplitudes of the power: in TM H n_ref / n. */
TEST(results_are_sums_over_the_field)
{
    enum { N = 47 };
    static const char *const polarisations[] = { "light.polarisation=te", "light.polarisation=tm" };
    char text[2048];
    snprintf(text, sizeof text, "%s[[port]]\nfrom = 3.3e-6\nto = 4.21e-6\n[[port]]\nfrom = 7e-6\nto = 20e-6\n",
             GUIDES_TEXT);
    for (int k = 0; k < 2; k++) {
        scene s = pair_of_guides;
        rows P;
        number root[MOST], start[N], found[N], mode[N], to_start = 0, to_mirror = 0, to_mode = 0;
        double power = 0, was = 0, of_mode = 0, y1 = 0, y2 = 0, ports[2] = { 0, 0 };
        run r = RUN(text, NULL, polarisations[k], "launch.kind=gaussian", "launch.centre=5.1e-6", "launch.mode=1",
                    "launch.waist=1.6e-6", "launch.tilt=0.15", "material.reference_index=1.48", "march.theta=0.6");
        run guided = RUN(GUIDES_TEXT, NULL, polarisations[k], "launch.mode=1");
        number *f = envelope(&r), *m = envelope(&guided);
        s.tm = k;
        plane_rows(&s, 0, &P, root);
        for (int i = 0; i < N; i++) {
            const double y = (i + 1) * 0.25;
            start[i] = gaussian(&s, y - 5.1, 1.6, 0.15) / root[i];
            found[i] = f[i] / root[i];
            mode[i] = m[i] / root[i];
            was += intensity(start[i]);
            of_mode += intensity(mode[i]);
            power += intensity(found[i]);
            y1 += intensity(found[i]) * y;
            y2 += intensity(found[i]) * y * y;
            ports[0] += intensity(found[i]) * share(3.3, 4.21, y, 0.25);
            ports[1] += intensity(found[i]) * share(7, 20, y, 0.25);
        }
        for (int i = 0; i < N; i++) {
            to_start += conj(start[i]) * found[i];
            to_mirror += conj(start[N - 1 - i]) * found[i];
            to_mode += conj(mode[i]) * found[i];
        }
        near(result(&r, "power"), power / was, 2e-15, "over that of the start");
        near(result(&r, "power_drift"), power / was - 1, 2e-15, "less one");
        near(result(&r, "centre"), y1 / power * 1e-6, 1e-19, "mean place");
        near(result(&r, "beam_width"), 2e-6 * sqrt(y2 / power - y1 / power * y1 / power), 1e-19, "twice its rms");
        near(result(&r, "port_1"), ports[0] / was, 2e-15, "cells cut by the port's borders");
        near(result(&r, "port_2"), ports[1] / was, 2e-15, "up to the wall");
        near(result(&r, "overlap_start"), intensity(to_start) / (was * was), 2e-15, "with the start");
        near(result(&r, "overlap_mirror"), intensity(to_mirror) / (was * was), 2e-15, "with its mirror image");
        near(result(&r, "overlap_mode"), intensity(to_mode) / (was * of_mode), 2e-15, "with the second mode");
        near(result(&r, "peak"), 0.6 * intensity(found[19]) + 0.4 * intensity(found[20]), 2e-15, "between two nodes");
        free(f);
        free(m);
        end_run(&r);
        end_run(&guided);
    }
}

TEST(results_in_space_are_sums_over_the_field)
{
    enum { NX = 27, NY = 44 };
    char text[4096];
    snprintf(text, sizeof text, "%s[[port]]\nfrom = 3.3e-6\nto = 4.21e-6\n", space);
    run r = RUN(text, NULL, "march.theta=0.6");
    number *f = envelope(&r), to_start = 0;
    double *map = field(&r, "intensity", NULL), was = 0, power = 0, x1 = 0, x2 = 0, y1 = 0, y2 = 0, port = 0, peak = 0;
    for (int i = 0; i < NX * NY; i++) {
        const double x = (i % NX + 1) * 0.25, y = (i / NX + 1) * 0.2, here = intensity(f[i]);
        const number start = exp(-(x - 3.2) * (x - 3.2) / 2.56) * gaussian(&space_scene, y - 4.1, 1.6, 0.15);
        near(map[i], here, 1e-15, "|psi|^2");
        was += intensity(start);
        to_start += conj(start) * f[i];
        power += here;
        x1 += here * x;
        x2 += here * x * x;
        y1 += here * y;
        y2 += here * y * y;
        port += here * share(3.3, 4.21, y, 0.2);
        peak += here * fmax(0, 1 - fabs(x - 3.2) / 0.25) * fmax(0, 1 - fabs(y - 4.1) / 0.2);
    }
    near(result(&r, "power"), power / was, 2e-15, "over that of the start");
    near(result(&r, "centre"), y1 / power * 1e-6, 1e-19, "mean place along y");
    near(result(&r, "centre_x"), x1 / power * 1e-6, 1e-19, "and x");
    near(result(&r, "beam_width"), 2e-6 * sqrt(y2 / power - y1 / power * y1 / power), 1e-19, "twice its rms along y");
    near(result(&r, "beam_width_x"), 2e-6 * sqrt(x2 / power - x1 / power * x1 / power), 1e-19, "and x");
    near(result(&r, "port_1"), port / was, 2e-15, "cells cut by the port's borders");
    near(result(&r, "overlap_start"), intensity(to_start) / (was * was), 2e-15, "with the start");
    near(result(&r, "peak"), peak, 2e-15, "among four nodes");
    free(map);
    free(f);
    end_run(&r);
}

/* Numbers alone would lose 1e-8 of such a sum. */
TEST(sums_in_single_precision_keep_what_rounding_leaves_over)
{
    enum { NX = 27, NY = 44 };
    run r = RUN(space, NULL, "case.precision=single", "walls.kind=metal");
    number *f = envelope(&r);
    double power = 0, was = 0;
    for (int i = 0; i < NX * NY; i++) {
        const double x = (i % NX + 1) * 0.25, y = (i / NX + 1) * 0.2;
        was += exp(-2 * ((x - 3.2) * (x - 3.2) + (y - 4.1) * (y - 4.1)) / 2.56);
        power += intensity(f[i]);
    }
    near(result(&r, "power"), power / was, 1e-13, "over that of the start");
    free(f);
    end_run(&r);
}

/* A table whose corners lie at nodes is exact there. */
TEST(a_table_is_straight_between_its_rows)
{
    char launch[256];
    snprintf(launch, sizeof launch, "launch.file=\"%s\"",
             text_file("launch.csv", "y,re,im\n1e-6,0,0\n4e-6,2,-1\n9e-6,-1,0.5\n"));
    scene s = scenes[0];
    run r = RUN(tapers, NULL, launch, "launch.kind=file");
    number *found = envelope(&r), f[MOST];
    for (int i = 0; i < 47; i++) {
        const double y = (i + 1) * 0.25;
        f[i] = y < 1 || y > 9 ? 0 : (y < 4 ? (y - 1) / 3 : 1 - 1.5 * (y - 4) / 5) * CMPLX(2, -1);
    }
    propagate_plane(&s, f);
    near(distance(found, f, 47), 0, rounding, "real and imaginary part");
    free(found);
    end_run(&r);
}

/* --- what is left out of a case --- */

TEST(defaults_are_what_the_keys_say)
{
    /* 1e-6 of the field comes back from layers of a tenth of the width at 10 degrees: there and back it decays by
     * exp(-2 k sin(10 degrees) strength thickness / 3). */
    char strength[64], dz[64];
    snprintf(strength, sizeof strength, "walls.strength=%.17g",
             3 * log(1e6) / (2 * (2 * pi / 1.55) * 1.48 * sin(0.1745) * 1.2));
    snprintf(dz, sizeof dz, "march.dz=%.17g", 0.25e-6 / pi);
    run r = RUN(tapers, NULL, "walls.kind=pml", "march.dz=0");
    run same = RUN(tapers, NULL, "walls.kind=pml", strength, "walls.thickness=1.2e-6", dz);
    number *f = envelope(&r), *g = envelope(&same);
    near(distance(f, g, 47), 0, 1e-15, "thickness, strength, dz");
    free(f);
    free(g);
    end_run(&r);
    end_run(&same);
    /* A Gaussian in the middle; the index of the guide's first mode as reference. */
    run mode = RUN(GUIDES_TEXT, NULL, "launch.mode=0");
    char reference[64];
    snprintf(reference, sizeof reference, "material.reference_index=%.17g", result(&mode, "n_eff"));
    r = RUN(GUIDES_TEXT, NULL, "launch.kind=gaussian");
    same = RUN(GUIDES_TEXT, NULL, "launch.kind=gaussian", reference, "launch.centre=6e-6", "launch.waist=2e-6");
    f = envelope(&r);
    g = envelope(&same);
    near(distance(f, g, 47), 0, 1e-15, "centre, waist, reference index");
    free(f);
    free(g);
    end_run(&mode);
    end_run(&r);
    end_run(&same);
}

/* --- pictures: pixels of 0.75 by 1.1 um in a plane, of 1.75 by 1.5 um across a beam in space; nodes' cells have
 * borders of pixels inside. Three colours, none of them symmetric. --- */

static void write_picture(const char *path, int width, int height, const char *pixels)
{
    uint32_t data[64];
    const bn_png_pixels png = { width, height, 4 * width, (const unsigned char *)data };
    for (int i = 0; i < width * height; i++)
        data[i] = pixels[i] == '.' ? 0xffffff : pixels[i] == 'a' ? 0x102030 : 0x302010;
    OK(bn_png_write(ctx, path, &png, "", NULL));
}

#define COLOURS                                                                                             \
    "[[colour]]\nrgb = 0xffffff\nindex = 1.45\n[[colour]]\nrgb = 0x102030\nindex = 1.6\n[[colour]]\nrgb = " \
    "0x302010\nindex = 1.55\nabsorption = 3e-3\n"

static number *with_guides(const char *text, const char *guides, const char *override, const char *picture)
{
    char whole[4096], key[256];
    snprintf(whole, sizeof whole, "%s%s", text, guides);
    snprintf(key, sizeof key, "material.picture=\"%s\"", picture ? picture : "");
    run r = RUN(whole, NULL, override, key);
    number *f = envelope(&r);
    end_run(&r);
    return f;
}

TEST(pictures_are_the_guides_that_they_show)
{
    static const char *const polarisations[] = { "light.polarisation=te", "light.polarisation=tm" };
    const char *const plane = in_folder("plane.png"), *const across = in_folder("across.png");
    /* z to the right, 1.075 um a pixel; y up, 1.5 um a pixel */
    write_picture(plane, 4, 8,
                  "...."
                  "...."
                  "..bb"
                  "...."
                  "aa.."
                  "...."
                  "a..."
                  "....");
    /* x to the right, 1.75 um a pixel; y up, 1.5 um a pixel */
    write_picture(across, 4, 6,
                  "...."
                  "..b."
                  "..b."
                  "...."
                  "aa.."
                  "....");
    for (int k = 0; k < 2; k++) {
        number *f = with_guides(PLANE, COLOURS, polarisations[k], plane);
        number *g = with_guides(PLANE,
                                "[[structure]]\nindex = 1.55\nabsorption = 3e-3\nfrom = 2.15e-6\ncentre = 8.25e-6\n"
                                "width = 1.5e-6\n[[structure]]\nindex = 1.6\nto = 2.15e-6\ncentre = 5.25e-6\n"
                                "width = 1.5e-6\n[[structure]]\nindex = 1.6\nto = 1.075e-6\ncentre = 2.25e-6\n"
                                "width = 1.5e-6\n",
                                polarisations[k], NULL);
        near(distance(f, g, 47), 0, 2e-15, polarisations[k]);
        free(f);
        free(g);
    }
    number *f = with_guides(SPACE, COLOURS, polarisations[0], across);
    number *g = with_guides(SPACE,
                            "[[structure]]\nindex = 1.55\nabsorption = 3e-3\ncentre = 6e-6\nwidth = 3e-6\n"
                            "centre_x = 4.375e-6\nwidth_x = 1.75e-6\n[[structure]]\nindex = 1.6\ncentre = 2.25e-6\n"
                            "width = 1.5e-6\ncentre_x = 1.75e-6\nwidth_x = 3.5e-6\n",
                            polarisations[0], NULL);
    near(distance(f, g, 44 * 27), 0, 2e-15, "across the beam");
    free(f);
    free(g);
}

/* --- against the continuum --- */

/* Borders anywhere within cells, h = 0.004 um: off by at most 0.002 and 0.0125 h^2 / um^2, in TM, too. */
TEST(borders_may_lie_within_cells)
{
    /* data/published/bpm-slab-modes.csv */
    static const struct {
        const char *polarisation;
        double n_eff[2];
    } modes[] = { { "light.polarisation=te", { 1.4943541772, 1.4770222333 } },
                  { "light.polarisation=tm", { 1.4942012607, 1.4761234645 } } };
    static const double widths[2] = { 3, 1 };
    for (int k = 0; k < 4; k++)
        for (int place = 0; place < 4; place++) {
            char text[1024];
            snprintf(text, sizeof text,
                     "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 4000\nwidth = 16e-6\n"
                     "[material]\nindex = 1.45\n[march]\nlength = 1e-9\ndz = 1e-9\n[output]\nmap = false\n"
                     "[[structure]]\nindex = 1.5\nwidth = %ge-6\ncentre = %.4fe-6\n",
                     widths[k / 2], 8 + 0.001 * place);
            run r = RUN(text, NULL, modes[k % 2].polarisation);
            near(result(&r, "n_eff"), modes[k % 2].n_eff[k / 2], k < 2 ? 9e-8 : 5e-7, modes[k % 2].polarisation);
            end_run(&r);
        }
}

int main(void) { return bn_test_main("bpm scheme", open_folder, close_folder); }
