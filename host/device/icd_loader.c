/* icd_loader.c: what the OpenCL loader was given to load: for `devices --check` and for the message when there is no
 * device. */
#include "device/device_list.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct bn_loader_text {
    char *text;
    size_t length;
    bool failed;
} bn_loader_text;

static void add(bn_loader_text *t, const char *format, ...) BN_PRINTF(2, 3);
static void add(bn_loader_text *t, const char *format, ...)
{
    char line[2048];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    size_t bytes = n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    char *grown = realloc(t->text, t->length + bytes + 1);
    if (!grown) {
        t->failed = true;
        return;
    }
    memcpy(grown + t->length, line, bytes);
    t->text = grown;
    t->length += bytes;
    t->text[t->length] = '\0';
}

/* The folder that the loader reads. A variable may name a single file instead. */
static const char *vendor_folder(void)
{
    const char *given = getenv("OCL_ICD_VENDORS");
    return given && given[0] ? given : "/etc/OpenCL/vendors";
}

static bool is_vendor_file(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".icd") == 0;
}

/* Loads a library in a child process: what its constructors do stays there. Why it failed goes to `why`. */
static bool loads(const char *library, char *why, size_t room)
{
    int channel[2];
    if (pipe(channel) != 0)
        return true;
    pid_t child = fork();
    if (child == 0) {
        close(channel[0]);
        if (!dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
            const char *error = dlerror();
            ssize_t written = write(channel[1], error ? error : "unknown", strlen(error ? error : "unknown"));
            _exit(written < 0 ? 2 : 1);
        }
        _exit(0);
    }
    close(channel[1]);
    ssize_t n = child > 0 ? read(channel[0], why, room - 1) : 0;
    why[n > 0 ? n : 0] = '\0';
    close(channel[0]);
    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status))
        snprintf(why, room, "loading it crashed (signal %d)", WTERMSIG(status));
    return child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* One line per vendor file; returns how many there were. */
static size_t add_vendor_files(bn_loader_text *t)
{
    const char *folder = vendor_folder();
    size_t count = 0;
    DIR *dir = opendir(folder);
    if (!dir) {
        add(t, "  %s is not a folder that can be read\n", folder);
        return 0;
    }
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (!is_vendor_file(e->d_name))
            continue;
        char path[4096], library[1024] = "", why[1024];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        FILE *f = fopen(path, "r");
        bool readable = f && fgets(library, sizeof library, f) != NULL;
        if (f)
            fclose(f);
        library[strcspn(library, "\r\n")] = '\0';
        count++;
        if (!readable || !library[0])
            add(t, "  %s: names no library\n", path);
        else if (loads(library, why, sizeof why))
            add(t, "  %s: %s loads\n", path, library);
        else
            add(t, "  %s: %s does not load: %s\n", path, library, why);
    }
    closedir(dir);
    if (count == 0)
        add(t, "  %s holds no vendor file (*.icd)\n", folder);
    return count;
}

/* An NVIDIA driver without vendor file is common in containers. */
static void add_hints(bn_loader_text *t)
{
    char why[1024];
    if (loads("libnvidia-opencl.so.1", why, sizeof why))
        add(t, "  NVIDIA's OpenCL library is here; if no vendor file names it:\n"
               "    mkdir -p /etc/OpenCL/vendors && echo libnvidia-opencl.so.1 > /etc/OpenCL/vendors/nvidia.icd\n");
    if (!getenv("RUSTICL_ENABLE"))
        add(t, "  Mesa shows its devices only when RUSTICL_ENABLE names a driver (RUSTICL_ENABLE=llvmpipe runs on the "
               "CPU)\n");
}

bn_status bn_fail_no_device(bn_context *ctx, const bn_no_device *why, size_t platforms)
{
    bn_loader_text t = { 0 };
    add_vendor_files(&t);
    add_hints(&t);
    bn_status st = bn_fail(ctx, BN_DEVICE,
                           "no OpenCL device: the loader found %zu platform%s and no usable device (%s: %s)\n%s"
                           "  to run on the CPU, install PoCL: sudo apt-get install pocl-opencl-icd (dnf install pocl, "
                           "pacman -S pocl, brew install pocl)\n"
                           "  without OpenCL at all: --reference",
                           platforms, platforms == 1 ? "" : "s", why->call, bn_cl_name(why->status),
                           t.text ? t.text : "");
    free(t.text);
    return st;
}

bn_status bn_device_check_icd_loader(bn_context *ctx, char **text)
{
    bn_loader_text t = { 0 };
    *text = NULL;
    add(&t, "vendor files:\n");
    add_vendor_files(&t);
    add_hints(&t);
    cl_platform_id platforms[64];
    cl_uint count = 0;
    cl_int status = clGetPlatformIDs(64, platforms, &count);
    add(&t, "platforms: %u (%s)\n", status == CL_SUCCESS ? count : 0, bn_cl_name(status));
    for (cl_uint i = 0; status == CL_SUCCESS && i < count && i < 64; i++) {
        char name[256] = "", version[256] = "";
        cl_uint devices = 0;
        (void)clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        (void)clGetPlatformInfo(platforms[i], CL_PLATFORM_VERSION, sizeof version, version, NULL);
        cl_int found = clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 0, NULL, &devices);
        if (found == CL_SUCCESS)
            add(&t, "  %u  %s, %s: %u device%s\n", i, name, version, devices, devices == 1 ? "" : "s");
        else
            add(&t, "  %u  %s, %s: %s\n", i, name, version,
                found == CL_DEVICE_NOT_FOUND ? "no devices" : bn_cl_name(found));
    }
    if (t.failed) {
        free(t.text);
        return bn_fail(ctx, BN_MEMORY, "no memory for the loader's report");
    }
    *text = t.text;
    return BN_OK;
}
