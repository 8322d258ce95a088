"""Crowds whose annotators are known, and tables made of votes."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import attrs
import numpy as np
import xarray as xr
from hypothesis import strategies as st
from numpy.typing import NDArray

import plausibly
from plausibly.plugin import build_table

Votes = Sequence[tuple[str, str, str, int]]
"""Example, annotator, label, how many times."""

Shares = dict[str, dict[str, Fraction]]
"""By example, then label."""

LABELS = ["melanoma", "b c", "Ä"]  # not in sorted order
EXAMPLES = ["c2", "c10", "c1", "7", "é"]
ANNOTATORS = ["r1", "r10", "q", "r2"]


def votes(most: int = 2) -> st.SearchStrategy[Votes]:
    """Votes in any order, one an example and annotator, counting up to `most` times."""
    pairs = st.tuples(st.sampled_from(EXAMPLES), st.sampled_from(ANNOTATORS))
    answers = st.tuples(st.sampled_from(LABELS), st.integers(1, most))
    return (
        st.dictionaries(pairs, answers, min_size=1, max_size=14)
        .map(lambda result: [(*pair, *answer) for pair, answer in result.items()])
        .flatmap(st.permutations)
    )


def table_of(
    inputs: Votes, labels: Sequence[str] = LABELS, *, anonymous: Sequence[str] = ()
) -> xr.Dataset:
    """Return the annotation table of votes; `anonymous` annotators are unknown ones in it."""
    examples = list(dict.fromkeys(vote[0] for vote in inputs))
    known = list(dict.fromkeys(vote[1] for vote in inputs if vote[1] not in anonymous))
    times = [vote[3] for vote in inputs]
    return build_table(
        "single-label",
        examples=examples,
        annotators=known,
        labels=labels,
        response_example=[examples.index(vote[0]) for vote in inputs],
        response_annotator=[-1 if v[1] in anonymous else known.index(v[1]) for v in inputs],
        mention_response=np.arange(len(inputs)),
        mention_label=[list(labels).index(vote[2]) for vote in inputs],
        response_weight=times if set(times) != {1} else None,
    )


def assert_close(result: xr.DataArray, exact: Shares, within: float = 1e-12) -> None:
    assert sorted(result["example"].values) == sorted(exact)
    for example, row in exact.items():
        for label, value in row.items():
            got = float(result.sel(example=example, label=label))
            assert abs(got - float(value)) <= within, (example, label, got, float(value))


@attrs.frozen(kw_only=True, eq=False)
class Crowd:
    """A simulated crowd: the answers, and the codes of the true labels."""

    table: xr.Dataset
    truth: NDArray[np.intp]


def crowd(
    rng: np.random.Generator,
    *,
    examples: int,
    annotators: int,
    labels: int,
    each: int,
    skill: tuple[float, float] = (0.5, 0.95),
) -> Crowd:
    """Return a crowd in which `each` annotators answer every example."""
    prevalence = rng.dirichlet(np.full(labels, 5.0))
    truth = rng.choice(labels, examples, p=prevalence)
    confusion = np.empty((annotators, labels, labels))
    for q in range(annotators):
        for k in range(labels):
            right = rng.uniform(*skill)
            others = rng.dirichlet(np.ones(labels - 1)) * (1 - right)
            confusion[q, k] = np.insert(others, k, right)
    who = np.concatenate([rng.choice(annotators, each, replace=False) for _ in range(examples)])
    about = np.repeat(np.arange(examples), each)
    chance = np.cumsum(confusion[who, truth[about]], axis=1)
    answers = (rng.random(about.size)[:, None] >= chance[:, :-1]).sum(axis=1)
    table = build_table(
        "single-label",
        examples=[f"e{i}" for i in range(examples)],
        annotators=[f"a{q}" for q in range(annotators)],
        labels=[f"l{k}" for k in range(labels)],
        response_example=about,
        response_annotator=who,
        mention_response=np.arange(about.size),
        mention_label=answers,
    )
    return Crowd(table=table, truth=truth)


def published(shared: Path) -> dict[str, xr.Dataset]:
    """Return crowds that were published: a toy of five by five, and two of real annotators."""
    folder = shared / "cases" / "annotations"
    # Items by annotators, without header; blank = not annotated.
    text = (folder / "wide" / "temp_wide_noheader.csv").read_text(encoding="utf-8")
    votes = [
        (f"item {item}", f"w{column}", answers)
        for item, row in enumerate(row for row in csv.reader(text.splitlines()) if any(row))
        for column, answers in enumerate(row)
        if answers
    ]
    first_worker = {"example": "2", "annotator": "1", "label": "3"}
    mozafari = folder / "long" / "mozafari_worker_task_label.tsv"
    return {
        "toy": plausibly.read_annotations(folder / "long" / "gal_toy_crowdkit.csv"),
        "mozafari": plausibly.read_annotations(mozafari, columns=first_worker),
        "temp": plausibly.build_annotations("single-label", votes, ["before", "after"]),
    }


def true_labels(shared: Path, name: str) -> dict[str, str]:
    path = shared / "cases" / "annotations" / "long" / f"{name}_truth.tsv"
    pairs = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {task: label for task, label, *_ in pairs}


def likeliest(plausibilities: xr.DataArray) -> dict[str, str]:
    """Return the label with the largest plausibility of each example."""
    labels = plausibilities["label"].values[plausibilities.values.argmax(axis=1)]
    return dict(zip(plausibilities["example"].values.tolist(), labels.tolist(), strict=True))


def accuracy(plausibilities: xr.DataArray, true_label: dict[str, str]) -> float:
    right = [true_label[example] == label for example, label in likeliest(plausibilities).items()]
    return float(np.mean(right))
