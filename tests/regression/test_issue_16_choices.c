/* test_issue_16_choices.c: keys of a kind that was not chosen are refused, in every solver; overrides choose against
 * the file; the resolved case and the starter case hold none of them; a picture agrees with the cells that the case
 * gives. */
#include "support_case.h"

#include "binnacle/binnacle.h"
#include "case/schema.h"
#include "io/png_file.h"
#include "sim/solver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bn_status parse(const char *text, const char *override, bn_case **out)
{
    const char *overrides[] = { override };
    bn_error_clear(ctx);
    return bn_case_parse(ctx, "test.toml", text, overrides, override != NULL, out);
}

/* Refused, and the message says so in these words. */
static void refused(const char *text, const char *override, const char *words)
{
    bn_case *c = NULL;
    ck_assert_msg(parse(text, override, &c) == BN_CASE, "accepted:\n%s%s", text, override ? override : "");
    ck_assert_msg(strstr(bn_error_text(ctx), words), "`%s` is not in:\n%s", words, bn_error_text(ctx));
}

#define BPM "[case]\nsolver = \"bpm\"\n"

TEST(the_message_names_key_kind_and_choice)
{
    refused(BPM "[launch]\nkind = \"file\"\nwaist = 3e-6\n", NULL,
            "test.toml:5:9: [launch] waist = 3e-6: belongs to kind = \"gaussian\", and the case has kind = \"file\" "
            "(line 4)");
    refused(BPM "[launch]\ntilt = 0.1\n", NULL,
            "belongs to kind = \"gaussian\" or \"plane\", and the case has kind = \"mode\" (the default)");
    refused(BPM "[solver]\nmethod = \"fft\"\n", "solver.chunk=7",
            "--set solver.chunk=7: [solver] chunk: belongs to method = \"direct\"");
    /* In a list the item's own kind decides. */
    refused(BPM "[[structure]]\nkind = \"taper\"\nwidth_end = 1e-6\n[[structure]]\nwidth_end = 1e-6\n", NULL,
            "[[structure]] number 2, width_end = 1e-6: belongs to kind = \"taper\", and the case has kind = \"slab\"");
    /* Either of two keys, of which one belongs to a choice itself. */
    refused("[case]\nsolver = \"flow\"\n[boundary.left]\ntemperature = 3\n", NULL,
            "belongs to kind = \"inflow\" or \"velocity\" or heat = \"given\", and the case has kind = \"wall\" (the "
            "default), heat = \"insulated\" (the default)");
    refused("[case]\nsolver = \"flow\"\n[boundary.left]\nkind = \"outflow\"\nheat = \"given\"\ntemperature = 3\n", NULL,
            "6:15: [boundary.left] temperature = 3");
    refused("[case]\nsolver = \"xray\"\n[density]\nkind = \"file\"\nradius = 1e-8\nstart = 0\n", NULL,
            "[density] start = 0: belongs to kind other than \"file\" or \"series\"");
    /* A choice that is none is told alone. */
    refused(BPM "[launch]\nkind = \"flie\"\nwaist = 3e-6\n", NULL, "\n1 error; nothing was run.");
}

TEST(an_override_chooses_against_the_file)
{
    bn_case *c = NULL;
    static const char text[] = BPM "[launch]\nkind = \"gaussian\"\nwaist = 3e-6\n";
    OK(parse(text, "launch.kind=plane", &c));
    ck_assert(!bn_case_given(c, "launch.waist") && bn_case_real(c, "launch.waist") == 2e-6);
    bn_case_destroy(&c);
    OK(parse(text, "launch.kind=gaussian", &c));
    ck_assert(bn_case_given(c, "launch.waist") && bn_case_real(c, "launch.waist") == 3e-6);
    bn_case_destroy(&c);
}

/* The resolved case is a case with the same text. */
static void reads_back(const bn_case *c, const char *what)
{
    char *text = NULL, *again = NULL;
    bn_case *second = NULL;
    OK(bn_case_resolved(c, &text));
    ck_assert_msg(parse(text, NULL, &second) == BN_OK, "%s: %s", what, bn_error_text(ctx));
    OK(bn_case_resolved(second, &again));
    ck_assert_str_eq(text, again);
    free(text);
    free(again);
    bn_case_destroy(&second);
}

static const bn_key *find_in(const char *solver) { return bn_solver_find(solver)->schema; }

TEST(starter_and_resolved_cases_are_cases)
{
    const bn_schema_source source = { find_in, bn_solver_names() };
    for (const char *const *name = bn_solver_names(); *name; name++) {
        char *starter = NULL;
        bn_case *c = NULL;
        OK(bn_case_every_key(ctx, *name, &source, &starter));
        OK(parse(starter, NULL, &c));
        reads_back(c, *name);
        bn_case_destroy(&c);
        for (const bn_key *k = find_in(*name); k->name; k++)
            for (const char *choice = k->type == BN_KEY_CHOICE && !k->list ? k->choices : NULL; choice;) {
                char set[128];
                const size_t bytes = strcspn(choice, "|");
                snprintf(set, sizeof set, "%s=%.*s", k->name, (int)bytes, choice);
                if (parse(starter, set, &c) == BN_OK)
                    reads_back(c, set);
                else
                    ck_assert_msg(k->only != NULL, "%s: %s", set, bn_error_text(ctx));
                bn_case_destroy(&c);
                choice = choice[bytes] ? choice + bytes + 1 : NULL;
            }
        free(starter);
    }
}

TEST(keys_that_the_starter_case_hides_are_refused)
{
    const bn_schema_source source = { find_in, bn_solver_names() };
    size_t hidden = 0;
    for (const char *const *name = bn_solver_names(); *name; name++) {
        char *starter = NULL;
        OK(bn_case_every_key(ctx, *name, &source, &starter));
        for (const bn_key *k = find_in(*name); k->name; k++) {
            bn_case *c = NULL;
            char set[128];
            if (!k->only || k->list || k->count > 1)
                continue;
            OK(parse(starter, NULL, &c));
            const bool shown = bn_case_given(c, k->name);
            bn_case_destroy(&c);
            if (shown)
                continue;
            if (k->type == BN_KEY_TEXT || k->type == BN_KEY_CHOICE)
                snprintf(set, sizeof set, "%s=\"%s\"", k->name, k->def_text);
            else
                snprintf(set, sizeof set, "%s=%.17g", k->name, k->def);
            refused(starter, set, "belongs to ");
            hidden++;
        }
        free(starter);
    }
    ck_assert_msg(hidden >= 40, "%zu keys", hidden);
}

TEST(a_picture_agrees_with_the_cells_of_the_case)
{
    char text[8192];
    const char *path = in_folder("mask.png");
    uint32_t pixels[6 * 4];
    for (size_t i = 0; i < 24; i++)
        pixels[i] = (uint32_t)(i * 10) * 0x010101u;
    OK(bn_png_write(ctx, path,
                    &(bn_png_pixels){ .width = 6, .height = 4, .stride = 24, .data = (const unsigned char *)pixels },
                    "", NULL));
    static const struct {
        const char *cells;
        bool good;
    } rows[] = {
        { "", true }, { "cells = [5, 6, 4]", true }, { "cells = [5, 7, 4]", false }, { "cells = [5, 6, 5]", false }
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bn_case *c = NULL;
        bn_sim *sim = NULL;
        snprintf(text, sizeof text,
                 "[case]\nsolver = \"xray\"\n[density]\nkind = \"file\"\nfile = \"%s\"\n%s\nvalue = 0.1\n"
                 "[source]\nphotons = 100\n[detector]\ncells = [16, 16]\n",
                 path, rows[i].cells);
        OK(parse(text, NULL, &c));
        const bn_status st = bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &sim);
        ck_assert_msg((st == BN_OK) == rows[i].good, "%s: status %d: %s", rows[i].cells, (int)st, bn_error_text(ctx));
        ck_assert(rows[i].good || (st == BN_CASE && strstr(bn_error_text(ctx), "6 x 4 pixels")));
        bn_sim_destroy(&sim);
        if (rows[i].good) { /* so does its resolved case, which has the cells only where they were given */
            char *resolved = NULL;
            OK(bn_case_resolved(c, &resolved));
            bn_case_destroy(&c);
            OK(parse(resolved, NULL, &c));
            ck_assert(bn_case_given(c, "density.cells") == (rows[i].cells[0] != 0));
            OK(bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &sim));
            bn_sim_destroy(&sim);
            free(resolved);
        }
        bn_case_destroy(&c);
    }
}

int main(void) { return bn_test_main("issue_16_choices", open_folder, close_folder); }
