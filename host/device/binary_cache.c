/* binary_cache.c: one file per compiled program: magic, sizes, checksum, the whole key, the binary. The file's name is
 * a hash, and the key inside decides. Damaged binaries crash drivers, so an entry is used only when the checksum is
 * right and nobody else can have written it; everything else means a silent rebuild. */
#include "device/binary_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct bn_entry_head {
    char magic[8];
    uint64_t key_bytes, binary_bytes, checksum; /* of sizes, key and binary */
} bn_entry_head;

static const char magic[8] = "BNCACHE1";

uint64_t bn_hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t checksum(const bn_entry_head *head, const char *key, const unsigned char *binary)
{
    uint64_t h = bn_hash(BN_HASH_START, &head->key_bytes, sizeof head->key_bytes);
    h = bn_hash(h, &head->binary_bytes, sizeof head->binary_bytes);
    h = bn_hash(h, key, head->key_bytes);
    return bn_hash(h, binary, head->binary_bytes);
}

/* <cache>/kernels/HASH.bin; false when it does not fit. Makes the folder. */
static bool entry_path(bn_context *ctx, const char *key, size_t key_bytes, char *path, size_t room)
{
    const char *dir = bn_context_cache_dir(ctx);
    struct stat s;
    if (!dir || snprintf(path, room, "%s/kernels", dir) >= (int)room)
        return false;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return false;
    if (lstat(path, &s) != 0 || !S_ISDIR(s.st_mode) || s.st_uid != geteuid() || (s.st_mode & (S_IWGRP | S_IWOTH)))
        return false;
    return snprintf(path, room, "%s/kernels/%016llx.bin", dir,
                    (unsigned long long)bn_hash(BN_HASH_START, key, key_bytes)) < (int)room;
}

static bool read_all(FILE *f, void *data, size_t bytes) { return fread(data, 1, bytes, f) == bytes; }
static bool write_all(FILE *f, const void *data, size_t bytes) { return fwrite(data, 1, bytes, f) == bytes; }

void bn_binary_cache_get(bn_context *ctx, const char *key, size_t key_bytes, unsigned char **binary, size_t *bytes)
{
    char path[4096], *stored = NULL;
    unsigned char *data = NULL;
    bn_entry_head head;
    struct stat s;
    *binary = NULL;
    if (!entry_path(ctx, key, key_bytes, path, sizeof path))
        return;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    FILE *f = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (!f) {
        if (fd >= 0)
            close(fd);
        return;
    }
    const char *why = "it is damaged";
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || s.st_uid != geteuid() || (s.st_mode & (S_IWGRP | S_IWOTH)))
        why = "others could have written it";
    else if (read_all(f, &head, sizeof head) && memcmp(head.magic, magic, sizeof magic) == 0 &&
             head.key_bytes == key_bytes && head.binary_bytes > 0 &&
             (uint64_t)s.st_size == sizeof head + head.key_bytes + head.binary_bytes &&
             (stored = malloc(key_bytes)) != NULL && (data = malloc(head.binary_bytes)) != NULL &&
             read_all(f, stored, key_bytes) && read_all(f, data, head.binary_bytes) &&
             checksum(&head, stored, data) == head.checksum && memcmp(stored, key, key_bytes) == 0) {
        *binary = data;
        *bytes = head.binary_bytes;
        data = NULL;
        why = NULL;
    }
    if (why)
        bn_log(ctx, BN_LOG_DEBUG, "cache entry %s is not used: %s", path, why);
    fclose(f); /* opened for reading: nothing can be lost here */
    free(stored);
    free(data);
}

void bn_binary_cache_put(bn_context *ctx, const char *key, size_t key_bytes, const unsigned char *binary, size_t bytes)
{
    char path[4096], aside[4200];
    if (!entry_path(ctx, key, key_bytes, path, sizeof path))
        return;
    bn_entry_head head = { .key_bytes = key_bytes, .binary_bytes = bytes };
    memcpy(head.magic, magic, sizeof magic);
    head.checksum = checksum(&head, key, binary);
    snprintf(aside, sizeof aside, "%s.%ld", path, (long)getpid());
    const int fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    bool ok = f && write_all(f, &head, sizeof head) && write_all(f, key, key_bytes) && write_all(f, binary, bytes);
    if (f ? fclose(f) != 0 : fd >= 0 && close(fd) != 0)
        ok = false;
    ok = ok && rename(aside, path) == 0;
    if (!ok) {
        bn_log(ctx, BN_LOG_DEBUG, "cache entry %s could not be written: %s", path, strerror(errno));
        if (fd >= 0)
            (void)unlink(aside);
    }
}
