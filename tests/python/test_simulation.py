"""Steps and fields: numbers are those of the same simulation, read another way."""

import signal
import threading
import time
import warnings

import numpy as np
import pytest

import binnacle as bn

STATE = ("psi", "omega", "velocity", "temperature", "psi_before")


def test_steps(sim):
    assert sim.state.step == 0 and not sim.done
    sim.step()
    sim.step(2)
    assert sim.state.step == 3 and sim.state.time == pytest.approx(0.03, rel=1e-12)
    sim.step(None)
    assert sim.done and sim.state.step == 40
    sim.step(0)
    sim.step(5)
    assert sim.state.step == 45
    with pytest.raises(ValueError):
        sim.step(-1)
    assert len(sim.series["step"]) == 1 and sim.series["step"][0] == 45


def test_progress_stops(sim):
    asked = []
    assert sim.step(3, progress=lambda now, left: asked.append(now.step)) is None  # a tenth of a second has not passed
    with pytest.raises(bn.InterruptedRun, match="interrupted after step"):
        sim.step(10**9, progress=lambda now, left: asked.append((now.step, left)) is not None)
    here = sim.state.step
    sim.step()
    assert sim.state.step == here + 1


def test_exceptions_pass_through(sim):
    def progress(now, left):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sim.step(10**9, progress)
    sim.step()


@pytest.fixture
def interruptible():
    """Shells start what runs in the background with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_signal_ends_a_step(sim, interruptible):
    threading.Thread(target=lambda: (time.sleep(0.3), signal.raise_signal(signal.SIGINT))).start()
    with pytest.raises(KeyboardInterrupt):
        sim.step(10**9)
    sim.step()


def test_reading(sim):
    sim.step(5)
    whole = sim["velocity"].read()
    assert whole.shape == sim["velocity"].shape == (2, 21, 17) and whole.dtype == sim["velocity"].dtype == np.float32
    assert (
        sim["velocity"].dims == ("component", "y", "x")
        and sim["velocity"].ndim == 3
        and sim["velocity"].size == whole.size
    )
    rng = np.random.default_rng(1)
    assert np.abs(whole).max() > 0.1
    for index in (
        ...,
        1,
        (0, 3),
        (slice(None), 4, 5),
        (1, slice(2, 9, 3), slice(None, None, -2)),
        (..., -1),
        (0, slice(5, 2, -1), ...),
        (1, 20, 16),
        (slice(3, 3),),
        rng.integers(0, 2, 4),
        whole > 0,
        (0, [1, 2], [3, 4]),
    ):
        assert np.array_equal(sim["velocity"][index], whole[index]), index
    for index in ((2,), (0, 21), (0, 0, 0, 0)):
        with pytest.raises(IndexError):
            sim["velocity"][index]
    assert np.array_equal(np.asarray(sim["velocity"]), whole) and len(sim["velocity"]) == 2
    assert np.array_equal(np.from_dlpack(sim["velocity"]), whole)
    target = np.zeros((17, 42, 2))[:, ::2, :].T  # of no usual order
    sim["velocity"].read(out=target)
    assert np.array_equal(target, whole.astype(float))
    assert sim["velocity"].read(dtype=np.float64).dtype == np.float64
    with pytest.raises(bn.UsageError):
        sim["velocity"].read(dtype=np.int32)
    with pytest.raises(bn.UsageError):
        sim["velocity"].read(out=np.zeros(3))


def test_writing(sim):
    sim.step(2)
    field = sim["temperature"]
    mirror = field.read()
    values = np.arange(21 * 17, dtype=float).reshape(21, 17) / 256

    class Foreign:  # as another library's array
        def __dlpack__(self, **options):
            return values.__dlpack__(**options)

        def __dlpack_device__(self):
            return values.__dlpack_device__()

    for index, given in (
        (..., values),
        (3, 2.0),
        ((slice(2, 5), slice(1, 4)), values[:3, :3]),
        ((4, 5), -1),
        ((slice(None, None, 2), 3), 0.5),
        ((slice(4, 1, -1), 3), [1, 2, 3]),
        (mirror > 1, 0.25),
        ((slice(2, 5), slice(1, 4)), values[0, :3]),
        (..., values[::-1, ::-1]),
        (..., Foreign()),
    ):
        field[index] = given
        mirror[index] = values if isinstance(given, Foreign) else given
        assert np.array_equal(field.read(), mirror), index
    sim["temperature"] = values
    assert np.array_equal(field.read(), values.astype(np.float32))
    sim["temperature"] += np.float32(0.1)
    assert np.array_equal(field.read(), values.astype(np.float32) + np.float32(0.1))
    before = field.read()
    sim["temperature"] *= 2
    sim["temperature"] -= sim["psi"]
    assert np.array_equal(field, 2 * before - sim["psi"].read())
    assert np.array_equal(field + 1, field.read() + 1) and np.mean(field) == np.mean(field.read())
    with pytest.raises(bn.UsageError, match="changes nothing"):
        sim["rhs"][...] = 0
    with pytest.raises(bn.UsageError, match="real"):
        field[...] = values + 1j
    with pytest.raises(ValueError):
        field[...] = np.zeros(5)
    with pytest.raises(KeyError, match="there are psi"):
        sim["heat"]
    assert field.writable and not sim["rhs"].writable and "read-only" in repr(sim["rhs"])
    assert "psi" in sim and "heat" not in sim and "omega" in list(sim)


def test_adding_places_and_progress(sim):
    sim.step(2)
    field = sim["temperature"]
    before = field.read()
    field.add(np.float32(0.25))
    before += np.float32(0.25)
    assert isinstance(field, bn.Field) and np.array_equal(field.read(), before)
    assert np.allclose(field.coordinates["y"], np.linspace(0, 2, 21), atol=1e-15)
    assert np.array_equal(np.asarray(field.to_xarray()), before)
    state = sim.state
    assert isinstance(state, bn.State) and state.updates == 2 * 17 * 21 and not state.complete and not state.converged
    assert np.isfinite(state.residual) and isinstance(sim.results(), bn.Results)


def test_a_state_goes_on_elsewhere(room):
    with bn.Simulation(room) as one, bn.Simulation(room) as other:
        one.step(7)
        for name in STATE:
            other[name] = one[name]
        one.step(5)
        other.step(5)
        assert np.array_equal(one["omega"], other["omega"])


def test_complex_fields():
    with bn.Simulation(
        {
            "case": {"solver": "maxwell"},
            "grid": {"cells": [4, 3, 30], "spacing": "20 nm"},
            "light": {"wavelength": "600 nm"},
            "stop": {"steps": 8},
        }
    ) as sim:
        sim.step(None)
        E = sim["E"].read()
        assert E.shape == (3, 30, 3, 4) and E.dtype == np.complex64 and np.abs(E).max() > 0
        norm = np.sqrt((np.abs(E.astype(complex)) ** 2).sum(axis=0))
        # Six squares, five sums, a root: each rounds once to single precision.
        assert np.allclose(sim["E_norm"], norm, rtol=8 * 2.0**-24, atol=0)
        sim["E"][0, 3:5] += 1j
        assert np.array_equal(sim["E"][0, 3:5], E[0, 3:5] + np.complex64(1j))
        assert sim["E"].picture()[:4] == b"\x89PNG"
        sim.step()


def test_fields_in_other_forms(sim):
    xarray = pytest.importorskip("xarray")
    sim.step(3)
    array = sim.fields["velocity"]
    assert isinstance(array, xarray.DataArray) and array.attrs["units"] == "m s-1"
    assert array.dims == ("component", "y", "x")
    assert np.allclose(array.x, np.linspace(0, 1.6, 17), atol=1e-15) and array.x.attrs["units"] == "m"
    assert float(array.sel(component=0).isel(x=3, y=4)) == sim["velocity"][0, 4, 3]
    assert set(sim.fields) == {"psi", "omega", "velocity", "temperature"} and len(sim.fields) == 4
    assert "rhs" in sim.fields and "heat" not in sim.fields


def test_pictures(sim, tmp_path):
    sim.step(3)
    png = sim["psi"]._repr_png_()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert sim["velocity"].picture(tmp_path / "speed.png", limits=(0, 1)) == (tmp_path / "speed.png").read_bytes()
    assert bn.picture(np.eye(4), name="q", title="Ones", unit="m")[:4] == b"\x89PNG"
    with pytest.raises(ValueError):
        bn.picture(np.zeros(3))


def test_results_and_checkpoints(sim, room, tmp_path):
    sim.step(9)
    found = sim.results()
    assert found["temperature_max"] == float(sim["temperature"].read().max())
    assert found["psi_min"].unit == "m2 s-1" and found["psi_min"].help and "psi_min = -" in repr(found)
    assert "<td>psi_min</td>" in found._repr_html_()
    sim.save(tmp_path)
    with bn.Simulation(room, resume=tmp_path) as other:
        assert other.state.step == 9
        other.step(3)
        sim.step(3)
        assert np.array_equal(other["psi"], sim["psi"])


def test_closing(room):
    sim = bn.Simulation(room, device="reference")
    psi = sim["psi"]
    sim.close()
    sim.close()
    assert "closed" in repr(sim)
    for call in (lambda: sim.step(), lambda: psi.read(), lambda: sim.results(), lambda: sim.state):
        with pytest.raises(bn.BinnacleError, match="closed"):
            call()
    with pytest.raises((bn.DeviceError, bn.UsageError), match="no such device"):
        bn.Simulation(room, device="no such device")


def test_threads_do_not_meet(room):
    """The bits of one after the other, on device and reference."""

    def end(into, key, device):
        with bn.Simulation(room, device) as sim:
            for _ in range(20):
                sim.step()
            into[key] = sim["psi"].read()

    for device in (None, "reference"):
        found = {}
        end(found, "alone", device)
        threads = [threading.Thread(target=end, args=(found, i, device)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(np.array_equal(found["alone"], found[i]) for i in range(3))


def test_warnings_are_python_s(tmp_path, monkeypatch, room):
    blocked = tmp_path / "cache"
    blocked.write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with bn.Simulation(room) as sim:
            sim.step()
    assert any("cache" in str(w.message) for w in said)
