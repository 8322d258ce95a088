"""Section 2: the toy, its votes, and two points whose sets come from scores or from p-values."""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.demo.subjects import AXIS
from plausibly.kernels.types import Floats, Ints
from plausibly.palette import BLUE, GREEN, INK, VERMILION
from plausibly.paper import page, splitting
from plausibly.paper.data import toy_data, toy_model
from plausibly.paper.page import Asked, Claim, Drawing, close, mean_spread

ALPHA = "0.05"
POINTS = 5000
POINTS_SHOWN = 500
GRID = 81
SHOWN = "shown"
_WORDS = ("A", "B")
_CLEAR = 0.7
_HUES = (VERMILION, GREEN, BLUE)
_MARKS = ("o", "s", "^")
_RANGE = (0.05, 1.0)


@attrs.frozen(kw_only=True)
class Toy:
    """Posterior, true and voted labels of points; the network's scores and p-values of two."""

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return what is shown, and over splits how often sets by score and by p-value differ."""
        data, model = toy_data(POINTS, asked.seed), toy_model(POINTS, asked.seed)
        alpha = asked.alpha or ALPHA
        sure = data.sure
        covered, differ = np.zeros(asked.splits), np.zeros(asked.splits, dtype=np.int64)
        two: dict[str, tuple[tuple[str, ...], object]] = {}
        for number in range(asked.splits):
            rows = splitting.one_split(data, asked.seed, number)
            predictor = splitting.calibrated(
                data, ~rows, {"calibrator": "voted"}, seed=asked.seed, lam=sure
            )
            covered[number] = splitting.measured(predictor, data, rows, alpha).true
            test = data.predictions[rows]
            by_p = predictor.p_values(test).values > float(alpha)
            differ[number] = (by_p != predictor.predict_array(test.values, alpha)).sum()
            if not two:
                pair = test[_two(test.values)]
                two = {
                    "score": ((SHOWN, names.LABEL), pair.values),
                    "p_value": ((SHOWN, names.LABEL), predictor.p_values(pair).values),
                    "in_set": ((SHOWN, names.LABEL), predictor.predict_array(pair.values, alpha)),
                    "threshold": ((), float(predictor.threshold(alpha))),
                    "shown_point": (
                        (SHOWN, AXIS),
                        model.drawn.points.sel({names.EXAMPLE: pair[names.EXAMPLE]}).values,
                    ),
                }
            asked.tick(number + 1, asked.splits)
        few = {names.EXAMPLE: slice(POINTS_SHOWN)}
        posterior = data.plausibilities.isel(few)
        steps = np.linspace(*_RANGE, GRID)
        plane = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1).reshape(-1, 2)
        return xr.Dataset(
            {
                "point": ((names.EXAMPLE, AXIS), model.drawn.points.isel(few).values),
                "posterior": ((names.EXAMPLE, names.LABEL), posterior.values),
                "true_label": (names.EXAMPLE, sure.isel(few).values.argmax(axis=1)),
                "voted_label": (names.EXAMPLE, posterior.values.argmax(axis=1)),
                "region": (
                    ("first", "second"),
                    model.probabilities(plane).argmax(axis=1).reshape(GRID, GRID),
                ),
                **two,
                "true_coverage": ("split", covered),
                "cells_that_differ": ("split", differ),
            },
            coords={
                names.EXAMPLE: posterior[names.EXAMPLE].values,
                names.LABEL: data.predictions[names.LABEL].values,
                AXIS: model.drawn.points[AXIS].values,
                "first": steps,
                "second": steps,
                SHOWN: text_array(_WORDS),
                "split": np.arange(asked.splits),
            },
            attrs=splitting.facts(data, asked, alpha),
        )

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return points by posterior, true and voted label; regions, scores and p-values."""
        drawn = page.new_page(10, 6.6)
        (posterior, true, voted), (regions, scores, p_values) = drawn.subplots(2, 3)
        points = numbers["point"].values
        mixed = numbers["posterior"].values @ _rgb()
        posterior.scatter(*points.T, s=10, c=np.clip(mixed, 0, 1), linewidths=0)
        for panel, name in ((true, "true_label"), (voted, "voted_label")):
            _points(panel, points, numbers[name].values, numbers[names.LABEL].values)
        page.legend(true, place="upper right")
        for panel, title in (
            (posterior, "true posterior (mixed colours)"),
            (true, "true labels"),
            (voted, "voted labels"),
            (regions, "what the network says, and two points"),
        ):
            page.tidy(panel, x="first coordinate", y="second coordinate", title=title, grid="")
            panel.set(xlim=_RANGE, ylim=_RANGE, aspect="equal")
        _regions(regions, numbers)
        alpha = numbers.attrs[names.ALPHA]
        _bars(scores, numbers, "score", float(numbers["threshold"]), "threshold")
        page.tidy(scores, x="label", y="score E(x, k)", title="set: score at least the threshold")
        _bars(p_values, numbers, "p_value", alpha, "alpha")
        page.tidy(p_values, x="label", y="p-value", title="set: p-value above alpha")
        return page.finish(drawn, "One toy, its votes, and two ways to the same set", numbers)

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return whether both ways agree, and cover true labels where those calibrate."""
        wanted = 1 - numbers.attrs[names.ALPHA]
        covered = numbers["true_coverage"].values
        differ = int(numbers["cells_that_differ"].sum())
        return Claim(
            says="thresholds of scores and of p-values give the same sets, and cover true labels "
            f"at {wanted:g} when calibrated on true labels",
            measured=f"{differ} labels in one set and not in the other, true coverage "
            f"{mean_spread(covered)}",
            parts={
                "the same sets": differ == 0,
                f"true labels at {wanted:g}": close(float(covered.mean()), wanted),
            },
        )


TOY = Toy()


def _two(predictions: Floats) -> Ints:
    """Return the rows of an unclear point and of a rather clear one."""
    most = predictions.max(axis=1)
    return np.array([np.argmin(most), np.argmin(np.abs(most - _CLEAR))])


def _rgb() -> Floats:
    """Return the hues of the labels, (label, channel), in [0, 1]."""
    return np.array([[int(hue[i : i + 2], 16) / 255 for i in (1, 3, 5)] for hue in _HUES])


def _points(panel: page.Panel, points: Floats, codes: Ints, labels: Floats) -> None:
    for code, (hue, mark) in enumerate(zip(_HUES, _MARKS, strict=True)):
        there = points[codes == code]
        panel.scatter(*there.T, s=11, c=hue, marker=mark, linewidths=0, label=str(labels[code]))


def _regions(panel: page.Panel, numbers: xr.Dataset) -> None:
    shades = 1 - (1 - _rgb()[numbers["region"].values]) * 0.35
    panel.imshow(shades.transpose(1, 0, 2), origin="lower", extent=(*_RANGE, *_RANGE))
    for word, place in zip(_WORDS, numbers["shown_point"].values, strict=True):
        panel.plot(*place, marker="o", color=INK, markersize=5)
        panel.annotate(word, place, xytext=(6, 4), textcoords="offset points", fontweight="bold")


def _bars(panel: page.Panel, numbers: xr.Dataset, name: str, level: float, said: str) -> None:
    """Draw two points' bars side by side, filled where the label is in the set."""
    values, inside = numbers[name].values, numbers["in_set"].values
    width = 0.38
    for row, word in enumerate(_WORDS):
        for code, hue in enumerate(_HUES):
            value = float(values[row, code])
            place = code + (row - 0.5) * width
            panel.bar(
                place,
                value,
                width * 0.92,
                facecolor=hue if inside[row, code] else "white",
                edgecolor=hue,
            )
            # Never on the dashed line.
            above = max(value, level)
            panel.text(place, above + 0.015, word, ha="center", va="bottom", fontsize=page.SMALL)
    panel.axhline(level, color=INK, linestyle=(0, (4, 2)), linewidth=1.2)
    panel.set_xticks(range(len(_HUES)), [str(label) for label in numbers[names.LABEL].values])
    panel.set_ylim(0, 1.25)
    panel.annotate(
        f"{said} {level:.3g} (dashed); filled: in the set",
        (0.02, 0.98),
        xycoords="axes fraction",
        va="top",
        fontsize=page.SMALL,
    )
