"""Binnacle: flow, light, X-rays, floods and beams on any OpenCL device.

    import binnacle as bn

    case = bn.Case("flow/cavity-re1000", {"grid.nodes": [129, 129]})
    run = bn.run(case, device="gpu")
    run.results["psi_min"], run.series, run.fields["omega"]

docs/python.md has the rest.
"""

from ._case import Case, cases, solvers
from ._fields import Field
from ._gradient import gradient
from ._library import (
    BinnacleError,
    CaseError,
    Device,
    DeviceError,
    Diagnostic,
    DivergedError,
    FileError,
    InterruptedRun,
    MismatchError,
    UsageError,
    devices,
    version,
)
from ._results import Map, Quantity, Results, picture
from ._simulation import Run, Simulation, State, run
from ._sweep import sweep

__version__ = version()
__all__ = [
    "BinnacleError",
    "Case",
    "CaseError",
    "Device",
    "DeviceError",
    "Diagnostic",
    "DivergedError",
    "Field",
    "FileError",
    "InterruptedRun",
    "Map",
    "MismatchError",
    "Quantity",
    "Results",
    "Run",
    "Simulation",
    "State",
    "UsageError",
    "cases",
    "devices",
    "gradient",
    "picture",
    "run",
    "solvers",
    "sweep",
    "version",
]
