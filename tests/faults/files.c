/* files.c: file operations that fail; preloaded. Streams of stdio are made of calls that are seen here too.
 *     BN_FAULT=CALL:N:ERROR[:on]  the N-th open, read, write, fsync, rename, close, mkdir, unlink or mmap ends with
 * that errno, and with "on" all after it; ERROR -1: a write of half the bytes BN_FAULT_UNDER=FOLDER       counts only
 * what is below it BN_FAULT_MARK=FILE          gets a line when a call has failed BN_FAULT_COUNT=FILE         gets the
 * number of calls at the end */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const char *const calls[] = { "open", "read", "write", "fsync", "rename", "close", "mkdir", "unlink", "mmap" };
enum { CALLS = sizeof calls / sizeof *calls, FILES = 1024 };
static atomic_long counts[CALLS];
static _Atomic bool watched[FILES], read_only[FILES]; /* descriptors */
static FILE *_Atomic streams[FILES];

static bool below(const char *path)
{
    const char *folder = getenv("BN_FAULT_UNDER");
    char whole[8192], here[4096];
    if (!folder || !path)
        return false;
    if (path[0] == '/' || !getcwd(here, sizeof here))
        return strncmp(path, folder, strlen(folder)) == 0;
    snprintf(whole, sizeof whole, "%s/%s", here, path);
    return strncmp(whole, folder, strlen(folder)) == 0;
}

static bool watches(int fd) { return fd >= 0 && fd < FILES && watched[fd]; }
/* What a process has just written itself stands in memory; HDF5 1.10 crashes in H5Fcreate when it can't read that. */
static bool reads(int fd) { return watches(fd) && read_only[fd]; }

/* Counts a call on a watched file; the error that it ends with, or 0. */
static int fault(const char *call)
{
    const char *spec = getenv("BN_FAULT"), *mark = getenv("BN_FAULT_MARK");
    char name[16] = "", on[4] = "";
    long n = 0;
    int error = 0, c = 0;
    while (strcmp(calls[c], call) != 0)
        c++;
    const long now = ++counts[c];
    if (!spec || sscanf(spec, "%15[a-z]:%ld:%d:%3s", name, &n, &error, on) < 3 || strcmp(name, call) != 0 ||
        (now != n && !(on[0] && now > n)))
        return 0;
    const int fd = mark ? REAL(open)(mark, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (fd >= 0 && REAL(write)(fd, call, strlen(call)) > 0)
        REAL(close)(fd);
    return error;
}

__attribute__((destructor)) static void tell(void)
{
    FILE *f = getenv("BN_FAULT_COUNT") ? REAL(fopen)(getenv("BN_FAULT_COUNT"), "w") : NULL;
    for (int c = 0; f && c < CALLS; c++)
        fprintf(f, "%s %ld\n", calls[c], (long)counts[c]);
    if (f)
        REAL(fclose)(f);
}

#define FAIL(call, condition, result)                      \
    do {                                                   \
        const int error_ = (condition) ? fault(#call) : 0; \
        if (error_ > 0) {                                  \
            errno = error_;                                \
            return result;                                 \
        }                                                  \
    } while (0)

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & O_CREAT ? (mode_t)va_arg(more, int) : 0;
    va_end(more);
    const bool mine = below(path);
    FAIL(open, mine, -1);
    const int fd = REAL(open)(path, flags, mode);
    if (fd >= 0 && fd < FILES) {
        watched[fd] = mine;
        read_only[fd] = (flags & O_ACCMODE) == O_RDONLY;
    }
    return fd;
}
int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & O_CREAT ? (mode_t)va_arg(more, int) : 0;
    va_end(more);
    return open(path, flags, mode);
}

/* The bytes that a write may write; 0: it has failed. */
static size_t allowed(int fd, size_t bytes)
{
    const int error = watches(fd) ? fault("write") : 0;
    if (error > 0)
        errno = error;
    return error > 0 ? 0 : error < 0 && bytes > 1 ? bytes / 2 : bytes;
}
ssize_t write(int fd, const void *data, size_t bytes)
{
    const size_t most = allowed(fd, bytes);
    return most == 0 && bytes > 0 ? -1 : REAL(write)(fd, data, most);
}
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    const size_t most = allowed(fd, bytes);
    return most == 0 && bytes > 0 ? -1 : REAL(pwrite)(fd, data, most, at);
}
ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t at) { return pwrite(fd, data, bytes, at); }
ssize_t read(int fd, void *data, size_t bytes)
{
    FAIL(read, reads(fd), -1);
    return REAL(read)(fd, data, bytes);
}
ssize_t pread(int fd, void *data, size_t bytes, off_t at)
{
    FAIL(read, reads(fd), -1);
    return REAL(pread)(fd, data, bytes, at);
}
ssize_t pread64(int fd, void *data, size_t bytes, off_t at) { return pread(fd, data, bytes, at); }
int fsync(int fd)
{
    FAIL(fsync, watches(fd), -1);
    return 0; /* a sweep has no time for disks */
}
int close(int fd)
{
    const bool mine = watches(fd);
    if (mine)
        watched[fd] = false;
    const int error = mine ? fault("close") : 0, result = REAL(close)(fd); /* Linux closes in any case */
    if (error > 0)
        errno = error;
    return error > 0 ? -1 : result;
}
int rename(const char *from, const char *to)
{
    FAIL(rename, below(to), -1);
    return REAL(rename)(from, to);
}
int mkdir(const char *path, mode_t mode)
{
    FAIL(mkdir, below(path), -1);
    return REAL(mkdir)(path, mode);
}
int unlink(const char *path)
{
    FAIL(unlink, below(path), -1);
    return REAL(unlink)(path);
}
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    FAIL(mmap, watches(fd), MAP_FAILED);
    return REAL(mmap)(at, bytes, protection, flags, fd, offset);
}

/* ---- streams: the C library's own calls can't be seen, so these are streams of a kind that calls the functions above
 */

static ssize_t stream_read(void *fd, char *data, size_t bytes) { return read((int)(long)fd, data, bytes); }
static ssize_t stream_write(void *fd, const char *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) { /* as the C library does */
        const ssize_t n = write((int)(long)fd, data + done, bytes - done);
        if (n <= 0)
            return done > 0 ? (ssize_t)done : 0;
        done += (size_t)n;
    }
    return (ssize_t)bytes;
}
static int stream_seek(void *fd, off64_t *at, int whence)
{
    const off_t place = lseek((int)(long)fd, *at, whence);
    *at = place;
    return place < 0 ? -1 : 0;
}
static int stream_close(void *fd)
{
    streams[(long)fd] = NULL;
    return close((int)(long)fd);
}
FILE *fdopen(int fd, const char *mode)
{
    static const cookie_io_functions_t functions = { stream_read, stream_write, stream_seek, stream_close };
    if (!watches(fd))
        return REAL(fdopen)(fd, mode);
    return streams[fd] = fopencookie((void *)(long)fd, mode, functions);
}
FILE *fopen(const char *path, const char *mode)
{
    if (!below(path))
        return REAL(fopen)(path, mode);
    const int flags = mode[0] == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | (mode[0] == 'a' ? O_APPEND : O_TRUNC);
    const int fd = open(path, strchr(mode, '+') ? (flags & ~O_WRONLY) | O_RDWR : flags, 0666);
    return fd < 0 ? NULL : fdopen(fd, mode);
}
FILE *fopen64(const char *path, const char *mode) { return fopen(path, mode); }
int fileno(FILE *stream)
{
    for (int fd = 0; fd < FILES; fd++)
        if (streams[fd] == stream)
            return fd;
    return REAL(fileno)(stream);
}
