"""The numbers of a report are those of the sets, counted here in plain arrays and loops."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

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
from report_world import LABELS, Made, compared, of_compared, of_new, subject_of, world

ENDS = ("mean", "low", "high")

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
    plausibilities = made.plausibilities
    predictor = plausibly.calibrate(made.predictions[:30], plausibilities[:30])
    new = made.predictions[30:]
    for at, alpha in enumerate((0.2, 0.1)):
        sets = predictor.predict(new, alpha)
        assert sets_of(report, at) == {
            str(name): {LABELS[k] for k in np.flatnonzero(row)}
            for name, row in zip(new["example"].values, sets.values, strict=True)
        }
        evaluation = plausibly.evaluate(sets, plausibilities[30:]).data
        view = report.view(0, at)
        covered = np.where(sets.values, plausibilities[30:].values, 0.0).sum(axis=1)
        assert view.vote.aggregated.mean == pytest.approx(covered.mean())
        for shown, name in (
            (view.vote.aggregated, "aggregated_coverage"),
            (view.vote.voted, "majority_vote_coverage"),
            (view.vote.size, "set_size"),
        ):
            mean, low, high = (float(evaluation[f"{name}_{end}"]) for end in ENDS)
            assert shown.mean == pytest.approx(mean)
            assert (shown.low, shown.high) == outwards(low, high)
        sizes = np.bincount(sets.values.sum(axis=1), minlength=len(LABELS) + 1)
        assert [bar.count for bar in view.sizes.bars] == sizes.tolist()
        np.testing.assert_allclose(report.cases.missed[at], 1000 * (1 - covered), atol=1.0)
        assert view.realised.aggregated == tuple(np.sort(covered).tolist())


def test_groups_are_those_of_their_measure(made: Made, report: ReportData) -> None:
    predictor = plausibly.calibrate(made.predictions[:30], made.plausibilities[:30])
    sets = predictor.predict(made.predictions[30:], 0.2)
    by_group = coverage_by(sets, made.plausibilities[30:], by=["site", "sex"])
    weak, cases = report.view(0, 0).weak, report.cases
    parts = {part.title: part for part in weak.parts if part.kind != "ambiguity"}
    assert set(parts) == {str(name) for name in by_group["subgroup"].values}
    for title, part in parts.items():
        group = by_group.sel(subgroup=title)
        assert part.n == int(group["count"])
        low, high = (float(group[f"aggregated_coverage_{end}"]) for end in ("low", "high"))
        assert (part.covered.low, part.covered.high) == outwards(low, high)
        # A click on the group shows the examples that were counted.
        chosen = np.all([np.array(cases.groups[at]) == value for at, value in part.where], axis=0)
        assert chosen.sum() == part.n
    strata = [part for part in weak.parts if part.kind == "ambiguity"]
    assert sum(part.n for part in strata) == 120
    for part in strata:
        assert part.n == sum(at == part.stratum for at in cases.stratum)


def test_bars_are_the_numbers_of_the_labels(made: Made, report: ReportData) -> None:
    predictor = plausibly.calibrate(made.predictions[:30], made.plausibilities[:30])
    p, cases = predictor.p_values(made.predictions[30:]).values, report.cases
    for bars, values in (
        (cases.p[0], p),
        (cases.plausibility, made.plausibilities.values[30:]),
        (cases.prediction, made.predictions.values[30:]),
    ):
        expected = [values[row, list(listed)] for row, listed in enumerate(cases.listed)]
        np.testing.assert_allclose(np.concatenate(bars), 1000 * np.concatenate(expected), atol=1.0)
    assert cases.scores[0].values is None  # they are the predictions


def test_answers_and_disagreement_are_those_of_the_votes(made: Made, report: ReportData) -> None:
    cases = report.cases
    votes = [vote for vote in made.votes if vote[0] in cases.names]
    assert set(votes) == {
        (name, cases.annotators[annotator], report.labels[blocks[0][0]].name)
        for name, answers in zip(cases.names, cases.answers, strict=True)
        for annotator, blocks, _ in answers
    }
    pairs: Counter[tuple[str, ...]] = Counter()
    for name in cases.names:
        answers = sorted(label for example, _, label in votes if example == name)
        pairs.update(combinations(answers, 2))
    cells = report.disagreement.cells
    names = [sorted(report.labels[label].name for label in (cell.a, cell.b)) for cell in cells]
    assert pairs == {tuple(two): cell.pairs for two, cell in zip(names, cells, strict=True)}
    same = sum(count for (first, second), count in pairs.items() if first == second)
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
    splits = study.view(1, 1).splits
    coverage = compared(made)["aggregated_coverage"].sel({"method": "largest"}).isel(alpha=1)
    assert splits.aggregated == tuple(coverage.values.tolist())
    assert study.view(2, 0).splits is None  # the reference was no part of the study


ALONG = ["dog", "owl", "cat", "fox"]


def ordered(made: Made) -> Made:
    order = ("label", [ALONG.index(label) for label in LABELS])
    return attrs.evolve(made, predictions=made.predictions.assign_coords(order=order))


def test_ordered_labels_of_a_predictor_are_those_of_sorted_columns(made: Made) -> None:
    known = ordered(made)
    p = plausibly.calibrate(known.predictions[:40], known.plausibilities[:40], score="ordinal")
    plausibilities, pages = made.plausibilities[40:], []
    for new in (known.predictions[40:], made.predictions[40:].sel(label=ALONG)):
        pages.append(build(subject_of(p, new, plausibilities, ["0.2"], made.annotations)))
    assert [label.name for label in pages[0].labels] == ALONG
    assert pages[0].to_text() == pages[1].to_text()


def test_of_a_study_only_the_order_of_the_labels_changes(made: Made, study: ReportData) -> None:
    along = of_compared(ordered(made))
    assert [label.name for label in along.labels] == ALONG
    assert along.cases.missed == study.cases.missed
    for at in range(len(study.views)):
        assert sets_of(along, at) == sets_of(study, at)
