"""What crosses the border, in which form, and what each refusal says."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.typing import ArrayLike, DTypeLike

from plausibly.data.plausibilities import check_plausibilities
from plausibly.data.validate import check_predictions
from refusals import refused, warned

Check = Callable[..., xr.DataArray]
BOTH = pytest.mark.parametrize(
    ("check", "source"),
    [(check_predictions, "predictions"), (check_plausibilities, "plausibilities")],
)


def array(values: ArrayLike, **coords: object) -> xr.DataArray:
    values = np.asarray(values)
    names: dict[str, object] = {
        "example": [f"c{i}" for i in range(values.shape[0])],
        "label": [f"k{k}" for k in range(values.shape[1])],
        **coords,
    }
    return xr.DataArray(values, dims=("example", "label"), coords=names)


@BOTH
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.float16, np.float64),
        (np.longdouble, np.float64),
        (np.int8, np.float64),
        (np.uint32, np.float64),
        (bool, np.float64),
        (">f4", np.float32),
        (">f8", np.float64),
    ],
)
def test_types(check: Check, source: str, given: DTypeLike, kept: DTypeLike) -> None:
    found = check(array(np.eye(3).astype(given)))
    assert found.dtype == np.dtype(kept)
    assert found.dtype.isnative
    assert found.values.tolist() == np.eye(3).tolist()


@BOTH
def test_dims_in_any_order_give_the_same_contiguous_rows(check: Check, source: str) -> None:
    values = np.random.default_rng(0).dirichlet(np.ones(7), size=9)
    straight = array(values)
    for other in (straight.transpose(), straight.copy(data=np.asfortranarray(values))):
        found = check(other)
        assert found.dims == ("example", "label")
        assert found.values.flags["C_CONTIGUOUS"]
        xr.testing.assert_identical(found, check(straight))


@BOTH
def test_the_array_of_the_caller_stays_theirs(check: Check, source: str) -> None:
    given = array(np.full((3, 4), 0.25), example=[3, 1, 2])
    given.values.flags.writeable = False
    before = given.copy(deep=True)
    found = check(given)
    xr.testing.assert_identical(given, before)
    assert given["example"].dtype.kind == "i"
    assert found["example"].values.tolist() == ["3", "1", "2"]


@BOTH
@pytest.mark.parametrize(
    "labels", [[7, 8], ["7", "8"], np.array(["7", "8"], object), np.array([b"7", b"8"])]
)
def test_names_become_text(check: Check, source: str, labels: object) -> None:
    found = check(array([[0.5, 0.5]], label=labels))
    assert found["label"].values.tolist() == ["7", "8"]
    assert found["label"].dtype.kind == "U"


@BOTH
def test_other_coordinates_stay(check: Check, source: str) -> None:
    given = array([[0.5, 0.5]]).assign_coords(patient=("example", [4]), risk=("label", [0, 2]))
    found = check(given.assign_attrs(left_out='{"x": 1}'))
    assert found["patient"].values.tolist() == [4]
    assert found["risk"].values.tolist() == [0, 2]
    assert found.attrs["left_out"] == '{"x": 1}'
    column = pd.Series(["p1", "p2"], dtype="string")
    found = check(array([[0.3, 0.7], [1.0, 0.0]]).assign_coords(patient=("example", column)))
    assert found.isel(example=[1])["patient"].values.tolist() == ["p2"]


WRONG: list[tuple[Callable[[xr.DataArray], object], str, str]] = [
    (
        lambda a: a.values,
        "array-unlabelled",
        "found ndarray hint xarray.DataArray(values, "
        'dims=("example", "label"), coords={{"example": ids, "label": labels}}',
    ),
    (
        lambda a: a.rename(label="class"),
        "dims-differ",
        'found no label hint {source}.rename({{"class": "label"}})',
    ),
    (
        lambda a: a.expand_dims("augmentation"),
        "dims-differ",
        "take one entry of each other dim: {source}.isel(augmentation=0)",
    ),
    (
        lambda a: a.isel(example=0, drop=True),
        "dims-differ",
        "found no example hint {source}.expand_dims(example=[...])",
    ),
    (lambda a: a.drop_vars("example"), "examples-unnamed", "assign_coords(example=[...])"),
    (lambda a: a.drop_vars("label"), "labels-unnamed", "hint {source}.assign_coords(label=[...])"),
    (lambda a: a.assign_coords(example=["a", "a"]), "example-twice", "found 1 row too many"),
    (
        lambda a: a.assign_coords(label=np.array([1, "1"], object)),
        "label-twice",
        '{source} name "1" in columns 1 and 2',
    ),
    (lambda a: a.astype(str), "numbers-expected", "hint {source}.astype(float)"),
    (lambda a: a * 1j, "numbers-expected", "found dtype complex128"),
    (lambda a: a.isel(example=[]), "array-empty", "found 0 examples, 2 labels"),
]


@BOTH
@pytest.mark.parametrize(("change", "name", "piece"), WRONG)
def test_an_array_of_another_form_is_refused(
    check: Check,
    source: str,
    change: Callable[[xr.DataArray], xr.DataArray],
    name: str,
    piece: str,
) -> None:
    with refused(name.format(source=source), piece.format(source=source)):
        check(change(array(np.eye(2))))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_predictions_that_are_not_finite(bad: float) -> None:
    values = np.full((9, 4), 0.25)
    values[2:6, 1] = bad
    values[2, 3] = np.nan
    word = "NaN" if np.isnan(bad) else "NaN or infinite numbers"
    where = f"cnn.parquet, {word} in 4 rows (c2, c3, c4, … (4 in all))"
    got = f'found 5 {word} in "k1", "k3"'
    with refused("numbers-not-finite", where, got, 'or bad_rows="drop"') as caught:
        check_predictions(array(values), source="cnn.parquet")
    assert caught.value.details == {"examples": ["c2", "c3", "c4", "c5"], "labels": ["k1", "k3"]}
    with refused("numbers-not-finite"):
        check_predictions(array(values), scale="any")


@pytest.mark.parametrize(
    ("first", "name", "piece"),
    [
        ([-11.2, 9.7], "probabilities-negative", "found -11.2 to 9.7, which look like logits"),
        ([-0.001, 1.001], "probabilities-negative", "which look like logits"),
        ([-0.001, 0.999], "probabilities-negative", "found -0.001 to 0.999 hint"),
        ([0.23, 0.5], "rows-do-not-sum", 'add its column, normalise=True, or scale="independent"'),
        ([50.0, 50.0], "rows-do-not-sum", "hint normalise=True"),
    ],
)
def test_rows_that_are_no_probabilities(first: list[float], name: str, piece: str) -> None:
    with refused(name, piece):
        check_predictions(array([first, first, [0.5, 0.5]]), source="cnn.parquet")
    check_predictions(array([[0.491, 0.5], [0.509, 0.5], [0.5, 0.5]]))


def test_scales() -> None:
    logits = array([[-3.0, 8.0], [1.0, 1.0]])
    assert check_predictions(logits, scale="logit").attrs["scale"] == "logit"
    assert check_predictions(logits.assign_attrs(scale="any")).attrs["scale"] == "any"
    each = array([[0.9, 0.8], [0.0, 0.1]])
    assert check_predictions(each, scale="independent").attrs["scale"] == "independent"
    assert check_predictions(array(np.eye(2))).attrs["scale"] == "probability"
    with refused("probabilities-above-one", "found 0.2 to 1.1"):
        check_predictions(each + 0.2, scale="independent")
    with refused("probabilities-negative"):
        check_predictions(logits, scale="independent")
    with refused("scale-unknown", 'hint scale="logit"'):
        check_predictions(logits, scale="logits")


def test_predictions_that_are_only_zero_and_one() -> None:
    values = np.eye(3)[np.arange(1000) % 3]
    values[:4] = 1 / 3
    with warned(
        "probabilities-hard", "99.6% of rows", "hint save the softmax, not its argmax"
    ) as caught:
        check_predictions(array(values), source="cnn.parquet")
    assert caught[0].filename == __file__
    with warned("probabilities-hard", "all of rows"):
        check_predictions(array(values[4:]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_predictions(array(values[4:10]))  # too few to say
        check_predictions(array(values[4:]), scale="any")
        check_predictions(array(np.ones((100, 1))))  # one label is always 1


def test_plausibilities_name_the_rows() -> None:
    values = np.full((5, 2), 0.5)
    values[1, 0] = 0.5 + 2e-6
    values[3] = [0.2, 0.2]
    with refused(
        "rows-do-not-sum",
        'hint fix these rows, or lam / lam.sum("label"), if they are weights',
    ):
        check_plausibilities(array(values))
    values[3] = [-0.25, 1.25]
    with refused("plausibilities-negative", "found -0.25"):
        check_plausibilities(array(values), source="lam.csv")
    values[3, 0] = np.nan
    with refused("numbers-not-finite", 'found 1 NaN in "k0"'):
        check_plausibilities(array(values))
    within = np.full((1, 2), 0.5)
    within[0, 0] += 9e-7
    check_plausibilities(array(within))
    check_plausibilities(array(np.full((1, 3), 1 / 3, np.float32)))


def denominated(values: ArrayLike, total: object) -> xr.DataArray:
    return array(values).assign_coords(denominator=("example", np.asarray(total)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_exact_denominator_stays(dtype: DTypeLike) -> None:
    lam = np.array([[1 / 3, 2 / 3], [0.3, 0.7], [51 / 97, 46 / 97]]).astype(dtype)
    found = check_plausibilities(denominated(lam, np.array([3, 10, 97], np.int32)))
    assert found["denominator"].values.tolist() == [3, 10, 97]
    assert found["denominator"].dtype == np.int64


@pytest.mark.parametrize(
    "given",
    [
        denominated([[0.25, 0.75]], [2]),  # not whole
        denominated([[0.5, 0.5]], [0]),
        denominated([[0.5, 0.5]], [-2]),
        denominated([[0.5, 0.5]], [2.0]),  # not an integer
        array([[0.5, 0.5]]).assign_coords(denominator=2),
        (denominated([[1.0, 0.0]], [1]) + denominated([[0.0, 1.0]], [1]))
        / 2,  # arithmetic keeps it
    ],
)
def test_a_denominator_that_does_not_hold_goes(given: xr.DataArray) -> None:
    assert "denominator" in given.coords
    assert "denominator" not in check_plausibilities(given).coords
