/* results.c: named scalars that plan() announced, and tables. */
#include "sim/results_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct bn_table {
    char *name;
    bn_column *columns;
    size_t count, rows;
} bn_table;

typedef struct bn_text {
    char *file, *text;
} bn_text;

struct bn_results {
    bn_context *ctx;
    bn_result_info *scalars;
    size_t scalar_count;
    bn_table *tables;
    size_t table_count;
    bn_text *texts;
    size_t text_count;
};

bn_status bn_results_create(const bn_plan *p, bn_results **out)
{
    *out = NULL;
    bn_results *r = calloc(1, sizeof *r);
    if (!r || !(r->scalars = calloc(p->result_count + 1, sizeof *r->scalars))) {
        free(r);
        return bn_fail(p->ctx, BN_MEMORY, "no memory for the results");
    }
    r->ctx = p->ctx;
    r->scalar_count = p->result_count;
    for (size_t i = 0; i < p->result_count; i++)
        r->scalars[i] = (bn_result_info){ p->results[i].name, p->results[i].unit, p->results[i].help, (double)NAN };
    *out = r;
    return BN_OK;
}

static void free_table(bn_table *t)
{
    for (size_t c = 0; t->columns && c < t->count; c++) {
        free((char *)t->columns[c].name);
        free((char *)t->columns[c].unit);
        free((double *)t->columns[c].values);
    }
    free(t->columns);
    free(t->name);
}

void bn_results_destroy(bn_results **results)
{
    if (!results || !*results)
        return;
    for (size_t i = 0; i < (*results)->table_count; i++)
        free_table(&(*results)->tables[i]);
    for (size_t i = 0; i < (*results)->text_count; i++) {
        free((*results)->texts[i].file);
        free((*results)->texts[i].text);
    }
    free((*results)->texts);
    free((*results)->tables);
    free((*results)->scalars);
    free(*results);
    *results = NULL;
}

bn_status bn_result(bn_results *r, const char *name, double value)
{
    for (size_t i = 0; i < r->scalar_count; i++)
        if (strcmp(r->scalars[i].name, name) == 0) {
            r->scalars[i].value = value;
            return BN_OK;
        }
    return bn_fail(r->ctx, BN_USAGE, "the result %s was not announced by the plan", name);
}

/* A copy of the caller's columns; false when memory is out, with what was copied in `t`. */
static bool copy_table(bn_table *t, const char *name, const bn_column *columns, size_t count, size_t rows)
{
    *t = (bn_table){ .name = strdup(name), .columns = calloc(count, sizeof *t->columns), .count = count, .rows = rows };
    if (!t->name || !t->columns)
        return false;
    for (size_t c = 0; c < count; c++) {
        double *values = malloc(rows * sizeof *values + 1);
        t->columns[c] = (bn_column){ strdup(columns[c].name), strdup(columns[c].unit ? columns[c].unit : ""), values };
        if (!t->columns[c].name || !t->columns[c].unit || !values)
            return false;
        memcpy(values, columns[c].values, rows * sizeof *values);
    }
    return true;
}

bn_status bn_result_table(bn_results *r, const char *name, const bn_column *columns, size_t count, size_t rows)
{
    bn_table t;
    if (!copy_table(&t, name, columns, count, rows)) {
        free_table(&t);
        return bn_fail(r->ctx, BN_MEMORY, "no memory for the table %s", name);
    }
    for (size_t i = 0; i < r->table_count; i++)
        if (strcmp(r->tables[i].name, name) == 0) { /* measured again */
            free_table(&r->tables[i]);
            r->tables[i] = t;
            return BN_OK;
        }
    bn_table *grown = realloc(r->tables, (r->table_count + 1) * sizeof *grown);
    if (!grown) {
        free_table(&t);
        return bn_fail(r->ctx, BN_MEMORY, "no memory for the table %s", name);
    }
    r->tables = grown;
    r->tables[r->table_count++] = t;
    return BN_OK;
}

size_t bn_results_count(const bn_results *r) { return r->scalar_count; }
const bn_result_info *bn_results_at(const bn_results *r, size_t index) { return &r->scalars[index]; }
size_t bn_results_tables(const bn_results *r) { return r->table_count; }

const char *bn_results_table_at(const bn_results *r, size_t index, const bn_column **columns, size_t *count,
                                size_t *rows)
{
    const bn_table *t = &r->tables[index];
    *columns = t->columns;
    *count = t->count;
    *rows = t->rows;
    return t->name;
}

bn_status bn_result_text(bn_results *r, const char *file, const char *text)
{
    bn_text t = { strdup(file), strdup(text) };
    size_t at = 0;
    while (at < r->text_count && strcmp(r->texts[at].file, file) != 0)
        at++;
    bn_text *texts = at < r->text_count ? r->texts : realloc(r->texts, (r->text_count + 1) * sizeof *texts);
    if (texts)
        r->texts = texts;
    if (!t.file || !t.text || !texts) {
        free(t.file);
        free(t.text);
        return bn_fail(r->ctx, BN_MEMORY, "no memory for the text %s", file);
    }
    if (at < r->text_count) {
        free(r->texts[at].file);
        free(r->texts[at].text);
    } else {
        r->text_count++;
    }
    r->texts[at] = t;
    return BN_OK;
}

size_t bn_results_texts(const bn_results *r) { return r->text_count; }

const char *bn_results_text_at(const bn_results *r, size_t index, const char **text)
{
    *text = r->texts[index].text;
    return r->texts[index].file;
}
