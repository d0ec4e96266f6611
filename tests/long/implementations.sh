#!/bin/sh
# implementations.sh: the conformance suite, which `make test` runs on PoCL, on the other implementations for CPUs: rusticl (no fp64,
# no 64-bit atomics) and Intel's; and there every self-test case with work-groups of 64 in subgroups of 8 and of 64, as wide as those
# of its GPUs and of AMD's. Oclgrind, which takes thousands of times as long and watches for races and accesses out of bounds, gets
# the self-test cases with fewer cells and steps: all kernels still run, those with barriers in several shapes of work-groups.
set -u
passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM
. tests/cli_vendors.subr
unset BN_TEST_LONG # four shapes of work-groups instead of one would take hours
RUSTICL_ENABLE=llvmpipe
export RUSTICL_ENABLE

for vendor in rusticl intel; do
    if ! only $vendor "$work/$vendor"; then
        echo "$vendor: not installed"
        skipped=$((skipped + 1))
        continue
    fi
    for program in "${BUILD:-build}"/tests/conformance/test_conformance "${BUILD:-build}"/tests/conformance/test_conformance_*[!.]?; do
        [ -x "$program" ] && [ ! -d "$program" ] || continue
        OCL_ICD_VENDORS=$work/$vendor BN_TEST_TIMEOUT=2400 "$program" >"$work/log" 2>&1
        counts=$(tail -n 1 "$work/log" | grep -E '^[0-9]+ passed, [0-9]+ failed' | tr -cd '0-9 ')
        # shellcheck disable=SC2086 # two words
        set -- $counts
        [ "${2:-1}" = 0 ] || { echo "FAILED: ${program##*/} on $vendor"; cat "$work/log"; }
        passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1}))
    done
done

if [ -d "$work/intel" ]; then
    for width in 8 64; do
        for case in data/cases/*/selftest*.toml; do
            if OCL_ICD_VENDORS=$work/intel CL_CONFIG_CPU_VECTORIZER_MODE=$width "$BINNACLE" verify "$case" --work-group 64x1 >"$work/log" 2>&1
            then passed=$((passed + 1))
            else echo "FAILED: $case in subgroups of $width"; cat "$work/log"; failed=$((failed + 1)); fi
        done
    done
fi

# One step of `flow` has all kernels but that for the second step of Newton's method, flow_newton_predict; five boxes have those of
# multigrid that patches save elsewhere; 67 x 45 nodes have several coarser grids.
# shellcheck disable=SC2034 # of watched
limit=1800
if only oclgrind "$work/oclgrind"; then
    OCL_ICD_VENDORS=$work/oclgrind
    export OCL_ICD_VENDORS
    while read -r options; do
        # shellcheck disable=SC2086 # several words
        if watched $options; then passed=$((passed + 1))
        else echo "FAILED on Oclgrind: $options"; cat "$work/watch"; failed=$((failed + 1)); fi
    done <<'CASES'
flow/selftest --steps 1
flow/selftest --steps 1 --boxes 5 --precision single
flow/selftest-fft
flow/selftest-fft --steps 1 --boxes 3
flow/selftest-convolved --steps 1 --precision single
flow/selftest-split --steps 1
flow/selftest-split-twice --steps 1 --set grid.nodes=[22,71]
flow/selftest-fft --steps 1 --boxes 2 --set grid.nodes=[5,513] --set grid.size=[0.4,51.2]
flow/selftest-obstacle --steps 1
flow/selftest-step --steps 1
flow/selftest-step --steps 1 --set solver.launches=one
flow/selftest-obstacle --steps 1 --set solver.launches=one
flow/selftest-stretched --steps 1
flow/selftest-newton --steps 2 --precision single --set solver.krylov_vectors=8 --set solver.cg_tolerance=0.1
flow/selftest-direct --steps 1
flow/selftest-stretched-newton --steps 1
flow/cavity-re100 --steps 1 --set grid.nodes=[67,45] --set solver.poisson=cg --set solver.diffusion=cg
flow/cavity-re100 --steps 1 --set grid.nodes=[67,45] --set solver.poisson=multigrid --set solver.diffusion=cg --precision single
flow/cavity-re100 --steps 2 --set grid.nodes=[21,17] --set solver.poisson=cg --set solver.diffusion=cg --work-group 7x3
flow/cavity-re100 --steps 2 --set grid.nodes=[21,33] --set solver.poisson=cg --set solver.diffusion=cg --boxes 3
flow/cavity-re100 --steps 1 --set grid.nodes=[21,17] --set solver.poisson=multigrid --set solver.diffusion=cg --work-group 7x3
flow/selftest-stretched --steps 1 --set solver.poisson=cg --set solver.diffusion=cg
flood/selftest
flood/selftest --set grid.cells=[20,11] --boxes 3
flood/selftest-order-2 --set grid.cells=[20,11]
flood/selftest-order-2 --set grid.cells=[20,11] --steps 2 --boxes 3
flood/selftest-walls
flood/selftest-ahead
flood/selftest-tall
flood/selftest-rain --set grid.cells=[20,11] --set time.interval=0.2
flood/selftest-square --set grid.cells=[75,8] --set grid.spacing=0.4 --set source.1.radius=0.4 --set drain.1.radius=0.4
flood/starter --set grid.spacing=2 --steps 2
flood/house --set grid.spacing=1 --steps 4
maxwell/selftest --steps 2
maxwell/selftest-fused --steps 1
maxwell/selftest-two-pass --steps 1
maxwell/selftest-magnetic --steps 1
maxwell/selftest-cycles --steps 1
xray/selftest --steps 1
xray/selftest-slabs --steps 1
bpm/selftest
bpm/selftest --set batch.count=3 --set march.length=1.2e-6 --work-group 5x1
bpm/selftest-long --set batch.count=2 --set march.length=5e-7
bpm/selftest-space --set march.length=1.2e-6
bpm/selftest-space --set march.length=1.2e-6 --work-group 7x1
bpm/selftest-space --set march.length=1.2e-6 --work-group 128x1
bpm/selftest-space --set march.length=1.2e-6 --boxes 3
bpm/selftest-windows --steps 1 --set grid.cells=9 --set grid.width=0.8e-6 --set walls.kind=metal
bpm/selftest-transforms
CASES
else
    echo 'Oclgrind: not installed'
    skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
test "$failed" = 0
