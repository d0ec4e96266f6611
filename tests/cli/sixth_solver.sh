#!/bin/sh
# sixth_solver.sh: a solver added from outside (tests/sixth: the heat equation) touches one line of the tree, and then
# passes the conformance suite, the kernel lint, check, new, run and verify like any other.
set -u
passed=0 failed=0
root=$PWD
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM
tree=$work/tree

# what, command...: one check
check()
{
    what=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
        tail -n 40 "$work/log"
    fi
}

mkdir "$tree" && (cd "$root" && tar -cf - Makefile host include kernels src data tests) | (cd "$tree" && tar -xf -) || exit 1
cp -R "$tree/tests/sixth/." "$tree/" && rm -rf "$tree/tests/sixth" "$tree/tests/unit" "$tree/tests/cli"
printf 'BN_SOLVER(heat)\n' >>"$tree/src/sim/solvers.def"

# Of the files that were there, one differs, and by one line.
changed=$(cd "$root" && find host include kernels src -type f | while read -r f; do cmp -s "$f" "$tree/$f" || echo "$f"; done)
check 'one existing file changes' test "$changed" = src/sim/solvers.def
check 'by one line' test "$(diff "$root/src/sim/solvers.def" "$tree/src/sim/solvers.def" | grep -c '^[<>]')" = 1

cd "$tree" || exit 1
# What does not know the solver is taken as the tree has compiled it: make is told that its flags are no newer.
mkdir -p build && cp -Rp "$root/${BUILD:-build}/obj" build/
check 'its rooms' make --no-print-directory DEPS=skip build/rooms/.made
check 'builds' make --no-print-directory DEPS=skip -o build/flags.txt -o build/rooms/.made all build/tests/conformance/test_conformance
check 'its kernels pass the lint' env BINNACLE=build/binnacle sh host/build/lint-kernels.sh kernels/heat.cl
check 'passes the conformance suite, and is resumed from checkpoints' env BN_TEST_SOLVER=heat build/tests/conformance/test_conformance
check 'check' build/binnacle check data/cases/heat/selftest.toml
check 'new gives a case that check accepts' sh -c 'build/binnacle new heat >new.toml && build/binnacle check new.toml'
check 'run' build/binnacle run data/cases/heat/selftest.toml --out out --quiet
check 'T_max is in the summary' grep -q '"T_max"' out/summary.json
check 'verify' build/binnacle verify data/cases/heat/selftest.toml
check 'help lists it' sh -c 'build/binnacle --help | grep -q heat'
echo "$passed passed, $failed failed"
test "$failed" = 0
