/* netcdf_file.h: NetCDF files in the classic format with 64-bit offsets (NetCDF Users Guide, appendix "File Format
 * Specifications"): a header, arrays of fixed size, then records, all big-endian. Enough of it for what this program
 * writes and reads again, at a hundredth of the libraries that netCDF-C brings for its other formats. */
#ifndef BN_NETCDF_FILE_H
#define BN_NETCDF_FILE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bn_netcdf bn_netcdf;

/* Types of values as the format counts them; in memory int32_t, float and double. */
typedef enum bn_netcdf_type { BN_NETCDF_INT = 4, BN_NETCDF_FLOAT = 5, BN_NETCDF_DOUBLE = 6 } bn_netcdf_type;

enum { BN_NETCDF_GLOBAL = -1 }; /* attributes of the file itself */

/* A file to be written to the descriptor, which stays the caller's; NULL: no memory. After a failure nothing more is
 * done, and bn_netcdf_error returns its cause. */
bn_netcdf *bn_netcdf_create(int descriptor);
/* A finished file for reading; NULL: not one that this program wrote, or no memory. */
bn_netcdf *bn_netcdf_open(const char *path);
void bn_netcdf_close(bn_netcdf **);
int bn_netcdf_error(const bn_netcdf *); /* errno of what failed first; 0 */

/* Definitions; they return the number of the dimension or variable. Length 0: records. A variable of records has them
 * as its first dimension. */
int bn_netcdf_dimension(bn_netcdf *, const char *name, size_t length);
int bn_netcdf_variable(bn_netcdf *, const char *name, bn_netcdf_type, int dimensions, const int *dimension);
void bn_netcdf_text(bn_netcdf *, int variable, const char *name, const char *text);
void bn_netcdf_number(bn_netcdf *, int variable, const char *name, int value);
/* Ends them and writes the header. */
void bn_netcdf_begin(bn_netcdf *);

/* `count` values of a variable from its value `first` on, in a record if it has those. The header counts records from
 * bn_netcdf_count on. */
void bn_netcdf_put(bn_netcdf *, int variable, size_t record, size_t first, size_t count, const void *values);
void bn_netcdf_get(bn_netcdf *, int variable, size_t record, size_t first, size_t count, void *values);
void bn_netcdf_count(bn_netcdf *, size_t records);

size_t bn_netcdf_records(const bn_netcdf *);
/* The number of a variable, -1: there is none; how many there are, and of one its name, its unit ("" where it has
 * none), its type, how many values it has (in a record), and whether it has records. */
int bn_netcdf_find(const bn_netcdf *, const char *name);
int bn_netcdf_variables(const bn_netcdf *);
typedef struct bn_netcdf_info {
    const char *name, *unit;
    bn_netcdf_type type;
    size_t count;
    bool records;
} bn_netcdf_info;
bn_netcdf_info bn_netcdf_describe(const bn_netcdf *, int variable);
/* Whether both have the same variables, of the same types and sizes. */
bool bn_netcdf_alike(const bn_netcdf *, const bn_netcdf *);

#endif
