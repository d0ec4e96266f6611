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
    set -- 1500 3000 500 0 2000
    for kind in 'signals 200' 'power 100' 'sweep 20' 'ranks 10'; do
        [ "$kind" != 'ranks 10' ] || command -v mpirun >/dev/null || continue
        counted tests/kills/kills.py "${kind#* }" --kind "${kind% *}"
    done
else
    set -- 20 6 1 2
    counted tests/kills/kills.py 1 flood-street
    counted tests/kills/kills.py 2 flood-street --kind power
fi
for kind in files opencl pretend kernels ${BN_TEST_LONG:+flips}; do # tests/cli/guard.sh has a sample of flips
    counted tests/faults/sweep.py $kind "$1"
    shift
done
finish
