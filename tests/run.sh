#!/bin/sh
# run.sh: runs test programs and scripts, each with a time-out and an environment of its own, and adds up their counts.
#   BUILD=build BINNACLE=/path/to/binnacle sh tests/run.sh PROGRAM...
# A program's last line is "N passed, N failed" or "N passed, N failed, N skipped"; one that dies, hangs or ends
# otherwise counts as one failure. Two programs run at a time where there are two cores. Each such lane has its own home
# and its own PoCL cache: several processes that fill one cold PoCL cache can crash each other. Between two programs a lane
# takes over what the others have compiled.
#
# Environment:
#   ONLY                     text: run only programs with that in their name
#   BN_TEST_LONG             1: long tests
#   BN_TEST_TIMEOUT          seconds for one test
#   BN_TEST_PROGRAM_TIMEOUT  seconds for one program
#   BN_TEST_LANES            programs at a time
#   BINNACLE_TEST_VENDORS    folder of OpenCL vendor files; without it only PoCL is offered, the same on every machine
set -u
: "${BUILD:=build}" "${BINNACLE:=$PWD/$BUILD/binnacle}" "${ONLY:=}" "${SAN:=}" "${BN_TEST_LONG:=}"
build=$(cd "$BUILD" && pwd) || exit 1
work=$build/test-run
logs=$build/test-logs

slow=1
[ -z "$SAN" ] || slow=4
[ -z "$BN_TEST_LONG" ] || slow=10
: "${BN_TEST_TIMEOUT:=$((240 * slow))}" "${BN_TEST_PROGRAM_TIMEOUT:=$((600 * slow))}"
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
: "${BN_TEST_LANES:=$((cores >= 2 ? 2 : 1))}"
export BINNACLE BN_TEST_TIMEOUT BN_TEST_LONG
. tests/pocl_share.subr
. tests/pocl_quick.subr

rm -rf "$work" "$logs"
mkdir -p "$work/claims" "$work/counts" "$logs" || exit 1

# The same environment on every machine, and nothing of the user's: neither settings nor caches.
unset BINNACLE_DEVICE BINNACLE_KERNEL_PATH BINNACLE_CACHE NO_COLOR
unset OCL_ICD_FILENAMES POCL_DEVICES MAKEFLAGS MFLAGS MAKELEVEL
[ -n "${BINNACLE_TEST_VENDORS:-}" ] || unset RUSTICL_ENABLE CL_CONFIG_CPU_VECTORIZER_MODE
LC_ALL=C
export LC_ALL
vendors=
if [ -n "${BINNACLE_TEST_VENDORS:-}" ]; then
    OCL_ICD_VENDORS=$BINNACLE_TEST_VENDORS
    export OCL_ICD_VENDORS
else
    vendors=$work/vendors
    mkdir -p "$vendors"
    if cp "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*pocl*.icd "$vendors" 2>/dev/null; then
        OCL_ICD_VENDORS=$vendors
        export OCL_ICD_VENDORS
    else
        echo 'PoCL is not installed: the tests run on whatever OpenCL device is here.'
    fi
fi
# What makes PoCL compile without its optimiser; PoCL 6 aborts at flood's kernels then (isAutomaticLocal).
BN_TEST_PLAIN=
case $("$BINNACLE" devices 2>/dev/null | awk '$1 == "*" { print $NF }') in 3.*) BN_TEST_PLAIN=-cl-opt-disable ;; esac
export BN_TEST_PLAIN
# For tests that open our files with VTK: the Python that has it.
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ("vtkmodules", "numpy"))))' 2>/dev/null; then
        BINNACLE_TEST_PYTHON=$python
        export BINNACLE_TEST_PYTHON
        break
    fi
done
# Long tests compile from what is installed.
if quick_linker "$work/linker"; then COMPILER_PATH=$work/linker && export COMPILER_PATH; fi
[ -z "$BN_TEST_PLAIN" ] || [ -n "$BN_TEST_LONG" ] || [ ! -f "$vendors/pocl.icd" ] || quick_pocl "$build/pocl" "$vendors/pocl.icd" ||
    echo 'PoCL reads all that it has: it is not where it usually is.'
if [ -n "$SAN" ]; then
    # Drivers keep memory until the process ends; what they leak is theirs.
    export LSAN_OPTIONS="suppressions=$PWD/tests/leaks.supp:print_suppressions=0"
    # clFFT deletes its plans as something else than it made (libclFFT 2.12, FFTRepo::deletePlan).
    export ASAN_OPTIONS="detect_leaks=1:abort_on_error=0:protect_shadow_gap=0:new_delete_type_mismatch=0"
    export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
fi

# The short name of a program: build/tests/unit/test_csv -> unit/test_csv
name_of()
{
    printf '%s\n' "$1" | sed 's|^.*tests/||; s|\.sh$||'
}

# What the other lanes have compiled since the last time, for lane $1, in which nothing runs now.
take_over()
{
    mark=$work/lane-$1.mark
    touch "$mark.next"
    for other in "$build"/test-cache/lane-*; do
        share_kernels "$mark" "$other" "$build/test-cache/lane-$1"
    done
    mv "$mark.next" "$mark"
}

# Runs one program in lane $1 and leaves its counts in $work/counts. It runs in the background, so that a signal can end
# it.
run_one()
{
    lane=$1 program=$2
    name=$(name_of "$program")
    log=$logs/$(printf '%s' "$name" | tr / -).log
    home=$work/lane-$lane
    rm -rf "$home"
    mkdir -p "$home/tmp" "$home/.cache" "$home/.local/share" "$home/.config" "$build/test-cache/lane-$lane"
    chmod go-w "$build/test-cache/lane-$lane" # whatever the umask: caches that others can write to are refused
    take_over "$lane"
    case $program in *.sh) shell='sh' ;; *) shell='' ;; esac
    # PoCL's optimiser takes half of the time of unit tests and of programs that only look at files, stops and parts. The
    # rest, and all in long tests, is tested with it, but for comparisons of bits (without_optimiser in support.h).
    case $BN_TEST_LONG$name in
    1*) flags='' ;;
    cli/all_devices | cli/check_counts | cli/checkpoints | cli/driver_aborts | cli/faults | cli/guard | cli/local_memory | cli/many_devices | \
        cli/papers | cli/photons_cross | cli/pocl_cache | cli/program | cli/progress | cli/python | cli/stop | \
        cli/tune) flags=$BN_TEST_PLAIN ;;
    solvers/flow/test_multigrid_boxes) flags=$BN_TEST_PLAIN ;;
    cli/* | solvers/* | conformance/*) flags='' ;;
    *) flags=$BN_TEST_PLAIN ;;
    esac
    # Four scripts are about the first use of a device; the others would repeat its self-test in every new home.
    case $name in
    cli/all_devices | cli/driver_aborts | cli/pocl_cache | cli/program) selftest='' ;;
    *) selftest=off ;;
    esac
    begin=$(date +%s)
    times >"$work/lane-$lane.times"
    HOME=$home TMPDIR=$home/tmp XDG_CACHE_HOME=$home/.cache XDG_DATA_HOME=$home/.local/share \
        XDG_CONFIG_HOME=$home/.config BINNACLE_SELFTEST=$selftest POCL_EXTRA_BUILD_FLAGS=$flags POCL_CACHE_DIR=$build/test-cache/lane-$lane \
        timeout -k 10 "$BN_TEST_PROGRAM_TIMEOUT" $shell "$program" >"$log" 2>&1 </dev/null &
    echo $! >"$work/lane-$lane.pid"
    wait $!
    code=$?
    seconds=$(($(date +%s) - begin))
    times >>"$work/lane-$lane.times" # of what the lane has waited for: every second line
    cpu=$(awk -F '[ms ]+' 'NR % 2 == 0 { was = now; now = 60 * ($1 + $3) + $2 + $4 } END { printf "%.0f", now - was }' "$work/lane-$lane.times")

    counts=$(tail -n 1 "$log" | grep -Ex '[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?' | tr -cd '0-9 \n')
    # shellcheck disable=SC2086 # two or three words
    set -- $counts
    passed=${1:-0} failed=${2:-0} skipped=${3:-0}
    remark=
    if [ $code = 124 ] || [ $code = 137 ]; then
        remark="timed out or killed (exit $code)"
    elif [ -z "$counts" ]; then
        remark="ended without a count (exit $code)"
    elif [ $code != 0 ] && [ "$failed" = 0 ]; then
        remark="exit $code after passing"
    fi
    [ -z "$remark" ] || failed=$((failed + 1))
    echo "$passed $failed $skipped $log" >"$work/counts/$(basename "$log" .log)"

    verdict=ok
    [ "$failed" = 0 ] || verdict=FAILED
    [ "$skipped" = 0 ] || remark="$skipped skipped${remark:+, $remark}"
    printf '%-6s %-40s %4d passed %3d failed %4d s, cpu %4d s  %s\n' $verdict "$name" "$passed" "$failed" $seconds "$cpu" "$remark"
}

# A lane takes the next program that no other lane has taken (mkdir is atomic) until none is left.
run_lane()
{
    lane=$1
    shift
    place=0
    for program; do
        place=$((place + 1))
        case $(name_of "$program") in *"$ONLY"*) ;; *) continue ;; esac
        mkdir "$work/claims/$place" 2>/dev/null || continue
        run_one "$lane" "$program"
    done
}

stop()
{
    trap '' INT TERM
    for lane in $lanes; do
        kill "$lane" 2>/dev/null
    done
    for pid in "$work"/lane-*.pid; do
        kill "$(cat "$pid")" 2>/dev/null
    done
    exit 130
}

lanes=
trap stop INT TERM
lane=1
while [ $lane -le "$BN_TEST_LANES" ]; do
    run_lane $lane "$@" &
    lanes="$lanes $!"
    lane=$((lane + 1))
done
for lane in $lanes; do
    wait "$lane"
done

total_passed=0 total_failed=0 total_skipped=0
for counts in "$work"/counts/*; do
    [ -f "$counts" ] || continue
    read -r passed failed skipped log <"$counts"
    total_passed=$((total_passed + passed))
    total_failed=$((total_failed + failed))
    total_skipped=$((total_skipped + skipped))
    if [ "$failed" != 0 ]; then
        printf '\n---------------- %s\n' "$log"
        tail -n 200 "$log"
    fi
done
if [ $((total_passed + total_failed + total_skipped)) = 0 ]; then
    echo "No test ran${ONLY:+ whose name has '$ONLY' in it}."
    total_failed=1
fi
line="$total_passed passed, $total_failed failed"
[ "$total_skipped" = 0 ] || line="$line, $total_skipped skipped"
echo "$line" | tee "$logs/result.txt"
[ "$total_failed" = 0 ]
