/* case.c: a checked case: its values, its rejection by a solver, its end. */
#include "case_parts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of a key that must exist. */
static const bn_value *find(const bn_case *c, const char *key)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->values[i].key->name, key) == 0)
            return &c->values[i];
    assert(!"no such key in the schema");
    abort();
}

/* The value of a key of a list's item, counted from 0. */
static const bn_value *find_item(const bn_case *c, const char *key, bn_key_type type, size_t item)
{
    for (size_t i = 0; i < c->item_count; i++)
        if (c->items[i].item == item + 1 && strcmp(c->items[i].key->name, key) == 0) {
            assert(c->items[i].key->type == type && "the key has another type");
            (void)type;
            return &c->items[i];
        }
    assert(!"no such item or key in the list");
    abort();
}

static const bn_value *find_typed(const bn_case *c, const char *key, bn_key_type type, size_t index)
{
    const bn_value *v = find(c, key);
    assert(v->key->type == type && "the key has another type");
    assert(index < bn_key_length(v->key) && "the array is shorter");
    (void)type;
    (void)index;
    return v;
}

static const bn_value *find_single(const bn_case *c, const char *key, bn_key_type type)
{
    const bn_value *v = find_typed(c, key, type, 0);
    assert(bn_key_length(v->key) == 1 && "the key is an array");
    return v;
}

double bn_case_real(const bn_case *c, const char *key) { return find_single(c, key, BN_KEY_REAL)->is.real[0]; }

double bn_case_real_at(const bn_case *c, const char *key, size_t index)
{
    return find_typed(c, key, BN_KEY_REAL, index)->is.real[index];
}

long long bn_case_int(const bn_case *c, const char *key) { return find_single(c, key, BN_KEY_INT)->is.integer[0]; }

long long bn_case_int_at(const bn_case *c, const char *key, size_t index)
{
    return find_typed(c, key, BN_KEY_INT, index)->is.integer[index];
}

bool bn_case_bool(const bn_case *c, const char *key) { return find_single(c, key, BN_KEY_BOOL)->is.boolean; }

const char *bn_case_text(const bn_case *c, const char *key) { return find_single(c, key, BN_KEY_TEXT)->text; }

int bn_case_choice(const bn_case *c, const char *key) { return find_single(c, key, BN_KEY_CHOICE)->is.choice; }

bool bn_case_given(const bn_case *c, const char *key) { return find(c, key)->given; }

/* A single choice or whole number; NULL: there is none of that name. */
static bn_value *find_plain(const bn_case *c, const char *key)
{
    for (size_t i = 0; i < c->count; i++) {
        const bn_key *k = c->values[i].key;
        if (strcmp(k->name, key) == 0)
            return (k->type == BN_KEY_CHOICE || k->type == BN_KEY_INT) && !k->list && bn_key_length(k) == 1
                       ? &c->values[i]
                       : NULL;
    }
    return NULL;
}

bool bn_case_value(const bn_case *c, const char *key, char text[BN_CASE_VALUE])
{
    const bn_value *v = find_plain(c, key);
    if (!v)
        return false;
    if (v->key->type == BN_KEY_INT) {
        snprintf(text, BN_CASE_VALUE, "%lld", v->is.integer[0]);
    } else {
        size_t length;
        const char *choice = bn_key_choice(v->key, v->is.choice, &length);
        snprintf(text, BN_CASE_VALUE, "%.*s", (int)length, choice);
    }
    return true;
}

bool bn_case_prefer(bn_case *c, const char *key, const char *value)
{
    bn_value *v = find_plain(c, key);
    char current[BN_CASE_VALUE];
    if (!v || !bn_case_value(c, key, current) || (v->given && strcmp(current, "auto") != 0))
        return false;
    const bool number = v->key->type == BN_KEY_INT;
    char *end = NULL;
    const long long before = number ? v->is.integer[0] : v->is.choice,
                    wanted = number ? strtoll(value, &end, 10) : bn_choice_find(v->key, value);
    if (number && (end == value || *end != '\0' ||
                   (v->key->min < v->key->max && ((double)wanted < v->key->min || (double)wanted > v->key->max))))
        return false;
    if (!number && wanted < 0)
        return false;
    if (!v->preferred) {
        v->preferred = true;
        v->before = before;
    }
    if (number)
        v->is.integer[0] = wanted;
    else
        v->is.choice = (int)wanted;
    return true;
}

bool bn_case_varied(const bn_case *c)
{
    static const char *const how[] = { "case", "solver", "output" };
    bool varied = false;
    for (size_t i = 0; i < c->count + c->item_count; i++) {
        const bn_value *v = i < c->count ? &c->values[i] : &c->items[i - c->count];
        bool only_how = !v->override || strcmp(v->key->name, "grid.nodes") == 0;
        if (v->override && bn_key_within(v->key->name, "expected"))
            return false;
        for (size_t k = 0; k < sizeof how / sizeof *how; k++)
            only_how = only_how || bn_key_within(v->key->name, how[k]);
        varied = varied || !only_how;
    }
    return varied;
}

size_t bn_case_items(const bn_case *c, const char *list)
{
    size_t most = 0;
    for (size_t i = 0; i < c->item_count; i++) {
        const char *name = c->items[i].key->name;
        if (bn_key_table(name) == strlen(list) && bn_key_within(name, list) && c->items[i].item > most)
            most = c->items[i].item;
    }
    return most;
}

double bn_case_item_real(const bn_case *c, const char *key, size_t item)
{
    return find_item(c, key, BN_KEY_REAL, item)->is.real[0];
}

double bn_case_item_real_at(const bn_case *c, const char *key, size_t item, size_t index)
{
    return find_item(c, key, BN_KEY_REAL, item)->is.real[index];
}

long long bn_case_item_int(const bn_case *c, const char *key, size_t item)
{
    return find_item(c, key, BN_KEY_INT, item)->is.integer[0];
}

bool bn_case_item_bool(const bn_case *c, const char *key, size_t item)
{
    return find_item(c, key, BN_KEY_BOOL, item)->is.boolean;
}

const char *bn_case_item_text(const bn_case *c, const char *key, size_t item)
{
    return find_item(c, key, BN_KEY_TEXT, item)->text;
}

int bn_case_item_choice(const bn_case *c, const char *key, size_t item)
{
    return find_item(c, key, BN_KEY_CHOICE, item)->is.choice;
}

const char *bn_case_solver(const bn_case *c) { return bn_case_text(c, "case.solver"); }

const char *bn_case_path(const bn_case *c) { return c->path; }

bool bn_case_double(const bn_case *c) { return bn_case_choice(c, "case.precision") == 1; }

static bn_status reject(const bn_case *, const bn_value *, const char *hint, const char *format, va_list)
    BN_PRINTF(4, 0);
static bn_status reject(const bn_case *c, const bn_value *v, const char *hint, const char *format, va_list args)
{
    bn_string b = { 0 };
    bn_value_add_subject(c, v, v->place, 0, &b);
    if (!v->given) {
        bn_string_add(&b, " = ");
        bn_value_add(v, &b);
        bn_string_add(&b, " (the default)");
    }
    bn_string_add(&b, ": ");
    bn_string_add_list(&b, format, args);
    if (hint)
        bn_string_add(&b, "; %s", hint);
    bn_diagnostics_add(&c->reports->list, v->place, v->override, v->key->name, bn_string_take(&b));
    return BN_CASE;
}

bn_status bn_case_reject(const bn_case *c, const char *key, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bn_status st = reject(c, find(c, key), hint, format, args);
    va_end(args);
    return st;
}

bn_status bn_case_reject_item(const bn_case *c, const char *key, size_t item, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bn_status st = reject(c, find_item(c, key, find(c, key)->key->type, item), hint, format, args);
    va_end(args);
    return st;
}

const char *bn_case_diagnostics(const bn_case *c)
{
    struct bn_reports *r = c->reports;
    free(r->text);
    r->text = NULL;
    if (r->list.total == 0)
        return "";
    bn_source source = bn_case_source(c);
    source.solver = bn_case_solver(c);
    r->text = bn_diagnostics_text(&r->list, &source);
    return r->text ? r->text : "the case was rejected, but there is no memory to say why";
}

bn_status bn_case_verdict(bn_context *ctx, const bn_case *c)
{
    if (c->reports->list.total == 0)
        return BN_OK;
    bn_source source = bn_case_source(c);
    source.solver = bn_case_solver(c);
    return bn_diagnostics_fail(ctx, &c->reports->list, &source);
}

const bn_case_numbers *bn_case_given_numbers(const bn_case *c, const char *name)
{
    const bn_case_numbers *at = c->numbers;
    while (at && strcmp(at->name, name) != 0)
        at = at->next;
    return at;
}

const bn_case_numbers *bn_case_all_numbers(const bn_case *c) { return c->numbers; }

bn_status bn_case_give(bn_case *c, const char *name, const unsigned n[3], const double *values)
{
    const size_t most = (size_t)1 << 30;
    size_t count = 1;
    for (int d = 0; d < 3; d++)
        count = n[d] == 0 || n[d] > most / (count > 0 ? count : 1) ? 0 : count * n[d];
    if (count == 0)
        return bn_fail(c->ctx, BN_USAGE, "%s: %u x %u x %u numbers are none or too many", name, n[0], n[1], n[2]);
    double *copy = malloc(count * sizeof *copy);
    bn_case_numbers *at = copy ? (bn_case_numbers *)bn_case_given_numbers(c, name) : NULL;
    if (copy && !at && (at = calloc(1, sizeof *at)) && (at->name = malloc(strlen(name) + 1))) {
        memcpy(at->name, name, strlen(name) + 1);
        at->next = c->numbers;
        c->numbers = at;
    }
    if (!at || !at->name) {
        free(at);
        free(copy);
        return bn_fail(c->ctx, BN_MEMORY, "no memory for the numbers of %s", name);
    }
    memcpy(copy, values, count * sizeof *copy);
    memcpy(at->n, n, sizeof at->n);
    free(at->values);
    at->values = copy;
    return BN_OK;
}

void bn_case_destroy(bn_case **case_)
{
    bn_case *c = *case_;
    if (!c)
        return;
    if (c->reports) {
        bn_diagnostics_clear(&c->reports->list);
        free(c->reports->text);
        free(c->reports);
    }
    bn_values_destroy(&c->values, c->count);
    bn_values_destroy(&c->items, c->item_count);
    for (size_t i = 0; c->overrides && i < c->override_count; i++)
        free(c->overrides[i]);
    free(c->overrides);
    for (bn_case_numbers *next, *at = c->numbers; at; at = next) {
        next = at->next;
        free(at->name);
        free(at->values);
        free(at);
    }
    free(c->text);
    free(c->path);
    free(c);
    *case_ = NULL;
}
