"""Tables about examples (patient, site, weight) and labels (alias, parent, order, risk)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data.labels import Hierarchy, read_aliases
from plausibly.data.names import (
    ALIAS,
    ALPHA,
    ANNOTATOR,
    DRAW,
    EXAMPLE,
    LABEL,
    MENTION,
    ORDER,
    PARENT,
    RESPONSE,
    SLOT,
    name_texts,
    near,
    near_pairs,
    not_among,
    quoted,
    several,
    text_array,
)
from plausibly.data.plausibilities import label_dim
from plausibly.data.text_table import TextTable
from plausibly.errors import InputError, counted, listed
from plausibly.io import files, text
from plausibly.io.text import plain


# Any: numbers or text
def label_columns(table: TextTable, labels: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the columns beside the names of labels, checked."""
    header = [ALIAS if name == "aliases" else name for name in table.header]
    text.distinct(header, table.source, f'put all of them into "{ALIAS}", with | between them')
    columns = dict(zip(header, table.columns, strict=True))
    columns.pop(LABEL)
    aliases: dict[str, str] = {}
    if ALIAS in columns:
        aliases = read_aliases(labels, columns[ALIAS], source=table.source, places=table.places)
    if PARENT in columns:
        parents = columns[PARENT]
        row = next((row for row, name in enumerate(parents) if name not in {"", *labels}), None)
        if row is not None:
            name, label = parents[row], labels[row]
            meant = aliases.get(name) or near(name, [other for other in labels if other != label])
            raise InputError(
                "parent-unknown",
                f"{table.place(row)}: the parent of {quoted(label)} is {quoted(name)}, which is "
                "no label of the table",
                expected="a label with a row of its own, or an empty cell",
                found=quoted(name),
                hint=f"did you mean {quoted(meant)}?" if meant else f"add a row for {quoted(name)}",
                source=table.source,
            )
        Hierarchy.of(labels, parents, source=table.source, places=table.places)
    if ORDER in columns:
        _check_order(table, labels, columns[ORDER])
    checked: dict[str, NDArray[Any]] = {}
    for name, texts in columns.items():
        values = plain([text for text in texts if text])
        if name in (ALIAS, PARENT) or values is None:
            checked[name] = text_array(texts)
        elif all(texts):
            checked[name] = values
        else:
            checked[name] = np.full(len(texts), np.nan)
            checked[name][list(map(bool, texts))] = values
    return checked


def as_values(texts: Sequence[str]) -> NDArray[Any]:
    """Return a column as numbers, or as text."""
    values = plain(texts)
    return text_array(texts) if values is None else values


def _check_order(table: TextTable, labels: Sequence[str], texts: Sequence[str]) -> None:
    row_of: dict[float, int] = {}
    for row, cell in ((row, cell) for row, cell in enumerate(texts) if cell):
        value = plain([cell])
        if value is None:
            expected = "the place of the label, such as 1, or an empty cell"
            raise text.unreadable(table, row, ORDER, cell, expected)
        before = row_of.setdefault(float(value[0]), row)
        if before != row:
            raise InputError(
                "order-twice",
                f"{table.source} puts {quoted(labels[before])} and {quoted(labels[row])} at one "
                f"place of the order ({table.places([before, row])})",
                expected="a place of its own for each label",
                found=f"{cell} twice",
                hint="number them apart, or make one an alias of the other",
                source=table.source,
            )


_DIMS = frozenset({ALPHA, ANNOTATOR, "augmentation", DRAW, EXAMPLE, LABEL, MENTION, RESPONSE, SLOT})

Labelled = TypeVar("Labelled", bound=xr.DataArray | xr.Dataset)

Names: TypeAlias = Sequence[str] | Path | str | xr.Dataset
"""Names of labels or examples: themselves, a file of them, or a table with their coordinates."""


def named_predictions(
    values: NDArray[Any],  # Any: of the type that the model has
    examples: Sequence[str],
    labels: Sequence[str],
    attributes: Mapping[str, object],
) -> xr.DataArray:
    """Return numbers (example, label) under their names."""
    coords = {EXAMPLE: text_array(examples), LABEL: text_array(labels)}
    return xr.DataArray(values, coords, (EXAMPLE, LABEL), "predictions", attributes)


def is_table(path: Path | str) -> bool:
    """Return whether a file has columns by its ending, instead of one name per line."""
    return Path(path).suffix.lower() in (".csv", ".tsv", ".tab", ".parquet", ".pq")


def _dataset(table: TextTable, dim: str) -> xr.Dataset:
    reserved = [name for name in table.header if name in _DIMS and name != dim]
    if reserved:
        raise InputError(
            "column-reserved",
            f'{table.source} has a column "{reserved[0]}", which is the name of a dimension',
            expected=f"{dim}, and columns of other names",
            found=listed(table.header),
            hint=f'rename it, to "true_{reserved[0]}" for example',
            source=table.source,
            details={"columns": reserved},
        )
    table.need(table.header, hint="leave that column out")
    names = table.column(dim)
    if not names:
        raise files.empty(table.source, f"one row per {dim}", "a header and no rows")
    text.check_named(table, dim, dim)
    first: dict[str, int] = {}
    for row, name in enumerate(names):
        if (before := first.setdefault(name, row)) != row:
            raise InputError(
                f"{dim}-twice",
                f'{table.source} names "{name}" in {table.places([before, row])}',
                expected=f"one row per {dim}",
                found="two",
                hint="keep one of them",
                source=table.source,
                details={"name": name, "lines": [table.lines[before], table.lines[row]]},
            )
    if dim == LABEL:
        columns = label_columns(table, names)
    else:
        # As text where not every cell is a number.
        columns = {name: as_values(table.column(name)) for name in table.header if name != dim}
    coordinates = {dim: text_array(names), **columns}
    return xr.Dataset(
        coords={name: (dim, values) for name, values in coordinates.items()},
        attrs={"source": table.source},
    )


def read_examples(path: Path | str, *, example: str = EXAMPLE) -> xr.Dataset:
    """Read coordinates of the examples: patient, site, weight, a known label.

    Parameters
    ----------
    path : Path or str
        CSV, TSV or Parquet with a column of example names, and one column per coordinate.
    example : str
        Column that names the examples.

    Returns
    -------
    xarray.Dataset
        Coordinates over ``example``. A column is of numbers only if every value is one beyond
        doubt: no empty cell, no leading zero, no plus sign. Otherwise it is text, as written.

    Raises
    ------
    InputError
        ``columns-missing``, ``columns-repeat``, ``column-reserved``, ``example-unnamed``,
        ``example-twice``, and what `read_table` says.
    """
    table = text.read_table(path, role="examples")
    guess = near(example, table.header) or table.header[0]
    table.need(
        [example], hint=f'rename the column with their names, perhaps "{guess}", to {example}'
    )
    header = [EXAMPLE if name == example else name for name in table.header]
    text.distinct(header, table.source)
    return _dataset(attrs.evolve(table.seen(), header=tuple(header)), EXAMPLE)


def read_labels(path: Path | str) -> xr.Dataset:
    """Read the names of the labels, in order, and what else is known of them.

    Parameters
    ----------
    path : Path or str
        CSV, TSV or Parquet with a column ``label``, then one column per coordinate; or a text file
        with one name per line. Four columns have a meaning, and all are optional: ``alias``, other
        names of the label with ``|`` between them, under which annotators may have named it;
        ``parent``, the label that stands above it; ``order``, numbers from one end of a scale to
        the other; ``risk``, by which sets can be evaluated and calibrated.

    Returns
    -------
    xarray.Dataset
        Coordinates over ``label``. A column is of numbers only if every cell that is filled is one
        beyond doubt, as in `read_examples`, and NaN where it is empty.

    Raises
    ------
    InputError
        As `read_examples`; ``alias-ambiguous`` where an alias is a label or of two labels,
        ``parent-unknown``, ``parents-circular``, ``number-unreadable`` and ``order-twice``.
    """
    path = Path(path)
    if not is_table(path):
        return _one_a_line(path, LABEL)
    table = text.read_table(path, role="labels")
    table.need([LABEL], hint=f"write label above the names, or name the file {path.stem}.txt")
    return _dataset(table.seen(), LABEL)


def _one_a_line(path: Path, dim: str) -> xr.Dataset:
    """Read a file of one name per line; lines are kept but for their end."""
    text = files.read_text(path, f"{dim}s", expected=f"one {dim} per line")
    return _dataset(_column(path.name, dim, text.rstrip("\n").split("\n"), "line").seen(), dim)


def _column(source: str, dim: str, names: list[str], unit: str) -> TextTable:
    lines = range(1, len(names) + 1)
    return TextTable(source=source, header=(dim,), columns=(names,), lines=lines, unit=unit)


def table_from(source: Names, dim: str) -> xr.Dataset:
    """Return names of labels or examples, with their coordinates, from whatever holds them."""
    if isinstance(source, xr.Dataset):
        return source
    if isinstance(source, str | Path):
        path = Path(source)
        if dim == LABEL:
            return read_labels(path)
        return read_examples(path) if is_table(path) else _one_a_line(path, dim)
    return _dataset(_column(f"{dim}s", dim, name_texts(source), "row"), dim)


def check_known(used: Sequence[str], labels: Sequence[str], source: str, verb: str) -> None:
    """Raise ``label-unknown`` where a label is not among others."""
    unknown = not_among(used, labels)
    if unknown:
        guess = near(unknown[0], labels)
        raise InputError(
            "label-unknown",
            f"{source} {verb} {quoted(unknown[0])}",
            expected=f"one of {several(len(labels), 'label')} ({listed(labels)})",
            found=f"{several(len(unknown), 'label')} outside ({listed(unknown)})",
            hint=f"did you mean {quoted(guess)}?" if guess else "declare it, or fix it",
            source=source,
            details={"labels": unknown},
        )


def names_of(table: xr.Dataset | xr.DataArray, dim: str) -> list[str]:
    """Return the names along a dim as text."""
    return name_texts(table[dim].values)


def with_coordinates(array: Labelled, table: xr.Dataset) -> Labelled:
    """Return an array or Dataset with the coordinates of a table of examples or labels, by name.

    `table` is from `read_examples` or `read_labels`, and may know more examples than `array` has.
    Aliases of labels are not among the coordinates: they are read with the table alone.

    Raises
    ------
    InputError
        ``examples-incomplete`` or ``labels-incomplete``, with the names that `table` lacks.
    """
    (dim,) = (str(name) for name in table.dims)
    on = label_dim(array) if dim == LABEL else dim
    here = {name: row for row, name in enumerate(names_of(table, dim))}
    wanted = name_texts(array[on].values)
    lacking = [name for name in wanted if name not in here]
    if lacking:
        source = str(table.attrs.get("source", f"the {dim} table"))
        pairs = near_pairs(lacking, here)
        raise InputError(
            f"{dim}s-incomplete",
            f"{source} lacks {counted(len(lacking))} of {counted(len(wanted))} {dim}s "
            f"({listed(lacking)})",
            expected=f"a row for every {dim}",
            found=listed(f"{quoted(two)} there and {quoted(one)} here" for one, two in pairs),
            hint="add those rows, or fix the names",
            source=source,
            details={"missing": lacking},
        )
    rows = [here[name] for name in wanted]
    coordinates = {
        str(name): (on, values.values[rows])
        for name, values in table.coords.items()
        if name not in (dim, ALIAS)
    }
    return cast("Labelled", array.assign_coords(coordinates))
