#!/bin/sh
# many_devices.sh: the same bits on one device, on parts of a CPU that stand for several, and on ranks; what several devices
# make room for; a rank that dies.
. tests/cli_lib.subr
. tests/cli_devices.subr
. tests/pocl_share.subr
# shellcheck disable=SC2034 # same() reads it
first=one

# took_part NAME N RANKS: what the summary says took part
took_part()
{
    grep -q "\"devices\": $2," "$work/$1/summary.json" && grep -q "\"ranks\": $3," "$work/$1/summary.json"
}

# share: what one process has compiled the others need not compile again. Processes that run at a time have folders of their own.
share()
{
    [ -n "${POCL_CACHE_DIR:-}" ] || return 0
    touch "$work/mark.next"
    for folder in process-1 process-2 process-3; do
        [ -d "$POCL_CACHE_DIR/$folder" ] || mkdir -m 700 "$POCL_CACHE_DIR/$folder"
    done
    set -- "$POCL_CACHE_DIR" "$POCL_CACHE_DIR/process-1" "$POCL_CACHE_DIR/process-2" "$POCL_CACHE_DIR/process-3"
    for folder; do
        share_kernels "$work/mark" "$folder" "$@"
    done
    mv "$work/mark.next" "$work/mark"
}

# try NAME DEVICES RANKS COMMAND...
try()
{
    name=$1 devices=$2 ranks=$3
    shift 3
    share
    rm -rf "${work:?}/$name"
    ok "$case: $name runs" run_as "$name" "$@"
    ok "$case: $name has the same bits" same "$name"
    ok "$case: $name took $devices devices of $ranks ranks" took_part "$name" "$devices" "$ranks"
}

cases='flow/selftest maxwell/selftest-two-pass xray/selftest flood/selftest bpm/selftest bpm/selftest-space'
[ -z "${BN_TEST_LONG:-}" ] || cases="$cases maxwell/selftest-cycles maxwell/selftest-fused"
# Four boxes that all have corners in common: neither dimension has room for four in a row. What follows has the same boxes.
flood='--set grid.cells=[600,12]'
for shipped in $cases; do
    case=data/cases/$shipped.toml sets=''
    case $shipped in
        # So wide that cuts along x would be the shortest, where rows have to stay whole.
        bpm/selftest) sets='--set grid.cells=600 --set batch.count=16' ;;
        # Large enough that pieces of lines along y overlap by a part of them.
        bpm/selftest-space) sets='--set grid.cells=262 --set grid.cells_x=203' ;;
        flood/selftest) sets=$flood ;;
    esac
    more=$sets
    ok "$case: one device" run_as one "$BINNACLE"
    # Ranks have the boxes of as many parts, and find their programs compiled. Two ranks: below.
    # A box in the middle is another one where boxes have neighbours; maxwell's is below, with unequal shares.
    case ${BN_TEST_LONG:-}$shipped in 1* | flood/selftest) parts=4 ;; flow/* | bpm/selftest-space) parts=3 ;; *) parts=2 ;; esac
    more="$sets --device all"
    try parts $parts 1 env BINNACLE_PARTITION=$parts "$BINNACLE"
    [ $mpi = yes ] || continue
    more=$sets
    try ranks $parts $parts mpirun -n $parts "$BINNACLE"
    [ $parts = 4 ] || continue
    more="$sets --device all"
    # Two parts for each of two ranks: four devices, of which every rank takes two.
    try both 4 2 env BINNACLE_PARTITION=4 mpirun -n 2 "$BINNACLE"
done

# Fluxes that devices compute while they agree on the time step: three of them, each with a thread, in rows one above the other and with
# the kernels of GPUs; two in one context, side by side, where blocks at the cut wait for the halo; two ranks.
case=data/cases/flood/selftest-ahead.toml sets='--set grid.cells=[300,96]'
more="$sets --set solver.ahead=0"
ok "$case: one device, and nothing ahead" run_as one "$BINNACLE"
more="$sets --set solver.ahead=4000 --device all"
try parts 3 1 env BINNACLE_DEVICE_TYPE=gpu BINNACLE_PARTITION=3 "$BINNACLE"
ok "$case: rows are ahead on parts" grep -q '"kernel": "flood_rates"' "$work/parts/summary.json"
sets='--set grid.cells=[600,48]'
more="$sets --set solver.ahead=0"
ok "$case: one device, wider" run_as one "$BINNACLE"
ok "$case: no rows are ahead there" sh -c "! grep -q '\"kernel\": \"flood_rates\"' '$work/one/summary.json'"
more="$sets --set solver.ahead=4000 --device all"
try parts 2 1 env BINNACLE_PARTITION=2 "$BINNACLE"
more="$sets --set solver.ahead=4000"
[ $mpi = no ] || try ranks 2 2 mpirun -n 2 "$BINNACLE"

# Work-groups of two blocks: insides and slabs at the cuts are whole groups.
case=data/cases/flood/selftest-tall.toml sets='--set grid.cells=[300,100]'
more="$sets --set solver.group_blocks=1"
ok "$case: one device, a block a work-group" run_as one "$BINNACLE"
more="$sets --device all"
try parts 3 1 env BINNACLE_PARTITION=3 "$BINNACLE"
[ $mpi = no ] || { more=$sets; try ranks 2 2 mpirun -n 2 "$BINNACLE"; }

# Tiles in three dimensions, deep enough that an inside is left while halos travel.
case=data/cases/maxwell/selftest-fused.toml more='--set grid.cells=[6,7,150]'
ok "$case, deeper: one device" run_as one "$BINNACLE"
more="$more --device all"
try parts 2 1 env BINNACLE_PARTITION=2 "$BINNACLE"

# The same corners with flow, whose kernels take the longest to compile; and all systems, four boxes of a coarser grid.
if [ -n "${BN_TEST_LONG:-}" ]; then
    case=data/cases/flow/convection-ra1e3.toml more='--set grid.nodes=[600,12] --steps 2'
    ok "$case, two by two: one device" run_as one "$BINNACLE"
    more="$more --device all"
    try parts 4 1 env BINNACLE_PARTITION=4 "$BINNACLE"
    case=data/cases/flow/selftest.toml more='--set grid.nodes=[265,281] --set solver.poisson=multigrid --steps 1'
    ok "$case, larger: one device" run_as one "$BINNACLE"
    more="$more --device all"
    try parts 4 1 env BINNACLE_PARTITION=4 "$BINNACLE"
fi

# A coarser grid of multigrid in boxes, and the next one agglomerated. tests/solvers/flow/test_multigrid_boxes.c has four boxes.
case=$work/multigrid.toml more=''
cat >"$case" <<'END'
[case]
solver = "flow"
[grid]
nodes = [265, 281]
size  = [1.9, 2.8]
[fluid]
viscosity = 0.1
[boundary.left]
kind  = "inflow"
speed = 1
[boundary.right]
kind = "outflow"
[obstacle]
shape  = "rectangle"
centre = [0.8, 1.4]
size   = [0.25, 0.25]
[solver]
poisson = "multigrid"
[stop]
steps = 1
END
ok "$case: one device" run_as one "$BINNACLE"
more='--device all'
try parts 2 1 env BINNACLE_PARTITION=2 "$BINNACLE"

# Columns of the direct solver in two boxes, of a system and of two coupled ones. The profile lists kernels on the boxes of the grid:
# those of rows, which were not gathered, and none that has a whole column.
case=data/cases/flow/selftest-split.toml more='--set grid.nodes=[9,577] --set grid.size=[0.8,57.6]'
ok "$case, taller: one device" run_as one "$BINNACLE"
ok "$case: whole columns there" grep -q '"kernel": "spectral_columns"' "$work/one/summary.json"
# cut_columns NAME: its columns were cut
cut_columns() { grep -q '"kernel": "spectral_rows"' "$work/$1/summary.json" && ! grep -q '"kernel": "spectral_columns"' "$work/$1/summary.json"; }
one=$more
more="$one --device all"
try parts 2 1 env BINNACLE_PARTITION=2 "$BINNACLE"
ok "$case: columns are cut" cut_columns parts
if [ $mpi = yes ]; then
    more=$one
    try ranks 2 2 mpirun -n 2 "$BINNACLE"
    ok "$case: columns are cut between ranks" cut_columns ranks
fi
# The same for the vorticity alone, beside multigrid, whose boxes have wider halos.
more='--set grid.nodes=[9,577] --set grid.size=[0.8,57.6] --set solver.poisson=multigrid'
ok "$case, beside multigrid: one device" run_as one "$BINNACLE"
more="$more --device all"
try parts 2 1 env BINNACLE_PARTITION=2 "$BINNACLE"

# A grid much wider than high is not cut along x then.
case=data/cases/flow/selftest-split.toml one='--set grid.nodes=[1281,545] --set grid.size=[12.8,5.44]'
more=$one
ok "$case, wider: one device" run_as one "$BINNACLE"
more="$one --device all"
try parts 2 1 env BINNACLE_PARTITION=2 "$BINNACLE"
ok "$case, wider: columns are cut" cut_columns parts

# Unequal shares.
case=data/cases/maxwell/selftest-two-pass.toml more=''
ok "$case: one device" run_as one "$BINNACLE"
more='--device all --weights 3,1,1.5'
try parts 3 1 env BINNACLE_PARTITION=3 "$BINNACLE"
expect 1 '2 weights for 3 devices' 'a weight for each device' \
    env BINNACLE_PARTITION=3 "$BINNACLE" run $case --device all --weights 3,1 --out "$work/small" --quiet
expect 1 'positive' 'no share is negative' \
    env BINNACLE_PARTITION=2 "$BINNACLE" run $case --device all --weights 3,-1 --out "$work/small" --quiet

# A run that one device began goes on on several.
# go_on STEPS SETTINGS COMMAND...: after so many steps
go_on()
{
    steps=$1 sets=$2
    shift 2
    rm -rf "${work:?}/begun"
    more="--set output.checkpoint=true $sets"
    ok "$case: whole" run_as one "$BINNACLE"
    more="$more --steps $steps"
    ok "$case: $steps steps on one device" run_as begun "$BINNACLE"
    ok "$case: the rest by $*" "$@" run $case --out "$work/begun" --quiet --device all --resume --set output.every=0 \
        --set output.pictures=false --set output.checkpoint=true $sets
    ok "$case: the bits of one device" same begun
}
case=data/cases/flood/selftest.toml
go_on 2 "$flood" env BINNACLE_PARTITION=4 "$BINNACLE"
# The mode of a fibre is sought first, and kept from then on. It fills the field that the beam is compared with.
case=tests/cli/checkpoints/bpm-mode.toml
if [ $mpi = yes ]; then
    sets='--set march.length=20e-6 --set march.records=5 --set output.animation=false'
    go_on 13 "$sets" mpirun -n 2 "$BINNACLE"
    more=$sets
    try ranks 2 2 mpirun -n 2 "$BINNACLE"
fi

# Water that runs from one end to the other: the cuts between devices follow it, while files are being written, and a run goes on
# from there. Four devices move more than once.
case=$work/run.toml
cat >"$case" <<'END'
[case]
solver = "flood"
balance = 3
[grid]
kind = "square"
cells = [8, 192]
spacing = 1
[bed]
kind = "slope"
slope = [0, -0.1]
[initial]
kind = "dam"
axis = "y"
levels = [-6, -100]
[time]
interval = 2
[solver]
edges = "twice"
[[gauge]]
at = [4, 150]
[output]
gauge_speeds = true
[stop]
time = 24
END
# balanced NAME MOVES: the summary tells so many moves (a pattern), and shares that are no longer alike
balanced()
{
    grep -q "\"moves\": $2," "$work/$1/summary.json" && tr -d ' \n' <"$work/$1/summary.json" | grep -q '"shares":\[0\.[^5]'
}
more='--set output.every=1'
ok "$case: one device" run_as one "$BINNACLE"
ok 'one device has nothing to balance' sh -c "! grep -q '\"balance\":' '$work/one/summary.json'"
more='--device all --set case.balance=-1'
try still 2 1 env BINNACLE_PARTITION=2 "$BINNACLE"
ok 'cuts stay where the case says so' sh -c "! grep -q '\"balance\":' '$work/still/summary.json'"
more='--device all --set output.every=1'
try parts 2 1 env BINNACLE_PARTITION=2 "$BINNACLE"
ok 'two parts moved their cut' balanced parts 1
ok 'the files of all steps are the same' diff -r "$work/one/fields" "$work/parts/fields"
ok 'gauges go on' cmp "$work/one/gauges.csv" "$work/parts/gauges.csv"
ok 'speeds at gauges go on' cmp "$work/one/gauge_speeds.csv" "$work/parts/gauge_speeds.csv"
more='--device all --set output.checkpoint=true --steps 5'
ok "$case: five steps on two parts" run_as begun env BINNACLE_PARTITION=2 "$BINNACLE"
ok 'which moved their cut' balanced begun 1
ok "$case: the rest on one device, which may look at other steps" "$BINNACLE" run "$case" --out "$work/begun" --quiet --resume \
    --set output.every=0 --set output.pictures=false --set case.balance=7
ok "$case: the bits of one device" same begun
if [ $mpi = yes ]; then
    more=''
    try ranks 2 2 mpirun -n 2 "$BINNACLE"
    ok 'two ranks moved their cut' balanced ranks 1
fi
if [ -n "${BN_TEST_LONG:-}" ]; then
    more='--device all'
    try parts 4 1 env BINNACLE_PARTITION=4 "$BINNACLE"
    ok 'four parts moved their cuts' balanced parts '[2-9]'
    [ $mpi = no ] || try both 4 2 env BINNACLE_PARTITION=4 mpirun -n 2 "$BINNACLE"
fi

# same_grid A B: VTK finds the same in both; without a Python that has VTK they are only there
same_grid()
{
    if [ -n "${BINNACLE_TEST_PYTHON:-}" ]; then
        "$BINNACLE_TEST_PYTHON" tests/unit/read_vtk.py same "$1" "$2"
    else
        [ -s "$1" ] && [ -s "$2" ]
    fi
}

# Every kind of output, from ranks as from one device; fields are in pieces, one for each box.
if [ $mpi = yes ]; then
    case=data/cases/flood/selftest.toml
    more="$flood --set output.every=4 --set output.tiff=true --set output.checkpoint=true"
    ok 'outputs of one device' "$BINNACLE" run $case --out "$work/all1" --quiet $more
    ok 'outputs of four ranks' mpirun -n 4 "$BINNACLE" run $case --out "$work/all4" --quiet $more
    for file in $(cd "$work/all1" && find . -type f ! -name summary.json ! -name report.html ! -name '.binnacle*' ! -name '*.pvd' ! -name '*.vtu' \
        ! -path './checkpoint/*' | LC_ALL=C sort); do
        ok "$file is the same from four ranks" cmp "$work/all1/$file" "$work/all4/$file"
    done
    ok 'hexagons in pieces' same_grid "$work/all1/fields/flood-000004.vtu" "$work/all4/fields/flood-000004.pvtu"
    ok 'are listed' grep -q 'fields/flood-000004.pvtu' "$work/all4/fields.pvd"
    for rank in 0 1 2 3; do
        ok "one of rank $rank" test -f "$work/all4/fields/flood-000004.p$rank.vtu"
        ok "a checkpoint has parts of rank $rank" test "$(find "$work/all4/checkpoint" -name "*-r$rank-*" | wc -l)" -gt 0
    done
    ok 'and nobody wrote the whole' test ! -e "$work/all4/fields/flood-000004.vtu"
    case=data/cases/flow/selftest.toml
    more='--set output.every=3 --set output.hdf5=true'
    ok 'nodes of one device' "$BINNACLE" run $case --out "$work/nodes1" --quiet $more
    ok 'nodes of three ranks' mpirun -n 3 "$BINNACLE" run $case --out "$work/nodes3" --quiet $more
    ok 'nodes in pieces' same_grid "$work/nodes1/fields/flow-000003.vti" "$work/nodes3/fields/flow-000003.pvti"
    ok 'HDF5 in pieces' test -s "$work/nodes3/fields/fields-3.h5" -a -s "$work/nodes3/fields/fields-3.p2.h5"
    ok 'plot draws the whole' "$BINNACLE" plot "$work/nodes1/fields/flow-000003.vti" --field psi --out "$work/plot1"
    ok 'and the pieces' "$BINNACLE" plot "$work/nodes3/fields/flow-000003.pvti" --field psi --out "$work/plot3"
    ok 'alike' cmp "$work/plot1/flow-000003-psi.png" "$work/plot3/flow-000003-psi.png"
    ok 'a run of one device over that of ranks' "$BINNACLE" run $case --out "$work/nodes3" --quiet --force
    ok 'leaves no pieces' test -z "$(find "$work/nodes3" -name '*.p[0-9]*')"

    # Ranks write the parts of a checkpoint, any other number reads them.
    case=data/cases/flood/selftest.toml more="$flood --set output.checkpoint=true"
    ok "$case: whole" run_as one "$BINNACLE"
    more="$more --steps 2"
    ok "$case: two steps on four ranks" run_as parted mpirun -n 4 "$BINNACLE"
    cp -r "$work/parted" "$work/parted-too"
    ok "$case: the rest on one" "$BINNACLE" run $case $flood --out "$work/parted" --quiet --resume --set output.every=0 \
        --set output.pictures=false --set output.checkpoint=true
    ok "$case: the bits of one device" same parted
    ok "$case: the rest on two, of two devices each" env BINNACLE_PARTITION=4 mpirun -n 2 "$BINNACLE" run $case $flood --device all \
        --out "$work/parted-too" --quiet --resume --set output.every=0 --set output.pictures=false --set output.checkpoint=true
    ok "$case: the bits of one device again" same parted-too
    mkdir "$work/all4/fields/flood-000002.p1.vtu"
    expect 6 'rank 1 of 4' 'a rank that cannot write its piece ends all' \
        mpirun -n 4 "$BINNACLE" run data/cases/flood/selftest.toml $flood --out "$work/all4" --quiet --force --set output.every=2
    ok 'and says which' grep -q 'flood-000002.p1.vtu' "$work/err"
    expect 2 'no key .*nosuch|unknown key|nosuch' 'a case that is wrong is told once' \
        mpirun -n 2 "$BINNACLE" run $case --set nosuch.key=1 --out "$work/no"
    ok 'by one rank' test "$(grep -c 'nosuch' "$work/err")" = 1
fi

# Memory: too large for one device, room on two. A beam in space needs more than its fields: matrices, what crosses.
# too_large CODE TEXT: how the run ends on two
too_large()
{
    bytes=$("$BINNACLE" check $case --json 2>/dev/null | tr -d '\n' | sed 's/.*"device_bytes": *\([0-9]*\).*/\1/')
    ok "$case: check tells the bytes" test "$bytes" -gt 1000
    limit=$((bytes * 3 / 4))
    expect 3 'on 2 such devices' "$case: too large for one device: how many it takes" \
        env BINNACLE_DEVICE_BYTES=$limit "$BINNACLE" run $case --out "$work/big" --quiet
    rm -rf "${work:?}/big"
    expect "$1" "$2" "$case: and on two it runs" \
        env BINNACLE_DEVICE_BYTES=$limit BINNACLE_PARTITION=2 "$BINNACLE" run $case --device all --out "$work/big"
}
case=data/cases/maxwell/selftest-two-pass.toml
too_large 4 'not converged'
expect 3 'on 2 such devices' 'but one box is whole on one of them' \
    env BINNACLE_DEVICE_BYTES=$limit BINNACLE_PARTITION=2 "$BINNACLE" run $case --device all --boxes 1 --out "$work/one-box" --quiet
# Lines along y that are long beside what reaches from piece to piece.
case='data/cases/bpm/selftest-space.toml --set grid.cells=330 --set grid.width=8e-5 --set walls.thickness=1e-6'
too_large 0 'ended by: '
expect 0 'does not fit, but on 2 such devices' 'check says it, too' \
    env BINNACLE_DEVICE_BYTES=$((bytes - 1)) "$BINNACLE" check $case
expect 0 ': fits' 'and where there is just enough' env BINNACLE_DEVICE_BYTES=$bytes "$BINNACLE" check $case

# Of several GPUs, here parts of a CPU, a run takes as many as shorten a step, unless they are listed.
# taken N SELECTOR KEY=VALUE: how many
taken()
{
    rm -rf "$work/taken"
    env BINNACLE_DEVICE_TYPE=gpu BINNACLE_PARTITION=2 "$BINNACLE" run data/cases/maxwell/selftest-two-pass.toml --device "$2" --set "$3" \
        --steps 1 --out "$work/taken" --quiet --set output.pictures=false >"$work/log" 2>&1
    grep -q "\"devices\": $1," "$work/taken/summary.json"
}
ok 'a large grid takes both GPUs' taken 2 gpu 'grid.cells=[64,64,64]'
ok 'a small one takes one' taken 1 gpu 'grid.cells=[6,7,29]'
ok '... and says why' grep -q '"selected_because": "so many of the GPUs as shorten a step' "$work/taken/summary.json"
ok '... unless both are listed' taken 2 0,1 'grid.cells=[6,7,29]'

# Fewer cells than devices; fewer boxes than devices.
expect 1 'cut into 60 boxes' 'a grid that is too small for so many devices' \
    env BINNACLE_PARTITION=60 "$BINNACLE" run data/cases/flood/selftest.toml --device all --out "$work/small" --quiet
expect 1 '2 boxes for 3 devices' 'fewer boxes than devices' \
    env BINNACLE_PARTITION=3 "$BINNACLE" run data/cases/flood/selftest.toml --device all --boxes 2 --out "$work/small" --quiet

# A rank that dies ends the job.
if [ $mpi = yes ]; then
    # The others have a second to speak before mpirun kills them: too short on a busy machine.
    env OMPI_MCA_odls_base_sigkill_timeout=5 mpirun -n 4 "$BINNACLE" run data/cases/flood/selftest.toml $flood --out "$work/dying" --quiet --checkpoint-every 5 \
        --set stop.steps=1000000 --set output.every=0 >"$work/dying.log" 2>&1 </dev/null &
    job=$!
    wait_for "$work/dying/checkpoint/manifest.json"
    sleep 2
    victim=$(processes_with "run data/cases/flood/selftest.toml $flood --out $work/dying" | tail -n 1)
    started=$(date +%s)
    kill -KILL "$victim"
    wait $job
    code=$?
    ok 'a dead rank ends the job with a failure' test $code != 0
    ok 'and does not hang' test $(($(date +%s) - started)) -le 60
    ok 'which names the rank' grep -Eq 'rank [0-9]' "$work/dying.log"
    ok 'and the last checkpoint' grep -q 'the last checkpoint is that of step [1-9]' "$work/dying.log"
fi
finish
