"""Copies and shifts: what is found, what is left alone, and what is said."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.stats import ks_2samp

from eval_said import check, said
from plausibly.evaluation import find_duplicates, shift_test
from plausibly.evaluation.shift import warn_of_copies, warn_of_shift


def predictions(
    n: int, *, letter: str = "e", seed: int = 0, decimals: int | None = None, labels: int = 4
) -> xr.DataArray:
    rng = np.random.default_rng(seed)
    values = rng.dirichlet(np.full(labels, 0.7), size=n)
    if decimals is not None:
        values = values.round(decimals)
    coords = {
        "example": [f"{letter}{i}" for i in range(n)],
        "label": [f"l{k}" for k in range(labels)],
    }
    return xr.DataArray(
        values, dims=("example", "label"), coords=coords, attrs={"scale": "independent"}
    )


def copied(old: xr.DataArray, new: xr.DataArray, rows: list[int]) -> xr.DataArray:
    """New predictions, of which the first few are those of some old examples."""
    values = new.values.copy()
    values[: len(rows)] = old.values[rows]
    return new.copy(data=values)


OLD, NEW = predictions(100, letter="c"), predictions(80, letter="n", seed=1)
SAME = copied(OLD, NEW, [7, 0, 50])


BOTH = xr.concat([OLD, SAME], "example")
PATIENTS = np.array([f"p{i}" for i in range(180)])
PATIENTS[[7, 100]] = "same"
APART = PATIENTS.copy()
APART[[0, 101]], APART[[50, 102]] = "a", "b"


def rounded(decimals: int) -> list[tuple[str, str]]:
    old = predictions(60, letter="c", decimals=decimals)
    new = predictions(60, letter="n", seed=1, decimals=decimals)
    return find_duplicates(old, copied(old, new, [1, 2]))


def test_a_model_of_few_answers_says_nothing() -> None:
    leaves = predictions(10).values
    rng = np.random.default_rng(0)
    tree = OLD.copy(data=leaves[rng.integers(0, 10, 100)])
    assert find_duplicates(tree, NEW.copy(data=leaves[rng.integers(0, 10, 80)])) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert warn_of_copies(tree) == 0
    one_hot = OLD.copy(data=np.eye(4)[rng.integers(0, 4, 100)]).drop_attrs()
    assert (
        find_duplicates(one_hot.assign_attrs(scale="any"), one_hot.assign_attrs(scale="any")) == []
    )


def test_shift_is_the_test_of_two_samples() -> None:
    rng = np.random.default_rng(0)
    old, new = rng.random(300), rng.random(200) ** 1.2
    books = ks_2samp(old, new, method="asymp")
    result = shift_test(old, new)
    assert result.distance == pytest.approx(books.statistic)
    assert result.p_value == pytest.approx(books.pvalue, rel=0.3)
    assert (result.calibration, result.new, result.suspected) == (300, 200, False)
    tied = shift_test(np.repeat([0.1, 0.2], 50), np.repeat([0.1, 0.2], [30, 70]))
    assert tied.distance == pytest.approx(0.2)


def test_chance_is_hardly_ever_called_a_shift() -> None:
    rng = np.random.default_rng(1)
    called = sum(
        shift_test(
            rng.integers(0, 50, 150).astype(float), rng.integers(0, 50, 90).astype(float)
        ).suspected
        for _ in range(2000)
    )
    assert called <= 6


SCORES = np.linspace(0, 1, 1000)


def test_no_shift_is_not_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not warn_of_shift(SCORES, np.linspace(0, 1, 500)).suspected


@pytest.mark.realdata
@pytest.mark.parametrize("data", ["chaosnli_snli", "cifar10h", "imagenet16h", "lidc_malignancy"])
def test_real_models_give_no_row_twice(shared: Path, data: str) -> None:
    values = np.load(shared / "data" / data / "data.npz", allow_pickle=False)["probs"]
    values = values.reshape(-1, *values.shape[-2:])[0]
    coords = {
        "example": [f"e{i}" for i in range(len(values))],
        "label": [f"l{k}" for k in range(values.shape[1])],
    }
    array = xr.DataArray(
        values, dims=("example", "label"), coords=coords, attrs={"scale": "independent"}
    )
    assert warn_of_copies(array) == 0


@said(__file__)
def test_each_call_gives_its_text(call: str, text: str) -> None:
    check(call, text, globals())
