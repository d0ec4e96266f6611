/* geotiff_read.c: terrain from GeoTIFF (OGC 19-008r4): libtiff reads the pixels, and the tags that place them are read
 * here: north-up grids in metres. GDAL's tags for pixels without data and for scaled heights are read too. */
#include "io/terrain.h"

#include "io/decimal.h"
#include "io/tiff_parts.h"

#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a tag that libtiff itself does not know holds, `count` of that type; NULL: there is none, or of another type. */
static const void *tag_of(TIFF *t, uint32_t tag, TIFFDataType type, uint32_t *count)
{
    const void *data = NULL;
    return TIFFFindField(t, tag, type) && TIFFGetField(t, tag, count, &data) == 1 ? data : NULL;
}

/* 0: there are none. */
static uint32_t numbers_of(TIFF *t, uint32_t tag, const double **values)
{
    uint32_t count = 0;
    *values = tag_of(t, tag, TIFF_DOUBLE, &count);
    return *values ? count : 0;
}

static const char *text_of(TIFF *t, uint32_t tag)
{
    uint32_t count = 0;
    const char *text = tag_of(t, tag, TIFF_ASCII, &count);
    return text && count > 0 && memchr(text, '\0', count) ? text : NULL;
}

/* A number of the key directory; -1: it isn't there. */
static int key_of(TIFF *t, int key)
{
    uint32_t count = 0;
    const uint16_t *k = tag_of(t, TIFF_KEY_DIRECTORY, TIFF_SHORT, &count);
    if (!k || count < 4)
        return -1;
    for (uint32_t i = 4; i + 3 < count && i < 4u * (k[3] + 1u); i += 4)
        if (k[i] == key && k[i + 1] == 0)
            return k[i + 3];
    return -1;
}

static bn_status unusable(bn_context *ctx, const char *path, const char *why)
{
    return bn_fail(ctx, BN_CASE, "%s can't be used as terrain: %s", path, why);
}

/* The corner in the north west, which the tags give, and the size of pixels. */
static bn_status place_grid(bn_context *ctx, const char *path, TIFF *t, const tiff_page *p, bn_terrain *out)
{
    const double *scale = NULL, *tie = NULL, *m = NULL;
    const uint32_t scales = numbers_of(t, TIFF_PIXEL_SCALE, &scale), ties = numbers_of(t, TIFF_TIE_POINTS, &tie);
    double west, north;
    if (key_of(t, GEO_MODEL_TYPE) == GEO_GEOGRAPHIC)
        return unusable(ctx, path, "its coordinates are degrees; transform it to metres (gdalwarp -t_srs)");
    const int units = key_of(t, GEO_LINEAR_UNITS);
    if (units >= 0 && units != GEO_METRE && units != GEO_USER_DEFINED)
        return unusable(ctx, path, "its coordinates are not in metres; transform it (gdalwarp -t_srs)");
    if (numbers_of(t, TIFF_TRANSFORMATION, &m) >= 8) {
        if (m[1] != 0 || m[4] != 0)
            return unusable(ctx, path, "its pixels are turned against north; warp it first (gdalwarp)");
        out->h[0] = m[0];
        out->h[1] = -m[5];
        west = m[3];
        north = m[7];
    } else if (scales >= 2 && ties >= 6) {
        if (ties > 6)
            return unusable(ctx, path, "it hangs on more than one tie point; warp it first (gdalwarp)");
        out->h[0] = scale[0];
        out->h[1] = scale[1];
        west = tie[3] - tie[0] * scale[0];
        north = tie[4] + tie[1] * scale[1];
    } else
        return unusable(ctx, path, "it has no tags that tell where it lies (ModelTiepoint and ModelPixelScale)");
    if (!(out->h[0] > 0 && out->h[1] > 0 && isfinite(west) && isfinite(north) && isfinite(out->h[0] * out->h[1])))
        return unusable(ctx, path, "its first row is not in the north, or its pixels have no size");
    if (key_of(t, GEO_RASTER_TYPE) == GEO_POINT) { /* the place is that of the pixel's middle */
        west -= 0.5 * out->h[0];
        north += 0.5 * out->h[1];
    }
    out->corner[0] = west;
    out->corner[1] = north - p->height * out->h[1];
    const int code = key_of(t, GEO_PROJECTED);
    out->epsg = code > 0 && code != GEO_USER_DEFINED ? code : 0;
    return BN_OK;
}

/* GDAL keeps scale and offset of heights as XML: <Item name="SCALE" role="scale">0.1</Item>. */
typedef struct scaling {
    double value[2]; /* scale, offset */
    int inside;      /* of which of them the text is read; -1: of none */
    char text[64];
    bool bad;
} scaling;

static void XMLCALL begin_item(void *data, const XML_Char *name, const XML_Char **attributes)
{
    scaling *s = data;
    s->inside = -1;
    s->text[0] = '\0';
    for (size_t i = 0; strcmp(name, "Item") == 0 && attributes[i]; i += 2)
        if (strcmp(attributes[i], "role") == 0)
            s->inside = strcmp(attributes[i + 1], "scale") == 0 ? 0 : strcmp(attributes[i + 1], "offset") == 0 ? 1 : -1;
}

static void XMLCALL add_text(void *data, const XML_Char *text, int length)
{
    scaling *s = data;
    const size_t have = strlen(s->text);
    if (s->inside >= 0)
        snprintf(s->text + have, sizeof s->text - have, "%.*s", length, text);
}

static void XMLCALL end_item(void *data, const XML_Char *name)
{
    scaling *s = data;
    (void)name;
    if (s->inside >= 0 && !bn_decimal_parse(s->text, &s->value[s->inside]))
        s->bad = true;
    s->inside = -1;
}

static bn_status read_scaling(bn_context *ctx, const char *path, TIFF *t, scaling *s)
{
    *s = (scaling){ .value = { 1, 0 }, .inside = -1 };
    const char *xml = text_of(t, TIFF_GDAL_METADATA);
    if (!xml)
        return BN_OK;
    XML_Parser parser = XML_ParserCreate(NULL);
    if (!parser)
        return bn_fail(ctx, BN_MEMORY, "no memory for the tags of %s", path);
    XML_SetUserData(parser, s);
    XML_SetElementHandler(parser, begin_item, end_item);
    XML_SetCharacterDataHandler(parser, add_text);
    const bool fine = XML_Parse(parser, xml, (int)strlen(xml), 1) == XML_STATUS_OK && !s->bad;
    XML_ParserFree(parser);
    return fine ? BN_OK : unusable(ctx, path, "the scale of its heights (tag 42112) makes no sense");
}

/* All pixels, rows from the south. */
static bn_status read_pixels(bn_context *ctx, const char *path, TIFF *t, const tiff_page *p, bn_terrain *out)
{
    const bool tiled = TIFFIsTiled(t);
    uint32_t wide = p->width, high = 1;
    if (tiled && (TIFFGetField(t, TIFFTAG_TILEWIDTH, &wide) != 1 || TIFFGetField(t, TIFFTAG_TILELENGTH, &high) != 1))
        return bn_fail(ctx, BN_IO, "cannot read %s: its tiles have no size", path);
    const tmsize_t bytes = tiled ? TIFFTileSize(t) : TIFFScanlineSize(t);
    if (bytes <= 0 || (uint64_t)bytes < (uint64_t)wide * high * p->bits / 8)
        return bn_fail(ctx, BN_IO, "cannot read %s: %s", path, bn_tiff_message());
    unsigned char *block = malloc((size_t)bytes);
    bool fine = true;
    if (!block)
        return bn_fail(ctx, BN_MEMORY, "no memory for the pixels of %s", path);
    for (uint32_t y = 0; fine && y < p->height; y += high)
        for (uint32_t x = 0; fine && x < p->width; x += wide) {
            fine = tiled ? TIFFReadTile(t, block, x, y, 0, 0) >= 0 : TIFFReadScanline(t, block, y, 0) == 1;
            for (uint32_t j = 0; fine && j < high && y + j < p->height; j++)
                for (uint32_t i = 0; i < wide && x + i < p->width; i++)
                    out->values[(size_t)(p->height - 1 - y - j) * p->width + x + i] = bn_tiff_number(
                        p, block + (size_t)j * wide * p->bits / 8, i);
        }
    free(block);
    return fine ? BN_OK
                : bn_fail(ctx, BN_IO, "cannot read %s: %s; the file is damaged or cut short", path, bn_tiff_message());
}

static bn_status read_terrain(bn_context *ctx, const char *path, TIFF *t, bn_terrain *out)
{
    tiff_page p;
    scaling s;
    double missing = 0;
    if (!bn_tiff_page(t, &p))
        return bn_fail(ctx, BN_IO, "cannot read %s: %s", path, bn_tiff_message());
    if (!bn_tiff_numbers(&p))
        return unusable(ctx, path, "one number a pixel is expected, of 8, 16, 32 bits or a float");
    BN_TRY(bn_terrain_create(ctx, path, p.width, p.height, out));
    BN_TRY(place_grid(ctx, path, t, &p, out));
    BN_TRY(read_scaling(ctx, path, t, &s));
    const char *text = text_of(t, TIFF_GDAL_NODATA);
    if (text && !bn_decimal_parse(text, &missing))
        return unusable(ctx, path, "the number that marks missing data (tag 42113) is none");
    BN_TRY(read_pixels(ctx, path, t, &p, out));
    const double narrow = p.bits == 32 && p.format == SAMPLEFORMAT_IEEEFP ? (double)(float)missing : missing;
    for (size_t i = 0; i < (size_t)p.width * p.height; i++) {
        double *v = &out->values[i];
        *v = (text && (*v == missing || *v == narrow)) || !isfinite(*v) ? (double)NAN : *v * s.value[0] + s.value[1];
    }
    return BN_OK;
}

bn_status bn_geotiff_read(bn_context *ctx, const char *path, bn_terrain *out)
{
    TIFF *t;
    BN_TRY(bn_tiff_open(ctx, path, &t));
    const bn_status st = read_terrain(ctx, path, t, out);
    TIFFClose(t);
    return st;
}
