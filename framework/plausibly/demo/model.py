"""A model that says something of every example without having seen it, or another of its group."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.extras import require
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Ints

FOLDS = 10
_TOLERANCE = 1e-6
"""Of the fit: so close to the optimum that every platform prints the same figures."""


def fitting() -> ModuleType:
    """Return scikit-learn's linear models.

    Raises
    ------
    MissingExtra
        ``extra-missing``.
    """
    return require("sklearn.linear_model", extra="demo", whose="plausibly demo")


def out_of_fold(
    features: xr.DataArray,
    plausibilities: xr.DataArray,
    *,
    group: str,
    folds: int = FOLDS,
    keys: Keys,
) -> xr.DataArray:
    """Return predictions of a multinomial logistic regression that did not see what it predicts.

    Every label that somebody gave is a training example of its own, weighted by its plausibility,
    so the model learns from all answers and not from a vote.

    Parameters
    ----------
    features : DataArray, (example, feature)
        Standardised within each fold.
    plausibilities : DataArray, (example, label)
        Of the same examples, in the same order.
    group : str
        Coordinate of the features: groups stay in one fold.
    folds : int
        How many, of as many examples as whole groups allow.
    keys : Keys
        Stream of the folds.

    Returns
    -------
    DataArray, (example, label)
        Probabilities, with the coordinate `group`.

    Raises
    ------
    MissingExtra
        ``extra-missing`` without scikit-learn.
    """
    linear = fitting()
    fold = group_folds(features[group].values.astype(np.str_), folds, keys)
    lam: NDArray[np.float64] = plausibilities.values
    x: NDArray[np.float64] = features.values
    found = np.zeros(lam.shape)
    for number in range(folds):
        seen, unseen = np.flatnonzero(fold != number), fold == number
        centre, spread = x[seen].mean(axis=0), x[seen].std(axis=0)
        spread[spread == 0] = 1.0
        row, label = np.nonzero(lam[seen])
        model = linear.LogisticRegression(solver="newton-cg", tol=_TOLERANCE, max_iter=1000)
        model.fit(((x[seen] - centre) / spread)[row], label, sample_weight=lam[seen][row, label])
        # Labels that no example of these folds has keep the probability 0.
        found[np.ix_(unseen, model.classes_)] = model.predict_proba((x[unseen] - centre) / spread)
    return xr.DataArray(
        found,
        dims=(names.EXAMPLE, names.LABEL),
        coords={
            names.EXAMPLE: features[names.EXAMPLE].values,
            names.LABEL: plausibilities[names.LABEL].values,
            group: (names.EXAMPLE, features[group].values),
        },
        name="predictions",
        attrs={names.SCALE: "probability"},
    )


def group_folds(groups: NDArray[np.str_], folds: int, keys: Keys) -> Ints:
    """Return the fold of each example: whole groups in the order of their keys, cut evenly.

    Parameters
    ----------
    groups : ndarray of str, (example,)
    folds : int
    keys : Keys

    Returns
    -------
    ndarray of int, (example,)
        A group belongs to the fold in which the first of its examples falls.
    """
    distinct, member, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.argsort(keys.uniform(hash_names(distinct))[:, 0], kind="stable")
    before = np.cumsum(sizes[order]) - sizes[order]
    fold = np.empty(len(distinct), dtype=np.int64)
    fold[order] = before * folds // len(groups)
    return fold[member]
