"""Predictions of several augmentations of each example."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from plausibly.data import borders, names, text
from plausibly.errors import InputError, listed
from plausibly.kernels.random import Keys, hash_names


def is_augmented(predictions: object) -> bool:
    """Return whether predictions have the dim ``augmentation``."""
    return isinstance(predictions, xr.DataArray) and names.AUGMENTATION in predictions.dims


def check_augmented(
    predictions: xr.DataArray, *, whose: str = "predictions", scale: str | None = None
) -> xr.DataArray:
    """Return predictions of augmentations as the framework reads them.

    Parameters
    ----------
    predictions : DataArray
        Dims ``augmentation``, ``example`` and ``label`` in any order; without names the
        augmentations are called ``"0"``, ``"1"`` and so on.
    whose, scale
        See `plausibly.data.borders.check_predictions`.

    Returns
    -------
    DataArray
        Dims (augmentation, example, label), each augmentation checked like predictions.

    Raises
    ------
    InputError
        ``augmentation-twice``, ``predictions-empty``, and those of `check_predictions`.
    """
    count = predictions.sizes[names.AUGMENTATION]
    if not count:
        raise InputError(
            "predictions-empty",
            f"{whose}: there is no augmentation",
            expected="one augmentation or more",
            got="0",
            do="look at what was selected or read",
            whose=whose,
        )
    named = names.AUGMENTATION in predictions.coords
    found = predictions[names.AUGMENTATION].values if named else np.arange(count)
    called = text.name_texts(found)
    text.check_names(called, names.AUGMENTATION, whose=whose)
    planes = [
        _checked(predictions.isel({names.AUGMENTATION: place}, drop=True), name, whose, scale)
        for place, name in enumerate(called)
    ]
    template = planes[0]
    coords = {str(name): values for name, values in template.coords.items()}
    return xr.DataArray(
        np.stack([plane.values for plane in planes]),
        dims=(names.AUGMENTATION, *template.dims),
        coords={names.AUGMENTATION: text.text_array(called), **coords},
        name=template.name,
        attrs=template.attrs,
    )


def _checked(plane: xr.DataArray, name: str, whose: str, scale: str | None) -> xr.DataArray:
    """Return one augmentation, checked; what is wrong with it is said to be of this one."""
    try:
        return borders.check_predictions(plane, whose=whose, scale=scale)
    except InputError as error:
        error.what = f"{error.what}, in augmentation {text.quoted(name)}"
        error.details["augmentation"] = name
        raise


def seen_in_one(predictions: xr.DataArray, keys: Keys) -> xr.DataArray:
    """Return each example in one of its augmentations, at random, keyed by its name.

    Parameters
    ----------
    predictions : DataArray, (augmentation, example, label)
    keys : Keys

    Returns
    -------
    DataArray, (example, label)
    """
    hashes = hash_names(predictions[names.EXAMPLE].values)
    uniform = keys.uniform(hashes)[:, 0]
    seen = np.floor(uniform * predictions.sizes[names.AUGMENTATION]).astype(np.intp)
    one = predictions.isel({names.AUGMENTATION: 0}, drop=True)
    return one.copy(data=predictions.values[seen, np.arange(len(seen))])


def match_augmentations(predictions: xr.DataArray, wanted: Sequence[str]) -> xr.DataArray:
    """Return predictions with their augmentations in the order of those that calibrated.

    Raises
    ------
    InputError
        ``augmentations-differ``.
    """
    here = [str(name) for name in predictions[names.AUGMENTATION].values]
    if sorted(here) != sorted(wanted):
        raise InputError(
            "augmentations-differ",
            "predictions have other augmentations than the predictor",
            expected=listed(wanted),
            got=listed(here),
            do="predict for the same augmentations, under the same names",
            whose="predictions",
        )
    order = [here.index(name) for name in wanted]
    return predictions.isel({names.AUGMENTATION: order})
