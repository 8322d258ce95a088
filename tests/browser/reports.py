"""Reports of small made worlds, built as the product builds them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

import plausibly
from plausibly.report.model import ReportData, Words
from plausibly.report.subject import Options
from plausibly.report.write import render
from report_world import Made, compared, of_compared, world

FINDINGS = ("nodule", "fibrosis", "normal", "effusion", "mass")
READERS = tuple(f"r{i:02}" for i in range(1, 9))
TEXT = "a finding of 6 mm"


def findings(
    n: int = 60,
    labels: Sequence[str] = FINDINGS,
    *,
    name: str = "case_{:04}",
    annotators: Sequence[str] = READERS,
    agreed: bool = False,
    text: str = TEXT,
) -> Made:
    """Return cases with a text, of labels of low and high risk; the model is wrong at one site."""
    examples = [name.format(i) for i in range(n)]
    made = world(n, labels, examples=examples, annotators=annotators, agreed=agreed)
    risk = [("low", "high")[k % 2] for k in range(len(labels))]
    known = {"text": ("example", [text] * n), "risk": ("label", risk)}
    predictions = made.predictions.assign_coords(known)
    predictions[::3] = np.roll(predictions.values[::3], 1, axis=1)
    return attrs.evolve(made, predictions=predictions)


def ranked(made: Made) -> Made:
    """Return rankings that begin with the label of each vote, two labels at the second place."""
    labels = made.predictions["label"].values.tolist()
    rankings = []
    for example, annotator, label in made.votes:
        second, third, fourth = [another for another in labels if another != label][:3]
        rankings.append((example, annotator, [label, [second, third], fourth]))
    table = plausibly.build_annotations("partial-ranking", rankings, labels)
    return attrs.evolve(made, annotations=table)


def report(made: Made, **options: Any) -> ReportData:  # Any: each option has its own type
    """Return the data of the report on a study of two alphas."""
    known = {"title": "chest findings", "text": "text", "study": "seed = 1\n", **options}
    words = Words(example="case", examples="cases", annotator="reader", annotators="readers")
    study = compared(made, alphas=(0.1, 0.05))
    return of_compared(made, study, Options(words=words, **known))


def written(folder: Path, data: ReportData) -> Path:
    path = folder / "report.html"
    path.write_text(render(data), "utf-8")
    return path
