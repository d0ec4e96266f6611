/* hdf5_file.c: HDF5 files of meshes after the openPMD standard 1.1.0 (https://openpmd.org), and plain datasets. */
#include "io/volume.h"

#include "io/file.h"
#include "io/hdf5_parts.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NAME_BYTES = BN_HDF5_NAME };

/* --- attributes --- */

static bool has(hid_t at, const char *name) { return H5Aexists(at, name) > 0; }

void bn_hdf5_text(hid_t at, const char *name, char *text, size_t room)
{
    text[0] = '\0';
    if (!has(at, name))
        return;
    const hid_t a = H5Aopen(at, name, H5P_DEFAULT), type = H5Aget_type(a), space = H5Aget_space(a);
    if (H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1) {
        if (H5Tis_variable_str(type) > 0) {
            char *own = NULL;
            if (H5Aread(a, type, &own) >= 0 && own)
                snprintf(text, room, "%s", own);
            free(own);
        } else if (H5Tget_size(type) < room) {
            if (H5Aread(a, type, text) < 0)
                text[0] = '\0';
            else
                text[H5Tget_size(type)] = '\0';
        }
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(a);
}

int bn_hdf5_numbers(hid_t at, const char *name, double *v, int most)
{
    if (!has(at, name))
        return 0;
    const hid_t a = H5Aopen(at, name, H5P_DEFAULT), space = H5Aget_space(a);
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    const bool good = n >= 1 && n <= most && H5Aread(a, H5T_NATIVE_DOUBLE, v) >= 0;
    H5Sclose(space);
    H5Aclose(a);
    return good ? (int)n : 0;
}

/* The axis labels of a mesh as one text, "zyx"; "" when there are none or they are long words. */
static void get_labels(hid_t at, char labels[4])
{
    labels[0] = '\0';
    if (!has(at, "axisLabels"))
        return;
    const hid_t a = H5Aopen(at, "axisLabels", H5P_DEFAULT), type = H5Aget_type(a), space = H5Aget_space(a);
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    const size_t size = H5Tget_size(type);
    if (n == 3 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0) {
        char *word[3] = { NULL };
        if (H5Aread(a, type, word) >= 0)
            for (int i = 0; i < 3; i++)
                labels[i] = word[i] ? word[i][0] : '\0';
        for (int i = 0; i < 3; i++)
            free(word[i]);
    } else if (n == 3 && H5Tget_class(type) == H5T_STRING && size <= 16) {
        char text[48];
        if (H5Aread(a, type, text) >= 0)
            for (int i = 0; i < 3; i++)
                labels[i] = text[(size_t)i * size];
    }
    labels[3] = '\0';
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(a);
}

/* --- reading --- */

#if !H5_VERSION_GE(1, 12, 0)
typedef H5O_info_t H5O_info1_t; /* HDF5 1.12 gave it this name, and another type the old one */
#endif

typedef struct search {
    char found[NAME_BYTES];
    int count, rank;
} search;

/* Datasets of three dimensions below a group: their number, and the first. */
static herr_t visit(hid_t root, const char *name, const H5O_info1_t *info, void *data)
{
    search *s = data;
    if (info->type != H5O_TYPE_DATASET)
        return 0;
    const hid_t set = H5Dopen(root, name, H5P_DEFAULT), space = H5Dget_space(set);
    if (H5Sget_simple_extent_ndims(space) == 3 && s->count++ == 0)
        snprintf(s->found, sizeof s->found, "%s", name);
    H5Sclose(space);
    H5Dclose(set);
    return 0;
}

static herr_t first_link(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    (void)group, (void)info;
    snprintf(data, BN_HDF5_NAME, "%s", name);
    return 1;
}

void bn_hdf5_first(hid_t group, char name[BN_HDF5_NAME])
{
    name[0] = '\0';
    H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, first_link, name);
}

/* The path of the dataset: `name` itself, or below the meshes of the first iteration of an openPMD file. */
static void find_set(hid_t file, const char *name, char path[2 * NAME_BYTES], int *candidates)
{
    char base[NAME_BYTES], meshes[NAME_BYTES], step[NAME_BYTES] = "";
    bn_hdf5_text(file, "basePath", base, sizeof base);
    bn_hdf5_text(file, "meshesPath", meshes, sizeof meshes);
    char *hole = strstr(base, "%T");
    snprintf(path, 2 * NAME_BYTES, "/");
    if (has(file, "openPMD") && hole && meshes[0]) {
        *hole = '\0';
        const hid_t group = H5Gopen(file, base, H5P_DEFAULT);
        if (group >= 0) {
            bn_hdf5_first(group, step);
            H5Gclose(group);
        }
        snprintf(path, 2 * NAME_BYTES, "%.100s%.50s/%.100s", base, step, meshes);
    }
    const size_t length = strlen(path);
    *candidates = 1;
    if (name[0]) {
        snprintf(path + (name[0] == '/' ? 0 : length), 2 * NAME_BYTES - length, "%s", name);
        return;
    }
    search s = { "", 0, 3 };
    const hid_t group = H5Gopen(file, path, H5P_DEFAULT);
    if (group >= 0) {
        H5Ovisit2(group, H5_INDEX_NAME, H5_ITER_INC, visit, &s, H5O_INFO_BASIC);
        H5Gclose(group);
    }
    *candidates = s.count;
    snprintf(path + length, 2 * NAME_BYTES - length, "%s%s", length > 1 && path[length - 1] != '/' ? "/" : "", s.found);
}

/* Reorders values from the order of axes of the file, the last one fastest, to x fastest. */
static void order(const double *from, const hsize_t dims[3], const char labels[4], bn_volume *out)
{
    size_t stride[3]; /* of the file's axes in the volume */
    for (int i = 0; i < 3; i++) {
        const int axis = labels[i] - 'x';
        stride[i] = axis == 0 ? 1 : axis == 1 ? out->n[0] : (size_t)out->n[0] * out->n[1];
    }
    for (hsize_t a = 0; a < dims[0]; a++)
        for (hsize_t b = 0; b < dims[1]; b++)
            for (hsize_t c = 0; c < dims[2]; c++)
                out->values[a * stride[0] + b * stride[1] + c * stride[2]] = *from++;
}

static bool permutation(const char labels[4])
{
    return strlen(labels) == 3 && strchr(labels, 'x') && strchr(labels, 'y') && strchr(labels, 'z');
}

static bn_status read_set(bn_context *ctx, const char *path, const char *where, hid_t set, bn_volume *out)
{
    bn_status st = BN_OK;
    hsize_t dims[3];
    char labels[4], data_order[16];
    double spacing[3] = { 0 }, unit = 1, grid_unit = 1, *raw = NULL;
    const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    const H5T_class_t class = H5Tget_class(type);
    const bool fits = H5Sget_simple_extent_ndims(space) == 3 && (class == H5T_FLOAT || class == H5T_INTEGER);
    if (fits)
        H5Sget_simple_extent_dims(space, dims, NULL);
    H5Sclose(space);
    H5Tclose(type);
    if (!fits)
        return bn_fail(ctx, BN_IO, "cannot read %s: %s is no array of numbers in three dimensions", path, where);
    get_labels(set, labels);
    bn_hdf5_text(set, "dataOrder", data_order, sizeof data_order);
    if (!permutation(labels))
        memcpy(labels, "zyx", 4);
    else if (data_order[0] == 'F') {
        const char last = labels[2];
        labels[2] = labels[0];
        labels[0] = last;
    }
    uint32_t n[3];
    const int gaps = bn_hdf5_numbers(set, "gridSpacing", spacing, 3);
    bn_hdf5_numbers(set, "gridUnitSI", &grid_unit, 1);
    bn_hdf5_numbers(set, "unitSI", &unit, 1);
    for (int i = 0; i < 3; i++)
        n[labels[i] - 'x'] = dims[i] > BN_VOLUME_POINTS ? 0 : (uint32_t)dims[i];
    BN_TRY(bn_volume_create(ctx, path, n, out));
    for (int i = 0; i < 3 && gaps == 3; i++)
        out->h[labels[i] - 'x'] = spacing[i] * grid_unit;
    const size_t points = (size_t)n[0] * n[1] * n[2];
    if (!(raw = malloc(points * sizeof *raw)))
        st = bn_fail(ctx, BN_MEMORY, "no memory for %s", path);
    else if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) < 0)
        st = bn_fail(ctx, BN_IO, "cannot read %s: the numbers of %s; the file is damaged or cut short", path, where);
    else
        order(raw, dims, labels, out);
    free(raw);
    for (size_t i = 0; st == BN_OK && unit != 1 && i < points; i++)
        out->values[i] *= unit;
    return st;
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
void bn_hdf5_begin(void) { pthread_mutex_lock(&turn); }
void bn_hdf5_end(void) { pthread_mutex_unlock(&turn); }

static bn_status read_volume(bn_context *ctx, const char *path, const char *name, bn_volume *out)
{
    H5Eset_auto(H5E_DEFAULT, NULL, NULL);
    BN_TRY(bn_file_check(ctx, path));
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return bn_fail(ctx, BN_IO, "cannot read %s: damaged, cut short, or no HDF5", path);
    char where[2 * NAME_BYTES];
    int candidates;
    bn_status st;
    find_set(file, name, where, &candidates);
    const hid_t set = candidates > 0 ? H5Dopen(file, where, H5P_DEFAULT) : -1;
    if (set < 0)
        st = bn_fail(ctx, BN_IO, "cannot read %s: %s%s", path,
                     candidates > 0 ? "no dataset " : "no array in three dimensions", candidates > 0 ? where : "");
    else
        st = read_set(ctx, path, where, set, out);
    if (set >= 0)
        H5Dclose(set);
    H5Fclose(file);
    if (st != BN_OK)
        bn_volume_free(out);
    return st;
}

static const int ends[] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT };
bool bn_hdf5_rehearse(bool *crashed)
{
    int end = 0;
    const pid_t child = fork();
    for (size_t i = 0; child == 0 && i < sizeof ends / sizeof *ends; i++)
        (void)signal(ends[i], SIG_DFL); /* no handler reports the crash */
    while (child > 0 && waitpid(child, &end, 0) < 0 && errno == EINTR)
        ;
    *crashed = child > 0 && !(WIFEXITED(end) && WEXITSTATUS(end) == EXIT_SUCCESS);
    return child == 0;
}

bn_status bn_hdf5_crashed(bn_context *ctx, const char *path)
{
    return bn_fail(ctx, BN_IO, "cannot read %s: the file is damaged, and HDF5 crashes over it", path);
}

bn_status bn_hdf5_read(bn_context *ctx, const char *path, const char *name, bn_volume *out)
{
    bool crashed;
    *out = (bn_volume){ .values = NULL };
    bn_hdf5_begin();
    if (bn_hdf5_rehearse(&crashed)) {
        (void)read_volume(ctx, path, name, out);
        _exit(EXIT_SUCCESS);
    }
    const bn_status st = crashed ? bn_hdf5_crashed(ctx, path) : read_volume(ctx, path, name, out);
    bn_hdf5_end();
    return st;
}

/* --- writing --- */

static void put(hid_t at, const char *name, hid_t type, const hsize_t *count, const void *value)
{
    const hid_t space = count ? H5Screate_simple(1, count, NULL) : H5Screate(H5S_SCALAR);
    const hid_t a = H5Acreate(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, type, value);
    H5Aclose(a);
    H5Sclose(space);
}

static void put_text(hid_t at, const char *name, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    put(at, name, type, NULL, text);
    H5Tclose(type);
}

static void put_labels(hid_t at, const char *name, const char *letters, hsize_t count)
{
    char text[6] = { 0 };
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 2);
    for (hsize_t i = 0; i < count; i++)
        text[2 * i] = letters[i];
    put(at, name, type, &count, text);
    H5Tclose(type);
}

static void put_numbers(hid_t at, const char *name, const double *v, hsize_t count)
{
    put(at, name, H5T_NATIVE_DOUBLE, count ? &count : NULL, v);
}

static void describe_file(hid_t file, const bn_mesh *m)
{
    const uint32_t extension = 0;
    char date[64];
    struct tm now;
    const time_t t = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S +0000", gmtime_r(&t, &now));
    put_text(file, "openPMD", "1.1.0");
    put(file, "openPMDextension", H5T_NATIVE_UINT32, NULL, &extension);
    put_text(file, "basePath", "/data/%T/");
    put_text(file, "meshesPath", "fields/");
    put_text(file, "iterationEncoding", "fileBased");
    put_text(file, "iterationFormat", "fields-%T.h5");
    put_text(file, "software", m->software);
    put_text(file, "softwareVersion", m->version);
    put_text(file, "date", date);
}

/* Powers of length, mass, time, current, temperature, amount, light of a unit such as "kg m-3" or "V m-1"; false for
 * words that are not among these. */
static bool dimension_of(const char *unit, double power[7])
{
    static const struct {
        const char *name;
        signed char power[7];
    } words[] = {
        { "m", { 1 } },
        { "kg", { 0, 1 } },
        { "s", { 0, 0, 1 } },
        { "A", { 0, 0, 0, 1 } },
        { "K", { 0, 0, 0, 0, 1 } },
        { "mol", { 0, 0, 0, 0, 0, 1 } },
        { "cd", { 0, 0, 0, 0, 0, 0, 1 } },
        { "rad", { 0 } },
        { "1", { 0 } },
        { "Hz", { 0, 0, -1 } },
        { "N", { 1, 1, -2 } },
        { "Pa", { -1, 1, -2 } },
        { "J", { 2, 1, -2 } },
        { "W", { 2, 1, -3 } },
        { "V", { 2, 1, -3, -1 } },
        { "C", { 0, 0, 1, 1 } },
        { "T", { 0, 1, -2, -1 } },
    };
    memset(power, 0, 7 * sizeof *power);
    while (unit && *unit) {
        size_t length = strspn(unit, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"), w = 0;
        length = length ? length : *unit == '1';
        while (w < sizeof words / sizeof *words &&
               !(strlen(words[w].name) == length && strncmp(words[w].name, unit, length) == 0))
            w++;
        if (w == sizeof words / sizeof *words)
            return false;
        char *end;
        long exponent = strtol(unit + length, &end, 10);
        exponent = end == unit + length ? 1 : exponent;
        for (int i = 0; i < 7; i++)
            power[i] += (double)(exponent * words[w].power[i]);
        unit = end + strspn(end, " .");
    }
    return true;
}

/* The attributes of an openPMD record; `at` is its dataset, or its group where it has components. */
static void describe_record(hid_t at, const bn_mesh *m, const char *unit)
{
    const double one = 1, start = 0;
    double spacing[3], offset[3], dimension[7];
    if (!dimension_of(unit, dimension)) /* openPMD has no value for unknown; each component has the name of the unit */
        memset(dimension, 0, sizeof dimension);
    const int dims = m->dims;
    for (int i = 0; i < dims; i++) { /* slowest axis first */
        spacing[i] = m->h[dims - 1 - i];
        offset[i] = m->origin[dims - 1 - i] - (m->nodes ? 0 : 0.5 * m->h[dims - 1 - i]);
    }
    put_text(at, "geometry", m->place[0] || m->place[1] || m->place[2] ? "other" : "cartesian");
    put_text(at, "dataOrder", "C");
    put_labels(at, "axisLabels", dims == 3 ? "zyx" : dims == 2 ? "yx" : "x", (hsize_t)dims);
    put_numbers(at, "gridSpacing", spacing, (hsize_t)dims);
    put_numbers(at, "gridGlobalOffset", offset, (hsize_t)dims);
    put_numbers(at, "gridUnitSI", &one, 0);
    put_numbers(at, "unitDimension", dimension, 7);
    put_numbers(at, "timeOffset", &start, 0);
}

static void describe_component(hid_t set, const bn_mesh *m, const char *unit)
{
    const double one = 1, place = m->nodes ? 0.0 : 0.5, position[3] = { place, place, place };
    put_numbers(set, "unitSI", &one, 0);
    put_numbers(set, "position", position, (hsize_t)m->dims);
    put_text(set, "unitName", unit && unit[0] ? unit : "1");
}

/* Where the values of the pieces are. `group`: the name of the array with components, or NULL. */
static bool point_to_pieces(hid_t list, hid_t space, const bn_mesh *m, const char *group, const char *name)
{
    char path[512];
    bool good = snprintf(path, sizeof path, "/data/%llu/fields/%s%s%s", m->step, group ? group : "", group ? "/" : "",
                         name) < (int)sizeof path;
    for (size_t p = 0; p < m->piece_count && good; p++) {
        const bn_mesh_piece *piece = &m->pieces[p];
        hsize_t at[3], n[3], size[3];
        const hsize_t zero[3] = { 0 };
        for (int i = 0; i < m->dims; i++) {
            at[i] = piece->first[m->dims - 1 - i];
            n[i] = piece->n[m->dims - 1 - i];
            size[i] = piece->size[m->dims - 1 - i];
        }
        const hid_t there = H5Screate_simple(m->dims, size, NULL);
        good = H5Sselect_hyperslab(there, H5S_SELECT_SET, zero, NULL, n, NULL) >= 0 &&
               H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, n, NULL) >= 0 &&
               H5Pset_virtual(list, space, piece->file, path, there) >= 0;
        H5Sclose(there);
    }
    return H5Sselect_all(space) >= 0 && good;
}

static bool write_component(hid_t place, const char *group, const char *name, const bn_mesh *m, const bn_mesh_array *a,
                            int component)
{
    hsize_t size[3];
    size_t points = 1;
    for (int i = 0; i < m->dims; i++) {
        size[i] = m->n[m->dims - 1 - i];
        points *= m->n[i];
    }
    const hid_t type = a->wide ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT, space = H5Screate_simple(m->dims, size, NULL);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    bool good = m->piece_count == 0 || point_to_pieces(list, space, m, group, name);
    const hid_t set = good ? H5Dcreate(place, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT) : -1;
    good = set >= 0;
    if (good && m->piece_count == 0) {
        const char *from = (const char *)a->values +
                           (size_t)component * points * (a->wide ? sizeof(double) : sizeof(float));
        good = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, from) >= 0;
    }
    if (good) {
        describe_component(set, m, a->unit);
        if (!group)
            describe_record(set, m, a->unit);
    }
    H5Dclose(set);
    H5Pclose(list);
    H5Sclose(space);
    return good;
}

static bool write_array(hid_t fields, const bn_mesh *m, const bn_mesh_array *a)
{
    if (a->components == 1)
        return write_component(fields, NULL, a->name, m, a, 0);
    const hid_t group = H5Gcreate(fields, a->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0;
    for (int c = 0; c < a->components && good; c++) {
        char name[32];
        snprintf(name, sizeof name, "%c", 'x' + c);
        if (a->is_complex)
            snprintf(name, sizeof name, "%s", c ? "imag" : "real");
        else if (a->components > 3)
            snprintf(name, sizeof name, "c%d", c);
        good = write_component(group, a->name, name, m, a, c);
    }
    if (good)
        describe_record(group, m, a->unit);
    H5Gclose(group);
    return good;
}

/* Places along the axes whose spacings differ, for which openPMD has no attribute: coordinates/x and so on beside the
 * fields. */
static void put_places(hid_t iteration, const bn_mesh *m)
{
    static const char *const names[] = { "coordinates/x", "coordinates/y", "coordinates/z" };
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    for (int d = 0; d < m->dims; d++) {
        if (!m->place[d])
            continue;
        const hsize_t n = m->n[d];
        const hid_t space = H5Screate_simple(1, &n, NULL);
        const hid_t set = H5Dcreate(iteration, names[d], H5T_NATIVE_DOUBLE, space, links, H5P_DEFAULT, H5P_DEFAULT);
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, m->place[d]);
        put_text(set, "unitName", "m");
        H5Dclose(set);
        H5Sclose(space);
    }
    H5Pclose(links);
}

bn_status bn_hdf5_write(bn_context *ctx, const char *path, const bn_mesh *m)
{
    bn_hdf5_begin();
    H5Eset_auto(H5E_DEFAULT, NULL, NULL);
    /* HDF5 writes by name: into memory first, so that the file appears whole or not at all. */
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 20, 0);
    const hid_t file = H5Fcreate("binnacle.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    char step[64];
    const double one = 1;
    snprintf(step, sizeof step, "/data/%llu", m->step);
    describe_file(file, m);
    const hid_t data = H5Gcreate(file, "/data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t iteration = H5Gcreate(file, step, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t fields = H5Gcreate(iteration, "fields", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_numbers(iteration, "time", &m->time, 0);
    put_numbers(iteration, "dt", &m->dt, 0);
    put_numbers(iteration, "timeUnitSI", &one, 0);
    put_places(iteration, m);
    bool good = fields >= 0;
    for (const bn_mesh *of = m; of; of = of->other)
        for (size_t i = 0; i < of->count && good; i++)
            good = write_array(fields, of, &of->arrays[i]);
    H5Gclose(fields);
    H5Gclose(iteration);
    H5Gclose(data);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    const ssize_t bytes = good ? H5Fget_file_image(file, NULL, 0) : -1;
    void *image = bytes > 0 ? malloc((size_t)bytes) : NULL;
    bn_status st = BN_OK;
    if (!image || H5Fget_file_image(file, image, (size_t)bytes) < 0)
        st = bn_fail(ctx, BN_IO, "cannot write %s: HDF5 refused it", path);
    else
        st = bn_file_write(ctx, path, image, (size_t)bytes);
    free(image);
    H5Fclose(file);
    bn_hdf5_end();
    return st;
}
