/* vtk_pieces.c: the values of pieces at their places in the whole. */
#include "io/vtk_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a piece lies in the whole, and has cells along all of its axes. */
static bool is_part(const bn_vtk_grid *whole, const bn_vtk_grid *piece)
{
    for (int d = 0; d < 3; d++)
        if (piece->first[d] < whole->first[d] || (piece->extent[d] == 0 && whole->extent[d] > 0) ||
            piece->first[d] + piece->extent[d] > whole->first[d] + (long long)whole->extent[d])
            return false;
    return true;
}

static const bn_vtk_array *find(const bn_vtk_arrays *in, const bn_vtk_array *like)
{
    for (size_t i = 0; i < in->count; i++) {
        const bn_vtk_array *a = &in->items[i];
        if (strcmp(a->name, like->name) == 0 && a->type == like->type && a->components == like->components)
            return a;
    }
    return NULL;
}

/* Empty arrays of the whole like those of its first piece. */
static bool make_arrays(bn_vtk_grid *whole, const bn_vtk_grid *piece, int kind)
{
    for (size_t i = 0; i < piece->data[kind].count; i++) {
        const bn_vtk_array *like = &piece->data[kind].items[i];
        bn_vtk_array a = { .type = like->type, .components = like->components };
        a.name = strdup(like->name);
        a.unit = strdup(like->unit);
        a.data = calloc(whole->tuples[kind], (size_t)like->components * bn_vtk_type_bytes(like->type));
        if (!a.name || !a.unit || !a.data || !bn_vtk_arrays_add(&whole->data[kind], &a)) {
            bn_vtk_array_free(&a);
            return false;
        }
    }
    return true;
}

/* Copies the rows of an array. */
static void put_piece(const bn_vtk_grid *whole, const bn_vtk_grid *piece, int kind, const bn_vtk_array *to,
                      const bn_vtk_array *from)
{
    const size_t size = (size_t)to->components * bn_vtk_type_bytes(to->type);
    size_t n[3], m[3], first[3];
    for (int d = 0; d < 3; d++) {
        n[d] = (size_t)whole->extent[d] + (kind == BN_VTK_POINTS || whole->extent[d] == 0);
        m[d] = (size_t)piece->extent[d] + (kind == BN_VTK_POINTS || piece->extent[d] == 0);
        first[d] = (size_t)(piece->first[d] - whole->first[d]);
    }
    for (size_t row = 0; row < m[1] * m[2]; row++) {
        const size_t j = first[1] + row % m[1], k = first[2] + row / m[1];
        memcpy((char *)to->data + ((k * n[1] + j) * n[0] + first[0]) * size,
               (const char *)from->data + row * m[0] * size, m[0] * size);
    }
}

/* A piece that is the whole: what it owns moves, but for the place, the time and the title that the whole has. */
static void move_piece(bn_vtk_grid *whole, bn_vtk_grid *piece)
{
    memcpy(whole->tuples, piece->tuples, sizeof whole->tuples);
    memcpy(whole->data, piece->data, sizeof whole->data);
    memcpy(whole->line, piece->line, sizeof whole->line);
    whole->places = piece->places;
    whole->corners = piece->corners;
    whole->ends = piece->ends;
    whole->corner_count = piece->corner_count;
    *piece = (bn_vtk_grid){ 0 };
}

/* Marks the cells of a piece; false: all of them were. Writers of ghost cells let pieces overlap. */
static bool mark(const bn_vtk_grid *whole, const bn_vtk_grid *piece, unsigned char *seen)
{
    size_t n[3], m[3], first[3];
    bool fresh = false;
    for (int d = 0; d < 3; d++) {
        n[d] = whole->extent[d] ? whole->extent[d] : 1;
        m[d] = piece->extent[d] ? piece->extent[d] : 1;
        first[d] = (size_t)(piece->first[d] - whole->first[d]);
    }
    for (size_t row = 0; row < m[1] * m[2]; row++) {
        unsigned char *at = seen + ((first[2] + row / m[1]) * n[1] + first[1] + row % m[1]) * n[0] + first[0];
        fresh = fresh || memchr(at, 0, m[0]);
        memset(at, 1, m[0]);
    }
    return fresh;
}

/* Puts the coordinates of a piece at their place among those of the whole. */
static const char *put_lines(bn_vtk_grid *whole, const bn_vtk_grid *piece)
{
    for (int d = 0; d < 3; d++) {
        bn_vtk_array *to = &whole->line[d];
        const size_t count = (size_t)whole->extent[d] + 1;
        if (!to->data) {
            *to = (bn_vtk_array){ .type = "Float64", .components = 1, .data = calloc(count, sizeof(double)) };
            to->name = strdup("");
            to->unit = strdup("");
            if (!to->data || !to->name || !to->unit)
                return bn_vtk_no_memory;
        }
        for (size_t i = 0; i <= piece->extent[d]; i++)
            ((double *)to->data)[(size_t)(piece->first[d] - whole->first[d]) + i] = bn_vtk_value(&piece->line[d], i);
    }
    return NULL;
}

const char *bn_vtk_add_piece(bn_vtk_grid *whole, bn_vtk_grid *piece, unsigned char *seen)
{
    const bool first = whole->data[0].count + whole->data[1].count == 0;
    if (!whole->mesh && !is_part(whole, piece))
        return "a piece is no part of the whole image";
    if (whole->uneven && !(piece->line[0].data && piece->line[1].data && piece->line[2].data))
        return "a piece has no coordinates along three axes";
    if (seen && !mark(whole, piece, seen))
        return "a piece is there twice, or lies within the others";
    if (!whole->title) {
        whole->title = piece->title;
        piece->title = NULL;
    }
    if (!(fabs(whole->time) > 0))
        whole->time = piece->time;
    if (whole->mesh || (first && memcmp(piece->extent, whole->extent, sizeof piece->extent) == 0)) {
        move_piece(whole, piece);
        return NULL;
    }
    const char *why = whole->uneven ? put_lines(whole, piece) : NULL;
    if (why)
        return why;
    for (int kind = 0; kind < 2; kind++) {
        if (first && !make_arrays(whole, piece, kind))
            return bn_vtk_no_memory;
        for (size_t i = 0; i < whole->data[kind].count; i++) {
            const bn_vtk_array *to = &whole->data[kind].items[i], *from = find(&piece->data[kind], to);
            if (!from)
                return "its pieces have not the same arrays";
            put_piece(whole, piece, kind, to, from);
        }
    }
    return NULL;
}
