"""Parquet through pyarrow (extra ``parquet``): checked on opening, columns by their position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly import extras
from plausibly.data.coded import Coded
from plausibly.data.names import is_missing, name_text
from plausibly.errors import InputError
from plausibly.io import files
from plausibly.io.quick_columns import ShortColumn
from plausibly.io.text import TextTable, distinct
from plausibly.kernels import words

Content = Literal["number", "text", "nested"]


@attrs.frozen(eq=False)
class Column:
    """One column of a Parquet file.

    Attributes
    ----------
    name : str
        Its name; two columns may have the same one.
    content : {"number", "text", "nested"}
        What it holds: integers or floats, other single values, or lists and bytes.
    type : str
        Its type, as pyarrow writes it.
    """

    name: str
    content: Content
    type: str
    _values: Any  # a pyarrow.ChunkedArray; pyarrow has no type hints

    def texts(self) -> list[str]:
        """Return the values as text; null and NaN are the empty text."""
        values = self._values
        if self.type.startswith(("timestamp", "date", "time", "duration")):
            values = values.cast("string")
        every = values.to_pylist()
        if self.type in ("float", "halffloat"):  # as Python's their digits would be others
            every = [value if is_missing(value) else np.float32(value) for value in every]
        return ["" if is_missing(value) else name_text(value) for value in every]

    def coded(self) -> Coded:
        """Return the values as text, each different one once; null is the empty text."""
        found = self._values.combine_chunks()
        if not self.type.startswith("dictionary"):
            found = found.dictionary_encode()
        kept = found.dictionary
        texts = Column(self.name, self.content, str(kept.type), kept).texts()
        return Coded.taken([*texts, ""], np.asarray(found.indices.fill_null(len(texts))))

    def short(self) -> ShortColumn | None:
        """Return the values as numbers, where they are texts of a few bytes; null is empty."""
        kinds = {"string": np.int32, "large_string": np.int64}
        if self.type not in kinds:
            return None
        values = self._values.fill_null("") if self._values.null_count else self._values
        values = values.combine_chunks()
        _, places, data = values.buffers()
        at = np.frombuffer(places, kinds[self.type])[values.offset :][: len(values) + 1]
        if not len(values) or np.diff(at).max() > words.BYTES:
            return None
        texts = np.frombuffer(b"" if data is None else data, np.uint8)[at[0] : at[-1]]
        return None if (texts == 0).any() else ShortColumn(words.end_to_end(texts, at))

    def numbers(self) -> NDArray[Any]:  # Any: integers and floats stay of their type
        """Return the values of a number column, (row,); null is NaN."""
        values = self._values
        if self.type.startswith("decimal"):
            values = values.cast("double")
        return np.asarray(values.to_numpy())


def _content(types: Any, kind: Any) -> Content:  # Any: pyarrow has no type hints
    if types.is_dictionary(kind):
        return "nested" if _content(types, kind.value_type) == "nested" else "text"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    opaque = (types.is_nested, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    return "nested" if any(test(kind) for test in opaque) else "text"


def read_columns(path: Path | str, role: str) -> list[Column]:
    """Return the columns of a Parquet file, in order.

    Raises
    ------
    InputError
        ``file-missing``, ``file-damaged`` where it is no whole Parquet file, or ``extra-missing``.
    """
    path = files.existing(path, role)
    pyarrow = extras.require("pyarrow", extra="parquet", whose=path.name)
    parquet = extras.require("pyarrow.parquet", extra="parquet", whose=path.name)
    try:
        with parquet.ParquetFile(path) as file:
            fields = list(file.schema_arrow)
            kinds = [_content(pyarrow.types, field.type) for field in fields]
            plain = [
                field.name for field, kind in zip(fields, kinds, strict=True) if kind != "nested"
            ]
            # Lists and images are not read; by their names only where no name can mean two columns.
            alone = len({field.name.partition(".")[0] for field in fields}) == len(fields)
            table = file.read(columns=plain if alone else None)
        table.validate(full=True)  # text that is no UTF-8 would only fail when it is looked at
    except (pyarrow.ArrowException, OSError, ValueError) as reason:
        raise _damaged(path.name, reason) from reason
    return [
        Column(
            field.name,
            kind,
            str(field.type),
            table.column(field.name if alone else index) if kind != "nested" else None,
        )
        for index, (field, kind) in enumerate(zip(fields, kinds, strict=True))
    ]


def names(path: Path | str) -> tuple[str, ...]:
    """Return the names of the columns of a Parquet file, from its footer; errors as above."""
    return tuple(_schema(Path(path)).names)


def first_rows(path: Path, most: int) -> list[tuple[str, ...]]:
    """Return the names of the columns, then up to `most` rows as text; errors as above."""
    pyarrow = extras.require("pyarrow", extra="parquet", whose=path.name)
    parquet = extras.require("pyarrow.parquet", extra="parquet", whose=path.name)
    header = names(path)
    try:
        batch = next(parquet.ParquetFile(path).iter_batches(batch_size=most), None)
        columns = [] if batch is None else batch.columns
    except (pyarrow.ArrowException, OSError, ValueError) as reason:
        raise _damaged(path.name, reason) from reason
    texts = (Column("", "text", str(column.type), column).texts() for column in columns)
    return [header, *zip(*texts, strict=True)]


def metadata(path: Path | str, key: str) -> str | None:
    """Return a text in the metadata of a Parquet file, None where it has none; errors as above."""
    found = (_schema(Path(path)).metadata or {}).get(key.encode())
    return None if found is None else str(found.decode("utf-8", "replace"))


def _schema(path: Path) -> Any:  # Any: pyarrow has no type hints
    pyarrow = extras.require("pyarrow", extra="parquet", whose=path.name)
    parquet = extras.require("pyarrow.parquet", extra="parquet", whose=path.name)
    try:
        return parquet.read_schema(path)
    except (pyarrow.ArrowException, OSError, ValueError) as reason:
        raise _damaged(path.name, reason) from reason


def _damaged(whose: str, reason: Exception) -> InputError:
    return InputError(
        "file-damaged",
        f"{whose} is not a whole Parquet file",
        expected="a file as pyarrow or pandas write it",
        got=" ".join(str(reason).split())[:120],
        do="copy it again, or write it again",
        whose=whose,
    )


def text_table(
    path: Path | str, role: str, *, unique: bool = True, repeats: bool = False
) -> TextTable:
    """Return a Parquet file as a table of text; see `plausibly.io.text.read_table`."""
    whose = Path(path).name
    columns = read_columns(path, role)
    header = tuple(column.name for column in columns)
    if not header:
        raise files.empty(whose, "a table with one row an entry")
    if unique:
        distinct(header, whose)
    nested = {column.name: column.type for column in columns if column.content == "nested"}
    texts: tuple[Sequence[str], ...] = tuple(
        [] if column.content == "nested" else _repeating(column) if repeats else column.texts()
        for column in columns
    )
    rows = max(len(values) for values in texts)
    return TextTable(
        whose=whose,
        header=header,
        columns=texts,
        lines=range(1, rows + 1),
        unit="row",
        nested=nested,
    )


def _repeating(column: Column) -> Sequence[str]:
    return column.short() or column.coded()


def write_columns(
    path: Path,
    names: Sequence[str],
    columns: Sequence[object],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write columns in order; `names` may repeat.

    Parameters
    ----------
    path : Path
        Where to write.
    names : sequence of str
        One name a column.
    columns : sequence of sequences
        Lists of text or ndarrays, all of one length; None and masked entries become null.
    metadata : mapping of str to str, optional
        Texts that the file says of itself, which `metadata` reads.

    Raises
    ------
    InputError
        ``extra-missing``.
    """
    pyarrow = extras.require("pyarrow", extra="parquet", whose=path.name)
    parquet = extras.require("pyarrow.parquet", extra="parquet", whose=path.name)
    arrays = [
        pyarrow.array(np.ma.getdata(column), mask=np.ma.getmaskarray(column))
        if isinstance(column, np.ndarray)
        else pyarrow.array(column, type=pyarrow.string())
        for column in columns
    ]
    table = pyarrow.Table.from_arrays(arrays, names=list(names))
    parquet.write_table(table.replace_schema_metadata(dict(metadata or {})), path)
