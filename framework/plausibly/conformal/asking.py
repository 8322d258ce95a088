"""Labelled new examples to what is asked of a calibration, and what is said about them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from plausibly.calibration.as_given import scores_as_given
from plausibly.calibration.coordinates import group_names, new_values
from plausibly.calibration.examples import Examples
from plausibly.calibration.facts import Facts
from plausibly.calibration.queries import Queries
from plausibly.calibration.replicates import LABEL_CELLS, Replicates
from plausibly.calibration.vacuity import warn_of_heavy, warn_of_unseen
from plausibly.calibration.weights import check_weights
from plausibly.conformal.labelled_sets import NewExamples
from plausibly.conformal.scoring import scores_of
from plausibly.data import names
from plausibly.kernels import blocks
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Bools, Floats
from plausibly.protocols import ScoreFunction


def queries_of(
    test: NewExamples,
    replicates: Replicates,
    *,
    score: ScoreFunction,
    facts: Facts,
    splits_ties: bool,
    compared: bool = False,
) -> Queries:
    """Return what a calibration is asked about new examples.

    Parameters
    ----------
    test : NewExamples
    replicates : Replicates
        Say what is read of a new example: a group, a weight, augmentations.
    score : ScoreFunction
    facts : Facts
    splits_ties : bool
        Whether the combiner may need a uniform an example.
    compared : bool
        Whether scores are only compared with a threshold: then they may be the predictions
        themselves, and are not to be changed.

    Raises
    ------
    InputError
        Where a coordinate is missing that the calibrator reads.
    """
    whose = f"calibrator {facts.calibrator}"
    keys = Keys(facts.seed)
    if compared and scores_as_given(score, facts.scale):
        scores = test.values
    else:
        uniform = score_uniforms(score, keys, test.examples, test.values)
        scores = scores_of(test.values, facts.scale, score, facts.score, uniform)
    order = None
    if replicates.reads == "mean":
        scores = mean_scores(scores)
    elif replicates.reads == "separate":
        # In a random order any p-values are exchangeable.
        spread = keys.child("order").uniform(test.examples.hashes, len(scores))
        order = np.argsort(spread, axis=1, kind="stable").T
    cell = None
    if replicates.by not in ("", LABEL_CELLS):
        found = group_names(new_values(test.checked, replicates.by, whose=whose))
        cell = names.positions(list(replicates.cells), found.tolist())
    weight = None
    if replicates.weight_by:
        values = new_values(test.checked, replicates.weight_by, whose=whose)
        weight = check_weights(values, replicates.weight_by, whose="predictions")
    return Queries(
        scores=scores,
        cell=cell,
        weight=weight,
        uniform=keys.child("smoothing").uniform(test.examples.hashes) if splits_ties else None,
        order=order,
    )


def score_uniforms(
    score: ScoreFunction, keys: Keys, examples: Examples, values: Floats
) -> Floats | None:
    """Return one uniform an example for a randomised score, the same for its augmentations.

    Parameters
    ----------
    score : ScoreFunction
    keys : Keys
    examples : Examples
    values : ndarray, ([augmentation,] example, label)
    """
    if not score.randomised:
        return None
    uniform = keys.child("score").uniform(examples.hashes)
    return np.array(np.broadcast_to(uniform, (*values.shape[:-1], 1)))


def mean_scores(scores: Floats) -> Floats:
    """Return the mean over augmentations, (example, label), in the scores' own float type."""
    means: Floats = scores.mean(axis=0, dtype=np.float64).astype(scores.dtype)
    return means


def largest_scores(scores: Floats) -> Floats:
    """Return the largest score of each example, (example,), of the mean over augmentations."""
    plain = mean_scores(scores) if scores.ndim == 3 else scores
    return blocks.largest(plain)


def warn_of_unseen_groups(test: NewExamples, queries: Queries, replicates: Replicates) -> None:
    """Warn of new examples of groups that calibration lacks."""
    if queries.cell is None or not (queries.cell < 0).any():
        return
    unseen = queries.cell < 0
    found = group_names(new_values(test.checked, replicates.by, whose="predictor"))
    examples = [str(name) for name in test.checked[names.EXAMPLE].values[unseen]]
    warn_of_unseen(examples, sorted(set(found[unseen].tolist())), replicates.by)


def warn_of_weights(
    queries: Queries,
    replicates: Replicates,
    sets: Sequence[Bools],
    alphas: Sequence[Fraction],
) -> None:
    """Warn of new examples that get every label because of their weight.

    Parameters
    ----------
    queries : Queries
    replicates : Replicates
    sets : sequence of ndarray of bool, (example, label)
        One an alpha.
    alphas : sequence of Fraction
    """
    if queries.weight is not None and replicates.weight is not None:
        total = _weight_of_others(queries, replicates)
        for one, plane in zip(alphas, sets, strict=True):
            # Its own mass alone is more than alpha: w own / (W + w) > alpha.
            more = float(replicates.own - one) * queries.weight > float(one) * total
            heavy = more & plane.all(axis=1)
            if heavy.any():
                warn_of_heavy(int(heavy.sum()), len(plane), replicates, float(one))


def _weight_of_others(queries: Queries, replicates: Replicates) -> Floats:
    """Return the weight of the calibration examples that each new one is compared with."""
    if queries.cell is None:
        whole = 0.0 if replicates.weight is None else float(replicates.weight.sum())
        return np.full(len(queries), whole)
    cells = range(len(replicates.cells))
    weights = [replicates.of_cell(code).weight for code in cells]
    totals = [0.0 if weight is None else float(weight.sum()) for weight in weights]
    # Groups that calibration lacks are warned of apart.
    found: Floats = np.array([*totals, np.inf])[queries.cell]
    return found
