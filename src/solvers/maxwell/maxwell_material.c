/* maxwell_material.c: refractive index and extinction coefficient of the materials: given, or from tables over the
 * wavelength, interpolated linearly. */
#include "maxwell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns of a table of optical constants. */
enum { WAVELENGTH_NM, COLUMN_N, COLUMN_K, COLUMNS };

static bool is_table(const bn_input *t)
{
    static const char *const heads[COLUMNS] = { "wavelength_nm", "n", "k" };
    for (size_t c = 0; c < COLUMNS; c++)
        if (t->columns < COLUMNS || strcmp(t->heads[c], heads[c]) != 0)
            return false;
    for (size_t r = 1; r < t->rows; r++)
        if (!(t->values[r * t->columns] > t->values[(r - 1) * t->columns]))
            return false;
    return true;
}

static int find(const maxwell_structure *s, const char *name)
{
    for (int m = 0; m < s->materials; m++)
        if (strcmp(s->material[m].name, name) == 0)
            return m;
    return -1;
}

static int enter(maxwell_structure *s, const char *name, const bn_input *table)
{
    if (s->materials == MAXWELL_MATERIALS)
        return -1;
    maxwell_material *m = &s->material[s->materials];
    m->mu = (cplx){ 1, 0 };
    snprintf(m->name, sizeof m->name, "%s", name);
    m->table = table;
    return s->materials++;
}

bn_status maxwell_find_material(const bn_case *c, bn_plan *p, maxwell_structure *s, const char *name, int *out)
{
    const bn_input *table;
    char path[MAXWELL_NAME + 16];
    if ((*out = find(s, name)) >= 0 || strlen(name) >= MAXWELL_NAME)
        return BN_OK;
    snprintf(path, sizeof path, "materials/%s", name);
    BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_TABLE, .name = path }, &table));
    if (table && is_table(table))
        *out = enter(s, name, table);
    return BN_OK;
}

/* The nearest of the names and all of them: those of `s`, unless it is NULL, and the tables of the program. */
static bn_status known_names(bn_plan *p, const maxwell_structure *s, const char *word, char hint[MAXWELL_HINT])
{
    enum { TABLES = 64 };
    const char *names[MAXWELL_MATERIALS + TABLES + 1] = { NULL }, *tables;
    char list[MAXWELL_HINT], *at = list;
    size_t count = 0, used = 0;
    BN_TRY(bn_plan_embedded_tables(p, "materials/", &tables));
    snprintf(list, sizeof list, "%s", tables);
    for (int m = 0; s && m < s->materials; m++)
        names[count++] = s->material[m].name;
    while (*at && count < MAXWELL_MATERIALS + TABLES) {
        names[count++] = at;
        at += strcspn(at, ",");
        if (*at) { /* ", " */
            *at = '\0';
            at += 2;
        }
    }
    const char *near = bn_suggest(word, names);
    if (near)
        used = (size_t)snprintf(hint, MAXWELL_HINT, "did you mean \"%s\"? ", near);
    used += (size_t)snprintf(hint + used, MAXWELL_HINT - used, "there are ");
    for (size_t i = 0; i < count && used < MAXWELL_HINT; i++)
        used += (size_t)snprintf(hint + used, MAXWELL_HINT - used, "%s%s", i ? ", " : "", names[i]);
    return BN_OK;
}

bn_status maxwell_unknown_material(bn_plan *p, const maxwell_structure *s, const char *name, char hint[MAXWELL_HINT])
{
    BN_TRY(known_names(p, s, name, hint));
    const size_t used = strlen(hint);
    snprintf(hint + used, MAXWELL_HINT - used, "; a [[material]] adds one");
    return BN_OK;
}

static bn_status read_material(const bn_case *c, bn_plan *p, maxwell_structure *s, size_t item)
{
    const char *name = bn_case_item_text(c, "material.name", item),
               *file = bn_case_item_text(c, "material.table", item);
    const bn_input *table = NULL;
    if (!name[0] || strlen(name) >= MAXWELL_NAME || find(s, name) >= 0) {
        (void)bn_case_reject_item(c, "material.name", item, NULL,
                                  "a material needs a name of its own, up to %d letters", MAXWELL_NAME - 1);
        return BN_OK;
    }
    if (file[0]) {
        char own[MAXWELL_NAME + 64];
        snprintf(own, sizeof own, "materials/%s", file);
        BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_TABLE, .name = own }, &table));
        if (!table)
            BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_TABLE, .name = file }, &table));
        if (!table || !is_table(table)) {
            char hint[MAXWELL_HINT];
            BN_TRY(known_names(p, NULL, file, hint));
            (void)bn_case_reject_item(
                c, "material.table", item, hint,
                table ? "%s has no columns wavelength_nm, n, k with rising wavelengths" : "there is no file %s", file);
            return BN_OK;
        }
    }
    const int m = enter(s, name, table);
    if (m < 0) {
        (void)bn_case_reject_item(c, "material.name", item, NULL, "more than %d materials", (int)MAXWELL_MATERIALS - 1);
        return BN_OK;
    }
    s->material[m].given_n = bn_case_item_real(c, "material.n", item);
    s->material[m].given_k = bn_case_item_real(c, "material.k", item);
    s->material[m].mu = (cplx){ bn_case_item_real(c, "material.mu", item),
                                -bn_case_item_real(c, "material.mu_loss", item) };
    if (s->material[m].mu.re == 0)
        (void)bn_case_reject_item(c, "material.mu", item, NULL, "a permeability of 0 leaves H without an equation");
    return BN_OK;
}

bn_status maxwell_read_materials(const bn_case *c, bn_plan *p, maxwell_structure *s)
{
    s->material[enter(s, "vacuum", NULL)].given_n = 1;
    for (size_t item = 0; item < bn_case_items(c, "material"); item++)
        BN_TRY(read_material(c, p, s, item));
    return BN_OK;
}

void maxwell_set_materials(const bn_case *c, maxwell_structure *s, double wavelength)
{
    for (int i = 0; i < s->materials; i++) {
        maxwell_material *m = &s->material[i];
        m->n = m->given_n;
        m->k = m->given_k;
        if (!m->table)
            continue;
        const bn_input *t = m->table;
        const double nm = 1e9 * wavelength, *v = t->values;
        const double first = v[WAVELENGTH_NM], last = v[(t->rows - 1) * t->columns];
        /* Rounding may put a wavelength at an end of the table beyond it. */
        if (nm < first * (1 - 1e-12) || nm > last * (1 + 1e-12)) {
            if (m->used)
                (void)bn_case_reject(c, "light.wavelength", "other data, or constant n and k, may cover it",
                                     "%s is known from %g to %g nm, not at %g nm", m->name, first, last, nm);
            continue;
        }
        size_t r = 0;
        while (r + 2 < t->rows && v[(r + 1) * t->columns] < nm)
            r++;
        const double *a = v + r * t->columns, *b = t->rows > 1 ? a + t->columns : a;
        const double share = b == a ? 0 : (nm - a[WAVELENGTH_NM]) / (b[WAVELENGTH_NM] - a[WAVELENGTH_NM]);
        m->n = a[COLUMN_N] + share * (b[COLUMN_N] - a[COLUMN_N]);
        m->k = a[COLUMN_K] + share * (b[COLUMN_K] - a[COLUMN_K]);
    }
}

cplx maxwell_index(const maxwell_material *m)
{
    const double size = hypot(m->mu.re, m->mu.im);
    const cplx root = { sqrt(0.5 * (size + m->mu.re)), -sqrt(0.5 * (size - m->mu.re)) };
    return cplx_times((cplx){ m->n, -m->k }, root);
}
