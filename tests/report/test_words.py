"""Words of a report on unusual data, as recorded, and what it leaves out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import attrs
import numpy as np
import pytest

import nets
import plausibly
from plausibly.report import sections
from plausibly.report.model import ReportData, Words
from plausibly.report.subject import Options
from plausibly.report.write import build
from report_world import Made, of_compared, of_new, subject_of, world

PARTS = {"subtitle", "views", "disagreement", "cases", "assumptions"}
SAID = {"sentence", "about", "limits", "action", "nothing", "note", "severity", "subtitle"}


@cache
def made() -> Made:
    return world(150)


def scans_and_readers() -> ReportData:
    words = Words(example="scan", examples="scans", annotator="reader", annotators="readers")
    return of_new(made(), options=Options(title="x", words=words))


def examples_that_calibrated_and_no_answers() -> ReportData:
    plausibilities = made().plausibilities
    predictor = plausibly.calibrate(made().predictions, plausibilities)
    return build(subject_of(predictor, made().predictions, plausibilities, ["0.2"]))


def sets_of_every_label() -> ReportData:
    return of_new(made(), calibrating=3, alphas=("0.1",))


def a_guarantee_that_is_not_kept() -> ReportData:
    """New examples on which annotators and model disagree."""
    predictions, plausibilities = made().predictions, made().plausibilities
    predictor = plausibly.calibrate(predictions[:50], plausibilities[:50])
    turned = plausibilities[50:].copy(data=np.roll(plausibilities[50:].values, 1, axis=1))
    return build(subject_of(predictor, predictions[50:], turned, ["0.1"]))


def a_study_with_the_majority_vote() -> ReportData:
    return of_compared(made())


def copies() -> ReportData:
    values = made().predictions.values.copy()
    values[1] = values[0]
    return of_compared(attrs.evolve(made(), predictions=made().predictions.copy(data=values)))


def patients_on_both_sides() -> ReportData:
    patients = ("example", [f"p{at // 2}" for at in range(150)])
    shared = made().predictions.assign_coords(patient=patients)
    return of_compared(attrs.evolve(made(), predictions=shared))


def annotators_who_agree() -> ReportData:
    return of_new(world(60, agreed=True))


def one_annotator() -> ReportData:
    return of_new(world(60, annotators=("ann",)))


def said(value: Any, place: str = "") -> Iterator[str]:  # Any: whatever JSON holds
    """Yield the sentences of a report with their places, and the titles of its guarantees."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from said(item, f"{place} {key}")
    elif place.endswith(" guarantee rows"):
        yield f"{place}: {', '.join(title for title, _ in value)}"
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from said(item, f"{place} {number}")
    elif (
        place.split()[0] in PARTS and (place.split()[-1] in SAID or " findings " in place) and value
    ):
        yield f"{place}: {value}"


@pytest.mark.parametrize(
    "report",
    [
        scans_and_readers,
        examples_that_calibrated_and_no_answers,
        sets_of_every_label,
        a_guarantee_that_is_not_kept,
        a_study_with_the_majority_vote,
        copies,
        patients_on_both_sides,
        annotators_who_agree,
        one_annotator,
    ],
)
def test_words_are_as_recorded(report: Callable[[], ReportData]) -> None:
    data = json.loads(report().to_text())
    lines = list(said(data))
    lines += [f"{check['name']}: {check['state']}" for check in data["assumptions"]["checks"]]
    lines += [f"groups: {', '.join(column['name'] for column in data['groups'])}"]
    lines += [f"annotators with answers: {len(data['cases']['annotators'])}"]
    confused = [cell for cell in data["disagreement"]["cells"] if cell["a"] != cell["b"]]
    lines += [f"pairs of labels confused: {len(confused)}"]
    nets.compare(f"report/{report.__name__}.txt", lines)


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
