"""Who said which label of which example, in an order that belongs to names alone.

An estimate that goes round and round carries the last bit of a sum far. So examples, annotators and
labels are sorted by name before anything is added: the same table in any order gives the same bits.
"""

from __future__ import annotations

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
        """Return the cells of an annotation table.

        Parameters
        ----------
        annotations : Dataset
        accepts : frozenset of str
            Kinds that the aggregator reads.
        unknown : {"together", "error"}
            Whether unknown annotators are taken as one, with a warning, or refused.
        called : str
            Name of the aggregator, for messages.

        Raises
        ------
        InputError
            What `answered_rows` raises, or ``annotators-anonymous``.
        """
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
        """Return what was said, by label and example: (label, example).

        Parameters
        ----------
        worth : ndarray of float64, (annotator,)
            What a response of each annotator counts.
        """
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
        """Return how much of the responses of each annotator is right: (annotator,).

        Parameters
        ----------
        plausible : ndarray of float64, (label, example)
            Chance of each label of being the right one.
        """
        terms = self.weight * plausible[self.label, self.example]
        return summed(self.annotator, terms, self.annotators)

    def as_table(self, values: Column) -> Column:
        """Return (label, example) values in the order of names as (example, label) of the table."""
        found: Column = np.ascontiguousarray(values[self.of_label].T[self.of_example])
        return found

    def reliability(self, weight: Column, **more: xr.Variable) -> xr.Dataset:
        """Return the table of annotators, as `plausibly.reliability` reads it.

        Parameters
        ----------
        weight : ndarray of float64, (annotator,)
            In the order of names, that of unknown annotators last.
        **more : Variable
            Further variables, in the order of the table.
        """
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
