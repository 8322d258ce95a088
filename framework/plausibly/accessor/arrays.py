"""`.plausibly` of a DataArray: the names in prediction sets, their guarantee, their figures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import xarray as xr

from plausibly.accessor.figures import ArrayFigures
from plausibly.accessor.guarantees import guarantee_of
from plausibly.accessor.listing import SHOWN, Listing, Row
from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import counted
from plausibly.evaluation.inputs import as_sets
from plausibly.guarantee import Guarantee


class ArrayAccessor:
    """What plausibly does with a DataArray.

    Parameters
    ----------
    array : DataArray
    """

    def __init__(self, array: xr.DataArray) -> None:
        self._array = array

    def names(self, most: int = SHOWN) -> Listing:
        """Return the labels in each prediction set, by name.

        Parameters
        ----------
        most : int
            Rows that are printed; ``to_frame()`` has all.

        Returns
        -------
        Listing
            A row an example and alpha, labels in their order: a set is no ranking.

        Raises
        ------
        InputError
            Where this is no array of prediction sets, see `plausibly.evaluate`.
        """
        given = as_sets(self._array)
        examples = [str(name) for name in given[names.EXAMPLE].values]
        # As they came: the order of the calibration is for ties, not for reading.
        labels = np.array([str(name) for name in self._array[names.LABEL].values], dtype=object)
        sets = given.sel({names.LABEL: list(labels)})
        alphas: list[float | None] = [None]
        if names.ALPHA in sets.coords:
            alphas = [float(one) for one in np.atleast_1d(sets[names.ALPHA].values)]
        planes = sets.transpose(names.EXAMPLE, ..., names.LABEL)
        pairs = len(examples) * len(alphas)

        def rows(start: int, end: int) -> Sequence[Row]:
            first, last = start // len(alphas), -(-end // len(alphas))
            part = planes.isel({names.EXAMPLE: slice(first, last)}).values
            part = part.reshape(last - first, len(alphas), len(labels))
            found: list[Row] = []
            for place, level in product(range(first, last), range(len(alphas))):
                inside = tuple(labels[part[place - first, level]])
                alpha = alphas[level]
                known = (examples[place],) if alpha is None else (examples[place], alpha)
                found.append((*known, len(inside), inside))
            skipped = start - first * len(alphas)
            return found[skipped : skipped + end - start]

        kept = ("example", "labels", "set")
        return Listing(
            title=f"prediction sets of {several(len(examples), 'example')}, "
            f"of {counted(len(labels))} labels",
            columns=kept if alphas == [None] else ("example", "alpha", *kept[1:]),
            total=pairs,
            rows=rows,
            most=most,
        )

    def guarantee(self, alpha: float | str | None = None) -> Guarantee:
        """Return what these sets promise.

        Parameters
        ----------
        alpha : number or text, optional
            Needed where the sets are of several.

        Raises
        ------
        InputError
            ``guarantee-unstated`` where the array states none, ``guarantee-alpha``.
        """
        return guarantee_of(self._array, alpha)

    @property
    def plot(self) -> ArrayFigures:
        """Figures of this array: see `plausibly.plots`."""
        return ArrayFigures(self._array)

    def __repr__(self) -> str:
        return ".plausibly of a DataArray: names(), guarantee(), plot"
