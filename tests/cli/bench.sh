#!/bin/sh
# bench.sh: `binnacle bench`: one JSON document over all solvers that fits its schema, pictures, two documents compared.
# Published studies: papers.sh.
. tests/cli_lib.subr
b=$BINNACLE

expect 1 'unknown solver `flwo`' 'bench of a solver that there is none of' "$b" bench flwo
expect 6 'missing.json' 'comparison with a file that is not there, told at once' \
    "$b" bench bpm --quick --compare "$work/missing.json"
echo '{"devices": 3}' >"$work/other.json"
expect 6 'not written by' 'comparison with another document' "$b" bench bpm --quick --compare "$work/other.json"
expect 0 'bench. words=.*--quick.* flow' 'completion knows options and solvers' "$b" completion bash
expect 0 '--compare' 'bench --help' "$b" bench --help

# The first of the two sizes that --quick takes; of bpm both are measured below.
"$b" bench --quick --size 1 --json --quiet --out "$work/folder" >"$work/all.json" 2>"$work/err"
ok 'bench --quick --size 1 --json exits 0' test $? = 0
ok '... and says nothing besides' sh -c 'cat "$0"; test ! -s "$0"' "$work/err"
ok 'it fits data/schemas/bench.json' python3 tests/cli/fits.py "$work/all.json" "$root/data/schemas/bench.json"
ok 'every solver was measured, and its numbers agree with each other' python3 -c '
import json, sys
entry = json.load(open(sys.argv[1]))["devices"][0]
rows = entry["rows"]
assert {r["solver"] for r in rows} == {"flow", "maxwell", "flood", "bpm", "xray"}, rows
for r in rows:
    assert r["trouble"] is None, r
    assert r["kernels"] and sum(k["seconds"] for k in r["kernels"]) > 0, r
    share, floor = r["floor"]["share"], r["floor"]["seconds"]
    assert (share is None) == (floor > 1.05 * r["seconds"]), r # no share above the floor
    assert (r["refused"] is None) == (r["noise"] <= 0.05), r # no figures of rounds that other work disturbed
    assert share is None or 0 < share and abs(share * r["seconds"] - floor) < 1e-9 * r["seconds"], r
    assert r["launches"] > 0, r
    assert r["solver"] != "maxwell" or r["launches"] == 2 and r["waits"] == 0, r # nothing comes between
    assert r["noise"] <= 0.05 or r["outside_kernels"] is None, r # no difference of times that are noise
    if r["solver"] in ("flow", "maxwell", "flood"):
        points = r["size"] ** r["dims"]
        assert abs(r["updates"] * r["seconds"] / points - 1) < 1e-6, r
' "$work/all.json"
ok 'kernels that repeat their work in a launch count it as often' python3 -c '
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["devices"][0]["rows"] if r["solver"] == "bpm"]
assert rows
for r in rows: # 60 operations a point and step
    assert abs(r["flops"] / (60 * r["size"]) - 1) < 0.01, r' "$work/all.json"
ok 'the folder has a report' sh -c 'python3 tests/cli/report.py "$0/report.html" && grep -q "<td>maxwell</td>" "$0/report.html"' "$work/folder"
ok 'bench.json is the document' python3 -c '
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
assert a == b' "$work/all.json" "$work/folder/bench.json"
for picture in roofline scaling; do
    ok "$picture.png" test -s "$work/folder/$picture.png"
done

# A kernel text that does not compile: every row says so, and nothing was measured.
mkdir "$work/kernels" && cp -r "$root/kernels/." "$work/kernels" && echo 'nonsense' >"$work/kernels/xray.cl"
expect 3 'nothing could be measured' 'no solver builds' \
    env BINNACLE_KERNEL_PATH="$work/kernels" "$b" bench xray --quick --quiet
expect 0 'xray.*not measured' 'one of two solvers builds' \
    env BINNACLE_KERNEL_PATH="$work/kernels" "$b" bench xray bpm --quick --quiet

# The limits are measured once, the date tells. A row has figures, or the reason why there are none.
ok 'the table has the other one' grep -Eq 'points/s|not shown: the quartiles of . rounds' "$work/out"
ok 'limits of the device are kept' grep -q "$(python3 -c '
import json, sys
print(json.load(open(sys.argv[1]))["devices"][0]["device"]["limits"]["date"])' "$work/all.json")" "$work/out"

# A document in which everything went ten thousand times faster, in two sizes: all became slower since.
python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
for r in d["devices"][0]["rows"]:
    r["seconds"], r["noise"] = r["seconds"] / 1e4, 0
    if r["solver"] == "bpm":
        more = dict(r, size=1000)
d["devices"][0]["rows"].append(more)
json.dump(d, open(sys.argv[2], "w"))' "$work/all.json" "$work/fast.json"
"$b" bench bpm --quick --quiet --json --compare "$work/fast.json" --out "$work/two" >"$work/slow.json" 2>"$work/err"
ok 'bench --compare exits 0' test $? = 0
ok '... its document fits too' python3 tests/cli/fits.py "$work/slow.json" "$root/data/schemas/bench.json"
ok '... and says that both sizes became slower' python3 -c '
import json, sys
changes = json.load(open(sys.argv[1]))["compare"]
assert [c["verdict"] for c in changes] == ["slower"] * 2, changes
' "$work/slow.json"
ok '... and draws time over two sizes' test -s "$work/two/scaling.png"

# Several devices: the parts of one stand for them. Of all solvers that exchange halos maxwell is the quickest to compile.
BINNACLE_PARTITION=2 "$b" bench maxwell --suite scaling --device all --quick --quiet --json \
    >"$work/scaling.json" 2>"$work/err"
ok '--suite scaling exits 0' test $? = 0
ok '... fits' python3 tests/cli/fits.py "$work/scaling.json" "$root/data/schemas/bench.json"
ok '... one device, two with as much each, two with as much in all' python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["devices"][0]["scaling"]
assert [(r["solver"], r["devices"], r["scaling"]) for r in rows] == [
    ("maxwell", 1, "weak"), ("maxwell", 2, "weak"), ("maxwell", 2, "strong")], rows
assert all(r["trouble"] is None and r["updates"] > 0 for r in rows), rows' "$work/scaling.json"
expect 1 'tune SOLVER' 'a suite that is no more names what has its figures' "$b" bench --suite default-vs-tuned
expect 1 '--suite scaling goes without --size' 'sizes of a suite' "$b" bench --suite scaling --size 1
# Sizes and precision; kinds of work that only other tables have. --full takes its time for each of them: without long
# tests it is seen in rows that were not measured, and the figures are those of --suite peers.
expect 1 'whole numbers with commas' 'a size that is none' "$b" bench bpm --size 300,x
# rows SOLVERS KIND;KIND...: a document in $work/sizes.json that fits its schema, of these solvers, 33 points and double
# precision; these kinds of work were measured
rows()
{
    ok '... fits' python3 tests/cli/fits.py "$work/sizes.json" "$root/data/schemas/bench.json"
    ok '... has its kinds of work, in that size and precision' python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["devices"][0]["rows"]
assert {r["solver"] for r in rows} == set(sys.argv[2].split()), rows
assert all((r["size"], r["precision"]) == (33, "double") for r in rows), rows
what = {r["what"] for r in rows if r["trouble"] is None}
assert what >= set(sys.argv[3].split(";")), rows' "$work/sizes.json" "$1" "$2"
}
"$b" bench bpm --suite peers --quick --size 33 --precision double --quiet --json >"$work/sizes.json" 2>"$work/err"
ok '--suite peers --size --precision exits 0' test $? = 0
rows bpm 'step along z, one beam;step along z, 1024 beams;in space'
echo 'nonsense' >"$work/kernels/bpm.cl"
expect 3 'nothing could be measured' '--full' \
    env BINNACLE_KERNEL_PATH="$work/kernels" "$b" bench bpm --full --size 33 --precision double --quiet
ok '... has beams in space, and single ones' sh -c 'grep -q "bpm, in space, transforms, double, 33^2: not measured" "$0" &&
    grep -q "bpm, step along z, one beam, double, 33: not measured" "$0"' "$work/out"
if [ -n "${BN_TEST_LONG:-}" ]; then
    "$b" bench bpm flow --full --size 33 --precision double --quiet --json >"$work/sizes.json" 2>"$work/err"
    ok '--full --size --precision exits 0' test $? = 0
    rows 'bpm flow' 'in space;Poisson, direct;Poisson, multigrid, a cycle;Poisson, fused CG, an iteration'
    # Every case of the suite is one that its solver takes.
    "$b" bench --suite peers --quick --size 64 --precision single --quiet --json >"$work/peers.json" 2>"$work/err"
    ok '--suite peers exits 0' test $? = 0
    ok '... fits' python3 tests/cli/fits.py "$work/peers.json" "$root/data/schemas/bench.json"
    ok '... has all solvers' python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["devices"][0]["rows"]
assert {r["solver"] for r in rows} == {"flow", "maxwell", "flood", "bpm", "xray"}, rows
assert all(r["trouble"] is None for r in rows), rows' "$work/peers.json"
fi
finish
