"""One check a kind: find data for the component, and run the rules of the kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from plausibly.data.records import Record
from plausibly.errors import InputError
from plausibly.protocols import (
    KINDS,
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
from plausibly.testing.rules import Report, Rule, RuleSet

Expected = Mapping[str, str]
"""Rules that a component breaks on purpose, each with the reason."""

_RULE_SETS: dict[str, RuleSet[Any, Any]] = {  # Any: each has its own types
    module.RULES.kind.name: module.RULES
    for module in (annotations_, readers, aggregators, scores, calibrators, combiners)
}


def rules_of(kind: Kind[Any] | str) -> RuleSet[Any, Any]:  # Any: each kind has its own Protocol
    name = kind if isinstance(kind, str) else kind.name
    if name not in _RULE_SETS:
        raise InputError(
            "kind-unknown",
            f'the author\'s kit has no rules for the kind "{name}"',
            expected=" | ".join(_RULE_SETS),
            hint=f'plausibly.testing.check("{KINDS[2].name}", component)',
            source="kind",
        )
    return _RULE_SETS[name]


def rules(kind: Kind[Any] | str) -> tuple[Rule, ...]:
    """Return the rules of a kind, in the order in which they are run.

    Parameters
    ----------
    kind : Kind or str
        Such as ``AGGREGATOR`` or ``"aggregator"``.
    """
    return tuple(rules_of(kind).rules)


def check(
    kind: Kind[Any] | str,
    component: object,
    /,
    *,
    expected_failures: Expected | None = None,
    **data: object,
) -> Report:
    """Run the rules of a kind; those that need missing data are reported as not run.

    Parameters
    ----------
    kind : Kind or str
        What the component is.
    component : object
        The component itself, not its name.
    expected_failures : mapping of str to str, optional
        Rules that it breaks on purpose, each with the reason.
    **data
        What the check of the kind takes: ``records=``, ``labels=``, ``path=``, ``kind=``,
        ``annotations=``.

    Returns
    -------
    Report
        ``str(report)`` is such as ``22 of 23 rules hold, 1 expected failure``.

    Raises
    ------
    AssertionError
        One with a table of rule, state and what happened, where any rule fails.
    InputError
        ``kind-unknown``, or ``kit-options`` for data that the kind does not take.
    """
    return rules_of(kind).check(component, expected_failures, insist=False, **data)


def check_annotation(
    annotation: Annotation,
    *,
    records: Iterable[Record] | None = None,
    labels: Sequence[str] | None = None,
    expected_failures: Expected | None = None,
) -> Report:
    """Check that a kind of annotation keeps its rules.

    Parameters
    ----------
    annotation : Annotation
        The kind.
    records : iterable of (example, annotator, answer), optional
        A dozen responses to try it on: about two examples or more, with gaps and disagreement.
        None takes what its method ``example()`` gives, records and labels; the kinds that come with
        plausibly have made-up ones.
    labels : sequence of str, optional
        The labels that the records declare; None takes those that are seen.
    expected_failures
        As for `check`, and so is what it returns and raises.

    Raises
    ------
    InputError
        ``kit-data-missing`` where there are no records.
    """
    return annotations_.RULES.check(annotation, expected_failures, records=records, labels=labels)


def check_reader(
    reader: Reader,
    *,
    path: Path | str,
    kind: str | None = None,
    labels: Sequence[str] | None = None,
    expected_failures: Expected | None = None,
) -> Report:
    """Check that a reader keeps its rules.

    Parameters
    ----------
    reader : Reader
        The reader, with its options.
    path : Path or str
        A small file of its syntax; copies of it are cut and damaged, itself it is only read.
    kind : str, optional
        The kind of annotation that is in the file.
    labels : sequence of str, optional
        Declared labels, where the file needs them.
    expected_failures
        As for `check`, and so is what it returns and raises.

    Raises
    ------
    InputError
        ``kit-data-missing`` where the file is not there.
    """
    return readers.RULES.check(reader, expected_failures, path=path, kind=kind, labels=labels)


def check_aggregator(
    aggregator: Aggregator,
    *,
    annotations: xr.Dataset | Iterable[xr.Dataset] | None = None,
    expected_failures: Expected | None = None,
) -> Report:
    """Check that an aggregator keeps its rules.

    Parameters
    ----------
    aggregator : Aggregator
        The aggregator, with its parameters.
    annotations : Dataset or iterable of Dataset, optional
        One small table of each kind that it accepts and that does not come with plausibly; every
        example answered. A registered kind with a method ``example()`` needs none.
    expected_failures
        As for `check`, and so is what it returns and raises.

    Raises
    ------
    InputError
        ``kit-data-missing`` where there is no table of a kind that it accepts.
    """
    return aggregators.RULES.check(aggregator, expected_failures, annotations=annotations)


def check_score_function(
    score: ScoreFunction, *, expected_failures: Expected | None = None
) -> Report:
    """Check that a score function keeps its rules.

    Parameters
    ----------
    score : ScoreFunction
        The score function, with its parameters.
    expected_failures
        As for `check`, and so is what it returns and raises.
    """
    return scores.RULES.check(score, expected_failures)


def check_calibrator(
    calibrator: Calibrator, *, expected_failures: Expected | None = None
) -> Report:
    """Check that a calibrator keeps its rules, and that what it claims holds in simulation.

    Parameters
    ----------
    calibrator : Calibrator
        The calibrator, with its parameters.
    expected_failures
        As for `check`, and so is what it returns and raises.
    """
    return calibrators.RULES.check(calibrator, expected_failures)


def check_p_value_combiner(
    combiner: PValueCombiner, *, expected_failures: Expected | None = None
) -> Report:
    """Check that a combiner keeps its rules, and its guarantee on simulated nulls.

    Parameters
    ----------
    combiner : PValueCombiner
        The combiner, with its parameters.
    expected_failures
        As for `check`, and so is what it returns and raises.
    """
    return combiners.RULES.check(combiner, expected_failures)
