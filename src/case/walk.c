/* walk.c: goes through the tables of a case: known keys are read, unknown ones reported with the nearest name, missing
 * ones too. */
#include "walk.h"

#include "nearest.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SHOWN = 60, PATH_BYTES = 160 }; /* a known name has less than 64 bytes */

static bn_value *find_value(const bn_case *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->values[i].key->name, name) == 0)
            return &c->values[i];
    return NULL;
}

static bool is_table(const bn_case *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (bn_key_within(c->values[i].key->name, name))
            return true;
    return false;
}

/* The nearest key or table right below `path`: its name in `*bytes` bytes, and whether it is a table. NULL: none is
 * near. */
static const char *nearest_below(const bn_case *c, const char *path, const char *word, size_t *bytes, bool *table)
{
    const char *near = NULL;
    size_t best = BN_NEAR_NONE, skip = *path ? strlen(path) + 1 : 0;
    for (size_t i = 0; i < c->count; i++) {
        const char *name = c->values[i].key->name;
        if (!bn_key_within(name, path))
            continue;
        size_t count = strcspn(name + skip, ".");
        if (bn_nearer(word, name + skip, count, &best)) {
            near = name + skip;
            *bytes = count;
            *table = near[count] == '.';
        }
    }
    return near;
}

static void add_bracketed(bn_builder *b, const char *path, const char *name, size_t bytes)
{
    bn_builder_add(b, "[%s%s", path, *path ? "." : "");
    bn_builder_add_shown(b, name, bytes, NAME_SHOWN);
    bn_builder_add(b, "]");
}

/* The last help when no name is near: another table that has the key, or all keys of this one. */
static void add_other_place(bn_builder *b, const bn_case *c, const char *path, const char *word)
{
    for (size_t i = 0; i < c->count; i++) {
        const char *name = c->values[i].key->name;
        if (strcmp(bn_key_leaf(name), word) == 0) {
            bn_builder_add(b, "; it belongs in [%.*s]", (int)bn_key_table(name), name);
            return;
        }
    }
    bool first = true;
    size_t bytes = strlen(path);
    for (size_t i = 0; bytes && i < c->count; i++) {
        const char *name = c->values[i].key->name;
        if (!bn_key_within(name, path) || bn_key_table(name) != bytes)
            continue;
        bn_builder_add(b, "%s %s", first ? "; known keys:" : ",", bn_key_leaf(name));
        first = false;
    }
}

static void report_unknown(bn_reader *r, const bn_toml *node, const char *path)
{
    bn_problems *problems = &r->c->reports->problems;
    char *text = NULL;
    if (!bn_problems_full(problems)) {
        bn_builder b = { 0 };
        size_t bytes = 0;
        bool table = false;
        const char *near = nearest_below(r->c, path, node->name, &bytes, &table);
        if (node->type == BN_TOML_TABLE) {
            bn_builder_add(&b, "unknown table ");
            add_bracketed(&b, path, node->name, strlen(node->name));
        } else {
            bn_builder_add(&b, "unknown key `");
            bn_builder_add_shown(&b, node->name, strlen(node->name), NAME_SHOWN);
            bn_builder_add(&b, *path ? "` in [%s]" : "` outside of any table%s", path);
        }
        if (near && table) {
            bn_builder_add(&b, "; did you mean ");
            add_bracketed(&b, path, near, bytes);
            bn_builder_add(&b, "?");
        } else if (near) {
            bn_builder_add(&b, "; did you mean `%.*s`?", (int)bytes, near);
        } else if (node->type != BN_TOML_TABLE) {
            add_other_place(&b, r->c, path, node->name);
        }
        text = bn_builder_take(&b);
    }
    bn_problems_add(problems, node->key, r->override, text);
}

static void report_no_table(bn_reader *r, const bn_toml *node, const char *name)
{
    bn_builder b = { 0 };
    bn_builder_add(&b, "`%s` is a table: write [%s] in a line of its own and its keys below", name, name);
    bn_problems_add(&r->c->reports->problems, node->key, r->override, bn_builder_take(&b));
}

/* Whether an unknown name is worth a message. When the solver is not known, its tables aren't either: then only keys
 * outside of any table, and slips in names of common tables. */
static bool surely_wrong(const bn_case *c, const bn_toml *node, const char *path, bool complete)
{
    size_t bytes = 0;
    bool table = false;
    if (complete || strcmp(path, "case") == 0)
        return true;
    return !*path && (node->type != BN_TOML_TABLE || nearest_below(c, path, node->name, &bytes, &table));
}

static void walk(bn_reader *r, const bn_toml *table, const char *path, bool complete)
{
    for (const bn_toml *node = table->child; node && r->status == BN_OK; node = node->next) {
        char name[PATH_BYTES];
        int bytes = snprintf(name, sizeof name, "%s%s%s", path, *path ? "." : "", node->name);
        bool fits = node->bare && bytes > 0 && (size_t)bytes < sizeof name;
        bn_value *v = fits ? find_value(r->c, name) : NULL;
        if (v && !v->given)
            bn_value_read(r, v, node);
        else if (!v && fits && is_table(r->c, name) && node->type == BN_TOML_TABLE)
            walk(r, node, name, complete); /* no deeper than the names of keys */
        else if (!v && fits && is_table(r->c, name))
            report_no_table(r, node, name);
        else if (!v && surely_wrong(r->c, node, path, complete))
            report_unknown(r, node, path);
    }
}

void bn_walk(bn_reader *r, const bn_toml *root, bool complete) { walk(r, root, "", complete); }

const bn_toml *bn_toml_find(const bn_toml *root, const char *name, size_t bytes)
{
    size_t count = 0;
    while (count < bytes && name[count] != '.')
        count++;
    for (const bn_toml *node = root->child; node; node = node->next)
        if (node->bare && strlen(node->name) == count && memcmp(node->name, name, count) == 0)
            return count == bytes ? node : bn_toml_find(node, name + count + 1, bytes - count - 1);
    return NULL;
}

void bn_walk_missing(bn_reader *r, const bn_toml *root)
{
    for (size_t i = 0; i < r->c->count; i++) {
        const bn_key *key = r->c->values[i].key;
        if (!key->required || r->c->values[i].given)
            continue;
        size_t bytes = bn_key_table(key->name);
        const bn_toml *table = root ? bn_toml_find(root, key->name, bytes) : NULL;
        bn_builder b = { 0 };
        bn_builder_add(&b, "missing key `%s` in [%.*s]: %s", bn_key_leaf(key->name), (int)bytes, key->name, key->help);
        bn_problems_add(&r->c->reports->problems, table ? table->key : (bn_place){ 0 }, 0, bn_builder_take(&b));
    }
}
