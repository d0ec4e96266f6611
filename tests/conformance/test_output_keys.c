/* test_output_keys.c: what is written, and how often, is no part of the physics: every self-test case of every
 * registered solver ends with the same bits with all that [output] has to offer as with nothing of it, on the
 * reference, and on the device for one case each. Which keys there are is read from the schemas: a new one is tested
 * without a word here. */
#include "support.h"

#include "api/embedded_files.h"
#include "binnacle/binnacle.h"
#include "case/schema.h"
#include "run/run.h"
#include "run/selftest.h"
#include "sim/solver.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call) ck_assert_msg((call) == BN_OK, "%s: %s", #call, bn_error_text(ctx))

enum { OVERRIDES = 64, OVERRIDE = 128, STEPS = 9 };
static char folder[4096];

typedef struct overrides {
    char text[OVERRIDES][OVERRIDE];
    const char *list[OVERRIDES];
    size_t count;
} overrides;

static void set(overrides *o, const char *key, const char *value)
{
    ck_assert_uint_lt(o->count, OVERRIDES);
    snprintf(o->text[o->count], OVERRIDE, "%s=%s", key, value);
    o->list[o->count] = o->text[o->count];
    o->count++;
}

/* The keys of [output] that are on or off, the solver's own and those of all solvers, and how often it writes. A key
 * that this case refuses is left as it is. */
static void set_all(bn_context *ctx, const bn_embedded *file, const bn_solver *solver, bool on, overrides *o)
{
    static const char *const common[] = { "output.vtk",   "output.tiff",      "output.hdf5",       "output.pictures",
                                          "output.first", "output.animation", "output.checkpoint", "output.report" };
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        set(o, common[i], on ? "true" : "false");
    set(o, "output.every", on ? "3" : "0");
    set(o, "output.series_every", on ? "1" : "1000");
    for (const bn_key *k = solver->schema; k->name; k++) {
        if (strncmp(k->name, "output.", 7) != 0 || k->type != BN_KEY_BOOL || k->list)
            continue;
        overrides trial = *o;
        bn_case *c = NULL;
        bn_sim *sim = NULL;
        set(&trial, k->name, on ? "true" : "false");
        for (size_t i = 0; i < trial.count; i++)
            trial.list[i] = trial.text[i];
        if (bn_case_parse(ctx, file->name, file->text, trial.list, trial.count, &c) == BN_OK &&
            bn_sim_create(ctx, c, &(bn_sim_desc){ .boxes = 1 }, &sim) == BN_OK)
            set(o, k->name, on ? "true" : "false");
        bn_error_clear(ctx);
        bn_sim_destroy(&sim);
        bn_case_destroy(&c);
    }
}

/* The hashes of the fields after a run into a folder of its own. */
static json_t *hashes(bn_context *ctx, const bn_embedded *file, const overrides *o, bool reference)
{
    char path[4200];
    bn_case *c;
    json_error_t error;
    OK(bn_case_parse(ctx, file->name, file->text, o->list, o->count, &c));
    const bn_run_desc desc = { .out = folder, .reference = reference, .quiet = true, .force = true, .steps = STEPS };
    const bn_status st = bn_run_case(ctx, c, &desc);
    ck_assert_msg(st == BN_OK || st == BN_DIVERGED, "%s", bn_error_text(ctx)); /* few steps: not all converge */
    bn_error_clear(ctx);
    bn_case_destroy(&c);
    snprintf(path, sizeof path, "%s/summary.json", folder);
    json_t *summary = json_load_file(path, 0, &error);
    ck_assert_msg(summary != NULL, "%s: %s", path, error.text);
    json_t *fields = json_incref(json_object_get(summary, "fields"));
    json_decref(summary);
    ck_assert_uint_gt(json_object_size(fields), 0);
    return fields;
}

static void compare(bn_context *ctx, const bn_embedded *file, const bn_solver *solver, bool reference)
{
    static overrides silent, busy;
    silent = busy = (overrides){ .count = 0 };
    set_all(ctx, file, solver, false, &silent);
    set_all(ctx, file, solver, true, &busy);
    json_t *few = hashes(ctx, file, &silent, reference), *many = hashes(ctx, file, &busy, reference), *value;
    const char *name;
    size_t both = 0;
    json_object_foreach(few, name, value)
    {
        const json_t *other = json_object_get(many, name); /* NULL: a field that only some output needs */
        both += other != NULL;
        ck_assert_msg(!other || json_equal(value, (json_t *)other), "%s, %s: %s depends on what is written", file->name,
                      reference ? "reference" : "device", name);
    }
    ck_assert_uint_gt(both, 0);
    json_decref(few);
    json_decref(many);
}

/* The self-test case that has no further name: devices compile for a while. */
static bool is_first(const bn_embedded *file, const char *solver)
{
    char name[OVERRIDE];
    snprintf(name, sizeof name, "selftest/%s.toml", solver);
    return strcmp(file->name, name) == 0;
}

static void compare_all(bool reference)
{
    bn_context *ctx;
    ck_assert_int_eq(bn_context_create(NULL, &ctx), BN_OK);
    size_t cases = 0;
    for (const char *const *name = bn_solver_names(); *name; name++)
        for (const bn_embedded *file = bn_embedded_files; file->name; file++)
            if (bn_selftest_is_of(file->name, *name) && (reference || is_first(file, *name))) {
                compare(ctx, file, bn_solver_find(*name), reference);
                cases++;
            }
    ck_assert_uint_ge(cases, 5);
    bn_context_destroy(&ctx);
}

TEST(reference_does_not_depend_on_what_is_written) { compare_all(true); }

TEST(device_does_not_depend_on_what_is_written) { compare_all(false); }

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    char command[4300];
    snprintf(folder, sizeof folder, "%s/binnacle-output-keys-XXXXXX", tmp ? tmp : "/tmp");
    /* Fields are compared here anyway. */
    if (!mkdtemp(folder) || setenv("BINNACLE_SELFTEST", "off", 1) != 0)
        return EXIT_FAILURE;
    const int failed = bn_test_main("output keys", NULL, NULL);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? failed : EXIT_FAILURE;
}
