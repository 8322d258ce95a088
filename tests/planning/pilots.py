"""A made-up pilot: a model, votes of several annotators, and clusters of alike examples."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import xarray as xr

import plausibly
from plausibly.plugin import build_table
from tables import labelled

LABELS = ("a", "b", "c", "d")


def pilot(
    examples: int = 400, votes: int = 5, *, clusters: int = 40, seed: int = 0
) -> tuple[xr.DataArray, xr.Dataset]:
    """Return predictions, with the coordinate ``patient``, and an annotation table of votes.

    Examples of one patient are alike: the model errs for all of them in the same direction.
    """
    rng = np.random.default_rng(seed)
    patient = rng.integers(clusters, size=examples)
    shared = rng.normal(size=(clusters, len(LABELS)))[patient]
    truth = rng.dirichlet(np.full(len(LABELS), 0.6), size=examples)
    logits = np.log(truth + 0.05) + 0.4 * shared + 0.4 * rng.normal(size=truth.shape)
    weights = np.exp(logits)
    names = [f"e{number:04}" for number in range(examples)]
    predictions = labelled(
        weights / weights.sum(axis=1, keepdims=True),
        names,
        patient=[f"p{code}" for code in patient],
        attrs={"scale": "probability"},
    )
    chosen = (rng.random((examples, votes, 1)) > truth.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    codes = np.arange(examples * votes)
    table = build_table(
        "single-label",
        examples=names,
        annotators=[f"q{number}" for number in range(votes)],
        labels=LABELS,
        response_example=codes // votes,
        response_annotator=codes % votes,
        mention_response=codes,
        mention_label=chosen.ravel(),
    )
    return predictions, table


Argument: TypeAlias = Any  # of plausibly.plan, which checks it
PREDICTIONS, VOTES = pilot(300, 5)
LAM = plausibly.aggregate(VOTES)


def planned(
    predictions: xr.DataArray = PREDICTIONS, said: Argument = VOTES, **more: Argument
) -> xr.Dataset:
    return plausibly.plan(predictions, said, **{"resamples": 10, "n": [100, 300], **more}).data
