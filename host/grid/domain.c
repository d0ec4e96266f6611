/* domain.c: a grid cut into boxes, their layout in memory, and what belongs to the whole of it. */
#include "grid/domain.h"

#include "grid/queues.h"
#include "grid/regions.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_ullong domains; /* that this process has made */

static size_t round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

/* Elements. Rows are so many apart, or a multiple of it, and start so that their cell number `aligned` lies on such a
 * boundary. */
typedef struct bn_row_units {
    uint32_t start, apart;
} bn_row_units;
/* On a CPU a cache line of single precision from row to row. On a GPU 128 bytes, what the work-items of a thread load
 * at once: with rows that start 16 bytes behind them an H200 needs 1.7 times as long for lines along y of 8 columns
 * side by side, and 1.1 times for maxwell's two passes. Rows that are shorter than that would be mostly padding. */
static bn_row_units row_units(bool gpu, const bn_domain_desc *desc)
{
    const uint32_t reals = desc->precision == BN_DOUBLE ? 16 : 32;
    uint32_t apart = 8;
    while (apart < desc->grid.n[0] && apart < reals)
        apart *= 2;
    return gpu ? (bn_row_units){ apart, apart } : (bn_row_units){ 4, 16 };
}

/* Layout of one component of a box; false when a product overflows. */
static bool layout_of(const uint32_t n[3], int dims, int halo, bn_row_units units, uint32_t aligned, bn_layout *out)
{
    bn_layout l = { .halo = { halo, dims > 1 ? halo : 0, dims > 2 ? halo : 0 } };
    const uint32_t at = aligned % units.start;
    l.left = round_up((size_t)l.halo[0] + at, units.start) - at;
    l.pitch = round_up(l.left + n[0] + (size_t)l.halo[0], units.apart);
    size_t rows = (size_t)n[1] + 2 * (size_t)l.halo[1];
    l.layers = (size_t)n[2] + 2 * (size_t)l.halo[2];
    if (__builtin_mul_overflow(l.pitch, rows, &l.slice) || __builtin_mul_overflow(l.slice, l.layers, &l.plane))
        return false;
    l.first = (size_t)l.halo[2] * l.slice + (size_t)l.halo[1] * l.pitch + l.left;
    *out = l;
    return true;
}

uint32_t bn_piece_start(uint32_t units, int pieces, int p)
{
    uint32_t base = units / (uint32_t)pieces, rest = units % (uint32_t)pieces;
    return (uint32_t)p * base + ((uint32_t)p < rest ? (uint32_t)p : rest);
}

/* Cells along each dimension that no cut divides, so that no reduction block is split. */
static const uint32_t unit[3] = { BN_BLOCK_NX, BN_BLOCK_NY, 1 };

uint32_t bn_cut_unit(int dim) { return unit[dim]; }

uint32_t bn_least_thickness(const bn_domain_desc *desc)
{
    return desc->halo > desc->ghost_cells ? (uint32_t)(desc->halo - desc->ghost_cells) : 1;
}

static uint32_t units_along(const bn_domain *d, int dim) { return (d->desc.grid.n[dim] + unit[dim] - 1) / unit[dim]; }

/* Cells that no cut between so many pieces divides: as many as asked for, if each piece then has enough of these units.
 */
static uint32_t cut_unit(const bn_domain *d, int dim, int pieces)
{
    enum { FAIR = 16 };
    uint32_t u = unit[dim];
    while (2 * (uint64_t)u <= (uint64_t)d->desc.align && d->desc.grid.n[dim] / (2 * u) >= FAIR * (uint32_t)pieces)
        u *= 2;
    return u;
}

/* Points of the thinnest of so many pieces; the last unit may be short. 0: there are not enough units. */
static uint32_t thinnest(const bn_domain *d, int dim, int pieces)
{
    const uint32_t n = d->desc.grid.n[dim], u = cut_unit(d, dim, pieces), units = (n + u - 1) / u;
    const uint32_t whole = units / (uint32_t)pieces;
    if (pieces == 1 || whole == 0)
        return pieces == 1 ? n : 0;
    uint32_t last = (whole - 1) * u + (n - (units - 1) * u); /* the last piece has the fewest units */
    return last;
}

/* A message between two devices, however small, costs their hosts the time that so many points take to travel. */
static const double BN_MESSAGE_POINTS = 500e3;

/* Pairs of boxes that have a face, an edge or a corner in common. */
static double neighbours(const int boxes[3])
{
    double all = 1, own = 1;
    for (int k = 0; k < 3; k++) {
        all *= 3 * boxes[k] - 2;
        own *= boxes[k];
    }
    return (all - own) / 2;
}

/* Chooses boxes along x, y, z with the least surface between them, each at least as thick as the halo. A cut across the
 * slowest dimension is the cheapest: its cells are contiguous; each faster dimension counts twice the one before. */
static bn_status choose_lattice(bn_domain *d)
{
    const bn_grid *g = &d->desc.grid;
    int boxes = d->desc.boxes;
    double best = HUGE_VAL;
    for (int bx = 1; bx <= boxes; bx++) {
        if (boxes % bx != 0 || (uint32_t)bx > d->sums.blocks_x || (bx > 1 && d->desc.whole_rows))
            continue;
        for (int by = 1; by <= boxes / bx; by++) {
            if ((boxes / bx) % by != 0)
                continue;
            int bz = boxes / bx / by;
            if ((by > 1 && g->dims < 2) || (bz > 1 && g->dims < 3))
                continue;
            int b[3] = { bx, by, bz };
            bool thick = true;
            for (int k = 0; k < 3; k++) {
                uint32_t points = thinnest(d, k, b[k]);
                thick = thick && points >= 1 && (b[k] == 1 || points >= bn_least_thickness(&d->desc));
            }
            const double y_cost = g->dims > 2 ? 2 : 1, x_cost = g->dims > 1 ? 2 * y_cost : 1;
            double surface = (bx - 1) * x_cost * g->n[1] * g->n[2] + (by - 1) * y_cost * g->n[0] * g->n[2] +
                             (bz - 1) * (double)g->n[0] * g->n[1];
            surface += d->distributed ? BN_MESSAGE_POINTS * neighbours(b) : 0;
            if (thick && surface < best) {
                best = surface;
                memcpy(d->lattice, b, sizeof b);
            }
        }
    }
    if (isinf(best))
        return bn_fail(d->ctx, BN_USAGE,
                       "the grid of %u x %u x %u points can't be cut into %d boxes: each must be at least %d thick, "
                       "and cuts lie at multiples of %d along x%s and %d along y; ask for fewer boxes",
                       g->n[0], g->n[1], g->n[2], boxes, (int)bn_least_thickness(&d->desc), (int)BN_BLOCK_NX,
                       d->desc.whole_rows ? " (here not at all)" : "", (int)BN_BLOCK_NY);
    return BN_OK;
}

/* Devices that differ get pieces in a row along the slowest dimension, each as long as its weight says. */
static const double *weights_of(const bn_domain *d)
{
    return d->distributed && (size_t)d->desc.boxes == d->device->global_count ? d->device->weights : NULL;
}

static bn_status cut_by_weights(bn_domain *d, const double *weights)
{
    const int dim = d->desc.grid.dims - 1, boxes = d->desc.boxes;
    const uint32_t u = cut_unit(d, dim, boxes), units = (d->desc.grid.n[dim] + u - 1) / u;
    const uint32_t least = (bn_least_thickness(&d->desc) + u - 1) / u;
    /* The last unit may be short: there must be one more where it could be thinner than the halo. */
    if ((uint64_t)units < (uint64_t)least * (uint64_t)boxes + 1)
        return bn_fail(d->ctx, BN_USAGE, "%u points along the slowest dimension can't be shared out among %d devices",
                       d->desc.grid.n[dim], boxes);
    double sum = 0, before = 0;
    for (int p = 0; p < boxes; p++)
        sum += weights[p];
    uint32_t at = 0;
    for (int p = 0; p < boxes; p++) {
        d->cuts[dim][p] = at * u;
        before += weights[p];
        const uint32_t most = units - least * (uint32_t)(boxes - 1 - p) - (p + 1 < boxes);
        uint32_t next = (uint32_t)(units * (before / sum) + 0.5);
        next = next < at + least ? at + least : next;
        at = next > most ? most : next;
    }
    return BN_OK;
}

/* Where a domain's cuts come from, if it does not choose them: NULL where they don't. */
typedef struct bn_cutting {
    const bn_domain *fine; /* a finer domain, of which this one has every step-th point */
    const int *step;
    const bn_box_cuts *given;
    const bn_domain *rows; /* a domain whose columns are the rows; boxes overlap by so many chunks of points */
    uint32_t chunk, chunks;
} bn_cutting;

/* Where pieces begin, and behind them the end: chosen, given, or those of another domain. */
static bn_status find_cuts(bn_domain *d, const bn_cutting *c)
{
    const bn_box_cuts *given = c->given;
    const bn_domain *fine = c->fine, *like = fine ? fine : c->rows;
    const double *weights = like || given || d->desc.copies ? NULL : weights_of(d);
    if (weights || given)
        for (int k = 0; k < 3; k++)
            d->lattice[k] = k == (given ? given->along : d->desc.grid.dims - 1) ? d->desc.boxes : 1;
    else if (d->desc.copies)
        d->lattice[0] = d->lattice[1] = d->lattice[2] = 1;
    else if (!like)
        BN_TRY(choose_lattice(d));
    else
        memcpy(d->lattice, like->lattice, sizeof d->lattice);
    for (int k = 0; k < 3; k++) {
        const uint32_t n = d->desc.grid.n[k], u = cut_unit(d, k, d->lattice[k]);
        if (!(d->cuts[k] = calloc((size_t)d->lattice[k] + 1, sizeof *d->cuts[k])))
            return bn_fail(d->ctx, BN_MEMORY, "no memory for a domain");
        for (int p = 0; p < d->lattice[k]; p++)
            d->cuts[k][p] = fine                         ? fine->cuts[k][p] / (uint32_t)c->step[k]
                            : c->rows                    ? c->rows->cuts[k][p]
                            : given && k == given->along ? given->begin[p]
                                                         : bn_piece_start((n + u - 1) / u, d->lattice[k], p) * u;
        d->cuts[k][d->lattice[k]] = k == 1 && d->overlaps ? d->desc.grid.n[0] : n;
    }
    return weights ? cut_by_weights(d, weights) : BN_OK;
}

/* Layers that a tile goes through at a time: so many that the rounds in which a device does all tiles are the least
 * work, if a compute unit has room for 1,024 work-items in single precision, for half of them in double. A piece begins
 * with half of the layer below it. In long ones neighbours drift apart, and no longer find in caches what they share.
 */
static uint32_t tile_layers(const bn_domain_desc *desc)
{
    enum { ROOM = 1024 / (BN_TILE_X * BN_TILE_Y), LEAST = 2, MOST = 64 };
    const uint32_t *n = desc->grid.n;
    const double tiles = ceil((double)n[0] / BN_TILE_X) * ceil((double)n[1] / (BN_TILE_Y - 1));
    const double units = desc->device ? desc->device->info.compute_units : 1;
    const double room = (desc->precision == BN_DOUBLE ? ROOM / 2 : ROOM) * units;
    double fewest = INFINITY;
    uint32_t best = n[2];
    for (uint32_t layers = LEAST; layers <= MOST && layers <= n[2]; layers++) {
        const double pieces = ceil((double)n[2] / layers);
        const double all = ceil(tiles * pieces / room) * (n[2] / pieces + 0.5);
        if (all < fewest) {
            fewest = all;
            best = layers;
        }
    }
    return best;
}

/* Which device of which rank each box lies on: the same number of boxes each, one more for some, neighbours on one
 * device.
 */
static bn_status place_boxes(bn_domain *d)
{
    const bn_comm *comm = &d->ctx->comm;
    uint64_t first = d->device ? d->device->global_first : 0, *starts = NULL;
    d->local_count = d->distributed ? d->device->group_size : d->device ? 1 : 0;
    if (d->local_count && !(d->first_box = calloc(d->local_count, sizeof *d->first_box)))
        return bn_fail(d->ctx, BN_MEMORY, "no memory for a domain");
    for (size_t b = 0; b < d->box_count; b++) {
        d->boxes[b].device = d->device;
        d->boxes[b].rank = comm->rank;
    }
    if (!d->distributed)
        return BN_OK;
    if (d->desc.copies) {
        for (size_t b = 0; b < d->box_count; b++) {
            d->boxes[b].local = d->first_box[b] = b;
            d->boxes[b].device = d->device->group[b];
        }
        return BN_OK;
    }
    if (!(starts = calloc((size_t)comm->ranks, sizeof *starts)))
        return bn_fail(d->ctx, BN_MEMORY, "no memory for a domain");
    starts[0] = 0;
    if (comm->ops)
        comm->ops->gather(&first, sizeof first, starts);
    for (size_t b = d->box_count; b-- > 0;) {
        const size_t global = b * d->device->global_count / d->box_count;
        bn_box *box = &d->boxes[b];
        box->rank = comm->ranks - 1;
        while (starts[box->rank] > global)
            box->rank--;
        box->device = NULL;
        if (box->rank == comm->rank) {
            box->local = global - first;
            box->device = d->device->group[box->local];
            d->first_box[box->local] = b;
        }
    }
    free(starts);
    return BN_OK;
}

/* A box of a domain of several that overlap: of every row what it has for its own, as far as multiples of a chunk, and
 * the overlap. */
static void widen(const bn_domain *d, const bn_cutting *c, bn_box *box)
{
    const uint32_t *own = d->cuts[1] + box->place[1];
    const uint64_t low = own[0] / c->chunk, high = ((uint64_t)own[1] + c->chunk - 1) / c->chunk + c->chunks;
    box->offset[0] = low > c->chunks ? (uint32_t)(low - c->chunks) * c->chunk : 0;
    box->n[0] = (uint32_t)(high * c->chunk < d->desc.grid.n[0] ? high * c->chunk : d->desc.grid.n[0]) - box->offset[0];
    box->offset[1] = 0;
    box->n[1] = d->desc.grid.n[1];
}

static bn_status cut_boxes(bn_domain *d, const bn_cutting *c)
{
    const bn_grid *g = &d->desc.grid;
    const bn_row_units units = row_units(d->device && !bn_runs_cpu_kernels(d->device), &d->desc);
    d->max_radius = d->overlaps ? 0 : d->desc.halo;
    d->box_count = (size_t)d->desc.boxes;
    d->boxes = calloc(d->box_count, sizeof *d->boxes);
    d->shapes = calloc(d->box_count, sizeof *d->shapes);
    if (!d->boxes || !d->shapes)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for %zu boxes", d->box_count);
    BN_TRY(place_boxes(d));
    for (size_t b = 0; b < d->box_count; b++) {
        bn_box *box = &d->boxes[b];
        box->place[0] = (int)(b % (size_t)d->lattice[0]);
        box->place[1] = (int)(b / (size_t)d->lattice[0] % (size_t)d->lattice[1]);
        box->place[2] = (int)(b / (size_t)d->lattice[0] / (size_t)d->lattice[1] % (size_t)d->lattice[2]);
        for (int k = 0; k < 3; k++) {
            box->offset[k] = d->cuts[k][box->place[k]];
            box->n[k] = d->cuts[k][box->place[k] + 1] - box->offset[k];
            if (d->lattice[k] > 1 && box->n[k] < (uint32_t)d->max_radius)
                d->max_radius = (int)box->n[k];
        }
        if (d->overlaps)
            widen(d, c, box);
        bn_layout layout;
        const uint32_t aligned = d->overlaps ? d->cuts[1][box->place[1]] - box->offset[0] : 0;
        if (!layout_of(box->n, g->dims, d->desc.halo, units, aligned, &layout))
            return bn_fail(d->ctx, BN_MEMORY, "a box of %u x %u x %u cells is too large to address", box->n[0],
                           box->n[1], box->n[2]);
        size_t s = d->distributed ? b : 0; /* a program of its own where it knows the box's place */
        while (s < d->shape_count &&
               (memcmp(d->shapes[s].n, box->n, sizeof box->n) != 0 || d->shapes[s].layout.left != layout.left))
            s++;
        if (s == d->shape_count) {
            memcpy(d->shapes[s].n, box->n, sizeof box->n);
            d->shapes[s].layout = layout;
            d->shape_count++;
        }
        box->shape = s;
        if (d->shapes[s].layout.plane > INT32_MAX / 8) /* eight components still fit 32-bit indices below that */
            d->index_bits = 64;
    }
    return BN_OK;
}

static void find_remote(const bn_domain *d, bn_box *box)
{
    for (int v = 0; v < BN_DIRECTIONS; v++) {
        int step[3];
        const long other = bn_direction(v, step) ? bn_box_at(d, box, step) : -1;
        for (int k = 0; other >= 0 && !bn_same_device(box, &d->boxes[other]) && k < 3; k++)
            if (step[k] != 0)
                box->remote[k][step[k] > 0] = true;
    }
}

/* Checks the grid; everything later relies on it. */
static bn_status check_grid(bn_context *ctx, const bn_domain_desc *desc)
{
    const bn_grid *g = &desc->grid;
    if (g->dims < 1 || g->dims > 3)
        return bn_fail(ctx, BN_USAGE, "a grid has 1 to 3 dimensions, not %d", g->dims);
    uint64_t points = 1;
    for (int k = 0; k < 3; k++) {
        if (g->n[k] < 1 || g->n[k] > INT32_MAX / 2 || (k >= g->dims && g->n[k] != 1))
            return bn_fail(ctx, BN_USAGE, "%u points along dimension %d of a %d-dimensional grid", g->n[k], k, g->dims);
        if (__builtin_mul_overflow(points, (uint64_t)g->n[k], &points))
            return bn_fail(ctx, BN_MEMORY, "a grid of %u x %u x %u points is too large to address", g->n[0], g->n[1],
                           g->n[2]);
        if (k < g->dims && g->periodic[k] && g->n[k] < (uint32_t)desc->halo)
            return bn_fail(ctx, BN_USAGE, "%u periodic points along dimension %d are fewer than the halo of %d",
                           g->n[k], k, desc->halo);
    }
    if (desc->halo < 0 || desc->halo > 64 || desc->ghost_cells < 0 || desc->ghost_cells > desc->halo)
        return bn_fail(ctx, BN_USAGE, "a halo of %d cells, %d of them ghost cells; 0 to 64 are possible", desc->halo,
                       desc->ghost_cells);
    if (desc->boxes < 0 || desc->boxes > 4096)
        return bn_fail(ctx, BN_USAGE, "%d boxes; 1 to 4096 are possible", desc->boxes);
    if (desc->whole_rows && g->dims < 2)
        return bn_fail(ctx, BN_USAGE, "a grid of one dimension is one row, which can't stay whole");
    if (desc->align < 0 || (desc->align & (desc->align - 1)) != 0)
        return bn_fail(ctx, BN_USAGE, "cuts at multiples of %d cells; powers of two are possible", desc->align);
    return BN_OK;
}

/* What is auxiliary to an auxiliary domain is so to the main one: a profile has one list. */
static void join_main(bn_domain *d, bn_domain *other)
{
    if (!other)
        return;
    d->main = other->main ? other->main : other;
    d->next_auxiliary = d->main->auxiliaries;
    d->main->auxiliaries = d;
}

static void leave_main(bn_domain *d)
{
    if (d->main) {
        bn_domain **at = &d->main->auxiliaries;
        while (*at != d)
            at = &(*at)->next_auxiliary;
        *at = d->next_auxiliary;
    }
    for (bn_domain *a = d->auxiliaries; a; a = a->next_auxiliary)
        a->main = NULL;
}

static bn_status create(bn_context *ctx, const bn_domain_desc *desc, const bn_cutting *cutting, bn_domain **out)
{
    *out = NULL;
    BN_TRY(check_grid(ctx, desc));
    bn_status st = BN_OK;
    bn_domain *d = calloc(1, sizeof *d);
    if (!d)
        return bn_fail(ctx, BN_MEMORY, "no memory for a domain");
    d->ctx = ctx;
    d->number = 1 + atomic_fetch_add(&domains, 1);
    d->device = desc->device;
    d->desc = *desc;
    d->index_bits = 32;
    d->coarsened = cutting->fine != NULL;
    d->desc.boxes = !desc->device     ? 1
                    : desc->copies    ? (int)desc->device->group_size
                    : desc->boxes > 0 ? desc->boxes
                                      : 1;
    d->distributed = d->desc.boxes > 1 && desc->device->global_count > 1;
    d->overlaps = d->desc.boxes > 1 && cutting->rows;
    if (d->distributed && !desc->copies && (size_t)d->desc.boxes < desc->device->global_count)
        BN_GO(bn_fail(ctx, BN_USAGE, "%d boxes for %zu devices; each needs one at least", d->desc.boxes,
                      desc->device->global_count));
    d->sums.blocks_x = units_along(d, 0);
    d->tile_layers = tile_layers(desc);
    d->sums.partials = (size_t)d->sums.blocks_x * units_along(d, 1) * desc->grid.n[2];
    d->sums.totals = d->sums.partials <= BN_TOTALS_MAX ? d->sums.partials
                                                       : (d->sums.partials + BN_PACKED - 1) / BN_PACKED;
    if (desc->device && desc->precision == BN_DOUBLE && !desc->device->info.fp64)
        BN_GO(bn_fail(ctx, BN_DEVICE,
                      "%s has no double precision; choose another device, or set case.precision = \"single\"",
                      desc->device->info.name));
    if (d->sums.partials > INT32_MAX / 16)
        BN_GO(bn_fail(ctx, BN_MEMORY, "a grid of %u x %u x %u points is too large to sum over", desc->grid.n[0],
                      desc->grid.n[1], desc->grid.n[2]));
    BN_GO(find_cuts(d, cutting));
    BN_GO(cut_boxes(d, cutting));
    for (size_t b = 0; d->distributed && b < d->box_count; b++)
        find_remote(d, &d->boxes[b]);
    join_main(d, desc->auxiliary_to);
    *out = d;
    d = NULL;
out:
    bn_domain_destroy(&d);
    return st;
}

bn_status bn_domain_create(bn_context *ctx, const bn_domain_desc *desc, bn_domain **out)
{
    return create(ctx, desc, &(const bn_cutting){ .fine = NULL }, out);
}

bn_status bn_domain_create_cut(bn_context *ctx, const bn_domain_desc *desc, const bn_box_cuts *cuts, bn_domain **out)
{
    return create(ctx, desc, &(const bn_cutting){ .given = cuts }, out);
}

bool bn_domain_divides(const bn_domain *d, const int step[3])
{
    for (int k = 0; k < 3; k++)
        for (int p = 0; p < d->lattice[k]; p++)
            if (step[k] < 1 || d->cuts[k][p] % (uint32_t)step[k] != 0)
                return false;
    return true;
}

int bn_domain_max_radius(const bn_domain *d) { return d->max_radius; }

bn_status bn_domain_coarsen(bn_domain *fine, const int step[3], int halo, bn_domain **out)
{
    *out = NULL;
    bn_domain_desc desc = fine->desc;
    desc.halo = halo;
    desc.ghost_cells = desc.ghost_cells <= halo ? desc.ghost_cells : 0;
    desc.align = 0;
    desc.auxiliary_to = fine;
    desc.groups = NULL; /* they are of kernels on the finer grid, which may live shorter */
    desc.group_count = 0;
    if (!bn_domain_divides(fine, step))
        return bn_fail(fine->ctx, BN_USAGE, "the cuts between %zu boxes are no multiples of %d x %d x %d points",
                       fine->box_count, step[0], step[1], step[2]);
    for (int k = 0; k < 3; k++) {
        desc.grid.n[k] = (desc.grid.n[k] - 1) / (uint32_t)step[k] + 1;
        desc.grid.h[k] *= step[k];
    }
    return create(fine->ctx, &desc, &(const bn_cutting){ .fine = fine, .step = step }, out);
}

bn_status bn_domain_transposed(bn_domain *d, uint32_t chunk, uint32_t chunks, bn_domain **out)
{
    *out = NULL;
    bn_domain_desc desc = d->desc;
    bn_grid *g = &desc.grid;
    if (!d->desc.whole_rows || d->desc.grid.dims != 2 || d->overlaps || chunk < 1)
        return bn_fail(d->ctx, BN_USAGE, "a grid is transposed in two dimensions, from whole rows to whole rows");
    for (int k = 0; k < 2; k++) {
        g->n[k] = d->desc.grid.n[!k];
        g->h[k] = d->desc.grid.h[!k];
        g->origin[k] = d->desc.grid.origin[!k];
        g->periodic[k] = d->desc.grid.periodic[!k];
    }
    desc.align = 0;
    desc.groups = NULL; /* lent to the other domain */
    desc.group_count = 0;
    desc.boxes = (int)d->box_count;
    desc.auxiliary_to = d;
    return create(d->ctx, &desc, &(const bn_cutting){ .rows = d, .chunk = chunk, .chunks = chunks }, out);
}

/* Before things go: what they were waiting for has been told already. */
static void finish_quietly(bn_domain *d)
{
    if (bn_finish_all(d, "ending") != BN_OK)
        bn_log(d->ctx, BN_LOG_DEBUG, "a domain ends with work that failed");
}

void bn_domain_destroy(bn_domain **domain)
{
    if (!domain || !*domain)
        return;
    bn_domain *d = *domain;
    finish_quietly(d);
    leave_main(d);
    bn_detach_all(&d->attached);
    if (d->buffers)
        bn_log(d->ctx, BN_LOG_WARNING, "buffer %s outlives its domain", d->buffers->name);
    for (int k = 0; k < 3; k++)
        free(d->cuts[k]);
    free(d->first_box);
    free(d->boxes);
    free(d->shapes);
    free(d);
    *domain = NULL;
}

bn_status bn_domain_check_canaries(bn_domain *d) { return bn_buffers_check(d->buffers); }

const bn_grid *bn_domain_grid(const bn_domain *d) { return &d->desc.grid; }
bn_precision bn_domain_precision(const bn_domain *d) { return d->desc.precision; }
size_t bn_domain_real_bytes(const bn_domain *d) { return d->desc.precision == BN_DOUBLE ? 8 : 4; }
bn_context *bn_domain_context(const bn_domain *d) { return d->ctx; }
bn_device *bn_domain_device(const bn_domain *d) { return d->device; }
size_t bn_domain_boxes(const bn_domain *d) { return d->box_count; }

bn_build_stats bn_domain_build_stats(const bn_domain *d)
{
    bn_build_stats all = d->build;
    for (const bn_domain *a = d->auxiliaries; a; a = a->next_auxiliary) {
        all.seconds += a->build.seconds;
        all.built += a->build.built;
        all.cached += a->build.cached;
    }
    return all;
}

size_t bn_domain_points(const bn_domain *d)
{
    const bn_grid *g = &d->desc.grid;
    return (size_t)g->n[0] * g->n[1] * g->n[2];
}

bn_place bn_domain_place(const bn_domain *d)
{
    const bn_layout *l = &d->shapes[0].layout;
    return (bn_place){ (long long)l->first, (long long)l->pitch, (long long)l->plane };
}

uint64_t bn_domain_estimate(const bn_domain_desc *desc, int element_bytes, int components, uint64_t *largest_buffer)
{
    /* One box: more boxes add only halos. On a CPU it is a little less. */
    bn_layout l;
    uint64_t bytes;
    if (!layout_of(desc->grid.n, desc->grid.dims, desc->halo, row_units(true, desc), 0, &l) ||
        __builtin_mul_overflow((uint64_t)l.plane, (uint64_t)element_bytes * (uint64_t)(components > 0 ? components : 1),
                               &bytes))
        return 0;
    if (largest_buffer && bytes > *largest_buffer)
        *largest_buffer = bytes;
    return bytes;
}
