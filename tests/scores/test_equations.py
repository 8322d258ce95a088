"""Scores against their equations, and what holds for every score whatever the probabilities."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from plausibly import registry
from plausibly.kernels.types import Floats
from plausibly.plugin import SCORE
from scores_oracles import TABLES, made, oracle, rows_of_sixteenths, uneven_rows

CASES = list(TABLES)
RANDOMISED = [case for case in CASES if TABLES[case].get("randomised")]
SUMS = [case for case in CASES if TABLES[case]["name"] in ("aps", "raps", "saps")]


def score(case: str, rows: Floats, uniform: Floats | None = None) -> Floats:
    return made(case).score(rows, uniform)


def exactly(case: str, rows: Floats, uniform: Floats) -> list[list[Fraction]]:
    return [
        oracle(case, [Fraction(value) for value in row], Fraction(u))
        for row, (u,) in zip(rows.tolist(), uniform.tolist(), strict=True)
    ]


DRAWN = {"randomised": True}


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
    found = component.score(np.array([0.5, 0.3, 0.2]), uniform)
    np.testing.assert_allclose(found, expected, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES)
@given(data=rows_of_sixteenths())
def test_ties_and_zeros_exactly(case: str, dtype: type, data: tuple[Floats, Floats]) -> None:
    rows, uniform = data
    found = score(case, rows.astype(dtype), uniform)
    assert found.dtype == dtype
    assert [[Fraction(value) for value in row] for row in found.tolist()] == exactly(
        case, rows, uniform
    )


@pytest.mark.parametrize(
    ("dtype", "within"), [(np.float32, 2e-7), (np.float64, 1e-15)], ids=["float32", "float64"]
)
@pytest.mark.parametrize("case", CASES)
def test_rounded_once(case: str, dtype: type[np.float32] | type[np.float64], within: float) -> None:
    """float32 comes out rounded once: sums of a hundred probabilities lose nothing on the way."""
    rows, uniform = uneven_rows(5, 100, 3, dtype)
    found = score(case, rows, uniform)
    expected = np.array(exactly(case, rows, uniform), dtype=np.float64)
    np.testing.assert_allclose(found, expected, rtol=within, atol=within / 10)


@pytest.mark.parametrize("randomised", [False, True])
@pytest.mark.parametrize("free_rank", [0, 1, 7])
def test_without_a_penalty_raps_is_aps(free_rank: int, randomised: bool) -> None:
    rows, uniform = uneven_rows(50, 20, 4)
    table = {"penalty": 0.0, "free_rank": free_rank, "randomised": randomised}
    raps = registry.resolve(SCORE, {"name": "raps", **table})
    aps = registry.resolve(SCORE, {"name": "aps", "randomised": randomised})
    np.testing.assert_array_equal(raps.score(rows, uniform), aps.score(rows, uniform))


@pytest.mark.parametrize("case", CASES)
@given(data=rows_of_sixteenths(), seed=st.integers(0, 1000))
def test_scores_move_with_their_labels_bit_for_bit(
    case: str, data: tuple[Floats, Floats], seed: int
) -> None:
    rows, uniform = data[0] / 3, data[1]  # thirds are rounded, so an order of summing would show
    order = np.random.default_rng(seed).permutation(rows.shape[1])
    moved = score(case, np.ascontiguousarray(rows[:, order]), uniform)
    np.testing.assert_array_equal(moved, score(case, rows, uniform)[:, order])


@pytest.mark.parametrize("case", CASES)
@given(data=rows_of_sixteenths())
def test_likelier_labels_never_score_less_and_equal_ones_the_same(
    case: str, data: tuple[Floats, Floats]
) -> None:
    rows, uniform = data[0] / 3, data[1]
    for row, found in zip(rows, score(case, rows, uniform), strict=True):
        order = np.argsort(row, kind="stable")
        step = np.diff(found[order])
        assert (step >= 0).all()
        assert (step[np.diff(row[order]) == 0] == 0).all()


@pytest.mark.parametrize("labels", [1, 2, 7])
@pytest.mark.parametrize("case", CASES)
def test_a_batch_is_its_rows_bit_for_bit(case: str, labels: int) -> None:
    rows, uniform = uneven_rows(40, labels, 5)
    whole = score(case, rows, uniform)
    for place in range(len(rows)):
        np.testing.assert_array_equal(score(case, rows[place], uniform[place]), whole[place])
    stack = score(case, rows.reshape(4, 10, labels), uniform.reshape(4, 10, 1))
    np.testing.assert_array_equal(stack.reshape(whole.shape), whole)
    turned = score(case, np.asfortranarray(rows)[::-1], uniform[::-1])
    np.testing.assert_array_equal(turned[::-1], whole)


@pytest.mark.parametrize("case", CASES)
def test_a_number_that_is_none_spoils_its_own_row_only(case: str) -> None:
    rows = np.array([[0.5, 0.3, 0.2], [0.5, np.nan, 0.2]])
    found = score(case, rows, np.full((2, 1), 0.5))
    assert not np.isnan(found[0]).any()
    assert np.isnan(found[1]).all()


def test_a_certain_model() -> None:
    """Of probabilities 1, 0, 0 a set is the first label at most, unless its score is none."""
    certain = np.array([1.0, 0.0, 0.0])
    assert score("aps", certain).tolist() == [0.0, 0.0, 0.0]
    for u in (0.0, 0.5, 1 - 2**-53):
        first, *rest = score("aps, randomised", certain, np.array([u])).tolist()
        assert first == 1 - u > 0
        assert rest == [0.0, 0.0]
    for case in ("raps", "raps, from the first", "saps", "rank", "margin"):
        first, *rest = score(case, certain).tolist()
        assert first > max(rest)


@pytest.mark.parametrize("u", [0.0, 0.25, 1 - 2**-53])
def test_impossible_labels_score_less_than_possible_ones(u: float) -> None:
    rows = np.array([[0.7, 0.3, 0.0, 0.0], [1.0, 1e-300, 0.0, 0.0]])
    found = score("aps, randomised", rows, np.full((2, 1), u))
    assert (found[:, 2:] == 0).all()
    assert (found[:, :2] > 0).all()


def test_what_is_nearly_certain_is_told_apart() -> None:
    """One minus a sum would round these tails away, or below zero."""
    rows: Floats = np.array([[1.0, 1e-9, 1e-12, 1e-20]], dtype=np.float32)
    first, second, third, last = score("aps", rows)[0].tolist()
    assert first > second > third > last == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "table", [{"name": "raps", "penalty": 1e308}, {"name": "saps", "weight": 1e308}]
)
def test_huge_parameters_can_be_compared(table: dict[str, object], dtype: type) -> None:
    rows: Floats = np.array([[0.5, 0.3, 0.2, 0.0]], dtype=dtype)
    for randomised in (False, True):
        component = registry.resolve(SCORE, {**table, "randomised": randomised})
        found = component.score(rows, np.array([[0.0]]))
        assert not np.isnan(found).any()
        assert (found[0, :-1] >= found[0, 1:]).all()


@pytest.mark.parametrize("case", SUMS)
def test_probabilities_of_a_model_with_several_answers(case: str) -> None:
    """Rows need not sum to 1 where each label has a probability of its own."""
    rows: Floats = np.array([[0.875, 0.75, 0.25], [0.125, 0.0, 0.0], [0.0, 0.0, 0.0]])
    uniform = np.array([[0.5], [0.25], [0.75]])
    expected = [[float(value) for value in row] for row in exactly(case, rows, uniform)]
    np.testing.assert_array_equal(score(case, rows, uniform), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ranks_of_numbers_below_zero(dtype: type[np.floating]) -> None:
    """Numbers on any scale, with ties, both zeros and infinities among them."""
    values = [-np.inf, -3.5, -3.5, -1e-40, -0.0, 0.0, 2.0, np.inf, 7.25, -100.0]
    generator = np.random.default_rng(4)
    rows = np.array([generator.permutation(values) for _ in range(30)]).astype(dtype)
    found = score("rank", rows)
    as_large = (rows[:, None, :] >= rows[:, :, None]).sum(axis=2)
    assert found.dtype == dtype
    assert np.array_equal(found, -as_large)
