"""`.plausibly` of a Dataset: the examples that sets serve worst, the guarantee, and figures."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import xarray as xr

from plausibly.accessor.figures import DatasetFigures
from plausibly.accessor.guarantees import guarantee_of
from plausibly.accessor.listing import Listing, Row
from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation.describe import decimal
from plausibly.evaluation.inputs import as_plausibilities, as_sets
from plausibly.guarantee import Guarantee
from plausibly.plots import reading
from plausibly.plots.text import shown_name

_NOTHING = 1e-9  # plausibility that sums of shares may miss by their last bits


class DatasetAccessor:
    """What plausibly does with a Dataset.

    Parameters
    ----------
    result : Dataset
    """

    def __init__(self, result: xr.Dataset) -> None:
        self._result = result

    def worst(
        self,
        n: int = 5,
        *,
        alpha: float | None = None,
        sets: xr.DataArray | None = None,
        plausibilities: xr.DataArray | xr.Dataset | None = None,
    ) -> Listing:
        """Return the examples whose sets leave out most plausibility.

        Parameters
        ----------
        n : int
            How many.
        alpha : float, optional
            Which of several; by default the first.
        sets : DataArray of bool, (example, label[, alpha]), optional
            The sets that were measured, to show their labels.
        plausibilities : DataArray or Dataset, (example, label), optional
            What they were measured against, to show what was said; an annotation table too.

        Returns
        -------
        Listing
            The most plausibility left out first; of equal ones the larger sets, then by name.
            Examples of which nothing is left out are not listed.

        Raises
        ------
        InputError
            ``examples-unmeasured`` where this is no result of `plausibly.evaluate`.
        """
        if reading.EVALUATION not in reading.kinds_of(self._result):
            raise InputError(
                "examples-unmeasured",
                "this Dataset measures no single examples",
                expected="what plausibly.evaluate returns",
                got=f"variables {listed(self._result.data_vars)}" if self._result else "none",
                do="plausibly.evaluate(sets, plausibilities).plausibly.worst(5)",
            )
        one = reading.at_alpha(self._result, alpha)
        missed = 1 - one["aggregated_coverage"].values
        size = one["set_size"].values
        called = [str(name) for name in one[names.EXAMPLE].values]
        order = np.lexsort((np.array(called), -size, -missed))
        order = order[missed[order] > _NOTHING]
        chosen = order[:n]
        columns = ["example", "left out", "labels in set", "largest plausibility"]
        cells: list[list[object]] = [
            [called[i], decimal(float(missed[i])), int(size[i]), _largest(one, i)] for i in chosen
        ]
        few = [called[place] for place in chosen]
        if sets is not None and few:
            columns.append("set")
            for row, inside in zip(cells, _sets(sets, few, one), strict=True):
                row.append(inside)
        if plausibilities is not None and few:
            columns.append("plausibilities")
            for row, said in zip(cells, _said(plausibilities, few), strict=True):
                row.append(said)
        rows: list[Row] = [tuple(row) for row in cells]

        def part(start: int, end: int) -> Sequence[Row]:
            return rows[start:end]

        return Listing(
            title=reading.with_alpha(
                f"plausibility is left out of {counted(len(order))} of "
                f"{several(len(called), 'set')}",
                one,
            ),
            columns=tuple(columns),
            total=len(rows),
            rows=part,
            most=len(rows),
        )

    def guarantee(self, alpha: float | str | None = None) -> Guarantee:
        """Return what the sets that were measured promise.

        Parameters
        ----------
        alpha : number or text, optional
            Needed where there are several.

        Raises
        ------
        InputError
            ``guarantee-unstated``, ``guarantee-alpha``.
        """
        return guarantee_of(self._result, alpha)

    @property
    def plot(self) -> DatasetFigures:
        """Figures of this result: see `plausibly.plots`."""
        return DatasetFigures(self._result)

    def __repr__(self) -> str:
        return f".plausibly of a Dataset: worst(), guarantee(), plot ({self.plot!r})"


def _largest(one: xr.Dataset, place: int) -> str:
    value = float(one["largest_plausibility"].values[place])
    return "-" if math.isnan(value) else decimal(value)


def _sets(sets: xr.DataArray, few: Sequence[str], one: xr.Dataset) -> list[tuple[str, ...]]:
    """Return the labels in the sets of some examples."""
    chosen = as_sets(sets)
    if names.ALPHA in chosen.dims:
        places = np.isclose(chosen[names.ALPHA].values, float(one[names.ALPHA]))
        chosen = chosen.isel({names.ALPHA: int(np.argmax(places))})
    chosen = chosen.sel({names.EXAMPLE: list(few)}).transpose(names.EXAMPLE, names.LABEL)
    labels = [str(name) for name in chosen[names.LABEL].values]
    return [
        tuple(name for name, inside in zip(labels, row, strict=True) if inside)
        for row in chosen.values.tolist()
    ]


def _said(given: xr.DataArray | xr.Dataset, few: Sequence[str]) -> list[str]:
    """Return the plausibilities of some examples, the largest first."""
    lam = as_plausibilities(given).sel({names.EXAMPLE: list(few)})
    labels = [str(name) for name in lam[names.LABEL].values]
    found = []
    for row in lam.transpose(names.EXAMPLE, names.LABEL).values:
        order = [place for place in np.argsort(-row, kind="stable") if row[place] > 0]
        shown = (
            f"{shown_name(labels[k], width=30, lines=1)} {decimal(float(row[k]))}" for k in order
        )
        found.append(listed(shown, most=6))
    return found
