"""Nothing that is read in blocks, threads or without a copy changes a bit of what is read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

import plausibly
from kit_scores import Scaled
from plausibly.calibration import pools
from plausibly.calibration.data import ArrayScores, CalibrationData
from plausibly.calibration.examples import HashedNames
from plausibly.conformal.array_predictor import Scoring
from plausibly.kernels import blocks
from plausibly.kernels.sparse import Dense
from plausibly.plugin import Floats
from plausibly_builtins.scores.simple import Probability
from tables import labelled, shares

FLOATS = st.sampled_from([-0.0, 0.0, 0.25, 0.5, 1.0])
SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 4))


def bits(values: Floats) -> bytes:
    return np.ascontiguousarray(values).tobytes()


@given(values=arrays.arrays(np.float64, SHAPES, elements=FLOATS), data=st.data())
def test_scores_as_given_are_those_of_a_copy(values: Floats, data: st.DataObject) -> None:
    values = values.astype(data.draw(st.sampled_from([np.float32, np.float64])))
    copied = values + values.dtype.type(0)
    source = ArrayScores(values)
    row = np.arange(len(values))[None, ::-1]
    label = np.zeros_like(row)
    assert source.dtype == values.dtype
    assert bits(source.at(row, label)) == bits(copied[row, label])
    assert bits(source.largest()) == bits(copied.max(axis=1))
    assert bits(source.take(row[0]).dense()) == bits(copied[row[0]])
    assert not np.shares_memory(source.dense(), values)


def test_predictors_of_copies_are_the_same() -> None:
    generator = np.random.default_rng(0)
    model = labelled(generator.dirichlet(np.ones(3), 300).astype(np.float32))
    model[3] = np.array([-0.0, 1.0, 0.0])
    lam = shares(generator.multinomial(4, [0.5, 0.3, 0.2], 300))
    before = model.values.copy()
    for calibrator in ("expected", "majority-vote", "monte-carlo"):
        identity = plausibly.calibrate(model, lam, calibrator=calibrator)
        copied = plausibly.calibrate(model, lam, calibrator=calibrator, score=Scaled(scale=1.0))
        for name in ("ordered", "cumulative"):
            here, there = (getattr(one.pools.pooled, name) for one in (identity, copied))
            assert bits(here) == bits(there)
        assert identity.predict(model, 0.1).equals(copied.predict(model, 0.1))
        scores = identity.scores(model)
        assert bits(scores) == bits(copied.scores(model))
        scores[...] = 7
        assert bits(model.values) == bits(before)
    for component, scale, plain in (
        (Probability(), "probability", True),
        (Probability(), "logit", False),
        (Scaled(), "probability", False),
    ):
        scoring = Scoring(component=component, called="score", scale=scale, seed=0)
        assert scoring.identity is plain


@pytest.mark.parametrize("cells", [1, 5, 1 << 15])
@given(data=st.data())
def test_masses_and_votes_in_blocks(cells: int, data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    counts = data.draw(arrays.arrays(np.int64, shape, elements=st.integers(0, 5)))
    counts[:, 0] += counts.sum(axis=1) == 0
    total = counts.sum(axis=1)
    lam = counts / total[:, None]
    denominator = data.draw(st.sampled_from([None, total, total + 1]))
    calibration = CalibrationData(
        scores=ArrayScores(lam),
        plausibilities=Dense(lam),
        denominator=denominator,
        examples=HashedNames(np.arange(len(lam), dtype=np.uint64)),
        labels=tuple("abcd"[: shape[1]]),
    )
    units, whole = calibration.units()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_CELLS", cells)
        patch.setattr(blocks, "_WORTH", cells)
        patch.setattr(blocks, "spare", lambda: 3)
        atoms = calibration.atoms()
        voted = calibration.majority_vote()
    row, label = np.nonzero(units)
    assert atoms.row.tolist() == row.tolist()
    assert atoms.label.tolist() == label.tolist()
    assert atoms.units.tolist() == units[row, label].tolist()
    assert atoms.denominator.tolist() == whole.tolist()
    assert voted.tolist() == lam.argmax(axis=1).tolist()
    assert voted.dtype == np.int32
    assert atoms.units.dtype == np.int64


@given(
    arrays.arrays(
        np.float32,
        st.integers(0, 30),
        elements=st.floats(width=32, allow_nan=False) | st.sampled_from([-0.0, 0.0, 1.0, -1.0]),
    )
)
def test_scores_and_places_are_sorted_together(scores: Floats) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools, "_FEW", 0)
        found = pools.stable_order(scores)
    assert found.tolist() == np.argsort(scores, kind="stable").tolist()
    assert pools.stable_order(scores.astype(np.float64)).tolist() == found.tolist()
