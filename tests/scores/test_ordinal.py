"""Score `ordinal`: sets of ordered labels are intervals, by the hull of a score or greedily."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from ordinal_oracles import greedy, holes_at_any_threshold, hull, uneven_modes
from plausibly import registry
from plausibly.kernels.hull import hull as hull_of
from plausibly.kernels.types import Floats
from plausibly.plugin import SCORE, ScoreFunction
from refusals import refused
from scores_oracles import TABLES, made, rows_of_sixteenths, uneven_rows

INNER = ["probability", "log-probability", "margin", "aps, randomised", "raps"]
WIDTHS = [np.float32, np.float64]


def ordinal(**parameters: object) -> ScoreFunction:
    return registry.resolve(SCORE, {"name": "ordinal", **parameters})


def inner(case: str) -> ScoreFunction:
    return made(case) if case in TABLES else registry.resolve(SCORE, case)


def hulls(case: str) -> ScoreFunction:
    return ordinal(inner=inner(case))


def fractions(values: Floats) -> list[list[Fraction]]:
    return [[Fraction(value) for value in row] for row in values.tolist()]


CASES: dict[str, dict[str, object]] = {
    **{f"hull of {case}": {"inner": TABLES.get(case, case)} for case in INNER},
    "greedy": {"greedy": True},
    "greedy, randomised": {"greedy": True, "randomised": True},
}


def test_by_hand() -> None:
    rows = np.array([[0.5, 0.125, 0.25, 0.0, 0.125]])
    assert ordinal().score(rows, None).tolist() == [[0.5, 0.25, 0.25, 0.125, 0.125]]
    assert ordinal(greedy=True).score(rows, None).tolist() == [[1.0, 0.5, 0.375, 0.125, 0.125]]
    found = ordinal(greedy=True, randomised=True).score(rows, np.array([[0.5]]))
    assert found.tolist() == [[0.75, 0.4375, 0.25, 0.125, 0.0625]]


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("case", INNER)
@given(data=rows_of_sixteenths())
def test_hull_is_the_oracle_s(case: str, dtype: type, data: tuple[Floats, Floats]) -> None:
    rows: Floats = data[0].astype(dtype)
    uniform = data[1]
    component, plain = hulls(case), inner(case)
    drawn = uniform if component.randomised else None
    found, before = component.score(rows, drawn), plain.score(rows, drawn)
    assert found.dtype == dtype
    finite = np.where(np.isinf(before), -1e30, before)
    assert fractions(np.where(np.isinf(found), -1e30, found)) == [
        hull(row) for row in fractions(finite)
    ]


@pytest.mark.parametrize("dtype", WIDTHS)
@given(data=rows_of_sixteenths())
def test_greedy_is_the_oracle_s(dtype: type, data: tuple[Floats, Floats]) -> None:
    rows: Floats = data[0].astype(dtype)
    uniform = data[1]
    plain = ordinal(greedy=True).score(rows, None)
    assert plain.dtype == dtype
    assert fractions(plain) == [greedy(row, Fraction(0)) for row in fractions(rows)]
    drawn = ordinal(greedy=True, randomised=True).score(rows, uniform)
    assert fractions(drawn) == [
        greedy(row, Fraction(u))
        for row, (u,) in zip(fractions(rows), uniform.tolist(), strict=True)
    ]


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("labels", [1, 2, 3, 7])
@pytest.mark.parametrize("case", CASES)
def test_no_set_has_a_hole_at_any_threshold(case: str, labels: int, dtype: type) -> None:
    rows = uneven_modes(150, labels, seed=labels, dtype=dtype)
    uniform = np.random.default_rng(1).random((len(rows), 1))
    uniform[:20] = [[0.0], [1 - 2**-53]] * 10
    component = ordinal(**CASES[case])
    with np.errstate(divide="ignore"):
        read = np.log(rows) if component.reads == "log-probability" else rows
    found = component.score(read, uniform if component.randomised else None)
    assert holes_at_any_threshold(found) == 0


def test_greedy_is_summed_so_that_rounding_makes_no_hole() -> None:
    """One minus the mass so far, less U of the own, has holes in these rows; this sum has none."""
    random = np.random.default_rng(3)
    rows = random.dirichlet(np.full(6, 0.05), 20_000)
    uniform = random.random((len(rows), 1))
    found = ordinal(greedy=True, randomised=True).score(rows, uniform)
    np.testing.assert_array_equal(hull_of(found), found)
    places = np.argsort(-ordinal(greedy=True).score(rows, None), axis=1, kind="stable")
    own = np.take_along_axis(rows, places, axis=1)
    naive = 1 - (np.cumsum(own, axis=1) - own) - uniform * own
    assert (np.diff(naive, axis=1) > 0).any()


@pytest.mark.parametrize("labels", [1, 2, 7])
@pytest.mark.parametrize("case", CASES)
def test_a_batch_is_its_rows_bit_for_bit(case: str, labels: int) -> None:
    rows, uniform = uneven_rows(40, labels, 5)
    component = ordinal(**CASES[case])
    drawn = uniform if component.randomised else None
    whole = component.score(rows, drawn)
    for place in range(len(rows)):
        alone = component.score(rows[place], None if drawn is None else drawn[place])
        np.testing.assert_array_equal(alone, whole[place])
    stacked = None if drawn is None else drawn.reshape(4, 10, 1)
    stack = component.score(rows.reshape(4, 10, labels), stacked)
    np.testing.assert_array_equal(stack.reshape(whole.shape), whole)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"greedy": True, "inner": "aps"}, "'greedy' adds probabilities up, and has no other"),
        ({"randomised": True}, "'randomised' belongs to 'greedy', or to the 'inner' score"),
        ({"inner": "ordinal"}, "'inner' must be a score that reads no order"),
        ({"order": ""}, "order: "),
        ({"inner": "no-such-score"}, "inner"),
    ],
)
def test_parameters_that_do_not_go_together(parameters: dict[str, object], text: str) -> None:
    with refused("component-parameter", text):
        ordinal(**parameters)


def test_a_hull_is_randomised_as_its_inner_score_is() -> None:
    drawn = {"name": "aps", "randomised": True}
    assert ordinal(inner=drawn).randomised is True
    assert ordinal(inner=drawn, randomised=True) == ordinal(inner=drawn)
    assert ordinal(inner="log-probability").reads == "log-probability"
    table = registry.default().describe(SCORE, ordinal(inner=drawn))
    assert registry.resolve(SCORE, table) == ordinal(inner=drawn)
