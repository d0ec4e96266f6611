/* comm.c: whether this process is one of several that work on one case, and which. */
#include "device/comm.h"
#include "device/context.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The library's file beside the program, one folder up (programs of the tests), or where it was installed. */
#define BN_COMM_FILE "binnacle-mpi.so"
#ifndef BN_COMM_DIR
#define BN_COMM_DIR "/usr/local/lib/binnacle"
#endif

/* mpirun of Open MPI, of MPICH and its kin, and srun tell a process so that it is one of several. */
static int started_ranks(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        /* salloc sets SLURM_NTASKS too, for a process that is no rank */
        if (text && (strcmp(names[i], "SLURM_NTASKS") != 0 || getenv("PMIX_RANK") || getenv("PMI_RANK")))
            return atoi(text);
    }
    return 1;
}

static void *open_library(char *tried, size_t room)
{
    static const char *const places[] = { "", "../", "../../", "../lib/binnacle/" };
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        snprintf(tried, room, "%s%s%s", self, places[i], BN_COMM_FILE);
        if (access(tried, R_OK) == 0)
            return dlopen(tried, RTLD_NOW | RTLD_GLOBAL);
    }
    snprintf(tried, room, "%s/%s", BN_COMM_DIR, BN_COMM_FILE);
    return dlopen(tried, RTLD_NOW | RTLD_GLOBAL);
}

bn_status bn_context_join(bn_context *ctx)
{
    bn_comm *out = &ctx->comm;
    const int started = started_ranks();
    if (started <= 1 || out->ops)
        return BN_OK;
    char path[8192];
    void *library = open_library(path, sizeof path);
    bn_comm_entry *entry = NULL;
    void *symbol = library ? dlsym(library, BN_COMM_ENTRY) : NULL;
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from data to function */
    if (!entry)
        return bn_fail(
            ctx, BN_USAGE,
            "this process is one of %d that were started together, but %s can't be loaded: %s; build it where "
            "MPI is installed (mpicc), or start without mpirun",
            started, path, dlerror());
    out->ops = entry();
    out->ops->place(&out->rank, &out->ranks, &out->local_rank, &out->local_ranks);
    if (out->ranks <= 1) {
        bn_log(ctx, BN_LOG_WARNING,
               "%d processes were started together, but the MPI that %s was built with sees only one: is mpirun of "
               "another "
               "MPI?",
               started, path);
        out->ops = NULL;
    }
    return BN_OK;
}

int bn_context_rank(const bn_context *ctx) { return ctx->comm.rank; }
int bn_context_ranks(const bn_context *ctx) { return ctx->comm.ranks; }

void bn_context_leave(bn_context *ctx, int code)
{
    if (!ctx->comm.ops)
        return;
    if (code != 0)
        ctx->comm.ops->abort(code);
    ctx->comm.ops->finish();
}

void bn_context_agree(bn_context *ctx, double *values, size_t count)
{
    if (ctx->comm.ops)
        ctx->comm.ops->all_max(values, count);
}

void bn_texts_free(bn_context *ctx, char ***texts)
{
    for (int r = 0; *texts && r < ctx->comm.ranks; r++)
        free((*texts)[r]);
    free(*texts);
    *texts = NULL;
}

bn_status bn_context_collect(bn_context *ctx, const char *mine, char ***texts)
{
    const bn_comm *comm = &ctx->comm;
    int64_t failed = 0;
    if (!(*texts = calloc((size_t)comm->ranks, sizeof **texts)))
        failed = 1;
    for (int r = 0; r < comm->ranks; r++) {
        uint64_t bytes = r == comm->rank ? strlen(mine) + 1 : 0;
        if (comm->ops)
            comm->ops->broadcast(r, &bytes, sizeof bytes);
        char *text = failed ? NULL : malloc(bytes);
        failed = failed || !text;
        if (comm->ops)
            comm->ops->all_sum(&failed, 1); /* no rank may wait for one that has no memory */
        if (failed) {
            free(text);
            break;
        }
        if (r == comm->rank)
            memcpy(text, mine, bytes);
        if (comm->ops)
            comm->ops->broadcast(r, text, bytes);
        (*texts)[r] = text;
    }
    if (!failed)
        return BN_OK;
    bn_texts_free(ctx, texts);
    return bn_fail(ctx, BN_MEMORY, "no memory for what ranks tell each other");
}

bool bn_context_library(char *name, size_t room)
{
    char path[8192];
    void *library = open_library(path, sizeof path);
    if (!library)
        return false;
    snprintf(name, room, "%s", path);
    dlclose(library);
    return true;
}
