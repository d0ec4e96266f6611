/* capacitance_plan.c: surface nodes of obstacles and their influence functions. */
#include "numerics/capacitance_plan.h"

#include "numerics/inverse.h"

#include <math.h>
#include <stdlib.h>

/* Roundoffs by which a direct solution misses its exact value far from where it is large. */
#define ROUNDING 16.0

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
               ? "its obstacles have too many nodes on their surfaces: 256, or 16,777,216 over the nodes of the grid"
               : NULL;
}

/* Widens a region, of nothing at first, by a node. */
static void widen(bn_region *r, uint32_t i, uint32_t j)
{
    const uint32_t at[3] = { i, j, 0 };
    for (int d = 0; d < 3; d++) {
        const uint32_t end = r->n[d] == 0 ? at[d] + 1 : r->first[d] + r->n[d];
        r->first[d] = r->n[d] == 0 || at[d] < r->first[d] ? at[d] : r->first[d];
        r->n[d] = (at[d] < end ? end : at[d] + 1) - r->first[d];
    }
}

/* What the influence functions are found with. */
typedef struct search {
    bn_context *ctx;
    uint32_t nx;
    bn_region box, all; /* around all surfaces; the rectangle */
    double *b, *x, *matrix;
    bn_capacitance_solver *solve;
    void *user;
} search;

static size_t place_in_box(const search *s, uint32_t node)
{
    return (size_t)(node / s->nx - s->box.first[1]) * s->box.n[0] + (node % s->nx - s->box.first[0]);
}

/* Column k of the capacitance matrix: what a unit charge makes. The window is widened by all nodes at which it makes
 * more than a share of its own value: the influence function of that node, which is no larger, may count there. */
static bn_status take_column(search *s, size_t k, double share, bn_capacitance_plan *p)
{
    s->b[place_in_box(s, p->surface[k])] = 1;
    BN_TRY(s->solve(s->user, &s->box, s->b, &s->all, s->x));
    s->b[place_in_box(s, p->surface[k])] = 0;
    for (size_t i = 0; i < p->count; i++)
        s->matrix[i * p->count + k] = s->x[p->surface[i]];
    const double limit = share * fabs(s->x[p->surface[k]]);
    for (size_t at = 0; at < bn_region_points(&s->all); at++)
        if (fabs(s->x[at]) > limit)
            widen(&p->window, (uint32_t)(at % s->nx), (uint32_t)(at / s->nx));
    return BN_OK;
}

static bn_status find_influence(search *s, double roundoff, bn_capacitance_plan *p)
{
    const size_t n = p->count;
    for (size_t k = 0; k < n; k++)
        BN_TRY(take_column(s, k, ROUNDING * roundoff, p));
    const size_t nodes = bn_region_points(&p->window);
    if (!(p->influence = malloc((n * nodes + 1) * sizeof *p->influence)))
        return bn_fail(s->ctx, BN_MEMORY, "no memory for the influence functions of obstacles");
    if (!bn_inverse(s->matrix, n))
        return bn_fail(s->ctx, BN_DIVERGED, "the capacitance matrix of the obstacles is singular");
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < n; i++)
            s->b[place_in_box(s, p->surface[i])] = s->matrix[i * n + k];
        BN_TRY(s->solve(s->user, &s->box, s->b, &p->window, p->influence + k * nodes));
    }
    return BN_OK;
}

bn_status bn_capacitance_plan_create(bn_context *ctx, const bn_stencil *stencil, double roundoff,
                                     bn_capacitance_solver *solve, void *user, bn_capacitance_plan *p)
{
    search s = {
        .ctx = ctx, .nx = stencil->nx, .all = { .n = { stencil->nx, stencil->ny, 1 } }, .solve = solve, .user = user
    };
    bn_status st = BN_OK;
    *p = (bn_capacitance_plan){ .count = bn_capacitance_surface(stencil, NULL, 0) };
    p->surface = malloc((p->count + 1) * sizeof *p->surface);
    s.x = malloc(bn_region_points(&s.all) * sizeof *s.x);
    s.matrix = malloc((p->count * p->count + 1) * sizeof *s.matrix);
    if (p->surface)
        (void)bn_capacitance_surface(stencil, p->surface, p->count);
    for (size_t k = 0; p->surface && k < p->count; k++)
        widen(&s.box, p->surface[k] % s.nx, p->surface[k] / s.nx);
    s.b = calloc(bn_region_points(&s.box) + 1, sizeof *s.b);
    if (!p->surface || !s.x || !s.matrix || !s.b)
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for the capacitance matrix"));
    BN_GO(find_influence(&s, roundoff, p));
out:
    free(s.b);
    free(s.x);
    free(s.matrix);
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
