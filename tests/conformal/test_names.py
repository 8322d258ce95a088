"""Names of examples: when they are the same, in common, and usable; scores are read as they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from kit_components import Scaled
from plausibly.calibration.examples import HashedNames
from plausibly.data.names import Names
from plausibly.kernels import blocks
from plausibly.kernels.random import hash_names
from refusals import refused
from tables import labelled, shares

LONG = st.sampled_from(["", "example 10", "an example beyond two words "])
TEXTS = st.lists(st.builds(str.__add__, LONG, st.text("ab\0", max_size=2)), max_size=6)


def array(examples: list[str]) -> xr.DataArray:
    return labelled(np.full((len(examples), 2), 0.5), examples, attrs={"scale": "probability"})


@given(TEXTS, TEXTS)
def test_names_are_usable_hashed_and_counted_once_each(here: list[str], there: list[str]) -> None:
    first, second = Names.of(here), Names.of(there)
    assert first.usable is (len(set(here)) == len(here) and all(t and "\0" not in t for t in here))
    assert first.hashes.tolist() == hash_names(here).tolist()
    assert (len(first), first.texts, first.distinct) == (len(here), here, frozenset(here))
    rows = np.arange(len(here))[::-2]
    assert first.take(rows).hashes.tolist() == hash_names([here[row] for row in rows]).tolist()
    assert first.common(second) == len(set(here) & set(there))
    once = [sorted(set(texts)) for texts in (here, there)]
    hashed = HashedNames(hash_names(once[0]))
    assert hashed.common(Names.of(once[1])) == first.common(second)
    rows = np.arange(len(once[0]))[::-2]
    assert hashed.take(rows).hashes.tolist() == hashed.hashes[rows].tolist()
    joined = Names(first.index.append(second.index))
    assert joined.usable is Names.of([*here, *there]).usable
    assert joined.common(first) == len(set(here))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (pd.Index([1, 0]), pd.Index([True, False]), False),
        (pd.Index([0.1], dtype=np.float32), pd.Index([np.float64(np.float32(0.1))]), False),
        (pd.Index([7, 8]), pd.Index([7.0, 8.0]), True),
        (pd.Index([7, 8]), pd.Index(["7", "8"], dtype=object), True),
        (pd.Index(["a", "b"]), pd.Index(["a", "b"], dtype=object), True),
        (pd.Index(["a", "b"]), pd.Index(["b", "a"]), False),
    ],
)
def test_names_are_the_same_where_their_texts_are(
    first: pd.Index, second: pd.Index, same: bool
) -> None:
    assert Names(first).same(Names(second)) is same
    assert Names(second).same(Names(first)) is same


@pytest.mark.parametrize("kind", [object, None])
def test_long_names_are_the_same_however_they_are_kept(kind: type | None) -> None:
    texts = [f"case {number}" for number in range(2_000)]
    model = array(texts).assign_coords(example=pd.Index(texts, dtype=kind))
    predictor = plausibly.calibrate(model, array(texts)[::-1].drop_attrs())
    assert predictor.predict(model[5:], 0.2).attrs["calibration_overlap"] == 1_995
    new = array([f"new {number}" for number in range(1_999)])
    assert predictor.predict(new, 0.2).attrs["calibration_overlap"] == 0
    assert predictor.hashes is not None
    assert predictor.hashes.tolist() == hash_names(texts).tolist()
    for _ in range(2):
        with refused("example-twice", 'name "case 7" in rows 8 and 2,001'):
            predictor.predict(array([*texts, "case 7"]), 0.2)


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_a_predictor_answers_for_more_alphas_than_it_remembers() -> None:
    model = labelled(np.random.default_rng(0).dirichlet([1, 1], 50))
    predictor = plausibly.calibrate(model, model.copy())
    alphas = [f"0.{number:04d}" for number in range(1, 140)]
    first = [predictor.threshold_array(alpha).tolist() for alpha in alphas]
    for alpha in alphas:
        predictor.predict(model[:2], alpha)
    assert [predictor.threshold_array(alpha).tolist() for alpha in alphas] == first


@pytest.mark.parametrize("calibrator", ["expected", "majority-vote", "monte-carlo"])
def test_predictors_of_copies_and_of_small_blocks_are_the_same(
    calibrator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores that are the predictions themselves are read without a copy, and never written."""
    generator = np.random.default_rng(0)
    model = labelled(generator.dirichlet(np.ones(3), 300).astype(np.float32))
    model[3] = np.array([-0.0, 1.0, 0.0])
    answers = shares(generator.multinomial(4, [0.5, 0.3, 0.2], 300))
    before = model.copy(deep=True)
    identity = plausibly.calibrate(model, answers, calibrator=calibrator)
    others = [plausibly.calibrate(model, answers, calibrator=calibrator, score=Scaled(scale=1.0))]
    monkeypatch.setattr(blocks, "_CELLS", 5)
    monkeypatch.setattr(blocks, "_WORTH", 5)
    monkeypatch.setattr(blocks, "spare", lambda: 3)
    others.append(plausibly.calibrate(model, answers, calibrator=calibrator))
    for another in others:
        for name in ("ordered", "cumulative"):
            here, there = (getattr(p.pools.pooled, name) for p in (identity, another))
            assert here.tobytes() == there.tobytes()
        assert identity.predict(model, 0.1).equals(another.predict(model, 0.1))
        scores = identity.scores(model)
        assert scores.tobytes() == another.scores(model).tobytes()
        scores[...] = 7
        xr.testing.assert_identical(model, before)
