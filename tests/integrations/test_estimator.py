"""The estimator gives what plausibly gives by hand, and is one of scikit-learn's.

At the end: annotations in the forms in which people have them.
"""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import estimator_world as world
import plausibly
from call_files import each_call
from plausibly.data.names import Names
from refusals import refused, warned
from tables import labelled, shares

pytest.importorskip("sklearn", reason="the estimator is scikit-learn's")

import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

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
    names = [str(row) for row in range(len(X))]
    values = LogisticRegression().fit(X_TRAIN, Y_TRAIN).predict_proba(X)
    predictions = labelled(values, names, world.LABELS)
    plausibilities = shares(world.counts(VOTES), names, world.LABELS)
    return plausibly.calibrate(predictions, plausibilities, **components)  # type: ignore[arg-type]  # by name


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
def test_sets_and_p_values_equal_plausiblys(components: dict[str, object]) -> None:
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
    own = np.sort(model.predict_proba(X)[np.arange(len(X)), model.classes_.searchsorted(y)])
    # The floor(alpha (n + 1))-th smallest: 199 examples make it the 20th.
    assert (model.predict_set(X_NEW) == (model.predict_proba(X_NEW) >= own[19])).all()


def test_labels_equal_the_sets_and_keep_their_type(
    calibrated: AmbiguousConformalClassifier,
) -> None:
    sets = calibrated.predict_set(X_NEW, 0.1)
    labels = np.array(world.LABELS)
    assert calibrated.predict_labels(X_NEW, 0.1) == [tuple(labels[row].tolist()) for row in sets]
    y = (X_TRAIN[:, 0] > 0).astype(int)
    votes = [[int(x > 0), int(x > 0.5)] for x in X[:, 0]]
    model = AmbiguousConformalClassifier(alpha=0.2).fit(X_TRAIN, y).conformalize(X, votes)
    assert set(sum(model.predict_labels(X_NEW), ())) == {0, 1}
    assert model.predictor_.labels == ("0", "1")


def test_coverage_is_the_share_of_the_plausibilities(
    calibrated: AmbiguousConformalClassifier,
) -> None:
    sets = calibrated.predict_set(X_NEW, 0.2)
    expected = (sets * world.shares(V_NEW)).sum(axis=1).mean()
    assert calibrated.coverage_score(X_NEW, V_NEW, 0.2) == pytest.approx(expected)
    counted = calibrated.coverage_score(X_NEW, world.counts(V_NEW), 0.2, kind="counts")
    assert counted == pytest.approx(expected)
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
    assert error.name == "not-conformalized"
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
    for method in ("predict", "predict_proba", "predictions"):
        with pytest.raises(NotFittedError):
            getattr(AmbiguousConformalClassifier(), method)(X)
    with pytest.raises(NotFittedError):
        AmbiguousConformalClassifier().conformalize(X, VOTES)


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
        with refused("alpha-range", "found [0.1, 0.3], which is not a number hint alpha=0.1"):
            ask()
    model.set_params(alpha="0.3")
    assert (model.predict_set(X_NEW) == both[..., 1]).all()


def test_a_model_of_several_outputs() -> None:
    several = np.column_stack([Y_TRAIN, Y_TRAIN])
    model = AmbiguousConformalClassifier(DecisionTreeClassifier()).fit(X_TRAIN, several)
    with refused("outputs-several", "found 2 per row"):
        model.conformalize(X, VOTES)
    frozen = FrozenEstimator(DecisionTreeClassifier().fit(X_TRAIN, several))
    with refused("outputs-several"):
        AmbiguousConformalClassifier(frozen).conformalize(X, VOTES)


def test_a_model_without_probabilities() -> None:
    model = AmbiguousConformalClassifier(LinearSVC()).fit(X_TRAIN, Y_TRAIN)
    assert not hasattr(model, "predict_proba")
    with refused("probabilities-missing", "found labels alone"):
        model.conformalize(X, VOTES)
    fixed = AmbiguousConformalClassifier(CalibratedClassifierCV(LinearSVC()))
    assert fixed.fit(X_TRAIN, Y_TRAIN).conformalize(X, VOTES).predict_set(X_NEW, 0.1).any()


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
    series = pd.Series(texts[50:], index=[f"text {row}" for row in range(149)])
    model.conformalize(series, pd.DataFrame(VOTES[50:], index=series.index))
    assert model.predictor_.examples is not None
    assert model.predictor_.examples.common(Names(series.index)) == 149


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
    named = model.predict_p(new, examples=[f"x{row}" for row in range(50)])
    assert list(named.index[:2]) == ["x0", "x1"]
    assert isinstance(model.set_output("default").predict_set(new), np.ndarray)
    assert model.set_output() is model
    with sklearn.config_context(transform_output="pandas"):
        fresh = AmbiguousConformalClassifier(alpha=0.2).fit(train, Y_TRAIN)
        assert isinstance(fresh.conformalize(calibration, VOTES).predict_p(new), pd.DataFrame)
    with refused("output-unknown", 'found polars hint set_output("pandas")'):
        model.set_output("polars").predict_set(new)


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
        result = cross_validate(routed, X_TRAIN, Y_TRAIN, cv=3, params={"sample_weight": weights})
        folds[weighted] = result["test_score"]
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


# ---- annotations in the forms in which people have them: each gives the same calibration


PART, PART_VOTES = X[:60], VOTES[:60]
NAMES = [f"scan {row}" for row in range(len(PART))]
MODEL = LogisticRegression().fit(X_TRAIN, Y_TRAIN)
LABELS = list(world.LABELS)
SHARES, COUNTS = world.shares(PART_VOTES), world.counts(PART_VOTES)
READERS = [f"reader {number}" for number in range(world.READERS)]
RECORDS = [
    (name, by, stated)
    for name, row in zip(NAMES, PART_VOTES, strict=True)
    for by, stated in zip(READERS, row, strict=True)
]
TABLE = plausibly.build_annotations("single-label", RECORDS, LABELS)


def conformalized(
    annotations: object,
    x: object = PART,
    *,
    params: dict[str, object] | None = None,
    **options: object,
) -> AmbiguousConformalClassifier:
    model = AmbiguousConformalClassifier(FrozenEstimator(MODEL), **(params or {}))  # type: ignore[arg-type]  # by name
    return model.conformalize(x, annotations, **options)  # type: ignore[arg-type]  # by name


def thresholds(model: AmbiguousConformalClassifier) -> list[float]:
    result = model.predictor_.threshold(["0.1", "0.25"]).values
    return [float(tau) for tau in result]


EXPECTED = thresholds(conformalized(COUNTS, kind="counts"))
LAM = plausibly.aggregate(TABLE)
LONG = pd.DataFrame(RECORDS, columns=["task", "worker", "label"])
WIDE = pd.DataFrame(PART_VOTES, index=NAMES, columns=READERS)
NUMBERS = pd.DataFrame(COUNTS, index=NAMES, columns=LABELS)
NAMED = pd.DataFrame(PART, index=NAMES)


def test_the_expected_thresholds_are_plausiblys() -> None:
    predictions = labelled(MODEL.predict_proba(PART), NAMES, LABELS)
    predictor = plausibly.calibrate(predictions, TABLE)
    assert [float(t) for t in predictor.threshold(["0.1", "0.25"]).values] == EXPECTED


def as_expected(annotations: object, kind: str | None = None) -> bool:
    return thresholds(conformalized(annotations, kind=kind)) == pytest.approx(EXPECTED)


@pytest.mark.parametrize(
    "annotations",
    [TABLE, LAM, plausibly.to_sparse(LAM), LONG, WIDE, NUMBERS, NUMBERS / world.READERS],
    ids=["table", "plausibilities", "sparse", "long", "wide", "counts", "shares"],
)
def test_rows_by_name(annotations: object) -> None:
    order = np.random.default_rng(0).permutation(len(PART))
    shuffled = conformalized(annotations, NAMED.iloc[order])
    assert thresholds(shuffled) == pytest.approx(EXPECTED)
    stated = conformalized(annotations, PART[order], examples=[NAMES[row] for row in order])
    assert thresholds(stated) == pytest.approx(EXPECTED)


def test_frames_of_others() -> None:
    pa = pytest.importorskip("pyarrow", reason="a frame that is not of pandas")
    frame = pa.table(dict(zip(LABELS, SHARES.T, strict=True)))
    assert thresholds(conformalized(frame)) == pytest.approx(EXPECTED)
    counted = pa.table(dict(zip(LABELS, COUNTS.T, strict=True)))
    assert thresholds(conformalized(counted)) == pytest.approx(EXPECTED)
    long = pa.Table.from_pandas(LONG)
    assert thresholds(conformalized(long, NAMED)) == pytest.approx(EXPECTED)
    wide = pa.table(dict(zip(READERS, np.array(PART_VOTES).T.tolist(), strict=True)))
    assert thresholds(conformalized(wide)) == pytest.approx(EXPECTED)


def test_an_index_that_counts_rows_names_nothing() -> None:
    unnamed = NAMED.reset_index(drop=True)
    assert thresholds(conformalized(NUMBERS, unnamed)) == pytest.approx(EXPECTED)
    assert thresholds(conformalized(NUMBERS.reset_index(drop=True), NAMED)) == pytest.approx(
        EXPECTED
    )
    # A part of such an index says which rows these are.
    part = NUMBERS.reset_index(drop=True)[30:]
    with refused("examples-differ"):
        conformalized(part, unnamed[1:31])


# Three annotators name one of three labels by its number: the table has the shape of counts.
CODES = np.array([[LABELS.index(vote) + 1 for vote in row[:3]] for row in PART_VOTES])
NUMBERED = LogisticRegression().fit(X_TRAIN, np.array([LABELS.index(y) + 1 for y in Y_TRAIN]))


def numbered(annotations: object, **options: str) -> list[float]:
    model = AmbiguousConformalClassifier(FrozenEstimator(NUMBERED))
    return thresholds(model.conformalize(PART, annotations, **options))  # type: ignore[arg-type]  # by name


def test_whole_numbers_are_never_guessed_to_be_counts() -> None:
    assert CODES.shape == (60, len(LABELS))
    frame = pd.DataFrame(CODES, columns=[1, 2, 3])
    gaps = frame.astype(float).mask(frame.index.to_numpy()[:, None] % 7 == [0, 9, 9])
    whole = gaps.astype("Int64")
    tables: list[object] = [CODES, CODES.astype(np.int8), frame, sparse.csr_array(CODES)]
    for table in (*tables, gaps, gaps.to_numpy(), whole):
        with refused("kind-missing"):
            numbered(table)
    expected = numbered(CODES.tolist())  # lists are of answers
    for table in tables:
        assert numbered(table, kind="single-label") == expected
        assert numbered(table, kind="counts") != expected
    fewer = [[int(cell) for cell in row if cell == cell] for row in gaps.to_numpy()]
    for table in (gaps, gaps.to_numpy(), whole, whole.rename(columns=str)):
        assert numbered(table, kind="single-label") == numbered(fewer)
    with refused("kind-missing"):
        conformalized(CODES)  # labels are text here, and numbers may be their places
    assert numbered(np.eye(3)[CODES[:, 0] - 1] > 0, kind="counts") == numbered(CODES[:, 0])


def test_single_labels_with_missing_votes_and_sets() -> None:
    y = [row[0] for row in PART_VOTES]
    one_hot = np.array(y)[:, None] == np.array(LABELS)
    flags = (one_hot, sparse.csr_array(one_hot), sparse.csr_matrix(one_hot))
    for same in (y, np.array(y), pd.Series(y), pd.Series(y).astype("category"), *flags):
        expected = thresholds(conformalized(one_hot.astype(int), kind="counts"))
        assert thresholds(conformalized(same)) == expected
    gaps = np.array(PART_VOTES, dtype=object)
    gaps[::2, 1] = None
    fewer = [[v for v in row if v is not None] for row in gaps.tolist()]
    assert thresholds(conformalized(gaps)) == thresholds(conformalized(fewer))
    sets = [set(row) for row in PART_VOTES]
    shared = np.array([[label in row for label in LABELS] for row in sets])
    for same in (sets, [[row] for row in sets], shared):
        assert thresholds(conformalized(same)) == thresholds(conformalized(sets))
    lists = [sorted(row) for row in sets]
    assert thresholds(conformalized(lists, kind="label-set")) == thresholds(conformalized(sets))


def test_a_row_without_answers_is_missed_by_name() -> None:
    gone = [None, *PART_VOTES[1:]]
    for nothing in (gone, [[], *PART_VOTES[1:]], [[None], *PART_VOTES[1:]]):
        with refused("examples-differ") as caught:
            conformalized(nothing)
        assert caught.value.details["only_here"] == ["0"]
        assert thresholds(conformalized(nothing, only_common=True)) == thresholds(
            conformalized(PART_VOTES[1:], PART[1:])
        )
    with refused("annotations-empty"):
        conformalized([None] * len(PART))


def test_rankings() -> None:
    rankings = [[[[row[0]], [label for label in LABELS if label != row[0]]]] for row in PART_VOTES]
    table = plausibly.build_annotations(
        "partial-ranking",
        [(str(place), None, answer) for place, row in enumerate(rankings) for answer in row],
        LABELS,
    )
    expected = thresholds(conformalized(table))
    assert thresholds(conformalized(rankings, kind="partial-ranking")) == expected
    with refused("kind-missing"):
        conformalized([row[:1] for row in rankings])
    with refused("answer-invalid", "found 'benign'"):
        conformalized([["benign", "unsure"]] * len(PART), kind="partial-ranking")


def test_the_aggregator_is_that_of_the_estimator() -> None:
    voted = conformalized(WIDE, NAMED, params={"aggregator": "majority-vote"})
    one_hot = plausibly.aggregate(TABLE, "majority-vote")
    assert thresholds(voted) == thresholds(conformalized(one_hot, NAMED))
    assert voted.predictor_.metadata.aggregator == "majority-vote"


def test_fit_takes_the_vote_of_annotations() -> None:
    model = AmbiguousConformalClassifier().fit(NAMED, TABLE)
    again = LogisticRegression().fit(NAMED, world.majority(PART_VOTES))
    assert (model.predict_proba(NAMED) == again.predict_proba(NAMED)).all()
    shuffled = plausibly.aggregate(TABLE)[::-1]
    model.fit(NAMED, shuffled)
    assert (model.predict_proba(NAMED) == again.predict_proba(NAMED)).all()
    with refused("examples-differ"):
        model.fit(NAMED[:10], shuffled)
    with refused("rows-unnamed"):
        model.fit(PART, shuffled)


def test_only_common_examples_and_untouched_inputs() -> None:
    with refused("examples-differ", "only_common=True"):
        conformalized(LONG, NAMED[:40])
    kept = conformalized(LONG, NAMED[:40], only_common=True)
    assert kept.predictor_.n == 40
    frozen = SHARES[:40].copy()
    frozen.flags.writeable = False
    assert thresholds(kept) == thresholds(conformalized(frozen, PART[:40]))
    before = WIDE.copy()
    conformalized(WIDE, NAMED)
    pd.testing.assert_frame_equal(WIDE, before)


FRAME = pd.DataFrame(COUNTS, columns=["benign", "malignant", "other"])
FEW = plausibly.build_annotations("single-label", [("0", None, "benign")], ["benign"])


def test_names_of_rows_that_do_not_fit() -> None:
    with refused("example-twice"):
        conformalized(COUNTS, pd.DataFrame(PART, index=[*NAMES[1:], NAMES[1]]))
    for examples, name in ((["a"] * len(PART), "example-twice"), (NAMES[1:], "rows-differ")):
        with refused(name):
            conformalized(COUNTS, examples=examples)


test_each_call_gives_its_text = each_call(__file__, globals())
