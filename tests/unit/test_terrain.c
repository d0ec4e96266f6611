/* test_terrain.c: ESRI ASCII grids and GeoTIFF as this test writes them: places, heights in between, missing data, and
 * files that can't be used. */
#include "support_case.h"

#include "io/terrain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>
#include <unistd.h>

static const char *grid(const char *text) { return text_file("ground.asc", text); }

/* What a GeoTIFF of this test differs in. */
typedef struct flavour {
    uint16_t bits, format;                         /* 0: floats of 32 bits */
    bool tiles, point, degrees, feet, bare, whole; /* whole: the size of pixels as integers of 16 bits */
    double turn;
    const char *nodata, *metadata;
    uint16_t samples, code;
} flavour;

enum { NX = 20, NY = 12 };
static double height(double x, double y) { return 100 + 0.5 * (x - 5000) - 0.25 * (y - 7000); }

/* 20 x 12 pixels of 2 m x 4 m, the lower left corner at (5000, 7000), heights on a plane; row 0, column 3 has the
 * value 7. */
static const char *tiff(const flavour *f)
{
    const TIFFFieldInfo tags[] = {
        { 33550, -1, -1, f->whole ? TIFF_SHORT : TIFF_DOUBLE, FIELD_CUSTOM, true, true, (char *)"scale" },
        { 33922, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, true, true, (char *)"tie" },
        { 34264, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, true, true, (char *)"matrix" },
        { 34735, -1, -1, TIFF_SHORT, FIELD_CUSTOM, true, true, (char *)"keys" },
        { 42112, -1, -1, TIFF_ASCII, FIELD_CUSTOM, true, false, (char *)"metadata" },
        { 42113, -1, -1, TIFF_ASCII, FIELD_CUSTOM, true, false, (char *)"nodata" },
    };
    const char *path = in_folder("ground.tif");
    TIFF *t = TIFFOpen(path, "w");
    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(TIFFMergeFieldInfo(t, tags, sizeof tags / sizeof *tags), 0);
    const uint16_t bits = f->bits ? f->bits : 32, format = f->format ? f->format : SAMPLEFORMAT_IEEEFP;
    const uint16_t samples = f->samples ? f->samples : 1;
    const double off = f->point ? 0.5 : 0, north = 7000 + 4 * NY - off * 4, west = 5000 + off * 2;
    const uint16_t whole_scale[3] = { 2, 4, 0 };
    const double scale[3] = { 2, 4, 0 }, tie[6] = { 0, 0, 0, west, north, 0 };
    const double matrix[16] = { 2, f->turn, 0, west, f->turn, -4, 0, north, 0, 0, 0, 0, 0, 0, 0, 1 };
    const uint16_t keys[] = { 1,    1, 0, 4,
                              1024, 0, 1, f->degrees ? 2 : 1,
                              1025, 0, 1, f->point ? 2 : 1,
                              3072, 0, 1, f->code ? f->code : 32632,
                              3076, 0, 1, f->feet ? 9002 : 9001 };
    bool fine = TIFFSetField(t, TIFFTAG_IMAGEWIDTH, NX) && TIFFSetField(t, TIFFTAG_IMAGELENGTH, NY) &&
                TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits) && TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, format) &&
                TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, samples) && TIFFSetField(t, TIFFTAG_PLANARCONFIG, 1) &&
                TIFFSetField(t, TIFFTAG_COMPRESSION, f->tiles ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE) &&
                TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    if (f->turn != 0)
        fine = fine && TIFFSetField(t, 34264, 16, matrix);
    else if (!f->bare)
        fine = fine && TIFFSetField(t, 33550, 3, f->whole ? (const void *)whole_scale : scale) &&
               TIFFSetField(t, 33922, 6, tie);
    fine = fine && TIFFSetField(t, 34735, (int)(sizeof keys / sizeof *keys), keys);
    if (f->nodata)
        fine = fine && TIFFSetField(t, 42113, f->nodata);
    if (f->metadata)
        fine = fine && TIFFSetField(t, 42112, f->metadata);
    fine = fine && (f->tiles ? TIFFSetField(t, TIFFTAG_TILEWIDTH, 16) && TIFFSetField(t, TIFFTAG_TILELENGTH, 16)
                             : TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 1));
    ck_assert(fine);
    float tile[16 * 16];
    for (uint32_t y = 0; y < NY && !f->tiles; y++) {
        unsigned char row[NX * 8] = { 0 };
        for (uint32_t x = 0; x < NX; x++) {
            const double z = y == 0 && x == 3 ? 7 : height(5001 + 2.0 * x, 7046 - 4.0 * y);
            const float single = (float)z;
            const int16_t whole = (int16_t)(z * 10);
            memcpy(row + x * bits / 8, bits == 32 ? (const void *)&single : (const void *)&whole, bits / 8);
        }
        ck_assert_int_eq(TIFFWriteScanline(t, row, y, 0), 1);
    }
    for (uint32_t x = 0; x < NX && f->tiles; x += 16) {
        for (uint32_t k = 0; k < 256; k++)
            tile[k] = (float)height(5001 + 2.0 * (x + k % 16), 7046 - 4.0 * (k / 16));
        ck_assert_int_gt((int)TIFFWriteTile(t, tile, x, 0, 0, 0), 0);
    }
    TIFFClose(t);
    return path;
}

static double at(const bn_terrain *t, double x, double y) { return bn_terrain_at(t, (const double[]){ x, y }); }

TEST(esri_grids_know_their_place)
{
    bn_terrain t;
    OK(bn_terrain_read(ctx,
                       grid("NCOLS 3\nnrows 2\nXLLCENTER 10.5\nyllcorner 20\ncellsize 1\nnodata_value -1\n"
                            "1 2 3\n4 5 -1\n"),
                       &t));
    ck_assert_double_eq(t.corner[0], 10);
    ck_assert_double_eq(at(&t, 10.5, 21.5), 1); /* the first row is the northern one */
    ck_assert_double_eq(at(&t, 10.5, 20.5), 4);
    near(at(&t, 11, 21), 3, 1e-14, "mean of four");
    near(at(&t, 10.75, 20.75), 4.25 - 0.75, 1e-14, "bilinear");
    ck_assert_double_eq(at(&t, 10.1, 21.9), 1); /* beyond the last middles */
    ck_assert_double_nan(at(&t, 12, 20.6));
    ck_assert_double_nan(at(&t, 9.9, 21));
    ck_assert_double_nan(at(&t, 11, 22.1));
    bn_terrain_free(&t);
}

TEST(geotiff_in_several_flavours)
{
    static const flavour all[] = {
        { .bits = 0 },
        { .tiles = true },
        { .point = true },
        { .bits = 16,
          .format = SAMPLEFORMAT_INT,
          .metadata = "<GDALMetadata>\n <Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.1</Item>\n"
                      " <Item name=\"OFFSET\" sample=\"0\" role=\"offset\">0</Item>\n <Item "
                      "name=\"who\">me</Item>\n</GDALMetadata>" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bn_terrain t;
        OK(bn_terrain_read(ctx, tiff(&all[i]), &t));
        ck_assert(t.n[0] == NX && t.n[1] == NY && t.epsg == 32632);
        near(t.corner[0], 5000, 1e-9, "corner");
        near(t.corner[1], 7000, 1e-9, "corner");
        near(at(&t, 5011.3, 7013.7), height(5011.3, 7013.7), all[i].bits == 16 ? 0.1 : 1e-5, "a plane");
        near(at(&t, 5038.9, 7003.1), height(5038.9, 7003.1), all[i].bits == 16 ? 0.1 : 1e-5, "a plane");
        bn_terrain_free(&t);
    }
    bn_terrain t;
    OK(bn_terrain_read(ctx, tiff(&(flavour){ .nodata = "7" }), &t));
    ck_assert_double_nan(at(&t, 5007.5, 7045));
    ck_assert(!isnan(at(&t, 5010, 7045)));
    bn_terrain_free(&t);
}

static void rejected(const char *name, bn_status expected, const char *why)
{
    bn_terrain t;
    ck_assert_int_eq(bn_terrain_read(ctx, name, &t), expected);
    ck_assert_ptr_null(t.values);
    ck_assert_msg(strstr(bn_error_text(ctx), why) != NULL, "%s\nlacks: %s", bn_error_text(ctx), why);
    bn_error_clear(ctx);
}

TEST(bad_terrain_is_rejected)
{
#define PLACE "xllcorner 0\nyllcorner 0\ncellsize 1\n"
    rejected("/nowhere/ground.asc", BN_IO, "/nowhere/ground.asc");
    rejected("/nowhere/ground.tif", BN_IO, "/nowhere/ground.tif");
    rejected(grid("1 2 3\n"), BN_CASE, "its head has no ncols");
    rejected(grid("ncols 2\n" PLACE "1 2\n"), BN_CASE, "its head has no nrows");
    rejected(grid("ncols 2\nnrows 1\nxllcorner 0\nyllcorner 0\n1 2\n"), BN_CASE, "no cellsize");
    rejected(grid("ncols 2\nnrows 1\nxllcorner 0\ncellsize 1\n1 2\n"), BN_CASE, "neither yllcorner nor yllcenter");
    rejected(grid("ncols 2\nnrows 1\nxllcorner 0\nyllcorner 0\ncellsize 0\n1 2\n"), BN_CASE, "a cellsize of 0");
    rejected(grid("ncols 2\nmrows 1\n" PLACE "1 2\n"), BN_CASE, "line 2: `mrows` is no word");
    rejected(grid("ncols two\n"), BN_CASE, "line 1: a number is missing behind ncols");
    rejected(grid("ncols 1e9\nnrows 1e9\n" PLACE "1 2\n"), BN_CASE, "more than 2^28 pixels");
    rejected(grid("ncols 2\nnrows 2\n" PLACE "1 2\n3\n"), BN_CASE, "ends in row 2, column 2");
    rejected(grid("ncols 2\nnrows 2\n" PLACE "1 2\n3 4\n5\n"), BN_CASE, "line 8: more heights");
    rejected(grid("ncols 2\nnrows 2\n" PLACE "1 2\n3 4,5\n"), BN_CASE, "line 7 (row 2, column 2): `4,5` is no number");
    rejected(tiff(&(flavour){ .turn = 0.3 }), BN_CASE, "turned against north");
    rejected(tiff(&(flavour){ .degrees = true }), BN_CASE, "degrees");
    rejected(tiff(&(flavour){ .feet = true }), BN_CASE, "not in metres");
    rejected(tiff(&(flavour){ .bare = true }), BN_CASE, "no tags that tell where it lies");
    rejected(tiff(&(flavour){ .whole = true }), BN_CASE, "no tags that tell where it lies");
    rejected(tiff(&(flavour){ .samples = 2, .bits = 16, .format = SAMPLEFORMAT_INT }), BN_CASE, "one number a pixel");
    rejected(tiff(&(flavour){ .nodata = "none" }), BN_CASE, "tag 42113");
    rejected(tiff(&(flavour){ .metadata = "<GDALMetadata><Item role=\"scale\">x</Item></GDALMetadata>" }), BN_CASE,
             "42112");
    ck_assert_int_eq(truncate(tiff(&(flavour){ .bits = 0 }), 500), 0);
    rejected(in_folder("ground.tif"), BN_IO, "cut short");
}

int main(void) { return bn_test_main("terrain", open_folder, close_folder); }
