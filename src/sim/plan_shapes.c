/* plan_shapes.c: polygons and terrain that a plan reads for a solver, what they cover and how high they are. */
#include "sim/plan.h"

#include "io/shapes.h"
#include "io/terrain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

static void release(void *data)
{
    bn_shapes *shapes = data;
    bn_shapes_destroy(&shapes);
}

static bn_status list(bn_plan *p, bn_shapes *geometry, bn_plan_shapes **out)
{
    bn_plan_shapes *s;
    BN_TRY(bn_plan_allocate(p, sizeof *s, (void **)&s));
    *s = (bn_plan_shapes){ .count = bn_shapes_count(geometry),
                           .low = { HUGE_VAL, HUGE_VAL },
                           .high = { -HUGE_VAL, -HUGE_VAL },
                           .geometry = geometry };
    BN_TRY(bn_plan_allocate(p, s->count * sizeof *s->shape, (void **)&s->shape));
    for (size_t i = 0; i < s->count; i++) {
        const bn_shape *from = bn_shapes_at(geometry, i);
        bn_plan_shape *to = &s->shape[i];
        *to = (bn_plan_shape){ .name = from->name, .line = from->line, .number = from->number, .open = from->open };
        memcpy(to->inside, from->inside, sizeof to->inside);
        for (int k = 0; k < 2; k++) {
            to->low[k] = from->low[k];
            to->high[k] = from->high[k];
            s->low[k] = fmin(s->low[k], from->low[k]);
            s->high[k] = fmax(s->high[k], from->high[k]);
        }
    }
    *out = s;
    return BN_OK;
}

bn_status bn_plan_shapes_item(bn_plan *p, const bn_case *c, const char *key, size_t item, double snap,
                              bn_plan_shapes **out)
{
    char path[PATH_BYTES];
    bn_shapes *geometry;
    *out = NULL;
    if (!bn_plan_path(c, bn_case_item_text(c, key, item), path, sizeof path))
        return bn_fail(p->ctx, BN_CASE, "the path that is %s of %s is too long", key, bn_case_path(c));
    if (bn_shapes_read(p->ctx, path, snap, &geometry) != BN_OK) {
        bn_note(p->ctx, "which is %s, number %zu, of %s", key, item + 1, bn_case_path(c));
        return bn_error_status(p->ctx);
    }
    BN_TRY(bn_plan_adopt(p, geometry, release));
    return list(p, geometry, out);
}

bool bn_plan_shape_covers(const bn_plan_shapes *s, size_t shape, const double x[2])
{
    return bn_shape_covers(s->geometry, shape, x);
}

bn_status bn_plan_shapes_draw(bn_plan *p, bn_plan_shapes *s, const signed char *draw, bool whole, const double low[2],
                              const double high[2])
{
    return bn_shapes_draw(p->ctx, s->geometry, draw, whole, low, high);
}

bool bn_plan_shapes_open(const bn_plan_shapes *s, const double a[2], const double b[2])
{
    return bn_shapes_open(s->geometry, a, b);
}

int bn_plan_shapes_box(const bn_plan_shapes *s, const double low[2], const double high[2])
{
    return bn_shapes_box(s->geometry, low, high);
}

static void release_terrain(void *data)
{
    bn_terrain *t = data;
    if (t)
        bn_terrain_free(t);
    free(t);
}

bn_status bn_plan_terrain(bn_plan *p, const bn_case *c, const char *key, bn_plan_heights **out)
{
    char path[PATH_BYTES];
    bn_plan_heights *h;
    bn_terrain *t = calloc(1, sizeof *t);
    *out = NULL;
    BN_TRY(bn_plan_adopt(p, t, release_terrain));
    if (!bn_plan_path(c, bn_case_text(c, key), path, sizeof path))
        return bn_fail(p->ctx, BN_CASE, "the path that is %s of %s is too long", key, bn_case_path(c));
    if (bn_terrain_read(p->ctx, path, t) != BN_OK) {
        bn_note(p->ctx, "which is %s of %s", key, bn_case_path(c));
        return bn_error_status(p->ctx);
    }
    BN_TRY(bn_plan_allocate(p, sizeof *h, (void **)&h));
    *h = (bn_plan_heights){ .epsg = t->epsg, .terrain = t };
    for (int k = 0; k < 2; k++) {
        h->low[k] = t->corner[k];
        h->high[k] = t->corner[k] + t->n[k] * t->h[k];
        h->pixel[k] = t->h[k];
    }
    *out = h;
    return BN_OK;
}

double bn_plan_height(const bn_plan_heights *h, const double x[2]) { return bn_terrain_at(h->terrain, x); }
