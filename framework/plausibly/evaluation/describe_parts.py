"""The further measures in words: the tables that ``plausibly evaluate`` prints below its own."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.errors import counted
from plausibly.evaluation.describe import MOST_GROUPS, WIDTH, decimal, ends
from plausibly.evaluation.risk import LEVEL
from plausibly.evaluation.strata import SIZE, STRATUM
from plausibly.evaluation.subgroups import SUBGROUP
from plausibly.evaluation.summary import ENDS
from plausibly.evaluation.uniformity import OF

_TITLE = 26
_SHOWN_LABELS = 12


def describe_strata(found: xr.Dataset) -> str:
    """Return a line a stratum.

    Parameters
    ----------
    found : Dataset
        From `coverage_by_strata`.
    """

    def block(one: xr.Dataset) -> list[str]:
        head = f"by {one.attrs['of']}"
        return [_head(head, one, "coverage", "set size"), *_covered(one, STRATUM, "set_size")]

    return _blocks(found, block)


def describe_sizes(found: xr.Dataset) -> str:
    """Return a line a size of sets, without those that no set has.

    Parameters
    ----------
    found : Dataset
        From `coverage_by_size`.
    """

    def block(one: xr.Dataset) -> list[str]:
        there = one.isel({SIZE: one["count"].values > 0})
        titled = there.assign_coords(
            {SIZE: [_labels(str(size)) for size in there[SIZE].values.tolist()]}
        )
        return [_head("by size of the set", one, "coverage", ""), *_covered(titled, SIZE, "")]

    return _blocks(found, block)


def describe_labels(found: xr.Dataset) -> str:
    """Return a line a label, those with the least covered share where there are many.

    Parameters
    ----------
    found : Dataset
        From `coverage_by_label`.
    """

    def block(one: xr.Dataset) -> list[str]:
        named = one.isel({names.LABEL: one["mass"].values > 0})
        head = "by label, of what is said for it"
        if named.sizes[names.LABEL] > _SHOWN_LABELS:
            order = np.argsort(named["covered_high"].values, kind="stable")[:_SHOWN_LABELS]
            head = f"by label: {_SHOWN_LABELS} of {counted(named.sizes[names.LABEL])}"
            named = named.isel({names.LABEL: order})
        lines = [_head(head, one, "covered", "in sets")]
        for place in range(named.sizes[names.LABEL]):
            label = named.isel({names.LABEL: place})
            mass, inside = float(label["mass"]), decimal(float(label["in_sets_mean"]))
            lines.append(_line(label[names.LABEL].item(), f"{mass:,.1f}", label, "covered", inside))
        silent = one.sizes[names.LABEL] - int((one["mass"] > 0).sum())
        if silent:
            lines.append(f"  nobody named {counted(silent)} of the labels")
        return lines

    return _blocks(found, block)


def describe_risk(found: xr.Dataset) -> str:
    """Return a line a risk level, from the least on: the share of its mass that sets miss.

    Parameters
    ----------
    found : Dataset
        From `coverage_by_risk`.
    """

    def block(one: xr.Dataset) -> list[str]:
        lines = [_head(f"by {one.attrs['risk']}, of what is said for it", one, "missed", "of all")]
        for place in range(one.sizes[LEVEL]):
            level = one.isel({LEVEL: place})
            mass, share = float(level["mass"]), decimal(float(level["mass_share"]))
            lines.append(_line(str(level[LEVEL].item()), f"{mass:,.1f}", level, "missed", share))
        if "risk_missed_mean" in one:
            mean, low, high = (float(one[f"risk_missed_{end}"]) for end in ENDS)
            lines.append(f"  risk left out, a mean example: {decimal(mean)} ({ends(low, high)})")
        return lines

    return _blocks(found, block)


def describe_subgroups(found: xr.Dataset) -> str:
    """Return the subgroups that are covered least.

    Parameters
    ----------
    found : Dataset
        From `coverage_by_subgroup`.
    """

    def block(one: xr.Dataset) -> list[str]:
        order = np.lexsort(
            (one["aggregated_coverage_mean"].values, one["aggregated_coverage_high"].values)
        )[:MOST_GROUPS]
        shown = one.isel({SUBGROUP: order})
        count = one.sizes[SUBGROUP]
        head = "subgroups" if count <= MOST_GROUPS else f"weakest of {counted(count)} subgroups"
        lines = [_head(head, one, "coverage", "set size"), *_covered(shown, SUBGROUP, "set_size")]
        small = int(one.attrs["left_out_subgroups"])
        note = f"Intervals hold for all {counted(count)} together; the least of many is too low."
        if small:
            noun = "clusters" if "cluster" in one.attrs else "examples"
            note += f" Left out: {counted(small)} of fewer than {one.attrs['at_least']} {noun}."
        return lines + _wrapped(note)

    return _blocks(found, block)


def describe_slab(found: xr.Dataset) -> str:
    """Return what the worst slab is, in one sentence an alpha.

    Parameters
    ----------
    found : Dataset
        From `worst_slab_coverage`.
    """

    def block(one: xr.Dataset) -> list[str]:
        least = f"{100 * float(one.attrs['least']):g} %"
        head = _head(f"worst slab of {least} or more", one, "coverage", "elsewhere")
        count = counted(int(one["count"]))
        others = decimal(float(one["others_mean"]))
        line = _line("found on other examples", count, one, "aggregated_coverage", others)
        return [head, line]

    return _blocks(found, block)


def describe_uniformity(found: xr.Dataset) -> str:
    """Return how far p-values are from uniform, a line for voted, drawn and true labels.

    Parameters
    ----------
    found : Dataset
        From `p_value_uniformity`.
    """
    lines = [f"{'p-values of the':<{_TITLE + 9}}{'D+':>8}{'p':>8}{'D-':>8}{'promised':>11}"]
    for place in range(found.sizes[OF]):
        one = found.isel({OF: place})
        above, below = (decimal(float(one[f"ks_{side}"])) for side in ("above", "below"))
        chance = float(one["p_super_uniform"])
        p = "< .001" if chance < 0.001 else decimal(chance)
        said = "yes" if bool(one["promised"]) else "no"
        title = f"  {one[OF].item()} label"
        lines.append(f"{title:<{_TITLE + 9}}{above:>8}{p:>8}{below:>8}{said:>11}")
    return "\n".join(
        [
            *lines,
            *_wrapped(
                "D+: by how much more p-values are at most t than t promises, p of it by chance; "
                "D-: by how much fewer, which breaks nothing."
            ),
        ]
    )


def part_rows(found: xr.Dataset, dim: str | None = None) -> list[dict[str, object]]:
    """Return the figures of a further measure as plain data, one entry an alpha and part.

    Parameters
    ----------
    found : Dataset
        From one of the functions whose results this module describes.
    dim : str, optional
        Its dim, such as ``"stratum"``; None where there is one part.

    Returns
    -------
    list of dict
        ``NAME_mean``, ``NAME_low`` and ``NAME_high`` stand together under ``NAME``; other dims,
        such as that of the examples, are left out.
    """
    rows = []
    for plane in _planes(found):
        for place in range(plane.sizes[dim] if dim is not None else 1):
            one = plane if dim is None else plane.isel({dim: place})
            row: dict[str, object] = {}
            for name, values in {**one.coords, **one.data_vars}.items():
                if values.ndim == 0:
                    stem, _, end = str(name).rpartition("_")
                    value = values.item()
                    if end in ENDS and f"{stem}_mean" in one:
                        figures = row.setdefault(stem, {})
                        if isinstance(figures, dict):
                            figures[end] = value
                    else:
                        row[str(name)] = value
            rows.append(row)
    return rows


def _planes(evaluation: xr.Dataset) -> Iterator[xr.Dataset]:
    if names.ALPHA not in evaluation.dims:
        yield evaluation
        return
    for place in range(evaluation.sizes[names.ALPHA]):
        yield evaluation.isel({names.ALPHA: place})


def _blocks(found: xr.Dataset, block: Callable[[xr.Dataset], list[str]]) -> str:
    """Return the lines of each alpha, with the alpha where there are several."""
    several = names.ALPHA in found.dims and found.sizes[names.ALPHA] > 1
    texts = []
    for plane in _planes(found):
        lines = block(plane)
        if several:
            lines.insert(0, f"alpha {float(plane[names.ALPHA]):g}")
        texts.append("\n".join(lines))
    return "\n".join(texts)


def _head(title: str, one: xr.Dataset, figure: str, last: str) -> str:
    level = f"{100 * float(one.attrs['confidence']):g} % interval"
    return f"{title:<{_TITLE + 9}}{figure:>8}{level:>16}{last:>11}".rstrip()


def _covered(one: xr.Dataset, dim: str, last: str) -> list[str]:
    """Return a line a part with its aggregated coverage, and a mean of something else."""
    lines = []
    for place in range(one.sizes[dim]):
        part = one.isel({dim: place})
        count = int(part["count"])
        end = f"{float(part[f'{last}_mean']):.2f}" if last and count else "-" if last else ""
        lines.append(_line(str(part[dim].item()), counted(count), part, "aggregated_coverage", end))
    return lines


def _line(title: str, count: str, one: xr.Dataset, figure: str, last: str) -> str:
    """Return a line of a table: title, count, mean, interval and one more figure.

    A title that is too long stands on a line of its own, above them.
    """
    before = ""
    if len(title) > _TITLE - 2:  # a line of its own
        shown = title if len(title) <= WIDTH - 2 else f"{title[: WIDTH - 3]}…"
        before, title = f"  {shown}\n", ""
    mean, low, high = (float(one[f"{figure}_{end}"]) for end in ENDS)
    between = "-" if math.isnan(mean) else ends(low, high)
    figures = f"  {title:<{_TITLE - 2}}{count:>9}{decimal(mean):>8}{between:>16}{last:>11}"
    return before + figures.rstrip()


def _labels(size: str) -> str:
    return {"0": "empty", "1": "1 label"}.get(size, f"{size} labels")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False, break_long_words=False)
