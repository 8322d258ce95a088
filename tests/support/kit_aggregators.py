"""A small aggregator that keeps every rule, and one that breaks each."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from kit_mutants import Mutant, after, changed, common
from plausibly.data.plausibilities import to_sparse
from plausibly.kernels.types import Floats
from plausibly.plugin import Aggregator, Keys, Rows, answered_rows
from plausibly.testing.data import UNNAMED


@attrs.frozen(kw_only=True)
class Shares(Aggregator):
    """Shares of the votes."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})
    power: float = 1.0

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        rows = self.rows(annotations)
        votes = rows.by_label(self.weights(rows)[rows.response]) ** self.power
        return rows.plausibilities(votes / votes.sum(axis=1, keepdims=True))

    def rows(self, annotations: xr.Dataset) -> Rows:
        return answered_rows(annotations, self.accepts)

    def weights(self, rows: Rows) -> Floats:
        return rows.weight


def _after(change: Callable[[xr.DataArray, xr.Dataset], xr.DataArray]) -> object:
    return after(Shares, "aggregate", lambda result, table, _: change(result, table))


def _negative(result: xr.DataArray, table: xr.Dataset) -> xr.DataArray:
    if "naevus" not in result.label.values:
        return result
    names = result.label.values
    moved: xr.DataArray = result + 0.75 * ((names == "naevus") * 1.0 - (names == "melanoma"))
    return moved


def _first_example(result: xr.DataArray, table: xr.Dataset) -> xr.DataArray:
    values = result.values.copy()
    values[:1] = 0.5 * values[:1] + 0.5 / values.shape[1]
    return result.copy(data=values)


def _first_label(result: xr.DataArray, table: xr.Dataset) -> xr.DataArray:
    values = result.values.copy()
    values[:, 0] += 1e-3
    return result.copy(data=values / (1 + 1e-3))


def _uses(act: Callable[[xr.Dataset], object]) -> object:
    def change(result: xr.DataArray, table: xr.Dataset) -> xr.DataArray:
        act(table)
        return result

    return _after(change)


def _needs_annotators(self: Shares, annotations: xr.Dataset) -> Rows:
    rows = Shares.rows(self, annotations)
    if (rows.annotator < 0).any():
        raise KeyError(-1)
    return rows


def _unchecked(self: Shares, annotations: xr.Dataset) -> Rows:
    if annotations.attrs["kind"] not in self.accepts:
        return Shares.rows(self, annotations)
    rows = Rows.of(annotations)
    return Shares.rows(self, annotations) if (rows.votes == 0).any() else rows


def _unanswered_too(self: Shares, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
    try:
        return Shares.aggregate(self, annotations, keys)
    except ValueError as error:
        if "no response" not in str(error):
            raise
    rows = Rows.of(annotations)
    votes = rows.by_label(rows.weight[rows.response]) + 1e-9
    return rows.plausibilities(votes / votes.sum(axis=1, keepdims=True))


def _sparse_uneven(self: Shares, annotations: xr.Dataset, keys: Keys) -> xr.Dataset:
    """Return a sparse form that is the dense one but for half of the first weight."""
    sparse = to_sparse(Shares.aggregate(self, annotations, keys))
    weight = sparse["weight"].values.copy()
    weight[0, 0] /= 2
    return sparse.assign(weight=(("example", "slot"), weight))


MUTANTS = {
    **common(Shares, "aggregate", lambda result: result.assign_attrs(note="fitted")),
    "accepts-kinds": Mutant(changed(Shares, accepts=frozenset())),
    "simplex/names": Mutant(_after(lambda result, _: result.expand_dims("fold"))),
    "simplex": Mutant(_after(_negative)),
    "example-order": Mutant(_after(_first_example), frozenset({"example-alone"})),
    "label-order": Mutant(_after(_first_label)),
    "annotator-order": Mutant(
        changed(Shares, weights=lambda _, rows: (1.0 + (rows.annotator == 0)) * rows.weight)
    ),
    "example-alone": Mutant(
        _after(
            lambda result, _: 0.9 * result + 0.1 * result.mean("example") if len(result) else result
        )
    ),
    "example-alone/joint without need": Mutant(changed(Shares, joint=True)),
    "inputs-unchanged": Mutant(_uses(lambda table: table.attrs.update(seen=1))),
    "inputs-unchanged/columns": Mutant(
        _uses(lambda table: table["response_example"].values.sort())
    ),
    "declared-labels": Mutant(
        _after(lambda result, _: result.drop_sel(label=UNNAMED, errors="ignore"))
    ),
    "missing-responses": Mutant(changed(Shares, aggregate=_unanswered_too)),
    "one-label": Mutant(
        _after(lambda result, _: result * (0.5 if result.sizes["label"] == 1 else 1))
    ),
    "counted-responses/unknown annotators": Mutant(changed(Shares, rows=_needs_annotators)),
    "counted-responses": Mutant(
        changed(Shares, weights=lambda _, rows: np.ones(rows.example.size))
    ),
    "coordinates-kept": Mutant(
        _after(lambda result, _: result.drop_vars("patient", errors="ignore"))
    ),
    "sparse-same": Mutant(changed(Shares, aggregate_sparse=_sparse_uneven)),
    "unfit-refused": Mutant(
        changed(
            Shares,
            rows=lambda _, table: answered_rows(table, frozenset({str(table.attrs["kind"])})),
        )
    ),
    "unfit-refused/detached": Mutant(changed(Shares, rows=_unchecked)),
}
