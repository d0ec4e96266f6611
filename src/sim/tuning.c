/* tuning.c: the tuning database as one JSON file. Whoever may have written it, only entries that make sense are used;
 * results do not depend on them, only speed does. */
#include "sim/tuning.h"

#include "api/embedded_files.h"
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

enum { VERSION = 1, BYTES_MAX = 1 << 24, SIDE_MAX = 65536, SHIPPED_MOST = 16 };
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

static bool is_database(const json_t *root, char why[256])
{
    const char *format = json_string_value(json_object_get(root, "format"));
    if (format && strcmp(format, format_name) == 0 && json_integer_value(json_object_get(root, "version")) == VERSION &&
        json_is_array(json_object_get(root, "entries")))
        return true;
    snprintf(why, 256, "it is no tuning database of version %d", (int)VERSION);
    return false;
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
    if (root && !is_database(root, why)) {
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

/* The same of a choice. */
static const char *choice_fault(const json_t *entry)
{
    static const char *const own_keys[] = { "key", "value" };
    for (size_t i = 0; i + 1 < sizeof text_keys / sizeof *text_keys; i++)
        if (!json_is_string(json_object_get(entry, text_keys[i])))
            return text_keys[i];
    for (size_t i = 0; i < 2; i++) {
        const char *text = json_string_value(json_object_get(entry, own_keys[i]));
        if (!text || !text[0] || strlen(text) >= BN_TUNING_TEXT)
            return own_keys[i];
    }
    return json_is_integer(json_object_get(entry, "size_class")) ? NULL : "size_class";
}

/* Whether a whole entry holds for the key; with `any_driver` on other drivers of the device too. */
static bool holds(const json_t *entry, const bn_tuning_key *key, bool any_driver)
{
    const char *const wanted[] = { key->solver, key->precision, key->device->name, key->device->driver };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted - any_driver; i++)
        if (strcmp(json_string_value(json_object_get(entry, text_keys[i])), wanted[i]) != 0)
            return false;
    return json_integer_value(json_object_get(entry, "size_class")) == key->size_class;
}

/* What was found so far: shapes lent by the documents they stand in, choices copied. */
typedef struct harvest {
    bn_kernel_group *groups;
    size_t room, count;
    bn_tuning *out;
} harvest;

/* Takes the entries of one document that hold; `from` names it in warnings. The last one of a kernel counts. */
static bool take_shapes(bn_context *ctx, const bn_tuning_key *key, const json_t *root, const char *from, bool shipped,
                        harvest *h)
{
    const json_t *entries = json_object_get(root, "entries");
    bool any = false;
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        const char *wrong = fault(entry);
        bn_kernel_group g = { .kernel = wrong ? NULL : json_string_value(json_object_get(entry, "kernel")) };
        if (wrong) {
            bn_log(ctx, BN_LOG_WARNING, "entry %zu of %s is ignored: its %s is missing or makes no sense", i + 1, from,
                   wrong);
            continue;
        }
        if (!holds(entry, key, shipped) || !read_shape(entry, g.shape))
            continue;
        if (g.shape[0] * g.shape[1] * g.shape[2] > key->device->max_work_group) {
            bn_log(ctx, BN_LOG_WARNING, "entry %zu of %s is ignored: %zu x %zu x %zu work-items are more than %s takes",
                   i + 1, from, g.shape[0], g.shape[1], g.shape[2], key->device->name);
            continue;
        }
        size_t at = 0;
        while (at < h->count && strcmp(h->groups[at].kernel, g.kernel) != 0)
            at++;
        if (at == h->room)
            continue;
        h->groups[at] = g;
        h->count += at == h->count;
        any = true;
    }
    return any;
}

static bool take_choices(bn_context *ctx, const bn_tuning_key *key, const json_t *root, const char *from, bool shipped,
                         bn_tuning *out)
{
    const json_t *list = json_object_get(root, "choices");
    bool any = false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *wrong = choice_fault(entry);
        if (wrong) {
            bn_log(ctx, BN_LOG_WARNING, "choice %zu of %s is ignored: its %s is missing or makes no sense", i + 1, from,
                   wrong);
            continue;
        }
        if (!holds(entry, key, shipped))
            continue;
        bn_tuning_choice c = { .seconds = (double)NAN, .default_seconds = (double)NAN };
        snprintf(c.key, sizeof c.key, "%s", json_string_value(json_object_get(entry, "key")));
        snprintf(c.value, sizeof c.value, "%s", json_string_value(json_object_get(entry, "value")));
        size_t at = 0;
        while (at < out->choice_count && strcmp(out->choices[at].key, c.key) != 0)
            at++;
        if (at == BN_TUNING_CHOICES)
            continue;
        out->choices[at] = c;
        out->choice_count += at == out->choice_count;
        any = true;
    }
    return any;
}

/* The databases that travel inside the program. */
static size_t open_shipped(bn_context *ctx, json_t *roots[SHIPPED_MOST])
{
    static const char folder[] = "data/tuning/";
    size_t count = 0;
    for (const bn_embedded *f = bn_embedded_files; f->name && count < SHIPPED_MOST; f++) {
        char why[256];
        if (strncmp(f->name, folder, sizeof folder - 1) != 0)
            continue;
        json_error_t error;
        json_t *root = json_loads(f->text, 0, &error);
        if (root && !is_database(root, why)) {
            json_decref(root);
            root = NULL;
        } else if (!root) {
            snprintf(why, sizeof why, "line %d: %.200s", error.line, error.text);
        }
        if (root)
            roots[count++] = root;
        else
            bn_log(ctx, BN_LOG_WARNING, "%s is ignored: %s", f->name, why);
    }
    return count;
}

void bn_tuning_load(bn_context *ctx, const bn_tuning_key *key, bn_tuning *out)
{
    char why[256];
    char *path = bn_tuning_path();
    json_t *roots[SHIPPED_MOST + 1];
    const size_t shipped = open_shipped(ctx, roots);
    json_t *own = path ? read_database(path, why) : NULL;
    harvest h = { .out = out };
    *out = (bn_tuning){ 0 };
    if (path && why[0])
        bn_log(ctx, BN_LOG_WARNING, "the tuning database %s is ignored: %s", path, why);
    roots[shipped] = own;
    for (size_t i = 0; i <= shipped; i++)
        h.room += json_array_size(json_object_get(roots[i], "entries"));
    h.groups = calloc(h.room ? h.room : 1, sizeof *h.groups);
    bool mine = false;
    bn_tuning choices = { 0 };
    for (size_t i = 0; h.groups && i <= shipped; i++) {
        const bool comes_along = i < shipped;
        const bool shapes = take_shapes(ctx, key, roots[i], comes_along ? "data/tuning" : path, comes_along, &h);
        const bool values = take_choices(ctx, key, roots[i], comes_along ? "data/tuning" : path, comes_along, &choices);
        mine = mine || (!comes_along && (shapes || values));
    }
    if (h.count > 0 && bn_tuning_copy(ctx, h.groups, h.count, out) != BN_OK) {
        bn_log(ctx, BN_LOG_WARNING, "no memory for the tuning database: it is ignored");
        bn_error_clear(ctx);
    }
    memcpy(out->choices, choices.choices, sizeof out->choices);
    out->choice_count = choices.choice_count;
    out->own = mine;
    free(h.groups);
    for (size_t i = 0; i <= shipped; i++)
        json_decref(roots[i]);
    free(path);
}

/* What entries and choices have in common, and when it was found by which version. */
static json_t *head_of(const bn_tuning_key *key, double seconds, double default_seconds)
{
    char date[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%d", &utc);
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:s, s:s}", "solver", key->solver, "precision",
                     key->precision, "device", key->device->name, "driver", key->device->driver, "size_class",
                     key->size_class, "seconds", seconds, "default_seconds", default_seconds, "binnacle", bn_version(),
                     "date", date);
}

static json_t *entry_of(const bn_tuning_key *key, const bn_tuning_entry *e)
{
    const size_t *g = e->group.shape;
    json_t *entry = head_of(key, e->seconds, e->default_seconds);
    if (json_object_set_new(entry, "kernel", json_string(e->group.kernel)) |
        json_object_set_new(entry, "work_group",
                            json_pack("[I,I,I]", (json_int_t)g[0], (json_int_t)g[1], (json_int_t)g[2]))) {
        json_decref(entry);
        return NULL;
    }
    return entry;
}

static json_t *choice_of(const bn_tuning_key *key, const bn_tuning_choice *c)
{
    json_t *entry = head_of(key, c->seconds, c->default_seconds);
    if (json_object_set_new(entry, "key", json_string(c->key)) |
        json_object_set_new(entry, "value", json_string(c->value))) {
        json_decref(entry);
        return NULL;
    }
    return entry;
}

/* A database that nobody can use is not lost: an error of the user's may be mended. */
static void put_aside(bn_context *ctx, const char *path, const char *why)
{
    char aside[4096];
    if (snprintf(aside, sizeof aside, "%s.bad", path) < (int)sizeof aside && rename(path, aside) == 0)
        bn_log(ctx, BN_LOG_WARNING, "the tuning database %s can't be used (%s); it is kept as %s", path, why, aside);
}

bn_status bn_tuning_store(bn_context *ctx, const bn_tuning_key *key, const bn_tuning_entry *new_entries, size_t count,
                          const bn_tuning_choice *new_choices, size_t choice_count)
{
    char why[256], *text = NULL, *path = bn_tuning_path();
    bn_status st = BN_OK;
    if (!path)
        return bn_fail(ctx, BN_IO, "no place for the tuning database: neither XDG_DATA_HOME nor HOME is set");
    json_t *old = read_database(path, why), *list = json_array(), *choices = json_array();
    json_t *root = json_pack("{s:s, s:i, s:O, s:O}", "format", format_name, "version", (int)VERSION, "entries", list,
                             "choices", choices);
    int wrong = !root;
    if (why[0])
        put_aside(ctx, path, why);
    for (size_t i = 0; i < json_array_size(json_object_get(old, "entries")); i++) {
        json_t *entry = json_array_get(json_object_get(old, "entries"), i);
        bool replaced = fault(entry) != NULL;
        for (size_t n = 0; n < count && !replaced; n++)
            replaced = holds(entry, key, false) &&
                       strcmp(json_string_value(json_object_get(entry, "kernel")), new_entries[n].group.kernel) == 0;
        if (!replaced)
            wrong |= json_array_append(list, entry);
    }
    for (size_t n = 0; n < count; n++)
        wrong |= json_array_append_new(list, entry_of(key, &new_entries[n]));
    for (size_t i = 0; i < json_array_size(json_object_get(old, "choices")); i++) {
        json_t *entry = json_array_get(json_object_get(old, "choices"), i);
        if (!choice_fault(entry) && !holds(entry, key, false))
            wrong |= json_array_append(choices, entry);
    }
    for (size_t n = 0; n < choice_count; n++)
        wrong |= json_array_append_new(choices, choice_of(key, &new_choices[n]));
    if (wrong || !(text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(6)))) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for the tuning database");
        goto out;
    }
    char folder[4096];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    BN_GO(bn_directory_create(ctx, folder));
    BN_GO(bn_file_write(ctx, path, text, strlen(text)));
out:
    json_decref(old);
    json_decref(list);
    json_decref(choices);
    json_decref(root);
    free(text);
    free(path);
    return st;
}
