"""How much annotators agree, and what each is worth."""

from __future__ import annotations

import numpy as np
import xarray as xr

from plausibly.annotators.agreement import measure_titles
from plausibly.annotators.reliability import NOTE, RESPONSES
from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import counted
from plausibly.plots import dots, reading
from plausibly.plots.dots import Dot
from plausibly.plots.palette import BLUE, GREY, PURPLE, VERMILION
from plausibly.plots.style import SMALL, Axes, Look, axes_of, tidy, tone
from plausibly.plots.text import heading, name_rows, share, shown_names

MOST = 20
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
    axes = axes_of(axes, whose="plausibly.plots.agreement", height=dots.height(rows))
    dots.draw_dots(axes, rows)
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


def annotators(result: xr.Dataset, *, most: int = MOST, axes: Axes | None = None) -> Axes:
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
    axes = axes_of(axes, whose="plausibly.plots.annotators", height=dots.height(rows))
    dots.draw_dots(axes, rows)
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
