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

bn_status bn_pictures_to_one_scale(bn_context *ctx, const char *const *paths, size_t count, const bn_picture *kind)
{
    bn_picture_scale s = { (double)INFINITY, (double)-INFINITY, (double)INFINITY, (double)-INFINITY };
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            bn_png_kept kept = { NULL, 0 };
            bn_picture p = *kind;
            bn_picture_scale own;
            void *memory = NULL;
            bn_status st = bn_png_read_kept(ctx, paths[i], &kept);
            if (st == BN_OK)
                st = bn_picture_unpack(ctx, paths[i], &kept, &p, &own, &memory);
            if (st == BN_OK && !memory && pass == 0)
                bn_log(ctx, BN_LOG_WARNING, "%s does not keep its values and stays with the scale that it has",
                       paths[i]);
            if (st == BN_OK && memory && pass == 0) {
                s.low = fmin(s.low, own.low);
                s.high = fmax(s.high, own.high);
                s.line_low = fmin(s.line_low, own.line_low);
                s.line_high = fmax(s.line_high, own.line_high);
            } else if (st == BN_OK && memory) {
                apply_scale(&p, &s);
                st = bn_picture_redraw(ctx, paths[i], &p, &kept); /* what it keeps has no range: more may come */
            }
            free(memory);
            free(kept.data);
            BN_TRY(st);
        }
    return BN_OK;
}
