/* test_bpm_windows.c: lines of a beam in space that have more chunks than a work-group of a GPU has work-items and go
 * by in windows: the bits of the reference, which knows none, for carries that reach over few chunks or many, over more
 * than windows have. The kernels are those of GPUs. */
#include "support_case.h"

#include <math.h>
#include <stdlib.h>

static bn_device *device;

static void open_all(void)
{
    ck_assert_int_eq(setenv("BINNACLE_DEVICE_TYPE", "gpu", 1), 0);
    open_context();
    device = opened_device();
}

/* 300 chunks of 2 nodes along x, with a window's end near the middle of the beam. */
static const char wide[] =
    "[case]\nsolver = \"bpm\"\n[grid]\ncells = 12\nwidth = 0.6e-6\ncells_x = 600\nwidth_x = 30e-6\n"
    "[launch]\nkind = \"gaussian\"\nwaist = 20e-6\ncentre_x = 20e-6\n[walls]\nkind = \"pml\"\n"
    "thickness = 0.1e-6\n[march]\nrecords = 3\ndz = 0.02e-6\nlength = 0.24e-6\n"
    "[solver]\nchunk = 2\n";

static void same_as_reference(const char *const *sets)
{
    run a = run_case(wide, device, sets), b = run_case(wide, NULL, sets);
    size_t columns, records, others;
    const bn_column *x = table(&a, "along_z", &columns, &records), *y = table(&b, "along_z", NULL, &others);
    same_fields(&a, &b, (const char *const[]){ "psi" }, 1, sets[0]);
    ck_assert_uint_eq(records, others);
    for (size_t i = 0; i < columns; i++)
        for (size_t k = 0; k < records; k++)
            ck_assert_msg(x[i].values[k] == y[i].values[k] || isnan(x[i].values[k]), "%s: %s of record %zu", sets[0],
                          x[i].name, k);
    end_run(&a);
    end_run(&b);
}

TEST(windows_have_the_bits_of_whole_lines)
{
    /* Steps of 0.02, 0.5 and 20 um carry values over 14, 77 and 490 nodes in single precision: windows store 236, 92
     * and none of their 256 chunks, and then lines go by in global memory. Lines along y are stored both ways where a
     * record ends. */
    static const char *const sets[][9] = {
        { "march.dz=0.02e-6", "case.precision=single" },
        { "march.dz=0.02e-6", "case.precision=double", "walls.kind=metal" },
        { "march.dz=0.5e-6", "case.precision=single", "march.length=6e-6" },
        { "march.dz=20e-6", "case.precision=single", "march.length=120e-6" },
        { "march.dz=0.02e-6", "case.precision=single", "grid.cells=600", "grid.width=30e-6", "grid.cells_x=12",
          "grid.width_x=0.6e-6", "launch.centre=20e-6", "march.records=4" },
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        same_as_reference(sets[i]);
}

int main(void) { return bn_test_main("bpm_windows", open_all, close_context); }
