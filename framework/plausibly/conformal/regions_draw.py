"""Pictures of plausibility regions: a line, a triangle, or a tetrahedron from one side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausibly.extras import require
from plausibly.kernels.types import Floats
from plausibly.palette import BLUE, INK, VERMILION

_FAINT = "0.75"
# Marks differ in shape as well as in colour.
_MARKS = {
    "model": {"marker": "D", "color": "white", "markeredgecolor": INK, "label": "the model says"},
    "experts": {"marker": "o", "color": VERMILION, "markeredgecolor": "white",
                "label": "experts said"},
}  # fmt: skip
_HEIGHT = 3**0.5 / 2
_CORNERS: Mapping[int, NDArray[np.float64]] = {
    2: np.array([[0.0, 0.0], [1.0, 0.0]]),
    3: np.array([[0.0, 0.0], [1.0, 0.0], [0.5, _HEIGHT]]),
    # Seen so that no corner hides behind a face or another corner.
    4: np.array([[0.0, 0.12], [0.62, 0.0], [1.0, 0.3], [0.46, 0.95]]),
}
_STEPS = (0.25, 0.5, 0.75)


def draw(
    example: str,
    labels: Sequence[str],
    scores: Floats,
    thresholds: Mapping[Fraction, float],
    marks: Mapping[str, Floats],
    axes: Any,  # Any: matplotlib axes, which may not be installed
) -> Any:  # Any: as above
    """Draw the region of one example at each alpha; see `PlausibilityRegion.draw`."""
    if axes is None:
        figure = require("matplotlib.figure", extra="plots", whose="a drawn region")
        axes = figure.Figure(
            figsize=(6, 1.8 if len(labels) == 2 else 5.4), layout="constrained"
        ).subplots()
    corners = _CORNERS[len(labels)]
    _frame(axes, corners, labels)
    for place, (alpha, tau) in enumerate(thresholds.items()):
        within = _outline(vertices(scores, tau) @ corners)
        name = f"region, {100 * float(1 - alpha):g} %"
        if not len(within):
            axes.plot([], [], linestyle="", label=f"{name}: no vector conforms")
            continue
        shade = 0.25 + 0.25 * place / max(1, len(thresholds) - 1) if len(thresholds) > 1 else 0.35
        line = {"color": BLUE, "label": name}
        if len(labels) == 2:
            axes.plot(*within.T, linewidth=10, alpha=shade, solid_capstyle="butt", **line)
        else:
            axes.fill(*within.T, alpha=shade, linewidth=1.5, edgecolor=BLUE, **line)
        if len(labels) == 4:
            cut = _outline(_on_plane(scores, tau) @ corners)
            axes.fill(*cut.T, facecolor="none", edgecolor=BLUE, linewidth=1.5, hatch="....")
    for name, vector in marks.items():
        axes.plot(*(vector @ corners)[:, None], linestyle="", markersize=9, zorder=5,
                  **_MARKS[name])  # fmt: skip
    axes.set_title(f"plausibilities of {example}", loc="left", parse_math=False)
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


def _on_plane(scores: Floats, tau: float) -> NDArray[np.float64]:
    """Return the corners of the region that lie on the plane, where the simplex is cut."""
    corners = vertices(scores, tau)
    whole = (corners == 1).any(axis=1)
    exact = (corners == 1) & (scores.astype(np.float64) == tau)
    kept: NDArray[np.float64] = corners[~whole | exact.any(axis=1)]
    return kept


def _outline(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the corners of the convex hull, counterclockwise; two ends for points on a line."""
    ordered = [tuple(point) for point in np.unique(np.round(points, 12), axis=0)]
    if len(ordered) < 3:
        return np.array(ordered).reshape(-1, 2)
    halves = []
    for side in (ordered, ordered[::-1]):
        half: list[tuple[float, ...]] = []
        for point in side:
            while len(half) > 1 and _turn(half[-2], half[-1], point) <= 0:
                half.pop()
            half.append(point)
        halves.append(half[:-1])
    return np.array([*halves[0], *halves[1]])


def _turn(first: Sequence[float], second: Sequence[float], third: Sequence[float]) -> float:
    """Return a positive number where the way through three points turns left."""
    return (second[0] - first[0]) * (third[1] - first[1]) - (second[1] - first[1]) * (
        third[0] - first[0]
    )


def _frame(
    axes: Any,  # Any: as above
    corners: NDArray[np.float64],
    labels: Sequence[str],
) -> None:
    """Draw the edges of the simplex, lines of equal plausibility, and the names of the labels."""
    middle = corners.mean(axis=0)
    for i in range(len(labels)):
        for j in range(i):
            axes.plot(*corners[[i, j]].T, color=INK, linewidth=1, zorder=1)
    if len(labels) == 3:
        _levels(axes, corners)
    for name, corner in zip(labels, corners, strict=True):
        outwards = corner - middle
        outwards = outwards / np.linalg.norm(outwards)
        axes.annotate(
            name,
            corner,
            xytext=(12 if len(labels) == 2 else 10) * outwards,
            textcoords="offset points",
            ha=("right", "center", "left")[1 + int(np.sign(round(float(outwards[0]))))],
            va="center",
            color=INK,
            fontweight="bold",
            parse_math=False,
        )
    if len(labels) == 2:
        for step in (0.0, *_STEPS, 1.0):
            axes.plot([step, step], [-0.02, 0.02], color=INK, linewidth=1)
            axes.annotate(f"{100 * step:g} %", (step, -0.02), xytext=(0, -10),
                          textcoords="offset points", ha="center", color=INK)  # fmt: skip
        axes.set_ylim(-0.1, 0.06)
    else:
        axes.set_aspect("equal")
        axes.margins(y=0.12)
    axes.margins(x=0.12)
    axes.axis("off")


def _levels(axes: Any, corners: NDArray[np.float64]) -> None:  # Any: as above
    """Draw where each label has a plausibility of 25, 50 and 75 %, named along one edge."""
    for k in range(3):
        left, right = corners[(k + 1) % 3], corners[(k + 2) % 3]
        for step in _STEPS:
            ends = np.array([step * corners[k] + (1 - step) * other for other in (left, right)])
            axes.plot(*ends.T, color=_FAINT, linewidth=0.7, zorder=0)
            outwards = ends[1] - corners.mean(axis=0)
            outwards = outwards / np.linalg.norm(outwards)
            axes.annotate(f"{100 * step:g} %", ends[1], xytext=12 * outwards,
                          textcoords="offset points", ha="center", va="center", fontsize=8,
                          color="0.45")  # fmt: skip
