"""What a demo is about: data, what is compared on them, and the nouns of its story."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.conformal.aggregate import aggregate
from plausibly.data import names
from plausibly.demo import lidc, model, toy
from plausibly.errors import counted
from plausibly.kernels.random import Keys

Name: TypeAlias = Literal["nodules", "toy"]

_TIE = 1e-9
"""Plausibilities closer than this are one vote apart by rounding only."""


@attrs.frozen(kw_only=True)
class Nouns:
    """The words in which a demo's result is told.

    Attributes
    ----------
    example, examples : str
        One of them, and several.
    share : str
        What aggregated coverage is a share of.
    said : str
        What sets miss, in the sentence about votes.
    everything : str
        What all other methods are calibrated on.
    """

    example: str
    examples: str
    share: str
    said: str
    everything: str


@attrs.frozen(kw_only=True, eq=False)
class Subject:
    """The data of a demo.

    Attributes
    ----------
    predictions, plausibilities : DataArray, (example, label)
        Of the same examples, in the same order.
    group : str or None
        Coordinate of the predictions by which examples are split.
    true : DataArray, (example,), or None
        The label that is covered for certain, where it is known.
    about, fitted : str
        The data and the model, in words.
    nouns : Nouns
    """

    predictions: xr.DataArray
    plausibilities: xr.DataArray
    group: str | None = None
    true: xr.DataArray | None = None
    about: str
    fitted: str
    nouns: Nouns

    def __len__(self) -> int:
        return int(self.predictions.sizes[names.EXAMPLE])

    @property
    def groups(self) -> NDArray[np.str_] | None:
        """Group of each example, where they have one."""
        return None if self.group is None else self.predictions[self.group].values.astype(np.str_)


def load(name: Name, seed: int) -> Subject:
    """Return the data of a demo, with predictions.

    Parameters
    ----------
    name : {"nodules", "toy"}
    seed : int
        Of folds, or of the drawn toy.

    Raises
    ------
    MissingExtra
        ``extra-missing`` for the nodules without scikit-learn.
    """
    return _LOADERS[name](seed)


def _nodules(seed: int) -> Subject:
    found = lidc.load_nodules()
    lam = aggregate(found.annotations)
    patients = found.features[lidc.PATIENT].values
    ratings = lam[names.DENOMINATOR].values
    agreed, tied = _agreed_and_tied(lam)
    return Subject(
        predictions=model.out_of_fold(
            found.features, lam, group=lidc.PATIENT, keys=Keys(seed, "demo/folds")
        ),
        plausibilities=lam,
        group=lidc.PATIENT,
        about=f"{counted(len(patients))} lung nodules of {counted(len(set(patients)))} patients; "
        f"{counted(int(ratings.sum()))} malignancy ratings, {lidc.LABELS[0]} to "
        f"{lidc.LABELS[-1]}, by {ratings.min()} or {ratings.max()} radiologists each. "
        f"All agree on {agreed}; {tied} are tied votes.",
        fitted=f"logistic regression, out of fold by {lidc.PATIENT}",
        nouns=Nouns(
            example="nodule",
            examples="nodules",
            share="a nodule's ratings",
            said="what radiologists said",
            everything="all ratings",
        ),
    )


def _toy(seed: int) -> Subject:
    found = toy.make_toy(_POINTS, seed=seed)
    lam = found.plausibilities
    sure = float((lam.max(names.LABEL) >= _SURE).mean())
    return Subject(
        predictions=found.predictions,
        plausibilities=lam,
        true=found.true,
        about=f"{counted(lam.sizes[names.EXAMPLE])} points drawn from {lam.sizes[names.LABEL]} "
        "overlapping Gaussians (the paper's toy). Their true posterior is known: for "
        f"{percent(1 - sure)} of them no label has {_SURE:g} of it.",
        fitted=f"linear discriminant, fitted to {toy.TRAINING} other points",
        nouns=Nouns(
            example="point",
            examples="points",
            share="a point's posterior",
            said="the posterior",
            everything="all of it",
        ),
    )


_POINTS = 3000  # enough for every method that is compared to say something
_SURE = 0.8
_LOADERS: Mapping[Name, Callable[[int], Subject]] = {"nodules": _nodules, "toy": _toy}


def _agreed_and_tied(lam: xr.DataArray) -> tuple[str, str]:
    """Return the shares of examples with one answer, and with several most frequent ones."""
    values = lam.values
    most = values.max(axis=1, keepdims=True)
    return percent(float((most > 1 - _TIE).mean())), percent(
        float(((values > most - _TIE).sum(axis=1) > 1).mean())
    )


def percent(share: float) -> str:
    """Return a share as people read it."""
    return f"{100 * share:.0f} %"
