"""A comparison of aggregators in words and tables of 80 columns."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import counted
from plausibly.evaluation.describe import decimal
from plausibly.evaluation.design import BY_GROUP, per
from plausibly.evaluation.sensitivity_parts import CALIBRATED_WITH, JUDGED_BY, SPLIT
from plausibly.evaluation.tables import CROSS, TOLERATED

_WIDTH = 80
_AT_ONCE = 5  # columns of judges
_NAME = 26


def describe_sensitivity(found: xr.Dataset) -> str:
    """Return a comparison of aggregators as people read it.

    Parameters
    ----------
    found : Dataset
        From `plausibly.sensitivity`.
    """
    called = [str(name) for name in found[JUDGED_BY].values]
    blocks = [_aggregators(called, found)]
    for place in range(found.sizes[names.ALPHA]):
        blocks.append(_coverage(called, found.isel({names.ALPHA: place})))
    blocks += [_distances(called, found), _in_words(called, found)]
    return "\n\n".join(blocks)


def sensitivity_as_json(found: xr.Dataset) -> dict[str, object]:
    """Return the means over splits, and the distances, as plain data by name."""
    square_names = ["aggregated_coverage", "voted_coverage"]
    square_names += [BY_GROUP] if BY_GROUP in found else []
    means = found[[*square_names, "set_size", "sets_changed"]].mean(SPLIT)
    called = [str(name) for name in found[JUDGED_BY].values]
    square = (CALIBRATED_WITH, JUDGED_BY)

    def by_pair(table: xr.DataArray) -> dict[str, dict[str, float]]:
        rows = table.transpose(*square).values.tolist()
        return {
            one: dict(zip(called, row, strict=True)) for one, row in zip(called, rows, strict=True)
        }

    def at(place: int) -> dict[str, object]:
        here, labelled = means.isel({names.ALPHA: place}), found.isel({names.ALPHA: place})
        alone: dict[str, object] = {
            name: dict(zip(called, here[name].values.tolist(), strict=True))
            for name in ("set_size", "sets_changed")
        }
        return {
            "alpha": float(labelled[names.ALPHA]),
            **{name: by_pair(here[name]) for name in square_names},
            **alone,
            "guaranteed": dict(zip(called, labelled["guaranteed"].values.tolist(), strict=True)),
        }

    return {
        "reference": found.attrs["reference"],
        "examples": int(found.attrs["n"]),
        "splits": found.sizes[SPLIT],
        "method": json.loads(found.attrs["method"]),
        "notes": json.loads(found.attrs["notes"]),
        "alphas": [at(place) for place in range(found.sizes[names.ALPHA])],
        "total_variation": by_pair(found["total_variation"]),
        "top_changed": by_pair(found["top_changed"]),
        "largest_plausibility": dict(
            zip(called, found["largest_plausibility"].values.tolist(), strict=True)
        ),
    }


def _aggregators(called: list[str], found: xr.Dataset) -> str:
    """Return the numbers by which the tables call the aggregators, with what is to note."""
    notes: Mapping[str, Mapping[str, object]] = json.loads(found.attrs["notes"])
    largest = found["largest_plausibility"].values.tolist()
    lines = []
    for number, (name, value) in enumerate(zip(called, largest, strict=True), start=1):
        parts = [f"largest plausibility {decimal(value)}"]
        if notes[name].get("joint"):
            parts.append("learns from all examples")
        left_out = notes[name].get("left_out")
        if isinstance(left_out, Mapping):
            parts += [f"left out: {counted(count)} {reason}" for reason, count in left_out.items()]
        if name == found.attrs["reference"]:
            parts.append("the reference")
        head = f"{number:>2}  {name}: "
        lines += textwrap.wrap(head + "; ".join(parts), _WIDTH, subsequent_indent=" " * 6)
    return "\n".join(lines)


def _about(found: xr.Dataset) -> str:
    """Return the name of the mean that is guaranteed: of groups, where it is one over them."""
    stated = per(str(found.attrs.get("group", "")))
    whose = [stated in str(text) for text in found["guaranteed"].values.ravel()]
    return BY_GROUP if BY_GROUP in found and all(whose) else "aggregated_coverage"


def _coverage(called: list[str], found: xr.Dataset) -> str:
    """Return coverage of the sets of each as each judges it, at one alpha."""
    alpha = float(found[names.ALPHA])
    name = _about(found)
    means = found[name].mean(SPLIT).transpose(CALIBRATED_WITH, JUDGED_BY).values
    of = ", a mean group" if name == BY_GROUP else ""
    spread = found["set_size"].mean(SPLIT).values
    changed = found["sets_changed"].mean(SPLIT).values
    blocks = []
    for start in range(0, len(called), _AT_ONCE):
        judges = range(start, min(start + _AT_ONCE, len(called)))
        head = "".join(f"{judge + 1:>6} " for judge in judges)
        last = judges.stop == len(called)
        lines = [
            f"{f'alpha {alpha:g}':<{_NAME}}   covers{of}, judged by",
            f"{'calibrated with':<{_NAME}}{head}{'   size  changed' if last else ''}".rstrip(),
        ]
        for row, name in enumerate(called):
            cells = "".join(
                f"{decimal(means[row, judge]):>6}"
                f"{CROSS if means[row, judge] < 1 - alpha - TOLERATED else ' '}"
                for judge in judges
            )
            line = f"{_short(row, name):<{_NAME}}{cells}"
            if last:
                line += f"{spread[row]:>7.2f}{_percent(changed[row]):>9}"
            lines.append(line.rstrip())
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _distances(called: list[str], found: xr.Dataset) -> str:
    """Return how far apart plausibilities are, and how often the first label is another."""
    square = (CALIBRATED_WITH, JUDGED_BY)
    variation = found["total_variation"].transpose(*square).values
    changed = found["top_changed"].transpose(*square).values
    blocks = []
    for start in range(0, len(called), _AT_ONCE):
        others = range(start, min(start + _AT_ONCE, len(called)))
        head = "".join(f"{other + 1:>10}" for other in others)
        lines = [f"{'apart (first label differs)':<{_NAME + 2}}{head}"]
        for row, name in enumerate(called):
            cells = "".join(_apart(row, other, variation, changed) for other in others)
            lines.append(f"{_short(row, name):<{_NAME + 2}}{cells}".rstrip())
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _apart(
    row: int, other: int, variation: NDArray[np.float64], changed: NDArray[np.float64]
) -> str:
    if row == other:
        return f"{'-':>10}"
    share = f"({100 * changed[row, other]:.0f}%)"
    return f"{decimal(variation[row, other]):>5}{share:>5}"


def _in_words(called: list[str], found: xr.Dataset) -> str:
    """Return what the tables say, in sentences."""
    one = found.isel({names.ALPHA: 0})
    means = one[_about(found)].mean(SPLIT).transpose(CALIBRATED_WITH, JUDGED_BY).values
    row = called.index(str(found.attrs["reference"]))
    low, high = int(means[row].argmin()), int(means[row].argmax())
    sizes = one["set_size"].mean(SPLIT).values
    text = (
        f"At alpha {float(one[names.ALPHA]):g}, the sets of {called[row]} cover "
        f"{decimal(means[row, low])} ({called[low]}) to {decimal(means[row, high])} "
        f"({called[high]}), by who judges; calibrated with each, sets have "
        f"{sizes.min():.2f} to {sizes.max():.2f} labels. "
        f"Means of {several(found.sizes[SPLIT], 'split')}. A guarantee is about the "
        "plausibilities that calibrated: the diagonal. Apart: the total variation of "
        "plausibilities, and the share of examples whose most plausible label is another."
    )
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False)


def _short(row: int, name: str) -> str:
    """Return number and name of an aggregator, cut where it is long: the list has it whole."""
    text = f"{row + 1:>2}  {name}"
    return text if len(text) < _NAME else text[: _NAME - 2] + "…"


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %" if value else "-"
