/* file.h: files that appear whole or not at all: written under a temporary name in the same folder, flushed to the
 * disk, renamed. */
#ifndef BN_FILE_H
#define BN_FILE_H

#include "binnacle/context.h"
#include <limits.h>
#include <stdio.h>

typedef struct bn_file bn_file;

/* Opens a temporary file beside `path`. BN_IO names the path and the reason. */
BN_CHECKED bn_status bn_file_begin(bn_context *, const char *path, bn_file **out);
FILE *bn_file_stream(bn_file *);
/* Flushes, syncs, renames onto `path`; on any failure removes the temporary file and reports path, bytes and reason.
 * NULLs *file. */
BN_CHECKED bn_status bn_file_commit(bn_file **file);
/* The same; when the bytes are on the disk, and not before, the file that has the name is renamed to `before` (NULL:
 * it is replaced). */
BN_CHECKED bn_status bn_file_commit_keeping(bn_file **file, const char *before);
/* Removes the temporary file. Accepts NULL. */
void bn_file_abort(bn_file **file);

/* A whole file from memory. */
BN_CHECKED bn_status bn_file_write(bn_context *, const char *path, const void *data, size_t bytes);
/* BN_IO unless it is a file, no device and no pipe, that can be opened: for libraries that would wait for it. */
BN_CHECKED bn_status bn_file_check(bn_context *, const char *path);
/* A whole file or pipe into memory, NUL-terminated, at most `limit` bytes; free() it. */
BN_CHECKED bn_status bn_file_read(bn_context *, const char *path, size_t limit, char **data, size_t *bytes);
/* Makes a folder and its parents. */
BN_CHECKED bn_status bn_directory_create(bn_context *, const char *path);

/* A path. A longer one than the system takes is cut where it still is too long: the system then says so. */
typedef struct bn_path {
    char text[PATH_MAX + 1];
} bn_path;
/* "folder/name" */
bn_path bn_path_join(const char *folder, const char *name);
/* A file that another one names: beside that, unless the name begins with a slash. */
bn_path bn_path_beside(const char *path, const char *name);
/* The folder of a path: "a/b/c" gives "a/b", "c" gives ".", "/c" gives "/". And the name without it. */
bn_path bn_path_folder(const char *path);
const char *bn_path_last(const char *path);
/* Whether a name, which is longer than that, ends so. */
bool bn_path_ends(const char *path, const char *end);

#endif
