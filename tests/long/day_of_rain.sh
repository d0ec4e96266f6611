#!/bin/sh
# day_of_rain.sh: an hour of rain and the run-off of a day (flood/valley-rain, single precision, 175,000 time steps): no water is
# lost, and it runs off as it should. Some five minutes of processors' time.
. tests/cli_lib.subr
ok 'a day' "$BINNACLE" run data/cases/flood/valley-rain.toml --quiet --out "$work/rain"
ok 'where the water is' python3 -c '
import csv, json, math, sys
r = json.load(open(sys.argv[1] + "/summary.json"))["results"]
# 60 mm on every hexagon, in straight lines of time that an interval takes the mean of: 2^-24 for rates in single precision.
cell = 4**2 * math.sqrt(0.75)
assert abs(r["volume_rained"] / (0.06 * 158 * 114 * cell) - 1) < 2**-24, r
# Sums of each cell are compensated: what is left is their last digit.
lost = 1 - (r["volume"] + r["volume_soaked"] + r["volume_left"]) / r["volume_rained"]
assert abs(lost) < 2**-24 and abs(r["mass_error"] + lost) < 1e-12, (lost, r)
rows = list(csv.DictReader(open(sys.argv[1] + "/gauges.csv")))
time, outlet = [[float(row[k]) for row in rows] for k in ("time [s]", "outlet [m]")]
peak = max(range(len(rows)), key=outlet.__getitem__)
# The stream is highest after the rain was (20 min), and before it ends; in the evening its bed is dry.
assert len(rows) == 1440 and 1200 < time[peak] < 3600 and outlet[peak] > 0.1 and outlet[-1] < 0.01, (time[peak], outlet[peak], outlet[-1])
print(lost, time[peak], outlet[peak])' "$work/rain"
finish
