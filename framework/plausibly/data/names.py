"""Names of dims and variables; names of examples, labels and annotators as text."""

from __future__ import annotations

import datetime
import json
import math
import numbers
import re
import unicodedata
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from itertools import islice
from typing import Any, Self, TypeVar

import attrs
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from plausibly.errors import InputError, counted, listed, warn
from plausibly.kernels.random import hash_names, name_text as name_text, quick_hashes
from plausibly.kernels.types import FloatType, Hashes, Ints, unwritable

DRAW = "draw"
AUGMENTATION = "augmentation"
EXAMPLE = "example"
LABEL = "label"
ANNOTATOR = "annotator"
RESPONSE = "response"
MENTION = "mention"
ALPHA = "alpha"
SLOT = "slot"

RESPONSE_EXAMPLE = "response_example"
RESPONSE_ANNOTATOR = "response_annotator"
RESPONSE_WEIGHT = "response_weight"
RESPONSE_STATE = "response_state"
MENTION_RESPONSE = "mention_response"
MENTION_LABEL = "mention_label"
MENTION_BLOCK = "mention_block"
MENTION_WEIGHT = "mention_weight"

ALIAS = "alias"
PARENT = "parent"
ORDER = "order"

DENOMINATOR = "denominator"
PLAUSIBILITIES = "plausibilities"
WEIGHT = "weight"
LABEL_NAME = "label_name"

KIND = "kind"
UNLISTED = "unlisted"
LABELS_DECLARED = "labels_declared"
LEFT_OUT = "left_out"
MERGED = "merged"
NORMALISED = "normalised"
PARENTS = "parents"
REPEATED = "repeated"
CHECKSUM = "checksum"
SCALE = "scale"
NUMBERED = "numbered"  # names of examples that are row numbers, for want of any
JOINT = "joint"
CONVERGENCE = "convergence"

UNKNOWN_ANNOTATOR = -1
NO_LABEL = -1


_MOST_NAMES = 20_000  # compared after tidying
_MOST_CLOSE = 2_000  # compared letter by letter
_MOST_TRIED = 5
_MOST_PAIRS = 3
_UNSEEN = "\xad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"  # of no width; str.strip() keeps them
_WITHOUT_WIDTH = dict.fromkeys(map(ord, _UNSEEN))
_DECIMAL = re.compile(r"0*(\d+)(?:\.(\d*?)0*)?")


def alike(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of names that look alike: the first of its look, and each other one."""
    looks = list(map(_look, names))
    if len({*looks}) == len(looks):
        return []
    first: dict[str, str] = {}
    # The first is the name that others are merged into: preferably one without spaces at its ends.
    tidy_first = sorted(zip(looks, names, strict=True), key=lambda pair: pair[1] != pair[1].strip())
    pairs = ((first.setdefault(look, name), name) for look, name in tidy_first)
    return [pair for pair in pairs if pair[0] != pair[1]]


def _look(name: str) -> str:
    """Return what names have in common that differ in blanks, capital letters or zeros alone."""
    if name.isascii() and name.isalnum() and name[0] > "9":
        return name.lower()
    if not name.isascii():
        name = unicodedata.normalize("NFC", name).translate(_WITHOUT_WIDTH)
    name = " ".join(name.lower().split())
    number = _DECIMAL.fullmatch(name)
    return name if number is None else f"{number[1]}.{number[2] or ''}"


def warn_alike(table: xr.Dataset, source: str, dims: Sequence[str]) -> None:
    """Warn of names of an annotation table that look alike: one ``names-alike`` for each dim."""
    for dim in dims:
        pairs = alike(name_texts(table.indexes[dim]))
        if not pairs:
            continue
        turned = merged_by([(other, one) for one, other in pairs])
        warn(
            "names-alike",
            f"{source} has {dim}s whose names look alike: {several(len(pairs), 'pair')}",
            expected=f"one name for each {dim}; text stays as written, and these count apart",
            found=listed(f"{quoted(one)} and {quoted(other)}" for one, other in pairs),
            hint=f"{turned}, or a column alias in the table of labels, if they are the same"
            if dim == LABEL
            else f"write them alike in {source}, if they are the same {dim}",
            source=source,
            details={"dim": dim, "pairs": pairs},
        )


def near(name: str, names: Collection[str]) -> str | None:
    """Return the name that `name` was probably meant to be, None where nothing comes close."""
    pairs = near_pairs([name], names)
    return pairs[0][1] if pairs else None


def near_pairs(
    here: Sequence[str], there: Collection[str], *, alike: bool = False
) -> list[tuple[str, str]]:
    """Return up to three likely pairs of a name `here` and one `there`, perhaps only alike ones."""
    tidied: dict[str, str] = {}
    for name in list(there)[:_MOST_NAMES]:
        tidied.setdefault(_tidy(name), name)
    tried = ((name, tidied.get(_tidy(name), name)) for name in here[:_MOST_NAMES])
    pairs = list(islice((pair for pair in tried if pair[0] != pair[1]), _MOST_PAIRS))
    for name in () if pairs or alike else here[:_MOST_TRIED]:
        close = get_close_matches(name, list(there)[:_MOST_CLOSE], n=1, cutoff=0.75)
        if close:
            return [(name, close[0])]
    return pairs


def merged_by(pairs: Sequence[tuple[str, str]]) -> str:
    """Return what to type so that the first name of each pair is called as the second."""
    pairs = pairs[:_MOST_PAIRS]
    strip = "strip=True, or " if all(one.strip() == other.strip() for one, other in pairs) else ""
    return f"{strip}rename={json.dumps(dict(pairs), ensure_ascii=False)}"


def _tidy(name: str) -> str:
    text = unicodedata.normalize("NFKC", name).translate(_WITHOUT_WIDTH).casefold().strip()
    text = re.sub(r"\.[a-z]{1,5}$", "", re.split(r"[/\\]", text)[-1])
    text = re.sub(r"0*(\d+)(\.0+$)?", r"\1", text)
    return re.sub(r"[\s_-]+", " ", text)


T = TypeVar("T", bound=Hashable)

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
"""A number beyond doubt, as programs write it."""

WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")


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


def label_text(value: object) -> str | None:
    """Return the text of a label in an answer; None where it is missing, or not one name."""
    return name_text(value) if is_name(value) and not is_missing(value) else None


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


def quoted(name: object) -> str:
    """Return a label between quotation marks, so that a space at its end can be seen."""
    return f'"{name}"'


def several(number: int, noun: str) -> str:
    """Return a count with its noun: ``1 label``, ``3,000 labels``."""
    return f"{counted(number)} {noun}" if number == 1 else f"{counted(number)} {noun}s"


_IRREGULAR = {"have": "has", "do": "does"}


def does(source: str, verb: str) -> str:
    """Return subject and verb: ``predictions lack``, ``cnn.parquet lacks``."""
    if source.endswith("s") and "." not in source:
        return f"{source} {verb}"
    return f"{source} {_IRREGULAR.get(verb, f'{verb}s')}"


def check_names(
    names: Sequence[str],
    noun: str,
    *,
    source: str,
    hint: str = "keep one, or give them names of their own",
) -> None:
    """Raise `InputError` where names repeat, are empty, or cannot be stored."""
    known = set(names)
    if len(known) == len(names) and "" not in known and "\0" not in "".join(names):
        return
    rows: dict[str, int] = {}
    again = [row for row, name in enumerate(names) if rows.setdefault(name, row) != row]
    if again:
        name, among = names[again[0]], "columns" if noun == LABEL else "rows"
        raise InputError(
            f"{noun}-twice",
            f"{does(source, 'name')} {quoted(name)} in {among} {rows[name] + 1:,} and "
            f"{again[0] + 1:,}",
            expected=f"one {among[:-1]} per {noun}",
            found=f"{several(len(again), among[:-1])} too many",
            hint=hint,
            source=source,
            details={f"{noun}s": list(dict.fromkeys(names[row] for row in again))},
        )
    unfit = [row for row, name in enumerate(names) if not name or "\0" in name]
    raise InputError(
        f"{noun}-unnamed",
        f"{does(source, 'have')} {several(len(unfit), noun)} without a usable name",
        expected="text with at least one character, and no NUL",
        found=f"none at place {listed(row + 1 for row in unfit)}",
        hint=f"name each {noun}",
        source=source,
        details={"rows": unfit},
    )


def positions(names: Sequence[str], wanted: Collection[str]) -> NDArray[np.int64]:
    """Return the place of each wanted name among `names`, -1 where it is not there."""
    places = {name: place for place, name in enumerate(names)}
    codes = (places.get(name, -1) for name in wanted)
    return np.fromiter(codes, dtype=np.int64, count=len(wanted))


_QUICK = 64  # bytes of a text up to which its quick hash is worth its passes


@attrs.frozen(eq=False)
class Names:
    """The names along a dim, as text; what is derived from them is computed once."""

    index: pd.Index

    @classmethod
    def of(cls, texts: Sequence[str], dim: str = EXAMPLE) -> Names:
        """Return a record of texts."""
        try:
            return cls(pd.Index(list(texts), name=dim))
        except UnicodeEncodeError:  # half a character: Arrow has no such text
            return cls(pd.Index(list(texts), name=dim, dtype=object))

    def __len__(self) -> int:
        return len(self.index)

    @cached_property
    def texts(self) -> list[str]:
        """The names, in their order."""
        return name_texts(self.index)

    @cached_property
    def distinct(self) -> frozenset[str]:
        """The names, each once."""
        return frozenset(self.texts)

    @cached_property
    def usable(self) -> bool:
        """True if none is there twice, empty, or with a NUL in it, which files cannot keep."""
        if self._ordered is not None and np.all(self._ordered[1:] != self._ordered[:-1]):
            return True
        known = self.distinct
        return len(known) == len(self) and "" not in known and "\0" not in "".join(self.texts)

    @cached_property
    def hashes(self) -> Hashes:
        """Hashes of the names, in their order."""
        return unwritable(hash_names(self.texts))

    def same(self, other: Names) -> bool:
        """Return whether the names are the same in the same order."""
        here, there = self.index, other.index
        if here is there:
            return True
        if len(here) != len(there):
            return False
        # 1 and True, or 0.1 of two widths, are equal and have different names.
        return (here.dtype == there.dtype and here.equals(there)) or self.texts == other.texts

    @cached_property
    def _ordered(self) -> Hashes | None:
        """Quick hashes, sorted, of usable texts in Arrow's memory: a set of them takes long."""
        dtype = self.index.dtype
        if not (isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow" and len(self)):
            return None
        arrow = import_module("pyarrow")
        column = arrow.array(self.index.array)
        if isinstance(column, arrow.ChunkedArray):  # of joined indexes
            column = column.combine_chunks()
        texts = column.cast(arrow.large_string())
        if texts.null_count:
            return None
        _, places, content = texts.buffers()
        ends = np.frombuffer(places, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        data = np.frombuffer(content, np.uint8)[ends[0] : ends[-1]]
        size = np.diff(ends)
        if size.min() == 0 or size.max() > _QUICK or np.any(data == 0):
            return None
        hashes: Hashes = np.sort(quick_hashes(data, ends - ends[0]))
        return hashes

    def common(self, other: Names) -> int:
        """Return how many different names both have."""
        here, there = self._ordered, other._ordered
        if here is not None and there is not None:
            places = np.minimum(np.searchsorted(here, there), len(here) - 1)
            if not np.any(here[places] == there):
                return 0
        return len(self.distinct & other.distinct)

    def take(self, rows: Ints | slice) -> Names:
        """Return some of the names."""
        return Names(self.index[rows])


@attrs.frozen(kw_only=True, eq=False)
class Named:
    """An array whose names of examples and labels are checked."""

    array: xr.DataArray
    examples: Names
    labels: Names

    @classmethod
    def of(cls, array: xr.DataArray) -> Named:
        """Return a record of an array whose names are known to be in order."""
        return Named(
            array=array,
            examples=Names(array.get_index(EXAMPLE)),
            labels=Names(array.get_index(LABEL)),
        )

    def take_examples(self, rows: Ints) -> Self:
        """Return some of the examples."""
        array = take(self.array, EXAMPLE, rows)
        return attrs.evolve(self, array=array, examples=self.examples.take(rows))

    def take_labels(self, places: Ints) -> Self:
        """Return some of the labels, in this order."""
        array = take(self.array, LABEL, places)
        return attrs.evolve(self, array=array, labels=self.labels.take(places))


def take(array: xr.DataArray, dim: str, places: Ints) -> xr.DataArray:
    """Return some entries along a dim, contiguous."""
    part = array.isel({dim: places})
    if part.chunks is not None:
        return part  # not read yet: each part is made contiguous when it is
    return part.copy(data=np.ascontiguousarray(part.values))


def is_lazy(array: object) -> bool:
    """Return whether an array, or something in a Dataset, is in chunks that are not read yet."""
    if isinstance(array, xr.DataArray):
        # For an array in memory `chunks` would take as long as all other checks of one row.
        in_memory = isinstance(getattr(array.variable, "_data", None), np.ndarray)
        return not in_memory and array.chunks is not None
    if isinstance(array, xr.Dataset):
        return any(variable.chunks is not None for variable in array.variables.values())
    return False


def with_values(
    array: xr.DataArray,
    values: NDArray[Any],  # Any: numbers or flags
    *,
    name: Hashable,
    attrs: Mapping[Any, Any] | None = None,  # Any: as xarray has it
    scalars: Mapping[str, float] | None = None,
) -> xr.DataArray:
    """Return other values under the names of an array, which shares its coordinates."""
    coordinates = dict(array.coords.variables)
    for key, value in (scalars or {}).items():
        coordinates[key] = xr.Variable((), np.asarray(value), fastpath=True)
    # As xarray itself makes the result of a ufunc: nothing is copied or looked for among the names
    # again, which for one row would take several times as long as all else.
    return xr.DataArray(
        xr.Variable(array.dims, values, attrs, fastpath=True),
        coordinates,
        name=name,
        indexes=dict(array.xindexes),
        fastpath=True,
    )


def float_type(dtype: np.dtype[Any]) -> FloatType:  # Any: any real numbers
    """Return the float type in which numbers are read: float32 stays, all else is float64."""
    narrow = dtype.kind == "f" and dtype.itemsize == np.dtype(np.float32).itemsize
    return np.dtype(np.float32) if narrow else np.dtype(np.float64)


def named_array(
    array: object,
    source: str,
    what: str,
    *,
    first: str = "",
    known: Sequence[Names] = (),
    lazy: bool = False,
) -> Named:
    """Return (example, label) floats under text names, contiguous; perhaps over a dim `first`.

    Numbers of a `lazy` array are not read, and stay as they are. Names that equal those of `known`
    are not checked again.
    """
    if not isinstance(array, xr.DataArray):
        raise unlabelled(array, source)
    wanted = (EXAMPLE, LABEL)
    dims = (first, *wanted) if first in array.dims else wanted
    if set(array.dims) != set(dims):
        lost = [dim for dim in wanted if dim not in array.dims]
        surplus = [str(dim) for dim in array.dims if dim not in wanted]
        hint = f"{what}.expand_dims({lost[0]}=[...])" if lost else f"{what}.isel({surplus[0]}=0)"
        if surplus == [DRAW]:
            hint = f'take the mean over draws: {what}.mean("draw")'
        if lost and surplus:
            hint = f'{what}.rename({{"{surplus[0]}": "{lost[0]}"}})'
        raise InputError(
            "dims-differ",
            f"{does(source, 'have')} the dims {listed(array.dims) or 'none'}",
            expected="example and label",
            found=f"no {listed(lost)}" if lost else f"{listed(surplus)} besides",
            hint=hint,
            source=source,
        )
    array = array if array.dims == dims else array.transpose(*dims)
    # Extension arrays of pandas, which xarray cannot index, become those of numpy.
    columns = {
        name: (variable.dims, np.asarray(variable.values, dtype=object))
        for name, variable in array.coords.variables.items()
        if isinstance(getattr(variable, "_data", None), pd.api.extensions.ExtensionArray)
    }
    array = array.assign_coords(columns) if columns else array
    indexed, along = array.xindexes, []
    for dim in wanted:
        if dim not in indexed:
            raise InputError(
                f"{dim}s-unnamed",
                f"{does(source, 'have')} {several(array.sizes[dim], dim)} and no {dim} names",
                expected="names in order; an order is never guessed",
                hint=f"{what}.assign_coords({dim}=[...])",
                source=source,
            )
    for dim in wanted:
        own = Names(array.get_index(dim))
        own = next((record for record in known if record.same(own)), own)
        if not own.usable:
            check_names(own.texts, dim, source=source)
        if array.coords.variables[dim].dtype.kind != "U":
            array = array.assign_coords({dim: (dim, text_array(own.texts))})
        along.append(own)
    if array.dtype.kind not in "fiub":
        raise InputError(
            "numbers-expected",
            f"{source}: the entries are not real numbers",
            expected="floats",
            found=f"dtype {array.dtype}",
            hint=f"{what}.astype(float)",
            source=source,
        )
    if not array.size:
        raise InputError(
            "array-empty",
            f"{source}: there is nothing in it",
            expected="one example and one label, or more",
            found=", ".join(several(array.sizes[dim], str(dim)) for dim in array.dims),
            hint="look at what was selected or read",
            source=source,
        )
    if not lazy:
        values = np.ascontiguousarray(array.values, float_type(array.dtype))
        array = with_values(array, values, name=array.name, attrs=array.attrs)
    return Named(array=array, examples=along[0], labels=along[1])


def unlabelled(value: object, source: str) -> InputError:
    """Return the error for something else than an array with names."""
    return InputError(
        "array-unlabelled",
        f"{source}: {type(value).__name__} has no names for its rows and columns",
        expected="a DataArray with the dims example and label",
        found=type(value).__name__,
        hint='xarray.DataArray(values, dims=("example", "label"), '
        'coords={"example": ids, "label": labels})',
        source=source,
    )


def read_coordinates(array: xr.DataArray) -> xr.DataArray:
    """Return the array with its coordinates in memory, read together where they were in chunks."""
    lazy = [name for name, one in array.coords.items() if one.chunks is not None]
    return array.assign_coords(array.coords.to_dataset()[lazy].compute().coords) if lazy else array
