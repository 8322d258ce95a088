"""The page of the estimator names what there is; tests/docs/test_blocks.py runs it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest


def test_pages_name_what_there_is(project: Path) -> None:
    pytest.importorskip("sklearn", reason="the estimator is scikit-learn's")
    from plausibly.sklearn import AmbiguousConformalClassifier

    page = (project / "docs" / "sklearn.md").read_text(encoding="utf-8")
    named = vars(AmbiguousConformalClassifier)
    # Those of scikit-learn's routing are its own.
    routing = re.compile("_request|_metadata_routing")
    methods = {name for name in named if not name.startswith("_") and not routing.search(name)}
    parameters = set(AmbiguousConformalClassifier().get_params(deep=False))
    for name in methods | parameters:
        assert name in page, name
    for name in re.findall(r"^\| `(\w+)\(", page, re.M):
        assert hasattr(AmbiguousConformalClassifier, name), name
