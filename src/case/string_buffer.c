/* string_buffer.c: a text that grows. */
#include "string_buffer.h"

#include "toml_shim.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` bytes and a 0 after them. */
static bool reserve(bn_string *b, size_t more)
{
    if (b->failed || more >= SIZE_MAX / 2 - b->bytes) {
        b->failed = true;
        return false;
    }
    size_t need = b->bytes + more + 1;
    if (need <= b->room)
        return true;
    size_t room = need < 128 ? 128 : need + need / 2;
    char *text = realloc(b->text, room);
    if (!text) {
        b->failed = true;
        return false;
    }
    b->text = text;
    b->room = room;
    return true;
}

void bn_string_add_bytes(bn_string *b, const char *bytes, size_t count)
{
    if (!reserve(b, count))
        return;
    if (count)
        memcpy(b->text + b->bytes, bytes, count);
    b->bytes += count;
    b->text[b->bytes] = '\0';
}

void bn_string_add_list(bn_string *b, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int count = vsnprintf(NULL, 0, format, args);
    if (count < 0)
        b->failed = true;
    else if (reserve(b, (size_t)count)) {
        vsnprintf(b->text + b->bytes, (size_t)count + 1, format, again);
        b->bytes += (size_t)count;
    }
    va_end(again);
}

void bn_string_add(bn_string *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bn_string_add_list(b, format, args);
    va_end(args);
}

void bn_string_add_real(bn_string *b, double value)
{
    char text[BN_TOML_NUMBER_BYTES];
    bn_toml_format(value, text);
    bn_string_add_bytes(b, text, strlen(text));
}

size_t bn_utf8_bytes(const char *text, size_t bytes)
{
    const unsigned char *u = (const unsigned char *)text;
    size_t count = u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : u[0] < 0xf5 ? 4 : 0;
    if (count > bytes)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
    if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) || (u[0] == 0xf0 && u[1] < 0x90) ||
        (u[0] == 0xf4 && u[1] > 0x8f))
        return 0;
    return count;
}

/* A printable character, for a line on a terminal: no control characters, no change of writing direction. */
static bool printable(const char *character, size_t bytes)
{
    const unsigned char *u = (const unsigned char *)character;
    if (bytes == 1)
        return u[0] >= 0x20 && u[0] != 0x7f;
    if (bytes == 2)
        return u[0] != 0xc2 || u[1] >= 0xa0; /* U+0080 to U+009F */
    if (bytes == 3 && u[0] == 0xe2) {
        unsigned low = ((u[1] & 0x3fu) << 6) | (u[2] & 0x3fu); /* U+2000 and up: line ends, directions */
        return !((low >= 0x0e && low <= 0x0f) || (low >= 0x28 && low <= 0x2e) || (low >= 0x66 && low <= 0x69));
    }
    return bytes > 0;
}

void bn_string_add_shown(bn_string *b, const char *text, size_t bytes, size_t most)
{
    for (size_t at = 0, shown = 0; at < bytes; shown++) {
        if (shown == most) {
            bn_string_add_bytes(b, "...", 3);
            return;
        }
        size_t count = bn_utf8_bytes(text + at, bytes - at);
        if (printable(text + at, count))
            bn_string_add_bytes(b, text + at, count);
        else
            bn_string_add_bytes(b, "?", 1);
        at += count ? count : 1;
    }
}

void bn_string_add_quoted(bn_string *b, const char *text)
{
    bn_string_add_bytes(b, "\"", 1);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            bn_string_add(b, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || *c == 0x7f)
            bn_string_add(b, "\\u%04X", (unsigned)*c);
        else
            bn_string_add_bytes(b, c, 1);
    }
    bn_string_add_bytes(b, "\"", 1);
}

const char *bn_string_text(const bn_string *b) { return b->text && !b->failed ? b->text : ""; }

char *bn_string_take(bn_string *b)
{
    reserve(b, 0); /* so that an empty text is a text too */
    char *text = b->failed ? NULL : b->text;
    if (text) {
        text[b->bytes] = '\0';
        b->text = NULL;
    }
    bn_string_clear(b);
    return text;
}

void bn_string_clear(bn_string *b)
{
    free(b->text);
    *b = (bn_string){ 0 };
}
