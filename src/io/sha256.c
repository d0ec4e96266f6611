/* sha256.c: SHA-256 by libcrypto, which has it for every processor that knows it in hardware. */
#include "io/sha256.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 };

static void to_text(const unsigned char *digest, unsigned bytes, char text[BN_SHA256_TEXT])
{
    for (unsigned i = 0; i < bytes && i < 32; i++)
        snprintf(text + (size_t)2 * i, 3, "%02x", digest[i]);
}

bn_status bn_sha256(bn_context *ctx, const void *data, size_t bytes, char text[BN_SHA256_TEXT])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    if (EVP_Digest(data, bytes, digest, &length, EVP_sha256(), NULL) != 1 || length != 32)
        return bn_fail(ctx, BN_MEMORY, "SHA-256 failed over %zu bytes", bytes);
    to_text(digest, length, text);
    return BN_OK;
}

/* Everything from the file's place to its end. */
static bn_status digest_stream(bn_context *ctx, const char *path, FILE *f, EVP_MD_CTX *sum, unsigned char *piece,
                               unsigned long long *bytes)
{
    size_t got;
    if (EVP_DigestInit_ex(sum, EVP_sha256(), NULL) != 1)
        return bn_fail(ctx, BN_MEMORY, "SHA-256 cannot begin on %s", path);
    while ((got = fread(piece, 1, PIECE, f)) > 0) {
        if (EVP_DigestUpdate(sum, piece, got) != 1)
            return bn_fail(ctx, BN_MEMORY, "SHA-256 failed in %s", path);
        *bytes += got;
    }
    return ferror(f) ? bn_fail(ctx, BN_IO, "cannot read %s: %s", path, strerror(errno)) : BN_OK;
}

bn_status bn_sha256_file(bn_context *ctx, const char *path, unsigned long long *bytes, char text[BN_SHA256_TEXT])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    bn_status st = BN_OK;
    EVP_MD_CTX *sum = NULL;
    unsigned char *piece = NULL;
    *bytes = 0;
    FILE *f = fopen(path, "rbe");
    if (!f)
        return bn_fail(ctx, BN_IO, "cannot read %s: %s", path, strerror(errno));
    if (!(sum = EVP_MD_CTX_new()) || !(piece = malloc(PIECE)))
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory to check %s", path));
    BN_GO(digest_stream(ctx, path, f, sum, piece, bytes));
    if (EVP_DigestFinal_ex(sum, digest, &length) != 1 || length != 32)
        st = bn_fail(ctx, BN_MEMORY, "SHA-256 failed at the end of %s", path);
    else
        to_text(digest, length, text);
out:
    EVP_MD_CTX_free(sum);
    free(piece);
    fclose(f); /* opened for reading: nothing can be lost here */
    return st;
}
