"""Figures of annotators: agreement, reliability, and labels on which they disagree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.annotators.agreement import measure_titles
from plausibly.annotators.reliability import NOTE, RESPONSES
from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation.results import TOLERATED
from plausibly.extras import require
from plausibly.palette import BLUE, GREY, INK, PURPLE, VERMILION
from plausibly.plots import reading, style
from plausibly.plots.style import (
    SMALL,
    Axes,
    Dot,
    Look,
    axes_of,
    heading,
    luminance,
    name_rows,
    share,
    shown_names,
    tidy,
    tone,
)

MOST = 15
_SIDE = 0.46
_NAME = 16
_DARK = 0.45  # luminance below which letters are white
_LETTERS = 10  # that fit on an inch


def disagreement(result: xr.Dataset, *, most: int = MOST, axes: Axes | None = None) -> Axes:
    """Draw what another annotator says where one says a label.

    Parameters
    ----------
    result : Dataset
        From `plausibly.annotators.label_disagreement`.
    most : int
        Labels that are shown: those that annotators part over most, where there are more. Rows
        then do not sum to 100, and how many labels there are is said.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        Of the answers that say the label of a row, how many in 100 are met by an answer that says
        the label of the column. The diagonal, framed, is agreement.

    Raises
    ------
    InputError
        ``figure-unsuitable``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    reading.check(result, "disagreement")
    together, said = result["together"].values, result["share"].values
    there = len(said)
    kept = np.arange(there)
    if there > most:
        parted = together.sum(axis=1) - np.diag(together)
        kept = np.sort(np.argsort(-parted, kind="stable")[:most])
    with np.errstate(invalid="ignore", divide="ignore"):
        rows = together[np.ix_(kept, kept)] / said[kept, None]
    called = [str(name) for name in result[names.LABEL].values[kept]]
    axes = _squares_axes(axes, len(kept), "disagreement")
    agree = float(np.trace(together))
    draw_squares(axes, rows, called, called, x="another says", y="one says")
    _frame_diagonal(axes, len(kept))
    pairs = "pairs of answers" if result.attrs["pairs"] == "answers" else "pairs of drawn labels"
    compared, n = int(result.attrs["compared"]), int(result.attrs["n"])
    on = (
        several(n, "example")
        if compared == n
        else f"{counted(compared)} of {several(n, 'example')}"
    )
    heading(
        axes,
        "Over which labels annotators part",
        f"per 100 answers of a row; {on}; {100 * agree:.0f} of 100 {pairs} agree",
        reading.some_of(len(kept), there, "label", "those they part over most"),
    )
    return axes


def confusion(
    result: xr.Dataset,
    *,
    annotator: str | None = None,
    most: int = MOST,
    axes: Axes | None = None,
) -> Axes:
    """Draw what an annotator says for each label, as an aggregator estimates it.

    Parameters
    ----------
    result : Dataset
        From `plausibly.reliability` by an aggregator that estimates whole tables, such as
        ``dawid-skene``.
    annotator : str, optional
        By default the least reliable one.
    most : int
        Labels that are shown: those with the largest errors, where there are more.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        Rows are the labels that are meant, columns what is said, in 100. The diagonal, framed, is
        right.

    Raises
    ------
    InputError
        ``figure-unsuitable``, ``annotator-unknown``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    reading.check(result, "confusion")
    known = [str(name) for name in result[names.ANNOTATOR].values]
    weight = result[names.WEIGHT].values
    if annotator is None:
        place = int(np.argmin(np.where(np.isnan(weight), np.inf, weight)))
    elif annotator in known:
        place = known.index(annotator)
    else:
        raise InputError(
            "annotator-unknown",
            f'this table has no annotator "{annotator}"',
            expected=f"one of {several(len(known), 'annotator')}",
            got=f"it has {listed(known)}",
            do=f'annotator="{known[0]}"' if known else "annotations whose annotators are known",
            whose="the reliability table",
        )
    table = result["confusion"].isel({names.ANNOTATOR: place}).transpose(names.LABEL, "said")
    values = table.values
    there = len(values)
    kept = np.arange(there)
    if there > most:
        wrong = np.nan_to_num(values.sum(axis=1) - np.diag(values))
        kept = np.sort(np.argsort(-wrong, kind="stable")[:most])
    called = [str(name) for name in result[names.LABEL].values[kept]]
    axes = _squares_axes(axes, len(kept), "confusion")
    draw_squares(axes, values[np.ix_(kept, kept)], called, called, x="says", y="means")
    _frame_diagonal(axes, len(kept))
    (name,) = shown_names([known[place]])
    heading(
        axes,
        f"What annotator {name} says".replace("\n", " "),
        f"per 100 times that a label is meant; {int(result[RESPONSES][place]):,} responses; "
        f"{share(float(weight[place]), 2)} right, as {result.attrs.get('aggregator', 'estimated')} "
        "estimates",
        reading.some_of(len(kept), there, "label", "those with the largest errors"),
    )
    return axes


def sensitivity(
    result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None
) -> Axes:
    """Draw how sets that one aggregator calibrated are judged by each.

    Parameters
    ----------
    result : Dataset
        From `plausibly.sensitivity`.
    alpha : float, optional
        Which of several; by default the first.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        Mean aggregated coverage over the splits; what falls more than .01 short of 1 - alpha is
        coloured and marked. The diagonal, framed, is what the guarantee is about.

    Raises
    ------
    InputError
        ``figure-unsuitable``, ``figure-alpha``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    reading.check(result, "sensitivity")
    one = reading.at_alpha(result, alpha)
    mean = one["aggregated_coverage"].mean("split").transpose("calibrated_with", "judged_by").values
    wanted = 1 - float(one[names.ALPHA])
    called = [str(name) for name in one["judged_by"].values]
    sizes = one["set_size"].mean("split").values
    axes = _squares_axes(axes, len(called), "sensitivity", side=0.95)
    short = np.clip(wanted - mean, 0, None)
    texts = [
        [f"{share(value)} ✗" if value < wanted - TOLERATED else share(value) for value in row]
        for row in mean.tolist()
    ]
    draw_squares(
        axes, short, called, called, x="judged by", y="calibrated with", texts=texts,
        full=max(0.1, float(short.max())), hue=VERMILION,
    )  # fmt: skip
    _frame_diagonal(axes, len(called))
    spread = ", ".join(f"{size:.2f}" for size in sizes)
    heading(
        axes,
        reading.with_alpha("Coverage of what experts say, by the aggregator", one),
        f"wanted {share(wanted, 2)}, ✗ more than .01 short; mean of "
        f"{several(one.sizes['split'], 'split')} of {several(int(one.attrs['n']), 'example')}; "
        f"labels in a set, row by row: {spread}",
    )
    return axes


def draw_squares(
    axes: Axes,
    values: NDArray[np.float64],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    x: str,
    y: str,
    texts: Sequence[Sequence[str]] | None = None,
    full: float = 1.0,
    hue: str = BLUE,
) -> None:
    """Draw a table of shares as squares, from paper to full colour, each with its number."""
    colours = require("matplotlib.colors", extra="plots", whose="a figure")
    ink = tone(axes)
    shades = colours.LinearSegmentedColormap.from_list("plausibly", [ink.paper, hue])
    shades = shades.with_extremes(bad=ink.grid)
    axes.imshow(np.ma.masked_invalid(values / full), cmap=shades, vmin=0, vmax=1, aspect="auto")
    written = texts or [[_hundredths(value) for value in row] for row in values.tolist()]
    size = 9 if len(columns) <= 8 else 7 if len(columns) <= MOST else 5
    for i, row in enumerate(written):
        for j, text in enumerate(row):
            dark = luminance(*shades(values[i, j] / full)[:3]) < _DARK
            colour = "white" if dark else INK
            axes.text(j, i, text, ha="center", va="center", fontsize=size, color=colour)
    beside, below = shown_names(rows), shown_names(columns, width=_NAME)
    wide = max(len(line) for name in below for line in name.split("\n"))
    inches = axes.get_position().width * axes.figure.bbox.width / axes.figure.dpi
    if wide > _LETTERS * inches / len(columns):
        # Names on their sides would leave the squares no height.
        below = [str(place + 1) for place in range(len(columns))]
        beside = [f"{name}  {place + 1}" for place, name in enumerate(beside)]
        x = f"{x} (numbered as the rows)"
    axes.set_yticks(range(len(rows)), beside, parse_math=False)
    axes.set_xticks(range(len(columns)), below, parse_math=False)
    axes.tick_params(length=0)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _hundredths(value: float) -> str:
    """Return a share in whole hundredths: nothing for none, a dot for less than one half."""
    if np.isnan(value) or value == 0:
        return ""
    return "·" if value < 0.005 else f"{100 * value:.0f}"


def _squares_axes(axes: Axes | None, size: int, figure: str, side: float = _SIDE) -> Axes:
    wide = 2.9 + max(side * size, 2.6)
    tall = 1.6 + max(side * size * 0.9, 1.4)
    return axes_of(axes, whose=f"plausibly.plots.{figure}", width=wide, height=tall)


def _frame_diagonal(axes: Axes, size: int) -> None:
    """Frame the squares whose row and column are the same."""
    patches = require("matplotlib.patches", extra="plots", whose="a figure")
    for place in range(size):
        frame = patches.Rectangle(
            (place - 0.5, place - 0.5),
            1,
            1,
            fill=False,
            edgecolor=tone(axes).ink,
            linewidth=1.2,
            clip_on=False,
        )
        axes.add_patch(frame)


MOST_ANNOTATORS = 20
_NO_AGREEMENT = {"entropy", "tied"}
_PLAIN = Look(colour=BLUE)
_CHANCE = Look(colour=PURPLE, marker="s")
_LOW = Look(colour=VERMILION, marker="D")


def agreement(result: xr.Dataset, *, axes: Axes | None = None) -> Axes:
    """Draw how much annotators agree, by every measure that fits their answers.

    Parameters
    ----------
    result : Dataset
        From `plausibly.agreement`.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        A row a measure with its interval; squares are corrected for chance, where 0 is what
        guesses would give. Measures without a value are left out, and so are entropy and ties,
        which measure no agreement.

    Raises
    ------
    InputError
        ``figure-unsuitable``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    reading.check(result, "agreement")
    titles = measure_titles(str(result.attrs["kind"]))
    rows = []
    for place, name in enumerate(map(str, result["measure"].values)):
        value = float(result["value"][place])
        if name in _NO_AGREEMENT or name not in titles or np.isnan(value):
            continue
        chance = "krippendorff" in name or "kappa" in name
        rows.append(
            Dot(
                name=titles[name],
                mean=value,
                low=float(result["low"][place]),
                high=float(result["high"][place]),
                look=_CHANCE if chance else _PLAIN,
            )
        )
    axes = axes_of(axes, whose="plausibly.plots.agreement", height=style.height(rows))
    style.draw_dots(axes, rows)
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, -0.02), high)
    axes.axvline(0, color=tone(axes).muted, linewidth=1, zorder=1)
    tidy(axes, x="agreement (1: all agree)", y="", grid="x")
    axes.spines["left"].set_visible(False)
    answers = counted(int(result.attrs["answers"]))
    several_too = reading.on_what(result, examples=int(result.attrs["examples"]), lines="")
    per_cent = reading.per_cent(result.attrs["confidence"])
    heading(
        axes,
        "How much annotators agree",
        f"{several_too}, {answers} answers",
        f"lines: {per_cent} intervals" if result.attrs["resamples"] else "",
        "squares: corrected for chance" if any(row.look is _CHANCE for row in rows) else "",
    )
    return axes


def annotators(
    result: xr.Dataset, *, most: int = MOST_ANNOTATORS, axes: Axes | None = None
) -> Axes:
    """Draw how each annotator compares, the least first.

    Parameters
    ----------
    result : Dataset
        From `plausibly.agreement`: agreement with others, beside how the others agree on the same
        examples. From `plausibly.reliability`: the share of answers that is right, as the
        aggregator estimates it.
    most : int
        Annotators that are shown: those that agree least compared with the others, or are worth
        least. How many there are is said.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        A row an annotator, with the number of answers.

    Raises
    ------
    InputError
        ``figure-unsuitable``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    if reading.check(result, "annotators") == reading.RELIABILITY:
        return _worth(result, most, axes)
    own = result["annotator_agreement"].values.astype(np.float64)
    others = result["annotator_others"].values.astype(np.float64)
    answers = result["annotator_answers"].values
    low = result["annotator_low"].values
    there = len(own)
    order = np.lexsort((own, own - others))[:most]
    rows = [
        Dot(
            name=str(result[names.ANNOTATOR].values[place]),
            note=f"{several(int(answers[place]), 'answer')}" + (", low" if low[place] else ""),
            mean=float(own[place]),
            low=np.nan,
            high=np.nan,
            look=_LOW if low[place] else _PLAIN,
        )
        for place in order
    ]
    axes = axes_of(axes, whose="plausibly.plots.annotators", height=style.height(rows))
    style.draw_dots(axes, rows)
    for row, place in enumerate(order):
        if np.isfinite([own[place], others[place]]).all():
            axes.plot([own[place], others[place]], [row, row], color=GREY, linewidth=1, zorder=1)
            axes.plot([others[place]], [row], marker="|", markersize=12, color=tone(axes).ink)
    ends = [*own[order], *others[order]]
    least = float(np.nanmin(ends)) if np.isfinite(ends).any() else 0.0
    axes.set_xlim(max(0.0, least - 0.05), 1.02)
    tidy(axes, x=f"agreement with others ({result.attrs['likeness']})", y="", grid="x")
    axes.spines["left"].set_visible(False)
    heading(
        axes,
        "How each annotator agrees with the others",
        "" if len(rows) < there else several(there, "annotator"),
        "bar: how the others agree on the same examples",
        "diamonds: less than the others, beyond chance" if low[order].any() else "",
        reading.some_of(len(rows), there, "annotator", "the lowest"),
        "" if there else "no annotator is known",
    )
    return axes


def _worth(result: xr.Dataset, most: int, axes: Axes | None) -> Axes:
    weight = result[names.WEIGHT].values.astype(np.float64)
    called = [str(name) for name in result[names.ANNOTATOR].values]
    there = len(called)
    # As the table prints them: NaN goes last, names break ties.
    order = sorted(range(there), key=lambda i: (np.isnan(weight[i]), weight[i], called[i]))[:most]
    notes = [str(result[NOTE].values[place]) if NOTE in result else "" for place in order]
    answers = [float(result[RESPONSES].values[place]) for place in order]
    axes = axes_of(axes, whose="plausibly.plots.annotators", height=1.3 + 0.44 * max(2, len(order)))
    ink = tone(axes)
    for row, place in enumerate(order):
        look = _LOW if notes[row] else _PLAIN
        if np.isnan(weight[place]):
            continue
        axes.plot([0, weight[place]], [row, row], color=look.colour, linewidth=2, zorder=1)
        axes.plot(
            [weight[place]], [row], marker=look.marker, markersize=7, color=look.colour,
            markeredgecolor=ink.paper,
        )  # fmt: skip
    top = max(1.0, float(np.nanmax(weight))) if np.isfinite(weight).any() else 1.0
    for row, place in enumerate(order):
        shown = "-" if np.isnan(weight[place]) else share(float(weight[place]), 2)
        axes.annotate(
            shown,
            (1.01, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=SMALL + 1,
            color=ink.ink,
            annotation_clip=False,
        )
    shown_as = shown_names([called[place] for place in order])
    details = [f"{answer:,.0f} responses" for answer in answers]
    lines = [
        f"{name}\n{detail}" + (f"; {_short(note)}" if note else "")
        for name, detail, note in zip(shown_as, details, notes, strict=True)
    ]
    name_rows(axes, lines)
    axes.set_xlim(0, top * 1.02)
    tidy(axes, x="share of answers that is right, as estimated", y="", grid="x")
    axes.spines["left"].set_visible(False)
    heading(
        axes,
        "What each annotator is worth",
        "" if len(order) < there else several(there, "annotator"),
        f"by {result.attrs['aggregator']}" if "aggregator" in result.attrs else "",
        "diamonds: see the note" if any(notes) else "",
        reading.some_of(len(order), there, "annotator", "the least reliable"),
    )
    return axes


def _short(note: str) -> str:
    """Return a note on one line."""
    return shown_names([note], width=34, lines=1)[0]
