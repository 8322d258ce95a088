"""Arrays over examples and labels out of files, with the names that the files give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data.labels import Hierarchy, renamed_columns
from plausibly.data.names import (
    AUGMENTATION,
    EXAMPLE,
    LABEL,
    NUMBERED,
    check_names,
    name_texts,
    near,
    not_among,
    quoted,
    several,
    text_array,
)
from plausibly.errors import InputError, counted, listed
from plausibly.io import netcdf, numpy_files
from plausibly.io.tables import Names, names_of, table_from, with_coordinates

LABEL_ARRAYS = ("labels", "label_names", "class_names", "label")
EXAMPLE_ARRAYS = ("examples", "names", "example")
AUGMENTATION_ARRAYS = ("augmentations", "views", "augmentation", "view")


@attrs.frozen(kw_only=True, eq=False)
class NamedArray:
    """Numbers over examples and labels, with the names that their file gives.

    Attributes
    ----------
    values : ndarray, ([augmentation,] example, label)
        The numbers, of the file's type.
    examples, labels : list of str or None
        Names, where the file has them.
    augmentations : list of str or None
        Names of the augmentations; None where there is one row an example.
    whose : str
        Name of the file.
    coordinates : dict
        Further coordinates over ``example`` or ``label``.
    attributes : dict
        Attributes of the array, where the file has them.
    unread : dict of str to ndarray
        What else the file holds.
    """

    values: NDArray[Any]  # Any: the type is the file's
    examples: list[str] | None
    labels: list[str] | None
    whose: str
    augmentations: list[str] | None = None
    coordinates: Mapping[str, xr.DataArray] = attrs.field(factory=dict)
    attributes: Mapping[str, object] = attrs.field(factory=dict)
    unread: Mapping[str, NDArray[Any]] = attrs.field(factory=dict)  # Any: as the file says


def shaped(
    values: NDArray[Any],  # Any: the type is the file's
    whose: str,
    *,
    augmented: bool = False,
) -> NDArray[Any]:  # Any: as above
    """Return numbers over ([augmentation,] example, label), or raise ``array-shape``."""
    dims = 3 if augmented else 2
    if values.ndim != dims or values.dtype.kind not in "iufb" or 0 in values.shape:
        raise InputError(
            "array-shape",
            f"{whose} holds no table of numbers",
            expected="three dimensions, augmentation, example and label, all with entries"
            if augmented
            else "two dimensions, example and label, both with entries",
            got=f"shape {values.shape}, type {values.dtype}",
            do="save an array with one row an example and one column a label"
            + (", and such a plane for each augmentation" if augmented else ""),
            whose=whose,
        )
    return values


def from_npy(path: Path, role: str) -> NamedArray:
    """Read an ``.npy`` file: numbers without names."""
    values = shaped(numpy_files.read_npy(path, role), path.name)
    return NamedArray(values=values, examples=None, labels=None, whose=path.name)


def from_npz(
    path: Path, role: str, arrays: tuple[str, ...], *, augmented: bool = False
) -> NamedArray:
    """Read the one array of an ``.npz`` file that has one of the names `arrays`, and its names.

    Where `augmented` says that there may be augmentations, these have names in the file too.
    """
    whose = path.name
    stored = numpy_files.read_npz(path, role)
    values = numpy_files.one_of(stored, arrays, whose)
    several_views = augmented and values.ndim == 3
    values = shaped(values, whose, augmented=several_views)
    rest = {name: array for name, array in stored.items() if array is not values}
    named: list[list[str] | None] = []
    for names, size in zip(
        (LABEL_ARRAYS, EXAMPLE_ARRAYS, AUGMENTATION_ARRAYS), values.shape[::-1], strict=False
    ):
        # Of the words in the singular, one of another length is something else: one truth a row.
        there = [name for name in names if name in rest]
        fit = [name for name in there if rest[name].shape == (size,)]
        found = fit or [name for name in there if name.endswith("s")]
        if not found and names is not AUGMENTATION_ARRAYS:
            named.append(None)
            continue
        # The order of planes is never guessed either.
        array = numpy_files.one_of(stored, tuple(found) or names, whose)
        texts = numpy_files.texts(array, whose, names[0])
        _check_count(texts, size, whose, names[0])
        named.append(texts)
        rest.pop(found[0])
    if named[0] is None:
        _check_read(rest, LABEL, values.shape[-1], whose)
    return NamedArray(
        values=values,
        examples=named[1],
        labels=named[0],
        whose=whose,
        augmentations=named[2] if several_views else None,
        unread=rest,
    )


def _check_read(
    rest: Mapping[str, NDArray[Any]],  # Any: as the file says
    dim: str,
    size: int,
    whose: str,
) -> None:
    """Raise ``array-missing`` where an array of another name may hold the names of `dim`."""
    words = LABEL_ARRAYS if dim == LABEL else EXAMPLE_ARRAYS
    for name, array in rest.items():
        if array.shape != (size,) or array.dtype.kind not in "USOiu":
            continue
        texts = name_texts(array)
        if len({*texts}) < size or texts == _numbered(size):
            continue
        raise InputError(
            "array-missing",
            f"{whose} has no array {words[0]}, and may name the {dim}s in {name}",
            expected=f"names in one of {', '.join(words)}; what a file names is never taken by "
            "its position",
            got=f"{name}: {listed(map(quoted, texts))}",
            do=f'numpy.savez(..., {words[0]}=data["{name}"]), if these are the {dim}s; '
            f"else without {name}",
            whose=whose,
            details={"arrays": list(rest)},
        )


def from_netcdf(
    path: Path,
    role: str,
    variable: str | None,
    usual: tuple[str, ...],
    *,
    augmented: bool = False,
) -> NamedArray:
    """Read a variable over ``example`` and ``label`` of a netCDF file.

    Where `augmented` says that it may, it has ``augmentation`` besides.
    """
    dataset = netcdf.load(path, role)
    array = netcdf.variable_of(dataset, variable, usual, path.name, augmented=augmented)
    several_views = AUGMENTATION in array.dims
    values = shaped(array.values, path.name, augmented=several_views)
    coordinates = {str(name): values for name, values in array.coords.items()}
    named = {
        dim: numpy_files.texts(coordinates.pop(dim).values, path.name, f"{dim}s")
        if dim in coordinates
        else None
        for dim in (EXAMPLE, LABEL, AUGMENTATION)
    }
    check_variables(dataset, array, whose=path.name)
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    return NamedArray(
        values=native,
        examples=named[EXAMPLE],
        labels=named[LABEL],
        whose=path.name,
        augmentations=(named[AUGMENTATION] or _numbered(values.shape[0]))
        if several_views
        else None,
        coordinates=coordinates,
        attributes={str(name): value for name, value in array.attrs.items()},
    )


def check_variables(dataset: xr.Dataset, array: xr.DataArray, *, whose: str) -> None:
    """Raise ``array-missing`` where another variable may hold the labels that `array` lacks."""
    if LABEL not in array.coords:
        others = {str(n): v.values for n, v in dataset.variables.items() if len(v.dims) == 1}
        _check_read(others, LABEL, array.sizes[LABEL], whose)


def _numbered(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def _check_count(texts: Sequence[str], size: int, whose: str, what: str) -> None:
    if len(texts) != size:
        dim = "column" if what in LABEL_ARRAYS else "row"
        dim = "plane" if what in AUGMENTATION_ARRAYS else dim
        raise InputError(
            "names-count",
            f"{whose} has {several(size, dim)} and {counted(len(texts))} {what}",
            expected=f"one name a {dim}",
            got=listed(texts) or "none",
            do=f"name every {dim} once, in order",
            whose=whose,
        )


def labelled(
    found: NamedArray, *, labels: Names | None = None, examples: Names | None = None, name: str
) -> xr.DataArray:
    """Return the numbers under names: the file's own, else those that were given.

    Parameters
    ----------
    found : NamedArray
        What the file holds.
    labels : names, optional
        Of the labels, in column order where the file names none; else see `declared`.
    examples : names, optional
        Of the examples where the file names none; else they are ``"0"``, ``"1"``, …
    name : str
        Name of the array.

    Raises
    ------
    InputError
        ``labels-unnamed`` where nobody names the labels, ``names-count``, ``examples-named`` where
        both the file and the caller name the examples, or ``label-twice``.
    """
    whose, size = found.whose, found.values.shape[-2:]
    if found.labels is None and labels is None:
        raise InputError(
            "labels-unnamed",
            f"{whose} has {several(size[1], 'column')} and no label names",
            expected="names in column order; an order is never guessed",
            got=f"beside them {listed(f'{n} {a.shape}' for n, a in found.unread.items())}"
            if found.unread
            else "",
            do="--labels labels.txt (one name a line)",
            whose=whose,
        )
    if found.examples is not None and examples is not None:
        raise InputError(
            "examples-named",
            f"{whose} names its examples itself",
            expected="names for a file without them",
            got=f"{listed(found.examples)} in the file",
            do="leave examples out; plausibly.io.with_coordinates attaches their coordinates",
            whose=whose,
        )
    tables: list[xr.Dataset] = []
    columns = found.labels
    if columns is None and labels is not None:
        tables.append(table_from(labels, LABEL))
        columns = _in_columns(tables[-1], size[1])
        _check_count(columns, size[1], whose, "labels")
    rows = found.examples
    if examples is not None:
        _check_read(found.unread, EXAMPLE, size[0], whose)
        tables.append(table_from(examples, EXAMPLE))
        rows = names_of(tables[-1], EXAMPLE)
        _check_count(rows, size[0], whose, "examples")
    elif rows is None:
        rows = [str(row) for row in range(size[0])]
    check_names(columns or [], LABEL, whose=whose)
    views: dict[str, tuple[str, NDArray[np.str_]]] = {}
    if found.augmentations is not None:
        check_names(found.augmentations, AUGMENTATION, whose=whose)
        views[AUGMENTATION] = (AUGMENTATION, text_array(found.augmentations))
    array = xr.DataArray(
        found.values,
        dims=(*views, EXAMPLE, LABEL),
        coords={
            **views,
            EXAMPLE: (EXAMPLE, text_array(rows)),
            LABEL: (LABEL, text_array(columns or [])),
            **{key: (value.dims, value.values) for key, value in found.coordinates.items()},
        },
        name=name,
        attrs={NUMBERED: 1} if found.examples is None and examples is None else {},
    )
    for table in tables:
        array = with_coordinates(array, table)
    return array


def _in_columns(table: xr.Dataset, columns: int) -> list[str]:
    """Return the names of unnamed columns: all labels, or those that stand above no other."""
    labels = names_of(table, LABEL)
    leaves = Hierarchy.of_table(table).leaves
    return [labels[code] for code in leaves] if columns == len(leaves) else labels


def declared(array: xr.DataArray, labels: Names, whose: str) -> xr.DataArray:
    """Return the array with its labels in the declared order, and their coordinates.

    A column may go by an alias of its label. Labels that stand above others may be missing.

    Raises
    ------
    InputError
        ``labels-differ`` where the names are not the same, ``label-twice`` where two columns are
        of one label.
    """
    table = table_from(labels, LABEL)
    array = renamed_columns(array, table, whose=whose)
    here = name_texts(array[LABEL].values)
    tree = Hierarchy.of_table(table)
    above = {tree.labels[code] for code in tree.above} - set(here)
    wanted = [label for label in tree.labels if label not in above]
    missing = not_among(wanted, here)
    extra = not_among(here, wanted)
    if missing or extra:
        lacks = f"lacks {listed(map(quoted, missing))}" if missing else ""
        adds = f"has {listed(map(quoted, extra))} besides" if extra else ""
        guess = near(extra[0], missing) if extra and missing else None
        do = f'--rename "{extra[0]}={guess}"' if guess else "mend the names here or there"
        raise InputError(
            "labels-differ",
            f"{whose} does not have the declared labels",
            expected=f"the same {several(len(wanted), 'name')}",
            got=", and ".join(part for part in (f"{whose} {lacks}" if lacks else "", adds) if part),
            do=do,
            whose=whose,
            details={"missing": missing, "extra": extra},
        )
    return with_coordinates(array.sel({LABEL: wanted}), table)
