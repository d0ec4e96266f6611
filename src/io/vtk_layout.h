/* vtk_layout.h: what the writer and the readers of VTK files share: types of values, extents, blocks. */
#ifndef BN_VTK_LAYOUT_H
#define BN_VTK_LAYOUT_H

#include "io/vtk.h"

/* XML attributes of every file that is written. */
#define BN_VTK_HEADER_TYPE "UInt64"
#define BN_VTK_COMPRESSOR "vtkZLibDataCompressor"

enum {
    BN_VTK_BLOCK_BYTES = 1 << 20, /* of one block before compression; a multiple of every element's size */
    BN_VTK_HEAD_WORDS =
        3, /* blocks, bytes of a block, bytes of the last one (0: it is full); then each compressed size */
    BN_VTK_ARRAYS_MAX = 1024,
    BN_VTK_COMPONENTS_MAX = 1024,
    BN_VTK_TITLE_MAX = 4096
};

/* "LittleEndian" or "BigEndian": the order of this machine, which is the order in the file. */
const char *bn_vtk_byte_order(void);

/* The same name in static storage, and the bytes of an element; NULL and 0: not a type of VTK's. */
const char *bn_vtk_type_name(const char *type);
size_t bn_vtk_type_bytes(const char *type);
/* Makes text element `i` of values of a type; false: it is no such number. */
bool bn_vtk_parse(const char *type, const char *word, void *values, size_t i);

/* The extent along an axis is 0 ... this; axes beyond `dims` are flat (0). */
uint32_t bn_vtk_extent(const bn_vtk_image *, int axis);

/* Bytes of an array of the image; false when a product does not fit. */
bool bn_vtk_array_bytes(const bn_vtk_image *, const bn_vtk_array *, size_t *bytes);

/* Copies `count` elements between planes (component slowest: C order) and tuples (component fastest: VTK's order);
 * `first` is the number of the first one in VTK's order, at which the tuples' side starts. */
void bn_vtk_interleave(unsigned char *tuples_side, const unsigned char *planes, size_t tuples, size_t components,
                       size_t size, size_t first, size_t count);
void bn_vtk_separate(const unsigned char *tuples_side, unsigned char *planes, size_t tuples, size_t components,
                     size_t size, size_t first, size_t count);

#endif
