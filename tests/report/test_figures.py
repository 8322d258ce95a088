"""The numbers of a report are those of the sets; its sentences are those of a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import attrs
import numpy as np
import pytest

import plausibly
from plausibly.evaluation import coverage_by
from plausibly.evaluation.result import outwards
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.kernels.random import hash_names
from plausibly.report import sections
from plausibly.report.model import ReportData, Words
from plausibly.report.subject import Options
from plausibly.report.write import build
from report_world import LABELS, Made, compared, of_compared, of_new, parted, subject_of, world

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")


@pytest.fixture(scope="module")
def made() -> Made:
    return world(150)


@pytest.fixture(scope="module")
def report(made: Made) -> ReportData:
    return of_new(made, calibrating=30, alphas=(0.2, 0.1))


@pytest.fixture(scope="module")
def study(made: Made) -> ReportData:
    return of_compared(made)


def sets_of(report: ReportData, view: int) -> dict[str, set[str]]:
    """Return the sets that a reader sees: names of labels by example."""
    cases = report.cases
    return {
        name: {report.labels[label].name for j, label in enumerate(listed) if bits >> j & 1}
        for name, listed, bits in zip(cases.names, cases.listed, cases.sets[view], strict=True)
    }


def test_sets_and_figures_are_those_of_the_predictor(made: Made, report: ReportData) -> None:
    lam = made.plausibilities
    predictor = plausibly.calibrate(made.predictions[:30], lam[:30])
    new = made.predictions[30:]
    for at, alpha in enumerate((0.2, 0.1)):
        sets = predictor.predict(new, alpha)
        shown = sets_of(report, at)
        expected = {
            str(name): {LABELS[k] for k in np.flatnonzero(row)}
            for name, row in zip(new["example"].values, sets.values, strict=True)
        }
        assert shown == expected
        found = plausibly.evaluate(sets, lam[30:]).data
        view = report.view(0, at)
        covered = np.where(sets.values, lam[30:].values, 0.0).sum(axis=1)
        assert view.vote.aggregated.mean == pytest.approx(covered.mean())
        for shown_as, name in (
            (view.vote.aggregated, "aggregated_coverage"),
            (view.vote.voted, "majority_vote_coverage"),
            (view.vote.size, "set_size"),
        ):
            mean, low, high = (float(found[f"{name}_{end}"]) for end in ("mean", "low", "high"))
            assert shown_as.mean == pytest.approx(mean)
            assert (shown_as.low, shown_as.high) == outwards(low, high)
        sizes = np.bincount(sets.values.sum(axis=1), minlength=len(LABELS) + 1)
        assert [bar.count for bar in view.sizes.bars] == sizes.tolist()
        np.testing.assert_allclose(report.cases.missed[at], 1000 * (1 - covered), atol=1.0)


def test_groups_are_those_of_their_measure(made: Made, report: ReportData) -> None:
    predictor = plausibly.calibrate(made.predictions[:30], made.plausibilities[:30])
    sets = predictor.predict(made.predictions[30:], 0.2)
    found = coverage_by(sets, made.plausibilities[30:], by=["site", "sex"])
    weak = report.view(0, 0).weak
    parts = {part.title: part for part in weak.parts if part.kind != "ambiguity"}
    assert set(parts) == {str(name) for name in found["subgroup"].values}
    places = {name: at for at, name in enumerate(report.cases.names)}
    for title, part in parts.items():
        one = found.sel(subgroup=title)
        assert part.n == int(one["count"])
        low, high = (float(one[f"aggregated_coverage_{end}"]) for end in ("low", "high"))
        assert (part.covered.low, part.covered.high) == outwards(low, high)
        # What a click on the group shows is what was counted.
        chosen = [
            name
            for name, at in places.items()
            if all(report.cases.groups[column][at] == value for column, value in part.where)
        ]
        assert len(chosen) == part.n
    strata = [part for part in weak.parts if part.kind == "ambiguity"]
    assert sum(part.n for part in strata) == 120
    for part in strata:
        assert part.n == sum(at == part.stratum for at in report.cases.stratum)


def test_bars_are_the_numbers_of_the_labels(made: Made, report: ReportData) -> None:
    predictor = plausibly.calibrate(made.predictions[:30], made.plausibilities[:30])
    p = predictor.p_values(made.predictions[30:]).values
    cases = report.cases
    assert cases.prediction is not None
    given = (cases.p[0], cases.plausibility, cases.prediction)
    true = (p, made.plausibilities.values[30:], made.predictions.values[30:])
    for shown, values in zip(given, true, strict=True):
        expected = [values[row, list(listed)] for row, listed in enumerate(cases.listed)]
        np.testing.assert_allclose(
            np.concatenate([np.array(bars) for bars in shown]),
            1000 * np.concatenate(expected),
            atol=1.0,
        )
    assert cases.scores[0].values is None  # they are the predictions


def test_answers_are_those_that_were_given(made: Made, report: ReportData) -> None:
    said = {
        (name, report.cases.annotators[who], report.labels[blocks[0][0]].name)
        for name, answers in zip(report.cases.names, report.cases.answers, strict=True)
        for who, blocks, _ in answers
    }
    assert said == {vote for vote in made.votes if vote[0] in report.cases.names}


def test_labels_that_experts_part_over_are_counted_by_pairs(made: Made, report: ReportData) -> None:
    votes = [vote for vote in made.votes if vote[0] in set(report.cases.names)]
    found = {
        (report.labels[cell.a].name, report.labels[cell.b].name): int(cell.pairs)
        for cell in report.disagreement.cells
    }
    assert {(min(pair), max(pair)): count for pair, count in found.items()} == parted(votes)
    same = sum(count for (a, b), count in found.items() if a == b)
    share = f"agree on {round(100 * same / (3 * 120))}% of the examples"
    assert share in report.disagreement.sentence


def test_halves_calibrate_each_other(made: Made, study: ReportData) -> None:
    assert study.cases.shown == 150
    assert [method.name for method in study.methods] == ["everyone", "largest", "majority-vote"]
    assert [method.reference for method in study.methods] == [False, False, True]
    half = split(hash_names(made.predictions["example"].values), split_keys(0, 0))
    for test in (half, ~half):
        predictor = plausibly.calibrate(
            made.predictions[~test], made.plausibilities[~test], seed=split_seed(0, 0)
        )
        sets = predictor.predict(made.predictions[test], 0.2)
        shown = sets_of(study, 0)
        for name, row in zip(sets["example"].values, sets.values, strict=True):
            assert shown[str(name)] == {LABELS[k] for k in np.flatnonzero(row)}


def test_splits_are_those_of_the_study(made: Made, study: ReportData) -> None:
    found = compared(made)["aggregated_coverage"].sel({"method": "largest"}).isel(alpha=1)
    splits = study.view(1, 1).splits
    assert splits is not None
    assert splits.aggregated == tuple(found.values.tolist())
    assert study.view(2, 0).splits is None  # the reference was no part of the study


ALONG = ["dog", "owl", "cat", "fox"]


def ordered(made: Made) -> Made:
    order = ("label", [ALONG.index(label) for label in LABELS])
    return attrs.evolve(made, predictions=made.predictions.assign_coords(order=order))


def test_ordered_labels_of_a_predictor_are_those_of_sorted_columns(made: Made) -> None:
    known = ordered(made)
    p = plausibly.calibrate(known.predictions[:40], known.plausibilities[:40], score="ordinal")
    lam, pages = made.plausibilities[40:], []
    for new in (known.predictions[40:], made.predictions[40:].sel(label=ALONG)):
        pages.append(build(subject_of(p, new, lam, ["0.2"], made.annotations)))
    assert [label.name for label in pages[0].labels] == ALONG
    assert pages[0].to_text() == pages[1].to_text()


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
