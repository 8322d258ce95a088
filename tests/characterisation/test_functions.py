"""Functions that no command calls, on one small world."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import xarray as xr
from sklearn.linear_model import LogisticRegression

import estimator_world
import nets
import plausibly
from plausibly import annotators, evaluation, huggingface
from plausibly.sklearn import AmbiguousConformalClassifier

COUNT = 60


def described(result: object, place: str = " ") -> Iterator[str]:
    """Yield the variables of a result with their dims and values, to six digits."""
    if isinstance(result, xr.Dataset):
        for name in sorted(map(str, result.data_vars)):
            yield from described(result[name], f"{place} {name}")
    elif isinstance(result, xr.DataArray):
        values = result.compute().values.ravel()
        if values.dtype.kind == "f":
            # The last digits of sums and logarithms may differ between processors.
            shown = " ".join(f"{item:.6g}" for item in values[:40].tolist())
        else:
            shown = " ".join(map(str, values[:40].tolist()))
        yield f"{place} {tuple(map(str, result.dims))} {result.shape}: {shown}"
    else:
        yield f"{place} {' '.join(str(result).split())}"


def world() -> tuple[xr.DataArray, xr.DataArray, xr.DataArray, xr.DataArray, xr.DataArray]:
    """Return predictions, plausibilities and sets of new examples, and what calibrates them."""
    model = nets.predictions(COUNT)
    plausibilities = plausibly.aggregate(nets.votes(COUNT))
    new = nets.predictions(COUNT, "new")
    new_lam = plausibly.aggregate(nets.votes(COUNT, "new"))
    assert isinstance(plausibilities, xr.DataArray)
    assert isinstance(new_lam, xr.DataArray)
    sets = plausibly.calibrate(model, plausibilities).predict(new, 0.3)
    return model, plausibilities, new, new_lam, sets


def features(model: xr.DataArray) -> xr.DataArray:
    """Return two features of each example, one of them a grade of few values."""
    rows = np.arange(model.sizes["example"])
    values = np.stack([rows % 7 / 7.0, rows * 5 % 4 - 1.5], axis=1)
    coords = {"example": model["example"], "feature": ["age", "grade"]}
    return xr.DataArray(values, dims=["example", "feature"], coords=coords)


def estimated() -> object:
    x, votes = estimator_world.line(40)
    new, _ = estimator_world.line(8, seed=1)
    model = AmbiguousConformalClassifier(LogisticRegression(), alpha=0.2)
    model.fit(x, estimator_world.majority(votes))
    more, more_votes = estimator_world.line(60, seed=2)
    return model.conformalize(more, more_votes).predict_set(new).tolist()


def measures() -> dict[str, Callable[[], object]]:
    model, plausibilities, new, new_lam, sets = world()
    predictor = plausibly.calibrate(model, plausibilities, calibrator="monte-carlo", draws=1)
    views, new_views = nets.predictions(COUNT, views=2), nets.predictions(6, "new", 2)
    drawn = plausibly.aggregate(nets.votes(COUNT), {"name": "bootstrap", "draws": 6})
    region = plausibly.calibrate_region(model, plausibilities)
    return {
        "worst slab": lambda: evaluation.worst_slab_coverage(
            sets, new_lam, features(new), directions=50
        ),
        "uniformity": lambda: evaluation.p_value_uniformity(predictor, new, new_lam),
        "shift": lambda: evaluation.shift_test(model.values[:, 0], new.values[:, 0] * 0.9),
        "leave one annotator out": lambda: evaluation.leave_one_annotator_out(
            model, nets.votes(COUNT), alphas=[0.3]
        ),
        "tuning": lambda: plausibly.tune_raps(
            model, plausibilities, alpha=0.3, splits=2, penalties=(0.0, 0.1)
        ),
        "joint rank": lambda: plausibly.joint_rank(views, plausibilities, new_views, 0.3),
        "region": lambda: region.threshold([0.3, 0.1]),
        "region p-values": lambda: region.p_values(new, new_lam),
        "region bounds": lambda: region.bounds(new, 0.3),
        "region sets": lambda: region.label_sets(new, 0.3),
        "likelihood ratios": lambda: plausibly.likelihood_ratios(
            features(new), features(nets.predictions(40, "other")) + 0.25, features(model)
        ),
        "reliability": lambda: plausibly.reliability(nets.votes(COUNT), "dawid-skene"),
        "estimator": estimated,
        "hugging face": lambda: huggingface.predictions(
            [[{"label": "b", "score": 0.75}, {"label": "a", "score": 0.25}]]
        ),
        "score threshold": lambda: plausibly.score_threshold(model.values[:, 0], 0.3),
        "by label": lambda: evaluation.coverage_by(sets, new_lam, by="label"),
        "by risk": lambda: evaluation.coverage_by(sets, new_lam, by=evaluation.ByRisk()),
        "by size": lambda: evaluation.coverage_by(sets, new_lam, by="set-size"),
        "by strata": lambda: evaluation.coverage_by(
            sets, new_lam, by=evaluation.ByRange(evaluation.entropy(new_lam), quantiles=3)
        ),
        "by subgroup": lambda: evaluation.coverage_by(sets, new_lam, by=["site"]),
        "sorted": lambda: evaluation.sorted_coverage(sets, new_lam),
        "certainty": lambda: annotators.annotation_certainty(drawn),
        "disagreement": lambda: annotators.label_disagreement(plausibilities),
        "entropy": lambda: evaluation.entropy(plausibilities),
        "accuracy": lambda: annotators.uncertainty_adjusted_accuracy(model, drawn),
        "monte carlo error": lambda: evaluation.monte_carlo_error(
            model, plausibilities, alphas=[0.3], draws=(1, 5), seeds=4
        ),
        "overlap": lambda: annotators.average_overlap("abc", "bca", 3),
        "alike": lambda: evaluation.find_duplicates(model, new),
    }


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_functions_without_a_command() -> None:
    lines = []
    for name, measure in measures().items():
        lines += [name, *described(measure())]
    nets.compare("functions.txt", lines)
