/* targets.c: calls every parser (targets.h). libFuzzer takes the one that BN_FUZZ names. */
#include "targets.h"

#include "api/embedded_files.h"
#include "binnacle/binnacle.h"
#include "case/units.h"
#include "device/binary_cache.h"
#include "io/csv_read.h"
#include "io/field_file.h"
#include "io/file.h"
#include "io/png_read.h"
#include "io/shapes.h"
#include "io/terrain.h"
#include "io/ugrid.h"
#include "io/volume.h"
#include "io/vtk.h"
#include "sim/checkpoint.h"
#include "sim/plan.h"
#include "sim/tuning.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What must hold, whatever the input. */
static void demand(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "demanded: %s\n", what);
        abort();
    }
}

static void silent(void *user, int level, const char *text) { (void)user, (void)level, (void)text; }

static volatile double looked; /* so that no look is optimized away */
static void look(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    looked = sum;
}

/* Failures have a status of bad input and a message. */
static bool accepted(bn_context *ctx, bn_status st)
{
    demand(st == BN_OK || ((st == BN_IO || st == BN_CASE || st == BN_MEMORY) && strlen(bn_error_text(ctx)) > 15),
           "a status of bad input, and a message");
    bn_error_clear(ctx);
    return st == BN_OK;
}

/* ---- cases */

/* The resolved text of what was accepted says the same. */
static void look_at_case(bn_context *ctx, const char *path, bn_case *c)
{
    bn_case *again;
    char *resolved, *second;
    demand(bn_case_resolved(c, &resolved) == BN_OK, "a resolved case");
    demand(bn_case_parse(ctx, path, resolved, NULL, 0, &again) == BN_OK, bn_error_text(ctx));
    demand(bn_case_resolved(again, &second) == BN_OK && strcmp(resolved, second) == 0, "the same case, resolved again");
    free(resolved);
    free(second);
    bn_case_destroy(&again);
    bn_case_destroy(&c);
}

static void read_case(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    bn_case *c;
    (void)bytes;
    if (accepted(ctx, bn_case_parse(ctx, path, text, NULL, 0, &c)))
        look_at_case(ctx, path, c);
}

/* A case key by key, as --set has them and programs that link the library: a line each. */
static void make_keys(bn_context *ctx, const char *path)
{
    static const char text[] =
        "case.solver=flow\ngrid.nodes=[17, 21]\ngrid.size=[\"1.6 m\", 2.0]\nfluid.viscosity=1e-2 m2/s\n"
        "boundary.left.heat=given\nboundary.segment.1.side=top\nboundary.segment.1.to=1\n"
        "boundary.segment.2={side = \"left\", from = 0.5}\nstop.steps=40\n";
    demand(bn_file_write(ctx, path, text, sizeof text - 1) == BN_OK, bn_error_text(ctx));
}

static void read_keys(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    const char *keys[64];
    size_t count = 0;
    bn_case *c;
    (void)bytes;
    for (char *line = strtok(text, "\n"); line && count < 64; line = strtok(NULL, "\n"))
        keys[count++] = line;
    if (accepted(ctx, bn_case_parse(ctx, path, "", keys, count, &c)))
        look_at_case(ctx, path, c);
}

/* What `binnacle check` does. */
static void read_plan(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    bn_case *c;
    bn_plan *p = NULL;
    uint64_t largest;
    (void)bytes;
    if (!accepted(ctx, bn_case_parse(ctx, path, text, NULL, 0, &c)))
        return;
    void *state = calloc(1, bn_solver_find(bn_case_solver(c))->state_size);
    if (state && accepted(ctx, bn_plan_count(ctx, c, NULL, 1, state, &p))) {
        looked = (double)bn_plan_device_bytes(p, &largest);
        (void)accepted(ctx, bn_plan_check_memory(ctx, p, NULL, 1));
    }
    bn_plan_destroy(&p);
    free(state);
    bn_case_destroy(&c);
}

static void read_units(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    static bn_units *units;
    bn_string why = { 0 };
    double value = 0;
    (void)path, (void)bytes;
    demand(units || bn_units_create(ctx, &units) == BN_OK, "units");
    if (!bn_units_read(units, text, "m", &value, &why))
        demand(why.bytes > 0, "a reason");
    looked = value;
    free(bn_string_take(&why));
}

/* ---- files that cases name */

static void read_png(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    uint32_t n[2];
    unsigned char *pixels;
    (void)text, (void)bytes;
    if (accepted(ctx, bn_png_read_grey(ctx, path, &n[0], &n[1], &pixels))) {
        looked = pixels[(size_t)n[0] * n[1] - 1];
        free(pixels);
    }
    if (accepted(ctx, bn_png_read_rgb(ctx, path, &n[0], &n[1], &pixels))) {
        looked = pixels[(size_t)3 * n[0] * n[1] - 1];
        free(pixels);
    }
}

static void read_volume(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    bn_volume v;
    (void)text, (void)bytes;
    if (!accepted(ctx, bn_volume_read(ctx, path, "", &v)))
        return;
    look(v.values, (size_t)v.n[0] * v.n[1] * v.n[2]);
    bn_volume_free(&v);
}

static void make_hdf5(bn_context *ctx, const char *path)
{
    const float values[24] = { 1, 2, 3 };
    const bn_mesh_array array = { .name = "density", .unit = "m-3", .values = values, .components = 1 };
    const bn_mesh mesh = { .dims = 3,
                           .n = { 2, 3, 4 },
                           .h = { 1, 1, 1 },
                           .arrays = &array,
                           .count = 1,
                           .software = "binnacle",
                           .version = "0" };
    demand(bn_hdf5_write(ctx, path, &mesh) == BN_OK, bn_error_text(ctx));
}

static void make_tiff(bn_context *ctx, const char *path)
{
    const float values[24] = { 1, 2, 3 };
    demand(bn_tiff_write(ctx, path, (const uint32_t[]){ 2, 3, 4 }, values, "values") == BN_OK, bn_error_text(ctx));
}

static void look_at_image(bn_vtk_image *image)
{
    for (size_t a = 0; a < image->count; a++)
        for (size_t i = 0; i < (size_t)image->n[0] * image->n[1] * image->n[2] * (size_t)image->arrays[a].components;
             i++)
            looked = bn_vtk_value(&image->arrays[a], i);
    bn_vtk_free(image);
}

static void read_vtk(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    bn_vtk_image image;
    if (!accepted(ctx, bn_vtk_read(ctx, path, NULL, &image)))
        return;
    look_at_image(&image);
    read_volume(ctx, path, text, bytes);
}

/* What `binnacle plot` takes beside VTK. */
static void read_fields(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    size_t times;
    bn_vtk_image image;
    (void)text, (void)bytes;
    if (!accepted(ctx, bn_field_file_times(ctx, path, &times)))
        return;
    for (size_t t = 0; t < times && t < 3; t++)
        if (accepted(ctx, bn_field_file_read(ctx, path, NULL, t, &image)))
            look_at_image(&image);
}

static double ugrid_value(const void *data, size_t field, int component, size_t cell)
{
    (void)data;
    return (double)(field + cell) + component;
}

static void make_ugrid(bn_context *ctx, const char *path)
{
    const bn_ugrid_field fields[] = { { "depth", "m", 1, false },
                                      { "velocity", "m s-1", 2, false },
                                      { "bed", "m", 1, true } };
    const bn_ugrid_desc desc = { .cells = { { 4, 3 }, { 0.5, 0.5 }, { 1, 0.8660254037844386 }, true },
                                 .title = "a layer",
                                 .source = "binnacle",
                                 .epsg = 25832,
                                 .fields = fields,
                                 .count = 3 };
    bn_ugrid *file;
    demand(bn_ugrid_create(ctx, path, &desc, &file) == BN_OK, bn_error_text(ctx));
    for (unsigned step = 0; step < 2; step++)
        demand(bn_ugrid_add(ctx, file, step, step, ugrid_value, NULL) == BN_OK, bn_error_text(ctx));
    demand(bn_ugrid_close(ctx, &file) == BN_OK, bn_error_text(ctx));
}

static void make_pvd(bn_context *ctx, const char *path)
{
    static const char text[] =
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n <Collection>\n"
        "  <DataSet timestep=\"0\" file=\"a-000000.vti\"/>\n  <DataSet timestep=\"1\" file=\"../b.vtu\"/>\n"
        " </Collection>\n</VTKFile>\n";
    demand(bn_file_write(ctx, path, text, sizeof text - 1) == BN_OK, bn_error_text(ctx));
}

static void read_pvd(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    char **files;
    size_t count;
    (void)text, (void)bytes;
    if (!accepted(ctx, bn_vtk_collection_read(ctx, path, &files, &count)))
        return;
    for (size_t i = 0; i < count; i++) {
        looked = (double)strlen(files[i]);
        free(files[i]);
    }
    free(files);
}

static void read_terrain(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    bn_terrain t = { .epsg = 0 };
    (void)text, (void)bytes;
    if (accepted(ctx, bn_terrain_read(ctx, path, &t))) {
        look(t.values, (size_t)t.n[0] * t.n[1]);
        looked = bn_terrain_at(&t, (const double[]){ t.corner[0] + t.h[0], t.corner[1] + t.h[1] });
        bn_terrain_free(&t);
    }
}

static void make_esri(bn_context *ctx, const char *path)
{
    static const char text[] = "ncols 3\nnrows 2\nxllcorner 612000\nyllcorner 5312000\ncellsize 20\n"
                               "NODATA_value -9999\n440.5 441 -9999\n439 440 442.25\n";
    demand(bn_file_write(ctx, path, text, sizeof text - 1) == BN_OK, bn_error_text(ctx));
}

static void read_shapes(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    bn_shapes *s;
    (void)text, (void)bytes;
    if (!accepted(ctx, bn_shapes_read(ctx, path, NULL, 0.01, &s)))
        return;
    signed char draw[256];
    const size_t count = bn_shapes_count(s);
    for (size_t i = 0; i < count && i < sizeof draw; i++) {
        looked = bn_shape_covers(s, i, bn_shapes_at(s, i)->inside);
        draw[i] = i % 3 == 2 ? -1 : 1;
    }
    if (count <= sizeof draw && accepted(ctx, bn_shapes_draw(ctx, s, draw, false, (const double[]){ -100, -100 },
                                                             (const double[]){ 100, 100 })))
        looked = bn_shapes_open(s, (const double[]){ 0, 0 }, (const double[]){ 9, 5 });
    bn_shapes_destroy(&s);
}

static void read_table(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    bn_csv_table t;
    (void)bytes;
    if (!accepted(ctx, bn_csv_parse(ctx, path, text, &t)))
        return;
    look(t.values, t.columns * t.rows);
    bn_csv_table_free(&t);
}

/* ---- files of our own */

static const char part_name[] = "part.h5";
static const double part_values[] = { 1, 2, 3, 4 };

static void make_manifest(bn_context *ctx, const char *path)
{
    const bn_part_block block = { "u", BN_PART_F64, { 1, 1, 1, 4, 1 }, part_values };
    bn_part_room room = { 0 };
    bn_part_sum sum;
    char text[1024];
    demand(bn_part_write(ctx, part_name, &block, 1, &room, &sum) == BN_OK, bn_error_text(ctx));
    bn_part_room_free(&room);
    const int n = snprintf(text, sizeof text,
                           "{\"format\": \"binnacle checkpoint 1\", \"number\": 3, \"step\": 7,\n"
                           " \"parts\": [{\"file\": \"%s\", \"bytes\": %llu, \"sha256\": \"%s\"}],\n"
                           " \"numbers\": [{\"name\": \"n\", \"type\": \"f64\", \"count\": 4, \"dataset\": \"u\", "
                           "\"part\": 0}],\n"
                           " \"fields\": [{\"name\": \"u\", \"type\": \"f64\", \"size\": [1, 1, 1, 4, 1], \"pieces\": "
                           "[{\"from\": [0, 0, 0, 0, 0], \"size\": [1, 1, 1, 4, 1], \"dataset\": \"u\", \"part\": "
                           "0}]}],\n",
                           part_name, sum.bytes, sum.sha256);
    demand(bn_file_write(ctx, path, text, (size_t)n) == BN_OK, bn_error_text(ctx));
}

/* The input is a manifest without its last line, which is made to fit, or nothing behind the hash would be reached. */
static void read_checkpoint(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    char sum[BN_SHA256_TEXT], values[4 * sizeof(double)];
    bn_checkpoint *c;
    demand(bn_sha256(ctx, text, bytes, sum) == BN_OK, "a hash");
    FILE *f = fopen(path, "a");
    demand(f && fprintf(f, " \"sha256\": \"%s\"}\n", sum) > 0 && fclose(f) == 0, "a manifest");
    if (!accepted(ctx, bn_checkpoint_open(ctx, path, &c)))
        return;
    if (accepted(ctx, bn_checkpoint_box(c, "u", (const uint32_t[]){ 0, 0, 0 }, (const uint32_t[]){ 4, 1, 1 }, values,
                                        sizeof values)))
        looked = values[0];
    bn_checkpoint_close(&c);
}

static void read_tuning(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    static const bn_device_info devices[] = { { .name = "NVIDIA H200", .driver = "1", .max_work_group = 1024 },
                                              { .name = "cpu", .driver = "3.1", .max_work_group = 4096 } };
    (void)path, (void)text, (void)bytes;
    for (size_t i = 0; i < 2; i++) {
        bn_tuning t;
        bn_tuning_load(ctx, &(bn_tuning_key){ "flow", "single", &devices[i], 16 }, &t);
        for (size_t g = 0; g < t.count; g++)
            demand(t.groups[g].shape[0] * t.groups[g].shape[1] * t.groups[g].shape[2] <= devices[i].max_work_group,
                   "work-groups that the device takes");
        bn_tuning_release(&t);
    }
}

static const char key[] = "a key", binary[] = "a program";

static void make_entry(bn_context *ctx, const char *path)
{
    (void)path; /* a cache chooses its files' names: this one is the key's */
    bn_binary_cache_put(ctx, key, sizeof key, (const unsigned char *)binary, sizeof binary);
}

static void read_entry(bn_context *ctx, const char *path, char *text, size_t bytes)
{
    unsigned char *found;
    size_t found_bytes;
    (void)path, (void)text, (void)bytes;
    bn_binary_cache_get(ctx, key, sizeof key, &found, &found_bytes);
    demand(!found || (found_bytes == sizeof binary && memcmp(found, binary, sizeof binary) == 0),
           "what was put there, or nothing");
    free(found);
}

#define VTK "tests/data/vtk/"
static char entry_file[64];
const bn_target bn_targets[BN_TARGETS] = {
    { "case", "input.toml", { "data/cases/*/*.toml" }, read_case, NULL },
    { "plan", "input.toml", { "data/cases/*/*.toml" }, read_plan, NULL },
    { "keys", "input.txt", { NULL }, read_keys, make_keys },
    { "units", "input.txt", { NULL }, read_units, NULL },
    { "png", "input.png", { "data/cases/*/*.png" }, read_png, NULL },
    { "tiff", "input.tif", { NULL }, read_volume, make_tiff },
    { "geotiff", "input.tif", { "data/cases/*/*.tif" }, read_terrain, NULL },
    { "esri", "input.asc", { NULL }, read_terrain, make_esri },
    { "wkt", "input.wkt", { "data/cases/*/*.wkt" }, read_shapes, NULL },
    { "polygons", "input.csv", { "data/cases/flood/*.csv" }, read_shapes, NULL },
    { "table", "input.csv", { "data/materials/*.csv", "data/published/*.csv" }, read_table, NULL },
    { "vti", "input.vti", { VTK "*.vti" }, read_vtk, NULL },
    { "pvti", "input.pvti", { VTK "*.pvti" }, read_vtk, NULL },
    { "vtu", "input.vtu", { VTK "*.vtu" }, read_vtk, NULL },
    { "vtk", "input.vtk", { VTK "*.vtk" }, read_vtk, NULL },
    { "hdf5", "input.h5", { NULL }, read_volume, make_hdf5 },
    { "openpmd", "input.h5", { NULL }, read_fields, make_hdf5 },
    { "ugrid", "input.nc", { NULL }, read_fields, make_ugrid },
    { "pvd", "input.pvd", { NULL }, read_pvd, make_pvd },
    { "checkpoint", "manifest.json", { NULL }, read_checkpoint, make_manifest },
    { "tuning", "binnacle/tuning.json", { "data/tuning/*.json" }, read_tuning, NULL },
    { "cache", entry_file, { NULL }, read_entry, make_entry },
};

/* ---- giving */

static char folder[4096];
static bn_context *open_context(void)
{
    char cache[4200];
    bn_context *ctx;
    snprintf(cache, sizeof cache, "%s/cache", folder);
    demand(bn_context_create(&(bn_context_desc){ .log = silent, .cache_dir = cache }, &ctx) == BN_OK, "a context");
    return ctx;
}

void bn_target_begin(char home[4096])
{
    char command[8400];
    const char *base = getenv("TMPDIR");
    snprintf(entry_file, sizeof entry_file, "cache/kernels/%016llx.bin",
             (unsigned long long)bn_hash(BN_HASH_START, key, sizeof key));
    demand(getcwd(home, 4096) != NULL, "a current folder");
    snprintf(folder, sizeof folder, "%s/binnacle-fuzz-XXXXXX", base ? base : "/tmp");
    demand(mkdtemp(folder) && setenv("XDG_DATA_HOME", folder, 1) == 0, "a scratch folder");
    snprintf(command, sizeof command, "cp %s/" VTK "piece-*.vti '%s'", home, folder);
    demand(system(command) == 0 && chdir(folder) == 0 && mkdir("binnacle", 0755) == 0, "a scratch folder");
}

void bn_target_end(const char *home)
{
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    demand(chdir(home) == 0 && system(command) == 0, "the scratch folder removed");
}

static void take(bn_context *ctx, const char *path, bn_seed **list, size_t *count)
{
    bn_seed s;
    if (bn_file_read(ctx, path, 1 << 20, &s.data, &s.bytes) != BN_OK) { /* a folder, or too large to be a seed */
        bn_error_clear(ctx);
        return;
    }
    demand((*list = realloc(*list, (*count + 1) * sizeof **list)) != NULL, "memory");
    (*list)[(*count)++] = s;
}

size_t bn_target_seeds(const bn_target *t, const char *home, bn_seed **out)
{
    bn_context *ctx = open_context();
    char corpus[64];
    size_t count = 0;
    *out = NULL;
    snprintf(corpus, sizeof corpus, "tests/fuzz/corpus/%s/*", t->name);
    const char *const patterns[] = { corpus, t->seeds[0], t->seeds[1] };
    if (t->make) {
        t->make(ctx, t->file);
        take(ctx, t->file, out, &count);
    }
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t found = { 0 };
        char path[8300];
        snprintf(path, sizeof path, "%s/%s", home, patterns[i] ? patterns[i] : "");
        if (patterns[i] && glob(path, 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc; k++)
                take(ctx, found.gl_pathv[k], out, &count);
        globfree(&found);
    }
    bn_context_destroy(&ctx);
    return count;
}

void bn_target_give(const bn_target *t, const void *data, size_t bytes)
{
    bn_context *ctx = open_context();
    char *text = malloc(bytes + 1); /* as bn_file_read gives it */
    FILE *f = fopen(t->file, "wb");
    demand(text && f && fwrite(data, 1, bytes, f) == bytes && fclose(f) == 0 && chmod(t->file, 0600) == 0, "an input");
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    t->read(ctx, t->file, text, bytes);
    free(text);
    bn_context_destroy(&ctx);
}

/* ---- libFuzzer: BN_FUZZ=TARGET; with BN_FUZZ_SEEDS=FOLDER it writes the seeds there first */

static const bn_target *chosen;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("BN_FUZZ"), *to = getenv("BN_FUZZ_SEEDS");
    char home[4096], path[8300];
    bn_seed *seeds;
    (void)argc, (void)argv;
    for (size_t i = 0; i < BN_TARGETS; i++)
        if (name && strcmp(bn_targets[i].name, name) == 0)
            chosen = &bn_targets[i];
    demand(chosen != NULL, "BN_FUZZ, the name of a target");
    bn_target_begin(home);
    const size_t count = bn_target_seeds(chosen, home, &seeds);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/seed-%zu", to ? to : "", i);
        FILE *f = to ? fopen(path, "wb") : NULL;
        demand(!to || (f && fwrite(seeds[i].data, 1, seeds[i].bytes, f) == seeds[i].bytes && fclose(f) == 0), "a seed");
        free(seeds[i].data);
    }
    free(seeds);
    demand(chdir(home) == 0, "the tree");
    return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    char home[4096];
    demand(getcwd(home, sizeof home) && chdir(folder) == 0, "the scratch folder");
    bn_target_give(chosen, data, bytes);
    demand(chdir(home) == 0, "the tree");
    return 0;
}
