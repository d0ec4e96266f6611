#!/bin/sh
# lint.sh: the rules of `make lint` see what they are there for: the tree has no finding, and a copy of it with mistakes
# has all of them.
. tests/cli_lib.subr
objects=$PWD/${BUILD:-build}/obj

mkdir "$work/tree" && tar -cf - Makefile docs host include kernels src tests | tar -xf - -C "$work/tree"
cd "$work/tree" || exit 1
expect 0 'tree: 0 findings' 'the tree as it is' sh host/build/lint-tree.sh rules
ok 'its includes and calls' sh host/build/lint-floors.sh "$objects"

# add FILE LINE...: at the end of a file
add()
{
    file=$1
    shift
    printf '%s\n' "$@" >>"$file"
}
add src/sim/plan.h '#include "sim/sim_parts.h"'
add host/grid/grid.h '#include "grid/program.h"'
add host/grid/field.c '#include "launch/reduce.h"'
add src/sim/sim.c '#include "output/output.h"' 'static int keeper;'
add src/io/file.h 'typedef struct bn_plan_bytes {' '    int a;' '} bn_plan_bytes;'
add src/io/csv.h 'struct wide {' '    int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, more[5], to, come, at, last;' '};'
add kernels/flow.cl '#if IS_CPU' '#endif'

# finds SCRIPT TEXT...: it fails, and says each of them.
finds()
{
    script=$1
    shift
    # shellcheck disable=SC2086 # two words
    sh $script >"$work/said" 2>&1
    ok "$script fails" test $? != 0
    for text; do
        ok "$script: $text" grep -q "$text" "$work/said"
    done
}
finds "host/build/lint-floors.sh $objects" 'src/sim/plan includes .* in a circle' 'host/grid/grid includes .* in a circle' \
    'launch is above grid' 'output is above sim'
finds 'host/build/lint-tree.sh rules' 'bn_plan_bytes: src/io/file.h src/sim/plan.h' 'kernels/flow.cl:[0-9]*:#if IS_CPU' 'sim.c:[0-9]*: keeper' \
    'csv.h:[0-9]*: 31 members'
finish
