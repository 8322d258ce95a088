"""Prediction sets in files, with the guarantee beside them as JSON."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import extras
from plausibly.atomic import check_ours, is_store, recover, replacing, together, unwritable
from plausibly.conformal.chunks import read_coordinates
from plausibly.data.named import is_lazy
from plausibly.data.names import (
    ALPHA,
    EXAMPLE,
    LABEL,
    LEFT_OUT,
    check_names,
    name_texts,
    text_array,
)
from plausibly.errors import InputError, listed, warn
from plausibly.extras import require
from plausibly.io import files, text
from plausibly.io.chunked import check_chunks, in_chunks, is_zarr, open_dataset
from plausibly.io.delimited import decode, line
from plausibly.io.plausibilities import unknown_ending

GUARANTEES = "guarantees"
_AS_JSON = (GUARANTEES, LEFT_OUT)
TABLE, DIGEST, ESCAPED = "table", "table_digest", "table_escaped"
_OURS = ("about", "alphas", "dims", "examples", "labels", "versions", TABLE, DIGEST, ESCAPED)
_TITLE = "what the prediction sets in the table of the same name promise"


def described(sets: xr.DataArray) -> dict[str, object]:
    """Return what the file says: alphas, dims, names, versions, and the attributes of the sets."""
    facts: dict[str, object] = {
        "about": _TITLE,
        "alphas": [float(alpha) for alpha in np.atleast_1d(sets[ALPHA].values)],
        "dims": [str(dim) for dim in sets.dims],
        "examples": sets.sizes[EXAMPLE],
        "labels": name_texts(sets[LABEL].values),
        "versions": {
            "plausibly": version("plausibly"),
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }
    for name, value in sets.attrs.items():
        if name in _AS_JSON:
            facts[str(name)] = json.loads(str(value))
        else:
            facts[str(name)] = value.item() if isinstance(value, np.generic) else value
    return facts


def is_ours(path: Path) -> bool:
    """Return whether a file is the guarantee of some sets."""
    about = json.loads(path.read_text(encoding="utf-8"))
    return isinstance(about, dict) and {"alphas", "versions"} <= about.keys()


def sets_digest(examples: Sequence[str], labels: Sequence[str], bits: NDArray[np.bool_]) -> str:
    """Return 32 hexadecimal digits of a table: its names, and which labels its rows contain."""
    names = json.dumps([list(examples), list(labels)]).encode()
    return blake2b(names + np.packbits(bits).tobytes(), digest_size=16).hexdigest()


def write_beside(sets: xr.DataArray, path: Path, about: Mapping[str, object]) -> None:
    """Write the facts of `described`, and those about their table."""
    facts = {**described(sets), **about}
    content = json.dumps(facts, indent=2, ensure_ascii=False, default=str)
    path.write_text(f"{content}\n", encoding="utf-8")


def read_beside(path: Path, *, table: str) -> dict[str, object]:
    """Return the facts beside prediction sets; none, with a warning, without a file."""
    if not path.exists():
        warn(
            "guarantee-missing",
            f"{table} has no {path.name} beside it",
            expected="the guarantee that plausibly predict writes there",
            got="sets that promise nothing",
            do=f"put {path.name} back beside it, or predict again",
            whose=table,
            stacklevel=3,
        )
        return {}
    content = decode(files.contents(path, "sets"), path.name)
    try:
        facts = json.loads(content)
    except (ValueError, RecursionError) as reason:
        line = getattr(reason, "lineno", 1)
        raise InputError(
            "json-broken",
            f"{path.name} line {line} is no JSON",
            expected=f"what plausibly predict wrote beside {table}",
            got=str(getattr(reason, "msg", reason)),
            do="predict again, or remove it: the sets then promise nothing",
            whose=path.name,
        ) from None
    if not isinstance(facts, dict):
        raise _mismatch(path.name, table, "another form", "facts by name")
    return {str(name): value for name, value in facts.items()}


def check(
    facts: Mapping[str, object],
    whose: str,
    table: str,
    *,
    alphas: Sequence[float],
    labels: Sequence[str],
    examples: int,
    digest: str,
) -> None:
    """Raise ``sets-mismatch`` unless the facts are about a table with these names and rows."""
    for name, here in (
        ("labels", list(labels)),
        ("alphas", list(alphas)),
        ("examples", examples),
    ):
        there = facts.get(name, here)
        if there != here:
            shown = [listed(x) if isinstance(x, list) else str(x) for x in (there, here)]
            raise _mismatch(whose, table, f"{name} {shown[0]}", f"{name} {shown[1]}")
    if facts and facts.get(DIGEST) != digest:
        raise _mismatch(
            whose, table, f"{DIGEST} {facts.get(DIGEST, 'missing')}", f"{DIGEST} {digest}"
        )


def _mismatch(whose: str, table: str, got: str, expected: str) -> InputError:
    return InputError(
        "sets-mismatch",
        f"{whose} is not about {table}",
        expected=expected,
        got=got,
        do="keep both files of one prediction together, or predict again",
        whose=whose,
    )


def attributes(facts: Mapping[str, object]) -> dict[str, object]:
    """Return the attributes that the sets had."""
    return {
        name: json.dumps(value) if name in _AS_JSON else value
        for name, value in facts.items()
        if name not in _OURS
    }


def sets_dims(facts: Mapping[str, object], alphas: int) -> tuple[str, ...]:
    """Return the dims that the sets had; without facts, one alpha is no dim."""
    usual = (EXAMPLE, LABEL) if alphas == 1 else (EXAMPLE, LABEL, ALPHA)
    said = facts.get("dims")
    if isinstance(said, list) and {EXAMPLE, LABEL} <= set(said) <= {EXAMPLE, LABEL, ALPHA}:
        stored = tuple(str(dim) for dim in said)
        return stored if alphas == 1 or ALPHA in stored else usual
    return usual


VARIABLE = "prediction_sets"


def write_store(sets: xr.DataArray, path: Path) -> None:
    """Write sets with their names and attributes, whole or not at all."""
    require("zarr", extra="zarr", whose=path.name)
    bare = sets.rename(VARIABLE).drop_encoding()
    if is_lazy(bare):
        # A store has chunks of one size.
        size = max(bare.variable.chunksizes[EXAMPLE])
        bare = bare.chunk({dim: size if dim == EXAMPLE else -1 for dim in bare.dims})
    check_ours(path, is_sets, "an older store of prediction sets")
    with replacing(path) as part:
        # An empty chunk is written too: one that is missing later was lost.
        bare.to_dataset().to_zarr(part, zarr_format=2, consolidated=True, write_empty_chunks=True)


def is_sets(path: Path) -> bool:
    """Return whether a folder is a store of prediction sets, with nothing else in it."""
    return is_store(path, lambda metadata: f"{VARIABLE}/.zarray" in metadata)


def read_store(path: Path, chunks: int | None) -> xr.DataArray:
    """Return the sets of a store, in memory, or in chunks of about so many examples."""
    if not is_zarr(path):
        raise InputError(
            "option-unfit",
            f"{path.name}: chunks has no meaning here",
            expected="a Zarr store of prediction sets",
            got=path.suffix or "no ending",
            do="leave chunks (--chunks) out, or predict into a store: -o sets.zarr",
            whose=path.name,
        )
    if chunks is not None:
        check_chunks(chunks)
    recover(path.parent, path.name)
    dataset = open_dataset(path, "sets", lazy=chunks is not None)
    described = path / VARIABLE / ".zarray"
    known = VARIABLE in dataset and ALPHA in dataset[VARIABLE].coords
    if not known or not described.is_file():
        raise InputError(
            "sets-unknown",
            f"{path.name} holds no prediction sets of ours",
            expected=f"a variable {VARIABLE} with a coordinate alpha",
            got=", ".join(map(str, dataset)) or "no variable",
            do="plausibly predict PREDICTOR -p NEW --alpha 0.1 -o sets.zarr",
            whose=path.name,
        )
    about = json.loads(described.read_text(encoding="utf-8"))
    pieces = zip(about["shape"], about["chunks"], strict=True)
    whole = math.prod(-(-size // chunk) for size, chunk in pieces)
    there = sum(entry.name[0].isdigit() for entry in (path / VARIABLE).iterdir())
    if there != whole:
        raise InputError(
            "file-damaged",
            f"{path.name} is not a whole Zarr store",
            expected=f"{whole:,} chunks of {VARIABLE}",
            got=f"{there:,}",
            do="copy it again, or predict again",
            whose=path.name,
        )
    array = read_coordinates(dataset[VARIABLE]).astype(np.bool_, copy=False)
    return array if chunks is None else in_chunks(array, chunks)


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
    """Raise what would keep sets from being written there, before they are made."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise unknown_ending(path, list(ENDINGS))
    if ending == ".zarr":
        extras.require("zarr", extra="zarr", whose=path.name)
        check_ours(path, is_sets, "an older store of prediction sets")
        return
    if ending == ".parquet":
        extras.require("pyarrow", extra="parquet", whose=path.name)
    check_ours(path, _is_ours, "older prediction sets")
    elsewhere = f"-o {path.with_stem(path.stem + '-sets')}"
    check_ours(path.with_suffix(".json"), is_ours, "an older guarantee", do=elsewhere)


def _is_ours(path: Path) -> bool:
    if path.suffix.lower() == ".csv":
        with path.open(encoding="utf-8") as file:
            return file.readline().startswith(line(COLUMNS).rstrip())
    return tuple(text.names(path)[: len(COLUMNS)]) == COLUMNS


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
        write_store(_checked(sets), path)
        return
    checked = _checked(sets)
    check_output(path)
    rows, other = _rows(checked), path.with_suffix(".json")
    digest = sets_digest(
        name_texts(rows[EXAMPLE].values), name_texts(rows[LABEL].values), rows.values
    )
    try:
        with together(path.parent) as part:
            if path.suffix.lower() == ".csv":
                _write_csv(rows, part / path.name, escape=escape)
            else:
                _write_parquet(rows, part / path.name)
            about = {TABLE: path.name, DIGEST: digest, ESCAPED: escape}
            write_beside(sets, part / other.name, about)
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
    text.write_columns(path, [*COLUMNS, *labels], columns)


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
        return _checked(read_store(path, chunks))
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
    facts, labels = read_beside(facts_file, table=path.name), stored.labels
    if facts.get(ESCAPED) is True and path.suffix.lower() == ".csv":
        labels, examples = ([t.removeprefix("'") for t in texts] for texts in (labels, examples))
    check(
        facts,
        facts_file.name,
        path.name,
        alphas=numbers,
        labels=labels,
        examples=len(examples),
        digest=sets_digest(examples, labels, stored.bits),
    )
    sets = xr.DataArray(
        stored.bits.reshape(len(alphas), len(examples), width),
        dims=(ALPHA, EXAMPLE, LABEL),
        coords={ALPHA: numbers, EXAMPLE: text_array(examples), LABEL: text_array(labels)},
        attrs=attributes(facts),
    )
    dims = sets_dims(facts, len(alphas))
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
