/* hdf5_parts.h: attributes of HDF5 files, for those who read them. */
#ifndef BN_HDF5_PARTS_H
#define BN_HDF5_PARTS_H

#include "binnacle/context.h"

#include <hdf5.h>
#include <stdbool.h>

/* A text attribute of fixed or variable length; "" when there is none. */
void bn_hdf5_text(hid_t at, const char *name, char *text, size_t room);
/* At most `most` numbers; how many there are. */
int bn_hdf5_numbers(hid_t at, const char *name, double *v, int most);

/* The name of the first thing in a group; "": there is none. */
enum { BN_HDF5_NAME = 256 };
void bn_hdf5_first(hid_t group, char name[BN_HDF5_NAME]);

/* HDF5 believes lengths that attributes of damaged files claim, and ends the process (1.10). A child goes through what
 * follows first: true in the child, which reads and calls _exit(EXIT_SUCCESS); then, in this process, whether it got
 * there. */
bool bn_hdf5_rehearse(bool *crashed);
bn_status bn_hdf5_crashed(bn_context *, const char *path);

#endif
