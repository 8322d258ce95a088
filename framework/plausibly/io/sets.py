"""Prediction sets to CSV or Parquet, and the guarantee beside them as JSON."""

from __future__ import annotations

from pathlib import Path

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import extras
from plausibly.atomic import check_ours, recover, together, unwritable
from plausibly.data.names import ALPHA, EXAMPLE, LABEL, check_names, name_texts, text_array
from plausibly.errors import InputError, listed
from plausibly.io import beside, files, parquet, store, text
from plausibly.io.delimited import line
from plausibly.io.plausibilities import unknown_ending

COLUMNS = (EXAMPLE, ALPHA, "size", "labels")
"""The first columns, whatever the labels are called: those that follow are the labels."""

_ROLE = "sets"


def _rows(sets: xr.DataArray) -> xr.DataArray:
    """Return the sets as (alpha, example, label)."""
    whole = sets if ALPHA in sets.dims else sets.expand_dims(ALPHA)
    return whole.transpose(ALPHA, EXAMPLE, LABEL)


def _checked(sets: xr.DataArray) -> xr.DataArray:
    dims = {str(dim) for dim in sets.dims}
    if dims - {ALPHA} != {EXAMPLE, LABEL} or ALPHA not in sets.coords or sets.dtype != bool:
        raise InputError(
            "sets-unfit",
            "these are no prediction sets",
            expected="booleans over example and label, with a coordinate alpha",
            got=f"{sets.dtype} over {listed(sets.dims)}",
            do="sets = predictor.predict(predictions, alpha)",
            whose="sets",
        )
    for dim in (EXAMPLE, LABEL):
        check_names(name_texts(sets[dim].values), dim, whose="sets")
    return sets


ENDINGS = (".csv", ".parquet", ".zarr")
"""Of the files that are written."""


def check_output(path: Path) -> None:
    """Raise what would keep sets from being written there, before they are made.

    ``ending-unknown``, ``extra-missing``, or ``output-occupied``.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise unknown_ending(path, list(ENDINGS))
    if ending == ".zarr":
        extras.require("zarr", extra="zarr", whose=path.name)
        check_ours(path, store.is_sets, "an older store of prediction sets")
        return
    if ending == ".parquet":
        extras.require("pyarrow", extra="parquet", whose=path.name)
    check_ours(path, _is_ours, "older prediction sets")
    elsewhere = f"-o {path.with_stem(path.stem + '-sets')}"
    check_ours(path.with_suffix(".json"), beside.is_ours, "an older guarantee", do=elsewhere)


def _is_ours(path: Path) -> bool:
    if path.suffix.lower() == ".csv":
        with path.open(encoding="utf-8") as file:
            return file.readline().startswith(line(COLUMNS).rstrip())
    return tuple(parquet.names(path)[: len(COLUMNS)]) == COLUMNS


def write_sets(sets: xr.DataArray, path: Path | str, *, escape: bool = False) -> None:
    """Write prediction sets, and their guarantee beside them as JSON with the same stem.

    Parameters
    ----------
    sets : DataArray of bool, (example, label[, alpha])
        As `ConformalPredictor.predict` gives them: coordinate ``alpha``, attributes ``guarantees``,
        ``fingerprint``, ``calibration_overlap`` and ``left_out`` where they have them.
    path : Path or str
        ``.csv`` or ``.parquet``: columns ``example``, ``alpha``, ``size``, ``labels`` (the names
        joined by ``" | "``), then one column of 0 and 1 a label. Both files are written, or none.
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
    path = Path(path)
    if path.suffix.lower() == ".zarr":
        store.write(_checked(sets), path)
        return
    checked = _checked(sets)
    check_output(path)
    rows, other = _rows(checked), path.with_suffix(".json")
    digest = beside.digest(
        name_texts(rows[EXAMPLE].values), name_texts(rows[LABEL].values), rows.values
    )
    try:
        with together(path.parent) as part:
            if path.suffix.lower() == ".csv":
                _write_csv(rows, part / path.name, escape=escape)
            else:
                _write_parquet(rows, part / path.name)
            about = {beside.TABLE: path.name, beside.DIGEST: digest, beside.ESCAPED: escape}
            beside.write(sets, part / other.name, about)
    except OSError as reason:
        raise unwritable(path, reason) from reason


def _texts(rows: xr.DataArray) -> tuple[list[str], list[str], list[str], list[str]]:
    """Return the first four columns."""
    labels = name_texts(rows[LABEL].values)
    examples = name_texts(rows[EXAMPLE].values)
    alphas = [repr(float(alpha)) for alpha in rows[ALPHA].values]
    flat: NDArray[np.bool_] = rows.values.reshape(-1, len(labels))
    joined = [" | ".join(labels[code] for code in np.flatnonzero(row)) for row in flat]
    sizes = [str(size) for size in flat.sum(axis=1).tolist()]
    each = [alpha for alpha in alphas for _ in examples]
    return examples * len(alphas), each, sizes, joined


def _escaped(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "'", "\t", "\r")) else text


def _write_csv(rows: xr.DataArray, path: Path, *, escape: bool) -> None:
    cell = _escaped if escape else str
    labels = name_texts(rows[LABEL].values)
    bits = rows.values.reshape(-1, len(labels)).astype(np.uint8).tolist()
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(line([*COLUMNS, *map(cell, labels)]))
        for first, row in zip(zip(*_texts(rows), strict=True), bits, strict=True):
            file.write(line([*map(cell, first), *row]))


def _write_parquet(rows: xr.DataArray, path: Path) -> None:
    labels = name_texts(rows[LABEL].values)
    bits = rows.values.reshape(-1, len(labels)).astype(np.uint8)
    examples, alphas, sizes, joined = _texts(rows)
    columns: list[object] = [
        examples,
        np.array(alphas, dtype=np.float64),
        np.array(sizes, dtype=np.int32),
        joined,
        *np.ascontiguousarray(bits.T),
    ]
    parquet.write_columns(path, [*COLUMNS, *labels], columns)


@attrs.frozen(kw_only=True)
class _Stored:
    """What the table holds, cell by cell as text."""

    labels: list[str]
    examples: list[str]
    alphas: list[str]
    bits: NDArray[np.bool_]
    whose: str


def read_sets(path: Path | str, *, chunks: int | None = None) -> xr.DataArray:
    """Read prediction sets that `write_sets` wrote.

    Parameters
    ----------
    path : Path or str
        The CSV or Parquet file, whose JSON beside it has the same stem; or the Zarr store.
    chunks : int, optional
        Of a Zarr store: how many examples to read at once, about, when something is asked of the
        sets (extra ``dask``).

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
        ``guarantee-missing`` where the JSON is not there: these sets promise nothing.
    """
    path = Path(path)
    if chunks is not None or path.suffix.lower() == ".zarr":
        return _checked(store.read(path, chunks))
    facts_file = path.with_suffix(".json")
    recover(path.parent, path.name, facts_file.name)
    stored = _read(path)
    alphas = list(dict.fromkeys(stored.alphas))
    examples = list(dict.fromkeys(stored.examples))
    width = len(stored.labels)
    whole = ([alpha for alpha in alphas for _ in examples], examples * len(alphas))
    if (stored.alphas, stored.examples) != whole:
        raise _unknown(stored.whose, "rows that are not every example at every alpha, in order")
    check_names(stored.labels, LABEL, whose=stored.whose)
    check_names(examples, EXAMPLE, whose=stored.whose)
    numbers = [float(alpha) for alpha in alphas]
    facts, labels = beside.read(facts_file, table=path.name), stored.labels
    if facts.get(beside.ESCAPED) is True and path.suffix.lower() == ".csv":
        labels, examples = ([t.removeprefix("'") for t in texts] for texts in (labels, examples))
    beside.check(
        facts,
        facts_file.name,
        path.name,
        alphas=numbers,
        labels=labels,
        examples=len(examples),
        digest=beside.digest(examples, labels, stored.bits),
    )
    sets = xr.DataArray(
        stored.bits.reshape(len(alphas), len(examples), width),
        dims=(ALPHA, EXAMPLE, LABEL),
        coords={ALPHA: numbers, EXAMPLE: text_array(examples), LABEL: text_array(labels)},
        attrs=beside.attributes(facts),
    )
    dims = beside.dims(facts, len(alphas))
    return sets.transpose(*dims) if ALPHA in dims else sets.isel({ALPHA: 0}).transpose(*dims)


def _read(path: Path) -> _Stored:
    table = text.read_table(path, role=_ROLE, unique=False)
    if table.header[: len(COLUMNS)] != COLUMNS or len(table.header) == len(COLUMNS):
        raise _unknown(table.whose, f"columns {listed(table.header, most=5)}")
    if not len(table):
        raise files.empty(table.whose, "one row a prediction set", "a header and no rows")
    cells = table.columns[len(COLUMNS) :]
    other = {cell for column in cells for cell in set(column)} - {"0", "1"}
    if other:
        raise _unknown(table.whose, f'"{min(other)}" in a column of 0 and 1')
    try:
        numbers = [float(alpha) for alpha in set(table.columns[1])]
    except ValueError:
        raise _unknown(table.whose, "an alpha that is no number") from None
    if not all(0 < number < 1 for number in numbers):
        raise _unknown(table.whose, f"alpha {min(numbers)} to {max(numbers)}")
    bits = np.array([[cell == "1" for cell in column] for column in cells], dtype=bool).T
    return _Stored(
        labels=list(table.header[len(COLUMNS) :]),
        examples=list(table.columns[0]),
        alphas=list(table.columns[1]),
        bits=bits,
        whose=table.whose,
    )


def _unknown(whose: str, got: str) -> InputError:
    return InputError(
        "sets-unknown",
        f"{whose} holds no prediction sets of ours",
        expected=f"columns {', '.join(COLUMNS)}, then one of 0 and 1 a label",
        got=got,
        do="plausibly predict PREDICTOR -p NEW --alpha 0.1 -o sets.csv",
        whose=whose,
    )
