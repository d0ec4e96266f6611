/* test_pieces.c: a field in pieces, each in a file of its own: VTK images and HDF5, read back as one. That VTK itself
 * opens them is for tests/cli/many_devices.sh. */
#include "io/field_file.h"
#include "io/file.h"
#include "io/volume.h"
#include "io/vtk.h"
#include "support_case.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NX = 13, NY = 9, NZ = 4, POINTS = NX * NY * NZ, PIECES = 4 };

static float value(size_t i, size_t j, size_t k, size_t c)
{
    return (float)(i + 100 * j + 10000 * k) + 0.25f * (float)c;
}

/* Components in planes, of the points [first, first + n). */
static float *block(const uint32_t first[3], const uint32_t n[3], int components)
{
    const size_t points = (size_t)n[0] * n[1] * n[2];
    float *values = malloc(points * (size_t)components * sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (size_t at = 0; at < points * (size_t)components; at++)
        values[at] = value(first[0] + at % n[0], first[1] + at / n[0] % n[1], first[2] + at / n[0] / n[1] % n[2],
                           at / points);
    return values;
}

static const uint32_t whole_n[3] = { NX, NY, NZ }, zero[3] = { 0 };
/* Cut at x = 6 and y = 4; the pieces as they are without what they share. */
static const uint32_t first[PIECES][3] = { { 0, 0, 0 }, { 6, 0, 0 }, { 0, 4, 0 }, { 6, 4, 0 } };
static const uint32_t own[PIECES][3] = { { 6, 4, NZ }, { 7, 4, NZ }, { 6, 5, NZ }, { 7, 5, NZ } };

static void size_of(int piece, bool nodes, uint32_t n[3])
{
    for (int d = 0; d < 3; d++)
        n[d] = own[piece][d] + (nodes && first[piece][d] + own[piece][d] < whole_n[d]);
}

static bn_vtk_image image_of(bool nodes, const uint32_t from[3], const uint32_t n[3], bn_vtk_array *arrays)
{
    return (bn_vtk_image){ .dims = 3,
                           .n = { n[0], n[1], n[2] },
                           .first = { from[0], from[1], from[2] },
                           .origin = { 0.5, -1, 2 },
                           .h = { 0.1, 0.2, 0.3 },
                           .nodes = nodes,
                           .time = 1.5,
                           .arrays = arrays,
                           .count = 2,
                           .title = "in pieces" };
}

static void write_pieces(bool nodes)
{
    static const char *const names[PIECES] = { "p0.vti", "p1.vti", "p2.vti", "p3.vti" };
    bn_vtk_piece list[PIECES];
    bn_vtk_array arrays[2] = { { "a", "m", "Float32", 1, NULL }, { "v", "m s-1", "Float32", 3, NULL } };
    for (int p = 0; p < PIECES; p++) {
        uint32_t n[3];
        size_of(p, nodes, n);
        arrays[0].data = block(first[p], n, 1);
        arrays[1].data = block(first[p], n, 3);
        const bn_vtk_image image = image_of(nodes, first[p], n, arrays);
        OK(bn_vtk_write(ctx, in_folder(names[p]), &image));
        free((void *)arrays[0].data);
        free((void *)arrays[1].data);
        list[p] = (bn_vtk_piece){ names[p], { first[p][0], first[p][1], first[p][2] }, { n[0], n[1], n[2] } };
    }
    const bn_vtk_image whole = image_of(nodes, zero, whole_n, arrays);
    OK(bn_vtk_pieces_write(ctx, in_folder("all.pvti"), &whole, list, PIECES));
}

static void expect_whole(const bn_vtk_array *a, int components)
{
    ck_assert_int_eq(a->components, components);
    float *want = block(zero, whole_n, components);
    ck_assert(memcmp(a->data, want, POINTS * (size_t)components * sizeof *want) == 0);
    free(want);
}

TEST(vtk_pieces_are_read_as_one)
{
    for (int nodes = 0; nodes < 2; nodes++) {
        bn_vtk_image image;
        write_pieces(nodes);
        OK(bn_vtk_read(ctx, in_folder("all.pvti"), NULL, &image));
        ck_assert(image.nodes == nodes);
        ck_assert_int_eq(image.dims, 3);
        ck_assert(memcmp(image.n, whole_n, sizeof image.n) == 0);
        ck_assert_uint_eq(image.count, 2);
        ck_assert_double_eq(image.time, 1.5);
        ck_assert_str_eq(image.title, "in pieces");
        ck_assert_str_eq(image.arrays[1].unit, "m s-1");
        expect_whole(&image.arrays[0], 1);
        expect_whole(&image.arrays[1], 3);
        bn_vtk_free(&image);
        bn_volume volume;
        OK(bn_volume_read(ctx, in_folder("all.pvti"), "a", &volume));
        ck_assert(memcmp(volume.n, whole_n, sizeof volume.n) == 0);
        ck_assert_double_eq(volume.values[POINTS - 1], (double)value(NX - 1, NY - 1, NZ - 1, 0));
        bn_volume_free(&volume);
        OK(bn_vtk_read(ctx, in_folder("p3.vti"), NULL, &image)); /* one alone */
        ck_assert_uint_eq(image.first[0], 6);
        ck_assert_uint_eq(image.first[1], 4);
        bn_vtk_free(&image);
    }
}

/* Writes the list with `from` replaced by `to`, and expects the reader to refuse it with `why`. */
static void refused(const char *from, const char *to, const char *why)
{
    char *text = NULL, *changed = NULL;
    size_t bytes;
    bn_vtk_image image;
    write_pieces(true);
    OK(bn_file_read(ctx, in_folder("all.pvti"), 1 << 20, &text, &bytes));
    char *at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    ck_assert_ptr_nonnull(changed = calloc(bytes + strlen(to) + 1, 1));
    snprintf(changed, bytes + strlen(to) + 1, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    OK(bn_file_write(ctx, in_folder("all.pvti"), changed, strlen(changed)));
    ck_assert_int_eq(bn_vtk_read(ctx, in_folder("all.pvti"), NULL, &image), BN_IO);
    ck_assert_msg(strstr(bn_error_text(ctx), why) != NULL, "%s", bn_error_text(ctx));
    bn_error_clear(ctx);
    free(text);
    free(changed);
}

/* A list that names itself was read without end; one that has a piece in place of another got zeros. */
TEST(lists_that_make_no_whole_are_refused)
{
    bn_volume volume;
    refused("p0.vti", "all.pvti", "a list of pieces among the pieces");
    ck_assert_int_eq(bn_volume_read(ctx, in_folder("all.pvti"), "a", &volume), BN_IO); /* density.file */
    bn_error_clear(ctx);
    refused("Extent=\"6 12 0 4 0 3\" Source=\"p1.vti\"", "Extent=\"0 6 0 4 0 3\" Source=\"p0.vti\"", "there twice");
    refused("Extent=\"0 6 4 8 0 3\" Source=\"p2.vti\"", "Extent=\"6 12 4 8 0 3\" Source=\"p3.vti\"", "there twice");
    refused("Origin=\"0.5 ", "Origin=\"1e300 ", "cannot be told apart");
}

TEST(damaged_lists_are_refused)
{
    bn_vtk_image image;
    refused("p2.vti", "p1.vti", "not the piece");
    refused("p2.vti", "../p2.vti", "no file beside it");
    refused("WholeExtent=\"0 12 0 8 0 3\"", "WholeExtent=\"0 2000000 0 2000000 0 2000\"", "not the whole");
    refused("Extent=\"0 6 4 8 0 3\"", "Extent=\"0 6 5 9 0 3\"", "not the piece");
    refused("Extent=\"0 6 4 8 0 3\"", "Extent=\"0 6 x 8 0 3\"", "is none");
    refused("PImageData\" version", "PStructuredGrid\" version", "type is");
    refused("PImageData\" version", "PRectilinearGrid\" version", "no coordinates");
    write_pieces(true);
    ck_assert_int_eq(remove(in_folder("p2.vti")), 0);
    ck_assert_int_eq(bn_vtk_read(ctx, in_folder("all.pvti"), NULL, &image), BN_IO);
    ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), "p2.vti"));
}

/* Storeys of hexagons: the cells of a piece that begins in an odd row have the corners that they have in the whole. */
TEST(pieces_of_hexagons_fit_together)
{
    const bn_vtk_image whole = {
        .dims = 3, .n = { 5, 6, 2 }, .h = { 1, 0.8, 3 }, .origin = { 10, 20, 30 }, .hexagons = true
    };
    const bn_vtk_image piece = { .dims = 3,
                                 .n = { 3, 3, 1 },
                                 .first = { 2, 3, 1 },
                                 .h = { 1, 0.8, 3 },
                                 .origin = { 10, 20, 30 },
                                 .hexagons = true };
    const size_t all = bn_vtk_hexagon_points(&whole), some = bn_vtk_hexagon_points(&piece);
    double *places = malloc(3 * all * sizeof *places), *part = malloc(3 * some * sizeof *part);
    int32_t corners[6 * 60], own_corners[6 * 9];
    bn_vtk_hexagons(&whole, places, corners);
    bn_vtk_hexagons(&piece, part, own_corners);
    for (size_t c = 0; c < 9; c++) {
        const size_t i = 2 + c % 3, j = 3 + c / 3, cell = (6 + j) * 5 + i;
        for (size_t k = 0; k < 6; k++)
            for (size_t d = 0; d < 3; d++)
                ck_assert_double_eq_tol(part[(size_t)own_corners[6 * c + k] + d * some],
                                        places[(size_t)corners[6 * cell + k] + d * all], 1e-12);
    }
    free(places);
    free(part);
}

TEST(hdf5_finds_the_values_of_pieces)
{
    static const char *const names[PIECES] = { "p0.h5", "p1.h5", "p2.h5", "p3.h5" };
    bn_mesh_piece list[PIECES];
    bn_mesh_array arrays[2] = { { .name = "a", .unit = "m", .components = 1 },
                                { .name = "v", .unit = "m s-1", .components = 3 } };
    bn_mesh mesh = { .dims = 3,
                     .h = { 1, 1, 1 },
                     .nodes = true,
                     .step = 12,
                     .arrays = arrays,
                     .count = 2,
                     .software = "test",
                     .version = "0" };
    for (int p = 0; p < PIECES; p++) {
        size_of(p, true, mesh.n);
        arrays[0].values = block(first[p], mesh.n, 1);
        arrays[1].values = block(first[p], mesh.n, 3);
        OK(bn_hdf5_write(ctx, in_folder(names[p]), &mesh));
        free((void *)arrays[0].values);
        free((void *)arrays[1].values);
        list[p] = (bn_mesh_piece){ .file = names[p] };
        memcpy(list[p].first, first[p], sizeof list[p].first);
        memcpy(list[p].n, own[p], sizeof list[p].n);
        memcpy(list[p].size, mesh.n, sizeof list[p].size);
    }
    memcpy(mesh.n, whole_n, sizeof mesh.n);
    mesh.pieces = list;
    mesh.piece_count = PIECES;
    arrays[0].values = arrays[1].values = NULL;
    OK(bn_hdf5_write(ctx, in_folder("all.h5"), &mesh));
    static const char *const sets[] = { "a", "v/x", "v/z" };
    static const size_t component[] = { 0, 0, 2 };
    for (int s = 0; s < 3; s++) {
        bn_volume volume;
        char name[64];
        snprintf(name, sizeof name, "/data/12/fields/%s", sets[s]);
        OK(bn_hdf5_read(ctx, in_folder("all.h5"), name, &volume));
        ck_assert(memcmp(volume.n, whole_n, sizeof volume.n) == 0);
        for (size_t at = 0; at < POINTS; at++)
            ck_assert_double_eq(volume.values[at], (double)value(at % NX, at / NX % NY, at / NX / NY, component[s]));
        bn_volume_free(&volume);
    }
}

/* Nodes that lie ever further apart, of files of VTK and HDF5, whole and in pieces. */
static double uneven[3][NX];

static void expect_places(const bn_vtk_image *image)
{
    for (int d = 0; d < 3; d++) {
        ck_assert_ptr_nonnull(image->place[d]);
        ck_assert(memcmp(image->place[d], uneven[d], image->n[d] * sizeof(double)) == 0);
        ck_assert_double_eq(image->origin[d], uneven[d][0]);
    }
    ck_assert(memcmp(image->n, whole_n, sizeof image->n) == 0);
}

TEST(uneven_places_are_read_back)
{
    static const char *const names[PIECES] = { "p0.vtr", "p1.vtr", "p2.vtr", "p3.vtr" };
    bn_vtk_piece list[PIECES];
    bn_vtk_array arrays[2] = { { "a", "m", "Float32", 1, NULL }, { "v", "m s-1", "Float32", 3, NULL } };
    bn_vtk_image image;
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < NX; i++)
            uneven[d][i] = d + 0.1 * i + 0.01 * (d + 1) * i * i;
    for (int p = 0; p <= PIECES; p++) { /* the last one: all of it */
        uint32_t n[3];
        const bool all = p == PIECES;
        memcpy(n, whole_n, sizeof n);
        if (!all)
            size_of(p, true, n);
        arrays[0].data = block(all ? zero : first[p], n, 1);
        arrays[1].data = block(all ? zero : first[p], n, 3);
        image = image_of(true, all ? zero : first[p], n, arrays);
        for (int d = 0; d < 3; d++)
            image.place[d] = uneven[d];
        OK(bn_vtk_write(ctx, in_folder(all ? "whole.vtr" : names[p]), &image));
        if (all) {
            OK(bn_vtk_pieces_write(ctx, in_folder("all.pvtr"), &image, list, PIECES));
            bn_mesh_array values = { .name = "a", .unit = "m", .components = 1, .values = arrays[0].data };
            OK(bn_hdf5_write(ctx, in_folder("whole.h5"),
                             &(bn_mesh){ .dims = 3,
                                         .n = { NX, NY, NZ },
                                         .origin = { uneven[0][0], uneven[1][0], uneven[2][0] },
                                         .h = { 1, 1, 1 },
                                         .place = { uneven[0], uneven[1], uneven[2] },
                                         .nodes = true,
                                         .arrays = &values,
                                         .count = 1,
                                         .software = "test",
                                         .version = "0" }));
        } else {
            list[p] = (bn_vtk_piece){ names[p], { first[p][0], first[p][1], first[p][2] }, { n[0], n[1], n[2] } };
        }
        free((void *)arrays[0].data);
        free((void *)arrays[1].data);
    }
    static const char *const files[] = { "whole.vtr", "all.pvtr", "whole.h5" };
    for (int k = 0; k < 3; k++) {
        OK(bn_field_file_read(ctx, in_folder(files[k]), NULL, 0, &image));
        expect_places(&image);
        ck_assert_uint_eq(image.count, k == 2 ? 1 : 2);
        for (size_t at = 0; at < POINTS; at++)
            ck_assert_double_eq(bn_vtk_value(&image.arrays[0], at),
                                (double)value(at % NX, at / NX % NY, at / NX / NY, 0));
        bn_vtk_free(&image);
    }
    OK(bn_vtk_read(ctx, in_folder("p3.vtr"), NULL, &image)); /* one alone has its own places */
    ck_assert_double_eq(image.place[0][0], uneven[0][first[3][0]]);
    bn_vtk_free(&image);
    bn_volume volume;
    ck_assert_int_eq(bn_volume_read(ctx, in_folder("whole.vtr"), "a", &volume), BN_IO);
    ck_assert_msg(strstr(bn_error_text(ctx), "spacings differ") != NULL, "%s", bn_error_text(ctx));
    bn_error_clear(ctx);
    uneven[0][5] = uneven[0][6];
    arrays[0].data = block(zero, whole_n, 1);
    image = image_of(true, zero, whole_n, arrays);
    image.count = 1;
    for (int d = 0; d < 3; d++)
        image.place[d] = uneven[d];
    OK(bn_vtk_write(ctx, in_folder("whole.vtr"), &image));
    free((void *)arrays[0].data);
    ck_assert_int_eq(bn_vtk_read(ctx, in_folder("whole.vtr"), NULL, &image), BN_IO);
    ck_assert_msg(strstr(bn_error_text(ctx), "do not rise along x") != NULL, "%s", bn_error_text(ctx));
    bn_error_clear(ctx);
}

int main(void) { return bn_test_main("pieces", open_folder, close_folder); }
