"""Small made-up data of every kind, the same in every run, with names that trip up positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.data import names
from plausibly.data.annotations import AnnotationTable, Rows, rebuilt
from plausibly.data.names import name_texts
from plausibly.data.records import Record
from plausibly.errors import ComponentError
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Floats, Ints
from plausibly.protocols import ANNOTATION, Annotation

# Neither sorted nor of one length, with a number, a space and a letter beyond ASCII.
LABELS = ("melanoma", "b c", "Ä", "0", "naevus")
EXAMPLES = ("case 10", "case 9", "7", "é", "case 1", "z", "A")
ANNOTATORS = ("r2", "r10", "r1", "q")
UNNAMED = "in no answer"
"""A label that is declared, and in no answer."""

Example: TypeAlias = tuple[Sequence[Record], Sequence[str]]
"""Records and the declared labels: what `example()` of an annotation kind gives."""

_CODES = {
    names.EXAMPLE: (names.RESPONSE_EXAMPLE, names.RESPONSE),
    names.ANNOTATOR: (names.RESPONSE_ANNOTATOR, names.RESPONSE),
    names.LABEL: (names.MENTION_LABEL, names.MENTION),
}


def texts(table: xr.DataArray | xr.Dataset, dim: str) -> list[str]:
    return name_texts(table.indexes[dim])


def uniforms(stream: str, rows: int, columns: int) -> NDArray[np.float64]:
    """Return uniforms (row, column), always the same ones of a stream."""
    return Keys(0, f"kit/{stream}").uniform(hash_names(range(rows)), columns)


def probabilities(stream: str, examples: int, labels: int) -> Floats:
    """Return rows (example, label) that sum to 1, no two numbers of a row equal."""
    weights = -np.log1p(-uniforms(stream, examples, labels)) + 1e-3
    rows: Floats = weights / weights.sum(axis=1, keepdims=True)
    return rows


ANSWERS: Mapping[str, Callable[[Sequence[str], int], object]] = {
    "single-label": lambda labels, size: labels[0],
    "partial-ranking": lambda labels, size: [list(labels[:size]), *labels[size : size + 1]],
    "label-set": lambda labels, size: list(labels[:size]),
    "soft-label": lambda labels, size: {
        label: 0.7 / (rank + 1) for rank, label in enumerate(labels[:size])
    },
}
"""How an answer of each kind that comes with plausibly is made from labels in an order."""


def made_up(kind: str, labels: Sequence[str] = LABELS) -> list[Record]:
    """Return records of a kind: of each example one response or more, with holes and ties."""
    records: list[Record] = []
    for row, example in enumerate(EXAMPLES):
        chance = uniforms(f"{kind}/{row}", len(ANNOTATORS), len(labels) + 2)
        for column, annotator in enumerate(ANNOTATORS):
            if chance[column, -1] < 0.3 and column != row % len(ANNOTATORS):
                continue
            order = [labels[place] for place in np.argsort(chance[column, :-2])]
            size = 1 + int(chance[column, -2] * min(3, len(labels)))
            records.append((example, annotator, ANSWERS[kind](order, size)))
    return records


def example_of(kind: Annotation) -> Example | None:
    """Return the records and labels that an annotation kind offers to be tried on."""
    offered = kind.example()
    if offered is not None:
        records, labels = offered
        return list(records), [str(label) for label in labels]
    return (made_up(kind.name), list(LABELS)) if kind.name in ANSWERS else None


def table_of(kind: str, labels: Sequence[str] | None = None) -> xr.Dataset | None:
    """Return an annotation table of a kind, or None where there are no records of it."""
    try:
        annotation = registry.resolve(ANNOTATION, kind)
    except ComponentError:
        return None
    if labels is not None:
        return annotation.build(made_up(kind, labels), labels) if kind in ANSWERS else None
    example = example_of(annotation)
    return None if example is None else annotation.build(*example)


def permuted(table: xr.Dataset, dim: str) -> AnnotationTable:
    """Return the table with the names of one dim in the opposite order, and nothing else."""
    column, over = _CODES[dim]
    last = table.sizes[dim] - 1
    codes: Ints = table[column].values
    turned = np.where(codes >= 0, last - codes, codes)
    part = table.isel({dim: slice(None, None, -1)})
    return rebuilt(part.assign({column: (over, turned)}))


def unanswered(table: xr.Dataset, example: str, *, skipped: bool) -> AnnotationTable:
    """Return the table without an answer about one example: skipped by all, or never asked."""
    code = texts(table, names.EXAMPLE).index(example)
    about: Ints = table[names.RESPONSE_EXAMPLE].values == code
    if not skipped:
        return Rows.of(table).take(np.flatnonzero(~about))
    return rebuilt(table.isel({names.MENTION: ~about[table[names.MENTION_RESPONSE].values]}))


def anonymous(table: xr.Dataset) -> AnnotationTable:
    codes = np.full(table.sizes[names.RESPONSE], names.UNKNOWN_ANNOTATOR, np.int32)
    none = table.isel({names.ANNOTATOR: []})
    return rebuilt(none.assign({names.RESPONSE_ANNOTATOR: (names.RESPONSE, codes)}))


def widened(table: xr.Dataset, label: str) -> AnnotationTable:
    """Return the table with one more declared label, in the first place, without answers."""
    # Text and whole numbers of labels have no value for a label that is not there.
    of_labels = [
        name
        for name, variable in table.variables.items()
        if names.LABEL in variable.dims and name != names.LABEL
    ]
    wider = table.drop_vars(of_labels).reindex({names.LABEL: [label, *texts(table, names.LABEL)]})
    codes: Ints = table[names.MENTION_LABEL].values + 1
    return rebuilt(wider.assign({names.MENTION_LABEL: (names.MENTION, codes)}))


def cut(table: xr.Dataset) -> xr.Dataset:
    """Return the table with its examples in the opposite order: the checksum does not fit."""
    return table.isel({names.EXAMPLE: slice(None, None, -1)})


def of_unknown_kind(table: xr.Dataset) -> AnnotationTable:
    return rebuilt(table.assign_attrs({names.KIND: "unknown kind"}))


def numbered(prefix: str, count: int) -> list[str]:
    return [f"{prefix} {number}" for number in range(count, 0, -1)]


def some_labels(count: int) -> list[str]:
    return [*LABELS, *numbered("label", count)][:count]


def votes(stream: str, chances: Floats, count: int) -> NDArray[np.int64]:
    """Return how many of `count` votes each label of each example gets, (example, label)."""
    uniform = uniforms(stream, len(chances), count)
    codes = (uniform[:, :, None] >= np.cumsum(chances, axis=1)[:, None, :-1]).sum(axis=2)
    counts: NDArray[np.int64] = (codes[:, :, None] == np.arange(chances.shape[1])).sum(axis=1)
    return counts
