"""Annotation tables as pieces: what is written of them, and the table again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.data import names
from plausibly.data.annotations import AnnotationTable, build_table, rebuilt
from plausibly.data.left_out import read_left_out
from plausibly.data.names import name_texts, quoted, several
from plausibly.errors import InputError, listed
from plausibly.io import pieces
from plausibly.io.annotation_rows import Read
from plausibly.io.pieces import Content
from plausibly.kernels.types import Ints
from plausibly.protocols import ANNOTATION
from plausibly.registry.calls import calling

KIND = "annotation table"
_DIGEST = "digest"
NAMED = (names.EXAMPLE, names.LABEL, names.ANNOTATOR)
COLUMNS = (
    names.RESPONSE_EXAMPLE,
    names.RESPONSE_ANNOTATOR,
    names.RESPONSE_WEIGHT,
    names.RESPONSE_STATE,
    names.MENTION_RESPONSE,
    names.MENTION_LABEL,
    names.MENTION_BLOCK,
    names.MENTION_WEIGHT,
)


def content_of(table: AnnotationTable) -> Content:
    """Return the variables and attributes of a table, those that every table has first.

    Instead of the seal, whose kind may change between versions, there is the digest of the file.
    """
    every = {str(name): variable for name, variable in table.variables.items()}
    first = {name: every[name] for name in (*NAMED, *COLUMNS) if name in every}
    others = {name: variable for name, variable in every.items() if name not in first}
    return Content(
        kind=KIND,
        attributes={str(k): value for k, value in table.attrs.items() if k != names.SEAL},
        pieces=tuple(pieces.pieces_of({**first, **others}, table.coords)),
        more={_DIGEST: _digest(table)},
    )


def _digest(table: xr.Dataset) -> str:
    """Return the digest of names and codes that is part of version 1 of the format."""
    state = blake2b(digest_size=16)
    for dim in NAMED:
        texts = name_texts(table.indexes[dim])
        state.update(f"{dim}:{len(texts)}:".encode())
        state.update("\0".join(texts).encode("utf-8", "surrogatepass"))
    for column in COLUMNS:
        if column in table.variables:
            values = table[column].values
            values = values.astype("<f8" if values.dtype.kind == "f" else "<i8")
            state.update(f"{column}:{values.size}:".encode())
            state.update(values.tobytes())
    return state.hexdigest()


def table_of(
    content: Content,
    named: Mapping[str, Sequence[str]],
    columns: Mapping[str, NDArray[Any]],  # Any: codes, weights
    whose: str,
) -> AnnotationTable | None:
    """Return the table of a content, with names and columns that stand beside it.

    Returns
    -------
    AnnotationTable or None
        None where its digest is another one than was written.

    Raises
    ------
    InputError
        ``file-damaged`` where the parts make no table.
    """
    attributes = dict(content.attributes)
    held = {piece.name: piece for piece in content.pieces}
    further = [piece for name, piece in held.items() if name not in (*NAMED, *COLUMNS)]
    try:
        table = _built(
            str(attributes[names.KIND]),
            {dim: named.get(dim) or name_texts(held[dim].values) for dim in NAMED},
            columns,
            unlisted=str(attributes[names.UNLISTED]),
            labels_declared=bool(attributes[names.LABELS_DECLARED]),
            left_out=read_left_out({names.LEFT_OUT: attributes[names.LEFT_OUT]}),
            variables={p.name: p.variable for p in further if not p.coordinate},
            coordinates={p.name: p.variable for p in further if p.coordinate},
            attributes=attributes,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise pieces.damaged(whose, reason) from reason
    return table if _digest(table) == content.more.get(_DIGEST) else None


def table_of_rows(read: Read, kind: str, whose: str) -> AnnotationTable:
    """Return the table of rows of which only the kind of answer is known.

    Raises
    ------
    InputError
        What the kind of answer says, with the name of the file.
    """
    annotation = registry.resolve(ANNOTATION, kind)
    named = {dim: sorted(read.named[dim]) for dim in NAMED}
    try:
        table = _built(kind, named, read.coded(named) or {}, labels_declared=False)
        with calling(f"annotation {kind}", "validate"):
            annotation.validate(table)
    except InputError as error:
        error.what = f"{whose}: {error.what}"
        raise
    return table


def _built(
    kind: str,
    named: Mapping[str, Sequence[str]],
    columns: Mapping[str, NDArray[Any]],  # Any: codes, weights
    *,
    labels_declared: bool,
    unlisted: str = "excluded",
    left_out: Mapping[str, int] | None = None,
    variables: Mapping[str, xr.Variable] | None = None,
    coordinates: Mapping[str, xr.Variable] | None = None,
    attributes: Mapping[str, object] | None = None,
) -> AnnotationTable:
    return build_table(
        kind,
        examples=named[names.EXAMPLE],
        annotators=named[names.ANNOTATOR],
        labels=named[names.LABEL],
        response_example=columns[names.RESPONSE_EXAMPLE],
        response_annotator=columns[names.RESPONSE_ANNOTATOR],
        response_weight=columns.get(names.RESPONSE_WEIGHT),
        response_state=columns.get(names.RESPONSE_STATE),
        mention_response=columns[names.MENTION_RESPONSE],
        mention_label=columns[names.MENTION_LABEL],
        mention_block=columns.get(names.MENTION_BLOCK),
        mention_weight=columns.get(names.MENTION_WEIGHT),
        unlisted=unlisted,
        labels_declared=labels_declared,
        left_out=left_out,
        variables=variables,
        coordinates=coordinates,
        attributes=attributes,
    )


def declared(table: AnnotationTable, labels: Sequence[str], whose: str) -> AnnotationTable:
    """Return the table with other labels declared; what is known of labels goes with them.

    A label that is new has no value of a further variable: NaN, or no text.

    Raises
    ------
    InputError
        ``label-unknown`` where annotators say a label that is not declared.
    """
    known = name_texts(table.indexes[names.LABEL])
    label: Ints = table[names.MENTION_LABEL].values
    used = [known[code] for code in np.unique(label).tolist()]
    code = {name: place for place, name in enumerate(labels)}
    outside = [name for name in used if name not in code]
    if outside:
        votes = int(np.isin(label, [known.index(name) for name in outside]).sum())
        raise InputError(
            "label-unknown",
            f"{whose}: annotators say {listed(map(quoted, outside))}",
            expected=f"one of {several(len(labels), 'declared label')}",
            got=f"{several(len(outside), 'label')} outside ({several(votes, 'vote')})",
            do="declare them in --labels too, or leave --labels out: the file has its own",
            whose=whose,
            details={"labels": outside},
        )
    fill = {name: "" for name, item in table.variables.items() if item.dtype.kind in "UO"}
    wider = table.reindex({names.LABEL: list(labels)}, fill_value=fill)
    new = np.array([code.get(name, names.NO_LABEL) for name in known], np.int64)[label]
    wider = wider.assign({names.MENTION_LABEL: (names.MENTION, new)})
    return rebuilt(wider.assign_attrs({**table.attrs, names.LABELS_DECLARED: 1}))
