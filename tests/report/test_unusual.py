"""Unusual data: said in words, and never a chart of nothing."""

from __future__ import annotations

import json
from typing import Any

import attrs
import numpy as np
import pytest

import plausibly
from plausibly.report import sections
from plausibly.report.write import build
from report_world import of_compared, of_new, subject_of, world


def test_one_example() -> None:
    report = of_new(world(31))
    assert report.cases.sentence == "There is one example."
    assert report.subtitle.startswith("1 example, ")
    assert report.cases.shown_sentence == ""
    json.loads(report.to_text())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"agreed": True}, "All annotators agree on every example."),
        (
            {"annotators": ("ann",)},
            "No example has answers of two annotators: disagreement cannot be measured.",
        ),
    ],
)
def test_no_disagreement(options: dict[str, Any], words: str) -> None:  # Any: each has its type
    found = of_new(world(60, **options)).disagreement
    assert (found.sentence, found.nothing) == (words, words)
    assert all(cell.a == cell.b for cell in found.cells)


def test_no_annotations_and_no_groups() -> None:
    made = world(60)
    bare = made.predictions.drop_vars(["site", "sex"])
    lam = made.plausibilities
    predictor = plausibly.calibrate(bare[:30], lam[:30])
    report = build(subject_of(predictor, bare[30:], lam[30:], [0.2]))
    assert report.disagreement.sentence.startswith(
        "There are plausibilities, but no single answers: agreement of annotators"
    )
    assert report.cases.annotators == ()
    assert set(report.cases.answers) == {()}
    assert report.groups == ()
    assert report.view(0, 0).weak.nothing.startswith("There are no groups of examples: ")


def test_two_labels() -> None:
    report = of_compared(world(60, labels=("no", "yes")))
    assert max(map(len, report.cases.listed)) == 2
    assert report.cases.unlisted_words == ""
    assert "of 2" in report.view(0, 0).sizes.sentence


def test_rankings_keep_their_blocks() -> None:
    made = world(40)
    examples = [str(name) for name in made.predictions["example"].values]
    said = [(name, "ann", ["dog", ["cat", "fox"]]) for name in examples]
    said += [(name, "bob", ["fox"]) for name in examples]
    ranked = plausibly.build_annotations("partial-ranking", said, ["cat", "dog", "fox", "owl"])
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
    assert max(map(len, cases.listed)) <= 30
    assert all(
        len(listed) + left == 419 for listed, left in zip(cases.listed, cases.unlisted, strict=True)
    )
    assert cases.unlisted_words.startswith("Bars show the labels with a plausibility, in a set, or")
    # What is said or in a set is there before anything else.
    for listed, bits, size, answers in zip(
        cases.listed, cases.sets[0], cases.size[0], cases.answers, strict=True
    ):
        assert {block[0] for _, (block,), _ in answers} <= set(listed)
        assert bits.bit_count() <= size
        if len(listed) < 30:
            assert bits.bit_count() == size
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
    model, lam = made.predictions, made.plausibilities
    predictor = plausibly.calibrate(model[:50], lam[:50])
    subject = subject_of(predictor, model[50:], lam[50:], [0.2], made.annotations)
    outcomes = sections.Outcomes(subject)
    whole = sections.cases(outcomes)
    few = sections.cases(outcomes, budget=len(whole.to_text()) // 3)
    assert len(few.to_text()) <= len(whole.to_text()) // 3
    assert set(few.names) < set(whole.names)
    assert "as many as fit into a file of 5 MB" in few.shown_sentence


def test_risk_is_shown_and_what_dangerous_is_left_out() -> None:
    made = world(80)
    risk = ("label", ["low", "high", "medium", "low"])
    report = of_new(attrs.evolve(made, predictions=made.predictions.assign_coords(risk=risk)))
    assert [(label.risk, label.severity) for label in report.labels] == [
        ("low", 0),
        ("high", 2),
        ("medium", 1),
        ("low", 0),
    ]
    lam = made.plausibilities.values[30:]
    severity = np.array([0, 2, 1, 0])
    for at, (listed, bits) in enumerate(
        zip(report.cases.listed, report.cases.sets[0], strict=True)
    ):
        inside = {label for j, label in enumerate(listed) if bits >> j & 1}
        left = [severity[k] for k in range(4) if lam[at, k] > 0 and k not in inside]
        assert report.cases.severity_missed[0][at] == max(left, default=-1)
