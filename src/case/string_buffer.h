/* string_buffer.h: a text that grows. Lack of memory is remembered; it needs to be asked for only once, at the end. */
#ifndef BN_BUILDER_H
#define BN_BUILDER_H

#include "binnacle/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory is an empty builder. */
typedef struct bn_builder {
    char *text; /* NULL while empty; else ends with a 0 */
    size_t bytes, room;
    bool failed;
} bn_builder;

void bn_builder_add(bn_builder *, const char *format, ...) BN_PRINTF(2, 3);
void bn_builder_add_list(bn_builder *, const char *format, va_list) BN_PRINTF(2, 0);
void bn_builder_add_bytes(bn_builder *, const char *bytes, size_t count);

/* A real number with the shortest digits that read back as the same bits. */
void bn_builder_add_real(bn_builder *, double value);

/* Text from outside for a message: at most `most` characters, the cut shown as "..."; whatever could upset a terminal
 * or is no UTF-8 appears as "?". */
void bn_builder_add_shown(bn_builder *, const char *text, size_t bytes, size_t most);

/* `text` as a quoted TOML text. */
void bn_builder_add_quoted(bn_builder *, const char *text);

/* The text so far, never NULL; "" when memory ran out. Owned by the builder. */
const char *bn_builder_text(const bn_builder *);

/* Hands the text over to the caller to free(), and empties the builder; NULL when memory ran out. */
char *bn_builder_take(bn_builder *);
void bn_builder_clear(bn_builder *);

/* Bytes of the UTF-8 character at `text`, of which `bytes` > 0 remain: 1 to 4, or 0 when it is none. */
size_t bn_utf8_bytes(const char *text, size_t bytes);

/* A printable character, for a line on a terminal: no control characters, no change of writing direction. */
bool bn_utf8_printable(const char *character, size_t bytes);

#endif
