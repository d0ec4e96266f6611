#!/bin/sh
# faults.sh: calls of the file system and of OpenCL that fail, bits that turn over (tests/faults/sweep.py), and runs that are
# killed at any moment or lose their power (tests/kills/kills.py): a sample; in long tests all that docs/reliability.md tells.
. tests/cli_lib.subr
if ! command -v python3 >/dev/null || [ -n "${SAN:-}" ]; then # sanitizers want to be loaded before all else
    echo '0 passed, 0 failed, 1 skipped'
    exit 0
fi
seed=${BN_FAULT_SEED:-1}
jobs=$(getconf _NPROCESSORS_ONLN)
export BN_FAULTS="$work"
for shim in faults/files faults/opencl kills/power; do
    ok "$shim" "${CC:-cc}" -std=gnu11 -O1 -shared -fPIC -o "$work/${shim#*/}.so" "tests/$shim.c" -ldl -pthread
done
# clFFT ends the process where work-groups are smaller than those it makes.
expect 0 'clFFT needs work-groups of 64' 'transforms with work-groups of one' env BN_PRETEND=lone \
    LD_PRELOAD="$work/opencl.so" "$BINNACLE" run data/cases/bpm/selftest-transforms.toml --out "$work/lone" --steps 1
# One of three devices fails, in its own queue or in that of what comes from others: the threads of the others end too.
for fault in clEnqueueNDRangeKernel:4 clEnqueueWriteBuffer:6; do
    expect 3 'failed on .* \(device 1\)' "one device of three fails, ${fault%:*} in queue ${fault#*:}" timeout 60 env BINNACLE_SELFTEST=off \
        BINNACLE_PARTITION=3 BN_FAULT="${fault%:*}:30:-5" BN_FAULT_QUEUE="${fault#*:}" LD_PRELOAD="$work/opencl.so" \
        "$BINNACLE" run data/cases/flood/selftest.toml --steps 20 --device all --checkpoint-every 1 --force --out "$work/three"
    ok 'it says where the last checkpoint is' grep -q 'the last checkpoint, of step' "$work/err"
done

# counted SCRIPT ARGUMENT...: its counts are added to those here
counted()
{
    python3 "$@" --seed "$seed" --jobs "$jobs" >"$work/log" 2>&1
    cat "$work/log"
    counts=$(tail -n 1 "$work/log" | grep -Ex '[0-9]+ passed, [0-9]+ failed') || counts='0 passed, 1 failed'
    passed=$((passed + ${counts%% *}))
    counts=${counts#*, }
    failed=$((failed + ${counts%% *}))
}
if [ -n "${BN_TEST_LONG:-}" ]; then
    for kind in 'signals 200 2' 'power 100 2' 'sweep 20 1' 'sweep-power 20 1' 'ranks 10 1' 'ranks-power 10 1'; do
        case $kind in ranks*) command -v mpirun >/dev/null || continue ;; esac
        # shellcheck disable=SC2086 # words
        set -- $kind
        counted tests/kills/kills.py "$2" --kind "$1" --boxes "$3"
    done
    set -- 1500 3000 500 0 300 2000
else
    # One solver, the quickest to compile, stands for all.
    counted tests/kills/kills.py 1 flood-order2
    counted tests/kills/kills.py 2 flood-order2 --kind power
    set -- 16 '6 --only order-2' '1 --only flood' 1
fi
for kind in files opencl pretend kernels ${BN_TEST_LONG:+delays flips}; do # tests/cli/guard.sh has a sample of flips
    # shellcheck disable=SC2086 # words
    counted tests/faults/sweep.py $kind $1
    shift
done
finish
