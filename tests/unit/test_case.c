/* test_case.c: case files: values, units, overrides, and every message with its position. */
#include "case_sample.h"
#include "support.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

/* --- values --- */

TEST(defaults_and_given_values)
{
    sample_accept(GOOD "share = 1\n[grid]\nnodes = [129, 65]\n[boundary.left]\nkind = 'wall'\nspeed = -2.5\n", NULL);
    ck_assert_str_eq(bn_case_solver(sample), "bpm");
    ck_assert_str_eq(bn_case_path(sample), "w.toml");
    ck_assert(!bn_case_double(sample));
    ck_assert_int_eq(bn_case_int_at(sample, "grid.nodes", 0), 129);
    ck_assert_int_eq(bn_case_int_at(sample, "grid.nodes", 1), 65);
    ck_assert(bn_case_real_at(sample, "grid.size", 1) == 1);
    ck_assert(bn_case_real(sample, "source.share") == 1);
    ck_assert_int_eq(bn_case_choice(sample, "boundary.left.kind"), 2);
    ck_assert_int_eq(bn_case_choice(sample, "source.kind"), 1);
    ck_assert(bn_case_real(sample, "boundary.left.speed") == -2.5);
    ck_assert_str_eq(bn_case_text(sample, "source.file"), "");
    ck_assert_str_eq(bn_case_text(sample, "case.title"), "");
    ck_assert_int_eq(bn_case_int(sample, "case.seed"), 1);
    ck_assert(bn_case_bool(sample, "output.vtk") && !bn_case_bool(sample, "output.first"));
    ck_assert(bn_case_given(sample, "grid.nodes") && !bn_case_given(sample, "grid.size"));
    ck_assert_str_eq(bn_case_diagnostics(sample), "");
}

TEST(a_solver_may_replace_a_common_key)
{
    sample_accept(GOOD, NULL);
    ck_assert_int_eq(bn_case_int(sample, "stop.steps"), 500);
    sample_refuse(GOOD "[stop]\nsteps = 2000000000\n", NULL, LIST("must be from 1 to 1000000000"));
}

TEST(toml_in_all_its_forms)
{
    sample_accept(
        "\xef\xbb\xbf"
        "case = { solver = 'bpm', title = \"\\u00b5m\" }\r\nsource.wavelength = 1e-6\r\nboundary = { left.kind = "
        "'wall' }",
        NULL);
    ck_assert_str_eq(bn_case_text(sample, "case.title"), "\xc2\xb5m");
    ck_assert_int_eq(bn_case_choice(sample, "boundary.left.kind"), 2);
}

static const struct {
    const char *text, *key;
    double value, tolerance;
} units[] = {
    { "wavelength = \"532 nm\"", "source.wavelength", 532e-9, 0 },
    { "wavelength = \"1.55um\"", "source.wavelength", 1.55e-6, 0 },
    { "wavelength = \"1.55 \xc2\xb5m\"", "source.wavelength", 1.55e-6, 0 },
    { "wavelength = \" +5e-1 micrometers \"", "source.wavelength", 0.5e-6, 0 },
    { "wavelength = \"5 nanometre\"", "source.wavelength", 5e-9, 0 },
    { "wavelength = \"3 angstrom\"", "source.wavelength", 3e-10, 0 },
    { "wavelength = \".5 mm\"", "source.wavelength", 0.5e-3, 0 },
    { "wavelength = \"2 km\"", "source.wavelength", 2000, 0 },
    { "wavelength = \"2 inch\"", "source.wavelength", 0.0508, 1e-17 },
    { "wavelength = 3", "source.wavelength", 3, 0 },
    { "angle = \"180 deg\"", "source.angle", 3.14159265358979323846, 1e-15 },
    { "angle = \"-90 degrees\"", "source.angle", -3.14159265358979323846 / 2, 1e-15 },
    { "angle = \"2 mrad\"", "source.angle", 2e-3, 0 },
    { "share = \"5 %\"", "source.share", 0.05, 0 },
    { "[material]\ntemperature = \"20 degC\"", "material.temperature", 293.15, 1e-12 },
    { "[material]\ntemperature = \"300 K\"", "material.temperature", 300, 0 },
    { "[boundary.left]\nspeed = \"36 km/h\"", "boundary.left.speed", 10, 1e-14 },
    { "[boundary.left]\nspeed = \"2 mm s-1\"", "boundary.left.speed", 2e-3, 0 },
    { "[stop]\ntime = \"2 ms\"", "stop.time", 2e-3, 0 },
    { "[stop]\ntime = \"1.5 h\"", "stop.time", 5400, 0 },
    { "[stop]\ntime = \"2 min\"", "stop.time", 120, 0 },
};

LOOP_TEST(units_become_si, sizeof units / sizeof *units)
{
    char text[300];
    bool own = strncmp(units[_i].key, "source.wavelength", 17) == 0;
    snprintf(text, sizeof text, HEAD "[source]\n%s%s\n", own ? "" : "wavelength = 1e-6\n", units[_i].text);
    sample_accept(text, NULL);
    near(bn_case_real(sample, units[_i].key), units[_i].value, units[_i].tolerance, units[_i].text);
}

TEST(units_do_not_depend_on_the_locale)
{
    static const char *const locales[] = { "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "ru_RU.UTF-8" };
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++)
        if (setlocale(LC_ALL, locales[i]))
            break;
    sample_accept(GOOD "share = \"2.5 %\"\n[grid]\nsize = [\"1.5 inch\", 0.25]\n", NULL);
    near(bn_case_real(sample, "source.share"), 0.025, 0, "0.025 rounded once");
    near(bn_case_real_at(sample, "grid.size", 0), 0.0381, 1e-17, "an inch is 25.4 mm");
    near(bn_case_real_at(sample, "grid.size", 1), 0.25, 0, "as written");
}

/* --- messages --- */

static const struct {
    const char *text; /* behind HEAD, that is from line 3 on */
    const char *says;
} wrong[] = {
    /* names */
    { "[source]\nwavelenght = 1\n", "w.toml:4:1: unknown key `wavelenght` in [source]; did you mean `wavelength`?\n"
                                    "      4 | wavelenght = 1\n"
                                    "        | ^^^^^^^^^^\n" },
    { "[source]\nWAVELENGTH = 1\n", "did you mean `wavelength`?" },
    { "[grid]\n\textent = 3\n", "w.toml:4:2: unknown key `extent` in [grid]; known keys: nodes, size\n"
                                "      4 | ?extent = 3\n        |  ^^^^^^\n" },
    { "[grid]\nwavelength = 3\n", "unknown key `wavelength` in [grid]; it belongs in [source]" },
    { "[gird]\nnodes = 3\n",
      "w.toml:3:2: unknown table [gird]; did you mean [grid]?\n      3 | [gird]\n        |  ^^^^\n" },
    { "[boundary.lfet]\nkind = 3\n", "w.toml:3:11: unknown table [boundary.lfet]; did you mean [boundary.left]?" },
    { "[zzzzzzz]\n", "w.toml:3:2: unknown table [zzzzzzz]\n" },
    { "boundary = 3\n", "w.toml:3:1: unknown key `boundary` in [case]" },
    { "[boundary]\nleft = 3\n", "w.toml:4:1: `boundary.left` is a table: write [boundary.left]" },
    { "[[grid]]\n", "w.toml:3:3: `grid` is a table: write [grid]" },
    { "[grid]\n\"no\\u0000des\" = 3\n", "w.toml:4:1: unknown key" },
    { "\"so.lver\" = 3\n", "w.toml:3:1: unknown key `so.lver` in [case]" },
    { "[grid]\n", "w.toml: missing key `wavelength` in [source]: wavelength in vacuum\n" },
    { "[grid]\n[source]\n",
      "w.toml:4:2: missing key `wavelength` in [source]: wavelength in vacuum\n      4 | [source]\n" },
    /* types */
    { "title = 5\n", "w.toml:3:9: [case] title = 5: expected a text in quotes, got an integer\n" },
    { "title = [\n  1]\n",
      "w.toml:3:9: [case] title: expected a text in quotes, got an array\n      3 | title = [\n        |         ^\n" },
    { "seed = 2.0\n", "[case] seed = 2.0: expected an integer: write 2, without point or exponent" },
    { "seed = 2.5\n", "expected an integer, got a number with a point" },
    { "seed = \"2\"\n", "expected an integer, got a text" },
    { "precision = true\n", "[case] precision = true: expected a text, got true or false" },
    { "[output]\nvtk = 1\n", "expected true or false, got an integer" },
    { "[stop]\ntime = true\n", "expected a number (s) or a text such as \"1 s\", got true or false" },
    { "[stop]\nresidual = 1979-05-27\n", "expected a number, got a date or time" },
    { "[grid]\nnodes = 65\n", "[grid] nodes = 65: expected an array of 2 integers, got an integer" },
    { "[grid]\nnodes = [65]\n", "expected an array of 2 integers, got an array of 1" },
    { "[grid]\nsize = [1, 2, 3]\n", "expected an array of 2 numbers, got an array of 3" },
    { "[grid]\nnodes = [9, 9.0]\n", "w.toml:4:13: [grid] nodes, element 2 = 9.0: expected an integer: write 9" },
    { "[grid]\nnodes = [[1], 9]\n", "w.toml:4:10: [grid] nodes, element 1 = [1]: expected an integer, got an array" },
    /* ranges */
    { "seed = -4\n", "w.toml:3:8: [case] seed = -4: must be >= 0\n" },
    { "[grid]\nnodes = [2, 65]\n", "w.toml:4:10: [grid] nodes, element 1 = 2: must be from 3 to 65536\n" },
    { "[grid]\nsize = [1, 0]\n", "element 2 = 0: must be > 0 and <= 1e6 m\n" },
    { "[source]\nwavelength = 0.0\n", "must be > 0 m\n" },
    { "[source]\nwavelength = \"-1 nm\"\n", "[source] wavelength = \"-1 nm\": must be > 0 m\n" },
    { "[source]\nshare = \"150 %\"\n", "must be from 0 to 1\n" },
    { "[stop]\ntime = nan\n", "must be a finite number" },
    { "[stop]\ntime = -inf\n", "must be a finite number" },
    { "[stop]\ntime = \"1e308 years\"\n", "expected a finite number" },
    { "[stop]\ntime = \"1e999 s\"\n", "expected a finite number" },
    /* choices and texts */
    { "precision = \"duoble\"\n",
      "w.toml:3:13: [case] precision = \"duoble\": expected one of single, double; did you mean \"double\"?" },
    { "[boundary.left]\nkind = \"PLM\"\n", "expected one of pml, transparent, wall; did you mean \"pml\"?" },
    { "precision = \"half\"\n", "expected one of single, double\n" },
    { "title = \"a\\u0000b\"\n", "no line ends, tabs or other control characters" },
    { "title = \"\"\"a\nb\"\"\"\n", "no line ends, tabs or other control characters" },
    /* units */
    { "[stop]\ntime = \"2 m\"\n", "w.toml:4:8: [stop] time = \"2 m\": expected a time (s), got a length\n" },
    { "[stop]\ntime = \"2 Hz\"\n", "expected a time (s), got a frequency or rate" },
    { "[source]\nwavelength = \"0.1 s\"\n", "expected a length (m), got a time" },
    { "[source]\nwavelength = \"1 m-1\"\n", "expected a length (m), got a wavenumber" },
    { "[source]\nshare = \"1 kg\"\n", "expected a dimensionless number, got a mass (share: share of the power)\n" },
    { "[source]\nshare = \"1 kg2\"\n", "expected a dimensionless number, got something in kg2" },
    { "[source]\nshare = \"5\"\n", "expected a percent sign after the number" },
    { "[source]\nwavelength = \"5\"\n",
      "expected a unit after the number; a plain number in SI stands without quotes" },
    { "[source]\nwavelength = \"5 nanometers per\"\n", "unknown unit `nanometers per`" },
    { "[source]\nwavelength = \"1,5 nm\"\n", "expected one number with a point, then a unit" },
    { "[source]\nwavelength = \"1 500 nm\"\n", "expected one number with a point, then a unit" },
    { "[source]\nwavelength = \"nm\"\n", "expected a number with a unit, got a text that does not begin with one" },
    { "[source]\nwavelength = \"nan m\"\n", "does not begin with one" },
    { "[source]\nwavelength = \"\"\n", "does not begin with one" },
    /* syntax */
    { "solver = \"bpm\"\n", "w.toml:3:10: not valid TOML: parsing key-value pair: cannot redefine existing string "
                            "'solver'\n      3 | solver" },
    { "title = \"abc\n[grid]\n", "w.toml:3:13: not valid TOML: a text is not closed before its line ends" },
    { "title = abc\n", "w.toml:3:9: not valid TOML: no value that TOML knows; a text stands in quotes\n" },
    { "[grid\n", "w.toml:3:6: not valid TOML:" },
    { "[case]\n", "w.toml:3:1: not valid TOML:" },
    { "title = \"\xff\"\n", "w.toml:3:9: not valid TOML: the bytes here are no UTF-8" },
    { "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a."
      "a.a.a.a.a.a.a.a.a.a=1",
      "w.toml:3:1: not valid TOML: more than 64 dots in one line" },
};

LOOP_TEST(mistakes_are_named_with_their_place, sizeof wrong / sizeof *wrong)
{
    char text[600];
    snprintf(text, sizeof text, HEAD "%s", wrong[_i].text);
    ck_assert_int_eq(sample_load(text, NULL), BN_CASE);
    sample_says(wrong[_i].says);
    sample_says("; nothing was run. Every key with unit and range: binnacle new ");
}

TEST(all_mistakes_are_listed_by_line)
{
    sample_refuse(
        "[stop]\nsteps = 0\n[case]\nsolver = \"bpm\"\nseed = -1\n[grid]\nnodes = 3\nsiz = 4\n[output]\nvtk = "
        "0\n[source]\n",
        NULL,
        LIST("w.toml:2:9:", "w.toml:5:8:", "w.toml:7:9:", "w.toml:8:1:", "w.toml:10:7:", "w.toml:11:2: missing key",
             "\n6 errors; nothing was run. Every key with unit and range: binnacle new bpm --all"));
    const char *text = bn_error_text(sample_ctx);
    ck_assert_int_ne(text[strlen(text) - 1], '\n');
    sample_refuse(GOOD "[grid]\nx = 1\n", NULL, LIST("\n1 error; nothing was run."));
}

TEST(a_solver_must_be_known)
{
    sample_refuse("[case]\nsolver = \"bmp\"\n[grid]\nwhatever = 1\n[output]\nvtk = 3\n", NULL,
                  LIST("w.toml:2:10: unknown solver `bmp`; did you mean `bpm`? Solvers: bpm, flow\n",
                       "w.toml:6:7: [output] vtk",
                       "2 errors; nothing was run. Every key with unit and range: binnacle new SOLVER --all"));
    sample_refuse("[case]\nsolver = \"navier\"\n", NULL, LIST("unknown solver `navier`. Solvers: bpm, flow\n"));
    sample_refuse("[case]\nslover = \"bpm\"\n[grid]\nnodes = 1\n[otuput]\n", NULL,
                  LIST("w.toml:1:2: missing key `solver` in [case]",
                       "w.toml:2:1: unknown key `slover` in [case]; did you mean `solver`?",
                       "w.toml:5:2: unknown table [otuput]; did you mean [output]?", "3 errors"));
    sample_refuse("solver = \"bpm\"\n", NULL,
                  LIST("w.toml:1:1: unknown key `solver` outside of any table; it belongs in [case]"));
    sample_refuse("[case]\nsolver = 3\n", NULL, LIST("w.toml:2:10: [case] solver = 3: expected a text in quotes"));
    sample_refuse("", NULL, LIST("w.toml: missing key `solver` in [case]", "1 error;"));
    sample_refuse("", LIST("case.solver=bmp"),
                  LIST("--set case.solver=bmp: unknown solver `bmp`; did you mean `bpm`?"));
}

TEST(long_lists_are_cut)
{
    char text[20000] = GOOD;
    size_t at = strlen(text);
    for (int i = 0; i < 1500; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "k%d = 1\n", i);
    sample_refuse(
        text, NULL,
        LIST("w.toml:5:1: unknown key `k0`", "w.toml:6:1:", "\n... and 1450 more\n1500 errors; nothing was run."));
    ck_assert_ptr_null(strstr(bn_error_text(sample_ctx), "`k50`"));
}

TEST(long_lines_show_the_place)
{
    char text[900], long_title[401], long_text[1100], text_of_override[1200];
    memset(long_title, 'x', sizeof long_title - 1);
    long_title[sizeof long_title - 1] = '\0';
    snprintf(text, sizeof text, "source = { file = '%s', shar = 1 }\n" HEAD, long_title);
    sample_refuse(text, NULL,
                  LIST("w.toml:1:423: unknown key `shar` in [source]; did you mean `share`?\n      1 | ...xxx"));
    snprintf(text, sizeof text, HEAD "[source]\nwavelength = 1\n[output]\n%s = 3\n[grid]\nnodes = '%s'\n", long_title,
             long_title);
    sample_refuse(text, NULL,
                  LIST("w.toml:6:1: unknown key `xxxxxxxx", "...` in [output]", "      6 | xxx", "...\n        | ^^^^",
                       "w.toml:8:9: [grid] nodes: expected an array of 2 integers, got a text\n"));
    snprintf(text, sizeof text, HEAD "[source]\nwavelength = 1\nfile = '%s' x\n", long_title);
    sample_refuse(text, NULL, LIST("w.toml:5:411: not valid TOML", "      5 | ...xxx", "' x\n        |      "));
    memset(long_text, 'y', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    snprintf(text_of_override, sizeof text_of_override, "case.title=%s", long_text);
    sample_refuse(
        GOOD, LIST(text_of_override),
        LIST("--set case.title=yyy", "...: [case] title: a text has at most 1024 bytes, this one has 1099\n"));
}

TEST(messages_are_safe_to_print)
{
    sample_refuse(GOOD "# \x1b[31m\n", NULL, LIST("not valid TOML", "      5 | # ?[31m\n"));
    sample_refuse(HEAD "t\xc3\xaftle\xe2\x80\xae = 1\n", NULL, LIST("not valid TOML", "t\xc3\xaftle? = 1\n"));
    sample_refuse(HEAD "\"a\\u001b\\u202eb\" = 1\n", NULL, LIST("unknown key `a??b` in [case]"));
    sample_refuse(GOOD, LIST("case.\x1b=1"), LIST("--set case.?=1: "));
}

/* --- overrides --- */

TEST(overrides_replace_the_file)
{
    sample_accept(GOOD "[grid]\nnodes = 'wrong, but replaced'\n[stop]\ntime = 1\n",
                  LIST("case.precision=double", "grid.nodes=[33, 17]", "stop.time=2 ms", "case.title=My run",
                       "grid.size = [\"1 mm\", 2]", "boundary.left={kind=\"wall\"}", "stop.steps=7", "stop.steps=8",
                       "output.vtk=false", "source.file=", "case.seed=0x10"));
    ck_assert(bn_case_double(sample));
    ck_assert_int_eq(bn_case_int_at(sample, "grid.nodes", 0), 33);
    ck_assert(bn_case_real(sample, "stop.time") == 2e-3);
    ck_assert_str_eq(bn_case_text(sample, "case.title"), "My run");
    ck_assert(bn_case_real_at(sample, "grid.size", 0) == 1e-3);
    ck_assert_int_eq(bn_case_choice(sample, "boundary.left.kind"), 2);
    ck_assert_int_eq(bn_case_int(sample, "stop.steps"), 8);
    ck_assert(!bn_case_bool(sample, "output.vtk") && bn_case_given(sample, "output.vtk"));
    ck_assert_str_eq(bn_case_text(sample, "source.file"), "");
    ck_assert_int_eq(bn_case_int(sample, "case.seed"), 16);
    sample_accept("", LIST("case.solver=bpm", "source.wavelength=1 um"));
}

TEST(wrong_overrides_are_listed_too)
{
    sample_refuse(
        GOOD "[grid]\nx = 1\n",
        LIST("source.kind=flie", "grid.size=3", "nodes=3", "grid.size=[1", "foo", "=3", "source.angl=3", "case.seed=-1",
             "stop.time=\"x", "[grid]", "grid..size=1", "grid.size=[1, -2]"),
        LIST("w.toml:6:1: unknown key `x`",
             "--set source.kind=flie: [source] kind: expected one of gaussian, mode, file; did you mean \"file\"?\n",
             "--set nodes=3: unknown key `nodes` outside of any table; it belongs in [grid]\n",
             "--set grid.size=[1: not valid TOML: ", "--set foo: expected KEY=VALUE", "--set =3: expected KEY=VALUE",
             "--set source.angl=3: unknown key `angl` in [source]; did you mean `angle`?\n",
             "--set case.seed=-1: [case] seed: must be >= 0\n", "--set stop.time=\"x: not valid TOML",
             "--set [grid]: expected KEY=VALUE", "--set grid..size=1: expected",
             "--set grid.size=[1, -2]: [grid] size, element 2: must be > 0 and <= 1e6 m\n",
             "12 errors; nothing was run."));
}

/* --- rejection by a solver --- */

TEST(a_solver_rejects)
{
    sample_accept(GOOD "[grid]\nnodes = [9, 9]\n", LIST("source.share=0.25"));
    ck_assert_int_eq(bn_case_reject(sample, "source.share", NULL, "too much by %d", 3), BN_CASE);
    ck_assert_int_eq(bn_case_reject(sample, "grid.nodes", "take more", "cells are %g m wide", 0.125), BN_CASE);
    ck_assert_int_eq(bn_case_reject(sample, "grid.size", NULL, "not square"), BN_CASE);
    static const char expected[] = "w.toml:6:9: [grid] nodes = [9, 9]: cells are 0.125 m wide; take more\n"
                                   "      6 | nodes = [9, 9]\n"
                                   "        |         ^^^^^^\n"
                                   "w.toml: [grid] size = [1.0, 1.0] (the default): not square\n"
                                   "--set source.share=0.25: [source] share: too much by 3\n"
                                   "3 errors; nothing was run. Every key with unit and range: binnacle new bpm --all";
    ck_assert_str_eq(bn_case_diagnostics(sample), expected);
    ck_assert_str_eq(bn_case_diagnostics(sample), expected);
}

int main(void) { return bn_test_main("case", sample_setup, sample_teardown); }
