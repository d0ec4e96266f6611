# %% [markdown]
# # A flood map
# A dam breaks in a valley, whose heights come from a GeoTIFF: largest depth, and when the water came.

# %%
import numpy as np

import binnacle as bn

run = bn.run("flood/valley", steps=60)
run

# %% [markdown]
# Fields have coordinates of the map; the largest depth in each cell and the time of arrival are among them.

# %%
depth, arrival = run["depth_max"].read(), run["arrival"].read()
came = (depth > 0.1) & (arrival > 0)
spacing = 2.0
print(f"{came.sum() * spacing**2 / 1e4:.2f} ha were reached within {run.state.time:.0f} s; deepest {depth.max():.1f} m")
assert run.state.time == 60 and came.any()
# Rounding of 60 s in single precision; the water that left is counted.
assert abs(run.results["mass_error"]) < 1e-4
assert np.all(arrival[came] <= 60)
run["depth_max"]
