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

static bool read_all(int fd, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t n = read(fd, (char *)data + at, bytes - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

static bool write_all(int fd, const void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t n = write(fd, (const char *)data + at, bytes - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

void bn_binary_cache_get(bn_context *ctx, const char *key, size_t key_bytes, unsigned char **binary, size_t *bytes)
{
    char path[4096], *stored = NULL;
    unsigned char *data = NULL;
    bn_entry_head head;
    struct stat s;
    *binary = NULL;
    if (!entry_path(ctx, key, key_bytes, path, sizeof path))
        return;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    const char *why = "it is damaged";
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || s.st_uid != geteuid() || (s.st_mode & (S_IWGRP | S_IWOTH)))
        why = "others could have written it";
    else if (read_all(fd, &head, sizeof head) && memcmp(head.magic, magic, sizeof magic) == 0 &&
             head.key_bytes == key_bytes && head.binary_bytes > 0 &&
             (uint64_t)s.st_size == sizeof head + head.key_bytes + head.binary_bytes &&
             (stored = malloc(key_bytes)) != NULL && (data = malloc(head.binary_bytes)) != NULL &&
             read_all(fd, stored, key_bytes) && read_all(fd, data, head.binary_bytes) &&
             checksum(&head, stored, data) == head.checksum && memcmp(stored, key, key_bytes) == 0) {
        *binary = data;
        *bytes = head.binary_bytes;
        data = NULL;
        why = NULL;
    }
    if (why)
        bn_log(ctx, BN_LOG_DEBUG, "cache entry %s is not used: %s", path, why);
    close(fd);
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
    int fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write_all(fd, &head, sizeof head) && write_all(fd, key, key_bytes) &&
              write_all(fd, binary, bytes);
    if (fd >= 0 && close(fd) != 0)
        ok = false;
    if (ok)
        ok = rename(aside, path) == 0;
    if (!ok) {
        bn_log(ctx, BN_LOG_DEBUG, "cache entry %s could not be written: %s", path, strerror(errno));
        if (fd >= 0)
            (void)unlink(aside);
    }
}
