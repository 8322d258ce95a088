"""Average overlap of rankings with ties, against all ways to break them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import plausibly
from eval_said import check, said
from plausibly.annotators import average_overlap

from .oracles import overlap, table

LABELS = ["a", "b", "c", "d"]


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
def test_it_is_the_mean_over_all_ways_to_break_ties(
    one: list[list[str]], other: list[list[str]], depth: int
) -> None:
    plain = average_overlap(one, other, LABELS, depth=depth, normalise=False)
    assert plain == pytest.approx(overlap(one, other, LABELS, depth))
    scale = math.sqrt(overlap(one, one, LABELS, depth) * overlap(other, other, LABELS, depth))
    normalised = average_overlap(one, other, LABELS, depth=depth)
    assert normalised == pytest.approx(overlap(one, other, LABELS, depth) / scale)
    assert average_overlap(other, one, LABELS, depth=depth) == pytest.approx(normalised)
    assert average_overlap(one, one, LABELS, depth=depth) == pytest.approx(1.0)


@given(
    st.lists(st.lists(rankings(), min_size=1, max_size=3), min_size=1, max_size=4),
    st.integers(1, 4),
)
def test_the_table_says_the_same_as_pairs(answers: list[list[list[list[str]]]], depth: int) -> None:
    records = [
        (f"e{i}", f"w{j}", said) for i, row in enumerate(answers) for j, said in enumerate(row)
    ]
    found = plausibly.agreement(
        table(records, LABELS, "partial-ranking"), depth=depth, resamples=0
    ).data
    for name, normalise in (("average-overlap", False), ("partial-average-overlap", True)):
        means = [
            np.mean(
                [
                    average_overlap(row[a], row[b], LABELS, depth=depth, normalise=normalise)
                    for a in range(len(row))
                    for b in range(len(row))
                    if a != b
                ]
            )
            for row in answers
            if len(row) > 1
        ]
        got = float(found["value"].sel(measure=name))
        if means:
            assert got == pytest.approx(float(np.mean(means)))
        else:
            assert math.isnan(got)
    pool = [said for row in answers if len(row) > 1 for said in row]
    n = len(pool)
    apart = sum(1 - average_overlap(a, b, LABELS, depth=depth) for a in pool for b in pool)
    seen = sum(
        (1 - average_overlap(row[a], row[b], LABELS, depth=depth)) / (len(row) - 1)
        for row in answers
        for a in range(len(row))
        for b in range(len(row))
        if a != b
    )
    got = float(found["value"].sel(measure="krippendorff-overlap"))
    if apart > 1e-9:
        assert got == pytest.approx(1 - (n - 1) * seen / apart)
    else:
        assert math.isnan(got)


def test_strict_rankings_by_hand() -> None:
    # overlaps at 1, 2, 3: 0, 1/2 * 2, 2/3 -> (0 + 1 + 2/3) / 3
    assert average_overlap("abc", "bad", 10, depth=3, normalise=False) == pytest.approx(5 / 9)
    assert average_overlap("abc", "bad", 10) == pytest.approx(5 / 9)
    assert average_overlap("abc", "abc", 3, depth=6) == 1.0  # no more places than labels
    assert average_overlap([], "abc", 3) == 0.0


def test_ties_by_hand() -> None:
    # {a, b} > c: at 1 each half, at 2 both; with a > b > c: 1/2, 1, 1
    got = average_overlap([["a", "b"], "c"], "abc", 3, normalise=False)
    assert got == pytest.approx((0.5 + 1 + 1) / 3)


def test_where_unlisted_labels_are_unknown_they_have_no_place() -> None:
    records = [("e", "x", ["a"]), ("e", "y", ["b"])]
    ann = table(records, LABELS, "partial-ranking")
    excluded = plausibly.agreement(ann, depth=2).data
    assert float(excluded["value"].sel(measure="average-overlap")) > 0
    unknown = plausibly.plugin.build_table(
        "partial-ranking",
        examples=["e"],
        annotators=["x", "y"],
        labels=LABELS,
        response_example=[0, 0],
        response_annotator=[0, 1],
        mention_response=[0, 1],
        mention_label=[0, 1],
        mention_block=[1, 1],
        unlisted="unknown",
    )
    found = plausibly.agreement(unknown, depth=2).data
    assert float(found["value"].sel(measure="average-overlap")) == 0.0


def test_first_choice_is_a_drawn_label() -> None:
    records = [
        ("e", "x", [["a", "b"]]),
        ("e", "y", [["a"], "b"]),
        ("f", "x", ["a"]),
        ("f", "y", ["c"]),
    ]
    found = plausibly.agreement(table(records, LABELS, "partial-ranking")).data
    assert float(found["value"].sel(measure="first-choice")) == pytest.approx(0.25)


@said(__file__)
def test_the_text(call: str, text: str) -> None:
    check(call, text, globals())
