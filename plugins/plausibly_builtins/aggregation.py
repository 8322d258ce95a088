"""Bases that aggregators of several families share, and messages that are errors or warnings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import (
    AGGREGATOR,
    DEFAULT_AGGREGATORS,
    Aggregator,
    ComponentLike,
    Floats,
    InputError,
    Ints,
    Keys,
    Rows,
    answered_rows,
    names,
    resolve,
    warn,
)

Terms: TypeAlias = tuple[Floats, Floats, Ints | None]
"""What mentions add to their labels (mention,), totals (example,), and these where they count."""


class Shares(Aggregator, ABC):
    """Plausibility of a label = the sum of what its mentions add / the total of the example."""

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        rows = answered_rows(annotations, self.accepts)
        terms, total, denominator = self._terms(rows)
        return rows.shares(terms, total, denominator=denominator)

    def aggregate_sparse(self, annotations: xr.Dataset, keys: Keys) -> xr.Dataset:
        """Return the same in sparse form, for thousands of labels."""
        rows = answered_rows(annotations, self.accepts)
        terms, total, denominator = self._terms(rows)
        return rows.sparse_shares(terms, total, denominator=denominator)

    @abstractmethod
    def _terms(self, rows: Rows) -> Terms: ...


def optional_aggregator(like: ComponentLike[Aggregator] | None) -> Aggregator | None:
    """Return an aggregator by name, as a table or itself; None stays None."""
    return None if like is None else resolve(AGGREGATOR, like)


@attrs.frozen(kw_only=True)
class Around(Aggregator):
    """An aggregator around another one, by default the one for the kind of annotation."""

    inner: Aggregator | None = attrs.field(default=None, converter=optional_aggregator)

    @property
    def accepts(self) -> frozenset[str]:
        return frozenset(DEFAULT_AGGREGATORS) if self.inner is None else self.inner.accepts

    @property
    def joint(self) -> bool:
        """True if the inner aggregator learns from all examples."""
        return self.inner is not None and self.inner.joint

    def inner_for(self, table: xr.Dataset) -> Aggregator:
        if self.inner is not None:
            return self.inner
        return resolve(AGGREGATOR, DEFAULT_AGGREGATORS[str(table.attrs[names.KIND])])


def example_names(rows: Rows, which: Any) -> list[str]:  # Any: places or a mask
    return [str(name) for name in rows.table.indexes[names.EXAMPLE][which]]


def by_name(rows: Rows, dim: str) -> NDArray[np.intp]:
    """Return the place of each name over a dim of the table in the order of names."""
    return np.argsort(np.argsort(rows.table[dim].values, kind="stable"))


def summed(cells: NDArray[np.intp], terms: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the sum of the terms of each cell, in the order in which they stand."""
    return np.bincount(cells, terms, size).astype(np.float64, copy=False)


def refuse_or_warn(
    name: str,
    *,
    refused: str,
    hint: str,
    accepted: str | None,
    otherwise: str,
    **about: Any,  # Any: what errors and warnings have in common
) -> None:
    """Raise an `InputError`, or warn of what is `accepted` instead, where it is not None."""
    if accepted is None:
        raise InputError(name, refused, hint=hint, **about)
    warn(name, accepted, hint=otherwise, stacklevel=5, **about)
