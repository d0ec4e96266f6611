/* plan_files.c: memory that a plan lends to the solver, and files that it reads for it. */
#include "sim/plan.h"

#include "api/embedded_files.h"
#include "io/csv_read.h"
#include "io/file.h"
#include "io/png_read.h"
#include "io/vtk.h"
#include "io/volume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, NUMBERS_BYTES = 1 << 26 /* of a file of numbers */ };

/* A piece of memory in the plan's list. */
struct bn_plan_memory {
    struct bn_plan_memory *next;
    void *data;
    void (*release)(void *);
};

bn_status bn_plan_adopt(bn_plan *p, void *data, void (*release)(void *))
{
    struct bn_plan_memory *k = data ? calloc(1, sizeof *k) : NULL;
    if (!k) {
        release(data);
        return bn_fail(p->ctx, BN_MEMORY, "no memory for the plan of the case");
    }
    *k = (struct bn_plan_memory){ p->kept, data, release };
    p->kept = k;
    return BN_OK;
}

static bn_status keep(bn_plan *p, void *data) { return bn_plan_adopt(p, data, free); }

/* Enters what a file gave. */
static bn_status note_input(bn_plan *p, const char *name, const void *values, size_t bytes)
{
    bn_plan_input *grown = realloc(p->inputs, (p->input_count + 1) * sizeof *grown);
    char *copy = strdup(name);
    if (grown)
        p->inputs = grown;
    if (!grown || !copy) {
        free(copy);
        return bn_fail(p->ctx, BN_MEMORY, "no memory for the list of files of the case");
    }
    p->inputs[p->input_count++] = (bn_plan_input){ copy, values, bytes };
    return BN_OK;
}

bn_status bn_plan_allocate(bn_plan *p, size_t bytes, void **out)
{
    void *data = calloc(1, bytes ? bytes : 1);
    *out = NULL;
    BN_TRY(keep(p, data));
    *out = data;
    return BN_OK;
}

void bn_plan_free_kept(bn_plan *p)
{
    while (p->kept) {
        struct bn_plan_memory *next = p->kept->next;
        p->kept->release(p->kept->data);
        free(p->kept);
        p->kept = next;
    }
    for (size_t i = 0; i < p->input_count; i++)
        free(p->inputs[i].name);
    free(p->inputs);
    p->inputs = NULL;
    p->input_count = 0;
}

bool bn_plan_path(const bn_case *c, const char *name, char *path, size_t bytes)
{
    const char *slash = strrchr(bn_case_path(c), '/');
    const int folder = name[0] == '/' || !slash ? 0 : (int)(slash + 1 - bn_case_path(c));
    return snprintf(path, bytes, "%.*s%s", folder, bn_case_path(c), name) < (int)bytes;
}

typedef bn_status read_png(bn_context *, const char *path, uint32_t *width, uint32_t *height, unsigned char **pixels);

/* The pixels of the picture that `key` names `name`, kept by the plan. */
static bn_status read_pixels(bn_plan *p, const bn_case *c, const char *key, const char *name, read_png *read,
                             uint32_t *width, uint32_t *height, const unsigned char **pixels)
{
    *pixels = NULL;
    char path[PATH_BYTES];
    unsigned char *values = NULL;
    if (!bn_plan_path(c, name, path, sizeof path))
        return bn_fail(p->ctx, BN_CASE, "the path that is %s of %s is too long", key, bn_case_path(c));
    const bn_status st = read(p->ctx, path, width, height, &values);
    if (st != BN_OK) {
        bn_note(p->ctx, "which is %s of %s", key, bn_case_path(c));
        return st;
    }
    BN_TRY(keep(p, values));
    *pixels = values;
    return note_input(p, name, values, (size_t)*width * *height * (read == bn_png_read_rgb ? 3 : 1));
}

bn_status bn_plan_grey(bn_plan *p, const bn_case *c, const char *key, uint32_t *width, uint32_t *height,
                       const unsigned char **grey)
{
    return read_pixels(p, c, key, bn_case_text(c, key), bn_png_read_grey, width, height, grey);
}

bn_status bn_plan_item_grey(bn_plan *p, const bn_case *c, const char *key, size_t item, uint32_t *width,
                            uint32_t *height, const unsigned char **grey)
{
    return read_pixels(p, c, key, bn_case_item_text(c, key, item), bn_png_read_grey, width, height, grey);
}

bn_status bn_plan_rgb(bn_plan *p, const bn_case *c, const char *key, uint32_t *width, uint32_t *height,
                      const unsigned char **rgb)
{
    return read_pixels(p, c, key, bn_case_text(c, key), bn_png_read_rgb, width, height, rgb);
}

bn_status bn_plan_rgb_item(bn_plan *p, const bn_case *c, const char *key, size_t item, uint32_t *width,
                           uint32_t *height, const unsigned char **rgb)
{
    return read_pixels(p, c, key, bn_case_item_text(c, key, item), bn_png_read_rgb, width, height, rgb);
}

/* The text of data that travels with the program, data/NAME.csv; NULL when there is none. */
static const char *own_data(const char *name)
{
    for (const bn_embedded *f = bn_embedded_files; f->name; f++) {
        const size_t length = strlen(name);
        if (strncmp(f->name, "data/", 5) == 0 && strncmp(f->name + 5, name, length) == 0 &&
            strcmp(f->name + 5 + length, ".csv") == 0)
            return f->text;
    }
    return NULL;
}

bn_status bn_plan_numbers_names(bn_plan *p, const char *begin, const char **out)
{
    static const char folder[] = "data/", ending[] = ".csv";
    const size_t skipped = strlen(folder) + strlen(begin);
    size_t bytes = 1;
    char *names = NULL, *at;
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        bytes += strlen(f->name) + 2;
    BN_TRY(bn_plan_allocate(p, bytes, (void **)&names));
    at = names;
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        if (strncmp(f->name, folder, strlen(folder)) == 0 &&
            strncmp(f->name + strlen(folder), begin, strlen(begin)) == 0 && strstr(f->name + skipped, ending))
            at += snprintf(at, bytes - (size_t)(at - names), "%s%.*s", at > names ? ", " : "",
                           (int)(strstr(f->name + skipped, ending) - f->name - skipped), f->name + skipped);
    *out = names;
    return BN_OK;
}

static bn_status keep_numbers(bn_plan *p, bn_csv_table *t, const bn_numbers **out)
{
    bn_numbers *numbers;
    char **heads;
    BN_TRY(keep(p, t->text));
    t->text = NULL;
    BN_TRY(keep(p, t->comments));
    const char *comments = t->comments;
    t->comments = NULL;
    BN_TRY(keep(p, t->values));
    const double *values = t->values;
    t->values = NULL;
    BN_TRY(bn_plan_allocate(p, t->columns * sizeof *heads, (void **)&heads));
    BN_TRY(bn_plan_allocate(p, sizeof *numbers, (void **)&numbers));
    memcpy(heads, t->heads, t->columns * sizeof *heads);
    *numbers = (bn_numbers){ t->columns, t->rows, (const char *const *)heads, values, comments };
    *out = numbers;
    return BN_OK;
}

bn_status bn_plan_numbers(bn_plan *p, const bn_case *c, const char *name, const bn_numbers **out)
{
    *out = NULL;
    char path[PATH_BYTES], *text = NULL;
    const char *own = own_data(name);
    size_t bytes;
    bn_csv_table t = { .columns = 0 };
    bn_status st = BN_OK;
    if (!own) {
        if (!bn_plan_path(c, name, path, sizeof path) || access(path, F_OK) != 0)
            return BN_OK;
        BN_TRY(bn_file_read(p->ctx, path, NUMBERS_BYTES, &text, &bytes));
    }
    BN_GO(bn_csv_parse(p->ctx, own ? name : path, own ? own : text, &t));
    BN_GO(keep_numbers(p, &t, out));
    BN_GO(note_input(p, name, (*out)->values, (*out)->columns * (*out)->rows * sizeof *(*out)->values));
out:
    bn_csv_table_free(&t);
    free(text);
    return st;
}

bn_status bn_plan_volume(bn_plan *p, const bn_case *c, const char *name, const char *array, bn_volume_numbers *out)
{
    char path[PATH_BYTES];
    bn_volume v;
    *out = (bn_volume_numbers){ .values = NULL };
    if (!bn_plan_path(c, name, path, sizeof path))
        return bn_fail(p->ctx, BN_IO, "the path %s is too long", name);
    if (bn_volume_read(p->ctx, path, array, &v) != BN_OK) {
        bn_note(p->ctx, "which %s names", bn_case_path(c));
        return bn_error_status(p->ctx);
    }
    BN_TRY(keep(p, v.values));
    *out = (bn_volume_numbers){ { v.n[0], v.n[1], v.n[2] }, { v.h[0], v.h[1], v.h[2] }, v.values };
    return note_input(p, name, v.values, (size_t)v.n[0] * v.n[1] * v.n[2] * sizeof *v.values);
}

/* FOLDER/NAME.vti, the folder that `key` names. */
static bn_status image_path(bn_context *ctx, const bn_case *c, const char *key, const char *name, char *folder,
                            char *path)
{
    if (!bn_plan_path(c, bn_case_text(c, key), folder, PATH_BYTES) ||
        snprintf(path, PATH_BYTES, "%.*s/%s.vti", PATH_BYTES - 64, folder, name) >= PATH_BYTES)
        return bn_fail(ctx, BN_CASE, "the path that is %s of %s is too long", key, bn_case_path(c));
    return BN_OK;
}

bn_status bn_plan_image(bn_plan *p, const bn_case *c, const char *key, const char *name, bn_image_numbers *out)
{
    char folder[PATH_BYTES], path[PATH_BYTES];
    bn_vtk_image image = { .arrays = NULL };
    double *values;
    *out = (bn_image_numbers){ .values = NULL };
    BN_TRY(image_path(p->ctx, c, key, name, folder, path));
    if (bn_vtk_read(p->ctx, path, NULL, &image) != BN_OK) {
        bn_note(p->ctx, "in the folder that is %s of %s", key, bn_case_path(c));
        return bn_error_status(p->ctx);
    }
    bn_status st = image.count == 1 ? BN_OK
                                    : bn_fail(p->ctx, BN_IO, "%s holds %zu arrays, one is expected", path, image.count);
    const size_t count = st != BN_OK
                             ? 0
                             : (size_t)image.n[0] * image.n[1] * image.n[2] * (size_t)image.arrays[0].components;
    if (st == BN_OK)
        st = bn_plan_allocate(p, count * sizeof *values, (void **)&values);
    if (st == BN_OK) {
        for (size_t i = 0; i < count; i++)
            values[i] = bn_vtk_value(&image.arrays[0], i);
        *out = (bn_image_numbers){ { image.n[0], image.n[1], image.n[2] }, image.arrays[0].components, values };
        st = note_input(p, path, values, count * sizeof *values);
    }
    bn_vtk_free(&image);
    return st;
}

bn_status bn_sim_write_image(bn_sim *sim, const char *key, const char *name, const bn_image_numbers *numbers)
{
    bn_context *ctx = bn_sim_context(sim);
    const bn_case *c = bn_sim_case(sim);
    const size_t count = (size_t)numbers->n[0] * numbers->n[1] * numbers->n[2] * (size_t)numbers->components;
    char folder[PATH_BYTES], path[PATH_BYTES];
    if (bn_context_rank(ctx) > 0)
        return BN_OK;
    BN_TRY(image_path(ctx, c, key, name, folder, path));
    BN_TRY(bn_output_dir_create(ctx, folder));
    float *single = bn_case_double(c) ? NULL : malloc(count * sizeof *single + 1);
    if (!single && !bn_case_double(c))
        return bn_fail(ctx, BN_MEMORY, "no memory to write %s", path);
    for (size_t i = 0; single && i < count; i++)
        single[i] = (float)numbers->values[i];
    const bn_vtk_array array = { .name = name,
                                 .unit = "",
                                 .type = single ? "Float32" : "Float64",
                                 .components = numbers->components,
                                 .data = single ? (const void *)single : numbers->values };
    const bn_vtk_image image = { .dims = 3,
                                 .n = { numbers->n[0], numbers->n[1], numbers->n[2] },
                                 .h = { 1, 1, 1 },
                                 .nodes = true,
                                 .arrays = &array,
                                 .count = 1 };
    const bn_status st = bn_vtk_write(ctx, path, &image);
    free(single);
    return st;
}
