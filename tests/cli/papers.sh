#!/bin/sh
# papers.sh: `binnacle bench --suite paper-NAME` at its smallest: every row that a CPU can fill has a number, every other one a
# reason; files of each table, the page, and a suite that goes on where it was ended.
. tests/cli_lib.subr
b=$BINNACLE

expect 1 'paper-flow' 'a suite that there is none of' "$b" bench --suite seed-9
expect 1 'without solvers' 'a suite with solvers' "$b" bench flow --suite seed-004
# All cases are read before anything is measured, and before there is a folder: a key that a solver does not have would
# be exit code 2.
: >"$work/file"
for suite in 000 001 002 003 004; do
    expect 6 'cannot create the folder' "--suite seed-$suite: all cases fit their solvers" \
        "$b" bench --suite "seed-$suite" --quick --size 1 --quiet --out "$work/file/none"
done
mkdir "$work/none" && cp -r "$root/kernels/." "$work/none"
for kernels in "$work"/none/*.cl "$work"/none/studies/*.cl; do
    echo 'nonsense' >"$kernels"
done
for suite in seed-003 ${BN_TEST_LONG:+seed-001}; do
    expect 3 'nothing could be measured' "--suite $suite: no kernel builds" \
        env BINNACLE_KERNEL_PATH="$work/none" "$b" bench --suite "$suite" --quick --size 1 --quiet
done

# name:a published figure:tables. The one with the most kinds of rows, whole runs with their pictures too, stands for all.
small='flood:17098:8'
[ -z "${BN_TEST_LONG:-}" ] || small="$small bpm:22.5:4 maxwell:14.9:4 xray:7.8:16 flow:52.89:14"
for suite in $small; do
    name=${suite%%:*} rest=${suite#*:}
    out=$work/$name
    "$b" bench --suite "paper-$name" --quick --size 1 --quiet --json --out "$out" >"$work/$name.json" 2>"$work/err"
    ok "--suite paper-$name exits 0" test $? = 0
    ok '... rows with numbers or reasons, files of each table, a page that shows them' python3 -c '
import csv, json, os, re, sys
document, out, published, tables = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
rows = json.load(open(document))["devices"][0]["suite"]["rows"]
reasons = {"left out with --quick", "a kernel of the study\x27s; ours do its work in one sweep", "its case is not published"}
for r in rows:
    assert r["ours"] is not None or r["missing"] in reasons or re.fullmatch(r"needs \d+ devices", str(r["missing"])), r
    assert r["ours"] is None or r["missing"] is None, r
names = list(dict.fromkeys(r["table"] for r in rows))
assert len(names) == tables, names
page = open(out + "/report.html").read()
for name in names:
    mine = [r for r in rows if r["table"] == name]
    lines = list(csv.DictReader(open(f"{out}/{name}.csv")))
    assert [float(l["ours"]) if l["ours"] else None for l in lines] == [r["ours"] for r in mine], name
    assert f"{name}.csv" in page, name
    if any(r["line"] and r["ours"] is not None for r in mine):
        assert f"\"{name}.png\"" in page and os.path.exists(f"{out}/{name}.png"), name
for shown in re.findall(r"src=\"([^\"]+)\"", page):
    assert os.path.exists(out + "/" + shown), shown
assert any(r["published"] is not None and abs(r["published"] / published - 1) < 1e-6 for r in rows) or published == 22.5, rows
' "$work/$name.json" "$out" "${rest%:*}" "${rest#*:}"
done

# A finished table is not measured again; one that is not there is.
cp "$work/flood/table-4.2.json" "$work/before.json"
rm "$work/flood/sizes.json"
"$b" bench --suite paper-flood --quick --size 1 --json --out "$work/flood" >"$work/again.json" 2>"$work/err"
ok 'a suite goes on: exit code 0' test $? = 0
ok '... the finished tables are as they were' cmp "$work/before.json" "$work/flood/table-4.2.json"
ok '... layouts and runs, which they alone have, were not measured' sh -c '! grep -Eq "flood_layouts|: run " "$0"' "$work/err"
ok '... the other one was' python3 -c '
import json, sys
old, new = ([r["ours"] for r in json.load(open(f))["devices"][0]["suite"]["rows"]] for f in sys.argv[1:])
assert len(old) == len(new) and old != new, (old, new)' "$work/flood.json" "$work/again.json"
finish
