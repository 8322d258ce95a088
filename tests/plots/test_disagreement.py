"""How often two answers are each pair of labels: by counting the pairs."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import plausibly
from plausibly.annotators import label_disagreement
from plausibly.errors import InputError
from plots_world import answers

LABELS = ("b", "a", "ü")


def table(votes: list[list[int]]) -> xr.Dataset:
    rows = [(f"e{i}", None, LABELS[k]) for i, answers in enumerate(votes) for k in answers]
    return plausibly.build_annotations("single-label", rows, LABELS)


VOTES = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5), min_size=1, max_size=6)


@settings(max_examples=10)
@given(VOTES.filter(lambda votes: any(len(said) > 1 for said in votes)))
def test_every_pair_of_answers_is_counted(votes: list[list[int]]) -> None:
    wanted = np.zeros((3, 3))
    compared = [said for said in votes if len(said) > 1]
    for said in compared:
        pairs = Counter((said[i], said[j]) for i, j in permutations(range(len(said)), 2))
        for pair, count in pairs.items():
            wanted[pair] += count / sum(pairs.values()) / len(compared)
    found = label_disagreement(table(votes))
    np.testing.assert_allclose(found["together"].values, wanted, atol=1e-12)
    np.testing.assert_allclose(found["share"].values, wanted.sum(axis=1), atol=1e-12)
    assert found.attrs == {"n": len(votes), "compared": len(compared), "pairs": "answers"}
    both = [[sum(a in s and b in s for s in compared) for b in range(3)] for a in range(3)]
    assert found["examples"].values.tolist() == both


def test_the_diagonal_is_what_agreement_calls_percent() -> None:
    found = label_disagreement(answers())
    percent = plausibly.agreement(answers(), resamples=0)["value"].sel(measure="percent")
    assert float(np.trace(found["together"].values)) == pytest.approx(float(percent))


def test_of_plausibilities_both_labels_are_drawn() -> None:
    lam = plausibly.aggregate(answers())
    found = label_disagreement(lam)
    np.testing.assert_allclose(found["together"].values, lam.values.T @ lam.values / len(lam))
    assert found.attrs["pairs"] == "draws"
    moved = label_disagreement(lam[::-1])
    assert found.identical(moved)
    assert list(found["label"].values) == list(found["other"].values)


def test_one_answer_each_makes_no_pair() -> None:
    with pytest.raises(InputError) as caught:
        label_disagreement(table([[0], [1]]))
    assert (caught.value.name, caught.value.hint) == (
        "pairs-none",
        'plausibly.aggregate(annotations, "dawid-skene"), and what that gives',
    )
