/* base64.c: three bytes to four characters and back. */
#include "io/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode_group(const unsigned char in[3], char out[4])
{
    out[0] = digits[in[0] >> 2];
    out[1] = digits[(in[0] & 3) << 4 | in[1] >> 4];
    out[2] = digits[(in[1] & 15) << 2 | in[2] >> 6];
    out[3] = digits[in[2] & 63];
}

void bn_base64_groups(const unsigned char *data, size_t groups, char *text)
{
    for (; groups > 0; groups--, data += 3, text += 4)
        encode_group(data, text);
}

void bn_base64_put(bn_base64 *b, FILE *stream, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    char text[4 * 1024];
    size_t used = 0;
    while (bytes > 0) {
        while (b->count < 3 && bytes > 0) {
            b->kept[b->count++] = *at++;
            bytes--;
        }
        if (b->count < 3)
            break;
        encode_group(b->kept, text + used);
        used += 4;
        b->count = 0;
        if (used == sizeof text) {
            fwrite(text, 1, used, stream);
            used = 0;
        }
    }
    /* cppcheck-suppress uninitvar ; `used` characters of it are written */
    fwrite(text, 1, used, stream);
}

void bn_base64_end(bn_base64 *b, FILE *stream)
{
    if (b->count == 0)
        return;
    char text[4];
    memset(b->kept + b->count, 0, 3 - b->count);
    encode_group(b->kept, text);
    memset(text + b->count + 1, '=', 3 - b->count);
    fwrite(text, 1, sizeof text, stream);
    b->count = 0;
}

size_t bn_base64_length(size_t bytes) { return (bytes / 3 + (bytes % 3 != 0)) * 4; }

/* The value of a character, or -1. */
static int digit_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool bn_base64_decode(const char *text, size_t length, unsigned char *data, size_t *bytes)
{
    *bytes = 0;
    if (length % 4 != 0)
        return false;
    for (size_t at = 0; at < length; at += 4) {
        const bool last = at + 4 == length;
        const size_t pads = last && text[at + 3] == '=' ? 1 + (size_t)(text[at + 2] == '=') : 0;
        unsigned group = 0;
        for (size_t i = 0; i < 4; i++) {
            const int value = i >= 4 - pads ? 0 : digit_value(text[at + i]);
            if (value < 0)
                return false;
            group = group << 6 | (unsigned)value;
        }
        const unsigned char out[3] = { (unsigned char)(group >> 16), (unsigned char)(group >> 8),
                                       (unsigned char)group };
        memcpy(data + *bytes, out, 3 - pads);
        *bytes += 3 - pads;
    }
    return true;
}
