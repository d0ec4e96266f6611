#!/bin/sh
# device_errors.sh: calls of OpenCL that fail: exit 3 and the call's reason, also in a run that has not converged; and
# nothing is freed that the device may still write to.
. tests/cli_lib.subr
b=$BINNACLE
cat >"$work/fails.c" <<'END_OF_C'
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define REAL(f)                              \
    static __typeof__(&f) real;              \
    if (!real)                               \
        real = (__typeof__(real))dlsym(RTLD_NEXT, #f)
void __libc_free(void *);
static int is(const char *what) { return getenv("FAILS") && strcmp(getenv("FAILS"), what) == 0; }
cl_int clGetDeviceIDs(cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d, cl_uint *c)
{
    REAL(clGetDeviceIDs);
    return is("ids") ? CL_OUT_OF_RESOURCES : real(p, t, n, d, c);
}
cl_int clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t n, void *to, size_t *c)
{
    REAL(clGetDeviceInfo);
    return is("memory") && what == CL_DEVICE_GLOBAL_MEM_SIZE ? CL_OUT_OF_RESOURCES : real(d, what, n, to, c);
}
/* Reads begin half a second late. */
static struct late {
    cl_event gate;
    char *to;
    volatile int in_flight;
} reads[4096];
static int count, failed;
static void *open_gate(void *of)
{
    usleep(500000);
    clSetUserEventStatus(((struct late *)of)->gate, CL_COMPLETE);
    return NULL;
}
static void CL_CALLBACK is_done(cl_event e, cl_int status, void *of)
{
    (void)e, (void)status;
    ((struct late *)of)->in_flight = 0;
}
cl_int clEnqueueReadBufferRect(cl_command_queue q, cl_mem m, cl_bool wait, const size_t *bo, const size_t *ho, const size_t *r,
                               size_t br, size_t bs, size_t hr, size_t hs, void *to, cl_uint n, const cl_event *w, cl_event *e)
{
    REAL(clEnqueueReadBufferRect);
    cl_context context;
    cl_event own;
    pthread_t thread;
    if (wait || n > 0 || !is("finish") || count == 4096)
        return real(q, m, wait, bo, ho, r, br, bs, hr, hs, to, n, w, e);
    struct late *l = &reads[count++];
    clGetCommandQueueInfo(q, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    *l = (struct late){ clCreateUserEvent(context, NULL), to, 1 };
    cl_int status = real(q, m, wait, bo, ho, r, br, bs, hr, hs, to, 1, &l->gate, e ? e : &own);
    clSetEventCallback(e ? *e : own, CL_COMPLETE, is_done, l);
    pthread_create(&thread, NULL, open_gate, l);
    pthread_detach(thread);
    return status;
}
void free(void *p)
{
    for (int i = 0; p && i < count; i++)
        if (reads[i].in_flight && reads[i].to >= (char *)p && reads[i].to < (char *)p + malloc_usable_size(p)) {
            static const char text[] = "freed what a read writes to\n";
            (void)!write(2, text, sizeof text - 1);
            _exit(99);
        }
    __libc_free(p);
}
/* Fails at once from the ($FROM)th call with reads in flight on, or then alone. */
cl_int clFinish(cl_command_queue q)
{
    REAL(clFinish);
    static int calls;
    int busy = 0;
    for (int i = 0; i < count; i++)
        busy = busy || reads[i].in_flight;
    calls += busy;
    if ((busy && calls == atoi(getenv("FROM"))) || (failed && getenv("FOR_EVER"))) {
        failed = 1;
        return CL_OUT_OF_RESOURCES;
    }
    return real(q);
}
END_OF_C
ok 'a library that fails' "${CC:-cc}" -shared -fPIC -o "$work/fails.so" "$work/fails.c" -ldl -lpthread
export XDG_CACHE_HOME="$work/cache" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"
fails() { env LD_PRELOAD="$work/fails.so" "$@"; }
case=$root/data/cases/maxwell/selftest.toml

expect 3 'no usable device .clGetDeviceIDs: CL_OUT_OF_RESOURCES' 'clGetDeviceIDs' fails FAILS=ids "$b" devices
expect 3 'is left out: clGetDeviceInfo failed: CL_OUT_OF_RESOURCES' 'clGetDeviceInfo' fails FAILS=memory "$b" devices
ok '... the list says why it is empty' grep -q 'no usable device .clGetDeviceInfo: CL_OUT_OF_RESOURCES' "$work/err"

expect 4 'not converged' 'the case itself' "$b" run "$case" --out "$work/run" --quiet
for from in 1 2 3; do
    for ever in '' 1; do
        expect 3 'clFinish failed on' "clFinish $from with reads in flight${ever:+, and all later ones}" \
            fails FAILS=finish FROM=$from ${ever:+FOR_EVER=1} "$b" run "$case" --out "$work/run" --force --quiet
        ok '... is the story' sh -c "! grep -q 'not converged' '$work/err'"
    done
done
finish
