"""The study of a demo: six methods on random halves, and the prediction sets of one of them."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np
import xarray as xr

from plausibly.conformal.calibrate import calibrate
from plausibly.data import names
from plausibly.demo.subjects import Subject
from plausibly.evaluation.design import MethodTable
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.evaluation.study import Progress, compare
from plausibly.kernels.random import Keys, hash_names

ALPHA = "0.1"
DRAWS = 10
TEST = 0.5
VOTED = "voted"
EXPECTED = "expected (default)"

METHODS: Mapping[str, MethodTable] = {
    VOTED: {"calibrator": "voted"},
    **{
        f"monte-carlo, {combiner}": {
            "calibrator": "monte-carlo",
            "combiner": combiner,
            "draws": DRAWS,
        }
        for combiner in ("average", "maximum", "held-out-rank", "ecdf")
    },
    EXPECTED: {"calibrator": "expected"},
}


@attrs.frozen(kw_only=True, eq=False)
class Result:
    """A demo that has run.

    Attributes
    ----------
    subject : Subject
    study : Dataset
        From `plausibly.compare`, of `METHODS`.
    alone : Dataset or None
        The same of `EXPECTED` with one example of each group, where examples have groups.
    sets : DataArray of bool, (example, label)
        Of the test examples of the first split, by `EXPECTED`.
    """

    subject: Subject
    study: xr.Dataset
    alone: xr.Dataset | None
    sets: xr.DataArray


def run(subject: Subject, *, splits: int, seed: int, progress: Progress | None = None) -> Result:
    """Return the demo's study.

    Parameters
    ----------
    subject : Subject
    splits : int
        Random halves, by group where examples have one.
    seed : int
    progress : callable, optional
        Called with the number of finished splits, and of all.

    Raises
    ------
    InputError
        ``splits-range``.

    Warns
    -----
    PlausiblyWarning
        ``guarantee-vacuous`` where a method gives every label.
    """
    study = compare(
        subject.predictions,
        subject.plausibilities,
        METHODS,
        alphas=[ALPHA],
        splits=splits,
        test=TEST,
        group=subject.group,
        seed=seed,
        true=subject.true,
        progress=progress,
    )
    return Result(
        subject=subject,
        study=study,
        alone=_alone(subject, splits, seed),
        sets=first_sets(subject, seed),
    )


def first_sets(subject: Subject, seed: int) -> xr.DataArray:
    """Return the prediction sets of the first split's test examples, as the study made them."""
    hashes = hash_names(subject.predictions[names.EXAMPLE].values)
    test = split(hashes, split_keys(seed, 0), test=TEST, groups=subject.groups)
    predictor = calibrate(
        subject.predictions[~test],
        subject.plausibilities[~test],
        seed=split_seed(seed, 0),
        group=subject.group,
    )
    return predictor.predict(subject.predictions[test], ALPHA)


def _alone(subject: Subject, splits: int, seed: int) -> xr.Dataset | None:
    """Return the study with one example of each group, drawn by the examples' keys."""
    if subject.groups is None:
        return None
    hashes = hash_names(subject.predictions[names.EXAMPLE].values)
    order = np.argsort(Keys(seed, "demo/alone").uniform(hashes)[:, 0], kind="stable")
    _, first = np.unique(subject.groups[order], return_index=True)
    kept = np.sort(order[first])
    return compare(
        subject.predictions[kept],
        subject.plausibilities[kept],
        {EXPECTED: METHODS[EXPECTED]},
        alphas=[ALPHA],
        splits=splits,
        test=TEST,
        seed=seed,
    )
