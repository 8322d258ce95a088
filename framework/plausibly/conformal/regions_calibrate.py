"""Calibration of plausibility regions: one score an example, its own plausibilities."""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.conformal import regions_simplex as simplex
from plausibly.conformal.aggregate import aggregate
from plausibly.conformal.components import called
from plausibly.conformal.regions import PlausibilityRegion
from plausibly.conformal.scoring import scores_of
from plausibly.data import align, names, validate
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Floats, Hashes
from plausibly.protocols import SCORE, ComponentLike, ScoreFunction


@attrs.frozen(kw_only=True)
class Scoring:
    """How calibration and new examples are scored alike."""

    component: ScoreFunction
    called: str
    scale: str
    seed: int

    def scores(self, values: Floats, hashes: Hashes) -> Floats:
        """Return the scores (example, label) of predictions."""
        uniform = None
        if self.component.randomised:
            uniform = Keys(self.seed).child("score").uniform(hashes)
        return scores_of(values, self.scale, self.component, self.called, uniform)


def calibrate_region(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    score: ComponentLike[ScoreFunction] = "probability",
    seed: int = 0,
    only_common: bool = False,
) -> PlausibilityRegion:
    """Calibrate regions of plausibility vectors.

    Each calibration example has one score, ``S_i = sum_k lambda_ik E(X_i, k)`` with its own
    plausibilities, and nothing is drawn. At alpha a vector lambda conforms with x where
    ``sum_k lambda_k E(x, k) >= tau``, tau the ``floor(alpha (n + 1))``-th smallest S_i.

    Parameters
    ----------
    predictions : DataArray, (example, label)
        What the model says of the calibration examples; it must not have been trained on them.
    plausibilities : DataArray or Dataset, (example, label)
        Plausibilities, dense or packed, or an annotation table, which is aggregated by the default
        of its kind. Aligned with the predictions by the names of examples and labels.
    score : str, mapping or ScoreFunction
    seed : int
        Seed of randomised scores, which are keyed by the examples' names.
    only_common : bool
        Leave out the examples that only one side has, instead of refusing.

    Returns
    -------
    PlausibilityRegion

    Raises
    ------
    InputError
        Where inputs are malformed or do not match.

    References
    ----------
    Stutz et al., arXiv 2307.09302v1 (the published version leaves regions out).
    """
    model = validate.check_predictions(predictions)
    given = plausibilities
    if isinstance(given, xr.Dataset) and names.RESPONSE_EXAMPLE in given:
        given = aggregate(given, seed=seed)
    lam = validate.check_plausibilities(given, draws=False)
    labels = tuple(str(label) for label in model[names.LABEL].values)
    lam = align.match_labels(lam, labels, whose="plausibilities", other="predictions")
    model, lam = align.match_examples(model, lam, only_common=only_common)
    component = registry.resolve(SCORE, score)
    scoring = Scoring(
        component=component,
        called=called(SCORE, component),
        scale=str(model.attrs[names.SCALE]),
        seed=seed,
    )
    hashes = hash_names(model[names.EXAMPLE].values)
    scores = scoring.scores(model.values, hashes)
    return PlausibilityRegion(
        labels=labels,
        scoring=scoring,
        dtype=model.values.dtype,
        ordered=np.sort(simplex.expected_scores(scores, lam.values)),
        hashes=hashes,
    )
