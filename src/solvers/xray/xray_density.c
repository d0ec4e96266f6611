/* xray_density.c: the density as optical depth of a cell, seen from the entrance face: generated shapes, files, series;
 * its bounding box; blocks of cells with their majorants for delta tracking. */
#include "xray.h"

#include <math.h>
#include <string.h>

/* Thomson's cross-section [m2] (CODATA 2018). */
static const double thomson = 6.6524587321e-29;
/* Optical depth that stands for a probability of 1: 2^-64 of the photons pass. */
static const double opaque = 44.3614195558365;

typedef struct shape {
    xray_density kind;
    double centre[2], width, pitch, height, start, depth, shift, radius, ripple;
} shape;

/* A cell whose middle lies on an edge is inside, along y as along z. */
static bool inside(double at, double width) { return fabs(at) < 0.5 * width * (1 + 1e-9); }
static bool in_slit(const shape *a, double y) { return inside(y, a->width); }

/* Whether the shape has a density at a place: x from the entrance, y and z from the middle of the face. */
static bool within(const shape *a, double x, double y, double z)
{
    y -= a->centre[0];
    z -= a->centre[1];
    if (a->kind == XRAY_SPHERE) {
        const double dx = x - a->start - 0.5 * a->depth;
        return dx * dx + y * y + z * z < a->radius * a->radius;
    }
    if (a->kind == XRAY_FOIL)
        x -= a->ripple * cos(2 * 3.14159265358979323846 * y / a->pitch);
    if (x < a->start || x >= a->start + a->depth || (a->height > 0 && !inside(z, a->height)))
        return false;
    switch (a->kind) {
    case XRAY_SINGLE_SLIT: return in_slit(a, y);
    case XRAY_DOUBLE_SLIT: return in_slit(a, fabs(y) - 0.5 * a->pitch);
    case XRAY_OFFSET_GRATINGS: y -= x >= a->start + 0.5 * a->depth ? a->shift : 0; /* fall through */
    case XRAY_GRATING: return in_slit(a, y - a->pitch * floor(y / a->pitch + 0.5));
    default: return true;
    }
}

/* For cells that are only counted: the box around the shape and a cell more on either side. */
static void bound_shape(xray_volume *v, const shape *a)
{
    const bool ball = a->kind == XRAY_SPHERE;
    const double ripple = a->kind == XRAY_FOIL ? fabs(a->ripple) : 0;
    const double z = a->height > 0 ? 0.5 * a->height : HUGE_VAL;
    const double y = a->kind == XRAY_SINGLE_SLIT   ? 0.5 * a->width
                     : a->kind == XRAY_DOUBLE_SLIT ? 0.5 * (a->pitch + a->width)
                                                   : HUGE_VAL;
    const double middle[3] = { a->start + 0.5 * a->depth, a->centre[0] + 0.5 * v->n[1] * v->h[1],
                               a->centre[1] + 0.5 * v->n[2] * v->h[2] };
    const double half[3] = { ball ? a->radius : 0.5 * a->depth + ripple, ball ? a->radius : y, ball ? a->radius : z };
    for (int d = 0; d < 3; d++) {
        const double low = fmax(floor((middle[d] - half[d]) / v->h[d]) - 1, 0);
        const double high = fmin(ceil((middle[d] + half[d]) / v->h[d]) + 1, v->n[d]);
        v->first[d] = (uint32_t)fmin(low, v->n[d] - 1);
        v->box[d] = high > low ? (uint32_t)(high - low) : 1;
    }
}

static void generate(xray_volume *v, const shape *a, double depth)
{
    size_t at = 0;
    for (uint32_t k = 0; k < v->n[2]; k++)
        for (uint32_t j = 0; j < v->n[1]; j++)
            for (uint32_t i = 0; i < v->n[0]; i++)
                v->whole[at++] = within(a, (i + 0.5) * v->h[0], (j + 0.5 - 0.5 * v->n[1]) * v->h[1],
                                        (k + 0.5 - 0.5 * v->n[2]) * v->h[2])
                                     ? depth
                                     : 0;
}

/* Copies the bounding box of what is not empty. */
static bn_status crop(xray_volume *v, bn_plan *p)
{
    uint32_t low[3] = { v->n[0], v->n[1], v->n[2] }, high[3] = { 0, 0, 0 };
    size_t at = 0;
    for (uint32_t k = 0; k < v->n[2]; k++)
        for (uint32_t j = 0; j < v->n[1]; j++)
            for (uint32_t i = 0; i < v->n[0]; i++)
                if (v->whole[at++] > 0) {
                    const uint32_t here[3] = { i, j, k };
                    for (int d = 0; d < 3; d++) {
                        low[d] = here[d] < low[d] ? here[d] : low[d];
                        high[d] = here[d] + 1 > high[d] ? here[d] + 1 : high[d];
                    }
                }
    for (int d = 0; d < 3; d++) {
        v->first[d] = high[d] > 0 ? low[d] : 0;
        v->box[d] = high[d] > 0 ? high[d] - low[d] : 1;
    }
    BN_TRY(bn_plan_allocate(p, xray_cells(v->box) * sizeof *v->optical, (void **)&v->optical));
    for (size_t k = 0; k < v->box[2]; k++)
        for (size_t j = 0; j < v->box[1]; j++)
            memcpy(v->optical + (k * v->box[1] + j) * v->box[0],
                   v->whole + ((k + v->first[2]) * v->n[1] + j + v->first[1]) * v->n[0] + v->first[0],
                   v->box[0] * sizeof *v->optical);
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

/* Blocks of 2^level cells a side: the majorant of each, and their numbers along x, y, z. */
typedef struct level {
    double *most;
    uint32_t n[3];
} level;

/* Cost of tracking straight light with blocks of each level, on columns of cells spread over the box (Roberts'
 * sequence, which has no period in common with a grating): entering a block counts 1, a rejected collision 3. Real
 * collisions are as many whatever the blocks. `attenuate`: light that is scattered only once is gone behind that. */
static void tracking_costs(const xray_volume *v, bool attenuate, const level *levels, int count, double *cost)
{
    enum { COLUMNS = 1024 };
    const size_t nx = v->box[0];
    for (int c = 0; c < COLUMNS; c++) {
        const double y = 0.5 + 0.7548776662466927 * c, z = 0.5 + 0.5698402909980532 * c;
        const size_t j = (size_t)((y - floor(y)) * v->box[1]), k = (size_t)((z - floor(z)) * v->box[2]);
        const double *own = v->optical + (k * v->box[1] + j) * nx;
        double light = 1;
        for (size_t i = 0; i < nx && light > 1e-6; i++) {
            for (int l = 0; l < count; l++) {
                const level *at = &levels[l];
                const double most = at->most[((k >> l) * at->n[1] + (j >> l)) * at->n[0] + (i >> l)];
                cost[l] += light * ((i & (((size_t)1 << l) - 1) ? 0 : 1) + 3 * (most - own[i]));
            }
            light *= attenuate ? exp(-own[i]) : 1;
        }
    }
}

/* Makes blocks of 2^wish cells a side, where wish is below 0 those of the least cost. With blocks of 1 cell every
 * collision is real, which is the exact walk from cell to cell. */
static bn_status make_blocks(xray_volume *v, bn_plan *p, int wish, bool attenuate)
{
    enum { LEVELS = 8 };
    level levels[LEVELS] = { { v->optical, { v->box[0], v->box[1], v->box[2] } } };
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
        tracking_costs(v, attenuate, levels, count, cost);
    for (int l = 1; wish < 0 && l < count; l++)
        best = cost[l] < cost[best] ? l : best;
    v->majorant = levels[best].most;
    for (int d = 0; d < 3; d++) {
        v->blocks[d] = levels[best].n[d];
        v->bits[d] = best;
    }
    return BN_OK;
}

/* Optical depth of a cell's side along the flight; 0 when the case has been rejected. */
static double depth_of(const bn_case *c, const xray *s)
{
    const double value = bn_case_real(c, "density.value");
    if (s->config.measure == XRAY_ELECTRONS)
        return thomson * value * s->volume.h[0];
    if (value > 1) {
        (void)bn_case_reject(c, "density.value", NULL, "a probability of %g is above 1", value);
        return 0;
    }
    return fmin(-log1p(-value), opaque);
}

/* How wide cells leave a slit: a cell has the density of its middle, so edges between faces of cells move to them. */
static bn_status note_slit(const xray_volume *v, const shape *a, bn_plan *p)
{
    double open = 0;
    for (uint32_t j = 0; j < v->n[1]; j++)
        open += within(a, a->start, (j + 0.5 - 0.5 * v->n[1]) * v->h[1], a->centre[1]);
    return bn_plan_note(p, "width of a slit on the cells", open * v->h[1] / (a->kind == XRAY_DOUBLE_SLIT ? 2 : 1), "m");
}

static bn_status plan_shape(const bn_case *c, xray *s, bn_plan *p)
{
    xray_volume *v = &s->volume;
    shape a = { .kind = s->config.density, .width = s->config.width, .pitch = s->config.pitch };
    for (int i = 0; i < 2; i++)
        a.centre[i] = bn_case_real_at(c, "density.centre", (size_t)i);
    a.height = bn_case_real(c, "density.height");
    a.start = bn_case_real(c, "density.start");
    a.depth = bn_case_real(c, "density.depth");
    a.shift = bn_case_real(c, "density.shift");
    a.radius = bn_case_real(c, "density.radius");
    a.ripple = bn_case_real(c, "density.ripple");
    if (a.depth == 0)
        a.depth = v->n[0] * v->h[0] - a.start;
    if (s->config.density == XRAY_DOUBLE_SLIT && a.width >= a.pitch)
        return bn_case_reject(c, "density.width", NULL, "slits of %g m at a distance of %g m are one", a.width,
                              a.pitch);
    if (v->counted) {
        bound_shape(v, &a);
        return BN_OK;
    }
    generate(v, &a, depth_of(c, s));
    double sum = 0;
    for (size_t i = 0; i < xray_cells(v->n); i++)
        sum += v->whole[i];
    if (!(sum > 0))
        return bn_case_reject(c, "density.kind", NULL,
                              "no cell of the grid has a density: is the shape inside, and as large as a cell?");
    const bool slits = a.kind == XRAY_SINGLE_SLIT || a.kind == XRAY_DOUBLE_SLIT;
    return slits ? note_slit(v, &a, p) : BN_OK;
}

/* --- from a file --- */

/* Index in the file of cell (i, j, k) of the photons' frame: the axis of the flight is reversed for a face at its end.
 */
size_t xray_place(const xray *s, uint32_t i, uint32_t j, uint32_t k)
{
    uint32_t at[3], n[3];
    const int axis = s->config.face / 2;
    for (int d = 0; d < 3; d++)
        n[(axis + d) % 3] = s->volume.n[d];
    at[axis] = s->config.face % 2 ? s->volume.n[0] - 1 - i : i;
    at[(axis + 1) % 3] = j;
    at[(axis + 2) % 3] = k;
    return ((size_t)at[2] * n[1] + at[1]) * n[0] + at[0];
}

/* The cells of the case must be those of the file where both give them. */
static bn_status agree(const bn_case *c, const bn_input *file)
{
    for (size_t d = 0; d < 3; d++) {
        const long long cells = bn_case_int_at(c, "density.cells", d);
        const double cell = bn_case_real_at(c, "density.cell", d);
        if (bn_case_given(c, "density.cells") && cells != (long long)file->n[d])
            return bn_case_reject(c, "density.cells", "leave it out: the file tells it", "%s has %u x %u x %u cells",
                                  bn_case_text(c, "density.file"), file->n[0], file->n[1], file->n[2]);
        if (bn_case_given(c, "density.cell") && file->h[d] > 0 && fabs(cell / file->h[d] - 1) > 1e-6)
            return bn_case_reject(c, "density.cell", "leave it out: the file tells it",
                                  "%s has cells of %g x %g x %g m", bn_case_text(c, "density.file"), file->h[0],
                                  file->h[1], file->h[2]);
    }
    return BN_OK;
}

/* A picture is a mask or a map across x: black is density.value, white is empty; its right is +y, its top +z. */
static bn_status read_picture(const bn_case *c, xray *s, bn_plan *p, bn_input *file)
{
    double *values;
    const bn_input *picture;
    BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_GREY, .key = "density.file" }, &picture));
    const uint32_t width = picture->n[0], height = picture->n[1];
    const unsigned char *grey = picture->pixels;
    *file = (bn_input){ .n = { (uint32_t)bn_case_int_at(c, "density.cells", 0), width, height } };
    for (size_t d = 1; d < 3; d++)
        if (bn_case_given(c, "density.cells") && bn_case_int_at(c, "density.cells", d) != (long long)file->n[d])
            return bn_case_reject(c, "density.cells", "along y and z the picture tells them", "%s has %u x %u pixels",
                                  bn_case_text(c, "density.file"), width, height);
    if ((double)file->n[0] * width * height > 0x1p30)
        return bn_case_reject(c, "density.cells", NULL, "the picture makes more than 2^30 cells of them");
    if ((s->volume.counted = bn_plan_only_counts(p, (double)file->n[0] * width * height)))
        return BN_OK;
    BN_TRY(bn_plan_allocate(p, (size_t)file->n[0] * width * height * sizeof *values, (void **)&values));
    file->values = values;
    for (uint32_t k = 0; k < height; k++)
        for (uint32_t j = 0; j < width; j++)
            for (uint32_t i = 0; i < file->n[0]; i++)
                *values++ = (255 - grey[(size_t)(height - 1 - k) * width + j]) / 255.0;
    return BN_OK;
}

static bool is_picture(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && strcmp(dot, ".png") == 0;
}

static bn_status read_file(const bn_case *c, xray *s, bn_plan *p, bn_input *file)
{
    const char *array = bn_case_text(c, "density.array");
    const char *name = bn_case_text(c, "density.file");
    if (!name[0])
        return bn_case_reject(c, "density.file", NULL, "a density from a file needs its name");
    if (is_picture(name))
        return read_picture(c, s, p, file);
    const bn_input *volume;
    BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_VOLUME, .key = "density.file", .array = array },
                         &volume));
    *file = *volume;
    return agree(c, file);
}

/* Values of the file times density.value, as depths. */
static bn_status convert(const bn_case *c, const xray *s, const bn_input *file, double *depth)
{
    const double scale = bn_case_real(c, "density.value");
    const bool electrons = s->config.measure == XRAY_ELECTRONS;
    const xray_volume *v = &s->volume;
    size_t to = 0;
    for (uint32_t k = 0; k < v->n[2]; k++)
        for (uint32_t j = 0; j < v->n[1]; j++)
            for (uint32_t i = 0; i < v->n[0]; i++) {
                const size_t at = xray_place(s, i, j, k);
                const double value = scale * file->values[at];
                if (!(value >= 0 && (electrons ? value < HUGE_VAL : value <= 1)))
                    return bn_case_reject(c, "density.file", NULL, "the value %g at (%zu, %zu, %zu) is no %s", value,
                                          at % file->n[0], at / file->n[0] % file->n[1], at / file->n[0] / file->n[1],
                                          electrons ? "density" : "probability");
                depth[to++] = electrons ? thomson * value * v->h[0] : fmin(-log1p(-value), opaque);
            }
    return BN_OK;
}

/* --- in time --- */

/* All frames, of one size, in order; the first stands in *v. */
static bn_status read_frames(const bn_case *c, xray_volume *v, bn_plan *p, bn_input *file)
{
    const size_t count = bn_case_items(c, "density.frame");
    if (count < 2)
        return bn_case_reject(c, "density.kind", NULL, "a series needs two [[density.frame]] at least");
    BN_TRY(bn_plan_allocate(p, count * sizeof *v->frame, (void **)&v->frame));
    for (size_t i = 0; i < count; i++) {
        const char *name = bn_case_item_text(c, "density.frame.file", i);
        const bn_input_desc d = { .kind = BN_INPUT_VOLUME,
                                  .key = "density.frame.file",
                                  .item = i + 1,
                                  .array = bn_case_text(c, "density.array") };
        const bn_input *frame;
        BN_TRY(bn_plan_input(p, c, &d, &frame));
        const bn_input here = *frame;
        if (i == 0)
            *file = here;
        else if (memcmp(here.n, file->n, sizeof here.n) != 0)
            return bn_case_reject_item(c, "density.frame.file", i, NULL,
                                       "%s has %u x %u x %u cells, the first frame %u x %u x %u", name, here.n[0],
                                       here.n[1], here.n[2], file->n[0], file->n[1], file->n[2]);
        v->frame[i] = (xray_frame){ bn_case_item_real(c, "density.frame.time", i), here.values, NULL };
        if (i > 0 && !(v->frame[i].time > v->frame[i - 1].time))
            return bn_case_reject_item(c, "density.frame.time", i, NULL, "frames must follow each other in time");
    }
    v->frames = count;
    return agree(c, file);
}

/* Depths of each frame's whole grid; their mean is the density that is cropped. */
static bn_status convert_frames(const bn_case *c, xray *s, bn_plan *p, const bn_input *file)
{
    xray_volume *v = &s->volume;
    const size_t cells = xray_cells(v->n);
    for (size_t f = 0; f < v->frames; f++) {
        bn_input here = *file;
        here.values = v->frame[f].values;
        BN_TRY(bn_plan_allocate(p, cells * sizeof *v->frame[f].depth, (void **)&v->frame[f].depth));
        BN_TRY(convert(c, s, &here, v->frame[f].depth));
        for (size_t i = 0; i < cells; i++)
            v->whole[i] += v->frame[f].depth[i] / (double)v->frames;
    }
    return BN_OK;
}

static size_t block_of(const xray_volume *v, size_t i, size_t j, size_t k)
{
    return ((k >> v->bits[2]) * v->blocks[1] + (j >> v->bits[1])) * v->blocks[0] + (i >> v->bits[0]);
}

/* Whether blocks that are not empty are many mean free paths across: then few flights leave the block where they begin.
 */
static bool is_dense(const xray_volume *v)
{
    static const double PATHS = 8;
    double sum = 0, count = 0;
    for (size_t i = 0; i < xray_cells(v->blocks); i++) {
        sum += v->majorant[i];
        count += v->majorant[i] > 0;
    }
    const uint32_t side = v->box[0] < 1u << v->bits[0] ? v->box[0] : 1u << v->bits[0];
    return sum * side > PATHS * count;
}

/* Whether a cell of a block has less than its majorant. */
static bool is_thinned(const xray_volume *v)
{
    for (size_t k = 0; k < v->box[2]; k++)
        for (size_t j = 0; j < v->box[1]; j++)
            for (size_t i = 0; i < v->box[0]; i++)
                if (v->optical[(k * v->box[1] + j) * v->box[0] + i] < v->majorant[block_of(v, i, j, k)])
                    return true;
    return false;
}

/* The largest depth in each block. */
static void find_majorants(xray_volume *v)
{
    const size_t count = xray_cells(v->blocks);
    memset(v->majorant, 0, count * sizeof *v->majorant);
    for (size_t k = 0; k < v->box[2]; k++)
        for (size_t j = 0; j < v->box[1]; j++)
            for (size_t i = 0; i < v->box[0]; i++) {
                double *to = v->majorant + block_of(v, i, j, k);
                *to = fmax(*to, v->optical[(k * v->box[1] + j) * v->box[0] + i]);
            }
}

void xray_density_at(xray *s, double time)
{
    xray_volume *v = &s->volume;
    size_t f = 0;
    while (f + 2 < v->frames && v->frame[f + 1].time <= time)
        f++;
    const xray_frame *a = &v->frame[f], *b = a + 1;
    const double share = fmin(fmax((time - a->time) / (b->time - a->time), 0), 1);
    for (size_t k = 0; k < v->box[2]; k++)
        for (size_t j = 0; j < v->box[1]; j++)
            for (size_t i = 0; i < v->box[0]; i++) {
                const size_t from = ((k + v->first[2]) * v->n[1] + j + v->first[1]) * v->n[0] + i + v->first[0];
                v->optical[(k * v->box[1] + j) * v->box[0] + i] = (1 - share) * a->depth[from] + share * b->depth[from];
            }
    find_majorants(v);
}

/* The most that the density may take: all of a picture's cells, the box around a shape. */
static bn_status count_density(const bn_case *c, xray *s, bn_plan *p)
{
    enum { USUAL_BITS = 3 }; /* blocks of these take next to nothing beside their cells */
    xray_volume *v = &s->volume;
    const int wish = s->config.block_bits > 0 ? s->config.block_bits : USUAL_BITS;
    memcpy(v->box, v->n, sizeof v->box);
    if (s->config.density != XRAY_FILE)
        BN_TRY(plan_shape(c, s, p));
    for (int d = 0; d < 3; d++) {
        v->bits[d] = s->config.tracking == XRAY_EXACT ? 0 : wish;
        v->blocks[d] = ((v->box[d] - 1) >> v->bits[d]) + 1;
    }
    v->thinned = v->bits[0] > 0;
    return bn_plan_note(p, "cells that photons visit, at most", (double)v->box[0] * v->box[1] * v->box[2], "");
}

bn_status xray_plan_density(const bn_case *c, xray *s, bn_plan *p)
{
    xray_volume *v = &s->volume;
    bn_input file = { .values = NULL };
    const bool series = s->config.density == XRAY_SERIES, from_file = series || s->config.density == XRAY_FILE;
    if (from_file) {
        BN_TRY(series ? read_frames(c, v, p, &file) : read_file(c, s, p, &file));
        if (!file.values && !v->counted)
            return BN_OK; /* rejected */
    }
    for (int d = 0; d < 3; d++) {
        const size_t axis = (size_t)((s->config.face / 2 + d) % 3);
        v->n[d] = from_file ? file.n[axis] : (uint32_t)bn_case_int_at(c, "density.cells", axis);
        v->h[d] = file.h[axis] > 0 ? file.h[axis] : bn_case_real_at(c, "density.cell", axis);
    }
    const double cells = (double)v->n[0] * v->n[1] * v->n[2];
    if (cells > 0x1p30)
        return bn_case_reject(c, "density.cells", NULL, "%g cells are more than 2^30", cells);
    if (!from_file && bn_plan_only_counts(p, cells))
        v->counted = true;
    if (v->counted)
        return count_density(c, s, p);
    BN_TRY(bn_plan_allocate(p, (size_t)cells * sizeof *v->whole, (void **)&v->whole));
    BN_TRY(series ? convert_frames(c, s, p, &file) : from_file ? convert(c, s, &file, v->whole) : plan_shape(c, s, p));
    BN_TRY(crop(v, p));
    const int wish = s->config.tracking == XRAY_EXACT ? 0 : s->config.block_bits == 0 ? -1 : s->config.block_bits;
    BN_TRY(make_blocks(v, p, wish, s->config.scatterings_max == 1));
    if (series && v->majorant == v->optical) { /* blocks of one cell: an array of their own, since both are made anew */
        BN_TRY(bn_plan_allocate(p, xray_cells(v->box) * sizeof *v->majorant, (void **)&v->majorant));
        find_majorants(v);
    }
    v->dense = is_dense(v);
    v->thinned = series ? v->bits[0] > 0 : is_thinned(v);
    double mean = 0;
    for (size_t i = 0; i < (size_t)cells; i++)
        mean += v->whole[i];
    BN_TRY(bn_plan_note(p, "mean optical depth", mean / ((double)v->n[1] * v->n[2]), ""));
    BN_TRY(bn_plan_note(p, "cells that photons visit", (double)v->box[0] * v->box[1] * v->box[2], ""));
    return bn_plan_note(p, "side of a block of cells", 1 << v->bits[0], "");
}
