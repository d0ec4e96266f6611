#!/bin/sh
# tune.sh: the fastest work-groups: measured, checked against the reference, kept, used by the next run. Kernels that
# are wrong or crash in one shape are planted through BINNACLE_KERNEL_PATH.
. tests/cli_lib.subr
b=$BINNACLE
export XDG_DATA_HOME="$work/data"
base=$work/data/binnacle/tuning.json
case=$root/data/cases/bpm/selftest.toml

# --- what is asked for wrongly
expect 1 'something is missing' 'no case' "$b" tune
expect 1 'takes no --kernel' 'an option of tune alone' "$b" run "$case" --kernel x
expect 1 'runs no kernel nonsense' 'a kernel that is not there' "$b" tune bpm --kernel nonsense --out "$work/none"
expect 6 'no-such' 'a case that is not there' "$b" tune "$work/no-such.toml"
expect 0 'keeps' 'help' "$b" tune --help
expect 0 'tune\) words=.*--kernel' 'completion' "$b" completion bash
ok 'nothing was kept' test ! -e "$base"

# --- a sweep over a database that can't be read, and the run after it
mkdir -p "$work/data/binnacle"
echo 'no JSON' >"$base"
expect 0 'kept as' 'tune' "$b" tune bpm --shapes-only --out "$work/bpm"
ok 'the old database is put aside' grep -q 'no JSON' "$base.bad"
ok 'a row of the kernel, in the default shape too' grep -Eq '^bpm_crank_nicolson .*\*' "$work/out"
for file in tune.csv tune.json tune.png; do
    ok "$file" test -s "$work/bpm/$file"
done
ok 'no file is left of the children' test ! -e "$work/bpm/.plan.json"
ok 'tune.json fits its schema' python3 tests/cli/fits.py "$work/bpm/tune.json" data/schemas/tune.json
ok 'tune.json and tune.csv agree, the chosen shape is in the database' python3 -c '
import csv, json, sys
found = json.load(open(sys.argv[1] + "/tune.json"))
rows = list(csv.DictReader(open(sys.argv[1] + "/tune.csv")))
kept = {e["kernel"]: e for e in json.load(open(sys.argv[2]))["entries"]}
for kernel in found["kernels"]:
    if kernel["skipped"]:
        continue
    shapes = {tuple(s["work_group"]): s for s in kernel["shapes"]}
    assert len(shapes) > 3 and all(s["verdict"] in ("ok", "not tried") for s in shapes.values()), shapes
    best = shapes[tuple(kernel["best"])]
    assert best["verdict"] == "ok" and best["seconds"] > 0 and best["measurements"] > 1, best
    chosen = [r for r in rows if r["kernel"] == kernel["kernel"] and r["chosen"] == "1"]
    assert [[int(r[c]) for c in "xyz"] for r in chosen] == [kernel["chosen"]], chosen
    entry = kept[kernel["kernel"]]
    assert entry["work_group"] == kernel["chosen"] and entry["solver"] == "bpm", entry
    assert entry["driver"] == found["driver"] and entry["device"] == found["device"], entry
' "$work/bpm" "$base"

# summary KEY VALUE WHAT: a member of $work/run/summary.json, as JSON
summary()
{
    ok "$3" python3 -c '
import json, sys
value = json.load(open(sys.argv[1])).get(sys.argv[2])
assert value == json.loads(sys.argv[3]), value' "$work/run/summary.json" "$1" "$2"
}
# entry PYTHON: changes every entry e of the database
entry()
{
    python3 -c '
import json, sys
base = json.load(open(sys.argv[1]))
for e in base["entries"]:
    exec(sys.argv[2])
json.dump(base, open(sys.argv[1], "w"))' "$base" "$1"
}
cp "$base" "$work/kept.json"
env XDG_DATA_HOME="$work/empty" "$b" run "$case" --out "$work/default" >"$work/out" 2>&1
entry 'e["work_group"] = [4, 1, 1]'
expect 0 'work-groups: database' 'the next run' "$b" run "$case" --out "$work/run" --force
summary tuning '"database"' 'its summary tells where the shapes are from'
summary tuned_work_groups '{"bpm_crank_nicolson": [4, 1, 1]}' '... and names them'
ok 'the same bits as in the default shape' python3 -c '
import json, sys
a, b = (json.load(open(path + "/summary.json")) for path in sys.argv[1:])
assert a["tuning"] == "default" and a["fields"] and a["fields"] == b["fields"]' "$work/default" "$work/run"
expect 0 '' 'with --work-group' "$b" run "$case" --work-group 8 --out "$work/run" --force
summary tuning '"command line"' '... that one counts'
expect 0 '' 'in another precision' "$b" run "$case" --set case.precision=double --out "$work/run" --force
summary tuning '"default"' '... the entry does not hold'

# ignored TEXT WHAT: the run does not fail, warns with TEXT, and takes the default shapes
ignored()
{
    expect 0 "$1" "$2" "$b" run "$case" --out "$work/run" --force
    summary tuning '"default"' "$2: default"
    cp "$work/kept.json" "$base"
}
cp "$work/kept.json" "$base"
entry 'e["driver"] = "another"'
ignored '' 'entries of another driver'
entry 'e["work_group"] = [0, 1, 1]'
ignored 'entry 1 of .* is ignored: its work_group' 'a shape without work-items'
entry 'e["work_group"] = [65536, 1, 1]'
ignored 'entry 1 of .* is ignored: 65536 x 1 x 1' 'a shape that the device has never had'
entry 'del e["driver"]'
ignored 'entry 1 of .* is ignored: its driver' 'an entry without a driver'
head -c 100 "$work/kept.json" >"$base"
ignored 'database .* is ignored: line' 'half a database'
echo '[]' >"$base"
ignored 'is ignored: it is no tuning database' 'another JSON file'
chmod o+w "$base"
ignored 'others can write' 'a database that others can write'

# --- choices of the case: what the database prefers holds where the case leaves the key open
rm -f "$base"
light=$root/data/cases/maxwell/selftest.toml
env XDG_DATA_HOME="$work/empty" "$b" run "$light" --out "$work/default" --force >"$work/out" 2>&1
expect 0 'kernel' 'maxwell' "$b" tune maxwell --quick --quiet --out "$work/maxwell"
ok 'tune.json with variants fits its schema' python3 tests/cli/fits.py "$work/maxwell/tune.json" data/schemas/tune.json
ok 'its variants were measured, they give the same bits' python3 -c '
import json, sys
rows = {(v["key"], v["value"]): v for v in json.load(open(sys.argv[1]))["variants"]}
for value in ("two-pass", "rows", "fused"):
    v = rows["solver.sweep", value]
    assert v["verdict"] == "ok" and v["same_bits"] and v["step_seconds"] > 0, v' "$work/maxwell/tune.json"
# prefer KEY VALUE: the only choice in the database
prefer()
{
    python3 -c '
import json, sys
base = json.load(open(sys.argv[1]))
e = base["entries"][0]
base["choices"] = [dict({k: e[k] for k in ("solver", "precision", "device", "driver", "size_class")}, key=sys.argv[2],
                        value=sys.argv[3])]
json.dump(base, open(sys.argv[1], "w"))' "$base" "$1" "$2"
}
# ... it ends without convergence after its five steps
prefer solver.sweep two-pass
expect 4 'work-groups: database' 'a run with a choice in the database' "$b" run "$light" --out "$work/run" --force
summary tuned_choices '{"solver.sweep": "two-pass"}' 'its summary names it'
ok '... other kernels, the same bits' python3 -c '
import json, sys
a, b = (json.load(open(path + "/summary.json")) for path in sys.argv[1:])
assert "maxwell_H" in {k["kernel"] for k in b["profile"]} - {k["kernel"] for k in a["profile"]}
assert a["fields"] and a["fields"] == b["fields"]' "$work/default" "$work/run"
expect 4 '' 'a case that has chosen' "$b" run "$light" --set solver.sweep=rows --out "$work/run" --force
summary tuned_choices null '... is not overruled'
prefer solver.start layers
expect 4 '' 'a choice that would change the bits' "$b" run "$light" --out "$work/run" --force
summary tuned_choices null '... is not taken'
prefer solver.sweep backwards
expect 4 '' 'a value that there is none of' "$b" run "$light" --out "$work/run" --force
summary tuned_choices null '... is not taken either'
prefer solver.sweep ''
expect 4 'choice 1 of .* is ignored: its value' 'an empty choice' "$b" run "$light" --out "$work/run" --force

# --- planted kernels. Groups of 8 are wrong, those of 16 end the process.
mkdir "$work/kernels" && cp -R "$root/kernels/." "$work/kernels"
plant() # plant FILE LINE: behind a line that begins so
{
    sed '/^kernel void bpm_crank_nicolson/,/^}/ s/^    '"$2"'.*/&\
    if (get_local_size(0) == 8 \&\& get_local_id(0) == 0) psi[AT(0, (int)get_global_id(1) - Y0)].x += REAL(0.01);\
    if (get_local_size(0) == 16) *(volatile global int *)8 = 1;/' "$root/kernels/$1" >"$work/kernels/$1"
    ! cmp -s "$root/kernels/$1" "$work/kernels/$1"
}
ok 'the planted kernel differs' plant bpm.cl TAKE_STEPS
ok 'that of CPUs, too' plant bpm_lanes.cl '(void)work;'
expect 0 '8x1x1 wrong: ' 'a sweep over planted kernels' \
    env BINNACLE_KERNEL_PATH="$work/kernels" "$b" tune bpm --shapes-only --out "$work/planted"
ok 'a crash is reported' grep -Eq '16x1x1 (crashed|failed): ' "$work/out"
ok 'neither wins, all others were tried' python3 -c '
import json, sys
kernel, = json.load(open(sys.argv[1]))["kernels"]
shapes = {s["work_group"][0]: s for s in kernel["shapes"]}
assert shapes[8]["verdict"] == "wrong" and shapes[16]["verdict"] in ("crashed", "failed"), shapes
assert all(s["verdict"] == "ok" for n, s in shapes.items() if n not in (8, 16)), shapes
assert kernel["best"][0] not in (8, 16) and kernel["chosen"][0] not in (8, 16)' "$work/planted/tune.json"

# A variant that leaves work out, and one that wants more local memory than there is.
sed '/^kernel void maxwell_H(/,/^}/ s/step_cell_H(/if (k < 0) &/
    /maxwell_fused(/,/^}/ s/local real2 level_x\[LEVELS\]/local real2 level_x[LEVELS * 65536]/' "$root/kernels/maxwell.cl" \
    >"$work/kernels/maxwell.cl"
expect 0 'solver.sweep=two-pass: wrong: field' 'a sweep over planted variants' \
    env BINNACLE_KERNEL_PATH="$work/kernels" "$b" tune maxwell --quick --quiet --out "$work/planted"
ok 'the one is told to need too much local memory' \
    grep -Eq 'solver.sweep=fused: (skipped: maxwell_fused needs [0-9]+ bytes of local memory|crashed)' "$work/out"
ok '... and neither is kept' python3 -c '
import json, sys
for v in json.load(open(sys.argv[1]))["variants"]:
    assert not v["chosen"] or v["value"] == "rows", v
assert all(c["value"] == "rows" for c in json.load(open(sys.argv[2]))["choices"])' "$work/planted/tune.json" "$base"
cp "$root/kernels/maxwell.cl" "$work/kernels"

# --- local memory: a kernel that needs more than there is. PoCL 5 ends the process, which is told, too.
sed '/^kernel void cg_dots/,/^}/ s/zaz\[LANES\];/zaz[1 << 24];/' "$root/kernels/cg.cl" >"$work/kernels/cg.cl"
expect 3 'cg_dots needs [0-9]+ bytes of local memory|crashed over flow' 'more local memory than there is' \
    env BINNACLE_KERNEL_PATH="$work/kernels" "$b" tune flow --kernel cg_dots --out "$work/local"
finish
