/* test_slabs.c: slabs at cuts that run beside the inside of their box, in a queue of their own. PoCL must not run a
 * kernel twice at a time before version 6, so slabs follow the inside there (bn_quirks.runs_alone): the quirk is lifted
 * here, once PoCL has made all of the kernel that these launches need. */
#include "support_device.h"

#include "device/opencl.h"

#include <string.h>

enum { NX = 96, NY = 60, STEPS = 40 };

static double bump(const double x[3], const void *user)
{
    (void)user;
    return sin(3 * x[0]) + cos(5 * x[1]) * x[0];
}

/* So many devices with a box each. True: slabs ran beside the inside. */
static bool diffuse(int devices, bool beside, float values[NX * NY])
{
    static const bn_kernel_desc kernel = { "probe_diffuse", BN_PER_CELL, { 1, 1, 6 } };
    const bn_define k = { "K", BN_DEF_REAL, { .r = 0.2 } };
    open_device(devices, true);
    bn_domain *domain = new_domain(
        &(bn_domain_desc){ .grid = { .dims = 2, .n = { NX, NY, 1 }, .h = { 0.1, 0.1, 1 }, .periodic = { true, true } },
                           .precision = BN_SINGLE,
                           .halo = 1,
                           .boxes = devices,
                           .work_group = { 32, 4, 1 },
                           .device = device });
    bn_field *a = new_field(domain, "a", BN_T_REAL, 1), *b = new_field(domain, "b", BN_T_REAL, 1);
    bn_kernel *advance = new_kernel(domain, &kernel, &k, 1);
    OK(bn_field_fill(a, bump, NULL));
    for (int s = 0; s < STEPS; s++) {
        for (int m = 0; m < devices; m++)
            device->group[m]->quirks.runs_alone = s < 3 || !beside;
        OK(BN_RUN(advance, BN_READ(a, 1), BN_WRITE(b)));
        bn_field_swap(a, b);
        OK(bn_domain_finish(domain));
    }
    OK(bn_field_read(a, values, NX * NY * sizeof *values));
    OK(bn_domain_check_canaries(domain));
    const bool forked = device->group[devices - 1]->fork.last != NULL;
    close_device();
    return forked;
}

TEST(slabs_beside_the_inside_and_behind_it)
{
    static float whole[NX * NY], cut[NX * NY];
    (void)diffuse(1, false, whole);
    for (int devices = 2; devices <= 3; devices++) /* in one context, and with a thread each */
        for (int beside = 0; beside < 2; beside++) {
            memset(cut, 0, sizeof cut);
            ck_assert_int_eq(diffuse(devices, beside, cut), beside);
            ck_assert_msg(memcmp(cut, whole, sizeof cut) == 0, "%d devices, slabs %s the inside: other bits", devices,
                          beside ? "beside" : "behind");
        }
}

int main(void) { return bn_test_main("slabs", NULL, NULL); }
