#!/bin/sh
# endurance.sh: a run of SECONDS_LONG (1200), see tests/kills/endurance.py.
exec python3 tests/kills/endurance.py "${SECONDS_LONG:-1200}"
