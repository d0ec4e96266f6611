/* vtk_read.c: reads the VTK files that vtk_write.c writes, and refuses all others by name. The file is parsed as a
 * stream; what it says about sizes is believed only as far as its own length can bear, and zlib checks every block's
 * sum. */
#include "io/vtk_layout.h"

#include "io/base64.h"
#include "io/decimal.h"

#include <ctype.h>
#include <errno.h>
#include <expat.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    CHUNK_BYTES = 1 << 16,
    DEPTH_MAX = 8,
    UNIT_MAX = 256,
    DEFLATE_RATIO_MAX = 1032, /* bytes that one compressed byte can become at most (zlib's technical notes) */
    BLOCK_BYTES_MAX = 1 << 28
};

typedef enum element {
    E_ROOT,
    E_FILE,
    E_IMAGE,
    E_FIELD_DATA,
    E_TIME,
    E_TITLE,
    E_PIECE,
    E_POINTS,
    E_CELLS,
    E_POINT_ARRAY,
    E_CELL_ARRAY,
    E_UNIT,
    E_LIST,
    E_LIST_POINTS,
    E_LIST_CELLS,
    E_LIST_ARRAY,
    E_LIST_PIECE
} element;

typedef struct vtk_reader {
    bn_context *ctx;
    const char *path;
    XML_Parser parser;
    bn_status status;
    bn_vtk_image image;
    bn_vtk_array *arrays; /* image.arrays, writable */
    bn_vtk_array array;   /* being read */
    uint32_t extent[3];
    bool listing; /* a list of pieces is read, not values */
    struct piece {
        char *file;
        uint32_t first[3], extent[3];
    } * pieces;
    size_t piece_count;
    bool in_image, in_data; /* seen already */
    element stack[DEPTH_MAX];
    int depth;
    char *text; /* characters of the present element without blanks, if it has any that matter */
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

static void expect(vtk_reader *r, const char **attributes, const char *name, const char *value)
{
    const char *found = attribute(attributes, name);
    if (strcmp(found, value) != 0)
        fail(r, BN_IO, "%s is \"%.40s\", but files of this program say \"%s\"", name, found, value);
}

static void start_file(vtk_reader *r, const char **attributes)
{
    expect(r, attributes, "type", r->listing ? "PImageData" : "ImageData");
    expect(r, attributes, "byte_order", bn_vtk_byte_order());
    expect(r, attributes, "header_type", BN_VTK_HEADER_TYPE);
    expect(r, attributes, "compressor", BN_VTK_COMPRESSOR);
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

/* "0 nx 0 ny 0 nz"; only pieces start elsewhere. */
static bool read_extent(const char *text, uint32_t first[3], uint32_t extent[3])
{
    double v[6];
    if (!read_reals(text, v, 6))
        return false;
    for (int d = 0; d < 3; d++) {
        if (!(v[2 * d] >= 0) || !(v[2 * d + 1] >= v[2 * d]) || v[2 * d + 1] > INT_MAX - 1 ||
            floor(v[2 * d]) < v[2 * d] || floor(v[2 * d + 1]) < v[2 * d + 1])
            return false;
        first[d] = (uint32_t)v[2 * d];
        extent[d] = (uint32_t)(v[2 * d + 1] - v[2 * d]);
    }
    return true;
}

static void start_image(vtk_reader *r, const char **attributes)
{
    if (r->in_image)
        fail(r, BN_IO, "a second image in one file");
    r->in_image = true;
    if (!read_extent(attribute(attributes, "WholeExtent"), r->image.first, r->extent))
        fail(r, BN_IO, "WholeExtent \"%.60s\" is none", attribute(attributes, "WholeExtent"));
    bool good = read_reals(attribute(attributes, "Origin"), r->image.origin, 3) &&
                read_reals(attribute(attributes, "Spacing"), r->image.h, 3);
    for (int d = 0; d < 3; d++)
        good = good && r->image.h[d] > 0;
    if (!good)
        fail(r, BN_IO, "Origin or Spacing are no three numbers");
}

/* Files lie beside the list. */
static void note_piece(vtk_reader *r, const char *file, const uint32_t first[3], const uint32_t extent[3])
{
    struct piece *more = realloc(r->pieces, (r->piece_count + 1) * sizeof *more);
    if (more)
        r->pieces = more;
    char *name = strdup(file);
    if (!more || !name) {
        free(name);
        fail(r, BN_MEMORY, "out of memory");
        return;
    }
    struct piece *p = &r->pieces[r->piece_count++];
    p->file = name;
    memcpy(p->first, first, sizeof p->first);
    memcpy(p->extent, extent, sizeof p->extent);
    if (!file[0] || strchr(file, '/'))
        fail(r, BN_IO, "the piece \"%.60s\" is no file beside it", file);
}

static void start_piece(vtk_reader *r, const char **attributes)
{
    uint32_t first[3], extent[3];
    if (!read_extent(attribute(attributes, "Extent"), first, extent))
        fail(r, BN_IO, "Extent \"%.60s\" is none", attribute(attributes, "Extent"));
    else if (r->listing)
        note_piece(r, attribute(attributes, "Source"), first, extent);
    else if (memcmp(extent, r->extent, sizeof extent) != 0 || memcmp(first, r->image.first, sizeof first) != 0)
        fail(r, BN_IO, "the piece is not the whole image");
}

/* PointData or CellData: now the numbers of values are known. Axes of extent 0 at the end are not counted as
 * dimensions. */
static void start_data(vtk_reader *r, const char **attributes)
{
    (void)attributes;
    if (r->in_data)
        fail(r, BN_IO, "point and cell data in one file");
    r->in_data = true;
    r->image.nodes = r->stack[r->depth] == E_POINTS || r->stack[r->depth] == E_LIST_POINTS;
    r->image.dims = r->extent[2] ? 3 : r->extent[1] ? 2 : 1;
    for (int d = 0; d < 3; d++)
        r->image.n[d] = d >= r->image.dims ? 1 : r->extent[d] + (r->image.nodes ? 1u : 0u);
    for (int d = 0; d < r->image.dims; d++)
        if (r->image.n[d] == 0)
            fail(r, BN_IO, "no cells along %c", "xyz"[d]);
}

static void start_array(vtk_reader *r, const char **attributes)
{
    const char *type = attribute(attributes, "type"), *name = attribute(attributes, "Name");
    r->array = (bn_vtk_array){ .components = 1, .type = bn_vtk_type_name(type) };
    if (!r->array.type)
        fail(r, BN_IO, "array of type \"%.40s\"; this program writes Float32, Float64, Int32, Int64, UInt8", type);
    if (!name[0])
        fail(r, BN_IO, "an array without a name");
    double components = 1;
    if (!read_reals(attribute(attributes, "NumberOfComponents"), &components, 1) || !(components >= 1) ||
        components > BN_VTK_COMPONENTS_MAX)
        fail(r, BN_IO, "array \"%.60s\" has no number of components from 1 to %d", name, BN_VTK_COMPONENTS_MAX);
    else
        r->array.components = (int)components;
    expect(r, attributes, "format", "binary");
    if (r->image.count == BN_VTK_ARRAYS_MAX)
        fail(r, BN_IO, "more than %d arrays", BN_VTK_ARRAYS_MAX);
    if (r->status == BN_OK && !(r->array.name = strdup(name)))
        fail(r, BN_MEMORY, "out of memory");
    r->unit_used = 0;
}

static void start_unit(vtk_reader *r, const char **attributes)
{
    expect(r, attributes, "name", "UNITS_LABEL");
    r->unit_used = 0;
}

static void end_time(vtk_reader *r)
{
    if (!bn_decimal_parse(r->text, &r->image.time) || !isfinite(r->image.time))
        fail(r, BN_IO, "the time is no number");
}

/* Codes of bytes parted by blanks, 0 at the end. */
static void end_title(vtk_reader *r)
{
    char *title = malloc(r->used + 1);
    if (!title) {
        fail(r, BN_MEMORY, "out of memory");
        return;
    }
    size_t length = 0;
    const char *at = r->text;
    long code = -1;
    while (code != 0) {
        char *end = NULL;
        code = strtol(at, &end, 10);
        if (end == at || code < 0 || code > UCHAR_MAX || length > BN_VTK_TITLE_MAX) {
            free(title);
            fail(r, BN_IO, "the title is damaged");
            return;
        }
        title[length++] = (char)(unsigned char)code;
        at = end;
    }
    free((char *)r->image.title);
    r->image.title = title;
}

/* The words in front of the blocks, checked against what the image's size asks for; NULL after a failure. free() it. */
static uint64_t *read_head(vtk_reader *r, size_t bytes, size_t *text_used)
{
    const size_t probe_length = bn_base64_length(BN_VTK_HEAD_WORDS *
                                                 sizeof(uint64_t)); /* 24 bytes: no padding needed */
    uint64_t probe[BN_VTK_HEAD_WORDS];
    size_t got = 0;
    if (r->used < probe_length) {
        fail(r, BN_IO, "array \"%.60s\" is empty or cut short", r->array.name);
        return NULL;
    }
    /* The third group is complete when there is a block: every file has one at least. */
    if (!bn_base64_decode(r->text, probe_length, (unsigned char *)probe, &got) || got != sizeof probe) {
        fail(r, BN_IO, "array \"%.60s\" is no base64 text", r->array.name);
        return NULL;
    }
    const uint64_t blocks = probe[0], block = probe[1], rest = probe[2];
    if (block == 0 || block > BLOCK_BYTES_MAX || block % bn_vtk_type_bytes(r->array.type) != 0 ||
        blocks != bytes / block + (bytes % block != 0) || rest != bytes % block ||
        blocks > r->used / sizeof(uint64_t)) {
        fail(r, BN_IO, "array \"%.60s\" has not the size of the image (%zu bytes)", r->array.name, bytes);
        return NULL;
    }
    const size_t words = BN_VTK_HEAD_WORDS + (size_t)blocks, length = bn_base64_length(words * sizeof(uint64_t));
    uint64_t *head = length <= r->used ? malloc(length / 4 * 3) : NULL;
    if (!head && length <= r->used)
        fail(r, BN_MEMORY, "out of memory");
    else if (!head || !bn_base64_decode(r->text, length, (unsigned char *)head, &got) ||
             got != words * sizeof(uint64_t)) {
        fail(r, BN_IO, "the sizes of array \"%.60s\" are damaged", r->array.name);
        free(head);
        head = NULL;
    }
    *text_used = length;
    return head;
}

/* Checks that the compressed sizes add up to what is there, and that so many bytes can become `bytes`. */
static bool sizes_plausible(const uint64_t *head, size_t packed, size_t bytes)
{
    uint64_t sum = 0;
    for (uint64_t b = 0; b < head[0]; b++) {
        if (head[BN_VTK_HEAD_WORDS + b] > packed - sum)
            return false;
        sum += head[BN_VTK_HEAD_WORDS + b];
    }
    return sum == packed && bytes / DEFLATE_RATIO_MAX <= packed;
}

/* Inflates all blocks from `packed` into planes; false after a failure. */
static bool inflate_blocks(vtk_reader *r, const uint64_t *head, const unsigned char *packed, size_t bytes,
                           unsigned char *planes)
{
    const size_t components = (size_t)r->array.components, size = bn_vtk_type_bytes(r->array.type);
    const size_t tuples = bytes / size / components, block = (size_t)head[1] < bytes ? (size_t)head[1] : bytes;
    unsigned char *values = malloc(block);
    if (!values)
        fail(r, BN_MEMORY, "out of memory");
    for (uint64_t b = 0; b < head[0] && r->status == BN_OK; b++) {
        const size_t first = (size_t)b * block, count = bytes - first < block ? bytes - first : block;
        uLongf got = (uLongf)count;
        uLong taken = (uLong)head[BN_VTK_HEAD_WORDS + b];
        const int outcome = uncompress2(values, &got, packed, &taken);
        if (outcome == Z_MEM_ERROR)
            fail(r, BN_MEMORY, "out of memory");
        else if (outcome != Z_OK || got != count || taken != head[BN_VTK_HEAD_WORDS + b])
            fail(r, BN_IO, "block %llu of array \"%.60s\" is damaged (%s)", (unsigned long long)b + 1, r->array.name,
                 outcome == Z_OK ? "wrong length" : zError(outcome));
        else
            bn_vtk_separate(values, planes, tuples, components, size, first / size, count / size);
        packed += head[BN_VTK_HEAD_WORDS + b];
    }
    free(values);
    return r->status == BN_OK;
}

/* Turns the collected text into the present array's planes. */
static void decode_array(vtk_reader *r)
{
    size_t bytes = 0, head_length = 0, packed = 0;
    unsigned char *planes = NULL, *data = NULL;
    if (!bn_vtk_array_bytes(&r->image, &r->array, &bytes)) {
        fail(r, BN_IO, "array \"%.60s\" is too large for this machine's addresses", r->array.name);
        return;
    }
    uint64_t *head = read_head(r, bytes, &head_length);
    if (!head)
        return;
    data = (unsigned char *)r->text +
           head_length; /* decoded in place: the bytes never catch up with their characters */
    if (!bn_base64_decode(r->text + head_length, r->used - head_length, data, &packed))
        fail(r, BN_IO, "array \"%.60s\" is no base64 text", r->array.name);
    else if (!sizes_plausible(head, packed, bytes))
        fail(r, BN_IO, "the sizes of array \"%.60s\" do not fit its %zu bytes", r->array.name, packed);
    else if (!(planes = malloc(bytes)))
        fail(r, BN_MEMORY, "out of memory for array \"%.60s\" (%zu bytes)", r->array.name, bytes);
    else if (inflate_blocks(r, head, data, bytes, planes)) {
        r->array.data = planes;
        planes = NULL;
    }
    free(planes);
    free(head);
}

static void array_free(bn_vtk_array *a)
{
    free((char *)a->name);
    free((char *)a->unit);
    free((void *)a->data);
    *a = (bn_vtk_array){ 0 };
}

/* Adds the finished array to the image. */
static void end_array(vtk_reader *r)
{
    decode_array(r);
    if (r->status != BN_OK)
        return;
    bn_vtk_array *more = realloc(r->arrays, (r->image.count + 1) * sizeof *more);
    if (more)
        r->arrays = more;
    r->array.unit = strndup(r->unit, r->unit_used);
    if (!more || !r->array.unit) {
        fail(r, BN_MEMORY, "out of memory");
        return;
    }
    r->arrays[r->image.count++] = r->array;
    r->array = (bn_vtk_array){ 0 };
}

/* What may stand within what, and what is done about it; the name decides among elements of one tag where there are
 * several. */
static const struct rule {
    element parent, self;
    const char *tag, *name;
    void (*start)(vtk_reader *, const char **attributes);
    void (*end)(vtk_reader *);
} rules[] = {
    { E_ROOT, E_FILE, "VTKFile", NULL, start_file, NULL },
    { E_FILE, E_IMAGE, "ImageData", NULL, start_image, NULL },
    { E_IMAGE, E_FIELD_DATA, "FieldData", NULL, NULL, NULL },
    { E_FIELD_DATA, E_TIME, "DataArray", "TimeValue", NULL, end_time },
    { E_FIELD_DATA, E_TITLE, "Array", "Title", NULL, end_title },
    { E_IMAGE, E_PIECE, "Piece", NULL, start_piece, NULL },
    { E_PIECE, E_POINTS, "PointData", NULL, start_data, NULL },
    { E_PIECE, E_CELLS, "CellData", NULL, start_data, NULL },
    { E_POINTS, E_POINT_ARRAY, "DataArray", NULL, start_array, end_array },
    { E_CELLS, E_CELL_ARRAY, "DataArray", NULL, start_array, end_array },
    { E_POINT_ARRAY, E_UNIT, "InformationKey", NULL, start_unit, NULL },
    { E_CELL_ARRAY, E_UNIT, "InformationKey", NULL, start_unit, NULL },
    { E_FILE, E_LIST, "PImageData", NULL, start_image, NULL },
    { E_LIST, E_LIST_POINTS, "PPointData", NULL, start_data, NULL },
    { E_LIST, E_LIST_CELLS, "PCellData", NULL, start_data, NULL },
    { E_LIST_POINTS, E_LIST_ARRAY, "PDataArray", NULL, NULL, NULL },
    { E_LIST_CELLS, E_LIST_ARRAY, "PDataArray", NULL, NULL, NULL },
    { E_LIST, E_LIST_PIECE, "Piece", NULL, start_piece, NULL },
};

static void XMLCALL on_start(void *data, const char *tag, const char **attributes)
{
    vtk_reader *r = data;
    const element parent = r->stack[r->depth];
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];
        if (rule->parent != parent || strcmp(rule->tag, tag) != 0 ||
            (rule->name && strcmp(attribute(attributes, "Name"), rule->name) != 0))
            continue;
        r->stack[++r->depth] = rule->self; /* the rules themselves end at a depth of 6 */
        if (rule->self != E_UNIT)
            r->used = 0;
        if (rule->start)
            rule->start(r, attributes);
        return;
    }
    fail(r, BN_IO, "unexpected <%.60s>: this is no field that this program wrote", tag);
}

static void append_text(vtk_reader *r, char c)
{
    if (r->used + 1 >= r->room) {
        const size_t room = 2 * r->room + 4096; /* never more than twice the file: every character comes from it */
        char *more = realloc(r->text, room);
        if (!more) {
            fail(r, BN_MEMORY, "out of memory");
            return;
        }
        r->text = more;
        r->room = room;
    }
    r->text[r->used++] = c;
    r->text[r->used] = '\0';
}

static void XMLCALL on_text(void *data, const char *text, int length)
{
    vtk_reader *r = data;
    const element self = r->stack[r->depth];
    const bool values = self == E_POINT_ARRAY || self == E_CELL_ARRAY;
    for (int i = 0; i < length && r->status == BN_OK; i++) {
        if (self == E_UNIT) {
            if (r->unit_used == sizeof r->unit)
                fail(r, BN_IO, "a unit is longer than %d bytes", UNIT_MAX);
            else
                r->unit[r->unit_used++] = text[i];
        } else if (self == E_TIME || self == E_TITLE || (values && !isspace((unsigned char)text[i]))) {
            append_text(r, text[i]);
        }
    }
}

static void XMLCALL on_end(void *data, const char *tag)
{
    (void)tag;
    vtk_reader *r = data;
    if (r->status != BN_OK)
        return;
    const element self = r->stack[r->depth];
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].self != self || !rules[i].end)
            continue;
        if (r->used == 0)
            fail(r, BN_IO, "an empty <%.60s>", tag);
        else
            rules[i].end(r);
        break;
    }
    r->depth--;
}

/* Entities could make a small file large; ours declares none. */
static void XMLCALL on_doctype(void *data, const char *name, const char *system, const char *public, int subset)
{
    (void)name, (void)system, (void)public, (void)subset;
    fail(data, BN_IO, "a document type: this is no field that this program wrote");
}

static void parse(vtk_reader *r, FILE *stream)
{
    for (bool last = false; !last && r->status == BN_OK;) {
        void *chunk = XML_GetBuffer(r->parser, CHUNK_BYTES);
        if (!chunk) {
            fail(r, BN_MEMORY, "out of memory");
            return;
        }
        const size_t got = fread(chunk, 1, CHUNK_BYTES, stream);
        if (ferror(stream)) {
            fail(r, BN_IO, "%s", strerror(errno));
            return;
        }
        last = got < CHUNK_BYTES;
        if (XML_ParseBuffer(r->parser, (int)got, last) != XML_STATUS_OK)
            fail(r, BN_IO, "%s; the file is damaged, cut short or of another kind",
                 XML_ErrorString(XML_GetErrorCode(r->parser)));
    }
    if (r->status == BN_OK && !r->in_data)
        fail(r, BN_IO, "no image in it");
}

static void read_file(vtk_reader *r)
{
    FILE *stream = fopen(r->path, "rbe");
    if (!stream) {
        r->status = bn_fail(r->ctx, BN_IO, "cannot read %s: %s", r->path, strerror(errno));
        return;
    }
    r->parser = XML_ParserCreate(NULL);
    if (r->parser) {
        XML_SetUserData(r->parser, r);
        XML_SetElementHandler(r->parser, on_start, on_end);
        XML_SetCharacterDataHandler(r->parser, on_text);
        XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
        parse(r, stream);
        XML_ParserFree(r->parser);
    } else {
        r->status = bn_fail(r->ctx, BN_MEMORY, "cannot read %s: out of memory", r->path);
    }
    fclose(stream); /* opened for reading: nothing can be lost here */
    free(r->text);
    array_free(&r->array);
    r->image.arrays = r->arrays;
}

/* Empty arrays of the whole like those of a piece. */
static bn_status make_arrays(vtk_reader *r, const bn_vtk_image *piece)
{
    if (!(r->arrays = calloc(piece->count + 1, sizeof *r->arrays)))
        return bn_fail(r->ctx, BN_MEMORY, "cannot read %s: out of memory", r->path);
    r->image.arrays = r->arrays;
    for (; r->image.count < piece->count; r->image.count++) {
        const bn_vtk_array *like = &piece->arrays[r->image.count];
        bn_vtk_array *a = &r->arrays[r->image.count];
        size_t bytes;
        *a = (bn_vtk_array){ .type = like->type, .components = like->components };
        a->name = strdup(like->name);
        a->unit = strdup(like->unit);
        a->data = bn_vtk_array_bytes(&r->image, a, &bytes) ? calloc(bytes, 1) : NULL;
        if (!a->name || !a->unit || !a->data) {
            array_free(a);
            return bn_fail(r->ctx, BN_MEMORY, "cannot read %s: out of memory for array %s", r->path, like->name);
        }
    }
    r->image.time = piece->time;
    r->image.title = piece->title ? strdup(piece->title) : NULL;
    return BN_OK;
}

static bool alike(const bn_vtk_image *a, const bn_vtk_image *b)
{
    bool same = a->count == b->count && a->nodes == b->nodes;
    for (size_t i = 0; same && i < a->count; i++)
        same = strcmp(a->arrays[i].name, b->arrays[i].name) == 0 && strcmp(a->arrays[i].type, b->arrays[i].type) == 0 &&
               a->arrays[i].components == b->arrays[i].components;
    return same;
}

/* Copies the values of a piece to their places in the whole. */
static void put_piece(const bn_vtk_image *whole, const bn_vtk_image *piece)
{
    size_t n[3], m[3], first[3];
    for (int d = 0; d < 3; d++) {
        n[d] = d < whole->dims ? whole->n[d] : 1;
        m[d] = d < whole->dims ? piece->n[d] : 1;
        first[d] = d < whole->dims ? piece->first[d] : 0;
    }
    for (size_t i = 0; i < whole->count; i++) {
        const size_t size = bn_vtk_type_bytes(whole->arrays[i].type);
        char *to = (char *)whole->arrays[i].data;
        const char *from = piece->arrays[i].data;
        for (size_t row = 0; row < m[1] * m[2] * (size_t)whole->arrays[i].components; row++, from += m[0] * size) {
            const size_t j = first[1] + row % m[1], k = first[2] + row / m[1] % m[2], c = row / m[1] / m[2];
            memcpy(to + (((c * n[2] + k) * n[1] + j) * n[0] + first[0]) * size, from, m[0] * size);
        }
    }
}

/* Values that the pieces have together; those at shared borders count more than once. */
static double values_listed(const vtk_reader *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->piece_count; i++) {
        double values = 1;
        for (int d = 0; d < r->image.dims; d++)
            values *= r->pieces[i].extent[d] + (r->image.nodes ? 1.0 : 0.0);
        sum += values;
    }
    return sum;
}

static bn_status read_piece(vtk_reader *r, const struct piece *p)
{
    const char *slash = strrchr(r->path, '/');
    char path[4096];
    bn_vtk_image piece;
    bn_status st = BN_OK;
    if (snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - r->path) : 0, r->path, p->file) >=
        (int)sizeof path)
        return bn_fail(r->ctx, BN_IO, "cannot read %s: the path of its piece %s is too long", r->path, p->file);
    BN_TRY(bn_vtk_read(r->ctx, path, &piece));
    bool there = r->image.nodes == piece.nodes;
    for (int d = 0; d < r->image.dims; d++) /* a piece may be flat where the whole is not */
        there = there && piece.first[d] == p->first[d] && bn_vtk_extent(&piece, d) == p->extent[d] &&
                (uint64_t)p->first[d] + p->extent[d] <= bn_vtk_extent(&r->image, d);
    for (int d = piece.dims; d < 3; d++)
        piece.n[d] = 1;
    if (there && !r->arrays)
        BN_GO(make_arrays(r, &piece));
    if (!there || !alike(&r->image, &piece))
        st = bn_fail(r->ctx, BN_IO, "cannot read %s: %s is not the piece that it lists", r->path, path);
    else
        put_piece(&r->image, &piece);
out:
    bn_vtk_free(&piece);
    return st;
}

static bn_status read_pieces(vtk_reader *r)
{
    double values = 1;
    for (int d = 0; d < r->image.dims; d++)
        values *= r->image.n[d];
    if (r->piece_count == 0 || values_listed(r) < values)
        return bn_fail(r->ctx, BN_IO, "cannot read %s: its pieces are not the whole", r->path);
    for (size_t i = 0; i < r->piece_count; i++)
        BN_TRY(read_piece(r, &r->pieces[i]));
    return BN_OK;
}

bn_status bn_vtk_read(bn_context *ctx, const char *path, bn_vtk_image *out)
{
    const char *dot = strrchr(path, '.');
    vtk_reader r = { .ctx = ctx, .path = path, .listing = dot && strcmp(dot, ".pvti") == 0 };
    *out = (bn_vtk_image){ 0 };
    read_file(&r);
    if (r.listing && r.status == BN_OK)
        r.status = read_pieces(&r);
    for (size_t i = 0; i < r.piece_count; i++)
        free(r.pieces[i].file);
    free(r.pieces);
    if (r.status == BN_OK)
        *out = r.image;
    else
        bn_vtk_free(&r.image);
    return r.status;
}

void bn_vtk_free(bn_vtk_image *image)
{
    bn_vtk_array *arrays = (bn_vtk_array *)image->arrays;
    for (size_t i = 0; i < image->count; i++)
        array_free(&arrays[i]);
    free(arrays);
    free((char *)image->title);
    *image = (bn_vtk_image){ 0 };
}
