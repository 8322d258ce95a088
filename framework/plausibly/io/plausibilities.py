"""Plausibilities and draws of them to a file and back, to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, overload

import xarray as xr

from plausibly import extras
from plausibly.atomic import replacing
from plausibly.data.names import CONVERGENCE, JOINT
from plausibly.data.plausibilities import is_packed, pack, unpack
from plausibly.data.validate import check_packed_plausibilities, check_plausibilities
from plausibly.errors import InputError, listed, warn
from plausibly.io import (
    files,
    netcdf,
    parquet,
    plausibilities_arrays,
    plausibilities_long,
    plausibilities_packed,
    plausibilities_wide,
    text,
)
from plausibly.io.pieces import MARK, Content

Form = Literal["wide", "long"]
"""One column a label, or one row a label that is plausible at all."""

_ROLE = "plausibilities"


ENDINGS = (".csv", ".parquet", ".npz", ".nc")
"""Of the files that are written."""

PACKED_ENDINGS = (".npz", ".nc")
"""Of those in which packed plausibilities stay packed."""


def check_output(path: Path, form: str = "wide") -> None:
    """Raise ``ending-unknown``, ``option-unfit`` or ``extra-missing`` before anything is written.

    Parameters
    ----------
    path : Path
        Where plausibilities are to be written.
    form : str
        As `write_plausibilities` takes it.
    """
    if path.suffix.lower() not in ENDINGS:
        raise unknown_ending(path, list(ENDINGS))
    if form != "wide":
        _check_form(form, path)
    if path.suffix.lower() == ".parquet":
        extras.require("pyarrow", extra="parquet", whose=path.name)


def write_plausibilities(
    lam: xr.DataArray | xr.Dataset, path: Path | str, *, form: Form = "wide"
) -> None:
    """Write plausibilities, or draws of them; the ending decides the format.

    Parameters
    ----------
    lam : DataArray ([draw,] example, label) or packed Dataset
        Plausibilities, as `plausibly.aggregate` gives them, with or without ``denominator``.
    path : Path or str
        ``.csv``: columns ``example``, perhaps ``denominator``, then one a label, numbers so long
        that they read back as they were; draws have a first column ``draw``. It has no place for
        attributes and further coordinates. ``.parquet``: the same columns, and the rest in the
        metadata of the file. ``.npz``: arrays ``plausibilities``, ``examples``, ``labels``, perhaps
        ``draws`` and ``denominator``, and further coordinates. ``.nc``: netCDF-3. Packed
        plausibilities stay packed in ``.npz`` and ``.nc``: ``weight`` and ``label``.
    form : {"wide", "long"}
        ``"long"``, for ``.csv`` and ``.parquet``: one row for each label that is not 0, with the
        columns ``example``, ``label``, ``plausibility``, perhaps ``draw`` before them and
        ``denominator`` after. It keeps everything, and packed plausibilities are never unpacked.

    Raises
    ------
    InputError
        ``ending-unknown``, ``option-unfit``, ``output-unwritable``, ``variable-unwritable`` and the
        like where the format cannot hold something, or what `check_plausibilities` says.

    Warns
    -----
    PlausiblyWarning
        ``attributes-lost`` where a wide CSV does not keep how plausibilities were estimated.
    """
    path = Path(path)
    writers: Mapping[str, Callable[[xr.DataArray, Path], None]] = {
        ".csv": plausibilities_wide.write_csv,
        ".parquet": plausibilities_wide.write_parquet,
        ".npz": plausibilities_arrays.write_npz,
        ".nc": plausibilities_arrays.write_netcdf,
    }
    packed_writers: Mapping[str, Callable[[xr.Dataset, Path], None]] = {
        ".npz": plausibilities_packed.write_npz,
        ".nc": plausibilities_packed.write_netcdf,
    }
    ending = path.suffix.lower()
    check_output(path, form)
    if form != "wide":
        checked = plausibilities_long.checked(lam)
        with replacing(path) as part:
            plausibilities_long.write(checked, part)
        return
    if isinstance(lam, xr.Dataset) and is_packed(lam) and ending in PACKED_ENDINGS:
        checked_slots = check_packed_plausibilities(lam)
        with replacing(path) as part:
            packed_writers[ending](checked_slots, part)
        return
    array = check_plausibilities(lam)
    if ending == ".csv":
        _warn_of_lost(array, path)
    with replacing(path) as part:
        writers[ending](array, part)


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


def _check_form(form: str, path: Path) -> None:
    if form != "long":
        got, do = f'form "{form}"', 'form="long", or leave it out'
    elif path.suffix.lower() not in (".csv", ".parquet"):
        got, do = f"the ending {path.suffix}", f"-o {path.with_suffix('.parquet')}, or form wide"
    else:
        return
    raise InputError(
        "option-unfit",
        f"{path.name}: plausibilities are not written in this form",
        expected='form "wide", or "long" for .csv and .parquet',
        got=got,
        do=do,
        whose=str(path),
    )


def _warn_of_lost(array: xr.DataArray, path: Path) -> None:
    """Warn of attributes without which a guarantee would say less than it should."""
    lost = [name for name in (JOINT, CONVERGENCE) if name in array.attrs]
    if lost:
        warn(
            "attributes-lost",
            f"{path.name} does not keep {listed(lost)}: how the plausibilities were estimated",
            expected="a format that does: guarantees then say that they are estimates",
            got="a wide CSV",
            do=f"-o {path.with_suffix('.parquet').name}, {path.with_suffix('.npz').name} or "
            f'{path.with_suffix(".nc").name} (or form="long")',
            whose=path.name,
            details={"attributes": lost},
            stacklevel=3,
        )


@overload
def read_plausibilities(path: Path | str, *, packed: Literal[False] = False) -> xr.DataArray: ...


@overload
def read_plausibilities(path: Path | str, *, packed: Literal[True]) -> xr.Dataset: ...


@overload
def read_plausibilities(path: Path | str, *, packed: None) -> xr.DataArray | xr.Dataset: ...


def read_plausibilities(
    path: Path | str, *, packed: bool | None = False
) -> xr.DataArray | xr.Dataset:
    """Read plausibilities that `write_plausibilities` wrote, or that have the same form.

    Parameters
    ----------
    path : Path or str
        CSV, TSV or Parquet, wide or long, npz, or netCDF, told by what is in it.
    packed : bool or None
        Return the packed form; of a file of packed plausibilities or a long table, without
        unpacking it on the way. None: in the form that takes less: packed where the file is, and
        of a long table of more than 32 labels.

    Returns
    -------
    DataArray, ([draw,] example, label), or packed Dataset
        Rows sum to 1; coordinate ``denominator`` over ``example`` where the file has it.

    Raises
    ------
    InputError
        With the name of the file and the rows.
    """
    path = Path(path)
    found = _read(path, packed=packed)
    if isinstance(found, xr.Dataset):
        checked = check_packed_plausibilities(found, whose=path.name)
        return unpack(checked) if packed is False else checked
    array = check_plausibilities(found, whose=path.name, draws=not packed)
    return pack(array) if packed else array


def _of_content(found: xr.DataArray | Content, whose: str) -> xr.DataArray | xr.Dataset:
    """Return the plausibilities that a file of ours holds, packed where they were."""
    if not isinstance(found, Content):
        return found
    if plausibilities_packed.is_content(found):
        return plausibilities_packed.dataset_of(found, whose)
    return plausibilities_arrays.array_of(found, whose)


def _read(path: Path, *, packed: bool | None) -> xr.DataArray | xr.Dataset:
    head = files.opening(path, _ROLE)
    if head.startswith(netcdf.SIGNATURES):
        return _of_content(plausibilities_arrays.read_netcdf(path), path.name)
    if path.suffix.lower() == ".npz" or head.startswith(b"PK"):
        return _of_content(plausibilities_arrays.read_npz(path), path.name)
    said = parquet.metadata(path, MARK) if head.startswith(b"PAR1") else None
    if said is not None and not plausibilities_long.says_long(said):
        return plausibilities_wide.read_parquet(path, said)
    if said is not None or head.startswith(b"PAR1") or plausibilities_long.may_be_long(head):
        table = text.read_table(path, role=_ROLE, unique=False)
        if said is not None or plausibilities_long.is_long(table):
            said = plausibilities_long.said_in(path, table)
            return plausibilities_long.read(table, said, packed=packed)
    return plausibilities_wide.read_table(path, head)
