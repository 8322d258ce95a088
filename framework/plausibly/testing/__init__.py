"""The author's kit: the rules of each kind of component, and what tries a component on them.

One line in a test of your own::

    from plausibly.testing import check_aggregator

    def test_it_keeps_the_rules() -> None:
        check_aggregator(PlackettLuce(rounds=5))

Each kind has a list of named rules (`rules`), which are tried on small made-up data, the same in
every run. A rule that a component breaks on purpose is named, with the reason:
``expected_failures={"lazy-stays-lazy": "the sampler is compiled for plain arrays"}``. An
expected failure that passes fails, and so does one that names no rule.

Neither pytest nor hypothesis is needed, nor imported, by this module; `plausibly.testing.pytest`
and `plausibly.testing.strategies` need the extra ``testing``, and so does the rule that lazy tables
stay lazy, which is not run without Dask.
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
