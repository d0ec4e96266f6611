/* raster.c: values to colours, pixel by pixel. */
#include "plot/raster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* What the samples along a side of the frame take: a value, or two with the share of the second. */
typedef struct sample {
    size_t first, second;
    double share;
} sample;

static bool interpolates(const bn_picture *p) { return p->nodes && p->map != BN_MAP_CYCLIC; }

/* At a place given in shares of a side, of n values `step` apart. */
static sample sample_at(const bn_picture *p, double place, uint32_t n, size_t step)
{
    const double f = place * (p->nodes ? n - 1 : n);
    /* The nearest value: cells are flat, and a phase must not be averaged across its jump. */
    if (!interpolates(p))
        return (sample){ .first = (size_t)fmin(floor(p->nodes ? f + 0.5 : f), n - 1) * step };
    const size_t i = f >= n - 1 ? n - 1 : (size_t)f;
    return (sample){ i * step, (i + 1 < n ? i + 1 : i) * step, f - (double)i };
}

static int samples_for(const bn_picture *p, uint32_t n, int pixels)
{
    const double values = ceil((double)n / pixels);
    return p->map == BN_MAP_CYCLIC ? 1 : (int)fmin(values, SAMPLES_MAX);
}

/* The samples of all pixels along both sides. */
typedef struct samples {
    const bn_picture *p;
    int w, h, kx, ky;
    sample *x, *y;
} samples;

static bool make_samples(const bn_picture *p, int w, int h, samples *out)
{
    *out = (samples){ p, w, h, samples_for(p, p->n[0], w), samples_for(p, p->n[1], h), NULL, NULL };
    out->x = malloc((size_t)(w * out->kx + h * out->ky) * sizeof *out->x);
    if (!out->x)
        return false;
    out->y = out->x + (size_t)w * (size_t)out->kx;
    for (int i = 0; i < w * out->kx; i++)
        out->x[i] = sample_at(p, (i / out->kx + (i % out->kx + 0.5) / out->kx) / w, p->n[0], 1);
    for (int i = 0; i < h * out->ky; i++)
        out->y[i] = sample_at(p, 1 - (i / out->ky + ((double)(i % out->ky) + 0.5) / out->ky) / h, p->n[1], p->n[0]);
    return true;
}

static double value_of(const bn_picture *p, const sample *x, const sample *y)
{
    const double *v = p->values;
    if (!interpolates(p))
        return v[y->first + x->first];
    const double below = mix(v[y->first + x->first], v[y->first + x->second], x->share),
                 above = mix(v[y->second + x->first], v[y->second + x->second], x->share);
    return mix(below, above, y->share);
}

/* What the pixel in column px, row py shows. */
static double mean_of(const samples *s, int px, int py)
{
    const int all = s->kx * s->ky;
    double sum = 0;
    int count = 0, blank = 0;
    for (int ky = 0; ky < s->ky; ky++)
        for (int kx = 0; kx < s->kx; kx++) {
            const double v = value_of(s->p, &s->x[px * s->kx + kx], &s->y[py * s->ky + ky]);
            blank += v < -largest;
            if (!usable(v))
                continue;
            sum += v / all;
            count++;
        }
    if (count > 0)
        return sum * all / count;
    return blank ? (double)-INFINITY : (double)NAN;
}

/* Whether a pixel shows the same along this side as the one before, as pixels within a cell do. */
static bool repeats(const sample *side, int each, int pixel)
{
    const sample *here = side + pixel * each, *before = here - each;
    bool same = pixel > 0;
    for (int k = 0; k < each && same; k++)
        same = here[k].first == before[k].first && here[k].second == before[k].second &&
               !(fabs(here[k].share - before[k].share) > 0);
    return same;
}

bool bn_raster_means(const bn_picture *p, double *means, int w, int h)
{
    samples s;
    if (!make_samples(p, w, h, &s))
        return false;
    for (int py = 0; py < h; py++)
        for (int px = 0; px < w; px++)
            *means++ = mean_of(&s, px, py);
    free(s.x);
    return true;
}

static uint32_t colour_of(const bn_picture *p, const bn_palette *palette, const bn_value_range *range, double value)
{
    size_t k = 0;
    if (!p->classes)
        return bn_palette_at(palette, (value - range->low) / (range->high - range->low));
    while (k + 1 < p->class_count && value >= p->classes[k + 1].from)
        k++;
    return p->classes[k].rgb;
}

bool bn_raster_fill(const bn_picture *p, const bn_value_range *range, uint32_t *pixels, int w, int h, int stride)
{
    bn_palette palette;
    samples s;
    if (!make_samples(p, w, h, &s))
        return false;
    bn_palette_make(p->map, &palette);
    for (int py = 0; py < h; py++) {
        uint32_t *row = pixels + (size_t)py * (size_t)stride;
        if (repeats(s.y, s.ky, py)) {
            memcpy(row, row - stride, (size_t)w * sizeof *row);
            continue;
        }
        for (int px = 0; px < w; px++) {
            if (repeats(s.x, s.kx, px)) {
                row[px] = row[px - 1];
                continue;
            }
            const double mean = mean_of(&s, px, py);
            row[px] = usable(mean) ? colour_of(p, &palette, range, mean)
                      : mean < 0   ? BN_RASTER_BLANK
                                   : BN_RASTER_MISSING;
        }
    }
    free(s.x);
    return true;
}
