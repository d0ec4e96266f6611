# %% [markdown]
# # Scattering of X-rays by a suspension
# Balls at random places and photons one after the other: I(q) beside the Fourier transform of the projected density,
# which holds where photons scatter once at small angles.

# %%
import tempfile
from pathlib import Path

import numpy as np

import binnacle as bn

RADIUS, CELL, CELLS = 20e-9, 2e-9, 96
rng = np.random.default_rng(4)
axis = (np.arange(CELLS) + 0.5) * CELL
inside = np.zeros((CELLS,) * 3, dtype=bool)
for centre in rng.uniform(RADIUS, CELLS * CELL - RADIUS, (12, 3)):
    z, y, x = (np.square(axis - c) for c in centre)
    inside |= z[:, None, None] + y[None, :, None] + x[None, None, :] < RADIUS**2

# %% [markdown]
# The density goes to the solver as a file of VTK.

# %%
folder = Path(tempfile.mkdtemp())
with open(folder / "suspension.vtk", "wb") as file:
    file.write(
        f"# vtk DataFile Version 3.0\nballs\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS {CELLS + 1} {CELLS + 1} "
        f"{CELLS + 1}\nORIGIN 0 0 0\nSPACING {CELL} {CELL} {CELL}\nCELL_DATA {CELLS**3}\nSCALARS density float 1\n"
        "LOOKUP_TABLE default\n".encode()
    )
    file.write((5e-3 * inside).astype(">f4").tobytes())
case = bn.Case(
    {
        "case": {"solver": "xray", "title": "A suspension"},
        "density": {"kind": "file", "file": str(folder / "suspension.vtk")},
        "source": {"wavelength": "0.1 nm", "photons": 2e7},
        "scattering": {"theta_max": 0.012},
        "detector": {"cells": [128, 128], "cell_angle": 1.5e-4, "beam_stop": 2},
        "solver": {"estimator": "expected", "samples": 64},
    }
)
run = bn.run(case)
rings = run.results.tables["rings"]
q, found = np.array(rings["q"]), np.array(rings["photons in phase"])
run.results

# %% [markdown]
# Rings of the Fourier transform. What photons add to it is a floor: each of them alone has no phase to another.

# %%
PADDED = 1024
power = np.abs(np.fft.fft2(inside.sum(axis=2), (PADDED, PADDED))) ** 2
along = 2 * np.pi * np.fft.fftfreq(PADDED, CELL)
distance = np.hypot(along[:, None], along[None, :])
edges = np.append(q - (q[1] - q[0]) / 2, q[-1] + (q[1] - q[0]) / 2)
expected = np.histogram(distance, edges, weights=power)[0] / np.histogram(distance, edges)[0]

seen = (q * RADIUS > 1) & (q * RADIUS < 4)
(scale, floor), *_ = np.linalg.lstsq(np.stack([expected[seen], np.ones(seen.sum())], axis=1), found[seen], rcond=None)
off = found[seen] / (scale * expected[seen] + floor) - 1
for x, a, b in zip(q * RADIUS, found, scale * expected + floor):
    print(f"qR = {x:5.2f}: {a:8.4f}, by the Fourier transform {b:8.4f}")
print(f"rms of the difference: {100 * np.sqrt(np.mean(off**2)):.1f} %")
assert np.sqrt(np.mean(off**2)) < 0.1
