"""Plausibility regions: the plausibility vectors that conform, with a guarantee for the whole one.

A prediction set covers a label; a region covers the *distribution* of what experts say. The
conformity of a vector lambda is the expected score ``sum_k lambda_k E(x, k)``, and split conformal
prediction on the calibration examples' own vectors gives ``P(lambda in R(X)) >= 1 - alpha``
(Stutz et al., Conformal prediction under ambiguous ground truth, arXiv 2307.09302, version 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.calibration.alphas import AlphaLike, Alphas, is_several, read_alpha, read_alphas
from plausibly.calibration.examples import Examples
from plausibly.conformal import regions_promise as promised
from plausibly.conformal import regions_simplex as simplex
from plausibly.conformal.labelled_sets import NewExamples, read_test, sets_array, sets_attrs
from plausibly.data import align, names, validate
from plausibly.guarantee import Guarantee
from plausibly.kernels.masses import share
from plausibly.kernels.ranks import order_statistic
from plausibly.kernels.types import Bools, Floats, FloatType, Hashes
from plausibly.protocols import SCORE

if TYPE_CHECKING:
    from plausibly.conformal.regions_calibrate import Scoring

POINT = "point"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class PlausibilityRegion:
    """Regions of plausibility vectors with a stated guarantee, from `calibrate_region`.

    A region is the simplex cut by a plane: for any number of labels, only `grid` enumerates.

    Attributes
    ----------
    labels : tuple of str
        In the order of the calibration predictions.
    ordered : ndarray of float64, (example,)
        Expected scores of the calibration examples, in ascending order.
    hashes : ndarray of uint64, (example,)
        Hashes of their names.
    dtype : dtype
        Float type of the calibration predictions, in which new ones are scored.
    scoring
        The score function, its name, the scale of the predictions and the seed.
    """

    labels: tuple[str, ...]
    scoring: Scoring
    dtype: FloatType
    ordered: NDArray[np.float64]
    hashes: Hashes

    @property
    def n(self) -> int:
        """Number of calibration examples."""
        return len(self.ordered)

    @cached_property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that change with anything a region depends on."""
        table = registry.describe(SCORE, self.scoring.component)
        facts = (self.labels, table, self.scoring.scale, self.scoring.seed, str(self.dtype))
        return blake2b(repr(facts).encode() + self.ordered.tobytes(), digest_size=16).hexdigest()

    def _tau(self, alpha: Fraction) -> float:
        return float(order_statistic(self.ordered, math.floor(alpha * (self.n + 1))))

    def warned(self, alpha: Fraction) -> float:
        """Return the threshold; warn where every vector conforms."""
        promised.warn_if_vacuous(alpha, self.n, stacklevel=4)
        return self._tau(alpha)

    def threshold(self, alpha: Alphas) -> xr.DataArray:
        """Return the least expected score that conforms, () or (alpha,).

        -inf where every vector conforms: with fewer than ``1/alpha - 1`` calibration examples.
        """
        values = [self.warned(one) for one in read_alphas(alpha)]
        return promised.over_alphas(
            alpha, [xr.DataArray(value, name="threshold") for value in values]
        )

    def guarantee(self, alpha: AlphaLike) -> Guarantee:
        """Return what the region at `alpha` promises."""
        return promised.of_region(read_alpha(alpha), self.n)

    def read(self, predictions: xr.DataArray) -> tuple[NewExamples, Floats]:
        """Return new predictions, matched by name, and their scores (example, label)."""
        new = read_test(predictions, self.labels, self.scoring.scale, self.dtype)
        return new, self.scoring.scores(new.values, new.examples.hashes)

    def p_values(self, predictions: xr.DataArray, plausibilities: xr.DataArray) -> xr.DataArray:
        """Return the p-value of one plausibility vector an example.

        ``(#{i : S_i <= s} + 1) / (n + 1)``; a vector is in the region at alpha where it exceeds
        alpha.

        Parameters
        ----------
        predictions : DataArray, (example, label)
            Of the model that calibrated; labels are matched by name.
        plausibilities : DataArray or Dataset, (example, label)
            The vectors asked about, dense or packed, of the same examples.

        Returns
        -------
        DataArray of float64, (example,)
            In the order of the predictions.
        """
        asked, counts = self._asked(predictions, plausibilities)
        return asked.copy(data=share(counts, self.n + 1)).rename("p_values")

    def _asked(
        self, predictions: xr.DataArray, plausibilities: xr.DataArray
    ) -> tuple[xr.DataArray, NDArray[np.int64]]:
        """Return an array over the examples, and the numerators of their p-values."""
        new, scores = self.read(predictions)
        lam = validate.check_plausibilities(plausibilities, draws=False)
        lam = align.match_labels(lam, self.labels, whose="plausibilities", other="the region")
        _, lam = align.match_examples(new.checked, lam)
        asked = new.checked.isel({names.LABEL: 0}, drop=True).drop_attrs()
        return asked, self._counts(simplex.expected_scores(scores, lam.values))

    def _counts(self, expected: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.searchsorted(self.ordered, expected, side="right").astype(np.int64) + 1

    def contains(
        self, predictions: xr.DataArray, plausibilities: xr.DataArray, alpha: Alphas
    ) -> xr.DataArray:
        """Return whether each example's plausibility vector is in its region.

        Parameters
        ----------
        predictions, plausibilities
            As for `p_values`.
        alpha : number, text, or a sequence of them
            Several alphas add the dim ``alpha``.

        Returns
        -------
        DataArray of bool, (example[, alpha])
        """
        asked, counts = self._asked(predictions, plausibilities)
        inside = [asked.copy(data=self._inside(counts, one)) for one in read_alphas(alpha)]
        return promised.over_alphas(alpha, inside).rename("contains").transpose(names.EXAMPLE, ...)

    def _inside(self, counts: NDArray[np.int64], alpha: Fraction) -> Bools:
        """Return ``p > alpha``, decided on counts."""
        promised.warn_if_vacuous(alpha, self.n, stacklevel=4)
        inside: Bools = counts > math.floor(alpha * (self.n + 1))
        return inside

    def bounds(self, predictions: xr.DataArray, alpha: Alphas) -> xr.Dataset:
        """Return the least and the largest plausibility of each label within the region.

        Together they hold for all labels at once: with probability 1 - alpha every plausibility of
        the new example lies between its `least` and its `most`.

        Parameters
        ----------
        predictions : DataArray, (example, label)
        alpha : number, text, or a sequence of them

        Returns
        -------
        Dataset
            `least` and `most`, (example, label[, alpha]); NaN for an example with which no vector
            conforms, whose largest score is below the threshold.
        """
        new, scores = self.read(predictions)
        found = []
        for one in read_alphas(alpha):
            tau = self.warned(one)
            least, most = simplex.least(scores, tau), simplex.most(scores, tau)
            parts = {"least": new.like_input(least, "least"), "most": new.like_input(most, "most")}
            found.append(xr.Dataset(parts))
        return promised.over_alphas(alpha, found)

    def label_sets(
        self, predictions: xr.DataArray, alpha: Alphas, *, leave_out: AlphaLike = 0.1
    ) -> xr.DataArray:
        """Return the smallest label sets that leave out at most `leave_out` of any vector within.

        A label is in the set where some vector of the region gives it more than `leave_out`. Every
        vector of the region then has at least ``1 - leave_out`` on the set: outside it no label
        can have more than `leave_out`, and labels outside it together have no more than the one of
        them that can have most (`regions_simplex.most`). Hence, with the region's guarantee,
        ``P(lambda(C) >= 1 - leave_out) >= 1 - alpha``, and aggregated coverage of at least
        ``(1 - leave_out)(1 - alpha)``.

        The calibrator `mass-coverage` promises the same, with smaller sets as a rule.

        Parameters
        ----------
        predictions : DataArray, (example, label)
        alpha : number, text, or a sequence of them
        leave_out : number or text
            0 < leave_out < 1. To leave out nothing takes every label: a region with any room in it
            lets each have a little.

        Returns
        -------
        DataArray of bool, dims of `predictions` [and alpha]
            As `ConformalPredictor.predict` returns sets; empty where no vector conforms.

        References
        ----------
        The set of highest lower probability of Caprio, Stutz, Li & Doucet, Conformalized credal
        regions for classification with ambiguous ground truth, arXiv 2411.04852, in closed form.
        """
        mass = promised.read_leave_out(leave_out)
        return self._sets(
            predictions,
            alpha,
            lambda scores, tau: simplex.plausible_above(scores, tau, mass),
            lambda one: promised.of_label_sets(one, self.n, mass),
        )

    def vote_sets(self, predictions: xr.DataArray, alpha: Alphas) -> xr.DataArray:
        """Return every label that some vector of the region would vote for.

        The labels that have the largest plausibility, alone or tied, of a vector in the region:
        ``P(vote in C) >= 1 - alpha`` however ties are broken. (The paper takes the k best of every
        vector on a grid: from k = 2 on every label, if the grid is fine enough.)

        Parameters
        ----------
        predictions : DataArray, (example, label)
        alpha : number, text, or a sequence of them

        Returns
        -------
        DataArray of bool, dims of `predictions` [and alpha]
        """
        return self._sets(
            predictions, alpha, simplex.votable, lambda one: promised.of_vote_sets(one, self.n)
        )

    def _sets(
        self,
        predictions: xr.DataArray,
        alpha: Alphas,
        reduced: Callable[[Floats, float], Bools],
        promise: Callable[[Fraction], Guarantee],
    ) -> xr.DataArray:
        (new, scores), alphas = self.read(predictions), read_alphas(alpha)
        sets = [reduced(scores, self.warned(one)) for one in alphas]
        stated, overlap = map(promise, alphas), Examples(self.hashes).common(new.examples)
        about = sets_attrs(stated, self.fingerprint, self.labels, overlap)
        return sets_array(new, sets, alphas, about, is_several(alpha))

    def grid(self, predictions: xr.DataArray, alpha: Alphas, *, parts: int = 10) -> xr.Dataset:
        """Return which vectors of a grid on the simplex are in each example's region.

        Parameters
        ----------
        predictions : DataArray, (example, label)
        alpha : number, text, or a sequence of them
        parts : int
            The grid holds the ``C(parts + K - 1, K - 1)`` vectors of whole multiples of
            ``1 / parts`` that sum to 1.

        Returns
        -------
        Dataset
            `plausibilities`, (point, label); `p_values`, (example, point); `inside`,
            (example, point[, alpha]).

        Raises
        ------
        InputError
            ``parts-range``; ``grid-too-large`` where examples times points pass 1,000,000.
        """
        new, scores = self.read(predictions)
        promised.check_grid(parts, len(self.labels), len(scores))
        points = simplex.grid(len(self.labels), parts)
        counts = np.stack(
            [self._counts(simplex.expected_scores(row[None], points)) for row in scores]
        )
        found = xr.Dataset(
            {"plausibilities": ((POINT, names.LABEL), points)},
            coords={names.EXAMPLE: new.checked[names.EXAMPLE], names.LABEL: list(self.labels)},
        )
        found["p_values"] = ((names.EXAMPLE, POINT), share(counts, self.n + 1))
        alphas = read_alphas(alpha)
        inside = [found["p_values"].copy(data=self._inside(counts, one)) for one in alphas]
        return found.assign(
            inside=promised.over_alphas(alpha, inside).transpose(names.EXAMPLE, POINT, ...)
        )

    def draw(
        self,
        predictions: xr.DataArray,
        alpha: Alphas,
        *,
        plausibilities: xr.DataArray | None = None,
        axes: Any = None,  # Any: matplotlib axes, which may not be installed
    ) -> Any:  # Any: as above
        """Draw the region of one example with two, three or four labels.

        Two labels give a line, three a triangle, four a tetrahedron seen from one side.

        Parameters
        ----------
        predictions : DataArray, (example, label)
            Of one example, ``predictions.sel(example=["case 3"])``; probabilities are marked.
        alpha : number, text, or a sequence of them
        plausibilities : DataArray, (example, label), optional
            What experts said of it, to be marked.
        axes : matplotlib axes, optional
            By default those of a new figure, ``axes.figure``.

        Returns
        -------
        matplotlib axes

        Raises
        ------
        InputError
            ``region-undrawable`` for other numbers of labels; ``examples-several``.
        MissingExtra
            ``extra-missing`` without matplotlib.
        """
        from plausibly.plots import regions

        return regions.draw(self, predictions, alpha, plausibilities, axes)

    def __repr__(self) -> str:
        facts = f"score {self.scoring.called}, n {self.n:,}, {len(self.labels)} labels"
        lines = [
            f"  alpha {float(alpha):g}  threshold {self._tau(alpha):.4g}  "
            f"guaranteed {self.guarantee(alpha).shown_level()}"
            for alpha in (Fraction(1, 10), Fraction(1, 20))
        ]
        return "\n".join([f"PlausibilityRegion  {facts}", *lines])
