/* file.c: files that appear whole or not at all. The order is: temporary name in the same folder, write, flush, fsync,
 * rename, fsync of the folder; a reader of the final name finds the old file or the new one, also after a power cut. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct bn_file {
    bn_context *ctx;
    FILE *stream;
    bn_path path, folder, temporary; /* temporary: "" when there is nothing to remove */
};

enum { NAME_TRIES = 100 };

/* What the user can do about a failure to write. */
static const char *advice(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT: return "free some space or choose another folder with --out";
    case EFBIG: return "raise the limit on file sizes (ulimit -f) or choose another folder with --out";
    case EACCES:
    case EPERM:
    case EROFS: return "choose a folder you may write to with --out";
    case EMFILE:
    case ENFILE: return "raise the limit on open files (ulimit -n)";
    case ENOENT:
    case ENOTDIR: return "create the folder or choose another one with --out";
    default: return "choose another folder with --out";
    }
}

bn_path bn_path_join(const char *folder, const char *name)
{
    bn_path path;
    const size_t head = strlen(folder);
    snprintf(path.text, sizeof path.text, "%s%s%s", folder, head > 0 && folder[head - 1] != '/' ? "/" : "", name);
    return path;
}

bn_path bn_path_folder(const char *path)
{
    bn_path folder;
    const char *slash = strrchr(path, '/');
    const int bytes = slash ? (int)(slash - path) : 0;
    snprintf(folder.text, sizeof folder.text, "%.*s", bytes > 0 ? bytes : 1, slash ? path : ".");
    return folder;
}

bn_path bn_path_beside(const char *path, const char *name)
{
    const bool below = name[0] != '/' && strchr(path, '/');
    return bn_path_join(below ? bn_path_folder(path).text : "", name);
}

const char *bn_path_last(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool bn_path_ends(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n > m && strcasecmp(path + n - m, end) == 0;
}

/* A name nobody else is likely to hold; O_EXCL decides. Its length does not depend on that of the final name. */
static bn_path temporary_name(const char *folder, const void *seed, unsigned attempt)
{
    struct timespec now = { 0, 0 };
    clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t mix = ((uint64_t)now.tv_nsec << 32) ^ ((uint64_t)(uintptr_t)seed << 8) ^ (uint64_t)now.tv_sec ^
                         attempt;
    char name[64];
    snprintf(name, sizeof name, ".binnacle-%ld-%016llx.tmp", (long)getpid(), (unsigned long long)mix);
    return bn_path_join(folder, name);
}

/* Opens f->temporary for writing and returns its descriptor, or -1 with errno set; f->temporary is "" then. */
static int temporary_open(bn_file *f)
{
    for (unsigned attempt = 0; attempt < NAME_TRIES; attempt++) {
        f->temporary = temporary_name(f->folder.text, f, attempt);
        const int fd = open(f->temporary.text, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST && errno != EINTR)
            break;
    }
    f->temporary.text[0] = '\0';
    return -1;
}

bn_status bn_file_begin(bn_context *ctx, const char *path, bn_file **out)
{
    bn_status st = BN_OK;
    int fd = -1;
    *out = NULL;
    bn_file *f = calloc(1, sizeof *f);
    if (!f)
        return bn_fail(ctx, BN_MEMORY, "cannot write %s: out of memory", path);
    f->ctx = ctx;
    f->path = bn_path_join("", path);
    f->folder = bn_path_folder(path);
    if (path[0] == '\0' || path[strlen(path) - 1] == '/')
        BN_GO(bn_fail(ctx, BN_IO, "cannot write '%s': it names no file; give a file name", path));
    fd = temporary_open(f);
    if (fd >= 0 && (f->stream = fdopen(fd, "w+")) != NULL)
        fd = -1; /* the stream owns it now */
    if (!f->stream) {
        const int error = errno;
        st = bn_fail(ctx, BN_IO, "cannot create a file in %s for %s: %s; %s", f->folder.text, path, strerror(error),
                     advice(error));
        goto out;
    }
    *out = f;
    f = NULL;
out:
    if (fd >= 0)
        close(fd);
    bn_file_abort(&f);
    return st;
}

FILE *bn_file_stream(bn_file *f) { return f->stream; }

void bn_file_abort(bn_file **file)
{
    if (!*file)
        return;
    bn_file *f = *file;
    if (f->stream && fclose(f->stream) != 0)
        bn_log(f->ctx, BN_LOG_DEBUG, "closing the abandoned %s: %s", f->temporary.text, strerror(errno));
    if (f->temporary.text[0] && unlink(f->temporary.text) != 0)
        bn_log(f->ctx, BN_LOG_WARNING, "cannot remove %s: %s; remove it by hand", f->temporary.text, strerror(errno));
    free(f);
    *file = NULL;
}

/* fsync of a descriptor; 0 or the error. EINVAL and ENOTSUP: the file system does not offer it, which is no failure. */
static int sync_descriptor(int fd)
{
    while (fsync(fd) != 0) {
        if (errno == EINVAL || errno == ENOTSUP)
            return 0;
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

static int sync_folder(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? 0 : errno; /* a folder may be writable but not readable: then it cannot be synced */
    int error = sync_descriptor(fd);
    if (close(fd) != 0 && !error)
        error = errno;
    return error;
}

/* Writes and syncs the stream's bytes; 0 or the error. Once only: after a failed fsync Linux drops the bytes and
 * answers the next one with success. */
static int stream_flush(FILE *stream)
{
    const int before = ferror(stream);
    if (fflush(stream) != 0)
        return errno ? errno : EIO;
    if (before) {
        /* An earlier write failed and its errno is gone: one more byte finds the reason again (the file is thrown
         * away). */
        const ssize_t probe = write(fileno(stream), "", 1);
        return probe < 0 ? errno : EIO;
    }
    return sync_descriptor(fileno(stream));
}

bn_status bn_file_commit(bn_file **file) { return bn_file_commit_keeping(file, NULL); }

bn_status bn_file_commit_keeping(bn_file **file, const char *before)
{
    bn_file *f = *file;
    const off_t end = ftello(f->stream);
    int error = stream_flush(f->stream);
    if (fclose(f->stream) != 0 && !error)
        error = errno;
    f->stream = NULL;
    if (!error && before && rename(f->path.text, before) != 0)
        error = errno;
    if (!error && rename(f->temporary.text, f->path.text) != 0)
        error = errno;
    if (!error) {
        f->temporary.text[0] = '\0';
        error = sync_folder(f->folder.text);
    }
    bn_status st = BN_OK;
    if (error)
        st = bn_fail(f->ctx, BN_IO, "cannot write %s (%lld bytes): %s; %s", f->path.text,
                     end < 0 ? 0LL : (long long)end, strerror(error), advice(error));
    bn_file_abort(file);
    return st;
}

bn_status bn_file_write(bn_context *ctx, const char *path, const void *data, size_t bytes)
{
    bn_file *f = NULL;
    BN_TRY(bn_file_begin(ctx, path, &f));
    const size_t written = fwrite(data, 1, bytes, f->stream);
    (void)written; /* a short write sets the stream's error flag, which commit checks */
    return bn_file_commit(&f);
}

/* Reads until the end, growing the buffer, but never past limit + 1 bytes. 0 or the error; EFBIG when there is more. */
static int read_all(int fd, size_t hint, size_t limit, char **data, size_t *bytes)
{
    size_t room = (hint < limit ? hint : limit) +
                  2; /* one byte beyond shows that a file is too long, one ends the text */
    size_t used = 0;
    char *text = malloc(room);
    while (text) {
        const ssize_t got = read(fd, text + used, room - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || (used += (size_t)got) > limit) {
            const int error = got < 0 ? errno : EFBIG;
            free(text);
            return error;
        }
        if (got == 0) {
            text[used] = '\0';
            *data = text;
            *bytes = used;
            return 0;
        }
        if (used + 1 == room) {
            room = room < limit / 2 ? 2 * room : limit + 2;
            char *more = realloc(text, room);
            if (!more)
                free(text);
            text = more;
        }
    }
    return ENOMEM;
}

/* Opened to be read, or -1 with errno set. A pipe that nobody writes to is empty, rather than waited for. */
static int open_to_read(const char *path, struct stat *info)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    if (fstat(fd, info) == 0) {
        if (S_ISREG(info->st_mode) || (S_ISFIFO(info->st_mode) && fcntl(fd, F_SETFL, 0) == 0))
            return fd;
        errno = S_ISDIR(info->st_mode) ? EISDIR : ENODEV;
    }
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static bn_status not_read(bn_context *ctx, const char *path, int error)
{
    return bn_fail(ctx, BN_IO, "cannot read %s: %s", path, error == ENODEV ? "it is no file" : strerror(error));
}

bn_status bn_file_check(bn_context *ctx, const char *path)
{
    struct stat info;
    const int fd = open_to_read(path, &info);
    if (fd < 0)
        return not_read(ctx, path, errno);
    close(fd); /* opened for reading: nothing can be lost here */
    return S_ISREG(info.st_mode) ? BN_OK : not_read(ctx, path, ENODEV);
}

bn_status bn_file_read(bn_context *ctx, const char *path, size_t limit, char **data, size_t *bytes)
{
    *data = NULL;
    *bytes = 0;
    if (limit > SIZE_MAX / 4)
        limit = SIZE_MAX / 4;
    struct stat info;
    const int fd = open_to_read(path, &info);
    int error = fd < 0 ? errno : 0;
    if (!error)
        error = read_all(fd, info.st_size > 0 ? (size_t)info.st_size : 4096, limit, data, bytes);
    if (fd >= 0)
        close(fd); /* opened for reading: nothing can be lost here */
    if (error == ENOMEM)
        return bn_fail(ctx, BN_MEMORY, "cannot read %s: out of memory", path);
    if (error == EFBIG)
        return bn_fail(ctx, BN_IO, "cannot read %s: it is larger than %zu bytes, so it is not what was expected here",
                       path, limit);
    return error ? not_read(ctx, path, error) : BN_OK;
}

/* One mkdir that takes an existing folder for success; 0 or the error. The name of a new one is synced: what is synced
 * in it is lost with it. */
static int folder_make(const char *path)
{
    if (mkdir(path, 0777) == 0)
        return sync_folder(bn_path_folder(path).text);
    const int error = errno;
    struct stat info;
    if (stat(path, &info) != 0)
        return error;
    return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

bn_status bn_directory_create(bn_context *ctx, const char *path)
{
    bn_path part = bn_path_join("", path);
    int error = path[0] ? 0 : ENOENT;
    char *at = part.text;
    while (!error && *at) {
        at += strspn(at, "/");
        at += strcspn(at, "/"); /* the end of the next component */
        const char kept = *at;
        *at = '\0';
        error = folder_make(part.text);
        if (!error)
            *at = kept;
    }
    return error ? bn_fail(ctx, BN_IO, "cannot create the folder %s (at %s): %s; choose another folder with --out",
                           path, part.text, strerror(error))
                 : BN_OK;
}
