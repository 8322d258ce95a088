"""The calibrated predictor: prediction sets and p-values at any alpha after one calibration."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.alphas import Alphas, is_several, read_alphas
from plausibly.calibration.data import check_weights, new_values
from plausibly.calibration.pvalues import TestScores
from plausibly.conformal.array_predictor import ArrayPredictor
from plausibly.conformal.inputs import (
    NewExamples,
    groups_of,
    label_order,
    mean_scores,
    read_test,
    sets_array,
    warn_of_unseen_groups,
    warn_of_weights,
)
from plausibly.data import names
from plausibly.data.names import Names, is_lazy
from plausibly.errors import IncompatibleComponents
from plausibly.io.accept import PredictionsLike, as_predictions
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Bools, Floats, Ints

if TYPE_CHECKING:
    import dask.array


def _of_chunk(
    array: xr.DataArray,
    source: str,
    *columns: NDArray[np.generic],
    wanted: Sequence[str],
    alphas: Sequence[Fraction] | None,
    predictor: ConformalPredictor,
) -> NDArray[Any]:  # Any: flags or numbers
    """Return the sets of one chunk, (alpha, example, label); its p-values where alphas is None."""
    over = {name: (names.EXAMPLE, column) for name, column in zip(wanted, columns, strict=True)}
    test, test_scores = predictor._scored(
        array.assign_coords(over), compared=alphas is not None, source=source, whole=False
    )
    if alphas is None:
        return predictor._p_values(test_scores)[:, test.order]
    return np.stack([plane[:, test.order] for plane in predictor._sets(test_scores, alphas)])


def _lazy(
    predictor: ConformalPredictor, predictions: xr.DataArray, alphas: Sequence[Fraction] | None
) -> tuple[NewExamples, Ints | None, dask.array.Array]:
    """Return examples in chunks, their groups, and their sets or p-values, not computed yet."""
    from plausibly.conformal.chunks import map_chunks, predictions_in_chunks

    scale, calibration = predictor.metadata.scale, predictor.pools.calibration
    known = predictions_in_chunks(predictions, scale)
    label_order(known.labels, predictor._label_names)  # each label is one of the predictor's
    wanted = [name for name in (calibration.by_examples, calibration.claim.weights) if name]
    source = f"calibrator {predictor.metadata.calibrator}"
    results = map_chunks(
        _of_chunk,
        known.array,
        known.examples,
        np.float64 if alphas is None else np.bool_,
        *(new_values(known.array, name, source=source) for name in wanted),
        source="predictions",
        planes=None if alphas is None else len(alphas),
        wanted=wanted,
        alphas=alphas,
        # What answers, without what only says where it came from.
        predictor=attrs.evolve(predictor, examples=None, reference=None),
    )
    test = NewExamples(
        # Numbers come chunk by chunk, in the order in which the labels were given.
        values=np.empty((0, len(known.labels)), dtype=predictor.pools.dtype),
        checked=known.array,
        examples=known.examples,
        numbered=known.numbered,
        order=slice(None),
        dims=tuple(map(str, predictions.dims)),
    )
    group = groups_of(known.array, calibration, source) if calibration.by_examples else None
    return test, group, results


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConformalPredictor(ArrayPredictor):
    """Prediction sets with a stated guarantee, from `plausibly.calibrate`.

    What it holds, and what it answers to plain arrays, is in `ArrayPredictor`.
    """

    @cached_property
    def _label_names(self) -> Names:
        return Names.of(self.labels, names.LABEL)

    def threshold(self, alpha: Alphas) -> xr.DataArray:
        """Return the least score that stays in a set.

        Parameters
        ----------
        alpha : number, text, or a sequence of them
            Miscoverage rates, 0 < alpha < 1, read as the decimals that were typed.

        Returns
        -------
        DataArray, ([group or label][, alpha])
            On the scale of the scores; -inf: every label is in every set, +inf: none is. One for
            each group or label where the calibrator keeps these apart.

        Raises
        ------
        IncompatibleComponents
            ``threshold-none`` where sets depend on more than the score of one label.

        Warns
        -----
        PlausiblyWarning
            Where every set is every label, with the number that would change it.
        """
        alphas, calibration = read_alphas(alpha), self.pools.calibration
        if not self._has_threshold:
            raise IncompatibleComponents(
                "threshold-none",
                f"calibrator {self.metadata.calibrator} with combiner {self.metadata.combiner} "
                "has no one threshold",
                expected="sets by p-value: a weight, a uniform or several scores of the example "
                "decide too",
                hint="predict(...) or p_values(...), which need none",
                source="predictor",
            )
        values = np.stack([self._at(rate).thresholds for rate in alphas], axis=-1)
        for rate in alphas:
            self._warn(rate)
        coords = {
            calibration.claim.by or "group": list(calibration.groups) or ["all"],
            names.ALPHA: [float(rate) for rate in alphas],
        }
        array = xr.DataArray(values, coords, name="threshold")
        if not calibration.claim.by:
            array = array.isel(group=0, drop=True)
        return array if is_several(alpha) else array.isel({names.ALPHA: 0})

    def _scored(
        self,
        predictions: xr.DataArray,
        *,
        compared: bool = False,
        source: str = "predictions",
        whole: bool = True,
    ) -> tuple[NewExamples, TestScores]:
        """Return new examples, and all that a calibration reads of them.

        Scores that are only `compared` with thresholds may be the predictions as they stand.
        """
        calibration, metadata = self.pools.calibration, self.metadata
        test = read_test(
            predictions,
            self._label_names,
            metadata.scale,
            self.pools.dtype,
            augmentations=metadata.augmentations,
            source=source,
            whole=whole,
        )
        scores = test.values
        if not (compared and self._has_threshold and self.scoring.identity):
            scores = self.scoring.scores(test.values, test.examples)
        keys = Keys(metadata.seed)
        group = order = weight = uniform = None
        if calibration.augmentation == "mean":
            scores = mean_scores(scores)
        elif calibration.augmentation == "separate":
            # In a random order any p-values are exchangeable.
            spread = keys.child("order").uniform(test.examples.hashes, len(scores))
            order = np.argsort(spread, axis=1, kind="stable").T
        calibrator = f"calibrator {metadata.calibrator}"
        if calibration.claim.weights:
            values = new_values(test.checked, calibration.claim.weights, source=calibrator)
            weight = check_weights(values, calibration.claim.weights, source="predictions")
        if self.combiner.needs == "smoothed":
            uniform = keys.child("smoothing").uniform(test.examples.hashes)
        if calibration.by_examples:
            group = groups_of(test.checked, calibration, calibrator)
        return test, TestScores(
            scores=scores, group=group, weight=weight, uniform=uniform, order=order
        )

    def p_values(self, predictions: PredictionsLike | Floats) -> xr.DataArray:
        """Return the combined p-value of every label of every example.

        Parameters
        ----------
        predictions : DataArray, (example, label), path, data frame, or ndarray
            As `predict` takes them.

        Returns
        -------
        DataArray of float64, dims and labels as in `predictions`
            Sets are ``p > alpha``; `predict` makes the same sets by threshold, without p-values.

        Raises
        ------
        IncompatibleComponents
            ``p-values-none`` where the combiner has thresholds only.

        Warns
        -----
        PlausiblyWarning
            ``group-unseen`` where calibration lacks the group of an example.
        """
        self._require_p_values()
        array = as_predictions(predictions, scale=self.metadata.scale, labels=self.labels)
        if is_lazy(array):
            test, group, results = _lazy(self, array, None)
            p = cast("Floats", results)  # a Dask array
        else:
            test, test_scores = self._scored(array)
            group, p = test_scores.group, self._p_values(test_scores)
        if group is not None:
            warn_of_unseen_groups(test.checked, group, self.pools.calibration)
        return test.like_input(p, "p_values")

    def scores(self, predictions: PredictionsLike | Floats) -> Floats:
        """Return the score of every label of every example.

        Parameters
        ----------
        predictions : DataArray, ([augmentation,] example, label), or as `predict` takes them

        Returns
        -------
        ndarray, ([augmentation,] example, label)
            Labels in the order of `labels`.
        """
        array = as_predictions(predictions, scale=self.metadata.scale, labels=self.labels)
        return self._scored(array)[1].scores

    def largest_scores(self, predictions: PredictionsLike | Floats) -> Floats:
        """Return the largest score of each example, of the mean where it has augmentations."""
        scores = self.scores(predictions)
        largest: Floats = (mean_scores(scores) if scores.ndim == 3 else scores).max(axis=1)
        return largest

    def predict(self, predictions: PredictionsLike | Floats, alpha: Alphas) -> xr.DataArray:
        """Return prediction sets.

        Parameters
        ----------
        predictions : DataArray, (example, label), path, data frame, or ndarray
            Of the model that calibrated; labels are matched by name, columns of a plain array by
            their place.
        alpha : number, text, or a sequence of them
            Several alphas add the dim ``alpha``.

        Returns
        -------
        DataArray of bool, dims of `predictions` [and alpha]
            ``attrs`` hold the guarantees (JSON), the predictor's fingerprint, and the number of
            examples that also calibrated it.
        """
        alphas = read_alphas(alpha)
        array = as_predictions(predictions, scale=self.metadata.scale, labels=self.labels)
        if is_lazy(array):
            test, group, planes = _lazy(self, array, alphas)
            # Dask arrays under the labels of arrays in memory: nothing below reads them.
            sets = [cast("Bools", planes[place]) for place in range(len(alphas))]
        else:
            test, test_scores = self._scored(array, compared=True)
            group, sets = test_scores.group, self._sets(test_scores, alphas)
            if test_scores.weight is not None:
                warn_of_weights(test_scores, self.pools.calibration, sets, alphas)
        if group is not None:
            warn_of_unseen_groups(test.checked, group, self.pools.calibration)
        for rate in alphas:
            self._warn(rate)
        return sets_array(
            test,
            sets,
            alphas,
            [self._at(rate).dumped for rate in alphas],
            several=is_several(alpha),
            fingerprint=self.fingerprint,
            labels=self.labels,
            order=self.scoring.order,
            known=self.examples,
        )

    def save(self, path: str | Path, *, names: bool = True) -> None:
        """Write the predictor to a file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            A netCDF-3 file, or a Zarr store where it ends in ``.zarr``.
        names : bool
            Whether to keep hashes of the calibration examples' names, by which later evaluation on
            the same examples is noticed.

        Raises
        ------
        ComponentError
            Where a component's class is not registered: files hold names, never code.
        """
        from plausibly.conformal.files import save

        save(self, Path(path), names=names)
