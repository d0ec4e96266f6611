/* support_device.c: what tests make on devices. */
#include "support_device.h"

#include <stdio.h>
#include <stdlib.h>

bn_device *device;

/* One of the three is set. */
static struct {
    bn_domain *domain;
    bn_field *field;
    bn_program *program;
} objects[64];
static size_t count;

void open_device(int parts, bool debug)
{
    char text[16];
    snprintf(text, sizeof text, "%d", parts > 0 ? parts : 1);
    ck_assert_int_eq(setenv("BINNACLE_PARTITION", text, 1), 0);
    ck_assert_int_eq(bn_context_create(&(bn_context_desc){ .kernel_dir = BN_TEST_KERNELS, .debug = debug }, &ctx),
                     BN_OK);
    device = NULL;
    if (parts > 0)
        OK(bn_device_open(ctx, parts > 1 ? "all" : "auto", false, &device));
}

void close_device(void)
{
    drop_objects();
    bn_device_close(&device);
    close_context();
}

bn_domain *keep_domain(bn_domain *d)
{
    ck_assert_uint_lt(count, sizeof objects / sizeof *objects);
    return objects[count++].domain = d;
}

bn_domain *new_domain(const bn_domain_desc *desc)
{
    bn_domain *d;
    OK(bn_domain_create(ctx, desc, &d));
    return keep_domain(d);
}

bn_field *new_field(bn_domain *d, const char *name, bn_type type, int components)
{
    ck_assert_uint_lt(count, sizeof objects / sizeof *objects);
    OK(bn_field_create(d, &(bn_field_desc){ name, "", type, components, 0 }, &objects[count].field));
    return objects[count++].field;
}

bn_program *new_program(bn_domain *d, const char *name, const bn_define *defines, size_t define_count)
{
    ck_assert_uint_lt(count, sizeof objects / sizeof *objects);
    OK(bn_program_build(d, name, defines, define_count, &objects[count].program));
    return objects[count++].program;
}

bn_kernel *new_kernel(bn_domain *d, const bn_kernel_desc *desc, const bn_define *defines, size_t define_count)
{
    bn_kernel *k;
    OK(bn_kernel_find(new_program(d, "probe", defines, define_count), desc, &k));
    return k;
}

void drop_objects(void)
{
    while (count > 0) {
        count--;
        bn_program_destroy(&objects[count].program);
        bn_field_destroy(&objects[count].field);
        bn_domain_destroy(&objects[count].domain);
    }
}
