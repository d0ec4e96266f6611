/* bpm_serial.c: compiled with -O3 (Makefile). */
#include "bpm_serial.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846, width = 10e-6, wavelength = 1e-6;

/* h_z / (4 k h_y^2), h_z = h_y / pi */
double bpm_serial_alpha(uint32_t cells) { return cells / (8 * pi * pi * width / wavelength); }

bool bpm_serial_create(uint32_t cells, bpm_serial *s)
{
    const double alpha = bpm_serial_alpha(cells);
    const double _Complex tau = 1 / __builtin_complex(1.0, 2 * alpha), off = tau * __builtin_complex(0.0, alpha);
    float **const arrays[] = { s->diagonal, s->above, s->below, s->b, s->x, s->next };
    const size_t room = (size_t)cells + 1; /* both walls, where x is zero */
    *s = (bpm_serial){ .n = cells - 1, .memory = calloc(12 * room, sizeof(float)) };
    if (!s->memory)
        return false;
    for (size_t a = 0; a < 12; a++)
        arrays[a / 2][a % 2] = s->memory + a * room;
    for (uint32_t i = 1; i < cells; i++) {
        const double _Complex g = tau * sin(pi * i / cells), rest = 1 - tau * __builtin_complex(1.0, 2 * alpha);
        s->diagonal[0][i] = (float)creal(rest), s->diagonal[1][i] = (float)cimag(rest);
        s->above[0][i] = s->below[0][i] = (float)creal(off);
        s->above[1][i] = s->below[1][i] = (float)cimag(off);
        s->b[0][i] = (float)creal(g), s->b[1][i] = (float)cimag(g);
    }
    return true;
}

void bpm_serial_destroy(bpm_serial *s)
{
    free(s->memory);
    *s = (bpm_serial){ 0 };
}

static void sweep(uint32_t n, const float *restrict dr, const float *restrict di, const float *restrict ar,
                  const float *restrict ai, const float *restrict cr, const float *restrict ci,
                  const float *restrict br, const float *restrict bi, const float *restrict xr,
                  const float *restrict xi, float *restrict yr, float *restrict yi)
{
    for (uint32_t i = 1; i <= n; i++) {
        yr[i] = br[i] + dr[i] * xr[i] - di[i] * xi[i] + ar[i] * xr[i + 1] - ai[i] * xi[i + 1] + cr[i] * xr[i - 1] -
                ci[i] * xi[i - 1];
        yi[i] = bi[i] + dr[i] * xi[i] + di[i] * xr[i] + ar[i] * xi[i + 1] + ai[i] * xr[i + 1] + cr[i] * xi[i - 1] +
                ci[i] * xr[i - 1];
    }
}

void bpm_serial_sweep(bpm_serial *s, long long count)
{
    for (long long k = 0; k < count; k++) {
        sweep(s->n, s->diagonal[0], s->diagonal[1], s->above[0], s->above[1], s->below[0], s->below[1], s->b[0],
              s->b[1], s->x[0], s->x[1], s->next[0], s->next[1]);
        for (int part = 0; part < 2; part++) {
            float *old = s->x[part];
            s->x[part] = s->next[part];
            s->next[part] = old;
        }
    }
}
