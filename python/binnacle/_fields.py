"""Fields of a simulation: read, written and added to where they lie; drawn; handed to other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._library import Context, UsageError, ffi, lib, text_of
from ._results import picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Field", "Fields"]

_integers: dict[int, Any] = {1: np.uint8, 4: np.int32, 8: np.int64}


class Field(np.lib.mixins.NDArrayOperatorsMixin):
    """A field where it lies. `field[...]` copies a part of it to a new array, `field[...] = values` writes a part, and
    `field += values` adds; indices are those of numpy, in the order (component, z, y, x) without the axes that are not
    there. It computes as a copy of itself would. Only fields of the state can be written: see `writable`."""

    def __init__(self, context: Context, sim: Callable[[], Any], info: Any) -> None:
        self._context, self._sim = context, sim
        self.name, self.unit = text_of(info.name), text_of(info.unit)
        self.writable = bool(info.state)
        self.nodes = bool(info.nodes)  #: values stand at nodes, else at the middle of cells
        self.hexagons = bool(info.hexagons)  #: every odd row stands half a cell further along x
        self.output = bool(info.output)
        self._axes = [d for d in (2, 1, 0) if d < info.dims]
        self._n = [info.n[d] for d in range(3)]
        self._origin, self._h = [info.origin[d] for d in range(3)], [info.h[d] for d in range(3)]
        self._place = [np.array(ffi.unpack(at, info.n[d])) if at else None for d, at in enumerate(info.place)]
        self._count = info.components // (2 if info.pairs else 1)
        if info.real:
            kind = {4: (np.float32, np.complex64), 8: (np.float64, np.complex128)}[info.element_bytes]
            self.dtype: Any = np.dtype(kind[bool(info.pairs)])
        else:
            self.dtype = np.dtype(_integers[info.element_bytes])
        self.shape = tuple(([self._count] if self._count > 1 else []) + [self._n[d] for d in self._axes])
        self.dims = (("component",) if self._count > 1 else ()) + tuple("xyz"[d] for d in self._axes)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def coordinates(self) -> dict[str, NDArray[np.float64]]:
        """Places of the points along each axis [m]; of hexagons those of the even rows."""
        even = {d: self._origin[d] + self._h[d] * np.arange(self._n[d]) for d in self._axes}
        return {"xyz"[d]: at if self._place[d] is None else np.array(self._place[d]) for d, at in even.items()}

    # --- between the field and arrays ---

    def _numbers(self, dtype: Any) -> int:
        """How the library calls numbers of this type; UsageError: this field has no such."""
        if dtype == self.dtype:
            return int(lib.BN_NUMBERS_OWN)
        kinds: dict[str, list[Any]] = {"f": [np.float32, np.float64], "c": [np.complex64, np.complex128]}
        wanted = kinds.get(self.dtype.kind, [])
        if dtype not in wanted:
            raise UsageError(f"field {self.name} holds {self.dtype}, which is not {dtype}")
        return int(lib.BN_NUMBERS_DOUBLE if dtype == wanted[1] else lib.BN_NUMBERS_FLOAT)

    def _move(self, call: Any, array: NDArray[Any], first: tuple[int, ...]) -> None:
        """Calls bn_sim_get, _set or _add for the part of the array's shape that begins at `first`."""
        if array.size == 0:
            return
        part = ffi.new("bn_field_part *")
        lead = self.ndim - len(self._axes)
        part.first, part.components = (first[0], array.shape[0]) if lead else (0, 1)
        for at, d in enumerate(self._axes):
            part.n[d], part.strides[d] = array.shape[lead + at], array.strides[lead + at]
            getattr(part, "from")[d] = first[lead + at]
        for d in range(3):
            if d not in self._axes:
                part.n[d] = 1
        part.strides[3] = array.strides[0] if lead else 0
        if not any(part.strides):  # zero strides stand for C order
            part.strides[0] = array.itemsize
        at_first = ffi.cast("void *", array.__array_interface__["data"][0])
        with self._context.lock:
            self._context.check(call(self._sim(), self.name.encode(), part, self._numbers(array.dtype), at_first))

    def _box(self, index: Any) -> tuple[tuple[int, ...], tuple[int, ...], tuple[Any, ...]] | None:
        """The smallest box around a basic index: where it begins, its shape, the index within it. None: another index."""
        given = index if isinstance(index, tuple) else (index,)
        if sum(i is Ellipsis for i in given) > 1 or not all(
            i is Ellipsis or isinstance(i, (int, np.integer, slice)) for i in given
        ):
            return None
        if not any(i is Ellipsis for i in given):
            given = (*given, Ellipsis)
        at = next(k for k, i in enumerate(given) if i is Ellipsis)
        missing = self.ndim - (len(given) - 1)
        if missing < 0:
            raise IndexError(f"field {self.name} has {self.ndim} axes, not {len(given) - 1}")
        first: list[int] = []
        shape: list[int] = []
        within: list[Any] = []
        for i, n in zip((*given[:at], *[slice(None)] * missing, *given[at + 1 :]), self.shape):
            if isinstance(i, slice):
                chosen = range(*i.indices(n))
                low = min(chosen[0], chosen[-1]) if len(chosen) else 0
                first.append(low)
                shape.append(max(chosen[0], chosen[-1]) + 1 - low if len(chosen) else 0)
                within.append(slice(None, None, chosen.step))
            else:
                if not -n <= i < n:
                    raise IndexError(f"index {i} of field {self.name} is not within {n}")
                first.append(int(i) % n)
                shape.append(1)
                within.append(0)
        return tuple(first), tuple(shape), tuple(within)

    def read(self, dtype: Any = None, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """All of the field as a new array, or into `out`, of any strides, without another copy."""
        array = np.empty(self.shape, self.dtype if dtype is None else dtype) if out is None else out
        if array.shape != self.shape or not array.flags.writeable:
            raise UsageError(f"field {self.name} has the shape {self.shape}; `out` must have it, too, and be writable")
        self._move(lib.bn_sim_get, array, (0,) * self.ndim)
        return array

    def __getitem__(self, index: Any) -> Any:
        box = self._box(index)
        if box is None:
            return self.read()[index]
        first, shape, within = box
        array = np.empty(shape, self.dtype)
        self._move(lib.bn_sim_get, array, first)
        found = array[within]
        return found if isinstance(found, np.ndarray) else found[()]

    def _like(self, values: Any) -> NDArray[Any]:
        """As an array of a type that the library takes: another library's by DLPack through host memory."""
        if not isinstance(values, np.ndarray) and hasattr(values, "__dlpack__") and not isinstance(values, Field):
            values = np.from_dlpack(values)
        array = np.asarray(values)
        wide = {"f": np.float64, "c": np.complex128}.get(self.dtype.kind)
        if array.dtype == self.dtype or wide is None:
            return array.astype(self.dtype, copy=False)
        if array.dtype.kind == "c" and self.dtype.kind == "f":
            raise UsageError(f"field {self.name} is real")
        return array.astype(wide, copy=False)

    def __setitem__(self, index: Any, values: Any) -> None:
        array = self._like(values)
        box = self._box(index)
        if box is not None and all(w == 0 or w == slice(None, None, 1) for w in box[2]):
            first, shape, within = box
            kept = tuple(n for n, w in zip(shape, within) if not isinstance(w, int))
            target = np.broadcast_to(array, kept).reshape(shape)
            self._move(lib.bn_sim_set, target if 0 not in target.strides else np.ascontiguousarray(target), first)
            return
        whole = self.read()
        whole[index] = array
        self._move(lib.bn_sim_set, whole, (0,) * self.ndim)

    def add(self, values: Any) -> None:
        """Adds to the whole field: heat to a temperature, a current to a field. One rounding per value."""
        self._move(
            lib.bn_sim_add, np.ascontiguousarray(np.broadcast_to(self._like(values), self.shape)), (0,) * self.ndim
        )

    def __iadd__(self, values: Any) -> Field:
        self.add(values)
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a field is always copied from where it lies")
        values = self.read()
        return values if dtype is None else values.astype(dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        values = [of.read() if isinstance(of, Field) else of for of in inputs]
        result = getattr(ufunc, method)(*values, **options)
        if out is None:
            return result
        out[0][...] = result
        return out[0]

    def __dlpack__(self, **options: Any) -> Any:
        """A copy in host memory, for CuPy, JAX and torch."""
        return self.read().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the CPU

    def __len__(self) -> int:
        return int(self.shape[0])

    def __repr__(self) -> str:
        read_only = "" if self.writable else " read-only"
        return f"<binnacle.Field {self.name} {self.shape} {self.dtype} [{self.unit}]{read_only}>"

    # --- in the form of other libraries ---

    def to_xarray(self) -> Any:
        """A copy as xarray.DataArray with coordinates [m] and units; without xarray a numpy array."""
        try:
            import xarray
        except ImportError:
            return self.read()
        places = {name: ((name,), at, {"units": "m"}) for name, at in self.coordinates.items()}
        attributes: dict[str, Any] = {"units": self.unit}
        if self.hexagons:
            attributes["hexagons"] = "odd rows stand half a cell further along x"
        return xarray.DataArray(self.read(), dims=self.dims, coords=places, name=self.name, attrs=attributes)

    def picture(self, path: Any = None, *, limits: tuple[float, float] | None = None, at: float | None = None) -> bytes:
        """As PNG: the length of vectors and of complex numbers, and of a field in space the slice z = `at` [m], its
        middle unless told. With `path` also a file."""
        if len(self._axes) < 2:
            raise UsageError(f"field {self.name} lies along a line: it has no picture")
        values: NDArray[Any]
        if len(self._axes) == 3:
            k = self._n[2] // 2 if at is None else int(np.argmin(np.abs(self.coordinates["z"] - at)))
            values = self[(..., k, slice(None), slice(None))]
        else:
            values = self.read()
        if self.dtype.kind == "c":
            values = np.abs(values)
        if self._count > 1:
            values = np.sqrt(np.sum(np.square(values.astype(np.float64)), axis=0))
        spacing = self._h[:2]
        for d in (0, 1):  # pictures have even nodes
            place = self._place[d]
            if place is not None:
                even = np.linspace(place[0], place[-1], max(len(place), 761))
                values = np.apply_along_axis(lambda line, p=place, e=even: np.interp(e, p, line), 1 - d, values)
                spacing[d] = even[1] - even[0]
        return picture(
            values,
            name=self.name,
            unit=self.unit,
            origin=(self._origin[0], self._origin[1]),
            spacing=(spacing[0], spacing[1]),
            cells=not self.nodes,
            limits=limits,
            path=path,
        )

    def _repr_png_(self) -> bytes | None:
        return self.picture() if len(self._axes) > 1 else None


class Fields(Mapping[str, Any]):
    """Fields by name, each as a copy of its present values in an xarray.DataArray (a numpy array without xarray)."""

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> Any:
        return self._fields[name].to_xarray()

    def __iter__(self) -> Iterator[str]:
        return (name for name, field in self._fields.items() if field.output)

    def __len__(self) -> int:
        return sum(field.output for field in self._fields.values())

    def __contains__(self, name: object) -> bool:
        return name in self._fields
