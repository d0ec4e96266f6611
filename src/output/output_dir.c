/* output_dir.c: the output directory. It is recognized by the first line of its case.toml. */
#include "output/output_dir.h"

#include "io/file.h"
#include "plot/png_animation.h"
#include "sim/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char mark[] = "# binnacle: the case of this run with every default resolved\n";
static const char lock_name[] = ".binnacle-lock";

/* The directory itself and all below it that a run makes. */
static const char *const below[] = { "", "fields", "pictures", "outlines", "checkpoint" };

enum { LOCK_TRIES = 100 };

struct bn_output_dir {
    bn_context *ctx;
    char *path;
    bn_path lock; /* "": another rank has it */
    int locked;   /* where there is a lock: its open file; -1: not taken */
};

const char *bn_output_dir_path(const bn_output_dir *f) { return f->path; }

bn_path bn_output_dir_name(const bn_output_dir *f, const char *format, ...)
{
    bn_path name;
    va_list args;
    va_start(args, format);
    vsnprintf(name.text, sizeof name.text, format, args);
    va_end(args);
    return bn_path_join(f->path, name.text);
}

/* A temporary file: of the run that has the lock, or of one that was killed. */
static bool temporary(const char *name)
{
    const size_t n = strlen(name);
    return strncmp(name, ".binnacle-", 10) == 0 && n > 4 && strcmp(name + n - 4, ".tmp") == 0;
}

/* Whether the directory is empty, whether its case.toml is ours, whether a run has finished there. */
static bn_status look(bn_context *ctx, const char *path, bool *empty, bool *ours, bool *finished)
{
    *empty = true;
    *ours = *finished = false;
    DIR *dir = opendir(path);
    if (!dir)
        return errno == ENOENT ? BN_OK : bn_fail(ctx, BN_IO, "output directory %s: %s", path, strerror(errno));
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && strcmp(e->d_name, "STOP") != 0) {
            *empty = *empty && (strcmp(e->d_name, lock_name) == 0 || temporary(e->d_name));
            *finished = *finished || strcmp(e->d_name, "summary.json") == 0;
        }
    closedir(dir);
    char head[sizeof mark] = "";
    FILE *f = fopen(bn_path_join(path, "case.toml").text, "r");
    const int error = f || errno == ENOENT ? 0 : errno;
    bool unread = false;
    if (f) {
        *ours = fgets(head, sizeof head, f) && strcmp(head, mark) == 0;
        unread = ferror(f) != 0;
        fclose(f);
    }
    if (error || unread)
        return bn_fail(ctx, BN_IO, "cannot read case.toml in the output directory %s: %s", path,
                       strerror(unread ? EIO : error));
    return BN_OK;
}

/* The process that wrote the lock; 0: unknown. */
static long lock_holder(int fd, char host[256])
{
    char text[300] = "";
    long pid = 0;
    if (pread(fd, text, sizeof text - 1, 0) < 0 || sscanf(text, "%ld %255s", &pid, host) < 1)
        return 0;
    return pid;
}

/* Whether the lock's name still stands for the open file. */
static bool lock_in_place(const bn_output_dir *f)
{
    struct stat mine, named;
    return fstat(f->locked, &mine) == 0 && lstat(f->lock.text, &named) == 0 && mine.st_dev == named.st_dev &&
           mine.st_ino == named.st_ino;
}

/* Only who has the lock removes its file. */
static void release_lock(bn_output_dir *f)
{
    if (!f->lock.text[0] || f->locked < 0)
        return;
    if (lock_in_place(f))
        (void)unlink(f->lock.text);
    close(f->locked); /* holds nothing that could be lost */
    f->locked = -1;
}

/* The kernel's lock on the open file: it ends with the process, so that a killed run leaves none. The text in the file
 * is for messages only. 0 or the error. */
static int lock_file(bn_output_dir *f)
{
    if (flock(f->locked, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno != ENOLCK && errno != ENOSYS && errno != EOPNOTSUPP)
        return errno;
    bn_log(f->ctx, BN_LOG_WARNING, "the file system of %s has no locks (%s): let no other run write there", f->path,
           strerror(errno));
    return 0;
}

static bn_status sign_lock(bn_output_dir *f, const char *here)
{
    char text[300];
    const int n = snprintf(text, sizeof text, "%ld %s\n", (long)getpid(), here);
    if (ftruncate(f->locked, 0) == 0 && pwrite(f->locked, text, (size_t)n, 0) == n)
        return BN_OK;
    return bn_fail(f->ctx, BN_IO, "cannot write %s: %s", f->lock.text, strerror(errno));
}

static bn_status take_lock(bn_output_dir *f)
{
    char here[256] = "", host[256] = "an unknown host";
    gethostname(here, sizeof here - 1);
    for (int attempt = 0; attempt < LOCK_TRIES; attempt++) {
        f->locked = open(f->lock.text, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (f->locked < 0)
            return bn_fail(f->ctx, BN_IO, "output directory %s can't be written: %s; choose another with --out",
                           f->path, strerror(errno));
        const int error = lock_file(f);
        const long pid = lock_holder(f->locked, host);
        if (!error && lock_in_place(f)) { /* else its owner removed it before this process had the lock: once more */
            if (pid > 0)
                bn_log(f->ctx, BN_LOG_INFO, "taking over the lock of process %ld, which is gone", pid);
            return sign_lock(f, here);
        }
        close(f->locked); /* another's: its file stays */
        f->locked = -1;
        if (error && error != EWOULDBLOCK && error != EINTR)
            return bn_fail(f->ctx, BN_IO, "cannot lock %s: %s; choose another folder with --out", f->lock.text,
                           strerror(error));
        if (error == EWOULDBLOCK && pid > 0)
            return bn_fail(f->ctx, BN_IO,
                           "another run (process %ld on %s) is writing to %s; stop it, or choose another folder with "
                           "--out",
                           pid, host, f->path);
    }
    return bn_fail(f->ctx, BN_IO, "another run has just begun in %s", f->path);
}

static void remove_file(bn_output_dir *f, const char *folder, const char *name)
{
    const bn_path path = bn_output_dir_name(f, "%s%s%s", folder, folder[0] ? "/" : "", name);
    if (unlink(path.text) != 0 && errno != ENOENT)
        bn_log(f->ctx, BN_LOG_WARNING, "cannot remove %s: %s", path.text, strerror(errno));
}

/* Whether a run gave the file its name: NAME-000120.vti, that is a number before the ending. */
static bool numbered(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    size_t digits = 0;
    if (n <= m || strcmp(name + n - m, ending) != 0)
        return false;
    while (digits < n - m && name[n - m - 1 - digits] >= '0' && name[n - m - 1 - digits] <= '9')
        digits++;
    return digits >= 6 && digits < n - m && name[n - m - 1 - digits] == '-';
}

/* Removes pictures/NAME.png, which joins pictures/NAME-000120.png and others, if it is an animation: the user may have
 * a picture of that name. */
static void remove_animation(bn_output_dir *f, const char *picture)
{
    const bn_path path = bn_output_dir_name(f, "pictures/%.*s.png", (int)(strrchr(picture, '-') - picture), picture);
    if (bn_png_animated(path.text) && unlink(path.text) != 0)
        bn_log(f->ctx, BN_LOG_WARNING, "cannot remove %s: %s", path.text, strerror(errno));
}

/* The number before the ending of NAME-000120.vti, and of its piece NAME-000120.p3.vti; of an HDF5 file it has no zeros
 * before it. False: there is none. */
static bool step_of(const char *name, unsigned long long *step)
{
    static const char *const endings[] = { ".vti", ".vtu", ".vtr", ".pvti", ".pvtu", ".pvtr", ".tif", ".png", ".wkt" };
    const char *dash = strrchr(name, '-'), *dot = strrchr(name, '.');
    if (!dash || !dot || dash[1] < '0' || dash[1] > '9')
        return false;
    char *end;
    *step = strtoull(dash + 1, &end, 10);
    bool ours = strncmp(name, "fields-", 7) == 0 && strcmp(dot, ".h5") == 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        ours = ours || (strcmp(dot, endings[i]) == 0 && end - dash > 6);
    if (end != dot && end[0] == '.' && end[1] == 'p')
        end += 2 + strspn(end + 2, "0123456789");
    return ours && end == dot;
}

bool bn_steps_have(const unsigned long long *steps, size_t count, unsigned long long step)
{
    for (size_t i = 0; i < count; i++)
        if (steps[i] == step)
            return true;
    return false;
}

/* Removes the files of a subdirectory ("": the directory itself) for which `unwanted` is true. */
static void remove_where(bn_output_dir *f, const char *folder, bool (*unwanted)(const char *name))
{
    DIR *dir = opendir(bn_path_join(f->path, folder).text);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        if (unwanted(e->d_name))
            remove_file(f, folder, e->d_name);
    if (dir)
        closedir(dir);
}

static void remove_temporaries(bn_output_dir *f)
{
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        remove_where(f, below[i], temporary);
}

void bn_output_dir_remove_others(bn_output_dir *f, const unsigned long long *steps, size_t count)
{
    for (size_t i = 1; i < sizeof below / sizeof *below; i++) {
        DIR *dir = opendir(bn_path_join(f->path, below[i]).text);
        unsigned long long step;
        for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
            if (step_of(e->d_name, &step) && !bn_steps_have(steps, count, step))
                remove_file(f, below[i], e->d_name);
        if (dir)
            closedir(dir);
    }
}

/* Removes files of an earlier run that the next one may not overwrite; the user's own files stay. */
static void remove_old_run(bn_output_dir *f)
{
    static const char *const known[] = { "summary.json", "report.html",           "series.csv",  "trace.json",
                                         "fields.pvd",   "pictures/residual.png", "outlines.csv" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        remove_file(f, "", known[i]);
    DIR *dir = opendir(bn_path_join(f->path, "pictures").text);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        if (numbered(e->d_name, ".png"))
            remove_animation(f, e->d_name);
    if (dir)
        closedir(dir);
    bn_output_dir_remove_others(f, NULL, 0);
    remove_temporaries(f);
    bn_checkpoint_remove(f->ctx, bn_path_join(f->path, "checkpoint").text);
}

static bn_status write_case(bn_output_dir *f, const bn_case *c)
{
    char *resolved = NULL, *text = NULL;
    bn_status st = BN_OK;
    BN_GO(bn_case_resolved(c, &resolved));
    size_t bytes = sizeof mark + strlen(resolved);
    if (!(text = malloc(bytes)))
        BN_GO(bn_fail(f->ctx, BN_MEMORY, "no memory for case.toml"));
    snprintf(text, bytes, "%s%s", mark, resolved);
    st = bn_file_write(f->ctx, bn_path_join(f->path, "case.toml").text, text, strlen(text));
out:
    free(resolved);
    free(text);
    return st;
}

/* Whether this run may use the directory, and whether it holds a run of ours. */
static bn_status admit(bn_context *ctx, const char *path, bn_output_dir_use use, bool *ours)
{
    bool empty, finished;
    BN_TRY(look(ctx, path, &empty, ours, &finished));
    if (!empty && !*ours)
        return bn_fail(ctx, BN_IO, "%s holds files that binnacle did not write; choose another folder with --out",
                       path);
    if (use == BN_OUTPUT_DIR_NEW && !finished && bn_checkpoint_exists(path))
        return bn_fail(
            ctx, BN_IO,
            "%s holds a checkpoint of a run that was stopped; --resume goes on from it, --force begins anew, "
            "--out takes another folder",
            path);
    if (use == BN_OUTPUT_DIR_NEW && finished)
        return bn_fail(ctx, BN_IO,
                       "%s holds the results of an earlier run; --force overwrites them, --out takes another folder",
                       path);
    return BN_OK;
}

bn_status bn_output_dir_admit(bn_context *ctx, const char *path, bn_output_dir_use use)
{
    bool ours;
    return admit(ctx, path, use, &ours);
}

/* A link would lead writing and --force into a folder that is not this run's. */
static bn_status refuse_links(bn_output_dir *f)
{
    for (size_t i = 1; i < sizeof below / sizeof *below; i++) {
        struct stat s;
        if (lstat(bn_path_join(f->path, below[i]).text, &s) == 0 && S_ISLNK(s.st_mode))
            return bn_fail(f->ctx, BN_IO,
                           "%s/%s is a symbolic link, and a run writes and removes only in its own folder; remove the "
                           "link, or choose another folder with --out",
                           f->path, below[i]);
    }
    return BN_OK;
}

bn_status bn_output_dir_open(bn_context *ctx, const char *path, const bn_case *c, bn_output_dir_use use,
                             bn_output_dir **out)
{
    *out = NULL;
    bool ours;
    BN_TRY(admit(ctx, path, use, &ours));
    BN_TRY(bn_directory_create(ctx, path));
    bn_status st = BN_OK;
    bn_output_dir *f = calloc(1, sizeof *f);
    if (!f || !(f->path = strdup(path)))
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for the output directory"));
    f->ctx = ctx;
    f->lock = bn_path_join(path, lock_name);
    BN_GO(take_lock(f));
    BN_GO(refuse_links(f));
    BN_GO(admit(ctx, path, use, &ours)); /* a run may have ended there since */
    if (ours && use == BN_OUTPUT_DIR_FORCE)
        remove_old_run(f);
    else
        remove_temporaries(f);
    if (ours && use == BN_OUTPUT_DIR_GO_ON) {
        remove_file(f, "", "summary.json");
        remove_file(f, "", "report.html");
    }
    BN_GO(write_case(f, c));
    *out = f;
    f = NULL;
out:
    bn_output_dir_close(&f);
    return st;
}

bn_status bn_output_dir_follow(bn_context *ctx, const char *path, bn_output_dir **out)
{
    bn_status st = BN_OK;
    bool empty, ours, finished;
    *out = NULL;
    BN_TRY(look(ctx, path, &empty, &ours, &finished));
    bn_output_dir *f = calloc(1, sizeof *f);
    if (!f || !(f->path = strdup(path)))
        st = bn_fail(ctx, BN_MEMORY, "no memory for the output directory");
    else if (!ours)
        st = bn_fail(
            ctx, BN_IO,
            "rank %d does not see the output directory %s, which rank 0 has made: choose one that all machines share",
            bn_context_rank(ctx), path);
    if (st == BN_OK) {
        f->ctx = ctx;
        *out = f;
        f = NULL;
    }
    bn_output_dir_close(&f);
    return st;
}

void bn_output_dir_close(bn_output_dir **folder)
{
    if (!folder || !*folder)
        return;
    release_lock(*folder);
    free((*folder)->path);
    free(*folder);
    *folder = NULL;
}

bool bn_output_dir_stop_wanted(bn_output_dir *f) { return unlink(bn_path_join(f->path, "STOP").text) == 0; }

bn_path bn_output_dir_default(const char *case_path, const char *ending)
{
    bn_path out;
    const char *name = bn_path_last(case_path);
    const size_t n = strlen(name);
    snprintf(out.text, sizeof out.text, "%.*s%s", (int)(n > 5 && strcmp(name + n - 5, ".toml") == 0 ? n - 5 : n), name,
             ending);
    return out;
}
