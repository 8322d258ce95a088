"""The estimator gives what plausibly gives by hand, and says what is missing."""

from __future__ import annotations

import importlib
import pickle
import sys

import numpy as np
import pytest
import xarray as xr

import estimator_world as world
import plausibly
from refusals import refused
from tables import labelled

pytest.importorskip("sklearn", reason="the estimator is scikit-learn's")

from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from plausibly.sklearn import AmbiguousConformalClassifier, NotConformalized

X_TRAIN, V_TRAIN = world.line(120, seed=1)
Y_TRAIN = world.majority(V_TRAIN)
X, VOTES = world.line(199, seed=2)
X_NEW, V_NEW = world.line(50, seed=3)
ALPHAS = [0.1, 0.3]


def fitted(**params: object) -> AmbiguousConformalClassifier:
    return AmbiguousConformalClassifier(**params).fit(X_TRAIN, Y_TRAIN)  # type: ignore[arg-type]  # by name


@pytest.fixture(scope="module")
def calibrated() -> AmbiguousConformalClassifier:
    return fitted().conformalize(X, VOTES)


def by_hand(**components: object) -> plausibly.ConformalPredictor:
    """Return the predictor that plausibly makes of the same numbers."""
    model = LogisticRegression().fit(X_TRAIN, Y_TRAIN)
    coords = {"example": [str(row) for row in range(len(X))], "label": list(world.LABELS)}
    dims = ("example", "label")
    predictions = xr.DataArray(model.predict_proba(X), coords, dims)
    lam = xr.DataArray(world.shares(VOTES), coords, dims)
    total = np.full(len(X), world.READERS)
    lam = lam.assign_coords(denominator=("example", total))
    return plausibly.calibrate(predictions, lam, **components)  # type: ignore[arg-type]  # by name


def new_rows() -> xr.DataArray:
    values = LogisticRegression().fit(X_TRAIN, Y_TRAIN).predict_proba(X_NEW)
    names = [f"new {row}" for row in range(len(X_NEW))]
    return labelled(values, names, list(world.LABELS))


@pytest.mark.parametrize(
    "components",
    [
        {},
        {"score": "aps"},
        {"calibrator": "monte-carlo", "draws": 5, "seed": 3},
        {"score": {"name": "aps", "randomised": True}, "combiner": "twice-average"},
    ],
)
def test_sets_and_p_values_are_those_of_plausibly(components: dict[str, object]) -> None:
    params = {"score_function" if k == "score" else k: v for k, v in components.items()}
    model = fitted(**params).conformalize(X, VOTES)
    predictor, new = by_hand(**components), new_rows()
    for alpha in ALPHAS:
        assert (model.predict_set(X_NEW, alpha) == predictor.predict(new, alpha).values).all()
    assert (model.predict_p(X_NEW) == predictor.p_values(new).values).all()
    both = model.predict_set(X_NEW, ALPHAS)
    assert both.shape == (len(X_NEW), 3, 2)
    for place, alpha in enumerate(ALPHAS):
        assert (both[..., place] == model.predict_set(X_NEW, alpha)).all()
    assert model.guarantee("0.1") == predictor.guarantee("0.1")
    assert model.predictor_.n == len(X)


def test_single_labels_give_the_order_statistic_of_split_conformal_prediction() -> None:
    y = world.majority(VOTES)
    model = fitted(alpha=0.1).conformalize(X, y)
    shares = model.predict_proba(X)
    own = np.sort(shares[np.arange(len(X)), model.classes_.searchsorted(y)])
    # The floor(alpha (n + 1))-th smallest: 199 examples make it the 20th.
    assert (model.predict_set(X_NEW) == (model.predict_proba(X_NEW) >= own[19])).all()


def test_labels_are_those_of_the_sets(calibrated: AmbiguousConformalClassifier) -> None:
    sets = calibrated.predict_set(X_NEW, 0.1)
    found = calibrated.predict_labels(X_NEW, 0.1)
    expected = [
        tuple(label for label, inside in zip(world.LABELS, row, strict=True) if inside)
        for row in sets
    ]
    assert found == expected
    assert {len(row) for row in found} > {1}


def test_zeros_and_ones_come_back_as_numbers() -> None:
    y = (X_TRAIN[:, 0] > 0).astype(int)
    votes = [[int(x > 0), int(x > 0.5)] for x in X[:, 0]]
    model = AmbiguousConformalClassifier(alpha=0.2).fit(X_TRAIN, y).conformalize(X, votes)
    assert set(sum(model.predict_labels(X_NEW), ())) == {0, 1}
    assert model.predictor_.labels == ("0", "1")
    assert model.predict_set(X_NEW).shape == (len(X_NEW), 2)


def test_coverage_is_the_share_of_the_plausibilities(
    calibrated: AmbiguousConformalClassifier,
) -> None:
    sets = calibrated.predict_set(X_NEW, 0.2)
    expected = (sets * world.shares(V_NEW)).sum(axis=1).mean()
    assert calibrated.coverage_score(X_NEW, V_NEW, 0.2) == pytest.approx(expected)
    counted = calibrated.coverage_score(X_NEW, world.counts(V_NEW), 0.2, kind="counts")
    assert counted == pytest.approx(expected)
    said = [(str(row), None, answer) for row, row_votes in enumerate(V_NEW) for answer in row_votes]
    table = plausibly.build_annotations("single-label", said, world.LABELS)
    assert calibrated.coverage_score(X_NEW, table, 0.2) == pytest.approx(expected)
    y = world.majority(V_NEW)
    inside = sets[np.arange(len(y)), calibrated.classes_.searchsorted(y)].mean()
    assert calibrated.coverage_score(X_NEW, y, 0.2) == pytest.approx(inside)
    assert calibrated.score(X_NEW, y) == (calibrated.predict(X_NEW) == y).mean()


def test_before_there_is_a_calibration() -> None:
    model = fitted()
    assert (model.predict(X_NEW) == LogisticRegression().fit(X_TRAIN, Y_TRAIN).predict(X_NEW)).all()
    with pytest.raises(NotConformalized) as caught:
        model.predict_set(X_NEW)
    error = caught.value
    assert isinstance(error, NotFittedError)
    assert (error.name, error.found) == ("not-conformalized", "a fitted model")
    assert error.hint == "conformalize(X_calibration, annotations)"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    for ask in (
        lambda: model.predict_p(X_NEW),
        lambda: model.predict_labels(X_NEW),
        model.guarantee,
        lambda: model.coverage_score(X_NEW, V_NEW),
    ):
        with pytest.raises(NotConformalized):
            ask()
    again = fitted().conformalize(X, VOTES).fit(X_TRAIN, Y_TRAIN)
    with pytest.raises(NotConformalized):
        again.predict_set(X_NEW)


def test_before_there_is_a_model() -> None:
    for ask in ("predict", "predict_proba", "predictions"):
        with pytest.raises(NotFittedError):
            getattr(AmbiguousConformalClassifier(), ask)(X)
    with pytest.raises(NotConformalized) as caught:
        AmbiguousConformalClassifier().conformalize(X, VOTES)
    assert caught.value.found == "no model"
    assert "estimator=FrozenEstimator(model)" in caught.value.hint


def test_a_frozen_model_needs_no_fit(calibrated: AmbiguousConformalClassifier) -> None:
    inner = LogisticRegression().fit(X_TRAIN, Y_TRAIN)
    model = AmbiguousConformalClassifier(FrozenEstimator(inner)).conformalize(X, VOTES)
    assert (model.predict_set(X_NEW) == calibrated.predict_set(X_NEW)).all()
    # What it was fitted on is not known: rows that `fit` was given taught it nothing.
    model.fit(X, world.majority(VOTES)).conformalize(X, VOTES)
    assert (model.predict_set(X_NEW) == calibrated.predict_set(X_NEW)).all()
    with pytest.raises(NotFittedError):
        AmbiguousConformalClassifier(FrozenEstimator(LogisticRegression())).conformalize(X, VOTES)


def test_alpha_of_the_estimator_is_read_when_sets_are_predicted() -> None:
    model = fitted(alpha=ALPHAS).conformalize(X, VOTES)
    both = model.predict_set(X_NEW)
    assert (both == model.predict_set(X_NEW, ALPHAS)).all()
    for ask in (model.guarantee, lambda: model.predict_labels(X_NEW)):
        with refused("alpha-several", "found 0.1, 0.3 hint alpha=0.1"):
            ask()
    model.set_params(alpha="0.3")
    assert (model.predict_set(X_NEW) == both[..., 1]).all()


def test_a_model_without_probabilities() -> None:
    model = AmbiguousConformalClassifier(LinearSVC()).fit(X_TRAIN, Y_TRAIN)
    assert not hasattr(model, "predict_proba")
    with refused("probabilities-missing", "found labels alone"):
        model.conformalize(X, VOTES)
    fixed = AmbiguousConformalClassifier(CalibratedClassifierCV(LinearSVC()))
    assert fixed.fit(X_TRAIN, Y_TRAIN).conformalize(X, VOTES).predict_set(X_NEW, 0.1).any()


def test_several_outputs() -> None:
    model = AmbiguousConformalClassifier(DecisionTreeClassifier())
    model.fit(X_TRAIN, np.stack([Y_TRAIN, Y_TRAIN], axis=1))
    with refused("outputs-several", "found 2 per row"):
        model.conformalize(X, VOTES)


def test_coordinates_reach_the_calibrator() -> None:
    site = np.where(np.arange(len(X)) % 2, "north", "south").tolist()
    new = np.where(X_NEW[:, 1] > 0, "north", "south").tolist()
    mondrian = {"name": "mondrian", "by": "site"}
    model = fitted(calibrator=mondrian).conformalize(X, VOTES, coordinates={"site": site})
    sets = model.predict_set(X_NEW, 0.2, coordinates={"site": new})
    north = np.array(site) == "north"
    alone = fitted().conformalize(X[north], [v for v, n in zip(VOTES, north, strict=True) if n])
    there = np.array(new) == "north"
    assert (sets[there] == alone.predict_set(X_NEW[there], 0.2)).all()
    with refused("rows-differ", "found 49"):
        model.predict_set(X_NEW, coordinates={"site": new[:-1]})
    # A randomised score is drawn by the names of the rows, for sets and for their coverage.
    score = {"name": "aps", "randomised": True}
    drawn = fitted(score_function=score, alpha=0.3).conformalize(X, VOTES)
    expected = (drawn.predict_set(X_NEW) * world.shares(V_NEW)).sum(axis=1).mean()
    assert drawn.coverage_score(X_NEW, V_NEW) == pytest.approx(expected)


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("plausibly.sklearn")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with refused(
        "extra-missing", 'hint pip install "plausibly[sklearn]"', kind=plausibly.errors.MissingExtra
    ):
        importlib.import_module("plausibly.sklearn")
