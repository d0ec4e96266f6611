/* read.c: from a file or text to a checked case (bn_case_load in schema.h). */
#include "validate.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_BYTES_MAX = 1 << 20 };

/* UDUNITS-2 keeps what it parses in the process: one case at a time is read. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* A case being read, and what is needed only until it is. */
typedef struct loader {
    bn_reader reader;
    const bn_schema_source *source;
    bn_toml *file, **overrides; /* trees; that of an override that can't be parsed is NULL */
} loader;

static char *copy_bytes(const char *bytes, size_t count)
{
    char *copy = malloc(count + 1);
    if (copy) {
        memcpy(copy, bytes, count);
        copy[count] = '\0';
    }
    return copy;
}

static bn_status too_large(bn_context *ctx, const char *path)
{
    return bn_fail(ctx, BN_CASE, "%s: a case has at most %d bytes; large data belongs into files of its own", path,
                   CASE_BYTES_MAX);
}

/* Reads the whole file, whatever length the system reports; "-" is standard input, called so from then on. */
static bn_status read_file(bn_context *ctx, bn_case *c)
{
    bn_status st = BN_OK;
    const bool standard = strcmp(c->path, "-") == 0;
    FILE *file = standard ? stdin : fopen(c->path, "rb");
    if (standard) {
        free(c->path);
        c->path = copy_bytes("stdin", strlen("stdin"));
    }
    if (!c->path)
        return bn_fail(ctx, BN_MEMORY, "no memory for a case");
    if (!file)
        return bn_fail(ctx, BN_IO, "can't open the case file %s: %s%s", c->path, strerror(errno),
                       errno == ENOENT ? "\n  For a starter case: binnacle new SOLVER > FILE.toml" : "");
    c->text = malloc(CASE_BYTES_MAX + 1);
    if (!c->text)
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for the case file %s", c->path));
    c->bytes = fread(c->text, 1, CASE_BYTES_MAX + 1, file);
    if (ferror(file))
        st = bn_fail(ctx, BN_IO, "can't read the case file %s: %s", c->path, strerror(errno));
    else if (c->bytes > CASE_BYTES_MAX)
        st = too_large(ctx, c->path);
    if (st != BN_OK)
        goto out;
    char *fitted = copy_bytes(c->text, c->bytes);
    free(c->text);
    c->text = fitted;
    if (!fitted)
        st = bn_fail(ctx, BN_MEMORY, "no memory for the case file %s", c->path);
out:
    if (!standard && fclose(file) != 0 && st == BN_OK)
        st = bn_fail(ctx, BN_IO, "can't read the case file %s: %s", c->path, strerror(errno));
    return st;
}

/* Copies all that the caller gave, since messages quote it as long as the case lives. */
static bn_status take_input(bn_context *ctx, bn_case *c, const char *path, const char *text,
                            const char *const *overrides, size_t count)
{
    c->ctx = ctx;
    c->path = copy_bytes(path, strlen(path));
    c->reports = calloc(1, sizeof *c->reports);
    c->overrides = calloc(count + 1, sizeof *c->overrides);
    if (!c->path || !c->reports || !c->overrides)
        return bn_fail(ctx, BN_MEMORY, "no memory for the case %s", path);
    for (c->override_count = 0; c->override_count < count; c->override_count++) {
        const char *from = overrides[c->override_count];
        if (strlen(from) > CASE_BYTES_MAX)
            return too_large(ctx, "--set");
        if (!(c->overrides[c->override_count] = copy_bytes(from, strlen(from))))
            return bn_fail(ctx, BN_MEMORY, "no memory for --set %s", from);
    }
    if (!text)
        return read_file(ctx, c);
    c->bytes = strlen(text);
    if (c->bytes > CASE_BYTES_MAX)
        return too_large(ctx, path);
    c->text = copy_bytes(text, c->bytes);
    return c->text ? BN_OK : bn_fail(ctx, BN_MEMORY, "no memory for the case %s", path);
}

static void report_syntax(bn_reader *r, const bn_toml_error *error)
{
    bn_string b = { 0 };
    bn_string_add(&b, "not valid TOML: ");
    bn_string_add_shown(&b, error->message, strlen(error->message), BN_TOML_MESSAGE_BYTES);
    bn_diagnostics_add(&r->c->reports->list, error->place, r->override, NULL, bn_string_take(&b));
}

static bn_status parse(bn_reader *r, const char *text, size_t bytes, bn_toml **root, bn_toml_error *error, bool *good)
{
    bn_toml_status status = bn_toml_parse(text, bytes, root, error);
    *good = status == BN_TOML_OK;
    return status == BN_TOML_NO_MEMORY ? bn_fail(r->c->ctx, BN_MEMORY, "no memory to parse %s", r->c->path) : BN_OK;
}

/* Bytes of a dotted name such as grid.size at the head of `text`; 0 when there is none. */
static size_t scan_name(const char *text)
{
    static const char *const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t at = 0;
    for (;;) {
        size_t count = strspn(text + at, letters);
        if (count == 0)
            return 0;
        at += count;
        if (text[at] != '.')
            return at;
        at++;
    }
}

/* "key=value" is TOML, or the value is a bare text: `case.precision=double`, `time.dt=2 ms`. */
static bn_status parse_override(bn_reader *r, bn_toml **root)
{
    bn_toml_error error = { 0 };
    const char *given = r->c->overrides[r->override - 1], *text = given + strspn(given, " \t");
    size_t name = scan_name(text);
    const char *equals = text + name + strspn(text + name, " \t");
    if (name == 0 || *equals != '=') {
        bn_string b = { 0 };
        bn_string_add(&b, "expected KEY=VALUE with the full name of a key, such as stop.steps=100");
        bn_diagnostics_add(&r->c->reports->list, (bn_toml_place){ 0 }, r->override, NULL, bn_string_take(&b));
        return BN_OK;
    }
    const char *value = equals + 1 + strspn(equals + 1, " \t");
    bool good = false;
    BN_TRY(parse(r, text, strlen(text), root, &error, &good));
    if (!good && (!*value || !strchr("[{\"'", *value))) {
        bn_string b = { 0 };
        bn_string_add(&b, "%.*s = ", (int)name, text);
        bn_string_add_quoted(&b, value);
        bn_status st = b.failed ? bn_fail(r->c->ctx, BN_MEMORY, "no memory for --set %s", given)
                                : parse(r, bn_string_text(&b), b.bytes, root, &error, &good);
        bn_string_clear(&b);
        BN_TRY(st);
    }
    if (!good)
        report_syntax(r, &error);
    return BN_OK;
}

/* Parses overrides and file. */
static bn_status parse_all(loader *l)
{
    bn_reader *r = &l->reader;
    bn_toml_error error = { 0 };
    bool good = false;
    l->overrides = calloc(r->c->override_count + 1, sizeof *l->overrides);
    if (!l->overrides)
        return bn_fail(r->c->ctx, BN_MEMORY, "no memory for %zu overrides", r->c->override_count);
    for (size_t i = 0; i < r->c->override_count; i++) {
        r->override = i + 1;
        BN_TRY(parse_override(r, &l->overrides[i]));
    }
    r->override = 0;
    BN_TRY(parse(r, r->c->text, r->c->bytes, &l->file, &error, &good));
    if (!good)
        report_syntax(r, &error);
    return BN_OK;
}

/* The keys of the solver that the case names; NULL, reported unless the key itself is missing or no text, when there is
 * no such. */
static const bn_key *find_schema(loader *l)
{
    static const char name[] = "case.solver";
    bn_reader *r = &l->reader;
    const bn_toml *node = NULL;
    r->override = 0;
    for (size_t i = r->c->override_count; !node && i-- > 0;) {
        node = l->overrides[i] ? bn_toml_find(l->overrides[i], name, strlen(name)) : NULL;
        r->override = node ? i + 1 : 0;
    }
    if (!node && l->file)
        node = bn_toml_find(l->file, name, strlen(name));
    if (!node || node->type != BN_TOML_TEXT)
        return NULL;
    const bn_key *schema = l->source->find(node->text);
    if (!schema) {
        bn_string b = { 0 };
        bn_add_unknown_solver(node->text, l->source, &b);
        bn_diagnostics_add(&r->c->reports->list, node->value, r->override, name, bn_string_take(&b));
    }
    return schema;
}

/* Reads values: the last override of a key counts, then the file, then the default. */
static bn_status read_values(loader *l, const bn_key *schema)
{
    bn_reader *r = &l->reader;
    bn_case *c = r->c;
    c->values = bn_values_create(schema, &c->count);
    c->schema = schema;
    if (!c->values)
        return bn_fail(c->ctx, BN_MEMORY, "no memory for the values of %s", c->path);
    for (size_t i = c->override_count; i-- > 0;) {
        r->override = i + 1;
        if (l->overrides[i])
            bn_validate(r, l->overrides[i], schema != NULL);
    }
    r->override = 0;
    if (l->file) {
        bn_validate(r, l->file, schema != NULL);
        bn_validate_missing(r, l->file);
    }
    for (size_t i = 0; i < c->override_count; i++) {
        r->override = i + 1;
        if (l->overrides[i])
            bn_validate_items(r, l->overrides[i]);
    }
    r->override = 0;
    for (size_t i = 0; i < c->count && r->status == BN_OK; i++)
        if (!c->values[i].given && bn_value_default(&c->values[i], c->values[i].key->def_text) != BN_OK)
            r->status = bn_fail(c->ctx, BN_MEMORY, "no memory for the values of %s", c->path);
    return r->status == BN_OK ? bn_case_check_choices(c) : r->status;
}

/* Fails with all that was found. */
static bn_status verdict(const bn_case *c, const char *solver)
{
    if (c->reports->list.total == 0)
        return BN_OK;
    bn_source source = bn_case_source(c);
    source.solver = solver;
    return bn_diagnostics_fail(c->ctx, &c->reports->list, &source);
}

bn_status bn_case_load(bn_context *ctx, const char *path, const char *text, const char *const *overrides, size_t count,
                       const bn_schema_source *source, bn_case **out)
{
    bn_status st = BN_OK;
    const bn_key *schema = NULL;
    *out = NULL;
    bn_case *c = calloc(1, sizeof *c);
    loader l = { .reader = { .c = c }, .source = source };
    if (!c)
        return bn_fail(ctx, BN_MEMORY, "no memory for the case %s", path);
    pthread_mutex_lock(&turn);
    BN_GO(take_input(ctx, c, path, text, overrides, count));
    BN_GO(parse_all(&l));
    schema = find_schema(&l);
    BN_GO(read_values(&l, schema));
    BN_GO(verdict(c, schema ? bn_case_solver(c) : NULL));
    *out = c;
    c = NULL;
out:
    bn_units_destroy(&l.reader.units);
    pthread_mutex_unlock(&turn);
    for (size_t i = 0; l.overrides && i < count; i++)
        bn_toml_free(&l.overrides[i]);
    free(l.overrides);
    bn_toml_free(&l.file);
    bn_case_destroy(&c);
    return st;
}
