"""Measures of agreement against their definitions, published examples and users' reports."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly

from .oracles import (
    FOUR_CODERS,
    PSYCHIATRIC,
    alpha,
    by_example,
    coders,
    counted_table,
    fleiss,
    jaccard,
    masi,
    nominal,
    ordinal,
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


def value(found: xr.Dataset, measure: str) -> float:
    return float(found["value"].sel(measure=measure))


def same(found: xr.Dataset, measure: str, expected: Fraction | None) -> None:
    got = value(found, measure)
    if expected is None:
        assert math.isnan(got)
        assert str(found["reason"].sel(measure=measure).item())
    else:
        assert got == pytest.approx(float(expected), abs=1e-12)


@given(SINGLE)
def test_single_labels_by_definition(answers: list[list[object]]) -> None:
    records = records_of(answers)
    if not records:
        return
    found = plausibly.agreement(table(records, LABELS), order=LABELS, resamples=0).data
    units = list(by_example(records).values())
    same(found, "percent", pair_mean(units, nominal))
    same(found, "fleiss-kappa", fleiss(units))
    same(found, "krippendorff-nominal", alpha(units, nominal))
    same(found, "krippendorff-ordinal", alpha(units, ordinal(units, LABELS)))

    def step(one: object, other: object) -> Fraction:
        return Fraction(int(abs(LABELS.index(str(one)) - LABELS.index(str(other))) > 1))

    same(found, "neighbouring", pair_mean(units, step))


@given(SETS)
def test_label_sets_by_definition(answers: list[list[object]]) -> None:
    records = records_of(answers)
    if not records:
        return
    found = plausibly.agreement(table(records, LABELS, "label-set"), resamples=0).data
    units = list(by_example(records).values())
    for name, distance in (("jaccard", jaccard), ("masi", masi)):
        same(found, name, pair_mean(units, distance))
        same(found, f"krippendorff-{name}", alpha(units, distance))
    same(found, "percent", pair_mean(units, nominal))
    same(found, "krippendorff-nominal", alpha(units, nominal))


def test_krippendorff_published_example() -> None:
    found = plausibly.agreement(table(coders(FOUR_CODERS)), order=list("12345")).data
    assert value(found, "krippendorff-nominal") == pytest.approx(0.743, abs=5e-4)
    assert value(found, "krippendorff-ordinal") == pytest.approx(0.815, abs=5e-4)
    assert found.attrs["compared"] == 11  # the last unit has one value


def test_fleiss_1971() -> None:
    found = plausibly.agreement(counted_table(PSYCHIATRIC), resamples=0).data
    assert found["label_answers"].values.tolist() == [26, 26, 30, 55, 43]
    assert value(found, "fleiss-kappa") == pytest.approx(0.430, abs=5e-4)
    assert found["label_kappa"].values == pytest.approx(
        [0.245, 0.245, 0.520, 0.471, 0.566], abs=6e-4
    )


def test_votes_and_counts_say_the_same() -> None:
    counts = [[3, 1, 0], [0, 2, 2], [5, 0, 0], [1, 1, 1]]
    votes = [
        (f"e{row}", f"w{row}-{k}-{again}", str(k + 1))
        for row, line in enumerate(counts)
        for k, times in enumerate(line)
        for again in range(times)
    ]
    one = plausibly.agreement(counted_table("|".join(" ".join(map(str, r)) for r in counts))).data
    other = plausibly.agreement(table(votes, ["1", "2", "3"])).data
    known = one["measure"].values != "left-out-vote"
    for name in ("value", "low", "high"):
        np.testing.assert_array_equal(one[name].values[known], other[name].values[known])
    for name in ("label_again", "label_again_low", "label_kappa", "example_agreement"):
        np.testing.assert_array_equal(one[name].values, other[name].values)


# ---- what users of other libraries reported


def test_none_is_no_label() -> None:
    """[1, 1, 2], [1, 1, None], [None, 1, 2]: full agreement."""
    records = coders("1 1 2\n1 1 .\n. 1 2")
    skipped = [*records, ("u02", "c1", None), ("u00", "c2", None)]
    for given_records in (records, skipped):
        found = plausibly.agreement(table(given_records)).data
        assert value(found, "krippendorff-nominal") == 1.0


def test_an_example_with_one_answer_is_left_out() -> None:
    records = coders("yes yes yes\nno no .\n. no .")
    found = plausibly.agreement(table(records)).data
    assert value(found, "krippendorff-nominal") == pytest.approx(-1 / 3, abs=1e-4)
    assert found["example_answers"].values.tolist() == [2, 3, 1]


def test_expected_disagreement_of_none() -> None:
    """(c1, 1, 1), (c2, 1, 1), (c1, 2, 2): nobody can disagree; a reason instead of a crash."""
    found = plausibly.agreement(table([("1", "c1", "1"), ("1", "c2", "1"), ("2", "c1", "2")])).data
    for name in ("krippendorff-nominal", "fleiss-kappa"):
        assert math.isnan(value(found, name))
        assert found["reason"].sel(measure=name).item() == (
            "all 2 answers are the same: there is no disagreement that chance could explain"
        )
    assert value(found, "percent") == 1.0


def test_one_value_everywhere_in_every_kind() -> None:
    sets = [(f"e{i}", w, ["a", "b"]) for i in range(3) for w in "xy"]
    rankings = [(f"e{i}", w, ["a", "b"]) for i in range(3) for w in "xy"]
    for kind, records in (("label-set", sets), ("partial-ranking", rankings)):
        found = plausibly.agreement(table(records, LABELS, kind)).data
        for name, reason in zip(found["measure"].values, found["reason"].values, strict=True):
            if name.startswith("krippendorff"):
                assert math.isnan(value(found, str(name)))
                assert reason.startswith("all 6 answers are the same")
        assert value(found, "percent") == value(found, "unanimous") == 1.0


def test_one_odd_answer_among_many_gives_zero_and_is_explained() -> None:
    """Five annotators, one 1 among 3s: alpha near 0 is right; agreement stands beside it."""
    rows = ["3 3 3 3 3"] * 4 + ["3 3 3 3 1"]
    found = plausibly.agreement(table(coders("\n".join(rows)))).data
    assert value(found, "krippendorff-nominal") == pytest.approx(0.0, abs=0.01)
    assert value(found, "percent") == pytest.approx(0.92)
    text = str(plausibly.annotators.Agreement(found))
    assert "agreement by chance is frequent" in " ".join(text.split())


def test_one_annotator_is_no_pair() -> None:
    found = plausibly.agreement(table(coders("1 2 3 1")), order=["1", "2", "3"]).data
    assert np.isnan(found["value"].values).all()
    assert np.isnan(found["low"].values).all()
    assert set(found["reason"].values) <= {
        "no example has answers of two annotators",
        "no example has two answers",
    }
    assert np.isnan(found["annotator_agreement"].values).all()
    assert found["annotator_answers"].values.tolist() == [4]


def test_an_annotator_without_answer_is_kept() -> None:
    ann = plausibly.plugin.build_table(
        "single-label",
        examples=["e", "f"],
        annotators=["x", "y", "nobody"],
        labels=["a", "b", "never"],
        response_example=[0, 0, 1, 1],
        response_annotator=[0, 1, 0, 1],
        mention_response=[0, 1, 2, 3],
        mention_label=[0, 0, 0, 1],
    )
    found = plausibly.agreement(ann).data
    assert found["annotator_answers"].sel(annotator="nobody") == 0
    assert math.isnan(found["annotator_agreement"].sel(annotator="nobody"))
    assert math.isnan(found["label_again"].sel(label="never"))
    assert found["label_answers"].sel(label="never") == 0


def test_too_many_different_sets_have_no_alpha_by_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plausibly.annotators.measures.MOST_VALUES", 2)
    rows = [["a"], ["b"], ["a", "b"]]
    records: Records = [("e", f"w{q}", said) for q, said in enumerate(rows)]
    found = plausibly.agreement(table(records, LABELS, "label-set")).data
    one = found.sel(measure="krippendorff-jaccard")
    assert math.isnan(float(one["value"]))
    assert one["reason"].item() == ("more than 2 different answers: their distances are too many")
    assert value(found, "jaccard") == pytest.approx(1 / 3)
