"""wheel.py: the installed Python package: the bits of the reference in a case of every solver, and a run with its files."""

import pathlib
import sys

import numpy as np

import binnacle as bn

for name in ("flow/cavity-re100", "maxwell/selftest", "xray/selftest", "flood/floor", "bpm/slab"):
    fields = []
    for device in (None, "reference"):
        with bn.Simulation(name, device=device) as sim:
            sim.step(2)
            fields.append({field: sim[field][...] for field in sim if sim[field].output})
    for field, values in fields[0].items():
        assert np.array_equal(values, fields[1][field], equal_nan=True), f"{name}: {field} differs from the reference"
run = bn.run("bpm/slab", out="out/wheel", force=True)
assert list(pathlib.Path("out/wheel/pictures").glob("*.png")), "no pictures"
print(sys.version.split()[0], np.__version__, run)
