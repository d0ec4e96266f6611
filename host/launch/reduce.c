/* reduce.c: partial sums, scalars on the device, and one number from a field in an order that the grid alone decides.
 */
#include "launch/reduce.h"

#include "device/device_thread.h"
#include "api/launch.h"
#include "api/other_grids.h"
#include "grid/enqueue.h"
#include "grid/field.h"
#include "grid/queues.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BN_SUM_REAL float
#define BN_SUM_NAME(name) single_##name
#include "api/ordered_sum.h"
#define BN_SUM_REAL double
#define BN_SUM_NAME(name) double_##name
#include "api/ordered_sum.h"

bn_status bn_partials_create(bn_domain *d, const char *name, int components, unsigned maxima, bn_partials **out)
{
    *out = NULL;
    bn_partials *p = calloc(1, sizeof *p);
    if (!p)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the partial sums %s", name);
    p->domain = d;
    p->components = components;
    p->maxima = maxima;
    p->stale = true;
    const size_t bytes = (size_t)components * bn_domain_real_bytes(d);
    bn_status st = bn_copies_create(d, name, d->sums.partials * bytes, &p->buffer);
    if (st == BN_OK && d->sums.totals != d->sums.partials)
        st = bn_copies_create(d, name, d->sums.totals * bytes, &p->packed);
    if (st != BN_OK)
        bn_partials_destroy(&p);
    *out = p;
    return st;
}

void bn_partials_destroy(bn_partials **partials)
{
    if (!partials || !*partials)
        return;
    bn_copies_destroy((*partials)->domain, &(*partials)->buffer);
    bn_copies_destroy((*partials)->domain, &(*partials)->packed);
    free(*partials);
    *partials = NULL;
}

/* Reads bytes of the first device's copy once more, where that is asked for (bn_domain_read_twice). */
static bn_status read_again(const bn_domain *d, const bn_buffer *b, size_t at, size_t bytes, const void *values)
{
    unsigned char again[4096];
    for (size_t done = 0, n = 0; d->device->reads_twice && done < bytes; done += n) {
        n = bytes - done < sizeof again ? bytes - done : sizeof again;
        BN_CL(d->device, b->name, clEnqueueReadBuffer, bn_queue(d->device), b->mem, CL_TRUE, at + done, n, again, 0,
              NULL, NULL);
        if (memcmp(again, (const char *)values + done, n) != 0)
            return bn_read_differs(d->device, b->name);
    }
    return BN_OK;
}

bn_status bn_partials_read(bn_partials *p, int component, double *values, size_t count)
{
    bn_domain *d = p->domain;
    const size_t real = bn_domain_real_bytes(d);
    if (count != d->sums.partials || component < 0 || component >= p->components)
        return bn_fail(d->ctx, BN_USAGE, "%s: %zu sums of component %d were asked for; there are %zu of %d components",
                       p->buffer[0]->name, count, component, d->sums.partials, p->components);
    BN_TRY(bn_allreduce(d, &p, 1, NULL, 0));
    BN_CL(d->device, p->buffer[0]->name, clEnqueueReadBuffer, bn_queue(d->device), p->buffer[0]->mem, CL_TRUE,
          (size_t)component * count * real, count * real, values, 0, NULL, NULL);
    BN_TRY(read_again(d, p->buffer[0], (size_t)component * count * real, count * real, values));
    d->device->counts.waits++;
    d->unflushed = 0;
    bn_reals_widen(d, values, count);
    return BN_OK;
}

/* What reductions of a domain need, by the program that has it: an operation, or packs of partial sums. */
enum { BN_PACKS = BN_COUNT_ABOVE + 1, BN_REDUCTIONS };

static const bn_kernel_desc pack_kernel = { "reduce_pack", BN_ONCE, { 0, 0, 0 } };

/* What reductions of a domain need, made when first needed. */
typedef struct bn_reductions {
    bn_program *program[BN_REDUCTIONS]; /* a few kernels each: compilers take a tenth of a second for every one */
    bn_partials *partials[2];           /* of sums, of maxima */
    bn_scalars *result[BN_REDUCTIONS];
} bn_reductions;

static void destroy_reductions(void *object)
{
    bn_reductions *r = object;
    for (int i = 0; i < BN_REDUCTIONS; i++) {
        bn_program_destroy(&r->program[i]);
        bn_scalars_destroy(&r->result[i]);
    }
    bn_partials_destroy(&r->partials[0]);
    bn_partials_destroy(&r->partials[1]);
    free(r);
}

/* `program` has what `which` needs: on CPUs all of them, since those compile a kernel when it is first launched. */
static bn_status find_reductions(bn_domain *d, int which, bn_reductions **out, bn_program **program)
{
    static const char *const names[BN_REDUCTIONS] = { [BN_SUM] = "SUM",
                                                      [BN_SUM_SQUARES] = "SUM_SQUARES",
                                                      [BN_MAX_ABS] = "MAX_ABS",
                                                      [BN_COUNT_ABOVE] = "ABOVE",
                                                      [BN_PACKS] = "PACKS" };
    bn_define parts[BN_REDUCTIONS];
    size_t count = 0;
    const bool all = d->device->info.cpu;
    for (int i = 0; i < BN_REDUCTIONS; i++)
        if (all || i == which)
            parts[count++] = (bn_define){ .name = names[i], .kind = BN_DEF_INT, .u.i = 1 };
    *out = bn_attached(d->attached, destroy_reductions);
    if (!*out) {
        *out = calloc(1, sizeof **out);
        BN_TRY(bn_attach(d->ctx, &d->attached, *out, destroy_reductions));
    }
    bn_program **own = &(*out)->program[all ? 0 : which];
    if (!*own)
        BN_TRY(bn_program_build_any_size(d, d, "reduce", parts, count, own));
    *program = *own;
    return BN_OK;
}

bn_status bn_partials_pack(bn_partials *p)
{
    bn_domain *d = p->domain;
    bn_reductions *r;
    bn_program *program;
    bn_kernel *k;
    if (!p->packed || !p->stale)
        return BN_OK;
    BN_TRY(find_reductions(d, BN_PACKS, &r, &program));
    BN_TRY(bn_kernel_find(program, &pack_kernel, &k));
    BN_TRY(bn_kernel_ready(k));
    bn_kernel_shape(k);
    const cl_int numbers[] = { (cl_int)d->sums.partials, (cl_int)d->sums.totals, (cl_int)p->maxima };
    const size_t none[3] = { 0, 0, 0 }, global[3] = { d->sums.totals * k->group[0], (size_t)p->components, 1 };
    for (size_t m = 0; m < d->local_count; m++) {
        const size_t box = d->first_box[m];
        BN_TRY(bn_set_arg(k, box, 0, sizeof(cl_mem), &p->buffer[m]->mem));
        for (cl_uint i = 0; i < 3; i++)
            BN_TRY(bn_set_arg(k, box, 1 + i, sizeof *numbers, &numbers[i]));
        BN_TRY(bn_set_arg(k, box, 4, sizeof(cl_mem), &p->packed[m]->mem));
        BN_TRY(bn_enqueue(k, box, none, global, (const size_t[]){ k->group[0], 1, 1 }, NULL));
    }
    k->calls++;
    p->stale = false;
    return BN_OK;
}

bn_status bn_scalars_create(bn_domain *d, const char *name, size_t count, bn_scalars **out)
{
    *out = NULL;
    bn_scalars *s = calloc(1, sizeof *s);
    if (!s)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the scalars %s", name);
    s->domain = d;
    s->count = count;
    bn_status st = bn_copies_create(d, name, count * bn_domain_real_bytes(d), &s->buffer);
    double *zero = st == BN_OK ? calloc(count, sizeof *zero) : NULL; /* a zero of either precision */
    if (st == BN_OK)
        st = zero ? bn_copies_write(d, s->buffer, zero, count * bn_domain_real_bytes(d), true)
                  : bn_fail(d->ctx, BN_MEMORY, "no memory for the scalars %s", name);
    free(zero);
    if (st != BN_OK)
        bn_scalars_destroy(&s);
    *out = s;
    return st;
}

void bn_scalars_destroy(bn_scalars **scalars)
{
    if (!scalars || !*scalars)
        return;
    bn_copies_destroy((*scalars)->domain, &(*scalars)->buffer);
    free((*scalars)->before);
    free(*scalars);
    *scalars = NULL;
}

/* Scalars are few: their conversion needs no heap. */
enum { BN_SCALARS_MAX = 2048 };

enum { BN_REQUESTS_MAX = 8 };

bn_status bn_scalars_read_all(const bn_scalars_request *requests, size_t count)
{
    float single[BN_REQUESTS_MAX][BN_SCALARS_MAX];
    bn_domain *d = count > 0 ? requests[0].scalars->domain : NULL;
    if (count == 0)
        return BN_OK;
    if (d->device->listing) /* decisions would be made from them */
        return BN_INTERRUPTED;
    if (count > BN_REQUESTS_MAX)
        return bn_fail(d->ctx, BN_USAGE, "%zu reads of scalars at once, %d are possible", count, (int)BN_REQUESTS_MAX);
    const bool is_double = d->desc.precision == BN_DOUBLE;
    for (size_t r = 0; r < count; r++) {
        const bn_scalars_request *q = &requests[r];
        if (q->scalars->domain != d || q->count > q->scalars->count || q->count > BN_SCALARS_MAX)
            return bn_fail(d->ctx, BN_USAGE, "%s holds %zu scalars, not %zu", q->scalars->buffer[0]->name,
                           q->scalars->count, q->count);
        BN_TRY(bn_allreduce(d, NULL, 0, &q->scalars, 1));
        const cl_command_queue queue = bn_queue(d->device); /* settled before the event is one of this thread */
        /* The queue is in order: the last read waits for all. */
        BN_CL(d->device, q->scalars->buffer[0]->name, clEnqueueReadBuffer, queue, q->scalars->buffer[0]->mem,
              r + 1 == count ? CL_TRUE : CL_FALSE, 0, q->count * bn_domain_real_bytes(d),
              is_double ? (void *)q->values : single[r], 0, NULL, bn_move_event(d->device));
    }
    d->device->counts.waits++;
    for (size_t r = 0; r < count; r++)
        BN_TRY(read_again(d, requests[r].scalars->buffer[0], 0, requests[r].count * bn_domain_real_bytes(d),
                          is_double ? (void *)requests[r].values : single[r]));
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; !is_double && i < requests[r].count; i++)
            requests[r].values[i] = (double)single[r][i];
    d->unflushed = 0;
    return BN_OK;
}

bn_status bn_scalars_read(bn_scalars *s, double *values, size_t count)
{
    return bn_scalars_read_all(&(bn_scalars_request){ s, values, count }, 1);
}

bn_status bn_scalars_write(bn_scalars *s, const double *values, size_t count)
{
    bn_domain *d = s->domain;
    float single[BN_SCALARS_MAX];
    bool is_double = d->desc.precision == BN_DOUBLE;
    if (count > s->count || count > BN_SCALARS_MAX)
        return bn_fail(d->ctx, BN_USAGE, "%s holds %zu scalars, not %zu", s->buffer[0]->name, s->count, count);
    for (size_t i = 0; i < count; i++)
        single[i] = (float)values[i];
    const void *own = is_double ? (const void *)values : single;
    const size_t bytes = count * bn_domain_real_bytes(d);
    BN_TRY(bn_allreduce(d, NULL, 0, &s, 1));
    BN_TRY(bn_copies_write(d, s->buffer, own, bytes, true));
    for (size_t m = 0; s->before && m < d->local_count; m++) /* not while threads still agree on the last ones */
        memcpy((char *)s->before + m * s->buffer[0]->bytes, own, bytes);
    return BN_OK;
}

bn_status bn_scalars_share(bn_scalars *s)
{
    bn_domain *d = s->domain;
    if (!d->distributed || s->before)
        return BN_OK;
    const size_t bytes = s->count * bn_domain_real_bytes(d);
    if (!(s->before = calloc(d->local_count, bytes)))
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the scalars %s", s->buffer[0]->name);
    s->shared = true;
    BN_CL(d->device, s->buffer[0]->name, clEnqueueReadBuffer, bn_queue(d->device), s->buffer[0]->mem, CL_TRUE, 0, bytes,
          s->before, 0, NULL, NULL);
    for (size_t m = 1; m < d->local_count; m++)
        memcpy((char *)s->before + m * bytes, s->before, bytes);
    return BN_OK;
}

void bn_partials_share(bn_partials *p) { p->shared = true; }

static const bn_kernel_desc partial_kernels[] = {
    [BN_SUM] = { "reduce_sum", BN_PER_BLOCK, { 1, 0, 1 } },
    [BN_SUM_SQUARES] = { "reduce_squares", BN_PER_BLOCK, { 1, 0, 2 } },
    [BN_MAX_ABS] = { "reduce_max_abs", BN_PER_BLOCK, { 1, 0, 1 } },
    [BN_COUNT_ABOVE] = { "reduce_above", BN_PER_BLOCK, { 1, 0, 1 } },
};
static const bn_kernel_desc total_kernels[] = {
    [BN_SUM] = { "reduce_total_sum", BN_ONCE, { 0, 0, 0 } },
    [BN_SUM_SQUARES] = { "reduce_total_sum", BN_ONCE, { 0, 0, 0 } },
    [BN_MAX_ABS] = { "reduce_total_max", BN_ONCE, { 0, 0, 0 } },
    [BN_COUNT_ABOVE] = { "reduce_total_sum", BN_ONCE, { 0, 0, 0 } },
};

bn_status bn_reduce_prepare(bn_domain *d, bn_reduce_op op)
{
    bn_reductions *r;
    bn_program *program;
    bn_kernel *k;
    if (!d->device || !d->device->quirks.parallel_builds)
        return BN_OK;
    BN_TRY(find_reductions(d, (int)op, &r, &program));
    BN_TRY(bn_kernel_find(program, &partial_kernels[op], &k));
    BN_TRY(bn_kernel_find(program, &total_kernels[op], &k));
    if (d->sums.totals == d->sums.partials)
        return BN_OK;
    BN_TRY(find_reductions(d, BN_PACKS, &r, &program));
    return bn_kernel_find(program, &pack_kernel, &k);
}

bn_status bn_reduce_launch(bn_field *f, int component, bn_reduce_op op, double limit, bn_scalars **lent)
{
    bn_domain *d = f->domain;
    bn_reductions *r;
    bn_program *program;
    bn_kernel *partial, *total;
    BN_TRY(find_reductions(d, (int)op, &r, &program));
    bn_partials **partials = &r->partials[op == BN_MAX_ABS];
    if (!*partials)
        BN_TRY(bn_partials_create(d, "reduce partials", 1, op == BN_MAX_ABS, partials));
    if (!r->result[op])
        BN_TRY(bn_scalars_create(d, "reduce result", 1, &r->result[op]));
    BN_TRY(bn_kernel_find(program, &partial_kernels[op], &partial));
    BN_TRY(bn_kernel_find(program, &total_kernels[op], &total));
    BN_TRY(BN_RUN(partial, BN_SIZES(d), BN_READ(f, 0), BN_I32V(component), BN_REALV(limit), BN_PARTIALS(*partials)));
    *lent = r->result[op];
    return BN_RUN(total, BN_TOTALS(*partials), BN_I32V((int)d->sums.totals), BN_SCALARS(r->result[op]));
}

static bn_status reduce_on_device(bn_field *f, int component, bn_reduce_op op, double limit, double *result)
{
    bn_scalars *scalars;
    BN_TRY(bn_reduce_launch(f, component, op, limit, &scalars));
    return bn_scalars_read(scalars, result, 1);
}

/* 1 where a value is above the limit, else 0, in the values' own type. */
static void mark_above(bool twice, const void *values, double limit, size_t count, void *out)
{
    for (size_t i = 0; i < count; i++)
        if (twice)
            ((double *)out)[i] = ((const double *)values)[i] > limit;
        else
            ((float *)out)[i] = ((const float *)values)[i] > (float)limit;
}

/* The largest magnitude; not finite as soon as one value is. */
static double largest(const bn_field *f, const void *values, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double x = f->domain->desc.precision == BN_DOUBLE ? ((const double *)values)[i]
                                                          : (double)((const float *)values)[i];
        if (!isfinite(x))
            return x;
        if (fabs(x) > most)
            most = fabs(x);
    }
    return most;
}

static bn_status reduce(bn_field *f, int component, bn_reduce_op op, double limit, double *result)
{
    bn_domain *d = f->domain;
    if (f->desc.type != BN_T_REAL || component < 0 || component >= f->desc.components)
        return bn_fail(d->ctx, BN_USAGE, "field %s has no real component %d to reduce", f->desc.name, component);
    if (f->desc.role & BN_INTERLEAVED)
        return bn_fail(d->ctx, BN_USAGE, "the components of field %s are interleaved, which sums can't read",
                       f->desc.name);
    if (d->device)
        return reduce_on_device(f, component, op, limit, result);
    const size_t points = bn_domain_points(d);
    const size_t n[3] = { d->desc.grid.n[0], d->desc.grid.n[1], d->desc.grid.n[2] };
    const void *own = (const char *)f->host + points * f->element_bytes * (size_t)component;
    if (op == BN_MAX_ABS) {
        *result = largest(f, own, points);
        return BN_OK;
    }
    const bool twice = d->desc.precision == BN_DOUBLE, above = op == BN_COUNT_ABOVE;
    void *partials = malloc(d->sums.partials * f->element_bytes),
         *marks = above ? malloc(points * f->element_bytes) : NULL;
    if (!partials || (above && !marks)) {
        free(partials);
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the partial sums of %s", f->desc.name);
    }
    if (above)
        mark_above(twice, own, limit, points, marks);
    own = above ? marks : own;
    bool squares = op == BN_SUM_SQUARES;
    *result = twice ? double_ordered_dot(own, squares ? own : NULL, n, partials)
                    : (double)single_ordered_dot(own, squares ? own : NULL, n, partials);
    free(partials);
    free(marks);
    return BN_OK;
}

bn_status bn_reduce(bn_field *f, int component, bn_reduce_op op, double *result)
{
    return reduce(f, component, op, 0, result);
}

bn_status bn_reduce_above(bn_field *f, int component, double limit, double *count)
{
    return reduce(f, component, BN_COUNT_ABOVE, limit, count);
}
