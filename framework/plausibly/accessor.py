"""The accessor `.plausibly` of DataArrays and Datasets: names in sets, guarantees, figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Generic, TypeVar

import attrs
import numpy as np
import pandas as pd
import xarray as xr

from plausibly import plots, text
from plausibly.calibration.alphas import read_alpha
from plausibly.conformal.inputs import GUARANTEES
from plausibly.data import names, register
from plausibly.data.names import several
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation.inputs import as_plausibilities, as_sets
from plausibly.evaluation.result import decimal
from plausibly.guarantee import Guarantee
from plausibly.plots import reading
from plausibly.plots.style import Axes, shown_name

SHOWN = 10
_LABELS = 6


@attrs.frozen(repr=False, eq=False)
class Listing:
    """A table under a title, of which the first rows are printed; sets are tuples of names."""

    title: str
    _frame: pd.DataFrame
    _most: int

    def __len__(self) -> int:
        return len(self._frame)

    def to_frame(self) -> pd.DataFrame:
        """Return all rows; labels of a set are a tuple of their names."""
        return self._frame

    def __repr__(self) -> str:
        rows = [list(self._frame.columns), *self._shown()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [self.title]
        for row in rows:
            cells = (f"{text:<{width}}" for text, width in zip(row, widths, strict=True))
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, *self._rest()])

    def _repr_html_(self) -> str:
        table = text.table(self._shown(), head=list(self._frame.columns))
        return text.framed(self.title, table, *map(text.paragraph, self._rest()))

    def _shown(self) -> list[list[str]]:
        first = self._frame.head(self._most).astype(object)
        return [list(map(as_text, row)) for row in first.itertuples(index=False)]

    def _rest(self) -> list[str]:
        rest = len(self) - self._most
        return [f"… {counted(rest)} more, in to_frame()"] if rest > 0 else []


def as_text(value: object) -> str:
    """Return a cell as text: sets between braces, long ones with their size."""
    if isinstance(value, float):
        return f"{value:g}"
    if not isinstance(value, tuple):
        return shown_name(value, width=240, lines=1)
    shown = ", ".join(shown_name(name, width=60, lines=1) for name in value[:_LABELS])
    more = f", … {counted(len(value))} labels" if len(value) > _LABELS else ""
    return f"{{{shown}{more}}}"


@attrs.frozen(repr=False, eq=False)
class Figures:
    """Functions of `plausibly.plots` with this result as their first argument."""

    _result: xr.Dataset

    def __repr__(self) -> str:
        figures = reading.figures_of(self._result)
        return f"figures: {', '.join(figures)}" if figures else "no figures: no result of plausibly"

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *reading.FIGURES]

    def __getattr__(self, name: str) -> Callable[..., Axes]:
        if name not in reading.FIGURES:
            raise AttributeError(f"{type(self).__name__} has no figure {name}")
        return partial(getattr(plots, name), self._result)


D = TypeVar("D", xr.DataArray, xr.Dataset)


@attrs.frozen(repr=False, eq=False)
class _Accessor(Generic[D]):
    _data: D

    def guarantee(self, alpha: float | str | None = None) -> Guarantee:
        """Return the guarantee of the sets at an alpha; without one, the only guarantee."""
        kind = type(self._data).__name__
        stated = json.loads(str(self._data.attrs.get(GUARANTEES, "[]")))
        if not stated or not isinstance(stated, list):
            raise InputError(
                "guarantee-unstated",
                f"this {kind} states no guarantee",
                expected="what predict, evaluate or coverage_by returned",
                found=f"a {kind} without one of its own",
                hint="predictor.guarantee(0.1)",
            )
        guarantees = [Guarantee.from_json(plain) for plain in stated]
        exact = None if alpha is None else read_alpha(alpha)
        for guarantee in guarantees:
            if guarantee.alpha == exact or (exact is None and len(guarantees) == 1):
                return guarantee
        there = [f"{float(guarantee.alpha):g}" for guarantee in guarantees]
        raise InputError(
            "guarantee-alpha",
            f"this {kind} is of {listed(f'alpha {value}' for value in there)}",
            expected="one of them",
            found=str(alpha),
            hint=f"guarantee({there[0]})",
        )


class ArrayAccessor(_Accessor[xr.DataArray]):
    """Names of labels and guarantees of a DataArray."""

    guarantee = _Accessor.guarantee  # the reference lists members of the class itself only

    def names(self, most: int = SHOWN) -> Listing:
        """Return the labels in each prediction set, by name."""
        # The order of the array: that of the calibration only matters for ties.
        labels = np.array([str(name) for name in self._data[names.LABEL].values], dtype=object)
        sets = as_sets(self._data).sel({names.LABEL: list(labels)})
        examples = np.array(names.name_texts(sets[names.EXAMPLE].values), dtype=object)
        columns: dict[str, object] = {"example": examples}
        if names.ALPHA in sets.coords:
            alphas = np.atleast_1d(sets[names.ALPHA].values)
            columns = {"example": np.repeat(examples, len(alphas))}
            columns["alpha"] = np.tile(alphas, len(examples))
        inside = sets.transpose(names.EXAMPLE, ..., names.LABEL).values.reshape(-1, len(labels))
        columns["labels"] = inside.sum(axis=1)
        columns["set"] = [tuple(labels[row]) for row in inside]
        title = f"prediction sets of {several(len(examples), 'example')}, of "
        return Listing(f"{title}{counted(len(labels))} labels", pd.DataFrame(columns), most)

    def __repr__(self) -> str:
        return ".plausibly of a DataArray: names(), guarantee()"


_NOTHING = 1e-9  # tolerance for sums of shares


class DatasetAccessor(_Accessor[xr.Dataset]):
    """The worst examples, guarantees and figures of a result."""

    guarantee = _Accessor.guarantee

    def worst(
        self,
        n: int = 5,
        *,
        alpha: float | None = None,
        sets: xr.DataArray | None = None,
        plausibilities: xr.DataArray | xr.Dataset | None = None,
    ) -> Listing:
        """Return the examples whose sets leave out the largest share of the answers."""
        if "evaluation" not in reading.kinds_of(self._data):
            raise InputError(
                "examples-unmeasured",
                "this Dataset measures no single examples",
                expected="what plausibly.evaluate returns",
                found=f"variables {listed(self._data.data_vars)}" if self._data else "none",
                hint="plausibly.evaluate(sets, plausibilities).data.plausibly.worst(5)",
            )
        plane = reading.at_alpha(self._data, alpha)
        missed, size = 1 - plane["aggregated_coverage"].values, plane["set_size"].values
        examples = np.array([str(name) for name in plane[names.EXAMPLE].values])
        order = np.lexsort((examples, -size, -missed))
        order = order[missed[order] > _NOTHING]
        worst = order[:n]
        few = {names.EXAMPLE: examples[worst].tolist()}
        largest = plane["largest_plausibility"].values[worst].tolist()
        columns: dict[str, object] = {
            "example": few[names.EXAMPLE],
            "left out": list(map(decimal, missed[worst].tolist())),
            "labels in set": size[worst].tolist(),
            "largest plausibility": list(map(decimal, largest)),
        }
        if sets is not None and len(worst):
            chosen = as_sets(sets)
            if names.ALPHA in chosen.dims:
                places = np.isclose(chosen[names.ALPHA].values, float(plane[names.ALPHA]))
                chosen = chosen.isel({names.ALPHA: int(np.argmax(places))})
            labels = np.array(names.name_texts(chosen[names.LABEL].values), dtype=object)
            columns["set"] = [tuple(labels[row]) for row in chosen.sel(few).values]
        if plausibilities is not None and len(worst):
            shares = as_plausibilities(plausibilities).sel(few)
            columns["plausibilities"] = list(map(_shares, shares))
        title = f"{counted(len(order))} of {several(len(examples), 'set')} leave out plausibility"
        frame = pd.DataFrame(columns)
        return Listing(reading.with_alpha(title, plane), frame, len(frame))

    @property
    def plot(self) -> Figures:
        """Figures of this result: see `plausibly.plots`."""
        return Figures(self._data)

    def __repr__(self) -> str:
        return f".plausibly of a Dataset: worst(), guarantee(), plot ({self.plot!r})"


def _shares(row: xr.DataArray) -> str:
    order = np.argsort(-row.values, kind="stable")[: np.count_nonzero(row.values > 0)]
    shares = zip(row[names.LABEL].values[order], row.values[order].tolist(), strict=True)
    return listed(
        (f"{shown_name(name, width=30, lines=1)} {decimal(share)}" for name, share in shares),
        most=6,
    )


__all__ = ["ArrayAccessor", "DatasetAccessor", "of"]

register()


def of(array: xr.DataArray | xr.Dataset) -> ArrayAccessor | DatasetAccessor:
    """Return the accessor of a DataArray or Dataset."""
    return DatasetAccessor(array) if isinstance(array, xr.Dataset) else ArrayAccessor(array)
