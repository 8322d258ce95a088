"""Several annotation tables as one: labels united in order, examples and annotators by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.left_out import read_left_out
from plausibly.data.merged import read_merged, with_merged
from plausibly.data.seal import check_table
from plausibly.data.table import AnnotationTable, rebuilt
from plausibly.data.text import name_texts, positions, several
from plausibly.errors import InputError, listed
from plausibly.kernels.types import Bools, Ints

_FILL = {
    names.RESPONSE_WEIGHT: 1.0,
    names.RESPONSE_STATE: np.int8(0),
    names.MENTION_BLOCK: np.int16(1),
    names.MENTION_WEIGHT: 1.0,
}
_NAMED = (names.EXAMPLE, names.ANNOTATOR, names.LABEL)
_CODES = {
    names.RESPONSE_EXAMPLE: names.EXAMPLE,
    names.RESPONSE_ANNOTATOR: names.ANNOTATOR,
    names.MENTION_LABEL: names.LABEL,
}


def concat(tables: Iterable[xr.Dataset]) -> AnnotationTable:
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
            got="none",
            do="plausibly.concat([first, second])",
        )
    _check_alike(parts)
    united = {dim: _united([name_texts(part.indexes[dim]) for part in parts]) for dim in _NAMED}
    for dim in (names.EXAMPLE, names.ANNOTATOR):
        united[dim].sort()
    places = [
        {dim: positions(united[dim], name_texts(part.indexes[dim])) for dim in _NAMED}
        for part in parts
    ]
    recoded = [_recoded(part, place) for part, place in zip(parts, places, strict=True)]
    _check_once(recoded, united)
    variables = {
        name: _joined(name, recoded, places, united)
        for name in dict.fromkeys(str(name) for part in parts for name in part.variables)
        if name not in _NAMED
    }
    coordinates = {name for part in parts for name in part.coords}
    left_out: dict[str, int] = {}
    for part in parts:
        for reason, count in read_left_out(part.attrs).items():
            left_out[reason] = left_out.get(reason, 0) + count
    declared = all(part.attrs[names.LABELS_DECLARED] for part in parts)
    whole = xr.Dataset(
        {name: item for name, item in variables.items() if name not in coordinates},
        coords={
            **{dim: (dim, np.array(texts, dtype=np.str_)) for dim, texts in united.items()},
            **{name: item for name, item in variables.items() if name in coordinates},
        },
        attrs={**parts[0].attrs, names.LABELS_DECLARED: int(declared)},
    )
    whole.attrs.pop(names.MERGED, None)
    for part in parts:
        whole = with_merged(whole, read_merged(part.attrs))
    return rebuilt(whole, left_out=left_out)


def _check_alike(parts: Sequence[xr.Dataset]) -> None:
    for attribute in (names.KIND, names.UNLISTED, names.REPEATED):
        found = list(dict.fromkeys(str(part.attrs.get(attribute, "no")) for part in parts))
        if len(found) > 1:
            raise InputError(
                "kinds-differ",
                f"tables of {attribute} {found[0]} and {found[1]} cannot be joined",
                expected="tables of one kind of answer, read in one way",
                got=listed(found),
                do="aggregate each alone",
                whose="annotations",
            )


def _united(lists: Sequence[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for texts in lists for name in texts))


def _recoded(part: xr.Dataset, place: Mapping[str, NDArray[np.int64]]) -> xr.Dataset:
    """Return the table with its codes turned into those of the united names."""
    new = {}
    for column, dim in _CODES.items():
        codes: Ints = part[column].values
        # the extra last place is where code -1, an unknown annotator, looks
        new[column] = part[column].variable.copy(data=np.append(place[dim], -1)[codes])
    return part.assign(new)


def _check_once(parts: Sequence[xr.Dataset], united: Mapping[str, list[str]]) -> None:
    """Refuse two tables that both hold a response of one annotator to one example."""
    pairs = []
    for part in parts:
        example: Ints = part[names.RESPONSE_EXAMPLE].values
        annotator: Ints = part[names.RESPONSE_ANNOTATOR].values
        known = annotator >= 0
        code = example[known].astype(np.int64) * len(united[names.ANNOTATOR]) + annotator[known]
        pairs.append(_distinct(np.sort(code)))
    every = np.sort(np.concatenate(pairs))
    twice = _distinct(every[1:][every[1:] == every[:-1]])
    if not twice.size:
        return
    example, annotator = np.divmod(twice, len(united[names.ANNOTATOR]))
    examples = [united[names.EXAMPLE][code] for code in example[annotator == annotator[0]]]
    again = several(len(examples), "example")
    raise InputError(
        "response-twice",
        f"{united[names.ANNOTATOR][annotator[0]]} answered {again} in two tables "
        f"({listed(examples)})",
        expected="one response an annotator and example",
        got=f"{several(twice.size, 'response')} in more than one table",
        do="keep one response an annotator and example",
        whose="annotations",
        details={"examples": [united[names.EXAMPLE][code] for code in example]},
    )


def _distinct(ordered: NDArray[np.int64]) -> NDArray[np.int64]:
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if ordered.size else ordered


def _joined(
    name: str,
    parts: Sequence[xr.Dataset],
    places: Sequence[Mapping[str, NDArray[np.int64]]],
    united: Mapping[str, list[str]],
) -> xr.Variable:
    """Return one variable of all tables."""
    model = next(part.variables[name] for part in parts if name in part.variables)
    along = [dim for dim in (names.RESPONSE, names.MENTION) if dim in model.dims]
    pieces = []
    offset = 0
    for part in parts:
        piece = part.variables.get(name)
        if piece is None and name in _FILL:
            piece = xr.Variable(along, np.full(part.sizes[along[0]], _FILL[name]))
        if piece is None or set(piece.dims) != set(model.dims):
            raise _unjoined("variable-missing", name, "not every table has it, over the same dims")
        if name == names.MENTION_RESPONSE:
            piece = piece.copy(data=piece.values + offset)
            offset += part.sizes[names.RESPONSE]
        pieces.append(piece.transpose(*model.dims))
    if along:
        return _end_to_end(pieces, along[0])
    named = [dim for dim in _NAMED if dim in model.dims]
    if not named:
        if any(_differing(piece.values, model.values).any() for piece in pieces):
            raise _unjoined("variable-differs", name, "it is not the same in all tables")
        return model
    return _looked_up(name, pieces, places, named, united)


def _looked_up(
    name: str,
    pieces: Sequence[xr.Variable],
    places: Sequence[Mapping[str, NDArray[np.int64]]],
    dims: Sequence[str],
    united: Mapping[str, list[str]],
) -> xr.Variable:
    """Return a variable over named dims, each entry taken from a table that has the names."""
    dim = dims[0]
    if len(pieces[0].dims) > 1:
        raise _unjoined("variable-differs", name, f"it has the dims {listed(pieces[0].dims)}")
    every = _end_to_end(pieces, dim)
    place = np.concatenate([entry[dim] for entry in places])
    first = np.unique(place, return_index=True)[1]
    whole = every.isel({dim: first})
    differing = np.flatnonzero(_differing(every.values, whole.values[place]))
    if differing.size:
        rows = [united[dim][code] for code in place[differing]]
        raise _unjoined("variable-differs", name, f"it differs for {dim} {listed(rows)}")
    return whole


def _end_to_end(pieces: Sequence[xr.Variable], dim: str) -> xr.Variable:
    dims = pieces[0].dims
    values = np.concatenate([piece.values for piece in pieces], axis=dims.index(dim))
    return xr.Variable(dims, values, attrs=pieces[0].attrs)


def _differing(values: NDArray[Any], others: NDArray[Any]) -> Bools:  # Any: a plugin's own type
    """Return where entries differ; two missing ones, NaN or the like, do not."""
    if values.shape != others.shape:
        return np.ones(1, bool)
    missing = (values != values) & (others != others)
    differ: Bools = np.asarray((values != others) & ~missing, dtype=bool)
    return differ


def _unjoined(message: str, name: str, why: str) -> InputError:
    return InputError(
        message,
        f"the variable {name} cannot be joined: {why}",
        expected="the same variables in all tables, equal where they name the same thing",
        do=f'mend it, or leave it out: ann.drop_vars("{name}")',
        whose="annotations",
        details={"variable": name},
    )
