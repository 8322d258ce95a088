"""Demos that ran once for all tests of a process: few splits, the real data."""

from __future__ import annotations

import math
import warnings
from functools import cache

from plausibly.demo import study, subjects
from plausibly.errors import PlausiblyWarning, counted
from plausibly.evaluation.result import percent

SEED = 1


@cache
def subject(name: subjects.Name) -> subjects.Subject:
    """Return the data of a demo."""
    return subjects.load(name, SEED)


@cache
def result(name: subjects.Name, splits: int = 3) -> study.Result:
    """Return a demo that has run, without what it warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        return study.run(subject(name), splits=splits, seed=SEED)


def readme_table(found: study.Result) -> str:
    """Return the short table of the README, with its last line: what is guaranteed, and if what."""
    nouns = found.subject.nouns
    about = f"90% sets for {counted(len(found.subject))} {nouns.examples}"
    lines = [f"{about:<32}{'covers ratings':<17}{'labels a set':<16}guaranteed"]
    for title, method in (("votes", study.VOTED), (nouns.everything, study.EXPECTED)):
        one = study.figures(found.study, method)
        guaranteed = one["guaranteed_level"]
        level = "nothing" if math.isnan(guaranteed) else percent(guaranteed)
        covered, size = percent(one["aggregated_coverage"]), f"{one['set_size']:.1f}"
        lines.append(f"{f'calibrated on {title}':<37}{covered:<17}{size:<12}{level}")
    lines.append(
        "guaranteed: on average over new cases, if they are exchangeable with the calibration cases"
    )
    return "\n".join(lines)
