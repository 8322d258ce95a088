"""Real disagreement through the estimator: sets cover what radiologists say, as promised."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import plausibly
from plausibly.demo.subjects import load_nodules

pytest.importorskip("sklearn", reason="the estimator is scikit-learn's")

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plausibly.sklearn import AmbiguousConformalClassifier

SPLITS = 5
ALPHA = 0.1


def one_a_patient(seed: int) -> pd.DataFrame:
    """Return the features of one nodule of each patient, drawn."""
    features = load_nodules().features
    mixed = np.random.default_rng(seed).permutation(features.sizes["example"])
    drawn = ~features["patient"][mixed].to_series().duplicated()
    frame = features[mixed].to_pandas()
    assert isinstance(frame, pd.DataFrame)
    return frame[drawn.to_numpy()]


def coverages() -> tuple[float, float, int, int]:
    """Return what sets cover on average, calibrated on all answers and on votes."""
    table = load_nodules().annotations
    everyone, voted, sizes = [], [], (0, 0)
    for seed in range(SPLITS):
        x = one_a_patient(seed)
        train, rest = train_test_split(x, train_size=0.4, random_state=seed)
        calibration, test = train_test_split(rest, train_size=0.5, random_state=seed)
        sizes = (len(calibration), len(test))
        said = {
            id(rows): plausibly.select(table, example=list(rows.index))
            for rows in (train, calibration, test)
        }
        inner = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
        model = AmbiguousConformalClassifier(inner, alpha=ALPHA).fit(train, said[id(train)])
        model.conformalize(calibration, said[id(calibration)])
        everyone.append(model.coverage_score(test, said[id(test)]))
        model.set_params(calibrator="voted").conformalize(calibration, said[id(calibration)])
        voted.append(model.coverage_score(test, said[id(test)]))
    return float(np.mean(everyone)), float(np.mean(voted)), *sizes


def test_sets_cover_what_radiologists_say() -> None:
    everyone, voted, calibration, test = coverages()
    # A share per example lies in [0, 1], so its variance is at most that of a flag; splits of the
    # same patients are not independent, so their mean counts as one of them.
    spread = np.sqrt(ALPHA * (1 - ALPHA) * (1 / calibration + 1 / test))
    assert abs(everyone - (1 - ALPHA)) < 2 * spread
    # Between two calibrations of one model the rest is the same.
    assert voted < everyone - 0.02
