/* xray_density.c: the density as optical depth of a cell, seen from the entrance face: generators, the box that is not
 * empty, and blocks with the largest depth in them, through which photons are followed. */
#include "xray.h"

#include <math.h>
#include <string.h>

/* Thomson's cross-section [m2] (CODATA 2018). */
static const double thomson = 6.6524587321e-29;
/* The depth that stands for a probability of 1: 2^-64 of the photons pass. */
static const double opaque = 44.3614195558365;

typedef struct shape {
    xray_density kind;
    double centre[2], width, pitch, height, start, depth, shift, radius, ripple, size[3];
} shape;

/* A cell whose middle lies on an edge belongs to what is inside, along y as along z. */
static bool inside(double at, double width) { return fabs(at) < 0.5 * width * (1 + 1e-9); }
static bool in_slit(const shape *s, double y) { return inside(y, s->width); }

/* Whether the density is there: x from the entrance, y and z from the middle of the face. */
static bool within(const shape *s, double x, double y, double z)
{
    y -= s->centre[0];
    z -= s->centre[1];
    if (s->kind == XRAY_SPHERE) {
        const double dx = x - s->start - 0.5 * s->depth;
        return dx * dx + y * y + z * z < s->radius * s->radius;
    }
    if (s->kind == XRAY_FOIL)
        x -= s->ripple * cos(2 * 3.14159265358979323846 * y / s->pitch);
    if (x < s->start || x >= s->start + s->depth || (s->height > 0 && !inside(z, s->height)))
        return false;
    switch (s->kind) {
    case XRAY_SINGLE_SLIT: return in_slit(s, y);
    case XRAY_DOUBLE_SLIT: return in_slit(s, fabs(y) - 0.5 * s->pitch);
    case XRAY_OFFSET_GRATINGS: y -= x >= s->start + 0.5 * s->depth ? s->shift : 0; /* fall through */
    case XRAY_GRATING: return in_slit(s, y - s->pitch * floor(y / s->pitch + 0.5));
    default: return true;
    }
}

/* Of cells that are only counted: the box that holds the shape, a cell more on either side. */
static void bound_shape(xray *s, const shape *a)
{
    const bool ball = a->kind == XRAY_SPHERE;
    const double ripple = a->kind == XRAY_FOIL ? fabs(a->ripple) : 0;
    const double z = a->height > 0 ? 0.5 * a->height : HUGE_VAL;
    const double y = a->kind == XRAY_SINGLE_SLIT   ? 0.5 * a->width
                     : a->kind == XRAY_DOUBLE_SLIT ? 0.5 * (a->pitch + a->width)
                                                   : HUGE_VAL;
    const double middle[3] = { a->start + 0.5 * a->depth, a->centre[0] + 0.5 * s->n[1] * s->h[1],
                               a->centre[1] + 0.5 * s->n[2] * s->h[2] };
    const double half[3] = { ball ? a->radius : 0.5 * a->depth + ripple, ball ? a->radius : y, ball ? a->radius : z };
    for (int d = 0; d < 3; d++) {
        const double low = fmax(floor((middle[d] - half[d]) / s->h[d]) - 1, 0);
        const double high = fmin(ceil((middle[d] + half[d]) / s->h[d]) + 1, s->n[d]);
        s->first[d] = (uint32_t)fmin(low, s->n[d] - 1);
        s->box[d] = high > low ? (uint32_t)(high - low) : 1;
    }
}

static void generate(xray *s, const shape *a, double depth)
{
    size_t at = 0;
    for (uint32_t k = 0; k < s->n[2]; k++)
        for (uint32_t j = 0; j < s->n[1]; j++)
            for (uint32_t i = 0; i < s->n[0]; i++)
                s->whole[at++] = within(a, (i + 0.5) * s->h[0], (j + 0.5 - 0.5 * s->n[1]) * s->h[1],
                                        (k + 0.5 - 0.5 * s->n[2]) * s->h[2])
                                     ? depth
                                     : 0;
}

/* Keeps the box that is not empty; all of it when everything is. */
static bn_status crop(xray *s, bn_plan *p)
{
    uint32_t low[3] = { s->n[0], s->n[1], s->n[2] }, high[3] = { 0, 0, 0 };
    size_t at = 0;
    for (uint32_t k = 0; k < s->n[2]; k++)
        for (uint32_t j = 0; j < s->n[1]; j++)
            for (uint32_t i = 0; i < s->n[0]; i++)
                if (s->whole[at++] > 0) {
                    const uint32_t here[3] = { i, j, k };
                    for (int d = 0; d < 3; d++) {
                        low[d] = here[d] < low[d] ? here[d] : low[d];
                        high[d] = here[d] + 1 > high[d] ? here[d] + 1 : high[d];
                    }
                }
    for (int d = 0; d < 3; d++) {
        s->first[d] = high[d] > 0 ? low[d] : 0;
        s->box[d] = high[d] > 0 ? high[d] - low[d] : 1;
    }
    BN_TRY(bn_plan_allocate(p, (size_t)s->box[0] * s->box[1] * s->box[2] * sizeof *s->optical, (void **)&s->optical));
    for (size_t k = 0; k < s->box[2]; k++)
        for (size_t j = 0; j < s->box[1]; j++)
            memcpy(s->optical + (k * s->box[1] + j) * s->box[0],
                   s->whole + ((k + s->first[2]) * s->n[1] + j + s->first[1]) * s->n[0] + s->first[0],
                   s->box[0] * sizeof *s->optical);
    return BN_OK;
}

static uint32_t halved(uint32_t n) { return (n + 1) / 2; }

/* The largest of every two cells along each axis. */
static void coarsen(const double *fine, const uint32_t n[3], double *coarse)
{
    const size_t mx = halved(n[0]), my = halved(n[1]);
    memset(coarse, 0, mx * my * halved(n[2]) * sizeof *coarse);
    for (size_t k = 0; k < n[2]; k++)
        for (size_t j = 0; j < n[1]; j++)
            for (size_t i = 0; i < n[0]; i++) {
                double *to = coarse + (k / 2 * my + j / 2) * mx + i / 2;
                *to = fmax(*to, fine[(k * n[1] + j) * n[0] + i]);
            }
}

/* Blocks of 2^(number of the level) cells a side: the largest depth in each, and their numbers along x, y, z. */
typedef struct level {
    double *most;
    uint32_t n[3];
} level;

/* Work of straight light with blocks of each level, on columns of cells spread over the box (Roberts' sequence, which
 * keeps step with no grating): entering a block counts 1, a tentative collision that is refused 3. Those that count are
 * as many whatever the blocks. Light that is scattered only once is gone behind that. */
static void efforts(const xray *s, const level *levels, int count, double *cost)
{
    enum { COLUMNS = 1024 };
    const size_t nx = s->box[0];
    for (int c = 0; c < COLUMNS; c++) {
        const double y = 0.5 + 0.7548776662466927 * c, z = 0.5 + 0.5698402909980532 * c;
        const size_t j = (size_t)((y - floor(y)) * s->box[1]), k = (size_t)((z - floor(z)) * s->box[2]);
        const double *own = s->optical + (k * s->box[1] + j) * nx;
        double light = 1;
        for (size_t i = 0; i < nx && light > 1e-6; i++) {
            for (int l = 0; l < count; l++) {
                const level *at = &levels[l];
                const double most = at->most[((k >> l) * at->n[1] + (j >> l)) * at->n[0] + (i >> l)];
                cost[l] += light * ((i & (((size_t)1 << l) - 1) ? 0 : 1) + 3 * (most - own[i]));
            }
            light *= s->k.most == 1 ? exp(-own[i]) : 1;
        }
    }
}

/* Blocks of 2^wish cells a side; below 0: where photons have least to do. 1 cell: every collision counts, which is the
 * exact walk from cell to cell. */
static bn_status cut(xray *s, bn_plan *p, int wish)
{
    enum { LEVELS = 8 };
    level levels[LEVELS] = { { s->optical, { s->box[0], s->box[1], s->box[2] } } };
    double cost[LEVELS] = { 0 };
    int count = 1, best = 0;
    for (; count < LEVELS && count - 1 != wish; count++) {
        const level *fine = &levels[count - 1];
        level *coarse = &levels[count];
        if (fine->n[0] == 1 && fine->n[1] == 1 && fine->n[2] == 1)
            break;
        for (int d = 0; d < 3; d++)
            coarse->n[d] = halved(fine->n[d]);
        BN_TRY(bn_plan_allocate(p, (size_t)coarse->n[0] * coarse->n[1] * coarse->n[2] * sizeof *coarse->most,
                            (void **)&coarse->most));
        coarsen(fine->most, fine->n, coarse->most);
    }
    if (wish >= 0)
        best = count - 1;
    else
        efforts(s, levels, count, cost);
    for (int l = 1; wish < 0 && l < count; l++)
        best = cost[l] < cost[best] ? l : best;
    s->majorant = levels[best].most;
    for (int d = 0; d < 3; d++) {
        s->blocks[d] = levels[best].n[d];
        s->bits[d] = best;
    }
    s->k.thinned = best > 0;
    return BN_OK;
}

/* Depth of a cell's side along the flight; NaN when the case has been rejected. */
static double depth_of(const bn_case *c, const xray *s)
{
    const double value = bn_case_real(c, "density.value");
    if (bn_case_choice(c, "density.measure") == 1)
        return thomson * value * s->h[0];
    if (value > 1) {
        (void)bn_case_reject(c, "density.value", NULL, "a probability of %g is above 1", value);
        return 0;
    }
    return fmin(-log1p(-value), opaque);
}

static bn_status plan_shape(const bn_case *c, xray *s)
{
    shape a = { .kind = s->density };
    for (int i = 0; i < 2; i++)
        a.centre[i] = bn_case_real_at(c, "density.centre", (size_t)i);
    a.width = s->width = bn_case_real(c, "density.width");
    a.pitch = s->pitch = bn_case_real(c, "density.pitch");
    a.height = bn_case_real(c, "density.height");
    a.start = bn_case_real(c, "density.start");
    a.depth = bn_case_real(c, "density.depth");
    a.shift = bn_case_real(c, "density.shift");
    a.radius = bn_case_real(c, "density.radius");
    a.ripple = bn_case_real(c, "density.ripple");
    if (a.depth == 0)
        a.depth = s->n[0] * s->h[0] - a.start;
    if (s->density == XRAY_DOUBLE_SLIT && a.width >= a.pitch)
        return bn_case_reject(c, "density.width", NULL, "slits of %g m at a distance of %g m are one", a.width,
                              a.pitch);
    if (s->counted) {
        bound_shape(s, &a);
        return BN_OK;
    }
    generate(s, &a, depth_of(c, s));
    double sum = 0;
    for (size_t i = 0; i < (size_t)s->n[0] * s->n[1] * s->n[2]; i++)
        sum += s->whole[i];
    if (!(sum > 0))
        return bn_case_reject(c, "density.kind", NULL,
                              "no cell of the grid has a density: is the shape inside, and as large as a cell?");
    return BN_OK;
}

/* --- from a file --- */

/* Where cell (i, j, k) of the photons' frame lies in the file's: the flight's axis is turned round for a face at its
 * end. */
static size_t place_in_file(const xray *s, int face, const uint32_t n[3], uint32_t i, uint32_t j, uint32_t k)
{
    uint32_t at[3];
    const int axis = face / 2;
    at[axis] = face % 2 ? s->n[0] - 1 - i : i;
    at[(axis + 1) % 3] = j;
    at[(axis + 2) % 3] = k;
    return ((size_t)at[2] * n[1] + at[1]) * n[0] + at[0];
}

/* The case's cells must be the file's where both tell them. */
static bn_status agree(const bn_case *c, const bn_input *v)
{
    for (size_t d = 0; d < 3; d++) {
        const long long cells = bn_case_int_at(c, "density.cells", d);
        const double cell = bn_case_real_at(c, "density.cell", d);
        if (bn_case_given(c, "density.cells") && cells != (long long)v->n[d])
            return bn_case_reject(c, "density.cells", "leave it out: the file tells it", "%s has %u x %u x %u cells",
                                  bn_case_text(c, "density.file"), v->n[0], v->n[1], v->n[2]);
        if (bn_case_given(c, "density.cell") && v->h[d] > 0 && fabs(cell / v->h[d] - 1) > 1e-6)
            return bn_case_reject(c, "density.cell", "leave it out: the file tells it",
                                  "%s has cells of %g x %g x %g m", bn_case_text(c, "density.file"), v->h[0], v->h[1],
                                  v->h[2]);
    }
    return BN_OK;
}

/* A picture is a mask or a map across x: black is density.value, white is empty; its right is +y, its top +z. */
static bn_status read_picture(const bn_case *c, xray *s, bn_plan *p, bn_input *v)
{
    double *values;
    const bn_input *picture;
    BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_GREY, .key = "density.file" }, &picture));
    const uint32_t width = picture->n[0], height = picture->n[1];
    const unsigned char *grey = picture->pixels;
    *v = (bn_input){ .n = { (uint32_t)bn_case_int_at(c, "density.cells", 0), width, height } };
    for (size_t d = 1; d < 3; d++)
        if (bn_case_given(c, "density.cells") && bn_case_int_at(c, "density.cells", d) != (long long)v->n[d])
            return bn_case_reject(c, "density.cells", "along y and z the picture tells them", "%s has %u x %u pixels",
                                  bn_case_text(c, "density.file"), width, height);
    if ((double)v->n[0] * width * height > 0x1p30)
        return bn_case_reject(c, "density.cells", NULL, "the picture makes more than 2^30 cells of them");
    if ((s->counted = bn_plan_only_counts(p, (double)v->n[0] * width * height)))
        return BN_OK;
    BN_TRY(bn_plan_allocate(p, (size_t)v->n[0] * width * height * sizeof *values, (void **)&values));
    v->values = values;
    for (uint32_t k = 0; k < height; k++)
        for (uint32_t j = 0; j < width; j++)
            for (uint32_t i = 0; i < v->n[0]; i++)
                *values++ = (255 - grey[(size_t)(height - 1 - k) * width + j]) / 255.0;
    return BN_OK;
}

static bool is_picture(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && strcmp(dot, ".png") == 0;
}

static bn_status read_file(const bn_case *c, xray *s, bn_plan *p, bn_input *v)
{
    const char *array = bn_case_text(c, "density.array");
    const char *name = bn_case_text(c, "density.file");
    if (!name[0])
        return bn_case_reject(c, "density.file", NULL, "a density from a file needs its name");
    if (is_picture(name))
        return read_picture(c, s, p, v);
    const bn_input *file;
    BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_VOLUME, .key = "density.file", .array = array }, &file));
    *v = *file;
    return agree(c, v);
}

/* Values of the file times density.value, as depths. */
static bn_status convert(const bn_case *c, const xray *s, const bn_input *v, double *depth)
{
    const double scale = bn_case_real(c, "density.value");
    const bool electrons = bn_case_choice(c, "density.measure") == 1;
    const int face = bn_case_choice(c, "source.face");
    size_t to = 0;
    for (uint32_t k = 0; k < s->n[2]; k++)
        for (uint32_t j = 0; j < s->n[1]; j++)
            for (uint32_t i = 0; i < s->n[0]; i++) {
                const size_t at = place_in_file(s, face, v->n, i, j, k);
                const double value = scale * v->values[at];
                if (!(value >= 0 && (electrons ? value < HUGE_VAL : value <= 1)))
                    return bn_case_reject(c, "density.file", NULL, "the value %g at (%zu, %zu, %zu) is no %s", value,
                                          at % v->n[0], at / v->n[0] % v->n[1], at / v->n[0] / v->n[1],
                                          electrons ? "density" : "probability");
                depth[to++] = electrons ? thomson * value * s->h[0] : fmin(-log1p(-value), opaque);
            }
    return BN_OK;
}

/* --- in time --- */

/* All frames, of one size, in order; the first stands in *v. */
static bn_status read_frames(const bn_case *c, xray *s, bn_plan *p, bn_input *v)
{
    const size_t count = bn_case_items(c, "density.frame");
    if (count < 2)
        return bn_case_reject(c, "density.kind", NULL, "a series needs two [[density.frame]] at least");
    BN_TRY(bn_plan_allocate(p, count * sizeof *s->frame, (void **)&s->frame));
    for (size_t i = 0; i < count; i++) {
        const char *name = bn_case_item_text(c, "density.frame.file", i);
        const bn_input *file;
        const bn_input_desc d = { .kind = BN_INPUT_VOLUME, .key = "density.frame.file", .item = i + 1,
                                  .array = bn_case_text(c, "density.array") };
        BN_TRY(bn_plan_input(p, c, &d, &file));
        const bn_input here = *file;
        if (i == 0)
            *v = here;
        else if (memcmp(here.n, v->n, sizeof here.n) != 0)
            return bn_case_reject_item(c, "density.frame.file", i, NULL,
                                       "%s has %u x %u x %u cells, the first frame %u x %u x %u", name, here.n[0],
                                       here.n[1], here.n[2], v->n[0], v->n[1], v->n[2]);
        s->frame[i] = (xray_frame){ bn_case_item_real(c, "density.frame.time", i), here.values, NULL };
        if (i > 0 && !(s->frame[i].time > s->frame[i - 1].time))
            return bn_case_reject_item(c, "density.frame.time", i, NULL, "frames must follow each other in time");
    }
    s->frames = count;
    return agree(c, v);
}

/* Depths of each frame's whole grid; their mean is the density that is cropped. */
static bn_status convert_frames(const bn_case *c, xray *s, bn_plan *p, const bn_input *v)
{
    const size_t cells = (size_t)s->n[0] * s->n[1] * s->n[2];
    for (size_t f = 0; f < s->frames; f++) {
        bn_input here = *v;
        here.values = s->frame[f].values;
        BN_TRY(bn_plan_allocate(p, cells * sizeof *s->frame[f].depth, (void **)&s->frame[f].depth));
        BN_TRY(convert(c, s, &here, s->frame[f].depth));
        for (size_t i = 0; i < cells; i++)
            s->whole[i] += s->frame[f].depth[i] / (double)s->frames;
    }
    return BN_OK;
}

/* The largest depths in the blocks, from the cells. */
static void find_majorants(xray *s)
{
    const size_t count = (size_t)s->blocks[0] * s->blocks[1] * s->blocks[2];
    memset(s->majorant, 0, count * sizeof *s->majorant);
    for (size_t k = 0; k < s->box[2]; k++)
        for (size_t j = 0; j < s->box[1]; j++)
            for (size_t i = 0; i < s->box[0]; i++) {
                double *to = s->majorant + ((k >> s->bits[2]) * s->blocks[1] + (j >> s->bits[1])) * s->blocks[0] +
                             (i >> s->bits[0]);
                *to = fmax(*to, s->optical[(k * s->box[1] + j) * s->box[0] + i]);
            }
}

void xray_density_at(xray *s, double time)
{
    size_t f = 0;
    while (f + 2 < s->frames && s->frame[f + 1].time <= time)
        f++;
    const xray_frame *a = &s->frame[f], *b = a + 1;
    const double share = fmin(fmax((time - a->time) / (b->time - a->time), 0), 1);
    for (size_t k = 0; k < s->box[2]; k++)
        for (size_t j = 0; j < s->box[1]; j++)
            for (size_t i = 0; i < s->box[0]; i++) {
                const size_t from = ((k + s->first[2]) * s->n[1] + j + s->first[1]) * s->n[0] + i + s->first[0];
                s->optical[(k * s->box[1] + j) * s->box[0] + i] = (1 - share) * a->depth[from] + share * b->depth[from];
            }
    find_majorants(s);
}

/* The most that the density may take: all of a picture's cells, the box around a shape. */
static bn_status count_density(const bn_case *c, xray *s, bn_plan *p)
{
    enum { USUAL_BITS = 3 }; /* of blocks: they take next to nothing beside their cells */
    const int wish = (int)bn_case_int(c, "flight.block");
    memcpy(s->box, s->n, sizeof s->box);
    if (s->density != XRAY_FILE)
        BN_TRY(plan_shape(c, s));
    for (int d = 0; d < 3; d++) {
        s->bits[d] = bn_case_choice(c, "flight.method") == 1 ? 0 : wish > 0 ? wish : USUAL_BITS;
        s->blocks[d] = ((s->box[d] - 1) >> s->bits[d]) + 1;
    }
    return bn_plan_note(p, "cells that photons visit, at most", (double)s->box[0] * s->box[1] * s->box[2], "");
}

bn_status xray_plan_density(const bn_case *c, xray *s, bn_plan *p)
{
    const int axis = bn_case_choice(c, "source.face") / 2;
    bn_input v = { .values = NULL };
    s->density = (xray_density)bn_case_choice(c, "density.kind");
    const bool series = s->density == XRAY_SERIES, file = series || s->density == XRAY_FILE;
    if (file) {
        BN_TRY(series ? read_frames(c, s, p, &v) : read_file(c, s, p, &v));
        if (!v.values && !s->counted)
            return BN_OK; /* rejected */
    }
    for (int d = 0; d < 3; d++) {
        const size_t from = (size_t)((axis + d) % 3);
        s->n[d] = file ? v.n[from] : (uint32_t)bn_case_int_at(c, "density.cells", from);
        s->h[d] = v.h[from] > 0 ? v.h[from] : bn_case_real_at(c, "density.cell", from);
    }
    const double cells = (double)s->n[0] * s->n[1] * s->n[2];
    if (cells > 0x1p30)
        return bn_case_reject(c, "density.cells", NULL, "%g cells are more than 2^30", cells);
    if (!file && bn_plan_only_counts(p, cells))
        s->counted = true;
    if (s->counted)
        return count_density(c, s, p);
    BN_TRY(bn_plan_allocate(p, (size_t)cells * sizeof *s->whole, (void **)&s->whole));
    BN_TRY(series ? convert_frames(c, s, p, &v) : file ? convert(c, s, &v, s->whole) : plan_shape(c, s));
    BN_TRY(crop(s, p));
    const int method = bn_case_choice(c, "flight.method"), wish = (int)bn_case_int(c, "flight.block");
    BN_TRY(cut(s, p, method == 1 ? 0 : wish == 0 ? -1 : wish));
    if (series && s->majorant == s->optical) { /* blocks of one cell: an array of their own, since both are made anew */
        BN_TRY(bn_plan_allocate(p, (size_t)s->box[0] * s->box[1] * s->box[2] * sizeof *s->majorant, (void **)&s->majorant));
        find_majorants(s);
    }
    double mean = 0;
    for (size_t i = 0; i < (size_t)cells; i++)
        mean += s->whole[i];
    BN_TRY(bn_plan_note(p, "mean optical depth", mean / ((double)s->n[1] * s->n[2]), ""));
    BN_TRY(bn_plan_note(p, "cells that photons visit", (double)s->box[0] * s->box[1] * s->box[2], ""));
    return bn_plan_note(p, "side of a block of cells", 1 << s->bits[0], "");
}
