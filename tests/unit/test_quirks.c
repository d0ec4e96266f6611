/* test_quirks.c: what devices that are not here would be given, from what they say of themselves. */
#include "support.h"

#include "api/device.h"
#include "device/opencl.h"

#include <stdlib.h>
#include <unistd.h>

static bn_device_info device(const char *platform, const char *version, const char *extensions)
{
    return (bn_device_info){ .platform = platform, .version = version, .extensions = extensions };
}

TEST(gpus_with_sub_groups_of_16_at_least_are_told_to_take_16)
{
    const char *extensions = "cl_khr_fp64 cl_intel_required_subgroup_size cl_intel_subgroups";
    const bn_device_info info = device("Intel(R) OpenCL Graphics", "OpenCL 3.0 NEO", extensions);
    ck_assert_int_eq(bn_quirks_find(&info, 16).sub_group, 16);
    ck_assert_int_eq(bn_quirks_find(&info, 8).sub_group, 0);
    ck_assert_int_eq(bn_quirks_find(&info, 0).sub_group, 0);
    const bn_device_info other = device("AMD Accelerated Parallel Processing", "OpenCL 2.0", "cl_khr_fp64");
    ck_assert_int_eq(bn_quirks_find(&other, 16).sub_group, 0);
}

TEST(caches_are_ours_where_the_driver_has_none)
{
    const bn_device_info amd = device("AMD Accelerated Parallel Processing", "OpenCL 2.0 AMD-APP", "cl_khr_fp64");
    const bn_device_info intel = device("Intel(R) OpenCL Graphics", "OpenCL 3.0 NEO", "");
    const bn_device_info nvidia = device("NVIDIA CUDA", "OpenCL 3.0 CUDA", "cl_nv_compiler_options");
    ck_assert_int_eq(bn_quirks_find(&amd, 0).cache, BN_CACHE_OURS);
    ck_assert_int_eq(bn_quirks_find(&intel, 8).cache, BN_CACHE_OURS);
    ck_assert_int_eq(bn_quirks_find(&nvidia, 0).cache, BN_CACHE_PLATFORM);
    const bn_device_info pocl = device("Portable Computing Language", "OpenCL 3.0 PoCL", "");
    ck_assert_int_eq(bn_quirks_find(&pocl, 0).cache, BN_CACHE_FOLDER);
    ck_assert(bn_quirks_find(&nvidia, 0).register_option);
    ck_assert(!bn_quirks_find(&amd, 0).register_option);
}

TEST(what_is_too_old_is_not_offered)
{
    const bn_device_info old = device("Some Platform", "OpenCL 1.1 of 2011", ""),
                         new = device("It", "OpenCL 1.2", NULL);
    ck_assert(bn_quirks_find(&old, 0).excluded);
    ck_assert_str_ne(bn_quirks_find(&old, 0).why_excluded, "");
    ck_assert(!bn_quirks_find(&new, 0).excluded);
}

TEST(launches_are_short_where_loops_end_early)
{
    bn_device_info mesa = device("rusticl", "OpenCL 3.0", "");
    mesa.name = "llvmpipe (LLVM 15.0.6, 256 bits)";
    ck_assert_double_eq(bn_quirks_find(&mesa, 0).loop_limit, 65535);
    mesa.name = "AMD Radeon RX 6800";
    ck_assert_double_eq(bn_quirks_find(&mesa, 0).loop_limit, 0);
}

TEST(local_memory_that_is_counted_twice_is_halved)
{
    bn_device_info mesa = device("rusticl", "OpenCL 3.0", "");
    mesa.driver = "22.3.6";
    ck_assert(bn_quirks_find(&mesa, 0).local_counted_twice);
    mesa.driver = "25.0.7-2+deb13u1";
    ck_assert(!bn_quirks_find(&mesa, 0).local_counted_twice);
    const bn_device_info other = device("Some Platform", "OpenCL 1.2", NULL);
    ck_assert(!bn_quirks_find(&other, 0).local_counted_twice);
}

TEST(kernels_are_told_what_compilers_of_cpus_do)
{
    bn_device_info mesa = device("rusticl", "OpenCL 3.0", ""), intel = device("Intel(R) OpenCL", "OpenCL 3.0", "");
    const bn_device_info oclgrind = device("Oclgrind", "OpenCL 1.2 (Oclgrind 21.10)", "");
    mesa.name = "llvmpipe (LLVM 19.1.7, 256 bits)";
    intel.cpu = true;
    ck_assert_str_eq(bn_quirks_find(&mesa, 0).option, "-DCALLS_LOSE_ARGUMENTS");
    ck_assert(bn_quirks_find(&mesa, 0).minutes_over_vectors);
    ck_assert_str_eq(bn_quirks_find(&intel, 4).option, "-DLOOPS_LOSE_ORDER");
    ck_assert_str_eq(bn_quirks_find(&oclgrind, 0).option, "-fno-inline");
    const bn_device_info pocl = device("Portable Computing Language", "OpenCL 3.0 PoCL HSTR", "");
    ck_assert_str_eq(bn_quirks_find(&pocl, 0).option, "-w");
    ck_assert_ptr_null(bn_quirks_find(&pocl, 0).variable);
    bn_device_info newer = pocl;
    newer.driver = "6.0+debian";
    ck_assert_str_eq(bn_quirks_find(&newer, 0).variable, "POCL_WORK_GROUP_METHOD");
    ck_assert_str_eq(bn_quirks_find(&newer, 0).value, "loopvec");
    newer.driver = "3.1+debian";
    ck_assert_ptr_null(bn_quirks_find(&newer, 0).variable);
    mesa.name = "AMD Radeon RX 6800";
    intel = device("Intel(R) OpenCL Graphics", "OpenCL 3.0 NEO", "");
    ck_assert_ptr_null(bn_quirks_find(&mesa, 0).option);
    ck_assert_ptr_null(bn_quirks_find(&intel, 8).option);
}

/* What PoCL is asked for by its variables, before and since version 6; "" where it is not asked. */
static const char *threads_for(double wanted)
{
    bn_devices_enough_threads(wanted);
    const char *older = getenv("POCL_MAX_PTHREAD_COUNT"), *newer = getenv("POCL_CPU_MAX_CU_COUNT");
    ck_assert_str_eq(older ? older : "", newer ? newer : "");
    return older ? older : "";
}

static void forget_threads(void)
{
    ck_assert_int_eq(unsetenv("POCL_MAX_PTHREAD_COUNT"), 0);
    ck_assert_int_eq(unsetenv("POCL_CPU_MAX_CU_COUNT"), 0);
}

TEST(small_runs_take_few_threads_of_a_cpu)
{
    const bool several = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    forget_threads();
    ck_assert_uint_eq(bn_quirks_processors(), 0);
    ck_assert_str_eq(threads_for(0.7), several ? "1" : "");
    ck_assert_uint_eq(bn_quirks_processors(), several ? (unsigned)sysconf(_SC_NPROCESSORS_ONLN) : 0);
    forget_threads();
    ck_assert_str_eq(threads_for(1e9), "");
    ck_assert_int_eq(setenv("BINNACLE_PARTITION", "2", 1), 0);
    ck_assert_str_eq(threads_for(0.7), "");
    ck_assert_int_eq(unsetenv("BINNACLE_PARTITION"), 0);
    ck_assert_int_eq(setenv("POCL_MAX_PTHREAD_COUNT", "7", 1), 0); /* the user's own */
    ck_assert_int_eq(setenv("POCL_CPU_MAX_CU_COUNT", "7", 1), 0);
    ck_assert_str_eq(threads_for(0.7), "7");
    forget_threads();
}

int main(void) { return bn_test_main("quirks", NULL, NULL); }
