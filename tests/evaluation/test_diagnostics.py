"""Monte Carlo against expected calibrations, annotators left out, copies, shifts and p-values."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from scipy.special import stdtrit
from scipy.stats import ks_2samp

from call_files import each_call
from plausibly import aggregate, build_annotations, calibrate
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data.select import select_annotations
from plausibly.evaluation import (
    find_duplicates,
    interval,
    leave_one_annotator_out,
    monte_carlo_error,
    p_value_uniformity,
    shift_test,
)
from plausibly.evaluation.shift import warn_of_copies, warn_of_shift
from plausibly.evaluation.splits import split
from plausibly.evaluation.uniformity import distances
from plausibly.kernels.random import Keys, hash_names
from tables import labelled

from . import studies as oracle

PREDICTIONS, LAM = oracle.world(240)


def test_figures_are_those_of_the_calibrations() -> None:
    ticks: list[tuple[int, int]] = []
    result = monte_carlo_error(
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
    assert (result.attrs["n_calibration"], result.attrs["n_test"]) == (120, 120)
    exact = calibrate(PREDICTIONS[~test], LAM[~test])
    np.testing.assert_array_equal(result["expected_threshold"], exact.threshold([0.1, 0.3]))
    for m in (1, 4):
        for seed in (5, 6, 7):
            item = calibrate(
                PREDICTIONS[~test], LAM[~test], calibrator="monte-carlo", draws=m, seed=seed
            )
            sets = item.predict(PREDICTIONS[test], 0.3)
            here = result.sel(draws=m, seed=seed, alpha=0.3)
            assert float(here["threshold"]) == float(item.threshold(0.3))
            mean = float((sets * LAM[test]).sum("label").mean())
            assert float(here["coverage"]) == pytest.approx(mean)
            assert float(here["set_size"]) == pytest.approx(float(sets.sum("label").mean()))
    values = result["coverage"].sel(draws=4, alpha=0.1).values
    spread = float(values.std(ddof=1))
    assert float(result["coverage_sd"].sel(draws=4, alpha=0.1)) == pytest.approx(spread)
    gap = float(values.mean() - result["expected_coverage"].sel(alpha=0.1))
    high = float(result["coverage_difference_high"].sel(draws=4, alpha=0.1))
    assert float(result["coverage_difference"].sel(draws=4, alpha=0.1)) == pytest.approx(gap)
    assert high - gap == pytest.approx(float(stdtrit(2, 0.975)) * spread / 3**0.5)


def test_the_spread_shrinks_as_predicted() -> None:
    predictions, plausibilities = oracle.world(1200, seed=2)
    result = monte_carlo_error(predictions, plausibilities, draws=(1, 16), seeds=24).isel(alpha=0)
    spread, predicted = result["coverage_sd"].values, result["coverage_sd_predicted"].values
    assert predicted[0] / predicted[1] == pytest.approx(4)
    assert 0.7 < spread[0] / predicted[0] < 1.4
    assert 0.3 < spread[1] / predicted[1] < 1.7
    assert spread[1] < spread[0] / 2


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_every_label_has_no_difference_of_thresholds() -> None:
    result = monte_carlo_error(PREDICTIONS[:16], LAM[:16], draws=(2,), seeds=2)
    assert (result["expected_threshold"] == -np.inf).all()
    assert np.isnan(result["threshold_difference"]).all()
    assert (result["coverage_difference"] == 0).all()


def test_rows_in_any_order_and_groups_on_one_side() -> None:
    order = np.random.default_rng(0).permutation(240)
    first, second = (
        monte_carlo_error(predictions, plausibilities, draws=(2,), seeds=2, cluster="patient")
        for predictions, plausibilities in (
            (PREDICTIONS, LAM),
            (PREDICTIONS[order], LAM[order[::-1], ::-1].transpose()),
        )
    )
    xr.testing.assert_allclose(first, second, rtol=1e-12)
    assert first.attrs["n_test"] == second.attrs["n_test"]


LABELS = ["cat", "dog", "fox"]
Record = tuple[str, str | None, str]


def table(records: Sequence[Record], kind: str = "single-label") -> xr.Dataset:
    return build_annotations(kind, records, LABELS)


def world(
    examples: int = 60, annotators: int = 4, *, seed: int = 0
) -> tuple[xr.DataArray, list[Record]]:
    """Predictions, and votes drawn from them."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([1, 1, 1], size=examples)
    names_of = [f"e{i:03d}" for i in range(examples)]
    records: list[Record] = []
    for row, name in enumerate(names_of):
        for q in range(annotators):
            if q and rng.random() < 0.25:  # not everybody answers; annotator w0 does
                continue
            code = int(rng.choice(3, p=p[row]))
            records.append((name, f"w{q}", LABELS[code]))
    return labelled(p, names_of, LABELS, patient=np.arange(examples) // 3), records


def by_hand(
    predictions: xr.DataArray, records: list[Record], who: str, part: dict[str, int], alpha: float
) -> dict[str, tuple[float, float | None]]:
    own = {example: answer for example, q, answer in records if q == who}
    others = [record for record in records if record[1] != who]
    result: dict[str, tuple[float, float | None]] = {}
    for fold in sorted(set(part.values())):
        old = [record for record in others if part[record[0]] != fold]
        caught = sorted({example for example, _, _ in old})
        plausibilities = aggregate(table(old))
        predictor = calibrate(predictions.sel(example=caught), plausibilities.sel(example=caught))
        sets = predictor.predict(predictions, alpha)
        for example, answer in own.items():
            if part[example] != fold:
                continue
            inside = sets.sel(example=example)
            said = [a for e, _, a in others if e == example]
            rest = sum(bool(inside.sel(label=a)) for a in said) / len(said) if said else None
            result[example] = (float(inside.sel(label=answer)), rest)
    return result


@pytest.mark.parametrize("folds", [2, 3])
def test_left_out_annotators_are_measured_as_by_hand(folds: int) -> None:
    predictions, records = world()
    ticks: list[int] = []
    result = leave_one_annotator_out(
        predictions,
        table(records),
        alphas=[0.2, 0.4],
        folds=folds,
        progress=lambda done, of: ticks.append(done),
    )
    assert ticks == [1, 2, 3, 4]
    assert result["annotator"].values.tolist() == ["w0", "w1", "w2", "w3"]
    part = _parts(predictions, folds)
    covered: dict[str, list[float]] = {}
    for who in ("w0", "w1", "w2", "w3"):
        hand = by_hand(predictions, records, who, part, 0.4)
        first = result.sel(annotator=who, alpha=0.4)
        values = np.array([own for own, _ in hand.values()])
        alone = interval(values)
        assert first["count"] == len(hand)
        assert float(first["covered_mean"]) == pytest.approx(alone.mean)
        assert float(first["covered_low"]) == pytest.approx(alone.low)
        rest = [second for _, second in hand.values() if second is not None]
        assert float(first["others_mean"]) == pytest.approx(np.mean(rest))
        for example, (own, _) in hand.items():
            covered.setdefault(example, []).append(own)
    means = {example: float(np.mean(values)) for example, values in covered.items()}
    for example, mean in means.items():
        here = result["example_covered"].sel(example=example, alpha=0.4)
        assert float(here) == pytest.approx(mean)
    overall = interval(np.array(list(means.values())))
    assert float(result["overall_mean"].sel(alpha=0.4)) == pytest.approx(overall.mean)
    assert float(result["overall_high"].sel(alpha=0.4)) == pytest.approx(overall.high)


def _parts(predictions: xr.DataArray, folds: int) -> dict[str, int]:
    called = [str(name) for name in predictions["example"].values]
    hashes = hash_names(called)
    uniform = Keys(0).child("left-out-annotator").uniform(hashes)[:, 0]
    places = np.argsort(np.lexsort((hashes, uniform)))
    return dict(zip(called, (places * folds // len(called)).tolist(), strict=True))


def test_unknown_annotators_count_among_the_others_and_are_not_left_out() -> None:
    predictions, records = world()
    anonymous: list[Record] = [
        (example, None if q == "w3" else q, answer) for example, q, answer in records
    ]
    named = leave_one_annotator_out(predictions, table(records), annotators=["w1"])
    result = leave_one_annotator_out(predictions, table(anonymous))
    assert result["annotator"].values.tolist() == ["w0", "w1", "w2"]
    item = result.sel(annotator="w1")
    for name in ("covered_mean", "others_mean", "count"):
        np.testing.assert_array_equal(item[name], named[name].sel(annotator="w1"))


def test_rows_in_any_order_and_groups_in_one_part() -> None:
    predictions, records = world()
    rng = np.random.default_rng(0)
    first = leave_one_annotator_out(predictions, table(records), cluster="patient")
    shuffled = [records[place] for place in rng.permutation(len(records))]
    second = leave_one_annotator_out(
        predictions[rng.permutation(60), ::-1].transpose(), table(shuffled), cluster="patient"
    )
    second = second.sel(example=first["example"], annotator=first["annotator"])
    xr.testing.assert_allclose(first, second, rtol=1e-12)
    plain = leave_one_annotator_out(predictions, table(records))
    assert (first["covered_low"] != plain["covered_low"]).any()


def test_rankings_are_aggregated_alone_and_together() -> None:
    rng = np.random.default_rng(1)
    predictions, _ = world(40)
    records = []
    for name in predictions["example"].values:
        for q in range(3):
            order = [LABELS[k] for k in rng.permutation(3)]
            records.append((str(name), f"w{q}", [[order[0]], order[1:]]))
    annotations = build_annotations("partial-ranking", records, LABELS)
    result = leave_one_annotator_out(predictions, annotations, calibrator="monte-carlo", seed=3)
    assert result["count"].values.tolist() == [40, 40, 40]
    # The first place alone has 2/3 of one ranking: coverage is between what is named.
    fine = result["example_covered"].values
    assert ((fine >= 0) & (fine <= 1)).all()
    assert len(np.unique(fine.round(9))) > 2


SMALL, RECORDS = world(20)
SOME_VOTES = select_annotations(table(RECORDS), example=[f"e{i:03d}" for i in range(5, 20)])
UNNAMED = table([(example, None, answer) for example, _, answer in RECORDS])


test_each_call_gives_its_text = each_call(__file__, globals())


# ---- copies and shifts


def predictions(n: int, *, letter: str = "e", seed: int = 0, decimals: int = 17) -> xr.DataArray:
    values = np.random.default_rng(seed).dirichlet(np.full(4, 0.7), size=n).round(decimals)
    return labelled(values, letter, attrs={"scale": "independent"})


def copied(old: xr.DataArray, new: xr.DataArray, rows: list[int]) -> xr.DataArray:
    """New predictions, of which the first few are those of some old examples."""
    values = new.values.copy()
    values[: len(rows)] = old.values[rows]
    return new.copy(data=values)


OLD, NEW = predictions(100, letter="c"), predictions(80, letter="n", seed=1)
SAME = copied(OLD, NEW, [7, 0, 50])


BOTH = xr.concat([OLD, SAME], "example")
PATIENTS = np.array([f"p{i}" for i in range(180)])
PATIENTS[[7, 100]] = "same"
APART = PATIENTS.copy()
APART[[0, 101]], APART[[50, 102]] = "a", "b"


def rounded(decimals: int) -> list[tuple[str, str]]:
    old = predictions(60, letter="c", decimals=decimals)
    new = predictions(60, letter="n", seed=1, decimals=decimals)
    return find_duplicates(old, copied(old, new, [1, 2]))


def test_a_model_of_few_answers_says_nothing() -> None:
    leaves = predictions(10).values
    rng = np.random.default_rng(0)
    tree = OLD.copy(data=leaves[rng.integers(0, 10, 100)])
    assert find_duplicates(tree, NEW.copy(data=leaves[rng.integers(0, 10, 80)])) == []
    assert warn_of_copies(tree) == 0  # and no warning, which would be an error here
    one_hot = OLD.copy(data=np.eye(4)[rng.integers(0, 4, 100)]).drop_attrs()
    assert (
        find_duplicates(one_hot.assign_attrs(scale="any"), one_hot.assign_attrs(scale="any")) == []
    )


def test_shift_is_the_test_of_two_samples() -> None:
    rng = np.random.default_rng(0)
    old, new = rng.random(300), rng.random(200) ** 1.2
    books = ks_2samp(old, new, method="asymp")
    result = shift_test(old, new)
    assert result.distance == pytest.approx(books.statistic)
    assert result.p_value == pytest.approx(books.pvalue, rel=0.3)
    assert (result.calibration, result.new, result.suspected) == (300, 200, False)
    tied = shift_test(np.repeat([0.1, 0.2], 50), np.repeat([0.1, 0.2], [30, 70]))
    assert tied.distance == pytest.approx(0.2)
    assert not warn_of_shift(SCORES, np.linspace(0, 1, 500)).suspected


SCORES = np.linspace(0, 1, 1000)


@pytest.mark.realdata
@pytest.mark.parametrize("data", ["chaosnli_snli", "cifar10h", "imagenet16h", "lidc_malignancy"])
def test_real_models_give_no_row_twice(shared: Path, data: str) -> None:
    values = np.load(shared / "data" / data / "data.npz", allow_pickle=False)["probs"]
    values = values.reshape(-1, *values.shape[-2:])[0]
    names = [f"l{k}" for k in range(values.shape[1])]
    assert warn_of_copies(labelled(values, "e", names, attrs={"scale": "independent"})) == 0


# ---- p-values of majority votes, drawn and true labels, and their distances from uniform


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
    same = (another["p_value"] == result["p_value"]).all("example")
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
