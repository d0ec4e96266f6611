/* embedded.h: the kernel texts inside the library. */
#ifndef BN_HOST_EMBEDDED_H
#define BN_HOST_EMBEDDED_H

#include "api/embedded_files.h"

/* "kernels/flow.cl", "kernels/lib/real.h", ...; ends with a NULL name. */
extern const bn_embedded bn_embedded_kernels[];

#endif
