#!/bin/sh
# driver_aborts.sh: a driver whose compiler aborts at the first launch of a kernel, as PoCL compiles then: exit 3 and a
# message from every command, never the end of the program by a signal.
. tests/cli_lib.subr
b=$BINNACLE
case=$root/data/cases/bpm/selftest.toml
cat >"$work/aborts.c" <<'END'
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* $ABORTS_IN: only in a process with that argument. */
static int aborts_here(void)
{
    const char *argument = getenv("ABORTS_IN");
    char said[4096] = "";
    FILE *f = argument ? fopen("/proc/self/cmdline", "r") : NULL;
    const size_t n = f ? fread(said, 1, sizeof said - 1, f) : 0;
    int found = !argument;
    for (size_t i = 0; i < n && !found; i += strlen(said + i) + 1)
        found = strcmp(said + i, argument) == 0;
    if (f)
        fclose(f);
    return found;
}
cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l,
                              cl_uint n, const cl_event *w, cl_event *e)
{
    static __typeof__(&clEnqueueNDRangeKernel) real;
    char name[256] = "";
    if (!real)
        real = (__typeof__(real))dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
    clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    if (strncmp(name, "bpm_", 4) == 0 && aborts_here()) {
        for (int i = 0; i < 4000; i++) /* more than a pipe holds */
            fputs("assertion of the compiler failed\n", stderr);
        abort();
    }
    return real(q, k, d, o, g, l, n, w, e);
}
END
ok 'a library that aborts' "${CC:-cc}" -shared -fPIC -o "$work/aborts.so" "$work/aborts.c" -ldl
export XDG_CACHE_HOME="$work/cache" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"

# fails TEXT WHAT COMMAND...: with that driver
fails()
{
    text=$1 what=$2
    shift 2
    expect 3 "$text" "$what" env LD_PRELOAD="$work/aborts.so" timeout 100 "$b" "$@"
}
fails 'self-test of bpm crashed on .*driver' 'run' run "$case" --out "$work/run"
ok '... says what to do' grep -q 'another driver version' "$work/err"
fails 'self-test of bpm crashed' 'run --force' run "$case" --out "$work/run" --force
ok '... writes nothing' test ! -e "$work/run"
fails 'single precision: the driver crashed .signal 6' 'verify' verify "$case" --precision single
ok '... with its table' grep -q 'crashed (signal 6)' "$work/out"
fails 'crashed over bpm with the default' 'tune' tune bpm --quick --out "$work/tune"
fails 'self-test of bpm crashed' 'bench' bench bpm --quick
if [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ]; then # the run's own steps, in a process beside the test
    export ABORTS_IN=2/1+ XDG_CACHE_HOME="$work/beside"
    fails 'first steps of this case of bpm crashed on .*driver' 'run, over its own steps' run "$case" --out "$work/run"
    ok '... writes nothing' test ! -e "$work/run"
fi
finish
