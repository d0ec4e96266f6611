/* test_bpm_sections.c: structures that change along z in space. From one section to the next only the lines are made
 * anew on which the index has changed; the bits are those of all lines made anew, which the reference does, and which
 * structures of the background's own index bring about that are as wide as the grid and begin in every step. */
#include "support_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bn_device *device;

static void open_all(void)
{
    open_context();
    device = opened_device();
}

enum { STEPS = 8, KINDS = 8, CASE_BYTES = 4096 };
static const double dz = 0.25e-6;

/* Borders on nodes, between them and across each other, parts of a cell and many cells in a step. */
static const char *const kinds[KINDS] = {
    "kind = \"taper\"\nindex = 1.6\nwidth = 1e-6\nwidth_end = 4e-6\nwidth_x = 2.3e-6\n",
    "kind = \"taper\"\nindex = 1.6\nwidth = 3e-6\nwidth_end = 2.9e-6\n",
    "kind = \"s-bend\"\nindex = 1.55\nwidth = 1e-6\nwidth_x = 1.5e-6\ncentre = 2e-6\ncentre_end = 6.5e-6\n"
    "centre_x = 3e-6\nfrom = 0.5e-6\n",
    "kind = \"y-junction\"\nindex = 1.6\nwidth = 1.2e-6\nwidth_x = 1e-6\nseparation_end = 4e-6\nabsorption = 0.01\n",
    "kind = \"y-junction\"\nindex = 1.6\nwidth = 1.2e-6\nseparation = 3e-6\nto = 1.2e-6\n",
    "kind = \"coupler\"\nindex = 1.6\nwidth = 1e-6\nseparation = 2e-6\nwidth_x = 1e-6\nfrom = 0.3e-6\nto = 1.1e-6\n",
    "kind = \"fibre\"\nindex = 1.6\nwidth = 3e-6\ncentre = 3e-6\nfrom = 0.3e-6\nto = 0.6e-6\n",
    "kind = \"graded-fibre\"\nindex = 1.7\nwidth = 2.5e-6\ncentre_x = 3e-6\nfrom = 1e-6\n",
};

/* A case with some of them; `anew`: behind structures that change nothing and have all lines made anew. */
static const char *case_text(char *text, unsigned chosen, bool anew, const char *more)
{
    size_t at = (size_t)snprintf(text, CASE_BYTES,
                                 "[case]\nsolver = \"bpm\"\n[grid]\ncells = 40\nwidth = 8e-6\ncells_x = 35\n"
                                 "width_x = 7e-6\n[material]\nindex = 1.5\n[launch]\nkind = \"gaussian\"\n"
                                 "waist = 1.5e-6\n[march]\nrecords = 2\ndz = %g\nlength = %g\n%s\n",
                                 dz, STEPS * dz, more);
    for (int step = 1; anew && step < STEPS; step++)
        at += (size_t)snprintf(text + at, CASE_BYTES - at,
                               "[[structure]]\nindex = 1.5\nwidth = 8e-6\nfrom = %g\nto = %g\n", step * dz,
                               (step + 1) * dz);
    for (int k = 0; k < KINDS; k++)
        if (chosen >> k & 1)
            at += (size_t)snprintf(text + at, CASE_BYTES - at, "[[structure]]\n%s", kinds[k]);
    ck_assert_uint_lt(at, CASE_BYTES);
    return text;
}

static void same_psi(const run *a, const run *b, const char *what)
{
    same_fields(a, b, (const char *const[]){ "psi" }, 1, what);
}

static void try_structures(unsigned chosen, const char *more, const char *const *sets)
{
    char text[CASE_BYTES], all_anew[CASE_BYTES], what[128];
    snprintf(what, sizeof what, "structures 0x%x, %s", chosen, more);
    case_text(text, chosen, false, more);
    case_text(all_anew, chosen, true, more);
    run usual = run_case(text, device, sets), anew = run_case(all_anew, device, sets);
    run reference = run_case(text, NULL, sets), plain = run_case(case_text(text, 0, false, more), NULL, sets);
    same_psi(&usual, &anew, what);
    if (strstr(more, "fft")) /* other libraries' transforms */
        ck_assert_double_lt(difference(&usual, &reference, "psi"), 1e-4);
    else
        same_psi(&usual, &reference, what);
    ck_assert_msg(difference(&usual, &plain, "psi") > 1e-4, "%s: the structures change nothing", what);
    end_run(&usual);
    end_run(&anew);
    end_run(&reference);
    end_run(&plain);
}

static const char single[] = "case.precision=single", twice[] = "case.precision=double";

TEST(lines_that_keep_their_index_keep_their_matrices)
{
    for (unsigned k = 0; k < KINDS; k++)
        try_structures(1u << k, k % 2 ? "[walls]\nkind = \"pml\"" : "",
                       (const char *const[]){ k % 3 ? single : twice, NULL });
    try_structures(0x29, "", (const char *const[]){ twice, NULL });
    try_structures(0xd6, "[walls]\nkind = \"pml\"", (const char *const[]){ single, NULL });
    try_structures(0xff, "", (const char *const[]){ single, NULL });
}

TEST(rows_that_keep_their_index_keep_their_phases)
{
    static const char by_transforms[] = "[solver]\nmethod = \"fft\"";
    const char *const sets[] = { single, "grid.cells=41", "grid.cells_x=36", NULL };
    for (unsigned k = 0; k < KINDS; k++)
        try_structures(1u << k, by_transforms, sets);
    try_structures(0xff, by_transforms, sets);
}

/* The search goes through sections of one and the same profile, of which the last has other weights than the first
 * section of the march; then a section begins in every step. */
TEST(after_the_search_for_a_mode_all_lines_are_made)
{
    char text[CASE_BYTES];
    case_text(text, 0x1, false, "");
    const char *const sets[] = {
        twice, "launch.kind=mode", "structure.1.width_x=3e-6", "structure.1.width=3e-6", "structure.1.width_end=5e-6",
        NULL
    };
    run here = run_case(text, device, sets), reference = run_case(text, NULL, sets);
    same_psi(&here, &reference, "a mode");
    ck_assert_double_gt(result(&here, "n_eff"), 1.5);
    end_run(&here);
    end_run(&reference);
}

/* Carries of the longer wave reach farther; the beam beside it would do with less. */
TEST(in_a_plane_a_beam_is_that_beam_alone_in_all_sections)
{
    static const char taper[] = "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 201\nwidth = 20e-6\n"
                                "[material]\nindex = 1.5\n[[structure]]\nkind = \"taper\"\nindex = 1.6\nwidth = 2e-6\n"
                                "width_end = 6e-6\n[launch]\nkind = \"gaussian\"\nwaist = 3e-6\n"
                                "[march]\ndz = 0.5e-6\nlength = 50e-6\nrecords = 3\n[solver]\nchunk = 5\n";
    run both = RUN(taper, device, "batch.count=2", "batch.wavelength=[4e-6,0.4e-6]"),
        alone = RUN(taper, device, "light.wavelength=4e-6");
    size_t count;
    double *two = field(&both, "psi", NULL), *one = field(&alone, "psi", &count);
    ck_assert_uint_eq(count, 400);
    ck_assert_int_eq(memcmp(two, one, count * sizeof *one), 0);
    free(one);
    free(two);
    end_run(&both);
    end_run(&alone);
}

int main(void) { return bn_test_main("bpm_sections", open_all, close_context); }
