/* plan_files.c: memory that a plan lends to the solver, and files that it reads for it. */
#include "sim/plan.h"

#include "api/embedded_files.h"
#include "io/csv_read.h"
#include "io/file.h"
#include "io/png_read.h"
#include "io/volume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, NUMBERS_BYTES = 1 << 26 /* of a file of numbers */ };

/* A piece of memory in the plan's list. */
struct bn_kept {
    struct bn_kept *next;
    void *data;
};

static bn_status keep(bn_plan *p, void *data)
{
    struct bn_kept *k = data ? calloc(1, sizeof *k) : NULL;
    if (!k) {
        free(data);
        return bn_fail(p->ctx, BN_MEMORY, "no memory for the plan of the case");
    }
    *k = (struct bn_kept){ p->kept, data };
    p->kept = k;
    return BN_OK;
}

bn_status bn_plan_keep(bn_plan *p, size_t bytes, void **out)
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
        struct bn_kept *next = p->kept->next;
        free(p->kept->data);
        free(p->kept);
        p->kept = next;
    }
}

/* Where a file of the case lies: a relative path begins at the case file. False: the path is too long. */
static bool path_of(const bn_case *c, const char *name, char *path, size_t bytes)
{
    const char *slash = strrchr(bn_case_path(c), '/');
    const int folder = name[0] == '/' || !slash ? 0 : (int)(slash + 1 - bn_case_path(c));
    return snprintf(path, bytes, "%.*s%s", folder, bn_case_path(c), name) < (int)bytes;
}

static bn_status read_grey(bn_plan *p, const bn_case *c, const char *key, const char *name, uint32_t *width,
                           uint32_t *height, const unsigned char **grey)
{
    *grey = NULL;
    char path[PATH_BYTES];
    unsigned char *values = NULL;
    if (!path_of(c, name, path, sizeof path))
        return bn_fail(p->ctx, BN_CASE, "the path that is %s of %s is too long", key, bn_case_path(c));
    const bn_status st = bn_png_read_grey(p->ctx, path, width, height, &values);
    if (st != BN_OK) {
        bn_note(p->ctx, "which is %s of %s", key, bn_case_path(c));
        return st;
    }
    BN_TRY(keep(p, values));
    *grey = values;
    return BN_OK;
}

bn_status bn_plan_grey(bn_plan *p, const bn_case *c, const char *key, uint32_t *width, uint32_t *height,
                       const unsigned char **grey)
{
    return read_grey(p, c, key, bn_case_text(c, key), width, height, grey);
}

bn_status bn_plan_item_grey(bn_plan *p, const bn_case *c, const char *key, size_t item, uint32_t *width,
                            uint32_t *height, const unsigned char **grey)
{
    return read_grey(p, c, key, bn_case_item_text(c, key, item), width, height, grey);
}

static bn_status read_rgb(bn_plan *p, const bn_case *c, const char *key, const char *name, uint32_t *width,
                          uint32_t *height, const unsigned char **rgb)
{
    *rgb = NULL;
    char path[PATH_BYTES];
    unsigned char *values = NULL;
    if (!path_of(c, name, path, sizeof path))
        return bn_case_reject(c, key, NULL, "the path is too long");
    const bn_status st = bn_png_read_rgb(p->ctx, path, width, height, &values);
    if (st != BN_OK) {
        bn_note(p->ctx, "which is %s of %s", key, bn_case_path(c));
        return st;
    }
    BN_TRY(keep(p, values));
    *rgb = values;
    return BN_OK;
}

bn_status bn_plan_rgb(bn_plan *p, const bn_case *c, const char *key, uint32_t *width, uint32_t *height,
                      const unsigned char **rgb)
{
    return read_rgb(p, c, key, bn_case_text(c, key), width, height, rgb);
}

bn_status bn_plan_rgb_item(bn_plan *p, const bn_case *c, const char *key, size_t item, uint32_t *width, uint32_t *height,
                           const unsigned char **rgb)
{
    return read_rgb(p, c, key, bn_case_item_text(c, key, item), width, height, rgb);
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
    BN_TRY(bn_plan_keep(p, t->columns * sizeof *heads, (void **)&heads));
    BN_TRY(bn_plan_keep(p, sizeof *numbers, (void **)&numbers));
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
        if (!path_of(c, name, path, sizeof path) || access(path, F_OK) != 0)
            return BN_OK;
        BN_TRY(bn_file_read(p->ctx, path, NUMBERS_BYTES, &text, &bytes));
    }
    BN_GO(bn_csv_parse(p->ctx, own ? name : path, own ? own : text, &t));
    BN_GO(keep_numbers(p, &t, out));
out:
    bn_csv_table_free(&t);
    free(text);
    return st;
}

bn_status bn_plan_volume(bn_plan *p, const bn_case *c, const char *key, const char *array, bn_volume_numbers *out)
{
    char path[PATH_BYTES];
    bn_volume v;
    *out = (bn_volume_numbers){ .values = NULL };
    if (!path_of(c, bn_case_text(c, key), path, sizeof path))
        return bn_case_reject(c, key, NULL, "the path is too long");
    if (bn_volume_read(p->ctx, path, array, &v) != BN_OK) {
        bn_note(p->ctx, "which is %s of %s", key, bn_case_path(c));
        return bn_error_status(p->ctx);
    }
    BN_TRY(keep(p, v.values));
    *out = (bn_volume_numbers){ { v.n[0], v.n[1], v.n[2] }, { v.h[0], v.h[1], v.h[2] }, v.values };
    return BN_OK;
}
