"""Annotations in the forms in which people have them: each gives the same calibration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import estimator_world as world
import plausibly
from refusals import refused
from tables import labelled

pytest.importorskip("sklearn", reason="the estimator is scikit-learn's")

from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from plausibly.sklearn import AmbiguousConformalClassifier

X_TRAIN, V_TRAIN = world.line(100, seed=1)
X, VOTES = world.line(60, seed=2)
NAMES = [f"scan {row}" for row in range(len(X))]
MODEL = LogisticRegression().fit(X_TRAIN, world.majority(V_TRAIN))
LABELS = list(world.LABELS)
SHARES, COUNTS = world.shares(VOTES), world.counts(VOTES)
READERS = [f"reader {number}" for number in range(world.READERS)]
RECORDS = [
    (name, by, stated)
    for name, row in zip(NAMES, VOTES, strict=True)
    for by, stated in zip(READERS, row, strict=True)
]
TABLE = plausibly.build_annotations("single-label", RECORDS, LABELS)


def calibrated(
    annotations: object,
    x: object = X,
    *,
    params: dict[str, object] | None = None,
    **options: object,
) -> AmbiguousConformalClassifier:
    model = AmbiguousConformalClassifier(FrozenEstimator(MODEL), **(params or {}))  # type: ignore[arg-type]  # by name
    return model.conformalize(x, annotations, **options)  # type: ignore[arg-type]  # by name


def thresholds(model: AmbiguousConformalClassifier) -> list[float]:
    result = model.predictor_.threshold(["0.1", "0.25"]).values
    return [float(tau) for tau in result]


EXPECTED = thresholds(calibrated(COUNTS, kind="counts"))
LAM = plausibly.aggregate(TABLE)
LONG = pd.DataFrame(RECORDS, columns=["task", "worker", "label"])
WIDE = pd.DataFrame(VOTES, index=NAMES, columns=READERS)
NUMBERS = pd.DataFrame(COUNTS, index=NAMES, columns=LABELS)
NAMED = pd.DataFrame(X, index=NAMES)


def test_the_expected_thresholds_are_plausiblys() -> None:
    predictions = labelled(MODEL.predict_proba(X), NAMES, LABELS)
    predictor = plausibly.calibrate(predictions, TABLE)
    assert [float(t) for t in predictor.threshold(["0.1", "0.25"]).values] == EXPECTED


@pytest.mark.parametrize(
    ("annotations", "kind"),
    [
        *(
            (annotations, None)
            for annotations in (
                COUNTS / world.READERS,
                VOTES,
                np.array(VOTES),
                np.array(VOTES, dtype=object),
                [tuple(row) for row in VOTES],
                pd.DataFrame(VOTES),
                pd.DataFrame(VOTES).astype("category"),
                pd.DataFrame(SHARES, columns=LABELS),
                pd.DataFrame(COUNTS[:, ::-1], columns=LABELS[::-1]),
                [dict(zip(LABELS, row, strict=True)) for row in COUNTS.tolist()],
            )
        ),
        *(
            (counts, "counts")
            for counts in (
                COUNTS.astype(np.uint8),
                COUNTS * 1.0,
                COUNTS.tolist(),
                sparse.csr_array(COUNTS),
            )
        ),
    ],
)
def test_rows_by_position(annotations: object, kind: str | None) -> None:
    assert thresholds(calibrated(annotations, kind=kind)) == pytest.approx(EXPECTED)


@pytest.mark.parametrize(
    "annotations",
    [TABLE, LAM, plausibly.to_sparse(LAM), LONG, WIDE, NUMBERS, NUMBERS / world.READERS],
    ids=["table", "plausibilities", "sparse", "long", "wide", "counts", "shares"],
)
def test_rows_by_name(annotations: object) -> None:
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = calibrated(annotations, NAMED.iloc[order])
    assert thresholds(shuffled) == pytest.approx(EXPECTED)
    stated = calibrated(annotations, X[order], examples=[NAMES[row] for row in order])
    assert thresholds(stated) == pytest.approx(EXPECTED)


def test_frames_of_others() -> None:
    pa = pytest.importorskip("pyarrow", reason="a frame that is not of pandas")
    frame = pa.table(dict(zip(LABELS, SHARES.T, strict=True)))
    assert thresholds(calibrated(frame)) == pytest.approx(EXPECTED)
    counted = pa.table(dict(zip(LABELS, COUNTS.T, strict=True)))
    assert thresholds(calibrated(counted)) == pytest.approx(EXPECTED)
    long = pa.Table.from_pandas(LONG)
    assert thresholds(calibrated(long, NAMED)) == pytest.approx(EXPECTED)
    wide = pa.table(dict(zip(READERS, np.array(VOTES).T.tolist(), strict=True)))
    assert thresholds(calibrated(wide)) == pytest.approx(EXPECTED)


def test_an_index_that_counts_rows_names_nothing() -> None:
    unnamed = NAMED.reset_index(drop=True)
    assert thresholds(calibrated(NUMBERS, unnamed)) == pytest.approx(EXPECTED)
    assert thresholds(calibrated(NUMBERS.reset_index(drop=True), NAMED)) == pytest.approx(EXPECTED)
    # A part of such an index says which rows these are.
    part = NUMBERS.reset_index(drop=True)[30:]
    with refused("examples-differ"):
        calibrated(part, unnamed[1:31])


# Three annotators name one of three labels by its number: the table has the shape of counts.
CODES = np.array([[LABELS.index(vote) + 1 for vote in row[:3]] for row in VOTES])
NUMBERED = LogisticRegression().fit(
    X_TRAIN, np.array([LABELS.index(vote) + 1 for vote in world.majority(V_TRAIN)])
)


def numbered(annotations: object, **options: str) -> list[float]:
    model = AmbiguousConformalClassifier(FrozenEstimator(NUMBERED))
    return thresholds(model.conformalize(X, annotations, **options))  # type: ignore[arg-type]  # by name


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
        calibrated(CODES)  # labels are text here, and numbers may be their places
    assert numbered(np.eye(3)[CODES[:, 0] - 1] > 0, kind="counts") == numbered(CODES[:, 0])


def test_single_labels_with_missing_votes_and_sets() -> None:
    y = [row[0] for row in VOTES]
    one_hot = np.array(y)[:, None] == np.array(LABELS)
    flags = (one_hot, sparse.csr_array(one_hot), sparse.csr_matrix(one_hot))
    for same in (y, np.array(y), pd.Series(y), pd.Series(y).astype("category"), *flags):
        expected = thresholds(calibrated(one_hot.astype(int), kind="counts"))
        assert thresholds(calibrated(same)) == expected
    gaps = np.array(VOTES, dtype=object)
    gaps[::2, 1] = None
    fewer = [[v for v in row if v is not None] for row in gaps.tolist()]
    assert thresholds(calibrated(gaps)) == thresholds(calibrated(fewer))
    sets = [set(row) for row in VOTES]
    shared = np.array([[label in row for label in LABELS] for row in sets])
    for same in (sets, [[row] for row in sets], shared):
        assert thresholds(calibrated(same)) == thresholds(calibrated(sets))
    lists = [sorted(row) for row in sets]
    assert thresholds(calibrated(lists, kind="label-set")) == thresholds(calibrated(sets))


def test_a_row_without_answers_is_missed_by_name() -> None:
    gone = [None, *VOTES[1:]]
    for nothing in (gone, [[], *VOTES[1:]], [[None], *VOTES[1:]]):
        with refused("examples-differ") as caught:
            calibrated(nothing)
        assert caught.value.details["only_here"] == ["0"]
        assert thresholds(calibrated(nothing, only_common=True)) == thresholds(
            calibrated(VOTES[1:], X[1:])
        )
    with refused("annotations-empty"):
        calibrated([None] * len(X))


def test_rankings() -> None:
    rankings = [[[[row[0]], [label for label in LABELS if label != row[0]]]] for row in VOTES]
    table = plausibly.build_annotations(
        "partial-ranking",
        [(str(place), None, answer) for place, row in enumerate(rankings) for answer in row],
        LABELS,
    )
    expected = thresholds(calibrated(table))
    assert thresholds(calibrated(rankings, kind="partial-ranking")) == expected
    with refused("kind-missing"):
        calibrated([row[:1] for row in rankings])
    with refused("answer-invalid", "found 'benign'"):
        calibrated([["benign", "unsure"]] * len(X), kind="partial-ranking")


def test_the_aggregator_is_that_of_the_estimator() -> None:
    voted = calibrated(WIDE, NAMED, params={"aggregator": "majority-vote"})
    one_hot = plausibly.aggregate(TABLE, "majority-vote")
    assert thresholds(voted) == thresholds(calibrated(one_hot, NAMED))
    assert voted.predictor_.metadata.aggregator == "majority-vote"


def test_fit_takes_the_vote_of_annotations() -> None:
    model = AmbiguousConformalClassifier().fit(NAMED, TABLE)
    again = LogisticRegression().fit(NAMED, world.majority(VOTES))
    assert (model.predict_proba(NAMED) == again.predict_proba(NAMED)).all()
    shuffled = plausibly.aggregate(TABLE)[::-1]
    model.fit(NAMED, shuffled)
    assert (model.predict_proba(NAMED) == again.predict_proba(NAMED)).all()
    with refused("examples-differ"):
        model.fit(NAMED[:10], shuffled)
    with refused("rows-unnamed"):
        model.fit(X, shuffled)


def test_only_common_examples_and_untouched_inputs() -> None:
    with refused("examples-differ", "only_common=True"):
        calibrated(LONG, NAMED[:40])
    kept = calibrated(LONG, NAMED[:40], only_common=True)
    assert kept.predictor_.n == 40
    frozen = SHARES[:40].copy()
    frozen.flags.writeable = False
    assert thresholds(kept) == thresholds(calibrated(frozen, X[:40]))
    before = WIDE.copy()
    calibrated(WIDE, NAMED)
    pd.testing.assert_frame_equal(WIDE, before)


FRAME = pd.DataFrame(COUNTS, columns=["benign", "malignant", "other"])
FEW = plausibly.build_annotations("single-label", [("0", None, "benign")], ["benign"])
UNREAD: list[tuple[object, str | None, str, str]] = [
    (Path("votes.csv"), None, "annotations-path", 'hint plausibly.read_annotations("votes.csv")'),
    (TABLE, None, "rows-unnamed", "found scan 0, scan 1, scan 10, … (60 in all), and rows 0 to 59"),
    (VOTES[:-1], None, "rows-differ", "found 59 hint pass both from one split, or name the rows"),
    (COUNTS[:, :2], None, "columns-differ", 'found 2 hint kind="single-label", if the columns are'),
    (FRAME, None, "columns-differ", 'found numbers in "benign", "malignant", "other" hint kind'),
    (np.zeros((60, 3), dtype=int), "counts", "counts-unfit", "in 0, 1, 2, … (60 in all) expected"),
    (SHARES.tolist(), None, "label-unknown", "expected one of 3 declared labels"),
    ([["benign", "unknown"]] * 60, None, "label-unknown", "unknown"),
    (COUNTS, "soft-label", "kind-unfit", 'found kind "soft-label" hint leave kind= out'),
    (LAM, "counts", "kind-unfit", "expected no kind found"),
    (TABLE, "single-label", "kind-unfit", "expected no kind found"),
    (COUNTS, None, "kind-missing", 'found 0, 4, 0 hint kind="counts", or kind="single-label"'),
    (
        pd.DataFrame(CODES, columns=READERS[:3]),
        None,
        "columns-differ",
        'found numbers in "reader 0", "reader 1", "reader 2" hint kind="single-label"',
    ),
    ([[1, 2]] * 60, "counts", "columns-differ", ""),
    ([[1, 2, 1], [1]] * 30, "counts", "component-unknown", ""),
    (VOTES, "counts", "component-unknown", ""),
    ([[["unsure"]]] * 60, None, "kind-missing", 'hint kind="partial-ranking", or kind="label-set"'),
    (FEW, None, "labels-differ", 'lack 2 labels: "malignant", "unsure"'),
]


@pytest.mark.parametrize(("annotations", "kind", "name", "piece"), UNREAD)
def test_inputs_that_cannot_be_read_are_refused(
    annotations: object, kind: str | None, name: str, piece: str
) -> None:
    with refused(name, piece):
        calibrated(annotations, kind=kind)


def test_names_of_rows_that_do_not_fit() -> None:
    with refused("example-twice"):
        calibrated(COUNTS, pd.DataFrame(X, index=[*NAMES[1:], NAMES[1]]))
    for examples, name in ((["a"] * len(X), "example-twice"), (NAMES[1:], "rows-differ")):
        with refused(name):
            calibrated(COUNTS, examples=examples)
