/* string_buffer.h: a text that grows. Lack of memory is remembered; it needs to be asked for only once, at the end. */
#ifndef BN_STRING_BUFFER_H
#define BN_STRING_BUFFER_H

#include "binnacle/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory is an empty string. */
typedef struct bn_string {
    char *text; /* NULL while empty; else ends with a 0 */
    size_t bytes, room;
    bool failed;
} bn_string;

void bn_string_add(bn_string *, const char *format, ...) BN_PRINTF(2, 3);
void bn_string_add_list(bn_string *, const char *format, va_list) BN_PRINTF(2, 0);
void bn_string_add_bytes(bn_string *, const char *bytes, size_t count);

/* A real number with the shortest digits that read back as the same bits. */
void bn_string_add_real(bn_string *, double value);

/* Text from outside for a message: at most `most` characters, the cut shown as "..."; whatever could upset a terminal
 * or is no UTF-8 appears as "?". */
void bn_string_add_shown(bn_string *, const char *text, size_t bytes, size_t most);

/* `text` as a quoted TOML text. */
void bn_string_add_quoted(bn_string *, const char *text);

/* The text so far, never NULL; "" when memory ran out. Owned by the builder. */
const char *bn_string_text(const bn_string *);

/* The text, which the caller has to free(); the string is empty then. NULL: no memory. */
char *bn_string_take(bn_string *);
void bn_string_clear(bn_string *);

/* Bytes of the UTF-8 character at `text`, of which `bytes` > 0 remain: 1 to 4, or 0 when it is none. */
size_t bn_utf8_bytes(const char *text, size_t bytes);

#endif
