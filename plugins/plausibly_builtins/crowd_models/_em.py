"""Expectation maximisation over the one true label of each example, in logarithms."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cached_property
from typing import Literal

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import (
    InputError,
    Rows,
    answered_rows,
    counted,
    names,
    ordered_sum,
    several,
    warn,
)

Unknown = Literal["together", "error"]
"""What to do with responses of unknown annotators."""

UNKNOWN = attrs.validators.in_(("together", "error"))

Column = NDArray[np.float64]
Codes = NDArray[np.intp]


def summed(cells: Codes, terms: Column, size: int) -> Column:
    """Return the sum of the terms of each cell, in the order in which they stand."""
    return np.bincount(cells, terms, size).astype(np.float64, copy=False)


@attrs.frozen(kw_only=True, eq=False)
class Cells:
    """Responses that name a label, each (example, annotator, label) once, in the order of names.

    Attributes
    ----------
    rows : Rows
        The table that they come from.
    labels, annotators : int
        Number of labels, and of annotators; all unknown annotators are one more, the last.
    example, annotator, label : ndarray of int, (cell,)
        Places in the order of names; cells are sorted by example, then annotator, then label.
    weight : ndarray of float64, (cell,)
        How many times it was said, more than 0.
    of_example, of_label, of_annotator : ndarray of int
        Place in the order of names of each example, label and annotator of the table.
    """

    rows: Rows
    labels: int
    annotators: int
    example: Codes
    annotator: Codes
    label: Codes
    weight: Column
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
        places = [_places(rows.table, d) for d in (names.EXAMPLE, names.ANNOTATOR, names.LABEL)]
        of_example, of_annotator, of_label = places
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


def _places(table: xr.Dataset, dim: str) -> Codes:
    """Return the place of each name of a dim in the order of names."""
    order = np.argsort(table[dim].values, kind="stable")
    places = np.empty(order.size, np.intp)
    places[order] = np.arange(order.size)
    return places


def _tell_unknown(unknown: NDArray[np.bool_], rows: Rows, policy: Unknown, called: str) -> None:
    number = int(unknown.sum())
    if not number:
        return
    what = f"{counted(number)} of {several(unknown.size, 'response')}"
    without = "plausibly.select(ann, annotator=ann.annotator.values) leaves them out"
    told = {
        "expected": f"annotators by name: {called} estimates what each is worth",
        "got": what + (" without one" if number < unknown.size else ", all without one"),
        "whose": "annotations",
    }
    if policy == "error":
        raise InputError(
            "annotators-anonymous",
            f"annotations: {what} {_are(number)} of unknown annotators",
            do=f'unknown = "together" takes them as one annotator; {without}',
            details={"responses": number},
            **told,
        )
    warn(
        "annotators-anonymous",
        f"{called} takes {what} of unknown annotators as one annotator's",
        do=f'unknown = "error" refuses them; {without}',
        details={"responses": number},
        stacklevel=4,
        **told,
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


_CLOSE = 1e-3  # a tolerance that may be advised


@attrs.frozen(kw_only=True, eq=False)
class Pairs:
    """Which labels each annotator says: the cells without their examples.

    Attributes
    ----------
    cells : Cells
    annotator, label : ndarray of int, (pair,)
        Sorted by annotator, then label.
    pair : ndarray of int, (cell,)
    """

    cells: Cells
    annotator: Codes
    label: Codes
    pair: Codes

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
    """Parameters that fit plausibilities best.

    Attributes
    ----------
    log_prevalence : ndarray of float64, (label,)
    log_chance : ndarray of float64, (label, pair)
    log_prior : float
        Logarithm of the prior density of the parameters, up to a constant.
    """

    log_prevalence: Column
    log_chance: Column
    log_prior: float


@attrs.frozen(kw_only=True, eq=False)
class Fit:
    """Plausibilities where the estimate stopped, and how it came there.

    Attributes
    ----------
    plausible : ndarray of float64, (label, example)
        In the order of names.
    objective : tuple of float
        Log-likelihood plus log-prior of the parameters at the start of each iteration.
    change : float
        Largest change of a plausibility in the last iteration.
    tolerance : float
    """

    plausible: Column
    objective: tuple[float, ...]
    change: float
    tolerance: float

    @property
    def attributes(self) -> dict[str, str]:
        """What result tables say of the estimate."""
        facts = {
            "iterations": len(self.objective),
            "change": self.change,
            "tolerance": self.tolerance,
            "objective": self.objective[-1] if self.objective else 0.0,
        }
        return {names.CONVERGENCE: json.dumps(facts)}


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
            details={"iterations": len(objective), "change": change, "tolerance": tolerance},
            stacklevel=4,
        )
    return Fit(plausible=plausible, objective=tuple(objective), change=change, tolerance=tolerance)


def log_prevalence(plausible: Column, smoothing: float) -> tuple[Column, float]:
    """Return the log share of examples of each label, (label,), and its log prior density."""
    labels, n = plausible.shape
    with np.errstate(divide="ignore"):
        log = np.log(plausible.sum(axis=1) + smoothing) - np.log(n + labels * smoothing)
    return log, smoothing * float(log.sum()) if smoothing else 0.0
