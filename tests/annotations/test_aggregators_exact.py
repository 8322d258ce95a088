"""Each aggregator against its equation in fractions, on records that hypothesis makes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import labelled_records as lr
from plausibly.data.annotations import rebuilt
from plausibly.plugin import Aggregator, Annotation, Keys, build_table
from plausibly_builtins.label_set.aggregators import EqualSplit
from plausibly_builtins.label_set.annotation import LabelSet
from plausibly_builtins.partial_ranking.annotation import PartialRanking
from plausibly_builtins.partial_ranking.points import InverseRank
from plausibly_builtins.single_label.annotation import SingleLabel
from plausibly_builtins.single_label.votes import LabelFrequency, MajorityVote
from plausibly_builtins.soft_label.annotation import SoftLabel
from plausibly_builtins.soft_label.weighted_mean import WeightedMean

KEYS = Keys(0, "aggregator")
Pair = tuple[Annotation, Aggregator, st.SearchStrategy[object]]
PAIRS: list[Pair] = [
    (SingleLabel(), LabelFrequency(), lr.single_labels),
    (SingleLabel(), MajorityVote(), lr.single_labels),
    (SingleLabel(), MajorityVote(ties="random"), lr.single_labels),
    (SingleLabel(), InverseRank(), lr.single_labels),
    (SingleLabel(), EqualSplit(), lr.single_labels),
    (PartialRanking(), InverseRank(), lr.rankings()),
    (LabelSet(), EqualSplit(), lr.label_sets),
    (SoftLabel(), WeightedMean(), lr.soft_labels),
]
FEWER = settings(max_examples=15)  # each of these runs once a pair
each_pair = pytest.mark.parametrize("pair", PAIRS)


def aggregated(
    kind: Annotation, aggregator: Aggregator, records: lr.Records, labels: list[str] = lr.LABELS
) -> xr.DataArray:
    return aggregator.aggregate(kind.build(records, labels), KEYS)


def same_bits(one: xr.DataArray, other: xr.DataArray) -> bool:
    """Compare by name, bit for bit."""
    aligned = other.sel(example=one["example"], label=one["label"])
    return bool(np.array_equal(one.values, aligned.values))


@given(lr.records(lr.single_labels))
def test_label_frequency_is_the_share_of_votes(records: lr.Records) -> None:
    found = aggregated(SingleLabel(), LabelFrequency(), records)
    lr.assert_exact(found, lr.label_frequency(records))
    lr.assert_denominators(found, lr.label_frequency(records))
    votes = {e: sum(r[0] == e for r in records) for e in found["example"].values}
    assert dict(zip(votes, found["denominator"].values, strict=True)) == votes


@given(lr.records(lr.rankings()))
def test_inverse_rank_divides_by_rank_and_block_size(records: lr.Records) -> None:
    lr.assert_exact(aggregated(PartialRanking(), InverseRank(), records), lr.inverse_rank(records))


@given(lr.records(lr.label_sets))
def test_label_sets_split_each_response_equally(records: lr.Records) -> None:
    found = aggregated(LabelSet(), EqualSplit(), records)
    lr.assert_exact(found, lr.equal_split(records))
    lr.assert_denominators(found, lr.equal_split(records))


@given(lr.records(lr.soft_labels))
def test_soft_labels_are_averaged_after_normalising_each(records: lr.Records) -> None:
    found = aggregated(SoftLabel(), WeightedMean(), records)
    lr.assert_exact(found, lr.weighted_mean(records), ulps=24)
    assert "denominator" not in found.coords


@given(lr.records(lr.single_labels))
def test_a_single_label_is_a_ranking_of_one_and_a_set_of_one(records: lr.Records) -> None:
    frequency = aggregated(SingleLabel(), LabelFrequency(), records)
    assert same_bits(frequency, aggregated(SingleLabel(), InverseRank(), records))
    split = aggregated(SingleLabel(), EqualSplit(), records)
    xr.testing.assert_identical(frequency, split)


def test_inverse_rank_of_a_tie_above_a_lone_label() -> None:
    """The documented surprise: three tied first weigh less than one alone in the second rank."""
    found = aggregated(
        PartialRanking(), InverseRank(), [("e", "r", [["a", "b", "c"], "d"])], [*"abcd"]
    )
    assert found.values.tolist() == [[2 / 9, 2 / 9, 2 / 9, 1 / 3]]


def test_long_rankings_leave_the_exact_path_but_not_the_equation() -> None:
    labels = [f"l{k:02}" for k in range(50)]  # lcm(1..50) is about 3e21
    records: lr.Records = [("e", "r", labels), ("e", "q", labels[::-1]), ("f", "r", labels[7:])]
    found = aggregated(PartialRanking(), InverseRank(), records, labels)
    exact = lr.inverse_rank([(e, q, [[k] for k in r]) for e, q, r in records])  # type: ignore[attr-defined]  # lists
    lr.assert_exact(found, exact, ulps=16)
    assert same_bits(found, aggregated(PartialRanking(), InverseRank(), records[::-1], labels))


def test_many_set_sizes_leave_the_denominator_but_not_the_equation() -> None:
    labels = [f"l{k:02}" for k in range(60)]
    records: lr.Records = [("e", f"r{size}", labels[:size]) for size in range(1, 60)]
    found = aggregated(LabelSet(), EqualSplit(), records, labels)
    lr.assert_exact(found, lr.equal_split(records), ulps=16)
    assert "denominator" not in found.coords


@each_pair
@FEWER
@given(data=st.data())
def test_the_order_of_records_does_not_matter(pair: Pair, data: st.DataObject) -> None:
    kind, aggregator, answers = pair
    records = data.draw(lr.records(answers))
    permuted = data.draw(st.permutations(records))
    one, other = kind.build(records, lr.LABELS), kind.build(permuted, lr.LABELS)
    xr.testing.assert_identical(one, other)
    xr.testing.assert_identical(aggregator.aggregate(one, KEYS), aggregator.aggregate(other, KEYS))


@each_pair
@FEWER
@given(data=st.data())
def test_who_the_annotators_are_does_not_matter(pair: Pair, data: st.DataObject) -> None:
    kind, aggregator, answers = pair
    records = data.draw(lr.records(answers))
    renamed = dict(zip(lr.ANNOTATORS, data.draw(st.permutations(lr.ANNOTATORS)), strict=True))
    others: lr.Records = [(e, renamed.get(str(q)), answer) for e, q, answer in records]
    assert same_bits(aggregated(kind, aggregator, records), aggregated(kind, aggregator, others))


@each_pair
@FEWER
@given(data=st.data())
def test_the_order_of_the_labels_does_not_matter(pair: Pair, data: st.DataObject) -> None:
    kind, aggregator, answers = pair
    records = data.draw(lr.records(answers))
    labels = data.draw(st.permutations(lr.LABELS))
    found = aggregated(kind, aggregator, records, labels)
    assert found["label"].values.tolist() == labels
    assert same_bits(aggregated(kind, aggregator, records), found)


@each_pair
@FEWER
@given(data=st.data())
def test_weights_are_repeated_responses(pair: Pair, data: st.DataObject) -> None:
    kind, aggregator, answers = pair
    records = data.draw(lr.records(answers))
    times = data.draw(st.lists(st.integers(1, 4), min_size=len(records), max_size=len(records)))
    repeated: lr.Records = [
        (e, None, answer)
        for (e, _, answer), number in zip(records, times, strict=True)
        for _ in range(number)
    ]
    # annotators that keep the order of the records: one each
    alone = kind.build([(e, f"{i:03}", a) for i, (e, _, a) in enumerate(records)], lr.LABELS)
    weight = np.array(times)[
        [int(alone["annotator"].values[q]) for q in alone["response_annotator"]]
    ]
    weighted = rebuilt(alone.assign(response_weight=("response", weight)))
    one = aggregator.aggregate(weighted, KEYS)
    other = aggregated(kind, aggregator, repeated)
    np.testing.assert_allclose(one.values, other.values, rtol=1e-14, atol=0)
    if "denominator" in one.coords:
        assert one.identical(other)


@each_pair
def test_full_width_names_and_attributes(pair: Pair) -> None:
    kind, aggregator, _ = pair
    given_: dict[str, object] = {"soft-label": {"a": 3}, "single-label": "a"}
    answer = given_.get(kind.name, ["a"])
    found = aggregated(kind, aggregator, [(7, "r", answer), ("x", 1, answer)], [*"cab"])
    assert found.dims == ("example", "label")
    assert found.name == "plausibilities"
    assert found.dtype == np.float64
    assert found["example"].values.tolist() == ["7", "x"]
    assert found["label"].values.tolist() == ["c", "a", "b"]
    assert found.values.tolist() == [[0, 1, 0], [0, 1, 0]]
    assert found.attrs == {}


@given(lr.records(lr.single_labels), st.sampled_from(["first", "random", "fractional"]))
def test_majority_vote_credits_only_winners(records: lr.Records, ties: str) -> None:
    found = aggregated(SingleLabel(), MajorityVote(ties=ties), records)  # type: ignore[arg-type]  # drawn
    exact: lr.Exact = {}
    for example, row in lr.label_frequency(records).items():
        winners = [k for k in lr.LABELS if row.get(k) == max(row.values())]
        if ties == "random":
            chosen = found.sel(example=example)
            winners = [k for k in winners if float(chosen.sel(label=k))]
            assert len(winners) == 1
        winners = winners[:1] if ties == "first" else winners
        exact[example] = {k: Fraction(1, len(winners)) for k in winners}
    lr.assert_exact(found, exact)
    lr.assert_denominators(found, exact)


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
    table = build_table(
        "single-label",
        examples=["e"],
        annotators=[],
        labels=["a", "b"],
        response_example=[0, 0, 0],
        response_annotator=[-1, -1, -1],
        response_weight=[0.1, 0.2, 0.3],  # 0.1 + 0.2 is not 0.3
        mention_response=[0, 1, 2],
        mention_label=[0, 0, 1],
    )
    found = MajorityVote().aggregate(table, KEYS)
    assert found.values.tolist() == [[0.5, 0.5]]
    shares = LabelFrequency().aggregate(table, KEYS)
    assert "denominator" not in shares.coords
    np.testing.assert_allclose(shares.values, [[0.5, 0.5]], rtol=1e-15)
