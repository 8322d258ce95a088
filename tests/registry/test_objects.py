"""Wherever a name goes, an object goes: of a class that has a name here, or that has none."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, Literal

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import registry
from plausibly.plugin import (
    AGGREGATOR,
    ANNOTATION,
    CALIBRATOR,
    COMBINER,
    READER,
    SCORE,
    Aggregator,
    CalibrationData,
    CalibrationScores,
    CalibrationSummary,
    Calibrator,
    Claim,
    Floats,
    Guarantee,
    Keys,
    PValueCombiner,
    PValues,
    Reader,
    ScoreFunction,
)
from plausibly.registry import Registry
from refusals import refused

VOTES = "task,worker,label\n" + "".join(
    f"e{number},w{worker},{'abc'[(number * worker) % 3]}\n"
    for number in range(30)
    for worker in range(4)
)


@attrs.frozen(kw_only=True)
class MyReader(Reader):
    """Reads as the long table does, whatever it is asked."""

    def recognises(self, path: Path, head: bytes) -> bool:
        return False

    def read(self, path: Path, labels: Sequence[str] | None) -> xr.Dataset:
        return registry.resolve(READER, "long-table").read(path, labels)


@attrs.frozen(kw_only=True)
class MyAggregator(Aggregator):
    """Aggregates as another does."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})
    inner: Aggregator = attrs.field(factory=lambda: registry.resolve(AGGREGATOR, "majority-vote"))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        return self.inner.aggregate(annotations, keys)


@attrs.frozen(kw_only=True)
class MyScore(ScoreFunction):
    """The square of the probability, which orders as the probability does."""

    randomised: ClassVar[bool] = False
    reads: ClassVar[Literal["probability"]] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        return probabilities**2


@attrs.frozen(kw_only=True)
class MyCalibrator:
    """Calibrates as another does."""

    inner: Calibrator = attrs.field(factory=lambda: registry.resolve(CALIBRATOR, "expected"))

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        return self.inner.calibrate(data, keys)


@attrs.frozen(kw_only=True)
class MyCombiner(PValueCombiner):
    """The mean, and its guarantee."""

    held_out: ClassVar[float] = 0.0
    needs: ClassVar[Literal["mean"]] = "mean"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        return p.mean()

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        return registry.resolve(COMBINER, "average").guarantee(claim, summary, alpha)


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


@pytest.fixture
def predictions() -> xr.DataArray:
    values = np.random.default_rng(3).dirichlet((2.0, 1.0, 1.0), 30)
    names = [f"e{number}" for number in range(30)]
    return xr.DataArray(
        values, dims=("example", "label"), coords={"example": names, "label": list("abc")}
    )


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A registry of this test alone, so that what it registers goes away."""
    made = Registry()
    monkeypatch.setattr(registry, "default", lambda: made)
    return made


def test_a_reader(votes: Path) -> None:
    by_name = plausibly.read_annotations(votes, "long-table")
    by_object = plausibly.read_annotations(votes, registry.resolve(READER, "long-table"))
    by_table = plausibly.read_annotations(votes, {"name": "long-table"})
    xr.testing.assert_identical(by_name, by_object)
    xr.testing.assert_identical(by_name, by_table)
    mine = plausibly.read_annotations(votes, MyReader())
    assert mine.attrs["reader"] == "MyReader"
    xr.testing.assert_equal(by_name, mine)


def test_everything_that_calibrates(votes: Path, predictions: xr.DataArray, tmp_path: Path) -> None:
    table = plausibly.read_annotations(votes)
    nested = {"name": "majority-vote", "ties": "first"}
    by_name = plausibly.calibrate(predictions, table, aggregator=nested)
    mine = plausibly.calibrate(
        predictions,
        table,
        aggregator=MyAggregator(inner=registry.resolve(AGGREGATOR, nested)),
        calibrator=MyCalibrator(),
        score=MyScore(),
        combiner=MyCombiner(),
    )
    for alpha in (0.1, 0.4):
        np.testing.assert_array_equal(
            by_name.predict(predictions, alpha).values, mine.predict(predictions, alpha).values
        )
    assert mine.guarantee(0.1).level == by_name.guarantee(0.1).level
    with refused("component-unregistered", 'register(SCORE, "my-score", MyScore) before this'):
        mine.save(tmp_path / "predictor.nc")
    assert not (tmp_path / "predictor.nc").exists()


def test_registered_in_a_script_it_has_a_name(
    own_registry: Registry, votes: Path, predictions: xr.DataArray, tmp_path: Path
) -> None:
    plausibly.register(SCORE, "squared", MyScore)
    plausibly.register(COMBINER, "my-mean", MyCombiner)
    plausibly.register(AGGREGATOR, "mine", MyAggregator)
    plausibly.register(CALIBRATOR, "my-expected", MyCalibrator)
    plausibly.register(READER, "my-table", MyReader)
    table = plausibly.read_annotations(votes, "my-table")
    assert table.attrs["reader"] == "my-table"
    predictor = plausibly.calibrate(
        predictions,
        table,
        aggregator={"name": "mine", "inner": {"name": "majority-vote", "ties": "first"}},
        calibrator="my-expected",
        score="squared",
        combiner=MyCombiner(),
    )
    predictor.save(tmp_path / "predictor.nc")
    loaded = plausibly.load_predictor(tmp_path / "predictor.nc")
    assert [type(loaded.score), type(loaded.combiner)] == [MyScore, MyCombiner]
    xr.testing.assert_identical(
        loaded.predict(predictions, 0.1), predictor.predict(predictions, 0.1)
    )


def test_no_api_takes_a_component_by_name_only() -> None:
    """A parameter that is called like a kind is typed as a name, a table or an object."""
    kinds = {kind.name for kind in (ANNOTATION, READER, AGGREGATOR, SCORE, CALIBRATOR, COMBINER)}
    found = 0
    for name in dir(plausibly):
        function = getattr(plausibly, name)
        if not inspect.isfunction(function):
            continue
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name in kinds:
                found += 1
                assert str(parameter.annotation).startswith("ComponentLike["), (name, parameter)
    assert found >= 6


def test_readers_that_cannot_be_loaded_are_named(
    own_registry: Registry, tmp_path: Path, votes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "extra_xyz.py").write_text(
        "from plausibly.plugin import require\n"
        "require('not_there_xyz', extra='crowd', source='reader needy')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    plausibly.register(READER, "needy", "extra_xyz:Reader")
    assert plausibly.read_annotations(votes).sizes["example"] == 30
    (tmp_path / "odd.txt").write_text("who knows\n")
    with refused("format-unknown", "not asked: reader needy needs not_there_xyz"):
        plausibly.read_annotations(tmp_path / "odd.txt")
    plausibly.register(READER, "broken", "broken_xyz:Reader")
    with pytest.warns(plausibly.PlausiblyWarning) as caught:
        plausibly.read_annotations(votes)
    texts = [" ".join(str(one.message).split()) for one in caught]
    assert any(text.startswith("warning reader-failed: reader broken cannot be") for text in texts)
