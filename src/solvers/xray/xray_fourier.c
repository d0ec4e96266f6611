/* xray_fourier.c: the Fourier picture beside the photons': the transform of the projected density, which is the
 * probability of a scattering in each column of cells, with zeros around it, times the transform of a cell. It is
 * computed on a grid of directions of its own and interpolated to the detector's. */
#include "xray.h"

#include "api/fft.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;
enum { LEAST = 64, MOST = 8192 };

static double sinc(double x) { return x == 0 ? 1 : sin(pi * x) / (pi * x); }

/* Points of the transform along one side: a power of two with at least eight times the cells, so that neighbouring
 * amplitudes differ little. */
static uint32_t points(uint32_t cells)
{
    uint32_t n = LEAST;
    while (n < 8 * cells && n < MOST)
        n *= 2;
    return n;
}

/* Cubic Lagrange weights of the points -1, 0, 1, 2 at x in [0, 1). */
static void weights(double x, double w[4])
{
    w[0] = -x * (x - 1) * (x - 2) / 6;
    w[1] = (x + 1) * (x - 1) * (x - 2) / 2;
    w[2] = -(x + 1) * x * (x - 2) / 2;
    w[3] = (x + 1) * x * (x - 1) / 6;
}

/* |amplitude|^2 at `at` cycles over the whole transform along both axes; f begins with frequency 0 and repeats. */
static double square_at(const double *f, const uint32_t n[2], const double at[2])
{
    double w[2][4], re = 0, im = 0;
    long first[2];
    for (int d = 0; d < 2; d++) {
        first[d] = (long)floor(at[d]);
        weights(at[d] - (double)first[d], w[d]);
    }
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) {
            const long nx = n[0], ny = n[1], x = ((first[0] - 1 + i) % nx + nx) % nx,
                       y = ((first[1] - 1 + j) % ny + ny) % ny;
            const double *v = f + 2 * (y * nx + x);
            re += w[0][i] * w[1][j] * v[0];
            im += w[0][i] * w[1][j] * v[1];
        }
    return re * re + im * im;
}

/* The columns around the origin of the transform, so that its amplitude has no fast phase. */
static void project(const xray_volume *v, const uint32_t n[2], double *f)
{
    for (size_t k = 0; k < v->n[2]; k++)
        for (size_t j = 0; j < v->n[1]; j++) {
            const double *column = v->whole + (k * v->n[1] + j) * v->n[0];
            double depth = 0;
            for (size_t i = 0; i < v->n[0]; i++)
                depth += column[i];
            const size_t x = (j + n[0] - v->n[1] / 2) % n[0], y = (k + n[1] - v->n[2] / 2) % n[1];
            f[2 * (y * n[0] + x)] = -expm1(-depth);
        }
}

/* Interpolates to the detector's cells; `shown` is the logarithm of the share of the largest. */
static void interpolate(const xray *s, const uint32_t n[2], const double *f, double *intensity, double *shown)
{
    const size_t cells = xray_detector_cells(s);
    const double beam[2] = { s->k.beam_v, s->k.beam_w };
    double most = 0;
    for (size_t c = 0; c < cells; c++) {
        double at[2], shape = 1;
        for (int d = 0; d < 2; d++) {
            const double direction = s->detector.directions[4 * c + (size_t)d + 1] * 0x1p-31;
            const double q = (direction - beam[d]) * s->volume.h[d + 1] / s->config.wavelength;
            at[d] = q * n[d];
            shape *= sinc(q) * sinc(q);
        }
        intensity[c] = square_at(f, n, at) * (s->config.positions == XRAY_FIXED ? 1 : shape);
        most = fmax(most, intensity[c]);
    }
    for (size_t c = 0; c < cells; c++)
        shown[c] = log10(fmax(intensity[c] / most, 1e-12));
}

static bn_status transform(bn_sim *sim, const uint32_t n[2], double *f)
{
    bn_status st = BN_OK;
    bn_domain *own = bn_sim_domain(sim), *d = NULL;
    bn_field *in = NULL, *out = NULL;
    bn_fft *fft = NULL;
    const size_t count = 2 * (size_t)n[0] * n[1];
    float *single = NULL;
    const bn_domain_desc desc = { .grid = { .dims = 2, .n = { n[0], n[1], 1 }, .h = { 1, 1, 1 } },
                                  .precision = bn_domain_precision(own),
                                  .device = bn_domain_device(own) };
    BN_GO(bn_domain_create(bn_sim_context(sim), &desc, &d));
    BN_GO(bn_field_create(d, &(bn_field_desc){ .name = "projection", .type = BN_T_REAL2 }, &in));
    BN_GO(bn_field_create(d, &(bn_field_desc){ .name = "transform", .type = BN_T_REAL2 }, &out));
    BN_GO(bn_fft_create(d, &fft));
    if (desc.precision == BN_DOUBLE) {
        BN_GO(bn_field_write(in, f, count * sizeof *f));
        BN_GO(bn_fft_forward(fft, in, out));
        BN_GO(bn_field_read(out, f, count * sizeof *f));
        goto out;
    }
    if (!(single = malloc(count * sizeof *single)))
        BN_GO(bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the Fourier picture"));
    for (size_t i = 0; i < count; i++)
        single[i] = (float)f[i];
    BN_GO(bn_field_write(in, single, count * sizeof *single));
    BN_GO(bn_fft_forward(fft, in, out));
    BN_GO(bn_field_read(out, single, count * sizeof *single));
    for (size_t i = 0; i < count; i++)
        f[i] = (double)single[i];
out:
    free(single);
    bn_fft_destroy(&fft);
    bn_field_destroy(&in);
    bn_field_destroy(&out);
    bn_domain_destroy(&d);
    return st;
}

bn_status xray_fourier(bn_sim *sim, xray *s)
{
    const uint32_t n[2] = { points(s->volume.n[1]), points(s->volume.n[2]) };
    const size_t cells = xray_detector_cells(s);
    bn_status st = BN_OK;
    double *f = calloc(2 * (size_t)n[0] * n[1], sizeof *f), *values = malloc(2 * cells * sizeof *values);
    if (!f || !values)
        BN_GO(bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the Fourier picture"));
    project(&s->volume, n, f);
    BN_GO(transform(sim, n, f));
    interpolate(s, n, f, values, values + cells);
    BN_GO(bn_field_set(s->fields.fourier, values, cells));
    BN_GO(bn_field_set(s->fields.log_fourier, values + cells, cells));
out:
    free(f);
    free(values);
    return st;
}
