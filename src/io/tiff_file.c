/* tiff_file.c: TIFF stacks of numbers, by libtiff. */
#include "io/volume.h"

#include "io/file.h"
#include "io/tiff_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Thread_local char complaint[256]; /* what libtiff said last */

__attribute__((format(printf, 2, 0))) static void complain(const char *module, const char *format, va_list args)
{
    (void)module;
    vsnprintf(complaint, sizeof complaint, format, args);
}

static void listen_to_libtiff(void)
{
    complaint[0] = '\0';
    TIFFSetErrorHandler(complain);
    TIFFSetWarningHandler(NULL);
}

const char *bn_tiff_complaint(void) { return complaint; }

bn_status bn_tiff_open(bn_context *ctx, const char *path, TIFF **out)
{
    *out = NULL;
    listen_to_libtiff();
    if (access(path, R_OK) != 0)
        return bn_fail(ctx, BN_IO, "cannot read %s: %s", path, strerror(errno));
    if (!(*out = TIFFOpen(path, "r")))
        return bn_fail(ctx, BN_IO, "cannot read %s: %s; damaged, cut short or no TIFF", path, complaint);
    return BN_OK;
}

bool bn_tiff_page(TIFF *t, tiff_page *p)
{
    *p = (tiff_page){ 0 };
    return TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &p->width) && TIFFGetField(t, TIFFTAG_IMAGELENGTH, &p->height) &&
           TIFFGetFieldDefaulted(t, TIFFTAG_BITSPERSAMPLE, &p->bits) &&
           TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &p->samples) &&
           TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLEFORMAT, &p->format);
}

double bn_tiff_number(const tiff_page *p, const unsigned char *row, uint32_t x)
{
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        float f;
        double d;
    } v;
    memcpy(&v, row + (size_t)x * p->bits / 8, p->bits / 8u);
    if (p->format == SAMPLEFORMAT_IEEEFP)
        return p->bits == 64 ? v.d : (double)v.f;
    if (p->format == SAMPLEFORMAT_INT)
        return p->bits == 8 ? (double)(int8_t)v.u8 : p->bits == 16 ? (double)(int16_t)v.u16 : (double)(int32_t)v.u32;
    return p->bits == 8 ? v.u8 : p->bits == 16 ? v.u16 : v.u32;
}

bool bn_tiff_numbers(const tiff_page *p)
{
    const bool real = p->format == SAMPLEFORMAT_IEEEFP && (p->bits == 32 || p->bits == 64);
    const bool whole = (p->format == SAMPLEFORMAT_UINT || p->format == SAMPLEFORMAT_INT) &&
                       (p->bits == 8 || p->bits == 16 || p->bits == 32);
    return p->samples == 1 && (real || whole);
}

static bn_status read_pages(bn_context *ctx, const char *path, TIFF *t, bn_volume *out)
{
    tiff_page first, here;
    bn_status st = BN_OK;
    unsigned char *row = NULL;
    const uint32_t pages = TIFFNumberOfDirectories(t);
    if (complaint[0]) /* the list of pictures ends in nothing */
        return bn_fail(ctx, BN_IO, "cannot read %s: after picture %u: %s; the file is damaged or cut short", path,
                       pages, complaint);
    if (!TIFFSetDirectory(t, 0) || !bn_tiff_page(t, &first))
        return bn_fail(ctx, BN_IO, "cannot read %s: %s", path, complaint[0] ? complaint : "no picture in it");
    if (!bn_tiff_numbers(&first) || TIFFIsTiled(t))
        return bn_fail(ctx, BN_IO,
                       "cannot read %s: %u numbers a pixel of %u bits%s: one is wanted, of 8, 16, 32 bits or a float",
                       path, first.samples, first.bits, TIFFIsTiled(t) ? ", in tiles" : "");
    BN_TRY(bn_volume_create(ctx, path, (const uint32_t[]){ first.width, first.height, pages }, out));
    if (TIFFScanlineSize64(t) < (uint64_t)first.width * first.bits / 8 ||
        !(row = malloc((size_t)TIFFScanlineSize64(t))))
        return bn_fail(ctx, BN_MEMORY, "no memory for a row of %s", path);
    for (uint32_t z = 0; z < pages && st == BN_OK; z++) {
        if (!TIFFSetDirectory(t, (tdir_t)z) || !bn_tiff_page(t, &here))
            st = bn_fail(ctx, BN_IO, "cannot read %s: picture %u: %s", path, z, complaint);
        else if (memcmp(&here, &first, sizeof here) != 0 || TIFFIsTiled(t))
            st = bn_fail(ctx, BN_IO, "cannot read %s: picture %u differs in size or kind from the first", path, z);
        for (uint32_t y = 0; y < first.height && st == BN_OK; y++) {
            if (TIFFReadScanline(t, row, y, 0) != 1)
                st = bn_fail(ctx, BN_IO, "cannot read %s: picture %u, row %u: %s; the file is damaged or cut short",
                             path, z, y, complaint);
            double *to = out->values + ((size_t)z * first.height + y) * first.width;
            for (uint32_t x = 0; x < first.width && st == BN_OK; x++)
                to[x] = bn_tiff_number(&first, row, x);
        }
    }
    free(row);
    return st;
}

bn_status bn_tiff_read(bn_context *ctx, const char *path, bn_volume *out)
{
    *out = (bn_volume){ .values = NULL };
    TIFF *t;
    BN_TRY(bn_tiff_open(ctx, path, &t));
    const bn_status st = read_pages(ctx, path, t, out);
    TIFFClose(t);
    if (st != BN_OK)
        bn_volume_free(out);
    return st;
}

static bool write_page(TIFF *t, const uint32_t n[3], uint32_t z, const float *values, const char *description)
{
    bool good = TIFFSetField(t, TIFFTAG_IMAGEWIDTH, n[0]) && TIFFSetField(t, TIFFTAG_IMAGELENGTH, n[1]) &&
                TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 32) && TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1) &&
                TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP) &&
                TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK) &&
                TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
                TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(t, 0));
    if (z == 0 && description)
        good = good && TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, description);
    for (uint32_t y = 0; y < n[1] && good; y++)
        good = TIFFWriteScanline(t, (void *)(values + ((size_t)z * n[1] + y) * n[0]), y, 0) == 1;
    return good && TIFFWriteDirectory(t);
}

bn_status bn_tiff_write(bn_context *ctx, const char *path, const uint32_t n[3], const float *values,
                        const char *description)
{
    listen_to_libtiff();
    if ((double)n[0] * n[1] * n[2] * sizeof *values > 4e9)
        return bn_fail(ctx, BN_IO,
                       "%s would be larger than 4 GB, which few programs read; write HDF5 instead (output.hdf5)", path);
    bn_file *file;
    BN_TRY(bn_file_begin(ctx, path, &file));
    const int own = dup(fileno(bn_file_stream(file)));
    TIFF *t = own < 0 ? NULL : TIFFFdOpen(own, path, "w");
    bool good = t != NULL;
    for (uint32_t z = 0; z < n[2] && good; z++)
        good = write_page(t, n, z, values, description);
    if (t)
        TIFFClose(t);
    else if (own >= 0)
        close(own);
    if (good && !complaint[0])
        return bn_file_commit(&file);
    bn_file_abort(&file);
    return bn_fail(ctx, BN_IO, "cannot write %s: %s", path, complaint[0] ? complaint : strerror(errno));
}
