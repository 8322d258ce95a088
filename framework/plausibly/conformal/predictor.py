"""A calibrated predictor: immutable, small, and asked for any alpha after one calibration."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.alphas import Alphas, is_several, read_alphas
from plausibly.calibration.facts import Facts as Facts
from plausibly.calibration.kept import Kept
from plausibly.calibration.queries import Queries, combined
from plausibly.conformal.array_predictor import ArrayPredictor
from plausibly.conformal.asking import (
    largest_scores,
    queries_of,
    warn_of_unseen_groups,
    warn_of_weights,
)
from plausibly.conformal.labelled_sets import (
    OVERLAP,
    NewExamples,
    read_test,
    sets_array,
    sets_attrs,
    threshold_array,
)
from plausibly.data.named import is_lazy
from plausibly.kernels.types import Floats


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConformalPredictor(ArrayPredictor):
    """Prediction sets with a stated guarantee, from `plausibly.calibrate`.

    What it holds, and what it answers to plain arrays, is in `ArrayPredictor`.
    """

    _about: Kept[tuple[Fraction, ...], dict[str, object]] = attrs.field(factory=Kept, init=False)

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
        alphas = read_alphas(alpha)
        values = np.stack([self._decisions.taus(one) for one in alphas], axis=-1)
        for one in alphas:
            self._warn(one)
        several = is_several(alpha)
        return threshold_array(values, alphas, self.pools.replicates, several=several)

    def _queries(self, test: NewExamples, *, compared: bool = False) -> Queries:
        return queries_of(
            test,
            self.pools.replicates,
            score=self.score,
            facts=self.facts,
            splits_ties=self._decisions.splits_ties,
            compared=compared,
        )

    def p_values(self, predictions: xr.DataArray) -> xr.DataArray:
        """Return the combined p-value of every label of every example.

        Parameters
        ----------
        predictions : DataArray, (example, label)
            Of the model that calibrated; labels are matched by name.

        Returns
        -------
        DataArray of float64, dims and labels as in `predictions`
            Sets are ``p > alpha``; `predict` makes the same sets by threshold, without p-values.

        Warns
        -----
        PlausiblyWarning
            ``group-unseen`` where calibration lacks the group of an example.
        """
        if is_lazy(predictions):
            from plausibly.conformal.predict import lazy_p_values

            return lazy_p_values(self, predictions)
        test = self._read(predictions)
        queries = self._queries(test)
        warn_of_unseen_groups(test, queries, self.pools.replicates)
        return test.like_input(combined(self.pools, queries, self.combine), "p_values")

    def combined_p(self, test: NewExamples) -> Floats:
        """Return the combined p-values (example, label), labels in the order of `labels`."""
        return combined(self.pools, self._queries(test), self.combine)

    def _read(self, predictions: xr.DataArray) -> NewExamples:
        return read_test(
            predictions,
            self.labels,
            self.facts.scale,
            self.pools.dtype,
            augmentations=self.facts.augmentations,
        )

    def scores(self, predictions: xr.DataArray) -> Floats:
        """Return the score of every label of every example.

        Parameters
        ----------
        predictions : DataArray, ([augmentation,] example, label)

        Returns
        -------
        ndarray, ([augmentation,] example, label)
            Labels in the order of `labels`.
        """
        return self._queries(self._read(predictions)).scores

    def largest_scores(self, predictions: xr.DataArray) -> Floats:
        """Return the largest score of each example, as `reference` has them of calibration.

        Parameters
        ----------
        predictions : DataArray, ([augmentation,] example, label)

        Returns
        -------
        ndarray, (example,)
            Of the mean score where an example has augmentations.
        """
        return largest_scores(self._queries(self._read(predictions)).scores)

    def predict(self, predictions: xr.DataArray, alpha: Alphas) -> xr.DataArray:
        """Return prediction sets.

        Parameters
        ----------
        predictions : DataArray, (example, label)
            Of the model that calibrated; labels are matched by name.
        alpha : number, text, or a sequence of them
            Several alphas add the dim ``alpha``.

        Returns
        -------
        DataArray of bool, dims of `predictions` [and alpha]
            ``attrs`` hold the guarantees (JSON), the predictor's fingerprint, and the number of
            examples that also calibrated it.
        """
        alphas = read_alphas(alpha)
        if is_lazy(predictions):
            from plausibly.conformal.predict import lazy_sets

            test, sets = lazy_sets(
                self, self._decisions, predictions, alphas, several=is_several(alpha)
            )
        else:
            test = self._read(predictions)
            queries = self._queries(test, compared=self._decisions.has_threshold)
            sets = self._decisions.sets(queries, alphas)
            warn_of_unseen_groups(test, queries, self.pools.replicates)
            warn_of_weights(queries, self.pools.replicates, sets, alphas)
        for one in alphas:
            self._warn(one)
        asked = tuple(alphas)
        about = self._about.get(asked)
        if about is None:
            promises = [self._promise(one) for one in alphas]
            made = sets_attrs(promises, self.fingerprint, self.labels)
            about = self._about.keep(asked, made)
        overlap = 0 if self.examples is None else self.examples.common(test.examples)
        return sets_array(test, sets, alphas, {**about, OVERLAP: overlap}, is_several(alpha))

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
