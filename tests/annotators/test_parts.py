"""Who differs and over which labels; nothing depends on rows, and intervals cover."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from eval_said import check, said

from .oracles import coders, table

LABELS = ["a", "b", "c"]
Records = list[tuple[object, object, object]]


def world(n: int = 60, *, odd: bool = False, seed: int = 0, of: int = 5) -> Records:
    """Five annotators who say what an example is with chance 0.7; the last one always says c."""
    rng = np.random.default_rng(seed)
    records: Records = []
    for i in range(n):
        truth = int(rng.integers(3))
        for q in range(of):
            said = truth if rng.random() < 0.7 else int(rng.integers(3))
            if odd and q == of - 1:
                said = 2
            records.append((f"e{i:03d}", f"w{q}", LABELS[said]))
    return records


@given(
    st.lists(
        st.lists(st.sampled_from(["a", "b", "c", None]), min_size=4, max_size=4),
        min_size=1,
        max_size=6,
    )
)
def test_annotators_by_hand(rows: list[list[str | None]]) -> None:
    records: Records = [
        (f"e{i}", f"w{q}" if q else None, said)
        for i, row in enumerate(rows)
        for q, said in enumerate(row)
        if said is not None
    ]
    if not records:
        return
    found = plausibly.agreement(table(records, LABELS), resamples=0).data
    for q in range(1, 4):
        if f"w{q}" not in found["annotator"].values:
            continue
        mine = found.sel(annotator=f"w{q}")
        alike, among, votes = [], [], []
        for row in rows:
            others = [said for place, said in enumerate(row) if place != q and said is not None]
            own = row[q]
            if own is None or not others:
                continue
            alike.append(others.count(own) / len(others))
            counts = Counter(others)
            top = [label for label in counts if counts[label] == max(counts.values())]
            votes.append((own in top) / len(top))
            if len(others) > 1:
                pairs = len(others) * (len(others) - 1)
                among.append(sum(c * (c - 1) for c in counts.values()) / pairs)
        assert int(mine["annotator_answers"]) == sum(row[q] is not None for row in rows)
        assert int(mine["annotator_compared"]) == len(alike)
        for name, values in (("agreement", alike), ("vote", votes), ("others", among)):
            got = float(mine[f"annotator_{name}"])
            assert got == pytest.approx(np.mean(values)) if values else math.isnan(got)


def test_one_who_says_one_label_too_much_is_noted() -> None:
    found = plausibly.agreement(table(world(odd=True), LABELS), resamples=0).data
    assert found["annotator_low"].values.tolist() == [False, False, False, False, True]
    odd = found.sel(annotator="w4")
    assert odd["annotator_says"].item() == "c"
    assert float(odd["annotator_says_share"]) == 1.0
    assert float(odd["annotator_says_others"]) < 0.45


def test_unknown_annotators_are_others_and_never_left_out() -> None:
    records: Records = [
        ("e", None, "a"),
        ("e", None, "a"),
        ("e", "w", "b"),
        ("f", None, "a"),
        ("f", None, "a"),
    ]
    found = plausibly.agreement(table(records, LABELS)).data
    vote = found.sel(measure="left-out-vote")
    assert float(vote["value"]) == 0.0  # w alone, on e alone
    assert found["annotator"].values.tolist() == ["w"]
    assert math.isnan(float(found["annotator_others"][0])) is False
    nobody = plausibly.agreement(table([r for r in records if r[1] is None], LABELS)).data
    vote = nobody.sel(measure="left-out-vote")
    assert math.isnan(float(vote["value"]))
    assert vote["reason"].item() == "no example with two answers says who gave one of them"


def test_the_vote_of_the_others_in_parts() -> None:
    """Without x the others tie between a and b: half; without y or z one of a and b is alone."""
    found = plausibly.agreement(
        table([("e", "x", "a"), ("e", "y", "a"), ("e", "z", "b")], LABELS)
    ).data
    by = {str(k): float(found["annotator_vote"].sel(annotator=k)) for k in "xyz"}
    assert by == {"x": 0.5, "y": 0.5, "z": 0.0}
    assert float(found["value"].sel(measure="left-out-vote")) == pytest.approx(1 / 3)


def test_if_one_says_k_another_does_too() -> None:
    """An answer is drawn, then another one to the same example, as in the coincidences."""
    rows = ["a a b b", "a b b c", "a a . c"]
    found = plausibly.agreement(table(coders("\n".join(rows)), LABELS), resamples=0).data
    units = ["aaa", "aba", "bb", "bcc"]
    for label in LABELS:
        named = sum(unit.count(label) for unit in units)
        both = sum(u.count(label) * (u.count(label) - 1) / (len(u) - 1) for u in units)
        assert float(found["label_again"].sel(label=label)) == pytest.approx(both / named)


def test_ties_unanimity_and_entropy() -> None:
    rows = ["a a a a", "a b b b", ". . a c"]
    found = plausibly.agreement(table(coders("\n".join(rows)), LABELS), resamples=0).data
    value = {str(m): float(found["value"].sel(measure=m)) for m in ("unanimous", "tied", "entropy")}
    third = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    assert value["unanimous"] == 0.25
    assert value["tied"] == 0.5
    assert value["entropy"] == pytest.approx((0 + math.log(2) + third + math.log(3)) / 4)


def shuffled(records: Records, seed: int) -> Records:
    order = np.random.default_rng(seed).permutation(len(records))
    return [records[place] for place in order]


@pytest.mark.parametrize("kind", ["single-label", "label-set", "partial-ranking"])
def test_nothing_depends_on_the_order_of_rows(kind: str) -> None:
    rng = np.random.default_rng(5)
    records: Records = []
    for example, who, first in world(25):
        more = [first, *(label for label in LABELS if label != first and rng.random() < 0.4)]
        records.append((example, who, first if kind == "single-label" else more))
    one = plausibly.agreement(table(records, LABELS, kind), resamples=50).data
    for seed in range(3):
        other = plausibly.agreement(table(shuffled(records, seed), LABELS, kind), resamples=50).data
        aligned = other.sel(example=one["example"], annotator=one["annotator"])
        xr.testing.assert_identical(aligned, one)


def test_intervals_are_keyed_by_name_and_seed() -> None:
    ann = table(world(30), LABELS)
    one, again, other = (
        plausibly.agreement(ann, seed=seed, resamples=80).data for seed in (1, 1, 2)
    )
    xr.testing.assert_identical(one, again)
    assert not np.array_equal(one["low"].values, other["low"].values)
    np.testing.assert_array_equal(one["value"].values, other["value"].values)


def test_clusters_that_repeat_themselves_count_once() -> None:
    """Each example four times under other names: by cluster the interval is as wide as before."""
    records = world(40)
    once = plausibly.agreement(table(records, LABELS), resamples=400).data
    copies: Records = [(f"{e}-{c}", w, said) for e, w, said in records for c in range(4)]
    ann = table(copies, LABELS)
    patient = [str(name).split("-")[0] for name in ann["example"].values]
    ann = ann.assign_coords(patient=("example", patient))
    plain = plausibly.agreement(ann, resamples=400).data
    clustered = plausibly.agreement(ann, resamples=400, cluster="patient").data
    assert clustered.attrs["clusters"] == 40

    def width(found: xr.Dataset) -> float:
        one = found.sel(measure="percent")
        return float(one["high"] - one["low"])

    assert width(clustered) == pytest.approx(width(once), rel=0.15)
    assert width(plain) == pytest.approx(width(once) / 2, rel=0.2)


def test_groups_are_what_their_examples_alone_give() -> None:
    records = world(40)
    ann = table(records, LABELS)
    site = np.array(["north", "south"])[np.arange(40) % 2]
    found = plausibly.agreement(
        ann.assign_coords(site=("example", site)), by="site", resamples=50
    ).data
    for group in ("north", "south"):
        part = plausibly.select_annotations(ann, example=ann["example"].values[site == group])
        alone = plausibly.agreement(part, resamples=0).data
        mine = found.sel(group=group)
        assert int(mine["group_examples"]) == 20
        np.testing.assert_allclose(mine["group_value"].values, alone["value"].values, atol=1e-12)
        low, value = mine["group_low"].values, mine["group_value"].values
        varies = value != 0  # no example of the south has a tied vote, so nothing varies
        assert (low[varies] <= value[varies] + 1e-12).all()
        assert np.isnan(low[~varies]).all()


TWICE = plausibly.plugin.build_table(
    "single-label",
    examples=["e", "f"],
    annotators=["x", "y"],
    labels=LABELS,
    response_example=[0, 0, 0, 1],
    response_annotator=[0, 0, 1, 1],
    mention_response=[0, 1, 2, 3],
    mention_label=[0, 0, 1, 0],
)


@said(__file__)
def test_what_is_said(call: str, text: str) -> None:
    check(call, text, globals())
