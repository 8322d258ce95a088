"""The annotation table: every response of every annotator, one sealed Dataset.

An indexed ragged array in the sense of the CF conventions. Dims and variables (codes are int32):

===================== ============ ================================================================
variable              dims         meaning
===================== ============ ================================================================
example               example      names, text
label                 label        names, text, in the declared order
annotator             annotator    names, text
response_example      response     code of the example
response_annotator    response     code of the annotator; -1 = unknown
response_weight       response     optional float64 >= 0: how many times the response counts
response_state        response     optional int8: see `plausibly.data.states`; 0 = answered
mention_response      mention      code of the response
mention_label         mention      code of the label that it names
mention_block         mention      optional int16 >= 1: rank block, ties share one
mention_weight        mention      optional float64 >= 0: weight of the label within the response
===================== ============ ================================================================

A response without mention is no answer, for the reason that its state says: by default a skip, or
an empty label set. An example without response was not annotated. Where one annotator may answer an
example several times, the attribute ``repeated`` says so (``all`` or ``fractional``).
Further variables over these dims, a plugin's own, travel with them.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from plausibly import text
from plausibly.data import names
from plausibly.data.describe import describe, most_said
from plausibly.data.known import remember
from plausibly.data.left_out import read_left_out
from plausibly.data.seal import sealed
from plausibly.data.states import STATES
from plausibly.data.text import check_names, name_texts, several, text_index
from plausibly.errors import InputError
from plausibly.kernels.random import Names
from plausibly.kernels.types import Ints, still

Extra: TypeAlias = Mapping[str, xr.Variable]
"""Further variables by name, each over dims of the table."""

_WHOSE = "the annotation table"
_UNLISTED = ("excluded", "unknown")
_DIMS = (names.EXAMPLE, names.LABEL, names.ANNOTATOR)
_COLUMNS = (
    names.RESPONSE_EXAMPLE,
    names.RESPONSE_ANNOTATOR,
    names.RESPONSE_WEIGHT,
    names.RESPONSE_STATE,
    names.MENTION_RESPONSE,
    names.MENTION_LABEL,
    names.MENTION_BLOCK,
    names.MENTION_WEIGHT,
)


@attrs.frozen(eq=False)
class Given:
    """Codes that belong to the table from here on: they are not copied."""

    codes: Ints


class AnnotationTable(xr.Dataset):  # type: ignore[no-untyped-call]  # xarray lacks the hint
    """A Dataset of annotations that prints as a person would sum it up."""

    __slots__ = ()

    def __repr__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        return text.framed(
            "annotation table",
            text.preformatted(describe(self)),
            most_said(self),
            text.unfolded("variables", text.Html(super()._repr_html_())),
        )


def build_table(
    kind: str,
    *,
    examples: Iterable[object] | Names,
    annotators: Iterable[object] | Names,
    labels: Iterable[object] | Names,
    response_example: ArrayLike | Given,
    response_annotator: ArrayLike | Given,
    mention_response: ArrayLike | Given,
    mention_label: ArrayLike | Given,
    mention_block: ArrayLike | None = None,
    mention_weight: ArrayLike | None = None,
    response_weight: ArrayLike | None = None,
    response_state: ArrayLike | None = None,
    unlisted: str = "excluded",
    labels_declared: bool = True,
    left_out: Mapping[str, int] | None = None,
    variables: Extra | None = None,
    coordinates: Extra | None = None,
    attributes: Mapping[str, object] | None = None,
) -> AnnotationTable:
    """Return a sealed annotation table from names and codes.

    Responses are put in the order of examples, then annotators, and mentions in the order of
    responses, then blocks, then labels; otherwise the given order is kept.

    Parameters
    ----------
    kind : str
        Kind of answer: ``"single-label"``, ``"partial-ranking"``, ``"label-set"``,
        ``"soft-label"``, or a plugin's.
    examples, annotators, labels : iterable or Names
        Names, each once; an example or annotator without response is kept.
    response_example, response_annotator : array_like of int or Given, (response,)
        Codes into `examples` and `annotators`; annotator -1 = unknown.
    mention_response, mention_label : array_like of int or Given, (mention,)
        Codes into the responses and `labels`.
    mention_block : array_like of int, (mention,), optional
        Rank block, from 1.
    mention_weight : array_like of float, (mention,), optional
        Weight of the label within its response.
    response_weight : array_like of float, (response,), optional
        How many times a response counts, such as the votes in a table of counts.
    response_state : array_like of int, (response,), optional
        Places in `plausibly.data.states.STATES`.
    unlisted : {"excluded", "unknown"}
        What it means that a response does not name a label.
    labels_declared : bool
        Whether `labels` were declared, or are those that were seen.
    left_out : mapping of str to int, optional
        Responses that did not enter, by reason: printed with the table.
    variables, coordinates : mapping of str to Variable, optional
        Further variables over these dims.
    attributes : mapping, optional
        Further attributes.

    Raises
    ------
    InputError
        ``example-twice`` and the like where names repeat, ``table-invalid`` where a code, weight or
        size is out of range.
    """
    named = {
        names.EXAMPLE: _names(examples),
        names.LABEL: _names(labels),
        names.ANNOTATOR: _names(annotators),
    }
    for dim, given in named.items():
        if not given.usable:
            check_names(given.texts, dim, whose=_WHOSE)
    example = _codes(response_example, names.RESPONSE_EXAMPLE, 0, len(named[names.EXAMPLE]))
    annotator = _codes(
        response_annotator,
        names.RESPONSE_ANNOTATOR,
        names.UNKNOWN_ANNOTATOR,
        len(named[names.ANNOTATOR]),
    )
    response = _codes(mention_response, names.MENTION_RESPONSE, 0, example.size)
    label = _codes(mention_label, names.MENTION_LABEL, 0, len(named[names.LABEL]))
    if unlisted not in _UNLISTED:
        raise _invalid(names.UNLISTED, " or ".join(_UNLISTED), unlisted)
    columns: dict[str, xr.Variable] = {
        names.RESPONSE_EXAMPLE: xr.Variable(names.RESPONSE, example),
        names.RESPONSE_ANNOTATOR: xr.Variable(names.RESPONSE, annotator),
        names.MENTION_RESPONSE: xr.Variable(names.MENTION, response),
        names.MENTION_LABEL: xr.Variable(names.MENTION, label),
    }
    if response_weight is not None:
        weight = _weights(response_weight, names.RESPONSE_WEIGHT)
        columns[names.RESPONSE_WEIGHT] = xr.Variable(names.RESPONSE, weight)
    if response_state is not None:
        state = _codes(response_state, names.RESPONSE_STATE, 0, len(STATES))
        columns[names.RESPONSE_STATE] = xr.Variable(names.RESPONSE, state.astype(np.int8))
    if mention_block is not None:
        block = _codes(mention_block, names.MENTION_BLOCK, 1, np.iinfo(np.int16).max + 1)
        columns[names.MENTION_BLOCK] = xr.Variable(names.MENTION, block.astype(np.int16))
    if mention_weight is not None:
        share = _weights(mention_weight, names.MENTION_WEIGHT)
        columns[names.MENTION_WEIGHT] = xr.Variable(names.MENTION, share)
    extra = {**(variables or {}), **(coordinates or {})}
    _check_lengths({**columns, **extra}, named)
    ordered = _in_order(columns, extra)
    kept = set(coordinates or {})
    indexes = {dim: text_index(given, dim) for dim, given in named.items()}
    about = {name: variable for name, variable in ordered.items() if name in kept}
    for index in indexes.values():
        about.update(index.create_variables())
    table = AnnotationTable(
        {name: variable for name, variable in ordered.items() if name not in kept},
        coords=xr.Coordinates(about, indexes),
        attrs={
            **(attributes or {}),
            names.KIND: kind,
            names.UNLISTED: unlisted,
            names.LABELS_DECLARED: int(labels_declared),
            names.LEFT_OUT: json.dumps({str(k): int(v) for k, v in (left_out or {}).items()}),
        },
    )
    for dim, given in named.items():
        remember(table.get_index(dim), given)
    return sealed(table)


def _names(given: Iterable[object] | Names) -> Names:
    return given if isinstance(given, Names) else Names(name_texts(given))


def rebuilt(table: xr.Dataset, *, left_out: Mapping[str, int] | None = None) -> AnnotationTable:
    """Return a table of the same variables and attributes, checked, in order, and sealed anew."""
    coded = {name: table[name].values for name in _COLUMNS if name in table.variables}
    further = {str(name): table.variables[name] for name in table.variables}
    for name in (*_COLUMNS, *_DIMS):
        further.pop(name, None)
    return build_table(
        str(table.attrs[names.KIND]),
        examples=table.indexes[names.EXAMPLE],
        annotators=table.indexes[names.ANNOTATOR],
        labels=table.indexes[names.LABEL],
        **coded,
        unlisted=str(table.attrs[names.UNLISTED]),
        labels_declared=bool(table.attrs[names.LABELS_DECLARED]),
        left_out=read_left_out(table.attrs) if left_out is None else left_out,
        variables={name: item for name, item in further.items() if name not in table.coords},
        coordinates={name: item for name, item in further.items() if name in table.coords},
        attributes={str(name): value for name, value in table.attrs.items()},
    )


def _invalid(column: str, expected: str, got: str) -> InputError:
    return InputError(
        "table-invalid",
        f"{_WHOSE} cannot be built: {column} is out of range",
        expected=expected,
        got=got,
        do=f"mend {column} where it is made",
        whose=_WHOSE,
    )


def _codes(values: ArrayLike | Given, column: str, least: int, end: int) -> NDArray[np.int32]:
    codes: Ints = values.codes if isinstance(values, Given) else np.asarray(values)
    if codes.size == 0:
        return np.zeros(0, np.int32)
    if codes.dtype.kind not in "iu" or codes.ndim != 1:
        raise _invalid(column, "one dim of integers", f"{codes.ndim} of {codes.dtype}")
    low, high = int(codes.min()), int(codes.max())
    if low < least or high >= end:
        raise _invalid(column, f"{least} to {end - 1}", f"{low} to {high}")
    return still(codes.astype(np.int32, copy=not isinstance(values, Given)))


def _weights(values: ArrayLike, column: str) -> NDArray[np.float64]:
    weights = np.array(values, dtype=np.float64)
    if weights.size and not (np.isfinite(weights).all() and weights.min() >= 0):
        raise _invalid(column, "finite numbers, 0 or more", f"{weights.min()} to {weights.max()}")
    return still(weights)


def _check_lengths(variables: Extra, named: Mapping[str, Names]) -> None:
    sizes: dict[Hashable, int] = {dim: len(given) for dim, given in named.items()}
    for name, variable in variables.items():
        for dim, size in zip(variable.dims, variable.shape, strict=True):
            if sizes.setdefault(dim, size) != size:
                raise _invalid(name, f"{several(sizes[dim], 'value')} over {dim}", f"{size}")


def _in_order(columns: Extra, extra: Extra) -> dict[str, xr.Variable]:
    """Return all variables with responses and mentions in their order."""
    example: Ints = columns[names.RESPONSE_EXAMPLE].values
    annotator: Ints = columns[names.RESPONSE_ANNOTATOR].values
    response: Ints = columns[names.MENTION_RESPONSE].values
    place = _order(example, annotator)
    every = {**columns, **extra}
    if place is not None:
        new = np.empty(place.size, np.int32)
        new[place] = np.arange(place.size)
        response = new[response]
        every = {name: _taken(item, names.RESPONSE, place) for name, item in every.items()}
        every[names.MENTION_RESPONSE] = xr.Variable(names.MENTION, response)
    blocks = columns.get(names.MENTION_BLOCK)
    label: Ints = columns[names.MENTION_LABEL].values
    keys = (response, label) if blocks is None else (response, blocks.values, label)
    place = _order(*keys)
    if place is not None:
        every = {name: _taken(item, names.MENTION, place) for name, item in every.items()}
    return every


def _taken(variable: xr.Variable, dim: str, place: NDArray[np.intp]) -> xr.Variable:
    return variable.isel({dim: place}) if dim in variable.dims else variable


def _order(*keys: Ints) -> NDArray[np.intp] | None:
    """Return the stable order by the first key, then the next ones; None where it stands so."""
    if (keys[0][1:] > keys[0][:-1]).all():
        return None
    rises = np.ones(max(0, keys[0].size - 1), bool)
    for key in reversed(keys):
        rises &= key[1:] == key[:-1]
        rises |= key[1:] > key[:-1]
    return None if rises.all() else np.lexsort(keys[::-1])
