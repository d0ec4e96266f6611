/* canvas.c: cairo's image surface and its text. DejaVu Sans has every sign we set; where it is missing fontconfig finds
 * another. */
#include "io/canvas.h"

#include "io/png_file.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 1024 };
static const double smallest_share = 0.7; /* of the wanted size, before text is cut instead */

bn_status bn_canvas_create(bn_context *ctx, const char *path, int width, int height, bn_canvas *out)
{
    *out = (bn_canvas){ .ctx = ctx, .path = path, .width = width, .height = height };
    out->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    out->cr = cairo_create(out->surface);
    if (cairo_status(out->cr) != CAIRO_STATUS_SUCCESS)
        return bn_fail(ctx, BN_MEMORY, "cannot draw %s (%d x %d pixels): %s", path, width, height,
                       cairo_status_to_string(cairo_status(out->cr)));
    cairo_select_font_face(out->cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY); /* the same on every screen, unlike sub-pixels */
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(out->cr, options);
    cairo_font_options_destroy(options);
    cairo_set_source_rgb(out->cr, 1, 1, 1);
    cairo_paint(out->cr);
    cairo_set_source_rgb(out->cr, 0, 0, 0);
    return BN_OK;
}

void bn_canvas_destroy(bn_canvas *c)
{
    if (c->cr)
        cairo_destroy(c->cr);
    if (c->surface)
        cairo_surface_destroy(c->surface);
    *c = (bn_canvas){ 0 };
}

/* Bytes of the UTF-8 character at `text`; 0: it is none. */
static size_t character_bytes(const char *text)
{
    const unsigned char *u = (const unsigned char *)text;
    const size_t length = u[0] < 0x80 ? 1 : u[0] >= 0xf0 && u[0] < 0xf5 ? 4 : u[0] >= 0xe0 ? 3 : u[0] >= 0xc2 ? 2 : 0;
    if (u[0] >= 0xf5 || (u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] >= 0xa0) ||
        (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] >= 0x90))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* A copy that cairo takes: valid UTF-8 without control characters. */
static void clean(char out[TEXT_BYTES], const char *text)
{
    size_t used = 0;
    while (*text && used + 5 < TEXT_BYTES) {
        const size_t length = character_bytes(text);
        if (length == 0)
            out[used++] = '?';
        else if (length == 1)
            out[used++] = (unsigned char)*text < 0x20 ? ' ' : *text;
        else
            memcpy(out + used, text, length);
        used += length > 1 ? length : 0;
        text += length ? length : 1;
    }
    out[used] = '\0';
}

static double clean_width(bn_canvas *c, double size, const char *text)
{
    cairo_text_extents_t extents;
    cairo_set_font_size(c->cr, size);
    cairo_text_extents(c->cr, text, &extents);
    return extents.x_advance;
}

double bn_canvas_text_width(bn_canvas *c, double size, const char *text)
{
    char copy[TEXT_BYTES];
    clean(copy, text);
    return clean_width(c, size, copy);
}

/* Takes characters off the end until the text and an ellipsis fit. */
static void shorten(bn_canvas *c, double size, double room, char text[TEXT_BYTES])
{
    size_t length = strlen(text);
    while (length > 0 && clean_width(c, size, text) > room) {
        length--;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
        memcpy(text + length, "\u2026", sizeof "\u2026");
    }
}

void bn_canvas_text(bn_canvas *c, double x, double y, double across, double size, bool turned, double room,
                    const char *text)
{
    char copy[TEXT_BYTES];
    clean(copy, text);
    double width = clean_width(c, size, copy);
    if (width > room) {
        const double share = room / width;
        size *= share > smallest_share ? share : smallest_share;
        if (share < smallest_share)
            shorten(c, size, room, copy);
        width = clean_width(c, size, copy);
    }
    cairo_save(c->cr);
    cairo_set_font_size(c->cr, size);
    cairo_translate(c->cr, x, y);
    if (turned)
        cairo_rotate(c->cr, -1.5707963267948966);
    cairo_move_to(c->cr, -across * width, 0.365 * size); /* capitals of DejaVu Sans are 0.73 of the size high */
    cairo_show_text(c->cr, copy);
    cairo_restore(c->cr);
}

bn_status bn_canvas_save(bn_canvas *c, const char *title)
{
    cairo_surface_flush(c->surface);
    if (cairo_status(c->cr) != CAIRO_STATUS_SUCCESS)
        return bn_fail(c->ctx, cairo_status(c->cr) == CAIRO_STATUS_NO_MEMORY ? BN_MEMORY : BN_IO, "cannot draw %s: %s",
                       c->path, cairo_status_to_string(cairo_status(c->cr)));
    char text[TEXT_BYTES];
    clean(text, title ? title : "");
    const bn_png_pixels pixels = { c->width, c->height, cairo_image_surface_get_stride(c->surface),
                                   cairo_image_surface_get_data(c->surface) };
    return bn_png_write(c->ctx, c->path, &pixels, text);
}
