"""Prediction sets, and the guarantee beside them."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import plausibly
from conformal_world import world
from io_files import refusal, said, written
from plausibly.errors import InputError
from plausibly.io.sets import read_sets, write_sets

ENDINGS = (".csv", ".parquet")
GUARANTEES = json.dumps([{"alpha": "1/10", "level": "9/10"}])

names = st.one_of(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6
    ),
    st.sampled_from(["example", "alpha", "size", "labels", "a | b", "NA", "007", ";", 'x"']),
)


@st.composite
def prediction_sets(draw: st.DrawFn) -> xr.DataArray:
    labels = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    examples = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    alphas = draw(st.lists(st.sampled_from([0.1, 0.05, 1 / 3, 1e-5]), min_size=1, unique=True))
    size = len(labels) * len(examples) * len(alphas)
    bits = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    sets = xr.DataArray(
        np.array(bits).reshape(len(examples), len(labels), len(alphas)),
        dims=("example", "label", "alpha"),
        coords={"example": examples, "label": labels, "alpha": alphas},
        attrs={"guarantees": GUARANTEES, "fingerprint": "b1946ac9", "calibration_overlap": 2},
    )
    if len(alphas) == 1 and draw(st.booleans()):
        return sets.isel(alpha=0)
    return sets.transpose(*draw(st.permutations(["example", "label", "alpha"])))


def simple(**more: object) -> xr.DataArray:
    return xr.DataArray(
        [[True, False], [True, True], [False, False]],
        dims=("example", "label"),
        coords={"example": ["a", "b", "c"], "label": ["neutral", "sad"], "alpha": 0.1},
        attrs={"guarantees": GUARANTEES, "fingerprint": "b1946ac9", "calibration_overlap": 0}
        | more,
    )


@pytest.mark.parametrize("ending", ENDINGS)
@given(sets=prediction_sets(), escape=st.booleans())
@settings(max_examples=40)
def test_everything_comes_back(folder: Path, ending: str, sets: xr.DataArray, escape: bool) -> None:
    path = folder / f"sets{ending}"
    before = sets.copy(deep=True)
    write_sets(sets, path, escape=escape)
    xr.testing.assert_identical(sets, before)
    xr.testing.assert_identical(read_sets(path), sets)


def test_what_stands_in_the_files(tmp_path: Path) -> None:
    write_sets(simple(left_out='{"bad rows": 1}', seed=np.int64(3)), tmp_path / "sets.csv")
    assert (tmp_path / "sets.csv").read_text() == (
        "example,alpha,size,labels,neutral,sad\n"
        "a,0.1,1,neutral,1,0\n"
        "b,0.1,2,neutral | sad,1,1\n"
        "c,0.1,0,,0,0\n"
    )
    facts = json.loads((tmp_path / "sets.json").read_text())
    versions = facts.pop("versions")
    assert versions.keys() == {"plausibly", "numpy", "python"}
    assert versions["numpy"] == np.__version__
    assert versions["python"] == platform.python_version()
    assert facts.pop("table") == "sets.csv"
    assert len(facts.pop("table_digest")) == 32
    assert facts.pop("table_escaped") is False
    assert facts == {
        "about": "what the prediction sets in the table of the same name guarantee",
        "alphas": [0.1],
        "dims": ["example", "label"],
        "examples": 3,
        "labels": ["neutral", "sad"],
        "guarantees": [{"alpha": "1/10", "level": "9/10"}],
        "fingerprint": "b1946ac9",
        "calibration_overlap": 0,
        "left_out": {"bad rows": 1},
        "seed": 3,
    }


def test_no_cell_is_a_formula_where_that_is_asked_for(tmp_path: Path) -> None:
    labels = ["=1+1", "@sum"]
    sets = simple().assign_coords(label=labels, example=["+a", "-b", "'c"])
    write_sets(sets, tmp_path / "sets.csv", escape=True)
    cells = (tmp_path / "sets.csv").read_text().replace("\n", ",").split(",")
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    xr.testing.assert_identical(read_sets(tmp_path / "sets.csv"), sets)


def test_sets_without_their_json_guarantee_nothing(tmp_path: Path) -> None:
    """Several alphas are then a dim."""
    two = xr.concat([simple(), simple().assign_coords(alpha=0.05)], "alpha")
    for sets in (simple(), two.transpose("example", "label", "alpha")):
        write_sets(sets, tmp_path / "sets.csv")
        (tmp_path / "sets.json").unlink()
        with pytest.warns(UserWarning, match="guarantee-missing: sets.csv has no sets.json"):
            read = read_sets(tmp_path / "sets.csv")
        xr.testing.assert_identical(read, sets.drop_attrs())


@pytest.mark.parametrize(
    ("change", "name", "result"),
    [
        ("{\n oops", "file-damaged", None),
        ("[" * 100_000, "file-damaged", None),
        ("[1]", "sets-mismatch", "another form"),
        ({"labels": ["neutral", "happy"]}, "sets-mismatch", "labels neutral, happy"),
        ({"alphas": [0.2]}, "sets-mismatch", "alphas 0.2"),
        ({"examples": 4}, "sets-mismatch", "examples 4"),
    ],
)
def test_a_json_that_is_broken_or_of_other_sets(
    tmp_path: Path, change: str | dict[str, object], name: str, result: str | None
) -> None:
    write_sets(simple(), tmp_path / "sets.csv")
    facts = json.loads((tmp_path / "sets.json").read_text())
    text = change if isinstance(change, str) else json.dumps(facts | change)
    written(tmp_path, "sets.json", text)
    error = refusal(lambda: read_sets(tmp_path / "sets.csv"))
    assert error.name == name
    assert result in (None, error.found)


def test_arrays_that_are_no_sets(tmp_path: Path) -> None:
    for wrong in (simple().astype(int), simple().drop_vars("alpha"), simple().isel(label=0)):
        error = refusal(lambda array=wrong: write_sets(array, tmp_path / "sets.csv"))  # type: ignore[misc]  # bound now
        assert error.name == "sets-unfit"
    assert refusal(lambda: write_sets(simple(), tmp_path / "sets.json")).name == "ending-unknown"
    assert not list(tmp_path.iterdir())


def test_either_both_files_are_written_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_sets(simple(), "sets.csv")
    old = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_text", fail)
    changed = simple(fingerprint="00000000")
    assert said(lambda: write_sets(~changed, "sets.csv")).endswith("is as it was")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == old


def test_a_foreign_file_beside_the_sets_is_not_overwritten(tmp_path: Path) -> None:
    """An export of the same stem is not ours to replace; an older guarantee is."""
    sets = plausibly.calibrate(*world(30)).predict(world(5, seed=3, start=90)[0], 0.2)
    for content in ('{"tasks": []}', "[1]", "no json"):
        (tmp_path / "export.json").write_text(content)
        with pytest.raises(InputError, match="output-occupied"):
            write_sets(sets, tmp_path / "export.csv")
        assert (tmp_path / "export.json").read_text() == content
        assert not (tmp_path / "export.csv").exists()
    (tmp_path / "export.json").unlink()
    for _ in range(2):
        write_sets(sets, tmp_path / "export.csv")
    np.testing.assert_array_equal(read_sets(tmp_path / "export.csv").values, sets.values)
