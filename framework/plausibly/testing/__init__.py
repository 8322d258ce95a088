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

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from plausibly.data.records import Record
from plausibly.errors import InputError
from plausibly.protocols import (
    Aggregator,
    Annotation,
    Calibrator,
    Kind,
    PValueCombiner,
    Reader,
    ScoreFunction,
)
from plausibly.testing import (
    aggregator as aggregators,
    annotation as annotations_,
    calibrator as calibrators,
    combiner as combiners,
    reader as readers,
    score as scores,
)
from plausibly.testing.rules import Report, Result, Rule, RuleSet

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

Expected = Mapping[str, str]
"""Rules that a component breaks on purpose, each with the reason."""

_RULE_SETS: dict[str, RuleSet[Any, Any]] = {  # Any: each has its own types
    module.RULES.kind.name: module.RULES
    for module in (annotations_, readers, aggregators, scores, calibrators, combiners)
}


def rules_of(kind: Kind[Any] | str) -> RuleSet[Any, Any]:  # Any: each kind has its own Protocol
    """Return the rules of a kind with what runs them."""
    name = kind if isinstance(kind, str) else kind.name
    if name not in _RULE_SETS:
        raise InputError(
            "kind-unknown",
            f'the author\'s kit has no rules for the kind "{name}"',
            expected=" | ".join(_RULE_SETS),
            hint='plausibly.testing.check("aggregator", component)',
            source="kind",
        )
    return _RULE_SETS[name]


def rules(kind: Kind[Any] | str) -> tuple[Rule, ...]:
    """Return the rules of a kind, such as ``"aggregator"``, in the order in which they are run."""
    return tuple(rules_of(kind).rules)


def check(
    kind: Kind[Any] | str,
    component: object,
    /,
    *,
    expected_failures: Expected | None = None,
    **data: object,
) -> Report:
    """Run the rules of a kind on a component; those that need missing data are not run.

    The functions for single kinds, such as `check_aggregator`, do the same and raise
    ``kit-data-missing`` where data are missing.

    Parameters
    ----------
    expected_failures : mapping of str to str, optional
        Rules that it breaks on purpose, each with the reason.
    **data
        Annotation: ``records``, a dozen (example, annotator, answer) about two examples or more,
        and ``labels``, which they declare; by default those of its method ``example()``.
        Reader: ``path``, a small file of its syntax, of which copies are cut and damaged; ``kind``,
        the kind of annotation in it; ``labels``, where the file needs declared ones.
        Aggregator: ``annotations``, a small table of each kind that it accepts and that does not
        come with plausibly, with an answer to every example.

    Returns
    -------
    Report
        ``str(report)`` is such as ``18 of 19 rules hold, expected failure: 1``.

    Raises
    ------
    AssertionError
        One with rule, state and what happened, where any rule fails.
    """
    return rules_of(kind).check(component, expected_failures, insist=False, **data)


def check_annotation(
    annotation: Annotation,
    *,
    records: Iterable[Record] | None = None,
    labels: Sequence[str] | None = None,
    expected_failures: Expected | None = None,
) -> Report:
    """Check that a kind of annotation keeps its rules; see `check`."""
    return annotations_.RULES.check(annotation, expected_failures, records=records, labels=labels)


def check_reader(
    reader: Reader,
    *,
    path: Path | str,
    kind: str | None = None,
    labels: Sequence[str] | None = None,
    expected_failures: Expected | None = None,
) -> Report:
    """Check that a reader keeps its rules; see `check`."""
    return readers.RULES.check(reader, expected_failures, path=path, kind=kind, labels=labels)


def check_aggregator(
    aggregator: Aggregator,
    *,
    annotations: xr.Dataset | Iterable[xr.Dataset] | None = None,
    expected_failures: Expected | None = None,
) -> Report:
    """Check that an aggregator keeps its rules; see `check`."""
    return aggregators.RULES.check(aggregator, expected_failures, annotations=annotations)


def check_score_function(
    score: ScoreFunction, *, expected_failures: Expected | None = None
) -> Report:
    """Check that a score function keeps its rules; see `check`."""
    return scores.RULES.check(score, expected_failures)


def check_calibrator(
    calibrator: Calibrator, *, expected_failures: Expected | None = None
) -> Report:
    """Check that a calibrator keeps its rules, and its claim in simulation; see `check`."""
    return calibrators.RULES.check(calibrator, expected_failures)


def check_p_value_combiner(
    combiner: PValueCombiner, *, expected_failures: Expected | None = None
) -> Report:
    """Check that a combiner keeps its rules, and its guarantee on simulated nulls; see `check`."""
    return combiners.RULES.check(combiner, expected_failures)
