"""Names of examples, labels and annotators as text: ``7`` and ``"7"`` are the same name."""

from __future__ import annotations

import datetime
import math
import numbers
import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from xarray.indexes import PandasIndex

from plausibly.errors import InputError, counted, listed
from plausibly.extras import require
from plausibly.kernels.random import Names
from plausibly.kernels.random import name_text as name_text
from plausibly.kernels.utf8 import Utf8

T = TypeVar("T", bound=Hashable)

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
"""A number beyond doubt, as programs write it."""

WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")

_NOT_ASCII = 0x80
_UNSEEN = "\xad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"  # of no width; str.strip() keeps them


def is_missing(value: object) -> bool:
    """Return whether `value` stands for "nothing here": None, NaN, or the NA of pandas."""
    if isinstance(value, str):
        return False
    if value is None:
        return True
    if isinstance(value, numbers.Real):
        return math.isnan(value)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return type(value).__name__ in {"NAType", "NaTType"}


def is_blank(text: str) -> bool:
    """Return whether nothing of a text can be seen: it is empty, or blanks of any width."""
    rest = text.strip()
    return not rest or not "".join(rest.split()).strip(_UNSEEN)


def is_name(value: object) -> bool:
    """Return whether `value` is one name: text, a number, a date; nothing that holds several."""
    return isinstance(value, (str, bytes, numbers.Number, np.generic, datetime.date))


def name_texts(values: Iterable[object]) -> list[str]:
    """Return each name as text."""
    if isinstance(values, (np.ndarray, pd.Index)):
        text = isinstance(values.dtype, pd.StringDtype) or values.dtype.kind == "U"
        complete = text and not (isinstance(values, pd.Index) and values.hasnans)
        if complete and isinstance(values, pd.Index):
            # An Arrow-backed index gives a list of its own far more slowly.
            return values.to_numpy(object).tolist()
        numbered = values.dtype.kind in "iu"
        if values.dtype.kind in "mM" or values.dtype in (np.float16, np.float32):
            return list(map(name_text, np.asarray(values)))  # as Python's they would be others
        values = values.tolist()  # reading an Arrow-backed index one by one is slow
        if complete:
            return values
        if numbered:
            return list(map(str, values))
    return [value if type(value) is str else name_text(value) for value in values]


def number_text(text: str) -> str:
    """Return text that is a number beyond doubt as that number is named, all else as written."""
    if not NUMBER.fullmatch(text) or WHOLE.fullmatch(text):
        return text
    value = float(text)
    return name_text(value) if math.isfinite(value) else text


def not_among(these: Iterable[T], those: Iterable[T]) -> list[T]:
    """Return the ones of `these` that are not among `those`, in their order."""
    known = set(those)
    return [one for one in these if one not in known]


def text_array(names: Sequence[str]) -> NDArray[np.str_]:
    """Return names as a coordinate of fixed-width text; also where there are none."""
    return np.array(names, dtype=np.str_)


def text_index(names: Names, dim: str) -> PandasIndex:
    """Return the index that a coordinate of `text_array` has, at half the cost.

    Parameters
    ----------
    names : Names
    dim : str
    """
    found = _over_bytes(names.given, dim) if isinstance(names.given, Utf8) else None
    if found is None:
        texts = list(names.texts)
        try:
            index = pd.Index(texts, name=dim)
        except UnicodeEncodeError:  # half a character: Arrow has no such text
            index = pd.Index(texts, name=dim, dtype=object)
        found = index, max(map(len, texts), default=0)
    index, width = found
    return PandasIndex(index, dim, coord_dtype=np.dtype((np.str_, width or 1)))


def _over_bytes(names: Utf8, dim: str) -> tuple[pd.Index, int] | None:
    """Return an index over these bytes, and the characters of its longest name.

    None where names are not ASCII, or pandas would make another index of them.
    """
    kind = pd.Index([""]).dtype
    from_arrow = getattr(kind, "__from_arrow__", None)  # pandas' own border to Arrow
    if from_arrow is None or getattr(kind, "storage", "") != "pyarrow" or not len(names):
        return None
    if (names.data >= _NOT_ASCII).any():
        return None
    pa = require("pyarrow", extra="parquet", whose="an index of texts")  # there, as pandas uses it
    buffers = pa.py_buffer(names.offsets.astype(np.int64)), pa.py_buffer(names.data)
    array = pa.LargeStringArray.from_buffers(len(names), *buffers)
    index: pd.Index = pd.Index(from_arrow(array), name=dim)
    return index, int(np.diff(names.offsets).max())


def quoted(name: object) -> str:
    """Return a label between quotation marks, so that a space at its end can be seen."""
    return f'"{name}"'


def several(number: int, noun: str) -> str:
    """Return a count with its noun: ``1 label``, ``3,000 labels``."""
    return f"{counted(number)} {noun}" if number == 1 else f"{counted(number)} {noun}s"


def does(whose: str, verb: str) -> str:
    """Return subject and verb: ``predictions lack``, ``cnn.parquet lacks``."""
    if whose.endswith("s") and "." not in whose:
        return f"{whose} {verb}"
    return f"{whose} has" if verb == "have" else f"{whose} {verb}s"


def check_names(names: Sequence[str], noun: str, *, whose: str) -> None:
    """Raise `InputError` where names repeat, are empty, or cannot be stored.

    Parameters
    ----------
    names : sequence of str
        Names along one dim.
    noun : str
        ``"example"``, ``"label"`` or ``"annotator"``: what they name, and the name of the message.
    whose : str
        What they belong to, as the message says it.

    Raises
    ------
    InputError
        ``NOUN-twice`` or ``NOUN-unnamed``, with the rows.
    """
    known = set(names)
    if len(known) == len(names) and "" not in known and "\0" not in "".join(names):
        return
    rows: dict[str, int] = {}
    repeated: list[str] = []
    pair = (0, 0)
    for row, name in enumerate(names):
        first = rows.setdefault(name, row)
        if first != row:
            pair = pair if repeated else (first, row)
            repeated.append(name)
    if repeated:
        again, more = repeated[0], len(set(repeated)) - 1
        among = "columns" if noun == "label" else "rows"
        others = f", and {several(more, 'other')} again" if more else ""
        raise InputError(
            f"{noun}-twice",
            f"{does(whose, 'name')} {quoted(again) if noun == 'label' else again} in {among} "
            f"{pair[0] + 1:,} and {pair[1] + 1:,}{others}",
            expected=f"one {among[:-1]} {'a' if noun == 'label' else 'an'} {noun}",
            got=f"{several(len(repeated), among[:-1])} too many",
            do="keep one, or give them names of their own",
            whose=whose,
            details={f"{noun}s": list(dict.fromkeys(repeated))},
        )
    unfit = [row for name, row in rows.items() if not name or "\0" in name]
    raise InputError(
        f"{noun}-unnamed",
        f"{does(whose, 'have')} {several(len(unfit), noun)} without a usable name",
        expected="text with at least one character, and no NUL",
        got=f"none at place {listed(row + 1 for row in unfit)}",
        do=f"name each {noun}",
        whose=whose,
        details={"rows": unfit},
    )


def positions(names: Sequence[str], wanted: Collection[str]) -> NDArray[np.int64]:
    """Return the place of each wanted name among `names`, -1 where it is not there."""
    places = {name: place for place, name in enumerate(names)}
    found = (places.get(name, -1) for name in wanted)
    return np.fromiter(found, dtype=np.int64, count=len(wanted))
