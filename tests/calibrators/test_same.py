"""Results without order, batches, forms, chunks, files in them; sets are p-values > alpha."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path

import attrs
import dask
import numpy as np
import pytest
import xarray as xr

import plausibly
from calibrators_labelled import (
    AUGMENTED,
    CALIBRATORS,
    LABELS,
    POOLED,
    Table,
    inside,
    plausibilities,
    predictions,
    shuffled,
)
from plausibly.conformal.predictor import ConformalPredictor
from tables import shares

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

N = 30
SMOOTHED: Table = {"name": "average", "smoothed": True}
EXPECTED: Table = {"name": "expected"}
DRAWS: Table = {"name": "monte-carlo", "draws": 4}
VOTES: Table = {"name": "majority-vote"}
APS: Table = {"name": "aps", "randomised": True}
HULL: Table = {"name": "ordinal"}
EVERY: dict[str, Table] = {
    **CALIBRATORS,
    **AUGMENTED,
    "pooled": POOLED,
    "expected": EXPECTED,
    "draws": DRAWS,
    "one draw": {"name": "monte-carlo", "draws": 1},
    "votes": VOTES,
    "patients of votes": inside("clustered", "patient", VOTES),
}
VIEWS = (*AUGMENTED, "pooled")
Component = Table | str
PAC: Table = {"name": "pac", "delta": 0.2}
PACS: list[Component] = [PAC, {**PAC, "bound": "hoeffding-bentkus"}]
RULES: dict[str, list[Component]] = {
    "group of draws": ["maximum", SMOOTHED],
    "weights of draws": ["median"],
    "group": [SMOOTHED],
    "label": [SMOOTHED],
    "mean": [SMOOTHED],
    "separate": ["held-out-rank", "exchangeable-average"],
    "group of separate": ["exchangeable-median"],
    "pooled": ["held-out-rank"],
    "draws": ["e-value", "geometric"],
    "votes": [{"name": "ecdf", "delta": 0.3}, *PACS],
    "patients of votes": [{**PAC, "bound": "binomial"}],
    **dict.fromkeys(("expected", "one draw", "risk", "mass", "patients"), PACS),
}
HULLS: list[Component] = [
    HULL,
    {**HULL, "inner": APS},
    {**HULL, "greedy": True},
    {**HULL, "greedy": True, "randomised": True},
]
SCORES: dict[str, list[Component]] = {
    **{name: [APS] for name in ("votes", "group", "separate")},
    "draws": [APS, *HULLS],
    "label": [APS, *HULLS],
    "expected": [
        *HULLS,
        *("margin", "rank"),
        {"name": "raps", "penalty": 0.25, "free_rank": 2},
        {"name": "saps", "weight": 0.25, "randomised": True},
    ],
}
METHODS: list[tuple[str, Component, Component]] = [
    *((name, "average", "probability") for name in EVERY),
    *((name, rule, "probability") for name, rules in RULES.items() for rule in rules),
    *((name, "average", score) for name, scores in SCORES.items() for score in scores),
]
EACH = pytest.mark.parametrize(("name", "combiner", "score"), METHODS, ids=str)
ALPHAS = ("0.1", "0.3", "0.5")


def model_of(name: str, count: int = N, dtype: str = "float32", **options: object) -> xr.DataArray:
    """Return predictions as a calibrator reads them, along an order of the labels."""
    views = 2 if name in VIEWS else 0
    if name == "pooled" and "prefix" in options:
        views = 0
    model = predictions(count, augmentations=views, dtype=dtype, **options)  # type: ignore[arg-type]  # by name
    return model.assign_coords(order=("label", [2, 0, 1]))


def calibrated(
    name: str,
    combiner: Component = "average",
    score: Component = "probability",
    *,
    model: xr.DataArray | None = None,
    answers: xr.DataArray | xr.Dataset | None = None,
) -> ConformalPredictor:
    return plausibly.calibrate(
        model_of(name) if model is None else model,
        plausibilities(N) if answers is None else answers,
        calibrator=EVERY[name],
        combiner=combiner,
        score=score,
        seed=3,
    )


def new_of(name: str) -> xr.DataArray:
    return model_of(name, 12, prefix="new", seed=1, values=8)


def assert_same(first: ConformalPredictor, second: ConformalPredictor, new: xr.DataArray) -> None:
    assert second.fingerprint == first.fingerprint
    assert second.summary == first.summary
    assert second.metadata == first.metadata
    assert second.pools.calibration.claim == first.pools.calibration.claim
    assert (second.combiner, second.components) == (first.combiner, first.components)
    assert repr(second) == repr(first)
    assert second.predict(new, ALPHAS).identical(first.predict(new, ALPHAS))
    assert second.guarantee("0.3") == first.guarantee("0.3")
    if first.has_p_values:
        assert second.p_values(new).identical(first.p_values(new))


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


@EACH
def test_rows_forms_chunks_and_files_of_a_calibration(
    tmp_path: Path, name: str, combiner: Component, score: Component
) -> None:
    answers, new = plausibilities(N, counted="group" in name), new_of(name)
    straight = calibrated(name, combiner, score, answers=answers)
    # Ties and draws cumulate in label order, so that labels keep theirs where they calibrate.
    model, answers = shuffled(model_of(name), ["example"]), shuffled(answers)
    turned = calibrated(name, combiner, score, model=model, answers=answers)
    assert turned.fingerprint == straight.fingerprint
    assert turned.predict(new, ALPHAS).identical(straight.predict(new, ALPHAS))
    sparse = plausibly.to_sparse(answers)
    others = [calibrated(name, combiner, score, model=model, answers=sparse)]
    if name not in VIEWS:
        model, answers = model.chunk(example=7), answers.chunk(example=11)
        others.append(calibrated(name, combiner, score, model=model, answers=answers))
    turned.save(tmp_path / "predictor.nc")
    others.append(plausibly.load_predictor(tmp_path / "predictor.nc"))
    for another in others:
        assert_same(turned, another, new)


def test_sizes_of_groups_of_labels_do_not_depend_on_rows() -> None:
    generator = np.random.default_rng(0)
    totals = generator.choice([3, 7, 9], 200)
    answers = shares(np.stack([generator.multinomial(n, [0.5, 0.3, 0.2]) for n in totals]))
    sizes = {
        plausibly.calibrate(
            answers.drop_vars("denominator")[rows],
            answers[rows],
            calibrator=inside("mondrian", "label"),
        )
        .guarantee("0.3")
        .groups
        for rows in (slice(None), slice(None, None, -1))
    }
    assert len(sizes) == 1


@EACH
def test_rows_labels_chunks_and_batches_of_new_examples(
    name: str, combiner: Component, score: Component
) -> None:
    predictor, new = calibrated(name, combiner, score), new_of(name)
    calls: list[Callable[[xr.DataArray], xr.DataArray]] = [partial(predictor.predict, alpha=ALPHAS)]
    if predictor.has_p_values:
        calls.append(predictor.p_values)
    for call in calls:
        together = call(new)
        turned = call(shuffled(new)).sel(example=new["example"], label=new["label"])
        assert turned.equals(together)
        for place in (0, 5, 11):
            assert call(new.isel(example=[place])).equals(together.isel(example=[place]))
        # New examples in double precision are compared as the calibration's floats are.
        np.testing.assert_array_equal(call(new.astype("float64")).values, together.values)
        if name not in VIEWS:
            assert call(new.chunk(example=5)).equals(together)


@EACH
def test_sets_are_labels_whose_p_value_exceeds_alpha(
    name: str, combiner: Component, score: Component
) -> None:
    """At every alpha that a p-value attains, and beside it."""
    for dtype in ("float32", "float64"):
        model = model_of(name, dtype=dtype)
        predictor, new = calibrated(name, combiner, score, model=model), new_of(name)
        if not predictor.has_p_values:
            return
        p = predictor.p_values(new)
        attained = {Fraction(value).limit_denominator(10**5) for value in p.values.ravel().tolist()}
        step = Fraction(1, 10**7)
        alphas = sorted(attained)[:12]
        alphas = [a for at in alphas for a in (at, at + step, at - step) if 0 < a < 1]
        sets = predictor.predict(new, alphas)
        for place, alpha in enumerate(alphas):
            kept = sets.isel(alpha=place, drop=True).transpose(*p.dims)
            np.testing.assert_array_equal(kept.values, p.values > float(alpha))


@pytest.mark.parametrize("name", ["patients", "patients of draws", "patients of risk", "group"])
def test_files_of_masses_whose_common_multiple_passes_64_bits(name: str, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    votes = np.array([random.multinomial(n, [0.3, 0.3, 0.4]) for n in range(2, 62)])
    patient = np.repeat(["one", "two", "three"], 20)
    model = model_of(name, 60).assign_coords(patient=("example", patient))
    predictor = calibrated(name, model=model, answers=shares(votes, "case ", LABELS))
    predictor.save(tmp_path / "predictor.nc")
    assert_same(predictor, plausibly.load_predictor(tmp_path / "predictor.nc"), new_of(name))


@pytest.mark.parametrize("name", EVERY)
def test_float32_stays_float32(name: str) -> None:
    predictor = calibrated(name)
    assert predictor.pools.dtype == np.float32
    for pools in predictor.pools.groups:
        assert pools.pooled.ordered.dtype == np.float32
    if "weights" not in name and "separate" not in name:
        assert predictor.threshold("0.3").dtype == np.float32


# ---- what fingerprints tell apart


def test_fingerprints_tell_weights_apart() -> None:
    """Twice the weights are the same masses in larger units: a new weight counts for half."""
    item, two = (
        calibrated("weights", model=predictions(N, weight=weight)).fingerprint
        for weight in (1.0, 2.0)
    )
    assert item != two


def test_fingerprints_tell_totals_apart() -> None:
    """One example of even odds has the same masses as two of one label each, in other units."""
    results = []
    for scores, votes in (
        ([[0.1, 0.5, 0.9], [0.9, 0.2, 0.9]], [[1, 0, 0], [0, 1, 0]]),
        ([[0.1, 0.2, 0.9]], [[1, 1, 0]]),
    ):
        model = predictions(len(scores)).copy(data=np.array(scores))
        predictor = plausibly.calibrate(model, shares(np.array(votes), "case ", LABELS))
        new = predictions(1, prefix="new").copy(data=np.array([[0.1, 0.2, 0.3]]))
        results.append((predictor.fingerprint, predictor.p_values(new).values.tolist()))
    assert results[0][0] != results[1][0]
    assert results[0][1] != results[1][1]


def test_fingerprints_tell_pairs_of_scores_apart() -> None:
    """Held-out scores of two augmentations, the second's in another order."""
    model, answers = predictions(2, augmentations=2, values=100), plausibilities(2, one_hot=True)
    predictor = calibrated("separate", "held-out-rank", model=model, answers=answers)
    scores = np.array([[1.0, 2.0], [3.0, 4.0]])
    prints = [
        attrs.evolve(predictor, held_out_scores=held_out).fingerprint
        for held_out in (scores, scores[:, ::-1], np.array([[1.0, 2.0], [4.0, 3.0]]))
    ]
    assert prints[0] == prints[1] != prints[2]
