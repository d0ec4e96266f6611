"""Cases of every source, their values, and their mistakes."""

import numpy as np
import pytest

import binnacle as bn


def test_by_name_with_overrides():
    case = bn.Case("flow/cavity-re1000", {"grid.nodes": np.array([33, 35]), "fluid.viscosity": "2 mm2/s"})
    assert case.solver == "flow" and "Re 1000" in case.title
    assert case["grid.nodes"] == [33, 35]
    assert case["fluid.viscosity"] == pytest.approx(2e-6, rel=1e-15)
    assert case["boundary.top"]["speed"] == 1


def test_by_path_and_text(tmp_path, room):
    path = tmp_path / "room.toml"
    path.write_text(room.resolved)
    for source in (path, str(path), room.resolved):
        assert bn.Case(source).values == room.values


def test_lists_of_tables():
    guide = bn.Case(
        {
            "case": {"solver": "bpm"},
            "grid": {"cells": 64, "width": 2e-5},
            "light": {"wavelength": 1e-6},
            "structure": [{"index": 1.5, "width": "3 um"}, {"kind": "taper", "width": 4e-6}],
            "march": {"length": "10 um"},
        }
    )
    assert [item["width"] for item in guide["structure"]] == pytest.approx([3e-6, 4e-6], rel=1e-15)


def test_other_keys(room):
    other = room.with_keys({"grid.nodes": [9, 9]})
    assert other["grid.nodes"] == [9, 9] and room["grid.nodes"] == [17, 21]


def test_all_mistakes_are_told():
    with pytest.raises(bn.CaseError) as caught:
        bn.Case('[case]\nsolver = "flow"\n[grid]\nnods = [3, 3]\n[stop]\nstep = 1\n', name="room.toml")
    assert isinstance(caught.value, ValueError)
    text = str(caught.value)
    assert "room.toml:4:" in text and "`nodes`" in text and "`steps`" in text
    assert all(isinstance(d, bn.Diagnostic) for d in caught.value.diagnostics)
    assert {(d.line, d.key) for d in caught.value.diagnostics} >= {(4, "grid.nods"), (6, "stop.step")}


def test_what_is_not_there(room):
    with pytest.raises(bn.UsageError, match="cavity-re7"):
        bn.Case("flow/cavity-re7")
    with pytest.raises(bn.FileError, match="nowhere.toml"):
        bn.Case("nowhere.toml")
    with pytest.raises(KeyError):
        room["grid.nods"]
    with pytest.raises(TypeError):
        room.with_keys({"stop.steps": object()})


def test_lists():
    assert set(bn.solvers()) == {"bpm", "flood", "flow", "maxwell", "xray"}
    assert "flow/cavity-re1000" in bn.cases() and not any("selftest" in name for name in bn.cases())
    assert isinstance(bn.devices()[0], bn.Device) and bn.devices()[0].bytes > 0
    assert bn.devices()[0].index == 0 and str(bn.devices()[0]).startswith("0: ")
    assert bn.version() == bn.__version__ and bn.version().count(".") == 2


def test_looks(room):
    assert "A &lt;room&gt;" in room._repr_html_() and "A <room>" in repr(room)
