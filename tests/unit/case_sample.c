/* case_sample.c: the schema and the steps that the tests of case files share (case_sample.h). */
#include "case_sample.h"

#include "support.h"

#include <string.h>

const bn_key sample_keys[] = {
    { .name = "grid.nodes",
      .type = BN_KEY_INT,
      .count = 2,
      .def = 65,
      .min = 3,
      .max = 65536,
      .help = "nodes along x and y" },
    { .name = "grid.size",
      .type = BN_KEY_REAL,
      .count = 2,
      .unit = "m",
      .def = 1,
      .max = 1e6,
      .above = true,
      .help = "length of the box along x and y" },
    { .name = "source.kind",
      .type = BN_KEY_CHOICE,
      .choices = "gaussian|mode|file",
      .def_text = "mode",
      .help = "what enters" },
    { .name = "source.wavelength",
      .type = BN_KEY_REAL,
      .unit = "m",
      .def = 532e-9,
      .above = true,
      .required = true,
      .help = "wavelength in vacuum" },
    { .name = "source.angle", .type = BN_KEY_REAL, .unit = "rad", .help = "tilt against the axis" },
    { .name = "source.share", .type = BN_KEY_REAL, .def = 0.5, .min = 0, .max = 1, .help = "share of the power" },
    { .name = "source.file", .type = BN_KEY_TEXT, .def_text = "", .help = "file with the field" },
    { .name = "boundary.left.kind",
      .type = BN_KEY_CHOICE,
      .choices = "pml|transparent|wall",
      .def_text = "pml",
      .help = "left side" },
    { .name = "boundary.left.speed",
      .type = BN_KEY_REAL,
      .unit = "m s-1",
      .help = "speed of the wall along itself, positive in the direction in which the coordinate along it grows" },
    { .name = "material.temperature",
      .type = BN_KEY_REAL,
      .unit = "K",
      .def = 293.15,
      .above = true,
      .help = "temperature" },
    { .name = "stop.residual",
      .type = BN_KEY_REAL,
      .def = 1e-6,
      .max = 1,
      .above = true,
      .help = "largest change per step" },
    { .name = "stop.steps", .type = BN_KEY_INT, .def = 500, .min = 1, .max = 1e9, .help = "most steps" },
    { 0 },
};

static const bn_key *find(const char *solver) { return strcmp(solver, "bpm") == 0 ? sample_keys : NULL; }

static const char *const names[] = { "bpm", "flow", NULL };
const bn_schema_source sample_source = { find, names };

bn_context *sample_ctx;
bn_case *sample;

void sample_setup(void) { ck_assert_int_eq(bn_context_create(NULL, &sample_ctx), BN_OK); }

void sample_teardown(void)
{
    bn_case_destroy(&sample);
    bn_context_destroy(&sample_ctx);
}

bn_status sample_load(const char *text, const char *const *overrides)
{
    size_t count = 0;
    while (overrides && overrides[count])
        count++;
    bn_case_destroy(&sample);
    bn_error_clear(sample_ctx);
    bn_status st = bn_case_load(sample_ctx, "w.toml", text, overrides, count, &sample_source, &sample);
    ck_assert((st == BN_OK) == (sample != NULL));
    ck_assert_int_eq(bn_error_status(sample_ctx), st);
    return st;
}

void sample_accept(const char *text, const char *const *overrides)
{
    bn_status st = sample_load(text, overrides);
    ck_assert_msg(st == BN_OK, "refused:\n%s\n%s", text, bn_error_text(sample_ctx));
}

void sample_says(const char *part)
{
    ck_assert_msg(strstr(bn_error_text(sample_ctx), part), "`%s` is not in:\n%s", part, bn_error_text(sample_ctx));
}

void sample_refuse(const char *text, const char *const *overrides, const char *const *parts)
{
    ck_assert_msg(sample_load(text, overrides) == BN_CASE, "accepted:\n%s", text);
    const char *at = bn_error_text(sample_ctx);
    for (; *parts; parts++) {
        const char *hit = strstr(at, *parts);
        ck_assert_msg(hit, "`%s` is not in its place in:\n%s", *parts, bn_error_text(sample_ctx));
        at = hit + strlen(*parts);
    }
}
