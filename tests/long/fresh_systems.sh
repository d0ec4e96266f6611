#!/bin/sh
# fresh_systems.sh: tests/fresh/run on every system it knows; what can't be had here is skipped and counted.
set -u
passed=0 failed=0 skipped=0
for system in debian-12 debian-13 ubuntu-24.04; do
    FRESH_DIR=$PWD/${BUILD:-build}/fresh sh tests/fresh/run $system | tee "${TMPDIR:-/tmp}/fresh.out"
    counts=$(tail -n 1 "${TMPDIR:-/tmp}/fresh.out" | grep -E '^[0-9]+ passed, [0-9]+ failed' | tr -cd '0-9 ')
    [ -n "$counts" ] || failed=$((failed + 1))
    # shellcheck disable=SC2086 # two or three words
    set -- $counts
    passed=$((passed + ${1:-0})) failed=$((failed + ${2:-0})) skipped=$((skipped + ${3:-0}))
done
echo "$passed passed, $failed failed, $skipped skipped"
test "$failed" = 0
