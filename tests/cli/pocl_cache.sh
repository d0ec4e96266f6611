#!/bin/sh
# pocl_cache.sh: PoCL loads what lies in its folder of compiled kernels. That folder is private in every environment,
# and no two processes use one at a time; starts with cold caches test the device once, for what they need, and take
# over what processes have compiled beside the test.
. tests/cli_lib.subr
b=$BINNACLE
cat >"$work/tells.c" <<'END_OF_C'
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
/* The file system of $FULL has a MiB left. */
int statvfs(const char *path, struct statvfs *s)
{
    __typeof__(&statvfs) real = (__typeof__(real))dlsym(RTLD_NEXT, "statvfs");
    const char *full = getenv("FULL");
    const int result = real(path, s);
    if (full && strncmp(path, full, strlen(full)) == 0) {
        s->f_bavail = 256;
        s->f_frsize = 4096;
    }
    return result;
}
/* Tells the folder and its mode when OpenCL is entered; waits then while the file $HELD is there. */
cl_int clGetPlatformIDs(cl_uint n, cl_platform_id *list, cl_uint *count)
{
    __typeof__(&clGetPlatformIDs) real = (__typeof__(real))dlsym(RTLD_NEXT, "clGetPlatformIDs");
    const char *dir = getenv("POCL_CACHE_DIR"), *held = getenv("HELD");
    struct stat s = { 0 };
    if (dir)
        lstat(dir, &s);
    fprintf(stderr, "folder %s mode %o\n", dir ? dir : "of PoCL's choice", (unsigned)s.st_mode);
    for (int i = 0; held && access(held, F_OK) == 0 && i < 200; i++)
        usleep(100000);
    return real(n, list, count);
}
END_OF_C
ok 'a library that tells the folder' "${CC:-cc}" -shared -fPIC -o "$work/tells.so" "$work/tells.c" -ldl
mkdir "$work/tmp"
chmod 700 "$work/tmp"
bare()
{
    env -u HOME -u XDG_CACHE_HOME -u POCL_CACHE_DIR TMPDIR="$work/tmp" LD_PRELOAD="$work/tells.so" "$@"
}
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"

# Without HOME: a fresh folder, gone afterwards.
expect 0 "folder $work/tmp/binnacle-pocl-.* mode 40700" 'without HOME' bare "$b" devices
ok '... removed at the end' rmdir "$work/tmp"
bare "$b" devices 2>"$work/err" >/dev/null # exit 3, where there is only PoCL
ok 'without HOME and TMPDIR: no folder of others' grep -q 'folder /dev/null/binnacle mode 0' "$work/err"
ok '... says why' grep -q "PoCL has no lasting folder.*$work/tmp" "$work/err"
mkdir -m 700 "$work/tmp"

# Folders that others could have filled.
mkdir "$work/open" "$work/cache" "$work/cache/binnacle"
chmod 700 "$work/cache/binnacle"
chmod 777 "$work/open"
touch "$work/open/planted"
expect 0 "folder $work/tmp/binnacle-pocl-.* mode 40700" 'POCL_CACHE_DIR that all can write to' \
    bare POCL_CACHE_DIR="$work/open" "$b" devices
ok '... is told' grep -q "POCL_CACHE_DIR: $work/open is not used (others can write to it)" "$work/err"
ok '... and left alone' test "$(ls -A "$work/open")" = planted
expect 0 "folder $work/cache/binnacle/pocl mode 40700" '... with a cache of ours' \
    bare POCL_CACHE_DIR="$work/open" XDG_CACHE_HOME="$work/cache" "$b" devices
rm -rf "$work/cache/binnacle/pocl"
ln -s "$work/open" "$work/cache/binnacle/pocl"
expect 0 "folder $work/tmp/binnacle-pocl-.* mode 40700" 'a link in our cache' \
    bare XDG_CACHE_HOME="$work/cache" "$b" devices
rm "$work/cache/binnacle/pocl"
mkdir -m 700 "$work/mine"
ln -s mine "$work/link"
expect 0 "folder $work/mine mode 40700" 'a folder of the user is taken' bare POCL_CACHE_DIR="$work/link" "$b" devices

# Two processes at a time have a folder each; the next has the first's.
touch "$work/held"
bare XDG_CACHE_HOME="$work/cache" HELD="$work/held" "$b" devices >"$work/first" 2>&1 &
first=$!
tries=0
until grep -q folder "$work/first" || [ $tries = 200 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
expect 0 "folder $work/cache/binnacle/pocl/process-1 mode 40700" 'the second process' \
    bare XDG_CACHE_HOME="$work/cache" "$b" devices
rm "$work/held"
ok 'the first process' wait $first
ok '... has the folder itself' grep -q "folder $work/cache/binnacle/pocl mode 40700" "$work/first"
expect 0 "folder $work/cache/binnacle/pocl mode 40700" 'the next process' \
    bare XDG_CACHE_HOME="$work/cache" "$b" devices

# PoCL ends the process where it can't write a kernel: a full disk is told, and another folder taken.
expect 0 "less than 8 MiB are free" 'a full disk' bare POCL_CACHE_DIR="$work/mine" FULL="$work/mine" "$b" devices
ok '... has no kernels' grep -q "folder $work/tmp/binnacle-pocl-.* mode 40700" "$work/err"

# Processes that the program has started end with it, also when it is killed.
touch "$work/held"
env LD_PRELOAD="$work/tells.so" XDG_CACHE_HOME="$work/cache" HELD="$work/held" "$b" sweep data/cases/bpm/selftest.toml -q \
    --vary material.index=1.44,1.45 --out "$work/children" >/dev/null 2>&1 & # not by the function: its process is a shell
parent=$!
children() { processes_with "$work/children/" | grep -c .; }
tries=0
until [ "$(children)" -gt 0 ] || [ $tries = 200 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
ok 'a point of a sweep runs' test "$(children)" -gt 0
kill -KILL $parent
wait $parent 2>/dev/null
sleep 0.5
ok '... and ends with the sweep' test "$(children)" = 0
rm "$work/held"

# Three starts at once test once.
unset POCL_CACHE_DIR BINNACLE_SELFTEST
export XDG_CACHE_HOME="$work/cold"
for i in 1 2 3; do
    "$b" run data/cases/maxwell/selftest.toml --steps 1 --out "$work/run-$i" >"$work/cold-$i" 2>&1 &
    eval "start_$i=$!"
done
for i in 1 2 3; do
    eval "ok 'start $i' wait \$start_$i"
done
ok 'one of them tests the device' test "$(cat "$work"/run-*/summary.json | grep -c 'passed now')" = 1
ok 'the others know that it passed' test "$(cat "$work"/run-*/summary.json | grep -c 'passed earlier')" = 2

# Beside the test another process takes the first steps: the run compiles nothing itself.
if [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ]; then
    for case in bpm/selftest flow/selftest-step flood/selftest xray/selftest; do
        export XDG_CACHE_HOME="$work/beside-$case"
        mkdir -p "$XDG_CACHE_HOME"
        ok "first use, $case" "$b" run data/cases/$case.toml --steps 2 --out "$work/beside-out" --force
        own() { find "$XDG_CACHE_HOME/binnacle/pocl" -name 'process-*' -prune -o -name '*.so' "$@" -print | grep -c .; }
        ok '... has kernels' test "$(own)" -gt 0
        ok '... and all from the other process' test "$(own -links 1)" = 0
    done
    export XDG_CACHE_HOME="$work/cold"
fi

# A run tests what it needs: the cases whose program is its own, all if there is none; what has passed is not repeated.
passed_cases() { cat "$XDG_CACHE_HOME"/binnacle/selftest/*.txt | sort -u | grep -c .; }
ok '... one case of its program, loops along rows' test "$(passed_cases)" = 1
needs() # CASES OUTCOME WHAT OPTION...
{
    cases=$1 outcome=$2 what=$3
    shift 3
    ok "$what" "$b" run data/cases/maxwell/selftest.toml --steps 1 --out "$work/needs-out" --force "$@"
    ok "... $cases have passed" test "$(passed_cases)" = "$cases"
    ok "... $outcome" grep -q "\"$outcome\"" "$work/needs-out/summary.json"
}
needs 1 'passed earlier' 'the same again'
needs 2 'passed now' 'one sweep' --set solver.sweep=fused
needs 6 'passed now' 'loops along rows and light from the side: no case is like that' --set light.incidence=0.3
finish
