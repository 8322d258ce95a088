"""How large the sets are."""

from __future__ import annotations

import numpy as np
import xarray as xr

from plausibly.data.names import several
from plausibly.errors import counted
from plausibly.evaluation.groups import RANGES_FROM, SINGLE_SIZES
from plausibly.evaluation.intervals import SET_SIZE
from plausibly.kernels.types import Ints
from plausibly.plots import reading
from plausibly.plots.covering import draw_study
from plausibly.plots.style import SIZE, SMALL, Axes, axes_of, bars, tidy, tone
from plausibly.plots.text import heading, share


def sizes(result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
    """Draw how large the sets are.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluate` or `plausibly.evaluation.coverage_by_size`: a bar a size, in
        examples; many sizes in ranges. From `plausibly.compare`: a row a method, with a dot a
        split.
    alpha : float, optional
        Which of several; by default the first.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        ``figure-unsuitable``, ``figure-alpha``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    kind = reading.check(result, "sizes")
    if kind == reading.STUDY:
        return draw_study(result, SET_SIZE, alpha, axes, figure="sizes")
    one = reading.at_alpha(result, alpha)
    if kind == reading.SIZES:
        titles, counts = [str(name) for name in one["size"].values], one["count"].values
        said = ""
    else:
        titles, counts = _counted(one[SET_SIZE].values, int(one.attrs["labels"]))
        ends = [float(one[f"{SET_SIZE}_{end}"]) for end in ("mean", "low", "high")]
        said = f"mean {ends[0]:.2f}, {ends[1]:.2f} to {ends[2]:.2f} "
        said += f"({reading.per_cent(one.attrs['confidence'])} interval)"
    axes = axes_of(axes, whose="plausibly.plots.sizes", height=3.6)
    places = np.arange(len(titles), dtype=np.float64)
    bars(axes, places, counts, 0.8, SIZE, "sets")
    total = int(counts.sum())
    for place, count in zip(places, counts.tolist(), strict=True):
        if count:
            axes.annotate(
                share(count / total, 2) if count / total >= 0.005 else f"{counted(count)}",
                (place, count),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=SMALL,
                color=tone(axes).ink,
            )
    axes.set_xticks(places, titles)
    axes.margins(y=0.12)
    tidy(axes, x="labels in a set", y="examples")
    heading(
        axes,
        reading.with_alpha("How large the sets are", one),
        f"{several(total, 'example')}; numbers: share of the sets",
        said,
    )
    return axes


def _counted(size: Ints, labels: int) -> tuple[list[str], Ints]:
    """Return names and counts of sizes from the least to the largest, of many in ranges."""
    if labels <= SINGLE_SIZES:
        found = np.bincount(size, minlength=labels + 1)
        return [str(place) for place in range(labels + 1)], found
    begins = [begin for begin in RANGES_FROM if begin <= max(int(size.max()), 1)]
    last = begins[-1]
    ends = [*(begin - 1 for begin in begins[1:])]
    ends.append(next((after - 1 for after in RANGES_FROM if after > last), labels))
    titles = [
        str(begin) if begin == end else f"{counted(begin)}-{counted(min(end, labels))}"
        for begin, end in zip(begins, ends, strict=True)
    ]
    codes = np.digitize(size, begins) - 1
    return titles, np.bincount(codes, minlength=len(begins))
