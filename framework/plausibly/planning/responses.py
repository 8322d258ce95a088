"""Fewer responses an example: what a pilot would have said, had fewer annotators been asked."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import name_texts, several
from plausibly.data.responses import by_name, take_responses
from plausibly.data.rows import Rows
from plausibly.errors import InputError, counted
from plausibly.kernels.draws import ragged_uniforms
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Ints

LADDER = (1, 2, 3, 5, 10, 20, 50, 100)
_MOST_HAVE = 0.1  # the last step is one that all but this share of the examples reach


@attrs.frozen(kw_only=True, eq=False)
class Responses:
    """The single responses of a table, ready to be thinned.

    Attributes
    ----------
    table : Dataset
    place, owner : ndarray of int64, (unit,)
        Response of each unit, and its example; a response that counts three times is three units.
    order : ndarray of int, (unit,)
        How many units of its example are kept before this one.
    counts : ndarray of int64, (example,)
        Units of each example.
    """

    table: xr.Dataset
    place: Ints
    owner: Ints
    order: Ints
    counts: Ints

    @classmethod
    def of(cls, table: xr.Dataset, keys: Keys) -> Responses | None:
        """Return the responses of a table; None where some count no whole number of times.

        Parameters
        ----------
        table : Dataset
            An annotation table that is known to be intact.
        keys : Keys
            Decides which responses of an example are kept first, by the example's name.
        """
        rows = Rows.of(table)
        if not rows.counts:
            return None
        ordered = by_name(rows)
        says = ordered[rows.mentions[ordered] > 0]
        place = np.repeat(says, rows.weight[says].astype(np.int64))
        owner = rows.example[place].astype(np.int64)
        counts = np.bincount(owner, minlength=rows.n)
        uniforms = ragged_uniforms(keys, hash_names(table[names.EXAMPLE].values), counts)
        drawn = np.lexsort((uniforms, owner))
        order = np.empty(len(owner), dtype=np.int64)
        order[drawn] = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        return cls(table=table, place=place, owner=owner, order=order, counts=counts)

    def thinned(self, most: int) -> xr.Dataset:
        """Return the table with at most so many responses an example.

        Those of a smaller number are among those of a larger one.
        """
        times = np.bincount(self.place[self.order < most], minlength=self.size)
        kept = np.flatnonzero(times)
        weighted = names.RESPONSE_WEIGHT in self.table.variables
        return take_responses(self.table, kept, times[kept].astype(float) if weighted else None)

    @property
    def size(self) -> int:
        """Number of responses in the table."""
        return int(self.table.sizes[names.RESPONSE])

    def steps(self) -> list[int]:
        """Return the numbers of responses to look at: a ladder up to what nearly all have."""
        most = int(np.quantile(self.counts, _MOST_HAVE, method="lower"))
        steps = [step for step in LADDER if step < most]
        return [*steps, most]

    def check(self, wanted: Sequence[int]) -> list[int]:
        """Return the numbers of responses that were asked for, or say that nobody has so many."""
        most = int(self.counts.max())
        for number in wanted:
            if number < 1 or number > most:
                who = name_texts(self.table[names.EXAMPLE].values)[int(self.counts.argmax())]
                raise InputError(
                    "responses-range",
                    f"no example of the pilot has {several(number, 'response')}",
                    expected=f"1 to {counted(most)}, which {who} has",
                    got=counted(number),
                    do=f"responses=[1, {most}] (--responses 1 --responses {most})"
                    if most > 1
                    else "leave responses out: a single response cannot be thinned",
                    whose="responses",
                )
        return sorted(set(wanted))
