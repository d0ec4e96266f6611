/* results.c: named scalars that plan() announced, tables, and small text files. */
#include "sim/results_list.h"
#include "sim/results_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct bn_stored_table {
    char *name;
    bn_column *columns;
    size_t count, rows;
} bn_stored_table;

typedef struct bn_stored_text {
    char *name, *text;
} bn_stored_text;

struct bn_results {
    bn_context *ctx;
    bn_result_info *scalars;
    size_t scalar_count;
    bn_stored_table *tables;
    size_t table_count;
    bn_map *maps;
    size_t map_count;
    bn_stored_text *texts;
    size_t text_count;
    char *unconverged;
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
    for (size_t i = 0; i < p->result_count; i++) {
        const bn_plan_number *n = &p->results[i];
        r->scalars[i] = (bn_result_info){ n->name, n->unit, n->help, (double)NAN, n->value, n->tolerance, n->source };
    }
    *out = r;
    return BN_OK;
}

static void free_table(bn_stored_table *t)
{
    for (size_t c = 0; t->columns && c < t->count; c++) {
        free((char *)t->columns[c].name);
        free((char *)t->columns[c].unit);
        free((double *)t->columns[c].values);
    }
    free(t->columns);
    free(t->name);
}

static void free_map(bn_map *m)
{
    free((char *)m->name);
    free((char *)m->title);
    free((char *)m->quantity);
    free((char *)m->unit);
    free((char *)m->axes[0]);
    free((char *)m->axes[1]);
    free((char *)m->line_label);
    free((double *)m->values);
    free((double *)m->lines);
    free((double *)m->levels);
}

void bn_results_destroy(bn_results **results)
{
    if (!results || !*results)
        return;
    for (size_t i = 0; i < (*results)->table_count; i++)
        free_table(&(*results)->tables[i]);
    for (size_t i = 0; i < (*results)->map_count; i++)
        free_map(&(*results)->maps[i]);
    free((*results)->maps);
    for (size_t i = 0; i < (*results)->text_count; i++) {
        free((*results)->texts[i].name);
        free((*results)->texts[i].text);
    }
    free((*results)->texts);
    free((*results)->unconverged);
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

/* Copies the caller's columns; false: no memory, and `t` holds what was copied. */
static bool copy_table(bn_stored_table *t, const char *name, const bn_column *columns, size_t count, size_t rows)
{
    *t = (bn_stored_table){
        .name = strdup(name), .columns = calloc(count, sizeof *t->columns), .count = count, .rows = rows
    };
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
    bn_stored_table t;
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
    bn_stored_table *grown = realloc(r->tables, (r->table_count + 1) * sizeof *grown);
    if (!grown) {
        free_table(&t);
        return bn_fail(r->ctx, BN_MEMORY, "no memory for the table %s", name);
    }
    r->tables = grown;
    r->tables[r->table_count++] = t;
    return BN_OK;
}

static bool copy_text(const char **out, const char *text)
{
    *out = strdup(text ? text : "");
    return *out != NULL;
}

static bool copy_values(const double **out, const double *values, size_t count)
{
    double *copy = values ? malloc(count * sizeof *copy + 1) : NULL;
    if (copy)
        memcpy(copy, values, count * sizeof *copy);
    *out = copy;
    return copy || !values;
}

static bool copy_map(bn_map *to, const bn_map *m)
{
    const size_t count = (size_t)m->n[0] * m->n[1];
    *to = *m;
    to->name = to->title = to->quantity = to->unit = to->axes[0] = to->axes[1] = to->line_label = NULL;
    to->values = to->lines = to->levels = NULL;
    return copy_text(&to->name, m->name) && copy_text(&to->title, m->title) && copy_text(&to->quantity, m->quantity) &&
           copy_text(&to->unit, m->unit) && copy_text(&to->axes[0], m->axes[0]) &&
           copy_text(&to->axes[1], m->axes[1]) && (!m->line_label || copy_text(&to->line_label, m->line_label)) &&
           copy_values(&to->values, m->values, count) && copy_values(&to->lines, m->lines, count) &&
           copy_values(&to->levels, m->levels, m->level_count);
}

bn_status bn_result_map(bn_results *r, const bn_map *m)
{
    bn_map copy;
    bn_map *grown = realloc(r->maps, (r->map_count + 1) * sizeof *grown);
    if (grown)
        r->maps = grown;
    if (!copy_map(&copy, m) || !grown) {
        free_map(&copy);
        return bn_fail(r->ctx, BN_MEMORY, "no memory for the map %s", m->name);
    }
    for (size_t i = 0; i < r->map_count; i++)
        if (strcmp(r->maps[i].name, m->name) == 0) { /* measured again */
            free_map(&r->maps[i]);
            r->maps[i] = copy;
            return BN_OK;
        }
    r->maps[r->map_count++] = copy;
    return BN_OK;
}

size_t bn_results_maps(const bn_results *r) { return r->map_count; }
const bn_map *bn_results_map_at(const bn_results *r, size_t index) { return &r->maps[index]; }

bn_status bn_result_text(bn_results *r, const char *name, const char *text)
{
    bn_stored_text t = { strdup(name), strdup(text) };
    size_t at = 0;
    while (at < r->text_count && strcmp(r->texts[at].name, name) != 0)
        at++;
    bn_stored_text *grown = at < r->text_count ? r->texts : realloc(r->texts, (r->text_count + 1) * sizeof *grown);
    if (grown)
        r->texts = grown;
    if (!t.name || !t.text || !grown) {
        free(t.name);
        free(t.text);
        return bn_fail(r->ctx, BN_MEMORY, "no memory for the text %s", name);
    }
    if (at < r->text_count) { /* measured again */
        free(r->texts[at].name);
        free(r->texts[at].text);
    } else
        r->text_count++;
    r->texts[at] = t;
    return BN_OK;
}

bn_status bn_result_unconverged(bn_results *r, const char *what)
{
    free(r->unconverged);
    r->unconverged = strdup(what);
    return r->unconverged ? BN_OK : bn_fail(r->ctx, BN_MEMORY, "no memory for a name");
}

const char *bn_results_unconverged(const bn_results *r) { return r->unconverged; }

size_t bn_results_texts(const bn_results *r) { return r->text_count; }

const char *bn_results_text_at(const bn_results *r, size_t index, const char **text)
{
    *text = r->texts[index].text;
    return r->texts[index].name;
}

size_t bn_results_count(const bn_results *r) { return r->scalar_count; }
const bn_result_info *bn_results_at(const bn_results *r, size_t index) { return &r->scalars[index]; }
size_t bn_results_tables(const bn_results *r) { return r->table_count; }

const char *bn_results_table_at(const bn_results *r, size_t index, const bn_column **columns, size_t *count,
                                size_t *rows)
{
    const bn_stored_table *t = &r->tables[index];
    *columns = t->columns;
    *count = t->count;
    *rows = t->rows;
    return t->name;
}

bool bn_column_is_error(const char *name)
{
    const size_t n = strlen(name), m = strlen(BN_STANDARD_ERROR);
    return n > m && strcmp(name + n - m, BN_STANDARD_ERROR) == 0;
}
