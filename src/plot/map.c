/* map.c: pictures of maps (binnacle/results.h), and the colours that suit values. */
#include "binnacle/results.h"
#include "plot/picture.h"

bn_colour_map bn_map_for(const double *values, size_t points)
{
    double low = 0, high = 0;
    for (size_t i = 0; i < points; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    return -low > 0.1 * high && high > -0.1 * low ? BN_MAP_DIVERGING : BN_MAP_SEQUENTIAL;
}

bn_status bn_map_draw(bn_context *ctx, const bn_map *m, const char *path)
{
    const size_t points = (size_t)m->n[0] * m->n[1];
    if (points == 0 || !m->values)
        return bn_fail(ctx, BN_USAGE, "%s: a map of %u x %u values can't be drawn", path, m->n[0], m->n[1]);
    const bn_picture picture = {
        .n = { m->n[0], m->n[1] },
        .origin = { m->origin[0], m->origin[1] },
        .h = { m->h[0], m->h[1] },
        .nodes = !m->cells,
        .values = m->values,
        .low = m->low,
        .high = m->high,
        .map = m->low < m->high ? BN_MAP_SEQUENTIAL : bn_map_for(m->values, points),
        .title = m->title ? m->title : "",
        .name = m->quantity ? m->quantity : m->name,
        .unit = m->unit ? m->unit : "",
        .contours = { m->lines, m->levels, m->lines ? m->level_count : 0, m->line_label, true },
        .axes = { m->axes[0], m->axes[1] },
        .shape = m->shape,
    };
    return bn_picture_write(ctx, path, &picture);
}
