/* program_text.c: the text that a compiler is given: the injected names as a comment, the prelude, the kernel file,
 * each behind a #line so that every compiler's messages name our files. */
#include "device/embedded.h"
#include "device/program_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const prelude[] = {
#define BN_PRELUDE(name) name,
#include "device/prelude.def"
#undef BN_PRELUDE
};

enum { BN_KERNEL_BYTES_MAX = 4 << 20 };

typedef struct bn_buffer_text {
    char *text;
    size_t length, room;
    bool failed;
} bn_buffer_text;

static void append(bn_buffer_text *t, const char *text)
{
    size_t n = strlen(text);
    if (t->length + n + 1 > t->room) {
        size_t room = 2 * (t->length + n + 1);
        char *grown = realloc(t->text, room);
        if (!grown) {
            t->failed = true;
            return;
        }
        t->text = grown;
        t->room = room;
    }
    memcpy(t->text + t->length, text, n + 1);
    t->length += n;
}

/* The folder is honoured only if nobody else can put kernels there. */
static bn_status check_override(bn_context *ctx, const char *dir)
{
    struct stat s;
    if (stat(dir, &s) != 0)
        return bn_fail(ctx, BN_DEVICE, "kernel folder %s (BINNACLE_KERNEL_PATH): %s", dir, strerror(errno));
    if (!S_ISDIR(s.st_mode))
        return bn_fail(ctx, BN_DEVICE, "kernel folder %s (BINNACLE_KERNEL_PATH) is not a folder", dir);
    if ((s.st_uid != geteuid() && s.st_uid != 0) || (s.st_mode & S_IWOTH))
        return bn_fail(
            ctx, BN_DEVICE,
            "kernel folder %s (BINNACLE_KERNEL_PATH) belongs to or can be written by somebody else; it is not used",
            dir);
    return BN_OK;
}

/* A file of the override folder, "kernels/flow.cl" as DIR/flow.cl; NULL in `*text` when it isn't there: then the
 * embedded one counts. */
static bn_status read_override(bn_context *ctx, const char *dir, const char *name, char **text)
{
    char path[4096];
    *text = NULL;
    if (snprintf(path, sizeof path, "%s/%s", dir, name + strlen("kernels/")) >= (int)sizeof path)
        return bn_fail(ctx, BN_DEVICE, "kernel folder %s: the path is too long", dir);
    FILE *f = fopen(path, "rb");
    if (!f)
        return errno == ENOENT ? BN_OK : bn_fail(ctx, BN_DEVICE, "kernel override %s: %s", path, strerror(errno));
    bn_status st = BN_OK;
    char *buffer = malloc(BN_KERNEL_BYTES_MAX + 1);
    size_t n = buffer ? fread(buffer, 1, BN_KERNEL_BYTES_MAX, f) : 0;
    if (!buffer)
        st = bn_fail(ctx, BN_MEMORY, "no memory to read %s", path);
    else if (ferror(f) || n == BN_KERNEL_BYTES_MAX || n == 0)
        st = bn_fail(ctx, BN_DEVICE, "kernel override %s: %s", path,
                     ferror(f) ? strerror(errno)
                     : n == 0  ? "it is empty"
                               : "it is larger than 4 MiB");
    fclose(f);
    if (st != BN_OK) {
        free(buffer);
        return st;
    }
    buffer[n] = '\0';
    bn_log(ctx, BN_LOG_INFO, "kernel file %s instead of the embedded one", path);
    *text = buffer;
    return BN_OK;
}

static bn_status append_file(bn_context *ctx, const char *name, bn_buffer_text *out)
{
    char line[512], *override = NULL;
    const char *text = NULL;
    if (ctx->kernel_dir)
        BN_TRY(read_override(ctx, ctx->kernel_dir, name, &override));
    for (const bn_embedded *e = bn_embedded_kernels; !override && e->name; e++)
        if (strcmp(e->name, name) == 0)
            text = e->text;
    if (!override && !text)
        return bn_fail(ctx, BN_DEVICE, "there is no %s in this build", name);
    snprintf(line, sizeof line, "#line 1 \"%s\"\n", name);
    append(out, line);
    append(out, override ? override : text);
    append(out, "\n");
    free(override);
    return BN_OK;
}

/* "NAME=value"; reals as hexadecimal literals of the precision, so that no digit is lost and no double reaches a single
 * build. */
static void print_define(const bn_define *d, bn_precision precision, char *out, size_t room)
{
    if (d->kind == BN_DEF_INT)
        snprintf(out, room, "%s=%lld", d->name, d->u.i);
    else if (d->kind == BN_DEF_NAME)
        snprintf(out, room, "%s=%s", d->name, d->u.s);
    else if (d->kind == BN_DEF_LEFT_OUT)
        snprintf(out, room, "WITHOUT_%s", d->name);
    else if (precision == BN_DOUBLE)
        snprintf(out, room, "%s=%a", d->name, d->u.r);
    else
        snprintf(out, room, "%s=%af", d->name, (double)(float)d->u.r);
}

/* Blanks a kernel, from its first word to the brace that ends it at the beginning of a line: compilers take seconds for
 * large ones. Lines keep their numbers. */
static void leave_out(char *text, const char *kernel)
{
    char head[256];
    snprintf(head, sizeof head, "\nkernel void %s(", kernel);
    char *at = strstr(text, head);
    const char *end = at ? strstr(at, "\n}") : NULL;
    for (; end && at <= end + 1; at++)
        *at = *at == '\n' ? '\n' : ' ';
}

bn_status bn_kernel_text(bn_context *ctx, const char *file, const bn_define *sorted, size_t count,
                         bn_precision precision, char **text, char **options)
{
    *text = *options = NULL;
    bn_status st = BN_OK;
    char name[256], word[512];
    bn_buffer_text t = { 0 }, o = { 0 };
    if (ctx->kernel_dir)
        BN_GO(check_override(ctx, ctx->kernel_dir));
    append(&o, "-cl-std=CL1.2");
    append(&t, "/*"); /* the names stand in the text too: a cache that forgets the options must not mix programs up */
    for (size_t i = 0; i < count; i++) {
        print_define(&sorted[i], precision, word, sizeof word);
        append(&t, " ");
        append(&t, word);
        append(&o, " -D");
        append(&o, word);
    }
    append(&t, " */\n");
    for (size_t i = 0; i < sizeof prelude / sizeof *prelude; i++)
        BN_GO(append_file(ctx, prelude[i], &t));
    for (const char *part = file; *part; part += *part == '+') {
        const size_t length = strcspn(part, "+");
        snprintf(name, sizeof name, "kernels/%.*s.cl", (int)length, part);
        BN_GO(append_file(ctx, name, &t));
        part += length;
    }
    if (t.failed || o.failed)
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for the text of kernels/%s.cl", file));
    for (size_t i = 0; i < count; i++)
        if (sorted[i].kind == BN_DEF_LEFT_OUT)
            leave_out(t.text, sorted[i].name);
    *text = t.text;
    *options = o.text;
    return BN_OK;
out:
    free(t.text);
    free(o.text);
    return st;
}

bn_status bn_kernels_hash(bn_context *ctx, uint64_t *hash)
{
    *hash = BN_HASH_START;
    if (ctx->kernel_dir)
        BN_TRY(check_override(ctx, ctx->kernel_dir));
    for (const bn_embedded *e = bn_embedded_kernels; e->name; e++) {
        char *override = NULL;
        if (ctx->kernel_dir)
            BN_TRY(read_override(ctx, ctx->kernel_dir, e->name, &override));
        const char *text = override ? override : e->text;
        *hash = bn_hash(*hash, text, strlen(text));
        free(override);
    }
    return BN_OK;
}
