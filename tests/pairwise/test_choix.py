"""choix for rankings read as comparisons: known figures, equations, ties, one-sided data."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import plausibly
from plausibly.data.annotations import rebuilt
from plausibly.errors import InputError, MissingExtra, PlausiblyWarning
from plausibly.plugin import AGGREGATOR, resolve
from plausibly.registry import default
from refusals import refused

Parameter: TypeAlias = Any  # by its name; what checks it is the component

# It is part of the extra `all`, with which CI runs: there, nothing is left out.
pytestmark = pytest.mark.skipif(
    find_spec("choix") is None and not os.environ.get("CI"), reason="choix is not installed"
)
COMPONENTS = sorted(e.name for e in default().entries(AGGREGATOR) if e.source.plugin == "choix")
LIKELIHOOD = ("mm", "i-lsr", "opt")
EIGHT = ["ab", "ab", "ba", "bc", "cb", "bc", "ac", "ca"]  # the winner first
Blocks = list[list[list[str]]]


def table_of(
    examples: dict[str, Blocks], *, labels: str = "abcd", unlisted: str = "unknown"
) -> xr.Dataset:
    """Return a table of rankings by unknown annotators: blocks of labels, best first."""
    records = [(name, None, blocks) for name, every in examples.items() for blocks in every]
    table = plausibly.build_annotations("partial-ranking", records, list(labels))
    return table.assign_attrs(unlisted=unlisted)


def pairs(answers: list[str]) -> Blocks:
    return [[[item[0]], [item[1]]] for item in answers]


def lam(name: str, given: xr.Dataset, **more: Parameter) -> xr.DataArray:
    return plausibly.aggregate(given, f"choix:{name}", **more)


def wins(answers: list[str], labels: str) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    result = np.zeros((len(labels), len(labels)))
    for item in answers:
        result[labels.index(item[0]), labels.index(item[1])] += 1
    return result


@pytest.mark.parametrize("name", LIKELIHOOD)
def test_fault_1_maximum_likelihood_of_eight_comparisons(name: str) -> None:
    """Another library stops after two steps, at 0.42178 0.32899 0.24923."""
    table = table_of({"x": pairs(EIGHT)}, labels="cabd")
    result = lam(name, table, regularisation=0.0)
    ordered = result.sel(example="x", label=list("abcd")).values
    assert ordered == pytest.approx([0.43364, 0.32411, 0.24225, 0.0], abs=5e-6)
    own = plausibly.aggregate(table, "plackett-luce", prior=0.0)
    xr.testing.assert_allclose(result, own.drop_attrs(), atol=1e-6)


def test_one_step_is_another_estimate() -> None:
    table = table_of({"x": pairs(EIGHT)}, labels="abc")
    assert lam("lsr", table, regularisation=0.0).values[0] == pytest.approx([7 / 16, 5 / 16, 1 / 4])
    of_shares = lam("rank-centrality", table, regularisation=0.0).values[0]
    assert of_shares == pytest.approx([17 / 41, 13 / 41, 11 / 41])


@st.composite
def comparisons(draw: st.DrawFn) -> list[str]:
    every = ["".join(pair) for pair in product("abc", repeat=2) if len(set(pair)) == 2]
    return draw(st.lists(st.sampled_from(every), min_size=1, max_size=8))


@settings(max_examples=25)
@given(answers=comparisons(), more=st.sampled_from([0.05, 0.1, 1.0]))
@pytest.mark.filterwarnings("ignore:warning ranking-one-sided")
def test_each_stands_where_its_equation_says(answers: list[str], more: float) -> None:
    """The slopes of what is maximised are 0, and the flows of walks are even."""
    labels = "".join(sorted(set("".join(answers))))
    n = wins(answers, labels)
    table = table_of({"x": pairs(answers)}, labels=labels)
    ask = {"regularisation": more}
    won, met = n.sum(axis=1), n + n.T

    u = lam("mm", table, **ask).values[0] * len(labels)
    np.testing.assert_allclose(
        won + more, u * ((met / (u[:, None] + u)).sum(axis=1) + more), rtol=1e-5
    )
    u = lam("opt", table, **ask).values[0]
    logs = np.log(u) - np.log(u).mean()
    slope = won - (met * u[:, None] / (u[:, None] + u)).sum(axis=1) - 2 * more * logs
    np.testing.assert_allclose(slope, 0.0, atol=1e-5)
    u = lam("i-lsr", table, **ask).values[0] * len(labels)
    for rate, stands in (
        (more + n.T / (u[:, None] + u), u),  # from row to column
        (more + n.T / 2, lam("lsr", table, **ask).values[0]),
        ((n.T + more) / (met + 2 * more), lam("rank-centrality", table, **ask).values[0]),
    ):
        flow = stands[:, None] * rate
        np.testing.assert_allclose(flow.sum(axis=0), flow.sum(axis=1), rtol=1e-5)


@pytest.mark.filterwarnings("ignore:warning ranking-one-sided")
def test_report_42_labels_that_are_not_named_have_two_meanings() -> None:
    """Below all that is named where it is excluded; not compared where nothing is known of it."""
    answers: dict[str, Blocks] = {
        "x": [[["a"], ["b"], ["c"], ["d"]], [["a"], ["b"]], [["b"], ["c"]]]
    }
    unknown = lam("lsr", table_of(answers), regularisation=1.0)
    as_pairs = table_of({"x": pairs(["ab", "ac", "ad", "bc", "bd", "cd", "ab", "bc"])})
    xr.testing.assert_identical(unknown, lam("lsr", as_pairs, regularisation=1.0))
    excluded = lam("lsr", table_of(answers, unlisted="excluded"), regularisation=1.0)
    more = ["ac", "ad", "bc", "bd", "ba", "bd", "ca", "cd"]
    as_pairs = table_of({"x": pairs(["ab", "ac", "ad", "bc", "bd", "cd", "ab", "bc", *more])})
    xr.testing.assert_identical(excluded, lam("lsr", as_pairs, regularisation=1.0))


def test_report_41_ties_are_not_compared() -> None:
    tied = table_of({"x": [[["a"], ["b", "c"], ["d"]]]})
    as_pairs = table_of({"x": pairs(["ab", "ac", "ad", "bd", "cd"])})
    for name in COMPONENTS:
        with pytest.warns(PlausiblyWarning):
            result, another = lam(name, tied), lam(name, as_pairs)
        xr.testing.assert_identical(result, another)
        of = result.sel(example="x")
        assert float(of.sel(label="b") - of.sel(label="c")) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", COMPONENTS)
def test_report_43_a_chain_hangs_on_the_regularisation(name: str) -> None:
    labels = "abcdefghijklmno"
    chain = table_of({"x": pairs([labels[i : i + 2] for i in range(14)])}, labels=labels)
    with pytest.warns(PlausiblyWarning, match="ranking-one-sided"):
        result = lam(name, chain).values[0]
    assert result.sum() == pytest.approx(1.0)
    assert result[0] == result.max()
    assert result[-1] == result.min()
    with refused("ranking-one-sided"):
        lam(name, chain, regularisation=0.0)


def test_fault_19_estimates_that_do_not_converge_are_refused() -> None:
    table = table_of({"x": pairs(EIGHT), "y": pairs(["ab", "ba"])}, labels="abc")
    with refused("not-converged", "hint more iterations, a larger regularisation"):
        lam("mm", table, iterations=2, regularisation=0.0)


def test_responses_that_count_a_broken_number_of_times() -> None:
    table = table_of({"x": pairs(EIGHT)}, labels="abc")
    table = rebuilt(table.assign(response_weight=("response", [0.5] * 8)))
    half = lam("i-lsr", table, regularisation=0.0)
    assert half.values[0] == pytest.approx([0.43364, 0.32411, 0.24225], abs=5e-6)
    with refused("weights-broken", "hint aggregator choix:i-lsr, choix:lsr or plackett-luce"):
        lam("opt", table)


def test_parameters_are_checked() -> None:
    for wrong in ({"regularisation": -1.0}, {"iterations": 0}, {"tolerance": 0.0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            resolve(AGGREGATOR, {"name": "choix:mm", **wrong})


def test_without_choix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "choix", None)
    hint = 'hint pip install "plausibly[ranking]"'
    with refused("extra-missing", "aggregator choix:mm needs choix", hint, kind=MissingExtra):
        lam("mm", table_of({"x": pairs(EIGHT)}))
