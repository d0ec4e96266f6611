# %% [markdown]
# # A splitter that designs itself
# Light of one guide has to go to two others, 10 um apart, within 100 um. Which index between 1.45 and 1.47 does each of
# 7,600 pixels between them take? The adjoint equations give the slope of the result by all of them for the price of
# some two more runs, and a plain ascent follows it.

# %%
import numpy as np

import binnacle as bn

ROWS, COLUMNS, LOW, HIGH = 100, 120, 1.45, 1.47
GUIDE = {"index": HIGH, "width": "3 um"}
case = bn.Case(
    {
        "case": {"solver": "bpm", "title": "A splitter"},
        "grid": {"cells": 200, "width": "24 um"},
        "light": {"wavelength": "1.55 um"},
        "material": {"index": LOW, "reference_index": 1.455, "map": np.full((ROWS, COLUMNS), LOW)},
        "structure": [
            {**GUIDE, "to": "10 um"},
            {**GUIDE, "from": "110 um", "centre": "7 um"},
            {**GUIDE, "from": "110 um", "centre": "17 um"},
        ],
        "march": {"length": "120 um", "dz": "0.5 um", "records": 120},
        "walls": {"kind": "pml"},
    }
)

# %% [markdown]
# What is wanted at the end: the mode of the guide at the begin, halved, at both places. F is the share of the power that
# has this form, |sum of conj(wanted) psi|^2; its slopes follow from it.

# %%
with bn.Simulation(case) as sim:
    mode = sim["envelope"].read().astype(complex).ravel()
    y = sim["envelope"].coordinates["x"]  # along a beam in a plane, x of the grid is its y
wanted = sum(np.interp(y + away, y, np.abs(mode), 0, 0) for away in (-5e-6, 5e-6))
wanted /= np.linalg.norm(wanted) * np.linalg.norm(mode)


def split(sim):
    psi = sim["envelope"].read()
    overlap = np.sum(wanted * psi)
    return abs(overlap) ** 2, {"envelope": 2 * overlap * wanted.reshape(psi.shape)}


# %% [markdown]
# Between the bounds by a smooth step; beside the guides at both ends, where the mode that enters would change, and in the
# absorbing layers at the walls, which belong into one medium, the index stays. Then Adam's ascent (Kingma and Ba 2015): steps of each pixel after the mean of
# its slopes over the root of the mean of their squares.

# %%
x, first, second = np.zeros((ROWS, COLUMNS)), 0.0, 0.0
free = np.zeros((ROWS, COLUMNS))
free[12:88, 10:110] = 1
shares, pictures = [], []
for iteration in range(1, 51):
    step = 1 / (1 + np.exp(-x))
    index = LOW + (HIGH - LOW) * step * free
    with bn.Simulation(case.with_keys({"material.map": index})) as sim:
        sim.step(None)
        share, slope = bn.gradient(sim, split)
        if iteration in (1, 50):
            pictures.append(sim.results().maps["intensity"])
    shares.append(share)
    slope = slope * (HIGH - LOW) * step * (1 - step) * free
    first = 0.8 * first + 0.2 * slope
    second = 0.95 * second + 0.05 * slope**2
    x = x + 0.3 * (first / (1 - 0.8**iteration)) / (np.sqrt(second / (1 - 0.95**iteration)) + 1e-12)
print(f"share in the two guides: {shares[0]:.4f}, after 50 iterations {shares[-1]:.4f}")
print(f"gained: {10 * np.log10(shares[-1] / shares[0]):.1f} dB")
assert 2 * shares[0] < shares[-1] < 1

# %%
try:
    import matplotlib.pyplot as plt

    figure, ((a, b), (c, d)) = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
    a.plot(range(1, 51), 10 * np.log10(shares))
    a.set(xlabel="iteration", ylabel="share in the two guides [dB]", title="Convergence")
    b.imshow(index, origin="lower", extent=(0, 120, 0, 24), aspect="auto", cmap="cividis")
    b.set(xlabel="z [µm]", ylabel="y [µm]", title="Index, 1.45 to 1.47")
    for axes, shown, title in ((c, pictures[0], "|E|², first"), (d, pictures[1], "|E|², last")):
        axes.imshow(shown.values, origin="lower", extent=(0, 120, 0, 24), aspect="auto", cmap="viridis")
        axes.set(xlabel="z [µm]", ylabel="y [µm]", title=title)
except ImportError:
    pass
