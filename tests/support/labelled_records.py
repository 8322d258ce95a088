"""Plain records, strategies that make them, and the aggregators' equations in fractions.

The oracles loop over records as a person would with pen and paper; nothing of the product is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import xarray as xr
from hypothesis import strategies as st

Records = list[tuple[object, object, object]]
Exact = dict[str, dict[str, Fraction]]

LABELS = ["melanoma", "b c", "Ä", "0", "naevus"]  # not in sorted order, one a number
ANNOTATORS = ["r1", "r2", "r10", "q"]
EXAMPLES = ["c2", "c10", "c1", "7", "é"]


def records(
    answers: st.SearchStrategy[object], *, least: int = 1, unknown: bool = True
) -> st.SearchStrategy[Records]:
    """Records in any order: one response a known annotator and example, unknown ones repeat."""
    pairs = st.tuples(st.sampled_from(EXAMPLES), st.sampled_from(ANNOTATORS))
    known = st.dictionaries(pairs, answers, min_size=least, max_size=12)
    others = st.lists(st.tuples(st.sampled_from(EXAMPLES), st.none(), answers), max_size=4)
    return st.builds(
        lambda item, more: [(*pair, answer) for pair, answer in item.items()] + list(more),
        known,
        others if unknown else st.just([]),
    ).flatmap(st.permutations)


single_labels: st.SearchStrategy[object] = st.sampled_from(LABELS)
label_sets: st.SearchStrategy[object] = st.lists(
    st.sampled_from(LABELS), min_size=1, max_size=4, unique=True
)
soft_labels: st.SearchStrategy[object] = st.dictionaries(
    st.sampled_from(LABELS), st.floats(1e-6, 1e6), min_size=1, max_size=4
)


@st.composite
def rankings(draw: st.DrawFn, labels: Sequence[str] = LABELS) -> list[list[str]]:
    blocks: list[list[str]] = []
    for label in draw(st.permutations(labels))[: draw(st.integers(1, len(labels)))]:
        tied: bool = draw(st.booleans())
        if blocks and tied:
            blocks[-1].append(label)
        else:
            blocks.append([label])
    return blocks


def _normalised(
    inputs: Iterable[tuple[object, object, object]],
    share: Callable[[object], Mapping[str, Fraction]],
) -> Exact:
    sums: Exact = {}
    for example, _, answer in inputs:
        row = sums.setdefault(str(example), {})
        for label, weight in share(answer).items():
            row[label] = row.get(label, Fraction(0)) + weight
    return {
        example: {label: weight / sum(row.values()) for label, weight in row.items()}
        for example, row in sums.items()
    }


def label_frequency(inputs: Records) -> Exact:
    """Votes for k / votes."""
    return _normalised(inputs, lambda answer: {str(answer): Fraction(1)})


def equal_split(inputs: Records) -> Exact:
    """Mean over responses of 1/L."""

    def share(answer: object) -> dict[str, Fraction]:
        assert isinstance(answer, Sequence)
        return {str(label): Fraction(1, len(answer)) for label in answer}

    return _normalised(inputs, share)


def inverse_rank(inputs: Records) -> Exact:
    """Sum over rankings and blocks of 1 / (rank x block size), normalised."""

    def share(answer: object) -> dict[str, Fraction]:
        assert isinstance(answer, Sequence)
        return {
            str(label): Fraction(1, rank * len(block))
            for rank, block in enumerate(answer, start=1)
            for label in block
        }

    return _normalised(inputs, share)


def weighted_mean(inputs: Records) -> Exact:
    """Mean over responses of weight / sum of weights."""

    def share(answer: object) -> dict[str, Fraction]:
        assert isinstance(answer, Mapping)
        total = sum(Fraction(weight) for weight in answer.values())
        return {str(label): Fraction(weight) / total for label, weight in answer.items()}

    return _normalised(inputs, share)


def assert_exact(result: xr.DataArray, exact: Exact, *, ulps: int = 0) -> None:
    """Compare every entry with its fraction: equal to the float next to it, or `ulps` away."""
    assert set(result["example"].values) == set(exact)
    labels = result["label"].values.tolist()
    for example, values in zip(result["example"].values, result.values, strict=True):
        wanted = np.array([float(exact[example].get(label, 0)) for label in labels])
        assert (np.abs(values - wanted) <= ulps * np.spacing(wanted)).all(), (example, values)


def assert_denominators(result: xr.DataArray, exact: Exact) -> None:
    """Every exact plausibility is a whole number of units of its example's denominator."""
    assert result["denominator"].dtype == np.int64
    totals = dict(zip(result["example"].values, result["denominator"].values.tolist(), strict=True))
    for example, row in exact.items():
        total = totals[example]
        assert total > 0
        assert all((value * total).denominator == 1 for value in row.values())
