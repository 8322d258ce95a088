"""What the figures measure, against oracles; and the tables that hold it."""

from __future__ import annotations

import csv
import math
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from plausibly.conformal.calibrate import calibrate
from plausibly.errors import MissingExtra
from plausibly.kernels.draws import draw_labels
from plausibly.paper import cases, images, procedures, pvalues
from plausibly.paper.data import Data, own_data, toy_data
from plausibly.paper.figure import Study, monte_carlo
from plausibly.paper.page import write_numbers

from .runs import SPLITS, made

SETTINGS = [
    (Fraction(*ratio), n, draws)
    for ratio in ((1, 10), (27, 100), (1, 20), (29, 100))
    for n in (9, 19, 99, 100, 688)
    for draws in (1, 2, 10)
]


@pytest.mark.parametrize(("alpha", "n", "draws"), SETTINGS)
def test_the_naive_rank_is_the_standard_quantile(alpha: Fraction, n: int, draws: int) -> None:
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


def still(count: int) -> NDArray[np.float64]:
    """Return uniforms that neither turn nor shift, and add no noise."""
    uniform = np.full((count, images.UNIFORMS), 0.5)
    uniform[:, 3 : 3 + images.SIDE**2] = 0.0  # no radius
    return uniform


def test_a_shift_of_one_pixel_moves_every_pixel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "_SHIFT", 1.0)
    given, uniform = images.load()[0][0][:5], still(5)
    uniform[:, 1] = 1.0  # down by one row
    found = images.perturbed(given, uniform)
    assert np.allclose(found[:, 1:], given[:, :-1], atol=1e-12)
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


def small() -> Data:
    """Return data of a user: votes of five, and a model that knows them roughly."""
    generator = np.random.default_rng(3)
    truth = generator.dirichlet(np.ones(4), size=240)
    coords = {"example": [f"e{i}" for i in range(240)], "label": list("abcd")}
    votes = draw_labels(truth, generator.uniform(size=(240, 5)))
    lam = np.stack([(votes == label).mean(axis=0) for label in range(4)], axis=1)
    model = 0.7 * truth + 0.3 / 4
    dims = ("example", "label")
    return own_data(
        xr.DataArray(model, dims=dims, coords=coords),
        xr.DataArray(lam, dims=dims, coords=coords)[::-1],
        name="small",
    )


def test_data_of_a_user_are_matched_by_name() -> None:
    data = small()
    assert data.plausibilities["example"].equals(data.predictions["example"])
    assert data.about == "small: 240 examples, 4 labels"
    assert data.groups is None
    with pytest.raises(ValueError, match="no label of the small is known"):
        data.certain  # noqa: B018  # reading it is what raises


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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
    rows = read(tmp_path / "n.csv")
    assert list(rows[0]) == ["data", "quantity", "method", "split", "value"]
    assert len(rows) == 4 + 2 + 1
    assert rows[2] == {
        "data": "toy",
        "quantity": "coverage",
        "method": "two",
        "split": "0",
        "value": repr(1 / 3),
    }
    assert [row["value"] for row in rows[4:]] == ["1", "0", "0.5"]
    assert rows[-1]["method"] == ""
    write_numbers(numbers.assign_attrs(simulated=1), tmp_path / "s.csv")
    assert {row["data"] for row in read(tmp_path / "s.csv")} == {"toy (simulated predictions)"}


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.neural_network", None)
    with pytest.raises(MissingExtra) as caught:
        toy_data(17, 99)
    assert (caught.value.name, caught.value.hint) == (
        "extra-missing",
        'pip install "plausibly[demo]"',
    )
