/* canvas.h: a white sheet to draw on, with text. y points down, lengths are pixels. */
#ifndef BN_CANVAS_H
#define BN_CANVAS_H

#include "binnacle/context.h"
#include "io/png_file.h"
#include <cairo.h>

enum { BN_FONT_TICK = 17, BN_FONT_LABEL = 20, BN_FONT_TITLE = 24, BN_PAD = 18 };

typedef struct bn_canvas {
    bn_context *ctx;
    const char *path; /* of the picture, for messages */
    cairo_surface_t *surface;
    cairo_t *cr;
    int width, height;
    bool vector; /* SVG or PDF, in memory: */
    unsigned char *data;
    size_t bytes;
} bn_canvas;

/* A sheet of width x height pixels, by the end of `path` of pixels, SVG or PDF; it stays where it is. Destroy it also
 * after a failure. Text can be measured on a sheet of any size. */
BN_CHECKED bn_status bn_canvas_create(bn_context *, const char *path, int width, int height, bn_canvas *out);
void bn_canvas_destroy(bn_canvas *);

/* Advance of a text in pixels. */
double bn_canvas_text_width(bn_canvas *, double size, const char *text);

/* Text at (x, y): `across` 0, 0.5, 1 puts its left end, middle or right end there; `y` is the middle of the capitals.
 * `rotated`: upwards. Text wider than `room` pixels is set smaller, and cut with an ellipsis where that is not enough.
 * Bytes that are no UTF-8 become '?'. */
void bn_canvas_text(bn_canvas *, double x, double y, double across, double size, bool rotated, double room,
                    const char *text);

/* Writes the finished sheet. `title` (NULL: none) and `kept` (NULL: nothing) go into the file where it has a place for
 * them. */
enum { BN_CANVAS_TEXT = 1024 };
BN_CHECKED bn_status bn_canvas_write(bn_canvas *, const char *title, const bn_png_kept *kept);

#endif
