/* vtk_layout.c: sizes and order of the values in VTK files. */
#include "io/vtk_layout.h"

#include "io/decimal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *bn_vtk_byte_order(void)
{
    const uint16_t probe = 1;
    unsigned char first;
    memcpy(&first, &probe, 1);
    return first ? "LittleEndian" : "BigEndian";
}

/* Every type: its name, C's type, and how text becomes it. */
#define TYPES(X)                 \
    X(Float32, float, real)      \
    X(Float64, double, real)     \
    X(Int8, int8_t, integer)     \
    X(UInt8, uint8_t, natural)   \
    X(Int16, int16_t, integer)   \
    X(UInt16, uint16_t, natural) \
    X(Int32, int32_t, integer) X(UInt32, uint32_t, natural) X(Int64, int64_t, integer) X(UInt64, uint64_t, natural)

static bool parse_real(const char *word, double *out) { return bn_decimal_parse(word, out); }

static bool parse_integer(const char *word, long long *out)
{
    char *end;
    errno = 0;
    *out = strtoll(word, &end, 10);
    return end != word && *end == '\0' && errno == 0;
}

static bool parse_natural(const char *word, unsigned long long *out)
{
    char *end;
    errno = 0;
    *out = strtoull(word, &end, 10);
    return word[0] != '-' && end != word && *end == '\0' && errno == 0;
}

typedef double real_value;
typedef long long integer_value;
typedef unsigned long long natural_value;

#define ACCESS(name, type, kind)                                                                              \
    static double get_##name(const void *values, size_t i) { return (double)((const type *)values)[i]; }      \
    static bool parse_##name(const char *word, void *values, size_t i)                                        \
    {                                                                                                         \
        kind##_value value;                                                                                   \
        if (!parse_##kind(word, &value))                                                                      \
            return false;                                                                                     \
        ((type *)values)[i] = (type)value;                                                                    \
        return sizeof(type) == sizeof value || #kind[0] == 'r' || (kind##_value)((type *)values)[i] == value; \
    }
TYPES(ACCESS)

static const struct value_type {
    const char *name;
    size_t bytes;
    double (*get)(const void *, size_t);
    bool (*parse)(const char *, void *, size_t);
} types[] = {
#define ENTRY(name, type, kind) { #name, sizeof(type), get_##name, parse_##name },
    TYPES(ENTRY)
};

static const struct value_type *type_of(const char *name)
{
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (strcmp(name, types[i].name) == 0)
            return &types[i];
    return NULL;
}

const char *bn_vtk_type_name(const char *type) { return type_of(type) ? type_of(type)->name : NULL; }
size_t bn_vtk_type_bytes(const char *type) { return type_of(type) ? type_of(type)->bytes : 0; }
double bn_vtk_value(const bn_vtk_array *a, size_t i) { return type_of(a->type)->get(a->data, i); }
bool bn_vtk_parse(const char *type, const char *word, void *values, size_t i)
{
    return type_of(type)->parse(word, values, i);
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

/* Tuples of an array of the image; false when the product does not fit. */
static bool tuples_of(const bn_vtk_image *image, size_t *tuples)
{
    *tuples = 1;
    for (int d = 0; d < image->dims; d++)
        if (!multiply(*tuples, image->n[d], tuples))
            return false;
    return true;
}

bool bn_vtk_array_bytes(const bn_vtk_image *image, const bn_vtk_array *array, size_t *bytes)
{
    return tuples_of(image, bytes) && multiply(*bytes, (size_t)array->components, bytes) &&
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
