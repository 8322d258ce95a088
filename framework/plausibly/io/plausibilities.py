"""Plausibilities to a file and back, to the last bit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs
import numpy as np
import xarray as xr

from plausibly.arrays import Ints
from plausibly.atomic import replacing
from plausibly.errors import InputError
from plausibly.io import arrays, files, netcdf, numpy_files, text
from plausibly.io.array_tables import from_table
from plausibly.io.delimited import line
from plausibly.labelled.borders import check_plausibilities
from plausibly.labelled.names import DENOMINATOR, EXAMPLE, LABEL, PLAUSIBILITIES
from plausibly.labelled.text import name_texts

_USUAL = (PLAUSIBILITIES,)
_ROLE = "plausibilities"
_ATTRIBUTES = "attributes"
_INT32, _INT64 = 2**31, 2**63
_TOTAL = re.compile("[0-9]{1,19}")


def write_plausibilities(lam: xr.DataArray | xr.Dataset, path: Path | str) -> None:
    """Write plausibilities; the ending decides the format.

    Parameters
    ----------
    lam : DataArray (example, label) or packed Dataset
        Plausibilities, as `plausibly.aggregate` gives them, with or without ``denominator``.
    path : Path or str
        ``.csv``: columns ``example``, perhaps ``denominator``, then one a label, numbers so long
        that they read back as they were (without attributes). ``.npz``: arrays ``plausibilities``,
        ``examples``, ``labels``, perhaps ``denominator``. ``.nc``: netCDF-3.

    Raises
    ------
    InputError
        ``ending-unknown``, ``output-unwritable``, or what `check_plausibilities` says.
    """
    path = Path(path)
    write = _writers().get(path.suffix.lower())
    if write is None:
        raise unknown_ending(path, list(_writers()))
    array = check_plausibilities(lam, draws=False)
    with replacing(path) as part:
        write(array, part)


def unknown_ending(path: Path, endings: list[str]) -> InputError:
    """Return the error for an output whose ending says no format that we write."""
    return InputError(
        "ending-unknown",
        f"cannot tell the format of {path}",
        expected=" or ".join(endings),
        got=path.suffix or "no ending",
        do=f"-o {path.with_suffix(endings[0])}",
        whose=str(path),
    )


def _writers() -> Mapping[str, Callable[[xr.DataArray, Path], None]]:
    return {".csv": _write_csv, ".npz": _write_npz, ".nc": _write_netcdf}


def _denominator(array: xr.DataArray) -> Ints | None:
    return array.coords[DENOMINATOR].values if DENOMINATOR in array.coords else None


def _write_csv(array: xr.DataArray, path: Path) -> None:
    labels = name_texts(array[LABEL].values)
    examples = name_texts(array[EXAMPLE].values)
    totals = _denominator(array)
    # A first label of this name would read back as the totals: then the column is always there.
    column = totals is not None or labels[0] == DENOMINATOR
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(line([EXAMPLE, *([DENOMINATOR] if column else []), *labels]))
        for row, name in enumerate(examples):
            total = [] if not column else ["" if totals is None else int(totals[row])]
            shares = array.values[row].astype(float).tolist()
            file.write(line([name, *total, *shares]))


def _write_npz(array: xr.DataArray, path: Path) -> None:
    stored = {
        PLAUSIBILITIES: array.values,
        "examples": array[EXAMPLE].values.astype(np.str_),
        "labels": array[LABEL].values.astype(np.str_),
        _ATTRIBUTES: np.array(json.dumps(array.attrs)),
    }
    totals = _denominator(array)
    if totals is not None:
        stored[DENOMINATOR] = totals
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **stored)


def _write_netcdf(array: xr.DataArray, path: Path) -> None:
    totals = _denominator(array)
    if totals is not None:
        # netCDF-3 has no 64-bit integers: what does not fit in 32 bits is kept as its digits.
        fits = int(totals.max(initial=0)) < _INT32
        stored = totals.astype(np.int32) if fits else np.array([str(int(t)) for t in totals])
        array = array.assign_coords({DENOMINATOR: (EXAMPLE, stored)})
    dataset = array.rename(PLAUSIBILITIES).to_dataset()
    dataset.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")


def read_plausibilities(path: Path | str) -> xr.DataArray:
    """Read plausibilities that `write_plausibilities` wrote, or that have the same form.

    Parameters
    ----------
    path : Path or str
        CSV, TSV or Parquet, npz, or netCDF, told by its first bytes.

    Returns
    -------
    DataArray, (example, label)
        Rows sum to 1; coordinate ``denominator`` over ``example`` where the file has it.

    Raises
    ------
    InputError
        With the name of the file and the rows.
    """
    path = Path(path)
    head = files.opening(path, _ROLE, 8)
    attributes: dict[str, object] = {}
    totals: Ints | None = None
    if head.startswith(netcdf.SIGNATURES):
        found = arrays.from_netcdf(path, _ROLE, None, _USUAL)
        kept = dict(found.coordinates)
        if DENOMINATOR in kept:
            totals = kept.pop(DENOMINATOR).values.astype(np.int64)
        attributes = dict(found.attributes)
        array = arrays.labelled(found, name=PLAUSIBILITIES)
    elif path.suffix.lower() == ".npz":
        array, totals, attributes = _read_npz(path)
    else:
        array, totals = _read_table(path)
    if totals is not None:
        array = array.assign_coords({DENOMINATOR: (EXAMPLE, totals)})
    return check_plausibilities(array.assign_attrs(attributes), whose=path.name)


def _read_npz(path: Path) -> tuple[xr.DataArray, Ints | None, dict[str, object]]:
    found = arrays.from_npz(path, _ROLE, _USUAL)
    stored = numpy_files.read_npz(path, _ROLE)
    totals = stored.get(DENOMINATOR)
    said = stored.get(_ATTRIBUTES, np.array("{}"))
    if totals is not None and (
        totals.shape != found.values.shape[:1] or totals.dtype.kind not in "iu"
    ):
        raise _not_totals(path.name, f"shape {totals.shape}, type {totals.dtype}")
    try:
        attributes = dict(json.loads(str(said)))
    except (ValueError, TypeError):
        attributes = {}
    whole = None if totals is None else totals.astype(np.int64)
    return arrays.labelled(found, name=PLAUSIBILITIES), whole, attributes


def _read_table(path: Path) -> tuple[xr.DataArray, Ints | None]:
    found = from_table(path, _ROLE, EXAMPLE, unique=False)
    labels = found.labels or []
    if labels[:1] != [DENOMINATOR]:
        text.distinct(labels, path.name)
        return arrays.labelled(found, name=PLAUSIBILITIES), None
    text.distinct(labels[1:], path.name)
    rest = attrs.evolve(found, values=found.values[:, 1:], labels=labels[1:])
    array = arrays.labelled(rest, name=PLAUSIBILITIES)
    if np.isnan(found.values[:, 0]).all():
        return array, None
    # Read as digits: a float64 would round totals above 2^53.
    table = text.read_table(path, role=_ROLE, unique=False)
    digits = table.columns[table.header.index(DENOMINATOR)]
    wrong = [total for total in digits if not (_TOTAL.fullmatch(total) and int(total) < _INT64)]
    if wrong:
        raise _not_totals(path.name, f'"{wrong[0]}"')
    totals = np.array([int(total) for total in digits], dtype=np.int64)
    return _as_single(array, totals), totals


def _as_single(array: xr.DataArray, totals: Ints) -> xr.DataArray:
    """Return float32 where the shares of totals were float32 when they were written.

    Read as float64 they are near the shares, but not what a count over its total gives.
    """
    values = array.values
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        single = values.astype(np.float32)
        shares = np.rint(values * totals[:, None]) / totals[:, None]
    was_single = (single == values).all() and (shares != values).any()
    return array.copy(data=single) if was_single else array


def _not_totals(whose: str, got: str) -> InputError:
    return InputError(
        "denominator-unfit",
        f"{whose}: {DENOMINATOR} is not one total an example",
        expected="whole numbers, one a row",
        got=got,
        do=f"mend {DENOMINATOR}, or leave it out",
        whose=whose,
    )
