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

import numpy as np
import xarray as xr

from plausibly.arrays import Floats, Ints
from plausibly.errors import InputError, listed
from plausibly.labelled import names
from plausibly.labelled.named import named_floats
from plausibly.labelled.text import check_names, name_texts, several


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
    count = filled.sum(axis=1)
    slot = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count)
    shape = (values.shape[0], max(int(count.max()), 1))
    weight = np.zeros(shape, values.dtype)
    label = np.full(shape, names.NO_LABEL, np.int32)
    weight[row, slot] = values[row, column]
    label[row, slot] = column
    renamed = array.coords.to_dataset().rename({names.LABEL: names.LABEL_NAME})
    return renamed.assign(
        {
            names.WEIGHT: ((names.EXAMPLE, names.SLOT), weight),
            names.LABEL: ((names.EXAMPLE, names.SLOT), label),
        }
    ).assign_attrs(array.attrs)


def unpack(packed: xr.Dataset) -> xr.DataArray:
    """Return the dense form (example, label) of packed plausibilities.

    Raises
    ------
    InputError
        What `check_packed` raises.
    """
    packed = check_packed(packed)
    weight: Floats = packed[names.WEIGHT].values
    label: Ints = packed[names.LABEL].values
    row, slot = np.nonzero(label >= 0)
    values = np.zeros((weight.shape[0], packed.sizes[names.LABEL_NAME]), weight.dtype)
    values[row, label[row, slot]] = weight[row, slot]
    bare = packed.drop_vars([names.WEIGHT, names.LABEL]).drop_dims(names.SLOT, errors="ignore")
    return xr.DataArray(
        values,
        dims=(names.EXAMPLE, names.LABEL),
        coords=bare.rename({names.LABEL_NAME: names.LABEL}).coords,
        name=names.PLAUSIBILITIES,
        attrs=packed.attrs,
    )


def check_packed(packed: xr.Dataset) -> xr.Dataset:
    """Return packed plausibilities with dims in order, if they are as the module describes.

    Raises
    ------
    InputError
        ``packed-invalid`` where a variable is missing or has other dims, a code is out of range,
        a label repeats in an example, padding does not come last, or a filled slot is not above
        0; ``example-twice``, ``label-twice`` or the like for names.
    """
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
            np.where(filled, ~(weight > 0), weight != 0),
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
        do="plausibly.labelled.pack(lam) makes them",
        whose="packed plausibilities",
    )
