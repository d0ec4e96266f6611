#!/bin/sh
# gallery.sh: the pictures of README and documents, drawn anew into docs/pictures: a starter of every solver, and the figure in
# which each tutorial ends.
#   sh gallery.sh build/binnacle
set -eu
program=$1 out=out/gallery
mkdir -p docs/pictures

# draw NAME PICTURE CASE [OPTION...]: runs a case; its last picture of that name becomes docs/pictures/NAME.png.
draw()
{
    name=$1 picture=$2 case=$3
    shift 3
    "$program" run "data/cases/$case.toml" --out "$out/$name" --force --quiet --set output.animation=false "$@"
    cp "$(ls "$out/$name/pictures/$picture"*.png | tail -n 1)" "docs/pictures/$name.png"
}

draw flow temperature- flow/starter
draw flood depth-000032 flood/starter
draw maxwell E maxwell/starter
draw xray detector xray/starter
draw bpm intensity bpm/starter
draw tutorial-flow psi- flow/cavity-re1000 --set solver.steady=newton --set solver.steady_tolerance=1e-9
draw tutorial-maxwell spectrum maxwell/stack-600nm --set 'light.wavelength=450 nm' --set 'light.until=750 nm' --set light.count=31 \
    --set solver.epsilon=1e-6
draw tutorial-xray cut xray/double-slit-expected
draw tutorial-bpm intensity bpm/mmi
draw tutorial-hazard hazard_max-storey1 flood/house --set output.every=0
draw tutorial-flood depth flood/stoker
