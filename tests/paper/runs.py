"""Figures that were made once for all tests of a process, in a small form; a small skin case."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from plausibly.paper.run import ENTRIES, Reproduced, reproduce

SPLITS = 3
OWN = tuple(entry.name for entry in ENTRIES if entry.own)
PLAIN = tuple(entry.name for entry in ENTRIES if not entry.derm)
DERM = tuple(entry.name for entry in ENTRIES if entry.derm)

CASES, CONDITIONS = 60, 6


@cache
def made(name: str) -> Reproduced:
    """Return a figure on its own data, over few splits."""
    (one,) = reproduce(name, splits=SPLITS)
    return one


@cache
def drawn(name: str) -> Any:  # Any: a Figure of matplotlib, which types do not see
    """Return the picture of a figure, laid out as it is saved."""
    return laid_out(made(name).draw())


def skin_folder(folder: Path, *, model: bool = True) -> Path:
    """Write a skin case of few conditions, with every file that the real one has."""
    generator = np.random.default_rng(7)
    names = [f"condition {letter}" for letter in "abcdef"]
    (folder / "dermatology_conditions.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    cases = []
    for case in range(CASES):
        likely = [case % CONDITIONS, (case + 1 + case // 7) % CONDITIONS, (case + 3) % CONDITIONS]
        first = [[likely[0]], [likely[1]]] if likely[1] != likely[0] else [[likely[0]]]
        cases.append([first, [[likely[0]]], [sorted({likely[0], likely[2]})]])
    (folder / "dermatology_selectors.json").write_text(json.dumps(cases), encoding="utf-8")
    if model:
        logits = generator.normal(size=(CASES, CONDITIONS))
        logits[np.arange(CASES), np.arange(CASES) % CONDITIONS] += 1.5
        shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        np.savetxt(folder / "dermatology_predictions0.txt", shares, fmt="%.3e")
    return folder


def laid_out(figure: Any) -> Any:  # Any: as above
    """Return a picture laid out as it is saved."""
    import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure).draw()
    return figure


def all_axes(figure: Any) -> list[Any]:  # Any: as above
    """Return the panels that can be seen."""
    return [panel for panel in figure.axes if panel.get_visible()]


def texts(figure: Any) -> list[tuple[str, Any]]:  # Any: as above
    """Return every text that can be seen, with its box."""
    found = [figure._suptitle, figure._supxlabel]
    for drawn in [figure.legends, *[[panel.get_legend()] for panel in all_axes(figure)]]:
        found += [text for one in drawn if one is not None for text in one.get_texts()]
    for panel in all_axes(figure):
        found += [panel.title, panel._left_title, *panel.texts]
        if not panel.axison:
            continue
        found += [panel.xaxis.label, panel.yaxis.label]
        for axis, limits in ((panel.xaxis, panel.get_xlim()), (panel.yaxis, panel.get_ylim())):
            low, high = sorted(limits)
            found += [
                tick.label1
                for tick in axis.get_major_ticks()
                if low <= tick.get_loc() <= high and tick.label1.get_visible()
            ]
    return [(one.get_text(), one.get_window_extent()) for one in found if one.get_text()]


def overlaps(figure: Any) -> list[tuple[str, str]]:  # Any: as above
    """Return the pairs of texts that lie on each other by more than a hair."""
    boxes = texts(figure)
    wrong = []
    for (one, first), (other, second) in combinations(boxes, 2):
        wide = min(first.x1, second.x1) - max(first.x0, second.x0)
        high = min(first.y1, second.y1) - max(first.y0, second.y0)
        if wide > 1 and high > 1:
            wrong.append((one, other))
    return wrong
