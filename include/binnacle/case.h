/* case.h: a checked case. Reading values cannot fail: keys, types, units and ranges were checked when it was read. It
 * is read by its simulations as long as they live; texts that it lends live as long as it does. */
#ifndef BINNACLE_CASE_H
#define BINNACLE_CASE_H

#include "binnacle/context.h"

BN_INTERFACE_BEGIN

typedef struct bn_case bn_case;

/* Reads a TOML case file, applies `overrides` ("key=value", the value as TOML or a bare word) and checks it against the
 * common keys and the schema of the solver it names. On failure BN_CASE, with ALL problems of the file in
 * bn_error_text, each with file:line:column, key, what is allowed and the nearest name; BN_IO when the file can't be
 * read. */
BN_CHECKED bn_status bn_case_read(bn_context *, const char *path, const char *const *overrides, size_t count,
                                  bn_case **out);

/* The same from a text in memory; `name` stands in messages where a file name would, and files that the case names are
 * looked for beside it. A case is built key by key from an empty text: "case.solver=flow", "grid.nodes=[65, 65]",
 * "fluid.viscosity=1e-3 m2/s"; a list of tables at once: "structure=[{ kind = \"slab\", index = 1.6 }]". */
BN_CHECKED bn_status bn_case_parse(bn_context *, const char *name, const char *text, const char *const *overrides,
                                   size_t count, bn_case **out);
void bn_case_destroy(bn_case **);

/* Gives a case numbers in memory, x fastest, which are copied: a key that names a file of numbers on a grid
 * ("material.map=design") finds them by `name` ("design") in the place of a file. Anew under the same name: in their
 * place. Simulations that are made from then on have them. BN_MEMORY; BN_USAGE: no numbers, or more than 2^30. */
BN_CHECKED bn_status bn_case_give(bn_case *, const char *name, const unsigned n[3], const double *values);

/* Values in SI. `key` is the full name ("grid.size"). An unknown key or a wrong type is a programming error: assert. */
double bn_case_real(const bn_case *, const char *key);
double bn_case_real_at(const bn_case *, const char *key, size_t index); /* element of an array */
long long bn_case_int(const bn_case *, const char *key);
long long bn_case_int_at(const bn_case *, const char *key, size_t index);
bool bn_case_bool(const bn_case *, const char *key);
const char *bn_case_text(const bn_case *, const char *key);
int bn_case_choice(const bn_case *, const char *key); /* index into the key's list of choices */
bool bn_case_given(const bn_case *, const char *key); /* in the file or by an override, not a default */

/* Lists of tables, [[boundary.segment]]: how many items `list` ("boundary.segment") has, and their values; items count
 * from 0, `key` is the full name ("boundary.segment.from"). */
size_t bn_case_items(const bn_case *, const char *list);
double bn_case_item_real(const bn_case *, const char *key, size_t item);
double bn_case_item_real_at(const bn_case *, const char *key, size_t item, size_t index);
long long bn_case_item_int(const bn_case *, const char *key, size_t item);
bool bn_case_item_bool(const bn_case *, const char *key, size_t item);
const char *bn_case_item_text(const bn_case *, const char *key, size_t item);
int bn_case_item_choice(const bn_case *, const char *key, size_t item);

const char *bn_case_solver(const bn_case *);
const char *bn_case_path(const bn_case *); /* as given to bn_case_read */
bool bn_case_double(const bn_case *);      /* case.precision = "double" */

/* The whole case as TOML with every key, defaults resolved, SI numbers; free() it. */
BN_CHECKED bn_status bn_case_resolved(const bn_case *, char **text);

BN_INTERFACE_END
#endif
