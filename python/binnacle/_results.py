"""What a run found: numbers with units, tables, maps, texts."""

from __future__ import annotations

import html
import math
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._library import Context, ffi, lib, text_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Map", "Quantity", "Results", "picture", "table_of"]


class Quantity(float):
    """A number with its unit (SI) and what it is; computes as a float. `expected`: what the case states as known."""

    unit: str
    help: str
    expected: float | None

    def __new__(cls, value: float, unit: str = "", help: str = "", expected: float | None = None) -> Quantity:
        self = super().__new__(cls, value)
        self.unit = unit
        self.help = help
        self.expected = expected
        return self

    def __getnewargs__(self) -> tuple[float, str, str, float | None]:  # type: ignore[override]  # for pickle
        return float(self), self.unit, self.help, self.expected

    def __repr__(self) -> str:
        return f"{float(self)!r} {self.unit}".rstrip()

    __str__ = __repr__


def table_of(columns: Any, count: int, rows: int) -> Any:
    """Columns of the library as a pandas.DataFrame whose `attrs["units"]` has their units; without pandas a dictionary
    of arrays."""
    data = {
        text_of(columns[c].name): np.frombuffer(ffi.buffer(columns[c].values, 8 * rows), dtype=np.float64).copy()
        if rows
        else np.empty(0)
        for c in range(count)
    }
    try:
        import pandas
    except ImportError:
        return data
    frame = pandas.DataFrame(data)
    frame.attrs["units"] = {text_of(columns[c].name): text_of(columns[c].unit) for c in range(count)}
    return frame


def picture(
    values: Any,
    *,
    name: str = "",
    title: str = "",
    unit: str = "",
    axes: tuple[str, str] = ("x", "y"),
    origin: tuple[float, float] = (0.0, 0.0),
    spacing: tuple[float, float] = (1.0, 1.0),
    cells: bool = True,
    limits: tuple[float, float] | None = None,
    path: str | Path | None = None,
) -> bytes:
    """A picture of values in a plane as PNG, as the program draws its own; rows go upwards. With `path` also a file."""
    plane = np.ascontiguousarray(values, dtype=np.float64)
    if plane.ndim != 2:
        raise ValueError(f"a picture has two axes, not {plane.ndim}")
    low, high = limits or (0.0, 0.0)
    keep = [ffi.new("char[]", text.encode()) for text in (name, title, unit, *axes)]
    shown = ffi.new(
        "bn_map *",
        {
            "name": keep[0],
            "title": keep[1],
            "quantity": keep[0],
            "unit": keep[2],
            "axes": keep[3:],
            "n": [plane.shape[1], plane.shape[0]],
            "origin": list(origin),
            "h": list(spacing),
            "values": ffi.from_buffer("double[]", plane),
            "low": low,
            "high": high,
            "cells": cells,
        },
    )
    context = Context()
    try:
        with tempfile.TemporaryDirectory() as folder:
            to = Path(path) if path else Path(folder, "picture.png")
            context.check(lib.bn_map_draw(context.pointer, shown, str(to).encode()))
            return to.read_bytes()
    finally:
        context.close()


@dataclass(frozen=True)
class Map:
    """A picture of what a run found that is no field of its grid: values over two axes."""

    name: str
    title: str
    unit: str
    axes: tuple[str, str]
    origin: tuple[float, float]
    spacing: tuple[float, float]
    values: NDArray[np.float64]

    def _repr_png_(self) -> bytes:
        return picture(
            self.values,
            name=self.name,
            title=self.title,
            unit=self.unit,
            axes=self.axes,
            origin=self.origin,
            spacing=self.spacing,
            cells=False,
        )


class Results(Mapping[str, Quantity]):
    """The scalars of a run by name, and its `tables`, `maps` and `texts`."""

    def __init__(self, results: Any) -> None:
        """Copies all of a bn_results."""
        self._scalars = {}
        for i in range(lib.bn_results_count(results)):
            info = lib.bn_results_at(results, i)
            expected = None if math.isnan(info.expected) else info.expected
            self._scalars[text_of(info.name)] = Quantity(info.value, text_of(info.unit), text_of(info.help), expected)
        self.tables: dict[str, Any] = {}
        for i in range(lib.bn_results_tables(results)):
            columns, count, rows = ffi.new("const bn_column **"), ffi.new("size_t *"), ffi.new("size_t *")
            name = text_of(lib.bn_results_table_at(results, i, columns, count, rows))
            self.tables[name] = table_of(columns[0], count[0], rows[0])
        self.maps: dict[str, Map] = {}
        for i in range(lib.bn_results_maps(results)):
            m = lib.bn_results_map_at(results, i)
            values = np.frombuffer(ffi.buffer(m.values, 8 * m.n[0] * m.n[1]), dtype=np.float64)
            self.maps[text_of(m.name)] = Map(
                text_of(m.name),
                text_of(m.title),
                text_of(m.unit),
                (text_of(m.axes[0]), text_of(m.axes[1])),
                (m.origin[0], m.origin[1]),
                (m.h[0], m.h[1]),
                values.reshape(m.n[1], m.n[0]).copy(),
            )
        self.texts: dict[str, str] = {}
        for i in range(lib.bn_results_texts(results)):
            text = ffi.new("const char **")
            name = text_of(lib.bn_results_text_at(results, i, text))
            self.texts[name] = text_of(text[0])
        self.unconverged = text_of(
            lib.bn_results_unconverged(results)
        )  #: what did not converge on the way; "": nothing

    def __getitem__(self, name: str) -> Quantity:
        return self._scalars[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scalars)

    def __len__(self) -> int:
        return len(self._scalars)

    def __repr__(self) -> str:
        return "\n".join(f"{name} = {value}" for name, value in self._scalars.items())

    def _repr_html_(self) -> str:
        rows = (
            f"<tr><td>{html.escape(name)}</td><td>{float(value):.6g}</td><td>{html.escape(value.unit)}</td>"
            f"<td>{html.escape(value.help)}</td></tr>"
            for name, value in self._scalars.items()
        )
        return f"<table>{''.join(rows)}</table>"
