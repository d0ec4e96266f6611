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
        };
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
                const double share = (fmin(high[k], y + 0.5 * h) - fmax(low[k], y - 0.5 * h)) / h;
                if (share > 0)
                    out[i] = share > 1 - 1e-9 ? value : share < 1e-9 ? out[i] : out[i] + share * (value - out[i]);
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
