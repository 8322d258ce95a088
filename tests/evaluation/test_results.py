"""The five results: what they print, their Dataset and their main figures."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.annotators import Agreement
from plausibly.evaluation import Evaluation, Sensitivity, Study
from plausibly.planning import Plan

NAMES = [f"case {place}" for place in range(60)]


def votes() -> xr.Dataset:
    rng = np.random.default_rng(3)
    rows = [(name, f"w{k}", "abc"[rng.integers(3)]) for name in NAMES for k in range(3)]
    return plausibly.build_annotations("single-label", rows, labels=list("abc"))


def model() -> xr.DataArray:
    values = np.random.default_rng(4).dirichlet(np.ones(3), 60)
    places = np.arange(60)
    return xr.DataArray(
        values,
        dims=("example", "label"),
        coords={
            "example": NAMES,
            "label": list("abc"),
            "ward": ("example", [f"ward {place % 20}" for place in places]),
        },
    )


def results(alphas: list[float]) -> list[Evaluation | Study | Plan | Agreement | Sensitivity]:
    predictions, table = model(), votes()
    predictor = plausibly.calibrate(predictions, table)
    methods = [{"calibrator": {"name": "monte-carlo", "draws": m}} for m in range(1, 30)]
    return [
        plausibly.evaluate(predictor.predict(predictions, alphas), table, by="ward"),
        plausibly.compare(predictions, table, methods, alphas=alphas, splits=2),
        plausibly.plan(predictions, table, alpha=alphas, n=list(range(20, 400, 10))),
        plausibly.agreement(table.assign_coords(ward=predictions["ward"]), by="ward"),
        plausibly.sensitivity(
            predictions,
            table,
            [{"name": "dirichlet", "temperature": 1.0 + t} for t in range(7)],
            alphas=alphas,
            splits=2,
        ),
    ]


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
@pytest.mark.parametrize("alphas", [[0.2], [0.1, 0.2, 0.3, 0.4, 0.5]])
def test_a_result_prints_at_most_25_lines_of_80_columns(alphas: list[float]) -> None:
    for one in results(alphas):
        lines = str(one).splitlines()
        assert len(lines) <= 25, type(one).__name__
        assert max(map(len, [*lines, *one.lines()])) <= 80, type(one).__name__
        assert json.loads(json.dumps(one.to_json()))
        assert isinstance(one.data, xr.Dataset)


def test_the_main_figures_of_an_evaluation() -> None:
    table, predictions = votes(), model()
    with pytest.warns(match="calibrated their predictor"):
        found = plausibly.evaluate(
            plausibly.calibrate(predictions, table).predict(predictions, 0.2), table
        )
    assert float(found.coverage) == pytest.approx(float(found["aggregated_coverage"].mean()))
    assert float(found.set_size) == pytest.approx(float(found["set_size"].mean()))
    assert f"{found.coverage:.3f}" in str(found)
