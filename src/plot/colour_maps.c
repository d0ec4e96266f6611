/* colour_maps.c: three maps, each a smooth curve through a few control colours in Oklab (B. Ottosson, "A perceptual
 * color space for image processing", 2020), in which distances are near to seen differences; the curve is then divided
 * into steps of equal length. */
#include "plot/colour_maps.h"

#include <math.h>

typedef struct lch {
    double lightness, chroma, hue;
} lch; /* 0 ... 1, 0 ... about 0.3, degrees */

/* From dark violet over blue and green to light yellow; lightness grows all the way, so it also prints in grey. */
static const lch sequential[] = {
    { 0.28, 0.130, 315 }, { 0.38, 0.125, 288 }, { 0.47, 0.105, 262 }, { 0.56, 0.090, 218 },
    { 0.65, 0.110, 172 }, { 0.75, 0.160, 147 }, { 0.84, 0.185, 125 }, { 0.92, 0.185, 107 },
};
/* Blue, white, red; both halves have the same lightness and chroma, so that neither sign looks larger. */
static const lch diverging[] = {
    { 0.38, 0.125, 262 }, { 0.54, 0.145, 258 }, { 0.70, 0.110, 254 }, { 0.85, 0.055, 250 }, { 0.97, 0, 0 },
    { 0.85, 0.055, 38 },  { 0.70, 0.110, 34 },  { 0.54, 0.145, 30 },  { 0.38, 0.125, 26 },
};
/* Once around the hues at one lightness: phase has no larger or smaller. */
static const lch cyclic[] = {
    { 0.70, 0.115, 20 },  { 0.70, 0.115, 50 },  { 0.70, 0.115, 80 },  { 0.70, 0.115, 110 }, { 0.70, 0.115, 140 },
    { 0.70, 0.115, 170 }, { 0.70, 0.115, 200 }, { 0.70, 0.115, 230 }, { 0.70, 0.115, 260 }, { 0.70, 0.115, 290 },
    { 0.70, 0.115, 320 }, { 0.70, 0.115, 350 }, { 0.70, 0.115, 380 },
};

static const struct {
    const lch *points;
    int count;
} maps[] = {
    [BN_MAP_SEQUENTIAL] = { sequential, sizeof sequential / sizeof *sequential },
    [BN_MAP_DIVERGING] = { diverging, sizeof diverging / sizeof *diverging },
    [BN_MAP_CYCLIC] = { cyclic, sizeof cyclic / sizeof *cyclic },
};

static void to_lab(const lch *colour, double lab[3])
{
    const double angle = colour->hue * 3.14159265358979323846 / 180;
    lab[0] = colour->lightness;
    lab[1] = colour->chroma * cos(angle);
    lab[2] = colour->chroma * sin(angle);
}

enum { CONTROLS_MOST = 16 };
typedef struct spline {
    int last;
    double control[CONTROLS_MOST][3];
} spline;

/* The curve at `t` in 0 ... 1: a Catmull-Rom spline, whose end points count twice. */
static void curve_at(const spline *curve, double t, double lab[3])
{
    const int last = curve->last;
    const double at = t * last;
    const int k = at >= last ? last - 1 : (int)at;
    const double s = at - k;
    const double *p[4];
    for (int i = 0; i < 4; i++) {
        const int index = k + i - 1;
        p[i] = curve->control[index < 0 ? 0 : index > last ? last : index];
    }
    for (int c = 0; c < 3; c++)
        lab[c] = p[1][c] + 0.5 * s *
                               (p[2][c] - p[0][c] +
                                s * (2 * p[0][c] - 5 * p[1][c] + 4 * p[2][c] - p[3][c] +
                                     s * (3 * (p[1][c] - p[2][c]) + p[3][c] - p[0][c])));
}

/* A channel of linear light to 0 ... 255 of sRGB (IEC 61966-2-1). */
static uint32_t to_byte(double linear)
{
    const double x = linear < 0 ? 0 : linear > 1 ? 1 : linear;
    const double srgb = x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;
    return (uint32_t)(255 * srgb + 0.5);
}

static uint32_t to_rgb(const double lab[3])
{
    const double l = pow(lab[0] + 0.3963377774 * lab[1] + 0.2158037573 * lab[2], 3);
    const double m = pow(lab[0] - 0.1055613458 * lab[1] - 0.0638541728 * lab[2], 3);
    const double s = pow(lab[0] - 0.0894841775 * lab[1] - 1.2914855480 * lab[2], 3);
    const uint32_t red = to_byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
    const uint32_t green = to_byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
    const uint32_t blue = to_byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
    return red << 16 | green << 8 | blue;
}

void bn_palette_make(bn_colour_map map, bn_palette *out)
{
    enum { SAMPLES = 4 * BN_PALETTE_COLOURS };
    double length[SAMPLES + 1], before[3];
    spline curve = { .last = maps[map].count - 1 };
    for (int i = 0; i <= curve.last; i++)
        to_lab(&maps[map].points[i], curve.control[i]);
    length[0] = 0;
    curve_at(&curve, 0, before);
    for (int i = 1; i <= SAMPLES; i++) {
        double here[3], square = 0;
        curve_at(&curve, (double)i / SAMPLES, here);
        for (int c = 0; c < 3; c++) {
            square += (here[c] - before[c]) * (here[c] - before[c]);
            before[c] = here[c];
        }
        length[i] = length[i - 1] + sqrt(square);
    }
    int i = 0;
    for (int k = 0; k < BN_PALETTE_COLOURS; k++) {
        const double wanted = length[SAMPLES] * k / (BN_PALETTE_COLOURS - 1);
        while (i < SAMPLES - 1 && length[i + 1] < wanted)
            i++;
        double lab[3];
        curve_at(&curve, (i + (wanted - length[i]) / (length[i + 1] - length[i])) / SAMPLES, lab);
        out->rgb[k] = to_rgb(lab);
    }
}

uint32_t bn_palette_at(const bn_palette *palette, double t)
{
    const double at = t * (BN_PALETTE_COLOURS - 1) + 0.5;
    return palette->rgb[!(at > 0) ? 0 : at >= BN_PALETTE_COLOURS ? BN_PALETTE_COLOURS - 1 : (int)at];
}
