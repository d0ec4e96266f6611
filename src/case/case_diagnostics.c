/* case_diagnostics.c: what is wrong with a case, as a list and as text. */
#include "case_parts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_COLUMNS = 100, /* of a source line */
    SHOWN_BEFORE = 60,   /* of those, before the place when the line is longer */
    VALUE_SHOWN = 40     /* bytes; a longer value is not repeated in a message */
};

bool bn_diagnostics_full(const bn_diagnostics *p) { return p->count >= BN_DIAGNOSTICS_KEPT; }

void bn_diagnostics_add(bn_diagnostics *p, bn_toml_place place, size_t override, const char *key, char *text)
{
    p->total++;
    if (bn_diagnostics_full(p)) {
        free(text);
        return;
    }
    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 8;
        bn_diagnostic *items = realloc(p->items, room * sizeof *items);
        if (items) {
            p->items = items;
            p->room = room;
        }
    }
    if (!text || p->count == p->room) {
        free(text);
        p->failed = true;
        return;
    }
    p->items[p->count] = (bn_diagnostic){ place, override, key ? strdup(key) : NULL, text, p->count };
    p->count++;
}

void bn_diagnostics_clear(bn_diagnostics *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->items[i].key);
        free(p->items[i].text);
    }
    free(p->items);
    *p = (bn_diagnostics){ 0 };
}

/* By line and column; then what has no line, then override by override; else as found. */
static int compare(const void *left, const void *right)
{
    const bn_diagnostic *a = left, *b = right;
    const size_t keys[2][4] = { { a->override, a->place.line ? a->place.line : SIZE_MAX, a->place.column, a->order },
                                { b->override, b->place.line ? b->place.line : SIZE_MAX, b->place.column, b->order } };
    for (int i = 0; i < 4; i++)
        if (keys[0][i] != keys[1][i])
            return keys[0][i] < keys[1][i] ? -1 : 1;
    return 0;
}

/* Line `number` without its end; NULL when there is none. */
static const char *find_line(const bn_source *s, size_t number, size_t *bytes)
{
    const char *line = s->text, *end = s->text + s->bytes;
    for (size_t i = 1; i < number; i++) {
        line = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
        if (!line)
            return NULL;
        line++;
    }
    if (number == 1 && s->bytes >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0)
        line += 3; /* a byte order mark is no character of the line */
    const char *stop = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
    if (!stop)
        stop = end;
    if (stop > line && stop[-1] == '\r')
        stop--;
    *bytes = (size_t)(stop - line);
    return line;
}

/* Moves on by `characters`, or to the end; bytes that are no UTF-8 count as one each. */
static size_t skip(const char *text, size_t bytes, size_t characters)
{
    size_t at = 0;
    for (; characters > 0 && at < bytes; characters--) {
        size_t count = bn_utf8_bytes(text + at, bytes - at);
        at += count ? count : 1;
    }
    return at;
}

/* The bytes of the text from column `place.column`, `place.width` characters of them, in line `place.line`: sets
 * `*bytes`; NULL when the place is nowhere or covers several lines. */
static const char *slice_at(const bn_source *s, bn_toml_place place, size_t *bytes)
{
    size_t length = 0;
    const char *line = place.line && place.width ? find_line(s, place.line, &length) : NULL;
    if (!line)
        return NULL;
    size_t from = skip(line, length, place.column - 1);
    *bytes = skip(line + from, length - from, place.width);
    return line + from;
}

static void add_repeated(bn_string *b, char c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bn_string_add_bytes(b, &c, 1);
}

/* The source line and, below it, a mark under the place. */
static void add_excerpt(bn_string *b, const bn_source *s, bn_toml_place place)
{
    size_t length = 0;
    const char *line = find_line(s, place.line, &length);
    if (!line)
        return;
    size_t column = place.column ? place.column : 1, hidden = 0;
    if (skip(line, length, SHOWN_COLUMNS) < length && column > SHOWN_BEFORE)
        hidden = column - SHOWN_BEFORE;
    size_t from = skip(line, length, hidden);
    bn_string_add(b, "%7zu | %s", place.line, hidden ? "..." : "");
    bn_string_add_shown(b, line + from, length - from, SHOWN_COLUMNS);
    bn_string_add(b, "\n        | ");
    add_repeated(b, ' ', column - 1 - hidden + (hidden ? 3 : 0));
    size_t last = SHOWN_COLUMNS + hidden; /* the mark ends with the line shown; it has one character at least */
    size_t most = column < last ? last + 1 - column : 1, width = place.width ? place.width : 1;
    add_repeated(b, '^', width < most ? width : most);
    bn_string_add(b, "\n");
}

char *bn_diagnostics_text(bn_diagnostics *p, const bn_source *s)
{
    bn_string b = { 0 };
    if (p->count)
        qsort(p->items, p->count, sizeof *p->items, compare);
    size_t listed = p->count < BN_DIAGNOSTICS_LISTED ? p->count : BN_DIAGNOSTICS_LISTED;
    for (size_t i = 0; i < listed; i++) {
        const bn_diagnostic *item = &p->items[i];
        if (item->override) {
            const char *text = s->overrides[item->override - 1];
            bn_string_add(&b, "--set ");
            bn_string_add_shown(&b, text, strlen(text), SHOWN_COLUMNS);
        } else if (item->place.line) {
            bn_string_add(&b, "%s:%zu:%zu", s->name, item->place.line, item->place.column);
        } else {
            bn_string_add(&b, "%s", s->name);
        }
        bn_string_add(&b, ": %s\n", item->text);
        if (!item->override && item->place.line)
            add_excerpt(&b, s, item->place);
    }
    if (p->total > listed)
        bn_string_add(&b, "... and %zu more\n", p->total - listed);
    bn_string_add(&b, "%zu error%s; nothing was run. Every key with unit and range: binnacle new %s --all", p->total,
                  p->total == 1 ? "" : "s", s->solver ? s->solver : "SOLVER");
    if (p->failed)
        b.failed = true;
    return bn_string_take(&b);
}

bn_status bn_diagnostics_fail(bn_context *ctx, bn_diagnostics *p, const bn_source *s)
{
    char *text = bn_diagnostics_text(p, s); /* sorts them */
    if (!text)
        return bn_fail(ctx, BN_MEMORY, "no memory to say what is wrong with the case %s", s->name);
    const bn_status st = bn_fail(ctx, BN_CASE, "%s", text);
    free(text);
    for (size_t i = 0; i < p->count && i < BN_DIAGNOSTICS_LISTED; i++) {
        const bn_diagnostic *item = &p->items[i];
        const bn_error_item error = { .file = item->override ? NULL : s->name,
                                      .override = item->override ? s->overrides[item->override - 1] : NULL,
                                      .line = item->override ? 0 : item->place.line,
                                      .column = item->override ? 0 : item->place.column,
                                      .key = item->key,
                                      .message = item->text };
        bn_error_add(ctx, &error);
    }
    return st;
}

bn_source bn_case_source(const bn_case *c)
{
    return (bn_source){
        .name = c->path, .text = c->text, .bytes = c->bytes, .overrides = (const char *const *)c->overrides
    };
}

void bn_value_add_subject(const bn_case *c, const bn_value *v, bn_toml_place shown, size_t element, bn_string *out)
{
    const char *name = v->key->name;
    if (v->item)
        bn_string_add(out, "[[%.*s]] number %zu, %s", (int)bn_key_table(name), name, v->item, bn_key_leaf(name));
    else
        bn_string_add(out, "[%.*s] %s", (int)bn_key_table(name), name, bn_key_leaf(name));
    if (element)
        bn_string_add(out, ", element %zu", element);
    bn_source source = bn_case_source(c);
    size_t bytes = 0;
    const char *slice = v->given && !v->override ? slice_at(&source, shown, &bytes) : NULL;
    if (slice && bytes > 0 && bytes <= VALUE_SHOWN) {
        bn_string_add(out, " = ");
        bn_string_add_shown(out, slice, bytes, VALUE_SHOWN);
    }
}
