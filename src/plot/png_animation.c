/* png_animation.c: the chunks of PNG files rearranged, after the APNG extension of the PNG specification (third
 * edition, 2025): acTL behind the header; IDAT has the last frame's pixels, for readers that know no animations;
 * without an fcTL before them they are no part of the animation. Then come the frames: fcTL, and the content of their
 * IDATs behind sequence numbers in fdAT. */
#include "plot/png_animation.h"

#include "io/file.h"
#include "io/png_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    SIGNATURE_BYTES = 8,
    HEADER_BYTES = 13,        /* content of IHDR */
    AROUND_BYTES = 12,        /* of a chunk besides its content: length, type, checksum */
    COLOUR_TYPE = 9,          /* place in IHDR */
    COLOUR_PALETTE = 3,       /* value of it */
    FRAME_BYTES_MAX = 1 << 28 /* a file of ours has some hundred kilobytes */
};
static const unsigned char signature[SIGNATURE_BYTES] = { 137, 'P', 'N', 'G', '\r', '\n', 26, '\n' };
/* Where the type of the second chunk stands: acTL in what is written here. */
static const size_t second_type = SIGNATURE_BYTES + AROUND_BYTES + HEADER_BYTES + 4;

/* The animation while it is written. Failed writes stay in the stream's error flag, which bn_file_commit looks at. */
typedef struct animation {
    bn_context *ctx;
    const char *path;
    FILE *stream;
    unsigned char header[HEADER_BYTES]; /* content of the still picture's IHDR */
    const char *still;                  /* its file, the last frame */
    uint32_t count, sequence;
    unsigned delay_ms;
} animation;

typedef struct chunk {
    const char *type;
    const unsigned char *content;
    uint32_t bytes;
} chunk;

static bool is_type(const chunk *c, const char *type) { return memcmp(c->type, type, 4) == 0; }

static void store32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Writes a chunk whose content is `head` and then `tail`. */
static void put_chunk(animation *a, const char *type, const unsigned char *head, uint32_t head_bytes,
                      const unsigned char *tail, uint32_t tail_bytes)
{
    unsigned char begin[8], end[4];
    store32(begin, head_bytes + tail_bytes);
    memcpy(begin + 4, type, 4);
    uLong sum = crc32(crc32(0, begin + 4, 4), head, head_bytes);
    if (tail_bytes > 0) /* crc32() begins again at NULL */
        sum = crc32(sum, tail, tail_bytes);
    store32(end, (uint32_t)sum);
    fwrite(begin, 1, sizeof begin, a->stream);
    fwrite(head, 1, head_bytes, a->stream);
    if (tail_bytes > 0)
        fwrite(tail, 1, tail_bytes, a->stream);
    fwrite(end, 1, sizeof end, a->stream);
}

static void put_animation_control(animation *a)
{
    unsigned char content[8] = { 0 }; /* frames, then how often: 0 is for ever */
    store32(content, a->count);
    put_chunk(a, "acTL", content, sizeof content, NULL, 0);
}

/* A frame as large as the whole that replaces what was shown before. */
static void put_frame_control(animation *a)
{
    unsigned char content[26] = { 0 }; /* sequence, width, height, x, y, delay as a fraction, disposal, blending */
    store32(content, a->sequence++);
    memcpy(content + 4, a->header, 8);
    content[20] = (unsigned char)(a->delay_ms >> 8);
    content[21] = (unsigned char)a->delay_ms;
    content[22] = (unsigned char)(1000 >> 8);
    content[23] = (unsigned char)(1000 & 255);
    put_chunk(a, "fcTL", content, sizeof content, NULL, 0);
}

static void put_pixels(animation *a, const chunk *c, bool still)
{
    unsigned char number[4];
    if (still) {
        put_chunk(a, "IDAT", c->content, c->bytes, NULL, 0);
    } else {
        store32(number, a->sequence++);
        put_chunk(a, "fdAT", number, sizeof number, c->content, c->bytes);
    }
}

static bn_status damaged(const animation *a, const char *frame, const char *what)
{
    return bn_fail(a->ctx, BN_IO, "cannot join %s to %s: %s", frame, a->path, what);
}

/* The chunk that begins at data[*at], after a look at its checksum; *at becomes the place behind it. */
static bn_status take_chunk(const animation *a, const char *frame, const unsigned char *data, size_t bytes, size_t *at,
                            chunk *out)
{
    if (bytes - *at < AROUND_BYTES || bn_png_number(data + *at) > bytes - *at - AROUND_BYTES)
        return damaged(a, frame, "it is truncated");
    *out = (chunk){ (const char *)data + *at + 4, data + *at + 8, bn_png_number(data + *at) };
    if (bn_png_number(out->content + out->bytes) != (uint32_t)crc32(0, data + *at + 4, out->bytes + 4))
        return damaged(a, frame, "it is damaged (a checksum is wrong)");
    *at += AROUND_BYTES + out->bytes;
    return BN_OK;
}

/* The still picture's header begins the file; those of the frames have to be the same. */
static bn_status take_header(animation *a, const char *frame, bool still, const chunk *c)
{
    if (!is_type(c, "IHDR") || c->bytes != HEADER_BYTES)
        return damaged(a, frame, "it does not begin with a PNG header");
    if (c->content[COLOUR_TYPE] == COLOUR_PALETTE)
        return damaged(a, frame, "pictures with a palette are not taken");
    if (still) {
        memcpy(a->header, c->content, HEADER_BYTES);
        a->still = frame;
        fwrite(signature, 1, sizeof signature, a->stream);
        put_chunk(a, "IHDR", c->content, c->bytes, NULL, 0);
        put_animation_control(a);
    } else if (memcmp(a->header, c->content, HEADER_BYTES) != 0) {
        return bn_fail(a->ctx, BN_IO,
                       "cannot join %s to %s: it has %lu x %lu pixels, colour type %d, but %s has %lu x %lu, type %d",
                       frame, a->path, (unsigned long)bn_png_number(c->content),
                       (unsigned long)bn_png_number(c->content + 4), c->content[COLOUR_TYPE], a->still,
                       (unsigned long)bn_png_number(a->header), (unsigned long)bn_png_number(a->header + 4),
                       a->header[COLOUR_TYPE]);
    }
    return BN_OK;
}

/* Goes through the chunks of one frame, or of the still picture, and writes what becomes of them. */
static bn_status add_chunks(animation *a, const char *frame, bool still, const unsigned char *data, size_t bytes)
{
    size_t at = SIGNATURE_BYTES;
    bool pixels = false;
    chunk c;
    if (bytes < SIGNATURE_BYTES || memcmp(data, signature, SIGNATURE_BYTES) != 0)
        return damaged(a, frame, "it is not a PNG picture");
    BN_TRY(take_chunk(a, frame, data, bytes, &at, &c));
    BN_TRY(take_header(a, frame, still, &c));
    for (;;) {
        BN_TRY(take_chunk(a, frame, data, bytes, &at, &c));
        if (is_type(&c, "IEND"))
            return pixels ? BN_OK : damaged(a, frame, "it has no pixels");
        if (is_type(&c, "IDAT")) {
            if (!pixels && !still)
                put_frame_control(a);
            pixels = true;
            put_pixels(a, &c, still);
        } else if (still && !pixels && !is_type(&c, "acTL") && !is_type(&c, "fcTL")) {
            put_chunk(a, c.type, c.content, c.bytes, NULL, 0);
        }
    }
}

static bn_status add_frame(animation *a, const char *frame, bool still)
{
    char *data = NULL;
    size_t bytes = 0;
    BN_TRY(bn_file_read(a->ctx, frame, FRAME_BYTES_MAX, &data, &bytes));
    bn_status st = add_chunks(a, frame, still, (const unsigned char *)data, bytes);
    free(data);
    return st;
}

bn_status bn_png_animate(bn_context *ctx, const char *path, const char *const *frames, size_t count, unsigned delay_ms)
{
    bn_status st = BN_OK;
    bn_file *file = NULL;
    if (count == 0 || count > INT32_MAX)
        return bn_fail(ctx, BN_USAGE, "cannot write %s: an animation of %zu frames is not possible", path, count);
    animation a = { .ctx = ctx,
                    .path = path,
                    .count = (uint32_t)count,
                    .delay_ms = delay_ms < 1            ? 1
                                : delay_ms > UINT16_MAX ? UINT16_MAX
                                                        : delay_ms };
    BN_TRY(bn_file_begin(ctx, path, &file));
    a.stream = bn_file_stream(file);
    BN_GO(add_frame(&a, frames[count - 1], true));
    for (size_t i = 0; i < count; i++)
        BN_GO(add_frame(&a, frames[i], false));
    put_chunk(&a, "IEND", (const unsigned char *)"", 0, NULL, 0);
    st = bn_file_commit(&file);
out:
    bn_file_abort(&file);
    return st;
}

bool bn_png_animated(const char *path)
{
    unsigned char head[SIGNATURE_BYTES + AROUND_BYTES + HEADER_BYTES + 8];
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    const bool whole = fread(head, 1, sizeof head, f) == sizeof head;
    fclose(f); /* opened for reading: nothing can be lost here */
    return whole && memcmp(head, signature, sizeof signature) == 0 && memcmp(head + second_type, "acTL", 4) == 0;
}
