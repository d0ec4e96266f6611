/* quirks.c: what implementations of OpenCL do differently, one row each: test, remedy, reason, source, date. No
 * vendor's name stands anywhere else in the program. */
#include "device/quirks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a row may look at. */
typedef struct bn_quirk_facts {
    const char *extensions; /* words with a space between them */
    const char *name, *driver;
    size_t least_sub_group; /* 0: the device does not say */
    bool cpu;
} bn_quirk_facts;

typedef struct bn_quirk {
    const char *platform;                    /* part of CL_PLATFORM_NAME */
    const char *version;                     /* beginning of CL_DEVICE_VERSION; NULL: any */
    bool (*applies)(const bn_quirk_facts *); /* NULL: always */
    void (*remedy)(bn_quirks *);
    const char *reason, *source, *date;
} bn_quirk;

static void platform_cache(bn_quirks *q) { q->cache = BN_CACHE_PLATFORM; }
static void folder_cache(bn_quirks *q) { q->cache = BN_CACHE_FOLDER; }
static void wakes_all_threads(bn_quirks *q) { q->wakes_all_threads = true; }
static void one_thread(bn_quirks *q) { q->single_threaded = true; }
static void gpu_kernels(bn_quirks *q) { q->runs_gpu_kernels = true; }
static void runs_alone(bn_quirks *q) { q->runs_alone = true; }
static void parallel_builds(bn_quirks *q) { q->parallel_builds = true; }
static void registers(bn_quirks *q) { q->register_option = true; }
static void sub_groups_of_16(bn_quirks *q) { q->sub_group = 16; }
static void groups_meet(bn_quirks *q) { q->side_by_side = true; }
static void loops_of_65535(bn_quirks *q) { q->loop_limit = 65535; }
static void no_wide_vectors(bn_quirks *q) { q->minutes_over_vectors = true; }
static void local_twice(bn_quirks *q) { q->local_counted_twice = true; }

static void loops_in_order(bn_quirks *q) { q->option = "-DLOOPS_LOSE_ORDER"; }
static void no_calls(bn_quirks *q) { q->option = "-DCALLS_LOSE_ARGUMENTS"; }
static void no_inlining(bn_quirks *q) { q->option = "-fno-inline"; }
static void no_warnings(bn_quirks *q) { q->option = "-w"; }
static void loops_of_items(bn_quirks *q) { q->variable = "POCL_WORK_GROUP_METHOD", q->value = "loopvec"; }

static void exclude_old(bn_quirks *q)
{
    q->excluded = true;
    q->why_excluded = "it offers OpenCL 1.1 only";
}

static bool has_compiler_options(const bn_quirk_facts *f)
{
    return strstr(f->extensions, "cl_nv_compiler_options") != NULL;
}

static bool is_llvmpipe(const bn_quirk_facts *f) { return strncmp(f->name, "llvmpipe", strlen("llvmpipe")) == 0; }

static bool is_4_or_newer(const bn_quirk_facts *f) { return strtol(f->driver, NULL, 10) >= 4; }

static bool is_older_than_6(const bn_quirk_facts *f) { return strtol(f->driver, NULL, 10) < 6; }

static bool is_of_2022(const bn_quirk_facts *f) { return strtol(f->driver, NULL, 10) == 22; }

static bool is_cpu(const bn_quirk_facts *f) { return f->cpu; }

/* Where 8 can be had the compiler chooses by itself, and well. */
static bool has_wide_sub_groups(const bn_quirk_facts *f)
{
    return f->least_sub_group == 16 && strstr(f->extensions, "cl_intel_required_subgroup_size") != NULL;
}

static const bn_quirk rows[] = {
    { "Portable Computing Language", NULL, NULL, folder_cache,
      "its own cache serves work-group sizes too, in a folder that only one process may fill; fetching a binary costs "
      "a second compile",
      "measured: 3.25 s against 0.03 s", "2025-11" },
    { "Portable Computing Language", NULL, NULL, wakes_all_threads,
      "it wakes all its threads for every launch, which costs small grids more than the threads bring",
      "measured: PoCL 5.0, 16 cores (docs/measurements.md)", "2026-11" },
    { "Portable Computing Language", NULL, NULL, no_warnings,
      "it tells the program's user how many warnings there were, and on processors without AVX-512 each of its own "
      "functions of sixteen numbers is one: it changes the ABI",
      "seen in 3.1: 68 warnings generated, of maxwell_rows.cl", "2026-11" },
    { "Portable Computing Language", NULL, is_4_or_newer, loops_of_items,
      "its other way to make a work-group of work-items, which it takes by itself for some kernels, crashes or leaves "
      "a loop without an end",
      "seen in 6.0 on a processor without AVX-512: cg_step", "2026-11" },
    { "Portable Computing Language", NULL, is_older_than_6, runs_alone,
      "it has a kernel several times, by the size of the grid and for launches that begin at zero, and counts the end "
      "of one of them for another if both run: then it ends the process (pocl_release_dlhandle_cache)",
      "seen in 3.1, in 1 to 6 of 100 runs on four parts of a CPU; in 5.0 in all of three solvers; not in 6.0",
      "2026-11" },
    { "NVIDIA", NULL, NULL, platform_cache, "the driver keeps compiled kernels itself", "CUDA_CACHE_PATH, documented",
      "2026-11" },
    { "NVIDIA", NULL, NULL, groups_meet,
      "work-groups stay on their compute unit until they end, one after the other "
      "starts while there is room: those that fit may wait for each other; a launch proves it before it counts",
      "cooperative launches of CUDA rest on the same", "2026-11" },
    { "NVIDIA", NULL, NULL, parallel_builds, "its compiler works for several threads at once",
      "measured: eight programs in 2.3 s one after the other 3.4, six in 2.1 s, 3.9", "2026-11" },
    { "", NULL, has_compiler_options, registers, "a program may limit the registers of a work-item",
      "cl_nv_compiler_options", "2026-11" },
    { "", NULL, has_wide_sub_groups, sub_groups_of_16,
      "with 32 work-items a thread the compiler spills up to 470 registers, with 16 at most 30 (docs/devices.md)",
      "measured: make vendors, ocloc 22.43 for pvc", "2026-11" },
    { "Oclgrind", NULL, NULL, one_thread, "the simulator asserts when two threads call it", "jrprice/Oclgrind issue 28",
      "2026-11" },
    { "Oclgrind", NULL, NULL, gpu_kernels, "it watches for races: those that work-groups of many work-items could have",
      "Oclgrind's documentation: a simulator of devices", "2026-11" },
    { "Oclgrind", NULL, NULL, no_inlining,
      "it can't run LLVM's llvm.experimental.noalias.scope.decl, which stands where a function of a loop is inlined",
      "seen in 21.10: CL_INVALID_KERNEL_NAME of maxwell_E_rows, maxwell_E_watched", "2026-11" },
    { "rusticl", NULL, is_llvmpipe, loops_of_65535,
      "all loops of a work-item end, without an error, after so many iterations together",
      "Mesa 22.3, lp_bld_limits.h: LP_MAX_TGSI_LOOP_ITERATIONS; seen there, not in 25.0", "2026-11" },
    { "rusticl", NULL, is_llvmpipe, no_wide_vectors,
      "its compiler takes 3 to 15 minutes over the transforms of flow in vectors of 16 numbers, 15 s over those for "
      "GPUs",
      "measured: flow/selftest-split, Mesa 22.3", "2026-11" },
    { "rusticl", NULL, is_of_2022, local_twice, "it counts the local memory of a kernel twice, and takes it once",
      "seen in Mesa 22.3, not in 25.0: 8192 bytes for local float x[1024]", "2026-11" },
    { "rusticl", NULL, is_llvmpipe, no_calls,
      "a function that is called, not inlined, gets other arguments than it was given, and reads nowhere",
      "seen in Mesa 25.0: bed in limited_slopes of kernels/flood.cl", "2026-11" },
    { "Intel(R) OpenCL", NULL, is_cpu, loops_in_order,
      "a sum in a loop becomes eight partial sums where work-items are too few for vectors",
      "seen in its assembly of flow_newton_walls, 2026.2", "2026-11" },
    { "Clover", NULL, NULL, exclude_old, "superseded by rusticl", "Mesa's documentation", "2025-11" },
    { "", "OpenCL 1.0", NULL, exclude_old, "clEnqueueFillBuffer and more need 1.2", "OpenCL 1.2 specification",
      "2026-11" },
    { "", "OpenCL 1.1", NULL, exclude_old, "clEnqueueFillBuffer and more need 1.2", "OpenCL 1.2 specification",
      "2026-11" },
};

bn_quirks bn_quirks_find(const bn_device_info *info, size_t least_sub_group)
{
    const bn_quirk_facts facts = { info->extensions ? info->extensions : "", info->name ? info->name : "",
                                   info->driver ? info->driver : "", least_sub_group, info->cpu };
    /* Measured on an H200: 128 work-items are as good as 256 where all do the same, and a quarter faster where some end
     * sooner than others (photons). */
    bn_quirks q = { .cache = BN_CACHE_OURS, .preferred_work_group = info->cpu ? 256 : 128 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(info->platform, rows[i].platform) && (!rows[i].applies || rows[i].applies(&facts)) &&
            (!rows[i].version || strncmp(info->version, rows[i].version, strlen(rows[i].version)) == 0))
            rows[i].remedy(&q);
    return q;
}

/* With one hardware queue instead of eight NVIDIA's driver makes a context in 0.07 s instead of 0.13 and ends it in
 * 0.03 instead of 0.06, for one process after the other. Measured on an H200, driver 580, 2026-11. It reads
 * the variable (CUDA C++ Programming Guide) when it is loaded. */
void bn_devices_one_queue(void)
{
    (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 0); /* without memory for it contexts take longer */
}

/* The variable's name before PoCL 6 and since. PoCL reads it when it lists its devices. */
static const char *const thread_names[] = { "POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT" };
enum { THREAD_NAMES = sizeof thread_names / sizeof *thread_names };

uint32_t bn_quirks_processors(void)
{
    bool asked = false;
    for (int i = 0; i < THREAD_NAMES; i++)
        asked = asked || getenv(thread_names[i]);
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return asked && processors > 0 ? (uint32_t)processors : 0;
}

/* Parts of a CPU are cut from what is there. */
void bn_devices_enough_threads(double wanted)
{
    char text[32];
    if (!(wanted <= (double)sysconf(_SC_NPROCESSORS_ONLN) - 1) || getenv("BINNACLE_PARTITION") ||
        bn_quirks_processors() > 0)
        return;
    snprintf(text, sizeof text, "%.0f", fmax(ceil(wanted), 1));
    for (int i = 0; i < THREAD_NAMES; i++)
        (void)setenv(thread_names[i], text, 1); /* without memory for it all threads run */
}
