"""Cases: from a file, a text, a dictionary, or the name of one that comes with the program."""

from __future__ import annotations

import copy
import html
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ._library import Context, UsageError, ffi, lib, share, text_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Case", "CaseLike", "cases", "solvers"]


def toml(value: Any) -> str:
    """A value as TOML in one line: numbers, texts ("1 mm" is one), lists, mappings; numpy's too."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, Path)):
        return json.dumps(str(value))
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {toml(of)}" for key, of in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(of) for of in value) + "]"
    raise TypeError(f"{type(value).__name__} can't stand in a case")


def _flat(keys: Mapping[str, Any], maps: dict[str, NDArray[np.float64]], table: str = "") -> Iterator[str]:
    """ "grid.nodes=[65, 65]" for every key; nested mappings are tables. Arrays of two or three axes go to `maps`: the key
    names them as it would name a file."""
    for key, value in keys.items():
        name = f"{table}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, maps, f"{name}.")
        elif isinstance(value, np.ndarray) and value.ndim in (2, 3):
            maps[f"array {name}"] = np.ascontiguousarray(value, dtype=np.float64)
            yield f"{name}={toml(f'array {name}')}"
        else:
            yield f"{name}={toml(value)}"


def cases() -> list[str]:
    """Names of the cases that come with the program, "flow/cavity-re1000"."""
    folder = share()
    if folder is None:
        return []
    names = (path.relative_to(folder / "cases").with_suffix("") for path in (folder / "cases").glob("*/*.toml"))
    return sorted(str(name) for name in names if not name.name.startswith("selftest"))


def solvers() -> dict[str, str]:
    """The solvers, and what each of them computes."""
    names = lib.bn_solver_names()
    found: dict[str, str] = {}
    while names[len(found)]:
        name = names[len(found)]
        found[text_of(name)] = text_of(lib.bn_solver_summary(name))
    return found


class Case:
    """A checked case. It never changes; `with_keys` gives another one.

    source: the path of a case file, a case as text (of more than one line), a dictionary of tables, or the name of a
        case that comes with the program (`cases()` lists them).
    overrides: keys with their full names and other values: {"grid.nodes": [129, 129], "fluid.viscosity": "1e-3 m2/s"}.
        Numbers are SI. A list of tables is given whole. An array of two or three axes stands for a file of numbers,
        such as {"material.map": index}: (y, z) or (z, y, x).

    CaseError has all mistakes, with their places.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any],
        overrides: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
    ) -> None:
        self.maps: dict[str, NDArray[np.float64]] = {}  #: arrays in the place of files, by the name that keys give them
        self.overrides: tuple[str, ...] = tuple(_flat(overrides or {}, self.maps))
        self.path = name or "case"  #: what messages call it; files that it names are looked for beside it
        self.text: str | None = None  #: None: the file itself
        if isinstance(source, Mapping):
            self.text = ""
            self.overrides = (*_flat(source, self.maps), *self.overrides)
        elif isinstance(source, str) and "\n" in source:
            self.text = source
        else:
            self.path = self._find(os.fspath(source))
        self._check()

    def _check(self) -> None:
        context = Context()
        try:
            case = self.parse(context)
            out = ffi.new("char **")
            context.check(lib.bn_case_resolved(case, out))
            self.resolved = text_of(out[0])  #: the whole case as TOML, with every key, in SI
            lib.free(out[0])
            lib.bn_case_destroy(ffi.new("bn_case **", case))
        finally:
            context.close()
        self.values: dict[str, Any] = tomllib.loads(self.resolved)

    @staticmethod
    def _find(name: str) -> str:
        folder = share()
        if not Path(name).exists() and folder is not None and (folder / "cases" / f"{name}.toml").exists():
            return str(folder / "cases" / f"{name}.toml")
        if not Path(name).exists() and not name.endswith(".toml") and "/" in name:
            raise UsageError(f"there is neither a file {name} nor a case of that name: binnacle.cases() lists them")
        return name

    def parse(self, context: Context) -> Any:
        """The bn_case in a context; its caller destroys it."""
        keys = [ffi.new("char[]", key.encode()) for key in self.overrides]
        list_of = ffi.new("const char *[]", keys) if keys else ffi.NULL
        out = ffi.new("bn_case **")
        name = self.path.encode()
        if self.text is None:
            context.check(lib.bn_case_read(context.pointer, name, list_of, len(keys), out))
        else:
            context.check(lib.bn_case_parse(context.pointer, name, self.text.encode(), list_of, len(keys), out))
        for key, of in self.maps.items():
            n = [*reversed(of.shape), 1, 1][:3]
            context.check(lib.bn_case_give(out[0], key.encode(), n, ffi.from_buffer("double[]", of)))
        return out[0]

    def with_keys(self, overrides: Mapping[str, Any]) -> Case:
        """The same case with other values of these keys."""
        other = copy.copy(self)
        other.maps = dict(self.maps)
        other.overrides = (*self.overrides, *_flat(overrides, other.maps))
        other._check()
        return other

    @property
    def solver(self) -> str:
        return str(self.values["case"]["solver"])

    @property
    def title(self) -> str:
        return str(self.values["case"].get("title", ""))

    def __getitem__(self, key: str) -> Any:
        """The value of a key by its full name, "grid.nodes", in SI; a table of keys by its own."""
        at: Any = self.values
        for part in key.split("."):
            if not isinstance(at, dict) or part not in at:
                raise KeyError(key)
            at = at[part]
        return at

    def __repr__(self) -> str:
        return f"<binnacle.Case {self.solver}: {self.title or self.path}>"

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(self.title or self.path)}</b><pre>{html.escape(self.resolved)}</pre>"


CaseLike = Union[Case, str, "os.PathLike[str]", Mapping[str, Any]]
