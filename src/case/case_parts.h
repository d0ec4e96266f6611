/* case_parts.h: the members of a case, for the files of this folder only. */
#ifndef BN_CASE_PARTS_H
#define BN_CASE_PARTS_H

#include "string_buffer.h"
#include "case_diagnostics.h"
#include "schema.h"
#include "toml_shim.h"
#include "units.h"

enum { BN_TEXT_MAX = 1024 }; /* bytes of a text in a case */

/* A key and its value in the case. */
typedef struct bn_value {
    const bn_key *key;
    size_t item;         /* of a list, from 1; 0: none, or the pattern of a list's items */
    bool given;          /* in the file or by an override, right or wrong */
    size_t override;     /* 0: the file or nothing; else the number of the override that gives it, from 1 */
    bn_toml_place place; /* of the value in the file or override; line 0: nowhere */
    union {
        long long integer[BN_ARRAY_MAX];
        double real[BN_ARRAY_MAX];
        bool boolean;
        int choice;
    } is;
    char *text;       /* of a text */
    bool preferred;   /* bn_case_prefer has put another value in the place of `before` */
    long long before; /* choice or whole number */
} bn_value;

struct bn_case {
    bn_context *ctx;
    bn_value *values; /* every key: [case], the solver's tables, [output], [stop], table by table */
    size_t count;
    const bn_key *schema; /* of the solver, with the keys that are gone; NULL: the solver is not known */
    bn_value *items;      /* the values of lists, item by item; `values` has one pattern for each of their keys */
    size_t item_count;
    char *path, *text; /* the file, and what stands in it */
    size_t bytes;
    char **overrides;
    size_t override_count;
    bn_case_numbers *numbers; /* a list */
    struct bn_reports {       /* a pointer, so that a constant case can be rejected */
        bn_diagnostics list;
        char *text;
    } * reports;
};

/* schema.c: the schema as a list and in words. */

/* One value without default per key of the common schema and `schema` (may be NULL), in the order of bn_case.values.
 * NULL: no memory. */
bn_value *bn_values_create(const bn_key *schema, size_t *count);
void bn_values_destroy(bn_value **values, size_t count);

size_t bn_key_length(const bn_key *);      /* elements; 1 for a single value */
size_t bn_key_table(const char *name);     /* bytes of the table's name at the head of a key's */
const char *bn_key_leaf(const char *name); /* the name without its table */
bool bn_key_same_table(const char *, const char *);
bool bn_key_within(const char *name, const char *table); /* "" : the root, which holds all */

/* Words for the range, as they follow "must be": "> 0 m", "from 3 to 65536"; nothing when any value will do. */
void bn_key_add_range(const bn_key *, bn_string *);

/* The choice number `index`, not ended by a 0; NULL after the last. */
const char *bn_key_choice(const bn_key *, int index, size_t *bytes);
/* The index of a choice, or -1. */
int bn_choice_find(const bn_key *, const char *text);

/* "unknown solver `x`; did you mean `y`? Solvers: a, b" */
void bn_add_unknown_solver(const char *solver, const bn_schema_source *, bn_string *);

/* values.c: checks a node against a key. */

/* What is being read: the file (`override` 0) or an override. `status` is set by failures that are not the case's. */
typedef struct bn_reader {
    bn_case *c;
    size_t override;
    bn_units *units; /* loaded by the first value with a unit */
    bn_status status;
} bn_reader;

/* Reads a value into `v`, or reports what is wrong with it. */
void bn_value_read(bn_reader *, bn_value *v, const bn_toml *node);

/* Gives the value of a key that the case does not give. BN_MEMORY without a message. */
bn_status bn_value_default(bn_value *, const char *def_text);

/* The value as TOML in SI: 65, [1.0, 2.0], "wall". */
void bn_value_add(const bn_value *, bn_string *);

/* belongs.c: keys that belong to some choices of another key. */

/* Whether the key counts, as the case has chosen. */
bool bn_value_counts(const bn_case *, const bn_value *);

/* `kind = "file" or "series"`: what the key belongs to; nothing when it always counts. */
void bn_key_add_only(const bn_key *, bn_string *);

/* Reports keys that are given and do not count. Those of the file that an override has chosen against are as if they
 * were not given. */
BN_CHECKED bn_status bn_case_check_choices(bn_case *);

/* case_diagnostics.c */

/* The key as a message shows it, "[grid] nodes", with " = value" when that stands in the file. */
void bn_value_add_subject(const bn_case *, const bn_value *, bn_toml_place shown, size_t element, bn_string *);
bn_source bn_case_source(const bn_case *);

#endif
