"""Scores against their equations, what holds for every score, and what is refused by name."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import plausibly
from call_files import each_call
from plausibly import registry
from plausibly.errors import IncompatibleComponents
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Floats
from plausibly.plugin import SCORE
from refusals import refused
from scores_oracles import TABLES, made, oracle, rows_of_sixteenths, uneven_rows
from tables import world

CASES = list(TABLES)
RANDOMISED = [case for case in CASES if TABLES[case].get("randomised")]
SUMMING = ["aps", "raps", "saps"]
DRAWN = {"randomised": True}
Width = type[np.float32] | type[np.float64]


def score(case: str, rows: Floats, uniform: Floats | None = None) -> Floats:
    return made(case).score(rows, uniform)


def exactly(case: str, rows: Floats, uniform: Floats) -> list[list[Fraction]]:
    return [
        oracle(case, [Fraction(value) for value in row], Fraction(u))
        for row, (u,) in zip(rows.tolist(), uniform.tolist(), strict=True)
    ]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"name": "margin"}, [0.2, -0.2, -0.3]),
        ({"name": "rank"}, [-1.0, -2.0, -3.0]),
        ({"name": "aps"}, [0.5, 0.2, 0.0]),
        ({"name": "raps", "penalty": 0.1, "free_rank": 1}, [0.5, 0.1, -0.2]),
        ({"name": "raps", "penalty": 0.1, "free_rank": 0}, [0.4, 0.0, -0.3]),
        ({"name": "raps", "penalty": 0.1, "free_rank": 3}, [0.5, 0.2, 0.0]),
        ({"name": "saps", "weight": 0.3}, [-0.5, -0.8, -1.1]),
        ({"name": "aps", **DRAWN}, [0.875, 0.425, 0.15]),
        ({"name": "raps", "penalty": 0.1, **DRAWN}, [0.875, 0.325, -0.05]),
        # Its paper: U times the largest, then the largest and (rank - 2 + U) weights.
        ({"name": "saps", "weight": 0.4, **DRAWN}, [-0.125, -0.6, -1.0]),
    ],
)
def test_by_hand(table: dict[str, object], expected: list[float]) -> None:
    component = registry.resolve(SCORE, table)
    uniform = np.array([0.25]) if component.randomised else None
    scores = component.score(np.array([0.5, 0.3, 0.2]), uniform)
    np.testing.assert_allclose(scores, expected, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES)
@given(data=rows_of_sixteenths(), seed=st.integers(0, 1000))
def test_ties_zeros_order_and_likelier_labels(
    case: str, dtype: Width, data: tuple[Floats, Floats], seed: int
) -> None:
    rows: Floats = data[0].astype(dtype)
    uniform = data[1]
    scores = score(case, rows, uniform)
    assert scores.dtype == dtype
    exact = exactly(case, rows, uniform)
    assert [[Fraction(value) for value in row] for row in scores.tolist()] == exact
    rows = rows / 3  # thirds are rounded, so an order of summing would show
    scores = score(case, rows, uniform)
    order = np.random.default_rng(seed).permutation(rows.shape[1])
    moved = score(case, np.ascontiguousarray(rows[:, order]), uniform)
    np.testing.assert_array_equal(moved, scores[:, order])
    for row, result in zip(rows, scores, strict=True):
        order = np.argsort(row, kind="stable")
        step = np.diff(result[order])
        assert (step >= 0).all()
        assert (step[np.diff(row[order]) == 0] == 0).all()


@pytest.mark.parametrize(
    ("dtype", "within"), [(np.float32, 2e-7), (np.float64, 1e-15)], ids=["float32", "float64"]
)
@pytest.mark.parametrize("case", CASES)
def test_rounded_once(case: str, dtype: Width, within: float) -> None:
    """float32 comes out rounded once: sums of a hundred probabilities lose nothing on the way."""
    rows, uniform = uneven_rows(5, 100, 3, dtype)
    expected = np.array(exactly(case, rows, uniform), dtype=np.float64)
    scores = score(case, rows, uniform)
    np.testing.assert_allclose(scores, expected, rtol=within, atol=within / 10)


ORDINAL: list[dict[str, object]] = [
    {},
    {"inner": {"name": "aps", **DRAWN}},
    {"inner": "margin"},
    {"greedy": True},
    {"greedy": True, **DRAWN},
]


@pytest.mark.parametrize("labels", [1, 2, 7])
@pytest.mark.parametrize(
    "table", [*TABLES.values(), *({"name": "ordinal", **more} for more in ORDINAL)], ids=str
)
def test_a_batch_is_its_rows_bit_for_bit(table: dict[str, object], labels: int) -> None:
    component = registry.resolve(SCORE, table)
    rows, uniform = uneven_rows(40, labels, 5)
    drawn = uniform if component.randomised else [None] * 40

    def scores(rows: Floats, uniform: Floats) -> Floats:
        return component.score(rows, uniform if component.randomised else None)

    whole = scores(rows, uniform)
    for place in range(len(rows)):
        alone = component.score(rows[place], drawn[place])
        np.testing.assert_array_equal(alone, whole[place])
    stack = scores(rows.reshape(4, 10, labels), uniform.reshape(4, 10, 1))
    np.testing.assert_array_equal(stack.reshape(whole.shape), whole)
    turned = scores(np.asfortranarray(rows)[::-1], uniform[::-1])
    np.testing.assert_array_equal(turned[::-1], whole)


@pytest.mark.parametrize("case", CASES)
def test_rows_of_any_sum_and_rows_without_a_number(case: str) -> None:
    """Each label may have a probability of its own; a NaN spoils its own row only."""
    rows: Floats = np.array(
        [[0.875, 0.75, 0.25], [0.125, 0.0, 0.0], [0.0, 0.0, 0.0], [0.5, np.nan, 0.2]]
    )
    uniform = np.array([[0.5], [0.25], [0.75], [0.5]])
    scores = score(case, rows, uniform)
    assert np.isnan(scores[3]).all()
    expected = np.array(exactly(case, rows[:3], uniform[:3]), dtype=np.float64)
    np.testing.assert_array_equal(scores[:3], expected)


@pytest.mark.parametrize("u", [0.0, 0.25, 1 - 2**-53])
def test_certain_models_and_impossible_labels(u: float) -> None:
    """One minus a sum would round tails away, or below zero."""
    rows = np.array([[1.0, 0.0, 0.0, 0.0], [0.7, 0.3, 0.0, 0.0], [1.0, 1e-300, 0.0, 0.0]])
    scores = score("aps, randomised", rows, np.full((3, 1), u))
    assert scores[0].tolist() == [1 - u, 0, 0, 0]
    assert (scores[1:, 2:] == 0).all()
    assert (scores[1:, :2] > 0).all()
    tails: Floats = np.array([[1.0, 1e-9, 1e-12, 1e-20]], dtype=np.float32)
    first, second, third, last = score("aps", tails)[0].tolist()
    assert first > second > third > last == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("randomised", [False, True])
@pytest.mark.parametrize(
    "table", [{"name": "raps", "penalty": 1e308}, {"name": "saps", "weight": 1e308}]
)
def test_huge_parameters_can_be_compared(
    table: dict[str, object], randomised: bool, dtype: Width
) -> None:
    rows: Floats = np.array([[0.5, 0.3, 0.2, 0.0]], dtype=dtype)
    component = registry.resolve(SCORE, {**table, "randomised": randomised})
    scores = component.score(rows, np.array([[0.0]]))
    assert not np.isnan(scores).any()
    assert (scores[0, :-1] >= scores[0, 1:]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ranks_of_numbers_below_zero(dtype: Width) -> None:
    """Numbers on any scale, with ties, both zeros and infinities among them."""
    values = [-np.inf, -3.5, -3.5, -1e-40, -0.0, 0.0, 2.0, np.inf, 7.25, -100.0]
    generator = np.random.default_rng(4)
    rows: Floats = np.array([generator.permutation(values) for _ in range(30)]).astype(dtype)
    as_large = (rows[:, None, :] >= rows[:, :, None]).sum(axis=2)
    scores = score("rank", rows)
    assert scores.dtype == dtype
    assert np.array_equal(scores, -as_large)


@pytest.mark.parametrize("case", RANDOMISED)
def test_uniforms_belong_to_the_examples(case: str) -> None:
    """The same row has another set under another name, and the array path takes the uniforms."""
    predictions, answers = world(60)
    p, another = (
        plausibly.calibrate(predictions, answers, score=made(case), seed=seed) for seed in (5, 6)
    )
    copies = predictions.isel(example=[0] * 50)
    copies = copies.assign_coords(example=[f"copy {i}" for i in range(50)])
    sets = p.predict(copies, "0.3").values
    assert len({tuple(row) for row in sets}) > 1
    assert (another.predict(copies, "0.3").values != sets).any()
    uniform = Keys(5).child("score").uniform(hash_names(copies.example.values))
    np.testing.assert_array_equal(p.predict_array(copies.values, "0.3", uniform=uniform), sets)
    first = p.predict_array(copies.values[0], "0.3", uniform=uniform[:1])
    np.testing.assert_array_equal(first, sets[0])
    with refused("uniform-missing"):
        p.predict_array(copies.values, "0.3")


# ---- refusals


@pytest.mark.parametrize("name", SUMMING)
def test_sums_take_numbers_of_any_scale_from_zero_on(name: str) -> None:
    predictions, answers = world(20, dtype="float64")
    for scale in ("any", "independent"):
        scores = (predictions * 0.9).assign_attrs(scale=scale)
        sets = plausibly.calibrate(scores, answers, score=name).predict(scores, 0.2)
        assert sets.any("label").all()
    scores = (predictions - 0.5).assign_attrs(scale="any")
    scores[3, 1] = -1.25
    pieces = (f"score {name} adds", "expected scale probability", "found -1.25", "scale='logit'")
    with refused("scale-unsuitable", *pieces, kind=IncompatibleComponents):
        plausibly.calibrate(scores, answers, score=name)


@pytest.mark.parametrize(
    "uniform",
    [
        np.array([0.5, 0.5]),
        np.full((2, 3), 0.5),
        np.full((1, 1), 0.5),
        np.array([[0.5], [1.5]]),
        np.array([[-0.25], [0.5]]),
        np.array([[np.nan], [0.5]]),
        None,
    ],
    ids=str,
)
@pytest.mark.parametrize("name", SUMMING)
def test_uniforms_that_cannot_be_used(name: str, uniform: Floats | None) -> None:
    component = registry.resolve(SCORE, {"name": name, "randomised": True})
    with refused("uniform-malformed", f"score {name}", "shape (2, 1)"):
        component.score(np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]), uniform)


test_each_call_gives_its_text = each_call(__file__, globals())
