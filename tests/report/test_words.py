"""What a report says first: in words, the broken and the vacuous before all else."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import ConformalPredictor
from plausibly.report import sources
from plausibly.report.model import ReportData, Words
from plausibly.report.subject import Options, Reported
from plausibly.report.write import gather
from report_world import Made, of_compared, of_new, world


@pytest.fixture(scope="module")
def made() -> Made:
    return world(150)


def reported(
    predictor: ConformalPredictor, predictions: xr.DataArray, lam: xr.DataArray, alpha: str
) -> ReportData:
    """Return the data of a report without annotations."""
    data = Reported(predictions=predictions, plausibilities=lam, alphas=[alpha])
    return gather(sources.subject_of_predictor(predictor, data, Options(title="x")))


def test_the_verdict_says_what_is_measured_and_guaranteed(made: Made) -> None:
    words = Words(example="scan", examples="scans", annotator="reader", annotators="readers")
    report = of_new(made, options=Options(title="x", words=words))
    verdict = report.view(0, 0).verdict
    mean = report.view(0, 0).vote.aggregated.mean or 0
    assert verdict.sentence.startswith(f"These sets cover {100 * round(mean, 2):.0f}% of what ")
    assert "readers say (measured " in verdict.sentence
    assert "guaranteed 0.80, if new scans resemble these)" in verdict.sentence
    assert verdict.limits == (
        "About what readers say, not about the truth; about the average scan, not every scan."
    )
    titles = [title for title, _ in verdict.guarantee.rows]
    assert titles[:4] == ["covers", "on average", "assumes", "reason"]
    assert "checked" in titles
    assert titles[-1] == "not claimed"
    assert report.subtitle == "120 scans, 4 labels, 3 readers"


def test_examples_that_calibrated_are_no_evidence_and_that_comes_first(made: Made) -> None:
    lam = made.plausibilities
    predictor = plausibly.calibrate(made.predictions, lam)
    report = reported(predictor, made.predictions, lam, "0.2")
    verdict = report.view(0, 0).verdict
    told = "All 150 examples calibrated the predictor: what their sets cover is no evidence."
    assert verdict.sentence.startswith(told)
    assert (verdict.findings[0].severity, verdict.findings[0].sentence) == ("broken", told)
    assert report.believe.checks[0].name == "evaluated-on-calibration"


def test_sets_of_every_label_say_nothing(made: Made) -> None:
    report = of_new(made, calibrating=3, alphas=("0.1",))
    view = report.view(0, 0)
    assert view.verdict.sentence == (
        "At alpha 0.1 every set is every label: the guarantee of 0.90 is kept, and says nothing. "
        "It says something with 9 calibration examples or more; there are 3."
    )
    assert view.verdict.findings[0].severity == "vacuous"
    assert view.sizes.sentence == "Every set is every label, all 4 of them: they say nothing."
    assert view.surprising.sentence == "No set leaves out anything that annotators said."


def test_a_guarantee_that_is_not_kept_is_called_so(made: Made) -> None:
    # New examples whose experts say what the model does not.
    lam = made.plausibilities
    predictor = plausibly.calibrate(made.predictions[:50], lam[:50])
    turned = lam[50:].copy(data=np.roll(lam[50:].values, 1, axis=1))
    report = reported(predictor, made.predictions[50:], turned, "0.1")
    verdict = report.view(0, 0).verdict
    assert verdict.sentence.startswith("These sets cover less than is guaranteed: ")
    assert verdict.findings[0].name == "guarantee-broken"
    assert report.view(0, 0).weak.sentence.startswith("In ")


def test_votes_guarantee_nothing_of_what_experts_say(made: Made) -> None:
    report = of_compared(made)
    verdict = report.view(2, 0).verdict
    assert "of the votes of annotators (measured " in verdict.sentence
    assert "Of what annotators say nothing is guaranteed, and they cover " in verdict.sentence
    assert {finding.severity for finding in verdict.findings} == {"weak"}
    assert verdict.guarantee.shown == "nothing"


def test_copies_flatter_and_break_no_guarantee(made: Made) -> None:
    values = made.predictions.values.copy()
    values[1] = values[0]
    copied = attrs.evolve(made, predictions=made.predictions.copy(data=values))
    report = of_compared(copied)
    told = (
        "2 of 150 examples have exactly the predictions of another, and splits part them: shared "
        "ones flatter coverage."
    )
    findings = {one.name: one for one in report.view(0, 0).verdict.findings}
    assert (findings["examples-alike"].severity, findings["examples-alike"].sentence) == (
        "weak",
        told,
    )
    assert report.view(0, 0).verdict.sentence.startswith("These sets cover ")
    assert report.believe.sentence.startswith("1 assumption is broken: no copies among examples")


def test_known_examples_on_both_sides_break_an_assumption(made: Made) -> None:
    patients = ("example", [f"p{at // 2}" for at in range(150)])
    shared = attrs.evolve(made, predictions=made.predictions.assign_coords(patient=patients))
    report = of_compared(shared)
    broken = [check for check in report.believe.checks if check.state == "broken"]
    assert [check.name for check in broken] == ["cluster-on-both-sides"]
    assert report.believe.sentence == (
        "1 assumption is broken: no patient on both sides; 2 cannot be checked from data."
    )
    assert report.view(0, 0).verdict.findings[0].name == "cluster-on-both-sides"
    assert "patient" not in [column.name for column in report.groups]
