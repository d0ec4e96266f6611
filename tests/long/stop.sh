#!/bin/sh
# stop.sh: tests/cli/stop.sh at ten random moments for each solver, with the time that the end took.
MOMENTS=${MOMENTS:-10} exec sh tests/cli/stop.sh
