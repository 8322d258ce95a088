"""The numbers of a figure as one plain table: a row a number."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import xarray as xr

from plausibly.atomic import replacing

QUANTITY, VALUE, DATA, SIMULATED = "quantity", "value", "data", "simulated"
_SIMULATED = "simulated predictions"


def write_numbers(numbers: xr.Dataset, path: Path) -> None:
    """Write every variable of a Dataset as rows of quantity, coordinates and value.

    Parameters
    ----------
    numbers : Dataset
    path : Path

    Raises
    ------
    InputError
        ``output-unwritable``.

    Notes
    -----
    The columns are `data`, `quantity`, one for each dim (empty where a quantity does not have it),
    and `value`. Where predictions are simulated, `data` says so in every row.
    """
    dims = [str(dim) for dim in numbers.dims]
    data = str(numbers.attrs.get(DATA, ""))
    if numbers.attrs.get(SIMULATED):
        data = f"{data} ({_SIMULATED})"
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([DATA, QUANTITY, *dims, VALUE])
        for name, variable in numbers.data_vars.items():
            named = {
                str(dim): [_text(value) for value in numbers[dim].values.tolist()]
                for dim in variable.dims
            }
            for place in np.ndindex(*variable.shape):
                at = dict(zip(map(str, variable.dims), place, strict=True))
                where = [named[dim][at[dim]] if dim in at else "" for dim in dims]
                writer.writerow([data, name, *where, _text(variable.values[place].item())])


def _text(value: object) -> str:
    """Return a number in the shortest text that reads back as the same."""
    if isinstance(value, bool):
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)
