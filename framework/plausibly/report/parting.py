"""Section 4: how much annotators agree, over which labels they part, and who differs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.annotators.agreement import agreement, describe_annotators, measure_titles
from plausibly.annotators.answers import KINDS, Answers
from plausibly.data import names
from plausibly.data.names import name_texts, positions, quoted, several
from plausibly.data.select import select
from plausibly.errors import PlausiblyWarning, counted
from plausibly.evaluation.describe import decimal
from plausibly.report.facts import AnnotatorRow, Cell, Disagreement, Measure
from plausibly.report.model import Words
from plausibly.report.numbers import known
from plausibly.report.subject import Subject
from plausibly.report.views import Interval

MOST_LABELS = 20
"""Rows of the heat map at most."""

RESAMPLES = 1000
MANY = 20_000
"""Examples from which there are fewer resamples, since each of them adds less."""

FEW_RESAMPLES = 200

LIKENESS = {
    "percent": "same answer",
    "jaccard": "Jaccard",
    "partial-average-overlap": "overlap",
}


def called(annotators: Sequence[str], *, by_name: bool) -> list[str]:
    """Return what annotators are called: ``r01``, ``r02`` in the order of their names.

    Parameters
    ----------
    annotators : sequence of str
    by_name : bool
        Whether they keep their own names.
    """
    if by_name:
        return list(annotators)
    wide = max(2, len(str(len(annotators))))
    place = {name: at for at, name in enumerate(sorted(annotators), start=1)}
    return [f"r{place[name]:0{wide}}" for name in annotators]


def disagreement(subject: Subject, shown: Sequence[str]) -> Disagreement:
    """Return section 4.

    Parameters
    ----------
    subject : Subject
    shown : sequence of str
        What the annotators of the table are called.
    """
    table, words = subject.annotations, subject.words
    if table is None:
        return _of_nothing(
            f"There are plausibilities, but no single answers: what {words.annotators} disagree "
            "on, and who differs, cannot be shown."
        )
    kind = str(table.attrs[names.KIND])
    if kind not in KINDS:
        return _of_nothing(
            f"Agreement of {kind} answers is not measured: each is a share of every label."
        )
    with warnings.catch_warnings():
        # Repeated answers and half an order are said where the file is read.
        warnings.simplefilter("ignore", PlausiblyWarning)
        answers = Answers.of(table)
        few = answers.n > MANY
        found = agreement(
            table,
            resamples=FEW_RESAMPLES if few else RESAMPLES,
            cluster=subject.cluster if subject.cluster in table.coords else None,
            seed=subject.seed,
        )
    labels = name_texts(subject.predictions[names.LABEL].values)
    cells = _cells(answers, positions(labels, answers.labels))
    rows, note = _heat(cells, labels, words)
    kept = set(rows)
    nothing = ""
    if not found.attrs["compared"]:
        nothing = f"No {words.example} has answers of two {words.annotators}: nobody can disagree."
    elif not any(cell.a != cell.b for cell in cells):
        nothing = f"All {words.annotators} agree on every {words.example}."
    return Disagreement(
        sentence=nothing or _sentence(found, cells, labels, words),
        measures=tuple(_measures(found)),
        annotators=tuple(_annotators(found, shown, positions(labels, answers.labels))),
        likeness=LIKENESS[str(found.attrs["likeness"])],
        who=_who(found, shown),
        labels=rows,
        cells=tuple(cell for cell in cells if cell.a in kept and cell.b in kept),
        note=note,
        nothing=nothing,
    )


def _of_nothing(why: str) -> Disagreement:
    return Disagreement(sentence=why, nothing=why)


def _cells(answers: Answers, place: NDArray[np.int64]) -> list[Cell]:
    """Return over which labels two answers to one example part, and where they meet.

    With ``N_a`` answers to an example that name a (in the first place of a ranking), and ``N_ab``
    that name both, ``(N_a - N_ab) (N_b - N_ab)`` pairs part over a and b, and
    ``N_a (N_a - 1) / 2`` meet in a.
    """
    cell, mention = answers.spread(answers.cell_value)
    where = place[answers.mention_label[mention]]
    first = (answers.mention_block[mention] <= 1) & (where >= 0)
    cell, label = cell[first], where[first]
    count, example = answers.cell_count, answers.cell_example
    size = len(place)
    of_cell = np.bincount(cell, minlength=len(count))
    ends = np.cumsum(np.bincount(example, minlength=answers.n))
    found: dict[tuple[int, int], list[int]] = {}
    starts = np.concatenate([[0], np.cumsum(of_cell)])
    for one, end in enumerate(ends):
        begin = ends[one - 1] if one else 0
        if end - begin < 2 and count[begin:end].sum() < 2:
            continue
        _add(found, count, label, starts, range(int(begin), int(end)), size)
    return [
        Cell(a=a, b=b, pairs=pairs, examples=examples)
        for (a, b), (pairs, examples) in sorted(found.items())
        if pairs
    ]


def _add(
    found: dict[tuple[int, int], list[int]],
    count: NDArray[np.int64],
    label: NDArray[np.int64],
    starts: NDArray[np.int64],
    cells: range,
    size: int,
) -> None:
    """Add the pairs of one example."""
    named: dict[int, int] = {}
    both: dict[tuple[int, int], int] = {}
    for cell in cells:
        times = int(count[cell])
        mine = sorted(label[starts[cell] : starts[cell + 1]].tolist())
        for at, a in enumerate(mine):
            named[a] = named.get(a, 0) + times
            for b in mine[at + 1 :]:
                both[a, b] = both.get((a, b), 0) + times
    every = sorted(named)
    for at, a in enumerate(every):
        for b in every[at:]:
            if a == b:
                pairs = named[a] * (named[a] - 1) // 2
            else:
                same = both.get((a, b), 0)
                pairs = (named[a] - same) * (named[b] - same)
            if pairs:
                entry = found.setdefault((a, b), [0, 0])
                entry[0] += pairs
                entry[1] += 1


def _heat(
    cells: Sequence[Cell], labels: Sequence[str], words: Words
) -> tuple[tuple[int, ...], str]:
    """Return the labels of the heat map, and what it counts."""
    parted = np.zeros(len(labels))
    met = np.zeros(len(labels))
    for cell in cells:
        if cell.a == cell.b:
            met[cell.a] += cell.pairs
        else:
            parted[[cell.a, cell.b]] += cell.pairs
    order = sorted(range(len(labels)), key=lambda code: (-parted[code], -met[code], code))
    named = [code for code in order if parted[code] or met[code]]
    kept = tuple(sorted(named[:MOST_LABELS]))
    note = (
        f"Counts pairs of answers to one {words.example} of which one names a label and the other "
        "another; on the diagonal, pairs that name the same."
    )
    if len(named) > len(kept):
        note += (
            f" The {len(kept)} of {counted(len(named))} labels that are parted over most are shown."
        )
    return kept, note


def _sentence(found: xr.Dataset, cells: Sequence[Cell], labels: Sequence[str], words: Words) -> str:
    """Return how often two agree, and over what they part most."""
    percent = float(found["value"].sel(measure="percent"))
    most = max((cell for cell in cells if cell.a != cell.b), key=lambda cell: cell.pairs)
    return (
        f"Two {words.annotators} agree on {round(100 * percent)} of 100 {words.examples}; most "
        f"often they part over {quoted(labels[most.a])} and {quoted(labels[most.b])}."
    )


def _measures(found: xr.Dataset) -> list[Measure]:
    titles = measure_titles(str(found.attrs["kind"]))
    rows = []
    for place, name in enumerate(map(str, found["measure"].values)):
        value, low, high = (float(found[end].values[place]) for end in ("value", "low", "high"))
        rows.append(
            Measure(
                name=name,
                title=titles.get(name, name),
                value=Interval(mean=known(value), low=known(low), high=known(high)),
                reason=str(found["reason"].values[place]),
            )
        )
    return rows


def _annotators(
    found: xr.Dataset, shown: Sequence[str], place: NDArray[np.int64]
) -> list[AnnotatorRow]:
    """Return a row an annotator with answers: those who differ first, then by likeness."""
    label = dict(zip(name_texts(found[names.LABEL].values), place.tolist(), strict=True))
    rows = []
    for at, name in enumerate(shown):
        one = found.isel({names.ANNOTATOR: at})
        if not int(one["annotator_answers"]):
            continue
        says = str(one["annotator_says"].item())
        rows.append(
            AnnotatorRow(
                name=name,
                answers=int(one["annotator_answers"]),
                compared=int(one["annotator_compared"]),
                agreement=known(float(one["annotator_agreement"])),
                others=known(float(one["annotator_others"])),
                vote=known(float(one["annotator_vote"])),
                low=bool(one["annotator_low"]),
                says=label.get(says),
                says_share=known(float(one["annotator_says_share"])),
                says_others=known(float(one["annotator_says_others"])),
            )
        )
    return sorted(
        rows,
        key=lambda row: (not row.low, 2.0 if row.agreement is None else row.agreement, row.name),
    )


def _who(found: xr.Dataset, shown: Sequence[str]) -> str:
    """Return who stands out, in words."""
    if not len(shown) or np.isnan(found["annotator_agreement"].values).all():
        text = describe_annotators(found).replace("\n", " ")
        return f"{text[0].upper()}{text[1:]}."
    low = [name for at, name in enumerate(shown) if found["annotator_low"].values[at]]
    each = found["annotator_agreement"].values
    span = f"from {decimal(float(np.nanmin(each)))} to {decimal(float(np.nanmax(each)))}"
    if not low:
        return f"Nobody stands out: likeness with others runs {span}."
    named = ", ".join(low[:5]) + (f" and {counted(len(low) - 5)} more" if len(low) > 5 else "")
    agree = "agrees" if len(low) == 1 else "agree"
    return (
        f"{named} {agree} with others less than these do among themselves, beyond chance; "
        f"likeness runs {span} over {several(len(shown), 'annotator')}."
    )


def selected(table: xr.Dataset, examples: Sequence[str]) -> xr.Dataset:
    """Return the answers of a table to some examples, in the order of their names."""
    there = set(name_texts(table.indexes[names.EXAMPLE]))
    kept = sorted(name for name in examples if name in there)
    return select(table, example=kept)
