/* json_text.h: numbers, texts and failures as JSON. */
#ifndef BN_JSON_TEXT_H
#define BN_JSON_TEXT_H

#include "binnacle/context.h"
#include <jansson.h>

/* JSON knows no NaN and no infinity: null. Bytes that are no UTF-8 become '?'; NULL is an empty text. */
json_t *bn_json_real(double);
json_t *bn_json_text(const char *);

/* A number of an object; NaN: there is none of that name. */
double bn_json_number(const json_t *object, const char *key);

/* Writes the document to a file; NULL: there was no memory to make it. `flags`: of json_dumps. */
BN_CHECKED bn_status bn_json_write(bn_context *, const char *path, const json_t *, size_t flags);

/* What went wrong, for scripts: "status", "exit_code", "error" (the text for people), and "errors", a list of mistakes
 * with "file", "set" (the text of --set), "line", "column", "key", "message", each null where there is none. A failure
 * without such parts is one mistake with a message alone; no failure has none, and "error" null. Adds them to `object`;
 * false: no memory. */
bool bn_json_add_outcome(json_t *object, bn_context *, bn_status);

#endif
