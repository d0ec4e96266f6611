/* test_vtk.c: image files written, opened by VTK itself, read back; files that VTK wrote; files damaged in many ways.
 * BINNACLE_TEST_PYTHON names a Python that has VTK; without one the files are written and not opened by VTK, and the
 * test says so. */
#include "io/file.h"
#include "io/vtk.h"
#include "support_case.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* One image per kind of content; the values depend on the place, the component and the array. */
typedef struct sample {
    int dims;
    uint32_t n[3];
    bool nodes;
    const char *title;
} sample;

static const sample samples[] = {
    { 2, { 5, 3, 1 }, true, "Lid-driven cavity <Re 1000> & \"more\", \xc3\xa9t\xc3\xa9" },
    { 2, { 5, 3, 1 }, false, NULL },
    { 1, { 7, 1, 1 }, true, "line" },
    { 1, { 7, 1, 1 }, false, NULL },
    { 3, { 4, 3, 2 }, true, NULL },
    { 3, { 4, 3, 1 }, false, NULL },
    { 2, { 1, 1, 1 }, false, NULL },
    { 2, { 700, 601, 1 }, true, "several blocks" },
    { 2, { 512, 512, 1 }, false, "the last block is full" },
};
enum { SAMPLES = sizeof samples / sizeof *samples, ARRAYS = 5 };

static const bn_vtk_array kinds[ARRAYS] = {
    { "psi", "m2 s-1", "Float64", 1, NULL }, { "u", "m s-1", "Float32", 3, NULL },
    { "flags", NULL, "UInt8", 1, NULL },     { "pair <&\">", "K", "Float64", 2, NULL },
    { "count", "1", "Int64", 1, NULL },
};
static const size_t sizes[ARRAYS] = { 8, 4, 1, 8, 8 };
static const char *const numpy_types[ARRAYS] = { "float64", "float32", "uint8", "float64", "int64" };

static void fill_value(void *data, int kind, size_t index)
{
    const double wave = sin(0.37 * (double)index + kind) * pow(10, (double)(index % 40) - 20);
    switch (kind) {
    case 1: ((float *)data)[index] = (float)wave; break;
    case 2: ((unsigned char *)data)[index] = (unsigned char)(index * 7); break;
    case 4: ((int64_t *)data)[index] = (int64_t)index * 1234567891011 - 99; break;
    default: ((double *)data)[index] = index == 3 ? (double)NAN : index == 4 ? (double)-INFINITY : wave; break;
    }
}

static size_t tuples_of(const sample *s) { return (size_t)s->n[0] * s->n[1] * s->n[2]; }

static bn_vtk_image make_image(const sample *s, bn_vtk_array arrays[ARRAYS])
{
    const size_t tuples = tuples_of(s);
    for (int k = 0; k < ARRAYS; k++) {
        const size_t elements = tuples * (size_t)kinds[k].components;
        void *data = calloc(elements, sizes[k]);
        ck_assert_ptr_nonnull(data);
        for (size_t i = 0; i < elements; i++)
            fill_value(data, k, i);
        arrays[k] = kinds[k];
        arrays[k].data = data;
    }
    return (bn_vtk_image){ .dims = s->dims,
                           .n = { s->n[0], s->n[1], s->n[2] },
                           .origin = { 0.1, -2e-7, 1.0 / 3 },
                           .h = { 1e-3, 0.1 + 0.2, 5 },
                           .nodes = s->nodes,
                           .time = 1.0 / 3,
                           .arrays = arrays,
                           .count = ARRAYS,
                           .title = s->title };
}

static void release_image(bn_vtk_array arrays[ARRAYS])
{
    for (int k = 0; k < ARRAYS; k++)
        free((void *)arrays[k].data);
}

/* Runs read_vtk.py, which lies beside this file. False: there is no Python with VTK, say so. */
static bool run_python(const char *file, const char *out)
{
    const char *python = getenv("BINNACLE_TEST_PYTHON");
    if (!python) {
        printf("skipped: BINNACLE_TEST_PYTHON is not set\n");
        return false;
    }
    char script[512];
    snprintf(script, sizeof script, "%s", __FILE__);
    char *slash = strrchr(script, '/');
    snprintf(slash ? slash + 1 : script, 32, "read_vtk.py");
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        execlp(python, python, script, file, out, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s %s failed", python, script);
    return true;
}

/* Takes one line "text\n" off *at. */
static void expect_line(char **at, const char *text)
{
    char *end = strchr(*at, '\n');
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    ck_assert_str_eq(*at, text);
    *at = end + 1;
}

LOOP_TEST(test_vtk_opens_in_vtk, SAMPLES)
{
    const sample *s = &samples[_i];
    bn_vtk_array arrays[ARRAYS];
    const bn_vtk_image image = make_image(s, arrays);
    const size_t tuples = tuples_of(s);
    ck_assert_msg(bn_vtk_write(ctx, in_folder("a.vti"), &image) == BN_OK, "%s", bn_error_text(ctx));
    char file[512], line[512], *data = NULL;
    size_t bytes = 0;
    snprintf(file, sizeof file, "%s", in_folder("a.vti"));
    if (run_python(file, in_folder("a.dump"))) {
        ck_assert_int_eq(bn_file_read(ctx, in_folder("a.dump"), 1 << 28, &data, &bytes), BN_OK);
        char *at = data;
        const unsigned less = s->nodes ? 1 : 0;
        snprintf(line, sizeof line, "extent 0 %u 0 %u 0 %u", s->n[0] - less, s->dims > 1 ? s->n[1] - less : 0,
                 s->dims > 2 ? s->n[2] - less : 0);
        expect_line(&at, line);
        expect_line(&at, s->dims == 1   ? "origin 0.1 0.0 0.0"
                         : s->dims == 2 ? "origin 0.1 -2e-07 0.0"
                                        : "origin 0.1 -2e-07 0.3333333333333333");
        expect_line(&at, s->dims == 1   ? "spacing 0.001 1.0 1.0"
                         : s->dims == 2 ? "spacing 0.001 0.30000000000000004 1.0"
                                        : "spacing 0.001 0.30000000000000004 5.0");
        expect_line(&at, "time 0.3333333333333333");
        snprintf(line, sizeof line, "title %s", s->title ? s->title : "-");
        expect_line(&at, line);
        snprintf(line, sizeof line, "points %d cells %d", s->nodes ? ARRAYS : 0, s->nodes ? 0 : ARRAYS);
        expect_line(&at, line);
        for (int k = 0; k < ARRAYS; k++) {
            const size_t components = (size_t)kinds[k].components, array_bytes = tuples * components * sizes[k];
            char unit[32];
            snprintf(unit, sizeof unit, "%s", kinds[k].unit ? kinds[k].unit : "-");
            for (char *c = unit; *c; c++)
                *c = *c == ' ' ? '_' : *c;
            snprintf(line, sizeof line, "array %s unit %s type %s components %zu tuples %zu bytes %zu", kinds[k].name,
                     unit, numpy_types[k], components, tuples, array_bytes);
            expect_line(&at, line);
            ck_assert_uint_le((size_t)(at - data) + array_bytes, bytes);
            for (size_t i = 0; i < tuples * components; i++) { /* VTK: component fastest; ours: slowest */
                const char *ours = (const char *)arrays[k].data + (i % components * tuples + i / components) * sizes[k];
                if (memcmp(at + i * sizes[k], ours, sizes[k]) != 0)
                    ck_abort_msg("array %s, element %zu differs", kinds[k].name, i);
            }
            at += array_bytes;
        }
        ck_assert_uint_eq((size_t)(at - data), bytes);
        free(data);
    }
    release_image(arrays);
}

LOOP_TEST(test_vtk_reads_back, SAMPLES)
{
    const sample *s = &samples[_i];
    bn_vtk_array arrays[ARRAYS];
    const bn_vtk_image image = make_image(s, arrays);
    bn_vtk_image back;
    ck_assert_int_eq(bn_vtk_write(ctx, in_folder("a.vti"), &image), BN_OK);
    ck_assert_msg(bn_vtk_read(ctx, in_folder("a.vti"), NULL, &back) == BN_OK, "%s", bn_error_text(ctx));
    ck_assert_int_eq(back.nodes, s->nodes);
    for (int d = 0; d < 3; d++)
        ck_assert_uint_eq(back.n[d], s->n[d]);
    for (int d = 0; d < s->dims; d++) {
        near(back.origin[d], image.origin[d], 0, "same bits");
        near(back.h[d], image.h[d], 0, "same bits");
    }
    near(back.time, image.time, 0, "same bits");
    ck_assert_uint_eq(back.count, ARRAYS);
    if (s->title)
        ck_assert_str_eq(back.title, s->title);
    else
        ck_assert_ptr_null(back.title);
    for (int k = 0; k < ARRAYS; k++) {
        ck_assert_str_eq(back.arrays[k].name, kinds[k].name);
        ck_assert_str_eq(back.arrays[k].unit, kinds[k].unit ? kinds[k].unit : "");
        ck_assert_str_eq(back.arrays[k].type, kinds[k].type);
        ck_assert_int_eq(back.arrays[k].components, kinds[k].components);
        ck_assert_int_eq(
            memcmp(back.arrays[k].data, arrays[k].data, tuples_of(s) * (size_t)kinds[k].components * sizes[k]), 0);
    }
    bn_vtk_free(&back);
    bn_vtk_free(&back);
    release_image(arrays);
}

/* More blocks than are in memory at a time, whose lengths leave one or two bytes for the next ones. */
TEST(many_blocks)
{
    const bn_vtk_array kind = { "flags", NULL, "UInt8", 1, NULL };
    const size_t count = (size_t)6007 * 6000;
    unsigned char *flags = malloc(count);
    ck_assert_ptr_nonnull(flags);
    for (size_t i = 0; i < count; i++)
        flags[i] = (unsigned char)(i >> 8 ^ i >> 17);
    bn_vtk_array array = kind;
    array.data = flags;
    const bn_vtk_image image = { .dims = 2, .n = { 6007, 6000 }, .h = { 1, 1, 1 }, .arrays = &array, .count = 1 };
    bn_vtk_image back;
    ck_assert_int_eq(bn_vtk_write(ctx, in_folder("large.vti"), &image), BN_OK);
    ck_assert_msg(bn_vtk_read(ctx, in_folder("large.vti"), NULL, &back) == BN_OK, "%s", bn_error_text(ctx));
    ck_assert(memcmp(back.arrays[0].data, flags, count) == 0);
    bn_vtk_free(&back);
    free(flags);
}

TEST(test_vtk_collection)
{
    bn_vtk_array arrays[ARRAYS];
    const bn_vtk_image image = make_image(&samples[0], arrays);
    const char *const files[] = { "a.vti", "b.vti" };
    ck_assert_int_eq(bn_vtk_write(ctx, in_folder("a.vti"), &image), BN_OK);
    ck_assert_int_eq(bn_vtk_write(ctx, in_folder("b.vti"), &image), BN_OK);
    ck_assert_int_eq(bn_vtk_collection_write(ctx, in_folder("a.pvd"), files, (const double[]){ 0, 0.1 }, 2), BN_OK);
    run_python(in_folder("a.pvd"), "");
    ck_assert_int_eq(bn_vtk_collection_write(ctx, in_folder("a.pvd"), files, NULL, 0), BN_OK);
    run_python(in_folder("a.pvd"), "");
    release_image(arrays);
}

TEST(test_vtk_refuses_nonsense)
{
    const double v[4] = { 1, 2, 3, 4 };
    const bn_vtk_array good = { "v", "m", "Float64", 1, v };
    const bn_vtk_image fine = { .dims = 2, .n = { 2, 2 }, .h = { 1, 1 }, .arrays = &good, .count = 1 };
    bn_vtk_array array[8];
    bn_vtk_image image[8];
    for (int i = 0; i < 8; i++) {
        array[i] = good;
        image[i] = fine;
        image[i].arrays = &array[i];
    }
    array[0].type = "Float16";
    array[1].components = 0;
    array[2].name = "";
    image[3].dims = 4;
    image[4].n[1] = 0;
    image[5].h[0] = 0;
    image[6].time = (double)INFINITY;
    image[7].dims = 3;
    image[7].n[0] = image[7].n[1] = image[7].n[2] = 2147483646; /* 8e28 bytes */
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(bn_vtk_write(ctx, in_folder("a.vti"), &image[i]), BN_USAGE);
        ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), "a.vti"));
        ck_assert_int_ne(access(in_folder("a.vti"), F_OK), 0);
        bn_error_clear(ctx);
    }
    ck_assert_int_eq(bn_vtk_write(ctx, in_folder("missing/a.vti"), &fine), BN_IO);
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_vtk_collection_write(ctx, in_folder("missing/a.pvd"), NULL, NULL, 0), BN_IO);
}

TEST(test_vtk_full_disk)
{
    static const rlim_t limits[] = { 0, 100, 5000, 200000 };
    bn_vtk_array arrays[ARRAYS];
    const bn_vtk_image image = make_image(&samples[7], arrays);
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    ck_assert_int_eq(sigaction(SIGXFSZ, &ignore, NULL), 0);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        /* Check writes its own messages to a file: no assertion while the limit holds. */
        struct rlimit limit = { limits[i], RLIM_INFINITY };
        const int set = setrlimit(RLIMIT_FSIZE, &limit);
        const bn_status st = bn_vtk_write(ctx, in_folder("a.vti"), &image);
        limit.rlim_cur = RLIM_INFINITY;
        const int unset = setrlimit(RLIMIT_FSIZE, &limit);
        ck_assert_int_eq(set, 0);
        ck_assert_int_eq(unset, 0);
        ck_assert_int_eq(st, BN_IO);
        ck_assert_msg(strstr(bn_error_text(ctx), strerror(EFBIG)) != NULL, "%s", bn_error_text(ctx));
        ck_assert_int_ne(access(in_folder("a.vti"), F_OK), 0);
        bn_error_clear(ctx);
    }
    release_image(arrays);
}

/* Writes `text` and expects that it is refused with a message that has `why` in it. */
static void expect_refused(const char *text, const char *why)
{
    bn_vtk_image image;
    ck_assert_int_eq(bn_file_write(ctx, in_folder("a.vti"), text, strlen(text)), BN_OK);
    ck_assert_int_eq(bn_vtk_read(ctx, in_folder("a.vti"), NULL, &image), BN_IO);
    ck_assert_msg(strstr(bn_error_text(ctx), why) != NULL, "'%s' has no '%s'", bn_error_text(ctx), why);
    ck_assert_uint_eq(image.count, 0);
    bn_error_clear(ctx);
}

#define HEAD                                                                                \
    "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\" " \
    "compressor=\"vtkZLibDataCompressor\">"

TEST(test_vtk_foreign_files)
{
    const unsigned short probe = 1;
    char head[512], text[2048];
    snprintf(head, sizeof head, HEAD, *(const unsigned char *)&probe ? "LittleEndian" : "BigEndian");
    expect_refused("", "no element");
    expect_refused("PNG...", "syntax error");
    expect_refused("<html></html>", "unexpected <html>");
    expect_refused("<!DOCTYPE a [<!ENTITY b \"cccccccccc\"><!ENTITY d \"&b;&b;&b;\">]><VTKFile>&d;</VTKFile>",
                   "document type");
    expect_refused("<VTKFile type=\"StructuredGrid\"/>", "StructuredGrid");
    expect_refused("<VTKFile type=\"RectilinearGrid\"/>", "byte_order");
    expect_refused("<VTKFile type=\"ImageData\" byte_order=\"BigEndian\" compressor=\"vtkLZ4DataCompressor\"/>", "LZ4");
    expect_refused("<VTKFile type=\"ImageData\" byte_order=\"Middle\"/>", "byte_order");
    snprintf(text, sizeof text, "%s</VTKFile>", head);
    expect_refused(text, "no image");
    static const char *const images[][2] = {
        { "<ImageData WholeExtent=\"0 1 0 1 0\" Origin=\"0 0 0\" Spacing=\"1 1 1\"/>", "WholeExtent" },
        { "<ImageData WholeExtent=\"0 1 0 1 0 -1\" Origin=\"0 0 0\" Spacing=\"1 1 1\"/>", "WholeExtent" },
        { "<ImageData WholeExtent=\"0 1 0 1 0 4e9\" Origin=\"0 0 0\" Spacing=\"1 1 1\"/>", "WholeExtent" },
        { "<ImageData WholeExtent=\"0 1 0 1 0 0\" Origin=\"0 0 nan\" Spacing=\"1 1 1\"/>", "Origin" },
        { "<ImageData WholeExtent=\"0 1 0 1 0 0\" Origin=\"0 0 0\" Spacing=\"1 0 1\"/>", "Spacing" },
        { "<ImageData WholeExtent=\"0 1 0 1 0 0\" Origin=\"0 0 0\" Spacing=\"1 1 1\"><Piece Extent=\"0 2 0 1 0 "
          "0\"/></ImageData>",
          "whole image" },
        { "<ImageData WholeExtent=\"0 1 0 1 0 0\" Origin=\"0 0 0\" Spacing=\"1 1 1\" Direction=\"0 1 0 -1 0 0 0 0 "
          "1\"/>",
          "along the axes" },
        { "<ImageData WholeExtent=\"0 2 0 1 0 0\" Origin=\"0 0 0\" Spacing=\"1 1 1\"><Piece Extent=\"0 1 0 1 0 "
          "0\"/></ImageData>",
          "not the whole" },
    };
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        snprintf(text, sizeof text, "%s%s</VTKFile>", head, images[i][0]);
        expect_refused(text, images[i][1]);
    }
    static const char *const arrays[][2] = {
        { "<DataArray type=\"Float16\" Name=\"a\" NumberOfComponents=\"1\" format=\"binary\">AAAA</DataArray>",
          "Float16" },
        { "<DataArray type=\"Float64\" NumberOfComponents=\"1\" format=\"binary\">AAAA</DataArray>", "without a name" },
        { "<DataArray type=\"Float64\" Name=\"a\" NumberOfComponents=\"0\" format=\"binary\">AAAA</DataArray>",
          "components" },
        { "<DataArray type=\"Float64\" Name=\"a\" NumberOfComponents=\"1\" format=\"appended\"/>", "nothing is" },
        { "<DataArray type=\"Float64\" Name=\"a\" NumberOfComponents=\"1\" format=\"own\"/>", "format" },
        { "<DataArray type=\"Float64\" Name=\"a\" NumberOfComponents=\"1\" format=\"binary\"></DataArray>",
          "cut short" },
        { "<DataArray type=\"Float64\" Name=\"a\" format=\"ascii\">1 2 3</DataArray>", "too few" },
        { "<DataArray type=\"Float64\" Name=\"a\" format=\"ascii\">1 2 3 four</DataArray>", "no number" },
        { "<DataArray type=\"UInt8\" Name=\"a\" format=\"ascii\">1 2 3 256</DataArray>", "no number of its type" },
        { "<DataArray type=\"Float64\" Name=\"a\" NumberOfComponents=\"1\" format=\"binary\">AAAA</DataArray>",
          "cut short" },
        { "<DataArray type=\"Float64\" Name=\"a\" NumberOfComponents=\"1\" format=\"binary\">"
          "////////////////////////////////AAAA</DataArray>",
          "head is damaged" },
        { "<VTKFile/>", "unexpected <VTKFile>" },
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        snprintf(
            text, sizeof text,
            "%s<ImageData WholeExtent=\"0 1 0 1 0 0\" Origin=\"0 0 0\" Spacing=\"1 1 1\"><Piece Extent=\"0 1 0 1 0 0\">"
            "<PointData>%s</PointData></Piece></ImageData></VTKFile>",
            head, arrays[i][0]);
        expect_refused(text, arrays[i][1]);
    }
    bn_vtk_image image;
    ck_assert_int_eq(bn_vtk_read(ctx, in_folder("none.vti"), NULL, &image), BN_IO);
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_vtk_read(ctx, test_folder, NULL, &image), BN_IO);
}

static unsigned next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

/* Damages a good file: cuts it, flips bits, repeats or removes a stretch, puts digits at random places. */
static size_t damage(char *data, size_t bytes, uint64_t *random)
{
    const size_t at = next_random(random) % bytes, length = 1 + next_random(random) % 40;
    const size_t end = at + length < bytes ? at + length : bytes;
    switch (next_random(random) % 5) {
    case 0: return at;
    case 1: data[at] = (char)(data[at] ^ 1 << next_random(random) % 8); return bytes;
    case 2: memmove(data + at, data + end, bytes - end); return bytes - (end - at);
    case 3: memset(data + at, '0' + (int)(next_random(random) % 10), end - at); return bytes;
    default: data[at] = "AZaz09+/=<>\"& "[next_random(random) % 14]; return bytes;
    }
}

/* Files of the same grid that VTK wrote (tests/data/vtk/make.py). */
static const char *const written_by_vtk[] = {
    "ascii.vti",          "inline.vti",
    "inline-zlib.vti",    "raw.vti",
    "raw-zlib.vti",       "shifted.vti",
    "pieces.pvti",        "appended.vti",
    "raw-big-endian.vti", "appended-zlib-big-endian.vti",
    "points.vtk",         "points-binary.vtk",
    "voxels.vtu",         "hexahedra.vtu",
    "voxels.vtk",         "voxels-42.vtk",
};
enum { WRITTEN = sizeof written_by_vtk / sizeof *written_by_vtk };

static const char *in_data(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "tests/data/vtk/%s", name);
    return path;
}

static void expect_grid(const bn_vtk_image *image, bool nodes)
{
    static const double origin[3] = { 1, 2, 3 }, h[3] = { 0.5, 0.25, 2 };
    static const uint32_t cells[3] = { 3, 2, 2 };
    ck_assert_int_eq(image->dims, 3);
    ck_assert_int_eq(image->nodes, nodes);
    near(image->time, 2.5, 0, "the time");
    ck_assert_str_eq(image->title ? image->title : "a box", "a box");
    for (int d = 0; d < 3; d++) {
        ck_assert_uint_eq(image->n[d], cells[d] + (nodes ? 1 : 0));
        near(image->origin[d] + image->first[d] * image->h[d], origin[d], 1e-12, "the corner");
        near(image->h[d], h[d], 1e-12, "sides of a cell");
    }
}

static double place_number(const bn_vtk_image *image, size_t at)
{
    return (double)(at % image->n[0] + 10 * (at / image->n[0] % image->n[1]) + 100 * (at / image->n[0] / image->n[1]));
}

LOOP_TEST(files_that_vtk_wrote, WRITTEN)
{
    bn_vtk_image image;
    ck_assert_msg(bn_vtk_read(ctx, in_data(written_by_vtk[_i]), NULL, &image) == BN_OK, "%s", bn_error_text(ctx));
    expect_grid(&image, false);
    ck_assert_uint_eq(image.count, 2);
    ck_assert_str_eq(image.arrays[0].name, "rho");
    ck_assert_str_eq(image.arrays[0].unit, "m-3");
    ck_assert_str_eq(image.arrays[0].type, "Float32");
    ck_assert_str_eq(image.arrays[1].name, "pair");
    ck_assert_int_eq(image.arrays[1].components, 2);
    for (size_t i = 0; i < 12; i++) {
        const double rho = (1 + place_number(&image, i)) / 8;
        near(bn_vtk_value(&image.arrays[0], i), rho, 0, "rho");
        near(bn_vtk_value(&image.arrays[1], i), rho, 0, "first of pair");
        near(bn_vtk_value(&image.arrays[1], 12 + i), -rho, 0, "second of pair");
    }
    bn_vtk_free(&image);
    ck_assert_msg(bn_vtk_read(ctx, in_data(written_by_vtk[_i]), "p", &image) == BN_OK, "%s", bn_error_text(ctx));
    expect_grid(&image, true);
    ck_assert_uint_eq(image.count, 1);
    for (size_t i = 0; i < 36; i++)
        near(bn_vtk_value(&image.arrays[0], i), place_number(&image, i) / 4, 0, "p");
    bn_vtk_free(&image);
}

LOOP_TEST(all_types_of_numbers, 2)
{
    static const char *const files[] = { "types.vti", "types-ascii.vti" };
    static const char *const types[] = { "Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                         "UInt32", "Int64", "UInt64", "Float32", "Float64" };
    bn_vtk_image image;
    ck_assert_msg(bn_vtk_read(ctx, in_data(files[_i]), NULL, &image) == BN_OK, "%s", bn_error_text(ctx));
    ck_assert_uint_eq(image.count, 10);
    for (size_t k = 0; k < 10; k++) {
        ck_assert_str_eq(image.arrays[k].type, types[k]);
        for (size_t i = 0; i < 12; i++)
            near(bn_vtk_value(&image.arrays[k], i), place_number(&image, i) - (types[k][0] == 'U' ? 0 : 50), 0,
                 types[k]);
    }
    bn_vtk_free(&image);
}

TEST(meshes_that_are_no_lattice)
{
    static const char head[] = "# vtk DataFile Version 4.2\nmesh\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n";
    static const char *const rest[][2] = {
        { "0 0 0 1 0 0 0 1 0 2 3 0\nCELLS 2 8\n3 0 1 2\n3 1 3 2\nCELL_DATA 2\nSCALARS a float\nLOOKUP_TABLE default\n1 "
          "2\n",
          "lattice" },
        { "0 0 0 1 0 0 0 1 0 1 1 0\nCELLS 1 5\n4 0 1 2 4\nCELL_DATA 1\nSCALARS a float\nLOOKUP_TABLE default\n1\n",
          "not there" },
        { "0 0 0 1 0 0 0 1 0 1 1 0\nCELLS 1 4\n4 0 1 2\nCELL_DATA 1\nSCALARS a float\nLOOKUP_TABLE default\n1\n",
          "damaged" },
        { "0 0 0 1 0 0 0 1 0 nan 1 0\nPOINT_DATA 4\nSCALARS a float\nLOOKUP_TABLE default\n1 2 3 4\n", "no place" },
        { "0 0 0 1 0 0 0 1 0 1 1 0\nCELLS 9000000000 9000000000\n4 0 1 2\n", "too few" },
        { "0 0 0 1 0 0 0 1 0 1 1 0\nPOINT_DATA 5\n", "size of the grid" },
        { "0 0 0 1 0 0 0 1 0 1 1 0\nPOLYGONS 1 2\n", "not read" },
    };
    char text[512];
    bn_vtk_image image;
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        snprintf(text, sizeof text, "%s%s", head, rest[i][0]);
        ck_assert_int_eq(bn_file_write(ctx, in_folder("b.vtk"), text, strlen(text)), BN_OK);
        ck_assert_int_eq(bn_vtk_read(ctx, in_folder("b.vtk"), NULL, &image), BN_IO);
        ck_assert_msg(strstr(bn_error_text(ctx), rest[i][1]) != NULL, "'%s' has no '%s'", bn_error_text(ctx),
                      rest[i][1]);
        bn_error_clear(ctx);
    }
}

/* Whatever is damaged: no crash (the sanitizers watch), a message, or a file that is still whole where it matters. */
LOOP_TEST(test_vtk_survives_damage, 8)
{
    static const struct {
        const char *from, *to;
    } files[] = { { NULL, "b.vti" },
                  { "raw-zlib.vti", "b.vti" },
                  { "ascii.vti", "b.vti" },
                  { "voxels.vtu", "b.vtu" },
                  { "points.vtk", "b.vtk" },
                  { "points-binary.vtk", "b.vtk" },
                  { "voxels-42.vtk", "b.vtk" },
                  { "voxels.vtk", "b.vtk" } };
    bn_vtk_array arrays[ARRAYS];
    const bn_vtk_image image = make_image(&samples[0], arrays);
    char *good = NULL, *bad;
    size_t bytes = 0, refused = 0, accepted = 0;
    uint64_t random = 2024 + (uint64_t)_i;
    ck_assert_int_eq(bn_vtk_write(ctx, in_folder("a.vti"), &image), BN_OK);
    ck_assert_int_eq(
        bn_file_read(ctx, files[_i].from ? in_data(files[_i].from) : in_folder("a.vti"), 1 << 20, &good, &bytes),
        BN_OK);
    ck_assert_ptr_nonnull(bad = malloc(bytes + 1));
    for (int round = 0; round < 800; round++) {
        bn_vtk_image back;
        memcpy(bad, good, bytes + 1);
        size_t left = bytes;
        for (unsigned k = 1 + next_random(&random) % 3; k > 0 && left > 0; k--)
            left = damage(bad, left, &random);
        FILE *f = fopen(in_folder(files[_i].to), "wb");
        ck_assert_ptr_nonnull(f);
        ck_assert_uint_eq(fwrite(bad, 1, left, f), left);
        ck_assert_int_eq(fclose(f), 0);
        const bn_status st = bn_vtk_read(ctx, in_folder(files[_i].to), NULL, &back);
        if (st == BN_OK) {
            accepted++;
            bn_vtk_free(&back);
            continue;
        }
        refused++;
        ck_assert_int_eq(st, BN_IO);
        ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), files[_i].to));
        bn_error_clear(ctx);
    }
    ck_assert_uint_eq(refused + accepted, 800);
    ck_assert_uint_gt(refused, files[_i].from ? 100 : 400);
    free(bad);
    free(good);
    release_image(arrays);
}

TEST(hexagons_are_regular_and_share_their_corners)
{
    const double d = 0.5, row = d * sqrt(0.75), radius = d / sqrt(3);
    const bn_vtk_image image = {
        .dims = 3, .n = { 5, 4, 2 }, .h = { d, row, 3 }, .origin = { 1, 2, 7 }, .hexagons = true
    };
    const size_t points = bn_vtk_hexagon_points(&image), cells = 5 * 4 * 2;
    ck_assert_uint_eq(points, 12 * 5 * 2);
    double *x = malloc(3 * points * sizeof *x);
    int32_t *corners = malloc(6 * cells * sizeof *corners);
    ck_assert(x && corners);
    bn_vtk_hexagons(&image, x, corners);
    for (size_t at = 0; at < cells; at++) {
        const size_t i = at % 5, j = at / 5 % 4, k = at / 20;
        const double middle[3] = { 1 + ((double)i + (j % 2 ? 1 : 0.5)) * d, 2 + ((double)j + 0.5) * row,
                                   7 + 3 * (double)k };
        double turned = 0;
        for (size_t c = 0; c < 6; c++) {
            const int32_t a = corners[6 * at + c], b = corners[6 * at + (c + 1) % 6];
            ck_assert(a >= 0 && (size_t)a < points);
            const double ax = (double)x[a] - middle[0], ay = (double)x[(size_t)a + points] - middle[1];
            const double bx = (double)x[b] - middle[0], by = (double)x[(size_t)b + points] - middle[1];
            near(hypot(ax, ay), radius, 1e-6, "corners of a regular hexagon");
            near(hypot(ax - bx, ay - by), radius, 1e-6, "its edges");
            near((double)x[(size_t)a + 2 * points], middle[2], 1e-6, "its layer");
            turned += ax * by - ay * bx;
        }
        near(0.5 * turned, d * row, 1e-6, "area, counter-clockwise");
    }
    ck_assert_int_eq(corners[6 * 0 + 2], corners[6 * 1 + 0]); /* the next cell of the row */
    ck_assert_int_eq(corners[6 * 0 + 4], corners[6 * 5 + 0]); /* the cell to the north-east */
    double values[5 * 4 * 2];
    for (size_t i = 0; i < cells; i++)
        values[i] = (double)(i * i);
    const bn_vtk_array a = { .name = "a", .type = "Float64", .components = 1, .data = values };
    bn_vtk_image written = image, back;
    written.arrays = &a;
    written.count = 1;
    ck_assert_int_eq(bn_vtk_write(ctx, in_folder("hexagons.vtu"), &written), BN_OK);
    ck_assert_msg(bn_vtk_read(ctx, in_folder("hexagons.vtu"), NULL, &back) == BN_OK, "%s", bn_error_text(ctx));
    ck_assert(back.hexagons && back.n[0] == 5 && back.n[1] == 4 && back.n[2] == 2 && back.count == 1);
    for (int k = 0; k < 2; k++) {
        near(back.origin[k], image.origin[k], 1e-6, "corner of the first hexagon");
        near(back.h[k], image.h[k], 1e-6, "from hexagon to hexagon");
    }
    for (size_t i = 0; i < cells; i++)
        near(bn_vtk_value(&back.arrays[0], i), values[i], 0, "value of a hexagon");
    bn_vtk_free(&back);
    ck_assert_int_eq(remove(in_folder("hexagons.vtu")), 0);
    free(x);
    free(corners);
}

int main(void) { return bn_test_main("vtk", open_folder, close_folder); }
