"""The sentences of a report, of usual and unusual data, are as recorded in ``sentences.txt``.

With ``PLAUSIBLY_WRITE_NETS`` set the file is written instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import attrs
import numpy as np
import pytest

import plausibly
from plausibly.report import sections
from plausibly.report.model import ReportData, Words
from plausibly.report.subject import Options
from plausibly.report.write import build
from report_world import Made, of_compared, of_new, subject_of, world

RECORDED = Path(__file__).with_name("sentences.txt")
WORDS = Words(example="scan", examples="scans", annotator="reader", annotators="readers")


def on(made: Made, answers: object, known: slice, new: slice, alpha: str) -> ReportData:
    """Return the report of a predictor of some examples on others, without their annotations."""
    predictor = plausibly.calibrate(made.predictions[known], made.plausibilities[known])
    return build(subject_of(predictor, made.predictions[new], answers, [alpha]))  # type: ignore[arg-type]  # any array


def with_coordinate(made: Made, **coordinates: tuple[str, list[str]]) -> Made:
    return attrs.evolve(made, predictions=made.predictions.assign_coords(coordinates))


def copied(made: Made) -> Made:
    values = made.predictions.values.copy()
    values[1] = values[0]
    return attrs.evolve(made, predictions=made.predictions.copy(data=values))


def ranked(made: Made) -> Made:
    names = [str(name) for name in made.predictions["example"].values]
    rankings = [(name, "ann", ["dog", ["cat", "fox"]]) for name in names]
    rankings += [(name, "bob", ["fox"]) for name in names]
    labels = ["cat", "dog", "fox", "owl"]
    table = plausibly.build_annotations("partial-ranking", rankings, labels)
    return attrs.evolve(made, annotations=table)


def reports() -> Iterator[tuple[str, ReportData]]:
    made, every, first = world(150), slice(None), slice(30)
    lam = made.plausibilities
    bare = attrs.evolve(made, predictions=made.predictions.drop_vars(["site", "sex"]))
    patients = ("example", [f"p{at // 2}" for at in range(150)])
    risk = ("label", ["low", "high", "medium", "low"])
    yield "other words", of_new(made, options=Options(title="x", words=WORDS))
    yield "examples that calibrated", on(made, lam, every, every, "0.2")
    yield "every set contains all labels", of_new(made, calibrating=3, alphas=("0.1",))
    # The annotators answer what the model does not.
    turned = lam[50:].copy(data=np.roll(lam[50:].values, 1, axis=1))
    yield "a broken guarantee", on(made, turned, slice(50), slice(50, None), "0.1")
    yield "no annotations and no groups", on(bare, lam[30:], first, slice(30, None), "0.2")
    yield "a study", of_compared(made)
    known = with_coordinate(made, patient=patients)
    yield "copies, and patients on both sides", of_compared(copied(known))
    yield "one example", of_new(world(31))
    yield "agreement on all examples", of_new(world(60, agreed=True))
    yield "one annotator", of_new(world(60, annotators=("ann",)))
    yield "rankings", of_new(ranked(world(40)))
    yield "many labels", of_new(world(45, labels=[f"label {k:03d}" for k in range(419)]))
    yield "risk", of_new(with_coordinate(world(80), risk=risk))


def sentences(report: ReportData) -> Iterator[str]:
    yield f"{report.subtitle}; {', '.join(column.name for column in report.groups)}"
    for view in report.views[:: len(report.alphas)]:
        verdict = view.verdict
        yield f"{report.methods[view.method].name}, alpha {report.alphas[view.alpha]}"
        yield from (verdict.sentence, verdict.about, verdict.limits)
        yield from (f"{f.severity} {f.name}: {f.sentence} {f.action}" for f in verdict.findings)
        yield verdict.guarantee.shown
        yield from (f"{title}: {text}" for title, text in verdict.guarantee.rows)
        yield from (view.vote.sentence, view.realised.sentence, view.sizes.sentence)
        yield from (view.weak.sentence, view.weak.note, view.weak.nothing)
        yield view.surprising.sentence
        yield view.splits.sentence if view.splits else "no splits"
    part = report.disagreement
    yield from (part.sentence, part.nothing, part.who, part.note)
    yield from (f"{one.title}: {one.value.mean or 0:.4f} {one.reason}" for one in part.measures)
    yield from (f"{a.name} {a.answers} {a.low} {a.agreement or 0:.4f}" for a in part.annotators)
    yield from (f"{cell.a} {cell.b} {cell.pairs} {cell.examples}" for cell in part.cells[:10])
    cases = report.cases
    yield from (cases.sentence, cases.shown_sentence, cases.unlisted_words, cases.prediction_words)
    yield from map(str, cases.answers[:2])
    yield report.assumptions.sentence
    yield from (f"{c.name}: {c.title}: {c.state}. {c.words}" for c in report.assumptions.checks)
    yield from (test.sentence for test in report.assumptions.uniformity)
    yield from report.assumptions.nothing


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_sentences_are_as_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "RESAMPLES", 20)
    lines = []
    for title, report in reports():
        lines += [f"# {title}", *sentences(report), ""]
    if os.environ.get("PLAUSIBLY_WRITE_NETS"):
        RECORDED.write_text("\n".join(lines), encoding="utf-8")
    assert lines == RECORDED.read_text(encoding="utf-8").split("\n")
