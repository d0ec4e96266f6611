/* schema.h: a key of a case file, declared once; parser, messages, `new --all`, manual, resolved case all read it. */
#ifndef BN_SCHEMA_H
#define BN_SCHEMA_H

#include "binnacle/case.h"

enum { BN_ARRAY_MAX = 8, BN_LIST_MAX = 256 };

typedef enum bn_key_type { BN_KEY_INT, BN_KEY_REAL, BN_KEY_TEXT, BN_KEY_BOOL, BN_KEY_CHOICE } bn_key_type;

/* Numbers must lie in [min, max] where min < max (HUGE_VAL: no limit on that side), or > min where `above` is set;
 * min == max == 0 means any value. A key without default (`required`) must be given. `count` > 1: an array of exactly
 * that many numbers, all with the same default, unit and range. `list`: the key's table may stand any number of times,
 * as
 * [[table]], up to BN_LIST_MAX; all keys of a table agree on it. */
typedef struct bn_key {
    const char *name; /* "grid.size": table and key, at most one dot more ("boundary.left.kind") */
    bn_key_type type;
    int count;        /* 0 and 1: a single value; else the length of the array, at most BN_ARRAY_MAX */
    const char *unit; /* SI unit for reals in UDUNITS notation ("m s-1"), "" or NULL: dimensionless */
    double def;       /* default of numbers and bools, in SI */
    double min, max;
    const char *def_text; /* default of texts and choices; where required, `def` and this are an example */
    const char *choices;  /* BN_KEY_CHOICE: "thom|woods" */
    bool required, above, list;
    bool inferred; /* left out, a file or another key may decide: the resolved case has it only where the case has */
    /* "launch.kind=gaussian|plane": the key belongs to these choices of another key, of the same item if that is in the
     * same list, and is refused with any other; "launch.kind!=file": to all others; "a.kind=x or a.heat=y": to either.
     * NULL: it always counts. */
    const char *only;
    /* A removed key: the message for a case that has it, such as which suite repeats the study it was for. Nothing else
     * of the key counts. NULL: the key is in use. */
    const char *gone;
    const char *help; /* one line; stands in `binnacle new --all` and the manual */
} bn_key;

/* A choice declared once: LIST(X) with X(FLOW_THOM, "thom") gives the enum and the key's texts in the same order:
 *     typedef enum flow_wall_vorticity { FLOW_WALL_VORTICITIES(BN_CHOICE_ENUM) } flow_wall_vorticity;
 *     .choices = BN_CHOICES(FLOW_WALL_VORTICITIES) */
#define BN_CHOICE_ENUM(id, text) id,
#define BN_CHOICE_TEXT(id, text) "|" text
#define BN_CHOICES(LIST) (&(LIST(BN_CHOICE_TEXT))[1])

/* The keys that every solver has ([case], [output], [stop]); ends with a NULL name. A solver's key of the same name
 * replaces it, so that a default or range can differ; its own keys may stand in these tables too. */
extern const bn_key bn_common_keys[];

/* Who finds a solver's schema: NULL when the name is unknown. Given by src/sim, so that src/case knows no solver. */
typedef struct bn_schema_source {
    const bn_key *(*find)(const char *solver);
    const char *const *names; /* NULL-terminated, for "did you mean" */
} bn_schema_source;

/* bn_case_read and bn_case_parse (binnacle/case.h) end here. `text` may be NULL: then `path` is read. */
BN_CHECKED bn_status bn_case_load(bn_context *, const char *path, const char *text, const char *const *overrides,
                                  size_t count, const bn_schema_source *, bn_case **out);

/* A commented case for a solver with every key, its unit, default and range, made from the schema; free() it. */
BN_CHECKED bn_status bn_case_every_key(bn_context *, const char *solver, const bn_schema_source *, char **text);

/* A key that the case gives another value than its default. Texts are lent for the call. */
typedef struct bn_case_change {
    const char *key, *value; /* the value as TOML in SI */
    size_t item;             /* of a list, from 1; 0: none */
    const char *def;         /* the default as TOML; NULL: the key must be given */
    const char *unit, *help;
} bn_case_change;
BN_CHECKED bn_status bn_case_changes(const bn_case *, void (*tell)(void *user, const bn_case_change *), void *user);

/* Numbers in memory that stand for a file (bn_case_give). */
typedef struct bn_case_numbers {
    struct bn_case_numbers *next;
    char *name;
    unsigned n[3];
    double *values; /* x fastest */
} bn_case_numbers;
/* NULL: the case was given none of that name. */
const bn_case_numbers *bn_case_given_numbers(const bn_case *, const char *name);
const bn_case_numbers *bn_case_all_numbers(const bn_case *); /* the first of the list, or NULL */

/* Gives a choice or whole number a value as if it were its default: for a key that the case leaves open, by not naming
 * it or by "auto". False, and nothing is changed: the case has chosen, or the key knows no such value. The resolved
 * case shows the key as it was: what is preferred belongs to a device. */
bool bn_case_prefer(bn_case *, const char *key, const char *value);
/* The value of such a key as it stands in a case; `text` has room for BN_CASE_VALUE bytes. False: there is no such key.
 */
enum { BN_CASE_VALUE = 64 };
bool bn_case_value(const bn_case *, const char *key, char text[BN_CASE_VALUE]);

/* Whether --set has changed what is solved, not how: any key outside [case], [solver], [output] but grid.nodes. What
 * the file states of the results then belongs to another case, unless --set has stated that, too. */
bool bn_case_varied(const bn_case *);

/* Rejects the case because of `key` (a contradiction that the schema can't express), with the key's file and line;
 * returns BN_CASE. May be called several times: all of them are listed. `hint` may be NULL. */
bn_status bn_case_reject(const bn_case *, const char *key, const char *hint, const char *format, ...) BN_PRINTF(4, 5);

/* The same because of a key of a list's item. */
bn_status bn_case_reject_item(const bn_case *, const char *key, size_t item, const char *hint, const char *format, ...)
    BN_PRINTF(5, 6);

/* Problems that bn_case_reject has recorded since the case was read, as one text in the form of bn_case_read's; "" if
 * none. */
const char *bn_case_diagnostics(const bn_case *);
/* Fails with them as bn_case_read does; BN_OK if there are none. */
BN_CHECKED bn_status bn_case_verdict(bn_context *, const bn_case *);

/* The most similar of `names` (NULL-terminated) to `word` by edit distance; NULL: none is similar. */
const char *bn_suggest(const char *word, const char *const *names);

#endif
