# %% [markdown]
# # A lid-driven cavity against Ghia, Ghia and Shin
# The velocity on the vertical centre line of a unit square whose lid moves, at Re = 100, beside the table of 1982.

# %%
import numpy as np

import binnacle as bn

# J. Comput. Phys. 48 (1982) 387, table I: y, u
GHIA = np.array(
    [
        (0.9766, 0.84123),
        (0.9688, 0.78871),
        (0.9609, 0.73722),
        (0.9531, 0.68717),
        (0.8516, 0.23151),
        (0.7344, 0.00332),
        (0.6172, -0.13641),
        (0.5000, -0.20581),
        (0.4531, -0.21090),
        (0.2813, -0.15662),
        (0.1719, -0.10150),
        (0.1016, -0.06434),
        (0.0703, -0.04775),
        (0.0625, -0.04192),
        (0.0547, -0.03717),
    ]
)

# %%
run = bn.run("flow/cavity-re100")
run

# %% [markdown]
# The profile, read from the field where it lies: component 0 of the velocity, the middle column.

# %%
velocity = run["velocity"]
y = velocity.coordinates["y"]
u = velocity[0, :, velocity.shape[2] // 2]
error = np.abs(np.interp(GHIA[:, 0], y, u) - GHIA[:, 1])
print(f"largest difference to the table: {error.max():.4f}")
# The table is up to 0.0049 off the solution that finer grids converge to, these nodes up to 0.0015.
assert error.max() < 0.0064

# %%
try:
    import matplotlib.pyplot as plt

    plt.plot(u, y, label="binnacle")
    plt.plot(GHIA[:, 1], GHIA[:, 0], "o", label="Ghia, Ghia, Shin 1982")
    plt.xlabel("u [m/s]")
    plt.ylabel("y [m]")
    plt.legend()
except ImportError:
    pass
