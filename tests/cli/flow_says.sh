#!/bin/sh
# flow_says.sh: what the program says about cases of flow: numbers that have a meaning, and what may help where a run
# does not become steady.
. tests/cli_lib.subr
b=$BINNACLE
cases=$root/data/cases/flow

expect 0 'Rayleigh number: 10000' 'buoyant flow has a Rayleigh number' "$b" check "$cases/convection-ra1e4.toml"
ok '... and no Reynolds number, as nothing prescribes a speed' sh -c "! grep -q Reynolds '$work/out'"
expect 0 'Reynolds number: 100$' 'a lid has a Reynolds number' "$b" check "$cases/cavity-re100.toml"
expect 0 'Reynolds' 'buoyancy without a difference of temperature' "$b" check "$cases/cavity-re100.toml" \
    --set fluid.diffusivity=1 --set fluid.buoyancy=1
ok '... has no Rayleigh number' sh -c "! grep -q Rayleigh '$work/out'"

expect 4 'solver.cg_forcing.*solver.cg_tolerance' 'not steady: both keys are named' "$b" run "$cases/cavity-re100.toml" \
    --reference --set 'grid.nodes=[9,9]' --set stop.steps=5 --set output.pictures=false --out "$work/unsteady"
finish
