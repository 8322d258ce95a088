"""Joint ranks of augmented examples: one p-value from all augmentations, with 1 - alpha.

The rule ranks whole examples and needs the calibration scores when it predicts, which is why it is
a function and no combiner.
"""

from __future__ import annotations

import json
import math
from hashlib import blake2b

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.alphas import Alphas, is_several, read_alphas
from plausibly.calibration.threshold import warn_of_vacuous
from plausibly.conformal.inputs import OVERLAP, matched_inputs, read_test, scoring_of, sets_array
from plausibly.data import names
from plausibly.errors import InputError
from plausibly.guarantee import DRAWN_LABELS, UNIFORMS, CalibrationSummary, Claim, Exchangeable
from plausibly.io.accept import as_predictions
from plausibly.kernels.blocks import row_blocks
from plausibly.kernels.draws import draw_labels
from plausibly.kernels.masses import share
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Floats, Ints
from plausibly.protocols import ComponentLike, ScoreFunction


def joint_rank(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    new: xr.DataArray,
    alpha: Alphas | None = None,
    *,
    score: ComponentLike[ScoreFunction] = "probability",
    seed: int = 0,
    only_common: bool = False,
) -> xr.DataArray:
    """Return p-values of augmented examples, or their prediction sets.

    Every calibration example gets one label, drawn from its plausibilities and keyed by its name.
    A label k of a new example is tried by putting the new example, with k, into the bag: its
    ``N = n + 1`` members have m scores each, ``R_i = sum_j #{l : S_l^j <= S_i^j}`` adds up the
    ranks of member i over the augmentations j, and ``p = #{i : R_i <= R_new} / N``.

    With the label that an expert would give, the new example is one of N exchangeable members, R
    treats all of them alike, and so ``P(p <= alpha) <= alpha``, ties included. Augmentations of
    one example may depend on each other in any way, and the original may be one of them. The
    p-values depend on the seed as those of `monte-carlo` with one draw do.

    Parameters
    ----------
    predictions : DataArray, (augmentation, example, label)
        What the model says of augmentations of the calibration examples.
    plausibilities : DataArray or Dataset, (example, label)
        Plausibilities, dense or sparse, or an annotation table, which is aggregated by the default
        of its kind. Aligned with the predictions by name.
    new : DataArray, (augmentation, example, label)
        The same of new examples, under the same names of augmentations and labels.
    alpha : number, text, or a sequence of them, optional
        Return prediction sets instead of p-values.
    score : str, mapping or ScoreFunction
    seed : int
    only_common : bool
        Leave out the calibration examples that only one side has, instead of refusing.

    Returns
    -------
    DataArray, (example, label)
        p-values, float64; with `alpha` sets, as `ConformalPredictor.predict` returns them. Time
        grows with n m for each label of each new example.

    Raises
    ------
    InputError
        ``augmentations-expected``, or where inputs are malformed or do not match.
    """
    for array, source in ((predictions, "predictions"), (new, "new")):
        if names.AUGMENTATION not in getattr(array, "dims", ()):
            raise InputError(
                "augmentations-expected",
                f"{source}: joint ranks are added up over augmentations, and there are none",
                expected="dims augmentation, example and label",
                found="no dim augmentation",
                hint='xarray.concat(parts, dim="augmentation"); or plausibly.calibrate',
                source=source,
            )
    model, answers, _ = matched_inputs(
        predictions, plausibilities, seed=seed, only_common=only_common
    )
    values: Floats = model.array.values
    scale, labels = model.scale, tuple(model.labels.texts)
    test = read_test(
        as_predictions(new, scale=scale),
        model.labels,
        scale,
        values.dtype,
        augmentations=model.augmentations,
    )
    examples, scoring = model.examples, scoring_of(model, answers, score, seed)
    uniform = Keys(seed).child("joint-rank").uniform(examples.hashes)
    codes, n = draw_labels(answers.stored, uniform)[0], len(examples)
    parts = []
    for rows in row_blocks(values.shape[1:]):
        block = scoring.scores(values[:, rows], examples.take(rows))
        parts.append(block[:, np.arange(block.shape[1]), codes[rows]])
    calibration = np.concatenate(parts, axis=1)
    scores = scoring.scores(test.values, test.examples)
    counts = rank_counts(calibration, scores.reshape(len(scores), -1)).reshape(scores.shape[1:])
    counts = scoring.hull(counts)  # sums of ranks have holes where the scores have none
    if alpha is None:
        p = test.like_input(share(counts, n + 1), "p_values")
        overlap = 0 if model.numbered or test.numbered else examples.common(test.examples)
        return p.assign_attrs({"guarantee": _GUARANTEE, OVERLAP: overlap})
    uniforms = (UNIFORMS,) if scoring.component.randomised else ()
    guarantees = [
        CalibrationSummary(n=n).guarantee_of_rank(_CLAIM, rate, random=uniforms)
        for rate in read_alphas(alpha)
    ]
    for guarantee in guarantees:
        if guarantee.vacuous:
            warn_of_vacuous(guarantee, "joint-rank")
    about = [labels, scoring.called, scale, model.augmentations, seed, *scoring.order]
    digest = blake2b(
        json.dumps(about).encode() + np.ascontiguousarray(calibration).tobytes(), digest_size=16
    )
    return sets_array(
        test,
        [counts > math.floor(guarantee.alpha * (n + 1)) for guarantee in guarantees],
        [guarantee.alpha for guarantee in guarantees],
        [json.dumps(guarantee.to_json()) for guarantee in guarantees],
        several=is_several(alpha),
        fingerprint=digest.hexdigest(),
        labels=labels,
        order=scoring.order,
        known=None if model.numbered else examples,
    )


def rank_counts(calibration: Floats, scores: Floats) -> NDArray[np.int64]:
    """Return how many members of each bag have at most the candidate's rank sum."""
    augmentations, n = calibration.shape
    ordered = np.sort(calibration, axis=1)
    among: Ints = np.zeros(n, dtype=np.int64)
    own: Ints = np.full(scores.shape[1], augmentations, dtype=np.int64)
    for row, members, queries in zip(ordered, calibration, scores, strict=True):
        among += np.searchsorted(row, members, side="right")
        own += np.searchsorted(row, queries, side="right")
    counts = np.empty(scores.shape[1], dtype=np.int64)
    for rows in row_blocks((scores.shape[1], n), times=32):
        # In the bag with a candidate, an example ranks one higher where the candidate is not above.
        sums = np.repeat(among[None], rows.stop - rows.start, axis=0)
        for row, queries in zip(calibration, scores[:, rows], strict=True):
            sums += queries[:, None] <= row[None]
        counts[rows] = (sums <= own[rows, None]).sum(axis=1) + 1
    return counts


_CLAIM = Claim(
    assumption=Exchangeable(augmentations=True),
    random=(DRAWN_LABELS,),
    reason="rank sums treat the new example and the calibration examples alike",
)
_GUARANTEE = "labels with p > alpha: P(Y in C(X)) >= 1 - alpha, if examples are exchangeable"
