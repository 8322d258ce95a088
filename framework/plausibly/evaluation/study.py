"""Several methods on the same random splits: what each covers, and how large its sets are."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.arrays import Bools, Floats, Ints
from plausibly.conformal.alphas import AlphaLike, Alphas, read_alphas
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.errors import InputError
from plausibly.evaluation import inputs
from plausibly.evaluation.heard import Heard
from plausibly.evaluation.methods import Method, Methods, read_methods
from plausibly.evaluation.splits import check_share, split, split_keys, split_seed
from plausibly.guarantee import Guarantee
from plausibly.kernels import coverage
from plausibly.kernels.coverage import Ties
from plausibly.keys import hash_names
from plausibly.labelled import align, borders, names

METHOD = "method"
SPLIT = "split"
MEASURES = ("aggregated_coverage", "voted_coverage", "set_size", "share_empty")

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the number of finished splits, and of all."""


def compare(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    methods: Methods,
    *,
    alphas: Alphas = (0.1,),
    splits: int = 100,
    test: float = 0.5,
    group: str | None = None,
    seed: int = 0,
    ties: Ties = "first",
    true: str | xr.DataArray | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Calibrate several methods on random splits, and measure each on the rest.

    Parameters
    ----------
    predictions : DataArray, (example, label)
        Of a model that saw none of these examples, or not those of the fold that it predicts.
    plausibilities : DataArray or Dataset, (example, label)
        Plausibilities, dense or packed, or an annotation table, which is aggregated by the default
        of its kind. Aligned with the predictions by name.
    methods : mapping of str to mapping, or sequence of mapping or str
        Arguments of `calibrate` (``calibrator``, ``score``, ``combiner``, ``draws``,
        ``allow_no_guarantee``) by the name of the method, or in a list, named after their
        components or by a ``name``.
    alphas : number or text, or a sequence of them
        Miscoverage rates.
    splits : int
        How many; the first ones do not depend on it.
    test : float
        Share of the examples to measure on; the others calibrate.
    group : str, optional
        Coordinate of the examples whose groups stay on one side, such as the patient; held-out
        parts of the calibration follow it too.
    seed : int
        Every split draws from a stream of its own.
    ties : {"first", "random", "fractional", "any", "all"}
        See `evaluate`.
    true : str or DataArray, (example,), optional
        Known labels, see `evaluate`; they calibrate nothing.
    progress : callable, optional
        Called with the number of finished splits, and of all.

    Returns
    -------
    Dataset
        `aggregated_coverage`, `voted_coverage`, `set_size` and `share_empty`: means over the test
        examples of a split, (method, split, alpha), and `true_coverage` with `true`; `vacuous`,
        whether every set is every label; `n_calibration` and `n_test`, (split,). Coordinates
        `guaranteed` (text) and `guaranteed_level` (NaN for none), (method, alpha): of the
        aggregated coverage. Attributes hold the settings, and the guarantees of the first split as
        JSON.

        Select one method by ``study.sel({"method": name})``: as a keyword, ``method`` is how
        xarray's own ``sel`` fills gaps.

        The standard deviation over splits of one data set is a spread, not a standard error: the
        splits overlap.

    Raises
    ------
    InputError
        Where inputs are malformed or do not match, or a split would leave a side empty.

    Warns
    -----
    PlausiblyWarning
        What splits warn of, once, at the end.
    """
    asked = read_methods(methods)
    policy = inputs.check_ties(ties)
    check_share(test)
    _check_splits(splits)
    model = borders.check_predictions(predictions)
    lam = inputs.as_plausibilities(plausibilities)
    labels = tuple(map(str, model[names.LABEL].values))
    lam = align.match_labels(lam, labels, whose="plausibilities", other="predictions")
    model, lam = align.match_examples(model, lam)
    groups = None
    if group is not None:
        groups = inputs.example_values(group, (model, lam))
        model = model.assign_coords({group: (names.EXAMPLE, groups)})

    heard = Heard()
    with heard.listening():
        exact = read_alphas(alphas)
    # Asked for as they were given, so that what is said of them names them in the same way.
    given: list[AlphaLike] = np.asarray(alphas, dtype=object).ravel().tolist()
    hashes = hash_names(model[names.EXAMPLE].values)
    shape = (len(asked), splits, len(exact))
    codes = None if true is None else inputs.true_codes(true, (model, lam), labels)
    measures = MEASURES if codes is None else (*MEASURES, "true_coverage")
    found = {name: np.full(shape, np.nan) for name in measures}
    vacuous = np.zeros(shape, dtype=np.bool_)
    promises: dict[str, list[list[Guarantee]]] = {name: [] for name in asked}
    tested = np.zeros(splits, dtype=np.int64)
    for number in range(splits):
        keys = split_keys(seed, number)
        chosen = split(hashes, keys, test=test, groups=groups)
        tested[number] = chosen.sum()
        uniform = keys.child("ties").uniform(hashes[chosen])[:, 0] if policy == "random" else None
        one = _Split(
            calibration=model.isel({names.EXAMPLE: ~chosen}),
            calibration_lam=lam.isel({names.EXAMPLE: ~chosen}),
            test=model.isel({names.EXAMPLE: chosen}),
            test_lam=lam.values[chosen],
            alphas=given,
            group=group,
            seed=split_seed(seed, number),
            ties=policy,
            uniform=uniform,
            true=None if codes is None else codes[chosen],
        )
        for place, (name, method) in enumerate(asked.items()):
            with heard.listening(split=number, method=name):
                measured, stated = one.measure(method)
            promises[name].append(stated)
            vacuous[place, number] = [promise.vacuous for promise in stated]
            for measure, values in measured.items():
                found[measure][place, number] = values
        if progress is not None:
            progress(number + 1, splits)
    heard.repeat(splits)

    dims = (METHOD, SPLIT, names.ALPHA)
    study = xr.Dataset(
        {name: (dims, values) for name, values in found.items()},
        coords={
            METHOD: np.array(list(asked)),
            SPLIT: np.arange(splits),
            names.ALPHA: [float(alpha) for alpha in exact],
            **_guaranteed(promises, vacuous),
        },
    )
    study["vacuous"] = (dims, vacuous)
    study["n_test"] = (SPLIT, tested)
    study["n_calibration"] = (SPLIT, len(hashes) - tested)
    study.attrs = {
        "n": len(hashes),
        "labels": len(labels),
        "seed": seed,
        "test": float(test),
        "ties": policy,
        "methods": json.dumps({name: method.table() for name, method in asked.items()}),
        "guarantees": json.dumps(
            {name: [one.to_json() for one in stated[0]] for name, stated in promises.items()}
        ),
    }
    if groups is not None:
        study.attrs |= {"group": group, "groups": len(np.unique(groups))}
    return study


def _check_splits(splits: object) -> None:
    """Raise `InputError` unless it is a number of splits."""
    if isinstance(splits, bool) or not isinstance(splits, (int, np.integer)) or splits < 1:
        raise InputError(
            "splits-range",
            f"a study of {splits!r} splits",
            expected="a whole number from 1 on",
            got=repr(splits),
            do="splits=100",
        )


@attrs.frozen(kw_only=True, eq=False)
class _Split:
    """One split, and what is asked of every method on it."""

    calibration: xr.DataArray
    calibration_lam: xr.DataArray
    test: xr.DataArray
    test_lam: Floats
    alphas: Sequence[AlphaLike]
    group: str | None
    seed: int
    ties: Ties
    uniform: NDArray[np.float64] | None
    true: Ints | None

    def measure(self, method: Method) -> tuple[dict[str, list[float]], list[Guarantee]]:
        """Return the means over test examples, and the guarantees, one an alpha."""
        predictor = calibrate(
            self.calibration,
            self.calibration_lam,
            calibrator=method.calibrator,
            score=method.score,
            combiner=method.combiner,
            draws=method.draws,
            seed=self.seed,
            group=self.group,
            allow_no_guarantee=method.allow_no_guarantee,
        )
        means = [self._means(plane) for plane in self._sets(predictor)]
        stated = [predictor.guarantee(alpha) for alpha in self.alphas]
        return {name: [one[name] for one in means] for name in means[0]}, stated

    def _sets(self, predictor: ConformalPredictor) -> Sequence[Bools]:
        """Return the sets of the test examples, (example, label), one array an alpha."""
        if predictor.score.randomised:
            sets = predictor.predict(self.test, self.alphas)
            planes: Bools = sets.transpose(names.ALPHA, names.EXAMPLE, names.LABEL).values
            return list(planes)
        # The same sets without labels, which cost more than everything else on small data.
        return [predictor.predict_array(self.test.values, alpha) for alpha in self.alphas]

    def _means(self, plane: Bools) -> dict[str, float]:
        """Return the means at one alpha, summed exactly: rows in any order give the same."""
        sizes = coverage.sizes(plane)
        outcomes = {
            "aggregated_coverage": coverage.aggregated(plane, self.test_lam),
            "voted_coverage": coverage.voted(plane, self.test_lam, self.ties, self.uniform),
            "set_size": sizes,
            "share_empty": sizes == 0,
        }
        if self.true is not None:
            outcomes["true_coverage"] = plane[np.arange(len(plane)), self.true]
        return {name: math.fsum(values) / len(values) for name, values in outcomes.items()}


def _guaranteed(
    promises: Mapping[str, list[list[Guarantee]]], vacuous: NDArray[np.bool_]
) -> dict[str, tuple[tuple[str, str], NDArray[np.generic]]]:
    """Return level and text of what is guaranteed of the aggregated coverage, (method, alpha)."""
    dims = (METHOD, names.ALPHA)
    levels: list[list[float]] = []
    texts: list[list[str]] = []
    for place, by_split in enumerate(promises.values()):
        least = [_least(stated) for stated in zip(*by_split, strict=True)]
        levels.append([_level(promise) for promise in least])
        often = vacuous[place].sum(axis=0)
        texts.append(
            [_text(p, int(count), len(by_split)) for p, count in zip(least, often, strict=True)]
        )
    return {"guaranteed_level": (dims, np.array(levels)), "guaranteed": (dims, np.array(texts))}


def _least(stated: Sequence[Guarantee]) -> Guarantee:
    """Return the weakest of the guarantees that the splits gave."""
    return min(stated, key=lambda promise: -1 if promise.level is None else promise.level)


def _level(promise: Guarantee) -> float:
    """Return what is promised of the aggregated coverage, NaN for nothing."""
    if promise.level is None or promise.target != "aggregated":
        return math.nan
    return float(promise.level)


def _text(promise: Guarantee, often: int, splits: int) -> str:
    """Return the level as tables print it, and in how many splits it is kept by saying nothing."""
    level = attrs.evolve(promise, vacuous=False).short()
    if math.isnan(_level(promise)) or not often:
        return level
    return f"{level}, vacuous" if often == splits else f"{level}, vacuous in {often} of {splits}"
