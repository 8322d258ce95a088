"""What the figures measure, against oracles; and the tables that hold it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest

from plausibly.conformal.calibrate import calibrate
from plausibly.paper import cases, images, toy
from plausibly.paper.data import toy_data
from plausibly.paper.figure import Study, monte_carlo

from .runs import SPLITS, made


def test_the_naive_rank_is_the_standard_quantile() -> None:
    alphas = [Fraction(*ratio) for ratio in ((1, 10), (27, 100), (1, 20), (29, 100))]
    for alpha, n, draws in product(alphas, (9, 19, 99, 100, 688), (1, 2, 10)):
        other = cases.standard(alpha, n, draws)
        rank = math.floor(other * draws * (n + 1)) - draws + 1
        # The standard level floor(alpha (n + 1)) / n of draws n scores.
        level = Fraction(math.floor(alpha * (n + 1)), n)
        assert rank == math.ceil(level * draws * n)
        if draws == 1:
            assert rank == math.floor(alpha * (n + 1))


def test_the_naive_threshold_is_an_order_statistic_of_the_drawn_scores() -> None:
    study = Study(source=partial(toy_data, 200, 1), alpha="0.1")
    rows = study.rows(0)
    predictor = study.calibrated(rows, monte_carlo(), seed=3)
    atoms = np.sort(predictor.pools.calibration.scores, axis=None)
    alpha, n = Fraction(1, 10), int((~rows).sum())
    rank = 10 * math.floor(alpha * (n + 1))
    assert float(predictor.threshold(cases.standard(alpha, n, 10))) == atoms[rank - 1]


def test_pooled_augmentations_use_the_rank_of_algorithm_1() -> None:
    made_of = images.augmented(1)
    count, n = 10, 120
    part, lam = made_of.every[:count, :n], made_of.plausibilities[:n]
    predictor = calibrate(part, lam, calibrator=images.POOLED)
    own = lam.values.argmax(axis=1)
    scores = np.sort(part.values[:, np.arange(n), own], axis=None)
    for alpha in (Fraction(1, 10), Fraction(1, 5)):
        rank = math.floor(alpha * count * (n + 1)) - count + 1
        assert float(predictor.threshold(alpha)) == scores[rank - 1]


def test_digits_of_an_overlaid_image_share_its_mass() -> None:
    data = images.overlaid(1)
    counts = data.holds.sum(axis=1)
    assert set(counts.tolist()) == {1, 2}
    assert np.array_equal(data.plausibilities.values, data.holds / counts[:, None])


def test_what_a_predictor_covers_is_counted_by_hand() -> None:
    study = Study(source=partial(toy_data, 200, 1), alpha="0.1")
    data, rows = study.data, study.rows(0)
    predictor = study.calibrated(rows, {"calibrator": "expected"}, seed=1)
    one = study.measured(predictor, rows)
    tau = float(predictor.threshold("0.1"))
    lam, model = data.plausibilities.values[rows], data.predictions.values[rows]
    inside = model >= tau
    assert data.true_label is not None
    labels = data.predictions["label"].values.tolist()
    true = [labels.index(label) for label in data.true_label.values[rows]]
    assert one["aggregated_coverage"] == pytest.approx((lam * inside).sum(axis=1).mean())
    assert one["set_size"] == pytest.approx(inside.sum(axis=1).mean())
    assert one["true_coverage"] == pytest.approx(inside[np.arange(len(true)), true].mean())
    assert one["majority_vote_coverage"] == pytest.approx(
        inside[np.arange(len(true)), lam.argmax(axis=1)].mean()
    )


def test_corrected_p_values_are_those_of_the_ecdf() -> None:
    numbers = made("ecdf").numbers
    averaged, corrected = numbers["averaged"].values, numbers["corrected"].values
    order = np.argsort(averaged)
    assert (np.diff(corrected[order]) >= 0).all()
    # Averages of ten uniforms, each twice: mean 1/2, variance 1/120.
    assert averaged.mean() == pytest.approx(0.5, abs=0.004)
    assert averaged.var() == pytest.approx(1 / 120, rel=0.06)
    assert float(numbers["band"]) == pytest.approx(math.sqrt(math.log(2e4) / (2 * toy.COUNT)))
    assert numbers["corrected_level"].values[-1] == 1


def test_the_table_states_the_papers_levels_and_ours() -> None:
    numbers = made("procedures").numbers
    paper = dict(zip(numbers["method"].values, numbers["paper_level"].values, strict=True))
    proved = dict(zip(numbers["method"].values, numbers["proved_level"].values, strict=True))
    assert paper[toy.ONE] == pytest.approx(0.9)
    assert paper[toy.MANY] == pytest.approx(0.8)
    assert paper[toy.ECDF] == pytest.approx(0.9 * 0.9999)
    assert proved[toy.MANY] == pytest.approx(0.9)
    assert np.isnan(proved["majority-vote"])
    assert numbers["coverage_over_labels"].sizes["repetition"] == SPLITS
    assert np.ptp(numbers["coverage_over_labels"].sel({"method": "expected"}).values) == 0
    extra = numbers["method"].values[numbers["extra_split"].values]
    assert extra.tolist() == [toy.ECDF, "held-out-rank", "pac"]


def test_the_p_values_of_the_first_figure_are_thresholded_scores() -> None:
    numbers = made("toy").numbers
    assert int(numbers["cells_that_differ"].sum()) == 0
    by_score = numbers["score"].values >= float(numbers["threshold"])
    assert np.array_equal(by_score, numbers["p_value"].values > numbers.attrs["alpha"])
    assert np.array_equal(by_score, numbers["in_set"].values)


def test_seeds_and_nothing_else_change_the_numbers() -> None:
    figure = made("ecdf").entry.load()
    first, second, other = (figure.measure(splits=2, seed=seed) for seed in (5, 5, 6))
    assert first.identical(second)
    assert not first["corrected"].equals(other["corrected"])
