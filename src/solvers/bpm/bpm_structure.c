/* bpm_structure.c: guides on a background, given as a list of tables; later ones lie over earlier ones. */
#include "bpm.h"

#include <math.h>

static void check_structure(const bn_case *c, const bpm *s, size_t i)
{
    const bpm_structure *g = &s->profile.structure[i];
    if (g->to <= g->from)
        bn_case_reject_item(c, "structure.to", i, NULL, "ends at z = %g m, before it begins at %g m", g->to, g->from);
    if (g->from >= s->c.length)
        bn_case_reject_item(c, "structure.from", i, NULL, "begins behind the end of the grid, march.length = %g m",
                            s->c.length);
}

bn_status bpm_read_structures(const bn_case *c, bpm *s)
{
    s->profile.structures = bn_case_items(c, "structure");
    if (s->profile.structures > BPM_STRUCTURES)
        return bn_case_reject(c, "structure.kind", NULL, "there may be at most %d structures", (int)BPM_STRUCTURES);
    for (size_t i = 0; i < s->profile.structures; i++) {
        bpm_structure *g = &s->profile.structure[i];
        const double index = bn_case_item_real(c, "structure.index", i);
        const double middle = bn_case_item_real(c, "structure.centre", i);
        const double end = bn_case_item_real(c, "structure.to", i);
        *g = (bpm_structure){
            .shape = (bpm_shape)bn_case_item_choice(c, "structure.kind", i),
            .index = CMPLX(index, -bn_case_item_real(c, "structure.absorption", i)),
            .from = bn_case_item_real(c, "structure.from", i),
            .to = end > 0 ? end : s->c.length,
            .centre = middle >= 0 ? middle : 0.5 * s->c.width,
            .width = bn_case_item_real(c, "structure.width", i),
            .separation = bn_case_item_real(c, "structure.separation", i),
            .centre_x = bn_case_item_real(c, "structure.centre_x", i),
            .width_x = bn_case_item_real(c, "structure.width_x", i),
        };
        if (g->centre_x < 0)
            g->centre_x = 0.5 * s->axis[0].width;
        g->centre_end = g->shape == BPM_S_BEND ? bn_case_item_real(c, "structure.centre_end", i) : g->centre;
        g->width_end = g->shape == BPM_TAPER ? bn_case_item_real(c, "structure.width_end", i) : g->width;
        g->separation_end = g->shape == BPM_Y_JUNCTION ? bn_case_item_real(c, "structure.separation_end", i)
                                                       : g->separation;
        s->c.lossy = s->c.lossy || cimag(g->index) != 0;
        check_structure(c, s, i);
    }
    return BN_OK;
}

bn_status bpm_read_picture(const bn_case *c, bn_plan *p, bpm *s)
{
    const size_t colours = bn_case_items(c, "colour");
    const bn_input *picture;
    void *memory;
    if (!bn_case_text(c, "material.picture")[0])
        return colours == 0
                   ? BN_OK
                   : bn_case_reject(c, "colour.rgb", NULL, "there is no material.picture that has this colour");
    if (colours > BPM_COLOURS)
        return bn_case_reject(c, "colour.rgb", NULL, "there may be at most %d colours", (int)BPM_COLOURS);
    for (size_t k = 0; k < colours; k++) {
        s->profile.colour[k] = CMPLX(bn_case_item_real(c, "colour.index", k),
                                     -bn_case_item_real(c, "colour.absorption", k));
        s->c.lossy = s->c.lossy || cimag(s->profile.colour[k]) != 0;
    }
    BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_RGB, .key = "material.picture" }, &picture));
    const unsigned char *rgb = picture->pixels;
    s->profile.picture_width = picture->n[0];
    s->profile.picture_height = picture->n[1];
    const size_t pixels = (size_t)s->profile.picture_width * s->profile.picture_height;
    BN_TRY(bn_plan_allocate(p, pixels, &memory));
    uint8_t *numbers = memory;
    for (size_t at = 0; at < pixels; at++) {
        const unsigned colour = (unsigned)rgb[3 * at] << 16 | (unsigned)rgb[3 * at + 1] << 8 | rgb[3 * at + 2];
        size_t k = 0;
        while (k < colours && bn_case_item_int(c, "colour.rgb", k) != colour)
            k++;
        if (k == colours)
            return bn_case_reject(c, "material.picture", "add a [[colour]] with this rgb",
                                  "the colour 0x%06x, in column %zu and row %zu from the top left, has no index",
                                  colour, at % s->profile.picture_width, at / s->profile.picture_width);
        numbers[at] = (uint8_t)k;
    }
    s->profile.picture = numbers;
    return BN_OK;
}

double bpm_highest_index(const bpm_profile *p)
{
    double most = 0;
    for (size_t g = 0; g < p->structures; g++)
        most = fmax(most, creal(p->structure[g].index));
    for (size_t k = 0; p->picture && k < BPM_COLOURS; k++)
        most = fmax(most, creal(p->colour[k]));
    return most;
}

/* The mean of the squared index (its inverse) over the pixels of [low, high] along y in one column of the picture. */
static double _Complex column_mean(const bpm *s, uint32_t column, double low, double high, bool inverse)
{
    const double pixel = s->c.width / s->profile.picture_height;
    const double first = floor(low / pixel), last = fmin(ceil(high / pixel), s->profile.picture_height);
    double _Complex sum = 0;
    double length = 0;
    for (uint32_t k = first > 0 ? (uint32_t)first : 0; k < last; k++) {
        const double part = fmin(high, (k + 1) * pixel) - fmax(low, k * pixel);
        const double _Complex n =
            s->profile.colour
                [s->profile.picture[(size_t)(s->profile.picture_height - 1 - k) * s->profile.picture_width + column]];
        if (part > 0) {
            sum += part * (inverse ? 1 / (n * n) : n * n);
            length += part;
        }
    }
    return sum / length;
}

/* The column of the picture at place `at` of `length`. */
static uint32_t column_at(const bpm *s, double at, double length)
{
    const double column = floor(at / length * s->profile.picture_width);
    return column > 0 ? (uint32_t)fmin(column, s->profile.picture_width - 1.0) : 0;
}

static bool changes(const bpm_structure *g)
{
    return g->centre != g->centre_end || g->width != g->width_end || g->separation != g->separation_end;
}

/* The one or two intervals of y that the structure fills at height z; bends follow half a cosine, tapers a line. */
static size_t intervals(const bpm_structure *g, double z, double low[2], double high[2])
{
    if (z < g->from || z >= g->to)
        return 0;
    const double t = (z - g->from) / (g->to - g->from), bend = 0.5 - 0.5 * cos(BPM_PI * t);
    const double centre = g->centre + (g->centre_end - g->centre) * bend;
    const double half = 0.5 * (g->width + (g->width_end - g->width) * t);
    const double apart = 0.5 * (g->separation + (g->separation_end - g->separation) * bend);
    if (g->shape < BPM_Y_JUNCTION) {
        low[0] = centre - half;
        high[0] = centre + half;
        return 1;
    }
    for (int arm = 0; arm < 2; arm++) {
        low[arm] = centre + (arm ? apart : -apart) - half;
        high[arm] = centre + (arm ? apart : -apart) + half;
    }
    if (low[1] < high[0]) { /* they overlap: one piece */
        high[0] = high[1];
        return 1;
    }
    return 2;
}

/* The share of the cell [at - h/2, at + h/2] that lies between low and high. */
static double covered(double low, double high, double at, double h)
{
    const double share = (fmin(high, at + 0.5 * h) - fmax(low, at - 0.5 * h)) / h;
    return share > 1 - 1e-9 ? 1 : share < 1e-9 ? 0 : share;
}

/* n^2 of a round guide in the cell at (x, y) from its axis, on what was there: the mean over a fine grid where the
 * border runs through the cell. */
static double _Complex round_guide(const bpm_structure *g, double _Complex n2, double _Complex there,
                                   double background2, double x, double y, double hx, double hy)
{
    enum { FINE = 16 };
    const double radius = 0.5 * g->width, away = hypot(x, y), half = 0.5 * hypot(hx, hy);
    if (away >= radius + half)
        return there;
    if (away <= radius - half && g->shape == BPM_FIBRE)
        return n2;
    double _Complex sum = 0;
    for (int b = 0; b < FINE; b++)
        for (int a = 0; a < FINE; a++) {
            const double u = x + ((a + 0.5) / FINE - 0.5) * hx, v = y + ((b + 0.5) / FINE - 0.5) * hy;
            const double r2 = (u * u + v * v) / (radius * radius);
            sum += r2 >= 1 ? there : g->shape == BPM_FIBRE ? n2 : n2 + r2 * (background2 - n2);
        }
    return sum / (FINE * FINE);
}

void bpm_index_row(const bpm *s, double z, double y, size_t first, size_t count, double _Complex *out)
{
    const bpm_axis *axis = &s->axis[0];
    const double background2 = s->c.background * s->c.background, hx = axis->h, hy = s->axis[1].h;
    for (size_t i = 0; i < count; i++) {
        out[i] = background2;
        if (s->profile.picture) { /* the mean along y of every column in the cell */
            const double pixel = axis->width / s->profile.picture_width, x = (double)(first + i + 1) * hx;
            const uint32_t last = column_at(s, x + 0.5 * hx, axis->width);
            double covered_x = 0;
            out[i] = 0;
            for (uint32_t k = column_at(s, x - 0.5 * hx, axis->width); k <= last; k++) {
                const double part = fmin(x + 0.5 * hx, (k + 1) * pixel) - fmax(x - 0.5 * hx, k * pixel);
                if (part > 0) {
                    out[i] += part * column_mean(s, k, y - 0.5 * hy, y + 0.5 * hy, false);
                    covered_x += part;
                }
            }
            out[i] /= covered_x;
        }
    }
    for (size_t k = 0; k < s->profile.structures; k++) {
        const bpm_structure *g = &s->profile.structure[k];
        const double _Complex n2 = g->index * g->index;
        double low[2], high[2];
        const size_t pieces = intervals(g, z, low, high);
        const bool round = g->shape == BPM_FIBRE || g->shape == BPM_GRADED_FIBRE;
        for (size_t piece = 0; piece < pieces; piece++)
            for (size_t i = 0; i < count; i++) {
                const double x = (double)(first + i + 1) * hx - g->centre_x;
                if (round) {
                    out[i] = round_guide(g, n2, out[i], background2, x, y - g->centre, hx, hy);
                    continue;
                }
                const double share_x = g->width_x > 0 ? covered(-0.5 * g->width_x, 0.5 * g->width_x, x, hx) : 1;
                const double share = share_x * covered(low[piece], high[piece], y, hy);
                out[i] = share >= 1 ? n2 : share > 0 ? out[i] + share * (n2 - out[i]) : out[i];
            }
    }
}

void bpm_index(const bpm *s, size_t beam, double z, double y0, size_t count, bool inverse, double _Complex *out)
{
    const double h = s->c.h, background = s->c.background * s->c.background;
    for (size_t i = 0; i < count; i++) {
        const double y = y0 + (double)i * h;
        out[i] = inverse ? 1 / background : background;
        if (s->profile.picture)
            out[i] = column_mean(s, column_at(s, z, s->c.length), fmax(0, y - 0.5 * h), fmin(s->c.width, y + 0.5 * h),
                                 inverse);
    }
    for (size_t g = 0; g < s->profile.structures; g++) {
        double low[2], high[2];
        const size_t pieces = intervals(&s->profile.structure[g], z, low, high);
        const double _Complex n = s->profile.structure[g].index + s->beam[beam].index;
        const double _Complex value = inverse ? 1 / (n * n) : n * n;
        for (size_t k = 0; k < pieces; k++) {
            /* Only the cells that it touches; places beside the grid are cut off before they become integers. */
            const double first = floor((low[k] - y0) / h - 0.5), last = ceil((high[k] - y0) / h + 0.5);
            const size_t begin = first > 0 ? (size_t)fmin(first, (double)count) : 0;
            const size_t end = last > 0 ? (size_t)fmin(last + 1, (double)count) : 0;
            for (size_t i = begin; i < end; i++) {
                const double y = y0 + (double)i * h;
                const double share = covered(low[k], high[k], y, h);
                out[i] = share >= 1 ? value : share > 0 ? out[i] + share * (value - out[i]) : out[i];
            }
        }
    }
    for (size_t i = 0; inverse && i < count; i++)
        out[i] = 1 / out[i];
}

size_t bpm_constant_steps(const bpm *s, size_t k)
{
    const double z = ((double)k + 0.5) * s->c.dz; /* profiles are those in the middle of a step */
    size_t end = s->c.steps;
    if (s->profile.picture && s->c.axes == 1) {
        const uint32_t column = column_at(s, z, s->c.length);
        size_t at = k + 1;
        while (at < end && column_at(s, ((double)at + 0.5) * s->c.dz, s->c.length) == column)
            at++;
        end = at;
    }
    for (size_t g = 0; g < s->profile.structures; g++) {
        const bpm_structure *t = &s->profile.structure[g];
        if (z >= t->from && z < t->to && changes(t))
            return 1;
        /* The first step whose middle is at or behind an end of the structure. */
        const double ends[2] = { t->from, t->to };
        for (int e = 0; e < 2; e++)
            if (ends[e] > z) {
                /* Far behind the last step it is no integer; nor is 0 / 0, of steps too short for any. */
                size_t at = (size_t)fmin(fmax(0, floor(ends[e] / s->c.dz - 0.5)), (double)end);
                while (at < end && ((double)at + 0.5) * s->c.dz < ends[e])
                    at++;
                end = at > k && at < end ? at : end;
            }
    }
    return end > k ? end - k : 1;
}

bool bpm_guides(const bpm_profile *p, double z)
{
    if (p->picture)
        return true;
    for (size_t g = 0; g < p->structures; g++)
        if (z >= p->structure[g].from && z < p->structure[g].to)
            return true;
    return false;
}
