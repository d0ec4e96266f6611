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

static _Thread_local char last_message[256]; /* of libtiff */

__attribute__((format(printf, 2, 0))) static void keep_message(const char *module, const char *format, va_list args)
{
    (void)module;
    vsnprintf(last_message, sizeof last_message, format, args);
}

static void listen_to_libtiff(void)
{
    last_message[0] = '\0';
    TIFFSetErrorHandler(keep_message);
    TIFFSetWarningHandler(NULL);
}

const char *bn_tiff_message(void) { return last_message; }

bn_status bn_tiff_open(bn_context *ctx, const char *path, TIFF **out)
{
    *out = NULL;
    listen_to_libtiff();
    BN_TRY(bn_file_check(ctx, path));
    if (!(*out = TIFFOpen(path, "r")))
        return bn_fail(ctx, BN_IO, "cannot read %s: %s; damaged, cut short or no TIFF", path, last_message);
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
    if (last_message[0]) /* the list of pictures is damaged */
        return bn_fail(ctx, BN_IO, "cannot read %s: after picture %u: %s; the file is damaged or cut short", path,
                       pages, last_message);
    if (!TIFFSetDirectory(t, 0) || !bn_tiff_page(t, &first))
        return bn_fail(ctx, BN_IO, "cannot read %s: %s", path, last_message[0] ? last_message : "no picture in it");
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
            st = bn_fail(ctx, BN_IO, "cannot read %s: picture %u: %s", path, z, last_message);
        else if (memcmp(&here, &first, sizeof here) != 0 || TIFFIsTiled(t))
            st = bn_fail(ctx, BN_IO, "cannot read %s: picture %u differs in size or kind from the first", path, z);
        for (uint32_t y = 0; y < first.height && st == BN_OK; y++) {
            if (TIFFReadScanline(t, row, y, 0) != 1)
                st = bn_fail(ctx, BN_IO, "cannot read %s: picture %u, row %u: %s; the file is damaged or cut short",
                             path, z, y, last_message);
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

struct bn_tiff {
    bn_context *ctx;
    bn_file *file;
    TIFF *tiff;
    char *path;
    uint32_t n[2];
    size_t pages;
    bool placed;
    bn_tiff_place place;
};

void bn_tiff_abort(bn_tiff **tiff)
{
    if (!tiff || !*tiff)
        return;
    if ((*tiff)->tiff)
        TIFFClose((*tiff)->tiff);
    bn_file_abort(&(*tiff)->file);
    free((*tiff)->path);
    free(*tiff);
    *tiff = NULL;
}

static bn_status refused(const bn_tiff *t)
{
    return bn_fail(t->ctx, BN_IO, "cannot write %s: %s", t->path, last_message[0] ? last_message : strerror(errno));
}

bn_status bn_tiff_begin(bn_context *ctx, const char *path, const uint32_t n[3], bn_tiff **out)
{
    bn_status st = BN_OK;
    bn_tiff *t = calloc(1, sizeof *t);
    *out = NULL;
    listen_to_libtiff();
    if (!t || !(t->path = strdup(path)))
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory to write %s", path));
    t->ctx = ctx;
    t->n[0] = n[0];
    t->n[1] = n[1];
    if ((double)n[0] * n[1] * n[2] * sizeof(float) > 4e9)
        BN_GO(bn_fail(ctx, BN_IO,
                      "%s would be larger than 4 GB, which few programs read; write HDF5 instead (output.hdf5)", path));
    BN_GO(bn_file_begin(ctx, path, &t->file));
    const int own = dup(fileno(bn_file_stream(t->file)));
    t->tiff = own < 0 ? NULL : TIFFFdOpen(own, path, "w");
    if (!t->tiff) {
        st = refused(t);
        if (own >= 0)
            close(own);
        goto out;
    }
    *out = t;
    t = NULL;
out:
    bn_tiff_abort(&t);
    return st;
}

void bn_tiff_georeference(bn_tiff *t, const bn_tiff_place *place)
{
    t->placed = true;
    t->place = *place;
}

/* Makes the tags of maps known to libtiff, which forgets them at the end of each picture. */
static bool know_place(TIFF *to)
{
    static const TIFFFieldInfo tags[] = {
        { TIFF_PIXEL_SCALE, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, true, true, (char *)"ModelPixelScale" },
        { TIFF_TIE_POINTS, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, true, true, (char *)"ModelTiepoint" },
        { TIFF_KEY_DIRECTORY, -1, -1, TIFF_SHORT, FIELD_CUSTOM, true, true, (char *)"GeoKeyDirectory" },
        { TIFF_GDAL_NODATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, true, false, (char *)"GDAL_NODATA" },
    };
    return TIFFMergeFieldInfo(to, tags, sizeof tags / sizeof *tags) == 0;
}

/* Tags of one picture that place it. */
static bool put_place(TIFF *to, const bn_tiff_place *p)
{
    const double scale[3] = { p->h[0], p->h[1], 0 }, tie[6] = { 0, 0, 0, p->west, p->north, 0 };
    const bool known = p->epsg > 0 && p->epsg < GEO_USER_DEFINED; /* keys are numbers of 16 bits */
    /* Version 1.1.0 and the number of keys; each: which, 0, 1, value, in rising order. The model is left open with the
     * code. */
    const uint16_t unknown[] = { 1, 1, 0, 1, GEO_RASTER_TYPE, 0, 1, GEO_AREA };
    const uint16_t all[] = { 1,
                             1,
                             0,
                             4,
                             GEO_MODEL_TYPE,
                             0,
                             1,
                             GEO_IS_PROJECTED,
                             GEO_RASTER_TYPE,
                             0,
                             1,
                             GEO_AREA,
                             GEO_PROJECTED,
                             0,
                             1,
                             (uint16_t)p->epsg,
                             GEO_LINEAR_UNITS,
                             0,
                             1,
                             GEO_METRE };
    return TIFFSetField(to, TIFF_PIXEL_SCALE, 3, scale) && TIFFSetField(to, TIFF_TIE_POINTS, 6, tie) &&
           TIFFSetField(to, TIFF_GDAL_NODATA, "nan") &&
           (known ? TIFFSetField(to, TIFF_KEY_DIRECTORY, (int)(sizeof all / sizeof *all), all)
                  : TIFFSetField(to, TIFF_KEY_DIRECTORY, (int)(sizeof unknown / sizeof *unknown), unknown));
}

bn_status bn_tiff_add(bn_tiff *t, const float *values, const char *description)
{
    TIFF *to = t->tiff;
    bool good = TIFFSetField(to, TIFFTAG_IMAGEWIDTH, t->n[0]) && TIFFSetField(to, TIFFTAG_IMAGELENGTH, t->n[1]) &&
                TIFFSetField(to, TIFFTAG_BITSPERSAMPLE, 32) && TIFFSetField(to, TIFFTAG_SAMPLESPERPIXEL, 1) &&
                TIFFSetField(to, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP) &&
                TIFFSetField(to, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK) &&
                TIFFSetField(to, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
                TIFFSetField(to, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(to, 0));
    if (t->placed)
        good = good && know_place(to) && put_place(to, &t->place);
    if (t->pages++ == 0 && description)
        good = good && TIFFSetField(to, TIFFTAG_IMAGEDESCRIPTION, description);
    for (uint32_t y = 0; y < t->n[1] && good; y++)
        good = TIFFWriteScanline(to, (void *)(values + (size_t)y * t->n[0]), y, 0) == 1;
    return good && TIFFWriteDirectory(to) ? BN_OK : refused(t);
}

bn_status bn_tiff_end(bn_tiff **tiff)
{
    bn_tiff *t = *tiff;
    TIFFClose(t->tiff);
    t->tiff = NULL;
    const bn_status st = last_message[0] ? refused(t) : bn_file_commit(&t->file);
    bn_tiff_abort(tiff);
    return st;
}

bn_status bn_tiff_write(bn_context *ctx, const char *path, const uint32_t n[3], const float *values,
                        const char *description)
{
    bn_tiff *t;
    bn_status st = BN_OK;
    BN_TRY(bn_tiff_begin(ctx, path, n, &t));
    for (uint32_t z = 0; z < n[2] && st == BN_OK; z++)
        st = bn_tiff_add(t, values + (size_t)z * n[1] * n[0], description);
    if (st == BN_OK)
        return bn_tiff_end(&t);
    bn_tiff_abort(&t);
    return st;
}
