/* test_png_read.c: pictures of every colour type and depth, written with libpng, come back as the grey values that a
 * formula of its own gives; what is damaged, too large or something else is refused, never followed. */
#include "io/file.h"
#include "io/png_read.h"
#include "support_case.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char path[4400];

static void setup(void)
{
    open_folder();
    snprintf(path, sizeof path, "%s/a.png", test_folder);
}

/* What a picture of a test is made of. `clear`: one colour (or entry of the palette) is transparent. */
typedef struct kind {
    int type, depth;
    bool clear;
} kind;

static int channels_of(int type)
{
    static const int channels[] = {
        [PNG_COLOR_TYPE_GRAY] = 1,       [PNG_COLOR_TYPE_RGB] = 3,       [PNG_COLOR_TYPE_PALETTE] = 1,
        [PNG_COLOR_TYPE_GRAY_ALPHA] = 2, [PNG_COLOR_TYPE_RGB_ALPHA] = 4,
    };
    return channels[type];
}

/* The stored sample of a channel: anything from 0 to the largest, with both ends. */
static unsigned sample_at(const kind *k, uint32_t x, uint32_t y, int channel)
{
    const unsigned largest = (1u << k->depth) - 1;
    if (k->type == PNG_COLOR_TYPE_PALETTE)
        return (x + 3 * y) & (largest < 15 ? largest : 15);
    if (x == 0)
        return 0;
    if (y == 0)
        return largest;
    return (x * 40503u + y * 30011u + (unsigned)channel * 9973u) & largest;
}

static png_color colour_at(unsigned entry)
{
    return (png_color){ (png_byte)(entry * 17), (png_byte)(255 - entry * 13), (png_byte)(entry * 101) };
}

enum { CLEAR_X = 2, CLEAR_Y = 1 }; /* the transparent colour is the one found there */

static void put_sample(unsigned char *row, size_t index, int depth, unsigned value)
{
    if (depth == 16) {
        row[2 * index] = (unsigned char)(value >> 8);
        row[2 * index + 1] = (unsigned char)value;
    } else {
        const size_t bit = index * (size_t)depth;
        row[bit / 8] |= (unsigned char)(value << (8 - (size_t)depth - bit % 8));
    }
}

static void set_transparent(png_structp png, png_infop info, const kind *k)
{
    const unsigned first = sample_at(k, CLEAR_X, CLEAR_Y, 0);
    png_byte alpha[16];
    memset(alpha, 255, sizeof alpha);
    alpha[first & 15] = 64;
    png_color_16 colour = { .gray = (png_uint_16)first,
                            .red = (png_uint_16)first,
                            .green = (png_uint_16)sample_at(k, CLEAR_X, CLEAR_Y, 1),
                            .blue = (png_uint_16)sample_at(k, CLEAR_X, CLEAR_Y, 2) };
    const bool palette = k->type == PNG_COLOR_TYPE_PALETTE;
    png_set_tRNS(png, info, alpha, palette ? 1 << (k->depth < 4 ? k->depth : 4) : 0, palette ? NULL : &colour);
}

static void write_picture(const kind *k, uint32_t width, uint32_t height, int interlace)
{
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, stream);
    png_set_IHDR(png, info, width, height, k->depth, k->type, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_gAMA(png, info, 1.0); /* must not matter */
    if (k->type == PNG_COLOR_TYPE_PALETTE) {
        png_color palette[16];
        for (unsigned i = 0; i < 16; i++)
            palette[i] = colour_at(i);
        png_set_PLTE(png, info, palette, 1 << (k->depth < 4 ? k->depth : 4));
    }
    if (k->clear)
        set_transparent(png, info, k);
    const size_t channels = (size_t)channels_of(k->type), bytes = (width * channels * (size_t)k->depth + 7) / 8;
    unsigned char *pixels = calloc(height, bytes);
    png_bytepp rows = calloc(height, sizeof *rows);
    ck_assert(pixels && rows);
    for (uint32_t y = 0; y < height; y++) {
        rows[y] = pixels + y * bytes;
        for (uint32_t x = 0; x < width; x++)
            for (size_t c = 0; c < channels; c++)
                put_sample(rows[y], x * channels + c, k->depth, sample_at(k, x, y, (int)c));
    }
    png_set_rows(png, info, rows);
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    png_destroy_write_struct(&png, &info);
    free(rows);
    free(pixels);
    ck_assert_int_eq(fclose(stream), 0);
}

/* The grey value after the words of png_read.h, in real numbers. */
static double expected_at(const kind *k, uint32_t x, uint32_t y)
{
    const double largest = (double)((1u << k->depth) - 1);
    double s[4], alpha = 1;
    bool same = true;
    for (int c = 0; c < 4; c++) {
        const unsigned value = sample_at(k, x, y, c);
        s[c] = 255 * value / largest;
        if (c < channels_of(k->type))
            same = same && value == sample_at(k, CLEAR_X, CLEAR_Y, c);
    }
    if (k->type == PNG_COLOR_TYPE_GRAY_ALPHA)
        alpha = s[1] / 255;
    if (k->type == PNG_COLOR_TYPE_RGB_ALPHA)
        alpha = s[3] / 255;
    if (k->clear && same)
        alpha = k->type == PNG_COLOR_TYPE_PALETTE ? 64 / 255.0 : 0;
    if (k->type == PNG_COLOR_TYPE_PALETTE) {
        const png_color colour = colour_at(sample_at(k, x, y, 0));
        s[0] = colour.red;
        s[1] = colour.green;
        s[2] = colour.blue;
    } else if ((k->type & PNG_COLOR_MASK_COLOR) == 0) {
        s[1] = s[2] = s[0];
    }
    return alpha * (0.2126 * s[0] + 0.7152 * s[1] + 0.0722 * s[2]) + (1 - alpha) * 255;
}

static const kind kinds[] = {
    { PNG_COLOR_TYPE_GRAY, 1, false },       { PNG_COLOR_TYPE_GRAY, 2, false },
    { PNG_COLOR_TYPE_GRAY, 4, false },       { PNG_COLOR_TYPE_GRAY, 8, false },
    { PNG_COLOR_TYPE_GRAY, 16, false },      { PNG_COLOR_TYPE_GRAY, 8, true },
    { PNG_COLOR_TYPE_GRAY, 16, true },       { PNG_COLOR_TYPE_GRAY, 2, true },
    { PNG_COLOR_TYPE_RGB, 8, false },        { PNG_COLOR_TYPE_RGB, 16, false },
    { PNG_COLOR_TYPE_RGB, 8, true },         { PNG_COLOR_TYPE_RGB, 16, true },
    { PNG_COLOR_TYPE_PALETTE, 1, false },    { PNG_COLOR_TYPE_PALETTE, 2, true },
    { PNG_COLOR_TYPE_PALETTE, 4, false },    { PNG_COLOR_TYPE_PALETTE, 8, true },
    { PNG_COLOR_TYPE_GRAY_ALPHA, 8, false }, { PNG_COLOR_TYPE_GRAY_ALPHA, 16, false },
    { PNG_COLOR_TYPE_RGB_ALPHA, 8, false },  { PNG_COLOR_TYPE_RGB_ALPHA, 16, false },
};

TEST(test_png_read_kinds)
{
    static const uint32_t sizes[][2] = { { 13, 9 }, { 1, 1 }, { 3, 2 }, { 64, 5 }, { 1, 20 } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int interlace = PNG_INTERLACE_NONE; interlace <= PNG_INTERLACE_ADAM7; interlace++) {
                const kind *k = &kinds[i];
                uint32_t width, height;
                unsigned char *grey, *rgb;
                write_picture(k, sizes[s][0], sizes[s][1], interlace);
                ck_assert_msg(bn_png_read_grey(ctx, path, &width, &height, &grey) == BN_OK, "%s", bn_error_text(ctx));
                ck_assert(width == sizes[s][0] && height == sizes[s][1]);
                for (uint32_t y = 0; y < height; y++)
                    for (uint32_t x = 0; x < width; x++) {
                        const double value = grey[y * width + x], expected = expected_at(k, x, y);
                        ck_assert_msg(fabs(value - expected) <= 1.6, "type %d depth %d at %u %u: %g, expected %g",
                                      k->type, k->depth, x, y, value, expected);
                    }
                /* The colours make the same grey (luma is linear, also over white). */
                ck_assert_msg(bn_png_read_rgb(ctx, path, &width, &height, &rgb) == BN_OK, "%s", bn_error_text(ctx));
                ck_assert(width == sizes[s][0] && height == sizes[s][1]);
                for (size_t at = 0; at < (size_t)width * height; at++)
                    near(0.2126 * rgb[3 * at] + 0.7152 * rgb[3 * at + 1] + 0.0722 * rgb[3 * at + 2], grey[at], 2,
                         "luma");
                free(grey);
                free(rgb);
            }
}

TEST(test_png_read_black_and_white)
{
    const kind bits = { PNG_COLOR_TYPE_GRAY, 1, false }; /* column 0 is black, the rest of row 0 white */
    uint32_t width, height;
    unsigned char *grey;
    write_picture(&bits, 40, 30, PNG_INTERLACE_NONE);
    ck_assert_int_eq(bn_png_read_grey(ctx, path, &width, &height, &grey), BN_OK);
    for (uint32_t i = 1; i < 40; i++)
        ck_assert_uint_eq(grey[i], 255);
    for (uint32_t j = 0; j < 30; j++)
        ck_assert_uint_eq(grey[40 * j], 0);
    free(grey);
}

/* Reads what stands at `path` and expects it to be refused with `text` in the message. */
static void refused(const char *file, const char *text)
{
    uint32_t width, height;
    unsigned char *grey = (unsigned char *)file;
    ck_assert_int_eq(bn_png_read_grey(ctx, file, &width, &height, &grey), BN_IO);
    ck_assert_ptr_null(grey);
    ck_assert_msg(strstr(bn_error_text(ctx), file) && strstr(bn_error_text(ctx), text), "no '%s' in: %s", text,
                  bn_error_text(ctx));
    bn_error_clear(ctx);
}

/* Without the care for power cuts that bn_file_write takes: there are thousands. */
static void put_file(const void *data, size_t bytes)
{
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(data, 1, bytes, stream), bytes);
    ck_assert_int_eq(fclose(stream), 0);
}

/* A file that says it has so many pixels, and holds none. */
static void write_claim(uint32_t width, uint32_t height)
{
    unsigned char file[8 + 25 + 12 + 12] = {
        137, 'P', 'N', 'G', '\r', '\n', 26, '\n', 0, 0, 0, 13, 'I', 'H', 'D', 'R'
    };
    for (int i = 0; i < 4; i++) {
        file[16 + i] = (unsigned char)(width >> (24 - 8 * i));
        file[20 + i] = (unsigned char)(height >> (24 - 8 * i));
    }
    file[24] = 1; /* bit of grey */
    memcpy(file + 37, "IDAT", 4);
    memcpy(file + 49, "IEND", 4);
    static const struct {
        size_t from, bytes;
    } parts[] = { { 12, 17 }, { 37, 4 }, { 49, 4 } };
    for (size_t p = 0; p < 3; p++) {
        const uLong sum = crc32(0, file + parts[p].from, (uInt)parts[p].bytes);
        for (size_t i = 0; i < 4; i++)
            file[parts[p].from + parts[p].bytes + i] = (unsigned char)(sum >> (24 - 8 * i));
    }
    put_file(file, sizeof file);
}

TEST(test_png_read_refuses)
{
    refused(path, "No such file");
    refused(test_folder, "directory");
    put_file("", 0);
    refused(path, "not a PNG");
    put_file("GIF89a: another kind of picture", 31);
    refused(path, "not a PNG");
    static const uint32_t large[][2] = {
        { 32769, 1 }, { 1, 32769 }, { 32768, 8193 }, { 0x7fffffff, 0x7fffffff }, { 1000000, 1000000 }
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        write_claim(large[i][0], large[i][1]);
        refused(path, "too large");
    }
    write_claim(0, 5);
    refused(path, "libpng says");
    write_claim(32768, 8192); /* as large as can be: taken for a moment, then found empty */
    refused(path, "libpng says");
}

TEST(test_png_read_truncated)
{
    static const kind some[] = { { PNG_COLOR_TYPE_PALETTE, 4, true }, { PNG_COLOR_TYPE_RGB_ALPHA, 16, false } };
    for (size_t k = 0; k < 2; k++) {
        char *data;
        size_t bytes;
        write_picture(&some[k], 9, 7, (int)k);
        ck_assert_int_eq(bn_file_read(ctx, path, 1 << 20, &data, &bytes), BN_OK);
        for (size_t n = 0; n < bytes; n++) {
            put_file(data, n);
            refused(path, n < 8 ? "not a PNG" : "");
        }
        put_file(data, bytes - 1);
        refused(path, "truncated");
        free(data);
    }
}

/* Repeatable noise (Knuth's 64-bit linear congruence). */
static uint32_t noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Makes the checksum of every chunk right again. */
static void repair(unsigned char *data, size_t bytes)
{
    for (size_t at = 8; at + 12 <= bytes;) {
        const unsigned char *u = data + at;
        const size_t length = (size_t)u[0] << 24 | (size_t)u[1] << 16 | (size_t)u[2] << 8 | u[3];
        if (length > bytes - at - 12)
            return;
        const uLong sum = crc32(0, u + 4, (uInt)length + 4);
        for (size_t i = 0; i < 4; i++)
            data[at + 8 + length + i] = (unsigned char)(sum >> (24 - 8 * i));
        at += length + 12;
    }
}

/* One byte changed: the picture is refused, or read where the byte holds no pixels. With `repaired` checksums wrong
 * content gets past them. */
static void mutate(bool repaired)
{
    enum { TRIES = 100 };
    uint64_t state = 7;
    size_t read = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char *data;
        size_t bytes;
        write_picture(&kinds[k], 11, 10, k % 2);
        ck_assert_int_eq(bn_file_read(ctx, path, 1 << 20, &data, &bytes), BN_OK);
        unsigned char *copy = malloc(bytes);
        ck_assert_ptr_nonnull(copy);
        for (int t = 0; t < TRIES; t++) {
            uint32_t width, height;
            unsigned char *grey = NULL;
            memcpy(copy, data, bytes);
            copy[noise(&state) % bytes] ^= (unsigned char)(1 + noise(&state) % 255);
            if (repaired)
                repair(copy, bytes);
            put_file(copy, bytes);
            const bn_status st = bn_png_read_grey(ctx, path, &width, &height, &grey);
            ck_assert(st == BN_OK || st == BN_IO);
            ck_assert((st == BN_OK) == (grey != NULL));
            ck_assert_msg(st == BN_OK || strstr(bn_error_text(ctx), path) != NULL, "%s", bn_error_text(ctx));
            for (size_t i = 0; st == BN_OK && i < (size_t)width * height; i++)
                read += grey[i] > 127; /* every byte is there to be read */
            free(grey);
            bn_error_clear(ctx);
        }
        free(copy);
        free(data);
    }
    ck_assert_uint_gt(read, 0);
}

TEST(test_png_read_mutated) { mutate(false); }
TEST(test_png_read_mutated_repaired) { mutate(true); }

int main(void) { return bn_test_main("png_read", setup, close_folder); }
