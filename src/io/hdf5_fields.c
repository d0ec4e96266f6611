/* hdf5_fields.c: the meshes of an openPMD file as an image (field_file.h). */
#include "io/field_file.h"
#include "io/file.h"
#include "io/hdf5_parts.h"
#include "io/volume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARRAYS = 64, NAME_BYTES = BN_HDF5_NAME };

typedef struct meshes {
    bn_context *ctx;
    const char *path;
    bn_vtk_image *image;
    bn_vtk_array *arrays;
    bn_status status;
} meshes;

static bool is_set(hid_t group, const char *name)
{
    const hid_t at = H5Oopen(group, name, H5P_DEFAULT);
    const bool set = at >= 0 && H5Iget_type(at) == H5I_DATASET;
    H5Oclose(at);
    return set;
}

/* Grid of the first record; whether that of another is the same. openPMD lists axes slowest first. */
static bool take_grid(meshes *m, hid_t record, hid_t set)
{
    hsize_t size[3] = { 1, 1, 1 };
    double spacing[3] = { 1, 1, 1 }, offset[3] = { 0 }, place[3] = { 0 };
    bn_vtk_image g = { .n = { 1, 1, 1 }, .h = { 1, 1, 1 } };
    const hid_t space = H5Dget_space(set);
    g.dims = H5Sget_simple_extent_ndims(space);
    const bool fits = g.dims >= 1 && g.dims <= 3 && H5Sget_simple_extent_dims(space, size, NULL) >= 0;
    H5Sclose(space);
    if (!fits)
        return false;
    (void)bn_hdf5_numbers(record, "gridSpacing", spacing, 3);
    (void)bn_hdf5_numbers(record, "gridGlobalOffset", offset, 3);
    (void)bn_hdf5_numbers(set, "position", place, 3);
    uint64_t values = 1;
    for (int d = 0; d < g.dims; d++) {
        const int from = g.dims - 1 - d;
        if (size[from] == 0 || size[from] > BN_VOLUME_POINTS || (values *= size[from]) > BN_VOLUME_POINTS)
            return false;
        g.n[d] = (uint32_t)size[from];
        g.h[d] = spacing[from];
        g.origin[d] = offset[from];
        g.nodes = !(place[from] > 0.25); /* 0.5: in the middle of a cell */
    }
    if (m->image->count == 0) {
        g.time = m->image->time;
        g.arrays = m->arrays;
        *m->image = g;
        return true;
    }
    return memcmp(g.n, m->image->n, sizeof g.n) == 0 && g.nodes == m->image->nodes;
}

/* Components of a record, which are datasets in one group, or one dataset. */
static void add_record(meshes *m, hid_t group, const char *name)
{
    static const char *const components[] = { "x", "y", "z", "real", "imag", "c0", "c1", "c2", "c3", "c4", "c5" };
    char unit[64] = "", part[11][2 * NAME_BYTES];
    size_t count = 0, points;
    hid_t sets[11];
    const hid_t record = H5Oopen(group, name, H5P_DEFAULT);
    if (is_set(group, name)) {
        sets[count++] = H5Dopen(group, name, H5P_DEFAULT);
    } else {
        for (size_t i = 0; i < sizeof components / sizeof *components; i++) {
            snprintf(part[i], sizeof part[i], "%.200s/%s", name, components[i]);
            if (H5Lexists(group, part[i], H5P_DEFAULT) > 0)
                sets[count++] = H5Dopen(group, part[i], H5P_DEFAULT);
        }
    }
    bool good = count > 0 && record >= 0;
    for (size_t i = 0; i < count && good; i++)
        good = sets[i] >= 0 && take_grid(m, record, sets[i]);
    points = (size_t)m->image->n[0] * m->image->n[1] * m->image->n[2];
    double *values = good ? malloc(count * points * sizeof *values) : NULL;
    bn_vtk_array a = { .type = "Float64", .components = (int)count, .data = values };
    if (good) {
        bn_hdf5_text(sets[0], "unitName", unit, sizeof unit);
        a.name = strdup(name);
        a.unit = strdup(strcmp(unit, "1") == 0 ? "" : unit);
        if (!values || !a.name || !a.unit)
            m->status = bn_fail(m->ctx, BN_MEMORY, "no memory for %s of %s", name, m->path);
    }
    for (size_t i = 0; i < count; i++) {
        double si = 1;
        (void)bn_hdf5_numbers(sets[i], "unitSI", &si, 1);
        if (good && m->status == BN_OK &&
            H5Dread(sets[i], H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values + i * points) < 0)
            m->status = bn_fail(m->ctx, BN_IO, "cannot read %s: the numbers of %s; the file is damaged or cut short",
                                m->path, name);
        for (size_t k = 0; good && m->status == BN_OK && k < points; k++)
            values[i * points + k] *= si;
        if (sets[i] >= 0)
            H5Dclose(sets[i]);
    }
    if (record >= 0)
        H5Oclose(record);
    if (good && m->status == BN_OK) {
        m->arrays[m->image->count++] = a;
        return;
    }
    free(values);
    free((char *)a.name);
    free((char *)a.unit);
}

/* Places along axes whose spacings differ: coordinates/x and so on. */
static bn_status take_places(bn_context *ctx, const char *path, hid_t iteration, bn_vtk_image *image)
{
    static const char *const names[] = { "x", "y", "z" };
    const hid_t group = H5Gopen(iteration, "coordinates", H5P_DEFAULT);
    bn_status st = BN_OK;
    for (int d = 0; group >= 0 && d < image->dims && st == BN_OK; d++) {
        if (!is_set(group, names[d]))
            continue;
        const hid_t set = H5Dopen(group, names[d], H5P_DEFAULT), space = H5Dget_space(set);
        double *at = H5Sget_simple_extent_npoints(space) == (hssize_t)image->n[d] && image->nodes
                         ? malloc(image->n[d] * sizeof *at)
                         : NULL;
        const bool good = at && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, at) >= 0;
        H5Sclose(space);
        H5Dclose(set);
        if (good && bn_vtk_places_rise(at, image->n[d])) {
            image->place[d] = at;
        } else {
            free(at);
            st = bn_fail(ctx, BN_IO, "cannot read %s: its coordinates along %s are not those of its nodes", path,
                         names[d]);
        }
    }
    if (group >= 0)
        H5Gclose(group);
    return st;
}

static herr_t each_record(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    meshes *m = user;
    (void)info;
    if (m->image->count < ARRAYS)
        add_record(m, group, name);
    return m->status == BN_OK ? 0 : 1;
}

static bn_status read_fields(bn_context *ctx, const char *path, bn_vtk_image *out)
{
    char step[NAME_BYTES] = "", place[2 * NAME_BYTES];
    H5Eset_auto(H5E_DEFAULT, NULL, NULL);
    BN_TRY(bn_file_check(ctx, path));
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return bn_fail(ctx, BN_IO, "cannot read %s: damaged, cut short, or no HDF5", path);
    meshes m = { ctx, path, out, calloc(ARRAYS, sizeof *m.arrays), BN_OK };
    const hid_t data = H5Gopen(file, "/data", H5P_DEFAULT);
    if (data >= 0)
        bn_hdf5_first(data, step);
    snprintf(place, sizeof place, "/data/%s", step);
    const hid_t iteration = step[0] ? H5Gopen(file, place, H5P_DEFAULT) : -1;
    const hid_t fields = iteration >= 0 ? H5Gopen(iteration, "fields", H5P_DEFAULT) : -1;
    out->arrays = m.arrays;
    if (!m.arrays) {
        m.status = bn_fail(ctx, BN_MEMORY, "no memory for the fields of %s", path);
    } else if (fields >= 0) {
        (void)bn_hdf5_numbers(iteration, "time", &out->time, 1);
        H5Literate(fields, H5_INDEX_NAME, H5_ITER_INC, NULL, each_record, &m);
    }
    if (m.status == BN_OK && out->count > 0)
        m.status = take_places(ctx, path, iteration, out);
    if (m.status == BN_OK && out->count == 0)
        m.status = bn_fail(ctx, BN_IO, "cannot read %s: no meshes after openPMD in it", path);
    H5Gclose(fields);
    H5Gclose(iteration);
    H5Gclose(data);
    H5Fclose(file);
    if (m.status != BN_OK)
        bn_vtk_free(out);
    return m.status;
}

bn_status bn_hdf5_fields(bn_context *ctx, const char *path, bn_vtk_image *out)
{
    bool crashed;
    *out = (bn_vtk_image){ 0 };
    if (bn_hdf5_rehearse(&crashed)) {
        (void)read_fields(ctx, path, out);
        _exit(EXIT_SUCCESS);
    }
    return crashed ? bn_hdf5_crashed(ctx, path) : read_fields(ctx, path, out);
}
