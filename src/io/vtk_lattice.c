/* vtk_lattice.c: what a VTK file holds as a struct, and meshes whose cells or points fill a lattice, such as voxels or
 * hexahedra that another program wrote, or rows of hexagons, as a lattice. */
#include "io/vtk_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void bn_vtk_array_free(bn_vtk_array *a)
{
    free((char *)a->name);
    free((char *)a->unit);
    free((void *)a->data);
    *a = (bn_vtk_array){ 0 };
}

bool bn_vtk_arrays_add(bn_vtk_arrays *list, bn_vtk_array *a)
{
    bn_vtk_array *more = realloc(list->items, (list->count + 1) * sizeof *more);
    if (!more)
        return false;
    list->items = more;
    list->items[list->count++] = *a;
    *a = (bn_vtk_array){ 0 };
    return true;
}

static void free_arrays(bn_vtk_arrays *list)
{
    for (size_t i = 0; i < list->count; i++)
        bn_vtk_array_free(&list->items[i]);
    free(list->items);
    *list = (bn_vtk_arrays){ 0 };
}

void bn_vtk_grid_free(bn_vtk_grid *g)
{
    free_arrays(&g->data[BN_VTK_CELLS]);
    free_arrays(&g->data[BN_VTK_POINTS]);
    for (int d = 0; d < 3; d++)
        bn_vtk_array_free(&g->line[d]);
    bn_vtk_array_free(&g->places);
    bn_vtk_array_free(&g->corners);
    bn_vtk_array_free(&g->ends);
    free(g->title);
    *g = (bn_vtk_grid){ 0 };
}

bool bn_vtk_count_tuples(bn_vtk_grid *g)
{
    g->tuples[BN_VTK_CELLS] = g->tuples[BN_VTK_POINTS] = 1;
    for (int d = 0; d < 3; d++) {
        const size_t cells = g->extent[d] > 0 ? g->extent[d] : 1, points = (size_t)g->extent[d] + 1;
        if (__builtin_mul_overflow(g->tuples[BN_VTK_CELLS], cells, &g->tuples[BN_VTK_CELLS]) ||
            __builtin_mul_overflow(g->tuples[BN_VTK_POINTS], points, &g->tuples[BN_VTK_POINTS]))
            return false;
    }
    return true;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many places there are along an axis, with equal distances; 0: the distances are not equal. `low`, `high`: the
 * outermost. */
static size_t places_along(const double *x, size_t count, double *sorted, double *low, double *high)
{
    memcpy(sorted, x, count * sizeof *x);
    qsort(sorted, count, sizeof *sorted, ascending);
    *low = sorted[0];
    *high = sorted[count - 1];
    const double same = 1e-6 * (*high - *low) / (double)count + 1e-9 * fmax(fabs(*low), fabs(*high));
    size_t places = 1;
    for (size_t i = 1; i < count; i++)
        if (sorted[i] - sorted[places - 1] > same)
            sorted[places++] = sorted[i];
    for (size_t i = 1; i < places; i++)
        if (fabs(sorted[i] - *low - (*high - *low) * (double)i / (double)(places - 1)) >
            1e-3 * (*high - *low) / (double)(places - 1))
            return 0;
    return places;
}

/* The middles of the cells, three planes of coordinates; NULL or why there are none. */
static const char *find_middles(const bn_vtk_grid *g, const double *points, double *middles)
{
    const size_t cells = g->tuples[BN_VTK_CELLS], count = g->tuples[BN_VTK_POINTS];
    size_t at = 0;
    for (size_t c = 0; c < cells; c++) {
        const double end = bn_vtk_value(&g->ends, c);
        const size_t first = at;
        if (!(end > (double)at && end <= (double)g->corner_count))
            return "its cells are damaged";
        for (; (double)at < end; at++) {
            const double corner = bn_vtk_value(&g->corners, at);
            if (!(corner >= 0 && corner < (double)count))
                return "its cells name points that are not there";
            for (size_t d = 0; d < 3; d++)
                middles[d * cells + c] += points[d * count + (size_t)corner];
        }
        for (size_t d = 0; d < 3; d++)
            middles[d * cells + c] /= (double)(at - first);
    }
    return NULL;
}

/* Places in a lattice: order[i]: where element i of the data belongs. The lattice's sizes go to n, low and high. Where
 * *hexagons allows it and every other row along x stands half a cell further, n[0] counts cells, and low and high are
 * those of all rows. */
static const char *find_order(const double *x, size_t count, size_t n[3], double low[3], double high[3], size_t *order,
                              bool *hexagons)
{
    const char *why = NULL;
    double *sorted = malloc(count * sizeof *sorted);
    bool *taken = calloc(count, sizeof *taken);
    size_t all = 1;
    if (!sorted || !taken)
        why = bn_vtk_no_memory;
    for (size_t d = 0; d < 3 && !why; d++) {
        n[d] = places_along(x + d * count, count, sorted, &low[d], &high[d]);
        if (n[d] == 0 || __builtin_mul_overflow(all, n[d], &all))
            why = "it is no regular lattice; ParaView opens it";
    }
    *hexagons = *hexagons && !why && n[1] > 1 && n[0] % 2 == 0 && all / 2 == count && all % 2 == 0;
    if (!why && all != count && !*hexagons)
        why = "it does not fill a regular lattice; ParaView opens it";
    for (size_t i = 0; i < count && !why; i++) {
        size_t at[3];
        for (size_t d = 0; d < 3; d++)
            at[d] = n[d] < 2 ? 0
                             : (size_t)((x[d * count + i] - low[d]) / (high[d] - low[d]) * (double)(n[d] - 1) + 0.5);
        const size_t shift = *hexagons ? at[1] % 2 : 0, wide = *hexagons ? n[0] / 2 : n[0];
        if (*hexagons && (at[0] < shift || (at[0] - shift) % 2 != 0)) {
            why = "its rows are not shifted by half a cell in turn; ParaView opens it";
            break;
        }
        order[i] = (at[2] * n[1] + at[1]) * wide + (*hexagons ? (at[0] - shift) / 2 : at[0]);
        if (taken[order[i]])
            why = "two of its elements have the same place";
        taken[order[i]] = true;
    }
    n[0] /= *hexagons ? 2 : 1;
    free(sorted);
    free(taken);
    return why;
}

static const char *reorder(bn_vtk_arrays *data, size_t count, const size_t *order)
{
    for (size_t i = 0; i < data->count; i++) {
        bn_vtk_array *a = &data->items[i];
        const size_t size = (size_t)a->components * bn_vtk_type_bytes(a->type);
        char *values = malloc(count * size);
        if (!values)
            return bn_vtk_no_memory;
        for (size_t k = 0; k < count; k++)
            memcpy(values + order[k] * size, (const char *)a->data + k * size, size);
        free((void *)a->data);
        a->data = values;
    }
    return NULL;
}

const char *bn_vtk_lattice(bn_vtk_grid *g, int kind)
{
    const size_t points = g->tuples[BN_VTK_POINTS], cells = g->tuples[BN_VTK_CELLS], count = g->tuples[kind];
    /* Arrays that have been read bound the numbers of points and cells. */
    if (!g->places.data || (kind == BN_VTK_CELLS && (!g->corners.data || !g->ends.data)))
        return "it has no points or no cells";
    double *x = malloc(3 * points * sizeof *x), *middles = NULL, low[3], high[3];
    size_t *order = malloc(count * sizeof *order), n[3] = { 0 };
    if (kind == BN_VTK_CELLS)
        middles = calloc(3 * cells, sizeof *middles);
    const char *why = x && order && (middles || kind == BN_VTK_POINTS) ? NULL : bn_vtk_no_memory;
    double least[3] = { HUGE_VAL, HUGE_VAL, HUGE_VAL }, most[3] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL };
    for (size_t i = 0; i < 3 * points && !why; i++) {
        const size_t d = i % 3;
        const double value = bn_vtk_value(&g->places, i);
        if (!isfinite(value))
            why = "a point is no place";
        x[d * points + i / 3] = value;
        least[d] = fmin(least[d], value);
        most[d] = fmax(most[d], value);
    }
    if (!why && kind == BN_VTK_CELLS)
        why = find_middles(g, x, middles);
    g->hexagons = kind == BN_VTK_CELLS && g->corner_count / 6 == cells && g->corner_count % 6 == 0;
    if (!why)
        why = find_order(kind == BN_VTK_CELLS ? middles : x, count, n, low, high, order, &g->hexagons);
    if (!why)
        why = reorder(&g->data[kind], count, order);
    for (size_t d = 0; d < 3 && !why; d++) {
        const size_t sides = kind == BN_VTK_CELLS ? n[d] : n[d] - 1;
        const bool flat = !(most[d] > least[d]);
        g->extent[d] = flat ? 0 : (uint32_t)sides;
        g->origin[d] = least[d];
        g->h[d] = flat || sides == 0 ? 1 : (most[d] - least[d]) / (double)sides;
        if (g->hexagons && d < 2) { /* their corners reach beyond the rows */
            g->h[d] = (high[d] - low[d]) / (d == 0 ? (double)sides - 0.5 : (double)sides - 1);
            g->origin[d] = low[d] - 0.5 * g->h[d];
        }
    }
    g->mesh = false;
    free_arrays(&g->data[1 - kind]);
    free(x);
    free(middles);
    free(order);
    return why;
}
