"""Measure what sets of ordered labels cost and give: coverage, size, holes, distance of misses.

Needs the folder of real data, in which each set is a folder with a file ``data.npz``, and prints a
table of means over the test halves of random splits::

    python scripts/measure_ordinal.py --data DIR
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping
from pathlib import Path

import plausibly
from measured.data import load
from plausibly.errors import PlausiblyWarning

ALPHA = "0.1"
SPLITS, FEW = 100, 40
LARGE = 10_000  # from so many examples on there are fewer splits

SETS: Mapping[str, str] = {
    "lidc_malignancy": "1 to 5",
    "sleep_dodh": "Wake, N1, N2, N3, REM",
    "chaosnli_snli": "entailment, neutral, contradiction",
    "chaosnli_mnli": "entailment, neutral, contradiction",
}
"""Data sets whose columns are in the order that is named."""

_COLUMNS = {"name": "ordinal", "order": "columns"}
SCORES: Mapping[str, Mapping[str, object]] = {
    "probability": {"name": "probability"},
    "ordinal (hull)": _COLUMNS,
    "ordinal, greedy": {**_COLUMNS, "greedy": True},
    "ordinal, greedy, randomised": {**_COLUMNS, "greedy": True, "randomised": True},
    "aps": {"name": "aps"},
    "aps, randomised": {"name": "aps", "randomised": True},
    "ordinal (hull of aps)": {**_COLUMNS, "inner": "aps"},
}

HEADER = ("data", "score", "covered", "labels per set", "with holes", "steps of a miss", "empty")


def rows(data: Path, name: str, splits: int) -> list[tuple[str, ...]]:
    """Return the rows of one data set."""
    real = load(data, name)
    methods = {title: {"score": score} for title, score in SCORES.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        study = plausibly.compare(
            real.predictions, real.plausibilities, methods, alphas=[ALPHA], splits=splits
        )
    found: list[tuple[str, ...]] = []
    for title in SCORES:
        one = study.data.sel({"method": title}).mean()
        found.append(
            (
                name,
                title,
                f"{float(one['aggregated_coverage']):.3f}",
                f"{float(one['set_size']):.3f}",
                f"{float(one['share_with_holes']):.1%}",
                f"{float(one['ordinal_gap']):.2f}",
                f"{float(one['share_empty']):.1%}",
            )
        )
    return found


def main() -> None:
    """Print the table of all data sets, or of those that are named."""
    parser = argparse.ArgumentParser(description="Measure sets of ordered labels.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--only", nargs="*", choices=list(SETS), help="these data sets")
    parser.add_argument("--splits", type=int, help="random halves")
    asked = parser.parse_args()
    print(f"| {' | '.join(HEADER)} |\n|{' --- |' * len(HEADER)}")
    for name in asked.only or SETS:
        large = len(load(asked.data, name).predictions) >= LARGE
        for row in rows(asked.data, name, asked.splits or (FEW if large else SPLITS)):
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
