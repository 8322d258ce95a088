"""Which labels stay in a set: by the threshold of their cell, or by p-value where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import attrs
import numpy as np

from plausibly.calibration import threshold as thresholds
from plausibly.calibration.facts import Facts
from plausibly.calibration.kept import Kept
from plausibly.calibration.pools import Pools
from plausibly.calibration.pvalues import MeanOnly, NoThreshold, PValues
from plausibly.calibration.queries import Combine, Queries, combined
from plausibly.calibration.replicates import LABEL_CELLS
from plausibly.errors import IncompatibleComponents
from plausibly.guarantee import rounded
from plausibly.kernels.ranks import at_least
from plausibly.kernels.types import Bools, Floats, Ints


@attrs.frozen(eq=False)
class Decisions:
    """Sets of one predictor.

    Attributes
    ----------
    pools : Pools
    combine : callable
        The combiner, with the held-out p-values bound.
    facts : Facts
        For messages.
    """

    pools: Pools
    combine: Combine
    facts: Facts
    _thresholds: Kept[Fraction, Floats] = attrs.field(factory=Kept, init=False)

    @property
    def has_threshold(self) -> bool:
        """Whether a label is in the set by its score alone, given its cell."""
        replicates, smoothed = self.pools.replicates, self._asked is NoThreshold
        return not (replicates.weight_by or replicates.reads == "separate" or smoothed)

    @property
    def takes_rows(self) -> bool:
        """Whether nothing but one row of predictions is read of an example."""
        replicates = self.pools.replicates
        by_example = replicates.by not in ("", LABEL_CELLS)
        return self.has_threshold and replicates.reads in ("plain", "single") and not by_example

    @property
    def splits_ties(self) -> bool:
        """Whether the combiner may split ties: unless it is a rule of the plain mean alone."""
        return self._asked is not None

    @cached_property
    def _asked(self) -> type[NoThreshold | MeanOnly] | None:
        """What the combiner asks for besides the mean, as far as it comes without."""
        pools = self.pools.cells[0]
        try:
            self.combine(PValues(pools, pools.pooled.cumulative[:1]))
        except (MeanOnly, NoThreshold) as lacking:
            return type(lacking)
        return None

    def taus(self, alpha: Fraction) -> Floats:
        """Return the threshold of each cell, (cell,).

        Raises
        ------
        IncompatibleComponents
            ``threshold-none``.
        """
        known = self._thresholds.get(alpha)
        if known is None:
            if not self.has_threshold:
                raise self._no_threshold()
            found = [thresholds.threshold(one, self.combine, alpha) for one in self.pools.cells]
            known = np.array(found, dtype=self.pools.dtype)
            self._thresholds.keep(alpha, known)
        return known

    def _no_threshold(self) -> IncompatibleComponents:
        replicates = self.pools.replicates
        reason = "an example has a uniform of its own"
        if replicates.weight_by:
            reason = "the threshold depends on the weight of the example"
        elif replicates.reads == "separate":
            reason = "a label has several scores, one an augmentation"
        return IncompatibleComponents(
            "threshold-none",
            f"calibrator {self.facts.calibrator} with combiner {self.facts.combiner} has no one "
            "threshold",
            expected=f"sets by p-value: {reason}",
            do="predict(...) or p_values(...), which need none",
            whose="predictor",
        )

    def sets(self, queries: Queries, alphas: Sequence[Fraction]) -> list[Bools]:
        """Return the sets (example, label) at each alpha."""
        if not self.has_threshold:
            p = combined(self.pools, queries, self.combine)
            return [thresholds.exceed(p, one) for one in alphas]
        return [self.at_least(queries.scores, self.taus(one), queries.cell) for one in alphas]

    def at_least(self, scores: Floats, taus: Floats, cell: Ints | None) -> Bools:
        """Return which scores reach the threshold of their cell; all do where that is unknown.

        Parameters
        ----------
        scores : ndarray, (example, label)
        taus : ndarray, (cell,)
        cell : ndarray of int, (example,), or None
            None: all in one cell, or each label in its own.
        """
        if cell is not None:
            known = np.append(taus, taus.dtype.type(-np.inf))  # at -1
            taus = known[cell][:, None]
        elif not self.pools.replicates.by:
            taus = taus[:1]
        return at_least(scores, taus)

    def require_rows(self) -> None:
        """Raise `IncompatibleComponents` where rows of numbers do not say enough."""
        if self.takes_rows:
            return
        replicates = self.pools.replicates
        read = replicates.weight_by or replicates.by
        if read not in ("", LABEL_CELLS):
            needs = f'"{read}" of each example'
        elif replicates.reads in ("separate", "mean"):
            needs = "all augmentations of an example"
        else:
            needs = "names of the examples, by which uniforms are keyed"
        raise IncompatibleComponents(
            "array-not-enough",
            f"calibrator {self.facts.calibrator} with combiner {self.facts.combiner} reads more "
            "than rows of numbers",
            expected=needs,
            do="predict(), with a DataArray that has them",
            whose="predictions",
        )

    def shown(self, alpha: Fraction) -> str:
        """Return the threshold as text, or the least and the largest."""
        if not self.has_threshold:
            return "none"
        low, *more = sorted({float(tau) for tau in self.taus(alpha)})
        return f"{_text(low)} to {_text(more[-1])}" if more else _text(low)


def _text(tau: float) -> str:
    return rounded(tau) if 0 <= tau <= 1 else f"{tau:.4g}"
