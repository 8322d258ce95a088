"""Sections 2, 3 and 5 of a report, and the cases that surprise: figures with their sentences."""

from __future__ import annotations

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import counted
from plausibly.evaluation.describe import decimal
from plausibly.evaluation.evaluate import AMBIGUITY
from plausibly.evaluation.intervals import SET_SIZE
from plausibly.evaluation.results import DRAWS, METHOD, SIZE
from plausibly.guarantee import Guarantee
from plausibly.report.measuring import Measured
from plausibly.report.numbers import about_percent, interval, measured
from plausibly.report.subject import Subject
from plausibly.report.views import (
    Interval,
    Part,
    Realised,
    SizeBar,
    Sizes,
    Splits,
    Vote,
    Weak,
)

AGGREGATED = "aggregated_coverage"
PLACES = 200
"""Points of a curve over all examples."""

MOST_PARTS = 60
"""Groups that are shown: those that are covered least."""

_SAME = 0.005  # of coverage: what rounds to no opinion in a hundred


def level_of(promise: Guarantee) -> float | None:
    """Return what is promised of what experts say, None where nothing is."""
    if promise.level is None or promise.target != "aggregated":
        return None
    return float(promise.level)


def vote(subject: Subject, found: Measured, voted: Measured | None) -> Vote:
    """Return section 2 at one alpha.

    Parameters
    ----------
    subject : Subject
    found : Measured
        Of these sets.
    voted : Measured or None
        Of sets that were calibrated on votes; None where there are none, or these are.
    """
    evaluation = found.evaluation
    aggregated, size = interval(evaluation, AGGREGATED), interval(evaluation, SET_SIZE)
    votes = tuple(
        (policy, interval(result, "voted_coverage")) for policy, result in found.votes.items()
    )
    true = interval(evaluation, "true_coverage") if "true_coverage_mean" in evaluation else None
    if voted is None:
        sentence = (
            f"These sets hold {measured(aggregated)} of what {subject.words.annotators} say, and "
            f"{measured(votes[0][1])} of their votes."
        )
    else:
        sentence = _beside(subject, evaluation, voted.evaluation)
    return Vote(
        sentence=sentence,
        aggregated=aggregated,
        voted=votes,
        true=true,
        size=size,
        share_empty=float(evaluation["share_empty"]),
        share_single=float(evaluation["share_singleton"]),
    )


def _beside(subject: Subject, these: xr.Dataset, voted: xr.Dataset) -> str:
    """Return what calibrating on votes would change."""
    more = float(these[f"{AGGREGATED}_mean"]) - float(voted[f"{AGGREGATED}_mean"])
    labels = float(these[f"{SET_SIZE}_mean"]) - float(voted[f"{SET_SIZE}_mean"])
    size = f"{abs(labels):.1f} labels {'fewer' if labels > 0 else 'more'} in a set"
    if abs(labels) < _SAME * 10:
        size = "sets of the same size"
    if abs(more) < _SAME:
        return f"Calibrating on the majority vote would cover as many opinions here, with {size}."
    number = f"{round(100 * abs(more))} more of every 100 opinions"
    if more > 0:
        return f"Calibrating on the majority vote would leave out {number}, with {size}."
    return f"Calibrating on the majority vote would cover {number}, with {size}."


def realised(subject: Subject, found: Measured) -> Realised:
    """Return coverage of single examples in ascending order, at one alpha."""
    curve = found.realised
    n = curve.sizes["share"]
    places = np.unique(np.linspace(0, n - 1, min(n, PLACES)).round().astype(np.int64))
    covered = curve[AGGREGATED].values
    whole = float((covered > 1 - 1e-9).mean())
    half = float((covered < 0.5 - 1e-9).mean())
    words = subject.words
    little = "none holds" if not half else f"{about_percent(half)} hold"
    return Realised(
        sentence=f"{about_percent(whole).capitalize()} of the sets hold all that "
        f"{words.annotators} said of their {words.example}; {little} less than half of it.",
        share=_floats(curve["share"].values[places]),
        aggregated=_floats(covered[places]),
        voted=_floats(curve["voted_coverage"].values[places]),
        largest=_floats(curve["largest_plausibility"].values[places]),
    )


def weak(
    subject: Subject,
    found: Measured,
    promise: Guarantee,
    wheres: dict[str, tuple[tuple[int, int], ...]],
) -> Weak:
    """Return section 3 at one alpha.

    Parameters
    ----------
    subject : Subject
    found : Measured
    promise : Guarantee
    wheres : mapping
        From `plausibly.report.measuring.wheres`.
    """
    level = level_of(promise)
    strata = _strata(found.evaluation, level)
    groups: list[Part] = []
    note, nothing = "", found.no_groups
    if found.groups is not None:
        groups = _groups(found.groups, level, wheres)
        compared = int(found.groups.attrs["compared"])
        note = f"Intervals of groups hold for all {counted(compared)} together"
        left = int(found.groups.attrs["left_out_subgroups"])
        if left:
            few = f"{several(left, 'group')} of fewer than {found.groups.attrs['at_least']}"
            note += f"; {few} {'is' if left == 1 else 'are'} left out"
        if len(groups) > MOST_PARTS:
            note += f"; the {MOST_PARTS} that are covered least are shown"
            groups = groups[:MOST_PARTS]
        note += ". Those of strata hold for each alone."
    return Weak(
        sentence=_weak_sentence(subject, strata, groups, level),
        level=level,
        parts=(*strata, *groups),
        note=note,
        nothing=nothing,
    )


def _strata(evaluation: xr.Dataset, level: float | None) -> list[Part]:
    parts = []
    for place in range(evaluation.sizes[AMBIGUITY]):
        one = evaluation.isel({AMBIGUITY: place})
        if not int(one["stratum_n"]):
            continue
        covered = interval(one, f"stratum_{AGGREGATED}")
        parts.append(
            Part(
                kind="ambiguity",
                title=f"largest plausibility {one[AMBIGUITY].item()}",
                n=int(one["stratum_n"]),
                covered=covered,
                size=interval(one, f"stratum_{SET_SIZE}"),
                clear=_clear(covered, level),
                stratum=place,
            )
        )
    return parts


def _groups(
    found: xr.Dataset, level: float | None, wheres: dict[str, tuple[tuple[int, int], ...]]
) -> list[Part]:
    parts = []
    for place in range(found.sizes["subgroup"]):
        one = found.isel(subgroup=place)
        title = str(one["subgroup"].item())
        covered = interval(one, AGGREGATED)
        parts.append(
            Part(
                kind="group" if int(one["depth"]) == 1 else "crossed",
                title=title,
                n=int(one["count"]),
                covered=covered,
                size=interval(one, SET_SIZE),
                clear=_clear(covered, level),
                where=wheres[title],
            )
        )
    return sorted(parts, key=lambda part: (part.kind != "group", part.covered.high or 0.0))


def _clear(covered: Interval, level: float | None) -> bool:
    return level is not None and covered.high is not None and covered.high < level - 1e-9


def _weak_sentence(
    subject: Subject, strata: list[Part], groups: list[Part], level: float | None
) -> str:
    words = subject.words
    every = [part for part in (*strata, *groups) if part.covered.mean is not None]
    if not every:
        return f"There is no {words.example} to look at."
    weakest = min(every, key=lambda part: part.covered.mean or 0.0)
    if level is None:
        return (
            f"Nothing is promised of what {words.annotators} say; least is covered of one part, "
            f"{weakest.title}: {measured(weakest.covered)}."
        )
    clear = [part for part in groups if part.clear]
    promised = f"the average {words.example} is promised"
    if clear:
        named = f"{clear[0].title}, {decimal(clear[0].covered.mean or 0.0)}"
        if len(clear) > 1:
            named = f"most of all {named}"
        return (
            f"In {counted(len(clear))} of {several(len(groups), 'group')} the sets cover clearly "
            f"less than {promised}: {named}."
        )
    start = ""
    if groups:
        low = groups[0]
        start = (
            f"No group is covered clearly less than {promised} ({counted(len(groups))} compared; "
            f"least: {low.title}, {measured(low.covered)}). "
        )
    split = next((part for part in strata if part.clear), None)
    if split is not None:
        return (
            f"{start}Where {words.annotators} split most ({split.title}), the sets cover "
            f"{measured(split.covered)}; that is not known of a new {words.example} beforehand."
        )
    return start or f"However much {words.annotators} split, the sets cover about what {promised}."


def sizes(subject: Subject, found: Measured) -> Sizes:
    """Return section 5 at one alpha."""
    table = found.sizes
    bars = [
        SizeBar(
            low=int(one["size_from"]),
            high=int(one["size_to"]),
            count=int(one["count"]),
            covered=interval(one, AGGREGATED),
        )
        for one in (table.isel(size=place) for place in range(table.sizes["size"]))
    ]
    each = np.sort(found.evaluation[SET_SIZE].values)
    return Sizes(
        sentence=_size_sentence(each, len(subject.predictions[names.LABEL])), bars=tuple(bars)
    )


def _size_sentence(each: np.ndarray, labels: int) -> str:
    n = len(each)
    if each[0] == labels:
        return f"Every set is every label, all {counted(labels)} of them: they say nothing."
    empty = int((each == 0).sum())
    none = "none is empty" if not empty else f"{about_percent(empty / n)} are empty"
    if each[0] == each[-1]:
        return f"Every set has {several(int(each[0]), 'label')} of {counted(labels)}."
    middle, large = int(each[(n - 1) // 2]), int(each[min(n - 1, int(0.95 * n))])
    text = f"Half of the sets have at most {several(middle, 'label')} of {counted(labels)}"
    if large > middle:
        share = float((each >= large).mean())
        more = "all of them" if large == labels else f"{counted(large)} or more"
        text += f"; {about_percent(share)} have {more}"
    return f"{text}; {none}."


def splits(subject: Subject, method: str, place: int) -> Splits | None:
    """Return what repeated splits covered, with the most draws and the most examples."""
    compared = subject.compared
    if compared is None or method not in compared[METHOD].values:
        return None
    one = compared["aggregated_coverage"].sel({METHOD: method}).isel({names.ALPHA: place})
    for dim in (DRAWS, SIZE):
        if dim in one.dims:
            one = one.isel({dim: int(np.argmax(one[dim].values))})
    values = one.values
    mean = float(values.mean())
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    text = f"Over {several(len(values), 'random split')} the sets cover {decimal(mean)} on average"
    if spread is not None:
        text += (
            f", with a spread of {decimal(spread)}, from {decimal(float(values.min()))} to "
            f"{decimal(float(values.max()))}; that is how much one calibration differs from another"
        )
    return Splits(sentence=f"{text}.", aggregated=_floats(values), mean=mean, spread=spread)


def _floats(values: np.ndarray) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
