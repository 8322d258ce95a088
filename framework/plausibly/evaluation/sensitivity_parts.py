"""Parts of the comparison of aggregators: who judges, one split, and the table of all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.calibration.alphas import AlphaLike
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names, validate
from plausibly.data.left_out import read_left_out
from plausibly.data.names import near, text_array
from plausibly.errors import InputError, listed
from plausibly.evaluation.design import BY_GROUP, Stated, mean_by_group
from plausibly.evaluation.heard import Said, listening
from plausibly.evaluation.methods import Method, component_name
from plausibly.evaluation.splits import Values, split_seed
from plausibly.kernels import coverage
from plausibly.kernels.coverage import row_sums
from plausibly.kernels.types import Bools, Floats
from plausibly.protocols import AGGREGATOR, Aggregator, ComponentLike

CALIBRATED_WITH = "calibrated_with"
JUDGED_BY = "judged_by"
SPLIT = "split"
_SAME = 1e-9  # plausibilities that differ by less are the same

Aggregators: TypeAlias = (
    Mapping[str, ComponentLike[Aggregator]] | Sequence[ComponentLike[Aggregator]]
)
"""Aggregators by name, or called after themselves and their parameters."""


@attrs.frozen(kw_only=True, eq=False)
class Judge:
    """What one aggregator makes of the annotations.

    Attributes
    ----------
    given : DataArray, ([draw,] example, label)
        As calibrators read it.
    mean : ndarray of float64, (example, label)
        As sets are judged by it.
    notes : dict
        What was left out, and whether it is joint.
    """

    given: xr.DataArray
    mean: Floats
    notes: dict[str, object]


def read_aggregators(aggregators: Aggregators) -> dict[str, Aggregator]:
    """Return the aggregators by name.

    Raises
    ------
    InputError
        ``aggregator-twice``, ``aggregators-few``, and what the registry says.
    """
    if isinstance(aggregators, str) or not isinstance(aggregators, Mapping | Sequence):
        aggregators = [aggregators]
    if isinstance(aggregators, Mapping):
        named = list(aggregators.items())
    else:
        named = [(component_name(AGGREGATOR, one), one) for one in aggregators]
    texts = [str(name) for name, _ in named]
    twice = sorted({name for name in texts if texts.count(name) > 1})
    if twice:
        raise InputError(
            "aggregator-twice",
            f"two aggregators are called {listed(twice)}",
            expected="different names",
            got=listed(twice),
            do='leave one out, or name them: aggregators={"mild": ..., "strong": ...}',
        )
    if len(named) < 2:
        raise InputError(
            "aggregators-few",
            "there is nothing to compare",
            expected="two aggregators or more",
            got=listed(texts) or "none",
            do="--aggregator twice or more (aggregators=[...]); all: plausibly plugins list "
            "--kind aggregator",
        )
    return {str(name): registry.resolve(AGGREGATOR, like) for name, like in named}


def read_reference(reference: str | None, known: list[str]) -> str:
    """Return the aggregator with whose sets others are compared, or ``reference-unknown``."""
    if reference is None:
        return known[0]
    if reference not in known:
        meant = near(reference, known)
        raise InputError(
            "reference-unknown",
            f"no aggregator of the comparison is called {reference}",
            expected=f"one of {listed(known, most=len(known))}",
            got=reference,
            do=f"did you mean {meant}?" if meant else f'--reference "{known[0]}"',
            whose="reference",
        )
    return reference


def judge_of(lam: xr.DataArray) -> Judge:
    """Return what plausibilities ([draw,] example, label) are to calibrators and to sets."""
    notes: dict[str, object] = {}
    if read_left_out(lam.attrs):
        notes["left_out"] = read_left_out(lam.attrs)
    if names.JOINT in lam.attrs:
        notes["joint"] = True
    mean: Floats = validate.mean_over_draws(lam).values
    return Judge(given=lam, mean=mean.astype(np.float64, copy=False), notes=notes)


@attrs.frozen(kw_only=True, eq=False)
class Run:
    """What is the same on every split."""

    model: xr.DataArray
    judges: Mapping[str, Judge]
    method: Method
    alphas: Sequence[AlphaLike]
    group: str | None
    groups: Values | None
    seed: int

    def split(
        self, number: int, test: Bools, reference: int, said: list[Said]
    ) -> tuple[dict[str, NDArray[np.float64]], list[list[Stated]]]:
        """Return means over the test examples, and what is guaranteed, by calibration and alpha."""
        size, alphas = len(self.judges), len(self.alphas)
        found = {
            "aggregated_coverage": np.empty((size, size, alphas)),
            "voted_coverage": np.empty((size, size, alphas)),
            "set_size": np.empty((size, alphas)),
            "sets_changed": np.empty((size, alphas)),
        }
        if self.groups is not None:
            found[BY_GROUP] = np.empty((size, size, alphas))
        sets: list[list[Bools]] = []
        stated = []
        for name, judge in self.judges.items():
            with listening(said, split=number, method=name):
                predictor = calibrate(
                    self.model.isel({names.EXAMPLE: ~test}),
                    judge.given.isel({names.EXAMPLE: ~test}),
                    calibrator=self.method.calibrator,
                    score=self.method.score,
                    combiner=self.method.combiner,
                    seed=split_seed(self.seed, number),
                    group=self.group,
                )
                sets.append(self._sets(predictor, self.model.isel({names.EXAMPLE: test})))
                stated.append([Stated.by(predictor.guarantee(alpha)) for alpha in self.alphas])
        for row, planes in enumerate(sets):
            for at, plane in enumerate(planes):
                found["set_size"][row, at] = _mean(coverage.sizes(plane))
                changed = (plane != sets[reference][at]).any(axis=1)
                found["sets_changed"][row, at] = _mean(changed)
                for column, judge in enumerate(self.judges.values()):
                    lam = judge.mean[test]
                    cell = (row, column, at)
                    covered = coverage.aggregated(plane, lam)
                    found["aggregated_coverage"][cell] = _mean(covered)
                    if self.groups is not None:
                        found[BY_GROUP][cell] = mean_by_group(covered, self.groups[test])
                    found["voted_coverage"][cell] = _mean(coverage.voted(plane, lam, "first", None))
        return found, stated

    def _sets(self, predictor: ConformalPredictor, new: xr.DataArray) -> list[Bools]:
        if predictor.takes_rows:
            return [predictor.predict_array(new.values, alpha) for alpha in self.alphas]
        sets = predictor.predict(new, self.alphas)
        return list(sets.transpose(names.ALPHA, names.EXAMPLE, names.LABEL).values)


def _mean(values: NDArray[np.generic]) -> float:
    """Return the mean, summed exactly: rows in any order give the same."""
    return math.fsum(values.tolist()) / len(values)


def assembled(
    judges: Mapping[str, Judge],
    found: Sequence[Mapping[str, NDArray[np.float64]]],
    stated: Sequence[Sequence[Stated]],
    alphas: list[float],
) -> xr.Dataset:
    """Return means of the splits and distances of the aggregators, under their names."""
    called = text_array(list(judges))
    square = (CALIBRATED_WITH, JUDGED_BY)
    result = xr.Dataset(
        coords={
            CALIBRATED_WITH: called,
            JUDGED_BY: called,
            SPLIT: np.arange(len(found)),
            names.ALPHA: alphas,
        }
    )
    for name in found[0]:
        both = found[0][name].ndim == 3
        dims = (*(square if both else square[:1]), SPLIT, names.ALPHA)
        result[name] = (dims, np.stack([one[name] for one in found], axis=-2))
    means = [one.mean for one in judges.values()]
    tops = [mean >= mean.max(axis=1, keepdims=True) - _SAME for mean in means]
    result["total_variation"] = (
        square,
        [[_mean(row_sums(np.abs(one - other), most=2.0)) / 2 for other in means] for one in means],
    )
    result["top_changed"] = (
        square,
        [[_mean(~(one & other).any(axis=1)) for other in tops] for one in tops],
    )
    result["largest_plausibility"] = (JUDGED_BY, [_mean(mean.max(axis=1)) for mean in means])
    kept = (CALIBRATED_WITH, names.ALPHA)
    level = [
        [float(o.level) if o.level is not None and o.aggregated else math.nan for o in row]
        for row in stated
    ]
    return result.assign_coords(
        guaranteed=(
            kept,
            text_array([o.short for row in stated for o in row]).reshape(len(called), -1),
        ),
        guaranteed_level=(kept, level),
    )
