/* opencl.c: an OpenCL whose calls fail, or whose devices lack something; preloaded.
 *     BN_FAULT=CALL:N:ERROR[:on]  the N-th call of that name ends with that error, and with "on" (a device that is
 * lost) all calls after it that are no releases BN_FAULT_MARK, BN_FAULT_COUNT  as in files.c
 *     BN_FAULT_QUEUE=N            launches and writes are counted, and fail, on the N-th queue that was made alone
 *     BN_SKIP=KERNEL              launches of that kernel do nothing
 *     BN_DELAY=KERNEL:MS:EVERY    each EVERY-th launch of that kernel, and what its queue has behind it, begins MS ms
 * late BN_FLIP=read:N:SEED         a bit of what the N-th read gives is turned over; SEED says which
 *     BN_FLIP=device:N:SEED       a bit of some buffer is, before the N-th launch of a kernel
 *     BN_PRETEND=fp64,atomics,images,local,groups,buffers,lone,unit,constants  devices without double precision, 64-bit
 *                                 atomics, images; with 32 KiB of local memory, work-groups of 64, buffers of 256 MiB;
 *                                 work-groups of one work-item, one compute unit, 4 KiB of constant memory */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 64 };
static struct {
    const char *name;
    long count;
} calls[CALLS];
static bool fired;
static cl_command_queue only; /* BN_FAULT_QUEUE */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Counts a call; whether it fails, with which error. */
static bool fault(const char *call, cl_int *error)
{
    const char *spec = getenv("BN_FAULT"), *mark = getenv("BN_FAULT_MARK");
    char name[48] = "", on[4] = "";
    long n = 0;
    int c = 0, code = 0;
    pthread_mutex_lock(&mutex);
    while (c < CALLS - 1 && calls[c].name && strcmp(calls[c].name, call) != 0)
        c++;
    calls[c].name = call;
    const long now = ++calls[c].count;
    const bool known = spec && sscanf(spec, "%47[A-Za-z]:%ld:%d:%3s", name, &n, &code, on) >= 3;
    const bool hit = known && ((strcmp(name, call) == 0 && now == n) || (fired && on[0]));
    if (hit && !fired) {
        FILE *f = mark ? fopen(mark, "a") : NULL;
        if (f) {
            fprintf(f, "%s %ld\n", call, now);
            fclose(f);
        }
        fired = true;
    }
    pthread_mutex_unlock(&mutex);
    *error = code;
    return hit;
}

/* The same of what is asked of a queue. */
static bool fault_in(cl_command_queue q, const char *call, cl_int *error)
{
    return (!getenv("BN_FAULT_QUEUE") || q == only) && fault(call, error);
}

__attribute__((destructor)) static void tell(void)
{
    FILE *f = getenv("BN_FAULT_COUNT") ? fopen(getenv("BN_FAULT_COUNT"), "w") : NULL;
    for (int c = 0; f && c < CALLS && calls[c].name; c++)
        fprintf(f, "%s %ld\n", calls[c].name, calls[c].count);
    if (f)
        fclose(f);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
/* Calls that return an error, and calls that return an object and put the error into *error. */
#define STATUS(name, parameters, arguments)                       \
    CL_API_ENTRY cl_int CL_API_CALL name parameters               \
    {                                                             \
        cl_int code;                                              \
        return fault(#name, &code) ? code : REAL(name) arguments; \
    }
#define OBJECT(type, name, parameters, arguments) \
    CL_API_ENTRY type CL_API_CALL name parameters \
    {                                             \
        cl_int code;                              \
        if (!fault(#name, &code))                 \
            return REAL(name) arguments;          \
        if (error)                                \
            *error = code;                        \
        return NULL;                              \
    }

/* BN_FLIP */
enum { BUFFERS = 4096 };
static struct {
    cl_mem mem;
    size_t bytes;
} buffers[BUFFERS]; /* on the device */
static size_t buffer_count;

/* Whether this is the call whose bit is turned over. */
static bool flips(const char *what, unsigned long long *seed)
{
    const char *spec = getenv("BN_FLIP"), *mark = getenv("BN_FAULT_MARK");
    static long seen;
    char name[8];
    long n;
    bool hit = false;
    if (!spec || sscanf(spec, "%7[a-z]:%ld:%llu", name, &n, seed) != 3 || strcmp(name, what) != 0)
        return false;
    pthread_mutex_lock(&mutex);
    hit = ++seen == n;
    pthread_mutex_unlock(&mutex);
    FILE *f = hit && mark ? fopen(mark, "a") : NULL;
    if (f)
        fclose(f);
    return hit;
}

static void flip_on_device(cl_command_queue q, unsigned long long seed)
{
    pthread_mutex_lock(&mutex);
    const size_t i = buffer_count > 0 ? seed % buffer_count : 0, bytes = buffer_count > 0 ? buffers[i].bytes : 0;
    const cl_mem mem = bytes > 0 ? buffers[i].mem : NULL;
    pthread_mutex_unlock(&mutex);
    unsigned char byte;
    const size_t at = bytes > 0 ? (size_t)(seed / 4096) % bytes : 0;
    if (!mem || REAL(clEnqueueReadBuffer)(q, mem, CL_TRUE, at, 1, &byte, 0, NULL, NULL) != CL_SUCCESS)
        return;
    byte ^= (unsigned char)(1 << seed / 64 % 8);
    (void)REAL(clEnqueueWriteBuffer)(q, mem, CL_TRUE, at, 1, &byte, 0, NULL, NULL);
}

typedef void(CL_CALLBACK *context_told)(const char *, const void *, size_t, void *);
typedef void(CL_CALLBACK *program_told)(cl_program, void *);
typedef const size_t *sizes;
typedef const cl_event *events;

OBJECT(cl_context, clCreateContext,
       (const cl_context_properties *p, cl_uint n, const cl_device_id *d, context_told f, void *u, cl_int *error),
       (p, n, d, f, u, error))
CL_API_ENTRY cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context c, cl_device_id d,
                                                               cl_command_queue_properties p, cl_int *error)
{
    static long made;
    const char *number = getenv("BN_FAULT_QUEUE");
    cl_int code;
    if (fault("clCreateCommandQueue", &code)) {
        if (error)
            *error = code;
        return NULL;
    }
    const cl_command_queue q = REAL(clCreateCommandQueue)(c, d, p, error);
    if (number && ++made == atol(number))
        only = q;
    return q;
}
CL_API_ENTRY cl_mem CL_API_CALL clCreateBuffer(cl_context c, cl_mem_flags f, size_t n, void *h, cl_int *error)
{
    cl_int code;
    if (fault("clCreateBuffer", &code)) {
        if (error)
            *error = code;
        return NULL;
    }
    const cl_mem made = REAL(clCreateBuffer)(c, f, n, h, error);
    pthread_mutex_lock(&mutex);
    if (made && !(f & CL_MEM_ALLOC_HOST_PTR) && buffer_count < BUFFERS) {
        buffers[buffer_count].mem = made;
        buffers[buffer_count++].bytes = n;
    }
    pthread_mutex_unlock(&mutex);
    return made;
}
CL_API_ENTRY cl_int CL_API_CALL clReleaseMemObject(cl_mem m)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < buffer_count; i++)
        if (buffers[i].mem == m)
            buffers[i] = buffers[--buffer_count];
    pthread_mutex_unlock(&mutex);
    return REAL(clReleaseMemObject)(m);
}
OBJECT(cl_mem, clCreateImage,
       (cl_context c, cl_mem_flags f, const cl_image_format *m, const cl_image_desc *d, void *h, cl_int *error),
       (c, f, m, d, h, error))
OBJECT(cl_program, clCreateProgramWithSource, (cl_context c, cl_uint n, const char **s, sizes l, cl_int *error),
       (c, n, s, l, error))
OBJECT(cl_program, clCreateProgramWithBinary,
       (cl_context c, cl_uint n, const cl_device_id *d, sizes l, const unsigned char **b, cl_int *s, cl_int *error),
       (c, n, d, l, b, s, error))
OBJECT(cl_kernel, clCreateKernel, (cl_program p, const char *n, cl_int *error), (p, n, error))
OBJECT(void *, clEnqueueMapBuffer,
       (cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t o, size_t s, cl_uint n, events w, cl_event *e,
        cl_int *error),
       (q, m, b, f, o, s, n, w, e, error))
STATUS(clBuildProgram, (cl_program p, cl_uint n, const cl_device_id *d, const char *o, program_told f, void *u),
       (p, n, d, o, f, u))
STATUS(clCreateSubDevices,
       (cl_device_id d, const cl_device_partition_property *p, cl_uint n, cl_device_id *o, cl_uint *r), (d, p, n, o, r))
STATUS(clSetKernelArg, (cl_kernel k, cl_uint i, size_t s, const void *v), (k, i, s, v))
STATUS(clEnqueueBarrierWithWaitList, (cl_command_queue q, cl_uint n, events w, cl_event *e), (q, n, w, e))
STATUS(clEnqueueMarkerWithWaitList, (cl_command_queue q, cl_uint n, events w, cl_event *e), (q, n, w, e))
STATUS(clEnqueueCopyBuffer,
       (cl_command_queue q, cl_mem a, cl_mem b, size_t o, size_t p, size_t s, cl_uint n, events w, cl_event *e),
       (q, a, b, o, p, s, n, w, e))
STATUS(clEnqueueCopyBufferRect,
       (cl_command_queue q, cl_mem a, cl_mem b, sizes o, sizes p, sizes r, size_t x, size_t y, size_t z, size_t t,
        cl_uint n, events w, cl_event *e),
       (q, a, b, o, p, r, x, y, z, t, n, w, e))
STATUS(clEnqueueFillBuffer,
       (cl_command_queue q, cl_mem a, const void *p, size_t l, size_t o, size_t s, cl_uint n, events w, cl_event *e),
       (q, a, p, l, o, s, n, w, e))
STATUS(clEnqueueUnmapMemObject, (cl_command_queue q, cl_mem a, void *p, cl_uint n, events w, cl_event *e),
       (q, a, p, n, w, e))
CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s,
                                                    void *p, cl_uint n, events w, cl_event *e)
{
    cl_int code;
    unsigned long long seed;
    if (fault("clEnqueueReadBuffer", &code))
        return code;
    const bool flip = flips("read", &seed);
    code = REAL(clEnqueueReadBuffer)(q, m, flip ? CL_TRUE : b, o, s, p, n, w, e);
    if (flip && code == CL_SUCCESS)
        ((unsigned char *)p)[seed / 4096 % s] ^= (unsigned char)(1 << seed % 8);
    return code;
}
CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue q, cl_mem m, cl_bool b, sizes o, sizes p,
                                                        sizes r, size_t x, size_t y, size_t z, size_t t, void *h,
                                                        cl_uint n, events w, cl_event *e)
{
    cl_int code;
    unsigned long long seed;
    if (fault("clEnqueueReadBufferRect", &code))
        return code;
    const bool flip = flips("read", &seed);
    code = REAL(clEnqueueReadBufferRect)(q, m, flip ? CL_TRUE : b, o, p, r, x, y, z, t, h, n, w, e);
    if (flip && code == CL_SUCCESS) {
        const size_t row = z ? z : r[0], slice = t ? t : row * r[1], at = seed / 4096 % (r[0] * r[1] * r[2]);
        const size_t place = (p[2] + at / r[0] / r[1]) * slice + (p[1] + at / r[0] % r[1]) * row + p[0] + at % r[0];
        ((unsigned char *)h)[place] ^= (unsigned char)(1 << seed % 8);
    }
    return code;
}
CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool b, size_t at, size_t size,
                                                     const void *from, cl_uint n, events w, cl_event *e)
{
    cl_int code;
    return fault_in(q, "clEnqueueWriteBuffer", &code) ? code
                                                      : REAL(clEnqueueWriteBuffer)(q, m, b, at, size, from, n, w, e);
}
STATUS(clEnqueueWriteBufferRect,
       (cl_command_queue q, cl_mem m, cl_bool b, sizes o, sizes p, sizes r, size_t x, size_t y, size_t z, size_t t,
        const void *h, cl_uint n, events w, cl_event *e),
       (q, m, b, o, p, r, x, y, z, t, h, n, w, e))
STATUS(clFinish, (cl_command_queue q), (q))
STATUS(clFlush, (cl_command_queue q), (q))
STATUS(clWaitForEvents, (cl_uint n, events w), (n, w))
STATUS(clGetPlatformIDs, (cl_uint n, cl_platform_id *p, cl_uint *r), (n, p, r))
STATUS(clGetDeviceIDs, (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d, cl_uint *r), (p, t, n, d, r))
STATUS(clGetProgramInfo, (cl_program p, cl_program_info i, size_t s, void *v, size_t *r), (p, i, s, v, r))
STATUS(clGetProgramBuildInfo, (cl_program p, cl_device_id d, cl_program_build_info i, size_t s, void *v, size_t *r),
       (p, d, i, s, v, r))
STATUS(clGetEventProfilingInfo, (cl_event e, cl_profiling_info i, size_t s, void *v, size_t *r), (e, i, s, v, r))

/* BN_DELAY: the queue waits for an event that a thread completes. */
static unsigned delay_ms;
static void *complete_late(void *event)
{
    usleep(1000 * delay_ms);
    (void)clSetUserEventStatus(event, CL_COMPLETE);
    (void)clReleaseEvent(event);
    return NULL;
}

static cl_int delay(cl_command_queue q, const char *kernel)
{
    const char *spec = getenv("BN_DELAY");
    static long seen;
    char name[64];
    unsigned ms;
    long every;
    pthread_t thread;
    cl_context context;
    cl_int code;
    if (!spec || sscanf(spec, "%63[^:]:%u:%ld", name, &ms, &every) != 3 || strcmp(name, kernel) != 0)
        return CL_SUCCESS;
    pthread_mutex_lock(&mutex);
    delay_ms = ms;
    const bool hit = ++seen % every == 0;
    pthread_mutex_unlock(&mutex);
    if (!hit || (code = clGetCommandQueueInfo(q, CL_QUEUE_CONTEXT, sizeof context, &context, NULL)) != CL_SUCCESS)
        return hit ? code : CL_SUCCESS;
    cl_event late = clCreateUserEvent(context, &code);
    if (code == CL_SUCCESS)
        code = REAL(clEnqueueBarrierWithWaitList)(q, 1, &late, NULL);
    if (code == CL_SUCCESS && pthread_create(&thread, NULL, complete_late, late) == 0)
        pthread_detach(thread);
    return code;
}

/* BN_SKIP: a marker stands in the queue where that kernel would run. */
CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint d, sizes o, sizes g,
                                                       sizes l, cl_uint n, events w, cl_event *e)
{
    const char *skipped = getenv("BN_SKIP");
    char name[256] = "";
    cl_event marker;
    cl_int code;
    unsigned long long seed;
    if (fault_in(q, "clEnqueueNDRangeKernel", &code))
        return code;
    if (flips("device", &seed))
        flip_on_device(q, seed);
    code = clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    if (code == CL_SUCCESS)
        code = delay(q, name);
    if (code != CL_SUCCESS)
        return code;
    if (skipped && strcmp(name, skipped) == 0) {
        code = REAL(clEnqueueMarkerWithWaitList)(q, n, w, e ? e : &marker);
        return code == CL_SUCCESS && !e ? clReleaseEvent(marker) : code;
    }
    return REAL(clEnqueueNDRangeKernel)(q, k, d, o, g, l, n, w, e);
}

static bool pretends(const char *what)
{
    const char *list = getenv("BN_PRETEND");
    return list && strstr(list, what);
}

/* Lowers numbers of a type in what a question was answered with. */
#define LOWER(type, most)                                             \
    do {                                                              \
        for (size_t i_ = 0; value && i_ < bytes / sizeof(type); i_++) \
            if (((type *)value)[i_] > (most))                         \
                ((type *)value)[i_] = (most);                         \
    } while (0)

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id d, cl_device_info info, size_t bytes, void *value,
                                                size_t *r)
{
    cl_int code;
    if (fault("clGetDeviceInfo", &code))
        return code;
    const cl_int answer = REAL(clGetDeviceInfo)(d, info, bytes, value, r);
    if (answer != CL_SUCCESS)
        return answer;
    if (info == CL_DEVICE_LOCAL_MEM_SIZE && pretends("local"))
        LOWER(cl_ulong, 32768);
    if (info == CL_DEVICE_MAX_MEM_ALLOC_SIZE && pretends("buffers"))
        LOWER(cl_ulong, (cl_ulong)256 << 20);
    if ((info == CL_DEVICE_MAX_WORK_GROUP_SIZE || info == CL_DEVICE_MAX_WORK_ITEM_SIZES) && pretends("groups"))
        LOWER(size_t, 64);
    if ((info == CL_DEVICE_MAX_WORK_GROUP_SIZE || info == CL_DEVICE_MAX_WORK_ITEM_SIZES) && pretends("lone"))
        LOWER(size_t, 1);
    if (info == CL_DEVICE_MAX_COMPUTE_UNITS && pretends("unit"))
        LOWER(cl_uint, 1);
    if (info == CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE && pretends("constants"))
        LOWER(cl_ulong, 4096);
    if (info == CL_DEVICE_DOUBLE_FP_CONFIG && pretends("fp64"))
        LOWER(cl_device_fp_config, 0);
    if (info == CL_DEVICE_IMAGE_SUPPORT && value && pretends("images"))
        *(cl_bool *)value = CL_FALSE;
    static const char *const hidden[][2] = { { "fp64", "cl_khr_fp64" },
                                             { "atomics", "cl_khr_int64_base_atomics" },
                                             { "atomics", "cl_khr_int64_extended_atomics" },
                                             { "images", "cl_khr_3d_image_writes" } };
    for (size_t i = 0; info == CL_DEVICE_EXTENSIONS && value && i < sizeof hidden / sizeof *hidden; i++) {
        char *extension = pretends(hidden[i][0]) ? strstr(value, hidden[i][1]) : NULL;
        if (extension)
            memset(extension, 'x', strlen(hidden[i][1]));
    }
    return answer;
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel k, cl_device_id d, cl_kernel_work_group_info info,
                                                         size_t bytes, void *value, size_t *r)
{
    cl_int code;
    if (fault("clGetKernelWorkGroupInfo", &code))
        return code;
    const cl_int answer = REAL(clGetKernelWorkGroupInfo)(k, d, info, bytes, value, r);
    if (answer == CL_SUCCESS && info == CL_KERNEL_WORK_GROUP_SIZE && (pretends("groups") || pretends("lone")))
        LOWER(size_t, pretends("lone") ? 1 : 64);
    return answer;
}
