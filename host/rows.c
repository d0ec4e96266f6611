/* rows.c: some rows of fields between devices and the host's memory, one block of them after the other. */
#include "api/rows.h"

#include "internal/context.h"
#include "internal/runtime.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 21 }; /* of a field: long enough that the transfers' latency does not count */

static size_t reals_of(const bn_field *f) { return f->desc.type == BN_T_REAL2 ? 2 : 1; }

static bn_status check(const bn_rows *rows, size_t count, bool all)
{
    const bn_domain *d = rows[0].field->domain;
    if (count < 1 || count > BN_ROWS_FIELDS || d->lattice[0] > 1 || d->desc.grid.n[2] > 1)
        return bn_fail(d->ctx, BN_USAGE, "rows of %zu fields on %zu boxes: at most %d fields, in whole rows of two dimensions",
                       count, d->box_count, (int)BN_ROWS_FIELDS);
    for (size_t i = 0; i < count; i++) {
        const bn_field *f = rows[i].field;
        if (f->domain != d || f->desc.components != 1 || (f->desc.type != BN_T_REAL && f->desc.type != BN_T_REAL2) ||
            (all && rows[i].writes))
            return bn_fail(d->ctx, BN_USAGE, "rows of field %s: it must be real, of one component, of the same domain as the "
                           "others, and is not written where all rows are looked at", f->desc.name);
    }
    return BN_OK;
}

/* Rows of a box, from the box's row `first` on, to or from dense memory in the field's own type. */
static bn_status move(bn_field *f, size_t b, uint32_t first, uint32_t count, void *dense, bool write)
{
    const bn_domain *d = f->domain;
    const bn_box *box = &d->boxes[b];
    const size_t row = d->desc.grid.n[0] * f->element_bytes;
    if (f->host) {
        char *own = (char *)f->host + (box->offset[1] + first) * row;
        memcpy(write ? own : dense, write ? dense : own, count * row);
        return BN_OK;
    }
    const bn_layout *l = &d->shapes[box->shape].layout;
    const size_t region[3] = { row, count, 1 }, none[3] = { 0, 0, 0 };
    const size_t at[3] = { l->left * f->element_bytes, (size_t)l->halo[1] + first, 0 };
    if (write)
        BN_CL(box->device, f->desc.name, clEnqueueWriteBufferRect, box->device->queue, f->buffers[b]->mem, CL_TRUE, at, none,
              region, l->pitch * f->element_bytes, 0, row, 0, dense, 0, NULL, NULL);
    else
        BN_CL(box->device, f->desc.name, clEnqueueReadBufferRect, box->device->queue, f->buffers[b]->mem, CL_TRUE, at, none,
              region, l->pitch * f->element_bytes, 0, row, 0, dense, 0, NULL, NULL);
    return BN_OK;
}

static bn_status read_block(const bn_rows *r, size_t b, uint32_t first, uint32_t count, bool all, void *dense, double *values)
{
    const bn_domain *d = r->field->domain;
    const bn_comm *comm = &d->ctx->comm;
    const size_t reals = (size_t)d->desc.grid.n[0] * count * reals_of(r->field);
    if (!r->reads)
        return BN_OK;
    if (d->boxes[b].rank == comm->rank)
        BN_TRY(move(r->field, b, first, count, dense, false));
    if (all && comm->ops && d->spread)
        comm->ops->broadcast(d->boxes[b].rank, dense, reals * bn_domain_real_bytes(d));
    if (d->desc.precision == BN_DOUBLE)
        memcpy(values, dense, reals * sizeof(double));
    else
        for (size_t i = 0; i < reals; i++)
            values[i] = (double)((const float *)dense)[i];
    return BN_OK;
}

static bn_status write_block(const bn_rows *r, size_t b, uint32_t first, uint32_t count, void *dense, const double *values)
{
    const bn_domain *d = r->field->domain;
    const size_t reals = (size_t)d->desc.grid.n[0] * count * reals_of(r->field);
    if (!r->writes)
        return BN_OK;
    if (d->desc.precision == BN_DOUBLE)
        memcpy(dense, values, reals * sizeof(double));
    else
        for (size_t i = 0; i < reals; i++)
            ((float *)dense)[i] = (float)values[i];
    return move(r->field, b, first, count, dense, true);
}

bn_status bn_field_rows(const bn_rows *rows, size_t count, bool all, bn_rows_function *function, void *user)
{
    BN_TRY(check(rows, count, all));
    const bn_domain *d = rows[0].field->domain;
    const int rank = d->ctx->comm.rank;
    const size_t row = (size_t)d->desc.grid.n[0] * 2 * bn_domain_real_bytes(d);
    const uint32_t most = row < BLOCK_BYTES ? (uint32_t)(BLOCK_BYTES / row) : 1;
    bn_status st = BN_OK;
    double *values[BN_ROWS_FIELDS] = { NULL };
    void *dense = malloc(most * row);
    for (size_t i = 0; i < count; i++)
        values[i] = calloc((size_t)most * d->desc.grid.n[0] * reals_of(rows[i].field), sizeof(double));
    for (size_t i = 0; i < count; i++)
        if (!dense || !values[i]) {
            st = bn_fail(d->ctx, BN_MEMORY, "no memory for some rows of field %s", rows[i].field->desc.name);
            goto out;
        }
    for (size_t b = 0; b < d->box_count; b++) {
        const bn_box *box = &d->boxes[b];
        for (uint32_t first = 0; (all || box->rank == rank) && first < box->n[1]; first += most) {
            const uint32_t n = box->n[1] - first < most ? box->n[1] - first : most;
            for (size_t i = 0; i < count; i++)
                BN_GO(read_block(&rows[i], b, first, n, all, dense, values[i]));
            BN_GO(function(user, box->offset[1] + first, n, values));
            for (size_t i = 0; i < count; i++)
                BN_GO(write_block(&rows[i], b, first, n, dense, values[i]));
        }
    }
    for (size_t i = 0; i < count; i++)
        if (rows[i].writes && !rows[i].field->host) {
            bn_halo_set(rows[i].field, 0);
            if (bn_context_debug(d->ctx))
                BN_GO(bn_halo_poison(rows[i].field));
        }
out:
    for (size_t i = 0; i < count; i++)
        free(values[i]);
    free(dense);
    return st;
}
