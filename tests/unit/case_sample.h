/* case_sample.h: a schema with a key of every kind, and what the tests of case files do again and again. */
#ifndef BN_CASE_SAMPLE_H
#define BN_CASE_SAMPLE_H

#include "case/schema.h"

/* A case as far as every case needs it: lines 1 and 2, and a whole one: lines 1 to 4. */
#define HEAD "[case]\nsolver = \"bpm\"\n"
#define GOOD HEAD "[source]\nwavelength = \"532 nm\"\n"

/* A list of texts that ends with NULL. */
#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

extern const bn_key sample_keys[]; /* of the solver bpm, the only one; flow has a name and no schema */
extern const bn_schema_source sample_source;
extern bn_context *sample_ctx;
extern bn_case *sample; /* the last case that was read; NULL when it was refused */

void sample_setup(void);
void sample_teardown(void);

/* Reads `text`, as the file w.toml, with overrides up to NULL; frees an earlier case and forgets an earlier error. */
bn_status sample_load(const char *text, const char *const *overrides);
void sample_accept(const char *text, const char *const *overrides);

/* `text` must be refused with all of `parts`, up to NULL, in this order. */
void sample_refuse(const char *text, const char *const *overrides, const char *const *parts);

/* The error's text must have this part. */
void sample_says(const char *part);

#endif
