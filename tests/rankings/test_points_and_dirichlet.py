"""Borda in fractions, Dirichlet draws against means and variances, and ranges of parameters."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import betainc

import labelled_records as lr
import plausibly
import rankings_oracles as ro
from plausibly.errors import InputError
from plausibly.plugin import AGGREGATOR, Keys, resolve
from plausibly_builtins.partial_ranking.points import Borda

Parameter: TypeAlias = Any  # by its name; what checks it is the component
KEYS = Keys(0, "aggregator")
LABELS = ["b", "Ä", "a", "0"]


def points(
    answers: list[tuple[int, ro.Ranking]], labels: list[str], *, excluded: bool
) -> dict[str, Fraction]:
    """Return normalised Borda points: places counted one by one."""
    named = {label for _, ranking in answers for block in ranking for label in block}
    result = dict.fromkeys(labels, Fraction(0))
    for weight, ranking in answers:
        places = len(named) if excluded else sum(map(len, ranking))
        first = 1
        for block in ranking:
            mean = Fraction(sum(range(first, first + len(block))), len(block))
            for label in block:
                result[label] += weight * (places + 1 - mean)
            first += len(block)
    total = sum(result.values())
    return {label: value / total for label, value in result.items()}


@given(st.lists(st.tuples(st.integers(1, 3), lr.rankings()), min_size=1, max_size=5), st.booleans())
def test_points_are_exact(answers: list[tuple[int, ro.Ranking]], excluded: bool) -> None:
    annotations = ro.table(
        {"e": [(float(w), r) for w, r in answers]},
        lr.LABELS,
        unlisted="excluded" if excluded else "unknown",
    )
    result = Borda().aggregate(annotations, KEYS)
    exact = {"e": points(answers, lr.LABELS, excluded=excluded)}
    lr.assert_exact(result, exact)
    units = result.values * result["denominator"].values[:, None]
    assert units == pytest.approx(np.rint(units), abs=1e-9)


def test_a_response_that_counts_nothing_has_no_place() -> None:
    annotations = ro.table({"e": [(1.0, [["a"], ["b"]]), (0.0, [["0"]])]}, LABELS)
    result = Borda().aggregate(annotations, KEYS).sel(example="e")
    assert result.sel(label=["a", "b", "0"]).values.tolist() == pytest.approx([2 / 3, 1 / 3, 0.0])


def test_broken_weights_have_no_denominator() -> None:
    annotations = ro.table({"e": [(0.3, [["a"], ["b"]])]}, LABELS)
    assert "denominator" not in Borda().aggregate(annotations, KEYS).coords


@pytest.mark.parametrize("temperature", [1.0, 10.0])
@pytest.mark.parametrize("unmentioned", ["nothing", "together", "each"])
def test_means_and_variances(temperature: float, unmentioned: str) -> None:
    annotations = ro.table({"e": [(1.0, [["a"], ["b"]]), (1.0, [["b"]])]}, LABELS)
    around = {"a": 0.4, "b": 0.6}
    inverse = plausibly.aggregate(annotations, "inverse-rank").sel(example="e")
    assert inverse.sel(label=["a", "b"]).values.tolist() == pytest.approx([0.4, 0.6])
    prior, draws = 0.3, 4000
    result = plausibly.aggregate(
        annotations,
        "dirichlet",
        draws=draws,
        temperature=temperature,
        prior=prior,
        unmentioned=unmentioned,
    ).sel(example="e")
    others = {"nothing": 0, "together": 1, "each": 2}[unmentioned]
    total = temperature + (2 + others) * prior
    for label, mean in around.items():
        values: ro.Column = result.sel(label=label).values
        shape = temperature * mean + prior
        cdf = np.sort(betainc(shape, total - shape, values))
        assert np.abs(cdf - (np.arange(draws) + 0.5) / draws).max() < 0.04
    off = float(result.sel(label=["Ä", "0"]).sum("label").mean())
    assert off == pytest.approx(others * prior / total, abs=0.02)


def test_no_prior_nothing_off_the_rankings() -> None:
    annotations = ro.table({"e": [(1.0, [["a"], ["b"]])], "f": [(1.0, [["Ä"]])]}, LABELS)
    result = plausibly.aggregate(annotations, "dirichlet", unmentioned="each")
    assert (result.sel(example="f", label="Ä") == 1.0).all()
    assert (result.sel(example="e", label=["Ä", "0"]) == 0.0).all()
    assert (result.sel(example="e", label="a") > result.sel(example="e", label="b")).mean() > 0.5


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("dirichlet", item) for item in ({"temperature": 0.0}, {"prior": -0.1}, {"draws": 0})),
        *(("plackett-luce", item) for item in ({"prior": -1.0}, {"tolerance": -1.0})),
        *(("plackett-luce-draws", item) for item in ({"prior": 0.0}, {"draws": 0}, {"warm_up": 1})),
        ("plackett-luce", {"iterations": 0}),
        *(
            (name, {"unmentioned": "some"})
            for name in ("dirichlet", "plackett-luce", "plackett-luce-draws")
        ),
    ],
)
def test_parameters_out_of_range(name: str, wrong: dict[str, Parameter]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        resolve(AGGREGATOR, {"name": name, **wrong})
