"""Results that print their own words: a Dataset with a table, a verdict, and JSON."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import attrs
import numpy as np
import xarray as xr

from plausibly import text
from plausibly.data import names
from plausibly.errors import counted

WIDTH = 80
MOST_LINES = 25
MOST_GROUPS = 8
AGGREGATED = "aggregated_coverage"
SET_SIZE = "set_size"
ENDS = ("mean", "low", "high")


@attrs.frozen(eq=False, repr=False)
class Result:
    """A result of plausibly, which prints itself; ``result["name"]`` is ``result.data["name"]``.

    Attributes
    ----------
    data : Dataset
        All numbers, with the settings as attributes.
    """

    data: xr.Dataset

    def __getitem__(self, name: str) -> xr.DataArray:
        return self.data[name]

    @property
    def attrs(self) -> dict[str, object]:
        """Settings and guarantees, by name."""
        return {str(name): value for name, value in self.data.attrs.items()}

    def block(self, plane: xr.Dataset) -> list[str]:
        """Return the lines of text at one alpha."""
        raise NotImplementedError

    def lines(self) -> list[str]:
        """Return all lines of text, of 80 columns."""
        return [line for plane in planes(self.data) for line in ("", *self.block(plane))][1:]

    def summary(self) -> list[str]:
        """Return the lines that `print` shows: at most 25."""
        lines = self.lines()
        if len(lines) <= MOST_LINES:
            return lines
        return [*lines[: MOST_LINES - 1], f"({len(lines) - MOST_LINES + 1} more: .lines())"]

    def to_json(self) -> dict[str, object]:
        """Return plain data, for programs; figures that do not exist are None."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n".join(self.summary())

    def _repr_html_(self) -> str:
        variables = text.unfolded("variables", text.Html(self.data._repr_html_()))
        return text.framed(type(self).__name__.lower(), text.preformatted(self), variables)


def data_of(result: xr.Dataset | Result) -> xr.Dataset:
    return result.data if isinstance(result, Result) else result


def each(result: xr.Dataset, dim: str) -> list[xr.Dataset]:
    """Return a result at every place along a dim."""
    return [result.isel({dim: place}) for place in range(result.sizes[dim])]


def planes(result: xr.Dataset) -> list[xr.Dataset]:
    """Return a result at each alpha."""
    return each(result, names.ALPHA) if names.ALPHA in result.dims else [result]


def alpha_of(plane: xr.Dataset) -> float | None:
    return float(plane[names.ALPHA]) if names.ALPHA in plane.coords else None


def figures(data: xr.Dataset, name: str) -> tuple[float, float, float]:
    """Return mean and both ends of the interval of one figure."""
    mean, low, high = (float(data[f"{name}_{end}"]) for end in ENDS)
    return mean, low, high


def decimal(value: float, digits: int = 3) -> str:
    """Return a number as tables print it, ``-`` where there is none."""
    if math.isnan(value):
        return "-"
    printed = f"{value:.{digits}f}"
    return printed if float(printed) else printed.removeprefix("-")


def outwards(low: float, high: float, digits: int = 3) -> tuple[float, float]:
    """Return the ends of an interval with this many decimals, which enclose it."""
    if math.isnan(low) or math.isnan(high):
        return low, high
    units = 10**digits
    # Tolerance: 0.7 * 1000 is 699.9999999999999.
    return math.floor(low * units + 1e-9) / units, math.ceil(high * units - 1e-9) / units


def ends(low: float, high: float, digits: int = 3) -> str:
    """Return ``0.897 to 0.905``, rounded outwards."""
    return " to ".join(decimal(end, digits) for end in outwards(low, high, digits))


def wrapped(sentences: str, title: str = "") -> list[str]:
    """Return sentences as lines, after a title in the left column where there is one."""
    indent = " " * (13 if title else 0)
    return textwrap.wrap(
        sentences,
        WIDTH,
        initial_indent=f"{title:<12} " if title else "",
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
        expand_tabs=False,  # names of labels are shown as they are
        replace_whitespace=False,
    )


def group_title(by: object, count: int) -> str:
    """Return the title of a table of groups, whose intervals hold for all of them together."""
    title, groups = f"by {by}", counted(count)
    if count > MOST_GROUPS:
        return f"{title} (lowest {MOST_GROUPS} of {groups} groups, intervals widened for all)"
    return f"{title} (intervals widened for {groups} groups)" if count > 1 else title


def head_line(left: str, data: xr.Dataset, *columns: str) -> str:
    """Return the head of a table of figures: count, figure, and what else a line ends with."""
    count, figure, last = columns
    level = f"{100 * float(data.attrs['confidence']):g}% interval"
    return f"{left:<21}{count:>8}{figure:>10}  {level:<16}{last:>10}".rstrip()


def figure_line(
    left: str, count: str, figure: Sequence[float], last: str, *, rough: bool = False
) -> list[str]:
    """Return a line of a table: name, count, mean, interval (* where rough), one more figure."""
    before = []
    if len(left) > 20:  # a line of its own
        before = [left if len(left) <= WIDTH else f"{left[: WIDTH - 1]}…"]
        left = ""
    mean, low, high = figure
    between = "-" if math.isnan(low) else f"{ends(low, high)}{' *' * rough}"
    return [*before, f"{left:<21}{count:>8}{decimal(mean):>10}  {between:<16}{last:>10}".rstrip()]


def part_rows(result: xr.Dataset, dim: str | None = None) -> list[dict[str, object]]:
    """Return the figures of a further measure as plain data, one entry per alpha and part."""
    rows = []
    for plane in planes(result):
        for part in [plane] if dim is None else each(plane, dim):
            row: dict[str, object] = {}
            for name, values in {**part.coords, **part.data_vars}.items():
                stem, _, end = str(name).rpartition("_")
                if values.ndim:
                    continue
                if end in ENDS and f"{stem}_mean" in part:
                    row[stem] = {
                        end: part[f"{stem}_{end}"].item() for end in ENDS if f"{stem}_{end}" in part
                    }
                else:
                    row[str(name)] = values.item()
            rows.append(row)
    return rows


def number(value: xr.DataArray | float) -> float | None:
    """Return the value, or None for NaN, which JSON does not know."""
    return None if bool(np.isnan(value)) else float(value)
