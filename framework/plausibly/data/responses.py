"""Single responses taken out of an annotation table, in an order that names alone decide."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.rows import Rows
from plausibly.data.table import AnnotationTable, rebuilt
from plausibly.data.text import name_texts
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Floats, Hashes, Ints

_ODD = tuple(
    np.uint64(value) for value in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
)
_SHIFT = np.uint64(29)


def by_name(rows: Rows) -> NDArray[np.intp]:
    """Return the places of responses, (response,), in an order that belongs to names.

    Example by example in the order of the table; within an example by the name of the annotator
    and what was said, whatever the order of annotators, labels or rows. Responses that say the
    same, of unknown annotators, cannot be told apart and keep their order.

    Parameters
    ----------
    rows : Rows
        The columns of a table.
    """
    annotators = name_texts(rows.table.indexes[names.ANNOTATOR])
    # the extra last place is where code -1, an unknown annotator, looks
    who = np.append(hash_names(annotators), np.uint64(0))[rows.annotator]
    return np.lexsort((_said(rows), who, rows.example))


def _said(rows: Rows) -> Hashes:
    """Return a number for what each response says: (response,), of label names, not codes."""
    label = hash_names(name_texts(rows.table.indexes[names.LABEL]))[rows.label]
    share = np.ascontiguousarray(rows.share, dtype=np.float64).view(np.uint64)
    with np.errstate(over="ignore"):
        mention = label * _ODD[0] ^ rows.block.astype(np.uint64) * _ODD[1] ^ share * _ODD[2]
        mention = (mention ^ (mention >> _SHIFT)) * _ODD[1]
        mention ^= mention >> _SHIFT
        # Sums of unsigned integers wrap round, and so do not depend on the order of mentions.
        sums = np.concatenate(([np.uint64(0)], np.cumsum(mention, dtype=np.uint64)))
        ends = np.cumsum(rows.mentions)
        said: Hashes = sums[ends] - sums[ends - rows.mentions]
    return said


def take_responses(
    table: xr.Dataset, responses: Ints, weight: Floats | None = None
) -> AnnotationTable:
    """Return the table with these responses only, each as often as it is named.

    Examples, labels and annotators stay; mentions follow their responses.

    Parameters
    ----------
    table : Dataset
        An annotation table that is known to be intact.
    responses : ndarray of int, (taken,)
        Places of responses.
    weight : ndarray of float, (taken,), optional
        How many times each counts; by default as in the table.
    """
    mention: Ints = table[names.MENTION_RESPONSE].values
    size = np.bincount(mention, minlength=table.sizes[names.RESPONSE])
    starts = np.cumsum(size) - size
    taken = size[responses]
    within = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
    part = table.isel(
        {
            names.RESPONSE: responses,
            names.MENTION: np.repeat(starts[responses], taken) + within,
        }
    )
    new = np.repeat(np.arange(len(responses)), taken)
    part = part.assign({names.MENTION_RESPONSE: (names.MENTION, new)})
    if weight is not None:
        part = part.assign({names.RESPONSE_WEIGHT: (names.RESPONSE, weight)})
    return rebuilt(part)
