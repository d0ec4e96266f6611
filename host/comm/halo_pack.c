/* halo_pack.c: halos between boxes of one device, which kernels copy, and blocks of halo cells in messages. */
#include "comm/halo_exchange.h"

#include "grid/block_copy.h"
#include "grid/regions.h"

size_t bn_block_end(size_t bytes)
{
    enum { ALIGN = 16 }; /* the largest element */
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

size_t bn_halo_block_bytes(const bn_field *f, const long n[3])
{
    return bn_block_end((size_t)(n[0] * n[1] * n[2]) * (size_t)f->desc.components * f->element_bytes);
}

bn_status bn_halo_pack(bn_field *f, size_t box, const long first[3], const long n[3], bn_buffer *buffer, size_t at,
                       bool unpack, const bn_order *order)
{
    const cl_long row = n[0] * bn_field_width(f);
    const cl_long dense[4] = { (cl_long)(at / f->element_bytes), row, row * n[1], row * n[1] * n[2] };
    return bn_block_move(f, box, first, n, buffer, dense, unpack, order);
}

/* Phases x, y, z: a phase copies the halos that earlier phases filled along with the cells, so that corners need no
 * copies of their own. A periodic side is an exchange with the box at the other end, which may be the box itself. */
bn_status bn_halo_exchange_in_phases(bn_field *f, int radius)
{
    bn_domain *d = f->domain;
    const int *halo = d->shapes[0].layout.halo;
    for (int dim = 0; dim < d->desc.grid.dims; dim++)
        for (size_t b = 0; b < d->box_count; b++)
            for (int side = -1; side <= 1; side += 2) {
                const bn_box *box = &d->boxes[b];
                int step[3] = { 0, 0, 0 };
                step[dim] = side;
                const long other = bn_box_at(d, box, step);
                if (other < 0)
                    continue;
                long to[3], from[3], n[3];
                for (int k = 0; k < 3; k++) {
                    long wide = k < dim ? halo[k] : 0; /* halos filled by earlier phases: corners */
                    to[k] = from[k] = -wide;
                    n[k] = (long)box->n[k] + 2 * wide;
                }
                n[dim] = radius;
                to[dim] = side < 0 ? -radius : (long)box->n[dim];
                from[dim] = side < 0 ? (long)d->boxes[other].n[dim] - radius : 0;
                BN_TRY(bn_block_copy(f, (size_t)other, from, f, b, to, n));
            }
    f->valid = (struct bn_valid_halo){ radius, radius, { radius, radius } };
    return BN_OK;
}
