"""The seal of an annotation table: a digest that breaks when names and codes no longer fit.

`isel`, `sel`, `sortby` and `assign_coords` of xarray change the names of examples, annotators or
labels and leave the codes that point at them as they were. Nothing in the result looks wrong, so
every entry of the framework compares the digest first. It is a check against mistakes, made often:
so the codes, which may be millions, enter it by their CRC-32.
"""

from __future__ import annotations

import zlib
from copy import deepcopy
from hashlib import blake2b
from typing import TypeVar

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import name_texts
from plausibly.errors import InputError, listed
from plausibly.kernels.types import unwritable

Table = TypeVar("Table", bound=xr.Dataset)

COLUMNS = {
    names.RESPONSE_EXAMPLE: "<i4",
    names.RESPONSE_ANNOTATOR: "<i4",
    names.RESPONSE_WEIGHT: "<f8",
    names.RESPONSE_STATE: "<i4",
    names.MENTION_RESPONSE: "<i4",
    names.MENTION_LABEL: "<i4",
    names.MENTION_BLOCK: "<i4",
    names.MENTION_WEIGHT: "<f8",
}
"""Columns of a table, and how the digest reads each, whatever bytes a file keeps (netCDF-3)."""

_NEEDED = (
    names.RESPONSE_EXAMPLE,
    names.RESPONSE_ANNOTATOR,
    names.MENTION_RESPONSE,
    names.MENTION_LABEL,
)
_ATTRIBUTES = (names.KIND, names.UNLISTED, names.LABELS_DECLARED)
_DIMS = (names.EXAMPLE, names.LABEL, names.ANNOTATOR)


def digest(table: xr.Dataset) -> str:
    """Return the digest of names and codes, whatever types they are stored in."""
    state = blake2b(digest_size=16)
    for dim in _DIMS:
        of = name_texts(table.indexes[dim]) if dim in table.indexes else []
        state.update(f"{dim}:{len(of)}:".encode())
        state.update("\0".join(of).encode("utf-8", "surrogatepass"))
    for column, kind in COLUMNS.items():
        if column not in table.variables:
            continue
        values = table[column].values
        if values.dtype.kind not in ("f" if kind == "<f8" else "iu"):
            return ""  # `where` and the like turn codes into floats: no seal fits them
        state.update(f"{column}:{values.size}:".encode())
        state.update(zlib.crc32(np.ascontiguousarray(values, kind).data).to_bytes(4, "big"))
    return state.hexdigest()


def sealed(table: Table) -> Table:
    """Return the table with a seal that fits it; whoever calls this vouches for the codes."""
    return table.assign_attrs({names.SEAL: digest(table)})


def is_intact(table: xr.Dataset) -> bool:
    """Return whether the seal of the table fits its names and codes."""
    return bool(table.attrs.get(names.SEAL) == digest(table))


def lent(table: Table) -> Table:
    """Return a table for a component to read: what it changes is not the caller's."""
    views = {
        name: variable.copy(deep=False, data=unwritable(variable.data))
        for name, variable in table.variables.items()
        if name not in table.indexes and isinstance(variable.data, np.ndarray)
    }
    return table.assign(views).assign_attrs(deepcopy(table.attrs))


def check_table(
    table: xr.Dataset, accepts: frozenset[str] | None = None, *, whose: str = "annotations"
) -> xr.Dataset:
    """Return the annotation table if it can be read as it stands.

    Parameters
    ----------
    table : Dataset
        An annotation table, or what may be one.
    accepts : frozenset of str, optional
        Kinds of annotation that the caller reads; None = any kind.
    whose : str
        What the messages call the table.

    Returns
    -------
    Dataset
        `table` itself.

    Raises
    ------
    InputError
        ``table-unknown`` where it is no annotation table, ``table-detached`` where its seal is
        broken, ``kind-unsuitable`` where the caller does not read its kind.
    """
    given: object = table
    lacks = ["rows"]
    if isinstance(given, xr.Dataset):
        lacks = [name for name in (*_NEEDED, *_DIMS) if name not in given.variables]
        lacks += [name for name in _ATTRIBUTES if name not in given.attrs]
    if lacks:
        without = f" without {listed(lacks)}" if isinstance(given, xr.Dataset) else ""
        raise InputError(
            "table-unknown",
            f"{whose}: this is no annotation table",
            expected="an annotation table, sealed when it was built",
            got=f"a {type(given).__name__}{without}",
            do="plausibly.read_annotations(path), or plausibly.plugin.build_table(...)",
            whose=whose,
        )
    kind = str(table.attrs[names.KIND])
    if not is_intact(table):
        raise InputError(
            "table-detached",
            f"{whose}: rows were cut, sorted or renamed behind the table's back",
            expected="responses that point at the names they were built with",
            got="a broken seal" if names.SEAL in table.attrs else "no seal",
            do="plausibly.select(ann, example=...) on the table as it was read, instead of isel, "
            "sel, sortby or assign_coords",
            whose=whose,
        )
    if accepts is not None and kind not in accepts:
        raise InputError(
            "kind-unsuitable",
            f"{whose}: the kind {kind} is not read here",
            expected=" or ".join(sorted(accepts)),
            got=kind,
            do=f"an aggregator for {kind}: plausibly plugins list --kind aggregator",
            whose=whose,
            details={"kind": kind, "accepts": sorted(accepts)},
        )
    return table
