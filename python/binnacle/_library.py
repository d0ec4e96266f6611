"""The shared library: where it is, what a failure becomes, and the context that everything is made through."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._abi import ffi

__all__ = [
    "BinnacleError",
    "CaseError",
    "Context",
    "Device",
    "DeviceError",
    "Diagnostic",
    "DivergedError",
    "FileError",
    "InterruptedRun",
    "MismatchError",
    "UsageError",
    "devices",
    "ffi",
    "lib",
    "program",
    "share",
    "text_of",
    "version",
]

_native = Path(__file__).resolve().parent / "native"  # in a wheel: program, libraries, cases


def share() -> Path | None:
    """The folder with the cases that come with the program."""
    for folder in (_native / "share/binnacle", Path("/usr/local/share/binnacle"), Path("/usr/share/binnacle")):
        if (folder / "cases").is_dir():
            return folder
    return None


def program() -> str | None:
    """The program `binnacle`, which tests a device before it is used for the first time."""
    own = _native / "bin/binnacle"
    return str(own) if own.exists() else shutil.which("binnacle")


def _load() -> Any:
    # Units and fonts that travel with a wheel, unless the user has named others.
    for name, place in (("UDUNITS2_XML_PATH", "udunits/udunits2.xml"), ("FONTCONFIG_FILE", "fonts/fonts.conf")):
        path = _native / "share/binnacle" / place
        if path.exists():
            os.environ.setdefault(name, str(path))
    own = _native / "lib/libbinnacle.so"
    wanted = os.environ.get("BINNACLE_LIBRARY") or (str(own) if own.exists() else "libbinnacle.so.0.1")
    try:
        return ffi.dlopen(wanted)
    except OSError as error:
        raise ImportError(f"{error}; $BINNACLE_LIBRARY may name libbinnacle.so") from None


lib = _load()


def text_of(pointer: Any) -> str:
    """A C text; "" for NULL."""
    return str(ffi.string(pointer).decode("utf-8", "replace")) if pointer else ""


def version() -> str:
    """The version of the library, "major.minor.patch"."""
    return text_of(lib.bn_version())


@dataclass(frozen=True)
class Diagnostic:
    """One mistake of those that a failure consists of. Lines and columns count from 1; 0: nowhere."""

    file: str
    line: int
    column: int
    key: str
    message: str


class BinnacleError(Exception):
    """A failed call, with the text that the program would print."""

    def __init__(self, text: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics


class UsageError(BinnacleError, ValueError):
    """A call that asks for what is not there."""


class CaseError(BinnacleError, ValueError):
    """A case was rejected: `diagnostics` has all of its mistakes."""


class DeviceError(BinnacleError):
    """No device, a kernel that does not build, or a lack of memory."""


class DivergedError(BinnacleError, ArithmeticError):
    """A value is not finite, or the case's convergence was not reached. `run`: what came of it, if it had begun."""

    run: Any = None


class MismatchError(BinnacleError):
    """A device did not pass the self-test."""


class FileError(BinnacleError, OSError):
    """A file could not be read or written."""


class InterruptedRun(BinnacleError):
    """The callback of a run has ended it. `run`: what came of it."""

    run: Any = None


_errors: dict[int, type[BinnacleError]] = {
    lib.BN_USAGE: UsageError,
    lib.BN_CASE: CaseError,
    lib.BN_DEVICE: DeviceError,
    lib.BN_MEMORY: DeviceError,
    lib.BN_DIVERGED: DivergedError,
    lib.BN_MISMATCH: MismatchError,
    lib.BN_IO: FileError,
    lib.BN_INTERRUPTED: InterruptedRun,
}


def _keep(user: Any, level: int, text: Any) -> None:
    if level <= lib.BN_LOG_WARNING:
        ffi.from_handle(user).said.append(text_of(text))


_log = ffi.callback("void(void *, int, const char *)", _keep)


class Context:
    """A bn_context. Its calls are made from one thread at a time: `lock` sees to that."""

    def __init__(self) -> None:
        self.said: list[str] = []  # warnings that nobody has seen yet
        self.lock = threading.RLock()
        self.pointer: Any = ffi.NULL
        self._user = ffi.new_handle(self)
        out = ffi.new("bn_context **")
        if lib.bn_context_create(ffi.new("bn_context_desc *", {"log": _log, "user": self._user}), out) != lib.BN_OK:
            raise MemoryError("no memory for a context")
        self.pointer = out[0]

    def check(self, status: int) -> None:
        """Raises what a status stands for, and forgets it in the context."""
        while self.said:
            warnings.warn(self.said.pop(0), stacklevel=3)
        if status == lib.BN_OK:
            return
        count = ffi.new("size_t *")
        items = lib.bn_error_items(self.pointer, count)
        found = tuple(
            Diagnostic(
                text_of(items[i].file) or text_of(items[i].override),
                items[i].line,
                items[i].column,
                text_of(items[i].key),
                text_of(items[i].message),
            )
            for i in range(count[0])
        )
        error = _errors.get(status, BinnacleError)
        text = text_of(lib.bn_error_text(self.pointer)) or text_of(lib.bn_status_text(status))
        lib.bn_error_clear(self.pointer)
        raise error(text, found)

    def open(self, selector: str | int | None) -> Any:
        """A device; NULL for "reference"."""
        if selector == "reference":
            return ffi.NULL
        out = ffi.new("bn_device **")
        wanted = ffi.NULL if selector is None else ffi.new("char[]", str(selector).encode())
        self.check(lib.bn_device_open(self.pointer, wanted, False, out))
        return out[0]

    def close(self) -> None:
        if self.pointer:
            lib.bn_context_destroy(ffi.new("bn_context **", self.pointer))
            self.pointer = ffi.NULL


class Watch:
    """A bn_watch that lets Python handle signals, such as the one of the keyboard, and tells a callback of progress."""

    def __init__(self, tell: Any, seconds: float) -> None:
        self.error: BaseException | None = None
        self._tell = tell
        # What the callback raises, KeyboardInterrupt too, ends the run (the answer is False) and is raised again there.
        self._callback = ffi.callback("bool(void *, const bn_sim_state *, double)", self._asked, onerror=self._raised)
        self.pointer = ffi.new("bn_watch *", {"go_on": self._callback, "seconds": seconds})
        self._put_handler_back()

    @staticmethod
    def _put_handler_back() -> None:
        """Drivers put handlers of their own in the place of Python's while they compile, as late as the first step."""
        handler = signal.getsignal(signal.SIGINT)
        if handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)

    def _asked(self, user: Any, now: Any, left: float) -> bool:
        self._put_handler_back()
        return self._tell is None or self._tell(now, left) is not False

    def _raised(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        self.error = error


@dataclass(frozen=True)
class Device:
    """An OpenCL device, as `binnacle devices` lists it."""

    index: int
    name: str
    platform: str
    driver: str
    cpu: bool
    fp64: bool
    bytes: int
    bandwidth: float  #: of copies, read + write [B/s]; 0: not measured yet

    def __str__(self) -> str:
        return f"{self.index}: {self.name} ({self.platform})"


def devices() -> list[Device]:
    """All usable devices, in the order of their indices. DeviceError: there is none."""
    context = Context()
    try:
        out, count = ffi.new("const bn_device_info **"), ffi.new("size_t *")
        context.check(lib.bn_devices(context.pointer, out, count))
        return [
            Device(
                d.index,
                text_of(d.name),
                text_of(d.platform),
                text_of(d.driver),
                bool(d.cpu),
                bool(d.fp64),
                d.bytes,
                d.bandwidth,
            )
            for d in (out[0][i] for i in range(count[0]))
        ]
    finally:
        context.close()
