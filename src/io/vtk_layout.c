/* vtk_layout.c: sizes and order of the values in VTK files. */
#include "io/vtk_layout.h"

#include <string.h>

const char *bn_vtk_byte_order(void)
{
    const uint16_t probe = 1;
    unsigned char first;
    memcpy(&first, &probe, 1);
    return first ? "LittleEndian" : "BigEndian";
}

static const struct {
    const char *name;
    size_t bytes;
} types[] = {
    { "Float32", 4 }, { "Float64", 8 }, { "Int32", 4 }, { "Int64", 8 }, { "UInt8", 1 },
};

const char *bn_vtk_type_name(const char *type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (type && strcmp(type, types[i].name) == 0)
            return types[i].name;
    return NULL;
}

size_t bn_vtk_type_bytes(const char *type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (type && strcmp(type, types[i].name) == 0)
            return types[i].bytes;
    return 0;
}

uint32_t bn_vtk_extent(const bn_vtk_image *image, int axis)
{
    if (axis >= image->dims)
        return 0;
    return image->nodes ? image->n[axis] - 1 : image->n[axis];
}

static bool multiply(size_t a, size_t b, size_t *product)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *product = a * b;
    return true;
}

bool bn_vtk_tuples(const bn_vtk_image *image, size_t *tuples)
{
    *tuples = 1;
    for (int d = 0; d < image->dims; d++)
        if (!multiply(*tuples, image->n[d], tuples))
            return false;
    return true;
}

bool bn_vtk_array_bytes(const bn_vtk_image *image, const bn_vtk_array *array, size_t *bytes)
{
    return bn_vtk_tuples(image, bytes) && multiply(*bytes, (size_t)array->components, bytes) &&
           multiply(*bytes, bn_vtk_type_bytes(array->type), bytes) && *bytes <= SIZE_MAX / 8;
}

/* Where element `index` of VTK's order lies among the planes, in elements. */
static size_t plane_index(size_t index, size_t tuples, size_t components)
{
    return index % components * tuples + index / components;
}

void bn_vtk_interleave(unsigned char *tuples_side, const unsigned char *planes, size_t tuples, size_t components,
                       size_t size, size_t first, size_t count)
{
    if (components == 1) {
        memcpy(tuples_side, planes + first * size, count * size);
        return;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(tuples_side + i * size, planes + plane_index(first + i, tuples, components) * size, size);
}

void bn_vtk_separate(const unsigned char *tuples_side, unsigned char *planes, size_t tuples, size_t components,
                     size_t size, size_t first, size_t count)
{
    if (components == 1) {
        memcpy(planes + first * size, tuples_side, count * size);
        return;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(planes + plane_index(first + i, tuples, components) * size, tuples_side + i * size, size);
}
