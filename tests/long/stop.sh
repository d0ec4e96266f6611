#!/bin/sh
# stop.sh: tests/cli/stop.sh at ten random moments for each solver, with the time that the end took: on a machine that does nothing
# else, since a checkpoint and the fields are written in it.
MOMENTS=${MOMENTS:-10} exec sh tests/cli/stop.sh
