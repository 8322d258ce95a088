"""Demos that ran once for all tests of a process: few splits, the real data."""

from __future__ import annotations

import math
import warnings
from functools import cache

from plausibly.demo import study, subjects
from plausibly.errors import PlausiblyWarning

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
    """Return the table of the README: coverage, set size and guarantee of three calibrations."""
    lines = [
        "90% sets calibrated on         all answers  majority vote   labels  guarantee",
        "                                   covered        covered  per set",
    ]
    for title, method in (
        ("all answers (expected)", study.EXPECTED),
        ("10 drawn answers (monte-carlo)", "monte-carlo, average"),
        ("majority vote (voted)", study.VOTED),
    ):
        one = study.figures(found.study, method)
        level = "none" if math.isnan(one["guaranteed_level"]) else f"{one['guaranteed_level']:.2f}"
        lines.append(
            f"{title:<31}{one['aggregated_coverage']:>11.3f}{one['voted_coverage']:>15.3f}"
            f"{one['set_size']:>9.2f}{level:>11}"
        )
    return "\n".join(lines)
