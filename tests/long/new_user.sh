#!/bin/sh
# new_user.sh: what a new user does: the tree as it is cloned, built, and the commands of README's "first sweep" copied one after
# the other, until the chart of a sweep is there. Says how long it took; the promise is ten minutes, on a machine of one's own.
. tests/cli_lib.subr
sed -n '/^## A first sweep/,/^## /p' README.md | sed -n '/^```sh$/,/^```$/p' | sed '1d;$d' >"$work/commands"
ok 'README has the commands' test "$(wc -l <"$work/commands")" -ge 4
ok 'a clone' git clone -q "$PWD" "$work/binnacle"
began=$(date +%s)
ok 'the commands, one after the other' sh -ec 'cd "$0/binnacle"; . "$0/commands"' "$work"
echo "from the clone to the chart: $(($(date +%s) - began)) s"
ok 'the chart of the sweep' test -s "$work/binnacle/spectrum/absorptance_aSi.png"
ok 'its table' test "$(wc -l <"$work/binnacle/spectrum/sweep.csv")" = 12
finish
