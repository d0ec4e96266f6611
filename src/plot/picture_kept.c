/* picture_kept.c: values of a picture as data inside its file, and back. The data are those of this machine,
 * compressed; values are single precision, their bytes sorted by significance, which zlib makes much smaller. */
#include "plot/picture_kept.h"

#include "plot/raster.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <libdeflate.h>
#include <zlib.h>

enum { TEXT_BYTES = 512, VALUES_MAX = 1 << 24 };

/* Its value also shows whether byte order and layout are those of this machine. */
static const uint64_t mark = 0x3250766e62a1b2c3;

typedef struct header {
    uint64_t mark;
    double origin[2], h[2];
    bn_picture_scale scale;
    uint32_t n[2];
    bool nodes, lines, captioned;
    char title[TEXT_BYTES], caption[TEXT_BYTES];
} header;

static float single(double v)
{
    return !isfinite(v) ? (float)v : (float)fmax(-(double)FLT_MAX, fmin(v, (double)FLT_MAX));
}

/* In single precision, first the least significant bytes of all values, last those of sign and exponent. */
static void pack(unsigned char *bytes, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float v = single(values[i]);
        unsigned char parts[sizeof v];
        memcpy(parts, &v, sizeof v);
        for (size_t b = 0; b < sizeof v; b++)
            bytes[b * count + i] = parts[b];
    }
}

static void unpack(double *values, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float v;
        unsigned char parts[sizeof v];
        for (size_t b = 0; b < sizeof v; b++)
            parts[b] = bytes[b * count + i];
        memcpy(&v, parts, sizeof v);
        values[i] = (double)v;
    }
}

/* The picture as the pixels show it: a cell for each. Memory of `values` and `lines`: w * h each. False: no memory. */
static bool of_pixels(const bn_picture *p, int w, int h, double *values, double *lines, bn_picture *out)
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
    if (!bn_raster_means(p, values, w, h))
        return false;
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
            const size_t nearest = (size_t)fmin(fmax(y, 0) + 0.5, p->n[1] - 1) * p->n[0] +
                                   (size_t)fmin(fmax(x, 0) + 0.5, p->n[0] - 1);
            /* directions have no mean across their turn */
            lines[j * w + i] = p->contours.arrows ? p->contours.values[nearest]
                                                  : bn_raster_bilinear(p, p->contours.values, fmax(x, 0), fmax(y, 0));
        }
    q.nodes = false;
    q.values = values;
    q.contours.values = lines;
    *out = q;
    return true;
}

static bn_picture_scale scale_of(const bn_picture *p)
{
    bn_picture_scale s = { (double)INFINITY, (double)-INFINITY, (double)INFINITY, (double)-INFINITY };
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

/* The data before compression; NULL: no memory. */
static unsigned char *lay_out(const bn_picture *p, const bn_picture_scale *scale, size_t *bytes)
{
    const size_t count = (size_t)p->n[0] * p->n[1];
    header head;
    memset(&head, 0, sizeof head);
    head.mark = mark;
    head.scale = *scale;
    memcpy(head.n, p->n, sizeof head.n);
    memcpy(head.origin, p->origin, sizeof head.origin);
    memcpy(head.h, p->h, sizeof head.h);
    head.nodes = p->nodes;
    head.lines = p->contours.values != NULL;
    head.captioned = p->caption != NULL;
    snprintf(head.title, sizeof head.title, "%s", p->title ? p->title : "");
    snprintf(head.caption, sizeof head.caption, "%s", p->caption ? p->caption : "");
    *bytes = sizeof head + count * sizeof(float) * (head.lines ? 2 : 1);
    unsigned char *data = malloc(*bytes);
    if (!data)
        return NULL;
    memcpy(data, &head, sizeof head);
    pack(data + sizeof head, p->values, count);
    if (head.lines)
        pack(data + sizeof head + count * sizeof(float), p->contours.values, count);
    return data;
}

bn_status bn_picture_keep(bn_context *ctx, const char *path, const bn_picture *p, int w, int h, bn_png_kept *out)
{
    const size_t pixels = (size_t)w * (size_t)h;
    const bool large = (double)p->n[0] * p->n[1] > (double)pixels, lines = large && p->contours.values;
    double *values = large ? malloc(pixels * sizeof *values) : NULL,
           *more = lines ? malloc(pixels * sizeof *more) : NULL;
    unsigned char *data = NULL;
    size_t room = 0;
    bn_status st = BN_OK;
    *out = (bn_png_kept){ NULL, 0 };
    bn_picture shown = *p;
    if (!large || (values && (!lines || more) && of_pixels(p, w, h, values, more, &shown))) {
        const bn_picture_scale scale = scale_of(p); /* of all values: pixels show means */
        data = lay_out(&shown, &scale, &room);
    }
    const uint64_t bytes = room;
    struct libdeflate_compressor *deflate = libdeflate_alloc_compressor(6);
    size_t packed = deflate && data ? libdeflate_zlib_compress_bound(deflate, room) : 0;
    out->data = packed > 0 ? malloc(sizeof bytes + packed) : NULL;
    if (!out->data || (packed = libdeflate_zlib_compress(deflate, data, room, out->data + sizeof bytes, packed)) == 0) {
        st = bn_fail(ctx, BN_MEMORY, "cannot draw %s: out of memory", path);
    } else {
        memcpy(out->data, &bytes, sizeof bytes);
        out->bytes = sizeof bytes + packed;
    }
    libdeflate_free_compressor(deflate);
    free(data);
    free(values);
    free(more);
    return st;
}

/* Whether data of so many bytes are what the header says. */
static bool sound(const header *h, size_t bytes)
{
    return h->mark == mark && h->n[0] > 0 && h->n[1] > 0 && h->n[1] <= VALUES_MAX / h->n[0] &&
           bytes == sizeof *h + (size_t)h->n[0] * h->n[1] * sizeof(float) * (h->lines ? 2 : 1) &&
           memchr(h->title, 0, sizeof h->title) && memchr(h->caption, 0, sizeof h->caption);
}

bn_status bn_picture_unpack(bn_context *ctx, const char *path, const bn_png_kept *kept, bn_picture *out,
                            bn_picture_scale *scale, void **memory)
{
    uint64_t bytes = 0;
    bn_status st = BN_OK;
    unsigned char *data = NULL;
    header head;
    *memory = NULL;
    if (kept->bytes > sizeof bytes)
        memcpy(&bytes, kept->data, sizeof bytes);
    if (bytes < sizeof head || bytes > (uint64_t)16 * VALUES_MAX)
        return BN_OK;
    if (!(data = malloc(bytes)))
        return bn_fail(ctx, BN_MEMORY, "cannot draw %s: out of memory", path);
    uLongf unpacked = bytes;
    if (uncompress(data, &unpacked, kept->data + sizeof bytes, (uLong)(kept->bytes - sizeof bytes)) != Z_OK ||
        unpacked != bytes)
        goto out;
    memcpy(&head, data, sizeof head);
    if (!sound(&head, bytes))
        goto out;
    const size_t count = (size_t)head.n[0] * head.n[1];
    double *values = malloc(2 * sizeof head.title + 2 * count * sizeof *values);
    if (!values)
        BN_GO(bn_fail(ctx, BN_MEMORY, "cannot draw %s: out of memory", path));
    char *texts = memcpy(values + 2 * count, head.title, sizeof head.title);
    memcpy(texts + sizeof head.title, head.caption, sizeof head.caption);
    unpack(values, data + sizeof head, count);
    if (head.lines)
        unpack(values + count, data + sizeof head + count * sizeof(float), count);
    memcpy(out->n, head.n, sizeof head.n);
    memcpy(out->origin, head.origin, sizeof head.origin);
    memcpy(out->h, head.h, sizeof head.h);
    out->nodes = head.nodes;
    out->values = values;
    out->contours.values = head.lines ? values + count : NULL;
    out->title = texts;
    out->caption = head.captioned ? texts + sizeof head.title : NULL;
    *scale = head.scale;
    *memory = values;
out:
    free(data);
    return st;
}
