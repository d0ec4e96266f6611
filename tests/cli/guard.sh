#!/bin/sh
# guard.sh: `run --guard N` changes no bit, and sees bits that turn over (tests/faults/opencl.c): in every read, in what is
# uploaded from a checkpoint, and in guarded steps.
. tests/cli_lib.subr
if [ -n "${SAN:-}" ]; then # sanitizers want to be loaded before all else
    echo '0 passed, 0 failed, 1 skipped'
    exit 0
fi
b=$BINNACLE case=data/cases/flood/selftest.toml
ok 'the layer' "${CC:-cc}" -std=gnu11 -O1 -shared -fPIC -o "$work/opencl.so" tests/faults/opencl.c -ldl -pthread
hashes() { grep -o '"hash": "[0-9a-f]*"' "$1/summary.json"; }
guarded() # FLIP OPTION...
{
    flip=$1
    shift
    env BN_FLIP="$flip" BN_FAULT_COUNT="$work/count" LD_PRELOAD="$work/opencl.so" "$b" run "$case" --out "$work/guarded" -q --steps 4 \
        --set output.pictures=false "$@"
}
ok 'a run' "$b" run "$case" --out "$work/plain" -q --steps 4 --set output.pictures=false
ok 'the same with every second step computed twice' guarded '' --guard 2 --checkpoint-every 2
ok '... has the same bits' test "$(hashes "$work/plain")" = "$(hashes "$work/guarded")"
ok '... and tells' grep -q '"steps": 2,' "$work/guarded/summary.json"
for solver in flow maxwell xray flood bpm; do
    ok "the reference of $solver goes back a step, too" "$b" run "data/cases/$solver/selftest.toml" --reference --guard 1 --steps 2 \
        --out "$work/reference" -q --force
done
launches=$(sed -n 's/^clEnqueueNDRangeKernel //p' "$work/count")
reads=$(awk '/^clEnqueueReadBuffer/ { n += $2 } END { print n }' "$work/count")
for n in 2 $((reads / 2)) $((reads - 2)); do # the first one measures bandwidth
    expect 5 'read twice|twice gave' "a bit of read $n of $reads" guarded "read:$n:$((n * 123457))" --guard 2 --checkpoint-every 2 --force
done
seen=0
for seed in 1 2 3 4 5 6 7 8; do # most buffers are written before they are read: these flips do nothing
    guarded "device:$((launches - seed)):$((seed * 98765431))" --guard 1 --force >/dev/null 2>&1
    case $? in
        0) [ "$(hashes "$work/plain")" = "$(hashes "$work/guarded")" ] || echo "seed $seed: unnoticed" ;;
        5) seen=$((seen + 1)) ;;
        *) ok "seed $seed: a documented exit" false ;;
    esac
done
echo "$seen of 8 flips on the device were seen"
ok 'a run to go on from' guarded '' --force --checkpoint-every 2
expect 5 'read back from the device' 'what was uploaded is looked at' guarded read:2:4097 --resume --steps 6
ok '... and right otherwise' guarded '' --resume --steps 6
expect 1 'expected' 'no number' "$b" run "$case" --guard x
finish
