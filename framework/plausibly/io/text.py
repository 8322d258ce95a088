"""Text tables and Parquet: every value stays the text that was written."""

from __future__ import annotations

import csv
import io
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly import extras
from plausibly.data.names import NUMBER, WHOLE, is_blank, is_missing, name_text, quoted, several
from plausibly.data.text_table import Coded, TextTable
from plausibly.errors import InputError, counted, listed
from plausibly.io import files
from plausibly.io.files import decode
from plausibly.io.json import json_head, json_shown, read_json, read_json_lines, shortened

_LARGE = 1 << 20  # bytes of a text file, from which on pyarrow reads it where it can
_QUOTED = re.compile(r'[,;\t"\r\n]|^\s|\s$')
_SNIFFED_ROWS = 20
_SNIFFED_CHARACTERS = 65_536
_DELIMITERS = (",", ";", "\t", "|")
_DECLARED = re.compile(r'"?sep=([^\r\n"])"?\r?(?:\n|\Z)', re.IGNORECASE)  # Excel writes this line
_LIKE_NUMBERS = re.compile(r"[+-]?[0-9.,]+ ?%?")
_EDGES = string.whitespace + "\xa0\u200b\ufeff"


def value_of(text: str) -> float | None:
    """Return the number a cell holds; NaN for an empty cell, ``NA`` or ``NaN``; None for others."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return float("nan") if text.strip().lower() in ("", "na") else None


def numbers(
    table: TextTable, columns: Sequence[int], *, rest: str, hint: str
) -> NDArray[np.float64]:
    """Return the numbers in some columns of a table, (row, column)."""
    values = np.empty((len(table), len(columns)), dtype=np.float64)
    wordy: list[int] = []
    cells: list[tuple[int, int]] = []
    for place, position in enumerate(columns):
        read = [value_of(text) for text in table.columns[position]]
        values[:, place] = [np.nan if value is None else value for value in read]
        wrong = [(row, position) for row, value in enumerate(read) if value is None]
        cells += wrong
        if wrong and np.isnan(values[:, place]).all():
            # Decimal commas and percentages are numbers, which `unreadable` says how to write.
            text = table.columns[position][wrong[0][0]].strip()
            wordy += [] if _LIKE_NUMBERS.fullmatch(text) else [position]
    if cells:
        row, position = min(cells, key=lambda cell: (cell[1] not in wordy, cell))
        text = table.columns[position][row]
        if not wordy:
            raise unreadable(table, row, table.header[position], text)
        found = f'"{shortened(text, 30)}" and the like'
        raise not_numeric(table.source, [table.header[at] for at in wordy], rest, found, hint)
    return values


def not_numeric(
    source: str, columns: Sequence[str], expected: str, found: str, hint: str
) -> InputError:
    """Return the error for columns without a number."""
    return InputError(
        "columns-not-numeric",
        f"{source} holds no numbers in column{'s' if len(columns) > 1 else ''} "
        f"{listed(map(quoted, columns))}",
        expected=expected,
        found=found,
        hint=hint,
        source=source,
    )


def check_named(
    table: TextTable,
    column: str,
    noun: str,
    hint: str = "name it, or remove the row",
    *,
    blanks: bool = False,
) -> None:
    """Raise ``example-unnamed`` or its like where a cell names nothing; `blanks` may be names."""
    names = table.column(column)
    rows = [row for row, name in enumerate(names) if not name or (not blanks and is_blank(name))]
    if rows:
        raise InputError(
            f"{noun}-unnamed",
            f"{table.source} names no {noun} in {table.places(rows)}",
            expected=f"the name of {'an' if noun[0] in 'aeiou' else 'a'} {noun} in column "
            f"{quoted(column)}",
            found="an empty cell",
            hint=hint,
            source=table.source,
            details={"lines": [table.lines[row] for row in rows]},
        )


def unreadable(
    table: TextTable, row: int, column: str, text: str, expected: str = "a number such as 0.25"
) -> InputError:
    """Return the error for a cell with a text that is no number."""
    return InputError(
        "number-unreadable",
        f'{table.place(row)}, column "{column}" is not a number',
        expected=expected,
        found=f'"{shortened(text, 30)}"',
        hint="fix that line; write decimals with a point, and 0.75 for 75%",
        source=table.source,
        details={"lines": [table.lines[row]]},
    )


def plain(texts: Sequence[str]) -> NDArray[np.int64] | NDArray[np.float64] | None:
    """Return a column as numbers where every value is one beyond doubt, else None."""
    if not texts or not all(NUMBER.fullmatch(text) and text != "-0" for text in texts):
        return None
    if all(WHOLE.fullmatch(text) for text in texts):
        fit = all(len(text) <= 20 and abs(int(text)) < 2**63 for text in texts)
        return np.array([int(text) for text in texts], dtype=np.int64) if fit else None
    values = np.array([float(text) for text in texts], dtype=np.float64)
    return values if bool(np.isfinite(values).all()) else None


Content = Literal["number", "text", "nested"]
Cells: TypeAlias = Any  # a narwhals.Series or a pyarrow.ChunkedArray, which are extras


@attrs.frozen(eq=False)
class Column:
    """One column of a Parquet file, or of a frame."""

    name: str
    content: Content
    type: str
    cells: Cells

    def texts(self) -> list[str]:
        """Return the values as text; null and NaN are the empty text."""
        values = self.cells
        if self.type.startswith(("timestamp", "date", "time", "duration")):
            values = values.cast("string")
        return as_texts(values.to_pylist(), single=self.type in ("float", "halffloat"))

    def coded(self) -> Coded:
        """Return the values as text, each different one once; null is the empty text."""
        encoded = self.cells.combine_chunks()
        if not self.type.startswith("dictionary"):
            encoded = encoded.dictionary_encode()
        kept = encoded.dictionary
        texts = Column(self.name, self.content, str(kept.type), kept).texts()
        return Coded.taken([*texts, ""], np.asarray(encoded.indices.fill_null(len(texts))))

    def numbers(self) -> NDArray[Any]:  # Any: integers and floats stay of their type
        """Return the values of a number column, (row,); null is NaN."""
        values = self.cells
        if self.type.startswith("decimal"):
            values = values.cast("double")
        return np.asarray(values.to_numpy())

    def offered(self) -> tuple[str, ...] | None:
        """Return the texts that the column could hold, where its type lists them."""
        return None


def as_texts(values: Iterable[object], *, single: bool) -> list[str]:
    """Return values as text, what is missing as the empty text; `single`: they are float32."""
    if single:  # as Python's their digits would be others
        values = [value if is_missing(value) else np.float32(value) for value in values]  # type: ignore[arg-type]  # a float
    return ["" if is_missing(value) else name_text(value) for value in values]


def content_of(kind: Any) -> Content:  # Any: pyarrow has no type hints
    """Return what the values of a type of pyarrow are."""
    types = import_module("pyarrow.types")
    if types.is_dictionary(kind):
        return "nested" if content_of(kind.value_type) == "nested" else "text"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    opaque = (types.is_nested, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    return "nested" if any(test(kind) for test in opaque) else "text"


@contextmanager
def parquet_file(path: Path) -> Iterator[Any]:  # Any: pyarrow has no type hints
    """Yield an open Parquet file; what pyarrow raises meanwhile is damage of the file."""
    pyarrow = extras.require("pyarrow", extra="parquet", source=path.name)
    parquet = extras.require("pyarrow.parquet", extra="parquet", source=path.name)
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except (pyarrow.ArrowException, OSError, ValueError) as reason:
        expected = "a file as pyarrow or pandas write it"
        raise files.damaged(path.name, reason, what="Parquet file", expected=expected) from reason


def read_columns(path: Path | str, role: str) -> list[Column]:
    """Return the columns of a Parquet file, in order."""
    with parquet_file(files.existing(path, role)) as file:
        fields = list(file.schema_arrow)
        kinds = [content_of(field.type) for field in fields]
        plain = [f.name for f, kind in zip(fields, kinds, strict=True) if kind != "nested"]
        # Lists and images are not read; by their names only where no name can mean two columns.
        alone = len({field.name.partition(".")[0] for field in fields}) == len(fields)
        table = file.read(columns=plain if alone else None)
        table.validate(full=True)  # text that is no UTF-8 would only fail when it is looked at
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
    with parquet_file(Path(path)) as file:
        return tuple(file.schema_arrow.names)


def metadata(path: Path | str, key: str) -> str | None:
    """Return a text in the metadata of a Parquet file, None where it has none; errors as above."""
    with parquet_file(Path(path)) as file:
        text = (file.schema_arrow.metadata or {}).get(key.encode())
    return None if text is None else str(text.decode("utf-8", "replace"))


def table_of(
    source: str,
    columns: Sequence[Column],
    wanted: Sequence[bool] | None = None,
    *,
    repeats: bool = False,
) -> TextTable:
    """Return columns as a table of text: those that are wanted, or all with plain values."""
    wanted = [c.content != "nested" for c in columns] if wanted is None else wanted
    texts: tuple[Sequence[str], ...] = tuple(
        [] if not want else column.coded() if repeats else column.texts()
        for column, want in zip(columns, wanted, strict=True)
    )
    offered = ((c.name, c.offered()) for c in columns if c.content != "nested")
    return TextTable(
        source=source,
        header=tuple(column.name for column in columns),
        columns=texts,
        lines=range(1, max(map(len, texts), default=0) + 1),
        unit="row",
        nested={column.name: column.type for column in columns if column.content == "nested"},
        offered={name: labels for name, labels in offered if labels is not None},
    )


# ---- delimited text, as RFC 4180 has it


def sniff(text: str, suffix: str = "") -> str:
    """Return the delimiter of a text table: comma, semicolon, tab or ``|``."""
    if (declared := _DECLARED.match(text)) is not None:
        return declared[1]
    tabs = suffix.lower() in {".tsv", ".tab"}
    if tabs and "\t" in text.lstrip("\r\n").partition("\n")[0]:
        return "\t"
    rows = io.StringIO(text[:_SNIFFED_CHARACTERS], newline="").readlines()
    if len(text) > _SNIFFED_CHARACTERS and len(rows) > 1:
        rows.pop()
    for delimiter in _DELIMITERS:
        filled = (row for row in csv.reader(rows, delimiter=delimiter) if row)
        widths = {len(row) for row in islice(filled, _SNIFFED_ROWS)}
        if len(widths) == 1 and widths.pop() > 1:
            return delimiter
    first = next((row for row in rows if row.strip()), "")
    return max(("\t", *_DELIMITERS) if tabs else _DELIMITERS, key=first.count)


def undeclared(text: str) -> str:
    """Return a text with an empty line in place of a first line ``sep=;``, so that lines count."""
    return _DECLARED.sub("\n", text, count=1) if _DECLARED.match(text) else text


def trimmed(header: Iterable[str], text: str = "") -> tuple[str, ...]:
    """Return names of columns without blanks at their ends, unless quotes in `text` keep these."""
    return tuple(name if f'"{name}"' in text else name.strip(_EDGES) for name in header)


def parse(text: str, source: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a text table, each with the line on which it starts."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    end = 0
    try:
        for row in reader:
            if row and (row[0] or len(row) == 1 or any(row)):
                yield end + 1, row
            end = reader.line_num
    except csv.Error as reason:
        raise InputError(
            "quote-broken",
            f"{source} line {counted(end + 1)} has a broken quote",
            expected='quotes around a field, and inside it doubled: "say ""yes"""',
            found=str(reason),
            hint="fix the quotes of that line",
            source=source,
        ) from None


def line(fields: Iterable[object]) -> str:
    r"""Return one line of a CSV file, with its end."""
    texts = map(str, fields)
    cells = (f'"{t.replace(chr(34), chr(34) * 2)}"' if _QUOTED.search(t) else t for t in texts)
    return ",".join(cells) + "\n"


HeaderRule = bool | Callable[[tuple[str, ...]], bool]
"""True if the first row names the columns, or how to tell from that row."""


def _names(row: Iterable[str], rule: HeaderRule, opening: str = "") -> tuple[tuple[str, ...], bool]:
    """Return the names of the columns, and whether they stand in the first row."""
    first = trimmed(row, opening)
    named = rule if isinstance(rule, bool) else rule(first)
    return first if named else tuple(map(str, range(1, len(first) + 1))), named


def distinct(
    header: Sequence[str], source: str, hint: str = "rename one of them in the first line"
) -> None:
    """Raise ``columns-repeat`` where two columns have one name."""
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise InputError(
            "columns-repeat",
            f"{source} names {listed(map(quoted, twice))} twice",
            expected="columns with different names",
            found=listed(header),
            hint=hint,
            source=source,
        )


_BLOCK = 1 << 22  # bytes that Arrow reads at once


def _by_arrow(
    data: bytes, path: Path, header: HeaderRule, delimiter: str | None
) -> TextTable | None:
    """Return a large file in which nothing is odd; None where the strict parser must look.

    Odd is a quote, a zero byte, a lone carriage return, a row with more or fewer fields than the
    first, a blank row, a field beyond the limit of the parser, or what is not UTF-8.
    """
    if b'"' in data or b"\0" in data:
        return None
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        return None
    opening = data[: 5 * files.HEAD].decode("utf-8-sig", "replace")
    if undeclared(opening) != opening:
        return None
    used = sniff(opening, path.suffix) if delimiter is None else delimiter
    line, end, _ = opening.partition("\n")
    if not end or "\ufffd" in line:  # the first row is longer, or may not be UTF-8
        return None
    row = tuple(line.removesuffix("\r").split(used))
    names, named = _names(row, header)
    if len(set(names)) < len(names) or not any(row):
        return None
    arrow, arrow_csv = import_module("pyarrow"), import_module("pyarrow.csv")
    kinds = dict.fromkeys(names, arrow.dictionary(arrow.int32(), arrow.string()))
    try:
        table = arrow_csv.read_csv(
            arrow.BufferReader(data),
            arrow_csv.ReadOptions(column_names=names, skip_rows=int(named), block_size=_BLOCK),
            arrow_csv.ParseOptions(delimiter=used, quote_char=False, ignore_empty_lines=False),
            arrow_csv.ConvertOptions(column_types=kinds, strings_can_be_null=False),
        )
    except arrow.ArrowInvalid:
        return None
    coded = []
    for name in names:
        column = table[name].unify_dictionaries().combine_chunks()
        codes = np.asarray(column.indices).astype(np.int64)
        coded.append(Coded(column.dictionary.to_numpy(zero_copy_only=False).tolist(), codes))
    blank = [column.codes == (column.names.index("") if "" in column else -1) for column in coded]
    if not len(table) or np.logical_and.reduce(blank).any():
        return None
    texts = chain(row, *(column.names for column in coded))
    if max(map(len, texts)) > csv.field_size_limit():  # characters, of the strict parser
        return None
    return TextTable(
        source=path.name,
        header=names,
        columns=tuple(coded),
        lines=range(1 + named, 1 + named + len(table)),
        named=named,
    )


def read_table(
    path: Path | str,
    *,
    role: str,
    header: HeaderRule = True,
    delimiter: str | None = None,
    unique: bool = True,
    repeats: bool = False,
) -> TextTable:
    """Read a table from CSV, TSV, Parquet or JSON as text.

    Parquet is recognised by its first bytes, has a header always, and needs the extra ``parquet``.
    JSON is a list of records, or one per line; their keys are the columns.

    Raises
    ------
    InputError
        Also ``export-unlike`` where a JSON value is no record, and what `read_json` says.
    """
    source, head = Path(path).name, files.opening(path, role)
    if _records(head):
        return _json_table(path, role, head)
    if head.startswith(b"PAR1"):
        typed = read_columns(path, role)
        if not typed:
            raise files.empty(source, "a table with one row per entry")
        if unique:
            distinct([column.name for column in typed], source)
        return table_of(source, typed, repeats=repeats)
    data = files.opening(path, role, -1)
    if repeats and len(data) >= _LARGE and find_spec("pyarrow") is not None:
        table = _by_arrow(data, Path(path), header, delimiter)
        if table is not None:
            return table
    text = decode(data, source)
    used = sniff(text, Path(path).suffix) if delimiter is None else delimiter
    text = undeclared(text)
    rows = list(parse(text, source, used))
    if not rows:
        raise files.empty(source, "a table with one row per entry")
    names, named = _names(rows[0][1], header, text[: files.HEAD])
    if named:
        del rows[0]
    if wrong := [(line, row) for line, row in rows if len(row) != len(names)]:
        line, row = wrong[0]
        others = f" ({counted(len(wrong))} such lines)" if len(wrong) > 1 else ""
        hint = f'complete it; quote a label that contains the delimiter: "a{used} b"'
        raise InputError(
            "row-width",
            f"{source} line {counted(line)} has {several(len(row), 'field')}",
            expected=f"{len(names)} ({listed(names)})",
            found=f"{shortened(' | '.join(row), 60)}{others}",
            hint=hint,
            source=source,
        )
    if named and unique:
        distinct(names, source)
    columns = tuple(map(list, zip(*(row for _, row in rows), strict=True)))
    return TextTable(
        source=source,
        header=names,
        columns=columns or tuple([] for _ in names),
        lines=[line for line, _ in rows],
        named=named,
    )


def _records(head: bytes) -> list[dict[str, object]]:
    """Return the JSON records at the start of a file."""
    values = json_head(head)
    if values and isinstance(values[0], list):
        values = values[0]
    return [value for value in values if isinstance(value, dict)]


def _json_table(path: Path | str, role: str, head: bytes) -> TextTable:
    """Return JSON records as a table: null, and a key that is not there, is an empty cell."""
    source, unit = Path(path).name, "line"
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        every = read_json(path, role)
        unit, entries = "row", list(enumerate(every if isinstance(every, list) else [], start=1))
    else:
        entries = read_json_lines(path, role)
    records: list[dict[str, object]] = []
    for at, value in entries:
        if not isinstance(value, dict):
            raise InputError(
                "export-unlike",
                f"{source} {unit} {counted(at)} holds no object",
                expected="one JSON object per row",
                found=json_shown(value),
                hint=f"fix or remove that {unit}",
                source=source,
            )
        records.append(value)
    header, *rows = _cells(records)
    every_value = [item for record in records for item in record.items()]
    nested = {key: "a list or an object" for key, v in every_value if isinstance(v, (dict, list))}
    return TextTable(
        source=source,
        header=header,
        columns=tuple(map(list, zip(*rows, strict=True))),
        lines=[at for at, _ in entries],
        unit=unit,
        nested=nested,
    )


def _cells(records: Sequence[dict[str, object]]) -> list[tuple[str, ...]]:
    """Return the keys of records, then the text under each."""

    def cell(value: object) -> str:
        if value is None:
            return ""
        return str(value) if isinstance(value, str) else json_shown(value)

    header = tuple(dict.fromkeys(key for record in records for key in record))
    return [header, *(tuple(cell(record.get(key)) for key in header) for record in records)]


def first_row(path: Path | str, head: bytes, delimiter: str | None = None) -> tuple[str, ...]:
    """Return the fields of the first row of a file, or none where it is no text table."""
    return next(iter(first_rows(path, head, delimiter, most=1)), ())


def first_rows(
    path: Path | str, head: bytes, delimiter: str | None = None, most: int = 20
) -> list[tuple[str, ...]]:
    """Return the first rows of a file, for readers that recognise it; none if it is no text table.

    Parameters
    ----------
    path : Path or str
        Only Parquet is opened.
    head : bytes
        First bytes of the file.
    delimiter : str, optional
        By default found in `head`.
    most : int
        Number of rows.
    """
    try:
        if head.startswith(b"PAR1"):
            with parquet_file(Path(path)) as file:
                batch = next(file.iter_batches(batch_size=most), None)
                header = tuple(file.schema_arrow.names)
            columns = [] if batch is None else batch.columns
            cells = (Column("", "text", str(column.type), column).texts() for column in columns)
            return [header, *zip(*cells, strict=True)]
        if records := _records(head)[: max(most - 1, 1)]:
            return _cells(records)
        whole = head if len(head) < files.HEAD else head[: head.rfind(b"\n") + 1]
        text = decode(whole, Path(path).name)
        used = sniff(text, Path(path).suffix) if delimiter is None else delimiter
        # Later rows are not parsed: one of them may be cut off, inside quotes.
        rows = list(islice(parse(undeclared(text), Path(path).name, used), most))
    except InputError:
        return []
    return [tuple(row) if at else trimmed(row, text) for at, (_, row) in enumerate(rows)]
