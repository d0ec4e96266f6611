"""Runs from beginning to end, and sweeps."""

import pickle
import threading

import numpy as np
import pytest

import binnacle as bn


def test_run_is_what_stepping_is(room):
    run = bn.run(room, progress=False)
    with bn.Simulation(room) as sim:
        sim.step(None)
        assert dict(run.results) == dict(sim.results())
        assert np.array_equal(run["psi"], sim["psi"])
    assert run.done and run.out is None and run.error is None and run.seconds > 0
    assert list(run.series["step"]) == list(range(4, 41, 4))
    card = run._repr_html_()
    assert "A &lt;room&gt;" in card and "psi_min" in card and "data:image/png" in card
    assert "40 steps" in repr(run)
    run.close()


def test_with_files(room, tmp_path):
    out = tmp_path / "run"
    run = bn.run(room, out=out, progress=False)
    assert (out / "summary.json").exists() and (out / "series.csv").exists() and run.out == str(out)
    with pytest.raises(bn.BinnacleError, match="run"):
        bn.run(room, out=out, progress=False)
    bn.run(room, out=out, force=True, steps=3, progress=False).close()


def test_stopped_and_gone_on(room, tmp_path):
    out = tmp_path / "run"
    long = room.with_keys({"stop.steps": 10**8})
    with pytest.raises(bn.InterruptedRun, match="interrupted after step") as caught:
        bn.run(long, out=out, progress=lambda now, left: now.step == 0)
    stopped = caught.value.run
    at = stopped.state.step
    assert at > 0 and stopped.error is caught.value and len(stopped.results) > 3
    stopped.close()
    with bn.run(long, out=out, resume=out, steps=at + 2, progress=False) as run, bn.Simulation(long) as sim:
        sim.step(at + 2)
        assert np.array_equal(run["psi"], sim["psi"])


def test_another_thread_ends_it(room):
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(bn.InterruptedRun):
        bn.run(room.with_keys({"stop.steps": 10**8}), progress=lambda now, left: not stop.is_set())


def test_divergence_has_its_run(room):
    with pytest.raises(bn.DivergedError, match="not converged") as caught:
        bn.run(room.with_keys({"solver.steady_tolerance": 1e-9}), progress=False)
    assert caught.value.run.state.step == 40 and isinstance(caught.value, ArithmeticError)


def test_runs_are_not_made_by_hand():
    with pytest.raises(TypeError):
        bn.Run()


def test_the_line_of_progress(room, capfd):
    bn.run(room.with_keys({"stop.steps": 10**8}), steps=40, progress=True).close()
    with pytest.raises(bn.InterruptedRun):
        bn.run(room.with_keys({"stop.steps": 10**8}), progress=_some_seconds())
    assert "step" not in capfd.readouterr().out


def _some_seconds():
    from binnacle._simulation import _Line

    line, calls = _Line(), []

    def progress(now, left):
        line._shown = 0
        line(now, left)
        calls.append(now.step)
        line.end()
        return len(calls) < 3

    return progress


def test_tables_and_maps():
    run = bn.run("bpm/starter", steps=40, progress=False)
    assert run.results.maps or run.results.tables
    for shown in run.results.maps.values():
        assert isinstance(shown, bn.Map) and shown.values.ndim == 2 and shown._repr_png_()[:4] == b"\x89PNG"
    for table in run.results.tables.values():
        assert len(table) > 0
    run.close()


def test_what_is_known_of_a_result():
    known = bn.Case("bpm/starter").with_keys({"expected": [{"result": "power", "value": 0.9}]})
    with bn.run(known, steps=4, progress=False) as run:
        assert run.results["power"].expected == 0.9
        assert run.results["n_eff"].expected is None


def test_sweep(room):
    short = room.with_keys({"stop.steps": 8})
    keys = {"fluid.viscosity": ["1e-2 m2/s", 2e-2], "boundary.top.speed": [1, 0.5]}
    table = bn.sweep(short, keys)
    assert list(table["boundary.top.speed"]) == [1, 0.5, 1, 0.5] and list(table["error"]) == [""] * 4
    with bn.run(short.with_keys({"fluid.viscosity": 2e-2}), progress=False) as run:
        assert table["psi_min"][2] == float(run.results["psi_min"])
    both = bn.sweep(short, keys, devices=["reference", "auto"])
    assert np.allclose(table["psi_min"], both["psi_min"], rtol=1e-12)
    assert len(bn.sweep(short, {"stop.steps": [2]}, devices="all")["psi_min"]) == 1
    with pytest.raises(bn.CaseError):
        bn.sweep(short, {"grid.nodes": [[1, 1]]})
    failed = bn.sweep(short, {"solver.steady_tolerance": [0, 1e-9]})
    assert failed["error"][0] == "" and "not converged" in failed["error"][1] and np.isnan(failed["psi_min"][1])


def test_quantities():
    q = bn.Quantity(1.5, "m", "a length")
    assert q + 1 == 2.5 and repr(q) == "1.5 m" and q.help == "a length"
    assert pickle.loads(pickle.dumps(q)).unit == "m"
