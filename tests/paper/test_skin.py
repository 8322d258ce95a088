"""The skin case from its folder: what is read, what is refused, and what is made up."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from plausibly.errors import InputError
from plausibly.paper import data as skin
from plausibly.paper.run import reproduce

from .runs import CASES, CONDITIONS, DERM, skin_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return skin_folder(tmp_path)


def refused(folder: Path, name: str) -> InputError:
    with pytest.raises(InputError) as caught:
        skin.read(folder)
    assert caught.value.name == name
    return caught.value


def test_files_are_read_case_by_case(folder: Path) -> None:
    data = skin.read(folder)
    lam = data.plausibilities
    cases = json.loads((folder / skin.ANNOTATIONS).read_text(encoding="utf-8"))
    for case in (0, 7, CASES - 1):
        weights = np.zeros(CONDITIONS)
        for ranking in cases[case]:
            for place, block in enumerate(ranking, start=1):
                weights[block] += 1 / (place * len(block))
        row = lam.sel(example=str(case)).values
        assert np.allclose(row, weights / weights.sum())
    written = np.loadtxt(folder / skin.PREDICTIONS[0])
    assert np.allclose(data.predictions.sel(example="7").values, written[7], atol=1e-3)
    assert np.allclose(data.predictions.values.sum(axis=1), 1, atol=1e-12)
    assert not data.simulated
    (folder / skin.PREDICTIONS[0]).rename(folder / skin.PREDICTIONS[2])
    assert skin.read(folder).about.endswith(skin.PREDICTIONS[2])


def test_what_is_missing_is_named(folder: Path, tmp_path: Path) -> None:
    (folder / skin.PREDICTIONS[0]).unlink()
    missing = refused(folder, "derm-file-missing")
    assert missing.what == f"{folder} has no dermatology_predictions0.txt"
    assert missing.found == "dermatology_conditions.txt, dermatology_selectors.json"
    assert missing.hint.endswith("or make it up: simulate=True (--simulate)")
    assert skin.read(folder, simulate=True).simulated
    nowhere = refused(tmp_path / "nowhere", "derm-file-missing")
    assert nowhere.what.endswith("has no dermatology_selectors.json")
    assert nowhere.hint.endswith("derm=... (--derm FOLDER)")


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (np.full((10, CONDITIONS), 1 / CONDITIONS), f"10 rows of {CONDITIONS}"),
        (np.empty((0, 1)), "0 rows of"),
        (-np.full((CASES, CONDITIONS), 1 / CONDITIONS), "no distribution in rows 1, 2, 3"),
    ],
)
def test_predictions_that_do_not_fit_are_refused(
    folder: Path, rows: np.ndarray, found: str
) -> None:
    np.savetxt(folder / skin.PREDICTIONS[0], rows, fmt="%.3e")
    error = refused(folder, "derm-numbers")
    assert error.expected == f"{CASES} rows (cases) of {CONDITIONS} numbers (conditions)"
    assert error.found.startswith(found)


def test_made_up_predictions_depend_on_the_seed_and_the_case(folder: Path) -> None:
    one, same, other = (skin.read(folder, simulate=True, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.predictions.values, same.predictions.values)
    assert not np.array_equal(one.predictions.values, other.predictions.values)
    assert np.allclose(one.predictions.values.sum(axis=1), 1)


# Sets of a few conditions and cases: ECDF is vacuous, which is said.
@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_the_real_files_make_skin_figures(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = reproduce(DERM, out, splits=2, derm=folder)
    assert [one.name for one in found] == list(DERM)
    assert {one.numbers.attrs["data"] for one in found} == {"derm"}
    assert {path.name for path in out.iterdir()} == {
        "claims.txt",
        *(f"{name}.{ending}" for name in DERM for ending in ("png", "csv")),
    }


@pytest.mark.realdata
def test_the_skin_annotations_are_those_of_the_paper(shared: Path) -> None:
    data = skin.read(shared / "data" / "derm_ddx", simulate=True)
    lam = data.plausibilities.values
    assert lam.shape == (1947, 419)
    assert lam.max(axis=1).mean() == pytest.approx(0.598, abs=5e-4)
    assert (lam.max(axis=1) > 1 - 1e-9).sum() == 131
    assert (lam > 0).sum(axis=1).mean() == pytest.approx(3.96, abs=5e-3)
    vote = lam.argmax(axis=1)
    first = np.argsort(-data.predictions.values, axis=1, kind="stable")[:, :3]
    # The made-up model is about as good as the paper's: 0.726.
    assert (first == vote[:, None]).any(axis=1).mean() == pytest.approx(0.72, abs=0.02)
