"""Demos that ran once for all tests of a process: few splits, the real data."""

from __future__ import annotations

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
        return study.run(subject(name), splits=splits, seed=SEED, methods=study.EVERY)
