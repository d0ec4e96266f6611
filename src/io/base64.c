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

void bn_base64_write(FILE *stream, const void *data, size_t bytes)
{
    enum { GROUPS = 1024 };
    const unsigned char *at = data;
    unsigned char last[3] = { 0 };
    char text[4 * GROUPS];
    for (size_t groups = bytes / 3, some; groups > 0; groups -= some, at += 3 * some) {
        some = groups < GROUPS ? groups : GROUPS;
        bn_base64_groups(at, some, text);
        fwrite(text, 1, 4 * some, stream);
    }
    const size_t rest = bytes % 3;
    if (rest == 0)
        return;
    memcpy(last, at, rest);
    encode_group(last, text);
    memset(text + rest + 1, '=', 3 - rest);
    fwrite(text, 1, 4, stream);
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
