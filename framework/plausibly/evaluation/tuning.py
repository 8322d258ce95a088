"""RAPS tuned on a split of its own."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, Literal, TypeAlias, cast

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.calibration.alphas import AlphaLike, read_alpha
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.inputs import matched_inputs
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names, validate
from plausibly.data.select import select_annotations
from plausibly.data.states import Labelled, with_left_out
from plausibly.errors import InputError, PlausiblyWarning, counted, listed
from plausibly.evaluation.design import exact_mean
from plausibly.evaluation.inputs import example_values
from plausibly.evaluation.splits import (
    check_count,
    check_option,
    out_of_range,
    split,
    split_keys,
)
from plausibly.kernels import coverage
from plausibly.kernels.random import Keys, hash_names
from plausibly.protocols import SCORE

Goal: TypeAlias = Literal["set-size", "size-stratified"]

MEASURES: Mapping[str, str] = {"set-size": "set_size", "size-stratified": "violation"}
"""Objective by goal."""

PENALTY, FREE_RANK = "penalty", "free_rank"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class TunedScore:
    """A score function that was chosen on some examples, which must not calibrate or test it."""

    score: dict[str, object]
    tuned_on: tuple[str, ...]
    candidates: xr.Dataset
    alpha: Fraction
    goal: Goal
    splits: int

    def rest(self, array: Labelled) -> Labelled:
        """Return predictions, plausibilities or annotations without the examples that tuned."""
        here = names.name_texts(array[names.EXAMPLE].values)
        kept = names.not_among(here, self.tuned_on)
        less = {"tuned the score": len(here) - len(kept)}
        if isinstance(array, xr.Dataset) and names.RESPONSE_EXAMPLE in array:
            # Rows of an annotation table are cut with their answers.
            return cast("Labelled", with_left_out(select_annotations(array, example=kept), less))
        return with_left_out(array.isel({names.EXAMPLE: names.positions(here, kept)}), less)

    def check(self, array: xr.DataArray | xr.Dataset, *, source: str = "predictions") -> None:
        """Raise `InputError` ``examples-tuned`` where examples of `array` chose the score."""
        here = names.name_texts(array[names.EXAMPLE].values)
        both = names.not_among(here, names.not_among(here, self.tuned_on))
        if both:
            raise InputError(
                "examples-tuned",
                f"{names.several(len(both), 'example')} of {source} tuned the score",
                expected="examples that neither chose the score nor trained the model",
                found=listed(both),
                hint=f"tuned.rest({source}), or tuned.calibrate(...), which leaves them out",
                details={"examples": both},
            )

    def calibrate(
        self,
        predictions: xr.DataArray,
        plausibilities: xr.DataArray | xr.Dataset,
        **options: Any,  # Any: the other arguments of plausibly.calibrate, which checks them
    ) -> ConformalPredictor:
        """Calibrate with the score, on the examples that did not choose it."""
        model = self.rest(predictions)
        return calibrate(model, self.rest(plausibilities), score=self.score, **options)

    def __repr__(self) -> str:
        chosen = {key: value for key, value in self.score.items() if key != "name"}
        measure = MEASURES[self.goal]
        best = self.candidates[measure].sel({key: chosen[key] for key in (PENALTY, FREE_RANK)})
        shown = ", ".join(f"{key} {value}" for key, value in chosen.items())
        return (
            f"TunedScore  {self.score['name']}: {shown}\n"
            f"  tuned on {counted(len(self.tuned_on))} examples at alpha {float(self.alpha):g}: "
            "calibrate and test on the others, tuned.rest(...)\n"
            f"  least {measure.replace('_', ' ')} of {self.candidates[measure].size} candidates "
            f"over {names.several(self.splits, 'split')}: {float(best):.4g}"
        )


PENALTIES = (0.0, 0.001, 0.01, 0.1, 0.2, 0.5)
SIZES = (2, 4, 11, 101)
"""Lower ends of the strata of set sizes: 0 to 1, 2 to 3, 4 to 10, 11 to 100, and more labels."""


def tune_raps(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    alpha: AlphaLike = 0.1,
    share: float = 0.2,
    penalties: Sequence[float] = PENALTIES,
    free_ranks: Sequence[int] | None = None,
    randomised: bool = False,
    goal: Goal = "set-size",
    splits: int = 10,
    cluster: str | None = None,
    seed: int = 0,
) -> TunedScore:
    """Choose penalty and free ranks of the score `raps` on examples of their own.

    A share of the examples is set aside, by the keys of their names. Every candidate is calibrated
    on one half of them and measured on the other, over several splits. Of equal candidates the
    smallest penalty wins, then the fewest free ranks.

    Parameters
    ----------
    predictions, plausibilities
        Of all examples for tuning and calibration; see `plausibly.compare`.
    alpha : number or text
        The miscoverage rate that the score is tuned for. It can be used at others.
    share : float
        Share of the examples to tune on.
    penalties : sequence of float
        Candidates, at least 0; with 0 the score is `aps`.
    free_ranks : sequence of int, optional
        Candidates. By default one: the least rank r such that labels of rank up to r hold
        ``(1 - alpha)(n + 1)`` of the plausibility of the n tuning examples.
    randomised : bool
        As the parameter of `raps`.
    goal : {"set-size", "size-stratified"}
        What to make small: the mean set size, or the largest difference between 1 - alpha and the
        coverage of sets of 0 to 1, 2 to 3, 4 to 10, 11 to 100 or more labels. Sizes of fewer than
        ``1 / alpha`` sets over all splits do not count.
    splits : int
        Number of inner splits.
    cluster : str, optional
        Coordinate of the examples whose groups stay on one side of every split, such as the
        patient.
    seed : int

    Returns
    -------
    TunedScore
        Calibrate with its ``calibrate``, or with ``score=tuned.score`` on ``tuned.rest(...)``: the
        examples that chose the score must neither calibrate nor test it.

    Raises
    ------
    InputError
        ``option-unknown``, ``option-range``, ``tuning-too-small``, or where
        inputs are malformed or do not match.

    References
    ----------
    Angelopoulos, Bates, Malik & Jordan, Uncertainty sets for image classifiers using conformal
    prediction, ICLR 2021 (lambda and k_reg there).
    """
    level = read_alpha(alpha)
    check_option("goal", goal, MEASURES, 'goal="set-size"')
    check_count("splits", splits, usual=10)
    for name, listed_values in (("penalties", penalties), ("free_ranks", free_ranks)):
        if listed_values is not None and not len(listed_values):
            raise out_of_range(
                name, "none", expected="one candidate or more", hint=f"leave {name} out"
            )
    if names.AUGMENTATION in predictions.dims:
        validate.check_predictions(predictions)  # which says that there is one row per example
    matched, aligned, _ = matched_inputs(predictions, plausibilities, seed=seed, only_common=False)
    model, record = matched.array, aligned.averaged()
    groups = None if cluster is None else example_values(cluster, (model, record.about))
    hashes = hash_names(model[names.EXAMPLE].values)
    chosen = split(hashes, Keys(seed).child("tuning"), test=share, groups=groups)
    tuning, needed = int(chosen.sum()), 2 * (math.ceil(1 / level) - 1)
    if tuning < needed:  # half of them would calibrate vacuous sets only
        raise InputError(
            "tuning-too-small",
            f"{names.several(tuning, 'example')} are too few to tune on at alpha {float(level):g}",
            expected=f"{counted(needed)} or more, half of which calibrate each candidate",
            found=f"{counted(tuning)} of {counted(len(chosen))}",
            hint="share=0.5, more examples, or a larger alpha",
        )
    # By name, so that sums do not depend on the order of rows.
    rows = np.flatnonzero(chosen)
    rows = rows[np.argsort(model[names.EXAMPLE].values[rows])]
    # Arrays in chunks are read here, for the tuning examples only.
    model, record = model.isel({names.EXAMPLE: rows}).load(), record.take_examples(rows)
    groups = None if groups is None else groups[rows]
    if free_ranks is None:
        slots = record.stored.above_zero()
        row, slot = np.nonzero(slots.label >= 0)
        rank = np.empty(slots.label.shape, dtype=np.int64)
        for place, (scores, label) in enumerate(zip(model.values, slots.label, strict=True)):
            # Equally likely labels rank behind each other: each has the rank of the last of them.
            rank[place] = len(scores) - np.searchsorted(np.sort(scores), scores[label], side="left")
        masses = np.bincount(rank[row, slot], weights=slots.weight[row, slot].astype(np.float64))
        needed_mass = float((1 - level) * (len(rows) + 1)) * (1 - 1e-12)
        enough_mass = np.flatnonzero(np.cumsum(masses) >= needed_mass)
        free_ranks = [int(enough_mass[0]) if enough_mass.size else model.shape[1]]
    penalties, free_ranks = sorted(set(penalties)), sorted(set(free_ranks))
    tables = [
        {"name": "raps", PENALTY: float(penalty), FREE_RANK: rank}
        | ({"randomised": True} if randomised else {})
        for penalty, rank in product(penalties, free_ranks)
    ]
    for table in tables:
        registry.resolve(SCORE, table)  # parameters out of range are refused before anything is run
    halves = [
        split(hashes[rows], split_keys(seed, number).child("tuning"), groups=groups)
        for number in range(splits)
    ]

    def measured(table: dict[str, object]) -> dict[str, float]:
        sizes, covered = [], []
        for test in halves:
            with warnings.catch_warnings():
                # Candidates are measured, not used: a bad one is seen by its large sets.
                warnings.simplefilter("ignore", PlausiblyWarning)
                calibrating = record.take_examples(np.flatnonzero(~test))
                predictor = calibrate(model[~test], calibrating.array, score=table, seed=seed)
                sets = predictor.predict(model[test], level).values
            sizes.append(coverage.sizes(sets))
            covered.append(coverage.aggregated(sets, record.stored.take(np.flatnonzero(test))))
        size, share = np.concatenate(sizes), np.concatenate(covered)
        stratum = np.digitize(size, SIZES)
        frequent = [code for code, n in enumerate(np.bincount(stratum).tolist()) if n * level >= 1]
        # Where no size is frequent enough, all sets count as one stratum.
        means = [exact_mean(share[stratum == code]) for code in frequent] or [exact_mean(share)]
        return {
            "set_size": exact_mean(size),
            "aggregated_coverage": exact_mean(share),
            "violation": max(abs(mean - float(1 - level)) for mean in means),
        }

    results = [measured(table) for table in tables]
    shape = (len(penalties), len(free_ranks))
    columns = {name: np.reshape([result[name] for result in results], shape) for name in results[0]}
    candidates = xr.Dataset(
        {name: ((PENALTY, FREE_RANK), column) for name, column in columns.items()},
        coords={PENALTY: penalties, FREE_RANK: free_ranks},
    )
    best = int(np.argmin(candidates[MEASURES[goal]].values))
    return TunedScore(
        score=tables[best],
        tuned_on=tuple(map(str, model[names.EXAMPLE].values)),
        candidates=candidates,
        alpha=level,
        goal=goal,
        splits=splits,
    )
