"""Monte Carlo calibrations against the expected one, as the number of draws grows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from eval_said import check, said
from plausibly import calibrate
from plausibly.evaluation import monte_carlo_error
from plausibly.evaluation.splits import split
from plausibly.kernels.random import Keys, hash_names

from . import studies as oracle

PREDICTIONS, LAM = oracle.world(240)


def test_figures_are_those_of_the_calibrations() -> None:
    ticks: list[tuple[int, int]] = []
    found = monte_carlo_error(
        PREDICTIONS,
        LAM,
        draws=(1, 4),
        seeds=3,
        alphas=[0.1, 0.3],
        seed=5,
        progress=lambda done, of: ticks.append((done, of)),
    )
    assert ticks == [(place, 6) for place in range(1, 7)]
    test = split(
        hash_names(PREDICTIONS["example"].values), Keys(5).child("monte-carlo-error"), test=0.5
    )
    assert (found.attrs["n_calibration"], found.attrs["n_test"]) == (120, 120)
    exact = calibrate(PREDICTIONS[~test], LAM[~test])
    np.testing.assert_array_equal(found["expected_threshold"], exact.threshold([0.1, 0.3]))
    for m in (1, 4):
        for seed in (5, 6, 7):
            one = calibrate(
                PREDICTIONS[~test], LAM[~test], calibrator="monte-carlo", draws=m, seed=seed
            )
            sets = one.predict(PREDICTIONS[test], 0.3)
            here = found.sel(draws=m, seed=seed, alpha=0.3)
            assert float(here["threshold"]) == float(one.threshold(0.3))
            mean = float((sets * LAM[test]).sum("label").mean())
            assert float(here["coverage"]) == pytest.approx(mean)
            assert float(here["set_size"]) == pytest.approx(float(sets.sum("label").mean()))
    values = found["coverage"].sel(draws=4, alpha=0.1).values
    spread = float(values.std(ddof=1))
    assert float(found["coverage_sd"].sel(draws=4, alpha=0.1)) == pytest.approx(spread)
    gap = float(values.mean() - found["expected_coverage"].sel(alpha=0.1))
    high = float(found["coverage_difference_high"].sel(draws=4, alpha=0.1))
    assert float(found["coverage_difference"].sel(draws=4, alpha=0.1)) == pytest.approx(gap)
    assert high - gap == pytest.approx(float(stdtrit(2, 0.975)) * spread / 3**0.5)


def test_the_spread_shrinks_as_predicted() -> None:
    predictions, lam = oracle.world(1200, seed=2)
    found = monte_carlo_error(predictions, lam, draws=(1, 16), seeds=24).isel(alpha=0)
    spread, predicted = found["coverage_sd"].values, found["coverage_sd_predicted"].values
    assert predicted[0] / predicted[1] == pytest.approx(4)
    assert 0.7 < spread[0] / predicted[0] < 1.4
    assert 0.3 < spread[1] / predicted[1] < 1.7
    assert spread[1] < spread[0] / 2


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_every_label_has_no_difference_of_thresholds() -> None:
    found = monte_carlo_error(PREDICTIONS[:16], LAM[:16], draws=(2,), seeds=2)
    assert (found["expected_threshold"] == -np.inf).all()
    assert np.isnan(found["threshold_difference"]).all()
    assert (found["coverage_difference"] == 0).all()


def test_rows_in_any_order_and_groups_on_one_side() -> None:
    order = np.random.default_rng(0).permutation(240)
    first, second = (
        monte_carlo_error(predictions, lam, draws=(2,), seeds=2, cluster="patient")
        for predictions, lam in (
            (PREDICTIONS, LAM),
            (PREDICTIONS[order, ::-1], LAM[order[::-1]].transpose()),
        )
    )
    for name in first:
        if name not in ("threshold", "coverage", "set_size"):
            continue
        np.testing.assert_allclose(first[f"expected_{name}"], second[f"expected_{name}"])
    assert first.attrs["n_test"] == second.attrs["n_test"]


@said(__file__)
def test_the_text(call: str, text: str) -> None:
    check(call, text, globals())
