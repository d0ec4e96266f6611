/* frame.c: the files of one output time: copies of fields, whole or in pieces, and who writes what. */
#include "output/frame.h"

#include "output/field_files.h"
#include "output/frame_picture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A box of the domain at the output time: `own` without, `size` with the nodes that it shares with the next boxes. */
typedef struct piece {
    bn_region own;
    uint32_t size[3];
} piece;

/* Texts of the plan and the case outlive it. */
struct bn_frame {
    bn_frame_desc desc;
    const bn_plan *plan;
    const char *title;
    double time, dt;
    unsigned long long step;
    size_t count;
    bn_snapshot **snapshots; /* of the fields at index field[i] of the plan; NULL: write_common has written it */
    size_t *field;
    piece *pieces; /* of all ranks, by the number of the box */
    size_t piece_count;
    char caption[BN_PLAN_PICTURES][128]; /* of the solver at this time */
    pthread_mutex_t lock;                /* of what the first thread that needs it makes: */
    bool ready;
    const void *values[BN_PLAN_FIELDS]; /* of the snapshots, pairs as planes */
    void *planes[BN_PLAN_FIELDS];       /* those */
};

bool bn_frame_in_pieces(const bn_frame_desc *d) { return bn_domain_across_ranks(bn_sim_domain(d->sim)); }

void bn_frame_release(bn_frame *m)
{
    if (!m)
        return;
    for (size_t i = 0; m->snapshots && i < m->count; i++)
        bn_snapshot_release(&m->snapshots[i]);
    for (size_t i = 0; i < BN_PLAN_FIELDS; i++)
        free(m->planes[i]);
    pthread_mutex_destroy(&m->lock);
    free(m->snapshots);
    free(m->field);
    free(m->pieces);
    free(m);
}

/* Pairs as planes of real parts, then of imaginary parts, component by component, as in files. NULL: no memory. */
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

static bn_field_sampler sampler_of(const bn_frame *m, const void *const *data)
{
    return (bn_field_sampler){ .plan = m->plan,
                               .title = m->title,
                               .time = m->time,
                               .dt = m->dt,
                               .step = m->step,
                               .field = m->field,
                               .count = m->count,
                               .data = data,
                               .sim = data ? NULL : m->desc.sim,
                               .leads = m->desc.leads };
}

static bn_status draw(bn_context *ctx, const bn_frame *m, const bn_field_sampler *e, size_t which)
{
    return bn_frame_picture_write(ctx, e, which, m->plan->pictures[which].caption ? m->caption[which] : NULL,
                                  m->desc.animation, m->desc.postponed,
                                  bn_frame_picture(m->desc.folder, m->plan->pictures[which].name, m->step).text);
}

static size_t pictures_of(const bn_frame *m) { return m->desc.pictures ? m->plan->picture_count : 0; }

bn_path bn_frame_file(const bn_frame_desc *d, unsigned long long step)
{
    const bn_plan *p = bn_sim_plan(d->sim);
    bn_path name;
    snprintf(name.text, sizeof name.text, "fields/%s-%06llu.%s%s", p->solver->name, step,
             bn_frame_in_pieces(d) ? "p" : "", bn_field_vtk_ending(p));
    return name;
}

/* VTK's file, or the list of its pieces. */
static bn_path whole_path(const bn_frame *m)
{
    return bn_output_dir_name(m->desc.folder, "%s", bn_frame_file(&m->desc, m->step).text);
}

static bool has_volume(const bn_frame *m) { return m->desc.vtk && m->plan->volume.dims > 0; }

/* VTK's file of the fields on the second grid. */
static bn_status write_volume(bn_context *ctx, const bn_frame *m, const bn_field_sampler *e)
{
    bn_vtk_array arrays[BN_PLAN_FIELDS];
    if (!has_volume(m))
        return BN_OK;
    const bn_vtk_image image = bn_field_image(e, true, arrays);
    const char *solver = m->plan->solver->name;
    return bn_vtk_write(ctx, bn_output_dir_name(m->desc.folder, "fields/%s-volume-%06llu.vti", solver, m->step).text,
                        &image);
}

/* HDF5's file, `mesh` and the fields on the second grid. */
static bn_status write_meshes(bn_context *ctx, const bn_frame *m, const bn_field_sampler *e, const bn_mesh *mesh)
{
    bn_mesh_array arrays[BN_PLAN_FIELDS];
    const bn_mesh volume = bn_field_mesh(e, true, arrays);
    bn_mesh both = *mesh;
    both.other = &volume;
    return bn_hdf5_write(ctx, bn_output_dir_name(m->desc.folder, "fields/fields-%llu.h5", m->step).text, &both);
}

/* All files from whole fields but those that are written apart. */
static bn_status write_whole(bn_context *ctx, const bn_frame *m, const void *const *data)
{
    const bn_field_sampler e = sampler_of(m, data);
    if (m->desc.tiff)
        BN_TRY(bn_field_tiff_write(ctx, &e, m->desc.folder));
    BN_TRY(write_volume(ctx, m, &e));
    return m->desc.mesh ? bn_mesh_output_write(ctx, m->desc.mesh, &e) : BN_OK;
}

/* The box at which a part of a snapshot begins. */
static size_t piece_at(const bn_frame *m, const bn_region *r)
{
    size_t b = 0;
    while (b + 1 < m->piece_count && memcmp(m->pieces[b].own.first, r->first, sizeof r->first) != 0)
        b++;
    return b;
}

/* The file of a piece in fields/. */
static bn_path piece_name(const bn_frame *m, bool vtk, size_t box)
{
    bn_path name;
    if (vtk)
        snprintf(name.text, sizeof name.text, "%s-%06llu.p%zu.%s", m->plan->solver->name, m->step, box,
                 bn_field_vtk_ending(m->plan));
    else
        snprintf(name.text, sizeof name.text, "fields-%llu.p%zu.h5", m->step, box);
    return name;
}

/* One part of this rank: a file of each format. */
static bn_status write_piece(bn_context *ctx, const bn_frame *m, const bn_region *r, const void *const *data)
{
    const size_t box = piece_at(m, r);
    const bn_field_sampler e = sampler_of(m, data);
    if (m->desc.vtk) {
        bn_vtk_array arrays[BN_PLAN_FIELDS];
        bn_vtk_image image = bn_field_image(&e, false, arrays);
        memcpy(image.first, r->first, sizeof image.first);
        memcpy(image.n, r->n, sizeof image.n);
        BN_TRY(bn_vtk_write(ctx, bn_output_dir_name(m->desc.folder, "fields/%s", piece_name(m, true, box).text).text,
                            &image));
    }
    if (m->desc.hdf5) {
        bn_mesh_array arrays[BN_PLAN_FIELDS];
        bn_mesh mesh = bn_field_mesh(&e, false, arrays);
        for (int k = 0; k < 3; k++) {
            mesh.n[k] = r->n[k];
            mesh.origin[k] += r->first[k] * mesh.h[k];
            if (mesh.place[k])
                mesh.place[k] += r->first[k];
        }
        BN_TRY(bn_hdf5_write(ctx, bn_output_dir_name(m->desc.folder, "fields/%s", piece_name(m, false, box).text).text,
                             &mesh));
    }
    return BN_OK;
}

static void free_planes(bn_frame *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->planes[i]);
        m->planes[i] = NULL;
    }
}

/* Part number `part` of all fields, pairs as planes. */
static bn_status take_part(bn_context *ctx, bn_frame *m, size_t part, bn_region *r)
{
    *r = bn_domain_whole(bn_sim_domain(m->desc.sim));
    for (size_t i = 0; i < m->count; i++) {
        bn_region all;
        const bool volume = m->plan->fields[m->field[i]].role & BN_VOLUME;
        BN_TRY(bn_snapshot_wait(ctx, m->snapshots[i], volume ? 0 : part, volume ? &all : r, &m->values[i]));
        if (m->plan->fields[m->field[i]].type != BN_T_REAL2)
            continue;
        if (!(m->planes[i] = planes_of(m, i, r, m->values[i])))
            return bn_fail(ctx, BN_MEMORY, "no memory to write the complex field %s",
                           m->plan->fields[m->field[i]].name);
        m->values[i] = m->planes[i];
    }
    return BN_OK;
}

/* The whole fields, for any thread. */
static bn_status take_whole(bn_context *ctx, bn_frame *m)
{
    bn_region r;
    pthread_mutex_lock(&m->lock);
    bn_status st = BN_OK;
    if (!m->ready) {
        free_planes(m);
        st = take_part(ctx, m, 0, &r);
        m->ready = st == BN_OK;
    }
    pthread_mutex_unlock(&m->lock);
    return st;
}

bn_status bn_frame_write(bn_context *ctx, bn_frame *m)
{
    const size_t parts = m->count > 0 ? bn_snapshot_parts(m->snapshots[0]) : 0;
    for (size_t part = 0; m->pieces && part < parts; part++) {
        bn_region r;
        bn_status st = take_part(ctx, m, part, &r);
        if (st == BN_OK)
            st = write_piece(ctx, m, &r, m->values);
        free_planes(m);
        BN_TRY(st);
    }
    if (m->pieces || parts == 0 || !(m->desc.tiff || has_volume(m) || m->desc.mesh))
        return BN_OK;
    BN_TRY(take_whole(ctx, m));
    return write_whole(ctx, m, m->values);
}

size_t bn_frame_apart(const bn_frame *m)
{
    return m->pieces || m->count == 0 ? 0 : pictures_of(m) + m->desc.vtk + m->desc.hdf5;
}

bn_status bn_frame_write_apart(bn_context *ctx, bn_frame *m, size_t which)
{
    BN_TRY(take_whole(ctx, m));
    const bn_field_sampler e = sampler_of(m, m->values);
    if (which < pictures_of(m))
        return draw(ctx, m, &e, which);
    if (m->desc.hdf5 && which == pictures_of(m)) {
        bn_mesh_array arrays[BN_PLAN_FIELDS];
        const bn_mesh mesh = bn_field_mesh(&e, false, arrays);
        return write_meshes(ctx, m, &e, &mesh);
    }
    bn_vtk_array arrays[BN_PLAN_FIELDS];
    const bn_vtk_image image = bn_field_image(&e, false, arrays);
    return bn_vtk_write(ctx, whole_path(m).text, &image);
}

size_t bn_frame_bytes(const bn_frame *m)
{
    size_t bytes = 0;
    for (size_t i = 0; i < m->count; i++)
        bytes += bn_field_bytes(bn_sim_field(m->desc.sim, m->plan->fields[m->field[i]].name));
    return bytes;
}

bn_status bn_frame_list_pieces(bn_context *ctx, const bn_frame *m)
{
    bn_status st = BN_OK;
    /* The fields on the second grid, whole on this rank, are lent as long as its last piece. */
    const bn_field_sampler e = sampler_of(m, NULL), lent = sampler_of(m, m->values);
    bn_vtk_piece *vtk = calloc(m->piece_count + 1, sizeof *vtk);
    bn_mesh_piece *mesh = calloc(m->piece_count + 1, sizeof *mesh);
    bn_path *names = calloc(m->piece_count + 1, sizeof *names);
    if (!vtk || !mesh || !names)
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for the list of pieces"));
    for (size_t b = 0; m->desc.vtk && b < m->piece_count; b++) {
        names[b] = piece_name(m, true, b);
        vtk[b].file = names[b].text;
        memcpy(vtk[b].first, m->pieces[b].own.first, sizeof vtk[b].first);
        memcpy(vtk[b].n, m->pieces[b].size, sizeof vtk[b].n);
    }
    if (m->desc.vtk) {
        bn_vtk_array arrays[BN_PLAN_FIELDS];
        const bn_vtk_image image = bn_field_image(&e, false, arrays);
        BN_GO(bn_vtk_pieces_write(ctx, whole_path(m).text, &image, vtk, m->piece_count));
    }
    for (size_t b = 0; m->desc.hdf5 && b < m->piece_count; b++) {
        names[b] = piece_name(m, false, b);
        mesh[b].file = names[b].text;
        memcpy(mesh[b].first, m->pieces[b].own.first, sizeof mesh[b].first);
        memcpy(mesh[b].n, m->pieces[b].own.n, sizeof mesh[b].n);
        memcpy(mesh[b].size, m->pieces[b].size, sizeof mesh[b].size);
    }
    if (m->desc.hdf5) {
        bn_mesh_array arrays[BN_PLAN_FIELDS];
        bn_mesh whole = bn_field_mesh(&e, false, arrays);
        whole.pieces = mesh;
        whole.piece_count = m->piece_count;
        BN_GO(write_meshes(ctx, m, &lent, &whole));
    }
    st = write_volume(ctx, m, &lent);
out:
    free(vtk);
    free(mesh);
    free(names);
    return st;
}

bn_path bn_frame_picture(const bn_output_dir *folder, const char *name, unsigned long long step)
{
    return bn_output_dir_name(folder, "pictures/%s-%06llu.png", name, step);
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

/* TIFF, meshes and pictures, which are not written in pieces: all ranks exchange the values for them. */
static bn_status write_common(bn_frame *m)
{
    bn_context *ctx = m->desc.ctx;
    const bn_field_sampler e = sampler_of(m, NULL);
    if (m->desc.tiff)
        BN_TRY(bn_field_tiff_write(ctx, &e, m->desc.folder));
    if (m->desc.layered)
        BN_TRY(bn_mesh_output_write(ctx, m->desc.mesh, &e));
    for (size_t i = 0; i < pictures_of(m); i++)
        BN_TRY(draw(ctx, m, &e, i));
    return BN_OK;
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
    if (pieces)
        BN_TRY(find_pieces(m));
    for (size_t i = 0; i < p->field_count; i++)
        if (((files || d->tiff || d->layered) && (p->fields[i].role & BN_OUTPUT)) ||
            (d->pictures && drawn(p, p->fields[i].name)))
            m->field[m->count++] = i;
    if (pieces) {
        BN_TRY(write_common(m));
        size_t used = 0;
        for (size_t i = 0; i < m->count; i++)
            if (files && (p->fields[m->field[i]].role & BN_OUTPUT))
                m->field[used++] = m->field[i];
        m->count = used;
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
    if (pthread_mutex_init(&m->lock, NULL) != 0) {
        free(m);
        return bn_fail(desc->ctx, BN_MEMORY, "no memory for an output time");
    }
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
