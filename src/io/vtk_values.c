/* vtk_values.c: values of VTK files: numbers as text, base64 or raw bytes with their length in a head, or
 * blocks that zlib compressed with a head of their sizes; either byte order, heads of 32 or 64 bits. The head of
 * compressed values is a base64 text by itself, that of others one with the values (vtkXMLDataParser). */
#include "io/vtk_grid.h"

#include "io/base64.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { DEFLATE_RATIO_MAX = 1032 }; /* bytes that one compressed byte can become at most (zlib's technical notes) */

const char bn_vtk_no_memory[] = "out of memory";

typedef struct source {
    const bn_vtk_encoding *how;
    const char *text;
    size_t length;
} source;

static void swap(unsigned char *values, size_t size, size_t count)
{
    for (size_t i = 0; i < count && size > 1; i++, values += size)
        for (size_t a = 0; a < size / 2; a++) {
            const unsigned char kept = values[a];
            values[a] = values[size - 1 - a];
            values[size - 1 - a] = kept;
        }
}

/* The first `bytes` bytes; false if there are fewer, or it is no base64. */
static bool fetch(const source *s, size_t bytes, unsigned char *out)
{
    if (s->how->form == BN_VTK_RAW) {
        if (bytes > s->length)
            return false;
        memcpy(out, s->text, bytes);
        return true;
    }
    const size_t groups = bytes / 3, rest = bytes % 3;
    unsigned char last[3];
    size_t got = 0;
    if (bytes > s->length || bn_base64_length(bytes) > s->length || !bn_base64_decode(s->text, 4 * groups, out, &got) ||
        got != 3 * groups)
        return false;
    if (rest > 0 && (!bn_base64_decode(s->text + 4 * groups, 4, last, &got) || got < rest))
        return false;
    memcpy(out + 3 * groups, last, rest);
    return true;
}

/* Numbers of the head from number `first` on; `count` <= the length of the text. */
static bool fetch_head(const source *s, size_t count, uint64_t *head)
{
    const size_t word = s->how->word;
    unsigned char *bytes = count <= s->length / word ? malloc(count * word) : NULL;
    const bool good = bytes && fetch(s, count * word, bytes);
    if (good && s->how->swapped)
        swap(bytes, word, count);
    for (size_t i = 0; good && i < count; i++) {
        uint32_t narrow;
        memcpy(&narrow, bytes + i * word, sizeof narrow);
        head[i] = narrow;
        if (word == sizeof *head)
            memcpy(&head[i], bytes + i * word, sizeof *head);
    }
    free(bytes);
    return good;
}

/* Bytes of the values according to the head; false if that is damaged. */
static bool payload(const source *s, size_t *bytes, uint64_t head[3])
{
    uint64_t full = 0;
    if (!fetch_head(s, s->how->compressed ? 3 : 1, head))
        return false;
    if (!s->how->compressed)
        return *bytes = (size_t)head[0], true;
    if (head[0] > s->length / s->how->word || head[2] > head[1] || (head[0] > 0 && head[1] == 0) ||
        __builtin_mul_overflow(head[0], head[1], &full) || full > SIZE_MAX / 8)
        return false;
    *bytes = (size_t)(head[0] > 0 && head[2] > 0 ? full - head[1] + head[2] : full);
    return true;
}

static const char *inflate_blocks(const source *s, const uint64_t *head, size_t bytes, unsigned char *values)
{
    const size_t head_bytes = (3 + (size_t)head[0]) * s->how->word;
    const size_t at = s->how->form == BN_VTK_RAW ? head_bytes : bn_base64_length(head_bytes);
    const source rest = { s->how, s->text + at, at <= s->length ? s->length - at : 0 };
    const unsigned char *from = (const unsigned char *)rest.text;
    unsigned char *packed = NULL;
    uint64_t sum = 0;
    const char *why = NULL;
    for (uint64_t b = 0; b < head[0]; b++)
        if (at > s->length || __builtin_add_overflow(sum, head[3 + b], &sum) || sum > rest.length)
            return "its blocks are cut short";
    if (s->how->form == BN_VTK_BASE64) {
        if (!(packed = malloc((size_t)sum + 1)))
            return bn_vtk_no_memory;
        from = packed;
        if (!fetch(&rest, (size_t)sum, packed))
            why = "it is no base64 text";
    }
    for (uint64_t b = 0; b < head[0] && !why; b++) {
        const size_t left = bytes - (size_t)(b * head[1]), count = left < head[1] ? left : (size_t)head[1];
        uLongf got = (uLongf)count;
        uLong taken = (uLong)head[3 + b];
        if (uncompress2(values + b * head[1], &got, from, &taken) != Z_OK || got != count || taken != head[3 + b])
            why = "a block is damaged";
        from += head[3 + b];
    }
    free(packed);
    return why;
}

static const char *decode_blocks(const source *s, const uint64_t *probe, size_t bytes, unsigned char **values)
{
    const char *why = NULL;
    uint64_t *head = malloc((3 + (size_t)probe[0]) * sizeof *head);
    if (!head)
        return bn_vtk_no_memory;
    if (bytes / DEFLATE_RATIO_MAX > s->length)
        why = "its sizes do not fit the file";
    else if (!fetch_head(s, 3 + (size_t)probe[0], head))
        why = "its sizes are cut short";
    else if (!(*values = malloc(bytes + 1)))
        why = bn_vtk_no_memory;
    else
        why = inflate_blocks(s, head, bytes, *values);
    free(head);
    return why;
}

/* Uncompressed bytes: the head is part of the same text. */
static const char *decode_plain(const source *s, size_t bytes, unsigned char **values)
{
    const size_t word = s->how->word;
    if (bytes > s->length)
        return "it is cut short";
    if (!(*values = malloc(word + bytes + 1)))
        return bn_vtk_no_memory;
    if (!fetch(s, word + bytes, *values))
        return s->how->form == BN_VTK_RAW ? "it is cut short" : "it is cut short, or no base64 text";
    memmove(*values, *values + word, bytes);
    return NULL;
}

static size_t skip_blanks(const char *text, size_t length, size_t at)
{
    while (at < length && memchr(" \t\r\n", text[at], 4))
        at++;
    return at;
}

static size_t skip_word(const char *text, size_t length, size_t at)
{
    while (at < length && !memchr(" \t\r\n", text[at], 4))
        at++;
    return at;
}

size_t bn_vtk_numbers_length(const char *text, size_t length, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        at = skip_blanks(text, length, at);
        if (at == length)
            return SIZE_MAX;
        at = skip_word(text, length, at);
    }
    return at;
}

static const char *parse_numbers(const source *s, const char *type, size_t count, unsigned char **values)
{
    if (count > s->length) /* each takes a character at least */
        return "it has too few numbers";
    if (!(*values = malloc(count * bn_vtk_type_bytes(type) + 1)))
        return bn_vtk_no_memory;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        char word[64];
        at = skip_blanks(s->text, s->length, at);
        const size_t end = skip_word(s->text, s->length, at);
        if (end == at)
            return "it has too few numbers";
        if (end - at >= sizeof word)
            return "it has a word that is no number";
        memcpy(word, s->text + at, end - at);
        word[end - at] = '\0';
        if (!bn_vtk_parse(type, word, *values, i))
            return "it has a word that is no number of its type";
        at = end;
    }
    return NULL;
}

/* The number of elements, from the head or by counting words. */
static const char *count_elements(const source *s, size_t size, size_t *count)
{
    uint64_t head[3];
    size_t bytes, at = 0;
    *count = 0;
    if (s->how->form == BN_VTK_ASCII) {
        for (; (at = skip_blanks(s->text, s->length, at)) < s->length; at = skip_word(s->text, s->length, at))
            ++*count;
        return NULL;
    }
    if (!payload(s, &bytes, head) || bytes % size != 0)
        return "its head is damaged or cut short";
    *count = bytes / size;
    return NULL;
}

const char *bn_vtk_decode(const bn_vtk_encoding *how, const char *text, size_t length, const char *type, size_t *count,
                          void **values)
{
    const source s = { how, text, length };
    const size_t size = bn_vtk_type_bytes(type);
    unsigned char *out = NULL;
    uint64_t head[3];
    size_t bytes, given;
    const char *why = *count == SIZE_MAX ? count_elements(&s, size, count) : NULL;
    *values = NULL;
    if (why)
        return why;
    if (__builtin_mul_overflow(*count, size, &bytes) || bytes > SIZE_MAX / 8)
        return "it is too large for this machine's addresses";
    if (how->form == BN_VTK_ASCII)
        why = parse_numbers(&s, type, *count, &out);
    else if (how->word > 0 && !payload(&s, &given, head))
        why = "its head is damaged or cut short";
    else if (how->word > 0 && given != bytes)
        why = "it has not the size of the grid";
    else
        why = how->compressed ? decode_blocks(&s, head, bytes, &out) : decode_plain(&s, bytes, &out);
    if (!why && how->form != BN_VTK_ASCII && how->swapped)
        swap(out, size, *count);
    if (why)
        free(out);
    else
        *values = out;
    return why;
}
