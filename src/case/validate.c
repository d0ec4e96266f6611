/* validate.c: goes through the tables of a case: known keys are read, unknown ones reported with a suggestion,
 * missing ones too. */
#include "validate.h"

#include "suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 60, PATH_BYTES = 160 }; /* a known name has less than 64 bytes */

static bn_value *find_value(const bn_case *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->values[i].key->name, name) == 0)
            return &c->values[i];
    return NULL;
}

/* Whether a value is one of an item of `list`, or the pattern of one. */
static bool is_of(const bn_value *v, const char *list)
{
    return bn_key_table(v->key->name) == strlen(list) && bn_key_within(v->key->name, list);
}

/* Whether `name` is a list of tables. */
static bool is_list(const bn_case *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->values[i].key->list && is_of(&c->values[i], name))
            return true;
    return false;
}

static bool is_table(const bn_case *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (bn_key_within(c->values[i].key->name, name))
            return true;
    return false;
}

/* The most similar key or table right below `path`: its name in `*bytes` bytes, and whether it is a table. NULL: none
 * is near. */
static const char *suggest_below(const bn_case *c, const char *path, const char *word, size_t *bytes, bool *table)
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

static void add_bracketed(bn_string *b, const char *path, const char *name, size_t bytes)
{
    bn_string_add(b, "[%s%s", path, *path ? "." : "");
    bn_string_add_shown(b, name, bytes, NAME_SHOWN);
    bn_string_add(b, "]");
}

/* The last help when no name is near: another table that has the key, or all keys of this one. */
static void add_other_place(bn_string *b, const bn_case *c, const char *path, const char *word)
{
    for (size_t i = 0; i < c->count; i++) {
        const char *name = c->values[i].key->name;
        if (strcmp(bn_key_leaf(name), word) == 0) {
            bn_string_add(b, "; it belongs in [%.*s]", (int)bn_key_table(name), name);
            return;
        }
    }
    bool first = true;
    size_t bytes = strlen(path);
    for (size_t i = 0; bytes && i < c->count; i++) {
        const char *name = c->values[i].key->name;
        if (!bn_key_within(name, path) || bn_key_table(name) != bytes)
            continue;
        bn_string_add(b, "%s %s", first ? "; known keys:" : ",", bn_key_leaf(name));
        first = false;
    }
}

/* The message for a removed key, or for a table whose keys are all removed; NULL: the schema does not know it. */
static const char *gone(const bn_case *c, const char *name)
{
    const size_t length = strlen(name);
    for (const bn_key *k = c->schema; k && k->name; k++)
        if (k->gone && strncmp(k->name, name, length) == 0 && (!k->name[length] || k->name[length] == '.'))
            return k->gone;
    return NULL;
}

static void report_unknown(bn_reader *r, const bn_toml *node, const char *path)
{
    bn_diagnostics *list = &r->c->reports->list;
    char *text = NULL, key[PATH_BYTES] = "";
    snprintf(key, sizeof key, "%s%s%s", path, *path ? "." : "", node->name);
    const char *why_gone = gone(r->c, key);
    if (why_gone) {
        bn_string b = { 0 };
        if (node->type == BN_TOML_TABLE)
            bn_string_add(&b, "[%s] is gone: %s", key, why_gone);
        else
            bn_string_add(&b, "`%s` in [%s] is gone: %s", node->name, path, why_gone);
        text = bn_string_take(&b);
    } else if (!bn_diagnostics_full(list)) {
        bn_string b = { 0 };
        size_t bytes = 0;
        bool table = false;
        const char *near = suggest_below(r->c, path, node->name, &bytes, &table);
        if (node->type == BN_TOML_TABLE) {
            bn_string_add(&b, "unknown table ");
            add_bracketed(&b, path, node->name, strlen(node->name));
        } else {
            bn_string_add(&b, "unknown key `");
            bn_string_add_shown(&b, node->name, strlen(node->name), NAME_SHOWN);
            bn_string_add(&b, *path ? "` in [%s]" : "` outside of any table%s", path);
        }
        if (near && table) {
            bn_string_add(&b, "; did you mean ");
            add_bracketed(&b, path, near, bytes);
            bn_string_add(&b, "?");
        } else if (near) {
            bn_string_add(&b, "; did you mean `%.*s`?", (int)bytes, near);
        } else if (node->type != BN_TOML_TABLE) {
            add_other_place(&b, r->c, path, node->name);
        }
        text = bn_string_take(&b);
    }
    bn_diagnostics_add(list, node->key, r->override, key, text);
}

static void report_no_table(bn_reader *r, const bn_toml *node, const char *name)
{
    bn_string b = { 0 };
    bn_string_add(&b, "`%s` is a table: write [%s] in a line of its own and its keys below", name, name);
    bn_diagnostics_add(&r->c->reports->list, node->key, r->override, name, bn_string_take(&b));
}

/* Whether an unknown name is worth a message. When the solver is not known, its tables aren't either: then only keys
 * outside of any table, and slips in names of common tables. */
static bool surely_wrong(const bn_case *c, const bn_toml *node, const char *path, bool complete)
{
    size_t bytes = 0;
    bool table = false;
    if (complete || strcmp(path, "case") == 0)
        return true;
    return !*path && (node->type != BN_TOML_TABLE || suggest_below(c, path, node->name, &bytes, &table));
}

/* Adds the values of one more item of `list`, copies of its patterns; returns the first, NULL without memory. */
static bn_value *add_item(bn_reader *r, const char *list, size_t number, size_t *count)
{
    bn_case *c = r->c;
    *count = 0;
    for (size_t i = 0; i < c->count; i++)
        *count += c->values[i].key->list && is_of(&c->values[i], list);
    bn_value *items = realloc(c->items, (c->item_count + *count) * sizeof *items);
    if (!items) {
        r->status = bn_fail(c->ctx, BN_MEMORY, "no memory for the list %s", list);
        return NULL;
    }
    c->items = items;
    bn_value *first = items + c->item_count;
    for (size_t i = 0; i < c->count; i++)
        if (c->values[i].key->list && is_of(&c->values[i], list))
            items[c->item_count++] = (bn_value){ .key = c->values[i].key, .item = number };
    return first;
}

/* One item: its keys, what is missing, defaults. */
static void read_item(bn_reader *r, const bn_toml *table, const char *list, size_t number)
{
    size_t count;
    bn_value *values = add_item(r, list, number, &count);
    for (const bn_toml *node = values ? table->child : NULL; node && r->status == BN_OK; node = node->next) {
        bn_value *v = NULL;
        for (size_t i = 0; i < count && node->bare; i++)
            if (strcmp(bn_key_leaf(values[i].key->name), node->name) == 0)
                v = &values[i];
        if (v)
            bn_value_read(r, v, node);
        else
            report_unknown(r, node, list);
    }
    for (size_t i = 0; values && i < count && r->status == BN_OK; i++) {
        const bn_key *key = values[i].key;
        if (key->required && !values[i].given) {
            bn_string b = { 0 };
            bn_string_add(&b, "missing key `%s` in [[%s]] number %zu: %s", bn_key_leaf(key->name), list, number,
                          key->help);
            bn_diagnostics_add(&r->c->reports->list, table->value, r->override, key->name, bn_string_take(&b));
        }
        if (!values[i].given && bn_value_default(&values[i], key->def_text) != BN_OK)
            r->status = bn_fail(r->c->ctx, BN_MEMORY, "no memory for the list %s", list);
    }
}

static void read_list(bn_reader *r, const bn_toml *node, const char *list)
{
    bn_string b = { 0 };
    size_t number = 0;
    bool tables = node->type == BN_TOML_ARRAY;
    for (const bn_toml *item = node->child; tables && item; item = item->next)
        tables = item->type == BN_TOML_TABLE;
    if (!tables)
        bn_string_add(&b, "`%s` is a list: write [[%s]] in a line of its own and the keys of an item below", list,
                      list);
    else if (node->count > BN_LIST_MAX)
        bn_string_add(&b, "`%s` has %zu items; at most %d are possible", list, node->count, (int)BN_LIST_MAX);
    if (b.bytes) {
        bn_diagnostics_add(&r->c->reports->list, node->key, r->override, list, bn_string_take(&b));
        return;
    }
    for (const bn_toml *item = node->child; item && r->status == BN_OK; item = item->next)
        read_item(r, item, list, ++number);
}

static void validate_table(bn_reader *r, const bn_toml *table, const char *path, bool complete)
{
    for (const bn_toml *node = table->child; node && r->status == BN_OK; node = node->next) {
        char name[PATH_BYTES];
        int bytes = snprintf(name, sizeof name, "%s%s%s", path, *path ? "." : "", node->name);
        bool fits = node->bare && bytes > 0 && (size_t)bytes < sizeof name;
        bn_value *v = fits ? find_value(r->c, name) : NULL;
        if (fits && is_list(r->c, name)) {
            if (!r->override) /* else bn_validate_items, when the file's items are known */
                read_list(r, node, name);
        } else if (v && !v->given)
            bn_value_read(r, v, node);
        else if (!v && fits && is_table(r->c, name) && node->type == BN_TOML_TABLE)
            validate_table(r, node, name, complete); /* no deeper than the names of keys */
        else if (!v && fits && is_table(r->c, name))
            report_no_table(r, node, name);
        else if (!v && surely_wrong(r->c, node, path, complete))
            report_unknown(r, node, path);
    }
}

void bn_validate(bn_reader *r, const bn_toml *root, bool complete) { validate_table(r, root, "", complete); }

/* The number that a name is, from 1; 0: it is none. */
static size_t item_number(const char *name)
{
    const size_t bytes = strspn(name, "0123456789");
    return bytes > 0 && bytes < 4 && !name[bytes] ? (size_t)strtoul(name, NULL, 10) : 0;
}

static void override_item(bn_reader *r, const bn_toml *table, const char *list, size_t number)
{
    for (const bn_toml *node = table->child; node && r->status == BN_OK; node = node->next) {
        bn_value *v = NULL;
        for (size_t i = 0; i < r->c->item_count && !v; i++) {
            bn_value *of = &r->c->items[i];
            if (of->item == number && is_of(of, list) && strcmp(bn_key_leaf(of->key->name), node->name) == 0)
                v = of;
        }
        if (!v) {
            report_unknown(r, node, list);
            continue;
        }
        free(v->text);
        v->text = NULL;
        bn_value_read(r, v, node);
    }
}

/* Another list in the place of the file's. */
static void replace_list(bn_reader *r, const bn_toml *node, const char *list)
{
    bn_case *c = r->c;
    size_t left = 0;
    for (size_t i = 0; i < c->item_count; i++)
        if (is_of(&c->items[i], list))
            free(c->items[i].text);
        else
            c->items[left++] = c->items[i];
    c->item_count = left;
    read_list(r, node, list);
}

static void override_list(bn_reader *r, const bn_toml *node, const char *list)
{
    size_t items = 0;
    if (node->type == BN_TOML_ARRAY) {
        replace_list(r, node, list);
        return;
    }
    for (size_t i = 0; i < r->c->item_count; i++)
        if (is_of(&r->c->items[i], list))
            items = r->c->items[i].item > items ? r->c->items[i].item : items;
    for (const bn_toml *item = node->type == BN_TOML_TABLE ? node->child : NULL; item; item = item->next) {
        const size_t number = item_number(item->name);
        if (item->type != BN_TOML_TABLE || number == 0 || number > items)
            break;
        override_item(r, item, list, number);
        if (!item->next)
            return;
    }
    bn_string b = { 0 };
    bn_string_add(&b, "`%s` is a list, of which the file has %zu item%s: %s.1.KEY=VALUE changes a key of the first",
                  list, items, items == 1 ? "" : "s", list);
    bn_diagnostics_add(&r->c->reports->list, node->key, r->override, list, bn_string_take(&b));
}

static void override_items(bn_reader *r, const bn_toml *table, const char *path)
{
    for (const bn_toml *node = table->child; node && r->status == BN_OK; node = node->next) {
        char name[PATH_BYTES];
        const int bytes = snprintf(name, sizeof name, "%s%s%s", path, *path ? "." : "", node->name);
        if (bytes < 0 || (size_t)bytes >= sizeof name || !node->bare)
            continue;
        if (is_list(r->c, name))
            override_list(r, node, name);
        else if (node->type == BN_TOML_TABLE && is_table(r->c, name))
            override_items(r, node, name); /* no deeper than the names of keys */
    }
}

void bn_validate_items(bn_reader *r, const bn_toml *root) { override_items(r, root, ""); }

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

void bn_validate_missing(bn_reader *r, const bn_toml *root)
{
    for (size_t i = 0; i < r->c->count; i++) {
        const bn_key *key = r->c->values[i].key;
        if (!key->required || key->list || r->c->values[i].given)
            continue;
        size_t bytes = bn_key_table(key->name);
        const bn_toml *table = root ? bn_toml_find(root, key->name, bytes) : NULL;
        bn_string b = { 0 };
        bn_string_add(&b, "missing key `%s` in [%.*s]: %s", bn_key_leaf(key->name), (int)bytes, key->name, key->help);
        bn_diagnostics_add(&r->c->reports->list, table ? table->key : (bn_toml_place){ 0 }, 0, key->name,
                           bn_string_take(&b));
    }
}
