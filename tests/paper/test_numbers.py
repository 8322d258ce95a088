"""What the figures measure, against oracles; and the tables that hold it."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from plausibly.conformal.calibrate import calibrate
from plausibly.errors import MissingExtra
from plausibly.paper import cases, images, procedures, pvalues
from plausibly.paper.data import own_data, toy_data
from plausibly.paper.figure import Study, monte_carlo
from plausibly.paper.page import write_numbers

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


def test_a_shift_of_one_pixel_moves_every_pixel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "_SHIFT", 1.0)
    originals = images.load()[0][0][:5]
    uniform = np.full((5, images.UNIFORMS), 0.5)
    uniform[:, 3 : 3 + images.SIDE**2] = 0.0  # no radius, so no noise
    uniform[:, 1] = 1.0  # down by one row
    found = images.perturbed(originals, uniform)
    assert np.allclose(found[:, 1:], originals[:, :-1], atol=1e-12)
    assert np.allclose(found[:, 0], 0, atol=1e-12)


def test_overlaid_images_are_the_darker_of_two_and_share_their_mass() -> None:
    made_of = images.overlaid(1)
    lam = made_of.plausibilities
    counts = made_of.holds.sum(axis=1)
    assert set(counts.tolist()) == {1, 2}
    assert np.array_equal(lam.values, made_of.holds / counts[:, None])
    assert made_of.images.max() == 1


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
    assert float(numbers["band"]) == pytest.approx(math.sqrt(math.log(2e4) / (2 * pvalues.COUNT)))
    assert numbers["corrected_level"].values[-1] == 1


def test_the_table_states_the_papers_levels_and_ours() -> None:
    numbers = made("procedures").numbers
    paper = dict(zip(numbers["method"].values, numbers["paper_level"].values, strict=True))
    proved = dict(zip(numbers["method"].values, numbers["proved_level"].values, strict=True))
    assert paper[procedures.ONE] == pytest.approx(0.9)
    assert paper[procedures.MANY] == pytest.approx(0.8)
    assert paper[procedures.ECDF] == pytest.approx(0.9 * 0.9999)
    assert proved[procedures.MANY] == pytest.approx(0.9)
    assert np.isnan(proved["majority-vote"])
    assert numbers["coverage_over_labels"].sizes["repetition"] == SPLITS
    assert np.ptp(numbers["coverage_over_labels"].sel({"method": "expected"}).values) == 0
    extra = numbers["method"].values[numbers["extra_split"].values]
    assert extra.tolist() == [procedures.ECDF, "held-out-rank", "pac"]


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


def test_data_of_a_user_are_matched_by_name() -> None:
    shares = [[0.8, 0.2], [0.4, 0.6], [0.0, 1.0]]
    coords = {"example": ["e1", "e2", "e3"], "label": ["a", "b"]}
    model = xr.DataArray(shares, coords, ("example", "label"))
    data = own_data(model, model[::-1], name="small")
    assert data.plausibilities["example"].equals(data.predictions["example"])
    assert data.about == "small: 3 examples, 2 labels"
    assert data.groups is None
    with pytest.raises(ValueError, match="no label of the small is known"):
        data.certain  # noqa: B018  # reading it is what raises


def test_a_table_holds_every_number(tmp_path: Path) -> None:
    numbers = xr.Dataset(
        {
            "coverage": (("method", "split"), [[0.1, 0.25], [1 / 3, 1.0]]),
            "in_set": ("method", [True, False]),
            "threshold": ((), 0.5),
        },
        coords={"method": ["one", "two"], "split": [0, 1]},
        attrs={"data": "toy", "simulated": 0},
    )
    write_numbers(numbers, tmp_path / "n.csv")
    assert (tmp_path / "n.csv").read_text(encoding="utf-8").splitlines() == [
        "data,quantity,method,split,value",
        "toy,coverage,one,0,0.1",
        "toy,coverage,one,1,0.25",
        f"toy,coverage,two,0,{1 / 3!r}",
        "toy,coverage,two,1,1.0",
        "toy,in_set,one,,1",
        "toy,in_set,two,,0",
        "toy,threshold,,,0.5",
    ]
    write_numbers(numbers.assign_attrs(simulated=1), tmp_path / "s.csv")
    assert "\ntoy (simulated predictions),coverage,one," in (tmp_path / "s.csv").read_text()


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.neural_network", None)
    with pytest.raises(MissingExtra) as caught:
        toy_data(17, 99)
    assert (caught.value.name, caught.value.hint) == (
        "extra-missing",
        'pip install "plausibly[demo]"',
    )
