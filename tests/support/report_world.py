"""A small made world of a report: predictions, votes by name, and an oracle in plain loops."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import xarray as xr

import plausibly
from plausibly.calibration.alphas import AlphaLike
from plausibly.report import sources
from plausibly.report.model import ReportData
from plausibly.report.subject import Options, Subject
from plausibly.report.write import build
from refusals import quiet
from tables import labelled

LABELS = ("cat", "dog", "fox", "owl")
METHODS: dict[str, dict[str, object]] = {
    "everyone": {"calibrator": "expected"},
    "largest": {"calibrator": {"name": "monte-carlo", "draws": 3}, "combiner": "maximum"},
}


@attrs.frozen(kw_only=True, eq=False)
class Made:
    """Predictions and votes of the same examples."""

    predictions: xr.DataArray
    annotations: xr.Dataset
    votes: list[tuple[str, str, str]]

    @property
    def plausibilities(self) -> xr.DataArray:
        shares = plausibly.aggregate(self.annotations)
        assert isinstance(shares, xr.DataArray)
        return shares.sel(
            example=self.predictions["example"].values, label=self.predictions["label"].values
        )


def world(
    n: int = 60,
    labels: Sequence[str] = LABELS,
    *,
    examples: Sequence[str] | None = None,
    annotators: Sequence[str] = ("ann", "bob", "cyd"),
    agreed: bool = False,
) -> Made:
    """Return predictions of a model that is often right, and what three annotators said."""
    rng = np.random.default_rng(0)
    wide = len(labels)
    names = [f"e{i:05d}" for i in range(n)] if examples is None else list(examples)
    truth = rng.dirichlet(np.full(wide, 0.4), size=n)
    model = 0.8 * truth + 0.2 * rng.dirichlet(np.ones(wide), size=n)
    predictions = labelled(
        model / model.sum(axis=1, keepdims=True),
        names,
        labels,
        site=np.where(np.arange(n) % 3 == 0, "north", "south"),
        sex=np.where(np.arange(n) % 5 < 2, "f", "m"),
        attrs={"scale": "probability"},
    )
    drawn = (rng.random((n, len(annotators), 1)) > truth.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    if agreed:
        drawn[:] = drawn[:, :1]
    votes = [
        (name, who, str(labels[drawn[row, at]]))
        for row, name in enumerate(names)
        for at, who in enumerate(annotators)
    ]
    return Made(predictions=predictions, annotations=table(votes, labels), votes=votes)


def table(votes: Sequence[tuple[str, str, str]], labels: Sequence[str]) -> xr.Dataset:
    return plausibly.build_annotations("single-label", votes, list(labels))


def compared(made: Made, *, alphas: Sequence[float] = (0.2, 0.1), splits: int = 2) -> xr.Dataset:
    with quiet():
        return plausibly.compare(
            made.predictions, made.plausibilities, METHODS, alphas=list(alphas), splits=splits
        ).data


def of_compared(
    made: Made, study: xr.Dataset | None = None, options: Options | None = None
) -> ReportData:
    data = Subject(
        predictions=made.predictions,
        plausibilities=made.plausibilities,
        annotations=made.annotations,
        alphas=(),
        options=options or Options(title="A study"),
    )
    result = compared(made) if study is None else study
    return build(sources.subject_of_comparison(result, data, METHODS))


def of_new(
    made: Made,
    *,
    calibrating: int = 30,
    alphas: Sequence[AlphaLike] = (0.2,),
    options: Options | None = None,
) -> ReportData:
    """Return the data of the report on a predictor: all but its calibration examples are new."""
    model, shares = made.predictions, made.plausibilities
    predictor = plausibly.calibrate(model[:calibrating], shares[:calibrating])
    new = (model[calibrating:], shares[calibrating:], alphas, made.annotations)
    return build(subject_of(predictor, *new, options or Options(title="A predictor")))


def subject_of(
    predictor: plausibly.ConformalPredictor,
    predictions: xr.DataArray,
    plausibilities: xr.DataArray,
    alphas: Sequence[AlphaLike],
    annotations: xr.Dataset | None = None,
    options: Options | None = None,
) -> Subject:
    """Return the subject of the report on a predictor and new examples."""
    data = Subject(
        predictions=predictions,
        plausibilities=plausibilities,
        annotations=annotations,
        alphas=list(alphas),
        options=options or Options(title="x"),
    )
    return sources.subject_of_predictor(predictor, data)


def embedded(page: str) -> dict[str, Any]:  # Any: whatever JSON holds
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    data: dict[str, Any] = json.loads(match.group(1))  # Any: as above
    return data
