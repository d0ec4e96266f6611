#!/bin/sh
# report.sh: report.html of every run's folder: well-formed, with words for what is drawn, nothing from outside, and the
# numbers of summary.json; also after a failure and a stop.
. tests/cli_lib.subr
b=$BINNACLE
page() { python3 tests/cli/report.py "$work/$1/report.html" "$work/$1/summary.json"; }

for solver in flow maxwell xray flood bpm; do
    case $solver in xray) more='--set source.photons=1e4' ;; *) more='--steps 6' ;; esac
    # 4: not converged after so few steps
    ok "$solver: a run" sh -c '"$@"; case $? in 0 | 4) ;; *) exit 1 ;; esac' sh "$b" run data/cases/$solver/selftest.toml --reference --quiet --out "$work/$solver" \
        --set output.every=3 --set output.series_every=1 $more
    ok '... has a report' page $solver
done
"$b" new bpm >"$work/case.toml"
ok 'a title that is no text of a page' "$b" run "$work/case.toml" --reference --quiet --steps 20 --out "$work/title" \
    --set 'case.title="a <b> & \"c\" </title> d"' --set output.series_every=1 --set output.every=5 --set output.animation=true
ok '... is one on it' page title
ok '... as it was given' grep -q '<h1>a &lt;b&gt; &amp; &quot;c&quot; &lt;/title&gt; d</h1>' "$work/title/report.html"
ok 'what differs from the defaults' grep -q 'structure.2.index</th><td>1.46 </td><td>1.5<' "$work/title/report.html"
ok '... and not what does not' sh -c '! grep -q "output.vtk<" "$0"' "$work/title/report.html"
if command -v node >/dev/null; then # the script of the page
    ok 'the script can be read' sh -c 'sed -n "s|.*<script>\(.*\)</script>.*|\1|p" "$0/title/report.html" >"$0/page.js" &&
        test -s "$0/page.js" && node --check "$0/page.js"' "$work"
fi

printf '[case]\nsolver="flow"\n[grid]\nnodes=[17,17]\n[time]\ndt=0.01\n' >"$work/flow.toml"
expect 4 'not converged' 'a run that fails' "$b" run "$work/flow.toml" --reference --quiet --out "$work/fails" \
    --set solver.steady_tolerance=1e-9 --set stop.steps=20
ok '... has a report' python3 tests/cli/report.py "$work/fails/report.html"
ok '... that says why' grep -q 'role="alert">not converged after 20 steps' "$work/fails/report.html"
printf '[case]\nsolver="flow"\n[grid]\nnodes=[257,257]\n' >"$work/long.toml"
"$b" run "$work/long.toml" --reference --quiet --out "$work/stopped" --set output.vtk=false >"$work/log" 2>&1 &
run=$!
wait_for "$work/stopped/series.csv"
kill -INT $run
wait $run
ok 'a run that was stopped exits with 130' test $? = 130
ok '... has a report' python3 tests/cli/report.py "$work/stopped/report.html"
ok '... that says so' grep -q 'role="alert">interrupted' "$work/stopped/report.html"

# What is known of a result stands beside it; what is solved decides whether it is still known.
cat >"$work/known.toml" <<'TOML'
[case]
solver = "bpm"
[grid]
cells = 200
[march]
length = "2 um"
[[expected]]
result    = "n_eff"
value     = 0.99874922
tolerance = 1e-5
source    = "closed <form>"
[[expected]]
result    = "power"
value     = 3
tolerance = 1
TOML
known() { "$b" run "$work/known.toml" --reference --out "$work/known" "$@"; }
expect 0 'expected +0.99874922 [+]- 1e-05: closed <form>' 'what is known of a result' known --set output.checkpoint=true
ok '... and what is not as expected' grep -q 'NOT as expected: +3 ' -E "$work/err"
ok '... in summary.json' python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
n, p = d["expected"]["n_eff"], d["expected"]["power"]
assert n["within"] is True and p["within"] is False and abs(p["difference"] - d["results"]["power"] + 3) < 1e-12, d["expected"]' \
    "$work/known/summary.json"
ok '... which fits' python3 tests/cli/fits.py "$work/known/summary.json" data/schemas/summary.json
ok '... on the page' page known
ok '... with its source, and not among the keys' sh -c 'grep -q "closed &lt;form&gt;" "$0" && grep -q "too far" "$0" && ! grep -q expected.value "$0"' \
    "$work/known/report.html"
sed -i 's/^value     = 3/value     = 1/' "$work/known.toml"
expect 0 'power +1 *$' 'another value goes on from the checkpoint' known --resume
ok '... and is as expected' sh -c '! grep -q "NOT as" "$0"' "$work/err"
expect 0 'n_eff' 'another way to solve it' known --set solver.chunk=16 --set case.precision=double --force
ok '... has the same answer' grep -q '  expected' "$work/err"
expect 0 'n_eff' 'another case' known --set grid.width='"9 um"' --force
ok '... does not' sh -c '! grep -q expected "$0"' "$work/err"

# A run that ends before its case does is not judged by what is known of the end.
expect 0 'expected at the end +0.99874922' 'what is known of the end, of a run cut short' known --force --steps 1
ok '... is not judged' sh -c '! grep -q "NOT as" "$0"' "$work/err"
ok '... nor in summary.json' python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["expected"]["power"]["within"] is None' \
    "$work/known/summary.json"
ok '... nor in report.html' sh -c 'grep -q "ended early" "$0" && ! grep -q "too far" "$0"' "$work/known/report.html"
ok '... and one step is one' grep -q '^1 step in' "$work/err"
expect 2 'no such result; did you mean `power`' 'a result that there is none of' known --set expected.2.result=powr

ok 'no report' "$b" run "$work/case.toml" --reference --quiet --steps 2 --out "$work/title" --force \
    --set output.report=false
ok '... and none of the run before' test ! -e "$work/title/report.html"
ok 'a warning of the run' sh -c '"$1" run "$2/case.toml" --reference --quiet --steps 2 --out "$2/fresh" --resume 2>/dev/null &&
    grep -q "<pre>there is no checkpoint in" "$2/fresh/report.html"' sh "$b" "$work"
finish
