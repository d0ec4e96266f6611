#!/bin/sh
# materials.sh: `materials` lists the tables of data/materials, prints one as a case can name it, and draws it.
. tests/cli_lib.subr
b=$BINNACLE
expect 0 'Ag-Johnson1972 +300 to 1[0-9]+ nm +P. B. Johnson.* silver' 'the list' "$b" materials
ok '... has all' test "$(wc -l <"$work/out")" = "$(find data/materials -name '*.csv' | wc -l)"
ok 'one of them' sh -c '"$0" materials Ag-Johnson1972 >"$1/Ag.csv"' "$b" "$work"
ok '... is the file' cmp "$work/Ag.csv" data/materials/Ag-Johnson1972.csv
expect 0 'Ag-Johnson1972 .*silver' 'some of them, by a word' "$b" materials silver
ok '... and no other' sh -c '! grep -qv silver "$0"' "$work/out"
ok 'charts' "$b" materials --out "$work/charts"
ok '... of all' test "$(find "$work/charts" -name '*.png' | wc -l)" = "$(find data/materials -name '*.csv' | wc -l)"
expect 1 'did you mean `Ag-Johnson1972`' 'a name that is not there' "$b" materials Ag-Jonson1972
ok 'for scripts' sh -c '"$0" materials --json | python3 -c "
import csv, json, sys
for m in json.load(sys.stdin)[\"materials\"]:
    rows = [r for r in csv.reader(open(\"data/materials/%s.csv\" % m[\"name\"])) if not r[0].startswith(\"#\")][1:]
    assert (m[\"from_nm\"], m[\"to_nm\"], m[\"rows\"]) == (float(rows[0][0]), float(rows[-1][0]), len(rows)), m
    assert m[\"source\"] and m[\"what\"], m"' "$b"
finish
