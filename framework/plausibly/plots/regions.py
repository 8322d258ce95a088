"""Pictures of plausibility regions: a line, a triangle, or a tetrahedron from one side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from plausibly.calibration.alphas import Alphas, read_alphas
from plausibly.conformal.regions import PlausibilityRegion
from plausibly.data import names
from plausibly.data.names import several
from plausibly.kernels.types import Floats
from plausibly.palette import BLUE, INK, VERMILION
from plausibly.plots import reading, style
from plausibly.plots.style import Axes

# Marks differ in shape as well as in colour.
_MARKS = {
    "model": {"marker": "D", "color": "white", "markeredgecolor": INK, "label": "model"},
    "experts": {"marker": "o", "color": VERMILION, "markeredgecolor": "white",
                "label": "annotators"},
}  # fmt: skip
_HEIGHT = 3**0.5 / 2
_CORNERS: Mapping[int, NDArray[np.float64]] = {
    2: np.array([[0.0, 0.0], [1.0, 0.0]]),
    3: np.array([[0.0, 0.0], [1.0, 0.0], [0.5, _HEIGHT]]),
    # A view in which no corner is behind a face or another corner.
    4: np.array([[0.0, 0.12], [0.62, 0.0], [1.0, 0.3], [0.46, 0.95]]),
}
_STEPS = (0.25, 0.5, 0.75)


def region(
    region: PlausibilityRegion,
    predictions: xr.DataArray,
    alpha: Alphas,
    *,
    plausibilities: xr.DataArray | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draw the plausibility region of one example of two to four labels.

    Two labels give a line, three a triangle, four a tetrahedron seen from one side.

    Parameters
    ----------
    region : PlausibilityRegion
        From `plausibly.calibrate_region`.
    predictions : DataArray, (example, label)
        Of one example, ``predictions.sel(example=["case 3"])``; probabilities are marked.
    alpha : number, text, or a sequence of them
    plausibilities : DataArray, (example, label), optional
        The annotators' answers on it, to be marked.

    Raises
    ------
    InputError
        ``figure-unsuitable`` for several examples or other numbers of labels.

    Examples
    --------
    >>> region = plausibly.calibrate_region(predictions, plausibilities)
    >>> axes = plots.region(region, predictions[:1], 0.1)
    """
    labels = region.labels
    new, every = region.read(predictions)
    if len(every) != 1 or len(labels) not in _CORNERS:
        raise reading.unsuitable(
            "region",
            "these predictions",
            expected="one example of 2, 3 or 4 labels",
            found=f"{several(len(every), 'example')} of {several(len(labels), 'label')}",
            hint='predictions.sel(example=["NAME"]); of more labels, bounds() has the ranges',
        )
    axes = style.axes_of(axes, "region", width=6, height=1.8 if len(labels) == 2 else 5.4)
    marks: dict[str, Floats] = {}
    if region.scoring.scale == "probability":
        marks["model"] = new.values[0] / new.values[0].sum()
    if plausibilities is not None:
        marks["experts"] = region.match(new, plausibilities)[0]
    scores, alphas = every[0], sorted(read_alphas(alpha))
    corners = _CORNERS[len(labels)]
    _frame(axes, corners, labels)
    for rate, shade in zip(alphas, np.linspace(0.3, 0.5, len(alphas)), strict=True):
        tau = region.warned(rate)
        within = _outline(vertices(scores, tau) @ corners)
        name = f"region, {100 * float(1 - rate):g}%"
        if not len(within):
            axes.plot([], [], linestyle="", label=f"{name}: no vector conforms")
            continue
        line = {"color": BLUE, "label": name}
        if len(labels) == 2:
            axes.plot(*within.T, linewidth=10, alpha=shade, solid_capstyle="butt", **line)
        else:
            axes.fill(*within.T, alpha=shade, linewidth=1.5, edgecolor=BLUE, **line)
        if len(labels) == 4:
            # Where the plane cuts the simplex: at a corner only if its score is the threshold.
            there = vertices(scores, tau)
            beyond = (there == 1) & (scores.astype(np.float64) != tau)
            cut = _outline(there[~beyond.any(axis=1)] @ corners)
            axes.fill(*cut.T, facecolor="none", edgecolor=BLUE, linewidth=1.5, hatch="....")
    for name, vector in marks.items():
        mark = {"linestyle": "", "markersize": 9, "zorder": 5, **_MARKS[name]}
        axes.plot(*(vector @ corners)[:, None], **mark)
    title = f"plausibilities of {new.checked[names.EXAMPLE].values[0]}"
    axes.set_title(title, loc="left", parse_math=False)
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.02), frameon=False, ncols=2)
    return axes


def vertices(scores: Floats, tau: float) -> NDArray[np.float64]:
    """Return the corners of the polytope of vectors that conform, (corner, label)."""
    values = scores.astype(np.float64)
    whole = np.eye(len(values))
    corners = [whole[k] for k in range(len(values)) if values[k] >= tau]
    for i, j in combinations(range(len(values)), 2):
        high, low = (i, j) if values[i] > values[j] else (j, i)
        if values[low] < tau < values[high]:
            share = (values[high] - tau) / (values[high] - values[low])
            corners.append((1 - share) * whole[high] + share * whole[low])
    return np.array(corners).reshape(-1, len(values))


def _outline(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the corners of the convex hull, counterclockwise; two ends for points on a line."""
    points = np.unique(np.round(points, 12), axis=0)
    if len(points) < 3 or np.linalg.matrix_rank(points - points[0], tol=1e-9) < 2:
        return points[[0, -1][: len(points)]]
    return points[ConvexHull(points).vertices]


def _frame(axes: Axes, corners: NDArray[np.float64], labels: Sequence[str]) -> None:
    middle = corners.mean(axis=0)
    beside = {"textcoords": "offset points", "va": "center", "parse_math": False}

    def outwards(place: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((place - middle) / np.linalg.norm(place - middle))

    for ends in combinations(corners, 2):
        axes.plot(*np.transpose(ends), color=INK, linewidth=1, zorder=1)
    for k, step in product(range(3), _STEPS) if len(labels) == 3 else ():
        # A line of the points where label k has this plausibility, named at one end.
        others = corners[[(k + 1) % 3, (k + 2) % 3]]
        ends = step * corners[k] + (1 - step) * others
        axes.plot(*ends.T, color="0.75", linewidth=0.7, zorder=0)
        look = {"ha": "center", "fontsize": 8, "color": "0.45", **beside}
        axes.annotate(f"{100 * step:g}%", ends[1], 12 * outwards(ends[1]), **look)
    for name, corner in zip(labels, corners, strict=True):
        off = 10 * outwards(corner)
        side = ("right", "center", "left")[1 + int(np.sign(round(off[0] / 10)))]
        axes.annotate(name, corner, off, ha=side, color=INK, fontweight="bold", **beside)
    if len(labels) == 2:
        for step in (0.0, *_STEPS, 1.0):
            axes.plot([step, step], [-0.02, 0.02], color=INK, linewidth=1)
            axes.annotate(f"{100 * step:g}%", (step, -0.02), (0, -12), ha="center", **beside)
        axes.set_ylim(-0.1, 0.06)
    else:
        axes.set_aspect("equal")
        axes.margins(y=0.12)
    axes.margins(x=0.12)
    axes.axis("off")
