/* vtk_read.c: images from VTK's files. Why not by VTK: its package for readers alone brings some sixty others; why not
 * by HDF5: what other programs hand over are .vti, .vtu and .vtk. So the formats are read here, in all encodings that
 * VTK's own writers make (text; base64 inline and appended; raw appended; plain or in zlib blocks; heads of 32 and 64
 * bits; both byte orders; all types of numbers), as far as they hold what an image can be made of: ImageData, data of
 * the points of a RectilinearGrid, and meshes whose cells fill a lattice. LZ4 and LZMA are refused by name.
 * tests/data/vtk has files that VTK wrote. */
#include "io/vtk_grid.h"

#include "io/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool bn_vtk_is_image(const char *path)
{
    return bn_path_ends(path, ".vti") || bn_path_ends(path, ".pvti") || bn_path_ends(path, ".vtr") ||
           bn_path_ends(path, ".pvtr") || bn_path_ends(path, ".vtu") || bn_path_ends(path, ".vtk");
}

/* Cells or points: those that have the array; else cells, if they have any. */
static int kind_of(const bn_vtk_grid *g, const char *field)
{
    for (int kind = 0; kind < 2 && field; kind++)
        for (size_t i = 0; i < g->data[kind].count; i++)
            if (strcmp(g->data[kind].items[i].name, field) == 0)
                return kind;
    return g->data[BN_VTK_CELLS].count > 0 ? BN_VTK_CELLS : BN_VTK_POINTS;
}

bool bn_vtk_places_rise(const double *place, size_t count)
{
    bool good = count > 0 && isfinite(place[0]);
    for (size_t i = 1; good && i < count; i++)
        good = isfinite(place[i]) && place[i] > place[i - 1];
    return good;
}

/* Places along the axes; origin and mean spacing from them. */
static bn_status take_places(bn_context *ctx, const char *path, const bn_vtk_grid *g, bn_vtk_image *image)
{
    for (int d = 0; d < 3; d++) {
        const size_t n = (size_t)g->extent[d] + 1;
        double *at = malloc(n * sizeof *at);
        if (!at)
            return bn_fail(ctx, BN_MEMORY, "cannot read %s: out of memory", path);
        for (size_t i = 0; i < n; i++)
            at[i] = bn_vtk_value(&g->line[d], i);
        image->place[d] = at;
        if (!image->nodes)
            return bn_fail(ctx, BN_IO, "cannot read %s: of a RectilinearGrid data of points are read, not of cells",
                           path);
        if (!bn_vtk_places_rise(at, n))
            return bn_fail(ctx, BN_IO, "cannot read %s: its coordinates do not rise along %c", path, "xyz"[d]);
        image->origin[d] = at[0];
        image->h[d] = n > 1 ? (at[n - 1] - at[0]) / (double)(n - 1) : 1;
    }
    return BN_OK;
}

/* Axes of extent 0 at the end are not counted as dimensions; of negative places the origin has the difference. */
static bn_status make_image(bn_context *ctx, const char *path, bn_vtk_grid *g, int kind, bn_vtk_image *image)
{
    image->nodes = kind == BN_VTK_POINTS;
    image->hexagons = g->hexagons;
    image->dims = g->extent[2] ? 3 : g->extent[1] ? 2 : 1;
    for (int d = 0; d < 3; d++) {
        const bool flat = d >= image->dims || g->extent[d] == 0;
        image->n[d] = flat ? 1 : g->extent[d] + (image->nodes ? 1 : 0);
        image->first[d] = g->first[d] > 0 ? (uint32_t)g->first[d] : 0;
        image->origin[d] = g->origin[d] + (g->first[d] < 0 ? (double)g->first[d] * g->h[d] : 0);
        image->h[d] = g->h[d];
        if (!flat && !g->uneven && !(image->origin[d] + image->n[d] * image->h[d] > image->origin[d]))
            return bn_fail(
                ctx, BN_IO,
                "cannot read %s: at %g cells of %g cannot be told apart; give Origin and Spacing of one scale", path,
                image->origin[d], image->h[d]);
    }
    if (g->uneven)
        BN_TRY(take_places(ctx, path, g, image));
    for (size_t i = 0; i < g->data[kind].count; i++) {
        bn_vtk_array *a = &g->data[kind].items[i];
        const size_t components = (size_t)a->components, size = bn_vtk_type_bytes(a->type), tuples = g->tuples[kind];
        if (components == 1)
            continue;
        unsigned char *planes = malloc(tuples * components * size);
        if (!planes)
            return bn_fail(ctx, BN_MEMORY, "cannot read %s: out of memory", path);
        bn_vtk_separate(a->data, planes, tuples, components, size, 0, tuples * components);
        free((void *)a->data);
        a->data = planes;
    }
    image->time = g->time;
    image->title = g->title;
    image->arrays = g->data[kind].items;
    image->count = g->data[kind].count;
    g->title = NULL;
    g->data[kind] = (bn_vtk_arrays){ 0 };
    return BN_OK;
}

bn_status bn_vtk_read(bn_context *ctx, const char *path, const char *field, bn_vtk_image *out)
{
    bn_vtk_grid g = { 0 };
    const char *why = NULL;
    *out = (bn_vtk_image){ 0 };
    bn_status st = bn_path_ends(path, ".vtk") ? bn_vtk_legacy_read(ctx, path, &g) : bn_vtk_xml_read(ctx, path, &g);
    const int kind = kind_of(&g, field);
    if (st == BN_OK && g.mesh && (why = bn_vtk_lattice(&g, kind)))
        st = bn_fail(ctx, why == bn_vtk_no_memory ? BN_MEMORY : BN_IO, "cannot read %s as an image: %s", path, why);
    if (st == BN_OK && (st = make_image(ctx, path, &g, kind, out)) != BN_OK)
        bn_vtk_free(out);
    bn_vtk_grid_free(&g);
    return st;
}

void bn_vtk_free(bn_vtk_image *image)
{
    bn_vtk_array *arrays = (bn_vtk_array *)image->arrays;
    for (size_t i = 0; i < image->count; i++)
        bn_vtk_array_free(&arrays[i]);
    free(arrays);
    for (int d = 0; d < 3; d++)
        free((double *)image->place[d]);
    free((char *)image->title);
    *image = (bn_vtk_image){ 0 };
}
