"""What a study does on each of its splits, complete enough to be done in another process."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.alphas import AlphaLike
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.names import several
from plausibly.data.validate import seen_in_one
from plausibly.errors import InputError
from plausibly.evaluation.heard import Said, listening
from plausibly.evaluation.methods import Method, with_draws
from plausibly.evaluation.splits import Values, nested, split, split_keys, split_seed
from plausibly.guarantee import Guarantee
from plausibly.kernels import coverage
from plausibly.kernels.coverage import Ties
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Floats, Ints

MEASURES = ("aggregated_coverage", "voted_coverage", "set_size", "share_empty")
TRUE = "true_coverage"
BY_GROUP = "group_coverage"
"""The mean over groups of the mean aggregated coverage within."""


def per(cluster: str) -> str:
    """Return of what mean a level is, where it is one over clusters."""
    return f'per "{cluster}"'


@attrs.frozen
class Stated:
    """What is guaranteed in one cell of a study, as its tables need it.

    Attributes
    ----------
    level : Fraction or None
        None where nothing is promised.
    aggregated : bool
        Whether it is promised of the aggregated coverage of the average example.
    short : str
        The level as tables print it, vacuous or not.
    """

    level: Fraction | None
    aggregated: bool
    short: str

    @classmethod
    def by(cls, promise: Guarantee) -> Stated:
        """Return what a guarantee states."""
        short = attrs.evolve(promise, vacuous=False).short()
        if promise.cluster and promise.level is not None:
            short = f"{short} {per(promise.cluster)}"
        aggregated = promise.target == "aggregated" and not promise.cluster
        return cls(promise.level, aggregated, short)


@attrs.frozen(kw_only=True, eq=False)
class Outcome:
    """What one split gave.

    Attributes
    ----------
    number : int
        Of the split.
    n_test : int
    n_calibration : ndarray of int64, (size,)
    measures : mapping of str to ndarray, (method, alpha, draws, size)
        Means over the test examples. A dim that was not asked for has length 1.
    vacuous : ndarray of bool, (method, alpha, draws, size)
    stated : sequence of Stated
        Of each cell of `vacuous`, in order.
    guarantees : mapping of str to list
        By method, one an alpha, in full: with the most draws and the largest size.
    said : tuple of Said
        What was warned of.
    """

    number: int
    n_test: int
    n_calibration: Ints
    measures: Mapping[str, Floats]
    vacuous: NDArray[np.bool_]
    stated: Sequence[Stated]
    guarantees: Mapping[str, list[dict[str, object]]]
    said: tuple[Said, ...]


@attrs.frozen(kw_only=True, eq=False)
class Design:
    """A study without its splits.

    Attributes
    ----------
    predictions, plausibilities : DataArray, ([augmentation,] example, label)
        Of the same examples and labels, in the same order.
    methods : mapping of str to Method
        Made, so that they need no names.
    alphas : sequence of number or text
        As they were given: what is said of them then names them in the same way.
    test : float
    group : str or None
        Coordinate of `predictions`, with the values `groups`.
    groups, strata : ndarray, (example,), or None
    seed : int
    ties : str
    true : ndarray of int, (example,), or None
    draws, sizes : tuple of int, or None
    """

    predictions: xr.DataArray
    plausibilities: xr.DataArray
    methods: Mapping[str, Method]
    alphas: Sequence[AlphaLike]
    test: float
    group: str | None = None
    groups: Values | None = None
    strata: Values | None = None
    seed: int = 0
    ties: Ties = "first"
    true: Ints | None = None
    draws: tuple[int, ...] | None = None
    sizes: tuple[int, ...] | None = None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Number of methods, alphas, numbers of draws, and sizes."""
        draws, sizes = len(self.draws or (0,)), len(self.sizes or (0,))
        return len(self.methods), len(self.alphas), draws, sizes

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of what is measured."""
        more = ((TRUE, self.true), (BY_GROUP, self.groups))
        return (*MEASURES, *(name for name, values in more if values is not None))

    def run(self, number: int) -> Outcome:
        """Return what split `number` gives."""
        keys = split_keys(self.seed, number)
        hashes = hash_names(self.predictions[names.EXAMPLE].values)
        test = split(hashes, keys, test=self.test, groups=self.groups, strata=self.strata)
        subsets = self._subsets(number, hashes, keys, ~test)
        uniform = None
        if self.ties == "random":
            uniform = keys.child("ties").uniform(hashes[test])[:, 0]
        model = self.predictions.isel({names.EXAMPLE: test})
        sets = _Test(
            predictions=model,
            keys=keys,
            plausibilities=self.plausibilities.values[test],
            alphas=self.alphas,
            ties=self.ties,
            uniform=uniform,
            true=None if self.true is None else self.true[test],
            groups=None if self.groups is None else self.groups[test],
        )
        found = {name: np.full(self.shape, np.nan) for name in self.measured}
        vacuous = np.zeros(self.shape, dtype=np.bool_)
        stated = np.empty(self.shape, dtype=object)
        guarantees: dict[str, list[dict[str, object]]] = {}
        said: list[Said] = []
        most, largest = _last(self.draws), _last(self.sizes)
        for place, name in enumerate(self.methods):
            for size, subset in enumerate(subsets):
                for columns, method, draws in self._variants(name):
                    where = (place, slice(None), columns, size)
                    with listening(
                        said,
                        split=number,
                        method=name,
                        size=None if self.sizes is None else self.sizes[size],
                        draws=draws,
                    ):
                        predictor = self._calibrated(method, subset, split_seed(self.seed, number))
                        means = sets.means(predictor)
                        promises = [predictor.guarantee(alpha) for alpha in self.alphas]
                    for measure, values in means.items():
                        found[measure][where] = np.array(values)[:, None]
                    vacuous[where] = np.array([one.vacuous for one in promises])[:, None]
                    short = np.empty(len(promises), dtype=object)
                    short[:] = [Stated.by(one) for one in promises]
                    stated[where] = short[:, None]
                    if size == largest and columns.start <= most < columns.stop:
                        guarantees[name] = [one.to_json() for one in promises]
        return Outcome(
            number=number,
            n_test=int(test.sum()),
            n_calibration=np.array([subset.sum() for subset in subsets], dtype=np.int64),
            measures=found,
            vacuous=vacuous,
            stated=tuple(stated.ravel().tolist()),
            guarantees=guarantees,
            said=tuple(said),
        )

    def uses_draws(self, name: str) -> bool:
        """Return whether a method has a number of draws."""
        return self._with_draws(name, 1) is not None

    def _with_draws(self, name: str, draws: int) -> Method | None:
        method = self.methods[name]
        calibrator = with_draws(method.calibrator, draws)
        return None if calibrator is None else attrs.evolve(method, calibrator=calibrator)

    def _variants(self, name: str) -> list[tuple[slice, Method, int | None]]:
        """Return each variant of a method, with the places along `draws` that it fills."""
        variants = [(self._with_draws(name, draws), draws) for draws in self.draws or ()]
        found: list[tuple[slice, Method, int | None]] = [
            (slice(place, place + 1), variant, draws)
            for place, (variant, draws) in enumerate(variants)
            if variant is not None
        ]
        return found or [(slice(0, self.shape[2]), self.methods[name], None)]

    def _subsets(
        self, number: int, hashes: NDArray[np.uint64], keys: Keys, calibration: Bools
    ) -> list[Bools]:
        """Return the calibration examples of each size."""
        if self.sizes is None:
            return [calibration]
        rows = np.flatnonzero(calibration)
        found = []
        for size, inside in zip(
            self.sizes,
            nested(
                hashes[rows],
                keys.child("size"),
                self.sizes,
                groups=None if self.groups is None else self.groups[rows],
                strata=None if self.strata is None else self.strata[rows],
            ),
            strict=True,
        ):
            if size > len(rows) or not inside.any():
                raise self._unfit(number, size, len(rows))
            subset = np.zeros(len(hashes), dtype=np.bool_)
            subset[rows[inside]] = True
            found.append(subset)
        return found

    def _unfit(self, number: int, size: int, there: int) -> InputError:
        more = size > there
        got = f"{several(there, 'example')} on the calibration side of split {number}"
        whole = "" if self.group is None else f', and whole values of "{self.group}"'
        return InputError(
            "sizes-range",
            f"there are no {size:,} calibration examples in split {number}"
            if more
            else f"{size:,} calibration examples of split {number} are less than one value of "
            f'"{self.group}"',
            expected=f"sizes that every split has{whole}",
            got=got if more else f"a share of less than one group; {got}",
            do=f"sizes up to {there:,}, or a smaller test share" if more else "larger sizes",
            whose="sizes",
            details={"size": size, "split": number, "examples": there},
        )

    def _calibrated(self, method: Method, subset: Bools, seed: int) -> ConformalPredictor:
        return calibrate(
            self.predictions.isel({names.EXAMPLE: subset}),
            self.plausibilities.isel({names.EXAMPLE: subset}),
            calibrator=method.calibrator,
            score=method.score,
            combiner=method.combiner,
            seed=seed,
            group=self.group,
            allow_no_guarantee=method.allow_no_guarantee,
        )


def _last(asked: Sequence[int] | None) -> int:
    """Return the place of the largest number."""
    return 0 if asked is None else max(range(len(asked)), key=asked.__getitem__)


def as_asked(predictor: ConformalPredictor, predictions: xr.DataArray, keys: Keys) -> xr.DataArray:
    """Return test predictions as a predictor reads them: in one augmentation, or in all.

    Parameters
    ----------
    predictor : ConformalPredictor
    predictions : DataArray, ([augmentation,] example, label)
    keys : Keys
        Of the split.
    """
    if names.AUGMENTATION in predictions.dims and not predictor.facts.augmentations:
        return seen_in_one(predictions, keys.child("augmentation"))
    return predictions


@attrs.frozen(kw_only=True, eq=False)
class _Test:
    """The test examples of a split, and how sets of them are judged."""

    predictions: xr.DataArray
    keys: Keys
    plausibilities: Floats
    alphas: Sequence[AlphaLike]
    ties: Ties
    uniform: NDArray[np.float64] | None
    true: Ints | None
    groups: Values | None

    def means(self, predictor: ConformalPredictor) -> dict[str, list[float]]:
        """Return the means over test examples, one an alpha."""
        means = [self._means(plane) for plane in self._sets(predictor)]
        return {name: [one[name] for one in means] for name in means[0]}

    def _sets(self, predictor: ConformalPredictor) -> Sequence[Bools]:
        """Return the sets of the test examples, (example, label), one array an alpha."""
        asked = as_asked(predictor, self.predictions, self.keys)
        if predictor.takes_rows:
            # The same sets without labels, which cost more than all else on small data.
            return [predictor.predict_array(asked.values, alpha) for alpha in self.alphas]
        sets = predictor.predict(asked, self.alphas)
        planes: Bools = sets.transpose(names.ALPHA, names.EXAMPLE, names.LABEL).values
        return list(planes)

    def _means(self, plane: Bools) -> dict[str, float]:
        """Return the means at one alpha, summed exactly: rows in any order give the same."""
        sizes = coverage.sizes(plane)
        by_name = np.argsort(self.predictions[names.LABEL].values)
        outcomes = {
            "aggregated_coverage": coverage.aggregated(plane, self.plausibilities),
            "voted_coverage": coverage.voted(
                plane, self.plausibilities, self.ties, self.uniform, by_name
            ),
            "set_size": sizes,
            "share_empty": sizes == 0,
        }
        if self.true is not None:
            outcomes[TRUE] = plane[np.arange(len(plane)), self.true]
        found = {name: math.fsum(values) / len(values) for name, values in outcomes.items()}
        if self.groups is not None:
            found[BY_GROUP] = mean_by_group(outcomes["aggregated_coverage"], self.groups)
        return found


def mean_by_group(values: NDArray[np.float64], groups: Values) -> float:
    """Return the mean over groups of the means within, summed exactly."""
    _, code = np.unique(groups, return_inverse=True)
    sizes = np.bincount(code)
    return math.fsum(values / sizes[code]) / len(sizes)
