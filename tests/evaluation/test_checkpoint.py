"""Stopped studies continue with the same bits, and only as the same study."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xarray as xr

from components import Failing, Grumbling, Slow
from plausibly import compare, registry
from plausibly.errors import InputError
from plausibly.evaluation.checkpoint import MANIFEST, Checkpoint
from plausibly.evaluation.design import MethodTable
from plausibly.plugin import CALIBRATOR, SCORE
from plausibly.registry import Registry

from .studies import computed, sites, with_warnings

__all__ = ["computed"]

METHODS: dict[str, MethodTable] = {
    "majority-vote": {"calibrator": "majority-vote", "score": "grumbling"},
    "drawn": {"calibrator": {"name": "monte-carlo", "draws": 3}, "combiner": "maximum"},
    "none": {"calibrator": "monte-carlo", "combiner": "fisher", "allow_no_guarantee": True},
    "ecdf": {"calibrator": "monte-carlo", "combiner": "ecdf"},
}
ONE = {"drawn": METHODS["drawn"]}
OPTIONS: dict[str, object] = {
    "alphas": ["0.1", 0.25],
    "sizes": [12, 20],
    "draws": [1, 3],
    "cluster": "patient",
    "stratify": "site",
    "seed": 4,
}
PREDICTIONS, LAM = sites(60)


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    components = Registry()
    components.register(SCORE, "grumbling", Grumbling)
    components.register(CALIBRATOR, "slow", Slow)
    monkeypatch.setattr(registry, "default", lambda: components)


def study(
    folder: Path | None,
    splits: int = 4,
    *,
    predictions: xr.DataArray = PREDICTIONS,
    plausibilities: xr.DataArray = LAM,
    methods: dict[str, MethodTable] = METHODS,
    **options: object,
) -> tuple[xr.Dataset, list[str]]:
    chosen = {**OPTIONS, "splits": splits, "checkpoint": folder, **options}
    return with_warnings(lambda: compare(predictions, plausibilities, methods, **chosen).data)  # type: ignore[arg-type]  # by name


def test_a_stopped_study_continues(tmp_path: Path, computed: list[int]) -> None:
    steps: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study(tmp_path / "kept", progress=stop)
    assert computed == [0, 1, 2]
    assert Checkpoint(folder=tmp_path / "kept").finished(4) == 3
    (tmp_path / "kept" / "split-1.json").unlink()
    computed.clear()
    result, messages = study(tmp_path / "kept", progress=lambda *step: steps.append(step))
    assert computed == [1, 3]
    assert steps == [(2, 4), (3, 4), (4, 4)]
    computed.clear()
    again, twice = study(tmp_path / "kept")
    assert computed == []
    expected, once = study(None)
    for read in (result, again):
        xr.testing.assert_identical(read, expected)
        types = {name: values.dtype for name, values in expected.variables.items()}
        assert {name: values.dtype for name, values in read.variables.items()} == types
    assert messages == once == twice
    assert sum("grumbling" in text for text in messages) == 1
    assert sum("FutureWarning: and tired" in text for text in messages) == 1
    assert sum("guarantee-vacuous" in text for text in messages) >= 1


def test_finished_splits_serve_any_number_of_splits(tmp_path: Path, computed: list[int]) -> None:
    study(tmp_path, 2, methods=ONE)
    study(tmp_path, 4, methods=ONE)
    assert computed == [0, 1, 2, 3]
    three = study(tmp_path, 3, methods=ONE)[0]
    assert computed == [0, 1, 2, 3]
    large = study(None, methods=ONE)[0]
    xr.testing.assert_equal(three[["set_size"]], large[["set_size"]].isel(split=slice(3)))


OTHER: dict[str, MethodTable] = {
    "drawn": {"calibrator": {"name": "monte-carlo", "draws": 4}, "combiner": "maximum"},
    "expected": {},
}
COORDINATES = [f'coordinate "{name}"' for name in ("example", "patient", "site")]
WEST = PREDICTIONS.assign_coords(site=("example", ["west"] * 60))


@pytest.mark.parametrize(
    ("changes", "differences"),
    [
        ({"seed": 5, "cluster": None}, ["seed 5, was 4", 'cluster null, was "patient"']),
        ({"sizes": [12]}, ["sizes [12], was [12, 20]"]),
        ({"draws": None}, ["draws null, was [1, 3]"]),
        ({"ties": "any"}, ['ties "any", was "first"']),
        ({"stratify": None}, ["strata"]),
        ({"true_label": LAM.idxmax("label")}, ["known labels"]),
        ({"predictions": PREDICTIONS.copy(data=PREDICTIONS.values[:, ::-1])}, ["predictions"]),
        ({"plausibilities": LAM.copy(data=LAM.values[:, ::-1])}, ["plausibilities"]),
        (
            {"predictions": PREDICTIONS[:-2], "plausibilities": LAM[:-2], "stratify": None},
            [*COORDINATES, "predictions", "plausibilities", "strata"],
        ),
        ({"predictions": WEST}, ['coordinate "site"', "strata"]),
        (
            {"methods": OTHER},
            ['methods ["drawn", "expected"], was ["drawn"]', 'method "drawn"', 'method "expected"'],
        ),
    ],
)
def test_another_study_is_refused_with_its_differences(
    tmp_path: Path, changes: dict[str, object], differences: list[str]
) -> None:
    study(tmp_path, 1, methods=ONE)
    with pytest.raises(InputError) as refused:
        study(tmp_path, 1, **{"methods": ONE, **changes})  # type: ignore[arg-type]  # by name
    assert refused.value.name == "checkpoint-other"
    assert refused.value.details["differences"] == differences


def test_rows_in_another_order_are_the_same_study(tmp_path: Path, computed: list[int]) -> None:
    first, _ = study(tmp_path, 2, methods=ONE)
    second, _ = study(tmp_path, 2, methods=ONE, predictions=PREDICTIONS[::-1])
    third, _ = study(tmp_path, 2, methods=ONE, plausibilities=LAM[::-1])
    assert computed == [0, 1]
    xr.testing.assert_identical(first, second)
    xr.testing.assert_identical(first, third)


def test_splits_of_another_version_or_format_are_refused(tmp_path: Path) -> None:
    study(tmp_path, 1, methods=ONE)
    about = json.loads((tmp_path / MANIFEST).read_text())
    (tmp_path / MANIFEST).write_text(json.dumps({**about, "plausibly": "0.0.9", "format": 0}))
    with pytest.raises(InputError, match="checkpoint-other") as refused:
        study(tmp_path, 1, methods=ONE)
    assert refused.value.found == f'format 1, was 0, plausibly "{about["plausibly"]}", was "0.0.9"'


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("mine.txt", "kept", "No such file or directory"),
        (MANIFEST, "[1]", "cannot convert dictionary"),
        ("", "kept", "Not a directory"),
    ],
)
def test_a_folder_of_something_else_is_refused(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    file = tmp_path / "kept" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    with pytest.raises(InputError) as refused:
        study(tmp_path / "kept")
    assert refused.value.name == "checkpoint-unknown"
    assert problem in refused.value.found
    assert file.read_text() == text


def test_a_split_that_cannot_be_read_is_computed_again(tmp_path: Path, computed: list[int]) -> None:
    expected, _ = study(tmp_path, 2, methods=ONE)
    for content in (b"", b"{}", b"[]"):
        (tmp_path / "split-1.json").write_bytes(content)
        computed.clear()
        again, _ = study(tmp_path, 2, methods=ONE)
        assert computed == [1]
        xr.testing.assert_identical(again, expected)


def test_half_written_files_of_a_killed_study_are_computed_again(tmp_path: Path) -> None:
    expected, _ = study(tmp_path, 2, methods=ONE)
    (tmp_path / "split-1.json").unlink()
    for name in (MANIFEST, "split-1.json", "split-7.json"):
        (tmp_path / f"{name}-part").write_text('{"number": 1')
    assert Checkpoint(folder=tmp_path).finished(8) == 1
    again, _ = study(tmp_path, 2, methods=ONE)
    xr.testing.assert_identical(again, expected)
    (tmp_path / "mine.txt").write_text("kept")
    Checkpoint(folder=tmp_path).discard()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    (tmp_path / "mine.txt").unlink()
    for _ in range(2):  # also where there is nothing any more
        Checkpoint(folder=tmp_path).discard()
        assert not tmp_path.exists()


def test_components_without_a_name_are_refused(tmp_path: Path) -> None:
    methods: dict[str, MethodTable] = {"mine": {"calibrator": Failing(share=0.0)}}
    with pytest.raises(InputError, match="checkpoint-component"):
        compare(PREDICTIONS, LAM, methods, splits=1, alphas=0.3, checkpoint=tmp_path)
    compare(PREDICTIONS, LAM, methods, splits=1, alphas=0.3)
