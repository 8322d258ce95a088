"""What scikit-learn asks of an estimator: all of it, with nothing that is expected to fail."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("sklearn", reason="the estimator is scikit-learn's")

from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from plausibly.sklearn import AmbiguousConformalClassifier

Check = Callable[[AmbiguousConformalClassifier], None]
ESTIMATORS = [
    AmbiguousConformalClassifier(),
    AmbiguousConformalClassifier(
        DecisionTreeClassifier(random_state=0), alpha=[0.1, 0.2], calibrator="monte-carlo", draws=4
    ),
]


@parametrize_with_checks(ESTIMATORS)  # type: ignore[untyped-decorator]  # scikit-learn has no types
def test_it_is_an_estimator(estimator: AmbiguousConformalClassifier, check: Check) -> None:
    check(estimator)
