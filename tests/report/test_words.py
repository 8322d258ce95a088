"""First findings of a report, and its words on unusual data, without empty charts."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest

import plausibly
from plausibly.report import sections
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
    verdict, vote = report.view(0, 0).verdict, report.view(0, 0).vote
    assert verdict.sentence == (
        f"The sets contain {100 * round(vote.aggregated.mean, 2):.0f}% of the readers' answers, "
        f"with {vote.size.mean:.2f} labels per set."
    )
    assert verdict.about.startswith(f"Measured {vote.aggregated.mean:.3f} (")
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
    plausibilities = made.plausibilities
    predictor = plausibly.calibrate(made.predictions, plausibilities)
    report = build(subject_of(predictor, made.predictions, plausibilities, ["0.2"]))
    verdict = report.view(0, 0).verdict
    text = "All 150 examples calibrated the predictor: their coverage is no evidence."
    assert verdict.sentence.startswith(text)
    assert (verdict.findings[0].severity, verdict.findings[0].sentence) == ("broken", text)
    assert report.assumptions.checks[0].name == "evaluated-on-calibration"
    # There are neither annotations nor answers here.
    assert report.disagreement.sentence.startswith(
        "There are plausibilities, but no single answers: agreement of annotators"
    )
    assert report.cases.annotators == ()
    assert set(report.cases.answers) == {()}


def test_sets_of_every_label_say_nothing(made: Made) -> None:
    view = of_new(made, calibrating=3, alphas=("0.1",)).view(0, 0)
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
    # New examples on which annotators and model disagree.
    plausibilities = made.plausibilities
    predictor = plausibly.calibrate(made.predictions[:50], plausibilities[:50])
    turned = plausibilities[50:].copy(data=np.roll(plausibilities[50:].values, 1, axis=1))
    report = build(subject_of(predictor, made.predictions[50:], turned, ["0.1"]))
    verdict = report.view(0, 0).verdict
    assert ", below the guaranteed 0.90" in verdict.sentence
    assert verdict.findings[0].name == "guarantee-broken"
    assert "Below the guarantee: sex f" in report.view(0, 0).weak.sentence


def test_calibration_on_votes_guarantees_nothing_for_all_answers(made: Made) -> None:
    report = of_compared(made)
    all_answers, voted = report.view(0, 1).vote, report.view(2, 1).vote
    assert all_answers.sentence == (
        f"These sets contain {all_answers.aggregated.mean:.0%} of the annotators' answers, with "
        f"{all_answers.size.mean:.2f} labels per set. Calibrated on the majority vote, they would "
        f"contain {voted.aggregated.mean:.0%}, with {voted.size.mean:.2f}."
    )
    verdict = report.view(2, 0).verdict
    assert "of the annotators' majority votes, with " in verdict.sentence
    kept, weak = verdict.findings
    assert (kept.severity, weak.severity) == ("kept", "weak")
    mean = report.view(2, 0).vote.aggregated.mean
    assert weak.sentence.startswith(f"Coverage of the annotators' answers is {mean:.3f} (")
    assert weak.sentence.endswith("nothing is guaranteed for it.")
    assert verdict.guarantee.shown == "none"


def test_copies_flatter_and_break_no_guarantee(made: Made) -> None:
    values = made.predictions.values.copy()
    values[1] = values[0]
    report = of_compared(attrs.evolve(made, predictions=made.predictions.copy(data=values)))
    finding = next(f for f in report.view(0, 0).verdict.findings if f.name == "examples-alike")
    assert (finding.severity, finding.sentence) == (
        "weak",
        "2 of 150 examples have exactly the predictions of another, and splits separate them: "
        "coverage looks higher than it is.",
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


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"agreed": True}, "All annotators agree on every example."),
        (
            {"annotators": ("ann",)},
            "No example has answers of two annotators: disagreement cannot be measured.",
        ),
    ],
)
def test_no_disagreement(options: dict[str, Any], text: str) -> None:  # Any: each has its type
    disagreement = of_new(world(60, **options)).disagreement
    assert (disagreement.sentence, disagreement.nothing) == (text, text)
    assert all(cell.a == cell.b for cell in disagreement.cells)


def test_rankings_keep_their_blocks() -> None:
    made = world(40)
    examples = [str(name) for name in made.predictions["example"].values]
    rankings = [(name, "ann", ["dog", ["cat", "fox"]]) for name in examples]
    rankings += [(name, "bob", ["fox"]) for name in examples]
    ranked = plausibly.build_annotations("partial-ranking", rankings, ["cat", "dog", "fox", "owl"])
    report = of_new(attrs.evolve(made, annotations=ranked))
    assert report.cases.ranked
    assert report.cases.answers[0] == ((0, ((1,), (0, 2)), 1), (1, ((2,),), 1))
    # Dog stands first for one, fox for the other.
    (cell,) = report.disagreement.cells
    assert (cell.a, cell.b, cell.pairs, cell.examples) == (1, 2, 10, 10)


def test_many_labels_leave_bars_out_and_say_so() -> None:
    labels = [f"label {k:03d}" for k in range(419)]
    report = of_new(world(45, labels=labels), alphas=("0.2",))
    cases = report.cases
    for listed, left in zip(cases.listed, cases.unlisted, strict=True):
        assert len(listed) <= 30
        assert len(listed) + left == 419
    assert cases.unlisted_words.startswith("Bars show the labels with a plausibility, in a set, or")
    # Answers and labels in a set come before all others.
    for listed, bits, size, answers in zip(
        cases.listed, cases.sets[0], cases.size[0], cases.answers, strict=True
    ):
        assert {block[0] for _, (block,), _ in answers} <= set(listed)
        assert bits.bit_count() == size if len(listed) < 30 else bits.bit_count() <= size
    assert len(report.disagreement.labels) <= 20
    assert "labels with the most disagreement are shown" in report.disagreement.note


def test_more_examples_than_a_report_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "MOST", 1000)
    report = of_new(world(1530, annotators=("ann", "bob")))  # 30 calibrate
    cases = report.cases
    assert cases.total == 1500
    assert 1000 <= cases.shown <= 1010
    assert cases.shown_sentence.startswith(f"{cases.shown:,} of 1,500 examples are shown: 1,000")
    chosen = "chosen by a hash of their names (random seed 0) and so by no result"
    assert chosen in cases.shown_sentence
    assert list(cases.names) == sorted(cases.names)
    # Figures are of all examples.
    assert sum(bar.count for bar in report.view(0, 0).sizes.bars) == 1500
    for view in report.views:
        assert len(view.surprising.cases) == 10


def test_fewer_are_shown_where_they_would_not_fit() -> None:
    made = world(400)
    model, plausibilities = made.predictions, made.plausibilities
    predictor = plausibly.calibrate(model[:50], plausibilities[:50])
    new = (model[50:], plausibilities[50:], [0.2], made.annotations)
    subject = subject_of(predictor, *new)
    whole, _ = sections.cases(subject)
    few, _ = sections.cases(subject, budget=len(whole.to_text()) // 3)
    assert len(few.to_text()) <= len(whole.to_text()) // 3
    assert set(few.names) < set(whole.names)
    assert "as many as fit into a file of 5 MB" in few.shown_sentence
