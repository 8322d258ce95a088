"""Variables of any type under names, and what is said of them, as JSON that reads back exactly.

A file of ours says of itself, in one JSON text, what its format has no place for: attributes with
their types, types and dims of variables, and the values of variables that it cannot hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.errors import InputError
from plausibly.io.exact_json import as_it_was, as_list, decoded, encoded, from_list, plain, type_of

MARK = "plausibly"
"""The key of the JSON text that says what kind of table a file is; its first one."""

_VERSION = 1


@attrs.frozen(kw_only=True, eq=False)
class Piece:
    """One variable.

    Attributes
    ----------
    name : str
    dims : tuple of str
    values : ndarray
        Numbers, truth values, text (of fixed width or as objects) or dates.
    coordinate : bool
        Whether it is a coordinate of the table.
    attributes : dict
    """

    name: str
    dims: tuple[str, ...]
    values: NDArray[Any]  # Any: a plugin's own type
    coordinate: bool = False
    attributes: Mapping[str, object] = attrs.field(factory=dict)

    @property
    def variable(self) -> xr.Variable:
        """The same as a variable of xarray."""
        return xr.Variable(self.dims, self.values, attrs=dict(self.attributes))


@attrs.frozen(kw_only=True, eq=False)
class Content:
    """What a file holds.

    Attributes
    ----------
    kind : str
        What it is: ``"annotation table"`` or ``"plausibilities"``.
    attributes : dict
        Of the table.
    pieces : tuple of Piece
        Its variables.
    more : dict
        Whatever else belongs to the kind of file; plain JSON.
    """

    kind: str
    attributes: Mapping[str, object]
    pieces: tuple[Piece, ...]
    more: Mapping[str, object] = attrs.field(factory=dict)


def pieces_of(variables: Mapping[str, xr.Variable], coordinates: Iterable[object]) -> list[Piece]:
    """Return variables as pieces; those named in `coordinates` are some."""
    known = {str(name) for name in coordinates}
    return [
        Piece(
            name=name,
            dims=tuple(str(dim) for dim in variable.dims),
            values=np.asarray(variable.values),
            coordinate=name in known,
            attributes={str(key): value for key, value in variable.attrs.items()},
        )
        for name, variable in variables.items()
    ]


# ---- what is said of them


def entry(piece: Piece, whose: str, *, key: str | None = None) -> dict[str, object]:
    """Return what is said of a variable: with its values, unless they are stored under `key`."""
    found: dict[str, object] = {
        "name": piece.name,
        "dims": list(piece.dims),
        "type": type_of(piece.values),
        "coordinate": piece.coordinate,
        "attributes": {k: encoded(v, k, whose) for k, v in piece.attributes.items()},
    }
    if key is not None:
        return {**found, "key": key}
    return {
        **found,
        "shape": list(piece.values.shape),
        "values": as_list(plain(piece.values, piece.name, whose)),
    }


def said(content: Content, entries: Sequence[Mapping[str, object]], whose: str) -> str:
    """Return the JSON text that says what a file holds, in ASCII."""
    return json.dumps(
        {
            MARK: content.kind,
            "version": _VERSION,
            **content.more,
            "attributes": {k: encoded(v, k, whose) for k, v in content.attributes.items()},
            "variables": list(entries),
        }
    )


def understood(
    text: str,
    kind: str,
    whose: str,
    stored: Mapping[str, NDArray[Any]] | None = None,  # Any: as the file says
) -> Content:
    """Return what a file holds, from its JSON text and the arrays that it stores.

    Parameters
    ----------
    text : str
        What `said` gave.
    kind : str
        What the file should be.
    whose : str
        Name of the file.
    stored : mapping of str to ndarray, optional
        Arrays by key; a variable whose key is not there is left to the caller.

    Raises
    ------
    InputError
        ``file-damaged``; ``file-newer`` where a later version wrote it.
    """
    try:
        document = json.loads(text)
        version = int(document["version"])
        if document[MARK] != kind:
            raise _other(whose, kind, str(document[MARK]))
        if version > _VERSION:
            raise _newer(whose, version)
        return _understood(document, stored or {})
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as reason:
        raise damaged(whose, reason) from reason


# Any: whatever the JSON holds; what does not fit raises, and is reported as damage
def _understood(document: dict[str, Any], stored: Mapping[str, NDArray[Any]]) -> Content:
    pieces = []
    for one in document.pop("variables"):
        dims = tuple(str(dim) for dim in one["dims"])
        if "values" in one:
            values = from_list(one["values"], one["type"], one["shape"])
        elif one["key"] in stored:
            values = as_it_was(stored[one["key"]], one["type"])
        else:
            continue
        if values.ndim != len(dims):
            raise ValueError(f"{one['name']} has {values.ndim} dims")
        pieces.append(
            Piece(
                name=str(one["name"]),
                dims=dims,
                values=values,
                coordinate=bool(one["coordinate"]),
                attributes={k: decoded(v) for k, v in one["attributes"].items()},
            )
        )
    attributes = {k: decoded(v) for k, v in document.pop("attributes").items()}
    kind = str(document.pop(MARK))
    return Content(kind=kind, attributes=attributes, pieces=tuple(pieces), more=document)


def damaged(whose: str, reason: BaseException) -> InputError:
    """Return the error for a file of ours whose parts do not fit together."""
    shown = " ".join(str(reason).split())[:120] or type(reason).__name__
    return InputError(
        "file-damaged",
        f"{whose} is not a whole file",
        expected="what plausibly wrote",
        got=shown,
        do="copy it again, or write it again",
        whose=whose,
    )


_READS = {
    "annotation table": "plausibly.read_annotations(path), or -a FILE",
    "plausibilities": "plausibly.read_plausibilities(path), or the option plausibilities",
}


def _other(whose: str, kind: str, got: str) -> InputError:
    return InputError(
        "file-other",
        f"{whose} holds something else",
        expected=kind,
        got=got,
        do=_READS.get(got, "name another file"),
        whose=whose,
    )


def _newer(whose: str, version: int) -> InputError:
    return InputError(
        "file-newer",
        f"{whose} was written by a later version of plausibly",
        expected=f"format {_VERSION}",
        got=f"format {version}",
        do='upgrade here: pip install --upgrade "plausibly"',
        whose=whose,
    )
