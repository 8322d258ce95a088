"""Columns of an annotation table as plain arrays, and sums that do not depend on order."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import TypeVar

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.names import name_texts, several
from plausibly.data.plausibilities import sparse_dataset
from plausibly.data.seal import check_table
from plausibly.errors import InputError, counted, listed
from plausibly.kernels.blocks import map_blocks
from plausibly.kernels.sparse import Sparse
from plausibly.kernels.types import Bools, Floats, Ints

Number = TypeVar("Number", np.float64, np.int16, np.int64)

_EXACT = 2.0**53  # floats below are exact for whole numbers


def ordered_sum(cells: Ints, terms: Floats, size: int) -> NDArray[np.float64]:
    """Return the sum of the terms of each cell, the same for every order of the terms.

    Parameters
    ----------
    cells : ndarray of int, (term,)
        The cell, 0 to `size` - 1, to which a term is added.
    terms : ndarray of float, (term,)
        What to add.
    size : int
        Number of cells.

    Returns
    -------
    ndarray of float64, (cell,)
        Exact where all terms are whole numbers and their total is below 2^53.
    """
    if only_ones(terms):
        return np.bincount(cells, minlength=size).astype(np.float64)
    if not whole(terms):
        order = np.lexsort((terms, cells))
        cells, terms = cells[order], terms[order]
    return np.bincount(cells, weights=terms, minlength=size).astype(np.float64, copy=False)


def ones(size: int, dtype: type[Number]) -> NDArray[Number]:
    """Return ones that take no memory, and cannot be changed."""
    return np.broadcast_to(np.ones((), dtype), size)


def only_ones(terms: Floats) -> bool:
    """Return whether these are `ones`."""
    return terms.strides == (0,) and terms.size > 0 and terms[0] == 1


def whole(terms: Floats) -> bool:
    """Return whether all terms are whole numbers whose sums a float64 holds exactly."""
    if only_ones(terms) or (terms.size and terms.min() == 1 == terms.max()):
        return True
    return bool((terms == np.rint(terms)).all() and float(np.abs(terms).sum()) < _EXACT)


def sums_by_label(
    example: Ints, label: Ints, terms: Floats, shape: tuple[int, int], total: Floats | None = None
) -> NDArray[np.float64]:
    """Return sums (example, label) that do not depend on the order of terms."""
    labels = shape[1]
    if not whole(terms):
        order = np.lexsort((terms, label, example))
        example, label, terms = example[order], label[order], terms[order]
    alike = only_ones(terms)
    values = np.empty(shape)

    def fill(rows: slice) -> None:
        ends = np.array((rows.start, rows.stop), example.dtype)
        part = slice(*np.searchsorted(example, ends))
        cells = (example[part].astype(np.int64) - rows.start) * labels + label[part]
        made = values[rows]
        sums = np.bincount(cells, None if alike else terms[part], minlength=made.size)
        made[...] = sums.reshape(made.shape)
        if total is not None:
            made /= total[rows, None]

    map_blocks(fill, shape)
    return values


Scalar = TypeVar("Scalar", bound=np.generic)


@attrs.frozen(kw_only=True, eq=False)
class Rows:
    """The columns of one table; missing ones filled with what they mean.

    Responses of an example stand together, and so do mentions of a response and, within it, of a
    block.

    Attributes
    ----------
    table : Dataset
        Where they come from.
    n, labels : int
        Number of examples and of labels.
    example, annotator : ndarray of int, (response,)
        Codes.
    weight : ndarray of float64, (response,)
        How many times a response counts; 1 where the table does not say.
    response, label, block : ndarray of int, (mention,)
        Codes; block 1 where the table has no ranks.
    share : ndarray of float64, (mention,)
        Weight of the label in its response; 1 where the table does not say.
    """

    table: xr.Dataset
    n: int
    labels: int
    example: Ints
    annotator: Ints
    weight: Floats
    response: Ints
    label: Ints
    block: Ints
    share: Floats

    @classmethod
    def of(cls, table: xr.Dataset) -> Rows:
        """Return the columns of a table that is known to be in order."""
        responses = table.sizes[names.RESPONSE]
        mentions = table.sizes[names.MENTION]
        return cls(
            table=table,
            n=table.sizes[names.EXAMPLE],
            labels=table.sizes[names.LABEL],
            example=table[names.RESPONSE_EXAMPLE].values,
            annotator=table[names.RESPONSE_ANNOTATOR].values,
            weight=_column(table, names.RESPONSE_WEIGHT, responses, np.float64),
            response=table[names.MENTION_RESPONSE].values,
            label=table[names.MENTION_LABEL].values,
            block=_column(table, names.MENTION_BLOCK, mentions, np.int16),
            share=_column(table, names.MENTION_WEIGHT, mentions, np.float64),
        )

    @cached_property
    def counts(self) -> bool:
        """Whether responses count a whole number of times."""
        return whole(self.weight)

    @cached_property
    def one_each(self) -> bool:
        """Whether each response has one mention, as in most tables."""
        response = self.response
        # Mentions stand in the order of responses.
        return response.size == self.example.size and bool((response[1:] > response[:-1]).all())

    def of_mention(self, column: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return what a column (response,) holds of each mention: (mention,)."""
        return column if self.one_each else column[self.response]

    @cached_property
    def mentions(self) -> Ints:
        """Number of mentions of each response: ndarray of int64, (response,)."""
        if self.one_each:
            return ones(self.example.size, np.int64)
        return np.bincount(self.response, minlength=self.example.size)

    def by_example(self, terms: Floats) -> NDArray[np.float64]:
        """Return sums (example,) of one term a mention."""
        return ordered_sum(self.of_mention(self.example), terms, self.n)

    def by_label(self, terms: Floats) -> NDArray[np.float64]:
        """Return sums (example, label) of one term a mention."""
        return self._by_label(terms, None)

    def _by_label(self, terms: Floats, total: Floats | None) -> NDArray[np.float64]:
        """Return these sums, over a total of each example where there is one."""
        example = self.of_mention(self.example)
        return sums_by_label(example, self.label, terms, (self.n, self.labels), total)

    @cached_property
    def votes(self) -> NDArray[np.float64]:
        """Total weight of the responses that name a label: ndarray of float64, (example,)."""
        terms = self.weight if self.one_each else np.where(self.mentions > 0, self.weight, 0.0)
        return ordered_sum(self.example, terms, self.n)

    def shares(
        self, terms: Floats, total: Floats, *, denominator: Ints | None = None
    ) -> xr.DataArray:
        """Return plausibilities: for each label the sum of its terms, over a total.

        Parameters
        ----------
        terms : ndarray of float, (mention,)
            Not below 0.
        total : ndarray of float, (example,)
            Of the terms of an example.
        denominator : ndarray of int, (example,), optional
            Where the values of an example are counts over a total: that total.
        """
        values = self._by_label(terms, total)
        return self.plausibilities(values, denominator=denominator)

    def packed_shares(
        self, terms: Floats, total: Floats, *, denominator: Ints | None = None
    ) -> xr.Dataset:
        """Return the packed form of `shares`, to the last bit, without a dense array.

        Parameters
        ----------
        terms, total, denominator
            As `shares` takes them.
        """
        cells = self._cells()
        pairs, place = np.unique(cells, return_inverse=True)
        example, label = np.divmod(pairs, max(self.labels, 1))
        values = ordered_sum(place, terms, pairs.size)
        values /= total[example]
        said = np.flatnonzero(values)
        shape = (self.n, self.labels)
        slots = Sparse.of_pairs(example[said], label[said], values[said], shape)
        about = xr.Dataset(coords=self._coordinates(denominator))
        return sparse_dataset(slots, about, self._attributes())

    def _cells(self) -> NDArray[np.int64]:
        """Return the place of each mention among the cells (example, label), in one row."""
        cells = self.of_mention(self.example).astype(np.int64)
        cells *= self.labels
        cells += self.label
        return cells

    def plausibilities(self, values: Floats, *, denominator: Ints | None = None) -> xr.DataArray:
        """Return (example, label) values under the names of the table.

        Parameters
        ----------
        values : ndarray of float, (example, label)
            Rows that sum to 1.
        denominator : ndarray of int, (example,), optional
            Where the values of an example are counts over a total: that total.
        """
        return xr.DataArray(
            values,
            dims=(names.EXAMPLE, names.LABEL),
            coords=self._coordinates(denominator),
            name=names.PLAUSIBILITIES,
            attrs=self._attributes(),
        )

    def _coordinates(self, denominator: Ints | None) -> xr.Coordinates:
        """Return what the table says of its examples and labels, and the denominator."""
        dims = {names.EXAMPLE, names.LABEL}
        coords = {
            name: coordinate.variable
            for name, coordinate in self.table.coords.items()
            if set(coordinate.dims) <= dims
        }
        if denominator is not None:
            total = xr.Variable(names.EXAMPLE, denominator.astype(np.int64))
            coords[names.DENOMINATOR] = total
        # The very indexes of the table: what is known of their names need not be found again.
        indexes = {dim: index for dim, index in self.table.xindexes.items() if dim in dims}
        return xr.Coordinates(coords, indexes)

    def _attributes(self) -> dict[Hashable, str]:
        """Return what the table says was left out, if anything was."""
        left_out = self.table.attrs.get(names.LEFT_OUT, "{}")
        return {} if left_out == "{}" else {names.LEFT_OUT: left_out}


def _column(table: xr.Dataset, name: str, size: int, dtype: type[Number]) -> NDArray[Number]:
    if name not in table.variables:
        return ones(size, dtype)
    values: NDArray[Number] = table[name].values
    return values


def answered_mask(rows: Rows) -> Bools:
    """Return which examples (example,) have a response that names a label and counts."""
    return rows.votes > 0


def check_answered(table: xr.Dataset, *, whose: str = "annotations") -> None:
    """Raise `InputError` ``example-unanswered`` where an example has no answer to aggregate."""
    _check_answered(Rows.of(table), whose)


def answered_rows(
    table: xr.Dataset, accepts: frozenset[str], *, whose: str = "annotations"
) -> Rows:
    """Return the columns of a table that an aggregator can use: the first line of each.

    Parameters
    ----------
    table : Dataset
        An annotation table.
    accepts : frozenset of str
        Kinds that the aggregator reads.
    whose : str
        What the messages call the table.

    Raises
    ------
    InputError
        What `check_table` raises, or ``example-unanswered`` where an example has no response that
        names a label.
    """
    rows = Rows.of(check_table(table, accepts, whose=whose))
    _check_answered(rows, whose)
    return rows


def _check_answered(rows: Rows, whose: str) -> None:
    unanswered = np.flatnonzero(~answered_mask(rows))
    if not unanswered.size:
        return
    asked = np.bincount(rows.example, minlength=rows.n)[unanswered] > 0
    skipped, never = int(asked.sum()), int((~asked).sum())
    shown = name_texts(rows.table.indexes[names.EXAMPLE][unanswered])
    raise InputError(
        "example-unanswered",
        f"{whose}: {counted(len(shown))} of {several(rows.n, 'example')} "
        f"{'has' if len(shown) == 1 else 'have'} no response ({listed(shown)})",
        expected="one or more",
        got=f"0 ({counted(skipped)} skipped by all, {counted(never)} never assigned)",
        do='--unanswered drop (unanswered="drop"), which is recorded in the result',
        whose=whose,
        details={"examples": shown, "skipped": skipped, "never": never},
    )
