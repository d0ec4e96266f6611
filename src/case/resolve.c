/* resolve.c: defaults filled in, and a case written back as TOML. */
#include "case_parts.h"

#include <stdlib.h>
#include <string.h>

bn_status bn_value_default(bn_value *v, const char *def_text)
{
    const bn_key *key = v->key;
    switch (key->type) {
    case BN_KEY_INT:
        for (size_t i = 0; i < bn_key_length(key); i++)
            v->is.integer[i] = (long long)key->def;
        break;
    case BN_KEY_REAL:
        for (size_t i = 0; i < bn_key_length(key); i++)
            v->is.real[i] = key->def;
        break;
    case BN_KEY_BOOL: v->is.boolean = key->def > 0; break;
    case BN_KEY_CHOICE: v->is.choice = bn_choice_find(key, def_text); break;
    case BN_KEY_TEXT:
        def_text = def_text ? def_text : "";
        v->text = malloc(strlen(def_text) + 1);
        if (!v->text)
            return BN_MEMORY;
        memcpy(v->text, def_text, strlen(def_text) + 1);
        break;
    }
    return BN_OK;
}

/* A real number as TOML: one without point or exponent would be an integer, and too large for one. */
static void add_real(bn_string *out, double value)
{
    char text[BN_TOML_NUMBER_BYTES];
    bn_toml_format(value, text);
    bn_string_add(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

void bn_value_add(const bn_value *v, bn_string *out)
{
    const bn_key *key = v->key;
    size_t length = bn_key_length(key), bytes = 0;
    const char *choice = NULL;
    if (length > 1)
        bn_string_add(out, "[");
    for (size_t i = 0; i < length; i++) {
        if (i)
            bn_string_add(out, ", ");
        switch (key->type) {
        case BN_KEY_INT: bn_string_add(out, "%lld", v->is.integer[i]); break;
        case BN_KEY_REAL: add_real(out, v->is.real[i]); break;
        case BN_KEY_BOOL: bn_string_add(out, "%s", v->is.boolean ? "true" : "false"); break;
        case BN_KEY_CHOICE:
            choice = bn_key_choice(key, v->is.choice, &bytes);
            bn_string_add(out, "\"%.*s\"", (int)bytes, choice);
            break;
        case BN_KEY_TEXT: bn_string_add_quoted(out, v->text); break;
        }
    }
    if (length > 1)
        bn_string_add(out, "]");
}

/* What the case says: a preference is not part of it, nor a key of what was not chosen, nor a default that would stand
 * for what is decided elsewhere. */
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
