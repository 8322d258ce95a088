"""Predictions in exports of annotation tools: named labels with scores become an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import pytest
import xarray as xr
from hypothesis import given, strategies as st

from io_files import refusal
from plausibly.io.predictions import NamedPrediction, from_named

Option: TypeAlias = Any  # of a reader, by its name


def named(
    example: str, *scores: tuple[str, str | float | None], model: str = "m"
) -> NamedPrediction:
    return NamedPrediction(example=example, model=model, scores=scores, place=f"row {example}")


def array(
    *text: NamedPrediction, labels: Sequence[str] | None = None, **more: Option
) -> xr.DataArray:
    return from_named(text, labels, source="f.json", **more)


@given(
    rows=st.dictionaries(
        st.text("xyz", min_size=1, max_size=3),
        st.dictionaries(st.sampled_from("abcd"), st.floats(-9, 9), min_size=1),
        min_size=1,
    ),
    data=st.data(),
)
def test_any_scores_come_back_whatever_their_order(
    rows: dict[str, dict[str, float]], data: st.DataObject
) -> None:
    text = [named(example, *scores.items()) for example, scores in rows.items()]
    copies = data.draw(st.lists(st.sampled_from(text), max_size=2))
    result = array(*data.draw(st.permutations(text + copies)), labels=list("dcba"))
    back = {
        str(example): {
            str(label): float(score)
            for label, score in zip(result["label"].values, row, strict=True)
            if label in rows[str(example)]
        }
        for example, row in zip(result["example"].values, result.values, strict=True)
    }
    assert back == rows
    assert (result.values != 0).sum() == sum(s != 0 for row in rows.values() for s in row.values())


@pytest.mark.parametrize(
    ("text", "more", "name", "found"),
    [
        ([named("x")], {}, "predictions-missing", "none"),
        (
            [named("x", ("a", 1), model=""), named("x", ("a", 1), model="m2")],
            {},
            "model-unknown",
            'a model without name, "m2"',
        ),
        ([named("x", ("a", 1))], {"model": "n"}, "model-unknown", '"m"'),
        ([named("x", ("a", 1)), named("x", ("b", 1))], {}, "scores-unfit", "row x, row x"),
        (
            [named("x", ("a", 1)), named("y", ("a", None))],
            {},
            "scores-unfit",
            "1 label without score",
        ),
        (
            [named("x", ("eczemo", 1))],
            {"labels": ["eczema", "acne"]},
            "label-unknown",
            "1 label outside (eczemo)",
        ),
        ([named("x", ("a", "1e999"))], {}, "scores-unfit", "a 1e999"),
        ([named("x", ("a", "high"))], {}, "scores-unfit", "a high"),
        ([named("x", ("a", 1), ("a", 2))], {}, "scores-unfit", "a 1, a 2"),
    ],
)
def test_what_is_refused(
    text: list[NamedPrediction], more: dict[str, Option], name: str, found: str
) -> None:
    error = refusal(lambda: array(*text, **more))
    assert (error.name, error.found) == (name, found)
