/* capacitance_plan.c: surface nodes of obstacles and their influence functions. */
#include "numerics/capacitance_plan.h"

#include "numerics/inverse.h"

#include <math.h>
#include <stdlib.h>

/* Roundoffs of influence that are not worth keeping. */
#define NOTHING 0.0625

enum { INSIDE = 255 }; /* bits of a node with all cells and all neighbours */

/* Whether a node of the rectangle is one of an obstacle, beside an unknown. */
static bool is_surface(const bn_stencil *s, size_t at)
{
    const long step[4] = { -1, 1, -(long)s->nx, (long)s->nx };
    bool beside = false;
    for (int d = 0; d < 4 && s->rectangle[at] && !s->bits[at]; d++)
        beside = beside || (s->rectangle[at] & BN_LINK_WEST << d && s->bits[(size_t)((long)at + step[d])]);
    return beside;
}

size_t bn_capacitance_surface(const bn_stencil *s, uint32_t *surface, size_t room)
{
    size_t count = 0;
    for (size_t at = 0; at < (size_t)s->nx * s->ny; at++)
        if (is_surface(s, at)) {
            if (count < room)
                surface[count] = (uint32_t)at;
            count++;
        }
    return count;
}

const char *bn_capacitance_refuses(const bn_stencil *s)
{
    const size_t points = (size_t)s->nx * s->ny;
    if (s->widths)
        return "on a stretched grid it takes no obstacles";
    for (size_t at = 0; at < points; at++)
        if (s->bits[at] && (s->bits[at] & BN_CELLS) != (s->rectangle[at] & BN_CELLS))
            return "it takes obstacles only if values on them are given";
    const size_t count = bn_capacitance_surface(s, NULL, 0);
    if (count == 0)
        return "its obstacles are beside no unknown";
    return count > BN_CAPACITANCE_SURFACE || count * points > BN_CAPACITANCE_VALUES
               ? "its obstacles have too many nodes on their surfaces: more than 256, or than 8,388,608 over the nodes "
                 "of the grid"
               : NULL;
}

/* What the influence functions are found with. b, x, correction: of all nodes; matrix: count * count. */
typedef struct search {
    bn_context *ctx;
    const bn_stencil *stencil;
    size_t points;
    double *b, *x, *correction, *matrix;
    bn_capacitance_solver *solve;
    void *user;
} search;

/* Nodes from a surface on, along a dimension, at which influence is above a share: with e (k (r + 1 / r) - 2 k - mass)
 * = 0 it falls at least as r^n, since r^n in every row is above it. */
static double decay_length(double k, double mass, double share)
{
    const double half = 1 + 0.5 * mass / k, r = 1 / (half + sqrt(half * half - 1));
    return r < 1 ? ceil(log(share) / log(r)) : (double)INFINITY;
}

static bn_region find_window(const bn_stencil *s, const bn_capacitance_plan *p, double share)
{
    const uint32_t all[2] = { s->nx, s->ny };
    bn_region w = { .n = { 1, 1, 1 } };
    for (int d = 0; d < 2; d++) {
        const double margin = decay_length(d ? s->ky : s->kx, s->mass, share);
        uint32_t low = all[d], high = 0;
        for (size_t k = 0; k < p->count; k++) {
            const uint32_t at = d ? p->surface[k] / s->nx : p->surface[k] % s->nx;
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        w.first[d] = low > margin ? low - (uint32_t)margin : 0;
        w.n[d] = (all[d] - 1 - high > margin ? high + (uint32_t)margin : all[d] - 1) + 1 - w.first[d];
    }
    return w;
}

/* Column k of the capacitance matrix: what a unit charge makes. */
static bn_status take_column(search *s, size_t k, const bn_capacitance_plan *p)
{
    s->b[p->surface[k]] = 1;
    BN_TRY(s->solve(s->user, s->b, s->x));
    s->b[p->surface[k]] = 0;
    for (size_t i = 0; i < p->count; i++)
        s->matrix[i * p->count + k] = s->x[p->surface[i]];
    return BN_OK;
}

/* The row of a node of the rectangle times x. */
static double row(const bn_stencil *m, const double *diagonal, const double *x, size_t at)
{
    const long step[4] = { -1, 1, -(long)m->nx, (long)m->nx };
    const unsigned bits = m->rectangle[at];
    if (bits == INSIDE)
        return diagonal[BN_CELLS] * x[at] - m->kx * (x[at - 1] + x[at + 1]) - m->ky * (x[at - m->nx] + x[at + m->nx]);
    double sum = bits ? diagonal[bits & BN_CELLS] * x[at] : 0;
    for (int d = 0; d < 4; d++)
        if (bits & (unsigned)BN_LINK_WEST << d)
            sum += bn_stencil_entry(m, bits, d) * x[(size_t)((long)at + step[d])];
    return sum;
}

/* b = 0 - A x on the rectangle, at surfaces 0: there charges make up for it. */
static void find_residual(search *s, const bn_capacitance_plan *p)
{
    double diagonal[BN_DIAGONALS];
    bn_stencil_diagonals(s->stencil, diagonal);
    for (size_t at = 0; at < s->points; at++)
        s->b[at] = -row(s->stencil, diagonal, s->x, at);
    for (size_t k = 0; k < p->count; k++)
        s->b[p->surface[k]] = 0;
}

/* Influence function k. What solutions are off by at each node would add up over all surface nodes; solved for once
 * more, with what it leaves over, the function is as good as it is stored. */
static bn_status take_influence(search *s, size_t k, bn_capacitance_plan *p)
{
    double *to = p->influence + k * bn_region_points(&p->window);
    for (size_t at = 0; at < s->points; at++)
        s->b[at] = 0;
    for (size_t i = 0; i < p->count; i++)
        s->b[p->surface[i]] = s->matrix[i * p->count + k];
    BN_TRY(s->solve(s->user, s->b, s->x));
    find_residual(s, p);
    BN_TRY(s->solve(s->user, s->b, s->correction));
    for (uint32_t j = 0; j < p->window.n[1]; j++)
        for (uint32_t i = 0; i < p->window.n[0]; i++) {
            const size_t at = (size_t)(p->window.first[1] + j) * s->stencil->nx + p->window.first[0] + i;
            *to++ = s->x[at] + s->correction[at];
        }
    return BN_OK;
}

static bn_status find_influence(search *s, bn_capacitance_plan *p)
{
    const size_t n = p->count;
    for (size_t k = 0; k < n; k++)
        BN_TRY(take_column(s, k, p));
    if (!(p->influence = malloc((n * bn_region_points(&p->window) + 1) * sizeof *p->influence)))
        return bn_fail(s->ctx, BN_MEMORY, "no memory for the influence functions of obstacles");
    if (!bn_inverse(s->matrix, n))
        return bn_fail(s->ctx, BN_DIVERGED, "the capacitance matrix of the obstacles is singular");
    for (size_t k = 0; k < n; k++)
        BN_TRY(take_influence(s, k, p));
    return BN_OK;
}

bn_status bn_capacitance_plan_create(bn_context *ctx, const bn_stencil *stencil, double roundoff,
                                     bn_capacitance_solver *solve, void *user, bn_capacitance_plan *p)
{
    const size_t points = (size_t)stencil->nx * stencil->ny;
    bn_status st = BN_OK;
    *p = (bn_capacitance_plan){ .count = bn_capacitance_surface(stencil, NULL, 0) };
    p->surface = malloc((p->count + 1) * sizeof *p->surface);
    double *values = calloc(3 * points + p->count * p->count, sizeof *values);
    if (!p->surface || !values)
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for the capacitance matrix"));
    search s = { ctx, stencil, points, values, values + points, values + 2 * points, values + 3 * points, solve, user };
    (void)bn_capacitance_surface(stencil, p->surface, p->count);
    p->window = find_window(stencil, p, NOTHING * roundoff);
    BN_GO(find_influence(&s, p));
out:
    free(values);
    if (st)
        bn_capacitance_plan_destroy(p);
    return st;
}

void bn_capacitance_plan_destroy(bn_capacitance_plan *p)
{
    free(p->surface);
    free(p->influence);
    *p = (bn_capacitance_plan){ 0 };
}
