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

/* $XDG_DATA_HOME/binnacle/tuning.json, or below ~/.local/share; "" when there is neither. */
static bn_path tuning_path(void)
{
    const char *xdg = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    bool own = xdg && xdg[0] == '/'; /* XDG asks to ignore relative paths */
    if (!own && (!home || home[0] != '/'))
        return (bn_path){ "" };
    return bn_path_join(own ? xdg : home, own ? "binnacle/tuning.json" : ".local/share/binnacle/tuning.json");
}

/* Passes a database on; NULL, and the reason, for what could not be parsed or is something else. */
static json_t *check_database(json_t *root, const json_error_t *error, char why[256])
{
    const char *format = json_string_value(json_object_get(root, "format"));
    if (root && format && strcmp(format, format_name) == 0 &&
        json_integer_value(json_object_get(root, "version")) == VERSION &&
        json_is_array(json_object_get(root, "entries")))
        return root;
    if (root)
        snprintf(why, 256, "it is no tuning database of version %d", (int)VERSION);
    else
        snprintf(why, 256, "line %d: %.200s", error->line, error->text);
    json_decref(root);
    return NULL;
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
    if (!S_ISREG(s.st_mode) || s.st_size > BYTES_MAX || s.st_uid != geteuid() || (s.st_mode & (S_IWGRP | S_IWOTH))) {
        snprintf(why, 256, "%s",
                 !S_ISREG(s.st_mode)     ? "it is no file"
                 : s.st_size > BYTES_MAX ? "it is too large"
                 : s.st_uid != geteuid() ? "it belongs to somebody else"
                                         : "others can write to it (chmod go-w)");
        return NULL;
    }
    return check_database(json_load_file(path, 0, &error), &error, why);
}

/* The two lists of a database: work-groups of kernels, and values of a case's keys. */
typedef enum bn_tuning_list { ENTRIES, CHOICES, LISTS } bn_tuning_list;
static const struct {
    const char *list, *subject; /* of messages: "entry 3 of ..." */
    const char *name, *value;   /* members: of what, and what is best */
} lists[LISTS] = { { "entries", "entry", "kernel", "work_group" }, { "choices", "choice", "key", "value" } };
static const char *const key_texts[] = { "solver", "precision", "device", "driver" };

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
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

static bool is_short_text(const json_t *object, const char *key)
{
    const char *text = text_of(object, key);
    return text && text[0] && strlen(text) < BN_TUNING_TEXT;
}

/* The member of an entry or choice that is missing or makes no sense; NULL: none. */
static const char *find_fault(const json_t *entry, bn_tuning_list l)
{
    size_t shape[3];
    for (size_t i = 0; i < sizeof key_texts / sizeof *key_texts; i++)
        if (!text_of(entry, key_texts[i]))
            return key_texts[i];
    if (l == ENTRIES ? !text_of(entry, lists[l].name) : !is_short_text(entry, lists[l].name))
        return lists[l].name;
    if (!json_is_integer(json_object_get(entry, "size_class")))
        return "size_class";
    return (l == ENTRIES ? read_shape(entry, shape) : is_short_text(entry, lists[l].value)) ? NULL : lists[l].value;
}

/* Whether an entry without a fault holds for the key; with `any_driver` on other drivers of the device too. */
static bool holds(const json_t *entry, const bn_tuning_key *key, bool any_driver)
{
    const char *const wanted[] = { key->solver, key->precision, key->device->name, key->device->driver };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted - any_driver; i++)
        if (strcmp(text_of(entry, key_texts[i]), wanted[i]) != 0)
            return false;
    return json_integer_value(json_object_get(entry, "size_class")) == key->size_class;
}

/* Takes a shape, in the place of an earlier one of the same kernel; `out` has room. False: no memory. */
static bool take_shape(const json_t *entry, const size_t shape[3], bn_tuning *out)
{
    const char *kernel = text_of(entry, "kernel");
    size_t at = 0;
    while (at < out->count && strcmp(out->groups[at].kernel, kernel) != 0)
        at++;
    if (at == out->count) {
        if (!(out->groups[at].kernel = strdup(kernel)))
            return false;
        out->count++;
    }
    memcpy(out->groups[at].shape, shape, sizeof out->groups[at].shape);
    return true;
}

static void take_choice(const json_t *entry, bn_tuning *out)
{
    const char *key = text_of(entry, "key");
    size_t at = 0;
    while (at < out->choice_count && strcmp(out->choices[at].key, key) != 0)
        at++;
    if (at == BN_TUNING_CHOICES)
        return;
    bn_tuning_choice *c = &out->choices[at];
    snprintf(c->key, sizeof c->key, "%s", key);
    snprintf(c->value, sizeof c->value, "%s", text_of(entry, "value"));
    out->choice_count += at == out->choice_count;
}

/* Takes what holds for the key out of one document, which `from` names in warnings. Whether there was any. */
static bool take_document(bn_context *ctx, const bn_tuning_key *key, const json_t *root, const char *from, bool shipped,
                          bn_tuning *out)
{
    bool any = false;
    size_t i;
    json_t *entry;
    for (bn_tuning_list l = ENTRIES; l < LISTS; l++)
        json_array_foreach(json_object_get(root, lists[l].list), i, entry)
        {
            const char *fault = find_fault(entry, l);
            size_t shape[3];
            if (fault) {
                bn_log(ctx, BN_LOG_WARNING, "%s %zu of %s is ignored: its %s is missing or makes no sense",
                       lists[l].subject, i + 1, from, fault);
            } else if (holds(entry, key, shipped) && l == CHOICES) {
                take_choice(entry, out);
                any = true;
            } else if (holds(entry, key, shipped) && read_shape(entry, shape)) {
                if (shape[0] * shape[1] * shape[2] <= key->device->max_work_group)
                    any = take_shape(entry, shape, out) || any;
                else
                    bn_log(ctx, BN_LOG_WARNING,
                           "entry %zu of %s is ignored: %zu x %zu x %zu work-items are more than %s takes", i + 1, from,
                           shape[0], shape[1], shape[2], key->device->name);
            }
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
        if ((roots[count] = check_database(json_loads(f->text, 0, &error), &error, why)) != NULL)
            count++;
        else
            bn_log(ctx, BN_LOG_WARNING, "%s is ignored: %s", f->name, why);
    }
    return count;
}

void bn_tuning_load(bn_context *ctx, const bn_tuning_key *key, bn_tuning *out)
{
    char why[256] = "";
    const bn_path path = tuning_path();
    json_t *roots[SHIPPED_MOST + 1];
    const size_t shipped = open_shipped(ctx, roots);
    size_t room = 1;
    *out = (bn_tuning){ 0 };
    roots[shipped] = path.text[0] ? read_database(path.text, why) : NULL;
    if (why[0])
        bn_log(ctx, BN_LOG_WARNING, "the tuning database %s is ignored: %s", path.text, why);
    for (size_t i = 0; i <= shipped; i++)
        room += json_array_size(json_object_get(roots[i], "entries"));
    if (!(out->groups = calloc(room, sizeof *out->groups)))
        bn_log(ctx, BN_LOG_WARNING, "no memory for the tuning database: it is ignored");
    for (size_t i = 0; i <= shipped; i++) { /* the user's own last: it replaces what ships */
        const bool own = i == shipped;
        if (out->groups && take_document(ctx, key, roots[i], own ? path.text : "data/tuning", !own, out) && own)
            out->own = true;
        json_decref(roots[i]);
    }
}

/* An entry of a list, with when it was found by which version. */
static json_t *make_entry(const bn_tuning_key *key, const bn_tuning_entry *e)
{
    const bn_tuning_list l = e->value ? CHOICES : ENTRIES;
    char date[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%d", &utc);
    json_t *value = e->value ? json_string(e->value)
                             : json_pack("[I,I,I]", (json_int_t)e->shape[0], (json_int_t)e->shape[1],
                                         (json_int_t)e->shape[2]);
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:s, s:s, s:s, s:o}", "solver", key->solver, "precision",
                     key->precision, "device", key->device->name, "driver", key->device->driver, "size_class",
                     key->size_class, "seconds", e->seconds, "default_seconds", e->default_seconds, "binnacle",
                     bn_version(), "date", date, lists[l].name, e->name, lists[l].value, value);
}

/* A database that nobody can use is not lost: an error of the user's may be mended. */
static void put_aside(bn_context *ctx, const char *path, const char *why)
{
    char aside[sizeof(bn_path) + 4];
    snprintf(aside, sizeof aside, "%s.bad", path);
    if (rename(path, aside) == 0)
        bn_log(ctx, BN_LOG_WARNING, "the tuning database %s can't be used (%s); it is kept as %s", path, why, aside);
}

/* Appends what the old list has and the new one does not replace: entries of the key with the same kernel, and all
 * choices of the key. */
static int keep_old(const json_t *old, const bn_tuning_key *key, bn_tuning_list l, json_t *list)
{
    const size_t new_count = json_array_size(list);
    int wrong = 0;
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(old, lists[l].list), i, entry)
    {
        bool replaced = find_fault(entry, l) != NULL || (l == CHOICES && holds(entry, key, false));
        for (size_t n = 0; n < new_count && !replaced; n++)
            replaced = holds(entry, key, false) &&
                       strcmp(text_of(entry, lists[l].name), text_of(json_array_get(list, n), lists[l].name)) == 0;
        if (!replaced)
            wrong |= json_array_append(list, entry);
    }
    return wrong;
}

bn_status bn_tuning_store(bn_context *ctx, const bn_tuning_key *key, const bn_tuning_entry *entries, size_t count)
{
    char why[256], *text = NULL;
    const bn_path place = tuning_path();
    const char *path = place.text;
    bn_status st = BN_OK;
    bn_file *file = NULL;
    if (!path[0])
        return bn_fail(ctx, BN_IO, "no place for the tuning database: neither XDG_DATA_HOME nor HOME is set");
    json_t *old = read_database(path, why), *all[LISTS] = { json_array(), json_array() };
    int wrong = 0;
    if (why[0])
        put_aside(ctx, path, why);
    for (size_t n = 0; n < count; n++)
        wrong |= json_array_append_new(all[entries[n].value ? CHOICES : ENTRIES], make_entry(key, &entries[n]));
    wrong |= keep_old(old, key, ENTRIES, all[ENTRIES]) | keep_old(old, key, CHOICES, all[CHOICES]);
    json_t *root = json_pack("{s:s, s:i, s:O, s:O}", "format", format_name, "version", (int)VERSION, "entries",
                             all[ENTRIES], "choices", all[CHOICES]);
    if (wrong || !root || !(text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(6))))
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for the tuning database"));
    BN_GO(bn_directory_create(ctx, bn_path_folder(path).text));
    BN_GO(bn_file_begin(ctx, path, &file));
    if (fchmod(fileno(bn_file_stream(file)), 0644) != 0) /* whatever the umask: what others can write is not read */
        bn_log(ctx, BN_LOG_WARNING, "cannot set the permissions of %s: %s", path, strerror(errno));
    fputs(text, bn_file_stream(file)); /* a failure sets the stream's error flag, which commit checks */
    BN_GO(bn_file_commit(&file));
out:
    json_decref(old);
    json_decref(all[ENTRIES]);
    json_decref(all[CHOICES]);
    json_decref(root);
    free(text);
    return st;
}
