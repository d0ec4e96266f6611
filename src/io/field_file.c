/* field_file.c: which reader takes a file of fields; lists of files over time (.pvd). */
#include "io/field_file.h"

#include "io/file.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LIST_BYTES = 1 << 26 };

static bool ends(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n > m && strcasecmp(path + n - m, end) == 0;
}

bool bn_field_file_is(const char *path) { return bn_vtk_is_image(path) || ends(path, ".h5") || ends(path, ".nc"); }

bn_status bn_field_file_times(bn_context *ctx, const char *path, size_t *count)
{
    *count = 1;
    return ends(path, ".nc") ? bn_ugrid_times_of(ctx, path, count) : BN_OK;
}

bn_status bn_field_file_read(bn_context *ctx, const char *path, const char *field, size_t which, bn_vtk_image *out)
{
    if (ends(path, ".nc"))
        return bn_ugrid_read(ctx, path, which, out);
    return ends(path, ".h5") ? bn_hdf5_fields(ctx, path, out) : bn_vtk_read(ctx, path, field, out);
}

typedef struct list {
    const char *folder; /* with its slash */
    size_t folder_bytes, count;
    char **files;
    bool failed;
} list;

static void XMLCALL start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    list *l = user;
    for (; strcmp(name, "DataSet") == 0 && *attributes; attributes += 2) {
        if (strcmp(attributes[0], "file") != 0)
            continue;
        const size_t bytes = strlen(attributes[1]) + 1, before = attributes[1][0] == '/' ? 0 : l->folder_bytes;
        char **more = realloc(l->files, (l->count + 1) * sizeof *more), *path = malloc(before + bytes);
        l->files = more ? more : l->files;
        l->failed = l->failed || !more || !path;
        if (!more || !path) {
            free(path);
            return;
        }
        memcpy(path, l->folder, before);
        memcpy(path + before, attributes[1], bytes);
        l->files[l->count++] = path;
    }
}

bn_status bn_vtk_collection_read(bn_context *ctx, const char *path, char ***files, size_t *count)
{
    const char *slash = strrchr(path, '/');
    list l = { .folder = path, .folder_bytes = slash ? (size_t)(slash + 1 - path) : 0 };
    char *text = NULL;
    size_t bytes = 0;
    *files = NULL;
    *count = 0;
    BN_TRY(bn_file_read(ctx, path, LIST_BYTES, &text, &bytes));
    XML_Parser parser = XML_ParserCreate(NULL);
    bn_status st = parser ? BN_OK : bn_fail(ctx, BN_MEMORY, "cannot read %s: out of memory", path);
    if (st == BN_OK) {
        XML_SetUserData(parser, &l);
        XML_SetStartElementHandler(parser, start);
        if (XML_Parse(parser, text, (int)bytes, 1) != XML_STATUS_OK)
            st = bn_fail(ctx, BN_IO, "cannot read %s: line %lu: %s", path,
                         (unsigned long)XML_GetCurrentLineNumber(parser), XML_ErrorString(XML_GetErrorCode(parser)));
        else if (l.failed)
            st = bn_fail(ctx, BN_MEMORY, "cannot read %s: out of memory", path);
        XML_ParserFree(parser);
    }
    free(text);
    for (size_t i = 0; st != BN_OK && i < l.count; i++)
        free(l.files[i]);
    if (st != BN_OK)
        free(l.files);
    else
        *files = l.files, *count = l.count;
    return st;
}
