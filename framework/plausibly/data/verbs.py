"""Verbs on annotation tables: cut and join them so that names and responses stay together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import TypeAlias

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.joined import concat as concat
from plausibly.data.near import near
from plausibly.data.rows import Rows, answered_mask
from plausibly.data.seal import check_table
from plausibly.data.table import AnnotationTable, rebuilt
from plausibly.data.text import check_names, is_name, name_text, name_texts, positions, several
from plausibly.errors import InputError, listed

Names: TypeAlias = "object | Iterable[object] | xr.DataArray | NDArray[np.bool_]"
"""One name, several names, or a mask over the dim."""


def select(
    table: xr.Dataset, *, example: Names | None = None, annotator: Names | None = None
) -> AnnotationTable:
    """Return the part of an annotation table about some examples, by some annotators.

    Parameters
    ----------
    table : Dataset
        An annotation table; it is not changed.
    example : name, names or mask, optional
        Examples to keep, in this order; a mask over `example` keeps the order of the table.
        Annotators without a response left stay in the table.
    annotator : name, names or mask, optional
        Annotators whose responses to keep. Those of unknown annotators go; examples stay, also
        where no response is left.

    Returns
    -------
    AnnotationTable
        With every variable of the table, a plugin's too; ``left_out`` still counts what the whole
        table left out.

    Raises
    ------
    InputError
        ``examples-unknown`` or ``annotators-unknown`` with a suggestion; ``example-twice``.
    """
    check_table(table)
    rows = Rows.of(table)
    examples = _chosen(table, names.EXAMPLE, example)
    annotators = _chosen(table, names.ANNOTATOR, annotator)
    new_example = _recoding(rows.n, examples)[rows.example]
    # the extra last place is where code -1, an unknown annotator, looks
    coding = np.append(_recoding(table.sizes[names.ANNOTATOR], annotators), -1)
    new_annotator = coding[rows.annotator]
    kept = new_example >= 0
    if annotator is not None:
        kept &= new_annotator >= 0
    responses = np.flatnonzero(kept)
    new_response = _recoding(rows.example.size, responses)[rows.response]
    mentions = np.flatnonzero(new_response >= 0)
    part = table.isel(
        {
            names.EXAMPLE: examples,
            names.ANNOTATOR: annotators,
            names.RESPONSE: responses,
            names.MENTION: mentions,
        }
    )
    part = part.assign(
        {
            names.RESPONSE_EXAMPLE: (names.RESPONSE, new_example[responses]),
            names.RESPONSE_ANNOTATOR: (names.RESPONSE, new_annotator[responses]),
            names.MENTION_RESPONSE: (names.MENTION, new_response[mentions]),
        }
    )
    return rebuilt(part)


def answered(table: xr.Dataset) -> list[str]:
    """Return the names of the examples with a response that names a label.

    ``select(table, example=answered(table))`` keeps those.
    """
    rows = Rows.of(check_table(table))
    return name_texts(table.indexes[names.EXAMPLE][answered_mask(rows)])


def _recoding(size: int, chosen: NDArray[np.intp]) -> NDArray[np.int32]:
    """Return the new code of each old one, -1 where it is not chosen."""
    codes = np.full(size, -1, np.int32)
    codes[chosen] = np.arange(chosen.size, dtype=np.int32)
    return codes


def _chosen(table: xr.Dataset, dim: str, wanted: Names | None) -> NDArray[np.intp]:
    """Return the places of the examples or annotators that `wanted` means, in its order."""
    known = name_texts(table.indexes[dim])
    if wanted is None:
        return np.arange(len(known))
    if is_name(wanted):
        texts = [name_text(wanted)]
    elif isinstance(wanted, xr.DataArray) and wanted.dtype == np.bool_ and dim in wanted.indexes:
        marked = set(name_texts(wanted.indexes[dim][wanted.values]))
        texts = [name for name in known if name in marked] + sorted(marked.difference(known))
    else:
        values = np.asarray(list(wanted) if isinstance(wanted, (Iterator, Set)) else wanted)
        if values.dtype == np.bool_:
            return _marked(values, dim, len(known))
        texts = name_texts(values.tolist())
    check_names(texts, dim, whose="the selection")
    places = positions(known, texts)
    lost = [name for name, place in zip(texts, places, strict=True) if place < 0]
    if lost:
        meant = near(lost[0], known)
        more = f" (and {several(len(lost) - 1, 'name')} more)" if len(lost) > 1 else ""
        raise InputError(
            f"{dim}s-unknown",
            f"annotations have no {dim} {lost[0]}{more}",
            expected=f"names among {several(len(known), dim)}",
            got=listed(lost),
            do=f"did you mean {meant}?" if meant else f"take them from ann.{dim}.values",
            whose="annotations",
            details={f"{dim}s": lost},
        )
    return places


def _marked(mask: NDArray[np.bool_], dim: str, size: int) -> NDArray[np.intp]:
    if mask.shape != (size,):
        raise InputError(
            "mask-length",
            f"the mask over {dim} does not fit the annotations",
            expected=f"one entry an {dim}: {size:,}",
            got=" x ".join(f"{side:,}" for side in mask.shape),
            do=f"name the {dim}s instead, or use a DataArray with the coordinate {dim}",
            whose="annotations",
        )
    return np.flatnonzero(mask)
