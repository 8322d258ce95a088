"""The numbers of a report are those of the sets, counted here in plain arrays and loops."""

from __future__ import annotations

import json

import attrs
import numpy as np
import pytest

import plausibly
from plausibly.evaluation import coverage_by
from plausibly.evaluation.result import outwards
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.kernels.random import hash_names
from plausibly.report.model import ReportData
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


def test_votes_are_compared_with_everything_that_was_said(study: ReportData) -> None:
    everyone, voted = study.view(0, 1).vote, study.view(2, 1).vote
    assert everyone.sentence == (
        f"These sets contain {everyone.aggregated.mean:.0%} of the annotators' answers, with "
        f"{everyone.size.mean:.2f} labels per set. Calibrated on the majority vote, they would "
        f"contain {voted.aggregated.mean:.0%}, with {voted.size.mean:.2f}."
    )
    assert voted.sentence.endswith("of their majority votes.")


def test_the_file_holds_the_same_numbers(report: ReportData) -> None:
    data = json.loads(report.to_text())
    assert data["format"] == 1
    assert data["cases"]["names"] == list(report.cases.names)
    view = data["views"][0]
    assert view["vote"]["aggregated"]["mean"] == pytest.approx(
        report.view(0, 0).vote.aggregated.mean, abs=5e-6
    )
    assert view["verdict"]["guarantee"]["level"] == 0.8


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


def test_of_a_study_only_the_order_of_the_labels_changes(made: Made, study: ReportData) -> None:
    one = of_compared(ordered(made))
    assert [label.name for label in one.labels] == ALONG
    assert [label.name for label in study.labels] == [*LABELS]
    assert one.cases.missed == study.cases.missed
    for at, (first, second) in enumerate(zip(one.views, study.views, strict=True)):
        assert sets_of(one, at) == sets_of(study, at)
        assert first.verdict.sentence == second.verdict.sentence
