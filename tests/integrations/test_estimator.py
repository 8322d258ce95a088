"""The estimator among scikit-learn's tools: checks, clones, texts, frames, routing."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import estimator_world as world
from refusals import refused, warned

pytest.importorskip("sklearn", reason="the estimator is scikit-learn's")

import sklearn
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from plausibly.data.names import Names
from plausibly.sklearn import AmbiguousConformalClassifier

X_TRAIN, V_TRAIN = world.line(120, seed=1)
Y_TRAIN = world.majority(V_TRAIN)
X, VOTES = world.line(99, seed=2)
X_NEW, V_NEW = world.line(20, seed=3)


Check = Callable[[AmbiguousConformalClassifier], None]
ESTIMATORS = [
    AmbiguousConformalClassifier(),
    AmbiguousConformalClassifier(
        DecisionTreeClassifier(random_state=0), alpha=[0.1, 0.2], calibrator="monte-carlo", draws=4
    ),
]


@parametrize_with_checks(ESTIMATORS)  # type: ignore[untyped-decorator]  # scikit-learn has no types
def test_it_is_an_estimator(estimator: AmbiguousConformalClassifier, check: Check) -> None:
    """With nothing that is expected to fail."""
    check(estimator)


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_clone_pickle_and_nested_parameters() -> None:
    model = AmbiguousConformalClassifier(LogisticRegression(C=2.0), alpha="0.2", seed=5)
    model.fit(X_TRAIN, Y_TRAIN).conformalize(X, VOTES).set_output("pandas")
    same = pickle.loads(pickle.dumps(model))
    assert (same.predict_set(X_NEW) == model.predict_set(X_NEW)).all(axis=None)
    assert same.predictor_.fingerprint == model.predictor_.fingerprint
    copy = clone(model)
    assert not hasattr(copy, "predictor_")
    assert (copy.get_params()["estimator__C"], copy.alpha, copy.seed) == (2.0, "0.2", 5)
    copy.set_params(estimator__C=3.0, score_function="aps")
    assert (copy.estimator.C, model.estimator.C) == (3.0, 2.0)
    copy.fit(X_TRAIN, Y_TRAIN).conformalize(X, VOTES)
    assert isinstance(copy.predict_set(X_NEW), pd.DataFrame)
    assert repr(copy).startswith("AmbiguousConformalClassifier(alpha='0.2',")


def test_texts() -> None:
    words = {"benign": "round smooth", "malignant": "spiky large", "unsure": "faint small"}
    texts = [" ".join(words[label] for label in row) for row in VOTES]
    inner = make_pipeline(CountVectorizer(), LogisticRegression())
    model = AmbiguousConformalClassifier(inner, alpha=0.2)
    model.fit(texts[:50], world.majority(VOTES[:50])).conformalize(texts[50:], VOTES[50:])
    assert model.predict_labels(["round smooth round smooth", "spiky large"]) == [
        ("benign",),
        ("malignant",),
    ]
    series = pd.Series(texts[50:], index=[f"text {row}" for row in range(49)])
    model.conformalize(series, pd.DataFrame(VOTES[50:], index=series.index))
    assert model.predictor_.examples is not None
    assert model.predictor_.examples.common(Names(series.index)) == 49


def test_frames_in_and_out() -> None:
    train, calibration = world.frame(X_TRAIN, "train"), world.frame(X, "calibration")
    new = world.frame(X_NEW, "new")
    model = AmbiguousConformalClassifier(alpha=0.2).fit(train, Y_TRAIN)
    model.conformalize(calibration, VOTES)
    assert list(model.feature_names_in_) == ["first", "second"]
    assert model.n_features_in_ == 2
    array = model.predict_set(new)
    assert isinstance(array, np.ndarray)
    frame = model.set_output("pandas").predict_set(new)
    pd.testing.assert_frame_equal(
        frame, pd.DataFrame(array, index=new.index, columns=list(world.LABELS))
    )
    both = model.predict_set(new, [0.2, "0.4"])
    pd.testing.assert_frame_equal(both[0.2], frame, check_names=False)
    assert both.columns.names == ["alpha", "label"]
    named = model.predict_p(new, examples=[f"x{row}" for row in range(20)])
    assert list(named.index[:2]) == ["x0", "x1"]
    assert isinstance(model.set_output("default").predict_set(new), np.ndarray)
    assert model.set_output() is model
    with sklearn.config_context(transform_output="pandas"):
        fresh = AmbiguousConformalClassifier(alpha=0.2).fit(train, Y_TRAIN)
        assert isinstance(fresh.conformalize(calibration, VOTES).predict_p(new), pd.DataFrame)
    with refused("output-unknown", 'found polars hint set_output("pandas")'):
        model.set_output("polars")


def test_weights_reach_the_estimator_with_and_without_routing(routing: None) -> None:
    weights = np.where(Y_TRAIN == "benign", 10.0, 0.1)
    expected = LogisticRegression().fit(X_TRAIN, Y_TRAIN, weights).predict_proba(X_NEW)
    with sklearn.config_context(enable_metadata_routing=False):
        plain = AmbiguousConformalClassifier().fit(X_TRAIN, Y_TRAIN, sample_weight=weights)
        assert (plain.predict_proba(X_NEW) == expected).all()
    asks = LogisticRegression().set_fit_request(sample_weight=True)
    routed = AmbiguousConformalClassifier(asks).fit(X_TRAIN, Y_TRAIN, sample_weight=weights)
    assert (routed.predict_proba(X_NEW) == expected).all()
    folds = {}
    for weighted in (False, True):
        routed.set_score_request(sample_weight=weighted)
        found = cross_validate(routed, X_TRAIN, Y_TRAIN, cv=3, params={"sample_weight": weights})
        folds[weighted] = found["test_score"]
    assert (folds[False] < folds[True]).all()
    silent = AmbiguousConformalClassifier(LogisticRegression())
    with pytest.raises(ValueError, match="sample_weight"):
        silent.fit(X_TRAIN, Y_TRAIN, sample_weight=weights)


def test_rows_that_the_model_saw_by_name() -> None:
    everything = pd.concat([world.frame(X_TRAIN, "train"), world.frame(X, "row")])
    y = [*Y_TRAIN, *world.majority(VOTES)]
    model = AmbiguousConformalClassifier().fit(everything.iloc[:125], y[:125])
    with warned("model-saw-examples", "found row 0, row 1, row 2, … (5 in all)") as caught:
        model.conformalize(everything.iloc[120:], VOTES)
    assert caught[0].filename == __file__
    # Rows that come again where the model is fitted are no mistake.
    again = everything.iloc[[0, 0, 1, 2, 30, 31, 32]]
    AmbiguousConformalClassifier(DummyClassifier()).fit(again, y[:7])


def test_rows_that_the_model_saw_by_content() -> None:
    model = AmbiguousConformalClassifier().fit(X, world.majority(VOTES))
    for seen in (X, X.copy()):
        with warned("model-saw-examples", "found rows with the same numbers"):
            model.conformalize(seen, VOTES)
    model.conformalize(X.tolist(), VOTES)  # no matrix: nothing is compared
    # One row by chance, or rows that are all alike, say nothing.
    model.conformalize(np.vstack([X[:1], X_NEW]), [VOTES[0], *V_NEW])
    few = (X > 0).astype(float)
    AmbiguousConformalClassifier().fit(few, world.majority(VOTES)).conformalize(few, VOTES)


def test_the_page_names_what_there_is(project: Path) -> None:
    page = (project / "docs" / "sklearn.md").read_text(encoding="utf-8")
    named = vars(AmbiguousConformalClassifier)
    # Those of scikit-learn's routing are its own.
    routing = re.compile("_request|_metadata_routing")
    methods = {name for name in named if not name.startswith("_") and not routing.search(name)}
    parameters = set(AmbiguousConformalClassifier().get_params(deep=False))
    assert [name for name in methods | parameters if name not in page] == []
    for name in re.findall(r"^\| `(\w+)\(", page, re.M):
        assert hasattr(AmbiguousConformalClassifier, name), name
