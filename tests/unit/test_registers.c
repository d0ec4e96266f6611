/* test_registers.c: registers in what a compiler says, and the occupancy that follows from them. */
#include "support.h"

#include "cli/bench_registers.c"

static const char said[] = "ptxas info    : 0 bytes gmem\n"
                           "ptxas info    : Compiling entry function 'flood_step_all' for 'sm_90'\n"
                           "ptxas info    : Function properties for flood_step_all\n"
                           "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                           "ptxas info    : Used 64 registers, used 1 barriers, 2048 bytes smem, 400 bytes cmem[0]\n"
                           "ptxas info    : Compiling entry function 'flood_step' for 'sm_90'\n"
                           "ptxas info    : Used 40 registers, 372 bytes cmem[0]\n"
                           "ptxas info    : Compiling entry function 'flood_wet' for 'sm_90'\n";

TEST(registers_are_read)
{
    unsigned registers = 0, architecture = 0;
    ck_assert(bn_bench_registers(said, "flood_step", &registers, &architecture));
    ck_assert_uint_eq(registers, 40);
    ck_assert_uint_eq(architecture, 90);
    ck_assert(bn_bench_registers(said, "flood_step_all", &registers, &architecture));
    ck_assert_uint_eq(registers, 64);
    ck_assert_msg(!bn_bench_registers(said, "flood_wet", &registers, &architecture), "its registers are not told");
    ck_assert(!bn_bench_registers("", "flood_step", &registers, &architecture));
}

/* Bader and Meier, table 4.2 (groups of 256 on a GTX TITAN Black, 3.5): 75 % with 40 registers, all with 32 or less.
 * By hand on 9.0: 65,536 / (8 warps of 64 * 32) = 4 groups of 256, half of 64 warps; 228 KiB hold 4 groups of 50 KiB
 * and the 1 KiB that each takes. */
TEST(occupancies_follow)
{
    ck_assert_double_eq_tol(bn_bench_occupancy(35, 40, 256, 0), 75, 1e-12);
    ck_assert_double_eq_tol(bn_bench_occupancy(35, 32, 256, 0), 100, 1e-12);
    ck_assert_double_eq_tol(bn_bench_occupancy(35, 14, 256, 0), 100, 1e-12);
    ck_assert_double_eq_tol(bn_bench_occupancy(90, 64, 256, 0), 50, 1e-12);
    ck_assert_double_eq_tol(bn_bench_occupancy(90, 24, 256, 51200), 50, 1e-12);
    ck_assert(isnan(bn_bench_occupancy(0, 40, 256, 0)));
}

int main(void) { return bn_test_main("registers", NULL, NULL); }
