/* field_file.c: which reader takes a file of fields; lists of files over time (.pvd). */
#include "io/field_file.h"

#include "io/file.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES = 1 << 26 };

bool bn_field_file_is(const char *path)
{
    return bn_vtk_is_image(path) || bn_path_ends(path, ".h5") || bn_path_ends(path, ".nc");
}

bn_status bn_field_file_times(bn_context *ctx, const char *path, size_t *count)
{
    *count = 1;
    return bn_path_ends(path, ".nc") ? bn_ugrid_times_of(ctx, path, count) : BN_OK;
}

bn_status bn_field_file_read(bn_context *ctx, const char *path, const char *field, size_t which, bn_vtk_image *out)
{
    if (bn_path_ends(path, ".nc"))
        return bn_ugrid_read(ctx, path, which, out);
    return bn_path_ends(path, ".h5") ? bn_hdf5_fields(ctx, path, out) : bn_vtk_read(ctx, path, field, out);
}

typedef struct list {
    const char *path;
    size_t count;
    char **files;
    bool failed;
} list;

static void XMLCALL start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    list *l = user;
    for (; strcmp(name, "DataSet") == 0 && *attributes; attributes += 2) {
        if (strcmp(attributes[0], "file") != 0)
            continue;
        char **more = realloc(l->files, (l->count + 1) * sizeof *more);
        char *path = strdup(bn_path_beside(l->path, attributes[1]).text);
        l->files = more ? more : l->files;
        l->failed = l->failed || !more || !path;
        if (!more || !path) {
            free(path);
            return;
        }
        l->files[l->count++] = path;
    }
}

bn_status bn_vtk_collection_read(bn_context *ctx, const char *path, char ***files, size_t *count)
{
    list l = { .path = path };
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
