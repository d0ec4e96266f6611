#!/bin/sh
# documents.sh: the commands of the first steps and of the tutorials, one after the other as a reader copies them; the site and
# the reports that they leave in headless Chromium: no error in the console, all pictures there, nothing that axe-core finds
# against accessibility.
#   Chromium: apt-get install chromium. axe-core and what builds the site come from Python's package index into $BUILD/site-tools
#   (`make site`; axe-core: pip install axe-core-python there). What is missing is skipped, with its name.
. tests/cli_lib.subr
skipped=0
skip()
{
    echo "skipped: $1"
    skipped=$((skipped + 1))
}
tools=${BUILD:-build}/site-tools
mkdir "$work/bin"
ln -s "$BINNACLE" "$work/bin/binnacle"
PATH=$work/bin:$PATH
for page in docs/first-steps.md docs/tutorial-*.md; do
    ok "the commands of $page" python3 tests/documents/commands.py "$page"
done

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -x "$tools/bin/python3" ] || python3 -m venv "$tools" >/dev/null 2>&1 || true
for part in -rpackaging/site/requirements.txt axe-core-python==0.1.0; do
    [ -x "$tools/bin/mkdocs" ] && [ -n "$(find "$tools" -name axe.min.js)" ] || "$tools/bin/pip" install -q "$part" >"$work/pip.log" 2>&1 || true
done
axe=$(find "$tools" -name axe.min.js 2>/dev/null | head -n 1)
pages=
if [ -x "$tools/bin/mkdocs" ]; then
    ok 'the site, strictly' env BINNACLE="$BINNACLE" NO_MKDOCS_2_WARNING=1 "$tools/bin/mkdocs" build -q -f packaging/site/mkdocs.yml -d "$work/site"
    pages=$(find "$work/site" -maxdepth 1 -name '*.html' ! -name 404.html)
else
    skip "no mkdocs in $tools: make site"
fi
if [ -n "$browser" ] && [ -n "$axe" ]; then
    for solver in bpm flood flow maxwell xray; do
        ok "a run of $solver" "$BINNACLE" run "data/cases/$solver/starter.toml" --out "$work/$solver" --quiet --set output.vtk=false
        pages="$pages $work/$solver/report.html"
    done
    ok 'a sweep' "$BINNACLE" sweep data/cases/bpm/starter.toml --vary 'light.wavelength=1500:1600:3 nm' --out "$work/sweep" --quiet
    for page in $pages "$work/sweep/report.html"; do
        ok "$page in a browser" python3 tests/documents/browser.py "$browser" "$axe" "$page"
    done
else
    [ -n "$browser" ] || skip 'no Chromium'
    [ -n "$axe" ] || skip "no axe.min.js below $tools"
fi
echo "$passed passed, $failed failed, $skipped skipped"
test "$failed" = 0
