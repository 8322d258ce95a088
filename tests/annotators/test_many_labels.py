"""Agreement costs by the labels that are named, not by those that there are."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import plausibly

from .oracles import table

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
    few, many = (table(records, labels, kind=kind) for labels in (named, every))
    expected = plausibly.agreement(few, resamples=200).data
    tracemalloc.start()
    try:
        found = plausibly.agreement(many, resamples=200).data
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30e6  # (label, replicate) alone would be 42 million bytes
    for name in [str(name) for name in expected if str(name).startswith("label_")]:
        mine = found[name].sel(label=named).values
        np.testing.assert_allclose(mine, expected[name].values, rtol=1e-12, err_msg=name)
    others = found.drop_sel(label=named)
    assert (others["label_answers"] == 0).all()
    assert (others["label_share"] == 0).all()
    assert np.isnan(others["label_again"]).all()
    if kind != "partial-ranking":  # there, labels that are not listed share the places left
        np.testing.assert_allclose(found["value"].values, expected["value"].values, rtol=1e-12)
