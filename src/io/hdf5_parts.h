/* hdf5_parts.h: attributes of HDF5 files, for those who read them. */
#ifndef BN_HDF5_PARTS_H
#define BN_HDF5_PARTS_H

#include <hdf5.h>
#include <stdbool.h>

bool bn_hdf5_has(hid_t at, const char *name);
/* A text attribute of fixed or variable length; "" when there is none. */
void bn_hdf5_text(hid_t at, const char *name, char *text, size_t room);
/* At most `most` numbers; how many there are. */
int bn_hdf5_numbers(hid_t at, const char *name, double *v, int most);

#endif
