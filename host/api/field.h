/* field.h: values on a domain's grid. On a device each box has a buffer with a halo; for the reference it is one plain
 * array. */
#ifndef BN_API_FIELD_H
#define BN_API_FIELD_H

#include "api/domain.h"

typedef struct bn_field bn_field;
typedef struct bn_snapshot bn_snapshot;

/* BN_T_REAL follows the domain's precision; BN_T_REAL2 is a pair (complex). */
typedef enum bn_type { BN_T_REAL, BN_T_REAL2, BN_T_I32, BN_T_I64, BN_T_U8 } bn_type;

/* Role: in the checkpoint, in VTK, in verify; interleaved: the components of a point lie together (an array of
 * structures), on the device (component c of the point AT is element AT * components + c) as on the host; on the second
 * grid of a plan (bn_plan_volume of sim/announcements.h). */
enum { BN_STATE = 1, BN_OUTPUT = 2, BN_COMPARE = 4, BN_INTERLEAVED = 8, BN_VOLUME = 16 };

/* components: planes one after the other, each the size of the grid, unless they are interleaved. */
typedef struct bn_field_desc {
    const char *name, *unit;
    bn_type type;
    int components; /* 0 means 1 */
    unsigned role;
} bn_field_desc;

BN_CHECKED bn_status bn_field_create(bn_domain *, const bn_field_desc *, bn_field **out);
void bn_field_destroy(bn_field **);
const bn_field_desc *bn_field_describe(const bn_field *);
bn_domain *bn_field_domain(const bn_field *);
size_t bn_field_element_bytes(const bn_field *); /* of one component of one point */
size_t bn_field_bytes(const bn_field *);         /* of the whole field in its own type, without padding */

/* How values stand in host memory: in the field's own type (float or double, int32_t, ...), or, for fields of reals, as
 * doubles, rounded to nearest when they are written; pairs lie as two numbers one after the other. */
typedef enum bn_host_type { BN_OWN_TYPE, BN_AS_DOUBLES } bn_host_type;

/* Components [first, first + count) of a region in C order: x fastest, component slowest, or fastest if they are
 * interleaved, of which only all can be moved. Reading waits for everything launched before; all ranks ask alike, and
 * all get all of it. Writing makes the halo stale; a rank writes the cells of its own boxes. */
BN_CHECKED bn_status bn_field_read_region(bn_field *, int first, int count, const bn_region *, bn_host_type,
                                          void *values);
BN_CHECKED bn_status bn_field_write_region(bn_field *, int first, int count, const bn_region *, bn_host_type,
                                           const void *values);

/* The whole field: in its own type, where `bytes` must be bn_field_bytes, and as `count` doubles. */
BN_CHECKED bn_status bn_field_read(bn_field *, void *values, size_t bytes);
BN_CHECKED bn_status bn_field_write(bn_field *, const void *values, size_t bytes);
BN_CHECKED bn_status bn_field_get(bn_field *, double *values, size_t count);
BN_CHECKED bn_status bn_field_set(bn_field *, const double *values, size_t count);

/* Reads all of the field in C order, one band of whole rows or layers of a component (of all components, if they are
 * interleaved) after the other: never more than some MiB are in host memory. All ranks call it, and each sees all
 * values. */
typedef bn_status bn_field_visitor(void *user, int component, const bn_region *, const void *values);
BN_CHECKED bn_status bn_field_visit(bn_field *, bn_host_type, bn_field_visitor *, void *user);
/* Writes all of the field: the supplier gives all components of a region in C order. A rank asks for its own boxes. */
typedef bn_status bn_field_supplier(void *user, const bn_region *, void *values);
BN_CHECKED bn_status bn_field_supply(bn_field *, bn_host_type, bn_field_supplier *, void *user);
/* Sets all components of every point of a field of reals to value(x), x the place of the point [m]. */
BN_CHECKED bn_status bn_field_fill(bn_field *, double (*value)(const double x[3], const void *user), const void *user);
/* From a field to one of the same points, type and components. On the same domain the copy is made where the field
 * lies; on another one, which may be cut otherwise, it goes through the host, which waits only between ranks. */
BN_CHECKED bn_status bn_field_copy(bn_field *from, bn_field *to);
/* The first columns, to a field of the same type and components on a grid of so many columns and as many rows, which is
 * whole on every device (bn_domain_desc.copies), or in one box. What is launched between beginning and end, and leaves
 * `from` as it is, runs meanwhile. */
BN_CHECKED bn_status bn_field_copy_columns_begin(bn_field *from, bn_field *to);
BN_CHECKED bn_status bn_field_copy_columns_end(bn_field *from, bn_field *to);
BN_CHECKED bn_status bn_field_zero(bn_field *);

/* Exchanges the contents of two fields of the same kind, without copying. */
void bn_field_swap(bn_field *, bn_field *);

/* The reference's own array (float or double, C order); NULL for a field on a device. */
void *bn_field_host(bn_field *);

/* Starts copying the field to pinned host memory and returns at once; steps launched afterwards do not disturb it. Any
 * thread may wait for it. A rank gets the parts that are its own (bn_domain_parts), with `overlap` one point further
 * than they go at their upper sides, as far as the grid goes: for files whose pieces share their borders. `data` in C
 * order as bn_field_read gives; lent until the release. */
BN_CHECKED bn_status bn_snapshot_begin(bn_field *, bool overlap, bn_snapshot **out);
size_t bn_snapshot_parts(const bn_snapshot *);
BN_CHECKED bn_status bn_snapshot_wait(bn_context *, bn_snapshot *, size_t part, bn_region *, const void **data);
void bn_snapshot_release(bn_snapshot **);

#endif
