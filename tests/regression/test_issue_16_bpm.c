/* test_issue_16_bpm.c: what `bpm` launches, calls its results, and gives away in fields. */
#include "support_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double pi = 3.14159265358979323846;

/* The field before and after all steps, real and imaginary part in turn, to be freed. */
static double *envelope(run *r, size_t *points)
{
    const bn_sim_field_info *info = NULL;
    for (size_t i = 0; i < bn_sim_field_count(r->sim); i++)
        if (strcmp(bn_sim_field_at(r->sim, i)->name, "envelope") == 0)
            info = bn_sim_field_at(r->sim, i);
    ck_assert_msg(info && info->output, "the field itself is not among the fields that are written");
    *points = (size_t)info->n[0] * info->n[1];
    double *values = malloc(2 * *points * sizeof *values);
    ck_assert_ptr_nonnull(values);
    OK(bn_sim_read(r->sim, "envelope", values, 2 * *points * sizeof *values));
    return values;
}

static const char plane[] =
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 120\nwidth = 12e-6\n[light]\nwavelength = 1e-6\n"
    "[material]\nindex = 1.5\n[[structure]]\nindex = 2.5\ncentre = 5e-6\nwidth = 1e-6\n[march]\nlength = 1e-13\n"
    "dz = 1e-13\n[output]\nmap = false\n";

TEST(a_table_reaches_nodes_that_its_ends_were_rounded_past)
{
    /* Nodes are at multiples of 0.1 um; in the file the first one is a little above, the last a little below. */
    char launch[256];
    snprintf(launch, sizeof launch, "launch.file=\"%s\"",
             text_file("launch.csv", "y,re,im\n3.00001e-6,2,1\n5e-6,3,1\n6.99999e-6,4,-1\n"));
    run r = RUN(plane, NULL, launch, "launch.kind=file", "material.reference_index=1.5");
    size_t points;
    double *e = envelope(&r, &points);
    near(e[2 * 29], 2, 1e-4, "the first row's real part, at 3 um");
    near(e[2 * 29 + 1], 1, 1e-4, "its imaginary part");
    near(e[2 * 69], 4, 1e-4, "the last row's, at 7 um");
    near(e[2 * 28], 0, 1e-4, "nothing a node further out");
    near(e[2 * 70], 0, 1e-4, "nothing on the other side");
    free(e);
    end_run(&r);
}

TEST(fields_are_not_divided_by_a_scaling)
{
    /* What was launched, after a step of no length: across the guide in TM, and within the absorbing layers. */
    static const char *const kinds[] = { "light.polarisation=te", "light.polarisation=tm" };
    for (int k = 0; k < 2; k++) {
        run r = RUN(plane, NULL, kinds[k], "launch.kind=gaussian", "launch.waist=4e-6", "walls.kind=pml",
                    "walls.thickness=2e-6");
        size_t points;
        double *e = envelope(&r, &points);
        for (size_t i = 0; i < points; i++)
            near(e[2 * i], exp(-pow(((double)(i + 1) * 0.1 - 6) / 4, 2)), 1e-4, kinds[k]);
        free(e);
        end_run(&r);
    }
    run r = RUN(plane, NULL, "grid.cells_x=60", "grid.width_x=12e-6", "launch.kind=gaussian", "launch.waist=4e-6",
                "walls.kind=pml", "walls.thickness=2e-6");
    size_t points;
    double *e = envelope(&r, &points);
    for (size_t i = 0; i < points; i++)
        near(e[2 * i],
             exp(-pow(((double)(i % 59 + 1) * 0.2 - 6) / 4, 2) - pow(((double)(i / 59 + 1) * 0.1 - 6) / 4, 2)), 1e-4,
             "in space");
    near(result(&r, "peak"), 1, 1e-4, "intensity at the launch's centre");
    free(e);
    end_run(&r);
}

TEST(n_eff_is_the_effective_index)
{
    /* TE 0 of the guide: k0 d sqrt(n_1^2 - n^2) = 2 atan(sqrt((n^2 - n_2^2) / (n_1^2 - n^2))), by bisection. */
    double low = 1.5, high = 2.5;
    for (int i = 0; i < 60; i++) {
        const double n = 0.5 * (low + high), inside = sqrt(6.25 - n * n), outside = sqrt(n * n - 2.25);
        if (2 * pi * inside > 2 * atan(outside / inside))
            low = n;
        else
            high = n;
    }
    run r = RUN(plane, NULL, "grid.cells=1200", "march.length=1e-6", "march.dz=1e-9", "material.reference_index=2.4");
    near(result(&r, "n_eff"), low, 1e-4, "the transcendental equation");
    near(result(&r, "marched_index"), (low * low + 2.4 * 2.4) / 4.8, 1e-4, "paraxial steps");
    end_run(&r);
}

TEST(a_tilt_is_in_the_background)
{
    /* Whatever the reference index is, and in a plane as in space: exp(-i k n sin(tilt) y). */
    static const char *const references[] = { "material.reference_index=0", "material.reference_index=2" };
    static const char *const spaces[] = { "grid.cells_x=0", "grid.cells_x=8" };
    for (int k = 0; k < 4; k++) {
        run r = RUN(plane, NULL, "launch.kind=plane", "launch.tilt=0.2", references[k % 2], spaces[k / 2]);
        size_t points;
        double *e = envelope(&r, &points);
        const size_t next = k / 2 ? 7 : 1; /* the next node along y */
        for (size_t i = 20; i < 40; i++) {
            const double *a = e + 2 * i * next, *b = a + 2 * next;
            near(atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]), -2 * pi * 1.5 * sin(0.2) * 0.1, 1e-4,
                 spaces[k / 2]);
        }
        free(e);
        end_run(&r);
    }
}

TEST(layers_must_leave_room_along_x)
{
    rejected_case("[case]\nsolver = \"bpm\"\n[grid]\ncells = 100\ncells_x = 20\nwidth_x = 2e-6\n[launch]\n"
                  "kind = \"gaussian\"\n[walls]\nkind = \"pml\"\n",
                  BN_CASE, "leave nothing of the 2e-06 m");
}

int main(void) { return bn_test_main("issue 16, bpm", open_folder, close_folder); }
