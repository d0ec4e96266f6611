/* schema.c: keys as a list in the order of `binnacle new --all`, and what they allow in words. */
#include "case_parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t bn_key_length(const bn_key *key) { return key->count > 1 ? (size_t)key->count : 1; }

size_t bn_key_table(const char *name)
{
    const char *dot = strrchr(name, '.');
    assert(dot && "a key stands in a table");
    return (size_t)(dot - name);
}

const char *bn_key_leaf(const char *name) { return name + bn_key_table(name) + 1; }

bool bn_key_within(const char *name, const char *table)
{
    size_t bytes = strlen(table);
    return bytes == 0 || (strncmp(name, table, bytes) == 0 && name[bytes] == '.');
}

bool bn_key_same_table(const char *a, const char *b)
{
    size_t bytes = bn_key_table(a);
    return bytes == bn_key_table(b) && memcmp(a, b, bytes) == 0;
}

static const bn_key *find_key(const bn_key *keys, const char *name)
{
    for (; keys && keys->name; keys++)
        if (strcmp(keys->name, name) == 0)
            return keys;
    return NULL;
}

static bool has_table(const bn_key *keys, const char *name)
{
    for (; keys && keys->name; keys++)
        if (bn_key_same_table(keys->name, name))
            return true;
    return false;
}

const char *bn_key_choice(const bn_key *key, int index, size_t *bytes)
{
    const char *choice = key->choices;
    for (; index > 0 && choice; index--) {
        choice = strchr(choice, '|');
        if (choice)
            choice++;
    }
    if (choice)
        *bytes = strcspn(choice, "|");
    return choice;
}

int bn_choice_find(const bn_key *key, const char *text)
{
    size_t bytes = 0;
    const char *choice = NULL;
    for (int i = 0; (choice = bn_key_choice(key, i, &bytes)) != NULL; i++)
        if (strlen(text) == bytes && memcmp(text, choice, bytes) == 0)
            return i;
    return -1;
}

/* Mistakes in a schema are programming errors. */
static void check_key(const bn_key *key)
{
    assert(key->help && strlen(key->name) < 64);
    assert(key->count >= 0 && key->count <= BN_ARRAY_MAX);
    assert(key->count <= 1 || key->type == BN_KEY_INT || key->type == BN_KEY_REAL);
    assert(key->type != BN_KEY_CHOICE || (key->choices && key->def_text && bn_choice_find(key, key->def_text) >= 0));
    (void)key;
}

static void append(bn_value *values, size_t *count, const bn_key *key)
{
    if (key->gone)
        return;
    check_key(key);
    for (size_t i = 0; i < *count; i++) {
        assert((!bn_key_same_table(values[i].key->name, key->name) || values[i].key->list == key->list) &&
               "a table is a list for all of its keys or for none");
        if (strcmp(values[i].key->name, key->name) == 0)
            return;
    }
    values[(*count)++] = (bn_value){ .key = key };
}

/* Appends all keys of the table that `name` stands in, the common ones first; a solver's key replaces a common one of
 * its name. */
static void append_table(bn_value *values, size_t *count, const char *name, const bn_key *schema)
{
    for (const bn_key *k = bn_common_keys; k->name; k++) {
        const bn_key *own = find_key(schema, k->name);
        if (bn_key_same_table(k->name, name))
            append(values, count, own ? own : k);
    }
    for (const bn_key *k = schema; k && k->name; k++)
        if (bn_key_same_table(k->name, name))
            append(values, count, k);
}

bn_value *bn_values_create(const bn_key *schema, size_t *count)
{
    size_t room = 0;
    for (const bn_key *k = bn_common_keys; k->name; k++)
        room++;
    for (const bn_key *k = schema; k && k->name; k++)
        room++;
    bn_value *values = calloc(room, sizeof *values);
    *count = 0;
    if (!values)
        return NULL;
    append_table(values, count, bn_common_keys[0].name, schema);
    for (const bn_key *k = schema; k && k->name; k++)
        if (!has_table(bn_common_keys, k->name))
            append_table(values, count, k->name, schema);
    for (const bn_key *k = bn_common_keys; k->name; k++)
        append_table(values, count, k->name, schema);
    return values;
}

void bn_values_destroy(bn_value **values, size_t count)
{
    for (size_t i = 0; *values && i < count; i++)
        free((*values)[i].text);
    free(*values);
    *values = NULL;
}

/* A limit of a range: integers in full, not as 1e+05. */
static void add_limit(const bn_key *key, double limit, bn_string *out)
{
    if (key->type == BN_KEY_INT && fabs(limit) < 1e15)
        bn_string_add(out, "%lld", (long long)limit);
    else
        bn_string_add_real(out, limit);
}

void bn_key_add_range(const bn_key *key, bn_string *out)
{
    bool range = key->min < key->max;
    bool low = key->above || (range && isfinite(key->min)), high = range && isfinite(key->max);
    if (!low && !high)
        return;
    if (low && high && !key->above) {
        bn_string_add(out, "from ");
        add_limit(key, key->min, out);
        bn_string_add(out, " to ");
        add_limit(key, key->max, out);
    } else {
        if (low) {
            bn_string_add(out, key->above ? "> " : ">= ");
            add_limit(key, key->min, out);
        }
        if (high) {
            bn_string_add(out, low ? " and <= " : "<= ");
            add_limit(key, key->max, out);
        }
    }
    if (key->unit && *key->unit)
        bn_string_add(out, " %s", key->unit);
}

void bn_add_unknown_solver(const char *solver, const bn_schema_source *source, bn_string *out)
{
    const char *near = bn_suggest(solver, source->names);
    bn_string_add(out, "unknown solver `");
    bn_string_add_shown(out, solver, strlen(solver), 60);
    bn_string_add(out, "`%s%s%s Solvers:", near ? "; did you mean `" : ".", near ? near : "", near ? "`?" : "");
    for (const char *const *name = source->names; *name; name++)
        bn_string_add(out, "%s %s", name == source->names ? "" : ",", *name);
}
