"""Figures of annotators: agreement, reliability, and labels on which they disagree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.annotators.agreement import measure_titles
from plausibly.annotators.reliability import NOTE, RESPONSES
from plausibly.data import names
from plausibly.data.names import name_texts, several
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation.result import data_of, decimal, each
from plausibly.evaluation.study import TOLERATED
from plausibly.extras import require
from plausibly.palette import BLUE, GREY, INK, PURPLE, VERMILION
from plausibly.plots import reading, style
from plausibly.plots.style import Axes, Dot, Look

MOST = 15
_SIDE = 0.46
_DARK = 0.45  # luminance below which letters are white
_LETTERS = 7  # that fit on an inch, beside the names of the rows


def disagreement(result: xr.Dataset, *, most: int = MOST, axes: Axes | None = None) -> Axes:
    """Draw how often two annotators answer with each pair of labels.

    Per 100 answers with the label of a row, how many answers of others have the label of the
    column. The diagonal, framed, is agreement. `result` is from
    `plausibly.annotators.label_disagreement`.

    Parameters
    ----------
    most : int
        Number of labels shown: those with the most disagreement, where there are more. Rows then
        do not sum to 100, and the figure states how many labels there are.

    Examples
    --------
    >>> from plausibly.annotators import label_disagreement
    >>> axes = plots.disagreement(label_disagreement(plausibilities))
    """
    reading.check(result, "disagreement")
    together, shares = result["together"].values, result["share"].values
    kept = _most(together.sum(axis=1) - np.diag(together), most)
    with np.errstate(invalid="ignore", divide="ignore"):
        rows = together[np.ix_(kept, kept)] / shares[kept, None]
    called = name_texts(result[names.LABEL].values[kept])
    axes = _draw_squares(axes, "disagreement", rows, called, x="other answer", y="answer")
    pairs = "pairs of answers" if result.attrs["pairs"] == "answers" else "pairs of drawn labels"
    compared, n = int(result.attrs["compared"]), int(result.attrs["n"])
    on = "" if compared == n else f"{counted(compared)} of "
    agree = f"{100 * float(np.trace(together)):.0f} of 100 {pairs} agree"
    style.heading(
        axes,
        "On which labels annotators disagree",
        f"per 100 answers of a row; {on}{several(n, 'example')}; {agree}",
        reading.some_of(len(kept), len(shares), "label", "those they disagree on most"),
    )
    return axes


def _most(wrong: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    return np.sort(np.argsort(-np.nan_to_num(wrong), kind="stable")[:most])


def confusion(
    result: xr.Dataset, *, annotator: str | None = None, most: int = MOST, axes: Axes | None = None
) -> Axes:
    """Draw the confusion matrix of an annotator, as an aggregator estimates it.

    Rows are estimated true labels, columns answers, per 100. The diagonal, framed, is correct.
    `result` is from `plausibly.reliability` by an aggregator that estimates whole tables, such as
    ``dawid-skene``.

    Parameters
    ----------
    annotator : str, optional
        By default the least reliable one.
    most : int
        Number of labels shown: those with the largest errors, where there are more.

    Raises
    ------
    InputError
        ``annotator-unknown``.

    Examples
    --------
    >>> reliability = plausibly.reliability(annotations, "dawid-skene")
    >>> axes = plots.confusion(reliability)
    """
    reading.check(result, "confusion")
    known, weight = name_texts(result[names.ANNOTATOR].values), result[names.WEIGHT].values
    least = known[int(np.argmin(np.nan_to_num(weight, nan=np.inf)))]
    if annotator not in (None, *known):
        raise InputError(
            "annotator-unknown",
            f'this table has no annotator "{annotator}"',
            expected=f"one of {several(len(known), 'annotator')}",
            found=f"it has {listed(known)}",
            hint=f'annotator="{least}"',
            source="the reliability table",
        )
    place = known.index(annotator or least)
    table = result["confusion"].isel({names.ANNOTATOR: place}).transpose(names.LABEL, "said")
    values = table.values
    kept = _most(values.sum(axis=1) - np.diag(values), most)
    called = name_texts(result[names.LABEL].values[kept])
    rows = values[np.ix_(kept, kept)]
    axes = _draw_squares(axes, "confusion", rows, called, x="answer", y="estimated label")
    (name,) = style.shown_names([known[place]])
    right, by = decimal(float(weight[place]), 2), result.attrs.get("aggregator", "estimated")
    style.heading(
        axes,
        f"Answers of annotator {name}".replace("\n", " "),
        f"per 100 answers by estimated label; {int(result[RESPONSES][place]):,} responses; "
        f"{right} correct, as {by} estimates",
        reading.some_of(len(kept), len(values), "label", "those with the largest errors"),
    )
    return axes


def sensitivity(
    result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None
) -> Axes:
    """Draw the coverage of sets by the aggregator that calibrates and the one that evaluates.

    Mean coverage of all answers over the splits; more than 0.01 below 1 - alpha is coloured and
    marked. The guarantee is about the diagonal, framed.

    Parameters
    ----------
    result : Dataset
        From `plausibly.sensitivity`.
    alpha, axes : as for `coverage`

    Examples
    --------
    >>> aggregators = ["label-frequency", "dawid-skene"]
    >>> result = plausibly.sensitivity(predictions, annotations, aggregators, splits=10)
    >>> axes = plots.sensitivity(result)
    """
    _, plane = reading.opened(result, "sensitivity", alpha)
    mean = (
        plane["aggregated_coverage"].mean("split").transpose("calibrated_with", "judged_by").values
    )
    wanted = 1 - float(plane[names.ALPHA])
    called = name_texts(plane["judged_by"].values)
    short = np.clip(wanted - mean, 0, None)
    mark = np.where(mean < wanted - TOLERATED, " ✗", "")
    texts = np.vectorize(decimal, otypes=[object])(mean) + mark
    axes = _draw_squares(
        axes,
        "sensitivity",
        short,
        called,
        x="judged by",
        y="calibrated with",
        texts=texts.tolist(),
        full=max(0.1, float(short.max())),
        hue=VERMILION,
        side=0.95,
    )
    spread = ", ".join(f"{size:.2f}" for size in plane["set_size"].mean("split").values)
    style.heading(
        axes,
        reading.with_alpha("Coverage of all answers, by aggregator", plane),
        f"wanted {decimal(wanted, 2)}, ✗ more than 0.01 below; mean of "
        f"{several(plane.sizes['split'], 'split')} of {several(int(plane.attrs['n']), 'example')}; "
        f"labels per set, row by row: {spread}",
    )
    return axes


def _draw_squares(
    axes: Axes | None,
    figure: str,
    values: NDArray[np.float64],
    called: Sequence[str],
    *,
    x: str,
    y: str,
    texts: Sequence[Sequence[str]] | None = None,
    full: float = 1.0,
    hue: str = BLUE,
    side: float = _SIDE,
) -> Axes:
    """Draw a table of shares as squares, from paper to full colour, each with its number."""
    count = len(called)
    wide, tall = 2.9 + max(side * count, 2.6), 1.6 + max(side * count * 0.9, 1.4)
    axes = style.axes_of(axes, figure, width=wide, height=tall)
    colours = require("matplotlib.colors", extra="plots", source="a figure")
    patches = require("matplotlib.patches", extra="plots", source="a figure")
    ink = style.tone(axes)
    shades = colours.LinearSegmentedColormap.from_list("plausibly", [ink.paper, hue])
    shades = shades.with_extremes(bad=ink.grid)
    axes.imshow(np.ma.masked_invalid(values / full), cmap=shades, vmin=0, vmax=1, aspect="auto")
    written = texts or [[_hundredths(value) for value in row] for row in values.tolist()]
    size = 9 if count <= 8 else 7 if count <= MOST else 5
    centred = {"ha": "center", "va": "center", "fontsize": size}
    for i, row in enumerate(written):
        for j, text in enumerate(row):
            dark = style.luminance(*shades(values[i, j] / full)[:3]) < _DARK
            axes.text(j, i, text, color="white" if dark else INK, **centred)
    beside, below = style.shown_names(called), style.shown_names(called, width=16)
    letters = max(len(line) for name in below for line in name.split("\n"))
    if letters * count > _LETTERS * wide:
        # Names on their sides would leave the squares no height.
        below = [str(place + 1) for place in range(count)]
        beside = [f"{name}  {place + 1}" for place, name in enumerate(beside)]
        x = f"{x} (numbered as the rows)"
    axes.set_yticks(range(count), beside, parse_math=False)
    axes.set_xticks(range(count), below, parse_math=False)
    axes.tick_params(length=0)
    axes.set(xlabel=x, ylabel=y)
    axes.spines[:].set_visible(False)
    frame = {"fill": False, "edgecolor": ink.ink, "linewidth": 1.2, "clip_on": False}
    for place in range(count):  # of the diagonal
        axes.add_patch(patches.Rectangle((place - 0.5, place - 0.5), 1, 1, **frame))
    return axes


def _hundredths(value: float) -> str:
    """Return a share in whole hundredths: nothing for none, a dot for less than one half."""
    if np.isnan(value) or value == 0:
        return ""
    return "·" if value < 0.005 else f"{100 * value:.0f}"


MOST_ANNOTATORS = 20
_NO_AGREEMENT = {"entropy", "tied"}
_PLAIN = Look(colour=BLUE)
_CHANCE = Look(colour=PURPLE, marker="s")
_LOW = Look(colour=VERMILION, marker="D")


def agreement(result: xr.Dataset, *, axes: Axes | None = None) -> Axes:
    """Draw how much annotators agree, by every measure that fits their answers.

    A row per measure with its interval; squares are corrected for chance, where 0 is agreement by
    chance. Measures without a value are left out, as are entropy and ties.

    Parameters
    ----------
    result : Dataset
        From `plausibly.agreement`.
    axes : as for `coverage`

    Examples
    --------
    >>> axes = plots.agreement(plausibly.agreement(annotations))
    """
    result = data_of(result)
    reading.check(result, "agreement")
    titles = measure_titles(str(result.attrs["kind"]))
    rows = []
    for measure in each(result, "measure"):
        name = str(measure["measure"].item())
        mean, low, high = (float(measure[end]) for end in ("value", "low", "high"))
        if name not in _NO_AGREEMENT and name in titles and not np.isnan(mean):
            look = _CHANCE if "krippendorff" in name or "kappa" in name else _PLAIN
            rows.append(Dot(name=titles[name], mean=mean, low=low, high=high, look=look))
    axes = style.draw_rows(axes, "agreement", rows, "agreement (1: all agree)")
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, -0.02), high)
    axes.axvline(0, color=style.tone(axes).muted, linewidth=1, zorder=1)
    on = reading.on_what(result, examples=int(result.attrs["examples"]), lines="")
    per_cent = reading.per_cent(result.attrs["confidence"])
    style.heading(
        axes,
        "How much annotators agree",
        f"{on}, {counted(int(result.attrs['answers']))} answers",
        f"lines: {per_cent} intervals" if result.attrs["resamples"] else "",
        "squares: corrected for chance" if any(row.look is _CHANCE for row in rows) else "",
    )
    return axes


def annotators(
    result: xr.Dataset, *, most: int = MOST_ANNOTATORS, axes: Axes | None = None
) -> Axes:
    """Draw the agreement or reliability of each annotator, the lowest first.

    A row per annotator, with the number of answers. `result` is from `plausibly.agreement`:
    agreement with others, beside the agreement of the others on the same examples. From
    `plausibly.reliability`: the estimated share of correct answers.

    Parameters
    ----------
    most : int
        Number of annotators shown: those that agree least compared with the others, or are least
        reliable. The figure states how many there are.

    Examples
    --------
    >>> axes = plots.annotators(plausibly.agreement(annotations), most=5)
    """
    result = data_of(result)
    if reading.check(result, "annotators") == "reliability":
        return _worth(result, most, axes)
    own = result["annotator_agreement"].values.astype(np.float64)
    others = result["annotator_others"].values.astype(np.float64)
    low = result["annotator_low"].values
    there = len(own)
    order = np.lexsort((own, own - others))[:most]
    rows = []
    for place in order:
        name, mean = str(result[names.ANNOTATOR].values[place]), float(own[place])
        note = several(int(result["annotator_answers"][place]), "answer")
        look, note = (_LOW, f"{note}, low") if low[place] else (_PLAIN, note)
        rows.append(Dot(name=name, mean=mean, look=look, note=note))
    x = f"agreement with others ({result.attrs['likeness']})"
    axes = style.draw_rows(axes, "annotators", rows, x)
    for row, ends in enumerate(zip(own[order], others[order], strict=True)):
        if np.isfinite(ends).all():
            axes.plot(ends, [row, row], color=GREY, linewidth=1, zorder=1)
            axes.plot(ends[1:], [row], marker="|", markersize=12, color=style.tone(axes).ink)
    axes.autoscale(axis="x")
    axes.set_xlim(right=1.03)
    style.heading(
        axes,
        "How each annotator agrees with the others",
        "" if len(rows) < there else several(there, "annotator"),
        "bar: agreement of the others on the same examples",
        "diamonds: clearly less than the others" if low[order].any() else "",
        reading.some_of(len(rows), there, "annotator", "the lowest"),
        "" if there else "no annotator is known",
    )
    return axes


def _worth(result: xr.Dataset, most: int, axes: Axes | None) -> Axes:
    weight, there = result[names.WEIGHT].values.astype(np.float64), result.sizes[names.ANNOTATOR]
    # The order of the printed table: NaN last, ties by name.
    order = np.lexsort((result[names.ANNOTATOR].values.astype(np.str_), weight))[:most]
    rows = []
    for annotator in each(result.isel({names.ANNOTATOR: order}), names.ANNOTATOR):
        remark = str(annotator[NOTE].item()) if NOTE in annotator else ""
        name, mean = str(annotator[names.ANNOTATOR].item()), float(annotator[names.WEIGHT])
        note = f"{float(annotator[RESPONSES]):,.0f} responses"
        if remark:
            note += f"; {style.shown_name(remark, width=34, lines=1)}"
        look = _LOW if remark else _PLAIN
        rows.append(Dot(name=name, mean=mean, low=0.0, high=mean, look=look, note=note))
    axes = style.draw_rows(axes, "annotators", rows, "estimated share of correct answers")
    axes.set_xlim(0, 1.02 * float(np.nanmax(weight, initial=1.0)))
    style.heading(
        axes,
        "Reliability of each annotator",
        "" if len(order) < there else several(there, "annotator"),
        f"by {result.attrs['aggregator']}" if "aggregator" in result.attrs else "",
        "diamonds: see the note" if any(row.look is _LOW for row in rows) else "",
        reading.some_of(len(order), there, "annotator", "the least reliable"),
    )
    return axes
