/* power.c: a journal of what a disk would know after lost power; preloaded. Below BN_POWER_UNDER=FOLDER the names that
 * are made, renamed and removed, and what fsync makes sure of, become lines of BN_POWER_LOG=FOLDER/journal, fields
 * between tabs; what a file holds at its fsync is copied to BN_POWER_LOG/NUMBER:
 *     create PATH INODE    mkdir PATH    rename FROM TO    unlink PATH    sync INODE NUMBER    folder PATH
 * kills.py makes of it a folder as it may be found after the next start. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The whole path, if it is watched. */
static bool below(const char *path, char whole[8192])
{
    const char *folder = getenv("BN_POWER_UNDER");
    char here[4096];
    if (!folder || !path)
        return false;
    if (path[0] == '/' || !getcwd(here, sizeof here))
        snprintf(whole, 8192, "%s", path);
    else
        snprintf(whole, 8192, "%s/%s", here, path);
    return strncmp(whole, folder, strlen(folder)) == 0;
}

static void tell(const char *what, const char *one, const char *two)
{
    char name[4200], line[20000];
    snprintf(name, sizeof name, "%s/journal", getenv("BN_POWER_LOG"));
    const int bytes = snprintf(line, sizeof line, "%s\t%s\t%s\n", what, one, two);
    const int fd = REAL(open)(name, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd < 0 || write(fd, line, (size_t)bytes) != bytes)
        abort();
    close(fd);
}

static const char *inode(int fd, char text[32])
{
    struct stat s;
    snprintf(text, 32, "%llu", fstat(fd, &s) == 0 ? (unsigned long long)s.st_ino : 0ULL);
    return text;
}

static int opened(const char *path, int flags, mode_t mode)
{
    char whole[8192], number[32];
    const bool fresh = (flags & O_CREAT) && below(path, whole) && access(whole, F_OK) != 0;
    const int fd = REAL(open)(path, flags, mode);
    if (fresh && fd >= 0)
        tell("create", whole, inode(fd, number));
    return fd;
}
#define OPEN(name)                                                   \
    int name(const char *path, int flags, ...)                       \
    {                                                                \
        va_list more;                                                \
        va_start(more, flags);                                       \
        const mode_t mode = flags & O_CREAT ? va_arg(more, int) : 0; \
        va_end(more);                                                \
        return opened(path, flags, mode);                            \
    }
OPEN(open)
OPEN(open64)

int mkdir(const char *path, mode_t mode)
{
    char whole[8192];
    const int result = REAL(mkdir)(path, mode);
    if (result == 0 && below(path, whole))
        tell("mkdir", whole, "");
    return result;
}

int rename(const char *from, const char *to)
{
    char one[8192], two[8192];
    const int result = REAL(rename)(from, to);
    if (result == 0 && below(to, two) && below(from, one))
        tell("rename", one, two);
    return result;
}

int unlink(const char *path)
{
    char whole[8192];
    const int result = REAL(unlink)(path);
    if (result == 0 && below(path, whole))
        tell("unlink", whole, "");
    return result;
}

/* The content goes down with the call; the disk itself need not turn. */
int fsync(int fd)
{
    static _Atomic int calls;
    char link[64], path[8192], copy[4200], number[32], own[64];
    struct stat s;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    char whole[8192];
    if (n <= 0 || fstat(fd, &s) != 0)
        return REAL(fsync)(fd);
    path[n] = '\0';
    if (!below(path, whole))
        return REAL(fsync)(fd);
    if (S_ISDIR(s.st_mode)) {
        tell("folder", whole, "");
        return 0;
    }
    snprintf(own, sizeof own, "%ld-%d", (long)getpid(), calls++);
    snprintf(copy, sizeof copy, "%s/%s", getenv("BN_POWER_LOG"), own);
    const int to = REAL(open)(copy, O_WRONLY | O_CREAT | O_TRUNC, 0666), from = REAL(open)(link, O_RDONLY, 0);
    char room[65536];
    for (ssize_t got; from >= 0 && (got = read(from, room, sizeof room)) > 0;)
        if (to < 0 || write(to, room, (size_t)got) != got)
            abort();
    close(from);
    close(to);
    tell("sync", inode(fd, number), own);
    return 0;
}
int fdatasync(int fd) { return fsync(fd); }
