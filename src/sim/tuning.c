/* tuning.c: the tuning database as one JSON file. Whoever may have written it, only entries that make sense are used;
 * results do not depend on them, only speed does. */
#include "sim/tuning.h"

#include "io/file.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { VERSION = 1, BYTES_MAX = 1 << 24, SIDE_MAX = 65536 };
static const char format_name[] = "binnacle-tuning";

int bn_tuning_size_class(double points) { return points >= 1 ? (int)floor(log2(points)) : 0; }

bn_status bn_tuning_copy(bn_context *ctx, const bn_kernel_group *groups, size_t count, bn_tuning *out)
{
    *out = (bn_tuning){ .groups = calloc(count ? count : 1, sizeof *out->groups) };
    for (size_t i = 0; out->groups && i < count; i++) {
        bn_kernel_group *g = &out->groups[i];
        *g = groups[i];
        if (!(g->kernel = strdup(groups[i].kernel)))
            break;
        out->count++;
    }
    if (out->count == count && out->groups)
        return BN_OK;
    bn_tuning_release(out);
    return bn_fail(ctx, BN_MEMORY, "no memory for the work-groups of %zu kernels", count);
}

void bn_tuning_release(bn_tuning *t)
{
    for (size_t i = 0; i < t->count; i++)
        free((char *)t->groups[i].kernel);
    free(t->groups);
    *t = (bn_tuning){ 0 };
}

char *bn_tuning_path(void)
{
    const char *xdg = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    bool own = xdg && xdg[0] == '/'; /* XDG asks to ignore relative paths */
    if (!own && (!home || home[0] != '/'))
        return NULL;
    return bn_path_join(own ? xdg : home, own ? "binnacle/tuning.json" : ".local/share/binnacle/tuning.json");
}

/* Reads the database; NULL when there is none, or none that can be used: then *why says so. */
static json_t *read_database(const char *path, char why[256])
{
    struct stat s;
    json_error_t error;
    why[0] = '\0';
    if (stat(path, &s) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            snprintf(why, 256, "%s", strerror(errno));
        return NULL;
    }
    if (!S_ISREG(s.st_mode) || s.st_size > BYTES_MAX || s.st_uid != geteuid() || (s.st_mode & S_IWOTH)) {
        snprintf(why, 256, "%s",
                 !S_ISREG(s.st_mode)     ? "it is no file"
                 : s.st_size > BYTES_MAX ? "it is too large"
                 : s.st_uid != geteuid() ? "it belongs to somebody else"
                                         : "others can write to it");
        return NULL;
    }
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        snprintf(why, 256, "line %d: %.200s", error.line, error.text);
    const char *format = json_string_value(json_object_get(root, "format"));
    if (root && (!format || strcmp(format, format_name) != 0 ||
                 json_integer_value(json_object_get(root, "version")) != VERSION ||
                 !json_is_array(json_object_get(root, "entries")))) {
        snprintf(why, 256, "it is no tuning database of version %d", (int)VERSION);
        json_decref(root);
        return NULL;
    }
    return root;
}

/* The shape of an entry; false when it is none. */
static bool read_shape(const json_t *entry, size_t shape[3])
{
    const json_t *list = json_object_get(entry, "work_group");
    json_int_t items = 1;
    if (!json_is_array(list) || json_array_size(list) != 3)
        return false;
    for (size_t k = 0; k < 3; k++) {
        const json_t *side = json_array_get(list, k);
        const json_int_t value = json_integer_value(side);
        if (!json_is_integer(side) || value < 1 || value > SIDE_MAX || (items *= value) > SIDE_MAX)
            return false;
        shape[k] = (size_t)value;
    }
    return true;
}

static const char *const text_keys[] = { "solver", "precision", "device", "driver", "kernel" };

/* What is wrong with an entry; NULL: nothing. */
static const char *fault(const json_t *entry)
{
    size_t shape[3];
    for (size_t i = 0; i < sizeof text_keys / sizeof *text_keys; i++)
        if (!json_is_string(json_object_get(entry, text_keys[i])))
            return text_keys[i];
    if (!json_is_integer(json_object_get(entry, "size_class")))
        return "size_class";
    return read_shape(entry, shape) ? NULL : "work_group";
}

/* Whether a whole entry holds for the key. */
static bool holds(const json_t *entry, const bn_tuning_key *key)
{
    const char *const wanted[] = { key->solver, key->precision, key->device->name, key->device->driver };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strcmp(json_string_value(json_object_get(entry, text_keys[i])), wanted[i]) != 0)
            return false;
    return json_integer_value(json_object_get(entry, "size_class")) == key->size_class;
}

void bn_tuning_load(bn_context *ctx, const bn_tuning_key *key, bn_tuning *out)
{
    char why[256];
    char *path = bn_tuning_path();
    json_t *root = path ? read_database(path, why) : NULL;
    const json_t *entries = json_object_get(root, "entries");
    const size_t count = json_array_size(entries);
    *out = (bn_tuning){ 0 };
    if (path && why[0])
        bn_log(ctx, BN_LOG_WARNING, "the tuning database %s is ignored: %s", path, why);
    bn_kernel_group *found = calloc(count ? count : 1, sizeof *found);
    size_t taken = 0;
    for (size_t i = 0; found && i < count; i++) {
        const json_t *entry = json_array_get(entries, i);
        const char *wrong = fault(entry);
        bn_kernel_group g = { .kernel = wrong ? NULL : json_string_value(json_object_get(entry, "kernel")) };
        if (wrong) {
            bn_log(ctx, BN_LOG_WARNING, "entry %zu of %s is ignored: its %s is missing or makes no sense", i + 1, path,
                   wrong);
            continue;
        }
        if (!holds(entry, key) || !read_shape(entry, g.shape))
            continue;
        if (g.shape[0] * g.shape[1] * g.shape[2] > key->device->max_work_group) {
            bn_log(ctx, BN_LOG_WARNING, "entry %zu of %s is ignored: %zu x %zu x %zu work-items are more than %s takes",
                   i + 1, path, g.shape[0], g.shape[1], g.shape[2], key->device->name);
            continue;
        }
        size_t at = 0;
        while (at < taken && strcmp(found[at].kernel, g.kernel) != 0)
            at++;
        found[at] = g; /* the last one counts */
        taken += at == taken;
    }
    if (taken > 0 && bn_tuning_copy(ctx, found, taken, out) != BN_OK) {
        bn_log(ctx, BN_LOG_WARNING, "no memory for the tuning database: it is ignored");
        bn_error_clear(ctx);
    }
    free(found);
    json_decref(root);
    free(path);
}

static json_t *entry_of(const bn_tuning_key *key, const bn_tuning_entry *e)
{
    char date[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%d", &utc);
    const size_t *g = e->group.shape;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:[I,I,I], s:f, s:f, s:s, s:s}", "solver", key->solver,
                     "precision", key->precision, "device", key->device->name, "driver", key->device->driver, "kernel",
                     e->group.kernel, "size_class", key->size_class, "work_group", (json_int_t)g[0], (json_int_t)g[1],
                     (json_int_t)g[2], "seconds", e->seconds, "default_seconds", e->default_seconds, "binnacle",
                     bn_version(), "date", date);
}

/* A database that nobody can use is not lost: an error of the user's may be mended. */
static void put_aside(bn_context *ctx, const char *path, const char *why)
{
    char aside[4096];
    if (snprintf(aside, sizeof aside, "%s.bad", path) < (int)sizeof aside && rename(path, aside) == 0)
        bn_log(ctx, BN_LOG_WARNING, "the tuning database %s can't be used (%s); it is kept as %s", path, why, aside);
}

bn_status bn_tuning_store(bn_context *ctx, const bn_tuning_key *key, const bn_tuning_entry *new_entries, size_t count)
{
    char why[256], *text = NULL, *path = bn_tuning_path();
    bn_status st = BN_OK;
    if (!path)
        return bn_fail(ctx, BN_IO, "no place for the tuning database: neither XDG_DATA_HOME nor HOME is set");
    json_t *old = read_database(path, why), *list = json_array();
    json_t *root = json_pack("{s:s, s:i, s:O}", "format", format_name, "version", (int)VERSION, "entries", list);
    int wrong = !root;
    if (why[0])
        put_aside(ctx, path, why);
    for (size_t i = 0; i < json_array_size(json_object_get(old, "entries")); i++) {
        json_t *entry = json_array_get(json_object_get(old, "entries"), i);
        bool replaced = fault(entry) != NULL;
        for (size_t n = 0; n < count && !replaced; n++)
            replaced = holds(entry, key) &&
                       strcmp(json_string_value(json_object_get(entry, "kernel")), new_entries[n].group.kernel) == 0;
        if (!replaced)
            wrong |= json_array_append(list, entry);
    }
    for (size_t n = 0; n < count; n++)
        wrong |= json_array_append_new(list, entry_of(key, &new_entries[n]));
    if (wrong || !(text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(6)))) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for the tuning database");
        goto out;
    }
    char folder[4096];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    BN_GO(bn_folder_create(ctx, folder));
    BN_GO(bn_file_write(ctx, path, text, strlen(text)));
out:
    json_decref(old);
    json_decref(list);
    json_decref(root);
    free(text);
    free(path);
    return st;
}
