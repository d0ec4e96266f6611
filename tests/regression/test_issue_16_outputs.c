/* test_issue_16_outputs.c: files of a run that said what is not so, or that a common reader refused: openPMD's dt was 1
 * whatever the step, `converged` was false where nothing is to converge, a text among the field data of a .vtu made
 * meshio give up. */
#include "support_case.h"

#include "binnacle/binnacle.h"
#include "io/file.h"
#include "run/run.h"

#include <hdf5.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char name[4200];

static void run_file(const char *file, const char *override)
{
    bn_case *c;
    const char *overrides[] = { override, "case.title=A title", "output.every=1", "output.first=true" };
    OK(bn_case_read(ctx, file, overrides, 4, &c));
    OK(bn_run_case(ctx, c,
                   &(bn_run_desc){ .out = test_folder, .reference = true, .quiet = true, .force = true, .steps = 2 }));
    bn_case_destroy(&c);
}

static double attribute(int step, const char *which)
{
    char group[64];
    double value = (double)NAN;
    snprintf(name, sizeof name, "%s/fields/fields-%d.h5", test_folder, step);
    snprintf(group, sizeof group, "/data/%d", step);
    const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert_msg(file >= 0, "%s", name);
    const hid_t at = H5Gopen(file, group, H5P_DEFAULT), a = H5Aopen(at, which, H5P_DEFAULT);
    ck_assert_int_ge(H5Aread(a, H5T_NATIVE_DOUBLE, &value), 0);
    H5Aclose(a);
    H5Gclose(at);
    H5Fclose(file);
    return value;
}

TEST(dt_is_that_of_the_step)
{
    static const char *const cases[] = { "data/cases/flow/selftest.toml", "data/cases/flood/selftest.toml" };
    for (size_t i = 0; i < 2; i++) {
        run_file(cases[i], "output.hdf5=true");
        near(attribute(0, "dt"), 0, 0, "no step has led here");
        for (int step = 1; step <= 2; step++) {
            const double between = attribute(step, "time") - attribute(step - 1, "time");
            ck_assert(between > 0);
            near(attribute(step, "dt"), between, 1e-14 * attribute(step, "time"), "one step from the file before");
        }
    }
}

/* The value of a key of summary.json. */
static json_t *summary(const char *key)
{
    json_error_t error;
    snprintf(name, sizeof name, "%s/summary.json", test_folder);
    json_t *whole = json_load_file(name, 0, &error);
    ck_assert_msg(whole != NULL, "%s: %s", name, error.text);
    json_t *value = json_incref(json_object_get(whole, key));
    json_decref(whole);
    ck_assert_ptr_nonnull(value);
    return value;
}

TEST(converged_is_null_where_nothing_is_to_converge)
{
    run_file("data/cases/flood/selftest.toml", "output.vtk=false");
    json_t *value = summary("converged");
    ck_assert(json_is_null(value));
    json_decref(value);
    run_file("data/cases/flow/cavity-re1.toml", "grid.nodes=[9,9]");
    value = summary("converged");
    ck_assert(json_is_false(value)); /* after two steps */
    json_decref(value);
}

/* What meshio 5.3 takes: below FieldData only DataArray, all of number types, and the title where no reader minds. */
TEST(meshes_have_only_numbers_among_their_data)
{
    static const char *const types[] = { "Float32", "Float64", "Int32", "UInt8" };
    char *text;
    size_t bytes, arrays = 0;
    run_file("data/cases/flood/selftest.toml", "output.vtk=true");
    snprintf(name, sizeof name, "%s/fields/flood-000002.vtu", test_folder);
    OK(bn_file_read(ctx, name, 1 << 24, &text, &bytes));
    ck_assert_ptr_null(strstr(text, "<Array"));
    ck_assert_ptr_nonnull(strstr(text, " title=\"A title\""));
    for (const char *at = text; (at = strstr(at, "<DataArray type=\"")) != NULL; arrays++) {
        at += strlen("<DataArray type=\"");
        bool known = false;
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            known = known || (strncmp(at, types[i], strlen(types[i])) == 0 && at[strlen(types[i])] == '"');
        ck_assert_msg(known, "%.20s", at);
    }
    ck_assert_uint_gt(arrays, 5);
    free(text);
}

int main(void) { return bn_test_main("outputs of issue 16", open_folder, close_folder); }
