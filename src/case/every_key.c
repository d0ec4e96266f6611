/* every_key.c: a commented case with every key, made from a solver's schema. */
#include "case_parts.h"

#include <string.h>

enum {
    COMMENT_COLUMN = 36, /* least */
    VALUE_COLUMNS = 60,  /* longer lines do not move the comments of a table */
    LINE_COLUMNS = 120
};

/* What a key allows and what it is: "integer from 3 to 65536 each: nodes along x and y". */
static void add_meaning(const bn_key *key, bn_string *out)
{
    bn_string range = { 0 };
    bn_key_add_range(key, &range);
    const char *limits = bn_string_text(&range), *choice = NULL;
    size_t bytes = 0;
    if (key->required)
        bn_string_add(out, "required, ");
    switch (key->type) {
    case BN_KEY_INT: bn_string_add(out, "integer%s%s", *limits ? " " : "", limits); break;
    case BN_KEY_REAL:
        bn_string_add(out, "%s", *limits ? limits : key->unit && *key->unit ? key->unit : "number");
        break;
    case BN_KEY_TEXT: bn_string_add(out, "text"); break;
    case BN_KEY_BOOL: bn_string_add(out, "true | false"); break;
    case BN_KEY_CHOICE:
        for (int i = 0; (choice = bn_key_choice(key, i, &bytes)) != NULL; i++)
            bn_string_add(out, "%s%.*s", i ? " | " : "", (int)bytes, choice);
        break;
    }
    bn_string_add(out, "%s", bn_key_length(key) > 1 ? " each" : "");
    if (key->only) {
        bn_string_add(out, ", with ");
        bn_key_add_only(key, out);
    }
    bn_string_add(out, ": %s", key->help);
    if (range.failed)
        out->failed = true;
    bn_string_clear(&range);
}

/* "# words ..." from column `from` on, over as many lines as it takes; `at`: the column where the line ends now. */
static void add_comment(bn_string *out, const char *words, size_t at, size_t from)
{
    bn_string_add(out, "%*s#", (int)(from > at ? from - at : 2), "");
    at = (from > at ? from : at + 2) + 1;
    while (*words) {
        size_t bytes = strcspn(words, " ");
        if (at + 1 + bytes > LINE_COLUMNS) {
            bn_string_add(out, "\n%*s#", (int)from, "");
            at = from + 1;
        }
        bn_string_add(out, " %.*s", (int)bytes, words);
        at += 1 + bytes;
        words += bytes;
        words += *words == ' ';
    }
    bn_string_add(out, "\n");
}

/* One table of the case, `values` to `end`: equals signs and comments aligned. */
static void add_table(bn_string *out, const bn_case *c, const bn_value *values, const bn_value *end)
{
    size_t leaf = 0, column = COMMENT_COLUMN;
    for (const bn_value *v = values; v < end; v++) {
        size_t bytes = strlen(bn_key_leaf(v->key->name));
        leaf = bytes > leaf ? bytes : leaf;
    }
    for (const bn_value *v = values; v < end; v++) {
        bn_string text = { 0 };
        bn_value_add(v, &text);
        size_t need = leaf + 3 + text.bytes + 2 + (values->key->list || !bn_value_counts(c, v) ? 2 : 0);
        column = need > column && need <= VALUE_COLUMNS ? need : column;
        bn_string_clear(&text);
    }
    const char *name = values->key->name;
    const bool list = values->key->list; /* an item as an example, commented out */
    if (list)
        bn_string_add(out, "\n# any number of these:\n# [[%.*s]]\n", (int)bn_key_table(name), name);
    else
        bn_string_add(out, "\n[%.*s]\n", (int)bn_key_table(name), name);
    for (const bn_value *v = values; v < end; v++) {
        bn_string meaning = { 0 };
        add_meaning(v->key, &meaning);
        size_t start = out->bytes;
        bn_string_add(out, "%s%-*s = ", list || !bn_value_counts(c, v) ? "# " : "", (int)leaf,
                      bn_key_leaf(v->key->name));
        bn_value_add(v, out);
        add_comment(out, bn_string_text(&meaning), out->bytes - start, column);
        if (meaning.failed)
            out->failed = true;
        bn_string_clear(&meaning);
    }
}

bn_status bn_case_every_key(bn_context *ctx, const char *solver, const bn_schema_source *source, char **text)
{
    bn_string b = { 0 };
    *text = NULL;
    const bn_key *schema = source->find(solver);
    if (!schema) {
        bn_add_unknown_solver(solver, source, &b);
        bn_status st = bn_fail(ctx, BN_USAGE, "%s", bn_string_text(&b));
        bn_string_clear(&b);
        return st;
    }
    size_t count = 0;
    bn_value *values = bn_values_create(schema, &count);
    for (size_t i = 0; values && i < count; i++) {
        const bn_key *key = values[i].key;
        const char *def = strcmp(key->name, "case.solver") == 0 ? solver : key->def_text;
        if (bn_value_default(&values[i], def) != BN_OK)
            bn_values_destroy(&values, count);
    }
    if (!values)
        return bn_fail(ctx, BN_MEMORY, "no memory for the keys of %s", solver);
    bn_string_add(
        &b,
        "# made by: binnacle new %s --all\n"
        "# A bare number is in SI; a text carries its unit: \"532 nm\".\n"
        "# A key that is left out has the value that stands here, unless it is required. Keys behind a # belong to\n"
        "# what is not chosen here.\n",
        solver);
    const bn_case c = { .values = values, .count = count };
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && bn_key_same_table(values[from].key->name, values[to].key->name))
            to++;
        add_table(&b, &c, &values[from], &values[to]);
    }
    bn_values_destroy(&values, count);
    *text = bn_string_take(&b);
    return *text ? BN_OK : bn_fail(ctx, BN_MEMORY, "no memory for the keys of %s", solver);
}
