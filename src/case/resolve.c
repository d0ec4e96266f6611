/* resolve.c: a case written back as TOML, with its defaults. */
#include "case_parts.h"

#include <stdlib.h>
#include <string.h>

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

static bn_status tell_change(const bn_value *v, void (*tell)(void *, const bn_case_change *), void *user)
{
    bn_string value = { 0 }, def = { 0 };
    bn_value usual = { .key = v->key };
    bn_status st = v->key->required ? BN_OK : bn_value_default(&usual, v->key->def_text);
    bn_value_add(v, &value);
    if (st == BN_OK && !v->key->required)
        bn_value_add(&usual, &def);
    if (value.failed || def.failed)
        st = BN_MEMORY;
    if (st == BN_OK && (v->key->required || strcmp(bn_string_text(&value), bn_string_text(&def)) != 0))
        tell(user, &(bn_case_change){ .key = v->key->name,
                                      .item = v->item,
                                      .value = bn_string_text(&value),
                                      .def = v->key->required ? NULL : bn_string_text(&def),
                                      .unit = v->key->unit ? v->key->unit : "",
                                      .help = v->key->help });
    free(usual.text);
    bn_string_clear(&value);
    bn_string_clear(&def);
    return st == BN_OK ? BN_OK : BN_MEMORY;
}

bn_status bn_case_changes(const bn_case *c, void (*tell)(void *user, const bn_case_change *), void *user)
{
    for (size_t i = 0; i < c->count + c->item_count; i++) {
        const bn_value *v = i < c->count ? &c->values[i] : &c->items[i - c->count];
        if ((v->key->list && v->item == 0) || !v->given || v->preferred || !bn_value_counts(c, v))
            continue;
        if (tell_change(v, tell, user) != BN_OK)
            return bn_fail(c->ctx, BN_MEMORY, "no memory for the list of what a case changes");
    }
    return BN_OK;
}
