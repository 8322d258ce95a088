"""Frequencies of pairs of answers, against counted pairs."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import xarray as xr
from hypothesis import given, settings, strategies as st

import plausibly
from plausibly.annotators import label_disagreement
from plots_world import answers
from refusals import refused

LABELS = ("b", "a", "ü")


def table(votes: list[list[int]]) -> xr.Dataset:
    rows = [(f"e{i}", None, LABELS[k]) for i, answers in enumerate(votes) for k in answers]
    return plausibly.build_annotations("single-label", rows, LABELS)


VOTES = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5), min_size=1, max_size=6)


@settings(max_examples=10)
@given(VOTES.filter(lambda votes: max(map(len, votes)) > 1))
def test_every_pair_of_answers_is_counted(votes: list[list[int]]) -> None:
    wanted = np.zeros((3, 3))
    compared = [part for part in votes if len(part) > 1]
    for part in compared:
        pairs = Counter(permutations(part, 2))
        for pair, count in pairs.items():
            wanted[pair] += count / sum(pairs.values()) / len(compared)
    result = label_disagreement(table(votes))
    np.testing.assert_allclose(result["together"].values, wanted, atol=1e-12)
    np.testing.assert_allclose(result["share"].values, wanted.sum(axis=1), atol=1e-12)
    assert result.attrs == {"n": len(votes), "compared": len(compared), "pairs": "answers"}
    both = [[sum(a in s and b in s for s in compared) for b in range(3)] for a in range(3)]
    assert result["examples"].values.tolist() == both


def test_of_plausibilities_both_labels_are_drawn() -> None:
    shares = plausibly.aggregate(answers())
    result = label_disagreement(shares)
    expected = shares.values.T @ shares.values / len(shares)
    np.testing.assert_allclose(result["together"].values, expected)
    assert result.attrs["pairs"] == "draws"
    assert result.identical(label_disagreement(shares[::-1]))


def test_one_answer_each_makes_no_pair() -> None:
    with refused("pairs-none", 'plausibly.aggregate(annotations, "dawid-skene")'):
        label_disagreement(table([[0], [1]]))
