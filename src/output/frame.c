/* frame.c: the files of one output time (moment.h). */
#include "output/frame.h"

#include "plot/picture.h"
#include "io/vtk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A box of the domain as it was: `n` without, `size` with what it shares with the next ones. */
typedef struct piece {
    bn_region own;
    uint32_t size[3];
} piece;

/* Owned by the job. Texts of the plan and the case outlive it. */
struct bn_frame {
    bn_frame_desc desc;
    const bn_plan *plan;
    const char *title;
    double time, dt;
    unsigned long long step;
    size_t count;
    bn_snapshot **snapshots; /* of the fields at index field[i] of the plan; NULL: ranks have brought it together */
    size_t *field;
    char *vtk_path;              /* NULL: no VTK */
    char *tiff_path, *hdf5_path; /* the same */
    char *vtk_base, *hdf5_base;  /* of pieces: what comes before ".p3.vti" */
    piece *pieces;               /* of all ranks, by the number of the box */
    size_t piece_count;
    char *picture_path[BN_PLAN_PICTURES];
    char caption[BN_PLAN_PICTURES][128]; /* as the solver had them at this time */
};

enum { MARKS = 8 }; /* lines of a picture, at most */

bool bn_frame_in_pieces(const bn_frame_desc *d) { return bn_domain_across_ranks(bn_sim_domain(d->sim)); }

void bn_frame_release(bn_frame *m)
{
    if (!m)
        return;
    for (size_t i = 0; m->snapshots && i < m->count; i++)
        bn_snapshot_release(&m->snapshots[i]);
    for (size_t i = 0; i < BN_PLAN_PICTURES; i++)
        free(m->picture_path[i]);
    free(m->snapshots);
    free(m->field);
    free(m->vtk_path);
    free(m->tiff_path);
    free(m->hdf5_path);
    free(m->vtk_base);
    free(m->hdf5_base);
    free(m->pieces);
    free(m);
}

/* --------------------------------------------------------------------------------------------------------------- VTK
 */

static const char *vtk_type(const bn_plan *p, bn_type type)
{
    switch (type) {
    case BN_T_I32: return "Int32";
    case BN_T_I64: return "Int64";
    case BN_T_U8: return "UInt8";
    default: return p->precision == BN_DOUBLE ? "Float64" : "Float32";
    }
}

static bool hexagons(const bn_plan *p) { return p->grid.kind == BN_HEXAGONAL && !p->grid.nodes; }
static const char *vtk_ending(const bn_plan *p) { return hexagons(p) ? "vtu" : "vti"; }

/* The whole grid and what is written of it; `data` may be NULL. */
static void describe_image(const bn_frame *m, const void *const *data, bn_vtk_array *arrays, bn_vtk_image *image)
{
    const bn_grid *g = &m->plan->grid;
    size_t count = 0;
    for (size_t i = 0; i < m->count; i++) {
        const bn_field_desc *d = &m->plan->fields[m->field[i]];
        if (d->role & BN_OUTPUT)
            arrays[count++] = (bn_vtk_array){
                .name = d->name,
                .unit = d->unit,
                .type = vtk_type(m->plan, d->type),
                .components = (d->components > 0 ? d->components : 1) * (d->type == BN_T_REAL2 ? 2 : 1),
                .data = data ? data[i] : NULL,
            };
    }
    *image = (bn_vtk_image){ .dims = g->dims,
                             .nodes = g->nodes,
                             .time = m->time,
                             .arrays = arrays,
                             .count = count,
                             .title = m->title,
                             .hexagons = hexagons(m->plan) };
    for (int k = 0; k < 3; k++) {
        image->n[k] = g->n[k];
        image->h[k] = g->h[k];
        image->origin[k] = g->origin[k] - (g->nodes || k >= g->dims ? 0 : 0.5 * g->h[k]); /* the cell's corner */
    }
    if (image->hexagons) /* the westernmost corner of the first row */
        image->origin[0] = g->origin[0] - 0.5 * g->h[0];
}

/* ---------------------------------------------------------------------------------------------------------- pictures
 */

/* The axes of a picture: the grid's own in two dimensions, those of a slice in three. */
typedef struct plane {
    int x, y, across;
    uint32_t at;
    size_t first, step_x, step_y; /* values of a field from one to the next */
    uint32_t thin[2];             /* of so many points along x and y one is drawn */
} plane;

/* Pictures have some 760 pixels: what ranks bring together for them is bounded. Odd, for rows of hexagons to stay odd
 * or even. */
enum { BN_DRAWN_MOST = 4096 };
static uint32_t thinning(const bn_frame *m, uint32_t n)
{
    return bn_frame_in_pieces(&m->desc) && n > BN_DRAWN_MOST ? (n / BN_DRAWN_MOST) | 1 : 1;
}

static plane plane_of(const bn_frame *m, const bn_picture_desc *d)
{
    const bn_grid *g = &m->plan->grid;
    const size_t step[3] = { 1, g->n[0], (size_t)g->n[0] * g->n[1] };
    plane p = { .x = 0, .y = 1, .across = 2 };
    if (g->dims > 2) {
        p.across = d->across;
        p.at = d->at;
        p.x = d->across == 0;
        p.y = d->across == 2 ? 1 : 2;
    }
    p.first = p.at * step[p.across];
    p.step_x = step[p.x];
    p.step_y = step[p.y];
    p.thin[0] = thinning(m, g->n[p.x]);
    p.thin[1] = thinning(m, g->n[p.y]);
    return p;
}

/* First component of a field on the picture's plane, thinned, band by band; n: how many values along its axes. */
static bn_status sample(bn_context *ctx, const bn_field_sampler *e, const char *name, const plane *p, uint32_t n[2],
                        double **out)
{
    enum { BAND = 1 << 20 }; /* values */
    const uint32_t *grid = e->plan->grid.n;
    const uint32_t wide = grid[p->x], rows = BAND / wide > 0 ? BAND / wide : 1;
    size_t which = 0;
    bn_status st = BN_OK;
    while (which + 1 < e->count && strcmp(e->plan->fields[e->field[which]].name, name) != 0)
        which++;
    for (int k = 0; k < 2; k++)
        n[k] = (grid[k == 0 ? p->x : p->y] - 1) / p->thin[k] + 1;
    double *values = malloc((size_t)n[0] * n[1] * sizeof *values), *band = malloc((size_t)rows * wide * sizeof *band);
    if (!values || !band) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for a picture of %s", name);
        goto out;
    }
    for (uint32_t low = 0; low < grid[p->y]; low += rows) {
        bn_region r = { { 0 }, { 1, 1, 1 } };
        r.first[p->across] = p->at;
        r.first[p->y] = low;
        r.n[p->x] = wide;
        r.n[p->y] = grid[p->y] - low < rows ? grid[p->y] - low : rows;
        BN_GO(bn_field_sampler_values(ctx, e, which, 0, &r, band));
        for (uint32_t j = (low + p->thin[1] - 1) / p->thin[1]; (uint64_t)j * p->thin[1] < (uint64_t)low + r.n[p->y];
             j++)
            for (uint32_t i = 0; i < n[0]; i++)
                values[(size_t)j * n[0] + i] = band[(size_t)(j * p->thin[1] - low) * wide + (size_t)i * p->thin[0]];
    }
    *out = values;
    values = NULL;
out:
    free(values);
    free(band);
    return st;
}

static const char *unit_of(const bn_plan *p, const char *field)
{
    for (size_t i = 0; i < p->field_count; i++)
        if (strcmp(p->fields[i].name, field) == 0)
            return p->fields[i].unit;
    return "";
}

/* Rows of hexagons as rows of half cells, every odd one shifted by one: what stands out at the ends takes the value
 * beside it. NULL: no memory. */
static double *half_cells(const double *values, size_t nx, size_t ny)
{
    const size_t wide = 2 * nx + 1;
    double *halves = malloc(wide * ny * sizeof *halves);
    for (size_t at = 0; halves && at < wide * ny; at++) {
        const size_t j = at / wide, column = at % wide, shift = j % 2, i = column > shift ? (column - shift) / 2 : 0;
        halves[at] = values[j * nx + (i < nx ? i : nx - 1)];
    }
    return halves;
}

/* Replaces values on hexagons by half cells; false: no memory. */
static bool halve(double **values, size_t nx, size_t ny)
{
    double *halves = *values ? half_cells(*values, nx, ny) : NULL;
    const bool done = halves || !*values;
    free(*values);
    *values = halves;
    return done;
}

static bn_status draw(bn_context *ctx, const bn_frame *m, const bn_field_sampler *e, size_t which)
{
    const bn_picture_desc *d = &m->plan->pictures[which];
    const bn_grid *g = &m->plan->grid;
    bn_status st = BN_OK;
    char title[512], label[256] = "";
    const plane axes = plane_of(m, d);
    double *values = NULL, *lines = NULL;
    uint32_t n[2];
    BN_GO(sample(ctx, e, d->field, &axes, n, &values));
    if (d->contour_field)
        BN_GO(sample(ctx, e, d->contour_field, &axes, n, &lines));
    if (!m->desc.leads)
        goto out;
    const size_t nx = n[0], ny = n[1];
    for (size_t k = 0; d->hidden && k < nx * ny; k++)
        if (d->hidden[axes.first + k % nx * axes.thin[0] * axes.step_x + k / nx * axes.thin[1] * axes.step_y])
            values[k] = (double)NAN;
    const bool hexagons = g->kind == BN_HEXAGONAL && axes.x == 0 && axes.y == 1;
    for (size_t k = 0; d->blanks && k < nx * ny; k++)
        if (values[k] < d->blank_below)
            values[k] = (double)-INFINITY;
    if (hexagons && (!halve(&values, nx, ny) || !halve(&lines, nx, ny))) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for the picture %s", d->name);
        goto out;
    }
    const bn_coordinate along = bn_solver_coordinate(m->plan->solver);
    const int said = snprintf(title, sizeof title, "%s%s%s, ", m->title && m->title[0] ? m->title : "",
                              m->title && m->title[0] ? ": " : "", d->title);
    if (said > 0 && (size_t)said < sizeof title && d->timeless)
        snprintf(title + said, sizeof title - (size_t)said, "step %llu", m->step);
    else if (said > 0 && (size_t)said < sizeof title)
        snprintf(title + said, sizeof title - (size_t)said, "%s = %.4g %s", along.letter, m->time, along.unit);
    if (d->contour_field)
        snprintf(label, sizeof label, "%s [%s]", d->contour_quantity ? d->contour_quantity : d->contour_field,
                 unit_of(m->plan, d->contour_field));
    bn_marked_line marks[MARKS];
    size_t mark_count = 0;
    for (size_t k = 0; k < d->mark_count && mark_count < MARKS; k++)
        if (d->marks[k].dim == axes.x || d->marks[k].dim == axes.y)
            marks[mark_count++] = (bn_marked_line){ d->marks[k].dim == axes.x, d->marks[k].at, d->marks[k].label };
    const bn_picture picture = {
        .n = { hexagons ? 2 * n[0] + 1 : n[0], n[1] },
        .origin = { g->origin[axes.x] - (hexagons ? 0.25 * g->h[0] : 0), g->origin[axes.y] },
        .h = { (hexagons ? 0.5 : 1) * g->h[axes.x] * axes.thin[0], g->h[axes.y] * axes.thin[1] },
        .nodes = g->nodes,
        .values = values,
        .low = d->low,
        .high = d->high,
        .map = (bn_colour_map)d->map,
        .title = title,
        .name = d->quantity ? d->quantity : d->field,
        .unit = unit_of(m->plan, d->field),
        .walls = d->walls,
        .wall_count = d->wall_count,
        .keeps_values = m->desc.animation,
        .contours = { lines, d->contour_levels, lines ? d->contour_count : 0, d->contour_field ? label : NULL },
        .axes = { axes.x == 0 ? "x" : "y", axes.y == 1 ? "y" : "z" },
        .caption = d->caption ? m->caption[which] : NULL,
        .marks = marks,
        .mark_count = mark_count,
    };
    st = bn_picture_write(ctx, m->picture_path[which], &picture);
out:
    free(values);
    free(lines);
    return st;
}

/* ------------------------------------------------------------------------------------------------------------- files
 */

/* Pairs as planes of real parts, then of imaginary parts, component by component: as files have them. NULL: no memory.
 */
static void *planes_of(const bn_frame *m, size_t which, const bn_region *r, const void *pairs)
{
    const bn_field_desc *d = &m->plan->fields[m->field[which]];
    const size_t bytes = m->plan->precision == BN_DOUBLE ? 8 : 4, points = bn_region_points(r);
    const size_t components = d->components > 0 ? (size_t)d->components : 1;
    char *planes = malloc(2 * components * points * bytes);
    for (size_t c = 0; planes && c < 2 * components; c++)
        for (size_t i = 0; i < points; i++)
            memcpy(planes + (c * points + i) * bytes, (const char *)pairs + (2 * (c / 2 * points + i) + c % 2) * bytes,
                   bytes);
    return planes;
}

static bn_field_sampler export_of(const bn_frame *m, const void *const *data)
{
    return (bn_field_sampler){ .plan = m->plan,
                        .time = m->time,
                        .dt = m->dt,
                        .step = m->step,
                        .field = m->field,
                        .count = m->count,
                        .data = data,
                        .sim = data ? NULL : m->desc.sim,
                        .leads = m->desc.leads };
}

static bn_status draw_all(bn_context *ctx, const bn_frame *m, const bn_field_sampler *e)
{
    for (size_t i = 0; m->desc.pictures && i < m->plan->picture_count; i++)
        BN_TRY(draw(ctx, m, e, i));
    return BN_OK;
}

/* All files from whole fields. */
static bn_status write_whole(bn_context *ctx, const bn_frame *m, const void *const *data)
{
    bn_field_sampler e = export_of(m, data);
    e.tiff = m->tiff_path;
    e.hdf5 = m->hdf5_path;
    if (m->vtk_path) {
        bn_vtk_array arrays[BN_PLAN_FIELDS];
        bn_vtk_image image;
        describe_image(m, data, arrays, &image);
        BN_TRY(bn_vtk_write(ctx, m->vtk_path, &image));
    }
    BN_TRY(bn_field_sampler_write(ctx, &e));
    if (m->desc.layers)
        BN_TRY(bn_mesh_output_write(ctx, m->desc.layers, &e));
    return draw_all(ctx, m, &e);
}

/* The box that a part of a snapshot is, or its beginning. */
static size_t piece_at(const bn_frame *m, const bn_region *r)
{
    size_t b = 0;
    while (b + 1 < m->piece_count && memcmp(m->pieces[b].own.first, r->first, sizeof r->first) != 0)
        b++;
    return b;
}

static bn_status piece_path(bn_context *ctx, const char *base, size_t box, const char *ending, char *path, size_t room)
{
    if (snprintf(path, room, "%s.p%zu.%s", base, box, ending) >= (int)room)
        return bn_fail(ctx, BN_IO, "the path %s... is too long", base);
    return BN_OK;
}

/* One part of this rank, as a file of each kind. */
static bn_status write_piece(bn_context *ctx, const bn_frame *m, const bn_region *r, const void *const *data)
{
    const size_t box = piece_at(m, r);
    char path[4096];
    if (m->desc.vtk) {
        bn_vtk_array arrays[BN_PLAN_FIELDS];
        bn_vtk_image image;
        describe_image(m, data, arrays, &image);
        memcpy(image.first, r->first, sizeof image.first);
        memcpy(image.n, r->n, sizeof image.n);
        BN_TRY(piece_path(ctx, m->vtk_base, box, vtk_ending(m->plan), path, sizeof path));
        BN_TRY(bn_vtk_write(ctx, path, &image));
    }
    if (m->desc.hdf5) {
        bn_mesh_array arrays[BN_PLAN_FIELDS];
        const bn_field_sampler e = export_of(m, data);
        bn_mesh mesh = bn_field_sampler_mesh(&e, arrays);
        for (int k = 0; k < 3; k++) {
            mesh.n[k] = r->n[k];
            mesh.origin[k] += r->first[k] * mesh.h[k];
        }
        BN_TRY(piece_path(ctx, m->hdf5_base, box, "h5", path, sizeof path));
        BN_TRY(bn_hdf5_write(ctx, path, &mesh));
    }
    return BN_OK;
}

/* Part number `part` of all fields, pairs as planes. */
static bn_status write_part(bn_context *ctx, const bn_frame *m, size_t part)
{
    const void *values[BN_PLAN_FIELDS] = { NULL };
    void *own[BN_PLAN_FIELDS] = { NULL };
    bn_region r = bn_domain_whole(bn_sim_domain(m->desc.sim));
    bn_status st = BN_OK;
    for (size_t i = 0; i < m->count; i++) {
        BN_GO(bn_snapshot_wait(ctx, m->snapshots[i], part, &r, &values[i]));
        if (m->plan->fields[m->field[i]].type != BN_T_REAL2)
            continue;
        if (!(own[i] = planes_of(m, i, &r, values[i]))) {
            st = bn_fail(ctx, BN_MEMORY, "no memory to write the complex field %s", m->plan->fields[m->field[i]].name);
            goto out;
        }
        values[i] = own[i];
    }
    st = m->pieces ? write_piece(ctx, m, &r, values) : write_whole(ctx, m, values);
out:
    for (size_t i = 0; i < m->count; i++)
        free(own[i]);
    return st;
}

bn_status bn_frame_write(bn_context *ctx, bn_frame *m)
{
    const size_t parts = m->count > 0 ? bn_snapshot_parts(m->snapshots[0]) : 0;
    for (size_t part = 0; part < parts; part++)
        BN_TRY(write_part(ctx, m, part));
    return BN_OK;
}

/* The name of a file of a folder, as another one in the folder names it. */
static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bn_status bn_frame_list_pieces(bn_context *ctx, const bn_frame *m)
{
    enum { NAME = 512 };
    bn_status st = BN_OK;
    bn_vtk_piece *vtk = calloc(m->piece_count + 1, sizeof *vtk);
    bn_mesh_piece *mesh = calloc(m->piece_count + 1, sizeof *mesh);
    char(*names)[NAME] = calloc(m->piece_count + 1, sizeof *names);
    if (!vtk || !mesh || !names) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for the list of pieces");
        goto out;
    }
    for (size_t b = 0; m->desc.vtk && b < m->piece_count; b++) {
        BN_GO(piece_path(ctx, last_of(m->vtk_base), b, vtk_ending(m->plan), names[b], NAME));
        vtk[b].file = names[b];
        memcpy(vtk[b].first, m->pieces[b].own.first, sizeof vtk[b].first);
        memcpy(vtk[b].n, m->pieces[b].size, sizeof vtk[b].n);
    }
    if (m->desc.vtk) {
        bn_vtk_array arrays[BN_PLAN_FIELDS];
        bn_vtk_image image;
        describe_image(m, NULL, arrays, &image);
        BN_GO(bn_vtk_pieces_write(ctx, m->vtk_path, &image, vtk, m->piece_count));
    }
    for (size_t b = 0; m->desc.hdf5 && b < m->piece_count; b++) {
        BN_GO(piece_path(ctx, last_of(m->hdf5_base), b, "h5", names[b], NAME));
        mesh[b].file = names[b];
        memcpy(mesh[b].first, m->pieces[b].own.first, sizeof mesh[b].first);
        memcpy(mesh[b].n, m->pieces[b].own.n, sizeof mesh[b].n);
        memcpy(mesh[b].size, m->pieces[b].size, sizeof mesh[b].size);
    }
    if (m->desc.hdf5) {
        bn_mesh_array arrays[BN_PLAN_FIELDS];
        const bn_field_sampler e = export_of(m, NULL);
        bn_mesh whole = bn_field_sampler_mesh(&e, arrays);
        whole.pieces = mesh;
        whole.piece_count = m->piece_count;
        st = bn_hdf5_write(ctx, m->hdf5_path, &whole);
    }
out:
    free(vtk);
    free(mesh);
    free(names);
    return st;
}

/* ---------------------------------------------------------------------------------------------------------- creation
 */

void bn_frame_file(const bn_frame_desc *d, char *name, size_t room)
{
    const bn_plan *p = bn_sim_plan(d->sim);
    snprintf(name, room, "fields/%s-%06llu.%s%s", p->solver->name, bn_sim_now(d->sim).step,
             bn_frame_in_pieces(d) ? "p" : "", vtk_ending(p));
}

bn_status bn_frame_picture(bn_output_dir *folder, char **path, const char *name, unsigned long long step)
{
    return bn_output_dir_name(folder, path, "pictures/%s-%06llu.png", name, step);
}

static bn_status name_files(bn_frame *m)
{
    const bn_frame_desc *d = &m->desc;
    char name[256];
    bn_frame_file(d, name, sizeof name);
    if (d->vtk) {
        BN_TRY(bn_output_dir_name(d->folder, &m->vtk_path, "%s", name));
        BN_TRY(bn_output_dir_name(d->folder, &m->vtk_base, "fields/%s-%06llu", m->plan->solver->name, m->step));
    }
    if (d->tiff)
        BN_TRY(bn_output_dir_name(d->folder, &m->tiff_path, "fields/"));
    if (d->hdf5) {
        BN_TRY(bn_output_dir_name(d->folder, &m->hdf5_path, "fields/fields-%llu.h5", m->step));
        BN_TRY(bn_output_dir_name(d->folder, &m->hdf5_base, "fields/fields-%llu", m->step));
    }
    for (size_t i = 0; d->pictures && i < m->plan->picture_count; i++)
        BN_TRY(bn_frame_picture(d->folder, &m->picture_path[i], m->plan->pictures[i].name, m->step));
    return BN_OK;
}

static bool drawn(const bn_plan *p, const char *name)
{
    for (size_t i = 0; i < p->picture_count; i++)
        if (strcmp(p->pictures[i].field, name) == 0 ||
            (p->pictures[i].contour_field && strcmp(p->pictures[i].contour_field, name) == 0))
            return true;
    return false;
}

/* The boxes of all ranks; nodes at a cut belong to the pieces on both sides. */
static bn_status find_pieces(bn_frame *m)
{
    const bn_domain *d = bn_sim_domain(m->desc.sim);
    m->piece_count = bn_domain_boxes(d);
    if (!(m->pieces = calloc(m->piece_count, sizeof *m->pieces)))
        return bn_fail(m->desc.ctx, BN_MEMORY, "no memory for the list of pieces");
    for (size_t b = 0; b < m->piece_count; b++) {
        bn_region *r = &m->pieces[b].own;
        bn_domain_box(d, b, r);
        for (int k = 0; k < 3; k++)
            m->pieces[b].size[k] = r->n[k] + (m->plan->grid.nodes && k < m->plan->grid.dims &&
                                              r->first[k] + r->n[k] < m->plan->grid.n[k]);
    }
    return BN_OK;
}

/* What there is one of is made from whole fields at once, by all ranks. */
static bn_status bring_together(bn_frame *m)
{
    bn_context *ctx = m->desc.ctx;
    bn_field_sampler e = export_of(m, NULL);
    e.tiff = m->tiff_path;
    BN_TRY(bn_field_sampler_write(ctx, &e));
    if (m->desc.layered)
        BN_TRY(bn_mesh_output_write(ctx, m->desc.layers, &e));
    return draw_all(ctx, m, &e);
}

static bn_status begin(bn_frame *m)
{
    const bn_frame_desc *d = &m->desc;
    const bn_plan *p = m->plan;
    const bool pieces = bn_frame_in_pieces(d), files = d->vtk || d->hdf5;
    m->snapshots = calloc(p->field_count, sizeof *m->snapshots);
    m->field = calloc(p->field_count, sizeof *m->field);
    if (!m->snapshots || !m->field)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for an output time");
    BN_TRY(name_files(m));
    if (pieces)
        BN_TRY(find_pieces(m));
    for (size_t i = 0; i < p->field_count; i++)
        if (((files || d->tiff || d->layered) && (p->fields[i].role & BN_OUTPUT)) ||
            (d->pictures && drawn(p, p->fields[i].name)))
            m->field[m->count++] = i;
    if (pieces) {
        BN_TRY(bring_together(m));
        size_t kept = 0;
        for (size_t i = 0; i < m->count; i++)
            if (files && (p->fields[m->field[i]].role & BN_OUTPUT))
                m->field[kept++] = m->field[i];
        m->count = kept;
    }
    for (size_t i = 0; i < m->count; i++)
        BN_TRY(bn_snapshot_begin(bn_sim_field(d->sim, p->fields[m->field[i]].name), p->grid.nodes, &m->snapshots[i]));
    return BN_OK;
}

bn_status bn_frame_create(const bn_frame_desc *desc, bn_frame **out)
{
    *out = NULL;
    bn_frame *m = calloc(1, sizeof *m);
    if (!m)
        return bn_fail(desc->ctx, BN_MEMORY, "no memory for an output time");
    const bn_sim_state now = bn_sim_now(desc->sim);
    m->desc = *desc;
    m->plan = bn_sim_plan(desc->sim);
    m->title = bn_case_text(bn_sim_case(desc->sim), "case.title");
    m->time = now.time;
    m->dt = now.step > 0 ? bn_sim_last_step(m->desc.sim)->dt : 0;
    m->step = now.step;
    for (size_t i = 0; i < m->plan->picture_count; i++)
        if (m->plan->pictures[i].caption)
            snprintf(m->caption[i], sizeof m->caption[i], "%s", m->plan->pictures[i].caption);
    bn_status st = bn_sim_update_outputs(desc->sim);
    if (st == BN_OK)
        st = begin(m);
    if (st == BN_OK)
        *out = m;
    else
        bn_frame_release(m);
    return st;
}
