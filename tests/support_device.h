/* support_device.h: domains, fields and kernels of a test on devices, which go all together. */
#ifndef BN_TEST_SUPPORT_DEVICE_H
#define BN_TEST_SUPPORT_DEVICE_H

#include "support_case.h"

#include "api/launch.h"
#include "api/program.h"
#include "api/domain.h"
#include "api/field.h"
#include <string.h>

/* In the place of open_context: with the tests' kernels, and so many devices, of one the first, of none NULL. */
extern bn_device *device;
void open_device(int count, bool debug);
void close_device(void);

/* What these make goes with drop_objects, at the latest with close_device, the last one first. */
bn_domain *new_domain(const bn_domain_desc *);
bn_domain *keep_domain(bn_domain *); /* made otherwise */
bn_field *new_field(bn_domain *, const char *name, bn_type, int components);
bn_program *new_program(bn_domain *, const char *name, const bn_define *, size_t count);
/* Of a program of its own, "probe". */
bn_kernel *new_kernel(bn_domain *, const bn_kernel_desc *, const bn_define *, size_t count);
void drop_objects(void);

/* A call fails, and the message has these words. */
#define REFUSED(call, status, words)                                                                       \
    do {                                                                                                   \
        ck_assert_int_eq((call), (status));                                                                \
        ck_assert_msg(strstr(bn_error_text(ctx), words), "%s does not say %s", bn_error_text(ctx), words); \
        bn_error_clear(ctx);                                                                               \
    } while (0)

#endif
