"""The tables of docs/combiners.md; ``python tests/support/combiners_page.py`` prints them.

Uniforms are the project's own, keyed and the same everywhere; splits are those of the demo.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

import plausibly
from combiners_designs import ALPHA, DESIGNS, combiner
from plausibly.demo.subjects import load

COUNT = 20_000
SPLITS = 20

Merge = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def _average(p: NDArray[np.float64]) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = p.mean(axis=0)
    return mean


def _twice(p: NDArray[np.float64]) -> NDArray[np.float64]:
    return 2 * _average(p)


def _largest(p: NDArray[np.float64]) -> NDArray[np.float64]:
    largest: NDArray[np.float64] = p.max(axis=0)
    return largest


RULES = (
    "average",
    "twice-average",
    "maximum",
    "bonferroni",
    "median",
    "geometric",
    "harmonic",
    "exchangeable-average",
    "exchangeable-median",
    "exchangeable-geometric",
    "cauchy",
    "fisher",
    "stouffer",
)
PLAIN: dict[str, Merge] = {"average": _average, "twice-average": _twice, "maximum": _largest}
EFFECTIVE: dict[str, dict[str, object]] = {
    f"{name}, {effective}": {"name": name, "effective": effective}
    for name in ("fisher", "stouffer")
    for effective in ("nyholt", "galwey")
}
E_VALUES: dict[str, dict[str, object]] = {
    "e-value": {"name": "e-value"},
    "e-value, power 0.5": {"name": "e-value", "power": 0.5},
}


def rows(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; the first column is code."""
    lines = [header, ["---"] * len(header), *([f"`{row[0]}`", *row[1:]] for row in body)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def share(value: float, digits: int = 3) -> str:
    """Return a share without its leading zero."""
    return f"{value:.{digits}f}"


def levels() -> str:
    """Return how often each rule merges uniform p-values to alpha or less."""
    designs = {name: design(COUNT) for name, design in DESIGNS.items()}
    body = []
    for name in RULES:
        merge = PLAIN.get(name) or combiner(name).merge  # type: ignore[attr-defined]  # has it
        # Ten equal p-values of mean alpha may miss it by rounding.
        found = [(merge(p) <= ALPHA + 1e-12).mean() for p in designs.values()]
        body.append([name, *map(share, found)])
    return rows(["combiner", *designs], body)


def sets() -> str:
    """Return what sets of nodules cover, and how large they are, by the combiner."""
    subject = load("nodules", 0)
    likes: dict[str, object] = {**dict(zip(RULES, RULES, strict=True)), **E_VALUES, **EFFECTIVE}
    methods = {
        name: {
            "calibrator": "monte-carlo",
            "draws": 10,
            "combiner": like,
            "allow_no_guarantee": True,
        }
        for name, like in likes.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plausibly.errors.PlausiblyWarning)
        study = plausibly.compare(
            subject.predictions,
            subject.plausibilities,
            methods,
            alphas=["0.1"],
            splits=SPLITS,
            cluster=subject.cluster,
        ).data.isel(alpha=0)
    mean = study.mean("split")
    body = [
        [
            name,
            str(study["guaranteed"].values[place]),
            share(float(mean["aggregated_coverage"].values[place])),
            f"{float(mean['set_size'].values[place]):.2f}",
        ]
        for place, name in enumerate(methods)
    ]
    return rows(["combiner", "guaranteed", "coverage of answers", "labels per set"], body)


if __name__ == "__main__":
    sys.stdout.write(f"{levels()}\n\n{sets()}\n")
