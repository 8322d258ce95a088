"""Valid use of the installed wheel: mypy accepts every line."""

from __future__ import annotations

from typing import ClassVar, assert_type

import attrs
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
    Annotation,
    Calibrator,
    ComponentLike,
    Guarantee,
    Keys,
    PValueCombiner,
    Reader,
    Registrar,
    ScoreFunction,
    hookimpl,
    resolve,
)


@attrs.frozen(kw_only=True)
class Shares(Aggregator):
    accepts: ClassVar[frozenset[str]] = frozenset({"kind"})

    prior: float = 1.0

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        raise NotImplementedError


@hookimpl
def register(registrar: Registrar) -> None:
    registrar.add(AGGREGATOR, "shares", Shares, summary="shares", extra="shares")
    registrar.add(AGGREGATOR, "more-shares", "right:Shares")


def types_of_components(made: registry.Registry, like: ComponentLike[Aggregator]) -> None:
    """A kind gives the static type of what a name, a table or an object stands for."""
    assert_type(made.create(AGGREGATOR, "inverse-rank"), Aggregator)
    assert_type(made.create(AGGREGATOR, {"name": "shares", "prior": 2.0}), Aggregator)
    assert_type(made.create(AGGREGATOR, Shares()), Aggregator)
    assert_type(made.create(AGGREGATOR, like), Aggregator)
    assert_type(made.create(ANNOTATION, "single-label"), Annotation)
    assert_type(registry.resolve(READER, "counts"), Reader)
    assert_type(resolve(SCORE, "probability"), ScoreFunction)
    assert_type(resolve(CALIBRATOR, "monte-carlo", {"draws": 3}), Calibrator)
    assert_type(resolve(COMBINER, "average"), PValueCombiner)


def names_tables_and_objects(predictions: xr.DataArray, votes: xr.Dataset) -> None:
    plausibly.register(AGGREGATOR, "shares", Shares, summary="shares")
    assert_type(plausibly.aggregate(votes, Shares(prior=2.0)), xr.DataArray)
    score: dict[str, object] = {"name": "aps"}
    predictor = plausibly.calibrate(
        predictions, votes, score=score, combiner="average", aggregator=Shares()
    )
    assert_type(predictor, plausibly.ConformalPredictor)
    assert_type(predictor.guarantee(0.1), Guarantee)
