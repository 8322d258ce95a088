"""Out of fold means: nothing of an example's group reaches its predictions."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from plausibly.demo.subjects import group_folds, out_of_fold
from plausibly.kernels.random import Keys

KEYS = Keys(3, "folds")
GROUPS, EACH, FOLDS = 24, 3, 4


def world() -> tuple[xr.DataArray, xr.DataArray]:
    """Return features and plausibilities of 72 examples in 24 groups."""
    random = np.random.default_rng(5)
    n = GROUPS * EACH
    x = random.normal(size=(n, 2))
    names = [f"e{i}" for i in range(n)]
    features = xr.DataArray(
        np.column_stack([x, np.full(n, 2.0)]),
        dims=("example", "feature"),
        coords={
            "example": names,
            "feature": ["a", "b", "constant"],
            "patient": ("example", [f"p{i // EACH}" for i in range(n)]),
        },
    )
    weight = np.exp(2 * np.column_stack([x[:, 0], x[:, 1], -x[:, 0]]))
    weight[weight < weight.max(axis=1, keepdims=True) / 50] = 0
    lam = xr.DataArray(
        weight / weight.sum(axis=1, keepdims=True),
        dims=("example", "label"),
        coords={"example": names, "label": ["u", "v", "w"]},
    )
    return features, lam


predict = partial(out_of_fold, cluster="patient", folds=FOLDS, keys=KEYS)


def folds(features: xr.DataArray) -> NDArray[np.int64]:
    return group_folds(features.patient.values.astype(str), FOLDS, KEYS).astype(np.int64)


def test_predictions_follow_plausibilities() -> None:
    features, lam = world()
    found = predict(features, lam)
    assert found.dims == ("example", "label")
    assert found.attrs == {"scale": "probability"}
    assert found.patient.equals(features.patient)
    np.testing.assert_allclose(found.sum("label"), 1)
    assert float((found.argmax("label") == lam.argmax("label")).mean()) > 0.7


def test_what_a_fold_says_does_not_reach_its_own_predictions() -> None:
    features, lam = world()
    fold = folds(features)
    turned = lam.copy()
    turned[fold == 0] = lam[fold == 0].values[:, ::-1]
    before, after = predict(features, lam), predict(features, turned)
    assert (before[fold == 0] == after[fold == 0]).all()
    assert (before[fold != 0] != after[fold != 0]).any()


def test_features_of_a_fold_do_not_scale_the_others_of_its_model() -> None:
    features, lam = world()
    fold = folds(features)
    far = features.copy()
    row = int(np.flatnonzero(fold == 0)[0])
    far[row, 0] = 1e6
    same = (fold == 0) & (np.arange(len(fold)) != row)
    assert (predict(features, lam)[same] == predict(far, lam)[same]).all()


def test_a_label_that_no_fold_saw_has_probability_nought() -> None:
    features, lam = world()
    fold = folds(features)
    lam.values[fold != 1] = [0.5, 0.5, 0]
    found = predict(features, lam)
    assert (found.values[fold == 1, 2] == 0).all()
    assert (found.values[fold != 1, 2] > 0).all()


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=40),
    count=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_folds_are_even_and_whole(sizes: list[int], count: int, seed: int) -> None:
    groups = np.repeat([f"g{i}" for i in range(len(sizes))], sizes)
    found = group_folds(groups, count, Keys(seed))
    assert found.min() >= 0
    assert found.max() < count
    for group in set(groups.tolist()):
        assert len(set(found[groups == group].tolist())) == 1
    # A fold is off its even share by less than two groups.
    even = len(groups) / count
    assert (np.abs(np.bincount(found, minlength=count) - even) < 2 * max(sizes)).all()
    order = np.random.default_rng(seed).permutation(len(groups))
    assert (group_folds(groups[order], count, Keys(seed)) == found[order]).all()
