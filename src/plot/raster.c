/* raster.c: values to colours, pixel by pixel. */
#include "plot/raster.h"

#include <math.h>

enum { SAMPLES_MAX = 8 };            /* along each side of a pixel */
static const double largest = 1e300; /* beyond, sums of two values could overflow */

static bool usable(double v) { return fabs(v) <= largest; }

bn_value_range bn_raster_range(const bn_picture *p)
{
    bn_value_range r = { p->low, p->high, (double)INFINITY, (double)-INFINITY };
    const size_t count = (size_t)p->n[0] * p->n[1];
    for (size_t i = 0; i < count; i++) {
        if (!usable(p->values[i]))
            continue;
        r.data_low = fmin(r.data_low, p->values[i]);
        r.data_high = fmax(r.data_high, p->values[i]);
    }
    const bool given = usable(p->low) && usable(p->high) && p->low < p->high;
    if (r.data_low > r.data_high)
        r.data_low = r.data_high = given ? p->low : 0; /* nothing finite, and nothing beyond the range */
    if (given)
        return r;
    r.low = r.data_low;
    r.high = r.data_high;
    const double size = fmax(fabs(r.low), fabs(r.high));
    if (p->map == BN_MAP_DIVERGING) {
        r.low = -size;
        r.high = size;
    }
    if (!(r.high - r.low > 1e-9 * size)) { /* constant */
        r.low -= size > 0 ? 0.1 * size : p->map == BN_MAP_SEQUENTIAL ? 0 : 1;
        r.high += size > 0 ? 0.1 * size : 1;
    }
    return r;
}

static double mix(double a, double b, double s) { return s > 0 ? a + s * (b - a) : a; }

double bn_raster_bilinear(const bn_picture *p, const double *values, double x, double y)
{
    const size_t nx = p->n[0];
    const size_t i = x >= p->n[0] - 1 ? p->n[0] - 1 : (size_t)x, j = y >= p->n[1] - 1 ? p->n[1] - 1 : (size_t)y;
    const size_t right = i + 1 < p->n[0], up = j + 1 < p->n[1] ? nx : 0;
    const double *v = values + j * nx + i;
    const double below = mix(v[0], v[right], x - (double)i), above = mix(v[up], v[up + right], x - (double)i);
    return mix(below, above, y - (double)j);
}

/* The value at a place given in shares of the frame. */
static double value_at(const bn_picture *p, double x, double y)
{
    const double fx = x * (p->nodes ? p->n[0] - 1 : p->n[0]), fy = y * (p->nodes ? p->n[1] - 1 : p->n[1]);
    if (p->nodes && p->map != BN_MAP_CYCLIC)
        return bn_raster_bilinear(p, p->values, fx, fy);
    /* The nearest value: cells are flat, and a phase must not be averaged across its jump. */
    const double i = floor(p->nodes ? fx + 0.5 : fx), j = floor(p->nodes ? fy + 0.5 : fy);
    return p->values[(size_t)fmin(j, p->n[1] - 1) * p->n[0] + (size_t)fmin(i, p->n[0] - 1)];
}

static int samples_for(const bn_picture *p, uint32_t n, int pixels)
{
    const double values = ceil((double)n / pixels);
    return p->map == BN_MAP_CYCLIC ? 1 : (int)fmin(values, SAMPLES_MAX);
}

/* What the pixel in column px, row py shows. */
static double mean_of(const bn_picture *p, int px, int py, int w, int h, int kx, int ky)
{
    double sum = 0;
    int count = 0, blank = 0;
    for (int s = 0; s < kx * ky; s++) {
        const double x = (px + (s % kx + 0.5) / kx) / w, y = 1 - (py + ((double)(s / kx) + 0.5) / ky) / h;
        const double v = value_at(p, x, y);
        blank += v < -largest;
        if (!usable(v))
            continue;
        sum += v / (kx * ky);
        count++;
    }
    if (count > 0)
        return sum * (kx * ky) / count;
    return blank ? (double)-INFINITY : (double)NAN;
}

void bn_raster_means(const bn_picture *p, double *means, int w, int h)
{
    const int kx = samples_for(p, p->n[0], w), ky = samples_for(p, p->n[1], h);
    for (int py = 0; py < h; py++)
        for (int px = 0; px < w; px++)
            *means++ = mean_of(p, px, py, w, h, kx, ky);
}

void bn_raster_fill(const bn_picture *p, const bn_value_range *range, uint32_t *pixels, int w, int h, int stride)
{
    bn_palette palette;
    bn_palette_make(p->map, &palette);
    const int kx = samples_for(p, p->n[0], w), ky = samples_for(p, p->n[1], h);
    for (int py = 0; py < h; py++) {
        for (int px = 0; px < w; px++) {
            const double mean = mean_of(p, px, py, w, h, kx, ky);
            pixels[(size_t)py * (size_t)stride + (size_t)px] =
                usable(mean) ? bn_palette_at(&palette, (mean - range->low) / (range->high - range->low))
                : mean < 0   ? BN_RASTER_BLANK
                             : BN_RASTER_MISSING;
        }
    }
}
