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

ok 'no report' "$b" run "$work/case.toml" --reference --quiet --steps 2 --out "$work/title" --force \
    --set output.report=false
ok '... and none of the run before' test ! -e "$work/title/report.html"
ok 'a warning of the run' sh -c '"$1" run "$2/case.toml" --reference --quiet --steps 2 --out "$2/fresh" --resume 2>/dev/null &&
    grep -q "<pre>there is no checkpoint in" "$2/fresh/report.html"' sh "$b" "$work"
finish
