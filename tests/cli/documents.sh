#!/bin/sh
# documents.sh: links of the documents lead somewhere, and the manual pages are there and right for troff.
. tests/cli_lib.subr
ok 'links lead to files and headings' python3 tests/documents/links.py README.md CONTRIBUTING.md CHANGELOG.md docs/*.md
echo '[a](none.md) [b](#no-such-heading)' >"$work/bad.md"
ok '... and those that do not are found' sh -c '! python3 tests/documents/links.py "$1"' sh "$work/bad.md"
ok 'manual pages' sh packaging/man.sh "$BINNACLE" "$work/man"
"$BINNACLE" --help | sed -n 's/^  binnacle \([a-z]*\) .*/\1/p' >"$work/commands"
while read -r command; do
    ok "... one for $command, with options" grep -q 'SH OPTIONS' "$work/man/binnacle-$command.1"
    ok "... which binnacle(1) names" grep -q "BR binnacle-$command (1)" "$work/man/binnacle.1"
done <"$work/commands"
if command -v groff >/dev/null; then
    for page in "$work"/man/*.1; do
        ok "troff has nothing to say about $(basename "$page")" sh -c 'test -z "$(groff -man -ww -Tutf8 "$1" 2>&1 >/dev/null)"' sh "$page"
    done
fi
ok 'CITATION.cff has the version' grep -q "^version: $("$BINNACLE" --version | sed -n '1s/^binnacle //p')\$" CITATION.cff
finish
