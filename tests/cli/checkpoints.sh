#!/bin/sh
# checkpoints.sh: runs that are killed, stopped and gone on with end with the files of an undisturbed run, bit for bit; and no
# checkpoint is taken up that is damaged, cut short, half written or of another case.
# BN_TEST_LONG: twenty-one kills instead of four, every case, every byte region. CK_ONLY: only this case.
. tests/cli_lib.subr
. tests/cli_devices.subr
b=$BINNACLE
cases=$root/tests/cli/checkpoints
long=${BN_TEST_LONG:-}
seed=${CK_SEED:-$$}
echo "CK_SEED=$seed" # repeats the moments

# random LOW HIGH: a number with three decimals
random()
{
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    awk -v s="$seed" -v low="$1" -v high="$2" 'BEGIN { printf "%.3f\n", low + (high - low) * (s / 2147483648) }'
}

same()
{
    ok "$1" python3 "$cases/compare.py" "$2" "$3"
}

# settings CASE: the options of all its runs. Where a run goes on, pictures do as files with numbers do: two solvers have them, both with
# an animation. Half of the photons are as many steps as are needed to be stopped between two.
settings()
{
    case $long$1 in
        flow | maxwell | flood-*) echo '--set output.pictures=false' ;;
        xray) echo '--set source.photons=750000 --set output.every=25' ;;
    esac
}

# whole CASE: an undisturbed run, in $work/whole-CASE; the time of its steps in $seconds
whole()
{
    # shellcheck disable=SC2046 # several words
    ok "$1: a run" "$b" run "$cases/$1.toml" --out "$work/whole-$1" -q $(settings "$1")
    seconds=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["timings"]["steps"])' "$work/whole-$1/summary.json")
}

# saved FOLDER: the step of the newest checkpoint; 0: none
saved()
{
    if [ -e "$1/checkpoint/manifest.json" ]; then sed -n 's/^ "step": \([0-9]*\),$/\1/p' "$1/checkpoint/manifest.json"; else echo 0; fi
}

# begun FOLDER FILE: waits until the run writes there and the file exists
begun()
{
    tries=0
    until { [ -e "$1/.binnacle-lock" ] && [ -e "$1/$2" ]; } || [ $tries -ge 6000 ]; do
        tries=$((tries + 1))
        sleep 0.01
    done
}

# killed CASE KILLS [OPTION...]: killed at random moments while it writes checkpoints all the time, then let run to its end
killed()
{
    case=$1 kills=$2 out=$work/killed-$1 steps=
    shift 2
    # shellcheck disable=SC2046 # several words
    set -- "$@" $(settings "$case")
    while [ "$kills" -gt 0 ]; do
        kills=$((kills - 1))
        rm -f "$out/.binnacle-lock" # comes back when the steps begin
        "$b" run "$cases/$case.toml" --out "$out" -q --resume --checkpoint-every 0.03s "$@" >"$work/log" 2>&1 &
        pid=$!
        begun "$out" checkpoint/manifest.json
        # Less than half of the time of the undisturbed run, which compiled: later it may have ended.
        sleep "$(random 0.01 "$(awk -v s="$seconds" 'BEGIN { print 0.05 + 0.4 * s }')")"
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        code=$?
        steps="$steps $(saved "$out")"
        [ $code != 0 ] || break # it was faster
        ok "$case: only the kill has ended it (exit $code)" test $code = 137
    done
    ok "$case: the end" "$b" run "$cases/$case.toml" --out "$out" -q --resume "$@"
    same "$case: gone on with from step$steps, the same files" "$work/whole-$case" "$out"
    echo "$case: killed after steps$steps"
}

# ---- every solver, killed
set -- flow maxwell flood-street xray bpm-mode
[ -z "$long" ] || set -- "$@" flood-order2 bpm-taper
for case; do
    case $case in *"${CK_ONLY:-}"*) ;; *) continue ;; esac
    whole "$case"
    if [ -n "$long" ]; then killed "$case" 3
    elif [ "$case" != flow ]; then killed "$case" 1 # four in all; flow is stopped below
    fi
done
[ -z "${CK_ONLY:-}" ] || { finish; exit; }

# ---- ranks that write parts of their own, killed all together; one process goes on, then two ranks
hashes() { grep -o '"hash": "[0-9a-f]*"' "$1/summary.json"; }
if [ -n "$long" ] && [ $mpi = yes ]; then
    case=flood-street out=$work/killed-ranks
    for ranks in 3 2 3; do
        rm -f "$out/.binnacle-lock"
        mpirun -n $ranks "$b" run "$cases/$case.toml" --out "$out" -q --resume --checkpoint-every 0.03s >"$work/log" 2>&1 &
        pid=$!
        begun "$out" checkpoint/manifest.json
        sleep "$(random 0.2 1.5)"
        # shellcheck disable=SC2046 # one word for each process
        kill -KILL $(processes_with "run $cases/$case.toml --out $out")
        wait $pid 2>/dev/null
        echo "$case: $ranks ranks killed at step $(saved "$out")"
    done
    ok "$case: one process ends what ranks began" "$b" run "$cases/$case.toml" --out "$out" -q --resume
    ok "$case: with the same bits" test "$(hashes "$work/whole-$case")" = "$(hashes "$out")"
    ok "$case: and the same series" cmp "$work/whole-$case/series.csv" "$out/series.csv"
fi

# ---- stopped by signals, gone on with in another number of boxes
stopped() # CASE SIGNAL CODE WORD FILE [OPTION...]: as soon as FILE is there
{
    case=$1 signal=$2 code=$3 word=$4 file=$5 out=$work/stopped-$1
    shift 5
    rm -rf "$out"
    options=$(settings "$case")
    # shellcheck disable=SC2086 # several words
    "$b" run "$cases/$case.toml" --out "$out" -q $options >"$work/log" 2>&1 &
    pid=$!
    begun "$out" "$file"
    kill -"$signal" $pid
    wait $pid
    got=$?
    ok "$case: $signal exits $code (here $got)" test $got = "$code"
    ok "... and says so" grep -q "$word after step" "$work/log"
    ok "... in the summary too" grep -q "\"exit_code\": $code" "$out/summary.json"
    ok "... and leaves a checkpoint" test -s "$out/checkpoint/manifest.json"
    # shellcheck disable=SC2086 # several words
    ok "... from which it goes on $*" "$b" run "$cases/$case.toml" --out "$out" -q --resume $options "$@"
    same "... to the same files" "$work/whole-$case" "$out"
}
# The boxes of flow take the longest to compile; that every solver goes on in others, tests/conformance/resume.c tells.
# shellcheck disable=SC2086 # two words
stopped flow TERM 143 terminated series.csv ${long:+--boxes 3}
stopped xray INT 130 interrupted series.csv --boxes 3
stopped bpm-mode TERM 143 terminated case.toml # before the first step, likely

# ---- a run from which something can be gone on with is not overwritten by accident
# No run that follows is looked at for its pictures.
bare='--set output.pictures=false'
# shellcheck disable=SC2086 # two words, here and below
"$b" run "$cases/flow.toml" --out "$work/half" -q --steps 40 --checkpoint-every 10 $bare >"$work/log" 2>&1
rm -f "$work/half/summary.json" # as after a kill
expect 6 'holds a checkpoint.*--resume' 'a new run does not remove a checkpoint' "$b" run "$cases/flow.toml" --out "$work/half" -q
expect 1 'leave one out' '--resume with --force' "$b" run "$cases/flow.toml" --out "$work/half" --resume --force
expect 1 'expected steps or a time' '--checkpoint-every 5x' "$b" run "$cases/flow.toml" --checkpoint-every 5x
expect 6 'cannot read' '--resume=FILE that is not there' "$b" run "$cases/flow.toml" --out "$work/new" --resume="$work/none"
expect 0 'from the beginning' '--resume without a checkpoint starts anew, and says so' \
    "$b" run "$cases/flow.toml" --out "$work/new" -q --resume --steps 2 --reference $bare
ok 'two checkpoints are kept' test -s "$work/half/checkpoint/manifest-before.json"
ok 'and no parts but theirs' test "$(ls "$work/half/checkpoint" | wc -l)" = 4

# ---- of another case: refused, with the key
# Cases are compared before anything is computed, alike on device and reference, which compiles nothing.
go_on() { "$b" run "$cases/flow.toml" --reference --out "$work/other" -q --steps 45 --resume="$work/half/checkpoint" $bare "$@"; }
expect 2 'another case.*viscosity = 0.01.*viscosity = 0.02' 'another viscosity' go_on --set fluid.viscosity=0.02
expect 2 'precision = "single".*precision = "double"' 'another precision' go_on --set case.precision=double
expect 2 'another case' 'another grid' go_on --set 'grid.nodes=[50,33]'
ok 'refused before anything was written' test ! -e "$work/other"
mkdir "$work/kernels" && cp -r "$root/kernels/." "$work/kernels" && echo '/* changed */' >>"$work/kernels/flow.cl"
expect 0 'kernels have changed' 'other kernels: a warning' env BINNACLE_KERNEL_PATH="$work/kernels" \
    "$b" run "$cases/flow.toml" --out "$work/other" -q --steps 41 --resume="$work/half/checkpoint" $bare
"$b" run "$cases/flood-street.toml" --out "$work/flood" -q --reference --steps 3 --checkpoint-every 1 --set time.interval=0 $bare >"$work/log" 2>&1
expect 2 'time.interval is 0.059.*, but 0.029' 'what follows from [stop]' "$b" run "$cases/flood-street.toml" --reference \
    --out "$work/flood2" -q --resume="$work/flood" --set time.interval=0 --set stop.time=6

mkdir "$work/house" && cp "$root"/data/cases/flood/house*.png "$root/data/cases/flood/house.toml" "$work/house"
"$b" run "$work/house/house.toml" --reference --out "$work/house/out" -q --steps 1 --checkpoint-every 1 $bare >"$work/log" 2>&1
cp "$work/house/house-1.png" "$work/house/house-2.png"
expect 2 'house-2.png has changed since' 'a picture that the case names' "$b" run "$work/house/house.toml" --out "$work/house/out" \
    --reference -q --steps 2 --resume $bare

# ---- damage: every region of every file
if [ -n "$long" ]; then step=1; else step=13; fi
ok 'damage is detected wherever it is' python3 "$cases/damage.py" "$b" "$cases/flow.toml" "$work/half/checkpoint" "$work/damage" $step
cp -r "$work/half/checkpoint" "$work/damaged"
python3 - "$work/damaged" <<'PY'
import json, os, sys
name = os.path.join(sys.argv[1], json.load(open(os.path.join(sys.argv[1], "manifest.json")))["parts"][0]["file"])
data = bytearray(open(name, "rb").read())
data[len(data) // 2] ^= 16
open(name, "wb").write(data)
PY
expect 6 'is damaged' 'a damaged part: refused' "$b" run "$cases/flow.toml" --out "$work/n1" -q --steps 45 --resume="$work/damaged/manifest.json"
expect 0 'trying the checkpoint before it' 'with the folder: the one before is taken' \
    "$b" run "$cases/flow.toml" --reference --out "$work/n1" -q --steps 31 --resume="$work/damaged" $bare
ok '... which is of step 30' grep -q '"resumed_from": 30' "$work/n1/summary.json"
rm "$work/damaged/manifest-before.json"
expect 6 'is damaged' 'nor is there one before it' "$b" run "$cases/flow.toml" --out "$work/n2" -q --resume="$work/damaged"

# ---- the disk is full, or fails, or the process dies in any call that writes
if command -v strace >/dev/null 2>&1 && strace -o /dev/null true 2>/dev/null; then
    mkdir "$work/fault"
    # traced OPTION...: some steps on top of a folder with a checkpoint of step 40, under strace, which counts the calls of each
    # thread: the reference has one only. (Leaks can't be looked for in a traced process.)
    traced()
    {
        rm -rf "$work/fault/out"
        cp -r "$work/half" "$work/fault/out"
        strace -f -y -o "$work/fault/trace" -e trace=rename,fsync "$@" \
            env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" "$b" run "$cases/flow.toml" --reference --out "$work/fault/out" -q --resume --steps 60 --checkpoint-every 5 \
            --set output.every=0 --set output.pictures=false >"$work/log" 2>&1
    }
    # first CALL: how many of them there are before the checkpoint's first
    first() { grep "$1(" "$work/fault/all" | grep -n 'checkpoint' | head -n 1 | cut -d: -f1; }
    # fault WHAT CALL INJECTION
    fault()
    {
        traced -e inject="$2:$3"
        fault_code=$?
        ok "$1: a whole checkpoint is there (exit was $fault_code)" "$b" run "$cases/flow.toml" --reference --out "$work/fault/out" -q --resume \
            --steps 61 --set output.pictures=false
        step=$(sed -n 's/.*"resumed_from": \([0-9]*\),.*/\1/p' "$work/fault/out/summary.json")
        ok "... and of step 40 or later (step $step)" test "${step:-0}" -ge 40
    }
    traced
    cp "$work/fault/trace" "$work/fault/all"
    renames=$(first rename) fsyncs=$(first fsync)
    ok "the checkpoints' calls are found: rename $renames, fsync $fsyncs" test "${renames:-0}" -gt 0 -a "${fsyncs:-0}" -gt 0
    n=0 last=6
    [ -z "$long" ] || last=16
    while [ $n -le $last ]; do
        fault "death at rename $n of checkpoints" rename "signal=KILL:when=$((renames + n))"
        ok '... it was a death' test $fault_code = 137
        [ -z "$long" ] || fault "death at fsync $n of checkpoints" fsync "signal=KILL:when=$((fsyncs + n))"
        [ -n "$long" ] || n=$((n + 1))
        n=$((n + 1))
    done
    fault 'a disk that is full while a part is written' fsync "error=ENOSPC:when=$((fsyncs))+"
    ok '... it is told, with exit 6' test $fault_code = 6
    ok '... and where' grep -q 'while writing the checkpoint of step.*the one before is not touched' "$work/log"
    ok '... and from where it may go on' grep -q 'the last checkpoint, of step 40, is in' "$work/log"
    fault 'a disk that is full while a manifest is written' fsync "error=ENOSPC:when=$((fsyncs + 2))+"
    ok '... it is told, with exit 6' test $fault_code = 6
    fault 'a rename that fails' rename "error=EIO:when=$((renames + 1))+"
    ok '... it is told, with exit 6' test $fault_code = 6
fi
finish
