/* pocl_cache.c: the folder in which PoCL keeps the kernels that it has compiled, and from which it loads them as shared
 * objects. What others can write there runs as this user, so it is private; processes that fill one at the same time
 * crash each other, or compute wrong numbers, so each has its own as long as it lives. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "device/context.h"
#include "device/device_list.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { BN_POCL_FOLDERS = 256, BN_POCL_ROOM = 8 << 20 };

/* PoCL asks for its folder once in a process, whatever the number of contexts. */
static struct {
    pthread_mutex_t lock;
    bool chosen;
    char temporary[PATH_MAX]; /* removed by the process that made it, not by one forked off */
    pid_t maker;
} here = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *walk)
{
    (void)s, (void)kind, (void)walk;
    (void)remove(path);
    return 0;
}

static void remove_temporary(void)
{
    if (getpid() == here.maker)
        (void)nftw(here.temporary, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The locked file of a folder; the lock ends with the file or this process. */
enum { BN_POCL_TAKEN = -1, BN_POCL_NO_LOCK = -2 }; /* another one has the folder; files can't be locked there */
static int lock_folder(const char *folder)
{
    char name[PATH_MAX + 16];
    snprintf(name, sizeof name, "%s/binnacle.lock", folder);
    const int fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return BN_POCL_NO_LOCK;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    const int none = errno == EWOULDBLOCK ? BN_POCL_TAKEN : BN_POCL_NO_LOCK;
    close(fd);
    return none;
}

/* False if another process has the folder; where files can't be locked, none is. */
static bool take(const char *folder) { return lock_folder(folder) != BN_POCL_TAKEN; }

/* PoCL ends the process where it can't write a kernel, with a message that does not name the folder. */
static const char *no_room(const char *folder)
{
    struct statvfs s;
    return statvfs(folder, &s) == 0 && (double)s.f_bavail * (double)s.f_frsize < BN_POCL_ROOM
               ? "less than 8 MiB are free there"
               : NULL;
}

/* The folder of a number. False: its path is too long. */
static bool numbered(const char *dir, int number, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, number > 0 ? "%s/process-%d" : "%s", dir, number) < PATH_MAX;
}

/* Takes `dir` or, where other processes have that, the first free process-N in it: the same again, hence with compiled
 * kernels, when one process follows another. Ranks begin with their number. NULL, or why there is none. */
static const char *take_one(bn_context *ctx, const char *dir, char path[PATH_MAX])
{
    const char *why = bn_private_folder(dir);
    for (int i = 0; !why && i < BN_POCL_FOLDERS; i++) {
        if (!numbered(dir, ctx->comm.local_rank + i, path))
            return "its path is too long";
        why = bn_private_folder(path);
        if (!why && take(path))
            return no_room(path);
    }
    return why ? why : "too many processes use it";
}

/* PROGRAM/KERNEL/WORK-GROUP/KERNEL.so and PROGRAM/program.bc, below two letters of the program; written under another
 * name, and renamed when they are whole. */
static bool is_compiled(const char *name)
{
    const size_t n = strlen(name);
    return strcmp(name, "program.bc") == 0 || (n > 3 && strcmp(name + n - 3, ".so") == 0);
}

static size_t fetch_from; /* characters of the path of the folder that is walked: with the lock */

/* Makes a folder, or links a file, where there is none; a file without a link is compiled again. */
static int fetch_one(const char *path, const struct stat *s, int kind, struct FTW *walk)
{
    static const char process[] = "/process-";
    const char *in_folder = path + fetch_from;
    char own[PATH_MAX];
    (void)s;
    if (!in_folder[0] || strncmp(in_folder, process, sizeof process - 1) == 0)
        return 0;
    if (snprintf(own, sizeof own, "%s%s", getenv("POCL_CACHE_DIR"), in_folder) >= (int)sizeof own)
        return 0;
    if (kind == FTW_D)
        (void)mkdir(own, 0700);
    else if (kind == FTW_F && is_compiled(path + walk->base))
        (void)!link(path, own);
    return 0;
}

void bn_pocl_cache_fetch(void)
{
    const char *own = getenv("POCL_CACHE_DIR");
    char path[PATH_MAX];
    struct stat s;
    pthread_mutex_lock(&here.lock);
    for (int i = 1; here.chosen && own && i < BN_POCL_FOLDERS && numbered(own, i, path) && lstat(path, &s) == 0; i++) {
        const int lock = S_ISDIR(s.st_mode) ? lock_folder(path) : BN_POCL_NO_LOCK;
        if (lock < 0)
            continue;
        fetch_from = strlen(path);
        (void)nftw(path, fetch_one, 16, FTW_PHYS);
        close(lock);
    }
    pthread_mutex_unlock(&here.lock);
}

/* A fresh folder, removed at exit. NULL, or why there is none. */
static const char *make_temporary(char path[PATH_MAX])
{
    const char *place = getenv("TMPDIR");
    if (snprintf(path, PATH_MAX, "%s/binnacle-pocl-XXXXXX", place && place[0] ? place : "/tmp") >= PATH_MAX)
        return "the path is too long";
    if (!mkdtemp(path))
        return strerror(errno);
    memcpy(here.temporary, path, PATH_MAX);
    here.maker = getpid();
    return atexit(remove_temporary) != 0 || at_quick_exit(remove_temporary) != 0 || !take(path)
               ? "no memory to remove it at the end"
               : no_room(path);
}

static bn_status choose(bn_context *ctx)
{
    char path[PATH_MAX] = "", dir[PATH_MAX] = "";
    const char *given = getenv("POCL_CACHE_DIR"), *own = NULL, *why = "POCL_CACHE_DIR is not set", *folder = path;
    if (given && given[0]) { /* links are followed once, so that none is turned elsewhere later */
        why = take_one(ctx, realpath(given, dir) ? dir : given, path);
        if (why)
            bn_log(ctx, BN_LOG_WARNING, "POCL_CACHE_DIR: %s is not used (%s), but a private folder", given, why);
    }
    if (why && (own = bn_context_cache_dir(ctx)) != NULL)
        why = snprintf(dir, sizeof dir, "%s/pocl", own) < PATH_MAX ? take_one(ctx, dir, path) : "its path is too long";
    if (why) {
        why = make_temporary(path);
        bn_log(ctx, why ? BN_LOG_WARNING : BN_LOG_INFO, "PoCL has no lasting folder for kernels: %s is %s%s", path,
               why ? "no substitute, so PoCL is not used: " : "its folder until the end of this process",
               why ? why : "");
        if (why) /* where PoCL offers no device; its own choice could be a folder of others */
            folder = "/dev/null/binnacle";
    }
    return setenv("POCL_CACHE_DIR", folder, 1) == 0 ? BN_OK : bn_fail(ctx, BN_MEMORY, "no memory for the environment");
}

bn_status bn_pocl_cache_choose(bn_context *ctx)
{
    pthread_mutex_lock(&here.lock);
    const bn_status st = here.chosen ? BN_OK : choose(ctx);
    here.chosen = st == BN_OK;
    pthread_mutex_unlock(&here.lock);
    return st;
}
