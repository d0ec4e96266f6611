/* resolve.c: a case written back as TOML, with its defaults. */
#include "case_parts.h"

/* Writes a key as the case has it: without preferences of a device, keys of choices that were not made, and defaults of
 * values that are decided elsewhere. */
static void add_line(bn_string *b, const bn_case *c, const bn_value *v)
{
    bn_value own = *v;
    if (!bn_value_counts(c, v) || (v->key->inferred && !v->given))
        return;
    if (v->preferred && v->key->type == BN_KEY_INT)
        own.is.integer[0] = v->before;
    else if (v->preferred)
        own.is.choice = (int)v->before;
    bn_string_add(b, "%s = ", bn_key_leaf(v->key->name));
    bn_value_add(&own, b);
    if (v->key->unit && *v->key->unit)
        bn_string_add(b, " # %s", v->key->unit);
    bn_string_add(b, "\n");
}

/* The items of the list that `pattern` is the first key of. */
static void add_items(bn_string *b, const bn_case *c, const bn_key *pattern)
{
    const char *name = pattern->name;
    for (size_t i = 0; i < c->item_count; i++) {
        const bn_value *v = &c->items[i];
        if (!bn_key_same_table(v->key->name, name))
            continue;
        if (v->key == pattern)
            bn_string_add(b, "\n[[%.*s]]\n", (int)bn_key_table(name), name);
        add_line(b, c, v);
    }
}

bn_status bn_case_resolved(const bn_case *c, char **text)
{
    bn_string b = { 0 };
    bn_string_add(&b, "# Every key of the case as it was run, in SI; defaults are filled in.\n");
    for (size_t i = 0; i < c->count; i++) {
        const bn_key *key = c->values[i].key;
        const bool first = i == 0 || !bn_key_same_table(c->values[i - 1].key->name, key->name);
        if (first && key->list)
            add_items(&b, c, key);
        else if (first)
            bn_string_add(&b, "\n[%.*s]\n", (int)bn_key_table(key->name), key->name);
        if (!key->list)
            add_line(&b, c, &c->values[i]);
    }
    *text = bn_string_take(&b);
    return *text ? BN_OK : bn_fail(c->ctx, BN_MEMORY, "no memory for the text of the resolved case");
}
