/* compile_aside.c: lists the programs of a simulation by making it without compiling, and has each compiled by a child.
 */
#include "run/compile_aside.h"

#include "api/embedded_files.h"
#include "api/program.h"
#include "output/progress.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the child is sent: sizes with the NUL, then name, options and text one behind the other. */
enum { NAME, OPTIONS, TEXT, PARTS, BYTES_MOST = 1 << 24 };

static void begin_one(void *user, const char *name, const char *text, const char *options)
{
    bn_aside *a = user;
    const char *const parts[PARTS] = { [NAME] = name, [OPTIONS] = options, [TEXT] = text };
    const char *const arguments[] = { a->program, "compile", "--device", a->device, NULL };
    size_t bytes[PARTS];
    uint64_t hash = BN_HASH_START;
    for (int i = 0; i < PARTS; i++) {
        bytes[i] = strlen(parts[i]) + 1;
        hash = bn_hash(hash, parts[i], bytes[i]);
    }
    for (size_t i = 0; i < a->count; i++)
        if (a->hashes[i] == hash)
            return;
    if (a->count == a->most)
        return;
    bn_child *child = &a->children[a->count];
    if (bn_child_start(a->ctx, arguments, BN_CHILD_SOCKET | BN_CHILD_ERRORS, child) != BN_OK) {
        bn_child_release(child);
        return;
    }
    a->hashes[a->count++] = hash;
    bool sent = bn_child_send(child, bytes, sizeof bytes);
    for (int i = 0; i < PARTS && sent; i++)
        sent = bn_child_send(child, parts[i], bytes[i]);
}

bool bn_aside_possible(bn_device *device) { return bn_device_list_programs(device, NULL); }

void bn_aside_add(bn_aside *a, bn_case *config, const bn_sim_desc *desc)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const bn_program_list list = { begin_one, a };
    bn_sim *sim = NULL;
    a->most = processors > 1 ? (size_t)processors : 1;
    (void)bn_device_list_programs(desc->device, &list);
    if (!a->children) {
        a->children = calloc(a->most, sizeof *a->children);
        a->hashes = calloc(a->most, sizeof *a->hashes);
    }
    if (a->children && a->hashes && bn_sim_create(a->ctx, config, desc, &sim) != BN_OK) /* fails again when it counts */
        bn_error_clear(a->ctx);
    bn_sim_destroy(&sim);
    (void)bn_device_list_programs(desc->device, NULL);
}

void bn_aside_end(bn_aside *a, double seconds)
{
    const double start = bn_seconds_now();
    while (a->count > 0 && bn_child_poll(a->children, a->count) > 0 && bn_seconds_now() - start < seconds)
        continue;
    for (size_t i = 0; i < a->count; i++) {
        if (a->children[i].end != BN_CHILD_EXITED || a->children[i].code != 0)
            bn_log(a->ctx, BN_LOG_DEBUG, "a program was not compiled ahead: %s", a->children[i].said);
        bn_child_release(&a->children[i]);
    }
    free(a->children);
    free(a->hashes);
    a->children = NULL;
    a->hashes = NULL;
    a->count = 0;
}

bn_status bn_aside_compile(bn_context *ctx, const char *selector)
{
    size_t bytes[PARTS], all = 0;
    bn_device *device = NULL;
    char *text = NULL;
    bn_status st = BN_OK;
    bool heard = bn_child_hear(bytes, sizeof bytes);
    for (int i = 0; i < PARTS && heard; i++) {
        heard = bytes[i] > 0 && bytes[i] < BYTES_MOST;
        all += bytes[i];
    }
    if (!heard || !(text = malloc(all)) || !bn_child_hear(text, all)) {
        st = bn_fail(ctx, BN_USAGE, "compile: there is no program on standard input");
        goto out;
    }
    for (size_t i = 0, end = 0; i < PARTS; i++)
        text[(end += bytes[i]) - 1] = '\0';
    BN_GO(bn_device_open(ctx, selector, false, &device));
    BN_GO(bn_program_compile(device, text, text + bytes[NAME] + bytes[OPTIONS], text + bytes[NAME]));
out:
    bn_device_close(&device);
    free(text);
    return st;
}
