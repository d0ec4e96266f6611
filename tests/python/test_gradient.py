"""Index maps from arrays, and gradients with respect to them; the numbers themselves are tested in C."""

import numpy as np
import pytest

import binnacle as bn

INDEX = 1.45 + 0.05 * np.random.default_rng(2).random((12, 10))


@pytest.fixture(scope="module")
def guide():
    return bn.Case(
        {
            "case": {"solver": "bpm", "precision": "double"},
            "grid": {"cells": 32, "width": "6 um"},
            "material": {"index": 1.45, "reference_index": 1.46, "map": INDEX},
            "launch": {"kind": "gaussian"},
            "march": {"length": "4 um", "dz": "0.1 um", "records": 2},
            "port": [{"from": "2 um", "to": "3 um"}],
        }
    )


def test_gradient_of_a_result(guide):
    direction = np.random.default_rng(3).standard_normal(INDEX.shape)

    def port(step):
        with bn.run(guide.with_keys({"material.map": INDEX + step * direction}), progress=False) as run:
            return run.results["port_1"]

    value, slope = bn.gradient(guide, "port_1", device="reference")
    assert value == port(0) and slope.shape == INDEX.shape
    # Central differences are off by h^2 / 6 of the third derivative: 1e-8 of the value.
    assert np.sum(slope * direction) == pytest.approx((port(1e-4) - port(-1e-4)) / 2e-4, rel=1e-6)


def test_gradient_of_a_function(guide):
    with bn.run(guide, progress=False) as run:
        value, slope = bn.gradient(run, "power")
        start = np.sum(np.abs(run["envelope"].read()) ** 2) / value

        def power(sim):
            psi = sim["envelope"].read()
            return np.sum(np.abs(psi) ** 2) / start, {"envelope": 2 * psi / start}

        same, by_hand = bn.gradient(run, power)
        assert same == pytest.approx(value, rel=1e-14)
        assert np.allclose(by_hand, slope, rtol=0, atol=1e-14 * np.abs(slope).max() + 1e-15)
        with pytest.raises(bn.UsageError, match="shape"):
            bn.gradient(run, lambda sim: (0, {"envelope": np.zeros(3)}))
        with pytest.raises(bn.UsageError, match="overlap_mode"):
            bn.gradient(run, "peak")


def test_maps(guide, room):
    assert guide["material.map"] == "array material.map" and guide.maps["array material.map"].shape == INDEX.shape
    with pytest.raises(bn.CaseError, match="column 3"):
        bad = INDEX.copy()
        bad[0, 3] = 20
        bn.Simulation(guide.with_keys({"material.map": bad}))
    with bn.Simulation(room) as sim, pytest.raises(bn.UsageError, match="no index map"):
        bn.gradient(sim, "psi_min")


def test_gradient_of_a_cell_in_space():
    index = np.full((24, 3, 3), np.nan)
    index[10, 1, 1] = 1.6
    case = bn.Case(
        {
            "case": {"solver": "maxwell", "precision": "double"},
            "grid": {"cells": [3, 3, 24], "spacing": "30 nm"},
            "light": {"wavelength": "600 nm"},
            "pml": {"cells": 5},
            "structure": {"map": index},
            "solver": {"epsilon": 1e-6, "accelerate": "anderson"},
        }
    )
    with bn.run(case, progress=False) as run:
        value, slope = bn.gradient(run, "transmittance")
        assert run["n"][10, 1, 1] == 1.6 and run["n"][9, 1, 1] == 1
    assert slope.shape == index.shape and np.count_nonzero(slope) == 1 and 0.9 < value < 1
    assert slope[10, 1, 1] < 0  # a denser cell reflects more
