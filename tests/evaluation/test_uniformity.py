"""p-values of majority votes, drawn and true labels, and their distances from uniform."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from scipy.stats import ks_2samp

from eval_said import check, said
from plausibly import calibrate
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.evaluation import interval, p_value_uniformity
from plausibly.evaluation.uniformity import distances

from . import studies as oracle

World = tuple[ConformalPredictor, xr.DataArray, xr.DataArray]


def made(calibrator: str = "expected", *, seed: int = 0, n: int = 200) -> World:
    predictions, plausibilities = oracle.world(2 * n, seed=seed)
    predictor = calibrate(predictions[:n], plausibilities[:n], calibrator=calibrator)
    return predictor, predictions[n:], plausibilities[n:]


@given(st.lists(st.integers(0, 12), min_size=1, max_size=30))
def test_distances_are_suprema(numbers: list[int]) -> None:
    values = np.array(numbers) / 12
    above = below = Fraction(0)
    for place in range(13):
        t = Fraction(place, 12)
        upto = Fraction(sum(Fraction(k, 12) <= t for k in numbers), len(numbers))
        before = Fraction(sum(Fraction(k, 12) < t for k in numbers), len(numbers))
        above, below = max(above, upto - t), max(below, t - before)
    result = distances(values)
    assert result == pytest.approx((float(above), float(below)), abs=1e-12)


def test_p_values_are_those_of_the_predictor_at_the_labels() -> None:
    predictor, predictions, plausibilities = made()
    labels = predictions["label"].values
    true = xr.DataArray(
        labels[np.arange(200) % 4], dims="example", coords={"example": predictions["example"]}
    )
    result = p_value_uniformity(predictor, predictions, plausibilities, true_label=true)
    another = p_value_uniformity(predictor, predictions[::-1, ::-1], plausibilities, seed=1)
    same = (another["p_value"].sel(result.coords) == result["p_value"]).all("example")
    assert same.sel(of=["majority-vote", "drawn"]).values.tolist() == [True, False]
    p = predictor.p_values(predictions)
    assert result["of"].values.tolist() == ["majority-vote", "drawn", "true"]
    for place, name in enumerate(predictions["example"].values):
        item, row = result["p_value"].sel(example=name), plausibilities.sel(example=name)
        voted = labels[int(np.argmax(row.values))]
        assert item.sel(of="majority-vote") == p.sel(example=name, label=voted)
        assert item.sel(of="true") == p.sel(example=name, label=labels[place % 4])
        plausible = p.sel(example=name).values[row.values > 0]
        assert float(item.sel(of="drawn")) in plausible
    missed = result.sel(of="majority-vote")
    values = missed["p_value"].values
    for alpha in (0.05, 0.1, 0.2):
        share = interval((values <= alpha).astype(float))
        assert float(missed["missed_mean"].sel(alpha=alpha)) == pytest.approx(share.mean)
        assert float(missed["missed_high"].sel(alpha=alpha)) == pytest.approx(share.high)
    assert result["guaranteed"].values.tolist() == [False, True, False]
    assert result["effective"].values.tolist() == [100.0] * 3
    massart = np.exp(-2 * 100 * result["ks_above"].values ** 2)
    np.testing.assert_allclose(result["p_super_uniform"], massart)
    assert result.attrs["n_calibration"] == 200


def test_calibration_on_votes_keeps_votes_and_breaks_drawn_labels() -> None:
    """One drawn label each: p-values are ranks among the calibration scores."""
    predictor, predictions, plausibilities = made("majority-vote", n=600)
    result = p_value_uniformity(predictor, predictions, plausibilities)
    assert result["guaranteed"].values.tolist() == [True, False]
    voted, drawn = result["p_super_uniform"].values
    assert voted > 0.05
    assert drawn < 1e-3
    rows = plausibilities.argmax("label")
    cal_predictions, cal_lam = (array[:600] for array in oracle.world(1200))
    old, new = cal_predictions[:, cal_lam.argmax("label")], predictions[:, rows]
    books = ks_2samp(old.values, new.values, method="asymp")
    of_votes = result.sel(of="majority-vote")
    assert float(of_votes["ks"]) == pytest.approx(books.statistic, abs=2 / 600)
    assert float(of_votes["p_uniform"]) == pytest.approx(books.pvalue, abs=0.05)


def test_examples_of_one_patient_count_for_less() -> None:
    predictor, predictions, plausibilities = made()
    plain = p_value_uniformity(predictor, predictions, plausibilities)
    copies = [f"copy {i}" for i in range(200)]
    twice, lam2 = (
        xr.concat([array, array.assign_coords(example=copies)], "example")
        for array in (predictions, plausibilities)
    )
    twice = twice.assign_coords(scan=("example", np.tile(np.arange(200), 2)))
    result = p_value_uniformity(predictor, twice, lam2, cluster="scan").sel(of="majority-vote")
    assert float(result["ks"]) == pytest.approx(float(plain["ks"].sel(of="majority-vote")))
    assert float(result["effective"]) == pytest.approx(100, rel=0.05)
    alone = p_value_uniformity(predictor, twice, lam2).sel(of="majority-vote")
    assert float(alone["effective"]) == pytest.approx(400 / 3)


PREDICTIONS, LAM = oracle.world(100)
CALIBRATED = calibrate(PREDICTIONS[:60], LAM[:60])


@pytest.mark.parametrize(
    "combiner", ["fisher", "ecdf", {"name": "pac", "bound": "held-out"}], ids=str
)
def test_a_guarantee_of_one_calibration_is_none_on_average(
    combiner: str | dict[str, object],
) -> None:
    p, plausibilities = oracle.world(300)
    predictor = calibrate(
        p[:200],
        plausibilities[:200],
        calibrator={"name": "monte-carlo", "draws": 3},
        combiner=combiner,
        allow_no_guarantee=True,
    )
    result = p_value_uniformity(predictor, p[200:], plausibilities[200:])
    assert not result["guaranteed"].values.any()


def test_a_guarantee_for_new_patients_is_tested_on_patients() -> None:
    p, plausibilities = oracle.world(300)
    patient = np.concatenate([np.arange(250), np.repeat([250, 251], 25)])
    p = p.assign_coords(patient=("example", patient))
    predictor = calibrate(
        p[:150], plausibilities[:150], calibrator={"name": "clustered", "by": "patient"}
    )
    result = p_value_uniformity(predictor, p[150:], plausibilities[150:]).sel(of="drawn")
    assert bool(result["guaranteed"])
    # 102 patients are tested, beside 150 that calibrated.
    assert float(result["effective"]) == pytest.approx(1 / (1 / 102 + 1 / 150))
    share = (result["p_value"].values <= 0.1).astype(float)
    by_patient = np.append(share[:100], [share[100:125].mean(), share[125:].mean()])
    assert float(result["missed_mean"].sel(alpha=0.1)) == pytest.approx(by_patient.mean())
    bare = p_value_uniformity(predictor, p[150:].drop_vars("patient"), plausibilities[150:])
    assert not bare["guaranteed"].values.any()


@said(__file__)
def test_each_call_gives_its_text(call: str, text: str) -> None:
    check(call, text, globals())
