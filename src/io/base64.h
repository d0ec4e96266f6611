/* base64.h: bytes as text after RFC 4648, and back. */
#ifndef BN_BASE64_H
#define BN_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The whole text, padded at its end. Write errors stay in the stream's flag. */
void bn_base64_write(FILE *, const void *data, size_t bytes);

/* Groups of three bytes as four characters each. */
void bn_base64_groups(const unsigned char *data, size_t groups, char *text);

/* Characters that `bytes` bytes become; `bytes` <= SIZE_MAX / 2. */
size_t bn_base64_length(size_t bytes);

/* Decodes `length` characters, a multiple of 4, padding at the end alone, into at most length / 4 * 3 bytes. False if
 * it is no base64. */
bool bn_base64_decode(const char *text, size_t length, unsigned char *data, size_t *bytes);

#endif
