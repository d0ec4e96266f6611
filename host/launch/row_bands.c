/* row_bands.c: some rows of fields between devices and the host's memory, one band of them after the other. */
#include "api/row_bands.h"

#include "device/device_thread.h"
#include "grid/field.h"
#include "grid/transfer.h"

#include <stdlib.h>

enum { BAND_BYTES = 1 << 22 }; /* of a field: long enough that latency and the start of threads do not count */

static size_t reals_of(const bn_field *f) { return f->desc.type == BN_T_REAL2 ? 2 : 1; }

static bn_status check(const bn_row_band *rows, size_t count, bool all)
{
    const bn_domain *d = rows[0].field->domain;
    if (count < 1 || count > BN_ROWS_FIELDS || d->lattice[0] > 1 || d->desc.grid.n[2] > 1)
        return bn_fail(d->ctx, BN_USAGE,
                       "rows of %zu fields on %zu boxes: at most %d fields, in whole rows of two dimensions", count,
                       d->box_count, (int)BN_ROWS_FIELDS);
    for (size_t i = 0; i < count; i++) {
        const bn_field *f = rows[i].field;
        if (f->domain != d || f->desc.components != 1 || (f->desc.type != BN_T_REAL && f->desc.type != BN_T_REAL2) ||
            (all && rows[i].writes))
            return bn_fail(d->ctx, BN_USAGE,
                           "rows of field %s: it must be real, of one component, of the same domain as the "
                           "others, and is not written where all rows are looked at",
                           f->desc.name);
    }
    return BN_OK;
}

static bn_status read_band(const bn_row_band *r, size_t box, const bn_region *band, bool all, double *values)
{
    const bn_domain *d = r->field->domain;
    if (!r->reads)
        return BN_OK;
    if (all || !bn_domain_across_ranks(d))
        return bn_field_read_region(r->field, 0, 1, band, BN_AS_DOUBLES, values);
    BN_TRY(bn_field_enqueue_box(r->field, box, band, values));
    BN_CL(d->boxes[box].device, r->field->desc.name, clFinish, bn_queue(d->boxes[box].device));
    bn_reals_widen(d, values, bn_region_points(band) * reals_of(r->field));
    return BN_OK;
}

static bn_status go_through(const bn_row_band *rows, size_t count, uint32_t begin, uint32_t end, bool all,
                            bn_row_band_function *function, void *user)
{
    BN_TRY(check(rows, count, all));
    const bn_domain *d = rows[0].field->domain;
    const size_t row = (size_t)d->desc.grid.n[0] * 2 * bn_domain_real_bytes(d);
    const uint32_t fit = row < BAND_BYTES ? (uint32_t)(BAND_BYTES / row) : 1,
                   most = fit < end - begin ? fit : end - begin;
    bn_status st = BN_OK;
    double *values[BN_ROWS_FIELDS] = { NULL };
    for (size_t i = 0; i < count; i++) {
        const size_t numbers = (size_t)most * d->desc.grid.n[0] * reals_of(rows[i].field);
        values[i] = rows[i].reads ? malloc(numbers * sizeof(double)) : calloc(numbers, sizeof(double));
    }
    for (size_t i = 0; i < count; i++)
        if (!values[i])
            BN_GO(bn_fail(d->ctx, BN_MEMORY, "no memory for some rows of field %s", rows[i].field->desc.name));
    for (size_t p = 0; p < (all ? 1 : bn_domain_parts(d)); p++) {
        bn_region part = bn_domain_whole(d);
        const size_t box = all ? 0 : bn_domain_part(d, p, &part);
        const uint32_t part_end = part.first[1] + part.n[1], last = part_end < end ? part_end : end;
        for (uint32_t first = part.first[1] > begin ? part.first[1] : begin; first < last; first += most) {
            bn_region band = part;
            band.first[1] = first;
            band.n[1] = last - first < most ? last - first : most;
            for (size_t i = 0; i < count; i++)
                BN_GO(read_band(&rows[i], box, &band, all, values[i]));
            BN_GO(function(user, band.first[1], band.n[1], values));
            for (size_t i = 0; i < count; i++)
                if (rows[i].writes)
                    BN_GO(bn_field_write_region(rows[i].field, 0, 1, &band, BN_AS_DOUBLES, values[i]));
        }
    }
out:
    for (size_t i = 0; i < count; i++)
        free(values[i]);
    return st;
}

bn_status bn_field_row_bands(const bn_row_band *rows, size_t count, bool all, bn_row_band_function *function,
                             void *user)
{
    return go_through(rows, count, 0, rows[0].field->domain->desc.grid.n[1], all, function, user);
}

bn_status bn_field_row_range(const bn_row_band *rows, size_t count, uint32_t first, uint32_t end,
                             bn_row_band_function *function, void *user)
{
    return go_through(rows, count, first, end, false, function, user);
}
