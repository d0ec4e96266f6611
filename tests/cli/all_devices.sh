#!/bin/sh
# all_devices.sh: `verify --device all` over every OpenCL implementation that can be had without a GPU, side by side:
# PoCL, Mesa's rusticl on llvmpipe (no double, no 64-bit atomics), Intel's runtime for CPUs, and Oclgrind, which watches for races
# and accesses out of bounds. BN_TEST_LONG: the case as it is; else a smaller grid.
set -u
passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM
mkdir "$work/vendors"
cp "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*.icd "$work/vendors" 2>/dev/null
. tests/cli_vendors.subr
have=
if [ -f "$work/vendors/pocl.icd" ] || cp /etc/OpenCL/vendors/pocl.icd "$work/vendors" 2>/dev/null; then have=pocl; fi
for vendor in rusticl intel oclgrind; do
    if only $vendor "$work/vendors"; then have="$have $vendor"; fi
done
grind=$(library_of_oclgrind)
OCL_ICD_VENDORS=$work/vendors RUSTICL_ENABLE=llvmpipe
OCLGRIND_DATA_RACES=1
export OCL_ICD_VENDORS RUSTICL_ENABLE OCLGRIND_DATA_RACES

nodes=[13,11] steps=2 limit=300
[ -z "${BN_TEST_LONG:-}" ] || { nodes=[129,129] steps=5 limit=3000; }

# Mesa compiles the transforms of the direct solver for three minutes: there only the long test takes it.
everywhere()
{
    timeout "$limit" "$BINNACLE" verify data/cases/flow/cavity-re100.toml --device all --steps "$steps" --set "grid.nodes=$nodes" "$@" \
        >>"$work/table" 2>&1
}
if [ -n "${BN_TEST_LONG:-}" ]; then
    everywhere
    code=$?
else
    mkdir "$work/mesa"
    mv "$work/vendors/rusticl.icd" "$work/mesa" 2>/dev/null
    everywhere
    code=$?
    case "$have" in
        *rusticl*) OCL_ICD_VENDORS=$work/mesa everywhere --set solver.poisson=cg --set solver.diffusion=cg || code=$? ;;
    esac
    mv "$work/mesa/rusticl.icd" "$work/vendors" 2>/dev/null
fi
cat "$work/table"
if [ "$code" = 0 ]; then passed=$((passed + 1)); else echo "FAILED: verify --device all, exit $code"; failed=$((failed + 1)); fi
for vendor in pocl rusticl intel oclgrind; do
    name=$vendor
    [ "$vendor" != rusticl ] || name=llvmpipe
    [ "$vendor" != intel ] || name='Intel(R) OpenCL'
    case "$have" in
        *$vendor*)
            if grep -qi "$name.*ok" "$work/table"; then passed=$((passed + 1))
            else echo "FAILED: no row of $vendor is ok"; failed=$((failed + 1)); fi ;;
        *) echo "$vendor is not installed"; skipped=$((skipped + 1)) ;;
    esac
done
# Work-groups of conjugate gradients on many nodes take no more local memory than there is (32 KiB on rusticl).
case "$have" in
    *rusticl*)
        if BINNACLE_SELFTEST=off timeout "$limit" "$BINNACLE" run data/cases/flow/cavity-re100.toml --device llvmpipe --set 'case.precision="single"' --steps 1 \
            --set grid.nodes=[513,257] --set solver.poisson=cg --set solver.diffusion=cg --out "$work/many" >"$work/many.log" 2>&1
        then passed=$((passed + 1))
        else echo 'FAILED: conjugate gradients on many nodes, rusticl'; cat "$work/many.log"; failed=$((failed + 1)); fi ;;
esac
if grep -Eq "$reports" "$work/table"; then
    echo 'FAILED: Oclgrind reports'
    failed=$((failed + 1))
else
    passed=$((passed + 1))
fi

# Intel's compiler does not take clFFT's kernels: transforms are done on the host then, with a warning.
case "$have" in
    *intel*)
        if timeout "$limit" "$BINNACLE" verify data/cases/bpm/gaussian.toml --device "Intel(R) OpenCL" --set solver.method=fft \
            --set grid.cells=129 --set march.records=4 --set march.length=1e-5 --set walls.kind=metal >"$work/fft" 2>&1
        then passed=$((passed + 1))
        else echo "FAILED: transforms on Intel's runtime"; cat "$work/fft"; failed=$((failed + 1)); fi ;;
esac

# The watch itself: a kernel that writes behind its buffer must be reported.
if [ -n "$grind" ]; then
    mkdir "$work/kernels"
    sed 's/^    rhs\[at\] = sum;$/&\n    if (i == 0 \&\& j == 0)\n        rhs[2 * PLANE] = 0;/' kernels/flow.cl >"$work/kernels/flow.cl"
    BINNACLE_KERNEL_PATH=$work/kernels timeout "$limit" "$BINNACLE" verify data/cases/flow/cavity-re100.toml --device oclgrind \
        --precision single --steps 1 --set "grid.nodes=[9,9]" >"$work/watch" 2>&1
    if grep -Eq "$reports" "$work/watch"; then passed=$((passed + 1))
    else echo 'FAILED: a write out of bounds went unnoticed'; cat "$work/watch"; failed=$((failed + 1)); fi
    # The other solvers under the same watch, which takes thousands of times as long as a device; more of them are in
    # tests/long/implementations.sh.
    for case in maxwell/selftest xray/selftest flood/selftest flood/selftest-order-2 bpm/selftest bpm/selftest-space; do
        few=''
        [ -n "${BN_TEST_LONG:-}" ] || case $case in
            maxwell/*) few='--steps 3' ;;
            flood/*) few='--steps 1 --set grid.cells=[12,7]' ;;
            xray/*) few='--set source.photons=1100 --set detector.cells=[12,10]' ;;
            # Fewer and longer steps, over the places where guides end and begin.
            bpm/selftest) few='--set march.length=1.2e-6 --set march.dz=3e-7 --set batch.count=7' ;;
            bpm/*) few='--set march.length=1.2e-6 --set march.dz=3e-7 --set grid.cells=23 --set grid.cells_x=19' ;;
        esac
        # shellcheck disable=SC2086 # several words
        if watched $case --precision single $few; then passed=$((passed + 1))
        else echo "FAILED: $case on Oclgrind"; cat "$work/watch"; failed=$((failed + 1)); fi
    done
else
    skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
test "$failed" = 0
