"""A report of ordered labels shows them in their order, and changes no figure."""

from __future__ import annotations

import attrs
import pytest

import plausibly
from plausibly.report import sources
from plausibly.report.model import ReportData
from plausibly.report.subject import Options, Reported
from plausibly.report.write import build
from report_world import Made, of_compared, world

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

PLACES = [2, 0, 3, 1]
ALONG = ["dog", "owl", "cat", "fox"]


@pytest.fixture(scope="module")
def made() -> Made:
    return world(80)


def ordered(made: Made) -> Made:
    return attrs.evolve(made, predictions=made.predictions.assign_coords(order=("label", PLACES)))


def test_of_a_predictor_it_is_the_report_of_sorted_columns(made: Made) -> None:
    known = ordered(made)
    p = plausibly.calibrate(known.predictions[:40], known.plausibilities[:40], score="ordinal")
    pages = []
    for new in (known.predictions[40:], made.predictions[40:].sel(label=ALONG)):
        data = Reported(
            predictions=new,
            plausibilities=made.plausibilities[40:],
            annotations=made.annotations,
            alphas=["0.2"],
        )
        pages.append(build(sources.subject_of_predictor(p, data, Options(title="x"))))
    assert [label.name for label in pages[0].labels] == ALONG
    assert pages[0].to_text() == pages[1].to_text()


def shown_sets(report: ReportData) -> list[list[set[str]]]:
    """Return the names in each set of each view."""
    names = [label.name for label in report.labels]
    return [
        [
            {names[code] for bit, code in enumerate(listed) if row >> bit & 1}
            for row, listed in zip(view, report.cases.listed, strict=True)
        ]
        for view in report.cases.sets
    ]


def test_of_a_study_only_the_order_of_the_labels_changes(made: Made) -> None:
    one, other = of_compared(ordered(made)), of_compared(made)
    assert [label.name for label in one.labels] == ALONG
    assert [label.name for label in other.labels] == ["cat", "dog", "fox", "owl"]
    assert shown_sets(one) == shown_sets(other)
    assert one.cases.missed == other.cases.missed
    for first, second in zip(one.views, other.views, strict=True):
        assert first.verdict.sentence == second.verdict.sentence
