"""Measures of agreement against their definitions, published examples and users' reports."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

import plausibly
from call_files import each_call
from plausibly.annotators import average_overlap
from plausibly.annotators.answers import Resampling
from plausibly.evaluation.result import decimal
from plausibly.kernels.random import Keys, hash_names
from plausibly.plugin import build_table

from .oracles import (
    FOUR_CODERS,
    PSYCHIATRIC,
    Number,
    alpha,
    by_example,
    coders,
    counted_table,
    fleiss,
    jaccard,
    masi,
    nominal,
    of_counts,
    ordinal,
    overlap,
    pair_mean,
    table,
)

LABELS = ["a", "b", "c", "d"]
SINGLE = st.lists(st.lists(st.sampled_from(LABELS), max_size=5), min_size=1, max_size=7)
SETS = st.lists(
    st.lists(st.sets(st.sampled_from(LABELS), min_size=1).map(sorted), max_size=4),
    min_size=1,
    max_size=6,
)
Records = list[tuple[object, object, object]]


def records_of(answers: list[list[object]]) -> Records:
    return [(f"e{i}", f"w{j}", said) for i, row in enumerate(answers) for j, said in enumerate(row)]


def value(result: xr.Dataset, measure: str) -> float:
    return float(result["value"].sel(measure=measure))


def figures(annotations: xr.Dataset, measures: str, **options: Any) -> str:  # Any: of agreement
    """Return some measures of a table, as they are printed, or why there is none."""
    result = plausibly.agreement(annotations, resamples=0, **options).data
    known = result.set_index(measure="measure").sel(measure=measures.split())
    pairs = zip(known["value"].values, known["reason"].values, strict=True)
    return "; ".join(str(reason) or decimal(float(number)) for number, reason in pairs)


def answers(text: str, kind: str = "single-label") -> xr.Dataset:
    """Return a table of answers such as ``e:x:ab``: example, annotator, letters of labels."""
    rows = [tuple(word.split(":")) for word in text.split()]
    records = [(e, w, said if kind == "single-label" else list(said)) for e, w, said in rows]
    return table(records, LABELS, kind)


def same(result: xr.Dataset, measure: str, expected: Number | None) -> None:
    actual = value(result, measure)
    if expected is None:
        assert math.isnan(actual)
        assert str(result["reason"].sel(measure=measure).item())
    else:
        assert actual == pytest.approx(float(expected), abs=1e-9)


@settings(max_examples=25)
@given(SINGLE)
def test_single_labels_by_definition(answers: list[list[object]]) -> None:
    records = records_of(answers)
    if not records:
        return
    result = plausibly.agreement(table(records, LABELS), order=LABELS, resamples=0).data
    units = list(by_example(records).values())
    same(result, "percent", pair_mean(units, nominal))
    same(result, "fleiss-kappa", fleiss(units))
    same(result, "krippendorff-nominal", alpha(units, nominal))
    same(result, "krippendorff-ordinal", alpha(units, ordinal(units, LABELS)))

    def step(first: object, second: object) -> Fraction:
        return Fraction(int(abs(LABELS.index(str(first)) - LABELS.index(str(second))) > 1))

    same(result, "neighbouring", pair_mean(units, step))


@settings(max_examples=25)
@given(SETS)
def test_label_sets_by_definition(answers: list[list[object]]) -> None:
    records = records_of(answers)
    if not records:
        return
    result = plausibly.agreement(table(records, LABELS, "label-set"), resamples=0).data
    units = list(by_example(records).values())
    for name, distance in (("jaccard", jaccard), ("masi", masi)):
        same(result, name, pair_mean(units, distance))
        same(result, f"krippendorff-{name}", alpha(units, distance))
    same(result, "percent", pair_mean(units, nominal))
    same(result, "krippendorff-nominal", alpha(units, nominal))


def test_votes_and_counts_give_the_same_measures() -> None:
    counts = np.array([[3, 1, 0], [0, 2, 2], [5, 0, 0], [1, 1, 1]])
    votes = [
        (f"e{row}", f"w{row}-{k}-{again}", str(k + 1))
        for (row, k), times in np.ndenumerate(counts)
        for again in range(times)
    ]
    first = plausibly.agreement(of_counts(counts)).data
    second = plausibly.agreement(table(votes, ["1", "2", "3"])).data
    known = first["measure"].values != "left-out-vote"
    for name in ("value", "low", "high"):
        np.testing.assert_array_equal(first[name].values[known], second[name].values[known])
    for name in ("label_again", "label_again_low", "label_kappa", "example_agreement"):
        np.testing.assert_array_equal(first[name].values, second[name].values)


def test_an_annotator_without_answer_is_kept() -> None:
    votes = [*coders("a a\na b"), ("u00", "silent", None)]
    result = plausibly.agreement(table(votes, ["a", "b", "never"])).data
    assert result["annotator_answers"].sel(annotator="silent") == 0
    assert math.isnan(result["annotator_agreement"].sel(annotator="silent"))
    assert math.isnan(result["label_again"].sel(label="never"))
    assert result["label_answers"].sel(label="never") == 0


def test_too_many_different_sets_have_no_alpha_by_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plausibly.annotators.measures.MOST_VALUES", 2)
    sets = answers("e:x:a e:y:b e:z:ab", "label-set")
    reason = "more than 2 different answers"
    assert figures(sets, "krippendorff-jaccard jaccard") == f"{reason}; 0.333"


@st.composite
def rankings(draw: st.DrawFn) -> list[list[str]]:
    order = draw(st.permutations(LABELS))
    left = order[: draw(st.integers(1, len(LABELS)))]
    blocks: list[list[str]] = []
    while left:
        size = draw(st.integers(1, len(left)))
        blocks.append(sorted(left[:size]))
        left = left[size:]
    return blocks


@given(rankings(), rankings(), st.integers(1, 4))
def test_average_overlap_is_the_mean_over_all_ways_to_break_ties(
    one: list[list[str]], other: list[list[str]], depth: int
) -> None:
    plain = average_overlap(one, other, len(LABELS), depth=depth, normalise=False)
    assert plain == pytest.approx(overlap(one, other, LABELS, depth))
    scale = math.sqrt(overlap(one, one, LABELS, depth) * overlap(other, other, LABELS, depth))
    normalised = average_overlap(one, other, len(LABELS), depth=depth)
    assert normalised == pytest.approx(overlap(one, other, LABELS, depth) / scale)
    assert average_overlap(other, one, len(LABELS), depth=depth) == pytest.approx(normalised)
    assert average_overlap(one, one, len(LABELS), depth=depth) == pytest.approx(1.0)


@settings(max_examples=20)
@given(
    st.lists(st.lists(rankings(), min_size=1, max_size=3), min_size=1, max_size=4),
    st.integers(1, 4),
)
def test_measures_of_rankings_equal_those_of_pairs(
    answers: list[list[list[list[str]]]], depth: int
) -> None:
    records = [
        (f"e{i}", f"w{j}", said) for i, row in enumerate(answers) for j, said in enumerate(row)
    ]
    result = plausibly.agreement(
        table(records, LABELS, "partial-ranking"), depth=depth, resamples=0
    ).data

    def partial(first: list[list[str]], second: list[list[str]]) -> float:
        return 1 - average_overlap(first, second, len(LABELS), depth=depth)

    def plain(first: list[list[str]], second: list[list[str]]) -> float:
        return 1 - average_overlap(first, second, len(LABELS), depth=depth, normalise=False)

    same(result, "average-overlap", pair_mean(answers, plain))
    same(result, "partial-average-overlap", pair_mean(answers, partial))
    same(result, "krippendorff-overlap", alpha(answers, partial))


KRIPPENDORFF, FLEISS = table(coders(FOUR_CODERS)), counted_table(PSYCHIATRIC)
GRADES = table(coders("low high mid\nlow mid high"))
UNLISTED_UNKNOWN = build_table(
    "partial-ranking",
    examples=["e"],
    annotators=["x", "y"],
    labels=LABELS,
    response_example=[0, 0],
    response_annotator=[0, 1],
    mention_response=[0, 0, 1],
    mention_label=[0, 1, 0],
    mention_block=[1, 2, 1],
    unlisted="unknown",
)
SOFT = table([("e", "w", {"a": 1.0})], kind="soft-label")
LAM = xr.DataArray(
    np.full((2, 1, 2), 0.5),
    dims=("draw", "example", "label"),
    coords={"example": ["e"], "label": ["a", "b"]},
)


def test_the_order_of_a_label_table_is_used() -> None:
    order = {"high": 2, "low": 0, "mid": 1}
    ann = GRADES.assign_coords(order=("label", [order[k] for k in GRADES["label"].values]))
    result = plausibly.agreement(ann).data
    assert "krippendorff-ordinal" in result["measure"].values
    assert result.attrs["order"] == '["low", "mid", "high"]'
    same = plausibly.agreement(GRADES, order=["low", "mid", "high"]).data
    xr.testing.assert_equal(result.drop_vars("order", errors="ignore"), same)
    assert "krippendorff-ordinal" not in plausibly.agreement(GRADES)["measure"].values


WORLDS, ANSWERS = 500, 4


def votes(worlds: int, n: int, seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet([0.5, 0.5, 0.3], (worlds, n))
    return rng.multinomial(ANSWERS, shares)


def measures(
    counts: NDArray[np.int64], times: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The share of pairs that agree, and Krippendorff's alpha: (world, replicate)."""
    pairs = (counts * (counts - 1)).sum(axis=-1) / (ANSWERS * (ANSWERS - 1))
    number = times.sum(axis=0)
    percent = pairs @ times / number
    label = np.einsum("wnk,nr->wkr", counts, times, optimize=True)
    n = ANSWERS * number
    left = n * n - (label**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return percent, np.where(left > 0, 1 - (n - 1) * n * (1 - percent) / left, np.nan)


@pytest.mark.parametrize("n", [10, 50])
def test_intervals_cover_at_their_confidence(n: int) -> None:
    plan = Resampling(
        hashes=np.sort(hash_names([f"e{place}" for place in range(n)])),
        of=np.arange(n),
        resamples=400,
        keys=Keys(n),
        confidence=0.95,
    )
    times = np.concatenate(list(plan.times()), axis=1)
    truth = measures(votes(1, 100_000, seed=1), np.ones((100_000, 1)))
    for result, true in zip(measures(votes(WORLDS, n, seed=n), times), truth, strict=True):
        ends = np.array([plan.ends(row) for row in result])
        assert np.isfinite(ends).all(axis=1).mean() > 0.99
        covered = np.mean((ends[:, 0] <= true[0, 0]) & (true[0, 0] <= ends[:, 1]))
        # Three standard errors of 500 worlds around 0.95 to 0.97; percentiles give 0.88 at 10.
        assert 0.925 <= covered <= 0.99


def test_ordinal_alpha_of_each_resample_is_that_of_its_answers() -> None:
    """The interval is made of alpha by definition, of answers as often as they are drawn."""
    rng = np.random.default_rng(2)
    names, order = [f"e{place}" for place in range(8)], ["1", "2", "3", "4"]
    answers = {name: rng.choice(order, 3, p=[0.5, 0.2, 0.2, 0.1]).tolist() for name in names}
    records = [(name, f"w{k}", said) for name in names for k, said in enumerate(answers[name])]
    result = plausibly.agreement(table(records, order), order=order, resamples=20, seed=5).data
    hashes = hash_names(names)
    by_hash = [answers[names[place]] for place in np.argsort(hashes)]
    plan = Resampling(
        hashes=np.sort(hashes),
        of=np.arange(8),
        resamples=20,
        keys=Keys(5).child("agreement"),
        confidence=0.95,
    )
    values = []
    for times in np.concatenate(list(plan.times()), axis=1).T.astype(int):
        drawn = [unit for unit, often in zip(by_hash, times, strict=True) for _ in range(often)]
        values.append(float(alpha(drawn, ordinal(drawn, order)) or np.nan))
    item = result.sel(measure="krippendorff-ordinal")
    ends = float(item["low"]), float(item["high"])
    assert ends == pytest.approx(plan.ends(np.array(values)), abs=1e-9)


def test_a_constant_measure_has_no_interval() -> None:
    records = [(f"e{place}", by, "a" if place < 7 else "b") for place in range(9) for by in "xyz"]
    result = plausibly.agreement(table(records), resamples=50).data.sel(measure="percent")
    assert float(result["value"]) == 1
    assert np.isnan([float(result["low"]), float(result["high"])]).all()


test_each_call_gives_its_text = each_call(__file__, globals())


# ---- published data


@pytest.fixture(scope="module")
def nodules(shared: Path) -> xr.Dataset:
    with np.load(shared / "data" / "lidc_malignancy" / "data.npz") as data:
        return of_counts(data["counts"]).assign_coords(patient=("example", data["patient"]))


@pytest.mark.realdata
def test_lung_nodules(nodules: xr.Dataset) -> None:
    result = plausibly.agreement(nodules, order=list("12345")).data
    expected = {
        "percent": (0.385, 0.370, 0.401),
        "neighbouring": (0.787, None, None),
        "krippendorff-nominal": (0.191, 0.169, 0.215),
        "krippendorff-ordinal": (0.420, 0.384, 0.456),
        "fleiss-kappa": (0.193, 0.171, 0.217),
    }
    for name, (middle, low, high) in expected.items():
        item = result.sel(measure=name)
        assert float(item["value"]) == pytest.approx(middle, abs=5e-4)
        if low is not None:
            assert float(item["low"]) == pytest.approx(low, abs=5e-3)
            assert float(item["high"]) == pytest.approx(high, abs=5e-3)
    again = [round(float(x), 2) for x in result["label_again"].values]
    assert again == [0.67, 0.23, 0.42, 0.22, 0.41]
    assert value(result, "unanimous") == pytest.approx(0.1415, abs=5e-5)
    assert value(result, "tied") == pytest.approx(0.1981, abs=5e-5)
    assert value(result, "entropy") == pytest.approx(0.6956, abs=5e-5)
