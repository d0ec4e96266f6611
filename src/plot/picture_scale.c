/* picture_scale.c: pictures of one kind drawn again, with one range of colours and one set of lines. At any time one
 * picture is in memory. */
#include "plot/picture.h"

#include "plot/picture_kept.h"
#include "plot/raster.h"

#include <math.h>
#include <stdlib.h>

/* The colours for the smallest and the largest value: as for one picture that had both. */
static void apply_scale(bn_picture *p, const bn_picture_scale *s)
{
    const double ends[2] = { s->low, s->high };
    const bn_picture both = { .n = { 2, 1 }, .values = ends, .map = p->map };
    if (!(p->low < p->high) && s->low <= s->high) {
        const bn_value_range r = bn_raster_range(&both);
        p->low = r.low;
        p->high = r.high;
    }
    p->line_low = s->line_low;
    p->line_high = s->line_high;
}

/* A picture with what is given, or its file keeps; *memory NULL: nothing. */
static bn_status read_kept(bn_context *ctx, const char *path, const bn_png_kept *given, bn_png_kept *kept,
                           bn_picture *p, bn_picture_scale *own, void **memory)
{
    *kept = (bn_png_kept){ NULL, 0 };
    *memory = NULL;
    if (!given)
        BN_TRY(bn_png_read_kept(ctx, path, kept));
    return bn_picture_unpack(ctx, path, given ? given : kept, p, own, memory);
}

bn_status bn_pictures_scale(bn_context *ctx, const char *const *paths, const bn_png_kept *const *given, size_t count,
                            const bn_picture *kind, bn_picture_scale *out)
{
    *out = (bn_picture_scale){ (double)INFINITY, (double)-INFINITY, (double)INFINITY, (double)-INFINITY };
    for (size_t i = 0; i < count; i++) {
        bn_png_kept kept;
        bn_picture p = *kind;
        bn_picture_scale own;
        void *memory;
        const bn_status st = read_kept(ctx, paths[i], given ? given[i] : NULL, &kept, &p, &own, &memory);
        if (st == BN_OK && !memory)
            bn_log(ctx, BN_LOG_WARNING, "%s does not keep its values and stays with the scale that it has", paths[i]);
        if (st == BN_OK && memory) {
            out->low = fmin(out->low, own.low);
            out->high = fmax(out->high, own.high);
            out->line_low = fmin(out->line_low, own.line_low);
            out->line_high = fmax(out->line_high, own.line_high);
        }
        free(memory);
        free(kept.data);
        BN_TRY(st);
    }
    return BN_OK;
}

bn_status bn_picture_to_scale(bn_context *ctx, const char *path, const bn_png_kept *given, const bn_picture *kind,
                              const bn_picture_scale *scale)
{
    bn_png_kept kept;
    bn_picture p = *kind;
    bn_picture_scale own;
    void *memory;
    bn_status st = read_kept(ctx, path, given, &kept, &p, &own, &memory);
    if (st == BN_OK && memory) {
        apply_scale(&p, scale);
        st = bn_picture_redraw(ctx, path, &p, given ? given : &kept); /* what it keeps has no range: more may come */
    }
    free(memory);
    free(kept.data);
    return st;
}

bn_status bn_pictures_to_one_scale(bn_context *ctx, const char *const *paths, size_t count, const bn_picture *kind)
{
    bn_picture_scale scale;
    BN_TRY(bn_pictures_scale(ctx, paths, NULL, count, kind, &scale));
    for (size_t i = 0; i < count; i++)
        BN_TRY(bn_picture_to_scale(ctx, paths[i], NULL, kind, &scale));
    return BN_OK;
}
