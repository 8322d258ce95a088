"""What a calibrator sees: scores and plausibilities of the calibration examples."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.arrays import Floats, Hashes, Ints
from plausibly.kernels.draws import draw_labels
from plausibly.kernels.masses import exact_units, float_units
from plausibly.keys import Keys

# Files keep masses as doubles, which are exact up to here.
_EXACT_BITS = 53


@attrs.frozen(kw_only=True, eq=False)
class CalibrationData:
    """Scores and plausibilities of the calibration examples, aligned by name.

    Attributes
    ----------
    scores : ndarray, (example, label)
        Conformity scores in the dtype of the predictions; larger = fits better.
    plausibilities : ndarray, (example, label)
        Rows sum to 1.
    denominator : ndarray of int64, (example,), or None
        Totals of which the plausibilities are counts.
    hashes : ndarray of uint64, (example,)
        Hashes of the names of the examples: what randomness is keyed by.
    labels : tuple of str
        In the order of the calibration predictions, in which draws cumulate and ties break.
    """

    scores: Floats
    plausibilities: Floats
    denominator: Ints | None
    hashes: Hashes
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.hashes)

    def draw(self, draws: int, keys: Keys) -> NDArray[np.int32]:
        """Return label codes (draw, example), each drawn from the plausibilities of its example.

        Draws of different examples are independent; the first draws of an example do not depend
        on how many are asked for, nor on the other examples.
        """
        return draw_labels(self.plausibilities, keys.uniform(self.hashes, draws))

    def voted(self) -> NDArray[np.int32]:
        """Return the label code (example,) of the largest plausibility, the first where tied."""
        codes: NDArray[np.int32] = np.argmax(self.plausibilities, axis=1).astype(np.int32)
        return codes

    def scores_at(self, codes: Ints) -> Floats:
        """Return the scores (draw, example) at label codes of that shape."""
        return self.scores[np.arange(len(self)), codes]

    def units(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return plausibilities as integer masses, and the mass of each example.

        Returns
        -------
        units : ndarray of int64, (example, label)
            Exact counts where the plausibilities are counts over their `denominator`, else
            rounded up to 2^-40, which can only enlarge sets.
        denominator : ndarray of int64, (example,)
        """
        if self.denominator is not None and self.denominator.max(initial=0) < 2**_EXACT_BITS:
            denominator = self.denominator.astype(np.int64)
            counts = exact_units(self.plausibilities, denominator)
            if counts is not None:
                return counts, denominator
        units, one = float_units(self.plausibilities)
        return units, np.full(len(self), one, dtype=np.int64)

    def take(self, rows: NDArray[np.intp]) -> CalibrationData:
        """Return the data of some examples."""
        return CalibrationData(
            scores=self.scores[rows],
            plausibilities=self.plausibilities[rows],
            denominator=None if self.denominator is None else self.denominator[rows],
            hashes=self.hashes[rows],
            labels=self.labels,
        )
