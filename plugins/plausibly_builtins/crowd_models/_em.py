"""Expectation maximisation over the one true label of each example, in logarithms."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import ClassVar, Literal

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import (
    Aggregator,
    InputError,
    Keys,
    Rows,
    answered_rows,
    counted,
    listed,
    names,
    near,
    ordered_sum,
    several,
    warn,
)
from plausibly_builtins.aggregation import by_name, refuse_or_warn

Unknown = Literal["together", "error"]
"""What to do with responses of unknown annotators."""

UNKNOWN = attrs.validators.in_(("together", "error"))

Column = NDArray[np.float64]
Codes = NDArray[np.intp]


def summed(cells: Codes, terms: Column, size: int) -> Column:
    """Return the sum of the terms of each cell, in the order in which they stand."""
    return np.bincount(cells, terms, size).astype(np.float64, copy=False)


def annotators_of(rows: Rows) -> list[str]:
    """Return the names of the annotators of a table."""
    return [str(name) for name in rows.table.indexes[names.ANNOTATOR]]


def known_annotators(rows: Rows, given: Iterable[str], what: str, where: str) -> list[str]:
    """Return the annotators of a table, or raise ``annotators-unknown`` where some are given."""
    known = annotators_of(rows)
    lost = sorted(set(given).difference(known))
    if lost:
        meant = near(lost[0], known)
        raise InputError(
            "annotators-unknown",
            f"{what} {several(len(lost), 'annotator')} whom the table does not know "
            f"({listed(lost)})",
            expected=f"names among {several(len(known), 'annotator')}",
            got=listed(lost),
            do=f"did you mean {meant}?" if meant else f"take them out of {where}",
            whose=f"aggregator {what.split()[0]}",
            details={"annotators": lost},
        )
    return known


@attrs.frozen(kw_only=True, eq=False)
class Cells:
    """Responses that name a label, each (example, annotator, label) once, in the order of names.

    Cells are sorted by example, then annotator, then label, each a place in the order of names;
    `of_example` and the like are these places of all in the table.
    """

    rows: Rows
    labels: int
    annotators: int  # all unknown ones are one more, the last
    example: Codes
    annotator: Codes
    label: Codes
    weight: Column  # how many times it was said, more than 0
    of_example: Codes
    of_label: Codes
    of_annotator: Codes

    @classmethod
    def of(
        cls, annotations: xr.Dataset, accepts: frozenset[str], unknown: Unknown, called: str
    ) -> Cells:
        """Return the cells of an annotation table."""
        rows = answered_rows(annotations, accepts)
        known = rows.table.sizes[names.ANNOTATOR]
        weight = rows.weight[rows.response]
        counts = weight > 0
        of_example, of_annotator, of_label = (
            by_name(rows, dim) for dim in (names.EXAMPLE, names.ANNOTATOR, names.LABEL)
        )
        who = np.append(of_annotator, known)[rows.annotator[rows.response[counts]]]
        _tell_unknown(who == known, rows, unknown, called)
        example = of_example[rows.example[rows.response[counts]]]
        key = (example * (known + 1) + who) * rows.labels + of_label[rows.label[counts]]
        once, cell = np.unique(key, return_inverse=True)
        pair, label = np.divmod(once, max(rows.labels, 1))
        example, annotator = np.divmod(pair, known + 1)
        return cls(
            rows=rows,
            labels=rows.labels,
            annotators=known + 1,
            example=example,
            annotator=annotator,
            label=label,
            weight=ordered_sum(cell, weight[counts], once.size),
            of_example=of_example,
            of_label=of_label,
            of_annotator=of_annotator,
        )

    @property
    def n(self) -> int:
        """Number of examples."""
        return self.rows.n

    def weighted(self, worth: Column) -> Column:
        """Return what was said, by label and example: (label, example)."""
        cell = self.label * self.n + self.example
        terms = self.weight * worth[self.annotator]
        return summed(cell, terms, self.labels * self.n).reshape(self.labels, self.n)

    @cached_property
    def votes(self) -> Column:
        """Total weight by label and example: (label, example)."""
        return self.weighted(np.ones(self.annotators))

    @cached_property
    def shares(self) -> Column:
        """Label frequency: (label, example), columns sum to 1."""
        found: Column = self.votes / self.votes.sum(axis=0)
        return found

    @cached_property
    def responses(self) -> Column:
        """Total weight of the responses of each annotator: (annotator,)."""
        return summed(self.annotator, self.weight, self.annotators)

    def right(self, plausible: Column) -> Column:
        """Return how much of the responses of each annotator is right: (annotator,)."""
        terms = self.weight * plausible[self.label, self.example]
        return summed(self.annotator, terms, self.annotators)

    def as_table(self, values: Column) -> Column:
        """Return (label, example) values in the order of names as (example, label) of the table."""
        found: Column = np.ascontiguousarray(values[self.of_label].T[self.of_example])
        return found

    def reliability(self, weight: Column, **more: xr.Variable) -> xr.Dataset:
        """Return the table of annotators, as `plausibly.reliability` reads it."""
        named = (names.ANNOTATOR, names.LABEL)
        table = xr.Dataset(
            {names.WEIGHT: (names.ANNOTATOR, weight[self.of_annotator]), **more},
            coords={name: self.rows.table.coords[name].variable for name in named},
        )
        if not self.responses[-1]:
            return table
        return table.assign_attrs(unknown_weight=float(weight[-1]))


def _tell_unknown(unknown: NDArray[np.bool_], rows: Rows, policy: Unknown, called: str) -> None:
    number = int(unknown.sum())
    if not number:
        return
    what = f"{counted(number)} of {several(unknown.size, 'response')}"
    without = "plausibly.select(ann, annotator=ann.annotator.values) leaves them out"
    together = f"{called} takes {what} of unknown annotators as one annotator's"
    refuse_or_warn(
        "annotators-anonymous",
        refused=f"annotations: {what} {'is' if number == 1 else 'are'} of unknown annotators",
        do=f'unknown = "together" takes them as one annotator; {without}',
        accepted=together if policy == "together" else None,
        otherwise=f'unknown = "error" refuses them; {without}',
        expected=f"annotators by name: {called} estimates what each is worth",
        got=what + (" without one" if number < unknown.size else ", all without one"),
        whose="annotations",
        details={"responses": number},
    )


_CLOSE = 1e-3  # a tolerance that may be advised


@attrs.frozen(kw_only=True, eq=False)
class Pairs:
    """Which labels each annotator says: the cells without their examples, sorted."""

    cells: Cells
    annotator: Codes
    label: Codes
    pair: Codes  # of each cell

    @classmethod
    def of(cls, cells: Cells) -> Pairs:
        """Return the pairs that occur."""
        key = cells.annotator * cells.labels + cells.label
        once, pair = np.unique(key, return_inverse=True)
        annotator, label = np.divmod(once, max(cells.labels, 1))
        return cls(cells=cells, annotator=annotator, label=label, pair=pair)

    def mass(self, plausible: Column) -> Column:
        """Return how often each pair is said of examples of each label: (label, pair)."""
        cells, size = self.cells, self.label.size
        found = np.empty((cells.labels, size))
        for row, of_label in zip(found, plausible, strict=True):
            row[:] = summed(self.pair, cells.weight * of_label.take(cells.example), size)
        return found

    def evidence(self, log_chance: Column) -> Column:
        """Return what all responses of an example say for each label: (label, example)."""
        cells = self.cells
        found = np.empty((cells.labels, cells.n))
        for row, of_label in zip(found, log_chance, strict=True):
            row[:] = summed(cells.example, cells.weight * of_label.take(self.pair), cells.n)
        return found

    @cached_property
    def diagonal(self) -> Column:
        """1 where the label that is said is the true one, else 0: (label, pair)."""
        true = np.arange(self.cells.labels)[:, None]
        found: Column = (self.label == true).astype(np.float64)
        return found


@attrs.frozen(kw_only=True, eq=False)
class Maximised:
    """Parameters that fit plausibilities best, and the log density of the prior at them."""

    log_prevalence: Column  # (label,)
    log_chance: Column  # (label, pair)
    log_prior: float


@attrs.frozen(kw_only=True, eq=False)
class Fit:
    """Plausibilities (label, example) where the estimate stopped, and how it came there."""

    pairs: Pairs
    plausible: Column
    objective: list[float]  # log-likelihood plus log-prior where each iteration began
    attributes: dict[str, str]


def fit(
    pairs: Pairs,
    maximise: Callable[[Column], Maximised],
    *,
    tolerance: float,
    iterations: int,
    called: str,
) -> Fit:
    """Return the plausibilities that the model gives after going round until they stay."""
    plausible = pairs.cells.shares
    objective: list[float] = []
    change = 0.0 if not plausible.size else np.inf
    while change > tolerance and len(objective) < iterations:
        found = maximise(plausible)
        joint = pairs.evidence(found.log_chance)
        joint += found.log_prevalence[:, None]
        most = joint.max(axis=0)
        joint -= most
        np.exp(joint, out=joint)
        total = joint.sum(axis=0)
        joint /= total
        objective.append(float((most + np.log(total)).sum()) + found.log_prior)
        change = float(np.abs(joint - plausible).max())
        plausible = joint
    facts = {"iterations": len(objective), "change": change, "tolerance": tolerance}
    if change > tolerance:
        enough = 10.0 ** math.ceil(math.log10(change))
        closer = f", or tolerance = {enough:g}" if enough <= _CLOSE else ""
        warn(
            "not-converged",
            f"{called} has not converged: in iteration {counted(len(objective))} a plausibility "
            f"still changes by {change:.2g}",
            expected=f"changes of {tolerance:g} or less",
            do=f"iterations = {iterations * 10}{closer}",
            whose=f"aggregator {called}",
            details=dict(facts),
            stacklevel=4,
        )
    facts["objective"] = objective[-1] if objective else 0.0
    told = {names.CONVERGENCE: json.dumps(facts)}
    return Fit(pairs=pairs, plausible=plausible, objective=objective, attributes=told)


def log_prevalence(plausible: Column, smoothing: float) -> tuple[Column, float]:
    """Return the log share of examples of each label, (label,), and its log prior density."""
    labels, n = plausible.shape
    with np.errstate(divide="ignore"):
        log = np.log(plausible.sum(axis=1) + smoothing) - np.log(n + labels * smoothing)
    return log, smoothing * float(log.sum()) if smoothing else 0.0


class Estimated(Aggregator, ABC):
    """An aggregator that estimates what annotators are worth together with the true labels."""

    __slots__ = ()

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})
    joint: ClassVar[bool] = True
    called: ClassVar[str]

    tolerance: float
    iterations: int
    unknown: Unknown

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        found = self._fitted(annotations)
        cells = found.pairs.cells
        values = cells.as_table(found.plausible)
        return cells.rows.plausibilities(values).assign_attrs(found.attributes)

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset:
        """Return what each annotator is worth."""
        found = self._fitted(annotations)
        return self._judged(found.pairs, found.plausible).assign_attrs(found.attributes)

    def _fitted(self, annotations: xr.Dataset) -> Fit:
        pairs = Pairs.of(Cells.of(annotations, self.accepts, self.unknown, self.called))
        return fit(
            pairs,
            self._maximise(pairs),
            tolerance=self.tolerance,
            iterations=self.iterations,
            called=self.called,
        )

    @abstractmethod
    def _maximise(self, pairs: Pairs) -> Callable[[Column], Maximised]:
        """Return the M-step: from plausibilities (label, example) to what fits them best."""

    @abstractmethod
    def _judged(self, pairs: Pairs, plausible: Column) -> xr.Dataset:
        """Return the table of annotators."""
