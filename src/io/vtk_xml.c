/* vtk_xml.c: reads VTK's XML files: ImageData and RectilinearGrid with any number of pieces, PImageData and
 * PRectilinearGrid with the files of their pieces, UnstructuredGrid of one piece. Tags that do not matter for values
 * are passed over. What stands behind <AppendedData> is not XML: the parser gets the file up to there. */
#include "io/vtk_grid.h"

#include "io/decimal.h"
#include "io/file.h"

#include <expat.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 20, DEPTH_MAX = 64, UNIT_MAX = 256 };
static const size_t FILE_BYTES_MAX = (size_t)1 << 40;

typedef enum section { OUTSIDE, FIELD_DATA, POINT_DATA, CELL_DATA, POINTS, CELLS, COORDINATES } section;

typedef struct vtk_reader {
    bn_context *ctx;
    const char *path;
    XML_Parser parser;
    bn_status status;
    bn_vtk_grid *grid, piece;
    bool listing, pieces_in_files; /* a list of files; may be one */
    bool in_grid;                  /* seen already */
    double covered;                /* cells that the pieces have together */
    struct piece {
        char *file; /* NULL: its values are here */
        bn_vtk_grid grid;
    } * pieces;
    size_t piece_count;
    bn_vtk_encoding how;
    const char *appended; /* behind the underline */
    size_t appended_bytes;
    bool appended_raw;
    section section;
    int depth, array_depth, unit_depth; /* 0: not inside of one */
    bn_vtk_array array;                 /* being read */
    bool is_text;
    size_t offset;
    char *text; /* of the present array, if its values stand in it */
    size_t used, room;
    char unit[UNIT_MAX];
    size_t unit_used;
} vtk_reader;

/* Records the first failure, with the line, and stops the parser. */
static void fail(vtk_reader *r, bn_status status, const char *format, ...) BN_PRINTF(3, 4);
static void fail(vtk_reader *r, bn_status status, const char *format, ...)
{
    if (r->status != BN_OK)
        return;
    char why[512];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    r->status = bn_fail(r->ctx, status, "cannot read %s, line %lu: %s", r->path,
                        (unsigned long)XML_GetCurrentLineNumber(r->parser), why);
    XML_StopParser(r->parser, XML_FALSE);
}

/* The value of an attribute; "" when there is none. */
static const char *attribute(const char **attributes, const char *name)
{
    for (; attributes[0]; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return "";
}

/* Reads `count` numbers parted by blanks; false if there are more, fewer or others. */
static bool read_reals(const char *text, double *values, int count)
{
    for (int i = 0; i < count; i++) {
        char word[64];
        text += strspn(text, " \t\n");
        const size_t length = strcspn(text, " \t\n");
        if (length >= sizeof word)
            return false;
        memcpy(word, text, length);
        word[length] = '\0';
        if (!bn_decimal_parse(word, &values[i]) || !isfinite(values[i]))
            return false;
        text += length;
    }
    return text[strspn(text, " \t\n")] == '\0';
}

static bool read_count(const char *text, size_t *count)
{
    double value;
    if (!read_reals(text, &value, 1) || value < 0 || value > 0x1p48 || floor(value) < value)
        return false;
    *count = (size_t)value;
    return true;
}

static void start_file(vtk_reader *r, const char **attributes)
{
    const char *type = attribute(attributes, "type"), *order = attribute(attributes, "byte_order");
    const char *word = attribute(attributes, "header_type"), *packed = attribute(attributes, "compressor");
    r->grid->uneven = strcmp(type, "RectilinearGrid") == 0 || strcmp(type, "PRectilinearGrid") == 0;
    r->listing = strcmp(type, "PImageData") == 0 || strcmp(type, "PRectilinearGrid") == 0;
    r->grid->mesh = strcmp(type, "UnstructuredGrid") == 0;
    if (!r->listing && !r->grid->mesh && !r->grid->uneven && strcmp(type, "ImageData") != 0)
        fail(r, BN_IO,
             "type is \"%.40s\"; ImageData, RectilinearGrid, both with P in front, and UnstructuredGrid are read",
             type);
    if (r->listing && !r->pieces_in_files)
        fail(r, BN_IO, "a list of pieces among the pieces");
    if (strcmp(order, "LittleEndian") != 0 && strcmp(order, "BigEndian") != 0)
        fail(r, BN_IO, "byte_order is \"%.40s\", which is none", order);
    if (strcmp(word, "UInt64") != 0 && strcmp(word, "UInt32") != 0 && word[0])
        fail(r, BN_IO, "header_type is \"%.40s\"; UInt32 and UInt64 are read", word);
    if (strcmp(packed, BN_VTK_COMPRESSOR) != 0 && packed[0])
        fail(r, BN_IO, "compressor is \"%.40s\"; " BN_VTK_COMPRESSOR " and none are read", packed);
    r->how.swapped = strcmp(order, bn_vtk_byte_order()) != 0;
    r->how.compressed = packed[0];
    r->how.word = strcmp(word, "UInt64") == 0 ? 8 : 4;
}

/* "x0 x1 y0 y1 z0 z1", numbers of points. */
static bool read_extent(const char *text, long long first[3], uint32_t extent[3])
{
    double v[6];
    if (!read_reals(text, v, 6))
        return false;
    for (int d = 0; d < 3; d++) {
        if (!(fabs(v[2 * d]) < INT_MAX && v[2 * d + 1] >= v[2 * d] && v[2 * d + 1] - v[2 * d] < INT_MAX) ||
            floor(v[2 * d]) < v[2 * d] || floor(v[2 * d + 1]) < v[2 * d + 1])
            return false;
        first[d] = (long long)v[2 * d];
        extent[d] = (uint32_t)(v[2 * d + 1] - v[2 * d]);
    }
    return true;
}

static void start_grid(vtk_reader *r, const char **attributes)
{
    bn_vtk_grid *g = r->grid;
    if (r->in_grid)
        fail(r, BN_IO, "a second grid in one file");
    r->in_grid = true;
    if (g->mesh)
        return;
    if (!read_extent(attribute(attributes, "WholeExtent"), g->first, g->extent))
        fail(r, BN_IO, "WholeExtent \"%.60s\" is none", attribute(attributes, "WholeExtent"));
    bool good = g->uneven || (read_reals(attribute(attributes, "Origin"), g->origin, 3) &&
                              read_reals(attribute(attributes, "Spacing"), g->h, 3));
    for (int d = 0; d < 3; d++)
        good = good && (g->uneven || g->h[d] > 0);
    if (!good)
        fail(r, BN_IO, "Origin or Spacing are no three numbers");
    double direction[9];
    const char *axes = attribute(attributes, "Direction");
    if (axes[0] && !read_reals(axes, direction, 9))
        fail(r, BN_IO, "Direction \"%.80s\" is none", axes);
    for (int i = 0; axes[0] && i < 9; i++)
        if (fabs(direction[i] - (i % 4 == 0)) > 1e-12)
            fail(r, BN_IO, "Direction \"%.80s\": the image does not lie along the axes", axes);
    if (!bn_vtk_count_tuples(g))
        fail(r, BN_IO, "WholeExtent \"%.60s\" is too large", attribute(attributes, "WholeExtent"));
}

/* Keeps a piece for the end of the file: values are put together when all are known. */
static void keep_piece(vtk_reader *r, const char *file)
{
    struct piece *more = realloc(r->pieces, (r->piece_count + 1) * sizeof *more);
    char *name = file ? strdup(file) : NULL;
    if (more)
        r->pieces = more;
    if (!more || (file && !name)) {
        free(name);
        fail(r, BN_MEMORY, "out of memory");
        return;
    }
    r->pieces[r->piece_count++] = (struct piece){ name, r->piece };
    r->covered += (double)r->piece.tuples[BN_VTK_CELLS];
    r->piece = (bn_vtk_grid){ 0 };
    if (file && (!file[0] || file[0] == '/' || strstr(file, "..")))
        fail(r, BN_IO, "the piece \"%.60s\" is no file beside it", file);
}

static void start_piece(vtk_reader *r, const char **attributes)
{
    bn_vtk_grid_free(&r->piece);
    if (!r->in_grid) {
        fail(r, BN_IO, "a piece of no grid");
    } else if (r->grid->mesh) {
        if (!read_count(attribute(attributes, "NumberOfPoints"), &r->piece.tuples[BN_VTK_POINTS]) ||
            !read_count(attribute(attributes, "NumberOfCells"), &r->piece.tuples[BN_VTK_CELLS]))
            fail(r, BN_IO, "the piece does not tell its numbers of points and cells");
    } else if (!read_extent(attribute(attributes, "Extent"), r->piece.first, r->piece.extent) ||
               !bn_vtk_count_tuples(&r->piece)) {
        fail(r, BN_IO, "Extent \"%.60s\" is none", attribute(attributes, "Extent"));
    } else if (r->listing) {
        keep_piece(r, attribute(attributes, "Source"));
    }
}

static void start_array(vtk_reader *r, const char **attributes)
{
    const char *type = attribute(attributes, "type"), *name = attribute(attributes, "Name");
    const char *count = attribute(attributes, "NumberOfComponents"), *format = attribute(attributes, "format");
    size_t components = 1;
    r->is_text = strcmp(type, "String") == 0;
    r->array = (bn_vtk_array){ .type = bn_vtk_type_name(r->is_text ? "UInt8" : type) };
    if (r->section == FIELD_DATA && !r->array.type)
        return; /* it does not matter */
    if (!r->array.type)
        fail(r, BN_IO, "array \"%.60s\" of type \"%.40s\"; Float32, Float64, Int8 to UInt64 are read", name, type);
    if (!name[0] && r->section != POINTS && r->section != COORDINATES)
        fail(r, BN_IO, "an array without a name");
    if (count[0] && (!read_count(count, &components) || components < 1 || components > BN_VTK_COMPONENTS_MAX))
        fail(r, BN_IO, "array \"%.60s\" has no number of components from 1 to %d", name, BN_VTK_COMPONENTS_MAX);
    r->array.components = (int)components;
    r->how.form = strcmp(format, "ascii") == 0 ? BN_VTK_ASCII : r->appended_raw ? BN_VTK_RAW : BN_VTK_BASE64;
    r->offset = SIZE_MAX;
    if (strcmp(format, "binary") == 0)
        r->how.form = BN_VTK_BASE64;
    else if (strcmp(format, "appended") == 0 && !r->appended)
        fail(r, BN_IO, "array \"%.60s\" is appended, but nothing is", name);
    else if (strcmp(format, "appended") == 0 &&
             (!read_count(attribute(attributes, "offset"), &r->offset) || r->offset > r->appended_bytes))
        fail(r, BN_IO, "array \"%.60s\" lies outside of the file", name);
    else if (strcmp(format, "appended") != 0 && strcmp(format, "ascii") != 0)
        fail(r, BN_IO, "array \"%.60s\" has the format \"%.40s\"; ascii, binary and appended are read", name, format);
    if (r->status == BN_OK && !(r->array.name = strdup(name)))
        fail(r, BN_MEMORY, "out of memory");
    r->array_depth = r->depth;
    r->used = r->unit_used = 0;
}

/* Decodes `count` tuples of the present array, SIZE_MAX: as many as there are; how many elements, 0 after a failure. */
static size_t decode(vtk_reader *r, size_t count)
{
    const bool appended = r->offset != SIZE_MAX;
    void *values;
    const char *why = "it is too large for this machine's addresses";
    if (count == SIZE_MAX || !__builtin_mul_overflow(count, (size_t)r->array.components, &count))
        why = bn_vtk_decode(&r->how, appended ? r->appended + r->offset : r->text,
                            appended ? r->appended_bytes - r->offset : r->used, r->array.type, &count, &values);
    if (!why && count == 0) {
        free(values);
        why = "it is empty";
    }
    if (why)
        fail(r, why == bn_vtk_no_memory ? BN_MEMORY : BN_IO, "array \"%.60s\": %s", r->array.name, why);
    else
        r->array.data = values;
    return why ? 0 : count;
}

/* The time and the title; other field data do not matter. */
static void end_field(vtk_reader *r)
{
    size_t count;
    if (strcmp(r->array.name, "TimeValue") == 0 && decode(r, 1)) {
        r->grid->time = bn_vtk_value(&r->array, 0);
        if (!isfinite(r->grid->time))
            fail(r, BN_IO, "the time is no number");
    } else if (strcmp(r->array.name, "Title") == 0 && r->is_text && !r->grid->title && (count = decode(r, SIZE_MAX))) {
        if (count > BN_VTK_TITLE_MAX + 1)
            fail(r, BN_IO, "the title is longer than %d bytes", BN_VTK_TITLE_MAX);
        else if (!(r->grid->title = strndup(r->array.data, count)))
            fail(r, BN_MEMORY, "out of memory");
    }
}

static void move_array(vtk_reader *r, bn_vtk_array *to)
{
    bn_vtk_array_free(to);
    *to = r->array;
    r->array = (bn_vtk_array){ 0 };
}

static void end_array(vtk_reader *r)
{
    bn_vtk_grid *p = &r->piece;
    const size_t points = p->tuples[BN_VTK_POINTS], cells = p->tuples[BN_VTK_CELLS];
    const int kind = r->section == POINT_DATA ? BN_VTK_POINTS : BN_VTK_CELLS;
    r->array_depth = 0;
    if (r->section == FIELD_DATA) {
        end_field(r);
    } else if (r->section == POINTS) {
        if (r->array.components != 3)
            fail(r, BN_IO, "points of %d numbers", r->array.components);
        else if (decode(r, points))
            move_array(r, &p->places);
    } else if (r->section == COORDINATES) {
        int d = 0;
        while (d < 3 && p->line[d].data)
            d++;
        if (d == 3 || r->array.components != 1)
            fail(r, BN_IO, "coordinates are not one list of numbers for each of three axes");
        else if (decode(r, (size_t)p->extent[d] + 1))
            move_array(r, &p->line[d]);
    } else if (r->section == CELLS && strcmp(r->array.name, "offsets") == 0) {
        if (decode(r, cells))
            move_array(r, &p->ends);
    } else if (r->section == CELLS && strcmp(r->array.name, "connectivity") == 0) {
        if ((p->corner_count = decode(r, SIZE_MAX)))
            move_array(r, &p->corners);
    } else if ((r->section == POINT_DATA || r->section == CELL_DATA) && decode(r, p->tuples[kind])) {
        r->array.unit = strndup(r->unit, r->unit_used);
        if (p->data[kind].count == BN_VTK_ARRAYS_MAX)
            fail(r, BN_IO, "more than %d arrays", BN_VTK_ARRAYS_MAX);
        else if (!r->array.unit || !bn_vtk_arrays_add(&p->data[kind], &r->array))
            fail(r, BN_MEMORY, "out of memory");
    }
    bn_vtk_array_free(&r->array);
}

static const struct {
    const char *tag;
    section section;
} sections[] = {
    { "FieldData", FIELD_DATA }, { "PointData", POINT_DATA }, { "CellData", CELL_DATA },
    { "Points", POINTS },        { "Cells", CELLS },          { "Coordinates", COORDINATES },
};

static section section_of(const char *tag)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(tag, sections[i].tag) == 0)
            return sections[i].section;
    return OUTSIDE;
}

static void XMLCALL on_start(void *data, const char *tag, const char **attributes)
{
    vtk_reader *r = data;
    const bool grid = strcmp(tag, "ImageData") == 0 || strcmp(tag, "PImageData") == 0 ||
                      strcmp(tag, "RectilinearGrid") == 0 || strcmp(tag, "PRectilinearGrid") == 0 ||
                      strcmp(tag, "UnstructuredGrid") == 0;
    if (r->status != BN_OK)
        return;
    if (++r->depth > DEPTH_MAX)
        fail(r, BN_IO, "more than %d tags in each other", DEPTH_MAX);
    else if ((r->depth == 1) != (strcmp(tag, "VTKFile") == 0))
        fail(r, BN_IO, "unexpected <%.60s>: this is no file of VTK", tag);
    else if (r->depth == 1)
        start_file(r, attributes);
    else if (grid)
        start_grid(r, attributes);
    else if (strcmp(tag, "Piece") == 0)
        start_piece(r, attributes);
    else if (r->array_depth > 0 && strcmp(tag, "InformationKey") == 0 &&
             strcmp(attribute(attributes, "name"), "UNITS_LABEL") == 0)
        r->unit_depth = r->depth;
    else if (r->array_depth == 0 && r->section != OUTSIDE &&
             (strcmp(tag, "DataArray") == 0 || strcmp(tag, "Array") == 0))
        start_array(r, attributes);
    else if (r->array_depth == 0 && section_of(tag) != OUTSIDE)
        r->section = section_of(tag);
}

static void XMLCALL on_text(void *data, const char *text, int length)
{
    vtk_reader *r = data;
    const size_t count = (size_t)length;
    if (r->status != BN_OK || r->array_depth == 0)
        return;
    if (r->depth == r->unit_depth) {
        for (size_t i = 0; i < count && r->unit_used < UNIT_MAX; i++)
            if (r->unit_used > 0 || !strchr(" \t\n", text[i]))
                r->unit[r->unit_used++] = text[i];
        return;
    }
    if (r->depth != r->array_depth || r->offset != SIZE_MAX)
        return;
    if (r->used + count + 1 > r->room) {
        const size_t room = 2 * r->room + count + 1;
        char *more = realloc(r->text, room);
        if (!more) {
            fail(r, BN_MEMORY, "out of memory");
            return;
        }
        r->text = more;
        r->room = room;
    }
    for (size_t i = 0; i < count; i++) /* base64 without blanks */
        if (r->how.form == BN_VTK_ASCII || !strchr(" \t\n", text[i]))
            r->text[r->used++] = text[i];
}

static void XMLCALL on_end(void *data, const char *tag)
{
    vtk_reader *r = data;
    if (r->status != BN_OK)
        return;
    if (r->depth == r->unit_depth) {
        r->unit_depth = 0;
        while (r->unit_used > 0 && strchr(" \t\n", r->unit[r->unit_used - 1]))
            r->unit_used--;
    } else if (r->depth == r->array_depth) {
        end_array(r);
    } else if (r->array_depth == 0 && section_of(tag) != OUTSIDE) {
        r->section = OUTSIDE;
    } else if (strcmp(tag, "Piece") == 0) {
        if (!r->listing)
            keep_piece(r, NULL);
    }
    r->depth--;
}

/* Entities could make a small file large; VTK declares none. */
static void XMLCALL on_doctype(void *data, const char *name, const char *system, const char *public, int subset)
{
    (void)name, (void)system, (void)public, (void)subset;
    fail(data, BN_IO, "a document type: this is no file of VTK");
}

static void parse(vtk_reader *r, const char *text, size_t length, bool last)
{
    for (size_t at = 0; r->status == BN_OK && (at < length || last); at += CHUNK_BYTES) {
        const size_t left = at < length ? length - at : 0, count = left < CHUNK_BYTES ? left : CHUNK_BYTES;
        const bool end = last && left <= CHUNK_BYTES;
        if (XML_Parse(r->parser, text + at, (int)count, end) != XML_STATUS_OK)
            fail(r, BN_IO, "%s; the file is damaged, cut short or of another kind",
                 XML_ErrorString(XML_GetErrorCode(r->parser)));
        if (end)
            return;
    }
}

/* Where a word begins; NULL: nowhere. */
static const char *find_word(const char *text, size_t bytes, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text, *end = text + bytes; (at = memchr(at, word[0], (size_t)(end - at))); at++) {
        if ((size_t)(end - at) < length)
            return NULL;
        if (memcmp(at, word, length) == 0)
            return at;
    }
    return NULL;
}

/* Finds what is appended; the length of the XML before. */
static size_t find_appended(vtk_reader *r, const char *text, size_t bytes)
{
    const char *at = find_word(text, bytes, "<AppendedData");
    if (!at)
        return bytes;
    const char *end = memchr(at, '>', bytes - (size_t)(at - text));
    const char *begin = end ? memchr(end, '_', bytes - (size_t)(end - text)) : NULL;
    if (begin) {
        r->appended = begin + 1;
        r->appended_bytes = bytes - (size_t)(begin + 1 - text);
        r->appended_raw = find_word(at, (size_t)(end - at), "\"raw\"") != NULL;
    }
    return (size_t)(at - text);
}

static bn_status parse_file(vtk_reader *r)
{
    char *text = NULL;
    size_t bytes;
    BN_TRY(bn_file_read(r->ctx, r->path, FILE_BYTES_MAX, &text, &bytes));
    r->parser = XML_ParserCreate(NULL);
    if (r->parser) {
        const size_t length = find_appended(r, text, bytes);
        XML_SetUserData(r->parser, r);
        XML_SetElementHandler(r->parser, on_start, on_end);
        XML_SetCharacterDataHandler(r->parser, on_text);
        XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
        parse(r, text, length, length == bytes);
        if (length < bytes)
            parse(r, "</VTKFile>", strlen("</VTKFile>"), true);
        if (r->status == BN_OK && !r->in_grid)
            fail(r, BN_IO, "no image in it");
        XML_ParserFree(r->parser);
    } else {
        r->status = bn_fail(r->ctx, BN_MEMORY, "cannot read %s: out of memory", r->path);
    }
    free(text);
    free(r->text);
    bn_vtk_array_free(&r->array);
    bn_vtk_grid_free(&r->piece);
    return r->status;
}

static bn_status read_file(bn_context *ctx, const char *path, bool list, bn_vtk_grid *out);

/* The values of a piece of a list, from its file. */
static bn_status read_piece(const vtk_reader *r, const struct piece *p, bn_vtk_grid *out)
{
    const bn_path path = bn_path_beside(r->path, p->file);
    BN_TRY(read_file(r->ctx, path.text, false, out));
    if (out->mesh || memcmp(out->extent, p->grid.extent, sizeof out->extent) != 0 ||
        memcmp(out->first, p->grid.first, sizeof out->first) != 0)
        return bn_fail(r->ctx, BN_IO, "cannot read %s: %s is not the piece that it lists", r->path, path.text);
    return BN_OK;
}

static bn_status join_pieces(vtk_reader *r)
{
    bn_vtk_grid *g = r->grid;
    if (g->mesh ? r->piece_count != 1 : r->covered < (double)g->tuples[BN_VTK_CELLS])
        return bn_fail(r->ctx, BN_IO, "cannot read %s: its pieces are %s", r->path,
                       g->mesh ? "none, or several meshes" : "not the whole");
    /* Their cells together say nothing of a piece that is listed twice in place of another. */
    const bool several = !g->mesh && r->piece_count > 1;
    unsigned char *seen = several ? calloc(g->tuples[BN_VTK_CELLS], 1) : NULL;
    bn_status st = BN_OK;
    if (several && !seen)
        return bn_fail(r->ctx, BN_MEMORY, "cannot read %s: out of memory", r->path);
    for (size_t i = 0; i < r->piece_count && st == BN_OK; i++) {
        struct piece *p = &r->pieces[i];
        bn_vtk_grid part = { 0 };
        st = p->file ? read_piece(r, p, &part) : BN_OK;
        const char *why = st == BN_OK ? bn_vtk_add_piece(g, p->file ? &part : &p->grid, seen) : NULL;
        bn_vtk_grid_free(&part);
        if (why)
            st = bn_fail(r->ctx, why == bn_vtk_no_memory ? BN_MEMORY : BN_IO, "cannot read %s, piece %zu%s%s: %s",
                         r->path, i + 1, p->file ? ", " : "", p->file ? p->file : "", why);
    }
    if (st == BN_OK && seen && memchr(seen, 0, g->tuples[BN_VTK_CELLS]))
        st = bn_fail(r->ctx, BN_IO, "cannot read %s: its pieces are not the whole", r->path);
    free(seen);
    return st;
}

static bn_status read_file(bn_context *ctx, const char *path, bool list, bn_vtk_grid *out)
{
    vtk_reader r = { .ctx = ctx, .path = path, .grid = out, .pieces_in_files = list };
    bn_status st = parse_file(&r);
    if (st == BN_OK)
        st = join_pieces(&r);
    for (size_t i = 0; i < r.piece_count; i++) {
        free(r.pieces[i].file);
        bn_vtk_grid_free(&r.pieces[i].grid);
    }
    free(r.pieces);
    return st;
}

bn_status bn_vtk_xml_read(bn_context *ctx, const char *path, bn_vtk_grid *out)
{
    return read_file(ctx, path, true, out);
}
