# %% [markdown]
# # How long is a coupler that gives half of the light away?
# Two guides exchange their light along z. The power in the second one is a smooth function of the length: a search by
# the secant method finds where it is a half, each point a run.

# %%
import binnacle as bn

case = bn.Case("bpm/starter", {"grid.cells": 400})


def given(length):
    """The share of the power in the second guide after this length [m]."""
    with bn.run(case.with_keys({"march.length": length}), progress=False) as run:
        first, second = (float(value) for name, value in run.results.items() if name.startswith("port"))
        return second / (first + second)


# %%
lengths = [0.4e-3, 0.6e-3]
shares = [given(length) for length in lengths]
while abs(shares[-1] - 0.5) > 1e-3 and len(lengths) < 12:
    slope = (shares[-1] - shares[-2]) / (lengths[-1] - lengths[-2])
    lengths.append(min(max(lengths[-1] + (0.5 - shares[-1]) / slope, 0.1e-3), 2e-3))
    shares.append(given(lengths[-1]))
for length, share in zip(lengths, shares):
    print(f"{1e6 * length:7.1f} um: {share:.4f}")
assert abs(shares[-1] - 0.5) <= 1e-3
