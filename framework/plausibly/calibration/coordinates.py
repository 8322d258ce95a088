"""Coordinates of examples and labels: groups, weights, risks and the order of labels."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.errors import InputError, counted, listed
from plausibly.kernels.types import unwritable


def lacking(name: str, there: Sequence[str], of: str, *, source: str) -> InputError:
    """Return the error that examples, or labels, have no such coordinate."""
    close = difflib.get_close_matches(name, there, n=1)
    dim = of.removesuffix("s")
    more = f'{of}="{of}.csv" with such a column'
    return InputError(
        "coordinate-missing",
        f'{source} needs "{name}" of the {of}, and the predictions have none',
        expected=f"a coordinate over {dim}",
        found=listed(there) or "none",
        hint=f'did you mean "{close[0]}"?'
        if close
        else f"predictions.assign_coords(...), or {more}",
        source=source,
        details={"coordinates": list(there)},
    )


def coordinates_over(
    dim: str, arrays: Sequence[xr.DataArray | xr.Dataset]
) -> dict[str, NDArray[np.generic]]:
    """Return the coordinates over one dim, by name; the first array that has one decides."""
    coordinates: dict[str, NDArray[np.generic]] = {}
    for array in arrays:
        for name, values in array.coords.items():
            known = str(name)
            if values.dims == (dim,) and known not in (dim, names.DENOMINATOR, *coordinates):
                plain = as_values(values.values)
                coordinates[known] = unwritable(values.values if plain is None else plain)
    return coordinates


def emptiness(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Return which values are missing, or empty text."""
    return np.array([names.is_missing(value) or value == "" for value in values], dtype=np.bool_)


def complete(
    values: NDArray[np.generic],
    name: str,
    *,
    source: str,
    examples: Sequence[str] | NDArray[np.str_] = (),
    of: str = "examples",
) -> NDArray[np.generic]:
    """Return the values of a coordinate, as `as_values` does; raise where one is missing."""
    plain = as_values(values)
    if plain is not None:
        return plain
    empty = emptiness(values)
    without = [str(example) for example, gone in zip(examples, empty, strict=False) if gone]
    raise InputError(
        "coordinate-empty",
        f'{counted(int(empty.sum()))} of {counted(len(values))} {of} have no "{name}"',
        expected=f"a value for each: {source} reads it",
        found=f"none for {listed(without)}" if without else "",
        hint=f'fill "{name}" in'
        + (", or leave these examples out with sel(example=...)" if of == "examples" else ""),
        source="predictions",
        details={"examples": without},
    )


def as_values(values: NDArray[np.generic]) -> NDArray[np.generic] | None:
    """Return numbers and booleans as they are, all else as text; None where one is missing."""
    if values.dtype.kind in "biu":
        return values
    if values.dtype.kind == "f":
        return None if np.isnan(values).any() else values
    if values.dtype.kind in "mM":
        return None if np.isnat(values).any() else names.text_array(names.name_texts(values))
    entries = values.tolist()
    if any(names.is_missing(entry) or entry == "" for entry in entries):
        return None
    return names.text_array(names.name_texts(entries))


def new_values(predictions: xr.DataArray, name: str, *, source: str) -> NDArray[np.generic]:
    """Return a coordinate of new examples, (example,), which each of them must have."""
    coordinate = predictions.coords.get(name)
    if coordinate is None or coordinate.dims != (names.EXAMPLE,):
        there = sorted(coordinates_over(names.EXAMPLE, [predictions]))
        raise lacking(name, there, "examples", source=source)
    examples = predictions[names.EXAMPLE].values
    return complete(coordinate.values, name, source=source, examples=examples)


def group_names(values: NDArray[np.generic]) -> NDArray[np.str_]:
    """Return values as the names of groups, text by which new examples are matched.

    A number has one name, whether it came as an integer, as a float, or as text: whether a column
    of a file is read as numbers depends on all of its cells.
    """
    if values.dtype.kind not in "biufU":
        values = names.text_array(names.name_texts(values))
    distinct, place = np.unique(values, return_inverse=True)
    return names.text_array(list(map(names.number_text, names.name_texts(distinct))))[place]
