"""Bases and messages that aggregators of several families share."""

from __future__ import annotations

import json
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
    Bools,
    ComponentLike,
    Floats,
    InputError,
    Ints,
    Keys,
    Rows,
    answered_rows,
    counted,
    names,
    resolve,
    warn,
)

Column: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]

Terms: TypeAlias = tuple[Floats, Floats, Ints | None]
"""What mentions add to their labels (mention,), totals (example,), and these where they count."""


_TIE_WITHIN = 1e-12


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


def as_aggregator(like: ComponentLike[Aggregator]) -> Aggregator:
    return resolve(AGGREGATOR, like)


@attrs.frozen(kw_only=True)
class Around(Aggregator):
    """An aggregator around another one.

    Attributes
    ----------
    inner : Aggregator, optional
        By name, as a table or itself; by default the one for the kind of annotation.
    """

    inner: Aggregator | None = attrs.field(
        default=None, converter=attrs.converters.optional(as_aggregator)
    )

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


def by_name(rows: Rows, dim: str) -> Codes:
    """Return the place of each name over a dim of the table in the order of names."""
    return np.argsort(np.argsort(rows.table[dim].values, kind="stable"))


def most_voted(rows: Rows, votes: Floats, axis: int) -> Bools:
    """Return which labels, along the axis, have the most votes; broken weights to 12 digits."""
    most = votes.max(axis=axis, keepdims=True, initial=0.0)
    top: Bools = votes >= (most if rows.counts else most * (1 - _TIE_WITHIN))
    return top


def drawn_plausibilities(rows: Rows, values: Floats) -> xr.DataArray:
    """Return (draw, example, label) values under the names of the table, draws from 1 on."""
    first = rows.plausibilities(values[0])
    return xr.DataArray(
        values,
        dims=(names.DRAW, names.EXAMPLE, names.LABEL),
        coords={names.DRAW: np.arange(1, len(values) + 1), **first.coords},
        name=names.PLAUSIBILITIES,
        attrs=first.attrs,
    )


def summed(cells: Codes, terms: Column, size: int) -> Column:
    """Return the sum of the terms of each cell, in the order in which they stand."""
    return np.bincount(cells, terms, size).astype(np.float64, copy=False)


def refuse_or_warn(
    name: str,
    what: str,
    *,
    refuse: bool,
    **about: Any,  # Any: what errors and warnings have in common
) -> None:
    if refuse:
        raise InputError(name, what, **about)
    warn(name, what, **about)


def convergence(
    called: str, iterations: int, change: float, tolerance: float, *, settled: bool
) -> dict[str, str]:
    """Return the attribute about the convergence of an estimate; warn where it has not settled."""
    facts: dict[str, object] = {"iterations": iterations, "change": change, "tolerance": tolerance}
    if not settled:
        warn(
            "not-converged",
            f"{called} has not converged: in iteration {counted(iterations)} it still changes by "
            f"{change:.2g}",
            expected=f"changes of {tolerance:g} or less",
            hint=f"iterations = {iterations * 10}",
            source=f"aggregator {called}",
            details=facts,
        )
    return {names.CONVERGENCE: json.dumps(facts)}
