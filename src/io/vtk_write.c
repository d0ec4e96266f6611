/* vtk_write.c: VTK XML ImageData, grids on lines and collections. Values are cut into blocks, each compressed by zlib;
 * all compressed blocks of an array make one base64 text behind a base64 text of their sizes (the layout that
 * vtkXMLDataParser reads; raw appended data is not XML and newer VTK refuses it). The sizes are known last, so their
 * place is kept free and filled in afterwards. */
#include "io/vtk_layout.h"

#include "api/parallel_rows.h"
#include "io/base64.h"
#include "io/decimal.h"
#include "io/file.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <libdeflate.h>

/* Of 12: the size of zlib's level 4 on smooth fields in a third of the time; higher levels gain nothing there. */
enum { COMPRESSION_LEVEL = 1 };

/* Blocks that are compressed at the same time: with the job that writes, two for each of 16 threads. */
enum { BATCH = 31 };

/* What lives as long as one file is written. */
typedef struct vtk_writer {
    bn_context *ctx;
    const char *path;
    FILE *stream;
    uint64_t *head; /* of the current array: BN_VTK_HEAD_WORDS words and a size per block */
} vtk_writer;

/* Text as an XML attribute or element; control characters, which XML forbids, become blanks. */
static void write_escaped(FILE *stream, const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        switch (c) {
        case '&': fputs("&amp;", stream); break;
        case '<': fputs("&lt;", stream); break;
        case '>': fputs("&gt;", stream); break;
        case '"': fputs("&quot;", stream); break;
        default: fputc(c < 0x20 || c == 0x7f ? ' ' : c, stream);
        }
    }
}

static void write_real(FILE *stream, double value)
{
    char text[BN_DECIMAL_BYTES];
    bn_decimal_format(text, value);
    fputs(text, stream);
}

static bn_status check_array(bn_context *ctx, const char *path, const bn_vtk_image *image, const bn_vtk_array *a)
{
    size_t bytes;
    if (!a->name || !a->name[0] || !a->data)
        return bn_fail(ctx, BN_USAGE, "cannot write %s: an array has no name or no data", path);
    if (bn_vtk_type_bytes(a->type) == 0)
        return bn_fail(
            ctx, BN_USAGE,
            "cannot write %s: array %s has type '%s'; use Float32, Float64, Int8 ... Int64 or UInt8 ... UInt64", path,
            a->name, a->type ? a->type : "");
    if (a->components < 1 || a->components > BN_VTK_COMPONENTS_MAX)
        return bn_fail(ctx, BN_USAGE, "cannot write %s: array %s has %d components; 1 to %d are possible", path,
                       a->name, a->components, BN_VTK_COMPONENTS_MAX);
    if (!bn_vtk_array_bytes(image, a, &bytes))
        return bn_fail(ctx, BN_USAGE, "cannot write %s: array %s is too large for this machine's addresses", path,
                       a->name);
    return BN_OK;
}

static bn_status check_image(bn_context *ctx, const char *path, const bn_vtk_image *image)
{
    if (image->dims < 1 || image->dims > 3)
        return bn_fail(ctx, BN_USAGE, "cannot write %s: %d dimensions; 1 to 3 are possible", path, image->dims);
    for (int d = 0; d < image->dims; d++) {
        if (image->n[d] < 1 || image->n[d] > INT_MAX - 1)
            return bn_fail(ctx, BN_USAGE, "cannot write %s: %lu values along %c; VTK takes 1 to %d", path,
                           (unsigned long)image->n[d], "xyz"[d], INT_MAX - 1);
        if (!(image->h[d] > 0) || !isfinite(image->h[d]) || !isfinite(image->origin[d]))
            return bn_fail(ctx, BN_USAGE, "cannot write %s: spacing %g m or origin %g m along %c makes no grid", path,
                           image->h[d], image->origin[d], "xyz"[d]);
    }
    if (!isfinite(image->time))
        return bn_fail(ctx, BN_USAGE, "cannot write %s: the time is not finite", path);
    if (image->count > BN_VTK_ARRAYS_MAX)
        return bn_fail(ctx, BN_USAGE, "cannot write %s: %zu arrays; at most %d are possible", path, image->count,
                       BN_VTK_ARRAYS_MAX);
    if (image->title && strlen(image->title) > BN_VTK_TITLE_MAX)
        return bn_fail(ctx, BN_USAGE, "cannot write %s: the title is longer than %d bytes", path, BN_VTK_TITLE_MAX);
    for (size_t i = 0; i < image->count; i++)
        BN_TRY(check_array(ctx, path, image, &image->arrays[i]));
    return BN_OK;
}

static void write_bounds(FILE *s, const char *name, const bn_vtk_image *image)
{
    fprintf(s, " %s=\"", name);
    for (int d = 0; d < 3; d++) {
        const unsigned long first = d < image->dims ? image->first[d] : 0;
        fprintf(s, "%s%lu %lu", d ? " " : "", first, first + bn_vtk_extent(image, d));
    }
    fputs("\"", s);
}

static bool uneven(const bn_vtk_image *image) { return image->place[0] || image->place[1] || image->place[2]; }
static const char *type_of(const bn_vtk_image *image)
{
    return image->hexagons ? "UnstructuredGrid" : uneven(image) ? "RectilinearGrid" : "ImageData";
}

static void write_place(FILE *s, const bn_vtk_image *image)
{
    write_bounds(s, "WholeExtent", image);
    if (uneven(image))
        return;
    fputs(" Origin=\"", s);
    for (int d = 0; d < 3; d++) {
        fputs(d ? " " : "", s);
        write_real(s, d < image->dims ? image->origin[d] : 0);
    }
    fputs("\" Spacing=\"", s);
    for (int d = 0; d < 3; d++) {
        fputs(d ? " " : "", s);
        write_real(s, d < image->dims ? image->h[d] : 1);
    }
    fputs("\"", s);
}

static void open_file(FILE *s, const char *prefix, const bn_vtk_image *image)
{
    const char *const kind = type_of(image);
    fprintf(s,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<VTKFile type=\"%s%s\" version=\"1.0\" byte_order=\"%s\" header_type=\"" BN_VTK_HEADER_TYPE
            "\" compressor=\"" BN_VTK_COMPRESSOR "\"",
            prefix, kind, bn_vtk_byte_order());
    if (image->hexagons && image->title) { /* readers of meshes such as meshio give up at a text among the field data */
        fputs(" title=\"", s);
        write_escaped(s, image->title);
        fputs("\"", s);
    }
    fprintf(s, ">\n  <%s%s", prefix, kind);
    if (!image->hexagons)
        write_place(s, image);
}

static void write_head(FILE *s, const bn_vtk_image *image)
{
    open_file(s, "", image);
    fputs(">\n    <FieldData>\n", s);
    fputs("      <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">", s);
    write_real(s, image->time);
    fputs("</DataArray>\n", s);
    if (image->title && !image->hexagons) {
        /* VTK keeps texts in XML as the codes of their bytes, ended by 0. */
        fputs("      <Array type=\"String\" Name=\"Title\" NumberOfTuples=\"1\" format=\"ascii\">", s);
        for (const char *at = image->title; *at; at++)
            fprintf(s, "%d ", (unsigned char)*at);
        fputs("0</Array>\n", s);
    }
    fputs("    </FieldData>\n    <Piece", s);
    if (image->hexagons) {
        const size_t layers = image->dims > 2 ? image->n[2] : 1;
        fprintf(s, " NumberOfPoints=\"%zu\" NumberOfCells=\"%zu\">\n", bn_vtk_hexagon_points(image),
                (size_t)image->n[0] * image->n[1] * layers);
        return;
    }
    write_bounds(s, "Extent", image);
    fputs(">\n", s);
}

/* Opens PointData or CellData and names the arrays that ParaView shows first: the first scalar and the first vector. */
static void write_data_tag(FILE *s, const char *prefix, const bn_vtk_image *image)
{
    static const struct {
        const char *attribute;
        int components;
    } first[] = { { "Scalars", 1 }, { "Vectors", 3 } };
    fprintf(s, "      <%s%s", prefix, image->nodes ? "PointData" : "CellData");
    for (size_t k = 0; k < sizeof first / sizeof *first; k++) {
        for (size_t i = 0; i < image->count; i++) {
            if (image->arrays[i].components != first[k].components)
                continue;
            fprintf(s, " %s=\"", first[k].attribute);
            write_escaped(s, image->arrays[i].name);
            fputs("\"", s);
            break;
        }
    }
    fputs(">\n", s);
}

/* The text of the sizes; written twice, the first time as a place holder of the same length. */
static void write_sizes(const vtk_writer *w, size_t words)
{
    bn_base64_write(w->stream, w->head, words * sizeof *w->head);
}

/* Overwrites the place holder at `at` by the true sizes; false when the file cannot be positioned. */
static bool fill_in_sizes(const vtk_writer *w, off_t at, size_t words)
{
    const off_t end = ftello(w->stream);
    if (at < 0 || end < 0 || fseeko(w->stream, at, SEEK_SET) != 0)
        return false;
    write_sizes(w, words);
    return fseeko(w->stream, end, SEEK_SET) == 0;
}

/* Some blocks of an array on their way: compressed into `packed`, one every `room` bytes, then moved together and
 * encoded. The text of those before is written meanwhile. */
typedef struct batch {
    const bn_vtk_array *array;
    size_t elements, first, room, bytes, jobs;
    uint64_t *sizes; /* 0: it can't be compressed */
    unsigned char *packed;
    char *text[2]; /* of this batch and of the one before, which has `length` characters */
    size_t length;
    FILE *stream;
} batch;

static void compress_blocks(const batch *b, size_t first, size_t end)
{
    const size_t components = (size_t)b->array->components, size = bn_vtk_type_bytes(b->array->type);
    const size_t per_block = BN_VTK_BLOCK_BYTES / size;
    struct libdeflate_compressor *deflate = libdeflate_alloc_compressor(COMPRESSION_LEVEL);
    unsigned char *block = malloc(BN_VTK_BLOCK_BYTES);
    for (size_t i = first; i < end; i++) {
        const size_t at = (b->first + i) * per_block, left = b->elements - at,
                     count = left < per_block ? left : per_block;
        if (block)
            bn_vtk_interleave(block, b->array->data, b->elements / components, components, size, at, count);
        b->sizes[i] = deflate && block
                          ? libdeflate_zlib_compress(deflate, block, count * size, b->packed + i * b->room, b->room)
                          : 0;
    }
    libdeflate_free_compressor(deflate);
    free(block);
}

static void write_text(const batch *b) { fwrite(b->text[1], 1, b->length, b->stream); }

/* The first job writes, the others compress a block each. */
static void compress_batch(void *user, size_t first, size_t end)
{
    if (first == 0)
        write_text(user);
    compress_blocks(user, first > 0 ? first - 1 : 0, end - 1);
}

static void encode_batch(void *user, size_t first, size_t end)
{
    const batch *b = user;
    const size_t groups = b->bytes / 3, from = groups * first / b->jobs, to = groups * end / b->jobs;
    bn_base64_groups(b->packed + 3 * from, to - from, b->text[0] + 4 * from);
}

/* Compresses and writes blocks, by all processors and some in memory at a time, and notes their sizes. A failed stream
 * ends it early. */
static bn_status write_blocks(vtk_writer *w, const bn_vtk_array *a, size_t bytes, size_t blocks)
{
    const size_t most = blocks < BATCH ? blocks : BATCH;
    struct libdeflate_compressor *deflate = libdeflate_alloc_compressor(COMPRESSION_LEVEL);
    batch b = { .array = a, .elements = bytes / bn_vtk_type_bytes(a->type), .stream = w->stream };
    b.room = deflate ? libdeflate_zlib_compress_bound(deflate, BN_VTK_BLOCK_BYTES) : 0;
    libdeflate_free_compressor(deflate);
    bn_status st = BN_OK;
    size_t kept = 0; /* bytes at the begin that wait for a third one */
    unsigned char *memory = malloc(3 + most * b.room);
    for (int i = 0; i < 2; i++)
        b.text[i] = malloc(bn_base64_length(3 + most * b.room));
    if (b.room == 0 || !memory || !b.text[0] || !b.text[1])
        BN_GO(bn_fail(w->ctx, BN_MEMORY, "cannot write %s: out of memory", w->path));
    for (; b.first < blocks && !ferror(w->stream); b.first += most) {
        const size_t count = blocks - b.first < most ? blocks - b.first : most;
        b.sizes = w->head + BN_VTK_HEAD_WORDS + b.first;
        b.packed = memory + kept;
        bn_parallel_jobs(count + 1, compress_batch, &b);
        b.packed = memory;
        b.bytes = kept;
        for (size_t i = 0; i < count; i++) {
            if (b.sizes[i] == 0)
                BN_GO(bn_fail(w->ctx, BN_MEMORY, "cannot write %s: no memory to compress array %s", w->path, a->name));
            memmove(memory + b.bytes, memory + kept + i * b.room, b.sizes[i]);
            b.bytes += b.sizes[i];
        }
        b.jobs = b.bytes / BN_VTK_BLOCK_BYTES + 1;
        bn_parallel_jobs(b.jobs, encode_batch, &b);
        char *written = b.text[1];
        b.text[1] = b.text[0];
        b.text[0] = written;
        b.length = b.bytes / 3 * 4;
        kept = b.bytes % 3;
        memmove(memory, memory + b.bytes - kept, kept);
    }
    write_text(&b);
    bn_base64_write(w->stream, memory, kept);
out:
    free(memory);
    free(b.text[0]);
    free(b.text[1]);
    return st;
}

static bn_status write_array(vtk_writer *w, const bn_vtk_array *a, size_t bytes)
{
    bn_status st = BN_OK;
    FILE *s = w->stream;
    const size_t rest = bytes % BN_VTK_BLOCK_BYTES, blocks = bytes / BN_VTK_BLOCK_BYTES + (rest != 0);
    w->head = calloc(BN_VTK_HEAD_WORDS + blocks, sizeof *w->head);
    if (!w->head)
        return bn_fail(w->ctx, BN_MEMORY, "cannot write %s: out of memory", w->path);
    w->head[0] = blocks;
    w->head[1] = BN_VTK_BLOCK_BYTES;
    w->head[2] = rest;

    fprintf(s, "        <DataArray type=\"%s\" Name=\"", a->type);
    write_escaped(s, a->name);
    fprintf(s, "\" NumberOfComponents=\"%d\" format=\"binary\">\n          ", a->components);
    const off_t sizes_at = ftello(s);
    write_sizes(w, BN_VTK_HEAD_WORDS + blocks);
    BN_GO(write_blocks(w, a, bytes, blocks));
    if (!fill_in_sizes(w, sizes_at, BN_VTK_HEAD_WORDS + blocks) && !ferror(s)) { /* a failed stream: commit reports
                                                                                    the reason */
        st = bn_fail(w->ctx, BN_IO, "cannot write %s: %s while going back in the file", w->path, strerror(errno));
        goto out;
    }
    fputs("\n", s);
    if (a->unit && a->unit[0]) {
        /* VTK's own key for units; after the values, since its reader expects those right after the opening tag. */
        fputs("          <InformationKey name=\"UNITS_LABEL\" location=\"vtkDataArray\">", s);
        write_escaped(s, a->unit);
        fputs("</InformationKey>\n", s);
    }
    fputs("        </DataArray>\n", s);
out:
    free(w->head);
    w->head = NULL;
    return st;
}

/* Half of the cells' corners lie on one zigzag line below each row, and one above the last: 2 n + 2 corners, half a
 * cell apart along x. */
static size_t corners_of_line(const bn_vtk_image *image) { return 2 * (size_t)image->n[0] + 2; }

size_t bn_vtk_hexagon_points(const bn_vtk_image *image)
{
    return corners_of_line(image) * ((size_t)image->n[1] + 1) * (image->dims > 2 ? image->n[2] : 1);
}

void bn_vtk_hexagons(const bn_vtk_image *image, double *points, int32_t *corners)
{
    const size_t line = corners_of_line(image), nx = image->n[0], ny = image->n[1], all = bn_vtk_hexagon_points(image);
    const size_t layers = image->dims > 2 ? image->n[2] : 1;
    const double radius = image->h[1] * 2 / 3;
    for (size_t at = 0; at < all; at++) {
        const size_t m = at % line, j = at / line % (ny + 1), k = at / line / (ny + 1);
        const bool top = j == ny;
        const size_t row = image->first[1] + (top ? j - 1 : j), column = 2 * (size_t)image->first[0] + m;
        const bool far = (m + row) % 2 != 0;
        const double middle = image->origin[1] + ((double)row + 0.5) * image->h[1];
        points[at] = image->origin[0] + 0.5 * (double)column * image->h[0];
        points[at + all] = middle + (top ? 1 : -1) * (far ? 1 : 0.5) * radius;
        points[at + 2 * all] = image->dims > 2 ? image->origin[2] + (double)(image->first[2] + k) * image->h[2] : 0;
    }
    for (size_t at = 0; at < nx * ny * layers; at++) {
        const size_t i = at % nx, j = at / nx % ny, k = at / nx / ny,
                     below = (k * (ny + 1) + j) * line + 2 * i + (image->first[1] + j) % 2;
        const size_t ring[6] = { below, below + 1, below + 2, below + line + 2, below + line + 1, below + line };
        for (int c = 0; c < 6; c++)
            corners[6 * at + (size_t)c] = (int32_t)ring[c];
    }
}

/* Places so far from zero that single precision would bend hexagons: map coordinates, mostly. */
static bool far_away(const bn_vtk_image *image)
{
    const double most = 1 << 14;
    return fabs(image->origin[0]) > most * image->h[0] || fabs(image->origin[1]) > most * image->h[1];
}

/* In place: the first halves of the memory of `count` doubles hold them as floats. */
static void make_single(double *place, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float single = (float)place[i];
        memcpy((char *)place + i * sizeof single, &single, sizeof single);
    }
}

/* Points and cells of hexagons, in the order in which VTK wants them. */
static bn_status write_hexagons(vtk_writer *w, const bn_vtk_image *image)
{
    const size_t points = bn_vtk_hexagon_points(image);
    const size_t cells = (size_t)image->n[0] * image->n[1] * (image->dims > 2 ? image->n[2] : 1);
    enum { POLYGON = 7 };
    bn_status st = BN_OK;
    FILE *s = w->stream;
    if (points > INT32_MAX || cells > INT32_MAX / 6)
        return bn_fail(w->ctx, BN_USAGE, "cannot write %s: %zu hexagons are too many", w->path, cells);
    const bool wide = far_away(image);
    double *place = malloc(3 * points * sizeof *place);
    int32_t *corners = malloc(6 * cells * sizeof *corners), *ends = malloc(cells * sizeof *ends);
    uint8_t *kinds = malloc(cells);
    if (!place || !corners || !ends || !kinds)
        BN_GO(bn_fail(w->ctx, BN_MEMORY, "cannot write %s: out of memory for %zu hexagons", w->path, cells));
    bn_vtk_hexagons(image, place, corners);
    if (!wide)
        make_single(place, 3 * points);
    for (size_t at = 0; at < cells; at++) {
        ends[at] = (int32_t)(6 * (at + 1));
        kinds[at] = POLYGON;
    }
    fputs("      <Points>\n", s);
    BN_GO(write_array(w, &(bn_vtk_array){ "Points", "m", wide ? "Float64" : "Float32", 3, place },
                      3 * points * (wide ? sizeof(double) : sizeof(float))));
    fputs("      </Points>\n      <Cells>\n", s);
    BN_GO(write_array(w, &(bn_vtk_array){ "connectivity", "", "Int32", 1, corners }, 6 * cells * sizeof *corners));
    BN_GO(write_array(w, &(bn_vtk_array){ "offsets", "", "Int32", 1, ends }, cells * sizeof *ends));
    BN_GO(write_array(w, &(bn_vtk_array){ "types", "", "UInt8", 1, kinds }, cells));
    fputs("      </Cells>\n", s);
out:
    free(place);
    free(corners);
    free(ends);
    free(kinds);
    return st;
}

/* Places of the nodes of a piece along each axis. */
static bn_status write_coordinates(vtk_writer *w, const bn_vtk_image *image)
{
    fputs("      <Coordinates>\n", w->stream);
    for (int d = 0; d < 3; d++) {
        const uint32_t n = bn_vtk_extent(image, d) + 1, first = d < image->dims ? image->first[d] : 0;
        double *at = malloc(n * sizeof *at);
        if (!at)
            return bn_fail(w->ctx, BN_MEMORY, "cannot write %s: out of memory", w->path);
        for (uint32_t i = 0; i < n; i++)
            at[i] = image->place[d]   ? image->place[d][first + i]
                    : d < image->dims ? image->origin[d] + (first + i) * image->h[d]
                                      : 0;
        const bn_status st = write_array(
            w, &(bn_vtk_array){ (const char *[]){ "x", "y", "z" }[d], "m", "Float64", 1, at }, n * sizeof *at);
        free(at);
        BN_TRY(st);
    }
    fputs("      </Coordinates>\n", w->stream);
    return BN_OK;
}

bn_status bn_vtk_write(bn_context *ctx, const char *path, const bn_vtk_image *image)
{
    bn_status st = BN_OK;
    bn_file *file = NULL;
    BN_TRY(check_image(ctx, path, image));
    vtk_writer w = { .ctx = ctx, .path = path };
    BN_GO(bn_file_begin(ctx, path, &file));
    w.stream = bn_file_stream(file);
    write_head(w.stream, image);
    if (image->hexagons)
        BN_GO(write_hexagons(&w, image));
    write_data_tag(w.stream, "", image);
    for (size_t i = 0; i < image->count && !ferror(w.stream); i++) {
        size_t bytes = 0;
        if (bn_vtk_array_bytes(image, &image->arrays[i], &bytes)) /* always: check_image has asked */
            BN_GO(write_array(&w, &image->arrays[i], bytes));
    }
    fputs(image->nodes ? "      </PointData>\n" : "      </CellData>\n", w.stream);
    if (uneven(image))
        BN_GO(write_coordinates(&w, image));
    fprintf(w.stream, "    </Piece>\n  </%s>\n</VTKFile>\n", type_of(image));
    st = bn_file_commit(&file);
out:
    bn_file_abort(&file);
    return st;
}

bn_status bn_vtk_pieces_write(bn_context *ctx, const char *path, const bn_vtk_image *whole, const bn_vtk_piece *pieces,
                              size_t count)
{
    bn_file *file = NULL;
    BN_TRY(bn_file_begin(ctx, path, &file));
    FILE *s = bn_file_stream(file);
    open_file(s, "P", whole);
    fputs(" GhostLevel=\"0\">\n", s);
    write_data_tag(s, "P", whole);
    for (size_t i = 0; i < whole->count; i++) {
        fprintf(s, "        <PDataArray type=\"%s\" Name=\"", whole->arrays[i].type);
        write_escaped(s, whole->arrays[i].name);
        fprintf(s, "\" NumberOfComponents=\"%d\"/>\n", whole->arrays[i].components);
    }
    fprintf(s, "      </P%s>\n", whole->nodes ? "PointData" : "CellData");
    if (whole->hexagons)
        fprintf(s,
                "      <PPoints>\n        <PDataArray type=\"%s\" Name=\"Points\" NumberOfComponents=\"3\"/>\n      "
                "</PPoints>\n",
                far_away(whole) ? "Float64" : "Float32");
    if (uneven(whole)) {
        fputs("      <PCoordinates>\n", s);
        for (int d = 0; d < 3; d++)
            fprintf(s, "        <PDataArray type=\"Float64\" Name=\"%c\" NumberOfComponents=\"1\"/>\n", "xyz"[d]);
        fputs("      </PCoordinates>\n", s);
    }
    for (size_t i = 0; i < count; i++) {
        bn_vtk_image piece = *whole;
        memcpy(piece.first, pieces[i].first, sizeof piece.first);
        memcpy(piece.n, pieces[i].n, sizeof piece.n);
        fputs("    <Piece", s);
        if (!whole->hexagons)
            write_bounds(s, "Extent", &piece);
        fputs(" Source=\"", s);
        write_escaped(s, pieces[i].file);
        fputs("\"/>\n", s);
    }
    fprintf(s, "  </P%s>\n</VTKFile>\n", type_of(whole));
    return bn_file_commit(&file);
}

bn_status bn_vtk_collection_write(bn_context *ctx, const char *path, const char *const *files, const double *times,
                                  size_t count)
{
    bn_file *file = NULL;
    BN_TRY(bn_file_begin(ctx, path, &file));
    FILE *s = bn_file_stream(file);
    fprintf(
        s,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"%s\">\n"
        "  <Collection>\n",
        bn_vtk_byte_order());
    for (size_t i = 0; i < count; i++) {
        fputs("    <DataSet timestep=\"", s);
        write_real(s, times[i]);
        fputs("\" group=\"\" part=\"0\" file=\"", s);
        write_escaped(s, files[i]);
        fputs("\"/>\n", s);
    }
    fputs("  </Collection>\n</VTKFile>\n", s);
    return bn_file_commit(&file);
}
