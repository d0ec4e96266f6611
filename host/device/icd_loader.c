/* icd_loader.c: what the OpenCL loader was given to load: for `devices --check` and for the message when there is no
 * device. */
#include "device/device_list.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* One line per vendor file. */
static void add_vendor_files(FILE *t)
{
    const char *folder = vendor_folder();
    size_t count = 0;
    DIR *dir = opendir(folder);
    if (!dir) {
        fprintf(t, "  %s is not a folder that can be read\n", folder);
        return;
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
            fprintf(t, "  %s: names no library\n", path);
        else if (loads(library, why, sizeof why))
            fprintf(t, "  %s: %s loads\n", path, library);
        else
            fprintf(t, "  %s: %s does not load: %s\n", path, library, why);
    }
    closedir(dir);
    if (count == 0)
        fprintf(t, "  %s holds no vendor file (*.icd)\n", folder);
}

/* An NVIDIA driver without vendor file is common in containers. */
static void add_hints(FILE *t)
{
    char why[1024];
    if (loads("libnvidia-opencl.so.1", why, sizeof why))
        fprintf(t, "  NVIDIA's OpenCL library is here; if no vendor file names it:\n"
                   "    mkdir -p /etc/OpenCL/vendors && echo libnvidia-opencl.so.1 > /etc/OpenCL/vendors/nvidia.icd\n");
    if (!getenv("RUSTICL_ENABLE"))
        fprintf(t,
                "  Mesa shows its devices only when RUSTICL_ENABLE names a driver (RUSTICL_ENABLE=llvmpipe runs on the "
                "CPU)\n");
}

bn_status bn_fail_no_device(bn_context *ctx, const bn_no_device *why, size_t platforms)
{
    char *text = NULL;
    size_t bytes;
    FILE *t = open_memstream(&text, &bytes);
    if (t) {
        add_vendor_files(t);
        add_hints(t);
        (void)fclose(t); /* without memory there is no text, and the rest is told */
    }
    bn_status st = bn_fail(ctx, BN_DEVICE,
                           "no OpenCL device: the loader found %zu platform%s and no usable device (%s: %s)\n%s"
                           "  to run on the CPU, install PoCL: sudo apt-get install pocl-opencl-icd (dnf install pocl, "
                           "pacman -S pocl, brew install pocl)\n"
                           "  without OpenCL at all: --reference",
                           platforms, platforms == 1 ? "" : "s", why->call, bn_cl_name(why->status), text ? text : "");
    free(text);
    return st;
}

bn_status bn_device_check_icd_loader(bn_context *ctx, char **text)
{
    size_t bytes;
    *text = NULL;
    FILE *t = open_memstream(text, &bytes);
    if (!t)
        return bn_fail(ctx, BN_MEMORY, "no memory for the loader's report");
    fprintf(t, "vendor files:\n");
    add_vendor_files(t);
    add_hints(t);
    cl_platform_id platforms[64];
    cl_uint count = 0;
    cl_int status = clGetPlatformIDs(64, platforms, &count);
    fprintf(t, "platforms: %u (%s)\n", status == CL_SUCCESS ? count : 0, bn_cl_name(status));
    for (cl_uint i = 0; status == CL_SUCCESS && i < count && i < 64; i++) {
        char name[256] = "", version[256] = "";
        cl_uint devices = 0;
        (void)clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        (void)clGetPlatformInfo(platforms[i], CL_PLATFORM_VERSION, sizeof version, version, NULL);
        cl_int found = clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 0, NULL, &devices);
        if (found == CL_SUCCESS)
            fprintf(t, "  %u  %s, %s: %u device%s\n", i, name, version, devices, devices == 1 ? "" : "s");
        else
            fprintf(t, "  %u  %s, %s: %s\n", i, name, version,
                    found == CL_DEVICE_NOT_FOUND ? "no devices" : bn_cl_name(found));
    }
    if (fclose(t) != 0) {
        free(*text);
        *text = NULL;
        return bn_fail(ctx, BN_MEMORY, "no memory for the loader's report");
    }
    return BN_OK;
}
