/* ugrid.h: one layer of cells with values over time as NetCDF after CF-1.8 and UGRID-1.0, which QGIS and others open as
 * a mesh. */
#ifndef BN_UGRID_H
#define BN_UGRID_H

#include "io/cells.h"

/* What a file holds: values over time, or once (then the last ones that came stand in it). Components: 1, or 2 for
 * vectors. */
typedef struct bn_ugrid_field {
    const char *name, *unit;
    int components;
    bool once;
} bn_ugrid_field;

typedef struct bn_ugrid_desc {
    bn_cells cells;
    const bool *hidden; /* cells that are no faces of the mesh; NULL: none */
    const char *title;
    const char *source; /* name and version of the program */
    int epsg;           /* code of the coordinates; 0: not known */
    const bn_ugrid_field *fields;
    size_t count;
} bn_ugrid_desc;

typedef struct bn_ugrid bn_ugrid;

/* Begins a file under a temporary name and writes the mesh; the description is needed no more. BN_IO names path and
 * reason. */
BN_CHECKED bn_status bn_ugrid_create(bn_context *, const char *path, const bn_ugrid_desc *, bn_ugrid **out);
/* Values of all fields at a time: value(data, field, component, cell) gives them. Times grow; `step` stands beside
 * them. */
typedef double bn_ugrid_value(const void *data, size_t field, int component, size_t cell);
BN_CHECKED bn_status bn_ugrid_add(bn_context *, bn_ugrid *, double time, unsigned long long step, bn_ugrid_value *,
                                  const void *data);
/* Copies the times of some steps from the finished file of an earlier run, if there is one with the same mesh. */
BN_CHECKED bn_status bn_ugrid_take_up(bn_context *, bn_ugrid *, const unsigned long long *steps, size_t count);
size_t bn_ugrid_times(const bn_ugrid *);
/* Ends the file and gives it its name; NULLs *file. */
BN_CHECKED bn_status bn_ugrid_close(bn_context *, bn_ugrid **file);
/* Drops it. Accepts NULL. */
void bn_ugrid_abort(bn_ugrid **file);

#endif
