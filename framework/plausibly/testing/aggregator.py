"""Rules of aggregators, tried on a small annotation table of each kind that they accept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from typing import TypeAlias

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.annotations import Rows
from plausibly.data.plausibilities import (
    check_plausibilities,
    check_sparse_form,
    to_dense,
    to_sparse,
)
from plausibly.data.select import select_annotations
from plausibly.errors import InputError, an
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Floats, Ints
from plausibly.protocols import AGGREGATOR, Aggregator
from plausibly.testing import data
from plausibly.testing.data import UNNAMED, texts
from plausibly.testing.rules import (
    Broken,
    DoesNotApply,
    RuleSet,
    demand,
    enter_common,
    farthest,
    no_data,
    read_only_table,
    refused,
    same,
)

_KEYS = Keys(7, "kit")
_CLOSE = 1e-9  # sums of floats in another order
_SUM = 1e-6  # what the framework allows a row to miss 1 by

Tables: TypeAlias = Mapping[str, xr.Dataset]
"""Annotation tables by kind; rules take copies."""


def fixture_for(
    aggregator: Aggregator, annotations: xr.Dataset | Iterable[xr.Dataset] | None = None
) -> Tables | InputError:
    """Return tables of the kinds that the aggregator accepts: own ones, else made-up ones."""
    own = [annotations] if isinstance(annotations, xr.Dataset) else list(annotations or ())
    tables = {str(table.attrs[names.KIND]): table for table in own}
    accepts: object = getattr(aggregator, "accepts", None)
    for kind in sorted(accepts) if isinstance(accepts, frozenset) else ():
        made = tables.get(kind, data.table_of(kind))
        if made is None:
            hint = "annotations=..., a small table of that kind, or example() of the kind"
            return no_data(f"there are no annotations of kind {kind}", hint)
        tables[kind] = made
    return tables or no_data("the aggregator accepts no kind", "annotations=...")


RULES: RuleSet[Aggregator, Tables] = RuleSet(AGGREGATOR, fixture_for)


def _copies(tables: Tables) -> list[xr.Dataset]:
    return [table.copy(deep=True) for table in tables.values()]


enter_common(RULES, lambda aggregator, tables: [_aggregate(aggregator, t) for t in _copies(tables)])


def _each(rule: Callable[[Aggregator, xr.Dataset], None]) -> None:
    """Enter a rule that is tried on each table by itself; a decorator."""

    @RULES.rule
    @wraps(rule)
    def on_each(aggregator: Aggregator, tables: Tables) -> None:
        for table in _copies(tables):
            rule(aggregator, table)


def _aggregate(aggregator: Aggregator, table: xr.Dataset) -> xr.DataArray:
    return aggregator.aggregate(table, _KEYS)


def _by_name(plausibilities: xr.DataArray, table: xr.Dataset) -> Floats:
    """Return the values ([draw,] example, label) in the order of the table's names."""
    dims = [dim for dim in (names.EXAMPLE, names.LABEL) if plausibilities.sizes.get(dim)]
    ordered = plausibilities.sel({dim: texts(table, dim) for dim in dims})
    values: Floats = ordered.transpose(..., names.EXAMPLE, names.LABEL).values
    return values


def _demand_sums(plausibilities: xr.DataArray, table: xr.Dataset, when: str = "") -> None:
    values = _by_name(plausibilities, table)
    missed = float(np.abs(values.sum(axis=-1, dtype=np.float64) - 1).max())
    demand(missed <= _SUM, f"{when}a row misses the sum 1 by {missed:.3g}")


def _difference(aggregator: Aggregator, table: xr.Dataset, variant: xr.Dataset) -> float:
    """Return how far apart the plausibilities are that two tables give to what `variant` names."""
    first = _by_name(_aggregate(aggregator, table), variant)
    return farthest(first, _by_name(_aggregate(aggregator, variant), variant))


def _alike(aggregator: Aggregator, table: xr.Dataset, variant: xr.Dataset, what: str) -> None:
    """Demand that two tables give the same plausibilities to what both name."""
    off = _difference(aggregator, table, variant)
    demand(off <= _CLOSE, f"{table.attrs[names.KIND]}: {what} plausibilities change by {off:.3g}")


@RULES.rule_alone
def accepts_kinds(aggregator: Aggregator, tables: Tables) -> None:
    """It says which kinds of annotation it reads."""
    demand(aggregator.accepts, "accepts is empty: no table can be given to it")


@_each
def simplex(aggregator: Aggregator, table: xr.Dataset) -> None:
    """Every row is a distribution over labels, under the names of the table."""
    result = check_plausibilities(_aggregate(aggregator, table), source="the result")
    for dim in (names.EXAMPLE, names.LABEL):
        kept = sorted(texts(result, dim)) == sorted(texts(table, dim))
        demand(kept, f"the names over {dim} are not those of the table")
    _demand_sums(result, table)


def _order_rule(dim: str, sentence: str) -> None:
    def order(aggregator: Aggregator, table: xr.Dataset) -> None:
        _alike(aggregator, table, data.permuted(table, dim), f"{dim}s turned round,")

    order.__name__, order.__doc__ = f"{dim}_order", sentence
    _each(order)


_order_rule(names.EXAMPLE, "The order of the examples does not matter: they go by name.")
_order_rule(names.LABEL, "The order of the labels does not matter: they go by name.")
_order_rule(names.ANNOTATOR, "The order of the annotators does not matter.")


@RULES.rule
def example_alone(aggregator: Aggregator, tables: Tables) -> None:
    """Other examples do not change the plausibilities of an example, unless `joint` is True."""
    change = 0.0
    for table in _copies(tables):
        every = texts(table, names.EXAMPLE)
        for examples in filter(None, (every[:1], every[1::2])):
            part = select_annotations(table, example=examples)
            if aggregator.joint:
                change = max(change, _difference(aggregator, table, part))
            else:
                _alike(aggregator, table, part, "with other examples,")
    demand(
        not aggregator.joint or change > _CLOSE,
        "it says that it is joint, and other examples change nothing: take joint away",
    )


@_each
def inputs_unchanged(aggregator: Aggregator, table: xr.Dataset) -> None:
    """The table is afterwards what it was before, and a read-only one is enough."""
    before = table.copy(deep=True)
    _aggregate(aggregator, table)
    changed = [str(n) for n in before.variables if not same(before[n], table.get(n))]
    same_table = before.identical(table)
    demand(same_table, f"it changes {', '.join(changed) or 'attributes'} of the table")
    _aggregate(aggregator, read_only_table(table))


@_each
def declared_labels(aggregator: Aggregator, table: xr.Dataset) -> None:
    """A declared label that no annotator names is there, with plausibilities like the others'."""
    wider = data.widened(table, UNNAMED)
    plausibilities = _aggregate(aggregator, wider)
    has = texts(plausibilities, names.LABEL) if names.LABEL in plausibilities.indexes else []
    absent = [name for name in texts(wider, names.LABEL) if name not in has]
    demand(not absent, f"declared labels are missing in the result: {', '.join(absent)}")
    _demand_sums(plausibilities, wider, "with a label that no annotator names, ")


@_each
def missing_responses(aggregator: Aggregator, table: xr.Dataset) -> None:
    """An example without a response, or with skips only, is refused by name."""
    example = texts(table, names.EXAMPLE)[0]
    for skipped, when in ((False, "has no answer"), (True, "all annotators skipped")):
        without = data.unanswered(table, example, skipped=skipped)
        call = partial(_aggregate, aggregator, without)
        refused(call, f"for {example}, which {when}", naming=example)


@RULES.rule
def one_label(aggregator: Aggregator, tables: Tables) -> None:
    """A single label has plausibility 1."""
    every = [data.table_of(kind, data.LABELS[:1]) for kind in tables]
    made = [table for table in every if table is not None]
    if not made:
        raise DoesNotApply("a table of one label cannot be made up for this kind")
    for table in made:
        values = _by_name(_aggregate(aggregator, table), table)
        demand(farthest(values, np.ones_like(values)) <= _SUM, f"it is {values.min():.3g}")


@_each
def counted_responses(aggregator: Aggregator, table: xr.Dataset) -> None:
    """A response of an unknown annotator that counts twice weighs as much as two."""
    anonymous = data.anonymous(table).drop_vars(names.RESPONSE_WEIGHT, errors="ignore")
    times: Ints = 1 + np.arange(anonymous.sizes[names.RESPONSE]) % 3
    places = np.arange(times.size)
    counts = Rows.of(anonymous).take(places, times.astype(np.float64))
    repeated = Rows.of(anonymous).take(np.repeat(places, times))
    try:
        _aggregate(aggregator, counts)
    except InputError as error:
        raise DoesNotApply(f"it refuses counted responses: {error.what}") from error
    _alike(aggregator, counts, repeated, "with responses that count two or three times,")


@_each
def coordinates_kept(aggregator: Aggregator, table: xr.Dataset) -> None:
    """Coordinates of the examples, such as the patient, come along."""
    patients = [f"patient of {name}" for name in texts(table, names.EXAMPLE)]
    result = _aggregate(aggregator, table.assign_coords(patient=(names.EXAMPLE, patients)))
    demand("patient" in result.coords, "a coordinate of the examples is lost")
    for name, patient in zip(texts(result, names.EXAMPLE), result["patient"].values, strict=True):
        demand(str(patient) == f"patient of {name}", f"{name} has the {patient}")


@_each
def sparse_same(aggregator: Aggregator, table: xr.Dataset) -> None:
    """A sparse form is what `aggregate` returns, to the last bit."""
    if aggregator.aggregate_sparse(table, _KEYS) is None:
        return
    turned = [data.permuted(table, dim) for dim in (names.EXAMPLE, names.LABEL)]
    for variant in (table, *turned, data.widened(table, UNNAMED)):
        dense = _aggregate(aggregator, variant)
        demand(names.DRAW not in dense.dims, "draws of plausibilities have no sparse form")
        sparse: object = aggregator.aggregate_sparse(read_only_table(variant), _KEYS)
        if not isinstance(sparse, xr.Dataset):
            raise Broken(f"aggregate_sparse gives {an(type(sparse).__name__)}")
        checked = check_sparse_form(sparse)
        dense = dense.transpose(names.EXAMPLE, names.LABEL)
        back = to_dense(checked).rename(dense.name)
        demand(same(back, dense), f"{table.attrs[names.KIND]}: it is not what aggregate gives")
        fits = checked.sizes[names.SLOT] == to_sparse(dense).sizes[names.SLOT]
        demand(fits, "it has more slots than the widest example needs")
    example = texts(table, names.EXAMPLE)[0]
    skipped, unknown = data.unanswered(table, example, skipped=True), data.of_unknown_kind(table)
    when = f"for {example}, which all annotators skipped"
    refused(lambda: aggregator.aggregate_sparse(skipped, _KEYS), when, naming=example)
    refused(lambda: aggregator.aggregate_sparse(unknown, _KEYS), "for another kind")


@_each
def unfit_refused(aggregator: Aggregator, table: xr.Dataset) -> None:
    """A table of a kind that it does not accept, or whose names were cut, is an InputError."""
    unknown, cut = data.of_unknown_kind(table), data.cut(table)
    refused(lambda: _aggregate(aggregator, unknown), "for another kind")
    refused(lambda: _aggregate(aggregator, cut), "for a detached table")
