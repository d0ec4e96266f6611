/* mesh_output.c: meshes and outlines of layers of cells. A mesh is written under a temporary name, which it loses when
 * the run ends; an outline is complete at once, and outlines.csv lists its time. */
#include "output/mesh_output.h"

#include "case/string_buffer.h"
#include "io/decimal.h"
#include "io/file.h"
#include "io/ugrid.h"
#include "sim/sim_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIST_BYTES = 1 << 28 };

struct bn_mesh_output {
    bn_context *ctx;
    bn_output_dir *folder;
    const bn_plan *plan;
    bn_cells cells;
    size_t count;                              /* layers */
    bn_ugrid **mesh;                           /* NULL: no meshes */
    size_t field[BN_PLAN_FIELDS], field_count; /* of the meshes: indices of the plan's fields */
    bn_string list;                            /* outlines.csv: the time of each outline */
};

static bool wanted(const bn_field_desc *d)
{
    return d->type == BN_T_REAL && (d->role & BN_OUTPUT) && !(d->role & BN_INTERLEAVED) && d->components <= 2;
}

static bool named(const char *const *names, const char *name)
{
    while (names && *names)
        if (strcmp(*names++, name) == 0)
            return true;
    return false;
}

static bn_status create_meshes(bn_mesh_output *l, const char *title)
{
    const bn_plan_mesh_output_desc *d = &l->plan->mesh_output;
    bn_ugrid_field fields[BN_PLAN_FIELDS];
    char source[64];
    for (size_t i = 0; i < l->plan->field_count; i++) {
        const bn_field_desc *f = &l->plan->fields[i];
        if (!wanted(f))
            continue;
        fields[l->field_count] = (bn_ugrid_field){ f->name, f->unit, f->components > 1 ? f->components : 1,
                                                   !named(d->fields, f->name) };
        l->field[l->field_count++] = i;
    }
    snprintf(source, sizeof source, "binnacle %s", bn_version());
    if (!(l->mesh = calloc(l->count, sizeof *l->mesh)))
        return bn_fail(l->ctx, BN_MEMORY, "no memory for the meshes");
    for (size_t k = 0; k < l->count; k++) {
        const bn_ugrid_desc mesh = { .cells = l->cells,
                                     .hidden = d->hidden ? d->hidden + k * l->cells.n[0] * l->cells.n[1] : NULL,
                                     .title = title,
                                     .source = source,
                                     .epsg = l->plan->map.epsg,
                                     .fields = fields,
                                     .count = l->field_count };
        BN_TRY(bn_ugrid_create(l->ctx, bn_output_dir_name(l->folder, "%s%zu.nc", d->name, k + 1).text, &mesh,
                               &l->mesh[k]));
    }
    return BN_OK;
}

bn_status bn_mesh_output_create(bn_context *ctx, bn_output_dir *folder, bn_sim *sim, bn_mesh_output **out)
{
    const bn_plan *p = bn_sim_plan(sim);
    const bn_grid *g = &p->grid;
    bn_status st = BN_OK;
    *out = NULL;
    if (!p->mesh_output.name)
        return BN_OK;
    bn_mesh_output *l = calloc(1, sizeof *l);
    if (!l)
        return bn_fail(ctx, BN_MEMORY, "no memory for the layers");
    *l = (bn_mesh_output){ .ctx = ctx, .folder = folder, .plan = p, .count = g->dims > 2 ? g->n[2] : 1 };
    l->cells = (bn_cells){
        { g->n[0], g->n[1] }, { g->origin[0], g->origin[1] }, { g->h[0], g->h[1] }, g->kind == BN_HEXAGONAL
    };
    bn_string_add(&l->list, "time [s],%s,polygons,area [m2],file\n", p->mesh_output.name);
    if (p->mesh_output.outlined)
        BN_GO(bn_directory_create(ctx, bn_output_dir_name(folder, "outlines").text));
    if (p->mesh_output.mesh)
        BN_GO(create_meshes(l, bn_case_text(bn_sim_case(sim), "case.title")));
    *out = l;
    l = NULL;
out:
    bn_mesh_output_destroy(&l);
    return st;
}

/* Values of the fields in one layer, component after component; NULL: not needed. */
typedef struct source {
    const bn_mesh_output *layers;
    double *values[BN_PLAN_FIELDS]; /* by the plan's index */
} source;

static double value(const void *data, size_t field, int component, size_t cell)
{
    const source *s = data;
    return s->values[s->layers->field[field]][(size_t)component * s->layers->cells.n[0] * s->layers->cells.n[1] + cell];
}

static void free_values(source *s)
{
    for (size_t i = 0; i < BN_PLAN_FIELDS; i++) {
        free(s->values[i]);
        s->values[i] = NULL;
    }
}

/* Reads the fields that meshes or outlines need. All ranks call it alike, also those that write nothing. */
static bn_status read_layer(bn_context *ctx, const bn_field_sampler *e, uint32_t layer, source *s)
{
    const bn_plan *p = e->plan;
    const uint32_t *n = p->grid.n;
    const size_t cells = (size_t)n[0] * n[1];
    const bn_region r = { { 0, 0, layer }, { n[0], n[1], 1 } };
    for (size_t which = 0; which < e->count; which++) {
        const bn_field_desc *d = &p->fields[e->field[which]];
        const bool outlined = p->mesh_output.outlined && strcmp(d->name, p->mesh_output.outlined) == 0;
        const int components = d->components > 1 ? d->components : 1;
        if (!outlined && !(p->mesh_output.mesh && wanted(d)))
            continue;
        double *values = malloc(cells * (size_t)components * sizeof *values);
        if (!(s->values[e->field[which]] = values))
            return bn_fail(ctx, BN_MEMORY, "no memory for a layer of %s", d->name);
        for (int c = 0; c < components; c++)
            BN_TRY(bn_field_sampler_values(ctx, e, which, c, &r, values + (size_t)c * cells));
    }
    return BN_OK;
}

static bn_status write_outline(bn_context *ctx, bn_mesh_output *l, const bn_field_sampler *e, const double *values,
                               size_t layer, bool *in)
{
    const bn_plan_mesh_output_desc *d = &l->plan->mesh_output;
    const size_t cells = (size_t)l->cells.n[0] * l->cells.n[1];
    bn_outline o;
    char file[256], time[BN_DECIMAL_BYTES], area[BN_DECIMAL_BYTES];
    for (size_t at = 0; at < cells; at++)
        in[at] = values[at] > d->above;
    BN_TRY(bn_outline_make(ctx, &l->cells, in, &o));
    snprintf(file, sizeof file, "outlines/%s-%s%zu-%06llu.wkt", d->outline, d->name, layer + 1, e->step);
    const bn_status st = bn_file_write(ctx, bn_output_dir_name(l->folder, "%s", file).text, o.text, strlen(o.text));
    bn_decimal_format(time, e->time);
    bn_decimal_format(area, (double)o.cells * l->cells.h[0] * l->cells.h[1]);
    bn_string_add(&l->list, "%s,%zu,%zu,%s,%s\n", time, layer + 1, o.polygons, area, file);
    free(o.text);
    return st;
}

static bn_status write_list(bn_context *ctx, bn_mesh_output *l)
{
    return l->list.failed ? bn_fail(ctx, BN_MEMORY, "no memory for the list of outlines")
                          : bn_file_write(ctx, bn_output_dir_name(l->folder, "outlines.csv").text,
                                          bn_string_text(&l->list), l->list.bytes);
}

/* Lines of outlines.csv whose files are of one of these steps. */
static bn_status take_up_list(bn_mesh_output *l, const unsigned long long *steps, size_t count)
{
    const bn_path path = bn_output_dir_name(l->folder, "outlines.csv");
    char *text = NULL;
    size_t bytes, before = l->list.bytes;
    if (access(path.text, F_OK) != 0)
        return BN_OK;
    BN_TRY(bn_file_read(l->ctx, path.text, LIST_BYTES, &text, &bytes));
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        unsigned long long step;
        *end = '\0';
        const char *dash = strrchr(line, '-');
        if (dash && sscanf(dash, "-%llu.wkt", &step) == 1 && bn_steps_have(steps, count, step))
            bn_string_add(&l->list, "%s\n", line);
    }
    free(text);
    return l->list.bytes > before ? write_list(l->ctx, l) : BN_OK;
}

bn_status bn_mesh_output_resume(bn_mesh_output *l, const unsigned long long *steps, size_t count)
{
    if (l->plan->mesh_output.outlined)
        BN_TRY(take_up_list(l, steps, count));
    for (size_t k = 0; l->mesh && k < l->count; k++) {
        BN_TRY(bn_ugrid_take_up(l->ctx, l->mesh[k], steps, count));
        if (bn_ugrid_times(l->mesh[k]) < count)
            bn_log(
                l->ctx, BN_LOG_WARNING,
                "%s%zu.nc will lack %zu of the times before: the run that found them was cut off and could not end it",
                l->plan->mesh_output.name, k + 1, count - bn_ugrid_times(l->mesh[k]));
    }
    return BN_OK;
}

bn_status bn_mesh_output_write(bn_context *ctx, bn_mesh_output *l, const bn_field_sampler *e)
{
    const bn_plan *p = e->plan;
    source s = { .layers = l };
    bn_status st = BN_OK;
    size_t outlined = 0;
    while (p->mesh_output.outlined && strcmp(p->fields[outlined].name, p->mesh_output.outlined) != 0)
        outlined++;
    bool *in = malloc((size_t)p->grid.n[0] * p->grid.n[1] * sizeof *in);
    if (!in)
        return bn_fail(ctx, BN_MEMORY, "no memory for the outlines");
    for (uint32_t k = 0; k < (p->grid.dims > 2 ? p->grid.n[2] : 1); k++) {
        free_values(&s);
        BN_GO(read_layer(ctx, e, k, &s));
        if (l && p->mesh_output.outlined)
            BN_GO(write_outline(ctx, l, e, s.values[outlined], k, in));
        if (l && l->mesh)
            BN_GO(bn_ugrid_add(ctx, l->mesh[k], e->time, e->step, value, &s));
    }
    if (l && p->mesh_output.outlined)
        st = write_list(ctx, l);
out:
    free_values(&s);
    free(in);
    return st;
}

bn_status bn_mesh_output_finish(bn_mesh_output *l)
{
    for (size_t k = 0; l->mesh && k < l->count; k++)
        if (l->mesh[k])
            BN_TRY(bn_ugrid_close(l->ctx, &l->mesh[k]));
    return BN_OK;
}

void bn_mesh_output_destroy(bn_mesh_output **layers)
{
    if (!*layers)
        return;
    for (size_t k = 0; (*layers)->mesh && k < (*layers)->count; k++)
        bn_ugrid_abort(&(*layers)->mesh[k]);
    free((*layers)->mesh);
    bn_string_clear(&(*layers)->list);
    free(*layers);
    *layers = NULL;
}
