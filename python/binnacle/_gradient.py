"""Gradients of what a simulation ends with, by the adjoint equations of its scheme."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ._case import CaseLike
from ._library import UsageError, Watch, ffi, lib
from ._simulation import WATCH_SECONDS, Run, Simulation

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Slopes", "gradient"]

# A number that follows from fields, and its slopes by field: dF/d(real part) + i dF/d(imaginary part) of every value.
Slopes = Callable[[Any], "tuple[float, Mapping[str, NDArray[Any]]]"]


def gradient(
    of: Union[Simulation, Run, CaseLike], result: Union[str, Slopes], device: str | int | None = None
) -> tuple[float, NDArray[np.float64]]:
    """A number F and its gradient dF/dn with respect to the refractive index of every value of the case's index map
    (`material.map` of bpm, `structure.map` of maxwell), in the shape of the map.

    of: a simulation or run at its end; or a case, which is run to its end on `device`.
    result: the name of a result ("port_1", "overlap_mode", "reflectance"), or a function of the simulation that gives
        F and its slopes with respect to fields: {"E": dF/d(real part) + 1j dF/d(imaginary part)}.

    It costs about two more runs (bpm) or one (maxwell), whatever the number of values. docs/python.md has an example.
    """
    if not isinstance(of, (Simulation, Run)):
        with Simulation(of, device) as own:
            own.step(None)
            return gradient(own, result)
    sim: Union[Simulation, Run] = of
    pointer, context = sim._pointer(), sim._context
    n = ffi.new("unsigned[3]")
    if not lib.bn_sim_map(pointer, n):
        raise UsageError(f"{sim.case!r} has no index map (material.map, structure.map) to derive by")
    shape = (n[2], n[1], n[0]) if n[2] > 1 or sim.case.solver == "maxwell" else (n[1], n[0])
    total, part = np.zeros(shape), np.empty(shape)
    slopes: Mapping[str, Any]
    if isinstance(result, str):
        value, slopes = float((sim.results() if isinstance(sim, Simulation) else sim.results)[result]), {result: None}
    else:
        value, slopes = result(sim)
    for name, given in slopes.items():
        pairs: Any = ffi.NULL
        if given is not None:
            wanted = sim[name].shape
            if np.shape(given) != wanted:
                raise UsageError(f"the slopes of {name} have the shape {np.shape(given)}, the field {wanted}")
            numbers = np.ascontiguousarray(given, dtype=np.complex128)
            pairs = ffi.from_buffer("double[]", numbers.view(np.float64))
        watch = Watch(None, WATCH_SECONDS)
        with context.lock:
            status = lib.bn_sim_gradient(
                pointer, name.encode(), pairs, watch.pointer, ffi.from_buffer("double[]", part)
            )
            if watch.error is not None:
                lib.bn_error_clear(context.pointer)
                raise watch.error
            context.check(status)
        total += part
    return float(value), total
