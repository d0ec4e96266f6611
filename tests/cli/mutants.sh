#!/bin/sh
# mutants.sh: the physics tests see mistakes that stand in kernel and reference alike (tests/mutants/mutants.py): ten of
# them, each killed within seconds by the first program of its solver; in long tests all, asked too whether device and
# reference agree. All still fit the text that they change.
set -u
least=10
set -- --built --jobs 1 --quick --only bpm/steps_odd bpm/tilt_space flood/head-without-velocity flow/per_2h_y \
    flow/bodies_transposed maxwell/bloch-sign maxwell/source-p numerics/rounding-generous xray/electrons-file xray/directions
[ "${BN_TEST_LONG:-}" != 1 ] || set -- --built
if [ "${BUILD:-build}" != build ] || ! command -v python3 >/dev/null; then
    echo 'Mutants are built as build/ is, with python3.'
    echo '0 passed, 0 failed, 1 skipped'
    exit 0
fi
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
python3 tests/mutants/mutants.py --check
fit=$((! $?))
python3 tests/mutants/mutants.py "$@" | tee "$log"
awk -v least=$least -v fit=$fit '{ count[$1]++ }
     / killed, .* survived, .* equivalent$/ { ended = 1 }
     END {
        good = count["killed"] + count["equivalent"]
        bad = count["survived"] + count["broken"] + !ended + (good < least) + !fit
        printf "%d passed, %d failed\n", good + fit, bad
        exit bad > 0
     }' "$log"
