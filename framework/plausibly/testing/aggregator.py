"""Rules of aggregators, tried on a small annotation table of each kind that they accept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs
import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import name_texts
from plausibly.data.plausibilities import check_packed, pack, unpack
from plausibly.errors import InputError
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Floats, Ints
from plausibly.protocols import AGGREGATOR, Aggregator, PackedAggregator, is_joint
from plausibly.testing import data
from plausibly.testing.rules import (
    DoesNotApply,
    NoData,
    RuleBook,
    demand,
    enter_common,
    farthest,
    read_only_table,
    refused,
    same,
)


def demand_the_same(
    aggregator: PackedAggregator, dense: xr.DataArray, table: xr.Dataset, keys: Keys
) -> None:
    """Demand that the packed form of a table is that of its dense plausibilities, to the bit."""
    packed: object = aggregator.aggregate_packed(read_only_table(table), keys)
    demand(isinstance(packed, xr.Dataset), f"aggregate_packed gives a {type(packed).__name__}")
    demand(names.DRAW not in dense.dims, "draws of plausibilities have no packed form")
    if isinstance(packed, xr.Dataset):
        checked = check_packed(packed)
        dense = dense.transpose(names.EXAMPLE, names.LABEL)
        back = unpack(checked).rename(dense.name)
        parts = {
            "values": (back.values, dense.values),
            "coordinates": (back.coords.to_dataset(), dense.coords.to_dataset()),
            "attributes": (back.attrs, dense.attrs),
        }
        for what, (here, there) in parts.items():
            demand(same(here, there), f"{table.attrs[names.KIND]}: {what} are not the dense ones")
        demand(
            checked.sizes[names.SLOT] == pack(dense).sizes[names.SLOT],
            "it has more slots than the widest example needs",
        )


def variants(table: xr.Dataset) -> Iterator[xr.Dataset]:
    """Yield a table, and others that say the same in another order, or a little more."""
    yield table
    yield data.permuted(table, names.EXAMPLE)
    yield data.permuted(table, names.LABEL)
    yield data.widened(table, "nobody names this")


def demand_the_same_refusals(
    aggregator: PackedAggregator, table: xr.Dataset, keys: Keys, example: str
) -> None:
    """Demand that the packed form refuses what `aggregate` must refuse."""
    part = data.unanswered(table, example, skipped=True)
    refused(
        lambda: aggregator.aggregate_packed(part, keys),
        f"for {example}, which everybody skipped",
        naming=example,
    )
    other = data.of_nobodys_kind(table)
    refused(lambda: aggregator.aggregate_packed(other, keys), "for another kind")


_KEYS = Keys(7, "kit")
_CLOSE = 1e-9  # sums of floats in another order
_SUM = 1e-6  # what the framework allows a row to miss 1 by
_PATIENT = "patient"


@attrs.frozen
class AggregatorWorld:
    """Annotation tables by kind; each is handed out as a copy."""

    tables: Mapping[str, xr.Dataset]

    def each(self) -> Iterator[xr.Dataset]:
        """Yield a copy of each table."""
        for table in self.tables.values():
            yield table.copy(deep=True)


def world_for(
    aggregator: Aggregator, annotations: xr.Dataset | Iterable[xr.Dataset] | None = None
) -> AggregatorWorld | NoData:
    """Return tables of the kinds that the aggregator accepts: the given ones, else made-up ones."""
    given = [annotations] if isinstance(annotations, xr.Dataset) else list(annotations or ())
    tables = {str(table.attrs[names.KIND]): table for table in given}
    accepts: object = getattr(aggregator, "accepts", None)
    for kind in sorted(accepts) if isinstance(accepts, frozenset) else ():
        made = tables.get(kind, data.table_of(kind))
        if made is None:
            return NoData(
                f"there are no annotations of kind {kind}",
                "annotations=..., a small table of that kind, or example() of the kind",
            )
        tables[kind] = made
    if not tables:
        return NoData("the aggregator accepts no kind", "annotations=...")
    return AggregatorWorld(tables)


BOOK: RuleBook[Aggregator, AggregatorWorld] = RuleBook(AGGREGATOR)


def _behaves(aggregator: Aggregator, world: AggregatorWorld) -> object:
    return [aggregator.aggregate(table, _KEYS) for table in world.each()]


enter_common(BOOK, _behaves)


def _by_name(plausibilities: xr.DataArray, table: xr.Dataset) -> Floats:
    """Return the values ([draw,] example, label) in the order of the table's names."""
    found = plausibilities.sel(
        {
            dim: [str(name) for name in table[dim].values]
            for dim in (names.EXAMPLE, names.LABEL)
            if plausibilities.sizes.get(dim)
        }
    )
    values: Floats = found.transpose(..., names.EXAMPLE, names.LABEL).values
    return values


def _alike(aggregator: Aggregator, table: xr.Dataset, other: xr.Dataset, what: str) -> None:
    """Demand that two tables give the same plausibilities to what both name."""
    off = _difference(aggregator, table, other)
    demand(off <= _CLOSE, f"{table.attrs[names.KIND]}: {what} plausibilities change by {off:.3g}")


def _difference(aggregator: Aggregator, table: xr.Dataset, other: xr.Dataset) -> float:
    """Return how far apart the plausibilities are that two tables give to what `other` names."""
    first = _by_name(aggregator.aggregate(table, _KEYS), other)
    return farthest(first, _by_name(aggregator.aggregate(other, _KEYS), other))


@BOOK.rule_alone
def accepts_kinds(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """It says which kinds of annotation it reads."""
    demand(aggregator.accepts, "accepts is empty: no table can be given to it")


@BOOK.rule
def names_kept(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """The result has the dims example and label, with the names of the table."""
    for table in world.each():
        found: object = aggregator.aggregate(table, _KEYS)
        demand(isinstance(found, xr.DataArray), f"it gives a {type(found).__name__}, no DataArray")
        if isinstance(found, xr.DataArray):
            dims = set(map(str, found.dims))
            wanted = {names.EXAMPLE, names.LABEL}
            demand(
                wanted <= dims <= wanted | {names.DRAW},
                f"its dims are {', '.join(sorted(dims))}, not example and label",
            )
            for dim in sorted(wanted):
                has = name_texts(found.indexes[dim]) if dim in found.indexes else []
                demand(
                    sorted(has) == sorted(name_texts(table.indexes[dim])),
                    f"the names over {dim} are not those of the table",
                )


@BOOK.rule
def simplex(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """Every row is a distribution over labels: floats, not negative, with sum 1."""
    for table in world.each():
        found = aggregator.aggregate(table, _KEYS)
        demand(found.dtype in (np.float32, np.float64), f"the numbers are {found.dtype}")
        values = _by_name(found, table)
        demand(np.isfinite(values).all(), "a plausibility is no finite number")
        demand(values.min() >= 0, f"a plausibility is {values.min():.3g}")
        off = np.abs(values.sum(axis=-1, dtype=np.float64) - 1)
        demand(off.max() <= _SUM, f"a row misses the sum 1 by {off.max():.3g}")


@BOOK.rule
def example_order(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """The order of the examples does not matter: they go by name."""
    for table in world.each():
        _alike(aggregator, table, data.permuted(table, names.EXAMPLE), "examples turned round,")


@BOOK.rule
def label_order(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """The order of the labels does not matter: they go by name."""
    for table in world.each():
        _alike(aggregator, table, data.permuted(table, names.LABEL), "labels turned round,")


@BOOK.rule
def annotator_order(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """The order of the annotators does not matter."""
    for table in world.each():
        other = data.permuted(table, names.ANNOTATOR)
        _alike(aggregator, table, other, "annotators turned round,")


@BOOK.rule
def example_alone(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """Other examples do not change the plausibilities of an example, unless `joint` is True."""
    joint = is_joint(aggregator)
    change = 0.0
    for table in world.each():
        every = name_texts(table.indexes[names.EXAMPLE])
        for some in (every[:1], every[1::2]):
            if not some:
                continue
            part = data.part_of(table, some)
            if joint:
                change = max(change, _difference(aggregator, table, part))
            else:
                _alike(aggregator, table, part, "with other examples,")
    demand(
        not joint or change > _CLOSE,
        "it says that it is joint, and other examples change nothing: take joint away",
    )


@BOOK.rule
def inputs_unchanged(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """The table is afterwards what it was before."""
    for table in world.each():
        before = table.copy(deep=True)
        aggregator.aggregate(table, _KEYS)
        changed = [str(n) for n in before.variables if not same(before[n], table.get(n))]
        demand(not changed, f"it changes {', '.join(changed)} of the table")
        demand(before.identical(table), "it changes the table")


@BOOK.rule
def read_only_inputs(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """A table that cannot be written to is enough."""
    for table in world.each():
        aggregator.aggregate(read_only_table(table), _KEYS)


@BOOK.rule
def declared_labels(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """A declared label that nobody names is there, with plausibilities like the others'."""
    for table in world.each():
        wider = data.widened(table, "nobody names this")
        found = aggregator.aggregate(wider, _KEYS)
        has = name_texts(found.indexes[names.LABEL]) if names.LABEL in found.indexes else []
        absent = [name for name in name_texts(wider.indexes[names.LABEL]) if name not in has]
        demand(not absent, f"declared labels are missing in the result: {', '.join(absent)}")
        off = np.abs(_by_name(found, wider).sum(axis=-1) - 1)
        demand(off.max() <= _SUM, f"with a label that nobody names, a sum misses 1 by {off.max()}")


@BOOK.rule
def missing_responses(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """An example without a response, or with skips only, is refused by name."""
    for table in world.each():
        example = name_texts(table.indexes[names.EXAMPLE])[0]
        for skipped, how in ((False, "nobody was asked about"), (True, "everybody skipped")):
            part = data.unanswered(table, example, skipped=skipped)
            when = f"for {example}, which {how}"
            refused(lambda part=part: aggregator.aggregate(part, _KEYS), when, naming=example)  # type: ignore[misc]  # bound now


@BOOK.rule
def zero_examples(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """A table without examples gives no rows, or an InputError."""
    for table in world.each():
        try:
            found = aggregator.aggregate(data.part_of(table, []), _KEYS)
        except InputError:
            continue
        demand(found.sizes[names.EXAMPLE] == 0, "it gives rows for no examples")
        demand(found.sizes[names.LABEL] == table.sizes[names.LABEL], "it loses the labels")


@BOOK.rule
def one_label(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """Where there is one label, its plausibility is 1."""
    tables = [data.table_of(kind, data.LABELS[:1]) for kind in world.tables]
    made = [table for table in tables if table is not None]
    if not made:
        raise DoesNotApply("a table of one label cannot be made up for this kind")
    for table in made:
        values = _by_name(aggregator.aggregate(table, _KEYS), table)
        demand(farthest(values, np.ones_like(values)) <= _SUM, f"it is {values.min():.3g}")


@BOOK.rule
def unknown_annotators(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """Responses of unknown annotators, as in a table of counts, are read or refused in words."""
    for table in world.each():
        nobody = data.anonymous(table)
        try:
            found = aggregator.aggregate(nobody, _KEYS)
        except InputError:
            continue
        off = np.abs(_by_name(found, nobody).sum(axis=-1) - 1)
        demand(off.max() <= _SUM, "rows do not sum to 1")


@BOOK.rule
def counted_responses(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """A response that counts twice weighs as much as two."""
    for table in world.each():
        nobody = data.anonymous(table)
        nobody = nobody.drop_vars(names.RESPONSE_WEIGHT, errors="ignore")
        times: Ints = 1 + np.arange(nobody.sizes[names.RESPONSE]) % 3
        counts = data.weighted(nobody, times)
        repeated = data.taken(nobody, np.repeat(np.arange(times.size), times))
        try:
            aggregator.aggregate(counts, _KEYS)
        except InputError as error:
            raise DoesNotApply(f"it refuses counted responses: {error.what}") from error
        _alike(aggregator, counts, repeated, "with responses that count two or three times,")


@BOOK.rule
def lazy_stays_lazy(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """A table of Dask arrays is read as well, and is not loaded in its place."""
    for table in world.each():
        lazy = data.in_chunks(table)
        _alike(aggregator, table, lazy, "of a table of Dask arrays")
        demand(data.is_lazy(lazy), "the table is loaded in its place")


@BOOK.rule
def denominator_true(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """Where the result has a denominator, its rows are whole multiples of 1 over it."""
    for table in world.each():
        found = aggregator.aggregate(table, _KEYS)
        if names.DENOMINATOR not in found.coords:
            continue
        total = found[names.DENOMINATOR]
        demand(
            total.dims == (names.EXAMPLE,) and total.dtype.kind in "iu" and (total > 0).all(),
            "denominator is no positive whole number an example",
        )
        units = (found * total).values
        off = float(np.abs(units - np.rint(units)).max(initial=0))
        demand(off <= _SUM, f"a plausibility is {off:.3g} off a whole number of units")


@BOOK.rule
def coordinates_kept(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """Coordinates of the examples, such as the patient, come along."""
    for table in world.each():
        patients = [f"patient of {name}" for name in name_texts(table.indexes[names.EXAMPLE])]
        table = table.assign_coords({_PATIENT: (names.EXAMPLE, patients)})
        found = aggregator.aggregate(table, _KEYS)
        demand(_PATIENT in found.coords, "a coordinate of the examples is lost")
        for name in name_texts(found.indexes[names.EXAMPLE]):
            of = str(found[_PATIENT].sel({names.EXAMPLE: name}).values)
            demand(of == f"patient of {name}", f"{name} has the {of}")


@BOOK.rule
def packed_same(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """Where it has a packed form, that is what `aggregate` gives, to the last bit."""
    if isinstance(aggregator, PackedAggregator):
        for table in world.each():
            for other in variants(table):
                dense = aggregator.aggregate(other, _KEYS)
                demand_the_same(aggregator, dense, other, _KEYS)
            example = name_texts(table.indexes[names.EXAMPLE])[0]
            demand_the_same_refusals(aggregator, table, _KEYS, example)


@BOOK.rule
def other_kinds_refused(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """A table of a kind that it does not accept is an InputError."""
    for table in world.each():
        other = data.of_nobodys_kind(table)
        refused(lambda other=other: aggregator.aggregate(other, _KEYS), "for another kind")  # type: ignore[misc]  # bound now


@BOOK.rule
def detached_refused(aggregator: Aggregator, world: AggregatorWorld) -> None:
    """A table whose names were cut behind its back is an InputError."""
    for table in world.each():
        cut = table.isel({names.EXAMPLE: slice(None, None, -1)})
        refused(lambda cut=cut: aggregator.aggregate(cut, _KEYS), "for a detached table")  # type: ignore[misc]  # bound now
