/* sim_access.c: what the owner of a simulation does between steps: reads and writes its fields, part by part, in the
 * precision and order of its own arrays; advances it by many steps while somebody watches; reads its series. */
#include "sim/sim_struct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- fields */
enum { X, Y, Z, COMPONENT, AXES };

/* A part of a field on its way, as the caller's memory has it. */
typedef struct access {
    bn_sim *sim;
    bn_field *field;
    int first, components;
    bn_region region;
    size_t numbers;    /* of a value: 2 of a pair */
    bn_numbers type;   /* OWN where that is what the caller asks for */
    size_t own, bytes; /* of a number: in the field, in the caller's memory */
    long long strides[AXES];
    bool dense; /* the caller's memory is as bn_field_read_region has it */
} access;

static bn_status no_part(const access *a)
{
    return bn_fail(a->sim->ctx, BN_USAGE, "field %s has no such part", bn_field_describe(a->field)->name);
}

static bn_status begin(bn_sim *sim, const char *name, const bn_field_part *part, bn_numbers type, access *a)
{
    const bn_field_part all = { .first = 0 }, *p = part ? part : &all;
    const long at = bn_sim_field_index(sim, name);
    if (at < 0)
        return bn_fail(sim->ctx, BN_USAGE, "%s has no field %s", sim->solver->name, name);
    const bn_sim_field_info *info = &sim->infos[at];
    const int components = info->components / (info->pairs ? 2 : 1);
    if (!info->real && type != BN_NUMBERS_OWN)
        return bn_fail(sim->ctx, BN_USAGE, "field %s holds whole numbers of %zu bytes, no reals", name,
                       info->element_bytes);
    *a = (access){ .sim = sim,
                   .field = sim->fields[at],
                   .first = p->first,
                   .components = p->components > 0 ? p->components : components - p->first,
                   .numbers = info->pairs ? 2 : 1,
                   .type = type,
                   .own = info->element_bytes,
                   .bytes = type == BN_NUMBERS_FLOAT    ? sizeof(float)
                            : type == BN_NUMBERS_DOUBLE ? sizeof(double)
                                                        : info->element_bytes };
    if (a->own == a->bytes)
        a->type = BN_NUMBERS_OWN;
    if (a->first < 0 || a->components < 1 || a->components > components - a->first)
        return no_part(a);
    for (int d = 0; d < 3; d++) {
        if (p->from[d] >= info->n[d] || p->n[d] > info->n[d] - p->from[d])
            return no_part(a);
        a->region.first[d] = p->from[d];
        a->region.n[d] = p->n[d] > 0 ? p->n[d] : info->n[d] - p->from[d];
    }
    bool given = false;
    long long dense = (long long)(a->bytes * a->numbers);
    for (int d = 0; d < AXES; d++)
        given = given || p->strides[d] != 0;
    a->dense = a->type == BN_NUMBERS_OWN;
    for (int d = 0; d < AXES; d++) {
        const uint32_t n = d < COMPONENT ? a->region.n[d] : (uint32_t)a->components;
        a->strides[d] = given ? p->strides[d] : dense;
        a->dense = a->dense && (n == 1 || a->strides[d] == dense);
        dense *= n;
    }
    a->dense = a->dense && !(bn_field_describe(a->field)->role & BN_INTERLEAVED);
    return BN_OK;
}

static double number_at(const char *from, size_t bytes)
{
    float single;
    double value;
    if (bytes == sizeof value) {
        memcpy(&value, from, sizeof value);
        return value;
    }
    memcpy(&single, from, sizeof single);
    return (double)single;
}

static void put_number(char *to, size_t bytes, double value)
{
    const float single = (float)value;
    memcpy(to, bytes == sizeof value ? (const void *)&value : &single, bytes);
}

typedef enum way { GET, SET, ADD } way;

/* Between `values` of the field, in its own numbers, and the caller's. */
static void move_value(const access *a, char *own, char *theirs, way w)
{
    if (a->type == BN_NUMBERS_OWN && w != ADD) {
        memcpy(w == GET ? theirs : own, w == GET ? own : theirs, a->own * a->numbers);
        return;
    }
    for (size_t i = 0; i < a->numbers; i++, own += a->own, theirs += a->bytes) {
        const double value = number_at(w == GET ? own : theirs, w == GET ? a->own : a->bytes);
        if (w == GET)
            put_number(theirs, a->bytes, value);
        else
            put_number(own, a->own, w == ADD ? number_at(own, a->own) + value : value); /* -0 + 0 is no -0 */
    }
}

/* One layer of one component, or of all of them where they are interleaved, through memory of its own. */
static bn_status move_layer(const access *a, int component, uint32_t layer, char *room, char *theirs, way w)
{
    const bool interleaved = (bn_field_describe(a->field)->role & BN_INTERLEAVED) != 0;
    const int all = bn_field_describe(a->field)->components;
    bn_region r = a->region;
    r.first[2] += layer;
    r.n[2] = 1;
    const int first = interleaved ? 0 : a->first + component, count = interleaved ? all : 1;
    /* Components that the caller does not name keep their values. */
    if (w != SET || interleaved)
        BN_TRY(bn_field_read_region(a->field, first, count, &r, BN_OWN_TYPE, room));
    const size_t value = a->own * a->numbers, step = value * (size_t)count;
    for (int c = 0; c < (interleaved ? a->components : 1); c++) {
        const char *begin_of = room + (interleaved ? (size_t)(a->first + c) * value : 0);
        for (uint32_t j = 0; j < r.n[1]; j++)
            for (uint32_t i = 0; i < r.n[0]; i++) {
                char *own = (char *)begin_of + ((size_t)j * r.n[0] + i) * step;
                move_value(a, own,
                           theirs + i * a->strides[X] + j * a->strides[Y] + layer * a->strides[Z] +
                               (component + c) * a->strides[COMPONENT],
                           w);
            }
    }
    return w == GET ? BN_OK : bn_field_write_region(a->field, first, count, &r, BN_OWN_TYPE, room);
}

static bn_status move_part(const access *a, void *theirs, way w)
{
    if (a->dense && w == GET)
        return bn_field_read_region(a->field, a->first, a->components, &a->region, BN_OWN_TYPE, theirs);
    if (a->dense && w == SET)
        return bn_field_write_region(a->field, a->first, a->components, &a->region, BN_OWN_TYPE, theirs);
    const bool interleaved = (bn_field_describe(a->field)->role & BN_INTERLEAVED) != 0;
    const size_t count = interleaved ? (size_t)bn_field_describe(a->field)->components : 1;
    char *room = malloc((size_t)a->region.n[0] * a->region.n[1] * count * a->own * a->numbers);
    bn_status st = room ? BN_OK
                        : bn_fail(a->sim->ctx, BN_MEMORY, "no memory for a layer of field %s",
                                  bn_field_describe(a->field)->name);
    for (int c = 0; st == BN_OK && c < (interleaved ? 1 : a->components); c++)
        for (uint32_t k = 0; st == BN_OK && k < a->region.n[2]; k++)
            st = move_layer(a, c, k, room, theirs, w);
    free(room);
    return st;
}

bn_status bn_sim_get(bn_sim *sim, const char *field, const bn_field_part *part, bn_numbers type, void *values)
{
    access a;
    BN_TRY(begin(sim, field, part, type, &a));
    BN_TRY(bn_sim_update_outputs(sim));
    return move_part(&a, values, GET);
}

/* What steps go on from changes; whatever was derived from it is computed again before it is used. */
static bn_status change(bn_sim *sim, const char *field, const bn_field_part *part, bn_numbers type, const void *values,
                        way w)
{
    access a;
    BN_TRY(begin(sim, field, part, type, &a));
    if (!(bn_field_describe(a.field)->role & BN_STATE))
        return bn_fail(sim->ctx, BN_USAGE, "field %s follows from others: writing it changes nothing", field);
    if (w == ADD && !sim->infos[bn_sim_field_index(sim, field)].real)
        return bn_fail(sim->ctx, BN_USAGE, "field %s holds whole numbers: set them", field);
    BN_TRY(bn_sim_catch_up(sim));
    sim->written = true;
    sim->outputs_of = 0;
    return move_part(&a, (void *)values, w);
}

bn_status bn_sim_set(bn_sim *sim, const char *field, const bn_field_part *part, bn_numbers type, const void *values)
{
    return change(sim, field, part, type, values, SET);
}

bn_status bn_sim_add(bn_sim *sim, const char *field, const bn_field_part *part, bn_numbers type, const void *values)
{
    return change(sim, field, part, type, values, ADD);
}

/* ----------------------------------------------------------------------------------------------------------- steps */
bool bn_watch_due(bn_watching *w)
{
    const double now = bn_seconds_now();
    if (w->ended || !w->watch || !w->watch->go_on || now - w->asked < w->watch->seconds)
        return w->ended;
    w->asked = now;
    return true;
}

bool bn_watch_ends(bn_watching *w, const bn_sim *sim, double left)
{
    const bn_sim_state now = bn_sim_now(sim);
    w->ended = w->ended || !w->watch->go_on(w->watch->user, &now, left);
    return w->ended;
}

typedef struct advance {
    bn_sim *sim;
    bn_watching watching;
    double began, begin, end; /* [s], and steps */
} advance;

static bool asked_to_end(void *user)
{
    advance *a = user;
    if (!bn_watch_due(&a->watching))
        return false;
    const double done = (double)a->sim->now.step - a->begin, left = a->end - a->begin - done;
    const double seconds = bn_seconds_now() - a->began;
    return bn_watch_ends(&a->watching, a->sim, done > 0 && isfinite(left) ? seconds / done * left : (double)NAN);
}

/* Whether nobody looks at what the next step tells. */
static bool next_is_quiet(const advance *a)
{
    const bn_sim *sim = a->sim;
    const double next = (double)sim->now.step + 1;
    return next < a->end && next < sim->stop.steps && !bn_plan_ends_by(sim->plan, next) &&
           (sim->stop.time <= 0 || sim->now.time + 2 * sim->last.dt < sim->stop.time);
}

bn_status bn_sim_advance(bn_sim *sim, unsigned long long steps, const bn_watch *watch)
{
    advance a = { .sim = sim, .watching = { .watch = watch, .asked = bn_seconds_now() }, .began = bn_seconds_now() };
    bn_status st = BN_OK;
    a.begin = (double)sim->now.step;
    a.end = steps > 0 ? a.begin + (double)steps : HUGE_VAL;
    bn_sim_watch(sim, asked_to_end, &a);
    while (st == BN_OK && (double)sim->now.step < a.end && !(steps > 0 ? sim->now.complete : bn_sim_done(sim)) &&
           !a.watching.ended) {
        bn_sim_quiet(sim, next_is_quiet(&a));
        st = bn_sim_step(sim);
        (void)asked_to_end(&a);
    }
    bn_sim_quiet(sim, false);
    bn_sim_watch(sim, NULL, NULL);
    if (st == BN_OK && a.watching.ended)
        st = bn_fail(sim->ctx, BN_INTERRUPTED, "interrupted after step %llu", sim->now.step);
    return st;
}

/* ------------------------------------------------------------------------------------------------------- gradients */
bool bn_sim_map(const bn_sim *sim, unsigned n[3]) { return sim->solver->map && sim->solver->map(sim->state, n); }

bn_status bn_sim_gradient(bn_sim *sim, const char *of, const double *slopes, const bn_watch *watch, double *gradient)
{
    advance a = { .sim = sim, .watching = { .watch = watch, .asked = bn_seconds_now() }, .end = (double)NAN };
    unsigned n[3];
    if (!bn_sim_map(sim, n))
        return bn_fail(sim->ctx, BN_USAGE, "the case of %s gives no index map: there is nothing to derive %s by",
                       sim->solver->name, of);
    BN_TRY(bn_sim_update_outputs(sim));
    memset(gradient, 0, (size_t)n[0] * n[1] * n[2] * sizeof *gradient);
    bn_sim_watch(sim, asked_to_end, &a);
    const bn_status st = sim->solver->gradient(sim, sim->state, of, slopes, gradient);
    bn_sim_watch(sim, NULL, NULL);
    sim->outputs_of = 0; /* their fields may have served as memory */
    if (st != BN_OK)
        bn_note(sim->ctx, "while computing the gradient of %s", of);
    return st;
}

/* ---------------------------------------------------------------------------------------------------------- series */
void bn_series_release(bn_series *s)
{
    for (size_t c = 0; c < s->count; c++) {
        free((char *)s->columns[c].name);
        free((char *)s->columns[c].unit);
        free((double *)s->columns[c].values);
    }
    *s = (bn_series){ .count = 0 };
}

bn_status bn_series_create(const bn_plan *p, size_t rows, bn_series *out)
{
    const bn_coordinate along = bn_solver_coordinate(p->solver);
    const bn_plan_number fixed[BN_SERIES_FIXED] = { { .name = "step", .unit = "" },
                                                    { .name = along.name, .unit = along.unit },
                                                    { .name = "residual", .unit = "" } };
    *out = (bn_series){ .rows = rows };
    for (size_t c = 0; c < BN_SERIES_FIXED + p->series_count; c++) {
        const bn_plan_number *head = c < BN_SERIES_FIXED ? &fixed[c] : &p->series[c - BN_SERIES_FIXED];
        bn_column *to = &out->columns[out->count++];
        *to = (bn_column){ strdup(head->name), strdup(head->unit), malloc(rows * sizeof(double) + 1) };
        if (!to->name || !to->unit || !to->values) {
            bn_series_release(out);
            return bn_fail(p->ctx, BN_MEMORY, "no memory for a series of %zu rows", rows);
        }
    }
    return BN_OK;
}

void bn_series_put(bn_series *s, size_t row, const double *values)
{
    for (size_t c = 0; c < s->count; c++)
        ((double *)s->columns[c].values)[row] = values[c];
}

bn_status bn_sim_series(bn_sim *sim, const bn_column **columns, size_t *count, size_t *rows)
{
    double row[BN_SERIES_FIXED + BN_SERIES_MAX] = { (double)sim->now.step, sim->now.time, sim->now.residual };
    if (sim->recorded.series.count == 0)
        BN_TRY(bn_series_create(sim->plan, 1, &sim->recorded.series));
    memcpy(row + BN_SERIES_FIXED, sim->last.series, sizeof sim->last.series);
    if (!sim->recorded.of_run)
        bn_series_put(&sim->recorded.series, 0, row);
    *columns = sim->recorded.series.columns;
    *count = sim->recorded.series.count;
    *rows = sim->recorded.of_run || sim->now.step > 0 ? sim->recorded.series.rows : 0;
    return BN_OK;
}

void bn_sim_keep_series(bn_sim *sim, bn_series *s)
{
    bn_series_release(&sim->recorded.series);
    sim->recorded.series = *s;
    sim->recorded.of_run = true;
    *s = (bn_series){ .count = 0 };
}
