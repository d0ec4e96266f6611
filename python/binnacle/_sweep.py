"""A case over values of its keys."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np

from ._case import Case, CaseLike
from ._library import BinnacleError, devices as all_devices
from ._simulation import run

__all__ = ["sweep"]


def sweep(
    case: CaseLike, keys: Mapping[str, Sequence[Any]], devices: Union[str, int, Sequence[Union[str, int]], None] = None
) -> Any:
    """Runs the case with all combinations of values of these keys, the last key fastest, and nothing written.

    devices: "all" runs as many at once as there are devices, one on each; so does a list of devices; None and a single
        one run one after the other.

    The table has a row for each combination: the keys, the results by name, and `error`, "" where a run came to its
    end. A run that fails leaves NaN; mistakes of single keys are raised before the first one. A pandas.DataFrame, or a
    dictionary of arrays without pandas.
    """
    base = case if isinstance(case, Case) else Case(case)
    points = [dict(zip(keys, values)) for values in itertools.product(*keys.values())]
    cases = [base.with_keys(point) for point in points]
    if devices == "all":
        places: list[Union[str, int, None]] = [device.index for device in all_devices()]
    elif isinstance(devices, (str, int)) or devices is None:
        places = [devices]
    else:
        places = list(devices)
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for point in range(len(points)):
        waiting.put(point)
    rows: list[dict[str, Any]] = [{} for _ in points]
    failures: list[BaseException] = []
    stop = threading.Event()

    def work(device: Union[str, int, None]) -> None:
        while not stop.is_set():
            try:
                point = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                with run(cases[point], device, progress=lambda now, left: not stop.is_set()) as done:
                    rows[point] = {name: float(value) for name, value in done.results.items()}
                    rows[point]["error"] = ""
            except BinnacleError as error:
                rows[point] = {"error": str(error)}
            except BaseException as error:  # raised again below
                failures.append(error)
                stop.set()

    threads = [threading.Thread(target=work, args=(place,)) for place in places[: len(points)]]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():  # so that the keyboard can interrupt
                thread.join(0.1)
    except BaseException:
        stop.set()
        for thread in threads:
            thread.join()
        raise
    if failures:
        raise failures[0]
    names = [*keys, *dict.fromkeys(name for row in rows for name in row if name != "error"), "error"]
    columns = {name: [{**points[i], **row}.get(name, np.nan) for i, row in enumerate(rows)] for name in names}
    try:
        import pandas
    except ImportError:
        return {name: np.array(values) for name, values in columns.items()}
    return pandas.DataFrame(columns)
