"""Each aggregator against its equation in fractions, on records that hypothesis makes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import labelled_records as lr
from plausibly.data.annotations import rebuilt
from plausibly.plugin import AGGREGATOR, ANNOTATION, Aggregator, Annotation, Keys, resolve
from plausibly_builtins.label_set.sets import EqualSplit, LabelSet
from plausibly_builtins.partial_ranking.points import InverseRank, PartialRanking
from plausibly_builtins.single_label.votes import LabelFrequency, MajorityVote, SingleLabel
from plausibly_builtins.soft_label.weights import SoftLabel, WeightedMean

KEYS = Keys(0, "aggregator")


def aggregated(
    kind: Annotation, aggregator: Aggregator, records: lr.Records, labels: list[str] = lr.LABELS
) -> xr.DataArray:
    return aggregator.aggregate(kind.build(records, labels), KEYS)


def same_bits(first: xr.DataArray, second: xr.DataArray) -> bool:
    """Compare by name, bit for bit."""
    aligned = second.sel(example=first["example"], label=first["label"])
    return bool(np.array_equal(first.values, aligned.values))


ANSWERS: dict[str, st.SearchStrategy[object]] = {
    "single-label": lr.single_labels,
    "partial-ranking": lr.rankings(),
    "label-set": lr.label_sets,
    "soft-label": lr.soft_labels,
}


@pytest.mark.parametrize(
    ("kind", "aggregator", "equation", "ulps", "counts"),
    [
        (SingleLabel(), LabelFrequency(), lr.label_frequency, 0, True),
        (PartialRanking(), InverseRank(), lr.inverse_rank, 0, False),
        (LabelSet(), EqualSplit(), lr.equal_split, 0, True),
        (SoftLabel(), WeightedMean(), lr.weighted_mean, 24, False),
    ],
    ids=lambda item: getattr(item, "name", ""),
)
@settings(max_examples=50)
@given(data=st.data())
def test_plausibilities_are_those_of_the_equation(
    kind: Annotation,
    aggregator: Aggregator,
    equation: Callable[[lr.Records], lr.Exact],
    ulps: int,
    counts: bool,
    data: st.DataObject,
) -> None:
    """In units of a denominator where answers are counted; of single labels it is the votes."""
    records = data.draw(lr.records(ANSWERS[kind.name]))
    result = aggregated(kind, aggregator, records)
    exact = equation(records)
    lr.assert_exact(result, exact, ulps=ulps)
    assert ("denominator" in result.coords) == counts
    if counts:
        lr.assert_denominators(result, exact)
    if kind.name == "single-label":
        votes = [sum(r[0] == e for r in records) for e in result["example"].values]
        assert result["denominator"].values.tolist() == votes


@settings(max_examples=50)
@given(lr.records(lr.single_labels))
def test_a_single_label_is_a_ranking_of_one_and_a_set_of_one(records: lr.Records) -> None:
    frequency = aggregated(SingleLabel(), LabelFrequency(), records)
    assert same_bits(frequency, aggregated(SingleLabel(), InverseRank(), records))
    split = aggregated(SingleLabel(), EqualSplit(), records)
    xr.testing.assert_identical(frequency, split)


def test_long_rankings_leave_the_exact_path_but_not_the_equation() -> None:
    labels = [f"l{k:02}" for k in range(50)]  # lcm(1..50) is about 3e21
    records: lr.Records = [("e", "r", labels), ("e", "q", labels[::-1]), ("f", "r", labels[7:])]
    result = aggregated(PartialRanking(), InverseRank(), records, labels)
    exact = lr.inverse_rank([(e, q, [[k] for k in r]) for e, q, r in records])  # type: ignore[attr-defined]  # lists
    lr.assert_exact(result, exact, ulps=16)
    assert same_bits(result, aggregated(PartialRanking(), InverseRank(), records[::-1], labels))


def test_many_set_sizes_leave_the_denominator_but_not_the_equation() -> None:
    labels = [f"l{k:02}" for k in range(60)]
    records: lr.Records = [("e", f"r{size}", labels[:size]) for size in range(1, 60)]
    result = aggregated(LabelSet(), EqualSplit(), records, labels)
    lr.assert_exact(result, lr.equal_split(records), ulps=16)
    assert "denominator" not in result.coords


EVERY = [
    ("single-label", {"name": "label-frequency"}),
    ("single-label", {"name": "majority-vote"}),
    ("single-label", {"name": "majority-vote", "ties": "random"}),
    ("single-label", {"name": "dawid-skene", "iterations": 20}),
    ("single-label", {"name": "one-coin", "iterations": 20}),
    ("single-label", {"name": "worker-agreement"}),
    ("single-label", {"name": "weighted-vote", "others": 0.7}),
    ("single-label", {"name": "bootstrap", "draws": 3, "inner": "majority-vote"}),
    ("partial-ranking", {"name": "inverse-rank"}),
    ("partial-ranking", {"name": "borda"}),
    ("partial-ranking", {"name": "plackett-luce"}),
    ("partial-ranking", {"name": "dirichlet", "draws": 3}),
    ("partial-ranking", {"name": "plackett-luce-draws", "draws": 3, "warm_up": 5}),
    ("label-set", {"name": "label-set"}),
    ("soft-label", {"name": "soft-label"}),
    ("soft-label", {"name": "bootstrap", "draws": 3}),
]


@pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")
@pytest.mark.parametrize(("kind", "table"), EVERY, ids=str)
@settings(max_examples=8)
@given(data=st.data())
def test_no_order_other_example_or_further_draw_changes_a_bit(
    kind: str, table: dict[str, object], data: st.DataObject
) -> None:
    build, aggregator = resolve(ANNOTATION, kind).build, resolve(AGGREGATOR, table)
    records = data.draw(lr.records(ANSWERS[kind]))
    result = aggregator.aggregate(build(records, lr.LABELS), KEYS)
    shuffled = data.draw(st.permutations(records))
    if "draws" not in table and not aggregator.joint:  # else annotators count in their order
        renamed = dict(zip(lr.ANNOTATORS, data.draw(st.permutations(lr.ANNOTATORS)), strict=True))
        shuffled = [(e, renamed.get(str(q)), answer) for e, q, answer in shuffled]
    labels = data.draw(st.permutations(lr.LABELS))
    another = aggregator.aggregate(build(shuffled, labels), KEYS)
    assert another["label"].values.tolist() == labels
    assert same_bits(result, another)
    if not aggregator.joint:
        part = [record for record in records if str(record[0]) == str(records[0][0])]
        alone = aggregator.aggregate(build(part, lr.LABELS), KEYS)
        assert same_bits(alone, result)
    if "draws" in table:
        more = resolve(AGGREGATOR, {**table, "draws": 5})
        longer = more.aggregate(build(records, lr.LABELS), KEYS)
        assert same_bits(result, longer.isel(draw=slice(3)))


@given(lr.records(lr.single_labels), st.sampled_from(["first", "random", "fractional"]))
def test_majority_vote_credits_only_winners(records: lr.Records, ties: str) -> None:
    result = aggregated(SingleLabel(), MajorityVote(ties=ties), records)  # type: ignore[arg-type]  # drawn
    exact: lr.Exact = {}
    for example, row in lr.label_frequency(records).items():
        winners = [k for k in lr.LABELS if row.get(k) == max(row.values())]
        if ties == "random":
            chosen = result.sel(example=example)
            winners = [k for k in winners if float(chosen.sel(label=k))]
            assert len(winners) == 1
        winners = winners[:1] if ties == "first" else winners
        exact[example] = {k: Fraction(1, len(winners)) for k in winners}
    lr.assert_exact(result, exact)
    lr.assert_denominators(result, exact)


def test_random_ties_belong_to_the_example_and_the_seed() -> None:
    records: lr.Records = [
        (f"e{i}", q, k) for i in range(2000) for q, k in (("r", "a"), ("q", "b"))
    ]
    table = SingleLabel().build(records, ["a", "b"])
    vote = MajorityVote(ties="random")
    first = vote.aggregate(table, Keys(1))
    assert 0.45 < float(first.sel(label="a").mean()) < 0.55
    fewer = vote.aggregate(SingleLabel().build(records[1000:], ["a", "b"]), Keys(1))
    assert same_bits(fewer, first)
    assert not same_bits(first, vote.aggregate(table, Keys(2)))


def test_votes_that_are_not_whole_tie_to_twelve_digits() -> None:
    votes = SingleLabel().build([("e", None, label) for label in "aab"], ["a", "b"])
    # 0.1 + 0.2 is not 0.3
    table = rebuilt(votes.assign(response_weight=("response", [0.1, 0.2, 0.3])))
    result = MajorityVote().aggregate(table, KEYS)
    assert result.values.tolist() == [[0.5, 0.5]]
    shares = LabelFrequency().aggregate(table, KEYS)
    assert "denominator" not in shares.coords
    np.testing.assert_allclose(shares.values, [[0.5, 0.5]], rtol=1e-15)
