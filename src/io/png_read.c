/* png_read.c: libpng on a file in memory. libpng leaves its calls by longjmp when something fails, so they stand in
 * two functions that own nothing: decode_head() up to the first row, decode_rows() from there. Between them the size
 * is checked and memory taken. libpng is asked for four bytes R, G, B, A of every pixel; the rest is plain arithmetic
 * here, the same for every kind of file. */
#include "io/png_read.h"

#include "io/file.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNATURE_BYTES = 8 };
/* No picture within the limits above is larger, even stored without compression in the widest form (16-bit RGBA). */
static const size_t largest_file = (size_t)9 * BN_PNG_PIXELS_MAX;

typedef struct png_source {
    png_structp png;
    png_infop info;
    const unsigned char *data; /* the file */
    size_t bytes, at;
    uint32_t width, height;
    unsigned char *row;  /* 4 * width bytes */
    int channels;        /* of what is made: 1 grey, 3 red, green, blue */
    unsigned char *made; /* channels * width * height */
    char message[160];
} png_source;

static void on_error(png_structp png, png_const_charp message)
{
    png_source *s = png_get_error_ptr(png);
    snprintf(s->message, sizeof s->message, "libpng says %s", message);
    png_longjmp(png, 1);
}

/* Doubts about chunks that hold no pixels. */
static void on_warning(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void on_read(png_structp png, png_bytep data, png_size_t bytes)
{
    png_source *s = png_get_io_ptr(png);
    if (bytes > s->bytes - s->at) {
        snprintf(s->message, sizeof s->message, "it is truncated, after %zu bytes", s->bytes);
        png_longjmp(png, 1);
    }
    memcpy(data, s->data + s->at, bytes);
    s->at += bytes;
}

/* Size and kind, and the conversions by libpng. False when it failed; then s->message has the reason. */
static bool decode_head(png_source *s)
{
    if (setjmp(png_jmpbuf(s->png)))
        return false;
    png_set_read_fn(s->png, s, on_read);
    png_set_user_limits(s->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* ours come with a better message */
    png_read_info(s->png, s->info);
    s->width = png_get_image_width(s->png, s->info);
    s->height = png_get_image_height(s->png, s->info);
    png_set_expand(s->png); /* palettes, few bits and a transparent colour to full bytes */
    png_set_scale_16(s->png);
    png_set_gray_to_rgb(s->png);
    png_set_add_alpha(s->png, 0xff, PNG_FILLER_AFTER);
    return true;
}

/* One channel over white paper. */
static unsigned char over_white(unsigned value, unsigned alpha)
{
    return (unsigned char)((value * alpha + 255u * (255u - alpha) + 127u) / 255u);
}

/* Luma over white, or the colour. The weights of the luma add up to 256, so that grey stays what it is. */
static void make_pixel(const unsigned char rgba[4], int channels, unsigned char *to)
{
    if (channels == 1)
        to[0] = over_white((54u * rgba[0] + 183u * rgba[1] + 19u * rgba[2] + 128u) / 256u, rgba[3]);
    for (int c = 0; channels == 3 && c < 3; c++)
        to[c] = over_white(rgba[c], rgba[3]);
}

/* The rows of one pass: all of them where the file isn't interlaced, else a coarser picture's. */
static void decode_pass(png_source *s, bool interlaced, int pass)
{
    const uint32_t columns = interlaced ? PNG_PASS_COLS(s->width, pass) : s->width;
    const uint32_t rows = interlaced ? PNG_PASS_ROWS(s->height, pass) : s->height;
    for (uint32_t y = 0; columns > 0 && y < rows; y++) {
        png_read_row(s->png, s->row, NULL);
        const size_t row = (size_t)(interlaced ? PNG_ROW_FROM_PASS_ROW(y, pass) : y) * s->width;
        for (uint32_t x = 0; x < columns; x++)
            make_pixel(s->row + 4 * (size_t)x, s->channels,
                       s->made + (row + (interlaced ? PNG_COL_FROM_PASS_COL(x, pass) : x)) * (size_t)s->channels);
    }
}

static bool decode_rows(png_source *s)
{
    if (setjmp(png_jmpbuf(s->png)))
        return false;
    const bool interlaced = png_get_interlace_type(s->png, s->info) != PNG_INTERLACE_NONE;
    png_read_update_info(s->png, s->info);
    if (png_get_rowbytes(s->png, s->info) != 4 * (size_t)s->width)
        png_error(s->png, "rows have an unexpected length");
    for (int pass = 0; pass < (interlaced ? PNG_INTERLACE_ADAM7_PASSES : 1); pass++)
        decode_pass(s, interlaced, pass);
    png_read_end(s->png, NULL); /* the checksum of the last pixels, and that the file is whole */
    return true;
}

static bn_status read_png(bn_context *ctx, const char *path, int channels, uint32_t *width, uint32_t *height,
                          unsigned char **pixels)
{
    bn_status st = BN_OK;
    char *data = NULL;
    png_source s = { .channels = channels };
    *pixels = NULL;
    *width = *height = 0;
    BN_TRY(bn_file_read(ctx, path, largest_file, &data, &s.bytes));
    s.data = (const unsigned char *)data;
    if (s.bytes < SIGNATURE_BYTES || png_sig_cmp(s.data, 0, SIGNATURE_BYTES) != 0)
        BN_GO(bn_fail(ctx, BN_IO, "cannot read %s: it is not a PNG picture", path));
    s.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
    s.info = s.png ? png_create_info_struct(s.png) : NULL;
    if (!s.info)
        BN_GO(bn_fail(ctx, BN_MEMORY, "cannot read %s: out of memory", path));
    if (!decode_head(&s))
        BN_GO(bn_fail(ctx, BN_IO, "cannot read %s: %s", path, s.message));
    if (s.width > BN_PNG_SIDE_MAX || s.height > BN_PNG_SIDE_MAX || (uint64_t)s.width * s.height > BN_PNG_PIXELS_MAX)
        BN_GO(bn_fail(ctx, BN_IO,
                      "cannot read %s: it is too large, %lu x %lu pixels; at most %d on a side and %d in all are taken",
                      path, (unsigned long)s.width, (unsigned long)s.height, BN_PNG_SIDE_MAX, BN_PNG_PIXELS_MAX));
    s.row = malloc(4 * (size_t)s.width);
    s.made = malloc((size_t)s.width * s.height * (size_t)channels);
    if (!s.row || !s.made)
        BN_GO(bn_fail(ctx, BN_MEMORY, "cannot read %s: out of memory for %lu x %lu pixels", path,
                      (unsigned long)s.width, (unsigned long)s.height));
    if (!decode_rows(&s))
        BN_GO(bn_fail(ctx, BN_IO, "cannot read %s: %s", path, s.message));
    *width = s.width;
    *height = s.height;
    *pixels = s.made;
    s.made = NULL;
out:
    png_destroy_read_struct(&s.png, &s.info, NULL);
    free(s.row);
    free(s.made);
    free(data);
    return st;
}

bn_status bn_png_read_grey(bn_context *ctx, const char *path, uint32_t *width, uint32_t *height, unsigned char **grey)
{
    return read_png(ctx, path, 1, width, height, grey);
}

bn_status bn_png_read_rgb(bn_context *ctx, const char *path, uint32_t *width, uint32_t *height, unsigned char **rgb)
{
    return read_png(ctx, path, 3, width, height, rgb);
}
