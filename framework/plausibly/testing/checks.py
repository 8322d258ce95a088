"""One check a kind: find data for the component, and run the rules of the kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs
import xarray as xr

from plausibly.errors import InputError, listed
from plausibly.protocols import (
    KINDS,
    Aggregator,
    Annotation,
    Calibrator,
    Kind,
    PValueCombiner,
    Reader,
    Record,
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
from plausibly.testing.rules import NoData, Report, Result, Rule, RuleBook

P = TypeVar("P")
W = TypeVar("W")

Expected = Mapping[str, str]
"""Rules that a component breaks on purpose, each with the reason."""


@attrs.frozen
class _Desk:
    """The rules of a kind, and the function that finds data for a component of it."""

    book: RuleBook[Any, Any]  # Any: each desk has its own types
    world_for: Callable[..., Any]  # Any: as above
    options: tuple[str, ...] = ()


_DESKS: dict[str, _Desk] = {
    "annotation": _Desk(annotations_.BOOK, annotations_.world_for, ("records", "labels")),
    "reader": _Desk(readers.BOOK, readers.world_for, ("path", "kind", "labels")),
    "aggregator": _Desk(aggregators.BOOK, aggregators.world_for, ("annotations",)),
    "score": _Desk(scores.BOOK, scores.world_for),
    "calibrator": _Desk(calibrators.BOOK, calibrators.world_for),
    "combiner": _Desk(combiners.BOOK, combiners.world_for),
}


def _desk(kind: Kind[Any] | str) -> _Desk:  # Any: each kind has its own Protocol
    name = kind if isinstance(kind, str) else kind.name
    if name not in _DESKS:
        raise InputError(
            "kind-unknown",
            f'the author\'s kit has no rules for the kind "{name}"',
            expected=" | ".join(_DESKS),
            do=f'plausibly.testing.check("{KINDS[2].name}", component)',
            whose="kind",
        )
    return _DESKS[name]


def rules(kind: Kind[Any] | str) -> tuple[Rule, ...]:
    """Return the rules of a kind, in the order in which they are run.

    Parameters
    ----------
    kind : Kind or str
        Such as ``AGGREGATOR`` or ``"aggregator"``.
    """
    return _desk(kind).book.rules


def unknown(kind: Kind[Any] | str, name: str) -> Result:
    """Return what is said of an expected failure that names no rule of the kind."""
    return _desk(kind).book.unknown(name)


def check(
    kind: Kind[Any] | str,
    component: object,
    /,
    *,
    expected_failures: Expected | None = None,
    **data: object,
) -> Report:
    """Run the rules of a kind; those that need data that nobody gave are reported as not run.

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
    desk = _desk(kind)
    world = _world(desk, component, data)
    return desk.book.run(component, world, expected_failures)


def world_of(kind: Kind[Any] | str, component: object, data: Mapping[str, object]) -> object:
    """Return the data on which a component is tried, or `NoData`."""
    return _world(_desk(kind), component, data)


def _world(desk: _Desk, component: object, data: Mapping[str, object]) -> object:
    unfit = sorted(data.keys() - set(desk.options))
    if unfit:
        takes = ", ".join(f"{name}=" for name in desk.options)
        raise InputError(
            "kit-options",
            f"rules of {desk.book.kind.name} components take no {listed(unfit)}",
            expected=takes or "no data: they are made up",
            do=f"leave {listed(unfit)} out",
            whose="the author's kit",
        )
    return desk.world_for(component, **data)


def _checked(
    book: RuleBook[P, W], component: P, world: W | NoData, expected: Expected | None
) -> Report:
    if isinstance(world, NoData):
        # What is wrong with the component itself comes first: it may be why there are no data.
        book.run(component, world)
        raise InputError(
            "kit-data-missing",
            f"{book.kind.name} {type(component).__name__} cannot be tried: {world.lacks}",
            expected="data on which the rules can be tried",
            do=world.do,
            whose=type(component).__name__,
        )
    return book.run(component, world, expected)


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
    expected_failures : mapping of str to str, optional
        Rules that it breaks on purpose, each with the reason.

    Returns
    -------
    Report

    Raises
    ------
    AssertionError
        One with a table, where any rule fails.
    InputError
        ``kit-data-missing`` where there are no records.
    """
    world = annotations_.world_for(annotation, records, labels)
    return _checked(annotations_.BOOK, annotation, world, expected_failures)


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
    expected_failures : mapping of str to str, optional
        Rules that it breaks on purpose, each with the reason.

    Returns
    -------
    Report

    Raises
    ------
    AssertionError
        One with a table, where any rule fails.
    InputError
        ``kit-data-missing`` where the file is not there.
    """
    world = readers.world_for(reader, path, kind, labels)
    return _checked(readers.BOOK, reader, world, expected_failures)


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
    expected_failures : mapping of str to str, optional
        Rules that it breaks on purpose, each with the reason.

    Returns
    -------
    Report

    Raises
    ------
    AssertionError
        One with a table, where any rule fails.
    InputError
        ``kit-data-missing`` where there is no table of a kind that it accepts.
    """
    world = aggregators.world_for(aggregator, annotations)
    return _checked(aggregators.BOOK, aggregator, world, expected_failures)


def check_score_function(
    score: ScoreFunction, *, expected_failures: Expected | None = None
) -> Report:
    """Check that a score function keeps its rules.

    Parameters
    ----------
    score : ScoreFunction
        The score function, with its parameters.
    expected_failures : mapping of str to str, optional
        Rules that it breaks on purpose, each with the reason.

    Returns
    -------
    Report

    Raises
    ------
    AssertionError
        One with a table, where any rule fails.
    """
    return _checked(scores.BOOK, score, scores.world_for(score), expected_failures)


def check_calibrator(
    calibrator: Calibrator, *, expected_failures: Expected | None = None
) -> Report:
    """Check that a calibrator keeps its rules, and that what it claims holds in simulation.

    Parameters
    ----------
    calibrator : Calibrator
        The calibrator, with its parameters.
    expected_failures : mapping of str to str, optional
        Rules that it breaks on purpose, each with the reason.

    Returns
    -------
    Report

    Raises
    ------
    AssertionError
        One with a table, where any rule fails.
    """
    return _checked(
        calibrators.BOOK, calibrator, calibrators.world_for(calibrator), expected_failures
    )


def check_p_value_combiner(
    combiner: PValueCombiner, *, expected_failures: Expected | None = None
) -> Report:
    """Check that a combiner keeps its rules, and its promise on simulated nulls.

    Parameters
    ----------
    combiner : PValueCombiner
        The combiner, with its parameters.
    expected_failures : mapping of str to str, optional
        Rules that it breaks on purpose, each with the reason.

    Returns
    -------
    Report

    Raises
    ------
    AssertionError
        One with a table, where any rule fails.
    """
    return _checked(combiners.BOOK, combiner, combiners.world_for(combiner), expected_failures)
