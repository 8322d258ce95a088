"""Annotators and labels that differ, certainty, independence of rows; ``plausibly agreement``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from numpy.typing import ArrayLike

import plausibly
from call_files import each_call
from cli_world import World, make, run
from memory import at_most
from plausibly.annotators import (
    Agreement,
    annotation_certainty,
    label_disagreement,
    uncertainty_adjusted_accuracy,
)
from refusals import refused
from tables import labelled

from .oracles import coders, table

LABELS = ["a", "b", "c"]
Records = list[tuple[object, object, object]]


def crowd(n: int = 60) -> Records:
    """Five annotators who say what an example is with chance 0.7."""
    rng = np.random.default_rng(0)
    records: Records = []
    for i in range(n):
        truth = int(rng.integers(3))
        for q in range(5):
            said = truth if rng.random() < 0.7 else int(rng.integers(3))
            records.append((f"e{i:03d}", f"w{q}", LABELS[said]))
    return records


@settings(max_examples=30)
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
    result = plausibly.agreement(table(records, LABELS), resamples=0).data
    for q in range(1, 4):
        if f"w{q}" not in result["annotator"].values:
            continue
        mine = result.sel(annotator=f"w{q}")
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
            actual = float(mine[f"annotator_{name}"])
            assert actual == pytest.approx(np.mean(values)) if values else math.isnan(actual)


def test_a_second_answer_repeats_the_label_of_the_first() -> None:
    """An answer is drawn, then another one to the same example, as in the coincidences."""
    rows = ["a a b b", "a b b c", "a a . c"]
    result = plausibly.agreement(table(coders("\n".join(rows)), LABELS), resamples=0).data
    units = ["aaa", "aba", "bb", "bcc"]
    for label in LABELS:
        named = sum(unit.count(label) for unit in units)
        both = sum(u.count(label) * (u.count(label) - 1) / (len(u) - 1) for u in units)
        assert float(result["label_again"].sel(label=label)) == pytest.approx(both / named)


@pytest.mark.parametrize("kind", ["single-label", "label-set", "partial-ranking"])
def test_nothing_depends_on_the_order_of_rows(kind: str) -> None:
    rng = np.random.default_rng(5)
    records: Records = []
    for example, who, first in crowd(25):
        more = [first, *(label for label in LABELS if label != first and rng.random() < 0.4)]
        records.append((example, who, first if kind == "single-label" else more))
    item = plausibly.agreement(table(records, LABELS, kind), resamples=50).data
    for _ in range(3):
        shuffled = [records[place] for place in rng.permutation(len(records))]
        second = plausibly.agreement(table(shuffled, LABELS, kind), resamples=50).data
        aligned = second.sel(example=item["example"], annotator=item["annotator"])
        xr.testing.assert_identical(aligned, item)


def test_clusters_that_repeat_themselves_count_once() -> None:
    """Each example four times under other names: by cluster the interval is as wide as before."""
    records = crowd(40)
    once = plausibly.agreement(table(records, LABELS), resamples=400).data
    copies: Records = [(f"{e}-{c}", w, said) for e, w, said in records for c in range(4)]
    ann = table(copies, LABELS)
    patient = [str(name).split("-")[0] for name in ann["example"].values]
    ann = ann.assign_coords(patient=("example", patient))
    plain = plausibly.agreement(ann, resamples=400).data
    clustered = plausibly.agreement(ann, resamples=400, cluster="patient").data
    assert clustered.attrs["clusters"] == 40

    def width(result: xr.Dataset) -> float:
        item = result.sel(measure="percent")
        return float(item["high"] - item["low"])

    assert width(clustered) == pytest.approx(width(once), rel=0.15)
    assert width(plain) == pytest.approx(width(once) / 2, rel=0.2)


def test_groups_are_what_their_examples_alone_give() -> None:
    records = crowd(40)
    ann = table(records, LABELS)
    site = np.array(["north", "south"])[np.arange(40) % 2]
    result = plausibly.agreement(
        ann.assign_coords(site=("example", site)), by="site", resamples=50
    ).data
    for group in ("north", "south"):
        part = plausibly.select_annotations(ann, example=ann["example"].values[site == group])
        alone = plausibly.agreement(part, resamples=0).data
        mine = result.sel(group=group)
        assert int(mine["group_examples"]) == 20
        np.testing.assert_allclose(mine["group_value"].values, alone["value"].values, atol=1e-12)
        low, value = mine["group_low"].values, mine["group_value"].values
        varies = value != 0  # no example of the south has a tied vote, so nothing varies
        assert (low[varies] <= value[varies] + 1e-12).all()
        assert np.isnan(low[~varies]).all()


def drawn(draws: ArrayLike, labels: Sequence[str] = LABELS) -> xr.DataArray:
    values = np.asarray(draws)
    return xr.DataArray(
        values,
        dims=("draw", "example", "label"),
        coords={"example": [f"e{i}" for i in range(values.shape[1])], "label": list(labels)},
    )


VOTES = table([("e", "x", "a"), ("e", "y", "a"), ("e", "z", "b")], LABELS)
UNKNOWN = table([(e, None, "a") for e in "eeff"] + [("e", "w", "b")], LABELS)
RISK = {"a": "low", "b": "low", "c": "high"}
FOUR = drawn(
    [
        [[0.6, 0.3, 0.1], [0.5, 0.5, 0.0]],
        [[0.5, 0.4, 0.1], [0.2, 0.8, 0.0]],
        [[0.3, 0.6, 0.1], [0.1, 0.2, 0.7]],
        [[0.6, 0.1, 0.3], [0.4, 0.4, 0.2]],
    ]
)
PREDICTED = labelled([[0.2, 0.7, 0.1], [0.4, 0.4, 0.2]])


@pytest.mark.parametrize("labels", [3, 100])
def test_labels_without_mass_are_in_no_set(labels: int) -> None:
    values = np.zeros((40, 2, labels))
    values[:, 0, 0] = 1.0  # all say one label
    values[:20, 1, :2], values[20:, 1, 2] = 0.5, 1.0
    names = [f"k{place}" for place in range(labels)]
    risk = {name: "low" if place < 2 else "high" for place, name in enumerate(names)}
    result = annotation_certainty(drawn(values, names), top=2, risk=risk)
    assert result["certainty"].values.tolist() == [1.0, 0.5]
    assert result["level_certainty"].values.tolist() == [1.0, 0.5]


def test_ties_do_not_depend_on_the_order_of_labels_or_on_rounding() -> None:
    plausibilities = drawn(np.tile([0.5, 0.25, 0.25 * (1 + 1e-15), 0.0], (200, 5, 1)), "abcd")
    risk = {"a": "low", "b": "low", "c": "high", "d": "high"}
    first = annotation_certainty(plausibilities, top=2, risk=risk)
    assert float(first["certainty"].max()) < 0.65
    for order in ([2, 1, 0, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
        again = annotation_certainty(
            plausibilities.isel(label=order), top=2, risk=risk, order=["low", "high"]
        )
        for name in ("certainty", "mean", "low", "high", "level_certainty", "level_mean"):
            np.testing.assert_array_equal(first[name].values, again[name].values)


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_accuracy_is_the_mean_over_draws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plausibilities = drawn(rng.dirichlet([1, 1, 1], size=(5, 4)))
    model = labelled(rng.dirichlet([1, 1, 1], size=4))
    result = uncertainty_adjusted_accuracy(model, plausibilities, top=2)
    first = plausibilities.values.argmax(axis=-1)
    held = np.argsort(-model.values, axis=1)[:, :2]
    hits = (first[:, :, None] == held[None]).any(axis=-1)
    np.testing.assert_allclose(result["example_accuracy"].values[:, 0], hits.mean(axis=0))
    np.testing.assert_allclose(result["draw_accuracy"].values[:, 0], hits.mean(axis=1))


def test_nothing_depends_on_the_order_of_rows_and_labels() -> None:
    rng = np.random.default_rng(3)
    plausibilities = drawn(rng.dirichlet([1, 1, 1], size=(6, 9)))
    model = plausibilities.mean("draw")
    risk = {"a": "low", "b": "high", "c": "low"}
    first = uncertainty_adjusted_accuracy(model, plausibilities, risk=risk)
    turned = plausibilities.isel(example=slice(None, None, -1), label=[2, 0, 1])
    second = uncertainty_adjusted_accuracy(model, turned, risk=risk)
    xr.testing.assert_allclose(first, second)
    certain, again = (annotation_certainty(item, top=2) for item in (plausibilities, turned))
    np.testing.assert_array_equal(certain["certainty"].values, again["certainty"].values[::-1])
    assert float(certain["mean"]) == float(again["mean"])


MANY = 20_000


@pytest.mark.parametrize("kind", ["single-label", "partial-ranking"])
def test_memory_goes_by_labels_that_are_named(kind: str) -> None:
    rng = np.random.default_rng(2)
    named = [f"k{code:05}" for code in sorted(rng.choice(MANY, 12, replace=False))]
    records: list[tuple[str, str, object]] = []
    for place in range(60):
        for by in "xyz":
            said = rng.choice(named, 3, replace=False).tolist()
            records.append((f"e{place}", by, said[0] if kind == "single-label" else said))
    every = [f"k{code:05}" for code in range(MANY)]
    few, large = (table(records, labels, kind=kind) for labels in (named, every))
    expected = plausibly.agreement(few, resamples=200).data
    with at_most(28):  # (label, replicate) alone would be 40
        result = plausibly.agreement(large, resamples=200).data
    for name in [str(name) for name in expected if str(name).startswith("label_")]:
        mine = result[name].sel(label=named).values
        np.testing.assert_allclose(mine, expected[name].values, rtol=1e-12, err_msg=name)
    others = result.drop_sel(label=named)
    assert (others["label_answers"] == 0).all()
    assert (others["label_share"] == 0).all()
    assert np.isnan(others["label_again"]).all()
    if kind != "partial-ranking":  # there, labels that are not listed share the places left
        np.testing.assert_allclose(result["value"].values, expected["value"].values, rtol=1e-12)


# ---- which labels are said beside which


@settings(max_examples=10)
@given(
    st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5), min_size=1, max_size=6).filter(
        lambda votes: max(map(len, votes)) > 1
    )
)
def test_every_pair_of_answers_is_counted(votes: list[list[int]]) -> None:
    wanted = np.zeros((3, 3))
    compared = [part for part in votes if len(part) > 1]
    for part in compared:
        pairs = Counter(permutations(part, 2))
        for pair, count in pairs.items():
            wanted[pair] += count / sum(pairs.values()) / len(compared)
    rows = [(f"e{i}", None, LABELS[k]) for i, part in enumerate(votes) for k in part]
    result = label_disagreement(table(rows, LABELS))
    np.testing.assert_allclose(result["together"].values, wanted, atol=1e-12)
    np.testing.assert_allclose(result["share"].values, wanted.sum(axis=1), atol=1e-12)
    assert result.attrs == {"n": len(votes), "compared": len(compared), "pairs": "answers"}
    both = [[sum(a in s and b in s for s in compared) for b in range(3)] for a in range(3)]
    assert result["examples"].values.tolist() == both


def test_of_plausibilities_both_labels_are_drawn() -> None:
    shares = plausibly.aggregate(table(crowd(), LABELS))
    result = label_disagreement(shares)
    expected = shares.values.T @ shares.values / len(shares)
    np.testing.assert_allclose(result["together"].values, expected)
    assert result.attrs["pairs"] == "draws"
    assert result.identical(label_disagreement(shares[::-1]))


def test_one_answer_each_makes_no_pair() -> None:
    with refused("pairs-none", 'plausibly.aggregate(annotations, "dawid-skene")'):
        label_disagreement(table([("e", "x", "a"), ("f", "x", "b")], LABELS))


# ---- the command


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    made = make(tmp_path)
    made.write("labels.csv", "label,risk\ncat,low\ndog,low\nfox,high\n")
    made.write("counts.csv", "example,a,b\ne1,3,1\ne2,0,2\ne3,1,0\n")
    return made


def test_json_equals_the_result_in_python(world: World) -> None:
    words = "agreement -a votes.csv -e patients.csv --by site --cluster patient --labels labels.csv"
    more = ("--set", "agreement.draws=20", "--risk", "risk", "--json")
    document = run(*words.split(), *more).document
    annotations = plausibly.read_annotations(world.path("votes.csv"))
    result = plausibly.agreement(annotations).data.set_index(measure="measure")
    for row in document["measures"]:
        assert row["value"] == float(result["value"].sel(measure=row["measure"]))
    assert document["clusters"] == 15
    assert set(document["certainty"]) >= {"draws", "mean", "level_mean", "by_example"}
    assert {row["group"] for row in document["by_group"]} == {"north", "south"}
    assert [row["label"] for row in document["by_label"]] == ["cat", "dog", "fox"]
    assert {"answers", "agreement", "low", "says"} <= set(document["by_annotator"][0])
    assert document["annotations"]["responses"] == 90


def test_many_groups_and_labels_are_cut() -> None:
    rng = np.random.default_rng(0)
    labels = [f"label {k:02d}" for k in range(30)]
    records = [
        (f"e{i}", w, labels[i % 30 if rng.random() < 0.6 else int(rng.integers(30))])
        for i in range(120)
        for w in "xyz"
    ]
    ann = table(records, labels)
    ann = ann.assign_coords(patient=("example", [f"p{i // 4}" for i in range(120)]))
    text = "\n".join(Agreement(plausibly.agreement(ann, by="patient", resamples=0).data).lines())
    assert "agreement by label, the 12 most frequent of 30: " in " ".join(text.split())
    assert "by patient: the 10 of 30 with the lowest agreement" in text
    assert all(len(line) <= 80 for line in text.splitlines())


# In a folder of files, which the commands read.
test_each_call_gives_its_text = each_call(__file__, globals(), "world")
