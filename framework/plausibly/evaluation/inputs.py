"""What evaluation is given, checked at the border: sets, plausibilities, coordinates, options."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.coordinates import as_values, emptiness, group_names
from plausibly.conformal.aggregate import aggregate, aggregated
from plausibly.conformal.inputs import LABEL_ORDER
from plausibly.data import names, validate
from plausibly.data.named import is_lazy
from plausibly.data.validate import as_checked
from plausibly.errors import InputError, counted, listed
from plausibly.kernels.coverage import TIES, Ties
from plausibly.kernels.types import Ints

SETS = "the prediction sets"


def as_plausibilities(given: xr.DataArray | xr.Dataset) -> xr.DataArray:
    """Return plausibilities (example, label), dense or packed, or aggregated from annotations.

    Parameters
    ----------
    given : DataArray or Dataset
        An annotation table is aggregated by the default of its kind. Of drawn plausibilities the
        mean is taken, which is what guarantees are about.
    """
    if isinstance(given, xr.Dataset) and names.RESPONSE_EXAMPLE in given:
        given = aggregate(given)
    return validate.mean_over_draws(validate.check_plausibilities(given))


def as_given(given: xr.DataArray | xr.Dataset, *, later: bool = False) -> xr.DataArray | xr.Dataset:
    """Return plausibilities as `as_plausibilities` does, packed where they are or labels are many.

    Parameters
    ----------
    given : DataArray or Dataset
    later : bool
        Whether an array in chunks stays there, to be checked when it is read; by default it is
        read now. A Dataset is always read: it is small.
    """
    if isinstance(given, xr.Dataset) and names.RESPONSE_EXAMPLE in given:
        given = aggregated(given)
    if later and isinstance(given, xr.DataArray) and is_lazy(given):
        from plausibly.conformal.chunked import checked_chunks

        return checked_chunks(given)
    if is_lazy(given):
        from plausibly.conformal.chunked import packed_chunks

        given = packed_chunks(given)
    checked = as_checked(given)
    return checked if isinstance(checked, xr.Dataset) else validate.mean_over_draws(checked)


def as_sets(sets: object, whose: str = SETS) -> xr.DataArray:
    """Return prediction sets as booleans (example, label[, alpha]) with names as text.

    Parameters
    ----------
    sets : DataArray of bool, (example, label[, alpha])
        Dims in any order.
    whose : str
        What the messages call them.

    Raises
    ------
    InputError
        ``sets-malformed``: other dims, no names, or entries that are neither true nor false;
        and where names repeat.
    """
    if not isinstance(sets, xr.DataArray):
        raise _malformed(whose, f"a {type(sets).__name__} without names")
    dims = set(map(str, sets.dims))
    wanted = {names.EXAMPLE, names.LABEL}
    if not wanted <= dims <= wanted | {names.ALPHA}:
        raise _malformed(whose, f"dims {listed(map(str, sets.dims)) or 'none'}")
    unnamed = [dim for dim in sorted(dims) if dim not in sets.coords]
    if unnamed:
        raise _malformed(whose, f"no names along {listed(unnamed)}")
    if sets.dtype != np.bool_:
        raise _malformed(whose, f"entries of type {sets.dtype}")
    order = [names.EXAMPLE, names.LABEL, *sorted(dims - wanted)]
    named: dict[str, NDArray[np.str_]] = {}
    for dim in (names.EXAMPLE, names.LABEL):
        found = names.name_texts(sets[dim].values)
        names.check_names(found, dim, whose=whose)
        named[dim] = names.text_array(found)
    return _in_calibration_order(sets.transpose(*order).assign_coords(named))


def _in_calibration_order(sets: xr.DataArray) -> xr.DataArray:
    """Return sets with labels as the predictor had them, so that ties break as they did there."""
    stated = sets.attrs.get(LABEL_ORDER)
    order = json.loads(stated) if isinstance(stated, str) else None
    if not isinstance(order, list) or sorted(order) != sorted(sets[names.LABEL].values):
        return sets
    return sets.sel({names.LABEL: order})


def _malformed(whose: str, got: str) -> InputError:
    return InputError(
        "sets-malformed",
        f"{whose}: no true or false for each example and label by name",
        expected="a boolean array over example and label, and alpha where there are several",
        got=got,
        do="pass what predict returned",
        whose=whose,
    )


def check_ties(ties: str) -> Ties:
    """Return the tie policy, or raise ``ties-unknown``."""
    for known in TIES:
        if ties == known:
            return known
    raise InputError(
        "ties-unknown",
        f'no tie policy "{ties}"',
        expected=f"one of {', '.join(TIES)}",
        do='ties="first", the first of the tied labels in label order',
    )


def example_values(
    coordinate: str, arrays: Sequence[xr.DataArray], *, what: str = "the examples"
) -> NDArray[np.generic]:
    """Return a coordinate of the examples, from the first array that has it.

    Parameters
    ----------
    coordinate : str
        Its name.
    arrays : sequence of DataArray
        Over the same examples in the same order.
    what : str
        Whom the message speaks of.

    Returns
    -------
    ndarray, (example,)
        Numbers and booleans as they are, everything else as text.

    Raises
    ------
    InputError
        ``coordinate-missing``, with the coordinates there are, or where values are given instead
        of a name; ``coordinate-empty``, with the examples that have no value.
    """
    given: object = coordinate
    if not isinstance(given, str):
        raise InputError(
            "coordinate-missing",
            "a coordinate of the examples is asked for by its name",
            expected="text",
            got=type(given).__name__,
            do='sets.assign_coords({"site": ("example", values)}), and then "site"',
        )
    for array in arrays:
        if coordinate in array.coords and array[coordinate].dims == (names.EXAMPLE,):
            return _filled(coordinate, array[coordinate])
    there = sorted({name for array in arrays for name in _coordinates(array)})
    close = difflib.get_close_matches(coordinate, there, n=1)
    raise InputError(
        "coordinate-missing",
        f'{what} have no coordinate "{coordinate}"',
        expected="a coordinate over example",
        got=listed(there) or "none",
        do=f'did you mean "{close[0]}"?' if close else "assign_coords, or an example table (-e)",
        details={"coordinates": there},
    )


def _coordinates(array: xr.DataArray) -> list[str]:
    """Return the names of the coordinates that the examples have, but for their own names."""
    known = {names.EXAMPLE, names.DENOMINATOR}
    found = (str(name) for name, values in array.coords.items() if values.dims == (names.EXAMPLE,))
    return [name for name in found if name not in known]


def _filled(coordinate: str, values: xr.DataArray) -> NDArray[np.generic]:
    """Return the values of a coordinate, each of which must be there."""
    found: NDArray[np.generic] = values.values
    complete = as_values(found)
    if complete is None:
        missing = emptiness(found)
        without = values[names.EXAMPLE].values[missing]
        raise InputError(
            "coordinate-empty",
            f'{counted(len(without))} of {counted(len(missing))} examples have no "{coordinate}"',
            expected="a value for each example",
            got=f"none for {listed(without)}",
            do=f'fill "{coordinate}" in, or leave these examples out with sel(example=...)',
            details={"examples": [str(name) for name in without]},
        )
    return complete


def known_values(name: str, arrays: Sequence[xr.DataArray]) -> NDArray[np.generic] | None:
    """Return a coordinate that every example has, (example,), or None."""
    try:
        return example_values(name, arrays)
    except InputError:
        return None


def codes_of(values: NDArray[np.generic]) -> tuple[NDArray[np.generic], Ints]:
    """Return the distinct values in order, and the code of each value."""
    if values.dtype.kind == "U":
        values = group_names(values)
    distinct, codes = np.unique(values, return_inverse=True)
    return distinct, codes


def true_codes(
    true: str | xr.DataArray, arrays: Sequence[xr.DataArray], labels: Sequence[str]
) -> Ints:
    """Return the code of the true label of each example.

    Parameters
    ----------
    true : str or DataArray, (example,)
        Name of a coordinate of `arrays`, or label names by example.
    arrays : sequence of DataArray
        Over the same examples in the same order.
    labels : sequence of str

    Raises
    ------
    InputError
        ``label-unknown`` for labels that the sets lack; ``true-missing`` for examples that `true`
        lacks, and the errors of `example_values`.
    """
    name = true if isinstance(true, str) else "true label"
    if isinstance(true, str):
        values = example_values(true, arrays)
    else:
        values = _filled(name, _looked_up(true, arrays[0][names.EXAMPLE].values))
    written = names.name_texts(values)
    # A column of numbers has lost whether it wrote 1 or 1.0; where both are labels, that matters.
    known = list(map(names.number_text, labels))
    if len(set(known)) == len(known):
        codes = names.positions(known, list(map(names.number_text, written)))
    else:
        codes = names.positions(labels, written)
    if (codes < 0).any():
        unknown = sorted({label for label, code in zip(written, codes, strict=True) if code < 0})
        close = difflib.get_close_matches(unknown[0], labels, n=1)
        hint = f'did you mean "{close[0]}"? ' if close else ""
        raise InputError(
            "label-unknown",
            f'{counted(int((codes < 0).sum()))} examples have a "{name}" that the sets do not know',
            expected=f"one of {len(labels)} labels: {listed(labels)}",
            got=listed(names.quoted(label) for label in unknown),
            do=f"{hint}mend it, or leave these examples out with sel(example=...)",
            details={"labels": unknown},
        )
    return codes


def _looked_up(true: xr.DataArray, examples: NDArray[np.str_]) -> xr.DataArray:
    """Return the true labels of these examples, by name."""
    if true.dims != (names.EXAMPLE,) or names.EXAMPLE not in true.coords:
        raise InputError(
            "true-malformed",
            "the true labels are not named by example",
            expected="a DataArray over example, with names, or the name of a coordinate",
            got=f"dims {listed(map(str, true.dims)) or 'none'}",
            do='true="COLUMN" of an example table, or name the examples',
        )
    places = names.positions(names.name_texts(true[names.EXAMPLE].values), list(map(str, examples)))
    if (places < 0).any():
        lacking = [str(name) for name in examples[places < 0]]
        raise InputError(
            "true-missing",
            f"{counted(len(lacking))} of {counted(len(examples))} examples have no true label",
            expected="one for each example of the sets",
            got=f"none for {listed(lacking)}",
            do="add them, or leave these examples out with sel(example=...)",
            details={"examples": lacking},
        )
    return true.isel({names.EXAMPLE: places}).assign_coords({names.EXAMPLE: examples})
