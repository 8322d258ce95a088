"""Figures of one example: plausibilities, predictions, and the labels in its sets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice

import attrs
import numpy as np
import xarray as xr

from plausibly.conformal.inputs import labels_along_order
from plausibly.data import names
from plausibly.data.names import name_texts
from plausibly.errors import InputError, counted, listed
from plausibly.kernels.types import Bools, Floats
from plausibly.palette import BLUE, GREY
from plausibly.plots import reading, style
from plausibly.plots.style import Axes, Look

MOST = 12
_FIRST_MARK = 1.06
_STEP = 0.07


@attrs.frozen(kw_only=True)
class Marked:
    name: str
    inside: Bools
    look: Look


def example(
    plausibilities: xr.DataArray | None = None,
    predictions: xr.DataArray | None = None,
    sets: xr.DataArray | None = None,
    *,
    name: str | None = None,
    most: int = MOST,
    axes: Axes | None = None,
) -> Axes:
    """Draw plausibilities and predictions of one example, and the labels in its sets.

    Parameters
    ----------
    plausibilities, predictions : DataArray, (example, label), optional
        Predictions between 0 and 1.
    sets : DataArray of bool, (example, label[, alpha]), optional
        A column of marks, or one per alpha.
    name : str, optional
        Name of the example; by default the first one.
    most : int
        Number of labels shown. Where there are more: those in a set, then by plausibility, then
        by prediction; the figure states the plausibility of the others.

    Raises
    ------
    InputError
        ``figure-unsuitable`` where there is nothing to draw, ``examples-unnamed``,
        ``example-unknown``.

    Examples
    --------
    >>> axes = plots.example(plausibilities, predictions, sets)
    """
    arrays = {"plausibilities": plausibilities, "predictions": predictions, "sets": sets}
    rows: dict[str, xr.DataArray] = {}
    for key, array in arrays.items():
        if array is not None:
            rows[key] = _row(array, key, name)
            name = str(rows[key][names.EXAMPLE].values)
    if not rows:
        raise _unsuitable("nothing", "none")
    order = labels_along_order(list(rows.values()))
    labels = order or name_texts(next(iter(rows.values()))[names.LABEL].values)
    rows = {
        key: array.reindex({names.LABEL: labels}).astype(array.dtype) for key, array in rows.items()
    }
    marks: list[Marked] = []
    if "sets" in rows:
        row = rows["sets"]
        planes = [row] if names.ALPHA not in row.dims else list(row.transpose(names.ALPHA, ...))
        for plane, look in zip(planes, islice(cycle(style.OTHERS), 2, None), strict=False):
            at = f" at alpha {float(plane[names.ALPHA]):g}" if names.ALPHA in plane.coords else ""
            inside = plane.values.astype(bool)
            marks.append(Marked(name=f"in the set{at}", inside=inside, look=look))
    plausibility, model = (
        rows[key].values if key in rows else None for key in ("plausibilities", "predictions")
    )
    kept = np.arange(len(labels))
    if len(labels) > most:  # first those in a set, then by plausibility, then by prediction
        held_by = np.any([mark.inside for mark in marks], axis=0) if marks else None
        keys = (
            np.zeros(kept.size) if key is None else key for key in (model, plausibility, held_by)
        )
        kept = np.lexsort([-np.asarray(key, dtype=np.float64) for key in keys])[:most]
    axes = style.axes_of(axes, "example", height=1.9 + 0.42 * len(kept))
    first, second = (None if values is None else values[kept] for values in (plausibility, model))
    shown = [attrs.evolve(mark, inside=mark.inside[kept]) for mark in marks]
    draw_bars(axes, [labels[place] for place in kept], first, second, shown)
    which, covered = "in a set, or the most plausible", ""
    if plausibility is not None:
        held = ((float(plausibility[mark.inside].sum()), mark.name) for mark in marks)
        covered = ", ".join(f"{share:.2f} of the plausibility {where}" for share, where in held)
        which += f"; the others hold {100 * max(0.0, 1 - float(plausibility[kept].sum())):.1f}%"
    few = reading.some_of(len(kept), len(labels), "label", which)
    style.heading(axes, f"Example {style.shown_name(name, width=50, lines=1)}", covered, few)
    style.legend_below(axes, columns=2)
    return axes


def draw_bars(
    axes: Axes,
    labels: Sequence[str],
    plausibility: Floats | None,
    prediction: Floats | None,
    marks: Sequence[Marked],
    *,
    width: int = 24,
    title: str = "",
) -> None:
    """Draw bars of an example, a row per label, with a column of marks per set at the right."""
    place = np.arange(len(labels))
    apart = 0.2 if plausibility is not None and prediction is not None else 0
    if plausibility is not None:
        axes.barh(place - apart, plausibility, 0.36, color=BLUE, label="plausibility")
    if prediction is not None:
        hollow = {"color": style.tone(axes).paper, "edgecolor": GREY}
        axes.barh(place + apart, prediction, 0.36, label="model", **hollow)
    for column, mark in enumerate(marks):
        x = np.full(mark.inside.sum(), _FIRST_MARK + column * _STEP)
        look = {"marker": mark.look.marker, "color": mark.look.colour, "linestyle": ""}
        axes.plot(x, place[mark.inside], label=mark.name, **look)
    style.tidy(axes, x="share", y="label", title=title, grid="x")
    style.name_rows(axes, style.shown_names(labels, width=width))
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlim(0, max(1.02, _FIRST_MARK + _STEP * (len(marks) - 0.3)))
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])


def _unsuitable(what: str, found: str) -> InputError:
    return reading.unsuitable(
        "example",
        what,
        expected="plausibilities, predictions or sets with the dim example",
        found=found,
        hint='plausibly.plots.example(plausibilities, predictions, sets, name="...")',
    )


def _row(array: xr.DataArray, source: str, name: str | None) -> xr.DataArray:
    """Return one example of an array, or the first one."""
    if names.EXAMPLE not in array.dims:
        raise _unsuitable(source, f"the dims {listed(map(str, array.dims)) or 'none'}")
    known = name_texts(array[names.EXAMPLE].values)
    if name is not None and name not in known:
        raise InputError(
            "example-unknown",
            f"{source} have no example {name}",
            expected=f"one of {counted(len(known))} examples",
            found=f"they have {listed(known)}",
            hint=f'name="{known[0]}"',
            source=source,
            details={"example": name},
        )
    place = 0 if name is None else known.index(name)
    return array.assign_coords({names.EXAMPLE: known}).isel({names.EXAMPLE: place})
