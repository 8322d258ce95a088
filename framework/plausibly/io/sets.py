"""Prediction sets in files, with the guarantee beside them as JSON."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from functools import partial
from hashlib import blake2b
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.atomic import check_ours, is_store, recover, replacing, together, unwritable
from plausibly.data.names import (
    ALPHA,
    EXAMPLE,
    LABEL,
    LEFT_OUT,
    check_names,
    is_lazy,
    name_texts,
    read_coordinates,
    text_array,
)
from plausibly.data.text_table import TextTable
from plausibly.errors import InputError, listed, warn
from plausibly.io import arrays, datasets, files, text
from plausibly.io.chunked import check_chunks, in_chunks
from plausibly.io.text import value_of

GUARANTEES = "guarantees"
_AS_JSON = (GUARANTEES, LEFT_OUT)
_FORMULA = ("=", "+", "-", "@", "'", "\t", "\r")
"""With what a text begins that a spreadsheet takes for a formula."""
_DIGEST, _ESCAPED = "table_digest", "table_escaped"
_OURS = ("about", "alphas", "dims", "examples", "labels", "versions", "table", _DIGEST, _ESCAPED)


def _digest(examples: Sequence[str], labels: Sequence[str], bits: NDArray[np.bool_]) -> str:
    """Return 32 hexadecimal digits of a table: its names, and which labels its rows contain."""
    names = json.dumps([list(examples), list(labels)]).encode()
    return blake2b(names + np.packbits(bits).tobytes(), digest_size=16).hexdigest()


def _read_beside(path: Path, *, table: str) -> dict[str, object]:
    """Return the metadata beside prediction sets; none, with a warning, without a file."""
    if not path.exists():
        warn(
            "guarantee-missing",
            f"{table} has no {path.name} beside it",
            expected="the guarantee that plausibly predict writes there",
            found="sets that guarantee nothing",
            hint=f"put {path.name} back beside it, or predict again",
            source=table,
        )
        return {}
    content = files.read_text(path, "sets")
    try:
        about = json.loads(content)
        if not isinstance(about, dict) or not about:
            raise ValueError("no object")
        return about
    except (ValueError, RecursionError) as reason:
        expected = f"what plausibly predict wrote beside {table}"
        raise files.damaged(path.name, reason, expected=expected) from None


VARIABLE = "prediction_sets"


def _read_store(path: Path, chunks: int | None) -> xr.DataArray:
    """Return the sets of a store, in memory, or in chunks of about so many examples."""
    if not arrays.is_zarr(path):
        found = path.suffix or "no ending"
        raise files.meaningless(path.name, "chunks", found, "a Zarr store of prediction sets")
    if chunks is not None:
        check_chunks(chunks)
    if not path.exists():
        recover(path.parent)
    dataset = arrays.load(path, "sets", lazy=chunks is not None)
    if VARIABLE not in dataset or ALPHA not in dataset[VARIABLE].coords:
        found = ", ".join(map(str, dataset)) or "no variable"
        expected = f"a variable {VARIABLE} with a coordinate alpha"
        raise _unknown(path.name, found, expected, "sets.zarr")
    stored = import_module("zarr").open_array(path / VARIABLE, mode="r")
    if stored.nchunks_initialized < stored.nchunks:  # they would be read as empty sets
        expected = f"{stored.nchunks:,} chunks of {VARIABLE}"
        raise files.damaged(path.name, f"{stored.nchunks_initialized:,}", expected=expected)
    array = read_coordinates(dataset[VARIABLE]).astype(np.bool_, copy=False)
    return array if chunks is None else in_chunks(array, chunks)


COLUMNS = (EXAMPLE, ALPHA, "size", "labels")
"""The first columns, whatever the labels are called: those that follow are the labels."""

_EXPECTED = f"columns {', '.join(COLUMNS)}, then one of 0 and 1 per label"


def _checked(sets: xr.DataArray) -> xr.DataArray:
    dims = {str(dim) for dim in sets.dims}
    if dims - {ALPHA} != {EXAMPLE, LABEL} or ALPHA not in sets.coords or sets.dtype != bool:
        raise InputError(
            "sets-unfit",
            "these are no prediction sets",
            expected="booleans over example and label, with a coordinate alpha",
            found=f"{sets.dtype} over {listed(sets.dims)}",
            hint="sets = predictor.predict(predictions, alpha)",
            source="sets",
        )
    for dim in (EXAMPLE, LABEL):
        check_names(name_texts(sets[dim].values), dim, source="sets")
    return sets


ENDINGS = (".csv", ".parquet", ".zarr")
"""Of the files that are written."""


def check_output(path: Path) -> None:
    """Raise what would keep sets from being written there, before they are made."""
    if files.check_ending(path, ENDINGS) == ".zarr":
        # A store with nothing else in it.
        ours = partial(is_store, matches=lambda metadata: f"{VARIABLE}/.zarray" in metadata)
        check_ours(path, ours, "an older store of prediction sets")
        return

    def is_table(path: Path) -> bool:
        header = text.first_rows(path, files.opening(path, "sets"), most=1)[0]
        return header[: len(COLUMNS)] == COLUMNS

    def is_guarantee(path: Path) -> bool:
        about = json.loads(path.read_text(encoding="utf-8"))
        return isinstance(about, dict) and {"alphas", "versions"} <= about.keys()

    check_ours(path, is_table, "older prediction sets")
    elsewhere = f'path="{path.with_stem(path.stem + "-sets")}"'
    check_ours(path.with_suffix(".json"), is_guarantee, "an older guarantee", hint=elsewhere)


def write_sets(sets: xr.DataArray, path: Path | str, *, escape: bool = False) -> None:
    """Write prediction sets, and their guarantee beside them as JSON with the same stem.

    Parameters
    ----------
    sets : DataArray of bool, (example, label[, alpha])
        As `ConformalPredictor.predict` gives them: coordinate ``alpha``, attributes ``guarantees``,
        ``fingerprint``, ``calibration_overlap`` and ``left_out`` where they have them.
    path : Path or str
        ``.csv`` or ``.parquet``: columns ``example``, ``alpha``, ``size``, ``labels`` (the names
        joined by ``" | "``), then one column of 0 and 1 per label. Both files are written, or none.
        ``.zarr``: a store of the sets as they are, guarantee included; sets in chunks are computed
        and written one chunk at a time (extra ``zarr``).
    escape : bool
        Whether names in a CSV file that a spreadsheet would take for a formula (``=``, ``+``, ``-``
        or ``@`` first) get an apostrophe in front, which `read_sets` takes off again.

    Raises
    ------
    InputError
        ``ending-unknown``, ``sets-unfit``, ``output-occupied`` or ``output-unwritable``.
    """
    path, checked = Path(path), _checked(sets)
    check_output(path)
    if path.suffix.lower() == ".zarr":
        bare = checked.rename(VARIABLE).drop_encoding()
        if is_lazy(bare):
            # A store has chunks of one size.
            size = max(bare.variable.chunksizes[EXAMPLE])
            bare = bare.chunk({dim: size if dim == EXAMPLE else -1 for dim in bare.dims})
        with replacing(path) as part:
            # An empty chunk is written too: one that is missing later was lost.
            bare.to_dataset().to_zarr(
                part, zarr_format=2, consolidated=True, write_empty_chunks=True
            )
        return
    rows = checked if ALPHA in checked.dims else checked.expand_dims(ALPHA)
    rows = rows.transpose(ALPHA, EXAMPLE, LABEL)
    examples, labels = (name_texts(rows[dim].values) for dim in (EXAMPLE, LABEL))
    beside: dict[str, object] = {
        "about": "what the prediction sets in the table of the same name guarantee",
        "alphas": rows[ALPHA].values.astype(float).tolist(),
        "dims": [str(dim) for dim in sets.dims],
        "examples": len(examples),
        "labels": labels,
        "versions": {
            "plausibly": version("plausibly"),
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }
    for name, value in sets.attrs.items():
        plain = value.item() if isinstance(value, np.generic) else value
        beside[str(name)] = json.loads(str(value)) if name in _AS_JSON else plain
    beside |= {"table": path.name, _DIGEST: _digest(examples, labels, rows.values)}
    content = json.dumps(beside | {_ESCAPED: escape}, indent=2, ensure_ascii=False, default=str)
    escaping = escape and path.suffix.lower() == ".csv"

    def cell(text: str) -> str:
        return f"'{text}" if escaping and text.startswith(_FORMULA) else text

    flat: NDArray[np.bool_] = rows.values.reshape(-1, len(labels))
    joined = (" | ".join(labels[code] for code in np.flatnonzero(row)) for row in flat)
    columns = [
        list(map(cell, examples)) * rows.sizes[ALPHA],
        np.repeat(rows[ALPHA].values.astype(np.float64), len(examples)),
        flat.sum(axis=1).astype(np.int32),
        list(map(cell, joined)),
        *np.ascontiguousarray(flat.astype(np.uint8).T),
    ]
    try:
        with together(path.parent) as part:
            datasets.write_rows(part / path.name, [*COLUMNS, *map(cell, labels)], columns)
            (part / path.with_suffix(".json").name).write_text(f"{content}\n", encoding="utf-8")
    except OSError as reason:
        raise unwritable(path, reason) from reason


def read_sets(path: Path | str, *, chunks: int | None = None) -> xr.DataArray:
    """Read prediction sets that `write_sets` wrote.

    Parameters
    ----------
    path : Path or str
        The CSV or Parquet file, whose JSON beside it has the same stem; or the Zarr store.
    chunks : int, optional
        Of a Zarr store: about how many examples to read at once, when they are needed (extra
        ``dask``).

    Returns
    -------
    DataArray of bool, (example, label[, alpha])
        As it was written, with its attributes.

    Raises
    ------
    InputError
        ``sets-unknown`` where the file has another form, and what `read_table` says.

    Warns
    -----
    PlausiblyWarning
        ``guarantee-missing`` where the JSON is not there: these sets guarantee nothing.
    """
    path = Path(path)
    if chunks is not None or path.suffix.lower() == ".zarr":
        return _checked(_read_store(path, chunks))
    table = text.read_table(path, role="sets", unique=False)
    path_beside = path.with_suffix(".json")
    examples, alphas, bits = _rows_of(table)
    labels = list(table.header[len(COLUMNS) :])
    check_names(labels, LABEL, source=table.source)
    check_names(examples, EXAMPLE, source=table.source)
    beside = _read_beside(path_beside, table=path.name)
    if beside.get(_ESCAPED) is True and path.suffix.lower() == ".csv":
        labels, examples = ([t.removeprefix("'") for t in texts] for texts in (labels, examples))
    digest = _digest(examples, labels, bits)
    here = {"alphas": alphas, _DIGEST: digest}
    there = {name: beside.get(name) for name in here}
    if beside and there != here:
        raise InputError(
            "sets-mismatch",
            f"{path_beside.name} is not about {path.name}",
            expected=f"alphas {listed(alphas)}, {_DIGEST} {digest}",
            found=f"alphas {there['alphas']}, {_DIGEST} {there[_DIGEST]}",
            hint="keep both files of one prediction together, or predict again",
            source=path_beside.name,
        )
    sets = xr.DataArray(
        bits.reshape(len(alphas), len(examples), len(labels)),
        dims=(ALPHA, EXAMPLE, LABEL),
        coords={ALPHA: alphas, EXAMPLE: text_array(examples), LABEL: text_array(labels)},
        attrs={
            name: json.dumps(value) if name in _AS_JSON else value
            for name, value in beside.items()
            if name not in _OURS
        },
    )
    # Where nothing is beside the table, one alpha is no dim.
    every = [EXAMPLE, LABEL, ALPHA]
    needed, dims = every[: 2 + (len(alphas) > 1)], beside.get("dims")
    if not isinstance(dims, list) or sorted(map(str, dims)) not in (sorted(needed), sorted(every)):
        dims = needed
    return sets.transpose(*dims) if ALPHA in dims else sets.isel({ALPHA: 0}).transpose(*dims)


def _rows_of(table: TextTable) -> tuple[list[str], list[float], NDArray[np.bool_]]:
    """Return examples, alphas and bits (row, label) of a table of prediction sets."""
    source, cells = table.source, table.columns[len(COLUMNS) :]
    if table.header[: len(COLUMNS)] != COLUMNS or not cells or table.nested:
        raise _unknown(source, f"columns {listed(table.header, most=5)}")
    if not len(table):
        raise files.empty(source, "one row a prediction set", "a header and no rows")
    odd = {cell for column in cells for cell in column} - {"0", "1"}
    if odd:
        raise _unknown(source, f'"{min(odd)}" in a column of 0 and 1')
    examples, alphas = (list(dict.fromkeys(column)) for column in table.columns[:2])
    numbers = [value_of(alpha) or math.nan for alpha in alphas]
    if not all(0 < number < 1 for number in numbers):
        raise _unknown(source, f"alphas {listed(alphas)}")
    if list(zip(*table.columns[:2], strict=True)) != [(e, a) for a in alphas for e in examples]:
        raise _unknown(source, "rows that are not every example at every alpha, in order")
    return examples, numbers, np.array([[cell == "1" for cell in column] for column in cells]).T


def _unknown(
    source: str, found: str, expected: str = _EXPECTED, file: str = "sets.csv"
) -> InputError:
    return InputError(
        "sets-unknown",
        f"{source} holds no prediction sets of ours",
        expected=expected,
        found=found,
        hint=f"plausibly predict PREDICTOR -p NEW --alpha 0.1 -o {file}",
        source=source,
    )
