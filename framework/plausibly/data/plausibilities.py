"""The packed form of plausibilities: only what is above zero, for thousands of labels.

A Dataset with the dims ``example``, ``slot`` and ``label_name``:

============ ================ ==================================================================
variable     dims             meaning
============ ================ ==================================================================
weight       example, slot    float32 or float64: the plausibility in this slot, 0 in padding
label        example, slot    int32: the code of its label, -1 in padding
label_name   label_name       coordinate: the names of all labels, in order; a code is a place here
example      example          coordinate: the names of the examples
denominator  example          optional coordinate, as in the dense form
============ ================ ==================================================================

The filled slots of an example come first, by rising code, each label at most once, each weight
above 0; there are as many slots as the widest example needs. So every array of plausibilities has
exactly one packed form, and `unpack` of it gives the same bits back. Names are not a coordinate
``label``, because a Dataset cannot hold both a variable and a dim coordinate of that name.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import overload

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.named import named_floats
from plausibly.data.names import check_names, name_texts, several
from plausibly.errors import InputError, listed
from plausibly.kernels.sparse import Slots, packed_pairs
from plausibly.kernels.types import Floats, Ints

FEW_LABELS = 32
"""Up to here the dense form is what is computed with."""


def is_packed(array: xr.DataArray | xr.Dataset) -> bool:
    """Return whether this is meant as packed plausibilities."""
    return isinstance(array, xr.Dataset) and {names.WEIGHT, names.LABEL} <= set(array.variables)


def pack(plausibilities: xr.DataArray) -> xr.Dataset:
    """Return the packed form.

    Parameters
    ----------
    plausibilities : DataArray, (example, label)
        None below 0.

    Returns
    -------
    Dataset
        As the module describes; coordinates of the examples and attributes are kept, coordinates
        of the labels move to ``label_name``.

    Raises
    ------
    InputError
        Where dims or names are not those of plausibilities, or an entry is negative or NaN.
    """
    array = named_floats(plausibilities, "plausibilities", "plausibilities")
    values: Floats = array.values
    filled = values > 0
    if not (filled | (values == 0)).all():
        raise InputError(
            "packed-invalid",
            "plausibilities: an entry is negative or not a number, and cannot be packed",
            expected="0 or more",
            do="plausibly.calibrate and evaluate name the rows",
            whose="plausibilities",
        )
    row, column = np.nonzero(filled)
    slots = packed_pairs(row, column, values[row, column], (values.shape[0], values.shape[1]))
    return of_slots(slots, array.coords.to_dataset(), array.attrs)


def of_slots(slots: Slots, about: xr.Dataset, attributes: Mapping[Hashable, object]) -> xr.Dataset:
    """Return slots in the packed form."""
    dims = (names.EXAMPLE, names.SLOT)
    renamed = about.rename({names.LABEL: names.LABEL_NAME})
    variables = {names.WEIGHT: (dims, slots.weight), names.LABEL: (dims, slots.label)}
    return renamed.assign(variables).assign_attrs(attributes)


def slots_of(packed: xr.Dataset) -> Slots:
    """Return the arrays of packed plausibilities that are known to be intact."""
    weight: Floats = packed[names.WEIGHT].values
    label: Ints = packed[names.LABEL].values
    return Slots(weight, label, packed.sizes[names.LABEL_NAME])


def about_packed(packed: xr.Dataset) -> xr.Dataset:
    """Return the coordinates alone, over ``example`` and ``label`` as in the dense form."""
    bare = packed.drop_vars([names.WEIGHT, names.LABEL]).drop_dims(names.SLOT, errors="ignore")
    return bare.rename({names.LABEL_NAME: names.LABEL}).assign_attrs(packed.attrs)


def take_labels(packed: xr.Dataset, places: Ints) -> xr.Dataset:
    """Return packed plausibilities under some of the labels, in this order."""
    code = np.full(packed.sizes[names.LABEL_NAME], names.NO_LABEL, np.int64)
    code[places] = np.arange(len(places))
    about = about_packed(packed).isel({names.LABEL: places})
    return of_slots(slots_of(packed).recoded(code, len(places)), about, packed.attrs)


def unpack(packed: xr.Dataset) -> xr.DataArray:
    """Return the dense form (example, label) of packed plausibilities.

    Raises
    ------
    InputError
        What `check_packed` raises.
    """
    packed = check_packed(packed)
    return xr.DataArray(
        slots_of(packed).dense(),
        dims=(names.EXAMPLE, names.LABEL),
        coords=about_packed(packed).coords,
        name=names.PLAUSIBILITIES,
        attrs=packed.attrs,
    )


def label_dim(array: xr.DataArray | xr.Dataset) -> str:
    """Return the dim over which the labels have their names, in a packed Dataset or another."""
    return names.LABEL_NAME if names.LABEL_NAME in array.dims else names.LABEL


@overload
def taken(array: xr.DataArray, dim: str, places: Ints) -> xr.DataArray: ...
@overload
def taken(array: xr.Dataset, dim: str, places: Ints) -> xr.Dataset: ...
def taken(array: xr.DataArray | xr.Dataset, dim: str, places: Ints) -> xr.DataArray | xr.Dataset:
    """Return entries of a dense array or of packed plausibilities over ``example`` or ``label``."""
    if isinstance(array, xr.Dataset):
        return take_labels(array, places) if dim == names.LABEL else array.isel({dim: places})
    some = array.isel({dim: places})
    if some.chunks is not None:
        return some  # not read yet: each part is made contiguous when it is
    return some.copy(data=np.ascontiguousarray(some.values))


def check_packed(packed: xr.Dataset) -> xr.Dataset:
    """Return packed plausibilities with dims in order, if they are as the module describes."""
    shapes = {
        names.WEIGHT: (names.EXAMPLE, names.SLOT),
        names.LABEL: (names.EXAMPLE, names.SLOT),
        names.LABEL_NAME: (names.LABEL_NAME,),
        names.EXAMPLE: (names.EXAMPLE,),
    }
    for name, dims in shapes.items():
        if name not in packed.variables:
            raise _invalid(f"{name} is missing", f"a variable {name} over {listed(dims)}")
        if set(packed[name].dims) != set(dims):
            got = listed(packed[name].dims) or "none"
            raise _invalid(f"{name} has other dims", f"dims {listed(dims)}; got {got}")
    packed = packed.transpose(names.EXAMPLE, names.SLOT, ...)
    for dim, noun in ((names.EXAMPLE, names.EXAMPLE), (names.LABEL_NAME, names.LABEL)):
        check_names(name_texts(packed.indexes[dim]), noun, whose="packed plausibilities")
    weight: Floats = packed[names.WEIGHT].values
    label: Ints = packed[names.LABEL].values
    if weight.dtype.kind != "f" or label.dtype.kind not in "iu":
        raise _invalid("the types differ", "weight as floats and label as integers")
    labels = packed.sizes[names.LABEL_NAME]
    filled = label >= 0
    rising = filled[:, :-1] & (label[:, 1:] > label[:, :-1])
    for bad, fault, expected in (
        ((label < names.NO_LABEL) | (label >= labels), "codes out of range", f"-1 to {labels - 1}"),
        (
            np.where(filled, ~((weight > 0) & np.isfinite(weight)), weight != 0),
            "unfit weights",
            "above 0; 0 at -1",
        ),
        (~rising & filled[:, 1:], "codes out of order", "rising codes, each once, then padding"),
    ):
        rows = np.flatnonzero(bad.any(axis=1))
        if rows.size:
            examples = name_texts(packed.indexes[names.EXAMPLE][rows])
            raise _invalid(
                f"{fault} in {several(len(examples), 'example')} ({listed(examples)})", expected
            )
    return packed


def _invalid(what: str, expected: str) -> InputError:
    return InputError(
        "packed-invalid",
        f"packed plausibilities: {what}",
        expected=expected,
        do="plausibly.pack(lam) makes them",
        whose="packed plausibilities",
    )
