"""What a report says first: in words, the broken and the vacuous before all else."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import plausibly
from plausibly.report.model import Words
from plausibly.report.subject import Options
from plausibly.report.write import build
from report_world import Made, of_compared, of_new, subject_of, world


@pytest.fixture(scope="module")
def made() -> Made:
    return world(150)


def test_the_verdict_says_what_is_measured_and_guaranteed(made: Made) -> None:
    words = Words(example="scan", examples="scans", annotator="reader", annotators="readers")
    report = of_new(made, options=Options(title="x", words=words))
    verdict = report.view(0, 0).verdict
    mean = report.view(0, 0).vote.aggregated.mean or 0
    size = report.view(0, 0).vote.size.mean
    assert verdict.sentence == (
        f"The sets contain {100 * round(mean, 2):.0f}% of the readers' answers, with {size:.2f} "
        "labels per set."
    )
    assert verdict.about.startswith(f"Measured {mean:.3f} (")
    assert verdict.about.endswith(
        "guaranteed 0.80 on average, if new scans resemble the calibration set."
    )
    assert verdict.limits == (
        "The sets say what readers answer, not what is true, and hold on average, not for each "
        "scan."
    )
    titles = [title for title, _ in verdict.guarantee.rows]
    predictor = plausibly.calibrate(made.predictions[:30], made.plausibilities[:30])
    stated = [title for title, _ in predictor.guarantee("0.2").rows()]
    assert titles == [*stated[:-1], "checked", stated[-1]]
    assert report.subtitle == "120 scans, 4 labels, 3 readers"


def test_examples_that_calibrated_are_no_evidence_and_that_comes_first(made: Made) -> None:
    lam = made.plausibilities
    predictor = plausibly.calibrate(made.predictions, lam)
    report = build(subject_of(predictor, made.predictions, lam, ["0.2"]))
    verdict = report.view(0, 0).verdict
    told = "All 150 examples calibrated the predictor: their coverage is no evidence."
    assert verdict.sentence.startswith(told)
    assert (verdict.findings[0].severity, verdict.findings[0].sentence) == ("broken", told)
    assert report.assumptions.checks[0].name == "evaluated-on-calibration"


def test_sets_of_every_label_say_nothing(made: Made) -> None:
    report = of_new(made, calibrating=3, alphas=("0.1",))
    view = report.view(0, 0)
    assert view.verdict.sentence == (
        "At alpha 0.1 every set contains all 4 labels: the guarantee is vacuous, and the sets say "
        "nothing."
    )
    first = view.verdict.findings[0]
    assert first.severity == "vacuous"
    assert first.action == "Use at least 9 calibration examples (there are 3), or a larger alpha."
    assert view.sizes.sentence == "Every set contains all 4 labels: the sets say nothing."
    assert view.surprising.sentence == "Every set contains all answers to its example."


def test_a_guarantee_that_is_not_kept_is_called_so(made: Made) -> None:
    # New examples whose experts say what the model does not.
    lam = made.plausibilities
    predictor = plausibly.calibrate(made.predictions[:50], lam[:50])
    turned = lam[50:].copy(data=np.roll(lam[50:].values, 1, axis=1))
    report = build(subject_of(predictor, made.predictions[50:], turned, ["0.1"]))
    verdict = report.view(0, 0).verdict
    assert ", below the guaranteed 0.90" in verdict.sentence
    assert verdict.findings[0].name == "guarantee-broken"
    assert "Below the guarantee: sex f" in report.view(0, 0).weak.sentence


def test_votes_guarantee_nothing_of_what_experts_say(made: Made) -> None:
    report = of_compared(made)
    verdict = report.view(2, 0).verdict
    assert "of the annotators' majority votes, with " in verdict.sentence
    kept, weak = verdict.findings
    assert (kept.severity, weak.severity) == ("kept", "weak")
    answers = report.view(2, 0).vote.aggregated.mean or 0
    assert weak.sentence.startswith(f"Coverage of the annotators' answers is {answers:.3f} (")
    assert weak.sentence.endswith("nothing is guaranteed for it.")
    assert verdict.guarantee.shown == "none"


def test_copies_flatter_and_break_no_guarantee(made: Made) -> None:
    values = made.predictions.values.copy()
    values[1] = values[0]
    copied = attrs.evolve(made, predictions=made.predictions.copy(data=values))
    report = of_compared(copied)
    told = (
        "2 of 150 examples have exactly the predictions of another, and splits separate them: "
        "coverage looks higher than it is."
    )
    findings = {one.name: one for one in report.view(0, 0).verdict.findings}
    assert (findings["examples-alike"].severity, findings["examples-alike"].sentence) == (
        "weak",
        told,
    )
    assert report.view(0, 0).verdict.sentence.startswith("The sets contain ")
    assert report.assumptions.sentence.startswith("1 assumption is broken: no copies among ")


def test_known_examples_on_both_sides_break_an_assumption(made: Made) -> None:
    patients = ("example", [f"p{at // 2}" for at in range(150)])
    shared = attrs.evolve(made, predictions=made.predictions.assign_coords(patient=patients))
    report = of_compared(shared)
    broken = [check for check in report.assumptions.checks if check.state == "broken"]
    assert [check.name for check in broken] == ["cluster-on-both-sides"]
    assert report.assumptions.sentence == (
        "1 assumption is broken: no patient on both sides; 2 cannot be checked from data."
    )
    assert report.view(0, 0).verdict.findings[0].name == "cluster-on-both-sides"
    assert "patient" not in [column.name for column in report.groups]
