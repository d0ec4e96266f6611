#!/bin/sh
# faults.sh: calls of the file system and of OpenCL that fail (tests/faults/sweep.py), and runs that are killed at any moment
# (tests/kills/kills.py): a sample; in long tests 2,000, 3,000 and 700 of them, every pretence of a device, every kernel that does nothing.
. tests/cli_lib.subr
if ! command -v python3 >/dev/null || [ -n "${SAN:-}" ]; then # sanitizers want to be loaded before all else
    echo '0 passed, 0 failed, 1 skipped'
    exit 0
fi
seed=${BN_FAULT_SEED:-1}
export BN_FAULTS="$work"
for shim in files opencl; do
    ok "$shim.so" "${CC:-cc}" -std=gnu11 -O1 -shared -fPIC -o "$work/$shim.so" "tests/faults/$shim.c" -ldl -pthread
done

# counted SCRIPT ARGUMENT...: its counts are added to those here
counted()
{
    python3 "$@" >"$work/log" 2>&1
    cat "$work/log"
    counts=$(tail -n 1 "$work/log" | grep -Ex '[0-9]+ passed, [0-9]+ failed') || counts='0 passed, 1 failed'
    passed=$((passed + ${counts%% *}))
    counts=${counts#*, }
    failed=$((failed + ${counts%% *}))
}
if [ -n "${BN_TEST_LONG:-}" ]; then
    set -- 2000 3000 0 0 100
else
    set -- 20 6 1 2 1 flood-street
fi
counted tests/faults/sweep.py files "$1" "$seed"
counted tests/faults/sweep.py opencl "$2" "$seed"
counted tests/faults/sweep.py pretend "$3" "$seed"
counted tests/faults/sweep.py kernels "$4"
kills=$5
shift 5
counted tests/kills/kills.py "$kills" "$seed" "$@"
finish
