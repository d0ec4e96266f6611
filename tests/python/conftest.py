import os
from collections.abc import Iterator

import pytest

import binnacle as bn


@pytest.fixture(scope="session")
def room() -> bn.Case:
    """A small room with a warm wall and a moving lid."""
    return bn.Case(
        {
            "case": {"solver": "flow", "title": "A <room>"},
            "grid": {"nodes": [17, 21], "size": ["1.6 m", "2 m"]},
            "fluid": {"viscosity": "1e-2 m2/s", "diffusivity": 1e-2, "buoyancy": 1},
            "boundary": {"left": {"heat": "given", "temperature": 1}, "top": {"speed": 1}},
            "time": {"dt": 0.01},
            "stop": {"steps": 40},
            "output": {"series_every": 4},
        }
    )


@pytest.fixture
def sim(room: bn.Case) -> Iterator[bn.Simulation]:
    with bn.Simulation(room) as simulation:
        yield simulation


# Kernels of a device that nobody has tested yet are compiled for the self-test, which the program's own tests do.
os.environ.setdefault("BINNACLE_SELFTEST", "off")
