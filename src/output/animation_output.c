/* animation_output.c: the pictures of all output times drawn again with one scale, and joined. */
#include "output/animation_output.h"

#include "output/frame.h"
#include "output/frame_picture.h"
#include "plot/png_animation.h"

#include <stdlib.h>
#include <string.h>

enum {
    BN_ANIMATION_MS = 6000, /* length of an animation; of each frame, if there are many: */
    BN_FRAME_MS_MIN = 20    /* the shortest time that browsers show */
};

/* The pictures of one kind, which become pictures/NAME.png, all with one scale. */
typedef struct animation {
    const bn_plan *plan;
    size_t which, count;
    bn_path path;
    char **frames;
    const bn_png_kept **kept; /* of those that are postponed */
    bn_picture_scale scale;
} animation;

static void animations_free(animation *all, size_t kinds)
{
    for (size_t k = 0; k < kinds; k++) {
        for (size_t i = 0; all[k].frames && i < all[k].count; i++)
            free(all[k].frames[i]);
        free(all[k].frames);
        free(all[k].kept);
    }
    free(all);
}

static bn_status name_files(bn_context *ctx, bn_output_dir *folder, const bn_history *history, bn_postponed *postponed,
                            animation *a)
{
    const char *name = a->plan->pictures[a->which].name;
    a->frames = calloc(a->count, sizeof *a->frames);
    a->kept = calloc(a->count, sizeof *a->kept);
    if (!a->frames || !a->kept)
        return bn_fail(ctx, BN_MEMORY, "no memory for the names of %zu pictures", a->count);
    for (size_t i = 0; i < a->count; i++) {
        if (!(a->frames[i] = strdup(bn_frame_picture(folder, name, history->drawn_steps[i]).text)))
            return bn_fail(ctx, BN_MEMORY, "no memory for the names of %zu pictures", a->count);
        a->kept[i] = bn_postponed_find(postponed, a->frames[i]);
    }
    a->path = bn_output_dir_name(folder, "pictures/%s.png", name);
    return BN_OK;
}

/* One after the other: the scale of a kind, each of its pictures drawn again, all of them joined. */
enum { FIND_SCALE, DRAW_AGAIN, JOIN, ANIMATION_STAGES };

typedef struct animation_job {
    animation *of;
    int stage;
    size_t frame;
} animation_job;

static bn_status animation_run(bn_context *ctx, void *data)
{
    const animation_job *j = data;
    animation *a = j->of;
    const char *const *frames = (const char *const *)a->frames;
    const size_t delay = BN_ANIMATION_MS / a->count;
    switch (j->stage) {
    case FIND_SCALE: return bn_frame_pictures_scale(ctx, a->plan, a->which, frames, a->kept, a->count, &a->scale);
    case DRAW_AGAIN:
        return bn_frame_picture_rescale(ctx, a->plan, a->which, frames[j->frame], a->kept[j->frame], &a->scale);
    default:
        return bn_png_animate(ctx, a->path.text, frames, a->count,
                              delay < BN_FRAME_MS_MIN ? BN_FRAME_MS_MIN : (unsigned)delay);
    }
}

bn_status bn_animation_output_write(bn_context *ctx, const bn_plan *p, bn_output_dir *folder, bn_writer *writer,
                                    const bn_history *history, bn_postponed *postponed)
{
    const size_t kinds = p->picture_count, count = history->drawn_count;
    bn_status st = BN_OK;
    if (count < BN_ANIMATION_LEAST || kinds == 0)
        return BN_OK;
    animation *all = calloc(kinds, sizeof *all);
    if (!all)
        return bn_fail(ctx, BN_MEMORY, "no memory for the animations");
    for (size_t k = 0; st == BN_OK && k < kinds; k++) {
        all[k] = (animation){ .plan = p, .which = k, .count = count };
        st = name_files(ctx, folder, history, postponed, &all[k]);
    }
    for (int stage = 0; st == BN_OK && stage < ANIMATION_STAGES; stage++) {
        for (size_t i = 0; st == BN_OK && i < kinds * (stage == DRAW_AGAIN ? count : 1); i++) {
            animation_job *j = malloc(sizeof *j);
            if (!j) {
                st = bn_fail(ctx, BN_MEMORY, "no memory for the animations");
                break;
            }
            *j = (animation_job){ &all[i % kinds], stage, i / kinds };
            st = bn_writer_submit(writer, &(bn_job){ animation_run, free, j, .apart = true });
        }
        const bn_status drained = bn_writer_drain(writer); /* also after a failure: jobs use the names */
        st = st == BN_OK ? drained : st;
    }
    animations_free(all, kinds);
    return st;
}
