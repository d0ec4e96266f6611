/* cli_plot_keep.c: what `binnacle plot` draws at the end: charts of several runs, and animations. */
#include "cli/cli_plot.h"

#include "io/file.h"
#include "plot/png_animation.h"
#include "run/child.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES = 32, TEXT = 256, MOVIE_MS = 6000, FRAME_MS_MIN = 20, PATH = 4096, FFMPEG_SECONDS = 3600 };

struct bn_plot_chart {
    char file[TEXT], name[TEXT], title[TEXT], x_label[TEXT], y_label[TEXT];
    char *label[LINES]; /* the folder of each */
    double *x[LINES];   /* and y behind it */
    size_t points[LINES], count;
    bool log_y;
};

struct bn_plot_movie {
    char key[TEXT], name[TEXT], label[TEXT], unit[TEXT], folder[PATH];
    bn_picture kind; /* what its frames have in common */
    char **frames;
    size_t count;
};

/* "OUT/STEM-NAME.png" (or what --format says) for a file to be plotted, beside it when there is no --out. */
static bn_path picture_path(const bn_cli *cli, const char *path, const char *name)
{
    const char *base = bn_path_last(path), *dot = strrchr(base, '.');
    char clean[TEXT]; /* names of fields may hold what file names should not */
    bn_path file;
    snprintf(clean, sizeof clean, "%s", name);
    for (char *at = clean; *at; at++)
        *at = (char)(isalnum((unsigned char)*at) || strchr("-_.", *at) ? *at : '_');
    snprintf(file.text, sizeof file.text, "%.*s-%s.%s", (int)(dot ? (size_t)(dot - base) : strlen(base)), base, clean,
             cli->options->plot.format ? cli->options->plot.format : "png");
    return cli->options->run.out ? bn_path_join(cli->options->run.out, file.text) : bn_path_beside(path, file.text);
}

/* The run that a file belongs to, its folder without fields/, and the time. */
static char *label_of(const char *path, const char *when)
{
    size_t bytes = (size_t)(bn_path_last(path) - path);
    while (bytes > 0 && path[bytes - 1] == '/')
        bytes--;
    if (bytes > 7 && strncmp(path + bytes - 7, "/fields", 7) == 0)
        bytes -= 7;
    if (bytes == 0) {
        path = bn_path_last(path);
        bytes = strlen(path);
    }
    const size_t room = bytes + (when ? strlen(when) : 0) + sizeof ", ";
    char *label = malloc(room);
    if (label)
        snprintf(label, room, "%.*s%s%s", (int)bytes, path, when ? ", " : "", when ? when : "");
    return label;
}

static bn_status draw(const bn_plot *p, const char *to, const bn_chart *chart)
{
    bn_status st = bn_chart_write(p->cli->ctx, to, chart);
    if (st == BN_OK)
        printf("%s\n", to);
    return st;
}

bn_status bn_plot_add_line(bn_plot *p, const bn_plot_line *l)
{
    const char *file = p->cli->options->plot.line
                           ? "line"
                           : bn_path_last(l->path); /* files of several times have several names */
    if (!p->cli->options->plot.overlay) {
        const bn_chart_line line = { .label = l->y_label, .x = l->x, .y = l->y, .count = l->count };
        return draw(p, picture_path(p->cli, l->path, l->name).text,
                    &(bn_chart){ .title = l->title,
                                 .x_label = l->x_label,
                                 .y_label = l->y_label,
                                 .log_y = l->log_y,
                                 .lines = &line,
                                 .count = 1 });
    }
    bn_plot_chart *c = NULL;
    for (size_t i = 0; i < p->chart_count; i++)
        if (strcmp(p->charts[i].file, file) == 0 && strcmp(p->charts[i].name, l->name) == 0)
            c = &p->charts[i];
    if (!c) {
        bn_plot_chart *more = realloc(p->charts, (p->chart_count + 1) * sizeof *more);
        if (!more)
            return bn_fail(p->cli->ctx, BN_MEMORY, "no memory for a chart of %s", l->name);
        p->charts = more;
        c = &more[p->chart_count++];
        *c = (bn_plot_chart){ .log_y = l->log_y };
        snprintf(c->file, TEXT, "%s", file);
        snprintf(c->name, TEXT, "%s", l->name);
        if (p->cli->options->plot.line)
            snprintf(c->title, TEXT, "along %s m", p->cli->options->plot.line);
        else
            snprintf(c->title, TEXT, "%s", file);
        snprintf(c->x_label, TEXT, "%s", l->x_label);
        snprintf(c->y_label, TEXT, "%s", l->y_label);
    }
    if (c->count == LINES)
        return bn_fail(p->cli->ctx, BN_USAGE, "%s: a chart has %d lines at most", l->path, LINES);
    double *values = malloc(2 * l->count * sizeof *values);
    char *label = label_of(l->path, l->when);
    if (!values || !label) {
        free(values);
        free(label);
        return bn_fail(p->cli->ctx, BN_MEMORY, "no memory for a chart of %s", l->name);
    }
    memcpy(values, l->x, l->count * sizeof *values);
    memcpy(values + l->count, l->y, l->count * sizeof *values);
    c->x[c->count] = values;
    c->points[c->count] = l->count;
    c->label[c->count++] = label;
    return BN_OK;
}

static bn_status draw_chart(const bn_plot *p, const bn_plot_chart *c)
{
    bn_chart_line lines[LINES];
    for (size_t i = 0; i < c->count; i++)
        lines[i] = (bn_chart_line){
            .label = c->label[i], .x = c->x[i], .y = c->x[i] + c->points[i], .count = c->points[i]
        };
    return draw(p, picture_path(p->cli, c->file, c->name).text,
                &(bn_chart){ .title = c->title,
                             .x_label = c->x_label,
                             .y_label = c->y_label,
                             .log_y = c->log_y,
                             .lines = lines,
                             .count = c->count });
}

/* The movie of an array, which begins with its first frame. */
static bn_plot_movie *movie_of(bn_plot *p, const char *path, const char *name, const bn_picture *picture)
{
    for (size_t i = 0; i < p->movie_count; i++)
        if (strcmp(p->movies[i].key, name) == 0)
            return &p->movies[i];
    bn_plot_movie *more = realloc(p->movies, (p->movie_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    p->movies = more;
    bn_plot_movie *m = &more[p->movie_count++];
    const char *out = p->cli->options->run.out;
    *m = (bn_plot_movie){ .kind = *picture };
    snprintf(m->key, TEXT, "%s", name);
    snprintf(m->name, TEXT, "%s", name);
    snprintf(m->label, TEXT, "%s", picture->name);
    snprintf(m->unit, TEXT, "%s", picture->unit ? picture->unit : "");
    if (out)
        snprintf(m->folder, PATH, "%s/", out);
    else
        snprintf(m->folder, PATH, "%.*s", (int)(bn_path_last(path) - path), path);
    for (char *at = m->name; *at; at++)
        *at = strchr(" /%", *at) ? '_' : *at;
    return m;
}

bn_status bn_plot_add_picture(bn_plot *p, const char *path, const char *name, bn_picture *picture)
{
    if (!p->cli->options->plot.animate) {
        const bn_path to = picture_path(p->cli, path, name);
        BN_TRY(bn_picture_write(p->cli->ctx, to.text, picture));
        printf("%s\n", to.text);
        return BN_OK;
    }
    char own[TEXT]; /* a file with all times has movies of its own */
    const char *end = strrchr(path, '.');
    const bool all_times = end && strcmp(end, ".nc") == 0;
    snprintf(own, sizeof own, "%.*s%s%.100s", all_times ? (int)(end - bn_path_last(path)) : 0, bn_path_last(path),
             all_times ? "-" : "", name);
    bn_plot_movie *m = movie_of(p, path, own, picture);
    char **more = m ? realloc(m->frames, (m->count + 1) * sizeof *more) : NULL;
    if (more)
        m->frames = more;
    if (!more || !(more[m->count] = malloc(PATH + 2 * TEXT)))
        return bn_fail(p->cli->ctx, BN_MEMORY, "no memory for the frames of %s", name);
    snprintf(more[m->count], PATH + 2 * TEXT, "%s.frame-%s-%05zu.png", m->folder, m->name, m->count);
    m->count++;
    picture->keeps_values = true;
    return bn_picture_write(p->cli->ctx, more[m->count - 1], picture);
}

static bn_status join_with_ffmpeg(const bn_plot *p, const bn_plot_movie *m, unsigned delay, const char *to)
{
    char rate[32], frames[PATH + 2 * TEXT], why[64];
    bn_child child = { 0 };
    snprintf(rate, sizeof rate, "1000/%u", delay);
    snprintf(frames, sizeof frames, "%s.frame-%s-%%05d.png", m->folder, m->name);
    const char *const arguments[] = { "/usr/bin/env",
                                      "ffmpeg",
                                      "-y",
                                      "-loglevel",
                                      "error",
                                      "-framerate",
                                      rate,
                                      "-i",
                                      frames,
                                      "-vf",
                                      "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                      "-pix_fmt",
                                      "yuv420p",
                                      to,
                                      NULL };
    BN_TRY(bn_child_run(p->cli->ctx, p->cli->stop, arguments, FFMPEG_SECONDS, &child));
    bn_status st = BN_OK;
    bn_child_end_text(&child, why);
    if (child.end == BN_CHILD_EXITED && child.code == 127)
        st = bn_fail(p->cli->ctx, BN_IO, "%s: ffmpeg is not installed; --format png needs nothing else", to);
    else if (child.end != BN_CHILD_EXITED || child.code != 0)
        st = bn_fail(p->cli->ctx, BN_IO, "%s: ffmpeg %s; --format png needs nothing else", to, why);
    bn_child_release(&child);
    return st;
}

/* All frames with one range of colours, joined; then they go. */
static bn_status join(const bn_plot *p, bn_plot_movie *m)
{
    char to[PATH + 2 * TEXT];
    const char *end = p->cli->options->plot.format ? p->cli->options->plot.format : "png";
    const char *const *frames = (const char *const *)m->frames;
    const size_t delay = MOVIE_MS / m->count < FRAME_MS_MIN ? FRAME_MS_MIN : MOVIE_MS / m->count;
    m->kind.name = m->label;
    m->kind.unit = m->unit;
    m->kind.title = NULL;
    snprintf(to, sizeof to, "%sanimation-%s.%s", m->folder, m->name, end);
    BN_TRY(bn_pictures_to_one_scale(p->cli->ctx, frames, m->count, &m->kind));
    if (strcmp(end, "mp4") == 0)
        BN_TRY(join_with_ffmpeg(p, m, (unsigned)delay, to));
    else
        BN_TRY(bn_png_animate(p->cli->ctx, to, frames, m->count, (unsigned)delay));
    printf("%s\n", to);
    return BN_OK;
}

bn_status bn_plot_finish(bn_plot *p)
{
    for (size_t i = 0; i < p->chart_count; i++)
        BN_TRY(draw_chart(p, &p->charts[i]));
    for (size_t i = 0; i < p->movie_count; i++)
        if (p->movies[i].count > 0)
            BN_TRY(join(p, &p->movies[i]));
    return BN_OK;
}

void bn_plot_release(bn_plot *p)
{
    for (size_t i = 0; i < p->chart_count; i++)
        for (size_t k = 0; k < p->charts[i].count; k++) {
            free(p->charts[i].x[k]);
            free(p->charts[i].label[k]);
        }
    for (size_t i = 0; i < p->movie_count; i++) {
        for (size_t k = 0; k < p->movies[i].count; k++) {
            (void)unlink(p->movies[i].frames[k]);
            free(p->movies[i].frames[k]);
        }
        free(p->movies[i].frames);
    }
    free(p->charts);
    free(p->movies);
}
