"""What a user of the installed wheel may rely on: every line here is right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, Literal, assert_type

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
    CalibrationData,
    CalibrationScores,
    CalibrationSummary,
    Calibrator,
    Claim,
    ComponentLike,
    Floats,
    Guarantee,
    Keys,
    PValueCombiner,
    PValues,
    Reader,
    Record,
    Registrar,
    ScoreFunction,
    hookimpl,
    resolve,
)


@attrs.frozen(kw_only=True)
class Kind(Annotation):
    """An annotation."""

    name: ClassVar[str] = "kind"

    def build(self, records: Iterable[Record], labels: Sequence[str] | None) -> xr.Dataset:
        """Build."""
        raise NotImplementedError

    def validate(self, table: xr.Dataset) -> None:
        """Validate."""


@attrs.frozen(kw_only=True)
class Syntax(Reader):
    """A reader with an option."""

    delimiter: str = ","

    def recognises(self, path: Path, head: bytes) -> bool:
        """Recognise."""
        return path.suffix == ".kind" and head.startswith(b"kind")

    def read(self, path: Path, labels: Sequence[str] | None) -> xr.Dataset:
        """Read."""
        raise NotImplementedError


@attrs.frozen(kw_only=True)
class Shares(Aggregator):
    """An aggregator with a parameter."""

    accepts: ClassVar[frozenset[str]] = frozenset({"kind"})

    prior: float = 1.0

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Aggregate."""
        raise NotImplementedError


@attrs.frozen(kw_only=True)
class Fit(ScoreFunction):
    """A score."""

    randomised: ClassVar[bool] = False
    reads: ClassVar[Literal["probability"]] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        """Score."""
        return probabilities


@attrs.frozen(kw_only=True)
class Atoms:
    """A calibrator."""

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Choose atoms."""
        return CalibrationScores(scores=data.scores_at(data.draw(3, keys)))


@attrs.frozen(kw_only=True)
class Merge(PValueCombiner):
    """A combiner whose share the user sets: a field is as good as a class variable."""

    held_out: float = 0.5
    needs: ClassVar[Literal["mean"]] = "mean"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        """Combine."""
        return p.mean()

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Promise."""
        return summary.guarantee_of_rank(claim, alpha, reason="because", reference="a book")


@hookimpl
def register(registrar: Registrar) -> None:
    """Offer all of them, by themselves or by where they are."""
    registrar.add(ANNOTATION, "kind", Kind)
    registrar.add(READER, "syntax", Syntax, summary="a syntax")
    registrar.add(AGGREGATOR, "shares", Shares)
    registrar.add(SCORE, "fit", "right:Fit")
    registrar.add(CALIBRATOR, "atoms", Atoms)
    registrar.add(COMBINER, "merge", Merge, extra="merge")


def types_of_what_is_made(made: registry.Registry, like: ComponentLike[Aggregator]) -> None:
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
    """Where a name goes, a table and an object go."""
    plausibly.register(AGGREGATOR, "shares", Shares, summary="shares")
    plausibly.register(COMBINER, "merge", "right:Merge")
    assert_type(plausibly.aggregate(votes, Shares(prior=2.0)), xr.DataArray)
    predictor = plausibly.calibrate(
        predictions,
        votes,
        calibrator=Atoms(),
        score={"name": "fit"},
        combiner="merge",
        aggregator=Shares(),
    )
    assert_type(predictor, plausibly.ConformalPredictor)
    assert_type(predictor.guarantee(0.1), Guarantee)
