"""The author's kit: the rules of each kind of component, and what tries a component on them.

One line in a test of your own::

    from plausibly.testing import check_aggregator

    def test_it_keeps_the_rules() -> None:
        check_aggregator(PlackettLuce(rounds=5))

Each kind has a list of named rules (`rules`), which are tried on small made-up data, the same in
every run. A rule that a component breaks on purpose is named, with the reason:
``expected_failures={"one-label": "the sampler needs two"}``.

Only `plausibly.testing.pytest` and `plausibly.testing.strategies` need the extra ``testing``.
"""

from __future__ import annotations

from plausibly.testing.checks import (
    check,
    check_aggregator,
    check_annotation,
    check_calibrator,
    check_p_value_combiner,
    check_reader,
    check_score_function,
    rules,
)
from plausibly.testing.rules import Report, Result, Rule

__all__ = [
    "Report",
    "Result",
    "Rule",
    "check",
    "check_aggregator",
    "check_annotation",
    "check_calibrator",
    "check_p_value_combiner",
    "check_reader",
    "check_score_function",
    "rules",
]
