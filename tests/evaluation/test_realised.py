"""Sorted realised coverage, each on its own."""

from __future__ import annotations

import numpy as np

from plausibly import evaluate
from plausibly.evaluation import sorted_coverage

from .parts import case


def test_each_is_sorted_on_its_own() -> None:
    sets, lam = case(alphas=(0.1, 0.3))
    found = sorted_coverage(sets, lam)
    first = evaluate(sets, lam).data
    tied = evaluate(sets, lam, ties="fractional").data
    for name, values in {
        "aggregated_coverage": first["aggregated_coverage"],
        "majority_vote_coverage": first["majority_vote_coverage"],
        "tied_coverage": tied["majority_vote_coverage"],
        "largest_plausibility": first["largest_plausibility"],
    }.items():
        np.testing.assert_array_equal(found[name], np.sort(values.values, axis=0))
    assert found["share"].values[[0, -1]].tolist() == [1 / 120, 1]
    assert found.attrs["tied_share"] == first.attrs["tied_share"] > 0
    assert found["tied_coverage"].dims == ("share", "alpha")
    credits = set(np.unique(found["tied_coverage"].values))
    assert credits - {0.0, 1.0}  # a share of the tied labels is inside
