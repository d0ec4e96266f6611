#!/bin/sh
# vendors.sh: `make vendors` finds what it is there for: a program that does not compile, a kernel that spills registers,
# one with 70 KiB of local memory; and a plain one passes.
. tests/cli_lib.subr

python3 tests/vendors/vendors.py --list >"$work/targets"
target=$(awk '$2 == "here" && /gfx1030|pvc/ { print $1; exit }' "$work/targets")
if [ -z "$target" ]; then
    echo 'Neither ocloc nor a clang with the libraries of AMD is here.'
    echo '0 passed, 0 failed, 1 skipped'
    exit 0
fi

# program NAME TEXT: a folder with one program
program()
{
    mkdir -p "$work/$1"
    printf '%s\n' "$2" >"$work/$1/program-$1.cl"
    printf '%s' '-cl-std=CL1.2 -DREAL_BYTES=4' >"$work/$1/program-$1.opt"
}
compile() { python3 tests/vendors/vendors.py --programs "$work/$1" $target; }

program plain 'kernel void twice(global float *a) { a[get_global_id(0)] *= 2.0f; }'
program broken 'kernel void twice(global float *a) { a[get_global_id(0)] *= nothing; }'
program local 'kernel void reversed(global float *a)
{
    local float all[17920];
    const int i = get_local_id(0);
    for (int k = i; k < 17920; k += 64) all[k] = a[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = all[17919 - i] + all[i];
}'
program spills "kernel void sorted(global const float *a, global float *b)
{
    const int i = get_global_id(0);
$(i=0; while [ $i -lt 400 ]; do echo "    const float v$i = a[i + 977 * $i];"; i=$((i + 1)); done)
    barrier(CLK_GLOBAL_MEM_FENCE);
$(i=0; while [ $i -lt 400 ]; do echo "    b[i + 977 * $i] = v$i * v$(((i * 7 + 200) % 400));"; i=$((i + 1)); done)
}"
expect 0 'passed, 0 failed' 'a plain program passes' compile plain
expect 1 'does not compile' 'an error is found' compile broken
expect 1 'bytes of local memory of 65536|does not compile' '70 KiB of local memory are found' compile local
expect 1 'spills [0-9]+ registers' 'spilled registers are found' compile spills
expect 1 'no programs in' 'an empty folder is no success' compile nothing
finish
