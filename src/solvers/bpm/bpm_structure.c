/* bpm_structure.c: guides on a background, given as a list of tables; later ones lie over earlier ones. */
#include "bpm.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static void check_structure(const bn_case *c, const bpm *s, size_t i)
{
    const bpm_structure *g = &s->structure[i];
    if (g->to <= g->from)
        bn_case_reject_item(c, "structure.to", i, NULL, "ends at z = %g m, before it begins at %g m", g->to, g->from);
    if (g->from >= s->length)
        bn_case_reject_item(c, "structure.from", i, NULL, "begins behind the end of the grid, march.length = %g m",
                            s->length);
}

bn_status bpm_read_structures(const bn_case *c, bpm *s)
{
    s->structures = bn_case_items(c, "structure");
    if (s->structures > BPM_STRUCTURES)
        return bn_case_reject(c, "structure.kind", NULL, "there may be at most %d structures", (int)BPM_STRUCTURES);
    for (size_t i = 0; i < s->structures; i++) {
        bpm_structure *g = &s->structure[i];
        const double index = bn_case_item_real(c, "structure.index", i);
        const double middle = bn_case_item_real(c, "structure.centre", i);
        const double end = bn_case_item_real(c, "structure.to", i);
        *g = (bpm_structure){
            .shape = (bpm_shape)bn_case_item_choice(c, "structure.kind", i),
            .index = CMPLX(index, -bn_case_item_real(c, "structure.absorption", i)),
            .from = bn_case_item_real(c, "structure.from", i),
            .to = end > 0 ? end : s->length,
            .centre = middle >= 0 ? middle : 0.5 * s->width,
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
        s->lossy = s->lossy || cimag(g->index) != 0;
        check_structure(c, s, i);
    }
    return BN_OK;
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
    const double t = (z - g->from) / (g->to - g->from), bend = 0.5 - 0.5 * cos(pi * t);
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

void bpm_index_row(const bpm *s, double z, double y, double _Complex *out)
{
    const bpm_axis *axis = &s->axis[0];
    const double background2 = s->background * s->background, hx = axis->h, hy = s->axis[1].h;
    for (size_t i = 0; i < axis->n; i++)
        out[i] = background2;
    for (size_t k = 0; k < s->structures; k++) {
        const bpm_structure *g = &s->structure[k];
        const double _Complex n2 = g->index * g->index;
        double low[2], high[2];
        const size_t pieces = intervals(g, z, low, high);
        const bool round = g->shape == BPM_FIBRE || g->shape == BPM_GRADED_FIBRE;
        for (size_t piece = 0; piece < pieces; piece++)
            for (size_t i = 0; i < axis->n; i++) {
                const double x = (double)(i + 1) * hx - g->centre_x;
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
    const double h = s->h, background = s->background * s->background;
    for (size_t i = 0; i < count; i++)
        out[i] = inverse ? 1 / background : background;
    for (size_t g = 0; g < s->structures; g++) {
        double low[2], high[2];
        const size_t pieces = intervals(&s->structure[g], z, low, high);
        const double _Complex n = s->structure[g].index + s->beam[beam][2];
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
    const double z = ((double)k + 0.5) * s->dz; /* profiles are those in the middle of a step */
    size_t end = s->steps;
    for (size_t g = 0; g < s->structures; g++) {
        const bpm_structure *t = &s->structure[g];
        if (z >= t->from && z < t->to && changes(t))
            return 1;
        /* The first step whose middle is at or behind an end of the structure. */
        const double ends[2] = { t->from, t->to };
        for (int e = 0; e < 2; e++)
            if (ends[e] > z) {
                size_t at = (size_t)fmax(0, floor(ends[e] / s->dz - 0.5));
                while (((double)at + 0.5) * s->dz < ends[e])
                    at++;
                end = at > k && at < end ? at : end;
            }
    }
    return end > k ? end - k : 1;
}

bool bpm_guides(const bpm *s, double z)
{
    for (size_t g = 0; g < s->structures; g++)
        if (z >= s->structure[g].from && z < s->structure[g].to)
            return true;
    return false;
}
