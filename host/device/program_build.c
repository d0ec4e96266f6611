/* program_build.c: compiles a program text for a device, or takes the compiled program from the cache. */
#include "device/binary_cache.h"
#include "device/program_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bn_uses_own_cache(const bn_device *d)
{
    const char *wish = getenv("BINNACLE_CACHE");
    if (!bn_context_cache_dir(d->ctx))
        return false;
    return (wish && strcmp(wish, "on") == 0) || d->quirks.cache == BN_CACHE_OURS;
}

/* Everything that shapes the binary, one after the other. */
static char *cache_key(const bn_device *d, const char *text, const char *options, size_t *bytes)
{
    const char *const parts[] = { bn_version(),    d->info.platform, d->info.name, d->info.vendor,
                                  d->info.version, d->info.driver,   options,      text };
    size_t total = 0, at = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        total += strlen(parts[i]) + 1;
    char *key = malloc(total);
    for (size_t i = 0; key && i < sizeof parts / sizeof *parts; i++) {
        size_t n = strlen(parts[i]) + 1;
        memcpy(key + at, parts[i], n);
        at += n;
    }
    *bytes = total;
    return key;
}

static char *build_log(const bn_device *d, cl_program program)
{
    size_t bytes = 0;
    char *log = NULL;
    if (clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) != CL_SUCCESS || bytes == 0 ||
        !(log = calloc(1, bytes + 1)) ||
        clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL) != CL_SUCCESS) {
        free(log);
        return NULL;
    }
    while (bytes > 0 && (log[bytes - 1] == '\0' || log[bytes - 1] == '\n' || log[bytes - 1] == ' '))
        log[--bytes] = '\0';
    return log;
}

/* Our file and line for a line of the whole text, from its own #line directives; false before the first of them. */
static bool line_of_text(const char *text, unsigned long number, char *file, size_t room, unsigned long *line)
{
    bool found = false;
    unsigned long here = 0, at = 1;
    for (const char *p = text; p && *p && at <= number; at++) {
        unsigned long first;
        int begin = 0, end = 0;
        if (sscanf(p, "#line %lu \"%n%*[^\"\n]%n", &first, &begin, &end) == 1 && end > begin) {
            snprintf(file, room, "%.*s", end - begin, p + begin);
            here = first - 1;
            found = true;
        } else {
            here++;
        }
        p = strchr(p, '\n');
        p = p ? p + 1 : NULL;
    }
    *line = here;
    return found;
}

/* A compiler that ignores #line names the whole text "<kernel>:2:39": puts our file and line there. Returns fresh
 * memory, or NULL. */
static char *with_our_lines(const char *text, const char *log)
{
    static const char mark[] = "<kernel>:";
    size_t marks = 0;
    for (const char *p = log; (p = strstr(p, mark)) != NULL; p++)
        marks++;
    const size_t room = strlen(log) + marks * 280 + 1;
    char *out = malloc(room), *at = out;
    for (const char *p = log; out && *p;) {
        char file[256], *end;
        unsigned long number, line;
        if (strncmp(p, mark, sizeof mark - 1) == 0 && (number = strtoul(p + sizeof mark - 1, &end, 10)) > 0 &&
            line_of_text(text, number, file, sizeof file, &line)) {
            at += snprintf(at, room - (size_t)(at - out), "%s:%lu", file, line);
            p = end;
        } else {
            *at++ = *p++;
        }
    }
    if (out)
        *at = '\0';
    return out;
}

/* Where programs are to be recorded; NULL: nowhere. */
static const char *record_folder(void)
{
    const char *dir = getenv("BINNACLE_PROGRAMS");
    return dir && dir[0] ? dir : NULL;
}

/* DIR/NAME-HASH.SUFFIX with this text; the hash is of text and options, so that equal programs are written once. */
static bn_status record_file(bn_context *ctx, const char *stem, const char *suffix, const char *content)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s.%s", stem, suffix) >= (int)sizeof path)
        return bn_fail(ctx, BN_IO, "BINNACLE_PROGRAMS: the path %s is too long", stem);
    FILE *f = fopen(path, "w");
    bool ok = f && fputs(content, f) >= 0;
    if (f && fclose(f) != 0)
        ok = false;
    return ok ? BN_OK : bn_fail(ctx, BN_IO, "%s (BINNACLE_PROGRAMS): %s", path, strerror(errno));
}

/* BINNACLE_PROGRAMS=DIR: every program that is compiled from text leaves DIR/NAME-HASH.cl, its options as .opt, and
 * what the compiler said as .log. Other vendors' compilers are tried on these files, and reports of a device carry the
 * logs. */
static bn_status record_program(bn_device *d, const char *name, const char *text, const char *options, const char *log)
{
    const char *dir = record_folder();
    char stem[4096];
    if (!dir)
        return BN_OK;
    const uint64_t hash = bn_hash(bn_hash(BN_HASH_START, text, strlen(text)), options, strlen(options));
    if (snprintf(stem, sizeof stem, "%s/%s-%016llx", dir, name, (unsigned long long)hash) >= (int)sizeof stem)
        return bn_fail(d->ctx, BN_IO, "BINNACLE_PROGRAMS: the path %s is too long", dir);
    BN_TRY(record_file(d->ctx, stem, "cl", text));
    BN_TRY(record_file(d->ctx, stem, "opt", options));
    return record_file(d->ctx, stem, "log", log ? log : "");
}

static bn_status build_from_text(bn_device *d, const char *name, const char *text, const char *options, cl_program *out)
{
    cl_int status;
    cl_program program = clCreateProgramWithSource(d->cl, 1, &text, NULL, &status);
    if (status != CL_SUCCESS)
        return bn_cl_fail(d, status, "clCreateProgramWithSource", name);
    sigset_t before;
    bn_hold_signals(&before);
    status = clBuildProgram(program, 1, &d->id, options, NULL, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    char *log = build_log(d, program);
    bn_status recorded = record_program(d, name, text, options, log);
    if (recorded != BN_OK) {
        free(log);
        clReleaseProgram(program);
        return recorded;
    }
    if (status != CL_SUCCESS && status != CL_BUILD_PROGRAM_FAILURE && !(log && log[0])) { /* not for the text */
        free(log);
        clReleaseProgram(program);
        return bn_cl_fail(d, status, "clBuildProgram", name);
    }
    if (status != CL_SUCCESS) {
        char *ours = log ? with_our_lines(text, log) : NULL;
        bn_fail(d->ctx, BN_DEVICE, "kernels/%s.cl does not compile on %s (%s, driver %s): %s\n%s", name, d->info.name,
                d->info.platform, d->info.driver, bn_cl_name(status),
                ours  ? ours
                : log ? log
                      : "(the compiler says nothing)");
        free(ours);
        bn_note(d->ctx, bn_context_kernel_dir(d->ctx)
                            ? "kernels come from BINNACLE_KERNEL_PATH; unset it to use those of the program"
                            : "please report it with this text; --device picks another device meanwhile");
        free(log);
        clReleaseProgram(program);
        return BN_DEVICE;
    }
    if (log && log[0])
        bn_log(d->ctx, BN_LOG_DEBUG, "kernels/%s.cl: %s", name, log);
    free(log);
    *out = program;
    return BN_OK;
}

/* A program from a cached binary; false when the driver will not have it. */
static bool build_from_binary(bn_device *d, const unsigned char *binary, size_t bytes, const char *options,
                              cl_program *out)
{
    cl_int status, one = CL_SUCCESS;
    cl_program program = clCreateProgramWithBinary(d->cl, 1, &d->id, &bytes, &binary, &one, &status);
    if (status != CL_SUCCESS)
        return false;
    if (one != CL_SUCCESS || clBuildProgram(program, 1, &d->id, options, NULL, NULL) != CL_SUCCESS) {
        clReleaseProgram(program);
        return false;
    }
    *out = program;
    return true;
}

static void keep_binary(bn_device *d, cl_program program, const char *key, size_t key_bytes)
{
    size_t bytes = 0;
    unsigned char *binary = NULL;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) == CL_SUCCESS && bytes > 0 &&
        (binary = malloc(bytes)) != NULL &&
        clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        bn_binary_cache_put(d->ctx, key, key_bytes, binary, bytes);
    free(binary);
}

bn_status bn_cl_build(bn_device *d, const char *name, const char *text, const char *options, cl_program *out,
                      bool *cached)
{
    *out = NULL;
    if (cached)
        *cached = false;
    /* A program may say with how many registers a work-item does (-DREGISTERS=64), where compilers take more than
     * they need and too few work-items fit the device at once. */
    static const char registers[] = " -DREGISTERS=";
    const char *limit = d->quirks.register_option ? strstr(options, registers) : NULL;
    const long most = limit ? strtol(limit + sizeof registers - 1, NULL, 10) : 0;
    char limited[64] = "";
    if (most > 0)
        snprintf(limited, sizeof limited, " -cl-nv-maxrregcount=%ld", most);
    size_t room = strlen(options) + 192, key_bytes = 0, bytes = 0;
    char *all = malloc(room), *key = NULL;
    unsigned char *binary = NULL;
    if (!all)
        return bn_fail(d->ctx, BN_MEMORY, "no memory to build %s", name);
    snprintf(all, room, "%s%s%s%s%s%s", options, d->quirks.option ? " " : "", d->quirks.option ? d->quirks.option : "",
             d->quirks.exact_division_flag ? " -cl-fp32-correctly-rounded-divide-sqrt" : "", limited,
             d->quirks.register_option && record_folder() ? " -cl-nv-verbose" : ""); /* registers, in the log */
    bool own = bn_uses_own_cache(d) && (key = cache_key(d, text, all, &key_bytes)) != NULL;
    if (own)
        bn_binary_cache_get(d->ctx, key, key_bytes, &binary, &bytes);
    bn_status st = BN_OK;
    if (binary && build_from_binary(d, binary, bytes, all, out)) {
        if (cached)
            *cached = true;
    } else {
        st = build_from_text(d, name, text, all, out);
        if (st == BN_OK && own)
            keep_binary(d, *out, key, key_bytes);
    }
    free(binary);
    free(key);
    free(all);
    return st;
}
