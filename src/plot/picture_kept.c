/* picture_kept.c: a picture as data and back. The data are those of this machine, compressed; values are single
 * precision, their bytes sorted by significance, which zlib makes much smaller. At any time one picture is in memory.
 */
#include "plot/picture_kept.h"

#include "plot/raster.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MARKS_MAX = 32, LIST_MAX = 1 << 20, TEXT_MAX = 4096, VALUES_MAX = 1 << 24 };

/* Also tells whether byte order and layout are those of this machine. */
static const uint64_t mark = 0x3150766e62a1b2c3;

/* The smallest and the largest value of a field and of what has lines; low > high: none. */
typedef struct scale {
    double low, high, line_low, line_high;
} scale;

/* Goes through the parts of a picture in one order, to write or to read them. */
typedef struct parcel {
    unsigned char *data;
    size_t bytes, room, at; /* at: how far it has been read */
    bool reads, failed;
    void *owned[64]; /* what reading has allocated */
    size_t owned_count;
} parcel;

static void raw(parcel *p, void *value, size_t bytes)
{
    if (p->reads) {
        p->failed = p->failed || bytes > p->bytes - p->at;
        if (p->failed)
            memset(value, 0, bytes);
        else
            memcpy(value, p->data + p->at, bytes);
        p->at += p->failed ? 0 : bytes;
        return;
    }
    if (p->bytes + bytes > p->room) {
        const size_t room = 2 * (p->bytes + bytes);
        unsigned char *grown = p->failed ? NULL : realloc(p->data, room);
        p->failed = !grown;
        if (!grown)
            return;
        p->data = grown;
        p->room = room;
    }
    memcpy(p->data + p->bytes, value, bytes);
    p->bytes += bytes;
}

/* Zeroed memory that lives as long as the parcel. */
static void *own(parcel *p, size_t bytes)
{
    void *memory = p->owned_count < sizeof p->owned / sizeof *p->owned ? calloc(1, bytes ? bytes : 1) : NULL;
    if (memory)
        p->owned[p->owned_count++] = memory;
    p->failed = p->failed || !memory;
    return memory;
}

static void text(parcel *p, const char **value)
{
    uint64_t bytes = *value ? strlen(*value) + 1 : 0; /* 0: NULL */
    raw(p, &bytes, sizeof bytes);
    if (!p->reads) {
        if (bytes)
            raw(p, (char *)*value, bytes);
        return;
    }
    char *copy = bytes > 0 && bytes <= TEXT_MAX ? own(p, bytes) : NULL;
    p->failed = p->failed || bytes > TEXT_MAX;
    if (copy) {
        raw(p, copy, bytes);
        copy[bytes - 1] = '\0';
    }
    *value = copy;
}

static void reals(parcel *p, const double **values, size_t count)
{
    uint8_t there = *values != NULL;
    raw(p, &there, sizeof there);
    if (!p->reads) {
        if (there)
            raw(p, (double *)*values, count * sizeof **values);
        return;
    }
    double *copy = there && !p->failed && count <= LIST_MAX ? own(p, count * sizeof *copy) : NULL;
    p->failed = p->failed || count > LIST_MAX;
    if (copy)
        raw(p, copy, count * sizeof *copy);
    *values = copy;
}

static float single(double v)
{
    return !isfinite(v) ? (float)v : (float)fmax(-(double)FLT_MAX, fmin(v, (double)FLT_MAX));
}

/* In single precision, first the least significant bytes of all values, last those of sign and exponent. */
static void field(parcel *p, const double **values, size_t count)
{
    uint8_t there = *values != NULL;
    raw(p, &there, sizeof there);
    if (!there || p->failed)
        return;
    unsigned char *bytes = malloc(count * sizeof(float));
    double *copy = p->reads ? own(p, count * sizeof *copy) : NULL;
    p->failed = p->failed || !bytes;
    for (size_t i = 0; !p->reads && bytes && i < count; i++) {
        const float v = single((*values)[i]);
        unsigned char parts[sizeof v];
        memcpy(parts, &v, sizeof v);
        for (size_t b = 0; b < sizeof v; b++)
            bytes[b * count + i] = parts[b];
    }
    if (bytes)
        raw(p, bytes, count * sizeof(float));
    for (size_t i = 0; copy && bytes && i < count; i++) {
        float v;
        unsigned char parts[sizeof v];
        for (size_t b = 0; b < sizeof v; b++)
            parts[b] = bytes[b * count + i];
        memcpy(&v, parts, sizeof v);
        copy[i] = (double)v;
    }
    free(bytes);
    if (p->reads)
        *values = copy;
}

/* Marked lines, each with its label. */
static void marked_lines(parcel *p, bn_picture *v)
{
    uint64_t count = v->mark_count;
    raw(p, &count, sizeof count);
    p->failed = p->failed || count > MARKS_MAX;
    bn_marked_line *copy = p->reads && !p->failed ? own(p, count * sizeof *copy) : NULL;
    for (size_t i = 0; !p->failed && i < count; i++) {
        bn_marked_line m = p->reads ? (bn_marked_line){ .label = NULL } : v->marks[i];
        uint8_t upright = m.upright;
        raw(p, &upright, sizeof upright);
        raw(p, &m.at, sizeof m.at);
        text(p, &m.label);
        m.upright = upright;
        p->failed = p->failed || !m.label;
        if (copy)
            copy[i] = m;
    }
    if (p->reads) {
        v->marks = copy;
        v->mark_count = copy && !p->failed ? count : 0;
    }
}

static void whole(parcel *p, bn_picture *v, scale *s)
{
    uint64_t m = mark, level_count = v->contours.count, wall_count = v->wall_count;
    uint8_t map = (uint8_t)v->map, nodes = v->nodes, plain = v->plain;
    raw(p, &m, sizeof m);
    p->failed = p->failed || m != mark;
    raw(p, s, sizeof *s);
    raw(p, v->n, sizeof v->n);
    raw(p, v->origin, sizeof v->origin);
    raw(p, v->h, sizeof v->h);
    raw(p, &nodes, sizeof nodes);
    raw(p, &map, sizeof map);
    raw(p, &plain, sizeof plain);
    raw(p, &v->low, sizeof v->low);
    raw(p, &v->high, sizeof v->high);
    raw(p, &v->shape, sizeof v->shape);
    raw(p, &level_count, sizeof level_count);
    raw(p, &wall_count, sizeof wall_count);
    text(p, &v->title);
    text(p, &v->name);
    text(p, &v->unit);
    text(p, &v->contours.label);
    text(p, &v->axes[0]);
    text(p, &v->axes[1]);
    text(p, &v->caption);
    marked_lines(p, v);
    const double *walls = v->walls ? v->walls[0] : NULL;
    p->failed = p->failed || wall_count > LIST_MAX || level_count > LIST_MAX || v->n[0] == 0 || v->n[1] == 0 ||
                v->n[1] > VALUES_MAX / v->n[0];
    reals(p, &v->contours.levels, p->failed ? 0 : level_count);
    reals(p, &walls, p->failed ? 0 : 4 * wall_count);
    field(p, &v->values, (size_t)v->n[0] * v->n[1]);
    field(p, &v->contours.values, (size_t)v->n[0] * v->n[1]);
    v->walls = (const double(*)[4])(const void *)walls;
    v->wall_count = walls ? wall_count : 0;
    v->contours.count = level_count;
    v->map = (bn_colour_map)map;
    v->nodes = nodes;
    v->plain = plain;
    p->failed = p->failed || !v->values;
}

static void parcel_release(parcel *p)
{
    for (size_t i = 0; i < p->owned_count; i++)
        free(p->owned[i]);
    free(p->data);
}

/* The picture as the pixels show it: a cell for each. Memory of `values` and `lines`: w * h each. */
static bn_picture of_pixels(const bn_picture *p, int w, int h, double *values, double *lines)
{
    bn_picture q = *p;
    const int size[2] = { w, h };
    for (int d = 0; d < 2; d++) {
        const double low = p->nodes ? p->origin[d] : p->origin[d] - 0.5 * p->h[d];
        q.h[d] = p->h[d] * (p->nodes ? p->n[d] - 1 : p->n[d]) / size[d];
        q.origin[d] = low + 0.5 * q.h[d];
        q.n[d] = (uint32_t)size[d];
    }
    double *row = values;
    bn_raster_means(p, values, w, h);
    for (int top = 0, bottom = h - 1; top < bottom; top++, bottom--) /* y points up */
        for (int i = 0; i < w; i++) {
            const double v = row[top * w + i];
            row[top * w + i] = row[bottom * w + i];
            row[bottom * w + i] = v;
        }
    for (int j = 0; lines && j < h; j++)
        for (int i = 0; i < w; i++) {
            const double shift = p->nodes ? 0 : 0.5, x = (i + 0.5) / w * (p->nodes ? p->n[0] - 1 : p->n[0]) - shift,
                         y = (j + 0.5) / h * (p->nodes ? p->n[1] - 1 : p->n[1]) - shift;
            lines[j * w + i] = bn_raster_bilinear(p, p->contours.values, fmax(x, 0), fmax(y, 0));
        }
    q.nodes = false;
    q.values = values;
    q.contours.values = lines;
    return q;
}

static scale scale_of(const bn_picture *p)
{
    scale s = { (double)INFINITY, (double)-INFINITY, (double)INFINITY, (double)-INFINITY };
    const bn_value_range r = bn_raster_range(p);
    if (r.data_low < r.data_high || r.data_low < 0 || r.data_low > 0) { /* else there may be nothing at all */
        s.low = r.data_low;
        s.high = r.data_high;
    }
    if (p->contours.values) {
        bn_picture lines = *p;
        lines.values = p->contours.values;
        const bn_value_range l = bn_raster_range(&lines);
        s.line_low = l.data_low;
        s.line_high = l.data_high;
    }
    return s;
}

bn_status bn_picture_keep(bn_context *ctx, const char *path, const bn_picture *p, int w, int h, bn_png_kept *out)
{
    const size_t pixels = (size_t)w * (size_t)h;
    const bool large = (double)p->n[0] * p->n[1] > (double)pixels, lines = large && p->contours.values;
    double *values = large ? malloc(pixels * sizeof *values) : NULL,
           *more = lines ? malloc(pixels * sizeof *more) : NULL;
    parcel box = { .data = NULL };
    bn_status st = BN_OK;
    uLongf packed = 0;
    *out = (bn_png_kept){ NULL, 0 };
    box.failed = (large && !values) || (lines && !more);
    if (!box.failed) {
        bn_picture q = large ? of_pixels(p, w, h, values, more) : *p;
        scale s = scale_of(p); /* of all values: pixels show means */
        whole(&box, &q, &s);
    }
    const uint64_t bytes = box.bytes;
    packed = compressBound(box.bytes);
    out->data = box.failed ? NULL : malloc(sizeof bytes + packed);
    if (!out->data || compress2(out->data + sizeof bytes, &packed, box.data, box.bytes, 6) != Z_OK) {
        st = bn_fail(ctx, BN_MEMORY, "cannot draw %s: out of memory", path);
    } else {
        memcpy(out->data, &bytes, sizeof bytes);
        out->bytes = sizeof bytes + packed;
    }
    parcel_release(&box);
    free(values);
    free(more);
    return st;
}

/* The picture that a file keeps, in memory of the parcel; values NULL: it keeps none. */
static bn_status load(bn_context *ctx, const char *path, parcel *box, bn_png_kept *kept, bn_picture *out, scale *s)
{
    uint64_t bytes = 0;
    *out = (bn_picture){ .values = NULL };
    *box = (parcel){ .reads = true };
    BN_TRY(bn_png_read_kept(ctx, path, kept));
    if (kept->bytes > sizeof bytes)
        memcpy(&bytes, kept->data, sizeof bytes);
    uLongf unpacked = bytes;
    box->data = bytes > 0 && bytes <= (uint64_t)16 * VALUES_MAX ? malloc(bytes) : NULL;
    box->failed = !box->data || uncompress(box->data, &unpacked, kept->data + sizeof bytes,
                                           (uLong)(kept->bytes - sizeof bytes)) != Z_OK;
    box->bytes = unpacked;
    if (!box->failed)
        whole(box, out, s);
    if (box->failed)
        *out = (bn_picture){ .values = NULL };
    return BN_OK;
}

/* The colours for the smallest and the largest value: as for one picture that had both. */
static void choose(bn_picture *p, const scale *s)
{
    const double ends[2] = { s->low, s->high };
    const bn_picture both = { .n = { 2, 1 }, .values = ends, .map = p->map };
    if (!(p->low < p->high) && s->low <= s->high) {
        const bn_value_range r = bn_raster_range(&both);
        p->low = r.low;
        p->high = r.high;
    }
    p->line_low = s->line_low;
    p->line_high = s->line_high;
}

bn_status bn_pictures_to_one_scale(bn_context *ctx, const char *const *paths, size_t count)
{
    scale s = { (double)INFINITY, (double)-INFINITY, (double)INFINITY, (double)-INFINITY };
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            parcel box;
            bn_png_kept kept = { NULL, 0 };
            bn_picture p;
            scale own;
            bn_status st = load(ctx, paths[i], &box, &kept, &p, &own);
            if (st == BN_OK && !p.values && pass == 0)
                bn_log(ctx, BN_LOG_WARNING, "%s does not keep its values and stays with the scale that it has",
                       paths[i]);
            if (st == BN_OK && p.values && pass == 0) {
                s.low = fmin(s.low, own.low);
                s.high = fmax(s.high, own.high);
                s.line_low = fmin(s.line_low, own.line_low);
                s.line_high = fmax(s.line_high, own.line_high);
            } else if (st == BN_OK && p.values) {
                choose(&p, &s);
                st = bn_picture_draw(ctx, paths[i], &p, &kept); /* what it keeps names no range: more may come */
            }
            parcel_release(&box);
            free(kept.data);
            BN_TRY(st);
        }
    return BN_OK;
}
