/* test_selftest_kernels.c: flow's self-test cases launch every kernel of its linear solvers (kernels/cg.cl,
 * multigrid.cl, spectral.cl). */
#include "support_case.h"

#include "api/embedded_files.h"
#include "api/launch.h"
#include "device/embedded.h"
#include "run/selftest.h"
#include "sim/solver.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 64, NAME = 64 };
static char launched[MOST][NAME];
static size_t launched_count;

static bool was_launched(const char *kernel)
{
    for (size_t i = 0; i < launched_count; i++)
        if (strcmp(launched[i], kernel) == 0)
            return true;
    return false;
}

static void run_selftests(bn_device *device)
{
    for (const bn_embedded *f = bn_embedded_files; f->name; f++) {
        if (!bn_selftest_is_of(f->name, "flow"))
            continue;
        run r = RUN(f->text, device, NULL);
        bn_profile_row rows[MOST];
        const size_t count = bn_domain_profile(bn_sim_domain(r.sim), true, rows, MOST);
        for (size_t i = 0; i < count && i < MOST; i++)
            if (!was_launched(rows[i].kernel) && launched_count < MOST)
                snprintf(launched[launched_count++], NAME, "%s", rows[i].kernel);
        end_run(&r);
    }
}

/* The kernels of a file that were not launched, each with a blank before it. */
static void find_missing(const char *file, char *missing, size_t room)
{
    const bn_embedded *k = bn_embedded_kernels;
    while (k->name && strcmp(k->name, file) != 0)
        k++;
    ck_assert_msg(k->name, "no %s", file);
    for (const char *at = strstr(k->text, "\nkernel void "); at; at = strstr(at + 1, "\nkernel void ")) {
        char name[NAME];
        ck_assert_int_eq(sscanf(at, "\nkernel void %63[a-z0-9_]", name), 1);
        const size_t used = strlen(missing);
        if (!was_launched(name))
            snprintf(missing + used, room - used, " %s", name);
    }
}

TEST(linear_solvers_launch_every_kernel)
{
    char missing[512] = "";
    if (!long_tests()) /* compiles all self-test cases */
        return;
    run_selftests(opened_device());
    find_missing("kernels/cg.cl", missing, sizeof missing);
    find_missing("kernels/multigrid.cl", missing, sizeof missing);
    find_missing("kernels/spectral.cl", missing, sizeof missing);
    ck_assert_msg(missing[0] == '\0', "the self-test cases of flow never launch%s", missing);
}

int main(void) { return bn_test_main("selftest_kernels", open_context, close_context); }
