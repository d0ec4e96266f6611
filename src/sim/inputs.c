/* inputs.c: reads what a case names besides numbers, and keeps it with the plan. */
#include "sim/inputs.h"

#include "api/embedded_files.h"
#include "io/csv_read.h"
#include "io/file.h"
#include "io/png_read.h"
#include "io/shapes.h"
#include "io/terrain.h"
#include "io/volume.h"
#include "sim/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { TABLE_BYTES = 1 << 26 /* of a file */ };

/* Enters values of a file, whose hash goes to checkpoints. */
static bn_status add_file(bn_plan *p, const char *name, const void *values, size_t bytes)
{
    bn_plan_file *file;
    char *copy;
    BN_TRY(bn_plan_allocate(p, strlen(name) + 1, (void **)&copy));
    BN_TRY(bn_plan_allocate(p, sizeof *file, (void **)&file));
    memcpy(copy, name, strlen(name));
    *file = (bn_plan_file){ copy, values, bytes, NULL };
    bn_plan_file **last = &p->files;
    while (*last)
        last = &(*last)->next;
    *last = file;
    return BN_OK;
}

static bn_status read_picture(bn_plan *p, const char *name, const char *path, bn_input *in)
{
    unsigned char *pixels = NULL;
    const bool grey = in->kind == BN_INPUT_GREY;
    BN_TRY((grey ? bn_png_read_grey : bn_png_read_rgb)(p->ctx, path, &in->n[0], &in->n[1], &pixels));
    BN_TRY(bn_plan_adopt(p, pixels, free));
    in->pixels = pixels;
    return add_file(p, name, pixels, (size_t)in->n[0] * in->n[1] * (grey ? 1 : 3));
}

/* The text of an embedded table, data/NAME.csv; NULL when there is none. */
static const char *embedded_table(const char *name)
{
    const size_t length = strlen(name);
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        if (strncmp(f->name, "data/", 5) == 0 && strncmp(f->name + 5, name, length) == 0 &&
            strcmp(f->name + 5 + length, ".csv") == 0)
            return f->text;
    return NULL;
}

bn_status bn_plan_embedded_tables(bn_plan *p, const char *begin, const char **out)
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

/* Moves the parts of a table to the plan. */
static bn_status adopt_table(bn_plan *p, bn_csv_table *t, bn_input *in)
{
    char **heads;
    void *parts[] = { t->text, t->comments, t->values };
    *in = (bn_input){
        .kind = in->kind, .columns = t->columns, .rows = t->rows, .comments = t->comments, .values = t->values
    };
    BN_TRY(bn_plan_allocate(p, t->columns * sizeof *heads, (void **)&heads));
    memcpy(heads, t->heads, t->columns * sizeof *heads);
    in->heads = (const char *const *)heads;
    t->text = t->comments = NULL;
    t->values = NULL;
    bn_status st = BN_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) { /* adopts all of them, also after a failure */
        const bn_status adopted = bn_plan_adopt(p, parts[i], free);
        st = st == BN_OK ? adopted : st;
    }
    return st;
}

/* No columns: there is no such table. */
static bn_status read_table(bn_plan *p, const char *name, const char *path, bn_input *in)
{
    const char *embedded = embedded_table(name);
    char *text = NULL;
    size_t bytes;
    bn_csv_table t = { .columns = 0 };
    bn_status st = BN_OK;
    if (!embedded) {
        if (access(path, F_OK) != 0)
            return BN_OK;
        BN_TRY(bn_file_read(p->ctx, path, TABLE_BYTES, &text, &bytes));
    }
    BN_GO(bn_csv_parse(p->ctx, embedded ? name : path, embedded ? embedded : text, &t));
    BN_GO(adopt_table(p, &t, in));
    BN_GO(add_file(p, name, in->values, in->columns * in->rows * sizeof *in->values));
out:
    bn_csv_table_free(&t);
    free(text);
    return st;
}

static bn_status read_volume(bn_plan *p, const bn_case *c, const char *name, const char *path, const char *array,
                             bn_input *in)
{
    const bn_case_numbers *given = bn_case_given_numbers(c, name);
    bn_volume v;
    if (given) {
        memcpy(in->n, given->n, sizeof in->n);
        in->values = given->values;
        return add_file(p, name, given->values, (size_t)in->n[0] * in->n[1] * in->n[2] * sizeof *given->values);
    }
    BN_TRY(bn_volume_read(p->ctx, path, array ? array : "", &v));
    BN_TRY(bn_plan_adopt(p, v.values, free));
    memcpy(in->n, v.n, sizeof in->n);
    memcpy(in->h, v.h, sizeof in->h);
    in->values = v.values;
    return add_file(p, name, v.values, (size_t)v.n[0] * v.n[1] * v.n[2] * sizeof *v.values);
}

static void release_shapes(void *data)
{
    bn_shapes *shapes = data;
    bn_shapes_destroy(&shapes);
}

bool bn_input_is_wkt(const char *name)
{
    return strncasecmp(name, "POLYGON", 7) == 0 || strncasecmp(name, "MULTIPOLYGON", 12) == 0;
}

static bn_status read_shapes(bn_plan *p, const char *name, const char *path, double snap, bn_input *in)
{
    bn_shapes *shapes;
    BN_TRY(bn_shapes_read(p->ctx, path, bn_input_is_wkt(name) ? name : NULL, snap, &shapes));
    BN_TRY(bn_plan_adopt(p, shapes, release_shapes));
    *in = (bn_input){ .kind = in->kind,
                      .count = bn_shapes_count(shapes),
                      .low = { HUGE_VAL, HUGE_VAL },
                      .high = { -HUGE_VAL, -HUGE_VAL },
                      .shapes = shapes };
    BN_TRY(bn_plan_allocate(p, in->count * sizeof *in->shape, (void **)&in->shape));
    for (size_t i = 0; i < in->count; i++) {
        const bn_shape *from = bn_shapes_at(shapes, i);
        bn_input_shape *to = &in->shape[i];
        *to = (bn_input_shape){ .name = from->name, .line = from->line, .number = from->number, .open = from->open };
        memcpy(to->inside, from->inside, sizeof to->inside);
        for (int k = 0; k < 2; k++) {
            to->low[k] = from->low[k];
            to->high[k] = from->high[k];
            in->low[k] = fmin(in->low[k], from->low[k]);
            in->high[k] = fmax(in->high[k], from->high[k]);
        }
    }
    return BN_OK;
}

static void release_terrain(void *data)
{
    bn_terrain *t = data;
    if (t)
        bn_terrain_free(t);
    free(t);
}

static bn_status read_terrain(bn_plan *p, const char *path, bn_input *in)
{
    bn_terrain *t = calloc(1, sizeof *t);
    BN_TRY(bn_plan_adopt(p, t, release_terrain));
    BN_TRY(bn_terrain_read(p->ctx, path, t));
    in->terrain = t;
    in->epsg = t->epsg;
    for (int k = 0; k < 2; k++) {
        in->low[k] = t->corner[k];
        in->high[k] = t->corner[k] + t->n[k] * t->h[k];
        in->h[k] = t->h[k];
    }
    return BN_OK;
}

bn_status bn_plan_input(bn_plan *p, const bn_case *c, const bn_input_desc *d, const bn_input **out)
{
    char number[32] = "";
    const char *name = d->name       ? d->name
                       : d->item > 0 ? bn_case_item_text(c, d->key, d->item - 1)
                                     : bn_case_text(c, d->key);
    bn_input *in;
    *out = NULL;
    BN_TRY(bn_plan_allocate(p, sizeof *in, (void **)&in));
    in->kind = d->kind;
    bn_path place = bn_path_beside(bn_case_path(c), name);
    const char *path = place.text;
    if (d->kind == BN_INPUT_SHAPES && bn_input_is_wkt(name))
        snprintf(place.text, sizeof place.text, "the text of %s", d->key);
    const bn_status st = d->kind == BN_INPUT_TABLE     ? read_table(p, name, path, in)
                         : d->kind == BN_INPUT_VOLUME  ? read_volume(p, c, name, path, d->array, in)
                         : d->kind == BN_INPUT_SHAPES  ? read_shapes(p, name, path, d->snap, in)
                         : d->kind == BN_INPUT_TERRAIN ? read_terrain(p, path, in)
                                                       : read_picture(p, name, path, in);
    if (st == BN_OK) {
        *out = d->kind == BN_INPUT_TABLE && in->columns == 0 ? NULL : in;
        return BN_OK;
    }
    if (d->item > 0)
        snprintf(number, sizeof number, ", number %zu,", d->item);
    if (d->key)
        bn_note(p->ctx, "which is %s%s of %s", d->key, number, bn_case_path(c));
    else
        bn_note(p->ctx, "which %s names", bn_case_path(c));
    return st;
}

double bn_input_height(const bn_input *in, const double x[2]) { return bn_terrain_at(in->terrain, x); }
double bn_input_pixel(const bn_input *in, const double x[2]) { return bn_terrain_pixel(in->terrain, x); }

bool bn_input_covers(const bn_input *in, size_t shape, const double x[2])
{
    return bn_shape_covers(in->shapes, shape, x);
}

bn_status bn_input_draw(bn_plan *p, const bn_input *in, const signed char *draw, bool whole, const double low[2],
                        const double high[2])
{
    return bn_shapes_draw(p->ctx, in->shapes, draw, whole, low, high);
}

bool bn_input_open(const bn_input *in, const double a[2], const double b[2])
{
    return bn_shapes_open(in->shapes, a, b);
}

int bn_input_box(const bn_input *in, const double low[2], const double high[2])
{
    return bn_shapes_box(in->shapes, low, high);
}

size_t bn_input_outline(const bn_input *in, long which, double (*points)[2])
{
    return bn_shapes_outline(in->shapes, which, points);
}
