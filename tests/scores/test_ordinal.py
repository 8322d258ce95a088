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
from scores_oracles import TABLES, rows_of_sixteenths

INNER: dict[str, object] = {
    name: TABLES.get(name, name)
    for name in ("probability", "log-probability", "margin", "aps, randomised", "raps")
}
DRAWN = {"name": "aps", "randomised": True}
WIDTHS = [np.float32, np.float64]


def ordinal(**parameters: object) -> ScoreFunction:
    return registry.resolve(SCORE, {"name": "ordinal", **parameters})


def fractions(values: Floats) -> list[list[Fraction]]:
    finite = np.where(np.isinf(values), -1e30, values)
    return [[Fraction(value) for value in row] for row in finite.tolist()]


def test_by_hand() -> None:
    rows = np.array([[0.5, 0.125, 0.25, 0.0, 0.125]])
    assert ordinal().score(rows, None).tolist() == [[0.5, 0.25, 0.25, 0.125, 0.125]]
    assert ordinal(greedy=True).score(rows, None).tolist() == [[1.0, 0.5, 0.375, 0.125, 0.125]]
    scores = ordinal(greedy=True, randomised=True).score(rows, np.array([[0.5]]))
    assert scores.tolist() == [[0.75, 0.4375, 0.25, 0.125, 0.0625]]


@pytest.mark.parametrize("dtype", WIDTHS)
@given(data=rows_of_sixteenths())
def test_hulls_and_greedy_intervals_are_those_of_the_oracles(
    dtype: type, data: tuple[Floats, Floats]
) -> None:
    rows: Floats = data[0].astype(dtype)
    uniform = data[1]
    for inner in INNER.values():
        component, plain = ordinal(inner=inner), registry.resolve(SCORE, inner)
        drawn = uniform if component.randomised else None
        scores = component.score(rows, drawn)
        assert scores.dtype == dtype
        expected = [hull(row) for row in fractions(plain.score(rows, drawn))]
        assert fractions(scores) == expected
    plain = ordinal(greedy=True).score(rows, None)
    assert plain.dtype == dtype
    assert fractions(plain) == [greedy(row, Fraction(0)) for row in fractions(rows)]
    scores = ordinal(greedy=True, randomised=True).score(rows, uniform)
    pairs = zip(fractions(rows), uniform.tolist(), strict=True)
    assert fractions(scores) == [greedy(row, Fraction(u)) for row, (u,) in pairs]


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("labels", [1, 2, 3, 7])
@pytest.mark.parametrize(
    "parameters",
    [
        *({"inner": inner} for inner in INNER.values()),
        {"greedy": True},
        {"greedy": True, "randomised": True},
    ],
    ids=str,
)
def test_no_set_has_a_hole_at_any_threshold(
    parameters: dict[str, object], labels: int, dtype: type
) -> None:
    rows = uneven_modes(150, labels, seed=labels, dtype=dtype)
    uniform = np.random.default_rng(1).random((len(rows), 1))
    uniform[:20] = [[0.0], [1 - 2**-53]] * 10
    component = ordinal(**parameters)
    with np.errstate(divide="ignore"):
        read = np.log(rows) if component.reads == "log-probability" else rows
    scores = component.score(read, uniform if component.randomised else None)
    assert holes_at_any_threshold(scores) == 0


def test_greedy_is_summed_so_that_rounding_makes_no_hole() -> None:
    """One minus the mass so far, less U of the own, has holes in these rows; this sum has none."""
    random = np.random.default_rng(3)
    rows = random.dirichlet(np.full(6, 0.05), 20_000)
    uniform = random.random((len(rows), 1))
    scores = ordinal(greedy=True, randomised=True).score(rows, uniform)
    np.testing.assert_array_equal(hull_of(scores), scores)
    places = np.argsort(-ordinal(greedy=True).score(rows, None), axis=1, kind="stable")
    own = np.take_along_axis(rows, places, axis=1)
    naive = 1 - (np.cumsum(own, axis=1) - own) - uniform * own
    assert (np.diff(naive, axis=1) > 0).any()


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
    assert ordinal(inner=DRAWN).randomised is True
    assert ordinal(inner=DRAWN, randomised=True) == ordinal(inner=DRAWN)
    assert ordinal(inner="log-probability").reads == "log-probability"
    table = registry.default().describe(SCORE, ordinal(inner=DRAWN))
    assert registry.resolve(SCORE, table) == ordinal(inner=DRAWN)
