/* volume.c: volumes by the kind of their file; from VTK's images. */
#include "io/volume.h"

#include "io/file.h"
#include "io/vtk.h"

#include <stdlib.h>
#include <string.h>

bn_status bn_volume_create(bn_context *ctx, const char *path, const uint32_t n[3], bn_volume *out)
{
    *out = (bn_volume){ .n = { n[0], n[1], n[2] } };
    uint64_t points = n[0];
    for (int d = 1; d < 3; d++)
        if (__builtin_mul_overflow(points, (uint64_t)n[d], &points) || points > BN_VOLUME_POINTS)
            points = (uint64_t)BN_VOLUME_POINTS + 1;
    if (points == 0 || points > BN_VOLUME_POINTS)
        return bn_fail(ctx, BN_IO, "cannot read %s: %u x %u x %u values are none, or more than 2^30", path, n[0], n[1],
                       n[2]);
    if (!(out->values = calloc(points, sizeof *out->values)))
        return bn_fail(ctx, BN_MEMORY, "no memory for the %llu values of %s", (unsigned long long)points, path);
    return BN_OK;
}

void bn_volume_free(bn_volume *v)
{
    free(v->values);
    *v = (bn_volume){ 0 };
}

static bn_status read_vtk(bn_context *ctx, const char *path, const char *name, bn_volume *out)
{
    bn_vtk_image image;
    BN_TRY(bn_vtk_read(ctx, path, name, &image));
    bn_status st = BN_OK;
    const bn_vtk_array *found = NULL;
    size_t fitting = 0;
    if (image.hexagons || image.place[0]) {
        const char *why = image.hexagons ? "hexagons are no grid of rows and columns"
                                         : "its spacings differ along an axis; numbers on equal ones are needed";
        bn_vtk_free(&image);
        return bn_fail(ctx, BN_IO, "cannot read %s: %s", path, why);
    }
    for (size_t i = 0; i < image.count; i++)
        if (name[0] ? strcmp(image.arrays[i].name, name) == 0 : image.arrays[i].components == 1) {
            found = &image.arrays[i];
            fitting++;
        }
    if (fitting != 1 || found->components != 1)
        st = bn_fail(ctx, BN_IO, "cannot read %s: %s array of one component%s%s", path,
                     fitting > 1 ? "more than one" : "no", name[0] ? " called " : "; name it", name);
    if (st == BN_OK)
        st = bn_volume_create(ctx, path, image.n, out);
    for (size_t i = 0; st == BN_OK && i < (size_t)image.n[0] * image.n[1] * image.n[2]; i++)
        out->values[i] = bn_vtk_value(found, i);
    memcpy(out->h, image.h, sizeof out->h);
    bn_vtk_free(&image);
    return st;
}

bn_status bn_volume_read(bn_context *ctx, const char *path, const char *name, bn_volume *out)
{
    *out = (bn_volume){ .values = NULL };
    bn_status st;
    if (bn_vtk_is_image(path))
        st = read_vtk(ctx, path, name, out);
    else if (bn_path_ends(path, ".tif") || bn_path_ends(path, ".tiff"))
        st = bn_tiff_read(ctx, path, out);
    else if (bn_path_ends(path, ".h5") || bn_path_ends(path, ".hdf5"))
        st = bn_hdf5_read(ctx, path, name, out);
    else
        return bn_fail(ctx, BN_IO,
                       "cannot read %s: its name ends neither in .vti, .pvti, .vtu, .vtk, .tif, .tiff nor .h5, .hdf5",
                       path);
    if (st != BN_OK)
        bn_volume_free(out);
    return st;
}
