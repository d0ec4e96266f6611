/* row_bands.h: fields on the host a few rows at a time, for what is made or looked at in plain C however large the grid
 * is: nobody needs memory for more than those rows, and their own part on devices. */
#ifndef BN_API_ROW_BANDS_H
#define BN_API_ROW_BANDS_H

#include "api/field.h"

/* A real field of one component; values of pairs lie as two numbers one after the other. */
typedef struct bn_row_band {
    bn_field *field;
    bool reads; /* values are there when the function is called */
    /* And are taken over when it has returned; what it does not set is lost unless the field is read, too. */
    bool writes;
} bn_row_band;

/* Called with rows [first, first + count) of every field, in double. */
typedef bn_status bn_row_band_function(void *user, uint32_t first, uint32_t count, double *const *values);

/* Goes once through the rows of fields of one domain of one or two dimensions whose rows are whole
 * (bn_domain_desc.whole_rows, or one box), in order. Each rank goes through the rows of its own boxes; with `all`,
 * which forbids writing, through all of them: for sums, whose order is then the same everywhere. Waits. */
enum { BN_ROWS_FIELDS = 4 };
BN_CHECKED bn_status bn_field_row_bands(const bn_row_band *, size_t count, bool all, bn_row_band_function *,
                                        void *user);
/* Once through the rows [first, end) alone; each rank through those of its own boxes. */
BN_CHECKED bn_status bn_field_row_range(const bn_row_band *, size_t count, uint32_t first, uint32_t end,
                                        bn_row_band_function *, void *user);

#endif
