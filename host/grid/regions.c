/* regions.c: boxes and regions of a domain: neighbours, common parts, and walks over the grid. */
#include "grid/regions.h"

#include "grid/queues.h"

bool bn_same_device(const bn_box *a, const bn_box *b) { return a->device && a->device == b->device; }

bool bn_direction(int v, int step[3])
{
    step[0] = v % 3 - 1;
    step[1] = v / 3 % 3 - 1;
    step[2] = v / 9 - 1;
    return v != BN_DIRECTIONS / 2;
}

long bn_box_at(const bn_domain *d, const bn_box *box, const int step[3])
{
    int place[3];
    for (int k = 0; k < 3; k++) {
        place[k] = box->place[k] + step[k];
        if (step[k] != 0 && k >= d->desc.grid.dims)
            return -1;
        if (place[k] < 0 || place[k] >= d->lattice[k]) {
            if (!d->desc.grid.periodic[k])
                return -1;
            place[k] = (place[k] + d->lattice[k]) % d->lattice[k];
        }
    }
    return place[0] + (long)d->lattice[0] * (place[1] + (long)d->lattice[1] * place[2]);
}

bool bn_box_common(const bn_box *box, const bn_region *of, bn_region *out)
{
    for (int k = 0; k < 3; k++) {
        const uint32_t low = box->offset[k] > of->first[k] ? box->offset[k] : of->first[k];
        const uint32_t box_end = box->offset[k] + box->n[k], end = of->first[k] + of->n[k];
        const uint32_t high = box_end < end ? box_end : end;
        if (low >= high)
            return false;
        out->first[k] = low;
        out->n[k] = high - low;
    }
    return true;
}

bn_region bn_domain_whole(const bn_domain *d)
{
    const uint32_t *n = d->desc.grid.n;
    return (bn_region){ { 0, 0, 0 }, { n[0], n[1], n[2] } };
}

size_t bn_domain_parts(const bn_domain *d)
{
    size_t count = 0;
    if (!bn_domain_across_ranks(d) || d->overlaps)
        return 1;
    for (size_t b = 0; b < d->box_count; b++)
        count += d->boxes[b].device != NULL;
    return count;
}

void bn_domain_box(const bn_domain *d, size_t box, bn_region *out)
{
    for (int k = 0; k < 3; k++) {
        out->first[k] = d->boxes[box].offset[k];
        out->n[k] = d->boxes[box].n[k];
    }
}

size_t bn_domain_part(const bn_domain *d, size_t part, bn_region *out)
{
    *out = bn_domain_whole(d);
    if (!bn_domain_across_ranks(d) || d->overlaps)
        return 0;
    size_t b = 0;
    for (;; b++)
        if (d->boxes[b].device && part-- == 0)
            break;
    bn_domain_box(d, b, out);
    return b;
}

bool bn_domain_next_band(const bn_domain *d, size_t points, bn_region *band)
{
    const uint32_t *n = d->desc.grid.n;
    const size_t fit = points / n[0] > 0 ? points / n[0] : 1; /* rows */
    uint32_t *first = band->first;
    if (band->n[0] > 0) {
        first[1] += band->n[1];
        if (first[1] >= n[1]) {
            first[1] = 0;
            first[2] += band->n[2];
        }
    }
    if (first[2] >= n[2])
        return false;
    const uint32_t layers = fit / n[1] < n[2] - first[2] ? (uint32_t)(fit / n[1]) : n[2] - first[2];
    band->n[0] = n[0];
    band->n[2] = layers > 0 ? layers : 1;
    band->n[1] = layers > 0 ? n[1] : fit < n[1] - first[1] ? (uint32_t)fit : n[1] - first[1];
    return true;
}
