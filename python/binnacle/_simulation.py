"""Simulations that are stepped, and runs from beginning to end."""

from __future__ import annotations

import html
import os
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from ._case import Case, CaseLike
from ._fields import Field, Fields
from ._library import BinnacleError, Context, DivergedError, InterruptedRun, Watch, ffi, lib, program
from ._results import Results, table_of

__all__ = ["Progress", "Run", "Simulation", "State", "run"]

WATCH_SECONDS = 0.1  # between looks at signals, and calls of progress


class State(NamedTuple):
    """Where a simulation is."""

    step: int
    time: float  #: simulated time [s], or the coordinate that steps go along (z of a beam [m])
    residual: float  #: the solver's measure of change; NaN where it has none
    updates: int  #: cells, photons or points so far
    converged: bool
    complete: bool  #: the solver has come to the end of what the case describes


def _state(now: Any) -> State:
    return State(now.step, now.time, now.residual, now.items, bool(now.converged), bool(now.complete))


# What is told of progress: the state, and estimated seconds to the end (NaN: not known). False ends the run.
Progress = Callable[[State, float], Optional[bool]]


def _release(context: Context, sim: Any, device: Any, case: Any) -> None:
    with context.lock:
        lib.bn_sim_destroy(ffi.new("bn_sim **", sim))
        lib.bn_device_close(ffi.new("bn_device **", device))
        lib.bn_case_destroy(ffi.new("bn_case **", case))
        context.close()


class _Stepped:
    """What simulations and runs have in common: both can be stepped, and their fields read and written."""

    def _begin(self, case: CaseLike, device: str | int | None) -> None:
        self.case = case if isinstance(case, Case) else Case(case)
        self._context = Context()
        self._native_case: Any = ffi.NULL
        self._device: Any = ffi.NULL
        self._sim: Any = ffi.NULL
        try:
            self._native_case = self.case.parse(self._context)
            self._device = self._context.open(device)
        except BaseException:
            self._own()
            self.close()
            raise

    def _own(self) -> None:
        """From now on everything is released together."""
        self._finalizer = weakref.finalize(self, _release, self._context, self._sim, self._device, self._native_case)
        self._fields: dict[str, Field] = {}
        if not self._sim:
            return
        me = weakref.ref(self)

        def pointer() -> Any:
            alive = me()
            if alive is None:
                raise BinnacleError("the simulation is gone")
            return alive._pointer()

        for i in range(lib.bn_sim_field_count(self._sim)):
            field = Field(self._context, pointer, lib.bn_sim_field_at(self._sim, i))
            self._fields[field.name] = field

    def _description(self, boxes: int, resume: str | os.PathLike[str] | None) -> dict[str, Any]:
        self._resume = ffi.new("char[]", os.fspath(resume).encode()) if resume is not None else ffi.NULL
        return {"device": self._device, "boxes": boxes, "resume": self._resume, "tuned": True}

    def _pointer(self) -> Any:
        if not self._finalizer.alive:
            raise BinnacleError("the simulation is closed")
        return self._sim

    def close(self) -> None:
        """Releases the memory of device and host. Twice does no harm."""
        self._finalizer()

    def __exit__(self, *of: object) -> None:
        self.close()

    # --- steps ---

    @property
    def state(self) -> State:
        return _state(lib.bn_sim_now(self._pointer()))

    @property
    def done(self) -> bool:
        """Converged, complete, or at the end that the case says."""
        return bool(lib.bn_sim_done(self._pointer()))

    def step(self, steps: int | None = 1, progress: Progress | None = None) -> None:
        """So many steps, also beyond the end that the case says; None: up to there. The keyboard's interruption, or
        False from `progress`, ends after a step, and the simulation can be stepped on."""
        if steps is not None and steps < 1:
            if steps < 0:
                raise ValueError("steps are counted forwards")
            return
        sim = self._pointer()
        if steps == 1 and progress is None:  # nothing to be asked on the way
            with self._context.lock:
                status = lib.bn_sim_advance(sim, 1, ffi.NULL)
                if status or self._context.said:
                    self._context.check(status)
            return
        tell = None if progress is None else lambda now, left: progress(_state(now[0]), left)
        watch = Watch(tell, WATCH_SECONDS)
        with self._context.lock:
            status = lib.bn_sim_advance(sim, steps or 0, watch.pointer)
            if watch.error is not None:
                lib.bn_error_clear(self._context.pointer)
                raise watch.error
            self._context.check(status)

    # --- what there is to read ---

    def __getitem__(self, name: str) -> Field:
        try:
            return self._fields[name]
        except KeyError:
            raise KeyError(f"{self.case.solver} has no field {name}; there are {', '.join(self._fields)}") from None

    def __setitem__(self, name: str, values: Any) -> None:
        field = self[name]
        if values is not field:  # `sim[name] += values` has added already
            field[...] = values

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    @property
    def fields(self) -> Fields:
        """Copies of the fields with coordinates and units."""
        return Fields(self._fields)

    @property
    def series(self) -> Any:
        """Step, time, residual and the solver's columns after the last step; of a run all rows. A pandas.DataFrame, or
        a dictionary of arrays without pandas."""
        columns, count, rows = ffi.new("const bn_column **"), ffi.new("size_t *"), ffi.new("size_t *")
        with self._context.lock:
            self._context.check(lib.bn_sim_series(self._pointer(), columns, count, rows))
            return table_of(columns[0], count[0], rows[0])

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes a checkpoint of the present state into a folder."""
        with self._context.lock:
            self._context.check(lib.bn_sim_save(self._pointer(), os.fspath(folder).encode()))

    def __repr__(self) -> str:
        if not self._finalizer.alive:
            return f"<binnacle.{type(self).__name__} of {self.case!r}, closed>"
        return f"<binnacle.{type(self).__name__} of {self.case!r}, step {self.state.step}>"


class Simulation(_Stepped):
    """A case that is stepped by its owner, who reads and writes its fields in between.

    case: a Case, or what makes one.
    device: as the program's --device: None or "auto", an index, "gpu", part of a name, "0,1"; "reference" computes on
        the CPU without OpenCL.
    resume: a checkpoint to go on from, its folder or manifest.

    Close it, or use it as a context manager: it holds memory of the device. Calls may come from any thread, one at a
    time; simulations in different threads do not wait for each other, and give the bits that they give alone.
    """

    def __init__(
        self,
        case: CaseLike,
        device: str | int | None = None,
        *,
        boxes: int = 0,
        resume: str | os.PathLike[str] | None = None,
    ) -> None:
        self._begin(case, device)
        out = ffi.new("bn_sim **")
        try:
            with self._context.lock:
                self._context.check(
                    lib.bn_sim_create(
                        self._context.pointer,
                        self._native_case,
                        ffi.new("bn_sim_desc *", self._description(boxes, resume)),
                        out,
                    )
                )
        finally:
            self._sim = out[0]
            self._own()

    def __enter__(self) -> Simulation:
        return self

    def results(self) -> Results:
        """Measures the present state."""
        sim = self._pointer()
        with self._context.lock:
            self._context.check(lib.bn_sim_measure(sim))
            return Results(lib.bn_sim_results(sim))


class Run(_Stepped):
    """What came of a run: `results`, `series`, and the fields at its end; it can be stepped on."""

    out: str | None  #: the output directory
    seconds: float  #: how long it took
    error: BinnacleError | None  #: why it did not come to its end
    results: Results

    def __init__(self) -> None:
        raise TypeError("binnacle.run() makes runs")

    def __enter__(self) -> Run:
        return self

    def __repr__(self) -> str:
        return f"<binnacle.Run of {self.case!r}, {self.state.step} steps in {self.seconds:.3g} s>\n{self.results!r}"

    def _repr_html_(self) -> str:
        """A card: what was run, what came of it, and a picture."""
        import base64

        shown = next((f for f in self._fields.values() if f.output and len(f.dims) > 1 and f.writable), None)
        picture = ""
        if shown is not None and self._finalizer.alive:
            data = base64.b64encode(shown.picture()).decode()
            picture = f'<img style="max-width:32em" alt="{html.escape(shown.name)}" src="data:image/png;base64,{data}">'
        head = html.escape(self.case.title or self.case.path)
        end = html.escape(str(self.error)) if self.error else "to its end"
        state = f"step {self.state.step}, {end}" if self._finalizer.alive else end
        return (
            f"<div><b>{head}</b> ({self.case.solver}): {state}, {self.seconds:.3g} s"
            f'<div style="display:flex;gap:1em">{self.results._repr_html_()}{picture}</div></div>'
        )


class _Line:
    """Progress as one rewritten line on the terminal or in a notebook."""

    def __init__(self) -> None:
        self._shown = 0.0
        self._wide = 0

    def __call__(self, now: State, left: float) -> None:
        at = time.monotonic()
        if at - self._shown < 0.5:
            return
        self._shown = at
        line = f"step {now.step}  {now.time:.5g}"
        line += f"  residual {now.residual:.2e}" if np.isfinite(now.residual) else ""
        line += f"  left {left:.0f} s" if np.isfinite(left) else ""
        sys.stderr.write("\r" + line.ljust(self._wide))
        sys.stderr.flush()
        self._wide = len(line)

    def end(self) -> None:
        if self._wide:
            sys.stderr.write("\r" + " " * self._wide + "\r")
            sys.stderr.flush()


def run(
    case: CaseLike,
    device: str | int | None = None,
    out: str | os.PathLike[str] | None = None,
    *,
    steps: int = 0,
    force: bool = False,
    boxes: int = 0,
    resume: str | os.PathLike[str] | None = None,
    progress: Union[Progress, bool, None] = None,
) -> Run:
    """Runs a case to its end, as the program does.

    device: as for Simulation. out: the output directory, with all that the program writes; None: no file is written.
    steps: end after so many at most; 0: where the case says. force: overwrite a finished run in `out`. resume: go on
    from this checkpoint. progress: True: a line that is rewritten, also within Jupyter; a function of State and of the
    seconds left, which ends the run by returning False; None: a line where somebody looks.

    DivergedError and InterruptedRun have what came of it as `run`. After the keyboard's interruption what was written
    stays, with a checkpoint to go on from.
    """
    self = Run.__new__(Run)
    self.out = None if out is None else os.fspath(out)
    self.error = None
    self._begin(case, device)
    line = None
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    if progress is True:
        progress = line = _Line()
    tell = None if progress is False else lambda now, left: progress(_state(now[0]), left)
    watch = Watch(tell, WATCH_SECONDS)
    tests = program()
    keep = [ffi.new("char[]", text.encode()) if text else ffi.NULL for text in (self.out, tests)]
    options = ffi.new(
        "bn_run_options *",
        {
            "sim": self._description(boxes, resume),
            "out": keep[0],
            "force": force,
            "steps": steps,
            "watch": watch.pointer[0],
            "program": keep[1],
        },
    )
    sim = ffi.new("bn_sim **")
    began = time.monotonic()
    with self._context.lock:
        status = lib.bn_run(self._context.pointer, self._native_case, options, sim)
        self.seconds = time.monotonic() - began
        self._sim = sim[0]
        self._own()
        if line is not None:
            line.end()
        if watch.error is not None:
            self.close()
            raise watch.error
        if self._sim:
            self.results = Results(lib.bn_sim_results(self._sim))
        try:
            self._context.check(status)
        except (DivergedError, InterruptedRun) as error:
            if self._sim:
                self.error = error
                error.run = self
            raise
        except BaseException:
            self.close()
            raise
    return self
