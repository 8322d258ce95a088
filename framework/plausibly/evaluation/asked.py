"""What a study is asked for, checked at the border: numbers of splits, draws and examples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation import inputs
from plausibly.evaluation.splits import Values

_WHAT = {
    "splits": "a study of {} splits",
    "processes": "a study in {} processes",
    "draws": "draws {} of a study",
    "sizes": "calibration sizes {} of a study",
}


def _is_count(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) > 0


def check_count(name: str, value: object, *, do: str) -> None:
    """Raise `InputError` ``splits-range`` or ``processes-range`` unless it is a count."""
    if not _is_count(value):
        raise InputError(
            f"{name}-range",
            _WHAT[name].format(repr(value)),
            expected="a whole number from 1 on",
            got=repr(value),
            do=do,
        )


def read_numbers(name: str, given: int | Sequence[int] | None) -> tuple[int, ...] | None:
    """Return one number or several, each once.

    Parameters
    ----------
    name : str
        ``"draws"`` or ``"sizes"``.
    given : int or sequence of int, optional

    Raises
    ------
    InputError
        ``draws-range`` or ``sizes-range``.
    """
    if given is None:
        return None
    alone = np.ndim(given) == 0  # a text too
    numbers: list[object] = [given] if alone else list(given)  # type: ignore[arg-type]  # as ndim says
    do = f"{name}=[1, 5, 10]" if name == "draws" else f"{name}=[50, 100, 200]"
    wrong = [value for value in numbers if not _is_count(value)]
    if wrong or not numbers:
        raise InputError(
            f"{name}-range",
            _WHAT[name].format(repr(given)),
            expected="whole numbers from 1 on",
            got=listed(map(repr, wrong)) or "none",
            do=do,
        )
    found = [int(value) for value in numbers if isinstance(value, int | np.integer)]
    twice = sorted({value for value in found if found.count(value) > 1})
    if twice:
        raise InputError(
            f"{name}-range",
            _WHAT[name].format(repr(given)),
            expected="each number once",
            got=f"{listed(twice)} more than once",
            do=f"{name}={list(dict.fromkeys(found))}",
        )
    return tuple(found)


def strata_of(stratify: str | xr.DataArray, arrays: Sequence[xr.DataArray]) -> Values:
    """Return the stratum of each example.

    Parameters
    ----------
    stratify : str or DataArray, (example,)
        Name of a coordinate of `arrays`, or values by name.
    arrays : sequence of DataArray
        Over the same examples in the same order.

    Raises
    ------
    InputError
        ``stratify-malformed``, ``stratify-missing``, and those of `example_values`.
    """
    if isinstance(stratify, str):
        return inputs.example_values(stratify, arrays)
    there = isinstance(stratify, xr.DataArray)
    if not there or stratify.dims != (names.EXAMPLE,) or names.EXAMPLE not in stratify.coords:
        raise InputError(
            "stratify-malformed",
            "the strata are not named by example",
            expected="the name of a coordinate, or a DataArray over example",
            got=f"dims {listed(map(str, stratify.dims)) or 'none'}"
            if there
            else f"an object of type {type(stratify).__name__}",
            do='stratify="COLUMN" of an example table, or plausibilities.idxmax("label")',
            whose="stratify",
        )
    examples = arrays[0][names.EXAMPLE].values
    known = names.name_texts(stratify[names.EXAMPLE].values)
    places = names.positions(known, list(map(str, examples)))
    if (places < 0).any():
        lacking = [str(name) for name in examples[places < 0]]
        raise InputError(
            "stratify-missing",
            f"{counted(len(lacking))} of {counted(len(examples))} examples have no stratum",
            expected="a value for each example of the predictions",
            got=f"none for {listed(lacking)}",
            do="add them, or leave these examples out with sel(example=...)",
            whose="stratify",
            details={"examples": lacking},
        )
    values = stratify.isel({names.EXAMPLE: places}).assign_coords({names.EXAMPLE: examples})
    whole = arrays[0].assign_coords(stratify=(names.EXAMPLE, values.values))
    return inputs.example_values("stratify", (whole,))
