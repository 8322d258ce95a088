"""Sets for every example of a study: each half calibrated on the other one."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.alphas import AlphaLike
from plausibly.conformal.inputs import FINGERPRINT, GUARANTEES, LABEL_ORDER, OVERLAP
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.left_out import read_left_out, with_left_out
from plausibly.data.names import name_texts
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.evaluation.design import as_asked
from plausibly.evaluation.inputs import example_values
from plausibly.evaluation.splits import split, split_keys
from plausibly.guarantee import Guarantee
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Floats
from plausibly.report.subject import MethodSets, Tested

T = TypeVar("T", bound=np.generic)

FIRST = 0
HALF = 0.5

Calibrate: TypeAlias = Callable[[Bools], ConformalPredictor]
"""Calibrates one method on some of the examples, (example,)."""


def halves(
    predictions: xr.DataArray, *, seed: int, group: str | None, stratify: str | None
) -> Bools:
    """Return the examples of one half: the test examples of the first split of a study of halves.

    Parameters
    ----------
    predictions : DataArray, ([augmentation,] example, label)
    seed : int
    group, stratify : str or None
        Coordinates, see `plausibly.compare`.

    Raises
    ------
    InputError
        ``split-empty`` where a half would be empty.
    """
    hashes = hash_names(predictions[names.EXAMPLE].values)
    groups, strata = (
        None if name is None else example_values(name, [predictions]) for name in (group, stratify)
    )
    try:
        return split(hashes, split_keys(seed, FIRST), test=HALF, groups=groups, strata=strata)
    except InputError as error:
        if error.name == "split-empty":
            error.do = "calibrate on others, and report the predictor: plausibly report --predictor"
        raise


def crossed(
    name: str,
    predictions: xr.DataArray,
    half: Bools,
    calibrate: Calibrate,
    *,
    alphas: Sequence[AlphaLike],
    seed: int,
    reference: bool = False,
) -> MethodSets:
    """Return the sets of one method for every example, each half calibrated on the other.

    Parameters
    ----------
    name : str
        Of the method.
    predictions : DataArray, ([augmentation,] example, label)
    half : ndarray of bool, (example,)
    calibrate : callable
    alphas : sequence
    seed : int
        Of the study.
    reference : bool
        Whether the method is there for comparison alone.
    """
    keys = split_keys(seed, FIRST)
    with warnings.catch_warnings():
        # The study warned of the same method.
        warnings.simplefilter("ignore", PlausiblyWarning)
        asked = [_asked(predictions, test, calibrate(~test), keys) for test in (half, ~half)]
        found = [made(one, alphas) for one in asked]
    whole = Made(*(_joined(half, *pair) for pair in zip(*found, strict=True)))
    stated = [[one.predictor.guarantee(alpha) for alpha in alphas] for one in asked]
    promises = [weaker(*pair) for pair in zip(*stated, strict=True)]
    return method_sets(name, predictions, asked, whole, promises, reference=reference)


class Made(NamedTuple):
    """Sets (example, label, alpha), p-values and scores (example, label) of a predictor."""

    sets: Bools
    p: Floats
    scores: Floats


def _joined(half: Bools, first: NDArray[T], second: NDArray[T]) -> NDArray[T]:
    """Return what was found of two halves, in the order of all examples."""
    found = np.empty((half.size, *first.shape[1:]), dtype=first.dtype)
    found[half], found[~half] = first, second
    return found


def made(one: Tested, alphas: Sequence[AlphaLike]) -> Made:
    """Return what a predictor says of its examples.

    Parameters
    ----------
    one : Tested
    alphas : sequence
    """
    sets = one.predictor.predict(one.predictions, list(alphas))
    p = one.predictor.p_values(one.predictions)
    scores = one.predictor.scores(one.predictions)
    if scores.ndim > 2:  # one score a label: what the bars show of several augmentations
        scores = scores.mean(axis=0)
    given = name_texts(sets[names.LABEL].values)
    place = {label: code for code, label in enumerate(one.predictor.labels)}
    return Made(
        sets=sets.transpose(names.EXAMPLE, names.LABEL, names.ALPHA).values,
        p=p.transpose(names.EXAMPLE, names.LABEL).values,
        scores=scores[:, [place[label] for label in given]],
    )


def method_sets(
    name: str,
    predictions: xr.DataArray,
    tested: Sequence[Tested],
    found: Made,
    promises: Sequence[Guarantee],
    *,
    reference: bool = False,
) -> MethodSets:
    """Return the sets of one method with the attributes that sets have.

    Parameters
    ----------
    name : str
    predictions : DataArray, ([augmentation,] example, label)
        Of all examples.
    tested : sequence of Tested
    found : Made
        Of all examples.
    promises : sequence of Guarantee
        One an alpha.
    reference : bool
    """
    first = tested[0].predictor
    plane = predictions
    if names.AUGMENTATION in predictions.dims:
        plane = predictions.isel({names.AUGMENTATION: 0}, drop=True)
    sets = xr.DataArray(
        found.sets,
        dims=(names.EXAMPLE, names.LABEL, names.ALPHA),
        coords={
            **{key: value.variable for key, value in plane.coords.items()},
            names.ALPHA: [float(promise.alpha) for promise in promises],
        },
        attrs={
            GUARANTEES: json.dumps([promise.to_json() for promise in promises]),
            FINGERPRINT: " ".join(one.predictor.fingerprint for one in tested),
            OVERLAP: sum(_overlap(one) for one in tested),
            LABEL_ORDER: json.dumps(list(first.labels)),
        },
    )
    facts = first.facts
    return MethodSets(
        name=name,
        about=f"{facts.calibrator} + {facts.combiner}, score {facts.score}",
        reference=reference,
        tested=tested,
        sets=with_left_out(sets, read_left_out(predictions.attrs)),
        p=found.p,
        scores=found.scores,
        score=facts.score,
        promises=promises,
    )


def weaker(first: Guarantee, second: Guarantee) -> Guarantee:
    """Return what both of two guarantees promise."""

    def strength(one: Guarantee) -> tuple[bool, float, bool, int]:
        return one.level is not None, float(one.level or 0), not one.vacuous, one.has

    return min(first, second, key=strength)


def _asked(
    predictions: xr.DataArray, test: Bools, predictor: ConformalPredictor, keys: Keys
) -> Tested:
    new = as_asked(predictor, predictions.isel({names.EXAMPLE: test}), keys)
    return Tested(predictor=predictor, predictions=new)


def _overlap(one: Tested) -> int:
    if one.predictor.hashes is None:
        return 0
    hashes = hash_names(one.predictions[names.EXAMPLE].values)
    return int(np.isin(hashes, one.predictor.hashes).sum())
