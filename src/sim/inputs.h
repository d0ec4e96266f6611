/* inputs.h: what a case names besides numbers: pictures, tables, volumes, polygons, terrain. plan() asks for
 * them, the plan reads and keeps them. */
#ifndef BN_INPUTS_H
#define BN_INPUTS_H

#include "binnacle/sim.h"

typedef struct bn_plan bn_plan;

typedef enum bn_input_kind {
    BN_INPUT_GREY,   /* a PNG picture as grey values: 0 black ... 255 white */
    BN_INPUT_RGB,    /* a PNG picture as three bytes red, green, blue a pixel */
    BN_INPUT_TABLE,  /* CSV: the first line that is not a comment (#) names the columns. The name may be that of a table
                        embedded in the program ("materials/Ag-Johnson1972"). A missing file is no failure */
    BN_INPUT_VOLUME, /* numbers on a grid in three dimensions: VTK (.vti, .pvti, .vtu, .vtk), a stack of pictures
                        (.tif), HDF5 after openPMD or plain (.h5); or what bn_case_give was given under that name */
    BN_INPUT_SHAPES, /* polygons and lines with a meaning: a file of WKT, a table (.csv), or a key that is WKT itself */
    BN_INPUT_TERRAIN /* heights on a georeferenced grid: GeoTIFF, ESRI ASCII grid */
} bn_input_kind;

typedef struct bn_input_desc {
    bn_input_kind kind;
    const char *key;   /* of the schema, which names the file; for messages */
    size_t item;       /* where the key is one of a list: number of the item, from 1 */
    const char *name;  /* path that begins at the case file; NULL: what the key says */
    const char *array; /* of a volume: which of several arrays; NULL: the only one */
    double snap;       /* of shapes: vertices move to a lattice of this spacing [m] */
} bn_input_desc;

typedef struct bn_input_shape {
    const char *name;       /* "" in a file of WKT alone */
    size_t line, number;    /* where it begins in the file, which one it is there; both from 1 */
    double low[2], high[2]; /* bounding rectangle [m] */
    double inside[2];       /* a point of it [m] */
    bool open;              /* a line, which has no interior */
} bn_input_shape;

/* Members that a kind does not have are zero. */
typedef struct bn_input {
    bn_input_kind kind;
    uint32_t n[3];               /* pixels of a picture (width, height), points of a volume */
    const unsigned char *pixels; /* of a picture, top row first */
    const double *values;        /* of a volume (x fastest), of a table (row by row; an empty
                                    place is NaN) */
    double h[3];                 /* spacing of a volume, pixel of a terrain [m]; 0: the file does not tell */
    size_t columns, rows;        /* of a table */
    const char *const *heads;    /* names of its columns */
    const char *comments;        /* its lines before the heads, without their # */
    size_t count;                /* of shapes */
    bn_input_shape *shape;
    double low[2], high[2]; /* rectangle that shapes or terrain cover [m] */
    int epsg;               /* code of a terrain's coordinates; 0: the file does not tell */
    struct bn_shapes *shapes;
    struct bn_terrain *terrain;
} bn_input;

/* Reads the file and keeps it as long as the plan lives. A file that can't be read or used fails with BN_IO or BN_CASE.
 * NULL in *out: a table that does not exist. */
BN_CHECKED bn_status bn_plan_input(bn_plan *, const bn_case *, const bn_input_desc *, const bn_input **out);

/* Whether a key's text is WKT itself and not the name of a file. */
bool bn_input_is_wkt(const char *text);

/* Names of the embedded tables that begin so ("materials/"), without that beginning, separated by commas; kept by the
 * plan. */
BN_CHECKED bn_status bn_plan_embedded_tables(bn_plan *, const char *begin, const char **out);

/* Height of the terrain, bilinear between the middles of pixels [m]; NaN: outside, or without data. */
double bn_input_height(const bn_input *, const double x[2]);

/* The value of the pixel in which the place lies; NaN likewise. */
double bn_input_pixel(const bn_input *, const double x[2]);

/* Is the point in the shape or on its border? */
bool bn_input_covers(const bn_input *, size_t shape, const double x[2]);
/* Draws shapes one over the other: those with draw > 0 open an area, those with draw < 0 close it; `whole`: the
 * rectangle from low to high is open at the beginning. */
BN_CHECKED bn_status bn_input_draw(bn_plan *, const bn_input *, const signed char *draw, bool whole,
                                   const double low[2], const double high[2]);
/* Of what was drawn: is all of the segment from a to b open; is all of a rectangle open (1), none of it (-1), neither
 * (0)?
 */
bool bn_input_open(const bn_input *, const double a[2], const double b[2]);
int bn_input_box(const bn_input *, const double low[2], const double high[2]);
/* The lines of a shape, of what was drawn (-1), of the bars across it (-2): points with a NaN behind each line; how
 * many there are. `points` may be NULL. */
size_t bn_input_outline(const bn_input *, long which, double (*points)[2]);

#endif
