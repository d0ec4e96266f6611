#!/bin/sh
# loop_limit.sh: a device that ends the loops of a work-item after so many iterations (Mesa's llvmpipe 22.3) gets launches of fewer
# steps, with the same bits. The self-test's long case, a run's 100 steps of 1,000 cells, and beams in space of long lines.
. tests/cli_lib.subr
. tests/cli_vendors.subr
library=$(library_of_rusticl)
skip() { echo "SKIPPED: $1"; echo '0 passed, 0 failed, 1 skipped'; exit 0; }
[ -n "$library" ] || skip 'rusticl is not installed'
mkdir "$work/vendors"
echo "$library" >"$work/vendors/rusticl.icd"
export OCL_ICD_VENDORS="$work/vendors" RUSTICL_ENABLE=llvmpipe
"$BINNACLE" devices 2>/dev/null | grep -q llvmpipe || skip 'rusticl offers no llvmpipe'
cases=data/cases/bpm
agrees() { expect 0 'psi .* ok$' "$1" timeout 120 "$BINNACLE" verify "$@" --device llvmpipe --precision single; }
# Fewer beams and longer steps are too many iterations as well: with no limit known, all three of these fail.
few='--set batch.count=2' dz=4e-8
[ -z "${BN_TEST_LONG:-}" ] || few='' dz=2e-8
# shellcheck disable=SC2086 # two words or none
agrees "$cases/selftest-long.toml" $few
agrees "$cases/mmi.toml" --steps 1
agrees "$cases/selftest-space.toml" --steps 1 --set grid.cells=2200 --set grid.width=540e-6 \
    --set grid.cells_x=8 --set walls.thickness=7e-7 --set solver.chunk=18 --set march.dz=$dz --set march.length=8e-7 \
    --set march.records=1 --set launch.kind=plane
expect 3 'iterations of loops' 'a step that is too long' timeout 120 "$BINNACLE" verify "$cases/mmi.toml" --steps 1 \
    --set grid.cells=16384 --set solver.chunk=32 --device llvmpipe --precision single
finish
