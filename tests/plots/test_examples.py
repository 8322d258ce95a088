"""The example of every figure runs as it is printed."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest

import plausibly
from plausibly import plots
from plots_world import world
from refusals import quiet

LABELS = ("benign", "unsure", "malignant")


@pytest.fixture(scope="module")
def known() -> dict[str, object]:
    predictions, plausibilities = world(120, LABELS)
    predictions = (predictions + 0.001) / 1.003
    predictor = plausibly.calibrate(predictions[:60], plausibilities[:60])
    names, drawn = predictions.example.values[60:].tolist(), np.random.default_rng(0)
    votes = [(name, who, str(drawn.choice(LABELS))) for name in names for who in ("ana", "ben")]
    annotations = plausibly.build_annotations("single-label", votes, LABELS)
    return {
        "plausibly": plausibly,
        "plots": plots,
        "predictor": predictor,
        "predictions": predictions[60:],
        "plausibilities": plausibilities[60:],
        "annotations": annotations,
        "sets": predictor.predict(predictions[60:], [0.2, 0.1]),
        "risk": dict(zip(LABELS, ("low", "low", "high"), strict=True)),
    }


@pytest.mark.parametrize("figure", dir(plots))
def test_the_example_runs(
    figure: str, known: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = doctest.DocTestFinder(recurse=False).find(
        getattr(plots, figure), figure, globs=dict(known)
    )
    assert example.examples
    with quiet():
        assert doctest.DocTestRunner().run(example).failed == 0
