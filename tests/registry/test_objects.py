"""Wherever a name goes, an object goes: of a class that has a name here, or that has none."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import registry
from plausibly.plugin import AGGREGATOR, CALIBRATOR, COMBINER, READER, SCORE
from plausibly.protocols import KIND_BY_NAME, Kind
from plausibly.registry import Registry
from refusals import refused

VOTES = "task,worker,label\n" + "".join(
    f"e{number},w{worker},{'abc'[(number * worker) % 3]}\n"
    for number in range(30)
    for worker in range(4)
)
FIRST = {"name": "majority-vote", "ties": "first"}


def own_class(kind: Kind[Any], name: str) -> Any:  # Any: a component of each kind
    """Return a class without a name here, whose objects do what a built-in does."""
    base = type(registry.resolve(kind, name))
    return type(f"My{kind.name.title()}", (base,), {"__module__": __name__})


MyReader = own_class(READER, "long-table")
MyAggregator = own_class(AGGREGATOR, "majority-vote")
MyScore = own_class(SCORE, "probability")
MyCalibrator = own_class(CALIBRATOR, "expected")
MyCombiner = own_class(COMBINER, "average")


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A registry of this test alone, so that what it registers goes away."""
    made = Registry()
    monkeypatch.setattr(registry, "default", lambda: made)
    return made


def test_objects_give_the_results_of_names(own_registry: Registry, votes: Path) -> None:
    values = np.random.default_rng(3).dirichlet((2.0, 1.0, 1.0), 30)
    coordinates = {"example": [f"e{number}" for number in range(30)], "label": list("abc")}
    predictions = xr.DataArray(values, coordinates, ("example", "label"))
    by_name = plausibly.read_annotations(votes, "long-table")
    xr.testing.assert_identical(by_name, plausibly.read_annotations(votes, {"name": "long-table"}))
    mine = plausibly.read_annotations(votes, MyReader())
    assert mine.attrs["reader"] == "MyReader"
    xr.testing.assert_equal(by_name, mine)
    expected = plausibly.calibrate(predictions, by_name, aggregator=FIRST)
    ours = plausibly.calibrate(
        predictions,
        by_name,
        aggregator=MyAggregator(ties="first"),
        calibrator=MyCalibrator(),
        score=MyScore(),
        combiner=MyCombiner(),
    )
    for alpha in (0.1, 0.4):
        sets = expected.predict(predictions, alpha).values
        np.testing.assert_array_equal(ours.predict(predictions, alpha).values, sets)
    assert ours.guarantee(0.1).level == expected.guarantee(0.1).level
    path = votes.with_name("predictor.nc")
    with refused("component-unregistered", 'register(SCORE, "my-score", MyScore) before this'):
        ours.save(path)
    assert not path.exists()
    for kind, cls in {
        "score": MyScore,
        "combiner": MyCombiner,
        "aggregator": MyAggregator,
        "calibrator": MyCalibrator,
        "reader": MyReader,
    }.items():
        plausibly.register(KIND_BY_NAME[kind], f"my-{kind}", cls)
    table = plausibly.read_annotations(votes, "my-reader")
    assert table.attrs["reader"] == "my-reader"
    named = plausibly.calibrate(
        predictions,
        table,
        aggregator={"name": "my-aggregator", "ties": "first"},
        calibrator="my-calibrator",
        score="my-score",
        combiner=MyCombiner(),
    )
    named.save(path)
    loaded = plausibly.load_predictor(path)
    assert [type(loaded.score), type(loaded.combiner)] == [MyScore, MyCombiner]
    xr.testing.assert_identical(loaded.predict(predictions, 0.1), named.predict(predictions, 0.1))


def test_no_api_takes_a_component_by_name_only() -> None:
    """A parameter that is called like a kind is typed as a name, a table or an object."""
    count = 0
    for name in dir(plausibly):
        function = getattr(plausibly, name)
        for parameter in (
            inspect.signature(function).parameters.values() if inspect.isfunction(function) else ()
        ):
            if parameter.name in KIND_BY_NAME:
                count += 1
                assert str(parameter.annotation).startswith("ComponentLike["), (name, parameter)
    assert count >= 6


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
