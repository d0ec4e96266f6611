#!/bin/sh
# implementations.sh: the conformance suite, which `make test` runs on PoCL, on the other implementations for CPUs: rusticl (no fp64,
# no 64-bit atomics) and Intel's; and there every self-test case with work-groups of 64 in subgroups of 8 and of 64, as wide as those
# of its GPUs and of AMD's.
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
echo "$passed passed, $failed failed, $skipped skipped"
test "$failed" = 0
