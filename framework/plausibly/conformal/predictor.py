"""A calibrated predictor: immutable, small, and asked for any alpha after one calibration."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import attrs
import numpy as np
import xarray as xr

from plausibly.arrays import Bools, Floats, Hashes
from plausibly.conformal.alphas import AlphaLike, Alphas, is_several, read_alpha, read_alphas
from plausibly.conformal.asking import largest_scores, queries_of, warn_of_new
from plausibly.conformal.decisions import Decisions
from plausibly.conformal.evidence import Evidence
from plausibly.conformal.examples import Examples
from plausibly.conformal.facts import Facts as Facts
from plausibly.conformal.labelled_sets import NewExamples, read_test, sets_array, threshold_array
from plausibly.conformal.pools import Pools
from plausibly.conformal.pvalues import PValues
from plausibly.conformal.queries import Queries, combined
from plausibly.conformal.scoring import scores_of
from plausibly.conformal.vacuity import warn_if_vacuous, warn_of_small_cells
from plausibly.errors import InputError
from plausibly.guarantee import Guarantee
from plausibly.protocols import PValueCombiner, ScoreFunction


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
    examples : Examples or None
        All calibration examples, by name or by the hashes of their names; None where the user left
        them out.
    evidence : Evidence
        The facts that guarantees rest on.
    facts : Facts
        How it was made.
    reference : ndarray, (example,), or None
        The largest score of each calibration example, in ascending order: new ones should be alike.
    """

    labels: tuple[str, ...]
    score: ScoreFunction
    combiner: PValueCombiner
    calibrator: Mapping[str, object] | None
    pools: Pools
    held_out_scores: Floats | None
    examples: Examples | None
    evidence: Evidence
    facts: Facts
    reference: Floats | None = None
    # Keyed by alpha as it was given, so that a service pays for its Fraction once.
    _known: dict[AlphaLike, Floats] = attrs.field(factory=dict, init=False)

    @property
    def hashes(self) -> Hashes | None:
        """Hashes of the names of all calibration examples; None where the user left them out."""
        return None if self.examples is None else self.examples.hashes

    @property
    def n(self) -> int:
        """Number of calibration examples, held-out ones included."""
        evidence = self.evidence
        used = evidence.n if evidence.examples is None else evidence.examples
        return used + evidence.n_held_out

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

    @cached_property
    def _decisions(self) -> Decisions:
        return Decisions(self.pools, self.combine, self.facts)

    @property
    def takes_rows(self) -> bool:
        """Whether `predict_array` works: nothing else is read of a new example."""
        return self._decisions.takes_rows and not self.score.randomised

    def _promise(self, alpha: Fraction) -> Guarantee:
        stated = self.combiner.guarantee(self.evidence, alpha)
        if self.pools.replicates.weight_by:
            # Only new examples that weigh much get every label; `predict` warns of these.
            return attrs.evolve(stated, vacuous=False)
        if not self._decisions.has_threshold:
            return stated
        # The sets decide: ties at the least score can make them vacuous too.
        return attrs.evolve(stated, vacuous=bool((self._decisions.taus(alpha) == -np.inf).all()))

    def _warn(self, alpha: Fraction) -> None:
        promise = self._promise(alpha)
        replicates = self.pools.replicates
        if replicates.by and self._decisions.has_threshold:
            small = np.flatnonzero(self._decisions.taus(alpha) == -np.inf).tolist()
            warn_of_small_cells(promise, replicates, small)
        else:
            warn_if_vacuous(promise, self.facts.combiner)

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

    def guarantee(self, alpha: AlphaLike) -> Guarantee:
        """Return what sets at `alpha` promise: level, of what, over what, if what, and why."""
        return self._promise(read_alpha(alpha))

    def _queries(self, test: NewExamples) -> Queries:
        return queries_of(
            test,
            self.pools.replicates,
            score=self.score,
            facts=self.facts,
            splits_ties=self._decisions.splits_ties,
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
        """
        test = self._read(predictions)
        p = combined(self.pools, self._queries(test), self.combine)
        return test.like_input(p, "p_values")

    def _read(self, predictions: xr.DataArray) -> NewExamples:
        return read_test(
            predictions,
            self.labels,
            self.facts.scale,
            self.pools.dtype,
            augmentations=self.facts.augmentations,
        )

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
        test = self._read(predictions)
        queries = self._queries(test)
        alphas = read_alphas(alpha)
        for one in alphas:
            self._warn(one)
        sets = self._decisions.sets(queries, alphas)
        warn_of_new(test, queries, self.pools.replicates, sets, alphas)
        promises = [self._promise(one) for one in alphas]
        return sets_array(
            test,
            sets,
            promises,
            is_several(alpha),
            self.fingerprint,
            self.examples,
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
        self._decisions.require_rows()
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
        taus = self._known.get(alpha)
        if taus is None:
            exact = read_alpha(alpha)
            taus = self._known.setdefault(alpha, self._decisions.taus(exact))
            self._warn(exact)
        return self._decisions.at_least(scores, taus, None).reshape(values.shape)

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
            of = " of the voted label" if promise.target == "voted" else ""
            each = f" for {promise.each}" if promise.each else ""
            kept = f"guaranteed {promise.shown_level()}{of}{each}"
            lines.append(
                f"  alpha {float(alpha):g}  threshold {self._decisions.shown(alpha)}  "
                f"{'no guarantee' if promise.level is None else kept}"
            )
        return "\n".join(lines)
