"""The table and the verdict: averages, sites, labels, new patients, enough answers, and risk."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr

import plausibly
from call_files import each_call
from plausibly.evaluation import Evaluation, Sensitivity, Study, evaluate
from plausibly.evaluation.intervals import interval
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.guarantee import Guarantee, Target
from plausibly.kernels.random import hash_names
from tables import labelled

from . import studies as oracle

ANIMALS = ["cat", "dog", "fox"]


def judged(
    covered: int,
    *,
    examples: int = 400,
    level: str | None = "9/10",
    target: Target = "aggregated",
    has: int = 100,
    confidence: str | None = None,
    vacuous: bool = False,
    overlap: int = 0,
) -> xr.DataArray:
    """Sets that hold the certain label of `covered` examples, and no other label."""
    held = np.arange(examples) < covered
    guarantee = Guarantee(
        alpha=Fraction(1, 10),
        level=None if level is None else Fraction(level),
        target=target,
        reason="w",
        has=has,
        confidence=None if confidence is None else Fraction(confidence),
        vacuous=vacuous,
    )
    inside = np.stack([held, ~held, np.zeros_like(held)], axis=1)
    stated = json.dumps([guarantee.to_json()])
    attrs = {"guarantees": stated, "calibration_overlap": overlap}
    return labelled(inside, "e", ANIMALS, attrs=attrs).assign_coords(alpha=0.1)


def sure(examples: int = 400) -> xr.DataArray:
    return labelled(np.tile([1.0, 0.0, 0.0], (examples, 1)), "e", ANIMALS)


def test_the_verdict_on_calibration_examples() -> None:
    with pytest.warns(match="calibrated their predictor"):
        result = evaluate(judged(364, overlap=40), sure())
    assert result.verdict().endswith("40 of the examples calibrated the predictor: no evidence.")


def split_experts() -> tuple[xr.DataArray, xr.DataArray]:
    """Sets that hold one label: all of what is said of the certain, 0.4 of the disputed ones."""
    plausibilities = sure()
    plausibilities[300:] = [0.4, 0.3, 0.3]
    sets = judged(400, level="4/5").assign_coords(
        site=("example", np.where(np.arange(400) < 280, "north", "a far southern site")),
        known=("example", ["cat"] * 400),
    )
    return sets, plausibilities


TIED = sure()
TIED[:100] = [0.5, 0.5, 0]
ALL_HELD, PLACE = judged(400).drop_vars("alpha"), np.arange(400)
ALPHAS = xr.Variable("alpha", [0.1, 0.25])
WARDS = ("example", PLACE % 8)
BOTH_ALPHAS = xr.concat([ALL_HELD, ~ALL_HELD], dim=ALPHAS).assign_attrs(ALL_HELD.attrs)
ROUGH = judged(360).assign_coords(
    site=("example", np.where(PLACE < 392, "north", "south")),
    patient=("example", np.where(PLACE < 392, PLACE, PLACE // 2)),
)


LABELS = ["a", "b", "c"]


def certain(held: np.ndarray, labels: list[int], **coords: object) -> tuple[xr.DataArray, ...]:
    """Sets that hold the certain label where told, and the plausibilities of these labels."""
    named = {name: ("example", np.asarray(values)) for name, values in coords.items()}
    plausibilities = labelled(np.eye(3)[labels]).assign_coords(named)
    sets = (plausibilities > 0) & np.asarray(held, dtype=bool)[:, None]
    return sets.assign_coords(alpha=0.2), plausibilities


def predictor(calibrator: dict[str, str], sizes: dict[str, int]) -> plausibly.ConformalPredictor:
    """A predictor that was calibrated on so many examples of each site, three of each patient."""
    site = np.repeat(list(sizes), list(sizes.values()))
    values = np.random.default_rng(0).dirichlet(np.ones(3), len(site))
    model = labelled(values, "c", site=site, patient=np.arange(len(site)) // 3)
    return plausibly.calibrate(model, model.copy(), calibrator=calibrator)


def guaranteed(sets: xr.DataArray, of: plausibly.ConformalPredictor) -> xr.DataArray:
    model = sets.astype(float).drop_vars("alpha").copy(data=np.full(sets.shape, 1 / 3))
    carried = of.predict(model.assign_coords(label=LABELS), 0.2).attrs
    return sets.assign_attrs(carried)


MONDRIAN = {"name": "mondrian", "by": "site"}
SITES = np.repeat(["north", "south", "west"], [200, 200, 30])
HELD = np.concatenate([np.arange(200) < 190, np.arange(200) < 190, np.arange(30) < 14])


def test_a_guarantee_for_each_site_is_checked_in_each() -> None:
    sets, plausibilities = certain(HELD, [0] * 430, site=SITES)
    large = {"north": 300, "south": 300, "west": 3000, "east": 60}
    result = evaluate(guaranteed(sets, predictor(MONDRIAN, large)), plausibilities, by="site").data
    assert float(result["aggregated_coverage_mean"]) > 0.9
    assert Evaluation(result).verdict() == (
        'Below the guarantee for 1 of 3 values of "site" (lowest: west, 0.467, 0.272 to 0.672): '
        "0.80 on average, measured 0.916; these examples may differ from the calibration set; 1 "
        "without test examples."
    )
    (cells,) = [item["guaranteed"] for item in Evaluation(result).to_json()["results"]]  # type: ignore[attr-defined]  # plain data
    west = interval(HELD[400:] * 1.0, among=3)
    assert [item["cell"] for item in cells] == ["east", "north", "south", "west"]
    assert cells[0]["n"] == 0
    assert cells[0]["mean"] is None
    assert (cells[3]["n"], cells[3]["low"], cells[3]["high"]) == (30, west.low, west.high)
    without = evaluate(guaranteed(sets, predictor(MONDRIAN, large)), plausibilities)
    assert "Not checked" in without.verdict()
    assert 'by="site"' in without.verdict()
    assert "guaranteed_mean" not in without.data


def test_a_guarantee_for_each_label_is_checked_by_the_mass_of_each() -> None:
    held = np.concatenate([np.ones(300), np.arange(60) < 24, np.ones(40)])
    sets, plausibilities = certain(held, [0] * 300 + [1] * 60 + [2] * 40)
    plausibilities[-40:] = [0.5, 0.0, 0.5]
    sets[-40:] = [True, False, True]
    of = predictor({"name": "mondrian", "by": "label"}, {"x": 3000})
    result = evaluate(guaranteed(sets, of), plausibilities).data
    assert result["guaranteed_n"].values.tolist() == [320, 60, 20]
    assert result["guaranteed_mean"].values.tolist() == [1, 0.4, 1]
    assert "for 1 of 3 labels (lowest: b, 0.400" in Evaluation(result).verdict()
    turned = evaluate(guaranteed(sets[:, ::-1], of), plausibilities).data
    counts = turned["guaranteed_n"].sel(guaranteed_cell=LABELS)
    assert counts.values.tolist() == [320, 60, 20]


PATIENTS = np.concatenate([np.arange(100), np.repeat([100, 101], 100)])
OF_PATIENTS = np.concatenate([np.arange(100) < 45, np.ones(200)])


@pytest.mark.parametrize("cluster", [None, "patient"])
def test_a_guarantee_for_new_patients_is_checked_by_patients(cluster: str | None) -> None:
    of = predictor({"name": "clustered", "by": "patient"}, {"x": 3000})
    sets, plausibilities = certain(OF_PATIENTS, [0] * 300, patient=PATIENTS)
    result = evaluate(guaranteed(sets, of), plausibilities, cluster=cluster).data
    assert float(result["aggregated_coverage_mean"]) > 0.8
    assert float(result["guaranteed_mean"]) == pytest.approx(47 / 102)
    alone = interval(np.append(OF_PATIENTS[:100], [1.0, 1.0]))
    assert float(result["guaranteed_low"]) == pytest.approx(alone.low, abs=0.003)
    assert (
        Evaluation(result)
        .verdict()
        .startswith('Below the guarantee: 0.80 of a new "patient" on average, measured 0.461')
    )
    few, answers = certain(OF_PATIENTS, [0] * 300, patient=PLACE[:300] % 6)
    few = guaranteed(few, of)
    assert "\nThe interval of the guarantee is rough: fewer than ten clusters" in str(
        evaluate(few, answers)
    )
    bare = evaluate(
        guaranteed(sets, of).drop_vars("patient"), plausibilities.drop_vars("patient")
    ).data
    verdict = Evaluation(bare).verdict()
    assert verdict.startswith("Not checked")
    assert "examples have no coordinate" in verdict
    assert "by=" not in verdict


def world_of_patients(n: int = 120) -> tuple[xr.DataArray, xr.DataArray]:
    model, plausibilities = oracle.world(n, labels=3)
    return model.assign_coords(patient=("example", np.minimum(np.arange(n), 70))), plausibilities


def test_a_study_sets_the_level_beside_the_mean_over_patients() -> None:
    model, plausibilities = world_of_patients()
    of_patients = {"name": "clustered", "by": "patient"}
    methods: dict[str, dict[str, object]] = {
        "new": {"calibrator": of_patients},
        "all": {"calibrator": "expected"},
    }
    study = plausibly.compare(
        model, plausibilities, methods, alphas=[0.2], splits=3, cluster="patient"
    ).data
    named = study.sel({"method": "new"})
    assert np.isnan(named["guaranteed_level"]).all()
    assert float(study.sel({"method": "all"})["guaranteed_level"][0]) == 0.8
    keys = split_keys(0, 0)
    test = split(hash_names(model["example"].values), keys, groups=model["patient"].values)
    predictor = plausibly.calibrate(
        model[~test],
        plausibilities[~test],
        calibrator=of_patients,
        cluster="patient",
        seed=split_seed(0, 0),
    )
    covered = evaluate(predictor.predict(model[test], 0.2), plausibilities[test]).data
    assert float(named["cluster_coverage"][0, 0]) == pytest.approx(
        float(covered["guaranteed_mean"])
    )
    mean = float(named["cluster_coverage"].mean())
    row, below = Study(study).lines()[2:4]
    assert row.split()[0::5] == ["new", "none"]
    assert below.split() == ["per", '"patient"', f"{mean:.3f}", "0.80"]
    assert below.index("0.80") == row.index("none")
    alone = plausibly.compare(model, plausibilities, methods, alphas=[0.2], splits=2).data
    assert "cluster_coverage" not in alone


def test_aggregators_are_compared_by_the_mean_over_patients() -> None:
    model, _ = world_of_patients()
    votes = [(f"case {row}", f"w{k}", f"l{row * k % 3}") for row in range(120) for k in range(3)]
    table = plausibly.build_annotations("single-label", votes, ["l0", "l1", "l2"])
    result = plausibly.sensitivity(
        model,
        table,
        ["label-frequency", "worker-agreement"],
        alphas=[0.2],
        calibrator={"name": "clustered", "by": "patient"},
        splits=2,
        cluster="patient",
    ).data
    assert np.isnan(result["guaranteed_level"]).all()
    assert not result["cluster_coverage"].equals(result["aggregated_coverage"])
    shown = "\n".join(Sensitivity(result).lines())
    mean = float(result["cluster_coverage"].mean("split")[0, 0, 0])
    assert "(mean of groups)" in shown
    assert f"{mean:.3f}" in shown


def evaluated(calibrator: str | dict[str, object], alpha: str | list[str] = "0.2") -> Evaluation:
    predictions, plausibilities = oracle.world(60, labels=3)
    predictions = predictions.assign_coords(risk=("label", [1.0, 2.0, 3.0]))
    predictor = plausibly.calibrate(predictions[:30], plausibilities[:30], calibrator=calibrator)
    return plausibly.evaluate(predictor.predict(predictions[30:], alpha), plausibilities[30:])


def test_mass_coverage_is_measured_as_it_is_guaranteed() -> None:
    method: dict[str, object] = {"name": "mass-coverage", "leave_out": 0.25}
    result = evaluated(method, ["0.2", "0.4"]).data
    wanted = result.aggregated_coverage >= 0.75 - 1e-9
    np.testing.assert_array_equal(result.mass_coverage.values, wanted.values)
    means = wanted.mean("example").values
    np.testing.assert_allclose(result.mass_coverage_mean.values, means, atol=1e-12)
    assert (result.mass_coverage_low < result.mass_coverage_mean).all()
    item = evaluated(method)
    line = next(line for line in item.lines() if line.startswith("enough answers"))
    assert f"{float(item['mass_coverage_mean']):.3f}" in line
    assert "0.80 of sets with 0.75 of the answers on average" in item.verdict()


@pytest.mark.parametrize("calibrator", ["expected", {"name": "risk", "by": "risk"}])
def test_mass_coverage_is_measured_only_where_it_is_guaranteed(
    calibrator: str | dict[str, object],
) -> None:
    result = evaluated(calibrator)
    assert "mass_coverage" not in result.data
    assert ("ByRisk measures it" in result.verdict()) == (calibrator != "expected")


def test_the_whole_may_be_the_name_of_a_coordinate() -> None:
    sets = judged(400).assign_coords(whole=("example", np.resize(["a", "b"], 400)))
    result = evaluate(sets, sure(), by="whole")
    assert result["group_n"].values.tolist() == [200, 200]
    assert "by whole" in str(result)


def test_of_many_alphas_the_first_are_printed_with_their_verdicts() -> None:
    alphas = xr.Variable("alpha", np.linspace(0.1, 0.9, 30))
    sets = xr.concat([ALL_HELD] * 30, dim=alphas).assign_attrs(ALL_HELD.attrs)
    *lines, last = str(evaluate(sets, sure())).splitlines()
    assert sum(line.startswith("alpha 0.") for line in lines) == 2 * 11
    assert last == "(19 more values of alpha: .lines())"


test_each_call_gives_its_text = each_call(__file__, globals())
