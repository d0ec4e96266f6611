# %% [markdown]
# # Reflection of a thin-film cell against transfer matrices
# Glass, AZO, amorphous silicon, AZO, silver at normal incidence: Maxwell's equations on a grid beside the closed form.

# %%
import numpy as np

import binnacle as bn

# Wavelength [nm]; n and k of AZO, amorphous silicon and silver in the tables that the program has
OPTICS = {
    550: (1.8559 + 0.001658j, 4.3889 + 0.7707j, 0.0596 + 3.597j),
    600: (1.8198 + 0.00239j, 4.2760 + 0.5419j, 0.0552 + 4.01j),
    650: (1.7862 + 0.003374j, 4.1748 + 0.3708j, 0.0522 + 4.409j),
    700: (1.7533 + 0.004659j, 4.0679 + 0.2511j, 0.0410 + 4.802j),
}


def reflectance(wavelength, azo, silicon, silver):
    """Of the stack, by the product of characteristic matrices (Born and Wolf, section 1.6)."""
    product = np.eye(2)
    for n, thickness in ((azo, 500.0), (silicon, 300.0), (azo, 80.0)):
        phase = 2 * np.pi * n * thickness / wavelength
        product = product @ np.array(
            [[np.cos(phase), -1j * np.sin(phase) / n], [-1j * n * np.sin(phase), np.cos(phase)]]
        )
    electric, magnetic = product @ np.array([1, silver])
    return abs((1.5 * electric - magnetic) / (1.5 * electric + magnetic)) ** 2


# %%
table = bn.sweep("maxwell/stack-600nm", {"light.wavelength": [f"{nm} nm" for nm in OPTICS]})
expected = np.array([reflectance(nm, *indices) for nm, indices in OPTICS.items()])
found = np.array(table["reflectance"])
for nm, a, b in zip(OPTICS, found, expected):
    print(f"{nm} nm: {a:.5f}, transfer matrices {b:.5f}")
# The scheme is of second order, and a wave in silicon has 25 cells of 5 nm at 550 nm: 0.003 were measured.
assert np.abs(found - expected).max() < 0.006
