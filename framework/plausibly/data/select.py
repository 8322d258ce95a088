"""Annotation tables cut, joined, and shown as frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.annotations import NEEDED, AnnotationTable, Rows, check_table, rebuilt
from plausibly.data.names import (
    check_names,
    is_name,
    name_text,
    name_texts,
    near,
    positions,
    several,
    text_array,
)
from plausibly.data.plausibilities import is_sparse, to_dense
from plausibly.data.states import STATES, read_left_out, read_merged, with_left_out, with_merged
from plausibly.errors import InputError, listed
from plausibly.kernels.types import Ints

if TYPE_CHECKING:
    import pandas as pd


Names: TypeAlias = "object | Iterable[object] | xr.DataArray | NDArray[np.bool_]"
"""One name, several names, or a mask over the dim."""


def select_annotations(
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
    part = rows.take(responses).isel({names.EXAMPLE: examples, names.ANNOTATOR: annotators})
    columns = {
        names.RESPONSE_EXAMPLE: (names.RESPONSE, new_example[responses]),
        names.RESPONSE_ANNOTATOR: (names.RESPONSE, new_annotator[responses]),
    }
    return rebuilt(part.assign(columns))


def answered(table: xr.Dataset) -> list[str]:
    """Return the names of the examples with a response that names a label."""
    rows = Rows.of(check_table(table))
    return name_texts(table.indexes[names.EXAMPLE][rows.votes > 0])


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
            if values.shape == (len(known),):
                return np.flatnonzero(values)
            raise InputError(
                "mask-length",
                f"the mask over {dim} does not fit the annotations",
                expected=f"one entry per {dim}: {len(known):,}",
                found=f"shape {values.shape}",
                hint=f"name the {dim}s instead",
                source="annotations",
            )
        texts = name_texts(values.tolist())
    check_names(texts, dim, source="the selection")
    places = positions(known, texts)
    lost = [name for name, place in zip(texts, places, strict=True) if place < 0]
    if lost:
        meant = near(lost[0], known)
        raise InputError(
            f"{dim}s-unknown",
            f"annotations lack {several(len(lost), dim)} of the selection",
            expected=f"names among {several(len(known), dim)}",
            found=listed(lost),
            hint=f"did you mean {meant}?" if meant else f"take them from ann.{dim}.values",
            source="annotations",
            details={f"{dim}s": lost},
        )
    return places


_FILL = {
    names.RESPONSE_WEIGHT: 1.0,
    names.RESPONSE_STATE: np.int8(0),
    names.MENTION_BLOCK: np.int16(1),
    names.MENTION_WEIGHT: 1.0,
}
_NAMED = (names.EXAMPLE, names.ANNOTATOR, names.LABEL)
_CODES_OF = {
    names.RESPONSE_EXAMPLE: names.EXAMPLE,
    names.RESPONSE_ANNOTATOR: names.ANNOTATOR,
    names.MENTION_LABEL: names.LABEL,
}


def concat_annotations(tables: Iterable[xr.Dataset]) -> AnnotationTable:
    """Return one annotation table with the responses of all.

    Parameters
    ----------
    tables : iterable of Dataset
        Annotation tables of one kind; they are not changed. The same example may be in several:
        its responses add.

    Returns
    -------
    AnnotationTable
        Labels in the order in which the tables name them; examples and annotators sorted by name.
        Every variable is carried, a plugin's too: one over responses or mentions is laid end to
        end, one over examples, labels or annotators is looked up by name.

    Raises
    ------
    InputError
        ``kinds-differ``; ``response-twice`` where two tables hold a response of the same annotator
        to the same example; ``variable-missing`` or ``variable-differs`` where a further variable
        cannot be joined.
    """
    parts = [check_table(table) for table in tables]
    if not parts:
        raise InputError(
            "annotations-empty",
            "there is no annotation table to join",
            expected="one or more",
            found="none",
            hint="plausibly.concat_annotations([first, second])",
        )
    for attribute in (names.KIND, names.UNLISTED, names.REPEATED):
        values = list(dict.fromkeys(str(part.attrs.get(attribute, "no")) for part in parts))
        if len(values) > 1:
            raise InputError(
                "kinds-differ",
                f"tables of {attribute} {values[0]} and {values[1]} cannot be joined",
                expected="tables of one kind of answer, read in one way",
                found=listed(values),
                hint="aggregate each alone",
                source="annotations",
            )
    united = {
        dim: list(dict.fromkeys(one for part in parts for one in name_texts(part.indexes[dim])))
        for dim in _NAMED
    }
    for dim in (names.EXAMPLE, names.ANNOTATOR):
        united[dim].sort()
    places = [
        {dim: positions(united[dim], name_texts(part.indexes[dim])) for dim in _NAMED}
        for part in parts
    ]
    recoded = []
    for part, place in zip(parts, places, strict=True):
        new = {}
        for column, dim in _CODES_OF.items():
            codes: Ints = part[column].values
            # the extra last place is where code -1, an unknown annotator, looks
            new[column] = part[column].variable.copy(data=np.append(place[dim], -1)[codes])
        recoded.append(part.assign(new))
    _check_once(recoded, united)
    variables = {
        name: _joined(name, recoded, places)
        for name in dict.fromkeys(str(name) for part in parts for name in part.variables)
        if name not in _NAMED
    }
    coordinates = {name for part in parts for name in part.coords}
    declared = all(part.attrs[names.LABELS_DECLARED] for part in parts)
    whole = xr.Dataset(
        {**variables, **{dim: (dim, text_array(texts)) for dim, texts in united.items()}},
        attrs={**parts[0].attrs, names.LABELS_DECLARED: int(declared)},
    ).set_coords(coordinates)
    for name in (names.MERGED, names.LEFT_OUT):
        whole.attrs.pop(name, None)
    for part in parts:
        whole = with_merged(whole, read_merged(part.attrs))
        whole = with_left_out(whole, read_left_out(part.attrs))
    return rebuilt(whole)


def _check_once(parts: Sequence[xr.Dataset], united: Mapping[str, list[str]]) -> None:
    """Refuse two tables that both hold a response of one annotator to one example."""
    pairs = []
    for part in parts:
        example: Ints = part[names.RESPONSE_EXAMPLE].values
        annotator: Ints = part[names.RESPONSE_ANNOTATOR].values
        pairs.append(np.unique(np.stack((example, annotator))[:, annotator >= 0], axis=1))
    every, count = np.unique(np.concatenate(pairs, axis=1), axis=1, return_counts=True)
    if (count > 1).any():
        twice = every[:, count > 1]
        raise InputError(
            "response-twice",
            f"example {united[names.EXAMPLE][twice[0, 0]]}, annotator "
            f"{united[names.ANNOTATOR][twice[1, 0]]} answers in two tables",
            expected="one response per annotator and example",
            found=f"{several(twice.shape[1], 'response')} in more than one table",
            hint="keep one response per annotator and example",
            source="annotations",
            details={"examples": [united[names.EXAMPLE][code] for code in twice[0]]},
        )


def _joined(
    name: str, parts: Sequence[xr.Dataset], places: Sequence[Mapping[str, Ints]]
) -> xr.Variable:
    """Return one variable of all tables: laid end to end, or each entry once, by its name."""
    model = next(part.variables[name] for part in parts if name in part.variables)
    dim = next((dim for dim in (names.RESPONSE, names.MENTION, *_NAMED) if dim in model.dims), "")
    pieces = []
    offset = 0
    for part in parts:
        piece = part.variables.get(name)
        if piece is None and name in _FILL:
            piece = xr.Variable(dim, np.full(part.sizes[dim], _FILL[name]))
        if piece is None or set(piece.dims) != set(model.dims):
            raise _unjoined("variable-missing", name)
        if name == names.MENTION_RESPONSE:
            piece = piece.copy(data=piece.values + offset)
            offset += part.sizes[names.RESPONSE]
        pieces.append(xr.DataArray(piece.transpose(*model.dims)))
    if not dim:
        if not all(piece.equals(pieces[0]) for piece in pieces):
            raise _unjoined("variable-differs", name)
        return model
    whole = xr.concat(pieces, dim)
    if dim not in _NAMED:
        return whole.variable
    place = np.concatenate([entry[dim] for entry in places])
    kept = whole.isel({dim: np.unique(place, return_index=True)[1]})
    if len(model.dims) > 1 or not kept.isel({dim: place}).equals(whole):
        raise _unjoined("variable-differs", name)
    return kept.variable


def _unjoined(message: str, name: str) -> InputError:
    return InputError(
        message,
        f"the variable {name} cannot be joined",
        expected="the same variables in all tables, equal where they name the same thing",
        hint=f'fix it, or leave it out: ann.drop_vars("{name}")',
        source="annotations",
        details={"variable": name},
    )


def to_frame(table: xr.Dataset | xr.DataArray) -> pd.DataFrame:
    """Return annotations, predictions, plausibilities or prediction sets as a data frame.

    Parameters
    ----------
    table : Dataset or DataArray
        An annotation table, or an array with the dims example and label, dense or sparse.

    Returns
    -------
    DataFrame
        Of an array: a row per example and a column per label; augmentation, draw or alpha stand
        before the example in the index. Of annotations, one row per mention: index ``response``
        (mentions of one response share it); columns ``example``, ``annotator``
        and ``label`` (categorical, with all names of the table as categories), then every further
        variable over responses or mentions under its own name (``response_state`` as words). An
        empty answer is a row without label; an unknown annotator is missing; an example that was
        not annotated has no row.

    Raises
    ------
    InputError
        What `check_table` raises; ``dims-differ`` for an array without examples or labels.
    """
    import pandas as pd

    array = to_dense(table) if is_sparse(table) else table
    if isinstance(array, xr.DataArray):
        if not {names.EXAMPLE, names.LABEL} <= set(array.dims):
            raise InputError(
                "dims-differ",
                "an array of these dims is no table of labels",
                expected="the dims example and label, after augmentation, draw or alpha",
                found=listed(array.dims),
                hint="predictions, plausibilities or prediction sets of plausibly",
                source="table",
            )
        before = [dim for dim in array.dims if dim not in (names.EXAMPLE, names.LABEL)]
        ordered = array.transpose(*before, names.EXAMPLE, names.LABEL)
        index = ordered.get_index(names.EXAMPLE)
        if before:
            levels = [ordered.get_index(dim) for dim in (*before, names.EXAMPLE)]
            index = pd.MultiIndex.from_product(levels, names=[*before, names.EXAMPLE])
        columns_of = ordered.get_index(names.LABEL)
        return pd.DataFrame(ordered.values.reshape(len(index), -1), index, columns_of)
    rows = Rows.of(check_table(array))
    response, mention = rows.spread()
    columns: dict[str, object] = {
        dim: pd.Categorical.from_codes(codes, categories=array.indexes[dim])
        for dim, codes in (
            (names.EXAMPLE, rows.example[response]),
            (names.ANNOTATOR, rows.annotator[response]),
            (names.LABEL, np.append(rows.label, names.NO_LABEL)[mention]),
        )
    }
    frame = pd.DataFrame(columns, index=pd.Index(response, name=names.RESPONSE))
    for name, variable in array.variables.items():
        if name in NEEDED:
            continue
        if name == names.RESPONSE_STATE:
            codes = variable.values[response]
            frame[str(name)] = pd.Categorical.from_codes(codes, categories=pd.Index(STATES))
        elif variable.dims == (names.RESPONSE,):
            frame[str(name)] = variable.values[response]
        elif variable.dims == (names.MENTION,):
            values = pd.Series(variable.values).reindex(mention)
            frame[str(name)] = values.set_axis(frame.index)
    return frame
