"""A calibrated predictor: immutable, small, and asked for any alpha after one calibration."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import xarray as xr

from plausibly.arrays import Bools, Floats, Hashes
from plausibly.conformal import threshold as thresholds
from plausibly.conformal.alphas import AlphaLike, Alphas, is_several, read_alpha, read_alphas
from plausibly.conformal.evidence import Evidence
from plausibly.conformal.labelled_sets import NewExamples, read_test, sets_array
from plausibly.conformal.pools import Pools
from plausibly.conformal.pvalues import PValues
from plausibly.conformal.scoring import scores_of
from plausibly.conformal.vacuity import warn_if_vacuous
from plausibly.errors import InputError
from plausibly.guarantee import Guarantee, rounded
from plausibly.keys import Keys
from plausibly.labelled import names
from plausibly.protocols import PValueCombiner, ScoreFunction

_BLOCK = 1 << 20


@attrs.frozen(kw_only=True)
class Facts:
    """What a predictor remembers of how it was made.

    Attributes
    ----------
    scale : str
        Scale of the calibration predictions.
    seed : int
    calibrator, score, combiner, aggregator : str
        Names.
    """

    scale: str
    seed: int
    calibrator: str
    score: str
    combiner: str
    aggregator: str


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConformalPredictor:
    """Prediction sets with a stated guarantee, from `plausibly.calibrate`.

    Attributes
    ----------
    labels : tuple of str
        In the order of the calibration predictions.
    score, combiner : object
        Components that score and merge at test time.
    calibrator : mapping or None
        Name and parameters of the calibrator, which is not needed any more.
    pools : Pools
        The atoms that test scores are compared with.
    held_out_scores : ndarray, (held-out example,), or None
    hashes : ndarray of uint64 or None
        Hashes of the names of all calibration examples; None where the user left them out.
    evidence : Evidence
        The facts that guarantees rest on.
    facts : Facts
        How it was made.
    """

    labels: tuple[str, ...]
    score: ScoreFunction
    combiner: PValueCombiner
    calibrator: Mapping[str, object] | None
    pools: Pools
    held_out_scores: Floats | None
    hashes: Hashes | None
    evidence: Evidence
    facts: Facts
    _thresholds: dict[Fraction, np.floating[Any]] = attrs.field(  # Any: the scores' dtype
        factory=dict, init=False
    )
    # Keyed by alpha as it was given, so that a service pays for its Fraction once.
    _known: dict[AlphaLike, np.floating[Any]] = attrs.field(  # Any: as above
        factory=dict, init=False
    )

    @property
    def n(self) -> int:
        """Number of calibration examples, held-out ones included."""
        return self.evidence.n + self.evidence.n_held_out

    @cached_property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that change with anything a prediction depends on."""
        from plausibly.conformal.files import fingerprint

        return fingerprint(self)

    @cached_property
    def _held_out(self) -> PValues | None:
        scores = self.held_out_scores
        return None if scores is None else PValues.of(self.pools, scores)

    def combine(self, p: PValues) -> Floats:
        """Return the combiner's p-values of queries, (*query)."""
        return self.combiner.combine(p, self._held_out)

    def _tau(self, alpha: Fraction) -> np.floating[Any]:  # Any: the dtype of the scores
        known = self._thresholds.get(alpha)
        if known is None:
            known = thresholds.threshold(self.pools, self.combine, alpha)
            self._thresholds[alpha] = known
        return known

    def _promise(self, alpha: Fraction) -> Guarantee:
        stated = self.combiner.guarantee(self.evidence, alpha)
        # The sets decide: ties at the least score can make them vacuous too.
        return attrs.evolve(stated, vacuous=bool(self._tau(alpha) == -np.inf))

    def _warned(self, alpha: Fraction) -> np.floating[Any]:  # Any: the dtype of the scores
        warn_if_vacuous(self._promise(alpha), self.facts.combiner)
        return self._tau(alpha)

    def threshold(self, alpha: Alphas) -> xr.DataArray:
        """Return the least score that stays in a set.

        Parameters
        ----------
        alpha : number, text, or a sequence of them
            Miscoverage rates, 0 < alpha < 1, read as the decimals that were typed.

        Returns
        -------
        DataArray, () or (alpha,)
            On the scale of the scores; -inf: every label is in every set, +inf: none is.

        Warns
        -----
        PlausiblyWarning
            Where every set is every label, with the number that would change it.
        """
        alphas = read_alphas(alpha)
        values = np.array([self._warned(one) for one in alphas], dtype=self.pools.dtype)
        coordinate = np.array([float(one) for one in alphas])
        if is_several(alpha):
            coords = {names.ALPHA: coordinate}
            return xr.DataArray(values, dims=names.ALPHA, coords=coords, name="threshold")
        return xr.DataArray(values[0], coords={names.ALPHA: coordinate[0]}, name="threshold")

    def guarantee(self, alpha: AlphaLike) -> Guarantee:
        """Return what sets at `alpha` promise: level, of what, over what, if what, and why."""
        return self._promise(read_alpha(alpha))

    def _scores(self, test: NewExamples) -> Floats:
        uniform = None
        if self.score.randomised:
            uniform = Keys(self.facts.seed).child("score").uniform(test.hashes)
        facts = self.facts
        return scores_of(test.values, facts.scale, self.score, facts.score, uniform)

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
        """
        test = read_test(predictions, self.labels, self.facts.scale, self.pools.dtype)
        scores = self._scores(test)
        p = np.empty(scores.shape, dtype=np.float64)
        rows = max(1, _BLOCK // (len(self.labels) * self.evidence.m))
        for start in range(0, len(scores), rows):
            block = scores[start : start + rows]
            p[start : start + rows] = self.combine(PValues.of(self.pools, block))
        return test.like_input(p, "p_values")

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
        test = read_test(predictions, self.labels, self.facts.scale, self.pools.dtype)
        scores = self._scores(test)
        alphas = read_alphas(alpha)
        sets = [scores >= self._warned(one) for one in alphas]
        promises = [self._promise(one) for one in alphas]
        return sets_array(
            test,
            sets,
            promises,
            is_several(alpha),
            self.fingerprint,
            self.hashes,
            self.labels,
        )

    def predict_array(
        self, predictions: Floats, alpha: AlphaLike, *, uniform: Floats | None = None
    ) -> Bools:
        """Return sets of one row or a batch of plain arrays.

        Parameters
        ----------
        predictions : ndarray, (label,) or (example, label)
            On the scale of the calibration predictions, in the order of `labels`. Values are not
            checked: this is the path of a service that checks its own model.
        alpha : number or text
        uniform : ndarray, (example, 1), optional
            For randomised score functions, which have no name to key one by.

        Returns
        -------
        ndarray of bool, of the shape of `predictions`
        """
        values = np.asarray(predictions, dtype=self.pools.dtype)
        if values.ndim not in (1, 2) or values.shape[-1] != len(self.labels):
            raise InputError(
                "array-shape",
                f"predictions have shape {values.shape}",
                expected=f"({len(self.labels)},) or (examples, {len(self.labels)}), labels in the "
                "order of predictor.labels",
                got=str(values.shape),
                do="pass one row or a batch of rows",
                whose="predictions",
            )
        if self.score.randomised and uniform is None:
            raise InputError(
                "uniform-missing",
                f"score {self.facts.score} is randomised, and plain rows have no names",
                expected="one uniform an example, of shape (examples, 1)",
                do="uniform=..., or predict() with named examples",
                whose="predictions",
            )
        batch = np.atleast_2d(values)
        facts = self.facts
        scores = scores_of(batch, facts.scale, self.score, facts.score, uniform)
        tau = self._known.get(alpha)
        if tau is None:
            tau = self._known.setdefault(alpha, self._warned(read_alpha(alpha)))
        return (scores >= tau).reshape(values.shape)

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

    def __repr__(self) -> str:
        facts = self.facts
        held = f" (and {self.evidence.n_held_out:,} held out)" if self.evidence.n_held_out else ""
        lines = [
            f"ConformalPredictor  {facts.calibrator} + {facts.combiner}, score {facts.score}, "
            f"n {self.evidence.n:,}{held}, {len(self.labels)} labels"
        ]
        for alpha in (Fraction(1, 10), Fraction(1, 20)):
            promise = self._promise(alpha)
            of = "" if promise.target == "aggregated" else " of the voted label"
            kept = f"guaranteed {promise.shown_level()}{of}"
            lines.append(
                f"  alpha {float(alpha):g}  threshold {_shown(self._tau(alpha))}  "
                f"{'no guarantee' if promise.level is None else kept}"
            )
        return "\n".join(lines)


def _shown(tau: np.floating[Any]) -> str:  # Any: the dtype of the scores
    value = float(tau)
    return rounded(value) if 0 <= value <= 1 else f"{value:.4g}"
