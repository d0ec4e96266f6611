/* canvas.c: cairo's image surface and its text. DejaVu Sans has every sign we set; where it is missing fontconfig finds
 * another. */
#include "plot/canvas.h"

#include "io/file.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <stdlib.h>
#include <string.h>

static const double smallest_share = 0.7; /* of the wanted size, before text is cut instead */

static cairo_status_t store(void *user, const unsigned char *data, unsigned length)
{
    bn_canvas *c = user;
    unsigned char *more = realloc(c->data, c->bytes + length);
    if (!more)
        return CAIRO_STATUS_NO_MEMORY;
    memcpy(more + c->bytes, data, length);
    c->data = more;
    c->bytes += length;
    return CAIRO_STATUS_SUCCESS;
}

bn_status bn_canvas_create(bn_context *ctx, const char *path, int width, int height, bn_canvas *out)
{
    *out = (bn_canvas){ .ctx = ctx, .path = path, .width = width, .height = height };
    const char *dot = strrchr(path, '.');
    const bool svg = dot && strcmp(dot, ".svg") == 0, pdf = dot && strcmp(dot, ".pdf") == 0;
    out->vector = svg || pdf;
    out->surface = svg   ? cairo_svg_surface_create_for_stream(store, out, width, height)
                   : pdf ? cairo_pdf_surface_create_for_stream(store, out, width, height)
                         : cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
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
        cairo_surface_destroy(c->surface); /* one of vectors may store more */
    free(c->data);
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
static void clean(char out[BN_CANVAS_TEXT], const char *text)
{
    size_t used = 0;
    while (*text && used + 5 < BN_CANVAS_TEXT) {
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

/* A raised digit or minus at the head of the text as a plain one, and how many bytes it takes; 0: it is none. Few fonts
 * have them, and cairo's own, which it takes where a machine has no fonts, is not one of these. */
static size_t raised_at(const char *text, char *plain)
{
    static const char *const raised[] = { "\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074", "\u2075",
                                          "\u2076", "\u2077", "\u2078", "\u2079", "\u207b" };
    for (size_t i = 0; i < sizeof raised / sizeof *raised; i++)
        if (strncmp(text, raised[i], strlen(raised[i])) == 0) {
            *plain = "0123456789-"[i];
            return strlen(raised[i]);
        }
    return 0;
}

/* The next characters that are all raised or all not, without their height; returns the bytes that they take in the
 * text. */
static size_t next_run(const char *text, char run[BN_CANVAS_TEXT], bool *up)
{
    size_t used = 0, taken = 0, length;
    char plain;
    *up = raised_at(text, &plain) > 0;
    while (text[taken] && ((length = raised_at(text + taken, &plain)) > 0) == *up) {
        if (*up)
            run[used++] = plain;
        else
            run[used++] = text[taken];
        taken += *up ? length : 1;
    }
    run[used] = '\0';
    return taken;
}

static const double raised_size = 0.7, raised_by = 0.4; /* of the size of the text */

/* Draws the text at the current point, or only measures it: its width. */
static double run_through(bn_canvas *c, double size, const char *text, bool draw)
{
    double width = 0, x = 0, y = 0;
    if (draw)
        cairo_get_current_point(c->cr, &x, &y);
    while (*text) {
        char run[BN_CANVAS_TEXT];
        bool up;
        cairo_text_extents_t extents;
        text += next_run(text, run, &up);
        cairo_set_font_size(c->cr, up ? raised_size * size : size);
        cairo_text_extents(c->cr, run, &extents);
        if (draw) {
            cairo_move_to(c->cr, x + width, up ? y - raised_by * size : y);
            cairo_show_text(c->cr, run);
        }
        width += extents.x_advance;
    }
    return width;
}

static double clean_width(bn_canvas *c, double size, const char *text) { return run_through(c, size, text, false); }

double bn_canvas_text_width(bn_canvas *c, double size, const char *text)
{
    char copy[BN_CANVAS_TEXT];
    clean(copy, text);
    return clean_width(c, size, copy);
}

/* Takes characters off the end until the text and an ellipsis fit. */
static void shorten(bn_canvas *c, double size, double room, char text[BN_CANVAS_TEXT])
{
    size_t length = strlen(text);
    while (length > 0 && clean_width(c, size, text) > room) {
        length--;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
        memcpy(text + length, "\u2026", sizeof "\u2026");
    }
}

void bn_canvas_text(bn_canvas *c, double x, double y, double across, double size, bool rotated, double room,
                    const char *text)
{
    char copy[BN_CANVAS_TEXT];
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
    cairo_translate(c->cr, x, y);
    if (rotated)
        cairo_rotate(c->cr, -1.5707963267948966);
    cairo_move_to(c->cr, -across * width, 0.365 * size); /* capitals of DejaVu Sans are 0.73 of the size high */
    (void)run_through(c, size, copy, true);
    cairo_restore(c->cr);
}

bn_status bn_canvas_write(bn_canvas *c, const char *title, const bn_png_kept *kept)
{
    char text[BN_CANVAS_TEXT];
    cairo_surface_flush(c->surface);
    if (c->vector)
        cairo_surface_finish(c->surface);
    const cairo_status_t drawn = cairo_status(c->cr),
                         stored = c->vector ? cairo_surface_status(c->surface) : CAIRO_STATUS_SUCCESS,
                         status = drawn != CAIRO_STATUS_SUCCESS ? drawn : stored;
    if (status != CAIRO_STATUS_SUCCESS)
        return bn_fail(c->ctx, status == CAIRO_STATUS_NO_MEMORY ? BN_MEMORY : BN_IO, "cannot draw %s: %s", c->path,
                       cairo_status_to_string(status));
    if (c->vector)
        return bn_file_write(c->ctx, c->path, c->data, c->bytes);
    clean(text, title ? title : "");
    for (char *at = text; (at = strchr(at, '\n')) != NULL;) /* a title of two lines */
        *at = ' ';
    const bn_png_pixels pixels = { c->width, c->height, cairo_image_surface_get_stride(c->surface),
                                   cairo_image_surface_get_data(c->surface) };
    return bn_png_write(c->ctx, c->path, &pixels, text, kept);
}
