/* values.c: one value of a case: checked against its key, by default, written as TOML. */
#include "case_parts.h"
#include "suggest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)BN_TOML_ELEMENTS >= (int)BN_ARRAY_MAX, "an array of a case must be read whole");

/* The value being read: element `element` of `v` counted from 1, or 0 when it is no array. */
typedef struct spot {
    bn_reader *r;
    const bn_value *v;
    const bn_toml *node;
    size_t element;
} spot;

/* Reports "[grid] nodes = 2: " and the rest. */
static void report(const spot *s, const char *rest)
{
    bn_string b = { 0 };
    bn_value_add_subject(s->r->c, s->v, s->node->value, s->element, &b);
    bn_string_add(&b, ": %s", rest);
    bn_diagnostics_add(&s->r->c->reports->list, s->node->value, s->r->override, s->v->key->name, bn_string_take(&b));
}

static const char *type_name(const bn_toml *node)
{
    static const char *const names[] = {
        "a table", "an array", "a text", "an integer", "a number with a point", "true or false", "a date or time"
    };
    return names[node->type];
}

static void report_type(const spot *s, const char *expected)
{
    bn_string b = { 0 };
    bn_string_add(&b, "expected %s, got %s", expected, type_name(s->node));
    report(s, bn_string_text(&b));
    bn_string_clear(&b);
}

static bool in_range(const spot *s, double x)
{
    const bn_key *key = s->v->key;
    bool good = key->above ? x > key->min : !(key->min < key->max) || x >= key->min;
    if (good && (!(key->min < key->max) || x <= key->max))
        return true;
    bn_string b = { 0 };
    bn_string_add(&b, "must be ");
    bn_key_add_range(key, &b);
    report(s, bn_string_text(&b));
    bn_string_clear(&b);
    return false;
}

/* All other code may rely on texts being C strings of one line. */
static bool plain_text(const spot *s)
{
    const bn_toml *n = s->node;
    bn_string b = { 0 };
    if (n->bytes > BN_TEXT_MAX)
        bn_string_add(&b, "a text has at most %d bytes, this one has %zu", BN_TEXT_MAX, n->bytes);
    for (size_t i = 0; i < n->bytes && !b.bytes; i++)
        if ((unsigned char)n->text[i] < 0x20 || n->text[i] == 0x7f)
            bn_string_add(&b, "a text has no line ends, tabs or other control characters");
    bool good = !b.bytes;
    if (!good)
        report(s, bn_string_text(&b));
    bn_string_clear(&b);
    return good;
}

static void read_int(const spot *s, long long *out)
{
    const bn_toml *n = s->node;
    if (n->type == BN_TOML_REAL && fabs(n->real) < 1e15 && floor(n->real) == n->real) {
        bn_string b = { 0 };
        bn_string_add(&b, "expected an integer: write %lld, without point or exponent", (long long)n->real);
        report(s, bn_string_text(&b));
        bn_string_clear(&b);
    } else if (n->type != BN_TOML_INT) {
        report_type(s, "an integer");
    } else if (in_range(s, (double)n->integer)) {
        *out = n->integer;
    }
}

/* A number with a unit; the database of units is loaded for the first. */
static bool read_unit(const spot *s, double *out)
{
    bn_reader *r = s->r;
    if (!plain_text(s) || (!r->units && (r->status = bn_units_create(r->c->ctx, &r->units)) != BN_OK))
        return false;
    bn_string why = { 0 };
    const char *unit = s->v->key->unit;
    bool good = bn_units_read(r->units, s->node->text, unit ? unit : "", out, &why);
    if (!good && (!unit || !*unit) && s->v->key->help) /* it may say what the number is meant in */
        bn_string_add(&why, " (%s: %s)", s->v->key->name + strcspn(s->v->key->name, ".") + 1, s->v->key->help);
    if (!good)
        report(s, bn_string_text(&why));
    bn_string_clear(&why);
    return good;
}

static void read_real(const spot *s, double *out)
{
    const bn_toml *n = s->node;
    double x = n->type == BN_TOML_INT ? (double)n->integer : n->real;
    if (n->type == BN_TOML_TEXT) {
        if (!read_unit(s, &x))
            return;
    } else if (n->type != BN_TOML_INT && n->type != BN_TOML_REAL) {
        const char *unit = s->v->key->unit;
        bn_string b = { 0 };
        if (unit && *unit)
            bn_string_add(&b, "a number (%s) or a text such as \"1 %s\"", unit, unit);
        else
            bn_string_add(&b, "a number");
        report_type(s, bn_string_text(&b));
        bn_string_clear(&b);
        return;
    } else if (!isfinite(x)) {
        report(s, "must be a finite number");
        return;
    }
    if (in_range(s, x))
        *out = x;
}

static void read_choice(const spot *s, int *out)
{
    const bn_key *key = s->v->key;
    if (s->node->type != BN_TOML_TEXT) {
        report_type(s, "a text");
        return;
    }
    if (!plain_text(s))
        return;
    int index = bn_choice_find(key, s->node->text);
    if (index >= 0) {
        *out = index;
        return;
    }
    bn_string b = { 0 };
    size_t bytes = 0, near_bytes = 0, best = BN_NEAR_NONE;
    const char *choice = NULL, *near = NULL;
    bn_string_add(&b, "expected one of");
    for (int i = 0; (choice = bn_key_choice(key, i, &bytes)) != NULL; i++) {
        bn_string_add(&b, "%s %.*s", i ? "," : "", (int)bytes, choice);
        if (bn_nearer(s->node->text, choice, bytes, &best))
            near = choice, near_bytes = bytes;
    }
    if (near)
        bn_string_add(&b, "; did you mean \"%.*s\"?", (int)near_bytes, near);
    report(s, bn_string_text(&b));
    bn_string_clear(&b);
}

static void read_text(const spot *s, char **out)
{
    if (s->node->type != BN_TOML_TEXT) {
        report_type(s, "a text in quotes");
        return;
    }
    if (!plain_text(s))
        return;
    free(*out);
    *out = malloc(s->node->bytes + 1);
    if (!*out)
        s->r->status = bn_fail(s->r->c->ctx, BN_MEMORY, "no memory for a text of %zu bytes", s->node->bytes);
    else
        memcpy(*out, s->node->text, s->node->bytes + 1);
}

static void read_one(const spot *s, bn_value *v, size_t index)
{
    switch (v->key->type) {
    case BN_KEY_INT: read_int(s, &v->is.integer[index]); break;
    case BN_KEY_REAL: read_real(s, &v->is.real[index]); break;
    case BN_KEY_TEXT: read_text(s, &v->text); break;
    case BN_KEY_BOOL:
        if (s->node->type == BN_TOML_BOOL)
            v->is.boolean = s->node->boolean;
        else
            report_type(s, "true or false");
        break;
    case BN_KEY_CHOICE: read_choice(s, &v->is.choice); break;
    }
}

void bn_value_read(bn_reader *r, bn_value *v, const bn_toml *node)
{
    spot s = { r, v, node, 0 };
    v->given = true;
    v->override = r->override;
    v->place = node->value;
    if (v->key->type == BN_KEY_CHOICE)
        v->is.choice = -1; /* until it is found to be one */
    size_t length = bn_key_length(v->key);
    if (length == 1) {
        read_one(&s, v, 0);
        return;
    }
    if (node->type != BN_TOML_ARRAY || node->count != length) {
        bn_string b = { 0 };
        bn_string_add(&b, "expected an array of %zu %s, got %s", length,
                      v->key->type == BN_KEY_INT ? "integers" : "numbers", type_name(node));
        if (node->type == BN_TOML_ARRAY)
            bn_string_add(&b, " of %zu", node->count);
        report(&s, bn_string_text(&b));
        bn_string_clear(&b);
        return;
    }
    const bn_toml *element = node->child;
    for (size_t i = 0; i < length; i++, element = element->next)
        read_one(&(spot){ r, v, element, i + 1 }, v, i);
}

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
