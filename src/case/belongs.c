/* belongs.c: keys that belong to some choices of another key (bn_key.only): whether they count, in words, and those
 * that a case gives although it has chosen otherwise. */
#include "case_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char either[] = " or ";

/* One alternative of `only`: the name of a choice's key, and choices with | between them; `others`: all but those. */
typedef struct alternative {
    const char *name, *choices;
    size_t name_bytes, choices_bytes;
    bool others;
} alternative;

/* The alternative at *at, which advances to the next; false after the last. */
static bool next_alternative(const char **at, alternative *out)
{
    if (!*at)
        return false;
    const char *end = strstr(*at, either), *equals = strchr(*at, '=');
    const size_t bytes = end ? (size_t)(end - *at) : strlen(*at);
    assert(equals && equals > *at && equals < *at + bytes && "a condition is written KEY=CHOICE");
    const bool others = equals[-1] == '!';
    *out = (alternative){ *at, equals + 1, (size_t)(equals - *at) - others, bytes - (size_t)(equals + 1 - *at),
                          others };
    *at = end ? end + strlen(either) : NULL;
    return true;
}

static bool is_named(const bn_key *key, const alternative *a)
{
    return strlen(key->name) == a->name_bytes && memcmp(key->name, a->name, a->name_bytes) == 0;
}

/* The value that decides: of a list's item one of the same item, if the key stands there. */
static const bn_value *decider(const bn_case *c, const bn_value *v, const alternative *a)
{
    for (size_t i = 0; v->item && i < c->item_count; i++)
        if (c->items[i].item == v->item && bn_key_same_table(c->items[i].key->name, v->key->name) &&
            is_named(c->items[i].key, a))
            return &c->items[i];
    for (size_t i = 0; i < c->count; i++)
        if (is_named(c->values[i].key, a))
            return &c->values[i];
    assert(!"no such key in the schema");
    return NULL;
}

/* What the case chooses; a preference (bn_case_prefer) is not part of it. Negative: what it gives is no choice. */
static int chosen(const bn_value *v) { return v->preferred ? (int)v->before : v->is.choice; }

/* The next of the alternative's choices from *at on; NULL after the last. */
static const char *next_choice(const alternative *a, size_t *at, size_t *bytes)
{
    if (*at >= a->choices_bytes)
        return NULL;
    const char *one = a->choices + *at, *bar = memchr(one, '|', a->choices_bytes - *at);
    *bytes = bar ? (size_t)(bar - one) : a->choices_bytes - *at;
    *at += *bytes + 1;
    return one;
}

static bool among(const bn_key *key, int choice, const alternative *a)
{
    size_t bytes = 0, length = 0, at = 0;
    const char *name = choice < 0 ? NULL : bn_key_choice(key, choice, &bytes), *one;
    while (name && (one = next_choice(a, &at, &length)) != NULL)
        if (length == bytes && memcmp(one, name, bytes) == 0)
            return !a->others;
    return name && a->others;
}

bool bn_value_counts(const bn_case *c, const bn_value *v)
{
    const char *at = v->key->only;
    alternative a;
    bool counts = !at;
    while (!counts && next_alternative(&at, &a)) {
        const bn_value *d = decider(c, v, &a);
        counts = d && among(d->key, chosen(d), &a) && bn_value_counts(c, d);
    }
    return counts;
}

/* The name, without its table where that is the key's own. */
static void add_name(const bn_key *key, const alternative *a, bn_string *out)
{
    const size_t table = bn_key_table(key->name) + 1;
    const bool own = a->name_bytes > table && memcmp(a->name, key->name, table) == 0 &&
                     !memchr(a->name + table, '.', a->name_bytes - table);
    const size_t skip = own ? table : 0;
    bn_string_add(out, "%.*s", (int)(a->name_bytes - skip), a->name + skip);
}

void bn_key_add_only(const bn_key *key, bn_string *out)
{
    const char *rest = key->only, *between = "";
    for (alternative a; next_alternative(&rest, &a); between = either) {
        size_t at = 0, bytes = 0;
        bn_string_add(out, "%s", between);
        add_name(key, &a, out);
        bn_string_add(out, a.others ? " other than " : " = ");
        for (const char *one; (one = next_choice(&a, &at, &bytes)) != NULL;)
            bn_string_add(out, "%s\"%.*s\"", one == a.choices ? "" : either, (int)bytes, one);
    }
}

/* "[launch] waist: belongs to kind = "gaussian", and the case has kind = "file" (line 12); leave it out" */
static void report(const bn_case *c, const bn_value *v)
{
    bn_string b = { 0 };
    const char *at = v->key->only, *between = ", and the case has ";
    bn_value_add_subject(c, v, v->place, 0, &b);
    bn_string_add(&b, ": belongs to ");
    bn_key_add_only(v->key, &b);
    for (alternative a; next_alternative(&at, &a); between = ", ") {
        const bn_value *d = decider(c, v, &a);
        bn_string_add(&b, "%s", between);
        add_name(v->key, &a, &b);
        bn_string_add(&b, " = ");
        bn_value_add(d, &b);
        if (!d->given)
            bn_string_add(&b, " (the default)");
        else if (!d->override && d->place.line)
            bn_string_add(&b, " (line %zu)", d->place.line);
        else
            bn_string_add(&b, " (--set)");
    }
    bn_string_add(&b, "; leave it out");
    bn_diagnostics_add(&c->reports->list, v->place, v->override, v->key->name, bn_string_take(&b));
}

/* Whether what decides is right, and whether an override has chosen against the file that gives the key. */
static bool is_decided(const bn_case *c, const bn_value *v, bool *overruled)
{
    const char *at = v->key->only;
    bool decided = true;
    *overruled = false;
    for (alternative a; next_alternative(&at, &a);) {
        const bn_value *d = decider(c, v, &a);
        decided = decided && d && chosen(d) >= 0;
        *overruled = *overruled || (d && d->override && !v->override);
    }
    return decided;
}

static bn_status check(const bn_case *c, bn_value *v)
{
    bool overruled;
    if (!v->given || bn_value_counts(c, v) || !is_decided(c, v, &overruled))
        return BN_OK;
    if (!overruled) {
        report(c, v);
        return BN_OK;
    }
    free(v->text);
    *v = (bn_value){ .key = v->key, .item = v->item };
    return bn_value_default(v, v->key->def_text) == BN_OK
               ? BN_OK
               : bn_fail(c->ctx, BN_MEMORY, "no memory for the values of %s", c->path);
}

/* Whether `only` of the key names choices of the schema. */
static bool has_decider(const bn_value *values, size_t count, const bn_key *key)
{
    const char *rest = key->only;
    for (alternative a; next_alternative(&rest, &a);) {
        const bn_key *d = NULL;
        size_t at = 0, bytes = 0;
        for (size_t i = 0; i < count && !d; i++)
            d = is_named(values[i].key, &a) ? values[i].key : NULL;
        if (!d || d->type != BN_KEY_CHOICE || key->required)
            return false;
        for (const char *one; (one = next_choice(&a, &at, &bytes)) != NULL;) {
            char name[64];
            if (bytes >= sizeof name)
                return false;
            memcpy(name, one, bytes);
            name[bytes] = '\0';
            if (bn_choice_find(d, name) < 0)
                return false;
        }
    }
    return true;
}

bn_status bn_case_check_choices(bn_case *c)
{
    for (size_t i = 0; i < c->count; i++)
        assert(has_decider(c->values, c->count, c->values[i].key) && "a key belongs to choices of the schema");
    for (size_t i = 0; i < c->count; i++)
        if (!c->values[i].key->list)
            BN_TRY(check(c, &c->values[i]));
    for (size_t i = 0; i < c->item_count; i++)
        BN_TRY(check(c, &c->items[i]));
    return BN_OK;
}
