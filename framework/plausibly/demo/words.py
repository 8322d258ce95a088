"""What a demo's figures mean, in words; every number in them is computed."""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.demo.study import ALPHA, DRAWS, EXPECTED, VOTED, Result
from plausibly.demo.subjects import Subject, percent
from plausibly.errors import counted
from plausibly.evaluation.describe import decimal
from plausibly.evaluation.study import METHOD, SPLIT


@attrs.frozen(kw_only=True)
class Figures:
    """Means over the splits of one method.

    Attributes
    ----------
    aggregated, voted : float
        Coverage of the plausibilities, and of the voted label.
    true : float
        Coverage of the known label, NaN where there is none.
    size : float
        Labels in a prediction set.
    level : float
        What is guaranteed of the aggregated coverage, NaN for nothing.
    """

    aggregated: float
    voted: float
    true: float
    size: float
    level: float


def figures(study: xr.Dataset, method: str) -> Figures:
    """Return the means over splits of a method, at the demo's alpha."""
    one = study.sel({METHOD: method}).isel({names.ALPHA: 0})
    means = {
        short: float(one[name].mean(SPLIT)) if name in one else float("nan")
        for short, name in (
            ("aggregated", "aggregated_coverage"),
            ("voted", "voted_coverage"),
            ("true", "true_coverage"),
            ("size", "set_size"),
        )
    }
    return Figures(**means, level=float(one["guaranteed_level"]))


def design(subject: Subject, splits: int, seed: int) -> str:
    """Return what is done, before it is done."""
    halves = f"{counted(splits)} random {'half' if splits == 1 else 'halves'}"
    by = "" if subject.group is None else f" by {subject.group}"
    return f"{subject.fitted}; {halves}{by}, alpha {ALPHA}, {DRAWS} draws, seed {seed}"


def meaning(result: Result) -> list[str]:
    """Return the paragraphs below the table: what it says, and under which condition."""
    nouns = result.subject.nouns
    voted, expected = (figures(result.study, name) for name in (VOTED, EXPECTED))
    told = (
        f"Calibrated on votes, {_sets()} miss {percent(1 - voted.aggregated)} of {nouns.said}; on "
        f"{nouns.everything} they miss {percent(1 - expected.aggregated)}, "
        f"{_labels_more(expected.size - voted.size)} a {nouns.example}."
    )
    if not np.isnan(voted.true):
        told += (
            f" Of the true labels, which real data hide, they miss {percent(1 - voted.true)} and "
            f"{percent(1 - expected.true)}."
        )
    return [
        f"Aggregated coverage: the share of {nouns.share} that its set contains.",
        f"{told} Start with {EXPECTED.partition(' ')[0]}.",
        f"Guaranteed: on average over new {nouns.examples}, if {nouns.examples} are exchangeable. "
        f"{_condition(result)}",
    ]


def readme_table(result: Result) -> str:
    """Return the short table of the README, with its last line: what is guaranteed, and if what."""
    about = f"{_sets()} for {counted(len(result.subject))} {result.subject.nouns.examples}"
    lines = [f"{about:<32}{'covers ratings':<17}{'labels a set':<16}guaranteed"]
    for title, method in (("votes", VOTED), (result.subject.nouns.everything, EXPECTED)):
        found = figures(result.study, method)
        level = "nothing" if np.isnan(found.level) else percent(found.level)
        covered, size = percent(found.aggregated), f"{found.size:.1f}"
        lines.append(f"{f'calibrated on {title}':<37}{covered:<17}{size:<12}{level}")
    lines.append(
        "guaranteed: on average over new cases, if they are exchangeable with the calibration cases"
    )
    return "\n".join(lines)


def _condition(result: Result) -> str:
    """Return how well the data keep to the condition of the guarantee."""
    subject = result.subject
    groups, nouns = subject.groups, subject.nouns
    if groups is None or result.alone is None:
        return f"Here they are: {nouns.examples} are drawn independently."
    sizes = np.unique(groups, return_counts=True)[1]
    alone = figures(result.alone, EXPECTED)
    return (
        f"{counted(int((sizes > 1).sum()))} of {counted(len(sizes))} {subject.group}s have "
        f"several, which may be alike: no {subject.group} is on two sides, and with one "
        f"{nouns.example} a {subject.group} {EXPECTED.partition(' ')[0]} covers "
        f"{decimal(alone.aggregated)}. The promise is for the models of the folds: one refitted to "
        f"all {nouns.examples} is another, to be calibrated on {nouns.examples} that it has not "
        "seen."
    )


def _sets() -> str:
    """Return what the sets are called after their alpha: ``90 % sets``."""
    return f"{percent(1 - float(ALPHA))} sets"


def _labels_more(difference: float) -> str:
    """Return how much larger sets are, in words."""
    text = f"{abs(difference):.1f}"
    if float(text) == 0:
        return "for as many labels"
    return f"for {text} {'more' if difference > 0 else 'fewer'} labels"
