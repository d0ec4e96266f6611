/* png_file.c: libpng on a bn_file, libdeflate for the pixels, which compresses them in half of the time that zlib
 * takes. libpng leaves its calls by longjmp when something fails, so all of them stand in encode(), which owns nothing
 * that would have to be released on the way. */
#include "io/png_file.h"

#include "io/file.h"

#include <libdeflate.h>
#include <png.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct png_job {
    FILE *stream;
    png_structp png;
    png_infop info;
    char message[160];
} png_job;

static void on_error(png_structp png, png_const_charp message)
{
    png_job *job = png_get_error_ptr(png);
    snprintf(job->message, sizeof job->message, "%s", message);
    png_longjmp(png, 1);
}

/* Warnings about our own calls, such as an odd text, do not help the user. */
static void on_warning(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void on_write(png_structp png, png_bytep data, png_size_t bytes)
{
    if (fwrite(data, 1, bytes, png_get_io_ptr(png)) != bytes)
        png_error(png, "short write");
}

static void on_flush(png_structp png) { (void)png; /* bn_file_commit flushes */ }

static void set_texts(png_job *job, const char *title)
{
    png_text texts[2] = {
        { .compression = PNG_TEXT_COMPRESSION_NONE, .key = (char *)"Software", .text = (char *)"Binnacle" },
        { .compression = PNG_ITXT_COMPRESSION_NONE, .key = (char *)"Title", .text = (char *)title },
    };
    bool ascii = true;
    for (const char *at = title; *at; at++)
        ascii = ascii && (unsigned char)*at < 0x80;
    if (ascii)
        texts[1].compression = PNG_TEXT_COMPRESSION_NONE; /* the older form, which every reader knows */
    png_set_text(job->png, job->info, texts, title[0] ? 2 : 1);
}

enum { COMPRESSION_LEVEL = 6 }; /* of libdeflate, 1 to 12 */

/* Ancillary, private, not to be copied by programs that change the pixels. */
static const unsigned char kept_type[5] = "bnPV";

/* The rows as PNG has them, each behind the number of its filter, compressed; NULL: no memory. No filter: colours of a
 * scale compress as well by themselves, and choosing one for each row takes as long as all the rest. */
static unsigned char *compress_pixels(const bn_png_pixels *p, size_t *bytes)
{
    const size_t row = 1 + 3 * (size_t)p->width, all = row * (size_t)p->height;
    struct libdeflate_compressor *deflate = libdeflate_alloc_compressor(COMPRESSION_LEVEL);
    const size_t room = deflate ? libdeflate_zlib_compress_bound(deflate, all) : 0;
    unsigned char *rows = malloc(all), *packed = deflate ? malloc(room) : NULL;
    *bytes = 0;
    for (int y = 0; rows && packed && y < p->height; y++) {
        unsigned char *at = rows + (size_t)y * row;
        *at++ = PNG_FILTER_VALUE_NONE;
        for (int x = 0; x < p->width; x++) {
            uint32_t pixel;
            memcpy(&pixel, p->data + (size_t)y * (size_t)p->stride + 4 * (size_t)x, sizeof pixel);
            *at++ = (unsigned char)(pixel >> 16);
            *at++ = (unsigned char)(pixel >> 8);
            *at++ = (unsigned char)pixel;
        }
    }
    if (rows && packed)
        *bytes = libdeflate_zlib_compress(deflate, rows, all, packed, room);
    free(rows);
    libdeflate_free_compressor(deflate);
    if (*bytes > 0)
        return packed;
    free(packed);
    return NULL;
}

/* False when libpng failed; then job->message has the reason. */
static bool encode(png_job *job, const bn_png_pixels *p, const unsigned char *packed, size_t bytes, const char *title,
                   const bn_png_kept *kept)
{
    if (setjmp(png_jmpbuf(job->png)))
        return false;
    png_set_write_fn(job->png, job->stream, on_write, on_flush);
    png_set_IHDR(job->png, job->info, (png_uint_32)p->width, (png_uint_32)p->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    set_texts(job, title);
    png_write_info(job->png, job->info);
    png_write_chunk(job->png, (png_const_bytep) "IDAT", packed, bytes);
    if (kept && kept->bytes > 0)
        png_write_chunk(job->png, kept_type, kept->data, kept->bytes);
    png_write_chunk(job->png, (png_const_bytep) "IEND", NULL, 0);
    return true;
}

bn_status bn_png_write(bn_context *ctx, const char *path, const bn_png_pixels *pixels, const char *title,
                       const bn_png_kept *kept)
{
    bn_status st = BN_OK;
    bn_file *file = NULL;
    png_job job = { 0 };
    size_t bytes;
    BN_TRY(bn_file_begin(ctx, path, &file));
    job.stream = bn_file_stream(file);
    unsigned char *packed = compress_pixels(pixels, &bytes);
    job.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning);
    job.info = job.png ? png_create_info_struct(job.png) : NULL;
    if (!packed || !job.info)
        st = bn_fail(ctx, BN_MEMORY, "cannot write %s: out of memory", path);
    else if (!encode(&job, pixels, packed, bytes, title, kept) && !ferror(job.stream))
        st = bn_fail(ctx, BN_IO, "cannot write %s: libpng says %s", path, job.message);
    else
        st = bn_file_commit(&file); /* reports a failed stream with its reason */
    bn_file_abort(&file);
    png_destroy_write_struct(&job.png, &job.info);
    free(packed);
    return st;
}

uint32_t bn_png_number(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

bn_status bn_png_read_kept(bn_context *ctx, const char *path, bn_png_kept *out)
{
    enum { SIGNATURE = 8, AROUND = 12, BYTES_MAX = 1 << 28 };
    char *file = NULL;
    size_t bytes = 0, at = SIGNATURE;
    *out = (bn_png_kept){ NULL, 0 };
    BN_TRY(bn_file_read(ctx, path, BYTES_MAX, &file, &bytes));
    const unsigned char *data = (const unsigned char *)file;
    bn_status st = BN_OK;
    while (at + AROUND <= bytes && out->bytes == 0 && st == BN_OK) {
        const size_t length = bn_png_number(data + at);
        if (length > bytes - at - AROUND) {
            st = bn_fail(ctx, BN_IO, "cannot read %s: it is truncated", path);
        } else if (length > 0 && memcmp(data + at + 4, kept_type, 4) == 0) {
            if (bn_png_number(data + at + 8 + length) != (uint32_t)crc32(0, data + at + 4, (uInt)(length + 4)))
                st = bn_fail(ctx, BN_IO, "cannot read %s: it is damaged (a checksum is wrong)", path);
            else if (!(out->data = malloc(length)))
                st = bn_fail(ctx, BN_MEMORY, "cannot read %s: out of memory", path);
            else
                memcpy(out->data, data + at + 8, out->bytes = length);
        }
        at += AROUND + length;
    }
    free(file);
    return st;
}
