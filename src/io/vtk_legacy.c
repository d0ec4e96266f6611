/* vtk_legacy.c: reads VTK's legacy files (.vtk), as text or binary: STRUCTURED_POINTS, and UNSTRUCTURED_GRID in the
 * layouts up to version 4.2 and from 5.1 on. Binary values are big-endian. */
#include "io/vtk_grid.h"

#include "io/decimal.h"
#include "io/file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WORD_BYTES = 256 };
static const size_t FILE_BYTES_MAX = (size_t)1 << 40;

typedef struct legacy_reader {
    bn_context *ctx;
    const char *path, *text;
    size_t bytes, at;
    bool binary;
    bn_vtk_grid *grid;
    int kind; /* of the data that follow; -1: of the file */
} legacy_reader;

static bn_status bad(const legacy_reader *r, const char *format, ...) BN_PRINTF(2, 3);
static bn_status bad(const legacy_reader *r, const char *format, ...)
{
    char why[256];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return bn_fail(r->ctx, BN_IO, "cannot read %s, byte %zu: %s", r->path, r->at, why);
}

/* The rest of the line. */
static void read_line(legacy_reader *r, char line[WORD_BYTES])
{
    const char *end = memchr(r->text + r->at, '\n', r->bytes - r->at);
    const size_t length = end ? (size_t)(end - r->text) - r->at : r->bytes - r->at;
    snprintf(line, WORD_BYTES, "%.*s", (int)(length < WORD_BYTES ? length : WORD_BYTES - 1), r->text + r->at);
    line[strcspn(line, "\r")] = '\0';
    r->at += length + (end != NULL);
}

/* The next word, after blanks and ends of lines; false at the end of the file. */
static bool read_word(legacy_reader *r, char word[WORD_BYTES])
{
    size_t length = 0;
    while (r->at < r->bytes && strchr(" \t\r\n", r->text[r->at]))
        r->at++;
    while (r->at < r->bytes && !strchr(" \t\r\n", r->text[r->at])) {
        if (length < WORD_BYTES - 1)
            word[length++] = r->text[r->at];
        r->at++;
    }
    word[length] = '\0';
    return length > 0;
}

static bool read_number(legacy_reader *r, double *value)
{
    char word[WORD_BYTES];
    return read_word(r, word) && bn_decimal_parse(word, value) && isfinite(*value);
}

static bool read_count(legacy_reader *r, size_t *count)
{
    double value;
    if (!read_number(r, &value) || value < 0 || value > 0x1p48 || floor(value) < value)
        return false;
    *count = (size_t)value;
    return true;
}

/* The name of a type in XML files; NULL: it is none. */
static const char *type_of(const char *name)
{
    static const char *const names[][2] = {
        { "float", "Float32" },
        { "double", "Float64" },
        { "char", "Int8" },
        { "signed_char", "Int8" },
        { "unsigned_char", "UInt8" },
        { "short", "Int16" },
        { "unsigned_short", "UInt16" },
        { "int", "Int32" },
        { "unsigned_int", "UInt32" },
        { "long", "Int64" },
        { "unsigned_long", "UInt64" },
        { "vtktypeint64", "Int64" },
        { "vtktypeuint64", "UInt64" },
        { "vtkIdType", "Int32" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i][0]) == 0)
            return bn_vtk_type_name(names[i][1]);
    return NULL;
}

/* Reads the values of *a, whose type and components are set: in a binary file they begin behind the line. */
static bn_status read_values(legacy_reader *r, const char *name, size_t tuples, bn_vtk_array *a)
{
    const bn_vtk_encoding how = { .form = r->binary ? BN_VTK_RAW : BN_VTK_ASCII,
                                  .swapped = strcmp(bn_vtk_byte_order(), "BigEndian") != 0 };
    char line[WORD_BYTES];
    size_t count;
    void *values;
    if (r->binary)
        read_line(r, line);
    if (__builtin_mul_overflow(tuples, (size_t)a->components, &count))
        return bad(r, "array \"%.60s\" is too large for this machine's addresses", name);
    const char *why = bn_vtk_decode(&how, r->text + r->at, r->bytes - r->at, a->type, &count, &values);
    if (why == bn_vtk_no_memory)
        return bn_fail(r->ctx, BN_MEMORY, "cannot read %s: out of memory", r->path);
    if (why)
        return bad(r, "array \"%.60s\": %s", name, why);
    r->at += r->binary ? count * bn_vtk_type_bytes(a->type)
                       : bn_vtk_numbers_length(r->text + r->at, r->bytes - r->at, count);
    a->data = values;
    return BN_OK;
}

/* METADATA, up to an empty line: the unit of the array before. */
static void read_metadata(legacy_reader *r, bn_vtk_array *a)
{
    char line[WORD_BYTES];
    bool unit = false;
    read_line(r, line);
    while (r->at < r->bytes) {
        read_line(r, line);
        if (!line[0])
            return;
        if (strncmp(line, "NAME ", 5) == 0)
            unit = strncmp(line, "NAME UNITS_LABEL ", 17) == 0;
        else if (unit && strncmp(line, "DATA ", 5) == 0 && a && (free((char *)a->unit), true))
            a->unit = strdup(line + 5);
    }
}

/* Looks whether METADATA follow. */
static void skip_metadata(legacy_reader *r, bn_vtk_array *a)
{
    const size_t before = r->at;
    char word[WORD_BYTES];
    if (read_word(r, word) && strcmp(word, "METADATA") == 0)
        read_metadata(r, a);
    else
        r->at = before;
}

/* An array of the present kind; those of the file itself, but for the time, and of unknown kind don't matter. */
static bn_status read_array(legacy_reader *r, const char *name, const char *type, size_t components, size_t tuples)
{
    bn_vtk_array a = { .type = type_of(type), .components = (int)components };
    bn_status st = BN_OK;
    if (r->kind < 0 && strcmp(type, "string") == 0) {
        char line[WORD_BYTES];
        read_line(r, line);
        for (size_t i = 0; i < tuples && r->at < r->bytes; i++) /* binary: a byte with the length stands before */
            read_line(r, line);
        skip_metadata(r, NULL);
        return BN_OK;
    }
    if (!a.type || components < 1 || components > BN_VTK_COMPONENTS_MAX)
        return bad(r, "array \"%.60s\" of type \"%.40s\" and %zu components; float to vtktypeint64 are read", name,
                   type, components);
    if (r->kind >= 0 && tuples != r->grid->tuples[r->kind])
        return bad(r, "array \"%.60s\" has not the size of the grid", name);
    BN_GO(read_values(r, name, tuples, &a));
    a.name = strdup(name);
    a.unit = strdup("");
    skip_metadata(r, &a);
    if (!a.name || !a.unit)
        st = bn_fail(r->ctx, BN_MEMORY, "cannot read %s: out of memory", r->path);
    else if (r->kind < 0 && strcmp(name, "TimeValue") == 0 && tuples == 1)
        r->grid->time = isfinite(bn_vtk_value(&a, 0)) ? bn_vtk_value(&a, 0) : 0;
    else if (r->kind >= 0 && !bn_vtk_arrays_add(&r->grid->data[r->kind], &a))
        st = bn_fail(r->ctx, BN_MEMORY, "cannot read %s: out of memory", r->path);
out:
    bn_vtk_array_free(&a);
    return st;
}

/* FIELD name n, and n times: name components tuples type. */
static bn_status read_field(legacy_reader *r)
{
    char word[WORD_BYTES], type[WORD_BYTES];
    size_t count, components, tuples;
    if (!read_word(r, word) || !read_count(r, &count) || count > BN_VTK_ARRAYS_MAX)
        return bad(r, "FIELD without a name or a number of arrays");
    for (size_t i = 0; i < count; i++) {
        if (!read_word(r, word) || !read_count(r, &components) || !read_count(r, &tuples) || !read_word(r, type))
            return bad(r, "an array without name, components, tuples and type");
        BN_TRY(read_array(r, word, type, components, tuples));
    }
    return BN_OK;
}

/* SCALARS name type [components] and a LOOKUP_TABLE; VECTORS, NORMALS, TENSORS name type. */
static bn_status read_attribute(legacy_reader *r, const char *kind)
{
    char line[WORD_BYTES], name[WORD_BYTES], type[WORD_BYTES];
    size_t components = strcmp(kind, "TENSORS") == 0 ? 9 : 3;
    if (r->kind < 0)
        return bad(r, "%s before POINT_DATA or CELL_DATA", kind);
    if (!read_word(r, name) || !read_word(r, type))
        return bad(r, "%s without name and type", kind);
    if (strcmp(kind, "SCALARS") == 0) {
        double given = 1;
        read_line(r, line);
        if (line[strspn(line, " ")] && !bn_decimal_parse(line, &given))
            return bad(r, "SCALARS %.60s: no number of components", name);
        components = given >= 1 && given <= 4 ? (size_t)given : 0;
        if (!read_word(r, line) || strcmp(line, "LOOKUP_TABLE") != 0 || !read_word(r, line))
            return bad(r, "SCALARS %.60s without a LOOKUP_TABLE", name);
    }
    return read_array(r, name, type, components, r->grid->tuples[r->kind]);
}

static bn_status read_mesh_array(legacy_reader *r, const char *name, size_t tuples, int components, const char *type,
                                 bn_vtk_array *out)
{
    bn_vtk_array_free(out);
    *out = (bn_vtk_array){ .type = type_of(type), .components = components };
    if (!out->type)
        return bad(r, "%s of type \"%.40s\"", name, type);
    BN_TRY(read_values(r, name, tuples, out));
    skip_metadata(r, NULL);
    return BN_OK;
}

/* Up to version 4.2: for each cell the number of its corners, and these. Made lists of corners and ends. */
static bn_status split_cells(legacy_reader *r, size_t cells, size_t numbers)
{
    bn_vtk_grid *g = r->grid;
    bn_vtk_array all = { 0 };
    bn_status st = read_mesh_array(r, "CELLS", numbers, 1, "int", &all);
    int32_t *corners = NULL, *ends = NULL;
    size_t at = 0, used = 0;
    if (st == BN_OK && (!(corners = malloc((numbers + 1) * sizeof *corners)) ||
                        !(ends = cells <= numbers ? malloc((cells + 1) * sizeof *ends) : NULL)))
        st = cells > numbers ? bad(r, "CELLS are damaged")
                             : bn_fail(r->ctx, BN_MEMORY, "cannot read %s: out of memory", r->path);
    for (size_t c = 0; c < cells && st == BN_OK; c++) {
        const double count = at < numbers ? bn_vtk_value(&all, at) : -1;
        if (!(count >= 0 && count < (double)(numbers - at))) {
            st = bad(r, "CELLS are damaged");
            break;
        }
        at++;
        for (size_t i = 0; i < (size_t)count; i++)
            corners[used++] = ((const int32_t *)all.data)[at++];
        ends[c] = (int32_t)used;
    }
    bn_vtk_array_free(&all);
    bn_vtk_array_free(&g->corners);
    bn_vtk_array_free(&g->ends);
    g->corners = (bn_vtk_array){ .type = bn_vtk_type_name("Int32"), .components = 1, .data = corners };
    g->ends = (bn_vtk_array){ .type = bn_vtk_type_name("Int32"), .components = 1, .data = ends };
    g->corner_count = used;
    return st;
}

static bn_status read_cells(legacy_reader *r)
{
    bn_vtk_grid *g = r->grid;
    char word[WORD_BYTES], type[WORD_BYTES];
    size_t first, second;
    if (!read_count(r, &first) || !read_count(r, &second))
        return bad(r, "CELLS without two numbers");
    const size_t before = r->at;
    if (!read_word(r, word) || strcmp(word, "OFFSETS") != 0) {
        r->at = before;
        g->tuples[BN_VTK_CELLS] = first;
        return split_cells(r, first, second);
    }
    /* From 5.1 on: one more than there are cells, the first being 0. */
    if (first == 0 || !read_word(r, type))
        return bad(r, "OFFSETS without a type");
    BN_TRY(read_mesh_array(r, word, first, 1, type, &g->ends));
    const size_t size = bn_vtk_type_bytes(g->ends.type);
    memmove((char *)g->ends.data, (const char *)g->ends.data + size, (first - 1) * size);
    if (!read_word(r, word) || strcmp(word, "CONNECTIVITY") != 0 || !read_word(r, type))
        return bad(r, "OFFSETS without CONNECTIVITY");
    g->tuples[BN_VTK_CELLS] = first - 1;
    g->corner_count = second;
    return read_mesh_array(r, word, second, 1, type, &g->corners);
}

static bool read_triple(legacy_reader *r, double out[3])
{
    return read_number(r, &out[0]) && read_number(r, &out[1]) && read_number(r, &out[2]);
}

static bn_status read_dimensions(legacy_reader *r)
{
    double n[3];
    if (!read_triple(r, n))
        return bad(r, "DIMENSIONS without three numbers");
    for (int d = 0; d < 3; d++) {
        if (!(n[d] >= 1 && n[d] < 0x1p31) || floor(n[d]) < n[d])
            return bad(r, "DIMENSIONS of %g points", n[d]);
        r->grid->extent[d] = (uint32_t)n[d] - 1;
    }
    return bn_vtk_count_tuples(r->grid) ? BN_OK : bad(r, "DIMENSIONS are too large");
}

static bn_status read_points(legacy_reader *r)
{
    char type[WORD_BYTES];
    if (!read_count(r, &r->grid->tuples[BN_VTK_POINTS]) || !read_word(r, type))
        return bad(r, "POINTS without number and type");
    return read_mesh_array(r, "POINTS", r->grid->tuples[BN_VTK_POINTS], 3, type, &r->grid->places);
}

/* The types of cells don't matter: the corners suffice for a lattice. */
static bn_status skip_cell_types(legacy_reader *r)
{
    bn_vtk_array types = { 0 };
    size_t count;
    if (!read_count(r, &count))
        return bad(r, "CELL_TYPES without a number");
    const bn_status st = read_mesh_array(r, "CELL_TYPES", count, 1, "int", &types);
    bn_vtk_array_free(&types);
    return st;
}

static bn_status read_part(legacy_reader *r, const char *word)
{
    bn_vtk_grid *g = r->grid;
    size_t count;
    if (strcmp(word, "DIMENSIONS") == 0)
        return read_dimensions(r);
    if (strcmp(word, "ORIGIN") == 0)
        return read_triple(r, g->origin) ? BN_OK : bad(r, "ORIGIN without three numbers");
    if (strcmp(word, "SPACING") == 0 || strcmp(word, "ASPECT_RATIO") == 0)
        return read_triple(r, g->h) && g->h[0] > 0 && g->h[1] > 0 && g->h[2] > 0
                   ? BN_OK
                   : bad(r, "%s without three positive numbers", word);
    if (g->mesh && strcmp(word, "POINTS") == 0)
        return read_points(r);
    if (g->mesh && strcmp(word, "CELLS") == 0)
        return read_cells(r);
    if (g->mesh && strcmp(word, "CELL_TYPES") == 0)
        return skip_cell_types(r);
    if (strcmp(word, "POINT_DATA") == 0 || strcmp(word, "CELL_DATA") == 0) {
        r->kind = word[0] == 'P' ? BN_VTK_POINTS : BN_VTK_CELLS;
        return read_count(r, &count) && count == g->tuples[r->kind] ? BN_OK
                                                                    : bad(r, "%s has not the size of the grid", word);
    }
    if (strcmp(word, "FIELD") == 0)
        return read_field(r);
    if (strcmp(word, "METADATA") == 0)
        return read_metadata(r, NULL), BN_OK;
    if (strcmp(word, "SCALARS") == 0 || strcmp(word, "VECTORS") == 0 || strcmp(word, "NORMALS") == 0 ||
        strcmp(word, "TENSORS") == 0)
        return read_attribute(r, word);
    return bad(r, "%.60s is not read", word);
}

static bn_status read_text(legacy_reader *r)
{
    char line[WORD_BYTES], word[WORD_BYTES];
    read_line(r, line);
    if (strncmp(line, "# vtk DataFile Version ", 23) != 0)
        return bad(r, "no legacy file of VTK");
    read_line(r, line);
    if (!(r->grid->title = strdup(line)))
        return bn_fail(r->ctx, BN_MEMORY, "cannot read %s: out of memory", r->path);
    if (!read_word(r, word) || (strcasecmp(word, "ASCII") != 0 && strcasecmp(word, "BINARY") != 0))
        return bad(r, "neither ASCII nor BINARY");
    r->binary = strcasecmp(word, "BINARY") == 0;
    if (!read_word(r, word) || strcmp(word, "DATASET") != 0 || !read_word(r, word))
        return bad(r, "no DATASET");
    r->grid->mesh = strcmp(word, "UNSTRUCTURED_GRID") == 0;
    if (!r->grid->mesh && strcmp(word, "STRUCTURED_POINTS") != 0)
        return bad(r, "DATASET %.60s; STRUCTURED_POINTS and UNSTRUCTURED_GRID are read", word);
    while (read_word(r, word))
        BN_TRY(read_part(r, word));
    return r->grid->tuples[BN_VTK_POINTS] > 0 ? BN_OK : bad(r, "no points");
}

bn_status bn_vtk_legacy_read(bn_context *ctx, const char *path, bn_vtk_grid *out)
{
    legacy_reader r = { .ctx = ctx, .path = path, .grid = out, .kind = -1 };
    char *text;
    for (int d = 0; d < 3; d++)
        out->h[d] = 1;
    BN_TRY(bn_file_read(ctx, path, FILE_BYTES_MAX, &text, &r.bytes));
    r.text = text;
    const bn_status st = read_text(&r);
    free(text);
    return st;
}
