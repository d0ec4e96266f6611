/* json_text.c: numbers, texts and failures as JSON. */
#include "output/json_text.h"

#include "io/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *bn_json_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *bn_json_text(const char *text)
{
    json_t *json = json_string(text ? text : "");
    if (json || !text)
        return json;
    size_t bytes = strlen(text);
    char *ascii = malloc(bytes + 1);
    if (!ascii)
        return NULL;
    for (size_t i = 0; i <= bytes; i++)
        ascii[i] = (char)((unsigned char)text[i] < 0x80 ? text[i] : '?');
    json = json_string(ascii);
    free(ascii);
    return json;
}

double bn_json_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

bn_status bn_json_write(bn_context *ctx, const char *path, const json_t *json, size_t flags)
{
    char *text = json ? json_dumps(json, flags) : NULL;
    const bn_status st = text ? bn_file_write(ctx, path, text, strlen(text))
                              : bn_fail(ctx, BN_MEMORY, "no memory for %s", path);
    free(text);
    return st;
}

static json_t *text_or_null(const char *text) { return text ? bn_json_text(text) : json_null(); }
static json_t *place_or_null(size_t at) { return at > 0 ? json_integer((json_int_t)at) : json_null(); }

static json_t *mistake(const bn_error_item *item)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "file", text_or_null(item->file), "set",
                     text_or_null(item->override), "line", place_or_null(item->line), "column",
                     place_or_null(item->column), "key", text_or_null(item->key), "message",
                     text_or_null(item->message));
}

bool bn_json_add_outcome(json_t *object, bn_context *ctx, bn_status st)
{
    size_t count;
    const bn_error_item *items = bn_error_items(ctx, &count);
    const char *told = bn_error_text(ctx)[0] ? bn_error_text(ctx) : bn_status_text(st);
    const bn_error_item whole = { .message = told };
    json_t *errors = json_array();
    bool good = true;
    if (st != BN_OK && count == 0) {
        items = &whole;
        count = 1;
    }
    for (size_t i = 0; st != BN_OK && i < count; i++)
        good = json_array_append_new(errors, mistake(&items[i])) == 0 && good;
    good = json_object_set_new(object, "status", bn_json_text(bn_status_text(st))) == 0 && good;
    good = json_object_set_new(object, "exit_code", json_integer(bn_exit_code(st))) == 0 && good;
    good = json_object_set_new(object, "error", st != BN_OK ? bn_json_text(told) : json_null()) == 0 && good;
    return json_object_set_new(object, "errors", errors) == 0 && good;
}
