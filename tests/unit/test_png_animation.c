/* test_png_animation.c: animations taken apart chunk by chunk; their first picture read with libpng; frames that do not
 * fit or are damaged; pictures of one kind that keep their size whatever they show; a run that leaves animations. */
#include "io/file.h"
#include "plot/picture.h"
#include "plot/png_animation.h"
#include "io/png_file.h"
#include "io/png_read.h"
#include "run/run.h"
#include "support_case.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { FRAMES = 4, WIDTH = 300, HEIGHT = 200 };

static char path[4400], frame_path[FRAMES][4400];
static const char *const frames[FRAMES] = { frame_path[0], frame_path[1], frame_path[2], frame_path[3] };

static void setup(void)
{
    open_folder();
    snprintf(path, sizeof path, "%s/all.png", test_folder);
    for (int i = 0; i < FRAMES; i++)
        snprintf(frame_path[i], sizeof frame_path[i], "%s/frame-%d.png", test_folder, i);
}

/* Noise in all three colours, which takes several IDAT chunks; other noise in every frame. */
static uint32_t pixel_at(int frame, int x, int y)
{
    return ((uint32_t)(y * WIDTH + x + 1) * 2654435761u + (uint32_t)frame * 40503u) >> 8;
}

static void write_frame(int frame, int width, int height)
{
    static uint32_t pixels[WIDTH * HEIGHT];
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            pixels[y * width + x] = pixel_at(frame, x, y);
    const bn_png_pixels p = { width, height, 4 * width, (const unsigned char *)pixels };
    ck_assert_int_eq(bn_png_write(ctx, frames[frame], &p, "Frame", NULL), BN_OK);
}

static void write_frames(void)
{
    for (int i = 0; i < FRAMES; i++)
        write_frame(i, WIDTH, HEIGHT);
}

static unsigned char *read_file(const char *name, size_t *bytes)
{
    char *data;
    ck_assert_msg(bn_file_read(ctx, name, 1 << 26, &data, bytes) == BN_OK, "%s", bn_error_text(ctx));
    return (unsigned char *)data;
}

static uint32_t load32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The compressed pixels of a PNG, its IDAT chunks one after the other. */
static unsigned char *pixels_of(const char *name, size_t *bytes)
{
    size_t size, used = 0;
    unsigned char *data = read_file(name, &size), *out = malloc(size);
    ck_assert_ptr_nonnull(out);
    for (size_t at = 8; at < size; at += load32(data + at) + 12)
        if (memcmp(data + at + 4, "IDAT", 4) == 0) {
            memcpy(out + used, data + at + 8, load32(data + at));
            used += load32(data + at);
        }
    free(data);
    *bytes = used;
    return out;
}

/* Checks a whole animation of `count` frames against the files that it was made of. */
static void check_structure(const char *name, const char *const *files, uint32_t count, unsigned delay_ms)
{
    size_t size, used = 0, wanted = 0, pixel_chunks = 0, still = 0;
    unsigned char *data = read_file(name, &size), *pixels = NULL, *joined = malloc(size);
    uint32_t sequence = 0, frame = 0, width = load32(data + 16), height = load32(data + 20);
    bool controlled = false, ended = false, ended_still = false;
    ck_assert_ptr_nonnull(joined);
    ck_assert_int_eq(memcmp(data + 12, "IHDR", 4), 0);
    ck_assert_msg(memcmp(data + 37, "acTL", 4) == 0, "acTL must come before IDAT, and is looked for behind IHDR");
    for (size_t at = 8, length; at < size; at += length + 12) {
        length = load32(data + at);
        const char *type = (const char *)data + at + 4;
        const unsigned char *content = data + at + 8;
        ck_assert_uint_le(length, size - at - 12);
        ck_assert_uint_eq(load32(content + length), (uint32_t)crc32(0, data + at + 4, (uInt)length + 4));
        ck_assert(!ended);
        const bool control = memcmp(type, "fcTL", 4) == 0, more = memcmp(type, "fdAT", 4) == 0;
        ended = memcmp(type, "IEND", 4) == 0;
        if (memcmp(type, "acTL", 4) == 0) {
            ck_assert_uint_eq(load32(content), count);
            ck_assert_uint_eq(load32(content + 4), 0); /* for ever */
            controlled = true;
        }
        if ((control || ended) && frame > 0) { /* the frame before is complete */
            ck_assert_uint_gt(pixel_chunks, 0);
            ck_assert_uint_eq(used, wanted);
            ck_assert_int_eq(memcmp(joined, pixels, used), 0);
            free(pixels);
            used = pixel_chunks = 0;
        }
        if (control) {
            ck_assert(controlled);
            ck_assert_uint_eq(length, 26);
            ck_assert_uint_eq(load32(content), sequence++);
            ck_assert_uint_eq(load32(content + 4), width);
            ck_assert_uint_eq(load32(content + 8), height);
            ck_assert_uint_eq(load32(content + 12), 0);
            ck_assert_uint_eq(load32(content + 16), 0);
            ck_assert_uint_eq(load32(content + 20), delay_ms << 16 | 1000);
            ck_assert_uint_eq(content[24] | content[25], 0);
            ck_assert_uint_lt(frame, count);
            pixels = pixels_of(files[frame++], &wanted);
        }
        if (memcmp(type, "IDAT", 4) == 0) { /* before the animation: the last frame, for readers that know none */
            size_t bytes;
            unsigned char *last = pixels_of(files[count - 1], &bytes);
            ck_assert_uint_eq(frame, 0);
            ck_assert_uint_le(still + length, bytes);
            ck_assert_int_eq(memcmp(content, last + still, length), 0);
            still += length;
            ended_still = still == bytes;
            free(last);
        }
        if (!more)
            continue;
        ck_assert(ended_still);
        ck_assert_uint_gt(frame, 0);
        ck_assert_uint_eq(load32(content), sequence++);
        memcpy(joined + used, content + 4, length - 4);
        used += length - 4;
        pixel_chunks++;
    }
    ck_assert(ended);
    ck_assert_uint_eq(frame, count);
    free(joined);
    free(data);
}

TEST(test_png_animation_structure)
{
    write_frames();
    for (uint32_t count = 1; count <= FRAMES; count++) {
        ck_assert_msg(bn_png_animate(ctx, path, frames, count, 100) == BN_OK, "%s", bn_error_text(ctx));
        check_structure(path, frames, count, 100);
        ck_assert(bn_png_animated(path));
    }
    ck_assert(!bn_png_animated(frames[0]) && !bn_png_animated(test_folder) && !bn_png_animated("/nowhere"));
    ck_assert_int_eq(bn_png_animate(ctx, path, frames, 2, 0), BN_OK);
    check_structure(path, frames, 2, 1);
    ck_assert_int_eq(bn_png_animate(ctx, path, frames, 2, 100000), BN_OK);
    check_structure(path, frames, 2, 65535);
}

TEST(test_png_animation_still)
{
    uint32_t size[2][2];
    unsigned char *grey[2];
    write_frames();
    ck_assert_int_eq(bn_png_animate(ctx, path, frames, FRAMES, 50), BN_OK);
    ck_assert_int_eq(bn_png_read_grey(ctx, path, &size[0][0], &size[0][1], &grey[0]), BN_OK);
    ck_assert_int_eq(bn_png_read_grey(ctx, frames[FRAMES - 1], &size[1][0], &size[1][1], &grey[1]), BN_OK);
    ck_assert(size[0][0] == WIDTH && size[0][1] == HEIGHT && size[1][0] == WIDTH && size[1][1] == HEIGHT);
    ck_assert_int_eq(memcmp(grey[0], grey[1], (size_t)WIDTH * HEIGHT), 0);
    free(grey[0]);
    free(grey[1]);
    /* An animation among the frames gives its still. */
    ck_assert_int_eq(rename(path, frames[0]), 0);
    ck_assert_int_eq(bn_png_animate(ctx, path, frames, FRAMES, 50), BN_OK);
    check_structure(path, frames, FRAMES, 50);
}

/* Nothing but the frames stands in the folder. */
static void nothing_left(int files)
{
    DIR *dir = opendir(test_folder);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        files -= e->d_name[0] != '.' || strstr(e->d_name, ".tmp") != NULL;
    closedir(dir);
    ck_assert_int_eq(files, 0);
    ck_assert_int_ne(access(path, F_OK), 0);
}

static void refused(size_t count, const char *frame, const char *text)
{
    ck_assert_int_eq(bn_png_animate(ctx, path, frames, count, 100), BN_IO);
    ck_assert_msg(strstr(bn_error_text(ctx), frame) && strstr(bn_error_text(ctx), text), "no '%s' in: %s", text,
                  bn_error_text(ctx));
    bn_error_clear(ctx);
}

static void put_file(const char *name, const void *data, size_t bytes)
{
    FILE *stream = fopen(name, "wb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(data, 1, bytes, stream), bytes);
    ck_assert_int_eq(fclose(stream), 0);
}

TEST(test_png_animation_refuses)
{
    write_frames();
    write_frame(2, WIDTH, HEIGHT - 1);
    refused(FRAMES, frames[2], "300 x 199");
    nothing_left(FRAMES);
    remove(frames[2]);
    refused(FRAMES, frames[2], "No such file");
    put_file(frames[2], "no picture", 10);
    refused(FRAMES, frames[2], "not a PNG");
    ck_assert_int_eq(bn_png_animate(ctx, path, frames, 0, 100), BN_USAGE);
    bn_error_clear(ctx);
    nothing_left(FRAMES);
    ck_assert_int_eq(bn_png_animate(ctx, "/proc/none/a.png", frames, 2, 100), BN_IO);
}

TEST(test_png_animation_damaged)
{
    size_t bytes;
    write_frame(0, 6, 5);
    write_frame(1, 6, 5);
    unsigned char *data = read_file(frames[1], &bytes);
    for (size_t n = 0; n < bytes; n++) {
        put_file(frames[1], data, n);
        refused(2, frames[1], "");
        data[n] ^= 0x20; /* also turns letters of a chunk's type into others */
        put_file(frames[1], data, bytes);
        refused(2, frames[1], "");
        data[n] ^= 0x20;
    }
    put_file(frames[1], data, bytes - 30);
    refused(2, frames[1], "truncated");
    nothing_left(2);
    free(data);
    /* What stood there stays. */
    write_frame(1, 6, 5);
    ck_assert_int_eq(bn_png_animate(ctx, path, frames, 2, 100), BN_OK);
    put_file(frames[1], "", 0);
    refused(2, frames[1], "not a PNG");
    write_frame(1, 6, 5);
    check_structure(path, frames, 2, 100);
}

/* Pictures of one kind at different times: all of the values, the title and whether there are lines may change. */
TEST(test_picture_sizes_stay)
{
    enum { N = 24 };
    static double values[N * N];
    static const double amplitudes[][2] = { { 0, 0 },     { 0, 1 },       { 0, -1e-9 },     { 300, 1e-6 },
                                            { 0, 12345 }, { -7e5, 3e-4 }, { 1e300, 1e299 }, { 1, 1.2e-7 } };
    static const char *const titles[] = { "t = 0 s", "A case with a long name: vorticity and lines, t = 1.234e-05 s" };
    static const double shapes[] = { 0.05, 1, 12 };
    for (int map = BN_MAP_SEQUENTIAL; map <= BN_MAP_CYCLIC; map++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            uint32_t width = 0, height = 0;
            for (size_t a = 0; a < sizeof amplitudes / sizeof *amplitudes; a++) {
                for (int k = 0; k < N * N; k++)
                    values[k] = amplitudes[a][0] + amplitudes[a][1] * sin(0.1 * k);
                const bn_picture p = { .n = { N, N },
                                       .h = { 0.01, 0.01 / shapes[s] },
                                       .values = values,
                                       .map = (bn_colour_map)map,
                                       .title = titles[a % 2],
                                       .name = map == BN_MAP_CYCLIC ? "" : "omega",
                                       .unit = "",
                                       .contours = { values, NULL, 5, "psi [m2 s-1]" } };
                uint32_t w, h;
                unsigned char *grey;
                ck_assert_msg(bn_picture_write(ctx, path, &p) == BN_OK, "%s", bn_error_text(ctx));
                ck_assert_int_eq(bn_png_read_grey(ctx, path, &w, &h, &grey), BN_OK);
                free(grey);
                ck_assert_msg(a == 0 || (w == width && h == height),
                              "map %d, shape %g, data %zu: %u x %u after %u x %u", map, shapes[s], a, w, h, width,
                              height);
                width = w;
                height = h;
            }
        }
}

/* A run of a small case. */
static void write_run(const char *out, const char *override, bool force)
{
    bn_case *c;
    const char *overrides[] = { override, "output.every=1", "output.vtk=false", "stop.steps=3", "output.first=true" };
    ck_assert_msg(bn_case_read(ctx, "data/cases/flow/selftest.toml", overrides, 5, &c) == BN_OK, "%s",
                  bn_error_text(ctx));
    const bn_run_desc desc = { .out = out, .reference = true, .quiet = true, .force = force, .steps = -1 };
    ck_assert_msg(bn_run_case(ctx, c, &desc) == BN_OK, "%s", bn_error_text(ctx));
    bn_case_destroy(&c);
}

TEST(test_run_leaves_animations)
{
    static const char *const names[] = { "psi", "vorticity" };
    char out[4200], name[4300], own[4300], step_path[4][4300];
    const char *steps[4] = { step_path[0], step_path[1], step_path[2], step_path[3] };
    snprintf(out, sizeof out, "%s/run", test_folder);
    snprintf(own, sizeof own, "%s/pictures/psi.png", out);
    write_run(out, "output.animation=true", false);
    for (size_t k = 0; k < 2; k++) {
        for (int i = 0; i < 4; i++)
            snprintf(step_path[i], sizeof step_path[i], "%s/pictures/%s-%06d.png", out, names[k], i);
        snprintf(name, sizeof name, "%s/pictures/%s.png", out, names[k]);
        check_structure(name, steps, 4, 1500);
    }
    /* The next run takes them away with the pictures, but not a user's picture of that name. */
    write_run(out, "output.animation=false", true);
    ck_assert_int_ne(access(name, F_OK), 0);
    ck_assert_int_ne(access(own, F_OK), 0);
    write_frame(0, 6, 5);
    ck_assert_int_eq(rename(frames[0], own), 0);
    write_run(out, "output.animation=false", true);
    ck_assert_int_eq(access(own, F_OK), 0);
}

int main(void) { return bn_test_main("png_animation", setup, close_folder); }
