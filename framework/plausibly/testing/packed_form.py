"""What the packed form of an aggregator has to be: what its dense form is, and no more."""

from __future__ import annotations

from collections.abc import Iterator

import xarray as xr

from plausibly.data import names
from plausibly.data.plausibilities import check_packed, pack, unpack
from plausibly.kernels.random import Keys
from plausibly.protocols import PackedAggregator
from plausibly.testing import worlds
from plausibly.testing.rules import demand, refused
from plausibly.testing.same import read_only_table, same


def demand_the_same(
    aggregator: PackedAggregator, dense: xr.DataArray, table: xr.Dataset, keys: Keys
) -> None:
    """Demand that the packed form of a table is that of its dense plausibilities, to the bit.

    Parameters
    ----------
    aggregator : PackedAggregator
    dense : DataArray
        What `aggregate` returned.
    table : Dataset
        It is handed over so that it cannot be written to.
    keys : Keys
        Those that `aggregate` had.
    """
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
    yield worlds.permuted(table, names.EXAMPLE)
    yield worlds.permuted(table, names.LABEL)
    yield worlds.widened(table, "nobody names this")


def demand_the_same_refusals(
    aggregator: PackedAggregator, table: xr.Dataset, keys: Keys, example: str
) -> None:
    """Demand that the packed form refuses what `aggregate` must refuse."""
    part = worlds.unanswered(table, example, skipped=True)
    refused(
        lambda: aggregator.aggregate_packed(part, keys),
        f"for {example}, which everybody skipped",
        naming=example,
    )
    other = worlds.of_nobodys_kind(table)
    refused(lambda: aggregator.aggregate_packed(other, keys), "for another kind")
